//! The value of constant expressions, bit-exact, over the typed tree.
//!
//! Operators fold constants as they are made (`unary.rs`, `binary.rs`, `convert.rs`) with the
//! functions here; [`Sema::eval`] does the rest: addresses, vectors, conditionals.

use super::Sema;
use crate::float::Nearest;
use crate::hir::{BinaryOp, Comparison, Constant, Conversion, ExprId, ExprKind, LocalId, UnaryOp};
use crate::token::{Loc, RoundingMode};
use crate::types::{QualType, Scalar, Type, TypeId};

impl Sema<'_> {
    /// How operations on floating-point numbers round at a place of the source.
    pub(super) fn rounding(&self, loc: Loc) -> RoundingMode {
        self.roundings.at(loc).unwrap_or(RoundingMode::ToEven)
    }

    /// An integer (or Boolean, or enumerator), extended to 64 bits.
    pub(super) fn eval_integer(&self, id: ExprId) -> Option<u64> {
        match self.eval(id)? {
            Constant::Int(bits) => Some(bits),
            Constant::Zero if self.is_arithmetic(self.type_of(id)) => Some(0),
            _ => None,
        }
    }

    /// The value, if it is known here.
    pub(super) fn eval(&self, id: ExprId) -> Option<Constant> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.eval_kind(id))
    }

    fn eval_kind(&self, id: ExprId) -> Option<Constant> {
        let ty = self.type_of(id);
        match self.kind_of(id) {
            ExprKind::Constant(constant) => Some(constant.clone()),
            ExprKind::Global(global) => Some(Constant::Address {
                global: *global,
                offset: 0,
            }),
            ExprKind::Sequence(all) => match all.as_slice() {
                [only] => self.eval(*only),
                _ => None,
            },
            ExprKind::FieldAddr(base, field) => {
                let record = self.pointee_of(self.type_of(*base))?;
                let Type::Record(record) = *self.types.get(record) else {
                    return None;
                };
                let fields = self.types.records[record.0 as usize].fields.as_ref()?;
                let offset = fields.get(*field as usize)?.offset;
                shifted(self.eval(*base)?, offset as i64)
            }
            ExprKind::ElementAddr(base, index) | ExprKind::PtrAdd(base, index) => {
                let element = self.pointee_of(ty)?;
                let (size, _) = self.types.layout(element)?;
                let index = self.eval_integer(*index)? as i64;
                shifted(self.eval(*base)?, index.checked_mul(size as i64)?)
            }
            ExprKind::ComponentAddr(base, lane) => {
                let (size, _) = self.types.layout(self.pointee_of(ty)?)?;
                shifted(self.eval(*base)?, i64::from(*lane) * size as i64)
            }
            // A `constant` variable's value is known.
            ExprKind::Load { pointer, .. } => self.eval_load(*pointer),
            ExprKind::Convert(conversion, inner) => self.eval_convert(*conversion, *inner, id),
            ExprKind::Unary(op, inner) => {
                let (scalar, lanes) = self.types.as_arithmetic(ty)?;
                let value = self.eval(*inner)?;
                map(&value, lanes, |lane| unary(*op, lane, scalar))
            }
            ExprKind::Binary(op, a, b) => {
                let (scalar, lanes) = self.types.as_arithmetic(ty)?;
                let (a, b) = (self.eval(*a)?, self.eval(*b)?);
                let rounding = self.rounding(self.body.function[id].loc);
                zip(&a, &b, lanes, |x, y| binary(*op, x, y, scalar, rounding))
            }
            ExprKind::Compare(op, a, b) => {
                let (a_ty, x, y) = (self.type_of(*a), self.eval(*a)?, self.eval(*b)?);
                let (scalar, lanes) = self.types.as_arithmetic(a_ty)?;
                zip(&x, &y, lanes, |x, y| {
                    compare(*op, x, y, scalar).map(|bit| Constant::Int(bit.into()))
                })
            }
            ExprKind::Negate(inner) => match self.eval(*inner)? {
                Constant::Int(bit) => Some(Constant::Int(bit ^ 1)),
                _ => None,
            },
            ExprKind::And(a, b) => match self.eval_integer(*a)? {
                0 => Some(Constant::Int(0)),
                _ => self.eval(*b),
            },
            ExprKind::Or(a, b) => match self.eval_integer(*a)? {
                0 => self.eval(*b),
                _ => Some(Constant::Int(1)),
            },
            ExprKind::Conditional(condition, a, b) => match self.eval_integer(*condition)? {
                0 => self.eval(*b),
                _ => self.eval(*a),
            },
            ExprKind::Splat(inner) => {
                let (_, lanes) = self.types.as_arithmetic(ty)?;
                let value = self.eval(*inner)?;
                Some(Constant::Aggregate(vec![value; lanes.into()]))
            }
            ExprKind::MakeVector(parts) => {
                let mut all = Vec::new();
                for &part in parts {
                    let (_, lanes) = self.types.as_arithmetic(self.type_of(part))?;
                    let value = self.eval(part)?;
                    for lane in 0..lanes {
                        all.push(lane_of(&value, lanes, lane)?);
                    }
                }
                Some(Constant::Aggregate(all))
            }
            ExprKind::Shuffle(a, None, lanes) => {
                let (_, count) = self.types.as_arithmetic(self.type_of(*a))?;
                let value = self.eval(*a)?;
                let mut all = Vec::new();
                for lane in lanes {
                    all.push(lane_of(&value, count, (*lane)?)?);
                }
                Some(if all.len() == 1 {
                    all.pop()?
                } else {
                    Constant::Aggregate(all)
                })
            }
            _ => None,
        }
    }

    /// As GNU C has it, a `const` integer whose initialiser is known is as good as that.
    pub(super) fn note_constant(&mut self, local: LocalId, ty: QualType, value: ExprId) {
        let is_integer =
            matches!(self.types.as_arithmetic(ty.ty), Some((scalar, 1)) if scalar.is_integer());
        if is_integer
            && ty.quals.is_const
            && !ty.quals.is_volatile
            && let Some(constant) = self.eval(value)
        {
            self.body.constants.insert(local, constant);
        }
    }

    fn pointee_of(&self, pointer: TypeId) -> Option<TypeId> {
        match self.types.get(pointer) {
            Type::Pointer { pointee, .. } => Some(pointee.ty),
            _ => None,
        }
    }

    /// What is at the address of an immutable variable.
    fn eval_load(&self, pointer: ExprId) -> Option<Constant> {
        let id = match *self.kind_of(pointer) {
            ExprKind::Global(id) => id,
            ExprKind::Local(id) => return self.body.constants.get(&id).cloned(),
            _ => return None,
        };
        let global = &self.module.globals[id.0 as usize];
        // GNU: a compound literal in an initialiser is its value.
        let is_literal = self.is_static_initialiser && self.literals.contains(&id);
        if !global.is_const && !is_literal {
            return None;
        }
        global.init.clone()
    }

    fn eval_convert(&self, conversion: Conversion, inner: ExprId, id: ExprId) -> Option<Constant> {
        let (from, to) = (self.type_of(inner), self.type_of(id));
        let value = self.eval(inner)?;
        match conversion {
            Conversion::Arithmetic {
                rounding: None,
                saturate: false,
            } => {
                let (source, lanes) = self.types.as_arithmetic(from)?;
                let (target, _) = self.types.as_arithmetic(to)?;
                let rounding = self.rounding(self.body.function[id].loc);
                map(&value, lanes, |lane| {
                    convert(lane, source, target, rounding)
                })
            }
            Conversion::FromTruth => {
                let (scalar, lanes) = self.types.as_arithmetic(to)?;
                map(&value, lanes, |lane| match lane {
                    Constant::Int(0) => Some(Constant::Int(0)),
                    Constant::Int(_) if lanes == 1 => Some(Constant::Int(1)),
                    Constant::Int(_) => Some(Constant::Int(wrap(u64::MAX, scalar))),
                    _ => None,
                })
            }
            Conversion::ToTruth => match &value {
                Constant::Address { .. } => Some(Constant::Int(1)),
                Constant::Zero => Some(Constant::Int(0)),
                Constant::Pointer(bits) => Some(Constant::Int((*bits != 0).into())),
                _ => {
                    let (scalar, lanes) = self.types.as_arithmetic(from)?;
                    map(&value, lanes, |lane| {
                        convert(lane, scalar, Scalar::Bool, RoundingMode::ToEven)
                    })
                }
            },
            Conversion::Pointer | Conversion::Space => Some(value),
            Conversion::PointerToInt => match value {
                Constant::Zero => Some(Constant::Int(0)),
                Constant::Pointer(bits) => {
                    let (scalar, _) = self.types.as_arithmetic(to)?;
                    Some(Constant::Int(wrap(bits, scalar)))
                }
                _ => None,
            },
            Conversion::IntToPointer => match value {
                Constant::Int(0) => Some(Constant::Zero),
                Constant::Int(bits) => Some(Constant::Pointer(bits)),
                _ => None,
            },
            Conversion::Bits => match (&value, self.types.get(from), self.types.get(to)) {
                (Constant::Int(bits), Type::Scalar(_), Type::Scalar(to)) if to.is_float() => {
                    let mask = u64::MAX >> (64 - to.bits());
                    Some(Constant::Float(bits & mask))
                }
                (
                    Constant::Float(bits) | Constant::Int(bits),
                    Type::Scalar(_),
                    Type::Scalar(to),
                ) => Some(Constant::Int(wrap(*bits, *to))),
                _ => None,
            },
            _ => None,
        }
    }
}

fn shifted(address: Constant, bytes: i64) -> Option<Constant> {
    match address {
        Constant::Address { global, offset } => Some(Constant::Address {
            global,
            offset: offset.checked_add(bytes)?,
        }),
        Constant::Zero => Some(match bytes {
            0 => Constant::Zero,
            _ => Constant::Pointer(bytes as u64),
        }),
        Constant::Pointer(bits) => Some(Constant::Pointer(bits.wrapping_add(bytes as u64))),
        _ => None,
    }
}

fn lane_of(value: &Constant, lanes: u8, lane: u8) -> Option<Constant> {
    match value {
        Constant::Zero => Some(Constant::Zero),
        Constant::Aggregate(all) => all.get(lane as usize).cloned(),
        other if lanes == 1 => Some(other.clone()),
        _ => None,
    }
}

fn map(value: &Constant, lanes: u8, f: impl Fn(&Constant) -> Option<Constant>) -> Option<Constant> {
    if lanes == 1 {
        return f(value);
    }
    let all: Option<Vec<Constant>> = (0..lanes)
        .map(|lane| f(&lane_of(value, lanes, lane)?))
        .collect();
    all.map(Constant::Aggregate)
}

fn zip(
    a: &Constant,
    b: &Constant,
    lanes: u8,
    f: impl Fn(&Constant, &Constant) -> Option<Constant>,
) -> Option<Constant> {
    if lanes == 1 {
        return f(a, b);
    }
    let all: Option<Vec<Constant>> = (0..lanes)
        .map(|lane| f(&lane_of(a, lanes, lane)?, &lane_of(b, lanes, lane)?))
        .collect();
    all.map(Constant::Aggregate)
}

/// The low bits as a number of the type, extended to 64 bits as its sign says.
pub(super) fn wrap(bits: u64, scalar: Scalar) -> u64 {
    if scalar == Scalar::Bool {
        return (bits != 0).into();
    }
    let unused = 64 - scalar.bits();
    if scalar.is_signed() {
        (((bits << unused) as i64) >> unused) as u64
    } else {
        bits << unused >> unused
    }
}

fn integer(value: &Constant) -> Option<u64> {
    match value {
        Constant::Int(bits) => Some(*bits),
        Constant::Zero => Some(0),
        _ => None,
    }
}

/// A floating-point constant of any format, exactly.
fn float(value: &Constant, scalar: Scalar) -> Option<f64> {
    let bits = match value {
        Constant::Float(bits) => *bits,
        Constant::Zero => 0,
        _ => return None,
    };
    Some(match scalar {
        Scalar::Half => half::f16::from_bits(bits as u16).to_f64(),
        Scalar::Float => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    })
}

pub(super) fn convert(
    value: &Constant,
    from: Scalar,
    to: Scalar,
    rounding: RoundingMode,
) -> Option<Constant> {
    if from == to {
        return Some(value.clone());
    }
    if from.is_float() {
        let number = float(value, from)?;
        if to.is_float() {
            let exact = Nearest::exactly(number);
            return Some(Constant::Float(exact.round(to, rounding)));
        }
        if to == Scalar::Bool {
            return Some(Constant::Int((number != 0.0).into()));
        }
        // Out of range is undefined: left to run time.
        let (low, high) = if to.is_signed() {
            (
                -(2f64.powi(to.bits() as i32 - 1)),
                2f64.powi(to.bits() as i32 - 1),
            )
        } else {
            (0.0, 2f64.powi(to.bits() as i32))
        };
        let whole = number.trunc();
        if !(whole >= low && whole < high) {
            return None;
        }
        let bits = if to.is_signed() {
            whole as i64 as u64
        } else {
            whole as u64
        };
        return Some(Constant::Int(bits));
    }
    let bits = integer(value)?;
    if !to.is_float() {
        return Some(Constant::Int(wrap(bits, to)));
    }
    let number = if from.is_signed() {
        i128::from(bits as i64)
    } else {
        i128::from(bits)
    };
    Some(Constant::Float(
        Nearest::of_integer(number).round(to, rounding),
    ))
}

pub(super) fn unary(op: UnaryOp, value: &Constant, scalar: Scalar) -> Option<Constant> {
    if scalar.is_float() {
        let Constant::Float(bits) = value else {
            return None;
        };
        return Some(Constant::Float(bits ^ 1 << (scalar.bits() - 1)));
    }
    let bits = integer(value)?;
    let result = match op {
        UnaryOp::Negate => bits.wrapping_neg(),
        UnaryOp::BitNot => !bits,
    };
    Some(Constant::Int(wrap(result, scalar)))
}

pub(super) fn binary(
    op: BinaryOp,
    a: &Constant,
    b: &Constant,
    scalar: Scalar,
    rounding: RoundingMode,
) -> Option<Constant> {
    if scalar.is_float() {
        let (x, y) = (float(a, scalar)?, float(b, scalar)?);
        let result = match op {
            BinaryOp::Add => Nearest::sum(x, y),
            BinaryOp::Sub => Nearest::sum(x, -y),
            BinaryOp::Mul => Nearest::product(x, y),
            BinaryOp::Div => Nearest::quotient(x, y),
            _ => return None,
        };
        return Some(Constant::Float(result.round(scalar, rounding)));
    }
    let (x, y) = (integer(a)?, integer(b)?);
    let amount = (y & u64::from(scalar.bits() - 1)) as u32;
    let result = match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div if scalar.is_signed() => (x as i64).checked_div(y as i64)? as u64,
        BinaryOp::Div => x.checked_div(y)?,
        BinaryOp::Rem if scalar.is_signed() => (x as i64).checked_rem(y as i64)? as u64,
        BinaryOp::Rem => x.checked_rem(y)?,
        BinaryOp::Shl => x << amount,
        BinaryOp::Shr if scalar.is_signed() => ((x as i64) >> amount) as u64,
        BinaryOp::Shr => x >> amount,
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
    };
    Some(Constant::Int(wrap(result, scalar)))
}

pub(super) fn compare(op: Comparison, a: &Constant, b: &Constant, scalar: Scalar) -> Option<bool> {
    let order = if scalar.is_float() {
        float(a, scalar)?.partial_cmp(&float(b, scalar)?)
    } else if scalar.is_signed() {
        Some((integer(a)? as i64).cmp(&(integer(b)? as i64)))
    } else {
        Some(integer(a)?.cmp(&integer(b)?))
    };
    let Some(order) = order else {
        // Unordered.
        return Some(op == Comparison::Ne);
    };
    Some(match op {
        Comparison::Eq => order.is_eq(),
        Comparison::Ne => order.is_ne(),
        Comparison::Lt => order.is_lt(),
        Comparison::Le => order.is_le(),
        Comparison::Gt => order.is_gt(),
        Comparison::Ge => order.is_ge(),
    })
}
