//! Code being written: instructions, labels and jumps, jump tables, alignment, the constant pool.
//!
//! Jumps and padding have their final length in [`Buffer::finish`], and until then the longest
//! that they can have, so that code moves to the front only, in place.

use super::check::{Features, Refused, check};
use super::encode::encode;
use super::relax::{Kind, Piece, SHORT_BYTES, relax};
use super::{Base, Cc, Instruction, Memory, Opcode, Rm, Size};

/// The alignment of the constant pool.
const POOL_ALIGN: u32 = 64;

/// A place in the code to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u32);

/// Where a label is.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    /// In the code of maximal lengths.
    pub offset: u32,
    /// How many pieces are before it.
    pub pieces: u32,
}

impl Bound {
    pub const NOWHERE: Bound = Bound {
        offset: u32::MAX,
        pieces: u32::MAX,
    };
}

/// Code being written.
pub struct Buffer {
    features: Features,
    code: Vec<u8>,
    pieces: Vec<Piece>,
    labels: Vec<Bound>,
    /// Labels behind which there are jumps at most.
    recent: Vec<Label>,
    references: Vec<Reference>,
    /// Of all jump tables, one after the other.
    table_entries: Vec<TableEntry>,
}

/// A displacement relative to the end of its instruction.
struct Reference {
    /// Where it is, and the end of its instruction.
    at: u32,
    end: u32,
    to: Target,
}

enum Target {
    /// An offset in the constant pool.
    Pool(i32),
    /// The table that begins with an entry.
    Table(u32),
}

struct TableEntry {
    label: Label,
    /// The number of the table's first entry.
    table: u32,
}

/// The bytes of a function.
pub struct Code {
    /// Instructions, jump tables, then the constant pool at an alignment of 64.
    pub bytes: Vec<u8>,
    /// Of the instructions.
    pub code_size: u32,
    /// What was the end of each piece in the code of maximal lengths, and what is.
    moved: Vec<(u32, u32)>,
}

impl Code {
    /// Where the instruction is that was written at a [`Buffer::offset`].
    pub fn offset(&self, written: u32) -> u32 {
        match self.moved.partition_point(|&(was, _)| was <= written) {
            0 => written,
            pieces => {
                let (was, is) = self.moved[pieces - 1];
                is + (written - was)
            }
        }
    }
}

impl Buffer {
    /// Code for processors that have `features`.
    pub fn new(features: Features) -> Buffer {
        Buffer {
            features,
            code: Vec::new(),
            pieces: Vec::new(),
            labels: Vec::new(),
            recent: Vec::new(),
            references: Vec::new(),
            table_entries: Vec::new(),
        }
    }

    /// # Errors
    ///
    /// If there is no such instruction. Then nothing is written.
    pub fn emit(&mut self, inst: &Instruction) -> Result<(), Refused> {
        let info = inst.opcode.info();
        check(inst, info, self.features).map_err(|why| Refused {
            instruction: *inst,
            why,
        })?;
        let (bytes, reference) = encode(inst, info);
        let start = self.offset();
        bytes.append_to(&mut self.code);
        self.recent.clear();
        if let Some(reference) = reference {
            self.references.push(Reference {
                at: start + u32::from(reference.at),
                end: self.offset(),
                to: Target::Pool(reference.offset),
            });
        }
        Ok(())
    }

    /// Where the instruction is written that is emitted next; `Code::offset` tells where it comes
    /// to be.
    pub fn offset(&self) -> u32 {
        self.code.len() as u32
    }

    pub fn new_label(&mut self) -> Label {
        self.labels.push(Bound::NOWHERE);
        Label(self.labels.len() as u32 - 1)
    }

    /// The label is what comes next. Jumps to it right before disappear.
    pub fn bind(&mut self, label: Label) {
        self.bind_to_end(label);
        self.recent.push(label);
        while let Some(&Piece { start, kind }) = self.pieces.last()
            && let Kind::Jump { label: target, .. } = kind
            && start + kind.max_bytes() == self.offset()
            && self.labels[target as usize].offset == self.offset()
        {
            self.pieces.pop();
            self.code.truncate(start as usize);
            for label in 0..self.recent.len() {
                let label = self.recent[label];
                if self.labels[label.0 as usize].offset > start {
                    self.bind_to_end(label);
                }
            }
        }
    }

    fn bind_to_end(&mut self, label: Label) {
        self.labels[label.0 as usize] = Bound {
            offset: self.offset(),
            pieces: self.pieces.len() as u32,
        };
    }

    pub fn jump(&mut self, label: Label) {
        self.push_jump(label, None);
    }

    pub fn jump_if(&mut self, condition: Cc, label: Label) {
        self.push_jump(label, Some(condition));
    }

    fn push_jump(&mut self, label: Label, condition: Option<Cc>) {
        self.push_piece(Kind::Jump {
            label: label.0,
            near: false,
            condition,
        });
    }

    fn push_piece(&mut self, kind: Kind) {
        let start = self.offset();
        self.pieces.push(Piece { start, kind });
        self.code.resize((start + kind.max_bytes()) as usize, 0);
    }

    /// The address of a table to a general register. Its entries are 32 bits each: a label's
    /// offset from the table.
    ///
    /// # Errors
    ///
    /// If there is no such register.
    pub fn jump_table(&mut self, dst: u8, labels: &[Label]) -> Result<(), Refused> {
        let table = self.table_entries.len() as u32;
        let mut lea = Instruction::new(Opcode::Lea, Size::B64);
        lea.reg = dst;
        lea.rm = Rm::Memory(Memory {
            base: Base::Pool,
            index: None,
            shift: 0,
            disp: 0,
        });
        self.emit(&lea)?;
        if let Some(reference) = self.references.last_mut() {
            reference.to = Target::Table(table);
        }
        self.table_entries
            .extend(labels.iter().map(|&label| TableEntry { label, table }));
        Ok(())
    }

    /// Pads with instructions that do nothing, to a multiple of a power of two up to 64.
    pub fn align(&mut self, n: u32) {
        debug_assert!(n.is_power_of_two() && n <= POOL_ALIGN);
        if n > 1 {
            self.push_piece(Kind::Padding { align: n });
            self.recent.clear();
        }
    }

    /// Code, then jump tables, then the constant pool, with all references resolved.
    pub fn finish(mut self, pool: &[u8]) -> Code {
        relax(&mut self.pieces, &self.labels);
        let moved = self.move_code();
        let mut code = Code {
            code_size: self.offset(),
            bytes: self.code,
            moved,
        };
        resolve_jumps(&mut code, &self.pieces, &self.labels);
        let mut table = code.code_size;
        if !self.table_entries.is_empty() {
            table = table.next_multiple_of(4);
            code.bytes.resize(table as usize, 0);
        }
        for entry in &self.table_entries {
            let target = code.offset(self.labels[entry.label.0 as usize].offset);
            let relative = target.wrapping_sub(table + 4 * entry.table);
            code.bytes.extend_from_slice(&relative.to_le_bytes());
        }
        if !pool.is_empty() {
            let end = (code.bytes.len() as u32).next_multiple_of(POOL_ALIGN);
            code.bytes.resize(end as usize, 0);
        }
        let pool_start = code.bytes.len() as u32;
        code.bytes.extend_from_slice(pool);
        for reference in &self.references {
            let target = match reference.to {
                Target::Pool(offset) => pool_start.wrapping_add_signed(offset),
                Target::Table(entry) => table + 4 * entry,
            };
            let end = code.offset(reference.end);
            let at = end - (reference.end - reference.at);
            patch(&mut code.bytes, at, target.wrapping_sub(end));
        }
        code
    }

    /// Moves everything to where it will be, and writes padding.
    fn move_code(&mut self) -> Vec<(u32, u32)> {
        let mut moved = Vec::with_capacity(self.pieces.len());
        let (mut from, mut to) = (0, 0);
        for &Piece { start, kind } in &self.pieces {
            self.code.copy_within(from..start as usize, to);
            to += start as usize - from;
            from = (start + kind.max_bytes()) as usize;
            let bytes = match kind {
                Kind::Jump { near: false, .. } => SHORT_BYTES as usize,
                Kind::Jump { near: true, .. } => kind.max_bytes() as usize,
                Kind::Padding { align } => {
                    let bytes = to.next_multiple_of(align as usize) - to;
                    write_nops(&mut self.code[to..to + bytes]);
                    bytes
                }
            };
            to += bytes;
            moved.push((from as u32, to as u32));
        }
        self.code.copy_within(from.., to);
        self.code.truncate(to + self.code.len() - from);
        moved
    }
}

fn resolve_jumps(code: &mut Code, pieces: &[Piece], labels: &[Bound]) {
    for (piece, &Piece { kind, .. }) in pieces.iter().enumerate() {
        let Kind::Jump {
            label,
            near,
            condition,
        } = kind
        else {
            continue;
        };
        let Bound { offset, pieces } = labels[label as usize];
        let target = match pieces.checked_sub(1) {
            None => offset,
            Some(last) => {
                let (was, is) = code.moved[last as usize];
                is + (offset - was)
            }
        };
        let end = code.moved[piece].1;
        let distance = target.wrapping_sub(end);
        let out = &mut code.bytes;
        match (near, condition) {
            (false, _) => {
                let at = (end - 2) as usize;
                out[at] = condition.map_or(0xeb, |cc| 0x70 | cc as u8);
                out[at + 1] = distance as u8;
            }
            (true, None) => {
                out[(end - 5) as usize] = 0xe9;
                patch(out, end - 4, distance);
            }
            (true, Some(cc)) => {
                out[(end - 6) as usize] = 0x0f;
                out[(end - 5) as usize] = 0x80 | cc as u8;
                patch(out, end - 4, distance);
            }
        }
    }
}

fn patch(bytes: &mut [u8], at: u32, value: u32) {
    bytes[at as usize..at as usize + 4].copy_from_slice(&value.to_le_bytes());
}

/// As few as can be, of the forms that Intel recommends.
fn write_nops(out: &mut [u8]) {
    const NOPS: [&[u8]; 9] = [
        &[0x90],
        &[0x66, 0x90],
        &[0x0f, 0x1f, 0x00],
        &[0x0f, 0x1f, 0x40, 0x00],
        &[0x0f, 0x1f, 0x44, 0x00, 0x00],
        &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
        &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
        &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
        &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
    ];
    for chunk in out.chunks_mut(NOPS.len()) {
        chunk.copy_from_slice(NOPS[chunk.len() - 1]);
    }
}
