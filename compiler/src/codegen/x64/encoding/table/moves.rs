//! Loads, stores and copies.

use crate::codegen::x64::encoding::info::{
    Class, Form, Info, Map, Masking, MemorySize, Pp, W, sizes,
};

const fn whole(mnemonic: &'static str, form: Form, element: u8) -> Info {
    Info::vector(mnemonic, form)
        .element(element)
        .masking(Masking::Zero)
}

const fn load(mnemonic: &'static str, element: u8, pp: Pp, w: W, opcode: u8) -> Info {
    whole(mnemonic, Form::Rm, element)
        .vex(pp, Map::M0F, W::Ig, opcode)
        .evex(pp, Map::M0F, w, opcode)
}

const fn store(mnemonic: &'static str, element: u8, pp: Pp, w: W, opcode: u8) -> Info {
    whole(mnemonic, Form::Mr, element)
        .vex(pp, Map::M0F, W::Ig, opcode)
        .evex(pp, Map::M0F, w, opcode)
}

/// Past the caches.
const fn streaming(mnemonic: &'static str, element: u8, pp: Pp, opcode: u8) -> Info {
    store(mnemonic, element, pp, W::W0, opcode)
        .memory_only()
        .masking(Masking::None)
}

/// To and from memory; with three registers when it has two sources.
const fn scalar(mnemonic: &'static str, form: Form, element: u8, pp: Pp, opcode: u8) -> Info {
    let w = match element {
        8 => W::W1,
        _ => W::W0,
    };
    let info = Info::scalar(mnemonic, form, element)
        .masking(Masking::Zero)
        .vex(pp, Map::M0F, W::Ig, opcode)
        .evex(pp, Map::M0F, w, opcode);
    match form {
        Form::Rvm => info.memory(MemorySize::None),
        Form::Mr => info.memory_only().masking(Masking::Merge),
        _ => info.memory_only(),
    }
}

/// Between a vector register and a general one or memory.
const fn general(mnemonic: &'static str, form: Form, element: u8) -> Info {
    Info::scalar(mnemonic, form, element).classes(Class::Vector, Class::General)
}

const fn from_general(mnemonic: &'static str, element: u8, w: W) -> Info {
    general(mnemonic, Form::Rm, element)
        .vex(Pp::P66, Map::M0F, w, 0x6e)
        .evex(Pp::P66, Map::M0F, w, 0x6e)
}

const fn to_general(mnemonic: &'static str, element: u8, w: W) -> Info {
    general(mnemonic, Form::Mr, element)
        .vex(Pp::P66, Map::M0F, w, 0x7e)
        .evex(Pp::P66, Map::M0F, w, 0x7e)
}

/// Every other element twice.
const fn duplicate(mnemonic: &'static str, element: u8, pp: Pp, opcode: u8) -> Info {
    let w = match element {
        8 => W::W1,
        _ => W::W0,
    };
    load(mnemonic, element, pp, w, opcode)
}

const fn masked(mnemonic: &'static str, form: Form, w: W, opcode: u8) -> Info {
    Info::vector(mnemonic, form)
        .sizes(sizes::V128 | sizes::V256)
        .memory_only()
        .vex(Pp::P66, Map::M0F38, w, opcode)
}

const fn sign_bits(mnemonic: &'static str, pp: Pp, opcode: u8) -> Info {
    Info::vector(mnemonic, Form::Rm)
        .classes(Class::General, Class::Vector)
        .sizes(sizes::V128 | sizes::V256)
        .memory(MemorySize::None)
        .vex(pp, Map::M0F, W::Ig, opcode)
}

macro_rules! moves_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* moves {
        Vmovups = load("vmovups", 4, Pp::Np, W::W0, 0x10);
        VmovupsStore = store("vmovups", 4, Pp::Np, W::W0, 0x11);
        Vmovupd = load("vmovupd", 8, Pp::P66, W::W1, 0x10);
        VmovupdStore = store("vmovupd", 8, Pp::P66, W::W1, 0x11);
        Vmovaps = load("vmovaps", 4, Pp::Np, W::W0, 0x28);
        VmovapsStore = store("vmovaps", 4, Pp::Np, W::W0, 0x29);
        Vmovapd = load("vmovapd", 8, Pp::P66, W::W1, 0x28);
        VmovapdStore = store("vmovapd", 8, Pp::P66, W::W1, 0x29);
        Vmovdqa32 = load("vmovdqa32", 4, Pp::P66, W::W0, 0x6f);
        Vmovdqa32Store = store("vmovdqa32", 4, Pp::P66, W::W0, 0x7f);
        Vmovdqa64 = load("vmovdqa64", 8, Pp::P66, W::W1, 0x6f);
        Vmovdqa64Store = store("vmovdqa64", 8, Pp::P66, W::W1, 0x7f);
        Vmovdqu32 = load("vmovdqu32", 4, Pp::PF3, W::W0, 0x6f);
        Vmovdqu32Store = store("vmovdqu32", 4, Pp::PF3, W::W0, 0x7f);
        Vmovdqu64 = load("vmovdqu64", 8, Pp::PF3, W::W1, 0x6f);
        Vmovdqu64Store = store("vmovdqu64", 8, Pp::PF3, W::W1, 0x7f);
        // In VEX, vmovdqu is that of any element.
        Vmovdqu8 = load("vmovdqu8", 1, Pp::PF3, W::W0, 0x6f)
            .evex(Pp::PF2, Map::M0F, W::W0, 0x6f);
        Vmovdqu8Store = store("vmovdqu8", 1, Pp::PF3, W::W0, 0x7f)
            .evex(Pp::PF2, Map::M0F, W::W0, 0x7f);
        Vmovdqu16 = load("vmovdqu16", 2, Pp::PF3, W::W0, 0x6f)
            .evex(Pp::PF2, Map::M0F, W::W1, 0x6f);
        Vmovdqu16Store = store("vmovdqu16", 2, Pp::PF3, W::W0, 0x7f)
            .evex(Pp::PF2, Map::M0F, W::W1, 0x7f);
        Vmovntps = streaming("vmovntps", 4, Pp::Np, 0x2b);
        Vmovntdq = streaming("vmovntdq", 4, Pp::P66, 0xe7);

        Vmovss = scalar("vmovss", Form::Rm, 4, Pp::PF3, 0x10);
        VmovssStore = scalar("vmovss", Form::Mr, 4, Pp::PF3, 0x11);
        // The lowest element of the second source, the others of the first.
        VmovssReg = scalar("vmovss", Form::Rvm, 4, Pp::PF3, 0x10);
        Vmovsd = scalar("vmovsd", Form::Rm, 8, Pp::PF2, 0x10);
        VmovsdStore = scalar("vmovsd", Form::Mr, 8, Pp::PF2, 0x11);
        // The lowest element of the second source, the others of the first.
        VmovsdReg = scalar("vmovsd", Form::Rvm, 8, Pp::PF2, 0x10);
        Vmovd = from_general("vmovd", 4, W::W0);
        VmovdStore = to_general("vmovd", 4, W::W0);
        Vmovq = from_general("vmovq", 8, W::W1);
        VmovqStore = to_general("vmovq", 8, W::W1);
        // Of AVX512-FP16.
        Vmovw = general("vmovw", Form::Rm, 2).evex(Pp::P66, Map::M5, W::Ig, 0x6e);
        VmovwStore = general("vmovw", Form::Mr, 2).evex(Pp::P66, Map::M5, W::Ig, 0x7e);

        Vmovddup = duplicate("vmovddup", 8, Pp::PF2, 0x12).memory(MemorySize::Duplicate);
        Vmovsldup = duplicate("vmovsldup", 4, Pp::PF3, 0x12);
        Vmovshdup = duplicate("vmovshdup", 4, Pp::PF3, 0x16);
        // Under a mask that is sign bits of the first source.
        Vmaskmovps = masked("vmaskmovps", Form::Rvm, W::W0, 0x2c);
        VmaskmovpsStore = masked("vmaskmovps", Form::Mvr, W::W0, 0x2e);
        Vmaskmovpd = masked("vmaskmovpd", Form::Rvm, W::W0, 0x2d);
        VmaskmovpdStore = masked("vmaskmovpd", Form::Mvr, W::W0, 0x2f);
        Vpmaskmovd = masked("vpmaskmovd", Form::Rvm, W::W0, 0x8c);
        VpmaskmovdStore = masked("vpmaskmovd", Form::Mvr, W::W0, 0x8e);
        Vpmaskmovq = masked("vpmaskmovq", Form::Rvm, W::W1, 0x8c);
        VpmaskmovqStore = masked("vpmaskmovq", Form::Mvr, W::W1, 0x8e);
        // Sign bits of elements to a general register.
        Vmovmskps = sign_bits("vmovmskps", Pp::Np, 0x50);
        Vmovmskpd = sign_bits("vmovmskpd", Pp::P66, 0x50);
        Vpmovmskb = sign_bits("vpmovmskb", Pp::P66, 0xd7);
    } } };
}

moves_rows! { rows; }
