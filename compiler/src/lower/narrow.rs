//! Arithmetic on vectors of 32-bit integers, done in 16 bits where nobody can tell: twice as many
//! lanes in a vector.
//!
//! C computes with bytes and shorts in `int`. Sums, products, left shifts and bitwise operations
//! have the same low 16 bits whatever is above, so what is made by them of extended bytes and
//! shorts can be had in 16 bits; right shifts and minima as well where bounds ([`Ranges`]) show
//! that 16 bits hold their operands. A *narrow* value is one whose low 16 bits are computed so.
//! Truncations take them as they are. Any other user wants 32 bits: then the value must lie within
//! 16, signed or unsigned, and is extended again. Values that are not needed as anything but narrow
//! ones disappear.
//!
//! 1. Find candidates, in reverse post-order.
//! 2. Drop those that somebody needs in 32 bits and that may not fit, and with them what is
//!    computed from them.
//! 3. Drop connected candidates that need more extensions than they save operations.
//! 4. Replay.
//!
//! Cost: near linear.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::{SmallVec, smallvec};

use super::emit::{Emitter, rewrite};
use crate::analysis::{Cfg, Ranges};
use crate::ir::{BinOp, ConvertOp, Function, Inst, InstData, Op, Scalar, Value};
use crate::launch::LaunchKey;
use crate::transform::dce;

/// Narrows what is worth it. Runs on what [`super::legalize`] leaves.
pub fn run(func: &mut Function, key: &LaunchKey) {
    if !has_small_integers(func) {
        return;
    }
    let mut narrowing = Narrowing::find(func, key);
    narrowing.drop_wide(func);
    narrowing.drop_unprofitable(func);
    if narrowing
        .order
        .iter()
        .any(|&value| narrowing.is_narrow(value))
    {
        narrowing.replay(func);
        dce::run(func);
    }
}

/// Whether anything is extended from 8 or 16 bits to 32 in vectors.
fn has_small_integers(func: &Function) -> bool {
    let mut insts = func
        .layout
        .iter()
        .flat_map(|&block| &func.blocks[block].insts);
    insts.any(|&inst| is_source(func, &func.insts[inst]))
}

/// An extension of vectors of bytes or shorts to 32 bits.
fn is_source(func: &Function, data: &InstData) -> bool {
    matches!(data.op, Op::Convert(ConvertOp::ZExt | ConvertOp::SExt, _))
        && is_wide(func, data.results[0])
        && matches!(func.ty(data.args[0]).scalar, Scalar::I8 | Scalar::I16)
}

fn is_wide(func: &Function, value: Value) -> bool {
    let ty = func.ty(value);
    ty.lanes > 1 && ty.scalar == Scalar::I32
}

/// How 16 bits are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fits {
    Signed,
    Unsigned,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Wide,
    /// Has a narrow form at no cost: extended or constant.
    Source,
    /// An operation.
    Computed,
}

struct Narrowing {
    ranges: Ranges,
    kind: SecondaryMap<Value, Kind>,
    /// Candidates in reverse post-order.
    order: Vec<Value>,
    /// Whether somebody wants 32 bits.
    wanted: SecondaryMap<Value, bool>,
}

impl Narrowing {
    fn find(func: &Function, key: &LaunchKey) -> Narrowing {
        let cfg = Cfg::new(func);
        let mut this = Narrowing {
            ranges: Ranges::new(func, &cfg, key),
            kind: SecondaryMap::with_capacity(func.values.len()),
            order: Vec::new(),
            wanted: SecondaryMap::with_capacity(func.values.len()),
        };
        for &block in &cfg.order {
            for &inst in &func.blocks[block].insts {
                let kind = this.classify(func, inst);
                if kind != Kind::Wide {
                    let result = func.insts[inst].results[0];
                    this.kind[result] = kind;
                    this.order.push(result);
                }
            }
        }
        this
    }

    fn is_narrow(&self, value: Value) -> bool {
        self.kind[value] != Kind::Wide
    }

    fn fits(&self, value: Value, how: Fits) -> bool {
        let range = self.ranges.of(value);
        match how {
            Fits::Signed => range.lo >= i64::from(i16::MIN) && range.hi <= i64::from(i16::MAX),
            Fits::Unsigned => range.lo >= 0 && range.hi <= i64::from(u16::MAX),
        }
    }

    fn classify(&self, func: &Function, inst: Inst) -> Kind {
        let data = &func.insts[inst];
        let [result] = data.results[..] else {
            return Kind::Wide;
        };
        if !is_wide(func, result) {
            return Kind::Wide;
        }
        let narrow = |n: usize| data.args[n..].iter().all(|&arg| self.is_narrow(arg));
        let fit = |how| data.args.iter().all(|&arg| self.fits(arg, how));
        let by_less_than_16 = || func.as_const(data.args[1]).is_some_and(|n| n < 16);
        let possible = match data.op {
            Op::Const(_) => return Kind::Source,
            Op::Convert(..) if is_source(func, data) => return Kind::Source,
            Op::Select => narrow(1),
            Op::Binary(op, _) if narrow(0) => match op {
                BinOp::IAdd | BinOp::ISub | BinOp::IMul | BinOp::And | BinOp::Or | BinOp::Xor => {
                    true
                }
                BinOp::Shl => by_less_than_16(),
                BinOp::LShr => by_less_than_16() && self.fits(data.args[0], Fits::Unsigned),
                BinOp::AShr => by_less_than_16() && self.fits(data.args[0], Fits::Signed),
                BinOp::SMin | BinOp::SMax => fit(Fits::Signed),
                BinOp::UMin | BinOp::UMax => fit(Fits::Unsigned),
                _ => false,
            },
            _ => false,
        };
        if possible { Kind::Computed } else { Kind::Wide }
    }

    /// Whether a user needs its operands in 32 bits.
    fn needs_wide(&self, func: &Function, data: &InstData) -> bool {
        match data.op {
            Op::Convert(ConvertOp::Trunc, _) => {
                !matches!(func.ty(data.results[0]).scalar, Scalar::I8 | Scalar::I16)
            }
            _ => !data.results.first().is_some_and(|&r| self.is_narrow(r)),
        }
    }

    fn drop_wide(&mut self, func: &Function) {
        let mut users: SecondaryMap<Value, SmallVec<[Inst; 2]>> = SecondaryMap::new();
        let mut dropped: Vec<Value> = Vec::new();
        let mut todo: Vec<Value> = Vec::new();
        for &block in &func.layout {
            for &inst in &func.blocks[block].insts {
                let data = &func.insts[inst];
                let wide = self.needs_wide(func, data);
                for &arg in data.args.iter().filter(|&&arg| self.is_narrow(arg)) {
                    users[arg].push(inst);
                    if wide {
                        todo.push(arg);
                    }
                }
            }
            func.blocks[block].term.for_each_value(|arg| todo.push(arg));
        }
        loop {
            while let Some(value) = todo.pop() {
                if self.kind[value] == Kind::Wide
                    || std::mem::replace(&mut self.wanted[value], true)
                {
                    continue;
                }
                let fits = self.fits(value, Fits::Signed) || self.fits(value, Fits::Unsigned);
                // Extended and constant values are there in 32 bits.
                if self.kind[value] == Kind::Computed && !fits {
                    self.kind[value] = Kind::Wide;
                    dropped.push(value);
                }
            }
            let Some(value) = dropped.pop() else {
                return;
            };
            // Its operands are wanted, and those who used it have no narrow operand any more.
            let inst = func.def_inst(value).expect("candidates are instructions");
            todo.extend(&func.insts[inst].args);
            for &user in &users[value] {
                if let Some(&result) = func.insts[user].results.first()
                    && self.kind[result] == Kind::Computed
                {
                    self.kind[result] = Kind::Wide;
                    dropped.push(result);
                }
            }
        }
    }

    /// Weighs the operations of connected values against the extensions they need.
    fn drop_unprofitable(&mut self, func: &Function) {
        let mut groups = Groups::default();
        let mut gain: SecondaryMap<Value, i32> = SecondaryMap::new();
        for &value in &self.order {
            if self.kind[value] == Kind::Computed {
                let inst = func.def_inst(value).expect("candidates are instructions");
                for &arg in &func.insts[inst].args {
                    if self.kind[arg] == Kind::Computed {
                        groups.join(value, arg);
                    }
                }
            }
        }
        for &value in &self.order {
            if self.kind[value] == Kind::Computed {
                gain[groups.root(value)] += if self.wanted[value] { -2 } else { 1 };
            }
        }
        for &value in &self.order {
            if self.kind[value] == Kind::Computed && gain[groups.root(value)] <= 0 {
                self.kind[value] = Kind::Wide;
            }
        }
        let computed = self.order.iter().any(|&v| self.kind[v] == Kind::Computed);
        if !computed {
            self.order.clear();
        }
    }

    fn replay(&self, func: &mut Function) {
        let mut narrow: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
        rewrite(func, |e, data| {
            let &[result] = &data.results[..] else {
                return None;
            };
            if let Op::Convert(ConvertOp::Trunc, _) = data.op
                && let Some(low) = narrow[data.args[0]].expand()
            {
                let to = e.ty(result).scalar;
                let fits = matches!(to, Scalar::I8 | Scalar::I16);
                return fits.then(|| smallvec![e.convert(ConvertOp::Trunc, low, to)]);
            }
            match self.kind[result] {
                Kind::Wide => None,
                Kind::Source => {
                    let ty = e.ty(result).with_scalar(Scalar::I16);
                    let low = match data.op {
                        Op::Const(bits) => e.iconst(ty, bits),
                        Op::Convert(op, _) => e.convert(op, data.args[0], Scalar::I16),
                        _ => unreachable!("a source is constant or extended"),
                    };
                    narrow[result] = low.into();
                    None
                }
                Kind::Computed => {
                    let low = compute(e, data, &narrow);
                    narrow[result] = low.into();
                    if !self.wanted[result] {
                        return None;
                    }
                    let op = match self.fits(result, Fits::Unsigned) {
                        true => ConvertOp::ZExt,
                        false => ConvertOp::SExt,
                    };
                    let wide = e.convert(op, low, Scalar::I32);
                    narrow[wide] = low.into();
                    Some(smallvec![wide])
                }
            }
        });
    }
}

/// The operation in 16 bits.
fn compute(
    e: &mut Emitter<'_>,
    data: &InstData,
    narrow: &SecondaryMap<Value, PackedOption<Value>>,
) -> Value {
    let low = |value: Value| narrow[value].expect("operands of narrow values are narrow");
    match data.op {
        Op::Select => e.select(data.args[0], low(data.args[1]), low(data.args[2])),
        Op::Binary(op, _) => e.binary(op, low(data.args[0]), low(data.args[1])),
        _ => unreachable!("classified as narrow"),
    }
}

/// Sets of values, each with a root.
#[derive(Default)]
struct Groups {
    parent: SecondaryMap<Value, PackedOption<Value>>,
}

impl Groups {
    fn root(&mut self, value: Value) -> Value {
        let mut root = value;
        while let Some(up) = self.parent[root].expand() {
            root = up;
        }
        let mut at = value;
        while let Some(up) = self.parent[at].expand() {
            self.parent[at] = root.into();
            if up == root {
                break;
            }
            at = up;
        }
        root
    }

    fn join(&mut self, a: Value, b: Value) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parent[a] = b.into();
        }
    }
}
