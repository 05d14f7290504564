//! Dense and sparse linear algebra, and grids.

use super::{Prepared, Scale, Work, compare, compare_exactly, random, random_floats};
use brolga_icd_testing::host::{Program, Result, Session};

/// Must divide the sizes below; the same as `TILE` in `kernels.cl`.
const TILE: usize = 16;

pub fn matmul_naive(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    matmul(session, program, "matmul_naive", scale.pick(384, TILE), &[])
}

pub fn matmul_tiled(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    matmul(
        session,
        program,
        "matmul_tiled",
        scale.pick(512, TILE),
        &[TILE, TILE],
    )
}

fn matmul(
    session: &Session,
    program: &Program,
    name: &'static str,
    n: usize,
    local: &[usize],
) -> Result<Prepared> {
    let a = random_floats(n * n, -1.0, 1.0);
    let b: Vec<f32> = a.iter().rev().copied().collect();
    let (da, db) = (session.buffer_from(&a)?, session.buffer_from(&b)?);
    let dc = session.buffer::<f32>(n * n)?;
    let kernel = program
        .kernel(name)?
        .buffer(&da)?
        .buffer(&db)?
        .buffer(&dc)?
        .value(n as i32)?;
    let check = move |session: &Session| {
        let _keep = (&da, &db);
        // A sample: the whole product would take longer than all the measurements.
        let expected = (0..n * n).step_by(101).map(|at| {
            let (row, column) = (at / n, at % n);
            let products = (0..n).map(|k| f64::from(a[row * n + k]) * f64::from(b[k * n + column]));
            (at, products.sum::<f64>())
        });
        compare(name, &session.read(&dc)?, expected, 1e-3)
    };
    let work = Work::Operations(2.0 * (n as f64).powi(3));
    Ok(Prepared::single(kernel, &[n, n], local, Box::new(check)).doing(work))
}

/// Compressed sparse rows with 8 to 71 entries each, scattered.
pub fn spmv(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let n = scale.pick(1 << 15, 64);
    let mut start = vec![0_i32];
    for r in random(n) {
        start.push(start[start.len() - 1] + 8 + (r % 64) as i32);
    }
    let entries = start[n] as usize;
    let columns: Vec<i32> = random(entries).map(|r| (r as usize % n) as i32).collect();
    let values = random_floats(entries, -1.0, 1.0);
    let x = random_floats(n, 0.0, 1.0);
    let (d_start, d_columns) = (session.buffer_from(&start)?, session.buffer_from(&columns)?);
    let (d_values, dx) = (session.buffer_from(&values)?, session.buffer_from(&x)?);
    let dy = session.buffer::<f32>(n)?;
    let kernel = program
        .kernel("spmv")?
        .buffer(&d_start)?
        .buffer(&d_columns)?
        .buffer(&d_values)?
        .buffer(&dx)?
        .buffer(&dy)?;
    let check = move |session: &Session| {
        let _keep = (&d_start, &d_columns, &d_values, &dx);
        let expected = (0..n).map(|row| {
            (start[row] as usize..start[row + 1] as usize)
                .map(|k| f64::from(values[k]) * f64::from(x[columns[k] as usize]))
                .sum::<f64>()
        });
        compare("spmv", &session.read(&dy)?, expected.enumerate(), 1e-4)
    };
    Ok(Prepared::single(kernel, &[n], &[], Box::new(check)))
}

pub fn transpose(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let (width, height) = (scale.pick(2048, 32), scale.pick(1536, 16));
    let values = random_floats(width * height, -1.0, 1.0);
    let input = session.buffer_from(&values)?;
    let output = session.buffer::<f32>(values.len())?;
    let kernel = program
        .kernel("transpose")?
        .buffer(&input)?
        .buffer(&output)?
        .value(width as i32)?
        .value(height as i32)?;
    let check = move |session: &Session| {
        let _keep = &input;
        let expected: Vec<f32> = (0..width * height)
            .map(|at| values[(at % height) * width + at / height])
            .collect();
        compare_exactly("transpose", &session.read(&output)?, &expected)
    };
    Ok(Prepared::single(
        kernel,
        &[width, height],
        &[TILE, TILE],
        Box::new(check),
    ))
}

pub fn stencil(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let (width, height) = (scale.pick(2048, 32), scale.pick(1536, 16));
    let values = random_floats(width * height, -1.0, 1.0);
    let input = session.buffer_from(&values)?;
    let output = session.buffer::<f32>(values.len())?;
    let kernel = program
        .kernel("stencil")?
        .buffer(&input)?
        .buffer(&output)?
        .value(width as i32)?
        .value(height as i32)?;
    let check = move |session: &Session| {
        let _keep = &input;
        let value = |at: usize| f64::from(values[at]);
        let expected = (0..width * height).map(|at| {
            let (x, y) = (at % width, at / width);
            if x == 0 || y == 0 || x == width - 1 || y == height - 1 {
                return value(at);
            }
            0.5 * value(at)
                + 0.125 * (value(at - 1) + value(at + 1) + value(at - width) + value(at + width))
        });
        compare(
            "stencil",
            &session.read(&output)?,
            expected.enumerate(),
            1e-5,
        )
    };
    Ok(Prepared::single(
        kernel,
        &[width, height],
        &[],
        Box::new(check),
    ))
}
