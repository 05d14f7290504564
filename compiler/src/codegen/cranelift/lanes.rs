//! Lanes that are seen to one by one: arrays of them on the stack, loops over the set bits of a
//! mask; and calls.

use brolga_mathlib::Table;
use cranelift_codegen::ir::{self as clif, AbiParam, InstBuilder, condcodes::IntCC, types};

use super::parts::{Parts, Repr, lane_type, part_count, part_type};
use super::values::Gen;
use super::{POOL, SYMBOLS};
use crate::codegen::Symbol;
use crate::ir::{Type, Value};

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

    /// The entries of a table that lanes of integers number.
    pub fn lookup(&mut self, table: Table, number: Value, ty: Type) -> Repr {
        let entries = self.pool.table(table.entries());
        let flags = clif::MemFlagsData::trusted().with_readonly();
        let lanes: Vec<clif::Value> = (0..ty.lanes)
            .map(|lane| {
                let number = self.lane(number, lane);
                let number = self.b.ins().band_imm_u(number, 15);
                let offset = self.b.ins().imul_imm_u(number, 8);
                let address = self.b.ins().iadd(self.pool.base, offset);
                self.b.ins().load(types::F64, flags, address, entries)
            })
            .collect();
        self.build(ty, &lanes)
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

    /// An address that is known when the code is placed.
    pub fn address_of(&mut self, symbol: Symbol) -> clif::Value {
        let value = match self.symbols.values.get(&symbol) {
            Some(&value) => value,
            None => {
                let number = self.symbols.all.len() as u32;
                let value = self.named(clif::UserExternalName::new(SYMBOLS, number));
                self.symbols.all.push(symbol);
                self.symbols.values.insert(symbol, value);
                value
            }
        };
        self.b.ins().symbol_value(types::I64, value)
    }

    /// Takes the pool's address, in the entry block.
    pub fn enter_pool(&mut self) {
        let value = self.named(clif::UserExternalName::new(POOL, 0));
        self.pool.base = self.b.ins().symbol_value(types::I64, value);
    }

    fn named(&mut self, name: clif::UserExternalName) -> clif::GlobalValue {
        let name = self.b.func.declare_imported_user_function(name);
        self.b.create_global_value(clif::GlobalValueData::Symbol {
            name: clif::ExternalName::user(name),
            offset: 0.into(),
            colocated: false,
            tls: false,
        })
    }

    /// Calls what is at an address, by the host's C ABI.
    pub fn call_pointer(
        &mut self,
        target: clif::Value,
        args: &[Value],
        result: Option<Type>,
    ) -> Option<clif::Value> {
        let args: Vec<clif::Value> = args.iter().map(|&arg| self.scalar(arg)).collect();
        let mut sig = clif::Signature::new(self.call_conv);
        for &arg in &args {
            sig.params
                .push(AbiParam::new(self.b.func.dfg.value_type(arg)));
        }
        let result = result.map(|ty| AbiParam::new(lane_type(ty.scalar)));
        sig.returns.extend(result);
        let sig = self.b.import_signature(sig);
        let call = self.b.ins().call_indirect(sig, target, &args);
        self.b.inst_results(call).first().copied()
    }
}
