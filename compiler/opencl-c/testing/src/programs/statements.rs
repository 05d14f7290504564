//! Statements.

use super::Gen;
use super::expr::{ASSIGNMENT, COMMA, PRIMARY};
use super::scope::is_name;
use super::text::{Piece, Text};
use super::types::{INTEGERS, Scalar, Space, Ty, Type, declaration};

/// Statements that a work-item runs, at most.
const MOST: u64 = 600;

impl Gen<'_> {
    /// Allows for so many more statements to run in the current loops, if there may be.
    pub fn spend(&mut self, cost: u64) -> bool {
        let cost = cost * self.times;
        let may = self.cost + cost <= MOST * self.scale as u64;
        if may {
            self.cost += cost;
        }
        may
    }

    /// Statements in the scope there is, so many on average: what they declare stays.
    pub fn statements(&mut self, usual: usize) -> Text {
        let mut all = Text::default();
        self.repeat(usual, |g| {
            if g.spend(1) {
                g.sequence_point();
                all.push(&g.statement());
            }
        });
        all
    }

    /// `{ ... }` without the braces, in a scope of its own.
    pub fn block(&mut self) -> Text {
        self.nesting += 1;
        let text = self.scope(|g| g.statements(2));
        self.nesting -= 1;
        text.indented()
    }

    fn statement(&mut self) -> Text {
        self.depth = self.choices.one(&[2, 1, 3, 4]);
        let kind = self.choices.below(38);
        let made = match kind {
            0..=6 => self.assignment(),
            7..=11 => self.declaration(),
            12..=14 => self.compound_assignment(),
            15..=16 => self.record_assignment(),
            17..=18 => self.swizzled_assignment().map(line),
            19..=20 => self.pointer_declaration(),
            21 => self.holder_declaration(),
            22 => self
                .call(&|_| true, true)
                .map(|text| line(Text::of("{};", &[&text]))),
            23..=24 if self.nesting < 3 => Some(self.choice()),
            25..=27 if self.nesting < 3 => self.repetition(),
            28 if self.nesting < 3 => Some(self.switch()),
            29 if self.nesting < 3 => Some(self.jump()),
            30 if self.nesting < 3 => Some(Text::of("{\n{}}\n", &[&self.block()])),
            31 => self.leave(),
            32 => Some(Text::of("(void)({});\n", &[&self.scalar().text])),
            33 => self.store().map(line),
            34 => self.byte_store(),
            35 => self.walk(),
            36 => self.typeof_declaration(),
            _ => self.atomic(),
        };
        made.unwrap_or_default()
    }

    fn assignment(&mut self) -> Option<Text> {
        if self.choices.percent(25) {
            let ty = self.vector_ty();
            let value = self.vector_value(ty);
            let place = self.target(true, &|found| *found == Type::Value(ty))?;
            return Some(Text::of("{} = {};\n", &[&place.text, &value]));
        }
        let expr = self.scalar();
        let scalar = |found: &Type| matches!(found, Type::Value(ty) if ty.is_scalar());
        let place = self.target(true, &scalar)?;
        let Type::Value(ty) = place.ty else {
            return None;
        };
        let value = self.assigned(expr, ty.scalar).at(2);
        Some(Text::of("{} = {};\n", &[&place.text, &value]))
    }

    /// `x += e;`, of which C99 6.5.16.2 says what it is.
    fn compound_assignment(&mut self) -> Option<Text> {
        let place = self.target(true, &Type::is_value)?;
        let Type::Value(ty) = place.ty else {
            return None;
        };
        if ty.scalar.is_float() || ty.scalar == Scalar::Bool {
            return self.float_compound_assignment(&place.text, ty);
        }
        if !ty.is_scalar() {
            let signs = ["&=", "|=", "^=", "+=", "-=", "*="];
            let count = if ty.scalar.is_signed() { 3 } else { 6 };
            let sign = self.choices.one(&signs[..count]);
            let value = match self.choices.percent(30) {
                true => self.vector_scalar(ty),
                false => self.vector_value(ty),
            };
            return Some(Text::of("{} {} {};\n", &[&place.text, &sign, &value]));
        }
        let value = self.integer();
        let value = match self.choices.below(10) {
            0..=5 => {
                let sign = self.choices.one(&["+=", "-=", "*=", "&=", "|=", "^="]);
                let bitwise = ["&=", "|=", "^="].contains(&sign);
                let unsigned = ty.scalar.bits() >= 32 && !ty.scalar.is_signed();
                // In a type that wraps.
                let value = match bitwise || unsigned {
                    true => value,
                    false => self.converted(value, Scalar::ULong),
                };
                Text::of("{} {}", &[&sign, &value.at(2)])
            }
            6..=7 => {
                let sign = self.choices.one(&["<<=", ">>="]);
                Text::of("{} {} & 7", &[&sign, &value.at(9)])
            }
            _ => {
                let sign = self.choices.one(&["/=", "%="]);
                Text::of("{} (int)(({} & 15) + 1)", &[&sign, &value.at(9)])
            }
        };
        Some(Text::of("{} {};\n", &[&place.text, &value]))
    }

    /// A scalar that is widened to a vector's type.
    fn vector_scalar(&mut self, ty: Ty) -> Text {
        let expr = self.scalar();
        let expr = self.converted(expr, ty.scalar);
        Text::new(
            expr.at(2).cl,
            format!("SPLAT({ty}, {}, {}, {})", ty.scalar, ty.lanes, expr.text.c),
        )
    }

    /// What it is before is known, so that the result is not too large.
    fn float_compound_assignment(&mut self, place: &Text, ty: Ty) -> Option<Text> {
        if ty.scalar == Scalar::Bool {
            let expr = self.integer();
            let sign = self.choices.one(&["&=", "|=", "^="]);
            return Some(Text::of("{} {} {};\n", &[place, &sign, &expr.at(2)]));
        }
        let (first, second) = (self.choices.below(8), self.choices.below(3));
        let sign = self.choices.one(&["+=", "-=", "*="]);
        let splat = |value: u64| match ty.is_scalar() {
            true => Text::both(value.to_string()),
            false => Text::new(
                format!("({})({value})", ty.scalar),
                format!("SPLAT({ty}, {}, {}, {value})", ty.scalar, ty.lanes),
            ),
        };
        Some(Text::of(
            "{} = {};\n{} {} {};\n",
            &[place, &splat(first), place, &sign, &splat(second)],
        ))
    }

    fn record_assignment(&mut self) -> Option<Text> {
        if self.plain_records == 0 {
            return None;
        }
        let number = self.choices.index(self.plain_records);
        let (_, value) = self.record_value(number);
        let place = self.target(true, &|ty| *ty == Type::Record(number))?;
        Some(Text::of("{} = {};\n", &[&place.text, &value]))
    }

    /// A type without pointers.
    pub fn any_type(&mut self, levels: u32) -> Type {
        match self.choices.below(8) {
            3..=4 if self.plain_records > 0 => Type::Record(self.choices.index(self.plain_records)),
            5..=6 if levels > 0 => {
                let of = self.any_type(levels - 1);
                Type::Array(Box::new(of), self.choices.one(&[2, 3, 4, 1, 5]))
            }
            _ => Type::Value(self.any_ty()),
        }
    }

    fn declaration(&mut self) -> Option<Text> {
        let ty = self.any_type(2);
        let name = match self.shadowed() {
            Some(name) => name,
            None => self.local_name(),
        };
        let constant = self.choices.percent(15);
        let var = self.declare(&name, ty.clone(), !constant, Space::Private);
        let root = var.roots[0];
        // It is in scope in its own initialiser, but has no value yet.
        self.changed.push(root);
        let initialiser = self.initialiser(&ty, false);
        let qualifier = if constant {
            "const "
        } else {
            self.choices.one(&["", "", "private ", "volatile "])
        };
        // A volatile structure cannot be passed on by its address.
        let qualifier = match qualifier {
            "volatile " if !ty.is_value() => "",
            qualifier => qualifier,
        };
        if qualifier == "volatile " {
            self.vars.last_mut().expect("it was declared").is_volatile = true;
        }
        let text = format!("{qualifier}{}", declaration(&ty, &name, &self.records));
        Some(Text::of("{} = {};\n", &[&text, &initialiser]))
    }

    /// The name of a variable of an outer scope.
    fn shadowed(&mut self) -> Option<String> {
        if self.nesting == 0 || !self.choices.percent(10) {
            return None;
        }
        let here: Vec<String> = self
            .vars
            .iter()
            .filter(|var| var.nesting == self.nesting)
            .map(|var| var.name.clone())
            .collect();
        let names: Vec<String> = self
            .vars
            .iter()
            .filter(|var| var.name.starts_with('v') && is_name(&var.name) && var.bound.is_none())
            .filter(|var| var.nesting < self.nesting)
            .map(|var| var.name.clone())
            .filter(|name| !here.contains(name))
            .collect();
        (!names.is_empty()).then(|| names[self.choices.index(names.len())].clone())
    }

    /// `typeof(e) v = e;`
    fn typeof_declaration(&mut self) -> Option<Text> {
        let operand = self.purely(Gen::scalar);
        // The type of an lvalue may have qualifiers.
        if [PRIMARY, ASSIGNMENT, COMMA].contains(&operand.prec) {
            return None;
        }
        let value = self.purely(|g| g.value(operand.ty));
        let name = self.local_name();
        self.declare(&name, Type::scalar(operand.ty), true, Space::Private);
        Some(Text::of(
            "__typeof__({}) {} = {};\n",
            &[&operand.text, &name, &value],
        ))
    }

    pub fn condition(&mut self) -> Text {
        let condition = self.scalar().text;
        self.sequence_point();
        condition
    }

    fn choice(&mut self) -> Text {
        let condition = self.condition();
        let first = self.block();
        if !self.choices.percent(50) {
            return Text::of("if ({}) {\n{}}\n", &[&condition, &first]);
        }
        if self.choices.percent(20) {
            let other = self.condition();
            let (second, third) = (self.block(), self.block());
            return Text::of(
                "if ({}) {\n{}} else if ({}) {\n{}} else {\n{}}\n",
                &[&condition, &first, &other, &second, &third],
            );
        }
        let second = self.block();
        Text::of(
            "if ({}) {\n{}} else {\n{}}\n",
            &[&condition, &first, &second],
        )
    }

    /// A loop with a number of iterations that is known.
    fn repetition(&mut self) -> Option<Text> {
        let count = self.choices.one(&[2usize, 1, 3, 4, 5]);
        if !self.spend(2 * count as u64) {
            return None;
        }
        let scalar = self.choices.one(INTEGERS);
        let name = self.local_name();
        let form = match self.choices.below(5) {
            // An unsigned counter never gets below 0.
            1 if !scalar.is_signed() => 0,
            form => form,
        };
        self.times *= count as u64;
        self.loops += 1;
        let body = self.scope(|g| {
            // While it counts from 1 it may be one more than an index may be.
            let bound = if form == 0 || form == 1 {
                count
            } else {
                count + 1
            };
            g.declare_counter(&name, scalar, bound);
            g.block()
        });
        self.loops -= 1;
        self.times /= count as u64;
        let pieces: &[&dyn Piece] = &[&scalar, &name, &name, &count, &name, &body];
        Some(match form {
            0 => Text::of("for ({} {} = 0; {} < {}; {}++) {\n{}}\n", pieces),
            1 => {
                let last = count - 1;
                let pieces: &[&dyn Piece] = &[&scalar, &name, &last, &name, &name, &body];
                Text::of("for ({} {} = {}; {} >= 0; --{}) {\n{}}\n", pieces)
            }
            2 => Text::of(
                "{ {} {} = 0;\nwhile ({}++ < {}) {\n{}} }\n",
                &[&scalar, &name, &name, &count, &body],
            ),
            3 => Text::of(
                "{ {} {} = 0;\ndo {\n{}} while (++{} < {}); }\n",
                &[&scalar, &name, &body, &name, &count],
            ),
            _ => Text::of(
                "{ {} {} = 0;\nfor (;;) {\nif ({} >= {}) break; {} += 1;\n{}} }\n",
                &[&scalar, &name, &name, &count, &name, &body],
            ),
        })
    }

    fn switch(&mut self) -> Text {
        let expr = self.integer();
        let expr = match self.choices.percent(60) {
            true => Text::of("{} & 7", &[&expr.at(9)]),
            false => expr.text,
        };
        self.sequence_point();
        let mut cases = Text::default();
        let mut next = 0;
        let default = self.choices.index(4);
        // `continue` would be of the loop, `break` is of the switch.
        for at in 0..4 {
            if at == default {
                cases.push(&"default:\n");
            }
            let label = match self.choices.below(4) {
                0 => {
                    let last = next + 1 + self.choices.below(2);
                    let label = format!("case {next} ... {last}:\n");
                    next = last + 1;
                    label
                }
                1 => {
                    let label = format!("case {next}: case {}:\n", next + 1);
                    next += 2;
                    label
                }
                _ => {
                    next += 1;
                    format!("case {}:\n", next - 1)
                }
            };
            let body = self.block();
            let end = self.choices.one(&["break;\n", "break;\n", ""]);
            cases.push(&Text::of("{}{\n{}}\n{}", &[&label, &body, &end]));
        }
        Text::of("switch ({}) {\n{}}\n", &[&expr, &cases.indented()])
    }

    fn jump(&mut self) -> Text {
        let label = self.temporary();
        if self.choices.percent(50) {
            let condition = self.condition();
            let loops = std::mem::replace(&mut self.loops, 0);
            let body = self.block();
            self.loops = loops;
            return Text::of(
                "if ({}) goto {};\n{\n{}}\n{}:;\n",
                &[&condition, &label, &body, &label],
            );
        }
        let count = self.choices.one(&[2usize, 3]);
        let name = self.local_name();
        self.times *= count as u64;
        let loops = std::mem::replace(&mut self.loops, 0);
        let body = self.scope(|g| {
            g.declare_counter(&name, Scalar::Int, count);
            g.block()
        });
        self.loops = loops;
        self.times /= count as u64;
        Text::of(
            "{ int {} = 0;\n{}:\n{\n{}}\nif (++{} < {}) goto {}; }\n",
            &[&name, &label, &body, &name, &count, &label],
        )
    }

    fn leave(&mut self) -> Option<Text> {
        let condition = self.condition();
        if self.loops > 0 && !self.choices.percent(25) {
            let word = self.choices.one(&["break", "continue"]);
            return Some(Text::of("if ({}) {};\n", &[&condition, &word]));
        }
        let ty = self.returns.clone()?;
        let value = match ty {
            None => Text::both("return"),
            Some(ty) => Text::of("return {}", &[&self.returned(&ty)]),
        };
        Some(Text::of("if ({}) {};\n", &[&condition, &value]))
    }

    /// All that is done to a counter commutes, and nobody asks what it was.
    fn atomic(&mut self) -> Option<Text> {
        if self.counters.is_empty() {
            return None;
        }
        let at = self.choices.index(self.counters.len());
        let (place, ty, names) = self.counters[at].clone();
        let name = self.choices.one(names);
        if name.ends_with("inc") || name.ends_with("dec") {
            return Some(Text::both(format!("{name}({place});\n")));
        }
        let value = self.value(ty);
        Some(Text::of("{}({}, {});\n", &[&name, &place, &value]))
    }
}

fn line(text: Text) -> Text {
    Text::of("{}\n", &[&text])
}
