//! Macros that take arguments, and conditional ones.

use super::Gen;
use super::expr::{Expr, PRIMARY};
use super::text::Text;
use super::types::Scalar;

#[derive(Clone, Debug)]
pub struct Macro {
    name: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// `((a) ^ (b))`
    Xor,
    /// `((uint)(x) * 3u)`
    Times,
    /// `((ulong)(__VA_ARGS__))`
    Last,
    /// How long the spelling of its arguments is.
    Spelling,
    /// `a##b`
    Paste,
    /// Its argument by way of another macro, which expands it first.
    Indirect,
}

impl Gen<'_> {
    pub fn function_macro(&mut self) -> Text {
        let name = self.global_name("M");
        let kind = self.choices.one(&[
            Kind::Xor,
            Kind::Times,
            Kind::Last,
            Kind::Spelling,
            Kind::Paste,
            Kind::Indirect,
        ]);
        let text = match kind {
            Kind::Xor => format!("#define {name}(a, b) ((a) ^ (b))\n"),
            Kind::Times => format!("#define {name}(x) ((uint)(x) \\\n  * 3u)\n"),
            Kind::Last => format!("#define {name}(...) ((ulong)(__VA_ARGS__)) /* the last */\n"),
            Kind::Spelling => {
                format!("#define {name}(a, ...) ((int)sizeof(#a \"\" # __VA_ARGS__))\n")
            }
            Kind::Paste => format!("#define {name}(a, b) a ## b\n"),
            Kind::Indirect => {
                format!(
                    "#define {name}_(x) ((int)sizeof(#x))\n#define {name}(x) {name}_(x) + (x)\n"
                )
            }
        };
        self.macros.push(Macro { name, kind });
        Text::both(text)
    }

    /// A use of a macro that takes arguments.
    pub fn macro_call(&mut self) -> Expr {
        if self.macros.is_empty() {
            return self.literal();
        }
        let Macro { name, kind } = self.macros[self.choices.index(self.macros.len())].clone();
        match kind {
            Kind::Xor => {
                let (a, b) = (self.integer(), self.integer());
                let ty = a.ty.usual(b.ty);
                let text = Text::of("{}({}, {})", &[&name, &argument(&a), &argument(&b)]);
                Expr::new(text, ty, PRIMARY)
            }
            Kind::Times => {
                let x = self.integer();
                let text = Text::of("{}({})", &[&name, &argument(&x)]);
                Expr::new(text, Scalar::UInt, PRIMARY)
            }
            Kind::Last => {
                let (a, b) = (self.scalar(), self.integer());
                let text = Text::of("{}((void){}, {})", &[&name, &a.at(15), &b.at(2)]);
                Expr::new(text, Scalar::ULong, PRIMARY)
            }
            Kind::Spelling => self.spelling(&name),
            Kind::Paste => self.pasted(&name),
            Kind::Indirect => {
                if self.constants.is_empty() {
                    return self.literal();
                }
                let constant = self.constants[self.choices.index(self.constants.len())].clone();
                // What it stands for is spelled, and added, which may wrap around.
                let ty = constant.ty.usual(Scalar::Int);
                let text = Text::of("({}({}))", &[&name, &constant.text]);
                match ty.is_signed() {
                    true if constant.bits >= ty.bits() - 1 => constant,
                    _ => Expr::new(text, ty, PRIMARY),
                }
            }
        }
    }

    /// C99 6.10.3.2, "The # operator": white space and what it does to strings and characters.
    fn spelling(&mut self, name: &str) -> Expr {
        let pieces = [
            "a + b",
            "'\\n'",
            "\"x\\\\\"",
            "  1 ,2",
            "/* */ c",
            "()",
            "(a, b)",
            "L",
            "a\t+ \"b\"",
            "+ +",
            ".5e+3",
            "%:",
            "\\",
        ];
        let mut args = Vec::new();
        for _ in 0..1 + self.choices.index(3) {
            args.push(self.choices.one(&pieces));
        }
        let mut args = args.join(if self.choices.percent(50) {
            ", "
        } else {
            " , "
        });
        // A backslash alone is a token in an argument, but not in a string.
        args.retain(|c| c != '\t');
        if args.contains('\\') && !args.contains('\'') && !args.contains('"') {
            args = "a".to_owned();
        }
        let text = format!("{name}({args}, b)");
        match text.contains("\\)") || text.contains("\\ ") || text.contains("\\,") {
            true => self.literal(),
            false => Expr::new(Text::both(text), Scalar::Int, PRIMARY).bits(7),
        }
    }

    /// A name or a number in two pieces.
    fn pasted(&mut self, name: &str) -> Expr {
        let leaf = self.leaf();
        let (text, ty) = match self.choices.below(3) {
            0 if leaf.text.cl == leaf.text.c && leaf.text.cl.starts_with('v') => {
                let rest = &leaf.text.cl[1..];
                match rest.chars().all(|c| c.is_ascii_digit()) {
                    true => (format!("{name}(v, {rest})"), leaf.ty),
                    false => return leaf,
                }
            }
            1 => {
                let rest = self.choices.one(&["ff", "7fu", "1e", "0a"]);
                let unsigned = rest.ends_with('u');
                let ty = if unsigned { Scalar::UInt } else { Scalar::Int };
                (format!("{name}(0x, {rest})"), ty)
            }
            _ => (
                format!("{name}(1, {})", self.choices.one(&["2", "", "0"])),
                Scalar::Int,
            ),
        };
        let bits = if ty == leaf.ty { leaf.bits } else { 31 };
        Expr::new(Text::both(text), ty, PRIMARY).bits(bits)
    }

    /// C99 6.10.1, "Conditional inclusion": all integers are as wide as `intmax_t`.
    pub fn conditional_macro(&mut self) -> Text {
        let name = self.global_name("M");
        let condition = self.condition_of_tokens(3);
        let (yes, no) = (self.choices.below(100), 100 + self.choices.below(100));
        let expr = Expr::new(Text::both(&*name), Scalar::Int, PRIMARY);
        self.constants.push(expr.bits(8));
        Text::both(format!(
            "#if {condition}\n#  define {name} {yes}\n#else\n#define {name} {no} // not\n#endif\n"
        ))
    }

    fn condition_of_tokens(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.choices.below(8) {
                5 => format!("'{}'", self.choices.one(&["a", "\\n", "\\377", "0"])),
                6 => {
                    let defined = self.choices.one(&["defined", "defined "]);
                    format!("{defined}({}M1)", self.prefix)
                }
                7 => format!("{}M{}", self.prefix, self.choices.below(4) + 100),
                4 => self
                    .choices
                    .one(&["0xffffffffffffffffu", "0x7fffffff", "1L", "0u"])
                    .into(),
                _ => self.choices.below(10).to_string(),
            };
        }
        let a = self.condition_of_tokens(depth - 1);
        match self.choices.below(9) {
            0 => a,
            1 => format!("!({a})"),
            2 => format!("~{a}").replace("~-", "~ -"),
            3 => format!("-({a})"),
            4 => {
                let (b, c) = (
                    self.condition_of_tokens(depth - 1),
                    self.condition_of_tokens(depth - 1),
                );
                format!("(({a}) ? ({b}) : ({c}))")
            }
            5 => {
                let sign = self.choices.one(&["<<", ">>"]);
                format!("(({a}) {sign} {})", self.choices.below(64))
            }
            6 => {
                let sign = self.choices.one(&["/", "%"]);
                format!("(({a}) {sign} {})", 1 + self.choices.below(9))
            }
            _ => {
                let b = self.condition_of_tokens(depth - 1);
                let sign = self
                    .choices
                    .one(&["<", "==", ">", "<=", ">=", "!=", "&&", "||", "&", "|", "^"]);
                format!("({a} {sign} ({b}))")
            }
        }
    }
}

/// An argument of a macro: commas separate them outside of parentheses.
fn argument(expr: &Expr) -> Text {
    match expr.text.cl.contains(',') {
        true => Text::of("({})", &[&expr.text]),
        false => expr.text.clone(),
    }
}
