//! Pointers that come from C, as types that are safe to use.
//!
//! An entry wrapper turns every raw argument into one of these with [`FromC`], once; that
//! conversion is the one place where the application's promise ("null, or valid for as many
//! elements as the other arguments say") is taken on trust. Everything behind it is safe Rust:
//! reading copies out, writing copies in, null is an `Option`.

use std::ffi::{CStr, c_char, c_void};

use brolga_runtime::HostPtr;

/// Conversion of one C argument.
pub trait FromC<Raw> {
    /// Takes the argument on the application's word.
    ///
    /// # Safety
    /// A pointer must be null, or valid for what the entry point's specification says is read or
    /// written through it.
    unsafe fn from_c(raw: Raw) -> Self;
}

/// Values pass as they are.
impl<T> FromC<T> for T {
    unsafe fn from_c(raw: T) -> T {
        raw
    }
}

/// A pointer that is read: null or valid.
pub struct InPtr<T>(*const T);

impl<T> Clone for InPtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for InPtr<T> {}

impl<T> FromC<*const T> for InPtr<T> {
    unsafe fn from_c(raw: *const T) -> Self {
        InPtr(raw)
    }
}

/// Some prototypes lack a `const` (`const char **strings`).
impl<T> FromC<*mut T> for InPtr<T> {
    unsafe fn from_c(raw: *mut T) -> Self {
        InPtr(raw)
    }
}

impl<T> InPtr<T> {
    pub fn null() -> Self {
        InPtr(std::ptr::null())
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> usize {
        self.0 as usize
    }

    /// The pointer, for the runtime to read through later.
    pub fn pointer(self) -> *const T {
        self.0
    }
}

impl<T: Copy> InPtr<T> {
    /// The value, or nothing for null.
    pub fn get(self) -> Option<T> {
        // SAFETY: not null, so valid for a `T` by the promise of `from_c`. Applications do pass
        // unaligned pointers.
        (!self.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// `count` values, or nothing for null.
    pub fn array(self, count: usize) -> Option<Vec<T>> {
        if self.is_null() {
            return None;
        }
        // SAFETY: valid for `count` values by the promise of `from_c`.
        Some(
            (0..count)
                .map(|i| unsafe { self.0.add(i).read_unaligned() })
                .collect(),
        )
    }
}

impl<T: Copy> InPtr<T> {
    /// One value after another, none for null. Code that asks for the next knows from the earlier
    /// ones that it is there.
    pub fn values(self) -> impl Iterator<Item = T> {
        let mut at = self.0;
        std::iter::from_fn(move || {
            if self.is_null() {
                return None;
            }
            let value = InPtr(at).get();
            at = at.wrapping_add(1);
            value
        })
    }
}

impl<T: Copy + Default + PartialEq> InPtr<T> {
    /// A list of key and value pairs that a zero key ends; null is the empty list.
    pub fn properties(self) -> Vec<(T, T)> {
        self.properties_among(|_| true).unwrap_or_default()
    }

    /// A list of key and value pairs that a zero key ends; null is the empty list. Nothing if there
    /// is another key than those `known`, behind which nothing is read.
    pub fn properties_among(self, known: impl Fn(T) -> bool) -> Option<Vec<(T, T)>> {
        let mut pairs = Vec::new();
        if self.is_null() {
            return Some(pairs);
        }
        loop {
            // SAFETY: by the promise of `from_c` the list is valid up to its zero key, which is not
            // passed.
            let key = unsafe { self.0.add(pairs.len() * 2).read_unaligned() };
            if key == T::default() {
                return Some(pairs);
            }
            if !known(key) {
                return None;
            }
            // SAFETY: a key that is not zero is followed by its value.
            let value = unsafe { self.0.add(pairs.len() * 2 + 1).read_unaligned() };
            pairs.push((key, value));
        }
    }
}

impl InPtr<c_void> {
    /// Memory for a command to read.
    pub fn host_ptr(self) -> HostPtr {
        // SAFETY: by the promise of `from_c`, which for an enqueue lasts until the command is
        // complete.
        unsafe { HostPtr::new(self.0.cast_mut().cast()) }
    }

    /// `count` bytes, or nothing for null.
    pub fn bytes(self, count: usize) -> Option<Vec<u8>> {
        InPtr(self.0.cast::<u8>()).array(count)
    }

    /// The pointer to `T` that an untyped argument stands for.
    pub fn cast<T>(self) -> InPtr<T> {
        InPtr(self.0.cast())
    }
}

impl InPtr<c_char> {
    /// The bytes before the terminating zero, or nothing for null.
    pub fn string(self) -> Option<Vec<u8>> {
        // SAFETY: not null, so a zero-terminated string by the promise of `from_c`.
        (!self.is_null()).then(|| unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }
}

impl<P: Pointer> InPtr<P> {
    /// `count` addresses for a command to use; none for null.
    pub fn host_ptrs(self, count: usize) -> Vec<HostPtr> {
        self.array(count)
            .unwrap_or_default()
            .into_iter()
            // SAFETY: each is shared virtual memory that the application names for the command, by
            // its promise.
            .map(|pointer| unsafe { HostPtr::new(pointer.to_bytes()) })
            .collect()
    }
}

/// Either kind of untyped pointer.
pub trait Pointer: Copy {
    fn to_bytes(self) -> *mut u8;
}

impl Pointer for *mut c_void {
    fn to_bytes(self) -> *mut u8 {
        self.cast()
    }
}

impl Pointer for *const c_void {
    fn to_bytes(self) -> *mut u8 {
        self.cast_mut().cast()
    }
}

impl InPtr<*const c_char> {
    /// `count` strings; `lengths` gives their sizes, and a missing or zero length means
    /// zero-terminated. Nothing when the array or one of the strings is null.
    pub fn strings(self, count: usize, lengths: InPtr<usize>) -> Option<Vec<Vec<u8>>> {
        let pointers = self.array(count)?;
        let lengths = lengths.array(count).unwrap_or_else(|| vec![0; count]);
        pointers
            .into_iter()
            .zip(lengths)
            .map(|(pointer, length)| match length {
                0 => InPtr(pointer).string(),
                _ => InPtr(pointer.cast::<c_void>()).bytes(length),
            })
            .collect()
    }
}

impl InPtr<*const u8> {
    /// `lengths.len()` byte strings; an entry is nothing where its pointer is null.
    pub fn blobs(self, lengths: &[usize]) -> Option<Vec<Option<Vec<u8>>>> {
        let pointers = self.array(lengths.len())?;
        Some(
            pointers
                .into_iter()
                .zip(lengths)
                .map(|(pointer, &length)| InPtr(pointer).array(length))
                .collect(),
        )
    }
}

/// A pointer that is written: null or valid.
pub struct OutPtr<T>(*mut T);

impl<T> Clone for OutPtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for OutPtr<T> {}

impl<T> FromC<*mut T> for OutPtr<T> {
    unsafe fn from_c(raw: *mut T) -> Self {
        OutPtr(raw)
    }
}

impl<T> OutPtr<T> {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> usize {
        self.0 as usize
    }

    /// The pointer, for the runtime to write through later.
    pub fn pointer(self) -> *mut T {
        self.0
    }
}

impl<T: Copy> OutPtr<T> {
    /// Writes `value`, or nothing through null.
    pub fn set(self, value: T) {
        if !self.is_null() {
            // SAFETY: not null, so valid for a `T` by the promise of `from_c`.
            unsafe { self.0.write_unaligned(value) }
        }
    }

    /// Writes `values` one after another, or nothing through null.
    pub fn set_all(self, values: &[T]) {
        if self.is_null() {
            return;
        }
        for (i, value) in values.iter().enumerate() {
            // SAFETY: the caller has compared `values.len()` with the count that came with the
            // pointer.
            unsafe { self.0.add(i).write_unaligned(*value) }
        }
    }

    /// The `index`th value, for arrays that are both input and output.
    pub fn read(self, index: usize) -> Option<T> {
        // SAFETY: not null, so valid at `index`, which the caller keeps below the count that came
        // with the pointer.
        (!self.is_null()).then(|| unsafe { self.0.add(index).read_unaligned() })
    }
}

impl OutPtr<c_void> {
    /// Memory for a command to read or write.
    pub fn host_ptr(self) -> HostPtr {
        // SAFETY: by the promise of `from_c`, which for an enqueue lasts until the command is
        // complete.
        unsafe { HostPtr::new(self.0.cast()) }
    }

    /// The pointer to `T` that an untyped argument stands for.
    pub fn cast<T>(self) -> OutPtr<T> {
        OutPtr(self.0.cast())
    }
}

/// A handle as C has it: not yet known to be one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct RawHandle(*mut c_void);

// SAFETY: the pointer is only compared, and handed back to the application; it is never
// dereferenced.
unsafe impl Send for RawHandle {}
// SAFETY: as above.
unsafe impl Sync for RawHandle {}

impl FromC<*mut c_void> for RawHandle {
    unsafe fn from_c(raw: *mut c_void) -> Self {
        RawHandle(raw)
    }
}

impl FromC<*const *mut c_void> for InPtr<RawHandle> {
    unsafe fn from_c(raw: *const *mut c_void) -> Self {
        InPtr(raw.cast())
    }
}

impl FromC<*mut *mut c_void> for OutPtr<RawHandle> {
    unsafe fn from_c(raw: *mut *mut c_void) -> Self {
        OutPtr(raw.cast())
    }
}

impl RawHandle {
    pub const NULL: RawHandle = RawHandle(std::ptr::null_mut());

    pub fn from_address(address: usize) -> Self {
        RawHandle(address as *mut c_void)
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> usize {
        self.0 as usize
    }

    pub fn to_c(self) -> *mut c_void {
        self.0
    }
}

/// The `user_data` of a callback: handed back, never looked at.
#[derive(Clone, Copy)]
pub struct UserData(*mut c_void);

// SAFETY: the driver does not dereference it. That the application's callback may run on any thread
// is the specification's rule, so the application has made whatever it points to fit for that.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl FromC<*mut c_void> for UserData {
    unsafe fn from_c(raw: *mut c_void) -> Self {
        UserData(raw)
    }
}

impl UserData {
    pub fn to_c(self) -> *mut c_void {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input<T>(values: &[T]) -> InPtr<T> {
        // SAFETY: valid for the length of the slice, which the tests keep to.
        unsafe { InPtr::from_c(values.as_ptr()) }
    }

    #[test]
    fn property_lists_end_at_zero() {
        assert_eq!(input(&[3u64, 0, 4, 5, 0, 9]).properties(), [(3, 0), (4, 5)]);
        assert!(InPtr::<u64>::null().properties().is_empty());
        assert_eq!(input(&[3u64, 0, 4]).properties_among(|key| key == 3), None);
    }

    #[test]
    fn strings_with_and_without_lengths() {
        let texts = [c"abc".as_ptr(), c"defg".as_ptr()];
        let both = input(&texts).strings(2, InPtr::null()).unwrap();
        assert_eq!(both, [b"abc".to_vec(), b"defg".to_vec()]);
        let cut = input(&texts).strings(2, input(&[0, 2])).unwrap();
        assert_eq!(cut, [b"abc".to_vec(), b"de".to_vec()]);
        let holed = [c"abc".as_ptr(), std::ptr::null()];
        assert!(input(&holed).strings(2, InPtr::null()).is_none());
    }

    #[test]
    fn arrays_may_be_unaligned() {
        let bytes = [0u8, 1, 0, 0, 0, 2, 0, 0, 0];
        let values: InPtr<u32> = input(&bytes[1..]).cast_for_test();
        assert_eq!(values.array(2).unwrap(), [1, 2]);
    }

    impl InPtr<u8> {
        fn cast_for_test<T>(self) -> InPtr<T> {
            InPtr(self.0.cast())
        }
    }
}
