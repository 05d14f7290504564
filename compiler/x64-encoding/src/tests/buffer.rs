//! Labels, jumps and padding: programs of nothing else, decoded.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction as Decoded, Mnemonic};

use crate::{Base, Buffer, Cc, Features, Instruction, Label, Memory, Opcode, Rm, Size};

/// A part of a program. Labels are numbers.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// So many bytes of code.
    Fill(u32),
    Bind(usize),
    Jump(usize),
    JumpIf(Cc, usize),
    Align(u32),
}

use Part::{Align, Bind, Fill, Jump, JumpIf};

fn fill(buffer: &mut Buffer, bytes: u32) {
    for _ in 0..bytes / 10 {
        buffer
            .emit(&Instruction::new(Opcode::MovImm64, Size::B64))
            .expect("an instruction");
    }
    for _ in 0..bytes % 10 {
        buffer
            .emit(&Instruction::new(Opcode::Nop, Size::B64))
            .expect("an instruction");
    }
}

/// What a program came to: the jumps that are there, and where labels are.
struct Outcome {
    jumps: Vec<Decoded>,
    labels: Vec<u64>,
    code_size: u32,
}

/// Writes a program, and finds its parts in the code. Jumps must go where they should, those to
/// what is next must not be there, and none must be longer than it need be.
fn run(parts: &[Part]) -> Outcome {
    let mut buffer = Buffer::new(Features::ALL);
    let labels: Vec<Label> = (0..count(parts)).map(|_| buffer.new_label()).collect();
    let mut written = Vec::new();
    for &part in parts {
        match part {
            Fill(bytes) => {
                written.push(buffer.offset());
                fill(&mut buffer, bytes);
            }
            Bind(label) => buffer.bind(labels[label]),
            Jump(label) => buffer.jump(labels[label]),
            JumpIf(cc, label) => buffer.jump_if(cc, labels[label]),
            Align(n) => buffer.align(n),
        }
    }
    let code = buffer.finish(&[]);
    let mut decoder = Decoder::with_ip(64, &code.bytes, 0, DecoderOptions::NONE);
    let mut places = vec![u64::MAX; labels.len()];
    let mut jumps = Vec::new();
    let mut written = written.into_iter();
    for (at, &part) in parts.iter().enumerate() {
        match part {
            Fill(bytes) => {
                let start = decoder.ip();
                let written = written.next().expect("as many as written");
                if bytes > 0 {
                    assert_eq!(u64::from(code.offset(written)), start, "in {parts:?}");
                }
                while decoder.ip() < start + u64::from(bytes) {
                    assert_eq!(
                        decoder.decode().flow_control(),
                        FlowControl::Next,
                        "{parts:?}"
                    );
                }
                assert_eq!(decoder.ip(), start + u64::from(bytes), "in {parts:?}");
            }
            Bind(label) => places[label] = decoder.ip(),
            Jump(label) | JumpIf(_, label) if is_next(&parts[at + 1..], label) => {}
            Jump(label) => jumps.push((label, decoder.decode(), FlowControl::UnconditionalBranch)),
            JumpIf(_, label) => {
                jumps.push((label, decoder.decode(), FlowControl::ConditionalBranch));
            }
            Align(n) => {
                while decoder.ip() % u64::from(n) != 0 {
                    assert_eq!(decoder.decode().mnemonic(), Mnemonic::Nop, "in {parts:?}");
                }
            }
        }
    }
    assert_eq!(decoder.ip(), u64::from(code.code_size), "in {parts:?}");
    let aligned = parts.iter().any(|part| matches!(part, Align(_)));
    for &(label, jump, flow) in &jumps {
        assert_eq!(jump.flow_control(), flow, "in {parts:?}");
        assert_eq!(jump.near_branch_target(), places[label], "in {parts:?}");
        assert!(
            aligned || jump.len() == 2 || !reaches(&jump),
            "{jump:?} is long in {parts:?}"
        );
    }
    Outcome {
        jumps: jumps.into_iter().map(|(_, jump, _)| jump).collect(),
        labels: places,
        code_size: code.code_size,
    }
}

fn count(parts: &[Part]) -> usize {
    parts.iter().filter(|part| matches!(part, Bind(_))).count()
}

/// Whether a jump would reach its target if it were short: its end would be nearer to what is
/// before it.
fn reaches(jump: &Decoded) -> bool {
    let target = jump.near_branch_target();
    let end = match target < jump.next_ip() {
        true => jump.ip() + 2,
        false => jump.next_ip(),
    };
    i8::try_from(target.wrapping_sub(end) as i64).is_ok()
}

/// Whether a label is next: nothing is before it but labels and jumps that are not there
/// themselves.
fn is_next(parts: &[Part], label: usize) -> bool {
    match *parts {
        [Bind(next), ref rest @ ..] => next == label || is_next(rest, label),
        [Jump(other) | JumpIf(_, other), ref rest @ ..] => {
            is_next(rest, other) && is_next(rest, label)
        }
        [Fill(0), ref rest @ ..] => is_next(rest, label),
        _ => false,
    }
}

/// How long jumps are.
fn lengths(outcome: &Outcome) -> Vec<usize> {
    outcome.jumps.iter().map(Decoded::len).collect()
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
        assert_eq!(lengths(&forward), expected);
        let forward = run(&[JumpIf(Cc::L, 0), Fill(bytes), Bind(0)]);
        let expected = match bytes {
            0 => vec![],
            1..=127 => vec![2],
            _ => vec![6],
        };
        assert_eq!(lengths(&forward), expected);
        // 128 bytes back from the end of the jump.
        let backward = run(&[Bind(0), Fill(bytes), Jump(0)]);
        assert_eq!(lengths(&backward), [if bytes <= 126 { 2 } else { 5 }]);
        let backward = run(&[Bind(0), Fill(bytes), JumpIf(Cc::L, 0)]);
        assert_eq!(lengths(&backward), [if bytes <= 126 { 2 } else { 6 }]);
    }
}

#[test]
fn conditions_come_back() {
    let decoded = |condition, bytes| run(&[JumpIf(condition, 0), Fill(bytes), Bind(0)]).jumps[0];
    for condition in Cc::ALL {
        for bytes in [1, 200] {
            let jump = decoded(condition, bytes);
            let name = format!("j{condition:?}").to_lowercase();
            assert_eq!(format!("{:?}", jump.mnemonic()).to_lowercase(), name);
            let negated = decoded(condition.negated(), bytes);
            assert_eq!(negated.code(), jump.code().negate_condition_code());
        }
    }
}

/// Each jump just reaches while the one that it spans is short; if the last one is not, all of them
/// grow one after the other.
#[test]
fn jumps_that_grow_make_others_grow() {
    for links in 1..200 {
        for last_is_near in [false, true] {
            let last = Fill(if last_is_near { 100 } else { 50 });
            let mut forward = Vec::new();
            for link in 0..links {
                forward.extend([JumpIf(Cc::E, link), Fill(50)]);
                if link > 0 {
                    forward.push(Bind(link - 1));
                }
                forward.push(Fill(25));
            }
            forward.extend([last, Bind(links - 1)]);
            let mut backward = vec![Bind(0), last];
            for link in 0..links {
                backward.push(Fill(25));
                if link + 1 < links {
                    backward.push(Bind(link + 1));
                }
                backward.extend([Fill(49), JumpIf(Cc::E, link)]);
            }
            for parts in [forward, backward] {
                let length = if last_is_near { 6 } else { 2 };
                assert_eq!(lengths(&run(&parts)), vec![length; links]);
            }
        }
    }
}

/// The jump that grows is the first or the last thing that another spans.
#[test]
fn jumps_grow_at_both_ends_of_a_span() {
    for bytes in 100..130 {
        let forward = [
            JumpIf(Cc::E, 0),
            Fill(bytes),
            Jump(1),
            Bind(0),
            Fill(200),
            Bind(1),
            Fill(1),
        ];
        let backward = [
            Bind(0),
            Jump(1),
            Fill(bytes),
            JumpIf(Cc::E, 0),
            Fill(200),
            Bind(1),
        ];
        // Beside the bytes, the jump of 5, and of its own 2 when it goes back.
        let reaches = |limit| if bytes <= limit { 2 } else { 6 };
        assert_eq!(lengths(&run(&forward)), [reaches(122), 5]);
        assert_eq!(lengths(&run(&backward)), [5, reaches(121)]);
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
                let outcome = run(&[jump, Fill(bytes + 1), Align(n), Bind(0), Fill(1)]);
                let before = bytes + 1 + if let Jump(_) = jump { 2 } else { 0 };
                assert_eq!(outcome.labels[0], u64::from(before.next_multiple_of(n)));
                assert_eq!(outcome.code_size, before.next_multiple_of(n) + 1);
            }
        }
    }
}

#[test]
fn tables_and_pool_are_behind_the_code() {
    for bytes in 0..140 {
        let mut buffer = Buffer::new(Features::ALL);
        let labels: Vec<Label> = (0..3).map(|_| buffer.new_label()).collect();
        let end = buffer.new_label();
        buffer.jump_table(9, &labels).expect("an instruction");
        // Grows and so moves all that is behind.
        buffer.jump(end);
        buffer.jump_table(1, &[end]).expect("an instruction");
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
        buffer.emit(&load).expect("an instruction");
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
