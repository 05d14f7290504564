//! Facts about a function.
//!
//! An analysis reads a [`crate::ir::Function`] and returns side tables keyed by block or value; it changes
//! nothing, and whoever changes the function computes it again. Open [`dominators`] first (dominators and
//! post-dominators), then [`loops`] (the loop forest built on them).

pub mod dominators;
pub mod loops;

pub use dominators::{DominatorTree, PostDominatorTree};
pub use loops::{Loop, LoopData, LoopForest};
