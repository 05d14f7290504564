//! Which names are types, scope by scope.
//!
//! OpenCL C's own types (`float4`, `size_t`, `image2d_t`) are names of an outermost scope, so that
//! a program may declare variables of the same names.

use rustc_hash::FxHashMap;

use crate::options::Std;
use crate::symbol::{Interner, Symbol};

/// What the grammar asks of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A variable, a function or an enumerator.
    Value,
    /// A type of vectors, of which literals can be written.
    Vector,
    /// Any other type.
    Type,
}

#[derive(Debug)]
pub(super) struct Names {
    /// What the name means, innermost declaration last.
    meanings: FxHashMap<Symbol, Vec<Meaning>>,
    /// What was declared in each open scope.
    scopes: Vec<Vec<Symbol>>,
}

const SCALARS: &[&str] = &[
    "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double",
];

/// OpenCL C Specification, "Built-in Scalar Data Types" and "Other Built-in Data Types", and types
/// of extensions.
const OTHERS: &[&str] = &[
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "size_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "bool",
    "image1d_t",
    "image1d_array_t",
    "image1d_buffer_t",
    "image2d_t",
    "image2d_array_t",
    "image2d_depth_t",
    "image2d_array_depth_t",
    "image2d_msaa_t",
    "image2d_array_msaa_t",
    "image2d_msaa_depth_t",
    "image2d_array_msaa_depth_t",
    "image3d_t",
    "sampler_t",
    "event_t",
    "cl_mem_fence_flags",
];

/// Those that came with OpenCL C 2.0, whose names older programs may use otherwise.
const SINCE_2_0: &[&str] = &[
    "queue_t",
    "ndrange_t",
    "clk_event_t",
    "reserve_id_t",
    "kernel_enqueue_flags_t",
    "clk_profiling_info",
    "memory_order",
    "memory_scope",
    "atomic_int",
    "atomic_uint",
    "atomic_long",
    "atomic_ulong",
    "atomic_float",
    "atomic_double",
    "atomic_half",
    "atomic_flag",
    "atomic_intptr_t",
    "atomic_uintptr_t",
    "atomic_size_t",
    "atomic_ptrdiff_t",
    "named_barrier_t",
];

/// Whether a name is a type of the language itself.
pub(crate) fn is_language_type(name: &str, std: Std) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    OTHERS.contains(&name)
        || (std >= Std::C20 && SINCE_2_0.contains(&name))
        || (SCALARS.contains(&stem) && matches!(&name[stem.len()..], "2" | "3" | "4" | "8" | "16"))
}

impl Names {
    pub(super) fn new(interner: &mut Interner, std: Std) -> Names {
        let mut names = Names {
            meanings: FxHashMap::default(),
            scopes: vec![Vec::new()],
        };
        for scalar in SCALARS {
            for lanes in [2, 3, 4, 8, 16] {
                let name = interner.intern(&format!("{scalar}{lanes}"));
                names.declare(name, Meaning::Vector);
            }
        }
        let newer = if std >= Std::C20 { SINCE_2_0 } else { &[] };
        for name in OTHERS.iter().chain(newer) {
            names.declare(interner.intern(name), Meaning::Type);
        }
        names
    }

    fn meaning(&self, name: Symbol) -> Meaning {
        let innermost = self.meanings.get(&name).and_then(|all| all.last());
        innermost.copied().unwrap_or(Meaning::Value)
    }

    pub(super) fn is_type(&self, name: Symbol) -> bool {
        self.meaning(name) != Meaning::Value
    }

    pub(super) fn is_vector(&self, name: Symbol) -> bool {
        self.meaning(name) == Meaning::Vector
    }

    pub(super) fn declare(&mut self, name: Symbol, meaning: Meaning) {
        self.meanings.entry(name).or_default().push(meaning);
        self.scopes
            .last_mut()
            .expect("the outermost scope stays open")
            .push(name);
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(super) fn close(&mut self) {
        for name in self.scopes.pop().expect("opened before") {
            if let Some(all) = self.meanings.get_mut(&name) {
                all.pop();
            }
        }
    }
}
