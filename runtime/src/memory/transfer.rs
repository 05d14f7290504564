//! Copies and fills, divisible so that several threads share a large one.

use std::ops::Range;
use std::sync::Arc;

use brolga_engine::Event;
use brolga_engine::chunks::WorkShape;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::work::{Runner, TraceInfo, Work};
use brolga_host::notice;
use serde_json::json;
use smallvec::SmallVec;

use crate::fault;
use crate::memory::host::HostPtr;
use crate::memory::rect::RectLayout;

/// Bytes in a unit of work.
const BLOCK: usize = 256 << 10;
/// Bytes that are worth another thread.
const BYTES_PER_THREAD: usize = 512 << 10;
/// Bytes that stay in the nearest cache while they are copied over and over.
const PIECE: usize = 16 << 10;
/// Bytes moved in a nanosecond, about: for the guess of how long a transfer takes.
const BYTES_PER_NANOSECOND: usize = 8;

/// Moves bytes. The code that makes one has checked that the addresses hold as many bytes as it
/// says.
#[derive(Debug)]
pub(crate) enum Transfer {
    Copy {
        destination: HostPtr,
        source: HostPtr,
        size: usize,
    },
    /// The layouts' offsets are relative to the pointers. Made by [`Transfer::rect`].
    Rect {
        destination: (HostPtr, RectLayout),
        source: (HostPtr, RectLayout),
        region: [usize; 3],
    },
    /// `pattern` is 1 to 128 bytes and divides `size`.
    Fill {
        destination: HostPtr,
        size: usize,
        pattern: SmallVec<[u8; 16]>,
    },
    /// `pattern` divides the length of a row. Made by [`Transfer::fill_rect`].
    FillRect {
        destination: (HostPtr, RectLayout),
        region: [usize; 3],
        pattern: SmallVec<[u8; 16]>,
    },
}

/// Joins rows that lie end to end on all sides, and then slices that do.
fn join_rows(mut region: [usize; 3], sides: &mut [&mut RectLayout]) -> [usize; 3] {
    if sides.iter().all(|side| side.row_pitch == region[0]) {
        region = [region[0] * region[1], 1, region[2]];
    }
    if region[1] == 1 {
        // A slice is a row now, so slices are what the rows are.
        region = [region[0], region[2], 1];
        for side in sides.iter_mut() {
            side.row_pitch = side.slice_pitch;
        }
        if sides.iter().all(|side| side.row_pitch == region[0]) {
            region = [region[0] * region[1], 1, 1];
        }
    }
    region
}

impl Transfer {
    /// Copies a rectangular region, in as few rows as it can be cut into.
    pub(crate) fn rect(
        mut destination: (HostPtr, RectLayout),
        mut source: (HostPtr, RectLayout),
        region: [usize; 3],
    ) -> Transfer {
        let region = join_rows(region, &mut [&mut destination.1, &mut source.1]);
        match region {
            [size, 1, 1] => Transfer::Copy {
                destination: destination.0.offset(destination.1.offset),
                source: source.0.offset(source.1.offset),
                size,
            },
            _ => Transfer::Rect {
                destination,
                source,
                region,
            },
        }
    }

    /// Fills a rectangular region with a pattern that divides the length of a row.
    pub(crate) fn fill_rect(
        mut destination: (HostPtr, RectLayout),
        region: [usize; 3],
        pattern: SmallVec<[u8; 16]>,
    ) -> Transfer {
        let region = join_rows(region, &mut [&mut destination.1]);
        match region {
            [size, 1, 1] => Transfer::Fill {
                destination: destination.0.offset(destination.1.offset),
                size,
                pattern,
            },
            _ => Transfer::FillRect {
                destination,
                region,
                pattern,
            },
        }
    }
}

/// Whether two ranges of equal length share a byte.
fn overlapping(a: HostPtr, b: HostPtr, size: usize) -> bool {
    a.addr().abs_diff(b.addr()) < size
}

impl Transfer {
    /// How many bytes it moves.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Transfer::Copy { size, .. } | Transfer::Fill { size, .. } => *size,
            Transfer::Rect { region, .. } | Transfer::FillRect { region, .. } => {
                region.iter().fold(1, |all, &one| all.saturating_mul(one))
            }
        }
    }

    /// How the transfer may be shared.
    fn shape(&self) -> WorkShape {
        let bytes = self.bytes();
        let estimate = (bytes / BYTES_PER_NANOSECOND) as u64;
        let threads = (bytes / BYTES_PER_THREAD).clamp(1, u32::MAX as usize) as u32;
        let (units, min_chunk) = match self {
            // Pieces of an overlapping copy would have to be done in order.
            Transfer::Copy {
                destination,
                source,
                size,
            } if overlapping(*destination, *source, *size) => {
                return WorkShape {
                    estimate,
                    ..WorkShape::SINGLE
                };
            }
            Transfer::Copy { size, .. } => (size.div_ceil(BLOCK).max(1), 1),
            Transfer::Fill { size, pattern, .. } => (size.div_ceil(fill_block(pattern)).max(1), 1),
            Transfer::Rect { region, .. } | Transfer::FillRect { region, .. } => {
                (region[1] * region[2], (BLOCK / region[0]).max(1))
            }
        };
        WorkShape {
            units: units as u64,
            threads,
            min_chunk: min_chunk as u64,
            estimate,
            is_guess: false,
        }
    }

    /// Moves the units `begin..end`.
    fn run(&self, begin: u64, end: u64) {
        let (begin, end) = (begin as usize, end as usize);
        match self {
            Transfer::Copy {
                destination,
                source,
                size,
            } => {
                let (from, to) = match overlapping(*destination, *source, *size) {
                    true => (0, *size),
                    false => (begin * BLOCK, (end * BLOCK).min(*size)),
                };
                let target = destination.offset(from).as_ptr();
                // SAFETY: `size` bytes are valid at both addresses (checked where the transfer was
                // made, vouched for by `HostPtr::new`); `copy` allows overlap.
                unsafe { std::ptr::copy(source.offset(from).as_ptr(), target, to - from) };
            }
            Transfer::Rect {
                destination,
                source,
                region,
            } => {
                for row in begin..end {
                    let (to, from) = (
                        row_at(destination, region, row),
                        row_at(source, region, row),
                    );
                    // SAFETY: the row lies inside both regions, which were checked against the
                    // memory they are in.
                    unsafe { std::ptr::copy(from, to, region[0]) };
                }
            }
            Transfer::FillRect {
                destination,
                region,
                pattern,
            } => {
                let first = row_at(destination, region, begin);
                for row in begin..end {
                    let to = row_at(destination, region, row);
                    // Copying is less work than repeating the pattern, as long as the row that is
                    // copied stays in the nearest cache.
                    let is_copy = row != begin && region[0] <= PIECE && pattern.len() > 1;
                    // SAFETY: both rows lie inside the region, as above, and rows of a region do
                    // not overlap.
                    unsafe {
                        match is_copy {
                            true => std::ptr::copy_nonoverlapping(first, to, region[0]),
                            false => fill(to, region[0], pattern),
                        }
                    }
                }
            }
            Transfer::Fill {
                destination,
                size,
                pattern,
            } => {
                let block = fill_block(pattern);
                let from = begin * block;
                let to = (end * block).min(*size);
                // SAFETY: `size` bytes are valid at the address, as above.
                unsafe { fill(destination.offset(from).as_ptr(), to - from, pattern) };
            }
        }
    }
}

/// The first byte of a row of a region.
fn row_at(side: &(HostPtr, RectLayout), region: &[usize; 3], row: usize) -> *mut u8 {
    let (pointer, layout) = side;
    let (y, z) = (row % region[1], row / region[1]);
    let offset = layout.offset + z * layout.slice_pitch + y * layout.row_pitch;
    pointer.offset(offset).as_ptr()
}

/// Bytes in a unit of a fill: a multiple of the pattern, so that each starts with its first byte.
fn fill_block(pattern: &[u8]) -> usize {
    BLOCK / pattern.len() * pattern.len()
}

/// Repeats `pattern` over `size` bytes.
///
/// # Safety
/// `size` bytes must be writable at `destination`.
unsafe fn fill(destination: *mut u8, size: usize, pattern: &[u8]) {
    debug_assert_eq!(size % pattern.len(), 0);
    if let [byte] = pattern {
        // SAFETY: the caller's.
        unsafe { destination.write_bytes(*byte, size) };
        return;
    }
    if size == 0 {
        return;
    }
    let most = PIECE / pattern.len() * pattern.len();
    // SAFETY: the pattern divides the size, so it fits; then what is there is doubled, up to a
    // piece that stays in the nearest cache, always inside `size` bytes and never overlapping. A
    // piece is a multiple of the pattern.
    unsafe {
        std::ptr::copy_nonoverlapping(pattern.as_ptr(), destination, pattern.len());
        let mut done = pattern.len();
        while done < size {
            let piece = done.min(most).min(size - done);
            std::ptr::copy_nonoverlapping(destination, destination.add(done), piece);
            done += piece;
        }
    }
}

impl Work<Event> for Transfer {
    fn runner(&self) -> Runner {
        match self.bytes() {
            0 => Runner::Finder,
            _ => Runner::Any,
        }
    }

    fn shape(&self) -> WorkShape {
        Transfer::shape(self)
    }

    fn run(&self, event: Option<&Arc<Event>>, units: Range<u64>) -> CLResult<()> {
        fault::guard(&|| Transfer::run(self, units.start, units.end)).map_err(|address| {
            let message = format!("a transfer found no memory at address {address:#x}");
            notice(format_args!("{message}"));
            if let Some(event) = event {
                event.lane().domain().report(&message);
            }
            ClError::OUT_OF_RESOURCES
        })
    }

    fn trace_info(&self) -> TraceInfo<'_> {
        TraceInfo {
            pieces: Some(("transfer", "transfer".into())),
            details: json!({ "bytes": self.bytes() }),
            ..TraceInfo::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(bytes: &mut [u8]) -> HostPtr {
        // SAFETY: used only while `bytes` lives, and within it.
        unsafe { HostPtr::new(bytes.as_mut_ptr()) }
    }

    /// Runs a transfer unit by unit, or all units at once.
    fn run_in(transfer: &Transfer, at_once: bool) {
        let units = transfer.shape().units;
        if at_once {
            return transfer.run(0, units);
        }
        for unit in (0..units).rev() {
            transfer.run(unit, unit + 1);
        }
    }

    fn run(transfer: &Transfer) {
        run_in(transfer, false);
    }

    #[test]
    fn copies_in_any_order_of_blocks() {
        let size = 3 * BLOCK + 17;
        let mut source: Vec<u8> = (0..size).map(|i| (i * 7 % 251) as u8).collect();
        let mut destination = vec![0; size];
        run(&Transfer::Copy {
            destination: pointer(&mut destination),
            source: pointer(&mut source),
            size,
        });
        assert!(source == destination);
    }

    #[test]
    fn overlapping_copies_are_one_unit() {
        let mut bytes: Vec<u8> = (0..200).collect();
        let base = pointer(&mut bytes);
        let transfer = Transfer::Copy {
            destination: base.offset(10),
            source: base,
            size: 100,
        };
        assert_eq!(transfer.shape().units, 1);
        run(&transfer);
        assert!(bytes[10..110].iter().copied().eq(0..100));
    }

    /// Every gap between rows and slices, and none: what is joined moves the same bytes.
    #[test]
    fn rectangles_with_every_gap() {
        let region = [6, 3, 2];
        let gaps = [(0, 0), (0, 12), (3, 0), (3, 5)];
        for ((row_gap, slice_gap), at_once) in
            gaps.into_iter().flat_map(|it| [(it, false), (it, true)])
        {
            let row_pitch = region[0] + row_gap;
            let layout = RectLayout {
                offset: 7,
                row_pitch,
                slice_pitch: row_pitch * region[1] + slice_gap,
                end: 0,
            };
            let tight = RectLayout {
                offset: 0,
                row_pitch: region[0],
                slice_pitch: region[0] * region[1],
                end: 0,
            };
            let mut source: Vec<u8> = (0..region.iter().product::<usize>() as u8).collect();
            let (mut copied, mut filled) = (vec![0xff; 99], vec![0xff; 99]);
            let (to, from) = (pointer(&mut copied), pointer(&mut source));
            run_in(
                &Transfer::rect((to, layout), (from, tight), region),
                at_once,
            );
            let pattern = SmallVec::from_slice(&[1, 2, 3]);
            let to = (pointer(&mut filled), layout);
            run_in(&Transfer::fill_rect(to, region, pattern), at_once);
            let (mut expected, mut pattern) = (vec![0xff; 99], vec![0xff; 99]);
            for (n, &byte) in source.iter().enumerate() {
                let (x, y, z) = (n % 6, n / 6 % 3, n / 18);
                let at = 7 + z * layout.slice_pitch + y * row_pitch + x;
                (expected[at], pattern[at]) = (byte, x as u8 % 3 + 1);
            }
            assert_eq!(copied, expected, "gaps {row_gap} {slice_gap}");
            assert_eq!(filled, pattern, "gaps {row_gap} {slice_gap}");
        }
    }

    #[test]
    fn fills_with_every_pattern_size() {
        for length in [1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128] {
            let pattern: SmallVec<[u8; 16]> = (0..length).map(|i| i as u8 + 1).collect();
            let size = length * (BLOCK * 2 / length + 3);
            let mut bytes = vec![0; size + 1];
            run(&Transfer::Fill {
                destination: pointer(&mut bytes),
                size,
                pattern: pattern.clone(),
            });
            assert!(
                bytes[..size]
                    .chunks(pattern.len())
                    .all(|chunk| chunk == &pattern[..])
            );
            assert_eq!(bytes[size], 0);
        }
    }
}
