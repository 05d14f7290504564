//! Modules as text files, translated: what is accepted gives valid IR with the `; CHECK:` lines in
//! order; what is refused gives a diagnostic with the `; ERROR:` texts (at its start where a `^`
//! precedes). Below them, modules that no assembler would write.

use brolga_compiler::ir::Module;
use brolga_compiler::ir::verify::verify_module;
use brolga_compiler::{
    AccessQualifier, ArgKind, Diagnostic, ImageArg, SpecConstantInfo, SpecConstants, spirv,
};
use brolga_compiler_testing::assembly::{assemble, directives, files, tests};

fn translate(modules: &[&[u32]]) -> Result<Module, Diagnostic> {
    spirv::translate(modules, &SpecConstants::new(), &Default::default())
}

fn module(text: &str) -> Vec<u32> {
    assemble(text, "1.5").unwrap_or_else(|why| panic!("{why}"))
}

fn file(path: &str) -> Vec<u32> {
    let text = std::fs::read_to_string(tests("spirv").join(path)).expect("readable");
    module(&text)
}

#[test]
fn accepted() {
    let mut failures = Vec::new();
    for path in files(&tests("spirv/accept")) {
        let text = std::fs::read_to_string(&path).expect("readable");
        let ir = match translate(&[&module(&text)]) {
            Ok(module) => {
                if let Err(error) = verify_module(&module) {
                    failures.push(format!("{}: {error}\n{module}", path.display()));
                }
                module.to_string()
            }
            Err(error) => {
                failures.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        let mut rest = ir.as_str();
        for check in directives(&text, "CHECK") {
            match rest.find(&check) {
                Some(at) => rest = &rest[at + check.len()..],
                None => {
                    failures.push(format!("{}: no {check:?} in\n{ir}", path.display()));
                    break;
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn refused() {
    let mut failures = Vec::new();
    for path in files(&tests("spirv/reject")) {
        let text = std::fs::read_to_string(&path).expect("readable");
        let expected = directives(&text, "ERROR");
        assert!(!expected.is_empty(), "{}", path.display());
        match translate(&[&module(&text)]) {
            Ok(_) => failures.push(format!("{}: accepted", path.display())),
            Err(error) => {
                // What any refusal says: the rule, and the instruction where there is one to blame.
                let whole = error.instruction.is_some() && error.word_offset.is_some();
                let none_to_blame = error.message == "the module has no OpMemoryModel";
                if error.rule.is_none() || !whole && !none_to_blame {
                    failures.push(format!("{}: {error} says too little", path.display()));
                }
                let error = error.to_string();
                let has = |text: &String| match text.strip_prefix('^') {
                    Some(start) => error.starts_with(start),
                    None => error.contains(text.as_str()),
                };
                if let Some(missing) = expected.iter().find(|text| !has(text)) {
                    failures.push(format!("{}: {error:?} lacks {missing:?}", path.display()));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The message for words that are not a whole module.
fn refusal(words: &[u32]) -> String {
    translate(&[words]).expect_err("refused").to_string()
}

#[test]
fn truncated_anywhere() {
    let words = file("accept/struct_phi.spvasm");
    assert!(
        refusal(&[]).contains("the module is truncated: the header takes 5 words, there are 0")
    );
    for length in 0..words.len() {
        // Cut after the memory model, it is a whole module of nothing.
        let kernels = translate(&[&words[..length]]).map(|module| module.kernels.len());
        assert!(
            kernels.is_err() || kernels == Ok(0),
            "{length} words were accepted"
        );
    }
    let error = refusal(&words[..words.len() - 2]);
    assert!(error.contains("has no OpFunctionEnd"), "{error}");
}

#[test]
fn wrong_headers() {
    let words = file("accept/struct_phi.spvasm");
    let with = |at: usize, word: u32| {
        let mut words = words.clone();
        words[at] = word;
        refusal(&words)
    };
    assert!(with(0, 0x1234_5678).contains("not a SPIR-V module: the first word is 0x12345678"));
    assert!(with(1, 0x0001_0700).contains("is not one of 1.0 to 1.6"));
    assert!(with(1, 0x0002_0000).contains("is not one of 1.0 to 1.6"));
    assert!(with(3, 0).contains("the id bound 0 is not in the range"));
    assert!(with(3, u32::MAX).contains("the id bound 4294967295 is not in the range"));
    assert!(with(3, 5).contains("is not below the module's bound 5"));
    assert!(with(4, 1).contains("the schema 1 is not 0"));
}

#[test]
fn wrong_word_counts() {
    let words = file("accept/struct_phi.spvasm");
    // The first instruction is `OpCapability`.
    let with = |word: u32| {
        let mut words = words.clone();
        words[5] = word;
        refusal(&words)
    };
    assert!(with(17).contains("OpCapability has a word count of 0 [word 5]"));
    assert!(with(1 << 16 | 17).contains("an operand is missing [OpCapability, word 5]"));
    assert!(with(3 << 16 | 17).contains("1 words follow the last operand [OpCapability, word 5]"));
    assert!(with(0xffff << 16 | 17).contains("the module is truncated: OpCapability takes 65535"));
    assert!(with(2 << 16 | 0x3fff).contains("unknown instruction, opcode 16383 [word 5]"));
    let mut unknown = words.clone();
    unknown[6] = 0x1234;
    assert!(refusal(&unknown).contains("unknown capability 4660 [OpCapability, word 5]"));
}

#[test]
fn an_id_defined_twice() {
    let mut words = file("accept/struct_phi.spvasm");
    // The same definition again, before the end: `OpTypeVoid` is two words.
    let at = (5..words.len())
        .find(|&at| words[at] == 2 << 16 | 19)
        .expect("void");
    let again = [words[at], words[at + 1]];
    words.splice(at..at, again);
    let error = refusal(&words);
    assert!(
        error.contains("this result id was defined before [OpTypeVoid"),
        "{error}"
    );
}

#[test]
fn either_byte_order() {
    let words = file("accept/clang_saxpy.spvasm");
    let swapped: Vec<u32> = words.iter().map(|word| word.swap_bytes()).collect();
    let (a, b) = (translate(&[&words]), translate(&[&swapped]));
    assert_eq!(
        a.expect("accepted").to_string(),
        b.expect("accepted").to_string()
    );
}

#[test]
fn specialization() {
    let words = file("accept/spec_constants.spvasm");
    assert_eq!(
        spirv::spec_constants(&words).expect("listed"),
        [
            SpecConstantInfo {
                spec_id: 4,
                size: 4
            },
            SpecConstantInfo {
                spec_id: 5,
                size: 1
            },
        ]
    );
    let with = |spec: &[(u32, &[u8])]| {
        let spec: SpecConstants = spec.iter().map(|(id, v)| (*id, v.to_vec())).collect();
        spirv::translate(&[&words], &spec, &Default::default())
    };
    let ir = with(&[(4, &[3, 0, 0, 0])]).expect("accepted").to_string();
    assert!(
        ir.contains("alloca.12.align4") && ir.contains("const 0x6"),
        "{ir}"
    );
    let ir = with(&[(5, &[0])]).expect("accepted").to_string();
    assert!(ir.contains("= 0x01000000010000000000000000000000"), "{ir}");
    let error = with(&[(4, &[3])]).expect_err("refused").to_string();
    assert!(
        error.contains("specialization constant 4 takes 4 bytes, 1 were given"),
        "{error}"
    );
    let error = with(&[(4, &[255; 4])]).expect_err("refused").to_string();
    assert!(
        error.contains("a private variable of 17179869180 bytes is too large"),
        "{error}"
    );
}

/// A module of no kernels that declares one thing.
fn declaring(declaration: &[u32]) -> Vec<u32> {
    let mut words = vec![spirv_magic(), 0x0001_0600, 0, 10, 0];
    // `OpCapability` of Addresses, Linkage and Kernel; `OpMemoryModel Physical64 OpenCL` comes
    // last.
    for capability in [4, 5, 6] {
        words.extend([2 << 16 | 17, capability]);
    }
    words.extend_from_slice(declaration);
    words.extend([3 << 16 | 14, 2, 2]);
    words
}

fn spirv_magic() -> u32 {
    0x0723_0203
}

/// An instruction with a string at its end.
fn with_string(opcode: u32, operands: &[u32], text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((text.len() / 4 + 1) * 4, 0);
    let text = bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let operands: Vec<u32> = operands.iter().copied().chain(text).collect();
    let count = operands.len() as u32 + 1;
    std::iter::once(count << 16 | opcode)
        .chain(operands)
        .collect()
}

/// "cl_khr_spirv_queries": what the queries list is valid to declare. What has a row but no support
/// is refused by name.
#[test]
fn declarations() {
    for (number, name, support) in spirv::capabilities() {
        let outcome = translate(&[&declaring(&[2 << 16 | 17, number])]);
        match (support, outcome) {
            (spirv::Support::Full | spirv::Support::Parts(_), outcome) => {
                assert!(outcome.is_ok(), "{name}: {outcome:?}");
            }
            (spirv::Support::Refused(why), outcome) => {
                let error = outcome.expect_err(&name).to_string();
                let expected = format!("the capability {name} is not supported: {why} [");
                assert!(error.contains(&expected), "{error}");
            }
        }
    }
    for name in spirv::supported_extensions() {
        let outcome = translate(&[&declaring(&with_string(10, &[], name))]);
        assert!(outcome.is_ok(), "{name}: {outcome:?}");
    }
    for name in spirv::supported_instruction_sets() {
        let outcome = translate(&[&declaring(&with_string(11, &[1], name))]);
        assert!(outcome.is_ok(), "{name}: {outcome:?}");
    }
}

/// A specialization constant of each type and width takes as many bytes, of the host's value.
#[test]
fn specialization_of_every_kind() {
    let words = file("accept/spec_constant_kinds.spvasm");
    let infos = spirv::spec_constants(&words).expect("listed");
    let sizes: Vec<usize> = infos.iter().map(|info| info.size).collect();
    assert_eq!(sizes, [1, 1, 2, 4, 8, 2, 4, 8]);
    let values: [(&[u8], &str); 8] = [
        (&[1], "const 0xab01"),
        (&[0x91], "const 0x91"),
        (&[0x34, 0x92], "const 0x9234"),
        (&[0x78, 0x56, 0x34, 0x93], "const 0x93345678"),
        (&[1, 2, 3, 4, 5, 6, 7, 8], "const 0x807060504030201"),
        (&[0, 0x3e], "const 0x3e00"),
        (&[0, 0, 0x40, 0x3f], "const 0x3f400000"),
        (&[0, 0, 0, 0, 0, 0, 0xe8, 0x3f], "const 0x3fe8000000000000"),
    ];
    let plain = translate(&[&words]).expect("accepted").to_string();
    for (info, (bytes, expected)) in infos.iter().zip(values) {
        let spec = SpecConstants::from([(info.spec_id, bytes.to_vec())]);
        let ir = spirv::translate(&[&words], &spec, &Default::default());
        let ir = ir.expect("accepted").to_string();
        assert!(
            ir.contains(expected) && !plain.contains(expected),
            "{expected} in {ir}"
        );
    }
}

#[test]
fn linking() {
    let (user, library) = (file("link/user.spvasm"), file("link/library.spvasm"));
    for modules in [[&user[..], &library[..]], [&library[..], &user[..]]] {
        let module = translate(&modules).expect("linked");
        verify_module(&module).expect("valid");
        assert_eq!(module.kernels.len(), 1);
        let ir = module.to_string();
        assert!(ir.contains("size 4 align 4 = 0x02000000"), "{ir}");
        assert_eq!(module.functions.len(), 3, "{ir}");
    }
    let error = refusal(&user);
    assert!(
        error.contains("the function \"twice\" is imported"),
        "{error}"
    );
    let error = translate(&[&user, &library, &library])
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("is exported a second time: by module 1, and by module 2 [module 2: Op"),
        "{error}"
    );
    // A library alone has no kernels.
    assert!(translate(&[&library]).expect("accepted").kernels.is_empty());
    assert!(translate(&[]).expect("accepted").kernels.is_empty());
}

/// "Kernel Arguments" and "Image-Related Data Types": what a host is told of images and samplers.
#[test]
fn arguments_that_are_images() {
    let module = translate(&[&file("accept/opaque_types.spvasm")]).expect("accepted");
    let args = &module.kernels[0].info.args;
    let told: Vec<_> = args
        .iter()
        .map(|arg| {
            let name = arg.type_name.as_deref().unwrap_or("?");
            (arg.kind, arg.access, name, arg.offset, arg.size)
        })
        .collect();
    let (only, none) = (AccessQualifier::ReadOnly, AccessQualifier::None);
    use brolga_compiler::image::ImageDim::*;
    let of = |dim, is_buffer, is_depth| {
        ArgKind::Image(ImageArg {
            dim,
            is_buffer,
            is_depth,
        })
    };
    let image = |dim| of(dim, false, false);
    assert_eq!(
        told[1..=9],
        [
            (image(Dim2), only, "image2d_t", 8, 8),
            (image(Dim2), AccessQualifier::WriteOnly, "image2d_t", 16, 8),
            (image(Dim2Array), only, "image2d_array_t", 24, 8),
            (of(Dim2, false, true), only, "image2d_depth_t", 32, 8),
            (image(Dim1), only, "image1d_t", 40, 8),
            (image(Dim1Array), only, "image1d_array_t", 48, 8),
            (of(Dim1, true, false), only, "image1d_buffer_t", 56, 8),
            (image(Dim3), only, "image3d_t", 64, 8),
            (ArgKind::Sampler, none, "sampler_t", 72, 8),
        ]
    );
}
