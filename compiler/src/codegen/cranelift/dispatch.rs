//! Which file an operation belongs to.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::parts::Repr;
use super::values::Gen;
use crate::codegen::Symbol;
use crate::diagnostic::Diagnostic;
use crate::ir::{Inst, Op};

impl Gen<'_> {
    /// Translates an instruction; addresses that it uses have been computed.
    pub fn inst(&mut self, inst: Inst) -> Result<(), Diagnostic> {
        self.spill_slots.free_all();
        let data = &self.func.insts[inst];
        let args = data.args.as_slice();
        let result = data.results.first().map(|&r| self.func.ty(r));
        let ty = || result.expect("an instruction with a result");
        let repr = match &data.op {
            Op::Const(bits) => self.constant(*bits, ty()),
            Op::GlobalAddr(global) => Repr::Scalar(self.address_of(Symbol::Global(*global))),
            Op::Unary(op) => self.unary(*op, args[0]),
            Op::Binary(op, _) => self.binary(*op, args[0], args[1]),
            Op::Fma => self.lanewise(args, |g, v| g.b.ins().fma(v[0], v[1], v[2])),
            Op::Lookup(table) => self.lookup(*table, args[0], ty()),
            Op::ICmp(cc) => self.icmp(*cc, args[0], args[1]),
            Op::FCmp(cc) => self.fcmp(*cc, args[0], args[1]),
            Op::Select => self.select(args[0], args[1], args[2]),
            Op::Convert(op, rounding) => self.convert(*op, *rounding, args[0], ty()),
            Op::Splat => self.splat(args[0], ty()),
            Op::Build => {
                let lanes: Vec<clif::Value> = args.iter().map(|&a| self.scalar(a)).collect();
                self.build(ty(), &lanes)
            }
            Op::Extract(lane) => Repr::Scalar(self.lane(args[0], *lane)),
            Op::Insert(lane) => {
                let mut lanes: Vec<clif::Value> =
                    (0..ty().lanes).map(|l| self.lane(args[0], l)).collect();
                lanes[usize::from(*lane)] = self.scalar(args[1]);
                self.build(ty(), &lanes)
            }
            Op::PtrAdd => self.ptr_add(args[0], args[1], ty()),
            Op::Load(mem) => {
                self.load(mem, inst);
                return Ok(());
            }
            Op::Store(mem) => {
                self.store(mem, args);
                return Ok(());
            }
            Op::AtomicRmw(op, _) => Repr::Scalar(self.atomic_rmw(*op, args, ty())),
            Op::AtomicCmpXchg(_) => Repr::Scalar(self.atomic_cmpxchg(args)),
            Op::AtomicLoad(_) => Repr::Scalar(self.atomic_load(args[0], ty())),
            Op::AtomicStore(atomic) => {
                self.atomic_store(atomic, args);
                return Ok(());
            }
            Op::Fence(fence) => {
                self.fence(fence);
                return Ok(());
            }
            Op::HostCall(function) => {
                let target = self.address_of(Symbol::Host(*function));
                match self.call_pointer(target, args, result) {
                    Some(value) => Repr::Scalar(value),
                    None => Repr::None,
                }
            }
            Op::FuncAddr(number) => Repr::Scalar(self.address_of(Symbol::Function(*number))),
            Op::NoImageAddr => Repr::Scalar(self.address_of(Symbol::NoImage)),
            Op::CallPointer => {
                let target = self.scalar(args[0]);
                match self.call_pointer(target, &args[1..], result) {
                    Some(value) => Repr::Scalar(value),
                    None => Repr::None,
                }
            }
            Op::LaneIds => {
                let lanes: Vec<u64> = (0..u64::from(ty().lanes)).collect();
                Repr::Vector(self.constant_lanes(ty(), &lanes))
            }
            Op::Deinterleave | Op::Interleave => {
                self.turned(inst);
                return Ok(());
            }
            Op::AnyTrue => Repr::Scalar(self.any_true(args[0])),
            Op::AllTrue => Repr::Scalar(self.all_true(args[0])),
            Op::MaskBits => {
                let bits = self.mask_bits(args[0]);
                Repr::Scalar(self.b.ins().uextend(types::I64, bits))
            }
            Op::Shuffle(mask) => self.shuffle_lanes(args[0], args[1], mask, ty()),
            Op::ExtractDyn => {
                let lanes = self.func.ty(args[0]).lanes;
                let number = self.scalar(args[1]);
                Repr::Scalar(self.extract_dyn(args[0], number, lanes))
            }
            Op::Permute => self.permute(args[0], args[1], ty()),
            other => {
                return Err(Diagnostic::new(format!(
                    "`{other}` cannot be generated code for"
                )));
            }
        };
        if let Some(&result) = data.results.first() {
            self.values[result] = repr;
        }
        Ok(())
    }
}
