//! The logarithms of any number: zero, denormals, negative ones, infinity and NaN as well.

use crate::log::{Base, of_any};
use crate::parts::logb_of_any;

macro_rules! routines {
    ($($name:ident $float:ty, $base:ident;)*) => {
        $(pub(crate) extern "C" fn $name(x: $float) -> $float {
            of_any(Base::$base, x)
        })*
    };
}

routines! {
    log_f32 f32, E;
    log_f64 f64, E;
    log2_f32 f32, Two;
    log2_f64 f64, Two;
    log10_f32 f32, Ten;
    log10_f64 f64, Ten;
}

pub(crate) extern "C" fn logb_f32(x: f32) -> f32 {
    logb_of_any(x)
}

pub(crate) extern "C" fn logb_f64(x: f64) -> f64 {
    logb_of_any(x)
}
