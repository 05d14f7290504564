//! Generated code made visible to profilers and debuggers, when `BROLGA_TOOLS` asks for it:
//! kernels' names, and source lines where the program was built with them (`-g`). Names alone `perf
//! record` gets without being asked: `cranelift-jit` writes perf's map of symbols when it runs
//! under it.
//!
//! | value | for | what happens |
//! | --- | --- | --- |
//! | `jitdump` | `perf record -k mono`, `perf inject --jit` | names, code and lines in `jit-PID.dump` (`jitdump.rs`) |
//! | `gdb` | `gdb` | an object file with names and lines is registered for each kernel (`gdb.rs`) |

mod gdb;
mod jitdump;

use std::sync::OnceLock;

use brolga_host::{environment, notice};

/// A piece of code and what to tell of it.
#[derive(Debug)]
pub struct Described<'a> {
    pub name: &'a str,
    pub address: u64,
    pub code: &'a [u8],
    /// In the order of the offsets; each holds up to the next.
    pub lines: &'a [Line<'a>],
}

/// Where code from some offset on comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// In bytes, from the start of the code.
    pub offset: u32,
    pub file: &'a str,
    /// From 1; 0 for code of no line.
    pub line: u32,
}

/// The tools that the environment names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tools {
    jitdump: bool,
    gdb: bool,
}

impl Tools {
    fn named(names: &[&str]) -> Tools {
        Tools {
            jitdump: names.contains(&"jitdump"),
            gdb: names.contains(&"gdb"),
        }
    }

    fn wanted() -> Tools {
        static WANTED: OnceLock<Tools> = OnceLock::new();
        *WANTED
            .get_or_init(|| Tools::named(&environment::listed("BROLGA_TOOLS", &["jitdump", "gdb"])))
    }
}

/// Whether anything would be told, so that it needs to be found out.
pub fn are_wanted() -> bool {
    Tools::wanted() != Tools::default()
}

/// What is to be taken back when the code goes.
#[derive(Debug)]
pub struct DebuggerRegistration {
    _gdb: Option<gdb::Registration>,
}

/// Tells the tools that there is this code. What cannot be written is said on standard error and
/// otherwise ignored.
pub fn tell(code: &Described<'_>) -> DebuggerRegistration {
    let tools = Tools::wanted();
    if tools.jitdump
        && let Err(why) = jitdump::add(code)
    {
        notice(format_args!("cannot write the jitdump: {why}"));
    }
    DebuggerRegistration {
        _gdb: tools.gdb.then(|| gdb::Registration::new(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_named_in_a_list() {
        let of = |jitdump, gdb| Tools { jitdump, gdb };
        assert_eq!(Tools::named(&[]), of(false, false));
        assert_eq!(Tools::named(&["gdb"]), of(false, true));
        assert_eq!(Tools::named(&["gdb", "jitdump"]), of(true, true));
    }
}
