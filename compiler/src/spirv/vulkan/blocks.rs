//! Blocks of arguments that are passed by value, and of what a launch fills in: private variables
//! of a kernel with the block's layout, to which it stores what belongs there.

use rspirv::spirv::{BuiltIn, Op, StorageClass};

use super::super::decode::Result;
use super::super::rules::Rule;
use super::kernels::{KernelMaker, Param};
use super::reflection::{
    Argument, Became, BufferPlace, InBlock, LaunchVector, ObjectNumber, ObjectQuery,
};
use super::resources::{descriptor_of, is_in};
use super::source::{SourceId, SourceInst, Variable};
use super::writer::with;

/// "Alignment of Types": the largest alignment of a structure in OpenCL C. Its size is a multiple
/// of that, which what is behind its last member fills up, and blocks need not have that.
const MOST_PADDING: u64 = 127;

impl KernelMaker<'_, '_> {
    /// A block of arguments: a private variable of its layout.
    pub fn block(&mut self, variable: &Variable<'_>) -> Result<SourceId> {
        let id = self.lowering.variable(variable.pointee, None);
        let block = match (variable.class, descriptor_of(self.source, variable.id)) {
            (StorageClass::PushConstant, _) | (_, None) => InBlock::PushConstant,
            (_, Some(descriptor)) => InBlock::Descriptor(descriptor),
        };
        let kernel = self.kernel;
        for (&ordinal, argument) in &kernel.arguments {
            if is_in(argument.became, block) {
                self.store_argument(variable, id, argument, self.params[ordinal as usize])?;
            }
        }
        self.store_numbers(variable, id, block)?;
        if block == InBlock::PushConstant {
            self.store_launch(variable, id)?;
            self.store_pointers(variable, id)?;
        }
        Ok(id)
    }

    /// Whether bytes are in a block; an error if some are and others are not.
    fn is_inside(
        &self,
        inst: &SourceInst<'_>,
        block: &Variable<'_>,
        offset: u64,
        size: u64,
    ) -> Result<bool> {
        let whole = self.source.size(block.pointee);
        // A vector of three takes the room of four where arguments are counted.
        let vector = self.source.part_at(block.pointee, offset, size).is_some();
        if offset < whole && whole - offset < size && !vector {
            let message = format!(
                "{size} bytes at {offset} are only partly in {}, of {whole} bytes",
                self.source.describe(block.id)
            );
            return Err(self
                .source
                .error(inst, message)
                .under(Rule::Reflection("Binary Form")));
        }
        Ok(offset < whole)
    }

    fn store_argument(
        &mut self,
        variable: &Variable<'_>,
        block: SourceId,
        argument: &Argument<'_>,
        param: Param,
    ) -> Result<()> {
        let (offset, size) = match argument.became {
            Became::Bytes { offset, size, .. } | Became::Address { offset, size, .. } => {
                (u64::from(offset), u64::from(size))
            }
            _ => return Ok(()),
        };
        let padding = param.bytes.map_or(0, |_| MOST_PADDING);
        if !self.is_inside(
            &argument.inst,
            variable,
            offset,
            size.saturating_sub(padding).max(1),
        )? {
            return Ok(());
        }
        if matches!(argument.became, Became::Address { .. }) {
            self.store_address(variable, block, offset, param.id);
            return Ok(());
        }
        let part = self.source.part_at(variable.pointee, offset, size);
        if let Some((path, ty)) = part
            && ty == param.ty
        {
            let part = self.chain(block, &path, ty);
            self.store(part, param.id, Some(1));
            return Ok(());
        }
        let to = self.byte_address(block, offset);
        if let Some(bytes) = param.bytes {
            let byte = self.writer().int(8);
            let from = self.cast(param.id, StorageClass::Function, byte);
            let behind = self.source.size(variable.pointee) - offset;
            let bytes = u64::from(bytes).min(behind);
            let bytes = self.writer().u32(bytes as u32);
            let place = self.lowering.place;
            let operands = [to, from, bytes];
            let body = &mut self.lowering.body;
            body.inst(place, Op::CopyMemorySized, &operands);
        } else {
            let to = self.cast(to, StorageClass::Function, param.ty);
            self.store(to, param.id, Some(1));
        }
        Ok(())
    }

    /// A pointer as what a member of a block is: another pointer, or a number of 64 bits.
    fn address_as(&mut self, pointer: SourceId, ty: SourceId) -> Option<SourceId> {
        let number = self.source.numbers(ty);
        match number {
            Some(n) if !n.float && n.bits == 64 && n.lanes == 1 => {
                Some(self.lowering.emit(Op::ConvertPtrToU, ty, &[pointer]))
            }
            Some(_) => None,
            None => Some(self.lowering.emit(Op::Bitcast, ty, &[pointer])),
        }
    }

    /// The address of a part of a block.
    fn chain(&mut self, block: SourceId, path: &[u32], ty: SourceId) -> SourceId {
        let pointer = self.writer().pointer(StorageClass::Function, ty);
        let indices: Vec<SourceId> = path.iter().map(|&at| self.writer().u32(at)).collect();
        let operands = with(&[block], &indices);
        self.lowering.emit(Op::AccessChain, pointer, &operands)
    }

    /// The address of a byte of a block.
    fn byte_address(&mut self, block: SourceId, offset: u64) -> SourceId {
        let byte = self.writer().int(8);
        let first = self.cast(block, StorageClass::Function, byte);
        let ty = self.writer().pointer(StorageClass::Function, byte);
        let offset = self.writer().u32(offset as u32);
        self.lowering.emit(Op::PtrAccessChain, ty, &[first, offset])
    }

    /// The push constants that a launch fills in.
    fn store_launch(&mut self, variable: &Variable<'_>, block: SourceId) -> Result<()> {
        let reflection = self.reflection;
        for constant in &reflection.push_constants {
            let offset = u64::from(constant.offset);
            if !self.is_inside(&constant.inst, variable, offset, 12)? {
                continue;
            }
            let which = match constant.what {
                LaunchVector::GlobalOffset | LaunchVector::RegionOffset => {
                    Some(BuiltIn::GlobalOffset)
                }
                LaunchVector::EnqueuedLocalSize => Some(BuiltIn::EnqueuedWorkgroupSize),
                LaunchVector::GlobalSize => Some(BuiltIn::GlobalSize),
                LaunchVector::NumWorkgroups => Some(BuiltIn::NumWorkgroups),
                LaunchVector::RegionGroupOffset => None,
            };
            let vector = which.map(|which| self.built_in(which));
            let word = self.writer().int(32);
            for dimension in 0..3 {
                let value = match vector {
                    Some(vector) => {
                        let operands = [vector, dimension];
                        self.lowering.emit(Op::CompositeExtract, word, &operands)
                    }
                    None => self.writer().u32(0),
                };
                let at = offset + 4 * u64::from(dimension);
                self.store_word(variable, block, at, value);
            }
        }
        Ok(())
    }

    /// Stores a number of 32 bits at an offset in a block.
    fn store_word(
        &mut self,
        variable: &Variable<'_>,
        block: SourceId,
        offset: u64,
        value: SourceId,
    ) {
        let part = self.source.part_at(variable.pointee, offset, 4);
        let is_word = |ty: SourceId| {
            let numbers = self.source.numbers(ty);
            numbers.is_some_and(|n| !n.float && n.bits == 32 && n.lanes == 1)
        };
        let to = match part {
            Some((path, ty)) if is_word(ty) => self.chain(block, &path, ty),
            _ => {
                let word = self.writer().int(32);
                let to = self.byte_address(block, offset);
                self.cast(to, StorageClass::Function, word)
            }
        };
        self.store(to, value, Some(1));
    }

    /// What kernels ask of images and samplers.
    fn store_numbers(
        &mut self,
        variable: &Variable<'_>,
        block: SourceId,
        of: InBlock,
    ) -> Result<()> {
        let kernel = self.kernel;
        for number in kernel.object_numbers.iter().filter(|it| it.of == of) {
            let offset = u64::from(number.offset);
            if self.is_inside(&number.inst, variable, offset, 4)? {
                let value = self.object_number(number)?;
                self.store_word(variable, block, offset, value);
            }
        }
        Ok(())
    }

    fn object_number(&mut self, number: &ObjectNumber<'_>) -> Result<SourceId> {
        // The numbers of the API count from these.
        const FIRST_ORDER: u32 = 0x10b0;
        const FIRST_DATA_TYPE: u32 = 0x10d0;
        // Normalized coordinates, the nearest texel.
        const AS_IT_IS: u32 = 0x11;
        let argument = self.kernel.arguments.get(&number.ordinal);
        let became = argument.map(|argument| argument.became);
        let what = match (number.what, became) {
            (ObjectQuery::ChannelOrder, Some(Became::Image(_))) => {
                return Ok(self.format_number(number, Op::ImageQueryOrder, FIRST_ORDER));
            }
            (ObjectQuery::ChannelDataType, Some(Became::Image(_))) => {
                return Ok(self.format_number(number, Op::ImageQueryFormat, FIRST_DATA_TYPE));
            }
            // What is asked is whether to divide coordinates, as samplers of Vulkan's have to be
            // given them for some images. Ours take them as they are.
            (ObjectQuery::SamplerMask, Some(Became::Sampler(_))) => {
                return Ok(self.writer().u32(AS_IT_IS));
            }
            (ObjectQuery::SamplerMask, _) => "a sampler",
            _ => "an image",
        };
        let message = format!("the argument {} is not {what}", number.ordinal);
        Err(self
            .source
            .error(&number.inst, message)
            .under(Rule::Reflection("Binary Form")))
    }

    fn format_number(&mut self, number: &ObjectNumber<'_>, query: Op, first: u32) -> SourceId {
        let image = self.params[number.ordinal as usize].id;
        let word = self.writer().int(32);
        let number = self.lowering.emit(query, word, &[image]);
        let first = self.writer().u32(first);
        self.lowering.emit(Op::IAdd, word, &[number, first])
    }

    /// The addresses of buffers that no argument is.
    fn store_pointers(&mut self, variable: &Variable<'_>, block: SourceId) -> Result<()> {
        let reflection = self.reflection;
        for (data, &address) in reflection.data.iter().zip(self.data) {
            if let BufferPlace::PushConstant(offset) = data.place
                && self.is_inside(&data.inst, variable, u64::from(offset), 8)?
            {
                self.store_address(variable, block, u64::from(offset), address);
            }
        }
        if let Some(printf) = &reflection.printf
            && let BufferPlace::PushConstant(offset) = printf.place
            && self.kernel.may_print
            && self.is_inside(&printf.inst, variable, u64::from(offset), 8)?
        {
            let address = self.printf_buffer();
            self.store_address(variable, block, u64::from(offset), address);
        }
        Ok(())
    }

    /// Stores an address at an offset in a block.
    fn store_address(
        &mut self,
        variable: &Variable<'_>,
        block: SourceId,
        offset: u64,
        address: SourceId,
    ) {
        let part = self.source.part_at(variable.pointee, offset, 8);
        if let Some((path, ty)) = part
            && let Some(value) = self.address_as(address, ty)
        {
            let part = self.chain(block, &path, ty);
            self.store(part, value, Some(1));
            return;
        }
        let to = self.byte_address(block, offset);
        let word = self.writer().int(64);
        let value = self.lowering.emit(Op::ConvertPtrToU, word, &[address]);
        let to = self.cast(to, StorageClass::Function, word);
        self.store(to, value, Some(1));
    }
}
