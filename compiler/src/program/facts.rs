//! What is known of a kernel when code is to be made for it: what a host asks, and what its launch
//! keys depend on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::analysis::written_params;
use crate::diagnostic::Remark;
use crate::ir::{FuncId, Function, ParamSource};
use crate::lower::images::{Object, objects};
use crate::target::Target;
use crate::workgroup;

/// A kernel ready to be compiled for a launch: inlined, optimised, one lane a value.
#[derive(Debug)]
pub(super) struct Body {
    pub function: Function,
    pub params: Vec<ParamSource>,
    /// The functions that are called.
    pub functions: BTreeMap<FuncId, Function>,
    pub remarks: Vec<Remark>,
}

/// What is known of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// The images and samplers of which a launch key may know something.
    pub objects: Vec<Object>,
    /// Work-items per vector.
    pub width: u8,
    /// Every launch has that width: it is asked for, or the size of sub-groups that an application
    /// may have asked about.
    pub has_fixed_width: bool,
    /// Whether its results may depend on the local size.
    pub depends_on_groups: bool,
    /// How many rows its work-groups had better have.
    pub rows: u8,
    /// Whether its work-groups are along x, as far as it says.
    pub is_along_x: bool,
    /// Where the pointers are in the argument block that it is known to write through.
    pub written: Vec<u32>,
    /// Instructions, for one work-item.
    pub instructions: usize,
    /// Why that width.
    pub remarks: Vec<String>,
}

/// What is known of a kernel in work-groups of one work-item, several of which run as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FactsAlone {
    /// Work-items per vector, and why.
    pub width: u8,
    pub remarks: Vec<String>,
}

/// Which width a kernel is to have.
pub(super) enum Width {
    /// That of the sub-group that it requires.
    Required(u8),
    /// That which the environment forces.
    Forced(u8),
    /// The best.
    Free,
}

impl Facts {
    /// Finds them. `text` says a remark with its place in the source.
    pub fn new(
        body: &Body,
        width: Width,
        target: &Target,
        text: impl Fn(&Remark) -> String,
    ) -> Facts {
        let Body {
            function,
            params,
            functions,
            remarks: found,
        } = body;
        let has_fixed_width = !matches!(width, Width::Free) || workgroup::uses_sub_groups(function);
        let (width, mut remarks) = match width {
            Width::Required(size) => {
                let remark = format!("runs {size} work-items at a time: the sub-group it requires");
                (size, vec![remark])
            }
            Width::Forced(width) => (width, vec![format!("width {width}, as BROLGA_WIDTH says")]),
            Width::Free => {
                let (width, remarks) = workgroup::choose_width(function, functions, target);
                (width, remarks.iter().map(&text).collect())
            }
        };
        remarks.extend(found.iter().map(&text));
        let is_written = written_params(function);
        let sources = params.iter().zip(function.params());
        let written = sources.filter_map(|(source, &param)| match source {
            ParamSource::Value { offset } => is_written[param].then_some(*offset),
            _ => None,
        });
        let blocks = function.layout.iter();
        Facts {
            has_fixed_width,
            depends_on_groups: workgroup::depends_on_groups(function, params),
            rows: workgroup::preferred_rows(function),
            is_along_x: functions
                .values()
                .chain([function])
                .all(workgroup::is_along_x),
            objects: objects(function, params),
            written: written.collect(),
            instructions: blocks.map(|&b| function.blocks[b].insts.len()).sum(),
            width,
            remarks,
        }
    }
}
