//! Built-in functions whose results are exact. In C they are macros that apply a function for
//! scalars to each component.

use super::Gen;
use super::expr::{Expr, PRIMARY};
use super::text::Text;
use super::types::{INTEGERS, Scalar, Ty, Type};
use super::vector::Vector;

/// Functions of integers, with as many arguments of the type of the result.
const INTEGER: &[(&str, usize)] = &[
    ("max", 2),
    ("min", 2),
    ("clamp", 3),
    ("add_sat", 2),
    ("sub_sat", 2),
    ("hadd", 2),
    ("rhadd", 2),
    ("mul_hi", 2),
    ("mad_hi", 3),
    ("mad_sat", 3),
    ("rotate", 2),
    ("clz", 1),
    ("popcount", 1),
    ("bitselect", 3),
];

/// Functions of floating-point values, the results of which are no larger than the arguments.
const FLOAT: &[(&str, usize)] = &[
    ("max", 2),
    ("min", 2),
    ("fabs", 1),
    ("floor", 1),
    ("ceil", 1),
    ("trunc", 1),
    ("rint", 1),
    ("copysign", 2),
];

/// Relations: `int` for scalars, for vectors -1 in a signed integer type of the same size.
const RELATION: &[(&str, usize)] = &[
    ("isequal", 2),
    ("isnotequal", 2),
    ("isgreater", 2),
    ("isgreaterequal", 2),
    ("isless", 2),
    ("islessequal", 2),
    ("islessgreater", 2),
    ("isfinite", 1),
    ("isnan", 1),
    ("isinf", 1),
    ("isordered", 2),
    ("signbit", 1),
];

impl Gen<'_> {
    /// A call with a result of this type; a scalar of the exact type or a vector.
    pub fn builtin(&mut self, ty: Ty) -> Vector {
        if ty.scalar.is_float() {
            return match self.choices.below(4) {
                0 => self.select(ty),
                1 => self.load(ty),
                _ => self.float_builtin(ty),
            };
        }
        match self.choices.below(8) {
            0 => self.select(ty),
            1 => self.load(ty),
            2 => self.shuffle(ty),
            3 if ty.scalar.is_signed() => self.relation(ty),
            3 => self.absolute(ty),
            _ => {
                let (name, count) = self.choices.one(INTEGER);
                let mut args: Vec<Text> = match name {
                    "clamp" => self.evaluated_often(ty, count),
                    _ => (0..count).map(|_| self.exact(ty).text).collect(),
                };
                if name == "clamp" {
                    // "Results are undefined if minval > maxval."
                    let (low, high) = (args[1].clone(), args[2].clone());
                    args[1] = self.map("min", ty, &[low.clone(), high.clone()]);
                    args[2] = self.map("max", ty, &[low, high]);
                }
                if name == "max" && !ty.is_scalar() && self.choices.percent(30) {
                    return self.with_scalar(ty, &args[0]);
                }
                Vector::new(self.map(name, ty, &args), ty)
            }
        }
    }

    /// A call as a scalar expression.
    pub fn scalar_builtin(&mut self) -> Expr {
        let scalar = self.choices.one(&[
            Scalar::Int,
            Scalar::UInt,
            Scalar::Long,
            Scalar::ULong,
            Scalar::Short,
            Scalar::UShort,
            Scalar::Char,
            Scalar::UChar,
            Scalar::Float,
            Scalar::Half,
            Scalar::Double,
        ]);
        let call = self.builtin(Ty::scalar(scalar));
        Expr::new(call.text, scalar, PRIMARY).scaled(call.bits, call.fraction)
    }

    /// An expression of exactly this type, with a value as variables have them.
    fn exact(&mut self, ty: Ty) -> Vector {
        if ty.is_scalar() {
            let expr = self.scalar();
            let expr = match expr.ty == ty.scalar && !ty.scalar.is_float() {
                true => expr,
                false => self.converted(expr, ty.scalar),
            };
            let text = Text::of("({})", &[&expr.text]);
            return Vector::new(text, ty);
        }
        let vector = self.vector(ty);
        self.stored_vector(vector)
    }

    /// Arguments that may be evaluated more than once, or not at all, in C.
    fn evaluated_often(&mut self, ty: Ty, count: usize) -> Vec<Text> {
        self.purely(|g| (0..count).map(|_| g.exact(ty).text).collect())
    }

    /// `name(a, b)`, in C by components.
    fn map(&mut self, name: &str, ty: Ty, args: &[Text]) -> Text {
        let args = Text::join(args, ", ");
        let c = match ty.is_scalar() {
            true => format!("{name}_{}({})", ty.scalar, args.c),
            false => {
                let count = match args.c.is_empty() {
                    true => 0,
                    false => INTEGER
                        .iter()
                        .chain(FLOAT)
                        .find(|(known, _)| *known == name)
                        .map_or(2, |(_, count)| *count),
                };
                let (scalar, lanes) = (ty.scalar, ty.lanes);
                format!("MAP{count}({name}_{scalar}, {ty}, {lanes}, {})", args.c)
            }
        };
        Text::new(format!("{name}({})", args.cl), c)
    }

    /// `max(v, s)`: "gentype max(gentype x, sgentype y)"
    fn with_scalar(&mut self, ty: Ty, first: &Text) -> Vector {
        let scalar = self.exact(Ty::scalar(ty.scalar));
        let c = format!(
            "MAP2(max_{}, {ty}, {}, {}, SPLAT({ty}, {}, {}, {}))",
            ty.scalar, ty.lanes, first.c, ty.scalar, ty.lanes, scalar.text.c
        );
        Vector::new(
            Text::new(format!("max({}, {})", first.cl, scalar.text.cl), c),
            ty,
        )
    }

    fn float_builtin(&mut self, ty: Ty) -> Vector {
        let (name, count) = self.choices.one(FLOAT);
        let args: Vec<Text> = (0..count).map(|_| self.exact(ty).text).collect();
        let (bits, fraction) = ty.scalar.stored();
        let whole = matches!(name, "floor" | "ceil" | "trunc" | "rint");
        let text = self.map(name, ty, &args);
        let vector = Vector::new(text, ty);
        match whole {
            // A fraction may make one more of it.
            true => vector.scaled(bits - fraction + 1, 0),
            false => vector,
        }
    }

    /// `abs` and `abs_diff` have unsigned results.
    fn absolute(&mut self, ty: Ty) -> Vector {
        let signed = match self.choices.percent(70) {
            true => Ty::of(ty.scalar.with_sign(true), ty.lanes),
            false => ty,
        };
        let two = self.choices.percent(50);
        let (name, count) = if two { ("abs_diff", 2) } else { ("abs", 1) };
        let args: Vec<Text> = (0..count).map(|_| self.exact(signed).text).collect();
        let args = Text::join(&args, ", ");
        let c = match ty.is_scalar() {
            true => format!("{name}_{}({})", signed.scalar, args.c),
            false => format!(
                "MAPTO{count}({name}_{}, {ty}, {}, {})",
                signed.scalar, ty.lanes, args.c
            ),
        };
        Vector::new(Text::new(format!("{name}({})", args.cl), c), ty)
    }

    fn relation(&mut self, ty: Ty) -> Vector {
        let float = match ty.scalar {
            Scalar::Long if !ty.is_scalar() => Scalar::Double,
            Scalar::Short if !ty.is_scalar() => Scalar::Half,
            Scalar::Int => match ty.is_scalar() {
                true => self
                    .choices
                    .one(&[Scalar::Float, Scalar::Double, Scalar::Half]),
                false => Scalar::Float,
            },
            _ => return self.exact(ty),
        };
        let (name, count) = self.choices.one(RELATION);
        let of = Ty::of(float, ty.lanes);
        let args = self.evaluated_often(of, count);
        let args = Text::join(&args, ", ");
        let c = match ty.is_scalar() {
            true => format!("{name}({})", args.c),
            false => format!("RELATE{count}({name}, {ty}, {}, {})", ty.lanes, args.c),
        };
        let text = Text::new(format!("{name}({})", args.cl), c);
        Vector::new(text, ty).scaled(1, 0)
    }

    /// "result = c ? b : a" for scalars, by the most significant bit for vectors.
    fn select(&mut self, ty: Ty) -> Vector {
        let signed = self.choices.percent(50);
        let of = Ty::of(ty.scalar.with_sign(signed), ty.lanes);
        let (a, b, c) = self.purely(|g| (g.exact(ty), g.exact(ty), g.exact(of)));
        let integer = Ty::of(ty.scalar.with_sign(true), ty.lanes);
        let other = match ty.is_scalar() {
            true => format!("(({ty})(({}) ? ({}) : ({})))", c.text.c, b.text.c, a.text.c),
            false => format!(
                "SELECT({ty}, {integer}, ({integer}){}, {}, {})",
                c.text.c, b.text.c, a.text.c
            ),
        };
        let cl = format!("select({}, {}, {})", a.text.cl, b.text.cl, c.text.cl);
        Vector::new(Text::new(cl, other), ty)
    }

    /// `shuffle` and `shuffle2`: of the mask's elements only so many bits count.
    fn shuffle(&mut self, ty: Ty) -> Vector {
        if ty.is_scalar() || ty.lanes == 3 {
            return self.exact(ty);
        }
        let of = Ty::of(ty.scalar, self.choices.one(&[4, 2, 8, 16]));
        let mask = Ty::of(ty.scalar.with_sign(false), ty.lanes);
        let a = self.exact(of).text;
        let (lanes, from) = (ty.lanes, of.lanes);
        if self.choices.percent(50) {
            let b = self.exact(of).text;
            let mask = self.exact(mask).text;
            return Vector::new(
                Text::new(
                    format!("shuffle2({}, {}, {})", a.cl, b.cl, mask.cl),
                    format!(
                        "SHUFFLE({ty}, {lanes}, {from}, 2 * {from}, {}, {}, {})",
                        a.c, b.c, mask.c
                    ),
                ),
                ty,
            );
        }
        let mask = self.exact(mask).text;
        Vector::new(
            Text::new(
                format!("shuffle({}, {})", a.cl, mask.cl),
                format!(
                    "SHUFFLE({ty}, {lanes}, {from}, {from}, {}, {}, {})",
                    a.c, a.c, mask.c
                ),
            ),
            ty,
        )
    }

    /// `vload4(0, p)`
    fn load(&mut self, ty: Ty) -> Vector {
        if ty.is_scalar() {
            return self.exact(ty);
        }
        let wanted = Type::Pointer {
            space: self.pointer_space(),
            to: Box::new(Type::scalar(ty.scalar)),
            len: ty.lanes,
            writable: false,
        };
        let Some((pointer, _)) = self.pointer_value(&wanted, false) else {
            return self.exact(ty);
        };
        let name = self.temporary();
        let lanes: Vec<String> = (0..ty.lanes).map(|at| format!("{name}[{at}]")).collect();
        let text = Text::new(
            format!("vload{}(0, {})", ty.lanes, pointer.cl),
            format!(
                "({{ const {} *{name} = {}; ({ty}){{{}}}; }})",
                ty.scalar,
                pointer.c,
                lanes.join(", ")
            ),
        );
        Vector::new(text, ty)
    }

    /// `vstore4(v, 0, p);`
    pub fn store(&mut self) -> Option<Text> {
        let ty = Ty::of(self.choices.one(INTEGERS), self.choices.one(&[2, 3, 4]));
        let value = self.vector_value(ty);
        let spaces = [super::types::Space::Private, super::types::Space::Global];
        let wanted = Type::Pointer {
            space: self.choices.one(&spaces),
            to: Box::new(Type::scalar(ty.scalar)),
            len: ty.lanes,
            writable: true,
        };
        let (pointer, _) = self.pointer_value(&wanted, true)?;
        let (name, to) = (self.temporary(), self.temporary());
        let stores: String = (0..ty.lanes)
            .map(|at| format!(" {to}[{at}] = {name}[{at}];"))
            .collect();
        Some(Text::new(
            format!("vstore{}({}, 0, {});", ty.lanes, value.cl, pointer.cl),
            format!(
                "{{ {ty} {name} = {}; {} *{to} = {};{stores} }}",
                value.c, ty.scalar, pointer.c
            ),
        ))
    }
}
