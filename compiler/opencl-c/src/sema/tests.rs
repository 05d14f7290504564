//! Programs without macros, straight from the lexer: the messages they get, the tree they become.

use super::analyze;
use crate::diag::Diagnostics;
use crate::hir::print::print;
use crate::lex::Lexer;
use crate::options::{Device, Options, Std};
use crate::source::Pos;
use crate::symbol::Interner;
use crate::token::{ExpansionId, Token, TokenKind, TokenStream};

/// The messages of a program and its typed tree.
fn check(std: Std, source: &str) -> (Vec<String>, String) {
    let mut interner = Interner::new();
    let mut lexer = Lexer::new(source.as_bytes().into());
    let mut tokens = TokenStream::default();
    loop {
        let raw = lexer.token();
        let text = lexer.spelling(raw).into_owned();
        tokens.tokens.push(Token {
            kind: raw.kind,
            space_before: raw.space_before,
            line_start: raw.line_start,
            symbol: interner.intern(&String::from_utf8_lossy(&text)),
            pos: Pos(raw.start),
            len: raw.end - raw.start,
            expansion: ExpansionId::NONE,
        });
        if raw.kind == TokenKind::Eof {
            break;
        }
    }
    let options = Options {
        std,
        ..Options::default()
    };
    let device = Device {
        version: 300,
        extensions: vec!["cl_khr_fp64".into()],
        features: vec![
            "__opencl_c_generic_address_space".into(),
            "__opencl_c_program_scope_global_variables".into(),
        ],
    };
    let mut diags = Diagnostics::new(false, false);
    let ast = crate::parse::parse(&tokens, &mut interner, &options, &mut diags);
    let module = analyze(&ast, &tokens, &mut interner, &options, &device, &mut diags);
    let messages = diags.all().iter().map(|one| one.message.clone()).collect();
    (messages, print(&module, &interner))
}

fn tree(source: &str) -> String {
    let (messages, tree) = check(Std::C12, source);
    assert_eq!(messages, Vec::<String>::new(), "{source}");
    tree
}

#[test]
fn programs_without_mistakes() {
    for source in [
        "kernel void f(global int *a) { a[0] += 1; a[1]++; int *p = (int[]){1, 2}; p[0] = a[0]; }",
        "typedef struct { int a; float4 b; char c[3]; } S; constant S s = {1, {1, 2, 3, 4}, \"ab\"};
         kernel void f(global float4 *o) { S t = s; t.b.xy = t.b.yx; o[0] = t.b; }",
        "enum e { A, B = 5, C }; constant int t[C] = {[B] = 1, [0 ... 2] = 7};
         kernel void f(global int *o) { switch (o[0]) { case A: o[1] = t[B]; break; case B ... C: o[1] = 2; default: ; } }",
        "int g(int a, int b); int g(int a, int b) { return a > b ? a : b; }
         kernel void f(global int *o) { for (int i = 0; i < 4; i++) { if (i == 2) continue; o[i] = g(i, o[i]); } }",
        "kernel void f(global int *o) { int i = 0; again: o[i]++; if (++i < 4) goto again; do { i--; } while (i); }",
        "float __attribute__((overloadable)) g(float x) { return x; }
         float4 __attribute__((overloadable)) g(float4 x) { return x; }
         kernel void f(global float4 *o) { o[0] = g(o[0]); o[0].x = g(o[0].y); }",
        "kernel void f(global int *o, global char *c) { union { int i; float f; struct { short a, b; }; } u = {.f = 1.0f}; o[0] = u.i + u.a; local int l[4]; l[0] = 1; o[1] = *(global int *)c; }",
        "kernel void f(global int4 *o, global float *x) { int a[2][2] = {1, 2, 3, 4}; float3 v = (float3)(1.0f, x[0], 2.0f);
         o[0] = (int4)(a[0][1]) + (o[1] == o[2]); x[0] = v.z; o[0].hi = o[1].lo; o[2] = o[0] ? o[1] : o[2]; }",
        "constant int a[] = {1, 2, 3}; constant int *constant p = a + 1; kernel void f(global int *o) { o[0] = *p + sizeof(a) / sizeof a[0]; }",
        "kernel void f(global int *o) { o[0] = ({ int x = o[1]; x + 1; }) ?: 3; o[1] = _Generic(1.0f, int: 1, float: 2); }",
    ] {
        tree(source);
    }
}

#[test]
fn mistakes_are_told_as_clang_tells_them() {
    let mut missing = Vec::new();
    for (source, message) in [
        (
            "void f(void) { x = 1; }",
            "use of undeclared identifier 'x'",
        ),
        (
            "void f(int a) { f2(a); }",
            "use of undeclared identifier 'f2'",
        ),
        (
            "void f(int4 a, float4 b) { a + b; }",
            "implicit conversions between vector types ('int4' (vector of 4 'int' values) and 'float4' (vector of 4 'float' values)) are not permitted",
        ),
        (
            "void f(char4 a) { a = a + 1; }",
            "scalar operand type has greater rank than the type of the vector element. ('char4' (vector of 4 'char' values) and 'int')",
        ),
        (
            "void f(float x) { x % 2; }",
            "invalid operands to binary expression ('float' and 'int')",
        ),
        (
            "void f(float x) { *x; }",
            "indirection requires pointer operand ('float' invalid)",
        ),
        (
            "void f(int4 a) { a.q = 1; }",
            "illegal vector component name 'q'",
        ),
        (
            "int g(int a) { return g(); }",
            "too few arguments to function call, single argument 'a' was not specified",
        ),
        (
            "void f(void) { return 1; }",
            "void function 'f' should not return a value",
        ),
        (
            "void f(void) { break; }",
            "'break' statement not in loop or switch statement",
        ),
        ("void f(void) { goto l; }", "use of undeclared label 'l'"),
        (
            "void f(int n) { int a[n]; }",
            "variable length arrays are not supported in OpenCL",
        ),
        (
            "struct s { int a : 3; };",
            "bit-fields are not supported in OpenCL",
        ),
        (
            "void f(int n, ...) { }",
            "invalid prototype, variadic arguments are not allowed in OpenCL",
        ),
        (
            "int f(int n) { return f(n - 1); }",
            "recursive call of 'f': recursion is not supported in OpenCL",
        ),
        (
            "int x;",
            "program scope variable must reside in constant address space",
        ),
        (
            "constant int x;",
            "variable in constant address space must be initialized",
        ),
        (
            "kernel int f(void) { return 1; }",
            "kernel must have void return type",
        ),
        (
            "kernel void f(int *p) { }",
            "pointer arguments to kernel functions must reside in '__global', '__constant' or '__local' address space",
        ),
        (
            "void f(void) { const int a = 1; a = 2; }",
            "cannot assign to variable 'a' with const-qualified type 'const int'",
        ),
        (
            "void f(void) { switch (1) { case 1: case 1: ; } }",
            "duplicate case value '1'",
        ),
        ("void f(void) { int a; float a; }", "redefinition of 'a'"),
        (
            "_Static_assert(sizeof(float3) == 12, \"size\");",
            "static assertion failed: size",
        ),
        (
            "struct s { int first; }; void f(struct s v) { v.frist = 1; }",
            "no member named 'frist' in 'struct s'; did you mean 'first'?",
        ),
    ] {
        let (messages, _) = check(Std::C12, source);
        if !messages.iter().any(|one| one == message) {
            missing.push(format!("{source}\nwanted {message}\ngot {messages:#?}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn pointers_keep_their_address_space() {
    let source = "void g(local int *p); void f(global int *p) { g(p); }";
    let message = "passing '__global int *' to parameter of type '__local int *' changes address space of pointer";
    assert_eq!(check(Std::C12, source).0, [message]);
    // Unqualified is generic from 2.0 on.
    assert!(
        check(Std::C20, "void g(int *p); void f(global int *p) { g(p); }")
            .0
            .is_empty()
    );
    assert!(
        !check(Std::C12, "void g(int *p); void f(global int *p) { g(p); }")
            .0
            .is_empty()
    );
}

#[test]
fn comparisons_of_vectors_are_masks() {
    let tree = tree("int4 f(float4 a, float4 b) { return a < b; }");
    assert!(
        tree.contains("return (FromTruth:int4 (Lt? (load %0) (load %1)))"),
        "{tree}"
    );
}

#[test]
fn parts_of_vectors_elsewhere_are_written_alone() {
    let tree = tree("void f(global float4 *p) { p[0].y = 1.0f; }");
    assert!(tree.contains("component&"), "{tree}");
}

#[test]
fn deep_trees_need_no_deep_stack() {
    let sum = vec!["a"; 10_000].join(" + ");
    let chain = "if (a) ; else ".repeat(200);
    let (messages, _) = check(
        Std::C12,
        &format!("int f(int a) {{ {chain} ; return {sum}; }}"),
    );
    assert!(messages.is_empty(), "{messages:?}");
}

#[test]
fn argument_information_is_as_spelled() {
    let tree = tree(
        "typedef float4 vec; struct s { int a; }; kernel void f(global const vec *restrict a, unsigned char b, constant struct s *c) { }",
    );
    for wanted in ["vec*: restrict const", "uchar:", "struct s*: const"] {
        assert!(tree.contains(wanted), "{wanted}\n{tree}");
    }
}

#[test]
fn pointers_become_generic_where_they_must() {
    let (messages, tree) = check(
        Std::C20,
        "global int *global p; void f(void) { int *q = p; *q = 1; }",
    );
    assert!(messages.is_empty(), "{messages:?}");
    assert!(tree.contains("Space:__generic int *"), "{tree}");
}

/// The linked names of functions that are declared as these and called.
fn linked_names(declarations: &[&str]) -> Vec<String> {
    let mut source = "typedef struct { int a; } alias_t; struct tag { float b; };\n".to_owned();
    for (at, params) in declarations.iter().enumerate() {
        source.push_str(&format!(
            "void __attribute__((overloadable)) f{at}({params});
             void caller{at}({params}) {{ f{at}({}); }}\n",
            params
                .split(", ")
                .filter(|&param| param != "void")
                .map(|param| param.rsplit([' ', '*']).next().unwrap_or_default())
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    let (messages, tree) = check(Std::C20, &source);
    assert_eq!(messages, Vec::<String>::new(), "{source}");
    let imports = tree.lines().filter(|line| line.contains(" Import: "));
    imports
        .map(|line| line.split(' ').nth(2).unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn overloads_are_linked_by_the_names_that_clang_gives_them() {
    let cases = [
        ("void", "_Z2f0v"),
        (
            "int a, uint b, long c, ulong d, short e, ushort g, char h, uchar i, float k, double l, bool m",
            "_Z2f1ijlmstchfdb",
        ),
        (
            "float4 a, float4 b, global float4 *c, const global float4 *d, float4 e",
            "_Z2f2Dv4_fS_PU3AS1S_PU3AS1KS_S_",
        ),
        (
            "global int *a, local int *b, constant int *c, private int *d, int *e, global const volatile int *g",
            "_Z2f3PU3AS1iPU3AS3iPU3AS2iPiPU3AS4iPU3AS1VKi",
        ),
        (
            "alias_t a, struct tag b, alias_t *c, global struct tag *d",
            "_Z2f47alias_t3tagPU3AS4S_PU3AS1S0_",
        ),
        (
            "read_only image2d_t a, write_only image2d_t b, sampler_t c, read_only image2d_t d, sampler_t e",
            "_Z2f514ocl_image2d_ro14ocl_image2d_wo11ocl_samplerS_S1_",
        ),
        (
            "event_t a, event_t b, event_t *c",
            "_Z2f69ocl_eventS_PU3AS4S_",
        ),
        (
            "global atomic_int *a, global atomic_int *b, global int *c",
            "_Z2f7PU3AS1U7_AtomiciS1_PU3AS1i",
        ),
        (
            "global int **b, int *const *c, global int *global *d",
            "_Z2f8PU3AS4PU3AS1iPU3AS4KPU3AS4iPU3AS1S0_",
        ),
        (
            "global int4 *a, global int4 **b, int4 *c, int4 **d, local int4 *e, local int4 *private *g",
            "_Z2f9PU3AS1Dv4_iPU3AS4S1_PU3AS4S_PU3AS4S5_PU3AS3S_PS9_",
        ),
    ];
    let declarations: Vec<&str> = cases.iter().map(|case| case.0).collect();
    let names: Vec<&str> = cases.iter().map(|case| case.1).collect();
    assert_eq!(linked_names(&declarations), names);
}
