//! Facts about a function.
//!
//! An analysis reads a [`crate::ir::Function`] and returns side tables keyed by block or value; it
//! changes nothing, and whoever changes the function computes it again. Open [`loops`] first (the
//! loop forest, built on [`crate::ir::dominators`]). What vectorization rests on is [`shape`] (how
//! a value varies over work-items), with [`range`] (bounds of integers), [`alignment`] (low bits of
//! integers) and [`divergence`] (where work-items that diverged converge) under it. [`pressure`]
//! counts values that live at once, [`computed`] finds values that ids determine, [`written`] the
//! pointers that a kernel writes through.

pub mod alignment;
pub mod computed;
pub mod divergence;
pub mod loops;
pub mod pressure;
pub mod range;
pub mod shape;
pub mod written;

pub use alignment::Alignments;
pub use computed::{PROBED_INSTRUCTIONS, is_computed_from_ids, is_function_param};
pub use divergence::Cfg;
pub use loops::{Loop, LoopData, LoopForest};
pub use pressure::max_pressure;
pub use range::Ranges;
pub use shape::{Across, Guards, Shape, Shapes};
pub use written::written_params;
