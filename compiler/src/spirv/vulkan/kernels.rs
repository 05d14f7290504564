//! For each entry point a kernel, with the parameters of the source. It makes of its arguments what
//! the entry point's function takes, and calls that.
//!
//! - A buffer is the pointer itself.
//! - A block of arguments passed by value, and the push constants, are private variables with the
//!   block's layout, to which the arguments are stored: those that are one member of it as that,
//!   all others as bytes. What a launch has to fill in is, too.
//! - A private variable of the module is one of the kernel.

use std::collections::{HashMap, HashSet};

use rspirv::spirv::{
    BuiltIn, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    FunctionParameterAttribute, MemoryAccess, Op, SamplerAddressingMode, SamplerFilterMode,
    StorageClass,
};

use super::super::decode::{Result, literal_string};
use super::super::rules::Rule;
use super::body::FunctionLowering;
use super::globals::is_work_group_size;
use super::reflection::{
    Argument, Became, Descriptor, InBlock, KernelSource, LaunchNumber, LaunchVector, Reflection,
};
use super::resources::{Resources, Role, descriptor_of, is_in, length_spec_id};
use super::source::{Source, SourceId, SourceInst, Variable};
use super::writer::{Section, Writer, literal, with};

/// Numbers of `clGetKernelArgInfo`, of address and access qualifiers.
const ADDRESS_CONSTANT: u32 = 0x119d;
const ACCESS: [(u32, &str); 3] = [
    (0x11a0, "read_only"),
    (0x11a1, "write_only"),
    (0x11a2, "read_write"),
];
/// Bits of its type qualifiers.
const QUALIFIERS: [(u32, &str); 3] = [(1, "const"), (2, "restrict"), (4, "volatile")];

pub(super) fn make(
    source: &Source<'_>,
    reflection: &Reflection<'_>,
    resources: &Resources<'_>,
    writer: &mut Writer,
) -> Result<()> {
    let mut modes: HashMap<SourceId, Vec<&SourceInst<'_>>> = HashMap::new();
    for inst in source.global_insts() {
        if let (Op::ExecutionMode | Op::ExecutionModeId, Some(&of)) =
            (inst.op(), inst.operands.first())
        {
            modes.entry(of).or_default().push(inst);
        }
    }
    let size = source.global_insts().iter().find(|inst| {
        matches!(inst.op(), Op::ConstantComposite | Op::SpecConstantComposite)
            && inst.result.is_some_and(|id| is_work_group_size(source, id))
    });
    let data = module_data(reflection, writer);
    let mut made = HashSet::new();
    for inst in source.global_insts() {
        if inst.op() != Op::EntryPoint {
            continue;
        }
        let name = literal_string(&inst.operands[2..]).unwrap_or_default();
        let error = |message: String| {
            let error = source.error(inst, message);
            Err(error.under(Rule::Reflection("Binary Form")))
        };
        if inst.operands[0] != ExecutionModel::GLCompute as u32 {
            return error("the execution model is not GLCompute".to_string());
        }
        let function = inst.operands[1];
        let kernel = reflection.by_name.get(&name);
        let kernel = kernel.map(|&at| &reflection.kernels[at]);
        let Some(kernel) = kernel.filter(|kernel| kernel.function == function) else {
            return error(format!(
                "the entry point {name:?} has no reflection as a kernel"
            ));
        };
        if !made.insert(name.clone()) {
            return error(format!("there is a second entry point named {name:?}"));
        }
        let maker = KernelMaker {
            source,
            reflection,
            resources,
            kernel,
            data: &data,
            params: Vec::new(),
            lowering: FunctionLowering::new(source, resources, writer),
        };
        let id = maker.kernel(inst)?;
        let operands = [&[ExecutionModel::Kernel as u32, id][..], &literal(&name)].concat();
        writer.entries.inst(inst.offset, Op::EntryPoint, &operands);
        let modes = modes.get(&function).map_or(&[][..], Vec::as_slice);
        execution_modes(reflection, kernel, modes, size, id, writer);
    }
    if made.is_empty() {
        let model = source
            .global_insts()
            .iter()
            .find(|i| i.op() == Op::MemoryModel);
        if let Some(model) = model {
            return Err(source.error(model, "the module has no entry point"));
        }
    }
    Ok(())
}

/// The variables of the data that the module brings.
struct Data {
    by_descriptor: HashMap<Descriptor, SourceId>,
    /// Those whose addresses are push constants.
    pointed: Vec<SourceId>,
}

fn module_data(reflection: &Reflection<'_>, writer: &mut Writer) -> Data {
    let by_descriptor = reflection.data.iter().map(|(&of, data)| {
        let variable = data_variable(writer, data.inst.offset, &data.bytes);
        (of, variable)
    });
    let by_descriptor = by_descriptor.collect();
    let pointed = reflection.pointed_data.iter();
    let pointed = pointed.map(|data| data_variable(writer, data.inst.offset, &data.bytes));
    Data {
        by_descriptor,
        pointed: pointed.collect(),
    }
}

fn data_variable(writer: &mut Writer, place: u32, bytes: &[u8]) -> SourceId {
    writer.place = place;
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().max(1).next_multiple_of(4), 0);
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let word = writer.int(32);
    let array = writer.array(word, words.len() as u32);
    let init = writer.data(array, &words);
    let class = StorageClass::CrossWorkgroup;
    let pointer = writer.pointer(class, array);
    let id = writer.fresh();
    let operands = [pointer, id, class as u32, init];
    writer.globals.inst(place, Op::Variable, &operands);
    // Whatever is in it begins where it may.
    let operands = [id, Decoration::Alignment as u32, 128];
    writer.annotations.inst(place, Op::Decorate, &operands);
    id
}

fn execution_modes(
    reflection: &Reflection<'_>,
    kernel: &KernelSource<'_>,
    modes: &[&SourceInst<'_>],
    size: Option<&SourceInst<'_>>,
    id: SourceId,
    writer: &mut Writer,
) {
    let of_launch = reflection
        .launch_numbers
        .values()
        .any(|what| matches!(what, LaunchNumber::LocalSize(_)));
    let place = kernel.inst.offset;
    let mut own_size = false;
    // "WorkgroupSize": such a constant is stronger than the execution mode.
    match (kernel.required_size, size) {
        (Some(size), _) => {
            let mode = [id, ExecutionMode::LocalSize as u32];
            writer
                .modes
                .inst(place, Op::ExecutionMode, &with(&mode, &size));
        }
        (None, _) if of_launch => {}
        (None, Some(constant)) => {
            let mode = [id, ExecutionMode::LocalSizeId as u32];
            let operands = with(&mode, constant.operands);
            writer.modes.inst(place, Op::ExecutionModeId, &operands);
        }
        (None, None) => own_size = true,
    }
    for inst in modes {
        let size = inst.operands.get(1).is_some_and(|&mode| {
            mode == ExecutionMode::LocalSize as u32 || mode == ExecutionMode::LocalSizeId as u32
        });
        if own_size || !size {
            let operands = with(&[id], &inst.operands[1..]);
            writer.modes.inst(inst.offset, inst.op(), &operands);
        }
    }
}

struct KernelMaker<'k, 'a> {
    source: &'k Source<'a>,
    reflection: &'k Reflection<'a>,
    resources: &'k Resources<'a>,
    kernel: &'k KernelSource<'a>,
    /// The variables of the module's data.
    data: &'k Data,
    /// By ordinal, what the host's arguments come as.
    params: Vec<Param>,
    lowering: FunctionLowering<'k, 'a>,
}

/// A parameter of the kernel.
#[derive(Clone, Copy)]
struct Param {
    ty: SourceId,
    id: SourceId,
    /// For an address, that it is of a structure of so many bytes.
    bytes: Option<u32>,
}

impl KernelMaker<'_, '_> {
    /// Makes the kernel; its function's id.
    fn kernel(mut self, entry: &SourceInst<'_>) -> Result<SourceId> {
        let kernel = self.kernel;
        self.lowering.at(&kernel.inst);
        let place = kernel.inst.offset;
        let function = kernel.function;
        let variables: Vec<Variable<'_>> = self.resources.needs(function).copied().collect();
        for ordinal in 0..kernel.count {
            let param = self.param(ordinal, &variables)?;
            self.params.push(param);
        }
        let inits = variables.iter().filter_map(|variable| variable.init);
        self.lowering.launch_constants(inits.collect())?;
        self.lowering.at(&kernel.inst);
        let mut operands = vec![function];
        for variable in &variables {
            operands.push(self.resource(entry, variable)?);
        }
        let void = self.lowering.writer.void();
        self.lowering.emit(Op::FunctionCall, void, &operands);
        self.lowering.body.inst(place, Op::Return, &[]);
        self.describe();

        let mut out = Section::default();
        let types: Vec<SourceId> = self.params.iter().map(|param| param.ty).collect();
        let writer = &mut *self.lowering.writer;
        let ty = writer.function_type(void, &types);
        let id = writer.fresh();
        let control = FunctionControl::NONE.bits();
        out.inst(place, Op::Function, &[void, id, control, ty]);
        for param in &self.params {
            out.inst(place, Op::FunctionParameter, &[param.ty, param.id]);
        }
        let label = writer.fresh();
        out.inst(place, Op::Label, &[label]);
        self.lowering.finish(out);
        Ok(id)
    }

    fn writer(&mut self) -> &mut Writer {
        self.lowering.writer
    }

    fn error(
        &self,
        argument: &Argument<'_>,
        message: impl Into<String>,
    ) -> crate::diagnostic::Diagnostic {
        self.source
            .error(&argument.inst, message)
            .under(Rule::Reflection("Binary Form"))
    }

    /// The variables that are a block.
    fn of_block<'v, 'a>(
        &self,
        variables: &'v [Variable<'a>],
        block: InBlock,
    ) -> impl Iterator<Item = &'v Variable<'a>> {
        variables.iter().filter(move |variable| match block {
            InBlock::PushConstant => variable.class == StorageClass::PushConstant,
            InBlock::Descriptor(of) => {
                variable.class != StorageClass::PushConstant
                    && descriptor_of(self.source, variable.id) == Some(of)
            }
        })
    }

    fn param(&mut self, ordinal: u32, variables: &[Variable<'_>]) -> Result<Param> {
        let Some(argument) = self.kernel.arguments.get(&ordinal) else {
            let message = format!(
                "the argument {ordinal} of {:?} is not described: nothing uses it, and what the \
                 host sets it to is not known",
                self.kernel.name
            );
            return Err(self
                .source
                .error(&self.kernel.inst, message)
                .under(Rule::Reflection("Binary Form")));
        };
        let byte = self.writer().int(8);
        let id = self.writer().fresh();
        let mut bytes = None;
        let ty = match argument.became {
            Became::Buffer { uniform, .. } => {
                let told = argument.info.as_ref().and_then(|info| info.address);
                let constant = told.map_or(uniform, |address| address == ADDRESS_CONSTANT);
                let class = match constant {
                    true => StorageClass::UniformConstant,
                    false => StorageClass::CrossWorkgroup,
                };
                self.writer().pointer(class, byte)
            }
            Became::Address { size, .. } => {
                if size != 8 {
                    return Err(self.error(argument, format!("an address of {size} bytes")));
                }
                self.writer().pointer(StorageClass::CrossWorkgroup, byte)
            }
            Became::Local { .. } => self.writer().pointer(StorageClass::Workgroup, byte),
            Became::Bytes { of, offset, size } => {
                let (offset, wanted) = (u64::from(offset), u64::from(size));
                let part = self
                    .of_block(variables, of)
                    .find_map(|variable| self.source.part_at(variable.pointee, offset, wanted));
                let part = part.filter(|(_, ty)| self.source.numbers(*ty).is_some());
                match part {
                    Some((_, ty)) => ty,
                    None if size == 0 => return Err(self.error(argument, "no bytes")),
                    None => {
                        bytes = Some(size);
                        let array = self.writer().array(byte, size);
                        let structure = self.writer().structure(&[array]);
                        self.writer().pointer(StorageClass::Function, structure)
                    }
                }
            }
            Became::Image(of) | Became::Sampler(of) => {
                let mut found = variables.iter().filter(|variable| {
                    self.resources.role(variable.id) == Some(Role::Object)
                        && descriptor_of(self.source, variable.id) == Some(of)
                });
                match found.next() {
                    Some(variable) => variable.pointee,
                    None => {
                        let message = "no variable is the object, so what it is is not known";
                        return Err(self.error(argument, message));
                    }
                }
            }
        };
        if bytes.is_some() {
            let by_value = FunctionParameterAttribute::ByVal as u32;
            let operands = [id, Decoration::FuncParamAttr as u32, by_value];
            let place = argument.inst.offset;
            self.writer()
                .annotations
                .inst(place, Op::Decorate, &operands);
        }
        Ok(Param { ty, id, bytes })
    }

    /// What the entry point's function is given for a variable.
    fn resource(&mut self, entry: &SourceInst<'_>, variable: &Variable<'_>) -> Result<SourceId> {
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
                let of_data = || self.data.by_descriptor.get(&descriptor?).copied();
                let param = argument(&|became| became.descriptor() == descriptor);
                let Some(address) = param.map(|param| param.id).or_else(of_data) else {
                    return missing("which buffer it is");
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
            Some(Role::Private | Role::Table) | None => {
                let init = variable.init;
                let of_launch = init.filter(|&init| self.resources.is_launch(init));
                let init = init.filter(|_| of_launch.is_none());
                let id = self.lowering.variable(variable.pointee, init);
                if let Some(init) = of_launch {
                    let value = self.lowering.mapped(init);
                    self.store(id, value, None);
                }
                Ok(id)
            }
        }
    }

    fn store(&mut self, address: SourceId, value: SourceId, align: Option<u32>) {
        let mut operands = vec![address, value];
        if let Some(align) = align {
            operands.extend([MemoryAccess::ALIGNED.bits(), align]);
        }
        let place = self.lowering.place;
        self.lowering.body.inst(place, Op::Store, &operands);
    }

    fn cast(&mut self, address: SourceId, class: StorageClass, pointee: SourceId) -> SourceId {
        let ty = self.writer().pointer(class, pointee);
        self.lowering.emit(Op::Bitcast, ty, &[address])
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

    /// The three numbers of a built-in variable.
    fn built_in(&mut self, which: BuiltIn) -> SourceId {
        let address = self.writer().built_in(which, 3);
        let lane = self.writer().int(32);
        let ty = self.writer().vector(lane, 3);
        self.lowering.emit(Op::Load, ty, &[address])
    }

    /// A block of arguments: a private variable of its layout.
    fn block(&mut self, variable: &Variable<'_>) -> Result<SourceId> {
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
        self.store_formats(variable, id, block)?;
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
        if !self.is_inside(&argument.inst, variable, offset, size)? {
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
            let bytes = self.writer().u32(bytes);
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

    /// What kernels ask of images' formats: the numbers of the API, which count from these.
    fn store_formats(
        &mut self,
        variable: &Variable<'_>,
        block: SourceId,
        of: InBlock,
    ) -> Result<()> {
        const FIRST_ORDER: u32 = 0x10b0;
        const FIRST_DATA_TYPE: u32 = 0x10d0;
        let kernel = self.kernel;
        for format in kernel.formats.iter().filter(|format| format.of == of) {
            let offset = u64::from(format.offset);
            if !self.is_inside(&format.inst, variable, offset, 4)? {
                continue;
            }
            let argument = kernel.arguments.get(&format.ordinal);
            let image = argument.filter(|argument| matches!(argument.became, Became::Image(_)));
            if image.is_none() {
                let message = format!("the argument {} is not an image", format.ordinal);
                return Err(self
                    .source
                    .error(&format.inst, message)
                    .under(Rule::Reflection("Binary Form")));
            }
            let image = self.params[format.ordinal as usize].id;
            let (query, first) = match format.order {
                true => (Op::ImageQueryOrder, FIRST_ORDER),
                false => (Op::ImageQueryFormat, FIRST_DATA_TYPE),
            };
            let word = self.writer().int(32);
            let number = self.lowering.emit(query, word, &[image]);
            let first = self.writer().u32(first);
            let value = self.lowering.emit(Op::IAdd, word, &[number, first]);
            self.store_word(variable, block, offset, value);
        }
        Ok(())
    }

    /// The addresses of data of the module that are push constants.
    fn store_pointers(&mut self, variable: &Variable<'_>, block: SourceId) -> Result<()> {
        let reflection = self.reflection;
        for (data, &address) in reflection.pointed_data.iter().zip(&self.data.pointed) {
            let offset = u64::from(data.offset);
            if self.is_inside(&data.inst, variable, offset, 8)? {
                self.store_address(variable, block, offset, address);
            }
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

    /// The strings that describe a kernel's arguments, as LLVM's translator writes them.
    fn describe(&mut self) {
        let kernel = self.kernel;
        let mut list = |what: &str, text: &dyn Fn(&Argument<'_>) -> String| {
            let of = |ordinal| kernel.arguments.get(&ordinal).map_or(String::new(), text);
            let texts: Vec<String> = (0..kernel.count).map(of).collect();
            if texts.iter().any(|text| !text.is_empty()) {
                let text = format!("{what}.{}.{},", kernel.name, texts.join(","));
                let id = self.lowering.writer.fresh();
                let place = self.lowering.place;
                let operands = with(&[id], &literal(&text));
                self.lowering
                    .writer
                    .debug
                    .inst(place, Op::String, &operands);
            }
        };
        list("kernel_arg_name", &|argument| {
            argument
                .info
                .as_ref()
                .map_or(String::new(), |info| info.name.clone())
        });
        list("kernel_arg_type", &|argument| {
            let info = argument.info.as_ref();
            info.and_then(|info| info.type_name.clone())
                .unwrap_or_default()
        });
        list("kernel_arg_access_qual", &|argument| {
            let told = argument.info.as_ref().and_then(|info| info.access);
            let name = ACCESS.iter().find(|(number, _)| Some(*number) == told);
            name.map_or(String::new(), |(_, name)| name.to_string())
        });
        list("kernel_arg_type_qual", &|argument| {
            let told = argument.info.as_ref().and_then(|info| info.qualifiers);
            let told = told.unwrap_or(0);
            let names = QUALIFIERS.iter().filter(|(bit, _)| told & bit != 0);
            let names: Vec<&str> = names.map(|(_, name)| *name).collect();
            names.join(" ")
        });
    }
}
