//! Built programs.
