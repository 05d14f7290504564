//! What vectors cannot do: work lane by lane, and calls.
//!
//! A loop over the set bits of a mask spills its operands to the stack once, as arrays of lanes,
//! and indexes them with the lane's number: code as long for 16 lanes as for 4.

use cranelift_codegen::ir::{self as clif, AbiParam, InstBuilder, condcodes::IntCC, types};

use super::parts::{Parts, Repr, lane_type, part_count, part_type};
use super::values::Gen;
use crate::ir::{Scalar, Type, Value};

/// An array of lanes on the stack.
#[derive(Clone, Copy)]
pub struct Spilled {
    slot: clif::StackSlot,
    ty: clif::Type,
}

/// An operand of a lane loop.
#[derive(Clone, Copy)]
pub enum LaneOperand {
    /// The same in every lane.
    Same(clif::Value),
    PerLane(Spilled),
}

impl Gen<'_> {
    /// Puts a value where a lane loop can index it.
    pub fn spill(&mut self, value: Value) -> LaneOperand {
        match self.values[value].clone() {
            Repr::Scalar(v) => LaneOperand::Same(v),
            Repr::Constant(bits) => {
                LaneOperand::Same(self.scalar_constant(bits, self.func.ty(value).scalar))
            }
            Repr::Vector(parts) => {
                let slot = self.stack_slot(16 * parts.len() as u32);
                for (i, part) in parts.iter().enumerate() {
                    self.b
                        .ins()
                        .stack_store(types::I64, *part, slot, 16 * i as i32);
                }
                LaneOperand::PerLane(Spilled {
                    slot,
                    ty: lane_type(self.func.ty(value).scalar),
                })
            }
            _ => {
                let parts = self.mask(value, 8);
                let one = self.b.ins().iconst(types::I8, 1);
                let ones = self.b.ins().splat(types::I8X16, one);
                let slot = self.stack_slot(16 * parts.len() as u32);
                for (i, part) in parts.iter().enumerate() {
                    let bit = self.b.ins().band(*part, ones);
                    self.b
                        .ins()
                        .stack_store(types::I64, bit, slot, 16 * i as i32);
                }
                LaneOperand::PerLane(Spilled {
                    slot,
                    ty: types::I8,
                })
            }
        }
    }

    /// An array for results, zeroed.
    pub fn result_array(&mut self, ty: Type) -> Spilled {
        let count = part_count(ty.lanes, ty.scalar.bits().max(8));
        let slot = self.stack_slot(16 * count as u32);
        let zero = self.b.ins().iconst(types::I64, 0);
        let zeros = self.b.ins().splat(types::I64X2, zero);
        for i in 0..count {
            self.b
                .ins()
                .stack_store(types::I64, zeros, slot, 16 * i as i32);
        }
        Spilled {
            slot,
            ty: lane_type(ty.scalar),
        }
    }

    /// Reads a results array back as the parts of a value.
    pub fn reload(&mut self, array: Spilled, ty: Type) -> Parts {
        let part = part_type(ty.scalar);
        (0..part_count(ty.lanes, ty.scalar.bits().max(8)))
            .map(|i| {
                self.b
                    .ins()
                    .stack_load(types::I64, part, array.slot, 16 * i as i32)
            })
            .collect()
    }

    fn lane_address(&mut self, array: Spilled, lane: clif::Value) -> clif::Value {
        let base = self.b.ins().stack_addr(types::I64, array.slot, 0);
        let offset = self.b.ins().imul_imm_u(lane, i64::from(array.ty.bytes()));
        self.b.ins().iadd(base, offset)
    }

    /// The operand in lane `lane` (an `i64`).
    pub fn operand(&mut self, operand: LaneOperand, lane: clif::Value) -> clif::Value {
        match operand {
            LaneOperand::Same(v) => v,
            LaneOperand::PerLane(array) => {
                let address = self.lane_address(array, lane);
                self.b
                    .ins()
                    .load(array.ty, clif::MemFlagsData::trusted(), address, 0)
            }
        }
    }

    /// [`Gen::operand`] in as many lanes as a vector has, from `lane` on.
    pub fn operand_run(
        &mut self,
        operand: LaneOperand,
        lane: clif::Value,
        part: clif::Type,
    ) -> clif::Value {
        match operand {
            LaneOperand::Same(v) => self.b.ins().splat(part, v),
            LaneOperand::PerLane(array) => {
                let address = self.lane_address(array, lane);
                self.b
                    .ins()
                    .load(part, clif::MemFlagsData::new(), address, 0)
            }
        }
    }

    /// Sets the lanes from `lane` on.
    pub fn set_result(&mut self, array: Spilled, lane: clif::Value, value: clif::Value) {
        let address = self.lane_address(array, lane);
        // A run of lanes is not aligned as a vector.
        self.b
            .ins()
            .store(clif::MemFlagsData::new(), value, address, 0);
    }

    /// Runs `body` for the lanes whose bit is set in `bits` (an `i32`), lowest first; `body` gets
    /// the lane as an `i64`.
    pub fn for_set_bits(&mut self, bits: clif::Value, body: impl FnOnce(&mut Self, clif::Value)) {
        let head = self.b.create_block();
        let work = self.b.create_block();
        let done = self.b.create_block();
        let left = self.b.append_block_param(head, types::I32);
        self.b.ins().jump(head, &[bits.into()]);
        self.b.switch_to_block(head);
        self.b.ins().brif(left, work, &[], done, &[]);
        self.b.switch_to_block(work);
        let lane = self.b.ins().ctz(left);
        let lane = self.b.ins().uextend(types::I64, lane);
        body(self, lane);
        let less = self.b.ins().iadd_imm_s(left, -1);
        let rest = self.b.ins().band(left, less);
        self.b.ins().jump(head, &[rest.into()]);
        self.b.switch_to_block(done);
    }

    /// [`Gen::for_set_bits`] that takes `run` neighbours together where their bits are set. `body`
    /// is emitted for either, with the first lane and how many there are.
    pub fn for_set_runs(
        &mut self,
        bits: clif::Value,
        run: u8,
        body: impl Fn(&mut Self, clif::Value, u8),
    ) {
        if run < 2 {
            return self.for_set_bits(bits, |g, lane| body(g, lane, 1));
        }
        let whole = (1i64 << run) - 1;
        let (head, work) = (self.b.create_block(), self.b.create_block());
        let (some, one, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let left = self.b.append_block_param(head, types::I32);
        self.b.ins().jump(head, &[bits.into()]);
        self.b.switch_to_block(head);
        self.b.ins().brif(left, work, &[], done, &[]);
        self.b.switch_to_block(work);
        let first = self.b.ins().ctz(left);
        let lane = self.b.ins().uextend(types::I64, first);
        let from_here = self.b.ins().ushr(left, first);
        let neighbours = self.b.ins().band_imm_u(from_here, whole);
        let all = self.b.ins().icmp_imm_u(IntCC::Equal, neighbours, whole);
        self.b.ins().brif(all, some, &[], one, &[]);
        for (block, count) in [(some, run), (one, 1)] {
            self.b.switch_to_block(block);
            body(self, lane, count);
            let taken = (1i64 << count) - 1;
            let taken = self.b.ins().iconst(types::I32, taken);
            let taken = self.b.ins().ishl(taken, first);
            let rest = self.b.ins().band_not(left, taken);
            self.b.ins().jump(head, &[rest.into()]);
        }
        self.b.switch_to_block(done);
    }

    /// The set bits of a mask operand, or of every lane when there is none.
    pub fn active_bits(&mut self, mask: Option<Value>, lanes: u8) -> clif::Value {
        match mask {
            Some(mask) => match self.values[mask] {
                Repr::Scalar(bit) => {
                    let wide = self.b.ins().uextend(types::I32, bit);
                    if lanes == 1 {
                        wide
                    } else {
                        let none = self.b.ins().ineg(wide);
                        self.b.ins().band_imm_u(none, (1i64 << lanes) - 1)
                    }
                }
                _ => self.mask_bits(mask),
            },
            None => self.b.ins().iconst(types::I32, (1i64 << lanes) - 1),
        }
    }

    /// Runs `body` unless a one-lane mask is clear, yielding zeros then.
    pub fn if_set(
        &mut self,
        mask: clif::Value,
        results: &[clif::Type],
        body: impl FnOnce(&mut Self) -> Vec<clif::Value>,
    ) -> Vec<clif::Value> {
        let (work, done) = (self.b.create_block(), self.b.create_block());
        let params: Vec<clif::Value> = results
            .iter()
            .map(|&ty| self.b.append_block_param(done, ty))
            .collect();
        let zeros: Vec<clif::BlockArg> = results.iter().map(|&ty| self.zero(ty).into()).collect();
        self.b.ins().brif(mask, work, &[], done, &zeros);
        self.b.switch_to_block(work);
        // Masks repacked in the branch do not reach past it.
        let known = self.known.mark();
        let values: Vec<clif::BlockArg> = body(self).into_iter().map(Into::into).collect();
        self.known.forget_since(known);
        self.b.ins().jump(done, &values);
        self.b.switch_to_block(done);
        params
    }

    /// Zero of a scalar or 128-bit type.
    pub fn zero(&mut self, ty: clif::Type) -> clif::Value {
        match ty {
            types::F32 => self.b.ins().f32const(0.0),
            types::F64 => self.b.ins().f64const(0.0),
            ty if ty.is_vector() => {
                let zero = self.b.func.dfg.constants.insert(vec![0u8; 16].into());
                self.b.ins().vconst(ty, zero)
            }
            ty => self.b.ins().iconst(ty, 0),
        }
    }

    /// Calls a function of this process with the host's C ABI.
    pub fn call(
        &mut self,
        address: usize,
        args: &[clif::Value],
        result: Option<clif::Type>,
    ) -> Option<clif::Value> {
        let target = self.b.ins().iconst(types::I64, address as i64);
        self.call_pointer(target, args, result)
    }

    /// [`Gen::call`] of an address that is a value.
    pub fn call_pointer(
        &mut self,
        target: clif::Value,
        args: &[clif::Value],
        result: Option<clif::Type>,
    ) -> Option<clif::Value> {
        let mut sig = clif::Signature::new(self.call_conv);
        for &arg in args {
            sig.params
                .push(AbiParam::new(self.b.func.dfg.value_type(arg)));
        }
        sig.returns.extend(result.map(AbiParam::new));
        let sig = self.b.import_signature(sig);
        let call = self.b.ins().call_indirect(sig, target, args);
        self.b.inst_results(call).first().copied()
    }

    /// A routine of the built-in library, for each lane whose mask bit is set.
    pub fn routine(&mut self, address: usize, args: &[Value], mask: Value, result: Type) -> Repr {
        let ret = lane_type(result.scalar);
        if result.lanes == 1 {
            let args: Vec<clif::Value> = args.iter().map(|&a| self.scalar(a)).collect();
            let mask = self.scalar(mask);
            let values = self.if_set(mask, &[ret], |g| {
                vec![g.call(address, &args, Some(ret)).expect("a result")]
            });
            return Repr::Scalar(values[0]);
        }
        // The operands are spilled only when some lane needs the routine.
        let bits = self.active_bits(Some(mask), result.lanes);
        let count = part_count(result.lanes, result.scalar.bits());
        let part = part_type(result.scalar);
        let any = self.b.ins().icmp_imm_u(IntCC::NotEqual, bits, 0);
        let parts = self.if_set(any, &vec![part; count], |g| {
            let operands: Vec<LaneOperand> = args.iter().map(|&a| g.spill(a)).collect();
            let array = g.result_array(result);
            g.for_set_bits(bits, |g, lane| {
                let args: Vec<clif::Value> = operands.iter().map(|&o| g.operand(o, lane)).collect();
                let value = g.call(address, &args, Some(ret)).expect("a result");
                g.set_result(array, lane, value);
            });
            g.reload(array, result).to_vec()
        });
        Repr::Vector(parts.into_iter().collect())
    }

    /// `printf`: hands each active lane's arguments to the launch's sink; the result is 0.
    pub fn printf(&mut self, args: &[Value], mask: Option<Value>, lanes: u8) {
        let launch = self.scalar(self.func.params()[0]);
        let (format, args) = (args[0], &args[1..]);
        // Every argument is described as one lane; vectors were split and are consumed lane by
        // lane.
        let types: Vec<u8> = args
            .iter()
            .flat_map(|&a| [crate::codegen::host::printf_code(self.func.ty(a).scalar), 1])
            .collect();
        let types_slot = self.stack_slot(types.len() as u32);
        for (i, pair) in types.chunks(2).enumerate() {
            let pair = self.b.ins().iconst(
                types::I16,
                i64::from(u16::from_le_bytes([pair[0], pair[1]])),
            );
            self.b
                .ins()
                .stack_store(types::I64, pair, types_slot, 2 * i as i32);
        }
        let values_slot = self.stack_slot(8 * args.len() as u32);
        let format = self.spill(format);
        let operands: Vec<(Scalar, LaneOperand)> = args
            .iter()
            .map(|&a| (self.func.ty(a).scalar, self.spill(a)))
            .collect();
        let bits = self.active_bits(mask, lanes);
        self.for_set_bits(bits, |g, lane| {
            for (i, &(scalar, operand)) in operands.iter().enumerate() {
                let mut value = g.operand(operand, lane);
                if scalar.is_float() && scalar != Scalar::F16 {
                    value = g.b.ins().bitcast(
                        lane_type(scalar.as_int()),
                        clif::MemFlagsData::new(),
                        value,
                    );
                }
                if g.b.func.dfg.value_type(value) != types::I64 {
                    value = g.b.ins().uextend(types::I64, value);
                }
                g.b.ins()
                    .stack_store(types::I64, value, values_slot, 8 * i as i32);
            }
            let flags = clif::MemFlagsData::trusted();
            let sink = std::mem::offset_of!(crate::abi::Launch, printf) as i32;
            let context = std::mem::offset_of!(crate::abi::Launch, printf_context) as i32;
            let sink = g.b.ins().load(types::I64, flags, launch, sink);
            let context = g.b.ins().load(types::I64, flags, launch, context);
            let format = g.operand(format, lane);
            let types = g.b.ins().stack_addr(types::I64, types_slot, 0);
            let values = g.b.ins().stack_addr(types::I64, values_slot, 0);
            let count = g.b.ins().iconst(types::I64, operands.len() as i64);
            g.call_pointer(sink, &[context, format, types, values, count], None);
        });
    }
}
