//! Code of a kernel as an object file, and back.
//!
//! It is an ELF file like those of any compiler, for `objdump` as well: the section `.text` with a
//! relocation for each address that the code holds, the symbols that they name
//! ([`Symbol`]'s text), and a section of our own (`.brolga`) with what else there is to know, as
//! `postcard` writes it.

use object::read::{Object as _, ObjectSection, ObjectSymbol, RelocationTarget};
use object::write::{self, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind,
    SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use serde::{Deserialize, Serialize};

use crate::codegen::{MachineCode, Relocation, Symbol};
use crate::jit::lines::LineTable;

const CODE: &str = ".text";
const DESCRIPTION: &str = ".brolga";

/// Code of a kernel for one launch key. It has no place yet, and is the same in every process.
#[derive(Debug, PartialEq, Eq)]
pub struct KernelCode {
    /// Without lines and listing.
    pub machine: MachineCode,
    pub about: About,
}

/// What is to be known of code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The kernel's name.
    pub name: String,
    pub lines: LineTable,
    /// Work-items per vector.
    pub width: u32,
    /// See [`crate::workgroup::WorkGroupCode`].
    pub context_bytes_per_item: u64,
    pub context_align: u64,
    pub context_padding: u64,
    pub remarks: Vec<String>,
}

/// What [`MachineCode`] says of its bytes.
#[derive(Serialize, Deserialize)]
struct Layout {
    instruction_bytes: u32,
    align: u32,
    stack_bytes: u32,
    private_bytes: u32,
    private_align: u32,
}

/// The architecture of this process, if object files have it.
fn architecture() -> Option<Architecture> {
    Some(match std::env::consts::ARCH {
        "x86_64" => Architecture::X86_64,
        "aarch64" => Architecture::Aarch64,
        "riscv64" => Architecture::Riscv64,
        _ => return None,
    })
}

/// An address of eight bytes.
const ADDRESS: RelocationFlags = RelocationFlags::Generic {
    kind: RelocationKind::Absolute,
    encoding: RelocationEncoding::Generic,
    size: 64,
};

impl KernelCode {
    /// The object file; `None` on an architecture that has none.
    pub fn to_object_file(&self) -> Option<Vec<u8>> {
        let machine = &self.machine;
        let mut file = write::Object::new(BinaryFormat::Elf, architecture()?, Endianness::Little);
        let text = file.add_section(Vec::new(), CODE.into(), SectionKind::Text);
        file.append_section_data(text, &machine.bytes, machine.align.into());
        let symbol = |name: String, section, kind, scope| write::Symbol {
            name: name.into_bytes(),
            value: 0,
            size: 0,
            kind,
            scope,
            weak: false,
            section,
            flags: SymbolFlags::None,
        };
        let code = file.add_symbol(write::Symbol {
            size: machine.instruction_bytes.into(),
            ..symbol(
                self.about.name.clone(),
                SymbolSection::Section(text),
                SymbolKind::Text,
                SymbolScope::Linkage,
            )
        });
        for relocation in &machine.relocations {
            let symbol = match relocation.symbol {
                Symbol::Code => code,
                other => {
                    let name = other.to_string();
                    match file.symbol_id(name.as_bytes()) {
                        Some(known) => known,
                        None => file.add_symbol(symbol(
                            name,
                            SymbolSection::Undefined,
                            SymbolKind::Unknown,
                            SymbolScope::Unknown,
                        )),
                    }
                }
            };
            let relocation = write::Relocation {
                offset: relocation.offset.into(),
                symbol,
                addend: relocation.addend,
                flags: ADDRESS,
            };
            file.add_relocation(text, relocation).ok()?;
        }
        let layout = Layout {
            instruction_bytes: machine.instruction_bytes,
            align: machine.align,
            stack_bytes: machine.stack_bytes,
            private_bytes: machine.private_bytes,
            private_align: machine.private_align,
        };
        let description = postcard::to_stdvec(&(layout, &self.about)).ok()?;
        let section = file.add_section(Vec::new(), DESCRIPTION.into(), SectionKind::Metadata);
        file.append_section_data(section, &description, 1);
        file.write().ok()
    }

    /// Whether its object file is read as the same; true where there are none.
    pub fn is_read_back(&self) -> bool {
        let file = self.to_object_file();
        file.is_none_or(|file| KernelCode::from_object_file(&file).as_ref() == Some(self))
    }

    /// What [`KernelCode::to_object_file`] wrote; `None` of other bytes.
    pub fn from_object_file(bytes: &[u8]) -> Option<KernelCode> {
        let file = object::File::parse(bytes).ok()?;
        if Some(file.architecture()) != architecture() {
            return None;
        }
        let description = file.section_by_name(DESCRIPTION)?.data().ok()?;
        let (layout, about): (Layout, About) = postcard::from_bytes(description).ok()?;
        let text = file.section_by_name(CODE)?;
        let code = text.data().ok()?.to_vec();
        let is_sound = layout.align.is_power_of_two()
            && layout.private_align.is_power_of_two()
            && layout.instruction_bytes as usize <= code.len();
        if !is_sound {
            return None;
        }
        let relocations = text.relocations().map(|(offset, relocation)| {
            let has_room = offset.checked_add(8)? <= code.len() as u64;
            let is_address =
                relocation.kind() == RelocationKind::Absolute && relocation.size() == 64;
            let RelocationTarget::Symbol(symbol) = relocation.target() else {
                return None;
            };
            let symbol = file.symbol_by_index(symbol).ok()?;
            let symbol = match symbol.is_undefined() {
                true => symbol.name().ok()?.parse().ok()?,
                false => Symbol::Code,
            };
            (has_room && is_address).then_some(Relocation {
                offset: offset as u32,
                symbol,
                addend: relocation.addend(),
            })
        });
        Some(KernelCode {
            machine: MachineCode {
                relocations: relocations.collect::<Option<_>>()?,
                bytes: code,
                instruction_bytes: layout.instruction_bytes,
                align: layout.align,
                stack_bytes: layout.stack_bytes,
                private_bytes: layout.private_bytes,
                private_align: layout.private_align,
                lines: Vec::new(),
                listing: None,
            },
            about,
        })
    }
}
