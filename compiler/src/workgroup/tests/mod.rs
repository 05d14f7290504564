//! Kernels as the interpreter runs them, item by item, against the functions made of them.
//!
//! `kernels.rs` has kernels in text, each for one thing; `random.rs` generates them. `jam.rs`:
//! chunks that run together. `loops.rs`: what loops and guards there are.

mod jam;
mod kernels;
mod loops;
mod random;

use crate::image::Bindings;
use crate::interp::{Interpreter, Launch, Memory, Options, SegmentId};
use crate::ir::eval::Lanes;
use crate::ir::verify::verify;
use crate::ir::{Module, Stage};
use crate::launch::SMALL_IDS;
use crate::launch::{LaunchKey, NdRange};
use crate::target::Target;

pub fn range(global: [u64; 3], local: [u64; 3], offset: [u64; 3]) -> NdRange {
    NdRange {
        work_dim: 3,
        global_offset: offset,
        global_size: global,
        local_size: local,
    }
}

/// The key of a launch; `exact` says all that is true of it, otherwise nothing is promised.
fn key(range: &NdRange, width: u8, exact: bool) -> LaunchKey {
    let rest = range.global_size[0] % range.local_size[0];
    let whole = |size: u64| size.is_multiple_of(u64::from(width));
    LaunchKey {
        width,
        linear: exact && range.local_size[1] * range.local_size[2] == 1,
        eight_rows: exact && range.local_size[1] >= 8,
        full_chunks: exact && whole(range.local_size[0]) && whole(rest),
        row_is_chunk: exact && range.local_size[0] == u64::from(width) && rest == 0,
        zero_offset: exact && range.global_offset == [0; 3],
        small_ids: exact
            && (0..3).all(|d| range.global_offset[d] + range.global_size[d] <= SMALL_IDS),
        uniform_groups: exact
            && (0..3).all(|d| range.global_size[d].is_multiple_of(range.local_size[d])),
        groups_of_one: false,
        bindings: Bindings::NONE,
    }
}

struct Host {
    memory: Memory,
    buffers: Vec<SegmentId>,
    args: Vec<u8>,
}

/// Buffers of `i32` as arguments, then `i32` values.
fn host(buffers: &[Vec<u32>], values: &[u32]) -> Host {
    let mut memory = Memory::new();
    let buffers: Vec<SegmentId> = buffers
        .iter()
        .map(|data| {
            let bytes = data.iter().flat_map(|x| x.to_le_bytes()).collect();
            memory.add("buffer", bytes, 128)
        })
        .collect();
    let mut args: Vec<u8> = Vec::new();
    for &buffer in &buffers {
        args.extend(memory.base(buffer).to_le_bytes());
    }
    for value in values {
        args.extend(value.to_le_bytes());
    }
    Host {
        memory,
        buffers,
        args,
    }
}

fn contents(memory: &Memory, buffers: &[SegmentId]) -> Vec<Vec<u32>> {
    buffers
        .iter()
        .map(|&buffer| {
            let words = memory.bytes(buffer).chunks_exact(4);
            words
                .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect()
        })
        .collect()
}

const LOCAL_BYTES: u64 = 4096;

/// What the interpreter makes of the module's kernel 0.
fn expected(
    module: &Module,
    range: &NdRange,
    buffers: &[Vec<u32>],
    values: &[u32],
) -> Result<Vec<Vec<u32>>, String> {
    let host = host(buffers, values);
    let mut interp = Interpreter::new(module, host.memory, Options::default());
    let launch = Launch {
        range: *range,
        args: &host.args,
        local_mem_size: LOCAL_BYTES,
        sub_group_size: 1,
    };
    interp.run(0, &launch).map_err(|e| e.to_string())?;
    Ok(contents(&interp.memory, &host.buffers))
}

/// What the assembled function leaves in the buffers, or how it failed; and its text.
fn assembled(
    module: &Module,
    range: &NdRange,
    buffers: &[Vec<u32>],
    values: &[u32],
    width: u8,
    exact: bool,
    target: &Target,
) -> Result<(Vec<Vec<u32>>, super::WorkGroupCode), String> {
    let kernel = &module.kernels[0];
    let key = key(range, width, exact);
    let code = super::build(&module.functions[kernel.func], &kernel.params, &key, target)
        .map_err(|e| e.to_string())?;
    let fail = |message: String| {
        format!(
            "{message}\nwidth {width}, {key:?}\n{}\n{}",
            code.split, code.function
        )
    };
    for region in &code.split.regions {
        verify(&region.scalar, Stage::Scalarized, None).map_err(fail)?;
        if let Some(masked) = &region.masked {
            verify(masked, Stage::Vectorized, None).map_err(fail)?;
        }
        if let Some(partial) = &region.partial {
            verify(partial, Stage::Vectorized, None).map_err(fail)?;
        }
        if let Some(guard) = &region.guard {
            verify(guard, Stage::Vectorized, None).map_err(fail)?;
        }
        if let Some(vector) = &region.vector {
            verify(vector, Stage::Vectorized, None).map_err(fail)?;
        }
    }
    verify(&code.function, Stage::Vectorized, None).map_err(fail)?;

    let mut host = host(buffers, values);
    let args = host.memory.add("args", host.args, 16);
    let groups = [0, 1, 2].map(|d| range.global_size[d].div_ceil(range.local_size[d]));
    let mut fields = vec![host.memory.base(args)];
    for triple in [
        range.global_offset,
        range.global_size,
        range.local_size,
        groups,
    ] {
        fields.extend(triple);
    }
    fields.extend([u64::from(range.work_dim), LOCAL_BYTES, 0, 0]);
    let bytes = fields.iter().flat_map(|x| x.to_le_bytes()).collect();
    let launch = host.memory.add("launch", bytes, 16);
    let items = range
        .local_size
        .iter()
        .product::<u64>()
        .next_multiple_of(u64::from(width))
        + code.context_padding;
    let scratch = LOCAL_BYTES + items * code.context_bytes_per_item;
    let scratch = host
        .memory
        .add("scratch", vec![0xa5; scratch as usize], 128);
    let (launch, scratch) = (host.memory.base(launch), host.memory.base(scratch));
    let mut interp = Interpreter::new(
        module,
        host.memory,
        Options {
            budget: 200_000_000,
            checked: false,
        },
    );
    let total: u64 = groups.iter().product();
    // Two ranges, so that one begins in the middle.
    for (begin, end) in [(0, total / 3), (total / 3, total)] {
        let args: Vec<Lanes> = [launch, scratch, begin, end]
            .map(|x| smallvec::smallvec![x])
            .to_vec();
        interp
            .call(&code.function, &args)
            .map_err(|e| fail(e.to_string()))?;
    }
    Ok((contents(&interp.memory, &host.buffers), code))
}

/// Compares every width, with and without promises in the key, for targets with and without masked
/// accesses, with the interpreter.
pub fn compare(
    module: &Module,
    range: &NdRange,
    buffers: &[Vec<u32>],
    values: &[u32],
) -> Result<(), String> {
    let expected = expected(module, range, buffers, values)?;
    for width in [1, 2, 4, 8, 16, 32] {
        for (exact, target) in [
            (true, Target::cranelift()),
            (false, Target::cranelift()),
            (true, Target::avx512()),
            (false, Target::avx512()),
        ] {
            let (actual, code) = assembled(module, range, buffers, values, width, exact, &target)?;
            for (i, (a, b)) in expected.iter().zip(&actual).enumerate() {
                if let Some(at) = (0..a.len()).find(|&k| a[k] != b[k]) {
                    return Err(format!(
                        "buffer {i} at {at}: expected {:#x}, got {:#x}\nwidth {width}, exact {exact}, {:?}, {range:?}\n{}\n{}",
                        a[at], b[at], target.isa, code.split, code.function
                    ));
                }
            }
        }
    }
    Ok(())
}
