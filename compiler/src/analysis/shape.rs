//! How a value varies over the work-items that run together.
//!
//! Notation: lane `l` is the l-th of a run of work-items consecutive in x; `v[l]` is the value of
//! `v` there.
//!
//! - *uniform*: `v[l] = v[0]`;
//! - *affine* with stride c: `v[l] = v[0] + c * l`, exactly, modulo 2^bits;
//! - *guarded*: affine provided that each of a few extensions in its history did not wrap between
//!   the lanes, that each of a few clamps (`min`, `max`) did nothing, and that the quotients of a
//!   few divisions are the same in all lanes, which a comparison at run time can tell ([`Guards`]);
//! - *varying*: anything.
//!
//! Asked [`Across::Group`], "lanes" are all work-items of the work-group in any order, ids vary and
//! nothing is affine.
//!
//! The analysis is optimistic: everything starts unknown and only moves up the list above, in
//! sweeps in reverse post-order until nothing changes. A branch on a value that is not uniform is
//! *divergent*; [`super::divergence`] says which blocks and loops it affects. Sweeps are few (a
//! second to confirm loops, one more for each layer of divergence found through loop-carried
//! values), so the cost is near linear.
//!
//! Operations on bits keep affine facts where the bits that lanes differ in are known to be zero in
//! the first lane ([`super::alignment`]).
//!
//! Sign and zero extension are where affine facts die: `zext(u32 a + l)` is affine only if the sum
//! does not wrap. Three ways to know, in order: bounds ([`super::range`]) prove it; a "no wrap"
//! flag says so, which holds only in lanes that are active, so it is a guard that may be dropped
//! where all are; or else a guard.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;

use super::divergence::Divergence;
use super::{Alignments, Cfg, Ranges};
use crate::ir::{
    BinOp, Block, ConvertOp, DimQuery, Function, Inst, IntCC, Op, Query, Scalar, Scope, Terminator,
    Value,
};
use crate::launch::LaunchKey;

/// Which work-items are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// All of the work-group.
    Group,
    /// This many, consecutive in x.
    Chunk(u8),
}

/// See the module's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Not reached yet; unreachable code keeps it.
    Unknown,
    Uniform,
    /// With this stride, sign-extended from the value's width; never 0.
    Affine(i64),
    /// Affine with this stride if what these guards stand for holds. The stride is 0 only if
    /// quotients were guessed to be uniform ([`Shapes::guessing`]).
    Guarded(i64, Guards),
    Varying,
}

/// One to three results of `sext` or `zext` that must not wrap between lanes, of `min` or `max`
/// that must be the operand that is not uniform, or of divisions or remainders whose quotient must
/// be uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guards {
    first: Value,
    rest: [Option<Value>; 2],
}

impl Guards {
    fn one(first: Value) -> Guards {
        Guards {
            first,
            rest: [None; 2],
        }
    }

    /// `None` if there are too many.
    fn merge(self, other: Guards) -> Option<Guards> {
        let mut all = self;
        for value in other.iter() {
            if self.iter().any(|have| have == value) {
                continue;
            }
            let room = all.rest.iter_mut().find(|place| place.is_none())?;
            *room = Some(value);
        }
        Some(all)
    }

    /// Those that `keep` says.
    fn filtered(self, keep: impl Fn(Value) -> bool) -> Option<Guards> {
        let mut left = self.iter().filter(|&guard| keep(guard));
        Some(Guards {
            first: left.next()?,
            rest: [left.next(), left.next()],
        })
    }

    pub fn iter(self) -> impl Iterator<Item = Value> {
        [Some(self.first), self.rest[0], self.rest[1]]
            .into_iter()
            .flatten()
    }
}

impl Shape {
    pub fn is_uniform(self) -> bool {
        matches!(self, Shape::Uniform | Shape::Unknown)
    }

    /// The stride, 0 if uniform, with guards; `None` when varying.
    fn stride(self) -> Option<(i64, Option<Guards>)> {
        match self {
            Shape::Unknown | Shape::Uniform => Some((0, None)),
            Shape::Affine(c) => Some((c, None)),
            Shape::Guarded(c, guards) => Some((c, Some(guards))),
            Shape::Varying => None,
        }
    }

    fn new(stride: i64, guards: Option<Guards>, bits: u32) -> Shape {
        let shift = 64 - bits;
        let stride = (stride << shift) >> shift;
        match guards {
            Some(guards) => Shape::Guarded(stride, guards),
            None if stride == 0 => Shape::Uniform,
            None => Shape::Affine(stride),
        }
    }

    /// Of a value that is one or the other in all lanes alike.
    fn join(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Unknown, shape) | (shape, Shape::Unknown) => shape,
            (a, b) if a == b && !matches!(a, Shape::Guarded(..)) => a,
            _ => Shape::Varying,
        }
    }
}

/// How surely the lanes of an affine integer do not wrap, read as signed or unsigned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Exact {
    #[default]
    No,
    /// In lanes that are active, on the word of a flag.
    Active,
    Always,
}

/// What [`Shapes::new`] finds.
#[derive(Clone, Debug)]
pub struct Shapes {
    across: Across,
    linear: bool,
    /// Whether quotients may be guarded.
    guess: bool,
    shapes: SecondaryMap<Value, Shape>,
    /// Comparisons that hold in all lanes if they do in the first and the last, and in none if in
    /// neither.
    monotone: SecondaryMap<Value, bool>,
    /// For the operand of each guard: whether a flag promises that active lanes do not wrap.
    promised: SecondaryMap<Value, bool>,
    /// Whether the block ends with a branch that lanes take different ways.
    pub branches: SecondaryMap<Block, bool>,
    pub divergence: Divergence,
}

impl Shapes {
    /// The shapes of a function's values, its parameters being uniform.
    pub fn new(func: &Function, cfg: &Cfg, key: &LaunchKey, across: Across) -> Shapes {
        Shapes::with_uniform_branches(func, cfg, key, across, |_| false)
    }

    /// The same, given that some guards hold.
    pub fn assuming(
        func: &Function,
        cfg: &Cfg,
        key: &LaunchKey,
        across: Across,
        assumptions: &BTreeSet<Value>,
    ) -> Shapes {
        Shapes::find(func, cfg, key, across, (assumptions, false), |_| false)
    }

    /// The same, guessing that quotients of affine and uniform numbers are the same in all lanes:
    /// guarded, not varying. What is found so is not for making code with, but for finding out what
    /// guards are worth asking about.
    pub fn guessing(func: &Function, cfg: &Cfg, key: &LaunchKey, across: Across) -> Shapes {
        Shapes::find(func, cfg, key, across, (&BTreeSet::new(), true), |_| false)
    }

    /// The same, given that lanes agree at the branches that end some blocks, whatever their
    /// conditions.
    pub fn with_uniform_branches(
        func: &Function,
        cfg: &Cfg,
        key: &LaunchKey,
        across: Across,
        agree: impl Fn(Block) -> bool,
    ) -> Shapes {
        Shapes::find(func, cfg, key, across, (&BTreeSet::new(), false), agree)
    }

    fn find(
        func: &Function,
        cfg: &Cfg,
        key: &LaunchKey,
        across: Across,
        (assumptions, guess): (&BTreeSet<Value>, bool),
        agree: impl Fn(Block) -> bool,
    ) -> Shapes {
        let mut shapes = Shapes {
            across,
            guess,
            linear: key.linear,
            shapes: SecondaryMap::with_default(Shape::Unknown),
            monotone: SecondaryMap::new(),
            promised: SecondaryMap::new(),
            branches: SecondaryMap::new(),
            divergence: Divergence::new(cfg),
        };
        shapes.shapes.resize(func.values.len());
        for &param in func.params() {
            shapes.shapes[param] = Shape::Uniform;
        }
        let ranges = Ranges::new(func, cfg, key);
        let width = match across {
            Across::Group => 1,
            Across::Chunk(width) => width,
        };
        let mut exact = Exactness {
            ranges: &ranges,
            alignments: &Alignments::new(func, cfg, key, width),
            assumptions,
            flags: SecondaryMap::with_capacity(func.values.len()),
            width: width.into(),
        };
        loop {
            let mut changed = false;
            for &block in &cfg.order {
                changed |= shapes.sweep(func, cfg, &mut exact, block, agree(block));
            }
            if !changed {
                return shapes;
            }
        }
    }

    /// The shape of a value where it is defined, and for users in the same divergent loops.
    pub fn of(&self, value: Value) -> Shape {
        self.shapes[value]
    }

    /// The shape of a value for a user in `block`: varying when a divergent loop lies between.
    pub fn at(&self, func: &Function, cfg: &Cfg, value: Value, block: Block) -> Shape {
        let shape = self.shapes[value];
        if shape != Shape::Varying && self.escapes(func, cfg, value, block) {
            Shape::Varying
        } else {
            shape
        }
    }

    /// Whether a divergent loop contains a value's definition and not its use in `block`.
    fn escapes(&self, func: &Function, cfg: &Cfg, value: Value, block: Block) -> bool {
        let Some(def) = cfg.def_block[value] else {
            return false;
        };
        cfg.loops.innermost(def).is_some()
            && func.as_const(value).is_none()
            && cfg
                .loops_left(def, block)
                .any(|id| self.divergence.loops[id])
    }

    /// Whether a guard needs no check in code that all lanes execute.
    pub fn is_promised(&self, guard: Value) -> bool {
        self.promised[guard]
    }

    /// Whether a comparison goes at most once from true to false or back over the lanes.
    pub fn is_monotone(&self, comparison: Value) -> bool {
        self.monotone[comparison]
    }

    fn sweep(
        &mut self,
        func: &Function,
        cfg: &Cfg,
        exact: &mut Exactness<'_>,
        block: Block,
        agree: bool,
    ) -> bool {
        let mut changed = false;
        if block != func.entry() {
            for i in 0..func.blocks[block].params.len() {
                let param = func.blocks[block].params[i];
                let shape = self.join_args(func, cfg, block, i);
                changed |= self.raise(param, shape);
            }
        }
        for &inst in &func.blocks[block].insts {
            let shape = self.transfer(func, cfg, exact, block, inst);
            for &result in &func.insts[inst].results {
                changed |= self.raise(result, shape);
            }
        }
        let subject = match &func.blocks[block].term {
            Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } => *value,
            _ => return changed,
        };
        if !agree && !self.branches[block] && !self.at(func, cfg, subject, block).is_uniform() {
            self.branches[block] = true;
            self.divergence.part(func, cfg, block);
            changed = true;
        }
        changed
    }

    fn raise(&mut self, value: Value, shape: Shape) -> bool {
        let old = self.shapes[value];
        let new = if old == shape || old == Shape::Unknown {
            shape
        } else {
            // Facts only get weaker; two different ones leave none.
            Shape::Varying
        };
        self.shapes[value] = new;
        new != old
    }

    fn join_args(&self, func: &Function, cfg: &Cfg, block: Block, index: usize) -> Shape {
        let mut shape = Shape::Unknown;
        let mut same: Option<Value> = None;
        let mut differ = false;
        for &jump in &cfg.jumps[block] {
            if !cfg.dominators.is_reachable(jump.from) {
                continue;
            }
            let arg = func.jump_args(jump)[index];
            // Seen from here, so that what leaves a divergent loop varies.
            shape = shape.join(self.at(func, cfg, arg, block));
            differ |= same.is_some_and(|other| {
                other != arg
                    && (func.as_const(other).is_none()
                        || func.as_const(other) != func.as_const(arg))
            });
            same = Some(arg);
        }
        match shape {
            // Other lanes of a guarded value are found by its instruction, which a parameter has
            // not.
            Shape::Guarded(..) => Shape::Varying,
            _ if differ && self.divergence.joins[block] => Shape::Varying,
            _ => shape,
        }
    }

    fn transfer(
        &mut self,
        func: &Function,
        cfg: &Cfg,
        exact: &mut Exactness<'_>,
        block: Block,
        inst: Inst,
    ) -> Shape {
        let data = &func.insts[inst];
        let Some(&result) = data.results.first() else {
            return Shape::Uniform;
        };
        let args: smallvec::SmallVec<[Shape; 4]> = data
            .args
            .iter()
            .map(|&arg| self.at(func, cfg, arg, block))
            .collect();
        match &data.op {
            Op::AtomicRmw(..) | Op::AtomicCmpXchg(_) | Op::AtomicLoad(_) | Op::Device { .. } => {
                return Shape::Varying;
            }
            Op::Load(mem) if mem.volatile => return Shape::Varying,
            Op::CallFunction(callee) if !callee.is_uniform => return Shape::Varying,
            Op::Clock => {
                return match self.across {
                    Across::Group => Shape::Varying,
                    Across::Chunk(_) => Shape::Uniform,
                };
            }
            // Its value is 0 wherever it succeeds.
            Op::Printf { .. } => return Shape::Uniform,
            Op::Collective { what, scope, .. } => {
                let same = match self.across {
                    Across::Group => *scope == Scope::WorkGroup,
                    Across::Chunk(_) => true,
                };
                return if same && what.is_uniform() {
                    Shape::Uniform
                } else {
                    Shape::Varying
                };
            }
            Op::DimQuery(query, dim) => return self.dim_query(*query, *dim, exact.width),
            Op::Query(query) => return self.query(*query, exact.width),
            Op::Alloca {
                size,
                align,
                interleaving,
            } => {
                let bytes = size.next_multiple_of(*align);
                return self.per_item(interleaving.map_or(bytes, |how| how.unit).into());
            }
            Op::ContextLoad(slot) => {
                let slot = &func.slots[*slot];
                return if slot.bytes == 0 {
                    Shape::Varying
                } else {
                    let stride = slot.interleaving.map_or(slot.bytes, |how| how.unit);
                    self.per_item(stride.into())
                };
            }
            _ => {}
        }
        if args.contains(&Shape::Unknown) {
            return Shape::Unknown;
        }
        if args.iter().all(|shape| shape.is_uniform()) {
            return Shape::Uniform;
        }
        let scalar = func.ty(result).scalar;
        if let Op::ICmp(cc) = data.op {
            // Numbers that do not wrap are linear in the lane, and so is their difference.
            let exact = |signed| {
                let mut sure = data.args.iter().map(|&a| exact.of(func, self, a, signed));
                sure.all(|sure| sure == Exact::Always)
            };
            self.monotone[result] = match cc {
                IntCC::Eq | IntCC::Ne => false,
                IntCC::Slt | IntCC::Sle | IntCC::Sgt | IntCC::Sge => exact(true),
                IntCC::Ult | IntCC::Ule | IntCC::Ugt | IntCC::Uge => exact(false),
            };
        }
        if !scalar.is_int() && scalar != Scalar::Ptr {
            return Shape::Varying;
        }
        let shape = linear(func, inst, &args)
            .or_else(|| exact.by_low_bits(func, inst, &args))
            .unwrap_or(Shape::Varying);
        if let Op::Convert(op @ (ConvertOp::SExt | ConvertOp::ZExt), _) = data.op {
            return self.extend(func, exact, inst, op == ConvertOp::SExt, args[0]);
        }
        if let Op::Binary(op, _) = data.op
            && let Some(signed) = is_clamp(op)
        {
            return self.clamp(func, exact, inst, signed, &args);
        }
        if let Op::Binary(BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, _) = data.op {
            return self.divide(func, exact, inst, &args);
        }
        exact.note(func, inst, self);
        shape
    }

    /// The shape of the lesser or greater of two values: where all lanes take the first, as in the
    /// inside of a picture whose coordinates are clamped to it, that of the first.
    fn clamp(
        &mut self,
        func: &Function,
        exact: &Exactness<'_>,
        inst: Inst,
        signed: bool,
        args: &[Shape],
    ) -> Shape {
        let data = &func.insts[inst];
        let result = data.results[0];
        let (varying, bound) = if args[0].is_uniform() { (1, 0) } else { (0, 1) };
        let (Some((stride, guards)), true) = (args[varying].stride(), args[bound].is_uniform())
        else {
            return Shape::Varying;
        };
        let bits = func.ty(result).scalar.bits();
        if exact.assumptions.contains(&result) {
            return Shape::new(stride, guards, bits);
        }
        // Only then do the first and last lane tell about all.
        if exact.of(func, self, data.args[varying], signed) != Exact::Always {
            return Shape::Varying;
        }
        let own = Guards::one(result);
        match guards.map_or(Some(own), |guards| guards.merge(own)) {
            Some(guards) => Shape::new(stride, Some(guards), bits),
            None => Shape::Varying,
        }
    }

    /// The shape of a quotient or remainder of a number that is affine by one that is uniform:
    /// where all lanes have the same quotient, as in all but one chunk of a row, 0 and that of the
    /// number.
    fn divide(
        &mut self,
        func: &Function,
        exact: &Exactness<'_>,
        inst: Inst,
        args: &[Shape],
    ) -> Shape {
        let data = &func.insts[inst];
        let result = data.results[0];
        let Op::Binary(op, _) = data.op else {
            return Shape::Varying;
        };
        let (Shape::Affine(stride), true) = (args[0], args[1].is_uniform()) else {
            return Shape::Varying;
        };
        let bits = func.ty(result).scalar.bits();
        let stride = match op {
            BinOp::UDiv | BinOp::SDiv => 0,
            _ => stride,
        };
        if exact.assumptions.contains(&result) {
            return Shape::new(stride, None, bits);
        }
        // Not negative, and no lane wraps: the remainder of the first lane tells how many more have
        // its quotient.
        let countable = exact.of(func, self, data.args[0], false) == Exact::Always
            && matches!(args[0], Shape::Affine(1..));
        if self.guess && countable {
            Shape::new(stride, Some(Guards::one(result)), bits)
        } else {
            Shape::Varying
        }
    }

    /// The shape of `sext` or `zext` of a value that is not uniform.
    fn extend(
        &mut self,
        func: &Function,
        exact: &Exactness<'_>,
        inst: Inst,
        signed: bool,
        arg: Shape,
    ) -> Shape {
        let data = &func.insts[inst];
        let (from, to) = (data.args[0], data.results[0]);
        let Some((stride, guards)) = arg.stride() else {
            return Shape::Varying;
        };
        let bits = func.ty(to).scalar.bits();
        match exact.of(func, self, from, signed) {
            _ if exact.assumptions.contains(&to) => Shape::new(stride, guards, bits),
            Exact::Always => Shape::new(stride, guards, bits),
            sure => {
                // The check compares two lanes, so a whole turn must not fit between them.
                let from_bits = func.ty(from).scalar.bits();
                let span = stride.unsigned_abs().checked_mul(exact.width as u64);
                if span.is_none_or(|span| span >= 1 << (from_bits - 1)) {
                    return Shape::Varying;
                }
                self.promised[to] = sure == Exact::Active;
                let own = Guards::one(to);
                match guards.map_or(Some(own), |guards| guards.merge(own)) {
                    Some(guards) => Shape::new(stride, Some(guards), bits),
                    None => Shape::Varying,
                }
            }
        }
    }

    fn per_item(&self, stride: i64) -> Shape {
        match self.across {
            Across::Group => Shape::Varying,
            Across::Chunk(1) => Shape::Uniform,
            Across::Chunk(_) => Shape::new(stride, None, 64),
        }
    }

    fn dim_query(&self, query: DimQuery, dim: u8, width: i64) -> Shape {
        match query {
            DimQuery::GlobalId | DimQuery::LocalId => match self.across {
                Across::Group if dim > 0 && self.linear => Shape::Uniform,
                Across::Group => Shape::Varying,
                Across::Chunk(_) if dim == 0 && width > 1 => Shape::Affine(1),
                Across::Chunk(_) => Shape::Uniform,
            },
            _ => Shape::Uniform,
        }
    }

    fn query(&self, query: Query, width: i64) -> Shape {
        match query {
            Query::GlobalLinearId | Query::LocalLinearId | Query::SubGroupLocalId => {
                match self.across {
                    Across::Group => Shape::Varying,
                    Across::Chunk(_) if width > 1 => Shape::Affine(1),
                    Across::Chunk(_) => Shape::Uniform,
                }
            }
            Query::SubGroupId | Query::SubGroupSize => match self.across {
                Across::Group => Shape::Varying,
                Across::Chunk(_) => Shape::Uniform,
            },
            _ => Shape::Uniform,
        }
    }
}

/// Whether an operation takes the lesser or greater of its operands, and whether as signed numbers.
pub fn is_clamp(op: BinOp) -> Option<bool> {
    match op {
        BinOp::SMin | BinOp::SMax => Some(true),
        BinOp::UMin | BinOp::UMax => Some(false),
        _ => None,
    }
}

/// The shape of an operation that is linear in its operands; `None` for the others.
fn linear(func: &Function, inst: Inst, args: &[Shape]) -> Option<Shape> {
    let data = &func.insts[inst];
    let bits = func.ty(data.results[0]).scalar.bits();
    let scale = |shape: Shape, factor: i64| {
        let (stride, guards) = shape.stride()?;
        Some(Shape::new(stride.wrapping_mul(factor), guards, bits))
    };
    let sum = |a: Shape, b: Shape, sign: i64| {
        let ((ca, ga), (cb, gb)) = (a.stride()?, b.stride()?);
        let guards = match (ga, gb) {
            (Some(a), Some(b)) => Some(a.merge(b)?),
            (a, b) => a.or(b),
        };
        Some(Shape::new(
            ca.wrapping_add(cb.wrapping_mul(sign)),
            guards,
            bits,
        ))
    };
    let constant = |i: usize| {
        let shift = 64 - bits;
        let value = func.as_const(data.args[i])?;
        Some(((value << shift) as i64) >> shift)
    };
    match &data.op {
        Op::PtrAdd | Op::Binary(BinOp::IAdd, _) => sum(args[0], args[1], 1),
        Op::Binary(BinOp::ISub, _) => sum(args[0], args[1], -1),
        Op::Unary(crate::ir::UnOp::INeg | crate::ir::UnOp::Not) => scale(args[0], -1),
        Op::Binary(BinOp::IMul, _) => match (constant(0), constant(1)) {
            (_, Some(k)) => scale(args[0], k),
            (Some(k), _) => scale(args[1], k),
            // Uniform if a guard holds, times uniform.
            _ => match (args[0], args[1]) {
                (shape @ Shape::Guarded(0, _), other) | (other, shape @ Shape::Guarded(0, _)) => {
                    other.is_uniform().then_some(shape)
                }
                _ => None,
            },
        },
        Op::Binary(BinOp::Shl, _) => {
            let amount = constant(1)? & i64::from(bits - 1);
            scale(args[0], 1i64.wrapping_shl(amount as u32))
        }
        Op::Convert(ConvertOp::Trunc, _) => {
            let (stride, guards) = args[0].stride()?;
            // Whether an extension wrapped does not show in the bits that it extended.
            let shows = |&guard: &Value| match func.def_inst(guard).map(|inst| &func.insts[inst]) {
                Some(data) if matches!(data.op, Op::Convert(..)) => {
                    func.ty(data.args[0]).scalar.bits() < bits
                }
                _ => true,
            };
            let guards = guards.and_then(|guards| guards.filtered(|guard| shows(&guard)));
            Some(Shape::new(stride, guards, bits))
        }
        Op::Convert(ConvertOp::Bitcast, _)
            if matches!(
                func.ty(data.args[0]).scalar,
                Scalar::Ptr | Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64
            ) =>
        {
            scale(args[0], 1)
        }
        Op::Select if args[0].is_uniform() => match args[1].join(args[2]) {
            Shape::Affine(c) => Some(Shape::Affine(c)),
            _ => None,
        },
        _ => None,
    }
}

/// What is known of wrapping, for integers that are affine.
struct Exactness<'a> {
    ranges: &'a Ranges,
    alignments: &'a Alignments,
    assumptions: &'a BTreeSet<Value>,
    /// What flags say of signed and unsigned wrapping.
    flags: SecondaryMap<Value, (Exact, Exact)>,
    width: i64,
}

impl Exactness<'_> {
    /// The shape of an operation on bits, where those that lanes differ in are zero in the first
    /// lane: no lane carries beyond them, so bits above are uniform.
    fn by_low_bits(&self, func: &Function, inst: Inst, args: &[Shape]) -> Option<Shape> {
        let data = &func.insts[inst];
        let Op::Binary(op, _) = data.op else {
            return None;
        };
        let bits = func.ty(data.results[0]).scalar.bits();
        let (varying, other) = if args[0].is_uniform() { (1, 0) } else { (0, 1) };
        let (stride, guards) = args[varying].stride()?;
        let reach = u64::try_from(stride)
            .ok()?
            .checked_mul(self.width as u64 - 1)?;
        let differing = u64::BITS - reach.leading_zeros();
        let aligned = self.alignments.of(data.args[varying]) >= differing;
        if stride == 0 || !aligned || differing >= bits || !args[other].is_uniform() {
            return None;
        }
        // Below those of the stride, bits are zero in all lanes.
        let even = stride.trailing_zeros();
        let low = (1u64 << differing) - (1u64 << even);
        let constant = func.as_const(data.args[other]);
        let stride = match op {
            BinOp::And => match constant? & low {
                0 => 0,
                all if all == low => stride,
                _ => return None,
            },
            BinOp::Or | BinOp::Xor if self.alignments.of(data.args[other]) >= differing => stride,
            BinOp::LShr | BinOp::AShr if varying == 0 => {
                match (constant? % u64::from(bits)) as u32 {
                    by if by <= even => stride >> by,
                    by if by >= differing => 0,
                    _ => return None,
                }
            }
            _ => return None,
        };
        // What is uniform under a guard is for quotients.
        (stride != 0 || guards.is_none()).then(|| Shape::new(stride, guards, bits))
    }

    /// Records what an instruction's flags promise.
    fn note(&mut self, func: &Function, inst: Inst, shapes: &Shapes) {
        let data = &func.insts[inst];
        let Op::Binary(BinOp::IAdd | BinOp::ISub | BinOp::IMul | BinOp::Shl, wrap) = data.op else {
            return;
        };
        let says = |flag: bool, signed: bool| {
            let operands = data.args.iter().map(|&a| self.of(func, shapes, a, signed));
            match operands.min() {
                Some(Exact::Active | Exact::Always) if flag => Exact::Active,
                _ => Exact::No,
            }
        };
        self.flags[data.results[0]] = (says(wrap.nsw, true), says(wrap.nuw, false));
    }

    fn of(&self, func: &Function, shapes: &Shapes, value: Value, signed: bool) -> Exact {
        let Some((stride, _)) = shapes.of(value).stride() else {
            return Exact::No;
        };
        if stride == 0 {
            return Exact::Always;
        }
        // Lanes that stay within [0, 2^(bits - 1)), or signed within any bounds narrower than the
        // type, differ by less than half a turn, as does c * l: equal modulo 2^bits means equal.
        let bits = func.ty(value).scalar.bits();
        let range = self.ranges.of(value);
        let span = i128::from(range.hi) - i128::from(range.lo);
        let half = 1i128 << (bits - 1);
        let reach = i128::from(stride.unsigned_abs()) * i128::from(self.width);
        if span < half && reach < half && (signed || range.lo >= 0) {
            return Exact::Always;
        }
        let flags = self.flags[value];
        if signed { flags.0 } else { flags.1 }
    }
}
