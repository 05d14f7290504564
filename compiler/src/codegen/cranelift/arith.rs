//! Lane-wise arithmetic, comparisons and selects.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes, types};
use smallvec::smallvec;

use super::parts::{Parts, Repr};
use super::values::Gen;
use crate::ir::{BinOp, FloatCC, IntCC, Op, Scalar, UnOp, Value, eval};

fn int_cc(cc: IntCC) -> condcodes::IntCC {
    match cc {
        IntCC::Eq => condcodes::IntCC::Equal,
        IntCC::Ne => condcodes::IntCC::NotEqual,
        IntCC::Slt => condcodes::IntCC::SignedLessThan,
        IntCC::Sle => condcodes::IntCC::SignedLessThanOrEqual,
        IntCC::Sgt => condcodes::IntCC::SignedGreaterThan,
        IntCC::Sge => condcodes::IntCC::SignedGreaterThanOrEqual,
        IntCC::Ult => condcodes::IntCC::UnsignedLessThan,
        IntCC::Ule => condcodes::IntCC::UnsignedLessThanOrEqual,
        IntCC::Ugt => condcodes::IntCC::UnsignedGreaterThan,
        IntCC::Uge => condcodes::IntCC::UnsignedGreaterThanOrEqual,
    }
}

fn float_cc(cc: FloatCC) -> condcodes::FloatCC {
    match cc {
        FloatCC::Oeq => condcodes::FloatCC::Equal,
        FloatCC::One => condcodes::FloatCC::OrderedNotEqual,
        FloatCC::Olt => condcodes::FloatCC::LessThan,
        FloatCC::Ole => condcodes::FloatCC::LessThanOrEqual,
        FloatCC::Ogt => condcodes::FloatCC::GreaterThan,
        FloatCC::Oge => condcodes::FloatCC::GreaterThanOrEqual,
        FloatCC::Ord => condcodes::FloatCC::Ordered,
        FloatCC::Ueq => condcodes::FloatCC::UnorderedOrEqual,
        FloatCC::Une => condcodes::FloatCC::NotEqual,
        FloatCC::Ult => condcodes::FloatCC::UnorderedOrLessThan,
        FloatCC::Ule => condcodes::FloatCC::UnorderedOrLessThanOrEqual,
        FloatCC::Ugt => condcodes::FloatCC::UnorderedOrGreaterThan,
        FloatCC::Uge => condcodes::FloatCC::UnorderedOrGreaterThanOrEqual,
        FloatCC::Uno => condcodes::FloatCC::Unordered,
    }
}

impl Gen<'_> {
    pub fn unary(&mut self, op: UnOp, arg: Value) -> Repr {
        let ty = self.func.ty(arg);
        if ty.scalar == Scalar::I1 {
            debug_assert_eq!(op, UnOp::Not);
            return match self.values[arg].clone() {
                Repr::Mask(bits, parts) => {
                    Repr::Mask(bits, parts.iter().map(|&p| self.b.ins().bnot(p)).collect())
                }
                _ => {
                    let v = self.scalar(arg);
                    Repr::Scalar(self.b.ins().bxor_imm_u(v, 1))
                }
            };
        }
        self.lanewise(&[arg], |g, v| {
            let v = v[0];
            match op {
                UnOp::INeg => g.b.ins().ineg(v),
                UnOp::Not => g.b.ins().bnot(v),
                UnOp::PopCount => g.b.ins().popcnt(v),
                UnOp::Clz => g.b.ins().clz(v),
                UnOp::Ctz => g.b.ins().ctz(v),
                UnOp::BitReverse => g.b.ins().bitrev(v),
                UnOp::FNeg => g.b.ins().fneg(v),
                UnOp::FAbs => g.b.ins().fabs(v),
                UnOp::Sqrt => g.b.ins().sqrt(v),
                UnOp::Ceil => g.b.ins().ceil(v),
                UnOp::Floor => g.b.ins().floor(v),
                UnOp::Trunc => g.b.ins().trunc(v),
                UnOp::RoundEven => g.b.ins().nearest(v),
                UnOp::RecipEstimate | UnOp::RsqrtEstimate => {
                    unreachable!("no estimates are left for Cranelift")
                }
            }
        })
    }

    pub fn binary(&mut self, op: BinOp, a: Value, b: Value) -> Repr {
        let ty = self.func.ty(a);
        if ty.scalar == Scalar::I1 && ty.lanes > 1 {
            return self.mask_binary(op, a, b);
        }
        if let (BinOp::IMul, Some(Op::LaneIds), Some(by)) =
            (op, self.func.def_op(a), self.func.as_const(b))
        {
            let lanes = (0..u64::from(ty.lanes)).map(|lane| lane.wrapping_mul(by));
            let lanes: Vec<u64> = lanes.collect();
            return Repr::Vector(self.constant_lanes(ty, &lanes));
        }
        if let (BinOp::IMul, true, Some(shift)) = (op, ty.lanes > 1, self.power_of_two(b)) {
            let amount = self.b.ins().iconst(types::I32, i64::from(shift));
            return self.lanewise(&[a], |g, v| g.b.ins().ishl(v[0], amount));
        }
        match op {
            BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Rotl if ty.lanes > 1 => {
                self.vector_shift(op, a, b)
            }
            BinOp::SMulHi | BinOp::UMulHi if ty.lanes > 1 => {
                let lanes: Vec<clif::Value> = (0..ty.lanes)
                    .map(|l| {
                        let (a, b) = (self.lane(a, l), self.lane(b, l));
                        self.scalar_binary(op, ty.scalar, a, b)
                    })
                    .collect();
                Repr::Vector(self.vector_of(ty, &lanes))
            }
            BinOp::FMin | BinOp::FMax if self.is_number(b) => {
                self.lanewise(&[a, b], |g, v| g.min_max_of_numbers(op, v[0], v[1]))
            }
            _ if ty.lanes > 1 => self.lanewise(&[a, b], |g, v| g.vector_binary(op, v[0], v[1])),
            BinOp::IMul if self.power_of_two(b).is_some() => {
                // A shift can become part of an address.
                let shift = self.power_of_two(b).expect("checked");
                let a = self.scalar(a);
                Repr::Scalar(self.b.ins().ishl_imm_u(a, i64::from(shift)))
            }
            _ => {
                let (a, b) = (self.scalar(a), self.scalar(b));
                Repr::Scalar(self.scalar_binary(op, ty.scalar, a, b))
            }
        }
    }

    /// The exponent of a constant that is a power of two.
    fn power_of_two(&self, v: Value) -> Option<u32> {
        self.func
            .as_const(v)
            .filter(|bits| bits.is_power_of_two())
            .map(u64::trailing_zeros)
    }

    fn mask_binary(&mut self, op: BinOp, a: Value, b: Value) -> Repr {
        let (Repr::Mask(bits, left), Repr::Mask(other, _)) =
            (self.values[a].clone(), self.values[b].clone())
        else {
            unreachable!("masks")
        };
        // Take the wider form: narrowing again later is as cheap as now, and often not needed.
        let bits = bits.max(other);
        let left = if matches!(self.values[a], Repr::Mask(have, _) if have == bits) {
            left
        } else {
            self.mask(a, bits)
        };
        let right = self.mask(b, bits);
        let parts = left
            .iter()
            .zip(&right)
            .map(|(&x, &y)| match op {
                BinOp::And => self.b.ins().band(x, y),
                BinOp::Or => self.b.ins().bor(x, y),
                BinOp::Xor => self.b.ins().bxor(x, y),
                other => unreachable!("{} of truth values", other.name()),
            })
            .collect();
        Repr::Mask(bits, parts)
    }

    /// A rotation of vectors to the left by `n` bits, fewer than a lane has: whole bytes move,
    /// others are shifted both ways.
    fn rotate(&mut self, a: Value, n: i64) -> Repr {
        let bits = self.func.ty(a).scalar.bits();
        let size = (bits / 8) as u8;
        if n % 8 == 0 {
            let by = (n / 8) as u8;
            let from = |byte: u8| byte / size * size + (byte % size + size - by) % size;
            let bytes: Vec<u8> = (0..16).map(from).collect();
            return self.lanewise(&[a], |g, v| {
                let whole = g.b.func.dfg.value_type(v[0]);
                let part = g.cast(v[0], types::I8X16);
                let moved = g.shuffle(part, part, &bytes, 8);
                g.cast(moved, whole)
            });
        }
        let back = (-n) & i64::from(bits - 1);
        let [n, back] = [n, back].map(|n| self.b.ins().iconst(types::I32, n));
        self.lanewise(&[a], |g, v| g.rotated(v[0], n, back))
    }

    /// A vector rotated to the left, given by how much to shift it to the left and to the right.
    fn rotated(&mut self, v: clif::Value, left: clif::Value, right: clif::Value) -> clif::Value {
        let high = self.b.ins().ishl(v, left);
        let low = self.b.ins().ushr(v, right);
        self.b.ins().bor(high, low)
    }

    /// Shifts of vectors: by one amount in one instruction, else lane by lane.
    fn vector_shift(&mut self, op: BinOp, a: Value, amount: Value) -> Repr {
        let ty = self.func.ty(a);
        let bits = i64::from(ty.scalar.bits());
        if let (BinOp::Rotl, Some(n)) = (op, self.func.as_const(amount)) {
            return self.rotate(a, n as i64 & (bits - 1));
        }
        let uniform = match self.func.def_inst(amount).map(|i| &self.func.insts[i]) {
            Some(data) => match data.op {
                Op::Const(n) => Some(self.b.ins().iconst(types::I32, n as i64 & (bits - 1))),
                Op::Splat => {
                    let scalar = self.scalar(data.args[0]);
                    let narrow = match self.b.func.dfg.value_type(scalar) {
                        types::I32 => scalar,
                        types::I64 => self.b.ins().ireduce(types::I32, scalar),
                        _ => self.b.ins().uextend(types::I32, scalar),
                    };
                    Some(self.b.ins().band_imm_u(narrow, bits - 1))
                }
                _ => None,
            },
            None => None,
        };
        if let Some(n) = uniform {
            let back = self.b.ins().ineg(n);
            let back = self.b.ins().band_imm_u(back, bits - 1);
            return self.lanewise(&[a], |g, v| match op {
                BinOp::Shl => g.b.ins().ishl(v[0], n),
                BinOp::LShr => g.b.ins().ushr(v[0], n),
                BinOp::AShr => g.b.ins().sshr(v[0], n),
                _ => g.rotated(v[0], n, back),
            });
        }
        let lanes: Vec<clif::Value> = (0..ty.lanes)
            .map(|l| {
                let (x, n) = (self.lane(a, l), self.lane(amount, l));
                self.scalar_binary(op, ty.scalar, x, n)
            })
            .collect();
        Repr::Vector(self.vector_of(ty, &lanes))
    }

    /// What vectors and scalars do alike, on a part.
    fn vector_binary(&mut self, op: BinOp, a: clif::Value, b: clif::Value) -> clif::Value {
        let ins = self.b.ins();
        match op {
            BinOp::IAdd => ins.iadd(a, b),
            BinOp::ISub => ins.isub(a, b),
            BinOp::IMul => ins.imul(a, b),
            BinOp::And => ins.band(a, b),
            BinOp::Or => ins.bor(a, b),
            BinOp::Xor => ins.bxor(a, b),
            BinOp::SMin => ins.smin(a, b),
            BinOp::SMax => ins.smax(a, b),
            BinOp::UMin => ins.umin(a, b),
            BinOp::UMax => ins.umax(a, b),
            BinOp::SAddSat => ins.sadd_sat(a, b),
            BinOp::UAddSat => ins.uadd_sat(a, b),
            BinOp::SSubSat => ins.ssub_sat(a, b),
            BinOp::USubSat => ins.usub_sat(a, b),
            BinOp::FAdd => ins.fadd(a, b),
            BinOp::FSub => ins.fsub(a, b),
            BinOp::FMul => ins.fmul(a, b),
            BinOp::FDiv => ins.fdiv(a, b),
            BinOp::FMin | BinOp::FMax => self.min_max(op, a, b),
            BinOp::CopySign => {
                let ty = self.b.func.dfg.value_type(a);
                let magnitude = self.b.ins().fabs(a);
                let size = ty.lane_bits() as usize / 8;
                let mut bytes = vec![0u8; 16];
                bytes
                    .iter_mut()
                    .skip(size - 1)
                    .step_by(size)
                    .for_each(|b| *b = 0x80);
                let data = self.b.func.dfg.constants.insert(bytes.into());
                let sign = self.b.ins().vconst(ty, data);
                let sign = self.b.ins().band(b, sign);
                self.b.ins().bor(magnitude, sign)
            }
            other => unreachable!("{} of vectors is done elsewhere", other.name()),
        }
    }

    /// Whether a value is a constant and no NaN.
    fn is_number(&self, value: Value) -> bool {
        let scalar = self.func.ty(value).scalar;
        let bits = self.func.as_const(value);
        bits.is_some_and(|bits| !eval::to_f64(scalar, bits).is_nan())
    }

    /// `isnan(b) ? a : (a < b ? a : b)`, or with `>`.
    fn min_max(&mut self, op: BinOp, a: clif::Value, b: clif::Value) -> clif::Value {
        let ty = self.b.func.dfg.value_type(a);
        let chosen = self.min_max_of_numbers(op, a, b);
        let nan = self.b.ins().fcmp(condcodes::FloatCC::Unordered, b, b);
        if ty.is_vector() {
            self.blend(nan, a, chosen)
        } else {
            self.b.ins().select(nan, a, chosen)
        }
    }

    /// `a < b ? a : b`, or with `>`.
    fn min_max_of_numbers(&mut self, op: BinOp, a: clif::Value, b: clif::Value) -> clif::Value {
        let ty = self.b.func.dfg.value_type(a);
        // With the operands of the comparison in this order, x86 does comparison and choice in one
        // `min`/`max`.
        let (x, y) = if op == BinOp::FMin { (a, b) } else { (b, a) };
        let less = self.b.ins().fcmp(condcodes::FloatCC::LessThan, x, y);
        if ty.is_vector() {
            let less = self.cast(less, ty);
            self.b.ins().bitselect(less, a, b)
        } else {
            self.b.ins().select(less, a, b)
        }
    }

    pub fn scalar_binary(
        &mut self,
        op: BinOp,
        scalar: Scalar,
        a: clif::Value,
        b: clif::Value,
    ) -> clif::Value {
        let ty = self.b.func.dfg.value_type(a);
        match op {
            BinOp::Shl => self.b.ins().ishl(a, b),
            BinOp::LShr => self.b.ins().ushr(a, b),
            BinOp::AShr => self.b.ins().sshr(a, b),
            BinOp::Rotl => self.b.ins().rotl(a, b),
            BinOp::SMulHi | BinOp::UMulHi if ty.bits() < 32 => {
                let signed = op == BinOp::SMulHi;
                let wide = |g: &mut Self, v| {
                    if signed {
                        g.b.ins().sextend(types::I32, v)
                    } else {
                        g.b.ins().uextend(types::I32, v)
                    }
                };
                let (a, b) = (wide(self, a), wide(self, b));
                let product = self.b.ins().imul(a, b);
                let high = self.b.ins().ushr_imm_u(product, i64::from(ty.bits()));
                self.b.ins().ireduce(ty, high)
            }
            BinOp::SMulHi => self.b.ins().smulhi(a, b),
            BinOp::UMulHi => self.b.ins().umulhi(a, b),
            BinOp::UDiv | BinOp::URem => self.unsigned_division(op, a, b),
            BinOp::SDiv | BinOp::SRem => self.signed_division(op, a, b),
            BinOp::CopySign => self.b.ins().fcopysign(a, b),
            BinOp::FMin | BinOp::FMax => self.min_max(op, a, b),
            _ => {
                debug_assert!(!scalar.is_float() || ty.is_float());
                self.vector_binary(op, a, b)
            }
        }
    }

    /// An integer constant, sign-extended: Cranelift has it zero-extended.
    fn int_const(&self, v: clif::Value) -> Option<i64> {
        let unused = 64 - self.b.func.dfg.value_type(v).bits();
        let inst = self.b.func.dfg.value_def(v).inst()?;
        match self.b.func.dfg.insts[inst] {
            clif::InstructionData::UnaryImm {
                opcode: clif::Opcode::Iconst,
                imm,
            } => Some(imm.bits() << unused >> unused),
            _ => None,
        }
    }

    /// `x / 0` is `x` and `x % 0` is 0, as division by 1 gives.
    fn unsigned_division(&mut self, op: BinOp, a: clif::Value, b: clif::Value) -> clif::Value {
        let safe = match self.int_const(b) {
            Some(n) if n != 0 => b,
            _ => {
                let ty = self.b.func.dfg.value_type(b);
                let one = self.b.ins().iconst(ty, 1);
                let zero = self.b.ins().icmp_imm_u(condcodes::IntCC::Equal, b, 0);
                self.b.ins().select(zero, one, b)
            }
        };
        if op == BinOp::UDiv {
            self.b.ins().udiv(a, safe)
        } else {
            self.b.ins().urem(a, safe)
        }
    }

    /// As for unsigned; and division by -1 negates, so that the overflowing quotient wraps.
    fn signed_division(&mut self, op: BinOp, a: clif::Value, b: clif::Value) -> clif::Value {
        if matches!(self.int_const(b), Some(n) if n != 0 && n != -1) {
            return if op == BinOp::SDiv {
                self.b.ins().sdiv(a, b)
            } else {
                self.b.ins().srem(a, b)
            };
        }
        let ty = self.b.func.dfg.value_type(b);
        let one = self.b.ins().iconst(ty, 1);
        // 0 and -1 are the divisors for which b + 1 is at most 1, unsigned.
        let next = self.b.ins().iadd(b, one);
        let special = self
            .b
            .ins()
            .icmp_imm_u(condcodes::IntCC::UnsignedLessThanOrEqual, next, 1);
        let safe = self.b.ins().select(special, one, b);
        if op == BinOp::SRem {
            return self.b.ins().srem(a, safe);
        }
        let quotient = self.b.ins().sdiv(a, safe);
        let minus_one = self.b.ins().icmp_imm_s(condcodes::IntCC::Equal, b, -1);
        let negated = self.b.ins().ineg(a);
        self.b.ins().select(minus_one, negated, quotient)
    }

    pub fn icmp(&mut self, cc: IntCC, a: Value, b: Value) -> Repr {
        let ty = self.func.ty(a);
        if ty.lanes == 1 {
            let (a, b) = (self.scalar(a), self.scalar(b));
            return Repr::Scalar(self.b.ins().icmp(int_cc(cc), a, b));
        }
        if ty.scalar == Scalar::I1 {
            let different = self.mask_binary(BinOp::Xor, a, b);
            return match (cc, different) {
                (IntCC::Eq, Repr::Mask(bits, parts)) => {
                    Repr::Mask(bits, parts.iter().map(|&p| self.b.ins().bnot(p)).collect())
                }
                (IntCC::Ne, mask) => mask,
                (other, _) => unreachable!("{} of truth values", other.name()),
            };
        }
        match self.lanewise(&[a, b], |g, v| g.b.ins().icmp(int_cc(cc), v[0], v[1])) {
            Repr::Vector(parts) => Repr::Mask(ty.scalar.bits(), parts),
            other => other,
        }
    }

    pub fn fcmp(&mut self, cc: FloatCC, a: Value, b: Value) -> Repr {
        let ty = self.func.ty(a);
        if ty.lanes == 1 {
            let (a, b) = (self.scalar(a), self.scalar(b));
            return Repr::Scalar(self.b.ins().fcmp(float_cc(cc), a, b));
        }
        let compare = self.lanewise(&[a, b], |g, v| match cc {
            // Vectors have no single comparison for these.
            FloatCC::One | FloatCC::Ueq => {
                let less = g.b.ins().fcmp(condcodes::FloatCC::LessThan, v[0], v[1]);
                let more = g.b.ins().fcmp(condcodes::FloatCC::GreaterThan, v[0], v[1]);
                let apart = g.b.ins().bor(less, more);
                if cc == FloatCC::One {
                    apart
                } else {
                    g.b.ins().bnot(apart)
                }
            }
            _ => g.b.ins().fcmp(float_cc(cc), v[0], v[1]),
        });
        match compare {
            Repr::Vector(parts) => Repr::Mask(ty.scalar.bits(), parts),
            other => other,
        }
    }

    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Repr {
        let ty = self.func.ty(a);
        if ty.lanes == 1 {
            let (cond, a, b) = (self.scalar(cond), self.scalar(a), self.scalar(b));
            return Repr::Scalar(self.b.ins().select(cond, a, b));
        }
        if let Repr::Scalar(cond) = self.values[cond] {
            let choose = |g: &mut Self, a: &Parts, b: &Parts| -> Parts {
                a.iter()
                    .zip(b)
                    .map(|(&a, &b)| g.b.ins().select(cond, a, b))
                    .collect()
            };
            if ty.scalar == Scalar::I1 {
                let bits = self.param_mask_bits;
                let (a, b) = (self.mask(a, bits), self.mask(b, bits));
                return Repr::Mask(bits, choose(self, &a, &b));
            }
            let (a, b) = (self.parts(a), self.parts(b));
            return Repr::Vector(choose(self, &a, &b));
        }
        if ty.scalar == Scalar::I1 {
            let Repr::Mask(bits, _) = self.values[cond] else {
                unreachable!("a mask")
            };
            let (c, a, b) = (
                self.mask(cond, bits),
                self.mask(a, bits),
                self.mask(b, bits),
            );
            let parts = (0..c.len())
                .map(|i| {
                    let yes = self.b.ins().band(c[i], a[i]);
                    let no = self.b.ins().band_not(b[i], c[i]);
                    self.b.ins().bor(yes, no)
                })
                .collect();
            return Repr::Mask(bits, parts);
        }
        let cond = self.mask(cond, ty.scalar.bits());
        if let Some(parts) = self.choose_zero(&cond, a, b) {
            return Repr::Vector(parts);
        }
        let (a, b) = (self.parts(a), self.parts(b));
        let mut parts: Parts = smallvec![];
        for i in 0..a.len() {
            parts.push(self.blend(cond[i], a[i], b[i]));
        }
        Repr::Vector(parts)
    }

    /// A choice one side of which is zero: what the mask leaves of the other.
    fn choose_zero(&mut self, cond: &Parts, a: Value, b: Value) -> Option<Parts> {
        let is_zero = |value| self.func.as_const(value) == Some(0);
        let (kept, unless) = match (is_zero(a), is_zero(b)) {
            (true, _) => (b, true),
            (false, true) => (a, false),
            (false, false) => return None,
        };
        let kept = self.parts(kept);
        let parts = cond.iter().zip(&kept).map(|(&mask, &part)| {
            let ty = self.b.func.dfg.value_type(part);
            let mask_ty = self.b.func.dfg.value_type(mask);
            let bits = self.cast(part, mask_ty);
            let left = match unless {
                true => self.b.ins().band_not(bits, mask),
                false => self.b.ins().band(bits, mask),
            };
            self.cast(left, ty)
        });
        Some(parts.collect())
    }
}
