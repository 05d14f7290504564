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
//! returns. What serves device queues is given addresses that the kernel has touched.
//!
//! Everything else goes to the handler that was there before, and a handler that the application installs later
//! comes first. `BROLGA_FAULTS=0` installs none.
//!
//! Where the kernel was interrupted its memory is left as it is, which is all that is promised of a launch that failed.
//! `arch.rs` is what depends on the processor.

pub(crate) mod access;
mod arch;

use std::cell::Cell;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::LazyLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize};

use brolga_compiler::{KernelFn, Launch};

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

/// What the handler knows of a thread.
struct Slot {
    /// 0 if the slot is free.
    thread: AtomicI32,
    /// Whether generated code is running.
    running: AtomicBool,
    begin: AtomicUsize,
    end: AtomicUsize,
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
            way_back: arch::WayBack::none(),
            signal: AtomicI32::new(0),
            address: AtomicUsize::new(0),
            offset: AtomicUsize::new(0),
            stack_is_full: AtomicBool::new(false),
        }
    }
}

static SLOTS: [Slot; THREADS] = [const { Slot::free() }; THREADS];

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
    // SAFETY: `gettid` has no conditions.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
    let slot = SLOTS
        .iter()
        .find(|slot| slot.thread.load(Relaxed) == thread && slot.running.load(Relaxed));
    if let Some(slot) = slot {
        let code = slot.begin.load(Relaxed)..slot.end.load(Relaxed);
        // SAFETY: this is the handler.
        if let Some(offset) = unsafe { offset(&at, &code, address) } {
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
    // SAFETY: as above.
    unsafe { pass_on(signal, info, context) };
}

/// Does what would have been done without this handler.
///
/// # Safety
/// The arguments are those of a handler.
unsafe fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let index = SIGNALS.iter().position(|&s| s == signal);
    let before = LazyLock::get(&BEFORE).and_then(Option::as_ref);
    let old = index.zip(before).map(|(index, before)| before[index]);
    match old {
        Some(old) if ![libc::SIG_DFL, libc::SIG_IGN].contains(&old.sa_sigaction) => {
            // SAFETY: it was installed as a handler of this kind.
            unsafe {
                if old.sa_flags & libc::SA_SIGINFO != 0 {
                    type Full = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
                    std::mem::transmute::<usize, Full>(old.sa_sigaction)(signal, info, context);
                } else {
                    std::mem::transmute::<usize, extern "C" fn(i32)>(old.sa_sigaction)(signal);
                }
            }
        }
        // The instruction faults again, and the system does the rest.
        _ => {
            // SAFETY: zeros are the default action.
            unsafe {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &default, ptr::null_mut());
            }
        }
    }
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

/// Calls a kernel whose machine code is at `code`.
///
/// # Safety
/// That of [`KernelFn`].
pub(crate) unsafe fn call(
    kernel: KernelFn,
    code: Range<usize>,
    launch: &Launch,
    scratch: *mut u8,
    groups: Range<u64>,
) -> Result<(), Fault> {
    // SAFETY: the caller's.
    let result = unsafe { call_caught(kernel, code, launch, scratch, groups) };
    let noted = ENTRY.try_with(|entry| entry.noted.take());
    match noted {
        Ok(Some(fault)) => result.and(Err(fault)),
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
) -> Result<(), Fault> {
    let plainly = || {
        // SAFETY: the caller's.
        unsafe { kernel(launch, scratch, groups.start, groups.end) };
        Ok(())
    };
    if code.is_empty() || BEFORE.is_none() {
        return plainly();
    }
    let slot = ENTRY.try_with(|entry| entry.slot).ok().flatten();
    // A kernel that runs while another is interrupted on the same thread is that one's.
    let Some(slot) = slot.filter(|slot| !slot.running.load(Relaxed)) else {
        return plainly();
    };
    slot.begin.store(code.start, Relaxed);
    slot.end.store(code.end, Relaxed);
    slot.running.store(true, Relaxed);
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
    if !faulted {
        return Ok(());
    }
    Err(Fault {
        signal: slot.signal.load(Relaxed),
        address: slot.address.load(Relaxed),
        place: Place::Code(slot.offset.load(Relaxed)),
        stack_is_full: slot.stack_is_full.load(Relaxed),
    })
}
