//! Pointers that come from C, as types that are safe to use.
//!
//! An entry wrapper turns every raw argument into one of these with [`FromC`] or [`FromCArray`],
//! once; that conversion is the one place where the application's promise ("null, or valid for as
//! many elements as the other arguments say") is taken on trust. A pointer to one value is an
//! [`InPtr`] or [`OutPtr`]; one to several is an [`InList`] or [`OutList`], which has the count
//! that came with it, so that no code behind it can read or write more. Everything there is safe
//! Rust: reading copies out, writing copies in, null is an `Option`. `property_list.rs` has the
//! lists that are ended by a value of their own.

use std::ffi::{CStr, c_char, c_void};

use brolga_runtime::HostPtr;
use opencl_sys::{
    cl_buffer_region, cl_device_integer_dot_product_acceleration_properties, cl_image_format,
    cl_name_version,
};

use smallvec::SmallVec;

use super::error::{CLResult, ClError};

/// Copies of what a list has. Most are short, and an allocation takes longer than what is done with
/// them.
pub type List<T> = SmallVec<[T; 4]>;

/// Conversion of one C argument.
pub trait FromC<Raw> {
    /// Takes the argument on the application's word.
    ///
    /// # Safety
    /// A pointer must be null, or valid for what the entry point's specification says is read or
    /// written through it.
    unsafe fn from_c(raw: Raw) -> Self;
}

/// Conversion of a C pointer and of the argument that says how much is there.
pub trait FromCArray<Raw> {
    /// Takes both on the application's word.
    ///
    /// # Safety
    /// The pointer must be null, or valid for `count` elements for what the entry point's
    /// specification says is read or written through it.
    unsafe fn from_c_array(raw: Raw, count: usize) -> Self;
}

/// Values pass as they are.
impl<T> FromC<T> for T {
    unsafe fn from_c(raw: T) -> T {
        raw
    }
}

/// A pointer to a value that is read: null or valid.
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

/// Three values that the prototype has as a pointer to the first.
impl FromC<*const usize> for InPtr<[usize; 3]> {
    unsafe fn from_c(raw: *const usize) -> Self {
        InPtr(raw.cast())
    }
}

/// `buffer_create_info`, of which there is one kind.
impl FromC<*const c_void> for InPtr<cl_buffer_region> {
    unsafe fn from_c(raw: *const c_void) -> Self {
        InPtr(raw.cast())
    }
}

impl<T> InPtr<T> {
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn address(self) -> usize {
        self.0 as usize
    }
}

impl<T: Copy> InPtr<T> {
    /// The value, or nothing for null.
    pub fn get(self) -> Option<T> {
        // SAFETY: not null, so valid for a `T` by the promise of `from_c`. Applications do pass
        // unaligned pointers.
        (!self.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }
}

impl InPtr<c_char> {
    /// The bytes before the terminating zero, or nothing for null.
    pub fn string(self) -> Option<Vec<u8>> {
        self.c_str().map(|string| string.to_bytes().to_vec())
    }

    /// The string, which lives as long as the call that it is an argument of.
    fn c_str<'a>(self) -> Option<&'a CStr> {
        // SAFETY: not null, so a zero-terminated string by the promise of `from_c`.
        (!self.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }
}

/// An array that is read: null, or valid for as many elements as it has.
pub struct InList<T> {
    first: *const T,
    count: usize,
}

impl<T> Clone for InList<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for InList<T> {}

impl<T> FromCArray<*const T> for InList<T> {
    unsafe fn from_c_array(first: *const T, count: usize) -> Self {
        InList { first, count }
    }
}

/// Some prototypes lack a `const` (`const char **strings`).
impl<T> FromCArray<*mut T> for InList<T> {
    unsafe fn from_c_array(first: *mut T, count: usize) -> Self {
        InList { first, count }
    }
}

impl FromCArray<*const *mut c_void> for InList<RawHandle> {
    unsafe fn from_c_array(first: *const *mut c_void, count: usize) -> Self {
        InList {
            first: first.cast(),
            count,
        }
    }
}

/// Bytes.
impl FromCArray<*const c_void> for InList<u8> {
    unsafe fn from_c_array(first: *const c_void, count: usize) -> Self {
        InList {
            first: first.cast(),
            count,
        }
    }
}

/// Bytes; the prototype lacks a `const`.
impl FromCArray<*mut c_void> for InList<u8> {
    unsafe fn from_c_array(first: *mut c_void, count: usize) -> Self {
        InList {
            first: first.cast(),
            count,
        }
    }
}

impl<T> InList<T> {
    /// A null pointer.
    pub fn null() -> Self {
        InList {
            first: std::ptr::null(),
            count: 0,
        }
    }

    pub fn is_null(self) -> bool {
        self.first.is_null()
    }

    /// How many elements the application says there are, whether or not it gave a pointer.
    pub fn count(self) -> usize {
        self.count
    }

    /// Whether it is null if and only if it is empty, as most sentences about lists demand.
    pub fn is_null_if_empty(self) -> bool {
        self.is_null() == (self.count == 0)
    }

    pub fn address(self) -> usize {
        self.first as usize
    }

    /// The first elements of it, no more than `most`.
    pub fn at_most(self, most: usize) -> Self {
        InList {
            count: self.count.min(most),
            ..self
        }
    }
}

impl<T: Copy> InList<T> {
    /// The elements, or nothing for null. The number that the application gave may be wrong.
    ///
    /// Errors: `CL_INVALID_VALUE` if there are not as many addresses, `CL_OUT_OF_HOST_MEMORY`
    /// without memory for a copy.
    pub fn get(self) -> CLResult<Option<List<T>>> {
        if self.is_null() {
            return Ok(None);
        }
        let mut values = List::new();
        self.append_to(&mut values)?;
        Ok(Some(values))
    }

    /// Appends the elements, which are there.
    ///
    /// Errors: as [`InList::get`].
    fn append_to(self, values: &mut List<T>) -> CLResult<()> {
        // Addresses of a process are in the lower half of the address space.
        let end = self
            .count
            .checked_mul(size_of::<T>())
            .and_then(|size| size.checked_add(self.address()));
        if end.is_none_or(|end| isize::try_from(end).is_err()) {
            return Err(ClError::INVALID_VALUE);
        }
        values
            .try_reserve_exact(self.count)
            .map_err(|_| ClError::OUT_OF_HOST_MEMORY)?;
        // SAFETY: valid for `count` values by the promise of `from_c_array`, for which there is
        // room; as bytes, since applications do pass unaligned pointers.
        unsafe {
            let room = values.as_mut_ptr().add(values.len());
            std::ptr::copy_nonoverlapping(
                self.first.cast::<u8>(),
                room.cast::<u8>(),
                self.count * size_of::<T>(),
            );
            values.set_len(values.len() + self.count);
        }
        Ok(())
    }
}

impl InList<u8> {
    /// The value that the bytes are, or nothing for null or fewer bytes than it has.
    pub fn value<T: Pod>(self) -> Option<T> {
        let is_there = !self.is_null() && self.count >= size_of::<T>();
        // SAFETY: so many bytes are there, and any are a value of such a type.
        is_there.then(|| unsafe { self.first.cast::<T>().read_unaligned() })
    }

    /// The values that the bytes are, or nothing for null. Errors: as [`InList::get`].
    pub fn values<T: Pod>(self) -> CLResult<Option<List<T>>> {
        let values = InList {
            first: self.first.cast::<T>(),
            count: self.count / size_of::<T>(),
        };
        values.get()
    }
}

impl<P: Pointer> InList<P> {
    /// The addresses, for a command to use; none for null. Errors: as [`InList::get`].
    pub fn host_ptrs(self) -> CLResult<Vec<HostPtr>> {
        let pointers = self.get()?.unwrap_or_default().into_iter();
        // SAFETY: each is shared virtual memory that the application names for the command, by its
        // promise.
        let pointers = pointers.map(|pointer| unsafe { HostPtr::new(pointer.to_bytes()) });
        Ok(pointers.collect())
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

impl InList<*const c_char> {
    /// The strings as bytes: `lengths` has their sizes, and a missing or zero length means
    /// zero-terminated. Nothing when the array or one of the strings is null.
    ///
    /// Errors: as [`InList::get`].
    fn sized(self, lengths: InList<usize>) -> CLResult<Option<Vec<InList<u8>>>> {
        let Some(pointers) = self.get()? else {
            return Ok(None);
        };
        let mut lengths = lengths.get()?.unwrap_or_default().into_iter();
        let sized = pointers.into_iter().map(|pointer| {
            let string = InPtr(pointer);
            let count = match lengths.next().unwrap_or(0) {
                0 => string.c_str().map(CStr::count_bytes),
                length => (!string.is_null()).then_some(length),
            }?;
            let first = pointer.cast();
            Some(InList { first, count })
        });
        Ok(sized.collect())
    }

    /// The strings, with sizes as for [`InList::concatenated`]. Nothing when the array or one of
    /// the strings is null.
    ///
    /// Errors: as [`InList::get`].
    pub fn strings(self, lengths: InList<usize>) -> CLResult<Option<Vec<List<u8>>>> {
        let Some(strings) = self.sized(lengths)? else {
            return Ok(None);
        };
        strings.into_iter().map(InList::get).collect()
    }

    /// The strings, one after another; `lengths` gives their sizes, and a missing or zero length
    /// means zero-terminated. Nothing when the array or one of the strings is null.
    ///
    /// Errors: as [`InList::get`].
    pub fn concatenated(self, lengths: InList<usize>) -> CLResult<Option<Vec<u8>>> {
        let Some(strings) = self.sized(lengths)? else {
            return Ok(None);
        };
        let size = strings
            .iter()
            .try_fold(0_usize, |size, string| size.checked_add(string.count));
        let mut text = List::new();
        text.try_reserve_exact(size.ok_or(ClError::INVALID_VALUE)?)
            .map_err(|_| ClError::OUT_OF_HOST_MEMORY)?;
        for string in strings {
            string.append_to(&mut text)?;
        }
        Ok(Some(text.into_vec()))
    }
}

impl InList<*const u8> {
    /// Strings of as many bytes as `lengths` says; an entry is nothing where its pointer is null.
    ///
    /// Errors: as [`InList::get`].
    pub fn blobs(self, lengths: InList<usize>) -> CLResult<Option<Vec<Option<List<u8>>>>> {
        let (Some(pointers), Some(lengths)) = (self.get()?, lengths.get()?) else {
            return Ok(None);
        };
        let blobs = pointers.into_iter().zip(lengths);
        let blobs = blobs.map(|(first, count)| InList { first, count }.get());
        blobs.collect::<CLResult<_>>().map(Some)
    }
}

/// Memory for a command to read and write: by the application's promise it is valid until the
/// command is complete.
impl FromC<*mut c_void> for HostPtr {
    unsafe fn from_c(raw: *mut c_void) -> Self {
        // SAFETY: the caller's.
        unsafe { HostPtr::new(raw.cast()) }
    }
}

/// Memory for a command to read.
impl FromC<*const c_void> for HostPtr {
    unsafe fn from_c(raw: *const c_void) -> Self {
        // SAFETY: the caller's.
        unsafe { HostPtr::new(raw.cast_mut().cast()) }
    }
}

/// A pointer to a value that is written: null or valid.
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
}

/// An array that is written: null, or valid for as many elements as it has.
pub struct OutList<T> {
    first: *mut T,
    count: usize,
}

impl<T> Clone for OutList<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for OutList<T> {}

impl<T> FromCArray<*mut T> for OutList<T> {
    unsafe fn from_c_array(first: *mut T, count: usize) -> Self {
        OutList { first, count }
    }
}

impl FromCArray<*mut *mut c_void> for OutList<RawHandle> {
    unsafe fn from_c_array(first: *mut *mut c_void, count: usize) -> Self {
        OutList {
            first: first.cast(),
            count,
        }
    }
}

/// Bytes.
impl FromCArray<*mut c_void> for OutList<u8> {
    unsafe fn from_c_array(first: *mut c_void, count: usize) -> Self {
        OutList {
            first: first.cast(),
            count,
        }
    }
}

impl<T> OutList<T> {
    pub fn is_null(self) -> bool {
        self.first.is_null()
    }

    /// How many elements the application has room for, if it gave a pointer.
    pub fn count(self) -> usize {
        self.count
    }
}

impl<T: Copy> OutList<T> {
    /// Writes `values` one after another, as many as there is room for, or nothing through null.
    pub fn set(self, values: &[T]) {
        if self.is_null() {
            return;
        }
        for (i, value) in values.iter().take(self.count).enumerate() {
            // SAFETY: valid for `count` values by the promise of `from_c_array`.
            unsafe { self.first.add(i).write_unaligned(*value) }
        }
    }
}

impl OutList<u8> {
    /// Room for values that bytes are.
    pub fn of<T: Pod>(self) -> OutList<T> {
        OutList {
            first: self.first.cast(),
            count: self.count / size_of::<T>(),
        }
    }

    /// The pointers that the bytes are, of an array that says where to write.
    pub fn pointers(self) -> InList<*mut u8> {
        InList {
            first: self.first.cast_const().cast(),
            count: self.count / size_of::<*mut u8>(),
        }
    }
}

/// A type any bytes of which are a value, and all bytes of a value.
///
/// # Safety
/// Every byte of a value is initialised: no padding. Any bytes are a value.
pub unsafe trait Pod: Copy {}

macro_rules! pod {
    ($($type:ty),* $(,)?) => {
        $(
            // SAFETY: integers, a transparent pointer, and C structures whose fields leave no gap.
            unsafe impl Pod for $type {}
        )*
    };
}
pod!(u8, i32, u32, i64, u64, usize, isize, RawHandle);
pod!(
    cl_name_version,
    cl_image_format,
    cl_buffer_region,
    cl_device_integer_dot_product_acceleration_properties,
);

// SAFETY: an array has no padding of its own.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {}

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

/// The `user_data` of a callback: passed back, never dereferenced.
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

    fn input<T>(values: &[T]) -> InList<T> {
        counted(values, values.len())
    }

    /// With a count that may be wrong, where nothing is read then.
    fn counted<T>(values: &[T], count: usize) -> InList<T> {
        // SAFETY: the tests keep the promise.
        unsafe { InList::from_c_array(values.as_ptr(), count) }
    }

    #[test]
    fn strings_with_and_without_lengths() {
        let texts = [c"abc".as_ptr(), c"defg".as_ptr()];
        let both = input(&texts).strings(InList::null()).unwrap().unwrap();
        assert_eq!(
            both.iter().map(|text| &text[..]).collect::<Vec<_>>(),
            [&b"abc"[..], b"defg"]
        );
        let cut = input(&texts).strings(input(&[0, 2])).unwrap().unwrap();
        assert_eq!(
            cut.iter().map(|text| &text[..]).collect::<Vec<_>>(),
            [&b"abc"[..], b"de"]
        );
        let joined = input(&texts).concatenated(input(&[0, 2])).unwrap();
        assert_eq!(joined.unwrap(), b"abcde");
        let holed = [c"abc".as_ptr(), std::ptr::null()];
        assert!(input(&holed).strings(InList::null()).unwrap().is_none());
        let joined = input(&holed).concatenated(InList::null()).unwrap();
        assert!(joined.is_none());
    }

    #[test]
    fn arrays_may_be_unaligned() {
        let bytes = [0u8, 1, 0, 0, 0, 2, 0, 0, 0];
        let values = input(&bytes[1..]).values::<u32>().unwrap();
        assert_eq!(values.unwrap()[..], [1, 2]);
        assert_eq!(input(&bytes[1..4]).value::<u32>(), None, "too short");
    }

    #[test]
    fn what_cannot_be_there_is_refused() {
        let wrong = |count| counted(&[1_u64], count).get().unwrap_err();
        assert_eq!(wrong(usize::MAX), ClError::INVALID_VALUE);
        assert_eq!(wrong(usize::MAX / 8), ClError::INVALID_VALUE);
        assert_eq!(wrong(1 << 48), ClError::OUT_OF_HOST_MEMORY);
        let text = [c"abc".as_ptr(); 2];
        let wrong = |lengths: &[usize]| {
            let joined = input(&text).concatenated(input(lengths));
            joined.unwrap_err()
        };
        assert_eq!(wrong(&[1, usize::MAX]), ClError::INVALID_VALUE);
        assert_eq!(wrong(&[1 << 55; 2]), ClError::OUT_OF_HOST_MEMORY);
    }

    #[test]
    fn no_more_is_read_or_written_than_there_is() {
        let first = |most| input(&[1, 2, 3]).at_most(most).get().unwrap().unwrap();
        assert_eq!(first(2)[..], [1, 2]);
        assert_eq!(first(9)[..], [1, 2, 3]);
        let mut room = [0; 3];
        // SAFETY: less than there is.
        let list: OutList<i32> = unsafe { OutList::from_c_array(room.as_mut_ptr(), 2) };
        list.set(&[4, 5, 6]);
        assert_eq!(room, [4, 5, 0]);
    }
}
