//! The floating-point environment: how operations round, whether subnormal numbers count, which
//! exceptions trap.
//!
//! Rust's code is compiled for the default environment (round to nearest even, subnormal numbers
//! kept, no traps), and to run it in another one is undefined behaviour (`_mm_setcsr` of
//! `core::arch`). What the compiler folds on the host, literals that the front end reads, and
//! generated code mean what they should in that environment only. A thread of the application may
//! be in any: `fesetround`, `feenableexcept` and libraries linked with `-ffast-math` change it, and
//! a thread begins with what the one that started it has.
//!
//! So the environment belongs to the boundary between languages, as panics do. [`in_default`] is
//! round all that the application calls, and what the C library calls at the end of the process;
//! [`in_application`] is round each function of the application that the driver calls. All between
//! the two may rely on the default: compiling, launches on threads that wait, and threads that the
//! driver starts, which inherit it. Handlers of signals need nothing, as the system starts them in
//! the default environment, and destructors of thread-local values compute nothing.
//!
//! Exceptions that the driver and kernels raise are not the application's: the flags that
//! `fetestexcept` reads are after a call what they were before.

use std::cell::Cell;

use imp::Environment;

thread_local! {
    /// The environment of the application that called the driver on this thread; none while there
    /// is no such call, as on the driver's own threads.
    static APPLICATION: Cell<Option<Environment>> = const { Cell::new(None) };
}

/// Calls `body`, as code that the application has called, in the default environment; afterwards
/// that of the application is back.
pub fn in_default<R>(body: impl FnOnce() -> R) -> R {
    struct Restore {
        outer: Option<Environment>,
    }
    impl Drop for Restore {
        fn drop(&mut self) {
            if let Some(application) = APPLICATION.replace(self.outer) {
                application.set();
            }
        }
    }
    let found = Environment::current();
    let _restore = Restore {
        outer: APPLICATION.replace(Some(found)),
    };
    if !found.computes_as_default() {
        set_default();
    }
    apart(body)
}

/// Calls `function`, which is of the application, in its environment: what this thread was in when
/// the application called the driver, and what `function` makes of it is what the thread is in
/// after that call. On threads of the driver it is the default environment, each time.
pub fn in_application<R>(function: impl FnOnce() -> R) -> R {
    struct Restore {
        application: Option<Environment>,
    }
    impl Drop for Restore {
        fn drop(&mut self) {
            match self.application {
                Some(_) => {
                    APPLICATION.set(Some(Environment::current()));
                    Environment::DEFAULT.set();
                }
                None => Environment::reset(),
            }
        }
    }
    let application = APPLICATION.get();
    match application {
        Some(application) => application.set(),
        None => Environment::reset(),
    }
    let _restore = Restore { application };
    apart(function)
}

/// Few applications need it.
#[cold]
#[inline(never)]
fn set_default() {
    Environment::DEFAULT.set();
}

/// Whether this thread computes as in the default environment; exceptions may have been raised.
pub fn is_default() -> bool {
    Environment::current().computes_as_default()
}

/// Calls a function that is not inlined. Nothing tells the compiler that arithmetic depends on the
/// environment, so it would be free to move what it inlines from one side of a change to the other.
#[inline(never)]
fn apart<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(target_arch = "x86_64")]
mod imp {
    use std::arch::asm;
    use std::mem::MaybeUninit;
    use std::num::NonZeroU16;

    /// MXCSR's flags of exceptions that have been raised.
    const RAISED: u32 = 0x3f;

    /// The control registers. The flags of the x87, which no code of the driver uses, stay what
    /// they are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Environment {
        pub(super) mxcsr: u32,
        /// Bit 6 is always set.
        pub(super) x87: NonZeroU16,
    }

    impl Environment {
        /// All exceptions masked, round to nearest, no flush to zero, subnormals are not zero; 64
        /// bits of precision for the x87. As the psABI says of a process that begins.
        pub(super) const DEFAULT: Environment = Environment {
            mxcsr: 0x1f80,
            x87: NonZeroU16::new(0x037f).unwrap(),
        };

        pub(super) fn current() -> Environment {
            let mut mxcsr = MaybeUninit::<u32>::uninit();
            let mut x87 = MaybeUninit::<NonZeroU16>::uninit();
            // SAFETY: stores the two registers to where there is room for them.
            unsafe {
                asm!("stmxcsr [{}]", in(reg) mxcsr.as_mut_ptr(), options(nostack, preserves_flags));
                asm!("fnstcw [{}]", in(reg) x87.as_mut_ptr(), options(nostack, preserves_flags));
                Environment {
                    mxcsr: mxcsr.assume_init(),
                    x87: x87.assume_init(),
                }
            }
        }

        pub(super) fn computes_as_default(self) -> bool {
            self.mxcsr & !RAISED == Self::DEFAULT.mxcsr && self.x87 == Self::DEFAULT.x87
        }

        /// Makes the registers what they were. To load the x87's takes long, and to read MXCSR
        /// longer than to load it.
        pub(super) fn set(self) {
            let mut x87 = MaybeUninit::<NonZeroU16>::uninit();
            // SAFETY: loads registers with their defaults, or with what was stored from them. Code
            // of the driver that follows runs in the default environment.
            unsafe {
                let mxcsr = &raw const self.mxcsr;
                asm!("ldmxcsr [{}]", in(reg) mxcsr, options(nostack, readonly));
                asm!("fnstcw [{}]", in(reg) x87.as_mut_ptr(), options(nostack, preserves_flags));
                if x87.assume_init() != self.x87 {
                    let x87 = &raw const self.x87;
                    asm!("fldcw [{}]", in(reg) x87, options(nostack, readonly));
                }
            }
        }

        /// The default environment with no exception raised, of the x87 either, whatever code of
        /// the application has left on a thread.
        pub(super) fn reset() {
            let status: u16;
            // SAFETY: as above; the x87 is initialized without a look at exceptions that are
            // pending, and no value of Rust's is in it.
            unsafe {
                asm!("fnstsw ax", out("ax") status, options(nomem, nostack, preserves_flags));
                if status != 0 {
                    asm!("fninit", options(nomem, nostack));
                }
            }
            Environment::DEFAULT.set();
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod imp {
    use std::arch::asm;

    #[derive(Clone, Copy)]
    pub(super) struct Environment {
        control: u64,
        /// The exceptions that have been raised.
        status: u64,
    }

    impl Environment {
        /// Round to nearest, no flush to zero, no traps.
        pub(super) const DEFAULT: Environment = Environment {
            control: 0,
            status: 0,
        };

        pub(super) fn current() -> Environment {
            let (control, status);
            // SAFETY: reads FPCR and FPSR.
            unsafe {
                asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags));
                asm!("mrs {}, fpsr", out(reg) status, options(nomem, nostack, preserves_flags));
            }
            Environment { control, status }
        }

        pub(super) fn computes_as_default(self) -> bool {
            self.control == Self::DEFAULT.control
        }

        /// Makes the registers what they were.
        pub(super) fn set(self) {
            let Environment { control, status } = self;
            let changes = Environment::current().control != control;
            // SAFETY: writes FPCR and FPSR with zero or what was read from them.
            unsafe {
                if changes {
                    asm!("msr fpcr, {}", in(reg) control, options(nostack, preserves_flags));
                }
                asm!("msr fpsr, {}", in(reg) status, options(nostack));
            }
        }

        /// The default environment with no exception raised.
        pub(super) fn reset() {
            Environment::DEFAULT.set();
        }
    }
}

/// Nothing is known of other architectures: threads are in the environment that they are in.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod imp {
    #[derive(Clone, Copy)]
    pub(super) struct Environment;

    impl Environment {
        pub(super) const DEFAULT: Environment = Environment;

        pub(super) fn current() -> Environment {
            Environment
        }

        pub(super) fn computes_as_default(self) -> bool {
            true
        }

        pub(super) fn set(self) {}

        pub(super) fn reset() {}
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::num::NonZeroU16;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// Rounds down and flushes to zero, with one exception raised.
    const ODD: Environment = Environment {
        mxcsr: 0x1f80 | 1 << 15 | 1 << 6 | 0b01 << 13 | 1,
        x87: NonZeroU16::new(0x067f).unwrap(),
    };

    /// Traps on division by zero.
    const TRAPPING: Environment = Environment {
        mxcsr: 0x1f80 & !(1 << 9),
        x87: NonZeroU16::new(0x037b).unwrap(),
    };

    /// A thread of the application in `environment`; returns in which it is after `body`.
    fn on_thread_in(environment: Environment, body: impl FnOnce() + Send) -> Environment {
        let run = || {
            environment.set();
            body();
            let after = Environment::current();
            Environment::reset();
            after
        };
        std::thread::scope(|scope| scope.spawn(run).join().expect("it does not panic"))
    }

    fn divide(a: f32, b: f32) -> f32 {
        std::hint::black_box(a) / std::hint::black_box(b)
    }

    #[test]
    fn what_the_application_calls_runs_in_the_default_environment() {
        for environment in [Environment::DEFAULT, ODD, TRAPPING] {
            let after = on_thread_in(environment, || {
                let infinity = in_default(|| {
                    assert!(is_default());
                    divide(1.0, 0.0)
                });
                assert_eq!(infinity.to_bits(), f32::INFINITY.to_bits());
            });
            assert_eq!(after, environment);
        }
    }

    #[test]
    fn what_the_driver_calls_runs_in_that_of_the_application() {
        let after = on_thread_in(ODD, || {
            in_default(|| {
                in_application(|| {
                    assert_eq!(Environment::current(), ODD);
                    TRAPPING.set();
                    in_default(|| assert!(is_default()));
                    assert_eq!(Environment::current(), TRAPPING);
                });
                assert!(is_default());
                in_application(|| assert_eq!(Environment::current(), TRAPPING));
            });
        });
        assert_eq!(after, TRAPPING);
    }

    #[test]
    fn on_a_thread_of_the_driver_each_function_begins_anew() {
        let after = on_thread_in(Environment::DEFAULT, || {
            for _ in 0..2 {
                divide(1.0, 3.0);
                in_application(|| {
                    assert_eq!(Environment::current(), Environment::DEFAULT);
                    ODD.set();
                });
                assert!(is_default());
            }
        });
        assert_eq!(after, Environment::DEFAULT);
    }

    #[test]
    fn a_panic_leaves_the_environment_as_a_return_does() {
        let after = on_thread_in(ODD, || {
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                in_default(|| {
                    let inner = catch_unwind(|| in_application(|| panic!("on purpose")));
                    assert!(inner.is_err() && is_default());
                    panic!("on purpose");
                })
            }));
            assert!(panicked.is_err());
        });
        assert_eq!(after, ODD);
    }
}
