//! Lanes that move: shuffles, permutes, compression and blends.

use crate::codegen::x64::encoding::info::{
    Form, ImmKind, Info, Map, Masking, MemorySize, Pp, W, sizes,
};

const fn elements(mnemonic: &'static str, form: Form, bytes: u8) -> Info {
    let info = Info::vector(mnemonic, form).masking(Masking::Zero);
    match bytes {
        4 | 8 => info.broadcast(bytes),
        _ => info.element(bytes),
    }
}

/// In both encodings; elements of 8 and 16 bits are told by the opcode.
const fn fixed(
    mnemonic: &'static str,
    form: Form,
    element: u8,
    pp: Pp,
    map: Map,
    opcode: u8,
) -> Info {
    let w = match element {
        8 => W::W1,
        _ => W::W0,
    };
    elements(mnemonic, form, element)
        .vex(pp, map, W::Ig, opcode)
        .evex(pp, map, w, opcode)
}

/// In both encodings; VEX.W is 0 always.
const fn in_place(mnemonic: &'static str, form: Form, element: u8, map: Map, opcode: u8) -> Info {
    fixed(mnemonic, form, element, Pp::P66, map, opcode).vex(Pp::P66, map, W::W0, opcode)
}

/// In EVEX alone, where W tells the elements apart.
const fn across(mnemonic: &'static str, form: Form, element: u8, map: Map, opcode: u8) -> Info {
    let w = match element {
        2 | 8 => W::W1,
        _ => W::W0,
    };
    elements(mnemonic, form, element).evex(Pp::P66, map, w, opcode)
}

/// Of 256 bits and more.
const fn wide(mnemonic: &'static str, form: Form, element: u8, map: Map, opcode: u8) -> Info {
    across(mnemonic, form, element, map, opcode).sizes(sizes::V256 | sizes::V512)
}

/// Halves of two vectors of 256 bits, in VEX.
const fn halves(mnemonic: &'static str, opcode: u8) -> Info {
    Info::vector(mnemonic, Form::Rvm)
        .sizes(sizes::V256)
        .imm(ImmKind::I8)
        .vex(Pp::P66, Map::M0F3A, W::W0, opcode)
}

/// Between lanes of the mask and contiguous ones, in memory too.
const fn packed(mnemonic: &'static str, form: Form, element: u8, opcode: u8) -> Info {
    across(mnemonic, form, element, Map::M0F38, opcode)
        .no_broadcast()
        .memory(MemorySize::Packed)
}

const fn blend(mnemonic: &'static str, form: Form, w: W, opcode: u8) -> Info {
    Info::vector(mnemonic, form)
        .sizes(sizes::V128 | sizes::V256)
        .vex(Pp::P66, Map::M0F3A, w, opcode)
}

macro_rules! shuffle_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* shuffle {
        Vpshufb = fixed("vpshufb", Form::Rvm, 1, Pp::P66, Map::M0F38, 0x00);
        Vpshufd = fixed("vpshufd", Form::Rm, 4, Pp::P66, Map::M0F, 0x70).imm(ImmKind::I8);
        Vpshufhw = fixed("vpshufhw", Form::Rm, 2, Pp::PF3, Map::M0F, 0x70).imm(ImmKind::I8);
        Vpshuflw = fixed("vpshuflw", Form::Rm, 2, Pp::PF2, Map::M0F, 0x70).imm(ImmKind::I8);
        Vshufps = fixed("vshufps", Form::Rvm, 4, Pp::Np, Map::M0F, 0xc6).imm(ImmKind::I8);
        Vshufpd = fixed("vshufpd", Form::Rvm, 8, Pp::P66, Map::M0F, 0xc6).imm(ImmKind::I8);
        Vpalignr = fixed("vpalignr", Form::Rvm, 1, Pp::P66, Map::M0F3A, 0x0f).imm(ImmKind::I8);
        Vpunpcklbw = fixed("vpunpcklbw", Form::Rvm, 1, Pp::P66, Map::M0F, 0x60);
        Vpunpcklwd = fixed("vpunpcklwd", Form::Rvm, 2, Pp::P66, Map::M0F, 0x61);
        Vpunpckldq = fixed("vpunpckldq", Form::Rvm, 4, Pp::P66, Map::M0F, 0x62);
        Vpunpcklqdq = fixed("vpunpcklqdq", Form::Rvm, 8, Pp::P66, Map::M0F, 0x6c);
        Vpunpckhbw = fixed("vpunpckhbw", Form::Rvm, 1, Pp::P66, Map::M0F, 0x68);
        Vpunpckhwd = fixed("vpunpckhwd", Form::Rvm, 2, Pp::P66, Map::M0F, 0x69);
        Vpunpckhdq = fixed("vpunpckhdq", Form::Rvm, 4, Pp::P66, Map::M0F, 0x6a);
        Vpunpckhqdq = fixed("vpunpckhqdq", Form::Rvm, 8, Pp::P66, Map::M0F, 0x6d);
        Vunpcklps = fixed("vunpcklps", Form::Rvm, 4, Pp::Np, Map::M0F, 0x14);
        Vunpcklpd = fixed("vunpcklpd", Form::Rvm, 8, Pp::P66, Map::M0F, 0x14);
        Vunpckhps = fixed("vunpckhps", Form::Rvm, 4, Pp::Np, Map::M0F, 0x15);
        Vunpckhpd = fixed("vunpckhpd", Form::Rvm, 8, Pp::P66, Map::M0F, 0x15);
        // Elements narrowed with saturation; the element is the source's.
        Vpacksswb = fixed("vpacksswb", Form::Rvm, 2, Pp::P66, Map::M0F, 0x63);
        Vpackuswb = fixed("vpackuswb", Form::Rvm, 2, Pp::P66, Map::M0F, 0x67);
        Vpackssdw = fixed("vpackssdw", Form::Rvm, 4, Pp::P66, Map::M0F, 0x6b);
        Vpackusdw = fixed("vpackusdw", Form::Rvm, 4, Pp::P66, Map::M0F38, 0x2b);

        // Within 128 bits; the other permutes are across all.
        Vpermilps = in_place("vpermilps", Form::Rvm, 4, Map::M0F38, 0x0c);
        Vpermilpd = in_place("vpermilpd", Form::Rvm, 8, Map::M0F38, 0x0d);
        VpermilpsImm = in_place("vpermilps", Form::Rm, 4, Map::M0F3A, 0x04).imm(ImmKind::I8);
        VpermilpdImm = in_place("vpermilpd", Form::Rm, 8, Map::M0F3A, 0x05).imm(ImmKind::I8);
        // The indices are the first source.
        Vpermb = across("vpermb", Form::Rvm, 1, Map::M0F38, 0x8d);
        Vpermw = across("vpermw", Form::Rvm, 2, Map::M0F38, 0x8d);
        Vpermd = wide("vpermd", Form::Rvm, 4, Map::M0F38, 0x36)
            .vex(Pp::P66, Map::M0F38, W::W0, 0x36);
        Vpermps = wide("vpermps", Form::Rvm, 4, Map::M0F38, 0x16)
            .vex(Pp::P66, Map::M0F38, W::W0, 0x16);
        Vpermq = wide("vpermq", Form::Rvm, 8, Map::M0F38, 0x36);
        Vpermpd = wide("vpermpd", Form::Rvm, 8, Map::M0F38, 0x16);
        VpermqImm = wide("vpermq", Form::Rm, 8, Map::M0F3A, 0x00).imm(ImmKind::I8)
            .vex(Pp::P66, Map::M0F3A, W::W1, 0x00);
        VpermpdImm = wide("vpermpd", Form::Rm, 8, Map::M0F3A, 0x01).imm(ImmKind::I8)
            .vex(Pp::P66, Map::M0F3A, W::W1, 0x01);
        // Of two sources: the indices are in the destination, or (t2) the first source.
        Vpermi2b = across("vpermi2b", Form::Rvma, 1, Map::M0F38, 0x75);
        Vpermi2w = across("vpermi2w", Form::Rvma, 2, Map::M0F38, 0x75);
        Vpermi2d = across("vpermi2d", Form::Rvma, 4, Map::M0F38, 0x76);
        Vpermi2q = across("vpermi2q", Form::Rvma, 8, Map::M0F38, 0x76);
        Vpermi2ps = across("vpermi2ps", Form::Rvma, 4, Map::M0F38, 0x77);
        Vpermi2pd = across("vpermi2pd", Form::Rvma, 8, Map::M0F38, 0x77);
        Vpermt2b = across("vpermt2b", Form::Rvma, 1, Map::M0F38, 0x7d);
        Vpermt2w = across("vpermt2w", Form::Rvma, 2, Map::M0F38, 0x7d);
        Vpermt2d = across("vpermt2d", Form::Rvma, 4, Map::M0F38, 0x7e);
        Vpermt2q = across("vpermt2q", Form::Rvma, 8, Map::M0F38, 0x7e);
        Vpermt2ps = across("vpermt2ps", Form::Rvma, 4, Map::M0F38, 0x7f);
        Vpermt2pd = across("vpermt2pd", Form::Rvma, 8, Map::M0F38, 0x7f);
        Vperm2f128 = halves("vperm2f128", 0x06);
        Vperm2i128 = halves("vperm2i128", 0x46);
        Vshuff32x4 = wide("vshuff32x4", Form::Rvm, 4, Map::M0F3A, 0x23).imm(ImmKind::I8);
        Vshuff64x2 = wide("vshuff64x2", Form::Rvm, 8, Map::M0F3A, 0x23).imm(ImmKind::I8);
        Vshufi32x4 = wide("vshufi32x4", Form::Rvm, 4, Map::M0F3A, 0x43).imm(ImmKind::I8);
        Vshufi64x2 = wide("vshufi64x2", Form::Rvm, 8, Map::M0F3A, 0x43).imm(ImmKind::I8);
        Valignd = across("valignd", Form::Rvm, 4, Map::M0F3A, 0x03).imm(ImmKind::I8);
        Valignq = across("valignq", Form::Rvm, 8, Map::M0F3A, 0x03).imm(ImmKind::I8);
        // The second source is bytes of 64 bits, the first says which eight bits.
        Vpmultishiftqb = across("vpmultishiftqb", Form::Rvm, 8, Map::M0F38, 0x83);

        Vpexpandb = packed("vpexpandb", Form::Rm, 1, 0x62);
        Vpexpandw = packed("vpexpandw", Form::Rm, 2, 0x62);
        Vpexpandd = packed("vpexpandd", Form::Rm, 4, 0x89);
        Vpexpandq = packed("vpexpandq", Form::Rm, 8, 0x89);
        Vpcompressb = packed("vpcompressb", Form::Mr, 1, 0x63);
        Vpcompressw = packed("vpcompressw", Form::Mr, 2, 0x63);
        Vpcompressd = packed("vpcompressd", Form::Mr, 4, 0x8b);
        Vpcompressq = packed("vpcompressq", Form::Mr, 8, 0x8b);

        // By the mask: the second source where it is set.
        Vblendmps = across("vblendmps", Form::Rvm, 4, Map::M0F38, 0x65);
        Vblendmpd = across("vblendmpd", Form::Rvm, 8, Map::M0F38, 0x65);
        Vpblendmb = across("vpblendmb", Form::Rvm, 1, Map::M0F38, 0x66);
        Vpblendmw = across("vpblendmw", Form::Rvm, 2, Map::M0F38, 0x66);
        Vpblendmd = across("vpblendmd", Form::Rvm, 4, Map::M0F38, 0x64);
        Vpblendmq = across("vpblendmq", Form::Rvm, 8, Map::M0F38, 0x64);
        // By bits of the immediate, or sign bits of a fourth register.
        Vblendps = blend("vblendps", Form::Rvm, W::Ig, 0x0c).imm(ImmKind::I8);
        Vblendpd = blend("vblendpd", Form::Rvm, W::Ig, 0x0d).imm(ImmKind::I8);
        Vblendvps = blend("vblendvps", Form::Rvmr, W::W0, 0x4a).imm(ImmKind::Register);
        Vblendvpd = blend("vblendvpd", Form::Rvmr, W::W0, 0x4b).imm(ImmKind::Register);
        Vpblendvb = blend("vpblendvb", Form::Rvmr, W::W0, 0x4c).imm(ImmKind::Register);
    } } };
}

shuffle_rows! { rows; }
