//! Finds packs: loads and stores of several elements that lie end to end, and what they grow to by
//! way of operands and users.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};

use super::Access;
use super::packs::{Elements, Kind, Loose, LooseData, Pack, PackData, Packs, Source};
use crate::analysis::LoopForest;
use crate::ir::{Block, Function, Inst, Jump, Op, Terminator, Value, ValueDef};

/// Of so many uses of a value packs are looked for.
const USES: usize = 16;

/// Finds them. Exchanges operands where that makes elements alike.
pub fn find(func: &mut Function, loops: &LoopForest) -> Packs {
    let mut finder = Finder::new(func, loops);
    let order = finder.func.layout.clone();
    for &block in &order {
        for inst in finder.func.blocks[block].insts.clone() {
            finder.access(block, inst);
        }
    }
    while let Some(pack) = finder.work.pop() {
        finder.grow(pack);
    }
    finder.find_uses_apart();
    finder.packs
}

#[derive(Clone, Copy)]
enum User {
    Inst(Inst),
    /// An argument.
    Jump(Jump),
    /// What a block's end decides on, or returns.
    End,
}

struct Finder<'a> {
    func: &'a mut Function,
    loops: &'a LoopForest,
    packs: Packs,
    uses: SecondaryMap<Value, SmallVec<[User; 2]>>,
    /// The block of each instruction, and its place there.
    places: SecondaryMap<Inst, Option<(Block, u32)>>,
    def_block: SecondaryMap<Value, Option<Block>>,
    loose: HashMap<Elements, Loose>,
    /// Packs whose operands and users have not been looked at.
    work: Vec<Pack>,
}

impl<'a> Finder<'a> {
    fn new(func: &'a mut Function, loops: &'a LoopForest) -> Finder<'a> {
        let mut uses: SecondaryMap<Value, SmallVec<[User; 2]>> = SecondaryMap::new();
        let mut places = SecondaryMap::with_capacity(func.insts.len());
        let mut def_block = SecondaryMap::with_capacity(func.values.len());
        let mut packs = Packs::default();
        for &block in &func.layout {
            let data = &func.blocks[block];
            for &param in &data.params {
                def_block[param] = Some(block);
            }
            for (n, &inst) in data.insts.iter().enumerate() {
                places[inst] = Some((block, n as u32));
                for &arg in &func.insts[inst].args {
                    uses[arg].push(User::Inst(inst));
                }
                for &result in &func.insts[inst].results {
                    def_block[result] = Some(block);
                }
            }
            match &data.term {
                Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } => {
                    uses[*value].push(User::End);
                }
                Terminator::Ret(values) => {
                    values.iter().for_each(|&v| uses[v].push(User::End));
                }
                Terminator::Br(_) | Terminator::Unreachable => {}
            }
            for (number, call) in (0..).zip(data.term.targets()) {
                packs.jumps[call.block].push((block, number as usize));
                let jump = Jump {
                    from: block,
                    number,
                };
                for &arg in &call.args {
                    uses[arg].push(User::Jump(jump));
                }
            }
        }
        Finder {
            func,
            loops,
            packs,
            uses,
            places,
            def_block,
            loose: HashMap::new(),
            work: Vec::new(),
        }
    }

    /// What transposing so many elements costs in a block.
    fn cost(&self, block: Block, elements: usize) -> u64 {
        let weight = 4u64.saturating_pow(self.loops.depth(block).min(8));
        let steps = elements.next_power_of_two().trailing_zeros();
        weight * elements as u64 * u64::from(steps)
    }

    fn make(&mut self, kind: Kind, values: &[Value], block: Block, elements: usize) -> Pack {
        let cost = self.cost(block, elements);
        let pack = self.packs.packs.push(PackData {
            kind,
            values: values.into(),
            operands: smallvec![],
            cost,
            users: Vec::new(),
            is_used_apart: false,
        });
        for (n, &value) in values.iter().enumerate() {
            self.packs.of_value[value] = Some((pack, n as u8));
        }
        self.work.push(pack);
        pack
    }

    /// Makes a pack of a load or store that can be one.
    fn access(&mut self, block: Block, inst: Inst) {
        let Some(access) = Access::of(self.func, inst) else {
            return;
        };
        let elements: Elements = access.elements.into();
        let (kind, values) = match access.is_store {
            true => (Kind::Store(inst), &[][..]),
            false => (Kind::Load(inst), &elements[..]),
        };
        let pack = self.make(kind, values, block, elements.len());
        self.packs.of_inst[inst] = Some(pack);
    }

    /// Finds a pack's operands, and packs that use it.
    fn grow(&mut self, pack: Pack) {
        let data = &self.packs.packs[pack];
        let values = data.values.clone();
        let operands: Vec<Elements> = match &data.kind {
            Kind::Load(_) => Vec::new(),
            Kind::Store(inst) => {
                let access = Access::of(self.func, *inst).expect("it was one");
                vec![access.elements.into()]
            }
            Kind::Insts(insts) => {
                let insts = insts.clone();
                self.align_operands(&insts);
                let count = self.func.insts[insts[0]].args.len();
                let func = &*self.func;
                let operand = |n: usize| insts.iter().map(|&i| func.insts[i].args[n]).collect();
                (0..count).map(operand).collect()
            }
            Kind::Params(block) => {
                let jumps = self.packs.jumps[*block].iter();
                jumps
                    .map(|&(from, n)| {
                        let term = &self.func.blocks[from].term;
                        let call = term.target(n).expect("a jump");
                        values
                            .iter()
                            .map(|&param| match self.func.values[param].def {
                                ValueDef::Param(_, n) => call.args[usize::from(n)],
                                ValueDef::Result(..) => unreachable!("a parameter"),
                            })
                            .collect()
                    })
                    .collect()
            }
        };
        for elements in operands {
            let source = self.source(&elements);
            match source {
                Source::Same(_) => {}
                Source::Pack(operand) => self.packs.packs[operand].users.push(pack),
                Source::Loose(operand) => self.packs.loose[operand].users.push(pack),
            }
            self.packs.packs[pack].operands.push(source);
        }
        if !values.is_empty() {
            self.grow_to_users(&values);
        }
    }

    /// What a pack with these operands has them from.
    fn source(&mut self, elements: &[Value]) -> Source {
        if let Some(same) = self.same(elements) {
            return Source::Same(same);
        }
        if let Some(pack) = self.pack(elements) {
            return Source::Pack(pack);
        }
        if let Some(&known) = self.loose.get(elements) {
            return Source::Loose(known);
        }
        // What is the same in all lanes is transposed where that is known, out of loops.
        let known_in = |&v: &Value| match self.func.def_inst(v).map(|i| &self.func.insts[i]) {
            Some(data) if matches!(data.op, Op::Const(_)) => None,
            Some(data) if matches!(data.op, Op::Splat) => self.def_block[data.args[0]],
            _ => self.def_block[v],
        };
        let deepest = elements
            .iter()
            .filter_map(known_in)
            .max_by_key(|&block| self.loops.depth(block));
        let block = deepest.unwrap_or_else(|| self.func.entry());
        let uniform = |&v: &Value| matches!(self.func.def_op(v), Some(Op::Const(_) | Op::Splat));
        let loose = self.packs.loose.push(LooseData {
            cost: self.cost(block, elements.len()),
            is_uniform: elements.iter().all(uniform),
            values: elements.into(),
            users: Vec::new(),
        });
        self.loose.insert(elements.into(), loose);
        Source::Loose(loose)
    }

    /// The value that stands for all elements, if all lanes of all are the same.
    fn same(&self, elements: &[Value]) -> Option<Value> {
        let first = elements[0];
        let equal = |&other: &Value| {
            let (a, b) = (self.func.def_inst(first), self.func.def_inst(other));
            other == first
                || a.zip(b).is_some_and(|(a, b)| {
                    let (a, b) = (&self.func.insts[a], &self.func.insts[b]);
                    a.op == b.op && a.args == b.args && matches!(a.op, Op::Const(_) | Op::Splat)
                })
        };
        let is_uniform = self.func.ty(first).is_scalar()
            || matches!(self.func.def_op(first), Some(Op::Const(_) | Op::Splat));
        (is_uniform && elements.iter().all(equal)).then_some(first)
    }

    /// The pack of these values, if they are one or can be.
    fn pack(&mut self, elements: &[Value]) -> Option<Pack> {
        let of_value = &self.packs.of_value;
        if let Some((pack, 0)) = of_value[elements[0]] {
            let mut rest = elements.iter().enumerate();
            let all = rest.all(|(n, &v)| of_value[v] == Some((pack, n as u8)));
            return (all && self.packs.packs[pack].values.len() == elements.len()).then_some(pack);
        }
        let mut sorted: Elements = elements.into();
        sorted.sort_unstable();
        sorted.dedup();
        let free = elements.iter().all(|&v| of_value[v].is_none());
        if !free || sorted.len() < elements.len() || self.loose.contains_key(elements) {
            return None;
        }
        match self.func.values[elements[0]].def {
            ValueDef::Result(..) => self.insts(elements),
            ValueDef::Param(block, _) => self.params(block, elements),
        }
    }

    /// A pack of instructions.
    fn insts(&mut self, elements: &[Value]) -> Option<Pack> {
        let func = &*self.func;
        let insts: Option<SmallVec<[Inst; 4]>> =
            elements.iter().map(|&v| func.def_inst(v)).collect();
        let insts = insts?;
        let first = insts[0];
        let (block, _) = self.places[first]?;
        if !is_element_wise(func, first) || !insts.iter().all(|&i| self.is_like(i, first)) {
            return None;
        }
        // All are done where the last one is.
        let last = insts.iter().filter_map(|&i| self.places[i]).max()?.1;
        let is_later = |user: &User| match *user {
            User::Jump(_) | User::End => true,
            User::Inst(user) => {
                self.places[user].is_none_or(|(at, place)| at != block || place > last)
            }
        };
        if !elements.iter().all(|&v| self.uses[v].iter().all(is_later)) {
            return None;
        }
        let pack = self.make(Kind::Insts(insts.clone()), elements, block, elements.len());
        for inst in insts {
            self.packs.of_inst[inst] = Some(pack);
        }
        Some(pack)
    }

    /// Whether an instruction does in the same block what another does, and of operands that are
    /// one for all lanes and elements has the same.
    fn is_like(&self, inst: Inst, other: Inst) -> bool {
        let (a, b) = (&self.func.insts[inst], &self.func.insts[other]);
        let block = |inst| self.places[inst].map(|(block, _)| block);
        let ty = |value: Value| self.func.ty(value);
        inst == other
            || a.op == b.op
                && block(inst) == block(other)
                && ty(a.results[0]) == ty(b.results[0])
                && a.args.len() == b.args.len()
                && a.args.iter().zip(&b.args).all(|(&a, &b)| {
                    ty(a) == ty(b) && (!ty(a).is_scalar() || self.same(&[a, b]).is_some())
                })
    }

    /// A pack of parameters.
    fn params(&mut self, block: Block, elements: &[Value]) -> Option<Pack> {
        let is_param =
            |&v: &Value| matches!(self.func.values[v].def, ValueDef::Param(of, _) if of == block);
        let ty = self.func.ty(elements[0]);
        let alike = elements.iter().all(|&v| self.func.ty(v) == ty);
        if block == self.func.entry() || !alike || !elements.iter().all(is_param) {
            return None;
        }
        Some(self.make(Kind::Params(block), elements, block, elements.len()))
    }

    /// Exchanges operands, where that may be, so that those of all elements are alike.
    fn align_operands(&mut self, insts: &[Inst]) {
        let exchanges = match self.func.insts[insts[0]].op {
            Op::Binary(op, _) => op.is_commutative(),
            Op::Fma => true,
            _ => false,
        };
        if !exchanges {
            return;
        }
        let (first, rest) = insts.split_first().expect("several");
        let wanted = self.func.insts[*first].args[0];
        for &inst in rest {
            let args = &self.func.insts[inst].args;
            if !self.goes_with(args[0], wanted) && self.goes_with(args[1], wanted) {
                self.func.insts[inst].args.swap(0, 1);
            }
        }
    }

    /// Whether two values look like elements of one pack.
    fn goes_with(&self, value: Value, other: Value) -> bool {
        let pack = |v: Value| self.packs.of_value[v].map(|(pack, _)| pack);
        match (pack(value), pack(other)) {
            (None, None) => {}
            (a, b) => return a == b,
        }
        match (self.func.values[value].def, self.func.values[other].def) {
            (ValueDef::Param(a, _), ValueDef::Param(b, _)) => a == b,
            (ValueDef::Result(a, _), ValueDef::Result(b, _)) => {
                a == b || self.func.insts[a].op == self.func.insts[b].op
            }
            _ => false,
        }
    }

    /// Makes packs of what does the same with each of these values.
    fn grow_to_users(&mut self, values: &[Value]) {
        // Users of the first that were told apart by what they do, and how often each was met.
        let mut met: SmallVec<[(Op, usize); 4]> = smallvec![];
        for user in self.some_uses(values[0]) {
            match user {
                User::Inst(inst) => {
                    let data = &self.func.insts[inst];
                    let is_new = self.packs.of_inst[inst].is_none();
                    if !is_element_wise(self.func, inst) {
                        continue;
                    }
                    let number = match met.iter_mut().find(|(op, _)| *op == data.op) {
                        Some((_, count)) => {
                            *count += 1;
                            *count
                        }
                        None => {
                            met.push((data.op.clone(), 0));
                            0
                        }
                    };
                    let users: Option<Elements> = values
                        .iter()
                        .map(|&value| {
                            let alike = self.some_uses(value).into_iter().filter_map(|user| {
                                let User::Inst(other) = user else { return None };
                                let data = &self.func.insts[other];
                                (data.op == self.func.insts[inst].op
                                    && is_element_wise(self.func, other))
                                .then(|| data.results[0])
                            });
                            alike.into_iter().nth(number)
                        })
                        .collect();
                    if let Some(users) = users.filter(|_| is_new) {
                        self.pack(&users);
                    }
                }
                User::Jump(jump) => {
                    let term = &self.func.blocks[jump.from].term;
                    let call = term.target(jump.number as usize).expect("a jump");
                    let param = |value: &Value| {
                        let at = call.args.iter().position(|arg| arg == value)?;
                        self.func.blocks[call.block].params.get(at).copied()
                    };
                    let params: Option<Elements> = values.iter().map(param).collect();
                    if let Some(params) = params {
                        self.pack(&params);
                    }
                }
                User::End => {}
            }
        }
    }

    /// The uses of a value, each once.
    fn some_uses(&self, value: Value) -> SmallVec<[User; 4]> {
        let mut last = None;
        let uses = self.uses[value].iter().take(USES).filter(|user| {
            let inst = match user {
                User::Inst(inst) => Some(*inst),
                User::Jump(_) | User::End => None,
            };
            inst.is_none() || std::mem::replace(&mut last, inst) != inst
        });
        uses.copied().collect()
    }

    /// Which packs have values that something else uses: those with more uses than packs make.
    fn find_uses_apart(&mut self) {
        let mut by_packs: SecondaryMap<Value, u32> = SecondaryMap::new();
        for data in self.packs.packs.values() {
            for source in &data.operands {
                if let Source::Pack(operand) = source {
                    for &value in &self.packs.packs[*operand].values {
                        by_packs[value] += 1;
                    }
                }
            }
        }
        for data in self.packs.packs.values_mut() {
            let mut values = data.values.iter();
            let used = |&value: &Value| self.uses[value].len() as u32 > by_packs[value];
            data.is_used_apart = values.any(used);
        }
    }
}

/// Whether an instruction gives for each lane what it makes of that lane of its operands.
fn is_element_wise(func: &Function, inst: Inst) -> bool {
    let data = &func.insts[inst];
    let of_lanes = matches!(data.results[..], [result] if func.ty(result).lanes > 1);
    let kind = match data.op {
        Op::Unary(_)
        | Op::Binary(..)
        | Op::Fma
        | Op::Rounded(..)
        | Op::Lookup(_)
        | Op::ICmp(_)
        | Op::FCmp(_)
        | Op::Select
        | Op::Convert(..) => true,
        Op::Builtin(builtin) => builtin.is_lane_wise(),
        _ => false,
    };
    kind && of_lanes
}
