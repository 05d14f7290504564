//! `brolga-info`: what a report of a defect should say, on one page, and whether the driver is
//! found and works.
//!
//! - `machine.rs`: the system, the processors, memory and what bounds them
//! - `registration.rs`: the loader, the `.icd` files that it reads, and why the driver is not among
//!   them
//! - `probe.rs`: opens one registered library, in a process of its own
//! - `self_test.rs`: kernels whose results are known, through the loader as applications come
//! - `page.rs`: how it is printed
//!
//! The exit status is 0 where the loader has the driver and its results are right, 1 where not, and
//! 2 after an error in the command line.

mod machine;
mod page;
mod probe;
mod registration;
mod self_test;

use std::process::ExitCode;

use brolga_runtime::binary::BUILD;

use page::Page;

const USAGE: &str = "\
Usage: brolga-info [--no-test]

Says what a report of a defect should say: the build, the machine, what bounds
threads and memory, the OpenCL loader, the drivers that are registered, and why
Brolga is not among them; then runs kernels whose results are known.

  --no-test   runs no kernels
  --version   prints the version, and the build
  --help      prints this
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => report(true),
        ["--no-test"] => report(false),
        [probe::OPTION, library] => probe::answer(library),
        ["--version"] => print(&format!("brolga-info {BUILD}\n")),
        ["--help"] => print(USAGE),
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn report(tests: bool) -> ExitCode {
    let mut page = Page::default();
    page.line("brolga-info", BUILD);
    machine::describe(&mut page);
    let found = registration::describe(&mut page);
    let works = match found {
        Some(driver) => self_test::describe(&mut page, driver, tests),
        None => false,
    };
    print(&page.text());
    ExitCode::from(u8::from(!works))
}

/// Writes to standard output, whose reader may have gone.
fn print(text: &str) -> ExitCode {
    use std::io::Write;
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    ExitCode::from(u8::from(written.is_err()))
}
