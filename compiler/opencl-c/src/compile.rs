//! The stages one after the other.

use std::path::{Path, PathBuf};

use crate::diag::Diagnostics;
use crate::hir;
use crate::options::{Device, Options};
use crate::pp::{self, Pragmas, Preprocessed};

/// A program's source.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What diagnostics call it.
    pub name: &'a str,
    pub source: &'a [u8],
    /// Headers that `#include` finds before any file, by name.
    pub headers: &'a [(&'a str, &'a [u8])],
    /// The directory of a source that is a file; `#include "..."` looks into the working directory otherwise.
    pub directory: Option<&'a Path>,
}

/// What came of a compilation.
#[derive(Debug)]
pub struct Output<T> {
    /// `None` if there were errors.
    pub result: Option<T>,
    /// The diagnostics as text; empty if there are none.
    pub log: String,
    /// Files on disk whose text went in.
    pub files_read: Vec<PathBuf>,
}

fn diagnostics(options: &Options) -> Diagnostics {
    Diagnostics::new(options.no_warnings, options.warnings_are_errors)
        .with_groups(&options.warnings)
}

fn output<T>(diags: &Diagnostics, preprocessed: Preprocessed, result: T) -> Output<T> {
    let Preprocessed {
        tokens,
        map,
        interner,
        files_read,
    } = preprocessed;
    Output {
        result: (!diags.has_errors()).then_some(result),
        log: diags.render(&tokens, &map, &interner),
        files_read,
    }
}

/// Preprocesses a source to text, which there is in spite of errors. `markers`: with line markers.
pub fn preprocess(
    input: &Input<'_>,
    options: &Options,
    device: &Device,
    markers: bool,
) -> (String, Output<()>) {
    let mut diags = diagnostics(options);
    let preprocessed = pp::preprocess(input, options, device, Pragmas::All, &mut diags);
    let text = pp::print::print(&preprocessed, markers);
    (text, output(&diags, preprocessed, ()))
}

/// Looks for errors, up to the typed tree.
pub fn check(input: &Input<'_>, options: &Options, device: &Device) -> Output<hir::Module> {
    let mut diags = diagnostics(options);
    let mut preprocessed = pp::preprocess(input, options, device, Pragmas::Known, &mut diags);
    let Preprocessed {
        tokens, interner, ..
    } = &mut preprocessed;
    let ast = crate::parse::parse(tokens, interner, options, &mut diags);
    let module = crate::sema::analyze(&ast, tokens, interner, options, device, &mut diags);
    output(&diags, preprocessed, module)
}
