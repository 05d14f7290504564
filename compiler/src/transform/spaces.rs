//! Accesses through generic pointers get the address space that the pointer is known to be in.
//!
//! C11 atomics and functions of OpenCL C 2.0 and later take generic pointers, so once calls are
//! inlined most generic accesses are to memory whose place is in plain sight. To know it tells
//! value numbering what a store cannot have changed, and lets atomics on work-group memory be
//! cheap.
//!
//! A pointer's space is that of what it is computed from: a variable, an argument, through
//! `ptr_add`, `select` and block parameters, where all sides must agree; a pointer from elsewhere
//! (memory, an integer) may be anywhere. Pointers start unknown, and walks in reverse post-order
//! go on until nothing changes; a state only falls twice, so there are few walks.

use cranelift_entity::SecondaryMap;

use crate::ir::{Block, Function, Inst, Module, Op, ParamSource, Value};
use crate::kernel_info::{AddressSpace, ArgKind, KernelInfo};

/// What is known of a pointer; a value without an entry is not a pointer, or not yet reached.
type Spaces = SecondaryMap<Value, Option<AddressSpace>>;

/// Narrows the accesses of a function, and decides what it asks about the spaces of pointers, given
/// those of its parameters. Returns whether any question was decided.
pub fn run(func: &mut Function, module: &Module, params: &[AddressSpace]) -> bool {
    let mut spaces: Spaces = SecondaryMap::with_capacity(func.values.len());
    for (&param, &space) in func.params().iter().zip(params) {
        spaces[param] = Some(space);
    }
    let order = func.reverse_post_order();
    while walk(func, module, &order, &mut spaces) {}
    let mut decided = false;
    for &block in &order {
        for index in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[index];
            narrow(func, inst, &spaces);
            decided |= decide(func, inst, &spaces);
        }
    }
    decided
}

/// Where a parameter of a kernel points, if it is a pointer.
pub fn argument_space(info: &KernelInfo, source: &ParamSource) -> AddressSpace {
    match *source {
        ParamSource::Local { .. } => AddressSpace::Local,
        ParamSource::Value { offset } => {
            let arg = info.args.iter().find(|arg| arg.offset == offset);
            match arg.map(|arg| arg.kind) {
                Some(ArgKind::Pointer(space)) => space,
                _ => AddressSpace::Generic,
            }
        }
        ParamSource::Address { .. } => AddressSpace::Generic,
    }
}

/// One walk; whether any state fell.
fn walk(func: &Function, module: &Module, order: &[Block], spaces: &mut Spaces) -> bool {
    let mut changed = false;
    let mut meet = |spaces: &mut Spaces, value: Value, with: Option<AddressSpace>| {
        let new = match (spaces[value], with) {
            (None, with) => with,
            (old, None) => old,
            (Some(old), Some(with)) if old == with => Some(old),
            _ => Some(AddressSpace::Generic),
        };
        changed |= spaces[value] != new;
        spaces[value] = new;
    };
    for &block in order {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            for &result in &data.results {
                let space = match data.op {
                    Op::Alloca { .. } => Some(AddressSpace::Private),
                    Op::LocalAddr(_) => Some(AddressSpace::Local),
                    Op::GlobalAddr(id) => module.globals.get(id).map(|global| global.space),
                    Op::PtrAdd => spaces[data.args[0]],
                    Op::Select => {
                        meet(spaces, result, spaces[data.args[1]]);
                        spaces[data.args[2]]
                    }
                    _ => Some(AddressSpace::Generic),
                };
                meet(spaces, result, space);
            }
        }
        for call in func.blocks[block].term.targets() {
            for (&param, &arg) in func.blocks[call.block].params.iter().zip(&call.args) {
                meet(spaces, param, spaces[arg]);
            }
        }
    }
    changed
}

fn narrow(func: &mut Function, inst: Inst, spaces: &Spaces) {
    let data = &mut func.insts[inst];
    let space = match &mut data.op {
        Op::Load(mem) | Op::Store(mem) => &mut mem.space,
        Op::AtomicRmw(_, atomic)
        | Op::AtomicCmpXchg(atomic)
        | Op::AtomicLoad(atomic)
        | Op::AtomicStore(atomic) => &mut atomic.space,
        _ => return,
    };
    match spaces[data.args[0]] {
        Some(known) if *space == AddressSpace::Generic => *space = known,
        _ => {}
    }
}

/// Replaces a question about a pointer whose space is known by its answer.
fn decide(func: &mut Function, inst: Inst, spaces: &Spaces) -> bool {
    let data = &mut func.insts[inst];
    let Op::InSpace(asked) = data.op else {
        return false;
    };
    let known = match spaces[data.args[0]] {
        None | Some(AddressSpace::Generic) => return false,
        // Global is what is neither private nor local.
        Some(AddressSpace::Constant) => AddressSpace::Global,
        Some(known) => known,
    };
    data.op = Op::Const(u64::from(known == asked));
    data.args.clear();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    /// The function after the pass, as the kernel of its module.
    fn narrowed(body: &str) -> String {
        let text = format!(
            "global @g0 \"table\" constant size 4 align 4 = zero\nkernel \"k\" @0 (value 0, local 8, value 16)\n\
             func \"k\" (ptr, ptr, i1) -> () {{\n  local l0 \"tile\" size 4 align 4\n\
             block0(v0: ptr, v1: ptr, v2: i1):\nv3: ptr = alloca.4.align4\nv4: ptr = local_addr l0\n\
             v5: ptr = global_addr @g0\nv6: i64 = const 4\n{body}\nret\n}}"
        );
        let module = parse::module(&text).unwrap();
        let mut info = module.kernels[0].info.clone();
        info.args[0].kind = ArgKind::Pointer(AddressSpace::Global);
        let mut func = module.functions.values().next().unwrap().clone();
        let kernel = &module.kernels[0];
        let params: Vec<AddressSpace> = (kernel.params.iter())
            .map(|source| argument_space(&info, source))
            .collect();
        run(&mut func, &module, &params);
        func.to_string()
    }

    #[test]
    fn every_source_of_a_pointer_is_known() {
        for (pointer, space) in [
            ("v0", "global"),
            ("v1", "local"),
            ("v3", "private"),
            ("v4", "local"),
            ("v5", "constant"),
        ] {
            let text = narrowed(&format!(
                "v7: ptr = ptr_add {pointer}, v6\nv8: i32 = load.generic.align4 v7"
            ));
            assert!(text.contains(&format!("load.{space}.align4")), "{text}");
        }
    }

    #[test]
    fn sides_must_agree_also_round_a_loop() {
        let choose = |a: &str, b: &str| {
            narrowed(&format!(
                "v7: ptr = select v2, {a}, {b}\nstore.generic.align4 v7, v6"
            ))
        };
        assert!(choose("v1", "v4").contains("store.local"));
        assert!(choose("v1", "v3").contains("store.generic"));
        let around = |start: &str, next: &str| {
            narrowed(&format!(
                "br block1({start})\nblock1(v7: ptr):\nv8: ptr = ptr_add v7, v6\n\
                 v9: i64 = atomic_load.generic.device.relaxed v8\ncond_br v2, block1({next}), block2\nblock2:"
            ))
        };
        assert!(around("v0", "v8").contains("atomic_load.global"));
        assert!(around("v0", "v4").contains("atomic_load.generic"));
    }

    #[test]
    fn a_pointer_from_memory_may_be_anywhere() {
        let text = narrowed("v7: ptr = load.private.align8 v3\nstore.generic.align4 v7, v6");
        assert!(text.contains("store.generic"), "{text}");
    }
}
