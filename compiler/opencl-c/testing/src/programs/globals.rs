//! What stands at program scope: structures and unions, enumerations, macros and tables.

use super::Gen;
use super::expr::{Expr, PRIMARY};
use super::text::Text;
use super::types::{INTEGERS, Record, Scalar, Space, Ty, Type, declaration, layout};

impl Gen<'_> {
    /// A `struct` or `union`.
    pub fn record(&mut self) -> Text {
        let name = self.global_name("R");
        let is_union = self.choices.percent(15);
        let (attribute, is_packed, align) = match self.choices.below(10) {
            8 if !is_union => (" __attribute__((packed))", true, 1),
            9 => match self.choices.below(3) {
                0 => (" __attribute__((aligned(16)))", false, 16),
                1 => (" __attribute__((aligned(256)))", false, 256),
                _ => (" __attribute__((aligned(1024)))", false, 1024),
            },
            _ => ("", false, 1),
        };
        let fields = match is_union {
            true => self.union_fields(),
            false => self.struct_fields(),
        };
        let lines: String = fields
            .iter()
            .map(|(field, ty)| format!("  {};\n", declaration(ty, field, &self.records)))
            .collect();
        let keyword = if is_union { "union" } else { "struct" };
        let (text, name) = match self.choices.below(3) {
            0 => (
                format!("{keyword}{attribute} {name} {{\n{lines}}};\n"),
                format!("{keyword} {name}"),
            ),
            1 => (
                format!("typedef {keyword}{attribute} {{\n{lines}}} {name};\n"),
                name,
            ),
            _ => (
                format!("typedef {keyword} {name}_ {{\n{lines}}}{attribute} {name};\n"),
                name,
            ),
        };
        self.plain_records += 1;
        self.records.push(Record {
            name,
            is_union,
            is_packed,
            align,
            fields,
        });
        Text::both(text)
    }

    fn struct_fields(&mut self) -> Vec<(String, Type)> {
        let count = 1 + self.choices.index(4);
        let names = ["a", "b", "c", "d"];
        let mut fields = Vec::new();
        for name in &names[..count] {
            fields.push(((*name).to_owned(), self.any_type(1)));
        }
        fields
    }

    /// Members of the same size, with every bit of which there is a value: C99 6.2.6.1, "the bytes
    /// of the object representation that do not correspond to that member" are none.
    fn union_fields(&mut self) -> Vec<(String, Type)> {
        let size = self.choices.one(&[4usize, 8, 2, 16]);
        let names = ["a", "b", "c", "d"];
        let count = 1 + self.choices.index(names.len());
        let mut fields = Vec::new();
        for name in &names[..count] {
            let fits: Vec<Scalar> = INTEGERS
                .iter()
                .copied()
                .filter(|scalar| scalar.size() <= size)
                .collect();
            let scalar = self.choices.one(&fits);
            let lanes = size / scalar.size();
            let ty = match lanes {
                1 => Type::scalar(scalar),
                2 | 4 | 8 | 16 if self.choices.percent(50) => Type::Value(Ty::of(scalar, lanes)),
                _ => Type::Array(Box::new(Type::scalar(scalar)), lanes),
            };
            fields.push(((*name).to_owned(), ty));
        }
        fields
    }

    /// Constants of an enumeration.
    pub fn enumeration(&mut self) -> Text {
        let name = self.global_name("E");
        let mut value = 0i64;
        let mut items = Vec::new();
        for at in 0..1 + self.choices.index(4) {
            let item = format!("{name}_{at}");
            items.push(match self.choices.below(3) {
                0 => item.clone(),
                1 => {
                    value = self.choices.below(2000) as i64 - 1000;
                    format!("{item} = {value}")
                }
                _ => {
                    value = 1 << self.choices.below(20);
                    format!("{item} = 1 << {}", value.trailing_zeros())
                }
            });
            let bits = u64::BITS - value.unsigned_abs().leading_zeros();
            let expr = Expr::new(Text::both(item), Scalar::Int, PRIMARY);
            self.constants.push(expr.bits(bits.max(1)));
            value += 1;
        }
        Text::both(format!("enum {name} {{ {} }};\n", items.join(", ")))
    }

    /// A macro that stands for a constant.
    pub fn object_macro(&mut self) -> Text {
        let name = self.global_name("M");
        let literal = self.integer_literal();
        let line = Text::of("#define {} ({})\n", &[&name, &literal.text]);
        let expr = Expr::new(Text::both(name), literal.ty, PRIMARY);
        self.constants.push(expr.bits(literal.bits));
        line
    }

    /// A table in constant memory.
    pub fn table(&mut self) -> Text {
        let name = self.global_name("t");
        let ty = match self.choices.percent(70) {
            true => {
                let of = self.any_type(1);
                Type::Array(Box::new(of), 1 + self.choices.index(5))
            }
            false => self.any_type(1),
        };
        let text = match &ty {
            Type::Array(of, len) if **of == Type::scalar(Scalar::Char) => {
                self.choices.percent(50).then(|| self.string(*len))
            }
            _ => None,
        };
        let is_global = self.has_program_scope && self.choices.percent(40);
        let qualifier = match is_global {
            true => self
                .choices
                .one(&["global ", "static global ", "global const "]),
            false => self
                .choices
                .one(&["constant ", "__constant ", "static constant "]),
        };
        let value = match text {
            Some(text) => text,
            None => self.initialiser(&ty, true),
        };
        let space = if is_global {
            Space::Global
        } else {
            Space::Constant
        };
        // Nobody writes to those in global memory, though only some are `const`.
        self.declare(&name, ty.clone(), false, space);
        let text = declaration(&ty, &name, &self.records);
        Text::of("{}{} = {};\n", &[&qualifier, &text, &value])
    }

    /// A string literal of at most so many characters, in one piece or in two.
    fn string(&mut self, most: usize) -> Text {
        let characters = [
            "a", "Z", "0", "\\n", "\\\\", "\\\"", "\\0", "\\377", "?", "%",
        ];
        let mut text = String::from("\"");
        for at in 0..self.choices.index(most + 1) {
            if at > 0 && self.choices.percent(20) {
                text += "\" \"";
            }
            text += self.choices.one(&characters);
        }
        Text::both(text + "\"")
    }

    /// A pointer to a table, or a table of them, in constant or global memory itself.
    pub fn pointer_table(&mut self) -> Option<Text> {
        let before = std::mem::replace(&mut self.is_constant, true);
        let made = self.pointer_with_value();
        self.is_constant = before;
        let (ty, value, roots) = made?;
        let name = self.global_name("p");
        let space = match &ty {
            Type::Pointer { space, .. } => *space,
            Type::Array(of, _) => match **of {
                Type::Pointer { space, .. } => space,
                _ => return None,
            },
            _ => return None,
        };
        let word = match space {
            Space::Global => "global",
            Space::Constant => "constant",
            _ => return None,
        };
        let text = declaration(&ty, &format!("{word} {name}"), &self.records);
        let var = self.declare(&name, ty, false, space);
        var.roots.extend(roots);
        Some(Text::of("{} = {};\n", &[&text, &value]))
    }

    /// Whether every byte that is not padding may have any value.
    pub fn is_plain(&self, ty: &Type) -> bool {
        match ty {
            Type::Value(ty) => !ty.scalar.is_float() && ty.scalar != Scalar::Bool,
            Type::Array(of, _) => self.is_plain(of),
            Type::Record(number) => {
                let mut fields = self.records[*number].fields.iter();
                fields.all(|(_, field)| self.is_plain(field))
            }
            Type::Pointer { .. } => false,
        }
    }

    pub fn size(&self, ty: &Type) -> usize {
        layout(ty, &self.records).0
    }
}
