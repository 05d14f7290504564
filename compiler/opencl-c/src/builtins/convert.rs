//! The families `convert_...` and `as_...`, whose names say everything.

use super::lowering::Lowering;
use crate::token::RoundingMode;
use crate::types::Scalar;

/// A function that makes one type of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub scalar: Scalar,
    pub lanes: u8,
    pub lowering: Lowering,
}

/// OpenCL C Specification, "Explicit Conversions", "Reinterpreting Types Using as_type() and
/// as_typen()".
pub(super) fn parse(name: &str) -> Option<Pattern> {
    if let Some(ty) = name.strip_prefix("as_") {
        let (scalar, lanes) = vector_named(ty)?;
        return Some(Pattern {
            scalar,
            lanes,
            lowering: Lowering::Reinterpret,
        });
    }
    let mut words = name.strip_prefix("convert_")?.split('_');
    let (scalar, lanes) = vector_named(words.next()?)?;
    let (mut saturate, mut rounding) = (false, None);
    for word in words {
        match word {
            "sat" if !saturate && rounding.is_none() && !scalar.is_float() => saturate = true,
            _ if rounding.is_some() => return None,
            "rte" => rounding = Some(RoundingMode::ToEven),
            "rtz" => rounding = Some(RoundingMode::ToZero),
            "rtp" => rounding = Some(RoundingMode::ToPositive),
            "rtn" => rounding = Some(RoundingMode::ToNegative),
            _ => return None,
        }
    }
    Some(Pattern {
        scalar,
        lanes,
        lowering: Lowering::Convert { rounding, saturate },
    })
}

fn vector_named(name: &str) -> Option<(Scalar, u8)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes = match &name[stem.len()..] {
        "" => 1,
        "2" => 2,
        "3" => 3,
        "4" => 4,
        "8" => 8,
        "16" => 16,
        _ => return None,
    };
    let stem = match stem {
        "size_t" | "uintptr_t" => "ulong",
        "ptrdiff_t" | "intptr_t" => "long",
        stem => stem,
    };
    let scalar = Scalar::named(stem).filter(|&scalar| scalar != Scalar::Bool)?;
    Some((scalar, lanes))
}
