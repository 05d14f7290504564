//! Accesses at one address and a distance between lanes.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC};

use super::super::lanes::LaneOperand;
use super::super::parts::{Parts, Repr, int_part_type, lane_type, part_count, part_type};
use super::super::values::Gen;
use super::{LaneLayout, flags};
use crate::ir::{Mem, Scalar, Type, Value};

impl Gen<'_> {
    pub(super) fn load_strided(
        &mut self,
        mem: &Mem,
        address: Value,
        mask: Option<Value>,
        layout: LaneLayout,
    ) -> Vec<Repr> {
        let base = self.scalar(address);
        let ty = Type::new(layout.scalar, layout.lanes);
        let Some(mask) = mask else {
            let parts = self.load_strided_parts(mem, base, layout);
            return parts.into_iter().map(|p| self.loaded(p, ty)).collect();
        };
        let count = part_count(layout.lanes, layout.scalar.bits().max(8));
        let bits = self.mask_bits(mask);
        let full = self
            .b
            .ins()
            .icmp_imm_u(IntCC::Equal, bits, (1i64 << layout.lanes) - 1);
        let (fast, slow, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let part = part_type(layout.scalar);
        let params: Vec<clif::Value> = (0..count * layout.elements)
            .map(|_| self.b.append_block_param(done, part))
            .collect();
        self.b.ins().brif(full, fast, &[], slow, &[]);
        self.b.switch_to_block(fast);
        let all = self.load_strided_parts(mem, base, layout);
        let all: Vec<clif::BlockArg> = all.iter().flatten().map(|&p| p.into()).collect();
        self.b.ins().jump(done, &all);
        self.b.switch_to_block(slow);
        let some = if layout.is_by_vectors() {
            self.load_some(base, bits, layout)
        } else {
            self.load_lane_by_lane(base, bits, layout)
        };
        let some: Vec<clif::BlockArg> = some.into_iter().map(Into::into).collect();
        self.b.ins().jump(done, &some);
        self.b.switch_to_block(done);
        params
            .chunks(count)
            .map(|parts| self.loaded(parts.into(), ty))
            .collect()
    }

    /// The parts of each element in turn, loaded where a lane's bit is set.
    fn load_lane_by_lane(
        &mut self,
        base: clif::Value,
        bits: clif::Value,
        layout: LaneLayout,
    ) -> Parts {
        let ty = Type::new(layout.scalar, layout.lanes);
        let part = part_type(layout.scalar);
        let arrays: Vec<_> = (0..layout.elements)
            .map(|_| self.result_array(ty))
            .collect();
        self.for_set_runs(bits, layout.run(), |g, lane, count| {
            let offset = g.b.ins().imul_imm_s(lane, layout.stride);
            let at = g.b.ins().iadd(base, offset);
            let what = match count {
                1 => lane_type(layout.scalar),
                _ => part,
            };
            for (k, &array) in arrays.iter().enumerate() {
                let place = k as i32 * layout.size() as i32;
                let v = g.b.ins().load(what, flags(), at, place);
                g.set_result(array, lane, v);
            }
        });
        arrays
            .into_iter()
            .flat_map(|array| self.reload(array, ty))
            .collect()
    }

    /// The parts of each element.
    pub(super) fn load_strided_parts(
        &mut self,
        mem: &Mem,
        base: clif::Value,
        layout: LaneLayout,
    ) -> Vec<Parts> {
        let size = layout.size();
        if layout.elements == 1 && layout.stride == size {
            return vec![self.load_contiguous(base, layout.scalar, layout.lanes.into())];
        }
        if layout.is_dense() {
            let total = usize::from(layout.lanes) * layout.elements;
            let vectors = self.load_contiguous(base, layout.scalar, total);
            return self.deinterleave(&vectors, layout);
        }
        // Three-component vectors occupy four: the fourth is padding inside the same aligned 16
        // bytes.
        let padded = LaneLayout {
            elements: 4,
            ..layout
        };
        if layout.elements == 3
            && layout.stride == 4 * size
            && padded.is_dense()
            && i64::from(mem.align) >= 4 * size
        {
            let mut parts = self.load_strided_parts(mem, base, padded);
            parts.truncate(3);
            return parts;
        }
        let reach = layout.stride.checked_mul(layout.lanes.into());
        if layout.lane_is_vector() && reach.is_some_and(|reach| i32::try_from(reach).is_ok()) {
            let vectors: Parts = (0..i64::from(layout.lanes))
                .map(|l| {
                    self.b.ins().load(
                        part_type(layout.scalar),
                        flags(),
                        base,
                        (l * layout.stride) as i32,
                    )
                })
                .collect();
            return self.deinterleave(&vectors, layout);
        }
        let ty = Type::new(layout.scalar, layout.lanes);
        (0..layout.elements as i64)
            .map(|k| {
                let lanes: Vec<clif::Value> = (0..i64::from(layout.lanes))
                    .map(|l| {
                        let (at, offset) = self.offset(base, layout.at(l, k));
                        self.b
                            .ins()
                            .load(lane_type(layout.scalar), flags(), at, offset)
                    })
                    .collect();
                self.vector_of(ty, &lanes)
            })
            .collect()
    }

    /// An address and an offset that fits in an instruction.
    pub(super) fn offset(&mut self, base: clif::Value, bytes: i64) -> (clif::Value, i32) {
        match i32::try_from(bytes) {
            Ok(offset) => (base, offset),
            Err(_) => (self.b.ins().iadd_imm_s(base, bytes), 0),
        }
    }

    /// `count` values end to end.
    pub(super) fn load_contiguous(
        &mut self,
        base: clif::Value,
        scalar: Scalar,
        count: usize,
    ) -> Parts {
        let bytes = count * scalar.bytes() as usize;
        let part = part_type(scalar);
        let whole = bytes / 16;
        let mut parts: Parts = (0..whole)
            .map(|i| self.b.ins().load(part, flags(), base, 16 * i as i32))
            .collect();
        let rest = (bytes % 16) as u32 * 8;
        if rest > 0 {
            let int = clif::Type::int(rest as u16).expect("1, 2, 4 or 8 bytes");
            let low = self.b.ins().load(int, flags(), base, 16 * whole as i32);
            let vector = self.low_lane(int_part_type(rest), low);
            parts.push(self.cast(vector, part));
        }
        parts
    }

    /// The first `count` lanes of the parts, end to end.
    pub(super) fn store_contiguous(
        &mut self,
        base: clif::Value,
        scalar: Scalar,
        count: usize,
        parts: &[clif::Value],
    ) {
        let bytes = count * scalar.bytes() as usize;
        let whole = bytes / 16;
        for (i, &part) in parts[..whole].iter().enumerate() {
            self.b.ins().store(flags(), part, base, 16 * i as i32);
        }
        let rest = (bytes % 16) as u32 * 8;
        if rest > 0 {
            let ints = self.cast(parts[whole], int_part_type(rest));
            let low = self.b.ins().extractlane(ints, 0);
            self.b.ins().store(flags(), low, base, 16 * whole as i32);
        }
    }

    pub(super) fn store_strided(
        &mut self,
        address: Value,
        values: &[Value],
        mask: Option<Value>,
        layout: LaneLayout,
    ) {
        let base = self.scalar(address);
        let parts: Vec<Parts> = values
            .iter()
            .map(|&v| self.stored_parts(v, layout.lanes))
            .collect();
        let Some(mask) = mask else {
            self.store_strided_parts(base, &parts, layout);
            return;
        };
        let bits = self.mask_bits(mask);
        let full = self
            .b
            .ins()
            .icmp_imm_u(IntCC::Equal, bits, (1i64 << layout.lanes) - 1);
        let (fast, slow, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        // What is computed in a branch is not known past it.
        let known = self.known.mark();
        self.b.ins().brif(full, fast, &[], slow, &[]);
        self.b.switch_to_block(fast);
        self.store_strided_parts(base, &parts, layout);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(slow);
        if layout.is_by_vectors() {
            self.store_some(base, bits, &parts[0], layout);
        } else {
            self.store_lane_by_lane(base, bits, values, layout);
        }
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        self.known.forget_since(known);
    }

    /// Stores the lanes whose bit is set.
    fn store_lane_by_lane(
        &mut self,
        base: clif::Value,
        bits: clif::Value,
        values: &[Value],
        layout: LaneLayout,
    ) {
        let operands: Vec<LaneOperand> = values.iter().map(|&v| self.spill(v)).collect();
        self.for_set_runs(bits, layout.run(), |g, lane, count| {
            let offset = g.b.ins().imul_imm_s(lane, layout.stride);
            let at = g.b.ins().iadd(base, offset);
            for (k, &operand) in operands.iter().enumerate() {
                let v = match count {
                    1 => g.operand(operand, lane),
                    _ => g.operand_run(operand, lane, part_type(layout.scalar)),
                };
                g.b.ins()
                    .store(flags(), v, at, k as i32 * layout.size() as i32);
            }
        });
    }

    pub(super) fn store_strided_parts(
        &mut self,
        base: clif::Value,
        values: &[Parts],
        layout: LaneLayout,
    ) {
        let size = layout.size();
        if layout.elements == 1 && layout.stride == size {
            self.store_contiguous(base, layout.scalar, layout.lanes.into(), &values[0]);
            return;
        }
        if layout.is_dense() && layout.elements.is_power_of_two() {
            let lanes = usize::from(layout.lanes);
            let vectors = self.interleave(values, lanes, layout.scalar.bits());
            self.store_contiguous(base, layout.scalar, lanes * layout.elements, &vectors);
            return;
        }
        let per = (128 / layout.scalar.bits().max(8)) as u8;
        for l in 0..layout.lanes {
            for (k, parts) in values.iter().enumerate() {
                let v = self
                    .b
                    .ins()
                    .extractlane(parts[usize::from(l / per)], l % per);
                let (at, offset) = self.offset(base, layout.at(l.into(), k as i64));
                self.b.ins().store(flags(), v, at, offset);
            }
        }
    }
}
