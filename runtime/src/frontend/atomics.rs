//! Atomic functions and fences for clang 22, in terms of SPIR-V's instructions.
//!
//! clang 22 knows about half of these functions, and of some it takes the memory order for the
//! scope, or neither. What it always translates exactly are calls of `__spirv_X`, which become the
//! instruction OpX with the arguments as operands. So the functions that a source uses are defined
//! as such, in groups: all of them together would double the time that clang takes for a small
//! source.
//!
//! They are macros, as their last arguments may be left out, over functions that are overloaded for
//! types and address spaces.

use super::clang::Request;
use super::options::ClStd;
use super::route;

/// Definitions that a source needs when it (or a macro of its) has one of the words in it.
struct Group {
    words: &'static [&'static str],
    /// From this version of OpenCL C on.
    since: ClStd,
    text: &'static str,
}

const COMMON: &str = include_str!("prelude/common.h");

const GROUPS: &[Group] = &[
    Group {
        words: &["atomic_load", "atomic_store", "atomic_exchange"],
        since: ClStd::C20,
        text: include_str!("prelude/move.h"),
    },
    Group {
        words: &["atomic_fetch_"],
        since: ClStd::C20,
        text: include_str!("prelude/fetch.h"),
    },
    Group {
        words: &["atomic_compare_exchange"],
        since: ClStd::C20,
        text: include_str!("prelude/compare.h"),
    },
    Group {
        words: &["atomic_flag_"],
        since: ClStd::C20,
        text: include_str!("prelude/flags.h"),
    },
    Group {
        words: &["mem_fence", "atomic_work_item_fence"],
        since: ClStd::C10,
        text: include_str!("prelude/fences.h"),
    },
    Group {
        words: &[
            "atom_",
            "atomic_add",
            "atomic_sub",
            "atomic_inc",
            "atomic_dec",
            "atomic_min",
            "atomic_max",
            "atomic_and",
            "atomic_or",
            "atomic_xor",
            "atomic_xchg",
            "atomic_cmpxchg",
        ],
        since: ClStd::C10,
        text: include_str!("prelude/legacy.h"),
    },
];

/// The definitions that the request's source needs.
pub(super) fn definitions(request: &Request) -> String {
    let std = request.options.cl_std;
    let mut text = String::new();
    for group in GROUPS {
        let wanted = |word: &&str| route::mentions(request, word);
        if std >= group.since && group.words.iter().any(wanted) {
            if text.is_empty() {
                text.push_str(COMMON);
            }
            text.push_str(group.text);
        }
    }
    text
}
