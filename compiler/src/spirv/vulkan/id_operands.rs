//! Which operands of an instruction are ids, by its grammar.

use rspirv::grammar::{LogicalOperand, OperandKind, OperandQuantifier};

use super::super::decode::grammar;
use super::source::{Source, SourceInst};

/// What an id among the operands says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum IdUse {
    Value,
    Scope,
    Semantics,
}

impl Source<'_> {
    /// Which operands are ids, as indices of `operands`, and what they say. Those of memory
    /// operands, decorations and the like are left out: they are constants or the module's own.
    pub fn id_operands(&self, inst: &SourceInst<'_>) -> Vec<(usize, IdUse)> {
        let mut found = Vec::new();
        let mut walk = OperandWalk {
            source: self,
            inst,
            at: 0,
            found: &mut found,
        };
        walk.operands(inst.class.operands);
        found
    }
}

/// The walk over an instruction's operands by its grammar, which decoding has checked them by.
struct OperandWalk<'s, 'a> {
    source: &'s Source<'a>,
    inst: &'s SourceInst<'s>,
    at: usize,
    found: &'s mut Vec<(usize, IdUse)>,
}

impl OperandWalk<'_, '_> {
    fn left(&self) -> bool {
        self.at < self.inst.operands.len()
    }

    fn id(&mut self, what: IdUse) {
        if self.left() {
            self.found.push((self.at, what));
            self.at += 1;
        }
    }

    fn operands(&mut self, operands: &[LogicalOperand]) {
        for operand in operands {
            match operand.quantifier {
                OperandQuantifier::One => self.operand(operand.kind),
                OperandQuantifier::ZeroOrOne => {
                    if self.left() {
                        self.operand(operand.kind);
                    }
                }
                OperandQuantifier::ZeroOrMore => {
                    while self.left() {
                        self.operand(operand.kind);
                    }
                }
            }
        }
    }

    fn operand(&mut self, kind: OperandKind) {
        match kind {
            OperandKind::IdResultType | OperandKind::IdResult => {}
            OperandKind::IdRef => self.id(IdUse::Value),
            OperandKind::IdScope => self.id(IdUse::Scope),
            OperandKind::IdMemorySemantics => self.id(IdUse::Semantics),
            OperandKind::PairIdRefIdRef => {
                self.id(IdUse::Value);
                self.id(IdUse::Value);
            }
            OperandKind::PairIdRefLiteralInteger => {
                self.id(IdUse::Value);
                self.at += 1;
            }
            OperandKind::PairLiteralIntegerIdRef => {
                let selector = self.inst.operands.first();
                let ty = selector.and_then(|&selector| self.source.type_of(selector));
                let numbers = ty.and_then(|ty| self.source.numbers(ty));
                self.at += if numbers.is_some_and(|n| n.bits > 32) {
                    2
                } else {
                    1
                };
                self.id(IdUse::Value);
            }
            OperandKind::LiteralSpecConstantOpInteger => {
                let opcode = self.inst.operands.get(self.at).copied();
                self.at += 1;
                if let Some(nested) = opcode.and_then(grammar) {
                    self.operands(nested.operands);
                }
            }
            OperandKind::ImageOperands => {
                self.at += 1;
                while self.left() {
                    self.id(IdUse::Value);
                }
            }
            OperandKind::LiteralString
            | OperandKind::LiteralContextDependentNumber
            | OperandKind::Decoration
            | OperandKind::ExecutionMode
            | OperandKind::LoopControl
            | OperandKind::MemoryAccess
            | OperandKind::TensorAddressingOperands
            | OperandKind::TensorOperands => self.at = self.inst.operands.len(),
            _ => self.at += 1,
        }
    }
}
