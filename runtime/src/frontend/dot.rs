//! Dot products of packed vectors for clang 15, in terms of those of vectors.
//!
//! Its header declares them, but the translator writes calls of undefined functions. OpenCL C
//! Specification, "Integer dot product functions": an operand of 32 bits is taken as four
//! components of 8, the lowest first.

use std::fmt::Write;

use super::clang::Request;
use super::route;

/// Infixes of the names, with the components of either operand and the result.
const FORMS: [(&str, &str, &str, &str); 4] = [
    ("uu_uint", "uchar4", "uchar4", "uint"),
    ("ss_int", "char4", "char4", "int"),
    ("us_int", "uchar4", "char4", "int"),
    ("su_int", "char4", "uchar4", "int"),
];

/// The definitions that the request's source needs.
pub(super) fn definitions(request: &Request) -> String {
    let mut text = String::new();
    for (form, a, b, result) in FORMS {
        for (function, parameter, argument) in [
            ("dot", String::new(), ""),
            ("dot_acc_sat", format!(", {result} acc"), ", acc"),
        ] {
            let name = format!("{function}_4x8packed_{form}");
            if route::mentions(request, &name) {
                let _ = writeln!(
                    text,
                    "static inline {result} __attribute__((overloadable, always_inline)) __brolga_{name}(uint a, uint b{parameter}) \
                     {{ return {function}(as_{a}(a), as_{b}(b){argument}); }}\n\
                     #define {name} __brolga_{name}"
                );
            }
        }
    }
    if text.is_empty() {
        return text;
    }
    // Where the functions are not offered their names are the program's.
    format!("#ifdef __opencl_c_integer_dot_product_input_4x8bit_packed\n{text}#endif\n")
}
