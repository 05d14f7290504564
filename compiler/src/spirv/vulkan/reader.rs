//! Reads the instructions of `NonSemantic.ClspvReflection`, one after another.

use std::collections::{BTreeMap, HashMap};

use rspirv::spirv::{NonsemanticClspvreflectionOp as Reflect, Op};

use super::super::decode::Result;
use super::super::rules::Rule;
use super::reflection::{
    Argument, ArgumentInfo, Became, BufferPlace, Descriptor, InBlock, KernelSource, LaunchNumber,
    LaunchVector, ModuleData, ObjectNumber, ObjectQuery, PrintfPlace, PushConstant, Reflection,
    Relocation,
};
use super::source::{Source, SourceId, SourceInst};
use crate::diagnostic::Diagnostic;
use crate::kernel_info::PrintfFormat;

/// "Universal Limits": parameters of a function.
const MOST_ARGUMENTS: u32 = 255;

/// Most bytes of data of a module, and of a buffer that is printed to.
const MOST_DATA: usize = 1 << 26;

/// Bit of a kernel's flags.
const MAY_USE_PRINTF: u32 = 1;

pub(super) struct Reader<'s, 'a> {
    source: &'s Source<'a>,
    /// Kernels by the id of their declaration.
    kernels: HashMap<SourceId, usize>,
    infos: HashMap<SourceId, ArgumentInfo>,
}

/// An instruction of the set, with its own operands.
struct Entry<'a> {
    inst: SourceInst<'a>,
    op: Reflect,
    operands: &'a [u32],
}

impl<'s, 'a> Reader<'s, 'a> {
    pub fn new(source: &'s Source<'a>) -> Reader<'s, 'a> {
        Reader {
            source,
            kernels: HashMap::new(),
            infos: HashMap::new(),
        }
    }

    pub fn error(&self, inst: &SourceInst<'_>, message: impl Into<String>) -> Diagnostic {
        self.source
            .error(inst, message)
            .under(Rule::Reflection("Binary Form"))
    }

    pub fn read(
        &mut self,
        out: &mut Reflection<'a>,
        inst: &SourceInst<'a>,
        number: u32,
        operands: &'a [u32],
    ) -> Result<()> {
        let op = Reflect::from_u32(number)
            .ok_or_else(|| self.error(inst, format!("unknown reflection instruction {number}")))?;
        let inst = *inst;
        let it = &Entry { inst, op, operands };
        match op {
            Reflect::Kernel => self.kernel(out, it),
            Reflect::ArgumentInfo => self.argument_info(it),
            Reflect::ArgumentStorageBuffer
            | Reflect::ArgumentUniform
            | Reflect::ArgumentPodStorageBuffer
            | Reflect::ArgumentPodUniform
            | Reflect::ArgumentPodPushConstant
            | Reflect::ArgumentPointerPushConstant
            | Reflect::ArgumentPointerUniform
            | Reflect::ArgumentUniformTexelBuffer
            | Reflect::ArgumentStorageTexelBuffer
            | Reflect::ArgumentSampledImage
            | Reflect::ArgumentStorageImage
            | Reflect::ArgumentSampler
            | Reflect::ArgumentWorkgroup => self.argument(out, it),
            Reflect::SpecConstantWorkgroupSize
            | Reflect::SpecConstantGlobalOffset
            | Reflect::SpecConstantWorkDim
            | Reflect::SpecConstantSubgroupMaxSize => self.launch_numbers(out, it),
            Reflect::PushConstantGlobalOffset
            | Reflect::PushConstantEnqueuedLocalSize
            | Reflect::PushConstantGlobalSize
            | Reflect::PushConstantNumWorkgroups
            | Reflect::PushConstantRegionOffset
            | Reflect::PushConstantRegionGroupOffset => self.push_constant(out, it),
            Reflect::ConstantDataStorageBuffer
            | Reflect::ConstantDataUniform
            | Reflect::ProgramScopeVariablesStorageBuffer
            | Reflect::ConstantDataPointerPushConstant
            | Reflect::ProgramScopeVariablePointerPushConstant => self.data(out, it),
            Reflect::ProgramScopeVariablePointerRelocation => self.relocation(out, it),
            Reflect::LiteralSampler => {
                let mask = self.number(it, 2)?;
                out.samplers.insert(self.descriptor(it, 0)?, mask);
                Ok(())
            }
            Reflect::PropertyRequiredWorkgroupSize => self.required_size(out, it),
            Reflect::ImageArgumentInfoChannelOrderPushConstant
            | Reflect::ImageArgumentInfoChannelDataTypePushConstant
            | Reflect::ImageArgumentInfoChannelOrderUniform
            | Reflect::ImageArgumentInfoChannelDataTypeUniform
            | Reflect::NormalizedSamplerMaskPushConstant => self.object_number(out, it),
            Reflect::PrintfInfo => self.printf_format(out, it),
            Reflect::PrintfBufferStorageBuffer | Reflect::PrintfBufferPointerPushConstant => {
                self.printf_buffer(out, it)
            }
            // The variable itself says.
            Reflect::WorkgroupVariableSize => Ok(()),
        }
    }

    fn number(&self, it: &Entry<'_>, at: usize) -> Result<u32> {
        let number = it.operands.get(at).and_then(|&id| self.source.constant(id));
        number.ok_or_else(|| {
            self.error(
                &it.inst,
                format!("operand {at} is not an integer constant of 32 bits"),
            )
        })
    }

    /// The number of an operand that may be missing.
    fn optional(&self, it: &Entry<'_>, at: usize) -> Result<Option<u32>> {
        match it.operands.len() > at {
            true => self.number(it, at).map(Some),
            false => Ok(None),
        }
    }

    fn string(&self, it: &Entry<'_>, at: usize) -> Result<String> {
        let string = it.operands.get(at).and_then(|&id| self.source.string(id));
        string.ok_or_else(|| self.error(&it.inst, format!("operand {at} is not an OpString")))
    }

    fn descriptor(&self, it: &Entry<'_>, at: usize) -> Result<Descriptor> {
        Ok(Descriptor {
            set: self.number(it, at)?,
            binding: self.number(it, at + 1)?,
        })
    }

    fn bytes(&self, it: &Entry<'_>, at: usize) -> Result<Vec<u8>> {
        let text = self.string(it, at)?;
        let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() % 2 == 0);
        let digits = digits.ok_or_else(|| self.error(&it.inst, "the data are not bytes in hex"))?;
        if digits.len() / 2 > MOST_DATA {
            let message = format!("the data take more than {MOST_DATA} bytes");
            return Err(self.error(&it.inst, message).under(Rule::Limit));
        }
        Ok(digits
            .chunks_exact(2)
            .map(|d| (d[0] << 4 | d[1]) as u8)
            .collect())
    }

    fn three(&self, it: &Entry<'_>, at: usize) -> Result<[u32; 3]> {
        Ok([
            self.number(it, at)?,
            self.number(it, at + 1)?,
            self.number(it, at + 2)?,
        ])
    }

    /// The offset of an address in the push constants, which its size follows.
    fn pushed_address(&self, it: &Entry<'_>, at: usize) -> Result<BufferPlace> {
        let size = self.number(it, at + 1)?;
        if size != 8 {
            return Err(self.error(&it.inst, format!("an address of {size} bytes")));
        }
        Ok(BufferPlace::PushConstant(self.number(it, at)?))
    }

    fn kernel_of(&self, it: &Entry<'_>) -> Result<usize> {
        let declared = it.operands.first().and_then(|id| self.kernels.get(id));
        declared
            .copied()
            .ok_or_else(|| self.error(&it.inst, "operand 0 is not a Kernel declared before"))
    }

    fn kernel(&mut self, out: &mut Reflection<'a>, it: &Entry<'a>) -> Result<()> {
        let function = it.operands.first().copied().unwrap_or(0);
        let name = self.string(it, 1)?;
        let is_function = self.source.definition(function).map(SourceInst::op);
        if is_function != Some(Op::Function) {
            return Err(self.error(&it.inst, "operand 0 is not a function"));
        }
        let before = out.by_name.insert(name.clone(), out.kernels.len());
        if before.is_some() {
            return Err(self.error(&it.inst, format!("the kernel {name:?} is described twice")));
        }
        let count = self.optional(it, 2)?.unwrap_or(0);
        let flags = self.optional(it, 3)?.unwrap_or(0);
        self.check_count(it, count)?;
        let result = it.inst.result.unwrap_or(0);
        self.kernels.insert(result, out.kernels.len());
        out.kernels.push(KernelSource {
            inst: it.inst,
            function,
            name,
            arguments: BTreeMap::new(),
            count,
            required_size: None,
            may_print: flags & MAY_USE_PRINTF != 0,
            attributes: match it.operands.len() > 4 {
                true => self.string(it, 4)?,
                false => String::new(),
            },
            object_numbers: Vec::new(),
        });
        Ok(())
    }

    fn check_count(&self, it: &Entry<'_>, count: u32) -> Result<()> {
        if count > MOST_ARGUMENTS {
            let message = format!("a kernel of {count} arguments: {MOST_ARGUMENTS} are the most");
            return Err(self.error(&it.inst, message).under(Rule::Limit));
        }
        Ok(())
    }

    fn argument_info(&mut self, it: &Entry<'a>) -> Result<()> {
        let info = ArgumentInfo {
            name: self.string(it, 0)?,
            type_name: match it.operands.len() > 1 {
                true => Some(self.string(it, 1)?),
                false => None,
            },
            address: self.optional(it, 2)?,
            access: self.optional(it, 3)?,
            qualifiers: self.optional(it, 4)?,
        };
        self.infos.insert(it.inst.result.unwrap_or(0), info);
        Ok(())
    }

    /// What an argument became, and how many operands say so.
    fn became(&self, it: &Entry<'_>) -> Result<(Became, usize)> {
        let pushed = InBlock::PushConstant;
        Ok(match it.op {
            Reflect::ArgumentStorageBuffer | Reflect::ArgumentUniform => {
                let of = self.descriptor(it, 2)?;
                let uniform = it.op == Reflect::ArgumentUniform;
                (Became::Buffer { of, uniform }, 4)
            }
            Reflect::ArgumentPodStorageBuffer | Reflect::ArgumentPodUniform => {
                let of = InBlock::Descriptor(self.descriptor(it, 2)?);
                let (offset, size) = (self.number(it, 4)?, self.number(it, 5)?);
                (Became::Bytes { of, offset, size }, 6)
            }
            Reflect::ArgumentPodPushConstant => {
                let (of, offset, size) = (pushed, self.number(it, 2)?, self.number(it, 3)?);
                (Became::Bytes { of, offset, size }, 4)
            }
            Reflect::ArgumentPointerPushConstant => {
                let (of, offset, size) = (pushed, self.number(it, 2)?, self.number(it, 3)?);
                (Became::Address { of, offset, size }, 4)
            }
            Reflect::ArgumentPointerUniform => {
                let of = InBlock::Descriptor(self.descriptor(it, 2)?);
                let (offset, size) = (self.number(it, 4)?, self.number(it, 5)?);
                (Became::Address { of, offset, size }, 6)
            }
            Reflect::ArgumentSampler => (Became::Sampler(self.descriptor(it, 2)?), 4),
            Reflect::ArgumentWorkgroup => {
                let spec_id = self.number(it, 2)?;
                (Became::Local { spec_id }, 4)
            }
            _ => (Became::Image(self.descriptor(it, 2)?), 4),
        })
    }

    fn argument(&mut self, out: &mut Reflection<'a>, it: &Entry<'a>) -> Result<()> {
        let kernel = self.kernel_of(it)?;
        let ordinal = self.number(it, 1)?;
        self.check_count(it, ordinal.saturating_add(1))?;
        let (became, operands) = self.became(it)?;
        let info = match it.operands.get(operands) {
            Some(id) => {
                let info = self.infos.get(id).cloned();
                Some(info.ok_or_else(|| {
                    self.error(
                        &it.inst,
                        "the last operand is not an ArgumentInfo given before",
                    )
                })?)
            }
            None => None,
        };
        let kernel = &mut out.kernels[kernel];
        kernel.count = kernel.count.max(ordinal + 1);
        let inst = it.inst;
        let argument = Argument { inst, became, info };
        if kernel.arguments.insert(ordinal, argument).is_some() {
            return Err(self.error(&inst, format!("the argument {ordinal} is described twice")));
        }
        Ok(())
    }

    fn launch_numbers(&self, out: &mut Reflection<'a>, it: &Entry<'_>) -> Result<()> {
        let of_dimension = match it.op {
            Reflect::SpecConstantWorkgroupSize => LaunchNumber::LocalSize,
            Reflect::SpecConstantGlobalOffset => LaunchNumber::GlobalOffset,
            _ => {
                let what = match it.op {
                    Reflect::SpecConstantWorkDim => LaunchNumber::WorkDim,
                    _ => LaunchNumber::SubgroupMaxSize,
                };
                return self.launch_number(out, it, self.number(it, 0)?, what);
            }
        };
        for (dimension, id) in (0..).zip(self.three(it, 0)?) {
            self.launch_number(out, it, id, of_dimension(dimension))?;
        }
        Ok(())
    }

    fn launch_number(
        &self,
        out: &mut Reflection<'a>,
        it: &Entry<'_>,
        spec_id: u32,
        what: LaunchNumber,
    ) -> Result<()> {
        let before = out.launch_numbers.insert(spec_id, what);
        if before.is_some_and(|before| before != what) {
            let message = format!("the specialization constant {spec_id} is for two things");
            return Err(self.error(&it.inst, message));
        }
        Ok(())
    }

    fn push_constant(&self, out: &mut Reflection<'a>, it: &Entry<'a>) -> Result<()> {
        let what = match it.op {
            Reflect::PushConstantGlobalOffset => LaunchVector::GlobalOffset,
            Reflect::PushConstantEnqueuedLocalSize => LaunchVector::EnqueuedLocalSize,
            Reflect::PushConstantGlobalSize => LaunchVector::GlobalSize,
            Reflect::PushConstantNumWorkgroups => LaunchVector::NumWorkgroups,
            Reflect::PushConstantRegionOffset => LaunchVector::RegionOffset,
            _ => LaunchVector::RegionGroupOffset,
        };
        let (offset, size) = (self.number(it, 0)?, self.number(it, 1)?);
        if !matches!(size, 12 | 16) {
            return Err(self.error(&it.inst, format!("three numbers in {size} bytes")));
        }
        let inst = it.inst;
        out.push_constants.push(PushConstant { inst, what, offset });
        Ok(())
    }

    fn required_size(&self, out: &mut Reflection<'a>, it: &Entry<'_>) -> Result<()> {
        let kernel = self.kernel_of(it)?;
        let size = self.three(it, 1)?;
        if size.contains(&0) {
            return Err(self.error(&it.inst, "a work-group size of 0"));
        }
        out.kernels[kernel].required_size = Some(size);
        Ok(())
    }

    fn data(&self, out: &mut Reflection<'a>, it: &Entry<'a>) -> Result<()> {
        let place = match it.op {
            Reflect::ConstantDataPointerPushConstant
            | Reflect::ProgramScopeVariablePointerPushConstant => self.pushed_address(it, 0)?,
            _ => BufferPlace::Descriptor(self.descriptor(it, 0)?),
        };
        let is_variables = matches!(
            it.op,
            Reflect::ProgramScopeVariablesStorageBuffer
                | Reflect::ProgramScopeVariablePointerPushConstant
        );
        let same =
            |other: &ModuleData<'_>| other.place == place || is_variables && other.is_variables;
        if out.data.iter().any(same) {
            return Err(self.error(&it.inst, "these data are described twice"));
        }
        out.data.push(ModuleData {
            inst: it.inst,
            place,
            bytes: self.bytes(it, 2)?,
            is_variables,
        });
        Ok(())
    }

    fn relocation(&self, out: &mut Reflection<'a>, it: &Entry<'a>) -> Result<()> {
        let size = self.number(it, 2)?;
        if size != 8 {
            let message = format!("a pointer of {size} bytes, which an address does not fit in");
            return Err(self.error(&it.inst, message));
        }
        out.relocations.push(Relocation {
            inst: it.inst,
            object: self.number(it, 0)?,
            pointer: self.number(it, 1)?,
        });
        Ok(())
    }

    fn object_number(&self, out: &mut Reflection<'a>, it: &Entry<'a>) -> Result<()> {
        let kernel = self.kernel_of(it)?;
        let what = match it.op {
            Reflect::ImageArgumentInfoChannelOrderPushConstant
            | Reflect::ImageArgumentInfoChannelOrderUniform => ObjectQuery::ChannelOrder,
            Reflect::NormalizedSamplerMaskPushConstant => ObjectQuery::SamplerMask,
            _ => ObjectQuery::ChannelDataType,
        };
        let (of, at) = match it.op {
            Reflect::ImageArgumentInfoChannelOrderUniform
            | Reflect::ImageArgumentInfoChannelDataTypeUniform => {
                (InBlock::Descriptor(self.descriptor(it, 2)?), 4)
            }
            _ => (InBlock::PushConstant, 2),
        };
        let size = self.number(it, at + 1)?;
        if size != 4 {
            return Err(self.error(&it.inst, format!("a number in {size} bytes")));
        }
        out.kernels[kernel].object_numbers.push(ObjectNumber {
            inst: it.inst,
            ordinal: self.number(it, 1)?,
            what,
            of,
            offset: self.number(it, at)?,
        });
        Ok(())
    }

    fn printf_format(&self, out: &mut Reflection<'a>, it: &Entry<'_>) -> Result<()> {
        let id = self.number(it, 0)?;
        let text = self.string(it, 1)?;
        let sizes = (2..it.operands.len()).map(|at| self.number(it, at));
        let sizes = sizes.collect::<Result<_>>()?;
        if out
            .formats
            .insert(id, PrintfFormat { text, sizes })
            .is_some()
        {
            let message = format!("the format {id} is described twice");
            return Err(self.error(&it.inst, message));
        }
        Ok(())
    }

    fn printf_buffer(&self, out: &mut Reflection<'a>, it: &Entry<'a>) -> Result<()> {
        let place = match it.op {
            Reflect::PrintfBufferPointerPushConstant => self.pushed_address(it, 0)?,
            _ => BufferPlace::Descriptor(self.descriptor(it, 0)?),
        };
        let bytes = self.number(it, 2)?;
        if bytes as usize > MOST_DATA {
            let message = format!("printf writes to more than {MOST_DATA} bytes");
            return Err(self.error(&it.inst, message).under(Rule::Limit));
        }
        if out.printf.is_some() {
            return Err(self.error(&it.inst, "a second buffer to print to"));
        }
        let inst = it.inst;
        out.printf = Some(PrintfPlace { inst, place, bytes });
        Ok(())
    }
}
