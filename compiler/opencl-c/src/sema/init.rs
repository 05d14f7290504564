//! Initialisers: nested lists, designators, brace elision, strings. C99, "Initialization".
//!
//! A list becomes a tree of what each subobject gets ([`Node`]), which is written down as a
//! constant or as stores.

use std::collections::BTreeMap;

use super::convert::Goal;
use super::{Operand, Place, Sema};
use crate::ast::{self, Designator, InitId, InitItem, InitKind};
use crate::hir::{Constant, ExprId, ExprKind, Global, Linkage, Stmt, StmtKind};
use crate::token::{Loc, Span};
use crate::types::{QualType, Space, Type, TypeId, Types};

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

/// Constants of at most as many bytes are stored as values.
const WORDS: u64 = 16;

/// Constants of more elements than this are refused.
const MAX_ELEMENTS: u64 = 1 << 22;

/// Ranges of more elements than this are refused.
const MAX_RANGE: u64 = 1 << 20;

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

    /// The value of an initialiser of static storage; `None` for one of zeros and for what is
    /// wrong.
    pub(super) fn constant_initialiser(&mut self, ty: TypeId, init: InitId) -> Option<Constant> {
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
    pub(super) fn initialise_aggregate(
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

    fn push_store(&mut self, to: Operand, value: ExprId, loc: Loc, into: &mut Vec<Stmt>) {
        let Place::Object(address, align) = to.place else {
            return;
        };
        let access = self.access(to.ty, align);
        let kind = ExprKind::Store {
            pointer: address,
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
                    {
                        // A compound literal: its value.
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
                Some(Node::Value(self.assignable(operand, ty, Goal::Init)))
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
                    let (node, given) =
                        self.vector_elements(scalar, lanes, &mut cursor, span)?;
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

    /// How many parts an aggregate has that an initialiser fills in order.
    pub(super) fn part_count(&self, ty: TypeId) -> u64 {
        match self.types.get(ty) {
            Type::Array { len, .. } => len.unwrap_or(0),
            Type::Record(record) => {
                let record = &self.types.records[record.0 as usize];
                let count = record.fields.as_ref().map_or(0, Vec::len) as u64;
                if record.is_union { count.min(1) } else { count }
            }
            _ => 0,
        }
    }

    pub(super) fn part_type(&self, ty: TypeId, at: u64) -> Option<TypeId> {
        match self.types.get(ty) {
            Type::Array { element, .. } => Some(element.ty),
            Type::Record(record) => {
                let fields = self.types.records[record.0 as usize].fields.as_ref()?;
                Some(fields.get(at as usize)?.ty.ty)
            }
            _ => None,
        }
    }

    /// Gives an aggregate's parts their items. Without braces of its own it takes no designators
    /// and no more than it has parts.
    fn fill(
        &mut self,
        ty: TypeId,
        parts: &mut BTreeMap<u64, Node>,
        cursor: &mut Cursor<'_>,
        braced: bool,
        span: Span,
    ) -> Option<()> {
        self.fill_from(ty, 0, parts, cursor, braced, span)
    }

    /// The same, from a part on.
    fn fill_from(
        &mut self,
        ty: TypeId,
        mut at: u64,
        parts: &mut BTreeMap<u64, Node>,
        cursor: &mut Cursor<'_>,
        braced: bool,
        span: Span,
    ) -> Option<()> {
        let count = self.part_count(ty);
        while let Some(item) = cursor.items.first() {
            if let Some(designator) = item.designators.first() {
                if !braced {
                    return Some(());
                }
                at = self.designated(ty, parts, *designator, cursor, span)?;
                continue;
            }
            if at >= count {
                return Some(());
            }
            let part = self.part_type(ty, at)?;
            let node = self.next(part, cursor, span)?;
            parts.insert(at, node);
            at += 1;
        }
        Some(())
    }

    /// The first item, which has designators, and those that go on behind what it names inside of
    /// the part (C99, "Initialization": "initialization continues forward in order, beginning with
    /// the next subobject after that described by the designator"). The number of the part after
    /// it.
    fn designated(
        &mut self,
        ty: TypeId,
        parts: &mut BTreeMap<u64, Node>,
        first: Designator,
        cursor: &mut Cursor<'_>,
        span: Span,
    ) -> Option<u64> {
        let item = &cursor.items[0];
        cursor.items = &cursor.items[1..];
        let (low, high, path) = self.designator(ty, first, span)?;
        let mut way = vec![low];
        way.extend(path.iter().map(|&field| u64::from(field)));
        let mut inner = self.part_type(ty, low)?;
        for &field in &path {
            inner = self.part_type(inner, field.into())?;
        }
        // Deeper designators go on from there.
        for designator in &item.designators[1..] {
            let (low, _, path) = self.designator(inner, *designator, span)?;
            way.push(low);
            inner = self.part_type(inner, low)?;
            for field in path {
                way.push(field.into());
                inner = self.part_type(inner, field.into())?;
            }
        }
        let node = self.node(inner, item.init)?;
        for at in low..=high {
            way[0] = at;
            // What follows goes on behind the last of a range.
            let mut rest = Cursor {
                items: if at == high { cursor.items } else { &[] },
                operand: None,
            };
            self.place(ty, parts, &way, node.clone(), true, &mut rest, span)?;
            if at == high {
                *cursor = rest;
            }
        }
        Some(high + 1)
    }

    /// Puts a node where a way of parts leads, and goes on filling from there, level by level.
    #[allow(clippy::too_many_arguments)]
    fn place(
        &mut self,
        ty: TypeId,
        parts: &mut BTreeMap<u64, Node>,
        way: &[u64],
        node: Node,
        outermost: bool,
        cursor: &mut Cursor<'_>,
        span: Span,
    ) -> Option<()> {
        let (&step, deeper) = way.split_first().expect("a designator names a part");
        if self.is_union(ty) {
            parts.retain(|&field, _| field == step && !deeper.is_empty());
        }
        if deeper.is_empty() {
            parts.insert(step, node);
        } else {
            let inner = self.part_type(ty, step)?;
            let slot = parts
                .entry(step)
                .or_insert_with(|| Node::Parts(BTreeMap::new()));
            if let Node::Value(_) = slot {
                *slot = Node::Parts(BTreeMap::new());
            }
            let Node::Parts(next) = slot else {
                return None;
            };
            self.place(inner, next, deeper, node, false, cursor, span)?;
        }
        if outermost {
            return Some(());
        }
        self.fill_from(ty, step + 1, parts, cursor, false, span)
    }

    fn is_union(&self, ty: TypeId) -> bool {
        matches!(self.types.get(ty), Type::Record(record)
 if self.types.records[record.0 as usize].is_union)
    }

    /// The parts a designator names, and the way through anonymous members behind the first.
    fn designator(
        &mut self,
        ty: TypeId,
        designator: Designator,
        span: Span,
    ) -> Option<(u64, u64, Vec<u32>)> {
        match (designator, self.types.get(ty).clone()) {
            (Designator::Field(name, loc), Type::Record(record)) => {
                let Some(path) = self.find_field(record, name) else {
                    let (ty, text) = (self.quote(ty), self.text(name));
                    self.diags.error(
                        loc,
                        format!(
                            "field designator '{text}' does not refer to any field in type {ty}"
                        ),
                    );
                    return None;
                };
                Some((path[0].into(), path[0].into(), path[1..].to_vec()))
            }
            (Designator::Index(index), Type::Array { len, .. }) => {
                let index = self.array_index(index, len)?;
                Some((index, index, Vec::new()))
            }
            (Designator::Range(low, high), Type::Array { len, .. }) => {
                let (low, high) = (self.array_index(low, len)?, self.array_index(high, len)?);
                if low > high || high - low > MAX_RANGE {
                    let word = if low > high { "empty" } else { "too long" };
                    self.diags
                        .error(span, format!("array designator range is {word}"));
                    return None;
                }
                Some((low, high, Vec::new()))
            }
            _ => {
                let ty = self.quote(ty);
                self.diags.error(
                    span,
                    format!("designator in initializer for type {ty} does not fit"),
                );
                None
            }
        }
    }

    fn array_index(&mut self, index: ast::ExprId, len: Option<u64>) -> Option<u64> {
        let span = self.ast[index].span;
        let Some(value) = self.integer_constant(index) else {
            self.diags
                .error(span, "expression is not an integer constant expression");
            return None;
        };
        if (value as i64) < 0 {
            self.diags.error(
                span,
                format!("array designator value '{}' is negative", value as i64),
            );
            return None;
        }
        if len.is_some_and(|len| value >= len) {
            self.diags.error(
                span,
                format!(
                    "array designator index ({value}) exceeds array bounds ({})",
                    len.unwrap_or(0)
                ),
            );
            return None;
        }
        Some(value)
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
        Some(Node::Value(self.assignable(operand, ty, Goal::Init)))
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

    /// `(T){...}`: an object without a name.
    pub(super) fn compound_literal(
        &mut self,
        name: ast::TypeNameId,
        init: InitId,
        span: Span,
    ) -> Operand {
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
        if !matches!(self.types.get(ty.ty), Type::Array { .. } | Type::Record(_)) {
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

/// Whether all bytes are zero.
fn is_zero(constant: &Constant) -> bool {
    matches!(
        constant,
        Constant::Zero | Constant::Int(0) | Constant::Float(0) | Constant::Pointer(0)
    )
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
