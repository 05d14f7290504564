//! Collectives: work-items that wait for each other and exchange values.
//!
//! The work-items of a sub-group each run until they end, are at a barrier, or are at a collective
//! of the sub-group. Of the latter those at the least place
//! ([`Item::place`](super::exec::Item::place)) do the collective and run on; and so forth. So those
//! that part are together again as soon as their control flow meets. A collective of the work-group
//! is done when all are there, as at a barrier.

use std::collections::BTreeMap;

use super::checks::Stamp;
use super::exec::{Meeting, Stop};
use super::ndrange::Member;
use super::work_item::WorkItem;
use super::{Error, Interpreter};
use crate::ir::Scope;
use crate::ir::collective::{Grouping, evaluate};
use crate::ir::eval::Lanes;

impl<'m> Interpreter<'m> {
    /// Runs the work-items of a sub-group until each has ended or is at a barrier. `when` is the
    /// linear id of the group and the barriers it has passed.
    pub(super) fn run_sub_group<'f>(
        &mut self,
        members: &mut [Member<'f>],
        work: &mut WorkItem<'_>,
        when: (u32, u32),
    ) -> Result<(), Error>
    where
        'm: 'f,
    {
        for member in members.iter_mut() {
            self.run_member(member, work, when)?;
        }
        loop {
            let waiting = members.iter().enumerate();
            let places: Vec<(Vec<u32>, usize)> = waiting
                .filter(|(_, m)| matches!(m.stop, Some(Stop::SubGroup)))
                .map(|(i, m)| (m.item.place(), i))
                .collect();
            let Some((first, _)) = places.iter().min() else {
                return Ok(());
            };
            let here: Vec<usize> = places
                .iter()
                .filter(|(place, _)| place == first)
                .map(|&(_, i)| i)
                .collect();
            let width = work.sub_group_size;
            meet(members, &here, Grouping::Tree(width as usize), |member| {
                (member.linear % width) as usize
            })?;
            for i in here {
                self.run_member(&mut members[i], work, when)?;
            }
        }
    }

    fn run_member<'f>(
        &mut self,
        member: &mut Member<'f>,
        work: &mut WorkItem<'_>,
        (group, epoch): (u32, u32),
    ) -> Result<(), Error>
    where
        'm: 'f,
    {
        work.local = member.local;
        self.checks.now = Some(Stamp {
            group,
            epoch,
            item: member.linear as u32,
        });
        member.stop = Some(self.resume(&mut member.item, Some(work))?);
        Ok(())
    }

    /// Which sub-groups go on because enough of them are at their named barrier. Work-items that
    /// have ended are dropped.
    pub(super) fn pass_named_barriers(
        &mut self,
        sub_groups: &mut [Vec<Member<'_>>],
    ) -> Result<Vec<usize>, Error> {
        let mut waiting: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, members) in sub_groups.iter_mut().enumerate() {
            members.retain(|member| !matches!(member.stop, Some(Stop::Finished(_))));
            let record = |member: &Member<'_>| match member.stop {
                Some(Stop::Named(record)) => Some(record),
                _ => None,
            };
            let first = members.first().and_then(record);
            if members.iter().any(|member| record(member) != first) {
                return Err(Error::new("work-items of a sub-group wait at two barriers"));
            }
            if let Some(record) = first {
                waiting.entry(record).or_default().push(index);
            }
        }
        let mut released = Vec::new();
        for (&record, there) in &waiting {
            let bytes = self.memory.read("named barrier", record, 4)?;
            let count = bytes.try_into().map_or(0, u32::from_le_bytes) as usize;
            released.extend(there.chunks_exact(count.max(1)).flatten());
        }
        if released.is_empty() && !waiting.is_empty() {
            return Err(Error::new("too few sub-groups come to a named barrier"));
        }
        Ok(released)
    }

    /// Does the collective that the work-items of a group wait at, if it is one and not a barrier.
    pub(super) fn meet_all(&mut self, members: &mut [Member<'_>]) -> Result<(), Error> {
        let meeting = members.first().and_then(|member| member.item.meeting());
        if meeting.is_none_or(|meeting| meeting.scope != Scope::WorkGroup) {
            return Ok(());
        }
        let all: Vec<usize> = (0..members.len()).collect();
        meet(members, &all, Grouping::InOrder, |member| {
            member.linear as usize
        })
    }
}

/// Does the collective that the work-items `here` are at; `number` says which each is in its group.
fn meet(
    members: &mut [Member<'_>],
    here: &[usize],
    grouping: Grouping,
    number: impl Fn(&Member<'_>) -> usize,
) -> Result<(), Error> {
    let meetings: Vec<Meeting> = here
        .iter()
        .filter_map(|&i| members[i].item.meeting())
        .collect();
    let Some(Meeting { what, ty, .. }) = meetings.first() else {
        return Ok(());
    };
    if meetings.len() != here.len() || meetings.iter().any(|m| m.what != *what || m.ty != *ty) {
        return Err(Error::new("work-items of a group wait at two collectives"));
    }
    let count = members.iter().map(&number).max().map_or(0, |last| last + 1);
    let mut active = vec![false; count];
    let mut numbers = vec![0; count];
    let mut values = vec![vec![0; count]; usize::from(ty.lanes)];
    for &i in here {
        let at = number(&members[i]);
        let (lanes, named) = members[i].item.brings();
        active[at] = true;
        numbers[at] = named;
        for (values, &lane) in values.iter_mut().zip(&lanes) {
            values[at] = lane;
        }
    }
    // Lanes of a vector are combined each for itself.
    let results: Vec<Vec<u64>> = values
        .iter()
        .map(|values| evaluate(*what, ty.scalar, grouping, &active, values, &numbers))
        .collect();
    for &i in here {
        let at = number(&members[i]);
        let lanes: Lanes = results.iter().map(|lanes| lanes[at]).collect();
        members[i].item.takes(&lanes);
    }
    Ok(())
}
