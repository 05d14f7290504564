//! What arguments become, and what the host is told of them.

use super::*;

const BUFFERS: &str = include_str!("../../../compiler/tests/spirv/accept/vulkan_buffers.spvasm");

#[test]
fn buffers_and_values_are_arguments_in_the_order_of_the_source() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, BUFFERS, "1.1");
    assert_eq!(program.kernel_names().unwrap(), ["scale", "reverse"]);
    let kernel = program.kernel("scale").unwrap();
    let n = 100;
    let input: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let of_input = of_floats(&context, &input);
    for (global, local) in [(100, 1), (64, 64), (32, 8), (7, 7)] {
        let out = of_floats(&context, &vec![-1.0; n]);
        kernel.set_arg_buffer(0, Some(&of_input)).unwrap();
        kernel.set_arg_value(1, &2.5f32.to_ne_bytes()).unwrap();
        kernel.set_arg_buffer(2, Some(&out)).unwrap();
        kernel
            .set_arg_value(3, &(n as u32 - 1).to_ne_bytes())
            .unwrap();
        launch(&queue, &kernel, global, local);
        let mut expected: Vec<f32> = input.iter().map(|x| x * 2.5).collect();
        expected[n - 1] = -1.0;
        assert_eq!(
            floats(&queue, &out),
            expected,
            "{global} in groups of {local}"
        );
    }
}

#[test]
fn the_host_sizes_local_memory_and_work_groups() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, BUFFERS, "1.1");
    let kernel = program.kernel("reverse").unwrap();
    for local in [1, 4, 16, 128] {
        let data: Vec<u32> = (0..256).collect();
        let of_data = buffer(&context, &data);
        kernel.set_arg_local(0, 4 * local).unwrap();
        kernel.set_arg_buffer(1, Some(&of_data)).unwrap();
        launch(&queue, &kernel, 256, local);
        let expected: Vec<u32> = data
            .chunks(local)
            .flat_map(|group| group.iter().rev().copied())
            .collect();
        assert_eq!(words(&queue, &of_data), expected, "groups of {local}");
    }
}

/// "Arguments" of the reflection are what `clGetKernelArgInfo` tells.
#[test]
fn arguments_are_described_as_in_the_source() {
    let context = context();
    let program = built(&context, BUFFERS, "1.1");
    let kernel = program.kernel("scale").unwrap();
    let info = kernel.info();
    let told: Vec<(&str, &str)> = info
        .args
        .iter()
        .map(|arg| {
            let text = |text: &'static str, it: &Option<String>| match it {
                Some(it) => it.clone().leak(),
                None => text,
            };
            (
                text("?", &arg.name) as &str,
                text("?", &arg.type_name) as &str,
            )
        })
        .collect();
    let expected = [
        ("in", "float*"),
        ("f", "float"),
        ("out", "float*"),
        ("n", "uint"),
    ];
    assert_eq!(told, expected);
    assert!(info.args[0].qualifiers.is_const && !info.args[2].qualifiers.is_const);
    assert_eq!(info.args[1].kind, ArgKind::Value);
    assert_eq!(info.args[1].size, 4);
    assert_eq!(info.args[1].access, AccessQualifier::None);
    assert_eq!(info.required_work_group_size, None);
    let out = buffer(&context, &[0; 100]);
    for index in [0, 2] {
        kernel.set_arg_buffer(index, Some(&out)).unwrap();
    }
    for index in [1, 3] {
        kernel.set_arg_value(index, &[0; 4]).unwrap();
    }
    // The module is compiled for work-groups of one size.
    let queue = queue(&context);
    let odd = queue.enqueue_nd_range(&kernel, 1, None, Some(&[100]), Some(&[64]), &[]);
    assert_eq!(odd.unwrap_err(), ClError::INVALID_WORK_GROUP_SIZE);
    let wrong = kernel.set_arg_value(1, &[0; 8]);
    assert_eq!(wrong, Err(ClError::INVALID_ARG_SIZE));
}

const LAYOUTS: &str = include_str!("../../../compiler/tests/spirv/accept/vulkan_layouts.spvasm");

#[test]
fn members_are_where_the_module_says() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, LAYOUTS, "1.1");
    let kernel = program.kernel("explicit").unwrap();
    assert_eq!(kernel.info().required_work_group_size, Some([2, 1, 1]));
    // Two records of 12 floats each: a vector of three, a number, two elements 16 bytes apart.
    let before: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let records = of_floats(&context, &before);
    kernel.set_arg_buffer(0, Some(&records)).unwrap();
    let added = [100.0f32, 200.0, 300.0].map(f32::to_ne_bytes).concat();
    // A value of three floats is one of OpenCL C's `float3`, which has the size of four.
    assert_eq!(kernel.info().args[1].size, 16);
    kernel
        .set_arg_value(1, &[added, vec![0; 4]].concat())
        .unwrap();
    launch(&queue, &kernel, 2, 2);
    let mut expected = before;
    for record in expected.chunks_mut(12) {
        for (part, added) in record.iter_mut().zip([100.0, 200.0, 300.0]) {
            *part += added;
        }
        record[4] = record[8];
    }
    assert_eq!(floats(&queue, &records), expected);
}

#[test]
fn values_come_in_uniform_buffers_and_push_constants() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, LAYOUTS, "1.1");
    let kernel = program.kernel("values").unwrap();
    for offset in [0, 10] {
        let out = buffer(&context, &[0; 4]);
        kernel.set_arg_value(0, &(-2i32).to_ne_bytes()).unwrap();
        kernel.set_arg_value(1, &[7]).unwrap();
        kernel.set_arg_value(2, &[50]).unwrap();
        kernel.set_arg_buffer(3, Some(&out)).unwrap();
        queue
            .enqueue_nd_range(&kernel, 1, Some(&[offset]), Some(&[4]), Some(&[4]), &[])
            .unwrap();
        // A private variable is 2 by then. Another has a table, and the module data.
        let parts = [100 / -2 + 1, -3 / -2 + 2, 3, 4];
        let expected = parts.map(|part: i32| (2 * (part + 50 + offset as i32)) as u32);
        assert_eq!(words(&queue, &out), expected, "from {offset}");
    }
}

#[test]
fn addresses_come_in_push_constants() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_addresses.spvasm");
    let program = built(&context, text, "1.2");
    let kernel = program.kernel("sums").unwrap();
    let input: Vec<u32> = (0..96).map(|i| i * i).collect();
    let (of_input, sums) = (buffer(&context, &input), buffer(&context, &[0; 4]));
    kernel.set_arg_buffer(0, Some(&of_input)).unwrap();
    kernel.set_arg_buffer(1, Some(&sums)).unwrap();
    launch(&queue, &kernel, 96, 24);
    // The sum, 10 of each work-item, and what is known of the launch.
    let expected = [input.iter().sum(), 96 * 10, 24, 1];
    assert_eq!(words(&queue, &sums), expected);
}

/// "Unused kernel arguments may not appear in subsequent reflection instructions": the host sets
/// them all the same, to what they are in the source, which is not known here.
#[test]
fn arguments_that_nothing_uses_are_set_to_anything() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_unused_argument.spvasm");
    let program = built(&context, text, "1.0");
    let kernel = program.kernel("k").unwrap();
    let kinds: Vec<ArgKind> = kernel.info().args.iter().map(|arg| arg.kind).collect();
    let data = ArgKind::Pointer(AddressSpace::Global);
    let unused = ArgKind::Unused;
    assert_eq!(kinds, [unused, unused, data, unused]);
    let out = buffer(&context, &[0; 2]);
    kernel.set_arg_svm(0, 0x1234).unwrap();
    kernel.set_arg_unused(1).unwrap();
    kernel.set_arg_buffer(2, Some(&out)).unwrap();
    assert_eq!(kernel.set_arg_unused(2), Err(ClError::INVALID_ARG_VALUE));
    assert_eq!(kernel.set_arg_unused(4), Err(ClError::INVALID_ARG_INDEX));
    let launch = || queue.enqueue_nd_range(&kernel, 1, None, Some(&[1]), Some(&[1]), &[]);
    assert_eq!(launch().unwrap_err(), ClError::INVALID_KERNEL_ARGS);
    kernel.set_arg_unused(3).unwrap();
    launch().unwrap();
    assert_eq!(words(&queue, &out), [7, 0]);
}

/// "OpArrayLength" is of the buffer that the argument is, as it is when the kernel is launched.
#[test]
fn buffers_have_lengths() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_array_length.spvasm");
    let program = built(&context, text, "1.0");
    let kernel = program.kernel("lengths").unwrap();
    assert_eq!(kernel.info().args.len(), 2);
    for (words_of_out, words_of_in) in [(4, 25), (7, 4), (3, 0)] {
        let out = buffer(&context, &vec![0; words_of_out]);
        let of_in = (words_of_in > 0).then(|| buffer(&context, &vec![0; words_of_in]));
        kernel.set_arg_buffer(0, Some(&out)).unwrap();
        kernel.set_arg_buffer(1, of_in.as_deref()).unwrap();
        launch(&queue, &kernel, 1, 1);
        // Whole elements after the first 16 bytes, and three words of the module.
        let rest = (4 * words_of_in).saturating_sub(16) / 16;
        let expected = [words_of_out as u32, rest as u32, 3];
        assert_eq!(words(&queue, &out)[..3], expected);
    }
}
