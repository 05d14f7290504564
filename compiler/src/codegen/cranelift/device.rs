//! Services of whoever runs the kernel: a call of the launch's function, for each active lane.
//!
//! What the function will read and write on behalf of the kernel is touched here first, at both its
//! ends: an address where there is nothing is then a fault of the kernel, like any other.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};

use super::lanes::LaneOperand;
use super::parts::{Repr, lane_type};
use super::values::Gen;
use crate::abi::Launch;
use crate::device::code;
use crate::ir::{DeviceOp, FuncId, Inst};

impl Gen<'_> {
    pub fn device(&mut self, what: DeviceOp, block: Option<FuncId>, masked: bool, inst: Inst) {
        let data = &self.func.insts[inst];
        let (operands, mask) = data.args.split_at(data.args.len() - usize::from(masked));
        let mask = mask.first().copied();
        let result = data.results.first().copied();
        let lanes = mask.map_or(1, |mask| self.func.ty(mask).lanes);
        let slot = self.stack_slot(8 * operands.len() as u32);
        let operands: Vec<LaneOperand> = operands.iter().map(|&value| self.spill(value)).collect();
        let ask = |g: &mut Self, lane: clif::Value| -> clif::Value {
            let mut all = Vec::with_capacity(operands.len());
            for (n, &operand) in operands.iter().enumerate() {
                let mut word = g.operand(operand, lane);
                if g.b.func.dfg.value_type(word) != types::I64 {
                    word = g.b.ins().uextend(types::I64, word);
                }
                g.b.ins().stack_store(types::I64, word, slot, 8 * n as i32);
                all.push(word);
            }
            g.touch_operands(what, &all);
            let launch = g.scalar(g.func.params()[0]);
            let flags = clif::MemFlagsData::trusted();
            let function = std::mem::offset_of!(Launch, device) as i32;
            let context = std::mem::offset_of!(Launch, device_context) as i32;
            let function = g.b.ins().load(types::I64, flags, launch, function);
            let context = g.b.ins().load(types::I64, flags, launch, context);
            let what = g.b.ins().iconst(types::I64, code(what, block) as i64);
            let words = g.b.ins().stack_addr(types::I64, slot, 0);
            let count = g.b.ins().iconst(types::I64, operands.len() as i64);
            let args = [context, what, words, count];
            g.call_pointer(function, &args, Some(types::I64))
                .expect("a service has an answer")
        };
        let narrow = |g: &mut Self, answer: clif::Value, ty: clif::Type| match ty {
            types::I64 => answer,
            ty => g.b.ins().ireduce(ty, answer),
        };
        let Some(result) = result else {
            let bits = self.active_bits(mask, lanes);
            self.for_set_bits(bits, |g, lane| {
                ask(g, lane);
            });
            return;
        };
        let ty = self.func.ty(result);
        let lane_ty = lane_type(ty.scalar);
        if lanes == 1 {
            let first = self.b.ins().iconst(types::I64, 0);
            let answer = |g: &mut Self| {
                let answer = ask(g, first);
                narrow(g, answer, lane_ty)
            };
            let value = match mask {
                None => answer(self),
                Some(mask) => {
                    let mask = self.scalar(mask);
                    self.if_set(mask, &[lane_ty], |g| vec![answer(g)])[0]
                }
            };
            self.values[result] = Repr::Scalar(value);
            return;
        }
        let bits = self.active_bits(mask, lanes);
        let array = self.result_array(ty);
        self.for_set_bits(bits, |g, lane| {
            let answer = ask(g, lane);
            let value = narrow(g, answer, lane_ty);
            g.set_result(array, lane, value);
        });
        let parts = self.reload(array, ty);
        self.values[result] = Repr::Vector(parts);
    }
    /// Touches the memory that operands point to.
    fn touch_operands(&mut self, what: DeviceOp, words: &[clif::Value]) {
        let handle = self.b.ins().iconst(types::I64, 8);
        // The count of events, where they are, where the one that is returned goes.
        let events = match what {
            DeviceOp::EnqueueKernel => &words[12..15],
            DeviceOp::EnqueueMarker => &words[1..4],
            DeviceOp::FailAssertion => {
                let some = self.b.ins().iconst(types::I64, 1);
                for text in [words[0], words[1], words[3]] {
                    self.touch(text, some);
                }
                return;
            }
            DeviceOp::CaptureProfilingInfo => {
                let times = self.b.ins().iconst(types::I64, 16);
                return self.touch(words[2], times);
            }
            _ => return,
        };
        let size = self.b.ins().imul(events[0], handle);
        self.touch(events[1], size);
        self.touch(events[2], handle);
        if what == DeviceOp::EnqueueKernel {
            self.touch(words[15], words[16]);
        }
    }

    /// Reads the first and the last of so many bytes, unless there are none or the address is null.
    fn touch(&mut self, address: clif::Value, size: clif::Value) {
        let zero = self.b.ins().iconst(types::I64, 0);
        let some = self.b.ins().icmp(IntCC::NotEqual, size, zero);
        let somewhere = self.b.ins().icmp(IntCC::NotEqual, address, zero);
        let both = self.b.ins().band(some, somewhere);
        self.if_set(both, &[], |g| {
            // Not trusted, so that they stay though nobody wants what they read.
            let flags = clif::MemFlagsData::new();
            g.b.ins().load(types::I8, flags, address, 0);
            let end = g.b.ins().iadd(address, size);
            g.b.ins().load(types::I8, flags, end, -1);
            Vec::new()
        });
    }
}
