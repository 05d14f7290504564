//! The text form, read: what `print.rs` writes, and a little more.
//!
//! Value and block numbers are only names here. Comments start with `;`. A constant may be written
//! as a number of its type: `const -1`, `const 1.5`, `const inf`. A rounding mode that does not
//! matter may be left out (`convert.zext v0`). Functions, globals, locals and slots are numbered in
//! the order of appearance, as the printer does.
//!
//! A function is read in two steps: first every line makes its block, instruction and results, so
//! that the second can resolve operands wherever they are defined.
//!
//! [`module`] below splits a text into its globals, kernels (`items.rs`) and functions
//! (`function.rs`); `op.rs` reads an operation's word, `text.rs` has what all of them read with.

mod function;
mod items;
mod op;
mod text;

use std::fmt;

use self::function::function;
use self::items::{finish_kernel, global, kernel};
use self::text::without_comment;
use super::Module;

/// What was wrong with a text, and in which line (from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Reads a module. Kernels get the least [`KernelInfo`](crate::kernel_info::KernelInfo) that
/// matches their parameters.
pub fn module(text: &str) -> Result<Module, ParseError> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, without_comment(line).trim()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let mut module = Module::default();
    let mut rest = lines.as_slice();
    let mut last = 0;
    while let Some((&(number, line), tail)) = rest.split_first() {
        rest = tail;
        last = number;
        let at = |message| ParseError {
            line: number,
            message,
        };
        match line.split_whitespace().next() {
            Some("global") => {
                let global = global(line, module.globals.len()).map_err(at)?;
                module.globals.push(global);
            }
            Some("kernel") => module.kernels.push(kernel(line).map_err(at)?),
            Some("func") => {
                let end = rest
                    .iter()
                    .position(|&(_, line)| line == "}")
                    .ok_or_else(|| at("a function without its closing `}`".into()))?;
                let func = function(number, line, &rest[..end])?;
                module.functions.push(func);
                rest = &rest[end + 1..];
            }
            _ => return Err(at(format!("expected global, kernel or func: {line}"))),
        }
    }
    for index in 0..module.kernels.len() {
        finish_kernel(&mut module, index).map_err(|message| ParseError {
            line: last,
            message,
        })?;
    }
    Ok(module)
}

#[cfg(test)]
mod tests;
