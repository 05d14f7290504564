//! Constants computed, identities applied, branches decided.
//!
//! One walk in reverse post-order, so that operands (but those round a loop) are simplified before
//! what uses them. Each instruction is rewritten until no rule applies; a rule gives another value
//! to use instead, or another operation for the same result. `identities/` has the rules. Every
//! rule is exact: bits change for no input, but for the payload and sign of a NaN and which NaN is
//! signalling. Linear.
//!
//! Two canonical forms help everyone after: a constant operand of a commutative operation or
//! comparison is the second, and constant parts of an address are added last, so that accesses near
//! each other share the rest.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::cursor::Cursor;
use super::identities::{Rewrite, rewrite};
use crate::ir::{Block, BlockCall, Function, Inst, IntCC, Op, Terminator, Type, UnOp, Value, eval};

/// A chain of rewrites of one instruction stops here at the latest.
const STEPS: usize = 16;

/// Folds what can be folded. Returns whether anything changed.
pub fn run(func: &mut Function) -> bool {
    let mut folder = Folder {
        cursor: Cursor::new(func),
        replace: SecondaryMap::new(),
        changed: false,
    };
    for block in folder.cursor.func.reverse_post_order() {
        folder.block(block);
    }
    let Folder {
        cursor: Cursor { func, .. },
        replace,
        changed,
    } = folder;
    // Uses that come before their definition in the walk: jump arguments round loops.
    if changed {
        func.replace_uses(&replace);
    }
    changed
}

/// A function in the middle of the walk.
struct Folder<'a> {
    /// Before the instruction that is looked at.
    cursor: Cursor<'a>,
    replace: SecondaryMap<Value, PackedOption<Value>>,
    changed: bool,
}

impl Folder<'_> {
    fn resolve(&self, value: Value) -> Value {
        match self.replace.get(value).and_then(|r| r.expand()) {
            Some(new) => new,
            None => value,
        }
    }

    fn block(&mut self, block: Block) {
        let insts = std::mem::take(&mut self.cursor.func.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            for i in 0..self.cursor.func.insts[inst].args.len() {
                let arg = self.cursor.func.insts[inst].args[i];
                self.cursor.func.insts[inst].args[i] = self.resolve(arg);
            }
            self.cursor.loc = self.cursor.func.insts[inst].loc;
            let stays = self.inst(inst);
            kept.append(&mut self.cursor.made);
            if stays {
                kept.push(inst);
            }
        }
        let mut term = std::mem::replace(
            &mut self.cursor.func.blocks[block].term,
            Terminator::Unreachable,
        );
        term.for_each_value_mut(|value| *value = self.resolve(*value));
        let term = self.terminator(term);
        kept.append(&mut self.cursor.made);
        self.cursor.func.blocks[block].insts = kept;
        self.cursor.func.blocks[block].term = term;
    }

    /// Rewrites one instruction as far as it goes; false when its result is another value now.
    fn inst(&mut self, inst: Inst) -> bool {
        if self.cursor.func.insts[inst].results.len() != 1 {
            return true;
        }
        for _ in 0..STEPS {
            if matches!(self.cursor.func.insts[inst].op, Op::Const(_)) {
                return true;
            }
            let result = self.cursor.func.insts[inst].results[0];
            let rewritten = match constant(self.cursor.func, inst) {
                Some(bits) => Some(Rewrite::Op(Op::Const(bits), SmallVec::new())),
                None => rewrite(&mut self.cursor, inst),
            };
            match rewritten {
                None => return true,
                Some(Rewrite::Value(value)) => {
                    debug_assert_eq!(self.cursor.func.ty(value), self.cursor.func.ty(result));
                    self.replace[result] = self.resolve(value).into();
                    self.changed = true;
                    return false;
                }
                Some(Rewrite::Op(op, args)) => {
                    self.cursor.func.insts[inst].op = op;
                    self.cursor.func.insts[inst].args = args;
                    self.changed = true;
                }
            }
        }
        true
    }

    fn terminator(&mut self, term: Terminator) -> Terminator {
        let new = match &term {
            Terminator::CondBr { cond, then, els } => {
                let not = match self
                    .cursor
                    .func
                    .def_inst(*cond)
                    .map(|inst| &self.cursor.func.insts[inst])
                {
                    Some(data) if data.op == Op::Unary(UnOp::Not) => Some(data.args[0]),
                    _ => None,
                };
                match (self.cursor.func.as_const(*cond), not) {
                    _ if then == els => Some(Terminator::Br(then.clone())),
                    (Some(0), _) => Some(Terminator::Br(els.clone())),
                    (Some(_), _) => Some(Terminator::Br(then.clone())),
                    (None, Some(cond)) => Some(Terminator::CondBr {
                        cond,
                        then: els.clone(),
                        els: then.clone(),
                    }),
                    (None, None) => None,
                }
            }
            Terminator::Switch {
                value,
                cases,
                default,
            } => match self.cursor.func.as_const(*value) {
                Some(bits) => {
                    let taken = cases.iter().find(|&&(case, _)| case == bits);
                    let call = taken.map_or(default, |(_, call)| call);
                    Some(Terminator::Br(call.clone()))
                }
                None => self.switch(*value, cases, default),
            },
            _ => None,
        };
        self.changed |= new.is_some();
        new.unwrap_or(term)
    }

    /// A switch with fewer cases, when some do what the default does, or one or none are left.
    fn switch(
        &mut self,
        value: Value,
        cases: &[(u64, BlockCall)],
        default: &BlockCall,
    ) -> Option<Terminator> {
        let is_useful = |(_, call): &&(u64, BlockCall)| call != default;
        if cases.len() > 1 && cases.iter().all(|case| is_useful(&case)) {
            return None;
        }
        let useful: Vec<_> = cases.iter().filter(is_useful).cloned().collect();
        match useful.as_slice() {
            [] => Some(Terminator::Br(default.clone())),
            [(bits, call)] => {
                let case = self.cursor.constant(self.cursor.func.ty(value), *bits);
                let cond = self
                    .cursor
                    .make(Op::ICmp(IntCC::Eq), &[value, case], Type::I1);
                Some(Terminator::CondBr {
                    cond,
                    then: call.clone(),
                    els: default.clone(),
                })
            }
            _ => Some(Terminator::Switch {
                value,
                cases: useful,
                default: default.clone(),
            }),
        }
    }
}

/// The bits of every lane of an operation on constants, when its result has the same bits in each.
fn constant(func: &Function, inst: Inst) -> Option<u64> {
    let data = &func.insts[inst];
    if data.args.is_empty() || !data.op.is_pure() {
        return None;
    }
    let mut lanes: SmallVec<[(Type, eval::Lanes); 4]> = SmallVec::new();
    for &arg in &data.args {
        lanes.push((func.ty(arg), const_lanes(func, arg)?));
    }
    let args: SmallVec<[(Type, &[u64]); 4]> = lanes
        .iter()
        .map(|(ty, lanes)| (*ty, lanes.as_slice()))
        .collect();
    let result = eval::pure(&data.op, &args, func.ty(data.results[0]))?;
    let first = result[0];
    result.iter().all(|&lane| lane == first).then_some(first)
}

/// The lanes of a constant, or of a vector built of constants.
fn const_lanes(func: &Function, value: Value) -> Option<eval::Lanes> {
    let data = &func.insts[func.def_inst(value)?];
    match data.op {
        Op::Const(bits) => Some(SmallVec::from_elem(bits, usize::from(func.ty(value).lanes))),
        Op::Build => data.args.iter().map(|&arg| func.as_const(arg)).collect(),
        _ => None,
    }
}
