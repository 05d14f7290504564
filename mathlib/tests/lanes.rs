//! A second implementation of the number traits, of four lanes, as a code generator's would be:
//! every function gives in each lane the bits that the scalar gives.

use brolga_mathlib::{
    Accuracy, Float, Format, Func, Int, Mask, Routine, Signature, Table, Target, Value, eval_values,
};
use brolga_mathlib_testing::{Random, special_values};
use std::num::Wrapping;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

#[derive(Clone, Copy, Debug)]
struct Lanes<T>([T; 4]);

fn zip<T: Copy, U: Copy, R>(a: Lanes<T>, b: Lanes<U>, f: impl Fn(T, U) -> R) -> Lanes<R> {
    Lanes(std::array::from_fn(|i| f(a.0[i], b.0[i])))
}

fn select<T: Copy>(mask: Lanes<bool>, a: Lanes<T>, b: Lanes<T>) -> Lanes<T> {
    Lanes(std::array::from_fn(
        |i| if mask.0[i] { a.0[i] } else { b.0[i] },
    ))
}

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {
        $(impl<T: Copy + $trait<Output = T>> $trait for Lanes<T> {
            type Output = Self;
            fn $method(self, rhs: Self) -> Self {
                zip(self, rhs, T::$method)
            }
        })*
    };
}

operators!(Add add, Sub sub, Mul mul, Div div, BitAnd bitand, BitOr bitor, BitXor bitxor);

impl<T: Not<Output = T>> Not for Lanes<T> {
    type Output = Self;
    fn not(self) -> Self {
        Lanes(self.0.map(T::not))
    }
}

impl<T: Neg<Output = T>> Neg for Lanes<T> {
    type Output = Self;
    fn neg(self) -> Self {
        Lanes(self.0.map(T::neg))
    }
}

impl Mask for Lanes<bool> {}

impl<T: Int<Mask = bool>> Int for Lanes<T> {
    type Mask = Lanes<bool>;

    fn lit(self, value: u64) -> Self {
        Lanes(self.0.map(|x| x.lit(value)))
    }
    fn shl(self, amount: u32) -> Self {
        Lanes(self.0.map(|x| x.shl(amount)))
    }
    fn shr(self, amount: u32) -> Self {
        Lanes(self.0.map(|x| x.shr(amount)))
    }
    fn sar(self, amount: u32) -> Self {
        Lanes(self.0.map(|x| x.sar(amount)))
    }
    fn eq(self, rhs: Self) -> Lanes<bool> {
        zip(self, rhs, T::eq)
    }
    fn slt(self, rhs: Self) -> Lanes<bool> {
        zip(self, rhs, T::slt)
    }
    fn select(mask: Lanes<bool>, a: Self, b: Self) -> Self {
        select(mask, a, b)
    }
}

macro_rules! float_lanes {
    ($float:ty, $uint:ty, $f1:ident, $f2:ident, $f3:ident, $i2:ident) => {
        impl Float for Lanes<$float> {
            type Mask = Lanes<bool>;
            type Int = Lanes<Wrapping<$uint>>;

            fn format(self) -> Format {
                self.0[0].format()
            }
            fn lit(self, value: f64) -> Self {
                Lanes(self.0.map(|x| x.lit(value)))
            }
            fn int_lit(self, value: u64) -> Self::Int {
                Lanes(self.0.map(|x| x.int_lit(value)))
            }
            fn mask_lit(self, value: bool) -> Lanes<bool> {
                Lanes([value; 4])
            }
            fn fma(self, b: Self, c: Self) -> Self {
                zip(zip(self, b, |x, y| (x, y)), c, |(x, y), z| x.mul_add(y, z))
            }
            fn sqrt(self) -> Self {
                Lanes(self.0.map(<$float>::sqrt))
            }
            fn abs(self) -> Self {
                Lanes(self.0.map(<$float>::abs))
            }
            fn floor(self) -> Self {
                Lanes(self.0.map(<$float>::floor))
            }
            fn ceil(self) -> Self {
                Lanes(self.0.map(<$float>::ceil))
            }
            fn trunc(self) -> Self {
                Lanes(self.0.map(<$float>::trunc))
            }
            fn round_even(self) -> Self {
                Lanes(self.0.map(<$float>::round_ties_even))
            }
            fn eq(self, rhs: Self) -> Lanes<bool> {
                zip(self, rhs, |x, y| x == y)
            }
            fn lt(self, rhs: Self) -> Lanes<bool> {
                zip(self, rhs, |x, y| x < y)
            }
            fn le(self, rhs: Self) -> Lanes<bool> {
                zip(self, rhs, |x, y| x <= y)
            }
            fn select(mask: Lanes<bool>, a: Self, b: Self) -> Self {
                select(mask, a, b)
            }
            fn to_bits(self) -> Self::Int {
                Lanes(self.0.map(|x| Wrapping(x.to_bits())))
            }
            fn from_bits(bits: Self::Int) -> Self {
                Lanes(bits.0.map(|x| <$float>::from_bits(x.0)))
            }
            fn lookup(self, number: Self::Int, table: Table) -> Self {
                zip(self, number, |x, n| x.lookup(n, table))
            }
            fn rare1(self, mask: Lanes<bool>, fast: Self, r: Routine) -> Self {
                let Target::$f1(f) = r.target(self.format()) else {
                    panic!("{r:?}")
                };
                // A branch around the calls, as in generated code.
                if mask.0.contains(&true) {
                    select(mask, Lanes(self.0.map(|x| f(x))), fast)
                } else {
                    fast
                }
            }
            fn rare2(self, y: Self, mask: Lanes<bool>, fast: Self, r: Routine) -> Self {
                let Target::$f2(f) = r.target(self.format()) else {
                    panic!("{r:?}")
                };
                if mask.0.contains(&true) {
                    select(mask, zip(self, y, |x, y| f(x, y)), fast)
                } else {
                    fast
                }
            }
            fn rare3(self, [y, z]: [Self; 2], mask: Lanes<bool>, fast: Self, r: Routine) -> Self {
                let Target::$f3(f) = r.target(self.format()) else {
                    panic!("{r:?}")
                };
                let slow = zip(zip(self, y, |x, y| (x, y)), z, |(x, y), z| f(x, y, z));
                select(mask, slow, fast)
            }
            fn rare2_int(
                self,
                y: Self,
                mask: Lanes<bool>,
                fast: Self::Int,
                r: Routine,
            ) -> Self::Int {
                let Target::$i2(f) = r.target(self.format()) else {
                    panic!("{r:?}")
                };
                let slow = zip(self, y, |x, y| Wrapping(f(x, y) as $uint));
                select(mask, slow, fast)
            }
        }
    };
}

float_lanes!(f32, u32, F32ToF32, F32F32ToF32, F32F32F32ToF32, F32F32ToI32);
float_lanes!(f64, u64, F64ToF64, F64F64ToF64, F64F64F64ToF64, F64F64ToI64);

/// One lane of arguments or results.
fn lane<T>(value: Value<Lanes<T>>, i: usize) -> Value<T>
where
    T: Float<Mask = bool>,
    Lanes<T>: Float<Int = Lanes<T::Int>>,
{
    match value {
        Value::Float(x) => Value::Float(x.0[i]),
        Value::Int(n) => Value::Int(n.0[i]),
    }
}

/// Runs every function on four lanes at once and one by one.
fn compare<T>(make: impl Fn(f64) -> T, integer: impl Fn(i32) -> T::Int, format: usize)
where
    T: Float<Mask = bool> + std::fmt::LowerExp,
    T::Int: PartialEq + std::fmt::Debug,
    Lanes<T>: Float<Int = Lanes<T::Int>>,
{
    let mut random = Random(29);
    let special = special_values();
    for &func in Func::ALL {
        if func.accuracy()[format] == Accuracy::Absent {
            continue;
        }
        for _ in 0..300 {
            let mut float = || {
                Value::Float(Lanes(std::array::from_fn(|_| match random.next() % 3 {
                    0 => make(special[random.next() as usize % special.len()]),
                    1 => make(f64::from(f32::from_bits(random.next() as u32))),
                    _ => make(random.with_exponent(-4, 5)),
                })))
            };
            let arguments = match func.signature() {
                Signature::WithInt => {
                    let x = float();
                    let n = Lanes(std::array::from_fn(|_| integer(random.next() as i32 % 40)));
                    vec![x, Value::Int(n)]
                }
                Signature::OfInt => vec![Value::Int(Lanes([3, -7, 0, 1 << 20].map(&integer)))],
                other => (0..other.arity()).map(|_| float()).collect(),
            };
            let like = Lanes([make(0.0); 4]);
            let (first, second) = eval_values(func, like, &arguments);
            for i in 0..4 {
                let single: Vec<Value<T>> = arguments.iter().map(|&a| lane(a, i)).collect();
                let expected = eval_values(func, make(0.0), &single);
                same_bits(func, lane(first, i), expected.0);
                assert_eq!(second.is_some(), expected.1.is_some());
                if let (Some(got), Some(expected)) = (second, expected.1) {
                    same_bits(func, lane(got, i), expected);
                }
            }
        }
    }
}

/// Equal encodings; NaNs are all equal.
fn same_bits<T>(func: Func, got: Value<T>, expected: Value<T>)
where
    T: Float<Mask = bool> + std::fmt::LowerExp,
    T::Int: PartialEq + std::fmt::Debug,
{
    match (got, expected) {
        (Value::Float(g), Value::Float(e)) => assert!(
            (g.is_nan() && e.is_nan()) || g.to_bits() == e.to_bits(),
            "{}: {g:e} in a lane, {e:e} alone",
            func.name()
        ),
        (Value::Int(g), Value::Int(e)) => assert!(g == e, "{}: {g:?}, {e:?}", func.name()),
        _ => panic!("{} has a float here and an integer there", func.name()),
    }
}

#[test]
fn lanes_of_float() {
    compare(|x| x as f32, |n| Wrapping(n as u32), 1);
}

#[test]
fn lanes_of_double() {
    compare(|x| x, |n| Wrapping(i64::from(n) as u64), 2);
}
