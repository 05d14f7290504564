//! Which sub-tests a suite has.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::process::{self, Ending, Limits};
use crate::suites::{Listing, Suite};

/// Asking for the list opens no device, so it is quick.
const LIST_LIMITS: Limits = Limits {
    time: Duration::from_secs(60),
    output_bytes: 16 << 20,
};

/// The sub-tests of a suite in name order. In wimpy mode, one that has a quick twin is left out.
///
/// # Errors
/// An executable that does not run, or prints no list.
pub fn sub_tests(
    suite: &Suite,
    test_conformance: &Path,
    wimpy: bool,
) -> Result<Vec<String>, String> {
    let names = match suite.listing {
        Listing::Conversions => conversions(),
        Listing::Asked => ask(&suite.executable(test_conformance))
            .map_err(|e| format!("suite {}: {e}", suite.name))?,
    };
    Ok(if wimpy {
        without_slow_twins(names)
    } else {
        names
    })
}

fn ask(executable: &Path) -> Result<Vec<String>, String> {
    let log = tempfile::NamedTempFile::new().map_err(|e| format!("no temporary file: {e}"))?;
    let mut command = Command::new(executable);
    command.arg("--list");
    let (ending, _) = process::run(&mut command, log.path(), LIST_LIMITS)
        .map_err(|e| format!("cannot run {}: {e}", executable.display()))?;
    let output = std::fs::read(log.path()).map_err(|e| format!("cannot read the list: {e}"))?;
    let names = parse_list(&String::from_utf8_lossy(&output));
    if ending != Ending::Exit(0) || names.is_empty() {
        return Err(format!(
            "{} --list ended with {ending} and {} names; expected exit 0 and a list of sub-tests",
            executable.display(),
            names.len()
        ));
    }
    Ok(names)
}

/// The names in what `--list` prints: one a line, after a tab. Anything else is chatter.
fn parse_list(output: &str) -> Vec<String> {
    let names: BTreeSet<_> = output
        .lines()
        .filter_map(|line| line.strip_prefix('\t'))
        .map(str::trim)
        .filter(|name| !name.is_empty() && !name.contains(char::is_whitespace))
        .map(String::from)
        .collect();
    names.into_iter().collect()
}

/// Leaves out `x` and `full_x` where there is a `quick_x`.
fn without_slow_twins(names: Vec<String>) -> Vec<String> {
    let quick: BTreeSet<_> = names
        .iter()
        .filter_map(|n| n.strip_prefix("quick_").map(String::from))
        .collect();
    let slow = |name: &String| quick.contains(name.strip_prefix("full_").unwrap_or(name));
    names.into_iter().filter(|n| !slow(n)).collect()
}

/// Every conversion that OpenCL C has ("Explicit Conversions"): saturation is for integer
/// destinations only.
fn conversions() -> Vec<String> {
    const TYPES: [&str; 11] = [
        "uchar", "char", "ushort", "short", "uint", "int", "half", "float", "double", "ulong",
        "long",
    ];
    const ROUNDINGS: [&str; 5] = ["", "_rte", "_rtp", "_rtn", "_rtz"];
    let mut names = Vec::new();
    for to in TYPES {
        let saturations: &[&str] = if matches!(to, "half" | "float" | "double") {
            &[""]
        } else {
            &["", "_sat"]
        };
        for from in TYPES {
            for saturation in saturations {
                names.extend(
                    ROUNDINGS
                        .iter()
                        .map(|rounding| format!("{to}{saturation}{rounding}_{from}")),
                );
            }
        }
    }
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_tabbed_words() {
        let output = "Reading SPIR-V files from default 'x' path.\nTest names:\n\tb_2\n\ta_1\n\tnot a name\n\tb_2\nend\n\t\n";
        assert_eq!(parse_list(output), ["a_1", "b_2"]);
    }

    #[test]
    fn wimpy_leaves_out_the_slow_twin() {
        let names = [
            "full_1d",
            "quick_1d",
            "int_math",
            "quick_int_math",
            "vector_scalar",
            "full_alone",
        ];
        let left = without_slow_twins(names.map(String::from).to_vec());
        assert_eq!(
            left,
            ["quick_1d", "quick_int_math", "vector_scalar", "full_alone"]
        );
    }

    #[test]
    fn conversions_are_all_there_once() {
        let names = conversions();
        // 8 integer destinations with and without saturation, 3 floating ones without; 11 sources,
        // 5 roundings.
        assert_eq!(names.len(), (8 * 2 + 3) * 11 * 5);
        assert!(names.contains(&"char_sat_rte_float".to_string()));
        assert!(names.contains(&"ulong_short".to_string()));
        assert!(!names.iter().any(|n| n.starts_with("float_sat")));
    }
}
