//! Names of commands.

use opencl_sys::*;

/// `CL_COMMAND_READ_GLOBAL_VARIABLE_INTEL`
pub(crate) const READ_GLOBAL_VARIABLE: u32 = 0x418E;
/// `CL_COMMAND_WRITE_GLOBAL_VARIABLE_INTEL`
pub(crate) const WRITE_GLOBAL_VARIABLE: u32 = 0x418F;

/// What a `CL_COMMAND_...` does, in words.
pub(super) fn command(command_type: u32) -> &'static str {
    match command_type {
        CL_COMMAND_NDRANGE_KERNEL | CL_COMMAND_TASK => "kernel",
        CL_COMMAND_NATIVE_KERNEL => "native kernel",
        CL_COMMAND_READ_BUFFER => "read buffer",
        CL_COMMAND_WRITE_BUFFER => "write buffer",
        CL_COMMAND_COPY_BUFFER => "copy buffer",
        CL_COMMAND_READ_BUFFER_RECT => "read buffer rect",
        CL_COMMAND_WRITE_BUFFER_RECT => "write buffer rect",
        CL_COMMAND_COPY_BUFFER_RECT => "copy buffer rect",
        CL_COMMAND_FILL_BUFFER => "fill buffer",
        CL_COMMAND_MAP_BUFFER => "map buffer",
        CL_COMMAND_UNMAP_MEM_OBJECT => "unmap",
        CL_COMMAND_MIGRATE_MEM_OBJECTS => "migrate",
        CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR => "acquire external memory",
        CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR => "release external memory",
        CL_COMMAND_COMMAND_BUFFER_KHR => "command-buffer",
        CL_COMMAND_MARKER => "marker",
        CL_COMMAND_BARRIER => "barrier",
        CL_COMMAND_USER => "user event",
        CL_COMMAND_SVM_FREE => "free SVM",
        CL_COMMAND_SVM_MEMCPY => "copy SVM",
        CL_COMMAND_SVM_MEMFILL => "fill SVM",
        CL_COMMAND_SVM_MAP => "map SVM",
        CL_COMMAND_SVM_UNMAP => "unmap SVM",
        CL_COMMAND_SVM_MIGRATE_MEM => "migrate SVM",
        CL_COMMAND_MEMFILL_INTEL => "fill USM",
        CL_COMMAND_MEMCPY_INTEL => "copy USM",
        CL_COMMAND_MIGRATEMEM_INTEL => "migrate USM",
        CL_COMMAND_MEMADVISE_INTEL => "advise USM",
        READ_GLOBAL_VARIABLE => "read variable",
        WRITE_GLOBAL_VARIABLE => "write variable",
        _ => "command",
    }
}
