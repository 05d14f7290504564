//! What is kept of compiling from one process to the next.
//!
//! A host may give a [`Program`](crate::Program) a [`Store`]. What was found out of a kernel, and
//! its code for a launch key (`object_file.rs`), is then looked for there before it is made, under
//! a [`Key`] of all that decides it. Where a store keeps what it is given, how it knows that
//! nobody else has written it, and of which build of this crate it is, is the host's to say: what
//! [`Store::load`] returns is believed and run.

pub mod object_file;

use std::fmt;
use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};

use crate::codegen::host_isa;
use crate::launch::LaunchKey;
use crate::options::{BuildOptions, SpecConstants};
use crate::target::Target;

/// Keeps bytes under keys. It may forget any.
pub trait Store: Send + Sync + fmt::Debug {
    /// What was saved under `key` by this build of the compiler.
    fn load(&self, key: &Key) -> Option<Vec<u8>>;

    /// Keeps `bytes`, or not.
    fn save(&self, key: &Key, bytes: &[u8]);
}

/// Names something that is kept, by a digest (SHA-256) of what decides it.
pub type Key = [u8; 32];

/// The key of what these values decide, in this build.
pub fn key_of(values: &(impl Hash + ?Sized)) -> Key {
    let mut all = Hashed(Sha256::new());
    values.hash(&mut all);
    all.0.finalize().into()
}

/// What is kept of a kernel.
#[derive(Clone, Copy, Debug, Hash)]
pub enum Entry<'a> {
    /// What is known of it.
    Facts,
    /// The same in work-groups of one work-item.
    FactsAlone,
    /// Its code for launches with a key.
    Code(&'a LaunchKey),
}

/// All that decides what a program's kernels are compiled to.
#[derive(Clone, Debug)]
pub struct Content(Sha256);

impl Content {
    /// Of modules, what they are translated with, and the width that is asked for.
    pub fn new(
        modules: &[&[u32]],
        spec: &SpecConstants,
        options: &BuildOptions,
        target: &Target,
        width: Option<u8>,
    ) -> Content {
        let mut all = Hashed(Sha256::new());
        (modules, spec, options, target, width).hash(&mut all);
        // What Cranelift is told of the machine.
        if let Ok(isa) = host_isa() {
            (isa.triple(), isa.isa_flags_hash_key()).hash(&mut all);
            isa.flags().to_string().hash(&mut all);
        }
        Content(all.0)
    }

    /// The key of what is known of the program.
    pub fn program_key(&self) -> Key {
        self.0.clone().finalize().into()
    }

    /// The key of something that is kept of a kernel, named by its index.
    pub fn key(&self, kernel: usize, entry: Entry<'_>) -> Key {
        let mut all = Hashed(self.0.clone());
        (kernel, entry).hash(&mut all);
        all.0.finalize().into()
    }
}

/// Takes what values give to be hashed.
struct Hashed(Sha256);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("the digest is asked for instead")
    }
}
