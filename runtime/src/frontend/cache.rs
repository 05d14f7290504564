//! Results on disk, so that a program that was built once is not compiled again.
//!
//! A directory of files named by the SHA-256 of everything that a result depends on. Processes
//! share it without locks: an entry is written under a temporary name and renamed, so it is there
//! whole or not at all; it carries its own checksum, so one that was damaged is a miss. What is
//! written last wins, and both writers wrote the same. Any failure of the file system only costs
//! time.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::spirv;

use super::clang::Request;

/// Raise when the front end's output changes for the same input.
const FORMAT: &str = concat!("brolga ", env!("CARGO_PKG_VERSION"), " front end 12");

/// First bytes of an entry.
const MAGIC: &[u8; 8] = b"BRLGFE01";

/// The directory is brought down to three quarters of this when it is found larger.
const MAX_BYTES: u64 = 256 << 20;

/// The directory is measured at the first store of a process and at every so many after that.
const MEASURE_EVERY: u32 = 64;

/// Names a result.
pub(super) struct Key(String);

impl Key {
    /// The preprocessed text stands for the files on disk that the source includes.
    pub(super) fn new(request: &Request) -> Self {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            // The length keeps neighbours apart.
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        part(FORMAT);
        part(&request.tools.identity());
        part(&format!("{:?} {:?}", request.options, request.features));
        part(request.source);
        part(request.preprocessed.as_deref().unwrap_or_default());
        for (name, text) in request.headers {
            part(name);
            part(text);
        }
        Key(hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect())
    }
}

pub(super) struct Cache {
    directory: PathBuf,
}

impl Cache {
    /// The user's cache, unless `BROLGA_CACHE=0` or there is no home for it (XDG Base Directory
    /// Specification).
    pub(super) fn from_environment() -> Option<Self> {
        if std::env::var_os("BROLGA_CACHE").is_some_and(|v| v == "0") {
            return None;
        }
        // "All paths set in these environment variables must be absolute. [...] consider the path
        // invalid and ignore it."
        let base = std::env::var_os("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
            .or_else(|| {
                let home = PathBuf::from(std::env::var_os("HOME")?);
                home.is_absolute().then(|| home.join(".cache"))
            })?;
        Some(Cache::at(base.join("brolga")))
    }

    pub(super) fn at(directory: PathBuf) -> Self {
        Cache { directory }
    }

    /// The stored module and log.
    pub(super) fn load(&self, key: &Key) -> Option<(Vec<u32>, String)> {
        let path = self.directory.join(&key.0);
        let entry = decode(&fs::read(&path).ok()?)?;
        // The modification time is when the entry was last of use, which eviction goes by.
        if let Ok(file) = fs::File::options().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        Some(entry)
    }

    pub(super) fn store(&self, key: &Key, spirv: &[u32], log: &str) {
        static STORES: AtomicU32 = AtomicU32::new(0);
        let count = STORES.fetch_add(1, Ordering::Relaxed);
        let written = self.write(&key.0, &encode(spirv, log), count);
        if written.is_ok() && count.is_multiple_of(MEASURE_EVERY) {
            let _ = evict(&self.directory, MAX_BYTES);
        }
    }

    fn write(&self, name: &str, bytes: &[u8], count: u32) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let temporary = self
            .directory
            .join(format!(".{}-{count}", std::process::id()));
        let result = fs::File::create(&temporary)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&temporary, self.directory.join(name)));
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        result
    }
}

/// magic, SHA-256 of the rest, length of the log, log, module.
fn encode(spirv: &[u32], log: &str) -> Vec<u8> {
    let mut body = (log.len() as u64).to_le_bytes().to_vec();
    body.extend_from_slice(log.as_bytes());
    body.extend(spirv.iter().flat_map(|word| word.to_le_bytes()));
    let mut entry = MAGIC.to_vec();
    entry.extend_from_slice(&Sha256::digest(&body));
    entry.extend_from_slice(&body);
    entry
}

fn decode(entry: &[u8]) -> Option<(Vec<u32>, String)> {
    let rest = entry.strip_prefix(MAGIC)?;
    let (checksum, body) = rest.split_at_checked(32)?;
    if Sha256::digest(body).as_slice() != checksum {
        return None;
    }
    let (length, rest) = body.split_at_checked(8)?;
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let (log, module) = rest.split_at_checked(length)?;
    Some((spirv::words(module)?, String::from_utf8(log.to_vec()).ok()?))
}

/// Removes the entries that were not used for longest until the rest is well below `max_bytes`, and
/// temporary files that a dead process left.
fn evict(directory: &Path, max_bytes: u64) -> io::Result<()> {
    let mut entries = Vec::new();
    let mut total = 0;
    for entry in fs::read_dir(directory)?.flatten() {
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            if used
                .elapsed()
                .is_ok_and(|age| age > Duration::from_secs(3600))
            {
                let _ = fs::remove_file(entry.path());
            }
            continue;
        }
        total += metadata.len();
        entries.push((used, metadata.len(), entry.path()));
    }
    if total <= max_bytes {
        return Ok(());
    }
    entries.sort();
    for (_, size, path) in entries {
        if total <= max_bytes / 4 * 3 {
            break;
        }
        // Another process may have removed it; either way it is gone.
        let _ = fs::remove_file(path);
        total -= size;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header and `OpNop`.
    const MODULE: [u32; 6] = [0x0723_0203, 0x10400, 0, 1, 0, 1 << 16];

    fn key(name: &str) -> Key {
        Key(name.to_owned())
    }

    #[test]
    fn what_is_stored_is_found_again() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::at(home.path().join("brolga"));
        assert!(cache.load(&key("a")).is_none());
        cache.store(&key("a"), &MODULE, "warning: é\n");
        assert_eq!(
            cache.load(&key("a")),
            Some((MODULE.to_vec(), "warning: é\n".to_owned()))
        );
        assert!(cache.load(&key("b")).is_none());
    }

    #[test]
    fn damaged_entries_are_misses() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::at(home.path().to_owned());
        cache.store(&key("a"), &MODULE, "log");
        let path = home.path().join("a");
        let good = fs::read(&path).unwrap();
        for length in 0..good.len() {
            fs::write(&path, &good[..length]).unwrap();
            assert!(cache.load(&key("a")).is_none(), "cut to {length} bytes");
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            fs::write(&path, bad).unwrap();
            assert!(cache.load(&key("a")).is_none(), "byte {at} changed");
        }
    }

    #[test]
    fn writers_at_the_same_time_leave_a_whole_entry() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::at(home.path().to_owned());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        cache.store(&key("a"), &MODULE, "log");
                        assert!(cache.load(&key("a")).is_some());
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn eviction_removes_the_oldest() {
        let home = tempfile::tempdir().unwrap();
        for index in 0..8_u64 {
            let path = home.path().join(format!("{index}"));
            fs::write(&path, [0; 100]).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 + index);
            fs::File::options()
                .append(true)
                .open(path)
                .unwrap()
                .set_modified(time)
                .unwrap();
        }
        evict(home.path(), 800).unwrap();
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 8);
        evict(home.path(), 799).unwrap();
        let mut left: Vec<_> = fs::read_dir(home.path())
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["3", "4", "5", "6", "7"]);
    }
}
