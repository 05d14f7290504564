//! Programs of about a given number of instructions, in SPIR-V 1.0 for OpenCL.
//!
//! Every kernel is called `k0`, `k1`, ... and has one argument, a buffer of 32-bit numbers, at
//! least 4096 of them. What they compute means nothing, but all of it is used, and most of it
//! differs between work-items.

use std::collections::HashMap;

use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionModel, FunctionControl, LoopControl,
    MemoryModel, SelectionControl, StorageClass, Word,
};

pub struct Shape {
    pub name: &'static str,
    make: fn(&mut Build, usize),
}

pub struct Module {
    pub words: Vec<u32>,
    pub kernels: usize,
    /// Instructions in functions; a call counts for what it calls.
    pub instructions: usize,
}

/// Instructions of a function that is called.
const HELPER: usize = 10;

/// A scope, and memory semantics: acquire and release, of memory in the work-group's scope and in
/// that of buffers (SPIR-V Specification, "Scope <id>", "Memory Semantics <id>").
const WORK_GROUP: u32 = 2;
const ACQUIRE_RELEASE: u32 = 0x308;

pub const SHAPES: &[Shape] = &[
    Shape {
        name: "straight",
        make: |build, n| {
            build.kernel(|k, x| k.straight(x, n));
        },
    },
    Shape {
        name: "variables",
        make: |build, n| {
            build.kernel_with((n / 40).max(1), |k, x| k.variables(x, n));
        },
    },
    Shape {
        name: "ifs",
        make: |build, n| {
            build.kernel(|k, x| k.ifs(x, n / 8));
        },
    },
    Shape {
        name: "loops",
        make: |build, n| {
            build.kernel(|k, x| k.loops(x, n / 12));
        },
    },
    Shape {
        name: "sequence",
        make: |build, n| {
            build.kernel(|k, x| k.sequence(x, n));
        },
    },
    Shape {
        name: "switch",
        make: |build, n| {
            build.kernel(|k, x| k.switch(x, n / 4));
        },
    },
    Shape {
        name: "calls",
        make: |build, n| {
            let helpers: Vec<Word> = (0..5).map(|_| build.helper()).collect();
            build.kernel(|k, x| k.calls(x, &helpers, n / 10));
        },
    },
    Shape {
        name: "chain",
        make: |build, n| {
            let last = build.chain(n / (HELPER + 2), 1);
            build.kernel(|k, x| k.calls(x, &[last], 1));
        },
    },
    Shape {
        name: "diamonds",
        make: |build, n| {
            let last = build.chain(n / (HELPER + 4), 2);
            build.kernel(|k, x| k.calls(x, &[last], 1));
        },
    },
    Shape {
        name: "barriers",
        make: |build, n| {
            build.kernel(|k, x| k.barriers(x, n / 8));
        },
    },
    Shape {
        name: "kernels",
        make: |build, n| {
            for _ in 0..n.div_ceil(100) {
                build.kernel(|k, x| k.straight(x, 90));
            }
        },
    },
];

impl Shape {
    /// The program with about `n` instructions.
    pub fn module(&self, n: usize) -> Module {
        let mut build = Build::new();
        (self.make)(&mut build, n);
        let kernels = build.kernels;
        let module = build.b.module();
        let blocks = module.functions.iter().flat_map(|f| &f.blocks);
        let instructions: usize = blocks.map(|block| block.instructions.len()).sum();
        Module {
            kernels,
            instructions: instructions + build.called,
            words: module.assemble(),
        }
    }
}

struct Build {
    b: Builder,
    kernels: usize,
    /// Instructions that calls stand for.
    called: usize,
    void: Word,
    boolean: Word,
    uint: Word,
    long: Word,
    global_pointer: Word,
    private_pointer: Word,
    id_variable: Word,
    id_vector: Word,
    /// Private variables of the kernel that is being made.
    variables: Vec<Word>,
    constants: HashMap<u32, Word>,
    long_constants: HashMap<u64, Word>,
}

/// What a kernel's body starts with.
#[derive(Clone, Copy)]
struct Start {
    /// The buffer.
    buffer: Word,
    /// The work-item's element of it, and where that is.
    x: Word,
    place: Word,
    /// The block that the body starts in.
    block: Word,
}

impl Build {
    fn new() -> Build {
        let mut b = Builder::new();
        b.set_version(1, 0);
        for capability in [
            Capability::Addresses,
            Capability::Kernel,
            Capability::Int64,
            Capability::Linkage,
        ] {
            b.capability(capability);
        }
        b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
        let void = b.type_void();
        let boolean = b.type_bool();
        let uint = b.type_int(32, 0);
        let long = b.type_int(64, 0);
        let id_vector = b.type_vector(long, 3);
        let global_pointer = b.type_pointer(None, StorageClass::CrossWorkgroup, uint);
        let private_pointer = b.type_pointer(None, StorageClass::Function, uint);
        let input_pointer = b.type_pointer(None, StorageClass::Input, id_vector);
        let id_variable = b.variable(input_pointer, None, StorageClass::Input, None);
        b.decorate(
            id_variable,
            Decoration::BuiltIn,
            [Operand::BuiltIn(BuiltIn::GlobalInvocationId)],
        );
        b.decorate(id_variable, Decoration::Constant, []);
        Build {
            b,
            kernels: 0,
            called: 0,
            void,
            boolean,
            uint,
            long,
            global_pointer,
            private_pointer,
            id_variable,
            id_vector,
            variables: Vec::new(),
            constants: HashMap::new(),
            long_constants: HashMap::new(),
        }
    }

    fn constant(&mut self, value: u32) -> Word {
        let (b, ty) = (&mut self.b, self.uint);
        let make = || b.constant_bit32(ty, value);
        *self.constants.entry(value).or_insert_with(make)
    }

    fn long_constant(&mut self, value: u64) -> Word {
        let (b, ty) = (&mut self.b, self.long);
        let make = || b.constant_bit64(ty, value);
        *self.long_constants.entry(value).or_insert_with(make)
    }

    /// A kernel whose body ends, in whatever block it is then in, with the number to be stored.
    fn kernel(&mut self, body: impl FnOnce(&mut Build, Start) -> Word) {
        self.kernel_with(0, body);
    }

    /// The same with private variables.
    fn kernel_with(&mut self, variables: usize, body: impl FnOnce(&mut Build, Start) -> Word) {
        let ty = self.b.type_function(self.void, [self.global_pointer]);
        let function = ok(self
            .b
            .begin_function(self.void, None, FunctionControl::NONE, ty));
        let buffer = ok(self.b.function_parameter(self.global_pointer));
        let block = ok(self.b.begin_block(None));
        // They come first in a function's first block.
        self.variables = (0..variables)
            .map(|_| {
                self.b
                    .variable(self.private_pointer, None, StorageClass::Function, None)
            })
            .collect();
        let ids = ok(self
            .b
            .load(self.id_vector, None, self.id_variable, None, []));
        let id = ok(self.b.composite_extract(self.long, None, ids, [0]));
        let place =
            ok(self
                .b
                .in_bounds_ptr_access_chain(self.global_pointer, None, buffer, id, []));
        let x = ok(self.b.load(self.uint, None, place, None, []));
        let start = Start {
            buffer,
            x,
            place,
            block,
        };
        let result = body(self, start);
        ok(self.b.store(place, result, None, []));
        ok(self.b.ret());
        ok(self.b.end_function());
        let name = format!("k{}", self.kernels);
        self.b
            .entry_point(ExecutionModel::Kernel, function, name, [self.id_variable]);
        self.kernels += 1;
    }

    /// `n` instructions without a branch: arithmetic on earlier results, and some accesses to
    /// memory.
    fn straight(&mut self, start: Start, n: usize) -> Word {
        let mut recent = [start.x; 12];
        for i in 0..n * 5 / 6 {
            let (a, c) = (recent[(i + 11) % 12], recent[(i * 5 + 3) % 12]);
            let value = match i % 10 {
                8 => {
                    let at = self.long_constant((i / 10 * 7 % 64) as u64);
                    let place = ok(self.b.in_bounds_ptr_access_chain(
                        self.global_pointer,
                        None,
                        start.place,
                        at,
                        [],
                    ));
                    if i % 50 == 8 {
                        ok(self.b.store(place, a, None, []));
                    }
                    let loaded = ok(self.b.load(self.uint, None, place, None, []));
                    self.arithmetic(0, a, loaded)
                }
                _ => self.arithmetic(i, a, c),
            };
            recent[i % 12] = value;
        }
        recent
            .into_iter()
            .reduce(|a, c| self.arithmetic(0, a, c))
            .expect("twelve values")
    }

    fn arithmetic(&mut self, i: usize, a: Word, c: Word) -> Word {
        let ty = self.uint;
        ok(match i % 5 {
            0 => self.b.i_add(ty, None, a, c),
            1 => self.b.i_mul(ty, None, a, c),
            2 => self.b.bitwise_xor(ty, None, a, c),
            3 => self.b.i_sub(ty, None, a, c),
            _ => {
                // A shift alone would lose all bits in time.
                let by = self.constant((i % 31 + 1) as u32);
                let shifted = ok(self.b.shift_right_logical(ty, None, c, by));
                self.b.bitwise_xor(ty, None, a, shifted)
            }
        })
    }

    /// Private variables, read and written in turn, as a front end writes them that does not
    /// optimise.
    fn variables(&mut self, start: Start, n: usize) -> Word {
        let variables = std::mem::take(&mut self.variables);
        for &variable in &variables {
            ok(self.b.store(variable, start.x, None, []));
        }
        for i in 0..n / 4 {
            let (from, to) = (
                variables[i * 7 % variables.len()],
                variables[i * 13 % variables.len()],
            );
            let a = ok(self.b.load(self.uint, None, from, None, []));
            let c = ok(self.b.load(self.uint, None, to, None, []));
            let sum = self.arithmetic(i, a, c);
            ok(self.b.store(to, sum, None, []));
        }
        let mut sum = start.x;
        for variable in variables {
            let value = ok(self.b.load(self.uint, None, variable, None, []));
            sum = self.arithmetic(0, sum, value);
        }
        sum
    }

    /// `depth` conditions one in the other.
    fn ifs(&mut self, start: Start, depth: usize) -> Word {
        let mut outer = Vec::new();
        let (mut x, mut block) = (start.x, start.block);
        for level in 0..depth {
            let bound = self.constant(level as u32);
            let cond = ok(self.b.u_greater_than(self.boolean, None, x, bound));
            let (inside, after) = (self.b.id(), self.b.id());
            ok(self.b.selection_merge(after, SelectionControl::NONE));
            ok(self.b.branch_conditional(cond, inside, after, []));
            outer.push((after, x, block));
            ok(self.b.begin_block(Some(inside)));
            block = inside;
            x = self.arithmetic(level, x, start.x);
        }
        while let Some((after, skipped, from)) = outer.pop() {
            ok(self.b.branch(after));
            ok(self.b.begin_block(Some(after)));
            let joined = ok(self.b.phi(self.uint, None, [(x, block), (skipped, from)]));
            x = self.arithmetic(outer.len(), joined, start.x);
            block = after;
        }
        x
    }

    /// `depth` loops one in the other, as many times round as numbers in the buffer say.
    fn loops(&mut self, start: Start, depth: usize) -> Word {
        let (zero, one) = (self.constant(0), self.constant(1));
        struct Open {
            header: Word,
            after: Word,
            proceed: Word,
            next: Word,
            counter: Word,
            sum: Word,
            carried: Word,
        }
        let mut open: Vec<Open> = Vec::new();
        let (mut x, mut block) = (start.x, start.block);
        for level in 0..depth {
            let [header, body, after, proceed, next, carried] =
                std::array::from_fn(|_| self.b.id());
            ok(self.b.branch(header));
            ok(self.b.begin_block(Some(header)));
            let counter = ok(self
                .b
                .phi(self.uint, None, [(zero, block), (next, proceed)]));
            let sum = ok(self
                .b
                .phi(self.uint, None, [(x, block), (carried, proceed)]));
            let at = self.long_constant((level % 64) as u64);
            let place = ok(self.b.in_bounds_ptr_access_chain(
                self.global_pointer,
                None,
                start.buffer,
                at,
                [],
            ));
            let bound = ok(self.b.load(self.uint, None, place, None, []));
            let cond = ok(self.b.u_less_than(self.boolean, None, counter, bound));
            ok(self.b.loop_merge(after, proceed, LoopControl::NONE, []));
            ok(self.b.branch_conditional(cond, body, after, []));
            ok(self.b.begin_block(Some(body)));
            open.push(Open {
                header,
                after,
                proceed,
                next,
                counter,
                sum,
                carried,
            });
            (x, block) = (sum, body);
        }
        let mut x = self.arithmetic(0, x, start.x);
        while let Some(inner) = open.pop() {
            ok(self.b.branch(inner.proceed));
            ok(self.b.begin_block(Some(inner.proceed)));
            ok(self
                .b
                .i_add(self.uint, Some(inner.next), inner.counter, one));
            ok(self
                .b
                .bitwise_xor(self.uint, Some(inner.carried), x, inner.counter));
            ok(self.b.branch(inner.header));
            ok(self.b.begin_block(Some(inner.after)));
            x = inner.sum;
        }
        x
    }

    /// Conditions and loops one after the other, few levels deep.
    fn sequence(&mut self, start: Start, n: usize) -> Word {
        let mut start = start;
        for i in 0..n.div_ceil(50) {
            start.x = if i % 2 == 0 {
                self.ifs(start, 5)
            } else {
                self.loops(start, 3)
            };
            start.block = self.b.id();
            ok(self.b.branch(start.block));
            ok(self.b.begin_block(Some(start.block)));
        }
        start.x
    }

    fn switch(&mut self, start: Start, cases: usize) -> Word {
        let after = self.b.id();
        let blocks: Vec<Word> = (0..cases).map(|_| self.b.id()).collect();
        let targets: Vec<(Operand, Word)> = blocks
            .iter()
            .enumerate()
            .map(|(i, &block)| (Operand::LiteralBit32(i as u32 * 3), block))
            .collect();
        ok(self.b.selection_merge(after, SelectionControl::NONE));
        ok(self.b.switch(start.x, after, targets));
        let mut incoming = vec![(start.x, start.block)];
        for (i, &block) in blocks.iter().enumerate() {
            ok(self.b.begin_block(Some(block)));
            let factor = self.constant(i as u32 ^ 0x55);
            let product = ok(self.b.i_mul(self.uint, None, start.x, factor));
            let sum = self.arithmetic(i, product, start.x);
            ok(self.b.branch(after));
            incoming.push((sum, block));
        }
        ok(self.b.begin_block(Some(after)));
        ok(self.b.phi(self.uint, None, incoming))
    }

    /// So often a barrier, and another one under a condition on a number that each work-item has
    /// its own of, which changes in between.
    fn barriers(&mut self, start: Start, count: usize) -> Word {
        let (scope, semantics) = (self.constant(WORK_GROUP), self.constant(ACQUIRE_RELEASE));
        let mut x = start.x;
        for step in 0..count {
            x = self.arithmetic(step, x, start.x);
            ok(self.b.control_barrier(scope, scope, semantics));
            let bound = self.constant(step as u32);
            let cond = ok(self.b.u_greater_than(self.boolean, None, x, bound));
            let (inside, after) = (self.b.id(), self.b.id());
            ok(self.b.selection_merge(after, SelectionControl::NONE));
            ok(self.b.branch_conditional(cond, inside, after, []));
            ok(self.b.begin_block(Some(inside)));
            ok(self.b.control_barrier(scope, scope, semantics));
            ok(self.b.branch(after));
            ok(self.b.begin_block(Some(after)));
        }
        x
    }

    /// Functions of two numbers that each call the one before so many times; the last of them.
    fn chain(&mut self, length: usize, calls: usize) -> Word {
        let mut last = self.helper();
        for step in 1..length {
            let ty = self.b.type_function(self.uint, [self.uint, self.uint]);
            let none = FunctionControl::NONE;
            let function = ok(self.b.begin_function(self.uint, None, none, ty));
            let a = ok(self.b.function_parameter(self.uint));
            let mut c = ok(self.b.function_parameter(self.uint));
            ok(self.b.begin_block(None));
            for i in 0..HELPER - 1 {
                c = self.arithmetic(i + step, a, c);
            }
            for _ in 0..calls {
                c = ok(self.b.function_call(self.uint, None, last, [a, c]));
            }
            ok(self.b.ret_value(c));
            ok(self.b.end_function());
            last = function;
        }
        last
    }

    /// A function of two numbers.
    fn helper(&mut self) -> Word {
        let ty = self.b.type_function(self.uint, [self.uint, self.uint]);
        let function = ok(self
            .b
            .begin_function(self.uint, None, FunctionControl::NONE, ty));
        let a = ok(self.b.function_parameter(self.uint));
        let mut c = ok(self.b.function_parameter(self.uint));
        ok(self.b.begin_block(None));
        for i in 0..HELPER - 1 {
            c = self.arithmetic(i + function as usize, a, c);
        }
        ok(self.b.ret_value(c));
        ok(self.b.end_function());
        function
    }

    fn calls(&mut self, start: Start, helpers: &[Word], count: usize) -> Word {
        let mut x = start.x;
        self.called += (HELPER - 1) * count;
        for i in 0..count {
            let args = [x, start.x];
            x = ok(self
                .b
                .function_call(self.uint, None, helpers[i % helpers.len()], args));
        }
        x
    }
}

/// The builder refuses only instructions outside of blocks and functions.
fn ok<T>(result: Result<T, rspirv::dr::Error>) -> T {
    result.expect("a function and a block are open")
}
