//! How a function is entered and left.
//!
//! Where there is a frame, it lies below the caller's rbp and the callee-saved registers that are
//! used; rsp is its lower end, aligned for what is in it.

use super::emit::Emitter;
use super::encoding::{Base, Cc, Memory, Opcode, Rm, Size};
use super::inst::{R11, RBP, RSP};

const PAGE: u32 = 4096;

/// More pages are touched in a loop.
const MOST_UNROLLED: u32 = 8;

impl Emitter<'_> {
    fn has_frame(&self) -> bool {
        self.frame_bytes > 0
    }

    /// Whether anything is pushed. Calls need the stack aligned to 16 bytes, as it is after rbp.
    fn has_prologue(&self) -> bool {
        self.has_frame() || !self.saved.is_empty() || self.calls
    }

    /// What the prologue lowers the stack pointer by at most, and the return address.
    pub(super) fn stack_bytes(&self) -> u32 {
        let pushed = (self.saved.len() as u32 + 2) * 8;
        match self.has_frame() {
            true => pushed + self.frame_bytes + self.frame.align.max(64),
            false => pushed,
        }
    }

    pub(super) fn prologue(&mut self) {
        if !self.has_prologue() {
            return;
        }
        self.push(Opcode::Push, Size::B64, |i| i.reg = RBP);
        self.push(Opcode::Mov, Size::B64, |i| {
            i.reg = RBP;
            i.rm = Rm::Reg(RSP);
        });
        for reg in self.saved.clone() {
            self.push(Opcode::Push, Size::B64, |i| i.reg = reg);
        }
        if !self.has_frame() {
            return;
        }
        self.probe(self.frame_bytes / PAGE);
        let rest = self.frame_bytes % PAGE;
        if rest > 0 {
            self.lower_stack(rest);
        }
        let align = i64::from(self.frame.align.max(64));
        self.push(Opcode::AndImm, Size::B64, |i| {
            i.rm = Rm::Reg(RSP);
            i.imm = -align;
        });
    }

    fn lower_stack(&mut self, bytes: u32) {
        self.push(Opcode::AddImm, Size::B64, |i| {
            i.rm = Rm::Reg(RSP);
            i.imm = -i64::from(bytes);
        });
    }

    /// Lowers the stack pointer by pages. Each is touched in its turn, so that the guard page is
    /// met if there is no more.
    fn probe(&mut self, pages: u32) {
        if pages <= MOST_UNROLLED {
            for _ in 0..pages {
                self.probe_page();
            }
            return;
        }
        // No argument is in r11, and callers expect nothing of it.
        let end = stack(-((pages * PAGE) as i32), RSP);
        self.push(Opcode::Lea, Size::B64, |i| (i.reg, i.rm) = (R11, end));
        let again = self.buffer.new_label();
        self.bind(again, "probe");
        self.probe_page();
        self.push(Opcode::Cmp, Size::B64, |i| {
            (i.reg, i.rm) = (RSP, Rm::Reg(R11));
        });
        self.jump_to(Some(Cc::Ne), again, "probe");
    }

    fn probe_page(&mut self) {
        self.lower_stack(PAGE);
        self.push(Opcode::MovStore, Size::B64, |i| {
            (i.reg, i.rm) = (RSP, stack(0, RSP));
        });
    }

    pub(super) fn epilogue(&mut self) {
        self.leave_vectors();
        if self.has_frame() {
            let saved = self.saved.len() as i32 * 8;
            let end = stack(-saved, RBP);
            self.push(Opcode::Lea, Size::B64, |i| (i.reg, i.rm) = (RSP, end));
        }
        for reg in self.saved.clone().into_iter().rev() {
            self.push(Opcode::Pop, Size::B64, |i| i.reg = reg);
        }
        if self.has_prologue() {
            self.push(Opcode::Pop, Size::B64, |i| i.reg = RBP);
        }
        self.push(Opcode::Ret, Size::B64, |_| {});
    }
}

fn stack(disp: i32, base: u8) -> Rm {
    Rm::Memory(Memory {
        base: Base::Reg(base),
        index: None,
        shift: 0,
        disp,
    })
}
