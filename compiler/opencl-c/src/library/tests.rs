//! Every overload of the table, imported by its linked name.

use brolga_compiler::{BuildOptions, Program, SpecConstants};

use super::{Meaning, library, linked_result, meaning, parameter};
use crate::builtins::overloads::{Overload, every};
use crate::builtins::{Environment, Image, Lowering};
use crate::diag::Diagnostics;
use crate::hir::{ExprKind, Function, FunctionId, Kernel, Linkage, Module, Stmt, StmtKind};
use crate::mangle::mangle;
use crate::options::{Device, Options, Std};
use crate::symbol::Interner;
use crate::token::Loc;
use crate::types::{ImageDim, Space, Type, TypeId, Types};
use crate::{describe, emit};

/// A module with a kernel that calls imported functions.
struct Importer {
    module: Module,
    interner: Interner,
    kernel: Function,
    statements: Vec<Stmt>,
}

impl Importer {
    fn new() -> Importer {
        let mut interner = Interner::new();
        let mut kernel = Function::new(interner.intern("k"), Types::VOID);
        kernel.kernel = Some(Kernel::default());
        kernel.linkage = Linkage::Export;
        Importer {
            module: Module::default(),
            interner,
            kernel,
            statements: Vec::new(),
        }
    }

    fn call(&mut self, linked: &str, meaning: &Meaning) {
        let types = &mut self.module.types;
        let mut import = Function::new(self.interner.intern(linked), meaning.resolved.result);
        import.linkage = Linkage::Import;
        let mut params = meaning.params.clone();
        if import.result == Types::ND_RANGE {
            import.result = Types::VOID;
            params.insert(0, types.pointer(Types::ND_RANGE.into(), Space::Private));
        }
        import.result = linked_result(import.result);
        let mut args = Vec::new();
        for &param in &params {
            parameter(&mut import, param, types);
            let is_handle = matches!(types.get(param), Type::Image { .. } | Type::Sampler);
            args.push(match is_handle {
                true => parameter(&mut self.kernel, param, types),
                false => self.kernel.add(ExprKind::Undefined, param, Loc::default()),
            });
        }
        let id = FunctionId(self.module.functions.len() as u32);
        let call = ExprKind::Call(id, args);
        let call = self.kernel.add(call, import.result, Loc::default());
        self.module.functions.push(import);
        self.statements.push(Stmt {
            kind: StmtKind::Expr(call),
            loc: Loc::default(),
        });
    }

    fn words(mut self) -> Vec<u32> {
        self.kernel.body = Some(self.statements);
        self.module.functions.push(self.kernel);
        let mut diags = Diagnostics::new(false, false);
        let context = (&Options::default(), &Device::full());
        let words = emit::emit(self.module, &self.interner, None, context, &mut diags);
        assert!(!diags.has_errors());
        words
    }
}

/// The device has no images of several samples.
fn has_samples(params: &[TypeId], types: &Types) -> bool {
    params.iter().any(|&param| match types.get(param) {
        Type::Image { dim, .. } => {
            use ImageDim::{D2ArrayMsaa, D2ArrayMsaaDepth, D2Msaa, D2MsaaDepth};
            matches!(dim, D2Msaa | D2ArrayMsaa | D2MsaaDepth | D2ArrayMsaaDepth)
        }
        _ => false,
    })
}

/// Whether the reader takes the function in a form that can be linked to.
fn is_linkable(overload: &Overload, types: &Types) -> bool {
    let params = &overload.params;
    match overload.lowering {
        // Images have one level of detail: it must be a constant 0.
        Lowering::Image(Image::SampleLod | Image::WriteLod) => false,
        // The size of clusters must be a constant.
        _ => !overload.name.contains("clustered") && !has_samples(params, types),
    }
}

#[test]
fn every_overload_is_linked() {
    let device = Device::full();
    let env = Environment {
        std: Std::C31,
        device: &device,
    };
    let mut importer = Importer::new();
    let overloads = every(&mut importer.module.types);
    let mut failures = Vec::new();
    for group in overloads.chunk_by(|a, b| a.name == b.name) {
        let mut importer = Importer::new();
        // Types are as they were when the overloads were made.
        every(&mut importer.module.types);
        let mut names = Vec::new();
        for overload in group {
            let types = &mut importer.module.types;
            let (name, params) = (overload.name, &overload.params);
            if !is_linkable(overload, types) {
                continue;
            }
            let linked = mangle(name, params, types, &importer.interner);
            let Some(found) = meaning(&linked, types, &env) else {
                failures.push(format!("{linked} means nothing"));
                continue;
            };
            assert_eq!(found.resolved.lowering, overload.lowering, "{linked}");
            importer.call(&linked, &found);
            names.push(linked);
        }
        if names.is_empty() {
            continue;
        }
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let Some(library) = library(&all, &device) else {
            failures.push(format!("no library of {}", group[0].name));
            continue;
        };
        let (spec, options) = (SpecConstants::default(), BuildOptions::default());
        let words = importer.words();
        if let Err(error) = Program::from_spirv(&[&words, &library], &spec, &options) {
            failures.push(format!("{}: {error}", group[0].name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_cannot_be_linked_is_left_out() {
    let device = Device::full();
    assert_eq!(library(&["printf", "_Z3foof", "main"], &device), None);
    assert_eq!(library(&["_Z6printfPU3AS2Kcz"], &device), None);
    // `max` of two types would be a conversion.
    assert_eq!(library(&["_Z3maxfd"], &device), None);
    let one = library(&["_Z3foof", "_Z3maxff"], &device).expect("there is one");
    let text: Vec<u8> = one.iter().flat_map(|word| word.to_le_bytes()).collect();
    let has = |name: &[u8]| text.windows(name.len()).any(|part| part == name);
    assert!(has(b"_Z3maxff") && !has(b"_Z3foof"));
    assert_eq!(describe("_Z3foof").as_deref(), Some("foo(float)"));
}

/// Names come from modules that anybody made.
#[test]
fn names_of_no_function_do_no_harm() {
    let device = Device::full();
    let mut types = Types::new();
    let interner = Interner::new();
    let letters = b"vbchstijlmfdDPUKVS_0123456789";
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let overloads = every(&mut types);
    let mut names = Vec::new();
    for overload in overloads.iter().step_by(3) {
        let linked = mangle(overload.name, &overload.params, &types, &interner);
        let mut bytes = linked.into_bytes();
        for _ in 0..=random(2) {
            let at = random(bytes.len());
            bytes[at] = letters[random(letters.len())];
        }
        names.push(String::from_utf8(bytes).expect("names are ASCII"));
    }
    for names in names.chunks(100) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let Some(words) = library(&names, &device) else {
            continue;
        };
        let (spec, options) = (SpecConstants::default(), BuildOptions::default());
        let program = Program::from_spirv(&[&words], &spec, &options);
        assert!(program.is_ok_and(|program| program.kernels().is_empty()));
    }
}
