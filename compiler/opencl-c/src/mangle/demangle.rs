//! Reads linked names of functions.
//!
//! Types are those that built-in functions have: nothing that a program declares, no arrays, no
//! blocks. Names come with modules from anywhere, so whatever is not such a name is `None`.

use super::Component;
use crate::ast::Access;
use crate::types::{ImageDim, QualType, Scalar, Space, Type, TypeId, TypeQuals, Types};

/// Pointers nest no deeper.
const MAX_DEPTH: u32 = 8;

/// A function's name as its source has it, and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demangled<'a> {
    pub name: &'a str,
    pub params: Vec<TypeId>,
}

/// Takes a linked name apart.
pub fn demangle<'a>(linked: &'a str, types: &mut Types) -> Option<Demangled<'a>> {
    let mut demangler = Demangler {
        types,
        rest: linked.strip_prefix("_Z")?,
        seen: Vec::new(),
        depth: 0,
    };
    let name = demangler.source_name()?;
    let mut params = Vec::new();
    if demangler.rest != "v" {
        params.push(demangler.unqualified()?);
        while !demangler.rest.is_empty() {
            params.push(demangler.unqualified()?);
        }
    }
    Some(Demangled { name, params })
}

struct Demangler<'a, 't> {
    types: &'t mut Types,
    rest: &'a str,
    /// What a substitution may name.
    seen: Vec<Component>,
    depth: u32,
}

impl<'a> Demangler<'a, '_> {
    fn eat(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn number(&mut self) -> Option<usize> {
        let digits = self.rest.len()
            - self
                .rest
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse().ok()
    }

    fn source_name(&mut self) -> Option<&'a str> {
        let length = self.number().filter(|&length| length > 0)?;
        let (name, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(name)
    }

    /// What stands behind `S`: nothing for the first component, else a number of base 36 less one.
    fn substitution(&mut self) -> Option<Component> {
        let (digits, rest) = self.rest.split_once('_')?;
        self.rest = rest;
        let is_digit = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
        let number = match digits {
            "" => 0,
            _ if digits.len() <= 3 && digits.chars().all(is_digit) => {
                usize::from_str_radix(digits, 36).ok()? + 1
            }
            _ => return None,
        };
        self.seen.get(number).copied()
    }

    /// A type without qualifiers.
    fn unqualified(&mut self) -> Option<TypeId> {
        if self.eat("S") {
            let component = self.substitution()?;
            return component.space.is_none().then_some(component.ty);
        }
        if let Some(scalar) = self.scalar() {
            return Some(self.types.scalar(scalar));
        }
        let ty = if self.eat("v") {
            return Some(Types::VOID);
        } else if self.eat("Dv") {
            let lanes = self.number()?;
            if !matches!(lanes, 2 | 3 | 4 | 8 | 16) || !self.eat("_") {
                return None;
            }
            let scalar = self.scalar()?;
            self.types.vector(scalar, lanes as u8)
        } else if self.eat("P") {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return None;
            }
            let (pointee, space) = self.pointee()?;
            self.depth -= 1;
            self.types.pointer(pointee, space)
        } else if self.eat("U7_Atomic") {
            let inner = self.scalar()?;
            let inner = self.types.scalar(inner);
            self.types.intern(Type::Atomic(inner))
        } else {
            let name = self.source_name()?;
            self.named(name)?
        };
        self.seen.push(Component {
            ty,
            quals: TypeQuals::default(),
            space: None,
        });
        Some(ty)
    }

    /// What a pointer points to, and where.
    fn pointee(&mut self) -> Option<(QualType, Space)> {
        let whole = self.rest;
        let space = match () {
            () if self.eat("U3AS1") => Space::Global,
            () if self.eat("U3AS2") => Space::Constant,
            () if self.eat("U3AS3") => Space::Local,
            () if self.eat("U3AS4") => Space::Generic,
            () => Space::Private,
        };
        let quals = TypeQuals {
            is_restrict: self.eat("r"),
            is_volatile: self.eat("V"),
            is_const: self.eat("K"),
            ..TypeQuals::default()
        };
        // A substitution may be of the type with its qualifiers, or of the type alone.
        if self.rest == whole && self.eat("S") {
            let component = self.substitution()?;
            let ty = component.ty;
            if let Some(space) = component.space {
                let quals = component.quals;
                return Some((QualType { ty, quals }, space));
            }
            self.rest = whole;
        }
        let ty = self.unqualified()?;
        self.seen.push(Component {
            ty,
            quals,
            space: Some(space),
        });
        Some((QualType { ty, quals }, space))
    }

    fn scalar(&mut self) -> Option<Scalar> {
        let (scalar, letters) = match self.rest.as_bytes() {
            [b'D', b'h', ..] => (Scalar::Half, 2),
            &[letter, ..] => (named_by(letter)?, 1),
            [] => return None,
        };
        self.rest = &self.rest[letters..];
        Some(scalar)
    }

    /// A type of OpenCL C by the name that it is linked by.
    fn named(&mut self, name: &str) -> Option<TypeId> {
        Some(match name {
            "memory_order" | "memory_scope" => Types::INT,
            "ocl_sampler" => Types::SAMPLER,
            "ocl_event" => Types::EVENT,
            "ocl_clkevent" => Types::CLK_EVENT,
            "ocl_queue" => Types::QUEUE,
            "ocl_reserveid" => Types::RESERVE_ID,
            "ndrange_t" => Types::ND_RANGE,
            _ => {
                let (name, access) = name.strip_prefix("ocl_")?.rsplit_once('_')?;
                let access = match access {
                    "ro" => Access::ReadOnly,
                    "wo" => Access::WriteOnly,
                    "rw" => Access::ReadWrite,
                    _ => return None,
                };
                let dim = ImageDim::parse(&format!("{name}_t"))?;
                self.types.intern(Type::Image { dim, access })
            }
        })
    }
}

/// `signed char` is the same type as `char`.
fn named_by(letter: u8) -> Option<Scalar> {
    Some(match letter {
        b'b' => Scalar::Bool,
        b'c' | b'a' => Scalar::Char,
        b'h' => Scalar::UChar,
        b's' => Scalar::Short,
        b't' => Scalar::UShort,
        b'i' => Scalar::Int,
        b'j' => Scalar::UInt,
        b'l' => Scalar::Long,
        b'm' => Scalar::ULong,
        b'x' => Scalar::LongLong,
        b'y' => Scalar::ULongLong,
        b'f' => Scalar::Float,
        b'd' => Scalar::Double,
        _ => return None,
    })
}
