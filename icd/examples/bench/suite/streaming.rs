//! Kernels that the memory limits.

use super::{Prepared, Scale, Work, compare, compare_exactly, random_floats};
use brolga_icd_testing::host::{Program, Result, Session};

fn length(scale: Scale) -> usize {
    scale.pick(1 << 22, 1 << 10)
}

pub fn copy(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let values = random_floats(length(scale), -1.0, 1.0);
    let input = session.buffer_from(&values)?;
    let output = session.buffer::<f32>(values.len())?;
    let kernel = program.kernel("copy")?.buffer(&input)?.buffer(&output)?;
    let global = [values.len()];
    let work = Work::Bytes(8.0 * values.len() as f64);
    let check = move |session: &Session| {
        let _keep = &input;
        compare_exactly("copy", &session.read(&output)?, &values)
    };
    Ok(Prepared::single(kernel, &global, &[], Box::new(check)).doing(work))
}

pub fn triad(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let a = random_floats(length(scale), -1.0, 1.0);
    let b = random_floats(length(scale), 1.0, 2.0);
    let (da, db) = (session.buffer_from(&a)?, session.buffer_from(&b)?);
    let output = session.buffer::<f32>(a.len())?;
    let kernel = program
        .kernel("triad")?
        .buffer(&da)?
        .buffer(&db)?
        .buffer(&output)?
        .value(3.0_f32)?;
    let global = [a.len()];
    let work = Work::Sums(12.0 * a.len() as f64);
    let check = move |session: &Session| {
        let _keep = (&da, &db);
        let expected = a
            .iter()
            .zip(&b)
            .map(|(a, b)| f64::from(*a) + 3.0 * f64::from(*b));
        compare("triad", &session.read(&output)?, expected.enumerate(), 1e-6)
    };
    Ok(Prepared::single(kernel, &global, &[], Box::new(check)).doing(work))
}

/// Sums of vectors of eight.
pub fn float8_sums(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    const COUNT: usize = 16;
    let items = length(scale) / (8 * COUNT);
    let values = random_floats(8 * COUNT * items, 1.0, 2.0);
    let input = session.buffer_from(&values)?;
    let output = session.buffer::<f32>(items)?;
    let kernel = program
        .kernel("float8_sums")?
        .buffer(&input)?
        .buffer(&output)?
        .value(COUNT as u32)?;
    let work = Work::Bytes(4.0 * values.len() as f64);
    let check = move |session: &Session| {
        let _keep = &input;
        let of_item = |item: usize| -> f64 {
            let vectors = values.chunks(8).skip(item).step_by(items);
            vectors.flatten().map(|&x| f64::from(x)).sum()
        };
        let expected = (0..items).map(of_item).enumerate();
        compare("float8_sums", &session.read(&output)?, expected, 1e-5)
    };
    Ok(Prepared::single(kernel, &[items], &[], Box::new(check)).doing(work))
}

/// With a bounds check and a length that no work-group divides, as in most real launches.
pub fn saxpy(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let n = length(scale) - 5;
    let x = random_floats(n, -1.0, 1.0);
    let y = random_floats(n, 1.0, 2.0);
    let (dx, dy) = (session.buffer_from(&x)?, session.buffer_from(&y)?);
    let output = session.buffer::<f32>(n)?;
    let kernel = program
        .kernel("saxpy")?
        .buffer(&dx)?
        .buffer(&dy)?
        .buffer(&output)?
        .value(2.0_f32)?
        .value(n as u32)?;
    let check = move |session: &Session| {
        let _keep = (&dx, &dy);
        let expected = x
            .iter()
            .zip(&y)
            .map(|(x, y)| 2.0 * f64::from(*x) + f64::from(*y));
        compare("saxpy", &session.read(&output)?, expected.enumerate(), 1e-6)
    };
    let global = [n.next_multiple_of(256)];
    let prepared = Prepared::single(kernel, &global, &[256], Box::new(check));
    Ok(prepared.doing(Work::Sums(12.0 * n as f64)))
}
