//! A few encodings by their bytes, as the manuals give them.

use crate::{Base, Buffer, Features, Instruction, Memory, Opcode, Rm, Size};

const RAX: Memory = Memory {
    base: Base::Reg(0),
    index: None,
    shift: 0,
    disp: 0,
};

fn bytes(opcode: Opcode, size: Size, set: impl FnOnce(&mut Instruction)) -> Vec<u8> {
    let mut inst = Instruction::new(opcode, size);
    set(&mut inst);
    let mut buffer = Buffer::new(Features::ALL);
    buffer.emit(&inst).expect("an instruction");
    buffer.finish(&[]).bytes
}

#[test]
fn well_known_bytes() {
    // mov rax, rbx
    let is = bytes(Opcode::Mov, Size::B64, |i| i.rm = Rm::Reg(3));
    assert_eq!(is, [0x48, 0x8b, 0xc3]);
    // lock xadd [rax], ecx
    let is = bytes(Opcode::LockXadd, Size::B32, |i| {
        (i.reg, i.rm) = (1, Rm::Memory(RAX))
    });
    assert_eq!(is, [0xf0, 0x0f, 0xc1, 0x08]);
    // vaddps xmm1, xmm2, xmm3
    let operands = |i: &mut Instruction| (i.reg, i.vvvv, i.rm) = (1, 2, Rm::Reg(3));
    let is = bytes(Opcode::Vaddps, Size::V128, operands);
    assert_eq!(is, [0xc5, 0xe8, 0x58, 0xcb]);
    // vaddps zmm1, zmm2, zmm3
    let is = bytes(Opcode::Vaddps, Size::V512, operands);
    assert_eq!(is, [0x62, 0xf1, 0x6c, 0x48, 0x58, 0xcb]);
    // vmulps zmm0{k1}{z}, zmm1, [rax]{1to16}
    let is = bytes(Opcode::Vmulps, Size::V512, |i| {
        (i.vvvv, i.rm, i.mask, i.zeroing) = (1, Rm::Broadcast(RAX), 1, true);
    });
    assert_eq!(is, [0x62, 0xf1, 0x74, 0xd9, 0x59, 0x00]);
    // vpxor xmm0, xmm0, xmm0
    let is = bytes(Opcode::Vpxord, Size::V128, |i| i.rm = Rm::Reg(0));
    assert_eq!(is, [0xc5, 0xf9, 0xef, 0xc0]);
    // kortestw k1, k1
    let is = bytes(Opcode::Kortestw, Size::B16, |i| {
        (i.reg, i.rm) = (1, Rm::Reg(1))
    });
    assert_eq!(is, [0xc5, 0xf8, 0x98, 0xc9]);
    let nothing = |_: &mut Instruction| {};
    assert_eq!(
        bytes(Opcode::Vzeroupper, Size::V256, nothing),
        [0xc5, 0xf8, 0x77]
    );
    assert_eq!(
        bytes(Opcode::Mfence, Size::B64, nothing),
        [0x0f, 0xae, 0xf0]
    );
    assert_eq!(bytes(Opcode::RepMovsb, Size::B8, nothing), [0xf3, 0xa4]);
}

#[test]
fn sources_are_exchanged_where_that_is_shorter() {
    let bytes = |opcode, (reg, vvvv, rm)| {
        let inst = Instruction {
            reg,
            vvvv,
            rm: Rm::Reg(rm),
            ..Instruction::new(opcode, Size::V256)
        };
        let mut buffer = Buffer::new(Features::ALL);
        buffer.emit(&inst.shortened()).expect("an instruction");
        buffer.finish(&[]).bytes
    };
    // vpaddd ymm1, ymm9, ymm2
    assert_eq!(bytes(Opcode::Vpaddd, (1, 2, 9)), [0xc5, 0xb5, 0xfe, 0xca]);
    assert_eq!(bytes(Opcode::Vpaddd, (1, 9, 2)), [0xc5, 0xb5, 0xfe, 0xca]);
    // vpsubd ymm1, ymm2, ymm9
    let is = bytes(Opcode::Vpsubd, (1, 2, 9));
    assert_eq!(is, [0xc4, 0xc1, 0x6d, 0xfa, 0xc9]);
    // vaddps ymm1, ymm2, ymm9, whose result is the first of two NaNs
    let is = bytes(Opcode::Vaddps, (1, 2, 9));
    assert_eq!(is, [0xc4, 0xc1, 0x6c, 0x58, 0xc9]);
    // vmovaps ymm1, ymm9, as a store
    assert_eq!(bytes(Opcode::Vmovaps, (1, 0, 9)), [0xc5, 0x7c, 0x29, 0xc9]);
    // vmovaps ymm9, ymm1
    assert_eq!(bytes(Opcode::Vmovaps, (9, 0, 1)), [0xc5, 0x7c, 0x28, 0xc9]);
}
