//! Parts of vectors: broadcast, extracted, inserted.

use crate::codegen::x64::encoding::info::{
    Class, Form, ImmKind, Info, Map, Masking, MemorySize, Pp, W, sizes,
};

use MemorySize::{Fixed16, Fixed32};

/// EVEX.W, which says which elements the mask governs.
const fn w(element: u8) -> W {
    match element {
        8 => W::W1,
        _ => W::W0,
    }
}

/// Of vectors that are longer than the part.
const fn part(mnemonic: &'static str, form: Form, element: u8, part: MemorySize) -> Info {
    let info = Info::vector(mnemonic, form)
        .at(element, part)
        .masking(Masking::Zero);
    match part {
        Fixed32 => info.sizes(sizes::V512),
        _ => info.sizes(sizes::V256 | sizes::V512),
    }
}

const fn extract(mnemonic: &'static str, element: u8, from: MemorySize, opcode: u8) -> Info {
    part(mnemonic, Form::Mr, element, from)
        .imm(ImmKind::I8)
        .evex(Pp::P66, Map::M0F3A, w(element), opcode)
}

const fn insert(mnemonic: &'static str, element: u8, from: MemorySize, opcode: u8) -> Info {
    part(mnemonic, Form::Rvm, element, from)
        .imm(ImmKind::I8)
        .evex(Pp::P66, Map::M0F3A, w(element), opcode)
}

const fn part_128(mnemonic: &'static str, form: Form, opcode: u8) -> Info {
    Info::vector(mnemonic, form)
        .memory(Fixed16)
        .sizes(sizes::V256)
        .imm(ImmKind::I8)
        .vex(Pp::P66, Map::M0F3A, W::W0, opcode)
}

const fn extract_128(mnemonic: &'static str, opcode: u8) -> Info {
    part_128(mnemonic, Form::Mr, opcode)
}

const fn insert_128(mnemonic: &'static str, opcode: u8) -> Info {
    part_128(mnemonic, Form::Rvm, opcode)
}

const fn one_to_general(mnemonic: &'static str, element: u8, w: W, opcode: u8) -> Info {
    Info::scalar(mnemonic, Form::Mr, element)
        .classes(Class::Vector, Class::General)
        .imm(ImmKind::I8)
        .vex(Pp::P66, Map::M0F3A, w, opcode)
        .evex(Pp::P66, Map::M0F3A, w, opcode)
}

const fn one_from_general(mnemonic: &'static str, element: u8, w: W, map: Map, opcode: u8) -> Info {
    Info::scalar(mnemonic, Form::Rvm, element)
        .classes(Class::Vector, Class::General)
        .imm(ImmKind::I8)
        .vex(Pp::P66, map, w, opcode)
        .evex(Pp::P66, map, w, opcode)
}

/// Of the lowest element.
const fn broadcast(mnemonic: &'static str, element: u8, w: W, opcode: u8) -> Info {
    Info::vector(mnemonic, Form::Rm)
        .at(element, MemorySize::Element)
        .masking(Masking::Zero)
        .vex(Pp::P66, Map::M0F38, W::W0, opcode)
        .evex(Pp::P66, Map::M0F38, w, opcode)
}

const fn broadcast_general(mnemonic: &'static str, element: u8, w: W, opcode: u8) -> Info {
    Info::vector(mnemonic, Form::Rm)
        .classes(Class::Vector, Class::General)
        .at(element, MemorySize::None)
        .masking(Masking::Zero)
        .evex(Pp::P66, Map::M0F38, w, opcode)
}

const fn broadcast_part(mnemonic: &'static str, element: u8, of: MemorySize, opcode: u8) -> Info {
    part(mnemonic, Form::Rm, element, of).memory_only().evex(
        Pp::P66,
        Map::M0F38,
        w(element),
        opcode,
    )
}

macro_rules! parts_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* parts {
        Vextractf128 = extract_128("vextractf128", 0x19);
        Vextractf32x4 = extract("vextractf32x4", 4, Fixed16, 0x19);
        Vextractf64x2 = extract("vextractf64x2", 8, Fixed16, 0x19);
        Vextractf32x8 = extract("vextractf32x8", 4, Fixed32, 0x1b);
        Vextractf64x4 = extract("vextractf64x4", 8, Fixed32, 0x1b);
        Vinsertf128 = insert_128("vinsertf128", 0x18);
        Vinsertf32x4 = insert("vinsertf32x4", 4, Fixed16, 0x18);
        Vinsertf64x2 = insert("vinsertf64x2", 8, Fixed16, 0x18);
        Vinsertf32x8 = insert("vinsertf32x8", 4, Fixed32, 0x1a);
        Vinsertf64x4 = insert("vinsertf64x4", 8, Fixed32, 0x1a);
        Vextracti128 = extract_128("vextracti128", 0x39);
        Vextracti32x4 = extract("vextracti32x4", 4, Fixed16, 0x39);
        Vextracti64x2 = extract("vextracti64x2", 8, Fixed16, 0x39);
        Vextracti32x8 = extract("vextracti32x8", 4, Fixed32, 0x3b);
        Vextracti64x4 = extract("vextracti64x4", 8, Fixed32, 0x3b);
        Vinserti128 = insert_128("vinserti128", 0x38);
        Vinserti32x4 = insert("vinserti32x4", 4, Fixed16, 0x38);
        Vinserti64x2 = insert("vinserti64x2", 8, Fixed16, 0x38);
        Vinserti32x8 = insert("vinserti32x8", 4, Fixed32, 0x3a);
        Vinserti64x4 = insert("vinserti64x4", 8, Fixed32, 0x3a);

        // One element: from and to general registers or memory, by an immediate.
        Vpextrb = one_to_general("vpextrb", 1, W::W0, 0x14);
        Vpextrw = one_to_general("vpextrw", 2, W::W0, 0x15);
        Vpextrd = one_to_general("vpextrd", 4, W::W0, 0x16);
        Vpextrq = one_to_general("vpextrq", 8, W::W1, 0x16);
        Vextractps = one_to_general("vextractps", 4, W::W0, 0x17);
        Vpinsrb = one_from_general("vpinsrb", 1, W::W0, Map::M0F3A, 0x20);
        Vpinsrw = one_from_general("vpinsrw", 2, W::W0, Map::M0F, 0xc4);
        Vpinsrd = one_from_general("vpinsrd", 4, W::W0, Map::M0F3A, 0x22);
        Vpinsrq = one_from_general("vpinsrq", 8, W::W1, Map::M0F3A, 0x22);
        Vinsertps = Info::scalar("vinsertps", Form::Rvm, 4).imm(ImmKind::I8)
            .vex(Pp::P66, Map::M0F3A, W::Ig, 0x21).evex(Pp::P66, Map::M0F3A, W::W0, 0x21);

        Vpbroadcastb = broadcast("vpbroadcastb", 1, W::W0, 0x78);
        Vpbroadcastw = broadcast("vpbroadcastw", 2, W::W0, 0x79);
        Vpbroadcastd = broadcast("vpbroadcastd", 4, W::W0, 0x58);
        Vpbroadcastq = broadcast("vpbroadcastq", 8, W::W1, 0x59);
        Vbroadcastss = broadcast("vbroadcastss", 4, W::W0, 0x18);
        // Of 256 bits and more; of 128 bits it is vmovddup.
        Vbroadcastsd = broadcast("vbroadcastsd", 8, W::W1, 0x19).sizes(sizes::V256 | sizes::V512);
        VpbroadcastbGeneral = broadcast_general("vpbroadcastb", 1, W::W0, 0x7a);
        VpbroadcastwGeneral = broadcast_general("vpbroadcastw", 2, W::W0, 0x7b);
        VpbroadcastdGeneral = broadcast_general("vpbroadcastd", 4, W::W0, 0x7c);
        VpbroadcastqGeneral = broadcast_general("vpbroadcastq", 8, W::W1, 0x7c);
        // Parts of vectors, from memory.
        Vbroadcastf32x4 = broadcast_part("vbroadcastf32x4", 4, Fixed16, 0x1a)
            .vex(Pp::P66, Map::M0F38, W::W0, 0x1a);
        Vbroadcastf64x2 = broadcast_part("vbroadcastf64x2", 8, Fixed16, 0x1a);
        Vbroadcastf32x8 = broadcast_part("vbroadcastf32x8", 4, Fixed32, 0x1b);
        Vbroadcastf64x4 = broadcast_part("vbroadcastf64x4", 8, Fixed32, 0x1b);
        Vbroadcasti32x4 = broadcast_part("vbroadcasti32x4", 4, Fixed16, 0x5a)
            .vex(Pp::P66, Map::M0F38, W::W0, 0x5a);
        Vbroadcasti64x2 = broadcast_part("vbroadcasti64x2", 8, Fixed16, 0x5a);
        Vbroadcasti32x8 = broadcast_part("vbroadcasti32x8", 4, Fixed32, 0x5b);
        Vbroadcasti64x4 = broadcast_part("vbroadcasti64x4", 8, Fixed32, 0x5b);
    } } };
}

parts_rows! { rows; }
