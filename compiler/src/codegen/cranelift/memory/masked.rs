//! Consecutive accesses by some of the lanes.
//!
//! A vector at a time: one whose lanes are all active is loaded or stored as such, and one without
//! any is left out. Else each lane has an address of its own, which is that of memory of ours where
//! the lane is not active. No lane is branched for, and no vector is put together in memory: the
//! processor would wait until what was stored in pieces has arrived there before it gives it back
//! as one. Loops over active lanes are for lanes of a byte or two, and for those with several
//! elements.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};
use smallvec::{SmallVec, smallvec};

use super::super::parts::{Parts, lane_type, part_type};
use super::super::values::Gen;
use super::{LaneLayout, flags};
use crate::ir::Type;

/// Most lanes of a vector that are seen to one by one.
const LANES: u8 = 4;

impl LaneLayout {
    /// Whether the lanes are those of vectors in memory, few in each.
    pub(super) fn is_by_vectors(self) -> bool {
        (2..=LANES).contains(&self.run()) && self.lanes >= self.run()
    }
}

impl Gen<'_> {
    /// The lanes whose bit is set in `bits` (an `i32`), not all of them, and zeros.
    pub(super) fn load_some(
        &mut self,
        base: clif::Value,
        bits: clif::Value,
        layout: LaneLayout,
    ) -> Parts {
        let zeros = self.address_of_zeros();
        let part = part_type(layout.scalar);
        let count = usize::from(layout.lanes / layout.run());
        let nothing = self.zero(part);
        self.each_part(base, bits, layout, smallvec![nothing; count], |g, at, _| {
            if let Where::Whole(at) = at {
                return g.b.ins().load(part, flags(), at, 0);
            }
            let lanes: SmallVec<[clif::Value; 4]> = (0..layout.run())
                .map(|lane| {
                    let at = at.lane(g, lane, layout, zeros);
                    g.b.ins().load(lane_type(layout.scalar), flags(), at, 0)
                })
                .collect();
            g.vector_of(Type::new(layout.scalar, layout.run()), &lanes)[0]
        })
    }

    /// Stores the lanes whose bit is set in `bits` (an `i32`), not all of them.
    pub(super) fn store_some(
        &mut self,
        base: clif::Value,
        bits: clif::Value,
        parts: &Parts,
        layout: LaneLayout,
    ) {
        let slot = self.stack_slot(16);
        let nowhere = self.b.ins().stack_addr(types::I64, slot, 0);
        self.each_part(base, bits, layout, parts.clone(), |g, at, part| {
            if let Where::Whole(at) = at {
                g.b.ins().store(flags(), part, at, 0);
                return part;
            }
            for lane in 0..layout.run() {
                let at = at.lane(g, lane, layout, nowhere);
                let v = g.b.ins().extractlane(part, lane);
                g.b.ins().store(flags(), v, at, 0);
            }
            part
        });
    }

    /// Runs `body` for each part with an active lane. It gets where the part's lanes are and the
    /// part, and gives what it becomes.
    fn each_part(
        &mut self,
        base: clif::Value,
        bits: clif::Value,
        layout: LaneLayout,
        parts: Parts,
        body: impl Fn(&mut Self, Where, clif::Value) -> clif::Value,
    ) -> Parts {
        if parts.len() == 1 {
            return smallvec![body(self, Where::Apart { base, bits }, parts[0])];
        }
        let whole = (1i64 << layout.run()) - 1;
        let ty = part_type(layout.scalar);
        let known = self.known.mark();
        let mut results = Parts::new();
        for (number, &part) in parts.iter().enumerate() {
            let [dense, rest, apart, next] = std::array::from_fn(|_| self.b.create_block());
            let made = self.b.append_block_param(next, ty);
            let at = self.b.ins().iadd_imm_s(base, 16 * number as i64);
            let left = match number {
                0 => bits,
                _ => self
                    .b
                    .ins()
                    .ushr_imm_u(bits, i64::from(layout.run()) * number as i64),
            };
            let here = self.b.ins().band_imm_u(left, whole);
            let all = self.b.ins().icmp_imm_u(IntCC::Equal, here, whole);
            self.b.ins().brif(all, dense, &[], rest, &[]);
            self.b.switch_to_block(rest);
            self.b.ins().brif(here, apart, &[], next, &[part.into()]);
            let apart_at = Where::Apart {
                base: at,
                bits: left,
            };
            for (block, at) in [(dense, Where::Whole(at)), (apart, apart_at)] {
                self.b.switch_to_block(block);
                let part = body(self, at, part);
                self.b.ins().jump(next, &[part.into()]);
                self.known.forget_since(known);
            }
            self.b.switch_to_block(next);
            results.push(made);
        }
        results
    }
}

/// Where the lanes of a part are.
#[derive(Clone, Copy)]
enum Where {
    /// From here on, all of them.
    Whole(clif::Value),
    /// Those whose bits are set; there may be more bits.
    Apart {
        base: clif::Value,
        bits: clif::Value,
    },
}

impl Where {
    /// The address of a lane; `elsewhere` if it is not active.
    fn lane(
        self,
        g: &mut Gen<'_>,
        lane: u8,
        layout: LaneLayout,
        elsewhere: clif::Value,
    ) -> clif::Value {
        let (Where::Whole(base) | Where::Apart { base, .. }) = self;
        let offset = i64::from(lane) * layout.size();
        let at = match offset {
            0 => base,
            _ => g.b.ins().iadd_imm_s(base, offset),
        };
        let Where::Apart { bits, .. } = self else {
            return at;
        };
        let bit = g.b.ins().band_imm_u(bits, 1 << lane);
        g.b.ins().select(bit, at, elsewhere)
    }
}
