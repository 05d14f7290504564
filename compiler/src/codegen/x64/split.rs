//! Live-range splitting around innermost loops.
//!
//! regalloc2 keeps a value in one place for all of its life, or else loads it wherever it is used.
//! A value that is defined before a loop, used in it and used again later loses its register to
//! whatever else is in want of one on that long way, and is then loaded in each iteration, though
//! the loop itself has registers to spare. So where the values that live across an innermost loop
//! are too many for the registers, while those that occur in it are not, the latter are copied in
//! front of the loop, and the loop uses the copies: intervals that are as short as the loop.
//!
//! Blocks lie in the order of `isel/control.rs`, so that a jump back is one to an earlier block.
//! Cost: linear.

use regalloc2::{OperandKind, RegClass, VReg};

use super::encoding::Size;
use super::inst::{GENERAL, Inst, MASK, Plain, VECTOR, move_opcodes};
use super::regalloc::available;
use super::vcode::{BlockData, VCode};
use crate::target::Isa;

/// Registers left for what instructions want in certain ones.
const RESERVED: usize = 1;

const CLASSES: [RegClass; 3] = [GENERAL, VECTOR, MASK];

/// Where a virtual register is defined and used, as indexes of blocks.
#[derive(Clone, Copy)]
struct Life {
    class: RegClass,
    def: usize,
    /// To the end of a loop that it is used in and not defined in.
    last: usize,
    /// The loop that has seen it.
    seen: usize,
}

const NOWHERE: usize = usize::MAX;

/// An innermost loop: its header, the last block that jumps back to it, the one that leads to it.
struct InnerLoop {
    header: usize,
    end: usize,
    preheader: usize,
    body: Vec<usize>,
}

/// Splits the live ranges of values used in innermost loops. `vector` is how much of a vector
/// register a copy copies.
pub fn around_loops(code: &mut VCode, vector: Size, isa: Isa) {
    let preds = predecessors(code);
    let loops = inner_loops(code, &preds);
    if loops.is_empty() {
        return;
    }
    let mut lives = lives(code);
    let live_in = live_in(code, &lives);
    let mut copies: Vec<(usize, Inst)> = Vec::new();
    for (number, inner) in loops.iter().enumerate() {
        let Some(wanted) = occurrences(code, inner, &mut lives, number) else {
            continue;
        };
        for (class, wanted) in CLASSES.into_iter().zip(wanted) {
            let registers = available(class, isa) - RESERVED.min(available(class, isa));
            let inside = wanted.outer.len() + wanted.inner;
            let across = live_in[inner.header][class as usize] - wanted.outer.len();
            if inside > registers || inside + across <= registers {
                continue;
            }
            let first = code.vregs;
            code.vregs += wanted.outer.len();
            let copy = |n: usize| VReg::new(first + n, class);
            let (opcode, _, size) = move_opcodes(class, vector);
            for (n, &from) in wanted.outer.iter().enumerate() {
                let mut plain = Plain::new(opcode, size);
                (plain.dst, plain.b) = (copy(n), from.into());
                copies.push((inner.preheader, Inst::Plain(plain)));
            }
            let mut outer = wanted.outer;
            let mut order: Vec<usize> = (0..outer.len()).collect();
            order.sort_by_key(|&n| outer[n].vreg());
            outer.sort_by_key(|reg| reg.vreg());
            let mut rename = |reg: &mut VReg| {
                if let Ok(at) = outer.binary_search_by_key(&reg.vreg(), |reg| reg.vreg()) {
                    *reg = copy(order[at]);
                }
            };
            for &block in &inner.body {
                for at in code.blocks[block].insts.clone() {
                    code.insts[at].for_each_use_mut(&mut rename);
                }
                for target in &mut code.blocks[block].targets {
                    target.args.iter_mut().for_each(&mut rename);
                }
            }
        }
    }
    insert(code, copies);
}

fn predecessors(code: &VCode) -> Vec<Vec<usize>> {
    let mut preds = vec![Vec::new(); code.blocks.len()];
    for (n, block) in code.blocks.iter().enumerate() {
        for target in &block.targets {
            preds[target.block.index()].push(n);
        }
    }
    preds
}

/// For each block, the last one that jumps back to it.
fn jumps_back(code: &VCode) -> Vec<Option<usize>> {
    let mut back = vec![None; code.blocks.len()];
    for (n, block) in code.blocks.iter().enumerate() {
        for target in &block.targets {
            if target.block.index() <= n {
                back[target.block.index()] = Some(n);
            }
        }
    }
    back
}

/// Natural loops with no other in them, entered from a block that leads nowhere else.
fn inner_loops(code: &VCode, preds: &[Vec<usize>]) -> Vec<InnerLoop> {
    let back = jumps_back(code);
    let mut found = Vec::new();
    // From the end on: a header before another one's last jump back is of a loop around it.
    let mut next_header = usize::MAX;
    for header in (0..code.blocks.len()).rev() {
        let Some(end) = back[header] else { continue };
        let is_inner = next_header > end;
        next_header = header;
        if is_inner {
            found.extend(inner_loop(code, preds, header, end));
        }
    }
    found
}

fn inner_loop(code: &VCode, preds: &[Vec<usize>], header: usize, end: usize) -> Option<InnerLoop> {
    let mut inside = vec![false; end - header + 1];
    inside[0] = true;
    let mut body = vec![header];
    let jumps = |&&from: &&usize| (header..=end).contains(&from);
    let mut todo: Vec<usize> = preds[header].iter().filter(jumps).copied().collect();
    while let Some(block) = todo.pop() {
        // A second way in.
        let at = block.checked_sub(header).filter(|_| block <= end)?;
        if !std::mem::replace(&mut inside[at], true) {
            body.push(block);
            todo.extend(&preds[block]);
        }
    }
    let mut before = preds[header].iter().filter(|from| !jumps(from));
    let (&preheader, None) = (before.next()?, before.next()) else {
        return None;
    };
    let leads_here = code.blocks[preheader].targets.len() == 1;
    leads_here.then_some(InnerLoop {
        header,
        end,
        preheader,
        body,
    })
}

/// The lives of all virtual registers.
fn lives(code: &VCode) -> Vec<Life> {
    let none = Life {
        class: GENERAL,
        def: NOWHERE,
        last: 0,
        seen: NOWHERE,
    };
    let mut lives = vec![none; code.vregs];
    for block in 0..code.blocks.len() {
        for_each_def(code, block, &mut |reg| {
            let life = &mut lives[reg.vreg()];
            (life.class, life.def) = (reg.class(), block);
        });
    }
    let back = jumps_back(code);
    // The loops around a block, the innermost last: header and end.
    let mut around: Vec<(usize, usize)> = Vec::new();
    for (n, block) in code.blocks.iter().enumerate() {
        around.retain(|&(_, end)| end >= n);
        around.extend(back[n].map(|end| (n, end)));
        let mut used = |reg: VReg| {
            let life = &mut lives[reg.vreg()];
            // Headers are in order, so those behind the definition come last.
            let outside = around.partition_point(|&(header, _)| header <= life.def);
            let ends = around[outside..].iter().map(|&(_, end)| end);
            life.last = ends.fold(life.last.max(n), usize::max);
        };
        for_each_use(code, block, &mut used);
    }
    lives
}

fn for_each_def(code: &VCode, block: usize, defined: &mut impl FnMut(VReg)) {
    let block = &code.blocks[block];
    block.params.iter().for_each(|&param| defined(param));
    for inst in &code.insts[block.insts.clone()] {
        inst.operands(&mut |operand| {
            if operand.kind() == OperandKind::Def {
                defined(operand.vreg());
            }
        });
    }
}

fn for_each_use(code: &VCode, block: &BlockData, used: &mut impl FnMut(VReg)) {
    for inst in &code.insts[block.insts.clone()] {
        inst.operands(&mut |operand| {
            if operand.kind() == OperandKind::Use {
                used(operand.vreg());
            }
        });
    }
    let args = block.targets.iter().flat_map(|target| &target.args);
    args.for_each(|&arg| used(arg));
}

/// How many values of each class are defined before each block and used in it or later.
fn live_in(code: &VCode, lives: &[Life]) -> Vec<[usize; 3]> {
    let mut change = vec![[0isize; 3]; code.blocks.len() + 1];
    for life in lives.iter().filter(|life| life.def < life.last) {
        change[life.def + 1][life.class as usize] += 1;
        change[life.last + 1][life.class as usize] -= 1;
    }
    let mut now = [0; 3];
    let counts = change.iter().map(|change| {
        (0..3).for_each(|class| now[class] += change[class]);
        now.map(|count| usize::try_from(count).unwrap_or(0))
    });
    counts.collect()
}

/// What a loop wants registers of a class for.
#[derive(Default)]
struct Wanted {
    /// What is defined before the loop.
    outer: Vec<VReg>,
    /// The most values at once of those defined in the loop.
    inner: usize,
}

/// What a loop uses and defines, by class; `None` if it calls what does not keep registers.
fn occurrences(
    code: &VCode,
    inner: &InnerLoop,
    lives: &mut [Life],
    number: usize,
) -> Option<[Wanted; 3]> {
    let mut wanted: [Wanted; 3] = Default::default();
    // For each block, what is defined in the loop and lives into it, as a difference to the block
    // before, and what is defined in it and lives on.
    let mut change = vec![[0isize; 3]; inner.end - inner.header + 2];
    let mut live_on = vec![[0isize; 3]; inner.end - inner.header + 1];
    for &block in &inner.body {
        for_each_def(code, block, &mut |reg| {
            let (class, last) = (reg.class() as usize, lives[reg.vreg()].last);
            if last > block {
                live_on[block - inner.header][class] += 1;
                change[block + 1 - inner.header][class] += 1;
                change[last.min(inner.end) + 1 - inner.header][class] -= 1;
            }
        });
    }
    let mut passing = vec![[0isize; 3]; inner.end - inner.header + 1];
    let mut now = [0; 3];
    for (passing, change) in passing.iter_mut().zip(change) {
        (0..3).for_each(|class| now[class] += change[class]);
        *passing = now;
    }
    for &block in &inner.body {
        let data = &code.blocks[block];
        let mut live = live_on[block - inner.header];
        let mut peak = live;
        let mut used = |lives: &mut [Life], live: &mut [isize; 3], reg: VReg| {
            let life = &mut lives[reg.vreg()];
            let is_first = std::mem::replace(&mut life.seen, number) != number;
            if is_first && life.def < inner.header {
                wanted[reg.class() as usize].outer.push(reg);
            } else if is_first && life.def == block && life.last == block {
                live[reg.class() as usize] += 1;
            }
        };
        let args = data.targets.iter().flat_map(|target| &target.args);
        args.for_each(|&arg| used(lives, &mut live, arg));
        for inst in code.insts[data.insts.clone()].iter().rev() {
            if matches!(inst, Inst::Call(call) if !call.preserves) {
                return None;
            }
            inst.operands(&mut |operand| {
                let reg = operand.vreg();
                let life = &lives[reg.vreg()];
                let is_live = life.last > block || life.seen == number;
                if operand.kind() == OperandKind::Def && is_live {
                    live[reg.class() as usize] -= 1;
                }
            });
            inst.operands(&mut |operand| {
                if operand.kind() == OperandKind::Use {
                    used(lives, &mut live, operand.vreg());
                }
            });
            (0..3).for_each(|class| peak[class] = peak[class].max(live[class]));
        }
        for class in 0..3 {
            let most = passing[block - inner.header][class] + peak[class];
            let inner = &mut wanted[class].inner;
            *inner = (*inner).max(usize::try_from(most).unwrap_or(0));
        }
    }
    Some(wanted)
}

/// Puts instructions at the ends of blocks, in front of the jump.
fn insert(code: &mut VCode, mut copies: Vec<(usize, Inst)>) {
    if copies.is_empty() {
        return;
    }
    copies.sort_by_key(|&(block, _)| block);
    let mut copies = copies.into_iter().peekable();
    let mut insts = std::mem::take(&mut code.insts);
    let mut made = Vec::with_capacity(insts.len() + copies.len());
    let mut locs = Vec::with_capacity(insts.len() + copies.len());
    for (n, block) in code.blocks.iter_mut().enumerate() {
        let begin = made.len();
        for at in block.insts.clone() {
            if at + 1 == block.insts.end {
                while let Some((_, copy)) = copies.next_if(|&(block, _)| block == n) {
                    made.push(copy);
                    locs.push(code.locs[at]);
                }
            }
            made.push(std::mem::replace(&mut insts[at], Inst::Jump));
            locs.push(code.locs[at]);
        }
        block.insts = begin..made.len();
    }
    (code.insts, code.locs) = (made, locs);
}
