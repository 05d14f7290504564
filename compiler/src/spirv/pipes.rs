//! Pipe instructions: what they demand of their operands. What they do to the ring that a pipe is,
//! `pipe_ring.rs` has.
//!
//! The packets of a pipe have the size that the host or the module made it with. An instruction
//! that names another size does nothing and fails.

use rspirv::spirv::{AccessQualifier, Op};

use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::module::{PipeStorage, Unit};
use super::pipe_ring::{Packets, Reserved, Ring, Way, available, capacity, is_valid};
use crate::ir::{Scope, Type, Value};
use crate::pipe;

impl Unit<'_> {
    /// "OpConstantPipeStorage".
    pub(super) fn pipe_storage(&self, inst: &Inst<'_>) -> Result<PipeStorage> {
        let &[packet_size, alignment, capacity] = inst.operands else {
            return Err(self.error(inst, "wrong word count: pipe storage takes three numbers"));
        };
        if packet_size == 0 || capacity == 0 {
            return Err(self.error(inst, "a pipe without packets, or of packets without bytes"));
        }
        if !alignment.is_power_of_two()
            || u64::from(alignment) > pipe::ALIGN
            || packet_size % alignment != 0
        {
            return Err(self.error(
                inst,
                format!("packets of {packet_size} bytes cannot be aligned to {alignment}"),
            ));
        }
        Ok(PipeStorage {
            packet_size,
            capacity,
        })
    }
}

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn pipe(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        let words = inst.operands;
        let way = match op {
            Op::ReadPipe
            | Op::ReservedReadPipe
            | Op::ReserveReadPipePackets
            | Op::CommitReadPipe
            | Op::GroupReserveReadPipePackets
            | Op::GroupCommitReadPipe => Way::Read,
            _ => Way::Write,
        };
        let value = match op {
            Op::ReadPipe | Op::WritePipe => {
                let pipe = self.pipe_operand(inst, words[0], Some(way))?;
                let pointer = self.pointer(inst, words[1])?.address;
                let packets = self.packets(inst, &words[2..])?;
                self.ring(way, pipe)
                    .transfer(&mut self.body, pointer, &packets)
            }
            Op::ReservedReadPipe | Op::ReservedWritePipe => {
                let pipe = self.pipe_operand(inst, words[0], Some(way))?;
                let reservation = self.reservation(inst, words[1])?;
                let index = self.typed(inst, words[2], Type::I32)?;
                let pointer = self.pointer(inst, words[3])?.address;
                let packets = self.packets(inst, &words[4..])?;
                let packet = Reserved { reservation, index };
                self.ring(way, pipe)
                    .reserved_transfer(&mut self.body, packet, pointer, &packets)
            }
            Op::ReserveReadPipePackets | Op::ReserveWritePipePackets => {
                let pipe = self.pipe_operand(inst, words[0], Some(way))?;
                let count = self.typed(inst, words[1], Type::I32)?;
                let packets = self.packets(inst, &words[2..])?;
                self.ring(way, pipe)
                    .reserve(&mut self.body, count, &packets)
            }
            Op::GroupReserveReadPipePackets | Op::GroupReserveWritePipePackets => {
                let scope = self.pipe_scope(inst, words[0])?;
                let pipe = self.pipe_operand(inst, words[1], Some(way))?;
                let count = self.typed(inst, words[2], Type::I32)?;
                let packets = self.packets(inst, &words[3..])?;
                self.ring(way, pipe)
                    .group_reserve(&mut self.body, scope, count, &packets)
            }
            Op::CommitReadPipe | Op::CommitWritePipe => {
                let pipe = self.pipe_operand(inst, words[0], Some(way))?;
                let reservation = self.reservation(inst, words[1])?;
                self.packets(inst, &words[2..])?;
                self.ring(way, pipe).commit(&mut self.body, reservation);
                return Ok(true);
            }
            Op::GroupCommitReadPipe | Op::GroupCommitWritePipe => {
                let scope = self.pipe_scope(inst, words[0])?;
                let pipe = self.pipe_operand(inst, words[1], Some(way))?;
                let reservation = self.reservation(inst, words[2])?;
                self.packets(inst, &words[3..])?;
                self.ring(way, pipe)
                    .group_commit(&mut self.body, scope, reservation);
                return Ok(true);
            }
            Op::IsValidReserveId => {
                let reservation = self.reservation(inst, words[0])?;
                is_valid(&mut self.body, reservation)
            }
            Op::GetNumPipePackets => {
                let pipe = self.pipe_operand(inst, words[0], None)?;
                self.packets(inst, &words[1..])?;
                available(&mut self.body, pipe)
            }
            Op::GetMaxPipePackets => {
                let pipe = self.pipe_operand(inst, words[0], None)?;
                self.packets(inst, &words[1..])?;
                capacity(&mut self.body, pipe)
            }
            // The storage is where the pipe is.
            Op::CreatePipeFromPipeStorage => {
                let result = self.unit.result_type(inst)?;
                self.unit.handle_of(inst, result, Op::TypePipe)?;
                let ty = self.unit.type_of(inst, words[0])?;
                self.unit.handle_of(inst, ty, Op::TypePipeStorage)?;
                self.value(inst, words[0])?
            }
            _ => return Ok(false),
        };
        self.define(inst, value)?;
        Ok(true)
    }

    fn ring(&mut self, way: Way, pipe: Value) -> Ring {
        Ring {
            library: self.out.pipe_library(),
            way,
            pipe,
        }
    }

    /// The address of a pipe that may be used this way.
    fn pipe_operand(&mut self, inst: &Inst<'_>, id: Id, way: Option<Way>) -> Result<Value> {
        let ty = self.unit.type_of(inst, id)?;
        let access = self.unit.handle_of(inst, ty, Op::TypePipe)?;
        let wanted = match way {
            Some(Way::Read) => Some(AccessQualifier::ReadOnly),
            Some(Way::Write) => Some(AccessQualifier::WriteOnly),
            None => None,
        };
        if let Some(wanted) = wanted
            && access != Some(wanted as u32)
        {
            return Err(self.error(
                inst,
                format!("the pipe's access qualifier is not {wanted:?}"),
            ));
        }
        let handle = self.value(inst, id)?;
        Ok(self.body.b().bitcast(handle, Type::PTR))
    }

    fn reservation(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let ty = self.unit.type_of(inst, id)?;
        self.unit.handle_of(inst, ty, Op::TypeReserveId)?;
        self.value(inst, id)
    }

    fn pipe_scope(&mut self, inst: &Inst<'_>, id: Id) -> Result<Scope> {
        self.execution_scope(inst, id, &[Scope::WorkGroup, Scope::SubGroup])
    }

    /// The operands Packet Size and Packet Alignment.
    fn packets(&mut self, inst: &Inst<'_>, words: &[Id]) -> Result<Packets> {
        let size = self.typed(inst, words[0], Type::I32)?;
        self.typed(inst, words[1], Type::I32)?;
        let known = self.unit.integer_constant(words[0]);
        let natural = known.map_or(1, |size| size | pipe::ALIGN);
        let said = self
            .unit
            .integer_constant(words[1])
            .filter(|align| align.is_power_of_two());
        // The lowest bit of any of them.
        let align = 1 << (natural | said.unwrap_or(1)).trailing_zeros();
        Ok(Packets { size, known, align })
    }
}
