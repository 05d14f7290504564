//! Memory as the interpreter sees it: segments of bytes at addresses, and nothing between them.

use std::collections::BTreeMap;

use super::Error;
use crate::kernel_info::AddressSpace;

/// Where addresses that the caller does not choose start: above every address a process can have,
/// so that segments with real addresses and assigned ones do not meet.
const ASSIGNED: u64 = 1 << 56;

/// Bytes left free between assigned segments, so that small overruns hit nothing.
const GAP: u64 = 4096;

/// A segment of a [`Memory`], for as long as it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SegmentId(u64);

#[derive(Clone, Debug)]
pub(super) struct Segment {
    name: String,
    space: AddressSpace,
    bytes: Vec<u8>,
    read_only: bool,
    /// For each byte whether it was ever written; empty when all are.
    pub(super) written: Vec<bool>,
}

/// Segments by base address; they do not overlap.
#[derive(Clone, Debug)]
pub struct Memory {
    segments: BTreeMap<u64, Segment>,
    next: u64,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            segments: BTreeMap::new(),
            next: ASSIGNED,
        }
    }
}

impl Memory {
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Adds a segment at an address of its own, a multiple of `align` (a power of two).
    pub fn add(&mut self, name: &str, bytes: Vec<u8>, align: u64) -> SegmentId {
        let base = self.next.next_multiple_of(align.max(1));
        self.next = base + (bytes.len() as u64).next_multiple_of(GAP) + GAP;
        self.insert(base, name, bytes)
    }

    /// Adds a segment at the address given, which may be where the host has the same bytes.
    ///
    /// # Errors
    /// If it would overlap another segment.
    pub fn add_at(&mut self, base: u64, name: &str, bytes: Vec<u8>) -> Result<SegmentId, Error> {
        let end = base.checked_add(bytes.len() as u64);
        let free = end.is_some_and(|end| {
            self.segments
                .range(..end.max(base + 1))
                .next_back()
                .is_none_or(|(&other, segment)| {
                    other + segment.bytes.len() as u64 <= base && other != base
                })
        });
        if free {
            Ok(self.insert(base, name, bytes))
        } else {
            Err(Error::new(format!(
                "segment {name:?} at {base:#x} overlaps another one"
            )))
        }
    }

    fn insert(&mut self, base: u64, name: &str, bytes: Vec<u8>) -> SegmentId {
        let segment = Segment {
            name: name.to_string(),
            space: AddressSpace::Global,
            bytes,
            read_only: false,
            written: Vec::new(),
        };
        self.segments.insert(base, segment);
        SegmentId(base)
    }

    /// Adds a segment of private or work-group memory, of which nothing is written yet. It reads as
    /// zeros where that is tolerated.
    pub(super) fn add_uninitialised(
        &mut self,
        name: &str,
        space: AddressSpace,
        size: usize,
        align: u64,
        track: bool,
    ) -> SegmentId {
        let id = self.add(name, vec![0; size], align);
        let segment = self.segment_mut(id);
        segment.space = space;
        if track {
            segment.written = vec![false; size];
        }
        id
    }

    /// The address space of what is at an address: global, unless it is known to be another.
    pub(super) fn space(&self, address: u64) -> AddressSpace {
        self.find(address, 1)
            .map_or(AddressSpace::Global, |(_, segment, _)| segment.space)
    }

    pub(super) fn set_read_only(&mut self, id: SegmentId) {
        self.segment_mut(id).read_only = true;
    }

    pub(super) fn remove(&mut self, id: SegmentId) {
        self.segments.remove(&id.0);
    }

    fn segment_mut(&mut self, id: SegmentId) -> &mut Segment {
        self.segments.get_mut(&id.0).expect("the segment is there")
    }

    /// The segment's address.
    pub fn base(&self, id: SegmentId) -> u64 {
        id.0
    }

    /// The segment's bytes.
    pub fn bytes(&self, id: SegmentId) -> &[u8] {
        &self.segments[&id.0].bytes
    }

    pub fn bytes_mut(&mut self, id: SegmentId) -> &mut [u8] {
        &mut self.segment_mut(id).bytes
    }

    /// The segment that `size` bytes at `address` lie in, and their offset in it.
    fn find(&self, address: u64, size: u64) -> Option<(SegmentId, &Segment, usize)> {
        let (&base, segment) = self.segments.range(..=address).next_back()?;
        let offset = address - base;
        let end = offset.checked_add(size)?;
        (end <= segment.bytes.len() as u64).then_some((SegmentId(base), segment, offset as usize))
    }

    /// Where an access goes that may not be in bounds: its segment and offset there.
    pub(super) fn locate(
        &self,
        what: &str,
        address: u64,
        size: u64,
    ) -> Result<(SegmentId, usize), Error> {
        match self.find(address, size) {
            Some((id, _, offset)) => Ok((id, offset)),
            None => Err(self.out_of_bounds(what, address, size)),
        }
    }

    fn out_of_bounds(&self, what: &str, address: u64, size: u64) -> Error {
        let near = match self.segments.range(..=address).next_back() {
            Some((base, segment)) if address - base < 1 << 20 => format!(
                "offset {} of {:?}, which has {} bytes",
                address - base,
                segment.name,
                segment.bytes.len()
            ),
            _ => "no segment is near".to_string(),
        };
        Error::new(format!(
            "{what} of {size} bytes at {address:#x} is out of bounds: {near}"
        ))
    }

    /// Reads bytes; `what` names the access in an error.
    pub fn read(&self, what: &str, address: u64, size: u64) -> Result<&[u8], Error> {
        match self.find(address, size) {
            Some((_, segment, offset)) => Ok(&segment.bytes[offset..offset + size as usize]),
            None => Err(self.out_of_bounds(what, address, size)),
        }
    }

    /// Writes bytes; `what` names the access in an error.
    pub fn write(&mut self, what: &str, address: u64, bytes: &[u8]) -> Result<(), Error> {
        let (id, offset) = self.locate(what, address, bytes.len() as u64)?;
        let segment = self.segment_mut(id);
        if segment.read_only {
            return Err(Error::new(format!(
                "{what} at {address:#x} writes to {:?}, which is read-only",
                segment.name
            )));
        }
        segment.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        if !segment.written.is_empty() {
            segment.written[offset..offset + bytes.len()].fill(true);
        }
        Ok(())
    }

    /// Copies bytes, and with them whether they were ever written.
    pub(super) fn copy(&mut self, what: &str, dst: u64, src: u64, size: u64) -> Result<(), Error> {
        let bytes = self.read(what, src, size)?.to_vec();
        self.write(what, dst, &bytes)?;
        let (from, from_at) = self.locate(what, src, size)?;
        let (to, to_at) = self.locate(what, dst, size)?;
        let size = size as usize;
        let written = &self.segments[&from.0].written;
        if !written.is_empty() {
            let written = written[from_at..from_at + size].to_vec();
            let target = &mut self.segment_mut(to).written;
            if !target.is_empty() {
                target[to_at..to_at + size].copy_from_slice(&written);
            }
        }
        Ok(())
    }

    /// Refuses bytes that were never written.
    pub(super) fn check_written(&self, what: &str, address: u64, size: u64) -> Result<(), Error> {
        let Some((_, segment, offset)) = self.find(address, size) else {
            return Ok(());
        };
        let bytes = segment.written.get(offset..offset + size as usize);
        match bytes.and_then(|bytes| bytes.iter().position(|written| !written)) {
            None => Ok(()),
            Some(at) => Err(Error::new(format!(
                "{what} at {address:#x} reads byte {} of {:?}, which was never written",
                offset + at,
                segment.name
            ))),
        }
    }

    /// The bytes at an address up to a NUL.
    pub fn string(&self, address: u64) -> Option<Vec<u8>> {
        let (_, segment, offset) = self.find(address, 1)?;
        let bytes = &segment.bytes[offset..];
        let end = bytes.iter().position(|&byte| byte == 0)?;
        Some(bytes[..end].to_vec())
    }
}
