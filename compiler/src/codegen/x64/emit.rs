//! Allocated code to bytes: the frame, moves, jumps.

use regalloc2::{Allocation, Block, Edit, InstOrEdit, Output, RegClass};

use super::encoding::{self, Buffer, Form, Instruction, Label, Opcode, Size};
use super::frame::Frame;
use super::inst::{
    Amode, Base, Inst, NONE, Plain, RBP, RSP, Rm, VECTOR, GENERAL,
};
use super::regalloc::{Allocatable, CALLEE_SAVED};
use super::vcode::VCode;
use crate::ir::SourceLoc;

/// What is left to do with code once registers are allocated.
pub struct Emitter<'a> {
    code: &'a VCode,
    output: &'a Output,
    frame: &'a Frame,
    buffer: Buffer,
    labels: Vec<Label>,
    lines: Vec<(u32, SourceLoc)>,
    /// Callee-saved registers that are used.
    saved: Vec<u8>,
    /// Bytes below the saved registers.
    frame_bytes: u32,
    /// The size of whole vector registers, as far as they are used.
    vector: Size,
}

/// Machine code.
pub struct Emitted {
    /// Code, then the constant pool.
    pub bytes: Vec<u8>,
    /// Bytes of code.
    pub code_size: u32,
    pub lines: Vec<(u32, SourceLoc)>,
}

const PAGE: u32 = 4096;

impl<'a> Emitter<'a> {
    pub fn new(code: &'a VCode, output: &'a Output, frame: &'a Frame, vector: Size) -> Self {
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
        output.allocs.iter().for_each(|&allocation| note(allocation));
        for (_, Edit::Move { from, to }) in &output.edits {
            note(*from);
            note(*to);
        }
        let frame_bytes = frame.size.next_multiple_of(64) + output.num_spillslots as u32 * 8;
        let mut buffer = Buffer::default();
        let labels = code.blocks.iter().map(|_| buffer.new_label()).collect();
        Emitter {
            code,
            output,
            frame,
            buffer,
            labels,
            lines: Vec::new(),
            saved,
            frame_bytes: frame_bytes.next_multiple_of(64),
            vector,
        }
    }

    pub fn emit(mut self, allocatable: &Allocatable, pool: &[u8]) -> Emitted {
        self.prologue();
        for n in 0..self.code.blocks.len() {
            let block = Block::new(n);
            self.buffer.bind(self.labels[n]);
            for item in self.output.block_insts_and_edits(allocatable, block) {
                match item {
                    InstOrEdit::Edit(Edit::Move { from, to }) => self.edit(*from, *to),
                    InstOrEdit::Inst(inst) => {
                        let loc = self.code.locs[inst.index()];
                        if self.lines.last().is_none_or(|&(_, last)| last != loc) {
                            self.lines.push((self.buffer.offset(), loc));
                        }
                        let allocs = self.output.inst_allocs(inst);
                        self.inst(block, &self.code.insts[inst.index()], allocs);
                    }
                }
            }
        }
        let code = self.buffer.finish(pool);
        let lines = self.lines.into_iter();
        let lines = lines.map(|(at, loc)| (code.offset(at), loc)).collect();
        Emitted {
            bytes: code.bytes,
            code_size: code.code_size,
            lines,
        }
    }

    fn push(&mut self, opcode: Opcode, size: Size, set: impl FnOnce(&mut Instruction)) {
        let mut inst = Instruction::new(opcode, size);
        set(&mut inst);
        self.buffer.emit(&inst);
    }

    fn has_frame(&self) -> bool {
        self.frame_bytes > 0
    }

    fn prologue(&mut self) {
        self.push(Opcode::Push, Size::B64, |i| i.reg = RBP);
        self.push(Opcode::Mov, Size::B64, |i| {
            i.reg = RBP;
            i.rm = encoding::Rm::Reg(RSP);
        });
        for reg in self.saved.clone() {
            self.push(Opcode::Push, Size::B64, |i| i.reg = reg);
        }
        if !self.has_frame() {
            return;
        }
        let align = i64::from(self.frame.align.max(64));
        // Each page is touched in its turn, so that the guard page is met if there is no more.
        for _ in 0..self.frame_bytes / PAGE {
            self.push(Opcode::AddImm, Size::B64, |i| {
                i.rm = encoding::Rm::Reg(RSP);
                i.imm = -i64::from(PAGE);
            });
            self.push(Opcode::MovStore, Size::B64, |i| {
                i.reg = RSP;
                i.rm = encoding::Rm::Memory(encoding::Memory {
                    base: encoding::Base::Reg(RSP),
                    index: None,
                    shift: 0,
                    disp: 0,
                });
            });
        }
        let rest = self.frame_bytes % PAGE;
        if rest > 0 {
            self.push(Opcode::AddImm, Size::B64, |i| {
                i.rm = encoding::Rm::Reg(RSP);
                i.imm = -i64::from(rest);
            });
        }
        self.push(Opcode::AndImm, Size::B64, |i| {
            i.rm = encoding::Rm::Reg(RSP);
            i.imm = -align;
        });
    }

    fn epilogue(&mut self) {
        if self.vector != Size::V128 {
            self.push(Opcode::Vzeroupper, Size::V256, |_| {});
        }
        if self.has_frame() {
            let saved = self.saved.len() as i32 * 8;
            self.push(Opcode::Lea, Size::B64, |i| {
                i.reg = RSP;
                i.rm = encoding::Rm::Memory(encoding::Memory {
                    base: encoding::Base::Reg(RBP),
                    index: None,
                    shift: 0,
                    disp: -saved,
                });
            });
        }
        for reg in self.saved.clone().into_iter().rev() {
            self.push(Opcode::Pop, Size::B64, |i| i.reg = reg);
        }
        self.push(Opcode::Pop, Size::B64, |i| i.reg = RBP);
        self.push(Opcode::Ret, Size::B64, |_| {});
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
    fn destination(&self, mut block: Block) -> Block {
        loop {
            let data = &self.code.blocks[block.index()];
            let empty = data.insts.len() == 1
                && data.targets.len() == 1
                && !self.has_edits(data.insts.start);
            if !empty || data.targets[0].block == block {
                return block;
            }
            block = data.targets[0].block;
        }
    }

    fn has_edits(&self, inst: usize) -> bool {
        let at = regalloc2::ProgPoint::before(regalloc2::Inst::new(inst));
        let edits = &self.output.edits;
        let first = edits.partition_point(|&(point, _)| point < at);
        edits.get(first).is_some_and(|&(point, _)| point == at)
    }

    /// The first block after this one that is not empty.
    fn next(&self, block: Block) -> Option<Block> {
        (block.index() + 1 < self.code.blocks.len())
            .then(|| self.destination(Block::new(block.index() + 1)))
    }

    fn inst(&mut self, block: Block, inst: &Inst, allocs: &[Allocation]) {
        match inst {
            Inst::Plain(plain) => self.plain(plain, allocs),
            Inst::Fixed(fixed) => self.plain(&fixed.plain, allocs),
            Inst::Params(_) => {}
            Inst::Call(_) => {
                if self.vector != Size::V128 {
                    self.push(Opcode::Vzeroupper, Size::V256, |_| {});
                }
                let target = reg(allocs[0]);
                self.push(Opcode::CallReg, Size::B64, |i| {
                    i.rm = encoding::Rm::Reg(target);
                });
            }
            Inst::Jump => {
                let to = self.destination(self.code.blocks[block.index()].targets[0].block);
                if self.next(block) != Some(to) {
                    self.buffer.jump(self.labels[to.index()]);
                }
            }
            Inst::Branch(cc) => {
                let targets = &self.code.blocks[block.index()].targets;
                let then = self.destination(targets[0].block);
                let els = self.destination(targets[1].block);
                let (then_label, els_label) =
                    (self.labels[then.index()], self.labels[els.index()]);
                let next = self.next(block);
                if then == els {
                    if next != Some(then) {
                        self.buffer.jump(then_label);
                    }
                } else if next == Some(then) {
                    self.buffer.jump_if(cc.negated(), els_label);
                } else {
                    self.buffer.jump_if(*cc, then_label);
                    if next != Some(els) {
                        self.buffer.jump(els_label);
                    }
                }
            }
            Inst::Return(_) => self.epilogue(),
        }
    }

    /// The operands come in the order of [`Inst::operands`].
    fn plain(&mut self, plain: &Plain, allocs: &[Allocation]) {
        let mut allocs = allocs.iter().copied();
        let mut take = || reg(allocs.next().expect("as many allocations as operands"));
        if plain.tied() != NONE {
            take();
        }
        let a = if plain.a != NONE && !plain.ties_a() {
            take()
        } else {
            0
        };
        let b = match plain.b {
            Rm::None => encoding::Rm::None,
            Rm::Reg(_) => encoding::Rm::Reg(take()),
            Rm::Mem(amode) => encoding::Rm::Memory(memory(amode, &mut take)),
            Rm::Broadcast(amode) => encoding::Rm::Broadcast(memory(amode, &mut take)),
        };
        let mask = if plain.mask != NONE { take() } else { 0 };
        let dst = if plain.dst != NONE { take() } else { 0 };
        // What does not depend on its sources has none; its own register stands for them.
        let is_idiom = plain.a == NONE && plain.b == Rm::None;
        let (a, b) = match plain.opcode.info().form {
            Form::Rvm | Form::Rvma if is_idiom => (dst, encoding::Rm::Reg(dst)),
            _ => (a, b),
        };
        let mut inst = Instruction::new(plain.opcode, plain.size);
        inst.mask = mask;
        inst.zeroing = plain.zeroing;
        inst.rounding = plain.rounding;
        inst.imm = plain.imm;
        match plain.opcode.info().form {
            Form::Rvm | Form::Rmv | Form::Rvma => {
                (inst.reg, inst.vvvv, inst.rm) = (dst, a, b);
            }
            Form::Rm | Form::Rma | Form::Gather => (inst.reg, inst.rm) = (dst, b),
            Form::Mr => {
                inst.reg = a;
                inst.rm = match b {
                    encoding::Rm::None => encoding::Rm::Reg(dst),
                    memory => memory,
                };
            }
            Form::Vm => (inst.vvvv, inst.rm) = (dst, b),
            Form::Ma | Form::M => inst.rm = encoding::Rm::Reg(dst),
            Form::Mra => {
                inst.reg = if plain.ties_a() { dst } else { a };
                inst.rm = b;
            }
            Form::RmTest | Form::Scatter => (inst.reg, inst.rm) = (a, b),
            Form::MTest | Form::Mstore | Form::Mi => inst.rm = b,
            Form::O => inst.reg = dst,
            Form::Zo => {}
            Form::Rvmr | Form::Mvr | Form::Mulx => unreachable!("no such form is selected"),
        }
        self.buffer.emit(&inst);
    }
}

fn reg(allocation: Allocation) -> u8 {
    allocation.as_reg().expect("a register").hw_enc() as u8
}

fn memory(amode: Amode, take: &mut impl FnMut() -> u8) -> encoding::Memory {
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

/// How whole registers of a class are loaded, copied and stored.
fn move_opcodes(class: RegClass, vector: Size) -> (Opcode, Opcode, Size) {
    match class {
        GENERAL => (Opcode::Mov, Opcode::MovStore, Size::B64),
        VECTOR => (Opcode::Vmovaps, Opcode::VmovapsStore, vector),
        _ => (Opcode::Kmovq, Opcode::KmovqStore, Size::B64),
    }
}
