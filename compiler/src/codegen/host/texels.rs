//! Texels, for generated code that does not know their format: `crate::image` on the memory of the
//! process.

use std::convert::Infallible;

use crate::image::call::{NO_IMAGE, decode};
use crate::image::{At, Descriptor, Sampler, Texels, read, write};

/// Memory of the process.
struct Process;

impl Texels for Process {
    type Error = Infallible;

    fn fetch(&mut self, address: u64, to: &mut [u8]) -> Result<(), Infallible> {
        // SAFETY: the address is of a texel inside an image that whoever runs the kernel described,
        // and lives meanwhile.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn put(&mut self, address: u64, from: &[u8]) -> Result<(), Infallible> {
        // SAFETY: as above; the image is one that the kernel may write.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, from.len()) };
        Ok(())
    }
}

/// Reads the texel at coordinates, given as bits. The lower half of `how` is
/// [`crate::image::call::code`], the upper half is the sampler.
///
/// # Safety
/// `image` is null or a descriptor of memory that is there; `to` is writable.
pub(super) unsafe extern "C" fn read_texel(
    image: *const Descriptor,
    how: u64,
    x: u32,
    y: u32,
    z: u32,
    to: *mut [u32; 4],
) {
    let (dim, component, floats) = decode(how as u32);
    let at = [x, y, z];
    let at = if floats {
        At::Float(at.map(f32::from_bits))
    } else {
        At::Int(at.map(|bits| bits as i32))
    };
    let sampler = Sampler::from_bits((how >> 32) as u32);
    // SAFETY: as above.
    let image = unsafe { image.as_ref() }.unwrap_or(&NO_IMAGE);
    let Ok(color) = read(&mut Process, image, dim, component, sampler, at);
    // SAFETY: as above.
    unsafe { *to = color };
}

/// Writes the texel at coordinates. `how` is [`crate::image::call::code`].
///
/// # Safety
/// `image` is null or a descriptor of memory that is there and may be written; `from` is readable.
pub(super) unsafe extern "C" fn write_texel(
    image: *const Descriptor,
    how: u64,
    x: i32,
    y: i32,
    z: i32,
    from: *const [u32; 4],
) {
    let (dim, component, _) = decode(how as u32);
    // SAFETY: as above.
    let (image, color) = unsafe { (image.as_ref().unwrap_or(&NO_IMAGE), *from) };
    let Ok(()) = write(&mut Process, image, dim, component, [x, y, z], color);
}
