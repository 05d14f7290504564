//! What follows from the work-group size that a kernel requires.
//!
//! Queries of the enqueued size are constants, and so are local ids where the size is 1. And a
//! comparison is made of what is the same for the whole work-group, where it can be: matrix
//! products in tiles ask
//!
//! ```text
//! local_id * items + group_id * tile < size / tile * tile
//! ```
//!
//! whether the tile is whole, and have barriers on both sides of the branch. With `items` times the
//! required size at most `tile`, the answer is that of `group_id * tile < size / tile * tile`: for
//! multiples m and b of 2^k, and r in [0, 2^k), m + r < b is m < b, as neither wraps. Cost: linear.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use super::cursor::Cursor;
use crate::ir::{BinOp, ConvertOp, DimQuery, Function, Inst, IntCC, Op, Value};

/// How deep an expression is looked into.
const DEPTH: u32 = 6;

/// Rewrites a function with one lane a value, of a kernel that requires a work-group size. Returns
/// whether there was anything to do.
pub fn run(func: &mut Function, size: [u32; 3]) -> bool {
    let parts = Parts {
        size,
        zeros: trailing_zeros(func),
    };
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let mut changed = false;
    for n in 0..func.layout.len() {
        let block = func.layout[n];
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut cursor = Cursor::new(func);
        for inst in insts {
            cursor.loc = cursor.func.insts[inst].loc;
            if let Some(bits) = constant(cursor.func, inst, size) {
                let result = cursor.func.insts[inst].results[0];
                let ty = cursor.func.ty(result);
                replace[result] = Some(cursor.constant(ty, bits)).into();
                changed = true;
                continue;
            }
            changed |= parts.compare(&mut cursor, inst);
            cursor.made.push(inst);
        }
        let made = cursor.made;
        func.blocks[block].insts = made;
    }
    if changed {
        func.replace_uses(&replace);
    }
    changed
}

/// What a query of the size is.
fn constant(func: &Function, inst: Inst, size: [u32; 3]) -> Option<u64> {
    match func.insts[inst].op {
        Op::DimQuery(DimQuery::EnqueuedLocalSize, d) => Some(size[usize::from(d)].into()),
        Op::DimQuery(DimQuery::LocalId, d) if size[usize::from(d)] == 1 => Some(0),
        _ => None,
    }
}

/// How many zeros values are known to end with.
fn trailing_zeros(func: &Function) -> SecondaryMap<Value, u32> {
    let mut zeros: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(func.values.len());
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            let &[result] = &data.results[..] else {
                continue;
            };
            let width = func.ty(result).scalar.bits();
            let of = |n: usize| zeros[data.args[n]];
            let found = match data.op {
                Op::Const(bits) => bits.trailing_zeros(),
                Op::Binary(BinOp::IMul, _) => of(0) + of(1),
                Op::Binary(BinOp::Shl, _) => match func.as_const(data.args[1]) {
                    Some(by) => of(0) + (by as u32 & (width - 1)),
                    None => 0,
                },
                Op::Binary(BinOp::And, _) => of(0).max(of(1)),
                Op::Binary(BinOp::IAdd | BinOp::ISub | BinOp::Or | BinOp::Xor, _) => {
                    of(0).min(of(1))
                }
                Op::Convert(ConvertOp::SExt | ConvertOp::ZExt | ConvertOp::Trunc, _) => of(0),
                _ => 0,
            };
            zeros[result] = found.min(width);
        }
    }
    zeros
}

/// Sums of a multiple of 2^k and a rest that is bounded, by the sizes of a work-group.
struct Parts {
    size: [u32; 3],
    zeros: SecondaryMap<Value, u32>,
}

impl Parts {
    /// Rewrites m + r < b, m + r >= b, or with sides exchanged.
    fn compare(&self, cursor: &mut Cursor<'_>, inst: Inst) -> bool {
        let data = &cursor.func.insts[inst];
        let Op::ICmp(cc) = data.op else {
            return false;
        };
        let (sum, bound, cc) = match cc {
            IntCC::Slt | IntCC::Ult | IntCC::Sge | IntCC::Uge => (0, 1, cc),
            IntCC::Sgt | IntCC::Ugt | IntCC::Sle | IntCC::Ule => (1, 0, cc.swapped()),
            IntCC::Eq | IntCC::Ne => return false,
        };
        let (sum, bound) = (data.args[sum], data.args[bound]);
        let ty = cursor.func.ty(sum);
        // The largest k for which the multiple and the rest are known.
        let most = self.zeros[bound].min(ty.scalar.bits() - 1).min(30);
        let mut ks = (self.zeros[sum] + 1..=most).rev();
        let Some(k) = ks.find(|&k| self.rest(cursor.func, sum, k, DEPTH).is_some()) else {
            return false;
        };
        let multiple = match self.multiple(cursor, sum, k) {
            Some(multiple) => multiple,
            None => cursor.constant(ty, 0),
        };
        let data = &mut cursor.func.insts[inst];
        data.op = Op::ICmp(cc);
        data.args.clear();
        data.args.extend([multiple, bound]);
        true
    }

    /// The most that a value is without its multiple of 2^k, if that is known and less than 2^k. In
    /// narrower and wider types, too, neither wraps then.
    fn rest(&self, func: &Function, value: Value, k: u32, depth: u32) -> Option<u64> {
        if self.zeros[value] >= k {
            return Some(0);
        }
        // In a type that 2^k is too large for, the rest would wrap, or be negative.
        if k >= func.ty(value).scalar.bits() {
            return None;
        }
        let data = &func.insts[func.def_inst(value).filter(|_| depth > 0)?];
        let of = |n: usize| self.rest(func, data.args[n], k, depth - 1);
        let most = match data.op {
            Op::Const(bits) => bits,
            // A module may require a size of 0, which no launch has.
            Op::DimQuery(DimQuery::LocalId, d) => self.size[usize::from(d)].checked_sub(1)?.into(),
            Op::Binary(BinOp::IAdd, _) => of(0)? + of(1)?,
            Op::Binary(BinOp::IMul | BinOp::Shl, _) => {
                let by = func.as_const(data.args[1])?;
                let factor = match data.op {
                    Op::Binary(BinOp::Shl, _) => 1u64.checked_shl(u32::try_from(by).ok()?)?,
                    _ => by,
                };
                let rest = of(0)?;
                // The product of a multiple is another one.
                if self.has_multiple(func, data.args[0], k) {
                    return None;
                }
                rest.checked_mul(factor)?
            }
            Op::Convert(ConvertOp::SExt | ConvertOp::ZExt | ConvertOp::Trunc, _) => of(0)?,
            _ => return None,
        };
        (most < 1 << k).then_some(most)
    }

    /// Whether a value whose rest is known has a multiple of 2^k, too.
    fn has_multiple(&self, func: &Function, value: Value, k: u32) -> bool {
        if self.zeros[value] >= k {
            return func.as_const(value) != Some(0);
        }
        let Some(inst) = func.def_inst(value) else {
            return false;
        };
        let data = &func.insts[inst];
        let mut args = data.args.iter();
        matches!(data.op, Op::Binary(BinOp::IAdd, _) | Op::Convert(..))
            && args.any(|&arg| self.has_multiple(func, arg, k))
    }

    /// The multiple of 2^k in a value whose rest is known; `None` if there is none.
    fn multiple(&self, cursor: &mut Cursor<'_>, value: Value, k: u32) -> Option<Value> {
        if !self.has_multiple(cursor.func, value, k) {
            return None;
        }
        if self.zeros[value] >= k {
            return Some(value);
        }
        let data = cursor.func.insts[cursor.func.def_inst(value)?].clone();
        let args = data.args.iter();
        let parts: Vec<Value> = args
            .filter_map(|&arg| self.multiple(cursor, arg, k))
            .collect();
        let ty = cursor.func.ty(value);
        Some(match (data.op, &parts[..]) {
            (Op::Binary(..), &[one]) => one,
            // What was promised of the sum is not of its parts.
            (Op::Binary(op, _), _) => cursor.make(Op::Binary(op, Default::default()), &parts, ty),
            (op, _) => cursor.make(op, &parts, ty),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::ir::parse;

    /// The comparison of `local_id * 2 + group_id * 8`, in 32 bits, with a multiple of 8.
    fn compared(compare: &str, size: [u32; 3]) -> String {
        let text = format!(
            "func \"f\" (i32, ptr) -> () {{\nblock0(n: i32, p: ptr):\n  \
             l: i64 = dim_query.local_id.0\n  one: i64 = const 1\n  twice: i64 = shl l, one\n  \
             g: i64 = dim_query.group_id.0\n  narrow: i32 = convert.trunc.rte g\n  \
             eight: i32 = const 8\n  m: i32 = imul narrow, eight\n  \
             wide: i64 = convert.sext.rte m\n  sum: i64 = iadd twice, wide\n  \
             x: i32 = convert.trunc.rte sum\n  q: i32 = sdiv n, eight\n  \
             b: i32 = imul q, eight\n  c: i1 = {compare}\n  \
             s: i32 = select c, n, x\n  store.global.align4 p, s\n  ret\n}}"
        );
        let mut module = parse::module(&text).unwrap();
        let func = module.functions.values_mut().next().unwrap();
        let changed = run(func, size);
        let line = func.to_string();
        let line = line.lines().find(|line| line.contains("icmp")).unwrap();
        let is_sum = line.contains("v11");
        assert_eq!(changed, !is_sum, "{func}");
        line.trim().to_owned()
    }

    #[test]
    fn a_rest_below_the_multiple_is_left_out() {
        for compare in ["icmp.slt x, b", "icmp.sge x, b", "icmp.ult x, b"] {
            let line = compared(compare, [4, 2, 1]);
            let (operation, _) = compare.split_once(' ').unwrap();
            assert!(line.contains(operation) && !line.contains("v11"), "{line}");
        }
        let line = compared("icmp.sgt b, x", [4, 2, 1]);
        assert!(line.contains("icmp.slt"), "{line}");
    }

    #[test]
    fn a_rest_that_wraps_stays() {
        let text = "func \"f\" (i32, ptr) -> () {\nblock0(n: i32, p: ptr):\n  \
             l: i64 = dim_query.local_id.0\n  narrow: i8 = convert.trunc.rte l\n  \
             x: i32 = convert.sext.rte narrow\n  tile: i32 = const 256\n  \
             q: i32 = sdiv n, tile\n  b: i32 = imul q, tile\n  c: i1 = icmp.slt x, b\n  \
             s: i32 = select c, n, x\n  store.global.align4 p, s\n  ret\n}";
        let module = parse::module(text).unwrap();
        let func = module.functions.values().next().unwrap();
        // From 128 on the sign changes.
        assert!(!run(&mut func.clone(), [200, 1, 1]));
        assert!(run(&mut func.clone(), [128, 1, 1]));
        let mut wide = parse::module(&text.replace("i8", "i16")).unwrap();
        assert!(run(
            wide.functions.values_mut().next().unwrap(),
            [200, 1, 1]
        ));
    }

    #[test]
    fn what_depends_on_the_rest_stays() {
        // A size that no launch has.
        assert!(compared("icmp.slt x, b", [0, 0, 0]).contains("v11"));
        // It may be 8, and so the next multiple.
        assert!(compared("icmp.slt x, b", [5, 2, 1]).contains("v11"));
        // Whether it is zero decides.
        assert!(compared("icmp.sgt x, b", [4, 2, 1]).contains("v11"));
        assert!(compared("icmp.sle x, b", [4, 2, 1]).contains("v11"));
        assert!(compared("icmp.eq x, b", [4, 2, 1]).contains("v11"));
        // Of a bound that is no multiple nothing is known.
        assert!(compared("icmp.slt x, n", [4, 2, 1]).contains("v11"));
    }
}
