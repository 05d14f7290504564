//! OpenCL C for Vulkan: the module that [`compile`](crate::compile()) makes, lowered by
//! `brolga-opencl-c-vulkan`. What Vulkan cannot express is told like any other error, with the line
//! of the source.

use std::fmt::Write;

pub use brolga_opencl_c_vulkan::{Error, GlobalOffset, Options as Target, Pods, Version};

use crate::compile::{Input, compile};
use crate::options::{Define, Device, Options};

/// What compiling a source for Vulkan gave.
#[derive(Debug)]
pub struct Compiled {
    /// A module of Vulkan's environment with reflection; `None` after an error.
    pub words: Option<Vec<u32>>,
    /// How the host binds arguments, in comma-separated values.
    pub descriptor_map: String,
    /// Diagnostics as text; empty when there is nothing to say.
    pub log: String,
}

/// Compiles a source for Vulkan.
pub fn compile_for_vulkan(
    input: &Input<'_>,
    options: &Options,
    device: &Device,
    target: &Target,
) -> Compiled {
    let mut options = Options {
        // What lines and names there are is of use to the lowering.
        debug_info: true,
        kernel_arg_info: true,
        whole_program: true,
        narrow_sizes: !target.wide_sizes,
        ..options.clone()
    };
    let is_vulkan = Define::Define("VULKAN=100".to_owned());
    options.defines.insert(0, is_vulkan);
    let compiled = compile(input, &options, device);
    let mut result = Compiled {
        words: None,
        descriptor_map: String::new(),
        log: compiled.log,
    };
    let Some(words) = compiled.words else {
        return result;
    };
    match brolga_opencl_c_vulkan::lower(&words, target) {
        Ok(module) => {
            result.words = Some(module.words);
            result.descriptor_map = module.descriptor_map;
        }
        Err(errors) => {
            for error in &errors {
                render(&mut result.log, input, error);
            }
            let plural = if errors.len() > 1 { "s" } else { "" };
            let _ = writeln!(result.log, "{} error{plural} generated.", errors.len());
        }
    }
    result
}

/// An error, the line, and a caret below it.
fn render(log: &mut String, input: &Input<'_>, error: &Error) {
    let Some((file, line, column)) = &error.place else {
        let _ = writeln!(log, "{}: error: {}", input.name, error.message);
        return;
    };
    let _ = writeln!(log, "{file}:{line}:{column}: error: {}", error.message);
    let header = input.headers.iter().find(|(name, _)| name == file);
    let on_disk;
    let source = match header {
        _ if file == input.name => input.source,
        Some((_, text)) => text,
        None => {
            on_disk = std::fs::read_to_string(file).unwrap_or_default();
            &on_disk
        }
    };
    let text = source.lines().nth(line.saturating_sub(1) as usize);
    if let Some(text) = text.filter(|text| text.len() <= 240) {
        // Tabs stay, so that the caret is below its place.
        let before = text.chars().take(column.saturating_sub(1) as usize);
        let blank: String = before.map(|c| if c == '\t' { c } else { ' ' }).collect();
        let _ = writeln!(log, "{text}\n{blank}^");
    }
}
