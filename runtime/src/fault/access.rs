//! Strings that a kernel names by their address: where reading would fault there is an answer
//! instead, as long as the handler is installed. Without it, a fault is what it was.

use super::arch;

/// Bytes that are read at a time.
const PIECE: usize = 256;
/// Pieces end where a page may: what comes after a string need not be there.
const PAGE: usize = 4096;

/// The bytes of a string without its NUL, and no more than `most`, beyond which nothing is read.
/// Errors: the address that cannot be read.
///
/// # Safety
/// Nothing is written there meanwhile.
pub(crate) unsafe fn read_string(address: usize, most: usize) -> Result<Vec<u8>, usize> {
    let mut string = Vec::new();
    let mut piece = [0; PIECE];
    while string.len() < most {
        let at = address.wrapping_add(string.len());
        let length = PIECE.min(PAGE - at % PAGE).min(most - string.len());
        let piece = &mut piece[..length];
        // SAFETY: there is room for as many; the rest is the caller's.
        let left = unsafe { arch::copy(piece.as_mut_ptr(), at as *const u8, piece.len()) };
        let read = &piece[..piece.len() - left];
        if let Some(end) = read.iter().position(|&byte| byte == 0) {
            string.extend_from_slice(&read[..end]);
            return Ok(string);
        }
        string.extend_from_slice(read);
        if left > 0 {
            return Err(address.wrapping_add(string.len()));
        }
    }
    Ok(string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_their_nul() {
        for length in [0, 1, PIECE - 1, PIECE, 3 * PIECE + 7, 2 * PAGE] {
            let mut text = vec![b'y'; length];
            text.extend_from_slice(b"\0z");
            // SAFETY: it is this test's alone.
            let read = unsafe { read_string(text.as_ptr() as usize, usize::MAX) };
            assert_eq!(read.as_deref(), Ok(&text[..length]));
            for most in [0, 1, length / 2, length, length + 1] {
                // SAFETY: as above.
                let read = unsafe { read_string(text.as_ptr() as usize, most) };
                assert_eq!(read.as_deref(), Ok(&text[..length.min(most)]));
            }
        }
    }
}
