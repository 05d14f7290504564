//! What vectors cannot do: work lane by lane, and calls. The last pass before `codegen`, which is
//! left with what [`crate::codegen`] lists.
//!
//! - `mod.rs`: which instructions are expanded.
//! - `each.rs`: an operation for each active lane, in a loop or a straight line. Open it next.
//! - `stack.rs`: arrays of lanes, and other memory for the time of one instruction.
//! - `calls.rs`: functions of the library, copies, `printf`. `device.rs`: device-side enqueue.
//!   `images.rs`: texels.
//! - `atomics.rs`: atomics, one lane at a time. `combine.rs`: by all lanes at once.
//!
//! Accesses with a mask and one lane become branches here, too. Cost: linear.

mod atomics;
mod calls;
mod combine;
mod device;
mod each;
mod images;
mod stack;

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};

use self::stack::Stack;
use super::replay::{Values, replay};
use crate::ir::verify::verify;
use crate::ir::{
    BinOp, Builder, ConvertOp, Function, HostFunction, InstData, Mem, Op, Scalar, Stage, Type,
    Value,
};
use crate::kernel_info::AddressSpace;
use crate::target::Target;

/// Bytes that are copied without a call.
const SMALL_COPY: u64 = 128;

/// Expands what is to be expanded for a target. Afterwards `func` is at [`Stage::Lowered`].
pub fn run(func: &mut Function, target: &Target) {
    let launch = func.params().first().copied();
    let used = used_values(func);
    let mut stack = Stack::default();
    replay(
        func,
        |func, data| is_expanded(func, data, target),
        |b, _, data| {
            stack.free_all();
            let mut expander = Expander {
                b,
                launch,
                used: &used,
                stack: &mut stack,
            };
            expander.expand(data)
        },
    );
    stack.allocate(func);
    if cfg!(debug_assertions)
        && let Err(error) = verify(func, Stage::Lowered, None)
    {
        panic!("after lanes: {error}\n{func}");
    }
}

fn is_expanded(func: &Function, data: &InstData, target: &Target) -> bool {
    let values = || data.results.iter().chain(&data.args);
    let is_vector = || values().any(|&v| func.ty(v).lanes > 1);
    match &data.op {
        Op::Load(mem) | Op::Store(mem) => mem.masked && !is_vector(),
        Op::Binary(BinOp::FRem, _) => true,
        Op::Binary(BinOp::FScale, _) => !target.scaling,
        Op::Binary(op, _) => op.is_division() && is_vector(),
        Op::Rounded(..) => !target.static_rounding,
        Op::MemCopy { .. }
        | Op::MemCopyDyn { .. }
        | Op::AtomicRmw(..)
        | Op::AtomicCmpXchg(_)
        | Op::AtomicLoad(_)
        | Op::AtomicStore(_)
        | Op::ImageRead(_)
        | Op::ImageWrite(_)
        | Op::ImageQuery(_)
        | Op::Fence(_)
        | Op::Barrier(_)
        | Op::Clock
        | Op::Printf { .. }
        | Op::Device { .. }
        | Op::Routine(..) => true,
        _ => false,
    }
}

/// Which values are operands of anything.
fn used_values(func: &Function) -> SecondaryMap<Value, bool> {
    let mut used = SecondaryMap::with_capacity(func.values.len());
    for &block in &func.layout {
        let data = &func.blocks[block];
        for &inst in &data.insts {
            for &arg in &func.insts[inst].args {
                used[arg] = true;
            }
        }
        data.term.for_each_value(|value| used[value] = true);
    }
    used
}

/// An instruction being expanded.
struct Expander<'e, 'f> {
    b: &'e mut Builder<'f>,
    /// The launch record.
    launch: Option<Value>,
    /// Which values had uses before.
    used: &'e SecondaryMap<Value, bool>,
    stack: &'e mut Stack,
}

impl Expander<'_, '_> {
    /// Emits what takes the place of an instruction, and gives what takes that of its results; of
    /// none that are not used.
    fn expand(&mut self, data: &InstData) -> Values {
        let results: SmallVec<[Type; 4]> = data.results.iter().map(|&r| self.b.ty(r)).collect();
        let (args, mask) = match data.args.split_last() {
            Some((&mask, args)) if is_masked(&data.op) => (args, Some(mask)),
            _ => (&data.args[..], None),
        };
        match &data.op {
            Op::Load(_) | Op::Store(_) => self.masked_access(&data.op, args, mask, &results),
            Op::Binary(BinOp::FRem, _) => {
                smallvec![self.called(HostFunction::FRem, args, results[0])]
            }
            Op::Binary(BinOp::FScale, _) => {
                smallvec![self.called(HostFunction::FScale, args, results[0])]
            }
            Op::Binary(..) => {
                let lanes = (0..results[0].lanes).map(|lane| {
                    let args: Values = args.iter().map(|&arg| self.lane(arg, lane)).collect();
                    self.b.val(data.op.clone(), &args, results[0].lane())
                });
                let lanes: Values = lanes.collect();
                smallvec![self.b.val(Op::Build, &lanes, results[0])]
            }
            Op::Rounded(op, rounding) => {
                smallvec![self.rounded(*op, *rounding, args, results[0])]
            }
            Op::Routine(routine, format) => {
                let (&fast, args) = args.split_last().expect("verified");
                let mask = mask.expect("verified");
                smallvec![self.routine(*routine, *format, args, fast, mask)]
            }
            Op::MemCopy {
                size,
                align,
                volatile,
                ..
            } if *size <= SMALL_COPY => {
                let mem = Mem {
                    volatile: *volatile,
                    ..Mem::new(AddressSpace::Generic, *align)
                };
                self.each_lane(args, mask, &[], |e, args| {
                    e.small_copy(args[0], args[1], *size, mem)
                })
            }
            Op::MemCopy { size, .. } => {
                let size = self.b.iconst(Type::I64, *size);
                self.mem_copy(&[args[0], args[1], size], mask)
            }
            Op::MemCopyDyn { .. } => self.mem_copy(args, mask),
            Op::Printf { .. } => smallvec![self.printf(args, mask, results[0])],
            Op::Clock => smallvec![self.clock()],
            Op::Fence(fence) | Op::Barrier(fence) => self.fence(*fence),
            Op::Device { what, block, .. } => self.device(*what, *block, args, mask, &results),
            Op::ImageRead(image) => self.image_read(*image, args, mask, &results),
            Op::ImageWrite(image) => self.image_write(*image, args, mask),
            Op::ImageQuery(field) => smallvec![self.image_query(*field, args[0], results[0])],
            Op::AtomicRmw(op, atomic) => {
                let is_used = self.used[data.results[0]];
                self.atomic_rmw(*op, *atomic, args, mask, is_used)
            }
            op => self.atomic(op, args, mask, &results),
        }
    }

    /// A load or store of one lane with a mask: a branch.
    fn masked_access(
        &mut self,
        op: &Op,
        args: &[Value],
        mask: Option<Value>,
        results: &[Type],
    ) -> Values {
        let mut op = op.clone();
        if let Op::Load(mem) | Op::Store(mem) = &mut op {
            mem.masked = false;
        }
        self.each_lane(args, mask, results, |e, args| {
            let inst = e.b.ins(op.clone(), args, results);
            e.b.func.insts[inst].results.iter().copied().collect()
        })
    }

    /// An address that many bytes further.
    fn offset(&mut self, address: Value, bytes: u64) -> Value {
        if bytes == 0 {
            return address;
        }
        let bytes = self.b.iconst(Type::I64, bytes);
        self.b.ptr_add(address, bytes)
    }

    /// A scalar's bits as an integer of at least so many bits.
    fn as_bits(&mut self, value: Value, at_least: Scalar) -> Value {
        let int = self.b.ty(value).scalar.as_int();
        let bits = self.b.bitcast(value, Type::new(int, 1));
        if int.bits() >= at_least.bits() {
            return bits;
        }
        self.b
            .convert(ConvertOp::ZExt, bits, Type::new(at_least, 1))
    }
}

/// Whether the last operand is a mask.
fn is_masked(op: &Op) -> bool {
    match op {
        Op::Load(mem) | Op::Store(mem) => mem.masked,
        Op::MemCopy { masked, .. }
        | Op::MemCopyDyn { masked, .. }
        | Op::Printf { masked }
        | Op::Device { masked, .. } => *masked,
        Op::AtomicRmw(_, atomic)
        | Op::AtomicCmpXchg(atomic)
        | Op::AtomicLoad(atomic)
        | Op::AtomicStore(atomic) => atomic.masked,
        Op::ImageRead(image) | Op::ImageWrite(image) => image.masked,
        Op::Routine(..) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
