//! What `NonSemantic.ClspvReflection` says: of which kernels the module was made, what their
//! arguments became, and what a launch has to fill in.
//!
//! Revisions add instructions and operands at the end of others, so one reader is for all of them.

use std::collections::{BTreeMap, HashMap};

use rspirv::spirv::{NonsemanticClspvreflectionOp as Reflect, Op};

use super::super::decode::Result;
use super::super::rules::Rule;
use super::source::{Source, SourceId, SourceInst};
use crate::diagnostic::Diagnostic;

const SET: &str = "NonSemantic.ClspvReflection";

/// "Universal Limits": parameters of a function.
const MOST_ARGUMENTS: u32 = 255;

/// Most bytes of data of a module.
const MOST_DATA: usize = 1 << 26;

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
    pub formats: Vec<ImageFormat<'a>>,
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

/// Bytes that the module brings.
pub(super) struct ModuleData<'a> {
    pub inst: SourceInst<'a>,
    pub bytes: Vec<u8>,
}

/// What a kernel asks of the format of an image that it is given.
pub(super) struct ImageFormat<'a> {
    pub inst: SourceInst<'a>,
    /// Which argument the image is.
    pub ordinal: u32,
    /// The channel order; the data type otherwise.
    pub order: bool,
    pub of: InBlock,
    pub offset: u32,
}

/// Bytes that the module brings, whose address is a push constant.
pub(super) struct PointedData<'a> {
    pub inst: SourceInst<'a>,
    pub offset: u32,
    pub bytes: Vec<u8>,
}

pub(super) struct Reflection<'a> {
    pub kernels: Vec<KernelSource<'a>>,
    /// Where each kernel is among them.
    pub by_name: HashMap<String, usize>,
    /// Which specialization constants a launch decides.
    pub launch_numbers: HashMap<u32, LaunchNumber>,
    pub push_constants: Vec<PushConstant<'a>>,
    pub data: BTreeMap<Descriptor, ModuleData<'a>>,
    pub pointed_data: Vec<PointedData<'a>>,
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
            data: BTreeMap::new(),
            pointed_data: Vec::new(),
            samplers: HashMap::new(),
            sets: sets.collect(),
        };
        let mut reader = Reader {
            source,
            kernels: HashMap::new(),
            infos: HashMap::new(),
        };
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

    /// Whether the module is written for work-groups that differ in size.
    pub fn knows_regions(&self) -> bool {
        let mut all = self.push_constants.iter();
        all.any(|it| it.what == LaunchVector::RegionOffset)
    }
}

struct Reader<'s, 'a> {
    source: &'s Source<'a>,
    /// Kernels by the id of their declaration.
    kernels: HashMap<SourceId, usize>,
    infos: HashMap<SourceId, ArgumentInfo>,
}

impl<'a> Reader<'_, 'a> {
    fn error(&self, inst: &SourceInst<'_>, message: impl Into<String>) -> Diagnostic {
        self.source
            .error(inst, message)
            .under(Rule::Reflection("Binary Form"))
    }

    fn number(&self, inst: &SourceInst<'_>, operands: &[u32], at: usize) -> Result<u32> {
        let number = operands.get(at).and_then(|&id| self.source.constant(id));
        number.ok_or_else(|| {
            self.error(
                inst,
                format!("operand {at} is not an integer constant of 32 bits"),
            )
        })
    }

    fn string(&self, inst: &SourceInst<'_>, operands: &[u32], at: usize) -> Result<String> {
        let string = operands.get(at).and_then(|&id| self.source.string(id));
        string.ok_or_else(|| self.error(inst, format!("operand {at} is not an OpString")))
    }

    fn descriptor(&self, inst: &SourceInst<'_>, operands: &[u32], at: usize) -> Result<Descriptor> {
        Ok(Descriptor {
            set: self.number(inst, operands, at)?,
            binding: self.number(inst, operands, at + 1)?,
        })
    }

    fn data(&self, inst: &SourceInst<'_>, operands: &[u32], at: usize) -> Result<Vec<u8>> {
        let text = self.string(inst, operands, at)?;
        let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() % 2 == 0);
        let digits = digits.ok_or_else(|| self.error(inst, "the data are not bytes in hex"))?;
        if digits.len() / 2 > MOST_DATA {
            let message = format!("the data take more than {MOST_DATA} bytes");
            return Err(self.error(inst, message).under(Rule::Limit));
        }
        Ok(digits
            .chunks_exact(2)
            .map(|d| (d[0] << 4 | d[1]) as u8)
            .collect())
    }

    fn three(&self, inst: &SourceInst<'_>, operands: &[u32], at: usize) -> Result<[u32; 3]> {
        Ok([
            self.number(inst, operands, at)?,
            self.number(inst, operands, at + 1)?,
            self.number(inst, operands, at + 2)?,
        ])
    }

    fn kernel_of(&self, inst: &SourceInst<'_>, operands: &[u32]) -> Result<usize> {
        let declared = operands.first().and_then(|id| self.kernels.get(id));
        declared
            .copied()
            .ok_or_else(|| self.error(inst, "operand 0 is not a Kernel declared before"))
    }

    fn read(
        &mut self,
        out: &mut Reflection<'a>,
        inst: &SourceInst<'a>,
        number: u32,
        operands: &[u32],
    ) -> Result<()> {
        let op = Reflect::from_u32(number)
            .ok_or_else(|| self.error(inst, format!("unknown reflection instruction {number}")))?;
        match op {
            Reflect::Kernel => self.kernel(out, inst, operands)?,
            Reflect::ArgumentInfo => {
                let optional = |at: usize| match operands.len() > at {
                    true => self.number(inst, operands, at).map(Some),
                    false => Ok(None),
                };
                let info = ArgumentInfo {
                    name: self.string(inst, operands, 0)?,
                    type_name: match operands.len() > 1 {
                        true => Some(self.string(inst, operands, 1)?),
                        false => None,
                    },
                    address: optional(2)?,
                    access: optional(3)?,
                    qualifiers: optional(4)?,
                };
                self.infos.insert(inst.result.unwrap_or(0), info);
            }
            Reflect::ArgumentStorageBuffer | Reflect::ArgumentUniform => {
                let became = Became::Buffer {
                    of: self.descriptor(inst, operands, 2)?,
                    uniform: op == Reflect::ArgumentUniform,
                };
                self.argument(out, inst, operands, 4, became)?;
            }
            Reflect::ArgumentPodStorageBuffer | Reflect::ArgumentPodUniform => {
                let became = Became::Bytes {
                    of: InBlock::Descriptor(self.descriptor(inst, operands, 2)?),
                    offset: self.number(inst, operands, 4)?,
                    size: self.number(inst, operands, 5)?,
                };
                self.argument(out, inst, operands, 6, became)?;
            }
            Reflect::ArgumentPodPushConstant => {
                let became = Became::Bytes {
                    of: InBlock::PushConstant,
                    offset: self.number(inst, operands, 2)?,
                    size: self.number(inst, operands, 3)?,
                };
                self.argument(out, inst, operands, 4, became)?;
            }
            Reflect::ArgumentPointerPushConstant => {
                let became = Became::Address {
                    of: InBlock::PushConstant,
                    offset: self.number(inst, operands, 2)?,
                    size: self.number(inst, operands, 3)?,
                };
                self.argument(out, inst, operands, 4, became)?;
            }
            Reflect::ArgumentPointerUniform => {
                let became = Became::Address {
                    of: InBlock::Descriptor(self.descriptor(inst, operands, 2)?),
                    offset: self.number(inst, operands, 4)?,
                    size: self.number(inst, operands, 5)?,
                };
                self.argument(out, inst, operands, 6, became)?;
            }
            Reflect::ArgumentUniformTexelBuffer
            | Reflect::ArgumentStorageTexelBuffer
            | Reflect::ArgumentSampledImage
            | Reflect::ArgumentStorageImage
            | Reflect::ArgumentSampler => {
                let of = self.descriptor(inst, operands, 2)?;
                let became = match op {
                    Reflect::ArgumentSampler => Became::Sampler(of),
                    _ => Became::Image(of),
                };
                self.argument(out, inst, operands, 4, became)?;
            }
            Reflect::ArgumentWorkgroup => {
                let became = Became::Local {
                    spec_id: self.number(inst, operands, 2)?,
                };
                self.argument(out, inst, operands, 4, became)?;
            }
            Reflect::SpecConstantWorkgroupSize | Reflect::SpecConstantGlobalOffset => {
                for (dimension, id) in (0..).zip(self.three(inst, operands, 0)?) {
                    let what = match op {
                        Reflect::SpecConstantWorkgroupSize => LaunchNumber::LocalSize(dimension),
                        _ => LaunchNumber::GlobalOffset(dimension),
                    };
                    self.launch_number(out, inst, id, what)?;
                }
            }
            Reflect::SpecConstantWorkDim => {
                let id = self.number(inst, operands, 0)?;
                self.launch_number(out, inst, id, LaunchNumber::WorkDim)?;
            }
            Reflect::SpecConstantSubgroupMaxSize => {
                let id = self.number(inst, operands, 0)?;
                self.launch_number(out, inst, id, LaunchNumber::SubgroupMaxSize)?;
            }
            Reflect::PushConstantGlobalOffset
            | Reflect::PushConstantEnqueuedLocalSize
            | Reflect::PushConstantGlobalSize
            | Reflect::PushConstantNumWorkgroups
            | Reflect::PushConstantRegionOffset
            | Reflect::PushConstantRegionGroupOffset => {
                self.push_constant(out, inst, op, operands)?;
            }
            Reflect::ConstantDataStorageBuffer
            | Reflect::ConstantDataUniform
            | Reflect::ProgramScopeVariablesStorageBuffer => {
                let data = ModuleData {
                    inst: *inst,
                    bytes: self.data(inst, operands, 2)?,
                };
                out.data.insert(self.descriptor(inst, operands, 0)?, data);
            }
            Reflect::LiteralSampler => {
                let mask = self.number(inst, operands, 2)?;
                out.samplers
                    .insert(self.descriptor(inst, operands, 0)?, mask);
            }
            Reflect::PropertyRequiredWorkgroupSize => {
                let kernel = self.kernel_of(inst, operands)?;
                let size = self.three(inst, operands, 1)?;
                if size.contains(&0) {
                    return Err(self.error(inst, "a work-group size of 0"));
                }
                out.kernels[kernel].required_size = Some(size);
            }
            Reflect::ImageArgumentInfoChannelOrderPushConstant
            | Reflect::ImageArgumentInfoChannelDataTypePushConstant
            | Reflect::ImageArgumentInfoChannelOrderUniform
            | Reflect::ImageArgumentInfoChannelDataTypeUniform => {
                self.image_format(out, inst, op, operands)?;
            }
            Reflect::ConstantDataPointerPushConstant
            | Reflect::ProgramScopeVariablePointerPushConstant => {
                let size = self.number(inst, operands, 1)?;
                if size != 8 {
                    return Err(self.error(inst, format!("an address of {size} bytes")));
                }
                out.pointed_data.push(PointedData {
                    inst: *inst,
                    offset: self.number(inst, operands, 0)?,
                    bytes: self.data(inst, operands, 2)?,
                });
            }
            // The variable itself says.
            Reflect::WorkgroupVariableSize => {}
            _ => {
                let message = format!("the reflection instruction {op:?} is not supported");
                return Err(self.error(inst, message));
            }
        }
        Ok(())
    }

    fn kernel(
        &mut self,
        out: &mut Reflection<'a>,
        inst: &SourceInst<'a>,
        operands: &[u32],
    ) -> Result<()> {
        let function = operands.first().copied().unwrap_or(0);
        let name = self.string(inst, operands, 1)?;
        let is_function = self.source.definition(function).map(SourceInst::op);
        if is_function != Some(Op::Function) {
            return Err(self.error(inst, "operand 0 is not a function"));
        }
        let before = out.by_name.insert(name.clone(), out.kernels.len());
        if before.is_some() {
            return Err(self.error(inst, format!("the kernel {name:?} is described twice")));
        }
        let count = match operands.len() > 2 {
            true => self.number(inst, operands, 2)?,
            false => 0,
        };
        self.check_count(inst, count)?;
        self.kernels
            .insert(inst.result.unwrap_or(0), out.kernels.len());
        out.kernels.push(KernelSource {
            inst: *inst,
            function,
            name,
            arguments: BTreeMap::new(),
            count,
            required_size: None,
            formats: Vec::new(),
        });
        Ok(())
    }

    fn check_count(&self, inst: &SourceInst<'_>, count: u32) -> Result<()> {
        if count > MOST_ARGUMENTS {
            let message = format!("a kernel of {count} arguments: {MOST_ARGUMENTS} are the most");
            return Err(self.error(inst, message).under(Rule::Limit));
        }
        Ok(())
    }

    /// An argument; `info` is the operand that describes it, if it is there.
    fn argument(
        &mut self,
        out: &mut Reflection<'a>,
        inst: &SourceInst<'a>,
        operands: &[u32],
        info: usize,
        became: Became,
    ) -> Result<()> {
        let kernel = self.kernel_of(inst, operands)?;
        let ordinal = self.number(inst, operands, 1)?;
        self.check_count(inst, ordinal.saturating_add(1))?;
        let info = match operands.get(info) {
            Some(id) => {
                let info = self.infos.get(id).cloned();
                Some(info.ok_or_else(|| {
                    self.error(inst, "the last operand is not an ArgumentInfo given before")
                })?)
            }
            None => None,
        };
        let kernel = &mut out.kernels[kernel];
        kernel.count = kernel.count.max(ordinal + 1);
        let argument = Argument {
            inst: *inst,
            became,
            info,
        };
        if kernel.arguments.insert(ordinal, argument).is_some() {
            return Err(self.error(inst, format!("the argument {ordinal} is described twice")));
        }
        Ok(())
    }

    fn image_format(
        &self,
        out: &mut Reflection<'a>,
        inst: &SourceInst<'a>,
        op: Reflect,
        operands: &[u32],
    ) -> Result<()> {
        let kernel = self.kernel_of(inst, operands)?;
        let ordinal = self.number(inst, operands, 1)?;
        let (order, uniform) = match op {
            Reflect::ImageArgumentInfoChannelOrderPushConstant => (true, false),
            Reflect::ImageArgumentInfoChannelOrderUniform => (true, true),
            Reflect::ImageArgumentInfoChannelDataTypeUniform => (false, true),
            _ => (false, false),
        };
        let (of, at) = match uniform {
            true => (InBlock::Descriptor(self.descriptor(inst, operands, 2)?), 4),
            false => (InBlock::PushConstant, 2),
        };
        let offset = self.number(inst, operands, at)?;
        let size = self.number(inst, operands, at + 1)?;
        if size != 4 {
            return Err(self.error(inst, format!("a number in {size} bytes")));
        }
        out.kernels[kernel].formats.push(ImageFormat {
            inst: *inst,
            ordinal,
            order,
            of,
            offset,
        });
        Ok(())
    }

    fn launch_number(
        &self,
        out: &mut Reflection<'a>,
        inst: &SourceInst<'_>,
        spec_id: u32,
        what: LaunchNumber,
    ) -> Result<()> {
        let before = out.launch_numbers.insert(spec_id, what);
        if before.is_some_and(|before| before != what) {
            let message = format!("the specialization constant {spec_id} is for two things");
            return Err(self.error(inst, message));
        }
        Ok(())
    }

    fn push_constant(
        &self,
        out: &mut Reflection<'a>,
        inst: &SourceInst<'a>,
        op: Reflect,
        operands: &[u32],
    ) -> Result<()> {
        let what = match op {
            Reflect::PushConstantGlobalOffset => LaunchVector::GlobalOffset,
            Reflect::PushConstantEnqueuedLocalSize => LaunchVector::EnqueuedLocalSize,
            Reflect::PushConstantGlobalSize => LaunchVector::GlobalSize,
            Reflect::PushConstantNumWorkgroups => LaunchVector::NumWorkgroups,
            Reflect::PushConstantRegionOffset => LaunchVector::RegionOffset,
            _ => LaunchVector::RegionGroupOffset,
        };
        let offset = self.number(inst, operands, 0)?;
        let size = self.number(inst, operands, 1)?;
        if !matches!(size, 12 | 16) {
            return Err(self.error(inst, format!("three numbers in {size} bytes")));
        }
        out.push_constants.push(PushConstant {
            inst: *inst,
            what,
            offset,
        });
        Ok(())
    }
}
