//! `__builtin_...` functions of GNU C that programs use, by what OpenCL C has.

use super::{Operand, Sema};
use crate::ast;
use crate::hir::{Constant, ExprKind};
use crate::token::Span;
use crate::types::{Scalar, Types};

/// Those that are a built-in function of OpenCL C under another name.
const RENAMED: &[(&str, &str)] = &[
    ("__builtin_fabs", "fabs"),
    ("__builtin_fabsf", "fabs"),
    ("__builtin_sqrt", "sqrt"),
    ("__builtin_sqrtf", "sqrt"),
    ("__builtin_fma", "fma"),
    ("__builtin_fmaf", "fma"),
    ("__builtin_floor", "floor"),
    ("__builtin_floorf", "floor"),
    ("__builtin_ceil", "ceil"),
    ("__builtin_ceilf", "ceil"),
    ("__builtin_trunc", "trunc"),
    ("__builtin_truncf", "trunc"),
    ("__builtin_rint", "rint"),
    ("__builtin_rintf", "rint"),
    ("__builtin_fmin", "fmin"),
    ("__builtin_fminf", "fmin"),
    ("__builtin_fmax", "fmax"),
    ("__builtin_fmaxf", "fmax"),
    ("__builtin_copysign", "copysign"),
    ("__builtin_copysignf", "copysign"),
    ("__builtin_isnan", "isnan"),
    ("__builtin_isinf", "isinf"),
    ("__builtin_isfinite", "isfinite"),
    ("__builtin_abs", "abs"),
];

impl Sema<'_> {
    /// The call of a `__builtin_` function; `None` if the name is none.
    pub(super) fn intrinsic(
        &mut self,
        name: &str,
        args: &[ast::ExprId],
        span: Span,
    ) -> Option<Operand> {
        if !name.starts_with("__builtin_") {
            return None;
        }
        if let Some((_, plain)) = RENAMED.iter().find(|(from, _)| *from == name) {
            let plain = self.interner.intern(plain);
            return Some(self.call_plain(plain, args, span));
        }
        let loc = span.first;
        let value = match (name, args) {
            // Hints: the value alone matters.
            ("__builtin_expect" | "__builtin_assume_aligned", [value, ..]) => {
                let operand = self.expr(*value);
                let mut id = self.rvalue(operand);
                if name == "__builtin_expect" {
                    id = self.arithmetic_as(id, Scalar::Long);
                }
                id
            }
            ("__builtin_constant_p", [value]) => {
                let operand = self.unevaluated(*value);
                let id = self.rvalue(operand);
                let known = self.eval(id).is_some();
                self.int_constant(known.into(), Types::INT, loc)
            }
            ("__builtin_assume" | "__builtin_unreachable" | "__builtin_prefetch", _) => {
                self.add(ExprKind::Undefined, Types::VOID, loc)
            }
            ("__builtin_trap" | "__builtin_debugtrap", []) => {
                self.diags
                    .error(span, format!("'{name}' is not supported in OpenCL C"));
                self.error_value(loc)
            }
            ("__builtin_huge_val" | "__builtin_inf", []) if self.has_fp64 => {
                let bits = f64::INFINITY.to_bits();
                self.add(
                    ExprKind::Constant(Constant::Float(bits)),
                    Types::DOUBLE,
                    loc,
                )
            }
            ("__builtin_huge_valf" | "__builtin_inff", []) => {
                let bits = u64::from(f32::INFINITY.to_bits());
                self.add(ExprKind::Constant(Constant::Float(bits)), Types::FLOAT, loc)
            }
            ("__builtin_nanf", [_]) => {
                let bits = u64::from(f32::NAN.to_bits());
                self.add(ExprKind::Constant(Constant::Float(bits)), Types::FLOAT, loc)
            }
            ("__builtin_popcount" | "__builtin_clz" | "__builtin_ctz", [value]) => {
                return Some(self.bit_count(name, *value, Scalar::UInt, span));
            }
            (
                "__builtin_popcountl"
                | "__builtin_popcountll"
                | "__builtin_clzl"
                | "__builtin_clzll"
                | "__builtin_ctzl"
                | "__builtin_ctzll",
                [value],
            ) => return Some(self.bit_count(name, *value, Scalar::ULong, span)),
            _ => return None,
        };
        Some(self.value(value, span))
    }

    fn bit_count(&mut self, name: &str, arg: ast::ExprId, of: Scalar, span: Span) -> Operand {
        let operand = self.expr(arg);
        let value = self.rvalue(operand);
        let value = self.arithmetic_as(value, of);
        let stem = name.trim_start_matches("__builtin_").trim_end_matches('l');
        let plain = self.interner.intern(stem);
        let operand = self.value(value, span);
        let result = self.call_plain_operands(plain, vec![operand], span);
        let count = self.rvalue(result);
        let count = self.arithmetic_as(count, Scalar::Int);
        self.value(count, span)
    }
}
