//! `__builtin_...` functions of GNU C, and clang's of OpenCL's, that programs use, by what OpenCL C
//! has.
//!
//! - `mod.rs`: hints, questions, vectors, OpenCL's atomics
//! - `arithmetic.rs`: overflow, reductions of vectors, alignment
//! - `atomics.rs`: GNU's atomics
//! - `bits.rs`: counting and reversing bits
//! - `math.rs`: functions of floating-point numbers
//! - `memory.rs`: copying and filling bytes
//!
//! Those that are syntax of their own (`__builtin_offsetof`, `__builtin_astype`, ...) are the
//! parser's.

mod arithmetic;
mod atomics;
mod bits;
mod math;
mod memory;

use super::convert::Goal;
use super::{Operand, Place, Sema};
use crate::ast;
use crate::builtins::{Call, Lowering};
use crate::hir::{ExprId, ExprKind};
use crate::token::{Loc, Span};
use crate::types::{Scalar, Type, TypeId, Types};

impl Sema<'_> {
    /// The call of a `__builtin_` function; `None` if the name is none that takes so many
    /// arguments.
    pub(super) fn intrinsic(
        &mut self,
        name: &str,
        args: &[ast::ExprId],
        span: Span,
    ) -> Option<Operand> {
        if let Some(operation) = name.strip_prefix("__opencl_atomic_") {
            let plain = match operation {
                "init" => "atomic_init".to_owned(),
                _ => format!("atomic_{operation}_explicit"),
            };
            if !crate::builtins::is_builtin(&plain) {
                return None;
            }
            let plain = self.interner.intern(&plain);
            return Some(self.call_plain(plain, args, span));
        }
        if name.starts_with("__atomic_") || name.starts_with("__sync_") {
            let value = self.gnu_atomic(name, args, span)?;
            return Some(self.value(value, span));
        }
        let stem = name.strip_prefix("__builtin_")?;
        let loc = span.first;
        let value = match (stem, args) {
            // Hints: the value alone matters.
            ("expect", [value, expected]) => {
                let values = [*value, *expected].map(|arg| self.argument_as(arg, Scalar::Long));
                self.add(
                    ExprKind::Sequence(vec![values[1], values[0]]),
                    Types::LONG,
                    loc,
                )
            }
            ("expect_with_probability", [value, expected, _]) => {
                let values = [*value, *expected].map(|arg| self.argument_as(arg, Scalar::Long));
                self.add(
                    ExprKind::Sequence(vec![values[1], values[0]]),
                    Types::LONG,
                    loc,
                )
            }
            ("assume_aligned", [value, _] | [value, _, _]) => {
                let operand = self.expr(*value);
                self.rvalue(operand)
            }
            ("constant_p", [value]) => {
                let operand = self.unevaluated(*value);
                let id = self.rvalue(operand);
                let known = self.eval(id).is_some();
                self.int_constant(known.into(), Types::INT, loc)
            }
            // How much memory is behind a pointer is not known.
            ("object_size" | "dynamic_object_size", [object, kind]) => {
                self.unevaluated(*object);
                let unknown = match self.integer_constant(*kind) {
                    Some(2 | 3) => 0,
                    _ => u64::MAX,
                };
                self.int_constant(unknown, Types::ULONG, loc)
            }
            ("assume", [condition]) => {
                // Not evaluated where it would do something: clang ignores it then.
                self.unevaluated(*condition);
                self.add(ExprKind::Undefined, Types::VOID, loc)
            }
            // There is no instruction that stops a device.
            ("unreachable" | "trap" | "debugtrap", []) => {
                self.add(ExprKind::Undefined, Types::VOID, loc)
            }
            ("prefetch", [address, ..]) => {
                let operand = self.expr(*address);
                let value = self.rvalue(operand);
                self.discard(value, loc)
            }
            ("nontemporal_load", [pointer]) => self.nontemporal(*pointer, None, loc)?,
            ("nontemporal_store", [value, pointer]) => {
                self.nontemporal(*pointer, Some(*value), loc)?
            }
            ("load_half" | "load_halff", [pointer]) => {
                let operand = self.expr(*pointer);
                let pointer = self.rvalue(operand);
                let zero = self.int_constant(0, Types::ULONG, loc);
                let value = self.call_with("vload_half", &[zero, pointer], span);
                match stem {
                    "load_half" if self.has_fp64 => self.arithmetic_as(value, Scalar::Double),
                    _ => value,
                }
            }
            ("store_half" | "store_halff", [value, pointer]) => {
                let scalar = match stem {
                    "store_half" if self.has_fp64 => Scalar::Double,
                    _ => Scalar::Float,
                };
                let value = self.argument_as(*value, scalar);
                let operand = self.expr(*pointer);
                let pointer = self.rvalue(operand);
                let zero = self.int_constant(0, Types::ULONG, loc);
                self.call_with("vstore_half", &[value, zero, pointer], span)
            }
            ("shufflevector", [a, b, lanes @ ..]) => self.shuffle_vector(*a, *b, lanes, span),
            ("printf", [_, ..]) => {
                let plain = self.interner.intern("printf");
                return Some(self.call_plain(plain, args, span));
            }
            _ => self
                .bit_intrinsic(stem, args, loc)
                .or_else(|| self.memory_intrinsic(stem, args, span))
                .or_else(|| self.arithmetic_intrinsic(stem, args, span))
                .or_else(|| self.math_intrinsic(stem, args, span))?,
        };
        Some(self.value(value, span))
    }

    /// An argument, converted as to a parameter.
    fn argument_as(&mut self, arg: ast::ExprId, scalar: Scalar) -> ExprId {
        let operand = self.expr(arg);
        let ty = self.types.scalar(scalar);
        self.assignable(operand, ty, Goal::Pass)
    }

    fn builtin(&mut self, lowering: Lowering, args: Vec<ExprId>, ty: TypeId, loc: Loc) -> ExprId {
        let call = Call {
            lowering,
            blocks: Vec::new(),
        };
        self.add(ExprKind::Builtin(Box::new(call), args), ty, loc)
    }

    /// Reads or, with a value, writes what will not be used again soon.
    fn nontemporal(
        &mut self,
        pointer: ast::ExprId,
        value: Option<ast::ExprId>,
        loc: Loc,
    ) -> Option<ExprId> {
        let operand = self.expr(pointer);
        let target = self.deref(operand, operand.span);
        let Place::Object(address, align) = target.place else {
            return Some(self.error_value(loc));
        };
        let mut access = self.access(target.ty, align);
        access.nontemporal = true;
        let Some(value) = value else {
            let pointer = address;
            return Some(self.add(ExprKind::Load { pointer, access }, target.ty.ty, loc));
        };
        let operand = self.expr(value);
        let value = self.assignable(operand, target.ty.ty, Goal::Pass);
        let kind = ExprKind::Store {
            pointer: address,
            value,
            access,
        };
        Some(self.add(kind, Types::VOID, loc))
    }

    /// Components of two vectors by constant numbers, or of one by the numbers in another.
    fn shuffle_vector(
        &mut self,
        a: ast::ExprId,
        b: ast::ExprId,
        lanes: &[ast::ExprId],
        span: Span,
    ) -> ExprId {
        let loc = span.first;
        let operands = [a, b].map(|arg| self.expr(arg));
        let values = operands.map(|operand| self.rvalue(operand));
        if values.iter().any(|&id| self.is_error(self.type_of(id))) {
            return self.error_value(loc);
        }
        let [a, b] = values;
        let (Type::Vector(scalar, count), Type::Vector(of, mask)) = (
            self.types.get(self.type_of(a)).clone(),
            self.types.get(self.type_of(b)).clone(),
        ) else {
            self.diags.error(
                span,
                "first two arguments to '__builtin_shufflevector' must be vectors",
            );
            return self.error_value(loc);
        };
        if lanes.is_empty() && of.is_integer() && mask == count {
            let mask = self.arithmetic_as(b, Scalar::integer(scalar.bits(), false));
            let plain = self.interner.intern("shuffle");
            let args = [a, mask].map(|id| self.value(id, span)).to_vec();
            let result = self.call_plain_operands(plain, args, span);
            return self.rvalue(result);
        }
        if self.type_of(a) != self.type_of(b) {
            self.diags.error(
                span,
                "first two arguments to '__builtin_shufflevector' must have the same type",
            );
            return self.error_value(loc);
        }
        let mut picked = Vec::new();
        for &lane in lanes {
            let at = self.ast[lane].span;
            match self.integer_constant(lane).map(|lane| lane as i64) {
                Some(-1) => picked.push(None),
                Some(lane @ 0..) if lane < 2 * i64::from(count) => picked.push(Some(lane as u8)),
                Some(_) => {
                    self.diags.error(
                        at,
                        "index for __builtin_shufflevector must be less than the total number of \
                         vector elements",
                    );
                    return self.error_value(loc);
                }
                None => {
                    self.diags.error(
                        at,
                        "index for __builtin_shufflevector must be a constant integer",
                    );
                    return self.error_value(loc);
                }
            }
        }
        if !matches!(picked.len(), 1 | 2 | 3 | 4 | 8 | 16) {
            self.diags.error(
                span,
                format!("there is no vector type of {} components", picked.len()),
            );
            return self.error_value(loc);
        }
        let ty = self.types.vector(scalar, picked.len() as u8);
        self.add(ExprKind::Shuffle(a, Some(b), picked), ty, loc)
    }
}
