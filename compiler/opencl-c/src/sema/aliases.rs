//! The names that `typedef` gives types. Types do not know them; diagnostics show them where a
//! value comes from something that was declared by one: `'size_t' (aka 'unsigned long')`.

use super::names::How;
use super::specs::Base;
use super::{Operand, Place, Sema};
use crate::ast::Declarator;
use crate::hir::{Conversion, ExprId, ExprKind};
use crate::symbol::Symbol;
use crate::token::Loc;
use crate::types::{QualType, Type, TypeId};

/// What the source calls a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alias {
    pub name: Symbol,
    pub ty: TypeId,
}

impl Sema<'_> {
    /// Notes that something is declared by the name of a type.
    pub(super) fn note_alias(&mut self, base: Base, declarator: &Declarator) {
        if let (Some(name), Some((_, loc))) = (base.alias, declarator.name) {
            let ty = base.ty.ty;
            self.aliases.insert(loc, Alias { name, ty });
        }
    }

    /// The name by which something was declared at a place.
    pub(super) fn alias_at(&self, loc: Loc) -> Option<Alias> {
        self.aliases.get(&loc).copied()
    }

    /// The name that was used where a value (or an address) comes from.
    pub(super) fn alias_of(&self, mut id: ExprId) -> Option<Alias> {
        loop {
            id = match self.kind_of(id) {
                ExprKind::Load { pointer, .. } => *pointer,
                ExprKind::ElementAddr(base, _) | ExprKind::PtrAdd(base, _) => *base,
                ExprKind::Convert(Conversion::Pointer | Conversion::Space, inner) => *inner,
                ExprKind::Sequence(all) => *all.last()?,
                ExprKind::Local(local) => {
                    let local = &self.body.function.locals[local.0 as usize];
                    return self.alias_at(local.loc);
                }
                ExprKind::Global(global) => {
                    return self.alias_at(self.module.globals[global.0 as usize].loc);
                }
                ExprKind::Call(function, _) => {
                    return self.alias_at(self.module.functions[function.0 as usize].loc);
                }
                ExprKind::FieldAddr(base, field) | ExprKind::Field(base, field) => {
                    let record = match *self.types.get(self.type_of(*base)) {
                        Type::Pointer { pointee, .. } => pointee.ty,
                        _ => self.type_of(*base),
                    };
                    let Type::Record(record) = *self.types.get(record) else {
                        return None;
                    };
                    let fields = self.types.records[record.0 as usize].fields.as_ref()?;
                    return self.alias_at(fields.get(*field as usize)?.loc);
                }
                _ => return None,
            };
        }
    }

    /// The name that was used where an operand comes from.
    pub(super) fn alias_of_operand(&self, operand: Operand) -> Option<Alias> {
        match operand.place {
            Place::Value(id) | Place::Object(id, _) => self.alias_of(id),
            Place::Lanes { .. } | Place::Function => None,
        }
    }

    /// The type of a value between quotes, by the name that was used, and what it is.
    pub(super) fn quote_value(&self, id: ExprId) -> String {
        self.quote_as(self.type_of(id).into(), self.alias_of(id))
    }

    /// A type between quotes, by a name for it or a part of it, and what it is.
    pub(super) fn quote_as(&self, ty: QualType, alias: Option<Alias>) -> String {
        let how = |alias, in_c| How {
            interner: self.interner,
            alias,
            in_c,
        };
        let named = self.types.name_as(ty, how(alias, false));
        if alias.is_none() || named == self.types.name(ty, self.interner) {
            return self.quote(ty);
        }
        let known = self.types.name_as(ty, how(None, true));
        format!("'{named}' (aka '{known}')")
    }
}
