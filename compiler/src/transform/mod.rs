//! IR to better IR.
pub mod dce;
pub mod fold;
pub mod gvn;
mod identities;
pub mod if_convert;
pub mod inline;
pub mod licm;
pub mod phis;
pub mod simplify_cfg;
