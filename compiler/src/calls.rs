//! Calls of functions that stay functions ([`crate::ir::Op::CallFunction`]): which codes there are
//! of one, and how its arguments and results pass.
//!
//! A function's code has the signature of [`crate::abi`]'s functions of the host: `(launch: ptr,
//! scratch: ptr, area: ptr)`, the first two being those of the kernel ([`crate::abi::KernelFn`]).
//! The area is memory of the caller, where it puts arguments and finds results ([`Layout`]): whole
//! vectors at multiples of their size, so that neither side depends on how many registers the
//! other's target takes for one. So a call is a few stores and loads that hit the cache, and both
//! back ends and every width share one convention.
//!
//! Which codes there are is found out call by call: one for each number of lanes and each way in
//! which arguments differ between work-items ([`crate::ir::Argument`]), with a mask or without; but
//! of a function called in many ways (`MOST_VERSIONS`) the rest is left to one that takes
//! whatever comes.

use std::collections::HashMap;

use crate::ir::{Argument, Callee, FuncId, Scalar, Type};

/// Codes of one function for one number of lanes, but for the one that takes whatever comes.
const MOST_VERSIONS: usize = 3;

/// The codes that are called, by number from 1; 0 is the kernel's.
#[derive(Debug, Default)]
pub struct Versions {
    all: Vec<Callee>,
    numbers: HashMap<Callee, u32>,
    /// How many there are of a function for so many lanes.
    counts: HashMap<(FuncId, u8), usize>,
}

impl Versions {
    /// The code that a call is to be of, and its number.
    pub fn request(&mut self, callee: &Callee) -> (u32, &Callee) {
        let mut wanted = callee.clone();
        let count = self.counts.entry((callee.function, callee.lanes));
        let count = count.or_default();
        if callee.lanes > 1 && *count >= MOST_VERSIONS && !self.numbers.contains_key(callee) {
            wanted.arguments.fill(Argument::Varying);
            wanted.masked = true;
        }
        let number = *self.numbers.entry(wanted).or_insert_with_key(|wanted| {
            *count += 1;
            self.all.push(wanted.clone());
            self.all.len() as u32
        });
        (number, &self.all[number as usize - 1])
    }

    /// The code with a number.
    pub fn get(&self, number: u32) -> Option<&Callee> {
        self.all.get((number as usize).checked_sub(1)?)
    }
}

/// Where in the area arguments and results are: byte offsets.
#[derive(Debug)]
pub struct Layout {
    pub params: Vec<u32>,
    /// A byte for each lane, 1 where the mask is set.
    pub mask: Option<u32>,
    pub results: Vec<u32>,
    /// Bytes.
    pub size: u32,
}

/// What lies in the area for a scalar of this type: truth values are bytes.
pub fn stored(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::I1 => Scalar::I8,
        scalar => scalar,
    }
}

impl Layout {
    /// Of the area, in bytes: that of the widest vector registers.
    pub const ALIGN: u32 = 64;

    /// The layout for a code of a function whose parameters and results, for one work-item, have
    /// these types.
    pub fn new(
        callee: &Callee,
        params: impl Iterator<Item = Type>,
        results: impl Iterator<Item = Type>,
    ) -> Layout {
        let mut size = 0u32;
        let mut place = |scalar: Scalar, lanes: u8| {
            let bytes = stored(scalar).bytes() * u32::from(lanes);
            let at = size.next_multiple_of(bytes.min(Layout::ALIGN));
            size = at + bytes;
            at
        };
        let params = params
            .enumerate()
            .map(|(n, ty)| match callee.argument(n) {
                Argument::Varying => place(ty.scalar, callee.lanes),
                _ => place(ty.scalar, 1),
            })
            .collect();
        let mask = callee.masked.then(|| place(Scalar::I1, callee.lanes));
        let results = results.map(|ty| place(ty.scalar, callee.lanes)).collect();
        Layout {
            params,
            mask,
            results,
            size,
        }
    }

    /// The alignment of what lies at an offset and has elements of a type, in bytes, as far as
    /// vectors go.
    pub fn align(scalar: Scalar, lanes: u8) -> u32 {
        (stored(scalar).bytes() * u32::from(lanes)).min(Layout::ALIGN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn callee(arguments: &[Argument], masked: bool) -> Callee {
        Callee {
            lanes: 8,
            arguments: arguments.into(),
            masked,
            ..Callee::new(FuncId::from_u32(3), false)
        }
    }

    #[test]
    fn vectors_lie_at_multiples_of_their_size() {
        let callee = callee(&[Argument::Uniform, Argument::Varying], true);
        let params = [Type::I1, Type::F64].into_iter();
        let layout = Layout::new(&callee, params, [Type::F32].into_iter());
        assert_eq!(layout.params, [0, 64]);
        assert_eq!(
            (layout.mask, layout.results, layout.size),
            (Some(128), vec![160], 192)
        );
    }

    #[test]
    fn what_is_called_in_many_ways_has_few_codes() {
        let mut versions = Versions::default();
        for stride in 1..100 {
            let wanted = callee(&[Argument::Affine(stride)], false);
            let (number, given) = versions.request(&wanted);
            let general = callee(&[Argument::Varying], true);
            assert_eq!(number, (stride as u32).min(MOST_VERSIONS as u32 + 1));
            assert!(*given == wanted || *given == general);
        }
        let again = callee(&[Argument::Affine(1)], false);
        assert_eq!(versions.request(&again), (1, &again));
        assert_eq!(versions.get(1), Some(&again));
        assert_eq!((versions.get(0), versions.get(9)), (None, None));
    }
}
