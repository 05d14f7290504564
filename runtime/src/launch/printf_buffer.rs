//! Memory that work-items print to by themselves ([`brolga_compiler::PrintfBuffer`]), and what it
//! says when the launch is complete.
//!
//! They take words by adding to the first one, and store no more than there is room for: so the
//! first word may say more than there are. Nothing that is there is relied on.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use brolga_compiler::{PrintfBuffer, PrintfFormat, PrintfScalar};

use crate::launch::printf::{self, Length, Spec};

/// That of one launch.
pub(crate) struct LaunchBuffer {
    what: Arc<PrintfBuffer>,
    words: Box<[AtomicU32]>,
}

impl LaunchBuffer {
    pub(crate) fn new(what: &Arc<PrintfBuffer>) -> LaunchBuffer {
        let words = vec![0u32; (what.bytes as usize / 4).max(1)].into_boxed_slice();
        // SAFETY: "This type has the same size, alignment, and bit validity as the underlying
        // integer type".
        let words = unsafe { Box::from_raw(Box::into_raw(words) as *mut [AtomicU32]) };
        let what = Arc::clone(what);
        LaunchBuffer { what, words }
    }

    pub(crate) fn address(&self) -> u64 {
        self.words.as_ptr() as u64
    }

    /// What has been printed, until there is more than `room`, and how many bytes were lost. The
    /// buffer is empty then.
    pub(crate) fn take(&self, room: usize) -> (Vec<u8>, usize) {
        let taken = self.words[0].swap(0, Relaxed) as usize;
        let there = &self.words[1..];
        let mut rest = &there[..taken.min(there.len())];
        let mut text = Vec::new();
        while let Some((id, left)) = rest.split_first() {
            let Some(format) = self.what.formats.get(&id.load(Relaxed)) else {
                break;
            };
            let count: usize = format.sizes.iter().map(|&size| words_of(size)).sum();
            // What does not fit has no arguments.
            let Some((arguments, left)) = left.split_at_checked(count) else {
                break;
            };
            rest = left;
            let arguments: Vec<u8> = arguments
                .iter()
                .flat_map(|word| word.load(Relaxed).to_le_bytes())
                .collect();
            let left = room.saturating_sub(text.len());
            text.extend(self.call(format, &arguments, left));
            if text.len() > room {
                break;
            }
        }
        (text, 4 * taken.saturating_sub(there.len()))
    }

    /// The text of one call.
    fn call(&self, format: &PrintfFormat, mut arguments: &[u8], room: usize) -> Vec<u8> {
        let (mut types, mut lanes) = (Vec::new(), Vec::new());
        let specs = Spec::of(format.text.as_bytes());
        for (spec, &size) in specs.iter().zip(&format.sizes) {
            let (bytes, rest) = arguments.split_at(4 * words_of(size));
            arguments = rest;
            let (scalar, each) = scalar(spec, size as usize);
            let values = bytes.chunks_exact(each).take(spec.vector);
            types.extend([scalar as u8, values.len() as u8]);
            lanes.extend(values.map(|value| {
                let mut whole = [0; 8];
                whole[..each].copy_from_slice(value);
                // An id stands for a string; 0 is one, and null is none.
                let is_string = spec.conversion == b's';
                u64::from_le_bytes(whole).wrapping_add(u64::from(is_string))
            }));
        }
        let fetch = |id: u64, most: usize| {
            let id = u32::try_from(id - 1).ok();
            let string = id.and_then(|id| self.what.formats.get(&id));
            let text = string.map_or(&[][..], |string| string.text.as_bytes());
            text[..text.len().min(most)].to_vec()
        };
        printf::format(format.text.as_bytes(), &types, &lanes, room, fetch)
    }
}

fn words_of(bytes: u32) -> usize {
    bytes.div_ceil(4) as usize
}

/// What each component of an argument of `size` bytes is, and how many bytes it has.
fn scalar(spec: &Spec, size: usize) -> (PrintfScalar, usize) {
    let told = match spec.length {
        Length::Hh => 1,
        Length::H => 2,
        Length::Hl => 4,
        Length::L => 8,
        Length::None => size / spec.vector,
    };
    // What is no vector is promoted, and takes all of it.
    let each = match spec.vector {
        1 => size,
        _ => told,
    };
    let is_float = b"fFeEgGaA".contains(&spec.conversion);
    match (spec.conversion, is_float, each) {
        (b's', ..) => (PrintfScalar::Pointer, each.clamp(1, 8)),
        (_, true, 2) => (PrintfScalar::F16, 2),
        (_, true, 4) => (PrintfScalar::F32, 4),
        (_, true, _) => (PrintfScalar::F64, 8),
        (_, false, 1) => (PrintfScalar::I8, 1),
        (_, false, 2) => (PrintfScalar::I16, 2),
        (_, false, 8) => (PrintfScalar::I64, 8),
        _ => (PrintfScalar::I32, 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(formats: &[(u32, &str, &[u32])], words: &[u32]) -> LaunchBuffer {
        let formats = formats.iter().map(|&(id, text, sizes)| {
            let (text, sizes) = (text.to_string(), sizes.to_vec());
            (id, PrintfFormat { text, sizes })
        });
        let formats = formats.collect();
        let bytes = 4 * words.len() as u32;
        let what = PrintfBuffer { bytes, formats };
        let buffer = LaunchBuffer::new(&Arc::new(what));
        for (to, &word) in buffer.words.iter().zip(words) {
            to.store(word, Relaxed);
        }
        buffer
    }

    fn text(formats: &[(u32, &str, &[u32])], words: &[u32]) -> String {
        String::from_utf8(buffer(formats, words).take(1000).0).unwrap()
    }

    #[test]
    fn arguments_are_by_their_sizes() {
        let double = |x: f64| [x.to_bits() as u32, (x.to_bits() >> 32) as u32];
        let [low, high] = double(-2.5);
        let formats: &[(u32, &str, &[u32])] = &[
            (3, "%c %hd %d %f %ld|", &[4, 4, 4, 8, 8]),
            (4, "%v4hhd %v2hlf %v2d|", &[4, 8, 8]),
            (5, "%s %% %.2s|", &[4, 4]),
            (0, "text", &[]),
        ];
        let words = [
            19,
            3,
            u32::from(b'x'),
            -7i32 as u32,
            70000,
            low,
            high,
            5,
            1,
            4,
            0xff02_0304,
            1.5f32.to_bits(),
            0.25f32.to_bits(),
            8,
            9,
            5,
            0,
            0,
            0,
            0,
            0,
        ];
        assert_eq!(
            text(formats, &words),
            "x -7 70000 -2.500000 4294967301|4,3,2,-1 1.500000,0.250000 8,9|text % te|texttext"
        );
    }

    #[test]
    fn what_does_not_fit_is_lost() {
        let formats: &[(u32, &str, &[u32])] = &[(1, "%d ", &[4])];
        let full = buffer(formats, &[8, 1, 5, 1, 6, 1]);
        assert_eq!(full.take(1000), (b"5 6 ".to_vec(), 12));
        assert_eq!(full.take(1000), (Vec::new(), 0));
        // Nobody's id.
        assert_eq!(text(formats, &[4, 1, 5, 2, 6]), "5 ");
        let more = buffer(formats, &[0xffff_ffff, 1]);
        assert_eq!(more.take(1000).0, b"");
    }

    /// Sizes that fit no conversion.
    #[test]
    fn odd_sizes_do_no_harm() {
        for size in [0, 1, 2, 3, 5, 12, 64] {
            for format in ["%d", "%v4hhd", "%v16lx", "%s", "%f", "%v3hlf", "%p%d"] {
                let words: Vec<u32> = (0..20).map(|i| i * 77).collect();
                let formats: &[(u32, &str, &[u32])] = &[(77, format, &[size, size])];
                text(formats, &words);
            }
        }
    }
}
