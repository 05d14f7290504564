//! Numbers of channels: "Conversion Rules". Where a range of results is allowed, it is the
//! preferred one.

use std::sync::OnceLock;

use brolga_mathlib::pow::powr;

/// A normalized unsigned integer whose greatest value is `most`.
pub(super) fn from_unorm(bits: u32, most: u32) -> f32 {
    bits as f32 / most as f32
}

/// A normalized signed integer whose greatest value is `most`; there are two for -1.
pub(super) fn from_snorm(value: i32, most: i32) -> f32 {
    (value as f32 / most as f32).max(-1.0)
}

/// The nearest normalized unsigned integer, the even one of two; a NaN is 0.
pub(super) fn to_unorm(value: f32, most: u32) -> u32 {
    ((value * most as f32).round_ties_even() as u32).min(most)
}

/// The nearest normalized signed integer, not yet saturated; a NaN stays one.
pub(super) fn to_snorm(value: f32, most: i32) -> f32 {
    (value * most as f32).round_ties_even()
}

/// "Conversion Rules for sRGBA and sBGRA Images": to a linear color.
pub(super) fn from_srgb(bits: u8) -> f32 {
    static ALL: OnceLock<[f32; 256]> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        std::array::from_fn(|bits| {
            let c = f64::from(from_unorm(bits as u32, u8::MAX.into()));
            let linear = if c <= 0.04045 {
                c / 12.92
            } else {
                powr((c + 0.055) / 1.055, 2.4)
            };
            linear as f32
        })
    });
    all[usize::from(bits)]
}

/// "Conversion Rules for sRGBA and sBGRA Images": from a linear color. A NaN is 0.
pub(super) fn to_srgb(value: f32) -> u8 {
    let c = f64::from(value);
    let curved = if c >= 1.0 {
        1.0
    } else if c >= 0.0031308 {
        1.055 * powr(c, 1.0 / 2.4) - 0.055
    } else if c > 0.0 {
        12.92 * c
    } else {
        0.0
    };
    (curved * 255.0 + 0.5).floor() as u8
}
