//! Sources made to break a compiler: each must give a module or diagnostics, in bounded time and
//! memory, and never a crash.
//!
//! `brolga-clc` runs as a child with a small stack, so that recursion that goes by depth of the
//! source ends the test and not the machine, and with an address space of [`MEMORY`].

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// KiB of stack of the child's first thread; applications' threads have no more.
const STACK: u64 = 512;
/// KiB of address space of the child.
const MEMORY: u64 = 4 << 20;
/// For a debug build on a busy machine; what is not linear takes hours at these sizes.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How long the diagnostics of one source may be.
const LOG_LIMIT: usize = 4 << 20;

const MIB: usize = 1 << 20;
const DEEP: usize = 10_000;

/// What came of a source.
struct Fate {
    accepted: bool,
    log: String,
}

impl Fate {
    /// The log as far as a person would read it.
    fn head(&self) -> String {
        self.log.chars().take(400).collect()
    }
}

/// Compiles in a child process.
///
/// # Errors
/// What the compiler did that it must never do.
fn compile(source: &[u8], options: &[&str]) -> Result<Fate, String> {
    let script = format!("ulimit -s {STACK}; ulimit -v {MEMORY}; ulimit -c 0; exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_brolga-clc")])
        .args(options)
        .args(["-o", "/dev/null", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("brolga-clc starts");
    let started = Instant::now();
    let mut stdin = child.stdin.take().expect("it is piped");
    let mut stderr = child.stderr.take().expect("it is piped");
    let source = source.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&source));
    let reader = std::thread::spawn(move || {
        let mut log = Vec::new();
        let _ = stderr.read_to_end(&mut log);
        String::from_utf8_lossy(&log).into_owned()
    });
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if started.elapsed() > TIME_LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("not done after {TIME_LIMIT:?}"));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    // It may have refused its input before it was all read.
    let _ = writer.join();
    let fate = Fate {
        accepted: status.success(),
        log: reader.join().expect("a log"),
    };
    if !matches!(status.code(), Some(0 | 1)) {
        return Err(format!("{status}: {}", fate.head()));
    }
    if fate.log.len() > LOG_LIMIT {
        let size = fate.log.len();
        return Err(format!("{size} bytes of diagnostics: {}", fate.head()));
    }
    if !fate.accepted && !fate.log.contains("error") {
        return Err(format!("refused without an error: {}", fate.head()));
    }
    Ok(fate)
}

/// Sources that were compiled, and what was wrong with the way they were.
#[derive(Default)]
struct Sources {
    options: &'static [&'static str],
    failures: Vec<String>,
}

impl Sources {
    fn judge(
        &mut self,
        name: &str,
        source: impl AsRef<[u8]>,
        judge: impl FnOnce(&Fate) -> Result<(), &str>,
    ) {
        let fate = compile(source.as_ref(), self.options);
        let why =
            fate.and_then(|fate| judge(&fate).map_err(|why| format!("{why}: {}", fate.head())));
        if let Err(why) = why {
            let name: String = name.chars().take(60).collect();
            self.failures.push(format!("{name}: {why}"));
        }
    }

    fn accepts(&mut self, name: &str, source: impl AsRef<[u8]>) {
        self.judge(name, source, |fate| match fate.accepted {
            true => Ok(()),
            false => Err("refused"),
        });
    }

    /// It is refused, and some line of the log has `message`.
    fn refuses(&mut self, name: &str, source: impl AsRef<[u8]>, message: &str) {
        self.judge(name, source, |fate| match fate.accepted {
            false if fate.log.contains(message) => Ok(()),
            false => Err("refused with another message"),
            true => Err("accepted"),
        });
    }

    /// It is refused or not.
    fn survives(&mut self, name: &str, source: impl AsRef<[u8]>) {
        self.judge(name, source, |_| Ok(()));
    }

    fn finish(self) {
        let failures = self.failures;
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    }
}

/// A kernel with these statements.
fn kernel(body: &str) -> String {
    format!("kernel void k(global int *p) {{\n{body}\n}}\n")
}

/// An expression in a kernel.
fn expression(text: &str) -> String {
    kernel(&format!("    int a = p[0];\n    p[0] = {text};"))
}

fn nested(open: &str, middle: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + middle + &close.repeat(depth)
}

#[test]
fn ten_megabytes() {
    let mut sources = Sources::default();
    let size = 10 * MIB;
    sources.accepts("blanks in a line", kernel(&" ".repeat(size)));
    sources.accepts("empty lines", kernel(&"\n".repeat(size)));
    sources.accepts("a comment", kernel(&format!("/*{}*/", "x".repeat(size))));
    sources.accepts("spliced lines", kernel(&"\\\n".repeat(size / 2)));
    sources.accepts("empty statements", kernel(&";".repeat(MIB)));
    sources.accepts(
        "a long line of statements",
        kernel(&"p[0] += 1; ".repeat(size / 22)),
    );
    sources.accepts("functions", {
        let one = |i: usize| format!("int f{i}(int a) {{ return a * {i} + 1; }}\n");
        (0..size / 80).map(one).collect::<String>() + &kernel("p[0] = f7(p[1]);")
    });
    sources.accepts("one huge initialiser", {
        let numbers = "1234567,".repeat(size / 16);
        format!("constant int t[] = {{{numbers}}};\n") + &kernel("p[0] = t[p[1]];")
    });
    sources.accepts("macros", {
        let one = |i: usize| format!("#define M{i}(x) ((x) + {i})\n");
        (0..size / 60).map(one).collect::<String>() + &kernel("p[0] = M1(p[1]);")
    });
    sources.survives("one identifier", kernel(&"x".repeat(size)));
    sources.survives("one number", expression(&"1".repeat(size)));
    sources.survives(
        "one floating number",
        expression(&format!("0.{}1f", "0".repeat(size))),
    );
    sources.survives(
        "one hexadecimal floating number",
        expression(&format!("0x{}.8p1f", "f".repeat(size))),
    );
    sources.survives(
        "a string",
        kernel(&format!("printf(\"{}\");", "s".repeat(size))),
    );
    sources.survives(
        "strings",
        kernel(&format!("printf({});", "\"s\"".repeat(size / 6))),
    );
    sources.survives("stars", "*".repeat(size));
    sources.survives("errors", kernel(&"$ ".repeat(size / 4)));
    sources.survives("undeclared names", kernel(&"q = r;".repeat(size / 24)));
    sources.survives("letters", "x ".repeat(size / 4));
    sources.survives("directives", "#error x\n".repeat(size / 20));
    sources.survives("carriage returns", "\r".repeat(size));
    sources.finish();
}

/// What looks through a list for each element of it is not done in an hour.
#[test]
fn long_lists() {
    let mut sources = Sources::default();
    let each =
        |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    sources.accepts("else if", {
        let all = each(50_000, &|i| format!("if (p[1] == {i}) p[{i}] = {i}; else "));
        kernel(&(all + ";"))
    });
    sources.accepts("?:", {
        let arms = each(100_000, &|i| format!("a == {i} ? {i} : "));
        expression(&(arms + "a"))
    });
    sources.accepts("jumps", {
        let jump = |i| format!("l{i}: if (p[{i}]) goto l{};\n", (i * 7919) % 20_000);
        kernel(&(each(20_000, &jump) + ";"))
    });
    sources.accepts("jumps to one label", {
        let jumps = each(70_000, &|i| format!("if (p[{i}]) goto end;\n"));
        kernel(&(jumps + "end:;"))
    });
    sources.accepts("cases", {
        let cases = each(70_000, &|i| format!("case {}: p[{i}] = 1; break;\n", i * 3));
        kernel(&format!("switch (p[0]) {{ {cases} }}"))
    });
    sources.accepts("built-in functions", {
        let line = |i| format!("p[{i}] = sin((float)p[{i}]) + pow((float)p[{i}], 2.0f);\n");
        kernel(&each(10_000, &line))
    });
    sources.accepts("members", {
        let members = each(70_000, &|i| format!("int m{i};"));
        let stores = each(70_000, &|i| format!("s.m{i} = 1;\n"));
        format!("struct S {{ {members} }};\n") + &kernel(&format!("struct S s;\n{stores}"))
    });
    sources.accepts("anonymous members", {
        let members = each(70_000, &|i| format!("struct {{ int m{i}; }};"));
        let stores = each(70_000, &|i| format!("s.m{i} = 1;\n"));
        format!("struct S {{ {members} }};\n") + &kernel(&format!("struct S s;\n{stores}"))
    });
    sources.accepts("overloads", {
        let one = |i| {
            format!(
                "struct s{i} {{ int a; }};\n\
                 int __attribute__((overloadable)) f(struct s{i} *x) {{ return 1; }}\n"
            )
        };
        each(70_000, &one) + &kernel("struct s1 s; p[0] = f(&s);")
    });
    sources.refuses(
        "undeclared names",
        kernel(&each(70_000, &|i| format!("q{i} = 1;\n"))),
        "use of undeclared identifier 'q7'",
    );
    sources.finish();
}

/// What Vulkan cannot express, or SPIR-V has no room for, is refused.
#[test]
fn for_vulkan() {
    let mut sources = Sources {
        options: &["--target=vulkan1.3", "-cl-std=CL3.0"],
        ..Sources::default()
    };
    let each =
        |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    sources.accepts("statements", {
        kernel(&each(20_000, &|i| format!("p[{i}] = p[{i} + 1] * {i};\n")))
    });
    sources.accepts("else if", {
        let all = each(10_000, &|i| format!("if (p[1] == {i}) p[{i}] = {i}; else "));
        kernel(&(all + ";"))
    });
    sources.refuses(
        "?:",
        expression(&(each(10_000, &|i| format!("a == {i} ? p[{i}] : ")) + "a")),
        "deeper than the 1023 levels",
    );
    sources.accepts("jumps", {
        let jump = |i| format!("l{i}: if (p[{i}]) goto l{};\n", (i * 7919) % 10_000);
        kernel(&(each(10_000, &jump) + ";"))
    });
    sources.accepts("jumps into loops", {
        let open = |i| format!("if (p[{i}]) goto b{i};\na{i}: p[{i}]++;\n");
        let close = |i| format!("b{0}: if (p[{0}] < 9) goto a{0};\n", 4_999 - i);
        kernel(&(each(5_000, &open) + &each(5_000, &close)))
    });
    sources.accepts("breaks", {
        let each = each(10_000, &|i| {
            format!("if (p[{i}] == 1) break; if (p[{i}] == 2) continue;\n")
        });
        kernel(&format!("for (;;) {{ {each} }}"))
    });
    sources.accepts("cases that fall through", {
        let cases = each(40_000, &|i| format!("case {}: p[{i}] = 1;\n", i * 3));
        kernel(&format!("switch (p[0]) {{ {cases} }}"))
    });
    sources.accepts("calls", {
        let one = |i: usize| format!("int f{}(int a) {{ return f{i}(a) * {i}; }}\n", i + 1);
        let first = "int f0(int a) { return a; }\n".to_owned();
        first + &each(10_000, &one) + &kernel("p[0] = f10000(p[1]);")
    });
    sources.refuses(
        "calls by two",
        {
            let one = |i: usize| {
                format!(
                    "int f{}(int a) {{ return f{i}(a) * f{i}(a + 1); }}\n",
                    i + 1
                )
            };
            let first = "int f0(int a) { return a; }\n".to_owned();
            first + &each(40, &one) + &kernel("p[0] = f40(p[1]);")
        },
        "with all functions that it calls in place",
    );
    sources.refuses(
        "one pointer to many variables",
        {
            let variables = each(10_000, &|i| format!("int x{i}[4];\n"));
            let uses = each(10_000, &|i| format!("if (p[{i}]) q = x{i}; q[p[1]] = 1;\n"));
            kernel(&format!("{variables} int *q = x0; {uses}"))
        },
        "more than 1048576 instructions for Vulkan",
    );
    sources.accepts("sums of a pointer", {
        expression(&format!("*(p {})", "+ a".repeat(10_000)))
    });
    sources.refuses(
        "pointers to pointers",
        kernel(&format!("int {0}q = 0; p[0] = {0}q;", "*".repeat(1000))),
        "deeper than the 255 levels",
    );
    sources.refuses(
        "a long constant",
        format!("constant int t[] = {{ {} }};\n", "1,".repeat(70_000)) + &kernel("p[0] = t[p[1]];"),
        "more elements than",
    );
    sources.refuses(
        "a large argument",
        "struct S { int a[1000000]; };\n\
         kernel void k(struct S s, global int *p) { p[0] = s.a[p[1]]; }",
        "so many parts",
    );
    sources.accepts("a large variable", {
        kernel("int t[1000000] = { 0 }; t[p[1]] = 1; p[0] = t[p[2]];")
    });
    sources.accepts("kernels", {
        each(5_000, &|i| {
            format!("constant int t{i}[] = {{ 1, {i} }};\n")
                + &format!("kernel void k{i}(global int *p) {{ p[0] = t{i}[p[1]]; }}\n")
        })
    });
    sources.finish();
}

#[test]
fn unfinished() {
    let mut sources = Sources::default();
    for text in [
        "/*",
        "\"",
        "'",
        "(",
        "{",
        "[",
        "#",
        "#if 1",
        "#define",
        "#define M(",
        "#include",
        "\\",
        "kernel",
        "kernel void k(",
        "struct",
        "struct S {",
        "enum {",
        "int a = {",
        "int a[",
        "__attribute__((",
        "_Pragma(",
        "void f() { switch (1) {",
        "void f() { for (;;",
        "void f() { goto",
        "void f() { do",
        "int x = (",
        "typedef",
        "%:",
        "<:",
        "#pragma",
        "#line",
        "#elif",
        "#else\n#else",
        "#endif",
        "@",
        "`",
        "\u{feff}",
        "0x",
        "1e+",
        "0x.p",
        "''",
        "'\\",
        "\"\\x",
        "void f() { a ? b",
        "void f() { a.",
        "void f() { (int4)(",
        "#define M(x) #x\nM(",
        "#define M(x) x##\nM()",
        "#if (",
        "#if 1 ?",
        "#if defined(",
    ] {
        sources.survives(text, text);
        sources.survives(text, text.repeat(1000));
    }
    sources.finish();
}

#[test]
fn deep_brackets() {
    let mut sources = Sources::default();
    let message = "bracket nesting level exceeded maximum of 256";
    sources.refuses(
        "parentheses",
        expression(&nested("(", "a", ")", DEEP)),
        message,
    );
    sources.refuses(
        "subscripts",
        expression(&nested("p[", "a", "]", DEEP)),
        message,
    );
    sources.refuses("blocks", kernel(&nested("{", ";", "}", DEEP)), message);
    sources.refuses(
        "initialisers",
        kernel(&format!("int b[] = {};", nested("{", "1", "}", DEEP))),
        message,
    );
    sources.refuses(
        "calls",
        expression(&nested("abs(", "a", ")", DEEP)),
        message,
    );
    sources.refuses(
        "vectors",
        expression(&nested("(int2)(", "a", ")", DEEP)),
        message,
    );
    sources.refuses(
        "declarators",
        kernel(&format!("int {};", nested("(", "b", ")", DEEP))),
        message,
    );
    sources.refuses(
        "statement expressions",
        expression(&nested("({", "a;", "})", DEEP)),
        message,
    );
    sources.survives("structures", nested("struct {", "int a;", "} b;", DEEP));
    sources.survives("open parentheses", expression(&"(".repeat(DEEP)));
    sources.survives("open braces", "{".repeat(DEEP));
    sources.survives("open brackets", expression(&"p[".repeat(DEEP)));
    sources.survives("closing brackets", expression(&")]}".repeat(DEEP)));
    sources.survives(
        "attributes",
        nested("__attribute__((aligned(", "4", ")))", DEEP) + " int a;",
    );
    sources.survives("typeof", nested("typeof(", "int", ")", DEEP) + " a;");
    sources.survives("sizeof", expression(&nested("sizeof(", "int", ")", DEEP)));
    sources.survives("functions", kernel(&nested("void f(", "int a", ")", DEEP)));
    sources.survives(
        "abstract declarators",
        kernel(&format!("(int {}) 0;", nested("(*", "", ")", DEEP))),
    );
    sources.survives(
        "generic selection",
        expression(&nested("_Generic(", "a", ", default: 1)", DEEP)),
    );
    sources.finish();
}

#[test]
fn deep_without_brackets() {
    let mut sources = Sources::default();
    sources.accepts("negations", expression(&format!("{}a", "- ".repeat(DEEP))));
    sources.accepts("complements", expression(&format!("{}a", "~".repeat(DEEP))));
    sources.accepts("nots", expression(&format!("{}a", "!".repeat(DEEP))));
    sources.accepts("plus", expression(&format!("{}a", "+ ".repeat(DEEP))));
    sources.survives("casts", expression(&format!("{}a", "(int)".repeat(DEEP))));
    sources.accepts("addresses", expression(&format!("{}a", "*&".repeat(DEEP))));
    sources.accepts(
        "sizeof",
        expression(&format!("{}a", "sizeof ".repeat(DEEP))),
    );
    sources.accepts("sums", expression(&format!("{}a", "a + ".repeat(DEEP))));
    sources.accepts(
        "a long sum",
        expression(&format!("{}a", "a + ".repeat(100 * DEEP))),
    );
    sources.accepts("commas", expression(&format!("({}a)", "a, ".repeat(DEEP))));
    sources.accepts(
        "ternaries",
        expression(&format!("{}a", "a ? a : ".repeat(DEEP))),
    );
    sources.survives(
        "ternaries between",
        expression(&format!("{}a{}", "a ? ".repeat(DEEP), " : a".repeat(DEEP))),
    );
    sources.accepts(
        "assignments",
        expression(&format!("{}a", "a = ".repeat(DEEP))),
    );
    sources.accepts(
        "short circuits",
        expression(&format!("{}a", "a && ".repeat(DEEP))),
    );
    sources.accepts(
        "else if",
        kernel(&format!(
            "int a = p[0];\n{};",
            "if (a) p[1] = 1; else ".repeat(DEEP)
        )),
    );
    sources.survives(
        "if",
        kernel(&format!("int a = p[0];\n{};", "if (a) ".repeat(DEEP))),
    );
    sources.survives(
        "loops",
        kernel(&format!("{};", "while (p[0]) ".repeat(DEEP))),
    );
    sources.survives("labels", {
        let labels: String = (0..DEEP).map(|i| format!("l{i}: ")).collect();
        kernel(&format!("{labels};"))
    });
    sources.accepts("cases", {
        let cases: String = (0..DEEP).map(|i| format!("case {i}: ")).collect();
        kernel(&format!("switch (p[0]) {{ {cases}; }}"))
    });
    sources.survives("pointers", kernel(&format!("int {}b;", "*".repeat(DEEP))));
    sources.survives("members", expression(&format!("a{}", ".x".repeat(DEEP))));
    sources.survives("arrows", expression(&format!("p{}", "->x".repeat(DEEP))));
    sources.survives("increments", expression(&format!("a{}", "++".repeat(DEEP))));
    sources.survives("arrays", kernel(&format!("int b{};", "[1]".repeat(DEEP))));
    sources.survives(
        "subscripts",
        expression(&format!("p{}", "[0]".repeat(DEEP))),
    );
    sources.survives(
        "choices",
        expression(&nested("__builtin_choose_expr(1, ", "a", ", 1)", DEEP)),
    );
    sources.survives(
        "selections",
        expression(&nested("__builtin_choose_expr(", "1", ", 1, 1)", DEEP)),
    );
    sources.survives("calls", expression(&format!("k{}", "()".repeat(DEEP))));
    sources.survives("typedefs", {
        let one = |i: usize| format!("typedef t{i} *t{};\n", i + 1);
        "typedef int t0;\n".to_owned()
            + &(0..DEEP).map(one).collect::<String>()
            + &kernel(&format!("t{DEEP} a; int b = a;"))
    });
    sources.survives("structures in structures", {
        let one = |i: usize| format!("struct s{} {{ struct s{i} a, b; }};\n", i + 1);
        "struct s0 { int a; };\n".to_owned()
            + &(0..DEEP).map(one).collect::<String>()
            + &kernel(&format!("struct s{DEEP} a; p[0] = sizeof(a);"))
    });
    sources.survives("linked structures", {
        let one = |i: usize| format!("struct s{} {{ struct s{i} *a; }};\n", i + 1);
        "struct s0 { int a; };\n".to_owned()
            + &(0..DEEP).map(one).collect::<String>()
            + &kernel(&format!("struct s{DEEP} a; a.a = 0;"))
    });
    sources.survives("an initialiser without its braces", {
        let one = |i: usize| format!("struct s{} {{ struct s{i} a; }};\n", i + 1);
        "struct s0 { int a; };\n".to_owned()
            + &(0..DEEP).map(one).collect::<String>()
            + &format!("constant struct s{DEEP} c = {{ 1 }};\n")
            + &kernel(&format!("struct s{DEEP} a = {{ p[0] }}, b = c; b = a;"))
    });
    sources.survives("calls of calls", {
        let one = |i: usize| format!("int f{}(int a) {{ return f{i}(a) + f{i}(a); }}\n", i + 1);
        "int f0(int a) { return a; }\n".to_owned()
            + &(0..DEEP).map(one).collect::<String>()
            + &kernel(&format!("p[0] = f{DEEP}(1);"))
    });
    sources.survives("enumerators", {
        let one = |i: usize| format!("e{} = e{i} + 1,", i + 1);
        format!("enum {{ e0, {} }};", (0..DEEP).map(one).collect::<String>())
    });
    sources.finish();
}

#[test]
fn deep_conditions_and_macros() {
    let mut sources = Sources::default();
    sources.accepts(
        "#if",
        nested("#if 1\n", "", "#endif\n", DEEP) + &kernel(";"),
    );
    sources.accepts(
        "#if skipped",
        nested("#if 0\n", "", "#endif\n", DEEP) + &kernel(";"),
    );
    sources.refuses("#if without end", "#if 1\n".repeat(DEEP), "unterminated");
    sources.accepts(
        "#elif",
        format!("#if 0\n{}#endif\n", "#elif 0\n".repeat(DEEP)) + &kernel(";"),
    );
    sources.survives(
        "parentheses in #if",
        format!("#if {}\n#endif\n", nested("(", "1", ")", DEEP)),
    );
    sources.survives("open in #if", format!("#if {}\n#endif\n", "(".repeat(DEEP)));
    sources.survives(
        "unary in #if",
        format!("#if {}1\n#endif\n", "!".repeat(DEEP)),
    );
    sources.survives(
        "ternaries in #if",
        format!("#if {}1\n#endif\n", "1 ? 1 : ".repeat(DEEP)),
    );
    sources.survives(
        "ternaries between in #if",
        format!(
            "#if {}1{}\n#endif\n",
            "1 ? ".repeat(DEEP),
            " : 1".repeat(DEEP)
        ),
    );
    sources.survives(
        "defined in #if",
        format!("#if {}\n#endif\n", nested("defined(", "a", ")", DEEP)),
    );
    sources.survives(
        "macro arguments",
        format!(
            "#define M(x) x\nint a = {};\n",
            nested("M(", "1", ")", DEEP)
        ),
    );
    sources.survives(
        "macro arguments doubled",
        format!("#define M(x) x x\n{}\n", nested("M(", "1", ")", 64)),
    );
    sources.survives(
        "open macro call",
        format!("#define M(x) x\n{}", "M(".repeat(DEEP)),
    );
    sources.survives("a macro that wants its arguments later", {
        let one = |i: usize| format!("#define M{} M{i}\n", i + 1);
        "#define M0(x) x\n".to_owned()
            + &(0..DEEP).map(one).collect::<String>()
            + &format!("int a = M{DEEP}(1);\n")
    });
    sources.survives("macros of macros", {
        let one = |i: usize| format!("#define M{}(x) M{i}(x)\n", i + 1);
        "#define M0(x) x\n".to_owned()
            + &(0..DEEP).map(one).collect::<String>()
            + &format!("int a = M{DEEP}(1);\nint b = M{DEEP}(error);\n")
    });
    sources.survives("parameters", {
        let names: Vec<String> = (0..DEEP).map(|i| format!("p{i}")).collect();
        let names = names.join(", ");
        format!("#define M({names}) {names}\nint a = M({names});\n")
    });
    sources.survives("pastes", {
        let pastes = "x##".repeat(DEEP);
        format!("#define M(x) {pastes}x\nint M(a) = 1;\n")
    });
    sources.survives("strings of strings", {
        let one = |i: usize| format!("#define M{}(x) M{i}(#x)\n", i + 1);
        "#define M0(x) #x\n".to_owned()
            + &(0..40).map(one).collect::<String>()
            + &kernel("printf(M40(\"\\\"));")
    });
    sources.survives("_Pragma", nested("_Pragma(\"", "once", "\")", DEEP));
    sources.finish();
}

/// Each macro is ten of the one before: 10^30 tokens.
fn billion_laughs(arguments: &str) -> String {
    let one = |i: usize| {
        let call = format!("L{i}{arguments} ").repeat(10);
        format!("#define L{}{arguments} {call}\n", i + 1)
    };
    format!("#define L0{arguments} + 1\n") + &(0..30).map(one).collect::<String>()
}

#[test]
fn macro_bombs() {
    let mut sources = Sources::default();
    let message = "too many tokens";
    sources.refuses("objects", billion_laughs("") + "int a = 0 L30;\n", message);
    sources.refuses(
        "functions",
        billion_laughs("()") + "int a = 0 L30();\n",
        message,
    );
    sources.refuses(
        "arguments",
        billion_laughs("(x)") + "int a = 0 L30(1);\n",
        message,
    );
    sources.refuses(
        "in #if",
        billion_laughs("") + "#if 0 L30\n#endif\n",
        message,
    );
    sources.survives(
        "in an argument",
        billion_laughs("") + "#define M(x) #x\nM(L30)\n",
    );
    sources.survives(
        "in a skipped argument",
        billion_laughs("") + "#define M(x)\nM(L30)\n",
    );
    sources.survives("in #include", billion_laughs("") + "#include L30\n");
    sources.survives("in #line", billion_laughs("") + "#line 1 L30\n");
    sources.survives("in #pragma", billion_laughs("") + "#pragma unroll L30\n");
    sources.survives("growing arguments", {
        let one = |i: usize| format!("#define A{}(x) A{i}(x x)\n", i + 1);
        "#define A0(x) x\n".to_owned() + &(0..60).map(one).collect::<String>() + "A60(1)\n"
    });
    sources.survives("growing names", {
        let one = |i: usize| format!("#define P{}(x) P{i}(x##x)\n", i + 1);
        "#define P0(x) x\n".to_owned() + &(0..60).map(one).collect::<String>() + "int P60(a);\n"
    });
    sources.survives("growing strings", {
        let one = |i: usize| format!("#define S{}(x) S{i}(x x)\n", i + 1);
        "#define S0(x) #x\n".to_owned()
            + &(0..60).map(one).collect::<String>()
            + &kernel("printf(S60(a));")
    });
    sources.survives("growing strings of strings", {
        let one = |i: usize| format!("#define S{}(x) S{i}(#x #x)\n", i + 1);
        "#define S0(x) #x\n".to_owned()
            + &(0..60).map(one).collect::<String>()
            + &kernel("printf(S60(\"\\\"));")
    });
    sources.survives("variadic", {
        let one = |i: usize| format!("#define V{}(...) V{i}(__VA_ARGS__, __VA_ARGS__)\n", i + 1);
        "#define V0(...) __VA_ARGS__\n".to_owned()
            + &(0..60).map(one).collect::<String>()
            + "int a[] = { V60(1) };\n"
    });
    sources.accepts(
        "itself",
        "#define a a\n#define b c\n#define c b\nconstant int a = 1, b = 2;\n".to_owned()
            + &kernel(";"),
    );
    sources.finish();
}

#[test]
fn include_loops() {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    write("self.h", "#include \"self.h\"\n");
    write("a.h", "#include \"b.h\"\n#include \"b.h\"\n");
    write("b.h", "#include \"a.h\"\n#include \"a.h\"\n");
    write("twice0.h", "int;\n");
    for i in 0..60 {
        let one = format!("#include \"twice{i}.h\"\n");
        write(&format!("twice{}.h", i + 1), &one.repeat(2));
    }
    let path = folder.path().to_str().expect("a name");
    for (source, message) in [
        ("#include \"self.h\"\n", "#include nested too deeply"),
        ("#include \"a.h\"\n", "#include nested too deeply"),
        ("#include \"twice60.h\"\n", ""),
        ("#include \"/dev/zero\"\n", ""),
        ("#include \"/dev/stdin\"\n", ""),
        ("#include \"/proc/self/mem\"\n", ""),
        ("#include \"/\"\n", ""),
        ("#include \".\"\n", ""),
        ("#include \"\"\n", ""),
        ("#include <>\n", ""),
        ("#include \"a\0b\"\n", ""),
    ] {
        let fate = compile(source.as_bytes(), &["-I", path]).expect(source);
        let head = fate.head();
        assert!(!fate.accepted, "{source}: accepted; {head}");
        assert!(fate.log.contains(message), "{source}: {head}");
    }
}

#[test]
fn bytes_that_are_no_text() {
    let mut sources = Sources::default();
    let tail = kernel("p[0] = 1;").into_bytes();
    let with = |bytes: &[u8]| [bytes, tail.as_slice()].concat();
    sources.survives("NUL", with(b"\0"));
    sources.survives("NUL in a line", with(b"int a\0b;\n"));
    sources.survives("NUL in a comment", with(b"/* \0 */ // \0\n"));
    sources.survives("NUL in a string", with(b"constant char s[] = \"a\0b\";\n"));
    sources.survives(
        "NUL in a directive",
        with(b"#define M\0 1\n#if \0\n#endif\n"),
    );
    sources.survives("many NULs", with(&[0; 100_000]));
    sources.survives("invalid UTF-8", with(b"int \xff\xfe\xc0\x80;\n"));
    sources.survives(
        "invalid UTF-8 in a comment",
        with(b"// \xff\xc3\n/* \xf0\x9f */\n"),
    );
    sources.survives(
        "invalid UTF-8 in a string",
        with(b"constant char s[] = \"\xff\xed\xa0\x80\";\n"),
    );
    sources.survives("invalid UTF-8 in a name", with(b"#include \"\xff.h\"\n"));
    sources.survives("cut UTF-8 at the end", b"int a; // \xe2\x82");
    sources.survives("all bytes", (0..=255).collect::<Vec<u8>>().repeat(100));
    sources.survives(
        "wide characters",
        "int äöü\u{1f600} = 'ß' + '\u{1f600}';\n".repeat(100),
    );
    sources.survives("byte order marks", "\u{feff}".repeat(1000));
    sources.survives(
        "universal names",
        "int \\u00e4\\U0010ffff\\uffff\\ud800 = 1;\n",
    );
    sources.survives(
        "UTF-16",
        "int a;\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<u8>>(),
    );
    sources.finish();
}

#[test]
fn huge_things() {
    let mut sources = Sources::default();
    for text in [
        "int a[2147483647];",
        "int a[9223372036854775807];",
        "int a[18446744073709551615u];",
        "int a[-1];",
        "int a[1 << 30][1 << 30][1 << 30];",
        "int a[0x7fffffff] = { 1 };",
        "int a[] = { [0x7fffffff] = 1 };",
        "int a[] = { [9223372036854775807] = 1, 2, 3 };",
        "int a[] = { [0 ... 0x7fffffff] = 1 };",
        "int a[] = { [0 ... 9223372036854775807] = 1 };",
        "int a[] = { [1000000000] = 1 }; a[p[0]] = 2; p[1] = a[2];",
        "char a[1 << 30] = \"x\"; p[0] = a[p[1]];",
        "struct { int a[1 << 28]; } s = { 0 }, t = s; p[0] = t.a[p[1]];",
        "struct { char a[9223372036854775807], b[9223372036854775807]; } s;",
        "__attribute__((aligned(1 << 30))) int a;",
        "__attribute__((aligned(9223372036854775807))) int a;",
        "struct { int a; __attribute__((aligned(1ul << 63))) int b; } s;",
        "__attribute__((vector_size(1 << 30))) int a;",
        "__attribute__((ext_vector_type(1000000))) int a;",
        "__attribute__((ext_vector_type(4294967296))) int a;",
        "typedef int v __attribute__((ext_vector_type(100000))); v a; a = a + a;",
        "int16 a = 0; a.s0123456789abcdef0123456789abcdef = a;",
        "int4 a = (int4)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17);",
        "switch (p[0]) { case 0 ... 0x7fffffff: p[1] = 1; }",
        "switch ((ulong)p[0]) { case 0 ... 0xffffffffffffffff: p[1] = 1; }",
        "p[0] = 99999999999999999999999999999999999999999999;",
        "p[0] = 1e99999999999999999999;",
        "p[0] = 0x1p99999999999999999999f;",
        "p[0] = 1e-99999999999999999999f;",
        "p[0] = 1 / 0 + 1 % 0 + (-2147483647 - 1) / -1 + (1 << 99) + (1 >> -1);",
        "int a[1 / 0];",
        "enum { a = 0x7fffffffffffffff, b };",
        "p[0] = sizeof(int[1 << 30][1 << 30][1 << 30]);",
        "struct { int a : 4000000000; } s;",
        "p[99999999999] = *(p + 9223372036854775807);",
        "local int a[1 << 40]; a[0] = 1;",
        "printf(\"%999999999999d%*.*v99999d\", 1);",
        "#line 99999999999999\n;",
        "#pragma unroll 99999999999999\nfor (;;) ;",
        "__attribute__((opencl_unroll_hint(99999999999))) for (;;) ;",
    ] {
        sources.survives(text, kernel(text));
        sources.survives(text, text);
    }
    sources.survives(
        "constant tables",
        "constant int a[1 << 28] = { 1 }; constant int b[1 << 28] = { [5] = 1 };\n".to_owned()
            + &kernel("p[0] = a[p[1]] + b[p[2]];"),
    );
    sources.survives("attributes of kernels", {
        let size = "__attribute__((reqd_work_group_size(99999999999, 0, -1)))";
        format!("{size} {}", kernel(";"))
    });
    sources.survives("arguments", {
        let names: Vec<String> = (0..DEEP).map(|i| format!("int a{i}")).collect();
        format!("kernel void k({}) {{}}\n", names.join(", "))
    });
    sources.survives("members", {
        let members: String = (0..DEEP).map(|i| format!("int a{i};")).collect();
        format!("struct S {{ {members} }};\n") + &kernel("struct S s = { 0 }, t = s; p[0] = t.a7;")
    });
    sources.survives("locals", {
        let locals: String = (0..DEEP).map(|i| format!("int a{i} = p[{i}];")).collect();
        kernel(&locals)
    });
    sources.survives("jumps", {
        let jumps: String = (0..DEEP)
            .map(|i| format!("l{i}: if (p[{i}]) goto l{};", (i * 7919) % DEEP))
            .collect();
        kernel(&jumps)
    });
    sources.finish();
}
