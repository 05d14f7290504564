//! A function: arenas of values, instructions and blocks, and the blocks' order.

use std::sync::Arc;

use cranelift_entity::{PrimaryMap, SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::{Block, Inst, Interleaving, LocalId, Op, SlotId, Type, Value};

/// Index into [`super::Module::locations`], or nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SourceLoc(pub Option<std::num::NonZeroU32>);

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// The n-th result of an instruction.
    Result(Inst, u16),
    /// The n-th parameter of a block.
    Param(Block, u16),
}

#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    pub ty: Type,
    pub def: ValueDef,
}

/// An instruction: an operation, its operands and its results.
#[derive(Clone, Debug)]
pub struct InstData {
    pub op: Op,
    pub args: SmallVec<[Value; 4]>,
    pub results: SmallVec<[Value; 2]>,
    pub loc: SourceLoc,
}

/// A jump: a block and a value for each of its parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlockCall {
    pub block: Block,
    pub args: SmallVec<[Value; 4]>,
}

impl BlockCall {
    pub fn new(block: Block, args: &[Value]) -> BlockCall {
        BlockCall {
            block,
            args: SmallVec::from_slice(args),
        }
    }
}

/// How a block ends.
#[derive(Clone, Debug)]
pub enum Terminator {
    Br(BlockCall),
    /// The condition is a one-lane `i1`.
    CondBr {
        cond: Value,
        then: BlockCall,
        els: BlockCall,
    },
    /// Compares a one-lane integer with each case (zero-extended bits); cases are distinct.
    Switch {
        value: Value,
        cases: Vec<(u64, BlockCall)>,
        default: BlockCall,
    },
    Ret(SmallVec<[Value; 4]>),
    /// Control never arrives. Executing it returns from the kernel.
    Unreachable,
}

impl Terminator {
    /// The jumps, in order (then before else, cases before default).
    pub fn targets(&self) -> impl DoubleEndedIterator<Item = &BlockCall> {
        let (first, cases, last) = match self {
            Terminator::Br(call) => (Some(call), &[][..], None),
            Terminator::CondBr { then, els, .. } => (Some(then), &[][..], Some(els)),
            Terminator::Switch { cases, default, .. } => (None, &cases[..], Some(default)),
            Terminator::Ret(_) | Terminator::Unreachable => (None, &[][..], None),
        };
        let cases = cases.iter().map(|(_, call)| call);
        first.into_iter().chain(cases).chain(last)
    }

    /// How many jumps there are.
    pub fn target_count(&self) -> usize {
        match self {
            Terminator::Br(_) => 1,
            Terminator::CondBr { .. } => 2,
            Terminator::Switch { cases, .. } => cases.len() + 1,
            Terminator::Ret(_) | Terminator::Unreachable => 0,
        }
    }

    /// The `n`-th jump in the order of [`Terminator::targets`].
    pub fn target(&self, n: usize) -> Option<&BlockCall> {
        match (self, n) {
            (Terminator::Br(call), 0) => Some(call),
            (Terminator::CondBr { then, .. }, 0) => Some(then),
            (Terminator::CondBr { els, .. }, 1) => Some(els),
            (Terminator::Switch { cases, default, .. }, n) => match cases.get(n) {
                Some((_, call)) => Some(call),
                None => (n == cases.len()).then_some(default),
            },
            _ => None,
        }
    }

    /// The `n`-th jump, mutably, in the order of [`Terminator::targets`].
    pub fn target_mut(&mut self, n: usize) -> Option<&mut BlockCall> {
        match (self, n) {
            (Terminator::Br(call), 0) => Some(call),
            (Terminator::CondBr { then, .. }, 0) => Some(then),
            (Terminator::CondBr { els, .. }, 1) => Some(els),
            (Terminator::Switch { cases, default, .. }, n) => {
                let count = cases.len();
                match cases.get_mut(n) {
                    Some((_, call)) => Some(call),
                    None => (n == count).then_some(default),
                }
            }
            _ => None,
        }
    }

    /// The jumps, mutably, in the order of [`Terminator::targets`].
    pub fn targets_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut BlockCall> {
        let (first, cases, last) = match self {
            Terminator::Br(call) => (Some(call), &mut [][..], None),
            Terminator::CondBr { then, els, .. } => (Some(then), &mut [][..], Some(els)),
            Terminator::Switch { cases, default, .. } => (None, &mut cases[..], Some(default)),
            Terminator::Ret(_) | Terminator::Unreachable => (None, &mut [][..], None),
        };
        let cases = cases.iter_mut().map(|(_, call)| call);
        first.into_iter().chain(cases).chain(last)
    }

    /// Calls `f` on every value used, jump arguments included.
    pub fn for_each_value(&self, mut f: impl FnMut(Value)) {
        match self {
            Terminator::CondBr { cond: v, .. } | Terminator::Switch { value: v, .. } => f(*v),
            Terminator::Ret(values) => values.iter().copied().for_each(&mut f),
            Terminator::Br(_) | Terminator::Unreachable => {}
        }
        for call in self.targets() {
            call.args.iter().copied().for_each(&mut f);
        }
    }

    /// Calls `f` on every value used, so that it can be replaced.
    pub fn for_each_value_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Terminator::CondBr { cond: v, .. } | Terminator::Switch { value: v, .. } => f(v),
            Terminator::Ret(values) => values.iter_mut().for_each(&mut f),
            Terminator::Br(_) | Terminator::Unreachable => {}
        }
        for call in self.targets_mut() {
            call.args.iter_mut().for_each(&mut f);
        }
    }
}

/// A jump: the block that it ends, and its number in the order of [`Terminator::targets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    pub from: Block,
    pub number: u32,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct BlockData {
    pub params: Vec<Value>,
    pub insts: Vec<Inst>,
    pub term: Terminator,
}

/// A work-group variable with a size known when the kernel was written.
#[derive(Clone, Debug)]
pub struct LocalVar {
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Bytes, a power of two.
    pub align: u32,
}

/// One value per work-item that survives barriers.
#[derive(Clone, Debug)]
pub struct Slot {
    pub ty: Type,
    /// A private array of this many bytes instead of an SSA value, when not 0; the slot is its
    /// address.
    pub bytes: u32,
    /// Bytes, a power of two, for private arrays.
    pub align: u32,
    /// For private arrays.
    pub interleaving: Option<Interleaving>,
}

/// A function; its entry block's parameters are its own.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub results: Vec<Type>,
    pub values: PrimaryMap<Value, ValueData>,
    pub insts: PrimaryMap<Inst, InstData>,
    pub blocks: PrimaryMap<Block, BlockData>,
    /// The blocks that exist, entry first.
    pub layout: Vec<Block>,
    pub locals: PrimaryMap<LocalId, LocalVar>,
    /// Shared by the regions of a kernel.
    pub slots: Arc<PrimaryMap<SlotId, Slot>>,
}

impl Function {
    /// An empty function with an entry block that has a parameter of each type and ends
    /// `Unreachable`.
    pub fn new(name: impl Into<String>, params: &[Type], results: &[Type]) -> Function {
        let mut func = Function {
            name: name.into(),
            results: results.to_vec(),
            values: PrimaryMap::new(),
            insts: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            layout: Vec::new(),
            locals: PrimaryMap::new(),
            slots: Arc::default(),
        };
        let entry = func.add_block();
        for &ty in params {
            func.add_param(entry, ty);
        }
        func
    }

    pub fn entry(&self) -> Block {
        self.layout[0]
    }

    /// The entry block's parameters.
    pub fn params(&self) -> &[Value] {
        &self.blocks[self.entry()].params
    }

    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// Appends an empty block to the layout, ending `Unreachable` until told otherwise.
    pub fn add_block(&mut self) -> Block {
        let block = self.blocks.push(BlockData {
            params: Vec::new(),
            insts: Vec::new(),
            term: Terminator::Unreachable,
        });
        self.layout.push(block);
        block
    }

    /// Appends a parameter to a block; jumps to it are the caller's to amend.
    pub fn add_param(&mut self, block: Block, ty: Type) -> Value {
        let index = self.blocks[block].params.len();
        let value = self.values.push(ValueData {
            ty,
            def: ValueDef::Param(
                block,
                u16::try_from(index).expect("fewer than 65536 parameters"),
            ),
        });
        self.blocks[block].params.push(value);
        value
    }

    /// Makes an instruction with fresh results, in no block yet.
    pub fn make_inst(&mut self, op: Op, args: &[Value], results: &[Type], loc: SourceLoc) -> Inst {
        let inst = self.insts.next_key();
        let results = results
            .iter()
            .enumerate()
            .map(|(i, &ty)| {
                self.values.push(ValueData {
                    ty,
                    def: ValueDef::Result(
                        inst,
                        u16::try_from(i).expect("fewer than 65536 results"),
                    ),
                })
            })
            .collect();
        self.insts.push(InstData {
            op,
            args: SmallVec::from_slice(args),
            results,
            loc,
        })
    }

    /// The instruction that defines a value, unless it is a block parameter.
    pub fn def_inst(&self, value: Value) -> Option<Inst> {
        match self.values[value].def {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) => None,
        }
    }

    /// The operation that defines a value, unless it is a block parameter.
    pub fn def_op(&self, value: Value) -> Option<&Op> {
        self.def_inst(value).map(|inst| &self.insts[inst].op)
    }

    /// The bits of a constant's lanes.
    pub fn as_const(&self, value: Value) -> Option<u64> {
        match self.def_op(value) {
            Some(Op::Const(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// The targets of a block's terminator.
    pub fn successors(&self, block: Block) -> impl DoubleEndedIterator<Item = Block> {
        self.blocks[block].term.targets().map(|call| call.block)
    }

    /// The blocks that jump to each block; one entry per jump.
    pub fn predecessors(&self) -> SecondaryMap<Block, SmallVec<[Block; 4]>> {
        let mut preds: SecondaryMap<Block, SmallVec<[Block; 4]>> = SecondaryMap::new();
        preds.resize(self.blocks.len());
        for &block in &self.layout {
            for succ in self.successors(block) {
                preds[succ].push(block);
            }
        }
        preds
    }

    /// The jumps to each block.
    pub fn jumps(&self) -> SecondaryMap<Block, SmallVec<[Jump; 4]>> {
        let mut jumps: SecondaryMap<Block, SmallVec<[Jump; 4]>> = SecondaryMap::new();
        jumps.resize(self.blocks.len());
        for &from in &self.layout {
            for (number, to) in (0..).zip(self.successors(from)) {
                jumps[to].push(Jump { from, number });
            }
        }
        jumps
    }

    /// What a jump hands to the parameters of the block that it leads to.
    pub fn jump_args(&self, jump: Jump) -> &[Value] {
        let target = self.blocks[jump.from].term.target(jump.number as usize);
        &target.expect("the jump is one of the block's").args
    }

    /// Leads a jump to another block, with the same arguments.
    pub fn redirect(&mut self, jump: Jump, to: Block) {
        let target = self.blocks[jump.from].term.target_mut(jump.number as usize);
        target.expect("the jump is one of the block's").block = to;
    }

    /// The reachable blocks in reverse post-order.
    pub fn reverse_post_order(&self) -> Vec<Block> {
        let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
        seen.resize(self.blocks.len());
        let mut order = Vec::with_capacity(self.layout.len());
        let entry = self.entry();
        seen[entry] = true;
        // Blocks on the way, with the number of jumps not yet followed; the last is followed first.
        let mut stack = vec![(entry, self.blocks[entry].term.target_count())];
        while let Some((block, todo)) = stack.last_mut() {
            let term = &self.blocks[*block].term;
            if *todo == 0 {
                order.push(*block);
                stack.pop();
                continue;
            }
            *todo -= 1;
            if let Some(call) = term.target(*todo)
                && !std::mem::replace(&mut seen[call.block], true)
            {
                let count = self.blocks[call.block].term.target_count();
                stack.push((call.block, count));
            }
        }
        order.reverse();
        order
    }

    /// Bytes of the function's private variables, each with what its alignment adds.
    pub fn private_bytes(&self) -> u64 {
        let insts = self.blocks[self.entry()].insts.iter();
        insts
            .map(|&inst| match self.insts[inst].op {
                Op::Alloca { size, align, .. } => {
                    u64::from(size).next_multiple_of(u64::from(align.max(1)))
                }
                _ => 0,
            })
            .sum()
    }

    /// How often each value is used, by instructions and at the ends of blocks.
    pub fn use_counts(&self) -> SecondaryMap<Value, u32> {
        let mut uses = SecondaryMap::with_capacity(self.values.len());
        for &block in &self.layout {
            let data = &self.blocks[block];
            for &inst in &data.insts {
                self.insts[inst].args.iter().for_each(|&arg| uses[arg] += 1);
            }
            data.term.for_each_value(|value| uses[value] += 1);
        }
        uses
    }

    /// Rewrites every use of a key of `replace` to what it maps to, following chains. Cost: linear.
    pub fn replace_uses(&mut self, replace: &SecondaryMap<Value, PackedOption<Value>>) {
        let resolve = |value: &mut Value| {
            while let Some(next) = replace[*value].expand() {
                *value = next;
            }
        };
        for &block in &self.layout {
            let data = &mut self.blocks[block];
            for &inst in &data.insts {
                self.insts[inst].args.iter_mut().for_each(resolve);
            }
            data.term.for_each_value_mut(resolve);
        }
    }
}
