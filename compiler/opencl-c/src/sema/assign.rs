//! Assignment, compound assignment, increment and decrement.

use super::convert::Goal;
use super::{Operand, Operator, Place, Sema};
use crate::ast::{self, BinaryOp, UnaryOp};
use crate::hir::{ExprId, ExprKind};
use crate::token::{Loc, Span};
use crate::types::{QualType, Scalar, Space, Type, Types};

impl Sema<'_> {
    /// Says what is wrong with an operand that is to be written.
    fn check_modifiable(&mut self, operand: Operand, loc: Loc) -> bool {
        let message = match operand.place {
            _ if self.is_error(operand.ty.ty) => return false,
            Place::Value(_) | Place::Function => "expression is not assignable".to_owned(),
            Place::Object(address, _) | Place::Lanes { address, .. } => {
                if self.is_capture(address) {
                    let message = "variable is not assignable (missing __block type specifier)";
                    self.diags.error(loc, message).range(operand.span);
                    return false;
                }
                let in_constant = self.space_of(self.type_of(address)) == Space::Constant;
                if operand.ty.quals.is_const || in_constant {
                    match self.kind_of(address) {
                        ExprKind::Local(local) => {
                            let local = &self.body.function.locals[local.0 as usize];
                            let name = self.interner.text(local.name);
                            let ty = self.quote(operand.ty);
                            format!(
                                "cannot assign to variable '{name}' with const-qualified type {ty}"
                            )
                        }
                        _ => "read-only variable is not assignable".to_owned(),
                    }
                } else if self.is_disabled_half(operand.ty.ty) {
                    format!(
                        "assigning directly to pointer to type {} requires cl_khr_fp16. Use \
                         vector data store builtin functions instead",
                        self.quote(operand.ty)
                    )
                } else if matches!(self.types.get(operand.ty.ty), Type::Array { .. }) {
                    format!("array type {} is not assignable", self.quote(operand.ty))
                } else if let Place::Lanes { lanes, .. } = operand.place
                    && repeats(lanes.as_slice())
                {
                    "vector is not assignable (contains duplicate components)".to_owned()
                } else {
                    return true;
                }
            }
        };
        self.diags.error(loc, message).range(operand.span);
        false
    }

    pub(super) fn assign(
        &mut self,
        left: ast::ExprId,
        right: ast::ExprId,
        span: Span,
        loc: Loc,
    ) -> Operand {
        let target = self.expr(left);
        let source = self.expr(right);
        if matches!(
            self.types.get(target.ty.ty),
            Type::Block(_) | Type::Image { .. } | Type::Pipe { .. } | Type::Sampler
        ) {
            let at = Operator::between(target, source, loc);
            let wrong = self.invalid_operands(target.ty, source.ty, at);
            return self.value(wrong, span);
        }
        if self.is_atomic(target) || self.is_atomic(source) {
            self.diags.error(
                span,
                "atomic variable can be assigned to a variable only in global address space",
            );
            return self.error(span);
        }
        if !self.check_modifiable(target, loc) {
            return self.error(span);
        }
        let ty = target.ty.ty;
        let value = self.assignable(source, ty, Goal::Assign(loc, self.alias_of_operand(target)));
        if let Type::Record(_) = self.types.get(ty) {
            return self.assign_record(target, value, span, loc);
        }
        let (bind, temp) = self.bind(value, loc);
        let store = self.store(target, temp, loc);
        let id = self.add(ExprKind::Sequence(vec![bind, store, temp]), ty, loc);
        self.value(id, span)
    }

    /// A record is copied once: who uses the assignment's value finds it where it was written to.
    fn assign_record(&mut self, target: Operand, value: ExprId, span: Span, loc: Loc) -> Operand {
        let mut all = Vec::new();
        let target = self.fix_address(target, &mut all);
        all.push(self.store(target, value, loc));
        if let Place::Object(address, align) = target.place {
            all.push(self.load(address, target.ty, align, loc));
        }
        let id = self.add(ExprKind::Sequence(all), target.ty.ty, loc);
        self.value(id, span)
    }

    /// Writes a value of the operand's type to it.
    pub(super) fn store(&mut self, target: Operand, value: ExprId, loc: Loc) -> ExprId {
        match target.place {
            Place::Object(address, align) => {
                self.note_escape(address);
                let access = self.access(target.ty, align);
                let kind = ExprKind::Store {
                    pointer: address,
                    value,
                    access,
                };
                self.add(kind, Types::VOID, loc)
            }
            Place::Lanes { .. } => {
                // Each component is a store of its own, or the others are read before.
                let mut all = Vec::new();
                let target = self.fix_address(target, &mut all);
                let Place::Lanes {
                    address,
                    align,
                    vector,
                    lanes,
                } = target.place
                else {
                    unreachable!("an address computed once is of the same place");
                };
                let lanes = lanes.as_slice();
                let store = self.store_lanes(address, align, vector, lanes, target.ty, value, loc);
                if all.is_empty() {
                    return store;
                }
                all.push(store);
                self.add(ExprKind::Sequence(all), Types::VOID, loc)
            }
            Place::Value(_) | Place::Function => self.add(ExprKind::Undefined, Types::VOID, loc),
        }
    }

    /// Writes some components. Those of a private vector become a new value of it; elsewhere others
    /// may be writing the rest.
    #[allow(clippy::too_many_arguments)]
    fn store_lanes(
        &mut self,
        address: ExprId,
        align: u64,
        vector: crate::types::TypeId,
        lanes: &[u8],
        ty: QualType,
        value: ExprId,
        loc: Loc,
    ) -> ExprId {
        self.note_escape(address);
        let (scalar, count) = self
            .types
            .as_arithmetic(vector)
            .expect("lanes are of a vector");
        let space = self.space_of(self.type_of(address));
        let whole = QualType {
            ty: vector,
            quals: ty.quals,
        };
        if space == Space::Private && !ty.quals.is_volatile {
            let old = self.load(address, whole, align, loc);
            let new = if let [lane] = lanes {
                let index = self.int_constant((*lane).into(), Types::UINT, loc);
                self.add(ExprKind::Insert(old, value, index), vector, loc)
            } else {
                let mut picked: Vec<Option<u8>> = (0..count).map(Some).collect();
                for (at, &lane) in lanes.iter().enumerate().filter(|&(_, &lane)| lane < count) {
                    picked[lane as usize] = Some(count + at as u8);
                }
                self.add(ExprKind::Shuffle(old, Some(value), picked), vector, loc)
            };
            let access = self.access(whole, align);
            return self.add(
                ExprKind::Store {
                    pointer: address,
                    value: new,
                    access,
                },
                Types::VOID,
                loc,
            );
        }
        let element = self.types.scalar(scalar);
        let pointer = self.types.pointer(element.into(), space);
        let bytes = u64::from(scalar.bits() / 8);
        let access = self.access(
            QualType {
                ty: element,
                quals: ty.quals,
            },
            align.min(bytes),
        );
        let mut stores = Vec::new();
        for (at, &lane) in lanes.iter().enumerate().filter(|&(_, &lane)| lane < count) {
            let part = match lanes {
                [_] => value,
                _ => self.add(
                    ExprKind::Shuffle(value, None, vec![Some(at as u8)]),
                    element,
                    loc,
                ),
            };
            let to = self.add(ExprKind::ComponentAddr(address, lane), pointer, loc);
            let kind = ExprKind::Store {
                pointer: to,
                value: part,
                access,
            };
            stores.push(self.add(kind, Types::VOID, loc));
        }
        match stores.as_slice() {
            [store] => *store,
            _ => self.add(ExprKind::Sequence(stores), Types::VOID, loc),
        }
    }

    /// The operand with its address computed once, if that takes anything; the computation goes
    /// into `before`.
    pub(super) fn fix_address(&mut self, operand: Operand, before: &mut Vec<ExprId>) -> Operand {
        let (Place::Object(address, _) | Place::Lanes { address, .. }) = operand.place else {
            return operand;
        };
        if matches!(
            self.kind_of(address),
            ExprKind::Local(_) | ExprKind::Global(_) | ExprKind::Temp(_)
        ) {
            return operand;
        }
        self.note_escape(address);
        let (bind, temp) = self.bind(address, operand.span.first);
        before.push(bind);
        let place = match operand.place {
            Place::Object(_, align) => Place::Object(temp, align),
            Place::Lanes {
                align,
                vector,
                lanes,
                ..
            } => Place::Lanes {
                address: temp,
                align,
                vector,
                lanes,
            },
            other => other,
        };
        Operand { place, ..operand }
    }

    pub(super) fn compound_assign(
        &mut self,
        op: BinaryOp,
        left: ast::ExprId,
        right: ast::ExprId,
        span: Span,
        loc: Loc,
    ) -> Operand {
        let target = self.expr(left);
        let source = self.expr(right);
        let at = Operator::between(target, source, loc);
        if self.is_atomic(target) || self.is_atomic(source) {
            let wrong = self.invalid_operands(target.ty, source.ty, at);
            return self.value(wrong, span);
        }
        let right = self.rvalue(source);
        if !self.check_modifiable(target, loc) {
            return self.error(span);
        }
        let mut all = Vec::new();
        let target = self.fix_address(target, &mut all);
        // The right side is evaluated before the left is read: it may change it.
        let right = match self.kind_of(right) {
            ExprKind::Constant(_) => right,
            _ => {
                let (bind, temp) = self.bind(right, loc);
                all.push(bind);
                temp
            }
        };
        let old = self.rvalue(target);
        let result = self.binary(op, old, right, at);
        self.finish_update(target, result, all, None, span, loc)
    }

    /// Stores the result of an update; the value is the new one, or `old`.
    fn finish_update(
        &mut self,
        target: Operand,
        result: ExprId,
        mut all: Vec<ExprId>,
        old: Option<ExprId>,
        span: Span,
        loc: Loc,
    ) -> Operand {
        if self.is_error(self.type_of(result)) {
            return self.error(span);
        }
        // No warning of narrowing: `c += 1` computes an `int`.
        let value = match (
            self.arithmetic_of(result),
            self.types.as_arithmetic(target.ty.ty),
        ) {
            (Some((_, m)), Some((scalar, n))) if m == n => {
                let value = self.arithmetic_as(result, scalar);
                self.retype(value, target.ty.ty, loc)
            }
            _ => self.assign_value(
                result,
                span,
                target.ty.ty,
                Goal::Assign(loc, self.alias_of_operand(target)),
            ),
        };
        let (bind, temp) = self.bind(value, loc);
        let store = self.store(target, temp, loc);
        let last = old.unwrap_or(temp);
        all.extend([bind, store, last]);
        let ty = self.type_of(last);
        let id = self.add(ExprKind::Sequence(all), ty, loc);
        self.value(id, span)
    }

    pub(super) fn increment(
        &mut self,
        op: UnaryOp,
        inner: ast::ExprId,
        span: Span,
        loc: Loc,
    ) -> Operand {
        let target = self.expr(inner);
        if self.is_atomic(target) {
            return self.invalid_unary(target.ty, span);
        }
        if !self.check_modifiable(target, loc) {
            return self.error(span);
        }
        let mut all = Vec::new();
        let target = self.fix_address(target, &mut all);
        let old = self.rvalue(target);
        let (bind, old) = self.bind(old, loc);
        all.push(bind);
        let arithmetic = self.arithmetic_of(old);
        let is_pointer = matches!(self.types.get(self.type_of(old)), Type::Pointer { .. });
        // OpenCL C Specification, "Operators", has them of integers only; as in C they are of
        // floating-point scalars too.
        let is_float_vector =
            matches!(arithmetic, Some((scalar, lanes)) if scalar.is_float() && lanes > 1);
        if (arithmetic.is_none() && !is_pointer) || is_float_vector {
            let name = self.quote(target.ty);
            let word = match op {
                UnaryOp::PreInc | UnaryOp::PostInc => "increment",
                _ => "decrement",
            };
            self.diags
                .error(span, format!("cannot {word} value of type {name}"));
            return self.error(span);
        }
        let one = self.int_constant(1, Types::INT, loc);
        let one = match arithmetic {
            Some((scalar, lanes)) if lanes > 1 => self.splat(one, scalar, lanes),
            Some((scalar, _)) if scalar.is_float() => self.arithmetic_as(one, scalar),
            Some((Scalar::Bool, _)) | Some(_) | None => one,
        };
        let at = Operator::between(target, target, loc);
        let binary = match op {
            UnaryOp::PreInc | UnaryOp::PostInc => BinaryOp::Add,
            _ => BinaryOp::Sub,
        };
        let result = self.binary(binary, old, one, at);
        let post = matches!(op, UnaryOp::PostInc | UnaryOp::PostDec).then_some(old);
        self.finish_update(target, result, all, post, span, loc)
    }
}

fn repeats(lanes: &[u8]) -> bool {
    let mut seen = 0u16;
    lanes.iter().any(|&lane| {
        let bit = 1u16.checked_shl(lane.into()).unwrap_or(0);
        let again = seen & bit != 0;
        seen |= bit;
        again
    })
}
