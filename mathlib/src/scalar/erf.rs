//! `erf` and `erfc`.
pub(crate) extern "C" fn erf_f64(x: f64) -> f64 {
    x
}
pub(crate) extern "C" fn erfc_f64(x: f64) -> f64 {
    x
}
pub(crate) extern "C" fn erf_f32(x: f32) -> f32 {
    x
}
pub(crate) extern "C" fn erfc_f32(x: f32) -> f32 {
    x
}
