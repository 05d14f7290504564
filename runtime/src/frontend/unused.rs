//! Large programs without the functions that nothing calls.
//!
//! What `clBuildProgram` compiles is all there is of a program, so nobody else calls its functions. clang does not know that, and
//! its SPIR-V writer takes most of the time for those that come with a program's headers and are never called: of
//! hashcat's kernels nine tenths, several seconds. So a large source is compiled in two steps: to LLVM's text,
//! where every function but the kernels is made internal here; and from there to SPIR-V, where optimisation drops what
//! is internal and not called.

use super::clang::Request;
use super::route;

/// Bytes of text from which the second step costs less than it saves.
const LARGE: usize = 256 << 10;

pub(super) fn is_worth_looking_for(request: &Request) -> bool {
    request.options.whole_program && route::size(request) >= LARGE
}

/// LLVM's text with internal functions; kernels have a calling convention of their own.
pub(super) fn internal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 64);
    for line in text.split_inclusive('\n') {
        let function = ["define spir_func ", "define dso_local spir_func "]
            .iter()
            .find_map(|head| line.strip_prefix(head));
        match function {
            Some(rest) => {
                out.push_str("define internal spir_func ");
                out.push_str(rest);
            }
            None => out.push_str(line),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_and_what_is_internal_already_stay() {
        let text = "define dso_local spir_func i32 @f(i32 %x) #0 {\nret i32 %x\n}\n\
                    define spir_func void @g() {\nret void\n}\n\
                    define internal spir_func void @h() {\n}\n\
                    define dso_local spir_kernel void @k() {\n}\ndeclare spir_func void @define()\n";
        let expected = "define internal spir_func i32 @f(i32 %x) #0 {\nret i32 %x\n}\n\
                    define internal spir_func void @g() {\nret void\n}\n\
                    define internal spir_func void @h() {\n}\n\
                    define dso_local spir_kernel void @k() {\n}\ndeclare spir_func void @define()\n";
        assert_eq!(internal(text), expected);
    }
}
