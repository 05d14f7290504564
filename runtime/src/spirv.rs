//! SPIR-V modules as words: taken apart into instructions and put together again. What they mean is
//! for the compiler to judge.

/// The words before the first instruction.
pub(crate) const HEADER: usize = 5;

/// Opcodes, and numbers that are operands, from the SPIR-V Specification, "Instructions", "Storage
/// Class", "Decoration" and "Linkage Type".
pub(crate) mod op {
    pub const UNDEF: u32 = 1;
    #[cfg(test)]
    pub const STRING: u32 = 7;
    #[cfg(test)]
    pub const LINE: u32 = 8;
    pub const TYPE_POINTER: u32 = 32;
    pub const FIRST_TYPE: u32 = 19;
    pub const LAST_TYPE: u32 = 39;
    /// Types that `OpConstantNull` takes: numbers, composites, pointers, events, reservations and
    /// queues.
    pub const NULLABLE_TYPES: &[u32] = &[20, 21, 22, 23, 24, 28, 30, 32, 34, 35, 36, 37];
    pub const CONSTANT_NULL: u32 = 46;
    pub const SPEC_CONSTANT_TRUE: u32 = 48;
    pub const SPEC_CONSTANT_FALSE: u32 = 49;
    pub const SPEC_CONSTANT: u32 = 50;
    pub const FUNCTION: u32 = 54;
    pub const VARIABLE: u32 = 59;
    pub const DECORATE: u32 = 71;
    pub const UNTYPED_VARIABLE: u32 = 4418;

    pub const FUNCTION_CLASS: u32 = 7;
    pub const SPEC_ID: u32 = 1;
    pub const LINKAGE_ATTRIBUTES: u32 = 41;
    pub const IMPORT: u32 = 1;
}

/// The words of a SPIR-V module in either byte order, if the bytes have the form of one: the magic
/// number, a header, and instructions whose lengths add up.
pub(crate) fn words(bytes: &[u8]) -> Option<Vec<u32>> {
    const MAGIC: u32 = 0x0723_0203;
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let quads = bytes
        .chunks_exact(4)
        .map(|quad| [quad[0], quad[1], quad[2], quad[3]]);
    let mut words: Vec<u32> = quads.map(u32::from_le_bytes).collect();
    if words.first() == Some(&MAGIC.swap_bytes()) {
        words.iter_mut().for_each(|word| *word = word.swap_bytes());
    }
    if words.len() < HEADER || words[0] != MAGIC {
        return None;
    }
    let read: usize = instructions(&words).map(|(_, inst)| inst.len() + 1).sum();
    (HEADER + read == words.len()).then_some(words)
}

/// Splits a module into instructions (opcode, operands), up to one whose length is wrong.
pub(crate) fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let count = (first >> 16) as usize;
        let inst = rest.get(1..count)?;
        rest = &rest[count..];
        Some((first & 0xffff, inst))
    })
}

/// The words before the first instruction, to which instructions are then appended.
pub(crate) fn header(words: &[u32]) -> Vec<u32> {
    let mut out = Vec::with_capacity(words.len());
    out.extend_from_slice(&words[..HEADER.min(words.len())]);
    out
}

/// Appends an instruction; one too long for the 16 bits of its word count is left out.
pub(crate) fn push(out: &mut Vec<u32>, opcode: u32, operands: &[u32]) {
    if let Ok(count) = u16::try_from(operands.len() + 1) {
        out.push(u32::from(count) << 16 | opcode);
        out.extend_from_slice(operands);
    }
}

/// A literal string operand.
pub(crate) fn string(operands: &[u32]) -> String {
    let bytes: Vec<u8> = operands
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .take_while(|&b| b != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A string as operand words.
#[cfg(test)]
pub(crate) fn literal(text: &str) -> impl Iterator<Item = u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() / 4 + 1) * 4, 0);
    let (quads, _) = bytes.as_chunks::<4>();
    let words: Vec<u32> = quads.iter().map(|quad| u32::from_le_bytes(*quad)).collect();
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_recognised_in_both_byte_orders() {
        let module = [0x0723_0203u32, 0x0001_0000, 0, 1, 0, 0x0002_0011, 6];
        let little: Vec<u8> = module.iter().flat_map(|word| word.to_le_bytes()).collect();
        let big: Vec<u8> = module.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(words(&little).as_deref(), Some(&module[..]));
        assert_eq!(words(&big).as_deref(), Some(&module[..]));
    }

    #[test]
    fn bytes_that_are_no_module_are_refused() {
        let header = [0x0723_0203u32, 0x0001_0000, 0, 1, 0];
        let with = |rest: &[u32]| -> Vec<u8> {
            header
                .iter()
                .chain(rest)
                .flat_map(|word| word.to_le_bytes())
                .collect()
        };
        assert!(words(&[]).is_none());
        assert!(words(&with(&[])[..19]).is_none());
        assert!(words(&with(&[])[..16]).is_none());
        assert!(words(b"kernel void f() {}  ").is_none());
        assert!(words(&with(&[0x0000_0011])).is_none(), "a length of zero");
        assert!(
            words(&with(&[0x0003_0011, 6])).is_none(),
            "an instruction cut off"
        );
        assert!(words(&with(&[])).is_some());
    }
}
