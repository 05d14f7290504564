//! Making a failing kernel small.
//!
//! A candidate has one thing less: instructions made constants or dropped, a branch decided, a
//! smaller launch. It is kept if it still fails in the same way, as a child process says, so that
//! crashes and endless loops shrink as well as wrong results. The child runs the interpreter in
//! checked mode, which refuses what shrinking may introduce: races, uninitialised reads, barriers
//! that not all reach. Chunks of halving size keep the number of candidates near linear.

use brolga_compiler::ir::{
    Block, Function, Inst, Module, Op, Scalar, Terminator, Type, ValueDef, parse, verify,
};
use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

/// Candidates that one kernel may cost.
const TIME_LIMIT: usize = 3000;

/// The smallest failing test found from `text`. `fails` judges candidates.
pub fn shrink(text: &str, mut fails: impl FnMut(&str) -> bool) -> String {
    let (head, body) = split(text);
    let Ok(module) = parse::module(&body) else {
        return text.into();
    };
    let mut state = State {
        head,
        module,
        left: TIME_LIMIT,
        fails: &mut fails,
    };
    // Printing gives other names; if that alone cures it, so be it.
    if !state.try_module(state.module.clone()) {
        return text.into();
    }
    loop {
        let before = state.render(&state.module);
        state.launch();
        state.terminators();
        state.instructions();
        state.operands();
        state.parameters();
        if state.render(&state.module) == before || state.left == 0 {
            return before;
        }
    }
}

/// The directives, and the IR below them.
fn split(text: &str) -> (String, String) {
    let is_head = |line: &&str| line.starts_with(';');
    let head: Vec<&str> = text.lines().take_while(is_head).collect();
    let body: Vec<&str> = text.lines().skip_while(|l| is_head(l)).collect();
    (head.join("\n") + "\n", body.join("\n") + "\n")
}

struct State<'f> {
    head: String,
    module: Module,
    left: usize,
    fails: &'f mut dyn FnMut(&str) -> bool,
}

impl State<'_> {
    fn render(&self, module: &Module) -> String {
        format!("{}{module}", self.head)
    }

    fn judge(&mut self, text: &str) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        (self.fails)(text)
    }

    /// Keeps a candidate if it still fails.
    fn try_module(&mut self, mut module: Module) -> bool {
        for func in module.functions.values_mut() {
            clean(func);
        }
        if verify::verify_module(&module).is_err() {
            return false;
        }
        let text = self.render(&module);
        let fails = self.judge(&text);
        if fails {
            self.module = module;
        }
        fails
    }

    /// A smaller ND-range, from the largest step to the smallest.
    fn launch(&mut self) {
        for name in ["global", "local", "offset"] {
            let prefix = format!("; {name}: ");
            let Some(line) = self.head.lines().find(|l| l.starts_with(&prefix)) else {
                continue;
            };
            let line = line.to_string();
            let mut values: Vec<u64> = line[prefix.len()..]
                .split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect();
            let least = u64::from(name != "offset");
            for d in 0..values.len() {
                while values[d] > least {
                    let smaller =
                        [least, values[d] / 2, values[d] - 1]
                            .into_iter()
                            .find(|&candidate| {
                                if candidate >= values[d] || candidate < least {
                                    return false;
                                }
                                let mut trial = values.clone();
                                trial[d] = candidate;
                                self.try_head(&prefix, &trial)
                            });
                    match smaller {
                        Some(value) => values[d] = value,
                        None => break,
                    }
                }
            }
        }
    }

    fn try_head(&mut self, prefix: &str, values: &[u64]) -> bool {
        let words: Vec<String> = values.iter().map(u64::to_string).collect();
        let lines = self.head.lines().map(|line| {
            if line.starts_with(prefix) {
                format!("{prefix}{}", words.join(" "))
            } else {
                line.to_string()
            }
        });
        let head = lines.collect::<Vec<_>>().join("\n") + "\n";
        let before = std::mem::replace(&mut self.head, head);
        let text = self.render(&self.module);
        let fails = self.judge(&text);
        if !fails {
            self.head = before;
        }
        fails
    }

    /// Decides branches, one way and the other.
    fn terminators(&mut self) {
        for id in self.module.functions.keys() {
            let mut index = 0;
            while index < self.module.functions[id].layout.len() {
                let block = self.module.functions[id].layout[index];
                let targets: Vec<_> = self.module.functions[id].blocks[block]
                    .term
                    .targets()
                    .cloned()
                    .collect();
                if targets.len() > 1 {
                    for call in targets {
                        let mut module = self.module.clone();
                        module.functions[id].blocks[block].term = Terminator::Br(call);
                        if self.try_module(module) {
                            break;
                        }
                    }
                }
                index += 1;
            }
        }
    }

    /// Drops instructions, or makes their results constants.
    fn instructions(&mut self) {
        for id in self.module.functions.keys() {
            let count = all_insts(&self.module.functions[id]).len();
            let mut size = count.next_power_of_two() / 2;
            while size > 0 {
                let mut from = 0;
                loop {
                    let insts = all_insts(&self.module.functions[id]);
                    if from >= insts.len() {
                        break;
                    }
                    let chunk = &insts[from..insts.len().min(from + size)];
                    let mut module = self.module.clone();
                    let changed = chunk
                        .iter()
                        .filter(|&&(block, inst)| drop_inst(&mut module.functions[id], block, inst))
                        .count();
                    if changed == 0 || !self.try_module(module) {
                        from += size;
                    }
                }
                size /= 2;
            }
        }
    }

    /// Puts an operand of its type in an instruction's place.
    fn operands(&mut self) {
        for id in self.module.functions.keys() {
            let mut at = 0;
            loop {
                let func = &self.module.functions[id];
                let insts = all_insts(func);
                let Some(&(_, inst)) = insts.get(at) else {
                    break;
                };
                at += 1;
                let data = &func.insts[inst];
                let [result] = data.results.as_slice() else {
                    continue;
                };
                if data.op.has_side_effect() {
                    continue;
                }
                let (result, args) = (*result, data.args.clone());
                for arg in args {
                    if self.module.functions[id].ty(arg) != self.module.functions[id].ty(result) {
                        continue;
                    }
                    let mut module = self.module.clone();
                    let mut replace = SecondaryMap::new();
                    replace[result] = Some(arg).into();
                    module.functions[id].replace_uses(&replace);
                    if self.try_module(module) {
                        break;
                    }
                }
            }
        }
    }

    /// Removes block parameters, with constants in their place.
    fn parameters(&mut self) {
        for id in self.module.functions.keys() {
            let mut index = 1;
            while index < self.module.functions[id].layout.len() {
                let block = self.module.functions[id].layout[index];
                let mut n = self.module.functions[id].blocks[block].params.len();
                while n > 0 {
                    n -= 1;
                    let params = &self.module.functions[id].blocks[block].params;
                    if n >= params.len() {
                        continue;
                    }
                    let mut module = self.module.clone();
                    if drop_param(&mut module.functions[id], block, n) {
                        self.try_module(module);
                    }
                }
                index += 1;
            }
        }
    }
}

fn all_insts(func: &Function) -> Vec<(Block, Inst)> {
    let insts = func
        .layout
        .iter()
        .flat_map(|&block| func.blocks[block].insts.iter().map(move |&i| (block, i)));
    insts.collect()
}

/// Drops an instruction without results, or makes one with one result a constant; whether it could.
fn drop_inst(func: &mut Function, block: Block, inst: Inst) -> bool {
    let data = &mut func.insts[inst];
    match data.results.as_slice() {
        [] => {
            func.blocks[block].insts.retain(|&i| i != inst);
            true
        }
        [result] if !matches!(data.op, Op::Const(_)) => {
            let ty = func.values[*result].ty;
            if ty.scalar == Scalar::Ptr {
                return false;
            }
            data.op = Op::Const(0);
            data.args.clear();
            true
        }
        _ => false,
    }
}

/// Replaces a block's parameter by the constant 0.
fn drop_param(func: &mut Function, block: Block, n: usize) -> bool {
    let param = func.blocks[block].params[n];
    let ty: Type = func.ty(param);
    if ty.scalar == Scalar::Ptr {
        return false;
    }
    let inst = func.make_inst(Op::Const(0), &[], &[ty], Default::default());
    let zero = func.insts[inst].results[0];
    func.blocks[block].insts.insert(0, inst);
    func.blocks[block].params.remove(n);
    for (i, &param) in func.blocks[block].params.clone().iter().enumerate() {
        func.values[param].def = ValueDef::Param(block, i as u16);
    }
    for index in 0..func.layout.len() {
        let from = func.layout[index];
        for call in func.blocks[from].term.targets_mut() {
            if call.block == block {
                call.args.remove(n);
            }
        }
    }
    let mut replace = SecondaryMap::new();
    replace[param] = Some(zero).into();
    func.replace_uses(&replace);
    true
}

/// Removes unreachable blocks and what nothing uses.
fn clean(func: &mut Function) {
    let reachable = func.reverse_post_order();
    func.layout.retain(|block| reachable.contains(block));
    loop {
        let mut used: SecondaryMap<_, bool> = SecondaryMap::new();
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                func.insts[inst].args.iter().for_each(|&a| used[a] = true);
            }
            func.blocks[block].term.for_each_value(|v| used[v] = true);
        }
        let mut changed = false;
        for index in 0..func.layout.len() {
            let block = func.layout[index];
            let insts = std::mem::take(&mut func.blocks[block].insts);
            let count = insts.len();
            let kept: Vec<Inst> = insts
                .into_iter()
                .filter(|&inst| {
                    let data = &func.insts[inst];
                    data.op.has_side_effect() || data.results.iter().any(|&r| used[r])
                })
                .collect();
            changed |= kept.len() != count;
            func.blocks[block].insts = kept;
        }
        // A parameter that nothing uses goes with what was given for it.
        for index in 1..func.layout.len() {
            let block = func.layout[index];
            for n in (0..func.blocks[block].params.len()).rev() {
                if !used[func.blocks[block].params[n]] {
                    func.blocks[block].params.remove(n);
                    for from in func.layout.clone() {
                        for call in func.blocks[from].term.targets_mut() {
                            if call.block == block {
                                let mut args: SmallVec<[_; 4]> = std::mem::take(&mut call.args);
                                args.remove(n);
                                call.args = args;
                            }
                        }
                    }
                    changed = true;
                }
            }
            for (i, &param) in func.blocks[block].params.clone().iter().enumerate() {
                func.values[param].def = ValueDef::Param(block, i as u16);
            }
        }
        if !changed {
            return;
        }
    }
}
