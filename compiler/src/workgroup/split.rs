//! Cuts a kernel at its barriers.

use super::{Region, Split};
use crate::ir::{Builder, FuncId, Function, Op, Type};
use crate::{Diagnostic, LaunchKey};

pub(super) fn split(kernel: &Function, _key: &LaunchKey) -> Result<Split, Diagnostic> {
    let params: Vec<Type> = kernel.params().iter().map(|&p| kernel.ty(p)).collect();
    let mut skeleton = Function::new(kernel.name.clone(), &params, &[]);
    skeleton.locals = kernel.locals.clone();
    let args = skeleton.params().to_vec();
    let entry = skeleton.entry();
    let mut b = Builder::new(&mut skeleton, entry);
    b.ins(Op::Call(FuncId::from_u32(0)), &args, &[]);
    b.ret(&[]);
    Ok(Split {
        skeleton,
        regions: vec![Region {
            scalar: kernel.clone(),
            vector: None,
        }],
        remarks: Vec::new(),
    })
}
