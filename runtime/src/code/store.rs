//! Compiled code on disk: what programs leave for later programs, of this and of other processes.
//!
//! In come keys and bytes of the compiler's ([`brolga_compiler::store`]); each is a file below
//! `$XDG_CACHE_HOME/brolga` (or `~/.cache/brolga`, or `BROLGA_CACHE_DIR`), named by a digest of its
//! key and of the build of the driver. Files of another build are never found, and what
//! decides the code (processor, options, source) is in the compiler's key.
//!
//! What is loaded is run, so it is believed only if this user's driver wrote it:
//!
//! - The folder belongs to the user and nobody else may write there; neither it nor a file may be a
//!   symbolic link. Otherwise there is no store, nor in a process that has more rights than who
//!   started it.
//! - A file ends with an authentication code (HMAC-SHA-256) of its name and contents, with a key
//!   that lies in the folder, readable by the user alone. What has another is as good as not there,
//!   and removed: cut off or damaged, of another user, renamed.
//! - Files are written aside and renamed, so that what is read is whole. Processes need no lock.
//!
//! An error is a miss or leaves nothing behind, silently; after one that will come again (a full or
//! read-only disk), the process writes no more.
//!
//! Files are in 16 folders by the first digit of their names, each of which gets its part of the
//! size that all may have (`BROLGA_CACHE_SIZE`, in MiB). One in 32 saved looks at its folder, and
//! removes what has not been used for longest if it is too large. The folder is opened anew each
//! time: an application may close every file descriptor that it does not know.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use brolga_compiler::store::{Key, Store};
use brolga_host::{environment, notice};
use hmac::{Hmac, KeyInit, Mac};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::binary::BUILD;

/// Bytes that all files take at most, if nobody says otherwise.
const USUAL_SIZE: u64 = 1 << 30;
/// Folders in the folder.
const FOLDERS: u64 = 16;
/// One in so many files has its folder looked at.
const SELDOM: u8 = 32;
/// What is used is marked as used so often.
const MARK_AFTER: Duration = Duration::from_secs(60 * 60);
/// A file that is older than this and was never renamed is one of a process that died.
const LEFT_BEHIND: Duration = Duration::from_secs(60 * 60);
/// No code is as long.
const LONGEST: u64 = 1 << 28;

const KEY_FILE: &str = "key";
const KEY_BYTES: usize = 32;
const MAC_BYTES: usize = 32;

/// The store of this process, unless it has none.
pub(crate) fn of_process() -> Option<Arc<dyn Store>> {
    let store = store().as_ref().ok()?;
    Some(Arc::clone(store) as Arc<dyn Store>)
}

/// Where this process keeps code, for people, or why it keeps none.
pub fn describe() -> String {
    match store() {
        Ok(store) => {
            let size = (store.size_of_folder * FOLDERS) >> 20;
            format!("in {}, {size} MiB at most", store.path.display())
        }
        Err(why) => format!("nowhere: {why}"),
    }
}

fn store() -> &'static Result<Arc<DiskStore>, String> {
    static STORE: LazyLock<Result<Arc<DiskStore>, String>> = LazyLock::new(|| {
        if !environment::is_on("BROLGA_CACHE", true) {
            return Err("BROLGA_CACHE is 0".to_owned());
        }
        let asked = environment::trusted("BROLGA_CACHE_DIR").map(PathBuf::from);
        let folder = asked.clone().or_else(usual_folder);
        let folder = folder.ok_or("there is no folder for the user's caches")?;
        let size = environment::chosen("BROLGA_CACHE_SIZE", "a number of MiB", |value| {
            value.parse::<u64>().ok()?.checked_mul(1 << 20)
        });
        let store = DiskStore::open(&folder, size.unwrap_or(USUAL_SIZE));
        store.map(Arc::new).map_err(|why| {
            let why = format!("{}: {why}", folder.display());
            if asked.is_some() {
                notice(format_args!("no code is kept in BROLGA_CACHE_DIR={why}"));
            }
            why
        })
    });
    &STORE
}

/// As the XDG Base Directory Specification says.
fn usual_folder() -> Option<PathBuf> {
    let caches = environment::trusted("XDG_CACHE_HOME").map(PathBuf::from);
    let caches = caches.filter(|path| path.is_absolute());
    let caches = caches.or_else(|| {
        let home = PathBuf::from(environment::trusted("HOME")?);
        home.is_absolute().then(|| home.join(".cache"))
    });
    Some(caches?.join("brolga"))
}

/// A folder of files.
#[derive(Debug)]
struct DiskStore {
    path: PathBuf,
    /// The folder's device and number, by which it is known again.
    identity: (u64, u64),
    key: [u8; KEY_BYTES],
    /// Bytes that the files of each folder in it take at most.
    size_of_folder: u64,
    /// Numbers files that are written.
    next: AtomicU64,
    /// Whether writing is not worth another try.
    is_full: AtomicBool,
}

/// What a folder is opened with.
const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// What a file is opened with to be read. Opening a pipe does not wait.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);
/// What a file is made with.
const NEW: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl DiskStore {
    /// The store in a folder, which is made if it is not there. An error says why there is none.
    fn open(path: &Path, size: u64) -> Result<DiskStore, String> {
        if !path.is_absolute() {
            return Err("its path is not absolute".to_owned());
        }
        let mut make = std::fs::DirBuilder::new();
        make.recursive(true).mode(0o700);
        make.create(path).map_err(|error| error.to_string())?;
        let folder = rustix::fs::open(path, FOLDER, Mode::empty());
        let folder = folder.map_err(|error| error.to_string())?;
        let stat = rustix::fs::fstat(&folder).map_err(|error| error.to_string())?;
        if !is_own(&stat, 0o022) {
            return Err("it is not this user's alone".to_owned());
        }
        Ok(DiskStore {
            path: path.to_owned(),
            identity: (stat.st_dev, stat.st_ino),
            key: key(&folder)?,
            size_of_folder: size / FOLDERS,
            next: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
        })
    }

    /// The folder, if it is the one that was opened first.
    fn folder(&self) -> Option<OwnedFd> {
        let folder = rustix::fs::open(&self.path, FOLDER, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&folder).ok()?;
        let is_same = (stat.st_dev, stat.st_ino) == self.identity;
        (is_same && is_own(&stat, 0o022)).then_some(folder)
    }

    /// Remembers an error that will come again.
    fn note(&self, error: Errno) {
        let lasts = [
            Errno::NOSPC,
            Errno::DQUOT,
            Errno::ROFS,
            Errno::ACCESS,
            Errno::PERM,
        ];
        if lasts.contains(&error) {
            self.is_full.store(true, Relaxed);
        }
    }

    /// The code that vouches for the contents of a file.
    fn mac(&self, name: &str, bytes: &[u8]) -> Hmac<Sha256> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.key);
        let mut mac = mac.expect("a key may have any length");
        mac.update(name.as_bytes());
        mac.update(bytes);
        mac
    }

    fn read(&self, folder: &OwnedFd, name: &str) -> Option<Vec<u8>> {
        let path = path(name);
        let file = rustix::fs::openat(folder, &path, READ, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        let bytes = is_own(&stat, 0o077)
            .then(|| contents(File::from(file), &stat))
            .flatten()
            .and_then(|mut bytes| {
                let end = bytes.len().checked_sub(MAC_BYTES)?;
                let mac = self.mac(name, &bytes[..end]);
                mac.verify_slice(&bytes[end..]).ok()?;
                bytes.truncate(end);
                Some(bytes)
            });
        match bytes {
            None => {
                let _ = rustix::fs::unlinkat(folder, &path, AtFlags::empty());
            }
            Some(_) if age(&stat) > MARK_AFTER => {
                let now = Timespec {
                    tv_sec: 0,
                    tv_nsec: rustix::fs::UTIME_NOW,
                };
                let times = Timestamps {
                    last_access: now,
                    last_modification: now,
                };
                // Not worth telling anyone.
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                let _ = rustix::fs::utimensat(folder, &path, &times, flags);
            }
            Some(_) => {}
        }
        bytes
    }

    fn write(&self, folder: &OwnedFd, name: &str, bytes: &[u8]) -> Result<(), Errno> {
        let number = self.next.fetch_add(1, Relaxed);
        let path = path(name);
        let aside = format!("{}.{}.{number}", &path[..16], std::process::id());
        let create = || rustix::fs::openat(folder, &aside, NEW, Mode::RUSR | Mode::WUSR);
        let file = match create() {
            Err(Errno::NOENT) => {
                match rustix::fs::mkdirat(folder, &name[..1], Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error),
                }
                create()
            }
            file => file,
        };
        let mac = self.mac(name, bytes).finalize().into_bytes();
        let whole = [bytes, &mac].concat();
        let errno = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        let written = File::from(file?)
            .write_all(&whole)
            .map_err(errno)
            .and_then(|()| rustix::fs::renameat(folder, &aside, folder, &path));
        if written.is_err() {
            let _ = rustix::fs::unlinkat(folder, &aside, AtFlags::empty());
        }
        written
    }

    /// Removes what has not been used for longest from the folder of a name, if that is too large,
    /// and what processes that died have left behind.
    fn trim(&self, folder: &OwnedFd, name: &str) -> Option<()> {
        let folder = rustix::fs::openat(folder, &name[..1], FOLDER, Mode::empty()).ok()?;
        let folder = &folder;
        let mut files = Vec::new();
        let mut size = 0;
        for entry in Dir::read_from(folder).ok()? {
            let entry = entry.ok()?;
            let name = entry.file_name().to_owned();
            let stat = rustix::fs::statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW);
            let Ok(stat) = stat else {
                continue;
            };
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                continue;
            }
            let is_whole = name.to_bytes().len() == 2 * size_of::<Key>() - 1;
            if !is_whole && age(&stat) > LEFT_BEHIND {
                let _ = rustix::fs::unlinkat(folder, &name, AtFlags::empty());
                continue;
            }
            size += stat.st_size as u64;
            files.push((modified(&stat), name, stat.st_size as u64));
        }
        if size <= self.size_of_folder {
            return Some(());
        }
        files.sort_unstable();
        let enough = self.size_of_folder / 4 * 3;
        for (_, name, bytes) in files {
            if size <= enough {
                break;
            }
            let _ = rustix::fs::unlinkat(folder, &name, AtFlags::empty());
            size -= bytes;
        }
        Some(())
    }
}

impl Store for DiskStore {
    fn load(&self, key: &Key) -> Option<Vec<u8>> {
        self.read(&self.folder()?, &name(key))
    }

    fn save(&self, key: &Key, bytes: &[u8]) {
        if self.is_full.load(Relaxed) || bytes.len() as u64 > self.size_of_folder {
            return;
        }
        let Some(folder) = self.folder() else {
            return;
        };
        let name = name(key);
        if let Err(error) = self.write(&folder, &name, bytes) {
            self.note(error);
        }
        if key[0].is_multiple_of(SELDOM) {
            self.trim(&folder, &name);
        }
    }
}

/// Where the file of a name is: in the folder of its first digit, called by the rest.
fn path(name: &str) -> String {
    let (folder, rest) = name.split_at(1);
    format!("{folder}/{rest}")
}

/// The name of a key: hexadecimal digits.
fn name(key: &Key) -> String {
    let digest = Sha256::new().chain_update(BUILD).chain_update(key);
    let mut name = String::with_capacity(2 * size_of::<Key>());
    for byte in digest.finalize() {
        write!(name, "{byte:02x}").expect("strings take all");
    }
    name
}

/// Whether something belongs to the user and lacks the permissions of `others`.
fn is_own(stat: &Stat, others: u32) -> bool {
    let user = rustix::process::geteuid().as_raw();
    stat.st_uid == user && stat.st_mode & others == 0
}

/// All bytes of a file, if it is one of sensible size.
fn contents(file: File, stat: &Stat) -> Option<Vec<u8>> {
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    let size = u64::try_from(stat.st_size).ok()?;
    if !is_file || size > LONGEST {
        return None;
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size as usize).ok()?;
    file.take(size).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Since 1970.
fn modified(stat: &Stat) -> Duration {
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    Duration::new(seconds, (stat.st_mtime_nsec as u32).min(999_999_999))
}

fn age(stat: &Stat) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().saturating_sub(modified(stat))
}

/// The user's key, which is made if there is none.
fn key(folder: &OwnedFd) -> Result<[u8; KEY_BYTES], String> {
    let found = read_key(folder)?;
    if let Some(key) = found {
        return Ok(key);
    }
    let failed = |error: Errno| error.to_string();
    let mut key = [0; KEY_BYTES];
    let flags = rustix::rand::GetRandomFlags::empty();
    let filled = rustix::rand::getrandom(&mut key, flags).map_err(failed)?;
    if filled != KEY_BYTES {
        return Err("there is no randomness".to_owned());
    }
    let aside = format!("{KEY_FILE}.{}", std::process::id());
    // One that a process of this number has left.
    let _ = rustix::fs::unlinkat(folder, &aside, AtFlags::empty());
    let file = rustix::fs::openat(folder, &aside, NEW, Mode::RUSR | Mode::WUSR).map_err(failed)?;
    let written = File::from(file).write_all(&key);
    // Another process may have been first: its key is taken.
    let linked = rustix::fs::linkat(folder, &aside, folder, KEY_FILE, AtFlags::empty());
    let _ = rustix::fs::unlinkat(folder, &aside, AtFlags::empty());
    written.map_err(|error| error.to_string())?;
    match linked {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.to_string()),
    }
    read_key(folder)?.ok_or_else(|| "its key goes away".to_owned())
}

/// The key that is there.
fn read_key(folder: &OwnedFd) -> Result<Option<[u8; KEY_BYTES]>, String> {
    let file = match rustix::fs::openat(folder, OsStr::new(KEY_FILE), READ, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let stat = rustix::fs::fstat(&file).map_err(|error| error.to_string())?;
    let bytes = is_own(&stat, 0o077).then(|| contents(File::from(file), &stat));
    let key = bytes.flatten().and_then(|bytes| bytes.try_into().ok());
    let key = key.ok_or("its key is not this user's alone, or damaged")?;
    Ok(Some(key))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;

    fn store(size: u64) -> (TempDir, DiskStore) {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DiskStore::open(&folder.path().join("a/b"), size).expect("a store");
        (folder, store)
    }

    fn file(store: &DiskStore, key: &Key) -> PathBuf {
        store.path.join(path(&name(key)))
    }

    fn files(store: &DiskStore) -> Vec<PathBuf> {
        let inner = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten();
        let folders = inner(store.path.clone()).map(|entry| entry.expect("an entry").path());
        let files = folders.filter(|path| path.is_dir()).flat_map(inner);
        files.map(|entry| entry.expect("an entry").path()).collect()
    }

    #[test]
    fn what_was_saved_is_loaded_by_the_next_process() {
        let (_folder, store) = store(USUAL_SIZE);
        assert_eq!(store.load(&[1; 32]), None);
        store.save(&[1; 32], b"one");
        store.save(&[2; 32], b"");
        let next = DiskStore::open(&store.path, USUAL_SIZE).expect("a store");
        assert_eq!(next.load(&[1; 32]).as_deref(), Some(&b"one"[..]));
        assert_eq!(next.load(&[2; 32]).as_deref(), Some(&b""[..]));
        next.save(&[1; 32], b"another");
        assert_eq!(store.load(&[1; 32]).as_deref(), Some(&b"another"[..]));
        assert_eq!(files(&store).len(), 2, "nothing is left beside them");
    }

    #[test]
    fn a_file_that_was_changed_is_not_believed() {
        let (_folder, store) = store(USUAL_SIZE);
        let key = [3; 32];
        store.save(&key, b"code that is run");
        let path = file(&store, &key);
        let whole = fs::read(&path).expect("it is there");
        let mut changed: Vec<Vec<u8>> = (0..whole.len()).map(|n| whole[..n].to_vec()).collect();
        for bit in 0..8 * whole.len() {
            let mut other = whole.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            changed.push(other);
        }
        changed.push([&whole[..], &[0]].concat());
        for bytes in changed {
            fs::write(&path, &bytes).expect("it is written");
            assert_eq!(store.load(&key), None, "{bytes:?}");
            assert!(!path.exists(), "{bytes:?}");
        }
        store.save(&key, b"code that is run");
        // Another's name is another's contents.
        fs::rename(&path, file(&store, &[4; 32])).unwrap_or_else(|_| {
            fs::create_dir_all(file(&store, &[4; 32]).parent().expect("a folder")).expect("made");
            fs::rename(&path, file(&store, &[4; 32])).expect("renamed");
        });
        assert_eq!(store.load(&[4; 32]), None);
    }

    #[test]
    fn what_has_another_key_is_not_believed() {
        let (_folder, store) = store(USUAL_SIZE);
        store.save(&[5; 32], b"code");
        fs::remove_file(store.path.join(KEY_FILE)).expect("removed");
        let next = DiskStore::open(&store.path, USUAL_SIZE).expect("a store");
        assert_ne!(next.key, store.key);
        assert_eq!(next.load(&[5; 32]), None);
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_none() {
        let (_folder, store) = store(USUAL_SIZE);
        let open = |path: &Path| DiskStore::open(path, USUAL_SIZE).map(drop);
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
        };
        mode(&store.path, 0o770);
        assert!(open(&store.path).is_err());
        assert_eq!(store.load(&[1; 32]), None, "nor one that they may now");
        mode(&store.path, 0o700);
        assert!(open(&store.path).is_ok());
        mode(&store.path.join(KEY_FILE), 0o640);
        assert!(open(&store.path).is_err());
        let link = store.path.with_file_name("link");
        symlink(&store.path, &link).expect("a link");
        assert!(open(&link).is_err());
        assert!(open(Path::new("relative")).is_err());
        let file = store.path.with_file_name("file");
        fs::write(&file, b"").expect("a file");
        assert!(open(&file).is_err());
    }

    #[test]
    fn links_and_pipes_are_not_followed() {
        let (_folder, store) = store(USUAL_SIZE);
        let (key, other) = ([6; 32], [7; 32]);
        store.save(&key, b"code");
        store.save(&other, b"code");
        let (path, elsewhere) = (file(&store, &key), store.path.with_file_name("elsewhere"));
        fs::rename(&path, &elsewhere).expect("moved");
        symlink(&elsewhere, &path).expect("a link");
        assert_eq!(store.load(&key), None);
        let path = file(&store, &other);
        fs::remove_file(&path).expect("removed");
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::Fifo, mode, 0).expect("a pipe");
        assert_eq!(store.load(&other), None);
    }

    #[test]
    fn another_folder_of_the_same_name_is_not_used() {
        let (_folder, store) = store(USUAL_SIZE);
        store.save(&[8; 32], b"code");
        fs::rename(&store.path, store.path.with_file_name("old")).expect("moved");
        fs::create_dir(&store.path).expect("made");
        store.save(&[8; 32], b"code");
        assert_eq!(store.load(&[8; 32]), None);
        assert_eq!(files(&store).len(), 0);
    }

    fn numbered(n: u32) -> Key {
        Sha256::digest(n.to_le_bytes()).into()
    }

    #[test]
    fn files_take_no_more_than_they_may() {
        let size = 64 << 10;
        let (_folder, store) = store(size);
        for n in 0..3000 {
            store.save(&numbered(n), &[n as u8; 200]);
        }
        let bytes: u64 = files(&store)
            .iter()
            .map(|path| fs::metadata(path).expect("it is there").len())
            .sum();
        // Folders are looked at seldom.
        let late = FOLDERS * 2 * u64::from(SELDOM) * (200 + MAC_BYTES as u64);
        assert!(bytes < size + late, "{bytes}");
        assert!(bytes > size / 4, "{bytes}");
        store.save(&[9; 32], &vec![0; size as usize]);
        assert_eq!(store.load(&[9; 32]), None, "larger than a folder's part");
    }

    #[test]
    fn what_was_not_used_for_longest_goes() {
        let (_folder, store) = store(64 << 10);
        let in_one = (0..).map(numbered).filter(|key| name(key).starts_with('0'));
        let keys: Vec<Key> = in_one.take(20).collect();
        let old = SystemTime::now() - 2 * MARK_AFTER;
        for key in &keys {
            store.save(key, &[1; 200]);
            let file = fs::File::open(file(&store, key)).expect("it is there");
            file.set_modified(old).expect("it is ours");
        }
        assert!(store.load(&keys[0]).is_some());
        store.trim(&store.folder().expect("a folder"), "0");
        let left: Vec<bool> = keys.iter().map(|key| file(&store, key).exists()).collect();
        assert!(left[0], "{left:?}");
        assert_eq!(
            left.iter().filter(|&&is_left| is_left).count(),
            13,
            "{left:?}"
        );
    }

    #[test]
    fn processes_that_died_leave_nothing_for_long() {
        let (_folder, store) = store(USUAL_SIZE);
        let key = [0; 32];
        store.save(&key, b"code");
        let left = file(&store, &key).with_file_name("0123456789abcdef.1.1");
        fs::write(&left, b"half").expect("written");
        store.save(&key, b"code");
        assert!(left.exists(), "its process may live");
        let file = fs::File::open(&left).expect("it is there");
        file.set_modified(SystemTime::now() - 2 * LEFT_BEHIND)
            .expect("it is ours");
        store.save(&key, b"code");
        assert!(!left.exists());
        assert!(store.load(&key).is_some());
    }

    #[test]
    fn without_room_nothing_is_written() {
        let (_folder, store) = store(USUAL_SIZE);
        store.note(Errno::NOSPC);
        store.save(&[1; 32], b"code");
        assert_eq!(files(&store).len(), 0);
    }
}
