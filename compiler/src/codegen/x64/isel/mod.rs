//! Instruction selection: vector IR to machine instructions over virtual registers.
//!
//! A value of W lanes is a list of *parts*, vector registers of up to the target's size; a mask is
//! a list of mask registers, each for as many lanes. Instructions are selected in the order of the
//! function, but for those that become part of their only user's (`deferral.rs`).
//!
//! - `mod.rs`: the state, and which file an operation belongs to.
//! - `values.rs`: what values are, and how a use gets them. Everything works on it.
//! - `build.rs`: machine instructions by their form.
//! - `control.rs`: blocks, branches, conditions as flags.
//! - `scalar.rs`: arithmetic of one lane in general registers.
//! - `float.rs`, `integer.rs`: lane-wise arithmetic of vectors and of floating-point scalars.
//! - `cuts.rs`: which bitwise operations of vectors are one instruction; `logic.rs`: it.
//! - `lookup.rs`: numbers from tables.
//! - `convert.rs`: conversions. `lanes.rs`: lanes that move, parts that are joined and split;
//!   `bytes.rs`: bytes that move without AVX512_VBMI; `transpose.rs`: lanes and elements that
//!   change places.
//! - `masks/`: truth values of many lanes.
//! - `avx2/`: what takes several instructions where AVX-512 has one.
//! - `memory/`: loads, stores, atomics.
//! - `call.rs`: calls of the host.

mod avx2;
mod build;
mod bytes;
mod call;
mod control;
mod convert;
mod cuts;
mod deferral;
mod float;
mod integer;
mod lanes;
mod logic;
mod lookup;
mod masks;
mod memory;
mod scalar;
mod transpose;
mod values;

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use regalloc2::{Block as MachineBlock, VReg};

use super::encoding::Size;
use super::pool::Pool;
use super::vcode::{Builder, VCode};
use crate::codegen::frame::{FrameLayout, PrivateMemory};
use crate::codegen::{Symbol, usual_mask_bits};
use crate::diagnostic::Diagnostic;
use crate::ir::{Block, Function, Inst, Op, Value};
use crate::target::{Isa, Target};
use cuts::{Cut, Logic};
use deferral::Deferral;
use values::Repr;

/// A function whose instructions are being selected.
pub struct Isel<'a> {
    m: Builder,
    func: &'a Function,
    target: &'a Target,
    /// The longest vectors to be used.
    longest: Size,
    /// The width of lanes of masks in vector registers that nothing else says.
    mask_lane_bits: u32,
    /// Where inactive lanes store, if any do.
    nowhere: Option<i32>,
    values: SecondaryMap<Value, Repr>,
    deferral: Deferral,
    taken: Taken,
    blocks: SecondaryMap<Block, Option<MachineBlock>>,
    pool: Pool,
    frame: FrameLayout,
    /// The longest vectors that are used.
    used: Size,
}

/// What a block has taken out of the parts of vectors, to be used again there.
#[derive(Default)]
struct Taken {
    block: Option<MachineBlock>,
    /// Bytes from an offset on, in vector registers.
    pieces: HashMap<(VReg, u32), VReg>,
    /// Eight bytes each, in general registers.
    words: HashMap<(VReg, u32), VReg>,
    /// The low four bits of lanes.
    numbers: HashMap<VReg, lookup::Numbers>,
}

/// What is left to be allocated and emitted.
pub struct Selected {
    pub code: VCode,
    pub frame: FrameLayout,
    pub pool: Pool,
    /// The longest vectors that are used.
    pub vector: Size,
}

/// An operation that is not there, to be left to the other back end.
type Result<T> = std::result::Result<T, Diagnostic>;

pub fn select(
    func: &Function,
    target: &Target,
    private: Option<PrivateMemory>,
) -> Result<Selected> {
    let order = control::order(func);
    let mut isel = Isel {
        m: Builder::new(),
        func,
        target,
        longest: Size::of_bytes(target.vector_bytes),
        mask_lane_bits: usual_mask_bits(func, target.vector_bytes * 8),
        nowhere: None,
        values: SecondaryMap::with_capacity(func.values.len()),
        deferral: Deferral::new(func, target, &order),
        taken: Taken::default(),
        blocks: SecondaryMap::with_capacity(func.blocks.len()),
        pool: Pool::default(),
        frame: FrameLayout::new(func, private)?,
        used: Size::V128,
    };
    isel.function(&order)?;
    Ok(Selected {
        code: isel.m.finish(),
        frame: isel.frame,
        pool: isel.pool,
        vector: isel.used,
    })
}

impl Isel<'_> {
    fn is_avx512(&self) -> bool {
        self.target.isa >= Isa::Avx512
    }

    /// Whether one element in memory can be an operand in every lane.
    fn has_embedded_broadcast(&self) -> bool {
        self.is_avx512()
    }

    /// Selects an instruction, unless its user will.
    fn visit(&mut self, inst: Inst) -> Result<()> {
        let data = &self.func.insts[inst];
        let is_address = |&result: &Value| self.frame.places[result].is_some();
        if data.results.first().is_some_and(is_address) {
            return Ok(());
        }
        if self.deferral.deferred[inst] {
            self.values[data.results[0]] = Repr::Deferred(inst);
            return Ok(());
        }
        if self.is_unused(inst) {
            return Ok(());
        }
        self.inst(inst)
    }

    fn is_unused(&self, inst: Inst) -> bool {
        let data = &self.func.insts[inst];
        !data.op.has_side_effect() && data.results.iter().all(|&r| self.deferral.uses[r] == 0)
    }

    /// What a bitwise operation is computed from, if there are others between.
    fn cut(&self, inst: Inst) -> Option<Cut> {
        let Some(Logic::Root(cut)) = &self.deferral.logic[inst] else {
            return None;
        };
        let args = &self.func.insts[inst].args;
        let is_single = args.iter().all(|arg| cut.leaves.contains(arg));
        (!is_single).then(|| cut.clone())
    }

    /// A unary or binary operation by itself.
    fn single(&mut self, inst: Inst) -> Result<Repr> {
        let data = &self.func.insts[inst];
        let ty = self.func.ty(data.results[0]);
        match (&data.op, &data.args[..]) {
            (Op::Unary(op), &[a]) => self.unary(*op, a, ty),
            (Op::Binary(op, _), &[a, b]) => self.binary(*op, a, b, ty),
            (other, _) => unreachable!("`{other}` is neither unary nor binary"),
        }
    }

    /// Selects an instruction here.
    fn inst(&mut self, inst: Inst) -> Result<()> {
        let data = &self.func.insts[inst];
        let args = data.args.as_slice();
        let result = data.results.first().map(|&r| self.func.ty(r));
        let ty = || result.expect("an instruction with a result");
        let repr = match &data.op {
            Op::Const(bits) => Repr::Constant(*bits),
            Op::GlobalAddr(global) => Repr::Address(Symbol::Global(*global)),
            Op::Unary(_) | Op::Binary(..) => match self.cut(inst) {
                Some(cut) => self.logic(&cut, ty())?,
                None => self.single(inst)?,
            },
            Op::Fma => self.fma(args, ty())?,
            Op::Rounded(op, rounding) => self.rounded(*op, *rounding, args, ty())?,
            Op::ICmp(cc) => self.icmp(*cc, args[0], args[1])?,
            Op::FCmp(cc) => self.fcmp(*cc, args[0], args[1])?,
            Op::Select => self.select(args, ty())?,
            Op::Convert(op, rounding) => self.convert(*op, *rounding, args[0], ty())?,
            Op::Splat => self.splat(args[0], ty())?,
            Op::Build => self.build_vector(args, ty())?,
            Op::Extract(lane) => self.extract(args[0], *lane)?,
            Op::Insert(lane) => self.insert(args[0], args[1], *lane)?,
            Op::ExtractDyn => self.extract_dyn(args[0], args[1])?,
            Op::Shuffle(lanes) => self.shuffle(args[0], args[1], lanes, ty())?,
            Op::Lookup(table) => self.lookup(*table, args[0], ty())?,
            Op::Permute => self.permute(args[0], args[1], ty())?,
            Op::Deinterleave | Op::Interleave => return self.turned(inst),
            Op::LaneIds => self.lane_ids(ty()),
            Op::AnyTrue | Op::AllTrue => self.mask_question(inst)?,
            Op::MaskBits => self.mask_bits_value(args[0])?,
            Op::PtrAdd => self.ptr_add(args[0], args[1], ty())?,
            Op::Load(mem) => return self.load(mem, inst),
            Op::Store(mem) => return self.store(mem, inst),
            Op::AtomicRmw(op, _) => self.atomic_rmw(*op, inst)?,
            Op::AtomicCmpXchg(_) => self.atomic_cmpxchg(inst)?,
            Op::AtomicLoad(_) => self.atomic_load(inst)?,
            Op::AtomicStore(atomic) => return self.atomic_store(atomic, args),
            Op::Fence(fence) => {
                self.fence(fence);
                return Ok(());
            }
            Op::HostCall(function) => {
                let address = self.address_of(Symbol::Host(*function));
                // A fault in one that is not pure is the kernel's, which called it.
                self.call(address, args, result, function.is_pure())?
            }
            Op::FuncAddr(number) => Repr::Address(Symbol::Function(*number)),
            Op::NoImageAddr => Repr::Address(Symbol::NoImage),
            Op::CallPointer => {
                let target = self.scalar(args[0])?;
                self.call(target, &args[1..], result, false)?
            }
            other => {
                return Err(Diagnostic::new(format!("`{other}` is not selected")));
            }
        };
        if let Some(&result) = data.results.first() {
            self.values[result] = repr;
        }
        Ok(())
    }
}
