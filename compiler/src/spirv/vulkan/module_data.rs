//! Data that the module brings: variables of the program. Addresses among them are stored by an
//! initializer, which runs when the program is built.

use rspirv::spirv::{
    Decoration, ExecutionMode, ExecutionModel, FunctionControl, MemoryAccess, Op, StorageClass,
};

use super::super::decode::Result;
use super::super::rules::Rule;
use super::body::FunctionLowering;
use super::reflection::{Reflection, Relocation};
use super::resources::Resources;
use super::source::{Source, SourceId};
use super::writer::{Section, Writer, literal};

/// Bytes of an address.
const ADDRESS: u32 = 8;

/// The variables of the module's data, in the order of the reflection.
pub(super) fn make(
    source: &Source<'_>,
    reflection: &Reflection<'_>,
    resources: &Resources<'_>,
    writer: &mut Writer,
) -> Result<Vec<SourceId>> {
    let data = reflection.data.iter();
    let variables: Vec<SourceId> = data
        .map(|data| data_variable(writer, data.inst.offset, &data.bytes))
        .collect();
    if let Some(first) = reflection.relocations.first() {
        let of_variables = reflection.data.iter().position(|data| data.is_variables);
        let Some(index) = of_variables else {
            let message = "a relocation of program-scope variables, of which there are none";
            return Err(source
                .error(&first.inst, message)
                .under(Rule::Reflection("Binary Form")));
        };
        let bytes = reflection.data[index].bytes.len() as u64;
        let lowering = FunctionLowering::new(source, resources, writer);
        initializer(lowering, reflection, variables[index], bytes)?;
    }
    Ok(variables)
}

fn data_variable(writer: &mut Writer, place: u32, bytes: &[u8]) -> SourceId {
    writer.place = place;
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().max(1).next_multiple_of(4), 0);
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let word = writer.int(32);
    let array = writer.array(word, words.len() as u32);
    let init = writer.data(array, &words);
    let class = StorageClass::CrossWorkgroup;
    let pointer = writer.pointer(class, array);
    let id = writer.fresh();
    let operands = [pointer, id, class as u32, init];
    writer.globals.inst(place, Op::Variable, &operands);
    // Whatever is in it begins where it may.
    let operands = [id, Decoration::Alignment as u32, 128];
    writer.annotations.inst(place, Op::Decorate, &operands);
    id
}

/// A function that stores the addresses of variables in others.
fn initializer(
    mut lowering: FunctionLowering<'_, '_>,
    reflection: &Reflection<'_>,
    variables: SourceId,
    bytes: u64,
) -> Result<()> {
    for relocation in &reflection.relocations {
        lowering.at(&relocation.inst);
        relocate(&mut lowering, relocation, variables, bytes)?;
    }
    let place = lowering.place;
    lowering.body.inst(place, Op::Return, &[]);
    let writer = &mut *lowering.writer;
    let void = writer.void();
    let ty = writer.function_type(void, &[]);
    let (id, label) = (writer.fresh(), writer.fresh());
    let mut out = Section::default();
    let control = FunctionControl::NONE.bits();
    out.inst(place, Op::Function, &[void, id, control, ty]);
    out.inst(place, Op::Label, &[label]);
    // Other modules of a program may have one, too: kernels' names differ.
    let of = reflection.kernels.first().map_or("", |kernel| &kernel.name);
    let name = literal(&format!("variables of {of}"));
    let operands = [&[ExecutionModel::Kernel as u32, id][..], &name].concat();
    writer.entries.inst(place, Op::EntryPoint, &operands);
    let operands = [id, ExecutionMode::Initializer as u32];
    writer.modes.inst(place, Op::ExecutionMode, &operands);
    lowering.finish(out);
    Ok(())
}

fn relocate(
    lowering: &mut FunctionLowering<'_, '_>,
    relocation: &Relocation<'_>,
    variables: SourceId,
    bytes: u64,
) -> Result<()> {
    let end = u64::from(relocation.pointer) + u64::from(ADDRESS);
    if end > bytes || u64::from(relocation.object) >= bytes {
        let message = format!("the program-scope variables have {bytes} bytes");
        return Err(lowering
            .source
            .error(&relocation.inst, message)
            .under(Rule::Reflection("Binary Form")));
    }
    let class = StorageClass::CrossWorkgroup;
    let byte = lowering.writer.int(8);
    let byte = lowering.writer.pointer(class, byte);
    let word = lowering.writer.int(64);
    let to_word = lowering.writer.pointer(class, word);
    let first = lowering.emit(Op::Bitcast, byte, &[variables]);
    let mut at = |offset: u32| {
        let offset = lowering.writer.u32(offset);
        lowering.emit(Op::PtrAccessChain, byte, &[first, offset])
    };
    let (object, pointer) = (at(relocation.object), at(relocation.pointer));
    let value = lowering.emit(Op::ConvertPtrToU, word, &[object]);
    let pointer = lowering.emit(Op::Bitcast, to_word, &[pointer]);
    let operands = [pointer, value, MemoryAccess::ALIGNED.bits(), 1];
    let place = lowering.place;
    lowering.body.inst(place, Op::Store, &operands);
    Ok(())
}
