//! What is outside of functions: copied, but for what OpenCL's modules have otherwise.

use std::collections::HashSet;

use rspirv::spirv::{
    AccessQualifier, AddressingModel, BuiltIn, Capability, Decoration, ImageFormat, MemoryModel,
    Op, StorageClass,
};

use super::super::decode::Result;
use super::super::rules::Rule;
use super::reflection::Reflection;
use super::resources::{Resources, Role};
use super::source::{Source, SourceId, SourceInst};
use super::writer::{Section, Writer, literal, with};

/// The storage class that pointers of one become.
pub(super) fn lowered_class(class: StorageClass) -> StorageClass {
    match class {
        StorageClass::StorageBuffer
        | StorageClass::Uniform
        | StorageClass::PhysicalStorageBuffer => StorageClass::CrossWorkgroup,
        StorageClass::PushConstant | StorageClass::Private => StorageClass::Function,
        class => class,
    }
}

/// An instruction as it is.
pub(super) fn copy(section: &mut Section, inst: &SourceInst<'_>) {
    copy_with(section, inst, inst.ty, inst.operands);
}

/// An instruction with another result type and operands.
pub(super) fn copy_with(
    section: &mut Section,
    inst: &SourceInst<'_>,
    ty: Option<SourceId>,
    operands: &[u32],
) {
    let first: Vec<u32> = ty.into_iter().chain(inst.result).collect();
    let opcode = inst.opcode();
    section.raw(inst.offset, opcode, &with(&first, operands));
}

pub(super) fn lower(
    source: &Source<'_>,
    reflection: &Reflection<'_>,
    resources: &Resources<'_>,
    writer: &mut Writer,
) -> Result<()> {
    check_aliases(source)?;
    let read = images_read(source);
    for inst in source.global_insts() {
        writer.place = inst.offset;
        match inst.op() {
            Op::Capability | Op::Extension => copy(&mut writer.heads, inst),
            Op::ExtInstImport => {
                let id = inst.result.unwrap_or(0);
                let dropped = source
                    .sets
                    .get(&id)
                    .is_some_and(|name| name == "GLSL.std.450");
                if !dropped && !reflection.sets.contains(&id) {
                    copy(&mut writer.heads, inst);
                }
            }
            Op::MemoryModel => memory_model(source, inst, writer)?,
            Op::EntryPoint | Op::ExecutionMode | Op::ExecutionModeId => {}
            Op::String | Op::Source | Op::SourceContinued | Op::SourceExtension => {
                copy(&mut writer.debug, inst);
            }
            Op::Name | Op::MemberName | Op::ModuleProcessed => copy(&mut writer.names, inst),
            Op::Decorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorate
            | Op::MemberDecorateString => annotation(source, resources, inst, writer)?,
            Op::ExtInst => {
                if !reflection.sets.contains(&inst.operands[0]) {
                    copy(&mut writer.globals, inst);
                }
            }
            Op::Variable | Op::UntypedVariableKHR => variable(source, resources, inst, writer)?,
            op if op.is_type() || op == Op::TypeForwardPointer => {
                type_declaration(source, resources, &read, inst, writer)?;
            }
            _ if inst.result.is_some_and(|id| resources.is_launch(id)) => {}
            _ => copy(&mut writer.globals, inst),
        }
    }
    Ok(())
}

/// Blocks in work-group memory that are `Aliased` are all at one place, as variables never are.
fn check_aliases(source: &Source<'_>) -> Result<()> {
    let mut aliased = source.variables.iter().filter(|variable| {
        variable.class == StorageClass::Workgroup
            && source
                .decoration(variable.id, Decoration::Aliased)
                .is_some()
            && source
                .decoration(variable.pointee, Decoration::Block)
                .is_some()
    });
    match aliased.nth(1) {
        Some(variable) => {
            let message = "work-group variables that share their memory are not supported";
            Err(source
                .error(&variable.inst, message)
                .under(Rule::Vulkan("Vulkan Environment for SPIR-V")))
        }
        None => Ok(()),
    }
}

fn memory_model(source: &Source<'_>, inst: &SourceInst<'_>, writer: &mut Writer) -> Result<()> {
    const KNOWN: [u32; 2] = [MemoryModel::GLSL450 as u32, MemoryModel::Vulkan as u32];
    if !KNOWN.contains(&inst.operands[1]) {
        let message = "the memory model of a shader is neither GLSL450 nor Vulkan";
        return Err(source
            .error(inst, message)
            .under(Rule::Vulkan("Vulkan Environment for SPIR-V")));
    }
    let id = writer.opencl_std;
    let heads = &mut writer.heads;
    for capability in [Capability::Kernel, Capability::Addresses] {
        heads.inst(inst.offset, Op::Capability, &[capability as u32]);
    }
    let import = with(&[id], &literal("OpenCL.std"));
    heads.inst(inst.offset, Op::ExtInstImport, &import);
    let operands = [
        AddressingModel::Physical64 as u32,
        MemoryModel::OpenCL as u32,
    ];
    heads.inst(inst.offset, Op::MemoryModel, &operands);
    Ok(())
}

fn annotation(
    source: &Source<'_>,
    resources: &Resources<'_>,
    inst: &SourceInst<'_>,
    writer: &mut Writer,
) -> Result<()> {
    let (target, decoration) = match (inst.op(), inst.operands) {
        (Op::MemberDecorate | Op::MemberDecorateString, &[target, _, decoration, ..])
        | (_, &[target, decoration, ..]) => (target, Decoration::from_u32(decoration)),
        _ => return Ok(()),
    };
    match decoration {
        Some(
            Decoration::Block
            | Decoration::BufferBlock
            | Decoration::DescriptorSet
            | Decoration::Binding,
        ) => return Ok(()),
        Some(Decoration::SpecId) if resources.is_launch(target) => return Ok(()),
        Some(Decoration::BuiltIn)
            if resources.variables.contains_key(&target) || is_work_group_size(source, target) =>
        {
            return Ok(());
        }
        // Accesses are.
        Some(Decoration::Volatile) => return Ok(()),
        _ => {}
    }
    copy(&mut writer.annotations, inst);
    Ok(())
}

/// Whether a constant is the size of work-groups.
pub(super) fn is_work_group_size(source: &Source<'_>, constant: SourceId) -> bool {
    let definition = source.definition(constant);
    definition.is_some_and(|inst| inst.op().is_constant())
        && source.decorated_number(constant, Decoration::BuiltIn)
            == Some(BuiltIn::WorkgroupSize as u32)
}

fn variable(
    source: &Source<'_>,
    resources: &Resources<'_>,
    inst: &SourceInst<'_>,
    writer: &mut Writer,
) -> Result<()> {
    let id = inst.result.unwrap_or(0);
    match (resources.variables.get(&id), resources.role(id)) {
        (Some(variable), Some(Role::Table)) => {
            let class = Role::Table.class();
            let ty = writer.pointer(class, variable.pointee);
            let operands = [ty, id, class as u32].into_iter().chain(variable.init);
            let operands: Vec<u32> = operands.collect();
            writer.globals.inst(inst.offset, Op::Variable, &operands);
        }
        (Some(_), _) => {}
        (None, _) => {
            let of_group = inst.operands[0] == StorageClass::Workgroup as u32;
            let most = if inst.op() == Op::Variable { 1 } else { 2 };
            if of_group && inst.operands.len() > most {
                let message = "work-group variables with initializers are not supported";
                return Err(source.error(inst, message));
            }
            copy(&mut writer.globals, inst);
        }
    }
    Ok(())
}

fn type_declaration(
    source: &Source<'_>,
    resources: &Resources<'_>,
    read: &HashSet<SourceId>,
    inst: &SourceInst<'_>,
    writer: &mut Writer,
) -> Result<()> {
    let class = |word: u32| match StorageClass::from_u32(word) {
        Some(class) => Ok(lowered_class(class) as u32),
        None => Err(source.error(inst, format!("unknown storage class {word}"))),
    };
    let operands = match (inst.op(), inst.operands) {
        // "Types": OpenCL's integers have no sign.
        (Op::TypeInt, &[bits, _]) => vec![bits, 0],
        (Op::TypePointer, &[of, pointee]) => vec![class(of)?, pointee],
        (Op::TypeUntypedPointerKHR, &[of]) => vec![class(of)?],
        (Op::TypeForwardPointer, &[pointer, of]) => vec![pointer, class(of)?],
        (Op::TypeArray, &[_, length]) if resources.is_launch(length) => {
            let message = "how long an array is may not depend on what a launch decides";
            return Err(source.error(inst, message));
        }
        (Op::TypeRuntimeArray, &[element]) => {
            // How long it is nobody asks: addresses are computed of what it consists of.
            let one = writer.u32(1);
            let id = inst.result.unwrap_or(0);
            writer
                .globals
                .inst(inst.offset, Op::TypeArray, &[id, element, one]);
            return Ok(());
        }
        (Op::TypeImage, &[_, dim, depth, arrayed, samples, sampled, ..]) => {
            let access = match sampled {
                1 => AccessQualifier::ReadOnly,
                2 if read.contains(&inst.result.unwrap_or(0)) => AccessQualifier::ReadWrite,
                2 => AccessQualifier::WriteOnly,
                _ => return Err(source.error(inst, "whether the image is sampled is left open")),
            };
            let format = ImageFormat::Unknown as u32;
            let depth = depth & 1;
            let void = writer.void();
            vec![void, dim, depth, arrayed, samples, 0, format, access as u32]
        }
        (Op::TypeMatrix | Op::TypeAccelerationStructureKHR | Op::TypeRayQueryKHR, _) => {
            return Err(source.unsupported(inst));
        }
        (_, operands) => operands.to_vec(),
    };
    copy_with(&mut writer.globals, inst, None, &operands);
    Ok(())
}

/// The types of images that are read without a sampler.
fn images_read(source: &Source<'_>) -> HashSet<SourceId> {
    let all = source.functions().flat_map(|function| function.insts);
    all.filter(|inst| inst.op() == Op::ImageRead)
        .filter_map(|inst| source.type_of(*inst.operands.first()?))
        .collect()
}
