//! Reads and writes of images, and questions about them.

use super::{Operands, Verifier, is};
use crate::image::{Component, Field};
use crate::ir::{Image, Op, Scalar, Stage, Type};
use crate::kernel_info::AddressSpace;

impl Verifier<'_> {
    /// The operands and results of an instruction on an image.
    pub(super) fn check_images(&self, o: &Operands<'_>) -> Result<(), String> {
        let (args, results) = (&o.args[..], &o.results[..]);
        match &o.data.op {
            Op::ImageRead(image) => {
                let operands = 2 + image.dim.coordinates();
                let mask = o.unmasked(image.masked, operands)?;
                is(args[1].scalar == Scalar::I32, "a sampler is an i32")?;
                let coordinates = args[2].scalar;
                is(
                    matches!(coordinates, Scalar::I32 | Scalar::F32),
                    "coordinates are i32 or f32",
                )?;
                let coordinates = (coordinates, &args[2..operands]);
                self.check_image(image, args[0], coordinates, results)?;
                let lanes = results[0].lanes;
                is(
                    results.iter().all(|ty| ty.lanes == lanes)
                        && args[..operands]
                            .iter()
                            .all(|ty| ty.is_scalar() || ty.lanes == lanes),
                    "operands have one lane or as many as the results",
                )?;
                self.check_mask(image.masked, mask, lanes)
            }
            Op::ImageWrite(image) => {
                is(results.is_empty(), "a write has no results")?;
                is(
                    image.space == AddressSpace::Global,
                    "what is written is not constant",
                )?;
                let operands = args.len().saturating_sub(usize::from(image.masked));
                let first = 1 + image.dim.coordinates();
                is(operands > first, "a write needs coordinates and components")?;
                let mask = o.unmasked(image.masked, operands)?;
                let coordinates = (Scalar::I32, &args[1..first]);
                self.check_image(image, args[0], coordinates, &args[first..operands])?;
                let lanes = args.iter().map(|ty| ty.lanes).max().unwrap_or(1);
                is(
                    args[..operands]
                        .iter()
                        .all(|ty| ty.is_scalar() || ty.lanes == lanes),
                    "operands have one lane or as many as each other",
                )?;
                self.check_mask(image.masked, mask, lanes)
            }
            Op::ImageQuery(field) => {
                o.counts(1, 1)?;
                let answer = match field {
                    Field::Data => Scalar::Ptr,
                    _ => Scalar::I32,
                };
                is(
                    args[0].scalar == Scalar::Ptr
                        && results[0] == args[0].with_scalar(answer)
                        && (args[0].is_scalar() || self.stage >= Stage::Vectorized),
                    "a field of an image is an i32, the address of its texels a ptr",
                )
            }
            _ => unreachable!("no operation on images"),
        }
    }

    /// The parts of an access to an image but for how many lanes they have.
    fn check_image(
        &self,
        image: &Image,
        ptr: Type,
        (scalar, coordinates): (Scalar, &[Type]),
        components: &[Type],
    ) -> Result<(), String> {
        ensure!(
            ptr.scalar == Scalar::Ptr && coordinates.iter().all(|ty| ty.scalar == scalar),
            "an image is a ptr and its coordinates have one type"
        );
        ensure!(
            matches!(image.space, AddressSpace::Constant | AddressSpace::Global),
            "images are in constant or global memory"
        );
        let expected = match image.component {
            Component::F32 => Scalar::F32,
            Component::F16 => Scalar::F16,
            Component::Int | Component::Signed | Component::Unsigned => Scalar::I32,
        };
        ensure!(
            matches!(components.len(), 1 | 4) && components.iter().all(|ty| ty.scalar == expected),
            "a texel is one {0} or four, for {1}",
            expected.name(),
            image.component.name()
        );
        ensure!(
            self.stage >= Stage::Vectorized
                || coordinates
                    .iter()
                    .chain(components)
                    .all(|ty| ty.is_scalar()),
            "an image is accessed for many work-items in vectorized code only"
        );
        Ok(())
    }
}
