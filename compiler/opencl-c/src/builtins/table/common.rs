//! OpenCL C Specification, "Common Functions", "Geometric Functions".

use super::{Group, Lowering, Over, Row, group, row, same_in_std};
use crate::spirv::std;

const F: Over = Over::F;
const V: Over = Over::F.vector();
/// Points and directions.
const G: Over = Over::F.in_lanes(&[1, 2, 3, 4]);

const COMMON: &[Row] = &[
    row("clamp", F, "T T T T", Lowering::Std(std::fclamp)),
    row("clamp", V, "T T S S", Lowering::Std(std::fclamp)),
    row("max", F, "T T T", Lowering::Std(std::fmax_common)),
    row("max", V, "T T S", Lowering::Std(std::fmax_common)),
    row("min", F, "T T T", Lowering::Std(std::fmin_common)),
    row("min", V, "T T S", Lowering::Std(std::fmin_common)),
    row("mix", V, "T T T S", Lowering::Std(std::mix)),
    row("step", V, "T S T", Lowering::Std(std::step)),
    row("smoothstep", V, "T S S T", Lowering::Std(std::smoothstep)),
];

const UNARY: &[Row] = same_in_std!(F, "T T", degrees radians sign);
const BINARY: &[Row] = same_in_std!(F, "T T T", step);
const TERNARY: &[Row] = same_in_std!(F, "T T T T", mix smoothstep);

const GEOMETRIC: &[Row] = &[
    row(
        "cross",
        F.in_lanes(&[3, 4]),
        "T T T",
        Lowering::Std(std::cross),
    ),
    row("dot", G, "S T T", Lowering::Dot),
    row("distance", G, "S T T", Lowering::Std(std::distance)),
    row("length", G, "S T", Lowering::Std(std::length)),
    row("normalize", G, "T T", Lowering::Std(std::normalize)),
];

/// Those that are of `float` only.
const FAST: &[Row] = &[
    row(
        "fast_distance",
        FLOATS,
        "S T T",
        Lowering::Std(std::fast_distance),
    ),
    row(
        "fast_length",
        FLOATS,
        "S T",
        Lowering::Std(std::fast_length),
    ),
    row(
        "fast_normalize",
        FLOATS,
        "T T",
        Lowering::Std(std::fast_normalize),
    ),
];
const FLOATS: Over = Over::FLOAT.in_lanes(&[1, 2, 3, 4]);

pub const GROUPS: &[Group] = &[
    group("", COMMON),
    group("", UNARY),
    group("", BINARY),
    group("", TERNARY),
    group("", GEOMETRIC),
    group("", FAST),
];
