//! Kernels that arithmetic limits.

use super::{Prepared, Scale, Work, compare, random_floats};
use brolga_icd_testing::host::{Program, Result, Session};

pub fn nbody(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let n = scale.pick(4096, 64);
    let bodies = random_floats(4 * n, 0.1, 1.0);
    let positions = session.buffer_from(&bodies)?;
    let accelerations = session.buffer::<f32>(4 * n)?;
    let kernel = program
        .kernel("nbody")?
        .buffer(&positions)?
        .buffer(&accelerations)?
        .value(n as i32)?;
    let check = move |session: &Session| {
        let _keep = &positions;
        let body = |i: usize, k: usize| f64::from(bodies[4 * i + k]);
        let expected = (0..n).step_by(67).flat_map(|i| {
            let mut sum = [0.0; 3];
            for j in 0..n {
                let d = [0, 1, 2].map(|k| body(j, k) - body(i, k));
                let r2: f64 = d.iter().map(|c| c * c).sum::<f64>() + 0.01;
                let weight = body(j, 3) / (r2 * r2.sqrt());
                for k in 0..3 {
                    sum[k] += d[k] * weight;
                }
            }
            [0, 1, 2].map(|k| (4 * i + k, sum[k]))
        });
        compare("nbody", &session.read(&accelerations)?, expected, 1e-3)
    };
    // Of each pair, with the root and its reciprocal as one each.
    let work = Work::Operations(20.0 * (n as f64).powi(2));
    Ok(Prepared::single(kernel, &[n], &[], Box::new(check)).doing(work))
}

pub fn mandelbrot(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let (width, height, limit) = (scale.pick(512, 32), scale.pick(384, 16), 256);
    let (left, top, step) = (-2.2_f32, -1.2_f32, 3.2 / width as f32);
    let image = session.buffer::<i32>(width * height)?;
    let kernel = program
        .kernel("mandelbrot")?
        .buffer(&image)?
        .value(left)?
        .value(top)?
        .value(step)?
        .value(limit)?;
    let check = move |session: &Session| {
        let got = session.read(&image)?;
        // Fused and separate roundings differ near the border of the set.
        let different = got
            .iter()
            .enumerate()
            .filter(|&(at, &n)| {
                let (cx, cy) = (
                    left + step * (at % width) as f32,
                    top + step * (at / width) as f32,
                );
                let (mut x, mut y, mut count) = (0.0_f32, 0.0_f32, 0);
                while count < limit && x * x + y * y <= 4.0 {
                    (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
                    count += 1;
                }
                n != count
            })
            .count();
        if different <= got.len() / 50 {
            Ok(())
        } else {
            Err(format!(
                "mandelbrot: {different} of {} points differ",
                got.len()
            ))
        }
    };
    Ok(Prepared::single(
        kernel,
        &[width, height],
        &[],
        Box::new(check),
    ))
}

pub fn black_scholes(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    const RATE: f32 = 0.02;
    const VOLATILITY: f32 = 0.3;
    let n = scale.pick(1 << 20, 256);
    let price = random_floats(n, 5.0, 30.0);
    let strike: Vec<f32> = random_floats(n, 1.0, 100.0).into_iter().rev().collect();
    let years: Vec<f32> = price.iter().map(|p| 0.25 + p / 3.0).collect();
    let (d_price, d_strike, d_years) = (
        session.buffer_from(&price)?,
        session.buffer_from(&strike)?,
        session.buffer_from(&years)?,
    );
    let (calls, puts) = (session.buffer::<f32>(n)?, session.buffer::<f32>(n)?);
    let kernel = program
        .kernel("black_scholes")?
        .buffer(&d_price)?
        .buffer(&d_strike)?
        .buffer(&d_years)?
        .buffer(&calls)?
        .buffer(&puts)?
        .value(RATE)?
        .value(VOLATILITY)?;
    let check = move |session: &Session| {
        let _keep = (&d_price, &d_strike, &d_years);
        let normal = |x: f64| {
            let k = 1.0 / (1.0 + 0.2316419 * x.abs());
            let series = k
                * (0.319381530
                    + k * (-0.356563782
                        + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
            let tail = 0.3989422804 * (-0.5 * x * x).exp() * series;
            if x > 0.0 { 1.0 - tail } else { tail }
        };
        let prices = |i: usize| {
            let (s, x, t) = (
                f64::from(price[i]),
                f64::from(strike[i]),
                f64::from(years[i]),
            );
            let (rate, volatility) = (f64::from(RATE), f64::from(VOLATILITY));
            let spread = volatility * t.sqrt();
            let d1 = ((s / x).ln() + (rate + 0.5 * volatility * volatility) * t) / spread;
            let discounted = x * (-rate * t).exp();
            let (n1, n2) = (normal(d1), normal(d1 - spread));
            (
                s * n1 - discounted * n2,
                discounted * (1.0 - n2) - s * (1.0 - n1),
            )
        };
        let sample = || (0..n).step_by(7);
        compare(
            "black_scholes calls",
            &session.read(&calls)?,
            sample().map(|i| (i, prices(i).0)),
            1e-4,
        )?;
        compare(
            "black_scholes puts",
            &session.read(&puts)?,
            sample().map(|i| (i, prices(i).1)),
            1e-4,
        )
    };
    Ok(Prepared::single(kernel, &[n], &[], Box::new(check)))
}

pub fn transcendental(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let values = random_floats(scale.pick(1 << 20, 256), 0.0, 10.0);
    let input = session.buffer_from(&values)?;
    let output = session.buffer::<f32>(values.len())?;
    let kernel = program
        .kernel("transcendental")?
        .buffer(&input)?
        .buffer(&output)?;
    let global = [values.len()];
    let check = move |session: &Session| {
        let _keep = &input;
        let expected = values.iter().enumerate().step_by(7).map(|(i, &x)| {
            let x = f64::from(x);
            let sum = x.sin() * (2.0 * x).cos()
                + (-x).exp() * x.ln_1p()
                + (1.0 + x).powf(0.75)
                + x.atan2(2.0)
                + x.tanh();
            (i, sum)
        });
        compare("transcendental", &session.read(&output)?, expected, 1e-5)
    };
    Ok(Prepared::single(kernel, &global, &[], Box::new(check)))
}
