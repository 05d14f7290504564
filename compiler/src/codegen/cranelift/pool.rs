//! The constant pool of a function.

use std::collections::HashMap;

use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use cranelift_entity::packed_option::ReservedValue;
use cranelift_frontend::FunctionBuilder;

use super::parts::part_type;
use crate::ir::{Function, Inst, Op, Scalar};

/// Vectors that generated code loads: 16 bytes each, at addresses that do not change.
pub struct Pool {
    vectors: Box<[u128]>,
    used: usize,
    places: HashMap<u128, usize>,
    /// Its address in generated code.
    base: clif::Value,
}

impl Pool {
    /// Room for every constant of the function.
    pub fn new(func: &Function) -> Pool {
        let is_vector = |inst: &Inst| {
            let data = &func.insts[*inst];
            matches!(data.op, Op::Const(_)) && data.results.iter().any(|&r| func.ty(r).lanes > 1)
        };
        let insts = func
            .layout
            .iter()
            .flat_map(|&block| &func.blocks[block].insts);
        let count = insts.filter(|inst| is_vector(inst)).count();
        Pool {
            vectors: vec![0; count].into(),
            used: 0,
            places: HashMap::new(),
            // Set before anything is translated.
            base: clif::Value::reserved_value(),
        }
    }

    /// Where a vector is, in 16 bytes.
    fn index(&mut self, vector: u128) -> usize {
        *self.places.entry(vector).or_insert_with(|| {
            self.vectors[self.used] = vector;
            self.used += 1;
            self.used - 1
        })
    }

    /// Takes the pool's address, in the entry block.
    pub fn enter(&mut self, b: &mut FunctionBuilder) {
        let base = self.vectors.as_ptr() as u64;
        self.base = b.ins().iconst(types::I64, base as i64);
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

    /// The vectors, which have to stay where they are for as long as the code does.
    pub fn into_vectors(self) -> Box<[u128]> {
        self.vectors
    }
}
