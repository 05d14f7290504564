//! `OpenCL.std` by `GLSL.std.450` and core instructions: OpenCL C Specification, "Math Functions",
//! "Common Functions", "Geometric Functions". Accuracy is that of `-cl-fast-relaxed-math`, and of
//! what Vulkan has no functions for better: `library.rs`.

use std::f64::consts::{LN_2, LOG2_10, PI};

use rspirv::spirv::{GlslStd450Op as Gl, Op, OpenclStd100Op as Cl};

use super::ir::{Id, Inst};
use super::lower::{Lower, Result};
use super::pointers::{VectorAccess, pointee};
use super::types::{Ty, Type};

impl Lower<'_> {
    /// An instruction of `OpenCL.std`.
    pub fn extended(&mut self, inst: &Inst) -> Result<()> {
        let number = inst.literal_at(1);
        let Some(op) = Cl::from_u32(number) else {
            return self.error(format!(
                "the built-in function of number {number} is unknown"
            ));
        };
        if op == Cl::prefetch {
            return Ok(());
        }
        if let Some(access) = VectorAccess::of(self.input, &mut self.target.types, inst) {
            return self.vector_access(inst, &access);
        }
        let ty = self.result_ty(inst)?;
        let sources: Vec<Id> = inst.ids().skip(1).collect();
        let Some(&first) = sources.first() else {
            return self.error("a built-in function without arguments");
        };
        let of = self.ty_of(first)?;
        self.check_type(of)?;
        let mut ids = Vec::new();
        let mut pointer = None;
        for &source in &sources {
            if self.target.types.is_pointer(self.ty_of(source)?) {
                pointer = Some(source);
            } else {
                ids.push(self.id(source)?);
            }
        }
        if let Some(func) = self.library_function(op, of) {
            let numbers = sources.iter().filter(|&&id| Some(id) != pointer);
            let mut args = Vec::new();
            for (&id, &source) in ids.iter().zip(numbers) {
                args.push((id, self.ty_of(source)?));
            }
            let (first, second) = self.library(func, (ty, of), &args)?;
            if let (Some(pointer), Some(second)) = (pointer, second) {
                self.store_second(pointer, second)?;
            }
            self.set(inst, first);
            return Ok(());
        }
        let id = match (self.math(op, ty, of, &ids)?, pointer) {
            (Some(id), None) => id,
            (_, Some(pointer)) => self.with_second(op, ty, &ids, pointer)?,
            _ => match self.integer_function(op, ty, &sources, &ids)? {
                Some(id) => id,
                None => {
                    return self.error(format!(
                        "the built-in function {op:?}() is not made for Vulkan"
                    ));
                }
            },
        };
        self.set(inst, id);
        Ok(())
    }

    fn float(&mut self, op: Op, ty: Ty, args: &[Id]) -> Id {
        self.emit(op, ty, args)
    }

    fn fmul(&mut self, ty: Ty, left: Id, right: Id) -> Id {
        self.emit(Op::FMul, ty, &[left, right])
    }

    fn times(&mut self, ty: Ty, value: Id, factor: f64) -> Id {
        let factor = self.target.number(ty, factor);
        self.fmul(ty, value, factor)
    }

    fn choose(&mut self, ty: Ty, condition: Id, yes: Id, no: Id) -> Id {
        self.emit(Op::Select, ty, &[condition, yes, no])
    }

    fn test(&mut self, op: Op, of: Ty, args: &[Id]) -> Id {
        let bools = self.bool_like(of);
        self.emit(op, bools, args)
    }

    /// A function of which GLSL knows one of the same meaning.
    fn same(op: Cl) -> Option<Gl> {
        Some(match op {
            Cl::acos => Gl::Acos,
            Cl::acosh => Gl::Acosh,
            Cl::asin => Gl::Asin,
            Cl::asinh => Gl::Asinh,
            Cl::atan => Gl::Atan,
            Cl::atan2 => Gl::Atan2,
            Cl::atanh => Gl::Atanh,
            Cl::ceil => Gl::Ceil,
            Cl::cos | Cl::half_cos | Cl::native_cos => Gl::Cos,
            Cl::cosh => Gl::Cosh,
            Cl::exp | Cl::half_exp | Cl::native_exp => Gl::Exp,
            Cl::exp2 | Cl::half_exp2 | Cl::native_exp2 => Gl::Exp2,
            Cl::fabs => Gl::FAbs,
            Cl::floor => Gl::Floor,
            Cl::fma => Gl::Fma,
            Cl::fmax => Gl::NMax,
            Cl::fmin => Gl::NMin,
            Cl::fmax_common => Gl::FMax,
            Cl::fmin_common => Gl::FMin,
            Cl::fclamp => Gl::FClamp,
            Cl::log | Cl::half_log | Cl::native_log => Gl::Log,
            Cl::log2 | Cl::half_log2 | Cl::native_log2 => Gl::Log2,
            Cl::powr | Cl::half_powr | Cl::native_powr => Gl::Pow,
            Cl::rint => Gl::RoundEven,
            Cl::rsqrt | Cl::half_rsqrt | Cl::native_rsqrt => Gl::InverseSqrt,
            Cl::sin | Cl::half_sin | Cl::native_sin => Gl::Sin,
            Cl::sinh => Gl::Sinh,
            Cl::sqrt | Cl::half_sqrt | Cl::native_sqrt => Gl::Sqrt,
            Cl::tan | Cl::half_tan | Cl::native_tan => Gl::Tan,
            Cl::tanh => Gl::Tanh,
            Cl::trunc => Gl::Trunc,
            Cl::mix => Gl::FMix,
            Cl::radians => Gl::Radians,
            Cl::degrees => Gl::Degrees,
            Cl::step => Gl::Step,
            Cl::smoothstep => Gl::SmoothStep,
            Cl::sign => Gl::FSign,
            Cl::distance | Cl::fast_distance => Gl::Distance,
            Cl::length | Cl::fast_length => Gl::Length,
            Cl::normalize | Cl::fast_normalize => Gl::Normalize,
            _ => return None,
        })
    }

    fn math(&mut self, op: Cl, ty: Ty, of: Ty, ids: &[Id]) -> Result<Option<Id>> {
        if let Some(same) = Self::same(op) {
            return Ok(Some(self.glsl(same, ty, ids)));
        }
        let &[x, ..] = ids else { return Ok(None) };
        let y = ids.get(1).copied().unwrap_or(x);
        Ok(Some(match op {
            Cl::acospi | Cl::asinpi | Cl::atanpi => {
                let gl = match op {
                    Cl::acospi => Gl::Acos,
                    Cl::asinpi => Gl::Asin,
                    _ => Gl::Atan,
                };
                let angle = self.glsl(gl, ty, &[x]);
                self.times(ty, angle, 1.0 / PI)
            }
            Cl::atan2pi => {
                let angle = self.glsl(Gl::Atan2, ty, &[x, y]);
                self.times(ty, angle, 1.0 / PI)
            }
            Cl::cospi | Cl::sinpi | Cl::tanpi => {
                // Whole turns are left out first: x - 2 rint(x / 2).
                let half = self.times(ty, x, 0.5);
                let turns = self.glsl(Gl::RoundEven, ty, &[half]);
                let turns = self.times(ty, turns, 2.0);
                let rest = self.float(Op::FSub, ty, &[x, turns]);
                let angle = self.times(ty, rest, PI);
                let gl = match op {
                    Cl::cospi => Gl::Cos,
                    Cl::sinpi => Gl::Sin,
                    _ => Gl::Tan,
                };
                self.glsl(gl, ty, &[angle])
            }
            Cl::cbrt => {
                let size = self.glsl(Gl::FAbs, ty, &[x]);
                let log = self.glsl(Gl::Log2, ty, &[size]);
                let third = self.times(ty, log, 1.0 / 3.0);
                let root = self.glsl(Gl::Exp2, ty, &[third]);
                self.with_sign(ty, root, x)
            }
            Cl::copysign => self.with_sign(ty, x, y),
            Cl::exp10 | Cl::half_exp10 | Cl::native_exp10 => {
                let power = self.times(ty, x, LOG2_10);
                self.glsl(Gl::Exp2, ty, &[power])
            }
            Cl::log10 | Cl::half_log10 | Cl::native_log10 => {
                let log = self.glsl(Gl::Log2, ty, &[x]);
                self.times(ty, log, 1.0 / LOG2_10)
            }
            Cl::expm1 => self.expm1(ty, x),
            Cl::log1p => self.log1p(ty, x),
            Cl::fdim => {
                let difference = self.float(Op::FSub, ty, &[x, y]);
                let not_above = self.test(Op::FOrdLessThanEqual, ty, &[x, y]);
                let zero = self.target.number(ty, 0.0);
                self.choose(ty, not_above, zero, difference)
            }
            Cl::fmod => self.float(Op::FRem, ty, &[x, y]),
            Cl::remainder => {
                let quotient = self.float(Op::FDiv, ty, &[x, y]);
                let quotient = self.glsl(Gl::RoundEven, ty, &[quotient]);
                let product = self.fmul(ty, quotient, y);
                self.float(Op::FSub, ty, &[x, product])
            }
            Cl::hypot => {
                let (a, b) = (self.glsl(Gl::FAbs, ty, &[x]), self.glsl(Gl::FAbs, ty, &[y]));
                let most = self.glsl(Gl::NMax, ty, &[a, b]);
                let least = self.glsl(Gl::NMin, ty, &[a, b]);
                // most * sqrt(1 + (least / most)²), which does not overflow.
                let ratio = self.float(Op::FDiv, ty, &[least, most]);
                let square = self.fmul(ty, ratio, ratio);
                let one = self.target.number(ty, 1.0);
                let sum = self.float(Op::FAdd, ty, &[one, square]);
                let root = self.glsl(Gl::Sqrt, ty, &[sum]);
                let length = self.fmul(ty, most, root);
                let zero = self.target.number(ty, 0.0);
                let is_zero = self.test(Op::FOrdEqual, ty, &[most, zero]);
                self.choose(ty, is_zero, zero, length)
            }
            Cl::ldexp => self.glsl(Gl::Ldexp, ty, &[x, y]),
            Cl::ilogb | Cl::logb => self.exponent(op, ty, of, x),
            Cl::mad => {
                let product = self.fmul(ty, x, y);
                self.float(Op::FAdd, ty, &[product, ids[2]])
            }
            Cl::maxmag | Cl::minmag => {
                let (a, b) = (self.glsl(Gl::FAbs, ty, &[x]), self.glsl(Gl::FAbs, ty, &[y]));
                let (gl, compare) = match op {
                    Cl::maxmag => (Gl::NMax, Op::FOrdGreaterThan),
                    _ => (Gl::NMin, Op::FOrdLessThan),
                };
                let both = self.glsl(gl, ty, &[x, y]);
                let (first, second) = (
                    self.test(compare, ty, &[a, b]),
                    self.test(compare, ty, &[b, a]),
                );
                let value = self.choose(ty, second, y, both);
                self.choose(ty, first, x, value)
            }
            Cl::nan => {
                let ints = self.bits_type(ty);
                let quiet = match self.target.types.bits(ty) {
                    16 => 0x7e00,
                    32 => 0x7fc0_0000,
                    _ => 0x7ff8_0000_0000_0000,
                };
                let quiet = self.target.splat(ints, quiet);
                let bits = self.emit(Op::BitwiseOr, ints, &[x, quiet]);
                self.emit(Op::Bitcast, ty, &[bits])
            }
            Cl::nextafter => self.next_after(ty, x, y),
            Cl::pow => self.pow(ty, x, y),
            Cl::pown => {
                let y = self.emit(Op::ConvertSToF, ty, &[y]);
                self.pow(ty, x, y)
            }
            Cl::rootn => {
                let n = self.emit(Op::ConvertSToF, ty, &[y]);
                let size = self.glsl(Gl::FAbs, ty, &[x]);
                let log = self.glsl(Gl::Log2, ty, &[size]);
                let power = self.float(Op::FDiv, ty, &[log, n]);
                let root = self.glsl(Gl::Exp2, ty, &[power]);
                self.with_sign(ty, root, x)
            }
            Cl::round => {
                // Half-way cases away from zero.
                let whole = self.glsl(Gl::Trunc, ty, &[x]);
                let rest = self.float(Op::FSub, ty, &[x, whole]);
                let rest = self.glsl(Gl::FAbs, ty, &[rest]);
                let half = self.target.number(ty, 0.5);
                let away = self.test(Op::FOrdGreaterThanEqual, ty, &[rest, half]);
                let (zero, one) = (self.target.number(ty, 0.0), self.target.number(ty, 1.0));
                let more = self.choose(ty, away, one, zero);
                let more = self.with_sign(ty, more, x);
                self.float(Op::FAdd, ty, &[whole, more])
            }
            Cl::half_divide | Cl::native_divide => self.float(Op::FDiv, ty, &[x, y]),
            Cl::half_recip | Cl::native_recip => {
                let one = self.target.number(ty, 1.0);
                self.float(Op::FDiv, ty, &[one, x])
            }
            Cl::cross => self.cross(ty, x, y)?,
            _ => return Ok(None),
        }))
    }

    /// The size of one number with the sign of another.
    fn with_sign(&mut self, ty: Ty, size: Id, sign: Id) -> Id {
        let ints = self.bits_type(ty);
        let width = self.target.types.bits(ty);
        let mask = self.target.splat(ints, 1 << (width - 1));
        let rest = self.target.splat(ints, (1 << (width - 1)) - 1);
        let size = self.emit(Op::Bitcast, ints, &[size]);
        let sign = self.emit(Op::Bitcast, ints, &[sign]);
        let size = self.emit(Op::BitwiseAnd, ints, &[size, rest]);
        let sign = self.emit(Op::BitwiseAnd, ints, &[sign, mask]);
        let bits = self.emit(Op::BitwiseOr, ints, &[size, sign]);
        self.emit(Op::Bitcast, ty, &[bits])
    }

    /// Kahan's formulas: what is lost in `exp(x)` near 1 is lost in its logarithm, too.
    fn expm1(&mut self, ty: Ty, x: Id) -> Id {
        let one = self.target.number(ty, 1.0);
        let u = self.glsl(Gl::Exp, ty, &[x]);
        let less = self.float(Op::FSub, ty, &[u, one]);
        let log = self.glsl(Gl::Log, ty, &[u]);
        let scaled = self.fmul(ty, less, x);
        let exact = self.float(Op::FDiv, ty, &[scaled, log]);
        let size = self.glsl(Gl::FAbs, ty, &[x]);
        let near = self.target.number(ty, LN_2);
        let far = self.test(Op::FOrdGreaterThan, ty, &[size, near]);
        let value = self.choose(ty, far, less, exact);
        let same = self.test(Op::FOrdEqual, ty, &[u, one]);
        self.choose(ty, same, x, value)
    }

    fn log1p(&mut self, ty: Ty, x: Id) -> Id {
        let one = self.target.number(ty, 1.0);
        let u = self.float(Op::FAdd, ty, &[one, x]);
        let less = self.float(Op::FSub, ty, &[u, one]);
        let log = self.glsl(Gl::Log, ty, &[u]);
        let ratio = self.float(Op::FDiv, ty, &[x, less]);
        let exact = self.fmul(ty, log, ratio);
        let size = self.glsl(Gl::FAbs, ty, &[x]);
        let far = self.test(Op::FOrdGreaterThan, ty, &[size, one]);
        let value = self.choose(ty, far, log, exact);
        let same = self.test(Op::FOrdEqual, ty, &[u, one]);
        self.choose(ty, same, x, value)
    }

    /// `pow` of any base: that of the size, and negative for odd powers of negative numbers.
    fn pow(&mut self, ty: Ty, x: Id, y: Id) -> Id {
        let (zero, one) = (self.target.number(ty, 0.0), self.target.number(ty, 1.0));
        let size = self.glsl(Gl::FAbs, ty, &[x]);
        let power = self.glsl(Gl::Pow, ty, &[size, y]);
        let whole = self.glsl(Gl::Trunc, ty, &[y]);
        let half = self.times(ty, y, 0.5);
        let even = self.glsl(Gl::Trunc, ty, &[half]);
        let is_whole = self.test(Op::FOrdEqual, ty, &[whole, y]);
        let is_not_even = self.test(Op::FOrdNotEqual, ty, &[even, half]);
        let bools = self.bool_like(ty);
        let is_odd = self.emit(Op::LogicalAnd, bools, &[is_whole, is_not_even]);
        let signed = self.with_sign(ty, power, x);
        let value = self.choose(ty, is_odd, signed, power);
        // Negative numbers have whole powers only.
        let negative = self.test(Op::FOrdLessThan, ty, &[x, zero]);
        let broken = self.test(Op::FOrdNotEqual, ty, &[whole, y]);
        let nothing = self.emit(Op::LogicalAnd, bools, &[negative, broken]);
        let nan = self.target.number(ty, f64::NAN);
        let value = self.choose(ty, nothing, nan, value);
        let none = self.test(Op::FOrdEqual, ty, &[y, zero]);
        let unit = self.test(Op::FOrdEqual, ty, &[x, one]);
        let is_one = self.emit(Op::LogicalOr, bools, &[none, unit]);
        self.choose(ty, is_one, one, value)
    }

    /// The binary exponent of a number.
    fn exponent(&mut self, op: Cl, ty: Ty, of: Ty, x: Id) -> Id {
        let word = self.u32_ty();
        let ints = self.target.types.like(of, word);
        let members = vec![of, ints];
        let pair = self.target.types.add(Type::Struct {
            members,
            packed: false,
        });
        let pair = self.glsl(Gl::FrexpStruct, pair, &[x]);
        let exponent = self.extract(ints, pair, 1);
        let one = self.target.splat(ints, 1);
        let exponent = self.emit(Op::ISub, ints, &[exponent, one]);
        let zero = self.target.number(of, 0.0);
        let is_zero = self.test(Op::FOrdEqual, of, &[x, zero]);
        let nan = self.test(Op::IsNan, of, &[x]);
        let infinite = self.test(Op::IsInf, of, &[x]);
        if op == Cl::ilogb {
            // `FP_ILOGB0` and `FP_ILOGBNAN`
            let least = self.target.splat(ints, 0x8000_0000);
            let most = self.target.splat(ints, 0x7fff_ffff);
            let value = self.choose(ints, is_zero, least, exponent);
            let value = self.choose(ints, infinite, most, value);
            return self.choose(ints, nan, most, value);
        }
        let value = self.emit(Op::ConvertSToF, ty, &[exponent]);
        let size = self.glsl(Gl::FAbs, ty, &[x]);
        let least = self.target.number(ty, f64::NEG_INFINITY);
        let value = self.choose(ty, is_zero, least, value);
        let value = self.choose(ty, infinite, size, value);
        self.choose(ty, nan, x, value)
    }

    fn next_after(&mut self, ty: Ty, x: Id, y: Id) -> Id {
        let ints = self.bits_type(ty);
        let (zero, one) = (self.target.splat(ints, 0), self.target.splat(ints, 1));
        let width = self.target.types.bits(ty);
        let sign = self.target.splat(ints, 1 << (width - 1));
        let bits = self.emit(Op::Bitcast, ints, &[x]);
        let up = self.test(Op::FOrdLessThan, ty, &[x, y]);
        let negative = self.test(Op::SLessThan, ints, &[bits, zero]);
        // The size grows away from zero.
        let grows = self.test(Op::LogicalNotEqual, ints, &[up, negative]);
        let more = self.emit(Op::IAdd, ints, &[bits, one]);
        let less = self.emit(Op::ISub, ints, &[bits, one]);
        let next = self.choose(ints, grows, more, less);
        let none = self.target.number(ty, 0.0);
        let is_zero = self.test(Op::FOrdEqual, ty, &[x, none]);
        let below = self.emit(Op::BitwiseOr, ints, &[one, sign]);
        let first = self.choose(ints, up, one, below);
        let next = self.choose(ints, is_zero, first, next);
        let next = self.emit(Op::Bitcast, ty, &[next]);
        let same = self.test(Op::FOrdEqual, ty, &[x, y]);
        let value = self.choose(ty, same, y, next);
        let (left, right) = (
            self.test(Op::IsNan, ty, &[x]),
            self.test(Op::IsNan, ty, &[y]),
        );
        let value = self.choose(ty, right, y, value);
        self.choose(ty, left, x, value)
    }

    fn cross(&mut self, ty: Ty, x: Id, y: Id) -> Result<Id> {
        let (scalar, lanes) = self.target.types.lanes(ty);
        if lanes == 3 {
            return Ok(self.glsl(Gl::Cross, ty, &[x, y]));
        }
        let three = self.target.types.vector(scalar, 3);
        let first = |lower: &mut Self, value: Id| {
            let lanes = lower.lanes(value, ty);
            lower.construct(three, &lanes[..3])
        };
        let (x, y) = (first(self, x), first(self, y));
        let cross = self.glsl(Gl::Cross, three, &[x, y]);
        let mut parts = self.lanes(cross, three);
        parts.push(self.target.number(scalar, 0.0));
        Ok(self.construct(ty, &parts))
    }

    /// Functions that store a second result.
    fn with_second(&mut self, op: Cl, ty: Ty, ids: &[Id], pointer: Id) -> Result<Id> {
        let x = ids[0];
        let word = self.u32_ty();
        let (first, second, of) = match op {
            Cl::fract => {
                let floor = self.glsl(Gl::Floor, ty, &[x]);
                let rest = self.float(Op::FSub, ty, &[x, floor]);
                // "This is the largest ... number less than 1"
                let below = match self.target.types.bits(ty) {
                    16 => 1.0 - 2f64.powi(-11),
                    32 => 1.0 - 2f64.powi(-24),
                    _ => 1.0 - 2f64.powi(-53),
                };
                let below = self.target.number(ty, below);
                (self.glsl(Gl::FMin, ty, &[rest, below]), floor, ty)
            }
            Cl::modf => {
                let whole = self.glsl(Gl::Trunc, ty, &[x]);
                let rest = self.float(Op::FSub, ty, &[x, whole]);
                let infinite = self.test(Op::IsInf, ty, &[x]);
                let zero = self.target.number(ty, 0.0);
                let rest = self.choose(ty, infinite, zero, rest);
                (self.with_sign(ty, rest, x), whole, ty)
            }
            Cl::sincos => {
                let cos = self.glsl(Gl::Cos, ty, &[x]);
                (self.glsl(Gl::Sin, ty, &[x]), cos, ty)
            }
            Cl::frexp => {
                let ints = self.target.types.like(ty, word);
                let pair = self.target.types.add(Type::Struct {
                    members: vec![ty, ints],
                    packed: false,
                });
                let pair = self.glsl(Gl::FrexpStruct, pair, &[x]);
                let size = self.extract(ty, pair, 0);
                (size, self.extract(ints, pair, 1), ints)
            }
            _ => {
                return self.error(format!(
                    "the built-in function {op:?}() is not made for Vulkan"
                ));
            }
        };
        let to = self.pointer(pointer)?;
        self.store(&to, second, of, false)?;
        Ok(first)
    }

    /// A second result, which has the type that the pointer is to.
    fn store_second(&mut self, pointer: Id, value: Id) -> Result<()> {
        let Some(ty) = pointee(self.input, &self.target.types, pointer) else {
            return self.error("a second result goes to something of an unknown type");
        };
        let to = self.pointer(pointer)?;
        self.store(&to, value, ty, false)
    }
}
