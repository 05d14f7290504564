//! The index space of a launch: checked, and divided into work-groups.

use brolga_compiler::{KernelInfo, NdRange};

use crate::base::device::Device;
use brolga_engine::error::{CLResult, ClError};

/// Work-items of a work-group that outweigh the cost of starting one.
const GOOD_GROUP: u64 = 256;
/// Work-groups per thread that are enough for an even distribution.
const GROUPS_PER_THREAD: u64 = 8;
/// The fewest work-items per thread for which one vector is faster than a thread for each.
const FEWEST_LANES: u32 = 4;

/// What is known of a kernel when a launch is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits<'a> {
    pub(crate) device: &'a Device,
    pub(crate) info: &'a KernelInfo,
    /// Work-items per vector.
    pub(crate) width: u32,
    /// The preferred number of rows of a work-group, a power of two.
    pub(crate) rows: u32,
    pub(crate) allows_non_uniform: bool,
}

/// Most work-items of a work-group: as many as are required, or the device's limit.
pub(crate) fn max_group(limits: &Limits) -> usize {
    let limit = limits.device.max_work_group_size;
    match limits.info.required_work_group_size {
        Some(size) => size
            .iter()
            .fold(1usize, |all, &n| all.saturating_mul(n as usize))
            .min(limit),
        None => limit,
    }
}

/// Checks the arguments of a launch and completes them; `None` when the range is empty.
///
/// Slices have at least `work_dim` elements. Errors: `CL_INVALID_WORK_DIMENSION`,
/// `CL_INVALID_GLOBAL_OFFSET`, `CL_INVALID_GLOBAL_WORK_SIZE`, `CL_INVALID_WORK_GROUP_SIZE`,
/// `CL_INVALID_WORK_ITEM_SIZE`.
pub(crate) fn check(
    limits: &Limits,
    work_dim: u32,
    offset: Option<&[usize]>,
    global: Option<&[usize]>,
    local: Option<&[usize]>,
) -> CLResult<Option<NdRange>> {
    // CL_INVALID_WORK_DIMENSION if work_dim is not valid for the device associated with
    // command_queue ("Executing Kernels").
    if !(1..=3).contains(&work_dim) {
        return Err(ClError::INVALID_WORK_DIMENSION);
    }
    let dimensions = work_dim as usize;
    let full = |sizes: Option<&[usize]>, unused: u64| {
        let mut all = [unused; 3];
        for (to, &from) in all
            .iter_mut()
            .zip(sizes.into_iter().flatten().take(dimensions))
        {
            *to = from as u64;
        }
        all
    };
    let global_offset = full(offset, 0);
    // If the device is an OpenCL 2.1 or newer device, and global_work_size is NULL or the value in
    // any passed dimension is zero, then the kernel command will trivially succeed.
    let is_empty = global.is_none_or(|sizes| sizes.iter().take(dimensions).any(|&size| size == 0));
    let global_size = match is_empty {
        true => [0; 3],
        false => full(global, 1),
    };
    // CL_INVALID_GLOBAL_OFFSET if the value specified in global_work_size plus the corresponding
    // value in global_work_offset for any dimensions is greater than the maximum value
    // representable by size_t.
    if (0..3).any(|d| global_offset[d].checked_add(global_size[d]).is_none()) {
        return Err(ClError::INVALID_GLOBAL_OFFSET);
    }
    let required = limits
        .info
        .required_work_group_size
        .map(|size| size.map(u64::from));
    let local_size = match local {
        Some(sizes) => full(Some(sizes), 1),
        None if is_empty => return Ok(None),
        // "The work-group size to be used for kernel can also be specified in the program source."
        None => match (required, limits.info.required_num_sub_groups) {
            (Some(required), _) => required,
            (None, Some(count)) => [u64::from(count) * u64::from(limits.width), 1, 1],
            (None, None) => choose_local_size(limits, global_size),
        },
    };
    check_local_size(limits, required, local_size)?;
    if is_empty {
        return Ok(None);
    }
    // CL_INVALID_WORK_GROUP_SIZE if the work-group size must be uniform, and if the
    // global_work_size is not evenly divisible by the local_work_size.
    let uniform = (0..3).all(|d| global_size[d] % local_size[d] == 0);
    if !uniform && !limits.allows_non_uniform {
        return Err(ClError::INVALID_WORK_GROUP_SIZE);
    }
    // Work-groups are counted in 64 bits, and so are work-items.
    let items = global_size
        .iter()
        .try_fold(1u64, |all, &size| all.checked_mul(size));
    if items.is_none() {
        return Err(ClError::INVALID_GLOBAL_WORK_SIZE);
    }
    Ok(Some(NdRange {
        work_dim,
        global_offset,
        global_size,
        local_size,
    }))
}

fn check_local_size(limits: &Limits, required: Option<[u64; 3]>, size: [u64; 3]) -> CLResult<()> {
    // CL_INVALID_WORK_GROUP_SIZE if the total number of work-items in the work-group is zero.
    if size.contains(&0) {
        return Err(ClError::INVALID_WORK_GROUP_SIZE);
    }
    // CL_INVALID_WORK_ITEM_SIZE if the number of work-items specified in any dimension of
    // local_work_size is greater than the corresponding value returned for
    // CL_DEVICE_MAX_WORK_GROUP_SIZES.
    let maximum = limits.device.max_work_item_sizes;
    if (0..3).any(|d| size[d] > maximum[d] as u64) {
        return Err(ClError::INVALID_WORK_ITEM_SIZE);
    }
    // CL_INVALID_WORK_GROUP_SIZE if the total number of work-items in the work-group is greater
    // than the value returned for CL_KERNEL_WORK_GROUP_SIZE. Each factor is small by now, so the
    // product cannot overflow.
    if size.iter().product::<u64>() > limits.device.max_work_group_size as u64 {
        return Err(ClError::INVALID_WORK_GROUP_SIZE);
    }
    // CL_INVALID_WORK_GROUP_SIZE if the local_work_size does not match the required work-group size
    // for kernel.
    if required.is_some_and(|required| required != size) {
        return Err(ClError::INVALID_WORK_GROUP_SIZE);
    }
    // CL_INVALID_WORK_GROUP_SIZE if local_work_size is not consistent with the required number of
    // sub-groups for kernel in the program source.
    let sub_groups = size
        .iter()
        .product::<u64>()
        .div_ceil(u64::from(limits.width));
    if let Some(required) = limits.info.required_num_sub_groups
        && sub_groups != u64::from(required)
    {
        return Err(ClError::INVALID_WORK_GROUP_SIZE);
    }
    Ok(())
}

/// Chooses a local size for a launch that leaves it open.
///
/// Groups lie along x first, in whole vectors when they can, and have as many rows as suit the
/// kernel. They are large enough to outweigh the cost of starting one, and small enough that every
/// thread gets several. They divide the global size; but where the best divisor is much too small
/// (a prime size, say) or not of whole vectors, the last group is smaller than the others, if it
/// may be.
pub(crate) fn choose_local_size(limits: &Limits, global: [u64; 3]) -> [u64; 3] {
    let items = global
        .iter()
        .fold(1u64, |all, &size| all.saturating_mul(size));
    let width = u64::from(limits.width);
    let wanted_groups = u64::from(limits.device.max_compute_units) * GROUPS_PER_THREAD;
    let target = (items / wanted_groups)
        .clamp(width, GOOD_GROUP.max(width))
        .min(limits.device.max_work_group_size as u64);
    let rows = u64::from(limits.rows).min(1 << global[1].trailing_zeros());
    let most = (target / rows).max(width.min(target));
    let mut x = divisor(global[0], most, width);
    let poor = x < most.min(global[0]) / 4 || !x.is_multiple_of(width);
    if poor && limits.allows_non_uniform && global[0] > width && target >= width {
        // Whole vectors, except in the last group.
        x = most.min(global[0]) / width * width;
    }
    let y = divisor(global[1], target / x, rows);
    let z = divisor(global[2], target / x / y, 1);
    [x, y, z]
}

/// Whether rows of work-items are not whole vectors, though the index space has longer ones.
pub(crate) fn wastes_lanes(limits: &Limits, range: &NdRange) -> bool {
    !range.local_size[0].is_multiple_of(u64::from(limits.width))
        && range.local_size[0] < range.global_size[0]
}

/// The local size for a kernel whose results do not depend on it, so that it need not divide the
/// global size.
///
/// No thread is left without work for the sake of fuller vectors: `None` where each thread's share
/// is too few work-items for one.
pub(crate) fn best_local_size(limits: &Limits, global: [u64; 3]) -> Option<[u64; 3]> {
    let items = global
        .iter()
        .fold(1u64, |all, &size| all.saturating_mul(size));
    let share = (items / u64::from(limits.device.max_compute_units)).max(1);
    let width = limits
        .width
        .min(u32::try_from(share).map_or(u32::MAX, |share| 1 << share.ilog2()));
    if width < FEWEST_LANES.min(limits.width) {
        return None;
    }
    let free = Limits {
        width,
        allows_non_uniform: true,
        ..*limits
    };
    Some(choose_local_size(&free, global))
}

/// The largest divisor of `size` up to `limit`, multiples of `step` (a power of two) preferred,
/// then of its half, and so on.
fn divisor(size: u64, limit: u64, step: u64) -> u64 {
    let limit = limit.clamp(1, size);
    let largest = |step: u64| {
        (1..=limit / step)
            .rev()
            .map(|n| n * step)
            .find(|d| size.is_multiple_of(*d))
    };
    let halves = std::iter::successors(Some(step), |step| (*step > 1).then_some(step / 2));
    halves.filter_map(largest).next().unwrap_or(1)
}

/// How many groups there are in each dimension.
pub(crate) fn num_groups(range: &NdRange) -> [u64; 3] {
    std::array::from_fn(|d| range.global_size[d].div_ceil(range.local_size[d]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info() -> KernelInfo {
        KernelInfo::new("k")
    }

    fn with_limits<R>(info: &KernelInfo, non_uniform: bool, run: impl FnOnce(&Limits) -> R) -> R {
        let device = Device::detect();
        run(&Limits {
            device: &device,
            info,
            width: 8,
            rows: 1,
            allows_non_uniform: non_uniform,
        })
    }

    #[test]
    fn chosen_sizes_divide_and_are_whole_vectors() {
        with_limits(&info(), false, |limits| {
            for global in [
                [1, 1, 1],
                [7, 1, 1],
                [1 << 20, 1, 1],
                [1000, 1000, 1],
                [1920, 1080, 1],
                [3, 5, 7],
                [1_000_003, 1, 1],
                [1, 1 << 16, 1],
                [1, 1, 4096],
            ] {
                let local = choose_local_size(limits, global);
                for d in 0..3 {
                    assert_eq!(global[d] % local[d], 0, "{global:?} {local:?}");
                }
                let items: u64 = local.iter().product();
                assert!(items <= limits.device.max_work_group_size as u64);
                if global[0] % 8 == 0 {
                    assert_eq!(local[0] % 8, 0, "{global:?} {local:?}");
                }
            }
        });
    }

    #[test]
    fn rows_shorter_than_a_vector_waste_lanes() {
        with_limits(&info(), false, |limits| {
            let wastes = |global, local| {
                let range = NdRange {
                    work_dim: 3,
                    global_offset: [0; 3],
                    global_size: global,
                    local_size: local,
                };
                wastes_lanes(limits, &range)
            };
            assert!(wastes([64, 1, 1], [1, 1, 1]));
            assert!(wastes([64, 64, 1], [4, 16, 1]));
            assert!(wastes([120, 1, 1], [12, 1, 1]));
            assert!(!wastes([64, 1, 1], [8, 1, 1]));
            assert!(!wastes([64, 64, 1], [16, 4, 1]));
            // All there is.
            assert!(!wastes([4, 64, 1], [4, 1, 1]));
            let best = best_local_size(limits, [1_000_003, 1, 1]);
            assert_eq!(best, Some([256, 1, 1]));
        });
    }

    #[test]
    fn few_work_items_are_spread_over_all_threads() {
        let mut device = Device::detect();
        device.max_compute_units = 4;
        let info = info();
        let limits = Limits {
            device: &device,
            info: &info,
            width: 8,
            rows: 1,
            allows_non_uniform: false,
        };
        let best = |items| best_local_size(&limits, [items, 1, 1]);
        // Two for each thread: not in one vector on one of them.
        assert_eq!(best(8), None);
        // Half a vector for each thread.
        assert_eq!(best(16), Some([4, 1, 1]));
        assert_eq!(best(32), Some([8, 1, 1]));
        assert_eq!(best(1 << 20), Some([256, 1, 1]));
    }

    #[test]
    fn large_ranges_get_large_groups() {
        with_limits(&info(), false, |limits| {
            assert_eq!(choose_local_size(limits, [1 << 24, 1, 1]), [256, 1, 1]);
            assert_eq!(choose_local_size(limits, [16, 1 << 20, 1]), [16, 16, 1]);
        });
    }

    #[test]
    fn groups_have_the_rows_that_suit_a_kernel() {
        with_limits(&info(), false, |limits| {
            let limits = Limits { rows: 4, ..*limits };
            let local = |global| choose_local_size(&limits, global);
            assert_eq!(local([1024, 1024, 1]), [64, 4, 1]);
            assert_eq!(local([1024, 1022, 1]), [128, 2, 1]);
            assert_eq!(local([1024, 1023, 1]), [256, 1, 1]);
            assert_eq!(local([1 << 20, 1, 1]), [256, 1, 1]);
        });
    }

    #[test]
    fn groups_are_whole_vectors_where_the_last_may_be_smaller() {
        with_limits(&info(), true, |limits| {
            for global in [
                [262_140, 1, 1],
                [1_000_003, 1, 1],
                [12, 4096, 1],
                [100, 100, 100],
            ] {
                let local = choose_local_size(limits, global);
                assert_eq!(local[0] % 8, 0, "{global:?} {local:?}");
                let items: u64 = local.iter().product();
                assert!((64..=256).contains(&items), "{global:?} {local:?}");
            }
            assert_eq!(choose_local_size(limits, [4, 4096, 1]), [4, 64, 1]);
        });
    }

    #[test]
    fn prime_sizes_use_a_smaller_last_group_where_allowed() {
        with_limits(&info(), true, |limits| {
            assert_eq!(choose_local_size(limits, [1_000_003, 1, 1]), [256, 1, 1]);
        });
        with_limits(&info(), false, |limits| {
            assert_eq!(choose_local_size(limits, [1_000_003, 1, 1]), [1, 1, 1]);
        });
    }

    #[test]
    fn every_error_has_its_code() {
        let mut with_required = info();
        with_required.required_work_group_size = Some([8, 1, 1]);
        let required = with_required;
        let plain = info();
        let global: Option<&[usize]> = Some(&[64, 64, 64]);
        type Sizes<'a> = Option<&'a [usize]>;
        fn error(
            info: &KernelInfo,
            dim: u32,
            offset: Sizes,
            global: Sizes,
            local: Sizes,
        ) -> ClError {
            with_limits(info, false, |limits| {
                check(limits, dim, offset, global, local)
            })
            .unwrap_err()
        }
        assert_eq!(
            error(&plain, 0, None, global, None),
            ClError::INVALID_WORK_DIMENSION
        );
        assert_eq!(
            error(&plain, 4, None, global, None),
            ClError::INVALID_WORK_DIMENSION
        );
        assert_eq!(
            error(&plain, 1, Some(&[usize::MAX]), global, None),
            ClError::INVALID_GLOBAL_OFFSET
        );
        assert_eq!(
            error(&plain, 1, None, global, Some(&[0])),
            ClError::INVALID_WORK_GROUP_SIZE
        );
        assert_eq!(
            error(&plain, 1, None, global, Some(&[5])),
            ClError::INVALID_WORK_GROUP_SIZE
        );
        assert_eq!(
            error(&plain, 1, None, global, Some(&[16384])),
            ClError::INVALID_WORK_ITEM_SIZE
        );
        assert_eq!(
            error(&plain, 3, None, global, Some(&[64, 64, 64])),
            ClError::INVALID_WORK_GROUP_SIZE
        );
        assert_eq!(
            error(&required, 1, None, global, Some(&[16])),
            ClError::INVALID_WORK_GROUP_SIZE
        );
        let huge: Option<&[usize]> = Some(&[usize::MAX / 2, 4, 1]);
        assert_eq!(
            error(&plain, 2, None, huge, Some(&[1, 1])),
            ClError::INVALID_GLOBAL_WORK_SIZE
        );
    }

    #[test]
    fn empty_ranges_succeed() {
        with_limits(&info(), false, |limits| {
            assert_eq!(check(limits, 2, None, None, None), Ok(None));
            assert_eq!(check(limits, 2, None, Some(&[4, 0]), None), Ok(None));
        });
    }

    #[test]
    fn required_size_is_used_when_none_is_given() {
        let mut info = info();
        info.required_work_group_size = Some([8, 2, 1]);
        with_limits(&info, false, |limits| {
            let range = check(limits, 2, None, Some(&[16, 16]), None)
                .unwrap()
                .unwrap();
            assert_eq!(range.local_size, [8, 2, 1]);
        });
    }

    #[test]
    fn unused_dimensions_are_one_and_extra_elements_ignored() {
        with_limits(&info(), true, |limits| {
            let range = check(limits, 1, Some(&[3, 9]), Some(&[100, 9]), Some(&[64, 9]));
            let range = range.unwrap().unwrap();
            assert_eq!(range.global_size, [100, 1, 1]);
            assert_eq!(range.local_size, [64, 1, 1]);
            assert_eq!(range.global_offset, [3, 0, 0]);
            assert_eq!(num_groups(&range), [2, 1, 1]);
        });
    }
}
