//! Code for one function, not a kernel.

use brolga_compiler::dump::Dump;
use brolga_compiler::ir::Function;
use brolga_compiler::jit::Code;
use brolga_compiler::{codegen, lower};
use cranelift_entity::PrimaryMap;

/// Lowers a function that uses no globals, compiles it for this machine, and places it.
///
/// # Panics
///
/// With the function, if it does not compile.
pub fn compile(mut func: Function) -> Code {
    let target = codegen::target();
    lower::builtins::expand(&mut func);
    lower::legalize::run(&mut func, &target);
    lower::gathers::run(&mut func, &target);
    lower::lanes::run(&mut func, &target);
    let dump = Dump::default();
    codegen::compile(&func, &PrimaryMap::new(), &target, &dump.of("test"))
        .and_then(|code| Code::place("test", code, &[]))
        .unwrap_or_else(|e| panic!("{func}: {e}"))
}
