//! The ways to run a case.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use brolga_compiler::image::Bindings;
use brolga_compiler::interp::{Interpreter, Launch, Memory, Options};
use brolga_compiler::ir::verify::verify;
use brolga_compiler::ir::{FuncId, Function, Module, ParamSource, Stage};
use brolga_compiler::transform::Prepared;
use brolga_compiler::{
    BuildOptions, Isa, LaunchKey, NdRange, Program, Target, lower, transform, workgroup,
};

use super::case::{Case, Outcome, printf_text};
use super::native;

/// A way to run a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The interpreter on IR as translated.
    Translated,
    /// The same, refusing also data races, uninitialised reads and divergent barriers.
    Checked,
    /// The interpreter on what `transform` makes of the kernel, with reads and writes of images
    /// expanded.
    Prepared,
    /// Code generated for an instruction set, so many work-items a vector.
    Generated(Isa, u8),
    /// The same for AVX-512 without what only some machines with it have.
    Baseline(u8),
}

/// Widths to run code in that is generated for an instruction set.
const WIDTHS: [(Isa, &[u8]); 3] = [
    (Isa::Sse42, &[1, 2, 4, 8, 16, 32]),
    (Isa::Avx2, &[8, 16, 32]),
    (Isa::Avx512, &[8, 16, 32]),
];

impl Engine {
    /// Every engine that this machine has and for which there is one right outcome; the first says
    /// what is right.
    pub fn all() -> &'static [Engine] {
        static ALL: LazyLock<Vec<Engine>> = LazyLock::new(|| {
            let best = Target::detect().isa;
            let here = WIDTHS.iter().filter(|(isa, _)| *isa <= best);
            let generated = here.flat_map(|&(isa, widths)| {
                let widths = widths.iter();
                widths.map(move |&width| Engine::Generated(isa, width))
            });
            let baseline = (best >= Isa::Avx512).then_some(Engine::Baseline(16));
            let interpreted = [Engine::Translated, Engine::Prepared].into_iter();
            interpreted.chain(generated).chain(baseline).collect()
        });
        &ALL
    }

    pub fn name(self) -> String {
        match self {
            Engine::Translated => "interpreter".into(),
            Engine::Checked => "checked interpreter".into(),
            Engine::Prepared => "prepared".into(),
            Engine::Generated(Isa::Sse42, width) => format!("w{width}"),
            Engine::Baseline(width) => format!("avx512-baseline-w{width}"),
            Engine::Generated(isa, width) => format!("{}-w{width}", isa.name()),
        }
    }

    /// Whether a test that asks for these engines, or for all, runs in this one. `w` asks for all
    /// generated code.
    pub fn wanted(self, names: &[String]) -> bool {
        let is_generated = matches!(self, Engine::Generated(..) | Engine::Baseline(_));
        let asks = |name: &String| *name == self.name() || name == "w" && is_generated;
        names.is_empty() || names.iter().any(asks)
    }

    /// Whether it runs sub-groups of this size, if that matters.
    pub fn has_sub_groups(self, size: Option<u8>) -> bool {
        match self {
            Engine::Generated(_, width) | Engine::Baseline(width) => {
                size.is_none_or(|size| size == width)
            }
            _ => true,
        }
    }

    /// Runs a case. `budget` is the number of instructions an interpreter may run.
    ///
    /// # Errors
    /// Why it could not be run to its end.
    pub fn run(self, case: &Case<'_>, budget: u64) -> Result<Outcome, String> {
        match self {
            Engine::Translated | Engine::Checked => {
                let options = Options {
                    budget,
                    checked: self == Engine::Checked,
                };
                let kernel = &case.module.kernels[case.kernel];
                let func = &case.module.functions[kernel.func];
                interpret(case, func, &kernel.params, None, options)
            }
            Engine::Prepared => {
                let prepared = prepare(case.module, case.kernel, &case.options)?;
                let (func, params) = (&prepared.function, &prepared.params);
                let options = Options {
                    budget,
                    checked: false,
                };
                interpret(case, func, params, Some(&prepared.functions), options)
            }
            Engine::Generated(isa, width) => native::run(case, case.program(isa)?, width),
            Engine::Baseline(width) => native::run(case, case.baseline_program()?, width),
        }
    }
}

/// Work-items per vector of the code that reads and writes of images are expanded for.
const EXPANDED_FOR: u8 = 8;

/// The launch for which stages print.
const CHECKED: NdRange = NdRange {
    work_dim: 1,
    global_offset: [0; 3],
    global_size: [64, 1, 1],
    local_size: [16, 1, 1],
};

/// What a stage of the compiler prints of a module's first kernel.
///
/// # Errors
/// If there is no such stage, or it refuses the kernel.
pub fn print(module: &Module, stage: &str, options: &BuildOptions) -> Result<String, String> {
    match stage {
        "translated" => Ok(module.to_string()),
        "prepared" => {
            let prepared = prepare(module, 0, options)?;
            let functions = prepared.functions.values();
            let all = std::iter::once(&prepared.function).chain(functions);
            Ok(all.map(Function::to_string).collect())
        }
        "vectorized" => {
            let prepared = prepare(module, 0, options)?;
            let (func, params) = (&prepared.function, &prepared.params);
            let key = LaunchKey::new(&CHECKED, 8);
            let mut code = workgroup::build(func, params, &key, &Target::cranelift())
                .map_err(|e| e.to_string())?;
            lower::collectives::expand(&mut code.function);
            lower::builtins::expand(&mut code.function, &Target::cranelift());
            transform::cleanup(&mut code.function);
            Ok(code.function.to_string())
        }
        "remarks" => {
            let target = Target::cranelift();
            let program = Program::for_target(module.clone(), options, &target);
            let program = program.map_err(|e| e.to_string())?;
            let key = program.launch_key(0, &CHECKED, Bindings::NONE);
            let code = program.compile(0, &key).map_err(|e| e.to_string())?;
            Ok(code.remarks().join("\n"))
        }
        _ => Err(format!("there is no stage {stage:?} to check")),
    }
}

fn prepare(module: &Module, kernel: usize, options: &BuildOptions) -> Result<Prepared, String> {
    let prepared = transform::prepare_kernel(module, kernel, options).map_err(|e| e.to_string())?;
    verify(&prepared.function, Stage::Scalarized, Some(module))?;
    for function in prepared.functions.values() {
        verify(function, Stage::Scalarized, Some(module))?;
    }
    Ok(prepared)
}

/// Runs a kernel that calls `functions` beside the module's; with their images expanded, if there
/// are any.
fn interpret(
    case: &Case<'_>,
    func: &Function,
    params: &[ParamSource],
    functions: Option<&BTreeMap<FuncId, Function>>,
    options: Options,
) -> Result<Outcome, String> {
    let mut memory = Memory::new();
    let mut segments = Vec::new();
    let mut addresses = Vec::new();
    for (i, arg) in case.args.iter().enumerate() {
        let Some(contents) = arg.contents() else {
            continue;
        };
        let segment = memory.add(&format!("argument {i}"), contents.to_vec(), 128);
        segments.push(segment);
        let mut address = memory.base(segment);
        if let Some(descriptors) = arg.descriptors(address) {
            let name = format!("descriptor of argument {i}");
            let descriptors = memory.add(&name, descriptors, 8);
            address = memory.base(descriptors);
        }
        addresses.push(address);
    }
    let block = case.block(&addresses)?;
    let mut func = func.clone();
    if functions.is_some() {
        let key = LaunchKey {
            bindings: case.bindings(&block, &addresses)?,
            ..LaunchKey::new(&case.range, EXPANDED_FOR)
        };
        let objects = lower::images::objects(&func, params);
        if lower::images::expand(&mut func, &objects, &key) {
            transform::cleanup_kernel(&mut func);
            verify(&func, Stage::Scalarized, Some(case.module))?;
        }
    }
    let mut interp = Interpreter::new(case.module, memory, options);
    interp.called = functions;
    let launch = Launch {
        range: case.range,
        args: &block.bytes,
        local_mem_size: block.local_mem_size,
        sub_group_size: u64::from(case.sub_group_size.unwrap_or(1)),
    };
    interp
        .run_function(&func, params, &launch)
        .map_err(|e| e.to_string())?;
    let buffers = segments.iter().map(|&s| interp.memory.bytes(s).to_vec());
    let mut printf: Vec<String> = interp.printf.iter().map(printf_text).collect();
    printf.sort();
    Ok(Outcome {
        buffers: buffers.collect(),
        printf,
    })
}
