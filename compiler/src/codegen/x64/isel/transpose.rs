//! From vectors in which the elements of lanes take turns, as they lie in memory, to a vector for
//! each element, and back: in lanes of 32 and 64 bits.
//!
//! Instructions that combine two vectors do so within 128 bits, so what moves is *pieces* of that
//! size. Those of lanes that are half a vector apart, or a quarter, are joined; then lanes and
//! elements change places within each piece of the vectors at once. Lanes moved one source at a
//! time would take about as many instructions for each element as this takes for all.

use regalloc2::VReg;
use smallvec::{SmallVec, smallvec};

use super::values::{Parts, Repr, Shape};
use super::{Isel, Result};
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::ir::{Inst, Op, Scalar};

/// Bytes of a piece.
pub const PIECE: usize = 16;

/// What changes places: the elements of as many lanes as a register has.
#[derive(Clone, Copy, Debug)]
pub struct Transpose {
    /// Of each lane, a power of two, at least two.
    pub elements: usize,
    size: Size,
    /// Lanes of a piece: two or four.
    lanes: usize,
}

impl Transpose {
    /// For values with this layout, if it is one of those that there are instructions for.
    pub fn of(scalar: Scalar, shape: Shape, elements: usize) -> Option<Transpose> {
        let bytes = scalar.bytes();
        let is_full = u32::from(shape.lanes) * bytes == shape.size.bytes();
        let fits = bytes >= 4 && is_full;
        (fits && elements > 1 && elements.is_power_of_two()).then_some(Transpose {
            elements,
            size: shape.size,
            lanes: PIECE / bytes as usize,
        })
    }

    /// Pieces of a register: one, two or four.
    fn quarters(self) -> usize {
        self.size.bytes() as usize / PIECE
    }

    /// Vectors whose lanes change places at once.
    fn vectors(self) -> usize {
        self.elements.min(self.lanes)
    }

    /// How often that is done for all elements.
    fn blocks(self) -> usize {
        self.elements / self.vectors()
    }

    /// The piece of memory that is one piece of a vector of a block.
    fn piece(self, block: usize, vector: usize, quarter: usize) -> usize {
        (quarter * self.vectors() + vector) * self.blocks() + block
    }

    /// The block, vector and place in it of a piece: the inverse of [`Transpose::piece`].
    fn place(self, piece: usize) -> (usize, usize, usize) {
        let (row, block) = (piece / self.blocks(), piece % self.blocks());
        (block, row % self.vectors(), row / self.vectors())
    }
}

impl Isel<'_> {
    /// The elements of a register's lanes. `joined` gives a vector of the pieces with these
    /// numbers.
    pub fn transposed(
        &mut self,
        how: Transpose,
        mut joined: impl FnMut(&mut Self, &[usize]) -> VReg,
    ) -> Vec<VReg> {
        let mut columns = Vec::with_capacity(how.elements);
        for block in 0..how.blocks() {
            let rows: SmallVec<[VReg; 4]> = (0..how.vectors())
                .map(|vector| {
                    let pieces: SmallVec<[usize; 4]> = (0..how.quarters())
                        .map(|quarter| how.piece(block, vector, quarter))
                        .collect();
                    joined(self, &pieces)
                })
                .collect();
            columns.extend(self.columns(how, &rows));
        }
        columns
    }

    /// [`Op::Deinterleave`] and [`Op::Interleave`].
    pub fn turned(&mut self, inst: Inst) -> Result<()> {
        let data = &self.func.insts[inst];
        let ty = self.func.ty(data.args[0]);
        let shape = self.shape(ty);
        let count = data.args.len();
        let operands: Vec<Parts> = data
            .args
            .iter()
            .map(|&arg| self.parts(arg))
            .collect::<Result<_>>()?;
        let how = Transpose::of(ty.scalar, shape, count).filter(|_| !self.is_avx512());
        let lanes = usize::from(shape.lanes);
        let results: Vec<Parts> = if data.op == Op::Deinterleave {
            let vectors: Vec<VReg> = operands.into_iter().flatten().collect();
            let mut results = vec![Parts::new(); count];
            for (part, of_part) in vectors.chunks(count).enumerate() {
                let columns = match how {
                    Some(how) => self.deinterleaved_part(how, of_part),
                    None => (0..count)
                        .map(|element| {
                            let first = part * lanes;
                            self.picked(shape, ty.scalar, |lane| {
                                let at = (first + lane) * count + element;
                                (vectors[at / lanes], at % lanes)
                            })
                        })
                        .collect(),
                };
                for (parts, column) in results.iter_mut().zip(columns) {
                    parts.push(column);
                }
            }
            results
        } else {
            let mut vectors: Vec<VReg> = Vec::with_capacity(count * shape.count);
            for part in 0..shape.count {
                let columns: Vec<VReg> = operands.iter().map(|parts| parts[part]).collect();
                vectors.extend(match how {
                    Some(how) => self.interleaved_part(how, &columns),
                    None => (0..count)
                        .map(|n| {
                            self.picked(shape, ty.scalar, |lane| {
                                let at = n * lanes + lane;
                                (columns[at % count], at / count)
                            })
                        })
                        .collect(),
                });
            }
            vectors.chunks(shape.count).map(Parts::from_slice).collect()
        };
        for (&result, parts) in data.results.iter().zip(results) {
            self.values[result] = Repr::Vector(parts);
        }
        Ok(())
    }

    /// A vector of lanes of several.
    fn picked(
        &mut self,
        shape: Shape,
        scalar: Scalar,
        from: impl Fn(usize) -> (VReg, usize),
    ) -> VReg {
        let lanes = (0..usize::from(shape.lanes)).map(|lane| {
            let (vector, number) = from(lane);
            Some((vector, number as u8))
        });
        let lanes: Vec<Option<(VReg, u8)>> = lanes.collect();
        self.collect_lanes(&lanes, scalar, shape.size)
    }

    /// The elements of a register's lanes, of as many vectors in which they take turns.
    pub fn deinterleaved_part(&mut self, how: Transpose, vectors: &[VReg]) -> Vec<VReg> {
        debug_assert!(!self.is_avx512(), "whose permutations do it");
        self.transposed(how, |isel, pieces| match *pieces {
            [low, high] => isel.halves((vectors[low / 2], low % 2), (vectors[high / 2], high % 2)),
            _ => vectors[pieces[0]],
        })
    }

    /// The pieces of the elements of a register's lanes, in which they take turns: each a vector
    /// and where it is there.
    pub fn interleaved_pieces(&mut self, how: Transpose, elements: &[VReg]) -> Vec<(VReg, usize)> {
        let blocks: Vec<SmallVec<[VReg; 4]>> = elements
            .chunks(how.vectors())
            .map(|columns| self.rows(how, columns))
            .collect();
        (0..how.elements * how.quarters())
            .map(|piece| {
                let (block, vector, quarter) = how.place(piece);
                (blocks[block][vector], quarter)
            })
            .collect()
    }

    /// Vectors in which the elements of a register's lanes take turns.
    pub fn interleaved_part(&mut self, how: Transpose, elements: &[VReg]) -> Vec<VReg> {
        debug_assert!(!self.is_avx512(), "whose permutations do it");
        let pieces = self.interleaved_pieces(how, elements);
        let vectors = pieces.chunks(how.quarters()).map(|pieces| match *pieces {
            [low, high] => self.halves(low, high),
            _ => pieces[0].0,
        });
        vectors.collect()
    }

    /// A vector of 256 bits of halves of two.
    fn halves(&mut self, low: (VReg, usize), high: (VReg, usize)) -> VReg {
        match (low, high) {
            ((a, 0), (b, 1)) if a == b => a,
            ((a, 0), (b, 0)) => self.rvmi(Opcode::Vinserti128, Size::V256, a, b, 1),
            ((a, of_a), (b, of_b)) => {
                let imm = of_a as i64 | (2 + of_b as i64) << 4;
                self.rvmi(Opcode::Vperm2i128, Size::V256, a, b, imm)
            }
        }
    }

    /// Within each piece, element `k` of vector `s` becomes element `s` of vector `k`; of two
    /// vectors with two lanes of two elements each in a piece, element `e` of lane `l` of vector
    /// `s` becomes element `2 * s + l` of vector `e`.
    fn columns(&mut self, how: Transpose, rows: &[VReg]) -> SmallVec<[VReg; 4]> {
        match *rows {
            [a, b] if how.lanes == 4 => {
                let mut pick = |imm| self.rvmi(Opcode::Vshufps, how.size, a, b, imm);
                smallvec![pick(0b10_00_10_00), pick(0b11_01_11_01)]
            }
            _ => self.square(how.size, rows),
        }
    }

    /// The inverse of [`Isel::columns`].
    fn rows(&mut self, how: Transpose, columns: &[VReg]) -> SmallVec<[VReg; 4]> {
        match *columns {
            [a, b] if how.lanes == 4 => smallvec![
                self.rvm(Opcode::Vpunpckldq, how.size, a, b),
                self.rvm(Opcode::Vpunpckhdq, how.size, a, b),
            ],
            _ => self.square(how.size, columns),
        }
    }

    /// Two vectors of 64-bit elements, or four of 32-bit ones, transposed within each piece.
    fn square(&mut self, size: Size, rows: &[VReg]) -> SmallVec<[VReg; 4]> {
        let mut pair = |[low, high]: [Opcode; 2], a, b| {
            [self.rvm(low, size, a, b), self.rvm(high, size, a, b)]
        };
        let wide = [Opcode::Vpunpcklqdq, Opcode::Vpunpckhqdq];
        let narrow = [Opcode::Vpunpckldq, Opcode::Vpunpckhdq];
        match *rows {
            [a, b] => SmallVec::from_slice(&pair(wide, a, b)),
            [a, b, c, d] => {
                let ([ab_low, ab_high], [cd_low, cd_high]) =
                    (pair(narrow, a, b), pair(narrow, c, d));
                let low = pair(wide, ab_low, cd_low);
                let high = pair(wide, ab_high, cd_high);
                SmallVec::from_slice(&[low, high].concat())
            }
            _ => unreachable!("{} vectors", rows.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PIECE, Transpose};
    use crate::codegen::x64::encoding::Size;
    use crate::codegen::x64::isel::values::Shape;
    use crate::ir::Scalar;

    #[test]
    fn every_piece_has_a_place() {
        for (scalar, lanes) in [
            (Scalar::F32, 4),
            (Scalar::I32, 8),
            (Scalar::F64, 2),
            (Scalar::I64, 4),
            (Scalar::F32, 16),
            (Scalar::F64, 8),
        ] {
            let bits = scalar.bits();
            let shape = Shape {
                size: Size::of_bytes(u32::from(lanes) * bits / 8),
                count: 1,
                lanes,
                bits,
            };
            for elements in [2, 4, 8, 16] {
                let how = Transpose::of(scalar, shape, elements).expect("a layout");
                let pieces = elements * usize::from(lanes) * bits as usize / 8 / PIECE;
                for piece in 0..pieces {
                    let (block, vector, quarter) = how.place(piece);
                    assert!(block < how.blocks() && vector < how.vectors());
                    assert!(quarter < how.quarters());
                    assert_eq!(how.piece(block, vector, quarter), piece, "{how:?}");
                }
            }
        }
    }
}
