//! Conversions: what C does by itself, what a cast asks for, what operators need.
//!
//! OpenCL C Specification, "Conversions and Type Casting"; C99, "Conversions".

use super::aliases::Alias;
use super::{Operand, Place, Sema};
use crate::builtins::{Atomic, AtomicOp, Call, Generation, Lowering};
use crate::hir::{Access, Constant, Conversion, ExprId, ExprKind};
use crate::token::{Loc, Span};
use crate::types::{QualType, Scalar, Space, Type, TypeId, Types};

/// Where a value goes, for the words of a diagnostic.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// By an operator, to something declared by a name for its type.
    Assign(Loc, Option<Alias>),
    /// A variable, by its name, if it is one.
    Init(Option<Loc>, Option<Alias>),
    Pass,
    Return,
}

impl Goal {
    fn alias(self) -> Option<Alias> {
        match self {
            Goal::Assign(_, alias) | Goal::Init(_, alias) => alias,
            Goal::Pass | Goal::Return => None,
        }
    }

    /// Where a diagnostic about the value of `span` has its caret.
    fn caret(self, span: Span) -> Loc {
        match self {
            Goal::Assign(at, _) | Goal::Init(Some(at), _) => at,
            Goal::Init(None, _) | Goal::Pass | Goal::Return => span.first,
        }
    }
}

const NEAREST: Conversion = Conversion::Arithmetic {
    rounding: None,
    saturate: false,
};

impl Sema<'_> {
    /// The value of an operand: objects are read, arrays become pointers.
    pub(super) fn rvalue(&mut self, operand: Operand) -> ExprId {
        let loc = operand.span.first;
        match operand.place {
            Place::Value(id) => id,
            Place::Function => {
                self.diags
                    .error(operand.span, "taking address of function is not allowed");
                self.error_value(loc)
            }
            Place::Object(address, align) => match *self.types.get(operand.ty.ty) {
                Type::Array { element, .. } => self.decay(address, element, loc),
                Type::Atomic(inner) => self.atomic_load(address, inner, loc),
                _ if self.is_error(operand.ty.ty) => self.error_value(loc),
                _ if self.is_disabled_half(operand.ty.ty) => {
                    let name = self.quote(operand.ty);
                    self.diags.error(
                        operand.span,
                        format!(
                            "loading directly from pointer to type {name} requires cl_khr_fp16. \
                             Use vector data load builtin functions instead"
                        ),
                    );
                    self.error_value(loc)
                }
                _ => self.load(address, operand.ty, align, loc),
            },
            Place::Lanes {
                address,
                align,
                vector,
                lanes,
            } => {
                let quals = operand.ty.quals;
                let whole = self.load(address, QualType { ty: vector, quals }, align, loc);
                let count = self
                    .types
                    .as_arithmetic(vector)
                    .map_or(1, |(_, count)| count);
                let lanes = lanes.as_slice().iter();
                let picked = lanes.map(|&lane| (lane < count).then_some(lane)).collect();
                self.add(ExprKind::Shuffle(whole, None, picked), operand.ty.ty, loc)
            }
        }
    }

    /// Without the extension, `half` is a type that pointers point to and nothing else. OpenCL C
    /// Specification, "The `half` Data Type".
    pub(super) fn is_disabled_half(&self, mut ty: TypeId) -> bool {
        while let Type::Array { element, .. } = self.types.get(ty) {
            ty = element.ty;
        }
        ty == Types::HALF && !self.half_enabled
    }

    pub(super) fn error_value(&mut self, loc: Loc) -> ExprId {
        self.add(ExprKind::Undefined, Types::ERROR, loc)
    }

    /// A pointer to the first element.
    fn decay(&mut self, address: ExprId, element: QualType, loc: Loc) -> ExprId {
        self.note_escape(address);
        let space = self.space_of(self.type_of(address));
        let ty = self.types.pointer(element, space);
        let zero = self.int_constant(0, Types::LONG, loc);
        self.add(ExprKind::ElementAddr(address, zero), ty, loc)
    }

    pub(super) fn space_of(&self, pointer: TypeId) -> Space {
        match self.types.get(pointer) {
            Type::Pointer { space, .. } => *space,
            _ => Space::Private,
        }
    }

    pub(super) fn access(&self, ty: QualType, align: u64) -> Access {
        let natural = self.types.layout(ty.ty).map_or(1, |(_, align)| align);
        Access {
            is_volatile: ty.quals.is_volatile,
            nontemporal: false,
            align: natural.min(align.max(1)),
        }
    }

    /// C11, "Lvalues, arrays, and function designators": an atomic object's value is not atomic.
    fn atomic_load(&mut self, address: ExprId, inner: TypeId, loc: Loc) -> ExprId {
        self.note_escape(address);
        let load = Atomic {
            what: AtomicOp::Load,
            generation: Generation::Consistent,
        };
        let call = Call {
            lowering: Lowering::Atomic(load),
            blocks: Vec::new(),
        };
        self.add(ExprKind::Builtin(Box::new(call), vec![address]), inner, loc)
    }

    pub(super) fn is_atomic(&self, operand: Operand) -> bool {
        matches!(self.types.get(operand.ty.ty), Type::Atomic(_))
    }

    pub(super) fn load(&mut self, address: ExprId, ty: QualType, align: u64, loc: Loc) -> ExprId {
        let access = self.access(ty, align);
        self.add(
            ExprKind::Load {
                pointer: address,
                access,
            },
            ty.ty,
            loc,
        )
    }

    /// Something may change the variable from elsewhere, or looks at it in memory.
    pub(super) fn note_escape(&mut self, address: ExprId) {
        let mut at = address;
        loop {
            match *self.kind_of(at) {
                ExprKind::Local(local) => {
                    self.body.function.locals[local.0 as usize].is_mutable = true;
                    return;
                }
                ExprKind::FieldAddr(base, _)
                | ExprKind::ElementAddr(base, _)
                | ExprKind::ComponentAddr(base, _)
                | ExprKind::Convert(_, base) => at = base,
                _ => return,
            }
        }
    }

    pub(super) fn arithmetic_of(&self, id: ExprId) -> Option<(Scalar, u8)> {
        self.types.as_arithmetic(self.type_of(id))
    }

    /// Between arithmetic types of as many lanes.
    pub(super) fn arithmetic_as(&mut self, id: ExprId, scalar: Scalar) -> ExprId {
        let Some((from, lanes)) = self.arithmetic_of(id) else {
            return id;
        };
        let ty = self.types.vector(scalar, lanes);
        if self.type_of(id) == ty {
            return id;
        }
        let loc = self.body.function[id].loc;
        if let ExprKind::Constant(constant) = self.kind_of(id)
            && let Some(folded) =
                super::consteval::convert(constant, from, scalar, self.rounding(loc))
        {
            return self.add(ExprKind::Constant(folded), ty, loc);
        }
        if let ExprKind::Convert(Conversion::FromTruth, truth) = *self.kind_of(id)
            && scalar.is_integer()
            && lanes == 1
        {
            return self.add(ExprKind::Convert(Conversion::FromTruth, truth), ty, loc);
        }
        self.add(ExprKind::Convert(NEAREST, id), ty, loc)
    }

    /// A scalar that is cast or assigned to a vector. OpenCL C 3.0, "Explicit Casts": "When casting
    /// a bool to a vector integer data type, the vector components will be set to -1 (i.e. all bits
    /// set) if the bool value is true". clang takes this to be so of floating-point vectors, too.
    fn widened(&mut self, id: ExprId, from: Scalar, to: Scalar, lanes: u8) -> ExprId {
        if from != Scalar::Bool {
            return self.splat(id, to, lanes);
        }
        let loc = self.body.function[id].loc;
        let whole = if to.is_integer() { to } else { Scalar::Int };
        let ty = self.types.scalar(whole);
        let truth = self.truth(id, loc);
        let one = self.truth_as(truth, ty, loc);
        let minus = self.add(ExprKind::Unary(crate::hir::UnaryOp::Negate, one), ty, loc);
        self.splat(minus, to, lanes)
    }

    pub(super) fn splat(&mut self, id: ExprId, scalar: Scalar, lanes: u8) -> ExprId {
        let value = self.arithmetic_as(id, scalar);
        let ty = self.types.vector(scalar, lanes);
        let loc = self.body.function[id].loc;
        self.add(ExprKind::Splat(value), ty, loc)
    }

    /// A `Truth` from a scalar; `None` (told) for what is none.
    pub(super) fn condition(&mut self, operand: Operand) -> ExprId {
        let value = self.rvalue(operand);
        self.truth_of(value, operand.span)
    }

    pub(super) fn truth_of(&mut self, value: ExprId, span: Span) -> ExprId {
        let (ty, loc) = (self.type_of(value), span.first);
        let scalar = match self.types.get(ty) {
            Type::Scalar(_) | Type::Enum(_) | Type::Pointer { .. } | Type::Block(_) => true,
            Type::Error => {
                return self.add(ExprKind::Undefined, Types::TRUTH, loc);
            }
            _ => false,
        };
        if !scalar {
            let name = self.quote(ty);
            self.diags.error(
                span,
                format!("statement requires expression of scalar type ({name} invalid)"),
            );
            return self.add(ExprKind::Undefined, Types::TRUTH, loc);
        }
        self.truth(value, loc)
    }

    /// Not equal to zero, lane by lane.
    pub(super) fn truth(&mut self, value: ExprId, loc: Loc) -> ExprId {
        match *self.kind_of(value) {
            ExprKind::Convert(Conversion::FromTruth, inner) => inner,
            ExprKind::Constant(Constant::Int(bits)) if self.arithmetic_of(value).is_some() => {
                let constant = ExprKind::Constant(Constant::Int(u64::from(bits != 0)));
                self.add(constant, Types::TRUTH, loc)
            }
            _ => {
                let lanes = self.arithmetic_of(value).map_or(1, |(_, lanes)| lanes);
                let ty = self.types.intern(Type::Truth(lanes));
                self.add(ExprKind::Convert(Conversion::ToTruth, value), ty, loc)
            }
        }
    }

    /// An `int` (or a vector of integers) of a `Truth`.
    pub(super) fn truth_as(&mut self, truth: ExprId, ty: TypeId, loc: Loc) -> ExprId {
        self.add(ExprKind::Convert(Conversion::FromTruth, truth), ty, loc)
    }

    /// C's integer promotions.
    pub(super) fn promote(&mut self, id: ExprId) -> ExprId {
        match self.arithmetic_of(id) {
            Some((scalar, 1)) => self.arithmetic_as(id, promoted(scalar)),
            _ => id,
        }
    }

    /// An integer constant expression of value zero, or a cast of one to `void *`.
    pub(super) fn is_null_constant(&self, id: ExprId) -> bool {
        match self.kind_of(id) {
            ExprKind::Constant(Constant::Int(0)) => {
                matches!(self.arithmetic_of(id), Some((s, 1)) if s.is_integer())
            }
            ExprKind::Constant(Constant::Zero | Constant::Pointer(0)) => {
                // That of a named address space is a pointer like any other.
                matches!(
                    self.types.get(self.type_of(id)),
                    Type::Pointer { pointee, space: Space::Generic | Space::Private }
                        if pointee.ty == Types::VOID
                )
            }
            _ => false,
        }
    }

    /// As by assignment: to the type of a variable, a parameter or a result.
    pub(super) fn assignable(&mut self, operand: Operand, to: TypeId, goal: Goal) -> ExprId {
        let value = self.rvalue(operand);
        self.assign_value(value, operand.span, to, goal)
    }

    pub(super) fn assign_value(
        &mut self,
        value: ExprId,
        span: Span,
        to: TypeId,
        goal: Goal,
    ) -> ExprId {
        let (from, loc) = (self.type_of(value), span.first);
        if from == to {
            return value;
        }
        if self.is_error(from) || self.is_error(to) {
            return self.add(ExprKind::Undefined, to, loc);
        }
        if let (Some((source, lanes)), Some((target, wanted))) =
            (self.types.as_arithmetic(from), self.types.as_arithmetic(to))
        {
            if lanes == wanted && (lanes == 1) {
                self.warn_constant(value, span, source, target, to);
                let converted = self.arithmetic_as(value, target);
                return self.retype(converted, to, loc);
            }
            if lanes == 1 {
                self.warn_constant(value, span, source, target, to);
                return self.widened(value, source, target, wanted);
            }
        }
        if let Some(converted) = self.assign_pointer(value, span, to, goal) {
            return converted;
        }
        if self.opaque_constant(value, to) {
            return self.opaque(value, to, loc);
        }
        if let Type::Atomic(inner) = *self.types.get(to) {
            let inner = self.assign_value(value, span, inner, goal);
            return self.retype(inner, to, loc);
        }
        if self.block_type(from).is_some() && self.block_type(to).is_some() {
            let text = self.goal_text(value, to, goal);
            self.misfit(
                format!("incompatible block pointer types {text}"),
                span,
                goal,
            );
        } else {
            self.incompatible(value, to, span, goal);
        }
        self.add(ExprKind::Undefined, to, loc)
    }

    /// The same value under a type of the same representation (`enum`).
    pub(super) fn retype(&mut self, value: ExprId, to: TypeId, loc: Loc) -> ExprId {
        if self.type_of(value) == to {
            return value;
        }
        match self.kind_of(value) {
            ExprKind::Constant(constant) => {
                let constant = constant.clone();
                self.add(ExprKind::Constant(constant), to, loc)
            }
            _ => self.add(ExprKind::Convert(NEAREST, value), to, loc),
        }
    }

    fn incompatible(&mut self, value: ExprId, to: TypeId, span: Span, goal: Goal) {
        let (from, to) = (
            self.quote_value(value),
            self.quote_as(to.into(), goal.alias()),
        );
        let message = match goal {
            Goal::Assign(..) => format!("assigning to {to} from incompatible type {from}"),
            Goal::Init(..) => {
                format!("initializing {to} with an expression of incompatible type {from}")
            }
            Goal::Pass => format!("passing {from} to parameter of incompatible type {to}"),
            Goal::Return => {
                format!("returning {from} from a function with incompatible result type {to}")
            }
        };
        self.misfit(message, span, goal);
    }

    /// An error about the value of `span`.
    fn misfit(&mut self, message: impl Into<String>, span: Span, goal: Goal) {
        self.diags.error(goal.caret(span), message).range(span);
    }

    fn goal_text(&self, value: ExprId, to: TypeId, goal: Goal) -> String {
        let (from, to) = (
            self.quote_value(value),
            self.quote_as(to.into(), goal.alias()),
        );
        match goal {
            Goal::Assign(..) => format!("assigning to {to} from {from}"),
            Goal::Init(..) => format!("initializing {to} with an expression of type {from}"),
            Goal::Pass => format!("passing {from} to parameter of type {to}"),
            Goal::Return => {
                format!("returning {from} from a function with result type {to}")
            }
        }
    }

    /// Pointers, their address spaces, null pointer constants; `None` where none is involved.
    fn assign_pointer(
        &mut self,
        value: ExprId,
        span: Span,
        to: TypeId,
        goal: Goal,
    ) -> Option<ExprId> {
        let (from, loc) = (self.type_of(value), span.first);
        match (self.types.get(from).clone(), self.types.get(to).clone()) {
            (
                Type::Pointer {
                    pointee: source,
                    space: have,
                },
                Type::Pointer {
                    pointee: target,
                    space: want,
                },
            ) => {
                if !converts(have, want) {
                    if self.is_null_constant(value) {
                        return Some(self.null(to, loc));
                    }
                    let text = match goal {
                        Goal::Assign(_, alias) => {
                            let to = self.quote_as(to.into(), alias);
                            format!("assigning {} to {to}", self.quote_value(value))
                        }
                        _ => self.goal_text(value, to, goal),
                    };
                    self.misfit(
                        format!("{text} changes address space of pointer"),
                        span,
                        goal,
                    );
                    return Some(self.add(ExprKind::Undefined, to, loc));
                }
                if self.nested_spaces_differ(source.ty, target.ty) {
                    let text = self.goal_text(value, to, goal);
                    self.misfit(
                        format!("{text} changes address space of nested pointer"),
                        span,
                        goal,
                    );
                    return Some(self.add(ExprKind::Undefined, to, loc));
                }
                let is_void = source.ty == Types::VOID || target.ty == Types::VOID;
                if !is_void && !self.compatible_pointees(source.ty, target.ty) {
                    let text = self.goal_text(value, to, goal);
                    let message = format!("incompatible pointer types {text}");
                    let group = "incompatible-pointer-types";
                    self.diags
                        .warning(group, goal.caret(span), message)
                        .range(span);
                } else if (source.quals.is_const && !target.quals.is_const)
                    || (source.quals.is_volatile && !target.quals.is_volatile)
                {
                    let text = self.goal_text(value, to, goal);
                    let message = format!("{text} discards qualifiers");
                    let group = "incompatible-pointer-types-discards-qualifiers";
                    self.diags
                        .warning(group, goal.caret(span), message)
                        .range(span);
                }
                Some(self.pointer_cast(value, to, loc))
            }
            (Type::Scalar(scalar), Type::Pointer { .. }) if scalar.is_integer() => {
                if self.is_null_constant(value) {
                    return Some(self.null(to, loc));
                }
                let text = self.goal_text(value, to, goal);
                self.misfit(
                    format!("incompatible integer to pointer conversion {text}"),
                    span,
                    goal,
                );
                Some(self.add(ExprKind::Undefined, to, loc))
            }
            (Type::Pointer { .. }, Type::Scalar(Scalar::Bool)) => {
                let truth = self.truth(value, loc);
                Some(self.truth_as(truth, to, loc))
            }
            (Type::Pointer { .. }, Type::Scalar(scalar)) if scalar.is_integer() => {
                let text = self.goal_text(value, to, goal);
                self.misfit(
                    format!("incompatible pointer to integer conversion {text}"),
                    span,
                    goal,
                );
                Some(self.add(ExprKind::Undefined, to, loc))
            }
            _ => None,
        }
    }

    /// Whether two pointees are pointers, on to pointers, that differ in an address space.
    fn nested_spaces_differ(&self, mut a: TypeId, mut b: TypeId) -> bool {
        while let (
            &Type::Pointer {
                pointee: p,
                space: s,
            },
            &Type::Pointer {
                pointee: q,
                space: t,
            },
        ) = (self.types.get(a), self.types.get(b))
        {
            if s != t {
                return true;
            }
            (a, b) = (p.ty, q.ty);
        }
        false
    }

    /// The same but for qualifiers and the sign of `char`s, which clang lets pass with a warning of
    /// its own.
    pub(super) fn compatible_pointees(&self, a: TypeId, b: TypeId) -> bool {
        if a == b {
            return true;
        }
        match (self.types.get(a), self.types.get(b)) {
            (
                Type::Array {
                    element: a,
                    len: la,
                },
                Type::Array {
                    element: b,
                    len: lb,
                },
            ) => (la == lb || la.is_none() || lb.is_none()) && self.compatible_pointees(a.ty, b.ty),
            (
                Type::Pointer {
                    pointee: a,
                    space: sa,
                },
                Type::Pointer {
                    pointee: b,
                    space: sb,
                },
            ) => sa == sb && self.compatible_pointees(a.ty, b.ty),
            (Type::Enum(_), Type::Scalar(_)) | (Type::Scalar(_), Type::Enum(_)) => {
                self.types.as_arithmetic(a) == self.types.as_arithmetic(b)
            }
            _ => false,
        }
    }

    pub(super) fn null(&mut self, ty: TypeId, loc: Loc) -> ExprId {
        self.add(ExprKind::Constant(Constant::Zero), ty, loc)
    }

    /// From pointer to pointer: first between address spaces, then between pointees.
    pub(super) fn pointer_cast(&mut self, value: ExprId, to: TypeId, loc: Loc) -> ExprId {
        let from = self.type_of(value);
        if from == to {
            return value;
        }
        if matches!(self.kind_of(value), ExprKind::Constant(Constant::Zero)) {
            return self.null(to, loc);
        }
        let (
            Type::Pointer {
                pointee,
                space: have,
            },
            Type::Pointer { space: want, .. },
        ) = (self.types.get(from).clone(), self.types.get(to).clone())
        else {
            return value;
        };
        let mut value = value;
        if have != want {
            let ty = self.types.pointer(pointee, want);
            value = self.add(ExprKind::Convert(Conversion::Space, value), ty, loc);
        }
        if self.type_of(value) != to {
            value = self.add(ExprKind::Convert(Conversion::Pointer, value), to, loc);
        }
        value
    }

    pub(super) fn opaque_constant(&self, value: ExprId, to: TypeId) -> bool {
        let is_int = matches!(self.arithmetic_of(value), Some((s, 1)) if s.is_integer());
        match self.types.get(to) {
            Type::Sampler => is_int,
            Type::Event | Type::Queue | Type::ClkEvent | Type::ReserveId => {
                self.is_null_constant(value)
            }
            _ => false,
        }
    }

    fn opaque(&mut self, value: ExprId, to: TypeId, loc: Loc) -> ExprId {
        if to == Types::SAMPLER {
            if matches!(self.arithmetic_of(value), Some((scalar, _)) if scalar.bits() > 32) {
                let from = self.quote_value(value);
                self.diags.error(
                    loc,
                    format!("sampler_t initialization requires 32-bit integer, not {from}"),
                );
                return self.add(ExprKind::Undefined, to, loc);
            }
            return match self.eval_integer(value) {
                Some(bits) => {
                    let constant = ExprKind::Constant(Constant::Sampler(bits as u32));
                    self.add(constant, to, loc)
                }
                None => {
                    self.diags.error(
                        loc,
                        "sampler_t initialization requires a compile time constant",
                    );
                    self.add(ExprKind::Undefined, to, loc)
                }
            };
        }
        self.null(to, loc)
    }

    /// `-Wconstant-conversion`, `-Wliteral-conversion`: on by default.
    fn warn_constant(
        &mut self,
        value: ExprId,
        span: Span,
        source: Scalar,
        target: Scalar,
        to: TypeId,
    ) {
        if target == Scalar::Bool || !target.is_integer() || !source.is_integer() {
            return;
        }
        let ExprKind::Constant(Constant::Int(bits)) = *self.kind_of(value) else {
            return;
        };
        let before = if source.is_signed() {
            i128::from(bits as i64)
        } else {
            i128::from(bits)
        };
        let stored = super::consteval::wrap(bits, target);
        let after = if target.is_signed() {
            i128::from(stored as i64)
        } else {
            i128::from(stored)
        };
        // -1 for an unsigned type of the same width, and 255 for a `char`, are meant.
        let narrower = target.bits() < source.bits();
        let same_bits = before >= -(1 << (target.bits() - 1)) && before < 1 << target.bits();
        if before != after && narrower && !(same_bits && !target.is_signed() && before < 0) {
            let (from, to) = (self.quote_value(value), self.quote(to));
            self.diags.warning(
                "constant-conversion",
                span,
                format!(
                    "implicit conversion from {from} to {to} changes value from {before} to {after}"
                ),
            );
        }
    }

    /// `(T)e`
    pub(super) fn cast(&mut self, operand: Operand, to: QualType, span: Span) -> ExprId {
        let value = self.rvalue(operand);
        let (from, loc, to) = (self.type_of(value), span.first, to.ty);
        if from == to || to == Types::VOID {
            return match to {
                Types::VOID if from != to => {
                    let nothing = self.add(ExprKind::Undefined, Types::VOID, loc);
                    self.add(ExprKind::Sequence(vec![value, nothing]), Types::VOID, loc)
                }
                _ => value,
            };
        }
        if self.is_error(from) || self.is_error(to) {
            return self.add(ExprKind::Undefined, to, loc);
        }
        if self.is_disabled_half(to) {
            let name = self.quote(to);
            self.diags
                .error(span, format!("casting to type {name} is not allowed"));
            return self.error_value(loc);
        }
        match (self.types.as_arithmetic(from), self.types.as_arithmetic(to)) {
            (Some((_, 1)), Some((target, 1))) => {
                let converted = self.arithmetic_as(value, target);
                return self.retype(converted, to, loc);
            }
            // "(float4)1.0f"
            (Some((source, 1)), Some((target, lanes))) => {
                return self.widened(value, source, target, lanes);
            }
            (Some(_), Some(_)) => {
                let (from, to_name) = (self.quote(from), self.quote(to));
                self.diags.error(
                    span,
                    format!("invalid conversion between vector type {from} and {to_name}"),
                );
                return self.add(ExprKind::Undefined, to, loc);
            }
            _ => {}
        }
        self.cast_pointer(value, to, span)
    }

    fn cast_pointer(&mut self, value: ExprId, to: TypeId, span: Span) -> ExprId {
        let (from, loc) = (self.type_of(value), span.first);
        match (self.types.get(from).clone(), self.types.get(to).clone()) {
            (Type::Pointer { space: have, .. }, Type::Pointer { space: want, .. }) => {
                let overlaps = have == want
                    || (have == Space::Generic && want != Space::Constant)
                    || (want == Space::Generic && have != Space::Constant);
                if !overlaps && !self.is_null_constant(value) {
                    let (from, to_name) = (self.quote(from), self.quote(to));
                    self.diags.error(
                        span,
                        format!(
                            "casting {from} to type {to_name} changes address space of pointer"
                        ),
                    );
                    return self.add(ExprKind::Undefined, to, loc);
                }
                if self.is_null_constant(value) {
                    return self.null(to, loc);
                }
                self.pointer_cast(value, to, loc)
            }
            (Type::Pointer { .. }, Type::Scalar(Scalar::Bool)) => {
                let truth = self.truth(value, loc);
                self.truth_as(truth, to, loc)
            }
            (Type::Pointer { .. }, Type::Scalar(scalar)) if scalar.is_integer() => {
                self.add(ExprKind::Convert(Conversion::PointerToInt, value), to, loc)
            }
            (Type::Scalar(scalar), Type::Pointer { .. }) if scalar.is_integer() => {
                match *self.kind_of(value) {
                    ExprKind::Constant(Constant::Int(0)) => self.null(to, loc),
                    ExprKind::Constant(Constant::Int(bits)) => {
                        self.add(ExprKind::Constant(Constant::Pointer(bits)), to, loc)
                    }
                    _ => self.add(ExprKind::Convert(Conversion::IntToPointer, value), to, loc),
                }
            }
            _ if self.opaque_constant(value, to) => self.opaque(value, to, loc),
            _ => {
                let (from_name, to_name) = (self.quote(from), self.quote(to));
                let message = match self.types.get(to) {
                    Type::Record(_) | Type::Array { .. } => {
                        format!("used type {to_name} where arithmetic or pointer type is required")
                    }
                    _ => format!("operand of type {from_name} cannot be cast to type {to_name}"),
                };
                self.diags.error(span, message);
                self.add(ExprKind::Undefined, to, loc)
            }
        }
    }
}

/// Whether a pointer into one space goes where another is wanted without a cast.
pub(super) fn converts(from: Space, to: Space) -> bool {
    from == to || (to == Space::Generic && from != Space::Constant)
}

pub(super) fn promoted(scalar: Scalar) -> Scalar {
    if scalar.is_integer() && scalar.bits() < 32 {
        Scalar::Int
    } else {
        scalar
    }
}

/// C's usual arithmetic conversions, of scalars.
pub(super) fn common(a: Scalar, b: Scalar) -> Scalar {
    if a.is_float() || b.is_float() {
        return match (a.is_float(), b.is_float()) {
            (true, true) => a.max(b),
            (true, false) => a,
            _ => b,
        };
    }
    let (a, b) = (promoted(a), promoted(b));
    match (a.bits(), b.bits()) {
        (x, y) if x > y => a,
        (x, y) if x < y => b,
        (bits, _) => {
            let signed = a.is_signed() && b.is_signed();
            match a.is_long_long() || b.is_long_long() {
                true => Scalar::long_long(signed),
                false => Scalar::integer(bits, signed),
            }
        }
    }
}
