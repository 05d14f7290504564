//! `.`, `->`, `[]`: members, components of vectors, elements. OpenCL C Specification, "Vector
//! Components".

use super::{Lanes, Operand, Operator, Place, Sema};
use crate::ast::{self, Designator};
use crate::hir::{ExprId, ExprKind};
use crate::symbol::Symbol;
use crate::token::{Loc, Span};
use crate::types::{QualType, RecordId, Type, TypeId, Types};

impl Sema<'_> {
    pub(super) fn member(
        &mut self,
        base: ast::ExprId,
        name: Symbol,
        name_loc: Loc,
        arrow: bool,
        span: Span,
    ) -> Operand {
        let mut operand = self.expr(base);
        if self.is_error(operand.ty.ty) {
            return self.error(span);
        }
        if arrow {
            let value = self.rvalue(operand);
            if !matches!(self.types.get(self.type_of(value)), Type::Pointer { .. }) {
                let ty = self.quote_value(value);
                let message = match self.types.get(self.type_of(value)) {
                    Type::Error => return self.error(span),
                    Type::Record(_) => {
                        format!(
                            "member reference type {ty} is not a pointer; did you mean to use '.'?"
                        )
                    }
                    _ => format!("member reference type {ty} is not a pointer"),
                };
                self.diags.error(name_loc, message);
                return self.error(span);
            }
            let pointer = self.value(value, operand.span);
            operand = self.deref(pointer, operand.span);
        }
        match *self.types.get(operand.ty.ty) {
            Type::Vector(..) => self.swizzle(operand, name, name_loc, span),
            Type::Record(record) => self.field(operand, record, name, name_loc, span),
            Type::Error => self.error(span),
            _ => {
                let ty = self.quote(operand.ty);
                let message = match self.types.get(operand.ty.ty) {
                    Type::Pointer { .. } => format!(
                        "member reference type {ty} is a pointer; did you mean to use '->'?"
                    ),
                    _ => format!("member reference base type {ty} is not a structure or union"),
                };
                self.diags.error(name_loc, message);
                self.error(span)
            }
        }
    }

    /// The way to a member, through anonymous ones.
    pub(super) fn find_field(&self, mut record: RecordId, name: Symbol) -> Option<Vec<u32>> {
        let mut path = Vec::new();
        loop {
            let definition = &self.types.records[record.0 as usize];
            let at = *definition.field_by_name.get(&name)?;
            path.push(at);
            let field = &definition.fields.as_ref()?[at as usize];
            match self.types.get(field.ty.ty) {
                Type::Record(inner) if field.name.is_none() => record = *inner,
                _ => return Some(path),
            }
        }
    }

    fn field(
        &mut self,
        mut operand: Operand,
        record: RecordId,
        name: Symbol,
        name_loc: Loc,
        span: Span,
    ) -> Operand {
        if self.types.records[record.0 as usize].fields.is_none() {
            let ty = self.quote(operand.ty);
            self.diags
                .error(span, format!("incomplete definition of type {ty}"));
            return self.error(span);
        }
        let Some(path) = self.find_field(record, name) else {
            let (ty, text) = (self.quote(operand.ty), self.text(name));
            let fields = self.types.records[record.0 as usize]
                .fields
                .iter()
                .flatten();
            let names: Vec<Symbol> = fields.filter_map(|field| field.name).collect();
            let more = self.did_you_mean(&text, |sema| {
                names.iter().map(|&name| sema.text(name)).collect()
            });
            self.diags
                .error(name_loc, format!("no member named '{text}' in {ty}{more}"));
            return self.error(span);
        };
        for index in path {
            operand = self.field_operand(operand, index, span);
        }
        operand
    }

    /// One member of a record.
    pub(super) fn field_operand(&mut self, operand: Operand, index: u32, span: Span) -> Operand {
        let Type::Record(record) = *self.types.get(operand.ty.ty) else {
            return self.error(span);
        };
        let fields = self.types.records[record.0 as usize].fields.as_ref();
        let field = &fields.expect("a complete record")[index as usize];
        let offset = field.offset;
        let mut ty = field.ty;
        ty.quals.is_const |= operand.ty.quals.is_const;
        ty.quals.is_volatile |= operand.ty.quals.is_volatile;
        match operand.place {
            Place::Object(address, align) => {
                let space = self.space_of(self.type_of(address));
                let pointer = self.types.pointer(ty.ty.into(), space);
                let address = self.add(ExprKind::FieldAddr(address, index), pointer, span.first);
                Operand {
                    place: Place::Object(address, align_at(align, offset)),
                    ty,
                    span,
                }
            }
            _ => {
                let value = self.rvalue(operand);
                if let Type::Array { .. } = self.types.get(ty.ty) {
                    // An array has an address; a value has none, so it gets a place.
                    let object = self.materialise(value, operand.span);
                    return self.field_operand(object, index, span);
                }
                let id = self.add(ExprKind::Field(value, index), ty.ty, span.first);
                self.value(id, span)
            }
        }
    }

    /// A variable without a name that holds the value.
    pub(super) fn materialise(&mut self, value: ExprId, span: Span) -> Operand {
        let ty = self.type_of(value);
        let align = self.types.layout(ty).map_or(1, |(_, align)| align);
        let local = self.new_local(Symbol::default(), ty.into(), align, span.first);
        let pointer = self.types.pointer(ty.into(), crate::types::Space::Private);
        let address = self.add(ExprKind::Local(local), pointer, span.first);
        self.note_escape(address);
        let access = self.access(ty.into(), align);
        let kind = ExprKind::Store {
            pointer: address,
            value,
            access,
        };
        let store = self.add(kind, Types::VOID, span.first);
        let address = self.add(
            ExprKind::Sequence(vec![store, address]),
            pointer,
            span.first,
        );
        Operand {
            place: Place::Object(address, align),
            ty: ty.into(),
            span,
        }
    }

    fn swizzle(&mut self, operand: Operand, name: Symbol, name_loc: Loc, span: Span) -> Operand {
        let Some((scalar, count)) = self.types.as_arithmetic(operand.ty.ty) else {
            return self.error(span);
        };
        let text = self.text(name);
        let lanes = match components(&text, count) {
            Ok(lanes) => lanes,
            Err(Wrong::Name(c)) => {
                self.diags
                    .error(name_loc, format!("illegal vector component name '{c}'"));
                return self.error(span);
            }
            Err(Wrong::Beyond) => {
                let ty = self.quote(operand.ty);
                self.diags.error(
                    name_loc,
                    format!("vector component access exceeds type {ty}"),
                );
                return self.error(span);
            }
            Err(Wrong::Length) => {
                self.diags.error(
                    name_loc,
                    "vector component access has invalid length; OpenCL \
                     supports only '1', '2', '3', '4', '8' and '16'",
                );
                return self.error(span);
            }
        };
        let ty = QualType {
            ty: self.types.vector(scalar, lanes.len),
            quals: operand.ty.quals,
        };
        let place = match operand.place {
            Place::Object(address, align) => Place::Lanes {
                address,
                align,
                vector: operand.ty.ty,
                lanes,
            },
            // Components of components.
            Place::Lanes {
                address,
                align,
                vector,
                lanes: outer,
            } => {
                let mut picked = lanes;
                for lane in &mut picked.list[..lanes.len as usize] {
                    // Components that are not there (the fourth of three) stay so.
                    let inner = outer.as_slice().get(*lane as usize);
                    *lane = inner.copied().unwrap_or(u8::MAX);
                }
                Place::Lanes {
                    address,
                    align,
                    vector,
                    lanes: picked,
                }
            }
            Place::Value(value) => {
                let picked = lanes
                    .as_slice()
                    .iter()
                    .map(|&lane| (lane < count).then_some(lane))
                    .collect();
                let kind = ExprKind::Shuffle(value, None, picked);
                Place::Value(self.add(kind, ty.ty, span.first))
            }
            Place::Function => return self.error(span),
        };
        Operand { place, ty, span }
    }

    pub(super) fn subscript(
        &mut self,
        base: ast::ExprId,
        index: ast::ExprId,
        span: Span,
    ) -> Operand {
        let (mut base, mut index) = (self.expr(base), self.expr(index));
        let indexable = |sema: &Self, operand: Operand| {
            matches!(
                sema.types.get(operand.ty.ty),
                Type::Pointer { .. } | Type::Array { .. } | Type::Vector(..)
            )
        };
        // `2[a]`
        if !indexable(self, base) && indexable(self, index) {
            std::mem::swap(&mut base, &mut index);
        }
        if self.is_error(base.ty.ty) || self.is_error(index.ty.ty) {
            return self.error(span);
        }
        let at = self.rvalue(index);
        if !matches!(self.arithmetic_of(at), Some((s, 1)) if s.is_integer()) {
            let message = if indexable(self, base) {
                "array subscript is not an integer"
            } else {
                "subscripted value is not an array, pointer, or vector"
            };
            self.diags.error(span, message);
            return self.error(span);
        }
        let at = self.index(at);
        match *self.types.get(base.ty.ty) {
            Type::Array { element, .. } => self.element(base, element, at, span),
            Type::Pointer { .. } => {
                let pointer = self.rvalue(base);
                let moved = self.binary_add(pointer, at, span);
                let moved = self.value(moved, span);
                self.deref(moved, span)
            }
            Type::Vector(scalar, _) => self.component(base, scalar, at, span),
            _ => {
                self.diags.error(
                    span,
                    "subscripted value is not an array, pointer, or vector",
                );
                self.error(span)
            }
        }
    }

    fn binary_add(&mut self, pointer: ExprId, index: ExprId, span: Span) -> ExprId {
        let at = Operator {
            loc: span.first,
            left: span,
            right: span,
        };
        self.binary(ast::BinaryOp::Add, pointer, index, at)
    }

    /// An element of an array that is an object.
    pub(super) fn element(
        &mut self,
        base: Operand,
        mut element: QualType,
        index: ExprId,
        span: Span,
    ) -> Operand {
        let base = match base.place {
            Place::Object(..) => base,
            _ => {
                let value = self.rvalue(base);
                self.materialise(value, base.span)
            }
        };
        let Place::Object(address, align) = base.place else {
            return self.error(span);
        };
        element.quals.is_const |= base.ty.quals.is_const;
        element.quals.is_volatile |= base.ty.quals.is_volatile;
        let space = self.space_of(self.type_of(address));
        let pointer = self.types.pointer(element.ty.into(), space);
        let size = self.types.layout(element.ty).map_or(1, |(size, _)| size);
        let address = self.add(ExprKind::ElementAddr(address, index), pointer, span.first);
        Operand {
            place: Place::Object(address, align_at(align, size)),
            ty: element,
            span,
        }
    }

    /// `v[i]`
    fn component(
        &mut self,
        base: Operand,
        scalar: crate::types::Scalar,
        index: ExprId,
        span: Span,
    ) -> Operand {
        let ty = QualType {
            ty: self.types.scalar(scalar),
            quals: base.ty.quals,
        };
        let count = self.types.as_arithmetic(base.ty.ty).map_or(1, |(_, n)| n);
        let known = self.eval_integer(index).filter(|&i| i < u64::from(count));
        if let (Some(lane), Place::Object(address, align)) = (known, base.place) {
            let mut list = [0; 16];
            list[0] = lane as u8;
            return Operand {
                place: Place::Lanes {
                    address,
                    align,
                    vector: base.ty.ty,
                    lanes: Lanes { list, len: 1 },
                },
                ty,
                span,
            };
        }
        if let Place::Object(address, align) = base.place {
            // The vector as an array of its components.
            let element: TypeId = ty.ty;
            let space = self.space_of(self.type_of(address));
            self.note_escape(address);
            let first = self.types.pointer(element.into(), space);
            let first = self.add(
                ExprKind::Convert(crate::hir::Conversion::Pointer, address),
                first,
                span.first,
            );
            let pointer = self.type_of(first);
            let address = self.add(ExprKind::PtrAdd(first, index), pointer, span.first);
            return Operand {
                place: Place::Object(address, align.min(u64::from(scalar.bits() / 8))),
                ty,
                span,
            };
        }
        let vector = self.rvalue(base);
        let id = self.add(ExprKind::Extract(vector, index), ty.ty, span.first);
        self.value(id, span)
    }

    pub(super) fn offset_of(
        &mut self,
        name: ast::TypeNameId,
        designators: &[Designator],
        span: Span,
    ) -> ExprId {
        let mut ty = self.type_name(name).0.ty;
        let mut offset = 0u64;
        for designator in designators {
            match (*designator, self.types.get(ty).clone()) {
                (Designator::Field(name, loc), Type::Record(record)) => {
                    let Some(path) = self.find_field(record, name) else {
                        let (ty, text) = (self.quote(ty), self.text(name));
                        self.diags
                            .error(loc, format!("no member named '{text}' in {ty}"));
                        return self.error_value(span.first);
                    };
                    for at in path {
                        let Type::Record(record) = *self.types.get(ty) else {
                            break;
                        };
                        let fields = self.types.records[record.0 as usize].fields.as_ref();
                        let field = &fields.expect("found in it")[at as usize];
                        offset += field.offset;
                        ty = field.ty.ty;
                    }
                }
                (Designator::Index(index), Type::Array { element, .. }) => {
                    let index = self.integer_constant(index).unwrap_or(0);
                    let size = self.types.layout(element.ty).map_or(0, |(size, _)| size);
                    offset = offset.wrapping_add(index.wrapping_mul(size));
                    ty = element.ty;
                }
                _ => {
                    if !self.is_error(ty) {
                        let ty = self.quote(ty);
                        self.diags.error(
                            span,
                            format!("offsetof requires struct or union type, {ty} invalid"),
                        );
                    }
                    return self.error_value(span.first);
                }
            }
        }
        self.int_constant(offset, self.size_type(), span.first)
    }
}

/// What is known of the alignment of what lies `offset` bytes into something aligned.
pub(super) fn align_at(align: u64, offset: u64) -> u64 {
    match offset {
        0 => align,
        _ => align.min(offset & offset.wrapping_neg()),
    }
}

enum Wrong {
    Name(char),
    Beyond,
    Length,
}

/// `xyzw`, `rgba`, `s0` to `sF`, `lo`, `hi`, `even`, `odd`, of a vector of `count` components.
fn components(name: &str, count: u8) -> Result<Lanes, Wrong> {
    // "When using .lo or .hi with a 3-component vector, the vector behaves as if it is a
    // 4-component vector."
    let half = count.div_ceil(2);
    let halves: Option<Vec<u8>> = match name {
        "lo" => Some((0..half).collect()),
        "hi" => Some((half..2 * half).collect()),
        "even" => Some((0..half).map(|i| 2 * i).collect()),
        "odd" => Some((0..half).map(|i| 2 * i + 1).collect()),
        _ => None,
    };
    let list = match halves {
        Some(list) => list,
        None => {
            let (digits, set) = match name.strip_prefix(['s', 'S']) {
                Some(digits) if !digits.is_empty() => (digits, "0123456789abcdef"),
                _ if name.starts_with(['r', 'g', 'b', 'a']) => (name, "rgba"),
                _ => (name, "xyzw"),
            };
            let mut list = Vec::new();
            for c in digits.chars() {
                let wanted = if set.len() == 16 {
                    c.to_ascii_lowercase()
                } else {
                    c
                };
                let lane = set.find(wanted).ok_or(Wrong::Name(c))? as u8;
                if lane >= count {
                    return Err(Wrong::Beyond);
                }
                list.push(lane);
            }
            list
        }
    };
    if !matches!(list.len(), 1 | 2 | 3 | 4 | 8 | 16) {
        return Err(Wrong::Length);
    }
    let mut lanes = Lanes {
        list: [0; 16],
        len: list.len() as u8,
    };
    lanes.list[..list.len()].copy_from_slice(&list);
    Ok(lanes)
}
