//! Permutes of bytes, on machines that have them only within 128 bits (`vpshufb`).
//!
//! Words are permuted instead, twice: once so that the bytes wanted at even places are in the words
//! that they belong to, once for those at odd places. In its word a byte is shifted to its place,
//! and a mask puts the two together.

use regalloc2::VReg;

use super::Isel;
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::Rm;
use crate::ir::Scalar;

/// A byte for each word of a vector.
struct Wanted {
    /// The numbers of the words they are in.
    words: VReg,
    /// How far they are to be shifted: even ones down, odd ones up.
    shifts: Rm,
}

impl Isel<'_> {
    /// [`Isel::permute_two`] of bytes; `lanes` are as many as a vector has.
    pub fn permute_bytes(
        &mut self,
        a: VReg,
        b: Option<VReg>,
        lanes: &[Option<u8>],
        size: Size,
    ) -> VReg {
        let index: Vec<u64> = lanes.iter().map(|lane| lane.unwrap_or(0).into()).collect();
        let mut wanted = |odd: usize| {
            let bytes = index.iter().skip(odd).step_by(2);
            let words: Vec<u64> = bytes.clone().map(|byte| byte / 2).collect();
            let shifts: Vec<u64> = bytes.map(|&byte| (byte % 2) ^ odd as u64).collect();
            let shifts: Vec<u64> = shifts.into_iter().map(|bytes| 8 * bytes).collect();
            let words = self.lanes_in_pool(&words, Scalar::I16, size);
            Wanted {
                words: self.rm(Opcode::Vmovdqu64, size, words),
                shifts: Rm::Mem(self.lanes_in_pool(&shifts, Scalar::I16, size)),
            }
        };
        let (even, odd) = (wanted(0), wanted(1));
        self.join_bytes(a, b, even, odd, size)
    }

    /// The same by numbers in a vector, of which the low bits count.
    pub fn permute_bytes_by(&mut self, a: VReg, b: Option<VReg>, index: VReg, size: Size) -> VReg {
        // Of a word, instructions take as many bits as the numbers of words have.
        let eight = self.bits_operand(0x0008_0008, Scalar::I32, size);
        let bit = self.rmi(Opcode::VpsllwImm, size, index, 3);
        let even = Wanted {
            words: self.rmi(Opcode::VpsrlwImm, size, index, 1),
            shifts: Rm::Reg(self.rvm(Opcode::Vpandd, size, bit, eight)),
        };
        let bit = self.rmi(Opcode::VpsrlwImm, size, index, 5);
        let odd = Wanted {
            words: self.rmi(Opcode::VpsrlwImm, size, index, 9),
            shifts: Rm::Reg(self.rvm(Opcode::Vpandnd, size, bit, eight)),
        };
        self.join_bytes(a, b, even, odd, size)
    }

    fn join_bytes(
        &mut self,
        a: VReg,
        b: Option<VReg>,
        even: Wanted,
        odd: Wanted,
        size: Size,
    ) -> VReg {
        let mut words = |index| match b {
            None => self.rvm(Opcode::Vpermw, size, index, a),
            Some(b) => self.rvma(Opcode::Vpermt2w, size, a, index, b),
        };
        let (low, high) = (words(even.words), words(odd.words));
        let low = self.rvm(Opcode::Vpsrlvw, size, low, even.shifts);
        let high = self.rvm(Opcode::Vpsllvw, size, high, odd.shifts);
        let low_bytes = self.bits_operand(0x00ff_00ff, Scalar::I32, size);
        // The table of "the third operand ? the first : the second".
        self.define(Opcode::Vpternlogd, size, |plain| {
            (plain.c, plain.a, plain.b) = (low, high, low_bytes);
            plain.imm = 0xe4;
        })
    }

    /// Lanes that all stay within their 128 bits of one source, as numbers that `vpshufb` takes.
    pub fn bytes_in_place(lanes: &[Option<u8>]) -> Option<Vec<u64>> {
        let number = |(at, lane): (usize, &Option<u8>)| match *lane {
            None => Some(0),
            Some(lane) => (usize::from(lane) / 16 == at / 16).then_some(u64::from(lane % 16)),
        };
        lanes.iter().enumerate().map(number).collect()
    }
}
