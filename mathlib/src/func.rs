//! The table of functions: names, signatures, required accuracy, and dispatch.

use crate::number::Float;
use crate::{atrig, common, erf, exp, gamma, hyper, log, parts, pow, relaxed, rem, root, trig};

/// What the full profile asks of a result ("ULP Values for Math Instructions - Full Profile").
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// Correctly rounded, or exact.
    Correct,
    /// At most this many ulp.
    Ulp(f64),
    /// At most this far.
    Absolute(f64),
    /// Implementation-defined.
    Any,
    /// The function does not exist for the format.
    Absent,
}

/// The types of arguments and results. Integers are as wide as the float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// A float of a float.
    Unary,
    /// A float of two.
    Binary,
    /// A float of three.
    Ternary,
    /// A float of a float and an integer.
    WithInt,
    /// A float of an integer.
    OfInt,
    /// An integer of a float.
    ToInt,
    /// Two floats of one: sine and cosine, or a fraction and an integer part.
    UnaryPair,
    /// A float and an integer of a float.
    UnaryAndInt,
    /// A float and an integer of two floats.
    BinaryAndInt,
}

impl Signature {
    /// The number of arguments.
    pub fn arity(self) -> usize {
        match self {
            Signature::Unary
            | Signature::OfInt
            | Signature::ToInt
            | Signature::UnaryPair
            | Signature::UnaryAndInt => 1,
            Signature::Binary | Signature::WithInt | Signature::BinaryAndInt => 2,
            Signature::Ternary => 3,
        }
    }
}

/// An argument or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<F: Float> {
    /// A float.
    Float(F),
    /// An integer as wide as the float.
    Int(F::Int),
}

impl<F: Float> Value<F> {
    fn float(self) -> F {
        match self {
            Value::Float(x) => x,
            Value::Int(_) => panic!("a float is expected here, not an integer"),
        }
    }

    fn int(self) -> F::Int {
        match self {
            Value::Int(i) => i,
            Value::Float(_) => panic!("an integer is expected here, not a float"),
        }
    }
}

/// What a function returns: one value, or two.
pub type Results<F> = (Value<F>, Option<Value<F>>);

fn one<F: Float>(x: F) -> Results<F> {
    (Value::Float(x), None)
}

fn two<F: Float>((x, y): (F, F)) -> Results<F> {
    (Value::Float(x), Some(Value::Float(y)))
}

fn with_int<F: Float>((x, i): (F, F::Int)) -> Results<F> {
    (Value::Float(x), Some(Value::Int(i)))
}

macro_rules! evaluate {
    (Unary, $f:path, $a:ident, $like:ident) => {
        one($f($a[0].float()))
    };
    (Binary, $f:path, $a:ident, $like:ident) => {
        one($f($a[0].float(), $a[1].float()))
    };
    (Ternary, $f:path, $a:ident, $like:ident) => {
        one($f($a[0].float(), $a[1].float(), $a[2].float()))
    };
    (WithInt, $f:path, $a:ident, $like:ident) => {
        one($f($a[0].float(), $a[1].int()))
    };
    (OfInt, $f:path, $a:ident, $like:ident) => {
        one($f($like, $a[0].int()))
    };
    (ToInt, $f:path, $a:ident, $like:ident) => {
        (Value::Int($f($a[0].float())), None)
    };
    (UnaryPair, $f:path, $a:ident, $like:ident) => {
        two($f($a[0].float()))
    };
    (UnaryAndInt, $f:path, $a:ident, $like:ident) => {
        with_int($f($a[0].float()))
    };
    (BinaryAndInt, $f:path, $a:ident, $like:ident) => {
        with_int($f($a[0].float(), $a[1].float()))
    };
}

macro_rules! functions {
    ($($variant:ident $name:literal $signature:ident $f:path, $half:expr, $single:expr, $double:expr;)*) => {
        /// A built-in function, named as in the OpenCL.std extended instruction set. What is
        /// `relaxed_` is none of its instructions: it stands in for one where the program allows
        /// it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // The specification says what they are.
        pub enum Func {
            $($variant,)*
        }

        impl Func {
            /// Every function.
            pub const ALL: &[Func] = &[$(Func::$variant,)*];

            /// The name in OpenCL.std.
            pub fn name(self) -> &'static str {
                match self {
                    $(Func::$variant => $name,)*
                }
            }

            /// The function of a name.
            pub fn from_name(name: &str) -> Option<Func> {
                match name {
                    $($name => Some(Func::$variant),)*
                    _ => None,
                }
            }

            /// What it takes and returns.
            pub fn signature(self) -> Signature {
                match self {
                    $(Func::$variant => Signature::$signature,)*
                }
            }

            /// The accuracy the specification asks for in `half`, `float` and `double`.
            pub fn accuracy(self) -> [Accuracy; 3] {
                use Accuracy::{Absent, Absolute, Any, Correct, Ulp};
                match self {
                    $(Func::$variant => [$half, $single, $double],)*
                }
            }
        }

        /// Evaluates a function. `like` is any value, for its format and builder.
        ///
        /// # Panics
        ///
        /// If the arguments are not those of [`Func::signature`].
        pub fn eval_values<F: Float>(func: Func, like: F, args: &[Value<F>]) -> Results<F> {
            assert_eq!(args.len(), func.signature().arity(), "arguments of {}", func.name());
            match func {
                $(Func::$variant => evaluate!($signature, $f, args, like),)*
            }
        }
    };
}

/// Evaluates a function of floats with one float result.
///
/// # Panics
///
/// If the function is of another kind, or takes another number of arguments.
pub fn eval<F: Float>(func: Func, args: &[F]) -> F {
    let values = args.iter().map(|&x| Value::Float(x));
    let mut array = [Value::Float(args[0]); 3];
    array.iter_mut().zip(values).for_each(|(to, x)| *to = x);
    match eval_values(func, args[0], &array[..args.len()]) {
        (Value::Float(r), None) => r,
        _ => panic!("{} has not one float result", func.name()),
    }
}

fn divide<F: Float>(x: F, y: F) -> F {
    x / y
}

fn rough_reciprocal<F: Float>(x: F) -> F {
    x.recip_estimate().unwrap_or_else(|| x.lit(1.0) / x)
}

functions! {
    Acos "acos" Unary atrig::acos, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Acosh "acosh" Unary hyper::acosh, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Acospi "acospi" Unary atrig::acospi, Ulp(2.0), Ulp(5.0), Ulp(5.0);
    Asin "asin" Unary atrig::asin, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Asinh "asinh" Unary hyper::asinh, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Asinpi "asinpi" Unary atrig::asinpi, Ulp(2.0), Ulp(5.0), Ulp(5.0);
    Atan "atan" Unary atrig::atan, Ulp(2.0), Ulp(5.0), Ulp(5.0);
    Atan2 "atan2" Binary atrig::atan2, Ulp(2.0), Ulp(6.0), Ulp(6.0);
    Atanh "atanh" Unary hyper::atanh, Ulp(2.0), Ulp(5.0), Ulp(5.0);
    Atanpi "atanpi" Unary atrig::atanpi, Ulp(2.0), Ulp(5.0), Ulp(5.0);
    Atan2pi "atan2pi" Binary atrig::atan2pi, Ulp(2.0), Ulp(6.0), Ulp(6.0);
    Cbrt "cbrt" Unary root::cbrt, Ulp(2.0), Ulp(2.0), Ulp(2.0);
    Ceil "ceil" Unary Float::ceil, Correct, Correct, Correct;
    Copysign "copysign" Binary crate::bits::copysign, Correct, Correct, Correct;
    Cos "cos" Unary trig::cos, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Cosh "cosh" Unary hyper::cosh, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Cospi "cospi" Unary trig::cospi, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Erfc "erfc" Unary erf::erfc, Ulp(4.0), Ulp(16.0), Ulp(16.0);
    Erf "erf" Unary erf::erf, Ulp(4.0), Ulp(16.0), Ulp(16.0);
    Exp "exp" Unary exp::exp, Ulp(2.0), Ulp(3.0), Ulp(3.0);
    Exp2 "exp2" Unary exp::exp2, Ulp(2.0), Ulp(3.0), Ulp(3.0);
    Exp10 "exp10" Unary exp::exp10, Ulp(2.0), Ulp(3.0), Ulp(3.0);
    Expm1 "expm1" Unary exp::expm1, Ulp(2.0), Ulp(3.0), Ulp(3.0);
    Fabs "fabs" Unary Float::abs, Correct, Correct, Correct;
    Fdim "fdim" Binary common::fdim, Correct, Correct, Correct;
    Floor "floor" Unary Float::floor, Correct, Correct, Correct;
    Fma "fma" Ternary Float::fma, Correct, Correct, Correct;
    Fmax "fmax" Binary common::fmax, Correct, Correct, Correct;
    Fmin "fmin" Binary common::fmin, Correct, Correct, Correct;
    Fmod "fmod" Binary rem::fmod, Correct, Correct, Correct;
    Fract "fract" UnaryPair parts::fract, Correct, Correct, Correct;
    Frexp "frexp" UnaryAndInt parts::frexp, Correct, Correct, Correct;
    Hypot "hypot" Binary root::hypot, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Ilogb "ilogb" ToInt parts::ilogb, Correct, Correct, Correct;
    Ldexp "ldexp" WithInt parts::ldexp, Correct, Correct, Correct;
    Lgamma "lgamma" Unary gamma::lgamma, Any, Any, Any;
    LgammaR "lgamma_r" UnaryAndInt gamma::lgamma_r, Any, Any, Any;
    Log "log" Unary log::log, Ulp(2.0), Ulp(3.0), Ulp(3.0);
    Log2 "log2" Unary log::log2, Ulp(2.0), Ulp(3.0), Ulp(3.0);
    Log10 "log10" Unary log::log10, Ulp(2.0), Ulp(3.0), Ulp(3.0);
    Log1p "log1p" Unary log::log1p, Ulp(2.0), Ulp(2.0), Ulp(2.0);
    Logb "logb" Unary parts::logb, Correct, Correct, Correct;
    Mad "mad" Ternary Float::fma, Correct, Correct, Correct;
    Maxmag "maxmag" Binary common::maxmag, Correct, Correct, Correct;
    Minmag "minmag" Binary common::minmag, Correct, Correct, Correct;
    Modf "modf" UnaryPair parts::modf, Correct, Correct, Correct;
    Nan "nan" OfInt parts::nan, Correct, Correct, Correct;
    Nextafter "nextafter" Binary parts::nextafter, Correct, Correct, Correct;
    Pow "pow" Binary pow::pow, Ulp(4.0), Ulp(16.0), Ulp(16.0);
    Pown "pown" WithInt pow::pown, Ulp(4.0), Ulp(16.0), Ulp(16.0);
    Powr "powr" Binary pow::powr, Ulp(4.0), Ulp(16.0), Ulp(16.0);
    Remainder "remainder" Binary rem::remainder, Correct, Correct, Correct;
    Remquo "remquo" BinaryAndInt rem::remquo, Correct, Correct, Correct;
    Rint "rint" Unary Float::round_even, Correct, Correct, Correct;
    Rootn "rootn" WithInt pow::rootn, Ulp(4.0), Ulp(16.0), Ulp(16.0);
    Round "round" Unary common::round, Correct, Correct, Correct;
    Rsqrt "rsqrt" Unary root::rsqrt, Ulp(1.0), Ulp(2.0), Ulp(2.0);
    Sin "sin" Unary trig::sin, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Sincos "sincos" UnaryPair trig::sincos, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Sinh "sinh" Unary hyper::sinh, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Sinpi "sinpi" Unary trig::sinpi, Ulp(2.0), Ulp(4.0), Ulp(4.0);
    Sqrt "sqrt" Unary Float::sqrt, Ulp(1.5), Ulp(3.0), Correct;
    Tan "tan" Unary trig::tan, Ulp(2.5), Ulp(5.0), Ulp(5.0);
    Tanh "tanh" Unary hyper::tanh, Ulp(2.0), Ulp(5.0), Ulp(5.0);
    Tanpi "tanpi" Unary trig::tanpi, Ulp(2.0), Ulp(6.0), Ulp(6.0);
    Tgamma "tgamma" Unary gamma::tgamma, Ulp(4.0), Ulp(16.0), Ulp(16.0);
    Trunc "trunc" Unary Float::trunc, Correct, Correct, Correct;

    HalfCos "half_cos" Unary relaxed::half_cos, Absent, Ulp(8192.0), Absent;
    HalfDivide "half_divide" Binary divide, Absent, Ulp(8192.0), Absent;
    HalfExp "half_exp" Unary relaxed::half_exp, Absent, Ulp(8192.0), Absent;
    HalfExp2 "half_exp2" Unary exp::exp2, Absent, Ulp(8192.0), Absent;
    HalfExp10 "half_exp10" Unary relaxed::half_exp10, Absent, Ulp(8192.0), Absent;
    HalfLog "half_log" Unary log::log, Absent, Ulp(8192.0), Absent;
    HalfLog2 "half_log2" Unary log::log2, Absent, Ulp(8192.0), Absent;
    HalfLog10 "half_log10" Unary log::log10, Absent, Ulp(8192.0), Absent;
    HalfPowr "half_powr" Binary relaxed::half_powr, Absent, Ulp(8192.0), Absent;
    HalfRecip "half_recip" Unary rough_reciprocal, Absent, Ulp(8192.0), Absent;
    HalfRsqrt "half_rsqrt" Unary root::rough_rsqrt, Absent, Ulp(8192.0), Absent;
    HalfSin "half_sin" Unary relaxed::half_sin, Absent, Ulp(8192.0), Absent;
    HalfSqrt "half_sqrt" Unary Float::sqrt, Absent, Ulp(8192.0), Absent;
    HalfTan "half_tan" Unary relaxed::half_tan, Absent, Ulp(8192.0), Absent;
    NativeCos "native_cos" Unary relaxed::native_cos, Absent, Any, Absent;
    NativeDivide "native_divide" Binary divide, Absent, Any, Absent;
    NativeExp "native_exp" Unary relaxed::native_exp, Absent, Any, Absent;
    NativeExp2 "native_exp2" Unary relaxed::native_exp2, Absent, Any, Absent;
    NativeExp10 "native_exp10" Unary relaxed::native_exp10, Absent, Any, Absent;
    NativeLog "native_log" Unary relaxed::native_log, Absent, Any, Absent;
    NativeLog2 "native_log2" Unary relaxed::native_log2, Absent, Any, Absent;
    NativeLog10 "native_log10" Unary relaxed::native_log10, Absent, Any, Absent;
    NativePowr "native_powr" Binary relaxed::native_powr, Absent, Any, Absent;
    NativeRecip "native_recip" Unary rough_reciprocal, Absent, Any, Absent;
    NativeRsqrt "native_rsqrt" Unary root::rough_rsqrt, Absent, Any, Absent;
    NativeSin "native_sin" Unary relaxed::native_sin, Absent, Any, Absent;
    NativeSqrt "native_sqrt" Unary Float::sqrt, Absent, Any, Absent;
    NativeTan "native_tan" Unary relaxed::native_tan, Absent, Any, Absent;

    RelaxedAtan2 "relaxed_atan2" Binary relaxed::relaxed_atan2, Absent, Ulp(8192.0), Absent;
    RelaxedPow "relaxed_pow" Binary relaxed::relaxed_pow, Absent, Ulp(8192.0), Absent;
    RelaxedPown "relaxed_pown" WithInt relaxed::relaxed_pown, Absent, Ulp(8192.0), Absent;
    RelaxedRootn "relaxed_rootn" WithInt relaxed::relaxed_rootn, Absent, Ulp(8192.0), Absent;

    Fclamp "fclamp" Ternary common::fclamp, Correct, Correct, Correct;
    Degrees "degrees" Unary common::degrees, Ulp(2.0), Ulp(2.0), Ulp(2.0);
    FmaxCommon "fmax_common" Binary common::fmax_common, Correct, Correct, Correct;
    FminCommon "fmin_common" Binary common::fmin_common, Correct, Correct, Correct;
    Mix "mix" Ternary common::mix, Any, Absolute(1e-3), Any;
    Radians "radians" Unary common::radians, Ulp(2.0), Ulp(2.0), Ulp(2.0);
    Step "step" Binary common::step, Correct, Correct, Correct;
    Smoothstep "smoothstep" Ternary common::smoothstep, Any, Absolute(1e-5), Any;
    Sign "sign" Unary common::sign, Correct, Correct, Correct;
}
