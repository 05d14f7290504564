//! Instructions on images: `crate::image` over the interpreter's memory, a lane at a time.

use super::checks::Kind;
use super::exec::Frame;
use super::{Error, Interpreter};
use crate::image::{At, Descriptor, Field, Sampler, Texels, read, write};
use crate::ir::eval::Lanes;
use crate::ir::{Image, Inst, Scalar, Value};

impl Texels for Interpreter<'_> {
    type Error = Error;

    fn fetch(&mut self, address: u64, to: &mut [u8]) -> Result<(), Error> {
        let size = to.len() as u64;
        self.check(Kind::Read, address, size, 1)?;
        to.copy_from_slice(self.memory.read("image read", address, size)?);
        Ok(())
    }

    fn put(&mut self, address: u64, from: &[u8]) -> Result<(), Error> {
        self.check(Kind::Write, address, from.len() as u64, 1)?;
        self.memory.write("image write", address, from)
    }
}

/// An operand in a lane, which may be the same in all.
fn lane(frame: &Frame<'_>, value: Value, lane: usize) -> u64 {
    let lanes = frame.get(value);
    lanes[lane % lanes.len()]
}

impl Interpreter<'_> {
    /// The descriptor at an address; a null pointer is an image without texels.
    fn descriptor(&self, address: u64) -> Result<Descriptor, Error> {
        if address == 0 {
            return Ok(Descriptor::NONE);
        }
        let size = Descriptor::SIZE as u64;
        let mut bytes = [0; Descriptor::SIZE];
        bytes.copy_from_slice(self.memory.read("image descriptor", address, size)?);
        Ok(Descriptor::from_bytes(&bytes))
    }

    pub(super) fn image_query(
        &self,
        frame: &mut Frame<'_>,
        inst: Inst,
        field: Field,
    ) -> Result<(), Error> {
        let data = &frame.func.insts[inst];
        let mut lanes = Lanes::new();
        for &address in frame.get(data.args[0]) {
            lanes.push(self.descriptor(address)?.field(field));
        }
        frame.set(data.results[0], &lanes);
        Ok(())
    }

    pub(super) fn image_read(
        &mut self,
        frame: &mut Frame<'_>,
        inst: Inst,
        image: Image,
    ) -> Result<(), Error> {
        let func = frame.func;
        let data = &func.insts[inst];
        let width = usize::from(func.ty(data.results[0]).lanes);
        let mut results = vec![Lanes::from_elem(0, width); data.results.len()];
        let coordinates = &data.args[2..2 + image.dim.coordinates()];
        let is_float = func.ty(coordinates[0]).scalar == Scalar::F32;
        for l in active(frame, inst, image, width) {
            let descriptor = self.descriptor(lane(frame, data.args[0], l))?;
            let sampler = Sampler::from_bits(lane(frame, data.args[1], l) as u32);
            let at: [u32; 3] = std::array::from_fn(|n| {
                coordinates
                    .get(n)
                    .map_or(0, |&value| lane(frame, value, l) as u32)
            });
            let at = if is_float {
                At::Float(at.map(f32::from_bits))
            } else {
                At::Int(at.map(|bits| bits as i32))
            };
            let (dim, component) = (image.dim, image.component);
            let color = read(self, &descriptor, dim, component, sampler, at)?;
            for (result, bits) in results.iter_mut().zip(color) {
                result[l] = u64::from(bits);
            }
        }
        for (&result, lanes) in data.results.iter().zip(&results) {
            frame.set(result, lanes);
        }
        Ok(())
    }

    pub(super) fn image_write(
        &mut self,
        frame: &Frame<'_>,
        inst: Inst,
        image: Image,
    ) -> Result<(), Error> {
        let func = frame.func;
        let data = &func.insts[inst];
        let lanes = data.args.iter().map(|&arg| func.ty(arg).lanes).max();
        let width = usize::from(lanes.unwrap_or(1));
        let (coordinates, components) = data.args[1..].split_at(image.dim.coordinates());
        let components = &components[..components.len() - usize::from(image.masked)];
        for l in active(frame, inst, image, width) {
            let descriptor = self.descriptor(lane(frame, data.args[0], l))?;
            let mut at = [0; 3];
            for (to, &value) in at.iter_mut().zip(coordinates) {
                *to = lane(frame, value, l) as i32;
            }
            let mut color = [0; 4];
            for (to, &value) in color.iter_mut().zip(components) {
                *to = lane(frame, value, l) as u32;
            }
            let Image { dim, component, .. } = image;
            write(self, &descriptor, dim, component, at, color)?;
        }
        Ok(())
    }
}

/// The lanes that a mask, if there is one, lets go on.
fn active(frame: &Frame<'_>, inst: Inst, image: Image, width: usize) -> Vec<usize> {
    let args = &frame.func.insts[inst].args;
    let mask = args.last().filter(|_| image.masked).copied();
    let goes_on = |l: &usize| mask.is_none_or(|mask| lane(frame, mask, *l) != 0);
    (0..width).filter(goes_on).collect()
}
