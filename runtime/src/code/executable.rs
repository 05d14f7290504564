//! A built program's kernels and the code made for them.
//!
//! Code is made when a launch needs it, one piece for each [`LaunchKey`], and kept. A map's lock is
//! held only to look a key up or add it; compiling happens in the key's own cell, so that launches
//! of other code go on meanwhile, and a second launch of the same code waits for the first instead
//! of compiling again. What a kernel's first launch is likely to need is made in the background
//! before, from when its program is built or the kernel object created
//! (`Executable::compile_ahead`).

use std::any::Any;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock, mpsc};

use brolga_compiler::abi::{SCRATCH_ALIGN, ScratchSize};
use brolga_compiler::image::{Bindings, Descriptor};
use brolga_compiler::ir::FuncId;
use brolga_compiler::{
    CompiledKernel, Diagnostic, HostVariable, KernelFn, KernelInfo, KernelRole, LaunchKey, NdRange,
    Program,
};
use parking_lot::Mutex;
use serde_json::json;

use super::background;
use super::credit::Credit;
use crate::base::trace;
use brolga_engine::system::clock::timestamp;
use brolga_engine::system::{stack, threads};

/// A common choice of applications.
const USUAL_LOCAL_SIZE: u64 = 64;

/// So many kernels of a program are likely all launched.
const FEW_KERNELS: usize = 8;

/// A launch of whole work-groups, of the size that the kernel tells or along x: what remarks are
/// about, and what code is made for ahead of launches.
fn usual_range(kernel: &KernelInfo) -> NdRange {
    let told = kernel
        .required_work_group_size
        .or(kernel.work_group_size_hint);
    let local_size = told.map_or([USUAL_LOCAL_SIZE, 1, 1], |size| size.map(u64::from));
    NdRange {
        work_dim: 3,
        global_offset: [0; 3],
        global_size: local_size,
        local_size,
    }
}

/// Something that describes kernels and makes code for them: the compiler's [`Program`], or native
/// functions ([`NativeKernels`]).
pub trait KernelSource: Send + Sync {
    fn kernels(&self) -> &[KernelInfo];

    /// The kernels with a role: initializers, which run before all others, or finalizers, which run
    /// when the program is destroyed, or blocks.
    fn kernels_with_role(&self, _role: KernelRole) -> Vec<usize> {
        Vec::new()
    }

    /// The kernel that is launched as a block.
    fn block(&self, _block: FuncId) -> Option<usize> {
        None
    }

    /// Bytes of program-scope variables in the global address space.
    fn global_variable_size(&self) -> u64 {
        0
    }

    /// The program-scope variable of this name, if the host can access it.
    fn host_variable(&self, _name: &str) -> Option<HostVariable> {
        None
    }

    /// Work-items per vector of `kernel`'s code.
    fn width(&self, kernel: usize) -> u32;

    /// Whether groups of `local_size` of `kernel` may run as groups of another size.
    fn may_regroup(&self, kernel: usize, local_size: [u64; 3]) -> bool;

    /// Whether `kernel` is known to write through the pointer at an offset of its argument block.
    fn writes_through(&self, _kernel: usize, _offset: u32) -> bool {
        false
    }

    /// How many rows of work-items run `kernel` best in a work-group: a power of two.
    fn preferred_rows(&self, kernel: usize) -> u32;

    /// What code for a launch over `range` depends on, given the local size that it asked for and
    /// the argument block.
    fn launch_key(&self, kernel: usize, range: &NdRange, asked: [u64; 3], args: &[u8])
    -> LaunchKey;

    /// Whether launches of `kernel` over the same sizes likely have the same key, and code for it
    /// may be made before any.
    fn is_predictable(&self, _kernel: usize) -> bool {
        false
    }

    /// Compiles `kernel` for launches with this key.
    fn compile(&self, kernel: usize, key: &LaunchKey) -> Result<Code, Diagnostic>;
}

impl KernelSource for Program {
    fn kernels(&self) -> &[KernelInfo] {
        Program::kernels(self)
    }

    fn kernels_with_role(&self, role: KernelRole) -> Vec<usize> {
        Program::kernels_with_role(self, role)
    }

    fn block(&self, block: FuncId) -> Option<usize> {
        Program::block(self, block)
    }

    fn global_variable_size(&self) -> u64 {
        Program::global_variable_size(self)
    }

    fn host_variable(&self, name: &str) -> Option<HostVariable> {
        Program::host_variable(self, name)
    }

    fn width(&self, kernel: usize) -> u32 {
        Program::width(self, kernel)
    }

    fn may_regroup(&self, kernel: usize, local_size: [u64; 3]) -> bool {
        Program::may_regroup(self, kernel, local_size)
    }

    fn writes_through(&self, kernel: usize, offset: u32) -> bool {
        Program::writes_through(self, kernel, offset)
    }

    fn preferred_rows(&self, kernel: usize) -> u32 {
        Program::preferred_rows(self, kernel)
    }

    fn launch_key(
        &self,
        kernel: usize,
        range: &NdRange,
        asked: [u64; 3],
        args: &[u8],
    ) -> LaunchKey {
        let descriptor = |address: u64| {
            // SAFETY: arguments that are images are null or the addresses of descriptors that live
            // as long as the launch.
            unsafe { (address as *const Descriptor).as_ref().copied() }
        };
        let bindings = self.bindings(kernel, args, descriptor);
        Program::regrouped_launch_key(self, kernel, range, asked, bindings)
    }

    fn is_predictable(&self, kernel: usize) -> bool {
        Program::is_predictable(self, kernel)
    }

    fn compile(&self, kernel: usize, key: &LaunchKey) -> Result<Code, Diagnostic> {
        Program::compile(self, kernel, key).map(Code::compiled)
    }
}

/// One native function for each kernel. Built-in kernels are this, and so are the kernels that test
/// the engine.
pub struct NativeKernels {
    kernels: Vec<(KernelInfo, KernelFn)>,
    infos: Vec<KernelInfo>,
}

impl NativeKernels {
    /// Wraps functions as kernels.
    ///
    /// # Safety
    /// Each function must keep to the contract of [`KernelFn`], and read arguments as its
    /// [`KernelInfo`] says.
    pub unsafe fn new(kernels: Vec<(KernelInfo, KernelFn)>) -> NativeKernels {
        let infos = kernels.iter().map(|(info, _)| info.clone()).collect();
        NativeKernels { kernels, infos }
    }
}

impl KernelSource for NativeKernels {
    fn kernels(&self) -> &[KernelInfo] {
        &self.infos
    }

    fn width(&self, _kernel: usize) -> u32 {
        1
    }

    fn may_regroup(&self, _kernel: usize, _local_size: [u64; 3]) -> bool {
        // Nothing is known of what the function reads.
        false
    }

    fn preferred_rows(&self, _kernel: usize) -> u32 {
        1
    }

    fn launch_key(
        &self,
        _kernel: usize,
        _range: &NdRange,
        _asked: [u64; 3],
        _args: &[u8],
    ) -> LaunchKey {
        // One function is good for every launch.
        LaunchKey {
            width: 1,
            linear: false,
            full_chunks: false,
            row_is_chunk: false,
            zero_offset: false,
            small_ids: false,
            uniform_groups: false,
            eight_rows: false,
            groups_of_one: false,
            bindings: Bindings::NONE,
        }
    }

    fn compile(&self, kernel: usize, _key: &LaunchKey) -> Result<Code, Diagnostic> {
        Ok(Code::native(self.kernels[kernel].1))
    }
}

/// Callable code with the measured cost of running it.
#[derive(Debug)]
pub struct Code {
    entry: KernelFn,
    /// Owns the memory that `entry` is in, unless that is a native function.
    compiled: Option<CompiledKernel>,
    cost: Cost,
    /// Whether it was made ahead, and no launch has asked for it.
    is_ahead: AtomicBool,
}

impl Code {
    /// The compiler's remarks about it.
    fn remarks(&self) -> &[String] {
        self.compiled.as_ref().map_or(&[], |code| code.remarks())
    }

    fn compiled(kernel: CompiledKernel) -> Code {
        Code {
            entry: kernel.entry(),
            compiled: Some(kernel),
            cost: Cost::default(),
            is_ahead: AtomicBool::new(false),
        }
    }

    pub(crate) fn native(entry: KernelFn) -> Code {
        Code {
            entry,
            compiled: None,
            cost: Cost::default(),
            is_ahead: AtomicBool::new(false),
        }
    }

    /// Whether it was made by an earlier program.
    fn is_kept(&self) -> bool {
        self.compiled.as_ref().is_some_and(CompiledKernel::is_kept)
    }

    /// The function; callable while `self` lives.
    pub(crate) fn entry(&self) -> KernelFn {
        self.entry
    }

    /// Where the machine code is; empty for a native function.
    pub(crate) fn machine(&self) -> Range<usize> {
        self.compiled.as_ref().map_or(0..0, |kernel| {
            let start = self.entry as usize;
            start..start + kernel.code_size()
        })
    }

    pub(crate) fn name(&self) -> &str {
        self.compiled.as_ref().map_or("", |kernel| kernel.name())
    }

    /// The line of the source that so many bytes into the machine code are of, if it is known.
    pub(crate) fn line(&self, offset: usize) -> Option<&str> {
        self.compiled.as_ref()?.line(offset)
    }

    /// Scratch memory for groups of `local_size` with `local_mem_size` bytes of work-group memory.
    pub(crate) fn scratch_size(&self, local_size: [u64; 3], local_mem_size: u64) -> ScratchSize {
        match &self.compiled {
            Some(kernel) => kernel.scratch_size(local_size, local_mem_size),
            None => ScratchSize {
                private: 0,
                shared: local_mem_size.next_multiple_of(SCRATCH_ALIGN),
                align: SCRATCH_ALIGN,
            },
        }
    }

    /// Bytes of stack that a call takes, as far as is known.
    pub(crate) fn stack_bytes(&self) -> u64 {
        self.compiled
            .as_ref()
            .map_or(0, |kernel| kernel.stack_bytes().into())
    }

    pub(crate) fn cost(&self) -> &Cost {
        &self.cost
    }
}

/// How long one work-item takes, as measured in earlier launches.
#[derive(Debug, Default)]
pub(crate) struct Cost {
    /// 1/1024 ns; 0 while nothing is known.
    per_item: AtomicU64,
}

impl Cost {
    /// What is assumed of code that has never run, 1/1024 ns.
    const GUESS: u64 = 4 * 1024;

    /// Nanoseconds that one thread will take for `items` work-items.
    pub(crate) fn estimate(&self, items: u64) -> u64 {
        let per_item = match self.per_item.load(Relaxed) {
            0 => Cost::GUESS,
            known => known,
        };
        ((u128::from(items) * u128::from(per_item)) >> 10).min(u128::from(u64::MAX)) as u64
    }

    /// Records that `items` work-items took `nanoseconds` of threads' time. A race loses a sample
    /// at worst.
    pub(crate) fn learn(&self, items: u64, nanoseconds: u64) {
        let sample = (u128::from(nanoseconds) << 10) / u128::from(items.max(1));
        let sample = sample.clamp(1, u128::from(u64::MAX >> 2)) as u64;
        let average = match self.per_item.load(Relaxed) {
            0 => sample,
            // Faster runs count at once: what makes a run slow (cold caches, another process)
            // passes.
            old if sample < old => (old + sample) / 2,
            old => old - old / 8 + sample / 8,
        };
        self.per_item.store(average.max(1), Relaxed);
    }
}

type CodeCell = Arc<OnceLock<Result<Arc<Code>, Diagnostic>>>;

/// Kernels and the code that was made for them.
struct Kernels {
    source: Box<dyn KernelSource>,
    code: Vec<Mutex<HashMap<LaunchKey, CodeCell>>>,
    /// What was done ahead of launches of each kernel.
    ahead: Vec<Ahead>,
    credit: &'static Credit,
}

/// What was done ahead of launches of a kernel.
#[derive(Default)]
struct Ahead {
    is_asked_for: AtomicBool,
    /// Whether it is ready to be compiled and no more, as its launches cannot be told, and none has
    /// come.
    is_prepared: AtomicBool,
}

/// Why code is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// A launch, or somebody who asks what the code is like.
    Launch,
    /// A launch that is likely.
    Later,
}

/// A successfully built program.
pub struct Executable {
    /// Apart from the rest, which is not to live longer because code is made ahead.
    kernels: Arc<Kernels>,
    /// Whether launches may have a last group that is smaller than the others.
    pub(crate) allows_non_uniform: bool,
    /// Whether `clGetKernelArgInfo` has information.
    pub(crate) has_arg_info: bool,
    /// Whether kernels get more specific errors than `CLK_ENQUEUE_FAILURE`.
    pub(crate) tells_errors: bool,
    /// The kernels that applications can create kernel objects of.
    ordinary: Vec<usize>,
    /// Whether there are initializers.
    pub(crate) has_initializers: bool,
    /// Runs the finalizers when it is dropped.
    last: Option<Box<dyn Any + Send + Sync>>,
}

impl Executable {
    pub(crate) fn new(
        source: Box<dyn KernelSource>,
        allows_non_uniform: bool,
        has_arg_info: bool,
    ) -> Executable {
        static CREDIT: Credit = Credit::new();
        let roles = [
            KernelRole::Block,
            KernelRole::Initializer,
            KernelRole::Finalizer,
        ];
        let others = roles.map(|role| source.kernels_with_role(role)).concat();
        let all = 0..source.kernels().len();
        Executable {
            ordinary: all.filter(|kernel| !others.contains(kernel)).collect(),
            tells_errors: false,
            kernels: Arc::new(Kernels::new(source, &CREDIT)),
            allows_non_uniform,
            has_arg_info,
            has_initializers: false,
            last: None,
        }
    }

    /// The kernels with a role: initializers, which run before all others, or finalizers, which run
    /// when the program is destroyed, or blocks.
    pub(crate) fn kernels_with_role(&self, role: KernelRole) -> Vec<usize> {
        self.kernels.source.kernels_with_role(role)
    }

    /// Keeps `last` until this is dropped: it runs the finalizers when it is dropped.
    pub(crate) fn drop_at_end(&mut self, last: Box<dyn Any + Send + Sync>) {
        self.last = Some(last);
    }

    /// Whether there are finalizers.
    pub(crate) fn has_finalizers(&self) -> bool {
        self.last.is_some()
    }

    pub(crate) fn kernels(&self) -> &[KernelInfo] {
        self.kernels.source.kernels()
    }

    /// The kernels that applications can create kernel objects of, as indices: those that nobody
    /// else launches.
    pub(crate) fn ordinary(&self) -> &[usize] {
        &self.ordinary
    }

    /// The kernel that is launched as a block.
    pub(crate) fn block(&self, block: FuncId) -> Option<usize> {
        self.kernels.source.block(block)
    }

    /// `CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE`
    pub(crate) fn global_variable_size(&self) -> usize {
        usize::try_from(self.kernels.source.global_variable_size()).unwrap_or(usize::MAX)
    }

    pub(crate) fn host_variable(&self, name: &str) -> Option<HostVariable> {
        self.kernels.source.host_variable(name)
    }

    pub(crate) fn width(&self, kernel: usize) -> u32 {
        self.kernels.source.width(kernel).max(1)
    }

    pub(crate) fn may_regroup(&self, kernel: usize, local_size: [u64; 3]) -> bool {
        self.kernels.source.may_regroup(kernel, local_size)
    }

    pub(crate) fn writes_through(&self, kernel: usize, offset: u32) -> bool {
        self.kernels.source.writes_through(kernel, offset)
    }

    pub(crate) fn preferred_rows(&self, kernel: usize) -> u32 {
        self.kernels.source.preferred_rows(kernel)
    }

    /// How the compiler runs each kernel in a usual launch, which is of whole work-groups, as lines
    /// for the build log. Compiles them, so that such launches find their code ready.
    pub(crate) fn remarks(&self) -> String {
        let mut text = String::new();
        for (index, kernel) in self.kernels().iter().enumerate() {
            let range = usual_range(kernel);
            let mut line = |remark: &dyn fmt::Display| {
                let _ = writeln!(text, "kernel `{}`: {remark}", kernel.name);
            };
            match self.code(index, &range, range.local_size, &[]) {
                Ok(code) => code.remarks().iter().for_each(|remark| line(remark)),
                Err(error) => line(&error),
            }
        }
        text
    }

    /// The code for a launch over `range` that asked for a local size, with an argument block, or
    /// an empty one if nothing is known of the arguments. It is compiled now if no launch with its
    /// key came before. A failure is kept too.
    pub(crate) fn code(
        &self,
        kernel: usize,
        range: &NdRange,
        asked: [u64; 3],
        args: &[u8],
    ) -> Result<Arc<Code>, Diagnostic> {
        let key = self.kernels.source.launch_key(kernel, range, asked, args);
        self.kernels.code(kernel, key, For::Launch)
    }

    /// As [`Executable::code`], for a thread that has little stack left: code is compiled on a
    /// thread of its own, for which this one waits.
    pub(crate) fn code_apart(
        &self,
        kernel: usize,
        range: &NdRange,
        asked: [u64; 3],
        args: &[u8],
    ) -> Result<Arc<Code>, Diagnostic> {
        let key = self.kernels.source.launch_key(kernel, range, asked, args);
        if self.kernels.is_made(kernel, &key) {
            return self.kernels.code(kernel, key, For::Launch);
        }
        let kernels = Arc::clone(&self.kernels);
        let compile = move || kernels.code(kernel, key, For::Launch);
        let (send, receive) = mpsc::channel();
        threads::spawn("brolga-compile", Some(stack::WORKER), move || {
            let _ = send.send(compile());
        })
        .map_err(|error| Diagnostic::new(format!("no thread can compile it: {error}")))?;
        let failed = |_| Diagnostic::new("the compiler failed; this is a bug of the driver");
        receive.recv().map_err(failed)?
    }

    /// [`Executable::compile_ahead`] of all kernels, unless they are so many that the application
    /// is likely to want a few of them only.
    pub(crate) fn compile_all_ahead(&self) {
        if self.ordinary.len() <= FEW_KERNELS {
            self.ordinary
                .iter()
                .for_each(|&kernel| self.compile_ahead(kernel));
        }
    }

    /// Has code made in the background that the first launch of `kernel` is likely to need. It is
    /// forgotten when this is dropped before.
    pub(crate) fn compile_ahead(&self, kernel: usize) {
        let ahead = &self.kernels.ahead[kernel];
        if !ahead.is_asked_for.swap(true, Relaxed) {
            let kernels = Arc::downgrade(&self.kernels);
            background::ahead(move || {
                if let Some(kernels) = kernels.upgrade() {
                    kernels.compile_ahead(kernel);
                }
            });
        }
    }
}

impl Kernels {
    fn new(source: Box<dyn KernelSource>, credit: &'static Credit) -> Kernels {
        let kernels = source.kernels();
        Kernels {
            code: kernels.iter().map(|_| Mutex::default()).collect(),
            ahead: kernels.iter().map(|_| Ahead::default()).collect(),
            source,
            credit,
        }
    }

    fn is_made(&self, kernel: usize, key: &LaunchKey) -> bool {
        let is_there = |cell: &CodeCell| cell.get().is_some();
        self.code[kernel].lock().get(key).is_some_and(is_there)
    }

    fn compile_ahead(&self, kernel: usize) {
        // A launch may have come first.
        let is_new = self.code[kernel].lock().is_empty();
        if !is_new || !self.credit.take() {
            return;
        }
        if !self.source.is_predictable(kernel) {
            self.ahead[kernel].is_prepared.store(true, Relaxed);
        } else {
            let range = usual_range(&self.source.kernels()[kernel]);
            let asked = range.local_size;
            let key = self.source.launch_key(kernel, &range, asked, &[]);
            // A failure is told by the launch.
            let _ = self.code(kernel, key, For::Later);
        }
    }

    fn code(&self, kernel: usize, key: LaunchKey, why: For) -> Result<Arc<Code>, Diagnostic> {
        let cell = Arc::clone(self.code[kernel].lock().entry(key).or_default());
        let mut took = None;
        let code = cell.get_or_init(|| {
            let start = timestamp();
            let compile = || self.source.compile(kernel, &key);
            let code = trace::span("compile", compile, |code| {
                let name = format!("compile {}", self.source.kernels()[kernel].name);
                let is_kept = code.as_ref().is_ok_and(Code::is_kept);
                (
                    name,
                    json!({ "launch key": format!("{key:?}"), "kept": is_kept }),
                )
            });
            took = Some(timestamp() - start);
            code.map(|code| {
                code.is_ahead.store(why == For::Later, Relaxed);
                Arc::new(code)
            })
        });
        if let Ok(code) = code
            && why == For::Launch
        {
            let was = |flag: &AtomicBool| flag.load(Relaxed) && flag.swap(false, Relaxed);
            if was(&code.is_ahead) || was(&self.ahead[kernel].is_prepared) {
                self.credit.refund();
            }
        }
        if trace::is_on() {
            let what = format!("code of {}", self.source.kernels()[kernel].name);
            let bytes = code.as_ref().map_or(0, |code| code.machine().len());
            match took {
                Some(took) => trace::keep(&what, bytes as u64, took),
                None if why == For::Launch => trace::use_again(&what),
                None => (),
            }
        }
        code.clone()
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.kernels().iter().map(|kernel| &kernel.name))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use brolga_compiler::Launch;

    use super::*;

    /// One kernel whose launches can be told; counts how often it is compiled.
    struct Counting {
        infos: [KernelInfo; 1],
        count: Arc<AtomicU64>,
    }

    fn counting(count: &Arc<AtomicU64>, credit: &'static Credit) -> Kernels {
        let info = KernelInfo::new("k");
        let count = Arc::clone(count);
        Kernels::new(
            Box::new(Counting {
                infos: [info],
                count,
            }),
            credit,
        )
    }

    impl KernelSource for Counting {
        fn kernels(&self) -> &[KernelInfo] {
            &self.infos
        }

        fn width(&self, _kernel: usize) -> u32 {
            8
        }

        fn may_regroup(&self, _kernel: usize, _local_size: [u64; 3]) -> bool {
            true
        }

        fn preferred_rows(&self, _kernel: usize) -> u32 {
            1
        }

        fn launch_key(&self, _: usize, range: &NdRange, _: [u64; 3], _: &[u8]) -> LaunchKey {
            LaunchKey::new(range, 8)
        }

        fn is_predictable(&self, _kernel: usize) -> bool {
            true
        }

        fn compile(&self, _kernel: usize, _key: &LaunchKey) -> Result<Code, Diagnostic> {
            unsafe extern "C" fn nothing(_: *const Launch, _: *mut u8, _: u64, _: u64) {}
            self.count.fetch_add(1, Relaxed);
            Ok(Code::native(nothing))
        }
    }

    #[test]
    fn a_launch_like_most_finds_what_was_made_ahead() {
        static CREDIT: Credit = Credit::new();
        let count = Arc::new(AtomicU64::new(0));
        let kernels = counting(&count, &CREDIT);
        kernels.compile_ahead(0);
        assert_eq!(count.load(Relaxed), 1);
        let launch = |x: u64, y: u64| {
            let range = NdRange {
                work_dim: 2,
                global_offset: [0; 3],
                global_size: [100 * x, 100 * y, 1],
                local_size: [x, y, 1],
            };
            let key = kernels.source.launch_key(0, &range, range.local_size, &[]);
            kernels.code(0, key, For::Launch).unwrap();
            count.load(Relaxed)
        };
        assert_eq!(launch(256, 1), 1);
        assert_eq!(launch(8, 8), 2);
        // What has come to its first launch needs nothing ahead.
        kernels.compile_ahead(0);
        assert_eq!(count.load(Relaxed), 2);
    }

    #[test]
    fn little_is_made_ahead_that_nobody_launches() {
        static CREDIT: Credit = Credit::new();
        let count = Arc::new(AtomicU64::new(0));
        let mut all = Vec::new();
        for _ in 0..1000 {
            let kernels = counting(&count, &CREDIT);
            kernels.compile_ahead(0);
            all.push(kernels);
        }
        let made = count.load(Relaxed);
        assert!((1..100).contains(&made), "{made}");
        // Those are launched after all.
        for kernels in all.iter().take(made as usize) {
            let range = usual_range(&kernels.source.kernels()[0]);
            let key = kernels.source.launch_key(0, &range, range.local_size, &[]);
            kernels.code(0, key, For::Launch).unwrap();
        }
        assert_eq!(count.load(Relaxed), made);
        for _ in 0..made {
            let kernels = counting(&count, &CREDIT);
            kernels.compile_ahead(0);
        }
        assert_eq!(count.load(Relaxed), 2 * made);
    }

    #[test]
    fn cost_follows_samples() {
        let cost = Cost::default();
        assert_eq!(cost.estimate(1000), 4000);
        cost.learn(1000, 10_000);
        assert_eq!(cost.estimate(1000), 10_000);
        for _ in 0..20 {
            cost.learn(1000, 1_000);
        }
        assert!(cost.estimate(1000) < 1_100);
        cost.learn(0, 0);
        cost.learn(1, u64::MAX);
        assert!(cost.estimate(u64::MAX) > 0);
    }
}
