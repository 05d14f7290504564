//! Blends that become the write mask of what they choose. AVX2 has no such masks.
//!
//! A blend takes lanes of one vector where a mask is set, and of another elsewhere. Where the first
//! is computed for it alone, the instruction that computes it does as much under that mask, merged
//! into the other vector; and under the mask with zeroing, where lanes are kept or else zero. A
//! multiply-add of one user is merged into its addend, or the factor that it overwrites.
//!
//! Cost: linear.

use regalloc2::VReg;

use super::encoding::{Form, Masking, MemorySize, Opcode};
use super::inst::{Base, Inst, NONE, Plain, Rm};
use super::vcode::VCode;

/// How many instructions before the blend the other one may be. It moves to the blend, so its
/// operands live as much longer.
const NEAR: usize = 24;

/// Folds blends into what they choose.
pub fn fold(code: &mut VCode) {
    let uses = uses(code);
    // Where each register is defined.
    let mut defined = vec![usize::MAX; code.vregs];
    let mut folded = vec![false; code.insts.len()];
    for block in 0..code.blocks.len() {
        let range = code.blocks[block].insts.clone();
        for at in range.clone() {
            let Inst::Plain(plain) = &code.insts[at] else {
                continue;
            };
            if let Some((chosen, kept)) = choice(plain)
                && uses[chosen.vreg()] == 1
                && (range.start.max(at.saturating_sub(NEAR))..at).contains(&defined[chosen.vreg()])
                && let Inst::Plain(inner) = &code.insts[defined[chosen.vreg()]]
                && let Some(masked) = under_mask(inner, plain, kept)
            {
                folded[defined[chosen.vreg()]] = true;
                code.insts[at] = Inst::Plain(masked);
            }
            if let Inst::Plain(plain) = &code.insts[at]
                && plain.dst != NONE
            {
                defined[plain.dst.vreg()] = at;
            }
        }
    }
    if folded.contains(&true) {
        remove(code, &folded);
    }
}

/// How often each register is used.
fn uses(code: &mut VCode) -> Vec<u32> {
    let mut uses = vec![0; code.vregs];
    let mut count = |reg: &mut VReg| uses[reg.vreg()] += 1;
    for inst in &mut code.insts {
        inst.for_each_use_mut(&mut count);
    }
    for block in &mut code.blocks {
        for target in &mut block.targets {
            target.args.iter_mut().for_each(&mut count);
        }
    }
    uses
}

/// What a blend takes under its mask, and what it keeps elsewhere: [`NONE`] for zeros.
fn choice(plain: &Plain) -> Option<(VReg, VReg)> {
    let Rm::Reg(chosen) = plain.b else {
        return None;
    };
    let kept = match plain.opcode {
        Opcode::Vpblendmd | Opcode::Vpblendmq if !plain.zeroing => plain.a,
        Opcode::Vmovdqu32 | Opcode::Vmovdqu64 if plain.zeroing => NONE,
        _ => return None,
    };
    (plain.mask != NONE && kept != chosen).then_some((chosen, kept))
}

/// The instruction with the blend's mask and destination.
fn under_mask(inner: &Plain, blend: &Plain, kept: VReg) -> Option<Plain> {
    let info = inner.opcode.info();
    let lane_by_lane = matches!(info.form, Form::Rvm | Form::Rvma | Form::Rm)
        && info.masking == Masking::Zero
        && info.memory == MemorySize::Full
        && !info.reg_is_half
        && info.element == blend.opcode.info().element
        && inner.size == blend.size;
    // What is there before is merged into, whatever else it is for.
    let merges = inner.c == NONE || inner.c == kept || kept == NONE;
    // Memory may have been written to.
    let stays = match inner.b {
        Rm::None | Rm::Reg(_) => true,
        Rm::Mem(amode) | Rm::Broadcast(amode) => amode.base == Base::Pool,
    };
    (lane_by_lane && merges && stays && inner.mask == NONE).then(|| Plain {
        dst: blend.dst,
        c: if kept == NONE { inner.c } else { kept },
        mask: blend.mask,
        zeroing: kept == NONE,
        ..inner.clone()
    })
}

/// Takes instructions out.
fn remove(code: &mut VCode, gone: &[bool]) {
    let mut to = 0;
    for block in &mut code.blocks {
        let begin = to;
        for from in block.insts.clone() {
            if !gone[from] {
                code.insts.swap(to, from);
                code.locs.swap(to, from);
                to += 1;
            }
        }
        block.insts = begin..to;
    }
    code.insts.truncate(to);
    code.locs.truncate(to);
}
