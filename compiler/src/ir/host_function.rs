//! The functions of this process that generated code calls.
//!
//! Operands and results have one lane and 32 or 64 bits, so that no calling convention has a say in
//! how narrower ones are extended; there are no more than registers take. Where a function is, only
//! `codegen` knows.

use brolga_mathlib::{Format, Routine, Target};

use super::{Arith, Rounding, Scalar};

/// A function with the C ABI of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostFunction {
    /// A routine of `brolga-mathlib`.
    Routine(Routine, Format),
    /// C `fmodf` or `fmod`.
    FRem(Format),
    /// [`super::BinOp::FScale`].
    FScale(Format),
    /// `code, double, double, double -> double`: arithmetic in a direction. The code is
    /// [`HostFunction::rounded_code`]; operands that the operation does not have are ignored.
    Rounded,
    /// `i32, i32 -> i32`: the sum of two halves, as bits without sign extension. These three are
    /// what atomics in half precision store.
    AddHalves,
    MinHalves,
    MaxHalves,
    /// `-> i64`: nanoseconds, as [`super::Op::Clock`] gives them.
    Clock,
    /// `to, from, i64`: C `memmove`.
    MemMove,
    /// `image, how, x, y, z, to`: see `image/call.rs`.
    ReadTexel,
    /// `image, how, x, y, z, from`
    WriteTexel,
}

use HostFunction::*;
use Scalar::{F32, F64, I32, I64, Ptr};

impl HostFunction {
    /// Those that do not belong to a family.
    const SINGLE: [(HostFunction, &'static str); 8] = [
        (Rounded, "rounded"),
        (AddHalves, "add_halves"),
        (MinHalves, "min_halves"),
        (MaxHalves, "max_halves"),
        (Clock, "clock"),
        (MemMove, "memmove"),
        (ReadTexel, "read_texel"),
        (WriteTexel, "write_texel"),
    ];

    /// The types of the operands, and that of the result if there is one.
    pub fn signature(self) -> (&'static [Scalar], Option<Scalar>) {
        match self {
            Routine(routine, format) => match routine.target(format) {
                Target::F32ToF32(_) => (&[F32], Some(F32)),
                Target::F32F32ToF32(_) => (&[F32, F32], Some(F32)),
                Target::F32F32F32ToF32(_) => (&[F32, F32, F32], Some(F32)),
                Target::F32F32ToI32(_) => (&[F32, F32], Some(I32)),
                Target::F64ToF64(_) => (&[F64], Some(F64)),
                Target::F64F64ToF64(_) => (&[F64, F64], Some(F64)),
                Target::F64F64F64ToF64(_) => (&[F64, F64, F64], Some(F64)),
                Target::F64F64ToI64(_) => (&[F64, F64], Some(I64)),
            },
            FRem(Format::F32) | FScale(Format::F32) => (&[F32, F32], Some(F32)),
            FRem(Format::F64) | FScale(Format::F64) => (&[F64, F64], Some(F64)),
            Rounded => (&[I64, F64, F64, F64], Some(F64)),
            AddHalves | MinHalves | MaxHalves => (&[I32, I32], Some(I32)),
            Clock => (&[], Some(I64)),
            MemMove => (&[Ptr, Ptr, I64], None),
            ReadTexel | WriteTexel => (&[Ptr, I64, I32, I32, I32, Ptr], None),
        }
    }

    /// Whether it only computes its result from its operands.
    pub fn is_pure(self) -> bool {
        match self {
            Routine(..) | FRem(_) | FScale(_) | Rounded | AddHalves | MinHalves | MaxHalves => true,
            // Later is another time.
            Clock | MemMove | ReadTexel | WriteTexel => false,
        }
    }

    /// The first operand of [`HostFunction::Rounded`].
    pub fn rounded_code(op: Arith, rounding: Rounding) -> u64 {
        op as u64 | (rounding as u64) << 8
    }

    /// The reverse of [`HostFunction::rounded_code`].
    pub fn decode_rounded(code: u64) -> (Arith, Rounding) {
        (
            Arith::ALL[code as usize & 0xff],
            Rounding::ALL[(code >> 8) as usize & 0xff],
        )
    }

    /// The name in the text form.
    pub fn name(self) -> String {
        match self {
            Routine(routine, format) => format!("routine.{routine:?}.{format:?}"),
            FRem(format) => format!("frem.{format:?}"),
            FScale(format) => format!("fscale.{format:?}"),
            _ => {
                let single = HostFunction::SINGLE.iter().find(|&&(f, _)| f == self);
                single.map_or_else(String::new, |&(_, name)| name.to_owned())
            }
        }
    }

    /// The function with this name in the text form, in words.
    pub fn from_name(words: &[&str]) -> Option<HostFunction> {
        Some(match words {
            ["routine", routine, format] => {
                let mut all = brolga_mathlib::Routine::ALL.into_iter();
                let routine = all.find(|r| format!("{r:?}") == *routine)?;
                Routine(routine, format_from_name(format)?)
            }
            ["frem", format] => FRem(format_from_name(format)?),
            ["fscale", format] => FScale(format_from_name(format)?),
            [word] => {
                HostFunction::SINGLE
                    .iter()
                    .find(|(_, name)| name == word)?
                    .0
            }
            _ => return None,
        })
    }
}

/// The format with this name in the text form.
pub fn format_from_name(name: &str) -> Option<Format> {
    match name {
        "F32" => Some(Format::F32),
        "F64" => Some(Format::F64),
        _ => None,
    }
}
