//! Initialisers: nested lists, designators, brace elision, strings. C99, "Initialization".
//!
//! A list becomes a tree of what each subobject gets ([`Node`]), which is written down as a
//! constant or as stores.
//!
//! - `mod.rs`: trees of lists, strings, vectors; compound literals
//! - `designators.rs`: which subobject an item is for
//! - `write.rs`: constants and stores
//! - `length.rs`: the lengths that initialisers give arrays
//!
//! Open [`Sema::node`] first.

mod designators;
mod length;
mod write;

use std::collections::BTreeMap;

use super::convert::Goal;
use super::{Operand, Place, Sema};
use crate::ast::{self, InitId, InitItem, InitKind};
use crate::hir::{Constant, ExprId, ExprKind, Global, Linkage};
use crate::token::Span;
use crate::types::{Space, Type, TypeId, Types};

/// What an object is initialised by; what is not mentioned is zero.
#[derive(Clone)]
enum Node {
    Value(ExprId),
    Parts(BTreeMap<u64, Node>),
}

/// The items of a list, as subobjects take them.
struct Cursor<'a> {
    items: &'a [InitItem],
    /// The first item's operand, if it was looked at already.
    operand: Option<Operand>,
}

impl Sema<'_> {
    /// Looks at the expressions of an initialiser whose object is wrong.
    pub(super) fn visit_initialiser(&mut self, init: InitId) {
        let ast = self.ast;
        match &ast[init].kind {
            InitKind::Expr(expr) => {
                self.expr(*expr);
            }
            InitKind::List(items) => {
                for item in items {
                    self.visit_initialiser(item.init);
                }
            }
        }
    }

    /// What an initialiser says of an object; `None` where an error was told.
    fn node(&mut self, ty: TypeId, init: InitId) -> Option<Node> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.node_of(ty, init))
    }

    fn node_of(&mut self, ty: TypeId, init: InitId) -> Option<Node> {
        let ast = self.ast;
        let span = ast[init].span;
        match &ast[init].kind {
            InitKind::Expr(expr) => {
                if let Type::Array { element, len } = *self.types.get(ty) {
                    if let Some(text) = string_of(ast, *expr).filter(|_| self.is_char(element.ty)) {
                        return Some(self.string_node(text, element.ty, len, span));
                    }
                    let operand = self.expr(*expr);
                    if let Place::Object(address, align) = operand.place
                        && operand.ty.ty == ty
                        && is_compound_literal(ast, *expr)
                    {
                        // Its value.
                        let value = self.load(address, ty.into(), align, span.first);
                        return Some(Node::Value(value));
                    }
                    self.diags.error(
                        span,
                        "array initializer must be an initializer list or string literal",
                    );
                    return None;
                }
                let operand = self.expr(*expr);
                Some(Node::Value(self.assignable(
                    operand,
                    ty,
                    Goal::Init(None, None),
                )))
            }
            InitKind::List(items) => match *self.types.get(ty) {
                Type::Array { element, len } if !items.is_empty() && self.is_char(element.ty) => {
                    let Some(text) = self.item_string(&items[0]) else {
                        return self.list(ty, items, span);
                    };
                    if let Some(excess) = items.get(1) {
                        self.diags.warning(
                            "excess-initializers",
                            ast[excess.init].span,
                            "excess elements in char array initializer",
                        );
                    }
                    Some(self.string_node(text, element.ty, len, span))
                }
                Type::Array { .. } | Type::Record(_) => self.list(ty, items, span),
                Type::Vector(scalar, lanes) => {
                    let mut cursor = Cursor {
                        items,
                        operand: None,
                    };
                    let (node, given) = self.vector_elements(scalar, lanes, &mut cursor, span)?;
                    if let Some(excess) = cursor.items.first() {
                        let at = ast[excess.init].span;
                        self.diags
                            .error(at, "excess elements in vector initializer");
                    } else if given > 0 && given < lanes {
                        let message = format!(
                            "too few elements in vector initialization (expected {lanes} \
                             elements, have {given})"
                        );
                        self.diags.error(span, message);
                    }
                    Some(node)
                }
                _ => match items.as_slice() {
                    [] => {
                        let zero = self.add(ExprKind::Constant(Constant::Zero), ty, span.first);
                        Some(Node::Value(zero))
                    }
                    [first, rest @ ..] => {
                        if !rest.is_empty() {
                            self.diags.warning(
                                "excess-initializers",
                                ast[rest[0].init].span,
                                "excess elements in scalar initializer",
                            );
                        }
                        self.node(ty, first.init)
                    }
                },
            },
        }
    }

    fn string_node(&mut self, text: &[u8], element: TypeId, len: Option<u64>, span: Span) -> Node {
        let len = len.unwrap_or(text.len() as u64 + 1);
        if text.len() as u64 > len {
            self.diags.warning(
                "excess-initializers",
                span,
                "initializer-string for char array is too long",
            );
        }
        let parts = text.iter().take(len as usize).enumerate();
        let parts = parts
            .map(|(at, &byte)| {
                let bits = if element == Types::CHAR {
                    i64::from(byte as i8) as u64
                } else {
                    byte.into()
                };
                let value = self.int_constant(bits, element, span.first);
                (at as u64, Node::Value(value))
            })
            .collect();
        Node::Parts(parts)
    }

    /// `{...}` of an array or record.
    fn list(&mut self, ty: TypeId, items: &[InitItem], span: Span) -> Option<Node> {
        let mut parts = BTreeMap::new();
        let mut cursor = Cursor {
            items,
            operand: None,
        };
        self.fill(ty, &mut parts, &mut cursor, true, span)?;
        if let Some(item) = cursor.items.first() {
            let kind = match self.types.get(ty) {
                Type::Array { .. } => "array",
                Type::Record(record) if self.types.records[record.0 as usize].is_union => "union",
                _ => "struct",
            };
            self.diags.warning(
                "excess-initializers",
                self.ast[item.init].span,
                format!("excess elements in {kind} initializer"),
            );
        }
        Some(Node::Parts(parts))
    }

    /// The next part, by one item or, without braces, by as many as it takes.
    fn next(&mut self, ty: TypeId, cursor: &mut Cursor<'_>, span: Span) -> Option<Node> {
        let ast = self.ast;
        let item = cursor.items.first()?;
        let expr = match ast[item.init].kind {
            InitKind::List(_) => {
                cursor.items = &cursor.items[1..];
                return self.node(ty, item.init);
            }
            InitKind::Expr(expr) => expr,
        };
        let is_aggregate = matches!(self.types.get(ty), Type::Array { .. } | Type::Record(_));
        if let Type::Array { element, len } = *self.types.get(ty)
            && self.is_char(element.ty)
            && let Some(text) = string_of(ast, expr)
        {
            cursor.items = &cursor.items[1..];
            return Some(self.string_node(text, element.ty, len, ast[item.init].span));
        }
        let operand = match cursor.operand.take() {
            Some(operand) => operand,
            None => self.expr(expr),
        };
        if let Type::Vector(scalar, lanes) = *self.types.get(ty)
            && matches!(self.types.as_arithmetic(operand.ty.ty), Some((_, n)) if n < lanes)
        {
            cursor.operand = Some(operand);
            let made = self.vector_elements(scalar, lanes, cursor, span);
            return made.map(|(node, _)| node);
        }
        if is_aggregate && operand.ty.ty != ty && !self.is_error(operand.ty.ty) {
            cursor.operand = Some(operand);
            let mut parts = BTreeMap::new();
            let before = cursor.items.len();
            self.fill(ty, &mut parts, cursor, false, span)?;
            if cursor.items.len() == before {
                cursor.operand = None;
                if self.part_count(ty) > 0 {
                    cursor.items = &cursor.items[1..];
                }
            }
            return Some(Node::Parts(parts));
        }
        cursor.items = &cursor.items[1..];
        Some(Node::Value(self.assignable(
            operand,
            ty,
            Goal::Init(None, None),
        )))
    }

    /// A vector of scalars and shorter vectors, and how many components are given; the others are
    /// zero.
    fn vector_elements(
        &mut self,
        scalar: crate::types::Scalar,
        lanes: u8,
        cursor: &mut Cursor<'_>,
        span: Span,
    ) -> Option<(Node, u8)> {
        let ast = self.ast;
        let mut operands: Vec<Operand> = Vec::new();
        let mut total = 0u8;
        while total < lanes {
            let Some(item) = cursor
                .items
                .first()
                .filter(|item| item.designators.is_empty())
            else {
                break;
            };
            let operand = match (cursor.operand.take(), &ast[item.init].kind) {
                (Some(operand), _) => operand,
                (None, InitKind::Expr(expr)) => self.expr(*expr),
                (None, InitKind::List(_)) => {
                    let ty = self.types.scalar(scalar);
                    match self.node(ty, item.init)? {
                        Node::Value(value) => self.value(value, span),
                        Node::Parts(_) => return None,
                    }
                }
            };
            cursor.items = &cursor.items[1..];
            let count = self
                .types
                .as_arithmetic(operand.ty.ty)
                .map_or(1, |(_, n)| n);
            total += count;
            operands.push(operand);
        }
        let given = total;
        while total < lanes {
            let ty = self.types.scalar(scalar);
            let zero = self.add(ExprKind::Constant(Constant::Zero), ty, span.first);
            operands.push(self.value(zero, span));
            total += 1;
        }
        let value = self.vector_of(&operands, scalar, lanes, span);
        Some((Node::Value(value), given))
    }

    /// `(T){...}`: an object without a name; only a value if that is all that is wanted of it.
    pub(super) fn compound_literal(
        &mut self,
        name: ast::TypeNameId,
        init: InitId,
        span: Span,
    ) -> Operand {
        let wants_address = std::mem::take(&mut self.wants_address);
        let (mut ty, space) = self.type_name(name);
        ty.ty = self.complete_array(ty.ty, init);
        if self.is_error(ty.ty) {
            self.visit_initialiser(init);
            return self.error(span);
        }
        if self.types.layout(ty.ty).is_none() {
            let name = self.quote(ty);
            self.diags
                .error(span, format!("variable has incomplete type {name}"));
            return self.error(span);
        }
        let align = self.types.layout_of(ty).map_or(1, |(_, align)| align);
        let is_aggregate = matches!(self.types.get(ty.ty), Type::Array { .. } | Type::Record(_));
        if !is_aggregate && !wants_address {
            return match self.node(ty.ty, init) {
                Some(Node::Value(value)) => self.value(value, span),
                _ => self.error(span),
            };
        }
        if !self.in_function || self.is_static_initialiser || space == Some(Space::Constant) {
            let value = self.constant_initialiser(ty.ty, init);
            let name = self.interner.intern(".compoundliteral");
            let own_space = match self.has_program_scope() && !ty.quals.is_const {
                true => Space::Global,
                false => Space::Constant,
            };
            let space = space.unwrap_or(own_space);
            let global = Global {
                name,
                ty: ty.ty,
                space,
                is_const: ty.quals.is_const || space == Space::Constant,
                is_volatile: false,
                align,
                init: value,
                linkage: Linkage::Internal,
                loc: span.first,
            };
            let id = self.add_global(global, ty);
            self.literals.insert(id);
            return self.global_operand(id, span);
        }
        let local = self.new_local(crate::symbol::Symbol::default(), ty, align, span.first);
        let pointer = self.types.pointer(ty.ty.into(), Space::Private);
        let address = self.add(ExprKind::Local(local), pointer, span.first);
        self.note_escape(address);
        let mut stores = Vec::new();
        self.initialise(address, ty, align, init, &mut stores);
        let id = self.add(
            ExprKind::Statements(stores, Some(address)),
            pointer,
            span.first,
        );
        Operand {
            place: Place::Object(id, align),
            ty,
            span,
        }
    }
}

/// Whether an expression is a compound literal, in any number of parentheses.
pub(super) fn is_compound_literal(ast: &ast::Ast, mut expr: ast::ExprId) -> bool {
    while let ast::ExprKind::Paren(inner) = ast[expr].kind {
        expr = inner;
    }
    matches!(ast[expr].kind, ast::ExprKind::Compound(..))
}

/// The bytes of a string literal, in any number of parentheses.
pub(super) fn string_of(ast: &ast::Ast, mut expr: ast::ExprId) -> Option<&[u8]> {
    loop {
        match &ast[expr].kind {
            ast::ExprKind::Paren(inner) => expr = *inner,
            ast::ExprKind::Str(text) => return Some(&ast[*text]),
            _ => return None,
        }
    }
}
