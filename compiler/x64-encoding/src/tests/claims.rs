//! That rows say what opcodes can do: no less and no more than the decoder knows.

use std::collections::BTreeSet;

use iced_x86::{Code, CpuidFeature, Decoder, DecoderOptions, EncodingKind, OpCodeInfo};

use super::names::Names;
use super::values::{instructions, plain, sizes};
use crate::info::{Class, Extension, Length, Masking, Rounding};
use crate::print::Place;
use crate::{Buffer, Features, Instruction, Opcode, Rm, Size};

pub fn decode(inst: &Instruction) -> iced_x86::Instruction {
    let mut buffer = Buffer::new(Features::ALL);
    buffer.emit(inst).expect("an instruction");
    let code = buffer.finish(&[]);
    Decoder::with_ip(64, &code.bytes, 0, DecoderOptions::NONE).decode()
}

/// The same with a vector register that only EVEX has.
fn in_evex(mut inst: Instruction) -> Instruction {
    let info = inst.opcode.info();
    let has = |place, class| inst.opcode.operands().contains(&place) && class == Class::Vector;
    if has(Place::Reg, info.reg) {
        inst.reg = 16;
    } else if has(Place::Vvvv, info.vvvv) {
        inst.vvvv = 16;
    } else if info.register && has(Place::Rm, info.rm) {
        inst.rm = Rm::Reg(16);
    } else {
        panic!("{inst:?} has no vector register");
    }
    inst
}

/// Whether a result is exact: rounding can be encoded then, and is ignored.
pub fn ignores_rounding(inst: &Instruction) -> bool {
    matches!(inst.opcode, Opcode::Vcvtdq2pd | Opcode::Vcvtudq2pd)
        || inst.opcode.info().rounding == Rounding::StaticOf64 && inst.size == Size::B32
}

#[test]
fn rows_claim_what_evex_can() {
    for inst in instructions().filter(|inst| inst.opcode.info().evex.is_some()) {
        let info = inst.opcode.info();
        let known: &OpCodeInfo = decode(&in_evex(inst)).code().op_code();
        let whole = info.length == Length::L0 || inst.size == Size::V512;
        let exact = ignores_rounding(&inst);
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

/// What every machine has that code is generated for: x86-64-v4.
const EVERYWHERE: [CpuidFeature; 23] = [
    CpuidFeature::AVX,
    CpuidFeature::AVX2,
    CpuidFeature::AVX512BW,
    CpuidFeature::AVX512CD,
    CpuidFeature::AVX512DQ,
    CpuidFeature::AVX512F,
    CpuidFeature::AVX512VL,
    CpuidFeature::BMI1,
    CpuidFeature::BMI2,
    CpuidFeature::CMOV,
    CpuidFeature::F16C,
    CpuidFeature::FMA,
    CpuidFeature::INTEL186,
    CpuidFeature::INTEL286,
    CpuidFeature::INTEL386,
    CpuidFeature::INTEL486,
    CpuidFeature::INTEL8086,
    CpuidFeature::LZCNT,
    CpuidFeature::PAUSE,
    CpuidFeature::POPCNT,
    CpuidFeature::SSE2,
    CpuidFeature::TSC,
    CpuidFeature::X64,
];

#[test]
fn rows_say_what_machines_need() {
    for inst in instructions() {
        let info = inst.opcode.info();
        let inst = if info.evex.is_some() {
            in_evex(inst)
        } else {
            inst
        };
        let features = decode(&inst).code().cpuid_features().iter();
        let needs: Vec<Extension> = features
            .filter(|feature| !EVERYWHERE.contains(feature))
            .map(|feature| match feature {
                CpuidFeature::AVX512_BITALG => Extension::Bitalg,
                CpuidFeature::AVX512_FP16 => Extension::Fp16,
                CpuidFeature::AVX512_VBMI => Extension::Vbmi,
                CpuidFeature::AVX512_VBMI2 => Extension::Vbmi2,
                CpuidFeature::AVX512_VNNI => Extension::Vnni,
                CpuidFeature::AVX512_VPOPCNTDQ => Extension::Vpopcntdq,
                CpuidFeature::GFNI => Extension::Gfni,
                other => panic!("{inst:?} is of {other:?}"),
            })
            .collect();
        assert_eq!(info.needs.as_slice(), needs, "{inst:?}");
    }
}
