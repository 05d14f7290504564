//! Random kernels, as IR text: valid, terminating, without undefined behaviour.
//!
//! A kernel `k` takes a buffer of which each work-item owns [`ITEM_BYTES`] bytes, and one of
//! [`INPUT_BYTES`] bytes that all only read. It and the functions that it calls do everything
//! through nested statements over values in scope: arithmetic of every type, vectors, private
//! memory accessed as different types and copied, branches, loops with several exits, switches,
//! early returns, barriers. Functions call those before: at random, or each the one before it once
//! or twice, and some have barriers, which only the kernel's outermost statements and functions of
//! that kind lead to. What would leave the result to the engine is kept out: private memory is set
//! at each function's start, and floats go to memory or to their bits only when they are not NaN,
//! whose sign and payload may differ.

use std::fmt::Write as _;

use brolga_compiler::ir::{Scalar, Type};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::SCALARS;

/// Bytes of the first buffer for each work-item.
pub const ITEM_BYTES: usize = 128;
/// Of those, the bytes that loads and stores in the middle of the kernel use; its last values go to
/// the rest.
const COMMON_BYTES: u32 = 32;
/// Bytes of the second buffer.
pub const INPUT_BYTES: usize = 64;
/// Work-items of a group the kernel may be run with, at most.
pub const MAX_GROUP: usize = 64;

/// The text of a random module. Equal seeds give equal texts.
pub fn module(seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let is_chain = rng.random_bool(0.25);
    let helpers = match is_chain {
        true => rng.random_range(3..8),
        false => rng.random_range(0..3),
    };
    let calls_of_last = if is_chain { rng.random_range(1..3) } else { 0 };
    let meets_from = match rng.random_bool(0.3) {
        true => rng.random_range(0..=helpers),
        false => helpers,
    };
    let mut text = String::new();
    let mut signatures = Vec::new();
    for id in 0..=helpers {
        let kind = match id {
            _ if id == helpers => Kind::Kernel,
            _ if id >= meets_from => Kind::Meeting,
            _ => Kind::Plain,
        };
        let mut g = Generator::new(rng.random(), &signatures, kind);
        if is_chain {
            g.calls_of_last = calls_of_last;
            // So that a doubling in each of them stays small.
            g.fuel = if id == helpers { 40 } else { 5 };
        }
        let signature = g.function();
        text += &g.finish(id, &signature);
        signatures.push(signature);
    }
    text
}

/// What kind of function is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Kernel,
    /// With barriers, which all work-items of a group come to.
    Meeting,
    /// That any work-item may call by itself.
    Plain,
}

/// Parameters after the two pointers, and results.
#[derive(Clone)]
struct Signature {
    kind: Kind,
    params: Vec<Type>,
    results: Vec<Type>,
}

fn any_type(rng: &mut ChaCha8Rng) -> Type {
    let scalar = SCALARS[rng.random_range(0..SCALARS.len())];
    let lanes = [1, 1, 1, 1, 2, 3, 4][rng.random_range(0..7)];
    Type::new(scalar, lanes)
}

struct Generator<'a> {
    rng: ChaCha8Rng,
    callees: &'a [Signature],
    kind: Kind,
    /// How often the function calls the one before it at least.
    calls_of_last: usize,
    text: String,
    next: usize,
    next_block: usize,
    /// Values in scope.
    values: Vec<(usize, Type)>,
    /// Private memory: address and bytes.
    memory: Vec<(usize, u32)>,
    /// This work-item's bytes of the first buffer.
    own: usize,
    results: Vec<Type>,
    /// The types that are used most, so that values meet.
    palette: Vec<Type>,
    /// Statements left.
    fuel: u32,
}

impl<'a> Generator<'a> {
    fn new(seed: u64, callees: &'a [Signature], kind: Kind) -> Generator<'a> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut palette = vec![Type::I32];
        palette.extend((0..3).map(|_| any_type(&mut rng)));
        Generator {
            rng,
            palette,
            callees,
            kind,
            calls_of_last: 0,
            text: String::new(),
            next: 2,
            next_block: 1,
            values: Vec::new(),
            memory: Vec::new(),
            own: 0,
            results: Vec::new(),
            fuel: 60,
        }
    }

    fn chance(&mut self, p: f64) -> bool {
        self.rng.random_bool(p)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.random_range(0..from.len())]
    }

    fn ty(&mut self) -> Type {
        if self.chance(0.1) {
            any_type(&mut self.rng)
        } else {
            self.palette[self.rng.random_range(0..self.palette.len())]
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text}");
    }

    /// Emits an instruction with one result and puts that in scope.
    fn emit(&mut self, ty: Type, operation: &str) -> usize {
        let id = self.next;
        self.next += 1;
        self.line(&format!("v{id}: {ty} = {operation}"));
        self.values.push((id, ty));
        id
    }

    fn constant(&mut self, ty: Type) -> usize {
        let bits = match self.rng.random_range(0..4) {
            0 => self.rng.random_range(0..5),
            1 => self.rng.random::<u64>(),
            2 => u64::MAX,
            _ => match ty.scalar {
                Scalar::F16 => 0x3c00,
                Scalar::F32 => 0x4020_0000,
                Scalar::F64 => 0xbff8_0000_0000_0000,
                _ => 1 << self.rng.random_range(0..8),
            },
        };
        self.emit(ty, &format!("const {:#x}", bits & ty.scalar.mask()))
    }

    /// A value of a type: one in scope or a new constant.
    fn value(&mut self, ty: Type) -> usize {
        let known: Vec<usize> = self
            .values
            .iter()
            .filter(|&&(_, t)| t == ty)
            .map(|&(id, _)| id)
            .collect();
        if known.is_empty() || self.chance(0.1) {
            self.constant(ty)
        } else if self.chance(0.6) {
            self.pick(&known[known.len().saturating_sub(4)..])
        } else {
            self.pick(&known)
        }
    }

    /// A value without NaNs.
    fn ordered(&mut self, id: usize, ty: Type) -> usize {
        if !ty.scalar.is_float() {
            return id;
        }
        let ord = self.emit(ty.as_mask(), &format!("fcmp.ord v{id}, v{id}"));
        let zero = self.emit(ty, "const 0x0");
        self.emit(ty, &format!("select v{ord}, v{id}, v{zero}"))
    }

    fn condition(&mut self) -> usize {
        let ty = Type::new(self.pick(&SCALARS), 1);
        let (a, b) = (self.value(ty), self.value(ty));
        let cc = if ty.scalar.is_float() {
            self.pick(&[
                "fcmp.oeq", "fcmp.olt", "fcmp.uge", "fcmp.une", "fcmp.ord", "fcmp.ult",
            ])
        } else {
            self.pick(&[
                "icmp.eq", "icmp.ne", "icmp.slt", "icmp.ule", "icmp.sgt", "icmp.uge",
            ])
        };
        self.emit(Type::I1, &format!("{cc} v{a}, v{b}"))
    }

    /// An expression of any kind.
    fn expression(&mut self) {
        let ty = self.ty();
        let float = ty.scalar.is_float();
        let (a, b) = (self.value(ty), self.value(ty));
        match self.rng.random_range(0..16) {
            0..=5 if float => {
                let op = self.pick(&["fadd", "fsub", "fmul", "fdiv", "fmin", "fmax", "frem"]);
                self.emit(ty, &format!("{op} v{a}, v{b}"));
            }
            0..=5 => {
                let op = self.pick(&[
                    "iadd", "isub", "imul", "smulhi", "umulhi", "sdiv", "udiv", "srem", "urem",
                    "and", "or", "xor", "shl", "lshr", "ashr", "rotl", "smin", "smax", "umin",
                    "umax", "saddsat", "uaddsat", "ssubsat", "usubsat",
                ]);
                self.emit(ty, &format!("{op} v{a}, v{b}"));
            }
            6 | 7 if float => {
                let op = self.pick(&[
                    "fneg",
                    "fabs",
                    "sqrt",
                    "ceil",
                    "floor",
                    "trunc",
                    "roundeven",
                    "fneg",
                ]);
                self.emit(ty, &format!("{op} v{a}"));
            }
            6 | 7 => {
                let op = self.pick(&["ineg", "not", "popcount", "clz", "ctz", "bitreverse"]);
                self.emit(ty, &format!("{op} v{a}"));
            }
            8 if float => {
                let c = self.value(ty);
                self.emit(ty, &format!("fma v{a}, v{b}, v{c}"));
            }
            8 | 9 => {
                let c = self.condition();
                self.emit(ty, &format!("select v{c}, v{a}, v{b}"));
            }
            10 | 11 => self.convert(a, ty),
            12 if ty.lanes > 1 => {
                let mask: Vec<String> = (0..ty.lanes)
                    .map(|_| match self.rng.random_range(0..9) {
                        8 => "255".into(),
                        n => (n % (2 * ty.lanes)).to_string(),
                    })
                    .collect();
                self.emit(ty, &format!("shuffle.{} v{a}, v{b}", mask.join(".")));
            }
            13 if ty.lanes > 1 => {
                let lane = self.rng.random_range(0..ty.lanes);
                let x = self.emit(ty.lane(), &format!("extract.{lane} v{a}"));
                let at = self.rng.random_range(0..ty.lanes);
                self.emit(ty, &format!("insert.{at} v{b}, v{x}"));
            }
            14 if ty.lanes > 1 => {
                let index = self.value(Type::I32);
                let x = self.emit(ty.lane(), &format!("extract_dyn v{a}, v{index}"));
                self.emit(ty, &format!("insert_dyn v{b}, v{x}, v{index}"));
            }
            15 if !float => {
                let name = self.pick(&["s_clamp", "u_abs_diff", "s_hadd", "u_rhadd", "s_mad_sat"]);
                let c = self.value(ty);
                let third = if name == "s_clamp" || name == "s_mad_sat" {
                    format!(", v{c}")
                } else {
                    String::new()
                };
                self.emit(ty, &format!("builtin.{name} v{a}, v{b}{third}"));
            }
            15 if ty.lanes > 1 && ty.scalar != Scalar::F16 => {
                let name = self.pick(&["dot", "length", "distance"]);
                let second = if name == "length" {
                    String::new()
                } else {
                    format!(", v{b}")
                };
                self.emit(ty.lane(), &format!("builtin.{name} v{a}{second}"));
                self.emit(ty, &format!("builtin.normalize v{a}"));
            }
            _ if ty.lanes == 1 => {
                let lanes = self.pick(&[2, 4]);
                self.emit(ty.with_lanes(lanes), &format!("splat v{a}"));
            }
            _ => {
                let lanes: Vec<String> = (0..ty.lanes)
                    .map(|_| format!("v{}", self.value(ty.lane())))
                    .collect();
                self.emit(ty, &format!("build {}", lanes.join(", ")));
            }
        }
    }

    fn convert(&mut self, a: usize, from: Type) {
        let mode = self.pick(&["rte", "rtz", "rtp", "rtn"]);
        let to = Type::new(self.pick(&SCALARS), from.lanes);
        let (f, t) = (from.scalar, to.scalar);
        let op = match (f.is_float(), t.is_float()) {
            (true, true) if f != t => "f_to_f",
            (true, false) => self.pick(&["f_to_s", "f_to_u"]),
            (false, true) => self.pick(&["s_to_f", "u_to_f"]),
            (false, false) if f.bits() > t.bits() => self.pick(&[
                "trunc",
                "trunc",
                "sat_s_to_s",
                "sat_s_to_u",
                "sat_u_to_s",
                "sat_u_to_u",
            ]),
            (false, false) if f.bits() < t.bits() => self.pick(&["zext", "sext"]),
            _ => {
                // The same bits in other lanes.
                let bits = f.bits() * u32::from(from.lanes);
                let to = self.pick(&SCALARS);
                if bits.is_multiple_of(to.bits()) && bits / to.bits() <= 8 && to.bits() != 16 {
                    let a = self.ordered(a, from);
                    let to = Type::new(to, (bits / to.bits()) as u8);
                    self.emit(to, &format!("convert.bitcast.rte v{a}"));
                }
                return;
            }
        };
        self.emit(to, &format!("convert.{op}.{mode} v{a}"));
    }

    /// The address of `bytes` bytes in some private memory, or in this work-item's part of the
    /// buffer.
    fn address(&mut self, bytes: u32) -> (usize, &'static str) {
        let fitting: Vec<(usize, u32, &str)> = self
            .memory
            .iter()
            .map(|&(id, size)| (id, size, "private"))
            .chain([(self.own, COMMON_BYTES, "global")])
            .filter(|&(_, size, _)| size >= bytes)
            .collect();
        let (base, size, space) = self.pick(&fitting);
        // Sometimes any offset, mostly one that others use too.
        let step = if self.chance(0.1) { 1 } else { bytes.min(8) };
        let offset = self.rng.random_range(0..=(size - bytes) / step) * step;
        if self.chance(0.1) && size - bytes >= 8 {
            // An offset known only at run time.
            let index = self.value(Type::I64);
            let low = self.emit(
                Type::I64,
                &format!("const {:#x}", (size - bytes).next_power_of_two() / 2 - 1),
            );
            let at = self.emit(Type::I64, &format!("and v{index}, v{low}"));
            return (self.pointer(base, at), space);
        }
        if offset == 0 {
            return (base, space);
        }
        let at = self.emit(Type::I64, &format!("const {offset:#x}"));
        (self.pointer(base, at), space)
    }

    fn pointer(&mut self, base: usize, bytes: usize) -> usize {
        let id = self.next;
        self.next += 1;
        self.line(&format!("v{id}: ptr = ptr_add v{base}, v{bytes}"));
        id
    }

    fn load(&mut self) {
        let ty = self.ty();
        let (at, space) = self.address(ty.bytes());
        let space = if self.chance(0.1) { "generic" } else { space };
        self.emit(ty, &format!("load.{space}.align1 v{at}"));
    }

    fn store(&mut self) {
        let ty = self.ty();
        let value = self.value(ty);
        let value = self.ordered(value, ty);
        let (at, space) = self.address(ty.bytes());
        self.line(&format!("store.{space}.align1 v{at}, v{value}"));
    }

    fn input(&mut self) {
        let ty = self.ty();
        let index = self.value(Type::I64);
        let low = self.emit(Type::I64, "const 0x1f");
        let at = self.emit(Type::I64, &format!("and v{index}, v{low}"));
        let at = self.pointer(1, at);
        let space = self.pick(&["constant", "global"]);
        self.emit(ty, &format!("load.{space}.align1 v{at}"));
    }

    fn copy(&mut self) {
        let size = self.pick(&[4, 8, 12, 16]);
        let fits: Vec<(usize, u32)> = self
            .memory
            .iter()
            .copied()
            .filter(|m| m.1 >= size)
            .collect();
        if fits.len() < 2 {
            return;
        }
        let (to, from) = (self.pick(&fits), self.pick(&fits));
        if to.0 == from.0 {
            return;
        }
        let mut at = |(base, room): (usize, u32)| {
            let offset = self.rng.random_range(0..=(room - size) / 4) * 4;
            let offset = self.emit(Type::I64, &format!("const {offset:#x}"));
            self.pointer(base, offset)
        };
        let (to, from) = (at(to), at(from));
        self.line(&format!("mem_copy.{size}.align1 v{to}, v{from}"));
    }

    fn call(&mut self, kind: Kind) {
        let ids = (0..self.callees.len()).filter(|&id| self.callees[id].kind == kind);
        let ids: Vec<usize> = ids.collect();
        if !ids.is_empty() {
            let id = self.pick(&ids);
            self.call_of(id);
        }
    }

    fn call_of(&mut self, id: usize) {
        let signature = self.callees[id].clone();
        let mut args = vec![format!("v{}", self.own), "v1".into()];
        for &ty in &signature.params {
            args.push(format!("v{}", self.value(ty)));
        }
        let mut results = Vec::new();
        for &ty in &signature.results {
            results.push(format!("v{}: {ty}", self.next));
            self.values.push((self.next, ty));
            self.next += 1;
        }
        let results = if results.is_empty() {
            String::new()
        } else {
            format!("{} = ", results.join(", "))
        };
        self.line(&format!("{results}call @{id}, {}", args.join(", ")));
    }

    fn new_block(&mut self) -> usize {
        self.next_block += 1;
        self.next_block - 1
    }

    fn begin(&mut self, block: usize) {
        let _ = writeln!(self.text, "block{block}:");
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..self.rng.random_range(1..6) {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: u32) {
        if self.fuel == 0 {
            return;
        }
        self.fuel -= 1;
        match self.rng.random_range(0..24) {
            0..=6 => self.expression(),
            7..=10 => self.load(),
            11..=14 => self.store(),
            15 => self.input(),
            16 => self.copy(),
            // In a chain, calls in loops would multiply from each function to the next.
            17 if self.calls_of_last == 0 => self.call(Kind::Plain),
            18 | 19 if depth < 4 => self.branch(depth),
            20..=22 if depth < 3 => self.repeat(depth),
            23 if depth < 4 => self.switch(depth),
            _ => self.expression(),
        }
    }

    /// `if`, with or without `else`, that hands on a value; an arm may return.
    fn branch(&mut self, depth: u32) {
        let cond = self.condition();
        let ty = self.ty();
        let (then, els, after) = (self.new_block(), self.new_block(), self.new_block());
        self.line(&format!("cond_br v{cond}, block{then}, block{els}"));
        for (n, block) in [then, els].into_iter().enumerate() {
            let scope = self.values.len();
            self.begin(block);
            if n == 0 || self.chance(0.6) {
                self.statements(depth + 1);
            }
            if n == 0 && self.kind == Kind::Plain && self.chance(0.2) {
                self.ret();
            } else {
                let value = self.value(ty);
                self.line(&format!("br block{after}(v{value})"));
            }
            self.values.truncate(scope);
        }
        self.join(after, ty);
    }

    /// Begins a block with one parameter.
    fn join(&mut self, block: usize, ty: Type) {
        let id = self.next;
        self.next += 1;
        let _ = writeln!(self.text, "block{block}(v{id}: {ty}):");
        self.values.push((id, ty));
    }

    /// A loop of a few rounds that carries a value, with a second way out.
    fn repeat(&mut self, depth: u32) {
        let ty = self.ty();
        let (header, body, after) = (self.new_block(), self.new_block(), self.new_block());
        let first = self.value(ty);
        let zero = self.emit(Type::I32, "const 0x0");
        // A number that is known, or one that differs between work-items.
        let rounds = if self.chance(0.5) {
            let rounds = self.rng.random_range(0..4);
            self.emit(Type::I32, &format!("const {rounds:#x}"))
        } else {
            let (any, few) = (self.value(Type::I32), self.emit(Type::I32, "const 0x3"));
            self.emit(Type::I32, &format!("and v{any}, v{few}"))
        };
        self.line(&format!("br block{header}(v{zero}, v{first})"));
        let scope = self.values.len();
        let (count, carried) = (self.next, self.next + 1);
        self.next += 2;
        let _ = writeln!(self.text, "block{header}(v{count}: i32, v{carried}: {ty}):");
        self.values.extend([(count, Type::I32), (carried, ty)]);
        let more = self.emit(Type::I1, &format!("icmp.ult v{count}, v{rounds}"));
        self.line(&format!(
            "cond_br v{more}, block{body}, block{after}(v{carried})"
        ));
        self.begin(body);
        self.statements(depth + 1);
        if self.chance(0.4) {
            let leave = self.condition();
            let value = self.value(ty);
            let next = self.new_block();
            self.line(&format!(
                "cond_br v{leave}, block{after}(v{value}), block{next}"
            ));
            self.begin(next);
            self.statements(depth + 1);
        }
        let one = self.emit(Type::I32, "const 0x1");
        let next = self.emit(Type::I32, &format!("iadd v{count}, v{one}"));
        let value = self.value(ty);
        self.line(&format!("br block{header}(v{next}, v{value})"));
        self.values.truncate(scope);
        self.join(after, ty);
    }

    fn switch(&mut self, depth: u32) {
        let ty = self.ty();
        let on = self.value(Type::I32);
        let low = self.emit(Type::I32, "const 0x3");
        let on = self.emit(Type::I32, &format!("and v{on}, v{low}"));
        let after = self.new_block();
        let cases: Vec<usize> = (0..self.rng.random_range(1..4))
            .map(|_| self.new_block())
            .collect();
        let default = self.value(ty);
        let list: Vec<String> = cases
            .iter()
            .enumerate()
            .map(|(i, block)| format!("{i:#x}: block{block}"))
            .collect();
        self.line(&format!(
            "switch v{on}, default block{after}(v{default}), {}",
            list.join(", ")
        ));
        for &block in &cases {
            let scope = self.values.len();
            self.begin(block);
            self.statements(depth + 1);
            let value = self.value(ty);
            self.line(&format!("br block{after}(v{value})"));
            self.values.truncate(scope);
        }
        self.join(after, ty);
    }

    /// Work-items of a group exchange values through work-group memory.
    fn exchange(&mut self) {
        let value = self.value(Type::I32);
        let id = self.emit(Type::I64, "dim_query.local_id.0");
        let size = self.emit(Type::I64, "dim_query.local_size.0");
        let four = self.emit(Type::I64, "const 0x4");
        let tile = self.next;
        self.next += 1;
        self.line(&format!("v{tile}: ptr = local_addr l0"));
        let at = self.emit(Type::I64, &format!("imul v{id}, v{four}"));
        let mine = self.pointer(tile, at);
        self.line("barrier.workgroup.acqrel.local");
        self.line(&format!("store.local.align4 v{mine}, v{value}"));
        self.line("barrier.workgroup.acqrel.local");
        let by = self.rng.random_range(1..5);
        let by = self.emit(Type::I64, &format!("const {by:#x}"));
        let other = self.emit(Type::I64, &format!("iadd v{id}, v{by}"));
        let other = self.emit(Type::I64, &format!("urem v{other}, v{size}"));
        let at = self.emit(Type::I64, &format!("imul v{other}, v{four}"));
        let theirs = self.pointer(tile, at);
        self.emit(Type::I32, &format!("load.local.align4 v{theirs}"));
    }

    fn ret(&mut self) {
        let types = self.results.clone();
        let values: Vec<String> = types
            .iter()
            .map(|&ty| format!("v{}", self.value(ty)))
            .collect();
        self.line(format!("ret {}", values.join(", ")).trim());
    }

    /// Stores values that few other instructions use: the newest, and some of the others.
    fn last_values(&mut self) {
        let small: Vec<(usize, Type)> = self
            .values
            .iter()
            .copied()
            .filter(|(_, ty)| ty.scalar != Scalar::I1 && ty.bytes() <= 16)
            .collect();
        let mut at = COMMON_BYTES;
        for n in 0.. {
            let (id, ty) = match small.len().checked_sub(n + 1) {
                Some(newest) if n < 4 => small[newest],
                _ => self.pick(&small),
            };
            if at + ty.bytes() > ITEM_BYTES as u32 {
                break;
            }
            let value = self.ordered(id, ty);
            let offset = self.emit(Type::I64, &format!("const {at:#x}"));
            let to = self.pointer(self.own, offset);
            self.line(&format!("store.global.align1 v{to}, v{value}"));
            at += ty.bytes();
        }
    }

    fn function(&mut self) -> Signature {
        let is_kernel = self.kind == Kind::Kernel;
        let count = if is_kernel {
            0
        } else {
            self.rng.random_range(0..4)
        };
        let params: Vec<Type> = (0..count).map(|_| self.ty()).collect();
        let count = if is_kernel {
            0
        } else {
            self.rng.random_range(0..3)
        };
        self.results = (0..count).map(|_| self.ty()).collect();
        for &ty in &params {
            self.values.push((self.next, ty));
            self.next += 1;
        }
        for _ in 0..self.rng.random_range(1..5) {
            let size = self.pick(&[4, 8, 16, 16, 24, 32]);
            let address = self.next;
            self.next += 1;
            self.line(&format!("v{address}: ptr = alloca.{size}.align8"));
            self.memory.push((address, size));
        }
        let zero = self.emit(Type::I32, "const 0x0");
        for (address, size) in self.memory.clone() {
            for offset in (0..size).step_by(4) {
                let at = self.emit(Type::I64, &format!("const {offset:#x}"));
                let at = self.pointer(address, at);
                self.line(&format!("store.private.align4 v{at}, v{zero}"));
            }
        }
        if is_kernel {
            let gid = self.emit(Type::I64, "dim_query.global_id.0");
            let size = self.emit(Type::I64, &format!("const {ITEM_BYTES:#x}"));
            let at = self.emit(Type::I64, &format!("imul v{gid}, v{size}"));
            self.own = self.pointer(0, at);
            self.emit(Type::I32, &format!("convert.trunc.rte v{gid}"));
            for _ in 0..self.rng.random_range(4..9) {
                self.statements(0);
                if self.chance(0.3) {
                    self.exchange();
                }
                if self.chance(0.2) {
                    self.call(Kind::Meeting);
                }
            }
            self.calls_of_the_last();
            self.last_values();
        } else {
            self.fuel = self.fuel.min(15);
            self.statements(1);
            if self.kind == Kind::Meeting {
                self.exchange();
                if self.chance(0.3) {
                    self.call(Kind::Meeting);
                }
                self.statements(1);
            }
            self.calls_of_the_last();
        }
        self.ret();
        Signature {
            kind: self.kind,
            params,
            results: self.results.clone(),
        }
    }

    fn calls_of_the_last(&mut self) {
        if let Some(last) = self.callees.len().checked_sub(1) {
            for _ in 0..self.calls_of_last {
                self.call_of(last);
                self.expression();
            }
        }
    }

    fn finish(self, id: usize, signature: &Signature) -> String {
        let mut types = vec!["ptr".to_string(), "ptr".into()];
        types.extend(signature.params.iter().map(Type::to_string));
        let params: Vec<String> = types
            .iter()
            .enumerate()
            .map(|(i, ty)| format!("v{i}: {ty}"))
            .collect();
        let results: Vec<String> = signature.results.iter().map(Type::to_string).collect();
        let (head, name) = match self.kind {
            Kind::Kernel => (
                format!("kernel \"k\" @{id} (value 0, value 8)\n"),
                "k".to_string(),
            ),
            _ => (String::new(), format!("f{id}")),
        };
        let local = match self.kind {
            Kind::Plain => String::new(),
            _ => format!("  local l0 \"tile\" size {} align 4\n", 4 * MAX_GROUP),
        };
        format!(
            "{head}func \"{name}\" ({}) -> ({}) {{\n{local}block0({}):\n{}}}\n",
            types.join(", "),
            results.join(", "),
            params.join(", "),
            self.text
        )
    }
}
