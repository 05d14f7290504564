//! Who a work-item is: OpenCL C Specification, "Work-Item Functions".

use rspirv::spirv::{BuiltIn, Op, StorageClass};

use super::interface::GlobalOffset;
use super::ir::{Id, Inst};
use super::lower::{Lower, Result, Val};
use super::types::Type;

impl Lower<'_> {
    /// A built-in value is loaded: a vector of three is known by its components.
    pub fn load_built_in(&mut self, inst: &Inst, which: BuiltIn) -> Result<()> {
        let ty = self.result_ty(inst)?;
        if let BuiltIn::SubgroupEqMask
        | BuiltIn::SubgroupGeMask
        | BuiltIn::SubgroupGtMask
        | BuiltIn::SubgroupLeMask
        | BuiltIn::SubgroupLtMask = which
        {
            self.needs_sub_groups()?;
            let variable = self.target.input(which, ty);
            let id = self.emit(Op::Load, ty, &[variable]);
            self.set(inst, id);
            return Ok(());
        }
        if matches!(self.target.types.get(ty), Type::Vector(_, 3)) {
            self.values.insert(inst.id, Val::BuiltIn(which));
            return Ok(());
        }
        let value = match which {
            BuiltIn::WorkDim => self.shared.work_dim(self.target, self.options),
            BuiltIn::GlobalLinearId => self.global_linear_id()?,
            BuiltIn::LocalInvocationIndex => self.input_scalar(which),
            BuiltIn::SubgroupSize
            | BuiltIn::NumSubgroups
            | BuiltIn::SubgroupId
            | BuiltIn::SubgroupLocalInvocationId => {
                self.needs_sub_groups()?;
                self.input_scalar(which)
            }
            // All sub-groups have one size, and all work-groups.
            BuiltIn::SubgroupMaxSize => {
                self.needs_sub_groups()?;
                self.input_scalar(BuiltIn::SubgroupSize)
            }
            BuiltIn::NumEnqueuedSubgroups => {
                self.needs_sub_groups()?;
                self.input_scalar(BuiltIn::NumSubgroups)
            }
            _ => {
                return self.error(format!(
                    "the built-in value {which:?} has no counterpart in Vulkan"
                ));
            }
        };
        let id = self.extended_from_word(value, ty);
        self.set(inst, id);
        Ok(())
    }

    /// Sub-groups came with SPIR-V 1.3.
    pub fn needs_sub_groups(&self) -> Result<()> {
        match self.options.version.spirv() >= 0x10300 {
            true => Ok(()),
            false => self.error("sub-groups exist from Vulkan 1.1 on (--target=vulkan1.1)"),
        }
    }

    pub fn input_scalar(&mut self, which: BuiltIn) -> Id {
        let word = self.u32_ty();
        let variable = self.target.input(which, word);
        self.emit(Op::Load, word, &[variable])
    }

    fn input_component(&mut self, which: BuiltIn, dimension: u32) -> Id {
        let word = self.u32_ty();
        let vector = self.target.types.vector(word, 3);
        let variable = self.target.input(which, vector);
        let pointer = self.target.types.pointer(StorageClass::Input, word);
        let index = self.target.u32(dimension);
        let pointer = self.emit(Op::AccessChain, pointer, &[variable, index]);
        self.emit(Op::Load, word, &[pointer])
    }

    /// The size of work-groups in a dimension.
    pub fn local_size(&mut self, dimension: u32) -> Id {
        if let (Some(size), false) = (self.required_size, self.shared.has_size()) {
            return self.target.u32(size[dimension as usize]);
        }
        let word = self.u32_ty();
        let size = self.shared.size(self.target);
        self.extract(word, size, dimension)
    }

    fn offset(&mut self, dimension: u32) -> Result<Option<Id>> {
        let word = self.u32_ty();
        Ok(match self.options.global_offset {
            GlobalOffset::None => None,
            GlobalOffset::SpecConstant => {
                Some(self.shared.global_offset(self.target)[dimension as usize])
            }
            GlobalOffset::PushConstant => {
                let variable = self.push_constants();
                let (zero, index) = (self.target.u32(0), self.target.u32(dimension));
                let pointer = self.target.types.pointer(StorageClass::PushConstant, word);
                let path = [variable, zero, index];
                let pointer = self.emit(Op::AccessChain, pointer, &path);
                Some(self.emit(Op::Load, word, &[pointer]))
            }
        })
    }

    /// A component of a vector of three, in 32 bits.
    pub fn component(&mut self, which: BuiltIn, dimension: u32) -> Result<Id> {
        let word = self.u32_ty();
        Ok(match which {
            BuiltIn::GlobalInvocationId => {
                let id = self.input_component(which, dimension);
                match self.offset(dimension)? {
                    Some(offset) => self.emit(Op::IAdd, word, &[id, offset]),
                    None => id,
                }
            }
            BuiltIn::LocalInvocationId | BuiltIn::WorkgroupId | BuiltIn::NumWorkgroups => {
                self.input_component(which, dimension)
            }
            BuiltIn::WorkgroupSize | BuiltIn::EnqueuedWorkgroupSize => self.local_size(dimension),
            BuiltIn::GlobalSize => {
                let size = self.local_size(dimension);
                let groups = self.input_component(BuiltIn::NumWorkgroups, dimension);
                self.emit(Op::IMul, word, &[size, groups])
            }
            BuiltIn::GlobalOffset => match self.offset(dimension)? {
                Some(offset) => offset,
                None => self.target.u32(0),
            },
            _ => {
                return self.error(format!(
                    "the built-in value {which:?} has no counterpart in Vulkan"
                ));
            }
        })
    }

    /// Without the offset.
    fn global_linear_id(&mut self) -> Result<Id> {
        let word = self.u32_ty();
        let mut linear = self.input_component(BuiltIn::GlobalInvocationId, 2);
        for dimension in [1, 0] {
            let size = self.component(BuiltIn::GlobalSize, dimension)?;
            linear = self.emit(Op::IMul, word, &[linear, size]);
            let id = self.input_component(BuiltIn::GlobalInvocationId, dimension);
            linear = self.emit(Op::IAdd, word, &[linear, id]);
        }
        Ok(linear)
    }
}
