//! Samplers.

use std::sync::Arc;

use brolga_runtime::Sampler as RuntimeSampler;
use opencl_sys::*;

use super::context::{Context, OfContext};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InPtr, RawHandle};

/// `cl_sampler`
pub struct Sampler {
    pub runtime: Arc<RuntimeSampler>,
    pub context: Ref<Context>,
}

object!(Sampler, ClError::INVALID_SAMPLER);

/// `clCreateSampler`
pub fn create(
    context: RawHandle,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    finish(
        context,
        normalized_coords,
        addressing_mode,
        filter_mode,
        Vec::new(),
    )
}

/// Modes are checked by the runtime.
fn finish(
    context: Ref<Context>,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
    properties: Vec<cl_sampler_properties>,
) -> CLResult<RawHandle> {
    // > CL_INVALID_VALUE if addressing_mode, filter_mode, normalized_coords, or a combination of >
    // these arguments are not valid.
    require(normalized_coords <= CL_TRUE, ClError::INVALID_VALUE)?;
    let runtime = RuntimeSampler::new(
        &context.runtime,
        normalized_coords == CL_TRUE,
        addressing_mode,
        filter_mode,
        properties,
    )?;
    Ok(Handle::new(Sampler { runtime, context }).raw())
}

/// `clCreateSamplerWithProperties`
pub fn create_with_properties(
    context: RawHandle,
    properties: InPtr<cl_sampler_properties>,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
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
        match cl_sampler_info::try_from(name).map_err(|_| ClError::INVALID_VALUE)? {
            CL_SAMPLER_NORMALIZED_COORDS => normalized_coords = value,
            CL_SAMPLER_ADDRESSING_MODE => addressing_mode = value,
            CL_SAMPLER_FILTER_MODE => filter_mode = value,
            _ => return Err(ClError::INVALID_VALUE),
        }
    }
    let as_given = match properties.is_null() {
        true => Vec::new(),
        false => {
            let flat = pairs.iter().flat_map(|&(name, value)| [name, value]);
            flat.chain([0]).collect()
        }
    };
    finish(
        context,
        normalized_coords,
        addressing_mode,
        filter_mode,
        as_given,
    )
}

/// `clGetSamplerInfo`
pub fn get_info(sampler: RawHandle, name: cl_sampler_info, writer: InfoWriter) -> CLResult<()> {
    let sampler = Sampler::from_raw(sampler)?;
    let runtime = &sampler.runtime;
    match name {
        CL_SAMPLER_REFERENCE_COUNT => writer.value(sampler.reference_count()),
        CL_SAMPLER_CONTEXT => writer.value(sampler.context.raw()),
        CL_SAMPLER_NORMALIZED_COORDS => writer.boolean(runtime.is_normalized()),
        CL_SAMPLER_ADDRESSING_MODE => writer.value(runtime.addressing_mode()),
        CL_SAMPLER_FILTER_MODE => writer.value(runtime.filter_mode()),
        // > If sampler was created using clCreateSampler, or if the properties argument specified
        // > in clCreateSamplerWithProperties was NULL, the implementation must return >
        // param_value_size_ret equal to 0.
        CL_SAMPLER_PROPERTIES => writer.array(runtime.properties()),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}
