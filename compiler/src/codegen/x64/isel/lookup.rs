//! Numbers from tables of sixteen.
//!
//! AVX-512 has a table in two registers, and permutes them. AVX2 has permutations of eight words,
//! of which a table would take up to four, and AMD's processors do one in two cycles; so lanes are
//! loaded from the table, by numbers that lookups in the same block share.

use brolga_mathlib::Table;
use regalloc2::VReg;
use smallvec::SmallVec;

use super::values::Repr;
use super::{Isel, Result};
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::Amode;
use crate::ir::{Scalar, Type, Value};

/// Of each lane.
pub type Numbers = SmallVec<[VReg; 4]>;

impl Isel<'_> {
    /// The entries that the low four bits of each lane number.
    pub fn lookup(&mut self, table: Table, number: Value, ty: Type) -> Result<Repr> {
        if ty.lanes == 1 {
            let number = self.scalar(number)?;
            let index = self.mi(Opcode::AndImm, Size::B32, number, 15);
            let table = self.table_address(table);
            return Ok(Repr::Scalar(
                self.load_scalar(entry(table, index), Scalar::F64),
            ));
        }
        let numbers = self.parts(number)?;
        if self.is_avx512() {
            let parts = numbers
                .into_iter()
                .map(|number| self.permuted_table(table, number));
            return Ok(Repr::Vector(parts.collect()));
        }
        let lanes = self.shape(ty).lanes;
        let table = self.table_address(table);
        let parts = numbers.into_iter().map(|part| {
            let numbers = self.numbers_of(part, lanes);
            let pairs: SmallVec<[VReg; 2]> = numbers
                .chunks(2)
                .map(|pair| {
                    let low = self.load_scalar(entry(table, pair[0]), Scalar::F64);
                    let high = entry(table, pair[1]);
                    self.rvm(Opcode::Vpunpcklqdq, Size::V128, low, high)
                })
                .collect();
            self.join(&pairs, 16)
        });
        Ok(Repr::Vector(parts.collect()))
    }

    /// The address of a table, with as much behind it as loads of two entries may touch.
    fn table_address(&mut self, table: Table) -> VReg {
        let mut bytes: Vec<u8> = table
            .entries()
            .iter()
            .flat_map(|e| e.to_le_bytes())
            .collect();
        bytes.resize(256, 0);
        let at = self.pool.place(&bytes);
        self.lea(Amode::pool(at))
    }

    /// The low four bits of each lane.
    fn numbers_of(&mut self, part: VReg, lanes: u8) -> Numbers {
        if let Some(known) = self.taken().numbers.get(&part) {
            return known.clone();
        }
        let size = Size::of_bytes(8 * u32::from(lanes));
        let low_bits = self.bits_operand(15, Scalar::I64, size);
        let kept = self.rvm(Opcode::Vpandq, size, part, low_bits);
        let mut numbers = Numbers::new();
        for offset in (0..size.bytes()).step_by(16) {
            let pair = self.piece(kept, offset);
            numbers.extend([0, 1].map(|lane| self.part_lane(pair, lane, Scalar::I64)));
        }
        self.taken().numbers.insert(part, numbers.clone());
        numbers
    }

    /// By a permutation. Shorter vectors lie in the same registers.
    fn permuted_table(&mut self, table: Table, number: VReg) -> VReg {
        let size = Size::V512;
        let entries = table.entries().map(f64::to_bits);
        let first = self.lanes_constant(&entries[..8], Scalar::I64, size);
        let second = self.lanes_in_pool(&entries[8..], Scalar::I64, size);
        self.rvma(Opcode::Vpermt2pd, size, first, number, second)
    }
}

/// Where the entry with a number is.
fn entry(table: VReg, number: VReg) -> Amode {
    Amode {
        index: number,
        shift: 3,
        ..Amode::base(table)
    }
}
