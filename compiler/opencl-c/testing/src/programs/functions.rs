//! Functions and calls of them.

use super::Gen;
use super::expr::{Expr, PRIMARY};
use super::scope::Place;
use super::text::Text;
use super::types::{Scalar, Space, Ty, Type, declaration};
use super::vector::Vector;

#[derive(Clone, Debug)]
pub struct Function {
    name: String,
    params: Vec<Type>,
    ret: Option<Type>,
    /// Statements that a call runs, at most.
    cost: u64,
}

impl Gen<'_> {
    /// Defines a function and returns its text.
    pub fn function(&mut self) -> Text {
        let name = self.global_name("f");
        let ret = match self.choices.below(8) {
            0 => None,
            1..=3 if self.plain_records > 0 => {
                Some(Type::Record(self.choices.index(self.plain_records)))
            }
            _ => Some(Type::Value(self.any_ty())),
        };
        let outer = self.vars.clone();
        let mut params = Vec::new();
        let mut texts = Vec::new();
        for _ in 0..1 + self.choices.index(4) {
            let ty = self.parameter();
            let name = self.local_name();
            texts.push(declaration(&ty, &name, &self.records));
            // A pointer is not assigned to: what else it might point to is not known.
            let writable = !self.points(&ty);
            self.declare(&name, ty.clone(), writable, Space::Private);
            params.push(ty);
        }
        self.cost = 0;
        self.returns = Some(ret.clone());
        let body = self.statements(2);
        self.sequence_point();
        let result = match &ret {
            None => Text::both("return;\n"),
            Some(ty) => Text::of("return {};\n", &[&self.returned(ty)]),
        };
        self.returns = None;
        self.vars = outer;
        let ret_text = match &ret {
            None => "void".to_owned(),
            Some(ty) => declaration(ty, "", &self.records),
        };
        let prefix = self.choices.one(&["", "static ", "static inline "]);
        let head = format!("{prefix}{} {name}({})", ret_text.trim(), texts.join(", "));
        let forward = match self.choices.percent(20) {
            true => format!("{head};\n"),
            false => String::new(),
        };
        self.functions.push(Function {
            name,
            params,
            ret,
            cost: self.cost + 1,
        });
        let mut inner = body;
        inner.push(&result);
        let inner = inner.indented();
        let text = Text::of("{} {\n{}}\n\n", &[&head, &inner]);
        Text::of("{}{}", &[&forward, &text])
    }

    /// What a function with this result may return.
    pub fn returned(&mut self, ty: &Type) -> Text {
        match ty {
            Type::Value(ty) if ty.is_scalar() => self.value(ty.scalar),
            Type::Value(ty) => self.vector_value(*ty),
            Type::Record(number) => self.record_value(*number).1,
            _ => Text::default(),
        }
    }

    fn parameter(&mut self) -> Type {
        match self.choices.below(7) {
            0..=2 => Type::Value(self.any_ty()),
            3 if self.plain_records > 0 => Type::Record(self.choices.index(self.plain_records)),
            4 if self.records.len() > self.plain_records => self.holder_ty(),
            _ => {
                let to = match self.choices.below(4) {
                    0 if self.plain_records > 0 => {
                        Type::Record(self.choices.index(self.plain_records))
                    }
                    1 => Type::Array(Box::new(Type::Value(self.any_ty())), 2),
                    _ => Type::Value(self.any_ty()),
                };
                let space = self.pointer_space();
                // `const` of an array is of its elements, and not added implicitly.
                let is_array = matches!(to, Type::Array(..));
                Type::Pointer {
                    space,
                    to: Box::new(to),
                    len: self.choices.one(&[1, 1, 2, 4]),
                    writable: space != Space::Constant && (is_array || self.choices.percent(60)),
                }
            }
        }
    }

    pub fn pointer_space(&mut self) -> Space {
        let spaces = [
            Space::Private,
            Space::Global,
            Space::Local,
            Space::Constant,
            Space::Generic,
        ];
        let count = if self.has_generic { 5 } else { 4 };
        self.choices.one(&spaces[..count])
    }

    /// A pointer to something that is there, and the roots of that. Where it may be written, nothing
    /// else in the full expression reads it.
    pub fn pointer_value(&mut self, wanted: &Type, exclusive: bool) -> Option<(Text, Vec<usize>)> {
        let Type::Pointer {
            space,
            to,
            len,
            writable,
        } = wanted
        else {
            return None;
        };
        let is_const = |may: bool| may || !writable && !matches!(**to, Type::Array(..));
        let may_be = |may: bool| is_const(may) || *space == Space::Constant;
        let is_constant = self.is_constant;
        let fits = |place: &Place| match &place.ty {
            // The value of a variable is no constant.
            Type::Pointer { .. } if is_constant => false,
            Type::Pointer {
                space: there,
                to: found,
                len: found_len,
                writable: may,
            } => found == to && space.holds(*there) && found_len >= len && may_be(*may),
            found => {
                let there = space.holds(place.space) && may_be(place.writable);
                let is_array = matches!(found, Type::Array(of, count) if of == to && count >= len);
                place.addressable && there && (is_array || found == &**to && place.len >= *len)
            }
        };
        let place = self.any_place(&fits)?;
        if *writable && exclusive {
            if place.roots.iter().any(|root| self.used.contains(root)) {
                return None;
            }
            self.changed.extend(&place.roots);
        } else {
            self.used.extend(&place.roots);
        }
        let text = match &place.ty {
            Type::Pointer { .. } => place.text,
            ty if ty == &**to => Text::of("&{}", &[&place.text]),
            _ => match self.choices.percent(30) {
                true => Text::of("&{}[0]", &[&place.text]),
                false => place.text,
            },
        };
        Some((text, place.roots))
    }

    /// A call of a function with such a result.
    pub fn call(
        &mut self,
        wanted: &dyn Fn(&Option<Type>) -> bool,
        statement: bool,
    ) -> Option<Text> {
        let fits = |f: &&Function| {
            let changes = f
                .params
                .iter()
                .any(|p| matches!(p, Type::Pointer { writable: true, .. }) || self.points(p));
            wanted(&f.ret) && !(self.pure && changes) && (statement || f.cost < 60)
        };
        let all: Vec<Function> = self.functions.iter().filter(fits).cloned().collect();
        if all.is_empty() {
            return None;
        }
        let function = all[self.choices.index(all.len())].clone();
        if !self.spend(function.cost) {
            return None;
        }
        let mut args = Vec::new();
        for param in &function.params {
            args.push(match param {
                Type::Value(ty) if ty.is_scalar() => self.value(ty.scalar),
                Type::Value(ty) => self.vector_value(*ty),
                Type::Record(number) if *number >= self.plain_records => {
                    self.holder_value(*number, true)?.0
                }
                Type::Record(number) => self.record_value(*number).1,
                _ => self.pointer_value(param, true)?.0,
            });
        }
        Some(Text::of(
            "{}({})",
            &[&function.name, &Text::join(&args, ", ")],
        ))
    }

    /// A call as a scalar.
    pub fn call_value(&mut self) -> Expr {
        let ty = Ty::scalar(self.choices.one(super::types::SCALARS));
        match self.call(&|ret| *ret == Some(Type::Value(ty)), false) {
            Some(text) => Expr::new(text, ty.scalar, PRIMARY),
            None => self.any_scalar_call(),
        }
    }

    fn any_scalar_call(&mut self) -> Expr {
        let scalars: Vec<Scalar> = self
            .functions
            .iter()
            .filter_map(|f| match f.ret {
                Some(Type::Value(ty)) if ty.is_scalar() => Some(ty.scalar),
                _ => None,
            })
            .collect();
        if scalars.is_empty() {
            return self.literal();
        }
        let scalar = self.choices.one(&scalars);
        let ty = Type::scalar(scalar);
        match self.call(&|ret| ret.as_ref() == Some(&ty), false) {
            Some(text) => Expr::new(text, scalar, PRIMARY),
            None => self.literal(),
        }
    }

    pub fn vector_call(&mut self, ty: Ty) -> Vector {
        match self.call(&|ret| *ret == Some(Type::Value(ty)), false) {
            Some(text) => Vector::new(text, ty),
            None => self.vector(ty),
        }
    }
}
