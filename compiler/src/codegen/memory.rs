//! Loads, stores, copies and atomics.
//!
//! Of vectors, by shape: elements that lie end to end are loaded as vectors and taken apart with
//! shuffles; others are accessed lane by lane. Lanes that a mask leaves out touch no memory of the
//! program: consecutive accesses take the vector path when every lane is active and otherwise loop
//! over the active ones; gathers and scatters redirect inactive lanes to memory of our own.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};
use smallvec::{SmallVec, smallvec};

use super::function::Gen;
use super::lanes::LaneOperand;
use super::parts::{Parts, Repr, int_part_type, lane_type, part_count, part_type};
use crate::AddressSpace;
use crate::ir::{Atomic, AtomicOp, BinOp, ConvertOp, Inst, Mem, Op, Order, Scalar, Type, Value};

/// What inactive lanes of a gather read: large enough for the widest access (16 elements of 8 bytes).
#[repr(align(16))]
struct Zeros([u8; 128]);
static ZEROS: Zeros = Zeros([0; 128]);

fn flags() -> clif::MemFlagsData {
    clif::MemFlagsData::new()
        .with_notrap()
        .with_endianness(clif::Endianness::Little)
}

/// How many-lane data lies in memory.
#[derive(Clone, Copy)]
struct Layout {
    lanes: u8,
    /// Elements per lane.
    elements: usize,
    scalar: Scalar,
    /// Bytes from one lane to the next.
    stride: i64,
}

impl Layout {
    fn size(self) -> i64 {
        i64::from(self.scalar.bytes())
    }

    /// Where element `k` of lane `l` is. A program may compute any stride, and run where it overflows.
    fn at(self, l: i64, k: i64) -> i64 {
        l.wrapping_mul(self.stride).wrapping_add(k * self.size())
    }

    /// Lanes lie end to end, as a length that vectors and one smaller access hold.
    fn is_dense(self) -> bool {
        let bytes = self.size() * self.elements as i64 * i64::from(self.lanes);
        self.stride == self.size() * self.elements as i64
            && self.scalar != Scalar::I1
            && (self.elements.is_power_of_two() || self.elements == 3)
            && (self.elements == 1 || bytes >= 8)
            && (bytes % 16 == 0 || (bytes % 16).count_ones() == 1)
    }

    /// The same data with lanes end to end.
    fn side_by_side(self) -> Layout {
        Layout {
            stride: self.size() * self.elements as i64,
            ..self
        }
    }

    /// A lane's elements are exactly one vector.
    fn lane_is_vector(self) -> bool {
        self.elements > 1
            && self.scalar != Scalar::I1
            && self.elements.is_power_of_two()
            && self.size() * self.elements as i64 == 16
            && i64::from(self.lanes) * self.size() >= 16
    }
}

/// An address in every lane: `object + extend(index) * scale`.
struct Indexed {
    object: Value,
    index: Value,
    signed: bool,
    scale: i64,
}

impl Gen<'_> {
    pub fn load(&mut self, mem: &Mem, inst: Inst) {
        let data = &self.func.insts[inst];
        let results = data.results.clone();
        let (address, mask) = (data.args[0], mem.masked.then(|| data.args[1]));
        let ty = self.func.ty(results[0]);
        let layout = Layout {
            lanes: ty.lanes,
            elements: results.len(),
            scalar: ty.scalar,
            stride: mem.stride,
        };
        let reprs = if ty.lanes == 1 {
            self.load_scalars(address, mask, layout)
        } else if self.func.ty(address).lanes == 1 {
            self.load_strided(mem, address, mask, layout)
        } else {
            self.gather(mem, address, mask, layout)
        };
        for (&result, repr) in results.iter().zip(reprs) {
            self.values[result] = repr;
        }
    }

    fn load_scalars(&mut self, address: Value, mask: Option<Value>, layout: Layout) -> Vec<Repr> {
        let address = self.scalar(address);
        let ty = lane_type(layout.scalar);
        let body = |g: &mut Self| -> Vec<clif::Value> {
            (0..layout.elements)
                .map(|k| {
                    g.b.ins()
                        .load(ty, flags(), address, k as i32 * layout.size() as i32)
                })
                .collect()
        };
        let values = match mask {
            None => body(self),
            Some(mask) => {
                let mask = self.scalar(mask);
                self.if_set(mask, &vec![ty; layout.elements], body)
            }
        };
        values.into_iter().map(Repr::Scalar).collect()
    }

    fn load_strided(
        &mut self,
        mem: &Mem,
        address: Value,
        mask: Option<Value>,
        layout: Layout,
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
        let arrays: Vec<_> = (0..layout.elements)
            .map(|_| self.result_array(ty))
            .collect();
        self.for_set_bits(bits, |g, lane| {
            let offset = g.b.ins().imul_imm_s(lane, layout.stride);
            let at = g.b.ins().iadd(base, offset);
            for (k, &array) in arrays.iter().enumerate() {
                let v = g.b.ins().load(
                    lane_type(layout.scalar),
                    flags(),
                    at,
                    k as i32 * layout.size() as i32,
                );
                g.set_result(array, lane, v);
            }
        });
        let some: Vec<clif::BlockArg> = arrays
            .into_iter()
            .flat_map(|array| self.reload(array, ty))
            .map(Into::into)
            .collect();
        self.b.ins().jump(done, &some);
        self.b.switch_to_block(done);
        params
            .chunks(count)
            .map(|parts| self.loaded(parts.into(), ty))
            .collect()
    }

    /// Truth values are bytes in memory.
    fn loaded(&mut self, parts: Parts, ty: Type) -> Repr {
        if ty.scalar != Scalar::I1 {
            return Repr::Vector(parts);
        }
        let zero = self.zero(types::I8X16);
        Repr::Mask(
            8,
            parts
                .iter()
                .map(|&p| self.b.ins().icmp(IntCC::NotEqual, p, zero))
                .collect(),
        )
    }

    /// The parts of each element.
    fn load_strided_parts(&mut self, mem: &Mem, base: clif::Value, layout: Layout) -> Vec<Parts> {
        let size = layout.size();
        if layout.elements == 1 && layout.stride == size {
            return vec![self.load_contiguous(base, layout.scalar, layout.lanes.into())];
        }
        if layout.is_dense() {
            let total = usize::from(layout.lanes) * layout.elements;
            let vectors = self.load_contiguous(base, layout.scalar, total);
            return self.deinterleave(&vectors, layout);
        }
        // Three-component vectors occupy four: the fourth is padding inside the same aligned 16 bytes.
        let padded = Layout {
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
    fn offset(&mut self, base: clif::Value, bytes: i64) -> (clif::Value, i32) {
        match i32::try_from(bytes) {
            Ok(offset) => (base, offset),
            Err(_) => (self.b.ins().iadd_imm_s(base, bytes), 0),
        }
    }

    /// `count` values end to end.
    fn load_contiguous(&mut self, base: clif::Value, scalar: Scalar, count: usize) -> Parts {
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
    fn store_contiguous(
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

    /// Takes apart vectors in which a lane's elements take turns.
    fn deinterleave(&mut self, vectors: &[clif::Value], layout: Layout) -> Vec<Parts> {
        let bits = layout.scalar.bits();
        match layout.elements {
            1 => vec![vectors.into()],
            3 => {
                let lanes = usize::from(layout.lanes);
                (0..3)
                    .map(|k| self.every_third(vectors, k, lanes, bits))
                    .collect()
            }
            n => {
                // A vector without a partner fills half a part with what counts.
                let pair = |c: &[clif::Value]| (c[0], *c.last().expect("not empty"));
                let even: Parts = vectors
                    .chunks(2)
                    .map(pair)
                    .map(|(a, b)| self.even_lanes(a, b, bits))
                    .collect();
                let odd: Parts = vectors
                    .chunks(2)
                    .map(pair)
                    .map(|(a, b)| self.odd_lanes(a, b, bits))
                    .collect();
                let half = Layout {
                    elements: n / 2,
                    ..layout
                };
                let (even, odd) = (
                    self.deinterleave(&even, half),
                    self.deinterleave(&odd, half),
                );
                even.into_iter()
                    .zip(odd)
                    .flat_map(|(e, o)| [e, o])
                    .collect()
            }
        }
    }

    /// Values `k`, `k + 3`, .. of `vectors` laid end to end, for `lanes` lanes.
    fn every_third(&mut self, vectors: &[clif::Value], k: usize, lanes: usize, bits: u32) -> Parts {
        let per = (128 / bits) as usize;
        let mut parts: Parts = smallvec![];
        for start in (0..lanes).step_by(per) {
            // Where each lane of this part comes from: a vector and a lane of it.
            let sources: SmallVec<[(usize, u8); 16]> = (start..start + per)
                .map(|l| 3 * l.min(lanes - 1) + k)
                .map(|i| (i / per, (i % per) as u8))
                .collect();
            let first = sources[0].0;
            let last = sources[per - 1].0;
            let mut part = vectors[first];
            let mut chosen: SmallVec<[u8; 16]> = sources
                .iter()
                .map(|&(v, l)| if v == first { l } else { 0 })
                .collect();
            if first == last {
                parts.push(self.shuffle(part, part, &chosen, bits));
                continue;
            }
            for (v, &vector) in vectors.iter().enumerate().take(last + 1).skip(first + 1) {
                for (lane, &(from, l)) in chosen.iter_mut().zip(&sources) {
                    if from == v {
                        *lane = per as u8 + l;
                    }
                }
                part = self.shuffle(part, vector, &chosen, bits);
                // What has been placed stays where it is.
                chosen = (0..per as u8).collect();
            }
            parts.push(part);
        }
        parts
    }

    /// The inverse of [`Gen::deinterleave`] for a power of two of elements, of `lanes` lanes each.
    fn interleave(&mut self, elements: &[Parts], lanes: usize, bits: u32) -> Parts {
        if let [one] = elements {
            return one.clone();
        }
        let even: Vec<Parts> = elements.iter().step_by(2).cloned().collect();
        let odd: Vec<Parts> = elements.iter().skip(1).step_by(2).cloned().collect();
        let (even, odd) = (
            self.interleave(&even, lanes, bits),
            self.interleave(&odd, lanes, bits),
        );
        let per = (128 / bits) as u8;
        let low: Vec<u8> = (0..per).map(|i| i / 2 + (i % 2) * per).collect();
        let high: Vec<u8> = low.iter().map(|l| l + per / 2).collect();
        let mut parts: Parts = smallvec![];
        for (&e, &o) in even.iter().zip(&odd) {
            parts.push(self.shuffle(e, o, &low, bits));
            parts.push(self.shuffle(e, o, &high, bits));
        }
        parts.truncate((elements.len() * lanes).div_ceil(usize::from(per)));
        parts
    }

    /// The address of a uniform object and an index, in bits that vectors hold many of, times a number of bytes: what many
    /// addresses are made of.
    fn indexed(&self, address: Value) -> Option<Indexed> {
        let inst = |value: Value| self.func.def_inst(value).map(|i| &self.func.insts[i]);
        let sum = inst(address)?;
        let (Op::PtrAdd, &[object, offset]) = (&sum.op, &sum.args[..]) else {
            return None;
        };
        let object = match inst(object) {
            _ if self.func.ty(object).lanes == 1 => object,
            Some(splat) if matches!(splat.op, Op::Splat) => splat.args[0],
            _ => return None,
        };
        let scaled = inst(offset)?;
        let (wide, scale) = match (&scaled.op, &scaled.args[..]) {
            (Op::Binary(BinOp::IMul, _), &[wide, by]) => (wide, self.func.as_const(by)? as i64),
            (Op::Binary(BinOp::Shl, _), &[wide, by]) => {
                (wide, 1i64.wrapping_shl(self.func.as_const(by)? as u32 & 63))
            }
            _ => (offset, 1),
        };
        let extended = inst(wide)?;
        let signed = match extended.op {
            Op::Convert(ConvertOp::ZExt, _) => false,
            Op::Convert(ConvertOp::SExt, _) => true,
            _ => return None,
        };
        let index = extended.args[0];
        let ty = self.func.ty(index);
        let is_vector = ty.lanes > 1 && matches!(ty.scalar, Scalar::I8 | Scalar::I16 | Scalar::I32);
        is_vector.then_some(Indexed {
            object,
            index,
            signed,
            scale,
        })
    }

    /// A lane's address, to be asked for lane after lane. Indexes leave the vector unit 64 bits at a time (`word` has what is
    /// left of them), and addressing modes do the rest.
    fn indexed_address(
        &mut self,
        indexed: &Indexed,
        lane: u8,
        word: &mut Option<clif::Value>,
    ) -> clif::Value {
        let ty = self.func.ty(indexed.index);
        let bits = ty.scalar.bits();
        let per_word = (64 / bits) as u8;
        let now = match *word {
            Some(before) if !lane.is_multiple_of(per_word) => {
                self.b.ins().ushr_imm_u(before, i64::from(bits))
            }
            _ => {
                let part = self.parts(indexed.index)[usize::from(lane / (2 * per_word))];
                let words = self.cast(part, types::I64X2);
                self.b.ins().extractlane(words, lane / per_word % 2)
            }
        };
        *word = Some(now);
        let low = self.b.ins().ireduce(lane_type(ty.scalar), now);
        let index = if indexed.signed {
            self.b.ins().sextend(types::I64, low)
        } else {
            self.b.ins().uextend(types::I64, low)
        };
        let offset = match indexed.scale {
            1 => index,
            scale @ (2 | 4 | 8) => {
                let shift = i64::from(scale.trailing_zeros());
                self.b.ins().ishl_imm_u(index, shift)
            }
            scale => self.b.ins().imul_imm_s(index, scale),
        };
        let object = self.scalar(indexed.object);
        self.b.ins().iadd(object, offset)
    }

    /// Each lane's address as a CLIF scalar; inactive lanes get `elsewhere`.
    fn lane_addresses(
        &mut self,
        address: Value,
        mask: Option<Value>,
        elsewhere: impl FnOnce(&mut Self) -> clif::Value,
    ) -> Vec<clif::Value> {
        if mask.is_none()
            && let Some(indexed) = self.indexed(address)
        {
            let lanes = self.func.ty(address).lanes;
            let mut word = None;
            let at = |lane| self.indexed_address(&indexed, lane, &mut word);
            return (0..lanes).map(at).collect();
        }
        let ty = self.func.ty(address);
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

    /// A gather. Addresses computed from ids alone are often consecutive although no analysis can tell (`t % n`,
    /// clamped neighbours): those are compared at run time, and loaded as vectors when they are.
    fn gather(
        &mut self,
        mem: &Mem,
        address: Value,
        mask: Option<Value>,
        layout: Layout,
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
        let known = self.known.clone();
        for (block, at_once) in [(fast, true), (slow, false)] {
            self.b.switch_to_block(block);
            let parts = if at_once {
                self.load_strided_parts(mem, base, dense)
            } else {
                self.gather_parts(address, mask, layout)
            };
            let parts: Vec<clif::BlockArg> = parts.iter().flatten().map(|&p| p.into()).collect();
            self.b.ins().jump(done, &parts);
            self.known = known.clone();
        }
        self.b.switch_to_block(done);
        params
            .chunks(count)
            .map(|parts| Repr::Vector(parts.into()))
            .collect()
    }

    /// Whether an address follows from ids, constants and uniform values by arithmetic, so that
    /// neighbouring lanes may well have neighbouring addresses. Looks at a bounded number of instructions.
    fn is_computed(&self, address: Value) -> bool {
        let mut todo: SmallVec<[Value; 16]> = smallvec![address];
        let mut seen: SmallVec<[Value; 64]> = smallvec![];
        while let Some(value) = todo.pop() {
            if self.func.ty(value).lanes == 1 || seen.contains(&value) {
                continue;
            }
            seen.push(value);
            let Some(inst) = self.func.def_inst(value) else {
                return false;
            };
            let data = &self.func.insts[inst];
            if seen.len() > 64 || !data.op.is_pure() || matches!(data.op, Op::Routine(..)) {
                return false;
            }
            todo.extend(data.args.iter().copied());
        }
        true
    }

    /// The first lane's address, and whether every lane is active and lane l's is `l * stride` bytes further.
    fn consecutive(
        &mut self,
        address: Value,
        mask: Option<Value>,
        stride: i64,
    ) -> (clif::Value, clif::Value) {
        let key = (address, mask, stride);
        if let Some(&known) = self.known.consecutive.get(&key) {
            return known;
        }
        let found = self.ask_consecutive(address, mask, stride);
        self.known.consecutive.insert(key, found);
        found
    }

    fn ask_consecutive(
        &mut self,
        address: Value,
        mask: Option<Value>,
        stride: i64,
    ) -> (clif::Value, clif::Value) {
        let lanes = self.func.ty(address).lanes;
        let parts = self.parts(address);
        let base = self.b.ins().extractlane(parts[0], 0);
        let first = self.b.ins().splat(types::I64X2, base);
        let offsets: Vec<u64> = (0..i64::from(lanes))
            .map(|l| l.wrapping_mul(stride) as u64)
            .collect();
        let offsets = self.constant_lanes(Type::new(Scalar::I64, lanes), &offsets);
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
        let together = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 3);
        let Some(mask) = mask else {
            return (base, together);
        };
        let active = self.mask_bits(mask);
        let all = self
            .b
            .ins()
            .icmp_imm_u(IntCC::Equal, active, (1i64 << lanes) - 1);
        (base, self.b.ins().band(together, all))
    }

    fn gather_parts(&mut self, address: Value, mask: Option<Value>, layout: Layout) -> Vec<Parts> {
        let zeros = std::ptr::from_ref(&ZEROS.0) as u64;
        let addresses = self.lane_addresses(address, mask, |g| {
            g.b.ins().iconst(types::I64, zeros as i64)
        });
        let ty = Type::new(layout.scalar, layout.lanes);
        if layout.lane_is_vector() {
            let vectors: Parts = addresses
                .iter()
                .map(|&at| self.b.ins().load(part_type(layout.scalar), flags(), at, 0))
                .collect();
            return self.deinterleave(&vectors, layout);
        }
        (0..layout.elements)
            .map(|k| {
                let offset = k as i32 * layout.size() as i32;
                let lanes: Vec<clif::Value> = addresses
                    .iter()
                    .map(|&at| {
                        self.b
                            .ins()
                            .load(lane_type(layout.scalar), flags(), at, offset)
                    })
                    .collect();
                self.vector_of(ty, &lanes)
            })
            .collect()
    }

    pub fn store(&mut self, mem: &Mem, args: &[Value]) {
        let (mask, args) = if mem.masked {
            let (mask, rest) = args.split_last().expect("a mask");
            (Some(*mask), rest)
        } else {
            (None, args)
        };
        let (address, values) = (args[0], &args[1..]);
        let scalar = self.func.ty(values[0]).scalar;
        let lanes = args
            .iter()
            .map(|&v| self.func.ty(v).lanes)
            .max()
            .expect("an address");
        let layout = Layout {
            lanes,
            elements: values.len(),
            scalar,
            stride: mem.stride,
        };
        if lanes == 1 {
            self.store_scalars(address, values, mask, layout);
        } else if self.func.ty(address).lanes == 1 && mem.stride != 0 {
            self.store_strided(address, values, mask, layout);
        } else {
            self.scatter(address, values, mask, layout);
        }
    }

    fn store_scalars(
        &mut self,
        address: Value,
        values: &[Value],
        mask: Option<Value>,
        layout: Layout,
    ) {
        let address = self.scalar(address);
        let values: Vec<clif::Value> = values.iter().map(|&v| self.scalar(v)).collect();
        let body = |g: &mut Self| {
            for (k, &v) in values.iter().enumerate() {
                g.b.ins()
                    .store(flags(), v, address, k as i32 * layout.size() as i32);
            }
            Vec::new()
        };
        match mask {
            None => drop(body(self)),
            Some(mask) => {
                let mask = self.scalar(mask);
                self.if_set(mask, &[], body);
            }
        }
    }

    /// The parts of a value as it is stored: truth values as bytes of 0 and 1, scalars in every lane.
    fn stored_parts(&mut self, value: Value, lanes: u8) -> Parts {
        if self.func.ty(value).scalar == Scalar::I1 && self.func.ty(value).lanes > 1 {
            let one = self.b.ins().iconst(types::I8, 1);
            let ones = self.b.ins().splat(types::I8X16, one);
            let mask = self.mask(value, 8);
            return mask.iter().map(|&m| self.b.ins().band(m, ones)).collect();
        }
        match self.splat_if_scalar(value, lanes) {
            Repr::Vector(parts) => parts,
            other => unreachable!("{value} is {other:?}"),
        }
    }

    fn store_strided(
        &mut self,
        address: Value,
        values: &[Value],
        mask: Option<Value>,
        layout: Layout,
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
        let known = self.known.clone();
        self.b.ins().brif(full, fast, &[], slow, &[]);
        self.b.switch_to_block(fast);
        self.store_strided_parts(base, &parts, layout);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(slow);
        let operands: Vec<LaneOperand> = values.iter().map(|&v| self.spill(v)).collect();
        self.for_set_bits(bits, |g, lane| {
            let offset = g.b.ins().imul_imm_s(lane, layout.stride);
            let at = g.b.ins().iadd(base, offset);
            for (k, &operand) in operands.iter().enumerate() {
                let v = g.operand(operand, lane);
                g.b.ins()
                    .store(flags(), v, at, k as i32 * layout.size() as i32);
            }
        });
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
        self.known = known;
    }

    fn store_strided_parts(&mut self, base: clif::Value, values: &[Parts], layout: Layout) {
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

    fn scatter(&mut self, address: Value, values: &[Value], mask: Option<Value>, layout: Layout) {
        let parts: Vec<Parts> = values
            .iter()
            .map(|&v| self.stored_parts(v, layout.lanes))
            .collect();
        if self.func.ty(address).lanes == 1 {
            // Every active lane stores to one address; the highest is last.
            let at = self.scalar(address);
            let operands: Vec<LaneOperand> = values.iter().map(|&v| self.spill(v)).collect();
            let bits = self.active_bits(mask, layout.lanes);
            self.for_set_bits(bits, |g, lane| {
                for (k, &operand) in operands.iter().enumerate() {
                    let v = g.operand(operand, lane);
                    g.b.ins()
                        .store(flags(), v, at, k as i32 * layout.size() as i32);
                }
            });
            return;
        }
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
        let known = self.known.clone();
        self.b.switch_to_block(fast);
        self.store_strided_parts(base, &parts, dense);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(slow);
        self.scatter_parts(address, &parts, mask, layout);
        self.known = known;
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    fn scatter_parts(
        &mut self,
        address: Value,
        parts: &[Parts],
        mask: Option<Value>,
        layout: Layout,
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

    /// Copies `size` bytes for each active lane.
    pub fn mem_copy(&mut self, to: Value, from: Value, size: clif::Value, mask: Option<Value>) {
        let lanes = self.func.ty(to).lanes.max(self.func.ty(from).lanes);
        let (to, from) = (self.spill(to), self.spill(from));
        let bits = self.active_bits(mask, lanes);
        self.for_set_bits(bits, |g, lane| {
            let (to, from) = (g.operand(to, lane), g.operand(from, lane));
            g.call(libc_memmove(), &[to, from, size], Some(types::I64));
        });
    }

    /// As [`Gen::mem_copy`], with a size for each lane.
    pub fn mem_copy_dyn(&mut self, to: Value, from: Value, size: Value, mask: Option<Value>) {
        let lanes = [to, from, size]
            .iter()
            .map(|&v| self.func.ty(v).lanes)
            .max()
            .expect("operands");
        let (to, from, size) = (self.spill(to), self.spill(from), self.spill(size));
        let bits = self.active_bits(mask, lanes);
        self.for_set_bits(bits, |g, lane| {
            let (to, from, size) = (
                g.operand(to, lane),
                g.operand(from, lane),
                g.operand(size, lane),
            );
            g.call(libc_memmove(), &[to, from, size], Some(types::I64));
        });
    }

    /// An atomic, lane by lane in order. `f` gets one lane's operands (without the mask).
    pub fn atomic(
        &mut self,
        inst: Inst,
        masked: bool,
        mut f: impl FnMut(&mut Self, &[clif::Value]) -> Option<clif::Value>,
    ) -> Repr {
        let data = &self.func.insts[inst];
        let (mask, args) = if masked {
            let (mask, rest) = data.args.split_last().expect("a mask");
            (Some(*mask), rest)
        } else {
            (None, data.args.as_slice())
        };
        let result = data.results.first().map(|&r| self.func.ty(r));
        let lanes = args
            .iter()
            .chain(&data.results)
            .map(|&v| self.func.ty(v).lanes)
            .max()
            .expect("operands");
        if lanes == 1 {
            let args: Vec<clif::Value> = args.iter().map(|&a| self.scalar(a)).collect();
            return match (mask, result) {
                (None, _) => f(self, &args).map_or(Repr::None, Repr::Scalar),
                (Some(mask), _) => {
                    let mask = self.scalar(mask);
                    let ty: Vec<clif::Type> =
                        result.iter().map(|ty| lane_type(ty.scalar)).collect();
                    let values = self.if_set(mask, &ty, |g| f(g, &args).into_iter().collect());
                    values.first().map_or(Repr::None, |&v| Repr::Scalar(v))
                }
            };
        }
        if mask.is_none() && lanes <= 8 {
            let (&address, operands) = args.split_first().expect("an address");
            let indexed = self.indexed(address);
            let mut word = None;
            let mut values: Vec<clif::Value> = Vec::new();
            for l in 0..lanes {
                let at = match &indexed {
                    Some(indexed) => self.indexed_address(indexed, l, &mut word),
                    None => self.lane(address, l),
                };
                let operands = operands.iter().map(|&a| self.lane(a, l));
                let args: Vec<clif::Value> = [at].into_iter().chain(operands).collect();
                values.extend(f(self, &args));
            }
            // A result that nobody uses is not put together, so that an operation can be one instruction on memory.
            return match result {
                Some(ty) if self.used[data.results[0]] => Repr::Vector(self.vector_of(ty, &values)),
                _ => Repr::None,
            };
        }
        let operands: Vec<LaneOperand> = args.iter().map(|&a| self.spill(a)).collect();
        let array = result.map(|ty| self.result_array(ty));
        let bits = self.active_bits(mask, lanes);
        self.for_set_bits(bits, |g, lane| {
            let args: Vec<clif::Value> = operands.iter().map(|&o| g.operand(o, lane)).collect();
            if let (Some(value), Some(array)) = (f(g, &args), array) {
                g.set_result(array, lane, value);
            }
        });
        match (array, result) {
            (Some(array), Some(ty)) => Repr::Vector(self.reload(array, ty)),
            _ => Repr::None,
        }
    }

    pub fn atomic_rmw(
        &mut self,
        op: AtomicOp,
        atomic: &Atomic,
        ty: Type,
        args: &[clif::Value],
    ) -> Option<clif::Value> {
        let (address, value) = (args[0], args[1]);
        let clif_ty = lane_type(ty.scalar);
        // A work-group runs on one thread, which alone touches its memory.
        if matches!(atomic.space, AddressSpace::Local | AddressSpace::Private) {
            let old = self.b.ins().load(clif_ty, flags(), address, 0);
            let new = self.combine(op, ty.scalar, old, value);
            self.b.ins().store(flags(), new, address, 0);
            return Some(old);
        }
        let native = match op {
            AtomicOp::Exchange => Some(clif::AtomicRmwOp::Xchg),
            AtomicOp::Add => Some(clif::AtomicRmwOp::Add),
            AtomicOp::Sub => Some(clif::AtomicRmwOp::Sub),
            AtomicOp::And => Some(clif::AtomicRmwOp::And),
            AtomicOp::Or => Some(clif::AtomicRmwOp::Or),
            AtomicOp::Xor => Some(clif::AtomicRmwOp::Xor),
            AtomicOp::SMin => Some(clif::AtomicRmwOp::Smin),
            AtomicOp::SMax => Some(clif::AtomicRmwOp::Smax),
            AtomicOp::UMin => Some(clif::AtomicRmwOp::Umin),
            AtomicOp::UMax => Some(clif::AtomicRmwOp::Umax),
            AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => None,
        };
        let int = lane_type(ty.scalar.as_int());
        if let Some(native) = native {
            let value = self.reinterpret(value, int);
            let old = self
                .b
                .ins()
                .atomic_rmw(int, flags(), native, address, value);
            return Some(self.reinterpret(old, clif_ty));
        }
        // Compare-and-swap until nobody came between.
        let (again, done) = (self.b.create_block(), self.b.create_block());
        let seen = self.b.append_block_param(again, int);
        let first = self.b.ins().atomic_load(int, flags(), address);
        self.b.ins().jump(again, &[first.into()]);
        self.b.switch_to_block(again);
        let old = self.reinterpret(seen, clif_ty);
        let new = self.combine(op, ty.scalar, old, value);
        let new = self.reinterpret(new, int);
        let found = self.b.ins().atomic_cas(flags(), address, seen, new);
        let same = self.b.ins().icmp(IntCC::Equal, found, seen);
        self.b.ins().brif(same, done, &[], again, &[found.into()]);
        self.b.switch_to_block(done);
        Some(old)
    }

    /// The value an atomic operation stores.
    fn combine(
        &mut self,
        op: AtomicOp,
        scalar: Scalar,
        old: clif::Value,
        value: clif::Value,
    ) -> clif::Value {
        let op = match op {
            AtomicOp::Exchange => return value,
            AtomicOp::Add => BinOp::IAdd,
            AtomicOp::Sub => BinOp::ISub,
            AtomicOp::And => BinOp::And,
            AtomicOp::Or => BinOp::Or,
            AtomicOp::Xor => BinOp::Xor,
            AtomicOp::SMin => BinOp::SMin,
            AtomicOp::SMax => BinOp::SMax,
            AtomicOp::UMin => BinOp::UMin,
            AtomicOp::UMax => BinOp::UMax,
            AtomicOp::FAdd => BinOp::FAdd,
            AtomicOp::FMin => BinOp::FMin,
            AtomicOp::FMax => BinOp::FMax,
        };
        self.scalar_binary(op, scalar, old, value)
    }

    fn reinterpret(&mut self, v: clif::Value, to: clif::Type) -> clif::Value {
        if self.b.func.dfg.value_type(v) == to {
            v
        } else {
            self.b.ins().bitcast(to, clif::MemFlagsData::new(), v)
        }
    }

    pub fn atomic_cmpxchg(&mut self, atomic: &Atomic, args: &[clif::Value]) -> Option<clif::Value> {
        let (address, expected, desired) = (args[0], args[1], args[2]);
        if matches!(atomic.space, AddressSpace::Local | AddressSpace::Private) {
            let ty = self.b.func.dfg.value_type(expected);
            let old = self.b.ins().load(ty, flags(), address, 0);
            let same = self.b.ins().icmp(IntCC::Equal, old, expected);
            let new = self.b.ins().select(same, desired, old);
            self.b.ins().store(flags(), new, address, 0);
            return Some(old);
        }
        Some(self.b.ins().atomic_cas(flags(), address, expected, desired))
    }

    pub fn atomic_load(&mut self, ty: Type, args: &[clif::Value]) -> Option<clif::Value> {
        let int = lane_type(ty.scalar.as_int());
        let value = self.b.ins().atomic_load(int, flags(), args[0]);
        Some(self.reinterpret(value, lane_type(ty.scalar)))
    }

    pub fn atomic_store(&mut self, atomic: &Atomic, args: &[clif::Value]) -> Option<clif::Value> {
        let (address, value) = (args[0], args[1]);
        let ty = self.b.func.dfg.value_type(value);
        let int = clif::Type::int(ty.bits() as u16).expect("an integer as wide");
        let value = self.reinterpret(value, int);
        // On x86 every store releases; only sequential consistency needs the fence that an atomic store has.
        if self.x86 && atomic.order != Order::SeqCst {
            self.b.ins().store(flags(), value, address, 0);
        } else {
            self.b.ins().atomic_store(flags(), value, address);
        }
        None
    }
}

/// `void *memmove(void *to, const void *from, size_t bytes)`
extern "C" fn move_bytes(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    // SAFETY: generated code passes the kernel's own pointers; that they are valid for `bytes` is the
    // kernel's obligation, as for every access it makes.
    unsafe { std::ptr::copy(from, to, bytes) };
    to
}

fn libc_memmove() -> usize {
    move_bytes as *const () as usize
}
