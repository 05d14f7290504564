//! What the library's tests and the compiler's example `math_table` share: what results should be,
//! arguments worth trying, and the measure of an error.
//!
//! - [`reference`](mod@reference): correctly rounded functions (CORE-MATH), and ones that are wider
//!   than `double`.
//! - [`estimated`]: numbers of a machine with estimates of reciprocals and inverse roots.
//! - [`geometric`]: dot products, lengths and directions in double-double arithmetic.
//! - [`random`]: reproducible arguments, and special ones.
//! - [`ulp`]: how far a result is off.

pub mod estimated;
pub mod geometric;
pub mod random;
pub mod reference;
pub mod ulp;

pub use estimated::Estimated;
pub use random::{Random, pair, special_values};
pub use reference::{BINARY, Binary, RELAXED, UNARY, Unary, relaxed_limit};
pub use ulp::{Precision, Wide};
