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
    FunctionParameterAttribute, MemoryAccess, Op, StorageClass,
};

use super::super::decode::{Result, literal_string};
use super::super::rules::Rule;
use super::body::FunctionLowering;
use super::globals::is_work_group_size;
use super::module_data;
use super::reflection::{Argument, Became, InBlock, KernelSource, LaunchNumber, Reflection};
use super::resources::{Need, Resources, Role, descriptor_of};
use super::source::{Source, SourceId, SourceInst, Variable};
use super::writer::{Section, Writer, literal, with};
use crate::kernel_info::Implicit;

/// The number of `clGetKernelArgInfo` for the address qualifier.
const ADDRESS_CONSTANT: u32 = 0x119d;

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
    let data = module_data::make(source, reflection, resources, writer)?;
    let printf = reflection.printf_buffer();
    let mut made = HashSet::new();
    for inst in source.global_insts() {
        if inst.op() != Op::EntryPoint {
            continue;
        }
        let kernel = kernel_of(source, reflection, inst)?;
        if !made.insert(&kernel.name) {
            let message = format!("there is a second entry point named {:?}", kernel.name);
            let error = source.error(inst, message);
            return Err(error.under(Rule::Reflection("Binary Form")));
        }
        let maker = KernelMaker {
            source,
            reflection,
            resources,
            kernel,
            data: &data,
            printf: printf.as_ref(),
            params: Vec::new(),
            implicit: Vec::new(),
            lowering: FunctionLowering::new(source, resources, writer),
        };
        let id = maker.kernel(inst)?;
        let name = literal(&kernel.name);
        let operands = [&[ExecutionModel::Kernel as u32, id][..], &name].concat();
        writer.entries.inst(inst.offset, Op::EntryPoint, &operands);
        let modes = modes.get(&kernel.function).map_or(&[][..], Vec::as_slice);
        let known = (reflection, resources);
        execution_modes(known, kernel, modes, size, id, writer);
    }
    let model = source.insts.iter().find(|i| i.op() == Op::MemoryModel);
    match (made.is_empty(), model) {
        (true, Some(model)) => Err(source.error(model, "the module has no entry point")),
        _ => Ok(()),
    }
}

/// The kernel that an entry point is.
fn kernel_of<'r, 'a>(
    source: &Source<'_>,
    reflection: &'r Reflection<'a>,
    entry: &SourceInst<'_>,
) -> Result<&'r KernelSource<'a>> {
    let name = literal_string(&entry.operands[2..]).unwrap_or_default();
    let error = |message: String| {
        let error = source.error(entry, message);
        Err(error.under(Rule::Reflection("Binary Form")))
    };
    if entry.operands[0] != ExecutionModel::GLCompute as u32 {
        return error("the execution model is not GLCompute".to_string());
    }
    let kernel = reflection.by_name.get(&name);
    let kernel = kernel.map(|&at| &reflection.kernels[at]);
    match kernel.filter(|kernel| kernel.function == entry.operands[1]) {
        Some(kernel) => Ok(kernel),
        None => error(format!(
            "the entry point {name:?} has no reflection as a kernel"
        )),
    }
}

fn execution_modes(
    (reflection, resources): (&Reflection<'_>, &Resources<'_>),
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
    // "LocalSizeId": of ids that no launch specializes, it is the kernel's own.
    let is_own = |inst: &&SourceInst<'_>| match inst.operands {
        [_, mode, ids @ ..] => {
            *mode == ExecutionMode::LocalSizeId as u32
                && !ids.iter().any(|&id| resources.is_launch(id))
        }
        _ => false,
    };
    let mut own_size = false;
    // "WorkgroupSize": such a constant is stronger than the execution mode.
    match (kernel.required_size, size) {
        (Some(size), _) => {
            let mode = [id, ExecutionMode::LocalSize as u32];
            writer
                .modes
                .inst(place, Op::ExecutionMode, &with(&mode, &size));
        }
        (None, None) if modes.iter().any(is_own) => own_size = true,
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

pub(super) struct KernelMaker<'k, 'a> {
    pub source: &'k Source<'a>,
    pub reflection: &'k Reflection<'a>,
    pub resources: &'k Resources<'a>,
    pub kernel: &'k KernelSource<'a>,
    /// The variables of the module's data.
    pub data: &'k [SourceId],
    pub printf: Option<&'k Implicit>,
    /// By ordinal, what the host's arguments come as.
    pub params: Vec<Param>,
    /// What the driver sets, after them.
    pub implicit: Vec<(Param, ImplicitFor)>,
    pub lowering: FunctionLowering<'k, 'a>,
}

/// What a parameter that the driver sets is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ImplicitFor {
    Size(u32),
    Printf,
}

/// A parameter of the kernel.
#[derive(Clone, Copy)]
pub(super) struct Param {
    pub ty: SourceId,
    pub id: SourceId,
    /// For an address, that it is of a structure of so many bytes.
    pub bytes: Option<u32>,
}

impl KernelMaker<'_, '_> {
    /// Makes the kernel; its function's id.
    fn kernel(mut self, entry: &SourceInst<'_>) -> Result<SourceId> {
        let kernel = self.kernel;
        self.lowering.at(&kernel.inst);
        let place = kernel.inst.offset;
        let function = kernel.function;
        let needs: Vec<(Need, Variable<'_>)> = self
            .resources
            .needs(function)
            .map(|(need, variable)| (need, *variable))
            .collect();
        let variables: Vec<Variable<'_>> = needs.iter().map(|(_, variable)| *variable).collect();
        for ordinal in 0..kernel.count {
            let param = self.param(ordinal, &variables)?;
            self.params.push(param);
        }
        let inits = variables.iter().filter_map(|variable| variable.init);
        self.lowering.launch_constants(inits.collect())?;
        self.lowering.at(&kernel.inst);
        let mut operands = vec![function];
        for (need, variable) in &needs {
            operands.push(match need {
                Need::Variable(_) => self.resource(entry, variable)?,
                Need::Size(_) => self.size(entry, variable)?,
            });
        }
        let void = self.lowering.writer.void();
        self.lowering.emit(Op::FunctionCall, void, &operands);
        self.lowering.body.inst(place, Op::Return, &[]);
        self.describe();

        let mut out = Section::default();
        let implicit = self.implicit.iter().map(|(param, _)| param);
        let params: Vec<&Param> = self.params.iter().chain(implicit).collect();
        let types: Vec<SourceId> = params.iter().map(|param| param.ty).collect();
        let writer = &mut *self.lowering.writer;
        let ty = writer.function_type(void, &types);
        let id = writer.fresh();
        let control = FunctionControl::NONE.bits();
        out.inst(place, Op::Function, &[void, id, control, ty]);
        for param in params {
            out.inst(place, Op::FunctionParameter, &[param.ty, param.id]);
        }
        let label = writer.fresh();
        out.inst(place, Op::Label, &[label]);
        self.lowering.finish(out);
        Ok(id)
    }

    pub fn writer(&mut self) -> &mut Writer {
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
            return Ok(self.unused());
        };
        let byte = self.writer().int(8);
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
            Became::Address { size: 8, .. } => {
                self.writer().pointer(StorageClass::CrossWorkgroup, byte)
            }
            Became::Address { size, .. } => {
                return Err(self.error(argument, format!("an address of {size} bytes")));
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
                    None => return Ok(self.structure(argument, size)),
                }
            }
            Became::Image(of) | Became::Sampler(of) => {
                let mut found = variables.iter().filter(|variable| {
                    self.resources.role(variable.id) == Some(Role::Object)
                        && descriptor_of(self.source, variable.id) == Some(of)
                });
                match found.next() {
                    Some(variable) => variable.pointee,
                    // Which objects it takes is not known.
                    None => return Ok(self.unused()),
                }
            }
        };
        let id = self.writer().fresh();
        let bytes = None;
        Ok(Param { ty, id, bytes })
    }

    /// A parameter for an argument that nothing uses: it takes no room.
    fn unused(&mut self) -> Param {
        let ty = self.writer().structure(&[]);
        let id = self.writer().fresh();
        let bytes = None;
        Param { ty, id, bytes }
    }

    /// A parameter for bytes that are no single number: the address of a structure.
    fn structure(&mut self, argument: &Argument<'_>, size: u32) -> Param {
        let byte = self.writer().int(8);
        let array = self.writer().array(byte, size);
        let structure = self.writer().structure(&[array]);
        let ty = self.writer().pointer(StorageClass::Function, structure);
        let id = self.writer().fresh();
        let by_value = FunctionParameterAttribute::ByVal as u32;
        let operands = [id, Decoration::FuncParamAttr as u32, by_value];
        let place = argument.inst.offset;
        let annotations = &mut self.writer().annotations;
        annotations.inst(place, Op::Decorate, &operands);
        let bytes = Some(size);
        Param { ty, id, bytes }
    }

    pub fn store(&mut self, address: SourceId, value: SourceId, align: Option<u32>) {
        let mut operands = vec![address, value];
        if let Some(align) = align {
            operands.extend([MemoryAccess::ALIGNED.bits(), align]);
        }
        let place = self.lowering.place;
        self.lowering.body.inst(place, Op::Store, &operands);
    }

    pub fn cast(&mut self, address: SourceId, class: StorageClass, pointee: SourceId) -> SourceId {
        let ty = self.writer().pointer(class, pointee);
        self.lowering.emit(Op::Bitcast, ty, &[address])
    }

    /// The three numbers of a built-in variable.
    pub fn built_in(&mut self, which: BuiltIn) -> SourceId {
        let address = self.writer().built_in(which, 3);
        let lane = self.writer().int(32);
        let ty = self.writer().vector(lane, 3);
        self.lowering.emit(Op::Load, ty, &[address])
    }
}
