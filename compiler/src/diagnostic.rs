//! What a user is told: why a module was refused, one line for a build log, and what may be worth
//! knowing of a kernel.

use std::fmt;

use crate::ir::SourceLoc;

/// A refusal, and where in the module it arose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What was wrong and what was expected.
    pub message: String,
    /// Offset in 32-bit words from the start of the module, when an instruction is at fault.
    pub word_offset: Option<usize>,
    /// The instruction, as its opcode's name and the result's id and name.
    pub instruction: Option<String>,
    /// `file:line` in the source, when the module carries debug information.
    pub source: Option<String>,
    /// The rule that it goes by: the specification, and the title of its section.
    pub rule: Option<String>,
}

impl Diagnostic {
    /// A diagnostic that belongs to no instruction.
    pub fn new(message: impl Into<String>) -> Self {
        Diagnostic {
            message: message.into(),
            word_offset: None,
            instruction: None,
            source: None,
            rule: None,
        }
    }
}

/// A diagnostic of something that is wrong and was taken all the same: its message says as what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(pub Diagnostic);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, "warning")
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "error")
    }
}

impl Diagnostic {
    fn write(&self, f: &mut fmt::Formatter<'_>, severity: &str) -> fmt::Result {
        if let Some(source) = &self.source {
            write!(f, "{source}: ")?;
        }
        write!(f, "{severity}: {}", self.message)?;
        match (&self.instruction, self.word_offset) {
            (Some(inst), Some(at)) => write!(f, " [{inst}, word {at}]")?,
            (Some(inst), None) => write!(f, " [{inst}]")?,
            (None, Some(at)) => write!(f, " [word {at}]")?,
            (None, None) => {}
        }
        match &self.rule {
            Some(rule) => write!(f, " ({rule})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}

/// Something a user may want to know about how a kernel is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    pub loc: SourceLoc,
    pub text: String,
}

impl Remark {
    pub(crate) fn new(loc: SourceLoc, text: impl Into<String>) -> Remark {
        Remark {
            loc,
            text: text.into(),
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
