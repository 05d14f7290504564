//! From the entry points outwards: every function, global and work-group variable that a kernel
//! reaches is translated; the rest of a module is not looked at.

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use super::decode::Result;
use super::function::translate_function;
use super::module::Unit;
use super::module_builder::ModuleBuilder;
use super::rules::VALIDATION;
use crate::ir::{FuncId, Function, LocalVar, Module, Op as IrOp, Scope};

/// What a function does, together with everything it calls.
#[derive(Clone, Default)]
pub(super) struct Reach {
    pub has_barrier: bool,
    pub enqueues: bool,
    pub private_bytes: u64,
    pub locals: Vec<LocalVar>,
}

/// Translates everything the entry points reach.
pub(super) fn translate(unit: &Unit<'_>) -> Result<Module> {
    let mut out = ModuleBuilder::default();
    let invoked = unit.invoked_names();
    for entry in &unit.entry_points {
        if invoked.contains(&entry.name) {
            continue;
        }
        out.modes = unit.float_modes(entry.func)?;
        let func = out.function(unit, &entry.inst, entry.func)?;
        let kernel = unit.kernel(entry, func)?;
        out.module.kernels.push(kernel);
        while let Some((id, func)) = out.next_function() {
            let body = translate_function(unit, &mut out, func, &unit.functions[&id])?;
            out.module.functions[func] = body;
        }
    }
    out.host_names(unit)?;
    while let Some((id, global)) = out.next_global() {
        out.initialize(unit, id, global)?;
    }
    let reach = reach(&out, unit)?;
    for kernel in &mut out.module.kernels {
        let of = &reach[kernel.func];
        // A kernel lists the work-group variables of what it calls too, so that it says all
        // that it needs.
        let own = &mut out.module.functions[kernel.func].locals;
        for local in &of.locals {
            if !own.values().any(|l| l.name == local.name) {
                own.push(local.clone());
            }
        }
        kernel.info.has_barrier = of.has_barrier;
        kernel.info.enqueues = of.enqueues;
        kernel.info.private_mem_size = of.private_bytes;
        kernel.info.local_mem_size = of.locals.iter().fold(0, |end: u64, local| {
            end.next_multiple_of(u64::from(local.align)) + local.size
        });
    }
    Ok(out.module)
}

/// What each function does with everything it calls. OpenCL has no recursion ("OpenCL C:
/// Restrictions"), so a cycle of calls is refused here.
fn reach(out: &ModuleBuilder<'_>, unit: &Unit<'_>) -> Result<SecondaryMap<FuncId, Reach>> {
    let mut reach: SecondaryMap<FuncId, Reach> = SecondaryMap::new();
    let mut callees: SecondaryMap<FuncId, SmallVec<[usize; 4]>> = SecondaryMap::new();
    for (i, (caller, _, _)) in out.calls.iter().enumerate() {
        callees[*caller].push(i);
    }
    #[derive(Clone, Copy, Default, PartialEq)]
    enum State {
        #[default]
        New,
        Open,
        Done,
    }
    let mut state: SecondaryMap<FuncId, State> = SecondaryMap::new();
    for root in out.module.functions.keys() {
        if state[root] != State::New {
            continue;
        }
        let mut stack = vec![(root, 0usize)];
        state[root] = State::Open;
        reach[root] = own_reach(&out.module.functions[root]);
        while let Some((func, next)) = stack.last_mut() {
            let func = *func;
            let Some(&call) = callees[func].get(*next) else {
                state[func] = State::Done;
                stack.pop();
                continue;
            };
            let (_, callee, inst) = &out.calls[call];
            match state[*callee] {
                State::Open => {
                    return Err(unit
                        .error(
                            inst,
                            format!(
                                "the function {:?} calls itself, directly or through others",
                                out.module.functions[*callee].name
                            ),
                        )
                        .under(VALIDATION));
                }
                State::New => {
                    state[*callee] = State::Open;
                    reach[*callee] = own_reach(&out.module.functions[*callee]);
                    stack.push((*callee, 0));
                }
                State::Done => {
                    *next += 1;
                    let of_callee = reach[*callee].clone();
                    let of_caller = &mut reach[func];
                    of_caller.has_barrier |= of_callee.has_barrier;
                    of_caller.enqueues |= of_callee.enqueues;
                    of_caller.private_bytes = of_caller
                        .private_bytes
                        .saturating_add(of_callee.private_bytes);
                    for local in of_callee.locals {
                        if !of_caller.locals.iter().any(|l| l.name == local.name) {
                            of_caller.locals.push(local);
                        }
                    }
                }
            }
        }
    }
    Ok(reach)
}

fn own_reach(func: &Function) -> Reach {
    let mut reach = Reach {
        locals: func.locals.values().cloned().collect(),
        ..Reach::default()
    };
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            match func.insts[inst].op {
                IrOp::Barrier(_)
                | IrOp::NamedBarrier(_)
                | IrOp::Collective {
                    scope: Scope::WorkGroup,
                    ..
                } => reach.has_barrier = true,
                IrOp::Device { what, .. } => reach.enqueues |= what.is_of_enqueue(),
                IrOp::Alloca { size, .. } => reach.private_bytes += u64::from(size),
                _ => {}
            }
        }
    }
    reach
}
