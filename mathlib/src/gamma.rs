//! The gamma functions: out of line altogether.

use crate::number::Float;
use crate::routine::Routine;

/// The gamma function.
pub fn tgamma<F: Float>(x: F) -> F {
    x.call1(Routine::Tgamma)
}

/// The logarithm of the magnitude of gamma.
pub fn lgamma<F: Float>(x: F) -> F {
    x.call1(Routine::Lgamma)
}

/// [`lgamma`] and the sign of gamma: 1, -1, or 0 at zero and the negative integers.
pub fn lgamma_r<F: Float>(x: F) -> (F, F::Int) {
    (lgamma(x), x.call1_int(Routine::LgammaSign))
}
