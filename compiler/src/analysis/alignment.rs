//! How many low bits of an integer are zero in the first lane.
//!
//! Chunks begin at multiples of their width where rows are whole chunks. So `id & 63` and `id / 64`
//! are consecutive and uniform over a chunk of eight work-items, and no comparison at run time has
//! to tell.
//!
//! One pass in reverse post-order; what comes round a loop, and whatever is not understood, has no
//! such bits. Cost: linear.

use cranelift_entity::SecondaryMap;

use super::Cfg;
use crate::ir::{BinOp, ConvertOp, DimQuery, Function, Inst, Op, Query, Value};
use crate::launch::LaunchKey;

/// The number of low bits of each value that are zero in the first lane of a chunk.
#[derive(Clone, Debug)]
pub struct Alignments {
    zeros: SecondaryMap<Value, u8>,
}

impl Alignments {
    /// For chunks of so many work-items.
    pub fn new(func: &Function, cfg: &Cfg, key: &LaunchKey, width: u8) -> Alignments {
        let mut all = Alignments {
            zeros: SecondaryMap::with_capacity(func.values.len()),
        };
        for &block in &cfg.order {
            for &inst in &func.blocks[block].insts {
                if let &[result] = &func.insts[inst].results[..]
                    && func.ty(result).scalar.is_int()
                {
                    all.zeros[result] = all.transfer(func, inst, key, width);
                }
            }
        }
        all
    }

    /// Low bits of the value that are zero in the first lane.
    pub fn of(&self, value: Value) -> u32 {
        self.zeros[value].into()
    }

    fn transfer(&self, func: &Function, inst: Inst, key: &LaunchKey, width: u8) -> u8 {
        let data = &func.insts[inst];
        let bits = func.ty(data.results[0]).scalar.bits() as u8;
        let chunk = width.min(key.width).trailing_zeros() as u8;
        let of = |n: usize| self.zeros[data.args[n]];
        let zeros = match data.op {
            Op::Const(value) => value.trailing_zeros() as u8,
            // Groups, and so rows of all of them, are whole chunks of the key's width.
            Op::DimQuery(DimQuery::LocalId, 0)
            | Op::Query(Query::LocalLinearId | Query::GlobalLinearId)
                if key.full_chunks =>
            {
                chunk
            }
            Op::DimQuery(DimQuery::GlobalId, 0) if key.full_chunks && key.zero_offset => chunk,
            Op::Binary(BinOp::IAdd | BinOp::ISub | BinOp::Or | BinOp::Xor, _) => of(0).min(of(1)),
            Op::Binary(BinOp::IMul, _) => of(0) + of(1),
            Op::Binary(BinOp::And, _) => of(0).max(of(1)),
            Op::Binary(op @ (BinOp::Shl | BinOp::LShr | BinOp::AShr), _) => {
                let Some(by) = func.as_const(data.args[1]) else {
                    return 0;
                };
                let by = (by % u64::from(bits)) as u8;
                match op {
                    BinOp::Shl => of(0) + by,
                    _ => of(0).saturating_sub(by),
                }
            }
            Op::Convert(ConvertOp::Trunc | ConvertOp::ZExt | ConvertOp::SExt, _)
                if func.ty(data.args[0]).scalar.is_int() =>
            {
                of(0)
            }
            _ => 0,
        };
        zeros.min(bits)
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Across, Cfg, Shape, Shapes};
    use crate::ir::parse;
    use crate::launch::LaunchKey;

    /// The shape of the last value of the code, over eight lanes.
    fn shape(key: &LaunchKey, code: &str) -> Shape {
        let text = format!(
            "func \"f\" (i64) -> () {{
            block0(u: i64):
              id: i64 = dim_query.local_id.0
              gid: i64 = dim_query.global_id.0
              c3: i64 = const 3
              c7: i64 = const 7
              c8: i64 = const 8
              c15: i64 = const 15
              c56: i64 = const 56
              {code}
              ret
            }}"
        );
        let module = parse::module(&text).unwrap_or_else(|e| panic!("{e:?} in\n{text}"));
        let func = module.functions.values().next().expect("a function");
        let shapes = Shapes::new(func, &Cfg::new(func), key, Across::Chunk(8));
        let last = func.blocks[func.entry()].insts.last().expect("code");
        shapes.of(func.insts[*last].results[0])
    }

    #[test]
    fn low_bits_are_those_of_lanes_and_others_are_shared() {
        let whole = LaunchKey::usual(8);
        for (code, expected) in [
            ("x: i64 = and id, c7", Shape::Affine(1)),
            ("x: i64 = and id, c15", Shape::Affine(1)),
            ("x: i64 = and id, c56", Shape::Uniform),
            ("x: i64 = and id, c3", Shape::Varying),
            ("x: i64 = lshr id, c3", Shape::Uniform),
            ("x: i64 = lshr id, c7", Shape::Uniform),
            (
                "y: i64 = shl id, c7\n x: i64 = lshr y, c3",
                Shape::Affine(16),
            ),
            ("y: i64 = shl id, c3\n x: i64 = lshr y, c7", Shape::Uniform),
            ("y: i64 = iadd id, id\n x: i64 = lshr y, c3", Shape::Varying),
            (
                "y: i64 = shl id, c3\n x: i64 = and y, c56",
                Shape::Affine(8),
            ),
            ("y: i64 = iadd id, id\n x: i64 = and y, c7", Shape::Varying),
            (
                "y: i64 = iadd id, c8\n x: i64 = and y, c7",
                Shape::Affine(1),
            ),
            ("y: i64 = iadd id, c3\n x: i64 = and y, c7", Shape::Varying),
            ("y: i64 = iadd id, u\n x: i64 = and y, c7", Shape::Varying),
            ("y: i64 = shl u, c3\n x: i64 = or id, y", Shape::Affine(1)),
            ("x: i64 = or id, u", Shape::Varying),
            ("x: i64 = and gid, c7", Shape::Affine(1)),
            ("z: i64 = ineg id\n x: i64 = and z, c7", Shape::Varying),
        ] {
            assert_eq!(shape(&whole, code), expected, "{code}");
        }
    }

    #[test]
    fn chunks_may_begin_anywhere_elsewhere() {
        let parts = LaunchKey {
            full_chunks: false,
            ..LaunchKey::usual(8)
        };
        assert_eq!(shape(&parts, "x: i64 = and id, c7"), Shape::Varying);
        let offset = LaunchKey {
            zero_offset: false,
            ..LaunchKey::usual(8)
        };
        assert_eq!(shape(&offset, "x: i64 = and gid, c7"), Shape::Varying);
        assert_eq!(shape(&offset, "x: i64 = and id, c7"), Shape::Affine(1));
    }
}
