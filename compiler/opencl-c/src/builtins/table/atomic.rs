//! OpenCL C Specification, "Atomic Functions", "Legacy Atomic Functions"; `cl_ext_float_atomics`.

use super::super::lowering::{Atomic, AtomicOp, Generation};
use super::{Group, Lowering, Over, Row, group, row};
use crate::types::Scalar::{Double, Float, Half, Int, Long, UInt, ULong};

const WORDS: Over = super::over(&[Int, UInt]).scalar();
const LONGS: Over = super::over(&[Long, ULong]).scalar();
const INTEGERS: Over = super::over(&[Int, UInt, Long, ULong]).scalar();
const NUMBERS: Over = super::over(&[Int, UInt, Long, ULong, Float, Double]).scalar();

const fn atomic(what: AtomicOp, generation: Generation) -> Lowering {
    Lowering::Atomic(Atomic { what, generation })
}

const fn old(name: &'static str, over: Over, signature: &'static str, what: AtomicOp) -> Row {
    row(name, over, signature, atomic(what, Generation::Relaxed))
}

const ATOM_BASE: &[Row] = &atom_base(WORDS);
const ATOM_EXTENDED: &[Row] = &atom_extended(WORDS);
const ATOM_LONG_BASE: &[Row] = &atom_base(LONGS);
const ATOM_LONG_EXTENDED: &[Row] = &atom_extended(LONGS);

const fn atom_base(over: Over) -> [Row; 6] {
    [
        old("atom_add", over, "S Av*S S", AtomicOp::Add),
        old("atom_sub", over, "S Av*S S", AtomicOp::Sub),
        old("atom_xchg", over, "S Av*S S", AtomicOp::Exchange),
        old("atom_inc", over, "S Av*S", AtomicOp::Inc),
        old("atom_dec", over, "S Av*S", AtomicOp::Dec),
        old(
            "atom_cmpxchg",
            over,
            "S Av*S S S",
            AtomicOp::CompareExchange,
        ),
    ]
}

const fn atom_extended(over: Over) -> [Row; 5] {
    [
        old("atom_min", over, "S Av*S S", AtomicOp::Min),
        old("atom_max", over, "S Av*S S", AtomicOp::Max),
        old("atom_and", over, "S Av*S S", AtomicOp::And),
        old("atom_or", over, "S Av*S S", AtomicOp::Or),
        old("atom_xor", over, "S Av*S S", AtomicOp::Xor),
    ]
}

const FLOAT: Over = super::over(&[Float]).scalar();

const ATOMIC: &[Row] = &[
    old("atomic_add", WORDS, "S Av*S S", AtomicOp::Add),
    old("atomic_sub", WORDS, "S Av*S S", AtomicOp::Sub),
    old("atomic_xchg", WORDS, "S Av*S S", AtomicOp::Exchange),
    old("atomic_xchg", FLOAT, "S Av*S S", AtomicOp::Exchange),
    old("atomic_inc", WORDS, "S Av*S", AtomicOp::Inc),
    old("atomic_dec", WORDS, "S Av*S", AtomicOp::Dec),
    old(
        "atomic_cmpxchg",
        WORDS,
        "S Av*S S S",
        AtomicOp::CompareExchange,
    ),
    old("atomic_min", WORDS, "S Av*S S", AtomicOp::Min),
    old("atomic_max", WORDS, "S Av*S S", AtomicOp::Max),
    old("atomic_and", WORDS, "S Av*S S", AtomicOp::And),
    old("atomic_or", WORDS, "S Av*S S", AtomicOp::Or),
    old("atomic_xor", WORDS, "S Av*S S", AtomicOp::Xor),
];

const INIT: &[Row] = &[row(
    "atomic_init",
    NUMBERS,
    "void Pv*@S S",
    atomic(AtomicOp::Init, Generation::Relaxed),
)];

/// A function of C11: without and with `_explicit`.
macro_rules! c11 {
    ($name:literal, $over:expr, $head:literal, $args:literal, $what:ident) => {
        [
            row(
                $name,
                $over,
                concat!($head, $args),
                atomic(AtomicOp::$what, Generation::Consistent),
            ),
            row(
                concat!($name, "_explicit"),
                $over,
                concat!($head, $args, " int"),
                atomic(AtomicOp::$what, Generation::Order),
            ),
            row(
                concat!($name, "_explicit"),
                $over,
                concat!($head, $args, " int int"),
                atomic(AtomicOp::$what, Generation::OrderAndScope),
            ),
        ]
    };
}

/// Compare-and-exchange: the expected value may be in any space.
macro_rules! exchange {
    ($name:literal) => {
        [
            row(
                $name,
                NUMBERS,
                "bool Av*@S P*S S",
                atomic(AtomicOp::CompareExchangeBool, Generation::Consistent),
            ),
            row(
                concat!($name, "_explicit"),
                NUMBERS,
                "bool Av*@S P*S S int int",
                atomic(AtomicOp::CompareExchangeBool, Generation::Order),
            ),
            row(
                concat!($name, "_explicit"),
                NUMBERS,
                "bool Av*@S P*S S int int int",
                atomic(AtomicOp::CompareExchangeBool, Generation::OrderAndScope),
            ),
        ]
    };
}

const LOAD: &[Row] = &c11!("atomic_load", NUMBERS, "S Akv*@S", "", Load);
const STORE: &[Row] = &c11!("atomic_store", NUMBERS, "void Av*@S", " S", Store);
const EXCHANGE: &[Row] = &c11!("atomic_exchange", NUMBERS, "S Av*@S", " S", Exchange);
const STRONG: &[Row] = &exchange!("atomic_compare_exchange_strong");
const WEAK: &[Row] = &exchange!("atomic_compare_exchange_weak");
const ADD: &[Row] = &c11!("atomic_fetch_add", INTEGERS, "S Av*@S", " S", Add);
const SUB: &[Row] = &c11!("atomic_fetch_sub", INTEGERS, "S Av*@S", " S", Sub);
const OR: &[Row] = &c11!("atomic_fetch_or", INTEGERS, "S Av*@S", " S", Or);
const XOR: &[Row] = &c11!("atomic_fetch_xor", INTEGERS, "S Av*@S", " S", Xor);
const AND: &[Row] = &c11!("atomic_fetch_and", INTEGERS, "S Av*@S", " S", And);
const MIN: &[Row] = &c11!("atomic_fetch_min", INTEGERS, "S Av*@S", " S", Min);
const MAX: &[Row] = &c11!("atomic_fetch_max", INTEGERS, "S Av*@S", " S", Max);
const SET: &[Row] = &c11!(
    "atomic_flag_test_and_set",
    super::over(&[Int]).scalar(),
    "bool Av*@int",
    "",
    FlagTestAndSet
);
const CLEAR: &[Row] = &c11!(
    "atomic_flag_clear",
    super::over(&[Int]).scalar(),
    "void Av*@int",
    "",
    FlagClear
);

/// Two functions of a floating-point type on one kind of pointer.
macro_rules! floats {
    ($group:ident, $scalar:ident, $head:literal,
        $one:literal $first:ident, $other:literal $second:ident) => {
        const $group: &[&[Row]] = &[
            &c11!($one, super::over(&[$scalar]).scalar(), $head, " S", $first),
            &c11!(
                $other,
                super::over(&[$scalar]).scalar(),
                $head,
                " S",
                $second
            ),
        ];
    };
}

floats!(HALF_GLOBAL_ADD, Half, "S gv*@S", "atomic_fetch_add" Add, "atomic_fetch_sub" Sub);
floats!(HALF_GLOBAL_MIN_MAX, Half, "S gv*@S", "atomic_fetch_min" Min, "atomic_fetch_max" Max);
floats!(HALF_LOCAL_ADD, Half, "S lv*@S", "atomic_fetch_add" Add, "atomic_fetch_sub" Sub);
floats!(HALF_LOCAL_MIN_MAX, Half, "S lv*@S", "atomic_fetch_min" Min, "atomic_fetch_max" Max);
floats!(HALF_GENERIC_ADD, Half, "S Gv*@S", "atomic_fetch_add" Add, "atomic_fetch_sub" Sub);
floats!(HALF_GENERIC_MIN_MAX, Half, "S Gv*@S", "atomic_fetch_min" Min, "atomic_fetch_max" Max);
floats!(FLOAT_GLOBAL_ADD, Float, "S gv*@S", "atomic_fetch_add" Add, "atomic_fetch_sub" Sub);
floats!(FLOAT_GLOBAL_MIN_MAX, Float, "S gv*@S", "atomic_fetch_min" Min, "atomic_fetch_max" Max);
floats!(FLOAT_LOCAL_ADD, Float, "S lv*@S", "atomic_fetch_add" Add, "atomic_fetch_sub" Sub);
floats!(FLOAT_LOCAL_MIN_MAX, Float, "S lv*@S", "atomic_fetch_min" Min, "atomic_fetch_max" Max);
floats!(FLOAT_GENERIC_ADD, Float, "S Gv*@S", "atomic_fetch_add" Add, "atomic_fetch_sub" Sub);
floats!(FLOAT_GENERIC_MIN_MAX, Float, "S Gv*@S", "atomic_fetch_min" Min, "atomic_fetch_max" Max);
floats!(DOUBLE_GLOBAL_ADD, Double, "S gv*@S", "atomic_fetch_add" Add, "atomic_fetch_sub" Sub);
floats!(DOUBLE_GLOBAL_MIN_MAX, Double, "S gv*@S", "atomic_fetch_min" Min, "atomic_fetch_max" Max);
floats!(DOUBLE_LOCAL_ADD, Double, "S lv*@S", "atomic_fetch_add" Add, "atomic_fetch_sub" Sub);
floats!(DOUBLE_LOCAL_MIN_MAX, Double, "S lv*@S", "atomic_fetch_min" Min, "atomic_fetch_max" Max);
floats!(DOUBLE_GENERIC_ADD, Double, "S Gv*@S", "atomic_fetch_add" Add, "atomic_fetch_sub" Sub);
floats!(DOUBLE_GENERIC_MIN_MAX, Double, "S Gv*@S", "atomic_fetch_min" Min, "atomic_fetch_max" Max);

const HALF_GLOBAL_MOVES: &[&[Row]] = &[
    &c11!(
        "atomic_load",
        super::over(&[Half]).scalar(),
        "S gkv*@S",
        "",
        Load
    ),
    &c11!(
        "atomic_store",
        super::over(&[Half]).scalar(),
        "void gv*@S",
        " S",
        Store
    ),
    &c11!(
        "atomic_exchange",
        super::over(&[Half]).scalar(),
        "S gv*@S",
        " S",
        Exchange
    ),
];
const HALF_LOCAL_MOVES: &[&[Row]] = &[
    &c11!(
        "atomic_load",
        super::over(&[Half]).scalar(),
        "S lkv*@S",
        "",
        Load
    ),
    &c11!(
        "atomic_store",
        super::over(&[Half]).scalar(),
        "void lv*@S",
        " S",
        Store
    ),
    &c11!(
        "atomic_exchange",
        super::over(&[Half]).scalar(),
        "S lv*@S",
        " S",
        Exchange
    ),
];
const HALF_GENERIC_MOVES: &[&[Row]] = &[
    &c11!(
        "atomic_load",
        super::over(&[Half]).scalar(),
        "S Gkv*@S",
        "",
        Load
    ),
    &c11!(
        "atomic_store",
        super::over(&[Half]).scalar(),
        "void Gv*@S",
        " S",
        Store
    ),
    &c11!(
        "atomic_exchange",
        super::over(&[Half]).scalar(),
        "S Gv*@S",
        " S",
        Exchange
    ),
];

pub const GROUPS: &[Group] = &[
    group(
        "cl_khr_global_int32_base_atomics|cl_khr_local_int32_base_atomics",
        ATOM_BASE,
    ),
    group(
        "cl_khr_global_int32_extended_atomics|cl_khr_local_int32_extended_atomics",
        ATOM_EXTENDED,
    ),
    group("cl_khr_int64_base_atomics", ATOM_LONG_BASE),
    group("cl_khr_int64_extended_atomics", ATOM_LONG_EXTENDED),
    group("1.1", ATOMIC),
    group("2.0", INIT),
    group("c11", LOAD),
    group("c11", STORE),
    group("c11", EXCHANGE),
    group("c11", STRONG),
    group("c11", WEAK),
    group("c11", ADD),
    group("c11", SUB),
    group("c11", OR),
    group("c11", XOR),
    group("c11", AND),
    group("c11", MIN),
    group("c11", MAX),
    group("c11", SET),
    group("c11", CLEAR),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_add",
        HALF_GLOBAL_ADD[0],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_add",
        HALF_GLOBAL_ADD[1],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_min_max",
        HALF_GLOBAL_MIN_MAX[0],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_min_max",
        HALF_GLOBAL_MIN_MAX[1],
    ),
    group(
        "c11&__opencl_c_ext_fp16_local_atomic_add",
        HALF_LOCAL_ADD[0],
    ),
    group(
        "c11&__opencl_c_ext_fp16_local_atomic_add",
        HALF_LOCAL_ADD[1],
    ),
    group(
        "c11&__opencl_c_ext_fp16_local_atomic_min_max",
        HALF_LOCAL_MIN_MAX[0],
    ),
    group(
        "c11&__opencl_c_ext_fp16_local_atomic_min_max",
        HALF_LOCAL_MIN_MAX[1],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_add&__opencl_c_ext_fp16_local_atomic_add",
        HALF_GENERIC_ADD[0],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_add&__opencl_c_ext_fp16_local_atomic_add",
        HALF_GENERIC_ADD[1],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_min_max&__opencl_c_ext_fp16_local_atomic_min_max",
        HALF_GENERIC_MIN_MAX[0],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_min_max&__opencl_c_ext_fp16_local_atomic_min_max",
        HALF_GENERIC_MIN_MAX[1],
    ),
    group(
        "c11&__opencl_c_ext_fp32_global_atomic_add",
        FLOAT_GLOBAL_ADD[0],
    ),
    group(
        "c11&__opencl_c_ext_fp32_global_atomic_add",
        FLOAT_GLOBAL_ADD[1],
    ),
    group(
        "c11&__opencl_c_ext_fp32_global_atomic_min_max",
        FLOAT_GLOBAL_MIN_MAX[0],
    ),
    group(
        "c11&__opencl_c_ext_fp32_global_atomic_min_max",
        FLOAT_GLOBAL_MIN_MAX[1],
    ),
    group(
        "c11&__opencl_c_ext_fp32_local_atomic_add",
        FLOAT_LOCAL_ADD[0],
    ),
    group(
        "c11&__opencl_c_ext_fp32_local_atomic_add",
        FLOAT_LOCAL_ADD[1],
    ),
    group(
        "c11&__opencl_c_ext_fp32_local_atomic_min_max",
        FLOAT_LOCAL_MIN_MAX[0],
    ),
    group(
        "c11&__opencl_c_ext_fp32_local_atomic_min_max",
        FLOAT_LOCAL_MIN_MAX[1],
    ),
    group(
        "c11&__opencl_c_ext_fp32_global_atomic_add&__opencl_c_ext_fp32_local_atomic_add",
        FLOAT_GENERIC_ADD[0],
    ),
    group(
        "c11&__opencl_c_ext_fp32_global_atomic_add&__opencl_c_ext_fp32_local_atomic_add",
        FLOAT_GENERIC_ADD[1],
    ),
    group(
        "c11&__opencl_c_ext_fp32_global_atomic_min_max&__opencl_c_ext_fp32_local_atomic_min_max",
        FLOAT_GENERIC_MIN_MAX[0],
    ),
    group(
        "c11&__opencl_c_ext_fp32_global_atomic_min_max&__opencl_c_ext_fp32_local_atomic_min_max",
        FLOAT_GENERIC_MIN_MAX[1],
    ),
    group(
        "c11&__opencl_c_ext_fp64_global_atomic_add",
        DOUBLE_GLOBAL_ADD[0],
    ),
    group(
        "c11&__opencl_c_ext_fp64_global_atomic_add",
        DOUBLE_GLOBAL_ADD[1],
    ),
    group(
        "c11&__opencl_c_ext_fp64_global_atomic_min_max",
        DOUBLE_GLOBAL_MIN_MAX[0],
    ),
    group(
        "c11&__opencl_c_ext_fp64_global_atomic_min_max",
        DOUBLE_GLOBAL_MIN_MAX[1],
    ),
    group(
        "c11&__opencl_c_ext_fp64_local_atomic_add",
        DOUBLE_LOCAL_ADD[0],
    ),
    group(
        "c11&__opencl_c_ext_fp64_local_atomic_add",
        DOUBLE_LOCAL_ADD[1],
    ),
    group(
        "c11&__opencl_c_ext_fp64_local_atomic_min_max",
        DOUBLE_LOCAL_MIN_MAX[0],
    ),
    group(
        "c11&__opencl_c_ext_fp64_local_atomic_min_max",
        DOUBLE_LOCAL_MIN_MAX[1],
    ),
    group(
        "c11&__opencl_c_ext_fp64_global_atomic_add&__opencl_c_ext_fp64_local_atomic_add",
        DOUBLE_GENERIC_ADD[0],
    ),
    group(
        "c11&__opencl_c_ext_fp64_global_atomic_add&__opencl_c_ext_fp64_local_atomic_add",
        DOUBLE_GENERIC_ADD[1],
    ),
    group(
        "c11&__opencl_c_ext_fp64_global_atomic_min_max&__opencl_c_ext_fp64_local_atomic_min_max",
        DOUBLE_GENERIC_MIN_MAX[0],
    ),
    group(
        "c11&__opencl_c_ext_fp64_global_atomic_min_max&__opencl_c_ext_fp64_local_atomic_min_max",
        DOUBLE_GENERIC_MIN_MAX[1],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_load_store",
        HALF_GLOBAL_MOVES[0],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_load_store",
        HALF_GLOBAL_MOVES[1],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_load_store",
        HALF_GLOBAL_MOVES[2],
    ),
    group(
        "c11&__opencl_c_ext_fp16_local_atomic_load_store",
        HALF_LOCAL_MOVES[0],
    ),
    group(
        "c11&__opencl_c_ext_fp16_local_atomic_load_store",
        HALF_LOCAL_MOVES[1],
    ),
    group(
        "c11&__opencl_c_ext_fp16_local_atomic_load_store",
        HALF_LOCAL_MOVES[2],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_load_store\
         &__opencl_c_ext_fp16_local_atomic_load_store",
        HALF_GENERIC_MOVES[0],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_load_store\
         &__opencl_c_ext_fp16_local_atomic_load_store",
        HALF_GENERIC_MOVES[1],
    ),
    group(
        "c11&__opencl_c_ext_fp16_global_atomic_load_store\
         &__opencl_c_ext_fp16_local_atomic_load_store",
        HALF_GENERIC_MOVES[2],
    ),
];
