//! Literals in every spelling.

use super::Gen;
use super::expr::{Expr, PRIMARY, UNARY};
use super::text::Text;
use super::types::Scalar;

impl Gen<'_> {
    /// A whole number that is rarely large, below 2^`bits`.
    fn magnitude(&mut self, bits: u32) -> u64 {
        let bits = match self.choices.below(4) {
            0..=1 => bits.min(4),
            2 => bits.min(9),
            _ => bits,
        };
        match self.choices.below(6) {
            // The greatest there is, and its neighbour.
            4 => (1u64 << (bits - 1) << 1).wrapping_sub(1),
            5 => 1 << (bits - 1),
            _ if bits == 64 => self.choices.below(u64::MAX),
            _ => self.choices.below(1 << bits),
        }
    }

    /// An integer constant with the type that C99 6.4.4.1 gives it.
    pub fn integer_literal(&mut self) -> Expr {
        if self.choices.percent(8) {
            return self.character();
        }
        let value = self.magnitude(64);
        let radix = self.choices.one(&[10, 10, 10, 16, 16, 8]);
        // `long long` has the values of `long`.
        let suffix = self.choices.one(&[
            "", "", "", "u", "U", "l", "L", "ul", "LU", "ll", "LL", "ull", "LLU",
        ]);
        let unsigned = suffix.contains(['u', 'U']);
        let long = suffix.contains(['l', 'L']);
        let fits = |bits: u32| bits == 64 || value < 1 << bits;
        let ty = match () {
            () if !unsigned && !long && fits(31) => Scalar::Int,
            () if !long && fits(32) && (unsigned || radix != 10) => Scalar::UInt,
            () if !unsigned && fits(63) => Scalar::Long,
            () => Scalar::ULong,
        };
        // A decimal one that is too large for long has no type.
        let suffix = match ty {
            Scalar::ULong if !unsigned && radix == 10 => "ul",
            _ => suffix,
        };
        let text = match radix {
            10 => format!("{value}{suffix}"),
            16 if self.choices.percent(50) => format!("0X{value:X}{suffix}"),
            16 => format!("0x{value:x}{suffix}"),
            _ => format!("0{value:o}{suffix}"),
        };
        let bits = u64::BITS - value.leading_zeros();
        Expr::new(Text::both(text), ty, PRIMARY).bits(bits.max(1))
    }

    fn character(&mut self) -> Expr {
        let text = self.choices.one(&[
            "'a'", "'0'", "'\\n'", "'\\0'", "'\\x7f'", "'\\101'", "'\\''", "'\"'", "'\\\\'",
            "'\\377'", "' '", "'?'",
        ]);
        Expr::new(Text::both(text), Scalar::Int, PRIMARY).bits(7)
    }

    /// A literal of a floating-point type, as it is stored in variables.
    pub fn float_literal(&mut self, ty: Scalar) -> Expr {
        let (bits, fraction) = ty.stored();
        let number = self.magnitude(bits) as f64;
        let fraction = self.choices.below(u64::from(fraction) + 1) as u32;
        let value = number / f64::from(1 << fraction);
        let suffix = match ty {
            Scalar::Half => "h",
            Scalar::Float => self.choices.one(&["f", "F"]),
            _ => "",
        };
        let c_suffix = if ty == Scalar::Half { "f16" } else { suffix };
        let text = match self.choices.below(6) {
            0..=2 => format!("{value:?}"),
            3 => format!("{value:e}"),
            4 if value == value.trunc() => format!("{value}."),
            4 => format!("{value}").trim_start_matches('0').to_owned(),
            _ => format!("0x{:x}p-{fraction}", number as u64),
        };
        // `1e2` is written without a point, and a whole number has neither.
        let text = match text.contains(['.', 'e', 'p']) {
            true => text,
            false => format!("{text}.0"),
        };
        let text = Text::new(format!("{text}{suffix}"), format!("{text}{c_suffix}"));
        Expr::new(text, ty, PRIMARY).scaled(bits, fraction)
    }

    /// A literal, a constant of an enumeration or of a macro.
    pub fn literal(&mut self) -> Expr {
        match self.choices.below(10) {
            6 if !self.constants.is_empty() => {
                let at = self.choices.index(self.constants.len());
                self.constants[at].clone()
            }
            7 => {
                let ty = self
                    .choices
                    .one(&[Scalar::Float, Scalar::Double, Scalar::Half]);
                self.float_literal(ty)
            }
            8 => {
                let text = self
                    .choices
                    .one(&["true", "false", "CHAR_BIT", "SCHAR_MAX"]);
                let (ty, bits) = match text {
                    "true" | "false" => (Scalar::Bool, 1),
                    _ => (Scalar::Int, 7),
                };
                Expr::new(Text::both(text), ty, PRIMARY).bits(bits)
            }
            9 => {
                let text = self
                    .choices
                    .one(&["INT_MAX", "INT_MIN", "SHRT_MIN", "UINT_MAX"]);
                let ty = match text {
                    "UINT_MAX" => Scalar::UInt,
                    _ => Scalar::Int,
                };
                Expr::new(Text::both(text), ty, PRIMARY)
            }
            _ => self.integer_literal(),
        }
    }

    /// A constant expression that a program-scope variable of this type may begin with.
    pub fn constant(&mut self, ty: Scalar) -> Expr {
        if self.choices.percent(40) {
            let depth = std::mem::replace(&mut self.depth, 2);
            let before = std::mem::replace(&mut self.is_constant, true);
            let expr = self.scalar();
            let expr = self.assigned(expr, ty);
            self.is_constant = before;
            self.depth = depth;
            return expr;
        }
        if ty.is_float() {
            let literal = self.float_literal(ty);
            return match self.choices.percent(30) {
                true => Expr {
                    text: Text::of("-{}", &[&literal.text]),
                    prec: UNARY,
                    ..literal
                },
                false => literal,
            };
        }
        let literal = match self.choices.percent(20) && !self.constants.is_empty() {
            true => {
                let at = self.choices.index(self.constants.len());
                self.constants[at].clone()
            }
            false => self.integer_literal(),
        };
        let prefix = self.choices.one(&["", "", "", "-", "~", "!"]);
        let may = literal.ty.promoted() == literal.ty && literal.bits < literal.ty.bits() - 1;
        match prefix {
            "" => literal,
            "-" if !may => literal,
            _ => {
                let ty = if prefix == "!" {
                    Scalar::Int
                } else {
                    literal.ty.promoted()
                };
                let text = Text::of("{}{}", &[&prefix, &literal.at(PRIMARY)]);
                Expr::new(text, ty, UNARY)
            }
        }
    }
}
