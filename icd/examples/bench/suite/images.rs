//! Kernels that read images through samplers, and write images.
//!
//! Filters may be computed with less precision than the checks do ("Linear Filtering"), so a
//! result that is stored as a byte may be off by a little.

use opencl_sys::*;

use super::sampling::{Outside, Texels};
use super::{Prepared, Scale, compare, compare_exactly, random, random_floats};
use brolga_icd_testing::host::{Image, Program, Result, Session};

type Format = (cl_channel_order, cl_channel_type);
type Rgba = [u8; 4];

const RGBA8: Format = (CL_RGBA, CL_UNORM_INT8);
const FLOAT: Format = (CL_R, CL_FLOAT);

/// Every which texel of a result is compared.
const STEP: usize = 7;

pub fn blur(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    const SPREAD: f32 = 1.2;
    let size = [scale.pick(1024, 32), scale.pick(1024, 16)];
    let (input, texels) = picture(session, size)?;
    let output = session.image(RGBA8, [size[0], size[1], 1])?;
    let kernel = program
        .kernel("image_blur")?
        .image(&input)?
        .image(&output)?
        .value(SPREAD)?;
    let expected = move |x: usize, y: usize| {
        let mut sum = [0.0; 4];
        for j in [-1.0, 0.0, 1.0] {
            for i in [-1.0, 0.0, 1.0] {
                let spread = f64::from(SPREAD);
                let point = [
                    x as f64 + 0.5 + spread * i,
                    y as f64 + 0.5 + spread * j,
                    0.5,
                ];
                let sample = texels.linear(Outside::NearestEdge, point);
                sum.iter_mut().zip(sample).for_each(|(sum, s)| *sum += s);
            }
        }
        sum.map(|sum| sum / 9.0)
    };
    let check = move |session: &Session| {
        let _keep = &input;
        compare_bytes("image_blur", &session.read_image(&output)?, size, &expected)
    };
    Ok(Prepared::single(kernel, &size, &[], Box::new(check)))
}

pub fn resize(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let from = [scale.pick(1000, 40), scale.pick(700, 24)];
    let to = [scale.pick(1280, 32), scale.pick(960, 16)];
    let (input, texels) = picture(session, from)?;
    let output = session.image(RGBA8, [to[0], to[1], 1])?;
    let kernel = program
        .kernel("image_resize")?
        .image(&input)?
        .image(&output)?;
    let expected = move |x: usize, y: usize| {
        let along =
            |axis: usize, at: usize| (at as f64 + 0.5) / to[axis] as f64 * from[axis] as f64;
        texels.linear(Outside::NearestEdge, [along(0, x), along(1, y), 0.5])
    };
    let check = move |session: &Session| {
        let _keep = &input;
        compare_bytes("image_resize", &session.read_image(&output)?, to, &expected)
    };
    Ok(Prepared::single(kernel, &to, &[], Box::new(check)))
}

pub fn rotate(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let size = [scale.pick(1024, 32), scale.pick(1024, 16)];
    let (sine, cosine) = 0.4_f32.sin_cos();
    let (input, texels) = picture(session, size)?;
    let output = session.image(RGBA8, [size[0], size[1], 1])?;
    let sampler = session.sampler(false, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR)?;
    let kernel = program
        .kernel("image_rotate")?
        .image(&input)?
        .image(&output)?
        .sampler(&sampler)?
        .value(sine)?
        .value(cosine)?;
    let expected = move |x: usize, y: usize| {
        let middle = size.map(|extent| 0.5 * extent as f64);
        let d = [x as f64 + 0.5 - middle[0], y as f64 + 0.5 - middle[1]];
        let (sine, cosine) = (f64::from(sine), f64::from(cosine));
        let point = [
            middle[0] + cosine * d[0] - sine * d[1],
            middle[1] + sine * d[0] + cosine * d[1],
            0.5,
        ];
        texels.linear(Outside::Border, point)
    };
    let check = move |session: &Session| {
        let _keep = (&input, &sampler);
        compare_bytes(
            "image_rotate",
            &session.read_image(&output)?,
            size,
            &expected,
        )
    };
    Ok(Prepared::single(kernel, &size, &[], Box::new(check)))
}

pub fn convert(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let size = [scale.pick(1920, 32), scale.pick(1080, 16)];
    let (input, texels) = picture(session, size)?;
    let output = session.image(RGBA8, [size[0], size[1], 1])?;
    let kernel = program
        .kernel("image_convert")?
        .image(&input)?
        .image(&output)?;
    let expected = move |x: usize, y: usize| {
        let [r, g, b, a] = texels.at(Outside::NearestEdge, [x as i64, y as i64, 0]);
        let luma = 0.299 * r + 0.587 * g + 0.114 * b;
        [luma, 0.5 + 0.564 * (b - luma), 0.5 + 0.713 * (r - luma), a]
    };
    let check = move |session: &Session| {
        let _keep = &input;
        compare_bytes(
            "image_convert",
            &session.read_image(&output)?,
            size,
            &expected,
        )
    };
    Ok(Prepared::single(kernel, &size, &[], Box::new(check)))
}

pub fn slice(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let edge = scale.pick(128, 16);
    let size = [scale.pick(1024, 32), scale.pick(1024, 16)];
    let volume = random_floats(edge * edge * edge, 0.0, 1.0);
    let input = session.image_from(FLOAT, [edge; 3], &volume)?;
    let output = session.image::<f32>(FLOAT, [size[0], size[1], 1])?;
    let corner = [0.1_f32, 0.05, 0.2, 0.0];
    let across = [0.8, 0.1, 0.3, 0.0].map(|length: f32| length / size[0] as f32);
    let down = [0.05, 0.85, 0.4, 0.0].map(|length: f32| length / size[1] as f32);
    let kernel = program
        .kernel("image_slice")?
        .image(&input)?
        .image(&output)?
        .value(corner)?
        .value(across)?
        .value(down)?;
    let texels = Texels {
        size: [edge; 3],
        values: volume.iter().map(|&v| [f64::from(v)]).collect(),
    };
    let expected = move |x: usize, y: usize| {
        let [point @ .., _] = [0, 1, 2, 3].map(|axis| {
            let along = f64::from(corner[axis])
                + x as f64 * f64::from(across[axis])
                + y as f64 * f64::from(down[axis]);
            along * edge as f64
        });
        texels.linear(Outside::NearestEdge, point)[0]
    };
    let check = move |session: &Session| {
        let _keep = &input;
        let got = session.read_image(&output)?;
        let expected = (0..got.len())
            .step_by(STEP)
            .map(|at| (at, expected(at % size[0], at / size[0])));
        compare("image_slice", &got, expected, 4e-3)
    };
    Ok(Prepared::single(kernel, &size, &[], Box::new(check)))
}

pub fn convolve(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let size = [scale.pick(1024, 32), scale.pick(1024, 16)];
    let values = random_floats(size[0] * size[1], 0.0, 1.0);
    let weights = random_floats(25, -1.0, 1.0);
    let input = session.image_from(FLOAT, [size[0], size[1], 1], &values)?;
    let output = session.image::<f32>(FLOAT, [size[0], size[1], 1])?;
    let filter = session.buffer_from(&weights)?;
    let kernel = program
        .kernel("image_convolve")?
        .image(&input)?
        .image(&output)?
        .buffer(&filter)?;
    let texels = Texels {
        size: [size[0], size[1], 1],
        values: values.iter().map(|&v| [f64::from(v)]).collect(),
    };
    let expected = move |x: usize, y: usize| {
        let weighted = weights.iter().enumerate().map(|(k, &weight)| {
            let at = [(x + k % 5) as i64 - 2, (y + k / 5) as i64 - 2, 0];
            f64::from(weight) * texels.at(Outside::NearestEdge, at)[0]
        });
        weighted.sum::<f64>()
    };
    let check = move |session: &Session| {
        let _keep = (&input, &filter);
        let got = session.read_image(&output)?;
        let expected = (0..got.len())
            .step_by(STEP)
            .map(|at| (at, expected(at % size[0], at / size[0])));
        compare("image_convolve", &got, expected, 1e-5)
    };
    Ok(Prepared::single(kernel, &size, &[], Box::new(check)))
}

pub fn histogram(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let size = [scale.pick(2048, 32), scale.pick(1024, 16)];
    let pixels = random_pixels(size[0] * size[1]);
    let input = session.image_from((CL_RGBA, CL_UNSIGNED_INT8), [size[0], size[1], 1], &pixels)?;
    let bins = session.buffer_from(&[0_u32; 3 * 256])?;
    let kernel = program
        .kernel("image_histogram")?
        .image(&input)?
        .buffer(&bins)?;
    let mut expected = vec![0_u32; 3 * 256];
    for pixel in &pixels {
        for (channel, &value) in pixel[..3].iter().enumerate() {
            expected[channel * 256 + usize::from(value)] += 1;
        }
    }
    let bins = std::rc::Rc::new(bins);
    let cleared = bins.clone();
    let check = move |session: &Session| {
        let _keep = &input;
        compare_exactly("image_histogram", &session.read(&bins)?, &expected)
    };
    let reset = move |session: &Session| session.write(&cleared, &[0; 3 * 256]);
    let mut prepared = Prepared::single(kernel, &[size[0], 16], &[16, 16], Box::new(check));
    prepared.reset = Some(Box::new(reset));
    Ok(prepared)
}

fn random_pixels(count: usize) -> Vec<Rgba> {
    random(count).map(u32::to_le_bytes).collect()
}

/// An image of random bytes, and what is in it as kernels see it.
fn picture(session: &Session, size: [usize; 2]) -> Result<(Image<Rgba>, Texels<4>)> {
    let size = [size[0], size[1], 1];
    let pixels = random_pixels(size[0] * size[1]);
    let image = session.image_from(RGBA8, size, &pixels)?;
    let normalized = |pixel: &Rgba| pixel.map(|byte| f64::from(byte) / 255.0);
    let values = pixels.iter().map(normalized).collect();
    Ok((image, Texels { size, values }))
}

/// Compares an image of bytes with the colours that it should have.
fn compare_bytes(
    name: &str,
    got: &[Rgba],
    size: [usize; 2],
    expected: &dyn Fn(usize, usize) -> [f64; 4],
) -> Result<()> {
    for (at, pixel) in got.iter().enumerate().step_by(STEP) {
        let (x, y) = (at % size[0], at / size[0]);
        let want = expected(x, y).map(|channel| channel.clamp(0.0, 1.0) * 255.0);
        let right = pixel
            .iter()
            .zip(want)
            .all(|(&have, want)| (f64::from(have) - want).abs() <= 1.5);
        if !right {
            return Err(format!("{name}: texel {x}, {y} is {pixel:?}, not {want:?}"));
        }
    }
    Ok(())
}
