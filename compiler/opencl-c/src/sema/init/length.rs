//! The length of an array that its initialiser gives: items are counted as they would fill elements
//! (`designators.rs`), without being looked at more than needed for their types.

use super::string_of;
use crate::ast::{Designator, InitId, InitItem, InitKind};
use crate::sema::Sema;
use crate::types::{MAX_SIZE, Type, TypeId, Types};

/// A place inside of an aggregate: the aggregate and the number of the part.
type Step = (TypeId, u64);

impl<'a> Sema<'a> {
    /// The type with the length that the initialiser gives it.
    pub(in crate::sema) fn complete_array(&mut self, ty: TypeId, init: InitId) -> TypeId {
        let Type::Array { element, len: None } = *self.types.get(ty) else {
            return ty;
        };
        let ast = self.ast;
        let len = match &ast[init].kind {
            InitKind::Expr(expr) => match string_of(ast, *expr) {
                Some(text) => text.len() as u64 + 1,
                None => return self.type_of_array(*expr, ty),
            },
            InitKind::List(items) => match items.first() {
                Some(first) if self.is_char(element.ty) && self.item_string(first).is_some() => {
                    let text = self.item_string(first);
                    text.map_or(0, |text| text.len() as u64 + 1)
                }
                _ => self.count_elements(element.ty, items),
            },
        };
        let bytes = self.types.layout_of(element).map_or(0, |(size, _)| size);
        if bytes.checked_mul(len).is_none_or(|total| total > MAX_SIZE) {
            self.diags.error(ast[init].span, "array is too large");
            self.visit_initialiser(init);
            return Types::ERROR;
        }
        self.types.intern(Type::Array {
            element,
            len: Some(len),
        })
    }

    /// Of a compound literal that is an array.
    fn type_of_array(&mut self, expr: crate::ast::ExprId, ty: TypeId) -> TypeId {
        let given = self.unevaluated(expr).ty.ty;
        match self.types.get(given) {
            Type::Array { len: Some(_), .. } if self.compatible_pointees(given, ty) => given,
            _ => ty,
        }
    }

    pub(super) fn item_string(&self, item: &InitItem) -> Option<&'a [u8]> {
        match self.ast[item.init].kind {
            InitKind::Expr(expr) if item.designators.is_empty() => string_of(self.ast, expr),
            _ => None,
        }
    }

    pub(super) fn is_char(&self, ty: TypeId) -> bool {
        matches!(ty, Types::CHAR | Types::UCHAR)
    }

    fn count_elements(&mut self, element: TypeId, items: &[InitItem]) -> u64 {
        let mut items = items;
        let (mut at, mut most) = (0u64, 0u64);
        while let Some(item) = items.first() {
            at = match item.designators.split_first() {
                Some((first, deeper)) => self.skip_designated(element, *first, deeper, &mut items),
                None => {
                    self.skip_part(element, &mut items);
                    at + 1
                }
            };
            most = most.max(at);
        }
        most
    }

    /// Skips an item with designators and what follows inside of the element that it is in; the
    /// number of the element after that.
    fn skip_designated(
        &mut self,
        element: TypeId,
        first: Designator,
        deeper: &[Designator],
        items: &mut &[InitItem],
    ) -> u64 {
        let index = match first {
            Designator::Index(index) | Designator::Range(_, index) => self.integer_constant(index),
            Designator::Field(..) => None,
        };
        *items = &items[1..];
        let mut way: Vec<Step> = Vec::new();
        let mut inner = element;
        for designator in deeper {
            match (*designator, self.types.get(inner).clone()) {
                (Designator::Field(name, _), Type::Record(record)) => {
                    for field in self.find_field(record, name).unwrap_or_default() {
                        way.push((inner, field.into()));
                        inner = self.part_type(inner, field.into()).unwrap_or(Types::ERROR);
                    }
                }
                (
                    Designator::Index(index) | Designator::Range(_, index),
                    Type::Array { element, .. },
                ) => {
                    let index = self.integer_constant(index).unwrap_or(0);
                    way.push((inner, index));
                    inner = element.ty;
                }
                _ => break,
            }
        }
        for (ty, at) in way.into_iter().rev() {
            self.skip_parts(ty, at.saturating_add(1), items);
        }
        // The type is refused if it is too large, the index if it is negative.
        index.unwrap_or(0).min(MAX_SIZE) + 1
    }

    /// Skips the items that one part takes.
    fn skip_part(&mut self, part: TypeId, items: &mut &[InitItem]) {
        let ast = self.ast;
        let Some(item) = items.first() else {
            return;
        };
        let is_whole = match (&ast[item.init].kind, self.types.get(part)) {
            (InitKind::Expr(expr), Type::Array { element, .. }) => {
                self.is_char(element.ty) && string_of(ast, *expr).is_some()
            }
            (InitKind::Expr(expr), Type::Record(_)) => self.unevaluated(*expr).ty.ty == part,
            (InitKind::Expr(_), &Type::Vector(_, lanes)) => return self.skip_lanes(lanes, items),
            _ => true,
        };
        let before = items.len();
        if !is_whole {
            self.skip_parts(part, 0, items);
        }
        if items.len() == before {
            *items = &items[1..];
        }
    }

    /// Skips what the parts of an aggregate take, from one on.
    fn skip_parts(&mut self, ty: TypeId, mut at: u64, items: &mut &[InitItem]) {
        let count = self.part_count(ty);
        while at < count
            && items
                .first()
                .is_some_and(|item| item.designators.is_empty())
        {
            let Some(part) = self.part_type(ty, at) else {
                return;
            };
            self.skip_part(part, items);
            at += 1;
        }
    }

    /// Skips scalars and shorter vectors that make up a vector.
    fn skip_lanes(&mut self, lanes: u8, items: &mut &[InitItem]) {
        let ast = self.ast;
        let mut total = 0;
        while total < lanes {
            let Some(item) = items.first().filter(|item| item.designators.is_empty()) else {
                return;
            };
            total += match ast[item.init].kind {
                InitKind::Expr(expr) => {
                    let ty = self.unevaluated(expr).ty.ty;
                    self.types.as_arithmetic(ty).map_or(1, |(_, lanes)| lanes)
                }
                InitKind::List(_) => 1,
            };
            *items = &items[1..];
        }
    }
}
