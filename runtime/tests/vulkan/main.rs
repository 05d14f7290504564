//! Modules of Vulkan's environment with reflection, as kernels: what they compute is what their
//! source says, and the host is told what it would be told of that. Each module is valid for
//! Vulkan.

mod arguments;
mod both_ways;
mod forms;
mod glsl;
mod glsl_sweep;
mod images;
mod images_both_ways;
mod launches;
mod programs;
mod ways;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use brolga_compiler::{AccessQualifier, AddressSpace, ArgKind};
use brolga_runtime::context::ContextOptions;
use brolga_runtime::memory::image::{ImageDesc, ImageSource};
use brolga_runtime::memory::sampler::SamplerState;
use brolga_runtime::{
    Buffer, ClError, Context, CopyImageToBuffer, HostPtr, Image, Kernel, Platform, Program, Queue,
    Sampler,
};
use brolga_runtime_testing::*;
use opencl_sys::*;

/// What a tool of `spirv-tools` makes of its input, for a version of Vulkan.
fn tool(tool: &str, version: &str, args: &[&str], input: &[u8]) -> Vec<u8> {
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
}

/// The bytes of a module for a version of Vulkan, checked by the tools unless they are older than
/// what is in it.
fn module(text: &str, version: &str, is_known: bool) -> Vec<u8> {
    let bytes = tool("spirv-as", version, &["-o", "-", "-"], text.as_bytes());
    if is_known {
        tool("spirv-val", version, &["-"], &bytes);
    }
    bytes
}

fn built(context: &Arc<Context>, text: &str, version: &str) -> Arc<Program> {
    built_of(context, &module(text, version, true))
}

fn built_of(context: &Arc<Context>, module: &[u8]) -> Arc<Program> {
    let program = Program::from_il(context, module).unwrap();
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
