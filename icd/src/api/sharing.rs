//! Sharing with OpenGL and EGL, which is not offered.
//!
//! The dispatch table has slots for these functions, and loaders call through them without asking;
//! a caller gets the error for an object that has nothing to do with OpenGL or EGL.

use std::ffi::c_void;

use opencl_sys::cl_egl::cl_egl_image_properties_khr;
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::memory::Mem;
use super::queue::Queue;
use super::wait::EventArguments;
use crate::abi::error::{CLResult, ClError};
use crate::abi::handle::Object;
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InList, InPtr, OutPtr, RawHandle};

/// > CL_INVALID_CONTEXT if context is not a valid context or was not created from a GL context.
fn not_shared<T>(context: RawHandle) -> CLResult<T> {
    Context::usable(context)?;
    Err(ClError::INVALID_CONTEXT)
}

/// `clCreateFromGLBuffer`, `clCreateFromGLRenderbuffer`
pub fn create_from_gl_buffer(
    context: RawHandle,
    _flags: cl_mem_flags,
    _name: cl_GLuint,
) -> CLResult<RawHandle> {
    not_shared(context)
}

/// `clCreateFromGLTexture`, `clCreateFromGLTexture2D`, `clCreateFromGLTexture3D`
pub fn create_from_gl_texture(
    context: RawHandle,
    _flags: cl_mem_flags,
    _target: cl_GLenum,
    _miplevel: cl_GLint,
    _texture: cl_GLuint,
) -> CLResult<RawHandle> {
    not_shared(context)
}

/// `clCreateEventFromGLsyncKHR`
pub fn create_event_from_sync(context: RawHandle, _sync: OutPtr<c_void>) -> CLResult<RawHandle> {
    not_shared(context)
}

/// `clGetGLObjectInfo`
pub fn get_gl_object_info(
    mem: RawHandle,
    _object_type: OutPtr<cl_gl_object_type>,
    _name: OutPtr<cl_GLuint>,
) -> CLResult<()> {
    Mem::from_raw(mem)?;
    // > CL_INVALID_GL_OBJECT if there is no GL object associated with memobj.
    Err(ClError::INVALID_GL_OBJECT)
}

/// `clGetGLTextureInfo`
pub fn get_gl_texture_info(
    mem: RawHandle,
    _name: cl_gl_texture_info,
    _answer: InfoWriter,
) -> CLResult<()> {
    Mem::from_raw(mem)?;
    Err(ClError::INVALID_GL_OBJECT)
}

/// `clGetGLContextInfoKHR`
pub fn get_gl_context_info(
    _properties: InPtr<cl_context_properties>,
    _name: cl_gl_context_info,
    _answer: InfoWriter,
) -> CLResult<()> {
    // > CL_INVALID_OPERATION when the device does not support sharing.
    Err(ClError::INVALID_OPERATION)
}

/// The acquire and release commands of OpenGL and EGL sharing.
pub fn acquire_or_release(
    queue: RawHandle,
    _mem_objects: InList<RawHandle>,
    _events: EventArguments,
) -> CLResult<()> {
    Queue::usable(queue)?;
    // > CL_INVALID_CONTEXT if context associated with command_queue was not created from an OpenGL
    // > context.
    Err(ClError::INVALID_CONTEXT)
}

/// `clCreateFromEGLImageKHR`
pub fn create_from_egl_image(
    context: RawHandle,
    _display: OutPtr<c_void>,
    _image: OutPtr<c_void>,
    _flags: cl_mem_flags,
    _properties: InPtr<cl_egl_image_properties_khr>,
) -> CLResult<RawHandle> {
    Context::usable(context)?;
    // > CL_INVALID_OPERATION if there are no devices in context that support images.
    Err(ClError::INVALID_OPERATION)
}

/// `clCreateEventFromEGLSyncKHR`
pub fn create_event_from_egl_sync(
    context: RawHandle,
    _sync: OutPtr<c_void>,
    _display: OutPtr<c_void>,
) -> CLResult<RawHandle> {
    not_shared(context)
}
