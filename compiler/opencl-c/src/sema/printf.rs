//! `printf`'s format against its arguments. OpenCL C Specification, "printf Format String".

use super::{Operand, Place, Sema};
use crate::hir::{Constant, ExprId, ExprKind};
use crate::types::{Scalar, Type};

/// One conversion specification.
struct Conversion {
    /// `*` width and precision take an `int` each.
    stars: usize,
    lanes: u8,
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
        let ty = self.types.get(arg.ty.ty);
        let arithmetic = self.types.as_arithmetic(arg.ty.ty);
        let (wanted, fits) = match conversion.letter {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' => (
                "int",
                matches!(arithmetic, Some((scalar, lanes))
                    if scalar.is_integer() && lanes == conversion.lanes),
            ),
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => (
                "double",
                matches!(arithmetic, Some((Scalar::Half | Scalar::Float | Scalar::Double, lanes))
                    if lanes == conversion.lanes),
            ),
            b's' => ("__constant char *", matches!(ty, Type::Pointer { .. })),
            b'p' => ("void *", matches!(ty, Type::Pointer { .. })),
            letter => {
                let message = format!("invalid conversion specifier '{}'", char::from(letter));
                self.diags
                    .warning("format-invalid-specifier", arg.span, message);
                return;
            }
        };
        if !fits && !self.is_error(arg.ty.ty) {
            let lanes = match conversion.lanes {
                1 => String::new(),
                lanes => lanes.to_string(),
            };
            let have = self.quote(arg.ty);
            let message =
                format!("format specifies type '{wanted}{lanes}' but the argument has type {have}");
            self.diags.warning("format", arg.span, message);
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
            letter: 0,
        };
        while let Some(byte) = bytes.next() {
            match byte {
                b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'.' | b'h' | b'l' => {}
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
