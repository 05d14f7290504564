//! Handles: what a `cl_context` or `cl_mem` points to, and which of them are alive.
//!
//! A handle is the address of a [`Handle`], whose first two words belong to the ICD loader: the
//! dispatch table, and the loader's own data (`cl_khr_icd` 2.0.0). Every kind of object has a
//! [`Registry`] of the live ones, so that a null, stale, foreign or wrongly typed handle is
//! detected by a table look-up and nothing is dereferenced.
//!
//! A handle is alive while the application holds references (`clRetain*`, `clRelease*`) or another
//! object or a command needs it. The application's references together own one `Arc`, which the
//! handle keeps in itself until the last of them goes. A handle that is only alive through other
//! objects, such as the context of a live queue, may be retained again.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Deref;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Weak};

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::cl_uint;
use parking_lot::{Mutex, RwLock};

use super::error::{CLResult, ClError};
use super::pointers::{List, RawHandle};

/// A kind of object that applications hold handles of.
pub trait Object: Sized + Send + Sync + 'static {
    /// What the specification returns for a handle that is not a valid one of this kind.
    const INVALID: ClError;

    /// The live handles of this kind.
    fn registry() -> &'static Registry<Self>;

    /// The object behind `raw`.
    fn from_raw(raw: RawHandle) -> CLResult<Ref<Self>> {
        Self::registry().get(raw).ok_or(Self::INVALID)
    }

    /// The objects behind `raws`, or the error of the first that is not valid.
    fn from_raws(raws: &[RawHandle]) -> CLResult<List<Ref<Self>>> {
        raws.iter().map(|&raw| Self::from_raw(raw)).collect()
    }

    /// `clRetain...`
    fn retain_raw(raw: RawHandle) -> CLResult<()> {
        Self::from_raw(raw)?.retain();
        Ok(())
    }

    /// `clRelease...`
    fn release_raw(raw: RawHandle) -> CLResult<()> {
        Self::from_raw(raw)?.release()
    }
}

/// Names `INVALID` and the registry of a kind of object.
macro_rules! object {
    ($type:ty, $invalid:expr) => {
        impl $crate::abi::handle::Object for $type {
            const INVALID: $crate::abi::error::ClError = $invalid;

            fn registry() -> &'static $crate::abi::handle::Registry<Self> {
                static REGISTRY: $crate::abi::handle::Registry<$type> =
                    $crate::abi::handle::Registry::new();
                &REGISTRY
            }
        }
    };
}
pub(crate) use object;

/// A counted reference to a live handle.
pub type Ref<T> = Arc<Handle<T>>;

/// The words of a handle that the loader reads and writes.
#[repr(C)]
struct Header {
    /// None only where no exported symbol has been called: in tests.
    dispatch: Option<&'static cl_icd_dispatch>,
    loader_data: AtomicPtr<c_void>,
}

/// The object of one handle.
#[repr(C)]
pub struct Handle<T: Object> {
    header: Header,
    object: T,
    application: Mutex<ApplicationReferences<T>>,
}

/// `own` is this handle itself while `count` is not zero.
struct ApplicationReferences<T: Object> {
    count: cl_uint,
    own: Option<Ref<T>>,
}

/// The table of this driver's functions, which are above this file; set by the exported symbols,
/// one of which is called before there is a handle.
static DISPATCH_TABLE: AtomicPtr<cl_icd_dispatch> = AtomicPtr::new(null_mut());

/// Sets what the first word of every handle points to.
pub fn set_dispatch_table(table: &'static cl_icd_dispatch) {
    // Written once: another write would invalidate the cache line on all processors.
    if DISPATCH_TABLE.load(Ordering::Relaxed).is_null() {
        DISPATCH_TABLE.store(std::ptr::from_ref(table).cast_mut(), Ordering::Release);
    }
}

fn dispatch_table() -> Option<&'static cl_icd_dispatch> {
    // SAFETY: null, or what `set_dispatch_table` was given, which is never changed.
    unsafe { DISPATCH_TABLE.load(Ordering::Acquire).as_ref() }
}

/// The loader's data for the platform and everything made from it; set once, before any other call.
static LOADER_DATA: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Sets what the second word of handles made from now on is.
pub fn set_loader_data(data: *mut c_void) {
    LOADER_DATA.store(data, Ordering::Release);
}

impl<T: Object> Handle<T> {
    /// A live handle with one reference held by the application.
    pub fn new(object: T) -> Ref<T> {
        let handle = Arc::new(Handle {
            header: Header {
                dispatch: dispatch_table(),
                loader_data: AtomicPtr::new(LOADER_DATA.load(Ordering::Acquire)),
            },
            object,
            application: Mutex::new(ApplicationReferences {
                count: 0,
                own: None,
            }),
        });
        handle.retain();
        T::registry().insert(&handle);
        handle
    }

    /// The handle as C code has it.
    pub fn raw(&self) -> RawHandle {
        RawHandle::from_address(std::ptr::from_ref(self) as usize)
    }

    /// References that the application holds.
    pub fn reference_count(&self) -> cl_uint {
        self.application.lock().count
    }

    /// One more reference held by the application.
    pub fn retain(self: &Arc<Self>) {
        let mut application = self.application.lock();
        application.count += 1;
        application.own.get_or_insert_with(|| Arc::clone(self));
    }

    /// One reference less; an error when the application holds none.
    pub fn release(&self) -> CLResult<()> {
        let last = {
            let mut application = self.application.lock();
            if application.count == 0 {
                return Err(T::INVALID);
            }
            application.count -= 1;
            if application.count == 0 {
                application.own.take()
            } else {
                None
            }
        };
        // Outside the lock: this may drop the object, and callbacks run from there.
        drop(last);
        Ok(())
    }

    /// Replaces the loader's data in a handle made before it was known.
    pub fn set_loader_data(&self, data: *mut c_void) {
        self.header.loader_data.store(data, Ordering::Release);
    }
}

impl<T: Object> Deref for Handle<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T: Object> Drop for Handle<T> {
    fn drop(&mut self) {
        T::registry().remove(self.raw());
    }
}

/// Look-ups of different handles should not contend for one lock.
const SHARDS: usize = 16;

/// Handles of destroyed objects whose memory each shard keeps.
const QUARANTINE: usize = 64;

/// Some of the live handles of one kind, and some of destroyed objects.
struct Shard<T: Object> {
    live: HashMap<usize, Weak<Handle<T>>, BuildHasherDefault<AddressHasher>>,
    released: VecDeque<Weak<Handle<T>>>,
}

impl<T: Object> Shard<T> {
    const fn new() -> Self {
        Shard {
            live: HashMap::with_hasher(BuildHasherDefault::new()),
            released: VecDeque::new(),
        }
    }
}

/// The live handles of one kind.
///
/// A `Weak` keeps a handle's address from being reused: between the end of its object and its
/// removal here, and in quarantine until so many others have been released. A handle that is used
/// or released after its object was destroyed is thus detected, and is never that of another
/// object.
pub struct Registry<T: Object> {
    shards: [RwLock<Shard<T>>; SHARDS],
}

impl<T: Object> Registry<T> {
    #[expect(
        clippy::new_without_default,
        reason = "only ever the value of a static"
    )]
    pub const fn new() -> Self {
        Registry {
            shards: [const { RwLock::new(Shard::new()) }; SHARDS],
        }
    }

    fn shard(&self, raw: RawHandle) -> &RwLock<Shard<T>> {
        let mut hasher = AddressHasher::default();
        hasher.write_usize(raw.address());
        // Other bits than those that the shard's hash table uses.
        &self.shards[(hasher.finish() >> 20) as usize % SHARDS]
    }

    fn insert(&self, handle: &Ref<T>) {
        let raw = handle.raw();
        self.shard(raw)
            .write()
            .live
            .insert(raw.address(), Arc::downgrade(handle));
    }

    fn remove(&self, raw: RawHandle) {
        let mut shard = self.shard(raw).write();
        if let Some(handle) = shard.live.remove(&raw.address()) {
            shard.released.push_back(handle);
        }
        let oldest = match shard.released.len() > QUARANTINE {
            true => shard.released.pop_front(),
            false => None,
        };
        drop(shard);
        drop(oldest);
    }

    fn get(&self, raw: RawHandle) -> Option<Ref<T>> {
        self.shard(raw).read().live.get(&raw.address())?.upgrade()
    }
}

/// Spreads addresses, which are multiples of 16, over the table.
#[derive(Default)]
pub struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(usize::from(byte));
        }
    }

    fn write_usize(&mut self, value: usize) {
        let mixed = (self.0 ^ value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing(u32);
    object!(Thing, ClError::INVALID_MEM_OBJECT);

    struct Other;
    object!(Other, ClError::INVALID_EVENT);

    #[test]
    fn a_handle_lives_while_the_application_or_an_object_needs_it() {
        let raw = Handle::new(Thing(7)).raw();
        let thing = Thing::from_raw(raw).unwrap();
        assert_eq!((thing.0, thing.reference_count()), (7, 1));
        thing.retain();
        thing.release().unwrap();
        thing.release().unwrap();
        assert!(thing.release().is_err(), "the application holds none");
        let again = Thing::from_raw(raw).unwrap();
        again.retain();
        assert_eq!(again.reference_count(), 1);
        drop((thing, again));
        Thing::from_raw(raw).unwrap().release().unwrap();
        assert!(Thing::from_raw(raw).is_err(), "stale");
    }

    #[test]
    fn a_second_release_does_not_release_another_object() {
        let raw = Handle::new(Thing(1)).raw();
        Thing::from_raw(raw).unwrap().release().unwrap();
        // Allocators reuse first what was freed last.
        let others: Vec<_> = (0..QUARANTINE as u32)
            .map(|n| Handle::new(Thing(n)))
            .collect();
        assert!(Thing::release_raw(raw).is_err(), "it is dead");
        for other in others {
            assert_ne!(other.raw().address(), raw.address());
            assert_eq!(other.reference_count(), 1);
            other.release().unwrap();
        }
    }

    #[test]
    fn handles_spread_over_the_shards() {
        let registry = Thing::registry();
        let mut counts = [0; SHARDS];
        for n in 0..1024 {
            for spacing in [64, 128, 4096] {
                let shard = registry.shard(RawHandle::from_address(0x7f00_0000_0000 + n * spacing));
                let index = registry
                    .shards
                    .iter()
                    .position(|it| std::ptr::eq(it, shard));
                counts[index.unwrap()] += 1;
            }
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(most / 2 < *least, "{counts:?}");
    }

    #[test]
    fn null_foreign_and_wrongly_typed_handles_are_found_out() {
        let thing = Handle::new(Thing(1));
        assert!(Other::from_raw(thing.raw()) == Err(ClError::INVALID_EVENT));
        assert!(Thing::from_raw(RawHandle::NULL) == Err(ClError::INVALID_MEM_OBJECT));
        assert!(Thing::from_raw(RawHandle::from_address(1)).is_err());
        assert!(Thing::from_raws(&[thing.raw(), RawHandle::NULL]).is_err());
        thing.release().unwrap();
    }

    #[test]
    fn threads_may_release_and_look_up_at_once() {
        for _ in 0..200 {
            let raw = Handle::new(Thing(1)).raw();
            let released = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| {
                        scope.spawn(move || {
                            Thing::from_raw(raw).is_ok_and(|thing| thing.release().is_ok())
                        })
                    })
                    .collect();
                threads
                    .into_iter()
                    .filter_map(|thread| thread.join().ok())
                    .filter(|released| *released)
                    .count()
            });
            assert_eq!(released, 1);
            assert!(Thing::from_raw(raw).is_err());
        }
    }

    impl<T: Object> PartialEq for Handle<T> {
        fn eq(&self, other: &Self) -> bool {
            std::ptr::eq(self, other)
        }
    }
}
