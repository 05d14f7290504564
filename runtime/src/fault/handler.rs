//! The handler: which faults are taken, and what was there before.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::LazyLock;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use brolga_host::environment;

use super::arch;
use super::slots::Slot;

/// `si_code` where the system knows no address.
const SI_KERNEL: i32 = 0x80;
/// A fault this near to the stack pointer is of a stack that is full.
const NEAR: usize = 1 << 20;

/// Whether the handler is installed.
pub(super) static INSTALLED: LazyLock<bool> = LazyLock::new(install);

/// What the handlers before this one were, in the order of [`SIGNALS`]. They stay for ever.
static BEFORE: [AtomicPtr<libc::sigaction>; SIGNALS.len()] =
    [const { AtomicPtr::new(ptr::null_mut()) }; SIGNALS.len()];

const SIGNALS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// A thread may fault at any time, and some programs do on purpose: so what was there before is
/// known to the handler before it is installed.
fn install() -> bool {
    if !arch::IS_SUPPORTED || !environment::is_on("BROLGA_FAULTS", true) {
        return false;
    }
    stay_loaded();
    LazyLock::force(&MEMMOVE);
    for (&signal, before) in SIGNALS.iter().zip(&BEFORE) {
        // SAFETY: the handler keeps to what handlers may do.
        unsafe { install_handler(signal, handler, 0, before) };
    }
    true
}

/// What the system calls for a signal.
type Handler = extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

/// Installs a handler, which finds the one before in `before`.
///
/// # Safety
/// The handler keeps to what handlers of the signal may do.
pub(super) unsafe fn install_handler(
    signal: i32,
    handler: Handler,
    flags: i32,
    before: &AtomicPtr<libc::sigaction>,
) {
    // SAFETY: zeros are a valid `sigaction`; the rest is the caller's.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &mut old);
        before.store(Box::into_raw(Box::new(old)), Release);
        let mut new: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler as *const () as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | flags;
        libc::sigemptyset(&mut new.sa_mask);
        let mut replaced: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, &new, &mut replaced);
        // Another thread may have installed one in between.
        if replaced.sa_sigaction != old.sa_sigaction {
            before.store(Box::into_raw(Box::new(replaced)), Release);
        }
    }
}

/// The handler outlives a `dlclose` of the library, and so must its code.
pub(super) fn stay_loaded() {
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
    let mut code = SegmentSearch {
        address: libc::memmove as *const () as usize,
        found: 0..0,
    };
    // SAFETY: the callback is for what it is given, and `code` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(search), (&raw mut code).cast()) };
    code.found
});

/// What [`search`] is asked, and its answer.
struct SegmentSearch {
    address: usize,
    found: Range<usize>,
}

/// Finds the loaded segment that an address is in.
unsafe extern "C" fn search(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    data: *mut libc::c_void,
) -> i32 {
    // SAFETY: the linker describes a loaded object, with as many headers as it says; the data is
    // what was passed.
    let (base, headers, wanted) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        (info.dlpi_addr, headers, &mut *data.cast::<SegmentSearch>())
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

/// Where in a kernel's code its thread is: at an instruction of it, or in `memmove`, which puts
/// nothing on the stack and takes no locks.
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
    let (mut at, address, code) = unsafe {
        let address = (*info).si_addr() as usize;
        (arch::Interrupted::new(context), address, (*info).si_code)
    };
    // What a process sends is no fault of whatever the thread is doing ("si_code", sigaction(2)).
    let is_fault = code > 0;
    if is_fault && at.leave_copy() {
        return;
    }
    if is_fault && let Some(slot) = Slot::running() {
        let place = match slot.is_guard.load(Relaxed) {
            true => (signal == libc::SIGBUS).then_some(0),
            // SAFETY: this is the handler.
            false => unsafe { offset(&at, &slot.code(), address) },
        };
        if let Some(offset) = place {
            slot.signal.store(signal, Relaxed);
            slot.address.store(address, Relaxed);
            slot.address_is_known.store(code != SI_KERNEL, Relaxed);
            slot.offset.store(offset, Relaxed);
            let is_near = at.stack().abs_diff(address) < NEAR;
            slot.stack_is_full.store(is_near, Relaxed);
            slot.running.store(false, Relaxed);
            at.resume_at(&slot.resume_point);
            return;
        }
    }
    let index = SIGNALS.iter().position(|&s| s == signal);
    // SAFETY: it was stored before this handler was installed, for ever.
    let old = index.and_then(|index| unsafe { BEFORE[index].load(Acquire).as_ref() });
    // SAFETY: as above; the handler is one that was installed.
    let handled = old.is_some_and(|old| unsafe { pass_on(old, signal, info, context) });
    let is_ignored = old.is_some_and(|old| old.sa_sigaction == libc::SIG_IGN);
    if handled || is_ignored && !is_fault {
        return;
    }
    // The instruction faults again, or the signal comes again, and the system does the rest.
    // SAFETY: zeros are the default action; the information is what the system gave.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, &default, ptr::null_mut());
        if !is_fault {
            let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
            libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info);
        }
    }
}

/// Calls the handler that was there before; false if that was none.
///
/// # Safety
/// `old` was installed for the signal; the other arguments are those of a handler.
pub(super) unsafe fn pass_on(
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
