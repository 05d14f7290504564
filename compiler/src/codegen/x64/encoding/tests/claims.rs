//! That rows say what opcodes can do: no less and no more than the decoder knows.

use std::collections::BTreeSet;

use iced_x86::{Code, Decoder, DecoderOptions, EncodingKind, OpCodeInfo};

use super::names::Names;
use super::values::{instructions, plain, sizes};
use crate::codegen::x64::encoding::info::{Class, Length, Masking, Rounding};
use crate::codegen::x64::encoding::{Buffer, Instruction, Opcode, Rm, Size};

fn decode(inst: &Instruction) -> iced_x86::Instruction {
    let mut buffer = Buffer::default();
    buffer.emit(inst);
    let code = buffer.finish(&[]);
    Decoder::with_ip(64, &code.bytes, 0, DecoderOptions::NONE).decode()
}

/// The same with a vector register that only EVEX has.
fn in_evex(mut inst: Instruction) -> Instruction {
    let info = inst.opcode.info();
    match inst.rm {
        _ if info.reg == Class::Vector => inst.reg = 16,
        Rm::Reg(_) => inst.rm = Rm::Reg(16),
        _ => panic!("{inst:?} has no vector register"),
    }
    inst
}

#[test]
fn rows_claim_what_evex_can() {
    for inst in instructions().filter(|inst| inst.opcode.info().evex.is_some()) {
        let info = inst.opcode.info();
        let known: &OpCodeInfo = decode(&in_evex(inst)).code().op_code();
        let whole = info.length == Length::L0 || inst.size == Size::V512;
        // Rounding can be encoded, and is ignored.
        let exact = matches!(inst.opcode, Opcode::Vcvtdq2pd | Opcode::Vcvtudq2pd)
            || info.rounding == Rounding::StaticOf64 && inst.size == Size::B32;
        let claims = (
            info.broadcast,
            info.masking != Masking::None,
            info.masking == Masking::Zero,
            info.masking == Masking::Required,
            match info.rounding {
                Rounding::StaticOf64 => inst.size == Size::B64,
                rounding => rounding == Rounding::Static && whole,
            },
            info.rounding == Rounding::Sae && whole,
        );
        let known = (
            known.can_broadcast(),
            known.can_use_op_mask_register(),
            known.can_use_zeroing_masking(),
            known.require_op_mask_register(),
            known.can_use_rounding_control() && !exact,
            known.can_suppress_all_exceptions() && !known.can_use_rounding_control(),
        );
        assert_eq!(claims, known, "{inst:?}");
    }
}

/// Every length of vector that an opcode has in EVEX is in its row, and so is VEX where it has the
/// opcode as well. Comparisons to vectors and gathers by vector masks have rows of their own.
#[test]
fn rows_have_all_lengths_and_encodings() {
    let mut vex_is_missing = Vec::new();
    for &opcode in Opcode::ALL {
        let info = opcode.info();
        if info.evex.is_none() || info.length != Length::BySize {
            continue;
        }
        let all: Vec<Instruction> = sizes(info)
            .into_iter()
            .map(|size| in_evex(plain(opcode, size)))
            .collect();
        let codes: Vec<Code> = all.iter().map(|inst| decode(inst).code()).collect();
        let first = codes[0].op_code();
        let same = |code: &Code, encoding, name| {
            let is = code.op_code();
            code.encoding() == encoding
                && code.mnemonic() == name
                && is.op_code() == first.op_code()
                && is.group_index() == first.group_index()
        };
        let names = Names::of(&all[0]);
        let lengths: BTreeSet<u32> = Code::values()
            .filter(|code| same(code, EncodingKind::EVEX, names.legacy_or_evex))
            .map(|code| code.op_code().l())
            .collect();
        let claimed: BTreeSet<u32> = codes.iter().map(|code| code.op_code().l()).collect();
        assert_eq!(claimed, lengths, "{opcode:?}");
        let apart = info.reg == Class::Mask || info.masking == Masking::Required;
        let mut in_vex = Code::values().filter(|code| same(code, EncodingKind::VEX, names.vex));
        if !apart && in_vex.next().is_some() != info.vex.is_some() {
            vex_is_missing.push(opcode);
        }
    }
    // Those are of AVX-VNNI, which not every CPU with AVX-512 has.
    let expected = [Opcode::Vpdpbusd, Opcode::Vpdpbusds, Opcode::Vpdpwssd];
    assert_eq!(vex_is_missing, expected);
}
