//! Samplers.

use std::sync::Arc;

use brolga_runtime::Sampler as RuntimeSampler;
use brolga_runtime::memory::sampler::SamplerState;
use opencl_sys::*;

use super::context::{Context, OfContext};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::RawHandle;
use crate::abi::property_list::{Pairs, PropertyList};

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
    let state = SamplerState {
        normalized: boolean(normalized_coords)?,
        addressing_mode,
        filter_mode,
        ..SamplerState::default()
    };
    finish(context, state, Vec::new())
}

fn boolean(value: cl_bool) -> CLResult<bool> {
    // > CL_INVALID_VALUE if normalized_coords is not valid.
    require(value <= CL_TRUE, ClError::INVALID_VALUE)?;
    Ok(value == CL_TRUE)
}

/// Modes are checked by the runtime.
fn finish(
    context: Ref<Context>,
    state: SamplerState,
    properties: Vec<cl_sampler_properties>,
) -> CLResult<RawHandle> {
    let runtime = RuntimeSampler::new(&context.runtime, state, properties)?;
    Ok(Handle::new(Sampler { runtime, context }).raw())
}

/// `clCreateSamplerWithProperties`
pub fn create_with_properties(
    context: RawHandle,
    list: PropertyList<Pairs<cl_sampler_properties>>,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    let mut state = SamplerState::default();
    let list = list.read();
    for (i, (name, value)) in list.pairs().enumerate() {
        // > CL_INVALID_VALUE if the property name in sampler_properties is not a supported property
        // > name, if the value specified for a supported property name is not valid, or if the same
        // > property name is specified more than once.
        require(list.is_first(i), ClError::INVALID_VALUE)?;
        // The bits of a floating-point number are in the lower half.
        let level = f32::from_bits(value as u32);
        let number = cl_uint::try_from(value).map_err(|_| ClError::INVALID_VALUE);
        match cl_sampler_info::try_from(name).map_err(|_| ClError::INVALID_VALUE)? {
            CL_SAMPLER_NORMALIZED_COORDS => state.normalized = boolean(number?)?,
            CL_SAMPLER_ADDRESSING_MODE => state.addressing_mode = number?,
            CL_SAMPLER_FILTER_MODE => state.filter_mode = number?,
            CL_SAMPLER_MIP_FILTER_MODE => state.mip_filter_mode = number?,
            CL_SAMPLER_LOD_MIN => state.lod_min = level,
            CL_SAMPLER_LOD_MAX => state.lod_max = level,
            _ => return Err(ClError::INVALID_VALUE),
        }
    }
    finish(context, state, list.as_given)
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
        CL_SAMPLER_MIP_FILTER_MODE => writer.value(runtime.mip_filter_mode()),
        CL_SAMPLER_LOD_MIN => writer.value(runtime.lod_bounds()[0].to_bits()),
        CL_SAMPLER_LOD_MAX => writer.value(runtime.lod_bounds()[1].to_bits()),
        // > If sampler was created using clCreateSampler, or if the properties argument specified
        // > in clCreateSamplerWithProperties was NULL, the implementation must return
        // > param_value_size_ret equal to 0.
        CL_SAMPLER_PROPERTIES => writer.array(runtime.properties()),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}
