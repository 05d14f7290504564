//! Vector expressions.
//!
//! In C a vector is one of gcc's, of three components one of four; what gcc's lack is written with
//! statement expressions and the macros of `../oracle/host.h`.

use super::Gen;
use super::expr::{ASSIGNMENT, Expr, PRIMARY, UNARY};
use super::text::Text;
use super::types::{ELEMENTS, INTEGERS, Scalar, Ty, Type};

const LANES: &[usize] = &[4, 2, 3, 8, 16];

/// A vector expression that can be an operand of anything.
#[derive(Clone, Debug)]
pub struct Vector {
    pub text: Text,
    pub ty: Ty,
    /// As for scalars.
    pub bits: u32,
    pub fraction: u32,
}

impl Vector {
    pub fn new(text: Text, ty: Ty) -> Vector {
        let (bits, fraction) = ty.scalar.stored();
        Vector {
            text,
            ty,
            bits,
            fraction,
        }
    }

    pub fn scaled(mut self, bits: u32, fraction: u32) -> Vector {
        (self.bits, self.fraction) = (bits, fraction);
        self
    }

    fn is_storable(&self, ty: Scalar) -> bool {
        let (bits, fraction) = ty.stored();
        let whole = self.bits.saturating_sub(self.fraction);
        self.fraction <= fraction && whole <= bits - fraction
    }
}

/// A name for a component or for several.
struct Swizzle {
    name: String,
    lanes: Vec<usize>,
}

impl Gen<'_> {
    pub fn vector_ty(&mut self) -> Ty {
        let scalar = self.choices.one(ELEMENTS);
        Ty::of(scalar, self.choices.one(LANES))
    }

    /// The component of a vector: what follows its name in OpenCL C and in C.
    pub fn component(&mut self, lanes: usize) -> (String, String) {
        let at = self.choices.index(lanes);
        let name = match self.choices.below(3) {
            0 if at < 4 => format!(".{}", ["x", "y", "z", "w"][at]),
            1 => format!(".S{at:X}"),
            _ => format!(".s{at:x}"),
        };
        (name, format!("[{at}]"))
    }

    fn swizzle(&mut self, of: usize, count: usize, distinct: bool) -> Option<Swizzle> {
        if of == 2 * count && self.choices.percent(40) || of == 3 && count == 2 {
            let half = of.next_power_of_two() / 2;
            let (name, lanes): (&str, Vec<usize>) = match self.choices.below(4) {
                0 => ("lo", (0..half).collect()),
                1 => ("hi", (half..2 * half).collect()),
                2 => ("even", (0..half).map(|i| 2 * i).collect()),
                _ => ("odd", (0..half).map(|i| 2 * i + 1).collect()),
            };
            // The fourth component of a vector of three is undefined.
            if lanes.iter().all(|&lane| lane < of) {
                let name = name.to_owned();
                return Some(Swizzle { name, lanes });
            }
        }
        if distinct && count > of {
            return None;
        }
        let mut lanes = Vec::new();
        while lanes.len() < count {
            let mut lane = self.choices.index(of);
            while distinct && lanes.contains(&lane) {
                lane = (lane + 1) % of;
            }
            lanes.push(lane);
        }
        let letters = lanes.iter().all(|&lane| lane < 4) && of <= 4;
        let name = if letters && self.choices.percent(60) {
            lanes
                .iter()
                .map(|&lane| ["x", "y", "z", "w"][lane])
                .collect()
        } else {
            let prefix = self.choices.one(&["s", "S"]);
            let digits = lanes.iter().map(|lane| format!("{lane:x}"));
            format!("{prefix}{}", digits.collect::<String>())
        };
        Some(Swizzle { name, lanes })
    }

    /// A vector expression of the type.
    pub fn vector(&mut self, ty: Ty) -> Vector {
        self.part(|g| g.any_vector(ty))
    }

    fn any_vector(&mut self, ty: Ty) -> Vector {
        if self.depth == 0 {
            return self.vector_leaf(ty);
        }
        self.depth -= 1;
        let kind = self.choices.below(21);
        let vector = match kind {
            0..=2 => self.vector_leaf(ty),
            3..=4 => self.vector_literal(ty),
            5..=7 => self.vector_arithmetic(ty),
            8..=9 => self.swizzled(ty),
            10..=11 => self.vector_conversion(ty),
            12 => self.reinterpreted(ty),
            13 => self.vector_choice(ty),
            14 => self.vector_call(ty),
            15 => self.vector_unary(ty),
            18..=20 => self.builtin(ty),
            _ if ty.scalar.is_float() => self.vector_leaf(ty),
            16 => self.vector_shift(ty),
            _ => self.vector_comparison(ty),
        };
        self.depth += 1;
        vector
    }

    /// One whose values variables may have.
    pub fn vector_value(&mut self, ty: Ty) -> Text {
        let vector = self.vector(ty);
        self.stored_vector(vector).text
    }

    pub fn stored_vector(&mut self, vector: Vector) -> Vector {
        match !vector.ty.scalar.is_float() || vector.is_storable(vector.ty.scalar) {
            true => vector,
            false => {
                let ty = vector.ty;
                let whole = self.convert_vector(vector, Ty::of(Scalar::Long, ty.lanes));
                let mask = Vector {
                    text: Text::of("({} & {})", &[&whole.text, &splat("15", whole.ty)]),
                    ..whole.scaled(4, 0)
                };
                self.convert_vector(mask, ty)
            }
        }
    }

    fn vector_leaf(&mut self, ty: Ty) -> Vector {
        let wanted = |found: &Type| *found == Type::Value(ty);
        match self.place(&wanted) {
            Some(place) => Vector::new(place.text, ty),
            None => self.splat(ty),
        }
    }

    /// `(int4)(e)`, or `(int4)e`: "When casting a bool to a vector integer data type, the vector
    /// components will be set to -1 (i.e. all bits set) if the bool value is true".
    fn splat(&mut self, ty: Ty) -> Vector {
        let depth = std::mem::replace(&mut self.depth, 0);
        let expr = self.scalar();
        let expr = self.assigned(expr, ty.scalar);
        self.depth = depth;
        let operand = expr.at(UNARY).cl;
        // What is in parentheses would be a literal, too.
        let is_cast = self.choices.percent(30) && !operand.starts_with('(');
        let sign = if is_cast && expr.ty == Scalar::Bool {
            "-"
        } else {
            ""
        };
        let c = format!(
            "SPLAT({ty}, {}, {}, {sign}({}))",
            ty.scalar, ty.lanes, expr.text.c
        );
        let cl = match is_cast {
            true => format!("(({ty}){operand})"),
            false => format!("(({ty})({}))", expr.text.cl),
        };
        Vector::new(Text::new(cl, c), ty)
    }

    /// `(int4)(a, v.xy, b)`
    fn vector_literal(&mut self, ty: Ty) -> Vector {
        if self.choices.percent(20) {
            return self.splat(ty);
        }
        let (mut cl, mut c, mut before) = (Vec::new(), Vec::new(), String::new());
        let mut left = ty.lanes;
        while left > 0 {
            let part = [8, 4, 3, 2]
                .into_iter()
                .find(|&part| part <= left && part < ty.lanes && self.choices.percent(20));
            match part {
                Some(part) if self.depth > 0 => {
                    let name = self.temporary();
                    let part_ty = Ty::of(ty.scalar, part);
                    let value = self.vector_value(part_ty);
                    before += &format!("{part_ty} {name} = {}; ", value.c);
                    cl.push(value.cl);
                    c.extend((0..part).map(|lane| format!("{name}[{lane}]")));
                    left -= part;
                }
                _ => {
                    let depth = std::mem::replace(&mut self.depth, 0);
                    let value = self.value(ty.scalar);
                    self.depth = depth;
                    cl.push(value.cl);
                    c.push(value.c);
                    left -= 1;
                }
            }
        }
        let text = Text::new(
            format!("(({ty})({}))", cl.join(", ")),
            format!("({{ {before}({ty}){{{}}}; }})", c.join(", ")),
        );
        Vector::new(text, ty)
    }

    /// A constant expression. gcc takes that of a vector's type for one only within braces.
    pub fn constant_vector(&mut self, ty: Ty, in_braces: bool) -> Text {
        let name = if in_braces {
            format!("({ty})")
        } else {
            String::new()
        };
        if self.choices.percent(20) {
            let value = self.constant(ty.scalar).at(ASSIGNMENT);
            let all = vec![value.c.clone(); ty.lanes].join(", ");
            return Text::new(format!("({ty})({})", value.cl), format!("{name}{{{all}}}"));
        }
        let lanes: Vec<Text> = (0..ty.lanes)
            .map(|_| self.constant(ty.scalar).at(ASSIGNMENT))
            .collect();
        let lanes = Text::join(&lanes, ", ");
        Text::new(
            format!("({ty})({})", lanes.cl),
            format!("{name}{{{}}}", lanes.c),
        )
    }

    /// A vector, or a scalar that is widened.
    fn operand(&mut self, ty: Ty) -> Vector {
        if !self.choices.percent(20) {
            return self.vector(ty);
        }
        let expr = self.scalar();
        let expr = self.converted(expr, ty.scalar);
        let text = Text::new(
            format!("({})", expr.text.cl),
            format!("SPLAT({ty}, {}, {}, {})", ty.scalar, ty.lanes, expr.text.c),
        );
        Vector::new(text, ty).scaled(expr.bits, expr.fraction)
    }

    fn vector_arithmetic(&mut self, ty: Ty) -> Vector {
        let a = self.vector(ty);
        let b = self.operand(ty);
        let sign = if ty.scalar.is_float() {
            self.choices.one(&["+", "-", "*"])
        } else {
            self.choices.one(&["+", "-", "*", "&", "|", "^", "/", "%"])
        };
        let fraction = a.fraction.max(b.fraction);
        let (bits, fraction) = match sign {
            "*" => (a.bits + b.bits, a.fraction + b.fraction),
            _ => {
                let bits = |v: &Vector| v.bits + fraction - v.fraction;
                (bits(&a).max(bits(&b)) + 1, fraction)
            }
        };
        let plain = |a: &Vector, b: &Vector, bits, fraction| {
            let text = Text::of("({} {} {})", &[&a.text, &sign, &b.text]);
            Vector::new(text, ty).scaled(bits, fraction)
        };
        if ty.scalar.is_float() {
            if bits < ty.scalar.precision() && fraction < 10 {
                return plain(&a, &b, bits, fraction);
            }
            return self.stored_vector(a);
        }
        let (bits, _) = (bits.min(ty.scalar.stored().0), 0);
        match sign {
            "&" | "|" | "^" => plain(&a, &b, bits, 0),
            "/" | "%" => {
                let mask = self.choices.one(&["7", "1", "63"]);
                let one = splat("1", ty);
                let divisor = Text::of("(({} & {}) + {})", &[&b.text, &splat(mask, ty), &one]);
                let text = Text::of("({} {} {})", &[&a.text, &sign, &divisor]);
                Vector::new(text, ty)
            }
            _ if !ty.scalar.is_signed() => Vector::new(plain(&a, &b, 0, 0).text, ty),
            _ if bits < ty.scalar.bits() - 1 => plain(&a, &b, bits, 0),
            _ => {
                let unsigned = Ty::of(ty.scalar.with_sign(false), ty.lanes);
                let as_unsigned = |v: &Vector| {
                    Text::either(
                        "as_{}({})",
                        "AS({}, {})",
                        // A scalar is made a vector by this operator alone.
                        &[&unsigned, &whole(v)],
                    )
                };
                let text = Text::of("{} {} {}", &[&as_unsigned(&a), &sign, &as_unsigned(&b)]);
                let text = Text::either("as_{}({})", "AS({}, {})", &[&ty, &text]);
                Vector::new(text, ty)
            }
        }
    }

    fn vector_unary(&mut self, ty: Ty) -> Vector {
        let a = self.vector(ty);
        if ty.scalar.is_float() {
            let text = Text::of("(-{})", &[&a.text]);
            return Vector { text, ..a };
        }
        match self.choices.below(3) {
            0 => Vector::new(Text::of("(~{})", &[&a.text]), ty),
            1 if ty.scalar.is_signed() => {
                let c = format!("(({ty})({} == 0))", a.text.c);
                Vector::new(Text::new(format!("(!{})", a.text.cl), c), ty).scaled(0, 0)
            }
            _ if !ty.scalar.is_signed() => Vector::new(Text::of("(-{})", &[&a.text]), ty),
            _ => a,
        }
    }

    fn vector_shift(&mut self, ty: Ty) -> Vector {
        let a = self.vector(ty);
        let b = self.operand(ty);
        let sign = self.choices.one(&["<<", ">>"]);
        let mask = splat(&(ty.scalar.bits() - 1).to_string(), ty);
        let masked = Text::of("({} & {})", &[&b.text, &mask]);
        let count = match self.choices.percent(40) {
            true => Text::new(b.text.cl, masked.c),
            false => masked,
        };
        Vector::new(Text::of("({} {} {})", &[&a.text, &sign, &count]), ty)
    }

    /// "-1 (all bits set) if the relation is true", of a signed integer type of the same size.
    fn vector_comparison(&mut self, ty: Ty) -> Vector {
        if !ty.scalar.is_signed() {
            return self.vector_leaf(ty);
        }
        let fits: Vec<Scalar> = ELEMENTS
            .iter()
            .copied()
            .filter(|s| s.size() == ty.scalar.size())
            .collect();
        let of = Ty::of(self.choices.one(&fits), ty.lanes);
        let a = self.vector(of);
        let b = self.operand(of);
        let sign = self
            .choices
            .one(&["<", "==", "!=", ">", "<=", ">=", "&&", "||"]);
        let c = match sign {
            "&&" => format!("(({ty})({} != 0) & ({ty})({} != 0))", a.text.c, b.text.c),
            "||" => format!("(({ty})({} != 0) | ({ty})({} != 0))", a.text.c, b.text.c),
            _ => format!("(({ty})({} {sign} {}))", a.text.c, b.text.c),
        };
        let cl = format!("({} {sign} {})", a.text.cl, b.text.cl);
        Vector::new(Text::new(cl, c), ty).scaled(0, 0)
    }

    /// "the ternary selection operator": by the most significant bit of each component.
    fn vector_choice(&mut self, ty: Ty) -> Vector {
        let integer = Ty::of(ty.scalar.with_sign(true), ty.lanes);
        let condition = self.vector(integer);
        let (a, b) = (self.vector(ty), self.vector(ty));
        let text = Text::new(
            format!("({} ? {} : {})", condition.text.cl, a.text.cl, b.text.cl),
            format!(
                "SELECT({ty}, {integer}, {}, {}, {})",
                condition.text.c, a.text.c, b.text.c
            ),
        );
        let fraction = a.fraction.max(b.fraction);
        let bits = |v: &Vector| v.bits + fraction - v.fraction;
        let bits = bits(&a).max(bits(&b));
        Vector::new(text, ty).scaled(bits, fraction)
    }

    fn swizzled(&mut self, ty: Ty) -> Vector {
        let of = self.choices.one(LANES);
        let Some(swizzle) = self.swizzle(of, ty.lanes, false) else {
            return self.vector_leaf(ty);
        };
        let from = Ty::of(ty.scalar, of);
        let vector = self.vector(from);
        let name = self.temporary();
        let lanes: Vec<String> = swizzle
            .lanes
            .iter()
            .map(|l| format!("{name}[{l}]"))
            .collect();
        let text = Text::new(
            format!("{}.{}", vector.text.cl, swizzle.name),
            format!(
                "({{ {from} {name} = {}; ({ty}){{{}}}; }})",
                vector.text.c,
                lanes.join(", ")
            ),
        );
        Vector { text, ty, ..vector }
    }

    fn vector_conversion(&mut self, ty: Ty) -> Vector {
        let from = Ty::of(self.choices.one(ELEMENTS), ty.lanes);
        let vector = self.vector(from);
        let both_integers = !from.scalar.is_float() && !ty.scalar.is_float();
        if both_integers && self.choices.percent(40) {
            let c = format!(
                "SATURATE({ty}, {}, {}, {})",
                ty.scalar, ty.lanes, vector.text.c
            );
            let text = Text::new(format!("convert_{ty}_sat({})", vector.text.cl), c);
            return Vector::new(text, ty);
        }
        self.convert_vector(vector, ty)
    }

    fn convert_vector(&mut self, vector: Vector, ty: Ty) -> Vector {
        let (from, lanes) = (vector.ty.scalar, ty.lanes);
        let convert = |text: &Text, ty: Ty| {
            Text::new(
                format!("convert_{ty}({})", text.cl),
                format!("__builtin_convertvector({}, {ty})", text.c),
            )
        };
        if ty.scalar.is_float() && !vector.is_storable(ty.scalar) {
            // Through few bits.
            let long = Ty::of(Scalar::Long, lanes);
            let whole = convert(&whole(&vector), long);
            let text = Text::of("({} & {})", &[&whole, &splat("15", long)]);
            return Vector::new(convert(&text, ty), ty).scaled(4, 0);
        }
        if ty.scalar.is_float() {
            let (bits, fraction) = (vector.bits, vector.fraction);
            return Vector::new(convert(&whole(&vector), ty), ty).scaled(bits, fraction);
        }
        if from.is_float() {
            let long = Ty::of(Scalar::Long, lanes);
            let bits = vector.bits.saturating_sub(vector.fraction);
            if ty.scalar.is_signed() && bits < ty.scalar.bits() - 1 {
                return Vector::new(convert(&whole(&vector), ty), ty).scaled(bits, 0);
            }
            let text = convert(&whole(&vector), long);
            return Vector::new(convert(&text, ty), ty);
        }
        Vector::new(convert(&whole(&vector), ty), ty)
    }

    /// `as_int4(v)`: of floating-point values not to them, for there is not-a-number.
    fn reinterpreted(&mut self, ty: Ty) -> Vector {
        if ty.scalar.is_float() {
            return self.vector_leaf(ty);
        }
        let fits: Vec<Ty> = LANES
            .iter()
            .flat_map(|&lanes| ELEMENTS.iter().map(move |&scalar| Ty::of(scalar, lanes)))
            .filter(|from| from.size() == ty.size())
            .filter(|from| (from.lanes == 3) == (ty.lanes == 3))
            .collect();
        let from = self.choices.one(&fits);
        let vector = self.vector(from);
        let text = Text::either("as_{}({})", "AS({}, {})", &[&ty, &vector.text]);
        Vector::new(text, ty)
    }

    /// A scalar that comes of a vector.
    pub fn of_vector(&mut self) -> Expr {
        let ty = self.vector_ty();
        match self.choices.below(4) {
            0 if ty.lanes != 3 && ty.size() <= 8 => {
                let fits: Vec<Scalar> = INTEGERS
                    .iter()
                    .copied()
                    .filter(|scalar| scalar.size() == ty.size())
                    .collect();
                let to = self.choices.one(&fits);
                let vector = self.vector(ty);
                let text = Text::either("as_{}({})", "AS({}, {})", &[&to, &vector.text]);
                Expr::new(text, to, PRIMARY)
            }
            1 => {
                let integer = Ty::of(ty.scalar.with_sign(true), ty.lanes);
                let name = self.choices.one(&["any", "all"]);
                let vector = self.vector(integer);
                let c = format!("{}({}, {})", name.to_uppercase(), ty.lanes, vector.text.c);
                let text = Text::new(format!("{name}({})", vector.text.cl), c);
                Expr::new(text, Scalar::Int, PRIMARY).bits(1)
            }
            _ => {
                let vector = self.vector(ty);
                let (cl, c) = self.component(ty.lanes);
                let text = Text::new(
                    format!("{}{cl}", vector.text.cl),
                    format!("{}{c}", vector.text.c),
                );
                Expr::new(text, ty.scalar, PRIMARY).scaled(vector.bits, vector.fraction)
            }
        }
    }

    /// `v.xz = e;`
    pub fn swizzled_assignment(&mut self) -> Option<Text> {
        let ty = self.vector_ty();
        let wanted = |found: &Type| matches!(found, Type::Value(of) if of.lanes > 1 && of.scalar == ty.scalar);
        let value = self.vector_value(ty);
        let place = self.target(true, &wanted)?;
        let Type::Value(of) = place.ty else {
            return None;
        };
        let swizzle = self.swizzle(of.lanes, ty.lanes, true)?;
        let sign = match ty.scalar.is_float() || ty.scalar.is_signed() {
            true => "=",
            false => self.choices.one(&["=", "+=", "^=", "*="]),
        };
        // The place is looked up once, before any of it is stored.
        let (name, to, unaligned) = (self.temporary(), self.temporary(), self.temporary());
        let lanes = swizzle.lanes.iter().enumerate();
        let stores = lanes.map(|(from, lane)| format!(" (*{to})[{lane}] {sign} {name}[{from}];"));
        Some(Text::new(
            format!("{}.{} {sign} {};", place.text.cl, swizzle.name, value.cl),
            format!(
                "{{ {ty} {name} = {}; typedef {of} {unaligned} __attribute__((aligned(1))); \
                 {unaligned} *{to} = (void *)&{};{} }}",
                value.c,
                place.text.c,
                stores.collect::<String>()
            ),
        ))
    }
}

/// All components the same constant.
fn splat(value: &str, ty: Ty) -> Text {
    Text::new(
        format!("({ty})({value})"),
        format!("SPLAT({ty}, {}, {}, {value})", ty.scalar, ty.lanes),
    )
}

/// The vector that an operand is made, which may be a scalar in OpenCL C.
fn whole(vector: &Vector) -> Text {
    Text::new(
        format!("({})({})", vector.ty, vector.text.cl),
        &*vector.text.c,
    )
}
