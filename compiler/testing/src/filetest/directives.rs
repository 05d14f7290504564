//! The comments of a test file. `tests/README.md` is the reference for those who write them.

use brolga_compiler::{BuildOptions, NdRange};

use super::data::{self, Expect};
use super::images;
use crate::engines::Arg;

/// What a file asks for.
#[derive(Debug, Default)]
pub struct Test {
    pub runs: Vec<Run>,
    pub checks: Vec<Check>,
    /// Part of the message with which the module must be refused.
    pub error: Option<String>,
    /// What the warnings must have in them, one after the other.
    pub warnings: Vec<String>,
    /// The engines to run in; all when empty.
    pub engines: Vec<String>,
    /// What kernels are compiled with.
    pub options: BuildOptions,
}

/// One launch.
#[derive(Debug)]
pub struct Run {
    /// Where it starts, from 1.
    pub line: usize,
    pub kernel: Option<String>,
    pub range: NdRange,
    pub args: Vec<Arg>,
    /// Work-items of a sub-group, if it matters.
    pub sub_group_size: Option<u8>,
    pub expects: Vec<Expect>,
    /// Sorted.
    pub printf: Vec<String>,
}

/// Lines that a stage must print.
#[derive(Debug)]
pub struct Check {
    pub stage: String,
    pub lines: Vec<String>,
}

impl Run {
    fn new(line: usize) -> Run {
        Run {
            line,
            kernel: None,
            range: NdRange {
                work_dim: 1,
                global_offset: [0; 3],
                global_size: [1; 3],
                local_size: [1; 3],
            },
            args: Vec::new(),
            sub_group_size: None,
            expects: Vec::new(),
            printf: Vec::new(),
        }
    }
}

/// Up to three numbers, the missing ones `missing`.
fn triple(text: &str, missing: u64) -> Result<([u64; 3], u32), String> {
    let mut values = [missing; 3];
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() || words.len() > 3 {
        return Err(format!("expected one to three numbers, not {text:?}"));
    }
    for (value, word) in values.iter_mut().zip(&words) {
        *value = word.parse().map_err(|_| format!("not a number: {word}"))?;
    }
    Ok((values, words.len() as u32))
}

/// Reads the directives of a file.
///
/// # Errors
/// The line and what is wrong with it.
pub fn parse(text: &str) -> Result<Test, String> {
    let mut test = Test::default();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let Some(line) = line.strip_prefix("; ") else {
            continue;
        };
        let at = |why: String| format!("line {}: {why}", number + 1);
        let Some((word, mut rest)) = line.split_once(':').map(|(w, r)| (w, r.trim().to_string()))
        else {
            continue;
        };
        // A directive goes on in the lines below that are indented further.
        while let Some((_, more)) = lines
            .peek()
            .and_then(|&(i, l)| Some((i, l.strip_prefix(";   ")?)))
        {
            rest.push(if word.starts_with("check ") {
                '\n'
            } else {
                ' '
            });
            rest.push_str(more.trim());
            lines.next();
        }
        let rest = rest.as_str();
        if let Some(stage) = word.strip_prefix("check ") {
            test.checks.push(Check {
                stage: stage.trim().into(),
                lines: rest
                    .lines()
                    .filter(|l| !l.is_empty())
                    .map(String::from)
                    .collect(),
            });
            continue;
        }
        match word {
            "error" => {
                test.error = Some(rest.into());
                continue;
            }
            "warning" => {
                test.warnings.push(rest.into());
                continue;
            }
            "engines" => {
                test.engines = rest.split_whitespace().map(String::from).collect();
                continue;
            }
            "inline" => {
                let limit = rest.parse().map_err(|_| at(rest.into()))?;
                test.options.inline_limit = Some(limit);
                continue;
            }
            "run" => {
                test.runs.push(Run::new(number + 1));
                let run = test.runs.last_mut().expect("a run");
                run.kernel = (!rest.is_empty()).then(|| rest.into());
                continue;
            }
            _ => {}
        }
        let known = [
            "global", "local", "offset", "subgroup", "arg", "expect", "printf",
        ];
        if !known.contains(&word) {
            continue;
        }
        let run = test
            .runs
            .last_mut()
            .ok_or_else(|| at(format!("`{word}` before `run`")))?;
        match word {
            "global" => {
                let (size, dims) = triple(rest, 1).map_err(at)?;
                run.range.global_size = size;
                run.range.work_dim = dims;
            }
            "local" => run.range.local_size = triple(rest, 1).map_err(at)?.0,
            "offset" => run.range.global_offset = triple(rest, 0).map_err(at)?.0,
            "subgroup" => {
                let size: u8 = rest.parse().map_err(|_| at(rest.into()))?;
                if !matches!(size, 1 | 2 | 4 | 8 | 16 | 32) {
                    return Err(at(format!("no engine has sub-groups of {size}")));
                }
                run.sub_group_size = Some(size);
            }
            "arg" => run.args.push(argument(rest).map_err(at)?),
            "expect" => run.expects.push(data::expect(rest).map_err(at)?),
            _ => {
                // As many calls as `* n` says at the end.
                let (text, count) = match rest.rsplit_once(" * ") {
                    Some((text, n)) => (text, n.parse().map_err(|_| at(rest.into()))?),
                    None => (rest, 1),
                };
                run.printf
                    .extend(std::iter::repeat_n(text.to_string(), count));
                run.printf.sort();
            }
        }
    }
    if test.runs.is_empty() && test.checks.is_empty() && test.error.is_none() {
        return Err("the file has no `run`, `check` or `error`, so it tests nothing".into());
    }
    Ok(test)
}

/// `buffer i32 [..]`, `value f32 1.5`, `local 64`, `image 2d 4x2 rgba unorm_int8 i8 [..]`, `sampler
/// clamp nearest`.
fn argument(text: &str) -> Result<Arg, String> {
    let (kind, rest) = text
        .split_once(' ')
        .ok_or_else(|| format!("expected a kind and its contents: {text:?}"))?;
    match kind {
        "buffer" => Ok(Arg::Buffer(data::bytes(rest)?)),
        "value" => Ok(Arg::Value(data::bytes(rest)?)),
        "image" => images::image(rest).map(Arg::Image),
        "sampler" => images::sampler(rest).map(Arg::Sampler),
        "local" => rest
            .trim()
            .parse()
            .map(Arg::Local)
            .map_err(|_| format!("expected a size in bytes: {rest:?}")),
        _ => Err(format!("unknown kind of argument {kind:?}")),
    }
}
