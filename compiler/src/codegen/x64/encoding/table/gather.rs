//! Gathers and scatters: the index of the address is a vector. The first letter of a name's end is
//! the index's element (32 or 64 bits), the rest the data's; the size is that of the wider of the
//! two vectors.

use crate::codegen::x64::encoding::info::{Form, Info, Map, Masking, MemorySize, Pp, W, sizes};

const fn addresses(mnemonic: &'static str, form: Form, element: u8) -> Info {
    Info::vector(mnemonic, form)
        .at(element, MemorySize::Element)
        .memory_only()
}

const fn w(element: u8) -> W {
    match element {
        4 => W::W0,
        _ => W::W1,
    }
}

/// The mask is a mask register.
const fn masked(mnemonic: &'static str, form: Form, element: u8, opcode: u8) -> Info {
    addresses(mnemonic, form, element)
        .masking(Masking::Required)
        .evex(Pp::P66, Map::M0F38, w(element), opcode)
}

const fn gather(mnemonic: &'static str, element: u8, opcode: u8) -> Info {
    masked(mnemonic, Form::Gather, element, opcode)
}

const fn scatter(mnemonic: &'static str, element: u8, opcode: u8) -> Info {
    masked(mnemonic, Form::Scatter, element, opcode)
}

/// The mask is the sign bits of a vector, in vvvv.
const fn vex(mnemonic: &'static str, element: u8, opcode: u8) -> Info {
    addresses(mnemonic, Form::Gather, element)
        .sizes(sizes::V128 | sizes::V256)
        .vex(Pp::P66, Map::M0F38, w(element), opcode)
}

macro_rules! gather_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* gather {
        Vpgatherdd = gather("vpgatherdd", 4, 0x90);
        Vpgatherdq = gather("vpgatherdq", 8, 0x90);
        Vpgatherqd = gather("vpgatherqd", 4, 0x91);
        Vpgatherqq = gather("vpgatherqq", 8, 0x91);
        Vgatherdps = gather("vgatherdps", 4, 0x92);
        Vgatherdpd = gather("vgatherdpd", 8, 0x92);
        Vgatherqps = gather("vgatherqps", 4, 0x93);
        Vgatherqpd = gather("vgatherqpd", 8, 0x93);
        VpgatherddVex = vex("vpgatherdd", 4, 0x90);
        VpgatherdqVex = vex("vpgatherdq", 8, 0x90);
        VpgatherqdVex = vex("vpgatherqd", 4, 0x91);
        VpgatherqqVex = vex("vpgatherqq", 8, 0x91);
        VgatherdpsVex = vex("vgatherdps", 4, 0x92);
        VgatherdpdVex = vex("vgatherdpd", 8, 0x92);
        VgatherqpsVex = vex("vgatherqps", 4, 0x93);
        VgatherqpdVex = vex("vgatherqpd", 8, 0x93);
        Vpscatterdd = scatter("vpscatterdd", 4, 0xa0);
        Vpscatterdq = scatter("vpscatterdq", 8, 0xa0);
        Vpscatterqd = scatter("vpscatterqd", 4, 0xa1);
        Vpscatterqq = scatter("vpscatterqq", 8, 0xa1);
        Vscatterdps = scatter("vscatterdps", 4, 0xa2);
        Vscatterdpd = scatter("vscatterdpd", 8, 0xa2);
        Vscatterqps = scatter("vscatterqps", 4, 0xa3);
        Vscatterqpd = scatter("vscatterqpd", 8, 0xa3);
    } } };
}

gather_rows! { rows; }
