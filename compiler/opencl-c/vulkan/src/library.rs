//! Functions that neither `GLSL.std.450` nor the core has: the text of `brolga-mathlib`, which is
//! generic over the number, emitted. So they have the accuracy that OpenCL asks of full profile
//! devices, as far as the implementation's sums, products and quotients are rounded correctly.
//!
//! - Numbers are of 32 or 64 bits, by themselves or in vectors. What is emitted is not contracted.
//! - Vulkan's `Fma` may round twice, and much here depends on once: [`Emit::fma`] is the sum of the
//!   exact product of halves and what adding to it loses (T. J. Dekker, "A floating-point technique
//!   for extending the available precision", Numerische Mathematik 18, 1971).
//! - What is rare stands under a branch. Routines that mathlib has for machine numbers only are in
//!   `routines.rs`.

mod routines;

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use brolga_mathlib::{Float, Format, Func, Int, Mask, Routine, Table, Value, eval_values};
use rspirv::spirv::{Decoration, GlslStd450Op as Gl, Op, OpenclStd100Op as Cl, StorageClass};
use rustc_hash::FxHashMap;

use super::ir::Id;
use super::lower::{Lower, Result};
use super::types::{Ty, Type};

impl Lower<'_> {
    /// The function of mathlib's that an instruction of `OpenCL.std` is, where Vulkan has none.
    pub fn library_function(&self, op: Cl, of: Ty) -> Option<Func> {
        let missing = match self.target.types.bits(of) {
            64 => is_narrow(op),
            _ => false,
        };
        match missing || is_missing(op) {
            true => Func::from_name(&format!("{op:?}")),
            false => None,
        }
    }

    /// A function of numbers and integers: its results, the first of which has the type `ty`.
    pub fn library(
        &mut self,
        func: Func,
        (ty, of): (Ty, Ty),
        args: &[(Id, Ty)],
    ) -> Result<(Id, Option<Id>)> {
        // Smaller numbers have no text of their own.
        let float = match self.target.types.bits(of) {
            16 => {
                let float = self.target.types.float(32);
                self.target.types.like(of, float)
            }
            _ => of,
        };
        let ints = self.bits_type(float);
        let mut given = Vec::with_capacity(args.len());
        for &(id, arg) in args {
            let is_float = self.target.types.is_float(arg);
            let (wanted, convert) = match is_float {
                true => (float, Op::FConvert),
                false => (ints, Op::SConvert),
            };
            let id = match arg == wanted {
                true => id,
                false => self.emit(convert, wanted, &[id]),
            };
            given.push((id, is_float));
        }
        let sink = Sink {
            lower: RefCell::new(self),
            halves: RefCell::default(),
        };
        let emitted = |id, ty| Emitted {
            sink: &sink,
            id,
            ty,
        };
        let values: Vec<Value<Number<'_>>> = given
            .iter()
            .map(|&(id, is_float)| match is_float {
                true => Value::Float(Number(emitted(id, float))),
                false => Value::Int(Whole(emitted(id, ints))),
            })
            .collect();
        let like = Number(emitted(given[0].0, float));
        let (first, second) = eval_values(func, like, &values);
        let id_of = |value: Value<Number<'_>>| match value {
            Value::Float(number) => (number.0.id, true),
            Value::Int(number) => (number.0.id, false),
        };
        let (first, second) = (id_of(first), second.map(id_of));
        let first = self.narrowed_result(first, (float, ints), ty);
        let second = second.map(|second| {
            let ty = match second.1 {
                true => ty,
                false => {
                    let word = self.u32_ty();
                    self.target.types.like(ty, word)
                }
            };
            self.narrowed_result(second, (float, ints), ty)
        });
        Ok((first, second))
    }

    fn narrowed_result(
        &mut self,
        (id, is_float): (Id, bool),
        (float, ints): (Ty, Ty),
        ty: Ty,
    ) -> Id {
        let (has, convert) = match is_float {
            true => (float, Op::FConvert),
            false => (ints, Op::UConvert),
        };
        match has == ty {
            true => id,
            false => self.emit(convert, ty, &[id]),
        }
    }
}

/// Functions that Vulkan has for no numbers.
fn is_missing(op: Cl) -> bool {
    matches!(
        op,
        Cl::erf | Cl::erfc | Cl::lgamma | Cl::lgamma_r | Cl::remquo | Cl::tgamma
    )
}

/// Functions that Vulkan has, or that are made of some that it has, for numbers of at most 32 bits.
fn is_narrow(op: Cl) -> bool {
    matches!(
        op,
        Cl::acos
            | Cl::acosh
            | Cl::acospi
            | Cl::asin
            | Cl::asinh
            | Cl::asinpi
            | Cl::atan
            | Cl::atan2
            | Cl::atan2pi
            | Cl::atanh
            | Cl::atanpi
            | Cl::cbrt
            | Cl::cos
            | Cl::cosh
            | Cl::cospi
            | Cl::degrees
            | Cl::exp
            | Cl::exp10
            | Cl::exp2
            | Cl::expm1
            | Cl::ldexp
            | Cl::log
            | Cl::log10
            | Cl::log1p
            | Cl::log2
            | Cl::pow
            | Cl::pown
            | Cl::powr
            | Cl::radians
            | Cl::rootn
            | Cl::sin
            | Cl::sincos
            | Cl::sinh
            | Cl::sinpi
            | Cl::tan
            | Cl::tanh
            | Cl::tanpi
    )
}

/// Where instructions go.
struct Sink<'e, 'a> {
    lower: RefCell<&'e mut Lower<'a>>,
    /// Numbers in two parts.
    halves: RefCell<FxHashMap<Id, (Id, Id)>>,
}

/// [`Sink`] without its lifetimes.
trait Emit {
    fn op(&self, op: Op, ty: Ty, args: &[Id]) -> Id;
    fn glsl(&self, op: Gl, ty: Ty, args: &[Id]) -> Id;
    /// A number by its bits, in all lanes.
    fn bits(&self, ty: Ty, bits: u64) -> Id;
    fn width(&self, ty: Ty) -> u32;
    /// Types with as many lanes: of truth values, of integers and of floating-point numbers as
    /// wide.
    fn bools(&self, ty: Ty) -> Ty;
    fn ints(&self, ty: Ty) -> Ty;
    fn floats(&self, ty: Ty) -> Ty;
    /// `a * b + c`, as good as rounded once.
    fn fma(&self, ty: Ty, args: [Id; 3]) -> Id;
    /// The elements of an array that the low bits of numbers say.
    fn lookup(&self, ty: Ty, number: Id, table: &[u64]) -> Id;
    /// The type of integers of 32 bits.
    fn word(&self) -> Ty;
    /// The lanes of a value with their type, and a value of lanes.
    fn lanes(&self, ty: Ty, value: Id) -> (Ty, Vec<Id>);
    fn vector(&self, ty: Ty, lanes: &[Id]) -> Id;
    /// What `rare` gives in the lanes of the mask, `fast` in others.
    fn branch(&self, ty: Ty, mask: Id, fast: Id, rare: &mut dyn FnMut() -> Id) -> Id;
    /// A loop that counts a number of steps down to and with 0.
    fn count_down(&self, from: Id, body: &mut dyn FnMut(Id));
    fn variable(&self, ty: Ty, value: Id) -> Id;
    fn load(&self, ty: Ty, variable: Id) -> Id;
    fn store(&self, variable: Id, value: Id);
}

impl Sink<'_, '_> {
    /// A number as the sum of two with half of its digits each.
    fn halves(&self, ty: Ty, value: Id) -> (Id, Id) {
        if let Some(&known) = self.halves.borrow().get(&value) {
            return known;
        }
        let low_bits = if self.width(ty) == 32 { 12 } else { 27 };
        let ints = self.ints(ty);
        let bits = self.op(Op::Bitcast, ints, &[value]);
        let half = self.bits(ints, 1 << (low_bits - 1));
        let mask = self.bits(ints, !((1 << low_bits) - 1));
        let rounded = self.op(Op::IAdd, ints, &[bits, half]);
        let high = self.op(Op::BitwiseAnd, ints, &[rounded, mask]);
        let high = self.op(Op::Bitcast, ty, &[high]);
        let low = self.op(Op::FSub, ty, &[value, high]);
        self.halves.borrow_mut().insert(value, (high, low));
        (high, low)
    }
}

impl Emit for Sink<'_, '_> {
    fn op(&self, op: Op, ty: Ty, args: &[Id]) -> Id {
        let mut lower = self.lower.borrow_mut();
        let id = lower.emit(op, ty, args);
        if matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::FDiv) {
            lower.target.decorate(id, Decoration::NoContraction, &[]);
        }
        id
    }

    fn glsl(&self, op: Gl, ty: Ty, args: &[Id]) -> Id {
        self.lower.borrow_mut().glsl(op, ty, args)
    }

    fn bits(&self, ty: Ty, bits: u64) -> Id {
        self.lower.borrow_mut().target.splat(ty, bits)
    }

    fn width(&self, ty: Ty) -> u32 {
        self.lower.borrow().target.types.bits(ty)
    }

    fn bools(&self, ty: Ty) -> Ty {
        self.lower.borrow_mut().bool_like(ty)
    }

    fn ints(&self, ty: Ty) -> Ty {
        self.lower.borrow_mut().bits_type(ty)
    }

    fn floats(&self, ty: Ty) -> Ty {
        let types = &mut self.lower.borrow_mut().target.types;
        let float = types.float(types.bits(ty));
        types.like(ty, float)
    }

    fn fma(&self, ty: Ty, [a, b, c]: [Id; 3]) -> Id {
        let op = |op, left, right| self.op(op, ty, &[left, right]);
        let product = op(Op::FMul, a, b);
        let (a_high, a_low) = self.halves(ty, a);
        let (b_high, b_low) = self.halves(ty, b);
        // What the product lacks: exact.
        let high = op(Op::FMul, a_high, b_high);
        let rest = op(Op::FSub, high, product);
        let cross = op(Op::FMul, a_high, b_low);
        let rest = op(Op::FAdd, rest, cross);
        let cross = op(Op::FMul, a_low, b_high);
        let rest = op(Op::FAdd, rest, cross);
        let low = op(Op::FMul, a_low, b_low);
        let rest = op(Op::FAdd, rest, low);
        // What the sum lacks, by Knuth.
        let sum = op(Op::FAdd, product, c);
        let added = op(Op::FSub, sum, product);
        let kept = op(Op::FSub, sum, added);
        let of_product = op(Op::FSub, product, kept);
        let of_c = op(Op::FSub, c, added);
        let lacks = op(Op::FAdd, of_product, of_c);
        let tail = op(Op::FAdd, lacks, rest);
        let whole = op(Op::FAdd, sum, tail);
        // Zeros keep their sign, and infinities are not made NaN.
        let zero = self.bits(ty, 0);
        let bools = self.bools(ty);
        let some = self.op(Op::FOrdNotEqual, bools, &[tail, zero]);
        self.op(Op::Select, ty, &[some, whole, sum])
    }

    fn lookup(&self, ty: Ty, number: Id, table: &[u64]) -> Id {
        let numbers = self.ints(ty);
        let (scalar, lanes) = self.lanes(numbers, number);
        let mut lower = self.lower.borrow_mut();
        let element = lower.target.types.lanes(ty).0;
        let entries = table.iter();
        let entries: Vec<Id> = entries
            .map(|&bits| lower.target.bits(element, bits))
            .collect();
        let length = entries.len() as u64;
        let array = lower.target.types.add(Type::Array(element, length));
        let init = lower.target.composite(array, &entries);
        let variable = lower.target.table(array, init);
        let pointer = lower.target.types.pointer(StorageClass::Private, element);
        let mut found = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let index = lower.low(lane, scalar);
            let place = lower.emit(Op::AccessChain, pointer, &[variable, index]);
            found.push(lower.emit(Op::Load, element, &[place]));
        }
        lower.construct(ty, &found)
    }

    fn word(&self) -> Ty {
        self.lower.borrow_mut().u32_ty()
    }

    fn lanes(&self, ty: Ty, value: Id) -> (Ty, Vec<Id>) {
        let mut lower = self.lower.borrow_mut();
        let scalar = lower.target.types.lanes(ty).0;
        (scalar, lower.lanes(value, ty))
    }

    fn vector(&self, ty: Ty, lanes: &[Id]) -> Id {
        self.lower.borrow_mut().construct(ty, lanes)
    }

    fn branch(&self, ty: Ty, mask: Id, fast: Id, rare: &mut dyn FnMut() -> Id) -> Id {
        let (place, after) = {
            let mut lower = self.lower.borrow_mut();
            let lanes = lower.target.types.lanes(ty).1;
            let bool = lower.target.types.bool();
            let any = match lanes {
                1 => mask,
                _ => lower.emit(Op::Any, bool, &[mask]),
            };
            let place = lower.variable(ty);
            lower.store_variable(place, fast);
            let [inside, after] = [(); 2].map(|()| lower.target.id());
            lower.branch_if(any, inside, after);
            lower.begin(inside);
            (place, after)
        };
        // What is made under the branch is not there behind it.
        let before = self.halves.borrow().clone();
        let value = rare();
        *self.halves.borrow_mut() = before;
        let mut lower = self.lower.borrow_mut();
        let value = lower.emit(Op::Select, ty, &[mask, value, fast]);
        lower.store_variable(place, value);
        lower.branch(after);
        lower.begin(after);
        lower.load_variable(ty, place)
    }

    fn count_down(&self, from: Id, body: &mut dyn FnMut(Id)) {
        let (word, bool) = {
            let mut lower = self.lower.borrow_mut();
            (lower.u32_ty(), lower.target.types.bool())
        };
        let counter = self.variable(word, from);
        let [head, inside, after] = {
            let mut lower = self.lower.borrow_mut();
            let labels = [(); 3].map(|()| lower.target.id());
            lower.branch(labels[0]);
            lower.begin(labels[0]);
            labels
        };
        let step = self.load(word, counter);
        let zero = self.bits(word, 0);
        let more = self.op(Op::SGreaterThanEqual, bool, &[step, zero]);
        {
            let mut lower = self.lower.borrow_mut();
            lower.branch_if(more, inside, after);
            lower.begin(inside);
        }
        body(step);
        let one = self.bits(word, 1);
        let next = self.op(Op::ISub, word, &[step, one]);
        self.store(counter, next);
        let mut lower = self.lower.borrow_mut();
        lower.branch(head);
        lower.begin(after);
    }

    fn variable(&self, ty: Ty, value: Id) -> Id {
        let mut lower = self.lower.borrow_mut();
        let place = lower.variable(ty);
        lower.store_variable(place, value);
        place
    }

    fn load(&self, ty: Ty, variable: Id) -> Id {
        self.lower.borrow_mut().load_variable(ty, variable)
    }

    fn store(&self, variable: Id, value: Id) {
        self.lower.borrow_mut().store_variable(variable, value);
    }
}

/// A value with the place its users' instructions go. The trait its kind implements is the
/// wrapper's.
#[derive(Clone, Copy)]
struct Emitted<'s> {
    sink: &'s dyn Emit,
    id: Id,
    ty: Ty,
}

impl<'s> Emitted<'s> {
    fn with(self, id: Id, ty: Ty) -> Emitted<'s> {
        Emitted { id, ty, ..self }
    }

    fn op(self, op: Op, others: &[Emitted<'s>], ty: Ty) -> Emitted<'s> {
        let mut args = vec![self.id];
        args.extend(others.iter().map(|other| other.id));
        self.with(self.sink.op(op, ty, &args), ty)
    }

    fn binary(self, op: Op, rhs: Emitted<'s>) -> Emitted<'s> {
        self.op(op, &[rhs], self.ty)
    }

    fn constant(self, ty: Ty, bits: u64) -> Emitted<'s> {
        let width = self.sink.width(ty);
        let bits = if width == 32 {
            bits & 0xffff_ffff
        } else {
            bits
        };
        self.with(self.sink.bits(ty, bits), ty)
    }

    fn compare(self, op: Op, rhs: Emitted<'s>) -> Truth<'s> {
        Truth(self.op(op, &[rhs], self.sink.bools(self.ty)))
    }

    fn choose(mask: Truth<'s>, a: Emitted<'s>, b: Emitted<'s>) -> Emitted<'s> {
        mask.0.op(Op::Select, &[a, b], a.ty)
    }

    fn glsl(self, op: Gl) -> Emitted<'s> {
        self.with(self.sink.glsl(op, self.ty, &[self.id]), self.ty)
    }
}

/// A truth value per lane.
#[derive(Clone, Copy)]
struct Truth<'s>(Emitted<'s>);

/// An integer per lane.
#[derive(Clone, Copy)]
struct Whole<'s>(Emitted<'s>);

/// A floating-point number per lane.
#[derive(Clone, Copy)]
struct Number<'s>(Emitted<'s>);

macro_rules! operators {
    ($Type:ident: $($Trait:ident $method:ident $op:ident),*) => {$(
        impl<'s> $Trait for $Type<'s> {
            type Output = $Type<'s>;
            fn $method(self, rhs: Self) -> Self {
                $Type(self.0.binary(Op::$op, rhs.0))
            }
        }
    )*};
}

operators!(Truth: BitAnd bitand LogicalAnd, BitOr bitor LogicalOr, BitXor bitxor LogicalNotEqual);
operators!(Whole: Add add IAdd, Sub sub ISub);
operators!(Whole: BitAnd bitand BitwiseAnd, BitOr bitor BitwiseOr, BitXor bitxor BitwiseXor);
operators!(Number: Add add FAdd, Sub sub FSub, Mul mul FMul, Div div FDiv);

impl Not for Truth<'_> {
    type Output = Self;
    fn not(self) -> Self {
        Truth(self.0.op(Op::LogicalNot, &[], self.0.ty))
    }
}

impl Not for Whole<'_> {
    type Output = Self;
    fn not(self) -> Self {
        Whole(self.0.op(Op::Not, &[], self.0.ty))
    }
}

impl Neg for Number<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        Number(self.0.op(Op::FNegate, &[], self.0.ty))
    }
}

impl Mask for Truth<'_> {}

impl Whole<'_> {
    fn shift(self, op: Op, amount: u32) -> Self {
        let amount = self.lit(amount.into());
        Whole(self.0.binary(op, amount.0))
    }
}

impl<'s> Int for Whole<'s> {
    type Mask = Truth<'s>;

    fn lit(self, value: u64) -> Self {
        Whole(self.0.constant(self.0.ty, value))
    }
    fn shl(self, amount: u32) -> Self {
        self.shift(Op::ShiftLeftLogical, amount)
    }
    fn shr(self, amount: u32) -> Self {
        self.shift(Op::ShiftRightLogical, amount)
    }
    fn sar(self, amount: u32) -> Self {
        self.shift(Op::ShiftRightArithmetic, amount)
    }
    fn eq(self, rhs: Self) -> Truth<'s> {
        self.0.compare(Op::IEqual, rhs.0)
    }
    fn slt(self, rhs: Self) -> Truth<'s> {
        self.0.compare(Op::SLessThan, rhs.0)
    }
    fn select(mask: Truth<'s>, a: Self, b: Self) -> Self {
        Whole(Emitted::choose(mask, a.0, b.0))
    }
}

impl<'s> Number<'s> {
    /// A routine's result in the lanes of the mask.
    fn routine(self, rest: &[Self], mask: Truth<'s>, fast: Emitted<'s>, r: Routine) -> Emitted<'s> {
        let sink = self.0.sink;
        let args: Vec<Number<'s>> = [&[self], rest].concat();
        // The specification leaves its accuracy open.
        if r == Routine::Lgamma {
            return fast;
        }
        let mut rare = || match r.evaluate(&args) {
            Some(number) => number.0.id,
            None => routines::by_lane(r, &args, fast.ty),
        };
        fast.with(sink.branch(fast.ty, mask.0.id, fast.id, &mut rare), fast.ty)
    }
}

impl<'s> Float for Number<'s> {
    type Mask = Truth<'s>;
    type Int = Whole<'s>;

    fn format(self) -> Format {
        match self.0.sink.width(self.0.ty) {
            32 => Format::F32,
            _ => Format::F64,
        }
    }
    fn lit(self, value: f64) -> Self {
        let bits = self
            .format()
            .pick(u64::from((value as f32).to_bits()), value.to_bits());
        Number(self.0.constant(self.0.ty, bits))
    }
    fn int_lit(self, value: u64) -> Whole<'s> {
        Whole(self.0.constant(self.0.sink.ints(self.0.ty), value))
    }
    fn mask_lit(self, value: bool) -> Truth<'s> {
        let zero = self.int_lit(0);
        match value {
            true => Int::eq(zero, zero),
            false => Int::ne(zero, zero),
        }
    }
    fn fma(self, b: Self, c: Self) -> Self {
        let args = [self.0.id, b.0.id, c.0.id];
        Number(self.0.with(self.0.sink.fma(self.0.ty, args), self.0.ty))
    }
    fn sqrt(self) -> Self {
        Number(self.0.glsl(Gl::Sqrt))
    }
    fn abs(self) -> Self {
        Number(self.0.glsl(Gl::FAbs))
    }
    fn floor(self) -> Self {
        Number(self.0.glsl(Gl::Floor))
    }
    fn ceil(self) -> Self {
        Number(self.0.glsl(Gl::Ceil))
    }
    fn trunc(self) -> Self {
        Number(self.0.glsl(Gl::Trunc))
    }
    fn round_even(self) -> Self {
        Number(self.0.glsl(Gl::RoundEven))
    }
    fn eq(self, rhs: Self) -> Truth<'s> {
        self.0.compare(Op::FOrdEqual, rhs.0)
    }
    fn lt(self, rhs: Self) -> Truth<'s> {
        self.0.compare(Op::FOrdLessThan, rhs.0)
    }
    fn le(self, rhs: Self) -> Truth<'s> {
        self.0.compare(Op::FOrdLessThanEqual, rhs.0)
    }
    fn is_nan(self) -> Truth<'s> {
        Truth(self.0.op(Op::IsNan, &[], self.0.sink.bools(self.0.ty)))
    }
    fn select(mask: Truth<'s>, a: Self, b: Self) -> Self {
        Number(Emitted::choose(mask, a.0, b.0))
    }
    fn to_bits(self) -> Whole<'s> {
        Whole(self.0.op(Op::Bitcast, &[], self.0.sink.ints(self.0.ty)))
    }
    fn from_bits(bits: Whole<'s>) -> Self {
        Number(bits.0.op(Op::Bitcast, &[], bits.0.sink.floats(bits.0.ty)))
    }
    fn lookup(self, number: Whole<'s>, table: Table) -> Self {
        let entries = table.entries().map(|entry| {
            self.format()
                .pick(u64::from((entry as f32).to_bits()), entry.to_bits())
        });
        let number = number & number.lit(15);
        let id = self.0.sink.lookup(self.0.ty, number.0.id, &entries);
        Number(self.0.with(id, self.0.ty))
    }
    fn rare1(self, mask: Truth<'s>, fast: Self, r: Routine) -> Self {
        Number(self.routine(&[], mask, fast.0, r))
    }
    fn rare2(self, y: Self, mask: Truth<'s>, fast: Self, r: Routine) -> Self {
        Number(self.routine(&[y], mask, fast.0, r))
    }
    fn rare3(self, rest: [Self; 2], mask: Truth<'s>, fast: Self, r: Routine) -> Self {
        Number(self.routine(&rest, mask, fast.0, r))
    }
    fn rare2_int(self, y: Self, mask: Truth<'s>, fast: Whole<'s>, r: Routine) -> Whole<'s> {
        Whole(self.routine(&[y], mask, fast.0, r))
    }
}
