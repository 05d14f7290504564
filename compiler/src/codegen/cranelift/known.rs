//! What code emitted so far has computed about values, for code that it dominates.
//!
//! Facts hold to the end of a block of the kernel. Where one instruction becomes several CLIF
//! blocks, what is found in one branch is not known past it: [`Known::mark`] before,
//! [`Known::forget_since`] after. Both cost no more than what was found in between.

use std::collections::HashMap;
use std::hash::Hash;

use cranelift_codegen::ir as clif;

use super::parts::Parts;
use crate::ir::Value;

/// Facts about values that several instructions of a block ask for.
#[derive(Default)]
pub struct Known {
    /// Masks repacked to another lane width.
    pub repacked: Facts<(Value, u32), Parts>,
    /// Masks as integers.
    pub mask_bits: Facts<Value, clif::Value>,
    /// For addresses, a mask and a stride: the first lane's address and whether the lanes' are that
    /// far apart.
    pub consecutive: Facts<(Value, Option<Value>, i64), (clif::Value, clif::Value)>,
}

/// How much was known at some point.
#[derive(Clone, Copy)]
pub struct KnownMark([usize; 3]);

impl Known {
    pub fn mark(&self) -> KnownMark {
        KnownMark([
            self.repacked.found.len(),
            self.mask_bits.found.len(),
            self.consecutive.found.len(),
        ])
    }

    /// Back to what was known at `mark`.
    pub fn forget_since(&mut self, KnownMark([repacked, mask_bits, consecutive]): KnownMark) {
        self.repacked.truncate(repacked);
        self.mask_bits.truncate(mask_bits);
        self.consecutive.truncate(consecutive);
    }
}

/// A map that remembers in which order it grew.
pub struct Facts<K, V> {
    map: HashMap<K, V>,
    found: Vec<K>,
}

impl<K, V> Default for Facts<K, V> {
    fn default() -> Self {
        Facts {
            map: HashMap::new(),
            found: Vec::new(),
        }
    }
}

impl<K: Copy + Eq + Hash, V> Facts<K, V> {
    pub fn get(&self, key: K) -> Option<&V> {
        self.map.get(&key)
    }

    /// Adds what was not known.
    pub fn insert(&mut self, key: K, value: V) {
        let before = self.map.insert(key, value);
        debug_assert!(before.is_none(), "known facts do not change");
        self.found.push(key);
    }

    fn truncate(&mut self, len: usize) {
        for key in self.found.drain(len..) {
            self.map.remove(&key);
        }
    }
}
