//! float_env
