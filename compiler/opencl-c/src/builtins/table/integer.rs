//! OpenCL C Specification, "Integer Functions", "Extended Bit Operations", "Integer Dot Product".

use super::super::lowering::Signs;
use super::{Group, Lowering, Over, Row, group, row};
use crate::spirv::std;

const I: Over = Over::I;

const fn by_sign(
    name: &'static str,
    over: Over,
    signature: &'static str,
    signed: u16,
    unsigned: u16,
) -> Row {
    row(name, over, signature, Lowering::StdInt(signed, unsigned))
}

const ROWS: &[Row] = &[
    by_sign("abs", I, "N T", std::s_abs, std::u_abs),
    by_sign("abs_diff", I, "N T T", std::s_abs_diff, std::u_abs_diff),
    by_sign("add_sat", I, "T T T", std::s_add_sat, std::u_add_sat),
    by_sign("hadd", I, "T T T", std::s_hadd, std::u_hadd),
    by_sign("rhadd", I, "T T T", std::s_rhadd, std::u_rhadd),
    by_sign("clamp", I, "T T T T", std::s_clamp, std::u_clamp),
    by_sign("clamp", I.vector(), "T T S S", std::s_clamp, std::u_clamp),
    row("clz", I, "T T", Lowering::Std(std::clz)),
    by_sign("mad_hi", I, "T T T T", std::s_mad_hi, std::u_mad_hi),
    by_sign("mad_sat", I, "T T T T", std::s_mad_sat, std::u_mad_sat),
    by_sign("max", I, "T T T", std::s_max, std::u_max),
    by_sign("max", I.vector(), "T T S", std::s_max, std::u_max),
    by_sign("min", I, "T T T", std::s_min, std::u_min),
    by_sign("min", I.vector(), "T T S", std::s_min, std::u_min),
    by_sign("mul_hi", I, "T T T", std::s_mul_hi, std::u_mul_hi),
    row("rotate", I, "T T T", Lowering::Std(std::rotate)),
    by_sign("sub_sat", I, "T T T", std::s_sub_sat, std::u_sub_sat),
    by_sign(
        "upsample",
        NARROW,
        "W T N",
        std::s_upsample,
        std::u_upsample,
    ),
    by_sign("mad24", Over::INT, "T T T T", std::s_mad24, std::u_mad24),
    by_sign("mul24", Over::INT, "T T T", std::s_mul24, std::u_mul24),
];

/// Integers that there is one of twice the width of.
const NARROW: Over = {
    use crate::types::Scalar::{Char, Int, Short, UChar, UInt, UShort};
    super::over(&[Char, UChar, Short, UShort, Int, UInt])
};

const POPCOUNT: &[Row] = &[row("popcount", I, "T T", Lowering::Std(std::popcount))];

const CTZ: &[Row] = &[row("ctz", I, "T T", Lowering::Std(std::ctz))];

const BITS: &[Row] = &[
    row(
        "bitfield_insert",
        I,
        "T T T uint uint",
        Lowering::BitFieldInsert,
    ),
    row(
        "bitfield_extract_signed",
        I,
        "K T uint uint",
        Lowering::BitFieldExtract { signed: true },
    ),
    row(
        "bitfield_extract_unsigned",
        I,
        "N T uint uint",
        Lowering::BitFieldExtract { signed: false },
    ),
    row("bit_reverse", I, "T T", Lowering::BitReverse),
];

const fn dot(name: &'static str, signature: &'static str, kind: Signs, packed: bool) -> Row {
    let lowering = Lowering::IntDot {
        kind,
        packed,
        accumulate: false,
    };
    row(name, Over::ONE, signature, lowering)
}

const fn dot_acc(name: &'static str, signature: &'static str, kind: Signs, packed: bool) -> Row {
    let lowering = Lowering::IntDot {
        kind,
        packed,
        accumulate: true,
    };
    row(name, Over::ONE, signature, lowering)
}

const DOT: &[Row] = &[
    dot("dot", "uint uchar4 uchar4", Signs::Unsigned, false),
    dot("dot", "int char4 char4", Signs::Signed, false),
    dot("dot", "int uchar4 char4", Signs::UnsignedSigned, false),
    dot("dot", "int char4 uchar4", Signs::SignedUnsigned, false),
    dot_acc(
        "dot_acc_sat",
        "uint uchar4 uchar4 uint",
        Signs::Unsigned,
        false,
    ),
    dot_acc("dot_acc_sat", "int char4 char4 int", Signs::Signed, false),
    dot_acc(
        "dot_acc_sat",
        "int uchar4 char4 int",
        Signs::UnsignedSigned,
        false,
    ),
    dot_acc(
        "dot_acc_sat",
        "int char4 uchar4 int",
        Signs::SignedUnsigned,
        false,
    ),
];

const DOT_PACKED: &[Row] = &[
    dot(
        "dot_4x8packed_uu_uint",
        "uint uint uint",
        Signs::Unsigned,
        true,
    ),
    dot("dot_4x8packed_ss_int", "int uint uint", Signs::Signed, true),
    dot(
        "dot_4x8packed_us_int",
        "int uint uint",
        Signs::UnsignedSigned,
        true,
    ),
    dot(
        "dot_4x8packed_su_int",
        "int uint uint",
        Signs::SignedUnsigned,
        true,
    ),
    dot_acc(
        "dot_acc_sat_4x8packed_uu_uint",
        "uint uint uint uint",
        Signs::Unsigned,
        true,
    ),
    dot_acc(
        "dot_acc_sat_4x8packed_ss_int",
        "int uint uint int",
        Signs::Signed,
        true,
    ),
    dot_acc(
        "dot_acc_sat_4x8packed_us_int",
        "int uint uint int",
        Signs::UnsignedSigned,
        true,
    ),
    dot_acc(
        "dot_acc_sat_4x8packed_su_int",
        "int uint uint int",
        Signs::SignedUnsigned,
        true,
    ),
];

pub const GROUPS: &[Group] = &[
    group("", ROWS),
    group("1.2", POPCOUNT),
    group("2.0", CTZ),
    group("3.1|cl_khr_extended_bit_ops", BITS),
    group("__opencl_c_integer_dot_product_input_4x8bit", DOT),
    group(
        "__opencl_c_integer_dot_product_input_4x8bit_packed",
        DOT_PACKED,
    ),
];
