//! Addresses in interleaved arrays made offsets, and accesses to them made accesses to units.
//!
//! What was an address in an array becomes an `i32`, how many bytes it is into the work-item's own
//! array: a variable is a constant then, and what is added to it a sum. Each access computes where
//! its units are from that, `offset * W` away from the array. An element of several units is loaded
//! as integers that are shifted together, and stored likewise.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use super::arrays::Array;
use crate::ir::{
    BinOp, Builder, ConvertOp, Function, Inst, Interleaving, Mem, Op, Type, Value, Wrap,
};
use crate::kernel_info::AddressSpace;

/// An array that is interleaved.
#[derive(Clone, Copy)]
struct Interleaved {
    /// The address that the lane's first unit has.
    address: Value,
    how: Interleaving,
}

/// Interleaves `arrays` by `lanes` work-items.
pub(super) fn run(func: &mut Function, arrays: &[Array], lanes: u8) {
    let mut of: SecondaryMap<Value, Option<Interleaved>> = SecondaryMap::new();
    let entry = func.entry();
    for array in arrays {
        let how = Interleaving {
            unit: array.unit,
            lanes,
        };
        let op = Op::Alloca {
            size: array.size,
            align: array.align,
            interleaving: Some(how),
        };
        let loc = func.insts[array.variables[0].0].loc;
        let inst = func.make_inst(op, &[], &[Type::PTR], loc);
        let address = func.insts[inst].results[0];
        for &value in &array.addresses {
            of[value] = Some(Interleaved { address, how });
            func.values[value].ty = Type::I32;
        }
        for &(variable, start) in &array.variables {
            func.insts[variable].op = Op::Const(start.into());
        }
        func.blocks[entry].insts.insert(0, inst);
    }
    let mut rewriter = Rewriter {
        of,
        replaced: SecondaryMap::new(),
    };
    for block in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut b = Builder::new(func, block);
        for inst in insts {
            b.loc = b.func.insts[inst].loc;
            rewriter.inst(&mut b, inst);
        }
    }
    func.replace_uses(&rewriter.replaced);
}

struct Rewriter {
    of: SecondaryMap<Value, Option<Interleaved>>,
    /// What is loaded, by what it is put together as.
    replaced: SecondaryMap<Value, PackedOption<Value>>,
}

/// Where units of an access are.
#[derive(Clone, Copy)]
enum Place {
    /// In an array, so many bytes from its address.
    Inside(Interleaved, Value),
    /// At an address in other memory, which is a multiple of so much.
    Outside(Value, u32),
}

impl Rewriter {
    fn inst(&mut self, b: &mut Builder<'_>, inst: Inst) {
        let data = b.func.insts[inst].clone();
        match data.op {
            Op::PtrAdd if self.of[data.results[0]].is_some() => {
                let bytes = match b.func.as_const(data.args[1]) {
                    Some(bytes) => b.iconst(Type::I32, bytes),
                    None => b.convert(ConvertOp::Trunc, data.args[1], Type::I32),
                };
                let sum = &mut b.func.insts[inst];
                sum.op = Op::Binary(BinOp::IAdd, Wrap::default());
                sum.args[1] = bytes;
            }
            Op::Load(_) if let Some(array) = self.of[data.args[0]] => {
                let place = Place::inside(b, array, data.args[0]);
                let mut at = 0;
                for &result in &data.results {
                    let ty = b.ty(result);
                    let element = load(b, place, at, array.how.unit, ty);
                    self.replaced[result] = element.into();
                    at += ty.bytes();
                }
                return;
            }
            Op::Store(_) if let Some(array) = self.of[data.args[0]] => {
                let place = Place::inside(b, array, data.args[0]);
                let mut at = 0;
                for &element in &data.args[1..] {
                    store(b, place, at, array.how.unit, element);
                    at += b.ty(element).bytes();
                }
                return;
            }
            Op::MemCopy { size, align, .. } => {
                let arrays = [0, 1].map(|n| self.of[data.args[n]]);
                let units = arrays.iter().flatten().map(|array| array.how.unit);
                if let Some(unit) = units.min() {
                    let [to, from] = [0, 1].map(|n| match arrays[n] {
                        Some(array) => Place::inside(b, array, data.args[n]),
                        None => Place::Outside(data.args[n], align),
                    });
                    let ty = integer(unit);
                    for at in (0..size as u32).step_by(unit as usize) {
                        let piece = load(b, from, at, unit, ty);
                        store(b, to, at, unit, piece);
                    }
                    return;
                }
            }
            _ => {}
        }
        b.func.blocks[b.block].insts.push(inst);
    }
}

impl Place {
    /// At an offset in an array.
    fn inside(b: &mut Builder<'_>, array: Interleaved, offset: Value) -> Place {
        // An access is inside its variable, whose offsets do not wrap.
        let wrap = Wrap {
            nsw: true,
            ..Wrap::default()
        };
        let by = b.iconst(Type::I32, array.how.lanes.trailing_zeros().into());
        let scaled = b.val(Op::Binary(BinOp::Shl, wrap), &[offset, by], Type::I32);
        let bytes = b.convert(ConvertOp::SExt, scaled, Type::I64);
        Place::Inside(array, bytes)
    }

    /// How the `bytes` that begin `at` bytes on are accessed, which are a unit or part of one.
    fn access(self, b: &mut Builder<'_>, at: u32, bytes: u32) -> (Mem, Value) {
        match self {
            Place::Inside(array, offset) => {
                let Interleaving { unit, lanes } = array.how;
                let further = at / unit * unit * u32::from(lanes) + at % unit;
                let further = b.iconst(Type::I64, further.into());
                let base = b.ptr_add(array.address, further);
                let mem = Mem::new(AddressSpace::Private, bytes);
                (mem, b.ptr_add(base, offset))
            }
            Place::Outside(address, align) => {
                let align = 1 << (align | at).trailing_zeros();
                let further = b.iconst(Type::I64, at.into());
                let mem = Mem::new(AddressSpace::Generic, align);
                (mem, b.ptr_add(address, further))
            }
        }
    }
}

/// The integer of so many bytes.
fn integer(bytes: u32) -> Type {
    match bytes {
        1 => Type::I8,
        2 => Type::I16,
        4 => Type::I32,
        _ => Type::I64,
    }
}

/// Loads a value that begins `at` bytes on, in pieces of so many bytes.
fn load(b: &mut Builder<'_>, place: Place, at: u32, piece: u32, ty: Type) -> Value {
    let size = ty.bytes();
    if size == piece {
        let (mem, address) = place.access(b, at, piece);
        return b.load(mem, address, ty);
    }
    let whole = integer(size);
    let mut all = None;
    for part in (0..size).step_by(piece as usize) {
        let (mem, address) = place.access(b, at + part, piece);
        let bits = b.load(mem, address, integer(piece));
        let bits = b.convert(ConvertOp::ZExt, bits, whole);
        all = Some(match all {
            None => bits,
            Some(below) => {
                let bits = b.binary_imm(BinOp::Shl, bits, u64::from(8 * part));
                b.binary(BinOp::Or, below, bits)
            }
        });
    }
    b.bitcast(all.expect("a value has bytes"), ty)
}

/// Stores a value likewise.
fn store(b: &mut Builder<'_>, place: Place, at: u32, piece: u32, value: Value) {
    let size = b.ty(value).bytes();
    if size == piece {
        let (mem, address) = place.access(b, at, piece);
        b.store(mem, address, value);
        return;
    }
    let bits = b.bitcast(value, integer(size));
    for part in (0..size).step_by(piece as usize) {
        let bits = match part {
            0 => bits,
            part => b.binary_imm(BinOp::LShr, bits, u64::from(8 * part)),
        };
        let bits = b.convert(ConvertOp::Trunc, bits, integer(piece));
        let (mem, address) = place.access(b, at + part, piece);
        b.store(mem, address, bits);
    }
}
