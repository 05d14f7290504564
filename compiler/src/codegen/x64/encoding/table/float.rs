//! Floating-point arithmetic.

use crate::codegen::x64::encoding::info::{
    Class, Form, ImmKind, Info, Map, Masking, Pp, Rounding, W, sizes,
};

/// The last letters of a mnemonic.
#[derive(Clone, Copy)]
enum Format {
    Ps,
    Pd,
    Ph,
    Ss,
    Sd,
    Sh,
}

use Format::{Pd, Ph, Ps, Sd, Sh, Ss};

impl Format {
    const fn element(self) -> u8 {
        match self {
            Ph | Sh => 2,
            Ps | Ss => 4,
            Pd | Sd => 8,
        }
    }

    const fn w(self) -> W {
        match self {
            Pd | Sd => W::W1,
            _ => W::W0,
        }
    }

    /// The vector, or the lowest element, under a mask.
    const fn operands(self, mnemonic: &'static str, form: Form) -> Info {
        let element = self.element();
        let info = match self {
            Ps | Pd | Ph => Info::vector(mnemonic, form).broadcast(element),
            Ss | Sd | Sh => Info::scalar(mnemonic, form, element),
        };
        info.masking(Masking::Zero)
    }
}

/// Where the mandatory prefix is of the format: addition and its like.
const fn basic(mnemonic: &'static str, form: Form, format: Format, opcode: u8) -> Info {
    let (pp, map) = match format {
        Ps => (Pp::Np, Map::M0F),
        Pd => (Pp::P66, Map::M0F),
        Ss => (Pp::PF3, Map::M0F),
        Sd => (Pp::PF2, Map::M0F),
        Ph => (Pp::Np, Map::M5),
        Sh => (Pp::PF3, Map::M5),
    };
    let info = format
        .operands(mnemonic, form)
        .evex(pp, map, format.w(), opcode);
    match format {
        Ph | Sh => info,
        _ => info.vex(pp, map, W::Ig, opcode),
    }
}

const fn arithmetic(mnemonic: &'static str, format: Format, opcode: u8) -> Info {
    basic(mnemonic, Form::Rvm, format, opcode).rounding(Rounding::Static)
}

/// Minimum and maximum.
const fn extremum(mnemonic: &'static str, format: Format, opcode: u8) -> Info {
    basic(mnemonic, Form::Rvm, format, opcode).rounding(Rounding::Sae)
}

const fn logical(mnemonic: &'static str, format: Format, opcode: u8) -> Info {
    basic(mnemonic, Form::Rvm, format, opcode)
}

/// To lanes of ones and zeros.
const fn compare(mnemonic: &'static str, format: Format) -> Info {
    let mut info = basic(mnemonic, Form::Rvm, format, 0xc2).imm(ImmKind::I8);
    info.evex = None;
    info.broadcast = false;
    match format {
        Ps | Pd => info.masking(Masking::None).sizes(sizes::V128 | sizes::V256),
        _ => info.masking(Masking::None),
    }
}

/// To a mask.
const fn compare_to_mask(mnemonic: &'static str, format: Format) -> Info {
    let mut info = basic(mnemonic, Form::Rvm, format, 0xc2);
    info.vex = None;
    let info = match format {
        Ph => info.evex(Pp::Np, Map::M0F3A, W::W0, 0xc2),
        Sh => info.evex(Pp::PF3, Map::M0F3A, W::W0, 0xc2),
        _ => info,
    };
    info.classes(Class::Mask, Class::Vector)
        .masking(Masking::Merge)
        .rounding(Rounding::Sae)
        .imm(ImmKind::I8)
}

/// Two scalars, to flags.
const fn to_flags(mnemonic: &'static str, format: Format, opcode: u8) -> Info {
    let (pp, map) = match format {
        Sh => (Pp::Np, Map::M5),
        Sd => (Pp::P66, Map::M0F),
        _ => (Pp::Np, Map::M0F),
    };
    let info = Info::scalar(mnemonic, Form::RmTest, format.element())
        .rounding(Rounding::Sae)
        .evex(pp, map, format.w(), opcode);
    match format {
        Sh => info,
        _ => info.vex(pp, map, W::Ig, opcode),
    }
}

/// Of AVX-512, with an immediate. Scalars have two sources and the opcode after the vectors'.
const fn with_imm(mnemonic: &'static str, format: Format, opcode: u8) -> Info {
    let pp = match format {
        Ph | Sh => Pp::Np,
        _ => Pp::P66,
    };
    let (form, opcode) = unary(format, opcode);
    format
        .operands(mnemonic, form)
        .imm(ImmKind::I8)
        .rounding(Rounding::Sae)
        .evex(pp, Map::M0F3A, format.w(), opcode)
}

/// Of AVX-512, with an immediate and two sources.
const fn binary_with_imm(mnemonic: &'static str, format: Format, opcode: u8) -> Info {
    let mut info = with_imm(mnemonic, format, opcode);
    info.form = Form::Rvm;
    info
}

const fn fixup(mnemonic: &'static str, format: Format) -> Info {
    let mut info = with_imm(mnemonic, format, 0x54);
    info.form = Form::Rvma;
    info
}

/// Of AVX-512, in map 0F38. Scalars have two sources and the opcode after the vectors'.
const fn estimate(mnemonic: &'static str, format: Format, opcode: u8) -> Info {
    let map = match format {
        Ph | Sh => Map::M6,
        _ => Map::M0F38,
    };
    let (form, opcode) = unary(format, opcode);
    format
        .operands(mnemonic, form)
        .evex(Pp::P66, map, format.w(), opcode)
}

const fn exponent(mnemonic: &'static str, format: Format) -> Info {
    estimate(mnemonic, format, 0x42).rounding(Rounding::Sae)
}

const fn scale(mnemonic: &'static str, format: Format) -> Info {
    let mut info = estimate(mnemonic, format, 0x2c).rounding(Rounding::Static);
    info.form = Form::Rvm;
    info
}

/// What scalars keep above the lowest element is of their first source.
const fn unary(format: Format, opcode: u8) -> (Form, u8) {
    match format {
        Ps | Pd | Ph => (Form::Rm, opcode),
        Ss | Sd | Sh => (Form::Rvm, opcode + 1),
    }
}

/// To a mask, by categories in the immediate.
const fn class(mnemonic: &'static str, format: Format) -> Info {
    let mut info = with_imm(mnemonic, format, 0x66).classes(Class::Mask, Class::Vector);
    info.form = Form::Rm;
    info.masking(Masking::Merge).rounding(Rounding::None)
}

/// Of SSE4.1, in VEX alone.
const fn round(mnemonic: &'static str, format: Format, opcode: u8) -> Info {
    let info = match format {
        Ps | Pd => Info::vector(mnemonic, Form::Rm).sizes(sizes::V128 | sizes::V256),
        _ => Info::scalar(mnemonic, Form::Rvm, format.element()),
    };
    info.imm(ImmKind::I8)
        .vex(Pp::P66, Map::M0F3A, W::Ig, opcode)
}

macro_rules! float_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* float {
        Vaddps = arithmetic("vaddps", Ps, 0x58);
        Vaddpd = arithmetic("vaddpd", Pd, 0x58);
        Vaddph = arithmetic("vaddph", Ph, 0x58);
        Vaddss = arithmetic("vaddss", Ss, 0x58);
        Vaddsd = arithmetic("vaddsd", Sd, 0x58);
        Vaddsh = arithmetic("vaddsh", Sh, 0x58);
        Vmulps = arithmetic("vmulps", Ps, 0x59);
        Vmulpd = arithmetic("vmulpd", Pd, 0x59);
        Vmulph = arithmetic("vmulph", Ph, 0x59);
        Vmulss = arithmetic("vmulss", Ss, 0x59);
        Vmulsd = arithmetic("vmulsd", Sd, 0x59);
        Vmulsh = arithmetic("vmulsh", Sh, 0x59);
        Vsubps = arithmetic("vsubps", Ps, 0x5c);
        Vsubpd = arithmetic("vsubpd", Pd, 0x5c);
        Vsubph = arithmetic("vsubph", Ph, 0x5c);
        Vsubss = arithmetic("vsubss", Ss, 0x5c);
        Vsubsd = arithmetic("vsubsd", Sd, 0x5c);
        Vsubsh = arithmetic("vsubsh", Sh, 0x5c);
        Vdivps = arithmetic("vdivps", Ps, 0x5e);
        Vdivpd = arithmetic("vdivpd", Pd, 0x5e);
        Vdivph = arithmetic("vdivph", Ph, 0x5e);
        Vdivss = arithmetic("vdivss", Ss, 0x5e);
        Vdivsd = arithmetic("vdivsd", Sd, 0x5e);
        Vdivsh = arithmetic("vdivsh", Sh, 0x5e);
        Vminps = extremum("vminps", Ps, 0x5d);
        Vminpd = extremum("vminpd", Pd, 0x5d);
        Vminph = extremum("vminph", Ph, 0x5d);
        Vminss = extremum("vminss", Ss, 0x5d);
        Vminsd = extremum("vminsd", Sd, 0x5d);
        Vminsh = extremum("vminsh", Sh, 0x5d);
        Vmaxps = extremum("vmaxps", Ps, 0x5f);
        Vmaxpd = extremum("vmaxpd", Pd, 0x5f);
        Vmaxph = extremum("vmaxph", Ph, 0x5f);
        Vmaxss = extremum("vmaxss", Ss, 0x5f);
        Vmaxsd = extremum("vmaxsd", Sd, 0x5f);
        Vmaxsh = extremum("vmaxsh", Sh, 0x5f);
        Vsqrtps = basic("vsqrtps", Form::Rm, Ps, 0x51).rounding(Rounding::Static);
        Vsqrtpd = basic("vsqrtpd", Form::Rm, Pd, 0x51).rounding(Rounding::Static);
        Vsqrtph = basic("vsqrtph", Form::Rm, Ph, 0x51).rounding(Rounding::Static);
        Vsqrtss = arithmetic("vsqrtss", Ss, 0x51);
        Vsqrtsd = arithmetic("vsqrtsd", Sd, 0x51);
        Vsqrtsh = arithmetic("vsqrtsh", Sh, 0x51);
        Vandps = logical("vandps", Ps, 0x54);
        Vandpd = logical("vandpd", Pd, 0x54);
        Vandnps = logical("vandnps", Ps, 0x55);
        Vandnpd = logical("vandnpd", Pd, 0x55);
        Vorps = logical("vorps", Ps, 0x56);
        Vorpd = logical("vorpd", Pd, 0x56);
        Vxorps = logical("vxorps", Ps, 0x57);
        Vxorpd = logical("vxorpd", Pd, 0x57);

        Vcmpps = compare("vcmpps", Ps);
        Vcmppd = compare("vcmppd", Pd);
        Vcmpss = compare("vcmpss", Ss);
        Vcmpsd = compare("vcmpsd", Sd);
        Vcmppsk = compare_to_mask("vcmpps", Ps);
        Vcmppdk = compare_to_mask("vcmppd", Pd);
        Vcmpphk = compare_to_mask("vcmpph", Ph);
        Vcmpssk = compare_to_mask("vcmpss", Ss);
        Vcmpsdk = compare_to_mask("vcmpsd", Sd);
        Vcmpshk = compare_to_mask("vcmpsh", Sh);
        Vucomiss = to_flags("vucomiss", Ss, 0x2e);
        Vucomisd = to_flags("vucomisd", Sd, 0x2e);
        Vucomish = to_flags("vucomish", Sh, 0x2e);
        Vcomiss = to_flags("vcomiss", Ss, 0x2f);
        Vcomisd = to_flags("vcomisd", Sd, 0x2f);
        Vcomish = to_flags("vcomish", Sh, 0x2f);
        Vfpclassps = class("vfpclassps", Ps);
        Vfpclasspd = class("vfpclasspd", Pd);
        Vfpclassph = class("vfpclassph", Ph);
        Vfpclassss = class("vfpclassss", Ss);
        Vfpclasssd = class("vfpclasssd", Sd);
        Vfpclasssh = class("vfpclasssh", Sh);

        Vroundps = round("vroundps", Ps, 0x08);
        Vroundpd = round("vroundpd", Pd, 0x09);
        Vroundss = round("vroundss", Ss, 0x0a);
        Vroundsd = round("vroundsd", Sd, 0x0b);
        Vrndscaleps = with_imm("vrndscaleps", Ps, 0x08);
        Vrndscalepd = with_imm("vrndscalepd", Pd, 0x09);
        Vrndscaleph = with_imm("vrndscaleph", Ph, 0x08);
        Vrndscaless = with_imm("vrndscaless", Ss, 0x09);
        Vrndscalesd = with_imm("vrndscalesd", Sd, 0x0a);
        Vrndscalesh = with_imm("vrndscalesh", Sh, 0x09);
        Vreduceps = with_imm("vreduceps", Ps, 0x56);
        Vreducepd = with_imm("vreducepd", Pd, 0x56);
        Vreduceph = with_imm("vreduceph", Ph, 0x56);
        Vreducess = with_imm("vreducess", Ss, 0x56);
        Vreducesd = with_imm("vreducesd", Sd, 0x56);
        Vreducesh = with_imm("vreducesh", Sh, 0x56);
        Vgetmantps = with_imm("vgetmantps", Ps, 0x26);
        Vgetmantpd = with_imm("vgetmantpd", Pd, 0x26);
        Vgetmantph = with_imm("vgetmantph", Ph, 0x26);
        Vgetmantss = with_imm("vgetmantss", Ss, 0x26);
        Vgetmantsd = with_imm("vgetmantsd", Sd, 0x26);
        Vgetmantsh = with_imm("vgetmantsh", Sh, 0x26);
        Vrangeps = binary_with_imm("vrangeps", Ps, 0x50);
        Vrangepd = binary_with_imm("vrangepd", Pd, 0x50);
        Vrangess = binary_with_imm("vrangess", Ss, 0x50);
        Vrangesd = binary_with_imm("vrangesd", Sd, 0x50);
        // The second source is a table of what to do by the class of the first.
        Vfixupimmps = fixup("vfixupimmps", Ps);
        Vfixupimmpd = fixup("vfixupimmpd", Pd);
        Vfixupimmss = fixup("vfixupimmss", Ss);
        Vfixupimmsd = fixup("vfixupimmsd", Sd);
        Vgetexpps = exponent("vgetexpps", Ps);
        Vgetexppd = exponent("vgetexppd", Pd);
        Vgetexpph = exponent("vgetexpph", Ph);
        Vgetexpss = exponent("vgetexpss", Ss);
        Vgetexpsd = exponent("vgetexpsd", Sd);
        Vgetexpsh = exponent("vgetexpsh", Sh);
        Vscalefps = scale("vscalefps", Ps);
        Vscalefpd = scale("vscalefpd", Pd);
        Vscalefph = scale("vscalefph", Ph);
        Vscalefss = scale("vscalefss", Ss);
        Vscalefsd = scale("vscalefsd", Sd);
        Vscalefsh = scale("vscalefsh", Sh);
        Vrcp14ps = estimate("vrcp14ps", Ps, 0x4c);
        Vrcp14pd = estimate("vrcp14pd", Pd, 0x4c);
        Vrcp14ss = estimate("vrcp14ss", Ss, 0x4c);
        Vrcp14sd = estimate("vrcp14sd", Sd, 0x4c);
        Vrsqrt14ps = estimate("vrsqrt14ps", Ps, 0x4e);
        Vrsqrt14pd = estimate("vrsqrt14pd", Pd, 0x4e);
        Vrsqrt14ss = estimate("vrsqrt14ss", Ss, 0x4e);
        Vrsqrt14sd = estimate("vrsqrt14sd", Sd, 0x4e);
    } } };
}

float_rows! { rows; }
