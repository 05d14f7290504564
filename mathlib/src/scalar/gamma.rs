//! `tgamma`, `lgamma`.
pub(crate) extern "C" fn tgamma_f64(x: f64) -> f64 {
    x
}
pub(crate) extern "C" fn lgamma_f64(x: f64) -> f64 {
    x
}
pub(crate) extern "C" fn tgamma_f32(x: f32) -> f32 {
    x
}
pub(crate) extern "C" fn lgamma_f32(x: f32) -> f32 {
    x
}
pub(crate) extern "C" fn sign_f32(x: f32) -> i32 {
    x as i32
}
pub(crate) extern "C" fn sign_f64(x: f64) -> i64 {
    x as i64
}
