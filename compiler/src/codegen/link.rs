//! The codes of functions that call each other, one behind the other.

use cranelift_module::{ModuleReloc, ModuleRelocTarget};

use super::MachineCode;

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
        let mut relocations = code.relocations;
        resolve(&mut relocations, start, &starts);
        linked.relocations.extend(relocations);
        let lines = code.lines.into_iter();
        linked
            .lines
            .extend(lines.map(|(at, loc)| (start + at, loc)));
        linked.constants.extend(code.constants);
    }
    linked
}

/// Has relocations of a code that begins at `start` name the whole, which is number 0.
fn resolve(relocations: &mut [ModuleReloc], start: u32, starts: &[u32]) {
    for relocation in relocations {
        relocation.offset += start;
        match &mut relocation.name {
            ModuleRelocTarget::User { index, .. } => {
                relocation.addend += i64::from(starts[*index as usize]);
                *index = 0;
            }
            ModuleRelocTarget::FunctionOffset(_, offset) => *offset += start,
            ModuleRelocTarget::LibCall(_) | ModuleRelocTarget::KnownSymbol(_) => {}
        }
    }
}
