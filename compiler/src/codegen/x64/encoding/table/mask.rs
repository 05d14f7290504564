//! Mask registers.

use crate::codegen::x64::encoding::info::{
    Class, Form, ImmKind, Info, Length, Map, MemorySize, Pp, W, sizes,
};

/// Where the mask instructions of 8, 16, 32 and 64 bits are, for most opcodes.
const fn encoding(bytes: u8) -> (Pp, W) {
    match bytes {
        1 => (Pp::P66, W::W0),
        2 => (Pp::Np, W::W0),
        4 => (Pp::P66, W::W1),
        _ => (Pp::Np, W::W1),
    }
}

/// On mask registers alone.
const fn masks(mnemonic: &'static str, form: Form, length: Length, bytes: u8, opcode: u8) -> Info {
    let (pp, w) = encoding(bytes);
    Info::new(mnemonic, form, Class::Mask)
        .sizes(sizes::ANY)
        .element(bytes)
        .length(length)
        .vex(pp, Map::M0F, w, opcode)
}

const fn binary(mnemonic: &'static str, bytes: u8, opcode: u8) -> Info {
    masks(mnemonic, Form::Rvm, Length::L1, bytes, opcode)
}

const fn load(mnemonic: &'static str, bytes: u8) -> Info {
    masks(mnemonic, Form::Rm, Length::L0, bytes, 0x90).memory(MemorySize::Element)
}

const fn store(mnemonic: &'static str, bytes: u8) -> Info {
    masks(mnemonic, Form::Mr, Length::L0, bytes, 0x91)
        .memory(MemorySize::Element)
        .memory_only()
}

/// Between a mask and a general register.
const fn general(mnemonic: &'static str, bytes: u8, opcode: u8) -> Info {
    let (pp, w) = match bytes {
        1 | 2 => encoding(bytes),
        4 => (Pp::PF2, W::W0),
        _ => (Pp::PF2, W::W1),
    };
    let info = masks(mnemonic, Form::Rm, Length::L0, bytes, opcode).vex(pp, Map::M0F, w, opcode);
    match opcode {
        0x92 => info.classes(Class::Mask, Class::General),
        _ => info.classes(Class::General, Class::Mask),
    }
}

/// By an immediate; the opcode is that of 8 and 16 bits.
const fn shift(mnemonic: &'static str, bytes: u8, opcode: u8) -> Info {
    let (w, opcode) = match bytes {
        1 => (W::W0, opcode),
        2 => (W::W1, opcode),
        4 => (W::W0, opcode + 1),
        _ => (W::W1, opcode + 1),
    };
    masks(mnemonic, Form::Rm, Length::L0, bytes, opcode)
        .vex(Pp::P66, Map::M0F3A, w, opcode)
        .imm(ImmKind::I8)
}

/// A mask to all-ones and all-zeros lanes (28, 38), or the lanes' sign bits to a mask (29, 39).
const fn lanes(mnemonic: &'static str, w: W, opcode: u8) -> Info {
    let info = Info::vector(mnemonic, Form::Rm).memory(MemorySize::None);
    let info = info.evex(Pp::PF3, Map::M0F38, w, opcode);
    match opcode & 1 {
        0 => info.classes(Class::Vector, Class::Mask),
        _ => info.classes(Class::Mask, Class::Vector),
    }
}

macro_rules! mask_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* mask {
        Kmovb = load("kmovb", 1);
        Kmovw = load("kmovw", 2);
        Kmovd = load("kmovd", 4);
        Kmovq = load("kmovq", 8);
        KmovbStore = store("kmovb", 1);
        KmovwStore = store("kmovw", 2);
        KmovdStore = store("kmovd", 4);
        KmovqStore = store("kmovq", 8);
        KmovbFromGeneral = general("kmovb", 1, 0x92);
        KmovwFromGeneral = general("kmovw", 2, 0x92);
        KmovdFromGeneral = general("kmovd", 4, 0x92);
        KmovqFromGeneral = general("kmovq", 8, 0x92);
        // Zero-extended.
        KmovbToGeneral = general("kmovb", 1, 0x93);
        KmovwToGeneral = general("kmovw", 2, 0x93);
        KmovdToGeneral = general("kmovd", 4, 0x93);
        KmovqToGeneral = general("kmovq", 8, 0x93);
        Kandb = binary("kandb", 1, 0x41);
        Kandw = binary("kandw", 2, 0x41);
        Kandd = binary("kandd", 4, 0x41);
        Kandq = binary("kandq", 8, 0x41);
        Kandnb = binary("kandnb", 1, 0x42);
        Kandnw = binary("kandnw", 2, 0x42);
        Kandnd = binary("kandnd", 4, 0x42);
        Kandnq = binary("kandnq", 8, 0x42);
        Korb = binary("korb", 1, 0x45);
        Korw = binary("korw", 2, 0x45);
        Kord = binary("kord", 4, 0x45);
        Korq = binary("korq", 8, 0x45);
        Kxnorb = binary("kxnorb", 1, 0x46);
        Kxnorw = binary("kxnorw", 2, 0x46);
        Kxnord = binary("kxnord", 4, 0x46);
        Kxnorq = binary("kxnorq", 8, 0x46);
        Kxorb = binary("kxorb", 1, 0x47);
        Kxorw = binary("kxorw", 2, 0x47);
        Kxord = binary("kxord", 4, 0x47);
        Kxorq = binary("kxorq", 8, 0x47);
        Kaddb = binary("kaddb", 1, 0x4a);
        Kaddw = binary("kaddw", 2, 0x4a);
        Kaddd = binary("kaddd", 4, 0x4a);
        Kaddq = binary("kaddq", 8, 0x4a);
        // The first source is the high half.
        Kunpckbw = binary("kunpckbw", 1, 0x4b);
        Kunpckwd = binary("kunpckwd", 2, 0x4b);
        Kunpckdq = binary("kunpckdq", 8, 0x4b);
        Knotb = masks("knotb", Form::Rm, Length::L0, 1, 0x44);
        Knotw = masks("knotw", Form::Rm, Length::L0, 2, 0x44);
        Knotd = masks("knotd", Form::Rm, Length::L0, 4, 0x44);
        Knotq = masks("knotq", Form::Rm, Length::L0, 8, 0x44);
        Kortestb = masks("kortestb", Form::RmTest, Length::L0, 1, 0x98);
        Kortestw = masks("kortestw", Form::RmTest, Length::L0, 2, 0x98);
        Kortestd = masks("kortestd", Form::RmTest, Length::L0, 4, 0x98);
        Kortestq = masks("kortestq", Form::RmTest, Length::L0, 8, 0x98);
        Ktestb = masks("ktestb", Form::RmTest, Length::L0, 1, 0x99);
        Ktestw = masks("ktestw", Form::RmTest, Length::L0, 2, 0x99);
        Ktestd = masks("ktestd", Form::RmTest, Length::L0, 4, 0x99);
        Ktestq = masks("ktestq", Form::RmTest, Length::L0, 8, 0x99);
        Kshiftrb = shift("kshiftrb", 1, 0x30);
        Kshiftrw = shift("kshiftrw", 2, 0x30);
        Kshiftrd = shift("kshiftrd", 4, 0x30);
        Kshiftrq = shift("kshiftrq", 8, 0x30);
        Kshiftlb = shift("kshiftlb", 1, 0x32);
        Kshiftlw = shift("kshiftlw", 2, 0x32);
        Kshiftld = shift("kshiftld", 4, 0x32);
        Kshiftlq = shift("kshiftlq", 8, 0x32);
        Vpmovm2b = lanes("vpmovm2b", W::W0, 0x28);
        Vpmovm2w = lanes("vpmovm2w", W::W1, 0x28);
        Vpmovm2d = lanes("vpmovm2d", W::W0, 0x38);
        Vpmovm2q = lanes("vpmovm2q", W::W1, 0x38);
        Vpmovb2m = lanes("vpmovb2m", W::W0, 0x29);
        Vpmovw2m = lanes("vpmovw2m", W::W1, 0x29);
        Vpmovd2m = lanes("vpmovd2m", W::W0, 0x39);
        Vpmovq2m = lanes("vpmovq2m", W::W1, 0x39);
        // A mask as a number, in every lane.
        Vpbroadcastmb2q = lanes("vpbroadcastmb2q", W::W1, 0x2a);
        Vpbroadcastmw2d = lanes("vpbroadcastmw2d", W::W0, 0x3a);
    } } };
}

mask_rows! { rows; }
