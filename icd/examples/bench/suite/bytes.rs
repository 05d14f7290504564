//! Integer hashing and images of bytes.

use super::{Prepared, Scale, compare_exactly, random};
use brolga_icd_testing::host::{Program, Result, Session};

pub fn hash(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    const WORDS: usize = 16;
    let n = scale.pick(1 << 18, 256);
    let messages: Vec<u32> = random(n * WORDS).collect();
    let input = session.buffer_from(&messages)?;
    let hashes = session.buffer::<u32>(n)?;
    let kernel = program.kernel("hash")?.buffer(&input)?.buffer(&hashes)?;
    let check = move |session: &Session| {
        let _keep = &input;
        let expected: Vec<u32> = (0..n)
            .map(|i| xxhash32(&std::array::from_fn(|k| messages[k * n + i])))
            .collect();
        compare_exactly("hash", &session.read(&hashes)?, &expected)
    };
    Ok(Prepared::single(kernel, &[n], &[], Box::new(check)))
}

/// xxHash32 with seed 0 of a 64-byte message.
fn xxhash32(message: &[u32; 16]) -> u32 {
    const PRIMES: [u32; 3] = [2_654_435_761, 2_246_822_519, 3_266_489_917];
    let mut lanes = [
        PRIMES[0].wrapping_add(PRIMES[1]),
        PRIMES[1],
        0,
        PRIMES[0].wrapping_neg(),
    ];
    for (k, word) in message.iter().enumerate() {
        let lane = &mut lanes[k % 4];
        *lane = lane
            .wrapping_add(word.wrapping_mul(PRIMES[1]))
            .rotate_left(13)
            .wrapping_mul(PRIMES[0]);
    }
    let mut h = lanes
        .iter()
        .zip([1, 7, 12, 18])
        .fold(64_u32, |sum, (lane, by)| {
            sum.wrapping_add(lane.rotate_left(by))
        });
    h = (h ^ h >> 15).wrapping_mul(PRIMES[1]);
    h = (h ^ h >> 13).wrapping_mul(PRIMES[2]);
    h ^ h >> 16
}

pub fn sharpen(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let (width, height) = (scale.pick(1024, 32), scale.pick(768, 16));
    let image: Vec<u8> = random(width * height * 4)
        .map(|r| (r >> 24) as u8)
        .collect();
    let input = session.buffer_from(&image)?;
    let output = session.buffer::<u8>(image.len())?;
    let kernel = program
        .kernel("sharpen")?
        .buffer(&input)?
        .buffer(&output)?
        .value(width as i32)?
        .value(height as i32)?;
    let check = move |session: &Session| {
        let _keep = &input;
        let byte = |x: usize, y: usize, c: usize| i32::from(image[(y * width + x) * 4 + c]);
        let expected: Vec<u8> = (0..image.len())
            .map(|at| {
                let (c, x, y) = (at % 4, at / 4 % width, at / 4 / width);
                let sum = 5 * byte(x, y, c)
                    - byte(x.saturating_sub(1), y, c)
                    - byte((x + 1).min(width - 1), y, c)
                    - byte(x, y.saturating_sub(1), c)
                    - byte(x, (y + 1).min(height - 1), c);
                sum.clamp(0, 255) as u8
            })
            .collect();
        compare_exactly("sharpen", &session.read(&output)?, &expected)
    };
    Ok(Prepared::single(
        kernel,
        &[width, height],
        &[],
        Box::new(check),
    ))
}

pub fn luma(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let n = scale.pick(1 << 21, 256);
    let image: Vec<u8> = random(3 * n).map(|r| (r >> 24) as u8).collect();
    let input = session.buffer_from(&image)?;
    let grey = session.buffer::<u8>(n)?;
    let kernel = program.kernel("luma")?.buffer(&input)?.buffer(&grey)?;
    let check = move |session: &Session| {
        let _keep = &input;
        let expected: Vec<u8> = image
            .chunks(3)
            .map(|p| {
                ((77 * u32::from(p[0]) + 150 * u32::from(p[1]) + 29 * u32::from(p[2]) + 128) >> 8)
                    as u8
            })
            .collect();
        compare_exactly("luma", &session.read(&grey)?, &expected)
    };
    Ok(Prepared::single(kernel, &[n], &[], Box::new(check)))
}
