//! Allocated code to bytes: moves, jumps, and where operands are encoded.

use std::fmt::Display;

use regalloc2::{Allocation, Block, Edit, InstOrEdit, Output};

use super::encoding::{self, Buffer, Cc, Form, Instruction, Label, Opcode, Refused, Size};
use super::inst::{
    Amode, Base, Call, GENERAL, Inst, NONE, Plain, RAX, RSP, Rm, VECTOR, move_opcodes,
};
use super::listing::Listing;
use super::pool::Pool;
use super::regalloc::{Allocatable, CALLEE_SAVED};
use super::vcode::VCode;
use crate::codegen::Symbol;
use crate::codegen::frame::FrameLayout;
use crate::diagnostic::Diagnostic;
use crate::ir::SourceLoc;
use crate::target::{Isa, Target};

/// What is left to do with code once registers are allocated.
pub struct Emitter<'a> {
    code: &'a VCode,
    output: &'a Output,
    pub(super) frame: &'a FrameLayout,
    pool: Pool,
    /// The blocks in the order in which they lie: those that seldom run come last.
    order: Vec<Block>,
    /// Where in it each block is.
    places: Vec<usize>,
    /// Where control comes to from the beginning of each block by jumps alone.
    destinations: Vec<Block>,
    pub(super) buffer: Buffer,
    labels: Vec<Label>,
    lines: Vec<(u32, SourceLoc)>,
    listing: Option<Listing>,
    /// The first instruction that there is not: a fault of selection. Nothing is emitted of it.
    refused: Option<Refused>,
    /// Callee-saved registers that are used.
    pub(super) saved: Vec<u8>,
    /// Bytes below the saved registers.
    pub(super) frame_bytes: u32,
    /// Whether functions of the host are called.
    pub(super) calls: bool,
    /// The size of whole vector registers, as far as they are used.
    vector: Size,
    isa: Isa,
}

/// Machine code.
pub struct Emitted {
    /// Code, then the constant pool.
    pub bytes: Vec<u8>,
    /// Bytes of code.
    pub code_size: u32,
    /// Where addresses are to be written, and of what.
    pub symbols: Vec<(u32, Symbol)>,
    pub stack_bytes: u32,
    pub lines: Vec<(u32, SourceLoc)>,
    pub listing: Option<String>,
}

impl<'a> Emitter<'a> {
    pub fn new(
        code: &'a VCode,
        output: &'a Output,
        frame: &'a FrameLayout,
        pool: Pool,
        vector: Size,
        target: &Target,
    ) -> Self {
        let mut saved: Vec<u8> = Vec::new();
        let mut note = |allocation: Allocation| {
            if let Some(reg) = allocation.as_reg()
                && reg.class() == GENERAL
                && CALLEE_SAVED.contains(&(reg.hw_enc() as u8))
                && !saved.contains(&(reg.hw_enc() as u8))
            {
                saved.push(reg.hw_enc() as u8);
            }
        };
        output
            .allocs
            .iter()
            .for_each(|&allocation| note(allocation));
        for (_, Edit::Move { from, to }) in &output.edits {
            note(*from);
            note(*to);
        }
        let calls = code.insts.iter().any(|inst| matches!(inst, Inst::Call(_)));
        let mut frame_bytes = frame.size.next_multiple_of(64) + output.num_spillslots as u32 * 8;
        // Of calls the stack is aligned to 16 bytes, as it is with rbp and the return address.
        if calls && saved.len() % 2 == 1 {
            frame_bytes = frame_bytes.max(1);
        }
        let mut buffer = Buffer::new(super::features(target));
        let labels = code.blocks.iter().map(|_| buffer.new_label()).collect();
        let mut order: Vec<Block> = (0..code.blocks.len()).map(Block::new).collect();
        order.sort_by_key(|block| code.blocks[block.index()].cold);
        // Nothing comes to blocks that are only jumps, but for the function's own entry.
        let destinations = destinations(code, output);
        let mut is_reached = vec![false; order.len()];
        is_reached[order[0].index()] = true;
        for to in &destinations {
            is_reached[to.index()] = true;
        }
        order.retain(|block| is_reached[block.index()]);
        let mut places = vec![0; code.blocks.len()];
        for (n, block) in order.iter().enumerate() {
            places[block.index()] = n;
        }
        Emitter {
            code,
            output,
            frame,
            pool,
            order,
            places,
            destinations,
            buffer,
            labels,
            lines: Vec::new(),
            listing: None,
            refused: None,
            saved,
            frame_bytes: frame_bytes.next_multiple_of(64),
            calls,
            vector,
            isa: target.isa,
        }
    }

    /// With `listing`, also to text.
    ///
    /// # Errors
    ///
    /// If an instruction was selected that there is not.
    pub fn emit(mut self, allocatable: &Allocatable, listing: bool) -> Result<Emitted, Diagnostic> {
        self.listing = listing.then(Listing::default);
        let stack_bytes = self.stack_bytes();
        self.prologue();
        for n in 0..self.order.len() {
            let block = self.order[n];
            let name = format_args!("block{}", block.index());
            self.bind(self.labels[block.index()], name);
            let next = self.next(block);
            self.body(allocatable, block, next);
            match self.jumps_to(block) {
                // A jump to where a loop is tested is that test instead.
                Some(to) if self.is_short_test(to) => self.body(allocatable, to, next),
                Some(to) => self.jump(None, to),
                None => {}
            }
        }
        if let Some(refused) = self.refused {
            return Err(Diagnostic::new(refused.to_string()));
        }
        let (pool, symbols) = self.pool.finish();
        let code = self.buffer.finish(&pool);
        let start = (code.bytes.len() - pool.len()) as u32;
        let symbols = symbols.into_iter();
        let lines = self.lines.into_iter();
        let lines = lines.map(|(at, loc)| (code.offset(at), loc)).collect();
        Ok(Emitted {
            listing: self.listing.map(|listing| listing.finish(&code, &pool)),
            bytes: code.bytes,
            code_size: code.code_size,
            symbols: symbols.map(|(at, symbol)| (start + at, symbol)).collect(),
            stack_bytes,
            lines,
        })
    }

    /// A block's instructions, but for a jump at its end, where `next` lies behind.
    fn body(&mut self, allocatable: &Allocatable, block: Block, next: Option<Block>) {
        for item in self.output.block_insts_and_edits(allocatable, block) {
            match item {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.edit(*from, *to),
                InstOrEdit::Inst(inst) => {
                    let loc = self.code.locs[inst.index()];
                    if self.lines.last().is_none_or(|&(_, last)| last != loc) {
                        self.lines.push((self.buffer.offset(), loc));
                    }
                    let allocs = self.output.inst_allocs(inst);
                    self.inst(block, next, &self.code.insts[inst.index()], allocs);
                }
            }
        }
    }

    /// Where the jump at the end of a block goes, unless that lies behind it.
    fn jumps_to(&self, block: Block) -> Option<Block> {
        let data = &self.code.blocks[block.index()];
        let [target] = &data.targets[..] else {
            return None;
        };
        Some(self.destination(target.block)).filter(|&to| self.next(block) != Some(to))
    }

    /// Whether a block is a few instructions that end in a branch.
    fn is_short_test(&self, block: Block) -> bool {
        /// With the branch.
        const MOST: usize = 4;
        let data = &self.code.blocks[block.index()];
        let edits = &self.output.edits;
        let from = regalloc2::ProgPoint::before(regalloc2::Inst::new(data.insts.start));
        let to = regalloc2::ProgPoint::before(regalloc2::Inst::new(data.insts.end));
        let first = edits.partition_point(|&(point, _)| point < from);
        let edits = edits[first..].iter().take(MOST);
        let edits = edits.filter(|&&(point, _)| point < to).count();
        data.targets.len() == 2 && data.insts.len() + edits <= MOST
    }

    pub(super) fn push(&mut self, opcode: Opcode, size: Size, set: impl FnOnce(&mut Instruction)) {
        let mut inst = Instruction::new(opcode, size);
        set(&mut inst);
        self.emit_inst(&inst);
    }

    fn emit_inst(&mut self, inst: &Instruction) {
        let inst = &inst.shortened();
        let at = self.buffer.offset();
        match self.buffer.emit(inst) {
            Ok(()) => {
                if let Some(listing) = &mut self.listing {
                    listing.inst(at, inst);
                }
            }
            Err(refused) => self.refused = self.refused.or(Some(refused)),
        }
    }

    fn jump(&mut self, condition: Option<Cc>, to: Block) {
        let to = to.index();
        self.jump_to(condition, self.labels[to], format_args!("block{to}"));
    }

    pub(super) fn jump_to(&mut self, condition: Option<Cc>, label: Label, name: impl Display) {
        if let Some(listing) = &mut self.listing {
            listing.jump(self.buffer.offset(), condition, name);
        }
        match condition {
            None => self.buffer.jump(label),
            Some(cc) => self.buffer.jump_if(cc, label),
        }
    }

    pub(super) fn bind(&mut self, label: Label, name: impl Display) {
        self.buffer.bind(label);
        if let Some(listing) = &mut self.listing {
            listing.label(self.buffer.offset(), name);
        }
    }

    /// The host's code may be of SSE, which is slow while upper halves of vectors are in use.
    pub(super) fn leave_vectors(&mut self) {
        if self.vector != Size::V128 {
            self.push(Opcode::Vzeroupper, Size::V256, |_| {});
        }
    }

    /// Where a spill slot is.
    fn slot(&self, allocation: Allocation) -> encoding::Memory {
        let slot = allocation.as_stack().expect("a spill slot");
        encoding::Memory {
            base: encoding::Base::Reg(RSP),
            index: None,
            shift: 0,
            disp: (self.frame.size.next_multiple_of(64) + slot.index() as u32 * 8) as i32,
        }
    }

    fn edit(&mut self, from: Allocation, to: Allocation) {
        let class = from.as_reg().or(to.as_reg()).expect("a register").class();
        let (load, store, size) = move_opcodes(class, self.vector);
        match (from.as_reg(), to.as_reg()) {
            (Some(from), Some(to)) => self.push(load, size, |i| {
                i.reg = to.hw_enc() as u8;
                i.rm = encoding::Rm::Reg(from.hw_enc() as u8);
            }),
            (None, Some(to)) => {
                let slot = self.slot(from);
                self.push(load, size, |i| {
                    i.reg = to.hw_enc() as u8;
                    i.rm = encoding::Rm::Memory(slot);
                });
            }
            (Some(from), None) => {
                let slot = self.slot(to);
                self.push(store, size, |i| {
                    i.reg = from.hw_enc() as u8;
                    i.rm = encoding::Rm::Memory(slot);
                });
            }
            (None, None) => unreachable!("moves from memory to memory are split"),
        }
    }

    /// The block that control comes to at the end of empty blocks.
    fn destination(&self, block: Block) -> Block {
        self.destinations[block.index()]
    }

    /// The block behind this one.
    fn next(&self, block: Block) -> Option<Block> {
        self.order.get(self.places[block.index()] + 1).copied()
    }

    fn inst(&mut self, block: Block, next: Option<Block>, inst: &Inst, allocs: &[Allocation]) {
        match inst {
            Inst::Plain(plain) => self.plain(plain, allocs),
            Inst::Fixed(fixed) => self.plain(&fixed.plain, allocs),
            Inst::Params(_) => {}
            Inst::Call(call) => self.call(call),
            // `emit` sees to it.
            Inst::Jump => {}
            Inst::Branch(cc) => {
                let targets = &self.code.blocks[block.index()].targets;
                let then = self.destination(targets[0].block);
                let els = self.destination(targets[1].block);
                if then == els {
                    if next != Some(then) {
                        self.jump(None, then);
                    }
                } else if next == Some(then) {
                    self.jump(Some(cc.negated()), els);
                } else {
                    self.jump(Some(*cc), then);
                    if next != Some(els) {
                        self.jump(None, els);
                    }
                }
            }
            Inst::Return(_) => self.epilogue(),
        }
    }

    /// The function's address is in rax.
    fn call(&mut self, call: &Call) {
        let target = if call.preserves {
            // The address of what saves the registers, on its way through memory: all are in use.
            let saver = self.pool.place_address(Symbol::Preserving {
                isa: self.isa,
                returns_float: call.result.is_some_and(|(_, at)| at.class() == VECTOR),
            });
            encoding::Rm::Memory(encoding::Memory {
                base: encoding::Base::Pool,
                index: None,
                shift: 0,
                disp: saver as i32,
            })
        } else {
            self.leave_vectors();
            encoding::Rm::Reg(RAX)
        };
        self.push(Opcode::CallReg, Size::B64, |i| i.rm = target);
    }

    /// The operands come in the order of [`Inst::operands`].
    fn plain(&mut self, plain: &Plain, allocs: &[Allocation]) {
        let mut allocs = allocs.iter().copied();
        let mut next = || allocs.next().expect("as many allocations as operands");
        if plain.tied() != NONE {
            next();
        }
        let a = if plain.a != NONE && !plain.ties_a() {
            reg(next())
        } else {
            0
        };
        let b = match plain.b {
            Rm::None => encoding::Rm::None,
            Rm::Reg(_) => match next() {
                place if place.is_stack() => encoding::Rm::Memory(self.slot(place)),
                place => encoding::Rm::Reg(reg(place)),
            },
            Rm::Mem(amode) => encoding::Rm::Memory(memory(amode, || reg(next()))),
            Rm::Broadcast(amode) => encoding::Rm::Broadcast(memory(amode, || reg(next()))),
        };
        let mask = if plain.mask != NONE { reg(next()) } else { 0 };
        let dst = if plain.dst != NONE { reg(next()) } else { 0 };
        // What does not depend on its sources has none; its own register stands for them.
        let is_idiom = plain.a == NONE && plain.b == Rm::None;
        let (a, b) = match plain.opcode.info().form {
            Form::Rvm | Form::Rvma if is_idiom => (dst, encoding::Rm::Reg(dst)),
            _ => (a, b),
        };
        let mut inst = Instruction::new(plain.opcode, plain.size);
        match plain.opcode.info().form {
            Form::Gather if plain.opcode.info().has_vector_mask() => inst.vvvv = mask,
            Form::Mvr => inst.vvvv = mask,
            Form::Rvmr => {}
            _ => inst.mask = mask,
        }
        inst.zeroing = plain.zeroing;
        inst.rounding = plain.rounding;
        inst.imm = plain.imm;
        match plain.opcode.info().form {
            Form::Rvm | Form::Rmv | Form::Rvma => {
                (inst.reg, inst.vvvv, inst.rm) = (dst, a, b);
            }
            Form::Rm | Form::Rma | Form::Gather => (inst.reg, inst.rm) = (dst, b),
            Form::Mr | Form::Ma | Form::M => {
                inst.reg = a;
                inst.rm = match b {
                    encoding::Rm::None => encoding::Rm::Reg(dst),
                    memory => memory,
                };
            }
            Form::Vm => (inst.vvvv, inst.rm) = (dst, b),
            Form::Mra => {
                inst.reg = if plain.ties_a() { dst } else { a };
                inst.rm = b;
            }
            Form::RmTest | Form::Scatter => (inst.reg, inst.rm) = (a, b),
            Form::MTest | Form::Mstore | Form::Mi => inst.rm = b,
            Form::O => inst.reg = dst,
            Form::Zo => {}
            Form::Rvmr => {
                (inst.reg, inst.vvvv, inst.rm) = (dst, a, b);
                inst.imm = mask.into();
            }
            Form::Mvr => (inst.reg, inst.rm) = (a, b),
            Form::Mulx => unreachable!("no such form is selected"),
        }
        self.emit_inst(&inst);
    }
}

/// Where control comes to from the beginning of each block by jumps alone.
fn destinations(code: &VCode, output: &Output) -> Vec<Block> {
    /// A jump more does no harm, and some go round in a circle.
    const MOST_JUMPS: usize = 8;
    let mut edited = vec![false; code.insts.len()];
    for (point, _) in &output.edits {
        edited[point.inst().index()] = true;
    }
    let jump = |block: Block| {
        let data = &code.blocks[block.index()];
        match &data.targets[..] {
            [target] if data.insts.len() == 1 && !edited[data.insts.start] => Some(target.block),
            _ => None,
        }
    };
    let from = |n| {
        let blocks = std::iter::successors(Some(Block::new(n)), |&block| jump(block));
        blocks.take(MOST_JUMPS).last().expect("the block itself")
    };
    (0..code.blocks.len()).map(from).collect()
}

fn reg(allocation: Allocation) -> u8 {
    allocation.as_reg().expect("a register").hw_enc() as u8
}

fn memory(amode: Amode, mut take: impl FnMut() -> u8) -> encoding::Memory {
    let base = match amode.base {
        Base::None => encoding::Base::None,
        Base::Reg(_) => encoding::Base::Reg(take()),
        Base::Frame => encoding::Base::Reg(RSP),
        Base::Pool => encoding::Base::Pool,
    };
    encoding::Memory {
        base,
        index: (amode.index != NONE).then(take),
        shift: amode.shift,
        disp: amode.disp,
    }
}
