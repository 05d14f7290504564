//! A checked program and its kernels, compiled on demand per launch shape.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use brolga_host::{environment, notice};

use crate::abi::{KernelFn, ScratchSize};
use crate::analysis::written_params;
use crate::calls::Versions;
use crate::codegen::{MachineCode, PrivateMemory};
use crate::diagnostic::{Diagnostic, Remark};
use crate::dump::Dump;
use crate::image::{Bindings, Descriptor};
use crate::ir::{FuncId, Function, KernelRole, Module, Op, ParamSource, SourceLoc};
use crate::jit::Code;
use crate::jit::globals::Globals;
use crate::kernel_info::{AddressSpace, KernelInfo};
use crate::launch::{LaunchKey, NdRange, SUB_GROUP_SIZES};
use crate::lower::images::Object;
use crate::options::{BuildOptions, SpecConstantInfo, SpecConstants};
use crate::target::Target;
use crate::times::{Stopwatch, Times};
use crate::workgroup::WorkGroupCode;
use crate::{codegen, lower, spirv, transform, workgroup};

/// Lists the specialization constants that a module declares, without building it.
pub fn spec_constants(words: &[u32]) -> Result<Vec<SpecConstantInfo>, Diagnostic> {
    spirv::spec_constants(words)
}

/// A kernel ready to be compiled for a launch: inlined, optimised, one lane a value.
#[derive(Debug)]
struct Prepared {
    function: Function,
    params: Vec<ParamSource>,
    /// The functions that are called.
    functions: BTreeMap<FuncId, Function>,
    /// The images and samplers of which a launch key may know something.
    objects: Vec<Object>,
    /// Work-items per vector.
    width: u8,
    /// Whether its results may depend on the local size.
    depends_on_groups: bool,
    /// How many rows its work-groups had better have.
    rows: u8,
    /// Every launch has that width: it is asked for, or the size of sub-groups that an application
    /// may have asked about.
    fixed_width: bool,
    /// Why that width.
    remarks: Vec<String>,
    time: Duration,
    /// What it is in work-groups of one work-item; made when first asked for.
    alone: OnceLock<Option<Alone>>,
}

/// A kernel for work-groups of one work-item, which run several as one.
#[derive(Debug)]
struct Alone {
    function: Function,
    /// Work-items per vector, and why.
    width: u8,
    remarks: Vec<String>,
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

/// A checked program: SPIR-V translated to IR, ready for kernels to be compiled.
#[derive(Debug)]
pub struct Program {
    module: Module,
    kernels: Vec<KernelInfo>,
    options: BuildOptions,
    target: Target,
    globals: Arc<Globals>,
    /// The kernel of each block.
    blocks: HashMap<FuncId, usize>,
    /// One for each kernel; made when first asked for.
    prepared: Vec<OnceLock<Result<Prepared, Diagnostic>>>,
    dump: Dump,
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
        let dump = Dump::from_env();
        dump.write("ir", "module", || module.to_string());
        let kernels = module
            .kernels
            .iter()
            .map(|kernel| {
                let mut info = kernel.info.clone();
                info.local_mem_size = local_mem_size(&module, kernel.func);
                match info.required_sub_group_size {
                    Some(size) if !SUB_GROUP_SIZES.contains(&size) => Err(Diagnostic::new(format!(
                        "the kernel {:?} requires sub-groups of {size} work-items; there are those of {SUB_GROUP_SIZES:?}",
                        info.name
                    ))),
                    _ => Ok(info),
                }
            })
            .collect::<Result<_, _>>()?;
        Ok(Program {
            globals: Arc::new(Globals::new(&module.globals)?),
            blocks: (module.kernels.iter().enumerate())
                .filter(|(_, kernel)| kernel.role == KernelRole::Block)
                .map(|(index, kernel)| (kernel.func, index))
                .collect(),
            prepared: module.kernels.iter().map(|_| OnceLock::new()).collect(),
            module,
            kernels,
            options: options.clone(),
            target: *target,
            dump,
        })
    }

    /// The kernels, in the order of the modules' entry points.
    pub fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// The kernels, as indices into [`Program::kernels`], that run before all others, or when the
    /// program goes.
    pub fn kernels_with_role(&self, role: KernelRole) -> Vec<usize> {
        let kernels = self.module.kernels.iter().enumerate();
        kernels
            .filter(|(_, kernel)| kernel.role == role)
            .map(|(index, _)| index)
            .collect()
    }

    /// The kernel, as an index, that is launched as a block.
    pub fn block(&self, func: FuncId) -> Option<usize> {
        self.blocks.get(&func).copied()
    }

    /// What was wrong with the modules, and as what it was taken: lines for a build log.
    pub fn warnings(&self) -> &[String] {
        &self.module.warnings
    }

    /// Bytes of module-scope variables in global memory.
    pub fn global_variable_size(&self) -> u64 {
        let variables = self.module.globals.values();
        variables
            .filter(|g| g.space == AddressSpace::Global)
            .map(|g| g.size)
            .sum()
    }

    /// The variable that the host names so.
    pub fn host_variable(&self, name: &str) -> Option<HostVariable> {
        let mut names = self.module.host_names.iter();
        let found = names.find(|found| found.name == name)?;
        Some(HostVariable {
            address: self.globals.addresses()[found.global],
            size: self.module.globals[found.global].size,
            is_readable: found.is_readable,
            is_writable: found.is_writable,
        })
    }

    fn prepared(&self, kernel: usize) -> Result<&Prepared, Diagnostic> {
        self.prepared[kernel]
            .get_or_init(|| self.prepare(kernel))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn prepare(&self, kernel: usize) -> Result<Prepared, Diagnostic> {
        let mut watch = Stopwatch::start();
        let transform::Prepared {
            function,
            params,
            functions,
            remarks: found,
        } = transform::prepare_kernel(&self.module, kernel, &self.options)?;
        self.dump.write("ir", &self.kernels[kernel].name, || {
            let all = std::iter::once(&function).chain(functions.values());
            all.map(Function::to_string).collect()
        });
        let required = self.kernels[kernel].required_sub_group_size;
        let forced = forced_width();
        let fixed_width =
            required.is_some() || forced.is_some() || workgroup::uses_sub_groups(&function);
        let (width, mut remarks) = match (required, forced) {
            (Some(size), _) => {
                let remark = format!("runs {size} work-items at a time: the sub-group it requires");
                (size as u8, vec![remark])
            }
            (None, Some(width)) => (width, vec![format!("width {width}, as BROLGA_WIDTH says")]),
            (None, None) => {
                let (width, remarks) = workgroup::choose_width(&function, &functions, &self.target);
                (width, remarks.iter().map(|r| self.remark_text(r)).collect())
            }
        };
        remarks.extend(found.iter().map(|r| self.remark_text(r)));
        Ok(Prepared {
            depends_on_groups: workgroup::depends_on_groups(&function, &params),
            rows: workgroup::preferred_rows(&function),
            objects: lower::images::objects(&function, &params),
            function,
            params,
            functions,
            width,
            fixed_width,
            remarks,
            time: watch.lap(),
            alone: OnceLock::new(),
        })
    }

    /// A remark with its place in the source, when that is known.
    fn remark_text(&self, remark: &Remark) -> String {
        let place = remark
            .loc
            .0
            .and_then(|n| self.module.locations.get(n.get() as usize - 1));
        match place {
            Some(place) => format!("{place}: {remark}"),
            None => remark.to_string(),
        }
    }

    /// Instructions of `kernel` itself, inlined and optimised, for one work-item; 0 for one that
    /// cannot be.
    pub fn instructions(&self, kernel: usize) -> usize {
        self.prepared(kernel).map_or(0, |p| {
            let blocks = p.function.layout.iter();
            blocks.map(|&b| p.function.blocks[b].insts.len()).sum()
        })
    }

    /// Whether `kernel` writes through the pointer at an offset of its argument block: not all
    /// such pointers are found ([`written_params`]).
    pub fn writes_through(&self, kernel: usize, offset: u32) -> bool {
        self.prepared(kernel).is_ok_and(|prepared| {
            let written = written_params(&prepared.function);
            let mut params = prepared.params.iter().zip(prepared.function.params());
            params
                .any(|(source, &param)| *source == ParamSource::Value { offset } && written[param])
        })
    }

    /// The vector width that `kernel` (an index into [`Program::kernels`]) is compiled for unless
    /// work-groups are too short for it, which is the largest size of its sub-groups; 1 for a
    /// kernel that cannot be.
    pub fn width(&self, kernel: usize) -> u32 {
        self.prepared(kernel).map_or(1, |p| u32::from(p.width))
    }

    /// Whether work-groups of `local_size` of `kernel` may run as groups of another size: its
    /// results are the same for every local size, or each group is one work-item.
    pub fn may_regroup(&self, kernel: usize, local_size: [u64; 3]) -> bool {
        self.prepared(kernel).is_ok_and(|prepared| {
            !prepared.depends_on_groups
                || local_size == [1; 3] && self.alone(kernel, prepared).is_some()
        })
    }

    /// The kernel for groups of one work-item, if several of those may run as one.
    fn alone<'a>(&self, kernel: usize, prepared: &'a Prepared) -> Option<&'a Alone> {
        let make = || {
            let function = workgroup::of_one_item(&prepared.function, &prepared.params)?;
            self.dump
                .write("alone", &self.kernels[kernel].name, || function.to_string());
            let (width, remarks) = match forced_width() {
                Some(width) => (width, Vec::new()),
                None => workgroup::choose_width(&function, &prepared.functions, &self.target),
            };
            let remarks = remarks.iter().map(|remark| {
                format!(
                    "in work-groups of one work-item: {}",
                    self.remark_text(remark)
                )
            });
            Some(Alone {
                remarks: remarks.collect(),
                function,
                width,
            })
        };
        prepared.alone.get_or_init(make).as_ref()
    }

    /// How many rows of work-items run `kernel` best in a work-group, if there are as many: a power
    /// of two.
    pub fn preferred_rows(&self, kernel: usize) -> u32 {
        self.prepared(kernel).map_or(1, |p| u32::from(p.rows))
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
        let Ok(prepared) = self.prepared(kernel) else {
            return bindings;
        };
        for (n, object) in prepared.objects.iter().enumerate() {
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
        match self.prepared(kernel) {
            Ok(prepared) if prepared.depends_on_groups && range.local_size != asked => {
                let width = self.alone(kernel, prepared).map_or(1, |alone| alone.width);
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
        let width = match self.prepared(kernel) {
            Ok(prepared) if prepared.fixed_width => prepared.width,
            Ok(prepared) => {
                workgroup::launch_width(prepared.width, range.local_size[0], &self.target)
            }
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
        let Ok(prepared) = self.prepared(kernel) else {
            return false;
        };
        let mut functions = prepared.functions.values().chain([&prepared.function]);
        let info = &self.kernels[kernel];
        let told = info.required_work_group_size.or(info.work_group_size_hint);
        let has_shape = told.is_some() || functions.all(workgroup::is_along_x);
        has_shape && prepared.objects.is_empty() && !self.dump.is_on()
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
        let prepared = self.prepared(kernel)?;
        let name = &self.kernels[kernel].name;
        let mut times = Times {
            prepare: prepared.time,
            ..Times::default()
        };
        let mut watch = Stopwatch::start();
        let mut code = workgroup::build(function, &prepared.params, key, target)?;
        times.vectorize += watch.lap();
        self.dump.write("wg", name, || code.split.to_string());
        lower::collectives::expand(&mut code.function);
        code.remarks
            .extend(lower::memory_order::run(&mut code.function));
        let mut versions = Versions::default();
        let functions = &prepared.functions;
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

    /// Compiles `kernel` for one launch key. Takes about a millisecond; holds no lock. The caller
    /// caches the result.
    pub fn compile(&self, kernel: usize, key: &LaunchKey) -> Result<CompiledKernel, Diagnostic> {
        let prepared = self.prepared(kernel)?;
        let name = &self.kernels[kernel].name;
        let mut watch = Stopwatch::start();
        let alone = match key.groups_of_one {
            true => self.alone(kernel, prepared),
            false => None,
        };
        let mut function = Cow::Borrowed(alone.map_or(&prepared.function, |a| &a.function));
        if key.bindings != Bindings::NONE
            && lower::images::expand(function.to_mut(), &prepared.objects, key)
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
        times.vectorize += expand;
        watch.lap();
        let globals = self.globals.addresses();
        let machine = Code::place(name, machine?, globals, &self.module.locations)?;
        times.machine += watch.lap();
        let remarks: Vec<String> = alone
            .map_or(&prepared.remarks, |alone| &alone.remarks)
            .iter()
            .cloned()
            .chain(code.remarks.iter().map(|r| self.remark_text(r)))
            .collect();
        if self.dump.remarks() {
            for remark in &remarks {
                notice(format_args!("kernel `{name}`: {remark}"));
            }
            notice(format_args!("kernel `{name}`: compiled in {times}"));
        }
        Ok(CompiledKernel {
            name: name.clone(),
            code: machine,
            _globals: self.globals.clone(),
            width: u32::from(key.width),
            context_bytes_per_item: code.context_bytes_per_item,
            context_align: code.context_align,
            context_padding: code.context_padding,
            remarks,
            times,
        })
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

/// Generated code for one kernel and launch key, with the memory that holds it.
#[derive(Debug)]
pub struct CompiledKernel {
    name: String,
    code: Code,
    /// The code holds addresses into them.
    _globals: Arc<Globals>,
    width: u32,
    context_bytes_per_item: u64,
    context_align: u64,
    context_padding: u64,
    remarks: Vec<String>,
    times: Times,
}

impl CompiledKernel {
    /// The function to call; see [`KernelFn`] for its contract. Valid while `self` lives.
    pub fn entry(&self) -> KernelFn {
        // SAFETY: the code was generated for a function of this signature.
        unsafe { std::mem::transmute::<*const u8, KernelFn>(self.code.entry()) }
    }

    /// Work-items per vector.
    pub fn width(&self) -> u32 {
        self.width
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of machine code.
    pub fn code_size(&self) -> usize {
        self.code.size()
    }

    /// Bytes of stack that a call takes, without what the functions take that the code calls.
    pub fn stack_bytes(&self) -> u32 {
        self.code.stack_bytes()
    }

    /// The line of the source that the machine code at an offset comes from, as `file:line`, if the
    /// module says lines.
    pub fn line(&self, offset: usize) -> Option<&str> {
        self.code.line(offset)
    }

    /// The scratch memory that a thread needs to run work-groups of `local_size` work-items with
    /// `local_mem_size` bytes of work-group memory. What is too large for 64 bits is as much as
    /// they can say.
    pub fn scratch_size(&self, local_size: [u64; 3], local_mem_size: u64) -> ScratchSize {
        let items = local_size
            .iter()
            .product::<u64>()
            .next_multiple_of(u64::from(self.width))
            + self.context_padding;
        let (private, align) = self.code.private_memory();
        let context = items.saturating_mul(self.context_bytes_per_item);
        let local = local_mem_size.checked_next_multiple_of(self.context_align);
        ScratchSize {
            private: private.into(),
            shared: local.unwrap_or(u64::MAX).saturating_add(context),
            align: self.context_align.max(align.into()),
        }
    }

    /// How long each stage of compiling it took.
    pub fn times(&self) -> &Times {
        &self.times
    }

    /// How the kernel was vectorized and why, for the user to read.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
