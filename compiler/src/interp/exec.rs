//! Running instructions: frames, control flow, calls; one work-item until it ends or meets a
//! barrier.

use std::collections::HashMap;
use std::rc::Rc;

use cranelift_entity::{EntityRef, SecondaryMap};
use smallvec::SmallVec;

use super::nest::{Around, Nest};
use super::work_item::WorkItem;
use super::{Error, Interpreter, MAX_DEPTH, PrintfArg, PrintfCall, SegmentId, builtin};
use crate::ir::collective::{Grouping, evaluate};
use crate::ir::eval::{self, Lanes};
use crate::ir::{
    Block, BlockCall, Collective, FuncId, Function, HostFunction, Inst, InstData, Op, Scalar,
    Scope, Terminator, Type, Value,
};
use crate::kernel_info::AddressSpace;

/// Where in a frame the lanes of each value are, and where blocks are if it matters who is where.
#[derive(Debug)]
pub(super) struct FrameLayout {
    offsets: SecondaryMap<Value, u32>,
    total: usize,
    nest: Option<Nest>,
}

impl FrameLayout {
    pub fn new(func: &Function) -> Rc<FrameLayout> {
        let mut offsets = SecondaryMap::with_capacity(func.values.len());
        let mut total = 0;
        for (value, data) in &func.values {
            offsets[value] = total;
            total += u32::from(data.ty.lanes);
        }
        Rc::new(FrameLayout {
            offsets,
            total: total as usize,
            nest: Nest::new(func),
        })
    }
}

/// The layouts of functions that were called: the module's, and those that stay functions.
pub(super) type FrameLayouts = HashMap<(FuncId, bool), Rc<FrameLayout>>;

/// One activation of a function.
pub(super) struct Frame<'f> {
    pub func: &'f Function,
    layout: Rc<FrameLayout>,
    lanes: Vec<u64>,
    block: Block,
    next: usize,
    private: SmallVec<[SegmentId; 2]>,
    /// The loops around `block`, if it matters.
    around: Around,
}

impl<'f> Frame<'f> {
    fn new(func: &'f Function, layout: Rc<FrameLayout>) -> Frame<'f> {
        let mut frame = Frame {
            func,
            lanes: vec![0; layout.total],
            layout,
            block: func.entry(),
            next: 0,
            private: SmallVec::new(),
            around: SmallVec::new(),
        };
        frame.go_to(func.entry());
        frame
    }

    fn go_to(&mut self, block: Block) {
        self.block = block;
        self.next = 0;
        if let Some(nest) = &self.layout.nest {
            nest.come_to(block, &mut self.around);
        }
    }

    /// Adds where the frame is to a place: see [`Item::place`].
    fn place(&self, place: &mut Vec<u32>) {
        if let Some(nest) = &self.layout.nest {
            nest.place(self.block, self.next, &self.around, place);
        }
    }

    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    pub fn get(&self, value: Value) -> &[u64] {
        let at = self.layout.offsets[value] as usize;
        &self.lanes[at..at + usize::from(self.func.ty(value).lanes)]
    }

    /// Operands as the evaluators take them.
    fn typed(&self, args: &[Value]) -> SmallVec<[(Type, &[u64]); 4]> {
        let args = args.iter();
        args.map(|&a| (self.func.ty(a), self.get(a))).collect()
    }

    pub fn set(&mut self, value: Value, lanes: &[u64]) {
        let at = self.layout.offsets[value] as usize;
        let ty = self.func.ty(value);
        debug_assert_eq!(lanes.len(), usize::from(ty.lanes));
        debug_assert!(
            lanes.iter().all(|&lane| lane & !ty.scalar.mask() == 0),
            "{value} has bits beyond its type"
        );
        self.lanes[at..at + usize::from(ty.lanes)].copy_from_slice(lanes);
    }

    /// Jumps: all arguments are read before any parameter is set.
    fn jump(&mut self, call: &BlockCall) {
        let args: SmallVec<[Lanes; 4]> = call
            .args
            .iter()
            .map(|&arg| Lanes::from_slice(self.get(arg)))
            .collect();
        let func = self.func;
        for (&param, lanes) in func.blocks[call.block].params.iter().zip(&args) {
            self.set(param, lanes);
        }
        self.go_to(call.block);
    }
}

/// A work-item on its way, or a plain function: its frames, outermost first.
pub(super) struct Item<'f> {
    frames: Vec<Frame<'f>>,
}

/// Why an item stopped running.
pub(super) enum Stop {
    /// It returned these results.
    Finished(Vec<Lanes>),
    /// It is at this barrier or collective of the work-group, how deep in calls, and goes on after
    /// it.
    Barrier((usize, Inst)),
    /// It is at a collective of its sub-group and goes on after it.
    SubGroup,
    /// It is at the named barrier with this record and goes on after it.
    Named(u64),
}

/// A collective that work-items are at.
pub(super) struct Meeting {
    pub what: Collective,
    pub scope: Scope,
    /// The type of its first operand.
    pub ty: Type,
}

impl<'f> Item<'f> {
    /// About to run `func`, which need not be one of the module's.
    pub fn new(
        func: &'f Function,
        layout: Rc<FrameLayout>,
        args: &[Lanes],
    ) -> Result<Item<'f>, Error> {
        let params = func.params();
        let fits = params.len() == args.len()
            && params
                .iter()
                .zip(args)
                .all(|(&p, a)| usize::from(func.ty(p).lanes) == a.len());
        if !fits {
            return Err(Error::new(format!(
                "function {:?} takes other parameters than it was given",
                func.name
            )));
        }
        let mut frame = Frame::new(func, layout);
        for (&param, lanes) in params.iter().zip(args) {
            let mask = func.ty(param).scalar.mask();
            let lanes: Lanes = lanes.iter().map(|lane| lane & mask).collect();
            frame.set(param, &lanes);
        }
        Ok(Item {
            frames: vec![frame],
        })
    }
}

impl Item<'_> {
    /// Where it is. Work-items in the same iterations of the same loops have equal places at one
    /// instruction; of two that differ the lesser goes first, since it may still come to where the
    /// other is, but not the reverse. Loops are where their first entry is, then by how many
    /// iterations were begun.
    pub fn place(&self) -> Vec<u32> {
        let mut place = Vec::new();
        for frame in &self.frames {
            frame.place(&mut place);
        }
        place
    }

    fn last_inst(&self) -> Option<(&Frame<'_>, &InstData)> {
        let frame = self.frames.last()?;
        let func = frame.func;
        let inst = func.blocks[frame.block]
            .insts
            .get(frame.next.checked_sub(1)?)?;
        Some((frame, &func.insts[*inst]))
    }

    /// The collective that it has come to.
    pub fn meeting(&self) -> Option<Meeting> {
        let (frame, data) = self.last_inst()?;
        let Op::Collective { what, scope, .. } = data.op else {
            return None;
        };
        Some(Meeting {
            what,
            scope,
            ty: data.args.first().map_or(Type::I1, |&arg| frame.ty(arg)),
        })
    }

    /// What it brings there: its value and its number.
    pub fn brings(&self) -> (Lanes, u64) {
        let Some((frame, data)) = self.last_inst() else {
            return (Lanes::new(), 0);
        };
        let value = data
            .args
            .first()
            .map(|&arg| Lanes::from_slice(frame.get(arg)));
        let number = data.args.get(1).map_or(0, |&arg| frame.get(arg)[0]);
        (value.unwrap_or_default(), number)
    }

    /// What it takes from there.
    pub fn takes(&mut self, lanes: &[u64]) {
        let result = self
            .last_inst()
            .and_then(|(_, data)| data.results.first().copied());
        if let (Some(result), Some(frame)) = (result, self.frames.last_mut()) {
            frame.set(result, lanes);
        }
    }
}

impl<'m> Interpreter<'m> {
    /// Runs until the item ends or arrives at a barrier. `work` says which work-item it is, if it
    /// is one.
    pub(super) fn resume<'f>(
        &mut self,
        item: &mut Item<'f>,
        work: Option<&WorkItem<'_>>,
    ) -> Result<Stop, Error>
    where
        'm: 'f,
    {
        loop {
            let depth = item.frames.len();
            let frame = item.frames.last_mut().expect("an item has a frame");
            let func = frame.func;
            let data = &func.blocks[frame.block];
            self.budget = self.budget.checked_sub(1).ok_or_else(|| {
                Error::new(format!(
                    "the budget of {} instructions is used up, in function {:?}",
                    self.options.budget, func.name
                ))
            })?;
            let Some(&inst) = data.insts.get(frame.next) else {
                if let Some(results) = self.terminate(item, &data.term)? {
                    return Ok(Stop::Finished(results));
                }
                continue;
            };
            frame.next += 1;
            match &func.insts[inst].op {
                Op::Barrier(_) => return Ok(Stop::Barrier((depth, inst))),
                Op::NamedBarrier(_) => {
                    let record = frame.get(func.insts[inst].args[0])[0];
                    return Ok(Stop::Named(record));
                }
                Op::Collective { scope, .. } if work.is_some() => {
                    return Ok(match scope {
                        Scope::SubGroup => Stop::SubGroup,
                        _ => Stop::Barrier((depth, inst)),
                    });
                }
                Op::Call(_) | Op::CallFunction(_) => {
                    let next = self.enter(frame, inst).map_err(|e| at(e, func, inst))?;
                    if depth == MAX_DEPTH {
                        return Err(Error::new(format!("calls nest deeper than {MAX_DEPTH}")));
                    }
                    item.frames.push(next);
                }
                _ => self
                    .execute(frame, inst, work)
                    .map_err(|e| at(e, func, inst))?,
            }
        }
    }

    fn enter<'f>(&mut self, frame: &Frame<'_>, inst: Inst) -> Result<Frame<'f>, Error>
    where
        'm: 'f,
    {
        let (id, func, stays) = match &frame.func.insts[inst].op {
            Op::CallFunction(callee) if callee.lanes == 1 => {
                let id = callee.function;
                (id, self.called.and_then(|all| all.get(&id)), true)
            }
            Op::Call(id) => (*id, self.module.functions.get(*id), false),
            _ => return Err(Error::new("a call for several work-items at once")),
        };
        let Some(func) = func else {
            return Err(Error::new(format!("there is no function {}", id.index())));
        };
        let layout = self
            .layouts
            .entry((id, stays))
            .or_insert_with(|| FrameLayout::new(func))
            .clone();
        let mut next = Frame::new(func, layout);
        for (&param, &arg) in func.params().iter().zip(&frame.func.insts[inst].args) {
            next.set(param, frame.get(arg));
        }
        Ok(next)
    }

    /// Ends a block. Gives the item's results when that ends the item.
    fn terminate(
        &mut self,
        item: &mut Item<'_>,
        term: &Terminator,
    ) -> Result<Option<Vec<Lanes>>, Error> {
        let frame = item.frames.last_mut().expect("an item has a frame");
        match term {
            Terminator::Br(call) => frame.jump(call),
            Terminator::CondBr { cond, then, els } => {
                let call = if frame.get(*cond)[0] != 0 { then } else { els };
                frame.jump(call);
            }
            Terminator::Switch {
                value,
                cases,
                default,
            } => {
                let bits = frame.get(*value)[0];
                let case = cases.iter().find(|&&(case, _)| case == bits);
                frame.jump(case.map_or(default, |(_, call)| call));
            }
            Terminator::Ret(values) => {
                let results: Vec<Lanes> = values
                    .iter()
                    .map(|&v| Lanes::from_slice(frame.get(v)))
                    .collect();
                return Ok(self.leave(item, results));
            }
            // Control never arrives here; if it does, the work-item ends.
            Terminator::Unreachable => {
                let types = item.frames[0].func.results.clone();
                while !item.frames.is_empty() {
                    self.pop(item);
                }
                let zeros = types
                    .iter()
                    .map(|ty| SmallVec::from_elem(0, usize::from(ty.lanes)));
                return Ok(Some(zeros.collect()));
            }
        }
        Ok(None)
    }

    /// Drops the innermost frame and its private memory.
    fn pop(&mut self, item: &mut Item<'_>) {
        let frame = item.frames.pop().expect("an item has a frame");
        for segment in frame.private {
            self.memory.remove(segment);
        }
    }

    /// Returns from the innermost frame to the one that called it.
    fn leave(&mut self, item: &mut Item<'_>, results: Vec<Lanes>) -> Option<Vec<Lanes>> {
        self.pop(item);
        let Some(caller) = item.frames.last_mut() else {
            return Some(results);
        };
        let func = caller.func;
        // The instruction before the next one is the call.
        let call = func.blocks[caller.block].insts[caller.next - 1];
        for (&value, lanes) in func.insts[call].results.iter().zip(&results) {
            caller.set(value, lanes);
        }
        None
    }

    fn execute(
        &mut self,
        frame: &mut Frame<'_>,
        inst: Inst,
        work: Option<&WorkItem<'_>>,
    ) -> Result<(), Error> {
        let func = frame.func;
        let data = &func.insts[inst];
        let result = |lanes: usize| SmallVec::<[u64; 4]>::from_elem(0, lanes);
        let lanes_of = |n: usize| usize::from(func.ty(data.results[n]).lanes);
        let value = match &data.op {
            Op::GlobalAddr(id) => match self.globals.get(*id) {
                Some(&address) => Lanes::from_elem(address, 1),
                None => return Err(Error::new("the global does not exist")),
            },
            Op::LocalAddr(id) => {
                let address = work
                    .and_then(|work| work.local_address(func, *id))
                    .ok_or_else(|| Error::new("there is no such work-group variable here"))?;
                Lanes::from_elem(address, 1)
            }
            // Time passes with every instruction.
            Op::Clock => Lanes::from_elem(self.options.budget - self.budget, 1),
            Op::Alloca {
                size,
                align,
                interleaving,
            } => {
                let lanes = interleaving.map_or(1, |how| how.lanes);
                let name = format!("private memory of {inst}");
                let track = self.checks.enabled;
                let id = self.memory.add_uninitialised(
                    &name,
                    AddressSpace::Private,
                    *size as usize * usize::from(lanes),
                    u64::from(*align),
                    track,
                );
                frame.private.push(id);
                Lanes::from_elem(self.memory.base(id), 1)
            }
            Op::InSpace(space) => {
                let addresses = frame.get(data.args[0]).iter();
                addresses
                    .map(|&address| u64::from(self.memory.space(address) == *space))
                    .collect()
            }
            Op::DimQuery(query, dim) => {
                let work = work.ok_or_else(|| Error::new("a work-item query, but no work-item"))?;
                Lanes::from_elem(work.dim_query(*query, usize::from(*dim)), 1)
            }
            Op::Query(query) => {
                let work = work.ok_or_else(|| Error::new("a work-item query, but no work-item"))?;
                Lanes::from_elem(work.query(*query), 1)
            }
            Op::Builtin(which) => {
                let types: SmallVec<[Type; 2]> = data.results.iter().map(|&r| func.ty(r)).collect();
                let results =
                    builtin::eval(*which, &frame.typed(&data.args), &types).ok_or_else(|| {
                        Error::new(format!("{} does not take these types", which.name()))
                    })?;
                for (&value, lanes) in data.results.iter().zip(&results) {
                    frame.set(value, lanes);
                }
                return Ok(());
            }
            Op::Deinterleave | Op::Interleave => {
                let operands = data.args.iter().flat_map(|&arg| frame.get(arg));
                let lanes: Vec<u64> = operands.copied().collect();
                let results = eval::turned(&data.op, data.args.len(), &lanes);
                let width = lanes.len() / data.args.len();
                for (&value, lanes) in data.results.iter().zip(results.chunks(width)) {
                    frame.set(value, lanes);
                }
                return Ok(());
            }
            Op::Routine(routine, format) => {
                let (args, rest) = data.args.split_at(routine.target(*format).arity());
                let &[elsewhere, mask] = rest else {
                    unreachable!("verified")
                };
                let mut lanes = Lanes::from_slice(frame.get(elsewhere));
                for (l, lane) in lanes.iter_mut().enumerate() {
                    if frame.get(mask)[l] != 0 {
                        let args: SmallVec<[u64; 2]> =
                            args.iter().map(|&a| frame.get(a)[l]).collect();
                        *lane = builtin::routine(routine.target(*format), &args);
                    }
                }
                lanes
            }
            Op::HostCall(HostFunction::Clock) => {
                Lanes::from_elem(self.options.budget - self.budget, 1)
            }
            Op::HostCall(HostFunction::MemMove) => {
                return self.mem_copy(frame, &data.args, None, 1, false);
            }
            Op::HostCall(function) => {
                let args: SmallVec<[u64; 4]> = data.args.iter().map(|&a| frame.get(a)[0]).collect();
                let bits = builtin::host_function(*function, &args)
                    .ok_or_else(|| Error::new("the function is the process's alone"))?;
                Lanes::from_elem(bits, 1)
            }
            Op::Printf { masked } => {
                self.printf(frame, inst, *masked);
                result(lanes_of(0))
            }
            Op::Device {
                what,
                block,
                masked,
            } => return self.device(frame, inst, *what, *block, *masked),
            Op::Collective { what, .. } => match collective(frame, *what, data) {
                Some(lanes) => lanes,
                None => return Ok(()),
            },
            Op::Fence(_) => return Ok(()),
            Op::ContextLoad(_) | Op::ContextStore(_) | Op::Carry => {
                return Err(Error::new("there is no barrier context here"));
            }
            Op::Load(_)
            | Op::Store(_)
            | Op::MemCopy { .. }
            | Op::MemCopyDyn { .. }
            | Op::AtomicRmw(..)
            | Op::AtomicCmpXchg(_)
            | Op::AtomicLoad(_)
            | Op::AtomicStore(_) => return self.access(frame, inst),
            Op::ImageRead(image) => return self.image_read(frame, inst, *image),
            Op::ImageWrite(image) => return self.image_write(frame, inst, *image),
            Op::ImageQuery(field) => return self.image_query(frame, inst, *field),
            op => eval::pure(op, &frame.typed(&data.args), func.ty(data.results[0]))
                .ok_or_else(|| Error::new("the operation is not known"))?,
        };
        frame.set(data.results[0], &value);
        Ok(())
    }

    /// Records a `printf` call: one, or one for each active lane of vectorized code.
    fn printf(&mut self, frame: &Frame<'_>, inst: Inst, masked: bool) {
        let data = &frame.func.insts[inst];
        let operands = data.args.len() - usize::from(masked);
        let mask = masked.then(|| frame.get(data.args[operands]));
        let width = data.results.first().map_or(1, |&r| frame.ty(r).lanes);
        let width = width.max(mask.map_or(1, |mask| mask.len() as u8));
        for lane in 0..usize::from(width) {
            if mask.is_some_and(|mask| mask[lane % mask.len()] == 0) {
                continue;
            }
            // Before `vectorize` an argument of several lanes is an OpenCL vector.
            let pick = |value: Value| -> (Type, Lanes) {
                let (ty, lanes) = (frame.ty(value), frame.get(value));
                if width == 1 || ty.is_scalar() {
                    (ty, Lanes::from_slice(lanes))
                } else {
                    (ty.lane(), Lanes::from_elem(lanes[lane], 1))
                }
            };
            let format = pick(data.args[0]).1[0];
            let args = data.args[1..operands].iter().map(|&arg| {
                let (ty, lanes) = pick(arg);
                let string = (ty.scalar == Scalar::Ptr).then(|| self.memory.string(lanes[0]));
                PrintfArg {
                    ty,
                    lanes,
                    string: string.flatten(),
                }
            });
            let call = PrintfCall {
                args: args.collect(),
                format: self.memory.string(format).unwrap_or_default(),
            };
            self.printf.push(call);
        }
    }
}

/// A collective of vectorized code: the lanes are the work-items. `None` if it has no result.
fn collective(frame: &Frame<'_>, what: Collective, data: &InstData) -> Option<Lanes> {
    let result = frame.ty(*data.results.first()?);
    let operand = |n: usize| (n < what.operands()).then(|| frame.get(data.args[n]));
    let mask = data.args.get(what.operands()).map(|&mask| frame.get(mask));
    let width = [operand(0), mask]
        .into_iter()
        .flatten()
        .map(<[u64]>::len)
        .next()
        .unwrap_or(usize::from(result.lanes));
    let spread = |lanes: Option<&[u64]>, missing: u64| -> Vec<u64> {
        (0..width)
            .map(|l| lanes.map_or(missing, |lanes| lanes[l % lanes.len()]))
            .collect()
    };
    let active: Vec<bool> = spread(mask, 1).iter().map(|&bit| bit != 0).collect();
    let scalar = data
        .args
        .first()
        .map_or(Scalar::I1, |&arg| frame.ty(arg).scalar);
    let results = evaluate(
        what,
        scalar,
        Grouping::Tree(width),
        &active,
        &spread(operand(0), 0),
        &spread(operand(1), 0),
    );
    if result.is_scalar() {
        let first = active.iter().position(|&a| a).unwrap_or(0);
        return Some(Lanes::from_elem(results[first], 1));
    }
    Some(Lanes::from_vec(results))
}

/// Says where an error happened.
fn at(error: Error, func: &Function, inst: Inst) -> Error {
    Error::new(format!(
        "{error}, at `{}` in function {:?}",
        func.display_inst(inst),
        func.name
    ))
}
