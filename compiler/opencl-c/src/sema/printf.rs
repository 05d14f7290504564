//! `printf`'s format against its arguments. OpenCL C Specification, "printf Format String".

use super::{Operand, Place, Sema};
use crate::hir::{Constant, ExprId, ExprKind};
use crate::types::{Scalar, Type};

/// One conversion specification.
struct Conversion {
    /// `*` width and precision take an `int` each.
    stars: usize,
    lanes: u8,
    /// The bits that a length modifier says: `hh`, `h`, `hl` (of vectors), `l`.
    bits: Option<u32>,
    letter: u8,
}

impl Sema<'_> {
    /// Warns of what the format wants and the arguments are not.
    pub(super) fn check_printf(&mut self, operands: &[Operand]) {
        let Some((format, args)) = operands.split_first() else {
            return;
        };
        let Place::Value(pointer) = format.place else {
            return;
        };
        let Some(text) = self.literal(pointer) else {
            return;
        };
        let mut args = args.iter();
        for conversion in conversions(&text) {
            for _ in 0..conversion.stars {
                args.next();
            }
            let Some(arg) = args.next() else {
                self.diags.warning(
                    "format",
                    format.span,
                    "more '%' conversions than data arguments",
                );
                return;
            };
            self.check_conversion(&conversion, arg);
        }
        if let Some(extra) = args.next() {
            self.diags.warning(
                "format-extra-args",
                extra.span,
                "data argument not used by format string",
            );
        }
    }

    /// The bytes of the string literal that a pointer is to.
    pub(super) fn literal(&self, mut pointer: ExprId) -> Option<Vec<u8>> {
        let global = loop {
            match self.kind_of(pointer) {
                ExprKind::ElementAddr(base, _) | ExprKind::Convert(_, base) => pointer = *base,
                ExprKind::Global(global) => break global,
                _ => return None,
            }
        };
        let Some(Constant::Aggregate(bytes)) = &self.module.globals[global.0 as usize].init else {
            return None;
        };
        let bytes = bytes.iter().map_while(|byte| match byte {
            Constant::Int(bits) if *bits != 0 => Some(*bits as u8),
            _ => None,
        });
        Some(bytes.collect())
    }

    fn check_conversion(&mut self, conversion: &Conversion, arg: &Operand) {
        if self.is_error(arg.ty.ty) {
            return;
        }
        let ty = self.types.get(arg.ty.ty);
        let arithmetic = self.types.as_arithmetic(arg.ty.ty);
        let is_pointer = matches!(ty, Type::Pointer { .. });
        let (fits, wanted) = match conversion.letter {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' => (
                arithmetic.is_some_and(|(scalar, lanes)| conversion.takes_integer(scalar, lanes)),
                conversion.integer(),
            ),
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => (
                arithmetic.is_some_and(|(scalar, lanes)| conversion.takes_float(scalar, lanes)),
                conversion.float(),
            ),
            b's' => (is_pointer, "__constant char *".to_owned()),
            b'p' => (is_pointer, "void *".to_owned()),
            letter => {
                let message = format!("invalid conversion specifier '{}'", char::from(letter));
                self.diags
                    .warning("format-invalid-specifier", arg.span, message);
                return;
            }
        };
        if !fits {
            let have = self.quote(arg.ty);
            let message =
                format!("format specifies type '{wanted}' but the argument has type {have}");
            self.diags.warning("format", arg.span, message);
        }
    }
}

impl Conversion {
    /// Scalars come promoted; of vectors each component has its width.
    fn takes_integer(&self, scalar: Scalar, lanes: u8) -> bool {
        let width = match (self.lanes, self.bits) {
            (1, Some(64)) => scalar.bits() == 64,
            (1, _) => scalar.bits() <= 32,
            (_, bits) => scalar.bits() == bits.unwrap_or(32),
        };
        scalar.is_integer() && lanes == self.lanes && width
    }

    fn takes_float(&self, scalar: Scalar, lanes: u8) -> bool {
        let width = self.lanes == 1 || self.bits.is_none_or(|bits| scalar.bits() == bits);
        scalar.is_float() && lanes == self.lanes && width
    }

    fn integer(&self) -> String {
        let signed = matches!(self.letter, b'd' | b'i' | b'c');
        let scalar = Scalar::integer(self.bits.unwrap_or(32), signed);
        self.type_name(scalar)
    }

    fn float(&self) -> String {
        self.type_name(match self.bits {
            Some(16) if self.lanes > 1 => Scalar::Half,
            Some(32) if self.lanes > 1 => Scalar::Float,
            _ => Scalar::Double,
        })
    }

    fn type_name(&self, scalar: Scalar) -> String {
        match self.lanes {
            1 => scalar.name().to_owned(),
            lanes => format!("{}{lanes}", scalar.name()),
        }
    }
}

/// The conversion specifications of a format, `%%` left out.
fn conversions(text: &[u8]) -> Vec<Conversion> {
    let mut all = Vec::new();
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'%' || bytes.next_if_eq(&b'%').is_some() {
            continue;
        }
        let mut conversion = Conversion {
            stars: 0,
            lanes: 1,
            bits: None,
            letter: 0,
        };
        while let Some(byte) = bytes.next() {
            match byte {
                b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'.' => {}
                b'h' => {
                    conversion.bits = Some(match bytes.next_if(|next| b"hl".contains(next)) {
                        Some(b'h') => 8,
                        Some(_) => 32,
                        None => 16,
                    });
                }
                b'l' => conversion.bits = Some(64),
                b'*' => conversion.stars += 1,
                b'v' => {
                    conversion.lanes = 0;
                    while let Some(digit) = bytes.next_if(u8::is_ascii_digit) {
                        let lanes = conversion.lanes.saturating_mul(10);
                        conversion.lanes = lanes.saturating_add(digit - b'0');
                    }
                }
                letter => {
                    conversion.letter = letter;
                    all.push(conversion);
                    break;
                }
            }
        }
    }
    all
}
