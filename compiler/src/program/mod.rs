//! A checked program and its kernels, compiled on demand per launch shape.
//!
//! `interface.rs` is what a host asks of a program that is no code, `facts.rs` what is known of a
//! kernel before code is made, `compiled.rs` code that can be
//! called.

mod compiled;
mod facts;
mod interface;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use brolga_host::{environment, notice};
use cranelift_entity::EntityRef;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use compiled::CompiledKernel;

use crate::calls::Versions;
use crate::codegen::{MachineCode, PrivateMemory};
use crate::diagnostic::{Diagnostic, Remark};
use crate::dump::Dump;
use crate::image::{Bindings, Descriptor};
use crate::ir::{FuncId, Function, KernelRole, Module, Op, SourceLoc};
use crate::jit::Code;
use crate::jit::globals::Globals;
use crate::jit::lines::LineTable;
use crate::kernel_info::{AddressSpace, KernelInfo};
use crate::launch::{LaunchKey, NdRange};
use crate::options::{BuildOptions, SpecConstantInfo, SpecConstants};
use crate::store::object_file::{About, KernelCode};
use crate::store::{Content, Entry, Store};
use crate::target::Target;
use crate::times::{Stopwatch, Times};
use crate::workgroup::WorkGroupCode;
use crate::{codegen, lower, spirv, transform, workgroup};
use facts::{Body, Facts, FactsAlone, Width};
use interface::Interface;

/// Lists the specialization constants that a module declares, without building it.
pub fn spec_constants(words: &[u32]) -> Result<Vec<SpecConstantInfo>, Diagnostic> {
    spirv::spec_constants(words)
}

/// What is known of a kernel; each made when first asked for.
#[derive(Debug, Default)]
struct Known {
    body: OnceLock<Result<Timed<Body>, Diagnostic>>,
    facts: OnceLock<Result<Timed<Facts>, Diagnostic>>,
    /// What it is in work-groups of one work-item, which run several as one, if it can be.
    alone: OnceLock<Option<Function>>,
    facts_alone: OnceLock<Option<FactsAlone>>,
}

/// Something, and how long it took to make.
#[derive(Debug)]
struct Timed<T>(T, Duration);

/// Where code is kept that programs of the same content have had.
#[derive(Debug)]
struct Kept {
    store: Arc<dyn Store>,
    content: Content,
}

/// A module-scope variable that the host may read or write by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostVariable {
    /// Valid as long as the program is.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    pub is_readable: bool,
    pub is_writable: bool,
}

/// A checked program, ready for kernels to be compiled: SPIR-V translated to IR, or known to be
/// what an earlier program was.
#[derive(Debug)]
pub struct Program {
    /// Translated when first asked for, if there is a source.
    module: OnceLock<Result<Module, Diagnostic>>,
    source: Option<Source>,
    kernels: Vec<KernelInfo>,
    /// Who launches each, and its function.
    roles: Vec<(KernelRole, FuncId)>,
    warnings: Vec<String>,
    options: BuildOptions,
    target: Target,
    globals: Arc<Globals>,
    host_variables: Vec<(String, HostVariable)>,
    /// Bytes of module-scope variables in global memory.
    global_variable_size: u64,
    /// The kernel of each block.
    blocks: HashMap<FuncId, usize>,
    /// One for each kernel.
    known: Vec<Known>,
    kept: Option<Kept>,
    dump: Dump,
}

/// What a module is translated from.
#[derive(Debug)]
struct Source {
    modules: Vec<Arc<Vec<u32>>>,
    spec: SpecConstants,
}

impl Source {
    fn words(&self) -> Vec<&[u32]> {
        self.modules.iter().map(|words| words.as_slice()).collect()
    }
}

impl Program {
    /// Decodes, checks, links (when there is more than one module) and translates modules.
    pub fn from_spirv(
        modules: &[&[u32]],
        spec: &SpecConstants,
        options: &BuildOptions,
    ) -> Result<Program, Diagnostic> {
        let dump = Dump::from_env();
        for (i, words) in modules.iter().enumerate() {
            dump.write_bytes("spirv", &format!("module{i}"), "spv", || {
                words.iter().flat_map(|w| w.to_le_bytes()).collect()
            });
        }
        Program::from_module(spirv::translate(modules, spec, options)?, options)
    }

    /// [`Program::from_spirv`], with what programs of the same modules, constants and options have
    /// left in a store: if all that is needed is there, the modules are not so much as looked at.
    /// Not where somebody reads what compiling writes down.
    pub fn from_spirv_with(
        store: Arc<dyn Store>,
        modules: Vec<Arc<Vec<u32>>>,
        spec: &SpecConstants,
        options: &BuildOptions,
    ) -> Result<Program, Diagnostic> {
        let source = Source {
            modules,
            spec: spec.clone(),
        };
        let words = source.words();
        if Dump::from_env().is_on() {
            return Program::from_spirv(&words, spec, options);
        }
        let target = codegen::target();
        let content = Content::new(&words, spec, options, &target, forced_width());
        let key = content.program_key();
        let interface = store.load(&key);
        let interface = interface.and_then(|bytes| postcard::from_bytes(&bytes).ok());
        let mut program = match interface {
            Some(interface) => Program::new(interface, None, options, &target)?,
            None => {
                let module = spirv::translate(&words, spec, options)?;
                let interface = Interface::new(&module)?;
                if let Ok(bytes) = postcard::to_stdvec(&interface) {
                    store.save(&key, &bytes);
                }
                Program::new(interface, Some(module), options, &target)?
            }
        };
        program.source = Some(source);
        program.kept = Some(Kept { store, content });
        Ok(program)
    }

    /// A program of a module in IR.
    pub fn from_module(module: Module, options: &BuildOptions) -> Result<Program, Diagnostic> {
        Program::for_target(module, options, &codegen::target())
    }

    /// [`Program::from_module`] for another target than the one that was chosen for the process.
    /// The machine must have it.
    pub fn for_target(
        module: Module,
        options: &BuildOptions,
        target: &Target,
    ) -> Result<Program, Diagnostic> {
        Program::new(Interface::new(&module)?, Some(module), options, target)
    }

    fn new(
        interface: Interface,
        module: Option<Module>,
        options: &BuildOptions,
        target: &Target,
    ) -> Result<Program, Diagnostic> {
        let dump = Dump::from_env();
        if let Some(module) = &module {
            dump.write("ir", "module", || module.to_string());
        }
        let Interface {
            kernels,
            roles,
            globals: objects,
            host_names,
            warnings,
        } = interface;
        let globals = Globals::new(&objects)?;
        let host_variables = host_names.into_iter().map(|found| {
            let index = found.global.index();
            let (Some(object), Some(&address)) =
                (objects.get(index), globals.addresses().get(found.global))
            else {
                return Err(Diagnostic::new(format!(
                    "there is no object {:?}",
                    found.name
                )));
            };
            let variable = HostVariable {
                address,
                size: object.size,
                is_readable: found.is_readable,
                is_writable: found.is_writable,
            };
            Ok((found.name, variable))
        });
        let variables = objects.iter().filter(|g| g.space == AddressSpace::Global);
        Ok(Program {
            host_variables: host_variables.collect::<Result<_, _>>()?,
            global_variable_size: variables.map(|g| g.size).sum(),
            globals: Arc::new(globals),
            blocks: (roles.iter().enumerate())
                .filter(|(_, (role, _))| *role == KernelRole::Block)
                .map(|(index, &(_, func))| (func, index))
                .collect(),
            known: kernels.iter().map(|_| Known::default()).collect(),
            kept: None,
            module: module.map_or_else(OnceLock::new, |module| OnceLock::from(Ok(module))),
            source: None,
            kernels,
            roles,
            warnings,
            options: options.clone(),
            target: *target,
            dump,
        })
    }

    fn module(&self) -> Result<&Module, Diagnostic> {
        let translate = || match &self.source {
            Some(source) => spirv::translate(&source.words(), &source.spec, &self.options),
            None => Err(Diagnostic::new("there is nothing to translate")),
        };
        let module = self.module.get_or_init(translate);
        module.as_ref().map_err(Clone::clone)
    }

    /// The kernels, in the order of the modules' entry points.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// The kernels, as indices into [`Program::kernels`], that run before all others, or when the
    /// program goes.
    pub fn kernels_with_role(&self, role: KernelRole) -> Vec<usize> {
        let kernels = self.roles.iter().enumerate();
        kernels
            .filter(|(_, (of, _))| *of == role)
            .map(|(index, _)| index)
            .collect()
    }

    /// The kernel, as an index, that is launched as a block.
    pub fn block(&self, func: FuncId) -> Option<usize> {
        self.blocks.get(&func).copied()
    }

    /// What was wrong with the modules, and as what it was taken: lines for a build log.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Bytes of module-scope variables in global memory.
    pub fn global_variable_size(&self) -> u64 {
        self.global_variable_size
    }

    /// The variable that the host names so.
    pub fn host_variable(&self, name: &str) -> Option<HostVariable> {
        let mut variables = self.host_variables.iter();
        let (_, found) = variables.find(|(known, _)| known == name)?;
        Some(*found)
    }

    /// What was kept of a kernel.
    fn load(&self, kernel: usize, entry: Entry<'_>) -> Option<Vec<u8>> {
        let Kept { store, content } = self.kept.as_ref()?;
        store.load(&content.key(kernel, entry))
    }

    /// Keeps something of a kernel.
    fn save(&self, kernel: usize, entry: Entry<'_>, bytes: impl FnOnce() -> Option<Vec<u8>>) {
        if let Some(Kept { store, content }) = &self.kept
            && let Some(bytes) = bytes()
        {
            store.save(&content.key(kernel, entry), &bytes);
        }
    }

    /// What was kept of a kernel, or is made and kept.
    fn kept_or<T: Serialize + DeserializeOwned>(
        &self,
        kernel: usize,
        entry: Entry<'_>,
        make: impl FnOnce() -> Result<T, Diagnostic>,
    ) -> Result<T, Diagnostic> {
        let kept = self.load(kernel, entry);
        if let Some(kept) = kept.and_then(|bytes| postcard::from_bytes(&bytes).ok()) {
            return Ok(kept);
        }
        let made = make()?;
        self.save(kernel, entry, || postcard::to_stdvec(&made).ok());
        Ok(made)
    }

    fn body(&self, kernel: usize) -> Result<&Timed<Body>, Diagnostic> {
        let make = || {
            let mut watch = Stopwatch::start();
            let prepared = transform::prepare_kernel(self.module()?, kernel, &self.options)?;
            self.dump.write("ir", &self.kernels[kernel].name, || {
                let all = std::iter::once(&prepared.function).chain(prepared.functions.values());
                all.map(Function::to_string).collect()
            });
            let body = Body {
                function: prepared.function,
                params: prepared.params,
                functions: prepared.functions,
                remarks: prepared.remarks,
            };
            Ok(Timed(body, watch.lap()))
        };
        let body = self.known[kernel].body.get_or_init(make);
        body.as_ref().map_err(Clone::clone)
    }

    fn timed_facts(&self, kernel: usize) -> Result<&Timed<Facts>, Diagnostic> {
        let find = || {
            let Timed(body, _) = self.body(kernel)?;
            let width = match (self.kernels[kernel].required_sub_group_size, forced_width()) {
                (Some(size), _) => Width::Required(size as u8),
                (None, Some(width)) => Width::Forced(width),
                (None, None) => Width::Free,
            };
            let text = |remark: &Remark| self.remark_text(remark);
            Ok(Facts::new(body, width, &self.target, text))
        };
        let make = || {
            // Not as a part of the rest.
            let has_body = self.known[kernel].body.get().is_some();
            let mut watch = Stopwatch::start();
            let facts = self.kept_or(kernel, Entry::Facts, find)?;
            let body = match (has_body, self.known[kernel].body.get()) {
                (false, Some(Ok(Timed(_, time)))) => *time,
                _ => Duration::ZERO,
            };
            Ok(Timed(facts, watch.lap().saturating_sub(body)))
        };
        let facts = self.known[kernel].facts.get_or_init(make);
        facts.as_ref().map_err(Clone::clone)
    }

    fn facts(&self, kernel: usize) -> Result<&Facts, Diagnostic> {
        self.timed_facts(kernel).map(|Timed(facts, _)| facts)
    }

    /// A remark with its place in the source, when that is known.
    fn remark_text(&self, remark: &Remark) -> String {
        let place = remark
            .loc
            .0
            .and_then(|n| self.module().ok()?.locations.get(n.get() as usize - 1));
        match place {
            Some(place) => format!("{place}: {remark}"),
            None => remark.to_string(),
        }
    }

    /// Instructions of `kernel` itself, inlined and optimised, for one work-item; 0 for one that
    /// cannot be.
    pub fn instructions(&self, kernel: usize) -> usize {
        self.facts(kernel).map_or(0, |facts| facts.instructions)
    }

    /// Whether `kernel` writes through the pointer at an offset of its argument block: not all
    /// such pointers are found ([`crate::analysis::written_params`]).
    pub fn writes_through(&self, kernel: usize, offset: u32) -> bool {
        let facts = self.facts(kernel);
        facts.is_ok_and(|facts| facts.written.contains(&offset))
    }

    /// The vector width that `kernel` (an index into [`Program::kernels`]) is compiled for unless
    /// work-groups are too short for it, which is the largest size of its sub-groups; 1 for a
    /// kernel that cannot be.
    pub fn width(&self, kernel: usize) -> u32 {
        let facts = self.facts(kernel);
        facts.map_or(1, |facts| u32::from(facts.width))
    }

    /// Whether work-groups of `local_size` of `kernel` may run as groups of another size: its
    /// results are the same for every local size, or each group is one work-item.
    pub fn may_regroup(&self, kernel: usize, local_size: [u64; 3]) -> bool {
        self.facts(kernel).is_ok_and(|facts| {
            !facts.depends_on_groups || local_size == [1; 3] && self.facts_alone(kernel).is_some()
        })
    }

    /// The kernel for groups of one work-item, if several of those may run as one.
    fn alone(&self, kernel: usize) -> Option<&Function> {
        let make = || {
            let Timed(body, _) = self.body(kernel).ok()?;
            let function = workgroup::of_one_item(&body.function, &body.params)?;
            self.dump
                .write("alone", &self.kernels[kernel].name, || function.to_string());
            Some(function)
        };
        self.known[kernel].alone.get_or_init(make).as_ref()
    }

    /// What is known of it.
    fn facts_alone(&self, kernel: usize) -> Option<&FactsAlone> {
        let find = || {
            let Some(function) = self.alone(kernel) else {
                return Ok(None);
            };
            let Timed(body, _) = self.body(kernel)?;
            let (width, remarks) = match forced_width() {
                Some(width) => (width, Vec::new()),
                None => workgroup::choose_width(function, &body.functions, &self.target),
            };
            let remarks = remarks.iter().map(|remark| {
                let remark = self.remark_text(remark);
                format!("in work-groups of one work-item: {remark}")
            });
            let remarks = remarks.collect();
            Ok(Some(FactsAlone { width, remarks }))
        };
        let make = || self.kept_or(kernel, Entry::FactsAlone, find).ok().flatten();
        self.known[kernel].facts_alone.get_or_init(make).as_ref()
    }

    /// How many rows of work-items run `kernel` best in a work-group, if there are as many: a power
    /// of two.
    pub fn preferred_rows(&self, kernel: usize) -> u32 {
        let facts = self.facts(kernel);
        facts.map_or(1, |facts| u32::from(facts.rows))
    }

    /// What code for `kernel` can be specialised for of the images and samplers among its
    /// arguments: `args` is the argument block, and `descriptor` what lies at the address of an
    /// image.
    pub fn bindings(
        &self,
        kernel: usize,
        args: &[u8],
        mut descriptor: impl FnMut(u64) -> Option<Descriptor>,
    ) -> Bindings {
        let mut bindings = Bindings::NONE;
        let Ok(facts) = self.facts(kernel) else {
            return bindings;
        };
        for (n, object) in facts.objects.iter().enumerate() {
            let argument = args.get(object.offset as usize..).unwrap_or_default();
            if object.is_sampler {
                if let Some(&bits) = argument.first_chunk() {
                    bindings.bind_sampler(n, u32::from_le_bytes(bits));
                }
            } else if let Some(&address) = argument.first_chunk()
                && let Some(image) = descriptor(u64::from_le_bytes(address))
            {
                bindings.bind_image(n, &image);
            }
        }
        bindings
    }

    /// The key of a launch of `kernel` that asked for a local size which it
    /// [may not need](Program::may_regroup), where `range` has another.
    pub fn regrouped_launch_key(
        &self,
        kernel: usize,
        range: &NdRange,
        asked: [u64; 3],
        bindings: Bindings,
    ) -> LaunchKey {
        match self.facts(kernel) {
            Ok(facts) if facts.depends_on_groups && range.local_size != asked => {
                let width = self.facts_alone(kernel).map_or(1, |alone| alone.width);
                let size = range.local_size[0];
                let width = match forced_width() {
                    Some(width) => width,
                    None => workgroup::launch_width(width, size, &self.target),
                };
                LaunchKey {
                    bindings,
                    groups_of_one: true,
                    ..LaunchKey::new(range, width)
                }
            }
            _ => self.launch_key(kernel, range, bindings),
        }
    }

    /// The key of a launch of `kernel`.
    pub fn launch_key(&self, kernel: usize, range: &NdRange, bindings: Bindings) -> LaunchKey {
        let width = match self.facts(kernel) {
            Ok(facts) if facts.has_fixed_width => facts.width,
            Ok(facts) => workgroup::launch_width(facts.width, range.local_size[0], &self.target),
            Err(_) => 1,
        };
        LaunchKey {
            bindings,
            ..LaunchKey::new(range, width)
        }
    }

    /// Whether launches of `kernel` over the same sizes likely have the same key: its work-groups
    /// are of the size that it requires or along x, and it is given no images or samplers that
    /// matter. Not if somebody reads what compiling writes down, which is to be of launches.
    pub fn is_predictable(&self, kernel: usize) -> bool {
        let Ok(facts) = self.facts(kernel) else {
            return false;
        };
        let info = &self.kernels[kernel];
        let told = info.required_work_group_size.or(info.work_group_size_hint);
        let has_shape = told.is_some() || facts.is_along_x;
        has_shape && facts.objects.is_empty() && !self.dump.is_on()
    }

    /// Code for work-groups of `kernel`, whose images are expanded, for a target, and of the
    /// functions that it calls.
    fn generate(
        &self,
        kernel: usize,
        function: &Function,
        key: &LaunchKey,
        target: &Target,
    ) -> Result<Generated, Diagnostic> {
        let Timed(body, prepare) = self.body(kernel)?;
        let name = &self.kernels[kernel].name;
        let mut times = Times {
            prepare: *prepare,
            ..Times::default()
        };
        let mut watch = Stopwatch::start();
        let mut code = workgroup::build(function, &body.params, key, target)?;
        times.vectorize += watch.lap();
        self.dump.write("wg", name, || code.split.to_string());
        lower::collectives::expand(&mut code.function);
        code.remarks
            .extend(lower::memory_order::run(&mut code.function));
        let mut versions = Versions::default();
        let functions = &body.functions;
        let mut private_bytes = 0;
        let mut generate = |func: &mut Function, name: &str, versions: &mut Versions| {
            lower::builtins::expand(func, target);
            transform::cleanup(func);
            self.dump.write("vec", name, || func.to_string());
            let target = codegen::generated(target);
            lower::calls::run(func, functions, versions);
            lower::legalize::run(func, &target);
            lower::narrow::run(func, key);
            lower::gathers::run(func, &target);
            lower::lanes::run(func, &target);
            lower::elements::run(func);
            lower::reassociate::run(func);
            self.dump.write("lowered", name, || func.to_string());
            times.lower += watch.lap();
            let private = PrivateMemory {
                scratch: func.params()[1],
                taken: private_bytes,
            };
            let dump = self.dump.of(name);
            let machine = codegen::compile(func, &target, Some(private), &dump);
            if let Ok(code) = &machine {
                private_bytes = code.private_bytes;
            }
            times.machine += watch.lap();
            machine
        };
        let mut told = HashSet::new();
        let mut machine = vec![generate(&mut code.function, name, &mut versions)];
        while machine.last().is_some_and(Result::is_ok)
            && let Some(callee) = versions.get(machine.len() as u32).cloned()
        {
            let called = &functions[&callee.function];
            let (mut code_of, remarks) = match workgroup::build_function(called, &callee, key) {
                Ok(built) => built,
                Err(reason) => {
                    let reason = format!("in the function {:?} {reason}", called.name);
                    if workgroup::uses_sub_groups(function) {
                        // Their size has been told.
                        return Err(Diagnostic::new(format!(
                            "the kernel {name:?} uses sub-groups of {} work-items but {reason}",
                            key.width
                        )));
                    }
                    let single = key.for_one_work_item();
                    let mut made = self.generate(kernel, function, &single, target)?;
                    let why = format!("runs one work-item at a time: {reason}");
                    let why = Remark::new(SourceLoc::default(), why);
                    made.code.remarks.push(why);
                    return Ok(made);
                }
            };
            let name = format!("{name}.{}.{}", called.name, machine.len());
            let in_memory_order = lower::memory_order::run(&mut code_of);
            // Of one code of each function.
            if told.insert(callee.function) {
                code.remarks.extend(remarks);
                code.remarks.extend(in_memory_order);
            }
            machine.push(generate(&mut code_of, &name, &mut versions));
        }
        let machine: Result<Vec<MachineCode>, Diagnostic> = machine.into_iter().collect();
        Ok(Generated {
            code,
            machine: machine.map(codegen::link),
            times,
        })
    }

    /// Compiles `kernel` for one launch key. Takes about a millisecond, or a tenth of one where
    /// code was kept; holds no lock. The caller caches the result.
    pub fn compile(&self, kernel: usize, key: &LaunchKey) -> Result<CompiledKernel, Diagnostic> {
        let name = &self.kernels[kernel].name;
        let entry = Entry::Code(key);
        let mut watch = Stopwatch::start();
        let kept = self.load(kernel, entry);
        let kept = kept.and_then(|bytes| KernelCode::from_object_file(&bytes));
        let is_kept = kept.is_some();
        let (code, mut times) = match kept {
            Some(code) => (code, Times::default()),
            None => {
                let (code, times) = self.make(kernel, key)?;
                watch.lap();
                self.save(kernel, entry, || code.to_object_file());
                (code, times)
            }
        };
        if self.dump.remarks() {
            for remark in &code.about.remarks {
                notice(format_args!("kernel `{name}`: {remark}"));
            }
            notice(format_args!("kernel `{name}`: compiled in {times}"));
        }
        let KernelCode { machine, mut about } = code;
        let lines = std::mem::take(&mut about.lines);
        let code = Code::place(name, machine, self.globals.addresses(), lines)?;
        times.machine += watch.lap();
        Ok(CompiledKernel::new(
            code,
            about,
            self.globals.clone(),
            times,
            is_kept,
        ))
    }

    /// Makes the code of `kernel` for one launch key.
    fn make(&self, kernel: usize, key: &LaunchKey) -> Result<(KernelCode, Times), Diagnostic> {
        let Timed(facts, time) = self.timed_facts(kernel)?;
        let Timed(body, _) = self.body(kernel)?;
        let name = &self.kernels[kernel].name;
        let mut watch = Stopwatch::start();
        let alone = match key.groups_of_one {
            true => self.alone(kernel).zip(self.facts_alone(kernel)),
            false => None,
        };
        let mut function = Cow::Borrowed(alone.map_or(&body.function, |(alone, _)| alone));
        if key.bindings != Bindings::NONE
            && lower::images::expand(function.to_mut(), &facts.objects, key)
        {
            transform::cleanup_kernel(function.to_mut());
            self.dump.write("images", name, || function.to_string());
        }
        let expand = watch.lap();
        let mut made = self.generate(kernel, &function, key, &self.target)?;
        let least = Target::cranelift();
        if let Err(missing) = &made.machine
            && self.target != least
        {
            let remark = format!("compiled for vectors of 128 bits: {missing}");
            made = self.generate(kernel, &function, key, &least)?;
            let remark = Remark::new(SourceLoc::default(), remark);
            made.code.remarks.push(remark);
        }
        let Generated {
            code,
            machine,
            mut times,
        } = made;
        times.prepare += *time;
        times.vectorize += expand;
        let mut machine = machine?;
        machine.listing = None;
        let lines = std::mem::take(&mut machine.lines);
        let remarks = alone.map_or(&facts.remarks, |(_, facts)| &facts.remarks);
        let remarks = remarks.iter().cloned();
        let about = About {
            name: name.clone(),
            lines: LineTable::new(&lines, &self.module()?.locations),
            width: u32::from(key.width),
            context_bytes_per_item: code.context_bytes_per_item,
            context_align: code.context_align,
            context_padding: code.context_padding,
            remarks: remarks
                .chain(code.remarks.iter().map(|r| self.remark_text(r)))
                .collect(),
        };
        let code = KernelCode { machine, about };
        debug_assert!(code.is_read_back(), "{code:?}");
        Ok((code, times))
    }
}

/// What [`Program::generate`] makes.
struct Generated {
    code: WorkGroupCode,
    /// Or what the target's back end lacks.
    machine: Result<MachineCode, Diagnostic>,
    times: Times,
}

/// The vector width that the environment forces.
fn forced_width() -> Option<u8> {
    environment::chosen("BROLGA_WIDTH", "1, 2, 4, 8, 16 or 32", |value| {
        let width = value.parse().ok()?;
        matches!(width, 1 | 2 | 4 | 8 | 16 | 32).then_some(width)
    })
}

/// Bytes that the work-group variables of a kernel and of what it calls take in whatever order they
/// are laid out: each is padded to the strictest alignment among them.
fn local_mem_size(module: &Module, kernel: FuncId) -> u64 {
    let mut seen = HashSet::from([kernel]);
    let mut todo = vec![kernel];
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut align = 1;
    while let Some(id) = todo.pop() {
        let func = &module.functions[id];
        for local in func.locals.values() {
            let size = sizes.entry(&local.name).or_default();
            *size = local.size.max(*size);
            align = align.max(u64::from(local.align));
        }
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                if let Op::Call(callee) = func.insts[inst].op
                    && seen.insert(callee)
                {
                    todo.push(callee);
                }
            }
        }
    }
    sizes
        .values()
        .map(|size| size.next_multiple_of(align))
        .sum()
}
