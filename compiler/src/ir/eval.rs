//! What the pure operations compute, on plain bits.
//!
//! A lane is a `u64` whose low [`Scalar::bits`] hold the value and whose other bits are zero. The
//! constant folder and the interpreter both ask here, so a program means the same folded or run.
//! Everything is exact as IEEE 754 defines it, in the default floating-point environment, which
//! callers are in; only the sign and payload of a NaN that arithmetic makes are the host's.
//!
//! `f16` arithmetic is done in `f32` and rounded once more, which is correctly rounded because `24
//! >= 2 * 11 + 2` (Figueroa, "When is double rounding innocuous?", 1995). What that does not cover,
//! and whatever does not round to nearest, is computed by `softfloat`.

use half::f16;
use smallvec::SmallVec;

use super::{Arith, BinOp, ConvertOp, FloatCC, IntCC, Op, Rounding, Scalar, Type, UnOp, softfloat};

/// The lanes of one value.
pub type Lanes = SmallVec<[u64; 4]>;

/// The value as a signed integer.
pub fn signed(scalar: Scalar, bits: u64) -> i64 {
    let unused = 64 - scalar.bits();
    ((bits << unused) as i64) >> unused
}

/// A floating-point lane as `f64`, which holds every `f16` and `f32` exactly.
pub fn to_f64(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F16 => f16::from_bits(bits as u16).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// `value` rounded to nearest even as a lane of a floating-point type.
pub fn from_f64(scalar: Scalar, value: f64) -> u64 {
    match scalar {
        // Not `f16::from_f64`, which may go through `f32` and round twice.
        Scalar::F16 => softfloat::convert(
            Scalar::F64,
            Scalar::F16,
            value.to_bits(),
            Rounding::NearestEven,
        ),
        Scalar::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

fn f32_of(scalar: Scalar, bits: u64) -> f32 {
    match scalar {
        Scalar::F16 => f16::from_bits(bits as u16).to_f32(),
        _ => f32::from_bits(bits as u32),
    }
}

fn bits_of(scalar: Scalar, value: f32) -> u64 {
    match scalar {
        Scalar::F16 => u64::from(f16::from_f32(value).to_bits()),
        _ => u64::from(value.to_bits()),
    }
}

/// `f` of one or two floats in `f32` for halves and singles, in `f64` for doubles.
macro_rules! in_float {
    ($scalar:expr, |$($x:ident = $bits:ident),+| $body:expr) => {
        if $scalar == Scalar::F64 {
            $(let $x = f64::from_bits($bits);)+
            f64::to_bits($body)
        } else {
            $(let $x = f32_of($scalar, $bits);)+
            bits_of($scalar, $body)
        }
    };
}

pub fn unary(op: UnOp, scalar: Scalar, a: u64) -> u64 {
    let mask = scalar.mask();
    let sign = mask ^ (mask >> 1);
    match op {
        UnOp::INeg => a.wrapping_neg() & mask,
        UnOp::Not => !a & mask,
        UnOp::PopCount => u64::from(a.count_ones()),
        UnOp::Clz => u64::from(a.leading_zeros() - (64 - scalar.bits())),
        UnOp::Ctz => u64::from(a.trailing_zeros().min(scalar.bits())),
        UnOp::BitReverse => a.reverse_bits() >> (64 - scalar.bits()),
        UnOp::FNeg => a ^ sign,
        UnOp::FAbs => a & !sign,
        UnOp::Sqrt => in_float!(scalar, |x = a| x.sqrt()),
        UnOp::Ceil => in_float!(scalar, |x = a| x.ceil()),
        UnOp::Floor => in_float!(scalar, |x = a| x.floor()),
        UnOp::Trunc => in_float!(scalar, |x = a| x.trunc()),
        UnOp::RoundEven => in_float!(scalar, |x = a| x.round_ties_even()),
        UnOp::RecipEstimate => in_float!(scalar, |x = a| x.recip()),
        UnOp::RsqrtEstimate => in_float!(scalar, |x = a| x.sqrt().recip()),
    }
}

pub fn binary(op: BinOp, scalar: Scalar, a: u64, b: u64) -> u64 {
    let mask = scalar.mask();
    let bits = scalar.bits();
    let (sa, sb) = (signed(scalar, a), signed(scalar, b));
    let sign = mask ^ (mask >> 1);
    let amount = (b % u64::from(bits)) as u32;
    // The most and least signed values, for clamping in 128 bits.
    let clamp = |value: i128| value.clamp(-(sign as i128), (mask >> 1) as i128) as u64;
    let result = match op {
        BinOp::IAdd => a.wrapping_add(b),
        BinOp::ISub => a.wrapping_sub(b),
        BinOp::IMul => a.wrapping_mul(b),
        BinOp::SMulHi => ((i128::from(sa) * i128::from(sb)) >> bits) as u64,
        BinOp::UMulHi => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        BinOp::SDiv if b == 0 => a,
        BinOp::SDiv => sa.wrapping_div(sb) as u64,
        BinOp::UDiv if b == 0 => a,
        BinOp::UDiv => a / b,
        BinOp::SRem | BinOp::URem if b == 0 => 0,
        BinOp::SRem => sa.wrapping_rem(sb) as u64,
        BinOp::URem => a % b,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => a << amount,
        BinOp::LShr => a >> amount,
        BinOp::AShr => (sa >> amount) as u64,
        BinOp::Rotl if amount == 0 => a,
        BinOp::Rotl => (a << amount) | (a >> (bits - amount)),
        BinOp::SMin => sa.min(sb) as u64,
        BinOp::SMax => sa.max(sb) as u64,
        BinOp::UMin => a.min(b),
        BinOp::UMax => a.max(b),
        BinOp::SAddSat => clamp(i128::from(sa) + i128::from(sb)),
        BinOp::SSubSat => clamp(i128::from(sa) - i128::from(sb)),
        BinOp::UAddSat => (u128::from(a) + u128::from(b)).min(u128::from(mask)) as u64,
        BinOp::USubSat => a.saturating_sub(b),
        BinOp::FAdd => in_float!(scalar, |x = a, y = b| x + y),
        BinOp::FSub => in_float!(scalar, |x = a, y = b| x - y),
        BinOp::FMul => in_float!(scalar, |x = a, y = b| x * y),
        BinOp::FDiv => in_float!(scalar, |x = a, y = b| x / y),
        BinOp::FRem => in_float!(scalar, |x = a, y = b| x % y),
        BinOp::FMin | BinOp::FMax => {
            let (x, y) = (to_f64(scalar, a), to_f64(scalar, b));
            let first = if op == BinOp::FMin { x < y } else { x > y };
            if y.is_nan() || first { a } else { b }
        }
        BinOp::CopySign => (a & !sign) | (b & sign),
        BinOp::FScale => softfloat::scale(scalar, a, to_f64(scalar, b)),
    };
    result & mask
}

/// `a * b + c`, rounded once.
pub fn fma(scalar: Scalar, a: u64, b: u64, c: u64) -> u64 {
    match scalar {
        Scalar::F32 => {
            let [a, b, c] = [a, b, c].map(|x| f32::from_bits(x as u32));
            u64::from(a.mul_add(b, c).to_bits())
        }
        Scalar::F16 => softfloat::fma(scalar, a, b, c, Rounding::NearestEven),
        _ => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            a.mul_add(b, c).to_bits()
        }
    }
}

/// Arithmetic that does not round to nearest.
pub fn rounded(op: Arith, rounding: Rounding, scalar: Scalar, args: &[u64]) -> u64 {
    match *args {
        [a] if op == Arith::Sqrt => softfloat::sqrt(scalar, a, rounding),
        [a, b] if op == Arith::FAdd => softfloat::add(scalar, a, b, rounding),
        [a, b] if op == Arith::FSub => softfloat::sub(scalar, a, b, rounding),
        [a, b] if op == Arith::FMul => softfloat::mul(scalar, a, b, rounding),
        [a, b] if op == Arith::FDiv => softfloat::div(scalar, a, b, rounding),
        [a, b, c] if op == Arith::Fma => softfloat::fma(scalar, a, b, c, rounding),
        _ => unreachable!("{} of {} operands", op.name(), args.len()),
    }
}

pub fn icmp(cc: IntCC, scalar: Scalar, a: u64, b: u64) -> bool {
    let (sa, sb) = (signed(scalar, a), signed(scalar, b));
    match cc {
        IntCC::Eq => a == b,
        IntCC::Ne => a != b,
        IntCC::Slt => sa < sb,
        IntCC::Sle => sa <= sb,
        IntCC::Sgt => sa > sb,
        IntCC::Sge => sa >= sb,
        IntCC::Ult => a < b,
        IntCC::Ule => a <= b,
        IntCC::Ugt => a > b,
        IntCC::Uge => a >= b,
    }
}

pub fn fcmp(cc: FloatCC, scalar: Scalar, a: u64, b: u64) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = to_f64(scalar, a).partial_cmp(&to_f64(scalar, b));
    match cc {
        FloatCC::Oeq => order == Some(Equal),
        FloatCC::One => matches!(order, Some(Less | Greater)),
        FloatCC::Olt => order == Some(Less),
        FloatCC::Ole => matches!(order, Some(Less | Equal)),
        FloatCC::Ogt => order == Some(Greater),
        FloatCC::Oge => matches!(order, Some(Greater | Equal)),
        FloatCC::Ord => order.is_some(),
        other => !fcmp(other.negated(), scalar, a, b),
    }
}

/// Any lane-wise conversion; a `Bitcast` between scalars of one width included.
pub fn convert(op: ConvertOp, rounding: Rounding, from: Scalar, to: Scalar, a: u64) -> u64 {
    let mask = to.mask();
    let top = (mask >> 1) as i128;
    let (value, natural) = (i128::from(signed(from, a)), i128::from(a));
    match op {
        ConvertOp::Trunc | ConvertOp::ZExt | ConvertOp::Bitcast => a & mask,
        ConvertOp::SExt => signed(from, a) as u64 & mask,
        ConvertOp::SatSToS => value.clamp(-top - 1, top) as u64 & mask,
        ConvertOp::SatSToU => value.clamp(0, i128::from(mask)) as u64,
        ConvertOp::SatUToS => natural.min(top) as u64,
        ConvertOp::SatUToU => a.min(mask),
        ConvertOp::FToS => {
            let x = integral(to_f64(from, a), rounding);
            // A float-to-integer `as` clamps, and takes NaN to 0.
            i128::from(x as i64).clamp(-top - 1, top) as u64 & mask
        }
        ConvertOp::FToU => (integral(to_f64(from, a), rounding) as u64).min(mask),
        ConvertOp::SToF => {
            let x = signed(from, a);
            softfloat::round(to, x < 0, x.unsigned_abs().into(), 0, rounding)
        }
        ConvertOp::UToF => softfloat::round(to, false, a.into(), 0, rounding),
        ConvertOp::FToF => softfloat::convert(from, to, a, rounding),
    }
}

/// To an integral value in the given direction.
fn integral(x: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => x.round_ties_even(),
        Rounding::Zero => x.trunc(),
        Rounding::Up => x.ceil(),
        Rounding::Down => x.floor(),
    }
}

/// The same bits in other lanes; the first lane lowest.
pub fn bitcast(from: Type, to: Type, lanes: &[u64]) -> Lanes {
    let (a, b) = (from.scalar.bits() as usize, to.scalar.bits() as usize);
    let mut result: Lanes = SmallVec::from_elem(0, usize::from(to.lanes));
    if a >= b {
        for (i, out) in result.iter_mut().enumerate() {
            let at = i * b;
            *out = lanes[at / a] >> (at % a) & to.scalar.mask();
        }
    } else {
        for (i, &lane) in lanes.iter().enumerate() {
            let at = i * a;
            result[at / b] |= lane << (at % b);
        }
    }
    result
}

/// The results of [`Op::Deinterleave`] or [`Op::Interleave`], laid end to end as their `elements`
/// operands are.
pub fn turned(op: &Op, elements: usize, lanes: &[u64]) -> Vec<u64> {
    let (rows, columns) = match op {
        Op::Deinterleave => (lanes.len() / elements, elements),
        _ => (elements, lanes.len() / elements),
    };
    let column = |column: usize| (0..rows).map(move |row| lanes[row * columns + column]);
    (0..columns).flat_map(column).collect()
}

/// Where a dynamic lane index points, if inside.
fn dynamic_lane(index: u64, lanes: usize) -> Option<usize> {
    let index = (index & (lanes.next_power_of_two() as u64 - 1)) as usize;
    (index < lanes).then_some(index)
}

/// The result of an operation that depends on its operands alone, or `None` for one that does not
/// (memory, queries, addresses, built-ins, several results).
pub fn pure(op: &Op, args: &[(Type, &[u64])], result: Type) -> Option<Lanes> {
    let count = usize::from(result.lanes);
    let each = |f: &dyn Fn(usize) -> u64| -> Lanes { (0..count).map(f).collect() };
    let arg = |n: usize| args[n].1;
    Some(match op {
        Op::Const(bits) => SmallVec::from_elem(*bits, count),
        Op::Unary(op) => each(&|i| unary(*op, result.scalar, arg(0)[i])),
        Op::Binary(op, _) => each(&|i| binary(*op, result.scalar, arg(0)[i], arg(1)[i])),
        Op::Fma => each(&|i| fma(result.scalar, arg(0)[i], arg(1)[i], arg(2)[i])),
        Op::Lookup(table) => each(&|i| table.entries()[arg(0)[i] as usize & 15].to_bits()),
        Op::Rounded(op, rounding) => each(&|i| {
            let lanes: SmallVec<[u64; 3]> = args.iter().map(|(_, lanes)| lanes[i]).collect();
            rounded(*op, *rounding, result.scalar, &lanes)
        }),
        Op::ICmp(cc) => {
            let scalar = args[0].0.scalar;
            each(&|i| u64::from(icmp(*cc, scalar, arg(0)[i], arg(1)[i])))
        }
        Op::FCmp(cc) => {
            let scalar = args[0].0.scalar;
            each(&|i| u64::from(fcmp(*cc, scalar, arg(0)[i], arg(1)[i])))
        }
        Op::Select => each(&|i| {
            let cond = arg(0)[if args[0].0.is_scalar() { 0 } else { i }];
            if cond != 0 { arg(1)[i] } else { arg(2)[i] }
        }),
        Op::Convert(ConvertOp::Bitcast, _) => bitcast(args[0].0, result, arg(0)),
        Op::Convert(op, rounding) => {
            let from = args[0].0.scalar;
            each(&|i| convert(*op, *rounding, from, result.scalar, arg(0)[i]))
        }
        Op::Splat => SmallVec::from_elem(arg(0)[0], count),
        Op::Build => each(&|i| arg(i)[0]),
        Op::Extract(lane) => SmallVec::from_elem(arg(0)[usize::from(*lane)], 1),
        Op::Insert(lane) => {
            let mut lanes = Lanes::from_slice(arg(0));
            lanes[usize::from(*lane)] = arg(1)[0];
            lanes
        }
        Op::ExtractDyn => {
            let lane = dynamic_lane(arg(1)[0], arg(0).len());
            SmallVec::from_elem(lane.map_or(0, |lane| arg(0)[lane]), 1)
        }
        Op::InsertDyn => {
            let mut lanes = Lanes::from_slice(arg(0));
            if let Some(lane) = dynamic_lane(arg(2)[0], lanes.len()) {
                lanes[lane] = arg(1)[0];
            }
            lanes
        }
        Op::Shuffle(mask) => each(&|i| {
            let lane = usize::from(mask[i]);
            let first = arg(0).len();
            match mask[i] {
                255 => 0,
                _ if lane < first => arg(0)[lane],
                _ => arg(1)[lane - first],
            }
        }),
        Op::PtrAdd => each(&|i| arg(0)[i].wrapping_add(arg(1)[i])),
        Op::LaneIds => each(&|i| i as u64 & result.scalar.mask()),
        Op::AnyTrue => SmallVec::from_elem(u64::from(arg(0).iter().any(|&bit| bit != 0)), 1),
        Op::AllTrue => SmallVec::from_elem(u64::from(arg(0).iter().all(|&bit| bit != 0)), 1),
        Op::MaskBits => {
            let bits = arg(0).iter().enumerate();
            SmallVec::from_elem(bits.map(|(lane, &bit)| bit << lane).sum(), 1)
        }
        Op::Permute => each(&|i| {
            let lane = usize::try_from(arg(1)[i]).unwrap_or(usize::MAX);
            arg(0).get(lane).copied().unwrap_or(0)
        }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn integer_operations_agree_with_rust_at_every_width() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let corners = [0u8, 1, 2, 0x7f, 0x80, 0x81, 0xff];
        for _ in 0..2000 {
            let mut pick = || {
                if rng.random_bool(0.3) {
                    corners[rng.random_range(0..corners.len())]
                } else {
                    rng.random()
                }
            };
            let (a, b) = (pick(), pick());
            let (sa, sb) = (a as i8, b as i8);
            let run = |op| binary(op, Scalar::I8, a.into(), b.into()) as u8;
            assert_eq!(run(BinOp::IMul), a.wrapping_mul(b));
            assert_eq!(
                run(BinOp::SMulHi),
                ((i16::from(sa) * i16::from(sb)) >> 8) as u8
            );
            assert_eq!(
                run(BinOp::UMulHi),
                ((u16::from(a) * u16::from(b)) >> 8) as u8
            );
            assert_eq!(
                run(BinOp::SDiv),
                if b == 0 { a } else { sa.wrapping_div(sb) as u8 }
            );
            assert_eq!(
                run(BinOp::SRem),
                if b == 0 { 0 } else { sa.wrapping_rem(sb) as u8 }
            );
            assert_eq!(run(BinOp::Shl), a << (b & 7));
            assert_eq!(run(BinOp::AShr), (sa >> (b & 7)) as u8);
            assert_eq!(run(BinOp::Rotl), a.rotate_left(u32::from(b & 7)));
            assert_eq!(run(BinOp::SAddSat), sa.saturating_add(sb) as u8);
            assert_eq!(run(BinOp::SSubSat), sa.saturating_sub(sb) as u8);
            assert_eq!(run(BinOp::UAddSat), a.saturating_add(b));
            assert_eq!(run(BinOp::SMin), sa.min(sb) as u8);
            let one = |op| unary(op, Scalar::I8, a.into()) as u8;
            assert_eq!(one(UnOp::Clz), a.leading_zeros() as u8);
            assert_eq!(one(UnOp::Ctz), a.trailing_zeros() as u8);
            assert_eq!(one(UnOp::BitReverse), a.reverse_bits());
            assert_eq!(one(UnOp::INeg), a.wrapping_neg());
        }
    }

    /// The half nearest to a double, found by comparing it with its neighbours.
    fn once(x: f64) -> u16 {
        let magnitude = x.abs();
        let sign = u16::from(x.is_sign_negative()) << 15;
        let value = |bits: u16| match bits {
            // Where the next half would be, if the format went on.
            0x7c00 => 65536.0,
            bits => f16::from_bits(bits).to_f64(),
        };
        let below = (0..0x7c00u16)
            .collect::<Vec<_>>()
            .partition_point(|&bits| value(bits) <= magnitude) as u16
            - 1;
        let (down, up) = (magnitude - value(below), value(below + 1) - magnitude);
        let even = if below & 1 == 0 { below } else { below + 1 };
        sign | match down.partial_cmp(&up) {
            Some(std::cmp::Ordering::Less) => below,
            Some(std::cmp::Ordering::Greater) => below + 1,
            _ => even,
        }
    }

    #[test]
    fn a_double_is_rounded_to_half_once() {
        // Just above a tie: in single precision it would be the tie, which goes to the even
        // neighbour below.
        let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(from_f64(Scalar::F16, x), 0x3c01);
        assert_eq!(from_f64(Scalar::F16, 65520.0 - 2f64.powi(-30)), 0x7bff);
        assert_eq!(from_f64(Scalar::F16, 65520.0), 0x7c00);
    }

    #[test]
    fn nearest_even_conversions_agree_with_the_host() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(2);
        let run = |op, from, to, a| convert(op, Rounding::NearestEven, from, to, a);
        for _ in 0..20_000 {
            let bits: u64 = rng.random::<u64>() >> rng.random_range(0..64);
            let x = f64::from_bits(rng.random());
            // Near the range of halves and singles, where rounding happens.
            let scale = 2f64.powi(rng.random_range(-160..160));
            for x in [
                x,
                x.fract(),
                bits as f64 * scale,
                rng.random::<f64>() * scale,
            ] {
                if x.is_nan() {
                    continue;
                }
                let got = run(ConvertOp::FToF, Scalar::F64, Scalar::F32, x.to_bits());
                assert_eq!(got as u32, (x as f32).to_bits(), "{x:e}");
                let got = run(ConvertOp::FToF, Scalar::F64, Scalar::F16, x.to_bits());
                assert_eq!(got as u16, once(x), "{x:e}");
            }
            let got = run(ConvertOp::UToF, Scalar::I64, Scalar::F32, bits);
            assert_eq!(got as u32, (bits as f32).to_bits());
            let got = run(ConvertOp::SToF, Scalar::I64, Scalar::F64, bits);
            assert_eq!(got, (bits as i64 as f64).to_bits());
        }
        for bits in 0..=u16::MAX {
            let x = f16::from_bits(bits);
            if !x.is_nan() {
                let got = run(ConvertOp::FToF, Scalar::F16, Scalar::F32, bits.into());
                assert_eq!(got as u32, x.to_f32().to_bits());
            }
        }
    }

    #[test]
    fn directed_rounding_brackets_the_value() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for _ in 0..20_000 {
            let x = (rng.random::<f64>() - 0.5) * 2f64.powi(rng.random_range(-30..20));
            for to in [Scalar::F16, Scalar::F32] {
                let run = |mode| {
                    let bits = convert(ConvertOp::FToF, mode, Scalar::F64, to, x.to_bits());
                    to_f64(to, bits)
                };
                let (down, up) = (run(Rounding::Down), run(Rounding::Up));
                assert!(down <= x && x <= up, "{x:e} in {down:e}..{up:e}");
                let near = run(Rounding::NearestEven);
                assert!(near == down || near == up || !near.is_finite());
                assert_eq!(run(Rounding::Zero), if x < 0.0 { up } else { down });
            }
        }
        let max = f64::MAX.to_bits();
        let run = |mode| convert(ConvertOp::FToF, mode, Scalar::F64, Scalar::F32, max) as u32;
        assert_eq!(run(Rounding::Zero), f32::MAX.to_bits());
        assert_eq!(run(Rounding::Up), f32::INFINITY.to_bits());
        let tiny = 1f64.to_bits() >> 12;
        let run = |mode| convert(ConvertOp::FToF, mode, Scalar::F64, Scalar::F16, tiny);
        assert_eq!((run(Rounding::Up), run(Rounding::NearestEven)), (1, 0));
    }

    #[test]
    fn saturating_conversions_clamp() {
        let run = |op, from, to, a| convert(op, Rounding::Zero, from, to, a);
        let f = |x: f64| x.to_bits();
        let (d, i8, i64) = (Scalar::F64, Scalar::I8, Scalar::I64);
        assert_eq!(run(ConvertOp::FToS, d, i8, f(200.0)), 0x7f);
        assert_eq!(run(ConvertOp::FToS, d, i8, f(-200.0)), 0x80);
        assert_eq!(run(ConvertOp::FToS, d, i8, f(-1.9)), 0xff);
        assert_eq!(run(ConvertOp::FToS, d, i8, f(f64::NAN)), 0);
        assert_eq!(run(ConvertOp::FToU, d, i8, f(-5.0)), 0);
        assert_eq!(run(ConvertOp::FToU, d, i64, f(1e30)), u64::MAX);
        assert_eq!(run(ConvertOp::SatSToU, i64, i8, -3i64 as u64), 0);
        assert_eq!(run(ConvertOp::SatSToU, i64, i64, -3i64 as u64), 0);
        assert_eq!(run(ConvertOp::SatUToS, i8, i8, 0xff), 0x7f);
        assert_eq!(run(ConvertOp::SatSToS, i64, i8, -300i64 as u64), 0x80);
        assert_eq!(run(ConvertOp::SExt, Scalar::I1, i8, 1), 0xff);
        let up = |x| convert(ConvertOp::FToS, Rounding::NearestEven, d, i8, f(x));
        assert_eq!((up(2.5), up(3.5)), (2, 4));
    }

    #[test]
    fn arithmetic_through_wider_formats_agrees_with_exact_arithmetic() {
        let near = Rounding::NearestEven;
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(4);
        for round in 0..200_000 {
            let scalar = [Scalar::F16, Scalar::F32, Scalar::F64][round % 3];
            let mut pick = || operand(&mut rng, scalar);
            let [a, b, c] = [pick(), pick(), pick()];
            let same = |op: &str, got: u64, exact: u64| {
                let nan = to_f64(scalar, got).is_nan() && to_f64(scalar, exact).is_nan();
                assert!(
                    nan || got == exact,
                    "{op} {} {a:#x} {b:#x} {c:#x}: {got:#x}, not {exact:#x}",
                    scalar.name()
                );
            };
            for (plain, op) in [
                (BinOp::FAdd, Arith::FAdd),
                (BinOp::FSub, Arith::FSub),
                (BinOp::FMul, Arith::FMul),
                (BinOp::FDiv, Arith::FDiv),
            ] {
                let exact = rounded(op, near, scalar, &[a, b]);
                same(op.name(), binary(plain, scalar, a, b), exact);
            }
            let exact = rounded(Arith::Fma, near, scalar, &[a, b, c]);
            same("fma", fma(scalar, a, b, c), exact);
            let exact = rounded(Arith::Sqrt, near, scalar, &[a]);
            same("sqrt", unary(UnOp::Sqrt, scalar, a), exact);
        }
    }

    /// A number that meets others often: close exponents, few bits, and the corners of the format.
    fn operand(rng: &mut impl Rng, scalar: Scalar) -> u64 {
        let any = rng.random::<u64>() & scalar.mask();
        let stored = match scalar {
            Scalar::F16 => 10,
            Scalar::F32 => 23,
            _ => 52,
        };
        let sign = any & (scalar.mask() ^ (scalar.mask() >> 1));
        match rng.random_range(0..4) {
            0 => any,
            1 => any & !((1 << rng.random_range(0..stored)) - 1),
            2 => (any >> rng.random_range(0..scalar.bits())) | sign,
            _ => {
                let corner = rng.random_range(0..6u64) << stored;
                corner.wrapping_sub(rng.random_range(0..4)) & (scalar.mask() >> 1) | sign
            }
        }
    }

    #[test]
    fn directed_arithmetic_brackets_the_exact_result() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        for round in 0..100_000 {
            let scalar = [Scalar::F16, Scalar::F32, Scalar::F64][round % 3];
            let mut pick = || operand(&mut rng, scalar);
            let args = [pick(), pick(), pick()];
            for op in Arith::ALL.iter().copied() {
                let args = &args[..op.operands()];
                let run = |mode| to_f64(scalar, rounded(op, mode, scalar, args));
                let (down, up) = (run(Rounding::Down), run(Rounding::Up));
                let (near, zero) = (run(Rounding::NearestEven), run(Rounding::Zero));
                if near.is_nan() {
                    assert!(down.is_nan() && up.is_nan() && zero.is_nan());
                    continue;
                }
                assert!(down <= near && near <= up, "{} {args:x?}", op.name());
                assert!(near == down || near == up, "{} {args:x?}", op.name());
                let toward = if up > 0.0 && down >= 0.0 { down } else { up };
                assert_eq!(zero, toward, "{} {args:x?}", op.name());
                // At most one number apart, and the same when the result is exact.
                if down != up {
                    let next = to_f64(scalar, next_up(scalar, from_f64(scalar, down)));
                    assert_eq!(next, up, "{} {args:x?}", op.name());
                }
            }
        }
    }

    /// The encoding of the next larger number.
    fn next_up(scalar: Scalar, bits: u64) -> u64 {
        let sign = scalar.mask() ^ (scalar.mask() >> 1);
        match bits {
            0 => 1,
            bits if bits == sign => 1,
            bits if bits & sign != 0 => bits - 1,
            bits => bits + 1,
        }
    }

    #[test]
    fn the_sign_of_an_exact_zero_depends_on_the_direction() {
        let one = from_f64(Scalar::F32, 1.0);
        let run = |mode| rounded(Arith::FSub, mode, Scalar::F32, &[one, one]);
        assert_eq!(run(Rounding::Down), 0x8000_0000);
        assert_eq!((run(Rounding::Up), run(Rounding::Zero)), (0, 0));
    }

    #[test]
    fn lanes_are_regrouped_lowest_first() {
        let (bytes, words) = (Type::new(Scalar::I8, 4), Type::new(Scalar::I16, 2));
        let got = bitcast(bytes, words, &[0x11, 0x22, 0x33, 0x44]);
        assert_eq!(got.as_slice(), [0x2211, 0x4433]);
        let got = bitcast(words, bytes, &[0x2211, 0x4433]);
        assert_eq!(got.as_slice(), [0x11, 0x22, 0x33, 0x44]);
    }

    #[test]
    fn a_dynamic_index_outside_touches_nothing() {
        let ty = Type::new(Scalar::I32, 3);
        let lanes = [7, 8, 9];
        let get = |i: u64| {
            let args = [(ty, &lanes[..]), (Type::I32, &[i][..])];
            pure(&Op::ExtractDyn, &args, Type::I32).unwrap()[0]
        };
        assert_eq!([get(2), get(3), get(5)], [9, 0, 8]);
    }
}
