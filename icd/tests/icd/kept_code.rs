//! Code that processes leave for others: `BROLGA_CACHE`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::support::{self, Link, keeping_in};
use crate::trace::events_with;

/// Programs that launch many kinds of kernels.
const PROGRAMS: [&str; 3] = [
    "image_kernels.c",
    "async_copies.c",
    "floating_point_state.c",
];

/// Bytes at the end of each file that vouch for the rest, with a key of the folder's.
const MAC_BYTES: usize = 32;

/// The files of a store, but for its key.
fn files(folder: &Path) -> Vec<PathBuf> {
    let inner = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten();
    let folders = inner(folder.to_owned()).map(|entry| entry.expect("an entry").path());
    let files = folders.filter(|path| path.is_dir()).flat_map(inner);
    files.map(|entry| entry.expect("an entry").path()).collect()
}

/// What the files hold, by their names.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let named = files(folder).into_iter().map(|path| {
        let mut bytes = std::fs::read(&path).expect("it can be read");
        bytes.truncate(bytes.len() - MAC_BYTES);
        let name = path.file_name().expect("a file has a name");
        (name.into(), bytes)
    });
    named.collect()
}

/// One of `tests/c`, compiled; none where that cannot be.
fn program(name: &str, folder: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name);
    support::can_compile_c().then(|| support::compile(&source, folder, Link::Loader))
}

fn succeeds(program: &Path, variables: &[(&str, &OsStr)]) {
    let output = support::run_with(program, &[], variables);
    assert!(output.status.success(), "{}", support::text(&output));
}

/// The sources and pieces of code that a process compiles, and whether each was kept. Those that
/// are compiled ahead of launches may be more or less each time.
type Compiles = BTreeMap<String, bool>;

/// Those of a run of `image_kernels.c`, several of the same name as one.
fn compiles(folder: &Path, variables: &[(&str, &OsStr)]) -> Option<Compiles> {
    let variables = [&keeping_in(folder)[..], variables].concat();
    let events = events_with("image_kernels.c", &variables)?;
    let mut found = Compiles::new();
    for event in &events {
        if let Some(is_kept) = event["args"]["kept"].as_bool() {
            let args = &event["args"];
            // What fails is told anew.
            if args["ok"] == false {
                continue;
            }
            let name = format!(
                "{} {} {}",
                event["name"], args["launch key"], args["source bytes"]
            );
            *found.entry(name).or_insert(true) &= is_kept;
        }
    }
    assert!(found.len() > 20, "{found:?}");
    Some(found)
}

/// Whether what an earlier process compiled was kept for a later one.
fn was_all_kept(earlier: &Compiles, later: &Compiles) -> bool {
    let mut both = later.iter().filter(|(name, _)| earlier.contains_key(*name));
    both.all(|(_, &is_kept)| is_kept)
}

/// The pieces of code.
fn code(compiles: &Compiles) -> Compiles {
    let code = compiles
        .iter()
        .filter(|(name, _)| name.starts_with("compile "));
    code.map(|(name, &is_kept)| (name.clone(), is_kept))
        .collect()
}

fn was_none_kept(compiles: &Compiles) -> bool {
    !compiles.values().any(|&is_kept| is_kept)
}

/// Addresses are in none, and nothing hangs on the order in which a hash table is gone through.
#[test]
fn code_is_the_same_in_every_process() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    for name in PROGRAMS {
        let Some(program) = program(name, folder.path()) else {
            return;
        };
        let [one, other] = ["one", "other"].map(|kept| folder.path().join(name).join(kept));
        succeeds(&program, &keeping_in(&one));
        succeeds(&program, &keeping_in(&other));
        let (one, other) = (contents(&one), contents(&other));
        let both = one
            .iter()
            .filter_map(|(file, bytes)| Some((file, bytes, other.get(file)?)));
        let differ = both.clone().filter(|(_, one, other)| one != other);
        let differ: Vec<_> = differ.map(|(file, ..)| file).collect();
        assert!(differ.is_empty(), "{name}: {differ:?}");
        assert!(both.count() > 4, "{name}");
    }
}

#[test]
fn the_next_process_finds_all_of_it() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let kept = folder.path().join("kept");
    let Some(first) = compiles(&kept, &[]) else {
        return;
    };
    let next = compiles(&kept, &[]).expect("it ran before");
    assert!(was_all_kept(&first, &next), "{next:?}");
    let off = [("BROLGA_CACHE", OsStr::new("0"))];
    let off = compiles(&kept, &off).expect("it ran before");
    assert!(was_none_kept(&off), "{off:?}");
}

/// A home directory may be shared by machines. What sources mean is the same for all.
#[test]
fn code_for_another_processor_is_not_found() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let kept = folder.path().join("kept");
    for isa in ["sse4.2", "avx2"] {
        let isa = [("BROLGA_ISA", OsStr::new(isa))];
        let Some(first) = compiles(&kept, &isa) else {
            return;
        };
        assert!(was_none_kept(&code(&first)), "{isa:?}: {first:?}");
        let next = compiles(&kept, &isa).expect("it ran before");
        assert!(was_all_kept(&first, &next), "{isa:?}: {next:?}");
    }
    let width = [("BROLGA_WIDTH", OsStr::new("4"))];
    let width = compiles(&kept, &width).expect("it ran before");
    assert!(was_none_kept(&code(&width)), "{width:?}");
}

#[test]
fn damaged_files_are_made_anew() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let kept = folder.path().join("kept");
    let Some(first) = compiles(&kept, &[]) else {
        return;
    };
    for (n, path) in files(&kept).iter().enumerate() {
        let mut bytes = std::fs::read(path).expect("it can be read");
        let at = (n * 7919) % bytes.len();
        match n % 3 {
            0 => bytes[at] ^= 1 << (n % 8),
            1 => bytes.truncate(at),
            _ => bytes.insert(at, 0),
        }
        std::fs::write(path, bytes).expect("it can be written");
    }
    let next = compiles(&kept, &[]).expect("it ran before");
    assert!(was_none_kept(&next), "{next:?}");
    let last = compiles(&kept, &[]).expect("it ran before");
    assert!(was_all_kept(&first, &last), "{last:?}");
}

/// Many processes begin with an empty folder, and some are killed.
#[test]
fn processes_share_a_folder() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let kept = folder.path().join("kept");
    let Some(program) = program("image_kernels.c", folder.path()) else {
        return;
    };
    let vendors = support::vendors();
    let start = |_| {
        Command::new(&program)
            .env("OCL_ICD_VENDORS", vendors.path())
            .env_remove("OCL_ICD_FILENAMES")
            .envs(keeping_in(&kept))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts")
    };
    for round in 0..4 {
        let mut processes: Vec<_> = (0..16).map(start).collect();
        for (n, process) in processes.iter_mut().enumerate() {
            if n % 2 == 0 {
                std::thread::sleep(Duration::from_millis(5 + 7 * round));
                process.kill().expect("it can be killed");
            }
            let status = process.wait().expect("it ends");
            assert!(n % 2 == 0 || status.success(), "{status}");
        }
    }
    let next = compiles(&kept, &[]).expect("it ran before");
    let last = compiles(&kept, &[]).expect("it ran before");
    assert!(was_all_kept(&next, &last), "{last:?}");
    succeeds(&program, &keeping_in(&kept));
}

/// What cannot be had is done without.
#[test]
fn without_a_folder_programs_run() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let file = folder.path().join("file");
    std::fs::write(&file, b"").expect("it can be written");
    let Some(program) = program("image_kernels.c", folder.path()) else {
        return;
    };
    let places = ["/proc/nowhere", "relative"].map(PathBuf::from);
    for place in places.into_iter().chain([file.join("below")]) {
        let output = support::run_with(&program, &[], &keeping_in(&place));
        assert!(output.status.success(), "{}", support::text(&output));
        let told = String::from_utf8_lossy(&output.stderr).contains("no code is kept");
        assert!(told, "{}", support::text(&output));
    }
    // The user did not ask for one there.
    let variables = [
        ("BROLGA_CACHE", OsStr::new("1")),
        ("XDG_CACHE_HOME", file.as_os_str()),
    ];
    let output = support::run_with(&program, &[], &variables);
    assert!(output.status.success(), "{}", support::text(&output));
    assert!(output.stderr.is_empty(), "{}", support::text(&output));
}

/// Where the specification of base directories says.
#[test]
fn code_is_kept_where_the_user_s_caches_are() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let Some(program) = program("image_kernels.c", folder.path()) else {
        return;
    };
    let variables = [
        ("BROLGA_CACHE", OsStr::new("1")),
        ("XDG_CACHE_HOME", OsStr::new("")),
        ("HOME", folder.path().as_os_str()),
    ];
    succeeds(&program, &variables);
    assert!(files(&folder.path().join(".cache/brolga")).len() > 4);
    let elsewhere = folder.path().join("elsewhere");
    let variables = [
        ("BROLGA_CACHE", OsStr::new("1")),
        ("XDG_CACHE_HOME", elsewhere.as_os_str()),
        ("HOME", folder.path().as_os_str()),
    ];
    succeeds(&program, &variables);
    assert!(files(&elsewhere.join("brolga")).len() > 4);
}
