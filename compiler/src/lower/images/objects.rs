//! Which parameters of a kernel are images and samplers.

use serde::{Deserialize, Serialize};

use crate::image::MOST_BINDINGS;
use crate::ir::{Function, Op, ParamSource, Value};

/// An image or sampler that is a parameter, and read or written (with).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Which of the function's parameters.
    pub param: usize,
    /// Where the argument is in the argument block.
    pub offset: u32,
    pub is_sampler: bool,
}

/// The image of which a descriptor describes a level.
pub(super) fn image_of(func: &Function, mut value: Value) -> Value {
    while let Some(inst) = func.def_inst(value) {
        let data = &func.insts[inst];
        if data.op != Op::PtrAdd {
            break;
        }
        value = data.args[0];
    }
    value
}

/// The first images and samplers of a kernel, in the order of its parameters. Cost: linear.
pub fn objects(func: &Function, params: &[ParamSource]) -> Vec<Object> {
    let mut used = vec![None; params.len()];
    let mut note = |value: Value, is_sampler: bool| {
        let found = func.params().iter().position(|&param| param == value);
        if let Some(param) = found {
            used[param] = Some(is_sampler);
        }
    };
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            match data.op {
                Op::ImageRead(_) => {
                    note(image_of(func, data.args[0]), false);
                    note(data.args[1], true);
                }
                Op::ImageWrite(_) => note(image_of(func, data.args[0]), false),
                _ => {}
            }
        }
    }
    let used = used.into_iter().zip(params).enumerate();
    let objects = used.filter_map(|(param, (used, source))| match (used?, source) {
        (is_sampler, &ParamSource::Value { offset }) => Some(Object {
            param,
            offset,
            is_sampler,
        }),
        _ => None,
    });
    objects.take(MOST_BINDINGS).collect()
}
