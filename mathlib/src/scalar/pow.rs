//! Powers of any number by any other.

use crate::pow::{pow_of_any, powr_of_any, root_of_any};

macro_rules! routines {
    ($float:ty, $pow:ident, $powr:ident, $rootn:ident) => {
        pub(crate) extern "C" fn $pow(x: $float, y: $float) -> $float {
            pow_of_any(x, y)
        }

        pub(crate) extern "C" fn $powr(x: $float, y: $float) -> $float {
            powr_of_any(x, y)
        }

        pub(crate) extern "C" fn $rootn(x: $float, d: $float) -> $float {
            root_of_any(x, d)
        }
    };
}

routines!(f32, pow_f32, powr_f32, rootn_f32);
routines!(f64, pow_f64, powr_f64, rootn_f64);
