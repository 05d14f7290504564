//! The stages, one after the other.

use std::path::PathBuf;

use crate::diag::Diagnostics;
use crate::options::{Device, Options};
pub use crate::pp::read_file;
use crate::pp::{LookedFor, Preprocessed};
use crate::{emit, hir, parse, pp, sema};

/// What is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What diagnostics and `__FILE__` call the source.
    pub name: &'a str,
    pub source: &'a str,
    /// Headers in memory: the name that `#include` uses, and the text.
    pub headers: &'a [(String, String)],
}

/// What checking a source gave.
#[derive(Debug)]
pub struct Checked {
    /// The typed tree; `None` after an error.
    pub module: Option<hir::Module>,
    /// Diagnostics as text; empty when there is nothing to say.
    pub log: String,
    /// Files on disk that the result depends on.
    pub files_read: Vec<PathBuf>,
    pub interner: crate::symbol::Interner,
}

fn diagnostics(options: &Options) -> Diagnostics {
    Diagnostics::new(options.no_warnings, options.warnings_are_errors)
        .with_groups(&options.warnings)
}

/// The stages up to the typed tree, which means something if there was no error.
fn analyze(
    input: &Input<'_>,
    options: &Options,
    device: &Device,
    diags: &mut Diagnostics,
) -> (Preprocessed, hir::Module) {
    let mut unit = pp::preprocess(input, options, device, diags);
    let (tokens, interner) = (&unit.tokens, &mut unit.interner);
    let ast = parse::parse(tokens, interner, options, diags);
    let module = sema::analyze(&ast, tokens, interner, options, device, diags);
    (unit, module)
}

/// Reads and checks a source.
pub fn check(input: &Input<'_>, options: &Options, device: &Device) -> Checked {
    let mut diags = diagnostics(options);
    let (unit, module) = analyze(input, options, device, &mut diags);
    let log = diags.render(&unit.tokens, &unit.map, &unit.interner);
    Checked {
        module: (!diags.has_errors()).then_some(module),
        log,
        files_read: unit.files_read,
        interner: unit.interner,
    }
}

/// What compiling a source gave.
#[derive(Debug)]
pub struct Compiled {
    /// A SPIR-V 1.6 module; `None` after an error.
    pub words: Option<Vec<u32>>,
    /// Diagnostics as text; empty when there is nothing to say.
    pub log: String,
    /// Files on disk that the result depends on.
    pub files_read: Vec<PathBuf>,
    /// Files on disk that were looked for: as long as [`read_file`] finds the same in each, the
    /// result is the same.
    pub looked_for: LookedFor,
}

/// Compiles a source to SPIR-V.
pub fn compile(input: &Input<'_>, options: &Options, device: &Device) -> Compiled {
    let mut diags = diagnostics(options);
    let (unit, module) = analyze(input, options, device, &mut diags);
    let mut words = None;
    if !diags.has_errors() {
        let lines = options.debug_info.then_some(emit::Lines {
            tokens: &unit.tokens,
            map: &unit.map,
        });
        let context = (options, device);
        words = Some(emit::emit(
            module,
            &unit.interner,
            lines,
            context,
            &mut diags,
        ));
    }
    Compiled {
        words: words.filter(|_| !diags.has_errors()),
        log: diags.render(&unit.tokens, &unit.map, &unit.interner),
        files_read: unit.files_read,
        looked_for: unit.looked_for,
    }
}

/// The preprocessed text of a source, with line markers if wanted, and the log. `None` after an
/// error.
pub fn preprocess(
    input: &Input<'_>,
    options: &Options,
    device: &Device,
    markers: bool,
) -> (Option<String>, String) {
    let mut diags = diagnostics(options);
    let unit = pp::preprocess_all(input, options, device, &mut diags);
    let log = diags.render(&unit.tokens, &unit.map, &unit.interner);
    let text = (!diags.has_errors()).then(|| pp::print::print(&unit, markers));
    (text, log)
}

/// The syntax tree of a source as text, and the log. `None` after an error.
pub fn syntax_tree(
    input: &Input<'_>,
    options: &Options,
    device: &Device,
) -> (Option<String>, String) {
    let mut diags = diagnostics(options);
    let mut unit = pp::preprocess(input, options, device, &mut diags);
    let ast = parse::parse(&unit.tokens, &mut unit.interner, options, &mut diags);
    let log = diags.render(&unit.tokens, &unit.map, &unit.interner);
    let text = (!diags.has_errors()).then(|| crate::ast::print::print(&ast, &unit.interner));
    (text, log)
}
