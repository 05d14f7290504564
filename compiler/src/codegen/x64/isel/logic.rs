//! Bitwise operations of vectors, several in one instruction: `vpternlog` is any function of the
//! bits of three operands, by its table.

use smallvec::{SmallVec, smallvec};

use super::values::Repr;
use super::{Isel, Result};
use crate::codegen::x64::encoding::Opcode;
use crate::codegen::x64::isel::deferral::is_logic;
use crate::ir::{BinOp, Inst, Op, Type, UnOp, Value};

/// What the table has for each operand alone: bit `n` is the operand's value in row `n`.
const COLUMNS: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// The operands of an expression, all different.
type Leaves = SmallVec<[Value; 3]>;

impl Isel<'_> {
    /// A bitwise operation together with those that only it uses, if they have no more than three
    /// operands.
    pub fn logic(&mut self, inst: Inst, ty: Type) -> Result<Option<Repr>> {
        let mut leaves = Leaves::new();
        add(&mut leaves, &self.func.insts[inst].args);
        let mut inner: SmallVec<[Inst; 8]> = smallvec![inst];
        while let Some((next, with)) = self.taken_apart(&leaves) {
            inner.push(next);
            leaves = with;
        }
        if inner.len() < 2 {
            return Ok(None);
        }
        // What can be in memory comes last, and what nothing else uses first: its register is
        // overwritten.
        leaves.sort_by_key(|&leaf| {
            let in_memory = self.func.as_const(leaf).is_some() || self.deferred(leaf).is_some();
            (in_memory, self.deferral.uses[leaf] > 1)
        });
        let table = self.table(inst, &leaves, &inner);
        let shape = self.shape(ty);
        let opcode = match ty.scalar.bits() {
            64 => Opcode::Vpternlogq,
            _ => Opcode::Vpternlogd,
        };
        let first = self.parts(leaves[0])?;
        let second = match leaves.len() {
            1 => first.clone(),
            _ => self.parts(leaves[1])?,
        };
        let third = match leaves.get(2) {
            Some(&leaf) => self.operands(leaf, true)?,
            None => second.iter().map(|&part| part.into()).collect(),
        };
        let parts = (0..shape.count).map(|n| {
            self.define(opcode, shape.size, |plain| {
                (plain.c, plain.a, plain.b) = (first[n], second[n], third[n]);
                plain.imm = table.into();
            })
        });
        Ok(Some(Repr::Vector(parts.collect())))
    }

    /// An operand that is such an operation itself, which only this expression uses, and the
    /// expression's operands with that one's in its place.
    fn taken_apart(&self, leaves: &Leaves) -> Option<(Inst, Leaves)> {
        leaves.iter().enumerate().find_map(|(n, &leaf)| {
            let inst = self
                .deferred(leaf)
                .filter(|&inst| is_logic(self.func, inst))?;
            let mut with = leaves.clone();
            with.remove(n);
            add(&mut with, &self.func.insts[inst].args);
            (with.len() <= 3).then_some((inst, with))
        })
    }

    /// The table of an expression of these operands.
    fn table(&self, inst: Inst, leaves: &Leaves, inner: &[Inst]) -> u8 {
        let data = &self.func.insts[inst];
        let column = |value: Value| match leaves.iter().position(|&leaf| leaf == value) {
            Some(n) => COLUMNS[n],
            None => {
                let inst = self.deferred(value).expect("taken apart");
                debug_assert!(inner.contains(&inst));
                self.table(inst, leaves, inner)
            }
        };
        let args = &data.args;
        match data.op {
            Op::Unary(UnOp::Not) => !column(args[0]),
            Op::Binary(BinOp::And, _) => column(args[0]) & column(args[1]),
            Op::Binary(BinOp::Or, _) => column(args[0]) | column(args[1]),
            Op::Binary(BinOp::Xor, _) => column(args[0]) ^ column(args[1]),
            ref other => unreachable!("`{other}` is not bitwise"),
        }
    }
}

fn add(leaves: &mut Leaves, values: &[Value]) {
    for &value in values {
        if !leaves.contains(&value) {
            leaves.push(value);
        }
    }
}
