//! Modules of Vulkan's environment, as compilers of OpenCL C for Vulkan write them, to modules of
//! OpenCL's.
//!
//! Such a module has entry points without parameters, variables in descriptor sets, and a logical
//! addressing model. The non-semantic instructions of `NonSemantic.ClspvReflection` say of which
//! OpenCL kernels it was made. With these a kernel can be made again:
//!
//! ```text
//! words -> source.rs      the module, by the ids that it has itself; which operands are ids:
//!                         id_operands.rs
//!       -> reflection.rs  kernels and their arguments, what a launch decides, data of the module;
//!                         read by reader.rs
//!       -> resources.rs   which function uses which variable, and what each variable becomes
//!       -> globals.rs     capabilities to variables, for OpenCL
//!       -> body.rs        functions: what they use of a kernel's they get as parameters
//!       -> kernels.rs     a kernel for each entry point, with the parameters of the source, which
//!                         makes of its arguments what the entry point's function takes: given.rs,
//!                         blocks.rs for blocks of them, describe.rs for what the host is told;
//!                         module_data.rs for what the module brings itself
//!       -> writer.rs      words again, and where each instruction comes from
//! ```
//!
//! `glsl.rs` has the instructions of `GLSL.std.450` by those of `OpenCL.std` and the core.
//!
//! What comes out is translated like any other module, so this trusts nothing either, and checks
//! no more than what it relies on: what it copies is checked where it is translated. What it does
//! not know is refused.

mod blocks;
mod body;
mod describe;
mod given;
mod globals;
mod glsl;
mod id_operands;
mod kernels;
mod module_data;
mod reader;
mod reflection;
mod resources;
mod source;
mod writer;

use std::borrow::Cow;

use rspirv::spirv::{self, AddressingModel, Capability, Op};

use super::decode::{Binary, Lowered, Result};
use reflection::Reflection;

/// Decodes modules of either environment into one id space. Those of Vulkan's are lowered.
pub(super) fn decode(modules: &[&[u32]]) -> Result<Binary> {
    let mut lowered = Vec::new();
    for words in modules {
        lowered.push(match is_of_vulkan(words) {
            true => Some(lower(words)?),
            false => None,
        });
    }
    let words: Vec<&[u32]> = modules
        .iter()
        .zip(&lowered)
        .map(|(&words, lowered)| lowered.as_ref().map_or(words, |(words, _)| words))
        .collect();
    let mut binary = Binary::decode(&words)?;
    binary.lowered = (0..)
        .zip(lowered)
        .filter_map(|(index, lowered)| Some((index, lowered?.1)))
        .collect();
    Ok(binary)
}

/// Whether a module is for Vulkan: it declares `Shader`, and its memory is not addressed the
/// physical way.
fn is_of_vulkan(words: &[u32]) -> bool {
    let swap = words.first().map(|word| word.swap_bytes()) == Some(spirv::MAGIC_NUMBER);
    let word = |at: usize| {
        let word = words.get(at).copied()?;
        Some(if swap { word.swap_bytes() } else { word })
    };
    let mut shader = false;
    let mut at = 5;
    // "Logical Layout of a Module": these come first.
    while let Some(first) = word(at) {
        let (opcode, length) = (first & 0xffff, (first >> 16) as usize);
        if opcode == Op::Capability as u32 {
            shader |= word(at + 1) == Some(Capability::Shader as u32);
        } else if opcode == Op::MemoryModel as u32 {
            let logical = [
                AddressingModel::Logical as u32,
                AddressingModel::PhysicalStorageBuffer64 as u32,
            ];
            return shader && word(at + 1).is_some_and(|model| logical.contains(&model));
        } else if opcode >= Op::TypeVoid as u32 && opcode <= Op::FunctionCall as u32 {
            return false;
        }
        if length == 0 {
            return false;
        }
        at += length;
    }
    false
}

/// Whether work-groups of a launch may differ in size for what a module asks: one of Vulkan's
/// environment is launched in parts, each of groups of one size, and has to be compiled so.
pub(super) fn may_differ_in_size(words: &[u32]) -> bool {
    if !is_of_vulkan(words) {
        return true;
    }
    let words = in_host_order(words);
    let Ok(binary) = Binary::decode(&[&words]) else {
        return true;
    };
    let source = source::Source::read(&binary, &words);
    let reflection = source.and_then(|source| Ok(Reflection::read(&source)?.knows_regions()));
    reflection.unwrap_or(true)
}

fn in_host_order(words: &[u32]) -> Cow<'_, [u32]> {
    match words.first() {
        Some(&spirv::MAGIC_NUMBER) => words.into(),
        _ => words.iter().map(|word| word.swap_bytes()).collect(),
    }
}

fn lower(words: &[u32]) -> Result<(Vec<u32>, Lowered)> {
    let words = &*in_host_order(words);
    let binary = Binary::decode(&[words])?;
    let source = source::Source::read(&binary, words)?;
    let reflection = Reflection::read(&source)?;
    let resources = resources::Resources::find(&source, &reflection)?;
    let mut writer = writer::Writer::new(&source);
    globals::lower(&source, &reflection, &resources, &mut writer)?;
    body::lower(&source, &reflection, &resources, &mut writer)?;
    kernels::make(&source, &reflection, &resources, &mut writer)?;
    writer.finish()
}
