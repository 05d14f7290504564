//! Documents agree with each other and with the sources: links resolve, files that are named are
//! there, variables are all described, and the version is the one of the change log.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The root of the checkout.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// Files below a folder with some ending, but for what is built or fetched.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !name.starts_with('.') && !["target", "local", "vendor"].contains(&&*name) {
                files(&path, ending, found);
            }
        } else if path.extension().is_some_and(|it| it == ending) {
            found.push(path);
        }
    }
}

fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(&root(), "md", &mut found);
    found.sort_unstable();
    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).unwrap());
    found.into_iter().map(read).collect()
}

/// The lines of a document that are no code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence && !line.starts_with("    ")
    })
}

/// A line without what is between backticks.
fn without_spans(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Where the links of a document lead to.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        // The text of a link may be code, its address is none.
        for rest in line.split("](").skip(1) {
            let address = rest.split([')', ' ']).next().unwrap_or_default();
            found.push(address.to_owned());
        }
        if let Some((_, address)) = without_spans(line).split_once("]: ") {
            found.push(address.trim().to_owned());
        }
    }
    found
}

/// What a heading is linked by: its words in small letters, joined by hyphens.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_resolve() {
    let mut broken = Vec::new();
    for (path, text) in documents() {
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, section) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            let is_there = target.exists()
                && (section.is_empty() || {
                    let text = fs::read_to_string(&target).unwrap_or_default();
                    let mut headings = prose(&text).filter(|line| line.starts_with('#'));
                    headings.any(|heading| anchor(heading) == section)
                });
            if !is_there {
                let path = path.strip_prefix(root()).unwrap().display().to_string();
                broken.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Commands and files of the project that documents for users and contributors name.
#[test]
fn files_that_are_named_are_there() {
    let folders = [
        "icd/",
        ".ci/",
        "compiler/",
        "runtime/",
        "mathlib/",
        "cts-harness/",
    ];
    let is_name = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    let mut missing = Vec::new();
    let (root, book) = (root(), root().join("icd"));
    for (path, text) in documents() {
        let at_root = path.parent() == Some(&root);
        if !at_root && !path.starts_with(&book) {
            continue;
        }
        let words = text.split(|c| !is_name(c));
        for word in words.map(|word| word.trim_end_matches(['.', '-'])) {
            let is_path = folders.iter().any(|folder| word.starts_with(folder));
            if is_path && !root.join(word).exists() {
                missing.push(format!("{}: {word}", path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The names of variables in a text.
fn variables(text: &str, before: &str) -> BTreeSet<String> {
    let starts = text
        .match_indices(before)
        .map(|(at, _)| &text[at + before.len()..]);
    let names = starts.filter(|rest| rest.starts_with("BROLGA_"));
    let end = |c: char| !c.is_ascii_uppercase() && c != '_';
    names
        .map(|rest| rest.split(end).next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn every_variable_is_described() {
    let mut sources = Vec::new();
    for folder in [
        "compiler/src",
        "compiler/host/src",
        "runtime/src",
        "runtime/engine/src",
    ] {
        files(&root().join(folder), "rs", &mut sources);
    }
    let mut read = BTreeSet::new();
    for source in sources {
        read.append(&mut variables(&fs::read_to_string(source).unwrap(), "\""));
    }
    // What the compiler is told when the driver is compiled, and tests by their script.
    read.retain(|name| name != "BROLGA_BUILD" && !name.starts_with("BROLGA_TEST_"));
    let page = fs::read_to_string(root().join("icd/docs/src/environment.md")).unwrap();
    assert_eq!(read, variables(&page, "### `"));
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let named = variables(&readme, "`");
    assert!(named.is_subset(&read), "{named:?}");
}

#[test]
fn the_change_log_begins_with_this_version() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let newest = text.lines().find_map(|line| line.strip_prefix("## "));
    assert_eq!(newest, Some(env!("CARGO_PKG_VERSION")));
}

/// Each page of the book is in its contents.
#[test]
fn the_book_has_all_its_pages() {
    let folder = root().join("icd/docs/src");
    let contents = fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<String> = links(&contents).into_iter().collect();
    let mut pages = Vec::new();
    files(&folder, "md", &mut pages);
    let name = |page: &PathBuf| page.file_name().unwrap().to_string_lossy().into_owned();
    let mut there: BTreeSet<String> = pages.iter().map(name).collect();
    there.remove("SUMMARY.md");
    assert_eq!(listed, there);
}

#[test]
fn headings_are_linked_as_they_are_shown() {
    assert_eq!(
        anchor("## What happened to my kernel?"),
        "what-happened-to-my-kernel"
    );
    assert_eq!(anchor("### `BROLGA_ISA`"), "brolga_isa");
    assert_eq!(anchor("# C++ for OpenCL"), "c-for-opencl");
}
