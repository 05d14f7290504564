//! Modules of Vulkan's environment with reflection, as kernels: what they compute is what their
//! source says, and the host is told what it would be told of that. Each module is valid for
//! Vulkan.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use brolga_compiler::{AccessQualifier, ArgKind};
use brolga_runtime::memory::image::{ImageDesc, ImageSource};
use brolga_runtime::memory::sampler::SamplerState;
use brolga_runtime::{Buffer, ClError, Context, HostPtr, Image, Kernel, Program, Queue, Sampler};
use brolga_runtime_testing::*;
use opencl_sys::*;

/// The bytes of a module that is valid for a version of Vulkan.
fn module(text: &str, version: &str) -> Vec<u8> {
    let tool = |tool: &str, args: &[&str], input: &[u8]| {
        let mut child = Command::new(tool)
            .args(["--target-env", &format!("vulkan{version}")])
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this test needs spirv-as and spirv-val (package spirv-tools)");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{tool}");
        output.stdout
    };
    let bytes = tool("spirv-as", &["-o", "-", "-"], text.as_bytes());
    tool("spirv-val", &["-"], &bytes);
    bytes
}

fn built(context: &Arc<Context>, text: &str, version: &str) -> Arc<Program> {
    let program = Program::from_il(context, &module(text, version)).unwrap();
    if let Err(error) = program.build("", None) {
        panic!("{error:?}: {}", program.build_info().log);
    }
    program
}

fn launch(queue: &Arc<Queue>, kernel: &Arc<Kernel>, global: usize, local: usize) {
    queue
        .enqueue_nd_range(kernel, 1, None, Some(&[global]), Some(&[local]), &[])
        .unwrap();
}

fn floats(queue: &Arc<Queue>, buffer: &Arc<Buffer>) -> Vec<f32> {
    words(queue, buffer)
        .into_iter()
        .map(f32::from_bits)
        .collect()
}

fn of_floats(context: &Arc<Context>, values: &[f32]) -> Arc<Buffer> {
    let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
    buffer(context, &bits)
}

const BUFFERS: &str = include_str!("../../compiler/tests/spirv/accept/vulkan_buffers.spvasm");

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

const LAYOUTS: &str = include_str!("../../compiler/tests/spirv/accept/vulkan_layouts.spvasm");

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

/// A result of the test of GLSL's functions.
enum Is {
    Near(f64),
    Bits(u32),
}

#[test]
fn functions_of_glsl_give_what_they_are_to() {
    use Is::{Bits, Near};
    let context = context();
    let queue = queue(&context);
    let program = built(
        &context,
        include_str!("../../compiler/tests/spirv/accept/vulkan_glsl.spvasm"),
        "1.1",
    );
    let kernel = program.kernel("k").unwrap();
    let given = [-1.75f32, 0.25, 3.0, 10.0];
    let [x0, x1, x2, x3] = given.map(f64::from);
    let smooth = (x2 - x1) / (x3 - x1);
    let length = 14f64.sqrt();
    let expected = [
        ("RoundEven", Near(-2.0)),
        ("Trunc", Near(-1.0)),
        ("FAbs", Near(1.75)),
        ("FSign", Near(-1.0)),
        ("Floor", Near(-2.0)),
        ("Ceil", Near(-1.0)),
        ("Fract", Near(0.25)),
        ("Radians", Near(x0.to_radians())),
        ("Degrees", Near(x0.to_degrees())),
        ("Sin", Near(x0.sin())),
        ("Cos", Near(x0.cos())),
        ("Tan", Near(x0.tan())),
        ("Atan", Near(x0.atan())),
        ("Sinh", Near(x0.sinh())),
        ("Cosh", Near(x0.cosh())),
        ("Tanh", Near(x0.tanh())),
        ("Asinh", Near(x0.asinh())),
        ("Exp", Near(x0.exp())),
        ("Exp2", Near(x0.exp2())),
        ("Asin", Near(x1.asin())),
        ("Acos", Near(x1.acos())),
        ("Atanh", Near(x1.atanh())),
        ("Acosh", Near(x2.acosh())),
        ("Log", Near(x2.ln())),
        ("Log2", Near(x2.log2())),
        ("Sqrt", Near(x2.sqrt())),
        ("InverseSqrt", Near(x2.sqrt().recip())),
        ("Atan2", Near(x0.atan2(x1))),
        ("FMin", Near(x0)),
        ("FMax", Near(x1)),
        ("NMin", Near(x0)),
        ("NMax", Near(x1)),
        ("Step", Near(1.0)),
        ("Pow", Near(x2.powf(x0))),
        ("FClamp", Near(x1)),
        ("NClamp", Near(x1)),
        ("FMix", Near(x0 * (1.0 - x2) + x1 * x2)),
        ("Fma", Near(x0 * x1 + x2)),
        ("SmoothStep", Near(smooth * smooth * (3.0 - 2.0 * smooth))),
        ("Ldexp", Near(-14.0)),
        ("ModfStruct, fraction", Near(-0.75)),
        ("ModfStruct, whole", Near(-1.0)),
        ("FrexpStruct, significand", Near(0.625)),
        ("FrexpStruct, exponent", Bits(4)),
        ("Modf, fraction", Near(-0.75)),
        ("Modf, whole", Near(-1.0)),
        ("Frexp, significand", Near(0.625)),
        ("Frexp, exponent", Bits(4)),
        ("SAbs", Bits(40)),
        ("SSign", Bits(u32::MAX)),
        ("FindILsb", Bits(3)),
        ("FindSMsb", Bits(5)),
        ("FindUMsb of 0", Bits(u32::MAX)),
        ("FindILsb of 0", Bits(u32::MAX)),
        ("SMin", Bits(-40i32 as u32)),
        ("SMax", Bits(0)),
        ("UMin", Bits(5)),
        ("UMax", Bits(0x7f80_01c0)),
        ("SClamp", Bits(0)),
        ("UClamp", Bits(5)),
        ("Length", Near(length)),
        ("Distance", Near(14f64.sqrt())),
        ("Cross, x", Near(-5.0)),
        ("Cross, y", Near(-3.0)),
        ("Cross, z", Near(9.0)),
        ("Normalize, x", Near(3.0 / length)),
        ("Normalize, y", Near(1.0 / length)),
        ("Normalize, z", Near(2.0 / length)),
        ("FaceForward, x", Near(-3.0)),
        ("FaceForward, y", Near(-1.0)),
        ("FaceForward, z", Near(-2.0)),
        ("Reflect, x", Near(3.0)),
        ("Reflect, y", Near(-1.0)),
        ("Reflect, z", Near(2.0)),
        ("Refract, x", Near(0.125)),
        ("Refract, y", Near(-1.0)),
        ("Refract, z", Near(0.0)),
        ("PackSnorm4x8", Bits(0x407f_2081)),
        ("PackUnorm4x8", Bits(0x80ff_4000)),
        ("PackSnorm2x16", Bits(0x8001_2000)),
        ("PackUnorm2x16", Bits(0x0000_4000)),
        ("PackHalf2x16", Bits(0xbf00_3400)),
        ("UnpackSnorm4x8, 0", Near(-64.0 / 127.0)),
        ("UnpackSnorm4x8, 1", Near(1.0 / 127.0)),
        ("UnpackSnorm4x8, 2", Near(-1.0)),
        ("UnpackSnorm4x8, 3", Near(1.0)),
        ("UnpackUnorm4x8, 0", Near(192.0 / 255.0)),
        ("UnpackUnorm4x8, 1", Near(1.0 / 255.0)),
        ("UnpackUnorm4x8, 2", Near(128.0 / 255.0)),
        ("UnpackUnorm4x8, 3", Near(127.0 / 255.0)),
        ("UnpackSnorm2x16, 0", Near(15360.0 / 32767.0)),
        ("UnpackSnorm2x16, 1", Near(-1.0)),
        ("UnpackUnorm2x16, 0", Near(15360.0 / 65535.0)),
        ("UnpackUnorm2x16, 1", Near(32768.0 / 65535.0)),
        ("UnpackHalf2x16, 0", Near(1.0)),
        ("UnpackHalf2x16, 1", Near(0.0)),
    ];
    let out = buffer(&context, &[0; 96]);
    assert_eq!(expected.len(), 96);
    let input = of_floats(&context, &given);
    kernel.set_arg_buffer(0, Some(&input)).unwrap();
    kernel.set_arg_buffer(1, Some(&out)).unwrap();
    launch(&queue, &kernel, 1, 1);
    for ((name, expected), found) in expected.iter().zip(words(&queue, &out)) {
        match *expected {
            Bits(bits) => assert_eq!(found, bits, "{name}"),
            Near(number) => {
                let found = f64::from(f32::from_bits(found));
                let error = (found - number).abs();
                assert!(
                    error <= 1e-6 * number.abs(),
                    "{name}: {found}, not {number}"
                );
            }
        }
    }
}

/// A 4 by 2 image of four components of 32 bits, in a buffer's memory.
fn image(context: &Arc<Context>, data_type: u32, texels: &[u32]) -> (Arc<Image>, Arc<Buffer>) {
    let memory = buffer(context, texels);
    let desc = ImageDesc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        width: 4,
        height: 2,
        ..ImageDesc::default()
    };
    let source = ImageSource::Buffer(Arc::clone(&memory));
    let format = (CL_RGBA, data_type);
    let image = Image::new(context, 0, format, &desc, HostPtr::null(), source, vec![]);
    (image.unwrap(), memory)
}

const IMAGES: &str = include_str!("../../compiler/tests/spirv/accept/vulkan_images.spvasm");

#[test]
fn images_are_sampled_and_fetched() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, IMAGES, "1.1");
    let kernel = program.kernel("sample").unwrap();
    let texel = |i: u32| {
        let (x, y) = ((i % 4) as f32, (i / 4) as f32);
        [x, y, 10.0 * x + y, 1.0]
    };
    let texels: Vec<u32> = (0..8).flat_map(texel).map(f32::to_bits).collect();
    let (image, _memory) = image(&context, CL_FLOAT, &texels);
    let state = SamplerState {
        addressing_mode: CL_ADDRESS_CLAMP_TO_EDGE,
        filter_mode: CL_FILTER_LINEAR,
        ..SamplerState::default()
    };
    let sampler = Sampler::new(&context, state, vec![]).unwrap();
    let (out, format) = (buffer(&context, &[0; 16]), buffer(&context, &[0; 3]));
    kernel.set_arg_image(0, &image).unwrap();
    kernel.set_arg_sampler(1, &sampler).unwrap();
    kernel.set_arg_buffer(2, Some(&out)).unwrap();
    kernel.set_arg_buffer(3, Some(&format)).unwrap();
    launch(&queue, &kernel, 1, 1);
    let expected = [[1.5, 0.5, 15.5, 1.0], texel(1), texel(3), texel(5)];
    assert_eq!(floats(&queue, &out), expected.concat());
    assert_eq!(words(&queue, &format), [CL_RGBA, CL_FLOAT, 4]);
}

#[test]
fn images_are_stored_to() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, IMAGES, "1.1");
    let kernel = program.kernel("store").unwrap();
    assert_eq!(kernel.info().args[0].access, AccessQualifier::WriteOnly);
    assert_eq!(kernel.info().args[1].access, AccessQualifier::ReadWrite);
    let numbers: Vec<u32> = (0..32).collect();
    let (written, of_written) = image(&context, CL_FLOAT, &[0; 32]);
    let (both, of_both) = image(&context, CL_UNSIGNED_INT32, &numbers);
    kernel.set_arg_image(0, &written).unwrap();
    kernel.set_arg_image(1, &both).unwrap();
    let size = Some(&[4, 2][..]);
    queue
        .enqueue_nd_range(&kernel, 2, None, size, Some(&[1, 1]), &[])
        .unwrap();
    let expected = (0..8).flat_map(|i| {
        let (x, y) = ((i % 4) as f32, (i / 4) as f32);
        [x, y, x, y]
    });
    assert!(floats(&queue, &of_written).into_iter().eq(expected));
    assert!(words(&queue, &of_both).into_iter().eq(1..33));
}

#[test]
fn addresses_come_in_push_constants() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../compiler/tests/spirv/accept/vulkan_addresses.spvasm");
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
