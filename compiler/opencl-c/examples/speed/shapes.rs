//! Sources of about a given number of lines.
//!
//! What they compute means nothing, but all of it is used.

use std::fmt::Write;

pub struct Shape {
    pub name: &'static str,
    make: fn(&mut Text, usize),
}

impl Shape {
    /// The source with about so many lines.
    pub fn source(&self, lines: usize) -> String {
        let mut text = Text(String::new());
        (self.make)(&mut text, lines);
        text.0
    }
}

struct Text(String);

impl Text {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        self.0.write_fmt(line).expect("a string takes all");
        self.0.push('\n');
    }
}

/// A line of text.
macro_rules! line {
    ($text:expr, $($format:tt)*) => { $text.line(format_args!($($format)*)) };
}

pub const SHAPES: &[Shape] = &[
    Shape {
        name: "kernels",
        make: kernels,
    },
    Shape {
        name: "functions",
        make: functions,
    },
    Shape {
        name: "statements",
        make: statements,
    },
    Shape {
        name: "locals",
        make: locals,
    },
    Shape {
        name: "expression",
        make: expression,
    },
    Shape {
        name: "table",
        make: table,
    },
    Shape {
        name: "records",
        make: records,
    },
    Shape {
        name: "constants",
        make: constants,
    },
    Shape {
        name: "rounds",
        make: rounds,
    },
    Shape {
        name: "chain",
        make: chain,
    },
    Shape {
        name: "lists",
        make: lists,
    },
    Shape {
        name: "defines",
        make: defines,
    },
    Shape {
        name: "skipped",
        make: skipped,
    },
    Shape {
        name: "typedefs",
        make: typedefs,
    },
    Shape {
        name: "switch",
        make: switch,
    },
    Shape {
        name: "strings",
        make: strings,
    },
    Shape {
        name: "else-if",
        make: else_if,
    },
    Shape {
        name: "blocks",
        make: blocks,
    },
    Shape {
        name: "builtins",
        make: builtins,
    },
    Shape {
        name: "gotos",
        make: gotos,
    },
];

/// Kernels as applications have them, of 25 lines each.
fn kernels(text: &mut Text, lines: usize) {
    let text = &mut text.0;
    for i in 0..lines.div_ceil(25) {
        let source = KERNELS[i % KERNELS.len()].replace("NAME", &format!("k{i}"));
        text.push_str(source.trim_start());
        text.push('\n');
    }
}

const KERNELS: &[&str] = &[
    "
/* A tile of a product of matrices. */
#define NAME_TILE 16
kernel __attribute__((reqd_work_group_size(NAME_TILE, NAME_TILE, 1)))
void NAME(global const float *restrict a, global const float *restrict b,
          global float *restrict c, int n)
{
    local float ta[NAME_TILE][NAME_TILE], tb[NAME_TILE][NAME_TILE];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;

    for (int t = 0; t < n; t += NAME_TILE) {
        ta[ly][lx] = a[y * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < NAME_TILE; k++)
            sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}
#undef NAME_TILE
",
    "
typedef struct {
    float4 position;
    float4 velocity;
} NAME_body;

/* What one body does to another. */
static float3 NAME_pull(float3 from, float4 to, float softening)
{
    const float3 way = to.xyz - from;
    const float square = dot(way, way) + softening * softening;
    const float inverse = rsqrt(square);
    return way * (to.w * inverse * inverse * inverse);
}

kernel void NAME(global NAME_body *bodies, uint count, float step, float softening)
{
    const size_t me = get_global_id(0);
    float4 position = bodies[me].position;
    float3 pull = (float3)(0.0f, 0.0f, 0.0f);
    for (uint i = 0; i < count; ++i)
        if (i != me)
            pull += NAME_pull(position.xyz, bodies[i].position, softening);
    bodies[me].velocity.xyz += pull * step;
    bodies[me].position.xyz = position.xyz + bodies[me].velocity.xyz * step;
}
",
    "
// The sum of a group's elements, and how many are above a limit.
kernel void NAME(global const int *in, global int *sums, volatile global uint *above,
                 local int *scratch, uint n, int limit)
{
    const uint id = get_global_id(0), lid = get_local_id(0);
    int sum = 0;
    for (uint i = id; i < n; i += get_global_size(0)) {
        const int value = in[i];
        if (value > limit)
            atomic_inc(above);
        sum += (value & 1) ? value : -value;
    }
    scratch[lid] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (uint stride = get_local_size(0) / 2; stride > 0; stride >>= 1) {
        if (lid < stride)
            scratch[lid] += scratch[lid + stride];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0)
        sums[get_group_id(0)] = scratch[0];
}
",
    "
// A filter of three by three over pixels of four bytes.
constant float NAME_weights[9] = { 0.0625f, 0.125f, 0.0625f, 0.125f, 0.25f, 0.125f,
                                   0.0625f, 0.125f, 0.0625f };

inline int NAME_inside(int at, int size)
{
    return clamp(at, 0, size - 1);
}

kernel void NAME(global const uchar4 *in, global uchar4 *out, int2 size)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (at.x >= size.x || at.y >= size.y)
        return;
    float4 sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            const int x = NAME_inside(at.x + dx, size.x), y = NAME_inside(at.y + dy, size.y);
            sum += NAME_weights[(dy + 1) * 3 + dx + 1] * convert_float4(in[y * size.x + x]);
        }
    }
    out[at.y * size.x + at.x] = convert_uchar4_sat_rte(sum);
}
",
];

/// Functions of ten lines, each of which calls the one before.
fn functions(text: &mut Text, lines: usize) {
    line!(text, "int f0(int x, int y) {{ return x - y; }}");
    let count = (lines / 10).max(1);
    for i in 1..=count {
        line!(text, "int f{i}(int x, int y)");
        line!(text, "{{");
        line!(text, "    int sum = 0;");
        line!(text, "    for (int i = x; i < y; i++)");
        line!(text, "        if (i & 1)");
        line!(text, "            sum += x * i;");
        line!(text, "    int rest = x - sum;");
        line!(text, "    return y ? f{}(rest, sum) : 0;", i - 1);
        line!(text, "}}");
        line!(text, "");
    }
    line!(
        text,
        "kernel void k(global int *p) {{ *p = f{count}(*p, 7); }}"
    );
}

/// The start of a kernel with a few variables.
fn begin(text: &mut Text) {
    line!(text, "kernel void k(global uint *p)");
    line!(text, "{{");
    line!(text, "    uint a = p[0], b = p[1], c = p[2], d = p[3];");
}

fn end(text: &mut Text) {
    line!(text, "    p[4] = a + b + c + d;");
    line!(text, "}}");
}

/// One function of assignments.
fn statements(text: &mut Text, lines: usize) {
    begin(text);
    for i in 0..lines / 2 {
        line!(text, "    a += (b & c) + p[{i}] * 3 + (d >> {});", i % 32);
        line!(text, "    d = (a << 3) ^ c; // {i}");
    }
    end(text);
}

/// One function with many variables.
fn locals(text: &mut Text, lines: usize) {
    begin(text);
    for i in 0..lines / 2 {
        line!(text, "    uint v{i} = a + {i};");
        line!(text, "    b ^= v{i} * v{};", i / 2);
    }
    end(text);
}

/// One expression.
fn expression(text: &mut Text, lines: usize) {
    begin(text);
    line!(text, "    a = b");
    for i in 0..lines {
        line!(text, "        + (p[{i}] ^ c) * d");
    }
    line!(text, "        ;");
    end(text);
}

/// One initialiser, of eight numbers a line.
fn table(text: &mut Text, lines: usize) {
    line!(text, "constant uint table[] = {{");
    let mut x = 1u32;
    for _ in 0..lines {
        let mut next = || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            x
        };
        let numbers: [u32; 8] = std::array::from_fn(|_| next());
        let [a, b, c, d, e, f, g, h] = numbers;
        line!(
            text,
            "    0x{a:08x}, 0x{b:08x}, {c}u, {d}u, 0x{e:x}, 0x{f:x}, 0x{g:x}u, {h}u,"
        );
    }
    line!(text, "}};");
    line!(text, "kernel void k(global uint *p) {{ *p = table[*p]; }}");
}

/// A table of records.
fn records(text: &mut Text, lines: usize) {
    line!(
        text,
        "typedef struct {{ int id; float2 at; struct {{ uchar r, g, b; }} color; }} item;"
    );
    line!(text, "constant item table[] = {{");
    for i in 0..lines {
        line!(
            text,
            "    {{ {i}, (float2)({i}.5f, -1.0f), {{ 1, {}, 3 }} }},",
            i % 256
        );
    }
    line!(text, "}};");
    line!(
        text,
        "kernel void k(global int *p) {{ *p = table[*p].id; }}"
    );
}

/// Variables of the program.
fn constants(text: &mut Text, lines: usize) {
    let count = lines / 2;
    for i in 0..count {
        line!(
            text,
            "constant float c{i}[2] = {{ {i}.25f, 1.0f / {}.0f }};",
            i + 1
        );
    }
    line!(text, "kernel void k(global float *p)\n{{");
    for i in 0..count {
        line!(text, "    p[{i}] += c{i}[1];");
    }
    line!(text, "}}");
}

/// Rounds of a hash function, written with macros, as password crackers have them.
fn rounds(text: &mut Text, lines: usize) {
    line!(
        text,
        "#define ROTL(x, n) (((x) << (n)) | ((x) >> (32 - (n))))"
    );
    line!(text, "#define F(x, y, z) ((z) ^ ((x) & ((y) ^ (z))))");
    line!(text, "#define G(x, y, z) ((x) ^ (y) ^ (z))");
    line!(text, "#define STEP(f, a, b, c, d, x, s, t) \\");
    line!(text, "    (a) += f((b), (c), (d)) + (x) + (t); \\");
    line!(text, "    (a) = ROTL((a), (s)) + (b);");
    for i in 0..lines.div_ceil(100) {
        line!(text, "kernel void k{i}(global uint *p)\n{{");
        line!(text, "    uint a = p[0], b = p[1], c = p[2], d = p[3];");
        for j in 0..24 {
            line!(text, "    STEP(F, a, b, c, d, p[{j}], 3, 0x{j:x}u)");
            line!(text, "    STEP(G, d, a, b, c, p[{j}], 7, 0x{j:x}u)");
            line!(text, "    STEP(F, c, d, a, b, p[{j}], 11, 0x{j:x}u)");
            line!(text, "    STEP(G, b, c, d, a, p[{j}], 19, 0x{j:x}u)");
        }
        line!(text, "    p[4] = a + b + c + d;\n}}");
    }
}

/// Macros that stand for other macros, ten deep.
fn chain(text: &mut Text, lines: usize) {
    line!(text, "#define M0(x) ((x) + 1)");
    for i in 1..10 {
        line!(text, "#define M{i}(x) M{}(x ^ {i})", i - 1);
    }
    begin(text);
    for i in 0..lines {
        line!(text, "    a = M9(b) + M{}(c);", i % 9);
    }
    end(text);
}

/// Macros with lists of arguments, pasted and made strings.
fn lists(text: &mut Text, lines: usize) {
    line!(text, "#define PASTE(a, b) a##b");
    line!(text, "#define FIELD(type, name) type PASTE(field_, name);");
    line!(text, "#define ALL(f, ...) f(uint, __VA_ARGS__)");
    line!(text, "#define NAME(x) #x");
    line!(text, "#define SIZE(x) sizeof(NAME(x))");
    for i in 0..lines / 2 {
        line!(text, "struct s{i} {{ ALL(FIELD, a{i}) FIELD(float, b) }};");
        line!(text, "enum {{ PASTE(e, {i}) = SIZE(some text {i}) }};");
    }
    line!(text, "kernel void k(global int *p) {{ *p = PASTE(e, 0); }}");
}

/// Definitions of macros and conditions.
fn defines(text: &mut Text, lines: usize) {
    for i in 0..lines / 5 {
        line!(text, "#define WIDTH_{i} ({i} * 4)");
        line!(text, "#if defined(WIDTH_{i}) && WIDTH_{i} > 16");
        line!(text, "#define MIN_{i}(a, b) ((a) < (b) ? (a) : (b))");
        line!(text, "#endif");
        line!(text, "constant int w{i} = WIDTH_{i};");
    }
    line!(text, "kernel void k(global int *p) {{ *p = w0; }}");
}

/// Lines that are not compiled: groups and comments.
fn skipped(text: &mut Text, lines: usize) {
    for i in 0..lines / 5 {
        line!(text, "#ifdef NOT_DEFINED_{}", i % 7);
        line!(
            text,
            "static float f{i}(float x) {{ return x * {i}.0f + \"text\"[0]; }}"
        );
        line!(text, "#endif");
        line!(
            text,
            "// A comment of about the usual length, on a line of its own."
        );
        line!(text, "/* And another, as C has them. */");
    }
    line!(text, "kernel void k(global int *p) {{ *p = 1; }}");
}

/// Types and names for them.
fn typedefs(text: &mut Text, lines: usize) {
    line!(text, "typedef int t0;");
    for i in 1..=lines / 4 {
        line!(text, "typedef struct s{i} {{");
        line!(text, "    int a; float4 b[2]; t{} *next;", i - 1);
        line!(text, "}} t{i};");
        line!(text, "constant int size{i} = sizeof(t{i});");
    }
    line!(text, "kernel void k(global int *p) {{ *p = size1; }}");
}

fn switch(text: &mut Text, lines: usize) {
    begin(text);
    line!(text, "    switch (a) {{");
    for i in 0..lines / 2 {
        line!(text, "    case {}:", i * 3);
        line!(text, "        b += c ^ {i}; break;");
    }
    line!(text, "    }}");
    end(text);
}

fn strings(text: &mut Text, lines: usize) {
    begin(text);
    for i in 0..lines {
        line!(
            text,
            "    printf(\"value number {i} is %u,\" \" and %s\\n\", a, \"text {i}\");"
        );
    }
    end(text);
}

fn else_if(text: &mut Text, lines: usize) {
    begin(text);
    line!(text, "    if (a == 1) b = 2;");
    for i in 0..lines / 2 {
        line!(text, "    else if (a == {i} && c > b)");
        line!(text, "        b = c + {i};");
    }
    end(text);
}

/// Loops and conditions in one function, each with variables of its own.
fn blocks(text: &mut Text, lines: usize) {
    begin(text);
    for i in 0..lines / 5 {
        line!(text, "    for (uint i = 0; i < a; i++) {{");
        line!(text, "        const uint x = p[i] + {i};");
        line!(text, "        if (x > b || c == x) {{ b -= x; continue; }}");
        line!(text, "        d = d > x ? x : d;");
        line!(text, "    }}");
    }
    end(text);
}

/// Calls of built-in functions.
fn builtins(text: &mut Text, lines: usize) {
    line!(text, "kernel void k(global float4 *p, global int *q)\n{{");
    line!(
        text,
        "    float4 x = p[0]; float y = p[1].x; int4 n = vload4(0, q);"
    );
    for i in 0..lines / 4 {
        line!(
            text,
            "    x = mad(x, p[{i}], native_sin(x)) + clamp(x, 0.0f, 1.0f);"
        );
        line!(text, "    y += dot(x, p[2]) * sqrt(fabs(y)) - max(y, x.y);");
        line!(
            text,
            "    n = min(n, convert_int4(x)) + mul24(n, as_int4(x)) + (int4)abs_diff(1, 2);"
        );
        line!(
            text,
            "    atomic_add(&q[{i}], n.x); y = select(y, x.z, isless(y, 2.0f));"
        );
    }
    line!(text, "    p[3] = x + y; vstore4(n, 1, q);\n}}");
}

/// Labels and jumps.
fn gotos(text: &mut Text, lines: usize) {
    begin(text);
    for i in 0..lines / 3 {
        line!(text, "    if (a > {i}) goto l{i};");
        line!(text, "    b += c;");
        line!(text, "l{i}: c ^= {i};");
    }
    end(text);
}
