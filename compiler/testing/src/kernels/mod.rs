//! Random kernels made to be vectorized, as file tests without expectations.
//!
//! A kernel reads two input buffers at consecutive, strided, reversed, uniform and arbitrary
//! indexes, stores to places of its own in two output buffers, loads and stores rows of elements at
//! every stride, reads and writes images, exchanges values in sub-groups, keeps private arrays,
//! counts with atomics whose order does not matter, and meets its group at barriers in uniform
//! control flow. In between it does every pure operation on every type under divergent and uniform
//! branches, loops and switches, and jumps into loops.
//!
//! Which values are the same for the whole group is tracked, because barriers may depend on those
//! only. What would leave the result to the engine is kept out: every index is masked, every loop
//! counts, and a float goes to memory, to its bits or to a sign only with its NaNs made one
//! (`Generator::canonical`).
//!
//! - this file: the generator's state, and how it emits an instruction. `kernel.rs`: the frame of a
//!   kernel.
//! - `statements.rs`: which statement comes next. `expressions.rs`, `memory.rs`, `rows.rs`,
//!   `images.rs`, `atomics.rs`, `groups.rs`, `control.rs`, `unstructured.rs`: the kinds.
//! - `values.rs`: operands. `range.rs`: launches.
//! - `private_memory.rs`: a generator of other kernels, with calls and private memory of mixed
//!   types.

mod atomics;
mod control;
mod expressions;
mod groups;
mod images;
mod kernel;
mod memory;
pub mod private_memory;
mod range;
mod rows;
mod statements;
mod unstructured;
mod values;

use std::fmt::Write as _;

use brolga_compiler::ir::{Scalar, Type};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use images::Picture;
use range::Range;
use rows::Rows;

const SCALARS: [Scalar; 7] = [
    Scalar::I8,
    Scalar::I16,
    Scalar::I32,
    Scalar::I64,
    Scalar::F16,
    Scalar::F32,
    Scalar::F64,
];

/// Elements of an input buffer.
const INPUTS: u64 = 64;
/// Elements of an output buffer for each work-item.
const OWN: u64 = 4;
/// Elements of a private array.
const PRIVATE: u64 = 8;

/// The file test with this number: always the same.
pub fn test(seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    if seed.is_multiple_of(3) {
        return of_private_memory(seed, &mut rng);
    }
    let range = Range::new(&mut rng, 3);
    Generator::new(rng, range).file(seed)
}

/// A kernel of the other generator, whose strength is private memory and calls, with a random
/// launch.
fn of_private_memory(seed: u64, rng: &mut ChaCha8Rng) -> String {
    let range = Range::new(rng, 1);
    let items = range.global[0] + range.offset[0];
    let own = items * private_memory::ITEM_BYTES as u64;
    // In every other one, functions stay functions.
    let inline = match seed.is_multiple_of(2) {
        true => "; inline: 0\n",
        false => "",
    };
    format!(
        "; seed {seed}\n{inline}; run:\n{}; arg: buffer i32 random {}\n; arg: buffer i32 random {}\n{}",
        range.directives(),
        own / 4,
        private_memory::INPUT_BYTES / 4 + 8,
        private_memory::module(seed)
    )
}

/// A value in scope.
#[derive(Clone, Copy)]
struct Val {
    id: usize,
    ty: Type,
    /// Whether all work-items of the group have the same.
    uniform: bool,
}

struct Generator {
    rng: ChaCha8Rng,
    range: Range,
    text: String,
    next: usize,
    next_block: usize,
    scope: Vec<Val>,
    /// Whether all work-items of the group are here: control flow has converged.
    converged: bool,
    /// Statements left.
    fuel: u32,
    /// The scalar types this kernel is about.
    palette: Vec<Scalar>,
    vectors: bool,
    inputs: [Scalar; 2],
    outputs: [Scalar; 2],
    /// Whether the elements of a work-item in an output buffer are neighbours, or those of
    /// neighbours are.
    interleaved: [bool; 2],
    /// Buffers of rows: one to load from, two to store to.
    rows: [Rows; 3],
    /// Private arrays: address and element type.
    arrays: Vec<(usize, Scalar)>,
    /// What the first image is, in kernels that read images.
    picture: Picture,
    images: bool,
    barriers: bool,
    /// Work-items of a sub-group, in kernels that use them.
    sub_groups: Option<u8>,
    global_id: usize,
    /// Linear id in the ND-range, for places of its own.
    linear: usize,
    local_linear: usize,
    local_count: usize,
}

impl Generator {
    fn new(mut rng: ChaCha8Rng, range: Range) -> Generator {
        let scalar = |rng: &mut ChaCha8Rng| SCALARS[rng.random_range(0..SCALARS.len())];
        let palette: Vec<Scalar> = (0..rng.random_range(2..5))
            .map(|_| scalar(&mut rng))
            .chain([Scalar::I32])
            .collect();
        let mut pick = || palette[rng.random_range(0..palette.len())];
        let (inputs, outputs) = ([pick(), pick()], [pick(), pick()]);
        Generator {
            inputs,
            outputs,
            palette,
            interleaved: [rng.random_bool(0.5), rng.random_bool(0.5)],
            rows: Rows::three(&mut rng),
            vectors: rng.random_bool(0.3),
            picture: Picture::new(&mut rng),
            images: rng.random_bool(0.3),
            barriers: rng.random_bool(0.4),
            sub_groups: rng
                .random_bool(0.3)
                .then(|| [1, 2, 4, 8, 16, 32][rng.random_range(0..6)]),
            fuel: rng.random_range(10..60),
            rng,
            range,
            text: String::new(),
            next: 0,
            next_block: 1,
            scope: Vec::new(),
            converged: true,
            arrays: Vec::new(),
            global_id: 0,
            linear: 0,
            local_linear: 0,
            local_count: 0,
        }
    }

    fn chance(&mut self, p: f64) -> bool {
        self.rng.random_bool(p)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.random_range(0..from.len())]
    }

    fn scalar(&mut self) -> Scalar {
        let palette = self.palette.clone();
        self.pick(&palette)
    }

    fn ty(&mut self) -> Type {
        let scalar = self.scalar();
        let lanes = if self.vectors && self.chance(0.4) {
            self.pick(&[2, 3, 4, 8, 16])
        } else {
            1
        };
        Type::new(scalar, lanes)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text}");
    }

    fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    fn is_uniform(&self, id: usize) -> bool {
        self.scope.iter().any(|v| v.id == id && v.uniform)
    }

    fn add(&mut self, id: usize, ty: Type, uniform: bool) {
        self.scope.push(Val { id, ty, uniform });
    }

    /// Emits a pure instruction with one result, which comes into scope.
    fn emit(&mut self, ty: Type, op: &str, args: &[usize]) -> usize {
        let uniform = args.iter().all(|&arg| self.is_uniform(arg));
        self.emit_as(ty, op, args, uniform)
    }

    fn emit_as(&mut self, ty: Type, op: &str, args: &[usize], uniform: bool) -> usize {
        let id = self.fresh();
        let args: Vec<String> = args.iter().map(|a| format!("v{a}")).collect();
        self.line(format!("v{id}: {ty} = {op} {}", args.join(", ")).trim_end());
        self.add(id, ty, uniform && self.converged);
        id
    }
}
