//! Every slot of the dispatch table is where the Khronos header of this system has it.

use crate::support;

use std::fmt::Write;

use brolga::dispatch::{CL_ICD2_TAG_KHR, DISPATCH, SLOTS};
use brolga::entry_points;
use tempfile::TempDir;

/// The member of `struct _cl_icd_dispatch` that a slot name means: headers differ in how they spell
/// the tagged ones.
fn member(slot: &str) -> &str {
    slot.strip_suffix("_icd2_tag").unwrap_or(slot)
}

#[test]
fn slots_match_the_header() {
    if !support::can_compile_c() {
        return;
    }
    let mut source = String::from(
        "#define CL_TARGET_OPENCL_VERSION 300\n\
         #include <CL/cl_icd.h>\n#include <stddef.h>\n#include <stdio.h>\n\
         int main(void) {\n",
    );
    for slot in SLOTS.iter().filter(|slot| !slot.is_empty()) {
        let slot = member(slot);
        // The last slot came with OpenCL 3.1, and a structure's members cannot be asked for.
        let newest = slot == "clGetKernelSuggestedLocalWorkSize";
        if newest {
            source.push_str("#ifdef CL_VERSION_3_1\n");
        }
        writeln!(
            source,
            "printf(\"{slot} %zu\\n\", offsetof(cl_icd_dispatch, {slot}) / sizeof(void *));"
        )
        .expect("writing to a string");
        if newest {
            source.push_str("#endif\n");
        }
    }
    source.push_str("return 0; }\n");
    let folder = TempDir::new().expect("a temporary folder can be made");
    let file = folder.path().join("slots.c");
    std::fs::write(&file, source).expect("the folder is writable");
    let program = support::compile(&file, folder.path(), support::Link::Loader);
    let output = support::text(&support::run(&program, &[]));
    let mut checked = 0;
    for line in output.lines() {
        let (name, index) = line.split_once(' ').expect("name and index");
        let index: usize = index.parse().expect("a number");
        assert_eq!(member(SLOTS[index]), name, "slot {index}");
        checked += 1;
    }
    assert!(checked >= 130, "only {checked} slots were checked");
}

/// The table as the words a loader sees.
fn words() -> Vec<usize> {
    let count = size_of_val(&DISPATCH) / size_of::<usize>();
    // SAFETY: the table is a structure of pointer-sized fields without padding; an empty field is a
    // null pointer.
    (0..count)
        .map(|i| unsafe { std::ptr::from_ref(&DISPATCH).cast::<usize>().add(i).read() })
        .collect()
}

#[test]
fn slots_hold_their_functions() {
    let words = words();
    assert_eq!(words.len(), SLOTS.len());
    for (slot, word) in SLOTS.iter().zip(words) {
        if slot.is_empty() {
            assert_eq!(word, 0);
        } else if slot.ends_with("_icd2_tag") {
            assert_eq!(word, CL_ICD2_TAG_KHR as usize, "{slot}");
        } else {
            let function = entry_points::find(slot).map(|address| address as usize);
            assert_eq!(function, Some(word), "{slot}");
        }
    }
}

/// The registry of the specification names these as OpenCL 1.0 to 3.1; each must be found by name.
#[test]
fn tagged_slots_are_still_found_by_name() {
    for name in ["clGetPlatformIDs", "clUnloadCompiler"] {
        assert!(entry_points::find(name).is_some(), "{name}");
    }
    assert!(entry_points::find("clNoSuchFunction").is_none());
}
