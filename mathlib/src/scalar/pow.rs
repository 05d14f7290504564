//! Powers of any number by any other.

use crate::pow::{pow_of_any, powr_of_any};

macro_rules! routines {
    ($float:ty, $pow:ident, $powr:ident) => {
        pub(crate) extern "C" fn $pow(x: $float, y: $float) -> $float {
            pow_of_any(x, y)
        }

        pub(crate) extern "C" fn $powr(x: $float, y: $float) -> $float {
            powr_of_any(x, y)
        }
    };
}

routines!(f32, pow_f32, powr_f32);
routines!(f64, pow_f64, powr_f64);
