//! Program binaries: what `CL_PROGRAM_BINARIES` gives and `clCreateProgramWithBinary` takes.
//!
//! The binary of a program is its SPIR-V, so it moves between machines; machine code is made when a
//! kernel is first launched, in about the time that reading it would take.
//!
//! It is for the build of the driver that wrote it. A module stands for what a front end made of
//! its source: another build's may make something else of it, with a mistake less, and what modules
//! take for granted (which functions they import, how kernels are called that they enqueue) is
//! agreed on by the front end and the compiler of one build. Applications that keep binaries
//! compile again when one is refused, as with any driver that is updated; a program that is to be
//! kept for longer is to be kept as SPIR-V, and given to `clCreateProgramWithIL`.
//!
//! ```text
//! "BROLGABN"  format version u32  build (length u32, bytes)  SHA-256 of the rest
//! kind u32    options (length u32, bytes)    count u32    { words u32, module }...
//! ```
//! Numbers are little-endian.

use std::fmt;

use sha2::{Digest, Sha256};

const MAGIC: &[u8; 8] = b"BROLGABN";

/// Raise when the layout above changes.
const FORMAT_VERSION: u32 = 1;

/// The build of the driver: its version, and a hash of its sources and of what compiled them.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "-", env!("BROLGA_BUILD"));

/// Values of `CL_PROGRAM_BINARY_TYPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BinaryType {
    CompiledObject = 1,
    Library = 2,
    Executable = 4,
}

/// What a binary holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramBinary {
    pub binary_type: BinaryType,
    /// The options that the program was compiled or linked with.
    pub options: String,
    /// SPIR-V modules; more than one when they were linked.
    pub modules: Vec<Vec<u32>>,
}

/// Why bytes are not a binary of this driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BinaryError {
    /// Another driver's, or no program binary at all.
    NotOurs,
    /// Written by another build of Brolga.
    OtherBuild(String),
    /// Cut short or changed.
    Damaged,
}

impl fmt::Display for BinaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BinaryError::NotOurs => f.write_str("not a Brolga program binary"),
            BinaryError::OtherBuild(build) => write!(
                f,
                "the program binary is of another build of Brolga, {build}; this is {BUILD} \
                 (format {FORMAT_VERSION})"
            ),
            BinaryError::Damaged => f.write_str("the program binary is cut short or damaged"),
        }
    }
}

impl std::error::Error for BinaryError {}

/// Writes a binary.
pub fn encode(binary: &ProgramBinary) -> Vec<u8> {
    let mut body = (binary.binary_type as u32).to_le_bytes().to_vec();
    push_bytes(&mut body, binary.options.as_bytes());
    push_u32(&mut body, binary.modules.len());
    for module in &binary.modules {
        push_u32(&mut body, module.len());
        body.extend(module.iter().flat_map(|word| word.to_le_bytes()));
    }
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    push_bytes(&mut out, BUILD.as_bytes());
    out.extend_from_slice(&Sha256::digest(&body));
    out.extend_from_slice(&body);
    out
}

/// Reads a binary that this build wrote.
pub fn decode(bytes: &[u8]) -> Result<ProgramBinary, BinaryError> {
    let mut header = Reader(bytes);
    if header.take(MAGIC.len()) != Ok(MAGIC) {
        return Err(BinaryError::NotOurs);
    }
    let format = header.u32()?;
    let build = String::from_utf8_lossy(header.bytes()?).into_owned();
    if format != FORMAT_VERSION || build != BUILD {
        return Err(BinaryError::OtherBuild(format!(
            "{build} (format {format})"
        )));
    }
    let checksum = header.take(32)?;
    let mut body = header;
    if Sha256::digest(body.0).as_slice() != checksum {
        return Err(BinaryError::Damaged);
    }
    let binary_type = match body.u32()? {
        1 => BinaryType::CompiledObject,
        2 => BinaryType::Library,
        4 => BinaryType::Executable,
        _ => return Err(BinaryError::Damaged),
    };
    let options = std::str::from_utf8(body.bytes()?)
        .map_err(|_| BinaryError::Damaged)?
        .to_owned();
    let mut modules = Vec::new();
    for _ in 0..body.u32()? {
        let words = body.u32()? as usize;
        let bytes = body.take(words.checked_mul(4).ok_or(BinaryError::Damaged)?)?;
        modules.push(
            bytes
                .chunks_exact(4)
                .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
                .collect(),
        );
    }
    if !body.0.is_empty() {
        return Err(BinaryError::Damaged);
    }
    Ok(ProgramBinary {
        binary_type,
        options,
        modules,
    })
}

/// Lengths have 32 bits: programs are far smaller, and a longer one would fail its checksum's
/// reader, not overflow.
fn push_u32(out: &mut Vec<u8>, value: usize) {
    out.extend_from_slice(&u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes());
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_u32(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], BinaryError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(BinaryError::Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, BinaryError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn bytes(&mut self) -> Result<&'a [u8], BinaryError> {
        let count = self.u32()?;
        self.take(count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ProgramBinary {
        ProgramBinary {
            binary_type: BinaryType::Library,
            options: "-cl-std=CL3.0 -D é".to_owned(),
            modules: vec![vec![0x0723_0203, 1, 2], vec![], vec![u32::MAX; 9]],
        }
    }

    #[test]
    fn a_binary_reads_as_it_was_written() {
        for binary_type in [
            BinaryType::CompiledObject,
            BinaryType::Library,
            BinaryType::Executable,
        ] {
            let binary = ProgramBinary {
                binary_type,
                ..sample()
            };
            assert_eq!(decode(&encode(&binary)), Ok(binary));
        }
    }

    #[test]
    fn a_binary_cut_anywhere_or_with_a_tail_is_refused() {
        let mut bytes = encode(&sample());
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
        bytes.push(0);
        assert_eq!(decode(&bytes), Err(BinaryError::Damaged));
    }

    #[test]
    fn a_binary_changed_anywhere_is_refused() {
        let bytes = encode(&sample());
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x41;
            assert!(decode(&bad).is_err(), "byte {at}");
        }
    }

    #[test]
    fn other_files_and_builds_are_named() {
        assert_eq!(decode(b"\x7fELF...."), Err(BinaryError::NotOurs));
        let mut bytes = encode(&sample());
        bytes[8] = 2;
        let error = decode(&bytes).unwrap_err();
        assert!(error.to_string().contains("format 2"), "{error}");
        // The same version, built from other sources.
        let mut bytes = encode(&sample());
        let last = MAGIC.len() + 8 + BUILD.len() - 1;
        bytes[last] ^= 1;
        let error = decode(&bytes).unwrap_err();
        assert!(matches!(error, BinaryError::OtherBuild(_)), "{error:?}");
        assert!(error.to_string().contains(BUILD), "{error}");
    }
}
