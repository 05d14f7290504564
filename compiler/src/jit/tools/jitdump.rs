//! The file from which `perf inject --jit` makes object files, by
//! linux/tools/perf/Documentation/jitdump-specification.txt.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Mutex;

use rustix::mm::{MapFlags, ProtFlags};

use super::Described;

/// "JiTD", in the byte order of the machine.
const MAGIC: u32 = 0x4a69_5444;
const VERSION: u32 = 1;
const HEADER_SIZE: u32 = 40;
/// Of each record: its kind, size and time.
const PREFIX_SIZE: usize = 16;
const CODE_LOAD: u32 = 0;
const CODE_DEBUG_INFO: u32 = 2;
const ELF_MACHINE: u32 = if cfg!(target_arch = "aarch64") {
    183
} else {
    62
};

struct Dump {
    file: File,
    /// Number of the next piece of code.
    index: u64,
}

static DUMP: Mutex<Option<Dump>> = Mutex::new(None);

/// Adds code to the process's file, which the first piece starts.
pub fn add(code: &Described<'_>) -> io::Result<()> {
    let mut dump = DUMP.lock().unwrap_or_else(|e| e.into_inner());
    let dump = match &mut *dump {
        Some(dump) => dump,
        none => none.insert(Dump::create()?),
    };
    dump.file.write_all(&records(code, dump.index, now()))?;
    dump.index += 1;
    Ok(())
}

impl Dump {
    fn create() -> io::Result<Dump> {
        let path = format!("jit-{}.dump", std::process::id());
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        file.write_all(&header(now()))?;
        // perf learns of the file from its being mapped executable; the mapping stays for good.
        // SAFETY: a new mapping that nothing refers to.
        unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                HEADER_SIZE as usize,
                ProtFlags::READ | ProtFlags::EXEC,
                MapFlags::PRIVATE,
                &file,
                0,
            )?;
        }
        Ok(Dump { file, index: 0 })
    }
}

/// Of the clock that `perf record -k mono` takes, in nanoseconds.
fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn header(now: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [
        MAGIC,
        VERSION,
        HEADER_SIZE,
        ELF_MACHINE,
        0,
        std::process::id(),
    ] {
        out.extend(word.to_ne_bytes());
    }
    for word in [now, 0] {
        out.extend(word.to_ne_bytes());
    }
    out
}

/// The record of the lines, which comes first, and that of the code.
fn records(code: &Described<'_>, index: u64, now: u64) -> Vec<u8> {
    let mut out = Vec::new();
    if !code.lines.is_empty() {
        let mut body = Vec::new();
        body.extend(code.address.to_ne_bytes());
        body.extend((code.lines.len() as u64).to_ne_bytes());
        for line in code.lines {
            body.extend((code.address + u64::from(line.offset)).to_ne_bytes());
            body.extend(line.line.to_ne_bytes());
            // The discriminator.
            body.extend(0_u32.to_ne_bytes());
            body.extend(line.file.as_bytes());
            body.push(0);
        }
        record(&mut out, CODE_DEBUG_INFO, now, &body);
    }
    let thread = rustix::thread::gettid().as_raw_nonzero().get() as u32;
    let mut body = Vec::new();
    for word in [std::process::id(), thread] {
        body.extend(word.to_ne_bytes());
    }
    for word in [code.address, code.address, code.code.len() as u64, index] {
        body.extend(word.to_ne_bytes());
    }
    body.extend(code.name.as_bytes());
    body.push(0);
    body.extend(code.code);
    record(&mut out, CODE_LOAD, now, &body);
    out
}

fn record(out: &mut Vec<u8>, kind: u32, now: u64, body: &[u8]) {
    out.extend(kind.to_ne_bytes());
    out.extend(((PREFIX_SIZE + body.len()) as u32).to_ne_bytes());
    out.extend(now.to_ne_bytes());
    out.extend(body);
}

#[cfg(test)]
mod tests {
    use super::super::Line;
    use super::*;

    #[test]
    fn records_have_the_sizes_they_say() {
        assert_eq!(header(5).len(), HEADER_SIZE as usize);
        let line = |offset, line| Line {
            offset,
            file: "kernel.cl",
            line,
        };
        let bytes = records(
            &Described {
                name: "saxpy",
                address: 0x1000,
                code: &[0x90, 0x90, 0xc3],
                lines: &[line(0, 2), line(2, 7)],
            },
            3,
            9,
        );
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
        let long = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!(word(0), CODE_DEBUG_INFO);
        assert_eq!((long(8), long(16), long(24)), (9, 0x1000, 2));
        let entry = 16 + "kernel.cl\0".len();
        assert_eq!((long(32), word(40)), (0x1000, 2));
        assert_eq!((long(32 + entry), word(40 + entry)), (0x1002, 7));
        let load = word(4) as usize;
        assert_eq!(load, 32 + 2 * entry);
        assert_eq!(word(load), CODE_LOAD);
        assert_eq!(load + word(load + 4) as usize, bytes.len());
        assert_eq!(word(load + 16), std::process::id());
        assert_eq!((long(load + 24), long(load + 32)), (0x1000, 0x1000));
        assert_eq!((long(load + 40), long(load + 48)), (3, 3));
        assert_eq!(&bytes[load + 56..], b"saxpy\0\x90\x90\xc3");
    }
}
