//! Scalar replacement of aggregates: which private memory can be promoted, and the slices that it
//! is divided into. The first half of `promote.rs`.
//!
//! Each element an access moves, and each end of a copy, is a *boundary* in its alloca. Boundaries
//! inside a copied range are carried over to the other side until both sides agree. Slices are the
//! ranges between neighbouring boundaries that some access covers; a range that no scalar has the
//! size of (the gap that a copy of a structure leaves) is divided further, at the next aligned
//! power of two.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::SecondaryMap;

use crate::ir::{Function, Inst, Op, Scalar, Value};

/// Copies of more bytes stay copies, and what they touch stays memory.
const MAX_COPY: u64 = 256;
/// Memory in more slices stays memory.
const MAX_SLICES: usize = 4096;
/// Rounds to carry boundaries over copies; memory whose boundaries still change after them stays.
const MAX_ROUNDS: usize = 16;

/// Index into [`Candidates::slices`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SliceId(pub u32);

/// Some bytes of an alloca that are always accessed as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub offset: u32,
    /// Its size is the scalar's.
    pub ty: Scalar,
}

/// What will be promoted.
pub(super) struct Candidates {
    pub slices: Vec<Slice>,
    /// Promoted allocas without slices: nothing reads or writes them.
    pub dead: Vec<Value>,
    allocas: Vec<Alloca>,
    /// The alloca that an address is in, and the byte offset there.
    addresses: SecondaryMap<Value, Option<(u32, u32)>>,
    promoted: SecondaryMap<Value, bool>,
}

struct Alloca {
    value: Value,
    size: u32,
    ok: bool,
    boundaries: BTreeSet<u32>,
    /// How often each range is accessed as which scalar.
    elements: BTreeMap<(u32, Scalar), u32>,
    /// Copied ranges, as start and end.
    copied: Vec<(u32, u32)>,
    /// Its slices: ids, in order of offset.
    ids: Vec<SliceId>,
    offsets: Vec<u32>,
}

impl Candidates {
    /// Where an address points, if into promoted memory.
    pub fn locate(&self, address: Value) -> Option<(u32, u32)> {
        self.addresses.get(address).copied().flatten()
    }

    pub fn is_promoted(&self, alloca: Value) -> bool {
        self.promoted[alloca]
    }

    /// The slices that make up a range.
    pub fn covering(&self, alloca: u32, offset: u32, bytes: u32) -> &[SliceId] {
        let alloca = &self.allocas[alloca as usize];
        let first = alloca.offsets.partition_point(|&at| at < offset);
        let last = alloca.offsets.partition_point(|&at| at < offset + bytes);
        &alloca.ids[first..last]
    }

    /// Calls `f` for each slice an instruction reads (false) or writes (true); reads come first.
    pub fn accesses(&self, func: &Function, inst: Inst, mut f: impl FnMut(SliceId, bool)) {
        let data = &func.insts[inst];
        let mut each = |address: Value, bytes: u32, writes: bool| {
            if let Some((alloca, offset)) = self.locate(address) {
                for &id in self.covering(alloca, offset, bytes) {
                    f(id, writes);
                }
            }
        };
        match data.op {
            Op::Load(_) => each(data.args[0], bytes_of(func, &data.results), false),
            Op::Store(_) => each(data.args[0], bytes_of(func, &data.args[1..]), true),
            Op::MemCopy { size, .. } if size <= MAX_COPY => {
                each(data.args[1], size as u32, false);
                each(data.args[0], size as u32, true);
            }
            _ => {}
        }
    }
}

impl Scalar {
    /// The integer with this scalar's size in memory.
    pub(super) fn as_memory_int(self) -> Scalar {
        match self {
            Scalar::I1 => Scalar::I8,
            other => other.as_int(),
        }
    }
}

fn bytes_of(func: &Function, values: &[Value]) -> u32 {
    values.iter().map(|&v| func.ty(v).bytes()).sum()
}

/// A copy between two candidates.
struct Copy {
    to: (u32, u32),
    from: (u32, u32),
    size: u32,
}

/// Finds candidates and their slices. Every block is reachable.
pub(super) fn find(func: &Function) -> Candidates {
    let mut scan = Scan {
        func,
        allocas: Vec::new(),
        addresses: SecondaryMap::with_capacity(func.values.len()),
        copies: Vec::new(),
    };
    for block in func.reverse_post_order() {
        for &inst in &func.blocks[block].insts {
            scan.inst(inst);
        }
        func.blocks[block]
            .term
            .for_each_value(|value| scan.escape(value));
    }
    scan.propagate_boundaries();
    scan.finish()
}

struct Scan<'a> {
    func: &'a Function,
    allocas: Vec<Alloca>,
    addresses: SecondaryMap<Value, Option<(u32, u32)>>,
    copies: Vec<Copy>,
}

impl Scan<'_> {
    fn escape(&mut self, value: Value) {
        if let Some((alloca, _)) = self.addresses[value] {
            self.allocas[alloca as usize].ok = false;
        }
    }

    fn inst(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        match data.op {
            Op::Alloca { size, .. } => {
                self.addresses[data.results[0]] = Some((self.allocas.len() as u32, 0));
                self.allocas.push(Alloca {
                    value: data.results[0],
                    size,
                    ok: true,
                    boundaries: BTreeSet::new(),
                    elements: BTreeMap::new(),
                    copied: Vec::new(),
                    ids: Vec::new(),
                    offsets: Vec::new(),
                });
            }
            Op::PtrAdd => {
                let Some((alloca, offset)) = self.addresses[data.args[0]] else {
                    return;
                };
                let bytes = self.func.as_const(data.args[1]);
                let at = bytes.map(|bytes| u64::from(offset).wrapping_add(bytes));
                // An address past the end may be computed, and even come back; such code is left
                // alone.
                match at.and_then(|at| u32::try_from(at).ok()) {
                    Some(at) if at <= self.allocas[alloca as usize].size => {
                        self.addresses[data.results[0]] = Some((alloca, at));
                    }
                    _ => self.allocas[alloca as usize].ok = false,
                }
            }
            Op::Load(mem) if !mem.volatile && !mem.masked && mem.stride == 0 => {
                self.access(data.args[0], &data.results);
            }
            Op::Store(mem) if !mem.volatile && !mem.masked && mem.stride == 0 => {
                for &value in &data.args[1..] {
                    self.escape(value);
                }
                self.access(data.args[0], &data.args[1..]);
            }
            Op::MemCopy {
                size,
                volatile: false,
                masked: false,
                ..
            } if size <= MAX_COPY => self.copy(data.args[0], data.args[1], size as u32),
            _ => {
                for &arg in &data.args {
                    self.escape(arg);
                }
            }
        }
    }

    fn access(&mut self, address: Value, values: &[Value]) {
        let Some((alloca, mut offset)) = self.addresses[address] else {
            return;
        };
        let alloca = &mut self.allocas[alloca as usize];
        for &value in values {
            let ty = self.func.ty(value);
            for _ in 0..ty.lanes {
                let end = offset + ty.scalar.bytes();
                if end > alloca.size {
                    alloca.ok = false;
                    return;
                }
                alloca.boundaries.extend([offset, end]);
                *alloca.elements.entry((offset, ty.scalar)).or_default() += 1;
                offset = end;
            }
        }
    }

    fn copy(&mut self, dst: Value, src: Value, size: u32) {
        for address in [dst, src] {
            if let Some((alloca, offset)) = self.addresses[address] {
                let alloca = &mut self.allocas[alloca as usize];
                if offset + size > alloca.size {
                    alloca.ok = false;
                } else {
                    alloca.boundaries.extend([offset, offset + size]);
                    alloca.copied.push((offset, offset + size));
                }
            }
        }
        if let (Some(to), Some(from)) = (self.addresses[dst], self.addresses[src]) {
            self.copies.push(Copy { to, from, size });
        }
    }

    /// Carries boundaries over copies until both sides of each have the same.
    fn propagate_boundaries(&mut self) {
        for round in 0.. {
            for alloca in &mut self.allocas {
                if alloca.ok {
                    split_gaps(alloca);
                }
            }
            let mut changed = Vec::new();
            for copy in &self.copies {
                let (to, to_offset) = copy.to;
                let (from, from_offset) = copy.from;
                if !self.allocas[to as usize].ok || !self.allocas[from as usize].ok {
                    continue;
                }
                let inside = |alloca: &Alloca, offset: u32| -> Vec<u32> {
                    let range = alloca.boundaries.range(offset..offset + copy.size);
                    range.map(|&at| at - offset).collect()
                };
                let bounds_to = inside(&self.allocas[to as usize], to_offset);
                let bounds_from = inside(&self.allocas[from as usize], from_offset);
                if bounds_to != bounds_from {
                    changed.extend([to, from]);
                    let to = &mut self.allocas[to as usize].boundaries;
                    to.extend(bounds_from.iter().map(|at| at + to_offset));
                    let from = &mut self.allocas[from as usize].boundaries;
                    from.extend(bounds_to.iter().map(|at| at + from_offset));
                }
            }
            if changed.is_empty() {
                return;
            }
            if round == MAX_ROUNDS {
                // What still changes, and what is copied to or from it, stays memory. The others
                // have reached the fixed point: boundaries only grow.
                for id in changed {
                    self.allocas[id as usize].ok = false;
                }
                return;
            }
        }
    }

    fn finish(mut self) -> Candidates {
        let mut slices = Vec::new();
        let mut promoted: SecondaryMap<Value, bool> = SecondaryMap::new();
        promoted.resize(self.func.values.len());
        let mut dead = Vec::new();
        for alloca in &mut self.allocas {
            if !alloca.ok || alloca.boundaries.len() > MAX_SLICES {
                alloca.ok = false;
                continue;
            }
            let Some(found) = slices_of(alloca) else {
                alloca.ok = false;
                continue;
            };
            promoted[alloca.value] = true;
            if found.is_empty() {
                dead.push(alloca.value);
            }
            for slice in found {
                alloca.ids.push(SliceId(slices.len() as u32));
                alloca.offsets.push(slice.offset);
                slices.push(slice);
            }
        }
        for address in self.addresses.values_mut() {
            if address.is_some_and(|(alloca, _)| !self.allocas[alloca as usize].ok) {
                *address = None;
            }
        }
        Candidates {
            slices,
            dead,
            allocas: self.allocas,
            addresses: self.addresses,
            promoted,
        }
    }
}

/// The largest scalar size for a range of bytes that starts at `offset`.
fn step(offset: u32, bytes: u32) -> u32 {
    let aligned = if offset == 0 {
        8
    } else {
        1 << offset.trailing_zeros().min(3)
    };
    let fits = 1 << bytes.ilog2().min(3);
    aligned.min(fits)
}

/// Adds boundaries where the range between two is not the size of a scalar: parts of elements that
/// overlap, and gaps of copied structures.
fn split_gaps(alloca: &mut Alloca) {
    let mut added = Vec::new();
    let bounds: Vec<u32> = alloca.boundaries.iter().copied().collect();
    for pair in bounds.windows(2) {
        let (mut at, end) = (pair[0], pair[1]);
        let untouched = end - at > 8 && alloca.copied.is_empty();
        if untouched || matches!(end - at, 1 | 2 | 4 | 8) {
            continue;
        }
        while at < end && added.len() <= MAX_SLICES {
            at += step(at, end - at);
            added.push(at);
        }
    }
    // Not all may have been found.
    if added.len() > MAX_SLICES {
        alloca.ok = false;
        return;
    }
    alloca.boundaries.extend(added);
}

/// The slices between boundaries that an access or copy covers; `None` when some cannot be a
/// scalar.
fn slices_of(alloca: &Alloca) -> Option<Vec<Slice>> {
    let mut covered: Vec<(u32, u32)> = alloca.copied.clone();
    covered.extend(
        alloca
            .elements
            .keys()
            .map(|&(at, scalar)| (at, at + scalar.bytes())),
    );
    covered.sort_unstable();
    let mut slices = Vec::new();
    let bounds: Vec<u32> = alloca.boundaries.iter().copied().collect();
    let mut next = 0;
    let mut reach = 0;
    for pair in bounds.windows(2) {
        let (at, end) = (pair[0], pair[1]);
        while next < covered.len() && covered[next].0 <= at {
            reach = reach.max(covered[next].1);
            next += 1;
        }
        if reach < end {
            continue;
        }
        if !matches!(end - at, 1 | 2 | 4 | 8) {
            return None;
        }
        slices.push(Slice {
            offset: at,
            ty: slice_type(alloca, at, end - at),
        });
    }
    Some(slices)
}

/// The scalar a slice is mostly accessed as; an integer when it is only ever part of something.
fn slice_type(alloca: &Alloca, offset: u32, bytes: u32) -> Scalar {
    let at = alloca
        .elements
        .range((offset, Scalar::I1)..=(offset, Scalar::Ptr));
    let same_size = at.filter(|((_, scalar), _)| scalar.bytes() == bytes);
    let all: Vec<(Scalar, u32)> = same_size.map(|(&(_, s), &n)| (s, n)).collect();
    let only_truth = all.iter().all(|&(s, _)| s == Scalar::I1);
    let whole = |s: Scalar| s != Scalar::I1 || only_truth && alloca.copied.is_empty();
    let best = all
        .iter()
        .filter(|&&(s, _)| whole(s))
        .max_by_key(|&&(_, n)| n);
    match best {
        Some(&(scalar, _)) => scalar,
        None => Scalar::int(bytes * 8).unwrap_or(Scalar::I8),
    }
}
