//! What a tree of an initialiser becomes: a constant, or stores.

use std::collections::BTreeMap;

use super::Node;
use crate::ast::InitId;
use crate::hir::{Constant, ExprId, ExprKind, Global, Linkage, Stmt, StmtKind};
use crate::sema::{Operand, Place, Sema};
use crate::token::{Loc, Span};
use crate::types::{QualType, Space, Type, TypeId, Types};

/// Constants of at most as many bytes are stored as values.
const WORDS: u64 = 16;

/// Constants of more elements than this are refused.
const MAX_ELEMENTS: u64 = 1 << 22;

impl Sema<'_> {
    /// The value of an initialiser of static storage; `None` for one of zeros and for what is
    /// wrong.
    pub(in crate::sema) fn constant_initialiser(
        &mut self,
        ty: TypeId,
        init: InitId,
    ) -> Option<Constant> {
        if self.is_error(ty) {
            self.visit_initialiser(init);
            return None;
        }
        let outer = std::mem::replace(&mut self.is_static_initialiser, true);
        let node = self.node(ty, init);
        let constant = node.and_then(|node| self.constant_of(ty, &node, self.ast[init].span));
        self.is_static_initialiser = outer;
        constant
    }

    fn constant_of(&mut self, ty: TypeId, node: &Node, span: Span) -> Option<Constant> {
        match node {
            Node::Value(value) => {
                if self.is_error(self.type_of(*value))
                    || matches!(self.kind_of(*value), ExprKind::Undefined)
                {
                    return None;
                }
                // Where `local` memory is differs from work-group to work-group.
                let constant = self.eval(*value).filter(|constant| match constant {
                    Constant::Address { global, .. } => {
                        self.module.globals[global.0 as usize].space != Space::Local
                    }
                    _ => true,
                });
                if constant.is_none() {
                    let loc = self.body.function[*value].loc;
                    self.diags
                        .error(loc, "initializer element is not a compile-time constant");
                }
                constant
            }
            Node::Parts(parts) => match self.types.get(ty).clone() {
                Type::Array { element, len } => {
                    let len = len.unwrap_or(0);
                    if parts.is_empty() {
                        return Some(Constant::Zero);
                    }
                    self.constant_array(element.ty, len, parts, span)
                }
                Type::Record(record) => {
                    let record = self.types.records[record.0 as usize].clone();
                    let fields = record.fields?;
                    if record.is_union {
                        let Some((&field, part)) = parts.iter().next() else {
                            return Some(Constant::Zero);
                        };
                        let value = self.constant_of(fields[field as usize].ty.ty, part, span)?;
                        return Some(Constant::Union {
                            field: field as u32,
                            value: Box::new(value),
                        });
                    }
                    let mut all = vec![Constant::Zero; fields.len()];
                    for (&at, part) in parts {
                        all[at as usize] =
                            self.constant_of(fields[at as usize].ty.ty, part, span)?;
                    }
                    Some(Constant::Aggregate(all))
                }
                _ => Some(Constant::Zero),
            },
        }
    }

    /// One of zeros takes no room, whatever its length.
    fn constant_array(
        &mut self,
        element: TypeId,
        len: u64,
        parts: &BTreeMap<u64, Node>,
        span: Span,
    ) -> Option<Constant> {
        let mut known = Vec::new();
        for (&at, part) in parts.range(..len) {
            let constant = self.constant_of(element, part, span)?;
            if !is_zero(&constant) {
                known.push((at, constant));
            }
        }
        if known.is_empty() {
            return Some(Constant::Zero);
        }
        if len > MAX_ELEMENTS {
            self.diags.error(
                span,
                format!("initializer of an array of {len} elements is too large"),
            );
            return None;
        }
        let mut all = vec![Constant::Zero; len as usize];
        for (at, constant) in known {
            all[at as usize] = constant;
        }
        Some(Constant::Aggregate(all))
    }

    /// Stores that give an object of automatic storage what a list (or a string) says.
    pub(in crate::sema) fn initialise_aggregate(
        &mut self,
        address: ExprId,
        ty: QualType,
        align: u64,
        init: InitId,
        into: &mut Vec<Stmt>,
    ) {
        let span = self.ast[init].span;
        let Some(node) = self.node(ty.ty, init) else {
            return;
        };
        self.note_escape_of_aggregate(address, ty.ty);
        let operand = Operand {
            place: Place::Object(address, align),
            ty: ty.ty.into(),
            span,
        };
        if let Node::Parts(_) = node
            && let Some(constant) = self.known(ty.ty, &node, span)
        {
            return self.store_constant(operand, constant, span.first, into);
        }
        if let Node::Parts(_) = node
            && !self.is_complete(ty.ty, &node)
        {
            self.store_constant(operand, Constant::Zero, span.first, into);
        }
        self.store_node(operand, &node, into);
    }

    fn note_escape_of_aggregate(&mut self, address: ExprId, ty: TypeId) {
        if matches!(self.types.get(ty), Type::Array { .. } | Type::Record(_)) {
            self.note_escape(address);
        }
    }

    /// The constant that a tree is, if all of it is known; nothing is told.
    fn known(&mut self, ty: TypeId, node: &Node, span: Span) -> Option<Constant> {
        if !self.all_known(node) {
            return None;
        }
        self.constant_of(ty, node, span)
    }

    fn all_known(&self, node: &Node) -> bool {
        match node {
            Node::Value(value) => self.eval(*value).is_some_and(|constant| {
                !matches!(constant, Constant::Address { .. } | Constant::Sampler(_))
            }),
            Node::Parts(parts) => parts.values().all(|part| self.all_known(part)),
        }
    }

    /// A whole constant at once: a value if it is small, otherwise a copy from `constant` memory.
    fn store_constant(&mut self, to: Operand, constant: Constant, loc: Loc, into: &mut Vec<Stmt>) {
        let (size, align) = self.types.layout_of(to.ty).unwrap_or((0, 1));
        let Place::Object(address, known) = to.place else {
            return;
        };
        if constant == Constant::Zero || size <= WORDS {
            let value = self.add(ExprKind::Constant(constant), to.ty.ty, loc);
            return self.push_store(to, value, loc, into);
        }
        let name = self.interner.intern(".init");
        let global = Global {
            name,
            ty: to.ty.ty,
            space: Space::Constant,
            is_const: true,
            is_volatile: false,
            align,
            init: Some(constant),
            linkage: Linkage::Internal,
            loc,
        };
        let global = self.add_global(global, to.ty);
        let pointer = self.types.pointer(to.ty, Space::Constant);
        let from = self.add(ExprKind::Global(global), pointer, loc);
        let copy = ExprKind::Copy {
            to: address,
            from,
            size,
            align: align.min(known),
        };
        let copy = self.add(copy, Types::VOID, loc);
        into.push(Stmt {
            kind: StmtKind::Expr(copy),
            loc,
        });
    }

    /// An object's first value.
    pub(in crate::sema) fn push_store(
        &mut self,
        to: Operand,
        value: ExprId,
        loc: Loc,
        into: &mut Vec<Stmt>,
    ) {
        let Place::Object(pointer, align) = to.place else {
            return;
        };
        let access = self.access(to.ty, align);
        let kind = ExprKind::Store {
            pointer,
            value,
            access,
        };
        let store = self.add(kind, Types::VOID, loc);
        into.push(Stmt {
            kind: StmtKind::Expr(store),
            loc,
        });
    }

    /// Whether every byte of the object is mentioned.
    fn is_complete(&self, ty: TypeId, node: &Node) -> bool {
        let Node::Parts(parts) = node else {
            return true;
        };
        match self.types.get(ty) {
            Type::Array { element, len } => {
                Some(parts.len() as u64) == *len
                    && parts
                        .values()
                        .all(|part| self.is_complete(element.ty, part))
            }
            Type::Record(record) => {
                let record = &self.types.records[record.0 as usize];
                let fields: Vec<TypeId> = record.fields.iter().flatten().map(|f| f.ty.ty).collect();
                !record.is_union
                    && parts.len() == fields.len()
                    && parts
                        .iter()
                        .all(|(&at, part)| self.is_complete(fields[at as usize], part))
            }
            _ => false,
        }
    }

    fn store_node(&mut self, to: Operand, node: &Node, into: &mut Vec<Stmt>) {
        let loc = to.span.first;
        let parts = match node {
            Node::Value(value) => return self.push_store(to, *value, loc, into),
            Node::Parts(parts) => parts,
        };
        for (&at, part) in parts {
            let to = match *self.types.get(to.ty.ty) {
                Type::Array { element, .. } => {
                    let index = self.int_constant(at, Types::LONG, loc);
                    self.element(to, element, index, to.span)
                }
                _ => self.field_operand(to, at as u32, to.span),
            };
            let to = Operand {
                ty: to.ty.ty.into(),
                ..to
            };
            self.store_node(to, part, into);
        }
    }
}

/// Whether all bytes are zero.
fn is_zero(constant: &Constant) -> bool {
    matches!(
        constant,
        Constant::Zero | Constant::Int(0) | Constant::Float(0) | Constant::Pointer(0)
    )
}
