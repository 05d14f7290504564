//! IR to better IR.
