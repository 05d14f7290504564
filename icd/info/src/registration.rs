//! The loader that applications use, the `.icd` files that it reads, and whether the driver is one
//! of those that they name; if not, why.

use std::ffi::{CStr, c_char, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr;

use brolga_icd_testing::host::{Cl, Platform};
use libloading::Library;

use crate::page::Page;
use crate::probe;

/// The name by which applications are linked with the loader.
const LOADER: &str = "libOpenCL.so.1";

/// Where loaders look if no variable says otherwise.
const VENDORS: &str = "/etc/OpenCL/vendors";

/// The driver's name, as a platform and in the name of its library.
const DRIVER: &str = "Brolga";
const LIBRARY: &str = "libbrolga";

/// `CL_ICDL_NAME` and `CL_ICDL_VERSION` of `cl_loader_info`.
const LOADER_NAME: u32 = 3;
const LOADER_VERSION: u32 = 2;

/// Prints what is registered; the driver, if the loader has it.
pub fn describe(page: &mut Page) -> Option<Platform> {
    page.section("loader");
    let loader = Cl::open_loader();
    match &loader {
        Ok(_) => {
            page.line(
                "library",
                mapped(LOADER).unwrap_or_else(|| LOADER.to_owned()),
            );
            page.line(
                "is",
                loader_name().unwrap_or_else(|| "does not say".to_owned()),
            );
        }
        Err(why) => page.line("library", format!("cannot be opened: {why}")),
    }
    page.section("registered drivers");
    let asked = Places::of(|name| std::env::var_os(name).map(PathBuf::from));
    let registered = Registered::find(&asked);
    registered.describe(page, &asked);
    let platforms = loader.as_ref().map(|cl| cl.platforms());
    let platforms = match &platforms {
        Ok(Ok(platforms)) => &platforms[..],
        _ => &[],
    };
    page.section("platforms of the loader");
    let mut found = None;
    for &platform in platforms {
        let name = platform.name().unwrap_or_else(|why| why);
        let version = platform.version().unwrap_or_else(|why| why);
        page.line(&name, version);
        if name == DRIVER {
            found = Some(platform);
        }
    }
    if found.is_none() {
        let elsewhere = Registered::find(&Places::of(|_| None));
        let why = match &loader {
            Err(_) => no_loader(),
            Ok(_) => registered.why_not(&asked, &elsewhere),
        };
        page.line("not found", format!("{DRIVER} is not among them.\n{why}"));
    }
    found
}

fn no_loader() -> String {
    format!(
        "There is no {LOADER}: install a loader (Debian: ocl-icd-libopencl1),\n\
         or have the application linked with {LIBRARY}.so itself."
    )
}

/// Where a library that is mapped into this process lies.
fn mapped(name: &str) -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let stem = name.trim_end_matches(".1");
    let mut paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]));
    paths.find(|path| path.contains(stem)).map(str::to_owned)
}

/// What the loader says of itself, if it has `cl_loader_info`.
fn loader_name() -> Option<String> {
    type Info = unsafe extern "C" fn(u32, usize, *mut c_void, *mut usize) -> i32;
    type Find = unsafe extern "C" fn(*const c_char) -> *mut c_void;
    // SAFETY: the library is open already; the functions have these types by the specification and
    // by the extension.
    unsafe {
        let library: &'static Library = Box::leak(Box::new(Library::new(LOADER).ok()?));
        let find = library
            .get::<Find>(b"clGetExtensionFunctionAddress\0")
            .ok()?;
        let info = find(c"clGetICDLoaderInfoOCLICD".as_ptr());
        if info.is_null() {
            return None;
        }
        let info = std::mem::transmute::<*mut c_void, Info>(info);
        let text = |what| {
            let mut text = [0_u8; 256];
            info(what, text.len(), text.as_mut_ptr().cast(), ptr::null_mut());
            let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
            text.to_string_lossy().into_owned()
        };
        Some(format!("{} {}", text(LOADER_NAME), text(LOADER_VERSION)))
    }
}

/// What a loader looks at, and by which variable.
#[derive(Debug, Default, PartialEq, Eq)]
struct Places {
    /// A folder with `.icd` files, or one such file, or a library (ocl-icd).
    vendors: PathBuf,
    variable: Option<&'static str>,
    /// Libraries besides (Khronos' loader).
    libraries: Vec<PathBuf>,
}

impl Places {
    fn of(get: impl Fn(&str) -> Option<PathBuf>) -> Places {
        let get = |name| get(name).filter(|path| !path.as_os_str().is_empty());
        let names = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"];
        let found = names.into_iter().find_map(|name| Some((get(name)?, name)));
        let more = get("OCL_ICD_FILENAMES").unwrap_or_default();
        Places {
            variable: found.as_ref().map(|&(_, name)| name),
            vendors: found.map_or_else(|| PathBuf::from(VENDORS), |(path, _)| path),
            libraries: std::env::split_paths(&more)
                .filter(|path| !path.as_os_str().is_empty())
                .collect(),
        }
    }
}

/// A library, which file names it, and what became of it.
#[derive(Debug)]
struct Entry {
    file: Option<PathBuf>,
    /// As the file has it; nothing if that cannot be read.
    library: String,
    /// Names of platforms.
    opened: Result<Vec<String>, String>,
}

impl Entry {
    fn of_library(file: Option<PathBuf>, library: &str) -> Entry {
        Entry {
            file,
            library: library.to_owned(),
            opened: probe::ask(library),
        }
    }

    /// Of an `.icd` file: the library's name is its first line.
    fn of_file(file: PathBuf) -> Entry {
        let library = fs::read_to_string(&file).map(|text| {
            let first = text.lines().next().unwrap_or_default();
            first.trim().to_owned()
        });
        match library {
            Ok(library) if !library.is_empty() => Entry::of_library(Some(file), &library),
            Ok(_) => Entry {
                file: Some(file),
                library: String::new(),
                opened: Err("the file is empty, and should name a library".to_owned()),
            },
            Err(why) => Entry {
                file: Some(file),
                library: String::new(),
                opened: Err(format!("the file cannot be read: {why}")),
            },
        }
    }

    fn is_driver(&self) -> bool {
        let file = self.file.as_ref().and_then(|file| file.file_name());
        let file = file.unwrap_or_default().to_string_lossy();
        let opened = self.opened.as_ref();
        self.library.contains(LIBRARY)
            || file.contains("brolga")
            || opened.is_ok_and(|names| names.iter().any(|name| name == DRIVER))
    }

    fn describe(&self, page: &mut Page) {
        let file = self.file.as_deref().map(|file| file.display().to_string());
        let opened = match &self.opened {
            Ok(names) => format!("has {}", names.join(", ")),
            Err(why) => format!("does NOT open: {why}"),
        };
        let library = match self.library.as_str() {
            "" => String::new(),
            library => format!("names {library}\n"),
        };
        page.line(
            "file",
            format!(
                "{}\n{library}{opened}",
                file.as_deref().unwrap_or("none, a variable")
            ),
        );
    }
}

/// What a loader finds.
struct Registered {
    entries: Vec<Entry>,
    /// Files of the folder that no loader reads, for want of the ending.
    ignored: Vec<PathBuf>,
    /// Why the folder cannot be read.
    unreadable: Option<String>,
}

impl Registered {
    fn find(places: &Places) -> Registered {
        let mut found = Registered {
            entries: Vec::new(),
            ignored: Vec::new(),
            unreadable: None,
        };
        let vendors = places.vendors.as_path();
        if vendors.is_dir() {
            found.read_folder(vendors);
        } else if vendors.extension().is_some_and(|ending| ending == "icd") {
            found.entries.push(Entry::of_file(vendors.to_path_buf()));
        } else if places.variable.is_some() {
            let library = vendors.to_string_lossy();
            found.entries.push(Entry::of_library(None, &library));
        } else {
            found.unreadable = Some("there is no such folder".to_owned());
        }
        for library in &places.libraries {
            let library = library.to_string_lossy();
            found.entries.push(Entry::of_library(None, &library));
        }
        found
    }

    fn read_folder(&mut self, folder: &Path) {
        let listed = match fs::read_dir(folder) {
            Ok(listed) => listed.flatten(),
            Err(why) => {
                self.unreadable = Some(why.to_string());
                return;
            }
        };
        let mut files: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
        files.sort_unstable();
        let is_icd = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "icd");
        let (files, ignored) = files.into_iter().partition(is_icd);
        self.ignored = ignored;
        self.entries = files.into_iter().map(Entry::of_file).collect();
    }

    fn describe(&self, page: &mut Page, places: &Places) {
        let by = places
            .variable
            .map_or("the loader's own".to_owned(), |name| {
                format!("{name} says so, and {VENDORS} is not looked at")
            });
        page.line("looked at", format!("{} ({by})", places.vendors.display()));
        if let Some(why) = &self.unreadable {
            page.line("", why);
        }
        for entry in &self.entries {
            entry.describe(page);
        }
        for file in &self.ignored {
            let why = "not read: its name does not end in .icd";
            page.line("file", format!("{}\n{why}", file.display()));
        }
    }

    /// Why the loader does not have the driver, and what to do. `elsewhere` is where it would look
    /// if no variable were set.
    fn why_not(&self, places: &Places, elsewhere: &Registered) -> String {
        let vendors = places.vendors.display();
        if let Some(entry) = self.entries.iter().find(|entry| entry.is_driver()) {
            return match &entry.opened {
                Err(why) => format!("It is registered, but {why}"),
                Ok(_) => "It is registered and opens, but this loader does not take it:\n\
                          a variable above may select others (OCL_ICD_PLATFORM_SORT, \
                          OCL_ICD_DEFAULT_PLATFORM)."
                    .to_owned(),
            };
        }
        if let Some(name) = places.variable
            && elsewhere.entries.iter().any(Entry::is_driver)
        {
            return format!(
                "It is registered in {VENDORS}, but {name} has the loader\n\
                 look at {vendors} instead: unset {name}."
            );
        }
        if let Some(file) = self.ignored.iter().find(|file| names_driver(file)) {
            let file = file.display();
            return format!(
                "{file} names it, but only files that end in .icd are read: rename it."
            );
        }
        format!(
            "No .icd file in {vendors} names it. Write one, whose only line is\n\
             the path of {LIBRARY}.so.0; or set OCL_ICD_VENDORS to a folder that has one."
        )
    }
}

fn names_driver(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.contains(LIBRARY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_says_where() {
        let places = |set: &'static [(&str, &str)]| {
            Places::of(move |name| {
                let found = set.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| PathBuf::from(value))
            })
        };
        assert_eq!(places(&[]).vendors, Path::new(VENDORS));
        assert_eq!(
            places(&[("OCL_ICD_VENDORS", "")]).vendors,
            Path::new(VENDORS)
        );
        let two = [("OPENCL_VENDOR_PATH", "/a"), ("OCL_ICD_VENDORS", "/b")];
        let two = Places::of(|name| {
            let found = two.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| PathBuf::from(value))
        });
        assert_eq!(two.vendors, Path::new("/b"));
        assert_eq!(two.variable, Some("OCL_ICD_VENDORS"));
        let more = places(&[("OCL_ICD_FILENAMES", "/x/libbrolga.so:/y.so")]);
        assert_eq!(
            more.libraries,
            [PathBuf::from("/x/libbrolga.so"), PathBuf::from("/y.so")]
        );
    }
}
