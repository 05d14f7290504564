//! Bytes copied and filled: `__builtin_memcpy`, `__builtin_memmove`, `__builtin_memset`.

use crate::ast;
use crate::hir::{
    Access, BinaryOp, Comparison, Constant, Conversion, ExprId, ExprKind, Stmt, StmtKind,
};
use crate::sema::{Operand, Sema};
use crate::symbol::Symbol;
use crate::token::{Loc, Span};
use crate::types::{Scalar, Space, Type, TypeId, Types};

/// Objects of at most so many bytes are filled as one value.
const MAX_WHOLE: u64 = 1 << 16;

/// What bytes are written.
#[derive(Clone, Copy, Debug)]
enum Source {
    Memory(ExprId),
    Byte(ExprId),
}

impl Sema<'_> {
    pub(super) fn memory_intrinsic(
        &mut self,
        stem: &str,
        args: &[ast::ExprId],
        span: Span,
    ) -> Option<ExprId> {
        let &[to, from, size] = args else {
            return None;
        };
        match stem {
            "memcpy" | "memcpy_inline" => Some(self.copy_bytes(to, from, size, true, span)),
            "memmove" => Some(self.copy_bytes(to, from, size, false, span)),
            "memset" => Some(self.fill_bytes(to, from, size, span)),
            _ => None,
        }
    }

    /// A pointer argument, named, and what is known of its alignment; `None` (told) if it is none
    /// or what it points to cannot be written where it has to be.
    fn bytes_argument(
        &mut self,
        arg: ast::ExprId,
        is_written: bool,
        before: &mut Vec<ExprId>,
    ) -> Option<(ExprId, u64)> {
        let operand = self.expr(arg);
        let value = self.rvalue(operand);
        let ty = self.type_of(value);
        let Type::Pointer { pointee, space } = *self.types.get(ty) else {
            self.not_bytes(operand, is_written);
            return None;
        };
        if is_written && (space == Space::Constant || pointee.quals.is_const) {
            self.not_bytes(operand, is_written);
            return None;
        }
        self.note_escape(value);
        let align = self.types.layout_of(pointee).map_or(1, |(_, align)| align);
        let (bind, value) = self.bind(value, operand.span.first);
        before.push(bind);
        Some((value, align))
    }

    fn not_bytes(&mut self, operand: Operand, is_written: bool) {
        if self.is_error(operand.ty.ty) {
            return;
        }
        let name = self.quote(operand.ty);
        let wanted = if is_written { "void *" } else { "const void *" };
        self.diags.error(
            operand.span,
            format!("passing {name} to parameter of incompatible type '{wanted}'"),
        );
    }

    fn copy_bytes(
        &mut self,
        to: ast::ExprId,
        from: ast::ExprId,
        size: ast::ExprId,
        apart: bool,
        span: Span,
    ) -> ExprId {
        let loc = span.first;
        let mut all = Vec::new();
        let target = self.bytes_argument(to, true, &mut all);
        let source = self.bytes_argument(from, false, &mut all);
        let size = self.argument_as(size, Scalar::ULong);
        let (Some((to, to_align)), Some((from, from_align))) = (target, source) else {
            return self.error_value(loc);
        };
        match self.eval_integer(size) {
            Some(0) => {}
            Some(bytes) if apart => {
                let align = to_align.min(from_align);
                let copy = ExprKind::Copy {
                    to,
                    from,
                    size: bytes,
                    align,
                };
                all.push(self.add(copy, Types::VOID, loc));
            }
            _ => {
                let (bind, size) = self.bind(size, loc);
                all.push(bind);
                let source = Source::Memory(from);
                let forward = self.byte_loop(to, source, size, false, loc);
                let statements = if apart {
                    forward
                } else {
                    // What overlaps is read before it is written.
                    let backward = self.byte_loop(to, source, size, true, loc);
                    let kind = StmtKind::If {
                        condition: self.is_behind(to, from, loc),
                        then: backward,
                        otherwise: forward,
                    };
                    vec![Stmt { kind, loc }]
                };
                all.push(self.add(ExprKind::Statements(statements, None), Types::VOID, loc));
            }
        }
        self.pointer_result(all, to, loc)
    }

    fn fill_bytes(
        &mut self,
        to: ast::ExprId,
        byte: ast::ExprId,
        size: ast::ExprId,
        span: Span,
    ) -> ExprId {
        let loc = span.first;
        let mut all = Vec::new();
        let target = self.bytes_argument(to, true, &mut all);
        let byte = self.argument_as(byte, Scalar::Int);
        let byte = self.arithmetic_as(byte, Scalar::UChar);
        let size = self.argument_as(size, Scalar::ULong);
        let Some((to, align)) = target else {
            return self.error_value(loc);
        };
        match (self.eval_integer(size), self.eval_integer(byte)) {
            (Some(0), _) => {}
            (Some(bytes), Some(0)) if bytes <= MAX_WHOLE => {
                let whole = self.types.intern(Type::Array {
                    element: Types::UCHAR.into(),
                    len: Some(bytes),
                });
                let pointer = self.retarget(to, whole, loc);
                let value = self.add(ExprKind::Constant(Constant::Zero), whole, loc);
                all.push(self.plain_store(pointer, value, align, loc));
            }
            _ => {
                let (bind_byte, byte) = self.bind(byte, loc);
                let (bind_size, size) = self.bind(size, loc);
                all.extend([bind_byte, bind_size]);
                let statements = self.byte_loop(to, Source::Byte(byte), size, false, loc);
                all.push(self.add(ExprKind::Statements(statements, None), Types::VOID, loc));
            }
        }
        self.pointer_result(all, to, loc)
    }

    /// Writes bytes one by one, from the first to the last or backward.
    fn byte_loop(
        &mut self,
        to: ExprId,
        source: Source,
        size: ExprId,
        backward: bool,
        loc: Loc,
    ) -> Vec<Stmt> {
        let ty = Types::ULONG;
        let local = self.new_local(Symbol::default(), ty.into(), 8, loc);
        let pointer = self.types.pointer(ty.into(), Space::Private);
        let counter = self.add(ExprKind::Local(local), pointer, loc);
        self.note_escape(counter);
        let [checked, stepped, used] = [(); 3].map(|()| self.load(counter, ty.into(), 8, loc));
        let zero = self.int_constant(0, ty, loc);
        let one = self.int_constant(1, ty, loc);
        let (first, comparison, bound, op) = if backward {
            (size, Comparison::Ne, zero, BinaryOp::Sub)
        } else {
            (zero, Comparison::Lt, size, BinaryOp::Add)
        };
        let start = self.plain_store(counter, first, 8, loc);
        let condition = self.add(
            ExprKind::Compare(comparison, checked, bound),
            Types::TRUTH,
            loc,
        );
        let next = self.add(ExprKind::Binary(op, stepped, one), ty, loc);
        let step = self.plain_store(counter, next, 8, loc);
        let index = self.arithmetic_as(used, Scalar::Long);
        let byte = match source {
            Source::Byte(byte) => byte,
            Source::Memory(from) => {
                let from = self.byte_at(from, index, loc);
                self.load(from, Types::UCHAR.into(), 1, loc)
            }
        };
        let place = self.byte_at(to, index, loc);
        let write = self.plain_store(place, byte, 1, loc);
        let statement = |id| Stmt {
            kind: StmtKind::Expr(id),
            loc,
        };
        let (step, body) = if backward {
            (None, vec![statement(step), statement(write)])
        } else {
            (Some(step), vec![statement(write)])
        };
        let kind = StmtKind::Loop {
            condition: Some(condition),
            step,
            body,
            test_last: false,
            unroll: None,
        };
        let declare = StmtKind::Declare(local);
        vec![
            Stmt { kind: declare, loc },
            statement(start),
            Stmt { kind, loc },
        ]
    }

    fn byte_at(&mut self, pointer: ExprId, index: ExprId, loc: Loc) -> ExprId {
        let bytes = self.retarget(pointer, Types::UCHAR, loc);
        let ty = self.type_of(bytes);
        self.add(ExprKind::PtrAdd(bytes, index), ty, loc)
    }

    /// The same address as a pointer to another type, in the same space.
    pub(super) fn retarget(&mut self, pointer: ExprId, to: TypeId, loc: Loc) -> ExprId {
        let space = self.space_of(self.type_of(pointer));
        let ty = self.types.pointer(to.into(), space);
        self.pointer_cast(pointer, ty, loc)
    }

    pub(super) fn plain_store(
        &mut self,
        pointer: ExprId,
        value: ExprId,
        align: u64,
        loc: Loc,
    ) -> ExprId {
        let access = Access {
            is_volatile: false,
            nontemporal: false,
            align,
        };
        let kind = ExprKind::Store {
            pointer,
            value,
            access,
        };
        self.add(kind, Types::VOID, loc)
    }

    /// Whether one address is greater than another.
    fn is_behind(&mut self, one: ExprId, other: ExprId, loc: Loc) -> ExprId {
        let [a, b] = [one, other].map(|pointer| {
            let number = ExprKind::Convert(Conversion::PointerToInt, pointer);
            self.add(number, Types::ULONG, loc)
        });
        self.add(ExprKind::Compare(Comparison::Gt, a, b), Types::TRUTH, loc)
    }

    /// After all that, the pointer that was written to.
    fn pointer_result(&mut self, mut all: Vec<ExprId>, to: ExprId, loc: Loc) -> ExprId {
        let result = self.retarget(to, Types::VOID, loc);
        all.push(result);
        let ty = self.type_of(result);
        self.add(ExprKind::Sequence(all), ty, loc)
    }
}
