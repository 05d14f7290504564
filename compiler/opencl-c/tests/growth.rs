//! What compiling takes grows with a source's length and no faster: sources that are long in one
//! way each, at a length and at four times that. What counts is the memory that is allocated, in
//! all, which is the same each time and which whatever copies things has to ask for. What looks
//! through long lists instead is found by `hostile.rs`, at lengths where that takes hours.

use brolga_compiler_testing::allocation::{self, Counting, measured};
use brolga_opencl_c::vulkan::{Target, Version, compile_for_vulkan};
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

/// Bytes allocated to compile a source for Vulkan, and the words of the module.
fn for_vulkan(source: &str) -> (u64, usize) {
    let input = Input {
        name: "t.cl",
        source,
        headers: &[],
    };
    let target = Target::new(Version::V1_3);
    let device = Device {
        version: 310,
        ..Device::default()
    };
    let options = Options::default();
    let (compiled, taken) = measured(|| compile_for_vulkan(&input, &options, &device, &target));
    let log: String = compiled.log.chars().take(400).collect();
    let words = compiled.words.unwrap_or_else(|| panic!("{log}"));
    (taken, words.len())
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

/// Neither what structuring control flow and finding what pointers point into take, nor what they
/// make grows faster than the source.
#[test]
fn lowering_to_vulkan() {
    type Source = fn(usize) -> String;
    let sources: [(&str, Source); 9] = [
        ("statements", |length| {
            kernel(&each(length, |i| format!("p[{i}] = p[{i} + 1] * {i};\n")))
        }),
        ("else if", |length| {
            kernel(&(each(length, |i| format!("if (a == {i}) p[{i}] = {i}; else ")) + ";"))
        }),
        ("jumps", |length| {
            let jump = |i| format!("l{i}: if (p[{i}]) goto l{};\n", (i * 7919) % length);
            kernel(&(each(length, jump) + ";"))
        }),
        ("jumps from one path to another", |length| {
            let steps = each(length, |i| {
                let to = i + 1;
                format!("l{i}: if (p[{i}]++) goto r{to}; goto l{to};\n")
                    + &format!("r{i}: if (p[{i}]--) goto l{to}; goto r{to};\n")
            });
            kernel(&format!(
                "if (a) goto r0;\n{steps} l{length}: r{length}: p[0] = 1;"
            ))
        }),
        ("jumps into loops in one another", |length| {
            let open = each(length, |i| {
                format!("if (p[{i}]) goto b{i};\na{i}: p[{i}]++;\n")
            });
            let close = each(length, |i| {
                format!("b{0}: if (p[{0}] < 9) goto a{0};\n", length - 1 - i)
            });
            kernel(&(open + &close))
        }),
        ("breaks", |length| {
            let all = each(length, |i| {
                format!("if (p[{i}] == 1) break; if (p[{i}] == 2) continue;\n")
            });
            kernel(&format!("for (;;) {{ {all} }}"))
        }),
        ("cases that fall through", |length| {
            let cases = each(length, |i| format!("case {}: p[{i}] = 1;\n", i * 3));
            kernel(&format!("switch (a) {{ {cases} }}"))
        }),
        ("members", |length| {
            let members = each(length, |i| format!("int m{i};"));
            let stores = each(length, |i| format!("s[a].m{i} = p[{i}];\n"));
            format!("struct S {{ {members} }};\n")
                + &format!("kernel void k(global struct S *s, global int *p, int a) {{ {stores} }}")
        }),
        ("kernels", |length| {
            each(length, |i| {
                format!("constant int t{i}[] = {{ 1, {i} }};\n")
                    + &format!("kernel void k{i}(global int *p) {{ p[0] = t{i}[p[1]]; }}\n")
            })
        }),
    ];
    for (name, source) in sources {
        let [less, more] = [1000, 4000].map(|length| for_vulkan(&source(length)));
        let taken = more.0 as f64 / less.0 as f64;
        let made = more.1 as f64 / less.1 as f64;
        assert!(taken < 6.0 && made < 6.0, "{name}: {less:?}, {more:?}");
    }
}

/// A structure whose parts have different sizes is copied by the units that its memory is an array
/// of, in a loop, and not put together part by part.
#[test]
fn copies_of_structures_for_vulkan() {
    let source = "
        struct S { short8 a; short8 b[3]; ushort c; long16 d; };
        kernel void k(global struct S *p) {
            struct S s[2] = { [0].c = 1 };
            for (int i = 0; i < 2; i++) p[2 * get_global_id(0) + i] = s[i];
            p[9].d.s3 = p[7].a.s1;
        }";
    let words = for_vulkan(source).1;
    assert!(words < 2000, "{words} words");
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
