//! Which functions a kernel reaches, and from how many places.

use std::collections::HashMap;

use super::{instructions, size_of};
use crate::diagnostic::Diagnostic;
use crate::ir::{FuncId, Function, Module, Op};

/// The functions that one, the root, reaches.
pub(super) struct CallGraph {
    /// Callees before callers, so the root last.
    pub callees_first: Vec<FuncId>,
    /// At how many places each but the root is called.
    pub sites: HashMap<FuncId, usize>,
}

impl CallGraph {
    /// Walks the calls depth-first, with a stack of its own. A function that is met again while it
    /// is on the stack is recursion, which OpenCL C forbids ("Restrictions") and which has no copy
    /// that ends. Cost: linear.
    pub fn new(module: &Module, root: FuncId) -> Result<CallGraph, Diagnostic> {
        let mut graph = CallGraph {
            callees_first: Vec::new(),
            sites: HashMap::new(),
        };
        // Whether a function that has been met is still on the stack.
        let mut is_active = HashMap::from([(root, true)]);
        let mut stack = vec![(root, callees(module, root)?.into_iter())];
        while let Some((id, todo)) = stack.last_mut() {
            let Some(callee) = todo.next() else {
                is_active.insert(*id, false);
                graph.callees_first.push(*id);
                stack.pop();
                continue;
            };
            *graph.sites.entry(callee).or_default() += 1;
            match is_active.get(&callee) {
                Some(true) => {
                    return Err(Diagnostic::new(format!(
                        "function {:?} calls itself, directly or through others; recursion is not \
                         allowed",
                        module.functions[callee].name
                    )));
                }
                Some(false) => {}
                None => {
                    is_active.insert(callee, true);
                    stack.push((callee, callees(module, callee)?.into_iter()));
                }
            }
        }
        Ok(graph)
    }

    pub fn root(&self) -> FuncId {
        *self.callees_first.last().expect("the root is there")
    }

    /// The instructions and blocks of the root with all calls inlined as they are. Cost: linear.
    pub fn inlined_size(&self, module: &Module) -> usize {
        let mut sizes: HashMap<FuncId, usize> = HashMap::new();
        for &id in &self.callees_first {
            let func = &module.functions[id];
            let called = calls(func).map(|callee| sizes[&callee]);
            let sum = called.fold(size_of(func), usize::saturating_add);
            sizes.insert(id, sum);
        }
        sizes[&self.root()]
    }
}

/// The functions that one calls, with an entry for each call.
fn calls(func: &Function) -> impl Iterator<Item = FuncId> {
    instructions(func).filter_map(|inst| match func.insts[inst].op {
        Op::Call(callee) => Some(callee),
        _ => None,
    })
}

/// The same, if all of them are there.
fn callees(module: &Module, id: FuncId) -> Result<Vec<FuncId>, Diagnostic> {
    let func = &module.functions[id];
    let found: Vec<FuncId> = calls(func).collect();
    match found.iter().all(|&id| module.functions.is_valid(id)) {
        true => Ok(found),
        false => Err(Diagnostic::new(format!(
            "function {:?} calls a function that is not there",
            func.name
        ))),
    }
}
