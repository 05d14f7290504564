//! Random kernels with structured and less structured control flow.
//!
//! A kernel has a few `i32` variables, all handed to every block as parameters. Each work-item
//! writes only words of its own, and adds to a few shared ones atomically, so that the order of
//! work-items does not matter.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{compare, range};
use crate::ir::{
    Atomic, AtomicOp, BinOp, Block, Builder, ConvertOp, DimQuery, FuncId, Function, IntCC, Kernel,
    Mem, Module, Op, Order, ParamSource, Query, Scope, Type, Value, Wrap,
};
use crate::kernel_info::AddressSpace;

const VARS: usize = 4;
const WORDS: u64 = 8;

struct Generator<'a> {
    rng: ChaCha8Rng,
    b: Builder<'a>,
    vars: Vec<Value>,
    /// Where `break` and `continue` lead.
    loops: Vec<(Block, Block)>,
    exit: Block,
    input: Value,
    shared: Value,
    own: Value,
    uniform: Vec<Value>,
    barriers: bool,
    budget: u32,
}

impl Generator<'_> {
    fn i32(&mut self, value: i32) -> Value {
        self.b.iconst(Type::I32, value as u32 as u64)
    }

    fn any(&mut self) -> Value {
        match self.rng.random_range(0..8) {
            0 => {
                let value = self.rng.random_range(-4..20);
                self.i32(value)
            }
            1 => self.uniform[self.rng.random_range(0..self.uniform.len())],
            _ => self.vars[self.rng.random_range(0..VARS)],
        }
    }

    fn expression(&mut self) -> Value {
        let (x, y) = (self.any(), self.any());
        let op = [
            BinOp::IAdd,
            BinOp::ISub,
            BinOp::IMul,
            BinOp::Xor,
            BinOp::And,
            BinOp::LShr,
            BinOp::SMin,
            BinOp::SDiv,
            BinOp::URem,
        ][self.rng.random_range(0..9)];
        self.b.binary(op, x, y)
    }

    fn condition(&mut self) -> Value {
        let (x, y) = (self.any(), self.any());
        let cc = IntCC::ALL[self.rng.random_range(0..IntCC::ALL.len())];
        if self.rng.random_bool(0.3) {
            let three = self.i32(3);
            let x = self.b.binary(BinOp::And, x, three);
            let y = self.b.binary(BinOp::And, y, three);
            return self.b.icmp(cc, x, y);
        }
        self.b.icmp(cc, x, y)
    }

    /// The address of a word of the input, `index` taken modulo 64.
    fn input_word(&mut self, index: Value) -> Value {
        let mask = self.i32(63);
        let index = self.b.binary(BinOp::And, index, mask);
        let four = self.i32(4);
        let offset = self.b.binary(BinOp::IMul, index, four);
        let signed = self.rng.random_bool(0.5);
        let op = if signed {
            ConvertOp::SExt
        } else {
            ConvertOp::ZExt
        };
        let offset = self.b.convert(op, offset, Type::I64);
        self.b.ptr_add(self.input, offset)
    }

    fn own_word(&mut self) -> Value {
        let offset = 4 * self.rng.random_range(0..WORDS);
        let offset = self.b.iconst(Type::I64, offset);
        self.b.ptr_add(self.own, offset)
    }

    fn join(&mut self) -> Block {
        self.b.new_block(&[Type::I32; VARS])
    }

    fn enter(&mut self, block: Block) {
        self.b.switch_to(block);
        self.vars = self.b.func.blocks[block].params.clone();
    }

    fn go(&mut self, to: Block) {
        let vars = self.vars.clone();
        self.b.br(to, &vars);
    }

    /// Emits statements; false if control does not get to their end.
    fn block(&mut self, depth: u32, uniform: bool) -> bool {
        for _ in 0..self.rng.random_range(1..5) {
            if self.budget == 0 {
                return true;
            }
            self.budget -= 1;
            if !self.statement(depth, uniform) {
                return false;
            }
        }
        true
    }

    fn statement(&mut self, depth: u32, uniform: bool) -> bool {
        let target = self.rng.random_range(0..VARS);
        match self.rng.random_range(0..18) {
            0..=4 => self.vars[target] = self.expression(),
            5 => {
                let (c, x, y) = (self.condition(), self.any(), self.any());
                self.vars[target] = self.b.select(c, x, y);
            }
            6 | 7 => {
                let index = self.any();
                let ptr = self.input_word(index);
                let mem = Mem::new(AddressSpace::Global, 4);
                self.vars[target] = self.b.load(mem, ptr, Type::I32);
            }
            8 => {
                let (ptr, value) = (self.own_word(), self.any());
                self.b.store(Mem::new(AddressSpace::Global, 4), ptr, value);
            }
            9 => {
                let ptr = self.own_word();
                let mem = Mem::new(AddressSpace::Global, 4);
                self.vars[target] = self.b.load(mem, ptr, Type::I32);
            }
            10 => {
                let value = self.any();
                let atomic = Atomic {
                    space: AddressSpace::Global,
                    scope: Scope::Device,
                    order: Order::Relaxed,
                    masked: false,
                };
                let op = Op::AtomicRmw(AtomicOp::Add, atomic);
                self.b.ins(op, &[self.shared, value], &[Type::I32]);
            }
            11 if depth > 0 && !self.loops.is_empty() && self.rng.random_bool(0.6) => {
                let (out, again) = *self.loops.last().unwrap();
                let to = if self.rng.random_bool(0.5) {
                    out
                } else {
                    again
                };
                return self.jump_if(to, uniform);
            }
            12 if depth > 0 && self.rng.random_bool(0.3) && !uniform && !self.barriers => {
                return self.jump_if(self.exit, uniform);
            }
            12 | 13 if self.barriers && uniform => self.barrier(),
            13 | 14 if depth < 4 => self.if_else(depth, uniform),
            15 | 16 if depth < 3 => self.counted_loop(depth, uniform),
            17 if depth < 3 => self.switch(depth, uniform),
            _ => {}
        }
        true
    }

    fn uniform_condition(&mut self) -> Value {
        let x = self.uniform[self.rng.random_range(0..self.uniform.len())];
        let value = self.rng.random_range(-2..12);
        let y = self.i32(value);
        self.b.icmp(IntCC::Slt, x, y)
    }

    /// Jumps, or jumps if a condition holds; in uniform code conditions are uniform.
    fn jump_if(&mut self, to: Block, uniform: bool) -> bool {
        if self.rng.random_bool(0.2) {
            self.go(to);
            return false;
        }
        let cond = if uniform || self.rng.random_bool(0.2) {
            self.uniform_condition()
        } else {
            self.condition()
        };
        let next = self.b.new_block(&[]);
        let vars = self.vars.clone();
        self.b.cond_br(cond, to, &vars, next, &[]);
        self.b.switch_to(next);
        true
    }

    fn if_else(&mut self, depth: u32, uniform: bool) {
        let keep = self.rng.random_bool(0.5) && uniform;
        let cond = if keep || self.rng.random_bool(0.2) {
            self.uniform_condition()
        } else {
            self.condition()
        };
        let (then, els) = (self.b.new_block(&[]), self.b.new_block(&[]));
        let after = self.join();
        self.b.cond_br(cond, then, &[], els, &[]);
        let before = self.vars.clone();
        for block in [then, els] {
            self.vars.clone_from(&before);
            self.b.switch_to(block);
            if block == then || self.rng.random_bool(0.6) {
                let loops = self.loops.clone();
                if self.barriers && !keep {
                    // All work-items must leave a loop around barriers together.
                    self.loops.clear();
                }
                if self.block(depth + 1, keep) {
                    self.go(after);
                }
                self.loops = loops;
            } else {
                self.go(after);
            }
        }
        self.enter(after);
    }

    fn switch(&mut self, depth: u32, uniform: bool) {
        let keep = self.rng.random_bool(0.3) && uniform;
        let subject = if keep { self.uniform[0] } else { self.any() };
        let mask = self.i32(3);
        let value = self.b.binary(BinOp::And, subject, mask);
        let after = self.join();
        let arms: Vec<Block> = (0..3).map(|_| self.b.new_block(&[])).collect();
        let vars = self.vars.clone();
        let cases = arms
            .iter()
            .enumerate()
            .map(|(i, &arm)| (i as u64, crate::ir::BlockCall::new(arm, &[])))
            .collect();
        let default = if self.rng.random_bool(0.5) {
            crate::ir::BlockCall::new(after, &vars)
        } else {
            crate::ir::BlockCall::new(arms[1], &[])
        };
        self.b.terminate(crate::ir::Terminator::Switch {
            value,
            cases,
            default,
        });
        for &arm in &arms {
            self.vars.clone_from(&vars);
            self.b.switch_to(arm);
            let loops = self.loops.clone();
            if self.barriers && !keep {
                self.loops.clear();
            }
            if self.block(depth + 1, keep) {
                self.go(after);
            }
            self.loops = loops;
        }
        self.enter(after);
    }

    fn counted_loop(&mut self, depth: u32, uniform: bool) {
        let keep = self.rng.random_bool(0.6) && uniform;
        let bound = if keep || self.rng.random_bool(0.4) {
            self.uniform[0]
        } else {
            let (any, mask) = (self.any(), self.i32(7));
            self.b.binary(BinOp::And, any, mask)
        };
        let zero = self.i32(0);
        let mut types = vec![Type::I32; VARS + 1];
        types[VARS] = Type::I32;
        let header = self.b.new_block(&types);
        let after = self.join();
        let latch = self.join();
        let bottom_tested = self.rng.random_bool(0.4);
        let args: Vec<Value> = self.vars.iter().copied().chain([zero]).collect();
        self.b.br(header, &args);
        self.enter(header);
        let counter = self.vars.pop().unwrap();
        if !bottom_tested {
            let more = self.b.icmp(IntCC::Slt, counter, bound);
            let body = self.b.new_block(&[]);
            let vars = self.vars.clone();
            self.b.cond_br(more, body, &[], after, &vars);
            self.b.switch_to(body);
        }
        self.loops.push((after, latch));
        if self.rng.random_bool(0.3) {
            self.vars[0] = counter;
        }
        if self.block(depth + 1, keep) {
            self.go(latch);
        }
        self.loops.pop();
        self.enter(latch);
        let one = self.i32(1);
        let next = self.b.val(
            Op::Binary(
                BinOp::IAdd,
                Wrap {
                    nsw: true,
                    ..Wrap::default()
                },
            ),
            &[counter, one],
            Type::I32,
        );
        let args: Vec<Value> = self.vars.iter().copied().chain([next]).collect();
        if bottom_tested {
            let more = self.b.icmp(IntCC::Slt, next, bound);
            let vars = self.vars.clone();
            self.b.cond_br(more, header, &args, after, &vars);
        } else {
            self.b.br(header, &args);
        }
        self.enter(after);
    }

    /// A barrier around an exchange through work-group memory would need its size; what matters
    /// here is what lives across.
    fn barrier(&mut self) {
        self.b.ins(
            Op::Barrier(crate::ir::Fence {
                scope: Scope::WorkGroup,
                order: Order::AcqRel,
                local: true,
                global: true,
            }),
            &[],
            &[],
        );
    }
}

fn kernel(seed: u64, barriers: bool) -> Module {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut func = Function::new(
        "k",
        &[Type::PTR, Type::PTR, Type::PTR, Type::I32, Type::I32],
        &[],
    );
    let params = func.params().to_vec();
    let entry = func.entry();
    let mut b = Builder::new(&mut func, entry);
    let exit = b.new_block(&[Type::I32; VARS]);
    let id = b.val(Op::Query(Query::GlobalLinearId), &[], Type::I64);
    let words = b.iconst(Type::I64, 4 * WORDS);
    let offset = b.binary(BinOp::IMul, id, words);
    let own = b.ptr_add(params[1], offset);
    let dim = b.val(
        Op::DimQuery(DimQuery::GlobalId, rng.random_range(0..2)),
        &[],
        Type::I64,
    );
    let lid = b.val(Op::DimQuery(DimQuery::LocalId, 0), &[], Type::I64);
    let vars = [id, dim, lid, id]
        .into_iter()
        .map(|v| b.convert(ConvertOp::Trunc, v, Type::I32))
        .collect();
    let budget = rng.random_range(3..50);
    let mut generator = Generator {
        rng,
        vars,
        loops: Vec::new(),
        exit,
        input: params[0],
        shared: params[2],
        own,
        uniform: vec![params[3], params[4]],
        barriers,
        budget,
        b,
    };
    if generator.block(0, true) {
        generator.go(exit);
    }
    generator.enter(exit);
    let vars = generator.vars.clone();
    for (i, value) in vars.into_iter().enumerate() {
        let offset = generator.b.iconst(Type::I64, 4 * i as u64);
        let ptr = generator.b.ptr_add(own, offset);
        generator
            .b
            .store(Mem::new(AddressSpace::Global, 4), ptr, value);
    }
    generator.b.ret(&[]);
    func.layout = func.reverse_post_order();
    let mut module = Module::default();
    module.functions.push(func);
    let text = "kernel \"k\" @0 (value 0, value 8, value 16, value 24, value 28)\nfunc \"k\" (ptr, ptr, ptr, i32, i32) -> () {\nblock0(v0: ptr, v1: ptr, v2: ptr, v3: i32, v4: i32):\nret\n}";
    let shell = crate::ir::parse::module(text).unwrap();
    module.kernels = vec![Kernel {
        func: FuncId::from_u32(0),
        params: [0, 8, 16, 24, 28]
            .map(|offset| ParamSource::Value { offset })
            .to_vec(),
        ..shell.kernels[0].clone()
    }];
    module
}

fn try_seed(seed: u64, barriers: bool) {
    let module = kernel(seed, barriers);
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5555);
    let range = match rng.random_range(0..4) {
        0 => range([16, 1, 1], [16, 1, 1], [0; 3]),
        1 => range([19, 1, 1], [8, 1, 1], [2, 0, 0]),
        2 => range([5, 4, 1], [3, 2, 1], [0, 1, 0]),
        _ => range([32, 2, 1], [16, 2, 1], [0; 3]),
    };
    let items = range.global_size.iter().product::<u64>() * WORDS;
    let input = (0..64)
        .map(|_| rng.random::<u32>() >> rng.random_range(0..32))
        .collect();
    let buffers = [input, vec![0; items as usize], vec![0; 4]];
    let values = [rng.random_range(0..6), rng.random_range(0..100)];
    if let Err(message) = compare(&module, &range, &buffers, &values) {
        panic!("seed {seed}: {message}\n{module}");
    }
}

/// How many kernels to try; more with `BROLGA_TEST_KERNELS`.
fn seeds() -> std::ops::Range<u64> {
    let count = std::env::var("BROLGA_TEST_KERNELS")
        .ok()
        .and_then(|n| n.parse().ok());
    let first = std::env::var("BROLGA_TEST_SEED")
        .ok()
        .and_then(|n| n.parse().ok());
    let first = first.unwrap_or(0);
    first..first + count.unwrap_or(150)
}

#[test]
fn random_kernels_agree_with_the_interpreter() {
    for seed in seeds() {
        try_seed(seed, false);
    }
}

#[test]
fn random_kernels_with_barriers_agree_with_the_interpreter() {
    for seed in seeds() {
        try_seed(seed, true);
    }
}
