//! Initialisers, and values of structures and unions. C99 6.7.8, "Initialization".

use super::Gen;
use super::expr::ASSIGNMENT;
use super::text::Text;
use super::types::{Record, Ty, Type};

impl Gen<'_> {
    /// What follows `=` in the declaration of a variable of the type, which has no pointers in it.
    pub fn initialiser(&mut self, ty: &Type, constant: bool) -> Text {
        match ty {
            Type::Value(value) if value.is_scalar() && self.choices.percent(5) => {
                Text::of("{ {} }", &[&self.element(ty, constant)])
            }
            Type::Value(ty) if constant && !ty.is_scalar() => self.constant_vector(*ty, false),
            Type::Value(_) => self.element(ty, constant),
            Type::Record(number) if !constant && self.choices.percent(30) => {
                self.record_value(*number).1
            }
            _ => self.braced(ty, constant),
        }
    }

    fn element(&mut self, ty: &Type, constant: bool) -> Text {
        let Type::Value(ty) = *ty else {
            return self.braced(ty, constant);
        };
        match (ty.is_scalar(), constant) {
            (true, true) => self.constant(ty.scalar).at(ASSIGNMENT),
            (false, true) => self.constant_vector(ty, true),
            (true, false) => self.purely(|g| g.value(ty.scalar)),
            (false, false) => self.purely(|g| g.vector_value(ty)),
        }
    }

    /// One initialiser of a list for a part of this type: braces are optional.
    fn item(&mut self, ty: &Type, constant: bool) -> Text {
        match ty {
            Type::Value(_) => self.element(ty, constant),
            Type::Record(number) if !constant && self.choices.percent(20) => {
                self.record_value(*number).1
            }
            _ if self.choices.percent(25) => {
                let mut leaves = Vec::new();
                self.leaves(ty, &mut leaves);
                let leaves: Vec<Text> = leaves
                    .iter()
                    .map(|leaf| self.element(&Type::Value(*leaf), constant))
                    .collect();
                Text::join(&leaves, ", ")
            }
            _ => self.braced(ty, constant),
        }
    }

    /// What a list without inner braces initialises, in order.
    fn leaves(&self, ty: &Type, leaves: &mut Vec<Ty>) {
        match ty {
            Type::Value(ty) => leaves.push(*ty),
            Type::Array(of, len) => (0..*len).for_each(|_| self.leaves(of, leaves)),
            Type::Record(number) => {
                let record = &self.records[*number];
                let count = if record.is_union {
                    1
                } else {
                    record.fields.len()
                };
                for (_, field) in &record.fields[..count] {
                    self.leaves(field, leaves);
                }
            }
            Type::Pointer { .. } => {}
        }
    }

    fn braced(&mut self, ty: &Type, constant: bool) -> Text {
        self.part(|g| g.list(ty, constant))
    }

    fn list(&mut self, ty: &Type, constant: bool) -> Text {
        let parts = self.parts(ty);
        let is_union = matches!(ty, Type::Record(number) if self.records[*number].is_union);
        let mut items = Vec::new();
        match self.choices.below(10) {
            0..=4 => {
                let count = if is_union { 1 } else { parts.len() };
                for (_, part) in &parts[..count] {
                    items.push(self.item(part, constant));
                }
            }
            5..=6 => {
                let count = 1 + self.choices.index(if is_union { 1 } else { parts.len() });
                for (_, part) in &parts[..count] {
                    items.push(self.item(part, constant));
                }
            }
            7 if !is_union => {
                // In order from some part on.
                let from = self.choices.index(parts.len());
                for (at, (name, part)) in parts.iter().enumerate().skip(from) {
                    let item = self.item(part, constant);
                    items.push(match at == from {
                        true => {
                            Text::of("{} = {}", &[&name, &self.whole_item(part, item, constant)])
                        }
                        false => item,
                    });
                }
            }
            _ => {
                let mut left: Vec<usize> = (0..parts.len()).collect();
                let most = if is_union { 1 } else { parts.len() };
                for _ in 0..=self.choices.index(most) {
                    let at = left.remove(self.choices.index(left.len()));
                    let (name, part) = &parts[at];
                    items.push(self.designated(name.clone(), part, constant));
                }
            }
        }
        let comma = if self.choices.percent(20) { "," } else { "" };
        Text::of("{ {}{} }", &[&Text::join(&items, ", "), &comma])
    }

    /// An item behind a designator has braces, for else what follows is of its parts.
    fn whole_item(&mut self, ty: &Type, item: Text, constant: bool) -> Text {
        match ty {
            Type::Value(_) => item,
            _ if item.cl.starts_with('{') => item,
            _ => self.braced(ty, constant),
        }
    }

    /// `.a[1].b = e`
    fn designated(&mut self, path: String, ty: &Type, constant: bool) -> Text {
        if !ty.is_value() && self.choices.percent(40) {
            let parts = self.parts(ty);
            let (name, part) = &parts[self.choices.index(parts.len())];
            return self.designated(path + name, part, constant);
        }
        let item = match ty {
            Type::Value(_) => self.element(ty, constant),
            _ => self.braced(ty, constant),
        };
        Text::of("{} = {}", &[&path, &item])
    }

    /// The designator and the type of each member or element.
    fn parts(&self, ty: &Type) -> Vec<(String, Type)> {
        match ty {
            Type::Array(of, len) => (0..*len)
                .map(|at| (format!("[{at}]"), (**of).clone()))
                .collect(),
            Type::Record(number) => {
                let Record { fields, .. } = &self.records[*number];
                let part = |(name, ty): &(String, Type)| (format!(".{name}"), ty.clone());
                fields.iter().map(part).collect()
            }
            _ => Vec::new(),
        }
    }

    /// An expression whose value is a structure or union, and how strongly it binds.
    pub fn record_value(&mut self, number: usize) -> (u8, Text) {
        let wanted = |ty: &Type| *ty == Type::Record(number);
        if self.depth > 0 {
            self.depth -= 1;
            let value = match self.choices.below(6) {
                0..=1 => None,
                2 => self
                    .call(&|ret| *ret == Some(Type::Record(number)), false)
                    .map(|text| (16, text)),
                3 => {
                    let condition = self.integer().at(4);
                    let (_, a) = self.record_value(number);
                    let (prec, b) = self.record_value(number);
                    let b = if prec < 3 { Text::of("({})", &[&b]) } else { b };
                    Some((3, Text::of("{} ? {} : {}", &[&condition, &a, &b])))
                }
                _ => self.place(&wanted).map(|place| (16, place.text)),
            };
            self.depth += 1;
            if let Some(value) = value {
                return value;
            }
        }
        let name = self.records[number].name.clone();
        let braced = self.braced(&Type::Record(number), false);
        (15, Text::of("({}){}", &[&name, &braced]))
    }
}
