//! The arithmetic of rectangular regions.
//!
//! A region is `[width in bytes, height in rows, depth in slices]`. See "Reading, Writing and
//! Copying Buffer Objects" for the formulas and "Checking for Memory Copy Overlap" for the last
//! function.

use brolga_engine::error::{CLResult, ClError};

/// Origin and pitches of one side of a rectangular transfer, bytes; a pitch of 0 means tight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RectSide {
    pub origin: [usize; 3],
    pub row_pitch: usize,
    pub slice_pitch: usize,
}

/// One side of a transfer, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RectLayout {
    /// Bytes from the start of the memory to the region's first byte.
    pub(crate) offset: usize,
    pub(crate) row_pitch: usize,
    pub(crate) slice_pitch: usize,
    /// Bytes from the start of the memory to just after the region's last byte.
    pub(crate) end: usize,
}

impl RectSide {
    /// Fills in default pitches and computes where the region lies.
    ///
    /// Errors: `CL_INVALID_VALUE` for an empty region, pitches too small for it, or one that no
    /// address space holds.
    pub(crate) fn layout(&self, region: [usize; 3]) -> CLResult<RectLayout> {
        // CL_INVALID_VALUE if any region array element is 0.
        if region.contains(&0) {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_VALUE if row_pitch is not 0 and is less than region[0].
        let row_pitch = match self.row_pitch {
            0 => region[0],
            pitch if pitch < region[0] => return Err(ClError::INVALID_VALUE),
            pitch => pitch,
        };
        let slice = region[1]
            .checked_mul(row_pitch)
            .ok_or(ClError::INVALID_VALUE)?;
        // CL_INVALID_VALUE if slice_pitch is not 0 and is less than region[1] x row_pitch, or is
        // not a multiple of row_pitch.
        let slice_pitch = match self.slice_pitch {
            0 => slice,
            pitch if pitch < slice || pitch % row_pitch != 0 => return Err(ClError::INVALID_VALUE),
            pitch => pitch,
        };
        let at = |x: usize, y: usize, z: usize| {
            let rows = y.checked_mul(row_pitch)?;
            z.checked_mul(slice_pitch)?
                .checked_add(rows)?
                .checked_add(x)
        };
        let [x, y, z] = self.origin;
        let offset = at(x, y, z).ok_or(ClError::INVALID_VALUE)?;
        let extent = at(region[0], region[1] - 1, region[2] - 1);
        let end = extent.and_then(|extent| offset.checked_add(extent));
        Ok(RectLayout {
            offset,
            row_pitch,
            slice_pitch,
            end: end.ok_or(ClError::INVALID_VALUE)?,
        })
    }
}

/// Whether two regions of the same size and pitches, `source` and `destination` bytes into one
/// memory, share a byte. The pitches must be equal.
pub(crate) fn overlap(source: &RectLayout, destination: &RectLayout, region: [usize; 3]) -> bool {
    debug_assert_eq!(source.row_pitch, destination.row_pitch);
    debug_assert_eq!(source.slice_pitch, destination.slice_pitch);
    if source.end <= destination.offset || destination.end <= source.offset {
        return false;
    }
    // The two differ by `apart` bytes = dz slices + dy rows + dx bytes. They share a byte when some
    // byte of one, displaced, falls into the other; the displacement's digits wrap at most once in
    // each dimension.
    let apart = source.offset.abs_diff(destination.offset);
    let (row, slice) = (source.row_pitch, source.slice_pitch);
    let digits = |apart: usize| (apart % slice % row, apart % slice / row, apart / slice);
    let (dx, dy, dz) = digits(apart);
    let rows = slice / row;
    let hits = |dx: usize, dy: usize, dz: usize| dx < region[0] && dy < region[1] && dz < region[2];
    // Direct, or with x going backwards from the next row, y backwards from the next slice.
    let x_back = row - dx;
    let next_row = |back: usize, dy: usize, dz: usize| {
        // x displaced by -back, which needs |back| < width, and y by dy + 1 (which may carry into
        // z).
        let (y, z) = if dy + 1 == rows {
            (0, dz + 1)
        } else {
            (dy + 1, dz)
        };
        let y_back = if y == 0 { rows } else { rows - y };
        back < region[0]
            && (y < region[1] && z < region[2] || y_back < region[1] && z + 1 < region[2])
    };
    hits(dx, dy, dz)
        || dy > 0 && dx < region[0] && rows - dy < region[1] && dz + 1 < region[2]
        || dx > 0 && next_row(x_back, dy, dz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_pitches_are_tight() {
        let side = RectSide {
            origin: [1, 2, 3],
            ..RectSide::default()
        };
        let layout = side.layout([4, 5, 6]).unwrap();
        assert_eq!(layout.row_pitch, 4);
        assert_eq!(layout.slice_pitch, 20);
        assert_eq!(layout.offset, 3 * 20 + 2 * 4 + 1);
        assert_eq!(layout.end, layout.offset + 5 * 20 + 4 * 4 + 4);
    }

    #[test]
    fn bad_shapes_are_refused() {
        let with = |row_pitch, slice_pitch| RectSide {
            origin: [0; 3],
            row_pitch,
            slice_pitch,
        };
        let invalid = Err(ClError::INVALID_VALUE);
        assert_eq!(with(0, 0).layout([0, 1, 1]), invalid);
        assert_eq!(with(3, 0).layout([4, 1, 1]), invalid);
        assert_eq!(with(4, 7).layout([4, 2, 1]), invalid);
        assert_eq!(with(4, 9).layout([4, 2, 1]), invalid);
        assert_eq!(with(0, 0).layout([usize::MAX, 2, 1]), invalid);
        let far = RectSide {
            origin: [0, usize::MAX, 0],
            ..RectSide::default()
        };
        assert_eq!(far.layout([2, 1, 1]), invalid);
    }

    /// Compares with marking every byte.
    #[test]
    fn overlap_agrees_with_brute_force() {
        let bytes = |layout: &RectLayout, region: [usize; 3]| {
            let mut set = std::collections::BTreeSet::new();
            for z in 0..region[2] {
                for y in 0..region[1] {
                    for x in 0..region[0] {
                        set.insert(
                            layout.offset + z * layout.slice_pitch + y * layout.row_pitch + x,
                        );
                    }
                }
            }
            set
        };
        let mut checked = 0;
        for region in [[1, 1, 1], [3, 2, 2], [4, 3, 1], [2, 3, 3], [4, 3, 2]] {
            for row_pitch in [4, 5] {
                for slice_pitch in [row_pitch * 3, row_pitch * 4] {
                    for first in 0..30 {
                        for second in 0..60 {
                            let side = |offset| RectSide {
                                origin: [offset, 0, 0],
                                row_pitch,
                                slice_pitch,
                            };
                            let a = side(first).layout(region).unwrap();
                            let b = side(second).layout(region).unwrap();
                            let shared = !bytes(&a, region).is_disjoint(&bytes(&b, region));
                            assert_eq!(overlap(&a, &b, region), shared, "{a:?} {b:?} {region:?}");
                            checked += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(checked, 5 * 2 * 2 * 30 * 60);
    }
}
