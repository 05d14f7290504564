//! Routines with integers, for one lane at a time: angles of any size, and remainders of quotients
//! of any.

use brolga_mathlib::bits::{infinity, is_negative, min_normal, nan, pow2, sign_bit, xor_sign};
use brolga_mathlib::{Float, Int, Routine, TWO_OVER_PI};
use rspirv::spirv::{GlslStd450Op as Gl, Op};

use super::{Emitted, Id, Number, Truth, Ty, Whole};

/// A routine's result of the type `ty`.
pub(super) fn by_lane(routine: Routine, args: &[Number<'_>], ty: Ty) -> Id {
    let sink = args[0].0.sink;
    let all: Vec<(Ty, Vec<Id>)> = args
        .iter()
        .map(|arg| sink.lanes(arg.0.ty, arg.0.id))
        .collect();
    let lanes = 0..all[0].1.len();
    let results: Vec<Id> = lanes
        .map(|lane| {
            let of_lane = |(ty, lanes): &(Ty, Vec<Id>)| {
                let (id, ty) = (lanes[lane], *ty);
                Number(Emitted { sink, id, ty })
            };
            let args: Vec<Number<'_>> = all.iter().map(of_lane).collect();
            match args[..] {
                [x] => of_large_angle(routine, x).0.id,
                [x, y, ..] => remainder(routine, x, y),
                [] => 0,
            }
        })
        .collect();
    sink.vector(ty, &results)
}

fn op<'s>(op: Op, left: Whole<'s>, right: Whole<'s>) -> Whole<'s> {
    Whole(left.0.binary(op, right.0))
}

/// `a << shift`, and what is shifted in from `below`.
fn shifted<'s>(a: Whole<'s>, below: Whole<'s>, shift: Whole<'s>) -> Whole<'s> {
    let back = shift.lit(63) - shift;
    let below = op(Op::ShiftRightLogical, below.shr(1), back);
    op(Op::ShiftLeftLogical, a, shift) | below
}

/// The product of numbers of 64 bits: the high and the low half.
fn product<'s>(a: Whole<'s>, b: Whole<'s>) -> (Whole<'s>, Whole<'s>) {
    let mask = a.lit(0xffff_ffff);
    let (a_high, a_low) = (a.shr(32), a & mask);
    let (b_high, b_low) = (b.shr(32), b & mask);
    let times = |a, b| op(Op::IMul, a, b);
    let low = times(a_low, b_low);
    let middle = times(a_high, b_low) + low.shr(32);
    let other = times(a_low, b_high) + (middle & mask);
    let high = times(a_high, b_high) + middle.shr(32) + other.shr(32);
    (high, other.shl(32) | (low & mask))
}

fn one_if<'s>(mask: Truth<'s>, like: Whole<'s>) -> Whole<'s> {
    Whole::select(mask, like.lit(1), like.lit(0))
}

/// Leading zeros of 64 bits; 63 if all are.
fn leading_zeros<'s>(number: Whole<'s>) -> Whole<'s> {
    let (sink, ty) = (number.0.sink, number.0.ty);
    let word = sink.word();
    let half = |number: Whole<'s>| {
        let id = sink.op(Op::UConvert, word, &[number.0.id]);
        let found = sink.glsl(Gl::FindUMsb, word, &[id]);
        let id = sink.op(Op::SConvert, ty, &[found]);
        number.lit(31) - Whole(number.0.with(id, ty))
    };
    let (high, low) = (half(number.shr(32)), half(number));
    let is_low = high.eq(high.lit(32));
    let all = Whole::select(is_low, low + low.lit(32), high);
    let most = all.lit(63);
    Whole::select(most.slt(all), most, all)
}

/// M. H. Payne and R. N. Hanek, "Radian reduction for trigonometric functions": as mathlib has it
/// for machine numbers, with the products in two halves.
fn of_large_angle<'s>(routine: Routine, x: Number<'s>) -> Number<'s> {
    let sink = x.0.sink;
    let bits = x.abs().to_bits();
    let lit = |number: u64| bits.lit(number);
    let significand = (bits & lit((1 << 52) - 1)) | lit(1 << 52);
    // Of small numbers nobody asks.
    let exponent = bits.shr(52);
    let least = lit(1022);
    let exponent = Whole::select(exponent.slt(least), least, exponent);
    let start = exponent - lit(1013);
    let (word, shift) = (start.shr(6), start & lit(63));
    let words = [0, 1, 2, 3].map(|at| {
        let at = word + lit(at);
        let found = sink.lookup(bits.0.ty, at.0.id, &TWO_OVER_PI);
        Whole(bits.0.with(found, bits.0.ty))
    });
    let window = |at: usize| shifted(words[at], words[at + 1], shift);
    let (carry, low) = product(significand, window(2));
    let (carry_middle, middle) = product(significand, window(1));
    let sum = middle + carry;
    let overflows = Truth(sum.0.op(Op::ULessThan, &[middle.0], sink.bools(sum.0.ty)));
    let carry = carry_middle + one_if(overflows, sum);
    let high = op(Op::IMul, significand, window(0)) + carry;
    let middle = sum;
    // To the nearest quadrant.
    let (zero, one) = (lit(0), lit(1));
    let quadrant = high.shr(62);
    let first = high.shl(2) | middle.shr(62);
    let second = middle.shl(2) | low.shr(62);
    let third = low.shl(2);
    let negative = first.slt(zero);
    let quadrant = Whole::select(negative, quadrant + one, quadrant);
    let carry = third.eq(zero);
    let minus_second = !second + one_if(carry, second);
    let carry = carry & minus_second.eq(zero);
    let minus_first = !first + one_if(carry, first);
    let first = Whole::select(negative, minus_first, first);
    let second = Whole::select(negative, minus_second, second);
    let third = Whole::select(negative, zero - third, third);
    let zeros = leading_zeros(first);
    let (first, second) = (shifted(first, second, zeros), shifted(second, third, zeros));
    let scale = |power: u64| Number::from_bits((lit(1023 - power) - zeros).shl(52));
    let number = |whole: Whole<'s>| Number(whole.0.op(Op::ConvertUToF, &[], x.0.ty));
    let f_high = number(first.shr(11)) * scale(53);
    let f_low = number((first & lit(0x7ff)).shl(42) | second.shr(22)) * scale(106);
    let half_pi = x.lit(std::f64::consts::FRAC_PI_2);
    let half_pi_low = x.lit(6.123233995736766e-17);
    let r = f_high * half_pi;
    let r_low = f_high.fma(half_pi, -r) + (f_high * half_pi_low + f_low * half_pi);
    let sum = r + r_low;
    let rest = r_low - (sum - r);
    let sum = Number::select(negative, -sum, sum);
    let rest = Number::select(negative, -rest, rest);
    let value = routine.of_rest(quadrant, sum, rest).unwrap_or(x);
    let value = match routine {
        Routine::CosLarge => value,
        _ => xor_sign(value, sign_bit(x)),
    };
    Number::select(x.abs().lt(infinity(x)), value, nan(x))
}

/// The significand of a positive finite number as an integer, and the exponent with its bias.
fn parts<'s>(x: Number<'s>) -> (Whole<'s>, Whole<'s>) {
    let width = x.format().mantissa_bits();
    let tiny = x.lt(min_normal(x));
    let up = x.lit(2f64.powi(width as i32 + 1));
    let bits = Number::select(tiny, x * up, x).to_bits();
    let moved = Whole::select(tiny, bits.lit(u64::from(width) + 1), bits.lit(0));
    let implicit = bits.lit(1 << width);
    (
        (bits & bits.lit((1 << width) - 1)) | implicit,
        bits.shr(width) - moved,
    )
}

/// The remainder of any two numbers, or the low seven bits of the quotient to the nearest integer
/// with its sign: division by bits.
fn remainder<'s>(routine: Routine, x: Number<'s>, y: Number<'s>) -> Id {
    let sink = x.0.sink;
    let (a, b) = (x.abs(), y.abs());
    let ((of_a, a_exponent), (of_b, b_exponent)) = (parts(a), parts(b));
    let ints = of_a.0.ty;
    let apart = a_exponent - b_exponent;
    let word = sink.word();
    let steps = match ints == word {
        true => apart.0.id,
        false => sink.op(Op::UConvert, word, &[apart.0.id]),
    };
    let rest = sink.variable(ints, of_a.0.id);
    let quotient = sink.variable(ints, of_a.lit(0).0.id);
    let load = |place| Whole(of_a.0.with(sink.load(ints, place), ints));
    let zero = sink.bits(word, 0);
    sink.count_down(steps, &mut |step| {
        let (before, digits) = (load(rest), load(quotient));
        let fits = !before.slt(of_b);
        let after = Whole::select(fits, before - of_b, before);
        sink.store(quotient, (digits.shl(1) | one_if(fits, digits)).0.id);
        let is_last = Truth(after.0.with(
            sink.op(Op::IEqual, sink.bools(word), &[step, zero]),
            sink.bools(word),
        ));
        sink.store(rest, Whole::select(is_last, after, after.shl(1)).0.id);
    });
    let (rest, quotient) = (load(rest), load(quotient));
    let of_unit = i64::from(x.format().bias()) + i64::from(x.format().mantissa_bits());
    let power = b_exponent - b_exponent.ilit(of_unit);
    let half = power.sar(1);
    let number = Number(rest.0.op(Op::ConvertUToF, &[], x.0.ty));
    let rest = number * pow2(x, half) * pow2(x, power - half);
    let is_less = apart.slt(apart.lit(0));
    let rest = Number::select(is_less, a, rest);
    // Nearest: what is compared is exact when it matters.
    let other = b - rest;
    let odd = (quotient & quotient.lit(1)).ne(quotient.lit(0));
    let up = rest.gt(other) | (Float::eq(rest, other) & odd);
    let undefined = !a.lt(infinity(a)) | Float::eq(y, y.lit(0.0)) | y.is_nan();
    let endless = Float::eq(b, infinity(b));
    match routine {
        Routine::RemquoQuotient => {
            let quotient = (quotient + one_if(up, quotient)) & quotient.lit(0x7f);
            let minus = is_negative(x) ^ is_negative(y);
            let signed = Whole::select(minus, quotient.lit(0) - quotient, quotient);
            Whole::select(undefined | endless, quotient.lit(0), signed)
                .0
                .id
        }
        _ => {
            let nearest = match routine {
                Routine::Remainder => Number::select(up, rest - b, rest),
                _ => rest,
            };
            let signed = xor_sign(nearest, sign_bit(x));
            let value = Number::select(endless, x, signed);
            Number::select(undefined, nan(x), value).0.id
        }
    }
}
