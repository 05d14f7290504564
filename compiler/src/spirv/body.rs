//! The IR function that a SPIR-V function becomes, while it is made: where instructions are
//! appended, the prologue, and how arithmetic rounds in it.
//!
//! It knows nothing of SPIR-V: what it takes are IR values. Families of instructions add what they
//! alone emit, each in its file.

use std::collections::HashMap;

use smallvec::{SmallVec, smallvec};

use super::float_modes::FloatModes;
use crate::ir::{
    BinOp, Block, Builder, ConvertOp, Function, Inst, IntCC, Op as IrOp, Scalar, SourceLoc,
    Terminator, Type, Value, Wrap,
};

/// The leaves of a value; nearly always one.
pub(super) type Values = SmallVec<[Value; 1]>;

pub(super) struct Body {
    pub func: Function,
    /// Where instructions are appended.
    pub block: Block,
    /// What debug information says of the instructions that are appended.
    pub loc: SourceLoc,
    /// Of the entry point that the function is translated for.
    pub modes: FloatModes,
    /// Constants and addresses of variables. They come first in the entry block, which dominates
    /// everything.
    prologue: Vec<Inst>,
    constants: HashMap<(Type, u64), Value>,
}

impl Body {
    pub fn new(func: Function, modes: FloatModes) -> Body {
        Body {
            block: func.entry(),
            func,
            loc: SourceLoc::default(),
            modes,
            prologue: Vec::new(),
            constants: HashMap::new(),
        }
    }

    /// The function, with its prologue.
    pub fn finish(mut self) -> Function {
        let entry = self.func.entry();
        let mut insts = self.prologue;
        insts.append(&mut self.func.blocks[entry].insts);
        self.func.blocks[entry].insts = insts;
        self.func
    }

    /// A builder at the current position.
    pub fn b(&mut self) -> Builder<'_> {
        let mut builder = Builder::new(&mut self.func, self.block);
        builder.loc = self.loc;
        builder
    }

    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    /// A constant in the prologue, made once.
    pub fn iconst(&mut self, ty: Type, bits: u64) -> Value {
        let bits = bits & ty.scalar.mask();
        if let Some(&value) = self.constants.get(&(ty, bits)) {
            return value;
        }
        let value = self.prologue(IrOp::Const(bits), &[], ty);
        self.constants.insert((ty, bits), value);
        value
    }

    /// A floating-point constant in every lane.
    pub fn fconst(&mut self, ty: Type, value: f64) -> Value {
        self.iconst(ty, crate::ir::eval::from_f64(ty.scalar, value))
    }

    /// A scalar or vector of constant lanes.
    pub fn lanes(&mut self, ty: Type, lanes: &[u64]) -> Value {
        if lanes.iter().all(|lane| lane == &lanes[0]) {
            return self.iconst(ty, lanes[0]);
        }
        let parts: SmallVec<[Value; 16]> = lanes
            .iter()
            .map(|&lane| self.iconst(ty.lane(), lane))
            .collect();
        self.prologue(IrOp::Build, &parts, ty)
    }

    /// An instruction at the start of the entry block.
    pub fn prologue(&mut self, op: IrOp, args: &[Value], ty: Type) -> Value {
        let inst = self.func.make_inst(op, args, &[ty], SourceLoc::default());
        self.prologue.push(inst);
        self.func.insts[inst].results[0]
    }

    /// Ends the current block.
    pub fn terminate(&mut self, term: Terminator) {
        let block = self.block;
        self.func.blocks[block].term = term;
    }

    /// Does something where a condition holds.
    pub fn when(&mut self, condition: Value, body: impl FnOnce(&mut Self)) {
        let (inside, after) = {
            let mut f = self.b();
            (f.new_block(&[]), f.new_block(&[]))
        };
        self.b().cond_br(condition, inside, &[], after, &[]);
        self.block = inside;
        body(self);
        self.b().br(after, &[]);
        self.block = after;
    }

    /// The address at a byte offset from another.
    pub fn at_offset(&mut self, address: Value, offset: u64) -> Value {
        if offset == 0 {
            return address;
        }
        let bytes = self.iconst(Type::I64, offset);
        self.b().ptr_add(address, bytes)
    }

    /// `address + index * stride` for a signed index.
    pub fn step(&mut self, address: Value, index: Value, stride: u64, in_bounds: bool) -> Value {
        let stride = self.iconst(Type::I64, stride);
        // An in-bounds offset is within an object, so the product cannot overflow.
        let wrap = Wrap {
            nsw: in_bounds,
            ..Wrap::default()
        };
        let mut f = self.b();
        let bytes = f.val(IrOp::Binary(BinOp::IMul, wrap), &[index, stride], Type::I64);
        f.ptr_add(address, bytes)
    }

    pub fn mem_copy(&mut self, to: Value, from: Value, size: u64, align: u32, volatile: bool) {
        let op = IrOp::MemCopy {
            size,
            align,
            volatile,
            masked: false,
        };
        self.b().ins(op, &[to, from], &[]);
    }

    /// Zero-extends or truncates lanes.
    pub fn resize(&mut self, value: Value, scalar: Scalar) -> Value {
        let from = self.ty(value);
        let to = from.with_scalar(scalar);
        match from.scalar.bits().cmp(&scalar.bits()) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Less => self.b().convert(ConvertOp::ZExt, value, to),
            std::cmp::Ordering::Greater => self.b().convert(ConvertOp::Trunc, value, to),
        }
    }

    /// A component, without an instruction where it is known already.
    pub fn lane(&mut self, vector: Value, lane: u8) -> Value {
        let ty = self.ty(vector);
        if let Some(def) = self.func.def_inst(vector) {
            let data = &self.func.insts[def];
            match data.op {
                IrOp::Build => return data.args[usize::from(lane)],
                IrOp::Const(bits) => return self.iconst(ty.lane(), bits),
                IrOp::Splat => return data.args[0],
                _ => {}
            }
        }
        self.b().extract(vector, lane)
    }

    /// The scalars of a scalar or vector.
    pub fn scalars(&mut self, value: Value) -> SmallVec<[Value; 4]> {
        match self.ty(value).lanes {
            1 => smallvec![value],
            lanes => (0..lanes)
                .map(|lane| self.b().extract(value, lane))
                .collect(),
        }
    }

    /// A vector of components, without an instruction for one.
    pub fn build(&mut self, lanes: &[Value]) -> Value {
        match lanes {
            [lane] => *lane,
            _ => {
                let ty = self.ty(lanes[0]).with_lanes(lanes.len() as u8);
                self.b().val(IrOp::Build, lanes, ty)
            }
        }
    }

    /// `value` where `index` equals `number`, else `other`: for chains of selections.
    pub fn select_equal(&mut self, index: Value, number: u64, value: Value, other: Value) -> Value {
        let ty = self.ty(index);
        let number = self.iconst(ty, number);
        let mut f = self.b();
        let equal = f.icmp(IntCC::Eq, index, number);
        f.select(equal, value, other)
    }
}
