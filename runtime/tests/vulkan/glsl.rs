//! Functions of `GLSL.std.450`.

use super::*;

/// A result of the test of GLSL's functions.
enum Is {
    Near(f64),
    Bits(u32),
}

#[test]
fn functions_of_glsl_give_what_they_are_to() {
    use Is::{Bits, Near};
    let context = context();
    let queue = queue(&context);
    let program = built(
        &context,
        include_str!("../../../compiler/tests/spirv/accept/vulkan_glsl.spvasm"),
        "1.1",
    );
    let kernel = program.kernel("k").unwrap();
    let given = [-1.75f32, 0.25, 3.0, 10.0];
    let [x0, x1, x2, x3] = given.map(f64::from);
    let smooth = (x2 - x1) / (x3 - x1);
    let length = 14f64.sqrt();
    let expected = [
        ("RoundEven", Near(-2.0)),
        ("Trunc", Near(-1.0)),
        ("FAbs", Near(1.75)),
        ("FSign", Near(-1.0)),
        ("Floor", Near(-2.0)),
        ("Ceil", Near(-1.0)),
        ("Fract", Near(0.25)),
        ("Radians", Near(x0.to_radians())),
        ("Degrees", Near(x0.to_degrees())),
        ("Sin", Near(x0.sin())),
        ("Cos", Near(x0.cos())),
        ("Tan", Near(x0.tan())),
        ("Atan", Near(x0.atan())),
        ("Sinh", Near(x0.sinh())),
        ("Cosh", Near(x0.cosh())),
        ("Tanh", Near(x0.tanh())),
        ("Asinh", Near(x0.asinh())),
        ("Exp", Near(x0.exp())),
        ("Exp2", Near(x0.exp2())),
        ("Asin", Near(x1.asin())),
        ("Acos", Near(x1.acos())),
        ("Atanh", Near(x1.atanh())),
        ("Acosh", Near(x2.acosh())),
        ("Log", Near(x2.ln())),
        ("Log2", Near(x2.log2())),
        ("Sqrt", Near(x2.sqrt())),
        ("InverseSqrt", Near(x2.sqrt().recip())),
        ("Atan2", Near(x0.atan2(x1))),
        ("FMin", Near(x0)),
        ("FMax", Near(x1)),
        ("NMin", Near(x0)),
        ("NMax", Near(x1)),
        ("Step", Near(1.0)),
        ("Pow", Near(x2.powf(x0))),
        ("FClamp", Near(x1)),
        ("NClamp", Near(x1)),
        ("FMix", Near(x0 * (1.0 - x2) + x1 * x2)),
        ("Fma", Near(x0 * x1 + x2)),
        ("SmoothStep", Near(smooth * smooth * (3.0 - 2.0 * smooth))),
        ("Ldexp", Near(-14.0)),
        ("ModfStruct, fraction", Near(-0.75)),
        ("ModfStruct, whole", Near(-1.0)),
        ("FrexpStruct, significand", Near(0.625)),
        ("FrexpStruct, exponent", Bits(4)),
        ("Modf, fraction", Near(-0.75)),
        ("Modf, whole", Near(-1.0)),
        ("Frexp, significand", Near(0.625)),
        ("Frexp, exponent", Bits(4)),
        ("SAbs", Bits(40)),
        ("SSign", Bits(u32::MAX)),
        ("FindILsb", Bits(3)),
        ("FindSMsb", Bits(5)),
        ("FindUMsb of 0", Bits(u32::MAX)),
        ("FindILsb of 0", Bits(u32::MAX)),
        ("SMin", Bits(-40i32 as u32)),
        ("SMax", Bits(0)),
        ("UMin", Bits(5)),
        ("UMax", Bits(0x7f80_01c0)),
        ("SClamp", Bits(0)),
        ("UClamp", Bits(5)),
        ("Length", Near(length)),
        ("Distance", Near(14f64.sqrt())),
        ("Cross, x", Near(-5.0)),
        ("Cross, y", Near(-3.0)),
        ("Cross, z", Near(9.0)),
        ("Normalize, x", Near(3.0 / length)),
        ("Normalize, y", Near(1.0 / length)),
        ("Normalize, z", Near(2.0 / length)),
        ("FaceForward, x", Near(-3.0)),
        ("FaceForward, y", Near(-1.0)),
        ("FaceForward, z", Near(-2.0)),
        ("Reflect, x", Near(3.0)),
        ("Reflect, y", Near(-1.0)),
        ("Reflect, z", Near(2.0)),
        ("Refract, x", Near(0.125)),
        ("Refract, y", Near(-1.0)),
        ("Refract, z", Near(0.0)),
        ("PackSnorm4x8", Bits(0x407f_2081)),
        ("PackUnorm4x8", Bits(0x80ff_4000)),
        ("PackSnorm2x16", Bits(0x8001_2000)),
        ("PackUnorm2x16", Bits(0x0000_4000)),
        ("PackHalf2x16", Bits(0xbf00_3400)),
        ("UnpackSnorm4x8, 0", Near(-64.0 / 127.0)),
        ("UnpackSnorm4x8, 1", Near(1.0 / 127.0)),
        ("UnpackSnorm4x8, 2", Near(-1.0)),
        ("UnpackSnorm4x8, 3", Near(1.0)),
        ("UnpackUnorm4x8, 0", Near(192.0 / 255.0)),
        ("UnpackUnorm4x8, 1", Near(1.0 / 255.0)),
        ("UnpackUnorm4x8, 2", Near(128.0 / 255.0)),
        ("UnpackUnorm4x8, 3", Near(127.0 / 255.0)),
        ("UnpackSnorm2x16, 0", Near(15360.0 / 32767.0)),
        ("UnpackSnorm2x16, 1", Near(-1.0)),
        ("UnpackUnorm2x16, 0", Near(15360.0 / 65535.0)),
        ("UnpackUnorm2x16, 1", Near(32768.0 / 65535.0)),
        ("UnpackHalf2x16, 0", Near(1.0)),
        ("UnpackHalf2x16, 1", Near(0.0)),
    ];
    let out = buffer(&context, &[0; 96]);
    assert_eq!(expected.len(), 96);
    let input = of_floats(&context, &given);
    kernel.set_arg_buffer(0, Some(&input)).unwrap();
    kernel.set_arg_buffer(1, Some(&out)).unwrap();
    launch(&queue, &kernel, 1, 1);
    for ((name, expected), found) in expected.iter().zip(words(&queue, &out)) {
        match *expected {
            Bits(bits) => assert_eq!(found, bits, "{name}"),
            Near(number) => {
                let found = f64::from(f32::from_bits(found));
                let error = (found - number).abs();
                assert!(
                    error <= 1e-6 * number.abs(),
                    "{name}: {found}, not {number}"
                );
            }
        }
    }
}
