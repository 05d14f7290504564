//! `struct`, `union` and `enum`: members, layout, enumerators.

use rustc_hash::FxHashMap;

use super::Sema;
use super::scope::Meaning;
use crate::ast::{self, Member};
use crate::symbol::Symbol;
use crate::token::Loc;
use crate::types::{
    Enum, EnumId, Field, MAX_DEPTH, MAX_SIZE, QualType, RecordId, Scalar, Type, TypeId, Types,
};

impl Sema<'_> {
    /// The type that `struct`, `union` with a tag, members or both names.
    pub(super) fn record_type(&mut self, id: ast::RecordId) -> TypeId {
        let ast = self.ast;
        let spec = &ast[id];
        let loc = spec.tag.map_or(spec.span.first, |(_, loc)| loc);
        let known = match (spec.tag, &spec.members) {
            (Some((tag, _)), Some(_)) => self.scopes.tag_here(tag),
            (Some((tag, _)), None) => self.scopes.tag(tag),
            (None, _) => None,
        };
        let ty = match known {
            Some(ty) => ty,
            None => self.new_record(spec.tag.map(|(tag, _)| tag), spec.is_union, loc),
        };
        let Type::Record(record) = *self.types.get(ty) else {
            let tag = self.text(spec.tag.map_or(Symbol::default(), |(tag, _)| tag));
            self.diags.error(
                loc,
                format!("use of '{tag}' with tag type that does not match previous declaration"),
            );
            return Types::ERROR;
        };
        if self.types.records[record.0 as usize].is_union != spec.is_union {
            let tag = self.text(spec.tag.map_or(Symbol::default(), |(tag, _)| tag));
            let before = self.types.records[record.0 as usize].loc;
            self.diags
                .error(
                    loc,
                    format!(
                        "use of '{tag}' with tag type that does not match previous declaration"
                    ),
                )
                .note(before, "previous use is here");
        }
        if let Some(members) = &spec.members {
            let before = &self.types.records[record.0 as usize];
            if before.fields.is_some() {
                let (tag, before) = (before.tag, before.loc);
                let tag = self.text(tag.unwrap_or_default());
                self.diags
                    .error(loc, format!("redefinition of '{tag}'"))
                    .note(before, "previous definition is here");
                return ty;
            }
            if self.open_records.contains(&record) {
                let tag = before.tag.unwrap_or_default();
                let tag = self.text(tag);
                self.diags
                    .error(loc, format!("nested redefinition of '{tag}'"));
                return Types::ERROR;
            }
            self.open_records.push(record);
            self.define_record(record, spec, members);
            self.open_records.pop();
        }
        ty
    }

    fn new_record(&mut self, tag: Option<Symbol>, is_union: bool, loc: Loc) -> TypeId {
        let ty = self.types.new_record(tag, is_union, loc);
        if let Some(tag) = tag {
            self.scopes.declare_tag(tag, ty);
        }
        ty
    }

    fn define_record(&mut self, id: RecordId, spec: &ast::RecordSpec, members: &[Member]) {
        let packed = self.has_attribute(&spec.attributes, "packed");
        let mut layout = Layout {
            is_union: spec.is_union,
            size: 0,
            align: 1,
        };
        let mut fields: Vec<Field> = Vec::new();
        let mut names: FxHashMap<Symbol, Loc> = FxHashMap::default();
        for member in members {
            match member {
                Member::StaticAssert(assert) => self.static_assert(assert),
                Member::Fields {
                    specs,
                    fields: declared,
                } => {
                    let base = self.base(*specs);
                    let specs_of = &self.ast[*specs];
                    let of_specs = self
                        .aligned(&specs_of.attributes)
                        .max(self.alignas(specs_of));
                    if declared.is_empty() {
                        self.anonymous_member(
                            *specs,
                            base.ty,
                            packed,
                            spec.pack,
                            &mut layout,
                            &mut fields,
                        );
                    }
                    for field in declared {
                        if let Some(bits) = field.bits {
                            let span = self.ast[bits].span;
                            self.diags
                                .error(span, "bit-fields are not supported in OpenCL");
                        }
                        let (ty, space) = self.declarator(base, &field.declarator);
                        let Some((name, loc)) = field.declarator.name else {
                            continue;
                        };
                        if let Some(before) = names.insert(name, loc) {
                            let text = self.interner.text(name);
                            self.diags
                                .error(loc, format!("duplicate member '{text}'"))
                                .note(before, "previous declaration is here");
                            continue;
                        }
                        if space.is_some() {
                            self.diags
                                .error(loc, "field may not be qualified with an address space");
                        }
                        let ty = self.check_field(ty, name, loc);
                        let asked = self.aligned(&field.declarator.attributes).or(of_specs);
                        let packed =
                            packed || self.has_attribute(&field.declarator.attributes, "packed");
                        let is_pointer = matches!(self.types.get(ty.ty), Type::Pointer { .. });
                        if !is_pointer && self.is_address_sized(*specs) {
                            self.address_sized_records.insert(id);
                        }
                        let offset = layout.place(&self.types, ty, packed, spec.pack, asked);
                        fields.push(Field {
                            name: Some(name),
                            ty,
                            offset,
                            loc,
                        });
                    }
                }
            }
        }
        self.check_flexible(&fields);
        if let Some(align) = self.aligned(&spec.attributes) {
            layout.align = layout.align.max(align);
        }
        if layout.size > MAX_SIZE {
            self.diags.error(spec.span, "structure is too large");
            layout.size = 0;
        }
        let depth = |field: &Field| self.types.depth(field.ty.ty) + 1;
        let depth = fields.iter().map(depth).max().unwrap_or(1);
        if depth > MAX_DEPTH {
            self.diags.error(spec.span, "structures nest too deeply");
            fields.clear();
        }
        let record = &mut self.types.records[id.0 as usize];
        record.packed = packed || spec.pack.is_some();
        record.depth = depth.min(MAX_DEPTH);
        record.align = layout.align;
        record.size = layout.size.next_multiple_of(layout.align);
        record.loc = spec.tag.map_or(spec.span.first, |(_, loc)| loc);
        record.fields = Some(fields);
        let by_name = self.fields_by_name(id);
        self.types.records[id.0 as usize].field_by_name = by_name;
    }

    fn fields_by_name(&self, id: RecordId) -> FxHashMap<Symbol, u32> {
        let fields = self.types.records[id.0 as usize].fields.as_deref();
        let fields = || (0..).zip(fields.into_iter().flatten());
        let mut by_name = FxHashMap::default();
        for (at, field) in fields() {
            if let Some(name) = field.name {
                by_name.entry(name).or_insert(at);
            }
        }
        for (at, field) in fields() {
            if let (None, Type::Record(inner)) = (field.name, self.types.get(field.ty.ty)) {
                for &name in self.types.records[inner.0 as usize].field_by_name.keys() {
                    by_name.entry(name).or_insert(at);
                }
            }
        }
        by_name
    }

    fn anonymous_member(
        &mut self,
        specs: ast::SpecId,
        ty: QualType,
        packed: bool,
        pack: Option<u32>,
        layout: &mut Layout,
        fields: &mut Vec<Field>,
    ) {
        let span = self.ast[specs].span;
        let is_anonymous = match self.types.get(ty.ty) {
            Type::Record(id) => {
                let record = &self.types.records[id.0 as usize];
                record.tag.is_none() && record.fields.is_some()
            }
            _ => false,
        };
        if !is_anonymous {
            self.diags.warning(
                "missing-declarations",
                span,
                "declaration does not declare anything",
            );
            return;
        }
        let offset = layout.place(&self.types, ty, packed, pack, None);
        fields.push(Field {
            name: None,
            ty,
            offset,
            loc: span.first,
        });
    }

    fn check_field(&mut self, ty: QualType, name: Symbol, loc: Loc) -> QualType {
        let text = self.text(name);
        match self.types.get(ty.ty) {
            Type::Array { len: None, .. } => return ty,
            Type::Function(_) => {
                self.diags
                    .error(loc, format!("field '{text}' declared as a function"));
                return Types::ERROR.into();
            }
            Type::Image { .. }
            | Type::Sampler
            | Type::Event
            | Type::Pipe { .. }
            | Type::Block(_)
            | Type::ReserveId => {
                let name = self.quote(ty);
                self.diags.error(
                    loc,
                    format!("the {name} type cannot be used to declare a structure or union field"),
                );
                return Types::ERROR.into();
            }
            Type::Scalar(Scalar::Half) => {}
            _ => {}
        }
        if self.types.layout(ty.ty).is_none() {
            let name = self.quote(ty);
            self.diags
                .error(loc, format!("field has incomplete type {name}"));
            return Types::ERROR.into();
        }
        ty
    }

    /// C99, "Structure and union specifiers": only the last member has an unknown length.
    fn check_flexible(&mut self, fields: &[Field]) {
        let Some((_, others)) = fields.split_last() else {
            return;
        };
        for field in others {
            if let (Type::Array { len: None, .. }, Some(name)) =
                (self.types.get(field.ty.ty), field.name)
            {
                let (name, ty) = (self.text(name), self.quote(field.ty));
                self.diags.error(
                    field.loc,
                    format!(
                        "flexible array member '{name}' with type {ty} is not at the end of struct"
                    ),
                );
            }
        }
    }

    /// `enum`, with its enumerators declared.
    pub(super) fn enum_type(&mut self, id: ast::EnumId) -> TypeId {
        let ast = self.ast;
        let spec = &ast[id];
        let loc = spec.tag.map_or(spec.span.first, |(_, loc)| loc);
        let known = match (spec.tag, &spec.enumerators) {
            (Some((tag, _)), Some(_)) => self.scopes.tag_here(tag),
            (Some((tag, _)), None) => self.scopes.tag(tag),
            (None, _) => None,
        };
        let ty = match known {
            Some(ty) => ty,
            None => {
                let id = EnumId(self.types.enums.len() as u32);
                self.types.enums.push(Enum {
                    tag: spec.tag.map(|(tag, _)| tag),
                    typedef_name: None,
                    loc,
                    complete: false,
                    underlying: Scalar::UInt,
                });
                let ty = self.types.intern(Type::Enum(id));
                if let Some((tag, _)) = spec.tag {
                    self.scopes.declare_tag(tag, ty);
                }
                ty
            }
        };
        let Type::Enum(id) = *self.types.get(ty) else {
            let tag = self.text(spec.tag.map_or(Symbol::default(), |(tag, _)| tag));
            self.diags.error(
                loc,
                format!("use of '{tag}' with tag type that does not match previous declaration"),
            );
            return Types::ERROR;
        };
        if let Some(enumerators) = &spec.enumerators {
            if self.types.enums[id.0 as usize].complete {
                let tag = self.text(spec.tag.map_or(Symbol::default(), |(tag, _)| tag));
                self.diags.error(loc, format!("redefinition of '{tag}'"));
            }
            self.define_enum(id, enumerators);
        }
        ty
    }

    fn define_enum(&mut self, id: EnumId, enumerators: &[ast::Enumerator]) {
        let mut next: i128 = 0;
        let mut range = (0i128, 0i128);
        for one in enumerators {
            if let Some(expr) = one.value {
                let span = self.ast[expr].span;
                let operand = self.expr(expr);
                let value = self.rvalue(operand);
                match self.eval_integer(value) {
                    Some(bits) => next = self.signed_value(bits, value),
                    None if self.is_error(self.type_of(value)) => {}
                    None => {
                        self.diags
                            .error(span, "expression is not an integer constant expression");
                    }
                }
            }
            range = (range.0.min(next), range.1.max(next));
            // An enumeration constant that fits is an `int`.
            let ty = if i32::try_from(next).is_ok() {
                Types::INT
            } else if u32::try_from(next).is_ok() {
                Types::UINT
            } else if i64::try_from(next).is_ok() {
                Types::LONG
            } else {
                Types::ULONG
            };
            if let Some(before) = self.scopes.lookup_here(one.name) {
                let text = self.text(one.name);
                let message = match before.meaning {
                    Meaning::Enumerator(..) => format!("redefinition of enumerator '{text}'"),
                    _ => format!("redefinition of '{text}' as different kind of symbol"),
                };
                self.diags
                    .error(one.loc, message)
                    .note(before.loc, "previous definition is here");
            }
            self.scopes
                .declare(one.name, Meaning::Enumerator(next as u64, ty), one.loc);
            next += 1;
        }
        let of = &mut self.types.enums[id.0 as usize];
        of.complete = true;
        of.underlying = match range {
            (0.., high) if high <= u32::MAX.into() => Scalar::UInt,
            (0.., _) => Scalar::ULong,
            (low, high) if low >= i32::MIN.into() && high <= i32::MAX.into() => Scalar::Int,
            _ => Scalar::Long,
        };
    }

    /// The number that an integer constant's bits stand for.
    pub(super) fn signed_value(&self, bits: u64, of: crate::hir::ExprId) -> i128 {
        match self.types.as_arithmetic(self.type_of(of)) {
            Some((scalar, _)) if scalar.is_signed() => i128::from(bits as i64),
            _ => i128::from(bits),
        }
    }
}

/// A record as its fields get their places.
struct Layout {
    is_union: bool,
    size: u64,
    align: u64,
}

impl Layout {
    /// Places a field and says where.
    fn place(
        &mut self,
        types: &Types,
        ty: QualType,
        packed: bool,
        pack: Option<u32>,
        asked: Option<u64>,
    ) -> u64 {
        let (size, natural) = match *types.get(ty.ty) {
            Type::Array { element, len: None } => {
                (0, types.layout_of(element).map_or(1, |(_, align)| align))
            }
            _ => types.layout_of(ty).unwrap_or((0, 1)),
        };
        let mut align = if packed { 1 } else { natural };
        if let Some(asked) = asked {
            align = align.max(asked);
        }
        if let Some(pack) = pack {
            align = align.min(pack.into());
        }
        self.align = self.align.max(align);
        if self.is_union {
            self.size = self.size.max(size);
            return 0;
        }
        // No member is larger than `MAX_SIZE`, and there are fewer than 2^23 members.
        let offset = self.size.next_multiple_of(align);
        self.size = offset + size;
        offset
    }
}
