//! What linearization reads and never changes: the function, and what is known of it.

use super::Predicate;
use super::order::Order;
use crate::analysis::{Cfg, Loop, Shape, Shapes};
use crate::ir::{Block, Function, Type, Value};

/// A function of one work-item, and what to make of it.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub func: &'a Function,
    pub cfg: &'a Cfg,
    pub shapes: &'a Shapes,
    pub order: &'a Order,
    /// Work-items per vector.
    pub width: u8,
    /// What is decided of results; nothing: they are what the first lane has.
    pub predicates: &'a [Predicate],
}

impl Source<'_> {
    /// The outermost divergent loop between a value's definition and a block.
    pub fn escaped(&self, value: Value, block: Block) -> Option<Loop> {
        let def = self.cfg.def_block[value]?;
        self.cfg.loops.innermost(def)?;
        if self.func.as_const(value).is_some() {
            return None;
        }
        self.cfg
            .loops_left(def, block)
            .filter(|&id| self.shapes.divergence.loops[id])
            .last()
    }

    pub fn defined_before(&self, value: Value, block: Block) -> bool {
        self.cfg.def_block[value].is_some_and(|def| self.cfg.dominators.dominates(def, block))
    }

    pub fn has_own_mask(&self, block: Block) -> bool {
        self.order.same_mask[block].is_none()
    }

    /// The type of what stands for a value in the new function.
    pub fn new_type(&self, value: Value) -> Type {
        let ty = self.func.ty(value);
        match self.shapes.of(value) {
            Shape::Varying => ty.with_lanes(self.width),
            _ => ty,
        }
    }
}
