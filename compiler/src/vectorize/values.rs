//! What a value is for W work-items, and the function that is being written.
//!
//! A value that is not varying is computed once, for lane 0: its *scalar*. Its *vector*, wanted
//! where it meets varying ones, is the scalar in every lane, plus the stride times the lane number;
//! for a guarded value it is computed lane by lane, the way the scalar was. A varying value only
//! has a vector.

use std::collections::HashMap;

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::source::Source;
use super::state::Mask;
use crate::analysis::{Loop, Shape};
use crate::ir::{BinOp, Block, Builder, Function, Inst, Op, Scalar, SourceLoc, Type, Value};

/// Writes the new function, at one place of it.
pub(super) struct Emitter<'a> {
    pub source: Source<'a>,
    pub out: Function,
    pub remarks: Vec<(SourceLoc, String)>,
    /// The block of the source being translated and that of `out` being written.
    pub at: Block,
    pub to: Block,
    /// Its mask.
    pub mask: Mask,
    /// Lane 0 of a value, all there is of a uniform one; all lanes of a varying one.
    scalars: SecondaryMap<Value, PackedOption<Value>>,
    vectors: SecondaryMap<Value, PackedOption<Value>>,
    /// Values widened in `to` or a block that dominates it.
    pub widened: HashMap<Value, Value>,
    /// Memory for copies of elements, and its bytes.
    pub copied_rows: Option<(Inst, u32)>,
    /// What a value was in each lane when that left a divergent loop.
    pub outs: HashMap<(Value, Loop), Value>,
}

impl<'a> Emitter<'a> {
    /// At the entry, with the parameters defined.
    pub fn new(source: Source<'a>) -> Self {
        let func = source.func;
        let params: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
        let results = match source.predicates {
            [] => func.results.clone(),
            predicates => vec![Type::I1; predicates.len()],
        };
        let mut out = Function::new(func.name.clone(), &params, &results);
        out.locals = func.locals.clone();
        out.slots = func.slots.clone();
        let mut scalars = SecondaryMap::with_capacity(func.values.len());
        for (&param, &new) in func.params().iter().zip(out.params()) {
            scalars[param] = new.into();
        }
        Emitter {
            source,
            at: func.entry(),
            to: out.entry(),
            out,
            copied_rows: None,
            remarks: Vec::new(),
            mask: Mask::Full,
            scalars,
            vectors: SecondaryMap::with_capacity(func.values.len()),
            widened: HashMap::new(),
            outs: HashMap::new(),
        }
    }

    pub fn builder(&mut self) -> Builder<'_> {
        Builder::new(&mut self.out, self.to)
    }

    /// The operand that a masked instruction has for the mask.
    pub fn mask_arg(&self) -> Option<Value> {
        match self.mask {
            Mask::Full => None,
            Mask::Of(lanes) => Some(lanes),
        }
    }

    /// The mask as a value, whatever it is.
    pub fn mask_lanes(&mut self) -> Value {
        match self.mask {
            Mask::Of(lanes) => lanes,
            Mask::Full => {
                let ty = Type::new(Scalar::I1, self.source.width);
                self.builder().iconst(ty, 1)
            }
        }
    }

    /// The shape of a value for a use in the current block.
    pub fn shape(&self, value: Value) -> Shape {
        self.source
            .shapes
            .at(self.source.func, self.source.cfg, value, self.at)
    }

    /// The value in lane 0, of a value that is not varying here.
    pub fn scalar(&mut self, value: Value) -> Value {
        if let Some(bits) = self.source.func.as_const(value) {
            let ty = self.source.func.ty(value);
            return self.builder().iconst(ty, bits);
        }
        self.scalars[value].expect("what is not varying has a scalar")
    }

    /// The value in lane 0, of any value.
    pub fn first_lane(&mut self, value: Value) -> Value {
        match self.shape(value) {
            Shape::Varying => {
                let all = self.vector(value);
                self.builder().extract(all, 0)
            }
            _ => self.scalar(value),
        }
    }

    /// The value in every lane.
    pub fn vector(&mut self, value: Value) -> Value {
        if let Some(id) = self.source.escaped(value, self.at) {
            return self.outs[&(value, id)];
        }
        if let Some(vector) = self.vectors[value].expand() {
            return vector;
        }
        if let Some(&vector) = self.widened.get(&value) {
            return vector;
        }
        let lanes = self.source.width;
        let ty = self.source.func.ty(value).with_lanes(lanes);
        let vector = match self.source.shapes.of(value) {
            _ if self.source.func.as_const(value).is_some() => {
                let bits = self.source.func.as_const(value).unwrap_or(0);
                self.builder().iconst(ty, bits)
            }
            Shape::Affine(stride) => {
                let base = self.scalar(value);
                self.affine_vector(base, stride)
            }
            Shape::Guarded(..) => {
                let inst = self
                    .source
                    .func
                    .def_inst(value)
                    .expect("parameters are not guarded");
                self.widen(inst)[0]
            }
            _ => {
                let base = self.scalar(value);
                self.builder().splat(base, lanes)
            }
        };
        self.widened.insert(value, vector);
        vector
    }

    fn affine_vector(&mut self, base: Value, stride: i64) -> Value {
        let lanes = self.source.width;
        let mut b = self.builder();
        let ty = b.ty(base).with_lanes(lanes);
        let splat = b.splat(base, lanes);
        let int = ty.with_scalar(ty.scalar.as_int());
        let ids = b.val(Op::LaneIds, &[], int);
        let offsets = if stride == 1 {
            ids
        } else if stride > 0 && (stride as u64).is_power_of_two() {
            let amount = b.iconst(int, u64::from(stride.trailing_zeros()));
            b.binary(BinOp::Shl, ids, amount)
        } else {
            let factor = b.iconst(int, stride as u64);
            b.binary(BinOp::IMul, ids, factor)
        };
        if ty.scalar == Scalar::Ptr {
            b.ptr_add(splat, offsets)
        } else {
            b.binary(BinOp::IAdd, splat, offsets)
        }
    }

    /// Emits a lane-wise instruction on vectors; its results.
    pub fn widen(&mut self, inst: Inst) -> SmallVec<[Value; 2]> {
        let data = &self.source.func.insts[inst];
        let args: SmallVec<[Value; 4]> = data
            .args
            .iter()
            .enumerate()
            .map(|(i, &arg)| {
                if i == 0 && data.op == Op::Select && self.shape(arg).is_uniform() {
                    self.scalar(arg)
                } else {
                    self.vector(arg)
                }
            })
            .collect();
        self.make(inst, data.op.clone(), &args, self.source.width)
    }

    pub fn make(&mut self, inst: Inst, op: Op, args: &[Value], lanes: u8) -> SmallVec<[Value; 2]> {
        let data = &self.source.func.insts[inst];
        let types: SmallVec<[Type; 2]> = data
            .results
            .iter()
            .map(|&r| self.source.func.ty(r).with_lanes(lanes))
            .collect();
        let loc = data.loc;
        let mut b = self.builder();
        b.loc = loc;
        let new = b.ins(op, args, &types);
        self.out.insts[new].results.clone()
    }

    pub fn define(&mut self, value: Value, new: Value) {
        match self.source.shapes.of(value) {
            Shape::Varying => self.vectors[value] = new.into(),
            _ => self.scalars[value] = new.into(),
        }
    }

    pub fn define_all(&mut self, inst: Inst, new: &[Value]) {
        for (&old, &new) in self.source.func.insts[inst].results.iter().zip(new) {
            self.define(old, new);
        }
    }
}
