//! Demotion: values by way of private memory, which [`promote`](super::promote) turns into values
//! again. It is for blocks that are about to be copied or entered in new places, so that a value
//! comes to have several definitions.
//!
//! Cost: linear; where values share variables, as in `lifetimes.rs`.

use std::collections::BTreeMap;

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use super::lifetimes;
use crate::ir::{
    Block, Builder, DominatorTree, Function, Inst, Mem, Op, SourceLoc, Terminator, Type, Value,
};
use crate::kernel_info::AddressSpace;

/// A variable of each work-item in private memory.
#[derive(Clone, Copy)]
pub struct Variable {
    address: Value,
    ty: Type,
}

impl Variable {
    /// Makes a variable, in the entry block.
    pub fn new(func: &mut Function, ty: Type) -> Variable {
        let (inst, variable) = Variable::unplaced(func, ty);
        let entry = func.entry();
        func.blocks[entry].insts.insert(0, inst);
        variable
    }

    /// A variable whose allocation is in no block yet.
    fn unplaced(func: &mut Function, ty: Type) -> (Inst, Variable) {
        let alloca = Op::Alloca {
            size: ty.bytes(),
            align: ty.bytes(),
            interleaving: None,
        };
        let inst = func.make_inst(alloca, &[], &[Type::PTR], SourceLoc::default());
        let address = func.insts[inst].results[0];
        (inst, Variable { address, ty })
    }

    pub fn load(self, b: &mut Builder<'_>) -> Value {
        b.load(self.mem(), self.address, self.ty)
    }

    pub fn store(self, b: &mut Builder<'_>, value: Value) {
        b.store(self.mem(), self.address, value);
    }

    fn mem(self) -> Mem {
        Mem::new(AddressSpace::Private, self.ty.bytes())
    }
}

/// Stores some values where they are defined, and loads them where another block uses them.
/// Constants are made again instead.
pub fn demote(func: &mut Function, values: &SecondaryMap<Value, bool>) {
    demote_to(func, values, |value| value.as_u32());
}

/// The same, where control is about to get edges by which everything comes to everything else:
/// promotion would have each variable live everywhere then. So values share one that are not
/// wanted at the same time in the function as it is.
pub fn demote_sharing(func: &mut Function, values: &SecondaryMap<Value, bool>) {
    let numbers = lifetimes::share_variables(func, values);
    demote_to(func, values, |value| numbers[value]);
}

fn demote_to(
    func: &mut Function,
    values: &SecondaryMap<Value, bool>,
    number: impl Fn(Value) -> u32,
) {
    let home = homes(func, values);
    let mut demoted = Demoted {
        home,
        number,
        variables: BTreeMap::new(),
        stored: BTreeMap::new(),
    };
    for block in func.layout.clone() {
        demoted.load_in(func, block);
    }
    demoted.store(func);
}

/// Where each of some values is defined.
pub(super) fn homes(
    func: &Function,
    values: &SecondaryMap<Value, bool>,
) -> SecondaryMap<Value, PackedOption<Block>> {
    let mut home: SecondaryMap<Value, PackedOption<Block>> = SecondaryMap::new();
    for &block in &func.layout {
        let data = &func.blocks[block];
        let results = data
            .insts
            .iter()
            .flat_map(|&inst| &func.insts[inst].results);
        for &value in data.params.iter().chain(results) {
            if values[value] {
                home[value] = block.into();
            }
        }
    }
    home
}

/// Values that are about to be variables.
struct Demoted<N> {
    /// Where each is defined.
    home: SecondaryMap<Value, PackedOption<Block>>,
    /// The number of its variable, if it needs one.
    number: N,
    /// Variables by number, with their allocations.
    variables: BTreeMap<u32, (Inst, Variable)>,
    /// The variables of values that another block uses.
    stored: BTreeMap<Value, Variable>,
}

impl<N: Fn(Value) -> u32> Demoted<N> {
    fn is_from_elsewhere(&self, value: Value, block: Block) -> bool {
        self.home[value].expand().is_some_and(|home| home != block)
    }

    /// Has a block load what it uses of other blocks, each value once.
    fn load_in(&mut self, func: &mut Function, block: Block) {
        let mut loaded: BTreeMap<Value, Value> = BTreeMap::new();
        let insts = std::mem::take(&mut func.blocks[block].insts);
        for inst in insts {
            for n in 0..func.insts[inst].args.len() {
                let value = func.insts[inst].args[n];
                if self.is_from_elsewhere(value, block) {
                    let new = loaded
                        .entry(value)
                        .or_insert_with(|| self.load(func, block, value));
                    func.insts[inst].args[n] = *new;
                }
            }
            func.blocks[block].insts.push(inst);
        }
        let mut term = std::mem::replace(&mut func.blocks[block].term, Terminator::Unreachable);
        term.for_each_value_mut(|value| {
            if self.is_from_elsewhere(*value, block) {
                *value = *loaded
                    .entry(*value)
                    .or_insert_with(|| self.load(func, block, *value));
            }
        });
        func.blocks[block].term = term;
    }

    /// A value of another block, at the end of this one.
    fn load(&mut self, func: &mut Function, block: Block, value: Value) -> Value {
        let ty = func.ty(value);
        if let Some(bits) = func.as_const(value) {
            return Builder::new(func, block).iconst(ty, bits);
        }
        let variables = self.variables.entry((self.number)(value));
        let (_, variable) = *variables.or_insert_with(|| Variable::unplaced(func, ty));
        self.stored.insert(value, variable);
        variable.load(&mut Builder::new(func, block))
    }

    /// Allocates the variables, and stores the values where they are defined.
    fn store(self, func: &mut Function) {
        let mut stores_in: SecondaryMap<Block, bool> = SecondaryMap::new();
        for &value in self.stored.keys() {
            stores_in[self.home[value].expect("it is one of the values")] = true;
        }
        for block in func.layout.clone() {
            if !stores_in[block] {
                continue;
            }
            let insts = std::mem::take(&mut func.blocks[block].insts);
            let mut b = Builder::new(func, block);
            let store_all = |b: &mut Builder<'_>, values: &[Value]| {
                for &value in values.iter().rev() {
                    if let Some(variable) = self.stored.get(&value) {
                        variable.store(b, value);
                    }
                }
            };
            let params = b.func.blocks[block].params.clone();
            store_all(&mut b, &params);
            for inst in insts {
                b.func.blocks[block].insts.push(inst);
                let results = b.func.insts[inst].results.clone();
                store_all(&mut b, &results);
            }
        }
        let entry = func.entry();
        let allocas = self.variables.values().map(|&(inst, _)| inst);
        func.blocks[entry].insts.splice(0..0, allocas);
    }
}

/// Demotes the values that are used where their definition no longer dominates, because control has
/// new edges.
pub fn demote_undominated(func: &mut Function) {
    let tree = DominatorTree::new(func);
    let mut home: SecondaryMap<Value, Option<Block>> =
        SecondaryMap::with_capacity(func.values.len());
    for &block in &func.layout {
        for &param in &func.blocks[block].params {
            home[param] = Some(block);
        }
        for &inst in &func.blocks[block].insts {
            for &result in &func.insts[inst].results {
                home[result] = Some(block);
            }
        }
    }
    let mut undominated: SecondaryMap<Value, bool> = SecondaryMap::new();
    for &block in &func.layout {
        let mut note = |value: Value| {
            undominated[value] |= home[value].is_some_and(|def| !tree.dominates(def, block));
        };
        for &inst in &func.blocks[block].insts {
            func.insts[inst].args.iter().copied().for_each(&mut note);
        }
        func.blocks[block].term.for_each_value(&mut note);
    }
    demote(func, &undominated);
}
