//! Which file an operation belongs to.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::parts::Repr;
use super::values::Gen;
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
            Op::GlobalAddr(global) => Repr::Scalar(
                self.b
                    .ins()
                    .iconst(types::I64, self.globals[*global] as i64),
            ),
            Op::Unary(op) => self.unary(*op, args[0]),
            Op::Binary(op, _) => self.binary(*op, args[0], args[1]),
            Op::Fma => self.lanewise(args, |g, v| g.b.ins().fma(v[0], v[1], v[2])),
            Op::Rounded(op, rounding) => self.rounded(*op, *rounding, args),
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
            Op::MemCopy { size, masked, .. } => {
                let size = self.b.ins().iconst(types::I64, *size as i64);
                self.mem_copy(args[0], args[1], size, masked.then(|| args[2]));
                return Ok(());
            }
            Op::MemCopyDyn { masked, .. } => {
                self.mem_copy_dyn(args[0], args[1], args[2], masked.then(|| args[3]));
                return Ok(());
            }
            Op::AtomicRmw(op, atomic) => match self.combined_rmw(inst, *op, atomic) {
                Some(done) => done,
                None => self.atomic(inst, atomic.masked, |g, v| {
                    g.atomic_rmw(*op, atomic, ty(), v)
                }),
            },
            Op::AtomicCmpXchg(atomic) => {
                self.atomic(inst, atomic.masked, |g, v| g.atomic_cmpxchg(atomic, v))
            }
            Op::AtomicLoad(atomic) => {
                self.atomic(inst, atomic.masked, |g, v| g.atomic_load(atomic, ty(), v))
            }
            Op::AtomicStore(atomic) => {
                self.atomic(inst, atomic.masked, |g, v| g.atomic_store(atomic, v))
            }
            Op::ImageRead(image) => {
                self.image_read(*image, inst);
                return Ok(());
            }
            Op::ImageWrite(image) => {
                self.image_write(*image, args);
                return Ok(());
            }
            Op::ImageQuery(field) => self.image_query(*field, args[0], ty()),
            // One thread runs the whole work-group, so that its work-items are in order already.
            Op::Fence(fence) | Op::Barrier(fence) => {
                self.fence(fence);
                return Ok(());
            }
            Op::Printf { masked } => {
                let (args, mask) = if *masked {
                    let (mask, rest) = args.split_last().expect("a mask");
                    (rest, Some(*mask))
                } else {
                    (args, None)
                };
                let lanes = ty().lanes;
                self.printf(args, mask, lanes);
                self.constant(0, ty())
            }
            Op::Device {
                what,
                block,
                masked,
            } => {
                self.device(*what, *block, *masked, inst);
                return Ok(());
            }
            Op::LaneIds => {
                let lanes: Vec<u64> = (0..u64::from(ty().lanes)).collect();
                Repr::Vector(self.constant_lanes(ty(), &lanes))
            }
            Op::AnyTrue => {
                let bits = self.active_bits(Some(args[0]), self.func.ty(args[0]).lanes);
                Repr::Scalar(
                    self.b
                        .ins()
                        .icmp_imm_u(clif::condcodes::IntCC::NotEqual, bits, 0),
                )
            }
            Op::AllTrue => {
                let lanes = self.func.ty(args[0]).lanes;
                let bits = self.active_bits(Some(args[0]), lanes);
                Repr::Scalar(self.b.ins().icmp_imm_u(
                    clif::condcodes::IntCC::Equal,
                    bits,
                    (1i64 << lanes) - 1,
                ))
            }
            Op::Clock => {
                let clock = crate::codegen::host::clock as *const () as usize;
                let now = self.call(clock, &[], Some(types::I64));
                Repr::Scalar(now.expect("a clock has a result"))
            }
            Op::MaskBits => {
                let bits = self.active_bits(Some(args[0]), self.func.ty(args[0]).lanes);
                Repr::Scalar(self.b.ins().uextend(types::I64, bits))
            }
            Op::Shuffle(mask) => self.shuffle_lanes(args[0], args[1], mask, ty()),
            Op::ExtractDyn => {
                let lanes = self.func.ty(args[0]).lanes;
                let number = self.scalar(args[1]);
                Repr::Scalar(self.extract_dyn(args[0], number, lanes))
            }
            Op::Permute => self.permute(args[0], args[1], ty()),
            Op::Routine(routine, format) => {
                let (mask, args) = args.split_last().expect("a mask");
                self.routine(routine.target(*format).address(), args, *mask, ty())
            }
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
