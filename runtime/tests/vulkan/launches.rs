//! What a launch and the module itself provide.

use super::*;

/// A context, and what is printed in it.
fn printing() -> (Arc<Context>, Arc<Mutex<Vec<u8>>>) {
    let text = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&text);
    let options = ContextOptions {
        printf: Some(Box::new(move |bytes: &[u8]| {
            sink.lock().unwrap().extend_from_slice(bytes)
        })),
        ..ContextOptions::default()
    };
    let devices = Platform::get().devices().to_vec();
    (Context::new(devices, options).unwrap(), text)
}

#[test]
fn work_items_print_to_a_buffer() {
    let (context, printed) = printing();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_printf.spvasm");
    let program = built(&context, text, "1.1");
    let kernel = program.kernel("say").unwrap();
    assert_eq!(kernel.info().args.len(), 1);
    let numbers: Vec<u32> = (0..16).map(|i| i * 3).collect();
    let data = buffer(&context, &numbers);
    kernel.set_arg_buffer(0, Some(&data)).unwrap();
    // A call takes 5 words, and there are 31.
    for (items, fit) in [(1, 1), (4, 4), (6, 6), (16, 6)] {
        launch(&queue, &kernel, items, 1);
        queue.finish().unwrap();
        let printed = std::mem::take(&mut *printed.lock().unwrap());
        let printed = String::from_utf8(printed).unwrap();
        let calls: Vec<&str> = printed.split_terminator('|').collect();
        assert_eq!(calls.len(), fit, "{printed}");
        for call in calls {
            let (number, _) = call.split_once(' ').unwrap();
            let number: u32 = number.parse().unwrap();
            assert!(numbers[..items].contains(&number), "{printed}");
            let half = f64::from(number) / 2.0;
            assert_eq!(call, format!("{number} of data: {half:.6}"));
        }
    }
}

#[test]
fn program_scope_variables_are_shared_and_have_addresses() {
    let (context, printed) = printing();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_variables.spvasm");
    let program = built(&context, text, "1.1");
    assert_eq!(program.kernel_names().unwrap(), ["next"]);
    let mut expected = [42, 5];
    for _ in 0..3 {
        let kernel = program.kernel("next").unwrap();
        let out = buffer(&context, &[0; 2]);
        kernel.set_arg_buffer(0, Some(&out)).unwrap();
        launch(&queue, &kernel, 1, 1);
        assert_eq!(words(&queue, &out), expected);
        // From now on the address is that of the count.
        expected = [expected[1] + 1; 2];
    }
    queue.finish().unwrap();
    assert_eq!(*printed.lock().unwrap(), b"5\n6\n7\n");
}

#[test]
fn what_a_launch_decides_is_pushed_and_specialized() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_launch.spvasm");
    let program = built(&context, text, "1.1");
    let kernel = program.kernel("launch").unwrap();
    let out = buffer(&context, &[u32::MAX; 160]);
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    // The module knows of regions: the last work-group is smaller.
    queue
        .enqueue_nd_range(&kernel, 1, Some(&[3]), Some(&[10]), Some(&[4]), &[])
        .unwrap();
    let found = words(&queue, &out);
    for (i, found) in (0..).zip(found.chunks(16)) {
        let size = if i < 8 { 4 } else { 2 };
        let expected = [3 + i, 3, 0, 4, 1, 10, 1, 3, 3, 1, i / 4, size, 1, 3, 0, 1];
        assert_eq!(found, expected, "work-item {i}");
    }
}

/// "LocalSizeId": what the ids are, specialized or not, and what a launch specializes is its own.
#[test]
fn sizes_of_work_groups_are_ids() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_local_size_id.spvasm");
    // Implementations say whether they take this; the tools refuse it unless told.
    let module = module(text, "1.3", false);
    for (specialized, size) in [(None, 2), (Some(4u32), 4)] {
        let program = Program::from_il(&context, &module).unwrap();
        if let Some(size) = specialized {
            program.set_spec_constant(7, &size.to_ne_bytes()).unwrap();
        }
        program.build("", None).unwrap();
        let kernel = program.kernel("by_number").unwrap();
        assert_eq!(kernel.info().required_work_group_size, Some([size, 1, 1]));
        let run = |kernel: &Arc<Kernel>, local: usize| {
            let out = buffer(&context, &[9; 8]);
            kernel.set_arg_buffer(0, Some(&out)).unwrap();
            let sizes = (Some(&[8][..]), Some(&[local][..]));
            queue.enqueue_nd_range(kernel, 1, None, sizes.0, sizes.1, &[])?;
            let counting: Vec<u32> = (0..8).map(|i| i % local as u32).collect();
            assert_eq!(words(&queue, &out), counting);
            Ok(())
        };
        run(&kernel, size as usize).unwrap();
        let other = run(&kernel, 8);
        assert_eq!(other, Err(ClError::INVALID_WORK_GROUP_SIZE));
        let kernel = program.kernel("by_launch").unwrap();
        assert_eq!(kernel.info().required_work_group_size, None);
        for local in [1, 2, 8] {
            run(&kernel, local).unwrap();
        }
    }
}

/// What a source prints when it is built directly, it prints by way of its module for Vulkan.
#[test]
fn sources_print_the_same() {
    let source = "kernel void k(global const int *a, float f) {
        int i = get_global_id(0);
        if (i % 3 == 0) printf(\"%d of %s: %5.2f %v4hld|\", a[i], \"data\", f, (int4)(i, 1, -2, 3));
        if (i == 5) printf(\"%c%%%x\\n|\", 'c', a[i]);
    }";
    let (context, printed) = printing();
    let queue = queue(&context);
    let data = buffer(&context, &[100, 200, u32::MAX, 400, 500, 0xbeef, 700]);
    let pieces = |program: &Arc<Program>| {
        let kernel = program.kernel("k").unwrap();
        kernel.set_arg_buffer(0, Some(&data)).unwrap();
        kernel.set_arg_value(1, &2.5f32.to_ne_bytes()).unwrap();
        launch(&queue, &kernel, 7, 1);
        queue.finish().unwrap();
        let printed = String::from_utf8(std::mem::take(&mut *printed.lock().unwrap())).unwrap();
        let mut pieces: Vec<String> = printed.split('|').map(str::to_owned).collect();
        pieces.sort();
        pieces
    };
    let direct = brolga_runtime_testing::built(&context, source, "-cl-std=CL1.2");
    let expected = pieces(&direct);
    assert_eq!(expected.len(), 5);
    for target in ways::targets() {
        let module = ways::module_of(source, brolga_opencl_c::Std::C12, &target).unwrap();
        assert_eq!(pieces(&built_of(&context, &module)), expected, "{target:?}");
    }
}
