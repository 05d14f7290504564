//! Code for one function, not a kernel.

use brolga_compiler::dump::Dump;
use brolga_compiler::ir::Function;
use brolga_compiler::jit::Code;
use brolga_compiler::{Isa, Target, codegen, lower};
use cranelift_entity::PrimaryMap;

/// What code can be generated for and run here: every instruction set that this machine has, and
/// AVX-512 without what only some machines with it have. Without estimates, as results are
/// compared.
pub fn targets() -> Vec<Target> {
    let best = Target::detect().without_estimates();
    let here = Isa::ALL.iter().filter(|&&isa| isa <= best.isa);
    let mut targets: Vec<Target> = here.map(|&isa| best.at_most(isa)).collect();
    if best.isa == Isa::Avx512 {
        targets.push(Target::avx512().without_estimates());
    }
    targets
}

/// Lowers a function that uses no globals, compiles it for a target, and places it.
///
/// # Panics
///
/// With the function, if it does not compile.
pub fn compile(mut func: Function, target: &Target) -> Code {
    lower::builtins::expand(&mut func, target);
    lower::legalize::run(&mut func, target);
    lower::gathers::run(&mut func, target);
    lower::lanes::run(&mut func, target);
    let dump = Dump::default();
    codegen::compile(&func, target, None, &dump.of("test"))
        .and_then(|code| Code::place("test", code, &PrimaryMap::new(), Default::default()))
        .unwrap_or_else(|e| panic!("{func}: {e}"))
}
