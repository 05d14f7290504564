//! The modules that mutation starts from: every `.spvasm` file of the tests that is not there to be
//! refused, assembled, and random valid ones.

use std::path::{Path, PathBuf};

use super::valid;
use crate::assembly;

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.ends_with("reject") {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "spvasm") {
            files.push(path);
        }
    }
}

/// Random valid modules among them.
const BUILT: u64 = 30;

/// The assembled modules, in the order of their paths. Those that `spirv-as` refuses are left out.
pub fn modules() -> Vec<Vec<u32>> {
    let mut files = Vec::new();
    collect(&assembly::tests(""), &mut files);
    let modules = files.iter().filter_map(|path| {
        let text = std::fs::read_to_string(path).ok()?;
        assembly::assemble(&text, "1.4").ok()
    });
    modules.chain((0..BUILT).map(valid::module)).collect()
}
