//! Copies of instructions and blocks, through a map from what is copied to its copy.
//!
//! A [`Cloner`] copies from another function, as inlining and outlining do, or within one, as
//! unrolling and tail duplication do. An operand is looked up in the map. One that is not bound
//! there is from outside what is copied: within a function it stays what it is; from another
//! function only a constant may be unbound, and is made where it is used.
//!
//! A binding costs a map entry and one of the trail by which [`Cloner::roll_back`] undoes it, so
//! that many copies may be made with one map, each at the cost of what it copies.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::{Block, Builder, Function, Inst, Op, Terminator, Type, Value};

/// See the module's head.
#[derive(Default)]
pub struct Cloner<'a> {
    /// The function copied from, unless it is the one copied to.
    from: Option<&'a Function>,
    values: SecondaryMap<Value, PackedOption<Value>>,
    blocks: SecondaryMap<Block, PackedOption<Block>>,
    /// What was bound, and to what before, in order.
    value_trail: Vec<(Value, PackedOption<Value>)>,
    block_trail: Vec<(Block, PackedOption<Block>)>,
}

/// The bindings at some time; see [`Cloner::roll_back`].
#[derive(Clone, Copy)]
pub struct Checkpoint {
    values: usize,
    blocks: usize,
}

impl<'a> Cloner<'a> {
    /// For copies within a function.
    pub fn within() -> Cloner<'a> {
        Cloner::default()
    }

    /// For copies from `from` to another function.
    pub fn from(from: &'a Function) -> Cloner<'a> {
        let mut cloner = Cloner {
            from: Some(from),
            ..Cloner::default()
        };
        cloner.values.resize(from.values.len());
        cloner
    }

    /// Makes `new` stand for `old`.
    pub fn bind(&mut self, old: Value, new: Value) {
        let before = std::mem::replace(&mut self.values[old], new.into());
        self.value_trail.push((old, before));
    }

    /// [`Cloner::bind`] of each value in turn.
    pub fn bind_all(&mut self, old: &[Value], new: &[Value]) {
        debug_assert_eq!(old.len(), new.len());
        for (&old, &new) in old.iter().zip(new) {
            self.bind(old, new);
        }
    }

    /// Makes jumps to `old` go to `new`.
    pub fn bind_block(&mut self, old: Block, new: Block) {
        let before = std::mem::replace(&mut self.blocks[old], new.into());
        self.block_trail.push((old, before));
    }

    /// What [`Cloner::roll_back`] comes back to.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            values: self.value_trail.len(),
            blocks: self.block_trail.len(),
        }
    }

    /// Undoes all bindings made since.
    pub fn roll_back(&mut self, to: Checkpoint) {
        while self.value_trail.len() > to.values
            && let Some((value, before)) = self.value_trail.pop()
        {
            self.values[value] = before;
        }
        while self.block_trail.len() > to.blocks
            && let Some((block, before)) = self.block_trail.pop()
        {
            self.blocks[block] = before;
        }
    }

    /// The copy of a value, if it is bound.
    pub fn get(&self, value: Value) -> Option<Value> {
        self.values[value].expand()
    }

    /// The copy of a block, if it is bound.
    pub fn get_block(&self, block: Block) -> Option<Block> {
        self.blocks[block].expand()
    }

    /// What stands for a value.
    ///
    /// # Panics
    ///
    /// If it is not bound and from another function.
    pub fn value(&self, value: Value) -> Value {
        match (self.get(value), self.from) {
            (Some(new), _) => new,
            (None, None) => value,
            (None, Some(from)) => panic!("{value} of {:?} is used before its copy", from.name),
        }
    }

    /// What stands for a value, used at `b`: another function's constants may be made there.
    pub fn operand(&self, b: &mut Builder<'_>, value: Value) -> Value {
        if let Some(new) = self.get(value) {
            return new;
        }
        match self.from.map(|from| (from, from.as_const(value))) {
            Some((from, Some(bits))) => b.iconst(from.ty(value), bits),
            _ => self.value(value),
        }
    }

    /// The block that jumps to `block` go to in the copy.
    ///
    /// # Panics
    ///
    /// If it is not bound and from another function.
    pub fn block(&self, block: Block) -> Block {
        match (self.get_block(block), self.from) {
            (Some(new), _) => new,
            (None, None) => block,
            (None, Some(from)) => panic!("{block} of {:?} has no copy", from.name),
        }
    }

    /// Adds a block to `into` with parameters for those of `block`; binds it and them.
    pub fn add_block(&mut self, into: &mut Function, block: Block) -> Block {
        let new = into.add_block();
        self.bind_block(block, new);
        self.add_params(into, block, new);
        new
    }

    /// Adds parameters for those of `block` to `new`, and binds them.
    pub fn add_params(&mut self, into: &mut Function, block: Block, new: Block) {
        for n in 0..self.source(into).blocks[block].params.len() {
            let source = self.source(into);
            let param = source.blocks[block].params[n];
            let ty = source.ty(param);
            let copy = into.add_param(new, ty);
            self.bind(param, copy);
        }
    }

    fn source<'f>(&self, into: &'f Function) -> &'f Function
    where
        'a: 'f,
    {
        self.from.unwrap_or(into)
    }

    /// Makes an instruction with the results of `inst` but another operation and operands, in no
    /// block yet, and binds its results.
    pub fn make(&mut self, into: &mut Function, inst: Inst, op: Op, args: &[Value]) -> Inst {
        let source = self.source(into);
        let data = &source.insts[inst];
        let types: SmallVec<[Type; 2]> = data.results.iter().map(|&r| source.ty(r)).collect();
        let (old, loc) = (data.results.clone(), data.loc);
        let new = into.make_inst(op, args, &types, loc);
        self.bind_all(&old, &into.insts[new].results);
        new
    }

    /// Appends a copy of an instruction at `b`, which takes its location.
    pub fn inst(&mut self, b: &mut Builder<'_>, inst: Inst) -> Inst {
        let data = &self.source(b.func).insts[inst];
        let (op, mut args) = (data.op.clone(), data.args.clone());
        b.loc = data.loc;
        for arg in &mut args {
            *arg = self.operand(b, *arg);
        }
        let new = self.make(b.func, inst, op, &args);
        b.func.blocks[b.block].insts.push(new);
        new
    }

    /// What stands for a value of another function. If it is not bound, its instruction is copied
    /// to `b`, after those that its operands come from and that are not bound either: they need to
    /// have one result.
    pub fn rematerialize(&mut self, b: &mut Builder<'_>, value: Value) -> Value {
        let from = self.from.expect("within a function values are at hand");
        let mut todo: SmallVec<[Value; 8]> = SmallVec::new();
        todo.push(value);
        while let Some(&value) = todo.last() {
            if self.get(value).is_some() {
                todo.pop();
                continue;
            }
            let inst = from.def_inst(value).expect("parameters are bound");
            let before = todo.len();
            let args = from.insts[inst].args.iter().rev();
            todo.extend(args.copied().filter(|&arg| self.get(arg).is_none()));
            if todo.len() == before {
                self.inst(b, inst);
            }
        }
        self.value(value)
    }

    /// The copy of a terminator of the function copied from, for the block of `b`.
    pub fn terminator(&self, b: &mut Builder<'_>, term: &Terminator) -> Terminator {
        let mut term = term.clone();
        term.for_each_value_mut(|value| *value = self.operand(b, *value));
        for call in term.targets_mut() {
            call.block = self.block(call.block);
        }
        term
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Stage, parse, verify::verify};

    fn function(text: &str) -> Function {
        let module = parse::module(text).expect("a module");
        let first = module.functions.values().next();
        first.expect("a function").clone()
    }

    const LOOP: &str = "func \"f\" (i32, i1) -> (i32) {\nblock0(v0: i32, v1: i1):\n\
    v2: i32 = const 0x7\n\
                        br block1(v0)\nblock1(v3: i32):\nv4: i32 = iadd v3, v2\n\
                        cond_br v1, block1(v4), block2\n\
                        block2:\nret v4\n}";

    #[test]
    fn another_function_is_copied_block_by_block() {
        let from = function(LOOP);
        let mut out = Function::new("g", &[Type::I32, Type::I1], &[Type::I32]);
        let mut cloner = Cloner::from(&from);
        cloner.bind_all(from.params(), out.params());
        cloner.bind_block(from.entry(), out.entry());
        for &block in &from.layout[1..] {
            cloner.add_block(&mut out, block);
        }
        for &block in &from.layout {
            let to = cloner.get_block(block).expect("it was added");
            let mut b = Builder::new(&mut out, to);
            for &inst in &from.blocks[block].insts {
                cloner.inst(&mut b, inst);
            }
            let term = cloner.terminator(&mut b, &from.blocks[block].term);
            b.terminate(term);
        }
        verify(&out, Stage::Inlined, None).expect("a copy is valid");
        for &block in &from.layout {
            let copy = cloner.block(block);
            let ops = |func: &Function, block: Block| -> Vec<Op> {
                let insts = func.blocks[block].insts.iter();
                insts.map(|&inst| func.insts[inst].op.clone()).collect()
            };
            assert_eq!(ops(&out, copy), ops(&from, block));
            let jumps = from.successors(block).map(|to| cloner.block(to));
            assert!(out.successors(copy).eq(jumps), "{out}");
        }
    }

    #[test]
    fn within_a_function_only_what_is_copied_is_another() {
        let mut func = function(LOOP);
        let (header, exit) = (func.layout[1], func.layout[2]);
        let mut cloner = Cloner::within();
        let start = cloner.checkpoint();
        let copy = cloner.add_block(&mut func, header);
        let (inst, term) = (
            func.blocks[header].insts[0],
            func.blocks[header].term.clone(),
        );
        let mut b = Builder::new(&mut func, copy);
        let new = cloner.inst(&mut b, inst);
        let term = cloner.terminator(&mut b, &term);
        let (args, old) = (&func.insts[new].args, &func.insts[inst].args);
        assert_eq!(args[0], func.blocks[copy].params[0]);
        assert_eq!(args[1], old[1], "a constant from outside");
        let targets: Vec<Block> = term.targets().map(|call| call.block).collect();
        assert_eq!(targets, [copy, exit]);
        cloner.roll_back(start);
        assert_eq!(
            cloner.value(func.insts[inst].results[0]),
            func.insts[inst].results[0]
        );
        assert_eq!(cloner.get_block(header), None);
    }

    #[test]
    fn a_value_is_computed_again_after_what_it_is_computed_from() {
        let from = function(
            "func \"f\" (i32) -> (i32) {\nblock0(v0: i32):\nv1: i32 = const 0x3\n\
             v2: i32 = imul v0, v1\n\
             v3: i32 = iadd v2, v1\nv4: i32 = isub v3, v2\nret v4\n}",
        );
        let mut out = Function::new("g", &[Type::I32], &[Type::I32]);
        let mut cloner = Cloner::from(&from);
        cloner.bind_all(from.params(), out.params());
        let Terminator::Ret(results) = &from.blocks[from.entry()].term else {
            unreachable!("it returns")
        };
        let entry = out.entry();
        let mut b = Builder::new(&mut out, entry);
        let first = cloner.rematerialize(&mut b, results[0]);
        let second = cloner.rematerialize(&mut b, results[0]);
        assert_eq!(first, second);
        b.ret(&[first]);
        verify(&out, Stage::Inlined, None).expect("definitions come before uses");
        assert_eq!(out.blocks[entry].insts.len(), 4);
    }
}
