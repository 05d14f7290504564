//! One launch and what came of it.

use std::cell::OnceCell;

use brolga_compiler::image::{Bindings, Descriptor, Extent, Format};
use brolga_compiler::interp::PrintfCall;
use brolga_compiler::ir::{Module, ParamSource, Scalar};
use brolga_compiler::{BuildOptions, Isa, NdRange, Program, Target};

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A buffer with these contents; the argument is its address.
    Buffer(Vec<u8>),
    /// The bytes of a value.
    Value(Vec<u8>),
    /// Work-group memory of this many bytes.
    Local(u64),
    /// An image; the argument is the address of its descriptor.
    Image(Image),
    /// The number of a sampler.
    Sampler(u32),
}

/// An image with its texels.
#[derive(Clone, Debug)]
pub struct Image {
    pub extent: Extent,
    /// Bytes from one row to the next, and from one plane or layer to the next.
    pub pitches: (u64, u64),
    pub format: Format,
    /// How many levels there are; with more than one, all lie end to end.
    pub levels: u32,
    pub texels: Vec<u8>,
}

impl Image {
    /// What describes each level if the texels are at an address.
    pub fn descriptors(&self, texels: u64) -> Vec<Descriptor> {
        let first = Descriptor::new(texels, self.extent, self.pitches, self.format);
        match self.levels {
            1 => vec![first],
            levels => first.levels(levels),
        }
    }
}

impl Arg {
    /// The memory that a kernel reaches by way of the argument, as it is before.
    pub fn contents(&self) -> Option<&[u8]> {
        match self {
            Arg::Buffer(bytes) => Some(bytes),
            Arg::Image(image) => Some(&image.texels),
            Arg::Value(_) | Arg::Local(_) | Arg::Sampler(_) => None,
        }
    }

    /// What describes an image whose texels are at an address.
    pub fn descriptors(&self, texels: u64) -> Option<Vec<u8>> {
        match self {
            Arg::Image(image) => {
                let levels = image.descriptors(texels).into_iter();
                Some(levels.flat_map(|level| level.to_bytes()).collect())
            }
            _ => None,
        }
    }
}

/// One launch of a kernel.
pub struct Case<'a> {
    pub module: &'a Module,
    pub kernel: usize,
    pub range: NdRange,
    pub args: Vec<Arg>,
    /// Work-items of a sub-group, if it matters.
    pub sub_group_size: Option<u8>,
    pub options: BuildOptions,
    /// For each instruction set.
    programs: [OnceCell<Result<Program, String>>; Isa::ALL.len()],
    baseline: OnceCell<Result<Program, String>>,
}

/// What a launch left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The contents of each buffer or image, in order of the arguments.
    pub buffers: Vec<Vec<u8>>,
    /// The `printf` calls as text, sorted: work-items print in any order.
    pub printf: Vec<String>,
}

/// How a case's arguments lie in memory.
pub struct Block {
    /// The argument block.
    pub bytes: Vec<u8>,
    /// Bytes of work-group memory, the kernel's own included.
    pub local_mem_size: u64,
}

impl<'a> Case<'a> {
    pub fn new(module: &'a Module, kernel: usize, range: NdRange, args: Vec<Arg>) -> Case<'a> {
        Case {
            module,
            kernel,
            range,
            args,
            sub_group_size: None,
            options: BuildOptions::default(),
            programs: Default::default(),
            baseline: OnceCell::new(),
        }
    }

    /// The module as a program, from which code for an instruction set is generated.
    ///
    /// # Errors
    /// If it is refused.
    pub fn program(&self, isa: Isa) -> Result<&Program, String> {
        self.make(&self.programs[isa as usize], Target::detect().at_most(isa))
    }

    /// The same for AVX-512 without what only some machines with it have.
    ///
    /// # Errors
    /// If it is refused.
    pub fn baseline_program(&self) -> Result<&Program, String> {
        self.make(&self.baseline, Target::avx512())
    }

    fn make<'c>(
        &self,
        cell: &'c OnceCell<Result<Program, String>>,
        target: Target,
    ) -> Result<&'c Program, String> {
        let make = || {
            let target = target.without_estimates();
            Program::for_target(self.module.clone(), &self.options, &target)
                .map_err(|e| e.to_string())
        };
        cell.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// What a launch knows of its images and samplers.
    ///
    /// # Errors
    /// If the module is refused.
    pub fn bindings(&self, block: &Block, addresses: &[u64]) -> Result<Bindings, String> {
        let objects = self.args.iter().filter(|arg| arg.contents().is_some());
        let objects = objects.zip(addresses);
        let descriptor = |address: u64| {
            let mut all = objects.clone();
            match all.find(|(_, at)| **at == address)?.0 {
                Arg::Image(image) => image.descriptors(0).first().copied(),
                _ => None,
            }
        };
        let program = self.program(Isa::Sse42)?;
        Ok(program.bindings(self.kernel, &block.bytes, descriptor))
    }

    /// The argument block, given the address of each buffer or image's descriptor.
    ///
    /// # Errors
    /// If the arguments are not the kernel's.
    pub fn block(&self, addresses: &[u64]) -> Result<Block, String> {
        let kernel = &self.module.kernels[self.kernel];
        let infos = &kernel.info.args;
        if infos.len() != self.args.len() {
            return Err(format!(
                "the kernel takes {} arguments, not {}",
                infos.len(),
                self.args.len()
            ));
        }
        let mut bytes = vec![0; kernel.info.args_size as usize];
        let mut local = self.program(Isa::Sse42)?.kernels()[self.kernel].local_mem_size;
        let mut addresses = addresses.iter();
        for (i, (arg, info)) in self.args.iter().zip(infos).enumerate() {
            let value = match arg {
                Arg::Buffer(_) | Arg::Image(_) => {
                    addresses.next().expect("an address").to_le_bytes().to_vec()
                }
                // It takes as much as a handle in a kernel's signature, and is a number in the text
                // form of the IR.
                Arg::Sampler(bits) => {
                    let bytes = u64::from(*bits).to_le_bytes();
                    bytes[..bytes.len().min(info.size as usize)].to_vec()
                }
                Arg::Value(bytes) => bytes.clone(),
                Arg::Local(size) => {
                    local = local.next_multiple_of(brolga_compiler::abi::SCRATCH_ALIGN);
                    let offset = local;
                    local += size;
                    offset.to_le_bytes().to_vec()
                }
            };
            let at = info.offset as usize;
            let is_local = kernel
                .params
                .iter()
                .any(|p| matches!(p, ParamSource::Local { offset } if *offset == info.offset));
            if is_local != matches!(arg, Arg::Local(_)) {
                return Err(format!("argument {i} is work-group memory or it is not"));
            }
            // In the text form of the IR, a structure passed by value has no size.
            let by_address = kernel
                .params
                .iter()
                .any(|p| matches!(p, ParamSource::Address { offset } if *offset == info.offset));
            // A vector of three may be given without its padding.
            let fits =
                value.len() <= info.size as usize && value.len() * 4 >= info.size as usize * 3;
            if by_address {
                bytes.resize(bytes.len().max(at + value.len()), 0);
            } else if !fits {
                return Err(format!(
                    "argument {i} has {} bytes, not {}",
                    info.size,
                    value.len()
                ));
            }
            bytes[at..at + value.len()].copy_from_slice(&value);
        }
        Ok(Block {
            bytes,
            local_mem_size: local,
        })
    }
}

/// A `printf` call as text: its format quoted, then the lanes of its arguments. Strings are quoted,
/// pointers are not told apart, integers are signed.
pub fn printf_text(call: &PrintfCall) -> String {
    let mut text = format!("{:?}", String::from_utf8_lossy(&call.format));
    for arg in &call.args {
        for &lane in &arg.lanes {
            let lane = match &arg.string {
                Some(string) => format!("{:?}", String::from_utf8_lossy(string)),
                None => lane_text(arg.ty.scalar, lane),
            };
            text.push(' ');
            text.push_str(&lane);
        }
    }
    text
}

/// One lane of a `printf` argument as text.
pub fn lane_text(scalar: Scalar, bits: u64) -> String {
    match scalar {
        Scalar::Ptr => "ptr".into(),
        scalar if scalar.is_float() => {
            let value = brolga_compiler::ir::eval::to_f64(scalar, bits);
            if value.is_nan() {
                "nan".into()
            } else {
                value.to_string()
            }
        }
        scalar => brolga_compiler::ir::eval::signed(scalar, bits).to_string(),
    }
}
