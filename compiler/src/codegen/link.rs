//! The codes of functions that call each other, one behind the other.

use super::{MachineCode, Relocation, Symbol};

/// Puts codes together, of which the first is entered; the others have the numbers by which
/// [`crate::ir::Op::FuncAddr`] names them. There is one at least.
pub fn link(codes: Vec<MachineCode>) -> MachineCode {
    let starts: Vec<u32> = codes
        .iter()
        .scan(0u32, |end, code| {
            let start = end.next_multiple_of(code.align);
            *end = start + code.bytes.len() as u32;
            Some(start)
        })
        .collect();
    let mut codes = codes.into_iter().zip(&starts);
    let (mut linked, _) = codes.next().expect("a first function");
    resolve(&mut linked.relocations, 0, &starts);
    for (code, &start) in codes {
        linked.bytes.resize(start as usize, 0);
        linked.bytes.extend(code.bytes);
        linked.instruction_bytes = start + code.instruction_bytes;
        linked.align = linked.align.max(code.align);
        // None is recursive, so each is on the stack once at most.
        linked.stack_bytes = linked.stack_bytes.saturating_add(code.stack_bytes);
        // Each has its own piece, one behind the other.
        linked.private_bytes = linked.private_bytes.max(code.private_bytes);
        linked.private_align = linked.private_align.max(code.private_align);
        let mut relocations = code.relocations;
        resolve(&mut relocations, start, &starts);
        linked.relocations.extend(relocations);
        let lines = code.lines.into_iter();
        linked
            .lines
            .extend(lines.map(|(at, loc)| (start + at, loc)));
    }
    linked
}

/// Has relocations of a code that begins at `start` name the whole.
fn resolve(relocations: &mut [Relocation], start: u32, starts: &[u32]) {
    for relocation in relocations {
        relocation.offset += start;
        let from = match relocation.symbol {
            Symbol::Function(number) => starts[number as usize],
            Symbol::Code => start,
            _ => continue,
        };
        relocation.symbol = Symbol::Code;
        relocation.addend += i64::from(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: usize, align: u32, symbols: &[(Symbol, i64)]) -> MachineCode {
        let relocation = |&(symbol, addend)| Relocation {
            offset: 8,
            symbol,
            addend,
        };
        MachineCode {
            bytes: vec![1; bytes],
            instruction_bytes: 4,
            align,
            stack_bytes: 24,
            private_bytes: bytes as u32,
            private_align: align,
            relocations: symbols.iter().map(relocation).collect(),
            lines: vec![(2, Default::default())],
            listing: None,
        }
    }

    #[test]
    fn functions_are_addressed_relative_to_the_first() {
        let function = |number| (Symbol::Function(number), 0);
        let linked = link(vec![
            code(20, 16, &[function(1), function(0)]),
            code(70, 64, &[function(2), (Symbol::Code, 12)]),
            code(16, 16, &[]),
        ]);
        assert_eq!((linked.bytes.len(), linked.align), (160, 64));
        assert_eq!(linked.bytes[20..64], [0; 44]);
        assert_eq!((linked.private_bytes, linked.private_align), (70, 64));
        assert_eq!((linked.instruction_bytes, linked.stack_bytes), (148, 72));
        let lines: Vec<u32> = linked.lines.iter().map(|&(at, _)| at).collect();
        assert_eq!(lines, [2, 66, 146]);
        let relocations = linked.relocations.iter();
        let found: Vec<_> = relocations
            .inspect(|r| assert_eq!(r.symbol, Symbol::Code))
            .map(|r| (r.offset, r.addend))
            .collect();
        assert_eq!(found, [(8, 64), (8, 0), (72, 144), (72, 76)]);
    }
}
