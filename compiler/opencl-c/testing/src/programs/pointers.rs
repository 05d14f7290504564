//! Pointers: tables of them, what they are compared with, bytes of what they point to.

use super::Gen;
use super::expr::{Expr, PRIMARY, UNARY};
use super::text::Text;
use super::types::{INTEGERS, Record, Scalar, Space, Type, declaration};

impl Gen<'_> {
    /// A pointer, or a table of them.
    pub fn pointer_declaration(&mut self) -> Option<Text> {
        let (ty, value, roots) = self.pointer_with_value()?;
        let name = self.local_name();
        let text = declaration(&ty, &name, &self.records);
        let var = self.declare(&name, ty, false, Space::Private);
        var.roots.extend(roots);
        Some(Text::of("{} = {};\n", &[&text, &value]))
    }

    /// The type of a pointer or of a table of them, its initialiser, and the roots of what is
    /// pointed to.
    pub fn pointer_with_value(&mut self) -> Option<(Type, Text, Vec<usize>)> {
        // Whatever is found says what the pointers are to.
        let place = self
            .any_place(&|place| place.addressable && !matches!(place.ty, Type::Pointer { .. }))?;
        let (to, len) = match &place.ty {
            Type::Array(of, len) if self.choices.percent(80) => ((**of).clone(), *len),
            ty => (ty.clone(), place.len),
        };
        if self.points(&to) {
            return None;
        }
        let is_array = matches!(to, Type::Array(..));
        let named = place.space == Space::Constant || self.is_constant || !self.has_generic;
        let space = match !named && self.choices.percent(30) {
            true => Space::Generic,
            false => place.space,
        };
        let ty = Type::Pointer {
            space,
            to: Box::new(to),
            len: 1 + self.choices.index(len),
            writable: place.writable && (is_array || !self.choices.percent(20)),
        };
        // `const` of an array is of its elements, and not added implicitly.
        if is_array && !place.writable && space != Space::Constant {
            return None;
        }
        let (first, mut roots) = self.pointer_value(&ty, false)?;
        let mut all = vec![first];
        if self.choices.percent(60) {
            for _ in 0..1 + self.choices.index(3) {
                if let Some((text, more)) = self.pointer_value(&ty, false) {
                    all.push(text);
                    roots.extend(more);
                }
            }
        }
        if all.len() == 1 {
            return Some((ty, all.remove(0), roots));
        }
        if self.choices.percent(25) && !self.is_constant && space != Space::Generic {
            let condition = self.purely(Gen::integer).at(4);
            let text = Text::of("{} ? {} : {}", &[&condition, &all[0], &all[1]]);
            return Some((ty, text, roots));
        }
        let table = Text::of("{ {} }", &[&Text::join(&all, ", ")]);
        Some((Type::Array(Box::new(ty), all.len()), table, roots))
    }

    /// A `struct` with pointers in it.
    pub fn holder(&mut self) -> Text {
        let name = self.global_name("H");
        let mut fields = Vec::new();
        for field in ["p", "q"] {
            let to = match self.choices.below(3) {
                0 if self.plain_records > 0 => Type::Record(self.choices.index(self.plain_records)),
                _ => Type::Value(self.any_ty()),
            };
            let space = self
                .choices
                .one(&[Space::Private, Space::Global, Space::Local]);
            let ty = Type::Pointer {
                space,
                to: Box::new(to),
                len: self.choices.one(&[1, 2, 3]),
                writable: self.choices.percent(50),
            };
            fields.push((field.to_owned(), ty));
        }
        fields.push(("n".to_owned(), Type::scalar(Scalar::Int)));
        let lines: String = fields
            .iter()
            .map(|(field, ty)| format!("  {};\n", declaration(ty, field, &self.records)))
            .collect();
        let text = format!("typedef struct {{\n{lines}}} {name};\n");
        self.records.push(Record {
            name,
            is_union: false,
            is_packed: false,
            align: 1,
            fields,
        });
        Text::both(text)
    }

    pub fn holder_ty(&mut self) -> Type {
        let count = self.records.len() - self.plain_records;
        Type::Record(self.plain_records + self.choices.index(count))
    }

    /// Whether there are pointers in it.
    pub fn points(&self, ty: &Type) -> bool {
        match ty {
            Type::Record(number) => *number >= self.plain_records,
            ty => ty.has_pointers(),
        }
    }

    /// A literal of a `struct` with pointers, and what they point to.
    pub fn holder_value(&mut self, number: usize, exclusive: bool) -> Option<(Text, Vec<usize>)> {
        let Record { name, fields, .. } = self.records[number].clone();
        let (mut values, mut roots) = (Vec::new(), Vec::new());
        for (field, ty) in fields {
            let value = match &ty {
                Type::Pointer { .. } => {
                    let (value, more) = self.pointer_value(&ty, exclusive)?;
                    roots.extend(more);
                    value
                }
                _ => self.purely(|g| g.value(Scalar::Int)),
            };
            values.push(match self.choices.percent(50) {
                true => Text::of(".{} = {}", &[&field, &value]),
                false => value,
            });
        }
        let text = Text::of("({}){ {} }", &[&name, &Text::join(&values, ", ")]);
        Some((text, roots))
    }

    /// A variable with pointers in it: a `struct`, or an array of them.
    pub fn holder_declaration(&mut self) -> Option<Text> {
        if self.records.len() == self.plain_records {
            return None;
        }
        let ty = self.holder_ty();
        let Type::Record(number) = ty else {
            return None;
        };
        let (mut values, mut roots) = (Vec::new(), Vec::new());
        for _ in 0..1 + self.choices.index(3) {
            let (value, more) = self.holder_value(number, false)?;
            values.push(value);
            roots.extend(more);
        }
        let (ty, value) = match values.len() {
            1 => (ty, values.remove(0)),
            count => {
                let list = Text::of("{ {} }", &[&Text::join(&values, ", ")]);
                (Type::Array(Box::new(ty), count), list)
            }
        };
        let name = self.local_name();
        let text = declaration(&ty, &name, &self.records);
        let var = self.declare(&name, ty, false, Space::Private);
        var.roots.extend(roots);
        Some(Text::of("{} = {};\n", &[&text, &value]))
    }

    /// What addresses of parts of an array say of one another, and truth values of pointers.
    pub fn of_pointers(&mut self) -> Expr {
        let is_array = |ty: &Type| matches!(ty, Type::Array(of, _) if !of.has_pointers());
        let Some(place) = self.any_place(&|place| place.addressable && is_array(&place.ty)) else {
            return self.literal();
        };
        let Type::Array(_, len) = place.ty else {
            return self.literal();
        };
        let mut address = || {
            // One beyond the last may be compared, too.
            let at = self.choices.index(len + 1);
            match self.choices.below(3) {
                0 => Text::of("&{}[{}]", &[&place.text, &at]),
                1 => Text::of("({} + {})", &[&place.text, &at]),
                _ => Text::of("(&({})[{}] - {})", &[&place.text, &len, &(len - at)]),
            }
        };
        let (a, b) = (address(), address());
        let sign = self.choices.one(&["-", "==", "<", "!=", ">=", ">", "<="]);
        let text = Text::of("({} {} {})", &[&a, &sign, &b]);
        match sign {
            "-" => Expr::new(text, Scalar::Long, PRIMARY).bits(4),
            _ if self.choices.percent(20) => {
                let text = Text::of("!{}", &[&a]);
                Expr::new(text, Scalar::Int, UNARY).bits(1)
            }
            _ => Expr::new(text, Scalar::Int, PRIMARY).bits(1),
        }
    }

    /// A place of which each byte has a meaning, and how many there are.
    fn bytes(&mut self) -> Option<(super::scope::Place, usize)> {
        let has_bytes = |ty: &Type| match ty {
            Type::Value(ty) => INTEGERS.contains(&ty.scalar),
            _ => false,
        };
        let place = self.any_place(&|place| place.addressable && has_bytes(&place.ty))?;
        let Type::Value(ty) = place.ty else {
            return None;
        };
        Some((place, ty.lanes * ty.scalar.size()))
    }

    fn address_of(&mut self, place: &super::scope::Place, of: Scalar, writable: bool) -> Text {
        let pointer = Type::Pointer {
            space: place.space,
            to: Box::new(Type::scalar(of)),
            len: 1,
            writable,
        };
        let ty = declaration(&pointer, "", &self.records);
        Text::of("(({})&{})", &[&ty, &place.text])
    }

    /// A place that is integers of one type one after the other, of arrays and vectors in one
    /// another too, and how many these are.
    fn elements(&mut self) -> Option<(super::scope::Place, Scalar, usize)> {
        let place = self.any_place(&|place| place.addressable && elements(&place.ty).is_some())?;
        let (of, count) = elements(&place.ty)?;
        Some((place, of, count))
    }

    /// `((const int *)&v)[i & 7]`
    fn element_of(&mut self) -> Option<Expr> {
        let (place, of, count) = self.elements()?;
        self.used.extend(&place.roots);
        let (index, _) = self.index(count);
        let address = self.address_of(&place, of, false);
        Some(Expr::new(
            Text::of("{}[{}]", &[&address, &index]),
            of,
            PRIMARY,
        ))
    }

    /// `((int *)&v)[i & 7] = e;`
    fn element_store(&mut self) -> Option<Text> {
        let (place, of, count) = self.elements()?;
        let value = self.purely(|g| g.value(of));
        let (index, _) = self.index(count);
        if !place.writable || place.roots.iter().any(|root| self.changed.contains(root)) {
            return None;
        }
        let address = self.address_of(&place, of, true);
        Some(Text::of("{}[{}] = {};\n", &[&address, &index, &value]))
    }

    /// `((const uchar *)&v)[1]`
    pub fn byte_of(&mut self) -> Expr {
        if self.choices.percent(60) {
            return self.element_of().unwrap_or_else(|| self.literal());
        }
        let Some((place, size)) = self.bytes() else {
            return self.literal();
        };
        self.used.extend(&place.roots);
        let of = self.choices.one(&[Scalar::UChar, Scalar::Char]);
        let at = self.choices.index(size);
        let address = self.address_of(&place, of, false);
        Expr::new(Text::of("{}[{}]", &[&address, &at]), of, PRIMARY)
    }

    /// `((uchar *)&v)[1] = e;`
    pub fn byte_store(&mut self) -> Option<Text> {
        if self.choices.percent(60) {
            return self.element_store();
        }
        let of = self.choices.one(&[Scalar::UChar, Scalar::Char]);
        let value = self.value(of);
        let (place, size) = self.bytes()?;
        if !place.writable || place.roots.iter().any(|root| self.changed.contains(root)) {
            return None;
        }
        let at = self.choices.index(size);
        let address = self.address_of(&place, of, true);
        Some(Text::of("{}[{}] = {};\n", &[&address, &at, &value]))
    }

    /// A loop that goes through an array with a pointer.
    pub fn walk(&mut self) -> Option<Text> {
        if self.nesting >= 3 {
            return None;
        }
        let is_array = |ty: &Type| matches!(ty, Type::Array(of, _) if !of.has_pointers());
        let place = self.any_place(&|place| place.addressable && is_array(&place.ty))?;
        let Type::Array(of, len) = &place.ty else {
            return None;
        };
        // `const` of an array is of its elements.
        let inner_array = matches!(**of, Type::Array(..));
        if !self.spend(3 * *len as u64) {
            return None;
        }
        let ty = Type::Pointer {
            space: place.space,
            to: of.clone(),
            len: 1,
            writable: place.writable,
        };
        if inner_array && !place.writable && place.space != Space::Constant {
            return None;
        }
        let name = self.local_name();
        let declared = declaration(&ty, &name, &self.records);
        self.times *= *len as u64;
        self.loops += 1;
        let body = self.scope(|g| {
            let var = g.declare(&name, ty, false, Space::Private);
            var.roots.extend(&place.roots);
            g.block()
        });
        self.loops -= 1;
        self.times /= *len as u64;
        let step = self.choices.one(&["++", " += 1"]);
        Some(Text::of(
            "for ({} = {}; {} < {} + {}; {}{}) {\n{}}\n",
            &[
                &declared,
                &place.text,
                &name,
                &place.text,
                len,
                &name,
                &step,
                &body,
            ],
        ))
    }
}

/// What a type is one after the other, and how many of them.
fn elements(ty: &Type) -> Option<(Scalar, usize)> {
    match ty {
        Type::Array(of, len) => elements(of).map(|(of, count)| (of, count * len)),
        // The fourth component of three is no part of the value.
        Type::Value(ty) if INTEGERS.contains(&ty.scalar) && ty.lanes != 3 => {
            Some((ty.scalar, ty.lanes))
        }
        _ => None,
    }
}
