//! Every opcode with every combination of fields, those that it has and those that it has not: the
//! decoder reads what is encoded as what it is, and knows nothing of what is refused.

use iced_x86::CpuidFeature;

use super::claims::{decode, ignores_rounding};
use super::decoded::comes_back;
use crate::check::check;
use crate::info::{Extension, Form, Length};
use crate::print::Place;
use crate::{Base, Buffer, Features, Instruction, Memory, Opcode, Rm, RoundingControl, Size};

const SIZES: [Size; 7] = [
    Size::B8,
    Size::B16,
    Size::B32,
    Size::B64,
    Size::V128,
    Size::V256,
    Size::V512,
];

const MASKS: [(u8, bool); 4] = [(0, false), (0, true), (1, false), (1, true)];

const ROUNDINGS: [Option<RoundingControl>; 3] = [
    None,
    Some(RoundingControl::Zero),
    Some(RoundingControl::Sae),
];

/// A low register and one that only EVEX has; none is there, too, where the form has none.
fn registers(opcode: Opcode, place: Place, low: u8) -> [u8; 2] {
    match opcode.operands().contains(&place) {
        true => [low, low + 16],
        false => [0, low],
    }
}

/// Registers, addresses with and without an index, elements.
fn operands() -> [Rm; 8] {
    let memory = |index| Memory {
        base: Base::Reg(6),
        index,
        shift: 0,
        disp: 64,
    };
    [
        Rm::None,
        Rm::Reg(3),
        Rm::Reg(19),
        Rm::Memory(memory(None)),
        Rm::Memory(memory(Some(5))),
        Rm::Memory(memory(Some(21))),
        Rm::Broadcast(memory(None)),
        Rm::Broadcast(memory(Some(5))),
    ]
}

/// An opcode with all that its fields can be.
fn for_each_form(opcode: Opcode, f: &mut impl FnMut(&Instruction)) {
    for size in SIZES {
        for rm in operands() {
            for reg in registers(opcode, Place::Reg, 1) {
                for vvvv in registers(opcode, Place::Vvvv, 2) {
                    for (mask, zeroing) in MASKS {
                        for rounding in ROUNDINGS {
                            f(&Instruction {
                                reg,
                                vvvv,
                                rm,
                                mask,
                                zeroing,
                                rounding,
                                ..Instruction::new(opcode, size)
                            });
                        }
                    }
                }
            }
        }
    }
}

/// Whether the bytes of an instruction say all of its fields. What they do not say is refused, too,
/// but the decoder cannot tell.
fn is_said(inst: &Instruction) -> bool {
    let info = inst.opcode.info();
    let places = inst.opcode.operands();
    let has_place = |place, register| register == 0 || places.contains(&place);
    let has_length = info.length == Length::BySize && inst.size.bytes() >= 16;
    info.legacy.is_none()
        && info.form != Form::Zo
        && has_place(Place::Reg, inst.reg)
        && has_place(Place::Vvvv, inst.vvvv)
        && (has_length || info.has_size(inst.size))
        && (inst.rounding.is_none() || !ignores_rounding(inst))
}

#[test]
fn what_is_encoded_is_what_it_says() {
    let (mut taken, mut refused) = (0u32, 0u32);
    for &opcode in Opcode::ALL {
        let info = opcode.info();
        for_each_form(opcode, &mut |inst| match check(inst, info, Features::ALL) {
            Ok(()) => {
                assert!(comes_back(inst), "{inst:?}: it is not what is decoded");
                if check(inst, info, Features::AVX2).is_ok() {
                    let needs = decode(inst).code().cpuid_features();
                    let is_later = |feature: &CpuidFeature| format!("{feature:?}").contains("512");
                    assert!(!needs.iter().any(is_later), "{inst:?}: not of AVX2");
                }
                taken += 1;
            }
            Err(why) => {
                assert!(
                    !is_said(inst) || !comes_back(inst),
                    "{inst:?}: the decoder knows it, but not this {why}"
                );
                refused += 1;
            }
        });
    }
    assert!(taken > 50_000 && refused > 1_000_000, "{taken}, {refused}");
}

fn refused(inst: &Instruction, features: Features) -> Option<&'static str> {
    let mut buffer = Buffer::new(features);
    let refused = buffer.emit(inst).err();
    // Nothing is left of what is refused.
    assert_eq!(refused.is_some(), buffer.offset() == 0, "{inst:?}");
    refused.map(|refused| refused.why)
}

#[test]
fn what_there_is_not_is_refused() {
    let new = |opcode, size| Instruction {
        reg: 1,
        rm: Rm::Reg(3),
        ..Instruction::new(opcode, size)
    };
    let all = |inst: Instruction| refused(&inst, Features::ALL);
    // Of 128 bits it would be VEX.L = 0, which faults.
    assert_eq!(all(new(Opcode::VpermqImm, Size::V128)), Some("size"));
    assert_eq!(all(new(Opcode::VpermqImm, Size::V256)), None);
    // An immediate that its byte has no room for.
    let by = |imm| Instruction {
        imm,
        ..new(Opcode::Vpshufd, Size::V128)
    };
    assert_eq!([255, -128].map(|imm| all(by(imm))), [None; 2]);
    assert_eq!([256, -129].map(|imm| all(by(imm))), [Some("immediate"); 2]);
    // VEX alone has it.
    let chosen = Instruction {
        rm: Rm::Reg(16),
        ..new(Opcode::Vpblendvb, Size::V256)
    };
    assert_eq!(all(chosen), Some("second source or place in memory"));
    // Of ModRM.reg there is the digit that tells the opcode from others.
    assert_eq!(all(new(Opcode::VpslldImm, Size::V256)), Some("register"));
    // A gather to its own index.
    let gather = Instruction {
        rm: Rm::Memory(Memory {
            base: Base::Reg(0),
            index: Some(1),
            shift: 0,
            disp: 0,
        }),
        mask: 1,
        ..new(Opcode::Vpgatherdd, Size::V256)
    };
    assert_eq!(all(gather), Some("registers, which must differ"));
}

#[test]
fn what_the_processor_has_not_is_refused() {
    let new = |opcode, size| Instruction {
        reg: 1,
        vvvv: 2,
        rm: Rm::Reg(3),
        ..Instruction::new(opcode, size)
    };
    let add = new(Opcode::Vpaddd, Size::V256);
    let high = Instruction { reg: 16, ..add };
    let masked = Instruction { mask: 1, ..add };
    let long = new(Opcode::Vpaddd, Size::V512);
    let masks = new(Opcode::Kandw, Size::B16);
    for features in [Features::AVX2, Features::AVX512] {
        assert_eq!(refused(&add, features), None);
    }
    for inst in [high, masked, long, masks] {
        let why = refused(&inst, Features::AVX2);
        assert_eq!(why, Some("need of AVX-512"), "{inst:?}");
        assert_eq!(refused(&inst, Features::AVX512), None, "{inst:?}");
    }
    let bytes = new(Opcode::Vpermb, Size::V512);
    let why = refused(&bytes, Features::AVX512);
    assert_eq!(why, Some("need of an extension"));
    let with = Features::AVX512.with(Extension::Vbmi);
    assert_eq!(refused(&bytes, with), None);
    let other = Features::AVX512.with(Extension::Vbmi2);
    assert_eq!(refused(&bytes, other), why);
}
