//! The instructions of `GLSL.std.450`, by those of `OpenCL.std` and the core.
//!
//! OpenCL's functions are at least as accurate as Vulkan asks ("Precision and Operation of SPIR-V
//! Instructions"), and where Vulkan leaves open what happens (which zero or NaN is the result, how
//! a half is rounded) theirs is one of the answers.

use rspirv::spirv::{GlslStd450Op as Glsl, Op, OpenclStd100Op as Std};

use super::super::decode::Result;
use super::super::rules::Rule;
use super::body::{FunctionLowering, copy_as};
use super::globals::copy_with;
use super::source::{Numbers, SourceId, SourceInst};
use super::writer::with;
use crate::diagnostic::Diagnostic;

/// The function of OpenCL that takes the same operands and gives the same.
fn same(op: Glsl) -> Option<Std> {
    Some(match op {
        Glsl::Round => Std::round,
        Glsl::RoundEven => Std::rint,
        Glsl::Trunc => Std::trunc,
        Glsl::FAbs => Std::fabs,
        Glsl::SAbs => Std::s_abs,
        Glsl::FSign => Std::sign,
        Glsl::Floor => Std::floor,
        Glsl::Ceil => Std::ceil,
        Glsl::Radians => Std::radians,
        Glsl::Degrees => Std::degrees,
        Glsl::Sin => Std::sin,
        Glsl::Cos => Std::cos,
        Glsl::Tan => Std::tan,
        Glsl::Asin => Std::asin,
        Glsl::Acos => Std::acos,
        Glsl::Atan => Std::atan,
        Glsl::Sinh => Std::sinh,
        Glsl::Cosh => Std::cosh,
        Glsl::Tanh => Std::tanh,
        Glsl::Asinh => Std::asinh,
        Glsl::Acosh => Std::acosh,
        Glsl::Atanh => Std::atanh,
        Glsl::Atan2 => Std::atan2,
        Glsl::Pow => Std::pow,
        Glsl::Exp => Std::exp,
        Glsl::Log => Std::log,
        Glsl::Exp2 => Std::exp2,
        Glsl::Log2 => Std::log2,
        Glsl::Sqrt => Std::sqrt,
        Glsl::InverseSqrt => Std::rsqrt,
        Glsl::Modf => Std::modf,
        Glsl::FMin | Glsl::NMin => Std::fmin,
        Glsl::UMin => Std::u_min,
        Glsl::SMin => Std::s_min,
        Glsl::FMax | Glsl::NMax => Std::fmax,
        Glsl::UMax => Std::u_max,
        Glsl::SMax => Std::s_max,
        Glsl::UClamp => Std::u_clamp,
        Glsl::SClamp => Std::s_clamp,
        Glsl::FMix => Std::mix,
        Glsl::Step => Std::step,
        Glsl::SmoothStep => Std::smoothstep,
        Glsl::Fma => Std::fma,
        Glsl::Frexp => Std::frexp,
        Glsl::Ldexp => Std::ldexp,
        Glsl::Length => Std::length,
        Glsl::Distance => Std::distance,
        Glsl::Cross => Std::cross,
        Glsl::Normalize => Std::normalize,
        _ => return None,
    })
}

/// How many operands an instruction has.
fn count(op: Glsl) -> usize {
    match op {
        Glsl::Atan2
        | Glsl::Pow
        | Glsl::Modf
        | Glsl::FMin
        | Glsl::UMin
        | Glsl::SMin
        | Glsl::FMax
        | Glsl::UMax
        | Glsl::SMax
        | Glsl::NMin
        | Glsl::NMax
        | Glsl::Step
        | Glsl::Frexp
        | Glsl::Ldexp
        | Glsl::Distance
        | Glsl::Cross
        | Glsl::Reflect => 2,
        Glsl::FClamp
        | Glsl::UClamp
        | Glsl::SClamp
        | Glsl::NClamp
        | Glsl::FMix
        | Glsl::IMix
        | Glsl::SmoothStep
        | Glsl::Fma
        | Glsl::FaceForward
        | Glsl::Refract => 3,
        _ => 1,
    }
}

/// Lowers an `OpExtInst`, whose operands are those of the function by now.
pub(super) fn lower(
    to: &mut FunctionLowering<'_, '_>,
    inst: &SourceInst<'_>,
    operands: &[u32],
) -> Result<()> {
    let (Some(ty), &[_, number, ref args @ ..]) = (inst.ty, operands) else {
        return Err(to
            .source
            .error(inst, "wrong word count: an operand is missing"));
    };
    let op = Glsl::from_u32(number).ok_or_else(|| {
        error(
            to,
            inst,
            format!("unknown instruction {number} of GLSL.std.450"),
        )
    })?;
    if args.len() != count(op) {
        let message = format!(
            "{op:?} takes {} operands, there are {}",
            count(op),
            args.len()
        );
        return Err(error(to, inst, message));
    }
    if let Some(std) = same(op) {
        let operands = with(&[to.writer.opencl_std, std as u32], args);
        copy_with(&mut to.body, inst, inst.ty, &operands);
        return Ok(());
    }
    // The type of the first operand, as the module says it.
    let first = inst.operands.get(2).and_then(|&arg| to.source.type_of(arg));
    let first = first.and_then(|ty| Some((ty, to.source.numbers(ty)?)));
    let Some((first, numbers)) = first else {
        return Err(error(
            to,
            inst,
            format!("{op:?} of something without numbers"),
        ));
    };
    let maker = Maker {
        to,
        inst,
        ty,
        first,
        numbers,
    };
    maker.lower(op, args)
}

fn error(
    to: &FunctionLowering<'_, '_>,
    inst: &SourceInst<'_>,
    message: impl Into<String>,
) -> Diagnostic {
    to.source
        .error(inst, message)
        .under(Rule::Vulkan("SPIR-V Extended Instructions for GLSL"))
}

/// Bits of a number of a floating-point type.
fn float_words(bits: u32, value: f64) -> Vec<u32> {
    match bits {
        // The numbers used here have few enough digits.
        16 => vec![half_bits(value)],
        32 => vec![(value as f32).to_bits()],
        _ => {
            let bits = value.to_bits();
            vec![bits as u32, (bits >> 32) as u32]
        }
    }
}

/// A number that is a normal half.
fn half_bits(value: f64) -> u32 {
    if value == 0.0 {
        return 0;
    }
    let bits = (value as f32).to_bits();
    let exponent = (bits >> 23 & 0xff) as i32 - 127 + 15;
    (bits >> 16 & 0x8000) | (exponent as u32 & 0x1f) << 10 | (bits >> 13 & 0x3ff)
}

struct Maker<'m, 'l, 'a> {
    to: &'m mut FunctionLowering<'l, 'a>,
    inst: &'m SourceInst<'m>,
    /// The result type.
    ty: SourceId,
    /// The first operand's type, and what it says.
    first: SourceId,
    numbers: Numbers,
}

impl Maker<'_, '_, '_> {
    fn error(&self, message: impl Into<String>) -> Diagnostic {
        error(self.to, self.inst, message)
    }

    fn std(&mut self, op: Std, ty: SourceId, args: &[SourceId]) -> SourceId {
        let operands = with(&[self.to.writer.opencl_std, op as u32], args);
        self.to.emit(Op::ExtInst, ty, &operands)
    }

    /// The result, by one instruction.
    fn result(&mut self, op: Op, operands: &[u32]) {
        copy_as(&mut self.to.body, self.inst, op, operands);
    }

    fn std_result(&mut self, op: Std, args: &[SourceId]) {
        let operands = with(&[self.to.writer.opencl_std, op as u32], args);
        self.result(Op::ExtInst, &operands);
    }

    /// A number in all lanes of the first operand's type.
    fn float(&mut self, value: f64) -> SourceId {
        let Numbers { bits, lanes, .. } = self.numbers;
        let lane = self.to.writer.float(bits);
        let words = float_words(bits, value);
        self.to.writer.splat(lane, lanes, &words)
    }

    fn integer(&mut self, bits: u32, lanes: u32, value: i64) -> SourceId {
        let lane = self.to.writer.int(bits);
        let words = match bits {
            64 => vec![value as u32, (value >> 32) as u32],
            bits => vec![value as u32 & (u32::MAX >> (32 - bits))],
        };
        self.to.writer.splat(lane, lanes, &words)
    }

    /// The type of a truth value for each lane.
    fn bools(&mut self, lanes: u32) -> SourceId {
        let lane = self.to.writer.bool();
        self.to.writer.vector(lane, lanes)
    }

    fn expect_float(&self, op: Glsl) -> Result<()> {
        match self.numbers.float {
            true => Ok(()),
            false => Err(self.error(format!("{op:?} of integers"))),
        }
    }

    fn expect_word(&self, op: Glsl) -> Result<()> {
        match self.numbers.float || self.numbers.bits != 32 {
            true => Err(self.error(format!("{op:?} of what are not integers of 32 bits"))),
            false => Ok(()),
        }
    }

    fn lower(mut self, op: Glsl, args: &[SourceId]) -> Result<()> {
        let Numbers { bits, lanes, .. } = self.numbers;
        let (ty, first) = (self.ty, self.first);
        match op {
            Glsl::Fract => {
                let floor = self.std(Std::floor, ty, args);
                self.result(Op::FSub, &[args[0], floor]);
            }
            Glsl::FClamp | Glsl::NClamp => {
                let low = self.std(Std::fmax, ty, &args[..2]);
                self.std_result(Std::fmin, &[low, args[2]]);
            }
            Glsl::SSign => {
                let least = self.integer(bits, lanes, -1);
                let most = self.integer(bits, lanes, 1);
                let low = self.std(Std::s_max, ty, &[args[0], least]);
                self.std_result(Std::s_min, &[low, most]);
            }
            Glsl::ModfStruct | Glsl::FrexpStruct => {
                self.expect_float(op)?;
                let (std, second) = match op {
                    Glsl::ModfStruct => (Std::modf, first),
                    _ => {
                        let lane = self.to.writer.int(32);
                        (Std::frexp, self.to.writer.vector(lane, lanes))
                    }
                };
                let variable = self.to.variable(second, None);
                let value = self.std(std, first, &[args[0], variable]);
                let other = self.to.emit(Op::Load, second, &[variable]);
                self.result(Op::CompositeConstruct, &[value, other]);
            }
            Glsl::FindILsb => {
                self.expect_word(op)?;
                let zero = self.integer(bits, lanes, 0);
                let none = self.integer(bits, lanes, -1);
                let zeros = self.std(Std::ctz, ty, args);
                let bools = self.bools(lanes);
                let nothing = self.to.emit(Op::IEqual, bools, &[args[0], zero]);
                self.result(Op::Select, &[nothing, none, zeros]);
            }
            Glsl::FindUMsb | Glsl::FindSMsb => {
                self.expect_word(op)?;
                let last = self.integer(bits, lanes, 31);
                let mut value = args[0];
                if op == Glsl::FindSMsb {
                    let signs = self.to.emit(Op::ShiftRightArithmetic, ty, &[value, last]);
                    value = self.to.emit(Op::BitwiseXor, ty, &[value, signs]);
                }
                // There are 32 zeros in none, and the result is -1.
                let zeros = self.std(Std::clz, ty, &[value]);
                self.result(Op::ISub, &[last, zeros]);
            }
            _ => return self.lower_vector(op, args),
        }
        Ok(())
    }

    /// Geometry, and vectors in packed formats.
    fn lower_vector(mut self, op: Glsl, args: &[SourceId]) -> Result<()> {
        let ty = self.ty;
        match op {
            Glsl::FaceForward => {
                self.expect_float(op)?;
                let dot = self.dot(args[2], args[1]);
                let (truth, zero) = self.lane_zero();
                let behind = self.to.emit(Op::FOrdLessThan, truth, &[dot, zero]);
                let negated = self.to.emit(Op::FNegate, ty, &[args[0]]);
                let behind = self.spread(behind);
                self.result(Op::Select, &[behind, args[0], negated]);
            }
            Glsl::Reflect => {
                self.expect_float(op)?;
                let dot = self.dot(args[1], args[0]);
                let twice = self.to.emit(Op::FAdd, self.numbers.lane, &[dot, dot]);
                let along = self.scaled(args[1], twice);
                self.result(Op::FSub, &[args[0], along]);
            }
            Glsl::Refract => self.refract(args)?,
            Glsl::PackSnorm4x8 | Glsl::PackUnorm4x8 | Glsl::PackSnorm2x16 | Glsl::PackUnorm2x16 => {
                self.pack(op, args[0])?
            }
            Glsl::UnpackSnorm4x8
            | Glsl::UnpackUnorm4x8
            | Glsl::UnpackSnorm2x16
            | Glsl::UnpackUnorm2x16 => self.unpack(op, args[0])?,
            Glsl::PackHalf2x16 => {
                let half = self.to.writer.float(16);
                let halves = self.to.writer.vector(half, 2);
                let halves = self.to.emit(Op::FConvert, halves, args);
                self.result(Op::Bitcast, &[halves]);
            }
            Glsl::UnpackHalf2x16 => {
                let half = self.to.writer.float(16);
                let halves = self.to.writer.vector(half, 2);
                let halves = self.to.emit(Op::Bitcast, halves, args);
                self.result(Op::FConvert, &[halves]);
            }
            Glsl::PackDouble2x32 | Glsl::UnpackDouble2x32 => self.result(Op::Bitcast, args),
            _ => return Err(self.error(format!("{op:?} is not supported in kernels"))),
        }
        Ok(())
    }

    /// The dot product of values of the first operand's type.
    fn dot(&mut self, a: SourceId, b: SourceId) -> SourceId {
        let op = match self.numbers.lanes {
            1 => Op::FMul,
            _ => Op::Dot,
        };
        self.to.emit(op, self.numbers.lane, &[a, b])
    }

    /// A value of the first operand's type times a number.
    fn scaled(&mut self, value: SourceId, by: SourceId) -> SourceId {
        let op = match self.numbers.lanes {
            1 => Op::FMul,
            _ => Op::VectorTimesScalar,
        };
        self.to.emit(op, self.first, &[value, by])
    }

    /// The type of one truth value, and the number 0.
    fn lane_zero(&mut self) -> (SourceId, SourceId) {
        let bits = self.numbers.bits;
        let lane = self.to.writer.float(bits);
        let zero = self.to.writer.constant(lane, &float_words(bits, 0.0));
        (self.bools(1), zero)
    }

    /// A truth value for each lane.
    fn spread(&mut self, truth: SourceId) -> SourceId {
        let lanes = self.numbers.lanes;
        if lanes == 1 {
            return truth;
        }
        let ty = self.bools(lanes);
        let parts = vec![truth; lanes as usize];
        self.to.emit(Op::CompositeConstruct, ty, &parts)
    }

    /// `k = 1 - eta * eta * (1 - dot(N, I)^2)`; 0 where `k < 0`, else
    /// `eta * I - (eta * dot(N, I) + sqrt(k)) * N`.
    fn refract(mut self, args: &[SourceId]) -> Result<()> {
        self.expect_float(Glsl::Refract)?;
        let &[incident, normal, eta] = args else {
            return Ok(());
        };
        let lane = self.numbers.lane;
        let bits = self.numbers.bits;
        let own = self.to.writer.float(bits);
        let one = self.to.writer.constant(own, &float_words(bits, 1.0));
        let dot = self.dot(normal, incident);
        let square = self.to.emit(Op::FMul, lane, &[dot, dot]);
        let rest = self.to.emit(Op::FSub, lane, &[one, square]);
        let etas = self.to.emit(Op::FMul, lane, &[eta, eta]);
        let product = self.to.emit(Op::FMul, lane, &[etas, rest]);
        let k = self.to.emit(Op::FSub, lane, &[one, product]);
        let root = self.std(Std::sqrt, lane, &[k]);
        let along = self.to.emit(Op::FMul, lane, &[eta, dot]);
        let along = self.to.emit(Op::FAdd, lane, &[along, root]);
        let along = self.scaled(normal, along);
        let scaled = self.scaled(incident, eta);
        let value = self.to.emit(Op::FSub, self.ty, &[scaled, along]);
        let (truth, zero) = self.lane_zero();
        let total = self.to.emit(Op::FOrdLessThan, truth, &[k, zero]);
        let total = self.spread(total);
        let zero = self.float(0.0);
        self.result(Op::Select, &[total, zero, value]);
        Ok(())
    }

    /// Lanes, bits of each and the greatest number of a packed format.
    fn format(op: Glsl) -> (u32, u32, f64, bool) {
        match op {
            Glsl::PackSnorm4x8 | Glsl::UnpackSnorm4x8 => (4, 8, 127.0, true),
            Glsl::PackUnorm4x8 | Glsl::UnpackUnorm4x8 => (4, 8, 255.0, false),
            Glsl::PackSnorm2x16 | Glsl::UnpackSnorm2x16 => (2, 16, 32767.0, true),
            _ => (2, 16, 65535.0, false),
        }
    }

    /// `round(clamp(c, -1 or 0, 1) * most)` in each lane, lane 0 in the least bits.
    fn pack(mut self, op: Glsl, value: SourceId) -> Result<()> {
        let (lanes, bits, most, signed) = Self::format(op);
        let own = (self.numbers.float, self.numbers.bits, self.numbers.lanes);
        if own != (true, 32, lanes) {
            return Err(self.error(format!("{op:?} takes {lanes} floats of 32 bits")));
        }
        let first = self.first;
        let least = self.float(if signed { -1.0 } else { 0.0 });
        let one = self.float(1.0);
        let most = self.float(most);
        let low = self.std(Std::fmax, first, &[value, least]);
        let clamped = self.std(Std::fmin, first, &[low, one]);
        let scaled = self.to.emit(Op::FMul, first, &[clamped, most]);
        let rounded = self.std(Std::rint, first, &[scaled]);
        let lane = self.to.writer.int(32);
        let words = self.to.writer.vector(lane, lanes);
        let convert = if signed {
            Op::ConvertFToS
        } else {
            Op::ConvertFToU
        };
        let whole = self.to.emit(convert, words, &[rounded]);
        let lane = self.to.writer.int(bits);
        let parts = self.to.writer.vector(lane, lanes);
        let parts = self.to.emit(Op::UConvert, parts, &[whole]);
        self.result(Op::Bitcast, &[parts]);
        Ok(())
    }

    /// `clamp(c / most, -1, 1)`, where only the least of signed numbers is beyond.
    fn unpack(mut self, op: Glsl, value: SourceId) -> Result<()> {
        let (lanes, bits, most, signed) = Self::format(op);
        if (self.numbers.bits, self.numbers.lanes) != (32, 1) {
            return Err(self.error(format!("{op:?} takes an integer of 32 bits")));
        }
        let lane = self.to.writer.int(bits);
        let parts = self.to.writer.vector(lane, lanes);
        let parts = self.to.emit(Op::Bitcast, parts, &[value]);
        let float = self.to.writer.float(32);
        let floats = self.to.writer.vector(float, lanes);
        let convert = if signed {
            Op::ConvertSToF
        } else {
            Op::ConvertUToF
        };
        let whole = self.to.emit(convert, floats, &[parts]);
        let most = self.to.writer.splat(float, lanes, &float_words(32, most));
        if !signed {
            self.result(Op::FDiv, &[whole, most]);
            return Ok(());
        }
        let quotient = self.to.emit(Op::FDiv, floats, &[whole, most]);
        let least = self.to.writer.splat(float, lanes, &float_words(32, -1.0));
        self.std_result(Std::fmax, &[quotient, least]);
        Ok(())
    }
}
