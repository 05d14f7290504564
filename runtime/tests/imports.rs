//! Modules that import built-in functions by the names that compilers link them by.

use std::sync::Arc;

use brolga_runtime::{Context, Program, Queue};
use brolga_runtime_testing::*;

const IMPORTS: &str = include_str!("imports.spvasm");

fn program(context: &Arc<Context>, text: &str) -> Arc<Program> {
    Program::from_il(context, &assemble(text)).unwrap()
}

/// Runs the kernel in one work-group and checks what its functions did.
fn check(queue: &Arc<Queue>, program: &Arc<Program>) {
    const ITEMS: usize = 8;
    let context = queue.context();
    let (counter, out) = (buffer(context, &[0]), buffer(context, &[0; 4 * ITEMS]));
    let kernel = program.kernel("k").unwrap();
    kernel.set_arg_buffer(0, Some(&counter)).unwrap();
    kernel.set_arg_buffer(1, Some(&out)).unwrap();
    kernel.set_arg_local(2, 16).unwrap();
    kernel.set_arg_value(3, &1.0f32.to_ne_bytes()).unwrap();
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[ITEMS]), Some(&[ITEMS]), &[])
        .unwrap();
    assert_eq!(words(queue, &counter), [ITEMS as u32], "atomic_inc");
    // 1 to 8 as `half`.
    let halves = [
        0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800,
    ];
    for (i, item) in words(queue, &out).chunks(4).enumerate() {
        assert_eq!(item[0], i as u32 % 2, "to_local in {i}");
        assert_eq!(item[1], halves[i], "convert_half in {i}");
        assert_eq!(item[2], 28, "work_group_reduce_add in {i}");
        assert_eq!(item[3], 7 + 1, "atomic_compare_exchange_strong in {i}");
    }
}

#[test]
fn built_in_functions_are_linked() {
    let context = context();
    let queue = queue(&context);
    let built = program(&context, IMPORTS);
    built.build("", None).unwrap();
    assert_eq!(built.build_info().log, "");
    check(&queue, &built);

    let compiled = program(&context, IMPORTS);
    compiled.compile("", &[], None).unwrap();
    let (linked, result) = Program::link(&context, "", &[compiled], None);
    result.unwrap();
    check(&queue, &linked.unwrap());
}

#[test]
fn a_program_may_have_its_own_function_of_the_name() {
    let context = context();
    let queue = queue(&context);
    let own = "
        OpCapability Addresses
        OpCapability Kernel
        OpCapability Linkage
        OpCapability Float16
        OpMemoryModel Physical64 OpenCL
        OpDecorate %f LinkageAttributes \"_Z12convert_halff\" Export
        %half = OpTypeFloat 16
        %float = OpTypeFloat 32
        %two = OpConstant %half 2
        %f_t = OpTypeFunction %half %float
        %f = OpFunction %half None %f_t
        %x = OpFunctionParameter %float
        %entry = OpLabel
        OpReturnValue %two
        OpFunctionEnd";
    let parts = [program(&context, IMPORTS), program(&context, own)];
    for part in &parts {
        part.compile("", &[], None).unwrap();
    }
    let (linked, result) = Program::link(&context, "", &parts, None);
    result.unwrap();
    let kernel = linked.unwrap().kernel("k").unwrap();
    let (counter, out) = (buffer(&context, &[0]), buffer(&context, &[0; 4]));
    kernel.set_arg_buffer(0, Some(&counter)).unwrap();
    kernel.set_arg_buffer(1, Some(&out)).unwrap();
    kernel.set_arg_local(2, 16).unwrap();
    kernel.set_arg_value(3, &5.0f32.to_ne_bytes()).unwrap();
    queue
        .enqueue_nd_range(&kernel, 1, None, Some(&[1]), None, &[])
        .unwrap();
    assert_eq!(words(&queue, &out)[1], 0x4000);
}

#[test]
fn unknown_functions_are_told_by_the_names_that_sources_have() {
    let context = context();
    let program = program(
        &context,
        &IMPORTS.replace("_Z12convert_halff", "_Z3fooDv4_f"),
    );
    assert!(program.build("", None).is_err());
    let log = program.build_info().log;
    assert!(
        log.contains("the function \"_Z3fooDv4_f\" is imported"),
        "{log}"
    );
    let note = "note: _Z3fooDv4_f is foo(float4), which is no built-in function of this device";
    assert!(log.contains(note), "{log}");
}

#[test]
fn what_is_taken_though_it_breaks_a_rule_is_in_the_build_log() {
    let context = context();
    let (right, wrong) = ("%first Aligned 4", "%first Aligned 12");
    let text = IMPORTS.replace(right, wrong);
    let told = program(&context, &text);
    told.build("", None).unwrap();
    let log = told.build_info().log;
    let warning = "warning: the alignment 12 is not a power of two: taken as 4";
    assert!(log.contains(warning), "{log}");
    check(&queue(&context), &told);

    let silent = program(&context, &text);
    silent.build("-w", None).unwrap();
    assert_eq!(silent.build_info().log, "");
}
