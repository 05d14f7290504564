//! What is printed is read again, and what is wrong is named with its line.

use super::*;
use crate::ir::{FuncId, Terminator};

const EVERYTHING: &str = include_str!("../parse_test.bir");

#[test]
fn printing_what_was_read_gives_the_text_back() {
    let first = module(EVERYTHING).unwrap().to_string();
    let second = module(&first).unwrap().to_string();
    assert_eq!(first, second);
    for line in EVERYTHING.lines().map(|l| without_comment(l).trim()) {
        let friendly = line.contains("const ") && !line.contains("0x");
        assert!(
            friendly || first.contains(line),
            "{line} is not in\n{first}"
        );
    }
}

#[test]
fn friendly_constants_have_the_bits_of_their_type() {
    let module = module(
        "func \"f\" () -> (f16, f32, f64, i8) {\nblock7:\n v9: f16 = const 1.5\n v3: f32 = const -inf\n\
         v4: f64 = const 0.1\n v5: i8 = const -1\n ret v9, v3, v4, v5\n}",
    )
    .unwrap();
    let func = &module.functions[FuncId::from_u32(0)];
    let Terminator::Ret(values) = &func.blocks[func.entry()].term else {
        panic!("not a return")
    };
    let bits: Vec<u64> = values.iter().map(|&v| func.as_const(v).unwrap()).collect();
    assert_eq!(bits, [0x3e00, 0xff80_0000, 0.1f64.to_bits(), 0xff]);
}

#[test]
fn an_error_names_its_line() {
    let error = |text: &str| {
        let e = module(text).unwrap_err();
        (e.line, e.message)
    };
    let head = "func \"f\" () -> () {\nblock0:\n";
    assert_eq!(
        error(&format!("{head}  v0: i32 = iadd v1, v1\n  ret\n}}")),
        (3, "v1 is not defined".into())
    );
    assert_eq!(
        error(&format!("{head}  v0: i32 = fly v1\n  ret\n}}")),
        (3, "unknown operation fly".into())
    );
    assert_eq!(
        error(&format!("{head}  br block9\n}}")),
        (3, "no block named block9".into())
    );
    assert_eq!(error("hello").0, 1);
    assert_eq!(error("func \"f\" () -> () {\n").0, 1);
}
