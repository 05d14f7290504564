//! What `NonSemantic.ClspvReflection` says: of which kernels the module was made, what their
//! arguments became, and what a launch has to fill in.
//!
//! Revisions add instructions and operands at the end of others, so one reader is for all of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rspirv::spirv::Op;

use super::super::decode::Result;
use super::reader::Reader;
use super::source::{Source, SourceId, SourceInst};
use crate::kernel_info::{Implicit, PrintfBuffer, PrintfFormat};

/// The instruction set, whose name the revision ends.
pub(super) const SET: &str = "NonSemantic.ClspvReflection";

/// A descriptor: its set, and its binding in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Descriptor {
    pub set: u32,
    pub binding: u32,
}

/// The block that an argument passed by value is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InBlock {
    Descriptor(Descriptor),
    PushConstant,
}

/// What an argument became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Became {
    /// A block that is the memory the argument points to.
    Buffer {
        of: Descriptor,
        uniform: bool,
    },
    /// Bytes of a block.
    Bytes {
        of: InBlock,
        offset: u32,
        size: u32,
    },
    /// An address in a block.
    Address {
        of: InBlock,
        offset: u32,
        size: u32,
    },
    Image(Descriptor),
    Sampler(Descriptor),
    /// An array in work-group memory, whose length a specialization constant has.
    Local {
        spec_id: u32,
    },
}

impl Became {
    /// The descriptor, of those that have one.
    pub fn descriptor(self) -> Option<Descriptor> {
        match self {
            Became::Buffer { of, .. } | Became::Image(of) | Became::Sampler(of) => Some(of),
            Became::Bytes { of, .. } | Became::Address { of, .. } => match of {
                InBlock::Descriptor(of) => Some(of),
                InBlock::PushConstant => None,
            },
            Became::Local { .. } => None,
        }
    }
}

/// `ArgumentInfo`, by the numbers that `clGetKernelArgInfo` gives.
#[derive(Clone, Debug, Default)]
pub(super) struct ArgumentInfo {
    pub name: String,
    pub type_name: Option<String>,
    pub address: Option<u32>,
    pub access: Option<u32>,
    pub qualifiers: Option<u32>,
}

pub(super) struct Argument<'a> {
    pub inst: SourceInst<'a>,
    pub became: Became,
    pub info: Option<ArgumentInfo>,
}

/// A kernel of the source.
pub(super) struct KernelSource<'a> {
    pub inst: SourceInst<'a>,
    pub function: SourceId,
    pub name: String,
    /// By ordinal.
    pub arguments: BTreeMap<u32, Argument<'a>>,
    /// How many arguments there are. Those that are not used need not be described.
    pub count: u32,
    pub required_size: Option<[u32; 3]>,
    pub may_print: bool,
    /// As they are spelled in the source.
    pub attributes: String,
    pub object_numbers: Vec<ObjectNumber<'a>>,
}

/// A number that is known when a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaunchNumber {
    LocalSize(u32),
    GlobalOffset(u32),
    WorkDim,
    SubgroupMaxSize,
}

/// Three numbers of a launch that are a push constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaunchVector {
    GlobalOffset,
    EnqueuedLocalSize,
    GlobalSize,
    NumWorkgroups,
    /// The global offset, as there is one region.
    RegionOffset,
    /// Zeros, as there is one region.
    RegionGroupOffset,
}

pub(super) struct PushConstant<'a> {
    pub inst: SourceInst<'a>,
    pub what: LaunchVector,
    pub offset: u32,
}

/// Where a kernel finds a buffer that no argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferPlace {
    Descriptor(Descriptor),
    /// The offset of its address in the push constants.
    PushConstant(u32),
}

/// Bytes that the module brings.
pub(super) struct ModuleData<'a> {
    pub inst: SourceInst<'a>,
    pub place: BufferPlace,
    pub bytes: Vec<u8>,
    /// Those of program-scope variables, which kernels share and write.
    pub is_variables: bool,
}

/// An address of a program-scope variable in another, by their offsets.
pub(super) struct Relocation<'a> {
    pub inst: SourceInst<'a>,
    pub object: u32,
    pub pointer: u32,
}

/// The buffer that kernels print to.
pub(super) struct PrintfPlace<'a> {
    pub inst: SourceInst<'a>,
    pub place: BufferPlace,
    pub bytes: u32,
}

/// What is asked of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectQuery {
    ChannelOrder,
    ChannelDataType,
    /// The properties of a sampler.
    SamplerMask,
}

/// A number that a kernel asks of an image or sampler that it is given.
pub(super) struct ObjectNumber<'a> {
    pub inst: SourceInst<'a>,
    /// Which argument the object is.
    pub ordinal: u32,
    pub what: ObjectQuery,
    pub of: InBlock,
    pub offset: u32,
}

pub(super) struct Reflection<'a> {
    pub kernels: Vec<KernelSource<'a>>,
    /// Where each kernel is among them.
    pub by_name: HashMap<String, usize>,
    /// Which specialization constants a launch decides.
    pub launch_numbers: HashMap<u32, LaunchNumber>,
    pub push_constants: Vec<PushConstant<'a>>,
    pub data: Vec<ModuleData<'a>>,
    pub relocations: Vec<Relocation<'a>>,
    pub printf: Option<PrintfPlace<'a>>,
    pub formats: BTreeMap<u32, PrintfFormat>,
    /// What literal samplers are, by the numbers of OpenCL C's constants.
    pub samplers: HashMap<Descriptor, u32>,
    /// The ids that the set is imported as.
    pub sets: Vec<SourceId>,
}

impl<'a> Reflection<'a> {
    pub fn read(source: &Source<'a>) -> Result<Reflection<'a>> {
        let of_set = |(_, name): &(&SourceId, &String)| name.starts_with(SET);
        let sets = source.sets.iter().filter(of_set).map(|(&id, _)| id);
        let mut reflection = Reflection {
            kernels: Vec::new(),
            by_name: HashMap::new(),
            launch_numbers: HashMap::new(),
            push_constants: Vec::new(),
            data: Vec::new(),
            relocations: Vec::new(),
            printf: None,
            formats: BTreeMap::new(),
            samplers: HashMap::new(),
            sets: sets.collect(),
        };
        let mut reader = Reader::new(source);
        for inst in &source.insts {
            if let (Op::ExtInst, &[set, number, ref operands @ ..]) = (inst.op(), inst.operands)
                && reflection.sets.contains(&set)
            {
                reader.read(&mut reflection, inst, number, operands)?;
            }
        }
        let model = source.insts.iter().find(|i| i.op() == Op::MemoryModel);
        if let (true, Some(model)) = (reflection.kernels.is_empty(), model) {
            let message = match reflection.sets.is_empty() {
                true => format!(
                    "this is a shader: a module of Vulkan's environment is taken with the \
                     instruction set {SET}, which it does not import: compile it with reflection"
                ),
                false => format!("{SET} describes no kernel"),
            };
            return Err(reader.error(model, message));
        }
        Ok(reflection)
    }

    /// The data of the module with a descriptor.
    pub fn data_of(&self, descriptor: Descriptor) -> Option<usize> {
        let place = BufferPlace::Descriptor(descriptor);
        self.data.iter().position(|data| data.place == place)
    }

    /// Whether a descriptor is that of the buffer that kernels print to.
    pub fn prints_to(&self, descriptor: Descriptor) -> bool {
        let place = self.printf.as_ref().map(|printf| printf.place);
        place == Some(BufferPlace::Descriptor(descriptor))
    }

    /// What kernels that print are given: none without a buffer.
    pub fn printf_buffer(&self) -> Option<Implicit> {
        let bytes = self.printf.as_ref()?.bytes;
        let formats = self.formats.clone();
        Some(Implicit::Printed(Arc::new(PrintfBuffer { bytes, formats })))
    }

    /// Whether the module is written for work-groups that differ in size.
    pub fn knows_regions(&self) -> bool {
        let mut all = self.push_constants.iter();
        all.any(|it| it.what == LaunchVector::RegionOffset)
    }
}
