//! Text in sections, of lines that have a name each.

use std::fmt::{Display, Write};

#[derive(Default)]
pub struct Page {
    text: String,
}

/// Columns of names.
const NAMES: usize = 20;

impl Page {
    pub fn section(&mut self, name: &str) {
        let _ = write!(self.text, "\n{name}\n");
    }

    /// A value of more lines than one goes on below its first.
    pub fn line(&mut self, name: &str, value: impl Display) {
        let mut name = name;
        for line in value.to_string().lines() {
            let _ = writeln!(self.text, "  {name:NAMES$} {line}");
            name = "";
        }
    }

    pub fn text(self) -> String {
        self.text
    }
}
