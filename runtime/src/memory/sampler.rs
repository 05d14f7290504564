//! Samplers: how kernels read images.

use std::sync::Arc;

use brolga_compiler::image::{Addressing, Sampler as Bits};
use opencl_sys::*;

use crate::context::Context;
use crate::error::{CLResult, ClError};

/// A sampler. Kernels get it by value, so that commands keep none alive.
#[derive(Debug)]
pub struct Sampler {
    context: Arc<Context>,
    bits: Bits,
    properties: Vec<u64>,
}

impl Sampler {
    /// `clCreateSampler`, and `clCreateSamplerWithProperties` for a device without mipmaps.
    /// `properties` are as given, with the final 0, or empty.
    ///
    /// Errors: `CL_INVALID_VALUE`.
    pub fn new(
        context: &Arc<Context>,
        normalized: bool,
        addressing_mode: u32,
        filter_mode: u32,
        properties: Vec<u64>,
    ) -> CLResult<Arc<Sampler>> {
        // CL_INVALID_VALUE if addressing_mode, filter_mode, normalized_coords or a combination of
        // these arguments are not valid ("Creating Sampler Objects").
        let addressing = match addressing_mode {
            CL_ADDRESS_NONE => Addressing::None,
            CL_ADDRESS_CLAMP_TO_EDGE => Addressing::ClampToEdge,
            CL_ADDRESS_CLAMP => Addressing::Clamp,
            CL_ADDRESS_REPEAT => Addressing::Repeat,
            CL_ADDRESS_MIRRORED_REPEAT => Addressing::MirroredRepeat,
            _ => return Err(ClError::INVALID_VALUE),
        };
        let linear = match filter_mode {
            CL_FILTER_NEAREST => false,
            CL_FILTER_LINEAR => true,
            _ => return Err(ClError::INVALID_VALUE),
        };
        Ok(Arc::new(Sampler {
            context: Arc::clone(context),
            bits: Bits {
                normalized,
                addressing,
                linear,
            },
            properties,
        }))
    }

    /// `CL_SAMPLER_CONTEXT`
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// `CL_SAMPLER_NORMALIZED_COORDS`
    pub fn is_normalized(&self) -> bool {
        self.bits.normalized
    }

    /// `CL_SAMPLER_ADDRESSING_MODE`
    pub fn addressing_mode(&self) -> u32 {
        match self.bits.addressing {
            Addressing::None => CL_ADDRESS_NONE,
            Addressing::ClampToEdge => CL_ADDRESS_CLAMP_TO_EDGE,
            Addressing::Clamp => CL_ADDRESS_CLAMP,
            Addressing::Repeat => CL_ADDRESS_REPEAT,
            Addressing::MirroredRepeat => CL_ADDRESS_MIRRORED_REPEAT,
        }
    }

    /// `CL_SAMPLER_FILTER_MODE`
    pub fn filter_mode(&self) -> u32 {
        match self.bits.linear {
            true => CL_FILTER_LINEAR,
            false => CL_FILTER_NEAREST,
        }
    }

    /// `CL_SAMPLER_PROPERTIES`
    pub fn properties(&self) -> &[u64] {
        &self.properties
    }

    /// The number that kernels get.
    pub(crate) fn bits(&self) -> u32 {
        self.bits.bits()
    }
}
