//! The rates of built-in functions: kernels that do nothing else.
//!
//! Each kernel applies one function to ordinary arguments that it computes itself, each lane its
//! own, and combines the results' bits, so that neither memory nor the time that one result takes
//! to the next argument is measured. Results are not checked: the conformance tests do that.

use std::fmt::Write;
use std::time::{Duration, Instant};

use brolga_icd_testing::drivers::Candidate;
use brolga_icd_testing::host::{Buffer, Kernel, Result, Session};
use serde_json::{Value, json};

use crate::report::Section;
use crate::{Arguments, worker};

/// How a function is called.
#[derive(Clone, Copy)]
enum Call {
    Unary,
    Binary,
    Ternary,
    /// A float and an integer.
    WithInt,
    /// An integer of a float.
    ToInt,
    /// A float, and another through a pointer.
    Pair,
    /// A float, and an integer through a pointer.
    AndInt,
    /// The same of two floats.
    BinaryAndInt,
    Quotient,
}

use Call::*;

/// From where to where the first argument goes.
type Range = (f64, f64);

const ORDINARY: Range = (-5.0, 5.0);
const POSITIVE: Range = (0.1, 10.0);
const UNIT: Range = (-0.99, 0.99);

/// The second argument. It keeps powers of the first one in range.
const SECOND: Range = (0.5, 3.5);

/// Functions of every floating-point type, in the order of the specification.
const FUNCTIONS: &[(&str, Call, Range)] = &[
    ("acos", Unary, UNIT),
    ("acosh", Unary, (1.0, 10.0)),
    ("acospi", Unary, UNIT),
    ("asin", Unary, UNIT),
    ("asinh", Unary, ORDINARY),
    ("asinpi", Unary, UNIT),
    ("atan", Unary, ORDINARY),
    ("atan2", Binary, ORDINARY),
    ("atanh", Unary, UNIT),
    ("atanpi", Unary, ORDINARY),
    ("atan2pi", Binary, ORDINARY),
    ("cbrt", Unary, ORDINARY),
    ("ceil", Unary, ORDINARY),
    ("copysign", Binary, ORDINARY),
    ("cos", Unary, ORDINARY),
    ("cosh", Unary, ORDINARY),
    ("cospi", Unary, ORDINARY),
    ("divide", Quotient, ORDINARY),
    ("erfc", Unary, ORDINARY),
    ("erf", Unary, ORDINARY),
    ("exp", Unary, ORDINARY),
    ("exp2", Unary, ORDINARY),
    ("exp10", Unary, (-4.0, 4.0)),
    ("expm1", Unary, ORDINARY),
    ("fabs", Unary, ORDINARY),
    ("fdim", Binary, ORDINARY),
    ("floor", Unary, ORDINARY),
    ("fma", Ternary, ORDINARY),
    ("fmax", Binary, ORDINARY),
    ("fmin", Binary, ORDINARY),
    ("fmod", Binary, ORDINARY),
    ("fract", Pair, ORDINARY),
    ("frexp", AndInt, ORDINARY),
    ("hypot", Binary, ORDINARY),
    ("ilogb", ToInt, ORDINARY),
    ("ldexp", WithInt, ORDINARY),
    ("lgamma", Unary, POSITIVE),
    ("lgamma_r", AndInt, POSITIVE),
    ("log", Unary, POSITIVE),
    ("log2", Unary, POSITIVE),
    ("log10", Unary, POSITIVE),
    ("log1p", Unary, POSITIVE),
    ("logb", Unary, ORDINARY),
    ("mad", Ternary, ORDINARY),
    ("maxmag", Binary, ORDINARY),
    ("minmag", Binary, ORDINARY),
    ("modf", Pair, ORDINARY),
    ("nextafter", Binary, ORDINARY),
    ("pow", Binary, POSITIVE),
    ("pown", WithInt, ORDINARY),
    ("powr", Binary, POSITIVE),
    ("remainder", Binary, ORDINARY),
    ("remquo", BinaryAndInt, ORDINARY),
    ("rint", Unary, ORDINARY),
    ("rootn", WithInt, POSITIVE),
    ("round", Unary, ORDINARY),
    ("rsqrt", Unary, POSITIVE),
    ("sin", Unary, ORDINARY),
    ("sincos", Pair, ORDINARY),
    ("sinh", Unary, ORDINARY),
    ("sinpi", Unary, ORDINARY),
    ("sqrt", Unary, POSITIVE),
    ("tan", Unary, ORDINARY),
    ("tanh", Unary, ORDINARY),
    ("tanpi", Unary, ORDINARY),
    ("tgamma", Unary, POSITIVE),
    ("trunc", Unary, ORDINARY),
    ("clamp", Ternary, ORDINARY),
    ("degrees", Unary, ORDINARY),
    ("max", Binary, ORDINARY),
    ("min", Binary, ORDINARY),
    ("mix", Ternary, ORDINARY),
    ("radians", Unary, ORDINARY),
    ("step", Binary, ORDINARY),
    ("smoothstep", Ternary, ORDINARY),
    ("sign", Unary, ORDINARY),
];

/// Functions of `float` only.
const OF_FLOAT: &[(&str, Call, Range)] = &[
    ("half_cos", Unary, ORDINARY),
    ("half_divide", Binary, ORDINARY),
    ("half_exp", Unary, ORDINARY),
    ("half_exp2", Unary, ORDINARY),
    ("half_exp10", Unary, (-4.0, 4.0)),
    ("half_log", Unary, POSITIVE),
    ("half_log2", Unary, POSITIVE),
    ("half_log10", Unary, POSITIVE),
    ("half_powr", Binary, POSITIVE),
    ("half_recip", Unary, POSITIVE),
    ("half_rsqrt", Unary, POSITIVE),
    ("half_sin", Unary, ORDINARY),
    ("half_sqrt", Unary, POSITIVE),
    ("half_tan", Unary, ORDINARY),
    ("native_cos", Unary, ORDINARY),
    ("native_divide", Binary, ORDINARY),
    ("native_exp", Unary, ORDINARY),
    ("native_exp2", Unary, ORDINARY),
    ("native_exp10", Unary, (-4.0, 4.0)),
    ("native_log", Unary, POSITIVE),
    ("native_log2", Unary, POSITIVE),
    ("native_log10", Unary, POSITIVE),
    ("native_powr", Binary, POSITIVE),
    ("native_recip", Unary, POSITIVE),
    ("native_rsqrt", Unary, POSITIVE),
    ("native_sin", Unary, ORDINARY),
    ("native_sqrt", Unary, POSITIVE),
    ("native_tan", Unary, ORDINARY),
];

/// Work-items of a launch, and how often each applies the function.
const ITEMS: usize = 16 << 10;
const ROUNDS: usize = 256;

/// A type, and integers of its size.
const TYPES: [(&str, &str); 3] = [("half", "ushort"), ("float", "uint"), ("double", "ulong")];

/// Measures the functions that are wanted, on all drivers.
pub fn measure(arguments: &Arguments, candidates: &mut [Candidate]) -> Section {
    let mut rows = Vec::new();
    let listed = |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
    for (ty, _) in TYPES.iter().filter(|(ty, _)| listed(&arguments.types, ty)) {
        let of_float = OF_FLOAT.iter().filter(|_| *ty == "float");
        for (name, ..) in FUNCTIONS.iter().chain(of_float) {
            if !listed(&arguments.only, name) {
                continue;
            }
            let row = format!("{name} {ty}");
            let request = json!({
                "do": "function", "name": name, "type": ty, "options": arguments.options,
                "seconds": arguments.seconds,
            });
            for _ in 0..arguments.rounds {
                for candidate in &mut *candidates {
                    if let Some(answer) = candidate.measure(&row, &request) {
                        candidate.record(&row, &answer);
                    }
                }
            }
            rows.push(row);
        }
    }
    Section {
        title: "function",
        averaged: true,
        notes: Vec::new(),
        rows,
    }
}

/// A kernel that was measured last: the next round will ask for it again.
pub struct Prepared {
    request: Value,
    kernel: Kernel,
    /// What the kernel writes.
    _results: Buffer<u64>,
}

/// Times of one application of a function. Those of a launch are divided by the number of its
/// applications, as an element of a kernel takes that long.
pub fn answer(session: &Session, last: &mut Option<Prepared>, request: &Value) -> Result<Value> {
    if last.as_ref().is_none_or(|last| last.request != *request) {
        *last = Some(prepare(session, request)?);
    }
    let kernel = &last.as_ref().expect("prepared").kernel;
    let budget = Duration::from_secs_f64(request["seconds"].as_f64().unwrap_or(0.1));
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 3 || start.elapsed() < budget {
        let run = Instant::now();
        session.launch(kernel, &[ITEMS], &[])?;
        session.finish()?;
        times.push(run.elapsed().as_secs_f64() / (ITEMS * ROUNDS) as f64);
    }
    Ok(worker::summary(&mut times))
}

fn prepare(session: &Session, request: &Value) -> Result<Prepared> {
    let text = |key: &str| request[key].as_str().unwrap_or_default();
    let source = source(text("name"), text("type"))?;
    let program = session.build_source(&source, text("options"))?;
    let results = session.buffer::<u64>(ITEMS)?;
    let kernel = program
        .kernel("apply")?
        .buffer(&results)?
        .value(ROUNDS as i32)?;
    session.launch(&kernel, &[ITEMS], &[])?;
    session.finish()?;
    Ok(Prepared {
        request: request.clone(),
        kernel,
        _results: results,
    })
}

fn source(name: &str, ty: &str) -> Result<String> {
    let (_, call, range) = FUNCTIONS
        .iter()
        .chain(OF_FLOAT)
        .find(|(listed, ..)| *listed == name)
        .ok_or_else(|| format!("no function {name}"))?;
    let (_, bits) = TYPES
        .iter()
        .find(|(listed, _)| *listed == ty)
        .ok_or_else(|| format!("no type {ty}"))?;
    let of_one = |call: &str| format!("all ^= as_{bits}({call});");
    let of_two = |ty: &str, call: &str, bits: &str| {
        format!("{ty} second; {} all ^= {bits}(second);", of_one(call))
    };
    let as_bits = format!("as_{bits}");
    let statement = match call {
        Unary => of_one(&format!("{name}(x)")),
        Binary => of_one(&format!("{name}(x, y)")),
        Ternary => of_one(&format!("{name}(x, y, x + y)")),
        WithInt => of_one(&format!("{name}(x, (((int)id + i) & 7) + 2)")),
        ToInt => format!("all ^= {name}(x);"),
        Pair => of_two(ty, &format!("{name}(x, &second)"), &as_bits),
        AndInt => of_two("int", &format!("{name}(x, &second)"), ""),
        BinaryAndInt => of_two("int", &format!("{name}(x, y, &second)"), ""),
        Quotient => of_one("x / y"),
    };
    let mut text = String::new();
    if ty == "half" {
        text.push_str("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    }
    // Lanes have their own arguments, which together go once through the range.
    let argument = |text: &mut String, name: &str, (from, to): Range| {
        let half = (to - from) / 2.0;
        let (lane, step) = (half / ITEMS as f64, half / ROUNDS as f64);
        let _ = writeln!(
            text,
            "{ty} {name} = ({ty})({from:?}f + id * {lane:?}f), d{name} = ({ty}){step:?}f;"
        );
    };
    let _ = writeln!(
        text,
        "kernel void apply(global {bits} *results, int rounds) {{
         float id = get_global_id(0);
         {bits} all = 0;"
    );
    argument(&mut text, "x", *range);
    argument(&mut text, "y", SECOND);
    let _ = writeln!(
        text,
        "for (int i = 0; i < rounds; ++i) {{
         {statement}
         x += dx;
         y += dy;
         }}
         results[get_global_id(0)] = all;
         }}"
    );
    Ok(text)
}
