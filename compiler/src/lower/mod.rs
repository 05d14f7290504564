//! Built-ins expanded, widths legalised.
