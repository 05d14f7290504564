//! printf_sink
