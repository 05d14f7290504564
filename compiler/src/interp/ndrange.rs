//! An ND-range: work-groups one after another, the work-items of a group in turns between barriers.

use super::exec::{FrameLayout, Item, Stop};
use super::work_item::{Locals, WorkItem};
use super::{Error, Interpreter, SegmentId};
use crate::abi::SCRATCH_ALIGN;
use crate::device::Sequence;
use crate::ir::eval::Lanes;
use crate::ir::{Function, ParamSource, Type};
use crate::kernel_info::AddressSpace;
use crate::launch::NdRange;

/// What one kernel is run with.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    pub range: NdRange,
    /// The argument block, as [`crate::abi`] describes it.
    pub args: &'a [u8],
    /// Bytes of work-group memory, the kernel's own variables first, then `local` arguments.
    pub local_mem_size: u64,
    /// Work-items of a sub-group, for the queries that ask.
    pub sub_group_size: u64,
}

/// A work-item of a group that runs.
pub(super) struct Member<'f> {
    pub local: [u64; 3],
    pub linear: u64,
    pub item: Item<'f>,
    /// Where it last stopped.
    pub stop: Option<Stop>,
}

/// Every point of a box, x fastest.
fn points(size: [u64; 3]) -> impl Iterator<Item = [u64; 3]> {
    (0..size[2])
        .flat_map(move |z| (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| [x, y, z])))
}

impl<'m> Interpreter<'m> {
    /// Runs a function as a kernel over an ND-range, and what it enqueues; `params` says where its
    /// parameters come from.
    ///
    /// # Errors
    /// What stopped it. The memory is left as it was then.
    pub fn run_function(
        &mut self,
        func: &Function,
        params: &[ParamSource],
        launch: &Launch<'_>,
    ) -> Result<(), Error> {
        self.enqueued = Sequence::new(launch.sub_group_size);
        self.run_range(func, params, launch)?;
        self.run_enqueued(launch.sub_group_size)
    }

    /// Runs one launch.
    pub(super) fn run_range(
        &mut self,
        func: &Function,
        params: &[ParamSource],
        launch: &Launch<'_>,
    ) -> Result<(), Error> {
        let range = &launch.range;
        let sizes = range.local_size.iter().chain(&range.global_size);
        if sizes.clone().any(|&size| size == 0) || launch.sub_group_size == 0 {
            return Err(Error::new("an empty ND-range or sub-group"));
        }
        self.checks.reset();
        // The block is what a structure passed by value points into, so it stays readable.
        let block = self
            .memory
            .add("argument block", launch.args.to_vec(), SCRATCH_ALIGN);
        self.memory.set_read_only(block);
        let locals = Locals::new(self.module, func);
        let local_size = locals.size.max(launch.local_mem_size);
        let groups = std::array::from_fn(|d| range.global_size[d].div_ceil(range.local_size[d]));
        let mut result = Ok(());
        for (linear, group) in points(groups).enumerate() {
            let local = self.memory.add_uninitialised(
                "work-group memory",
                AddressSpace::Local,
                usize::try_from(local_size).unwrap_or(usize::MAX),
                SCRATCH_ALIGN,
                self.checks.enabled,
            );
            let first = WorkItem {
                range,
                group,
                local: [0; 3],
                local_size: std::array::from_fn(|d| {
                    let begin = group[d] * range.local_size[d];
                    range.local_size[d].min(range.global_size[d] - begin)
                }),
                sub_group_size: launch.sub_group_size,
                local_base: self.memory.base(local),
                locals: &locals,
            };
            result = self
                .parameters(func, params, block, first.local_base)
                .and_then(|args| self.run_group(func, &args, first, linear as u32));
            self.memory.remove(local);
            if result.is_err() {
                break;
            }
        }
        self.memory.remove(block);
        self.checks.now = None;
        result
    }

    /// The lanes of each parameter.
    fn parameters(
        &self,
        func: &Function,
        params: &[ParamSource],
        block: SegmentId,
        local_base: u64,
    ) -> Result<Vec<Lanes>, Error> {
        if params.len() != func.params().len() {
            return Err(Error::new("a parameter without a source, or the reverse"));
        }
        let base = self.memory.base(block);
        let read = |offset: u32, ty: Type| -> Result<Lanes, Error> {
            let size = u64::from(ty.bytes());
            let bytes = self
                .memory
                .read("argument", base + u64::from(offset), size)?;
            let lanes = bytes.chunks(ty.scalar.bytes() as usize).map(|chunk| {
                let mut lane = [0; 8];
                lane[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(lane) & ty.scalar.mask()
            });
            Ok(lanes.collect())
        };
        let lanes = params.iter().zip(func.params()).map(|(source, &param)| {
            Ok(match *source {
                ParamSource::Value { offset } => read(offset, func.ty(param))?,
                ParamSource::Address { offset } => Lanes::from_elem(base + u64::from(offset), 1),
                ParamSource::Local { offset } => {
                    Lanes::from_elem(local_base.wrapping_add(read(offset, Type::I64)?[0]), 1)
                }
            })
        });
        lanes.collect()
    }

    /// Runs one work-group: each work-item up to the next barrier, then all from there.
    fn run_group(
        &mut self,
        func: &Function,
        args: &[Lanes],
        first: WorkItem<'_>,
        group: u32,
    ) -> Result<(), Error> {
        let layout = FrameLayout::new(func);
        let mut waiting = Vec::new();
        for local in points(first.local_size) {
            let item = Item::new(func, layout.clone(), args)?;
            let (linear, stop) = (waiting.len() as u64, None);
            waiting.push(Member {
                local,
                linear,
                item,
                stop,
            });
        }
        let mut work = first;
        let mut epoch = 0;
        while !waiting.is_empty() {
            let started = waiting.len();
            let mut arrived = Vec::with_capacity(started);
            let mut place = None;
            let mut rest = waiting.into_iter().peekable();
            let mut sub_groups = Vec::new();
            while let Some(member) = rest.next() {
                let number = member.linear / work.sub_group_size;
                let mut members = vec![member];
                while let Some(next) =
                    rest.next_if(|next| next.linear / work.sub_group_size == number)
                {
                    members.push(next);
                }
                self.run_sub_group(&mut members, &mut work, (group, epoch))?;
                sub_groups.push(members);
            }
            loop {
                let released = self.pass_named_barriers(&mut sub_groups)?;
                if released.is_empty() {
                    break;
                }
                epoch += 1;
                for index in released {
                    self.run_sub_group(&mut sub_groups[index], &mut work, (group, epoch))?;
                }
            }
            // A barrier lets go when every work-item that has not ended is there.
            for member in sub_groups.into_iter().flatten() {
                if let Some(Stop::Barrier(at)) = member.stop {
                    if self.checks.enabled && *place.get_or_insert(at) != at {
                        return Err(Error::new("work-items of a group wait at two barriers"));
                    }
                    arrived.push(member);
                }
            }
            self.meet_all(&mut arrived)?;
            if self.checks.enabled && !arrived.is_empty() && arrived.len() != started {
                return Err(Error::new(
                    "some work-items of a group ended while others wait at a barrier",
                ));
            }
            waiting = arrived;
            epoch += 1;
        }
        Ok(())
    }
}
