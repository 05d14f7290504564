//! What machine code refers to by address. The address is known when the code is placed, not
//! before: code for the same function is the same in every process.

use std::fmt;
use std::str::FromStr;

use cranelift_codegen::ir::LibCall;
use cranelift_entity::{EntityRef, PrimaryMap};

use super::host;
use super::x64::preserve;
use crate::image::call::NO_IMAGE;
use crate::ir::{GlobalId, HostFunction};
use crate::target::Isa;

/// Something with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// The code itself, from its first byte on.
    Code,
    /// A function that is compiled together with the code, by its number; there is none in code
    /// that is linked.
    Function(u32),
    /// A module-scope object.
    Global(GlobalId),
    /// A function of this process.
    Host(HostFunction),
    /// The function that calls another and keeps registers (`x64/preserve.rs`), whose result is a
    /// floating-point number or not.
    Preserving { isa: Isa, returns_float: bool },
    /// What null pointers to images point to.
    NoImage,
    /// A function of Cranelift's that the C library has.
    Library(LibCall),
}

/// An address to be written into code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where its eight bytes are.
    pub offset: u32,
    pub symbol: Symbol,
    pub addend: i64,
}

impl Symbol {
    /// Its address in this process, but for those that placing the code gives one, and for what
    /// `globals`, the addresses of the module-scope objects, lacks.
    pub fn address(self, globals: &PrimaryMap<GlobalId, u64>) -> Option<u64> {
        match self {
            Symbol::Code | Symbol::Function(_) | Symbol::Library(_) => None,
            Symbol::Global(id) => globals.get(id).copied(),
            Symbol::Host(function) => Some(host::address(function) as u64),
            Symbol::NoImage => Some(&raw const NO_IMAGE as u64),
            Symbol::Preserving { isa, returns_float } => {
                Some(preserve::address(isa, returns_float))
            }
        }
    }
}

const CODE: &str = "code";
const NO_IMAGE_NAME: &str = "no_image";

/// What comes before the names of what is in this process.
const GLOBAL: &str = "global.";
const HOST: &str = "host.";
const PRESERVING: &str = "preserving.";
const LIBRARY: &str = "library.";

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Code => f.write_str(CODE),
            Symbol::NoImage => f.write_str(NO_IMAGE_NAME),
            Symbol::Function(number) => write!(f, "function.{number}"),
            Symbol::Global(id) => write!(f, "{GLOBAL}{}", id.index()),
            Symbol::Host(function) => write!(f, "{HOST}{}", function.name()),
            Symbol::Preserving { isa, returns_float } => {
                let result = if *returns_float { "float" } else { "integer" };
                write!(f, "{PRESERVING}{} {result}", isa.name())
            }
            Symbol::Library(call) => write!(f, "{LIBRARY}{call}"),
        }
    }
}

/// The reverse of [`Symbol`]'s `Display`, for what linked code has.
impl FromStr for Symbol {
    type Err = ();

    fn from_str(name: &str) -> Result<Symbol, ()> {
        match name {
            CODE => return Ok(Symbol::Code),
            NO_IMAGE_NAME => return Ok(Symbol::NoImage),
            _ => {}
        }
        if let Some(number) = name.strip_prefix(GLOBAL) {
            let number: u32 = number.parse().map_err(|_| ())?;
            return Ok(Symbol::Global(GlobalId::from_u32(number)));
        }
        if let Some(function) = name.strip_prefix(HOST) {
            let words: Vec<&str> = function.split('.').collect();
            return HostFunction::from_name(&words).map(Symbol::Host).ok_or(());
        }
        if let Some(function) = name.strip_prefix(PRESERVING) {
            let (isa, result) = function.split_once(' ').ok_or(())?;
            let isa = Isa::from_name(isa);
            let returns_float = match result {
                "float" => true,
                "integer" => false,
                _ => return Err(()),
            };
            let isa = isa.ok_or(())?;
            return Ok(Symbol::Preserving { isa, returns_float });
        }
        let call = name.strip_prefix(LIBRARY).ok_or(())?;
        call.parse().map(Symbol::Library).map_err(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use brolga_mathlib::Format;

    use super::*;

    #[test]
    fn names_are_read_back() {
        let mut symbols = vec![
            Symbol::Code,
            Symbol::NoImage,
            Symbol::Global(GlobalId::from_u32(7)),
            Symbol::Host(HostFunction::MemMove),
            Symbol::Host(HostFunction::FRem(Format::F64)),
            Symbol::Library(LibCall::FmaF64),
        ];
        for &isa in Isa::ALL {
            symbols.extend(
                [false, true].map(|returns_float| Symbol::Preserving { isa, returns_float }),
            );
        }
        for symbol in symbols {
            assert_eq!(symbol.to_string().parse(), Ok(symbol), "{symbol}");
        }
        let names = [
            "",
            "global.",
            "global.-1",
            "host.x",
            "preserving.avx2",
            "function.1",
        ];
        for name in names {
            assert_eq!(name.parse::<Symbol>(), Err(()), "{name}");
        }
    }
}
