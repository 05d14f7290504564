//! Bounds of integer values that hold for every work-item.
//!
//! A range `[lo, hi]` bounds a value read as a signed number of its width. One pass in reverse
//! post-order: a loop header's parameters, and whatever is not understood, get the whole range of
//! their type. Bounds come from the program and the launch key only, never from "no overflow"
//! flags, so they hold in work-items that a branch will exclude, too. Cost: linear.

use cranelift_entity::SecondaryMap;

use super::Cfg;
use crate::ir::{BinOp, ConvertOp, DimQuery, Function, Inst, Op, Query, Type, Value};
use crate::launch::LaunchKey;
use crate::launch::{MAX_LOCAL_SIZE, SMALL_IDS};

/// Inclusive bounds of a signed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub lo: i64,
    pub hi: i64,
}

impl Range {
    /// From 0 to `bound`.
    fn below(bound: u64) -> Range {
        Range {
            lo: 0,
            hi: bound as i64,
        }
    }

    fn full(ty: Type) -> Range {
        let bits = ty.scalar.bits();
        Range {
            lo: i64::MIN >> (64 - bits),
            hi: i64::MAX >> (64 - bits),
        }
    }

    /// The range if a value of type `ty` can hold all of it without wrapping.
    fn fit(lo: i128, hi: i128, ty: Type) -> Range {
        let full = Range::full(ty);
        if lo >= i128::from(full.lo) && hi <= i128::from(full.hi) {
            Range {
                lo: lo as i64,
                hi: hi as i64,
            }
        } else {
            full
        }
    }

    fn union(self, other: Range) -> Range {
        Range {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }

    fn of(self, f: impl Fn(i128) -> i128, ty: Type) -> Range {
        let (a, b) = (f(i128::from(self.lo)), f(i128::from(self.hi)));
        Range::fit(a.min(b), a.max(b), ty)
    }
}

/// The range of each value of a function; the whole of `i64` for what is no integer.
#[derive(Clone, Debug)]
pub struct Ranges {
    ranges: SecondaryMap<Value, Range>,
}

impl Ranges {
    pub fn new(func: &Function, cfg: &Cfg, key: &LaunchKey) -> Ranges {
        let all = Range {
            lo: i64::MIN,
            hi: i64::MAX,
        };
        let mut ranges = Ranges {
            ranges: SecondaryMap::with_default(all),
        };
        ranges.ranges.resize(func.values.len());
        for &block in &cfg.order {
            let jumps = &cfg.jumps[block];
            let back = (jumps.iter()).any(|jump| cfg.position[jump.from] >= cfg.position[block]);
            for (i, &param) in func.blocks[block].params.iter().enumerate() {
                let full = Range::full(func.ty(param));
                ranges.ranges[param] = if back || jumps.is_empty() {
                    full
                } else {
                    let mut args = jumps.iter().map(|&jump| func.jump_args(jump)[i]);
                    let first = args.next().map_or(full, |arg| ranges.ranges[arg]);
                    args.fold(first, |range, arg| range.union(ranges.ranges[arg]))
                };
            }
            for &inst in &func.blocks[block].insts {
                let range = ranges.transfer(func, inst, key);
                for &result in &func.insts[inst].results {
                    ranges.ranges[result] = range.unwrap_or(Range::full(func.ty(result)));
                }
            }
        }
        ranges
    }

    pub fn of(&self, value: Value) -> Range {
        self.ranges[value]
    }

    fn transfer(&self, func: &Function, inst: Inst, key: &LaunchKey) -> Option<Range> {
        let data = &func.insts[inst];
        let ty = func.ty(*data.results.first()?);
        if !ty.scalar.is_int() {
            return None;
        }
        let full = Range::full(ty);
        let arg = |i: usize| self.ranges[data.args[i]];
        Some(match &data.op {
            Op::Const(bits) => {
                let shift = 64 - ty.scalar.bits();
                let value = ((bits << shift) as i64) >> shift;
                Range {
                    lo: value,
                    hi: value,
                }
            }
            Op::DimQuery(query, _) => match query {
                DimQuery::LocalId => Range::below(MAX_LOCAL_SIZE - 1),
                DimQuery::LocalSize | DimQuery::EnqueuedLocalSize => Range::below(MAX_LOCAL_SIZE),
                _ if key.small_ids => Range::below(SMALL_IDS),
                _ => full,
            },
            Op::Query(query) => match query {
                Query::GlobalLinearId => full,
                Query::WorkDim => Range::below(3),
                _ => Range::below(MAX_LOCAL_SIZE),
            },
            Op::Binary(op, _) => return self.binary(func, *op, inst, key),
            Op::Select => arg(1).union(arg(2)),
            Op::Convert(ConvertOp::SExt, _) => arg(0),
            Op::Convert(ConvertOp::ZExt, _) => {
                let from = func.ty(data.args[0]);
                if from.scalar.is_int() && arg(0).lo >= 0 {
                    arg(0)
                } else {
                    Range::below(from.scalar.mask())
                }
            }
            Op::Convert(ConvertOp::Trunc, _) => {
                let range = arg(0);
                Range::fit(i128::from(range.lo), i128::from(range.hi), ty)
            }
            _ => full,
        })
    }

    /// The range of an operation on integers.
    fn binary(&self, func: &Function, op: BinOp, inst: Inst, key: &LaunchKey) -> Option<Range> {
        let data = &func.insts[inst];
        let ty = func.ty(*data.results.first()?);

        let (a, b) = (self.of(data.args[0]), self.of(data.args[1]));
        let constant = (b.lo == b.hi).then_some(b.lo);
        let bits = i64::from(ty.scalar.bits());
        let wide = |x: i64| i128::from(x);
        Some(match (op, constant) {
            (BinOp::IAdd, _) => Range::fit(wide(a.lo) + wide(b.lo), wide(a.hi) + wide(b.hi), ty),
            (BinOp::ISub, _) => Range::fit(wide(a.lo) - wide(b.hi), wide(a.hi) - wide(b.lo), ty),
            // A work-group's first id is the id of a work-item.
            (BinOp::IMul, _) if key.small_ids && is_group_start(func, &data.args) => {
                Range::below(SMALL_IDS)
            }
            (BinOp::IMul, _) => {
                let corners = [
                    wide(a.lo) * wide(b.lo),
                    wide(a.lo) * wide(b.hi),
                    wide(a.hi) * wide(b.lo),
                    wide(a.hi) * wide(b.hi),
                ];
                let lo = corners.iter().copied().min()?;
                Range::fit(lo, corners.into_iter().max()?, ty)
            }
            (BinOp::Shl, Some(k)) if (0..bits).contains(&k) => a.of(|x| x << k, ty),
            (BinOp::AShr, Some(k)) if (0..bits).contains(&k) => a.of(|x| x >> k, ty),
            (BinOp::LShr, Some(k)) if (0..bits).contains(&k) && a.lo >= 0 => a.of(|x| x >> k, ty),
            (BinOp::LShr, Some(k)) if (1..bits).contains(&k) => Range {
                lo: 0,
                hi: (ty.scalar.mask() >> k) as i64,
            },
            (BinOp::And, Some(k)) if k >= 0 => Range::below(k as u64),
            (BinOp::And, _) if a.lo >= 0 => Range::below(a.hi as u64),
            (BinOp::And, _) if b.lo >= 0 => Range::below(b.hi as u64),
            (BinOp::UDiv | BinOp::SDiv, Some(k)) if k > 0 && a.lo >= 0 => {
                a.of(|x| x / i128::from(k), ty)
            }
            (BinOp::URem, Some(k)) if k > 0 => Range::below(k as u64 - 1),
            (BinOp::SRem, Some(k)) if k > 0 && a.lo >= 0 => Range::below(k as u64 - 1),
            (BinOp::SRem, Some(k)) if k > 0 => Range {
                lo: 1 - k,
                hi: k - 1,
            },
            // At most either, as unsigned numbers.
            (BinOp::UMin, _) if a.lo >= 0 && b.lo >= 0 => Range::below(a.hi.min(b.hi) as u64),
            (BinOp::UMin, _) if a.lo >= 0 => Range::below(a.hi as u64),
            (BinOp::UMin, _) if b.lo >= 0 => Range::below(b.hi as u64),
            (BinOp::SMin, _) => Range {
                lo: a.lo.min(b.lo),
                hi: a.hi.min(b.hi),
            },
            (BinOp::SMax, _) => Range {
                lo: a.lo.max(b.lo),
                hi: a.hi.max(b.hi),
            },
            _ => Range::full(ty),
        })
    }
}

/// Whether the factors are the group's id and the local size, in one dimension, which small ids
/// leave as they are in 32 bits. A group that is smaller than the others is the last one: the
/// product is below its ids either way.
fn is_group_start(func: &Function, factors: &[Value]) -> bool {
    let query = |mut value: Value| loop {
        let data = &func.insts[func.def_inst(value)?];
        match data.op {
            Op::DimQuery(query, dim) => return Some((query, dim)),
            Op::Convert(ConvertOp::Trunc | ConvertOp::ZExt | ConvertOp::SExt, _)
                if func.ty(value).scalar.bits() >= 32 =>
            {
                value = data.args[0];
            }
            _ => return None,
        }
    };
    let size = |query| matches!(query, DimQuery::LocalSize | DimQuery::EnqueuedLocalSize);
    match (query(factors[0]), query(factors[1])) {
        (Some((a, i)), Some((b, j))) => {
            i == j && (a == DimQuery::GroupId && size(b) || b == DimQuery::GroupId && size(a))
        }
        _ => false,
    }
}
