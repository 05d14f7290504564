//! `lgamma` of `float` near its zeros on the negative axis, in `double`.

use crate::gamma::lgamma;

pub(crate) extern "C" fn lgamma_f64(x: f64) -> f64 {
    lgamma(x)
}

pub(crate) extern "C" fn lgamma_f32(x: f32) -> f32 {
    lgamma(f64::from(x)) as f32
}
