//! Kernels that fault: a wild pointer or a full stack ends the launch, not the process.
//!
//! ```text
//! call()            this thread's slot says: generated code from here to there, come back so
//!   generated code  faults
//!     handler()     finds the slot, notes the fault, and lets the thread go on where `call` returns
//! ```
//!
//! The handler looks for its thread in a table that threads enter before they first run a kernel, since it must neither
//! take locks nor allocate, which thread-local variables of a library may do. Only faults of instructions of the kernel itself are taken, and of
//! the C library's `memmove` when the kernel called that: any other function that it calls may hold locks. `printf` reads the strings that it is
//! given by way of [`access`], which says when an access faults instead of faulting; then the launch fails when the call of generated code
//! returns. What serves device queues is given addresses that the kernel has touched. In a program where another function takes the place of
//! `memmove`, as the address and thread sanitizers' does, a fault in that is not the kernel's.
//!
//! Everything else goes to the handler that was there before, and a handler that the application installs later
//! comes first. `BROLGA_FAULTS=0` installs none.
//!
//! Copies are called in the same way, for one kind of fault: memory that has gone from below them, as that of a file which has become
//! shorter ([`guard`]).
//!
//! Where the kernel was interrupted its memory is left as it is, which is all that is promised of a launch that failed.
//! `arch.rs` is what depends on the processor. `interrupt.rs` has kernels of a terminated context end by the same way.

pub(crate) mod access;
mod arch;
mod interrupt;

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::LazyLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize};

use brolga_compiler::{KernelFn, Launch};

pub(crate) use interrupt::interrupt_kernels;

/// Whether kernels can be left before their end on this processor.
pub(crate) const IS_SERVED: bool = arch::IS_SERVED;

/// Threads that are in kernels at once; more run without protection.
const THREADS: usize = 512;

/// Bytes of a stack for the handler: the registers that the kernel saves there take some thousand.
const HANDLER_STACK: usize = 64 << 10;

/// A fault this near to the stack pointer is of a stack that is full.
const NEAR: usize = 1 << 20;

/// What a kernel did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    signal: i32,
    address: usize,
    place: Place,
    stack_is_full: bool,
}

/// Where a kernel did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// So many bytes into its code.
    Code(usize),
    /// In a call of the function that is called so.
    Call(&'static str),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Code(offset) => write!(f, "{offset} bytes into its code"),
            Place::Call(name) => write!(f, "in a call of {name}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.signal {
            libc::SIGSEGV | libc::SIGBUS if self.stack_is_full => {
                return write!(
                    f,
                    "its private variables do not fit on the stack (address {:#x})",
                    self.address
                );
            }
            // What the processor reports of an address that no memory can have is 0.
            libc::SIGSEGV | libc::SIGBUS if self.address == 0 => "accessed no valid address",
            libc::SIGSEGV | libc::SIGBUS => {
                return write!(f, "accessed address {:#x}, {}", self.address, self.place);
            }
            libc::SIGFPE => "divided by zero",
            _ => "came to an instruction that the processor does not have",
        };
        write!(f, "{what}, {}", self.place)
    }
}

/// Why a kernel did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Fault(Fault),
    /// Its context was terminated.
    Terminated,
    /// It was left by [`leave`].
    Left,
}

/// What the handler knows of a thread.
struct Slot {
    /// 0 if the slot is free.
    thread: AtomicI32,
    /// Whether generated code is running.
    running: AtomicBool,
    begin: AtomicUsize,
    end: AtomicUsize,
    /// What says that the kernel is to end; null if nothing does. It lives as long as the kernel runs.
    stop: AtomicPtr<AtomicBool>,
    /// Whether only `SIGBUS` is a fault of what is running.
    is_guard: AtomicBool,
    /// Where the thread goes on after a fault.
    way_back: arch::WayBack,
    signal: AtomicI32,
    address: AtomicUsize,
    offset: AtomicUsize,
    stack_is_full: AtomicBool,
}

impl Slot {
    const fn free() -> Slot {
        Slot {
            thread: AtomicI32::new(0),
            running: AtomicBool::new(false),
            begin: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            stop: AtomicPtr::new(ptr::null_mut()),
            is_guard: AtomicBool::new(false),
            way_back: arch::WayBack::none(),
            signal: AtomicI32::new(0),
            address: AtomicUsize::new(0),
            offset: AtomicUsize::new(0),
            stack_is_full: AtomicBool::new(false),
        }
    }

    /// That of this thread, if it is running generated code. For handlers.
    fn running() -> Option<&'static Slot> {
        // SAFETY: `gettid` has no conditions.
        let thread = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
        SLOTS
            .iter()
            .find(|slot| slot.thread.load(Relaxed) == thread && slot.running.load(Relaxed))
    }

    /// Where the code is that is running.
    fn code(&self) -> Range<usize> {
        self.begin.load(Relaxed)..self.end.load(Relaxed)
    }
}

static SLOTS: [Slot; THREADS] = [const { Slot::free() }; THREADS];

/// In place of a signal where a kernel is left without one.
const LEFT: i32 = 0;

/// What the handlers before this one were, in the order of [`SIGNALS`].
static BEFORE: LazyLock<Option<[libc::sigaction; SIGNALS.len()]>> = LazyLock::new(install);

const SIGNALS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// This thread's entry in the table, and the stack that the handler has on it.
struct Entry {
    slot: Option<&'static Slot>,
    stack: *mut libc::c_void,
    /// What the running kernel did in a function that it called.
    noted: Cell<Option<Fault>>,
}

thread_local! {
    static ENTRY: Entry = Entry::new();
}

impl Entry {
    fn new() -> Entry {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        let slot = SLOTS.iter().find(|slot| {
            let taken = slot.thread.compare_exchange(0, thread, Acquire, Relaxed);
            taken.is_ok()
        });
        Entry {
            slot,
            stack: give_handler_stack(),
            noted: Cell::new(None),
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            slot.thread.store(0, Release);
        }
        if !self.stack.is_null() {
            let none = libc::stack_t {
                ss_sp: ptr::null_mut(),
                ss_flags: libc::SS_DISABLE,
                ss_size: 0,
            };
            // SAFETY: the handler does not run, so its stack may go.
            unsafe {
                libc::sigaltstack(&none, ptr::null_mut());
                libc::munmap(self.stack, HANDLER_STACK);
            }
        }
    }
}

/// A stack for handlers, unless the thread has one; null if there is none to give back.
fn give_handler_stack() -> *mut libc::c_void {
    let mut old = MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: `old` is valid for writes, and zeros are a valid `stack_t`; the mapping is new.
    unsafe {
        libc::sigaltstack(ptr::null(), old.as_mut_ptr());
        if old.assume_init().ss_flags & libc::SS_DISABLE == 0 {
            return ptr::null_mut();
        }
        let stack = libc::mmap(
            ptr::null_mut(),
            HANDLER_STACK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if stack == libc::MAP_FAILED {
            return ptr::null_mut();
        }
        let new = libc::stack_t {
            ss_sp: stack,
            ss_flags: 0,
            ss_size: HANDLER_STACK,
        };
        libc::sigaltstack(&new, ptr::null_mut());
        stack
    }
}

fn install() -> Option<[libc::sigaction; SIGNALS.len()]> {
    if !arch::IS_SERVED || std::env::var("BROLGA_FAULTS").is_ok_and(|v| v == "0") {
        return None;
    }
    stay_loaded();
    LazyLock::force(&MEMMOVE);
    // SAFETY: zeros are a valid `sigaction`; the handler keeps to what handlers may do.
    let mut before = SIGNALS.map(|_| unsafe { std::mem::zeroed::<libc::sigaction>() });
    for (&signal, old) in SIGNALS.iter().zip(&mut before) {
        // SAFETY: as above.
        unsafe {
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = handler as *const () as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut new.sa_mask);
            libc::sigaction(signal, &new, old);
        }
    }
    Some(before)
}

/// The handler outlives a `dlclose` of the library, and so must its code.
fn stay_loaded() {
    // SAFETY: the address is of this library's code; a library opened again is only counted.
    unsafe {
        let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
        let here = handler as *const libc::c_void;
        if libc::dladdr(here, found.as_mut_ptr()) != 0 {
            let name = found.assume_init().dli_fname;
            if !name.is_null() {
                libc::dlopen(
                    name,
                    libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
                );
            }
        }
    }
}

/// The code of the library that `memmove` is in.
static MEMMOVE: LazyLock<Range<usize>> = LazyLock::new(|| {
    let mut code = Search {
        address: libc::memmove as *const () as usize,
        found: 0..0,
    };
    // SAFETY: the callback is for what it is given, and `code` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(search), (&raw mut code).cast()) };
    code.found
});

/// What [`search`] is asked, and its answer.
struct Search {
    address: usize,
    found: Range<usize>,
}

/// Finds the loaded segment that an address is in.
unsafe extern "C" fn search(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    data: *mut libc::c_void,
) -> i32 {
    // SAFETY: the linker describes a loaded object, with as many headers as it says; the data is what was passed.
    let (base, headers, wanted) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        (info.dlpi_addr, headers, &mut *data.cast::<Search>())
    };
    for header in headers
        .iter()
        .filter(|header| header.p_type == libc::PT_LOAD)
    {
        let start = base.wrapping_add(header.p_vaddr) as usize;
        let range = start..start + header.p_memsz as usize;
        if range.contains(&wanted.address) {
            wanted.found = range;
            return 1;
        }
    }
    0
}

/// Where in a kernel's code its thread is: at an instruction of it, or in `memmove`, which puts nothing on the stack and takes no locks.
///
/// # Safety
/// A handler is running for a fault at `address`.
unsafe fn offset(at: &arch::Interrupted, code: &Range<usize>, address: usize) -> Option<usize> {
    if code.contains(&at.instruction()) {
        return Some(at.instruction() - code.start);
    }
    let is_memmove = LazyLock::get(&MEMMOVE).is_some_and(|all| all.contains(&at.instruction()));
    if !is_memmove || at.stack().abs_diff(address) < NEAR {
        return None;
    }
    // SAFETY: it is not the stack that faulted.
    let caller = unsafe { at.top_of_stack() };
    code.contains(&caller).then(|| caller - code.start)
}

extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system calls handlers with a context, and with information.
    let (mut at, address) = unsafe {
        let address = (*info).si_addr() as usize;
        (arch::Interrupted::new(context), address)
    };
    if at.leave_copy() {
        return;
    }
    if let Some(slot) = Slot::running() {
        let place = match slot.is_guard.load(Relaxed) {
            true => (signal == libc::SIGBUS).then_some(0),
            // SAFETY: this is the handler.
            false => unsafe { offset(&at, &slot.code(), address) },
        };
        if let Some(offset) = place {
            slot.signal.store(signal, Relaxed);
            slot.address.store(address, Relaxed);
            slot.offset.store(offset, Relaxed);
            let is_near = at.stack().abs_diff(address) < NEAR;
            slot.stack_is_full.store(is_near, Relaxed);
            slot.running.store(false, Relaxed);
            at.go_back(&slot.way_back);
            return;
        }
    }
    let index = SIGNALS.iter().position(|&s| s == signal);
    let before = LazyLock::get(&BEFORE).and_then(Option::as_ref);
    let old = index.zip(before).map(|(index, before)| before[index]);
    // SAFETY: as above; the handler is one that was installed.
    let handled = old.is_some_and(|old| unsafe { pass_on(&old, signal, info, context) });
    if !handled {
        // The instruction faults again, and the system does the rest.
        // SAFETY: zeros are the default action.
        unsafe {
            let default: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, &default, ptr::null_mut());
        }
    }
}

/// Calls the handler that was there before; false if that was none.
///
/// # Safety
/// `old` was installed for the signal; the other arguments are those of a handler.
unsafe fn pass_on(
    old: &libc::sigaction,
    signal: i32,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) -> bool {
    if [libc::SIG_DFL, libc::SIG_IGN].contains(&old.sa_sigaction) {
        return false;
    }
    // SAFETY: it was installed as a handler of this kind.
    unsafe {
        if old.sa_flags & libc::SA_SIGINFO != 0 {
            type Full = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
            std::mem::transmute::<usize, Full>(old.sa_sigaction)(signal, info, context);
        } else {
            std::mem::transmute::<usize, extern "C" fn(i32)>(old.sa_sigaction)(signal);
        }
    }
    true
}

/// The kernel that this thread runs had a function of ours, `name`, access an address that it cannot.
pub(crate) fn note(address: usize, name: &'static str) {
    let fault = Fault {
        signal: libc::SIGSEGV,
        address,
        place: Place::Call(name),
        stack_is_full: false,
    };
    // A thread that is ending has no kernel.
    let _ = ENTRY.try_with(|entry| entry.noted.set(Some(fault)));
}

/// Calls a kernel whose machine code is at `code`, unless `stop` says that it is to end.
///
/// # Safety
/// That of [`KernelFn`].
pub(crate) unsafe fn call(
    kernel: KernelFn,
    code: Range<usize>,
    launch: &Launch,
    scratch: *mut u8,
    groups: Range<u64>,
    stop: Option<&AtomicBool>,
) -> Result<(), Cut> {
    // SAFETY: the caller's.
    let result = unsafe { call_caught(kernel, code, launch, scratch, groups, stop) };
    let noted = ENTRY.try_with(|entry| entry.noted.take());
    match noted {
        Ok(Some(fault)) => result.and(Err(Cut::Fault(fault))),
        _ => result,
    }
}

/// As [`call`], without what functions noted.
///
/// # Safety
/// That of [`KernelFn`].
unsafe fn call_caught(
    kernel: KernelFn,
    code: Range<usize>,
    launch: &Launch,
    scratch: *mut u8,
    groups: Range<u64>,
    stop: Option<&AtomicBool>,
) -> Result<(), Cut> {
    let plainly = || {
        // SAFETY: the caller's.
        unsafe { kernel(launch, scratch, groups.start, groups.end) };
        Ok(())
    };
    if code.is_empty() || BEFORE.is_none() && stop.is_none() {
        return plainly();
    }
    let slot = ENTRY.try_with(|entry| entry.slot).ok().flatten();
    // A kernel that runs while another is interrupted on the same thread is that one's.
    let Some(slot) = slot.filter(|slot| !slot.running.load(Relaxed)) else {
        return plainly();
    };
    slot.begin.store(code.start, Relaxed);
    slot.end.store(code.end, Relaxed);
    let stop_address = stop.map_or(ptr::null_mut(), |stop| ptr::from_ref(stop).cast_mut());
    slot.stop.store(stop_address, Relaxed);
    slot.is_guard.store(false, Relaxed);
    // Who wants the kernel to end says so first and looks for threads that run it then, both sequentially consistent. So
    // either it finds this one, or this one finds out here.
    slot.running.store(true, SeqCst);
    if stop.is_some_and(|stop| stop.load(SeqCst)) {
        slot.running.store(false, Relaxed);
        return Err(Cut::Terminated);
    }
    // SAFETY: the caller's; the slot is this thread's.
    let faulted = unsafe {
        arch::call(
            kernel,
            launch,
            scratch,
            groups.start,
            groups.end,
            &slot.way_back,
        )
    };
    slot.running.store(false, Relaxed);
    match slot.signal.load(Relaxed) {
        _ if !faulted => Ok(()),
        interrupt::SIGNAL => Err(Cut::Terminated),
        LEFT => Err(Cut::Left),
        signal => Err(Cut::Fault(Fault {
            signal,
            address: slot.address.load(Relaxed),
            place: Place::Code(slot.offset.load(Relaxed)),
            stack_is_full: slot.stack_is_full.load(Relaxed),
        })),
    }
}

/// Whether kernels that fault are handled here.
pub(crate) fn is_handled() -> bool {
    BEFORE.is_some()
}

/// Has this thread go on where the call of the kernel returns that it is running. Returns if it is running none that it could leave. Between
/// the kernel and here there must be nothing to give back.
pub(crate) fn leave() {
    let slot = ENTRY.try_with(|entry| entry.slot).ok().flatten();
    if let Some(slot) = slot.filter(|slot| slot.running.load(Relaxed)) {
        slot.signal.store(LEFT, Relaxed);
        slot.running.store(false, Relaxed);
        // SAFETY: the call that the way back is of has not returned, or the slot would not say that it is running.
        unsafe { arch::leave(&slot.way_back) };
    }
}

/// What [`guard`] calls.
struct Guarded<'a> {
    work: &'a dyn Fn(),
    panic: Cell<Option<Box<dyn Any + Send>>>,
}

/// Copies memory that may not be there any more. Whatever `work` does, it holds nothing that would have to be given back.
///
/// Errors: the address that had no memory behind it (`SIGBUS`).
pub(crate) fn guard(work: &dyn Fn()) -> Result<(), usize> {
    let slot = ENTRY.try_with(|entry| entry.slot).ok().flatten();
    let Some(slot) = slot.filter(|slot| BEFORE.is_some() && !slot.running.load(Relaxed)) else {
        work();
        return Ok(());
    };
    slot.begin.store(0, Relaxed);
    slot.end.store(0, Relaxed);
    slot.stop.store(ptr::null_mut(), Relaxed);
    slot.is_guard.store(true, Relaxed);
    let guarded = Guarded {
        work,
        panic: Cell::new(None),
    };
    slot.running.store(true, Relaxed);
    // SAFETY: `enter` keeps to what is said of the arguments there.
    let faulted = unsafe {
        arch::call(
            enter,
            ptr::null(),
            ptr::from_ref(&guarded).cast_mut().cast(),
            0,
            0,
            &slot.way_back,
        )
    };
    slot.running.store(false, Relaxed);
    if let Some(panic) = guarded.panic.take() {
        resume_unwind(panic);
    }
    match faulted {
        true => Err(slot.address.load(Relaxed)),
        false => Ok(()),
    }
}

/// A [`KernelFn`] that does what the [`Guarded`] says that `scratch` points to.
///
/// # Safety
/// `scratch` points to one.
unsafe extern "C" fn enter(_launch: *const Launch, scratch: *mut u8, _begin: u64, _end: u64) {
    // SAFETY: as above.
    let guarded = unsafe { &*scratch.cast::<Guarded<'_>>() };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (guarded.work)())) {
        guarded.panic.set(Some(panic));
    }
}
