//! Pipe instructions, as reads and writes of the ring that a pipe is in memory ([`crate::pipe`]).
//!
//! What loops is written in IR, in `pipes.bir`, and called; the rest is written out here. The
//! packets of a pipe have the size that the host or the module made it with. An instruction that
//! names another size does nothing and fails.
//!
//! What a group does together one work-item does, and gives its result to the others. Before it
//! commits, the others have arrived: what they read and wrote comes before.

use rspirv::spirv::{AccessQualifier, Op};

use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::module::Unit;
use super::translate::Translator;
use super::types::Kind;
use crate::ir::{
    Atomic, AtomicOp, BinOp, Collective, Fence, FuncId, Global, GlobalId, GlobalInit, IntCC,
    Op as IrOp, Order, Query, Scalar, Scope, Type, Value, parse,
};
use crate::kernel_info::AddressSpace;
use crate::pipe::{self, AVAILABLE, PACKETS, READ_HEAD};

/// The functions of `pipes.bir`.
#[derive(Clone, Copy)]
pub(super) struct Library {
    reserve: FuncId,
    reserve_one: FuncId,
    packet: FuncId,
    commit: FuncId,
    commit_one: FuncId,
}

/// A pipe that a module makes.
#[derive(Clone, Copy)]
pub(super) struct PipeStorage {
    packet_size: u32,
    capacity: u32,
}

/// From a pipe or to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
}

/// The packets that an instruction says its pipe has.
struct Packets {
    /// Bytes, an `i32`.
    size: Value,
    /// Bytes, if they are a constant.
    known: Option<u64>,
    /// Bytes, a power of two, that addresses of packets are multiples of.
    align: u32,
}

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

impl<'a> Translator<'a> {
    /// The functions that pipe instructions call; they come into the module when one is met.
    fn pipe_library(&mut self) -> Library {
        if let Some(library) = self.pipes {
            return library;
        }
        let parsed = parse::module(include_str!("pipes.bir")).expect("pipes.bir is IR");
        let mut ids = Vec::new();
        for (_, mut func) in parsed.functions {
            func.name = self.unique(&func.name);
            ids.push(self.module.functions.push(func));
        }
        let [reserve, reserve_one, packet, commit, commit_one] = ids[..] else {
            panic!("pipes.bir has {} functions", ids.len());
        };
        let library = Library {
            reserve,
            reserve_one,
            packet,
            commit,
            commit_one,
        };
        self.pipes = Some(library);
        library
    }

    /// The pipe of an `OpConstantPipeStorage`: one for the whole program.
    pub(super) fn stored_pipe(
        &mut self,
        unit: &Unit<'a>,
        inst: &Inst<'_>,
        id: Id,
        storage: PipeStorage,
    ) -> Result<GlobalId> {
        let PipeStorage {
            packet_size,
            capacity,
        } = storage;
        let size = pipe::size(packet_size, capacity).unwrap_or(u64::MAX);
        self.count_initialized(unit, inst, size)?;
        let mut bytes = pipe::header(packet_size, capacity).to_vec();
        bytes.resize(size as usize, 0);
        let name = self.unique(unit.binary.name(id).unwrap_or("pipe"));
        Ok(self.module.globals.push(Global {
            name,
            space: AddressSpace::Global,
            size,
            align: pipe::ALIGN as u32,
            init: GlobalInit::Bytes(bytes, Vec::new()),
        }))
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
                self.transfer(way, pipe, pointer, &packets)
            }
            Op::ReservedReadPipe | Op::ReservedWritePipe => {
                let pipe = self.pipe_operand(inst, words[0], Some(way))?;
                let reservation = self.reservation(inst, words[1])?;
                let index = self.typed(inst, words[2], Type::I32)?;
                let pointer = self.pointer(inst, words[3])?.address;
                let packets = self.packets(inst, &words[4..])?;
                self.reserved_transfer(way, pipe, (reservation, index), pointer, &packets)
            }
            Op::ReserveReadPipePackets | Op::ReserveWritePipePackets => {
                let pipe = self.pipe_operand(inst, words[0], Some(way))?;
                let count = self.typed(inst, words[1], Type::I32)?;
                let packets = self.packets(inst, &words[2..])?;
                self.reserve(way, pipe, count, &packets)
            }
            Op::GroupReserveReadPipePackets | Op::GroupReserveWritePipePackets => {
                let scope = self.pipe_scope(inst, words[0])?;
                let pipe = self.pipe_operand(inst, words[1], Some(way))?;
                let count = self.typed(inst, words[2], Type::I32)?;
                let packets = self.packets(inst, &words[3..])?;
                self.group_reserve(scope, way, pipe, count, &packets)
            }
            Op::CommitReadPipe | Op::CommitWritePipe => {
                let pipe = self.pipe_operand(inst, words[0], Some(way))?;
                let reservation = self.reservation(inst, words[1])?;
                self.packets(inst, &words[2..])?;
                self.commit(way, pipe, reservation);
                return Ok(true);
            }
            Op::GroupCommitReadPipe | Op::GroupCommitWritePipe => {
                let scope = self.pipe_scope(inst, words[0])?;
                let pipe = self.pipe_operand(inst, words[1], Some(way))?;
                let reservation = self.reservation(inst, words[2])?;
                self.packets(inst, &words[3..])?;
                self.group_commit(scope, way, pipe, reservation);
                return Ok(true);
            }
            Op::IsValidReserveId => {
                let reservation = self.reservation(inst, words[0])?;
                self.is_valid(reservation)
            }
            Op::GetNumPipePackets => {
                let pipe = self.pipe_operand(inst, words[0], None)?;
                self.packets(inst, &words[1..])?;
                let at = self.at_offset(pipe, AVAILABLE);
                let load = IrOp::AtomicLoad(shared(Order::Relaxed));
                self.b().val(load, &[at], Type::I32)
            }
            Op::GetMaxPipePackets => {
                let pipe = self.pipe_operand(inst, words[0], None)?;
                self.packets(inst, &words[1..])?;
                let at = self.at_offset(pipe, PACKETS);
                let mem = crate::ir::Mem::new(AddressSpace::Global, 4);
                self.b().load(mem, at, Type::I32)
            }
            // The storage is where the pipe is.
            Op::CreatePipeFromPipeStorage => {
                let result = self.unit.result_type(inst)?;
                self.handle_of(inst, result, Op::TypePipe)?;
                let ty = self.type_of(inst, words[0])?;
                self.handle_of(inst, ty, Op::TypePipeStorage)?;
                self.value(inst, words[0])?
            }
            _ => return Ok(false),
        };
        self.define(inst, value)?;
        Ok(true)
    }

    /// Checks that a type is that of one kind of object; its access qualifier.
    pub(super) fn handle_of(&self, inst: &Inst<'_>, ty: Id, wanted: Op) -> Result<Option<u32>> {
        match self.unit.type_of_id(inst, ty)?.kind {
            Kind::Handle { op, access } if op == wanted => Ok(access),
            _ => Err(self.error(
                inst,
                format!("{} is not an Op{wanted:?}", self.unit.binary.describe(ty)),
            )),
        }
    }

    /// The address of a pipe that may be used this way.
    fn pipe_operand(&mut self, inst: &Inst<'_>, id: Id, way: Option<Way>) -> Result<Value> {
        let ty = self.type_of(inst, id)?;
        let access = self.handle_of(inst, ty, Op::TypePipe)?;
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
        Ok(self.b().bitcast(handle, Type::PTR))
    }

    fn reservation(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let ty = self.type_of(inst, id)?;
        self.handle_of(inst, ty, Op::TypeReserveId)?;
        self.value(inst, id)
    }

    /// Whether a type is that of a reservation, an event or the like. LLVM's translator writes
    /// `CLK_NULL_RESERVE_ID` and `CLK_NULL_EVENT` as numbers converted to pointers and cast, of
    /// these types all the same.
    pub(super) fn is_handle(&self, inst: &Inst<'_>, ty: Id) -> Result<bool> {
        let kind = &self.unit.type_of_id(inst, ty)?.kind;
        Ok(matches!(kind, Kind::Handle { .. }))
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

    /// "OpReadPipe", "OpWritePipe": 0, or -1 if there is nothing to read or no room.
    fn transfer(&mut self, way: Way, pipe: Value, pointer: Value, packets: &Packets) -> Value {
        let library = self.out.pipe_library();
        let head = self.head(way, pipe);
        let reserve = IrOp::Call(library.reserve_one);
        let reservation = self
            .b()
            .val(reserve, &[pipe, head, packets.size], Type::I64);
        let (one, zero) = (self.iconst(Type::I32, 1), self.iconst(Type::I32, 0));
        let none = self.iconst(Type::I64, 0);
        let done = self.b().icmp(IntCC::Ne, reservation, none);
        self.when(done, |this| {
            this.copy(way, pipe, (reservation, zero), pointer, packets);
            this.count(way, pipe, one);
            this.b()
                .ins(IrOp::Call(library.commit_one), &[pipe, reservation], &[]);
        });
        self.success(done)
    }

    /// "OpReservedReadPipe", "OpReservedWritePipe": 0, or -1 if there is no such packet.
    fn reserved_transfer(
        &mut self,
        way: Way,
        pipe: Value,
        (reservation, index): (Value, Value),
        pointer: Value,
        packets: &Packets,
    ) -> Value {
        let valid = self.is_valid(reservation);
        let count = self.slots(reservation);
        let inside = self.b().icmp(IntCC::Ult, index, count);
        let fits = self.has_packets(pipe, packets);
        let mut f = self.b();
        let sane = f.binary(BinOp::And, valid, inside);
        let sane = f.binary(BinOp::And, sane, fits);
        self.when(sane, |this| {
            this.copy(way, pipe, (reservation, index), pointer, packets);
        });
        self.success(sane)
    }

    fn reserve(&mut self, way: Way, pipe: Value, count: Value, packets: &Packets) -> Value {
        let library = self.out.pipe_library();
        let head = self.head(way, pipe);
        let reservation = if self.func.as_const(count) == Some(1) {
            let reserve = IrOp::Call(library.reserve_one);
            self.b()
                .val(reserve, &[pipe, head, packets.size], Type::I64)
        } else {
            let reserve = IrOp::Call(library.reserve);
            self.b()
                .val(reserve, &[pipe, head, count, packets.size], Type::I64)
        };
        if way == Way::Read {
            let none = self.iconst(Type::I64, 0);
            let done = self.b().icmp(IntCC::Ne, reservation, none);
            self.when(done, |this| this.count(way, pipe, count));
        }
        reservation
    }

    fn commit(&mut self, way: Way, pipe: Value, reservation: Value) {
        let library = self.out.pipe_library();
        let valid = self.is_valid(reservation);
        self.when(valid, |this| {
            if way == Way::Write {
                let count = this.slots(reservation);
                this.count(way, pipe, count);
            }
            this.b()
                .ins(IrOp::Call(library.commit), &[pipe, reservation], &[]);
        });
    }

    fn group_reserve(
        &mut self,
        scope: Scope,
        way: Way,
        pipe: Value,
        count: Value,
        packets: &Packets,
    ) -> Value {
        let one = self.one_of(scope);
        let (inside, after) = {
            let mut f = self.b();
            (f.new_block(&[]), f.new_block(&[Type::I64]))
        };
        let none = self.iconst(Type::I64, 0);
        self.b().cond_br(one, inside, &[], after, &[none]);
        self.block = inside;
        let reservation = self.reserve(way, pipe, count, packets);
        self.b().br(after, &[reservation]);
        self.block = after;
        let mine = self.b().param(after, 0);
        match scope {
            Scope::SubGroup => {
                self.collective(Collective::BroadcastFirst, scope, &[mine], Type::I64)
            }
            _ => {
                let first = self.iconst(Type::I32, 0);
                self.collective(Collective::Broadcast, scope, &[mine, first], Type::I64)
            }
        }
    }

    fn group_commit(&mut self, scope: Scope, way: Way, pipe: Value, reservation: Value) {
        let fence = Fence {
            scope,
            order: Order::AcqRel,
            local: true,
            global: true,
        };
        self.barrier(scope, fence);
        let one = self.one_of(scope);
        self.when(one, |this| this.commit(way, pipe, reservation));
    }

    /// Whether this is the work-item that acts for its group: the first.
    fn one_of(&mut self, scope: Scope) -> Value {
        match scope {
            Scope::SubGroup => self.collective(Collective::Elect, scope, &[], Type::I1),
            _ => {
                let zero = self.iconst(Type::I64, 0);
                let id = self
                    .b()
                    .val(IrOp::Query(Query::LocalLinearId), &[], Type::I64);
                self.b().icmp(IntCC::Eq, id, zero)
            }
        }
    }

    fn head(&mut self, way: Way, pipe: Value) -> Value {
        match way {
            Way::Read => self.at_offset(pipe, READ_HEAD),
            Way::Write => pipe,
        }
    }

    /// Keeps count of the packets that can be reserved for reading: they become more when written,
    /// fewer when reserved.
    fn count(&mut self, way: Way, pipe: Value, count: Value) {
        let at = self.at_offset(pipe, AVAILABLE);
        let op = match way {
            Way::Read => AtomicOp::Sub,
            Way::Write => AtomicOp::Add,
        };
        let op = IrOp::AtomicRmw(op, shared(Order::AcqRel));
        self.b().val(op, &[at, count], Type::I32);
    }

    /// Copies the packet with this index between a reservation and what the pointer points to.
    fn copy(
        &mut self,
        way: Way,
        pipe: Value,
        (reservation, index): (Value, Value),
        pointer: Value,
        packets: &Packets,
    ) {
        let library = self.out.pipe_library();
        let call = IrOp::Call(library.packet);
        let packet = self.b().val(call, &[pipe, reservation, index], Type::PTR);
        let (to, from) = match way {
            Way::Read => (pointer, packet),
            Way::Write => (packet, pointer),
        };
        match packets.known {
            Some(size) => {
                let op = IrOp::MemCopy {
                    size,
                    align: packets.align,
                    volatile: false,
                    masked: false,
                };
                self.b().ins(op, &[to, from], &[]);
            }
            None => {
                let size = self.resize(packets.size, Scalar::I64);
                let op = IrOp::MemCopyDyn {
                    align: packets.align,
                    masked: false,
                };
                self.b().ins(op, &[to, from, size], &[]);
            }
        }
    }

    /// Whether the pipe has packets of the size that the instruction says.
    fn has_packets(&mut self, pipe: Value, packets: &Packets) -> Value {
        let at = self.at_offset(pipe, pipe::PACKET_SIZE);
        let mem = crate::ir::Mem::new(AddressSpace::Global, 4);
        let mut f = self.b();
        let size = f.load(mem, at, Type::I32);
        f.icmp(IntCC::Eq, size, packets.size)
    }

    /// How many slots a reservation has.
    fn slots(&mut self, reservation: Value) -> Value {
        let half = self.iconst(Type::I64, 32);
        let high = self.b().binary(BinOp::LShr, reservation, half);
        self.resize(high, Scalar::I32)
    }

    fn is_valid(&mut self, reservation: Value) -> Value {
        let (null, ones) = (self.iconst(Type::I64, 0), self.iconst(Type::I64, u64::MAX));
        let mut f = self.b();
        let some = f.icmp(IntCC::Ne, reservation, null);
        let other = f.icmp(IntCC::Ne, reservation, ones);
        f.binary(BinOp::And, some, other)
    }

    /// 0 where it holds, -1 elsewhere.
    fn success(&mut self, condition: Value) -> Value {
        let (good, bad) = (self.iconst(Type::I32, 0), self.iconst(Type::I32, u64::MAX));
        self.b().select(condition, good, bad)
    }

    /// Does something where a condition holds.
    pub(super) fn when(&mut self, condition: Value, body: impl FnOnce(&mut Self)) {
        let (inside, after) = {
            let mut f = self.b();
            (f.new_block(&[]), f.new_block(&[]))
        };
        self.b().cond_br(condition, inside, &[], after, &[]);
        self.block = inside;
        body(self);
        self.b().br(after, &[]);
        self.block = after;
    }
}

/// An access to what all threads that use a pipe share.
fn shared(order: Order) -> Atomic {
    Atomic {
        space: AddressSpace::Global,
        scope: Scope::Device,
        order,
        masked: false,
    }
}
