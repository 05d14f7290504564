//! From an object to an executable.

use std::sync::Arc;

use brolga_compiler::{Program, SpecConstants};
use serde_json::json;

use super::zeroed::with_zeroed_variables;
use super::{CompiledProgram, imports};
use crate::base::trace;
use crate::code::executable::Executable;
use crate::code::store;
use crate::context::Context;
use crate::frontend::Options;
use crate::launch::lifetime;

/// What an object became.
pub(super) struct Translated {
    pub executable: Arc<Executable>,
    /// What was wrong with the modules and could be taken all the same: lines for the log.
    warnings: String,
}

impl Translated {
    /// What the build log says of it, as far as options ask.
    pub fn log(&self, options: &Options) -> String {
        let mut log = String::new();
        if !options.no_warnings {
            log += &self.warnings;
        }
        if options.remarks {
            log += &self.executable.remarks();
        }
        log
    }
}

/// Has the compiler check and translate an object. The error is a log.
pub(super) fn translate(
    context: &Arc<Context>,
    object: &CompiledProgram,
) -> Result<Translated, String> {
    let mut all: Vec<Arc<Vec<u32>>> = match context.initializes_private_memory() {
        false => object.modules.clone(),
        true => object.modules.iter().map(with_zeroed_variables).collect(),
    };
    let missing = imports::missing(&all);
    all.extend(imports::library(&missing));
    let count = all.len();
    let translated = trace::span(
        "compile",
        || {
            let constants = SpecConstants::new();
            let options = &object.compiler;
            match store::of_process() {
                Some(kept) => Program::from_spirv_with(kept, all, &constants, options),
                None => {
                    let modules: Vec<&[u32]> = all.iter().map(|words| words.as_slice()).collect();
                    Program::from_spirv(&modules, &constants, options)
                }
            }
        },
        |program| {
            let args = json!({ "modules": count, "ok": program.is_ok() });
            ("SPIR-V to IR".to_owned(), args)
        },
    );
    match translated {
        Ok(program) => {
            let warnings = program.warnings().iter();
            let warnings = warnings.map(|warning| format!("{warning}\n")).collect();
            let mut executable = Executable::new(
                Box::new(program),
                object.allows_non_uniform,
                object.has_arg_info,
            );
            executable.tells_errors = object.tells_errors;
            lifetime::begin(&mut executable, context)?;
            Ok(Translated {
                executable: Arc::new(executable),
                warnings,
            })
        }
        Err(diagnostic) => {
            let error = format!("{diagnostic}\n");
            let notes = imports::explain(&error, &missing);
            Err(error + &notes)
        }
    }
}
