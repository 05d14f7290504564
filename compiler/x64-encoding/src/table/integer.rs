//! Integer arithmetic, bitwise operations and comparisons.

use crate::info::{Class, Extension, Form, ImmKind, Info, Map, Masking, Pp, W, sizes};

use Extension::{Bitalg, Gfni, Vnni, Vpopcntdq};

/// EVEX.W, which tells elements of 32 and 64 bits, and those of 8 and 16 where an opcode has both.
const fn w(element: u8) -> W {
    match element {
        2 | 8 => W::W1,
        _ => W::W0,
    }
}

const fn masked(mnemonic: &'static str, form: Form) -> Info {
    Info::vector(mnemonic, form).masking(Masking::Zero)
}

/// Elements of 32 and 64 bits can be broadcast.
const fn elements(info: Info, bytes: u8) -> Info {
    match bytes {
        4 | 8 => info.broadcast(bytes),
        _ => info.element(bytes),
    }
}

/// In both encodings.
const fn both(info: Info, element: u8, map: Map, opcode: u8) -> Info {
    let w = match element {
        8 => W::W1,
        _ => W::W0,
    };
    elements(info, element)
        .vex(Pp::P66, map, W::Ig, opcode)
        .evex(Pp::P66, map, w, opcode)
}

const fn binary(mnemonic: &'static str, element: u8, map: Map, opcode: u8) -> Info {
    both(masked(mnemonic, Form::Rvm), element, map, opcode)
}

/// Of sources that can be exchanged.
const fn symmetric(mnemonic: &'static str, element: u8, map: Map, opcode: u8) -> Info {
    binary(mnemonic, element, map, opcode).commutes()
}

const fn unary(mnemonic: &'static str, element: u8, opcode: u8) -> Info {
    both(masked(mnemonic, Form::Rm), element, Map::M0F38, opcode)
}

/// Of map 0F38, in EVEX alone.
const fn avx512(mnemonic: &'static str, form: Form, element: u8, opcode: u8) -> Info {
    elements(masked(mnemonic, form), element).evex(Pp::P66, Map::M0F38, w(element), opcode)
}

/// The immediate is the truth table: bit 4c + 2a + b.
const fn ternary_logic(mnemonic: &'static str, element: u8) -> Info {
    let info = masked(mnemonic, Form::Rvma)
        .broadcast(element)
        .imm(ImmKind::I8);
    info.evex(Pp::P66, Map::M0F3A, w(element), 0x25)
}

/// By a predicate, to a mask.
const fn compare_to_mask(mnemonic: &'static str, element: u8, opcode: u8) -> Info {
    elements(Info::vector(mnemonic, Form::Rvm), element)
        .classes(Class::Mask, Class::Vector)
        .masking(Masking::Merge)
        .imm(ImmKind::I8)
        .evex(Pp::P66, Map::M0F3A, w(element), opcode)
}

/// To lanes of ones and zeros.
const fn compare(mnemonic: &'static str, map: Map, opcode: u8) -> Info {
    let info = Info::vector(mnemonic, Form::Rvm).sizes(sizes::V128 | sizes::V256);
    info.vex(Pp::P66, map, W::Ig, opcode)
}

/// Whether the sources have a bit in common, to a mask.
const fn test(mnemonic: &'static str, pp: Pp, element: u8, opcode: u8) -> Info {
    elements(Info::vector(mnemonic, Form::Rvm), element)
        .classes(Class::Mask, Class::Vector)
        .masking(Masking::Merge)
        .evex(pp, Map::M0F38, w(element), opcode)
}

macro_rules! integer_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* integer {
        Vpaddb = symmetric("vpaddb", 1, Map::M0F, 0xfc);
        Vpaddw = symmetric("vpaddw", 2, Map::M0F, 0xfd);
        Vpaddd = symmetric("vpaddd", 4, Map::M0F, 0xfe);
        Vpaddq = symmetric("vpaddq", 8, Map::M0F, 0xd4);
        Vpsubb = binary("vpsubb", 1, Map::M0F, 0xf8);
        Vpsubw = binary("vpsubw", 2, Map::M0F, 0xf9);
        Vpsubd = binary("vpsubd", 4, Map::M0F, 0xfa);
        Vpsubq = binary("vpsubq", 8, Map::M0F, 0xfb);
        Vpaddsb = symmetric("vpaddsb", 1, Map::M0F, 0xec);
        Vpaddsw = symmetric("vpaddsw", 2, Map::M0F, 0xed);
        Vpaddusb = symmetric("vpaddusb", 1, Map::M0F, 0xdc);
        Vpaddusw = symmetric("vpaddusw", 2, Map::M0F, 0xdd);
        Vpsubsb = binary("vpsubsb", 1, Map::M0F, 0xe8);
        Vpsubsw = binary("vpsubsw", 2, Map::M0F, 0xe9);
        Vpsubusb = binary("vpsubusb", 1, Map::M0F, 0xd8);
        Vpsubusw = binary("vpsubusw", 2, Map::M0F, 0xd9);
        Vpavgb = symmetric("vpavgb", 1, Map::M0F, 0xe0);
        Vpavgw = symmetric("vpavgw", 2, Map::M0F, 0xe3);
        Vpminsb = symmetric("vpminsb", 1, Map::M0F38, 0x38);
        Vpminsw = symmetric("vpminsw", 2, Map::M0F, 0xea);
        Vpminsd = symmetric("vpminsd", 4, Map::M0F38, 0x39);
        Vpminub = symmetric("vpminub", 1, Map::M0F, 0xda);
        Vpminuw = symmetric("vpminuw", 2, Map::M0F38, 0x3a);
        Vpminud = symmetric("vpminud", 4, Map::M0F38, 0x3b);
        Vpmaxsb = symmetric("vpmaxsb", 1, Map::M0F38, 0x3c);
        Vpmaxsw = symmetric("vpmaxsw", 2, Map::M0F, 0xee);
        Vpmaxsd = symmetric("vpmaxsd", 4, Map::M0F38, 0x3d);
        Vpmaxub = symmetric("vpmaxub", 1, Map::M0F, 0xde);
        Vpmaxuw = symmetric("vpmaxuw", 2, Map::M0F38, 0x3e);
        Vpmaxud = symmetric("vpmaxud", 4, Map::M0F38, 0x3f);
        Vpmullw = symmetric("vpmullw", 2, Map::M0F, 0xd5);
        Vpmulld = symmetric("vpmulld", 4, Map::M0F38, 0x40);
        Vpmulhw = symmetric("vpmulhw", 2, Map::M0F, 0xe5);
        Vpmulhuw = symmetric("vpmulhuw", 2, Map::M0F, 0xe4);
        Vpmuludq = symmetric("vpmuludq", 8, Map::M0F, 0xf4);
        Vpmuldq = symmetric("vpmuldq", 8, Map::M0F38, 0x28);
        Vpmaddwd = symmetric("vpmaddwd", 2, Map::M0F, 0xf5);
        Vpmaddubsw = binary("vpmaddubsw", 1, Map::M0F38, 0x04);
        Vpminsq = avx512("vpminsq", Form::Rvm, 8, 0x39);
        Vpminuq = avx512("vpminuq", Form::Rvm, 8, 0x3b);
        Vpmaxsq = avx512("vpmaxsq", Form::Rvm, 8, 0x3d);
        Vpmaxuq = avx512("vpmaxuq", Form::Rvm, 8, 0x3f);
        Vpmullq = avx512("vpmullq", Form::Rvm, 8, 0x40);
        // Of bytes, summed to 64 bits; without a mask.
        Vpsadbw = both(Info::vector("vpsadbw", Form::Rvm), 1, Map::M0F, 0xf6);
        Vpabsb = unary("vpabsb", 1, 0x1c);
        Vpabsw = unary("vpabsw", 2, 0x1d);
        Vpabsd = unary("vpabsd", 4, 0x1e);
        Vpabsq = avx512("vpabsq", Form::Rm, 8, 0x1f);
        Vplzcntd = avx512("vplzcntd", Form::Rm, 4, 0x44);
        Vplzcntq = avx512("vplzcntq", Form::Rm, 8, 0x44);
        Vpconflictd = avx512("vpconflictd", Form::Rm, 4, 0xc4);
        Vpconflictq = avx512("vpconflictq", Form::Rm, 8, 0xc4);
        Vpopcntb = avx512("vpopcntb", Form::Rm, 1, 0x54).needs(Bitalg);
        Vpopcntw = avx512("vpopcntw", Form::Rm, 2, 0x54).needs(Bitalg);
        Vpopcntd = avx512("vpopcntd", Form::Rm, 4, 0x55).needs(Vpopcntdq);
        Vpopcntq = avx512("vpopcntq", Form::Rm, 8, 0x55).needs(Vpopcntdq);
        // VEX has these too, on CPUs that say so apart from AVX-512.
        Vpdpbusd = avx512("vpdpbusd", Form::Rvma, 4, 0x50).needs(Vnni);
        Vpdpbusds = avx512("vpdpbusds", Form::Rvma, 4, 0x51).needs(Vnni);
        Vpdpwssd = avx512("vpdpwssd", Form::Rvma, 4, 0x52).needs(Vnni);
        // The second source is a matrix of bits for each 8 bytes.
        Vgf2p8affineqb = masked("vgf2p8affineqb", Form::Rvm).broadcast(8).imm(ImmKind::I8)
            .needs(Gfni)
            .vex(Pp::P66, Map::M0F3A, W::W1, 0xce).evex(Pp::P66, Map::M0F3A, W::W1, 0xce);

        Vpandd = symmetric("vpandd", 4, Map::M0F, 0xdb);
        Vpandq = symmetric("vpandq", 8, Map::M0F, 0xdb);
        Vpandnd = binary("vpandnd", 4, Map::M0F, 0xdf);
        Vpandnq = binary("vpandnq", 8, Map::M0F, 0xdf);
        Vpord = symmetric("vpord", 4, Map::M0F, 0xeb);
        Vporq = symmetric("vporq", 8, Map::M0F, 0xeb);
        Vpxord = symmetric("vpxord", 4, Map::M0F, 0xef);
        Vpxorq = symmetric("vpxorq", 8, Map::M0F, 0xef);
        Vpternlogd = ternary_logic("vpternlogd", 4);
        Vpternlogq = ternary_logic("vpternlogq", 8);

        Vpcmpb = compare_to_mask("vpcmpb", 1, 0x3f);
        Vpcmpub = compare_to_mask("vpcmpub", 1, 0x3e);
        Vpcmpw = compare_to_mask("vpcmpw", 2, 0x3f);
        Vpcmpuw = compare_to_mask("vpcmpuw", 2, 0x3e);
        Vpcmpd = compare_to_mask("vpcmpd", 4, 0x1f);
        Vpcmpud = compare_to_mask("vpcmpud", 4, 0x1e);
        Vpcmpq = compare_to_mask("vpcmpq", 8, 0x1f);
        Vpcmpuq = compare_to_mask("vpcmpuq", 8, 0x1e);
        Vpcmpeqb = compare("vpcmpeqb", Map::M0F, 0x74).commutes();
        Vpcmpeqw = compare("vpcmpeqw", Map::M0F, 0x75).commutes();
        Vpcmpeqd = compare("vpcmpeqd", Map::M0F, 0x76).commutes();
        Vpcmpeqq = compare("vpcmpeqq", Map::M0F38, 0x29).commutes();
        Vpcmpgtb = compare("vpcmpgtb", Map::M0F, 0x64);
        Vpcmpgtw = compare("vpcmpgtw", Map::M0F, 0x65);
        Vpcmpgtd = compare("vpcmpgtd", Map::M0F, 0x66);
        Vpcmpgtq = compare("vpcmpgtq", Map::M0F38, 0x37);
        Vptestmb = test("vptestmb", Pp::P66, 1, 0x26);
        Vptestmw = test("vptestmw", Pp::P66, 2, 0x26);
        Vptestmd = test("vptestmd", Pp::P66, 4, 0x27);
        Vptestmq = test("vptestmq", Pp::P66, 8, 0x27);
        Vptestnmb = test("vptestnmb", Pp::PF3, 1, 0x26);
        Vptestnmw = test("vptestnmw", Pp::PF3, 2, 0x26);
        Vptestnmd = test("vptestnmd", Pp::PF3, 4, 0x27);
        Vptestnmq = test("vptestnmq", Pp::PF3, 8, 0x27);
        // To flags.
        Vptest = Info::vector("vptest", Form::RmTest).sizes(sizes::V128 | sizes::V256)
            .vex(Pp::P66, Map::M0F38, W::Ig, 0x17);
    } } };
}

integer_rows! { rows; }
