//! Choosing the driver: the environment that makes an ICD loader see one driver only.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A chosen driver. Its environment is valid as long as it lives.
#[derive(Debug)]
pub struct Driver {
    /// The file name of the driver's library, for reports.
    pub name: String,
    /// Variables to set for every process that is to use it.
    pub env: Vec<(OsString, OsString)>,
    /// The folder with the one `.icd` file that `OCL_ICD_VENDORS` points to.
    _vendors: TempDir,
}

/// Variables by which a loader would find other drivers; to be removed.
pub const OTHER_DRIVERS: [&str; 2] = ["OCL_ICD_FILENAMES", "OCL_ICD_ENABLE_TRACE"];

impl Driver {
    /// Chooses a driver by its shared library or by an `.icd` file, and optionally a loader.
    ///
    /// The one way that every loader understands is a folder of `.icd` files: `ocl-icd` takes a
    /// library in `OCL_ICD_VENDORS` too, the Khronos loader does not, and there `OCL_ICD_FILENAMES`
    /// adds to the system's drivers rather than replacing them.
    ///
    /// # Errors
    /// A file that is missing or not of the kind expected.
    pub fn choose(driver: &Path, loader: Option<&Path>) -> Result<Self, String> {
        let entry = icd_entry(driver)?;
        let name = entry.rsplit('/').next().unwrap_or(&entry).to_string();
        let vendors = TempDir::with_prefix("cts-harness-")
            .map_err(|e| format!("no temporary folder: {e}"))?;
        let icd = vendors.path().join("driver.icd");
        std::fs::write(&icd, entry + "\n")
            .map_err(|e| format!("cannot write {}: {e}", icd.display()))?;
        let mut env = vec![("OCL_ICD_VENDORS".into(), vendors.path().into())];
        if let Some(loader) = loader {
            env.push(("LD_LIBRARY_PATH".into(), library_path(loader)?));
        }
        Ok(Self {
            name,
            env,
            _vendors: vendors,
        })
    }
}

/// The line an `.icd` file needs for this driver.
fn icd_entry(driver: &Path) -> Result<String, String> {
    if driver.extension().is_some_and(|e| e == "icd") {
        let text = std::fs::read_to_string(driver).map_err(|e| {
            format!(
                "cannot read the driver's .icd file {}: {e}",
                driver.display()
            )
        })?;
        let line = text.lines().map(str::trim).find(|l| !l.is_empty());
        return line.map(String::from).ok_or(format!(
            "{} is empty; expected the name of a shared library",
            driver.display()
        ));
    }
    if !driver.is_file() {
        return Err(format!(
            "no driver at {}; expected a shared library or an .icd file",
            driver.display()
        ));
    }
    let whole: PathBuf = driver
        .canonicalize()
        .map_err(|e| format!("cannot resolve {}: {e}", driver.display()))?;
    whole
        .into_os_string()
        .into_string()
        .map_err(|p| format!("the driver's path {p:?} is not UTF-8"))
}

/// `LD_LIBRARY_PATH` with the loader's folder in front. Executables of the CTS ask for
/// `libOpenCL.so.1`, so that is what the folder must have.
fn library_path(loader: &Path) -> Result<OsString, String> {
    let folder = if loader.is_dir() {
        loader
    } else {
        loader.parent().unwrap_or(Path::new("."))
    };
    let folder = folder
        .canonicalize()
        .map_err(|e| format!("no loader at {}: {e}", loader.display()))?;
    if !folder.join("libOpenCL.so.1").exists() {
        return Err(format!(
            "no libOpenCL.so.1 in {}; expected the folder of an ICD loader",
            folder.display()
        ));
    }
    let rest = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let paths = std::iter::once(folder)
        .chain(std::env::split_paths(&rest).filter(|p| !p.as_os_str().is_empty()));
    std::env::join_paths(paths)
        .map_err(|e| format!("the loader's path cannot be in LD_LIBRARY_PATH: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry_of(driver: &Driver) -> String {
        let (name, folder) = &driver.env[0];
        assert_eq!(name, "OCL_ICD_VENDORS");
        std::fs::read_to_string(Path::new(folder).join("driver.icd")).unwrap()
    }

    #[test]
    fn a_library_and_an_icd_file_both_choose_a_driver() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libdriver.so");
        std::fs::write(&library, "").unwrap();
        let by_library = Driver::choose(&library, None).unwrap();
        assert_eq!(by_library.name, "libdriver.so");
        assert_eq!(
            entry_of(&by_library).trim(),
            library.canonicalize().unwrap().to_str().unwrap()
        );

        let icd = dir.path().join("x.icd");
        std::fs::write(&icd, "\n libother.so.2 \n").unwrap();
        let by_icd = Driver::choose(&icd, None).unwrap();
        assert_eq!(by_icd.name, "libother.so.2");
        assert_eq!(entry_of(&by_icd), "libother.so.2\n");
    }

    #[test]
    fn what_is_missing_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("libdriver.so");
        assert!(
            Driver::choose(&library, None)
                .unwrap_err()
                .contains("no driver at")
        );
        std::fs::write(&library, "").unwrap();
        assert!(
            Driver::choose(&library, Some(dir.path()))
                .unwrap_err()
                .contains("no libOpenCL.so.1 in")
        );
        let icd = dir.path().join("x.icd");
        std::fs::write(&icd, "\n").unwrap();
        assert!(Driver::choose(&icd, None).unwrap_err().contains("is empty"));
    }

    #[test]
    fn the_loader_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let loader = dir.path().join("libOpenCL.so.1");
        std::fs::write(&loader, "").unwrap();
        let path = library_path(&loader).unwrap();
        let first = std::env::split_paths(&path).next().unwrap();
        assert_eq!(first, dir.path().canonicalize().unwrap());
    }
}
