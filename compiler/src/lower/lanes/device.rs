//! Services of whoever runs the kernel: a call of the launch's function, for each active lane.
//!
//! What the function will read and write on behalf of the kernel is touched here first, at both its
//! ends: an address where there is nothing is then a fault of the kernel, like any other.

use std::mem::offset_of;

use smallvec::smallvec;

use super::Expander;
use crate::abi::Launch;
use crate::device::code;
use crate::ir::{BinOp, DeviceOp, FuncId, IntCC, Mem, Op, Scalar, Type, Value};
use crate::kernel_info::AddressSpace;
use crate::lower::replay::Values;

impl Expander<'_, '_> {
    pub(super) fn device(
        &mut self,
        what: DeviceOp,
        block: Option<FuncId>,
        args: &[Value],
        mask: Option<Value>,
        results: &[Type],
    ) -> Values {
        let record = self.memory(8 * args.len() as u32);
        self.each_lane(args, mask, results, |e, args| {
            let words = args.iter().enumerate().map(|(n, &arg)| {
                let word = e.as_bits(arg, Scalar::I64);
                e.set_field(record, 8 * n as u64, word);
                word
            });
            let words: Vec<Value> = words.collect();
            e.touch_operands(what, args, &words);
            let function = e.launch_field(offset_of!(Launch, device));
            let context = e.launch_field(offset_of!(Launch, device_context));
            let code = e.b.iconst(Type::I64, code(what, block));
            let count = e.b.iconst(Type::I64, args.len() as u64);
            let call = [function, context, code, record, count];
            let answer = e.b.val(Op::CallPointer, &call, Type::I64);
            match results.first() {
                Some(ty) => smallvec![e.low_bits(answer, ty.scalar)],
                None => Values::new(),
            }
        })
    }

    /// Touches the memory that operands point to. `words` are their bits.
    fn touch_operands(&mut self, what: DeviceOp, args: &[Value], words: &[Value]) {
        // The count of events; then where they are, and where the one that is returned goes.
        let events = match what {
            DeviceOp::EnqueueKernel => 12,
            DeviceOp::EnqueueMarker => 1,
            DeviceOp::FailAssertion => {
                let some = self.b.iconst(Type::I64, 1);
                for text in [0, 1, 3] {
                    self.touch(args[text], some);
                }
                return;
            }
            DeviceOp::CaptureProfilingInfo => {
                let times = self.b.iconst(Type::I64, 16);
                return self.touch(args[2], times);
            }
            _ => return,
        };
        let size = self.b.binary_imm(BinOp::IMul, words[events], 8);
        self.touch(args[events + 1], size);
        let handle = self.b.iconst(Type::I64, 8);
        self.touch(args[events + 2], handle);
        if what == DeviceOp::EnqueueKernel {
            self.touch(args[15], words[16]);
        }
    }

    /// Reads the first and the last of so many bytes, unless there are none or the address is null.
    fn touch(&mut self, address: Value, size: Value) {
        let some = self.b.icmp_imm(IntCC::Ne, size, 0);
        let somewhere = self.b.icmp_imm(IntCC::Ne, address, 0);
        let both = self.b.binary(BinOp::And, some, somewhere);
        self.if_set(both, &[], |e| {
            // They stay though nobody wants what they read.
            let mem = Mem {
                volatile: true,
                ..Mem::new(AddressSpace::Global, 1)
            };
            e.b.load(mem, address, Type::I8);
            let last = e.b.binary_imm(BinOp::ISub, size, 1);
            let last = e.b.ptr_add(address, last);
            e.b.load(mem, last, Type::I8);
            Values::new()
        });
    }
}
