use super::{preprocess, print::print};
use crate::compile::Input;
use crate::diag::Diagnostics;
use crate::lex::Lexer;
use crate::options::{Define, Device, Options, Std};
use crate::token::TokenKind;

/// Preprocessed text on one line, and the log.
fn expand_with(source: &str, options: &Options, headers: &[(String, String)]) -> (String, String) {
    let input = Input {
        name: "t.cl",
        source,
        headers,
    };
    let device = Device {
        version: 300,
        extensions: vec!["cl_khr_fp64".to_owned()],
        features: vec!["__opencl_c_int64".to_owned()],
    };
    let mut diags = Diagnostics::new(false, false);
    let unit = preprocess(&input, options, &device, &mut diags);
    let text = print(&unit, false);
    (
        tokens(&text),
        diags.render(&unit.tokens, &unit.map, &unit.interner),
    )
}

/// The tokens of a text with one space between them.
fn tokens(text: &str) -> String {
    let mut lexer = Lexer::new(text.as_bytes().into());
    let mut all = Vec::new();
    loop {
        let raw = lexer.token();
        if raw.kind == TokenKind::Eof {
            return all.join(" ");
        }
        all.push(String::from_utf8_lossy(&lexer.spelling(raw)).into_owned());
    }
}

fn expand(source: &str) -> String {
    let (text, log) = expand_with(source, &Options::default(), &[]);
    assert_eq!(log, "", "{source}");
    text
}

/// A source becomes the tokens of a text.
fn check(source: &str, expected: &str) {
    assert_eq!(expand(source), tokens(expected), "{source}");
}

fn log(source: &str) -> String {
    expand_with(source, &Options::default(), &[]).1
}

/// C99 6.10.3.5, examples 3 to 7.
#[test]
fn the_standards_examples() {
    let three = "
        #define x 3
        #define f(a) f(x * (a))
        #undef x
        #define x 2
        #define g f
        #define z z[0]
        #define h g(~
        #define m(a) a(w)
        #define w 0,1
        #define t(a) a
        #define p() int
        #define q(x) x
        #define r(x,y) x ## y
        #define str(x) # x
        f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
        g(x+(3,4)-w) | h 5) & m
        (f)^m(m);
        p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
        char c[2][6] = { str(hello), str() };";
    check(
        three,
        "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1); \
         f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1); \
         int i[] = { 1, 23, 4, 5, }; \
         char c[2][6] = { \"hello\", \"\" };",
    );
    let four = r#"
        #define str(s) # s
        #define xstr(s) str(s)
        #define debug(s, t) printf("x" # s "= %d, x" # t "= %s", x ## s, x ## t)
        #define INCFILE(n) vers ## n
        #define glue(a, b) a ## b
        #define xglue(a, b) glue(a, b)
        #define HIGHLOW "hello"
        #define LOW LOW ", world"
        debug(1, 2);
        fputs(str(strncmp("abc\0d", "abc", '\4') == 0) str(: @\n), s);
        xstr(INCFILE(2).h)
        glue(HIGH, LOW);
        xglue(HIGH, LOW)"#;
    check(
        four,
        r#"printf("x" "1" "= %d, x" "2" "= %s", x1, x2); fputs("strncmp(\"abc\\0d\", \"abc\", '\\4') == 0" ": @\n", s); "vers2.h" "hello"; "hello" ", world""#,
    );
    let five = "
        #define t(x,y,z) x ## y ## z
        int j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };";
    check(five, "int j[] = { 123, 45, 67, 89, 10, 11, 12, };");
    let seven = r#"
        #define debug(...) fprintf(stderr, __VA_ARGS__)
        #define showlist(...) puts(#__VA_ARGS__)
        #define report(test, ...) ((test)?puts(#test): printf(__VA_ARGS__))
        debug("Flag");
        debug("X = %d\n", x);
        showlist(The first, second, and third items.);
        report(x>y, "x is %d but y is %d", x, y);"#;
    check(
        seven,
        r#"fprintf(stderr, "Flag"); fprintf(stderr, "X = %d\n", x); puts("The first, second, and third items."); ((x>y)?puts("x>y"): printf("x is %d but y is %d", x, y));"#,
    );
}

#[test]
fn variadic_macros_of_gnu_and_c23() {
    check(
        "#define e(f, a...) g(f, ##a)\ne(1) e(1, 2, 3)",
        "g(1) g(1, 2, 3)",
    );
    check(
        "#define e(f, ...) g(f __VA_OPT__(,) __VA_ARGS__)\ne(1) e(1, 2)",
        "g(1 ) g(1 , 2)",
    );
}

#[test]
fn conditions_are_exact() {
    for (condition, holds) in [
        ("1 + 2 * 3 == 7", true),
        ("-1 > 0u", true),
        ("-1 >> 1 == -1", true),
        ("0x7fffffffffffffff + 1 < 0", true),
        ("1 ? 2 : 1 / 0", true),
        ("0 && 1 / 0", false),
        ("defined X || defined(Y)", false),
        ("X", false),
        ("'a' == 97 && '\\377' < 0", true),
        ("__OPENCL_C_VERSION__ == 120", true),
        ("defined cl_khr_fp64 && !defined __opencl_c_int64", true),
        ("(1, 2) == 2", true),
    ] {
        let source = format!("#if {condition}\nyes\n#else\nno\n#endif");
        let (text, _) = expand_with(&source, &Options::default(), &[]);
        assert_eq!(text, if holds { "yes" } else { "no" }, "{condition}");
    }
    check(
        "#define D defined X\n#if D\na\n#elif 1\nb\n#else\nc\n#endif",
        "b",
    );
    check(
        "#if 0\n#if 1\na\n#else\nb\n#endif\n'\n#elif 1\nc\n#elif 1\nd\n#endif",
        "c",
    );
    assert!(log("#if 1 / 0\n#endif").contains("error: division by zero"));
    assert!(log("#if\n#endif").contains("error: expected value in expression"));
    assert!(log("#if 1\n").contains("t.cl:1:2: error: unterminated conditional directive"));
}

#[test]
fn headers_come_from_memory() {
    let headers = [
        (
            "a/b.h".to_owned(),
            "#pragma once\nfrom_b __LINE__".to_owned(),
        ),
        ("loop.h".to_owned(), "#include \"loop.h\"\n".to_owned()),
    ];
    let run = |source| expand_with(source, &Options::default(), &headers);
    let (text, log) = run("#define H <a/b.h>\n#include H\n#include \"a/b.h\"\n__FILE__ __LINE__");
    assert_eq!((text.as_str(), log.as_str()), ("from_b 2 \"t.cl\" 4", ""));
    let (text, _) = run("#if __has_include(\"a/b.h\") && !__has_include(<c.h>)\nok\n#endif");
    assert_eq!(text, "ok");
    assert!(
        run("#include \"loop.h\"")
            .1
            .contains("#include nested too deeply")
    );
    assert!(
        run("#include <c.h>")
            .1
            .contains("t.cl:1:10: fatal error: 'c.h' file not found")
    );
}

#[test]
fn options_define_and_lines_are_renamed() {
    let options = Options {
        std: Std::C30,
        defines: vec![
            Define::Define("A".to_owned()),
            Define::Define("B=2+3".to_owned()),
            Define::Define("F(x)=x*x".to_owned()),
            Define::Undefine("A".to_owned()),
        ],
        ..Options::default()
    };
    let (text, log) = expand_with("A B F(4) __opencl_c_int64", &options, &[]);
    assert_eq!((text.as_str(), log.as_str()), ("A 2 + 3 4 * 4 1", ""));
    check("#line 40 \"g.cl\"\n__LINE__ __FILE__", "40 \"g.cl\"");
    check("# 7 \"h.cl\" 2\n__LINE__", "7");
}

#[test]
fn errors_show_the_source_and_the_macros() {
    let log = log("#define BAD(x) #y\nBAD(1)\n#error one  two\n#define F(a) a\nF(\n");
    assert!(
        log.contains("t.cl:1:16: error: '#' is not followed by a macro parameter"),
        "{log}"
    );
    assert!(
        log.contains("t.cl:3:2: error: one  two\n#error one  two\n ^~~~~\n"),
        "{log}"
    );
    assert!(
        log.contains("unterminated function-like macro invocation of 'F'"),
        "{log}"
    );
}

#[test]
fn pragmas_become_tokens() {
    check(
        "#define N 4\n#pragma unroll N\nfor\n_Pragma(\"OPENCL FP_CONTRACT OFF\") x",
        "#pragma unroll 4 for #pragma OPENCL FP_CONTRACT OFF x",
    );
    assert!(log("#pragma nonsense\n").contains("warning: unknown pragma ignored"));
}

#[test]
fn macro_bombs_end() {
    let mut source = "#define a0 x x\n".to_owned();
    for n in 1..64 {
        source += &format!("#define a{n} a{} a{}\n", n - 1, n - 1);
    }
    source += "a63\n";
    let mut diags = Diagnostics::new(false, false);
    let input = Input {
        name: "t.cl",
        source: &source,
        headers: &[],
    };
    let device = Device::default();
    let unit = preprocess(&input, &Options::default(), &device, &mut diags);
    assert!(diags.has_errors());
    assert!(unit.tokens.tokens.len() < 70 << 20);
}
