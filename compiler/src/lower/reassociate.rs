//! Bitwise operations on three and more values of one lane, in the order in which they are known.
//!
//! `(late ^ b) ^ c` waits twice after `late`; `late ^ (b ^ c)` once. That is tree-height reduction
//! (Kuck, Muraoka and Chen, "On the number of operations simultaneously executable in Fortran-like
//! programs"), of one pair of operations at a time, in the order of a block: each takes the latest
//! operand out of one before that nothing else uses. There are as many operations as before.
//!
//! When a value is known is counted in cycles from the start of its block, about. What comes from
//! another block's end is taken to be late, as it is if a loop carries it round.
//!
//! What is stored stays as it is, since it may be combined with what is in memory in one
//! instruction, and so do sums, which addresses are made of. For vectors nothing is gained
//! (measured with hash functions): three values are combined in one instruction, and longer lives
//! are spilled. Linear.

use cranelift_entity::SecondaryMap;

use crate::ir::{BinOp, Block, ConvertOp, Function, Inst, Op, Scalar, Value, Wrap};
use crate::transform::dce;

/// When what comes from other blocks' ends is known.
const FROM_OTHER_BLOCKS: u32 = 1000;

/// Reorders what is worth it. Runs on what all other passes leave.
pub fn run(func: &mut Function) {
    let mut stored: SecondaryMap<Value, bool> = SecondaryMap::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if matches!(data.op, Op::Store(_)) {
                data.args.iter().for_each(|&arg| stored[arg] = true);
            }
        }
    }
    let mut reassociation = Reassociation {
        uses: func.use_counts(),
        stored,
        known: SecondaryMap::with_capacity(func.values.len()),
        block: SecondaryMap::with_capacity(func.insts.len()),
        func,
    };
    let mut changed = false;
    for index in 0..reassociation.func.layout.len() {
        changed |= reassociation.run_block(reassociation.func.layout[index]);
    }
    if changed {
        dce::run(func);
    }
}

struct Reassociation<'a> {
    func: &'a mut Function,
    uses: SecondaryMap<Value, u32>,
    stored: SecondaryMap<Value, bool>,
    /// When values are known, from the start of their blocks.
    known: SecondaryMap<Value, u32>,
    /// The block of each instruction that has been seen.
    block: SecondaryMap<Inst, Option<Block>>,
}

impl Reassociation<'_> {
    fn run_block(&mut self, block: Block) -> bool {
        if self.func.layout.first() != Some(&block) {
            for &param in &self.func.blocks[block].params {
                self.known[param] = FROM_OTHER_BLOCKS;
            }
        }
        let insts = std::mem::take(&mut self.func.blocks[block].insts);
        let count = insts.len();
        let mut out = Vec::with_capacity(count);
        for inst in insts {
            if let Some(made) = self.take_late_out(inst, block) {
                self.see(made, block);
                out.push(made);
            }
            self.see(inst, block);
            out.push(inst);
        }
        let changed = out.len() > count;
        self.func.blocks[block].insts = out;
        changed
    }

    fn see(&mut self, inst: Inst, block: Block) {
        self.block[inst] = Some(block);
        let data = &self.func.insts[inst];
        let args = data.args.iter().map(|&arg| self.known_in(arg, block));
        let known = args.max().unwrap_or(0) + latency(&data.op);
        for &result in &data.results {
            self.known[result] = known;
        }
    }

    /// When a value is known, as far as a block goes.
    fn known_in(&self, value: Value, block: Block) -> u32 {
        match self.func.def_inst(value) {
            Some(inst) if self.block[inst] != Some(block) => 0,
            _ => self.known[value],
        }
    }

    /// Makes `late op (b op c)` of `(late op b) op c`. Gives the inner operation, which is to come
    /// before.
    fn take_late_out(&mut self, inst: Inst, block: Block) -> Option<Inst> {
        let data = &self.func.insts[inst];
        let (&Op::Binary(op @ (BinOp::And | BinOp::Or | BinOp::Xor), _), &[x, y]) =
            (&data.op, &data.args[..])
        else {
            return None;
        };
        let result = data.results[0];
        let ty = self.func.ty(result);
        if ty.lanes > 1 || ty.scalar == Scalar::I1 || self.stored[result] {
            return None;
        }
        let known = |value| self.known_in(value, block);
        let (late, b, c) = [(x, y), (y, x)].into_iter().find_map(|(inner, c)| {
            let inner_inst = self.func.def_inst(inner)?;
            let data = &self.func.insts[inner_inst];
            let is_same = matches!(data.op, Op::Binary(other, _) if other == op);
            if !is_same || self.uses[inner] != 1 || self.block[inner_inst] != Some(block) {
                return None;
            }
            let (a, b) = (data.args[0], data.args[1]);
            let (late, b) = if known(a) >= known(b) { (a, b) } else { (b, a) };
            (known(late) > known(b).max(known(c))).then_some((late, b, c))
        })?;
        let op = Op::Binary(op, Wrap::default());
        let loc = self.func.insts[inst].loc;
        let made = self.func.make_inst(op, &[b, c], &[ty], loc);
        let rest = self.func.insts[made].results[0];
        self.uses[rest] = 1;
        let args = &mut self.func.insts[inst].args;
        (args[0], args[1]) = (late, rest);
        Some(made)
    }
}

/// Cycles that an operation takes, about.
fn latency(op: &Op) -> u32 {
    match op {
        Op::Const(_) | Op::Splat => 0,
        Op::Load(_) => 5,
        Op::Binary(op, _) if op.is_division() => 20,
        Op::Binary(op, _) if op.is_float() || *op == BinOp::IMul => 4,
        Op::Convert(ConvertOp::Trunc | ConvertOp::ZExt | ConvertOp::SExt, _) => 0,
        Op::Fma | Op::Rounded(..) | Op::Convert(..) => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::ir::parse;

    /// A function that loads a value and combines it with its parameters.
    fn reassociated(chain: &str) -> String {
        let text = format!(
            "func \"f\" (i32, i32, ptr) -> () {{
            block0(b: i32, c: i32, p: ptr):
              late: i32 = load.global.align4 p
              {chain}
              s: i32 = iadd y, b
              store.global.align4 p, s
              ret
            }}"
        );
        let mut module = parse::module(&text).expect("a module");
        let func = module.functions.values_mut().next().expect("a function");
        run(func);
        func.to_string()
    }

    /// How many operations there are from the load to the end of the chain.
    fn after_load(text: &str) -> usize {
        let mut known = vec!["late".to_owned()];
        let load = text.lines().find(|line| line.contains("load")).expect("it");
        let name = |line: &str| line.trim().split(':').next().unwrap_or("").to_owned();
        known[0] = name(load);
        for line in text.lines().filter(|line| line.contains("= xor ")) {
            let args = line.split("= xor ").nth(1).expect("operands");
            if args
                .split(", ")
                .any(|arg| known.contains(&arg.trim().to_owned()))
            {
                known.push(name(line));
            }
        }
        known.len() - 1
    }

    #[test]
    fn what_is_loaded_is_combined_last() {
        for chain in [
            "x: i32 = xor late, b\n y: i32 = xor x, c",
            "x: i32 = xor b, late\n y: i32 = xor c, x",
        ] {
            let text = reassociated(chain);
            assert_eq!(after_load(&text), 1, "{text}");
            assert_eq!(text.matches("= xor ").count(), 2, "{text}");
        }
    }

    #[test]
    fn what_something_else_uses_stays() {
        let text = reassociated(
            "x: i32 = xor late, b\n z: i32 = xor x, c\n store.global.align4 p, x\n \
             y: i32 = iadd z, x",
        );
        assert_eq!(after_load(&text), 2, "{text}");
    }
}
