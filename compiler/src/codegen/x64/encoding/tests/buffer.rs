//! Labels, jumps and padding: programs of nothing else, decoded.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic, OpKind};

use crate::codegen::x64::encoding::{
    Base, Buffer, Cc, Instruction, Label, Memory, Opcode, Rm, Size,
};

/// A part of a program. Labels are numbers.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// So many bytes of code.
    Fill(u32),
    /// The label, and an instruction to know it by.
    Bind(usize),
    Jump(usize),
    JumpIf(Cc, usize),
    Align(u32),
}

use Part::{Align, Bind, Fill, Jump, JumpIf};

fn mov(imm: i64, size: Size) -> Instruction {
    let mut inst = Instruction::new(Opcode::MovImm64, size);
    inst.imm = imm;
    inst
}

fn fill(buffer: &mut Buffer, bytes: u32) {
    for _ in 0..bytes / 10 {
        buffer.emit(&mov(0, Size::B64));
    }
    for _ in 0..bytes % 10 {
        buffer.emit(&Instruction::new(Opcode::Nop, Size::B64));
    }
}

/// A jump in the code: its length, where it ends and where it goes.
#[derive(Debug)]
struct Found {
    bytes: u32,
    end: u32,
    target: u32,
}

/// What a program came to.
struct Outcome {
    jumps: Vec<Found>,
    /// Where labels are.
    labels: Vec<u32>,
    code_size: u32,
}

/// Writes a program and checks where its jumps go and what they are.
fn run(parts: &[Part]) -> Outcome {
    let mut buffer = Buffer::default();
    let labels: Vec<Label> = (0..count(parts)).map(|_| buffer.new_label()).collect();
    let mut written = vec![0; labels.len()];
    for &part in parts {
        match part {
            Fill(bytes) => fill(&mut buffer, bytes),
            Bind(label) => {
                buffer.bind(labels[label]);
                written[label] = buffer.offset();
                buffer.emit(&mov(label as i64, Size::B32));
            }
            Jump(label) => buffer.jump(labels[label]),
            JumpIf(cc, label) => buffer.jump_if(cc, labels[label]),
            Align(n) => buffer.align(n),
        }
    }
    let code = buffer.finish(&[]);
    let mut places = vec![u32::MAX; labels.len()];
    let mut jumps = Vec::new();
    for inst in &mut Decoder::with_ip(64, &code.bytes, 0, DecoderOptions::NONE) {
        if inst.flow_control() != FlowControl::Next {
            jumps.push(Found {
                bytes: inst.len() as u32,
                end: inst.next_ip() as u32,
                target: inst.near_branch_target() as u32,
            });
        } else if inst.mnemonic() == Mnemonic::Mov && inst.op1_kind() == OpKind::Immediate32 {
            places[inst.immediate32() as usize] = inst.ip() as u32;
        }
    }
    let moved: Vec<u32> = written.iter().map(|&offset| code.offset(offset)).collect();
    assert_eq!(moved, places, "where labels were written, in {parts:?}");
    let outcome = Outcome {
        jumps,
        labels: places,
        code_size: code.code_size,
    };
    check(parts, &outcome);
    outcome
}

fn count(parts: &[Part]) -> usize {
    parts.iter().filter(|part| matches!(part, Bind(_))).count()
}

/// Jumps go where they should, those to what is next are not there, and none is longer than it
/// need be.
fn check(parts: &[Part], outcome: &Outcome) {
    let mut found = outcome.jumps.iter();
    let aligned = parts.iter().any(|part| matches!(part, Align(_)));
    for (at, &part) in parts.iter().enumerate() {
        let (Jump(label) | JumpIf(_, label)) = part else {
            continue;
        };
        if is_next(&parts[at + 1..], label) {
            continue;
        }
        let Some(jump) = found.next() else {
            panic!("a jump is missing in {parts:?}");
        };
        assert_eq!(jump.target, outcome.labels[label], "{jump:?} in {parts:?}");
        if jump.bytes > 2 && !aligned {
            // Were it short, its end would be nearer to what is before it.
            let end = if jump.target < jump.end {
                jump.end - jump.bytes + 2
            } else {
                jump.end
            };
            let distance = jump.target.wrapping_sub(end) as i32;
            assert!(
                i8::try_from(distance).is_err(),
                "{jump:?} is long in {parts:?}"
            );
        }
    }
    assert!(
        found.next().is_none(),
        "a jump to what is next in {parts:?}"
    );
}

/// Whether a label is next: nothing is before it but jumps that are not there themselves.
fn is_next(parts: &[Part], label: usize) -> bool {
    match parts.first() {
        Some(&Bind(next)) => next == label,
        Some(&(Jump(other) | JumpIf(_, other))) => {
            is_next(&parts[1..], other) && is_next(&parts[1..], label)
        }
        Some(Fill(0)) => is_next(&parts[1..], label),
        _ => false,
    }
}

/// All lengths about where a short jump ends, in both directions.
#[test]
fn jumps_are_short_when_they_reach() {
    for bytes in 0..300 {
        let forward = run(&[Jump(0), Fill(bytes), Bind(0)]);
        let expected = match bytes {
            0 => vec![],
            1..=127 => vec![2],
            _ => vec![5],
        };
        let lengths = |outcome: &Outcome| -> Vec<u32> {
            outcome.jumps.iter().map(|jump| jump.bytes).collect()
        };
        assert_eq!(lengths(&forward), expected);
        let forward = run(&[JumpIf(Cc::L, 0), Fill(bytes), Bind(0)]);
        let expected = match bytes {
            0 => vec![],
            1..=127 => vec![2],
            _ => vec![6],
        };
        assert_eq!(lengths(&forward), expected);
        // The label's own instruction takes 5 bytes, the jump 2.
        let backward = run(&[Bind(0), Fill(bytes), Jump(0)]);
        assert_eq!(lengths(&backward), [if bytes <= 121 { 2 } else { 5 }]);
        let backward = run(&[Bind(0), Fill(bytes), JumpIf(Cc::L, 0)]);
        assert_eq!(lengths(&backward), [if bytes <= 121 { 2 } else { 6 }]);
    }
}

#[test]
fn conditions_come_back() {
    for condition in Cc::ALL {
        for bytes in [1, 200] {
            let mut buffer = Buffer::default();
            let label = buffer.new_label();
            buffer.jump_if(condition, label);
            fill(&mut buffer, bytes);
            buffer.bind(label);
            let code = buffer.finish(&[]);
            let jump = Decoder::new(64, &code.bytes, DecoderOptions::NONE).decode();
            let name = format!("j{condition:?}").to_lowercase();
            assert_eq!(format!("{:?}", jump.mnemonic()).to_lowercase(), name);
            let inverted =
                Cc::ALL[(jump.code().negate_condition_code().condition_code() as usize + 15) % 16];
            assert_eq!(inverted, condition.negated());
        }
    }
}

/// Each jump just reaches while the one that it spans is short; if the last one is not, all of them
/// grow one after the other.
#[test]
fn jumps_that_grow_make_others_grow() {
    for links in 1..200 {
        for last_is_near in [false, true] {
            let mut parts = Vec::new();
            for link in 0..links {
                parts.extend([JumpIf(Cc::E, link), Fill(50)]);
                // The label of the jump before, 5 bytes.
                parts.push(if link > 0 { Bind(link - 1) } else { Fill(5) });
                parts.push(Fill(20));
            }
            parts.extend([Fill(if last_is_near { 100 } else { 50 }), Bind(links - 1)]);
            let outcome = run(&parts);
            let near = outcome.jumps.iter().filter(|jump| jump.bytes > 2).count();
            assert_eq!(near, if last_is_near { links } else { 0 });
        }
    }
}

/// Every program of six parts from a few.
#[test]
fn small_programs_come_back() {
    let parts = [
        Fill(62),
        Fill(58),
        Jump(0),
        JumpIf(Cc::B, 1),
        Jump(1),
        Bind(0),
        Bind(1),
        Align(16),
    ];
    let length = 6u32;
    for number in 0..parts.len().pow(length) {
        let program: Vec<Part> = (0..length)
            .map(|digit| parts[number / parts.len().pow(digit) % parts.len()])
            .collect();
        let binds = |label| {
            program
                .iter()
                .filter(|part| matches!(part, Bind(bound) if *bound == label))
                .count()
        };
        if binds(0) == 1 && binds(1) == 1 {
            run(&program);
        }
    }
}

#[test]
fn padding_is_to_the_boundary_and_no_further() {
    for n in [1, 2, 4, 8, 16, 32, 64] {
        for bytes in 0..65 {
            // Jumps before the padding change where it is.
            for jump in [Fill(0), Jump(0)] {
                let outcome = run(&[jump, Fill(bytes + 1), Align(n), Bind(0)]);
                let before = bytes + 1 + if let Jump(_) = jump { 2 } else { 0 };
                assert_eq!(outcome.labels[0], before.next_multiple_of(n));
                assert_eq!(outcome.code_size, outcome.labels[0] + 5);
            }
        }
    }
}

#[test]
fn tables_and_pool_are_behind_the_code() {
    for bytes in 0..140 {
        let mut buffer = Buffer::default();
        let labels: Vec<Label> = (0..3).map(|_| buffer.new_label()).collect();
        let end = buffer.new_label();
        buffer.jump_table(9, &labels);
        // Grows and so moves all that is behind.
        buffer.jump(end);
        buffer.jump_table(1, &[end]);
        for &label in &labels {
            buffer.bind(label);
            fill(&mut buffer, bytes);
        }
        buffer.bind(end);
        let mut load = Instruction::new(Opcode::Vmovaps, Size::V256);
        load.rm = Rm::Memory(Memory {
            base: Base::Pool,
            index: None,
            shift: 0,
            disp: 32,
        });
        buffer.emit(&load);
        let pool: Vec<u8> = (1..=64).collect();
        let code = buffer.finish(&pool);
        let mut decoder = Decoder::with_ip(64, &code.bytes, 0, DecoderOptions::NONE);
        let decoded: Vec<_> = decoder
            .iter()
            .take_while(|inst| inst.ip() < u64::from(code.code_size))
            .collect();
        let entry = |table: u64, entry: usize| {
            let at = table as usize + 4 * entry;
            let entry = i32::from_le_bytes(code.bytes[at..at + 4].try_into().unwrap());
            (table as i64 + i64::from(entry)) as u32
        };
        let table = decoded[0].ip_rel_memory_address();
        assert_eq!(table, u64::from(code.code_size.next_multiple_of(4)));
        assert_eq!(decoded[0].op0_register(), iced_x86::Register::R9);
        let last = decoded.last().unwrap();
        let first = decoded[2].next_ip() as u32;
        for label in 0..3 {
            assert_eq!(entry(table, label), first + label as u32 * bytes);
        }
        assert_eq!(decoded[1].near_branch_target(), last.ip());
        assert_eq!(
            entry(decoded[2].ip_rel_memory_address(), 0),
            last.ip() as u32
        );
        let load = last.ip_rel_memory_address() as usize;
        assert_eq!((load - 32) % 64, 0);
        assert_eq!(code.bytes[load - 32..], pool);
    }
}
