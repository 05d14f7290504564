//! Jumps and returns, and which instructions a stage allows where.

use cranelift_entity::SecondaryMap;

use super::Verifier;
use crate::ir::{BinOp, Block, BlockCall, Inst, Op, Scalar, Stage, Terminator, Type};
use crate::kernel_info::AddressSpace;

impl Verifier<'_> {
    fn check_call(
        &self,
        call: &BlockCall,
        in_layout: &SecondaryMap<Block, bool>,
    ) -> Result<(), String> {
        let func = self.func;
        ensure!(in_layout[call.block], "{} is not laid out", call.block);
        ensure!(
            call.block != func.entry(),
            "the entry block has a predecessor"
        );
        let params = &func.blocks[call.block].params;
        ensure!(
            params.len() == call.args.len(),
            "{} takes {} values, not {}",
            call.block,
            params.len(),
            call.args.len()
        );
        for (&param, &arg) in params.iter().zip(&call.args) {
            ensure!(
                func.ty(param) == func.ty(arg),
                "{arg} has type {}, parameter {param} of {} has {}",
                func.ty(arg),
                call.block,
                func.ty(param)
            );
        }
        Ok(())
    }

    pub(super) fn check_terminator(
        &self,
        term: &Terminator,
        in_layout: &SecondaryMap<Block, bool>,
    ) -> Result<(), String> {
        let func = self.func;
        for call in term.targets() {
            self.check_call(call, in_layout)?;
        }
        match term {
            Terminator::CondBr { cond, .. } => {
                ensure!(
                    func.ty(*cond) == Type::I1,
                    "a condition is a one-lane i1, not {}",
                    func.ty(*cond)
                );
            }
            Terminator::Switch { value, cases, .. } => {
                let ty = func.ty(*value);
                ensure!(
                    ty.is_scalar() && (ty.scalar.is_int() || ty.scalar == Scalar::I1),
                    "a switch is on a one-lane integer, not {ty}"
                );
                let mut bits: Vec<u64> = cases.iter().map(|&(bits, _)| bits).collect();
                bits.sort_unstable();
                ensure!(
                    bits.windows(2).all(|w| w[0] != w[1]),
                    "two cases are the same"
                );
                ensure!(
                    bits.last().is_none_or(|&top| top <= ty.scalar.mask()),
                    "a case does not fit {ty}"
                );
            }
            Terminator::Ret(values) => {
                ensure!(
                    values
                        .iter()
                        .map(|&v| func.ty(v))
                        .eq(func.results.iter().copied()),
                    "the returned types are not the function's"
                );
            }
            Terminator::Br(_) | Terminator::Unreachable => {}
        }
        Ok(())
    }

    /// What the stage forbids.
    pub(super) fn check_stage(&self, inst: Inst, block: Block) -> Result<(), String> {
        let op = &self.func.insts[inst].op;
        let early = self.stage < Stage::Vectorized;
        let masked = match op {
            Op::Load(mem) | Op::Store(mem) => mem.masked || mem.stride != 0,
            Op::MemCopy { masked, .. } | Op::MemCopyDyn { masked, .. } | Op::Printf { masked } => {
                *masked
            }
            Op::AtomicRmw(_, atomic)
            | Op::AtomicCmpXchg(atomic)
            | Op::AtomicLoad(atomic)
            | Op::AtomicStore(atomic) => atomic.masked,
            Op::Collective { masked, .. } | Op::Device { masked, .. } => *masked,
            Op::CallFunction(callee) => callee.masked || callee.lanes > 1,
            Op::ImageRead(image) | Op::ImageWrite(image) => image.masked,
            _ => false,
        };
        ensure!(
            !(early && masked),
            "masks and strides belong to vectorized code"
        );
        match op {
            Op::Call(_) => ensure!(
                self.stage == Stage::Translated,
                "there are no calls after inlining"
            ),
            Op::CallFunction(_) => ensure!(
                self.stage > Stage::Translated,
                "which calls stay calls is decided by inlining"
            ),
            Op::FuncAddr(_) | Op::NoImageAddr => ensure!(
                self.stage >= Stage::Vectorized,
                "addresses in the process belong to vectorized code"
            ),
            Op::Alloca { interleaving, .. } => {
                ensure!(
                    block == self.func.entry(),
                    "private memory is allocated in the entry block only"
                );
                ensure!(
                    interleaving.is_none() || self.stage == Stage::Scalarized,
                    "private memory is interleaved in scalarized code"
                );
            }
            Op::LaneIds
            | Op::AnyTrue
            | Op::AllTrue
            | Op::MaskBits
            | Op::Permute
            | Op::Deinterleave
            | Op::Interleave => {
                ensure!(!early, "lane operations belong to vectorized code");
            }
            Op::NamedBarrier(_) => ensure!(early, "there are no named barriers in vectorized code"),
            Op::ContextLoad(_) | Op::ContextStore(_) | Op::Carry => ensure!(
                self.stage >= Stage::Scalarized,
                "barrier contexts belong to scalarized code"
            ),
            Op::HostCall(_) | Op::CallPointer => ensure!(
                self.stage == Stage::Lowered || matches!(op, Op::CallPointer if !early),
                "calls of the host belong to lowered code"
            ),
            _ => {}
        }
        if self.stage == Stage::Lowered {
            self.check_lowered(inst)?;
        }
        Ok(())
    }

    /// What `lower` leaves to code generation.
    fn check_lowered(&self, inst: Inst) -> Result<(), String> {
        let data = &self.func.insts[inst];
        let operands = data.args.iter().chain(&data.results);
        let lanes = operands.map(|&v| self.func.ty(v).lanes).max();
        let is_vector = lanes.is_some_and(|lanes| lanes > 1);
        match &data.op {
            Op::Load(mem) | Op::Store(mem) => ensure!(
                is_vector || !mem.masked,
                "an access of one lane has no mask"
            ),
            Op::AtomicRmw(_, atomic)
            | Op::AtomicCmpXchg(atomic)
            | Op::AtomicLoad(atomic)
            | Op::AtomicStore(atomic) => {
                ensure!(!is_vector && !atomic.masked, "an atomic is of one lane");
                ensure!(
                    !matches!(atomic.space, AddressSpace::Private | AddressSpace::Local),
                    "memory of one thread needs no atomics"
                );
                let value = data.args.get(1).or(data.results.first());
                ensure!(
                    value.is_some_and(|&v| self.func.ty(v).scalar.is_int()),
                    "atomics are on integers"
                );
            }
            Op::Binary(op, _) => ensure!(
                *op != BinOp::FRem && !(is_vector && op.is_division()),
                "the operation is done lane by lane, or called for"
            ),
            Op::InSpace(_)
            | Op::LocalAddr(_)
            | Op::MemCopy { .. }
            | Op::MemCopyDyn { .. }
            | Op::ImageRead(_)
            | Op::ImageWrite(_)
            | Op::ImageQuery(_)
            | Op::Barrier(_)
            | Op::Collective { .. }
            | Op::Clock
            | Op::DimQuery(..)
            | Op::Query(_)
            | Op::Call(_)
            | Op::CallFunction(_)
            | Op::Builtin(_)
            | Op::Printf { .. }
            | Op::Device { .. }
            | Op::ContextLoad(_)
            | Op::ContextStore(_)
            | Op::Carry
            | Op::InsertDyn
            | Op::Routine(..) => return Err("`lower` expands the operation".into()),
            _ => {}
        }
        Ok(())
    }
}
