//! Random SPIR-V modules that are valid: a corpus for mutation, and tests of the way from SPIR-V to
//! results.
//!
//! A kernel `k` reads a buffer of `WORDS` `uint`s and stores one for each work-item in another,
//! after arithmetic of every scalar and some vector types, conversions, variables, arrays,
//! branches, loops and switches with phis, calls and `OpenCL.std`. Floats become integers by
//! conversion only, so NaNs look the same in every engine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brolga_compiler::{BuildOptions, NdRange, spirv as reader};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, InsertPoint, Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionModel, FPRoundingMode,
    FunctionControl, LoopControl, MemoryModel, Op, SelectionControl, StorageClass, Word,
};

use crate::engines::{Arg, Case};
use crate::judge::{self, Verdict};

/// Elements of the buffer read.
const WORDS: u32 = 32;
/// Work-items.
const ITEMS: u64 = 21;

/// A type of values: its id, bits, and whether it is of floats; a vector has several lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ty {
    id: Word,
    bits: u32,
    float: bool,
    lanes: u32,
}

struct Build {
    rng: ChaCha8Rng,
    b: Builder,
    types: Vec<Ty>,
    boolean: Word,
    /// A Boolean vector for each type with lanes.
    booleans: Vec<(u32, Word)>,
    uint: Ty,
    std: Word,
    helper: Option<Word>,
    /// Values in scope.
    values: Vec<(Ty, Word)>,
    /// Variables in scope.
    variables: Vec<(Ty, Word)>,
    fuel: u32,
}

/// The module with this number.
pub fn module(seed: u64) -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 4);
    for capability in [
        Capability::Addresses,
        Capability::Kernel,
        Capability::Linkage,
        Capability::Int8,
        Capability::Int16,
        Capability::Int64,
        Capability::Float16,
        Capability::Float64,
        Capability::Vector16,
    ] {
        b.capability(capability);
    }
    let std = b.ext_inst_import("OpenCL.std");
    b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    let mut types = Vec::new();
    for bits in [8, 16, 32, 64] {
        let id = b.type_int(bits, 0);
        types.push(Ty {
            id,
            bits,
            float: false,
            lanes: 1,
        });
    }
    for bits in [16, 32, 64] {
        let id = b.type_float(bits, None);
        types.push(Ty {
            id,
            bits,
            float: true,
            lanes: 1,
        });
    }
    let boolean = b.type_bool();
    let mut booleans = vec![(1, boolean)];
    for lanes in [2, 3, 4] {
        booleans.push((lanes, b.type_vector(boolean, lanes)));
        let scalars: Vec<Ty> = types.iter().filter(|t| t.lanes == 1).copied().collect();
        for ty in scalars.into_iter().filter(|t| t.bits == 32) {
            let id = b.type_vector(ty.id, lanes);
            types.push(Ty { id, lanes, ..ty });
        }
    }
    let mut build = Build {
        rng: ChaCha8Rng::seed_from_u64(seed),
        b,
        uint: types[2],
        types,
        boolean,
        booleans,
        std,
        helper: None,
        values: Vec::new(),
        variables: Vec::new(),
        fuel: 0,
    };
    if build.rng.random_bool(0.5) {
        build.helper();
    }
    build.kernel();
    build.b.module().assemble()
}

/// Whether the compiler accepts a module of [`module`] and all engines run it alike.
///
/// # Errors
/// Why not.
pub fn judge(words: &[u32]) -> Result<(), String> {
    let options = BuildOptions::default();
    let translate = || reader::translate(&[words], &Default::default(), &options);
    let module = catch_unwind(AssertUnwindSafe(translate))
        .map_err(|panic| format!("panicked: {}", judge::panic_message(&*panic)))?
        .map_err(|why| format!("a valid module was refused: {why}"))?;
    let range = NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [ITEMS, 1, 1],
        local_size: [8, 1, 1],
    };
    let input = (0..WORDS).flat_map(|i| i.wrapping_mul(0x9e37_79b9).to_le_bytes());
    let args = vec![
        Arg::Buffer(input.collect()),
        Arg::Buffer(vec![0; 4 * ITEMS as usize]),
    ];
    match judge::compare(&Case::new(&module, 0, range, args), true) {
        Verdict::Same => Ok(()),
        Verdict::Differs(why) | Verdict::Invalid(why) => Err(why),
    }
}

impl Build {
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.random_range(0..from.len())]
    }

    fn ty(&mut self) -> Ty {
        let types = self.types.clone();
        self.pick(&types)
    }

    /// Appends an instruction with a result.
    fn ins(&mut self, op: Op, ty: Word, operands: &[Operand]) -> Word {
        let id = self.b.id();
        let inst = Instruction::new(op, Some(ty), Some(id), operands.to_vec());
        self.b
            .insert_into_block(InsertPoint::End, inst)
            .expect("a block is open");
        id
    }

    fn of(&mut self, op: Op, ty: Word, ids: &[Word]) -> Word {
        let operands: Vec<Operand> = ids.iter().map(|&id| Operand::IdRef(id)).collect();
        self.ins(op, ty, &operands)
    }

    fn constant(&mut self, ty: Ty) -> Word {
        let bits: u64 = match self.rng.random_range(0..3) {
            0 => self.rng.random_range(0..10),
            1 => self.rng.random(),
            _ => 1 << self.rng.random_range(0..ty.bits),
        };
        let scalar = Ty { lanes: 1, ..ty };
        let scalar = self
            .types
            .iter()
            .find(|t| t.bits == scalar.bits && t.float == ty.float && t.lanes == 1)
            .map_or(ty.id, |t| t.id);
        let low = match (ty.float, ty.bits) {
            (true, 16) => half::f16::from_f32(bits as i32 as f32 * 0.25)
                .to_bits()
                .into(),
            (true, 32) => (bits as i32 as f32 * 0.25).to_bits(),
            (false, 8) => bits as u32 & 0xff,
            (false, 16) => bits as u32 & 0xffff,
            _ => bits as u32,
        };
        let one = match (ty.float, ty.bits) {
            (true, 64) => self
                .b
                .constant_bit64(scalar, (bits as i32 as f64 * 0.25).to_bits()),
            (false, 64) => self.b.constant_bit64(scalar, bits),
            _ => self.b.constant_bit32(scalar, low),
        };
        if ty.lanes == 1 {
            one
        } else {
            self.b
                .constant_composite(ty.id, vec![one; ty.lanes as usize])
        }
    }

    fn value(&mut self, ty: Ty) -> Word {
        let known: Vec<Word> = self
            .values
            .iter()
            .filter(|v| v.0 == ty)
            .map(|v| v.1)
            .collect();
        if !known.is_empty() && self.rng.random_bool(0.8) {
            return self.pick(&known);
        }
        let others: Vec<(Ty, Word)> = self
            .values
            .iter()
            .filter(|v| v.0.lanes == ty.lanes && v.0 != ty)
            .copied()
            .collect();
        if others.is_empty() || self.rng.random_bool(0.4) {
            return self.constant(ty);
        }
        let (from, value) = self.pick(&others);
        let op = match (from.float, ty.float) {
            (true, true) => Op::FConvert,
            (true, false) => self.pick(&[Op::ConvertFToS, Op::ConvertFToU]),
            (false, true) => self.pick(&[Op::ConvertSToF, Op::ConvertUToF]),
            (false, false) => self.pick(&[Op::UConvert, Op::SConvert]),
        };
        let id = self.of(op, ty.id, &[value]);
        if from.float || ty.float {
            self.decorate_rounding(id);
        }
        self.values.push((ty, id));
        id
    }

    /// Gives some results a rounding mode.
    fn decorate_rounding(&mut self, id: Word) {
        if self.rng.random_bool(0.3) {
            let mode = self.pick(&[
                FPRoundingMode::RTE,
                FPRoundingMode::RTZ,
                FPRoundingMode::RTP,
                FPRoundingMode::RTN,
            ]);
            let operand = [Operand::FPRoundingMode(mode)];
            self.b.decorate(id, Decoration::FPRoundingMode, operand);
        }
    }

    fn compare(&mut self, ty: Ty) -> Word {
        let (a, b) = (self.value(ty), self.value(ty));
        let op = if ty.float {
            self.pick(&[
                Op::FOrdEqual,
                Op::FOrdLessThan,
                Op::FUnordGreaterThan,
                Op::FUnordNotEqual,
            ])
        } else {
            self.pick(&[
                Op::IEqual,
                Op::INotEqual,
                Op::SLessThan,
                Op::UGreaterThanEqual,
                Op::SGreaterThan,
            ])
        };
        let booleans = self.booleans.iter().find(|b| b.0 == ty.lanes);
        let result = booleans.map_or(self.boolean, |b| b.1);
        self.of(op, result, &[a, b])
    }

    fn condition(&mut self) -> Word {
        let scalars: Vec<Ty> = self
            .types
            .iter()
            .filter(|t| t.lanes == 1)
            .copied()
            .collect();
        let ty = self.pick(&scalars);
        self.compare(ty)
    }

    fn expression(&mut self) {
        let ty = self.ty();
        let (a, b) = (self.value(ty), self.value(ty));
        let id = match self.rng.random_range(0..8) {
            0..=3 if ty.float => {
                let op = self.pick(&[Op::FAdd, Op::FSub, Op::FMul, Op::FDiv]);
                let id = self.of(op, ty.id, &[a, b]);
                self.decorate_rounding(id);
                id
            }
            0..=3 => {
                let op = self.pick(&[
                    Op::IAdd,
                    Op::ISub,
                    Op::IMul,
                    Op::UDiv,
                    Op::SDiv,
                    Op::UMod,
                    Op::SRem,
                    Op::SMod,
                    Op::BitwiseAnd,
                    Op::BitwiseOr,
                    Op::BitwiseXor,
                    Op::ShiftLeftLogical,
                    Op::ShiftRightLogical,
                    Op::ShiftRightArithmetic,
                ]);
                self.of(op, ty.id, &[a, b])
            }
            4 => {
                let cond = self.compare(ty);
                self.of(Op::Select, ty.id, &[cond, a, b])
            }
            5 => {
                // Names of OpenCL.std: fabs, floor, fmax, sqrt; s_abs, s_max, u_min, clz, popcount,
                // rotate, u_mad_hi.
                let (number, count) = if ty.float {
                    self.pick(&[(23, 1), (25, 1), (27, 2), (61, 1)])
                } else {
                    self.pick(&[(141, 1), (156, 2), (159, 2), (151, 1), (166, 1), (161, 2)])
                };
                let mut operands = vec![
                    Operand::IdRef(self.std),
                    Operand::LiteralExtInstInteger(number),
                    Operand::IdRef(a),
                ];
                if count == 2 {
                    operands.push(Operand::IdRef(b));
                }
                self.ins(Op::ExtInst, ty.id, &operands)
            }
            6 if ty.lanes > 1 => {
                let lanes = (0..ty.lanes).map(|_| self.rng.random_range(0..2 * ty.lanes));
                let lanes: Vec<u32> = lanes.collect();
                let mut operands = vec![Operand::IdRef(a), Operand::IdRef(b)];
                operands.extend(lanes.into_iter().map(Operand::LiteralBit32));
                self.ins(Op::VectorShuffle, ty.id, &operands)
            }
            _ => match self.helper {
                Some(helper) => {
                    let uint = self.uint;
                    let (x, y) = (self.value(uint), self.value(uint));
                    let id = self.of(Op::FunctionCall, uint.id, &[helper, x, y]);
                    self.values.push((uint, id));
                    return;
                }
                None => {
                    let op = if ty.float { Op::FNegate } else { Op::Not };
                    self.of(op, ty.id, &[a])
                }
            },
        };
        self.values.push((ty, id));
    }

    fn variable_access(&mut self) {
        if self.variables.is_empty() {
            return;
        }
        let variables = self.variables.clone();
        let (ty, pointer) = self.pick(&variables);
        if self.rng.random_bool(0.5) {
            let id = self.of(Op::Load, ty.id, &[pointer]);
            self.values.push((ty, id));
        } else {
            let value = self.value(ty);
            self.b
                .store(pointer, value, None, [])
                .expect("a block is open");
        }
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..self.rng.random_range(1..6) {
            if self.fuel == 0 {
                return;
            }
            self.fuel -= 1;
            match self.rng.random_range(0..12) {
                0..=5 => self.expression(),
                6..=8 => self.variable_access(),
                9 if depth < 3 => self.branch(depth),
                10 if depth < 3 => self.repeat(depth),
                11 if depth < 3 => self.switch(depth),
                _ => self.expression(),
            }
        }
    }

    fn current(&self) -> Word {
        let function = &self.b.module_ref().functions[self.b.selected_function().expect("open")];
        let block = &function.blocks[self.b.selected_block().expect("open")];
        block
            .label
            .as_ref()
            .and_then(|l| l.result_id)
            .expect("a label")
    }

    /// Statements of a block of their own, which ends in a jump; gives its last block and a value.
    fn arm(&mut self, label: Word, after: Word, ty: Ty, depth: u32) -> (Word, Word) {
        let scope = self.values.len();
        self.b.begin_block(Some(label)).expect("no block is open");
        self.statements(depth + 1);
        let value = self.value(ty);
        let last = self.current();
        self.b.branch(after).expect("a block is open");
        self.values.truncate(scope);
        (value, last)
    }

    fn join(&mut self, label: Word, ty: Ty, from: Vec<(Word, Word)>) {
        self.b.begin_block(Some(label)).expect("no block is open");
        let id = self.b.phi(ty.id, None, from).expect("a block is open");
        self.values.push((ty, id));
    }

    fn branch(&mut self, depth: u32) {
        let (ty, cond) = (self.ty(), self.condition());
        let (then, els, after) = (self.b.id(), self.b.id(), self.b.id());
        if self.rng.random_bool(0.5) {
            let _ = self.b.selection_merge(after, SelectionControl::NONE);
        }
        self.b
            .branch_conditional(cond, then, els, [])
            .expect("a block is open");
        let from = vec![
            self.arm(then, after, ty, depth),
            self.arm(els, after, ty, depth),
        ];
        self.join(after, ty, from);
    }

    fn switch(&mut self, depth: u32) {
        let (ty, uint) = (self.ty(), self.uint);
        let (on, mask) = (self.value(uint), self.b.constant_bit32(uint.id, 3));
        let on = self.of(Op::BitwiseAnd, uint.id, &[on, mask]);
        let after = self.b.id();
        let labels: Vec<Word> = (0..3).map(|_| self.b.id()).collect();
        let cases = [(0, labels[0]), (2, labels[1])];
        let cases = cases.map(|(n, label)| (Operand::LiteralBit32(n), label));
        self.b
            .switch(on, labels[2], cases)
            .expect("a block is open");
        let from = labels
            .iter()
            .map(|&label| self.arm(label, after, ty, depth));
        let from = from.collect();
        self.join(after, ty, from);
    }

    /// A loop of up to three rounds that carries a value.
    fn repeat(&mut self, depth: u32) {
        let (ty, uint) = (self.ty(), self.uint);
        let (zero, one, three) = (
            self.b.constant_bit32(uint.id, 0),
            self.b.constant_bit32(uint.id, 1),
            self.b.constant_bit32(uint.id, 3),
        );
        let first = self.value(ty);
        let rounds = self.value(uint);
        let rounds = self.of(Op::BitwiseAnd, uint.id, &[rounds, three]);
        let before = self.current();
        let (header, body, latch, after) = (self.b.id(), self.b.id(), self.b.id(), self.b.id());
        let (count, carried) = (self.b.id(), self.b.id());
        let (next, value) = (self.b.id(), self.b.id());
        self.b.branch(header).expect("a block is open");
        self.b.begin_block(Some(header)).expect("no block is open");
        let _ = self
            .b
            .phi(uint.id, Some(count), vec![(zero, before), (next, latch)]);
        let _ = self
            .b
            .phi(ty.id, Some(carried), vec![(first, before), (value, latch)]);
        let more = self.of(Op::ULessThan, self.boolean, &[count, rounds]);
        let _ = self.b.loop_merge(after, latch, LoopControl::NONE, []);
        self.b
            .branch_conditional(more, body, after, [])
            .expect("a block is open");
        let scope = self.values.len();
        self.values.extend([(uint, count), (ty, carried)]);
        self.b.begin_block(Some(body)).expect("no block is open");
        self.statements(depth + 1);
        let last = self.value(ty);
        self.b.branch(latch).expect("a block is open");
        self.b.begin_block(Some(latch)).expect("no block is open");
        let sum = Instruction::new(
            Op::IAdd,
            Some(uint.id),
            Some(next),
            vec![Operand::IdRef(count), Operand::IdRef(one)],
        );
        let _ = self.b.insert_into_block(InsertPoint::End, sum);
        let copy = Instruction::new(
            Op::CopyObject,
            Some(ty.id),
            Some(value),
            vec![Operand::IdRef(last)],
        );
        let _ = self.b.insert_into_block(InsertPoint::End, copy);
        self.b.branch(header).expect("a block is open");
        self.values.truncate(scope);
        self.b.begin_block(Some(after)).expect("no block is open");
        self.values.push((ty, carried));
    }

    /// Variables of a function, with a value each.
    fn variables(&mut self) {
        self.variables.clear();
        let types: Vec<Ty> = (0..3).map(|_| self.ty()).collect();
        for ty in types {
            let pointer = self.b.type_pointer(None, StorageClass::Function, ty.id);
            let id = self.b.variable(pointer, None, StorageClass::Function, None);
            self.variables.push((ty, id));
        }
        for (ty, id) in self.variables.clone() {
            let value = self.value(ty);
            self.b.store(id, value, None, []).expect("a block is open");
        }
    }

    /// One `uint` of the values in scope.
    fn digest(&mut self) -> Word {
        let uint = self.uint;
        let mut sum = self.b.constant_bit32(uint.id, 1);
        let factor = self.b.constant_bit32(uint.id, 0x9e37_79b1);
        for (ty, mut id) in self.values.clone().into_iter().rev().take(12) {
            let mut scalar = ty;
            if ty.lanes > 1 {
                let found = self
                    .types
                    .iter()
                    .find(|t| t.bits == ty.bits && t.float == ty.float && t.lanes == 1);
                scalar = found.copied().unwrap_or(ty);
                let operands = [Operand::IdRef(id), Operand::LiteralBit32(1)];
                id = self.ins(Op::CompositeExtract, scalar.id, &operands);
            }
            if scalar.float {
                id = self.of(Op::ConvertFToS, uint.id, &[id]);
            } else if scalar != uint {
                id = self.of(Op::UConvert, uint.id, &[id]);
            }
            let product = self.of(Op::IMul, uint.id, &[sum, factor]);
            sum = self.of(Op::BitwiseXor, uint.id, &[product, id]);
        }
        sum
    }

    /// `uint f(uint, uint)`
    fn helper(&mut self) {
        let uint = self.uint;
        let ty = self.b.type_function(uint.id, [uint.id, uint.id]);
        let id = self
            .b
            .begin_function(uint.id, None, FunctionControl::NONE, ty)
            .expect("no function is open");
        for _ in 0..2 {
            let param = self.b.function_parameter(uint.id).expect("open");
            self.values.push((uint, param));
        }
        self.b.begin_block(None).expect("no block is open");
        self.variables();
        self.fuel = 10;
        self.statements(1);
        let sum = self.digest();
        self.b.ret_value(sum).expect("a block is open");
        self.b.end_function().expect("a function is open");
        self.values.clear();
        self.helper = Some(id);
    }

    fn kernel(&mut self) {
        let uint = self.uint;
        let ulong = self.types[3].id;
        let void = self.b.type_void();
        let global = self
            .b
            .type_pointer(None, StorageClass::CrossWorkgroup, uint.id);
        let ids = self.b.type_vector(ulong, 3);
        let ids_pointer = self.b.type_pointer(None, StorageClass::Input, ids);
        let variable = self
            .b
            .variable(ids_pointer, None, StorageClass::Input, None);
        self.b.decorate(
            variable,
            Decoration::BuiltIn,
            [Operand::BuiltIn(BuiltIn::GlobalInvocationId)],
        );
        let ty = self.b.type_function(void, [global, global]);
        let kernel = self
            .b
            .begin_function(void, None, FunctionControl::NONE, ty)
            .expect("no function is open");
        let input = self.b.function_parameter(global).expect("open");
        let output = self.b.function_parameter(global).expect("open");
        self.b
            .entry_point(ExecutionModel::Kernel, kernel, "k", [variable]);
        self.b.begin_block(None).expect("no block is open");
        // Variables come first in the block, but their first values need loads of these.
        self.variables();
        let ids = self.of(Op::Load, ids, &[variable]);
        let operands = [Operand::IdRef(ids), Operand::LiteralBit32(0)];
        let id = self.ins(Op::CompositeExtract, ulong, &operands);
        self.values.push((self.types[3], id));
        for _ in 0..2 {
            let mask = self.b.constant_bit64(ulong, u64::from(WORDS - 1));
            let ty = self.types[3];
            let index = self.value(ty);
            let index = self.of(Op::BitwiseAnd, ulong, &[index, mask]);
            let address = self.of(Op::InBoundsPtrAccessChain, global, &[input, index]);
            let operands = [
                Operand::IdRef(address),
                Operand::MemoryAccess(rspirv::spirv::MemoryAccess::ALIGNED),
                Operand::LiteralBit32(4),
            ];
            let value = self.ins(Op::Load, uint.id, &operands);
            self.values.push((uint, value));
        }
        self.fuel = 40;
        self.statements(0);
        self.statements(0);
        let sum = self.digest();
        let address = self.of(Op::InBoundsPtrAccessChain, global, &[output, id]);
        let aligned = Some(rspirv::spirv::MemoryAccess::ALIGNED);
        self.b
            .store(address, sum, aligned, [Operand::LiteralBit32(4)])
            .expect("a block is open");
        self.b.ret().expect("a block is open");
        self.b.end_function().expect("a function is open");
    }
}
