//! Finds the compilers and says exactly which ones they are.

use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The programs that the front end starts. At least one way to SPIR-V is there.
#[derive(Debug)]
pub(super) struct Tools {
    /// A clang that writes SPIR-V itself.
    pub direct: Option<PathBuf>,
    /// A clang that writes LLVM bitcode, and the translator for that bitcode.
    pub bitcode: Option<(PathBuf, PathBuf)>,
}

const DIRECT: &str = "clang-22";
const BITCODE: &str = "clang-15";
const TRANSLATOR: &str = "llvm-spirv-15";

impl Tools {
    /// Looks for the tools in the environment (`BROLGA_CLANG`, `BROLGA_CLANG_BITCODE`,
    /// `BROLGA_LLVM_SPIRV`: paths), in `PATH` and where Debian and its users put them. An error
    /// says what to install.
    pub(super) fn find() -> Result<Self, String> {
        let direct = locate("BROLGA_CLANG", DIRECT);
        let bitcode =
            locate("BROLGA_CLANG_BITCODE", BITCODE).zip(locate("BROLGA_LLVM_SPIRV", TRANSLATOR));
        if direct.is_none() && bitcode.is_none() {
            return Err(format!(
                "error: no OpenCL C compiler found: install {DIRECT} (or {BITCODE} and {TRANSLATOR}), or set BROLGA_CLANG \
                 (or BROLGA_CLANG_BITCODE and BROLGA_LLVM_SPIRV) to the paths of the programs. \
                 Programs from SPIR-V do not need it.\n"
            ));
        }
        Ok(Tools { direct, bitcode })
    }

    /// One line a tool: path, size and modification time. Two installations that differ differ
    /// here.
    pub(super) fn identity(&self) -> String {
        let mut text = String::new();
        let all = self.direct.iter().chain(
            self.bitcode
                .iter()
                .flat_map(|(clang, translator)| [clang, translator]),
        );
        for path in all {
            let (size, time) = std::fs::metadata(path)
                .map(|m| (m.size(), m.mtime_nsec() + m.mtime() * 1_000_000_000))
                .unwrap_or_default();
            text.push_str(&format!("{} {size} {time}\n", path.display()));
        }
        text
    }
}

/// A path from the environment is taken as it is and must be right; else the name is looked up.
fn locate(variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable).filter(|v| !v.is_empty()) {
        return Some(PathBuf::from(path)).filter(|p| is_program(p));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin"));
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/bin"), PathBuf::from("/usr/local/bin")])
        .map(|directory| directory.join(name))
        .find(|p| is_program(p))
}

fn is_program(path: &Path) -> bool {
    path.is_absolute()
        && std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
