//! From an object to an executable.

use std::sync::Arc;

use brolga_compiler::SpecConstants;
use serde_json::json;

use super::Object;
use super::zeroed::with_zeroed_variables;
use crate::context::Context;
use crate::executable::Executable;
use crate::trace;

/// Has the compiler check and translate an object. The error is a log.
pub(super) fn translate(
    context: &Arc<Context>,
    object: &Object,
) -> Result<Arc<Executable>, String> {
    let zeroed: Vec<Arc<Vec<u32>>> = match context.initializes_private_memory() {
        false => object.modules.clone(),
        true => object.modules.iter().map(with_zeroed_variables).collect(),
    };
    let modules: Vec<&[u32]> = zeroed.iter().map(|words| words.as_slice()).collect();
    let translated = trace::span(
        "compile",
        || {
            let constants = SpecConstants::new();
            brolga_compiler::Program::from_spirv(&modules, &constants, &object.compiler)
        },
        |program| {
            let args = json!({ "modules": modules.len(), "ok": program.is_ok() });
            ("SPIR-V to IR".to_owned(), args)
        },
    );
    match translated {
        Ok(program) => {
            let mut executable = Executable::new(
                Box::new(program),
                object.allows_non_uniform,
                object.has_arg_info,
            );
            executable.tells_errors = object.tells_errors;
            executable.initialize(context)?;
            Ok(Arc::new(executable))
        }
        Err(diagnostic) => Err(format!("{diagnostic}\n")),
    }
}
