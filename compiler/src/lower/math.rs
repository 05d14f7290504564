//! The number traits of `brolga-mathlib`, implemented by values of the function being built: the
//! same text that computes with `f32` here emits instructions.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use brolga_mathlib::bits::{of_small_int, scale};
use brolga_mathlib::parts::ldexp_in_steps;
use brolga_mathlib::{Float, Format, Int, Mask, Routine, Table};
use smallvec::{SmallVec, smallvec};

use super::emit::Emitter;
use crate::ir::{BinOp, ConvertOp, FloatCC, IntCC, Op, Scalar, Type, UnOp, Value};
use crate::target::Target;

/// Where instructions go.
pub struct Sink<'e, 'f> {
    pub emitter: RefCell<&'e mut Emitter<'f>>,
    /// Whether the target has [`BinOp::FScale`].
    scaling: bool,
    /// Whether it has [`UnOp::RecipEstimate`] and [`UnOp::RsqrtEstimate`].
    estimates: bool,
}

impl<'e, 'f> Sink<'e, 'f> {
    /// For any target.
    pub fn new(emitter: &'e mut Emitter<'f>) -> Sink<'e, 'f> {
        Sink {
            emitter: RefCell::new(emitter),
            scaling: false,
            estimates: false,
        }
    }

    /// With the operations that a target has.
    pub fn for_target(emitter: &'e mut Emitter<'f>, target: &Target) -> Sink<'e, 'f> {
        Sink {
            scaling: target.scaling,
            estimates: target.estimates,
            ..Sink::new(emitter)
        }
    }

    fn ty(&self, value: Value) -> Type {
        self.emitter.borrow().ty(value)
    }
}

/// A value with the place its users' instructions go. The trait its kind implements is the
/// wrapper's.
#[derive(Clone, Copy)]
struct Emitted<'s> {
    sink: &'s dyn Emit,
    value: Value,
    ty: Type,
}

/// [`Sink`] without its lifetimes.
trait Emit {
    fn emit(&self, op: Op, args: &[Value], ty: Type) -> Value;
    fn scaling(&self) -> bool;
    fn estimates(&self) -> bool;
}

impl Emit for Sink<'_, '_> {
    fn emit(&self, op: Op, args: &[Value], ty: Type) -> Value {
        self.emitter.borrow_mut().emit(op, args, ty)
    }

    fn scaling(&self) -> bool {
        self.scaling
    }

    fn estimates(&self) -> bool {
        self.estimates
    }
}

impl<'s> Emitted<'s> {
    fn op(self, op: Op, others: &[Emitted<'s>], ty: Type) -> Emitted<'s> {
        let mut args: SmallVec<[Value; 5]> = smallvec![self.value];
        args.extend(others.iter().map(|other| other.value));
        Emitted {
            value: self.sink.emit(op, &args, ty),
            ty,
            ..self
        }
    }

    fn binary(self, op: BinOp, rhs: Emitted<'s>) -> Emitted<'s> {
        self.op(Op::Binary(op, Default::default()), &[rhs], self.ty)
    }

    fn unary(self, op: UnOp) -> Emitted<'s> {
        self.op(Op::Unary(op), &[], self.ty)
    }

    fn constant(self, bits: u64, ty: Type) -> Emitted<'s> {
        Emitted {
            value: self.sink.emit(Op::Const(bits & ty.scalar.mask()), &[], ty),
            ty,
            ..self
        }
    }

    fn compare(self, op: Op, rhs: Emitted<'s>) -> MaskValue<'s> {
        MaskValue(self.op(op, &[rhs], self.ty.as_mask()))
    }

    fn choose(mask: MaskValue<'s>, a: Emitted<'s>, b: Emitted<'s>) -> Emitted<'s> {
        mask.0.op(Op::Select, &[a, b], a.ty)
    }

    fn bitcast(self, to: Scalar) -> Emitted<'s> {
        self.op(
            Op::Convert(ConvertOp::Bitcast, crate::ir::Rounding::NearestEven),
            &[],
            self.ty.with_scalar(to),
        )
    }
}

/// A truth value per lane.
#[derive(Clone, Copy)]
pub struct MaskValue<'s>(Emitted<'s>);

impl MaskValue<'_> {
    pub fn value(self) -> Value {
        self.0.value
    }
}

/// An integer per lane.
#[derive(Clone, Copy)]
pub struct IntValue<'s>(Emitted<'s>);

/// A float per lane.
#[derive(Clone, Copy)]
pub struct FloatValue<'s>(Emitted<'s>);

impl<'s> FloatValue<'s> {
    /// `value` must be `f32` or `f64`.
    pub fn new(sink: &'s Sink<'_, '_>, value: Value) -> FloatValue<'s> {
        let ty = sink.ty(value);
        debug_assert!(matches!(ty.scalar, Scalar::F32 | Scalar::F64));
        FloatValue(Emitted { sink, value, ty })
    }

    pub fn value(self) -> Value {
        self.0.value
    }

    fn routine(
        self,
        rest: &[FloatValue<'s>],
        mask: MaskValue<'s>,
        fast: Emitted<'s>,
        r: Routine,
    ) -> Emitted<'s> {
        let mut others: SmallVec<[Emitted<'s>; 4]> = rest.iter().map(|y| y.0).collect();
        others.extend([fast, mask.0]);
        self.0.op(Op::Routine(r, self.format()), &others, fast.ty)
    }

    /// A signed integer in this one's format, rounded.
    fn converted(self, i: IntValue<'s>) -> FloatValue<'s> {
        let to_float = Op::Convert(ConvertOp::SToF, crate::ir::Rounding::NearestEven);
        FloatValue(i.0.op(to_float, &[], self.0.ty))
    }

    fn estimate(self, op: UnOp) -> Option<FloatValue<'s>> {
        let has = self.0.sink.estimates();
        has.then(|| FloatValue(self.0.unary(op)))
    }

    fn int_type(self) -> Type {
        self.0.ty.with_scalar(self.0.ty.scalar.as_int())
    }
}

impl<'s> IntValue<'s> {
    pub fn new(sink: &'s Sink<'_, '_>, value: Value) -> IntValue<'s> {
        let ty = sink.ty(value);
        IntValue(Emitted { sink, value, ty })
    }

    pub fn value(self) -> Value {
        self.0.value
    }
}

macro_rules! operators {
    ($Type:ident: $($Trait:ident $method:ident $op:ident),*) => {$(
        impl<'s> $Trait for $Type<'s> {
            type Output = $Type<'s>;
            fn $method(self, rhs: Self) -> Self {
                $Type(self.0.binary(BinOp::$op, rhs.0))
            }
        }
    )*};
}

operators!(MaskValue: BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);
operators!(IntValue: Add add IAdd, Sub sub ISub, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);
operators!(FloatValue: Add add FAdd, Sub sub FSub, Mul mul FMul, Div div FDiv);

impl Not for MaskValue<'_> {
    type Output = Self;
    fn not(self) -> Self {
        MaskValue(self.0.unary(UnOp::Not))
    }
}

impl Not for IntValue<'_> {
    type Output = Self;
    fn not(self) -> Self {
        IntValue(self.0.unary(UnOp::Not))
    }
}

impl Neg for FloatValue<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        FloatValue(self.0.unary(UnOp::FNeg))
    }
}

impl Mask for MaskValue<'_> {}

impl<'s> Int for IntValue<'s> {
    type Mask = MaskValue<'s>;

    fn lit(self, value: u64) -> Self {
        IntValue(self.0.constant(value, self.0.ty))
    }
    fn shl(self, amount: u32) -> Self {
        let amount = self.lit(u64::from(amount));
        IntValue(self.0.binary(BinOp::Shl, amount.0))
    }
    fn shr(self, amount: u32) -> Self {
        let amount = self.lit(u64::from(amount));
        IntValue(self.0.binary(BinOp::LShr, amount.0))
    }
    fn sar(self, amount: u32) -> Self {
        let amount = self.lit(u64::from(amount));
        IntValue(self.0.binary(BinOp::AShr, amount.0))
    }
    fn eq(self, rhs: Self) -> MaskValue<'s> {
        self.0.compare(Op::ICmp(IntCC::Eq), rhs.0)
    }
    fn slt(self, rhs: Self) -> MaskValue<'s> {
        self.0.compare(Op::ICmp(IntCC::Slt), rhs.0)
    }
    fn select(mask: MaskValue<'s>, a: Self, b: Self) -> Self {
        IntValue(Emitted::choose(mask, a.0, b.0))
    }
}

impl<'s> Float for FloatValue<'s> {
    type Mask = MaskValue<'s>;
    type Int = IntValue<'s>;

    fn format(self) -> Format {
        if self.0.ty.scalar == Scalar::F32 {
            Format::F32
        } else {
            Format::F64
        }
    }
    fn lit(self, value: f64) -> Self {
        let bits = self
            .format()
            .pick(u64::from((value as f32).to_bits()), value.to_bits());
        FloatValue(self.0.constant(bits, self.0.ty))
    }
    fn int_lit(self, value: u64) -> IntValue<'s> {
        IntValue(self.0.constant(value, self.int_type()))
    }
    fn mask_lit(self, value: bool) -> MaskValue<'s> {
        MaskValue(self.0.constant(u64::from(value), self.0.ty.as_mask()))
    }
    fn fma(self, b: Self, c: Self) -> Self {
        FloatValue(self.0.op(Op::Fma, &[b.0, c.0], self.0.ty))
    }
    fn sqrt(self) -> Self {
        FloatValue(self.0.unary(UnOp::Sqrt))
    }
    fn abs(self) -> Self {
        FloatValue(self.0.unary(UnOp::FAbs))
    }
    fn floor(self) -> Self {
        FloatValue(self.0.unary(UnOp::Floor))
    }
    fn ceil(self) -> Self {
        FloatValue(self.0.unary(UnOp::Ceil))
    }
    fn trunc(self) -> Self {
        FloatValue(self.0.unary(UnOp::Trunc))
    }
    fn round_even(self) -> Self {
        FloatValue(self.0.unary(UnOp::RoundEven))
    }
    fn eq(self, rhs: Self) -> MaskValue<'s> {
        self.0.compare(Op::FCmp(FloatCC::Oeq), rhs.0)
    }
    fn lt(self, rhs: Self) -> MaskValue<'s> {
        self.0.compare(Op::FCmp(FloatCC::Olt), rhs.0)
    }
    fn le(self, rhs: Self) -> MaskValue<'s> {
        self.0.compare(Op::FCmp(FloatCC::Ole), rhs.0)
    }
    fn is_nan(self) -> MaskValue<'s> {
        self.unordered(self)
    }
    fn unordered(self, rhs: Self) -> MaskValue<'s> {
        self.0.compare(Op::FCmp(FloatCC::Uno), rhs.0)
    }
    fn select(mask: MaskValue<'s>, a: Self, b: Self) -> Self {
        FloatValue(Emitted::choose(mask, a.0, b.0))
    }
    fn to_bits(self) -> IntValue<'s> {
        IntValue(self.0.bitcast(self.0.ty.scalar.as_int()))
    }
    fn from_bits(bits: IntValue<'s>) -> Self {
        let float = if bits.0.ty.scalar == Scalar::I32 {
            Scalar::F32
        } else {
            Scalar::F64
        };
        FloatValue(bits.0.bitcast(float))
    }
    fn lookup(self, number: IntValue<'s>, table: Table) -> Self {
        FloatValue(number.0.op(Op::Lookup(table), &[], self.0.ty))
    }
    fn scale(self, n: Self, bits: IntValue<'s>) -> Self {
        match self.0.sink.scaling() {
            true => FloatValue(self.0.binary(BinOp::FScale, n.0)),
            false => scale(self, bits),
        }
    }
    fn ldexp(self, n: IntValue<'s>) -> Self {
        match self.0.sink.scaling() {
            true => FloatValue(self.0.binary(BinOp::FScale, self.converted(n).0)),
            false => ldexp_in_steps(self, n),
        }
    }
    fn of_int(self, i: IntValue<'s>) -> Self {
        // Conversions from 64 bits came with AVX-512, as those did.
        match self.format() {
            Format::F64 if !self.0.sink.scaling() => of_small_int(self, i),
            _ => self.converted(i),
        }
    }
    fn recip_estimate(self) -> Option<Self> {
        self.estimate(UnOp::RecipEstimate)
    }
    fn rsqrt_estimate(self) -> Option<Self> {
        self.estimate(UnOp::RsqrtEstimate)
    }
    fn rare1(self, mask: MaskValue<'s>, fast: Self, r: Routine) -> Self {
        FloatValue(self.routine(&[], mask, fast.0, r))
    }
    fn rare2(self, y: Self, mask: MaskValue<'s>, fast: Self, r: Routine) -> Self {
        FloatValue(self.routine(&[y], mask, fast.0, r))
    }
    fn rare3(self, rest: [Self; 2], mask: MaskValue<'s>, fast: Self, r: Routine) -> Self {
        FloatValue(self.routine(&rest, mask, fast.0, r))
    }
    fn rare2_int(
        self,
        y: Self,
        mask: MaskValue<'s>,
        fast: IntValue<'s>,
        r: Routine,
    ) -> IntValue<'s> {
        IntValue(self.routine(&[y], mask, fast.0, r))
    }
}
