//! Sources that may be wrong: the front end gives a module or diagnostics for each, and never
//! panics.
//!
//! They are made of random programs and of the file tests by what people and machines do to text:
//! pieces are left out, doubled, exchanged with pieces of others, or replaced by words that mean
//! something elsewhere.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use brolga_compiler_testing::judge::panic_message;
use brolga_opencl_c::{Input, Options, Std, compile};

use crate::choices::Choices;
use crate::judge::{device, translated};
use crate::programs::program;

/// Words that mean much.
const WORDS: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "&",
    ".",
    "->",
    "...",
    "#",
    "##",
    "\\\n",
    "\"",
    "'",
    "?",
    ":",
    "=",
    "==",
    "+",
    "-",
    "++",
    "--",
    "<<",
    ">>=",
    "!",
    "~",
    "0",
    "-1",
    "1.5",
    "0x",
    "1e999",
    "1.0h",
    "0xffffffffffffffffff",
    "'\\777'",
    "int",
    "unsigned",
    "long",
    "float",
    "half",
    "double",
    "void",
    "bool",
    "float3",
    "char16",
    "size_t",
    "struct",
    "union",
    "enum",
    "typedef",
    "static",
    "extern",
    "inline",
    "const",
    "volatile",
    "restrict",
    "global",
    "local",
    "private",
    "constant",
    "generic",
    "__kernel",
    "kernel",
    "read_only",
    "image2d_t",
    "sampler_t",
    "event_t",
    "pipe",
    "queue_t",
    "atomic_int",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "return",
    "goto",
    "sizeof",
    "_Alignof",
    "__typeof__",
    "_Generic",
    "_Static_assert",
    "__attribute__",
    "((packed))",
    "((aligned(3)))",
    "((aligned(8192)))",
    "long long",
    "1ull",
    "((vec_type_hint(int)))",
    "((overloadable))",
    "__builtin_astype",
    "__builtin_offsetof",
    "get_global_id",
    "barrier",
    "printf",
    "\"%v4hlf\"",
    "vload3",
    "shuffle",
    "as_int4",
    "convert_uchar4_sat_rte",
    "atomic_add",
    "atomic_fetch_add_explicit",
    "read_imagef",
    "^",
    "enqueue_kernel",
    "ndrange_1D",
    "work_group_reduce_add",
    "get_pipe_num_packets",
    "select",
    "#define A(x, ...) #x ## __VA_ARGS__ A(x)\n",
    "#if 1 /\n",
    "#elif\n",
    "#else\n",
    "#endif\n",
    "#include \"program.cl\"\n",
    "#pragma unroll\n",
    "#pragma OPENCL FP_CONTRACT ON\n",
    "#line 4000000000\n",
    "_Pragma(\"once\")",
    "__VA_OPT__(a)",
    "__LINE__",
    "defined",
    "NULL",
    "A(A",
    "\u{0}",
    "\u{7f}",
    "\u{e9}",
    "\u{1f980}",
    "/*",
    "*/",
    "//",
    ".xyzw",
    ".s0123456789abcdef",
    ".lo",
    ".hi",
    ".even",
    "INFINITY",
    "CLK_LOCAL_MEM_FENCE",
    "&&label",
    "({ 1; })",
    "(int[]){1}",
];

/// The file tests.
pub fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/files");
    let mut folders = vec![root];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)
            .expect("a directory of tests")
            .flatten()
        {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    let texts = files
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok());
    texts.collect()
}

/// A source, and the version that it is compiled for.
pub fn source(corpus: &[String], seed: u64) -> (Std, String) {
    let mut choices = Choices::random(seed);
    let std = choices.one(&[Std::C30, Std::C12, Std::C20, Std::C31, Std::C10, Std::C11]);
    let pick = |choices: &mut Choices| match choices.percent(50) && !corpus.is_empty() {
        true => corpus[choices.index(corpus.len())].clone(),
        false => {
            program(&mut Choices::random(choices.below(1 << 40)), "")
                .text
                .cl
        }
    };
    let first = pick(&mut choices);
    let other = pick(&mut choices);
    let mut pieces: Vec<&str> = split(&first);
    let others: Vec<&str> = split(&other);
    for _ in 0..=choices.one(&[0, 0, 1, 2, 5]) {
        if pieces.is_empty() {
            break;
        }
        let at = choices.index(pieces.len());
        let most = (pieces.len() - at).min(1 + choices.index(12));
        match choices.below(8) {
            0 => pieces.insert(at, choices.one(WORDS)),
            1 => pieces[at] = choices.one(WORDS),
            2 => drop(pieces.drain(at..at + most)),
            3 => {
                let again = pieces[at..at + most].to_vec();
                pieces.splice(at..at, again);
            }
            4 => {
                let to = choices.index(pieces.len());
                pieces.swap(at, to);
            }
            5 if !others.is_empty() => {
                let from = choices.index(others.len());
                let end = (from + 1 + choices.index(40)).min(others.len());
                pieces.splice(at..at + most, others[from..end].iter().copied());
            }
            6 if choices.percent(20) => pieces.truncate(at),
            _ => {
                let many = 1 + choices.index(300);
                let word = choices.one(WORDS);
                pieces.splice(at..at, std::iter::repeat_n(word, many));
            }
        }
    }
    (std, pieces.concat())
}

/// Words, numbers, white space and other characters.
fn split(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        if before.is_some_and(|before| before != kind(c) || before == 0) {
            pieces.push(&text[start..at]);
            start = at;
        }
        before = Some(kind(c));
    }
    pieces.push(&text[start..]);
    pieces
}

/// What became of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Compiled,
    Refused,
}

/// Compiles a source, and has the compiler read the module if there is one.
///
/// # Errors
/// What must never happen.
pub fn survives(std: Std, source: &str) -> Result<Fate, String> {
    let input = Input {
        name: "program.cl",
        source,
        headers: &[],
    };
    let options = Options {
        std,
        ..Options::default()
    };
    let compiled = catch_unwind(AssertUnwindSafe(|| compile(&input, &options, &device())));
    let compiled = compiled.map_err(|panic| format!("panicked: {}", panic_message(&*panic)))?;
    let Some(words) = compiled.words else {
        return match compiled.log.contains("error: ") {
            true => Ok(Fate::Refused),
            false => Err("refused without an error".into()),
        };
    };
    match catch_unwind(AssertUnwindSafe(|| translated(&words))) {
        Ok(Ok(_)) => Ok(Fate::Compiled),
        // Another module may define what this one only declares.
        Ok(Err(why)) if why.contains("undefined symbol") => Ok(Fate::Compiled),
        Ok(Err(why)) => Err(why),
        Err(panic) => Err(format!("the compiler panicked: {}", panic_message(&*panic))),
    }
}
