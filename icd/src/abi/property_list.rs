//! Lists of properties, which end with a zero name.

use opencl_sys::*;

use super::pointers::FromC;

/// What follows the name of a property.
pub enum Extent<T: 'static> {
    One,
    /// A list of its own, up to one of these.
    UntilAny(&'static [T]),
}

/// How a kind of lists is laid out.
///
/// # Safety
/// [`ListLayout::extent`] must be what the specification says of such lists: by it the end is
/// found.
pub unsafe trait ListLayout {
    type Word: Copy + Default + PartialEq + 'static;

    /// What follows a name. Nothing if it is no name; then nothing more of the list is read.
    fn extent(name: Self::Word) -> Option<Extent<Self::Word>>;
}

/// Names, each with a value.
pub struct Pairs<T>(T);

// SAFETY: "Each property name is immediately followed by the corresponding desired value. The list
// is terminated with 0."
unsafe impl<T: Copy + Default + PartialEq + 'static> ListLayout for Pairs<T> {
    type Word = T;

    fn extent(_: T) -> Option<Extent<T>> {
        Some(Extent::One)
    }
}

/// Properties of a new buffer or image.
pub struct MemProperties;

// SAFETY: handles and flags are one value, the list of devices ends with
// CL_MEM_DEVICE_HANDLE_LIST_END_KHR (cl_khr_external_memory).
unsafe impl ListLayout for MemProperties {
    type Word = cl_mem_properties;

    fn extent(name: cl_mem_properties) -> Option<Extent<cl_mem_properties>> {
        const OPAQUE_FD: u64 = CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR as u64;
        const DMA_BUF: u64 = CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR as u64;
        match name {
            CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT | OPAQUE_FD | DMA_BUF => Some(Extent::One),
            CL_MEM_DEVICE_HANDLE_LIST_KHR => {
                Some(Extent::UntilAny(&[CL_MEM_DEVICE_HANDLE_LIST_END_KHR]))
            }
            _ => None,
        }
    }
}

/// Properties of a new semaphore.
pub struct SemaphoreProperties;

// SAFETY: the type and a handle are one value, the lists end with
// CL_SEMAPHORE_DEVICE_HANDLE_LIST_END_KHR and CL_SEMAPHORE_EXPORT_HANDLE_TYPES_LIST_END_KHR, which
// are 0 (cl_khr_semaphore, cl_khr_external_semaphore).
unsafe impl ListLayout for SemaphoreProperties {
    type Word = cl_semaphore_properties_khr;

    fn extent(name: cl_semaphore_properties_khr) -> Option<Extent<cl_semaphore_properties_khr>> {
        const TYPE: u64 = CL_SEMAPHORE_TYPE_KHR as u64;
        const OPAQUE_FD: u64 = CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR as u64;
        const DEVICES: u64 = CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR as u64;
        const EXPORTS: u64 = CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR;
        match name {
            TYPE | OPAQUE_FD => Some(Extent::One),
            DEVICES | EXPORTS => Some(Extent::UntilAny(&[0])),
            _ => None,
        }
    }
}

/// How a device is to be partitioned.
pub struct PartitionProperties;

// SAFETY: a size or a domain is one value, a list of counts ends with
// CL_DEVICE_PARTITION_BY_COUNTS_LIST_END ("Partitioning a Device").
unsafe impl ListLayout for PartitionProperties {
    type Word = cl_device_partition_property;

    fn extent(name: cl_device_partition_property) -> Option<Extent<cl_device_partition_property>> {
        match name {
            CL_DEVICE_PARTITION_EQUALLY | CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN => {
                Some(Extent::One)
            }
            CL_DEVICE_PARTITION_BY_COUNTS => {
                Some(Extent::UntilAny(&[CL_DEVICE_PARTITION_BY_COUNTS_LIST_END]))
            }
            _ => None,
        }
    }
}

/// The same for `cl_ext_device_fission`.
pub struct PartitionPropertiesExt;

/// `CL_PARTITION_BY_NAMES_LIST_END_EXT` as the header has it, and as its first version had it, in
/// 32 bits.
pub const NAMES_END: [cl_device_partition_property_ext; 2] = [u64::MAX, u32::MAX as u64];

// SAFETY: as for the core's, and a list of names ends with CL_PARTITION_BY_NAMES_LIST_END_EXT.
unsafe impl ListLayout for PartitionPropertiesExt {
    type Word = cl_device_partition_property_ext;

    fn extent(
        name: cl_device_partition_property_ext,
    ) -> Option<Extent<cl_device_partition_property_ext>> {
        match name {
            CL_DEVICE_PARTITION_EQUALLY_EXT | CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN_EXT => {
                Some(Extent::One)
            }
            CL_DEVICE_PARTITION_BY_COUNTS_EXT => {
                Some(Extent::UntilAny(&[CL_PARTITION_BY_COUNTS_LIST_END_EXT]))
            }
            CL_DEVICE_PARTITION_BY_NAMES_EXT => Some(Extent::UntilAny(&NAMES_END)),
            _ => None,
        }
    }
}

/// A list of properties: null, or laid out as `L` says.
pub struct PropertyList<L: ListLayout>(*const L::Word);

impl<L: ListLayout> Clone for PropertyList<L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<L: ListLayout> Copy for PropertyList<L> {}

impl<L: ListLayout> FromC<*const L::Word> for PropertyList<L> {
    unsafe fn from_c(raw: *const L::Word) -> Self {
        PropertyList(raw)
    }
}

/// One property of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property<T> {
    pub name: T,
    /// What follows it, without the end of a list.
    pub values: Vec<T>,
}

/// What was read of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedProperties<T> {
    pub list: Vec<Property<T>>,
    /// Every word, with the final zero; none for null.
    pub as_given: Vec<T>,
    /// Whether the list was read to its end: all its names are known.
    pub is_known: bool,
}

impl<T: Copy + PartialEq> ParsedProperties<T> {
    /// Whether no property before that of this index has its name.
    pub fn is_first(&self, index: usize) -> bool {
        let (earlier, this) = (&self.list[..index], &self.list[index]);
        earlier.iter().all(|property| property.name != this.name)
    }

    /// Names and single values.
    pub fn pairs(&self) -> impl Iterator<Item = (T, T)> {
        let mut list = self.list.iter();
        std::iter::from_fn(move || {
            let property = list.next()?;
            Some((property.name, *property.values.first()?))
        })
    }

    /// The single value of a property, if it is there.
    pub fn value(&self, name: T) -> Option<T> {
        self.pairs().find(|pair| pair.0 == name).map(|pair| pair.1)
    }
}

impl<L: ListLayout> PropertyList<L> {
    /// A null pointer.
    pub fn null() -> Self {
        PropertyList(std::ptr::null())
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Reads the list; null is the empty list.
    pub fn read(self) -> ParsedProperties<L::Word> {
        self.read_among(|_| true)
    }

    /// Reads the list up to a name that is not among the `known` ones.
    pub fn read_among(self, known: impl Fn(L::Word) -> bool) -> ParsedProperties<L::Word> {
        let mut all = ParsedProperties {
            list: Vec::new(),
            as_given: Vec::new(),
            is_known: true,
        };
        if self.is_null() {
            return all;
        }
        loop {
            let name = self.next(&mut all.as_given);
            if name == L::Word::default() {
                return all;
            }
            let extent = Some(name).filter(|&name| known(name)).and_then(L::extent);
            let Some(extent) = extent else {
                all.is_known = false;
                return all;
            };
            let values = self.values(extent, &mut all.as_given);
            all.list.push(Property { name, values });
        }
    }

    /// The first property alone, behind which nothing is read; nothing for null and for no name.
    pub fn first(self) -> Option<Property<L::Word>> {
        if self.is_null() {
            return None;
        }
        let mut words = Vec::new();
        let name = self.next(&mut words);
        let values = self.values(L::extent(name)?, &mut words);
        Some(Property { name, values })
    }

    /// Reads what follows a name.
    fn values(self, extent: Extent<L::Word>, words: &mut Vec<L::Word>) -> Vec<L::Word> {
        match extent {
            Extent::One => vec![self.next(words)],
            Extent::UntilAny(ends) => {
                let value = || Some(self.next(words)).filter(|value| !ends.contains(value));
                std::iter::from_fn(value).collect()
            }
        }
    }

    /// Reads the word behind those that have been read.
    fn next(self, words: &mut Vec<L::Word>) -> L::Word {
        // SAFETY: the list is not null, and by the promise of `from_c` it is laid out so that there
        // is a word: the reader has not passed its end.
        let word = unsafe { self.0.add(words.len()).read_unaligned() };
        words.push(word);
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list<L: ListLayout>(words: &[L::Word]) -> PropertyList<L> {
        // SAFETY: the tests keep to the layout.
        unsafe { PropertyList::from_c(words.as_ptr()) }
    }

    #[test]
    fn lists_end_at_zero() {
        let read = list::<Pairs<u64>>(&[3, 0, 4, 5, 0, 9]).read();
        assert!(read.pairs().eq([(3, 0), (4, 5)]));
        assert_eq!(read.as_given, [3, 0, 4, 5, 0]);
        assert!(read.is_known && read.is_first(1));
        assert!(!list::<Pairs<u64>>(&[3, 0, 3, 5, 0]).read().is_first(1));
        let null = PropertyList::<Pairs<u64>>::null().read();
        assert!(null.list.is_empty() && null.as_given.is_empty() && null.is_known);
    }

    /// There is nothing to be read behind the 4.
    #[test]
    fn nothing_is_read_behind_an_unknown_name() {
        let read = list::<Pairs<u64>>(&[3, 0, 4]).read_among(|name| name == 3);
        assert!(!read.is_known && read.pairs().eq([(3, 0)]));
        assert!(!list::<MemProperties>(&[4]).read().is_known);
    }

    #[test]
    fn lists_in_lists() {
        let devices = CL_MEM_DEVICE_HANDLE_LIST_KHR;
        let words = [devices, 7, 8, 0, CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, 1, 0];
        let read = list::<MemProperties>(&words).read();
        assert_eq!(read.as_given, words);
        assert_eq!(read.list[0].values, [7, 8]);
        assert_eq!(read.list[1].values, [1]);
        let names = [CL_DEVICE_PARTITION_BY_NAMES_EXT, 2, 1, u64::from(u32::MAX)];
        let first = list::<PartitionPropertiesExt>(&names).first().unwrap();
        assert_eq!(first.values, [2, 1]);
    }
}
