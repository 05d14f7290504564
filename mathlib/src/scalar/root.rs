//! Roots of numbers near the ends of the range, and of those that are none.

use crate::root::{cbrt_of_any, hypot_of_any};

macro_rules! routines {
    ($float:ty, $rsqrt:ident, $cbrt:ident, $hypot:ident) => {
        pub(crate) extern "C" fn $rsqrt(x: $float) -> $float {
            1.0 / x.sqrt()
        }

        pub(crate) extern "C" fn $cbrt(x: $float) -> $float {
            cbrt_of_any(x)
        }

        pub(crate) extern "C" fn $hypot(x: $float, y: $float) -> $float {
            hypot_of_any(x, y)
        }
    };
}

routines!(f32, rsqrt_f32, cbrt_f32, hypot_f32);
routines!(f64, rsqrt_f64, cbrt_f64, hypot_f64);
