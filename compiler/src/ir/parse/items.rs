//! Globals and kernels, a line each.

use super::text::{after, integer, keyed, list, number, quoted, space};
use crate::ir::{
    FuncId, Global, GlobalId, GlobalInit, Kernel, KernelRole, Module, Op, ParamSource, Relocation,
    Type,
};
use crate::kernel_info::{AddressSpace, ArgInfo, ArgKind, KernelInfo};

/// `global @g0 "name" constant size 8 align 4 = 0x0011.. reloc 0 @g1 8`
pub(super) fn global(line: &str, index: usize) -> Result<Global, String> {
    let rest = line["global".len()..].trim_start();
    let (id, rest) = rest.split_once(' ').ok_or("expected @gN")?;
    if after::<u32>("@g", id)? as usize != index {
        return Err(format!("expected @g{index}: globals are numbered in order"));
    }
    let (name, rest) = quoted(rest)?;
    let (head, init) = rest.split_once('=').ok_or("expected `=`")?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let (&space_word, words) = words.split_first().ok_or("expected an address space")?;
    let [size, align] = keyed(words, ["size", "align"])?;
    let mut init = init.split_whitespace();
    let init = match init.next() {
        Some("zero") => GlobalInit::Zero,
        Some(hex) => {
            let hex = hex.strip_prefix("0x").ok_or("expected zero or 0x..")?;
            if !hex.is_ascii() || hex.len() as u64 != 2 * size {
                return Err(format!("expected {} hexadecimal digits", 2 * size));
            }
            let bytes = (0..hex.len())
                .step_by(2)
                .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).map_err(|e| e.to_string()))
                .collect::<Result<_, _>>()?;
            let mut relocations = Vec::new();
            while let Some(word) = init.next() {
                let mut next = || init.next().ok_or("a relocation needs three numbers");
                if word != "reloc" {
                    return Err(format!("expected reloc: {word}"));
                }
                relocations.push(Relocation {
                    offset: integer(next()?)?,
                    target: GlobalId::from_u32(after("@g", next()?)?),
                    addend: integer(next()?)? as i64,
                });
            }
            GlobalInit::Bytes(bytes, relocations)
        }
        None => return Err("expected an initialiser".into()),
    };
    Ok(Global {
        name,
        space: space(space_word)?,
        size,
        align: u32::try_from(align).map_err(|_| "alignment too large")?,
        init,
    })
}

/// `kernel "name" @0 (value 0, local 8) contract initializer`
pub(super) fn kernel(line: &str) -> Result<Kernel, String> {
    let (name, rest) = quoted(&line["kernel".len()..])?;
    let (id, rest) = rest.split_once('(').ok_or("expected `(`")?;
    let (params, flags) = rest.split_once(')').ok_or("expected `)`")?;
    let params = list(params)
        .map(|param| {
            let (kind, offset) = param
                .split_once(' ')
                .ok_or_else(|| format!("expected a kind and an offset: {param}"))?;
            let offset = number(offset)?;
            Ok(match kind {
                "value" => ParamSource::Value { offset },
                "address" => ParamSource::Address { offset },
                "local" => ParamSource::Local { offset },
                _ => return Err(format!("unknown kind of parameter {kind}")),
            })
        })
        .collect::<Result<_, String>>()?;
    let (mut contract, mut role) = (false, KernelRole::Ordinary);
    for flag in flags.split_whitespace() {
        match flag {
            "contract" => contract = true,
            "initializer" => role = KernelRole::Initializer,
            "finalizer" => role = KernelRole::Finalizer,
            "block" => role = KernelRole::Block,
            other => return Err(format!("unknown kernel flag {other}")),
        }
    }
    Ok(Kernel {
        info: KernelInfo::new(name),
        func: FuncId::from_u32(after("@", id)?),
        params,
        contract,
        role,
    })
}

/// Fills in what a kernel's info owes to its function, once all functions are read.
pub(super) fn finish_kernel(module: &mut Module, index: usize) -> Result<(), String> {
    let kernel = &module.kernels[index];
    let name = &kernel.info.name;
    let func = module
        .functions
        .get(kernel.func)
        .ok_or_else(|| format!("kernel {name:?} has no function {}", kernel.func))?;
    if func.params().len() != kernel.params.len() {
        return Err(format!(
            "kernel {name:?} lists {} parameters, its function has {}",
            kernel.params.len(),
            func.params().len()
        ));
    }
    let args_size = func
        .params()
        .iter()
        .zip(&kernel.params)
        .map(|(&param, source)| match *source {
            ParamSource::Value { offset } => offset + func.ty(param).bytes(),
            ParamSource::Address { offset } | ParamSource::Local { offset } => offset + 8,
        })
        .max()
        .unwrap_or(0);
    let has_barrier = module.functions.values().any(|func| {
        let mut insts = func.insts.values();
        insts.any(|inst| matches!(inst.op, Op::Barrier(_) | Op::NamedBarrier(_)))
    });
    let enqueues = module.functions.values().any(|func| {
        let mut insts = func.insts.values();
        insts.any(|inst| matches!(inst.op, Op::Device { what, .. } if what.is_of_enqueue()))
    });
    let local_mem_size = func.locals.values().fold(0u64, |end, local| {
        end.next_multiple_of(u64::from(local.align)) + local.size
    });
    let args = func.params().iter().zip(&kernel.params);
    let args = args.map(|(&param, source)| argument(func.ty(param), *source));
    let args = args.collect();
    let info = &mut module.kernels[index].info;
    info.args = args;
    info.args_size = args_size;
    info.has_barrier = has_barrier;
    info.enqueues = enqueues;
    info.local_mem_size = local_mem_size;
    Ok(())
}

/// What a parameter says of its argument. The size of a structure passed by value is not in the
/// text: at least eight.
fn argument(ty: Type, source: ParamSource) -> ArgInfo {
    let (offset, kind, size) = match source {
        ParamSource::Value { offset } if ty == Type::PTR => {
            (offset, ArgKind::Pointer(AddressSpace::Global), 8)
        }
        ParamSource::Value { offset } => (offset, ArgKind::Value, ty.bytes()),
        ParamSource::Address { offset } => (offset, ArgKind::Value, 8),
        ParamSource::Local { offset } => (offset, ArgKind::Pointer(AddressSpace::Local), 8),
    };
    ArgInfo::new(kind, size, offset)
}
