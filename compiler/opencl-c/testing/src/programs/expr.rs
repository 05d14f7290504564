//! Scalar expressions.
//!
//! Each knows its type and how large its value may be, so that signed arithmetic never overflows
//! (C99 6.5, "the behavior is undefined"), floating-point arithmetic is exact, and conversions are
//! of values that the type has. An expression in which none of this can be told is narrowed.

use super::Gen;
use super::scope::Place;
use super::text::Text;
use super::types::{INTEGERS, SCALARS, Scalar, Space, Ty, Type};

pub const PRIMARY: u8 = 16;
pub const UNARY: u8 = 15;
const PRODUCT: u8 = 13;
const SUM: u8 = 12;
const SHIFT: u8 = 11;
const RELATION: u8 = 10;
const EQUALITY: u8 = 9;
const AND: u8 = 8;
const XOR: u8 = 7;
const OR: u8 = 6;
const LOGICAL_AND: u8 = 5;
const LOGICAL_OR: u8 = 4;
const CONDITIONAL: u8 = 3;
pub const ASSIGNMENT: u8 = 2;
pub const COMMA: u8 = 1;

#[derive(Clone, Debug)]
pub struct Expr {
    pub text: Text,
    pub ty: Scalar,
    /// It is a multiple of 2^-fraction, at most 2^bits of them.
    pub bits: u32,
    pub fraction: u32,
    /// How strongly its outermost operator binds.
    pub prec: u8,
}

impl Expr {
    /// Any value of its type, if that is an integer.
    pub fn new(text: Text, ty: Scalar, prec: u8) -> Expr {
        let (bits, fraction) = ty.stored();
        Expr {
            text,
            ty,
            bits,
            fraction,
            prec,
        }
    }

    pub fn bits(mut self, bits: u32) -> Expr {
        self.bits = bits.min(self.bits);
        self
    }

    pub fn scaled(mut self, bits: u32, fraction: u32) -> Expr {
        (self.bits, self.fraction) = (bits, fraction);
        self
    }

    /// Its text as an operand of something that binds so strongly.
    pub fn at(&self, prec: u8) -> Text {
        if self.prec < prec {
            Text::of("({})", &[&self.text])
        } else {
            self.text.clone()
        }
    }

    /// Bits of the whole part.
    fn whole(&self) -> u32 {
        self.bits.saturating_sub(self.fraction)
    }

    /// Whether the value is one that variables of a floating-point type have.
    fn is_storable(&self, ty: Scalar) -> bool {
        let (bits, fraction) = ty.stored();
        self.fraction <= fraction && self.whole() <= bits - fraction
    }
}

impl Gen<'_> {
    /// An expression of any scalar type.
    pub fn scalar(&mut self) -> Expr {
        self.part(Gen::any_scalar)
    }

    fn any_scalar(&mut self) -> Expr {
        if self.depth == 0 {
            return self.leaf();
        }
        self.depth -= 1;
        let expr = match self.choices.below(37) {
            0..=1 => self.literal(),
            2..=5 => self.leaf(),
            6..=10 => self.arithmetic(),
            11..=12 => self.bitwise(),
            13..=14 => self.shift(),
            15 => self.division(),
            16..=17 => self.comparison(),
            18 => self.logical(),
            19..=20 => self.unary(),
            21..=22 => {
                let ty = self.choices.one(SCALARS);
                self.cast(ty)
            }
            23 => self.conditional(),
            24 => self.size_of(),
            25 => self.side_effect(),
            26 if !self.is_constant => self.comma(),
            _ if self.is_constant => self.literal(),
            27 => self.call_value(),
            28..=29 => self.scalar_builtin(),
            30 => self.macro_call(),
            31 => self.byte_of(),
            32 => self.of_pointers(),
            33 => self.type_number(),
            34 => self.statement_expression(),
            _ => self.of_vector(),
        };
        self.depth += 1;
        expr
    }

    /// An expression of an integer type.
    pub fn integer(&mut self) -> Expr {
        let expr = self.scalar();
        match expr.ty.is_float() {
            true => self.converted(expr, Scalar::Int),
            false => expr,
        }
    }

    /// A variable or a literal.
    pub fn leaf(&mut self) -> Expr {
        if self.is_constant {
            return self.literal();
        }
        if self.choices.percent(80)
            && let Some(place) = self.place(&Type::is_value)
            && let Type::Value(ty) = place.ty
        {
            if ty.is_scalar() {
                return Expr::new(place.text, ty.scalar, PRIMARY);
            }
            let (cl, c) = self.component(ty.lanes);
            let text = Text::either("{}{}", "{}{}", &[&place.text, &Text::new(cl, c)]);
            return Expr::new(text, ty.scalar, PRIMARY);
        }
        if self.choices.percent(15) {
            return self.work_item();
        }
        self.literal()
    }

    fn work_item(&mut self) -> Expr {
        let (name, bits) = self.choices.one(&[
            ("get_global_id(0)", 3),
            ("get_local_id(0)", 2),
            ("get_group_id(0)", 1),
            ("get_local_size(0)", 3),
            ("get_global_size(0)", 4),
            ("get_num_groups(0)", 2),
            ("get_global_id(1)", 1),
            ("get_global_offset(0)", 1),
        ]);
        Expr::new(Text::both(name), Scalar::ULong, PRIMARY).bits(bits)
    }

    /// A value of the type, made of any expression: converted implicitly where that is defined.
    pub fn value(&mut self, ty: Scalar) -> Text {
        let expr = self.scalar();
        self.assigned(expr, ty).at(ASSIGNMENT)
    }

    /// What may be assigned to a variable of the type.
    pub fn assigned(&mut self, expr: Expr, ty: Scalar) -> Expr {
        let implicit = match (expr.ty.is_float(), ty.is_float()) {
            (_, true) => expr.is_storable(ty),
            (true, false) => ty == Scalar::Bool || ty.is_signed() && expr.whole() < ty.bits() - 1,
            (false, false) => true,
        };
        match implicit && !self.choices.percent(15) {
            true => expr,
            false => self.converted(expr, ty),
        }
    }

    /// A cast to the type, of something narrower first where it would not be defined.
    pub fn converted(&mut self, expr: Expr, ty: Scalar) -> Expr {
        let narrow = |expr: Expr, bits: u32| {
            let text = Text::of("({} & {})", &[&expr.at(EQUALITY), &((1u64 << bits) - 1)]);
            Expr::new(text, expr.ty.promoted(), PRIMARY).scaled(bits, 0)
        };
        let cast = |text: &Text| Text::of("({}){}", &[&ty, text]);
        if ty.is_float() {
            let (bits, fraction) = ty.stored();
            let expr = match (expr.is_storable(ty), expr.ty.is_float()) {
                (true, _) => expr,
                (false, true) => {
                    let whole = self.converted(expr, Scalar::Long);
                    narrow(whole, bits - fraction)
                }
                (false, false) => narrow(expr, bits - fraction),
            };
            let (bits, fraction) = (expr.bits, expr.fraction);
            return Expr::new(cast(&expr.at(UNARY)), ty, UNARY).scaled(bits, fraction);
        }
        if expr.ty.is_float() && ty != Scalar::Bool {
            let wide = if expr.whole() < 31 {
                Scalar::Int
            } else {
                Scalar::Long
            };
            let fits = ty.is_signed() && expr.whole() < ty.bits() - 1;
            let bits = expr.whole();
            if fits || ty == wide {
                return Expr::new(cast(&expr.at(UNARY)), ty, UNARY).bits(bits.max(1));
            }
            let text = Text::of("({}){}", &[&wide, &expr.at(UNARY)]);
            let expr = Expr::new(text, wide, UNARY).bits(bits.max(1));
            return self.converted(expr, ty);
        }
        let keeps_sign = !expr.ty.is_signed() || ty.is_signed();
        let bits = if keeps_sign {
            expr.bits.max(1)
        } else {
            ty.bits()
        };
        // A `bool` is whether the value differs from 0.
        Expr::new(cast(&expr.at(UNARY)), ty, UNARY).bits(bits)
    }

    fn cast(&mut self, ty: Scalar) -> Expr {
        let expr = self.scalar();
        self.converted(expr, ty)
    }

    /// Operands of an arithmetic operator such that the result is defined, and how large it is.
    fn defined(
        &mut self,
        mut a: Expr,
        mut b: Expr,
        size: fn(&Expr, &Expr) -> (u32, u32),
    ) -> (Expr, Expr, u32, u32) {
        let ty = a.ty.usual(b.ty);
        if ty.is_float() {
            for operand in [&mut a, &mut b] {
                if !operand.ty.is_float() && !operand.is_storable(ty) {
                    *operand = self.converted(operand.clone(), ty);
                }
            }
            let (bits, fraction) = size(&a, &b);
            if bits < ty.precision() && fraction < 10 {
                return (a, b, bits, fraction);
            }
            for operand in [&mut a, &mut b] {
                *operand = self.converted(operand.clone(), Scalar::Char);
                *operand = self.converted(operand.clone(), Scalar::Half);
            }
            a = self.converted(a, ty);
            let (bits, fraction) = size(&a, &b);
            return (a, b, bits, fraction);
        }
        if !ty.is_signed() {
            let bits = match a.ty.is_signed() || b.ty.is_signed() {
                true => ty.bits(),
                false => size(&a, &b).0.min(ty.bits()),
            };
            return (a, b, bits, 0);
        }
        let (bits, _) = size(&a, &b);
        if bits < ty.bits() - 1 {
            return (a, b, bits, 0);
        }
        let unsigned = ty.with_sign(false);
        a = self.converted(a, unsigned);
        (a, b, unsigned.bits(), 0)
    }

    fn arithmetic(&mut self) -> Expr {
        let (a, b) = (self.scalar(), self.scalar());
        let (sign, prec) = self.choices.one(&[("+", SUM), ("-", SUM), ("*", PRODUCT)]);
        let sum = |a: &Expr, b: &Expr| {
            let fraction = a.fraction.max(b.fraction);
            let bits = |e: &Expr| e.bits + fraction - e.fraction;
            (bits(a).max(bits(b)) + 1, fraction)
        };
        let product = |a: &Expr, b: &Expr| (a.bits + b.bits, a.fraction + b.fraction);
        let size: fn(&Expr, &Expr) -> (u32, u32) = if sign == "*" { product } else { sum };
        let (a, b, bits, fraction) = self.defined(a, b, size);
        let ty = a.ty.usual(b.ty);
        // An unsigned difference may be anything.
        let bits = if sign == "-" && !ty.is_signed() {
            ty.bits()
        } else {
            bits
        };
        self.binary(sign, prec, &a, &b, ty).scaled(bits, fraction)
    }

    /// The text of a binary operation, its operands in parentheses where they are needed.
    fn binary(&mut self, sign: &str, prec: u8, a: &Expr, b: &Expr, ty: Scalar) -> Expr {
        let always = self.choices.percent(10);
        let prec_of = |prec| if always { PRIMARY } else { prec };
        let text = Text::of(
            "{} {} {}",
            &[&a.at(prec_of(prec)), &sign, &b.at(prec_of(prec + 1))],
        );
        Expr::new(text, ty, prec)
    }

    fn bitwise(&mut self) -> Expr {
        let (a, b) = (self.integer(), self.integer());
        let ty = a.ty.usual(b.ty);
        let bits = match (a.ty.is_signed() || b.ty.is_signed()) && !ty.is_signed() {
            true => ty.bits(),
            false => a.bits.max(b.bits),
        };
        let (sign, prec) = self.choices.one(&[("&", AND), ("|", OR), ("^", XOR)]);
        // |-2^n ^ (2^n - 1)| is not above 2^n: what is bounded as signed numbers are stays so.
        let bits = if ty.is_signed() {
            (bits + 1).min(ty.bits() - 1)
        } else {
            bits
        };
        self.binary(sign, prec, &a, &b, ty).bits(bits)
    }

    /// "...shift amount modulo the number of bits": the count needs no bound in OpenCL C.
    fn shift(&mut self) -> Expr {
        let (a, b) = (self.integer(), self.integer());
        let sign = self.choices.one(&["<<", ">>"]);
        let ty = a.ty.promoted();
        let mask = ty.bits() - 1;
        let masked = Text::of("({} & {})", &[&b.at(EQUALITY), &mask]);
        let count = match self.choices.percent(40) {
            true => Text::new(b.at(SUM).cl, masked.c),
            false => masked,
        };
        let text = Text::of("{} {} {}", &[&a.at(SHIFT), &sign, &count]);
        let bits = if sign == ">>" { a.bits } else { ty.bits() };
        Expr::new(text, ty, SHIFT).bits(bits)
    }

    fn division(&mut self) -> Expr {
        let (a, b) = (self.integer(), self.integer());
        let mask = self.choices.one(&[7u64, 1, 255, 65535]);
        let divisor = match self.choices.percent(50) {
            true => Text::of("(({} & {}) + 1)", &[&b.at(EQUALITY), &mask]),
            false => Text::both((self.choices.below(mask) + 1).to_string()),
        };
        let ty = a.ty.usual(b.ty);
        let sign = self.choices.one(&["/", "%"]);
        let divisor = Text::of("({}){}", &[&b.ty.promoted(), &divisor]);
        let text = Text::of("{} {} {}", &[&a.at(PRODUCT), &sign, &divisor]);
        Expr::new(text, ty, PRODUCT)
    }

    fn comparison(&mut self) -> Expr {
        let (a, b) = (self.scalar(), self.scalar());
        let (sign, prec) = self.choices.one(&[
            ("<", RELATION),
            ("==", EQUALITY),
            ("!=", EQUALITY),
            (">", RELATION),
            ("<=", RELATION),
            (">=", RELATION),
        ]);
        self.binary(sign, prec, &a, &b, Scalar::Int).bits(1)
    }

    fn logical(&mut self) -> Expr {
        let (a, b) = (self.scalar(), self.scalar());
        let (sign, prec) = self.choices.one(&[("&&", LOGICAL_AND), ("||", LOGICAL_OR)]);
        self.binary(sign, prec, &a, &b, Scalar::Int).bits(1)
    }

    fn unary(&mut self) -> Expr {
        let a = self.scalar();
        let ty = a.ty.promoted();
        match self.choices.below(4) {
            0 => {
                let text = Text::of("!{}", &[&a.at(UNARY)]);
                Expr::new(text, Scalar::Int, UNARY).bits(1)
            }
            1 if !ty.is_float() => {
                let text = Text::of("~{}", &[&a.at(UNARY)]);
                let bits = if ty.is_signed() {
                    a.bits + 1
                } else {
                    ty.bits()
                };
                Expr::new(text, ty, UNARY).bits(bits)
            }
            2 => {
                let text = Text::of("+{}", &[&a.at(PRIMARY)]);
                Expr {
                    text,
                    ty,
                    prec: UNARY,
                    ..a
                }
            }
            _ => {
                let a = match ty.is_signed() && !ty.is_float() && a.bits >= ty.bits() - 1 {
                    true => self.converted(a, ty.with_sign(false)),
                    false => a,
                };
                let ty = a.ty.promoted();
                let bits = if ty.is_signed() { a.bits } else { ty.bits() };
                let text = Text::of("-{}", &[&a.at(PRIMARY)]);
                Expr::new(text, ty, UNARY).scaled(bits, a.fraction)
            }
        }
    }

    fn conditional(&mut self) -> Expr {
        // It "can be a scalar or vector result except float".
        let condition = self.integer();
        let (mut a, mut b) = (self.scalar(), self.scalar());
        let ty = a.ty.usual(b.ty);
        for operand in [&mut a, &mut b] {
            if ty.is_float() && !operand.is_storable(ty) {
                *operand = self.converted(operand.clone(), ty);
            }
        }
        let fraction = a.fraction.max(b.fraction);
        let bits = |e: &Expr| e.bits + fraction - e.fraction;
        let mixed = !ty.is_signed() && (a.ty.is_signed() || b.ty.is_signed());
        let bits = if mixed {
            ty.bits()
        } else {
            bits(&a).max(bits(&b))
        };
        let text = Text::of(
            "{} ? {} : {}",
            &[&condition.at(LOGICAL_OR), &a.text, &b.at(CONDITIONAL)],
        );
        Expr::new(text, ty, CONDITIONAL).scaled(bits, fraction)
    }

    /// How far an object is from where its type's `aligned` wants it.
    fn misplaced(&mut self) -> Option<Expr> {
        let records = self.records.clone();
        let align = |place: &Place| match (&place.ty, place.space) {
            (Type::Record(at), Space::Private | Space::Local | Space::Constant) => {
                Some(records[*at].align).filter(|&align| align > 1 && place.addressable)
            }
            _ => None,
        };
        let place = self.any_place(&|place| align(place).is_some())?;
        let low = format!("((ulong)&{{}} & {})", align(&place)? - 1);
        let text = Text::of(&low, &[&place.text]);
        Some(Expr::new(text, Scalar::ULong, PRIMARY).bits(1))
    }

    fn size_of(&mut self) -> Expr {
        if !self.is_constant
            && self.choices.percent(30)
            && let Some(misplaced) = self.misplaced()
        {
            return misplaced;
        }
        let kind = self.choices.below(4);
        let text = match kind {
            0 if !self.records.is_empty() => {
                let at = self.choices.index(self.records.len());
                Text::both(format!("sizeof({})", self.records[at].name))
            }
            // Its operand is not evaluated.
            1 => {
                let (used, changed) = (self.used.clone(), self.changed.clone());
                let operand = self.scalar();
                (self.used, self.changed) = (used, changed);
                Text::of("sizeof({})", &[&operand.text])
            }
            2 => {
                let place = self.any_place(&|_| true);
                match place {
                    Some(place) => Text::of("sizeof {}", &[&place.text]),
                    None => Text::both("sizeof(int3)"),
                }
            }
            _ => {
                let ty = self.any_ty();
                Text::both(format!("sizeof({ty}[3])"))
            }
        };
        Expr::new(text, Scalar::ULong, UNARY).bits(12)
    }

    /// An assignment, increment or decrement as a value.
    fn side_effect(&mut self) -> Expr {
        if self.pure || self.is_constant {
            return self.leaf();
        }
        let unsigned = |ty: &Type| match ty {
            Type::Value(ty) => {
                ty.is_scalar() && INTEGERS.contains(&ty.scalar) && !ty.scalar.is_signed()
            }
            _ => false,
        };
        if self.choices.percent(50)
            && let Some(place) = self.target(false, &unsigned)
            && let Type::Value(ty) = place.ty
        {
            let form = self.choices.one(&["{}++", "{}--", "++{}", "--{}"]);
            let text = Text::of(form, &[&place.text]);
            return Expr::new(text, ty.scalar, UNARY);
        }
        let scalar = |ty: &Type| matches!(ty, Type::Value(ty) if ty.is_scalar());
        let Some(place) = self.target(false, &scalar) else {
            return self.leaf();
        };
        let Type::Value(Ty { scalar: ty, .. }) = place.ty else {
            return self.leaf();
        };
        let value = self.value(ty);
        let sign = match ty.is_float() || ty == Scalar::Bool {
            true => "=",
            false => self.choices.one(&["=", "=", "^=", "|=", "&="]),
        };
        // The operand must be an integer for these.
        let value = match sign {
            "=" => value,
            _ => Text::of("({})({})", &[&ty, &value]),
        };
        let text = Text::of("{} {} {}", &[&place.text, &sign, &value]);
        Expr::new(text, ty, ASSIGNMENT)
    }

    fn comma(&mut self) -> Expr {
        let (a, b) = (self.scalar(), self.scalar());
        let text = Text::of("(void){}, {}", &[&a.at(UNARY), &b.at(ASSIGNMENT)]);
        Expr {
            text,
            prec: COMMA,
            ..b
        }
    }

    /// `_Generic(e, char: 1, ...)`: a number for the type of an expression.
    fn type_number(&mut self) -> Expr {
        let (used, changed) = (self.used.clone(), self.changed.clone());
        let operand = self.scalar();
        (self.used, self.changed) = (used, changed);
        let numbers = SCALARS.iter().zip(1u64..);
        let all = numbers.map(|(ty, at)| format!("{ty}: {at}"));
        // Types of literals, and of what is computed with them.
        let more = ["long long: 13", "unsigned long long: 14"].map(str::to_owned);
        let all: Vec<String> = all.chain(more).collect();
        let text = Text::of(
            "_Generic({}, {})",
            &[&operand.at(ASSIGNMENT), &all.join(", ")],
        );
        Expr::new(text, Scalar::Int, PRIMARY).bits(4)
    }

    /// `({ int v = e; v; })`
    fn statement_expression(&mut self) -> Expr {
        let ty = self.choices.one(SCALARS);
        let name = self.local_name();
        let first = self.purely(|g| g.value(ty));
        let declared = Type::scalar(ty);
        let rest = self.scope(|g| {
            g.declare(&name, declared, true, super::types::Space::Private);
            g.purely(Gen::scalar)
        });
        let text = Text::of("({ {} {} = {}; {}; })", &[&ty, &name, &first, &rest.text]);
        // It is not a bit-field, and is not promoted.
        Expr {
            text,
            prec: PRIMARY,
            ..rest
        }
    }

    /// Any type that a value may have.
    pub fn any_ty(&mut self) -> Ty {
        if self.choices.percent(40) {
            self.vector_ty()
        } else {
            Ty::scalar(self.choices.one(SCALARS))
        }
    }
}
