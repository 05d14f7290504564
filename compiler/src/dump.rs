//! Writes what each stage made to files, for people:
//! `BROLGA_DUMP=spirv,ir,images,wg,vec,lowered,clif,asm`, in `BROLGA_DUMP_DIR` (default
//! `brolga-dump`). `BROLGA_REMARKS=1` says on standard error how each kernel is run.

use std::path::PathBuf;

use brolga_host::{environment, notice};

/// Whether `BROLGA_REMARKS` asks for remarks on standard error.
pub fn remarks_wanted() -> bool {
    environment::is_on("BROLGA_REMARKS", false)
}

/// What `BROLGA_DUMP` may name: the stages, and all of them.
const STAGES: [&str; 10] = [
    "spirv", "ir", "alone", "images", "wg", "vec", "lowered", "clif", "asm", "all",
];

/// Which stages are written, and where.
#[derive(Clone, Debug, Default)]
pub struct Dump {
    stages: Vec<&'static str>,
    remarks: bool,
    directory: PathBuf,
}

impl Dump {
    /// As the environment asks.
    pub fn from_env() -> Dump {
        let directory = environment::trusted("BROLGA_DUMP_DIR");
        let directory = directory.unwrap_or_else(|| "brolga-dump".into());
        Dump {
            stages: environment::listed("BROLGA_DUMP", &STAGES),
            remarks: remarks_wanted(),
            directory: directory.into(),
        }
    }

    /// Whether remarks are wanted on standard error.
    pub fn remarks(&self) -> bool {
        self.remarks
    }

    /// Whether anything is written.
    pub fn is_on(&self) -> bool {
        self.remarks || !self.stages.is_empty()
    }

    /// Whether `stage` is wanted.
    pub fn wants(&self, stage: &str) -> bool {
        self.stages.iter().any(|&s| s == stage || s == "all")
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
            notice(format_args!("cannot write {}: {why}", path.display()));
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
