//! Writes what each stage made to files, for people:
//! `BROLGA_DUMP=spirv,ir,images,wg,vec,lowered,clif,asm`, in `BROLGA_DUMP_DIR` (default
//! `brolga-dump`). `BROLGA_REMARKS=1` says on standard error how each kernel is run.

use std::path::PathBuf;

use crate::environment;

/// Whether `BROLGA_REMARKS` asks for remarks on standard error.
pub fn remarks_wanted() -> bool {
    std::env::var("BROLGA_REMARKS").is_ok_and(|v| !v.is_empty() && v != "0")
}

/// Which stages are written, and where.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    stages: Vec<String>,
    remarks: bool,
    directory: PathBuf,
}

impl Dump {
    /// As the environment asks.
    pub fn from_env() -> Dump {
        let stages = environment::trusted("BROLGA_DUMP").unwrap_or_default();
        let directory = environment::trusted("BROLGA_DUMP_DIR");
        let directory = directory.unwrap_or_else(|| "brolga-dump".into());
        Dump {
            stages: stages
                .to_string_lossy()
                .split(',')
                .map(str::trim)
                .filter(|s| !s.is_empty())
                .map(str::to_owned)
                .collect(),
            remarks: remarks_wanted(),
            directory: directory.into(),
        }
    }

    /// Whether remarks are wanted on standard error.
    pub fn remarks(&self) -> bool {
        self.remarks
    }

    /// Whether `stage` is wanted.
    pub fn wants(&self, stage: &str) -> bool {
        self.stages.iter().any(|s| s == stage || s == "all")
    }

    /// What is wanted of one kernel.
    pub fn of<'a>(&'a self, kernel: &'a str) -> KernelDump<'a> {
        KernelDump { dump: self, kernel }
    }

    /// Writes `text` to `<kernel>.<stage>.txt` if `stage` is wanted. What cannot be written is said
    /// on standard error and otherwise ignored: a dump never changes what a program does.
    pub fn write(&self, stage: &str, kernel: &str, text: impl FnOnce() -> String) {
        self.write_bytes(stage, kernel, "txt", || text().into_bytes());
    }

    /// [`Dump::write`] of bytes, with a file name extension.
    pub fn write_bytes(
        &self,
        stage: &str,
        kernel: &str,
        extension: &str,
        bytes: impl FnOnce() -> Vec<u8>,
    ) {
        if !self.wants(stage) {
            return;
        }
        let safe: String = kernel
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || c == '_' || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .take(80)
            .collect();
        let path = self.directory.join(format!("{safe}.{stage}.{extension}"));
        let written =
            std::fs::create_dir_all(&self.directory).and_then(|()| std::fs::write(&path, bytes()));
        if let Err(why) = written {
            eprintln!("brolga: cannot write {}: {why}", path.display());
        }
    }
}

/// [`Dump`] of one kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelDump<'a> {
    dump: &'a Dump,
    kernel: &'a str,
}

impl KernelDump<'_> {
    /// [`Dump::wants`].
    pub fn wants(&self, stage: &str) -> bool {
        self.dump.wants(stage)
    }

    /// [`Dump::write`].
    pub fn write(&self, stage: &str, text: impl FnOnce() -> String) {
        self.dump.write(stage, self.kernel, text);
    }
}
