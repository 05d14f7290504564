//! Code shown to gdb by its "JIT Compilation Interface" (the chapter of gdb's manual): a list of
//! object files in memory, and a function that gdb stops at when the list has changed.
//!
//! The object file has a symbol for the kernel, at its address, and DWARF line numbers.

use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard};

use gimli::write::{
    Address, AttributeValue, DwarfUnit, EndianVec, LineProgram, LineString, Sections,
};
use gimli::{Encoding, Format, LineEncoding, LittleEndian};
use object::write::{Object, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, SectionFlags, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope,
};

use super::Described;

/// `jit_code_entry`
#[repr(C)]
struct Entry {
    next: *mut Entry,
    previous: *mut Entry,
    file: *const u8,
    size: u64,
}

/// `jit_descriptor`
#[repr(C)]
struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

// gdb looks for the two symbols by name in every library, so that other compilers in the process
// may have them as well.
#[unsafe(no_mangle)]
static mut __jit_debug_descriptor: Descriptor = Descriptor {
    version: 1,
    action: 0,
    relevant: ptr::null_mut(),
    first: ptr::null_mut(),
};

/// gdb has a breakpoint here.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn __jit_debug_register_code() {
    // Not to be optimised away, nor merged with another empty function.
    std::hint::black_box(&raw const __jit_debug_descriptor);
}

/// Guards the descriptor and the list.
static LIST: Mutex<()> = Mutex::new(());

fn lock() -> MutexGuard<'static, ()> {
    LIST.lock().unwrap_or_else(|e| e.into_inner())
}

/// An object file in gdb's list, as long as this lives.
#[derive(Debug)]
pub struct Registration {
    entry: NonNull<Entry>,
    _file: Box<[u8]>,
}

// SAFETY: the entry is only touched under `LIST`.
unsafe impl Send for Registration {}
// SAFETY: as above; shared access touches nothing.
unsafe impl Sync for Registration {}

impl Registration {
    pub fn new(code: &Described<'_>) -> Registration {
        let file = object_file(code).into_boxed_slice();
        let entry = NonNull::from(Box::leak(Box::new(Entry {
            next: ptr::null_mut(),
            previous: ptr::null_mut(),
            file: file.as_ptr(),
            size: file.len() as u64,
        })));
        let _guard = lock();
        // SAFETY: the list and the descriptor are ours alone while the lock is held, and entries in
        // the list live.
        unsafe {
            let list = &raw mut __jit_debug_descriptor;
            (*entry.as_ptr()).next = (*list).first;
            if let Some(first) = (*list).first.as_mut() {
                first.previous = entry.as_ptr();
            }
            (*list).first = entry.as_ptr();
            (*list).relevant = entry.as_ptr();
            (*list).action = REGISTER;
        }
        __jit_debug_register_code();
        Registration { entry, _file: file }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _guard = lock();
        // SAFETY: as in `new`; the entry came from a box and is in the list.
        unsafe {
            let list = &raw mut __jit_debug_descriptor;
            let entry = self.entry.as_ptr();
            let (next, previous) = ((*entry).next, (*entry).previous);
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => (*list).first = next,
            }
            (*list).relevant = entry;
            (*list).action = UNREGISTER;
            __jit_debug_register_code();
            drop(Box::from_raw(entry));
        }
    }
}

/// An ELF object whose one section of code is where the code is.
fn object_file(code: &Described<'_>) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    // The code itself gdb reads from the process.
    let text = object.add_section(
        Vec::new(),
        b".text".to_vec(),
        SectionKind::UninitializedData,
    );
    let size = code.code.len() as u64;
    object.section_mut(text).append_bss(size, 16);
    object.section_mut(text).flags = SectionFlags::Elf {
        sh_type: object::elf::SHT_NOBITS,
        sh_flags: object::elf::SHF_ALLOC | object::elf::SHF_EXECINSTR,
    };
    object.add_symbol(Symbol {
        name: code.name.as_bytes().to_vec(),
        value: 0,
        size,
        kind: SymbolKind::Text,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Section(text),
        flags: SymbolFlags::None,
    });
    if let Some(sections) = line_sections(code) {
        for (name, bytes) in sections {
            let id = object.add_section(Vec::new(), name.as_bytes().to_vec(), SectionKind::Debug);
            object.append_section_data(id, &bytes, 1);
        }
    }
    let mut file = object.write().unwrap_or_default();
    place_code(&mut file, code.address);
    file
}

/// Writes the address into the header of the section of code, which object files otherwise leave to
/// the linker.
fn place_code(file: &mut [u8], address: u64) {
    const SECTION_HEADERS: usize = 0x28;
    const ENTRY_SIZE: usize = 64;
    const TYPE: usize = 4;
    const ADDRESS: usize = 16;
    let bytes = |file: &[u8], at: usize, n: usize| -> Option<u64> {
        let bytes = file.get(at..at + n)?.iter().rev();
        Some(bytes.fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    };
    let Some(start) = bytes(file, SECTION_HEADERS, 8) else {
        return;
    };
    let mut at = start as usize;
    while let Some(kind) = bytes(file, at + TYPE, 4) {
        if kind == 8 {
            file[at + ADDRESS..at + ADDRESS + 8].copy_from_slice(&address.to_le_bytes());
        }
        at += ENTRY_SIZE;
    }
}

/// The DWARF sections that have the lines; none if there are none.
fn line_sections(code: &Described<'_>) -> Option<Vec<(&'static str, Vec<u8>)>> {
    let first = code.lines.first()?;
    let encoding = Encoding {
        format: Format::Dwarf32,
        version: 4,
        address_size: 8,
    };
    let text = |text: &str| {
        // An empty name would end a list of names.
        let text = if text.is_empty() { "?" } else { text };
        LineString::String(text.replace('\0', "?").into_bytes())
    };
    let mut unit = DwarfUnit::new(encoding);
    let mut program = LineProgram::new(
        encoding,
        LineEncoding::default(),
        text("."),
        None,
        text(first.file),
        None,
    );
    let folder = program.default_directory();
    program.begin_sequence(Some(Address::Constant(code.address)));
    for line in code.lines {
        let file = program.add_file(text(line.file), folder, None);
        let row = program.row();
        row.address_offset = u64::from(line.offset);
        row.file = file;
        row.line = u64::from(line.line);
        program.generate_row();
    }
    program.end_sequence(code.code.len() as u64);
    unit.unit.line_program = program;
    let root = unit.unit.root();
    let kernel = unit.unit.add(root, gimli::DW_TAG_subprogram);
    for (entry, name) in [(root, first.file), (kernel, code.name)] {
        let name = AttributeValue::StringRef(unit.strings.add(name.replace('\0', "?")));
        let low = AttributeValue::Address(Address::Constant(code.address));
        let size = AttributeValue::Udata(code.code.len() as u64);
        let entry = unit.unit.get_mut(entry);
        entry.set(gimli::DW_AT_name, name);
        entry.set(gimli::DW_AT_low_pc, low);
        entry.set(gimli::DW_AT_high_pc, size);
    }
    let folder = AttributeValue::StringRef(unit.strings.add("."));
    let root = unit.unit.get_mut(root);
    root.set(gimli::DW_AT_comp_dir, folder);
    root.set(gimli::DW_AT_stmt_list, AttributeValue::LineProgramRef);
    let mut sections = Sections::new(EndianVec::new(LittleEndian));
    unit.write(&mut sections).ok()?;
    let mut written = Vec::new();
    sections
        .for_each(|id, data| {
            if !data.slice().is_empty() {
                written.push((id.name(), data.slice().to_vec()));
            }
            Ok::<(), gimli::write::Error>(())
        })
        .ok()?;
    Some(written)
}

#[cfg(test)]
mod tests {
    use object::{Object as _, ObjectSection, ObjectSymbol};

    use super::super::Line;
    use super::*;

    fn line(offset: u32, line: u32) -> Line<'static> {
        Line {
            offset,
            file: "kernel.cl",
            line,
        }
    }

    #[test]
    fn object_files_have_symbol_and_lines() {
        let bytes = object_file(&Described {
            name: "saxpy",
            address: 0x12340,
            code: &[0x90; 64],
            lines: &[line(0, 2), line(20, 7)],
        });
        let file = object::File::parse(&*bytes).unwrap();
        let text = file.section_by_name(".text").unwrap();
        assert_eq!((text.address(), text.size()), (0x12340, 64));
        let symbol = file.symbol_by_name("saxpy").unwrap();
        assert_eq!(symbol.section_index(), Some(text.index()));
        assert_eq!((symbol.address(), symbol.size()), (0, 64));

        let section = |id: gimli::SectionId| -> Result<_, gimli::Error> {
            let data = file.section_by_name(id.name()).map(|s| s.data().unwrap());
            Ok(gimli::EndianSlice::new(
                data.unwrap_or_default(),
                LittleEndian,
            ))
        };
        let dwarf = gimli::Dwarf::load(section).unwrap();
        let unit = dwarf.units().next().unwrap().unwrap();
        let unit = dwarf.unit(unit).unwrap();
        let mut found = Vec::new();
        let mut rows = unit.line_program.clone().unwrap().rows();
        while let Some((_, row)) = rows.next_row().unwrap() {
            let line = row.line().map_or(0, |line| line.get());
            found.push((row.address(), line, row.end_sequence()));
        }
        assert_eq!(
            found,
            [(0x12340, 2, false), (0x12354, 7, false), (0x12380, 7, true)]
        );
    }

    #[test]
    fn registered_code_is_in_the_list_until_it_goes() {
        let listed = |registration: &Registration| {
            let _guard = lock();
            let mut found = false;
            // SAFETY: entries in the list live while the lock is held.
            unsafe {
                let mut at = (&raw const __jit_debug_descriptor.first).read();
                while let Some(entry) = at.as_ref() {
                    found |= ptr::eq(entry, registration.entry.as_ptr());
                    at = entry.next;
                }
            }
            found
        };
        let new = || {
            Registration::new(&Described {
                name: "k",
                address: 0x1000,
                code: &[0xc3],
                lines: &[],
            })
        };
        let (first, second, third) = (new(), new(), new());
        drop(second);
        assert!(listed(&first) && listed(&third));
        drop(first);
        assert!(listed(&third));
        drop(third);
        let _guard = lock();
        // SAFETY: as above.
        assert!(unsafe { (&raw const __jit_debug_descriptor.first).read() }.is_null());
    }
}
