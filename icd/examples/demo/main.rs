//! An application that runs on whatever the system's OpenCL loader finds, Brolga first.
//!
//! `cargo run --release -p brolga-icd --example demo`, with `OCL_ICD_VENDORS` naming a folder that
//! has Brolga's `.icd` file. It builds one kernel from SPIR-V and the others from OpenCL C, runs
//! them, compares every result with the same computation on the host, and prints times. Exit status
//! 1 when anything is wrong.

use std::io::{Read, Seek, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use brolga_icd_testing::host::{Cl, Kernel, Result, Session};

const KERNELS: &str = include_str!("kernels.cl");
const SCALE: &str = include_str!("scale.spvasm");

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("demo: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool> {
    let platforms = Cl::open_loader()?.platforms()?;
    let wanted = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "Brolga".to_owned());
    let mut names = Vec::new();
    let mut found = None;
    for platform in platforms {
        let name = platform.name()?;
        if name.contains(&wanted) {
            found = Some(platform);
        }
        names.push(name);
    }
    let platform = found.ok_or_else(|| {
        format!("no platform named {wanted:?} among {names:?}; does OCL_ICD_VENDORS name a folder with brolga.icd?")
    })?;
    let session = platform.open_cpu()?;
    println!("platform  {} ({})", platform.name()?, platform.version()?);
    println!(
        "device    {}, driver {}",
        session.device_name()?,
        session.driver_version()?
    );

    let mut demo = Demo {
        session,
        all_right: true,
    };
    println!(
        "\n{:<28}{:>12}{:>12}{:>12}  check",
        "kernel", "build", "first run", "best run"
    );
    demo.scale()?;
    let start = Instant::now();
    let program = demo.session.build_source(KERNELS, "-cl-std=CL1.2")?;
    println!(
        "{:<28}{:>12}",
        "kernels.cl (5 kernels)",
        show(start.elapsed())
    );
    demo.saxpy(program.kernel("saxpy")?)?;
    demo.mandelbrot(program.kernel("mandelbrot")?)?;
    demo.matmul(program.kernel("matmul")?)?;
    demo.reduce(program.kernel("reduce")?)?;
    demo.hello(program.kernel("hello")?)?;
    println!(
        "\n{}",
        if demo.all_right {
            "all results are right"
        } else {
            "there are WRONG results"
        }
    );
    Ok(demo.all_right)
}

struct Demo {
    session: Session,
    all_right: bool,
}

impl Demo {
    /// The kernel from SPIR-V.
    fn scale(&mut self) -> Result<()> {
        if !self.session.takes_il() {
            println!(
                "{:<28}the device does not take SPIR-V",
                "scale, from SPIR-V"
            );
            return Ok(());
        }
        let words = assemble(SCALE)?;
        let start = Instant::now();
        let program = self.session.build_il(&words, &[(7, 3)])?;
        let built = start.elapsed();
        let values: Vec<u32> = (0..1 << 20).collect();
        let buffer = self.session.buffer_from(&values)?;
        let kernel = program.kernel("scale")?.buffer(&buffer)?;
        // Once, as it changes its input.
        let start = Instant::now();
        self.session.launch(&kernel, &[values.len()], &[])?;
        self.session.finish()?;
        let first = start.elapsed();
        let expected: Vec<u32> = values.iter().map(|v| v * 3).collect();
        let right = self.session.read(&buffer)? == expected;
        self.report("scale, from SPIR-V", Some(built), first, None, right, "");
        Ok(())
    }

    fn saxpy(&mut self, kernel: Kernel) -> Result<()> {
        let n = 1 << 22;
        let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
        let y: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
        let (bx, by) = (
            self.session.buffer_from(&x)?,
            self.session.buffer::<f32>(n)?,
        );
        let kernel = kernel.buffer(&by)?.buffer(&bx)?.value(2.0_f32)?;
        let (mut first, mut best) = (None, Duration::MAX);
        for _ in 0..10 {
            self.session.write(&by, &y)?;
            let time = self.time(&kernel, &[n], &[])?;
            first.get_or_insert(time);
            best = best.min(time);
        }
        let right = self
            .session
            .read(&by)?
            .iter()
            .zip(x.iter().zip(&y))
            .all(|(r, (x, y))| close(*r, 2.0 * x + y));
        let rate = format!("{:.1} GB/s", 12.0 * n as f64 / best.as_secs_f64() / 1e9);
        self.report(
            "saxpy, 4 M floats",
            None,
            first.unwrap_or_default(),
            Some(best),
            right,
            &rate,
        );
        Ok(())
    }

    fn mandelbrot(&mut self, kernel: Kernel) -> Result<()> {
        let (width, height, limit) = (1024, 768, 256);
        let (left, top, step) = (-2.2_f32, -1.2_f32, 3.2 / 1024.0_f32);
        let image = self.session.buffer::<i32>(width * height)?;
        let kernel = kernel
            .buffer(&image)?
            .value(left)?
            .value(top)?
            .value(step)?
            .value(limit)?;
        let (first, best) = self.time_repeatedly(&kernel, &[width, height], &[])?;
        let got = self.session.read(&image)?;
        // The compiler may fuse multiplications and additions, so points near the border may
        // differ.
        let mut different = 0;
        for (index, &n) in got.iter().enumerate() {
            let cx = left + step * (index % width) as f32;
            let cy = top + step * (index / width) as f32;
            different += usize::from(n != escape_time(cx, cy, limit));
        }
        let right = different < got.len() / 100;
        let rate = format!(
            "{:.0} Mpixel/s",
            got.len() as f64 / best.as_secs_f64() / 1e6
        );
        self.report(
            "mandelbrot, 1024 x 768",
            None,
            first,
            Some(best),
            right,
            &rate,
        );
        if std::env::var_os("BROLGA_DEMO_PICTURE").is_some() {
            picture(&got, width, height, limit);
        }
        Ok(())
    }

    fn matmul(&mut self, kernel: Kernel) -> Result<()> {
        let n = 512;
        let a: Vec<f32> = (0..n * n).map(|i| (i % 7) as f32 - 3.0).collect();
        let b: Vec<f32> = (0..n * n).map(|i| (i % 11) as f32 - 5.0).collect();
        let (ba, bb) = (self.session.buffer_from(&a)?, self.session.buffer_from(&b)?);
        let bc = self.session.buffer::<f32>(n * n)?;
        let kernel = kernel
            .buffer(&ba)?
            .buffer(&bb)?
            .buffer(&bc)?
            .value(n as i32)?;
        let (first, best) = self.time_repeatedly(&kernel, &[n, n], &[16, 16])?;
        let got = self.session.read(&bc)?;
        // Small integers: every partial sum is exact in any order.
        let right = (0..n * n).step_by(37).all(|at| {
            let (row, column) = (at / n, at % n);
            let sum: f32 = (0..n).map(|k| a[row * n + k] * b[k * n + column]).sum();
            got[at] == sum
        });
        let rate = format!(
            "{:.1} GFLOP/s",
            2.0 * (n * n * n) as f64 / best.as_secs_f64() / 1e9
        );
        self.report(
            "matmul, 512 x 512, tiled",
            None,
            first,
            Some(best),
            right,
            &rate,
        );
        Ok(())
    }

    fn reduce(&mut self, kernel: Kernel) -> Result<()> {
        let (n, group) = (1 << 22, 256);
        let values: Vec<u32> = (0..n as u32)
            .map(|i| i.wrapping_mul(2_654_435_761))
            .collect();
        let input = self.session.buffer_from(&values)?;
        let partial = self.session.buffer::<u32>(n / group)?;
        let kernel = kernel.buffer(&input)?.buffer(&partial)?.local(group * 4)?;
        let (first, best) = self.time_repeatedly(&kernel, &[n], &[group])?;
        let sum = |values: &[u32]| values.iter().fold(0_u32, |a, v| a.wrapping_add(*v));
        let right = sum(&self.session.read(&partial)?) == sum(&values);
        let rate = format!("{:.1} GB/s", 4.0 * n as f64 / best.as_secs_f64() / 1e9);
        self.report(
            "reduce, 4 M integers",
            None,
            first,
            Some(best),
            right,
            &rate,
        );
        Ok(())
    }

    /// Kernels print to the standard output of the process; for the check it leads to a file
    /// meanwhile.
    fn hello(&mut self, kernel: Kernel) -> Result<()> {
        let kernel = kernel.value(0.25_f32)?;
        let (time, printed) = capture_stdout(|| self.time(&kernel, &[4], &[1]))?;
        let first = time?;
        let mut lines: Vec<&str> = printed.lines().collect();
        lines.sort_unstable();
        let expected = [
            "work-item 0 of 4: 0.00 even",
            "work-item 1 of 4: 0.25 odd",
            "work-item 2 of 4: 0.50 even",
            "work-item 3 of 4: 0.75 odd",
        ];
        self.report("hello, printf", None, first, None, lines == expected, "");
        print!("{printed}");
        Ok(())
    }

    fn time(&self, kernel: &Kernel, global: &[usize], local: &[usize]) -> Result<Duration> {
        let start = Instant::now();
        self.session.launch(kernel, global, local)?;
        self.session.finish()?;
        Ok(start.elapsed())
    }

    /// The first run's time (it includes making machine code) and the best of ten.
    fn time_repeatedly(
        &self,
        kernel: &Kernel,
        global: &[usize],
        local: &[usize],
    ) -> Result<(Duration, Duration)> {
        let first = self.time(kernel, global, local)?;
        let mut best = first;
        for _ in 0..10 {
            best = best.min(self.time(kernel, global, local)?);
        }
        Ok((first, best))
    }

    fn report(
        &mut self,
        name: &str,
        build: Option<Duration>,
        first: Duration,
        best: Option<Duration>,
        right: bool,
        rate: &str,
    ) {
        println!(
            "{name:<28}{:>12}{:>12}{:>12}  {} {rate}",
            build.map(show).unwrap_or_default(),
            show(first),
            best.map(show).unwrap_or_default(),
            if right { "ok   " } else { "WRONG" },
        );
        self.all_right &= right;
    }
}

fn show(time: Duration) -> String {
    let us = time.as_secs_f64() * 1e6;
    if us < 1000.0 {
        format!("{us:.1} us")
    } else {
        format!("{:.2} ms", us / 1e3)
    }
}

fn close(a: f32, b: f32) -> bool {
    (a - b).abs() <= 1e-5 * b.abs().max(1.0)
}

fn escape_time(cx: f32, cy: f32, limit: i32) -> i32 {
    let (mut x, mut y, mut n) = (0.0_f32, 0.0_f32, 0);
    while n < limit && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
        n += 1;
    }
    n
}

/// Draws with characters, for `BROLGA_DEMO_PICTURE=1`.
fn picture(image: &[i32], width: usize, height: usize, limit: i32) {
    for y in (0..height).step_by(32) {
        let line: String = (0..width)
            .step_by(12)
            .map(|x| match image[y * width + x] {
                n if n == limit => '#',
                n if n > 16 => '+',
                n if n > 6 => '.',
                _ => ' ',
            })
            .collect();
        println!("{line}");
    }
}

/// SPIR-V from its assembly text.
fn assemble(text: &str) -> Result<Vec<u8>> {
    let mut child = Command::new("spirv-as")
        .args(["--target-env", "spv1.0", "-o", "-", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("spirv-as (package spirv-tools): {e}"))?;
    let mut stdin = child.stdin.take().ok_or("spirv-as has no input")?;
    stdin
        .write_all(text.as_bytes())
        .map_err(|e| e.to_string())?;
    drop(stdin);
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err("spirv-as refused scale.spvasm".to_owned())
    }
}

/// What is written to the process's standard output while `body` runs.
fn capture_stdout<T>(body: impl FnOnce() -> T) -> Result<(T, String)> {
    use std::os::fd::AsRawFd;
    let io = |e: std::io::Error| e.to_string();
    let mut file = tempfile::tempfile().map_err(io)?;
    std::io::stdout().flush().map_err(io)?;
    // SAFETY: plain descriptor calls; `saved` is closed below and 1 stays open throughout.
    let saved = unsafe {
        let saved = libc::dup(1);
        libc::dup2(file.as_raw_fd(), 1);
        saved
    };
    let result = body();
    // SAFETY: as above; C's buffers may hold what a driver printed with the C library.
    unsafe {
        libc::fflush(std::ptr::null_mut());
        libc::dup2(saved, 1);
        libc::close(saved);
    }
    let mut text = String::new();
    file.rewind().map_err(io)?;
    file.read_to_string(&mut text).map_err(io)?;
    Ok((result, text))
}
