//! Several elements of each lane: a *row* of neighbours in memory, moved by vectors as long as it
//! is and taken apart with shuffles ([`super::super::transpose`]).
//!
//! So it does not matter whether rows lie end to end, apart or anywhere; element by element, each
//! would take a gather of its own, or an insertion for each lane.

use regalloc2::VReg;
use smallvec::{SmallVec, smallvec};

use super::super::Isel;
use super::super::transpose::{PIECE, Transpose};
use super::super::values::Parts;
use super::Access;
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::{Amode, Rm};

impl Access {
    /// Bytes of a lane's elements.
    fn row(self) -> i64 {
        self.elements as i64 * self.size()
    }

    /// Whether rows lie end to end.
    pub(super) fn is_dense(self) -> bool {
        self.stride == self.row()
    }

    /// The same access with the padding of vectors of three: what it loads is within the aligned
    /// bytes that the row is in.
    pub(super) fn padded(self) -> Access {
        let whole = 4 * self.size();
        let stays_aligned = i64::from(self.align) >= whole && self.stride % whole == 0;
        match self.elements {
            3 if stays_aligned => Access {
                elements: 4,
                ..self
            },
            _ => self,
        }
    }
}

impl Isel<'_> {
    /// How an access moves rows, if it does.
    pub(super) fn by_rows(&self, access: Access) -> Option<Transpose> {
        let how = Transpose::of(access.ty.scalar, self.shape(access.ty), access.elements)?;
        // Two lanes or more of a piece, or whole ones.
        let row = access.row() as usize;
        (row >= PIECE / 2).then_some(how)
    }

    /// Loads the row of each lane, whose address `at` gives.
    pub(super) fn load_rows(
        &mut self,
        how: Transpose,
        access: Access,
        mut at: impl FnMut(&mut Self, u8) -> Amode,
    ) -> Vec<Parts> {
        let shape = self.shape(access.ty);
        let row = access.row() as usize;
        let mut elements = vec![Parts::new(); access.elements];
        for part in 0..shape.count {
            let first = part * usize::from(shape.lanes);
            // An address takes registers from when it is first needed.
            let mut rows: SmallVec<[Option<Amode>; 16]> = smallvec![None; shape.lanes.into()];
            let mut address = |isel: &mut Self, lane: usize| {
                *rows[lane].get_or_insert_with(|| at(isel, (first + lane) as u8))
            };
            let columns = self.transposed(how, |isel, pieces| {
                isel.join_operands(pieces, |isel, n| {
                    if row == PIECE / 2 {
                        let (first, second) = (address(isel, 2 * n), address(isel, 2 * n + 1));
                        return Rm::Reg(isel.load_pair(first, second));
                    }
                    let byte = n * PIECE;
                    let base = address(isel, byte / row);
                    Rm::Mem(isel.further(base, (byte % row) as i64))
                })
            });
            for (parts, column) in elements.iter_mut().zip(columns) {
                parts.push(column);
            }
        }
        elements
    }

    /// A vector of pieces, in registers or in memory.
    fn join_operands(
        &mut self,
        pieces: &[usize],
        mut piece: impl FnMut(&mut Self, usize) -> Rm,
    ) -> VReg {
        if let [low, high] = *pieces
            && !self.is_avx512()
        {
            let low = piece(self, low);
            let low = self.in_vector(low, Size::V128);
            let high = piece(self, high);
            return self.rvmi(Opcode::Vinserti128, Size::V256, low, high, 1);
        }
        let pieces: SmallVec<[VReg; 4]> = pieces
            .iter()
            .map(|&n| {
                let operand = piece(self, n);
                self.in_vector(operand, Size::V128)
            })
            .collect();
        self.join(&pieces, PIECE as u32)
    }

    /// Two rows of eight bytes.
    fn load_pair(&mut self, first: Amode, second: Amode) -> VReg {
        let low = self.rm(Opcode::Vmovsd, Size::V128, first);
        self.rvmi(Opcode::Vpinsrq, Size::V128, low, second, 1)
    }

    /// Loads rows that lie end to end.
    pub(super) fn load_dense_rows(
        &mut self,
        how: Transpose,
        base: Amode,
        access: Access,
    ) -> Vec<Parts> {
        let shape = self.shape(access.ty);
        let mut elements = vec![Parts::new(); access.elements];
        let of_part = access.row() * i64::from(shape.lanes);
        for part in 0..shape.count {
            let columns = self.transposed(how, |isel, pieces| {
                isel.join_operands(pieces, |isel, n| {
                    let byte = part as i64 * of_part + (n * PIECE) as i64;
                    Rm::Mem(isel.further(base, byte))
                })
            });
            for (parts, column) in elements.iter_mut().zip(columns) {
                parts.push(column);
            }
        }
        elements
    }

    /// Stores the row of each lane, whose address `at` gives, in the order of lanes.
    pub(super) fn store_rows(
        &mut self,
        how: Transpose,
        values: &[Parts],
        access: Access,
        mut at: impl FnMut(&mut Self, u8) -> Amode,
    ) {
        let shape = self.shape(access.ty);
        let row = access.row() as usize;
        for part in 0..shape.count {
            let elements: SmallVec<[VReg; 16]> = values.iter().map(|parts| parts[part]).collect();
            let pieces: Vec<VReg> = self
                .interleaved_pieces(how, &elements)
                .into_iter()
                .map(|(vector, quarter)| self.piece(vector, (quarter * PIECE) as u32))
                .collect();
            for lane in 0..usize::from(shape.lanes) {
                let to = at(self, (part * usize::from(shape.lanes) + lane) as u8);
                let byte = lane * row;
                match (row, byte % PIECE) {
                    (8, 0) => self.mr(Opcode::VmovsdStore, Size::V128, to, pieces[byte / PIECE]),
                    (8, _) => self.perform(Opcode::Vpextrq, Size::V128, |plain| {
                        (plain.a, plain.b) = (pieces[byte / PIECE], Rm::Mem(to));
                        plain.imm = 1;
                    }),
                    _ => {
                        for n in 0..row / PIECE {
                            let to = self.further(to, (n * PIECE) as i64);
                            let piece = pieces[byte / PIECE + n];
                            self.mr(Opcode::Vmovdqu64Store, Size::V128, to, piece);
                        }
                    }
                }
            }
        }
    }

    /// Stores rows that lie end to end.
    pub(super) fn store_dense_rows(
        &mut self,
        how: Transpose,
        base: Amode,
        values: &[Parts],
        access: Access,
    ) {
        let shape = self.shape(access.ty);
        let size = i64::from(shape.size.bytes());
        for part in 0..shape.count {
            let elements: SmallVec<[VReg; 16]> = values.iter().map(|parts| parts[part]).collect();
            let vectors = self.interleaved_part(how, &elements);
            for (n, &vector) in vectors.iter().enumerate() {
                let number = part * access.elements + n;
                let to = self.further(base, number as i64 * size);
                self.mr(Opcode::Vmovdqu64Store, shape.size, to, vector);
            }
        }
    }
}
