//! Shifts and rotates of elements: by an immediate, by the low 64 bits of a register, or lane by
//! lane.

use crate::codegen::x64::encoding::info::{Form, ImmKind, Info, Map, Masking, MemorySize, Pp, W};

/// EVEX.W of elements of 32 and 64 bits; where it tells those of 16, it is 1.
const fn w(element: u8) -> W {
    match element {
        4 => W::W0,
        _ => W::W1,
    }
}

const fn elements(mnemonic: &'static str, form: Form, bytes: u8) -> Info {
    let info = Info::vector(mnemonic, form).masking(Masking::Zero);
    match bytes {
        2 => info.element(bytes),
        _ => info.broadcast(bytes),
    }
}

const fn immediate_512(mnemonic: &'static str, element: u8, opcode: u8, digit: u8) -> Info {
    elements(mnemonic, Form::Vm, element)
        .imm(ImmKind::I8)
        .digit(digit)
        .evex(Pp::P66, Map::M0F, w(element), opcode)
}

const fn immediate(mnemonic: &'static str, element: u8, opcode: u8, digit: u8) -> Info {
    immediate_512(mnemonic, element, opcode, digit)
        .vex(Pp::P66, Map::M0F, W::Ig, opcode)
        .vex_registers_only()
}

const fn count_512(mnemonic: &'static str, element: u8, opcode: u8) -> Info {
    elements(mnemonic, Form::Rvm, element)
        .no_broadcast()
        .memory(MemorySize::Fixed16)
        .evex(Pp::P66, Map::M0F, w(element), opcode)
}

const fn count(mnemonic: &'static str, element: u8, opcode: u8) -> Info {
    count_512(mnemonic, element, opcode).vex(Pp::P66, Map::M0F, W::Ig, opcode)
}

const fn variable_512(mnemonic: &'static str, element: u8, opcode: u8) -> Info {
    elements(mnemonic, Form::Rvm, element).evex(Pp::P66, Map::M0F38, w(element), opcode)
}

const fn variable(mnemonic: &'static str, element: u8, opcode: u8) -> Info {
    variable_512(mnemonic, element, opcode).vex(Pp::P66, Map::M0F38, w(element), opcode)
}

/// By an immediate in map 0F3A, lane by lane in map 0F38.
const fn double(mnemonic: &'static str, map: Map, element: u8, opcode: u8) -> Info {
    match map {
        Map::M0F3A => elements(mnemonic, Form::Rvm, element).imm(ImmKind::I8),
        _ => elements(mnemonic, Form::Rvma, element),
    }
    .evex(Pp::P66, map, w(element), opcode)
}

macro_rules! shift_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* shift {
        VpsllwImm = immediate("vpsllw", 2, 0x71, 6);
        Vpsllw = count("vpsllw", 2, 0xf1);
        VpslldImm = immediate("vpslld", 4, 0x72, 6);
        Vpslld = count("vpslld", 4, 0xf2);
        VpsllqImm = immediate("vpsllq", 8, 0x73, 6);
        Vpsllq = count("vpsllq", 8, 0xf3);
        VpsrlwImm = immediate("vpsrlw", 2, 0x71, 2);
        Vpsrlw = count("vpsrlw", 2, 0xd1);
        VpsrldImm = immediate("vpsrld", 4, 0x72, 2);
        Vpsrld = count("vpsrld", 4, 0xd2);
        VpsrlqImm = immediate("vpsrlq", 8, 0x73, 2);
        Vpsrlq = count("vpsrlq", 8, 0xd3);
        VpsrawImm = immediate("vpsraw", 2, 0x71, 4);
        Vpsraw = count("vpsraw", 2, 0xe1);
        VpsradImm = immediate("vpsrad", 4, 0x72, 4);
        Vpsrad = count("vpsrad", 4, 0xe2);
        VpsraqImm = immediate_512("vpsraq", 8, 0x72, 4);
        Vpsraq = count_512("vpsraq", 8, 0xe2);
        Vpsrlvw = variable_512("vpsrlvw", 2, 0x10);
        Vpsrlvd = variable("vpsrlvd", 4, 0x45);
        Vpsrlvq = variable("vpsrlvq", 8, 0x45);
        Vpsravw = variable_512("vpsravw", 2, 0x11);
        Vpsravd = variable("vpsravd", 4, 0x46);
        Vpsravq = variable_512("vpsravq", 8, 0x46);
        Vpsllvw = variable_512("vpsllvw", 2, 0x12);
        Vpsllvd = variable("vpsllvd", 4, 0x47);
        Vpsllvq = variable("vpsllvq", 8, 0x47);
        VprordImm = immediate_512("vprord", 4, 0x72, 0);
        Vprorvd = variable_512("vprorvd", 4, 0x14);
        VprorqImm = immediate_512("vprorq", 8, 0x72, 0);
        Vprorvq = variable_512("vprorvq", 8, 0x14);
        VproldImm = immediate_512("vprold", 4, 0x72, 1);
        Vprolvd = variable_512("vprolvd", 4, 0x15);
        VprolqImm = immediate_512("vprolq", 8, 0x72, 1);
        Vprolvq = variable_512("vprolvq", 8, 0x15);
        // Two registers as one of twice the width; the first is the low half of a right shift, and
        // the high half of a left shift.
        VpshldwImm = double("vpshldw", Map::M0F3A, 2, 0x70);
        Vpshldvw = double("vpshldvw", Map::M0F38, 2, 0x70);
        VpshlddImm = double("vpshldd", Map::M0F3A, 4, 0x71);
        Vpshldvd = double("vpshldvd", Map::M0F38, 4, 0x71);
        VpshldqImm = double("vpshldq", Map::M0F3A, 8, 0x71);
        Vpshldvq = double("vpshldvq", Map::M0F38, 8, 0x71);
        VpshrdwImm = double("vpshrdw", Map::M0F3A, 2, 0x72);
        Vpshrdvw = double("vpshrdvw", Map::M0F38, 2, 0x72);
        VpshrddImm = double("vpshrdd", Map::M0F3A, 4, 0x73);
        Vpshrdvd = double("vpshrdvd", Map::M0F38, 4, 0x73);
        VpshrdqImm = double("vpshrdq", Map::M0F3A, 8, 0x73);
        Vpshrdvq = double("vpshrdvq", Map::M0F38, 8, 0x73);
    } } };
}

shift_rows! { rows; }
