//! `smoothstep` between any edges.

use crate::common::smoothstep_between_any;

pub(crate) extern "C" fn smoothstep_f32(lo: f32, hi: f32, x: f32) -> f32 {
    smoothstep_between_any(lo, hi, x)
}

pub(crate) extern "C" fn smoothstep_f64(lo: f64, hi: f64, x: f64) -> f64 {
    smoothstep_between_any(lo, hi, x)
}
