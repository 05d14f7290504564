//! What pipe instructions do to the ring that a pipe is in memory ([`crate::pipe`]). What loops is
//! written in IR, in `pipes.bir`, and called; the rest is written out here.
//!
//! What a group does together one work-item does, and gives its result to the others. Before it
//! commits, the others have arrived: what they read and wrote comes before.

use super::body::Body;
use crate::ir::{
    Atomic, AtomicOp, BinOp, Collective, Fence, FuncId, Function, IntCC, Mem, Op as IrOp, Order,
    Query, Scalar, Scope, Type, Value, parse,
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

impl Library {
    /// Parses them; `add` puts a function into the module.
    pub fn load(mut add: impl FnMut(Function) -> FuncId) -> Library {
        let parsed = parse::module(include_str!("pipes.bir")).expect("pipes.bir is IR");
        let ids: Vec<FuncId> = parsed
            .functions
            .into_iter()
            .map(|(_, func)| add(func))
            .collect();
        let [reserve, reserve_one, packet, commit, commit_one] = ids[..] else {
            panic!("pipes.bir has {} functions", ids.len());
        };
        Library {
            reserve,
            reserve_one,
            packet,
            commit,
            commit_one,
        }
    }
}

/// From a pipe or to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Write,
}

/// The packets that an instruction says its pipe has.
pub(super) struct Packets {
    /// Bytes, an `i32`.
    pub size: Value,
    /// Bytes, if they are a constant.
    pub known: Option<u64>,
    /// Bytes, a power of two, that addresses of packets are multiples of.
    pub align: u32,
}

/// A packet of a reservation.
#[derive(Clone, Copy)]
pub(super) struct Reserved {
    pub reservation: Value,
    pub index: Value,
}

/// A pipe that is read or written.
#[derive(Clone, Copy)]
pub(super) struct Ring {
    pub library: Library,
    pub way: Way,
    /// The pipe's address.
    pub pipe: Value,
}

impl Ring {
    /// "OpReadPipe", "OpWritePipe": 0, or -1 if there is nothing to read or no room.
    pub fn transfer(self, body: &mut Body, pointer: Value, packets: &Packets) -> Value {
        let head = self.head(body);
        let reserve = IrOp::Call(self.library.reserve_one);
        let reservation = body
            .b()
            .val(reserve, &[self.pipe, head, packets.size], Type::I64);
        let (one, index) = (body.iconst(Type::I32, 1), body.iconst(Type::I32, 0));
        let none = body.iconst(Type::I64, 0);
        let done = body.b().icmp(IntCC::Ne, reservation, none);
        body.when(done, |body| {
            self.copy(body, Reserved { reservation, index }, pointer, packets);
            self.count(body, one);
            let commit = IrOp::Call(self.library.commit_one);
            body.b().ins(commit, &[self.pipe, reservation], &[]);
        });
        success(body, done)
    }

    /// "OpReservedReadPipe", "OpReservedWritePipe": 0, or -1 if there is no such packet.
    pub fn reserved_transfer(
        self,
        body: &mut Body,
        packet: Reserved,
        pointer: Value,
        packets: &Packets,
    ) -> Value {
        let valid = is_valid(body, packet.reservation);
        let count = slots(body, packet.reservation);
        let inside = body.b().icmp(IntCC::Ult, packet.index, count);
        let fits = self.has_packets(body, packets);
        let mut f = body.b();
        let sane = f.binary(BinOp::And, valid, inside);
        let sane = f.binary(BinOp::And, sane, fits);
        body.when(sane, |body| self.copy(body, packet, pointer, packets));
        success(body, sane)
    }

    /// "OpReserveReadPipePackets", "OpReserveWritePipePackets".
    pub fn reserve(self, body: &mut Body, count: Value, packets: &Packets) -> Value {
        let head = self.head(body);
        let reservation = if body.func.as_const(count) == Some(1) {
            let reserve = IrOp::Call(self.library.reserve_one);
            body.b()
                .val(reserve, &[self.pipe, head, packets.size], Type::I64)
        } else {
            let reserve = IrOp::Call(self.library.reserve);
            body.b()
                .val(reserve, &[self.pipe, head, count, packets.size], Type::I64)
        };
        if self.way == Way::Read {
            let none = body.iconst(Type::I64, 0);
            let done = body.b().icmp(IntCC::Ne, reservation, none);
            body.when(done, |body| self.count(body, count));
        }
        reservation
    }

    /// "OpCommitReadPipe", "OpCommitWritePipe".
    pub fn commit(self, body: &mut Body, reservation: Value) {
        let valid = is_valid(body, reservation);
        body.when(valid, |body| {
            if self.way == Way::Write {
                let count = slots(body, reservation);
                self.count(body, count);
            }
            let commit = IrOp::Call(self.library.commit);
            body.b().ins(commit, &[self.pipe, reservation], &[]);
        });
    }

    /// [`Ring::reserve`] by one work-item for its group.
    pub fn group_reserve(
        self,
        body: &mut Body,
        scope: Scope,
        count: Value,
        packets: &Packets,
    ) -> Value {
        let one = one_of(body, scope);
        let (inside, after) = {
            let mut f = body.b();
            (f.new_block(&[]), f.new_block(&[Type::I64]))
        };
        let none = body.iconst(Type::I64, 0);
        body.b().cond_br(one, inside, &[], after, &[none]);
        body.block = inside;
        let reservation = self.reserve(body, count, packets);
        body.b().br(after, &[reservation]);
        body.block = after;
        let mine = body.b().param(after, 0);
        match scope {
            Scope::SubGroup => {
                body.collective(Collective::BroadcastFirst, scope, &[mine], Type::I64)
            }
            _ => {
                let first = body.iconst(Type::I32, 0);
                body.collective(Collective::Broadcast, scope, &[mine, first], Type::I64)
            }
        }
    }

    /// [`Ring::commit`] by one work-item for its group.
    pub fn group_commit(self, body: &mut Body, scope: Scope, reservation: Value) {
        let fence = Fence {
            scope,
            order: Order::AcqRel,
            local: true,
            global: true,
        };
        body.barrier(scope, fence);
        let one = one_of(body, scope);
        body.when(one, |body| self.commit(body, reservation));
    }

    fn head(self, body: &mut Body) -> Value {
        match self.way {
            Way::Read => body.at_offset(self.pipe, READ_HEAD),
            Way::Write => self.pipe,
        }
    }

    /// Keeps count of the packets that can be reserved for reading: they become more when written,
    /// fewer when reserved.
    fn count(self, body: &mut Body, count: Value) {
        let at = body.at_offset(self.pipe, AVAILABLE);
        let op = match self.way {
            Way::Read => AtomicOp::Sub,
            Way::Write => AtomicOp::Add,
        };
        let op = IrOp::AtomicRmw(op, shared(Order::AcqRel));
        body.b().val(op, &[at, count], Type::I32);
    }

    /// Copies a packet between a reservation and what the pointer points to.
    fn copy(self, body: &mut Body, packet: Reserved, pointer: Value, packets: &Packets) {
        let call = IrOp::Call(self.library.packet);
        let args = [self.pipe, packet.reservation, packet.index];
        let slot = body.b().val(call, &args, Type::PTR);
        let (to, from) = match self.way {
            Way::Read => (pointer, slot),
            Way::Write => (slot, pointer),
        };
        match packets.known {
            Some(size) => body.mem_copy(to, from, size, packets.align, false),
            None => {
                let size = body.resize(packets.size, Scalar::I64);
                let op = IrOp::MemCopyDyn {
                    align: packets.align,
                    masked: false,
                };
                body.b().ins(op, &[to, from, size], &[]);
            }
        }
    }

    /// Whether the pipe has packets of the size that the instruction says.
    fn has_packets(self, body: &mut Body, packets: &Packets) -> Value {
        let at = body.at_offset(self.pipe, pipe::PACKET_SIZE);
        let mem = Mem::new(AddressSpace::Global, 4);
        let mut f = body.b();
        let size = f.load(mem, at, Type::I32);
        f.icmp(IntCC::Eq, size, packets.size)
    }
}

/// How many packets of a pipe can be reserved for reading.
pub(super) fn available(body: &mut Body, pipe: Value) -> Value {
    let at = body.at_offset(pipe, AVAILABLE);
    let load = IrOp::AtomicLoad(shared(Order::Relaxed));
    body.b().val(load, &[at], Type::I32)
}

/// How many packets a pipe has room for.
pub(super) fn capacity(body: &mut Body, pipe: Value) -> Value {
    let at = body.at_offset(pipe, PACKETS);
    let mem = Mem::new(AddressSpace::Global, 4);
    body.b().load(mem, at, Type::I32)
}

/// Whether a reservation is one that was made.
pub(super) fn is_valid(body: &mut Body, reservation: Value) -> Value {
    let (null, ones) = (body.iconst(Type::I64, 0), body.iconst(Type::I64, u64::MAX));
    let mut f = body.b();
    let some = f.icmp(IntCC::Ne, reservation, null);
    let other = f.icmp(IntCC::Ne, reservation, ones);
    f.binary(BinOp::And, some, other)
}

/// Whether this is the work-item that acts for its group: the first.
fn one_of(body: &mut Body, scope: Scope) -> Value {
    match scope {
        Scope::SubGroup => body.collective(Collective::Elect, scope, &[], Type::I1),
        _ => {
            let zero = body.iconst(Type::I64, 0);
            let id = body
                .b()
                .val(IrOp::Query(Query::LocalLinearId), &[], Type::I64);
            body.b().icmp(IntCC::Eq, id, zero)
        }
    }
}

/// How many slots a reservation has.
fn slots(body: &mut Body, reservation: Value) -> Value {
    let half = body.iconst(Type::I64, 32);
    let high = body.b().binary(BinOp::LShr, reservation, half);
    body.resize(high, Scalar::I32)
}

/// 0 where it holds, -1 elsewhere.
fn success(body: &mut Body, condition: Value) -> Value {
    let (good, bad) = (body.iconst(Type::I32, 0), body.iconst(Type::I32, u64::MAX));
    body.b().select(condition, good, bad)
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
