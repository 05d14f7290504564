//! Accesses with an address for each lane.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};

use super::super::parts::{Parts, Repr, lane_type, part_count, part_type};
use super::super::values::Gen;
use super::indexed::Indexed;
use super::{LaneLayout, flags};
use crate::analysis::{PROBED_INSTRUCTIONS, is_computed_from_ids};
use crate::ir::{BinOp, ConvertOp, Mem, Op, Scalar, Type, Value};

/// Instructions between a rounded coordinate and what its row is multiplied by.
const MOST_CLAMPS: usize = 6;

/// What inactive lanes of a gather read: large enough for the widest access (16 elements of 8
/// bytes).
#[repr(align(16))]
struct Zeros([u8; 128]);
static ZEROS: Zeros = Zeros([0; 128]);

impl Gen<'_> {
    /// Each lane's address as a CLIF scalar; inactive lanes get `elsewhere`.
    pub(super) fn lane_addresses(
        &mut self,
        address: Value,
        mask: Option<Value>,
        elsewhere: impl FnOnce(&mut Self) -> clif::Value,
    ) -> Vec<clif::Value> {
        let ty = self.func.ty(address);
        if mask.is_none()
            && let Some(indexed) = self.indexed(address)
        {
            let mut word = None;
            let at = |lane| self.indexed_address(&indexed, lane, &mut word);
            return (0..ty.lanes).map(at).collect();
        }
        let mut parts = self.parts(address);
        if let Some(mask) = mask {
            let mask = self.mask(mask, 64);
            let elsewhere = elsewhere(self);
            let elsewhere = self.b.ins().splat(types::I64X2, elsewhere);
            parts = parts
                .iter()
                .zip(&mask)
                .map(|(&p, &m)| self.blend(m, p, elsewhere))
                .collect();
        }
        (0..ty.lanes)
            .map(|l| self.b.ins().extractlane(parts[usize::from(l / 2)], l % 2))
            .collect()
    }

    /// A gather. Addresses computed from ids alone are often consecutive although no analysis can
    /// tell (`t % n`, clamped neighbours): those are compared at run time, and loaded as vectors
    /// when they are.
    pub(super) fn gather(
        &mut self,
        mem: &Mem,
        address: Value,
        mask: Option<Value>,
        layout: LaneLayout,
    ) -> Vec<Repr> {
        let ty = Type::new(layout.scalar, layout.lanes);
        let dense = layout.side_by_side();
        if !dense.is_dense() || !self.is_computed(address) {
            let parts = self.gather_parts(address, mask, layout);
            return parts.into_iter().map(|p| self.loaded(p, ty)).collect();
        }
        let (base, consecutive) = self.consecutive(address, mask, dense.stride);
        let (fast, slow, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        let count = part_count(layout.lanes, layout.scalar.bits());
        let params: Vec<clif::Value> = (0..count * layout.elements)
            .map(|_| self.b.append_block_param(done, part_type(layout.scalar)))
            .collect();
        self.b.ins().brif(consecutive, fast, &[], slow, &[]);
        let known = self.known.mark();
        for (block, at_once) in [(fast, true), (slow, false)] {
            self.b.switch_to_block(block);
            let parts = if at_once {
                self.load_strided_parts(mem, base, dense)
            } else {
                self.gather_parts(address, mask, layout)
            };
            let parts: Vec<clif::BlockArg> = parts.iter().flatten().map(|&p| p.into()).collect();
            self.b.ins().jump(done, &parts);
            self.known.forget_since(known);
        }
        self.b.switch_to_block(done);
        params
            .chunks(count)
            .map(|parts| Repr::Vector(parts.into()))
            .collect()
    }

    /// Whether neighbouring lanes may well have neighbouring addresses.
    pub(super) fn is_computed(&self, address: Value) -> bool {
        let uniform = |v: Value| self.func.ty(v).lanes == 1;
        let indexed = self.indexed(address);
        !indexed.is_some_and(|indexed| self.has_rounded_row(indexed.index()))
            && is_computed_from_ids(self.func, address, PROBED_INSTRUCTIONS, uniform)
    }

    /// Whether an index is a sum with a multiple of a floating-point number that was rounded, and
    /// is not the same in all lanes: the rows that a rotated picture is read from. Next to each
    /// other are lanes of one row only.
    fn has_rounded_row(&self, index: Value) -> bool {
        let data = |value: Value| self.func.def_inst(value).map(|i| &self.func.insts[i]);
        let Some(sum) = data(index).filter(|d| matches!(d.op, Op::Binary(BinOp::IAdd, _))) else {
            return false;
        };
        let is_same = |value: Value| {
            self.func.ty(value).lanes == 1
                || data(value).is_some_and(|d| matches!(d.op, Op::Splat | Op::Const(_)))
        };
        let is_rounded = |&term: &Value| {
            let mut at = match data(term) {
                Some(product) if matches!(product.op, Op::Binary(BinOp::IMul, _)) => {
                    product.args[0]
                }
                _ => return false,
            };
            // Past the clamps, of which there are few.
            for _ in 0..MOST_CLAMPS {
                let Some(def) = data(at) else {
                    return false;
                };
                match def.op {
                    Op::Convert(ConvertOp::FToS, _) => return self.func.ty(at).lanes > 1,
                    Op::Binary(
                        BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::IAdd | BinOp::ISub,
                        _,
                    ) => match def.args.iter().find(|&&arg| !is_same(arg)) {
                        Some(&arg) => at = arg,
                        None => return false,
                    },
                    _ => return false,
                }
            }
            false
        };
        sum.args.iter().any(is_rounded)
    }

    /// The first lane's address, and whether every lane is active and lane l's is `l * stride`
    /// bytes further.
    pub(super) fn consecutive(
        &mut self,
        address: Value,
        mask: Option<Value>,
        stride: i64,
    ) -> (clif::Value, clif::Value) {
        // Rows of a picture have the same indexes: asked about once.
        let indexed = self.indexed(address);
        let indexed = indexed.and_then(|i| Some((i.step(self.func, stride)?, i)));
        let Some((step, indexed)) = indexed else {
            let key = (address, mask, stride);
            if let Some(&known) = self.known.consecutive.get(key) {
                return known;
            }
            let found = self.ask_consecutive(address, mask, stride);
            self.known.consecutive.insert(key, found);
            return found;
        };
        let key = (indexed.index(), mask, step);
        let (first, consecutive) = match self.known.consecutive.get(key) {
            Some(&known) => known,
            None => {
                let found = self.ask_consecutive_indexes(&indexed, mask, step);
                self.known.consecutive.insert(key, found);
                found
            }
        };
        (self.address_at(&indexed, first), consecutive)
    }

    /// The first lane's index, and whether every lane is active and lane l's is `l * step` more
    /// without a wrap.
    fn ask_consecutive_indexes(
        &mut self,
        indexed: &Indexed,
        mask: Option<Value>,
        step: i64,
    ) -> (clif::Value, clif::Value) {
        let lanes = self.func.ty(indexed.index()).lanes;
        let (base, consecutive) = self.ask_arithmetic(indexed.index(), Scalar::I32, step);
        // From the first lane's index to the last one's there is no end of the type's numbers.
        let reach = step.unsigned_abs() as i64 * i64::from(lanes - 1);
        let stays = match (indexed.is_signed(), step >= 0) {
            (true, true) => (IntCC::SignedLessThanOrEqual, i64::from(i32::MAX) - reach),
            (true, false) => (IntCC::SignedGreaterThanOrEqual, i64::from(i32::MIN) + reach),
            (false, true) => (IntCC::UnsignedLessThanOrEqual, i64::from(u32::MAX) - reach),
            (false, false) => (IntCC::UnsignedGreaterThanOrEqual, reach),
        };
        let bound = self.b.ins().iconst(types::I32, stays.1 & 0xffff_ffff);
        let stays = self.b.ins().icmp(stays.0, base, bound);
        let consecutive = self.b.ins().band(consecutive, stays);
        (base, self.and_all_active(consecutive, mask, lanes))
    }

    /// A condition, and whether every lane is active.
    fn and_all_active(
        &mut self,
        condition: clif::Value,
        mask: Option<Value>,
        lanes: u8,
    ) -> clif::Value {
        let Some(mask) = mask else {
            return condition;
        };
        let active = self.mask_bits(mask);
        let all = self
            .b
            .ins()
            .icmp_imm_u(IntCC::Equal, active, (1i64 << lanes) - 1);
        self.b.ins().band(condition, all)
    }

    /// The first lane of a value in vectors of a type, and whether lane l is `l * step` more,
    /// wrapping.
    fn ask_arithmetic(
        &mut self,
        value: Value,
        scalar: Scalar,
        step: i64,
    ) -> (clif::Value, clif::Value) {
        let ty = Type::new(scalar, self.func.ty(value).lanes);
        let part_ty = part_type(scalar);
        let parts = self.parts(value);
        let base = self.b.ins().extractlane(parts[0], 0);
        let first = self.b.ins().splat(part_ty, base);
        let unused = 64 - scalar.bits();
        let offsets: Vec<u64> = (0..i64::from(ty.lanes))
            .map(|l| (l.wrapping_mul(step) as u64) << unused >> unused)
            .collect();
        let offsets = self.constant_lanes(ty, &offsets);
        let mut same: Option<clif::Value> = None;
        for (&part, &offset) in parts.iter().zip(&offsets) {
            let start = self.b.ins().isub(part, offset);
            let equal = self.b.ins().icmp(IntCC::Equal, start, first);
            same = Some(match same {
                None => equal,
                Some(others) => self.b.ins().band(others, equal),
            });
        }
        let same = same.expect("at least one part");
        let bits = self.b.ins().vhigh_bits(types::I32, same);
        let all = (1 << part_ty.lane_count()) - 1;
        (base, self.b.ins().icmp_imm_u(IntCC::Equal, bits, all))
    }

    pub(super) fn ask_consecutive(
        &mut self,
        address: Value,
        mask: Option<Value>,
        stride: i64,
    ) -> (clif::Value, clif::Value) {
        let lanes = self.func.ty(address).lanes;
        let (base, consecutive) = self.ask_arithmetic(address, Scalar::I64, stride);
        (base, self.and_all_active(consecutive, mask, lanes))
    }

    /// Where lanes that are not active load from.
    pub(super) fn address_of_zeros(&mut self) -> clif::Value {
        let zeros = std::ptr::from_ref(&ZEROS.0) as u64;
        self.b.ins().iconst(types::I64, zeros as i64)
    }

    pub(super) fn gather_parts(
        &mut self,
        address: Value,
        mask: Option<Value>,
        layout: LaneLayout,
    ) -> Vec<Parts> {
        let addresses = self.lane_addresses(address, mask, Self::address_of_zeros);
        if layout.lane_is_vector() {
            let vectors: Parts = addresses
                .iter()
                .map(|&at| self.b.ins().load(part_type(layout.scalar), flags(), at, 0))
                .collect();
            return self.deinterleave(&vectors, layout);
        }
        if let Some(whole) = layout.lane_as_number() {
            let vectors = self.load_lanes(&addresses, whole, 0);
            let part = part_type(layout.scalar);
            let vectors: Parts = vectors.iter().map(|&v| self.cast(v, part)).collect();
            return self.deinterleave(&vectors, layout);
        }
        (0..layout.elements)
            .map(|k| {
                let offset = k as i32 * layout.size() as i32;
                self.load_lanes(&addresses, layout.scalar, offset)
            })
            .collect()
    }

    /// A number for each lane. Those of 32 and 64 bits are loaded as floating-point numbers, which
    /// are in the vector unit at once.
    fn load_lanes(&mut self, addresses: &[clif::Value], scalar: Scalar, offset: i32) -> Parts {
        let part = part_type(scalar);
        let scalar = match scalar {
            Scalar::I32 => Scalar::F32,
            Scalar::I64 | Scalar::Ptr => Scalar::F64,
            other => other,
        };
        let lanes: Vec<clif::Value> = addresses
            .iter()
            .map(|&at| self.b.ins().load(lane_type(scalar), flags(), at, offset))
            .collect();
        let vectors = self.vector_of(Type::new(scalar, lanes.len() as u8), &lanes);
        vectors.iter().map(|&v| self.cast(v, part)).collect()
    }

    pub(super) fn scatter(
        &mut self,
        address: Value,
        values: &[Value],
        mask: Option<Value>,
        layout: LaneLayout,
    ) {
        let parts: Vec<Parts> = values
            .iter()
            .map(|&v| self.stored_parts(v, layout.lanes))
            .collect();
        let dense = layout.side_by_side();
        let worthwhile =
            layout.elements == 1 || dense.is_dense() && layout.elements.is_power_of_two();
        if !worthwhile || !self.is_computed(address) {
            self.scatter_parts(address, &parts, mask, layout);
            return;
        }
        let (base, consecutive) = self.consecutive(address, mask, dense.stride);
        let (fast, slow, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        self.b.ins().brif(consecutive, fast, &[], slow, &[]);
        let known = self.known.mark();
        self.b.switch_to_block(fast);
        self.store_strided_parts(base, &parts, dense);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(slow);
        self.scatter_parts(address, &parts, mask, layout);
        self.known.forget_since(known);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    pub(super) fn scatter_parts(
        &mut self,
        address: Value,
        parts: &[Parts],
        mask: Option<Value>,
        layout: LaneLayout,
    ) {
        let size = layout.size() as u32 * layout.elements as u32;
        let addresses = self.lane_addresses(address, mask, |g| {
            let slot = g.stack_slot(size);
            g.b.ins().stack_addr(types::I64, slot, 0)
        });
        let vectors = if layout.lane_is_vector() {
            Some(self.interleave(parts, layout.lanes.into(), layout.scalar.bits()))
        } else {
            None
        };
        let per = (128 / layout.scalar.bits().max(8)) as u8;
        for (l, &at) in addresses.iter().enumerate() {
            if let Some(vectors) = &vectors {
                self.b.ins().store(flags(), vectors[l], at, 0);
                continue;
            }
            for (k, parts) in parts.iter().enumerate() {
                let v = self
                    .b
                    .ins()
                    .extractlane(parts[l / usize::from(per)], l as u8 % per);
                self.b
                    .ins()
                    .store(flags(), v, at, k as i32 * layout.size() as i32);
            }
        }
    }
}
