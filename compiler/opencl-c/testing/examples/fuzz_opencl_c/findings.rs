//! What is done with what the children find: fewer choices that fail in the same way.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use brolga_compiler_testing::children::{self, End, Found};
use brolga_opencl_c_testing::choices::{Choices, REST};
use brolga_opencl_c_testing::oracle;
use brolga_opencl_c_testing::programs::program;

/// What a child says of a program by its exit code.
pub const DIFFERS: u8 = 1;
/// How long a candidate may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// How long a program is shrunk.
const PATIENCE: Duration = Duration::from_secs(120);
/// Findings to shrink; the others are only listed.
const SHRUNK: usize = 6;

/// Lists the findings by what they say, and shrinks the first of each kind.
pub fn tell(mode: &str, found: &Found) -> ExitCode {
    let mut kinds: Vec<String> = Vec::new();
    for (seed, why) in &found.findings {
        println!(
            "program {seed}: {}",
            why.chars().take(400).collect::<String>()
        );
        let kind = kind(why);
        if kinds.len() < SHRUNK && !kinds.contains(&kind) {
            kinds.push(kind);
            if mode.starts_with("mutate") {
                continue;
            }
            match keep(mode, *seed, Path::new("fuzz-failures")) {
                Ok(path) => println!("  see {}", path.display()),
                Err(why) => println!("  not written: {why}"),
            }
        }
    }
    println!("{} were accepted and are right", found.accepted);
    match found.findings.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// A message without numbers; wrong results are all of a kind.
fn kind(why: &str) -> String {
    if why.contains(" differs from byte ") {
        return "differs".to_owned();
    }
    let letters = why.chars().filter(|c| !c.is_ascii_digit());
    letters.take(120).collect()
}

/// Writes a program to the folder, shrunk.
pub fn keep(mode: &str, seed: u64, folder: &Path) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(format!("{seed}.cl"));
    let candidate = folder.join(format!("{seed}.choices"));
    let mut choices = Choices::random(seed);
    program(&mut choices, "");
    if let Some(first) = failure(mode, &candidate, choices.made()) {
        let start = Instant::now();
        shrink(&mut choices, &mut |list| {
            start.elapsed() < PATIENCE && failure(mode, &candidate, list).as_ref() == Some(&first)
        });
    }
    write(&candidate, choices.made())?;
    let program = program(&mut Choices::of_list(choices.made().to_vec()), "");
    let head = format!(
        "// -cl-std=CL{:.1}\n",
        f64::from(program.std.number()) / 100.0
    );
    std::fs::write(&path, head + &program.text.cl)?;
    std::fs::write(folder.join(format!("{seed}.c")), oracle::file(&[program]))?;
    Ok(path)
}

fn write(path: &Path, list: &[u64]) -> std::io::Result<()> {
    let numbers: Vec<String> = list.iter().map(ToString::to_string).collect();
    std::fs::write(path, numbers.join(" "))
}

/// How a program fails, if it does.
fn failure(mode: &str, path: &Path, list: &[u64]) -> Option<String> {
    write(path, list).ok()?;
    let args = [
        "choices".into(),
        mode.to_owned(),
        path.display().to_string(),
    ];
    match children::ask(&args, TIME_LIMIT).ok()? {
        End::Exit(0, _) => None,
        End::Exit(DIFFERS, why) => Some(kind(&why)),
        End::Exit(..) | End::Crash => Some("crash".into()),
        End::Endless => Some("endless".into()),
    }
}

/// Makes parts of the program the simplest there are or leaves them out, large ones first, as long
/// as `fails` holds.
fn shrink(choices: &mut Choices, fails: &mut dyn FnMut(&[u64]) -> bool) {
    loop {
        let before = choices.made().len();
        let mut at = 0;
        loop {
            let mut spans = choices.spans().to_vec();
            spans.sort_by_key(|(begin, end)| (std::cmp::Reverse(end - begin), *begin));
            spans.dedup();
            let Some(&(begin, end)) = spans.get(at) else {
                break;
            };
            let replaced = [&[][..], &[REST]].into_iter().find_map(|by| {
                let mut list = choices.made().to_vec();
                list.splice(begin..end, by.iter().copied());
                let simpler = simpler(choices, list);
                simpler.filter(|simpler| fails(simpler.made()))
            });
            match replaced {
                Some(smaller) => *choices = smaller,
                None => at += 1,
            }
        }
        for at in 0..choices.made().len() {
            let list = choices.made();
            if at >= list.len() || list[at] == 0 {
                continue;
            }
            for smaller in [0, list[at] / 2, list[at] - 1] {
                let mut list = choices.made().to_vec();
                list[at] = smaller;
                if let Some(simpler) = simpler(choices, list)
                    && fails(simpler.made())
                {
                    *choices = simpler;
                    break;
                }
            }
        }
        if choices.made().len() >= before {
            return;
        }
    }
}

/// What a list makes, if that is less than what there is.
fn simpler(choices: &Choices, list: Vec<u64>) -> Option<Choices> {
    let mut simpler = Choices::of_list(list);
    program(&mut simpler, "");
    let size = |list: &[u64]| {
        (
            list.len(),
            list.iter().map(|&n| u128::from(n)).sum::<u128>(),
        )
    };
    (size(simpler.made()) < size(choices.made())).then_some(simpler)
}
