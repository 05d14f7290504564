//! The process that measures one driver.

use brolga_icd_testing::drivers;
use brolga_icd_testing::host::{Result, Session};
use serde_json::{Value, json};

/// Serves until the input ends.
pub fn serve() -> Result<()> {
    let (platform, session) = drivers::only_device()?;
    drivers::serve(|request| match request["il"].as_str() {
        Some(path) => compile(&session, path, request["kernels"].as_u64().unwrap_or(1)),
        None => Ok(json!({ "platform": platform.name()?, "il": session.takes_il() })),
    })
}

/// Builds a module and launches each of its kernels, `k0` and so on, with one work-group of 64.
fn compile(session: &Session, path: &str, kernels: u64) -> Result<Value> {
    let words = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    let buffer = session.buffer_from(&vec![0_u32; 4096])?;
    let start = processor_seconds()?;
    let program = session.build_il(&words, &[])?;
    for index in 0..kernels {
        let kernel = program.kernel(&format!("k{index}"))?.buffer(&buffer)?;
        session.launch(&kernel, &[64], &[64])?;
        session.finish()?;
    }
    Ok(json!({ "seconds": processor_seconds()? - start }))
}

/// Processor time of this process, all its threads, and the processes that it has waited for.
fn processor_seconds() -> Result<f64> {
    let mut sum = 0.0;
    for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
        // SAFETY: all-zero bytes are a valid `rusage`.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is valid for writes.
        if unsafe { libc::getrusage(who, &mut usage) } != 0 {
            return Err("getrusage failed".to_owned());
        }
        for time in [usage.ru_utime, usage.ru_stime] {
            sum += time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
        }
    }
    Ok(sum)
}
