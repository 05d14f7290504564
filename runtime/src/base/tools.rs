//! The programs that compile C++ for OpenCL, where they are installed.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use brolga_host::environment;

const CLANG: &str = "clang-15";
const TRANSLATOR: &str = "llvm-spirv-15";

/// A clang that writes LLVM bitcode, and the translator of that bitcode to SPIR-V.
#[derive(Debug)]
pub(crate) struct Tools {
    pub clang: PathBuf,
    pub translator: PathBuf,
}

impl Tools {
    /// Looks for them in the environment (`BROLGA_CLANG`, `BROLGA_LLVM_SPIRV`: paths), in `PATH`
    /// and where Debian and its users put them. An error says what to install.
    pub(crate) fn find() -> Result<Self, String> {
        let clang = locate("BROLGA_CLANG", CLANG);
        let translator = locate("BROLGA_LLVM_SPIRV", TRANSLATOR);
        match (clang, translator) {
            (Some(clang), Some(translator)) => Ok(Tools { clang, translator }),
            _ => Err(format!(
                "error: C++ for OpenCL is compiled with {CLANG} and {TRANSLATOR}, which are not \
                 both installed: install them, or set BROLGA_CLANG and BROLGA_LLVM_SPIRV to \
                 their paths. OpenCL C and SPIR-V need neither.\n"
            )),
        }
    }
}

/// A path from the environment is taken as it is and must be right; else the name is looked up.
fn locate(variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(path) = environment::trusted(variable) {
        return Some(PathBuf::from(path)).filter(|p| is_program(p));
    }
    let path = environment::trusted("PATH").unwrap_or_else(|| OsString::from("/usr/bin"));
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/bin"), PathBuf::from("/usr/local/bin")])
        .map(|directory| directory.join(name))
        .find(|p| is_program(p))
}

fn is_program(path: &Path) -> bool {
    path.is_absolute()
        && std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
