//! The C programs of `tests/c`, each through the system's ICD loader and linked with the library
//! directly.

use std::process::Command;

use crate::support;

/// What is installed there is not found to be missing in silence.
#[test]
fn a_missing_compiler_fails_in_continuous_integration() {
    let passes = |ci: &str| {
        Command::new(std::env::current_exe().expect("a running test has a path"))
            .args(["--exact", "c_programs::queries"])
            .env("PATH", "/nowhere")
            .env("CI", ci)
            .output()
            .expect("it runs")
            .status
            .success()
    };
    assert!(passes(""));
    assert!(!passes("true"));
}

/// What the first thread is bound to is not what the process may use.
#[test]
fn affinity() {
    support::c_program("affinity.c");
}

/// Assertions that fail are told, and end their launch.
#[test]
fn assertions() {
    support::c_program("assertions.c");
}

/// Rectangles and boxes are copied by work-groups, one copy after another.
#[test]
fn async_copies() {
    support::c_program("async_copies.c");
}

/// Atomics of many threads, the host's among them.
#[test]
fn atomics() {
    support::c_program("atomics.c");
}

/// Every entry point with null, zero, too large and wrongly typed arguments.
#[test]
fn bad_arguments() {
    support::c_program("bad_arguments.c");
}

/// Commands are recorded once and run often; every wrong argument is refused.
#[test]
fn command_buffers() {
    support::c_program("command_buffers.c");
}

/// Kernels enqueue kernels; the launch that the host enqueued is complete when all of them are, and
/// fails if one does.
#[test]
fn device_queues() {
    support::c_program("device_queues.c");
}

/// Memory files are used where they are, and may go away.
#[test]
fn external_memory() {
    support::c_program("external_memory.c");
}

/// A kernel's fault ends its launch, and nothing else.
#[test]
fn faults() {
    support::c_program("faults.c");
}

/// What a kernel computes does not depend on how the application's threads round, and whether they
/// trap.
#[test]
fn floating_point_state() {
    support::c_program("floating_point_state.c");
}

/// Variables of programs are read and written by name.
#[test]
fn global_variables() {
    support::c_program("global_variables.c");
}

/// Every wrong shape, format, region, pitch and flag of an image is refused.
#[test]
fn image_errors() {
    support::c_program("image_errors.c");
}

/// Nothing outside an image is touched, whatever the coordinates are.
#[test]
fn image_guard() {
    support::c_program("image_guard.c");
}

/// Kernels read and write images of every type through samplers of every kind.
#[test]
fn image_kernels() {
    support::c_program("image_kernels.c");
}

/// Images of every type are what a model says, whatever memory they are made of.
#[test]
fn images() {
    support::c_program("images.c");
}

/// Work-group and private memory are zero if a context says so.
#[test]
fn initialize() {
    support::c_program("initialize.c");
}

/// Buffers, sub-buffers, mapping, SVM, events, callbacks and native kernels do what they are for.
#[test]
fn memory_and_events() {
    support::c_program("memory_and_events.c");
}

/// Addresses of buffers, buffers that are never written, and migration before it was in the core.
#[test]
fn memory_extensions() {
    support::c_program("memory_extensions.c");
}

/// Standard error may be closed, full, or read by nobody.
#[test]
fn notices() {
    support::c_program("notices.c");
}

/// Recorded launches change, and go to other queues.
#[test]
fn mutable_commands() {
    support::c_program("mutable_commands.c");
}

/// Packets come out whole, in order and once; everything that takes a pipe refuses what is none.
#[test]
fn pipes() {
    support::c_program("pipes.c");
}

/// Every query has the type and size that the specification gives it.
#[test]
fn queries() {
    support::c_program("queries.c");
}

/// Signals reach the waits they are for.
#[test]
fn semaphores() {
    support::c_program("semaphores.c");
}

/// Programs are compiled apart and linked; their variables are initialised once, and kept.
#[test]
fn programs() {
    support::c_program("programs.c");
}

/// Sizes and counts that cannot be are refused, without a panic and without memory for them.
#[test]
fn sizes() {
    support::c_program("sizes.c");
}

/// Indexes beyond private variables and work-group memory, by one element and by millions, end the
/// launch or hit what is the launch's own, whatever generates the code and however wide it is.
#[test]
fn private_memory_that_is_overrun() {
    for isa in ["sse4.2", "avx2", "avx512"] {
        for width in ["1", "8", "32", ""] {
            let variables = [("BROLGA_ISA", isa), ("BROLGA_WIDTH", width)];
            support::c_program_with("private_memory.c", "overruns", &variables);
        }
    }
}

/// Private variables of up to a gibibyte, for each work-item and for groups of them.
#[test]
fn private_memory_that_is_large() {
    for width in ["1", "2", ""] {
        let variables = [("BROLGA_WIDTH", width), ("BROLGA_THREADS", "4")];
        support::c_program_with("private_memory.c", "large", &variables);
    }
}

/// Sixty-four threads on one context lose nothing. `stress SECONDS` runs for longer, and with
/// `BROLGA_THREADS=64` on more threads of the driver than there are processors.
#[test]
fn stress() {
    support::c_program("stress.c");
}

/// Processes that end, fork or close the library while commands run.
#[test]
fn endings() {
    support::c_program("endings.c");
}

/// Unified shared memory of every kind is used by address, by host and kernels.
#[test]
fn unified_shared_memory() {
    support::c_program("usm.c");
}

/// Every type of shared virtual memory is what it says.
#[test]
fn unified_svm() {
    support::c_program("unified_svm.c");
}

/// Sub-devices have the compute units asked for, and run on their processors only.
#[test]
fn sub_devices() {
    support::c_program("sub_devices.c");
}

/// Contexts are terminated with everything that is in flight.
#[test]
fn terminate_context() {
    support::c_program("terminate_context.c");
}

/// A program that a tool translates sees another auxiliary vector than the kernel's: no vDSO, and
/// fewer instruction sets.
#[test]
fn under_valgrind() {
    support::c_program_under("valgrind", &["--quiet", "--tool=none"], "enqueue.c");
}

/// Arguments that a module's reflection leaves out are set like any others.
#[test]
fn arguments_that_a_module_of_vulkans_does_not_describe() {
    let module = brolga_runtime_testing::assemble(include_str!(
        "../../../compiler/tests/spirv/accept/vulkan_unused_argument.spvasm"
    ));
    let folder = tempfile::TempDir::new().expect("a temporary folder can be made");
    let file = folder.path().join("module.spv");
    std::fs::write(&file, module).expect("the folder is writable");
    support::c_program_with("vulkan_arguments.c", &file.display().to_string(), &[]);
}
