//! The function that runs a range of work-groups.
//!
//! ```text
//! for each group begin..end                  group ids counted up with carry
//!   the skeleton, uniform code once per group
//!     where it calls region k:
//!       for z, for y                         unless the launch is linear
//!         for x in chunks of W: the region's vector body
//!         for the rest of x:    its scalar body     unless chunks are always full
//! ```
//!
//! Queries become values of these loops and fields of the [`crate::abi::Launch`] structure, which is read once, as constant
//! memory. Everything is emitted whether used or not; dead code is removed afterwards.
//!
//! A region's results are the same for all work-items or else decided by the first, so the
//! first one's are kept.

use cranelift_entity::EntityRef;

use super::collectives::{Carried, is_collective};
use super::local::{context_layout, local_layout, slot_align, slot_bytes};
use super::{ItemOrder, Region, Split};
use crate::abi;
use crate::abi::Launch;
use crate::ir::collective::neutral;
use crate::ir::{
    BinOp, Block, BlockCall, Builder, Cloner, DimQuery, Function, Inst, IntCC, Mem, Op,
    ParamSource, Query, Scalar, SlotId, Terminator, Type, Value,
};
use crate::kernel_info::AddressSpace;
use crate::launch::LaunchKey;

/// What is the same for all work-groups.
struct LaunchValues {
    global_offset: [Value; 3],
    global_size: [Value; 3],
    local_size: [Value; 3],
    num_groups: [Value; 3],
    work_dim: Value,
    /// The barrier context, and the number of elements of its arrays.
    context: Value,
    items: Value,
    scratch: Value,
}

/// What is the same for all work-items of a work-group.
#[derive(Clone, Copy)]
struct GroupValues {
    id: [Value; 3],
    /// Actual size, smaller at the edge.
    size: [Value; 3],
    /// Global id of the first work-item.
    base: [Value; 3],
}

/// Where code is being emitted: what work-items it is for.
#[derive(Clone, Copy)]
struct Emission {
    /// Local id of the first one.
    id: [Value; 3],
    /// Local linear id of the row's first one.
    row: Value,
    lanes: u8,
    /// Whether not all lanes are work-items.
    partial: bool,
}

struct Assembler<'a> {
    key: &'a LaunchKey,
    split: &'a Split,
    width: u8,
    layout: ItemOrder,
    out: Function,
    block: Block,
    launch: LaunchValues,
    group: Option<GroupValues>,
    locals: Vec<u64>,
    slots: Vec<u64>,
}

/// Wraps the skeleton and bodies of `split` in loops. `params` says where the kernel's parameters come from.
pub(super) fn assemble(
    name: &str,
    split: &Split,
    params: &[ParamSource],
    width: u8,
    key: &LaunchKey,
    layout: ItemOrder,
) -> Function {
    let mut out = Function::new(name, &[Type::PTR, Type::PTR, Type::I64, Type::I64], &[]);
    out.locals = split.skeleton.locals.clone();
    let [launch_ptr, scratch, begin, end] = out.params() else {
        unreachable!("made with four parameters")
    };
    let (launch_ptr, scratch, begin, end) = (*launch_ptr, *scratch, *begin, *end);
    let entry = out.entry();
    let mut b = Builder::new(&mut out, entry);
    let launch = read_launch(&mut b, launch_ptr, scratch, width);
    let args = field(
        &mut b,
        launch_ptr,
        std::mem::offset_of!(Launch, args),
        Type::PTR,
    );
    let values: Vec<Value> = params
        .iter()
        .zip(split.skeleton.params())
        .map(|(source, &param)| {
            read_param(&mut b, args, scratch, *source, split.skeleton.ty(param))
        })
        .collect();
    let mut this = Assembler {
        key,
        split,
        width,
        layout,
        block: entry,
        launch,
        group: None,
        locals: local_layout(&split.skeleton).0,
        slots: context_layout(&split.skeleton).0,
        out,
    };
    this.groups(begin, end, &values);
    this.b().ret(&[]);
    this.out
}

fn field(b: &mut Builder<'_>, launch: Value, offset: usize, ty: Type) -> Value {
    let offset = b.iconst(Type::I64, offset as u64);
    let ptr = b.ptr_add(launch, offset);
    b.load(Mem::new(AddressSpace::Constant, 8), ptr, ty)
}

fn read_launch(b: &mut Builder<'_>, launch: Value, scratch: Value, width: u8) -> LaunchValues {
    let mut triple = |offset: usize| [0, 1, 2].map(|d| field(b, launch, offset + 8 * d, Type::I64));
    let global_offset = triple(std::mem::offset_of!(Launch, global_offset));
    let global_size = triple(std::mem::offset_of!(Launch, global_size));
    let local_size = triple(std::mem::offset_of!(Launch, local_size));
    let num_groups = triple(std::mem::offset_of!(Launch, num_groups));
    let work_dim = field(b, launch, std::mem::offset_of!(Launch, work_dim), Type::I64);
    let local_bytes = std::mem::offset_of!(Launch, local_mem_size);
    let local_bytes = field(b, launch, local_bytes, Type::I64);
    let local_bytes = round_up(b, local_bytes, abi::SCRATCH_ALIGN);
    let context = b.ptr_add(scratch, local_bytes);
    let rows = b.binary(BinOp::IMul, local_size[1], local_size[2]);
    let items = b.binary(BinOp::IMul, local_size[0], rows);
    LaunchValues {
        global_offset,
        global_size,
        local_size,
        num_groups,
        work_dim,
        context,
        items: round_up(b, items, u64::from(width)),
        scratch,
    }
}

/// The next multiple of a power of two.
fn round_up(b: &mut Builder<'_>, value: Value, to: u64) -> Value {
    let less = b.iconst(Type::I64, to - 1);
    let sum = b.binary(BinOp::IAdd, value, less);
    let mask = b.iconst(Type::I64, !(to - 1));
    b.binary(BinOp::And, sum, mask)
}

fn read_param(
    b: &mut Builder<'_>,
    args: Value,
    scratch: Value,
    source: ParamSource,
    ty: Type,
) -> Value {
    let (ParamSource::Value { offset }
    | ParamSource::Address { offset }
    | ParamSource::Local { offset }) = source;
    let bytes = b.iconst(Type::I64, u64::from(offset));
    let ptr = b.ptr_add(args, bytes);
    match source {
        ParamSource::Value { .. } => {
            b.load(Mem::new(AddressSpace::Constant, ty.scalar.bytes()), ptr, ty)
        }
        ParamSource::Address { .. } => ptr,
        ParamSource::Local { .. } => {
            let offset = b.load(Mem::new(AddressSpace::Constant, 8), ptr, Type::I64);
            b.ptr_add(scratch, offset)
        }
    }
}

impl Assembler<'_> {
    fn b(&mut self) -> Builder<'_> {
        Builder::new(&mut self.out, self.block)
    }

    fn i64(&mut self, value: u64) -> Value {
        self.b().iconst(Type::I64, value)
    }

    fn binary(&mut self, op: BinOp, x: Value, y: Value) -> Value {
        self.b().binary(op, x, y)
    }

    /// `for i = start; i < end; i += step`, `state` carried from one iteration to the next; tested before the
    /// first one only if told that there may be none. Returns the last state.
    fn for_each(
        &mut self,
        (start, end, step): (Value, Value, u64),
        maybe_none: bool,
        state: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let types: Vec<Type> = state.iter().map(|&v| self.out.ty(v)).collect();
        let mut b = self.b();
        let head = b.new_block(&[]);
        let index = b.func.add_param(head, Type::I64);
        let inner: Vec<Value> = types.iter().map(|&ty| b.func.add_param(head, ty)).collect();
        let exit = b.new_block(&types);
        let first: Vec<Value> = [start].iter().chain(state).copied().collect();
        if maybe_none {
            let some = b.icmp(IntCC::Ult, start, end);
            b.cond_br(some, head, &first, exit, state);
        } else {
            b.br(head, &first);
        }
        self.block = head;
        let after = body(self, index, &inner);
        let step = self.i64(step);
        let next = self.binary(BinOp::IAdd, index, step);
        let again: Vec<Value> = [next].iter().chain(&after).copied().collect();
        let mut b = self.b();
        let more = b.icmp(IntCC::Ult, next, end);
        b.cond_br(more, head, &again, exit, &after);
        self.block = exit;
        self.out.blocks[exit].params.clone()
    }

    fn groups(&mut self, begin: Value, end: Value, params: &[Value]) {
        let counts = self.launch.num_groups;
        let x = self.binary(BinOp::URem, begin, counts[0]);
        let rest = self.binary(BinOp::UDiv, begin, counts[0]);
        let y = self.binary(BinOp::URem, rest, counts[1]);
        let z = self.binary(BinOp::UDiv, rest, counts[1]);
        self.for_each((begin, end, 1), true, &[x, y, z], |this, _, id| {
            let id = [id[0], id[1], id[2]];
            this.group(id);
            this.inline(&this.split.skeleton, params, None);
            this.next_group(id, counts)
        });
    }

    /// Computes what is the same for the whole group.
    fn group(&mut self, id: [Value; 3]) {
        let mut size = self.launch.local_size;
        let mut base = id;
        for d in 0..3 {
            let start = self.binary(BinOp::IMul, id[d], self.launch.local_size[d]);
            if !self.key.uniform_groups {
                let left = self.binary(BinOp::ISub, self.launch.global_size[d], start);
                size[d] = self.binary(BinOp::UMin, size[d], left);
            }
            base[d] = if self.key.zero_offset {
                start
            } else {
                self.binary(BinOp::IAdd, start, self.launch.global_offset[d])
            };
        }
        if self.key.linear {
            let one = self.i64(1);
            (size[1], size[2]) = (one, one);
        }
        self.group = Some(GroupValues { id, size, base });
    }

    fn next_group(&mut self, id: [Value; 3], counts: [Value; 3]) -> Vec<Value> {
        let (zero, one) = (self.i64(0), self.i64(1));
        let mut b = self.b();
        let x = b.binary(BinOp::IAdd, id[0], one);
        let wrap_x = b.icmp(IntCC::Eq, x, counts[0]);
        let y = b.binary(BinOp::IAdd, id[1], one);
        let wrap_y = b.icmp(IntCC::Eq, y, counts[1]);
        let next_y = b.select(wrap_y, zero, y);
        let z = b.binary(BinOp::IAdd, id[2], one);
        let next_z = b.select(wrap_y, z, id[2]);
        vec![
            b.select(wrap_x, zero, x),
            b.select(wrap_x, next_y, id[1]),
            b.select(wrap_x, next_z, id[2]),
        ]
    }

    fn group_values(&self) -> GroupValues {
        self.group.expect("inside a group")
    }

    /// Runs a region for all work-items of the group; its results for the first one.
    fn run(&mut self, region: &Region, args: &[Value]) -> Vec<Value> {
        let group = self.group_values();
        let results = region.scalar.results.clone();
        let state: Vec<Value> = results.iter().map(|&ty| self.b().iconst(ty, 0)).collect();
        let zero = self.i64(0);
        if self.key.linear || self.layout == ItemOrder::Flat {
            return self.row(region, args, [zero; 3], zero, &state);
        }
        let bounds = |d: usize| (zero, group.size[d], 1);
        self.for_each(bounds(2), false, &state, |this, z, state| {
            this.for_each(bounds(1), false, state, |this, y, state| {
                let rows = this.binary(BinOp::IMul, z, group.size[1]);
                let rows = this.binary(BinOp::IAdd, rows, y);
                let row = this.binary(BinOp::IMul, rows, group.size[0]);
                this.row(region, args, [zero, y, z], row, state)
            })
        })
    }

    /// Runs a region for the work-items of a row.
    fn row(
        &mut self,
        region: &Region,
        args: &[Value],
        id: [Value; 3],
        row: Value,
        state: &[Value],
    ) -> Vec<Value> {
        let size = match self.layout {
            ItemOrder::Rows => self.group_values().size[0],
            ItemOrder::Flat => self.group_items(),
        };
        let start = id[0];
        let place = |x: Value, lanes: u8| Emission {
            id: [x, id[1], id[2]],
            row,
            lanes,
            partial: false,
        };
        let Some(vector) = &region.vector else {
            return self.for_each((start, size, 1), false, state, |this, x, state| {
                this.items(&region.scalar, args, place(x, 1), state)
            });
        };
        let step = u64::from(self.width);
        let end = if self.key.full_chunks {
            size
        } else {
            let mask = self.i64(!(step - 1));
            self.binary(BinOp::And, size, mask)
        };
        if let Some(guard) = &region.guard {
            return self.guarded_row(region, (guard, vector), args, (start, size), place, state);
        }
        let some = self.key.full_chunks;
        let state = self.for_each((start, end, step), !some, state, |this, x, state| {
            this.items(vector, args, place(x, this.width), state)
        });
        if self.key.full_chunks {
            return state;
        }
        if let Some(partial) = &region.partial {
            let step = u64::from(self.width);
            return self.for_each((end, size, step), true, &state, |this, x, state| {
                let place = Emission {
                    partial: true,
                    ..place(x, this.width)
                };
                this.items(partial, args, place, state)
            });
        }
        self.for_each((end, size, 1), true, &state, |this, x, state| {
            this.items(&region.scalar, args, place(x, 1), state)
        })
    }

    /// Runs a region with a guard for a row: chunks that pass as vectors, others item by item.
    ///
    /// Chunks that pass one after the other make up a loop of their own, within the one over all chunks. So what is only used for others
    /// is outside the loop that counts, for whatever weighs values by the loops they are used in.
    fn guarded_row(
        &mut self,
        region: &Region,
        (guard, inside): (&Function, &Function),
        args: &[Value],
        (start, size): (Value, Value),
        place: impl Fn(Value, u8) -> Emission,
        state: &[Value],
    ) -> Vec<Value> {
        let (width, full_chunks) = (self.width, self.key.full_chunks);
        let step = self.i64(u64::from(width));
        let types: Vec<Type> = state.iter().map(|&v| self.out.ty(v)).collect();
        let indexed: Vec<Type> = [Type::I64]
            .into_iter()
            .chain(types.iter().copied())
            .collect();
        let with = |index: Value, state: &[Value]| -> Vec<Value> {
            [index].iter().chain(state).copied().collect()
        };
        let mut b = self.b();
        let (outer, head) = (b.new_block(&indexed), b.new_block(&indexed));
        let next = b.new_block(&indexed);
        let exit = b.new_block(&types);
        let (test, sound, inner) = (b.new_block(&[]), b.new_block(&[]), b.new_block(&[]));
        let (not_all, slow) = (b.new_block(&[]), b.new_block(&[]));
        b.br(outer, &with(start, state));
        b.switch_to(outer);
        let params = b.func.blocks[outer].params.clone();
        b.br(head, &params);
        b.switch_to(head);
        let x = b.param(head, 0);
        let state: Vec<Value> = b.func.blocks[head].params[1..].to_vec();
        let end = b.binary(BinOp::IAdd, x, step);
        if full_chunks {
            b.br(test, &[]);
        } else {
            let fits = b.icmp(IntCC::Ule, end, size);
            b.cond_br(fits, test, &[], slow, &[]);
        }
        self.block = test;
        let results = self.inline(guard, args, Some(place(x, width)));
        let (all, any) = (results[0], results[1]);
        let mut b = self.b();
        let no_wrap = results[2..].iter().copied();
        match no_wrap.reduce(|a, c| b.binary(BinOp::And, a, c)) {
            Some(no_wrap) => {
                let unsound = if region.masked_for_all { not_all } else { slow };
                b.cond_br(no_wrap, sound, &[], unsound, &[]);
            }
            None => b.br(sound, &[]),
        }
        self.block = sound;
        self.b().cond_br(all, inner, &[], not_all, &[]);
        self.block = not_all;
        match &region.masked {
            Some(masked) => {
                let state = self.items(masked, args, place(x, width), &state);
                self.b().br(next, &with(end, &state));
            }
            None => self.b().cond_br(any, slow, &[], next, &with(end, &state)),
        }
        self.block = inner;
        let after = self.items(inside, args, place(x, width), &state);
        let mut b = self.b();
        let more = b.icmp(IntCC::Ult, end, size);
        b.cond_br(more, head, &with(end, &after), exit, &after);
        self.block = slow;
        let until = self.binary(BinOp::UMin, end, size);
        let after = self.for_each((x, until, 1), false, &state, |this, x, state| {
            this.items(&region.scalar, args, place(x, 1), state)
        });
        self.b().br(next, &with(until, &after));
        let mut b = Builder::new(&mut self.out, next);
        let after = b.param(next, 0);
        let state: Vec<Value> = b.func.blocks[next].params[1..].to_vec();
        let more = b.icmp(IntCC::Ult, after, size);
        b.cond_br(more, outer, &with(after, &state), exit, &state);
        self.block = exit;
        self.out.blocks[exit].params.clone()
    }

    fn items(
        &mut self,
        body: &Function,
        args: &[Value],
        place: Emission,
        state: &[Value],
    ) -> Vec<Value> {
        let results = self.inline(body, args, Some(place));
        if results.is_empty() {
            return results;
        }
        let zero = self.i64(0);
        let item = self.item(place);
        let first = self.b().icmp(IntCC::Eq, item, zero);
        results
            .iter()
            .zip(state)
            .map(|(&new, &old)| self.b().select(first, new, old))
            .collect()
    }

    /// Copies a body to the current position; goes on where it returns, with the values returned.
    fn inline(&mut self, body: &Function, args: &[Value], place: Option<Emission>) -> Vec<Value> {
        let mut cloner = Cloner::from(body);
        cloner.bind_all(body.params(), args);
        let order = body.reverse_post_order();
        for &block in &order[1..] {
            cloner.add_block(&mut self.out, block);
        }
        let exit = self.b().new_block(&body.results);
        for &block in &order {
            if let Some(new) = cloner.get_block(block) {
                self.block = new;
            }
            for &inst in &body.blocks[block].insts {
                self.copy(body, inst, &mut cloner, place);
            }
            let mut b = self.b();
            let term = match cloner.terminator(&mut b, &body.blocks[block].term) {
                Terminator::Ret(values) => Terminator::Br(BlockCall {
                    block: exit,
                    args: values,
                }),
                Terminator::Unreachable => {
                    let zeros: Vec<Value> =
                        body.results.iter().map(|&ty| b.iconst(ty, 0)).collect();
                    Terminator::Br(BlockCall::new(exit, &zeros))
                }
                other => other,
            };
            b.terminate(term);
        }
        self.block = exit;
        self.out.blocks[exit].params.clone()
    }

    fn copy(
        &mut self,
        body: &Function,
        inst: Inst,
        cloner: &mut Cloner<'_>,
        place: Option<Emission>,
    ) {
        let data = &body.insts[inst];
        let args = || -> Vec<Value> { data.args.iter().map(|&v| cloner.value(v)).collect() };
        let results: Vec<Value> = match &data.op {
            Op::DimQuery(query, dim) => vec![self.dim_query(*query, usize::from(*dim), place)],
            Op::Query(query) => vec![self.query(*query, place)],
            Op::LocalAddr(local) => {
                let offset = self.i64(self.locals[local.index()]);
                let scratch = self.launch.scratch;
                vec![self.b().ptr_add(scratch, offset)]
            }
            Op::ContextLoad(slot) => {
                let ty = body.ty(data.results[0]);
                vec![self.context_load(body, *slot, ty, place)]
            }
            Op::ContextStore(slot) => {
                self.context_store(body, *slot, args()[0], place);
                Vec::new()
            }
            Op::Carry => {
                let ty = body.ty(data.results[0]);
                let (address, mem) = self.carry(ty);
                vec![self.b().load(mem, address, ty)]
            }
            op if is_collective(op) => self.collective(op, &args(), place),
            Op::Alloca { .. } => {
                let new = self
                    .out
                    .make_inst(data.op.clone(), &[], &[Type::PTR], data.loc);
                let entry = self.out.entry();
                self.out.blocks[entry].insts.insert(0, new);
                self.out.insts[new].results.to_vec()
            }
            Op::InSpace(space) => vec![self.in_space(*space, args()[0])],
            Op::Call(region) => {
                let split = self.split;
                self.run(&split.regions[region.index()], &args())
            }
            _ => {
                cloner.inst(&mut self.b(), inst);
                return;
            }
        };
        cloner.bind_all(&data.results, &results);
    }

    /// Where the carry is.
    fn carry(&mut self, ty: Type) -> (Value, Mem) {
        let slot = self.split.carry.expect("collectives have a carry");
        let before = self.i64(self.slots[slot.index()]);
        let array = self.binary(BinOp::IMul, self.launch.items, before);
        let base = self.launch.context;
        let address = self.b().ptr_add(base, array);
        (address, Mem::new(AddressSpace::Private, ty.scalar.bytes()))
    }

    /// A collective of the work-group for the work-items at a place.
    fn collective(&mut self, op: &Op, args: &[Value], place: Option<Emission>) -> Vec<Value> {
        let &Op::Collective { what, masked, .. } = op else {
            unreachable!("it is a collective")
        };
        let with = what.op().expect("what is left combines");
        let ty = self.out.ty(args[0]).lane();
        let (address, mem) = self.carry(ty);
        let item = self.item(place.expect("work-items take part"));
        let zero = self.i64(0);
        let mut b = self.b();
        let first = b.icmp(IntCC::Eq, item, zero);
        // Before the first work-item nothing is there that could be read as a truth value.
        let before = if ty.scalar == Scalar::I1 {
            let byte = b.load(mem, address, Type::I8);
            let no = b.iconst(Type::I8, 0);
            b.icmp(IntCC::Ne, byte, no)
        } else {
            b.load(mem, address, ty)
        };
        let nothing = b.iconst(ty, neutral(with, ty.scalar));
        let carry = b.select(first, nothing, before);
        let carried = Carried {
            what,
            value: args[0],
            mask: masked.then(|| args[1]),
            carry,
        };
        let (carry, result) = carried.emit(&mut b);
        b.store(mem, address, carry);
        // A reduction's result is the carry after all have run.
        vec![result.unwrap_or(carry)]
    }

    /// Whether addresses are in private memory (the barrier context: `split` puts all private objects there whose
    /// addresses may be asked about), in work-group memory, or in neither. Both lie in scratch memory, one after the other.
    fn in_space(&mut self, space: AddressSpace, address: Value) -> Value {
        let (_, per_item) = context_layout(&self.split.skeleton);
        let per_item = self.i64(per_item);
        let context_bytes = self.binary(BinOp::IMul, self.launch.items, per_item);
        let (context, scratch) = (self.launch.context, self.launch.scratch);
        let mut b = self.b();
        let [context, scratch] = [context, scratch].map(|ptr| b.bitcast(ptr, Type::I64));
        let local_bytes = b.binary(BinOp::ISub, context, scratch);
        let (base, bytes, condition) = match space {
            AddressSpace::Local => (scratch, local_bytes, IntCC::Ult),
            AddressSpace::Private => (context, context_bytes, IntCC::Ult),
            _ => {
                let all = b.binary(BinOp::IAdd, local_bytes, context_bytes);
                (scratch, all, IntCC::Uge)
            }
        };
        let ty = b.ty(address).with_scalar(Scalar::I64);
        let spread = |b: &mut Builder<'_>, value: Value| match ty.lanes {
            1 => value,
            lanes => b.splat(value, lanes),
        };
        let address = b.bitcast(address, ty);
        let base = spread(&mut b, base);
        let bytes = spread(&mut b, bytes);
        let offset = b.binary(BinOp::ISub, address, base);
        b.icmp(condition, offset, bytes)
    }

    fn dim_query(&mut self, query: DimQuery, d: usize, place: Option<Emission>) -> Value {
        let group = self.group_values();
        match query {
            // Known to the whole group.
            DimQuery::GlobalId if self.key.linear && d > 0 => group.base[d],
            DimQuery::LocalId if self.key.linear && d > 0 => self.i64(0),
            DimQuery::GlobalId => {
                let id = place.expect("work-items have ids").id[d];
                self.binary(BinOp::IAdd, group.base[d], id)
            }
            DimQuery::LocalId => place.expect("work-items have ids").id[d],
            DimQuery::GroupId => group.id[d],
            DimQuery::GlobalSize => self.launch.global_size[d],
            DimQuery::LocalSize => group.size[d],
            DimQuery::EnqueuedLocalSize => self.launch.local_size[d],
            DimQuery::NumGroups => self.launch.num_groups[d],
            DimQuery::GlobalOffset if self.key.zero_offset => self.i64(0),
            DimQuery::GlobalOffset => self.launch.global_offset[d],
        }
    }

    fn query(&mut self, query: Query, place: Option<Emission>) -> Value {
        let width = u64::from(self.width);
        match query {
            Query::WorkDim => self.launch.work_dim,
            Query::GlobalLinearId => {
                let mut sum = None;
                for d in [2, 1, 0] {
                    let mut id = self.dim_query(DimQuery::GlobalId, d, place);
                    if !self.key.zero_offset {
                        id = self.binary(BinOp::ISub, id, self.launch.global_offset[d]);
                    }
                    sum = Some(match sum {
                        None => id,
                        Some(sum) => {
                            let scaled = self.binary(BinOp::IMul, sum, self.launch.global_size[d]);
                            self.binary(BinOp::IAdd, scaled, id)
                        }
                    });
                }
                sum.expect("three dimensions")
            }
            Query::LocalLinearId => self.item(place.expect("work-items have ids")),
            Query::SubGroupMaxSize => self.i64(width),
            Query::SubGroupSize => {
                let place = place.expect("work-items have ids");
                if self.width == 1 || place.lanes > 1 && !place.partial {
                    return self.i64(width);
                }
                // The last one may be smaller.
                let item = self.item(place);
                let mask = self.i64(!(width - 1));
                let first = self.binary(BinOp::And, item, mask);
                let items = self.group_items();
                let left = self.binary(BinOp::ISub, items, first);
                let most = self.i64(width);
                self.binary(BinOp::UMin, left, most)
            }
            Query::SubGroupLocalId => {
                let place = place.expect("work-items have ids");
                let item = self.item(place);
                let mask = self.i64(width - 1);
                self.binary(BinOp::And, item, mask)
            }
            Query::NumSubGroups => {
                let items = self.group_items();
                let up = round_up(&mut self.b(), items, width);
                let shift = self.i64(u64::from(width.trailing_zeros()));
                self.binary(BinOp::LShr, up, shift)
            }
            Query::SubGroupId => {
                let item = self.item(place.expect("work-items have ids"));
                let shift = self.i64(u64::from(width.trailing_zeros()));
                self.binary(BinOp::LShr, item, shift)
            }
        }
    }

    /// The local linear id of the first of these work-items.
    fn item(&mut self, place: Emission) -> Value {
        self.binary(BinOp::IAdd, place.row, place.id[0])
    }

    /// The work-items of this group.
    fn group_items(&mut self) -> Value {
        let size = self.group_values().size;
        let plane = self.binary(BinOp::IMul, size[0], size[1]);
        self.binary(BinOp::IMul, plane, size[2])
    }

    /// The address of the first of these work-items' element of a slot.
    fn slot_address(&mut self, body: &Function, slot: SlotId, place: Option<Emission>) -> Value {
        let place = place.expect("a context belongs to a work-item");
        let before = self.i64(self.slots[slot.index()]);
        let array = self.binary(BinOp::IMul, self.launch.items, before);
        let base = self.launch.context;
        let base = self.b().ptr_add(base, array);
        let bytes = self.i64(slot_bytes(body, slot));
        let item = self.item(place);
        let offset = self.binary(BinOp::IMul, item, bytes);
        self.b().ptr_add(base, offset)
    }

    fn slot_mem(&self, body: &Function, slot: SlotId, lanes: u8) -> Mem {
        Mem {
            stride: match lanes {
                1 => 0,
                _ => i64::from(body.slots[slot].ty.scalar.bytes()),
            },
            ..Mem::new(AddressSpace::Private, slot_align(body, slot))
        }
    }

    fn context_load(
        &mut self,
        body: &Function,
        slot: SlotId,
        ty: Type,
        place: Option<Emission>,
    ) -> Value {
        let address = self.slot_address(body, slot, place);
        if body.slots[slot].bytes != 0 {
            return address;
        }
        let mem = self.slot_mem(body, slot, ty.lanes);
        self.b().load(mem, address, ty)
    }

    fn context_store(
        &mut self,
        body: &Function,
        slot: SlotId,
        value: Value,
        place: Option<Emission>,
    ) {
        let address = self.slot_address(body, slot, place);
        let mem = self.slot_mem(body, slot, self.out.ty(value).lanes);
        self.b().store(mem, address, value);
    }
}
