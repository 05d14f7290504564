//! The dispatch table: what the first word of every handle points to.
//!
//! The loader finds an entry point by its position here, so the order is fixed by the Khronos
//! headers (`struct _cl_icd_dispatch`); `opencl-sys` carries it as a type, and `tests/icd/slots.rs`
//! compares each slot with the header of the system.

use opencl_sys::cl_icd::cl_icd_dispatch;

use super::entry_points::wrapper;

/// The value of the two tagged slots that tells a loader that this driver has `cl_khr_icd` 2.0.0:
/// the second word of each handle is the loader's. Neither slot is ever called through:
/// `clGetPlatformIDs` and `clUnloadCompiler` take no handle.
pub const CL_ICD2_TAG_KHR: isize = 0x4F50_454E_434C_3331;

macro_rules! dispatch_table {
    ($($kind:ident $name:ident;)*) => {
        /// The one table of this driver.
        pub static DISPATCH: cl_icd_dispatch = cl_icd_dispatch {
            $($name: dispatch_table!(@ $kind $name),)*
        };

        /// Slot names in order; an empty slot has an empty name.
        pub const SLOTS: &[&str] = &[$(dispatch_table!(@name $kind $name)),*];
    };
    (@ slot $name:ident) => { Some(wrapper::$name) };
    (@ tag $name:ident) => { CL_ICD2_TAG_KHR };
    (@ none $name:ident) => { None };
    (@name slot $name:ident) => { stringify!($name) };
    (@name tag $name:ident) => { stringify!($name) };
    (@name none $name:ident) => { "" };
}

// `none`: Direct3D and DX9 sharing, which exist on Windows only.
dispatch_table! {
    tag clGetPlatformIDs_icd2_tag;
    slot clGetPlatformInfo;
    slot clGetDeviceIDs;
    slot clGetDeviceInfo;
    slot clCreateContext;
    slot clCreateContextFromType;
    slot clRetainContext;
    slot clReleaseContext;
    slot clGetContextInfo;
    slot clCreateCommandQueue;
    slot clRetainCommandQueue;
    slot clReleaseCommandQueue;
    slot clGetCommandQueueInfo;
    slot clSetCommandQueueProperty;
    slot clCreateBuffer;
    slot clCreateImage2D;
    slot clCreateImage3D;
    slot clRetainMemObject;
    slot clReleaseMemObject;
    slot clGetSupportedImageFormats;
    slot clGetMemObjectInfo;
    slot clGetImageInfo;
    slot clCreateSampler;
    slot clRetainSampler;
    slot clReleaseSampler;
    slot clGetSamplerInfo;
    slot clCreateProgramWithSource;
    slot clCreateProgramWithBinary;
    slot clRetainProgram;
    slot clReleaseProgram;
    slot clBuildProgram;
    tag clUnloadCompiler_icd2_tag;
    slot clGetProgramInfo;
    slot clGetProgramBuildInfo;
    slot clCreateKernel;
    slot clCreateKernelsInProgram;
    slot clRetainKernel;
    slot clReleaseKernel;
    slot clSetKernelArg;
    slot clGetKernelInfo;
    slot clGetKernelWorkGroupInfo;
    slot clWaitForEvents;
    slot clGetEventInfo;
    slot clRetainEvent;
    slot clReleaseEvent;
    slot clGetEventProfilingInfo;
    slot clFlush;
    slot clFinish;
    slot clEnqueueReadBuffer;
    slot clEnqueueWriteBuffer;
    slot clEnqueueCopyBuffer;
    slot clEnqueueReadImage;
    slot clEnqueueWriteImage;
    slot clEnqueueCopyImage;
    slot clEnqueueCopyImageToBuffer;
    slot clEnqueueCopyBufferToImage;
    slot clEnqueueMapBuffer;
    slot clEnqueueMapImage;
    slot clEnqueueUnmapMemObject;
    slot clEnqueueNDRangeKernel;
    slot clEnqueueTask;
    slot clEnqueueNativeKernel;
    slot clEnqueueMarker;
    slot clEnqueueWaitForEvents;
    slot clEnqueueBarrier;
    slot clGetExtensionFunctionAddress;
    slot clCreateFromGLBuffer;
    slot clCreateFromGLTexture2D;
    slot clCreateFromGLTexture3D;
    slot clCreateFromGLRenderbuffer;
    slot clGetGLObjectInfo;
    slot clGetGLTextureInfo;
    slot clEnqueueAcquireGLObjects;
    slot clEnqueueReleaseGLObjects;
    slot clGetGLContextInfoKHR;
    none clGetDeviceIDsFromD3D10KHR;
    none clCreateFromD3D10BufferKHR;
    none clCreateFromD3D10Texture2DKHR;
    none clCreateFromD3D10Texture3DKHR;
    none clEnqueueAcquireD3D10ObjectsKHR;
    none clEnqueueReleaseD3D10ObjectsKHR;
    slot clSetEventCallback;
    slot clCreateSubBuffer;
    slot clSetMemObjectDestructorCallback;
    slot clCreateUserEvent;
    slot clSetUserEventStatus;
    slot clEnqueueReadBufferRect;
    slot clEnqueueWriteBufferRect;
    slot clEnqueueCopyBufferRect;
    slot clCreateSubDevicesEXT;
    slot clRetainDeviceEXT;
    slot clReleaseDeviceEXT;
    slot clCreateEventFromGLsyncKHR;
    slot clCreateSubDevices;
    slot clRetainDevice;
    slot clReleaseDevice;
    slot clCreateImage;
    slot clCreateProgramWithBuiltInKernels;
    slot clCompileProgram;
    slot clLinkProgram;
    slot clUnloadPlatformCompiler;
    slot clGetKernelArgInfo;
    slot clEnqueueFillBuffer;
    slot clEnqueueFillImage;
    slot clEnqueueMigrateMemObjects;
    slot clEnqueueMarkerWithWaitList;
    slot clEnqueueBarrierWithWaitList;
    slot clGetExtensionFunctionAddressForPlatform;
    slot clCreateFromGLTexture;
    none clGetDeviceIDsFromD3D11KHR;
    none clCreateFromD3D11BufferKHR;
    none clCreateFromD3D11Texture2DKHR;
    none clCreateFromD3D11Texture3DKHR;
    none clCreateFromDX9MediaSurfaceKHR;
    none clEnqueueAcquireD3D11ObjectsKHR;
    none clEnqueueReleaseD3D11ObjectsKHR;
    none clGetDeviceIDsFromDX9MediaAdapterKHR;
    none clEnqueueAcquireDX9MediaSurfacesKHR;
    none clEnqueueReleaseDX9MediaSurfacesKHR;
    slot clCreateFromEGLImageKHR;
    slot clEnqueueAcquireEGLObjectsKHR;
    slot clEnqueueReleaseEGLObjectsKHR;
    slot clCreateEventFromEGLSyncKHR;
    slot clCreateCommandQueueWithProperties;
    slot clCreatePipe;
    slot clGetPipeInfo;
    slot clSVMAlloc;
    slot clSVMFree;
    slot clEnqueueSVMFree;
    slot clEnqueueSVMMemcpy;
    slot clEnqueueSVMMemFill;
    slot clEnqueueSVMMap;
    slot clEnqueueSVMUnmap;
    slot clCreateSamplerWithProperties;
    slot clSetKernelArgSVMPointer;
    slot clSetKernelExecInfo;
    slot clGetKernelSubGroupInfoKHR;
    slot clCloneKernel;
    slot clCreateProgramWithIL;
    slot clEnqueueSVMMigrateMem;
    slot clGetDeviceAndHostTimer;
    slot clGetHostTimer;
    slot clGetKernelSubGroupInfo;
    slot clSetDefaultDeviceCommandQueue;
    slot clSetProgramReleaseCallback;
    slot clSetProgramSpecializationConstant;
    slot clCreateBufferWithProperties;
    slot clCreateImageWithProperties;
    slot clSetContextDestructorCallback;
    slot clGetKernelSuggestedLocalWorkSize;
}
