//! GNU C's atomic functions: `__atomic_...`, of C11's memory model, and the older `__sync_...`.
//!
//! They work on ordinary objects, integers of 4 or 8 bytes and pointers (reads, writes and
//! exchanges on floating-point numbers too), between all work-items and the host.

use crate::ast;
use crate::builtins::{Atomic, AtomicOp, Generation, Lowering};
use crate::hir::{self, Conversion, ExprId, ExprKind, Stmt, StmtKind};
use crate::sema::Sema;
use crate::symbol::Symbol;
use crate::token::{Loc, Span};
use crate::types::{Scalar, Space, Type, TypeId, Types};

/// `__ATOMIC_CONSUME`, which is as `__ATOMIC_ACQUIRE`.
const CONSUME: u64 = 1;
const ACQUIRE: u64 = 2;
const RELEASE: u64 = 3;
const SEQUENTIALLY_CONSISTENT: u64 = 5;

/// `memory_scope_all_svm_devices`
const ALL_DEVICES: u64 = 3;

/// A read-modify-write of one value.
#[derive(Clone, Copy, Debug)]
enum Update {
    Native(AtomicOp),
    /// `~(old & value)`, for which there is no instruction.
    Nand,
}

/// An update and whether its value is the new one.
fn update(stem: &str) -> Option<(Update, bool)> {
    let (word, yields_new) = if let Some(word) = stem.strip_prefix("fetch_") {
        (word.strip_prefix("and_").unwrap_or(word), false)
    } else {
        let word = stem.strip_suffix("_fetch")?;
        (word.strip_suffix("_and").unwrap_or(word), true)
    };
    let update = match word {
        "add" => Update::Native(AtomicOp::Add),
        "sub" => Update::Native(AtomicOp::Sub),
        "and" => Update::Native(AtomicOp::And),
        "or" => Update::Native(AtomicOp::Or),
        "xor" => Update::Native(AtomicOp::Xor),
        "min" | "umin" => Update::Native(AtomicOp::Min),
        "max" | "umax" => Update::Native(AtomicOp::Max),
        "nand" => Update::Nand,
        _ => return None,
    };
    Some((update, yields_new))
}

/// The object of an atomic function.
#[derive(Clone, Copy)]
struct Object {
    pointer: ExprId,
    /// What it holds, and as what it is accessed: pointers as integers.
    ty: TypeId,
    bits: TypeId,
}

impl Sema<'_> {
    /// `None` if no function of the name takes so many arguments.
    pub(super) fn gnu_atomic(
        &mut self,
        name: &str,
        args: &[ast::ExprId],
        span: Span,
    ) -> Option<ExprId> {
        match name.strip_prefix("__atomic_") {
            Some(stem) => self.atomic_with_order(stem, args, span),
            None => self.sync(name.strip_prefix("__sync_")?, args, span),
        }
    }

    fn atomic_with_order(
        &mut self,
        stem: &str,
        args: &[ast::ExprId],
        span: Span,
    ) -> Option<ExprId> {
        let loc = span.first;
        Some(match (stem, args) {
            ("load_n", &[object, order]) => {
                let object = self.object(object, false, loc)?;
                let order = self.order(order);
                self.atomic(AtomicOp::Load, object, &[], &[order], loc)
            }
            ("load", &[object, result, order]) => {
                let object = self.object(object, false, loc)?;
                let result = self.value_behind(result, object);
                let order = self.order(order);
                let value = self.atomic(AtomicOp::Load, object, &[], &[order], loc);
                self.write(result, value, loc)
            }
            ("store_n" | "store", &[object, value, order]) => {
                let object = self.object(object, true, loc)?;
                let value = self.given(value, object, stem == "store_n");
                let order = self.order(order);
                self.atomic(AtomicOp::Store, object, &[value], &[order], loc)
            }
            ("exchange_n", &[object, value, order]) => {
                let object = self.object(object, true, loc)?;
                let value = self.given(value, object, true);
                let order = self.order(order);
                self.atomic(AtomicOp::Exchange, object, &[value], &[order], loc)
            }
            ("exchange", &[object, value, result, order]) => {
                let object = self.object(object, true, loc)?;
                let value = self.given(value, object, false);
                let result = self.value_behind(result, object);
                let order = self.order(order);
                let old = self.atomic(AtomicOp::Exchange, object, &[value], &[order], loc);
                self.write(result, old, loc)
            }
            (
                "compare_exchange_n" | "compare_exchange",
                &[object, expected, desired, weak, success, failure],
            ) => {
                let object = self.object(object, true, loc)?;
                let expected = self.value_behind(expected, object);
                let desired = self.given(desired, object, stem.ends_with("_n"));
                let weak = self.argument_as(weak, Scalar::Bool);
                let orders = [success, failure].map(|order| self.order(order));
                let same = self.compare_exchange((object, expected), desired, &orders, loc);
                let ty = self.type_of(same);
                self.add(ExprKind::Sequence(vec![weak, same]), ty, loc)
            }
            ("test_and_set", &[object, order]) => {
                let object = self.object(object, true, loc)?;
                let one = self.int_constant(1, object.bits, loc);
                let order = self.order(order);
                let old = self.atomic(AtomicOp::Exchange, object, &[one], &[order], loc);
                self.arithmetic_as(old, Scalar::Bool)
            }
            ("clear", &[object, order]) => {
                let object = self.object(object, true, loc)?;
                let zero = self.int_constant(0, object.bits, loc);
                let order = self.order(order);
                self.atomic(AtomicOp::Store, object, &[zero], &[order], loc)
            }
            ("thread_fence" | "signal_fence", &[order]) => {
                let order = self.order(order);
                self.thread_fence(order, loc)
            }
            ("always_lock_free" | "is_lock_free", &[size, object]) => {
                self.unevaluated(object);
                let is_free = matches!(self.integer_constant(size), Some(4 | 8));
                let ty = self.types.scalar(Scalar::Bool);
                self.int_constant(is_free.into(), ty, loc)
            }
            (_, &[object, value, order]) => {
                let update = update(stem)?;
                let object = self.object(object, true, loc)?;
                let value = self.given(value, object, true);
                let order = self.order(order);
                self.update(update, object, value, order, loc)
            }
            _ => return None,
        })
    }

    /// Functions without an order are full barriers but for those of locks; what follows the
    /// arguments they know says which objects that is for, and means nothing.
    fn sync(&mut self, stem: &str, args: &[ast::ExprId], span: Span) -> Option<ExprId> {
        let loc = span.first;
        let order = match stem {
            "lock_test_and_set" => ACQUIRE,
            "lock_release" => RELEASE,
            _ => SEQUENTIALLY_CONSISTENT,
        };
        let order = self.int_constant(order, Types::INT, loc);
        Some(match (stem, args) {
            ("synchronize", []) => self.thread_fence(order, loc),
            ("lock_release", &[object, ..]) => {
                let object = self.object(object, true, loc)?;
                let zero = self.int_constant(0, object.bits, loc);
                self.atomic(AtomicOp::Store, object, &[zero], &[order], loc)
            }
            ("lock_test_and_set" | "swap", &[object, value, ..]) => {
                let object = self.object(object, true, loc)?;
                let value = self.given(value, object, true);
                self.atomic(AtomicOp::Exchange, object, &[value], &[order], loc)
            }
            ("val_compare_and_swap" | "bool_compare_and_swap", &[object, old, new, ..]) => {
                let object = self.object(object, true, loc)?;
                let old = self.given(old, object, true);
                let new = self.given(new, object, true);
                let (bind, expected) = self.held(old, object.bits, loc);
                let orders = [order, order];
                let same = self.compare_exchange((object, expected), new, &orders, loc);
                let mut all = vec![bind];
                if stem == "bool_compare_and_swap" {
                    all.push(same);
                } else {
                    let found = self.load(expected, object.bits.into(), 1, loc);
                    all.extend([same, self.value_of_bits(found, object, loc)]);
                }
                let ty = self.type_of(*all.last().expect("it has a value"));
                self.add(ExprKind::Sequence(all), ty, loc)
            }
            (_, &[object, value, ..]) => {
                let update = update(stem)?;
                let object = self.object(object, true, loc)?;
                let value = self.given(value, object, true);
                self.update(update, object, value, order, loc)
            }
            _ => return None,
        })
    }

    /// What the first argument points to; an object of the wrong type is told, and then no type.
    fn object(&mut self, arg: ast::ExprId, is_written: bool, loc: Loc) -> Option<Object> {
        let operand = self.expr(arg);
        let pointer = self.rvalue(operand);
        let ty = self.type_of(pointer);
        let name = self.quote(ty);
        let wrong = match *self.types.get(ty) {
            Type::Error => String::new(),
            Type::Pointer { pointee, space } => {
                let is_const = pointee.quals.is_const || space == Space::Constant;
                let bits = match *self.types.get(pointee.ty) {
                    Type::Pointer { .. } => Some(Types::ULONG),
                    Type::Scalar(scalar) if matches!(scalar.bits(), 32 | 64) => Some(pointee.ty),
                    Type::Enum(_) => Some(Types::INT),
                    _ => None,
                };
                match bits {
                    Some(bits) if !(is_const && is_written) => {
                        self.note_escape(pointer);
                        let pointer = self.retarget(pointer, bits, loc);
                        let ty = pointee.ty;
                        return Some(Object { pointer, ty, bits });
                    }
                    Some(_) => format!(
                        "address argument to atomic operation must be a pointer to non-const type \
                         ({name} invalid)"
                    ),
                    None => format!(
                        "address argument to atomic operation must be a pointer to an integer or a \
                         pointer, of 4 or 8 bytes ({name} invalid)"
                    ),
                }
            }
            _ => format!("address argument to atomic operation must be a pointer ({name} invalid)"),
        };
        if !wrong.is_empty() {
            self.diags.error(operand.span, wrong);
        }
        let pointer = self.add(ExprKind::Undefined, Types::ERROR, loc);
        Some(Object {
            pointer,
            ty: Types::ERROR,
            bits: Types::ERROR,
        })
    }

    /// An order; `memory_order` has the same numbers, but for `__ATOMIC_CONSUME`.
    fn order(&mut self, arg: ast::ExprId) -> ExprId {
        let order = self.argument_as(arg, Scalar::Int);
        match self.eval_integer(order) {
            Some(CONSUME) => self.int_constant(ACQUIRE, Types::INT, self.ast[arg].span.first),
            _ => order,
        }
    }

    /// The bits of an argument that is a value of the object's type, or points to one.
    fn given(&mut self, arg: ast::ExprId, object: Object, by_value: bool) -> ExprId {
        let loc = self.ast[arg].span.first;
        if !by_value {
            let pointer = self.value_behind(arg, object);
            return match object.bits {
                Types::ERROR => pointer,
                bits => self.load(pointer, bits.into(), 4, loc),
            };
        }
        let operand = self.expr(arg);
        let value = self.assignable(operand, object.ty, super::Goal::Pass);
        match self.types.get(object.ty) {
            Type::Pointer { .. } => {
                let number = ExprKind::Convert(Conversion::PointerToInt, value);
                self.add(number, Types::ULONG, loc)
            }
            _ => self.retype(value, object.bits, loc),
        }
    }

    /// An argument that points to another object of the same type.
    fn value_behind(&mut self, arg: ast::ExprId, object: Object) -> ExprId {
        let operand = self.expr(arg);
        let value = self.rvalue(operand);
        let loc = operand.span.first;
        if self.is_error(object.ty) {
            return self.error_value(loc);
        }
        let space = match *self.types.get(self.type_of(value)) {
            Type::Pointer { space, .. } => space,
            _ => self.default_pointee_space(),
        };
        let wanted = self.types.pointer(object.ty.into(), space);
        let pointer = self.assign_value(value, operand.span, wanted, super::Goal::Pass);
        self.note_escape(pointer);
        self.retarget(pointer, object.bits, loc)
    }

    /// A value in a variable of its own: its initialisation, and its address.
    fn held(&mut self, value: ExprId, ty: TypeId, loc: Loc) -> (ExprId, ExprId) {
        let local = self.new_local(Symbol::default(), ty.into(), 8, loc);
        let pointer = self.types.pointer(ty.into(), Space::Private);
        let address = self.add(ExprKind::Local(local), pointer, loc);
        self.note_escape(address);
        (self.write(address, value, loc), address)
    }

    /// Writes what an atomic function yields to where a pointer leads.
    fn write(&mut self, pointer: ExprId, value: ExprId, loc: Loc) -> ExprId {
        let Type::Pointer { pointee, .. } = *self.types.get(self.type_of(pointer)) else {
            return self.error_value(loc);
        };
        let value = match *self.types.get(self.type_of(value)) {
            Type::Pointer { .. } => {
                let number = ExprKind::Convert(Conversion::PointerToInt, value);
                self.add(number, Types::ULONG, loc)
            }
            _ => self.retype(value, pointee.ty, loc),
        };
        self.plain_store(pointer, value, 4, loc)
    }

    fn value_of_bits(&mut self, value: ExprId, object: Object, loc: Loc) -> ExprId {
        match self.types.get(object.ty) {
            Type::Pointer { .. } => {
                let pointer = ExprKind::Convert(Conversion::IntToPointer, value);
                self.add(pointer, object.ty, loc)
            }
            _ => self.retype(value, object.ty, loc),
        }
    }

    /// An atomic access; values are given as bits, and what was there is yielded as it is.
    fn atomic(
        &mut self,
        what: AtomicOp,
        object: Object,
        values: &[ExprId],
        orders: &[ExprId],
        loc: Loc,
    ) -> ExprId {
        if self.is_error(object.ty) {
            return self.error_value(loc);
        }
        let ty = match what {
            AtomicOp::Store => Types::VOID,
            AtomicOp::CompareExchangeBool => self.types.scalar(Scalar::Bool),
            _ => object.bits,
        };
        let scope = self.int_constant(ALL_DEVICES, Types::INT, loc);
        let generation = Generation::OrderAndScope;
        let lowering = Lowering::Atomic(Atomic { what, generation });
        let given = [&[object.pointer], values, orders, &[scope]].concat();
        let value = self.builtin(lowering, given, ty, loc);
        match what {
            AtomicOp::Store | AtomicOp::CompareExchangeBool => value,
            _ => self.value_of_bits(value, object, loc),
        }
    }

    /// Whether the object held what `expected` points to, where otherwise is what it did hold.
    fn compare_exchange(
        &mut self,
        (object, expected): (Object, ExprId),
        desired: ExprId,
        orders: &[ExprId; 2],
        loc: Loc,
    ) -> ExprId {
        let values = [expected, desired];
        self.atomic(AtomicOp::CompareExchangeBool, object, &values, orders, loc)
    }

    /// `fetch_op` and `op_fetch`.
    fn update(
        &mut self,
        (update, yields_new): (Update, bool),
        object: Object,
        value: ExprId,
        order: ExprId,
        loc: Loc,
    ) -> ExprId {
        if self.is_error(object.ty) {
            return self.error_value(loc);
        }
        let (pointer, value_bind) = (object.pointer, value);
        let (bind_pointer, pointer) = self.bind(pointer, loc);
        let (bind_value, value) = self.bind(value_bind, loc);
        let object = Object { pointer, ..object };
        let mut all = vec![bind_pointer, bind_value];
        let old = match update {
            Update::Native(what) => {
                let old = self.atomic(what, object, &[value], &[order], loc);
                let (bind, old) = self.bind(old, loc);
                all.push(bind);
                old
            }
            Update::Nand => {
                let (statements, old) = self.nand(object, value, order, loc);
                all.push(self.add(ExprKind::Statements(statements, None), Types::VOID, loc));
                old
            }
        };
        let result = match yields_new {
            true => self.updated(update, old, value, loc),
            false => old,
        };
        all.push(result);
        let ty = self.type_of(result);
        self.add(ExprKind::Sequence(all), ty, loc)
    }

    /// The new value of an update.
    fn updated(&mut self, update: Update, old: ExprId, value: ExprId, loc: Loc) -> ExprId {
        let ty = self.type_of(old);
        let op = match update {
            Update::Native(AtomicOp::Add) => hir::BinaryOp::Add,
            Update::Native(AtomicOp::Sub) => hir::BinaryOp::Sub,
            Update::Native(AtomicOp::Or) => hir::BinaryOp::Or,
            Update::Native(AtomicOp::Xor) => hir::BinaryOp::Xor,
            Update::Native(what @ (AtomicOp::Min | AtomicOp::Max)) => {
                let comparison = match what {
                    AtomicOp::Min => hir::Comparison::Lt,
                    _ => hir::Comparison::Gt,
                };
                let compare = ExprKind::Compare(comparison, old, value);
                let keeps = self.add(compare, Types::TRUTH, loc);
                return self.add(ExprKind::Conditional(keeps, old, value), ty, loc);
            }
            Update::Native(_) | Update::Nand => hir::BinaryOp::And,
        };
        let new = self.add(ExprKind::Binary(op, old, value), ty, loc);
        match update {
            Update::Nand => self.add(ExprKind::Unary(hir::UnaryOp::BitNot, new), ty, loc),
            Update::Native(_) => new,
        }
    }

    /// Exchanges until nothing came between reading and writing; the value that was there.
    fn nand(
        &mut self,
        object: Object,
        value: ExprId,
        order: ExprId,
        loc: Loc,
    ) -> (Vec<Stmt>, ExprId) {
        let relaxed = self.int_constant(0, Types::INT, loc);
        let first = self.atomic(AtomicOp::Load, object, &[], &[relaxed], loc);
        let (start, expected) = self.held(first, object.bits, loc);
        let old = self.load(expected, object.bits.into(), 4, loc);
        let new = self.updated(Update::Nand, old, value, loc);
        let orders = [order, relaxed];
        let done = self.compare_exchange((object, expected), new, &orders, loc);
        let done = self.truth(done, loc);
        let again = self.add(ExprKind::Negate(done), Types::TRUTH, loc);
        let until = StmtKind::Loop {
            condition: Some(again),
            step: None,
            body: Vec::new(),
            test_last: true,
            unroll: None,
        };
        let kinds = [StmtKind::Expr(start), until];
        let statements = kinds.map(|kind| Stmt { kind, loc }).into();
        let old = self.load(expected, object.bits.into(), 4, loc);
        (statements, self.value_of_bits(old, object, loc))
    }

    /// Of all memory.
    fn thread_fence(&mut self, order: ExprId, loc: Loc) -> ExprId {
        const LOCAL_AND_GLOBAL: u64 = 3;
        let flags = self.int_constant(LOCAL_AND_GLOBAL, Types::UINT, loc);
        let scope = self.int_constant(ALL_DEVICES, Types::INT, loc);
        let args = vec![flags, order, scope];
        self.builtin(Lowering::ScopedFence, args, Types::VOID, loc)
    }
}
