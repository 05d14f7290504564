//! Conversions between number formats.
//!
//! The size is that of the wider of source and destination: `vcvtps2pd` of 512 bits reads 256.
//! Conversions to and from general registers have the general register's.

use crate::codegen::x64::encoding::info::{
    Class, Form, ImmKind, Info, Length, Map, Masking, MemorySize, Pp, Rounding, W, sizes,
};

use Rounding::{Sae, Static};

/// Of vectors, with the source's element: sources that are narrower than the vector say so.
const fn convert(mnemonic: &'static str, element: u8, rounding: Rounding) -> Info {
    Info::vector(mnemonic, Form::Rm)
        .broadcast(element)
        .masking(Masking::Zero)
        .rounding(rounding)
}

const fn half(mnemonic: &'static str, element: u8, rounding: Rounding) -> Info {
    convert(mnemonic, element, rounding).memory(MemorySize::Half)
}

/// Of map 0F; VEX has those of old that keep to 32-bit integers.
const fn avx(info: Info, pp: Pp, w: W, opcode: u8) -> Info {
    avx512(info, pp, w, opcode).vex(pp, Map::M0F, W::Ig, opcode)
}

const fn avx512(info: Info, pp: Pp, w: W, opcode: u8) -> Info {
    info.evex(pp, Map::M0F, w, opcode)
}

/// Between the scalar formats.
const fn scalar(mnemonic: &'static str, element: u8, rounding: Rounding) -> Info {
    Info::scalar(mnemonic, Form::Rvm, element)
        .masking(Masking::Zero)
        .rounding(rounding)
}

/// From a general register.
const fn from_general(mnemonic: &'static str, pp: Pp, opcode: u8) -> Info {
    Info::new(mnemonic, Form::Rvm, Class::Vector)
        .classes(Class::Vector, Class::General)
        .sizes(sizes::B32_64)
        .memory(MemorySize::Full)
        .length(Length::L0)
        .rounding(Static)
        .evex(pp, Map::M0F, W::BySize, opcode)
}

/// To a general register.
const fn to_general(mnemonic: &'static str, pp: Pp, rounding: Rounding, opcode: u8) -> Info {
    let element = match pp {
        Pp::PF3 => 4,
        _ => 8,
    };
    Info::scalar(mnemonic, Form::Rm, element)
        .classes(Class::General, Class::Vector)
        .sizes(sizes::B32_64)
        .rounding(rounding)
        .evex(pp, Map::M0F, W::BySize, opcode)
}

/// VEX has it too.
const fn signed(info: Info, pp: Pp, opcode: u8) -> Info {
    info.vex(pp, Map::M0F, W::BySize, opcode)
}

macro_rules! convert_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* convert {
        Vcvtps2pd = avx(half("vcvtps2pd", 4, Sae), Pp::Np, W::W0, 0x5a);
        Vcvtpd2ps = avx(convert("vcvtpd2ps", 8, Static), Pp::P66, W::W1, 0x5a);
        Vcvtss2sd = avx(scalar("vcvtss2sd", 4, Sae), Pp::PF3, W::W0, 0x5a);
        Vcvtsd2ss = avx(scalar("vcvtsd2ss", 8, Static), Pp::PF2, W::W1, 0x5a);
        Vcvtph2ps = half("vcvtph2ps", 2, Sae).no_broadcast()
            .vex(Pp::P66, Map::M0F38, W::W0, 0x13).evex(Pp::P66, Map::M0F38, W::W0, 0x13);
        Vcvtps2ph = Info::vector("vcvtps2ph", Form::Mr).at(2, MemorySize::Half)
            .masking(Masking::Zero).rounding(Sae).imm(ImmKind::I8)
            .vex(Pp::P66, Map::M0F3A, W::W0, 0x1d).evex(Pp::P66, Map::M0F3A, W::W0, 0x1d);
        // Of AVX512-FP16: as vcvtph2ps, with a broadcast; and rounding as MXCSR says.
        Vcvtph2psx = half("vcvtph2psx", 2, Sae).evex(Pp::P66, Map::M6, W::W0, 0x13);
        Vcvtps2phx = convert("vcvtps2phx", 4, Static).evex(Pp::P66, Map::M5, W::W0, 0x1d);

        Vcvtdq2ps = avx(convert("vcvtdq2ps", 4, Static), Pp::Np, W::W0, 0x5b);
        Vcvtudq2ps = avx512(convert("vcvtudq2ps", 4, Static), Pp::PF2, W::W0, 0x7a);
        Vcvtqq2ps = avx512(convert("vcvtqq2ps", 8, Static), Pp::Np, W::W1, 0x5b);
        Vcvtuqq2ps = avx512(convert("vcvtuqq2ps", 8, Static), Pp::PF2, W::W1, 0x7a);
        Vcvtdq2pd = avx(half("vcvtdq2pd", 4, Rounding::None), Pp::PF3, W::W0, 0xe6);
        Vcvtudq2pd = avx512(half("vcvtudq2pd", 4, Rounding::None), Pp::PF3, W::W0, 0x7a);
        Vcvtqq2pd = avx512(convert("vcvtqq2pd", 8, Static), Pp::PF3, W::W1, 0xe6);
        Vcvtuqq2pd = avx512(convert("vcvtuqq2pd", 8, Static), Pp::PF3, W::W1, 0x7a);

        Vcvtps2dq = avx(convert("vcvtps2dq", 4, Static), Pp::P66, W::W0, 0x5b);
        Vcvttps2dq = avx(convert("vcvttps2dq", 4, Sae), Pp::PF3, W::W0, 0x5b);
        Vcvtps2udq = avx512(convert("vcvtps2udq", 4, Static), Pp::Np, W::W0, 0x79);
        Vcvttps2udq = avx512(convert("vcvttps2udq", 4, Sae), Pp::Np, W::W0, 0x78);
        Vcvtps2qq = avx512(half("vcvtps2qq", 4, Static), Pp::P66, W::W0, 0x7b);
        Vcvttps2qq = avx512(half("vcvttps2qq", 4, Sae), Pp::P66, W::W0, 0x7a);
        Vcvtps2uqq = avx512(half("vcvtps2uqq", 4, Static), Pp::P66, W::W0, 0x79);
        Vcvttps2uqq = avx512(half("vcvttps2uqq", 4, Sae), Pp::P66, W::W0, 0x78);
        Vcvtpd2dq = avx(convert("vcvtpd2dq", 8, Static), Pp::PF2, W::W1, 0xe6);
        Vcvttpd2dq = avx(convert("vcvttpd2dq", 8, Sae), Pp::P66, W::W1, 0xe6);
        Vcvtpd2udq = avx512(convert("vcvtpd2udq", 8, Static), Pp::Np, W::W1, 0x79);
        Vcvttpd2udq = avx512(convert("vcvttpd2udq", 8, Sae), Pp::Np, W::W1, 0x78);
        Vcvtpd2qq = avx512(convert("vcvtpd2qq", 8, Static), Pp::P66, W::W1, 0x7b);
        Vcvttpd2qq = avx512(convert("vcvttpd2qq", 8, Sae), Pp::P66, W::W1, 0x7a);
        Vcvtpd2uqq = avx512(convert("vcvtpd2uqq", 8, Static), Pp::P66, W::W1, 0x79);
        Vcvttpd2uqq = avx512(convert("vcvttpd2uqq", 8, Sae), Pp::P66, W::W1, 0x78);

        Vcvtsi2ss = signed(from_general("vcvtsi2ss", Pp::PF3, 0x2a), Pp::PF3, 0x2a);
        Vcvtsi2sd = signed(from_general("vcvtsi2sd", Pp::PF2, 0x2a), Pp::PF2, 0x2a)
            .rounding(Rounding::StaticOf64);
        Vcvtusi2ss = from_general("vcvtusi2ss", Pp::PF3, 0x7b);
        Vcvtusi2sd = from_general("vcvtusi2sd", Pp::PF2, 0x7b).rounding(Rounding::StaticOf64);
        Vcvtss2si = signed(to_general("vcvtss2si", Pp::PF3, Static, 0x2d), Pp::PF3, 0x2d);
        Vcvtsd2si = signed(to_general("vcvtsd2si", Pp::PF2, Static, 0x2d), Pp::PF2, 0x2d);
        Vcvttss2si = signed(to_general("vcvttss2si", Pp::PF3, Sae, 0x2c), Pp::PF3, 0x2c);
        Vcvttsd2si = signed(to_general("vcvttsd2si", Pp::PF2, Sae, 0x2c), Pp::PF2, 0x2c);
        Vcvtss2usi = to_general("vcvtss2usi", Pp::PF3, Static, 0x79);
        Vcvtsd2usi = to_general("vcvtsd2usi", Pp::PF2, Static, 0x79);
        Vcvttss2usi = to_general("vcvttss2usi", Pp::PF3, Sae, 0x78);
        Vcvttsd2usi = to_general("vcvttsd2usi", Pp::PF2, Sae, 0x78);
    } } };
}

convert_rows! { rows; }
