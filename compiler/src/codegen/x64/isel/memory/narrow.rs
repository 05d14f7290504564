//! Lanes of 8 and 16 bits at one address and a distance, where there is no masked access of them:
//! as vectors of 128 bits, or of what there is, if all lanes are active, one by one if not.
//!
//! Loads take what lies between lanes, too: as it is shorter than a vector, it is on a page of one
//! of them.

use regalloc2::VReg;
use smallvec::SmallVec;

use super::super::values::Parts;
use super::super::{Isel, Result};
use super::Access;
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::codegen::x64::inst::{self, Amode};
use crate::codegen::x64::vcode::Target;
use crate::ir::{Scalar, Value};

/// Bytes of a vector.
const VECTOR: usize = 16;

/// The bytes from the first lane's first to the last one's last.
#[derive(Clone, Copy)]
struct Span {
    access: Access,
    /// Elements from one lane to the next.
    step: usize,
    bytes: usize,
    /// Bytes that are loaded or stored at once.
    chunk: usize,
}

impl Span {
    fn of(access: Access) -> Option<Span> {
        let size = access.size();
        let step = usize::try_from(access.stride / size).ok()?;
        let of_lane = step * size as usize;
        // So each vector has elements of two lanes.
        let is_close = step >= access.elements && of_lane <= VECTOR / 2;
        if access.stride % size != 0 || !is_close {
            return None;
        }
        let between = usize::from(access.ty.lanes) - 1;
        let bytes = between * of_lane + access.elements * size as usize;
        let chunk = [VECTOR, 8, 4].into_iter().find(|&chunk| chunk <= bytes)?;
        Some(Span {
            access,
            step,
            bytes,
            chunk,
        })
    }

    /// Whether nothing lies between lanes.
    fn is_dense(self) -> bool {
        self.step == self.access.elements
    }

    /// Whether lanes are taken apart and put together half by half.
    fn is_by_halves(self) -> bool {
        let has_whole = self.bytes == self.chunk || self.bytes.is_multiple_of(VECTOR);
        self.is_dense() && self.step.is_power_of_two() && has_whole
    }

    /// Where each chunk begins. The last one ends where the span does.
    fn offsets(self) -> impl Iterator<Item = usize> {
        (0..self.bytes)
            .step_by(self.chunk)
            .map(move |offset| offset.min(self.bytes - self.chunk))
    }

    /// The chunk that has an element of a lane, and its number there.
    fn place(self, lane: usize, element: usize) -> (usize, u8) {
        let size = self.access.size() as usize;
        let byte = (lane * self.step + element) * size;
        let chunk = byte / self.chunk;
        let first = (chunk * self.chunk).min(self.bytes - self.chunk);
        (chunk, ((byte - first) / size) as u8)
    }
}

/// The instructions that interleave the low and the high halves of two vectors, in so many bytes.
fn unpack(bytes: usize) -> [Opcode; 2] {
    match bytes {
        1 => [Opcode::Vpunpcklbw, Opcode::Vpunpckhbw],
        2 => [Opcode::Vpunpcklwd, Opcode::Vpunpckhwd],
        4 => [Opcode::Vpunpckldq, Opcode::Vpunpckhdq],
        _ => [Opcode::Vpunpcklqdq, Opcode::Vpunpckhqdq],
    }
}

impl Isel<'_> {
    /// Whether an access is this file's: of narrow lanes, and not of whole vectors.
    pub(super) fn is_narrow(&self, mask: Option<Value>, access: Access) -> bool {
        let size = access.size();
        let bytes = usize::from(access.ty.lanes) * size as usize;
        let is_whole = mask.is_none() && access.stride == size && bytes >= VECTOR;
        size < 4 && !self.target.masked_memory && !is_whole
    }

    pub(super) fn load_narrow(
        &mut self,
        base: Amode,
        mask: Option<Value>,
        access: Access,
    ) -> Result<Vec<Parts>> {
        let Some(span) = Span::of(access) else {
            return self.load_each_strided(base, mask, access);
        };
        let Some(active) = mask else {
            return Ok(self.load_span(base, span));
        };
        let all = self.all_active(active)?;
        let [whole, some, done] = std::array::from_fn(|_| self.m.new_block());
        self.m
            .branch(all, Self::plain_target(whole), Self::plain_target(some));
        self.m.switch_to(whole);
        let vectors = self.load_span(base, span);
        self.jump_with(done, &vectors);
        self.m.switch_to(some);
        let vectors = self.load_each_strided(base, mask, access)?;
        self.jump_with(done, &vectors);
        self.m.switch_to(done);
        let results = vectors.iter().map(|parts| {
            let params = parts.iter().map(|_| self.m.add_param(done, inst::VECTOR));
            params.collect()
        });
        Ok(results.collect())
    }

    fn jump_with(&mut self, block: regalloc2::Block, vectors: &[Parts]) {
        let args: SmallVec<[VReg; 4]> = vectors.iter().flatten().copied().collect();
        self.m.jump(Target { block, args });
    }

    pub(super) fn store_narrow(
        &mut self,
        base: Amode,
        values: &[Parts],
        mask: Option<Value>,
        access: Access,
    ) -> Result<()> {
        let Some(span) = Span::of(access).filter(|span| span.is_dense()) else {
            return self.store_each_strided(base, values, mask, access);
        };
        let Some(active) = mask else {
            self.store_span(base, values, span);
            return Ok(());
        };
        let all = self.all_active(active)?;
        let [whole, some, done] = std::array::from_fn(|_| self.m.new_block());
        self.m
            .branch(all, Self::plain_target(whole), Self::plain_target(some));
        self.m.switch_to(whole);
        self.store_span(base, values, span);
        self.m.jump(Self::plain_target(done));
        self.m.switch_to(some);
        self.store_each_strided(base, values, mask, access)?;
        self.m.jump(Self::plain_target(done));
        self.m.switch_to(done);
        Ok(())
    }

    /// Whether every lane is active, as flags.
    fn all_active(&mut self, mask: Value) -> Result<Cc> {
        match self.func.ty(mask).lanes {
            1 => {
                let bit = self.scalar(mask)?;
                self.test(Opcode::Test, Size::B8, bit, bit);
                Ok(Cc::Ne)
            }
            _ => self.test_all(mask),
        }
    }

    fn load_span(&mut self, base: Amode, span: Span) -> Vec<Parts> {
        let load = match span.chunk {
            4 => Opcode::Vmovss,
            8 => Opcode::Vmovsd,
            _ => Opcode::Vmovdqu64,
        };
        let vectors: Parts = span
            .offsets()
            .map(|offset| {
                let at = self.further(base, offset as i64);
                self.rm(load, Size::V128, at)
            })
            .collect();
        let Span { access, step, .. } = span;
        let shape = self.shape(access.ty);
        if span.is_by_halves() {
            let together = shape.size.bytes() as usize / VECTOR;
            let elements = self.deinterleaved(&vectors, access.ty.scalar, step);
            let joined = elements.iter().map(|vectors| {
                let parts = vectors.chunks(together);
                parts.map(|vectors| self.join(vectors, 16)).collect()
            });
            return joined.collect();
        }
        let lanes = usize::from(shape.lanes);
        let part = |isel: &mut Self, element: usize, part: usize| {
            let wanted: Vec<Option<(VReg, u8)>> = (part * lanes..(part + 1) * lanes)
                .map(|lane| {
                    let (vector, number) = span.place(lane, element);
                    Some((vectors[vector], number))
                })
                .collect();
            isel.collect_lanes(&wanted, access.ty.scalar, shape.size)
        };
        (0..access.elements)
            .map(|element| {
                let parts = 0..shape.count;
                parts.map(|n| part(self, element, n)).collect()
            })
            .collect()
    }

    /// The elements of lanes of `step` elements each, a power of two: within each vector those of
    /// the same number are put together, and then with those of the others.
    fn deinterleaved(&mut self, vectors: &Parts, scalar: Scalar, step: usize) -> Vec<Parts> {
        let lanes = VECTOR / scalar.bytes() as usize;
        let order: Vec<Option<u8>> = (0..lanes)
            .map(|n| Some((n % (lanes / step) * step + n / (lanes / step)) as u8))
            .collect();
        let mut groups: Vec<Parts> = vec![
            vectors
                .iter()
                .map(|&v| self.permuted(v, &order, scalar, Size::V128))
                .collect(),
        ];
        let mut bytes = VECTOR / step;
        while groups.len() < step {
            let halves = groups.iter().flat_map(|vectors| {
                unpack(bytes).map(|opcode| {
                    let pairs = vectors.chunks(2);
                    pairs
                        .map(|pair| {
                            let last = *pair.last().expect("not empty");
                            self.rvm(opcode, Size::V128, pair[0], last)
                        })
                        .collect()
                })
            });
            groups = halves.collect();
            bytes *= 2;
        }
        groups
    }

    fn store_span(&mut self, base: Amode, values: &[Parts], span: Span) {
        let access = span.access;
        let vectors: Parts = match span.is_by_halves() {
            true => self.interleaved(values, access),
            false => self.collected(values, span),
        };
        let store = match span.chunk {
            4 => Opcode::VmovssStore,
            8 => Opcode::VmovsdStore,
            _ => Opcode::Vmovdqu64Store,
        };
        for (offset, vector) in span.offsets().zip(vectors) {
            let at = self.further(base, offset as i64);
            self.mr(store, Size::V128, at, vector);
        }
    }

    /// Vectors of the elements of all lanes, of which each has a power of two.
    fn interleaved(&mut self, values: &[Parts], access: Access) -> Parts {
        let halves = self.shape(access.ty).size.bytes() / VECTOR as u32;
        let mut groups: Vec<Parts> = values
            .iter()
            .map(|parts| {
                let halves = parts
                    .iter()
                    .flat_map(|&part| (0..halves).map(move |half| (part, half)));
                halves
                    .map(|(part, half)| self.piece(part, half * VECTOR as u32))
                    .collect()
            })
            .collect();
        let mut bytes = access.ty.scalar.bytes() as usize;
        while groups.len() > 1 {
            let pairs = groups.chunks(2).map(|pair| {
                let vectors = pair[0].iter().zip(&pair[1]);
                vectors
                    .flat_map(|(&a, &b)| {
                        unpack(bytes).map(|opcode| self.rvm(opcode, Size::V128, a, b))
                    })
                    .collect()
            });
            groups = pairs.collect();
            bytes *= 2;
        }
        groups.swap_remove(0)
    }

    /// Vectors of the elements of all lanes.
    fn collected(&mut self, values: &[Parts], span: Span) -> Parts {
        let access = span.access;
        let lanes = usize::from(self.shape(access.ty).lanes);
        let size = access.size() as usize;
        span.offsets()
            .map(|offset| {
                let first = offset / size;
                let wanted: Vec<Option<(VReg, u8)>> = (first..first + span.chunk / size)
                    .map(|n| {
                        let (lane, element) = (n / span.step, n % span.step);
                        let part = values[element][lane / lanes];
                        Some((part, (lane % lanes) as u8))
                    })
                    .collect();
                self.collect_lanes(&wanted, access.ty.scalar, Size::V128)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Access, Span};
    use crate::ir::{Scalar, Type};

    /// Checks the chunks of a span.
    fn check(span: Span) {
        let Span { access, bytes, .. } = span;
        let size = access.size() as usize;
        let offsets: Vec<usize> = span.offsets().collect();
        let ends = offsets.iter().map(|offset| offset + span.chunk);
        assert_eq!(ends.max(), Some(bytes), "{access:?}: none reaches beyond");
        for lane in 0..usize::from(access.ty.lanes) {
            for element in 0..access.elements {
                let (chunk, number) = span.place(lane, element);
                let found = offsets[chunk] + usize::from(number) * size;
                let byte = lane * access.stride as usize + element * size;
                assert_eq!(found, byte, "{access:?}, element {element} of lane {lane}");
                assert!((usize::from(number) + 1) * size <= span.chunk);
            }
        }
    }

    #[test]
    fn every_element_is_in_a_chunk_and_no_chunk_is_outside() {
        let mut spans = 0;
        for scalar in [Scalar::I8, Scalar::I16] {
            for (lanes, elements) in [2u8, 4, 8, 16, 32]
                .into_iter()
                .flat_map(|lanes| (1..=8).map(move |elements| (lanes, elements)))
            {
                for step in elements..=8 {
                    let span = Span::of(Access {
                        ty: Type::new(scalar, lanes),
                        elements,
                        stride: i64::from(scalar.bytes()) * step as i64,
                        align: 1,
                    });
                    spans += span.map(check).map_or(0, |()| 1);
                }
            }
        }
        assert!(spans > 100, "{spans} of them");
    }
}
