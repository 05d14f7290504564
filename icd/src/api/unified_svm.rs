//! Shared virtual memory by type: `cl_khr_unified_svm`, a draft, which the sentences quoted are
//! from.

use std::ffi::c_void;

use brolga_runtime::HostPtr;
use brolga_runtime::storage::info::SvmProperties;
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::queue::Queue;
use super::svm::memcpy;
use super::wait::Submission;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Object, Ref};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};
use crate::abi::property_list::{Pairs, PropertyList};

/// `CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR`, which the headers do not have yet.
pub const CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR: cl_device_info = 0x1078;

/// The type index that means none.
const NO_TYPE: cl_uint = cl_uint::MAX;

/// The properties of an allocation; their values are checked by the runtime.
fn properties(
    context: &Ref<Context>,
    given: PropertyList<Pairs<cl_svm_alloc_properties_khr>>,
) -> CLResult<SvmProperties> {
    let given = given.read();
    let mut properties = SvmProperties::default();
    for (i, (name, value)) in given.pairs().enumerate() {
        // > CL_INVALID_PROPERTY if a memory property name in properties is not a supported property
        // > name, if the value specified for a supported property name is not valid, or if the same
        // > property name is specified more than once.
        require(given.is_first(i), ClError::INVALID_PROPERTY)?;
        match name {
            // > The default value is NULL, which indicates that the allocation is not associated
            // > with a specific device handle.
            CL_SVM_ALLOC_ASSOCIATED_DEVICE_HANDLE_KHR if value == 0 => {}
            CL_SVM_ALLOC_ASSOCIATED_DEVICE_HANDLE_KHR => {
                let device = context
                    .device(RawHandle::from_address(value as usize))
                    .map_err(|_| ClError::INVALID_PROPERTY)?;
                properties.device = Some(device.runtime.clone());
            }
            CL_SVM_ALLOC_ACCESS_FLAGS_KHR => properties.access_flags = value,
            CL_SVM_ALLOC_ALIGNMENT_KHR => properties.alignment = value as usize,
            _ => return Err(ClError::INVALID_PROPERTY),
        }
    }
    properties.list = given.as_given;
    Ok(properties)
}

/// `clSVMAllocWithPropertiesKHR`
pub fn alloc(
    context: RawHandle,
    given: PropertyList<Pairs<cl_svm_alloc_properties_khr>>,
    type_index: cl_uint,
    size: usize,
) -> CLResult<*mut c_void> {
    let context = Context::usable(context)?;
    let properties = properties(&context, given)?;
    let pointer = context
        .runtime
        .svm_alloc_of_type(type_index as usize, properties, size)?;
    Ok(pointer.cast())
}

/// `clSVMFreeWithPropertiesKHR`
pub fn free(
    context: RawHandle,
    properties: PropertyList<Pairs<cl_svm_free_properties_khr>>,
    flags: cl_svm_free_flags_khr,
    pointer: OutPtr<c_void>,
) -> CLResult<()> {
    let context = Context::from_raw(context)?;
    // > CL_INVALID_PROPERTY if a memory property name in properties is not a supported property
    // > name. This extension does not define any free properties.
    require(properties.read().list.is_empty(), ClError::INVALID_PROPERTY)?;
    // > CL_INVALID_VALUE if flags contains an invalid SVM free flag. This extension does not define
    // > any free flags.
    require(flags == 0, ClError::INVALID_VALUE)?;
    // > If ptr is NULL then no action occurs.
    match pointer.is_null() {
        true => Ok(()),
        false => context.runtime.svm_free_checked(pointer.address()),
    }
}

/// `clGetSVMPointerInfoKHR`: an address that is in no allocation gets answers, too.
pub fn get_info(
    context: RawHandle,
    device: RawHandle,
    pointer: InPtr<c_void>,
    name: cl_svm_pointer_info_khr,
    writer: InfoWriter,
) -> CLResult<()> {
    let context = Context::from_raw(context)?;
    // > CL_INVALID_DEVICE if device is not a valid device, or if device is not associated with
    // > context.
    // All devices have the same capabilities.
    if !device.is_null() {
        context.device(device)?;
    }
    let found = context.runtime.shared().find_svm(pointer.address());
    let allocation = found.as_deref();
    let info = allocation.and_then(|allocation| allocation.svm());
    let properties = info.map(|info| &info.properties);
    match name {
        CL_SVM_INFO_TYPE_INDEX_KHR => {
            writer.value(info.map_or(NO_TYPE, |info| info.type_index as cl_uint))
        }
        CL_SVM_INFO_CAPABILITIES_KHR => writer.value(info.map_or(0, |info| info.capabilities())),
        CL_SVM_INFO_PROPERTIES_KHR => {
            writer.array(properties.map_or(&[], |properties| properties.list.as_slice()))
        }
        CL_SVM_INFO_ACCESS_FLAGS_KHR => {
            writer.value(properties.map_or(0, |properties| properties.access_flags))
        }
        CL_SVM_INFO_BASE_PTR_KHR => {
            writer.value(allocation.map_or(0, |allocation| allocation.as_ptr() as usize))
        }
        CL_SVM_INFO_SIZE_KHR => writer.value(allocation.map_or(0, |allocation| allocation.size())),
        CL_SVM_INFO_ASSOCIATED_DEVICE_HANDLE_KHR => {
            let device = properties.and_then(|properties| properties.device.as_ref());
            writer.value(context.handle_of(device))
        }
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clGetSVMSuggestedTypeIndexKHR`
pub fn get_suggested_type(
    context: RawHandle,
    required: cl_svm_capabilities_khr,
    desired: cl_svm_capabilities_khr,
    given: PropertyList<Pairs<cl_svm_alloc_properties_khr>>,
    size: usize,
    suggestion: OutPtr<cl_uint>,
) -> CLResult<()> {
    let context = Context::from_raw(context)?;
    let properties = properties(&context, given)?;
    // All types come from the same memory, so that the size favours none.
    let _ = size;
    let suggested = context
        .runtime
        .suggested_svm_type(required, desired, &properties)?;
    // > CL_INVALID_VALUE if suggested_svm_type_index is NULL.
    require(!suggestion.is_null(), ClError::INVALID_VALUE)?;
    suggestion.set(suggested.map_or(NO_TYPE, |index| index as cl_uint));
    Ok(())
}

/// `clEnqueueSVMMemcpyWithPropertiesKHR`
pub fn memcpy_with_properties(
    submission: Submission,
    properties: PropertyList<Pairs<cl_properties>>,
    blocking: cl_bool,
    destination: HostPtr,
    source: HostPtr,
    size: usize,
) -> CLResult<()> {
    // > Any of the errors for clEnqueueSVMMemcpy.
    // > CL_INVALID_PROPERTY if a property name in properties is not a supported property name. This
    // > extension does not define any optional SVM memory copy properties.
    Queue::usable(submission.queue)?;
    require(properties.read().list.is_empty(), ClError::INVALID_PROPERTY)?;
    memcpy(submission, blocking, destination, source, size)
}
