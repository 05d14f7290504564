//! Loads of what a module says that its constants hold become constants.
//!
//! A sampler or table of OpenCL C's program scope is a variable in constant memory, which nothing
//! writes. Cost: linear.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use crate::ir::{Function, Global, GlobalId, GlobalInit, Inst, Module, Op, Scalar, Type, Value};
use crate::kernel_info::AddressSpace;

/// Bytes of an address.
const ADDRESS: u64 = 8;

/// Replaces loads in a function with one lane a value. Returns whether there were any.
pub fn run(func: &mut Function, module: &Module) -> bool {
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let mut changed = false;
    for n in 0..func.layout.len() {
        let block = func.layout[n];
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            let Some(constants) = loaded(func, module, inst) else {
                kept.push(inst);
                continue;
            };
            let data = func.insts[inst].clone();
            for (&result, bits) in data.results.iter().zip(constants) {
                let ty = func.ty(result);
                let constant = func.make_inst(Op::Const(bits), &[], &[ty], data.loc);
                replace[result] = Some(func.insts[constant].results[0]).into();
                kept.push(constant);
            }
            changed = true;
        }
        func.blocks[block].insts = kept;
    }
    if changed {
        func.replace_uses(&replace);
    }
    changed
}

/// The bits that an instruction loads, if it loads known ones.
fn loaded(func: &Function, module: &Module, inst: Inst) -> Option<Vec<u64>> {
    let data = &func.insts[inst];
    let Op::Load(mem) = data.op else {
        return None;
    };
    if mem.volatile || mem.masked {
        return None;
    }
    let (global, mut at) = object(func, data.args[0])?;
    let global = module.globals.get(global)?;
    if global.space != AddressSpace::Constant {
        return None;
    }
    let mut found = Vec::with_capacity(data.results.len());
    for &result in &data.results {
        let ty = func.ty(result);
        found.push(element(global, at, ty)?);
        at = at.checked_add(u64::from(ty.scalar.bytes()))?;
    }
    Some(found)
}

/// The object and the offset that an address is made of.
fn object(func: &Function, mut address: Value) -> Option<(GlobalId, u64)> {
    let mut offset = 0u64;
    loop {
        let data = &func.insts[func.def_inst(address)?];
        match data.op {
            Op::GlobalAddr(global) => return Some((global, offset)),
            Op::PtrAdd => {
                offset = offset.wrapping_add(func.as_const(data.args[1])?);
                address = data.args[0];
            }
            _ => return None,
        }
    }
}

/// A number at an offset, unless it is an address.
fn element(global: &Global, at: u64, ty: Type) -> Option<u64> {
    let size = u64::from(ty.scalar.bytes());
    let end = at.checked_add(size)?;
    if !ty.is_scalar() || matches!(ty.scalar, Scalar::Ptr | Scalar::I1) || end > global.size {
        return None;
    }
    let GlobalInit::Bytes(bytes, relocations) = &global.init else {
        return Some(0);
    };
    let is_address = |offset: u64| offset < end && at < offset.saturating_add(ADDRESS);
    if relocations.iter().any(|r| is_address(r.offset)) {
        return None;
    }
    let bytes = bytes.get(at as usize..end as usize)?.iter().rev();
    Some(bytes.fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
}
