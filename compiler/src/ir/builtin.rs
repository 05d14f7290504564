//! The built-in functions of `OpenCL.std` that stay one instruction until `lower`.
//!
//! What is plain arithmetic, a memory access or a comparison in disguise (`vloadn`, `fabs`,
//! `add_sat`, `select`) is translated to IR operations by `spirv` and has no entry here. Functions
//! with a pointer result (`fract`, `modf`, `frexp`, `remquo`, `sincos`, `lgamma_r`) are
//! instructions with two results here; the store is a separate instruction.

macro_rules! builtins {
    ($($(#[$meta:meta])* $Variant:ident = $text:literal / $results:literal,)*) => {
        /// A built-in function. Lane-wise on operands of one type unless said otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Builtin { $($(#[$meta])* $Variant,)* }

        impl Builtin {
            /// Every built-in.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$Variant,)*];

            /// Its name in OpenCL C, which is its name in the text form.
            pub fn name(self) -> &'static str {
                match self { $(Builtin::$Variant => $text,)* }
            }

            pub fn from_name(name: &str) -> Option<Builtin> {
                match name { $($text => Some(Builtin::$Variant),)* _ => None }
            }

            /// How many results the instruction has.
            pub fn results(self) -> usize {
                match self { $(Builtin::$Variant => $results,)* }
            }
        }
    };
}

builtins! {
    Acos = "acos" / 1, Acosh = "acosh" / 1, AcosPi = "acospi" / 1,
    Asin = "asin" / 1, Asinh = "asinh" / 1, AsinPi = "asinpi" / 1,
    Atan = "atan" / 1, Atan2 = "atan2" / 1, Atanh = "atanh" / 1, AtanPi = "atanpi" / 1, Atan2Pi = "atan2pi" / 1,
    Cbrt = "cbrt" / 1, Cos = "cos" / 1, Cosh = "cosh" / 1, CosPi = "cospi" / 1,
    Erfc = "erfc" / 1, Erf = "erf" / 1,
    Exp = "exp" / 1, Exp2 = "exp2" / 1, Exp10 = "exp10" / 1, Expm1 = "expm1" / 1,
    Fdim = "fdim" / 1,
    /// `x -> fraction, floor`.
    Fract = "fract" / 2,
    /// `x -> mantissa, exponent (i32)`.
    Frexp = "frexp" / 2,
    Hypot = "hypot" / 1,
    /// `x -> i32`.
    Ilogb = "ilogb" / 1,
    /// `x, exponent (i32)`.
    Ldexp = "ldexp" / 1,
    Lgamma = "lgamma" / 1,
    /// `x -> lgamma, sign (i32)`.
    LgammaR = "lgamma_r" / 2,
    Log = "log" / 1, Log2 = "log2" / 1, Log10 = "log10" / 1, Log1p = "log1p" / 1, Logb = "logb" / 1,
    /// `a * b + c`, rounded once or twice.
    Mad = "mad" / 1,
    MaxMag = "maxmag" / 1, MinMag = "minmag" / 1,
    /// `x -> fraction, integral part`.
    Modf = "modf" / 2,
    /// `integer -> float`.
    Nan = "nan" / 1,
    NextAfter = "nextafter" / 1,
    Pow = "pow" / 1,
    /// `x, i32`.
    Pown = "pown" / 1,
    Powr = "powr" / 1,
    Remainder = "remainder" / 1,
    /// `x, y -> remainder, quotient bits (i32)`.
    Remquo = "remquo" / 2,
    /// Half away from zero.
    Round = "round" / 1,
    /// `x, i32`.
    Rootn = "rootn" / 1,
    Rsqrt = "rsqrt" / 1,
    Sin = "sin" / 1,
    /// `x -> sin, cos`.
    SinCos = "sincos" / 2,
    Sinh = "sinh" / 1, SinPi = "sinpi" / 1,
    Tan = "tan" / 1, Tanh = "tanh" / 1, TanPi = "tanpi" / 1, Tgamma = "tgamma" / 1,

    HalfCos = "half_cos" / 1, HalfDivide = "half_divide" / 1, HalfExp = "half_exp" / 1, HalfExp2 = "half_exp2" / 1,
    HalfExp10 = "half_exp10" / 1, HalfLog = "half_log" / 1, HalfLog2 = "half_log2" / 1, HalfLog10 = "half_log10" / 1,
    HalfPowr = "half_powr" / 1, HalfRecip = "half_recip" / 1, HalfRsqrt = "half_rsqrt" / 1, HalfSin = "half_sin" / 1,
    HalfSqrt = "half_sqrt" / 1, HalfTan = "half_tan" / 1,
    NativeCos = "native_cos" / 1, NativeDivide = "native_divide" / 1, NativeExp = "native_exp" / 1, NativeExp2 = "native_exp2" / 1,
    NativeExp10 = "native_exp10" / 1, NativeLog = "native_log" / 1, NativeLog2 = "native_log2" / 1, NativeLog10 = "native_log10" / 1,
    NativePowr = "native_powr" / 1, NativeRecip = "native_recip" / 1, NativeRsqrt = "native_rsqrt" / 1, NativeSin = "native_sin" / 1,
    NativeSqrt = "native_sqrt" / 1, NativeTan = "native_tan" / 1,

    /// What stands in for a function where the program allows relaxed bounds.
    RelaxedAtan2 = "relaxed_atan2" / 1, RelaxedPow = "relaxed_pow" / 1,
    /// `x, i32`.
    RelaxedPown = "relaxed_pown" / 1,
    /// `x, i32`.
    RelaxedRootn = "relaxed_rootn" / 1,

    Degrees = "degrees" / 1,
    /// `min(max(x, lo), hi)` of floats.
    FClamp = "fclamp" / 1,
    /// Common-function `max` of floats: `x < y ? y : x`.
    FMaxCommon = "fmax_common" / 1,
    /// Common-function `min` of floats: `y < x ? y : x`.
    FMinCommon = "fmin_common" / 1,
    Mix = "mix" / 1, Radians = "radians" / 1, Step = "step" / 1, SmoothStep = "smoothstep" / 1, Sign = "sign" / 1,

    /// Not lane-wise: 3 or 4 lanes.
    Cross = "cross" / 1,
    /// Not lane-wise: `vector, vector -> scalar`.
    Dot = "dot" / 1,
    /// Not lane-wise: `vector, vector -> scalar`.
    Distance = "distance" / 1,
    /// Not lane-wise: `vector -> scalar`.
    Length = "length" / 1,
    /// Not lane-wise: `vector -> vector`.
    Normalize = "normalize" / 1,
    /// Not lane-wise: `vector, vector -> scalar`.
    FastDistance = "fast_distance" / 1,
    /// Not lane-wise: `vector -> scalar`.
    FastLength = "fast_length" / 1,
    /// Not lane-wise: `vector -> vector`.
    FastNormalize = "fast_normalize" / 1,

    /// `|a - b|` without overflow.
    SAbsDiff = "s_abs_diff" / 1, UAbsDiff = "u_abs_diff" / 1,
    SHadd = "s_hadd" / 1, UHadd = "u_hadd" / 1, SRhadd = "s_rhadd" / 1, URhadd = "u_rhadd" / 1,
    SMadSat = "s_mad_sat" / 1, UMadSat = "u_mad_sat" / 1,
    /// `hi, lo -> twice as wide`.
    UUpsample = "u_upsample" / 1, SUpsample = "s_upsample" / 1,
    /// Integer `clamp`.
    SClamp = "s_clamp" / 1, UClamp = "u_clamp" / 1,

    /// `vector, index vector -> vector`; not lane-wise.
    ShuffleDyn = "shuffle" / 1,
    /// `vector, vector, index vector -> vector`; not lane-wise.
    Shuffle2Dyn = "shuffle2" / 1,
}

impl Builtin {
    /// Whether each lane of the results depends on that lane of the operands alone.
    pub fn is_lane_wise(self) -> bool {
        !matches!(
            self,
            Builtin::Cross
                | Builtin::Dot
                | Builtin::Distance
                | Builtin::Length
                | Builtin::Normalize
                | Builtin::FastDistance
                | Builtin::FastLength
                | Builtin::FastNormalize
                | Builtin::ShuffleDyn
                | Builtin::Shuffle2Dyn
        )
    }
}
