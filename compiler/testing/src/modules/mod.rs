//! SPIR-V modules: `valid.rs` makes random ones, which every engine must run alike; `corpus.rs`
//! adds those of the tests; `mutate.rs` changes them, and says what the compiler owes what comes
//! out.

pub mod corpus;
pub mod mutate;
pub mod valid;
