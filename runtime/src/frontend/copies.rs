//! Copies by work-groups that clang's headers do not declare (`cl_khr_extended_async_copies`,
//! `cl_khr_async_work_group_copy_fence`).
//!
//! The work-items of a group share the bytes of each line, and are done with theirs when the
//! function returns; who waits for the event meets the others at a barrier, as after other copies
//! by work-groups. Between two copies a fence is therefore a barrier.

use super::clang::Request;
use super::route;

/// The definitions that the request's source needs.
pub(super) fn definitions(request: &Request) -> String {
    let mut text = String::new();
    let wants = |word: &str| route::mentions(request, word);
    if wants("async_work_group_copy_2D2D") || wants("async_work_group_copy_3D3D") {
        text.push_str(include_str!("prelude/copies.h"));
    }
    if wants("async_work_group_copy_fence") {
        text.push_str("#define async_work_group_copy_fence(flags) barrier(flags)\n");
    }
    text
}
