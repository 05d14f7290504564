//! The floating-point state that generated code runs under.
//!
//! Kernels expect round to nearest even, subnormals kept, and no traps. Pool threads are born that
//! way; a thread of the application that helps may have changed any of it, and must find its own
//! settings again afterwards.

/// Holds the default floating-point state for as long as it lives, then restores the thread's own.
pub(crate) struct FloatEnv {
    saved: imp::Control,
}

impl FloatEnv {
    /// Switches this thread to the default state.
    pub(crate) fn enter() -> FloatEnv {
        let saved = imp::get();
        if saved & imp::CONTROL_BITS != imp::DEFAULT & imp::CONTROL_BITS {
            imp::set(imp::DEFAULT);
        }
        FloatEnv { saved }
    }
}

impl Drop for FloatEnv {
    fn drop(&mut self) {
        // Also drops the exception flags that the kernels raised.
        imp::set(self.saved);
    }
}

#[cfg(target_arch = "x86_64")]
mod imp {
    use std::arch::asm;

    pub(super) type Control = u32;
    /// All exceptions masked, round to nearest, no flush to zero, subnormals are not zero.
    pub(super) const DEFAULT: Control = 0x1f80;
    /// Everything but the exception flags.
    pub(super) const CONTROL_BITS: Control = 0xffc0;

    pub(super) fn get() -> Control {
        let mut control: Control = 0;
        // SAFETY: stores MXCSR to the given four bytes and does nothing else.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags))
        };
        control
    }

    pub(super) fn set(control: Control) {
        // SAFETY: loads MXCSR with a value that is either the documented default or was stored by
        // `get`, so no reserved bit is set. The Rust code that runs meanwhile does no
        // floating-point arithmetic that depends on it.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack, preserves_flags, readonly))
        };
    }
}

#[cfg(target_arch = "aarch64")]
mod imp {
    use std::arch::asm;

    pub(super) type Control = u64;
    /// Round to nearest, no flush to zero, no traps.
    pub(super) const DEFAULT: Control = 0;
    pub(super) const CONTROL_BITS: Control = !0;

    pub(super) fn get() -> Control {
        let control: Control;
        // SAFETY: reads FPCR.
        unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags)) };
        control
    }

    pub(super) fn set(control: Control) {
        // SAFETY: writes FPCR with zero or a value read by `get`.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nomem, nostack, preserves_flags)) };
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn a_helping_thread_gets_its_own_state_back() {
        let flush_to_zero_and_round_down = 0x1f80 | 1 << 15 | 1 << 6 | 0b01 << 13;
        let before = imp::get();
        imp::set(flush_to_zero_and_round_down);
        let inside = {
            let _environment = FloatEnv::enter();
            imp::get()
        };
        let after = imp::get();
        imp::set(before);
        assert_eq!(inside & imp::CONTROL_BITS, imp::DEFAULT);
        assert_eq!(after, flush_to_zero_and_round_down);
    }
}
