//! The constant pool of a function: it lies behind the code.

use std::collections::HashMap;

use cranelift_codegen::ir::{self as clif, InstBuilder};
use cranelift_entity::packed_option::ReservedValue;
use cranelift_frontend::FunctionBuilder;

use super::parts::part_type;
use crate::ir::Scalar;

/// Vectors that generated code loads, 16 bytes each.
pub struct Pool {
    vectors: Vec<u128>,
    places: HashMap<u128, usize>,
    /// The first vectors of tables.
    tables: HashMap<[u64; 16], usize>,
    /// Its address in generated code; set before anything is translated.
    pub base: clif::Value,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool {
            vectors: Vec::new(),
            places: HashMap::new(),
            tables: HashMap::new(),
            base: clif::Value::reserved_value(),
        }
    }
}

impl Pool {
    /// Where a vector is, in 16 bytes.
    fn index(&mut self, vector: u128) -> usize {
        *self.places.entry(vector).or_insert_with(|| {
            self.vectors.push(vector);
            self.vectors.len() - 1
        })
    }

    /// Where a table begins, in bytes.
    pub fn table(&mut self, entries: &[f64; 16]) -> i32 {
        let bits = entries.map(f64::to_bits);
        let index = *self.tables.entry(bits).or_insert_with(|| {
            let first = self.vectors.len();
            let pairs = bits.as_chunks().0.iter();
            let pair = |&[low, high]: &[u64; 2]| u128::from(high) << 64 | u128::from(low);
            self.vectors.extend(pairs.map(pair));
            first
        });
        16 * index as i32
    }

    /// Loads 128 bits of lanes that all hold `bits`.
    pub fn load(&mut self, b: &mut FunctionBuilder, bits: u64, scalar: Scalar) -> clif::Value {
        let size = scalar.bits().max(8);
        let lanes = u128::from(bits & scalar.mask());
        let all = (0..128 / size).fold(0, |acc, i| acc | lanes << (i * size));
        let index = self.index(all);
        let flags = clif::MemFlagsData::trusted().with_readonly();
        b.ins()
            .load(part_type(scalar), flags, self.base, 16 * index as i32)
    }

    /// The vectors.
    pub fn into_vectors(self) -> Vec<u128> {
        self.vectors
    }
}
