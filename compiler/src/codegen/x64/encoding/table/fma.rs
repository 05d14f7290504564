//! Fused multiplication and addition. The digits of an opcode say which operands are multiplied
//! and which is added: 1 is what is in the destination before, 2 the first source, 3 the second.

use crate::codegen::x64::encoding::info::{Form, Info, Map, Masking, Pp, Rounding, W};

/// Vectors with an even opcode, scalars with the odd one after it.
const fn fma(mnemonic: &'static str, element: u8, opcode: u8) -> Info {
    let info = match opcode & 1 {
        0 => Info::vector(mnemonic, Form::Rvma).broadcast(element),
        _ => Info::scalar(mnemonic, Form::Rvma, element),
    };
    let info = info.masking(Masking::Zero).rounding(Rounding::Static);
    let w = match element {
        8 => W::W1,
        _ => W::W0,
    };
    match element {
        2 => info.evex(Pp::P66, Map::M6, w, opcode),
        _ => info
            .vex(Pp::P66, Map::M0F38, w, opcode)
            .evex(Pp::P66, Map::M0F38, w, opcode),
    }
}

macro_rules! fma_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* fma {
        Vfmadd132ps = fma("vfmadd132ps", 4, 0x98);
        Vfmadd132pd = fma("vfmadd132pd", 8, 0x98);
        Vfmadd132ph = fma("vfmadd132ph", 2, 0x98);
        Vfmadd132ss = fma("vfmadd132ss", 4, 0x99);
        Vfmadd132sd = fma("vfmadd132sd", 8, 0x99);
        Vfmadd132sh = fma("vfmadd132sh", 2, 0x99);
        Vfmadd213ps = fma("vfmadd213ps", 4, 0xa8);
        Vfmadd213pd = fma("vfmadd213pd", 8, 0xa8);
        Vfmadd213ph = fma("vfmadd213ph", 2, 0xa8);
        Vfmadd213ss = fma("vfmadd213ss", 4, 0xa9);
        Vfmadd213sd = fma("vfmadd213sd", 8, 0xa9);
        Vfmadd213sh = fma("vfmadd213sh", 2, 0xa9);
        Vfmadd231ps = fma("vfmadd231ps", 4, 0xb8);
        Vfmadd231pd = fma("vfmadd231pd", 8, 0xb8);
        Vfmadd231ph = fma("vfmadd231ph", 2, 0xb8);
        Vfmadd231ss = fma("vfmadd231ss", 4, 0xb9);
        Vfmadd231sd = fma("vfmadd231sd", 8, 0xb9);
        Vfmadd231sh = fma("vfmadd231sh", 2, 0xb9);
        Vfmsub132ps = fma("vfmsub132ps", 4, 0x9a);
        Vfmsub132pd = fma("vfmsub132pd", 8, 0x9a);
        Vfmsub132ph = fma("vfmsub132ph", 2, 0x9a);
        Vfmsub132ss = fma("vfmsub132ss", 4, 0x9b);
        Vfmsub132sd = fma("vfmsub132sd", 8, 0x9b);
        Vfmsub132sh = fma("vfmsub132sh", 2, 0x9b);
        Vfmsub213ps = fma("vfmsub213ps", 4, 0xaa);
        Vfmsub213pd = fma("vfmsub213pd", 8, 0xaa);
        Vfmsub213ph = fma("vfmsub213ph", 2, 0xaa);
        Vfmsub213ss = fma("vfmsub213ss", 4, 0xab);
        Vfmsub213sd = fma("vfmsub213sd", 8, 0xab);
        Vfmsub213sh = fma("vfmsub213sh", 2, 0xab);
        Vfmsub231ps = fma("vfmsub231ps", 4, 0xba);
        Vfmsub231pd = fma("vfmsub231pd", 8, 0xba);
        Vfmsub231ph = fma("vfmsub231ph", 2, 0xba);
        Vfmsub231ss = fma("vfmsub231ss", 4, 0xbb);
        Vfmsub231sd = fma("vfmsub231sd", 8, 0xbb);
        Vfmsub231sh = fma("vfmsub231sh", 2, 0xbb);
        Vfnmadd132ps = fma("vfnmadd132ps", 4, 0x9c);
        Vfnmadd132pd = fma("vfnmadd132pd", 8, 0x9c);
        Vfnmadd132ph = fma("vfnmadd132ph", 2, 0x9c);
        Vfnmadd132ss = fma("vfnmadd132ss", 4, 0x9d);
        Vfnmadd132sd = fma("vfnmadd132sd", 8, 0x9d);
        Vfnmadd132sh = fma("vfnmadd132sh", 2, 0x9d);
        Vfnmadd213ps = fma("vfnmadd213ps", 4, 0xac);
        Vfnmadd213pd = fma("vfnmadd213pd", 8, 0xac);
        Vfnmadd213ph = fma("vfnmadd213ph", 2, 0xac);
        Vfnmadd213ss = fma("vfnmadd213ss", 4, 0xad);
        Vfnmadd213sd = fma("vfnmadd213sd", 8, 0xad);
        Vfnmadd213sh = fma("vfnmadd213sh", 2, 0xad);
        Vfnmadd231ps = fma("vfnmadd231ps", 4, 0xbc);
        Vfnmadd231pd = fma("vfnmadd231pd", 8, 0xbc);
        Vfnmadd231ph = fma("vfnmadd231ph", 2, 0xbc);
        Vfnmadd231ss = fma("vfnmadd231ss", 4, 0xbd);
        Vfnmadd231sd = fma("vfnmadd231sd", 8, 0xbd);
        Vfnmadd231sh = fma("vfnmadd231sh", 2, 0xbd);
        Vfnmsub132ps = fma("vfnmsub132ps", 4, 0x9e);
        Vfnmsub132pd = fma("vfnmsub132pd", 8, 0x9e);
        Vfnmsub132ph = fma("vfnmsub132ph", 2, 0x9e);
        Vfnmsub132ss = fma("vfnmsub132ss", 4, 0x9f);
        Vfnmsub132sd = fma("vfnmsub132sd", 8, 0x9f);
        Vfnmsub132sh = fma("vfnmsub132sh", 2, 0x9f);
        Vfnmsub213ps = fma("vfnmsub213ps", 4, 0xae);
        Vfnmsub213pd = fma("vfnmsub213pd", 8, 0xae);
        Vfnmsub213ph = fma("vfnmsub213ph", 2, 0xae);
        Vfnmsub213ss = fma("vfnmsub213ss", 4, 0xaf);
        Vfnmsub213sd = fma("vfnmsub213sd", 8, 0xaf);
        Vfnmsub213sh = fma("vfnmsub213sh", 2, 0xaf);
        Vfnmsub231ps = fma("vfnmsub231ps", 4, 0xbe);
        Vfnmsub231pd = fma("vfnmsub231pd", 8, 0xbe);
        Vfnmsub231ph = fma("vfnmsub231ph", 2, 0xbe);
        Vfnmsub231ss = fma("vfnmsub231ss", 4, 0xbf);
        Vfnmsub231sd = fma("vfnmsub231sd", 8, 0xbf);
        Vfnmsub231sh = fma("vfnmsub231sh", 2, 0xbf);
    } } };
}

fma_rows! { rows; }
