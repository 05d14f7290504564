//! Memory for the time of one instruction: arrays of lanes, records that functions are handed.
//!
//! It is private memory of the function, each piece used by one instruction after another.

use super::Expander;
use crate::ir::{BinOp, Function, Inst, Mem, Op, SourceLoc, Type, Value};
use crate::kernel_info::AddressSpace;

/// Alignment of every piece, in bytes.
const ALIGN: u32 = 16;

/// The pieces of a function. One instruction's are free again at the next.
#[derive(Default)]
pub(super) struct Stack {
    /// With their bytes.
    pieces: Vec<(u32, Inst)>,
    /// How many of `pieces`, the first ones, the current instruction has taken.
    taken: usize,
}

impl Stack {
    /// The address of at least `bytes` bytes.
    fn take(&mut self, func: &mut Function, bytes: u32) -> Value {
        let bytes = bytes.next_multiple_of(ALIGN).max(ALIGN);
        let free = self.pieces[self.taken..]
            .iter()
            .position(|&(size, _)| size == bytes);
        let index = match free {
            Some(at) => self.taken + at,
            None => {
                let op = Op::Alloca {
                    size: bytes,
                    align: ALIGN,
                    interleaving: None,
                };
                let inst = func.make_inst(op, &[], &[Type::PTR], SourceLoc::default());
                self.pieces.push((bytes, inst));
                self.pieces.len() - 1
            }
        };
        self.pieces.swap(index, self.taken);
        self.taken += 1;
        func.insts[self.pieces[self.taken - 1].1].results[0]
    }

    /// At the next instruction all are free.
    pub fn free_all(&mut self) {
        self.taken = 0;
    }

    /// Puts them in the entry block.
    pub fn allocate(self, func: &mut Function) {
        let entry = func.entry();
        let pieces = self.pieces.into_iter().map(|(_, inst)| inst);
        func.blocks[entry].insts.splice(0..0, pieces);
    }
}

/// A value of many lanes in memory, lane after lane.
#[derive(Clone, Copy)]
pub(super) struct Array {
    at: Value,
    ty: Type,
}

impl Array {
    /// A vector access to all of it.
    fn whole(self) -> Mem {
        Mem {
            stride: i64::from(self.ty.scalar.bytes()),
            ..Mem::new(AddressSpace::Private, ALIGN)
        }
    }

    fn lane(self) -> Mem {
        Mem::new(AddressSpace::Private, self.ty.scalar.bytes())
    }
}

impl Expander<'_, '_> {
    /// Memory of at least `bytes` bytes.
    pub(super) fn memory(&mut self, bytes: u32) -> Value {
        self.stack.take(self.b.func, bytes)
    }

    /// Memory that holds a value.
    pub(super) fn array_of(&mut self, value: Value) -> Array {
        let ty = self.b.ty(value);
        let array = Array {
            at: self.memory(ty.bytes()),
            ty,
        };
        self.b.store(array.whole(), array.at, value);
        array
    }

    pub(super) fn whole_array(&mut self, array: Array) -> Value {
        self.b.load(array.whole(), array.at, array.ty)
    }

    /// The address of a lane, given by an `i64`.
    fn lane_address(&mut self, array: Array, lane: Value) -> Value {
        let offset = match array.ty.scalar.bytes() {
            1 => lane,
            size => self.b.binary_imm(BinOp::IMul, lane, size.into()),
        };
        self.b.ptr_add(array.at, offset)
    }

    pub(super) fn array_lane(&mut self, array: Array, lane: Value) -> Value {
        let at = self.lane_address(array, lane);
        self.b.load(array.lane(), at, array.ty.lane())
    }

    pub(super) fn set_array_lane(&mut self, array: Array, lane: Value, value: Value) {
        let at = self.lane_address(array, lane);
        self.b.store(array.lane(), at, value);
    }

    /// A field of a record on the stack.
    pub(super) fn set_field(&mut self, record: Value, offset: u64, value: Value) {
        let mem = Mem::new(AddressSpace::Private, self.b.ty(value).scalar.bytes());
        let at = self.offset(record, offset);
        self.b.store(mem, at, value);
    }
}
