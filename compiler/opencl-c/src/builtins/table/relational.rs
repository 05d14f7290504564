//! OpenCL C Specification, "Relational Functions".

use super::{Group, Lowering, Over, Row, group, row};
use crate::spirv::{op, std};

const F: Over = Over::F;
const A: Over = Over::A;

const fn two(name: &'static str, opcode: u16) -> Row {
    row(name, F, "R T T", Lowering::Test(opcode))
}

const fn one(name: &'static str, opcode: u16) -> Row {
    row(name, F, "R T", Lowering::Test(opcode))
}

const ROWS: &[Row] = &[
    two("isequal", op::F_ORD_EQUAL),
    two("isnotequal", op::F_UNORD_NOT_EQUAL),
    two("isgreater", op::F_ORD_GREATER_THAN),
    two("isgreaterequal", op::F_ORD_GREATER_THAN_EQUAL),
    two("isless", op::F_ORD_LESS_THAN),
    two("islessequal", op::F_ORD_LESS_THAN_EQUAL),
    two("islessgreater", op::F_ORD_NOT_EQUAL),
    two("isordered", op::ORDERED),
    two("isunordered", op::UNORDERED),
    one("isfinite", op::IS_FINITE),
    one("isinf", op::IS_INF),
    one("isnan", op::IS_NAN),
    one("isnormal", op::IS_NORMAL),
    one("signbit", op::SIGN_BIT_SET),
    row("any", SIGNED, "int T", Lowering::Any),
    row("all", SIGNED, "int T", Lowering::All),
    row("bitselect", A, "T T T T", Lowering::Std(std::bitselect)),
    row("select", A, "T T T K", Lowering::Std(std::select)),
    row("select", A, "T T T N", Lowering::Std(std::select)),
];

const SIGNED: Over = {
    use crate::types::Scalar::{Char, Int, Long, Short};
    super::over(&[Char, Short, Int, Long])
};

pub const GROUPS: &[Group] = &[group("", ROWS)];
