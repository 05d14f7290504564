//! Random kernels made to be vectorized, as file tests without expectations.
//!
//! A kernel reads two input buffers at consecutive, strided, reversed, uniform and arbitrary indexes, stores to places
//! of its own in two output buffers, exchanges values in sub-groups, keeps private arrays, counts with atomics whose order does not matter, and meets its
//! group at barriers in uniform control flow. In between it does every pure operation on every type under
//! divergent and uniform branches, loops and switches.
//!
//! Which values are the same for the whole group is tracked, because barriers may depend on those only. What would
//! leave the result to the engine is kept out: every index is masked, every loop counts, and a float goes to
//! memory, to its bits or to a sign only with its NaNs made one ([`Generator::canonical`]).

// Beside this file, also for who includes it by its path.
#[path = "atomics.rs"]
mod atomics;

use std::fmt::Write as _;

use brolga_compiler::ir::{Arith, BinOp, Builtin, FloatCC, IntCC, Scalar, Type, UnOp, eval};
use brolga_mathlib::{Accuracy, Func, Signature};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::random;

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
        return private_memory(seed, &mut rng);
    }
    let range = Range::new(&mut rng, 3);
    Generator::new(rng, range).file(seed)
}

/// A kernel of the other generator, whose strength is private memory and calls, with a random launch.
fn private_memory(seed: u64, rng: &mut ChaCha8Rng) -> String {
    let range = Range::new(rng, 1);
    let items = range.global[0] + range.offset[0];
    let own = items * random::ITEM_BYTES as u64;
    format!(
        "; seed {seed}\n; run:\n{}; arg: buffer i32 random {}\n; arg: buffer i32 random {}\n{}",
        range.directives(),
        own / 4,
        random::INPUT_BYTES / 4 + 8,
        random::module(seed)
    )
}

/// An ND-range.
struct Range {
    dims: usize,
    global: [u64; 3],
    local: [u64; 3],
    offset: [u64; 3],
}

impl Range {
    fn new(rng: &mut ChaCha8Rng, most_dims: usize) -> Range {
        let mut range = Range {
            dims: if rng.random_bool(0.6) {
                1
            } else {
                rng.random_range(1..=most_dims)
            },
            global: [1; 3],
            local: [1; 3],
            offset: [0; 3],
        };
        let (most, group) = [(48, 40), (10, 6), (5, 3)][range.dims - 1];
        let even = rng.random_bool(0.4);
        for d in 0..range.dims {
            range.local[d] = rng.random_range(1..=group);
            range.global[d] = rng.random_range(1..=most);
            if even {
                range.local[d] = range.local[d].next_power_of_two();
                range.global[d] = range.global[d].next_multiple_of(range.local[d]);
            }
        }
        if rng.random_bool(0.4) {
            for d in 0..range.dims {
                range.offset[d] = rng.random_range(0..9);
            }
            // Only a generator that masks every index can start this far out.
            if most_dims == 3 && rng.random_bool(0.1) {
                range.offset[0] = (1 << rng.random_range(7..40)) - rng.random_range(0..20);
            }
        }
        range
    }

    fn items(&self) -> u64 {
        self.global.iter().product()
    }

    fn directives(&self) -> String {
        let line = |name: &str, values: &[u64; 3]| {
            let values = values[..self.dims].iter().map(u64::to_string);
            format!("; {name}: {}\n", values.collect::<Vec<_>>().join(" "))
        };
        line("global", &self.global) + &line("local", &self.local) + &line("offset", &self.offset)
    }
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
    /// Whether all work-items of the group are here together.
    together: bool,
    /// Statements left.
    fuel: u32,
    /// The scalar types this kernel is about.
    palette: Vec<Scalar>,
    vectors: bool,
    inputs: [Scalar; 2],
    outputs: [Scalar; 2],
    /// Whether the elements of a work-item in an output buffer are neighbours, or those of neighbours are.
    interleaved: [bool; 2],
    /// Private arrays: address and element type.
    arrays: Vec<(usize, Scalar)>,
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
            vectors: rng.random_bool(0.3),
            barriers: rng.random_bool(0.4),
            sub_groups: rng
                .random_bool(0.3)
                .then(|| [1, 2, 4, 8, 16][rng.random_range(0..5)]),
            fuel: rng.random_range(10..60),
            rng,
            range,
            text: String::new(),
            next: 0,
            next_block: 1,
            scope: Vec::new(),
            together: true,
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
        self.add(id, ty, uniform && self.together);
        id
    }

    fn bits(&mut self, scalar: Scalar) -> u64 {
        let bits = match self.rng.random_range(0..6) {
            0 | 1 => self.rng.random_range(0..9),
            2 => self.rng.random::<u64>(),
            3 => u64::MAX << self.rng.random_range(0..63),
            4 => 1 << (scalar.bits() - 1),
            _ => {
                let value = f64::from(self.rng.random_range(-40..40)) * 0.25;
                if scalar.is_float() {
                    eval::from_f64(scalar, value)
                } else {
                    value as i64 as u64
                }
            }
        };
        bits & scalar.mask()
    }

    fn number(&mut self, ty: Type, bits: u64) -> usize {
        self.emit(ty, &format!("const {bits:#x}"), &[])
    }

    /// A value of a type: one in scope, one made from another type, or a constant.
    fn value(&mut self, ty: Type) -> usize {
        let known: Vec<usize> = self
            .scope
            .iter()
            .filter(|v| v.ty == ty)
            .map(|v| v.id)
            .collect();
        if !known.is_empty() && self.chance(0.85) {
            // Newer ones more often.
            let last = known.len() - 1;
            let at = self
                .rng
                .random_range(0..=last)
                .max(self.rng.random_range(0..=last));
            return known[at];
        }
        if ty.lanes > 1 && self.chance(0.5) {
            let lane = self.value(ty.lane());
            return self.emit(ty, "splat", &[lane]);
        }
        let others: Vec<Val> = self
            .scope
            .iter()
            .filter(|v| v.ty.lanes == ty.lanes && v.ty.scalar != Scalar::Ptr && v.ty != ty)
            .copied()
            .collect();
        if !others.is_empty() && self.chance(0.6) {
            let other = self.pick(&others);
            if let Some(id) = self.convert(other.id, other.ty, ty.scalar) {
                return id;
            }
        }
        let bits = self.bits(ty.scalar);
        self.number(ty, bits)
    }

    /// A value that all work-items of the group share.
    fn uniform(&mut self, ty: Type) -> usize {
        let known: Vec<usize> = self
            .scope
            .iter()
            .filter(|v| v.ty == ty && v.uniform)
            .map(|v| v.id)
            .collect();
        if known.is_empty() {
            let bits = self.bits(ty.scalar);
            self.number(ty, bits)
        } else {
            self.pick(&known)
        }
    }

    /// The value with every NaN replaced by one.
    fn canonical(&mut self, id: usize, ty: Type) -> usize {
        if !ty.scalar.is_float() {
            return id;
        }
        let ord = self.emit(ty.as_mask(), "fcmp.ord", &[id, id]);
        let nan = match ty.scalar {
            Scalar::F16 => 0x7e00,
            Scalar::F32 => 0x7fc0_0000,
            _ => 0x7ff8_0000_0000_0000,
        };
        let nan = self.number(ty, nan);
        self.emit(ty, "select", &[ord, id, nan])
    }

    fn compare(&mut self, ty: Type, uniform: bool) -> usize {
        let side = |g: &mut Self| {
            if uniform { g.uniform(ty) } else { g.value(ty) }
        };
        let (a, b) = (side(self), side(self));
        let op = if ty.scalar.is_float() {
            format!("fcmp.{}", self.pick(FloatCC::ALL).name())
        } else {
            format!("icmp.{}", self.pick(IntCC::ALL).name())
        };
        self.emit(ty.as_mask(), &op, &[a, b])
    }

    fn condition(&mut self, uniform: bool) -> usize {
        if !uniform && self.chance(0.25) {
            let known: Vec<usize> = self
                .scope
                .iter()
                .filter(|v| v.ty == Type::I1)
                .map(|v| v.id)
                .collect();
            if known.len() >= 2 {
                let (a, b) = (self.pick(&known), self.pick(&known));
                let op = self.pick(&["and", "or", "xor"]);
                return self.emit(Type::I1, op, &[a, b]);
            }
        }
        let scalar = self.scalar();
        self.compare(Type::new(scalar, 1), uniform)
    }

    /// A conversion to another scalar type in any way that exists.
    fn convert(&mut self, id: usize, from: Type, to: Scalar) -> Option<usize> {
        let f = from.scalar;
        let ty = from.with_scalar(to);
        let same_bits = f.bits() == to.bits();
        let ops: &[&str] = match (f.is_float(), to.is_float()) {
            _ if f == Scalar::Ptr || to == Scalar::Ptr || to == Scalar::I1 => return None,
            _ if f == Scalar::I1 => {
                if to.is_float() {
                    return None;
                }
                &["zext", "sext"]
            }
            (true, true) if f != to => &["f_to_f"],
            (true, false) if same_bits && self.rng.random_bool(0.3) => &["bitcast"],
            (false, true) if same_bits && self.rng.random_bool(0.3) => &["bitcast"],
            (true, false) => &["f_to_s", "f_to_u"],
            (false, true) => &["s_to_f", "u_to_f"],
            (false, false) if f.bits() > to.bits() => &[
                "trunc",
                "trunc",
                "sat_s_to_s",
                "sat_s_to_u",
                "sat_u_to_s",
                "sat_u_to_u",
            ],
            (false, false) if f.bits() < to.bits() => &["zext", "sext"],
            (false, false) => &["sat_s_to_u", "sat_u_to_s"],
            _ => return None,
        };
        let op = self.pick(ops);
        let mode = self.pick(&["rte", "rte", "rtz", "rtp", "rtn"]);
        let id = if op == "bitcast" {
            self.canonical(id, from)
        } else {
            id
        };
        Some(self.emit(ty, &format!("convert.{op}.{mode}"), &[id]))
    }

    /// A pure operation of any kind.
    fn expression(&mut self) {
        let ty = self.ty();
        let float = ty.scalar.is_float();
        let a = self.value(ty);
        match self.rng.random_range(0..20) {
            0..=6 => {
                let ops: Vec<BinOp> = BinOp::ALL
                    .iter()
                    .copied()
                    .filter(|op| op.is_float() == float)
                    .collect();
                let op = self.pick(&ops);
                let mut b = self.value(ty);
                if op == BinOp::CopySign {
                    b = self.canonical(b, ty);
                }
                self.emit(ty, op.name(), &[a, b]);
            }
            7 | 8 => {
                let ops: Vec<UnOp> = UnOp::ALL
                    .iter()
                    .copied()
                    .filter(|&op| (op >= UnOp::FNeg) == float)
                    .collect();
                let op = self.pick(&ops);
                self.emit(ty, op.name(), &[a]);
            }
            9 if float && self.chance(0.6) => {
                let op = self.pick(Arith::ALL);
                let mode = self.pick(&["rtz", "rtp", "rtn"]);
                let operands: Vec<usize> = std::iter::once(a)
                    .chain((1..op.operands()).map(|_| self.value(ty)))
                    .collect();
                self.emit(ty, &format!("rounded.{}.{mode}", op.name()), &operands);
            }
            9 if float => {
                let (b, c) = (self.value(ty), self.value(ty));
                self.emit(ty, "fma", &[a, b, c]);
            }
            9 | 10 => {
                let b = self.value(ty);
                let cond = if ty.lanes > 1 && self.chance(0.5) {
                    self.compare(ty, false)
                } else {
                    self.condition(false)
                };
                self.emit(ty, "select", &[cond, a, b]);
            }
            11 | 12 => {
                self.compare(ty, false);
            }
            13 | 14 => {
                let to = self.scalar();
                self.convert(a, ty, to);
            }
            15 | 16 if ty.lanes > 1 => self.lanes(a, ty),
            15 if ty.scalar.is_int() => {
                // A varying id as a value of this type.
                let id = self.global_id;
                self.convert(id, Type::I64, ty.scalar);
            }
            _ if float => self.float_builtin(a, ty),
            _ => self.integer_builtin(a, ty),
        }
    }

    /// Operations on the lanes of a vector.
    fn lanes(&mut self, a: usize, ty: Type) {
        let b = self.value(ty);
        let lane = self.rng.random_range(0..ty.lanes);
        match self.rng.random_range(0..6) {
            0 => {
                let mask: Vec<String> = (0..ty.lanes)
                    .map(|_| match self.rng.random_range(0..9) {
                        8 => "255".into(),
                        _ => self.rng.random_range(0..2 * ty.lanes).to_string(),
                    })
                    .collect();
                self.emit(ty, &format!("shuffle.{}", mask.join(".")), &[a, b]);
            }
            1 => {
                self.emit(ty.lane(), &format!("extract.{lane}"), &[a]);
            }
            2 => {
                let x = self.value(ty.lane());
                self.emit(ty, &format!("insert.{lane}"), &[a, x]);
            }
            3 => {
                let index = self.value(Type::I32);
                self.emit(ty.lane(), "extract_dyn", &[a, index]);
            }
            4 => {
                let (x, index) = (self.value(ty.lane()), self.value(Type::I32));
                self.emit(ty, "insert_dyn", &[a, x, index]);
            }
            _ => {
                let lanes: Vec<usize> = (0..ty.lanes).map(|_| self.value(ty.lane())).collect();
                self.emit(ty, "build", &lanes);
            }
        }
    }

    fn integer_builtin(&mut self, a: usize, ty: Type) {
        let builtin = self.pick(&[
            Builtin::SAbsDiff,
            Builtin::UAbsDiff,
            Builtin::SHadd,
            Builtin::UHadd,
            Builtin::SRhadd,
            Builtin::URhadd,
            Builtin::SMadSat,
            Builtin::UMadSat,
            Builtin::SClamp,
            Builtin::UClamp,
            Builtin::UUpsample,
        ]);
        let name = format!("builtin.{}", builtin.name());
        let b = self.value(ty);
        match builtin {
            Builtin::UUpsample => {
                if let Some(wide) = Scalar::int(ty.scalar.bits() * 2) {
                    self.emit(ty.with_scalar(wide), &name, &[a, b]);
                }
            }
            Builtin::SMadSat | Builtin::UMadSat | Builtin::SClamp | Builtin::UClamp => {
                let c = self.value(ty);
                self.emit(ty, &name, &[a, b, c]);
            }
            _ => {
                self.emit(ty, &name, &[a, b]);
            }
        }
    }

    fn float_builtin(&mut self, a: usize, ty: Type) {
        let all: Vec<(Builtin, Func)> = Builtin::ALL
            .iter()
            .filter_map(|&b| Some((b, Func::from_name(b.name())?)))
            .filter(|(b, f)| {
                let float_only = f.accuracy()[0] == Accuracy::Absent;
                b.is_lane_wise() && (!float_only || ty.scalar == Scalar::F32)
            })
            .collect();
        let (builtin, func) = self.pick(&all);
        let name = format!("builtin.{}", builtin.name());
        let ints = ty.with_scalar(Scalar::I32);
        let mut args = vec![a];
        match func.signature() {
            Signature::Binary | Signature::BinaryAndInt => args.push(self.value(ty)),
            Signature::Ternary => args.extend([self.value(ty), self.value(ty)]),
            Signature::WithInt => args.push(self.value(ints)),
            Signature::OfInt => return,
            _ => {}
        }
        // A sign that an argument's NaN has may show.
        for arg in &mut args {
            if self.scope.iter().any(|v| v.id == *arg && v.ty == ty) {
                *arg = self.canonical(*arg, ty);
            }
        }
        let results: &[Type] = match func.signature() {
            Signature::ToInt => &[ints],
            Signature::UnaryPair => &[ty, ty],
            Signature::UnaryAndInt | Signature::BinaryAndInt => &[ty, ints],
            _ => &[ty],
        };
        let uniform = args.iter().all(|&arg| self.is_uniform(arg)) && self.together;
        let ids: Vec<usize> = results.iter().map(|_| self.fresh()).collect();
        let heads: Vec<String> = ids
            .iter()
            .zip(results)
            .map(|(id, ty)| format!("v{id}: {ty}"))
            .collect();
        let args: Vec<String> = args.iter().map(|a| format!("v{a}")).collect();
        self.line(&format!(
            "{} = {name} {}",
            heads.join(", "),
            args.join(", ")
        ));
        for (&id, &ty) in ids.iter().zip(results) {
            self.add(id, ty, uniform);
        }
    }

    /// `base + index * size`, not in scope.
    fn element(&mut self, base: usize, index: usize, size: u64) -> usize {
        let size = self.number(Type::I64, size);
        let bytes = self.emit(Type::I64, "imul", &[index, size]);
        let id = self.fresh();
        self.line(&format!("v{id}: ptr = ptr_add v{base}, v{bytes}"));
        id
    }

    /// An index below `count` (a power of two): by any shape that the launch allows.
    fn index(&mut self, count: u64) -> usize {
        let id = self.global_id;
        let end = self.range.offset[0] + self.range.global[0];
        match self.rng.random_range(0..9) {
            0 | 1 if end <= count => id,
            8 if end + 8 <= count => {
                // Beside it, by a distance that all share.
                let by = self.uniform(Type::I32);
                let by = self.masked(by, 8);
                self.emit(Type::I64, "iadd", &[id, by])
            }
            2 if 3 * end < count => {
                let stride = self.rng.random_range(2..4);
                let stride = self.number(Type::I64, stride);
                self.emit(Type::I64, "imul", &[id, stride])
            }
            3 if end <= count => {
                let last = self.number(Type::I64, count - 1);
                self.emit(Type::I64, "isub", &[last, id])
            }
            4 => {
                let n = self.uniform(Type::I32);
                self.masked(n, count)
            }
            5 => {
                let at = self.rng.random_range(0..count);
                self.number(Type::I64, at)
            }
            6 => {
                let by = self.rng.random_range(0..count);
                let by = self.number(Type::I64, by);
                let sum = self.emit(Type::I64, "iadd", &[id, by]);
                let mask = self.number(Type::I64, count - 1);
                self.emit(Type::I64, "and", &[sum, mask])
            }
            _ => {
                let n = self.value(Type::I32);
                self.masked(n, count)
            }
        }
    }

    /// An `i32` as an index below a power of two.
    fn masked(&mut self, n: usize, count: u64) -> usize {
        let mask = self.number(Type::I32, count - 1);
        let low = self.emit(Type::I32, "and", &[n, mask]);
        let op = self.pick(&["convert.zext.rte", "convert.sext.rte"]);
        self.emit(Type::I64, op, &[low])
    }

    fn load_input(&mut self) {
        let which = self.rng.random_range(0..2);
        let scalar = self.inputs[which];
        let lanes = if self.vectors && self.chance(0.5) {
            self.pick(&[2, 3, 4, 8, 16])
        } else {
            1
        };
        let ty = Type::new(scalar, lanes);
        // A vector begins in the first half.
        let index = self.index(if lanes == 1 { INPUTS } else { INPUTS / 2 });
        let uniform = self.is_uniform(index);
        let address = if lanes == 1 && self.chance(0.1) {
            // Through a pointer chosen at run time; the other buffer is at least half as long.
            let cond = self.condition(false);
            let base = self.fresh();
            self.line(&format!("v{base}: ptr = select v{cond}, v0, v1"));
            let byte = self.masked_byte(index);
            let id = self.fresh();
            self.line(&format!("v{id}: ptr = ptr_add v{base}, v{byte}"));
            let ty = Type::I8;
            self.load(ty, "generic", 1, id, false);
            return;
        } else {
            self.element(which, index, u64::from(scalar.bytes()))
        };
        let space = self.pick(&["global", "global", "constant", "generic"]);
        self.load(ty, space, scalar.bytes(), address, uniform);
    }

    /// An index kept within the bytes that every input has.
    fn masked_byte(&mut self, index: usize) -> usize {
        let mask = self.number(Type::I64, INPUTS - 1);
        self.emit(Type::I64, "and", &[index, mask])
    }

    fn load(&mut self, ty: Type, space: &str, align: u32, address: usize, uniform: bool) {
        let id = self.fresh();
        let volatile = if self.chance(0.05) { ".volatile" } else { "" };
        self.line(&format!(
            "v{id}: {ty} = load.{space}.align{align}{volatile} v{address}"
        ));
        self.add(id, ty, uniform && self.together);
    }

    /// The address of an element of this work-item in an output buffer.
    fn own(&mut self, which: usize) -> usize {
        let size = u64::from(self.outputs[which].bytes());
        let k = if self.chance(0.8) {
            let k = self.rng.random_range(0..OWN);
            self.number(Type::I64, k)
        } else {
            let n = self.value(Type::I32);
            self.masked(n, OWN)
        };
        let linear = self.linear;
        let index = if self.interleaved[which] {
            let items = self.range.items();
            let items = self.number(Type::I64, items);
            let row = self.emit(Type::I64, "imul", &[k, items]);
            self.emit(Type::I64, "iadd", &[row, linear])
        } else {
            let own = self.number(Type::I64, OWN);
            let first = self.emit(Type::I64, "imul", &[linear, own]);
            self.emit(Type::I64, "iadd", &[first, k])
        };
        self.element(2 + which, index, size)
    }

    fn store_own(&mut self, which: usize) {
        let scalar = self.outputs[which];
        let ty = Type::new(scalar, 1);
        if self.vectors && !self.interleaved[which] && self.chance(0.3) {
            let ty = ty.with_lanes(self.pick(&[2, 3, 4]));
            let value = self.value(ty);
            let value = self.canonical(value, ty);
            let own = self.number(Type::I64, OWN * u64::from(scalar.bytes()));
            let linear = self.linear;
            let bytes = self.emit(Type::I64, "imul", &[linear, own]);
            let id = self.fresh();
            self.line(&format!("v{id}: ptr = ptr_add v{}, v{bytes}", 2 + which));
            self.line(&format!(
                "store.global.align{} v{id}, v{value}",
                scalar.bytes()
            ));
            return;
        }
        let value = self.value(ty);
        let value = self.canonical(value, ty);
        let address = self.own(which);
        self.line(&format!(
            "store.global.align{} v{address}, v{value}",
            scalar.bytes()
        ));
    }

    fn private(&mut self) {
        if self.arrays.is_empty() {
            return;
        }
        let arrays = self.arrays.clone();
        let (base, scalar) = self.pick(&arrays);
        let ty = Type::new(scalar, 1);
        let index = if self.chance(0.5) {
            let at = self.rng.random_range(0..PRIVATE);
            self.number(Type::I64, at)
        } else {
            let n = self.value(Type::I32);
            self.masked(n, PRIVATE)
        };
        let size = scalar.bytes();
        if self.chance(0.5) {
            let value = self.value(ty);
            let value = self.canonical(value, ty);
            let address = self.element(base, index, u64::from(size));
            self.line(&format!("store.private.align{size} v{address}, v{value}"));
        } else {
            let address = self.element(base, index, u64::from(size));
            let space = self.pick(&["private", "private", "generic"]);
            self.load(ty, space, size, address, false);
        }
    }

    /// Work-items of a group exchange values through work-group memory.
    fn exchange(&mut self) {
        let scalar = self.scalar();
        let ty = Type::new(scalar, 1);
        let size = scalar.bytes();
        let value = self.value(ty);
        let value = self.canonical(value, ty);
        let base = if self.chance(0.5) {
            6
        } else {
            let tile = self.fresh();
            self.line(&format!("v{tile}: ptr = local_addr l0"));
            tile
        };
        let (linear, count) = (self.local_linear, self.local_count);
        self.line("barrier.workgroup.acqrel.local");
        let mine = self.element(base, linear, u64::from(size));
        self.line(&format!("store.local.align{size} v{mine}, v{value}"));
        self.line("barrier.workgroup.acqrel.local.global");
        let other = match self.rng.random_range(0..3) {
            0 => self.number(Type::I64, 0),
            1 => {
                let by = self.rng.random_range(1..6);
                let by = self.number(Type::I64, by);
                let sum = self.emit(Type::I64, "iadd", &[linear, by]);
                self.emit(Type::I64, "urem", &[sum, count])
            }
            _ => {
                let n = self.value(Type::I32);
                let wide = self.emit(Type::I64, "convert.zext.rte", &[n]);
                self.emit(Type::I64, "urem", &[wide, count])
            }
        };
        let uniform = self.is_uniform(other);
        let theirs = self.element(base, other, u64::from(size));
        self.load(ty, "local", size, theirs, uniform);
    }

    /// The work-items of a sub-group that are here do something together.
    fn sub_group(&mut self) {
        let number = |this: &mut Self| {
            let n = this.value(Type::I32);
            let most = this.number(Type::I32, 17);
            this.emit(Type::I32, "urem", &[n, most])
        };
        let what = |name: &str| format!("collective.subgroup.{name}");
        match self.rng.random_range(0..10) {
            0 => self.line("collective.subgroup.sync"),
            1 => {
                self.emit_as(Type::I1, &what("elect"), &[], false);
            }
            2 => {
                let cond = self.condition(false);
                let name = self.pick(&["all", "any"]);
                self.emit_as(Type::I1, &what(name), &[cond], false);
            }
            3 => {
                let cond = self.condition(false);
                self.emit_as(Type::I64, &what("ballot"), &[cond], false);
            }
            4 => {
                let scalar = self.scalar();
                let value = self.value(Type::new(scalar, 1));
                self.emit_as(Type::I1, &what("all_equal"), &[value], false);
            }
            5 => {
                let ty = self.ty();
                let value = self.value(ty);
                self.emit_as(ty, &what("broadcast_first"), &[value], false);
            }
            6 | 7 => {
                let ty = self.ty();
                let (value, number) = (self.value(ty), number(self));
                let name = self.pick(&["shuffle", "shuffle", "broadcast"]);
                self.emit_as(ty, &what(name), &[value, number], false);
            }
            _ => {
                let name = self.pick(&["reduce", "inclusive", "exclusive", "cluster"]);
                let size = match name {
                    "cluster" => self.pick(&[".1", ".2", ".4", ".16"]),
                    _ => "",
                };
                let (ty, op) = self.combination();
                let value = self.value(ty);
                let op = what(&format!("{name}.{op}{size}"));
                self.emit_as(ty, &op, &[value], false);
            }
        }
    }

    /// A type and an operation that combines values of it.
    fn combination(&mut self) -> (Type, &'static str) {
        let ty = self.ty();
        let ops: Vec<&str> = BinOp::ALL
            .iter()
            .filter(|op| op.is_associative() && op.is_float() == ty.scalar.is_float())
            .map(|op| op.name())
            .collect();
        (ty, self.pick(&ops))
    }

    /// The work-items of a group do something together.
    fn work_group(&mut self) {
        let what = |name: &str| format!("collective.workgroup.{name}");
        match self.rng.random_range(0..5) {
            0 => {
                let cond = self.condition(false);
                let name = self.pick(&["all", "any"]);
                self.emit_as(Type::I1, &what(name), &[cond], true);
            }
            1 => {
                let ty = self.ty();
                let value = self.value(ty);
                // The same number for all.
                let n = self.uniform(Type::I32);
                let most = self.number(Type::I32, 40);
                let number = self.emit(Type::I32, "urem", &[n, most]);
                self.emit_as(ty, &what("broadcast"), &[value, number], true);
            }
            _ => {
                let name = self.pick(&["reduce", "inclusive", "exclusive"]);
                let (ty, op) = self.combination();
                let value = self.value(ty);
                self.emit_as(
                    ty,
                    &what(&format!("{name}.{op}")),
                    &[value],
                    name == "reduce",
                );
            }
        }
    }

    fn new_block(&mut self) -> usize {
        self.next_block += 1;
        self.next_block - 1
    }

    fn begin(&mut self, block: usize) {
        let _ = writeln!(self.text, "block{block}:");
    }

    /// Begins a block with a parameter.
    fn join(&mut self, block: usize, ty: Type, uniform: bool) {
        let id = self.fresh();
        let _ = writeln!(self.text, "block{block}(v{id}: {ty}):");
        self.add(id, ty, uniform && self.together);
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..self.rng.random_range(1..7) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        if self.fuel == 0 {
            return;
        }
        self.fuel -= 1;
        if self.sub_groups.is_some() && self.chance(0.15) {
            self.sub_group();
            return;
        }
        match self.rng.random_range(0..37) {
            0..=9 => self.expression(),
            10..=13 => self.load_input(),
            14..=16 => {
                let which = self.rng.random_range(0..2);
                self.store_own(which);
            }
            17 => {
                let which = self.rng.random_range(0..2);
                let scalar = self.outputs[which];
                let address = self.own(which);
                self.load(
                    Type::new(scalar, 1),
                    "global",
                    scalar.bytes(),
                    address,
                    false,
                );
            }
            18 | 19 => self.private(),
            20 => {
                // Something of this place alone.
                let which = self.rng.random_range(0..2);
                if self.outputs[which] == Scalar::I32 {
                    let sum = self.digest(5, false);
                    let address = self.own(which);
                    self.line(&format!("store.global.align4 v{address}, v{sum}"));
                } else {
                    self.private();
                }
            }
            21 => self.atomic(),
            22 if self.barriers && self.together && self.chance(0.5) => self.work_group(),
            22 | 23 if self.barriers && self.together => self.exchange(),
            22..=25 if depth < 4 => self.branch(depth),
            26..=28 if depth < 3 => self.repeat(depth),
            29 if depth < 4 => self.switch(depth),
            30 if depth < 4 => self.tangle(depth),
            31 if !self.barriers && self.chance(0.5) => self.leave(),
            32 if depth < 3 => self.stride_loop(depth),
            33 if self.chance(0.3) => self.printf(),
            35 if depth < 4 => self.guarded_load(),
            34 => {
                let fence = self.pick(&[
                    "workgroup.acqrel.local",
                    "device.seqcst.global",
                    "item.relaxed",
                ]);
                self.line(&format!("fence.{fence}"));
            }
            _ => self.expression(),
        }
    }

    /// A value as an `i32` that depends on much of it.
    fn as_word(&mut self, val: Val) -> usize {
        let Val { mut id, ty, .. } = val;
        if ty.lanes > 1 {
            let lane = self.rng.random_range(0..ty.lanes);
            id = self.emit(ty.lane(), &format!("extract.{lane}"), &[id]);
        }
        let mut scalar = ty.scalar;
        if scalar.is_float() {
            id = self.canonical(id, ty.lane());
            scalar = scalar.as_int();
            id = self.emit(Type::new(scalar, 1), "convert.bitcast.rte", &[id]);
        }
        match scalar.bits() {
            32 => id,
            64 => {
                let half = self.number(Type::I64, 32);
                let high = self.emit(Type::I64, "lshr", &[id, half]);
                let both = self.emit(Type::I64, "xor", &[id, high]);
                self.emit(Type::I32, "convert.trunc.rte", &[both])
            }
            _ => self.emit(Type::I32, "convert.zext.rte", &[id]),
        }
    }

    /// One number that depends on the newest values in scope, so that they matter.
    fn digest(&mut self, most: usize, uniform: bool) -> usize {
        let from = self.scope.len().saturating_sub(3 * most);
        let mut vals: Vec<Val> = self.scope[from..].to_vec();
        vals.retain(|v| v.ty.scalar != Scalar::Ptr && (!uniform || v.uniform));
        let mut sum = self.number(Type::I32, 17);
        for _ in 0..most.min(vals.len()) {
            let at = self.rng.random_range(0..vals.len());
            let word = self.as_word(vals.swap_remove(at));
            let factor = self.number(Type::I32, 0x9e37_79b1);
            let product = self.emit(Type::I32, "imul", &[sum, factor]);
            sum = self.emit(Type::I32, "xor", &[product, word]);
        }
        sum
    }

    /// A value to hand on: any, or a digest where the type allows.
    fn result(&mut self, ty: Type) -> usize {
        if ty == Type::I32 && self.chance(0.8) {
            self.digest(6, false)
        } else {
            self.value(ty)
        }
    }

    /// The type of a value that control flow hands on.
    fn carried(&mut self) -> Type {
        if self.chance(0.6) {
            Type::I32
        } else {
            self.ty()
        }
    }

    /// Statements under other control flow, after which what they defined is out of scope.
    fn arm(&mut self, depth: u32, ty: Type, uniform: bool) -> usize {
        self.statements(depth + 1);
        if uniform {
            self.uniform(ty)
        } else {
            self.result(ty)
        }
    }

    /// `if` with or without `else`, uniform or divergent, that hands on a value.
    fn branch(&mut self, depth: u32) {
        let uniform = self.together && self.chance(0.4);
        let cond = self.condition(uniform);
        let ty = self.carried();
        let before = self.together;
        self.together = before && uniform;
        let shared = self.together && self.chance(0.5);
        let (then, els, after) = (self.new_block(), self.new_block(), self.new_block());
        let skip = if shared {
            self.uniform(ty)
        } else {
            self.value(ty)
        };
        let both = self.chance(0.6);
        if both {
            self.line(&format!("cond_br v{cond}, block{then}, block{els}"));
        } else {
            self.line(&format!(
                "cond_br v{cond}, block{then}, block{after}(v{skip})"
            ));
        }
        for block in [then, els] {
            if block == els && !both {
                break;
            }
            let scope = self.scope.len();
            self.begin(block);
            let value = self.arm(depth, ty, shared);
            self.line(&format!("br block{after}(v{value})"));
            self.scope.truncate(scope);
        }
        self.together = before;
        self.join(after, ty, shared);
    }

    /// A counted loop that carries a value, with a break and a `continue` perhaps. The trip count may differ between
    /// work-items.
    fn repeat(&mut self, depth: u32) {
        let uniform = self.together && self.chance(0.5);
        let ty = self.carried();
        let (header, body, after) = (self.new_block(), self.new_block(), self.new_block());
        let first = self.value(ty);
        let zero = self.number(Type::I32, 0);
        let rounds = if self.chance(0.4) {
            let n = self.rng.random_range(0..5);
            self.number(Type::I32, n)
        } else {
            let n = if uniform {
                self.uniform(Type::I32)
            } else {
                self.value(Type::I32)
            };
            let mask = self.number(Type::I32, 3);
            self.emit(Type::I32, "and", &[n, mask])
        };
        self.line(&format!("br block{header}(v{zero}, v{first})"));
        let scope = self.scope.len();
        let before = self.together;
        self.together = before && uniform;
        let (count, carried) = (self.fresh(), self.fresh());
        let _ = writeln!(self.text, "block{header}(v{count}: i32, v{carried}: {ty}):");
        self.add(count, Type::I32, self.together);
        self.add(carried, ty, false);
        let more = self.emit(Type::I1, "icmp.ult", &[count, rounds]);
        self.line(&format!(
            "cond_br v{more}, block{body}, block{after}(v{carried})"
        ));
        self.begin(body);
        self.statements(depth + 1);
        let latch = self.new_block();
        if self.chance(0.4) {
            let leave = self.condition(uniform);
            let value = self.value(ty);
            let next = self.new_block();
            self.line(&format!(
                "cond_br v{leave}, block{after}(v{value}), block{next}"
            ));
            self.begin(next);
            self.statements(depth + 1);
        }
        if self.chance(0.3) {
            let skip = self.condition(uniform);
            let value = self.value(ty);
            let next = self.new_block();
            self.line(&format!(
                "cond_br v{skip}, block{latch}(v{value}), block{next}"
            ));
            let inner = self.scope.len();
            self.begin(next);
            self.statements(depth + 1);
            let value = self.result(ty);
            self.line(&format!("br block{latch}(v{value})"));
            self.scope.truncate(inner);
        } else {
            let value = self.result(ty);
            self.line(&format!("br block{latch}(v{value})"));
        }
        self.join(latch, ty, false);
        let value = self.result(ty);
        let one = self.number(Type::I32, 1);
        let next = self.emit(Type::I32, "iadd", &[count, one]);
        self.line(&format!("br block{header}(v{next}, v{value})"));
        self.scope.truncate(scope);
        self.together = before;
        self.join(after, ty, false);
    }

    /// A switch whose cases may go on to the next case.
    fn switch(&mut self, depth: u32) {
        let uniform = self.together && self.chance(0.4);
        let ty = self.carried();
        let on = if uniform {
            self.uniform(Type::I32)
        } else {
            self.value(Type::I32)
        };
        let mask = self.number(Type::I32, 3);
        let on = self.emit(Type::I32, "and", &[on, mask]);
        let before = self.together;
        self.together = before && uniform;
        let after = self.new_block();
        let cases: Vec<usize> = (0..self.rng.random_range(1..4))
            .map(|_| self.new_block())
            .collect();
        let default = self.value(ty);
        let list: Vec<String> = cases
            .iter()
            .enumerate()
            .map(|(i, block)| format!("{i:#x}: block{block}(v{default})"))
            .collect();
        self.line(&format!(
            "switch v{on}, default block{after}(v{default}), {}",
            list.join(", ")
        ));
        for (i, &block) in cases.iter().enumerate() {
            let scope = self.scope.len();
            self.join(block, ty, false);
            let value = self.arm(depth, ty, false);
            let to = match cases.get(i + 1) {
                Some(&next) if self.chance(0.4) => next,
                _ => after,
            };
            self.line(&format!("br block{to}(v{value})"));
            self.scope.truncate(scope);
        }
        self.together = before;
        self.join(after, ty, false);
    }

    /// `for (i = id; i < end; i += step)`, which reads the inputs side by side.
    fn stride_loop(&mut self, depth: u32) {
        let (header, body, after) = (self.new_block(), self.new_block(), self.new_block());
        let end = self.rng.random_range(1..=INPUTS);
        let end = self.number(Type::I64, end);
        let step = if self.chance(0.5) {
            let step = self.range.global[0].max(8);
            self.number(Type::I64, step)
        } else {
            let step = self.rng.random_range(9..40);
            self.number(Type::I64, step)
        };
        let zero = self.number(Type::I32, 0);
        let id = self.global_id;
        self.line(&format!("br block{header}(v{id}, v{zero})"));
        let scope = self.scope.len();
        let before = self.together;
        self.together = false;
        let (i, sum) = (self.fresh(), self.fresh());
        let _ = writeln!(self.text, "block{header}(v{i}: i64, v{sum}: i32):");
        self.add(i, Type::I64, false);
        self.add(sum, Type::I32, false);
        let cc = self.pick(&["icmp.ult", "icmp.slt"]);
        let more = self.emit(Type::I1, cc, &[i, end]);
        self.line(&format!(
            "cond_br v{more}, block{body}, block{after}(v{sum})"
        ));
        self.begin(body);
        let which = self.rng.random_range(0..2);
        let scalar = self.inputs[which];
        let address = self.element(which, i, u64::from(scalar.bytes()));
        self.load(
            Type::new(scalar, 1),
            "global",
            scalar.bytes(),
            address,
            false,
        );
        if self.chance(0.5) {
            self.statements(depth + 1);
        }
        let sum = self.digest(4, false);
        let next = self.emit(Type::I64, "iadd", &[i, step]);
        self.line(&format!("br block{header}(v{next}, v{sum})"));
        self.scope.truncate(scope);
        self.together = before;
        self.join(after, Type::I32, false);
    }

    /// A load where an index that may wrap is inside the buffer.
    fn guarded_load(&mut self) {
        let id = self.global_id;
        let ty = self.pick(&[Type::I8, Type::I16, Type::I32, Type::I32, Type::I64]);
        let n = if ty == Type::I64 {
            id
        } else {
            self.emit(ty, "convert.trunc.rte", &[id])
        };
        let other = if self.chance(0.7) {
            let by = self.rng.random_range(0..20);
            self.number(ty, by)
        } else {
            self.value(ty)
        };
        let op = self.pick(&["iadd", "isub", "imul", "xor", "shl"]);
        let i = self.emit(ty, op, &[n, other]);
        let end = self.number(ty, INPUTS);
        let inside = self.emit(Type::I1, "icmp.ult", &[i, end]);
        let which = self.rng.random_range(0..2);
        let scalar = self.inputs[which];
        let value_ty = Type::new(scalar, 1);
        let default = self.value(value_ty);
        let (then, after) = (self.new_block(), self.new_block());
        self.line(&format!(
            "cond_br v{inside}, block{then}, block{after}(v{default})"
        ));
        let scope = self.scope.len();
        let before = self.together;
        self.together = false;
        self.begin(then);
        let wide = if ty == Type::I64 {
            i
        } else {
            let op = self.pick(&["convert.zext.rte", "convert.sext.rte"]);
            self.emit(Type::I64, op, &[i])
        };
        let address = self.element(which, wide, u64::from(scalar.bytes()));
        self.load(value_ty, "global", scalar.bytes(), address, false);
        let loaded = self.scope[self.scope.len() - 1].id;
        self.line(&format!("br block{after}(v{loaded})"));
        self.scope.truncate(scope);
        self.together = before;
        self.join(after, value_ty, false);
    }

    fn printf(&mut self) {
        let format = self.fresh();
        self.line(&format!("v{format}: ptr = global_addr @g0"));
        let mut args = vec![format!("v{format}")];
        for _ in 0..self.rng.random_range(0..3) {
            let ty = self.ty();
            let value = self.value(ty);
            args.push(format!("v{}", self.canonical(value, ty)));
        }
        let id = self.fresh();
        self.line(&format!("v{id}: i32 = printf {}", args.join(", ")));
    }

    /// What most kernels start with: those beyond a bound end at once.
    fn guard(&mut self) {
        let id = self.global_id;
        let n = 5;
        let compared = match self.rng.random_range(0..3) {
            0 => {
                let id = self.emit(Type::I32, "convert.trunc.rte", &[id]);
                (id, n)
            }
            1 => (id, self.emit(Type::I64, "convert.sext.rte", &[n])),
            _ => (id, self.emit(Type::I64, "convert.zext.rte", &[n])),
        };
        let (a, b) = compared;
        let (end, next) = (self.new_block(), self.new_block());
        if self.chance(0.5) {
            let cc = self.pick(&["icmp.ult", "icmp.slt"]);
            let inside = self.emit(Type::I1, cc, &[a, b]);
            self.line(&format!("cond_br v{inside}, block{next}, block{end}"));
        } else {
            let cc = self.pick(&["icmp.uge", "icmp.sge", "icmp.ugt"]);
            let outside = self.emit(Type::I1, cc, &[a, b]);
            self.line(&format!("cond_br v{outside}, block{end}, block{next}"));
        }
        self.begin(end);
        self.line("ret");
        self.begin(next);
    }

    /// Some work-items end here.
    fn leave(&mut self) {
        let cond = self.condition(false);
        let (end, next) = (self.new_block(), self.new_block());
        self.line(&format!("cond_br v{cond}, block{end}, block{next}"));
        self.begin(end);
        self.line("ret");
        self.begin(next);
    }

    /// Four blocks that jump forward to any later one: what `goto` and optimisers make.
    fn tangle(&mut self, depth: u32) {
        let ty = self.carried();
        let blocks: Vec<usize> = (0..5).map(|_| self.new_block()).collect();
        let before = self.together;
        self.together = false;
        let scope = self.scope.len();
        let value = self.value(ty);
        let cond = self.condition(false);
        self.line(&format!(
            "cond_br v{cond}, block{}(v{value}), block{}(v{value})",
            blocks[0], blocks[1]
        ));
        for (i, &block) in blocks[..4].iter().enumerate() {
            self.scope.truncate(scope);
            self.join(block, ty, false);
            let value = self.arm(depth, ty, false);
            let cond = self.condition(false);
            let (a, b) = (
                self.rng.random_range(i + 1..5),
                self.rng.random_range(i + 1..5),
            );
            // Every block is someone's target.
            let a = if i == 0 { 2 } else { a };
            let b = if i == 1 { 3 } else { b };
            self.line(&format!(
                "cond_br v{cond}, block{}(v{value}), block{}(v{value})",
                blocks[a], blocks[b]
            ));
        }
        self.scope.truncate(scope);
        self.together = before;
        self.join(blocks[4], ty, false);
    }

    /// Ids, sizes and places.
    fn prologue(&mut self) {
        self.global_id = self.emit_as(Type::I64, "dim_query.global_id.0", &[], false);
        let id = self.global_id;
        self.emit(Type::I32, "convert.trunc.rte", &[id]);
        self.linear = if self.range.dims == 1 && self.range.offset[0] == 0 && self.chance(0.7) {
            id
        } else {
            self.emit_as(Type::I64, "query.global_linear_id", &[], false)
        };
        let queries = [
            ("global_id", false),
            ("local_id", false),
            ("group_id", true),
            ("global_size", true),
            ("local_size", true),
            ("enqueued_local_size", true),
            ("num_groups", true),
            ("global_offset", true),
        ];
        for _ in 0..self.rng.random_range(1..4) {
            let (name, uniform) = self.pick(&queries);
            let dim = self.rng.random_range(0..3);
            let wide = self.emit_as(Type::I64, &format!("dim_query.{name}.{dim}"), &[], uniform);
            if self.chance(0.7) {
                self.emit(Type::I32, "convert.trunc.rte", &[wide]);
            }
        }
        if self.chance(0.3) {
            self.emit_as(Type::I64, "query.work_dim", &[], true);
        }
        if self.sub_groups.is_some() {
            for name in ["id", "local_id", "size"] {
                let wide = self.emit_as(Type::I64, &format!("query.subgroup_{name}"), &[], false);
                self.emit(Type::I32, "convert.trunc.rte", &[wide]);
            }
            self.emit_as(Type::I64, "query.num_subgroups", &[], true);
        }
        if self.barriers {
            self.local_linear = self.emit_as(Type::I64, "query.local_linear_id", &[], false);
            let [x, y, z] = [0, 1, 2]
                .map(|d| self.emit_as(Type::I64, &format!("dim_query.local_size.{d}"), &[], true));
            let plane = self.emit(Type::I64, "imul", &[x, y]);
            self.local_count = self.emit(Type::I64, "imul", &[plane, z]);
        }
    }

    fn file(mut self, seed: u64) -> String {
        // Parameters: inputs, outputs, counters, a number, work-group memory, a value, digests.
        for _ in 0..5 {
            self.fresh();
        }
        let n = self.fresh();
        self.add(n, Type::I32, true);
        self.fresh();
        let given = self.fresh();
        let given_ty = Type::new(self.inputs[0], 1);
        self.add(given, given_ty, true);
        self.fresh();
        for _ in 0..self.rng.random_range(0..3) {
            let scalar = self.scalar();
            let id = self.fresh();
            let size = u64::from(scalar.bytes());
            self.line(&format!("v{id}: ptr = alloca.{}.align8", PRIVATE * size));
            self.arrays.push((id, scalar));
        }
        self.prologue();
        for (base, scalar) in self.arrays.clone() {
            for at in 0..PRIVATE {
                let ty = Type::new(scalar, 1);
                let value = self.value(ty);
                let value = self.canonical(value, ty);
                let at = self.number(Type::I64, at);
                let size = scalar.bytes();
                let address = self.element(base, at, u64::from(size));
                self.line(&format!("store.private.align{size} v{address}, v{value}"));
            }
        }
        if !self.barriers && self.chance(0.4) {
            self.guard();
        }
        while self.fuel > 0 {
            self.statements(0);
        }
        for which in [0, 1, 0] {
            self.store_own(which);
        }
        let sum = self.digest(30, false);
        let linear = self.linear;
        let address = self.element(8, linear, 4);
        self.line(&format!("store.global.align4 v{address}, v{sum}"));
        self.line("ret");
        self.assemble(seed, given_ty)
    }

    /// The text around the instructions.
    fn assemble(mut self, seed: u64, given: Type) -> String {
        let items = self.range.items();
        let n = self.rng.random_range(-3..40);
        let bits = self.bits(given.scalar);
        let local: u64 = self.range.local.iter().product::<u64>() * 8;
        let [a, b] = self.inputs.map(Scalar::name);
        let [c, d] = self.outputs.map(Scalar::name);
        let args = [
            format!("buffer {a} random {INPUTS} {seed}"),
            format!("buffer {b} random {INPUTS} {}", seed + 1),
            format!("buffer {c} random {} {}", items * OWN, seed + 2),
            format!("buffer {d} random {} {}", items * OWN, seed + 3),
            atomics::buffer(),
            format!("value i32 {n}"),
            format!("local {local}"),
            format!("value {a} {bits:#x}"),
            format!("buffer i32 zero {items}"),
        ];
        let args: String = args.iter().map(|arg| format!("; arg: {arg}\n")).collect();
        let sub_groups = match self.sub_groups {
            Some(size) => format!("; subgroup: {size}\n"),
            None => String::new(),
        };
        let types = format!("ptr, ptr, ptr, ptr, ptr, i32, ptr, {given}, ptr");
        let params: Vec<String> = types
            .split(", ")
            .enumerate()
            .map(|(i, ty)| format!("v{i}: {ty}"))
            .collect();
        format!(
            "; seed {seed}\n; run:\n{}{sub_groups}{args}\
             global @g0 \"format\" constant size 3 align 1 = 0x256400\n\
             kernel \"k\" @0 (value 0, value 8, value 16, value 24, value 32, value 40, local 48, value 56, value 64)\n\
             func \"k\" ({types}) -> () {{\n  local l0 \"tile\" size {local} align 8\nblock0({}):\n{}}}\n",
            self.range.directives(),
            params.join(", "),
            self.text
        )
    }
}
