//! An instruction of SPIR-V has at most 65535 words. What a source makes longer is said in several
//! where the format has such a form, and refused with the place of the source where it has none.

use std::fmt::Write as _;

use brolga_compiler_testing::filetest;
use brolga_opencl_c::{Compiled, Device, Input, Options, compile};

/// More than an instruction has words.
const MANY: usize = 70_000;

fn compiled(source: &str) -> Compiled {
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
    compile(&input, &options, &device)
}

/// Runs the program in the interpreter; code for such programs takes long.
fn does(program: &str) {
    let source = format!("// engines: interpreter\n// run: k\n{program}");
    let compiled = compiled(&source);
    let words = compiled.words.unwrap_or_else(|| panic!("{}", compiled.log));
    filetest::run_compiled(&source, &words).unwrap();
}

/// The first error of the program.
fn error(program: &str) -> String {
    let compiled = compiled(program);
    assert!(compiled.words.is_none(), "is not refused");
    compiled.log.lines().next().unwrap_or_default().to_owned()
}

/// What `one` says of each number, in a row.
fn each(one: impl Fn(usize) -> String) -> String {
    (0..MANY).map(one).collect()
}

#[test]
fn switches() {
    // Targets have two words, or three.
    for (ty, contents, count) in [("int", "i32", 33_000), ("ulong", "i64", 22_000)] {
        let case = |i| format!("case {}: r = {i}; break;\n", i * 3);
        let cases: String = (0..count).map(case).collect();
        let last = count - 1;
        does(&format!(
            "// global: 6\n\
             // arg: buffer {contents} [0 6 7 65523 {} {}]\n\
             // expect: 0 {contents} [0 2 70000 21841 {last} 70000]\n\
             kernel void k(global {ty} *p) {{\n\
             size_t i = get_global_id(0);\n{ty} r;\n\
             switch (p[i]) {{ {cases} default: r = 70000; }}\np[i] = r;\n}}\n",
            last * 3,
            count * 3,
        ));
    }
}

#[test]
fn switches_of_ranges_without_default() {
    let case = |i| format!("case {} ... {}: r = {i}; break;\n", i * 100, i * 100 + 49);
    let cases: String = (0..700).map(case).collect();
    does(&format!(
        "// global: 8\n\
         // arg: buffer i32 [0 49 50 69949 69950 300000 399999 -1]\n\
         // expect: 0 i32 [0 0 -7 699 -7 5000 5000 -7]\n\
         kernel void k(global int *p) {{\n\
         size_t i = get_global_id(0);\nint r = -7;\n\
         switch (p[i]) {{ {cases} case 300000 ... 400000: r = 5000; }}\np[i] = r;\n}}\n"
    ));
}

#[test]
fn structures() {
    let members = each(|i| format!("int a{i};\n"));
    does(&format!(
        "// arg: buffer i32 [0 1]\n\
         // expect: 0 i32 [69999 65533]\n\
         struct S {{ {members} }};\n\
         constant struct S c = {{ .a69999 = 69999, .a65533 = 65533 }};\n\
         kernel void k(global int *p) {{\n\
         struct S s = c;\np[0] = s.a69999;\np[1] = s.a65533;\n}}\n"
    ));
}

#[test]
fn initialisers() {
    let numbers = each(|i| format!("{i},"));
    does(&format!(
        "// arg: buffer i32 [65531 65532 65533 69999]\n\
         // global: 4\n\
         // expect: 0 i32 [131062 131064 131066 139998]\n\
         constant int c[] = {{ {numbers} }};\n\
         union U {{ int a[{MANY}]; char b; }};\n\
         constant union U u = {{ {{ {numbers} }} }};\n\
         kernel void k(global int *p) {{\n\
         int i = p[get_global_id(0)];\np[get_global_id(0)] = c[i] + u.a[i];\n}}\n"
    ));
}

#[test]
fn strings() {
    let text = "x".repeat(4 * MANY);
    does(&format!(
        "// arg: buffer i32 [279999]\n\
         // expect: 0 i32 [120]\n\
         #line 1 \"{text}\"\n\
         constant char c[] = \"{text}\";\n\
         kernel void k(global int *p) {{\np[0] = c[p[0]];\n}}\n"
    ));
}

#[test]
fn what_has_no_form_is_refused_where_it_is() {
    let params = each(|i| format!("int a{i},"));
    let args = "0,".repeat(MANY);
    assert_eq!(
        error(&format!(
            "\nint f(\n{params} int b) {{ return b; }}\nkernel void k(global int *p) {{ *p = f({args} 1); }}\n"
        )),
        "t.cl:2:5: error: a function of so many parameters cannot be said in SPIR-V: instructions \
         have at most 65535 words"
    );
    let percent = "%d".repeat(MANY);
    assert_eq!(
        error(&format!(
            "kernel void k() {{\n  printf(\"{percent}%d\", {args} 1);\n}}\n"
        )),
        "t.cl:2:3: error: a call with so many arguments cannot be said in SPIR-V: instructions \
         have at most 65535 words"
    );
    let name = "n".repeat(4 * MANY);
    assert_eq!(
        error(&format!("\nkernel void {name}() {{}}\n")),
        "t.cl:2:13: error: a kernel of so long a name, or with so many variables in its program \
         cannot be said in SPIR-V: instructions have at most 65535 words"
    );
    let mut variables = String::new();
    let mut uses = String::new();
    for i in 0..MANY {
        let _ = writeln!(variables, "constant int c{i} = {i};");
        let _ = writeln!(uses, "p[{i}] = c{i};");
    }
    let log = error(&format!(
        "{variables}\nkernel void k(global int *p) {{\n{uses} }}\n"
    ));
    assert!(
        log.starts_with(
            "t.cl:70002:13: error: a kernel of so long a name, or with so many variables"
        ),
        "{log}"
    );
}
