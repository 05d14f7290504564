//! What a kernel gives the entry point's function for each variable that this uses.

use rspirv::spirv::{BuiltIn, Op, SamplerAddressingMode, SamplerFilterMode, StorageClass};

use super::super::decode::Result;
use super::super::rules::Rule;
use super::kernels::{ImplicitFor, KernelMaker, Param};
use super::reflection::Became;
use super::resources::{Role, descriptor_of, length_spec_id};
use super::source::{SourceId, SourceInst, Variable};
use crate::kernel_info::Implicit;

impl KernelMaker<'_, '_> {
    /// What the entry point's function is given for a variable.
    pub fn resource(
        &mut self,
        entry: &SourceInst<'_>,
        variable: &Variable<'_>,
    ) -> Result<SourceId> {
        let missing = |what: &str| {
            let name = self.source.describe(variable.id);
            let message = format!("{name} is used, but no reflection says {what}");
            Err(self
                .source
                .error(entry, message)
                .under(Rule::Reflection("Binary Form")))
        };
        let arguments = || (0..).zip(self.kernel.arguments.iter());
        let argument = |wanted: &dyn Fn(Became) -> bool| {
            let found = arguments().find(|(_, (_, argument))| wanted(argument.became));
            found.map(|(_, (&ordinal, _))| self.params[ordinal as usize])
        };
        let descriptor = descriptor_of(self.source, variable.id);
        match self.resources.role(variable.id) {
            Some(role @ Role::Buffer) => {
                let of_data = descriptor.and_then(|of| self.reflection.data_of(of));
                let param = argument(&|became| became.descriptor() == descriptor);
                let address = match (param, of_data) {
                    (Some(param), _) => param.id,
                    (None, Some(data)) => self.data[data],
                    (None, None) if descriptor.is_some_and(|of| self.reflection.prints_to(of)) => {
                        self.printf_buffer()
                    }
                    _ => return missing("which buffer it is"),
                };
                Ok(self.cast(address, role.class(), variable.pointee))
            }
            Some(role @ Role::Local) => {
                let wanted = length_spec_id(self.source, variable);
                let is_it =
                    |became| matches!(became, Became::Local { spec_id } if Some(spec_id) == wanted);
                let Some(param) = argument(&is_it) else {
                    return missing("which argument it is");
                };
                Ok(self.cast(param.id, role.class(), variable.pointee))
            }
            Some(Role::Object) => {
                if let Some(param) = argument(&|became| became.descriptor() == descriptor) {
                    return match param.ty == variable.pointee {
                        true => Ok(param.id),
                        false => missing("that it has two types"),
                    };
                }
                match descriptor.and_then(|of| self.reflection.samplers.get(&of)) {
                    Some(&mask) => self.literal_sampler(entry, variable, mask),
                    None => missing("which object it is"),
                }
            }
            Some(Role::Block) => self.block(variable),
            Some(Role::GlobalId) => self.global_id(variable),
            Some(Role::Private | Role::Table) | None => Ok(self.private(variable)),
        }
    }

    /// A private variable of the kernel, for one of the module.
    fn private(&mut self, variable: &Variable<'_>) -> SourceId {
        let init = variable.init;
        let of_launch = init.filter(|&init| self.resources.is_launch(init));
        let init = init.filter(|_| of_launch.is_none());
        let id = self.lowering.variable(variable.pointee, init);
        if let Some(init) = of_launch {
            let value = self.lowering.mapped(init);
            self.store(id, value, None);
        }
        id
    }

    /// How many bytes a buffer has.
    pub fn size(&mut self, entry: &SourceInst<'_>, variable: &Variable<'_>) -> Result<SourceId> {
        let descriptor = descriptor_of(self.source, variable.id);
        let mut arguments = self.kernel.arguments.iter();
        let argument = arguments.find(
            |(_, it)| matches!(it.became, Became::Buffer { of, .. } if Some(of) == descriptor),
        );
        let word = self.writer().int(64);
        if let Some((&arg, _)) = argument {
            let what = Implicit::Size { arg };
            return Ok(self.implicit_param(word, what, ImplicitFor::Size(arg)));
        }
        let data = descriptor.and_then(|of| self.reflection.data_of(of));
        let printf = self.reflection.printf.as_ref();
        let printf = printf.filter(|_| descriptor.is_some_and(|of| self.reflection.prints_to(of)));
        match (data, printf) {
            (Some(data), _) => {
                let bytes = self.reflection.data[data].bytes.len() as u32;
                Ok(self.writer().constant(word, &[bytes, 0]))
            }
            (None, Some(printf)) => Ok(self.writer().constant(word, &[printf.bytes, 0])),
            (None, None) => {
                let name = self.source.describe(variable.id);
                let message = format!("no reflection says how large {name} is");
                Err(self
                    .source
                    .error(entry, message)
                    .under(Rule::Reflection("Binary Form")))
            }
        }
    }

    /// The address of the buffer that the launch prints to; null if there is none.
    pub fn printf_buffer(&mut self) -> SourceId {
        let byte = self.writer().int(8);
        let ty = self.writer().pointer(StorageClass::CrossWorkgroup, byte);
        match self.printf {
            Some(what) => self.implicit_param(ty, what.clone(), ImplicitFor::Printf),
            None => self.writer().null(ty),
        }
    }

    /// A parameter that the driver sets.
    fn implicit_param(&mut self, ty: SourceId, what: Implicit, of: ImplicitFor) -> SourceId {
        if let Some((param, _)) = self.implicit.iter().find(|(_, before)| *before == of) {
            return param.id;
        }
        let id = self.writer().fresh();
        self.writer().implicit.insert(id, what);
        let bytes = None;
        self.implicit.push((Param { ty, id, bytes }, of));
        id
    }

    /// Vulkan counts from the offset of the launch, OpenCL from 0.
    fn global_id(&mut self, variable: &Variable<'_>) -> Result<SourceId> {
        let numbers = self.source.numbers(variable.pointee);
        if !numbers.is_some_and(|n| !n.float && n.bits == 32 && n.lanes == 3) {
            let message = "GlobalInvocationId is not three integers of 32 bits";
            return Err(self.source.error(&variable.inst, message));
        }
        let id = self.lowering.variable(variable.pointee, None);
        let all = self.built_in(BuiltIn::GlobalInvocationId);
        let offset = self.built_in(BuiltIn::GlobalOffset);
        let value = self
            .lowering
            .emit(Op::ISub, variable.pointee, &[all, offset]);
        self.store(id, value, None);
        Ok(id)
    }

    /// A sampler of the source, by the numbers of OpenCL C's constants.
    fn literal_sampler(
        &mut self,
        entry: &SourceInst<'_>,
        variable: &Variable<'_>,
        mask: u32,
    ) -> Result<SourceId> {
        let normalized = mask & 1;
        let addressing = match mask & 0xe {
            0 => SamplerAddressingMode::None,
            2 => SamplerAddressingMode::ClampToEdge,
            4 => SamplerAddressingMode::Clamp,
            6 => SamplerAddressingMode::Repeat,
            8 => SamplerAddressingMode::RepeatMirrored,
            _ => {
                return Err(self
                    .source
                    .error(entry, "an unknown addressing mode of a sampler"));
            }
        };
        let filter = match mask & 0x30 {
            0x10 => SamplerFilterMode::Nearest,
            0x20 => SamplerFilterMode::Linear,
            _ => {
                return Err(self
                    .source
                    .error(entry, "an unknown filter mode of a sampler"));
            }
        };
        let id = self.writer().fresh();
        let operands = [
            variable.pointee,
            id,
            addressing as u32,
            normalized,
            filter as u32,
        ];
        let place = self.lowering.place;
        self.writer()
            .globals
            .inst(place, Op::ConstantSampler, &operands);
        Ok(id)
    }
}
