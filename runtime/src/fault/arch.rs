//! What faults need of the processor: a call that can be returned from at any time, a copy that
//! stops at a fault, and the registers of an interrupted thread.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(super) use none::*;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) use x86_64::*;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod x86_64 {
    use std::arch::naked_asm;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    use brolga_compiler::{KernelFn, Launch};

    pub(crate) const IS_SUPPORTED: bool = true;

    /// Whether memory may have the address, with as many bits of it as any processor translates
    /// ("Canonical Addressing", Intel SDM and AMD64 APM).
    pub(crate) fn is_canonical(address: usize) -> bool {
        const UNUSED: u32 = 64 - 57;
        ((address as isize) << UNUSED >> UNUSED) as usize == address
    }

    /// Where [`call`] goes on: the stack pointer, and the instruction.
    #[repr(C)]
    pub(crate) struct ResumePoint {
        stack: AtomicUsize,
        instruction: AtomicUsize,
    }

    impl ResumePoint {
        pub(crate) const fn none() -> ResumePoint {
            ResumePoint {
                stack: AtomicUsize::new(0),
                instruction: AtomicUsize::new(0),
            }
        }
    }

    /// Calls a kernel. Whether it came back by [`Interrupted::resume_at`].
    ///
    /// # Safety
    /// That of [`KernelFn`].
    pub(crate) unsafe fn call(
        kernel: KernelFn,
        launch: *const Launch,
        scratch: *mut u8,
        begin: u64,
        end: u64,
        resume_point: &ResumePoint,
    ) -> bool {
        // SAFETY: the caller's.
        unsafe { trampoline(kernel, launch, scratch, begin, end, resume_point) != 0 }
    }

    /// Saves the registers that a callee must keep, records how to come back to them, and calls.
    #[unsafe(naked)]
    unsafe extern "C" fn trampoline(
        kernel: KernelFn,
        launch: *const Launch,
        scratch: *mut u8,
        begin: u64,
        end: u64,
        resume_point: *const ResumePoint,
    ) -> u32 {
        naked_asm!(
            "push rbp",
            "push rbx",
            "push r12",
            "push r13",
            "push r14",
            "push r15",
            // Aligns the stack.
            "sub rsp, 8",
            "mov [r9], rsp",
            "lea rax, [rip + 2f]",
            "mov [r9 + 8], rax",
            "mov rax, rdi",
            "mov rdi, rsi",
            "mov rsi, rdx",
            "mov rdx, rcx",
            "mov rcx, r8",
            "call rax",
            "xor eax, eax",
            "3:",
            "add rsp, 8",
            "pop r15",
            "pop r14",
            "pop r13",
            "pop r12",
            "pop rbx",
            "pop rbp",
            "ret",
            "2:",
            "mov eax, 1",
            "jmp 3b",
        )
    }

    /// Comes back to [`call`].
    ///
    /// # Safety
    /// The call has not returned.
    pub(crate) unsafe fn leave(resume_point: &ResumePoint) -> ! {
        // SAFETY: the caller's.
        unsafe { go(resume_point) }
    }

    #[unsafe(naked)]
    unsafe extern "C" fn go(resume_point: *const ResumePoint) -> ! {
        naked_asm!("mov rsp, [rdi]", "jmp [rdi + 8]")
    }

    /// Copies bytes in order, and gives the number of those that are left because the next one
    /// faulted.
    ///
    /// # Safety
    /// What can be written at `to` is the caller's to write; what can be read at `from` does not
    /// change meanwhile.
    pub(crate) unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) -> usize {
        // SAFETY: the caller's.
        unsafe { copy_until_fault(to, from, 0, bytes) }
    }

    /// The copy is the first instruction, and counts in the fourth argument.
    /// [`Interrupted::leave_copy`] goes on after it.
    #[unsafe(naked)]
    unsafe extern "C" fn copy_until_fault(
        to: *mut u8,
        from: *const u8,
        unused: usize,
        bytes: usize,
    ) -> usize {
        naked_asm!("rep movsb", "mov rax, rcx", "ret")
    }

    /// Bytes of `rep movsb`.
    const COPY_SIZE: i64 = 2;

    /// A thread whose instruction faulted.
    pub(crate) struct Interrupted {
        registers: *mut [libc::greg_t; 23],
    }

    impl Interrupted {
        /// # Safety
        /// `context` is what the system gave to a handler that is still running.
        pub(crate) unsafe fn new(context: *mut libc::c_void) -> Interrupted {
            let context = context.cast::<libc::ucontext_t>();
            Interrupted {
                // SAFETY: the caller's.
                registers: unsafe { &raw mut (*context).uc_mcontext.gregs },
            }
        }

        fn register(&self, which: i32) -> usize {
            // SAFETY: the handler is still running, and the number is of a register.
            unsafe { (*self.registers)[which as usize] as usize }
        }

        pub(crate) fn instruction(&self) -> usize {
            self.register(libc::REG_RIP)
        }

        pub(crate) fn stack(&self) -> usize {
            self.register(libc::REG_RSP)
        }

        /// What is on top of the stack: where a function returns to that has put nothing on it.
        ///
        /// # Safety
        /// The stack pointer is where something can be read.
        pub(crate) unsafe fn top_of_stack(&self) -> usize {
            // SAFETY: the caller's.
            unsafe { (self.stack() as *const usize).read_unaligned() }
        }

        /// Has the thread go on after its [`copy`] when the handler returns, if that is what it is
        /// doing.
        pub(crate) fn leave_copy(&mut self) -> bool {
            if self.instruction() != copy_until_fault as *const () as usize {
                return false;
            }
            // SAFETY: as above.
            unsafe { (*self.registers)[libc::REG_RIP as usize] += COPY_SIZE };
            true
        }

        /// Has the thread go on in `call` when the handler returns.
        pub(crate) fn resume_at(&mut self, way: &ResumePoint) {
            // SAFETY: as above.
            let registers = unsafe { &mut *self.registers };
            registers[libc::REG_RSP as usize] = way.stack.load(Relaxed) as i64;
            registers[libc::REG_RIP as usize] = way.instruction.load(Relaxed) as i64;
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod none {
    use brolga_compiler::{KernelFn, Launch};

    pub(crate) const IS_SUPPORTED: bool = false;

    pub(crate) fn is_canonical(_address: usize) -> bool {
        true
    }

    pub(crate) struct ResumePoint;

    impl ResumePoint {
        pub(crate) const fn none() -> ResumePoint {
            ResumePoint
        }
    }

    /// # Safety
    /// That of [`KernelFn`].
    pub(crate) unsafe fn call(
        kernel: KernelFn,
        launch: *const Launch,
        scratch: *mut u8,
        begin: u64,
        end: u64,
        _resume_point: &ResumePoint,
    ) -> bool {
        // SAFETY: the caller's.
        unsafe { kernel(launch, scratch, begin, end) };
        false
    }

    /// # Safety
    /// None.
    pub(crate) unsafe fn leave(_resume_point: &ResumePoint) {}

    /// # Safety
    /// The bytes can be read and written.
    pub(crate) unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) -> usize {
        // SAFETY: the caller's.
        unsafe { from.copy_to(to, bytes) };
        0
    }

    pub(crate) struct Interrupted;

    impl Interrupted {
        /// # Safety
        /// None.
        pub(crate) unsafe fn new(_context: *mut libc::c_void) -> Interrupted {
            Interrupted
        }

        pub(crate) fn instruction(&self) -> usize {
            0
        }

        pub(crate) fn stack(&self) -> usize {
            0
        }

        /// # Safety
        /// None.
        pub(crate) unsafe fn top_of_stack(&self) -> usize {
            0
        }

        pub(crate) fn leave_copy(&mut self) -> bool {
            false
        }

        pub(crate) fn resume_at(&mut self, _way: &ResumePoint) {}
    }
}
