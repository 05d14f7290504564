//! Integer elements widened and narrowed. The size is that of the wider vector; the element is the
//! narrower's.

use crate::codegen::x64::encoding::info::{Form, Info, Map, Masking, MemorySize, Pp, W};

use MemorySize::{Eighth, Half, Quarter};

const fn resize(mnemonic: &'static str, form: Form, element: u8, memory: MemorySize) -> Info {
    Info::vector(mnemonic, form)
        .at(element, memory)
        .masking(Masking::Zero)
}

/// With signs or zeros.
const fn extend(mnemonic: &'static str, element: u8, memory: MemorySize, opcode: u8) -> Info {
    resize(mnemonic, Form::Rm, element, memory)
        .vex(Pp::P66, Map::M0F38, W::Ig, opcode)
        .evex(Pp::P66, Map::M0F38, W::W0, opcode)
}

/// To the low bits, or with saturation (s, us).
const fn truncate(mnemonic: &'static str, element: u8, memory: MemorySize, opcode: u8) -> Info {
    resize(mnemonic, Form::Mr, element, memory).evex(Pp::PF3, Map::M0F38, W::W0, opcode)
}

macro_rules! resize_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* resize {
        Vpmovsxbw = extend("vpmovsxbw", 1, Half, 0x20);
        Vpmovsxbd = extend("vpmovsxbd", 1, Quarter, 0x21);
        Vpmovsxbq = extend("vpmovsxbq", 1, Eighth, 0x22);
        Vpmovsxwd = extend("vpmovsxwd", 2, Half, 0x23);
        Vpmovsxwq = extend("vpmovsxwq", 2, Quarter, 0x24);
        Vpmovsxdq = extend("vpmovsxdq", 4, Half, 0x25);
        Vpmovzxbw = extend("vpmovzxbw", 1, Half, 0x30);
        Vpmovzxbd = extend("vpmovzxbd", 1, Quarter, 0x31);
        Vpmovzxbq = extend("vpmovzxbq", 1, Eighth, 0x32);
        Vpmovzxwd = extend("vpmovzxwd", 2, Half, 0x33);
        Vpmovzxwq = extend("vpmovzxwq", 2, Quarter, 0x34);
        Vpmovzxdq = extend("vpmovzxdq", 4, Half, 0x35);
        Vpmovwb = truncate("vpmovwb", 1, Half, 0x30);
        Vpmovdb = truncate("vpmovdb", 1, Quarter, 0x31);
        Vpmovqb = truncate("vpmovqb", 1, Eighth, 0x32);
        Vpmovdw = truncate("vpmovdw", 2, Half, 0x33);
        Vpmovqw = truncate("vpmovqw", 2, Quarter, 0x34);
        Vpmovqd = truncate("vpmovqd", 4, Half, 0x35);
        Vpmovswb = truncate("vpmovswb", 1, Half, 0x20);
        Vpmovsdb = truncate("vpmovsdb", 1, Quarter, 0x21);
        Vpmovsqb = truncate("vpmovsqb", 1, Eighth, 0x22);
        Vpmovsdw = truncate("vpmovsdw", 2, Half, 0x23);
        Vpmovsqw = truncate("vpmovsqw", 2, Quarter, 0x24);
        Vpmovsqd = truncate("vpmovsqd", 4, Half, 0x25);
        Vpmovuswb = truncate("vpmovuswb", 1, Half, 0x10);
        Vpmovusdb = truncate("vpmovusdb", 1, Quarter, 0x11);
        Vpmovusqb = truncate("vpmovusqb", 1, Eighth, 0x12);
        Vpmovusdw = truncate("vpmovusdw", 2, Half, 0x13);
        Vpmovusqw = truncate("vpmovusqw", 2, Quarter, 0x14);
        Vpmovusqd = truncate("vpmovusqd", 4, Half, 0x15);
    } } };
}

resize_rows! { rows; }
