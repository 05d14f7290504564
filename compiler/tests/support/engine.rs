//! The ways to run a case.

use brolga_compiler::ir::Module;
use brolga_compiler::ir::interp::{Interpreter, Launch, Memory, Options};

use super::case::{Arg, Case, Outcome, printf_text};

/// A way to run a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The interpreter on IR as translated.
    Translated,
    /// The same, refusing also data races, uninitialised reads and divergent barriers.
    Checked,
}

impl Engine {
    /// Every engine; the first says what is right.
    pub const ALL: &'static [Engine] = &[Engine::Translated];

    pub fn name(self) -> String {
        match self {
            Engine::Translated => "interpreter".into(),
            Engine::Checked => "checked interpreter".into(),
        }
    }

    /// Whether a test that asks for these engines (`interpreter`, `prepared`, `generated`, `w8`), or for all, runs
    /// in this one.
    pub fn wanted(self, names: &[String]) -> bool {
        names.is_empty()
            || names
                .iter()
                .any(|name| self.name().starts_with(name.as_str()))
    }

    /// What a stage of the compiler prints of a module.
    ///
    /// # Errors
    /// If there is no such stage, or it refuses the module.
    pub fn print(module: &Module, stage: &str) -> Result<String, String> {
        match stage {
            "translated" => Ok(module.to_string()),
            _ => Err(format!("there is no stage {stage:?} to check")),
        }
    }

    /// Runs a case. `budget` is the number of instructions an interpreter may run.
    ///
    /// # Errors
    /// Why it could not be run to its end.
    pub fn run(self, case: &Case<'_>, budget: u64) -> Result<Outcome, String> {
        interpret(case, budget, self == Engine::Checked)
    }
}

fn interpret(case: &Case<'_>, budget: u64, checked: bool) -> Result<Outcome, String> {
    let mut memory = Memory::new();
    let mut segments = Vec::new();
    for (i, arg) in case.args.iter().enumerate() {
        if let Arg::Buffer(bytes) = arg {
            segments.push(memory.add(&format!("argument {i}"), bytes.clone(), 128));
        }
    }
    let addresses: Vec<u64> = segments.iter().map(|&s| memory.base(s)).collect();
    let kernel = &case.module.kernels[case.kernel];
    let block = case.block(&addresses, kernel.info.local_mem_size)?;
    let options = Options { budget, checked };
    let mut interp = Interpreter::new(case.module, memory, options);
    let launch = Launch {
        range: case.range,
        args: &block.bytes,
        local_mem_size: block.local_mem_size,
        sub_group_size: 1,
    };
    interp
        .run(case.kernel, &launch)
        .map_err(|e| e.to_string())?;
    let buffers = segments.iter().map(|&s| interp.memory.bytes(s).to_vec());
    let mut printf: Vec<String> = interp.printf.iter().map(printf_text).collect();
    printf.sort();
    Ok(Outcome {
        buffers: buffers.collect(),
        printf,
    })
}
