//! A source built directly, and by way of its module for Vulkan: how both are made and compared.

use brolga_opencl_c::vulkan::{GlobalOffset, Pods, Target, Version, compile_for_vulkan};
use brolga_opencl_c::{Device, Input, Options, Std};

use super::*;

/// An argument, and what is in it at first.
pub enum Arg {
    Buffer(Vec<u32>),
    Value(Vec<u8>),
    Local(usize),
    Image(ImageDesc, (u32, u32), Vec<u32>),
    Sampler(SamplerState),
}

/// An index space: offset, global and local size.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a>(
    pub Option<&'a [usize]>,
    pub &'a [usize],
    pub Option<&'a [usize]>,
);

/// Buffers and images behind a launch, in order of arguments.
pub type Contents = Vec<Vec<u32>>;

pub fn value<const N: usize>(numbers: [u32; N]) -> Arg {
    Arg::Value(numbers.iter().flat_map(|n| n.to_ne_bytes()).collect())
}

pub fn counting(count: u32) -> Arg {
    Arg::Buffer((0..count).collect())
}

/// The module of a source, which is valid.
pub fn module_of(source: &str, std: Std, target: &Target) -> Result<Vec<u8>, String> {
    let input = Input {
        name: "source.cl",
        source,
        headers: &[],
    };
    let options = Options {
        std,
        no_warnings: true,
        ..Options::default()
    };
    let compiled = compile_for_vulkan(&input, &options, &Device::full(), target);
    let words = compiled.words.ok_or(compiled.log)?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let version = match target.version {
        Version::V1_0 => "1.0",
        Version::V1_1 => "1.1",
        Version::V1_2 => "1.2",
        Version::V1_3 => "1.3",
    };
    tool("spirv-val", version, &["-"], &bytes);
    Ok(bytes)
}

/// What a kernel leaves in the memory of its arguments, or why it is not launched.
pub fn outcome(
    program: &Arc<Program>,
    kernel: &str,
    args: &[Arg],
    Range(offset, global, local): Range<'_>,
) -> Result<Contents, ClError> {
    let context = program.context();
    let queue = queue(context);
    let kernel = program.kernel(kernel)?;
    let (mut buffers, mut images) = (Vec::new(), Vec::new());
    for (index, arg) in (0..).zip(args) {
        match arg {
            Arg::Buffer(words) => {
                let memory = buffer(context, words);
                kernel.set_arg_buffer(index, Some(&memory))?;
                buffers.push((index, memory));
            }
            Arg::Value(bytes) => kernel.set_arg_value(index, bytes)?,
            Arg::Local(size) => kernel.set_arg_local(index, *size)?,
            Arg::Image(desc, format, texels) => {
                let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
                // SAFETY: copied during the call.
                let host = unsafe { HostPtr::new(texels.as_ptr().cast_mut().cast()) };
                let source = ImageSource::New;
                let image = Image::new(context, flags, *format, desc, host, source, vec![])?;
                kernel.set_arg_image(index, &image)?;
                images.push((index, image, *desc, texels.len()));
            }
            Arg::Sampler(state) => {
                let sampler = Sampler::new(context, *state, vec![])?;
                kernel.set_arg_sampler(index, &sampler)?;
            }
        }
    }
    let dims = global.len() as u32;
    let done = queue.enqueue_nd_range(&kernel, dims, offset, Some(global), local, &[])?;
    wait_for_events(&[done])?;
    let mut contents = Vec::new();
    for (index, memory) in &buffers {
        contents.push((*index, words(&queue, memory)));
    }
    for (index, source, desc, count) in &images {
        let destination = &buffer(context, &vec![0; *count]);
        let layers = desc.depth.max(desc.array_size).max(1);
        let region = match desc.image_type {
            CL_MEM_OBJECT_IMAGE1D_ARRAY => [desc.width, layers, 1],
            _ => [desc.width, desc.height.max(1), layers],
        };
        let copy = CopyImageToBuffer {
            source,
            destination,
            origin: [0; 4],
            region,
            offset: 0,
        };
        queue.submit_blocking(copy, true, &[])?;
        contents.push((*index, words(&queue, destination)));
    }
    contents.sort_by_key(|(index, _)| *index);
    Ok(contents.into_iter().map(|(_, words)| words).collect())
}

/// All versions with arguments passed by value in each of their places, and with the offset of a
/// launch in each of its.
pub fn targets() -> Vec<Target> {
    let mut all = Vec::new();
    for version in [Version::V1_0, Version::V1_1, Version::V1_2, Version::V1_3] {
        for (pods, cluster_pods, global_offset) in [
            (Pods::StorageBuffer, true, GlobalOffset::SpecConstant),
            (Pods::StorageBuffer, false, GlobalOffset::PushConstant),
            (Pods::Uniform, true, GlobalOffset::PushConstant),
            (Pods::Uniform, false, GlobalOffset::SpecConstant),
            (Pods::PushConstant, true, GlobalOffset::SpecConstant),
        ] {
            all.push(Target {
                pods,
                cluster_pods,
                global_offset,
                ..Target::new(version)
            });
        }
    }
    all
}

pub struct Case<'a> {
    pub source: &'a str,
    pub std: Std,
    pub since: Version,
}

impl Case<'_> {
    pub fn of(source: &str) -> Case<'_> {
        Case {
            source,
            std: Std::C12,
            since: Version::V1_0,
        }
    }

    /// The program built directly, and by way of each target.
    fn all(&self) -> (Arc<Program>, Vec<(Target, Arc<Program>)>) {
        let context = context();
        let std = format!("-cl-std={}", self.std);
        let direct = brolga_runtime_testing::built(&context, self.source, &std);
        let targets = targets().into_iter().filter(|it| it.version >= self.since);
        let by_target = targets.map(|target| {
            let module = module_of(self.source, self.std, &target);
            let module = module.unwrap_or_else(|log| panic!("{target:?}: {log}"));
            let program = built_of(&context, &module);
            (target, program)
        });
        let by_target = by_target.collect();
        (direct, by_target)
    }

    /// Runs a kernel over some index spaces in all ways. What the directly built one leaves.
    pub fn compare(&self, kernel: &str, args: &[Arg], ranges: &[Range<'_>]) -> Vec<Contents> {
        let (direct, by_target) = self.all();
        let mut all = Vec::new();
        for &range in ranges {
            let expected = outcome(&direct, kernel, args, range).expect("it is launched");
            for (target, program) in &by_target {
                let found = outcome(program, kernel, args, range);
                assert_eq!(
                    found.as_ref(),
                    Ok(&expected),
                    "{kernel}, {range:?}, {target:?}"
                );
            }
            all.push(expected);
        }
        all
    }

    /// Asserts that a kernel is not launched over some index spaces, for the same reason always.
    pub fn refuse(&self, kernel: &str, args: &[Arg], ranges: &[Range<'_>]) {
        let (direct, by_target) = self.all();
        for &range in ranges {
            let expected = outcome(&direct, kernel, args, range);
            assert!(expected.is_err(), "{kernel}, {range:?}");
            for (target, program) in &by_target {
                let found = outcome(program, kernel, args, range);
                assert_eq!(found, expected, "{kernel}, {range:?}, {target:?}");
            }
        }
    }
}
