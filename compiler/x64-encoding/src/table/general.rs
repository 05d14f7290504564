//! General registers: legacy encodings, and BMI's in VEX.

use crate::info::{Class, Form, ImmKind, Info, Length, Map, MemorySize, Pp, W, sizes};

/// One of the primary map.
const fn primary(mnemonic: &'static str, form: Form, sizes: u8, opcode: u8) -> Info {
    Info::general(mnemonic, form, sizes).legacy(Pp::Np, Map::Primary, W::BySize, opcode)
}

/// One of map 0F.
const fn map_0f(mnemonic: &'static str, form: Form, pp: Pp, opcode: u8) -> Info {
    Info::general(mnemonic, form, sizes::WORDS).legacy(pp, Map::M0F, W::BySize, opcode)
}

/// With an immediate, as group 1 has it.
const fn group_1(mnemonic: &'static str, form: Form, digit: u8) -> Info {
    primary(mnemonic, form, sizes::BYTES, 0x81)
        .digit(digit)
        .imm(ImmKind::Short)
}

/// Of a byte or 16 bits to the operand size.
const fn extension(mnemonic: &'static str, from: u8, opcode: u8) -> Info {
    let info = map_0f(mnemonic, Form::Rm, Pp::Np, opcode).at(from, MemorySize::Element);
    match from {
        1 => info,
        _ => info.sizes(sizes::B32_64),
    }
}

/// A shift or rotation in place, by an immediate or cl.
const fn shift(mnemonic: &'static str, opcode: u8, digit: u8) -> Info {
    let info = primary(mnemonic, Form::Ma, sizes::BYTES, opcode).digit(digit);
    match opcode {
        0xc1 => info.imm(ImmKind::I8),
        _ => info,
    }
}

/// The sources are memory, which is changed, and `reg`.
const fn update(mnemonic: &'static str, map: Map, opcode: u8) -> Info {
    Info::general(mnemonic, Form::Mra, sizes::BYTES)
        .legacy(Pp::Np, map, W::BySize, opcode)
        .memory_only()
}

/// The same, atomically.
const fn locked(mnemonic: &'static str, map: Map, opcode: u8) -> Info {
    update(mnemonic, map, opcode).locked()
}

/// Of 64 bits without saying so.
const fn stack(mnemonic: &'static str, form: Form, opcode: u8) -> Info {
    Info::general(mnemonic, form, sizes::B64).legacy(Pp::Np, Map::Primary, W::Ig, opcode)
}

/// Without operands.
const fn nullary(mnemonic: &'static str, pp: Pp, map: Map, opcode: u8) -> Info {
    Info::new(mnemonic, Form::Zo, Class::General)
        .sizes(sizes::ANY)
        .legacy(pp, map, W::Ig, opcode)
}

/// Of BMI1 and BMI2.
const fn bmi(mnemonic: &'static str, form: Form, pp: Pp, opcode: u8) -> Info {
    Info::general(mnemonic, form, sizes::B32_64)
        .length(Length::L0)
        .vex(pp, Map::M0F38, W::BySize, opcode)
}

macro_rules! general_rows {
    ($next:ident $($then:ident)*; $($rows:tt)*) => { $next! { $($then)*; $($rows)* general {
        Mov = primary("mov", Form::Rm, sizes::BYTES, 0x8b);
        MovStore = primary("mov", Form::Mr, sizes::BYTES, 0x89);
        MovStoreImm = primary("mov", Form::Mstore, sizes::BYTES, 0xc7)
            .memory_only().imm(ImmKind::I32);
        // Sign-extended to 64 bits.
        MovImm32 = primary("mov", Form::M, sizes::BYTES, 0xc7)
            .memory(MemorySize::None).imm(ImmKind::I32);
        // As wide as the register: of 32 bits it is a byte shorter than MovImm32.
        MovImm64 = primary("mov", Form::O, sizes::B32_64, 0xb8).imm(ImmKind::I64);
        Movzx8 = extension("movzx", 1, 0xb6);
        Movzx16 = extension("movzx", 2, 0xb7);
        Movsx8 = extension("movsx", 1, 0xbe);
        Movsx16 = extension("movsx", 2, 0xbf);
        Movsxd = primary("movsxd", Form::Rm, sizes::B64, 0x63).at(4, MemorySize::Element);
        Lea = primary("lea", Form::Rm, sizes::WORDS, 0x8d)
            .memory(MemorySize::Address).memory_only();
        Add = primary("add", Form::Rma, sizes::BYTES, 0x03);
        Or = primary("or", Form::Rma, sizes::BYTES, 0x0b);
        Adc = primary("adc", Form::Rma, sizes::BYTES, 0x13);
        Sbb = primary("sbb", Form::Rma, sizes::BYTES, 0x1b);
        And = primary("and", Form::Rma, sizes::BYTES, 0x23);
        Sub = primary("sub", Form::Rma, sizes::BYTES, 0x2b);
        Xor = primary("xor", Form::Rma, sizes::BYTES, 0x33);
        Cmp = primary("cmp", Form::RmTest, sizes::BYTES, 0x3b);
        AddImm = group_1("add", Form::Ma, 0);
        OrImm = group_1("or", Form::Ma, 1);
        AdcImm = group_1("adc", Form::Ma, 2);
        SbbImm = group_1("sbb", Form::Ma, 3);
        AndImm = group_1("and", Form::Ma, 4);
        SubImm = group_1("sub", Form::Ma, 5);
        XorImm = group_1("xor", Form::Ma, 6);
        CmpImm = group_1("cmp", Form::MTest, 7);
        AddStore = update("add", Map::Primary, 0x01);
        OrStore = update("or", Map::Primary, 0x09);
        AndStore = update("and", Map::Primary, 0x21);
        SubStore = update("sub", Map::Primary, 0x29);
        XorStore = update("xor", Map::Primary, 0x31);
        Test = primary("test", Form::RmTest, sizes::BYTES, 0x85);
        TestImm = primary("test", Form::MTest, sizes::BYTES, 0xf7).imm(ImmKind::I32);
        Not = primary("not", Form::Ma, sizes::BYTES, 0xf7).digit(2);
        Neg = primary("neg", Form::Ma, sizes::BYTES, 0xf7).digit(3);
        Imul = map_0f("imul", Form::Rma, Pp::Np, 0xaf);
        ImulImm = primary("imul", Form::Rm, sizes::WORDS, 0x69).imm(ImmKind::Short);
        Mul1 = primary("mul", Form::Mi, sizes::BYTES, 0xf7).digit(4);
        Imul1 = primary("imul", Form::Mi, sizes::BYTES, 0xf7).digit(5);
        Div = primary("div", Form::Mi, sizes::BYTES, 0xf7).digit(6);
        Idiv = primary("idiv", Form::Mi, sizes::BYTES, 0xf7).digit(7);
        Cwd = nullary("cwd", Pp::P66, Map::Primary, 0x99);
        Cdq = nullary("cdq", Pp::Np, Map::Primary, 0x99);
        Cqo = Info::new("cqo", Form::Zo, Class::General).sizes(sizes::ANY)
            .legacy(Pp::Np, Map::Primary, W::W1, 0x99);
        RolImm = shift("rol", 0xc1, 0);
        RorImm = shift("ror", 0xc1, 1);
        ShlImm = shift("shl", 0xc1, 4);
        ShrImm = shift("shr", 0xc1, 5);
        SarImm = shift("sar", 0xc1, 7);
        RolCl = shift("rol", 0xd3, 0);
        RorCl = shift("ror", 0xd3, 1);
        ShlCl = shift("shl", 0xd3, 4);
        ShrCl = shift("shr", 0xd3, 5);
        SarCl = shift("sar", 0xd3, 7);
        Bt = map_0f("bt", Form::RmTest, Pp::Np, 0xa3);
        BtImm = map_0f("bt", Form::MTest, Pp::Np, 0xba).digit(4).imm(ImmKind::I8);
        Tzcnt = map_0f("tzcnt", Form::Rm, Pp::PF3, 0xbc);
        Lzcnt = map_0f("lzcnt", Form::Rm, Pp::PF3, 0xbd);
        Popcnt = map_0f("popcnt", Form::Rm, Pp::PF3, 0xb8);
        Bswap = map_0f("bswap", Form::O, Pp::Np, 0xc8).sizes(sizes::B32_64);
        Setcc = map_0f("set", Form::M, Pp::Np, 0x90).sizes(sizes::B8).imm(ImmKind::Condition);
        Cmovcc = map_0f("cmov", Form::Rma, Pp::Np, 0x40).imm(ImmKind::Condition);

        Andn = bmi("andn", Form::Rvm, Pp::Np, 0xf2);
        Blsr = bmi("blsr", Form::Vm, Pp::Np, 0xf3).digit(1);
        Blsi = bmi("blsi", Form::Vm, Pp::Np, 0xf3).digit(3);
        Bzhi = bmi("bzhi", Form::Rmv, Pp::Np, 0xf5);
        Pdep = bmi("pdep", Form::Rvm, Pp::PF2, 0xf5);
        Pext = bmi("pext", Form::Rvm, Pp::PF3, 0xf5);
        Mulx = bmi("mulx", Form::Mulx, Pp::PF2, 0xf6);
        Shlx = bmi("shlx", Form::Rmv, Pp::P66, 0xf7);
        Sarx = bmi("sarx", Form::Rmv, Pp::PF3, 0xf7);
        Shrx = bmi("shrx", Form::Rmv, Pp::PF2, 0xf7);
        Bextr = bmi("bextr", Form::Rmv, Pp::Np, 0xf7);
        Rorx = Info::general("rorx", Form::Rm, sizes::B32_64).length(Length::L0)
            .vex(Pp::PF2, Map::M0F3A, W::BySize, 0xf0).imm(ImmKind::I8);

        // Locked without a prefix.
        Xchg = primary("xchg", Form::Mra, sizes::BYTES, 0x87).memory_only();
        LockXadd = locked("xadd", Map::M0F, 0xc1);
        // The value that is expected, and afterwards found, is in rax.
        LockCmpxchg = locked("cmpxchg", Map::M0F, 0xb1);
        LockAdd = locked("add", Map::Primary, 0x01);
        LockOr = locked("or", Map::Primary, 0x09);
        LockAnd = locked("and", Map::Primary, 0x21);
        LockXor = locked("xor", Map::Primary, 0x31);
        Mfence = nullary("mfence", Pp::Np, Map::M0F, 0xae).digit(6);

        Push = stack("push", Form::O, 0x50);
        Pop = stack("pop", Form::O, 0x58);
        CallReg = stack("call", Form::MTest, 0xff).digit(2);
        JmpReg = stack("jmp", Form::MTest, 0xff).digit(4);
        Ret = nullary("ret", Pp::Np, Map::Primary, 0xc3);
        Ud2 = nullary("ud2", Pp::Np, Map::M0F, 0x0b);
        Nop = nullary("nop", Pp::Np, Map::Primary, 0x90);
        Pause = nullary("pause", Pp::PF3, Map::Primary, 0x90);
        // From [rsi] to [rdi], rcx bytes.
        RepMovsb = nullary("movsb", Pp::PF3, Map::Primary, 0xa4);
        Rdtsc = nullary("rdtsc", Pp::Np, Map::M0F, 0x31);
        Vzeroupper = Info::new("vzeroupper", Form::Zo, Class::General).sizes(sizes::ANY)
            .length(Length::L0).vex(Pp::Np, Map::M0F, W::Ig, 0x77);
    } } };
}

general_rows! { rows; }
