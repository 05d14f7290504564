//! From vectors as they lie in memory, in which a lane's elements take turns, to one for each
//! element, and back.

use cranelift_codegen::ir as clif;
use smallvec::{SmallVec, smallvec};

use super::super::parts::{Parts, Repr};
use super::super::values::Gen;
use super::LaneLayout;
use crate::ir::{Inst, Op};

impl Gen<'_> {
    /// [`Op::Deinterleave`] and [`Op::Interleave`].
    pub fn turned(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        let (count, ty) = (data.args.len(), self.func.ty(data.args[0]));
        let lanes = usize::from(ty.lanes);
        let layout = LaneLayout {
            lanes: ty.lanes,
            elements: count,
            scalar: ty.scalar,
            stride: i64::from(ty.scalar.bytes()) * count as i64,
        };
        let is_deinterleaved = data.op == Op::Deinterleave;
        let has_shuffles = count.is_power_of_two() || count == 3 && is_deinterleaved;
        let results: Vec<Repr> =
            if has_shuffles && (u32::from(ty.lanes) * ty.scalar.bits()).is_multiple_of(128) {
                let operands: Vec<Parts> = data
                    .args
                    .iter()
                    .map(|&arg| match self.splat_if_scalar(arg, ty.lanes) {
                        Repr::Vector(parts) => parts,
                        other => unreachable!("{arg} is {other:?}"),
                    })
                    .collect();
                let parts = if is_deinterleaved {
                    let vectors: Vec<clif::Value> = operands.into_iter().flatten().collect();
                    self.deinterleave(&vectors, layout)
                } else {
                    let vectors = self.interleave(&operands, lanes, ty.scalar.bits());
                    let parts = vectors.chunks(vectors.len() / count);
                    parts.map(Parts::from_slice).collect()
                };
                parts.into_iter().map(Repr::Vector).collect()
            } else {
                let all: Vec<clif::Value> = (0..count * lanes)
                    .map(|at| self.lane(data.args[at / lanes], (at % lanes) as u8))
                    .collect();
                // Where a result's lane is among all.
                let place = |result: usize, lane: usize| match is_deinterleaved {
                    true => lane * count + result,
                    false => {
                        let at = result * lanes + lane;
                        at % count * lanes + at / count
                    }
                };
                (0..count)
                    .map(|n| {
                        let lanes: Vec<clif::Value> =
                            (0..lanes).map(|lane| all[place(n, lane)]).collect();
                        self.build(ty, &lanes)
                    })
                    .collect()
            };
        for (&result, repr) in data.results.iter().zip(results) {
            self.values[result] = repr;
        }
    }

    /// Takes apart vectors in which a lane's elements take turns.
    pub(super) fn deinterleave(
        &mut self,
        vectors: &[clif::Value],
        layout: LaneLayout,
    ) -> Vec<Parts> {
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
                let half = LaneLayout {
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
    pub(super) fn every_third(
        &mut self,
        vectors: &[clif::Value],
        k: usize,
        lanes: usize,
        bits: u32,
    ) -> Parts {
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
    pub(super) fn interleave(&mut self, elements: &[Parts], lanes: usize, bits: u32) -> Parts {
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
}
