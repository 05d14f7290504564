//! Samplers: how kernels read images.

use std::sync::Arc;

use brolga_compiler::image::{Addressing, LevelsOfDetail as Detail, Sampler as Bits};
use opencl_sys::*;

use crate::context::Context;
use brolga_engine::error::{CLResult, ClError};

/// What a sampler is made with. Modes are the API's numbers.
#[derive(Clone, Copy, Debug)]
pub struct SamplerState {
    pub normalized: bool,
    pub addressing_mode: u32,
    pub filter_mode: u32,
    pub mip_filter_mode: u32,
    pub lod_min: f32,
    pub lod_max: f32,
}

impl Default for SamplerState {
    /// "Sampler Properties"
    fn default() -> SamplerState {
        SamplerState {
            normalized: true,
            addressing_mode: CL_ADDRESS_CLAMP,
            filter_mode: CL_FILTER_NEAREST,
            mip_filter_mode: CL_FILTER_NEAREST,
            lod_min: 0.0,
            lod_max: f32::MAX,
        }
    }
}

/// A sampler. Kernels get it by value, so that commands keep none alive.
#[derive(Debug)]
pub struct Sampler {
    context: Arc<Context>,
    bits: Bits,
    detail: Detail,
    properties: Vec<u64>,
}

impl Sampler {
    /// `clCreateSampler` and `clCreateSamplerWithProperties`. `properties` are as given, with the
    /// final 0, or empty.
    ///
    /// Errors: `CL_INVALID_VALUE`.
    pub fn new(
        context: &Arc<Context>,
        state: SamplerState,
        properties: Vec<u64>,
    ) -> CLResult<Arc<Sampler>> {
        // CL_INVALID_VALUE if addressing_mode, filter_mode, normalized_coords or a combination of
        // these arguments are not valid ("Creating Sampler Objects").
        let addressing = match state.addressing_mode {
            CL_ADDRESS_NONE => Addressing::None,
            CL_ADDRESS_CLAMP_TO_EDGE => Addressing::ClampToEdge,
            CL_ADDRESS_CLAMP => Addressing::Clamp,
            CL_ADDRESS_REPEAT => Addressing::Repeat,
            CL_ADDRESS_MIRRORED_REPEAT => Addressing::MirroredRepeat,
            _ => return Err(ClError::INVALID_VALUE),
        };
        let is_linear = |filter_mode| match filter_mode {
            CL_FILTER_NEAREST => Ok(false),
            CL_FILTER_LINEAR => Ok(true),
            _ => Err(ClError::INVALID_VALUE),
        };
        Ok(Arc::new(Sampler {
            context: Arc::clone(context),
            bits: Bits {
                normalized: state.normalized,
                addressing,
                linear: is_linear(state.filter_mode)?,
            },
            detail: Detail {
                linear: is_linear(state.mip_filter_mode)?,
                least: state.lod_min,
                most: state.lod_max,
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
        filter_mode(self.bits.linear)
    }

    /// `CL_SAMPLER_MIP_FILTER_MODE_KHR`
    pub fn mip_filter_mode(&self) -> u32 {
        filter_mode(self.detail.linear)
    }

    /// `CL_SAMPLER_LOD_MIN_KHR` and `CL_SAMPLER_LOD_MAX_KHR`
    pub fn lod_bounds(&self) -> [f32; 2] {
        [self.detail.least, self.detail.most]
    }

    /// `CL_SAMPLER_PROPERTIES`
    pub fn properties(&self) -> &[u64] {
        &self.properties
    }

    /// The number that kernels get.
    pub(crate) fn bits(&self) -> u32 {
        self.bits.bits() | self.detail.bits()
    }
}

fn filter_mode(linear: bool) -> u32 {
    match linear {
        true => CL_FILTER_LINEAR,
        false => CL_FILTER_NEAREST,
    }
}
