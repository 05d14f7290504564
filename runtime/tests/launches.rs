//! Launches: every work-item once, arguments by value, validation, printf.

use std::sync::Arc;

use brolga_runtime::context::ContextOptions;
use brolga_runtime::{Buffer, ClError, Context, HostPtr, Platform};
use brolga_runtime_testing::*;
use opencl_sys::*;
use parking_lot::Mutex;

fn run_count(global: &[usize], local: Option<&[usize]>) {
    let context = context();
    let queue = queue(&context);
    let items: usize = global.iter().product();
    let counts = buffer(&context, &vec![0; items]);
    let kernel = kernel(&context, "count");
    kernel.set_arg_buffer(0, Some(&counts)).unwrap();
    let dim = global.len() as u32;
    queue
        .enqueue_nd_range(&kernel, dim, None, Some(global), local, &[])
        .unwrap();
    queue
        .enqueue_nd_range(&kernel, dim, None, Some(global), local, &[])
        .unwrap();
    let result = words(&queue, &counts);
    assert!(result.iter().all(|&n| n == 2), "{global:?} {local:?}");
}

#[test]
fn every_work_item_runs_once() {
    run_count(&[1], None);
    run_count(&[1], Some(&[1]));
    run_count(&[1000], Some(&[10]));
    run_count(&[1 << 20], None);
    run_count(&[1 << 20], Some(&[1]));
    run_count(&[64, 32], Some(&[8, 4]));
    run_count(&[640, 480], None);
    run_count(&[16, 16, 16], Some(&[4, 4, 4]));
    run_count(&[7, 11, 13], None);
}

#[test]
fn non_uniform_edges_run_once() {
    run_count(&[1003], Some(&[64]));
    run_count(&[100, 101], Some(&[16, 16]));
    run_count(&[17, 9, 5], Some(&[4, 4, 4]));
    run_count(&[5], Some(&[64]));
    run_count(&[1_000_003], None);
}

#[test]
fn a_first_launch_that_turns_out_long_is_shared() {
    let context = context();
    let queue = queue(&context);
    let kernel = kernel(&context, "record_thread");
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[128]), Some(&[1]), &[])
        .unwrap();
    queue.finish().unwrap();
    if context.device().max_compute_units > 1 {
        assert!(THREADS.lock().len() > 1);
    }
}

#[test]
fn empty_ranges_complete_without_running() {
    let context = context();
    let queue = queue(&context);
    let sum = buffer(&context, &[0]);
    let kernel = kernel(&context, "add");
    kernel.set_arg_buffer(0, Some(&sum)).unwrap();
    kernel.set_arg_value(1, &1u32.to_le_bytes()).unwrap();
    let event = queue
        .enqueue_nd_range(&kernel, 2, None, Some(&[4, 0]), None, &[])
        .unwrap();
    queue
        .enqueue_nd_range(&kernel, 2, None, None, None, &[])
        .unwrap();
    queue.finish().unwrap();
    assert_eq!(event.status(), CL_COMPLETE);
    assert_eq!(event.command_type(), CL_COMMAND_NDRANGE_KERNEL);
    assert_eq!(words(&queue, &sum), [0]);
}

#[test]
fn arguments_are_captured_by_value() {
    let context = context();
    let queue = queue(&context);
    let sum = buffer(&context, &[0]);
    let kernel = kernel(&context, "add");
    kernel.set_arg_buffer(0, Some(&sum)).unwrap();
    let mut expected = 0;
    for value in 1..100u32 {
        kernel.set_arg_value(1, &value.to_le_bytes()).unwrap();
        queue.enqueue_task(&kernel, &[]).unwrap();
        expected += value;
    }
    kernel.set_arg_value(1, &0u32.to_le_bytes()).unwrap();
    assert_eq!(words(&queue, &sum), [expected]);
}

#[test]
fn buffers_live_until_the_command_is_done() {
    let context = context();
    let queue = queue(&context);
    let gone = Arc::new(Mutex::new(false));
    let data = buffer(&context, &[0; 1024]);
    let flag = Arc::clone(&gone);
    data.memory()
        .on_destroy(Box::new(move || *flag.lock() = true));
    let kernel = kernel(&context, "count");
    kernel.set_arg_buffer(0, Some(&data)).unwrap();
    let user = brolga_runtime::user_event(&context);
    let event = queue
        .enqueue_nd_range(
            &kernel,
            1,
            None,
            Some(&[1024]),
            None,
            std::slice::from_ref(&user),
        )
        .unwrap();
    drop(data);
    assert!(!*gone.lock());
    user.set_user_status(CL_COMPLETE).unwrap();
    queue.finish().unwrap();
    assert_eq!(event.status(), CL_COMPLETE);
    // The event still exists, and so does the kernel, but neither holds the buffer.
    assert!(*gone.lock());
    let again = queue.enqueue_nd_range(&kernel, 1, None, Some(&[1024]), None, &[]);
    assert_eq!(again.unwrap_err(), ClError::INVALID_KERNEL_ARGS);
}

#[test]
fn local_arguments_get_places_of_their_own() {
    let context = context();
    let queue = queue(&context);
    let out = buffer(&context, &[0; 3]);
    let kernel = kernel(&context, "locals");
    assert_eq!(kernel.local_mem_size(), 100);
    kernel.set_arg_local(0, 130).unwrap();
    kernel.set_arg_local(1, 4).unwrap();
    kernel.set_arg_buffer(2, Some(&out)).unwrap();
    assert_eq!(kernel.local_mem_size(), 128 + 256 + 128);
    queue.enqueue_task(&kernel, &[]).unwrap();
    assert_eq!(words(&queue, &out), [128, 384, 512]);

    // As of OpenCL 3.1, one that needs no memory.
    kernel.set_arg_local(0, 0).unwrap();
    assert_eq!(kernel.local_mem_size(), 128 + 128);
    queue.enqueue_task(&kernel, &[]).unwrap();
    assert_eq!(words(&queue, &out), [128, 128, 256]);

    let limit = context.device().local_mem_size as usize;
    assert_eq!(
        kernel.set_arg_local(0, limit + 1),
        Err(ClError::MAX_SIZE_RESTRICTION_EXCEEDED)
    );
    kernel.set_arg_local(0, limit).unwrap();
    assert_eq!(
        queue.enqueue_task(&kernel, &[]).unwrap_err(),
        ClError::OUT_OF_RESOURCES
    );
}

#[test]
fn arguments_are_checked() {
    let context = context();
    let queue = queue(&context);
    let kernel = kernel(&context, "add");
    let data = buffer(&context, &[0]);
    assert_eq!(
        queue.enqueue_task(&kernel, &[]).unwrap_err(),
        ClError::INVALID_KERNEL_ARGS
    );
    assert_eq!(
        kernel.set_arg_value(2, &[0; 4]),
        Err(ClError::INVALID_ARG_INDEX)
    );
    assert_eq!(
        kernel.set_arg_value(1, &[0; 3]),
        Err(ClError::INVALID_ARG_SIZE)
    );
    assert_eq!(
        kernel.set_arg_value(0, &[0; 8]),
        Err(ClError::INVALID_ARG_VALUE)
    );
    assert_eq!(
        kernel.set_arg_buffer(1, Some(&data)),
        Err(ClError::INVALID_ARG_VALUE)
    );
    assert_eq!(kernel.set_arg_local(0, 8), Err(ClError::INVALID_ARG_VALUE));
    let other = brolga_runtime_testing::context();
    let foreign = buffer(&other, &[0]);
    assert_eq!(
        kernel.set_arg_buffer(0, Some(&foreign)),
        Err(ClError::INVALID_CONTEXT)
    );
    kernel.set_arg_buffer(0, Some(&data)).unwrap();
    kernel.set_arg_value(1, &[1, 0, 0, 0]).unwrap();
    let foreign_queue = brolga_runtime_testing::queue(&other);
    assert_eq!(
        foreign_queue.enqueue_task(&kernel, &[]).unwrap_err(),
        ClError::INVALID_CONTEXT
    );
    queue.enqueue_task(&kernel, &[]).unwrap();
    assert_eq!(words(&queue, &data), [1]);
}

#[test]
fn a_duplicate_has_its_own_arguments() {
    let context = context();
    let queue = queue(&context);
    let sum = buffer(&context, &[0]);
    let kernel = kernel(&context, "add");
    kernel.set_arg_buffer(0, Some(&sum)).unwrap();
    kernel.set_arg_value(1, &5u32.to_le_bytes()).unwrap();
    let copy = kernel.duplicate();
    kernel.set_arg_value(1, &100u32.to_le_bytes()).unwrap();
    queue.enqueue_task(&copy, &[]).unwrap();
    queue.enqueue_task(&kernel, &[]).unwrap();
    assert_eq!(words(&queue, &sum), [105]);
}

#[test]
fn svm_pointers_and_null_are_arguments() {
    let context = context();
    let queue = queue(&context);
    let pointer = context.svm_alloc(CL_MEM_READ_WRITE, 64, 0).unwrap();
    // SAFETY: 64 bytes were allocated.
    unsafe { pointer.cast::<u32>().write(7) };
    let kernel = kernel(&context, "add");
    kernel.set_arg_svm(0, pointer as usize).unwrap();
    kernel.set_arg_value(1, &1u32.to_le_bytes()).unwrap();
    queue.enqueue_task(&kernel, &[]).unwrap();
    queue.finish().unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { pointer.cast::<u32>().read() }, 8);
    context.svm_free(pointer as usize);
    kernel.set_arg_buffer(0, None).unwrap();
}

#[test]
#[cfg(target_arch = "x86_64")]
fn kernels_run_in_the_default_floating_point_state() {
    let control: u32 = 0x1f80 | 1 << 15 | 0b11 << 13;
    let mut saved = 0u32;
    // SAFETY: valid values of MXCSR; nothing floating-point happens before it is restored.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut saved, options(nostack));
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack));
    }
    let seen = brolga_runtime::float_env::in_default(|| {
        let context = context();
        let queue = queue(&context);
        let out = buffer(&context, &[0]);
        let kernel = kernel(&context, "float_state");
        kernel.set_arg_buffer(0, Some(&out)).unwrap();
        queue.enqueue_task(&kernel, &[]).unwrap();
        words(&queue, &out)[0]
    });
    let mut after = 0u32;
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut after, options(nostack));
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const saved, options(nostack));
    }
    assert_eq!(seen & 0xffc0, 0x1f80);
    assert_eq!(after, control);
}

#[test]
fn output_comes_in_the_order_of_the_queue() {
    let text = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&text);
    let options = ContextOptions {
        printf: Some(Box::new(move |bytes: &[u8]| {
            sink.lock().extend_from_slice(bytes)
        })),
        ..ContextOptions::default()
    };
    let context = Context::new(Platform::get().devices().to_vec(), options).unwrap();
    let queue = queue(&context);
    let kernel = kernel(&context, "print");
    let mut expected = String::new();
    for value in 0..20u32 {
        kernel.set_arg_value(0, &value.to_le_bytes()).unwrap();
        let groups = if value % 2 == 0 { 3 } else { 200 };
        queue
            .enqueue_nd_range(&kernel, 1, None, Some(&[groups]), Some(&[1]), &[])
            .unwrap();
        expected += &format!("{value}\n").repeat(groups);
    }
    queue.finish().unwrap();
    assert_eq!(String::from_utf8(text.lock().clone()).unwrap(), expected);
}

#[test]
fn suggested_sizes_are_what_a_launch_would_use() {
    let context = context();
    let kernel = kernel(&context, "empty");
    let local = kernel
        .suggested_local_size(2, None, Some(&[640, 480]))
        .unwrap();
    assert_eq!((640 % local[0], 480 % local[1], local[2]), (0, 0, 1));
    assert_eq!(
        kernel.suggested_local_size(1, None, Some(&[0])),
        Err(ClError::INVALID_GLOBAL_WORK_SIZE)
    );
    assert_eq!(
        kernel.suggested_local_size(4, None, Some(&[1])),
        Err(ClError::INVALID_WORK_DIMENSION)
    );
}

#[test]
fn profiling_times_are_in_order() {
    let context = context();
    let queue = queue(&context);
    let kernel = kernel(&context, "slow");
    kernel.set_arg_value(0, &100u32.to_le_bytes()).unwrap();
    let event = queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[20]), Some(&[1]), &[])
        .unwrap();
    queue.finish().unwrap();
    let profile = event.profile().unwrap();
    assert!(profile.queued > 0 && profile.queued <= profile.submit);
    assert!(profile.submit <= profile.start && profile.start < profile.end);
    assert!(profile.end - profile.start >= 100_000);
    assert_eq!(profile.end, profile.complete);

    let plain = queue_with(&context, 0);
    let event = plain.enqueue_marker(&[]).unwrap();
    plain.finish().unwrap();
    assert_eq!(event.profile(), Err(ClError::PROFILING_INFO_NOT_AVAILABLE));
}

#[test]
fn programs_report_their_state() {
    let context = context();
    let built = program(&context);
    assert_eq!(built.build_info().status, CL_BUILD_SUCCESS);
    assert!(built.kernel_names().unwrap().contains(&"empty".to_owned()));
    assert_eq!(
        built.kernel("nope").unwrap_err(),
        ClError::INVALID_KERNEL_NAME
    );
    assert_eq!(
        built.kernels().unwrap().len(),
        built.kernel_names().unwrap().len()
    );

    let source =
        brolga_runtime::Program::from_source(&context, "kernel void f() {}".to_owned()).unwrap();
    assert_eq!(source.build_info().status, CL_BUILD_NONE);
    assert_eq!(
        source.kernel("f").unwrap_err(),
        ClError::INVALID_PROGRAM_EXECUTABLE
    );
    assert_eq!(
        source.build("-no-such-option", None),
        Err(ClError::INVALID_BUILD_OPTIONS)
    );
    assert_eq!(
        source.compile("-no-such-option", &[], None),
        Err(ClError::INVALID_COMPILER_OPTIONS)
    );
    assert_eq!(source.spec_constant_size(0), Err(ClError::INVALID_PROGRAM));
    assert!(source.binary().is_empty());

    let garbage = brolga_runtime::Program::from_il(&context, b"not a module");
    assert_eq!(garbage.unwrap_err(), ClError::INVALID_VALUE);
    let garbage = brolga_runtime::Program::from_binary(&context, b"not a binary");
    assert_eq!(garbage.unwrap_err(), ClError::INVALID_BINARY);
    let (none, error) = brolga_runtime::Program::link(&context, "", &[source], None);
    assert!(none.is_none());
    assert_eq!(error, Err(ClError::INVALID_OPERATION));
}

#[test]
fn an_unusable_module_fails_to_build_with_a_log() {
    let context = context();
    let header: Vec<u8> = [0x0723_0203u32, 0x0001_0000, 0, 1, 0, 0x0001_ffff]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let program = brolga_runtime::Program::from_il(&context, &header).unwrap();
    assert_eq!(program.build("", None), Err(ClError::BUILD_PROGRAM_FAILURE));
    let info = program.build_info();
    assert_eq!(info.status, CL_BUILD_ERROR);
    assert!(!info.log.is_empty());

    let (send, receive) = std::sync::mpsc::channel();
    program
        .build("", Some(Box::new(move || send.send(()).unwrap())))
        .unwrap();
    receive.recv().unwrap();
    assert_eq!(program.build_info().status, CL_BUILD_ERROR);
}

#[test]
fn zero_copy_buffers_are_written_in_place() {
    let context = context();
    let queue = queue(&context);
    let mut memory = vec![0u32; 256];
    let flags = CL_MEM_USE_HOST_PTR;
    let data = Buffer::new(&context, flags, 1024, host(&mut memory), Vec::new()).unwrap();
    assert_eq!(data.memory().host_ptr(), memory.as_mut_ptr().cast());
    let kernel = kernel(&context, "count");
    kernel.set_arg_buffer(0, Some(&data)).unwrap();
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[256]), None, &[])
        .unwrap();
    queue.finish().unwrap();
    assert!(memory.iter().all(|&n| n == 1));
    let _ = HostPtr::null();
}
