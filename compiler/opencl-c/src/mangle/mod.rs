//! Names of overloadable functions as clang links them, so that modules of both go together: this
//! file writes them, `demangle.rs` reads those that have types of OpenCL C's own.
//!
//! Itanium C++ ABI, "External Names (a.k.a. Mangling)", of a function at file scope: `_Z`, the
//! name with its length, the parameters' types. Address spaces are vendor qualifiers by their
//! number (`U3AS1`). A type that was written before is a substitution (`S_`, `S0_`, ...); private
//! memory is a qualifier that is written as nothing, but counts among these.

mod demangle;
#[cfg(test)]
mod tests;

pub use demangle::{Demangled, demangle};

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::ast::Access;
use crate::symbol::{Interner, Symbol};
use crate::types::{Scalar, Space, Type, TypeId, TypeQuals, Types};

/// The linked name of a function.
pub fn mangle(name: &str, params: &[TypeId], types: &Types, interner: &Interner) -> String {
    let mut mangler = Mangler {
        types,
        interner,
        out: format!("_Z{}{name}", name.len()),
        seen: FxHashMap::default(),
    };
    if params.is_empty() {
        mangler.out.push('v');
    }
    for &param in params {
        mangler.unqualified(param);
    }
    mangler.out
}

/// A type that may be written again: with qualifiers behind a pointer, without elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Component {
    ty: TypeId,
    quals: TypeQuals,
    space: Option<Space>,
}

struct Mangler<'a> {
    types: &'a Types,
    interner: &'a Interner,
    out: String,
    /// With their numbers.
    seen: FxHashMap<Component, usize>,
}

impl Mangler<'_> {
    /// Writes the component's number if it was written before.
    fn substitute(&mut self, component: Component) -> bool {
        let Some(&at) = self.seen.get(&component) else {
            return false;
        };
        self.out.push('S');
        if at > 0 {
            let mut digits = Vec::new();
            let mut rest = at - 1;
            loop {
                let digit = (rest % 36) as u32;
                digits.push(char::from_digit(digit, 36).expect("a digit of base 36"));
                rest /= 36;
                if rest == 0 {
                    break;
                }
            }
            let digits = digits.iter().rev().map(char::to_ascii_uppercase);
            self.out.extend(digits);
        }
        self.out.push('_');
        true
    }

    /// The component may be written by its number from here on.
    fn know(&mut self, component: Component) {
        let number = self.seen.len();
        self.seen.entry(component).or_insert(number);
    }

    /// What a pointer into `space` points to.
    fn pointee(&mut self, ty: TypeId, quals: TypeQuals, space: Space) {
        let component = Component {
            ty,
            quals,
            space: Some(space),
        };
        if self.substitute(component) {
            return;
        }
        if let Type::Array { element, len } = *self.types.get(ty) {
            // Its elements are qualified.
            let len = len.map_or(String::new(), |len| len.to_string());
            let _ = write!(self.out, "A{len}_");
            let quals = TypeQuals {
                is_const: quals.is_const || element.quals.is_const,
                is_volatile: quals.is_volatile || element.quals.is_volatile,
                ..quals
            };
            self.pointee(element.ty, quals, space);
        } else {
            self.out.push_str(match space {
                Space::Private => "",
                Space::Global => "U3AS1",
                Space::Constant => "U3AS2",
                Space::Local => "U3AS3",
                Space::Generic => "U3AS4",
            });
            for (set, letter) in [
                (quals.is_restrict, 'r'),
                (quals.is_volatile, 'V'),
                (quals.is_const, 'K'),
            ] {
                if set {
                    self.out.push(letter);
                }
            }
            self.unqualified(ty);
        }
        self.know(component);
    }

    fn unqualified(&mut self, ty: TypeId) {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.unqualified_type(ty));
    }

    fn unqualified_type(&mut self, ty: TypeId) {
        let component = Component {
            ty,
            quals: TypeQuals::default(),
            space: None,
        };
        if self.substitute(component) {
            return;
        }
        match *self.types.get(ty) {
            Type::Void | Type::Truth(_) | Type::Error => return self.out.push('v'),
            Type::Scalar(scalar) => return self.out.push_str(letter(scalar)),
            Type::Vector(scalar, lanes) => {
                let _ = write!(self.out, "Dv{lanes}_{}", letter(scalar));
            }
            Type::Pointer { pointee, space } => {
                self.out.push('P');
                self.pointee(pointee.ty, pointee.quals, space);
            }
            Type::Atomic(inner) => {
                self.out.push_str("U7_Atomic");
                self.unqualified(inner);
            }
            Type::Record(id) => {
                let record = &self.types.records[id.0 as usize];
                self.tagged(record.tag.or(record.typedef_name));
            }
            Type::Enum(id) => {
                let of = &self.types.enums[id.0 as usize];
                self.tagged(of.tag.or(of.typedef_name));
            }
            Type::Image { dim, access } => {
                let name = dim.name().trim_end_matches("_t");
                let access = match access {
                    Access::ReadOnly => "ro",
                    Access::WriteOnly => "wo",
                    Access::ReadWrite => "rw",
                };
                self.source_name(&format!("ocl_{name}_{access}"));
            }
            Type::Pipe { .. } => self.source_name("ocl_pipe"),
            Type::Sampler => self.source_name("ocl_sampler"),
            Type::Event => self.source_name("ocl_event"),
            Type::ClkEvent => self.source_name("ocl_clkevent"),
            Type::Queue => self.source_name("ocl_queue"),
            Type::ReserveId => self.source_name("ocl_reserveid"),
            Type::NdRange => self.source_name("ndrange_t"),
            Type::Opaque(_) => self.source_name("named_barrier_t"),
            // No parameter has such a type without an error.
            Type::Array { .. } | Type::Function(_) | Type::Block(_) => self.out.push('v'),
        }
        self.know(component);
    }

    fn tagged(&mut self, name: Option<Symbol>) {
        match name {
            Some(name) => {
                let name = self.interner.text(name);
                self.source_name(name);
            }
            None => self.out.push_str("Ut_"),
        }
    }

    fn source_name(&mut self, name: &str) {
        let _ = write!(self.out, "{}{name}", name.len());
    }
}

fn letter(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "b",
        Scalar::Char => "c",
        Scalar::UChar => "h",
        Scalar::Short => "s",
        Scalar::UShort => "t",
        Scalar::Int => "i",
        Scalar::UInt => "j",
        Scalar::Long => "l",
        Scalar::ULong => "m",
        Scalar::LongLong => "x",
        Scalar::ULongLong => "y",
        Scalar::Half => "Dh",
        Scalar::Float => "f",
        Scalar::Double => "d",
    }
}
