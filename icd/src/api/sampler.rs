//! Samplers, which need images, which the device does not have.

use opencl_sys::*;

use super::context::{Context, OfContext};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InPtr, RawHandle};

/// `clCreateSampler`
pub fn create(
    context: RawHandle,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
) -> CLResult<RawHandle> {
    Context::usable(context)?;
    // > CL_INVALID_VALUE if addressing_mode, filter_mode, normalized_coords, or a combination of >
    // these arguments are not valid.
    check(normalized_coords, addressing_mode, filter_mode)?;
    // > CL_INVALID_OPERATION if images are not supported by any device associated with context.
    Err(ClError::INVALID_OPERATION)
}

fn check(
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
) -> CLResult<()> {
    require(
        normalized_coords <= CL_TRUE
            && (CL_ADDRESS_NONE..=CL_ADDRESS_MIRRORED_REPEAT).contains(&addressing_mode)
            && (CL_FILTER_NEAREST..=CL_FILTER_LINEAR).contains(&filter_mode),
        ClError::INVALID_VALUE,
    )
}

/// `clCreateSamplerWithProperties`
pub fn create_with_properties(
    context: RawHandle,
    properties: InPtr<cl_sampler_properties>,
) -> CLResult<RawHandle> {
    Context::usable(context)?;
    let mut normalized_coords = CL_TRUE;
    let mut addressing_mode = CL_ADDRESS_CLAMP;
    let mut filter_mode = CL_FILTER_NEAREST;
    let pairs = properties.properties();
    for (i, &(name, value)) in pairs.iter().enumerate() {
        // > CL_INVALID_VALUE if the property name in sampler_properties is not a supported property
        // > name, if the value specified for a supported property name is not valid, or if the same
        // > property name is specified more than once.
        require(
            pairs[..i].iter().all(|&(earlier, _)| earlier != name),
            ClError::INVALID_VALUE,
        )?;
        let value = cl_uint::try_from(value).map_err(|_| ClError::INVALID_VALUE)?;
        match name as cl_sampler_info {
            CL_SAMPLER_NORMALIZED_COORDS => normalized_coords = value,
            CL_SAMPLER_ADDRESSING_MODE => addressing_mode = value,
            CL_SAMPLER_FILTER_MODE => filter_mode = value,
            _ => return Err(ClError::INVALID_VALUE),
        }
    }
    create(context, normalized_coords, addressing_mode, filter_mode)
}

/// `clRetainSampler`: no valid sampler exists.
pub fn retain(_sampler: RawHandle) -> CLResult<()> {
    // > CL_INVALID_SAMPLER if sampler is not a valid sampler object.
    Err(ClError::INVALID_SAMPLER)
}

/// `clReleaseSampler`
pub fn release(_sampler: RawHandle) -> CLResult<()> {
    Err(ClError::INVALID_SAMPLER)
}

/// `clGetSamplerInfo`
pub fn get_info(_sampler: RawHandle, _name: cl_sampler_info, _answer: InfoWriter) -> CLResult<()> {
    Err(ClError::INVALID_SAMPLER)
}
