//! Register allocation by regalloc2: what it is told of the code.

use std::cell::Cell;
use std::ops::Deref;
use std::sync::OnceLock;

use regalloc2::{
    Algorithm, Block, Ctx, Function, Inst, InstRange, MachineEnv, Operand, Output, PReg, PRegSet,
    RegAllocError, RegClass, RegallocOptions, VReg,
};

use super::inst::{self, RAX, RBP, RBX, RSP, gpr, kreg, zmm};
use super::vcode::VCode;
use crate::codegen::allocator::Allocator;
use crate::target::Isa;

/// General registers that a function must leave as they were, but for rsp and rbp.
pub const CALLEE_SAVED: [u8; 5] = [RBX, 12, 13, 14, 15];

thread_local! {
    /// The allocator's memory, to be used again: for a small kernel, getting it takes most of the
    /// time.
    static SPARE: Cell<Option<Box<Ctx>>> = const { Cell::new(None) };
}

/// The memory is kept after functions of so many instructions at most, which take some megabytes.
const MOST_KEPT: usize = 10_000;

/// Where everything is. Its memory is the next function's.
pub struct Allocated {
    memory: Option<Box<Ctx>>,
    kept: bool,
}

/// The code as regalloc2 asks for it.
pub struct Allocatable<'a> {
    code: &'a VCode,
    operands: Vec<Operand>,
    /// Where each instruction's operands end.
    ends: Vec<u32>,
    succs: Vec<Block>,
    succ_ends: Vec<u32>,
    preds: Vec<Block>,
    pred_ends: Vec<u32>,
    /// Spill slots of a vector register, 8 bytes each.
    vector_slots: usize,
    isa: Isa,
}

impl<'a> Allocatable<'a> {
    pub fn new(code: &'a VCode, vector_bytes: u32, isa: Isa) -> Allocatable<'a> {
        let mut operands = Vec::with_capacity(code.insts.len() * 3);
        let mut ends = Vec::with_capacity(code.insts.len());
        for inst in &code.insts {
            inst.operands(&mut |operand| operands.push(operand));
            ends.push(operands.len() as u32);
        }
        let count = code.blocks.len();
        let mut succs = Vec::new();
        let mut succ_ends = Vec::with_capacity(count);
        let mut pred_ends = vec![0u32; count + 1];
        for block in &code.blocks {
            for target in &block.targets {
                succs.push(target.block);
                pred_ends[target.block.index() + 1] += 1;
            }
            succ_ends.push(succs.len() as u32);
        }
        for n in 0..count {
            pred_ends[n + 1] += pred_ends[n];
        }
        let mut next = pred_ends.clone();
        let mut preds = vec![Block::invalid(); succs.len()];
        for (n, block) in code.blocks.iter().enumerate() {
            for target in &block.targets {
                let at = &mut next[target.block.index()];
                preds[*at as usize] = Block::new(n);
                *at += 1;
            }
        }
        Allocatable {
            code,
            operands,
            ends,
            succs,
            succ_ends,
            preds,
            pred_ends: pred_ends[1..].to_vec(),
            vector_slots: vector_bytes as usize / 8,
            isa,
        }
    }

    pub fn allocate(&self, allocator: Allocator) -> Result<Allocated, RegAllocError> {
        let options = RegallocOptions {
            verbose_log: false,
            validate_ssa: cfg!(debug_assertions),
            algorithm: match allocator {
                Allocator::Backtracking => Algorithm::Ion,
                Allocator::SinglePass => Algorithm::Fastalloc,
            },
        };
        let mut memory = SPARE.take().unwrap_or_default();
        regalloc2::run_with_ctx(self, machine(self.isa), &options, &mut memory)?;
        #[cfg(all(feature = "allocation-checker", debug_assertions))]
        self.check(&memory.output);
        Ok(Allocated {
            memory: Some(memory),
            kept: self.code.insts.len() <= MOST_KEPT,
        })
    }

    /// Proves that every use finds its value where the allocation says it is. Takes time and memory
    /// by the square of a function's blocks, so long functions are let off.
    #[cfg(all(feature = "allocation-checker", debug_assertions))]
    fn check(&self, output: &Output) {
        const MOST_BLOCKS: usize = 300;
        const MOST_INSTRUCTIONS: usize = 10_000;
        let code = self.code;
        if code.blocks.len() > MOST_BLOCKS || code.insts.len() > MOST_INSTRUCTIONS {
            return;
        }
        let mut checker = regalloc2::checker::Checker::new(self, machine(self.isa));
        checker.prepare(output);
        if let Err(errors) = checker.run() {
            panic!("the allocation is wrong: {errors:?}\n{:#?}", self.code);
        }
    }
}

impl Deref for Allocated {
    type Target = Output;

    fn deref(&self) -> &Output {
        &self
            .memory
            .as_ref()
            .expect("it is there until dropped")
            .output
    }
}

impl Drop for Allocated {
    fn drop(&mut self) {
        SPARE.set(self.memory.take().filter(|_| self.kept));
    }
}

fn part<'a, T>(all: &'a [T], ends: &[u32], n: usize) -> &'a [T] {
    let begin = match n.checked_sub(1) {
        Some(before) => ends[before] as usize,
        None => 0,
    };
    &all[begin..ends[n] as usize]
}

impl Function for Allocatable<'_> {
    fn num_insts(&self) -> usize {
        self.code.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.code.blocks.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        let range = &self.code.blocks[block.index()].insts;
        InstRange::new(Inst::new(range.start), Inst::new(range.end))
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        part(&self.succs, &self.succ_ends, block.index())
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        part(&self.preds, &self.pred_ends, block.index())
    }

    fn block_params(&self, block: Block) -> &[VReg] {
        &self.code.blocks[block.index()].params
    }

    fn is_ret(&self, inst: Inst) -> bool {
        matches!(self.code.insts[inst.index()], inst::Inst::Return(_))
    }

    fn is_branch(&self, inst: Inst) -> bool {
        self.code.insts[inst.index()].is_branch()
    }

    fn branch_blockparams(&self, block: Block, _: Inst, successor: usize) -> &[VReg] {
        &self.code.blocks[block.index()].targets[successor].args
    }

    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        part(&self.operands, &self.ends, inst.index())
    }

    fn inst_clobbers(&self, inst: Inst) -> PRegSet {
        match &self.code.insts[inst.index()] {
            inst::Inst::Call(call) => {
                let mut lost = if call.preserves {
                    PRegSet::empty().with(gpr(RAX))
                } else {
                    caller_saved(self.isa)
                };
                if let Some((_, at)) = call.result {
                    lost.remove(at);
                }
                lost
            }
            inst::Inst::Fixed(fixed) => {
                let mut lost = PRegSet::empty();
                for &reg in &fixed.clobbers {
                    lost.add(reg);
                }
                lost
            }
            _ => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.code.vregs
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        if class == inst::VECTOR {
            self.vector_slots
        } else {
            1
        }
    }
}

/// How many vector registers there are.
fn vectors(isa: Isa) -> u8 {
    if isa < Isa::Avx512 { 16 } else { 32 }
}

/// How many mask registers there are.
fn masks(isa: Isa) -> u8 {
    if isa < Isa::Avx512 { 0 } else { 8 }
}

/// How many registers of a class there are to allocate.
pub fn available(class: RegClass, isa: Isa) -> usize {
    let machine = machine(isa);
    let count = |sets: &[PRegSet; 3]| sets[class as usize].into_iter().count();
    count(&machine.preferred_regs_by_class) + count(&machine.non_preferred_regs_by_class)
}

/// The registers that a call loses.
fn caller_saved(isa: Isa) -> PRegSet {
    let mut lost = PRegSet::empty();
    for n in (0..16).filter(|n| *n != RSP && *n != RBP && !CALLEE_SAVED.contains(n)) {
        lost.add(gpr(n));
    }
    (0..vectors(isa)).for_each(|n| lost.add(zmm(n)));
    (1..masks(isa)).for_each(|n| lost.add(kreg(n)));
    lost
}

/// The registers there are. Those are preferred that need not be saved, and whose encoding is
/// shorter. Mask register 0 means no mask where it is encoded; rbp is the frame's.
fn machine(isa: Isa) -> &'static MachineEnv {
    static AVX2: OnceLock<MachineEnv> = OnceLock::new();
    static AVX512: OnceLock<MachineEnv> = OnceLock::new();
    let machine = match isa {
        Isa::Avx512 => &AVX512,
        _ => &AVX2,
    };
    machine.get_or_init(|| {
        let set = |regs: &mut dyn Iterator<Item = PReg>| {
            let mut set = PRegSet::empty();
            regs.for_each(|reg| set.add(reg));
            set
        };
        let saved = |n: &u8| CALLEE_SAVED.contains(n);
        let usable = |n: &u8| *n != RSP && *n != RBP;
        MachineEnv {
            preferred_regs_by_class: [
                set(&mut (0..16).filter(|n| usable(n) && !saved(n)).map(gpr)),
                set(&mut (0..16).map(zmm)),
                set(&mut (1..masks(isa)).map(kreg)),
            ],
            non_preferred_regs_by_class: [
                set(&mut CALLEE_SAVED.into_iter().map(gpr)),
                set(&mut (16..vectors(isa)).map(zmm)),
                PRegSet::empty(),
            ],
            scratch_by_class: [None; 3],
            fixed_stack_slots: Vec::new(),
        }
    })
}
