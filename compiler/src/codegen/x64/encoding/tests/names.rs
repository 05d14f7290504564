//! What the decoder calls an opcode.

use std::collections::HashMap;
use std::sync::OnceLock;

use iced_x86::Mnemonic;

use crate::codegen::x64::encoding::info::ImmKind;
use crate::codegen::x64::encoding::{Cc, Instruction, Opcode};

/// Names of an opcode, which depend on the encoding.
pub struct Names {
    pub legacy_or_evex: Mnemonic,
    pub vex: Mnemonic,
}

impl Names {
    pub fn of(inst: &Instruction) -> Names {
        let Some(name) = condition(inst) else {
            return Names::plain(inst.opcode);
        };
        let mnemonic = by_name(&name);
        Names {
            legacy_or_evex: mnemonic,
            vex: mnemonic,
        }
    }

    fn plain(opcode: Opcode) -> Names {
        let mnemonic = opcode.info().mnemonic;
        Names {
            legacy_or_evex: by_name(mnemonic),
            vex: by_name(vex_name(mnemonic)),
        }
    }
}

/// With the condition, for what has one.
fn condition(inst: &Instruction) -> Option<String> {
    let info = inst.opcode.info();
    (info.imm == ImmKind::Condition).then(|| {
        let cc = Cc::ALL[inst.imm as usize];
        format!("{}{}", info.mnemonic, format!("{cc:?}").to_lowercase())
    })
}

/// EVEX has elements in some names where VEX has none.
fn vex_name(name: &str) -> &str {
    match name {
        "vpandd" | "vpandq" => "vpand",
        "vpandnd" | "vpandnq" => "vpandn",
        "vpord" | "vporq" => "vpor",
        "vpxord" | "vpxorq" => "vpxor",
        "vmovdqa32" | "vmovdqa64" => "vmovdqa",
        "vmovdqu8" | "vmovdqu16" | "vmovdqu32" | "vmovdqu64" => "vmovdqu",
        "vbroadcastf32x4" => "vbroadcastf128",
        "vbroadcasti32x4" => "vbroadcasti128",
        name => name,
    }
}

fn by_name(name: &str) -> Mnemonic {
    static MNEMONICS: OnceLock<HashMap<String, Mnemonic>> = OnceLock::new();
    let mnemonics = MNEMONICS.get_or_init(|| {
        Mnemonic::values()
            .map(|mnemonic| (format!("{mnemonic:?}").to_lowercase(), mnemonic))
            .collect()
    });
    *mnemonics
        .get(name)
        .unwrap_or_else(|| panic!("no instruction is called {name}"))
}
