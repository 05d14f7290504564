//! `GLSL.std.450` over many numbers, for all widths and vectors: as accurate as "Precision and
//! Operation of SPIR-V Instructions" of the Vulkan specification asks, where that defines a result.
//!
//! A module is made for each width and number of lanes. Its kernel does each instruction for each
//! work-item's operands, which come from a buffer and go to another as their bits.

use std::f64::consts::PI;
use std::fmt::Write;

use super::*;

/// What a result may be.
enum Want {
    /// It may be anything.
    Any,
    /// Off by so many units in the last place of the width, or by so much.
    Near(f64, f64, f64),
}

use Want::{Any, Near};

/// A number, correctly rounded.
fn exact(value: f64) -> Want {
    Near(value, 0.5, 0.0)
}

/// A width of numbers, by what accuracy depends on.
#[derive(Clone, Copy)]
struct Width {
    bits: u32,
    /// Bits of the significand, with the first.
    digits: i32,
    least_exponent: i32,
    most: f64,
}

const WIDTHS: [Width; 3] = [
    Width {
        bits: 16,
        digits: 11,
        least_exponent: -14,
        most: 65504.0,
    },
    Width {
        bits: 32,
        digits: 24,
        least_exponent: -126,
        most: f32::MAX as f64,
    },
    Width {
        bits: 64,
        digits: 53,
        least_exponent: -1022,
        most: f64::MAX,
    },
];

impl Width {
    fn ulp(self, value: f64) -> f64 {
        let exponent = value.abs().log2().floor();
        let exponent = exponent.clamp(f64::from(self.least_exponent), 1023.0) as i32;
        2f64.powi(exponent + 1 - self.digits)
    }

    /// "ULP" of 32 bits, or of 16.
    fn either(self, of_32: f64, of_16: f64) -> f64 {
        if self.bits == 16 { of_16 } else { of_32 }
    }

    fn decode(self, bits: u64) -> f64 {
        match self.bits {
            16 => {
                let (exponent, rest) = ((bits >> 10 & 31) as i32, (bits & 0x3ff) as f64);
                let size = match exponent {
                    0 => rest * 2f64.powi(-24),
                    31 if rest == 0.0 => f64::INFINITY,
                    31 => f64::NAN,
                    _ => (rest + 1024.0) * 2f64.powi(exponent - 25),
                };
                if bits & 0x8000 == 0 { size } else { -size }
            }
            32 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        }
    }

    /// The bits of operands: numbers of all sizes, most of them near 1.
    fn operands(self, count: usize) -> Vec<u64> {
        let mut state = 0x2545_f491_4f6c_dd1du64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let (fraction, exponents) = (self.digits - 1, 1 - self.least_exponent);
        let bits = |at: usize| {
            let random = next();
            let significand = random & ((1 << fraction) - 1);
            let spread = match at % 4 {
                0 => exponents,
                1 => 3,
                _ => 10.min(exponents),
            } as i64;
            let exponent = i64::from(exponents) - 1 + (random >> 56) as i64 % spread
                - (random >> 48 & 0xff) as i64 % spread;
            let exponent = exponent.clamp(0, 2 * i64::from(exponents) - 1) as u64;
            (random >> 55 & 1) << (self.bits - 1) | exponent << fraction | significand
        };
        (0..count).map(bits).collect()
    }
}

/// An instruction on each lane, with its number of operands.
struct Lanewise {
    name: &'static str,
    operands: usize,
    /// Those that Vulkan has for 64 bits, too.
    wide: bool,
    want: fn(Width, [f64; 3]) -> Want,
}

const fn narrow(
    name: &'static str,
    operands: usize,
    want: fn(Width, [f64; 3]) -> Want,
) -> Lanewise {
    let wide = false;
    Lanewise {
        name,
        operands,
        wide,
        want,
    }
}

const fn wide(name: &'static str, operands: usize, want: fn(Width, [f64; 3]) -> Want) -> Lanewise {
    let wide = true;
    Lanewise {
        name,
        operands,
        wide,
        want,
    }
}

/// What is inherited from a quotient, a root and an arctangent.
fn arc(w: Width, value: f64) -> Want {
    Near(value, w.either(4096.0, 5.0) + 8.0, 0.0)
}

/// What is inherited from exponentials of `x`, which cancel to no less than `value`.
fn exponentials(w: Width, x: f64, value: f64) -> Want {
    let ulps = w.either(3.0, 1.0) + 2.0 * x.abs();
    Near(value, ulps + 4.0, w.ulp(1.0) * (ulps + 2.0))
}

fn within(is_defined: bool, want: Want) -> Want {
    if is_defined { want } else { Any }
}

const LANEWISE: &[Lanewise] = &[
    // "Round": halves go either way.
    wide("Round", 1, |_, [x, ..]| {
        let half = (x - x.trunc()).abs() == 0.5;
        within(!half, exact(x.round()))
    }),
    wide("RoundEven", 1, |_, [x, ..]| exact(x.round_ties_even())),
    wide("Trunc", 1, |_, [x, ..]| exact(x.trunc())),
    wide("FAbs", 1, |_, [x, ..]| exact(x.abs())),
    wide("FSign", 1, |_, [x, ..]| {
        exact(if x == 0.0 { 0.0 } else { x.signum() })
    }),
    wide("Floor", 1, |_, [x, ..]| exact(x.floor())),
    wide("Ceil", 1, |_, [x, ..]| exact(x.ceil())),
    wide("Fract", 1, |w, [x, ..]| {
        Near(x - x.floor(), 0.5, w.ulp(1.0))
    }),
    narrow("Radians", 1, |_, [x, ..]| Near(x.to_radians(), 2.0, 0.0)),
    narrow("Degrees", 1, |_, [x, ..]| Near(x.to_degrees(), 2.0, 0.0)),
    narrow("Sin", 1, |w, [x, ..]| {
        let error = w.either(2f64.powi(-11), 2f64.powi(-7));
        within(x.abs() <= PI, Near(x.sin(), 0.0, error))
    }),
    narrow("Cos", 1, |w, [x, ..]| {
        let error = w.either(2f64.powi(-11), 2f64.powi(-7));
        within(x.abs() <= PI, Near(x.cos(), 0.0, error))
    }),
    narrow("Tan", 1, |w, [x, ..]| {
        let error = w.either(2f64.powi(-11), 2f64.powi(-7));
        let (sin, cos) = x.sin_cos();
        let error = error * (1.0 + (sin / cos).abs()) / cos.abs();
        within(x.abs() <= PI, Near(x.tan(), 2.5, error))
    }),
    narrow("Asin", 1, |w, [x, ..]| {
        within(x.abs() <= 1.0, arc(w, x.asin()))
    }),
    narrow("Acos", 1, |w, [x, ..]| {
        within(x.abs() <= 1.0, arc(w, x.acos()))
    }),
    narrow("Atan", 1, |w, [x, ..]| arc(w, x.atan())),
    narrow("Atan2", 2, |w, [y, x, _]| arc(w, y.atan2(x))),
    narrow("Sinh", 1, |w, [x, ..]| exponentials(w, x, x.sinh())),
    narrow("Cosh", 1, |w, [x, ..]| exponentials(w, x, x.cosh())),
    narrow("Tanh", 1, |w, [x, ..]| exponentials(w, 1.0, x.tanh())),
    narrow("Asinh", 1, |w, [x, ..]| {
        Near(x.asinh(), 8.0, 8.0 * w.ulp(1.0))
    }),
    narrow("Acosh", 1, |w, [x, ..]| {
        within(x >= 1.0, Near(x.acosh(), 8.0, 8.0 * w.ulp(1.0)))
    }),
    narrow("Atanh", 1, |w, [x, ..]| {
        within(x.abs() < 1.0, Near(x.atanh(), 8.0, 8.0 * w.ulp(1.0)))
    }),
    // "pow(x, y)": inherited from exp2(y * log2(x)).
    narrow("Pow", 2, |w, [x, y, _]| {
        let power = y * x.log2();
        let near_1 = w.either(2f64.powi(-21), 2f64.powi(-7));
        let of_log = if (0.5..=2.0).contains(&x) {
            near_1
        } else {
            3.0 * w.ulp(x.log2())
        };
        let error = y.abs() * of_log + w.ulp(power);
        let ulps = w.either(3.0, 1.0) + 2.0 * power.abs();
        within(
            x > 0.0 && power.is_finite(),
            Near(power.exp2(), ulps, power.exp2() * (error.exp2() - 1.0)),
        )
    }),
    narrow("Exp", 1, |w, [x, ..]| {
        Near(x.exp(), w.either(3.0, 1.0) + 2.0 * x.abs(), 0.0)
    }),
    narrow("Exp2", 1, |w, [x, ..]| {
        Near(x.exp2(), w.either(3.0, 1.0) + 2.0 * x.abs(), 0.0)
    }),
    narrow("Log", 1, |w, [x, ..]| {
        let near_1 = w.either(2f64.powi(-21), 2f64.powi(-7));
        let inside = (0.5..=2.0).contains(&x);
        let want = if inside {
            Near(x.ln(), 0.0, near_1)
        } else {
            Near(x.ln(), 3.0, 0.0)
        };
        within(x > 0.0, want)
    }),
    narrow("Log2", 1, |w, [x, ..]| {
        let near_1 = w.either(2f64.powi(-21), 2f64.powi(-7));
        let inside = (0.5..=2.0).contains(&x);
        let want = if inside {
            Near(x.log2(), 0.0, near_1)
        } else {
            Near(x.log2(), 3.0, 0.0)
        };
        within(x > 0.0, want)
    }),
    wide("Sqrt", 1, |_, [x, ..]| {
        within(x >= 0.0, Near(x.sqrt(), 4.5, 0.0))
    }),
    wide("InverseSqrt", 1, |_, [x, ..]| {
        within(x > 0.0, Near(x.sqrt().recip(), 2.0, 0.0))
    }),
    wide("FMin", 2, |_, [x, y, _]| exact(x.min(y))),
    wide("FMax", 2, |_, [x, y, _]| exact(x.max(y))),
    wide("NMin", 2, |_, [x, y, _]| exact(x.min(y))),
    wide("NMax", 2, |_, [x, y, _]| exact(x.max(y))),
    wide("FClamp", 3, |_, [x, a, b]| {
        within(a <= b, exact(x.max(a).min(b)))
    }),
    wide("NClamp", 3, |_, [x, a, b]| {
        within(a <= b, exact(x.max(a).min(b)))
    }),
    wide("Step", 2, |_, [edge, x, _]| {
        exact(if x < edge { 0.0 } else { 1.0 })
    }),
    // "x * (1 - a) + y * a"
    wide("FMix", 3, |w, [x, y, a]| {
        let parts = [x * (1.0 - a), y * a];
        let largest = parts[0].abs().max(parts[1].abs()).max((x * a).abs());
        Near(parts[0] + parts[1], 1.0, 4.0 * w.ulp(largest))
    }),
    wide("SmoothStep", 3, |w, [a, b, x]| {
        let t = ((x - a) / (b - a)).clamp(0.0, 1.0);
        let error = 8.0 * (w.ulp(x - a) / (b - a)).abs() + 8.0 * w.ulp(1.0);
        within(a < b, Near(t * t * (3.0 - 2.0 * t), 4.0, error))
    }),
    wide("Fma", 3, |w, [x, y, z]| {
        Near(x.mul_add(y, z), 1.0, w.ulp(x * y))
    }),
];

/// An instruction on whole vectors.
struct Whole {
    name: &'static str,
    operands: usize,
    /// The result is one number.
    reduces: bool,
    want: fn(Width, [&[f64]; 3]) -> Vec<Want>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A number as far as squares of operands can be computed, and their sum.
fn squared(w: Width, of: &[f64], want: Vec<Want>) -> Vec<Want> {
    let inside = |x: &f64| x.abs() < w.most.sqrt() / 4.0 && x.abs() > w.most.sqrt().recip() * 64.0;
    match of.iter().all(inside) {
        true => want,
        false => want.iter().map(|_| Any).collect(),
    }
}

const WHOLE: &[Whole] = &[
    Whole {
        name: "Length",
        operands: 1,
        reduces: true,
        want: |w, [a, ..]| squared(w, a, vec![Near(dot(a, a).sqrt(), 10.0, 0.0)]),
    },
    Whole {
        name: "Distance",
        operands: 2,
        reduces: true,
        want: |w, [a, b, _]| {
            let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            let largest = a.iter().chain(b).fold(0.0f64, |m, x| m.max(x.abs()));
            squared(
                w,
                &d,
                vec![Near(dot(&d, &d).sqrt(), 10.0, 4.0 * w.ulp(largest))],
            )
        },
    },
    Whole {
        name: "Normalize",
        operands: 1,
        reduces: false,
        want: |w, [a, ..]| {
            let length = dot(a, a).sqrt();
            let want = a.iter().map(|x| Near(x / length, 14.0, 0.0)).collect();
            squared(w, a, want)
        },
    },
    Whole {
        name: "Reflect",
        operands: 2,
        reduces: false,
        want: |w, [i, n, _]| {
            let along = 2.0 * dot(n, i);
            let size: f64 = i.iter().zip(n).map(|(i, n)| (i * n).abs()).sum();
            let want = i.iter().zip(n).map(|(i, n)| {
                let error = 16.0 * w.ulp(2.0 * size * n.abs()) + 2.0 * w.ulp(*i);
                Near(i - along * n, 2.0, error)
            });
            squared(w, &[i, n].concat(), want.collect())
        },
    },
    Whole {
        name: "FaceForward",
        operands: 3,
        reduces: false,
        want: |w, [n, i, reference]| {
            let along = dot(reference, i);
            let parts = reference.iter().zip(i).map(|(a, b)| (a * b).abs());
            let clear = along.abs() > 16.0 * w.ulp(parts.sum());
            let sign = if along < 0.0 { 1.0 } else { -1.0 };
            let want = n.iter().map(|n| within(clear, exact(sign * n)));
            squared(w, &[i, reference].concat(), want.collect())
        },
    },
];

/// Text of a module that does all instructions, and how many numbers each work-item leaves.
fn text(w: Width, lanes: usize) -> (String, usize) {
    let bits = w.bits;
    let (mut body, mut count) = (String::new(), 0);
    let ty = if lanes == 1 { "%f" } else { "%v" };
    for operand in 0..3 {
        let mut parts = String::new();
        for lane in 0..lanes {
            let at = operand * lanes + lane;
            let _ = write!(
                body,
                "%i{at} = OpIAdd %uint %from %u{at}\n\
                 %p{at} = OpAccessChain %ptr %in %u0 %i{at}\n\
                 %w{at} = OpLoad %int %p{at}\n%x{at} = OpBitcast %f %w{at}\n"
            );
            let _ = write!(parts, " %x{at}");
        }
        let _ = match lanes {
            1 => writeln!(body, "%a{operand} = OpCopyObject %f{parts}"),
            _ => writeln!(body, "%a{operand} = OpCompositeConstruct %v{parts}"),
        };
    }
    let mut instruction = |name: &str, operands: usize, result: &str| {
        let list: String = (0..operands).map(|at| format!(" %a{at}")).collect();
        let _ = writeln!(body, "%r{name} = OpExtInst {result} %glsl {name}{list}");
        let parts = if result == "%v" { lanes } else { 1 };
        for lane in 0..parts {
            let id = format!("{name}{lane}");
            let _ = match result {
                "%v" => writeln!(body, "%e{id} = OpCompositeExtract %f %r{name} {lane}"),
                _ => writeln!(body, "%e{id} = OpCopyObject %f %r{name}"),
            };
            let _ = write!(
                body,
                "%b{id} = OpBitcast %int %e{id}\n%j{id} = OpIAdd %uint %to %u{count}\n\
                 %q{id} = OpAccessChain %ptr %out %u0 %j{id}\nOpStore %q{id} %b{id}\n"
            );
            count += 1;
        }
    };
    for it in LANEWISE.iter().filter(|it| it.wide || bits < 64) {
        instruction(it.name, it.operands, ty);
    }
    for it in WHOLE {
        instruction(it.name, it.operands, if it.reduces { "%f" } else { ty });
    }
    let capabilities = match bits {
        16 => "OpCapability Float16\nOpCapability Int16\nOpCapability StorageBuffer16BitAccess\n",
        64 => "OpCapability Float64\nOpCapability Int64\n",
        _ => "",
    };
    let integer = if bits == 32 {
        String::new()
    } else {
        format!("%int = OpTypeInt {bits} 0\n")
    };
    let int = if bits == 32 { "%uint" } else { "%int" };
    let vector = match lanes {
        1 => String::new(),
        _ => format!("%v = OpTypeVector %f {lanes}\n"),
    };
    let numbers: String = (0..count.max(3 * lanes))
        .map(|n| format!("%u{n} = OpConstant %uint {n}\n"))
        .collect();
    let stride = bits / 8;
    let text = format!(
        "OpCapability Shader\n{capabilities}\
         OpExtension \"SPV_KHR_non_semantic_info\"\n\
         %reflect = OpExtInstImport \"NonSemantic.ClspvReflection.5\"\n\
         %glsl = OpExtInstImport \"GLSL.std.450\"\n\
         OpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %k \"k\" %id\nOpExecutionMode %k LocalSize 1 1 1\n\
         %name = OpString \"k\"\n\
         OpDecorate %id BuiltIn GlobalInvocationId\n\
         OpDecorate %array ArrayStride {stride}\nOpMemberDecorate %block 0 Offset 0\n\
         OpDecorate %block Block\n\
         OpDecorate %in DescriptorSet 0\nOpDecorate %in Binding 0\n\
         OpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 1\n\
         %void = OpTypeVoid\n%uint = OpTypeInt 32 0\n{integer}%uint3 = OpTypeVector %uint 3\n\
         %f = OpTypeFloat {bits}\n{vector}\
         %array = OpTypeRuntimeArray {int}\n%block = OpTypeStruct %array\n\
         %buffer = OpTypePointer StorageBuffer %block\n%ptr = OpTypePointer StorageBuffer {int}\n\
         %input = OpTypePointer Input %uint3\n%kernel_t = OpTypeFunction %void\n\
         {numbers}%all = OpConstant %uint {count}\n%three = OpConstant %uint {}\n\
         %id = OpVariable %input Input\n%in = OpVariable %buffer StorageBuffer\n\
         %out = OpVariable %buffer StorageBuffer\n\
         %k = OpFunction %void None %kernel_t\n%entry = OpLabel\n\
         %ids = OpLoad %uint3 %id\n%x = OpCompositeExtract %uint %ids 0\n\
         %from = OpIMul %uint %x %three\n%to = OpIMul %uint %x %all\n\
         {}OpReturn\nOpFunctionEnd\n\
         %kernel = OpExtInst %void %reflect Kernel %k %name\n\
         %arg0 = OpExtInst %void %reflect ArgumentStorageBuffer %kernel %u0 %u0 %u0\n\
         %arg1 = OpExtInst %void %reflect ArgumentStorageBuffer %kernel %u1 %u0 %u1\n",
        3 * lanes,
        body.replace("%int ", &format!("{int} "))
    );
    (text, count)
}

fn packed(bits: u32, all: &[u64]) -> Vec<u32> {
    let bytes = all
        .iter()
        .flat_map(|bits_of| bits_of.to_le_bytes()[..bits as usize / 8].to_vec());
    let mut bytes: Vec<u8> = bytes.collect();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

fn unpacked(bits: u32, words: &[u32]) -> Vec<u64> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let number = |chunk: &[u8]| {
        chunk
            .iter()
            .rev()
            .fold(0, |all, &b| all << 8 | u64::from(b))
    };
    bytes.chunks_exact(bits as usize / 8).map(number).collect()
}

fn check(w: Width, name: &str, operands: &[f64], found: f64, want: Want) {
    let Near(value, ulps, error) = want else {
        return;
    };
    // Subnormal numbers may be zeros, and what is too large is not compared.
    let smallest = 2f64.powi(w.least_exponent);
    let tiny = operands.iter().any(|x| x.abs() < smallest && *x != 0.0);
    // The reference has 64 bits, too.
    let reference = if w.bits == 64 { 1.0 } else { 0.0 };
    let allowed = (ulps + reference) * w.ulp(value) + error;
    if tiny || (value + allowed).is_nan() || value.abs() + allowed >= w.most / 2.0 {
        return;
    }
    let flushed = value.abs() < smallest + allowed && found.abs() <= smallest;
    assert!(
        flushed || (found - value).abs() <= allowed,
        "{name} of {} bits of {operands:?}: {found}, not {value} (within {allowed})",
        w.bits
    );
}

const ITEMS: usize = 1500;

#[test]
fn functions_of_glsl_are_as_accurate_as_vulkan_asks() {
    let context = context();
    let queue = queue(&context);
    for w in WIDTHS {
        for lanes in 1..=4 {
            let (text, count) = text(w, lanes);
            let program = built(&context, &text, "1.1");
            let kernel = program.kernel("k").unwrap();
            let operands = w.operands(3 * lanes * ITEMS);
            let of_in = buffer(&context, &packed(w.bits, &operands));
            let of_out = buffer(&context, &packed(w.bits, &vec![0; count * ITEMS]));
            kernel.set_arg_buffer(0, Some(&of_in)).unwrap();
            kernel.set_arg_buffer(1, Some(&of_out)).unwrap();
            launch(&queue, &kernel, ITEMS, 1);
            let found = unpacked(w.bits, &words(&queue, &of_out));
            let given: Vec<f64> = operands.iter().map(|&bits| w.decode(bits)).collect();
            for (given, found) in given.chunks(3 * lanes).zip(found.chunks(count)) {
                let mut found = found.iter().map(|&bits| w.decode(bits));
                let operand = |at: usize| &given[at * lanes..][..lanes];
                for it in LANEWISE.iter().filter(|it| it.wide || w.bits < 64) {
                    for lane in 0..lanes {
                        let all = [0, 1, 2].map(|at| operand(at)[lane]);
                        let want = (it.want)(w, all);
                        let found = found.next().expect("a number for each lane");
                        check(w, it.name, &all[..it.operands], found, want);
                    }
                }
                for it in WHOLE {
                    for want in (it.want)(w, [0, 1, 2].map(operand)) {
                        let found = found.next().expect("a number for each result");
                        check(w, it.name, &given[..it.operands * lanes], found, want);
                    }
                }
            }
        }
    }
}
