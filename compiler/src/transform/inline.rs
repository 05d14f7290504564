//! Calls replaced by copies of what they call, and those that stay calls.
//!
//! Callees come first: the call graph is walked depth-first with an explicit stack, each function
//! has its own calls inlined once, and callers copy the result. A function on the stack that is met
//! again is recursion, which OpenCL C forbids ("Restrictions") and which has no copy that ends.
//!
//! At a call the block is split: the tail becomes a new block whose parameters are the call's
//! results, the callee's entry parameters become the call's operands, and each `ret` a jump to the
//! tail. Private memory goes to the caller's entry block; work-group variables merge with the
//! caller's by name, since they are one variable of the kernel no matter which function names it.
//!
//! What is called has its private variables promoted and dead code removed before it is copied:
//! once, not again in each copy, and so that the size is that of what is left.
//!
//! # Calls that stay
//!
//! A kernel that is small with everything inlined has no calls. In one that is not, a function
//! stays one if it is more than a call costs (`SMALL`), copies of it would add much (`GROWTH`), and
//! no work-items meet in it: then each work-item may call it by itself. What it asks of its
//! work-item, and addresses of work-group variables, become parameters more, which each call
//! computes: so the function knows nothing of the kernel and of the launch, and who asks about a
//! kernel's queries sees all of them. A function that is given the addresses of its caller's
//! private variables is copied as long as the kernel is of bearable size: once inlined such
//! variables are values.
//!
//! Cost: linear in the code copied, which the limits bound.

use std::collections::{BTreeMap, HashMap};

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, packed_option::PackedOption};

use super::{dce, promote};
use crate::diagnostic::Diagnostic;
use crate::ir::{
    Block, BlockCall, Builder, Callee, Cloner, DominatorTree, FuncId, Function, Inst, LocalId,
    LocalVar, Module, Op, SourceLoc, Terminator, Type, Value, ValueDef,
};
use crate::kernel_info::AddressSpace;

/// The most instructions and blocks that a function may have with all calls inlined.
pub const ALL_INLINED: usize = 100_000;
/// The most that it may have with all calls inlined that are given private variables.
const PRIVATE_INLINED: usize = 500_000;
/// The most that any function may have.
const BUDGET: usize = 2_000_000;
/// Copies of a function but for one may add so many instructions and blocks where calls may stay.
const GROWTH: usize = 500;
/// Functions of so many instructions and blocks are always inlined: a call, with its arguments in
/// memory and registers spilled around it, costs about as much.
const SMALL: usize = 60;
/// Promotion and the removal of dead code seldom leave less than one in so many instructions.
const SHRINKAGE: usize = 4;

/// A kernel with calls inlined.
#[derive(Debug)]
pub struct Inlined {
    pub kernel: Function,
    /// The functions that are called ([`Op::CallFunction`]).
    pub functions: BTreeMap<FuncId, Function>,
}

/// Which calls stay calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    None,
    /// Those of functions whose copies are large, unless they are given private variables.
    WithoutPrivate,
    Large,
    /// All that can.
    All,
}

/// Why a function has not been inlined into.
enum Refusal {
    TooLarge,
    Error(Diagnostic),
}

/// The function `root` with its calls inlined, all of them if it then has at most `limit`
/// instructions and blocks. With 0 all calls stay that can.
pub fn inline_all(module: &Module, root: FuncId, limit: usize) -> Result<Inlined, Diagnostic> {
    let calls = calls(module, root)?;
    let ways = match limit {
        0 => vec![(Keep::All, BUDGET)],
        _ => vec![
            (Keep::None, limit),
            (Keep::WithoutPrivate, limit.max(PRIVATE_INLINED)),
            (Keep::Large, limit.max(BUDGET)),
        ],
    };
    let is_hopeless = inlined_size(module, &calls, root) / SHRINKAGE > limit;
    for (keep, budget) in ways {
        // To find that out copy by copy would take longer than all the rest.
        if keep == Keep::None && is_hopeless {
            continue;
        }
        match inline_within(module, &calls, root, keep, budget) {
            Ok(inlined) => return Ok(inlined),
            Err(Refusal::TooLarge) => {}
            Err(Refusal::Error(error)) => return Err(error),
        }
    }
    Err(Diagnostic::new(format!(
        "function {:?} is larger than {BUDGET} instructions with its calls inlined",
        module.functions[root].name
    )))
}

/// A function whose own calls have been seen to.
enum Done {
    ToCopy(Function),
    Kept(Kept),
}

/// A function that stays one.
struct Kept {
    function: Function,
    is_uniform: bool,
    /// What computes its last parameters.
    context: Vec<Op>,
    /// The work-group variables named there.
    locals: PrimaryMap<LocalId, LocalVar>,
}

fn inline_within(
    module: &Module,
    calls: &HashMap<FuncId, Vec<FuncId>>,
    root: FuncId,
    keep: Keep,
    budget: usize,
) -> Result<Inlined, Refusal> {
    let mut done: HashMap<FuncId, Done> = HashMap::new();
    let mut active: SecondaryMap<FuncId, bool> = SecondaryMap::new();
    let mut sites: SecondaryMap<FuncId, usize> = SecondaryMap::new();
    for &callee in calls.values().flatten() {
        sites[callee] += 1;
    }
    let mut stack = vec![(root, callees(calls, root))];
    active[root] = true;
    while let Some((id, todo)) = stack.last_mut() {
        let id = *id;
        match todo.pop() {
            Some(callee) if active[callee] => {
                return Err(Refusal::Error(Diagnostic::new(format!(
                    "function {:?} calls itself, directly or through others; recursion is not \
                     allowed",
                    module.functions[callee].name
                ))));
            }
            Some(callee) if done.contains_key(&callee) => {}
            Some(callee) => {
                active[callee] = true;
                stack.push((callee, callees(calls, callee)));
            }
            None => {
                let mut func = inline_calls(&module.functions[id], &done, budget)?;
                if id == root {
                    let kept = done.into_iter().filter_map(|(id, done)| match done {
                        Done::Kept(kept) => Some((id, kept.function)),
                        Done::ToCopy(_) => None,
                    });
                    return Ok(Inlined {
                        kernel: func,
                        functions: kept.collect(),
                    });
                }
                promote::run(&mut func);
                dce::run(&mut func);
                let kept = stays(&func, sites[id], keep);
                done.insert(
                    id,
                    match kept {
                        true => Done::Kept(Kept::new(func)),
                        false => Done::ToCopy(func),
                    },
                );
                active[id] = false;
                stack.pop();
            }
        }
    }
    unreachable!("the root is finished last")
}

/// The functions that `root` reaches, with one entry for each call that they make.
fn calls(module: &Module, root: FuncId) -> Result<HashMap<FuncId, Vec<FuncId>>, Diagnostic> {
    let mut all: HashMap<FuncId, Vec<FuncId>> = HashMap::new();
    let mut todo = vec![root];
    while let Some(id) = todo.pop() {
        if all.contains_key(&id) {
            continue;
        }
        let func = &module.functions[id];
        let mut found = Vec::new();
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                if let Op::Call(callee) = func.insts[inst].op {
                    if !module.functions.is_valid(callee) {
                        return Err(Diagnostic::new(format!(
                            "function {:?} calls a function that is not there",
                            func.name
                        )));
                    }
                    found.push(callee);
                }
            }
        }
        todo.extend(&found);
        all.insert(id, found);
    }
    Ok(all)
}

/// The instructions and blocks of `root` with all calls inlined as they are. Cost: linear.
fn inlined_size(module: &Module, calls: &HashMap<FuncId, Vec<FuncId>>, root: FuncId) -> usize {
    let mut sizes: HashMap<FuncId, usize> = HashMap::new();
    let mut begun: SecondaryMap<FuncId, bool> = SecondaryMap::new();
    begun[root] = true;
    let mut stack = vec![(root, calls[&root].iter())];
    while let Some((id, todo)) = stack.last_mut() {
        let id = *id;
        match todo.next() {
            Some(&callee) => {
                if !std::mem::replace(&mut begun[callee], true) {
                    stack.push((callee, calls[&callee].iter()));
                }
            }
            None => {
                // One that calls itself is refused later.
                let called = calls[&id].iter().map(|callee| sizes.get(callee).copied());
                let own = size_of(&module.functions[id]);
                let sum = called.flatten().fold(own, usize::saturating_add);
                sizes.insert(id, sum);
                stack.pop();
            }
        }
    }
    sizes[&root]
}

/// The functions a function calls, each once.
fn callees(calls: &HashMap<FuncId, Vec<FuncId>>, id: FuncId) -> Vec<FuncId> {
    let mut found = calls[&id].clone();
    found.sort_unstable();
    found.dedup();
    found
}

fn instructions(func: &Function) -> impl Iterator<Item = Inst> {
    let blocks = func.layout.iter();
    blocks.flat_map(|&block| func.blocks[block].insts.iter().copied())
}

/// Whether a function that is called at so many places stays one.
fn stays(func: &Function, sites: usize, keep: Keep) -> bool {
    let is_wanted = match keep {
        Keep::None => false,
        Keep::All => true,
        Keep::Large | Keep::WithoutPrivate => {
            let size = size_of(func);
            size > SMALL && (sites - 1) * size > GROWTH
        }
    };
    is_wanted
        && can_stay(func)
        && !(keep == Keep::WithoutPrivate && is_given_private_variables(func))
}

/// Whether each work-item may call a function by itself: they do not meet in it, and it leaves each
/// of its loops some way.
fn can_stay(func: &Function) -> bool {
    let meets = |inst: Inst| {
        matches!(
            func.insts[inst].op,
            Op::Barrier(_)
                | Op::NamedBarrier(_)
                | Op::Collective { .. }
                | Op::Device { .. }
                | Op::InSpace(_)
        )
    };
    !instructions(func).any(meets) && always_ends(func)
}

/// Whether a return can be reached from everywhere.
fn always_ends(func: &Function) -> bool {
    let predecessors = func.predecessors();
    let mut ends: SecondaryMap<Block, bool> = SecondaryMap::with_capacity(func.blocks.len());
    let leaves = |&block: &Block| func.blocks[block].term.target_count() == 0;
    let mut todo: Vec<Block> = func.layout.iter().copied().filter(leaves).collect();
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut ends[block], true) {
            todo.extend(&predecessors[block]);
        }
    }
    let dominators = DominatorTree::new(func);
    let mut blocks = func.layout.iter();
    blocks.all(|&block| ends[block] || !dominators.is_reachable(block))
}

/// Whether a function accesses private memory that is not its own.
fn is_given_private_variables(func: &Function) -> bool {
    let is_own = |mut address: Value| loop {
        match func.def_inst(address).map(|inst| &func.insts[inst]) {
            Some(data) if data.op == Op::PtrAdd => address = data.args[0],
            Some(data) => return matches!(data.op, Op::Alloca { .. }),
            None => return false,
        }
    };
    instructions(func).any(|inst| {
        let data = &func.insts[inst];
        match &data.op {
            Op::Load(mem) | Op::Store(mem) => {
                matches!(mem.space, AddressSpace::Private | AddressSpace::Generic)
                    && !is_own(data.args[0])
            }
            Op::MemCopy { .. } | Op::MemCopyDyn { .. } => {
                !data.args[..2].iter().all(|&address| is_own(address))
            }
            _ => false,
        }
    })
}

/// Whether what a function does for work-items that call it with the same arguments it may do once
/// for all.
fn is_uniform(func: &Function) -> bool {
    instructions(func).all(|inst| match &func.insts[inst].op {
        Op::Load(mem) | Op::Store(mem) => !mem.volatile,
        Op::MemCopy { volatile, .. } => !volatile,
        Op::AtomicRmw(..)
        | Op::AtomicCmpXchg(_)
        | Op::AtomicLoad(_)
        | Op::AtomicStore(_)
        | Op::Clock
        | Op::Printf { .. } => false,
        Op::CallFunction(callee) => callee.is_uniform,
        _ => true,
    })
}

impl Kept {
    /// Makes what a function asks of its work-item parameters.
    fn new(mut function: Function) -> Kept {
        let mut context: Vec<Op> = Vec::new();
        let mut places: HashMap<Op, Value> = HashMap::new();
        let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
        for block in function.layout.clone() {
            let insts = std::mem::take(&mut function.blocks[block].insts);
            let (asked, rest): (Vec<Inst>, Vec<Inst>) = insts.into_iter().partition(|&inst| {
                matches!(
                    function.insts[inst].op,
                    Op::DimQuery(..) | Op::Query(_) | Op::LocalAddr(_)
                )
            });
            function.blocks[block].insts = rest;
            for inst in asked {
                let data = &function.insts[inst];
                let (op, result) = (data.op.clone(), data.results[0]);
                let param = *places.entry(op).or_insert_with_key(|op| {
                    context.push(op.clone());
                    let ty = function.ty(result);
                    let entry = function.entry();
                    function.add_param(entry, ty)
                });
                replace[result] = param.into();
            }
        }
        replace.resize(function.values.len());
        function.replace_uses(&replace);
        let locals = std::mem::take(&mut function.locals);
        Kept {
            is_uniform: is_uniform(&function),
            function,
            context,
            locals,
        }
    }

    /// Makes `call`, which is not in a block yet, the last instruction of `block`.
    fn call(&self, caller: &mut Function, block: Block, call: Inst, id: FuncId) {
        let locals = merge_locals(caller, &self.locals);
        for op in &self.context {
            let (op, ty) = match op {
                Op::LocalAddr(local) => (Op::LocalAddr(locals[*local]), Type::PTR),
                op => (op.clone(), Type::I64),
            };
            let asked = caller.make_inst(op, &[], &[ty], SourceLoc::default());
            caller.blocks[block].insts.push(asked);
            let value = caller.insts[asked].results[0];
            caller.insts[call].args.push(value);
        }
        caller.insts[call].op = Op::CallFunction(Box::new(Callee::new(id, self.is_uniform)));
        caller.blocks[block].insts.push(call);
    }
}

/// A copy of `func` with its calls replaced by copies of `done`'s functions.
fn inline_calls(
    func: &Function,
    done: &HashMap<FuncId, Done>,
    budget: usize,
) -> Result<Function, Refusal> {
    let mut caller = func.clone();
    let mut size = size_of(func);
    let mut allocas = Vec::new();
    let mut layout = Vec::new();
    for block in std::mem::take(&mut caller.layout) {
        layout.push(block);
        let mut current = block;
        let insts = std::mem::take(&mut caller.blocks[block].insts);
        let term = std::mem::replace(&mut caller.blocks[block].term, Terminator::Unreachable);
        for inst in insts {
            let Op::Call(id) = caller.insts[inst].op else {
                caller.blocks[current].insts.push(inst);
                continue;
            };
            let callee = match &done[&id] {
                Done::Kept(kept) => {
                    kept.call(&mut caller, current, inst, id);
                    size += kept.context.len();
                    continue;
                }
                Done::ToCopy(callee) => callee,
            };
            size += size_of(callee);
            if size > budget {
                return Err(Refusal::TooLarge);
            }
            current = splice(
                &mut caller,
                current,
                inst,
                callee,
                &mut allocas,
                &mut layout,
            );
        }
        caller.blocks[current].term = term;
    }
    caller.layout = layout;
    let entry = caller.entry();
    caller.blocks[entry].insts.splice(0..0, allocas);
    Ok(caller)
}

fn size_of(func: &Function) -> usize {
    let blocks = func.layout.iter();
    blocks
        .map(|&block| 1 + func.blocks[block].insts.len())
        .sum()
}

/// Ends `block` with a jump into a copy of `callee`; returns the block that control comes back to.
fn splice(
    caller: &mut Function,
    block: Block,
    call: Inst,
    callee: &Function,
    allocas: &mut Vec<Inst>,
    layout: &mut Vec<Block>,
) -> Block {
    let mut cloner = Cloner::from(callee);
    cloner.bind_all(callee.params(), &caller.insts[call].args);
    let locals = merge_locals(caller, &callee.locals);
    // Instructions first without operands: a definition may come later in the layout than its use.
    for &from in &callee.layout {
        let to = caller.add_block();
        layout.push(to);
        cloner.bind_block(from, to);
        if from != callee.entry() {
            cloner.add_params(caller, from, to);
        }
        for &inst in &callee.blocks[from].insts {
            let data = &callee.insts[inst];
            let op = match data.op {
                Op::LocalAddr(id) => Op::LocalAddr(locals[id]),
                ref other => other.clone(),
            };
            let alloca = matches!(op, Op::Alloca { .. });
            let copy = cloner.make(caller, inst, op, &data.args);
            if alloca {
                allocas.push(copy);
            } else {
                caller.blocks[to].insts.push(copy);
            }
        }
    }

    let after = caller.add_block();
    layout.push(after);
    let results = std::mem::take(&mut caller.insts[call].results);
    for (i, &result) in results.iter().enumerate() {
        caller.values[result].def = ValueDef::Param(after, i as u16);
    }
    caller.blocks[after].params = results.to_vec();

    for &from in &callee.layout {
        let to = cloner.block(from);
        for index in 0..caller.blocks[to].insts.len() {
            let inst = caller.blocks[to].insts[index];
            for arg in &mut caller.insts[inst].args {
                *arg = cloner.value(*arg);
            }
        }
        let mut b = Builder::new(caller, to);
        let term = match cloner.terminator(&mut b, &callee.blocks[from].term) {
            Terminator::Ret(values) => Terminator::Br(BlockCall {
                block: after,
                args: values,
            }),
            other => other,
        };
        b.terminate(term);
    }
    let first = cloner.block(callee.entry());
    caller.blocks[block].term = Terminator::Br(BlockCall::new(first, &[]));
    // `add_block` appended to the caller's own layout, which is being rebuilt.
    caller.layout.clear();
    after
}

/// Where a callee's work-group variables are in the caller.
fn merge_locals(
    caller: &mut Function,
    callee: &PrimaryMap<LocalId, LocalVar>,
) -> SecondaryMap<LocalId, LocalId> {
    let mut map = SecondaryMap::with_default(LocalId::new(0));
    for (id, local) in callee {
        let same = caller.locals.iter().find(|(_, l)| l.name == local.name);
        map[id] = match same.map(|(id, _)| id) {
            Some(known) => {
                let known_local = &mut caller.locals[known];
                known_local.size = known_local.size.max(local.size);
                known_local.align = known_local.align.max(local.align);
                known
            }
            None => caller.locals.push(local.clone()),
        };
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Stage, parse, verify::verify};

    fn inline_to(text: &str, limit: usize) -> Result<Inlined, Diagnostic> {
        let module = parse::module(text).unwrap();
        let last = module.functions.keys().next_back().unwrap();
        inline_all(&module, last, limit)
    }

    fn inline(text: &str) -> Result<Function, Diagnostic> {
        let inlined = inline_to(text, ALL_INLINED)?;
        assert!(inlined.functions.is_empty(), "all are inlined");
        Ok(inlined.kernel)
    }

    #[test]
    fn a_call_of_a_call_is_inlined_twice_over() {
        let func = inline(
            "func \"abs\" (i32) -> (i32) {\n  local l0 \"tile\" size 8 align 4\nblock0(v0: i32):\n\
             v1: i32 = const 0\nv2: i1 = icmp.slt v0, v1\nv4: ptr = alloca.4.align4\n\
             v5: ptr = local_addr l0\nstore.local.align4 v5, v4\n\
             cond_br v2, block1, block2\nblock1:\nv3: i32 = ineg v0\nret v3\nblock2:\nret v0\n}\n\
             func \"twice\" (i32) -> (i32) {\nblock0(v0: i32):\nv1: i32 = call @0, v0\n\
             v2: i32 = call @0, v1\nret v2\n}\n\
             func \"root\" (i32) -> (i32) {\n  local l0 \"other\" size 4 align 4\n\
               local l1 \"tile\" size 4 align 16\n\
             block0(v0: i32):\nv1: i32 = call @1, v0\nv2: i32 = iadd v1, v1\nret v2\n}\n",
        )
        .unwrap();
        verify(&func, Stage::Inlined, None).unwrap();
        let count = |f: fn(&Op) -> bool| {
            let blocks = func.layout.iter();
            blocks
                .flat_map(|&b| &func.blocks[b].insts)
                .filter(|&&i| f(&func.insts[i].op))
                .count()
        };
        assert_eq!(count(|op| matches!(op, Op::ICmp(_))), 2);
        assert_eq!(count(|op| matches!(op, Op::Alloca { .. })), 2);
        assert_eq!(
            count(|op| matches!(op, Op::LocalAddr(l) if l.as_u32() == 1)),
            2
        );
        let tile = &func.locals[LocalId::new(1)];
        assert_eq!((func.locals.len(), tile.size, tile.align), (2, 8, 16));
    }

    #[test]
    fn recursion_is_refused_by_name() {
        let error = inline(
            "func \"even\" () -> () {\nblock0:\ncall @1\nret\n}\n\
             func \"odd\" () -> () {\nblock0:\ncall @0\nret\n}\n\
             func \"root\" () -> () {\nblock0:\ncall @0\nret\n}\n",
        )
        .unwrap_err();
        assert!(error.message.contains("\"even\" calls itself"), "{error}");
    }

    /// So many functions that each call the one before twice; the first is `first`.
    fn growing(levels: usize, first: &str) -> String {
        let mut text = format!("func \"f0\" (ptr) -> () {{\nblock0(v0: ptr):\n{first}\nret\n}}\n");
        for i in 0..levels {
            text += &format!(
                "func \"f{}\" (ptr) -> () {{\nblock0(v0: ptr):\ncall @{i}, v0\ncall @{i}, v0\nret\n}}\n",
                i + 1
            );
        }
        text
    }

    const STORE: &str = "v1: i32 = const 0\nstore.global.align4 v0, v1";

    #[test]
    fn exponential_growth_of_what_cannot_be_called_stops_at_the_budget() {
        let text = growing(40, "barrier.workgroup.acqrel.global");
        let error = inline_to(&text, ALL_INLINED).unwrap_err();
        assert!(error.message.contains("larger than"), "{error}");
    }

    #[test]
    fn large_kernels_call_functions_and_grow_no_more() {
        let inlined = inline_to(&growing(40, STORE), ALL_INLINED).unwrap();
        let all = || {
            [&inlined.kernel]
                .into_iter()
                .chain(inlined.functions.values())
        };
        for func in all() {
            verify(func, Stage::Inlined, None).unwrap();
        }
        assert!(inlined.functions.len() > 2, "some stay");
        let sizes = inlined.functions.values().map(size_of);
        assert!(sizes.min() > Some(SMALL));
        assert!(inlined.functions.len() < 20, "small ones do not");
        assert!(all().map(size_of).sum::<usize>() < 41 * GROWTH);
    }

    #[test]
    fn what_is_given_private_variables_is_copied_longer() {
        let private = "v1: i32 = const 0\nstore.private.align4 v0, v1";
        for (levels, first, stay) in [(8, STORE, false), (15, STORE, true), (15, private, false)] {
            let inlined = inline_to(&growing(levels, first), ALL_INLINED).unwrap();
            assert_eq!(!inlined.functions.is_empty(), stay, "{levels} of {first}");
        }
    }

    #[test]
    fn a_function_that_stays_gets_what_it_asks_of_its_work_item() {
        let text = "func \"f\" (i32) -> (i64) {\n  local l0 \"tile\" size 64 align 4\nblock0(v0: i32):\n\
             v1: ptr = local_addr l0\nstore.local.align4 v1, v0\nv2: i64 = dim_query.global_id.0\n\
             v3: i64 = dim_query.global_id.0\nv4: i64 = iadd v2, v3\nret v4\n}\n\
             func \"g\" (i32) -> (i64) {\nblock0(v0: i32):\nv1: i64 = call @0, v0\nret v1\n}\n\
             func \"root\" (i32) -> (i64) {\n  local l0 \"mine\" size 4 align 4\nblock0(v0: i32):\n\
             v1: i64 = call @1, v0\nret v1\n}\n";
        let inlined = inline_to(text, 0).unwrap();
        assert_eq!(inlined.functions.len(), 2);
        for func in inlined.functions.values() {
            let types: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
            assert_eq!(types, [Type::I32, Type::PTR, Type::I64], "{func}");
            assert!(func.locals.is_empty());
        }
        let kernel = inlined.kernel.to_string();
        for line in [
            "local_addr l1",
            "dim_query.global_id.0",
            "call_function.uniform @1, v0",
        ] {
            assert!(kernel.contains(line), "{line} in\n{kernel}");
        }
    }

    #[test]
    fn functions_in_which_work_items_meet_are_copied() {
        for what in [
            "barrier.workgroup.acqrel.local",
            "br block1\nblock1:\nbr block1\nblock2:",
        ] {
            let text = format!(
                "func \"f\" () -> () {{\nblock0:\n{what}\nret\n}}\n\
                 func \"root\" () -> () {{\nblock0:\ncall @0\nret\n}}\n"
            );
            assert!(inline_to(&text, 0).unwrap().functions.is_empty(), "{what}");
        }
    }

    #[test]
    fn a_chain_of_ten_thousand_calls_needs_no_deep_stack() {
        let mut text = "func \"f0\" () -> () {\nblock0:\nret\n}\n".to_string();
        for i in 0..1000 {
            text += &format!(
                "func \"f{}\" () -> () {{\nblock0:\ncall @{i}\nret\n}}\n",
                i + 1
            );
        }
        inline(&text).unwrap();
    }
}
