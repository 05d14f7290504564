//! Which instructions are selected together with the one that uses their result.
//!
//! An instruction whose result has a single use, in the same block, can become part of the
//! user's: a load its memory operand, a comparison its flags or mask, a sum its address. It is
//! then selected when that is, unless memory is written in between.
//!
//! A store of what was loaded from the same address and combined with something is one instruction
//! with both.
//!
//! Bitwise operations of vectors are selected together as `cuts.rs` says.
//!
//! An address that is a constant away from another is part of every access there, in whatever
//! block: only the other one takes a register.

use cranelift_entity::SecondaryMap;

use super::cuts::{self, Logic};
use crate::ir::{BinOp, Block, ConvertOp, Function, Inst, Op, Scalar, UnOp, Value};
use crate::target::{Isa, Target};

/// The instructions selected where their result is used, and how often values are used.
pub struct Deferral {
    pub deferred: SecondaryMap<Inst, bool>,
    /// Those that are selected again for each use.
    pub repeated: SecondaryMap<Inst, bool>,
    pub uses: SecondaryMap<Value, u32>,
    /// What is selected for bitwise operations of vectors, where several are one instruction.
    pub logic: SecondaryMap<Inst, Option<Logic>>,
    /// Stores that combine what is in memory with something.
    pub updates: SecondaryMap<Inst, Option<Update>>,
}

/// `memory = memory op other`
#[derive(Clone, Copy)]
pub struct Update {
    pub op: BinOp,
    pub other: Value,
}

/// Where in a block something is: an instruction's number, the terminator's behind them.
type Place = u32;

/// Where in their blocks instructions and users are.
struct Places {
    of: SecondaryMap<Inst, Place>,
    /// The last user of each value.
    user: SecondaryMap<Value, Option<(Block, Place)>>,
}

impl Deferral {
    pub fn new(func: &Function, target: &Target, order: &[Block]) -> Deferral {
        let mut uses: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(func.values.len());
        let logic = match target.isa {
            Isa::Avx512 => cuts::choose(func, order),
            _ => SecondaryMap::new(),
        };
        let mut places = Places {
            of: SecondaryMap::with_capacity(func.insts.len()),
            user: SecondaryMap::with_capacity(func.values.len()),
        };
        for &block in order {
            let data = &func.blocks[block];
            for (n, &inst) in data.insts.iter().enumerate() {
                places.of[inst] = n as Place;
                for &arg in operands(func, &logic, inst) {
                    uses[arg] += 1;
                    places.user[arg] = Some((block, n as Place));
                }
            }
            data.term.for_each_value(|value| {
                uses[value] += 1;
                places.user[value] = Some((block, data.insts.len() as Place));
            });
        }
        let mut deferral = Deferral {
            deferred: SecondaryMap::with_capacity(func.insts.len()),
            repeated: SecondaryMap::with_capacity(func.insts.len()),
            uses,
            logic,
            updates: SecondaryMap::new(),
        };
        for &block in order {
            deferral.addresses(func, block, &places);
        }
        for &block in order {
            deferral.block(func, target, block, &places);
        }
        deferral
    }

    /// Addresses a constant away from others, but for those that are part of one user anyway.
    fn addresses(&mut self, func: &Function, block: Block, places: &Places) {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            let (Op::PtrAdd, &[base, bytes], &[result]) =
                (&data.op, &data.args[..], &data.results[..])
            else {
                continue;
            };
            let uses = self.uses[result];
            let is_part = uses == 1 && places.user[result].is_some_and(|(by, _)| by == block);
            if func.ty(result).lanes == 1 && func.as_const(bytes).is_some() && !is_part {
                self.deferred[inst] = true;
                self.repeated[inst] = true;
                // It is used wherever this one is.
                self.uses[base] += uses;
            }
        }
    }

    fn block(&mut self, func: &Function, target: &Target, block: Block, places: &Places) {
        let insts = &func.blocks[block].insts;
        let writes = |inst: Inst| {
            let op = &func.insts[inst].op;
            op.has_side_effect()
        };
        let mut writes_before = Vec::with_capacity(insts.len() + 1);
        let mut count = 0u32;
        for &inst in insts {
            writes_before.push(count);
            count += u32::from(writes(inst));
        }
        writes_before.push(count);
        // Where each instruction is selected.
        let mut selected: Vec<Place> = (0..insts.len() as Place).collect();
        for n in (0..insts.len()).rev() {
            let data = &func.insts[insts[n]];
            if let Some((update, parts)) = self.update(func, insts[n]) {
                let at = parts.map(|part| places.of[part] as usize);
                let are_here = at.iter().zip(parts).all(|(&at, part)| {
                    insts.get(at) == Some(&part) && writes_before[at] == writes_before[n]
                });
                if are_here {
                    for (at, part) in at.into_iter().zip(parts) {
                        selected[at] = n as Place;
                        self.deferred[part] = true;
                    }
                    self.updates[insts[n]] = Some(update);
                    // The load's and the store's are one.
                    self.uses[data.args[0]] -= 1;
                }
                continue;
            }
            let &[result] = &data.results[..] else {
                continue;
            };
            if self.uses[result] != 1 || self.deferred[insts[n]] {
                continue;
            }
            let Some((_, by)) = places.user[result].filter(|&(place, _)| place == block) else {
                continue;
            };
            let by_inst = insts.get(by as usize).copied();
            let is_part = is_foldable(func, insts[n])
                || by_inst.is_some_and(|by| {
                    is_complement(func, target, insts[n], by)
                        || is_shifted_field(func, target, insts[n], by)
                });
            if !is_part {
                continue;
            }
            let place = selected.get(by as usize).copied().unwrap_or(by);
            let is_load = matches!(data.op, Op::Load(_));
            if is_load && writes_before[n] != writes_before[place as usize] {
                continue;
            }
            selected[n] = place;
            self.deferred[insts[n]] = true;
        }
    }

    /// What a store of one lane does to what is in memory, and the instructions that load and
    /// change it, if nothing else uses what they compute.
    fn update(&self, func: &Function, inst: Inst) -> Option<(Update, [Inst; 2])> {
        let data = &func.insts[inst];
        let (Op::Store(mem), &[address, value]) = (&data.op, &data.args[..]) else {
            return None;
        };
        let ty = func.ty(value);
        let is_scalar = ty.lanes == 1 && ty.scalar != Scalar::I1 && func.ty(address).lanes == 1;
        if !is_scalar || mem.volatile {
            return None;
        }
        let only_use = |value: Value| func.def_inst(value).filter(|_| self.uses[value] == 1);
        let change = only_use(value)?;
        let (&Op::Binary(op, _), &[a, b]) = (&func.insts[change].op, &func.insts[change].args[..])
        else {
            return None;
        };
        let commutes = match op {
            BinOp::IAdd | BinOp::And | BinOp::Or | BinOp::Xor => true,
            BinOp::ISub => false,
            _ => return None,
        };
        let loads = |value: Value| {
            let load = only_use(value)?;
            let data = &func.insts[load];
            let same = data.args[..] == [address] && data.results.len() == 1;
            let is_plain = matches!(&data.op, Op::Load(mem) if !mem.volatile);
            (same && is_plain).then_some(load)
        };
        let (load, other) = match loads(a) {
            Some(load) => (load, b),
            None if commutes => (loads(b)?, a),
            None => return None,
        };
        Some((Update { op, other }, [load, change]))
    }
}

/// What the instruction is selected with.
fn operands<'a>(
    func: &'a Function,
    logic: &'a SecondaryMap<Inst, Option<Logic>>,
    inst: Inst,
) -> &'a [Value] {
    match &logic[inst] {
        Some(Logic::Root(cut)) => &cut.leaves,
        Some(Logic::Covered) => &[],
        None => &func.insts[inst].args,
    }
}

/// Whether the instruction complements what its user makes part of an `andn`. AVX-512 combines more
/// than that of vectors.
fn is_complement(func: &Function, target: &Target, inst: Inst, user: Inst) -> bool {
    let data = &func.insts[inst];
    let user = &func.insts[user];
    let (Op::Unary(UnOp::Not), Op::Binary(BinOp::And, _)) = (&data.op, &user.op) else {
        return false;
    };
    let ty = func.ty(data.results[0]);
    match ty.lanes {
        1 => ty.scalar.bits() >= 32 && user.args.iter().all(|&arg| func.as_const(arg).is_none()),
        _ => ty.scalar != Scalar::I1 && target.isa < Isa::Avx512,
    }
}

/// Whether the instruction shifts what its user makes a bit field of.
fn is_shifted_field(func: &Function, target: &Target, inst: Inst, user: Inst) -> bool {
    let shift = &func.insts[inst];
    let user = &func.insts[user];
    let (Op::Binary(BinOp::LShr, _), Op::Binary(BinOp::And, _)) = (&shift.op, &user.op) else {
        return false;
    };
    let ty = func.ty(shift.results[0]);
    let bits = u64::from(ty.scalar.bits());
    let is_low_mask = |&arg: &Value| {
        let mask = func.as_const(arg);
        mask.is_some_and(|mask| mask.wrapping_add(1).is_power_of_two())
    };
    target.fast_bit_fields
        && ty.lanes == 1
        && bits >= 32
        && func.as_const(shift.args[1]).is_some_and(|by| by < bits)
        && user.args.iter().any(is_low_mask)
}

/// Whether some user can make something of the instruction.
fn is_foldable(func: &Function, inst: Inst) -> bool {
    let data = &func.insts[inst];
    match &data.op {
        Op::Load(mem) => !mem.volatile && !mem.masked && data.results.len() == 1,
        Op::ICmp(_) | Op::FCmp(_) | Op::AnyTrue | Op::AllTrue => true,
        Op::Splat => func.ty(data.results[0]).scalar != Scalar::I1,
        Op::Unary(UnOp::FNeg) => true,
        Op::Unary(UnOp::Not) => func.ty(data.results[0]).scalar == Scalar::I1,
        Op::PtrAdd => func.ty(data.results[0]).lanes == 1,
        Op::Binary(BinOp::IMul | BinOp::Shl, _) => {
            func.ty(data.results[0]).lanes == 1 && func.as_const(data.args[1]).is_some()
        }
        Op::Convert(ConvertOp::SExt | ConvertOp::ZExt, _) => func.ty(data.results[0]).lanes == 1,
        _ => false,
    }
}
