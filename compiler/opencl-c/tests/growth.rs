//! What compiling takes grows with a source's length and no faster: sources that are long in one
//! way each, at a length and at four times that. What counts is the memory that is allocated, in
//! all, which is the same each time and which whatever copies things has to ask for. What looks
//! through long lists instead is found by `hostile.rs`, at lengths where that takes hours.

use brolga_compiler_testing::allocation::{self, Counting, measured};
use brolga_opencl_c::{Device, Input, Options, compile};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes allocated to compile a source.
fn memory(source: &str) -> u64 {
    let input = Input {
        name: "t.cl",
        source,
        headers: &[],
    };
    let options = Options {
        whole_program: true,
        ..Options::default()
    };
    let device = Device {
        version: 310,
        ..Device::default()
    };
    let (compiled, taken) = measured(|| compile(&input, &options, &device));
    let log: String = compiled.log.chars().take(400).collect();
    assert!(compiled.words.is_some(), "{log}");
    taken
}

/// Four times as long a source takes not much more than four times as much.
fn assert_linear(name: &str, length: usize, source: impl Fn(usize) -> String) {
    allocation::assert_linear(name, length, |length| memory(&source(length)));
}

/// A kernel with these statements.
fn kernel(body: &str) -> String {
    format!("kernel void k(global int *p, global float *f, int a) {{\n{body}\n}}\n")
}

/// What `one` says of each number, in a row.
fn each(length: usize, one: impl Fn(usize) -> String) -> String {
    (0..length).map(one).collect()
}

#[test]
fn control_flow() {
    assert_linear("else if", 2000, |length| {
        kernel(&(each(length, |i| format!("if (a == {i}) p[{i}] = {i}; else ")) + ";"))
    });
    assert_linear("?:", 2000, |length| {
        let arms = each(length, |i| format!("a == {i} ? p[{i}] : "));
        kernel(&format!("p[0] = {arms} a;"))
    });
    assert_linear("jumps", 1000, |length| {
        let jump = |i| format!("l{i}: if (p[{i}]) goto l{};\n", (i * 7919) % length);
        kernel(&(each(length, jump) + ";"))
    });
    assert_linear("jumps to one label", 1000, |length| {
        kernel(&(each(length, |i| format!("if (p[{i}]) goto end;\n")) + "end:;"))
    });
    assert_linear("cases", 12_000, |length| {
        let cases = each(length, |i| format!("case {}: p[{i}] = 1; break;\n", i * 3));
        kernel(&format!("switch (a) {{ {cases} }}"))
    });
    assert_linear("ranges", 1000, |length| {
        let case = |i| {
            format!(
                "case {} ... {}: p[{i}] = 1; break;\n",
                i * 999,
                i * 999 + 500
            )
        };
        kernel(&format!("switch (a) {{ {} }}", each(length, case)))
    });
}

#[test]
fn expressions() {
    assert_linear("built-in functions", 1000, |length| {
        let line = |i| format!("f[{i}] = sin(f[{i}]) + pow(f[{i}], 2.0f);\n");
        kernel(&each(length, line))
    });
    for (name, one) in [
        ("negations", "- "),
        ("nots", "!"),
        ("sums", "a + "),
        ("and", "a && "),
    ] {
        assert_linear(name, 4000, |length| {
            kernel(&format!("p[0] = {} a;", one.repeat(length)))
        });
    }
    assert_linear("printf", 1000, |length| {
        kernel(&each(length, |i| format!("printf(\"{i} %d\\n\", a);\n")))
    });
}

#[test]
fn declarations() {
    assert_linear("members", 17_000, |length| {
        let members = each(length, |i| format!("int m{i};"));
        let stores = each(length, |i| format!("s.m{i} = a;\n"));
        format!("struct S {{ {members} }};\n") + &kernel(&format!("struct S s;\n{stores}"))
    });
    assert_linear("anonymous members", 2000, |length| {
        let members = each(length, |i| format!("struct {{ int m{i}; }};"));
        let stores = each(length, |i| format!("s.m{i} = a;\n"));
        format!("struct S {{ {members} }};\n") + &kernel(&format!("struct S s;\n{stores}"))
    });
    assert_linear("initialisers", 17_000, |length| {
        let numbers = each(length, |i| format!("[{}] = {i},", (i * 7919) % length));
        format!("constant int t[] = {{ {numbers} }};\n") + &kernel("p[0] = t[a];")
    });
    assert_linear("overloads", 1000, |length| {
        let one = |i| {
            format!(
                "struct s{i} {{ int a; }};\n\
                 int __attribute__((overloadable)) g(struct s{i} *x) {{ return 1; }}\n"
            )
        };
        each(length, one) + &kernel("struct s1 s; p[0] = g(&s);")
    });
    assert_linear("parameters of different types", 1000, |length| {
        let structs = each(length, |i| format!("struct s{i} {{ int a; }};\n"));
        let params = each(length, |i| format!("struct s{i} *a{i}, "));
        let function = "int __attribute__((overloadable)) g";
        format!("{structs}{function}({params} int b) {{ return b; }}\n") + &kernel(";")
    });
    assert_linear("functions", 1000, |length| {
        let one = |i| format!("int g{}(int a) {{ return g{i}(a) + {i}; }}\n", i + 1);
        let last = kernel(&format!("p[0] = g{length}(a);"));
        "int g0(int a) { return a; }\n".to_owned() + &each(length, one) + &last
    });
    assert_linear("variables", 1000, |length| {
        let variables = each(length, |i| format!("constant int c{i} = {i};\n"));
        variables + &kernel(&each(length, |i| format!("p[{i}] = c{i};\n")))
    });
}

#[test]
fn macros() {
    assert_linear("a chain of macros", 1000, |length| {
        let chain = each(length, |i| format!("#define M{}(x) M{i}(x)\n", i + 1));
        format!("#define M0(x) x\n{chain}") + &kernel(&format!("p[0] = M{length}(a);"))
    });
    assert_linear("arguments", 2000, |length| {
        let args = "a, ".repeat(length);
        "#define LAST(x, ...) __VA_ARGS__\n".to_owned()
            + &kernel(&format!("p[0] = (LAST({args} a));"))
    });
    assert_linear("conditions", 2000, |length| {
        let conditions = each(length, |i| format!("#elif X == {}\n", i + 1));
        format!("#if 0\n{conditions}#endif\n") + &kernel(";")
    });
}
