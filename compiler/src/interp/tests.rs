use smallvec::smallvec;

use super::*;
use crate::ir::parse;
use crate::launch::NdRange;

fn module(text: &str) -> Module {
    let module = parse::module(text).unwrap();
    crate::ir::verify::verify_module(&module).unwrap();
    module
}

fn range(global: [u64; 3], local: [u64; 3]) -> NdRange {
    NdRange {
        work_dim: 3,
        global_offset: [0; 3],
        global_size: global,
        local_size: local,
    }
}

/// Runs the only kernel of a text on one buffer of `i32`s.
fn run(text: &str, data: &[u32], range: NdRange, checked: bool) -> Result<Vec<u32>, Error> {
    let module = module(text);
    let mut memory = Memory::new();
    let bytes = data.iter().flat_map(|x| x.to_le_bytes()).collect();
    let buffer = memory.add("data", bytes, 128);
    let args = memory.base(buffer).to_le_bytes();
    let options = Options {
        budget: 100_000,
        checked,
    };
    let mut interp = Interpreter::new(&module, memory, options);
    let launch = Launch {
        range,
        args: &args,
        local_mem_size: 0,
        sub_group_size: 1,
    };
    interp.run(0, &launch)?;
    let bytes = interp.memory.bytes(buffer).chunks(4);
    Ok(bytes
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
        .collect())
}

const REVERSE: &str = r#"
kernel "reverse" @0 (value 0)
func "reverse" (ptr) -> () {
  local l0 "tile" size 16 align 4
block0(v0: ptr):
  v1: i64 = dim_query.local_id.0
  v2: i64 = dim_query.global_id.0
  v3: i64 = const 4
  v4: i64 = imul v1, v3
  v5: i64 = imul v2, v3
  v6: ptr = ptr_add v0, v5
  v7: i32 = load.global.align4 v6
  v8: ptr = local_addr l0
  v9: ptr = ptr_add v8, v4
  store.local.align4 v9, v7
  BARRIER
  v10: i64 = const 12
  v11: i64 = isub v10, v4
  v12: ptr = ptr_add v8, v11
  v13: i32 = load.local.align4 v12
  store.global.align4 v6, v13
  ret
}
"#;

#[test]
fn work_items_meet_at_barriers() {
    let text = REVERSE.replace("BARRIER", "barrier.workgroup.acqrel.local");
    let data = [1, 2, 3, 4, 5, 6, 7, 8];
    let got = run(&text, &data, range([8, 1, 1], [4, 1, 1]), true).unwrap();
    assert_eq!(got, [4, 3, 2, 1, 8, 7, 6, 5]);
}

#[test]
fn the_checked_mode_finds_a_missing_barrier() {
    let text = REVERSE.replace("BARRIER", "");
    let data = [1, 2, 3, 4];
    let error = run(&text, &data, range([4, 1, 1], [4, 1, 1]), true).unwrap_err();
    assert!(error.message.contains("never written"), "{error}");
    let text = text.replace("ret\n", "store.local.align4 v12, v7\n  ret\n");
    let text = text.replace("v13: i32 = load.local.align4 v12", "v13: i32 = const 1");
    let error = run(&text, &data, range([4, 1, 1], [4, 1, 1]), true).unwrap_err();
    assert!(error.message.contains("races"), "{error}");
}

#[test]
fn errors_name_the_access() {
    let text = REVERSE.replace("BARRIER", "barrier.workgroup.acqrel.local");
    let error = run(&text, &[1, 2], range([4, 1, 1], [4, 1, 1]), false).unwrap_err();
    let expected = "load of 4 bytes";
    assert!(error.message.starts_with(expected), "{error}");
    assert!(
        error
            .message
            .contains("offset 8 of \"data\", which has 8 bytes"),
        "{error}"
    );
    assert!(
        error.message.contains("v7: i32 = load.global.align4 v6"),
        "{error}"
    );
}

#[test]
fn infinite_loops_end() {
    let text = "kernel \"k\" @0 (value 0)\nfunc \"k\" (ptr) -> () {\nblock0(v0: ptr):\n  br block1\nblock1:\n  br block1\n}\n";
    let error = run(text, &[0], range([1; 3], [1; 3]), false).unwrap_err();
    assert!(error.message.contains("budget"), "{error}");
}

#[test]
fn non_uniform_groups_and_finished_items_pass_barriers() {
    // Items with a local id above 0 end before the barrier.
    let text = r#"
kernel "k" @0 (value 0)
func "k" (ptr) -> () {
block0(v0: ptr):
  v1: i64 = dim_query.local_id.0
  v2: i64 = const 0
  v3: i1 = icmp.ne v1, v2
  cond_br v3, block1, block2
block1:
  ret
block2:
  barrier.workgroup.acqrel.local
  v4: i64 = dim_query.group_id.0
  v5: i64 = const 4
  v6: i64 = imul v4, v5
  v7: ptr = ptr_add v0, v6
  v8: i64 = dim_query.local_size.0
  v9: i32 = convert.trunc v8
  store.global.align4 v7, v9
  ret
}
"#;
    let ranges = range([10, 1, 1], [4, 1, 1]);
    assert_eq!(run(text, &[0; 3], ranges, false).unwrap(), [4, 4, 2]);
    let error = run(text, &[0; 3], ranges, true).unwrap_err();
    assert!(error.message.contains("ended while others"), "{error}");
}

#[test]
fn vector_code_runs_with_masks_and_strides() {
    let text = r#"
func "f" (ptr, i1x4) -> (i32x4, i1) {
block0(v0: ptr, v1: i1x4):
  v2: i32x4 = load.global.align4.stride8 v0
  v3: i32x4, v4: i32x4 = load.global.align4.masked.stride8 v0, v1
  v5: i32x4 = iadd v2, v4
  store.global.align4.masked.stride8 v0, v5, v1
  v6: i32x4 = lane_ids
  v7: i32x4 = atomic_rmw.add.global.device.relaxed.masked v0, v6, v1
  v8: i1 = any_true v1
  v9: f32x4 = convert.s_to_f.rte v2
  v10: f32x4 = routine.Fmod.F32 v9, v9, v9, v1
  ret v7, v8
}
"#;
    let module = parse::module(text).unwrap();
    let mut memory = Memory::new();
    let bytes = (1u32..=8).flat_map(u32::to_le_bytes).collect();
    let buffer = memory.add("data", bytes, 128);
    let base = memory.base(buffer);
    let mut interp = Interpreter::new(&module, memory, Options::default());
    let func = FuncId::from_u32(0);
    let results = interp
        .call_id(func, &[smallvec![base], smallvec![1, 0, 1, 1]])
        .unwrap();
    // 1 + 2, then 0, 2 and 3 are added to it in turn.
    assert_eq!(results[0].as_slice(), [3, 0, 3, 5]);
    assert_eq!(results[1].as_slice(), [1]);
    let bytes = interp.memory.bytes(buffer).chunks(4);
    let got: Vec<u32> = bytes
        .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    assert_eq!(got, [8, 2, 3, 4, 11, 6, 15, 8]);
}

#[test]
fn printf_is_recorded_with_strings() {
    let text = r#"
global @g0 "format" constant size 6 align 1 = 0x257320256400
global @g1 "word" constant size 3 align 1 = 0x686900
kernel "k" @0 (value 0)
func "k" (ptr) -> () {
block0(v0: ptr):
  v1: ptr = global_addr @g0
  v2: ptr = global_addr @g1
  v3: i32 = const -1
  v4: i32x2 = build v3, v3
  v5: i32 = printf v1, v2, v4
  ret
}
"#;
    let module = module(text);
    let mut interp = Interpreter::new(&module, Memory::new(), Options::default());
    let launch = Launch {
        range: range([2, 1, 1], [1, 1, 1]),
        args: &[0; 8],
        local_mem_size: 0,
        sub_group_size: 1,
    };
    interp.run(0, &launch).unwrap();
    assert_eq!(interp.printf.len(), 2);
    let call = &interp.printf[1];
    assert_eq!(call.format, b"%s %d");
    assert_eq!(call.args[0].string.as_deref(), Some(b"hi".as_slice()));
    assert_eq!(call.args[1].lanes.as_slice(), [0xffff_ffff; 2]);
}

#[test]
fn integer_built_ins_are_exact() {
    use crate::ir::{Builtin, Scalar};
    let check = |builtin, scalar, args: &[u64], expected: u64| {
        let ty = Type::new(scalar, 1);
        let args: Vec<(Type, &[u64])> =
            args.iter().map(|a| (ty, std::slice::from_ref(a))).collect();
        let wide = matches!(builtin, Builtin::UUpsample | Builtin::SUpsample);
        let result = if wide {
            Type::new(Scalar::int(scalar.bits() * 2).unwrap(), 1)
        } else {
            ty
        };
        let results = builtin::eval(builtin, &args, &[result]).unwrap();
        assert_eq!(results[0].as_slice(), [expected], "{builtin:?} {args:?}");
    };
    let (max, min) = (i64::MAX as u64, i64::MIN as u64);
    check(Builtin::SMadSat, Scalar::I64, &[max, max, max], max);
    check(Builtin::SMadSat, Scalar::I64, &[min, max, 0], min);
    check(Builtin::UMadSat, Scalar::I64, &[u64::MAX; 3], u64::MAX);
    check(Builtin::SHadd, Scalar::I8, &[0x80, 0x81], 0x80);
    check(Builtin::SRhadd, Scalar::I8, &[0x80, 0x81], 0x81);
    check(Builtin::UHadd, Scalar::I64, &[u64::MAX; 2], u64::MAX);
    check(Builtin::SAbsDiff, Scalar::I8, &[0x80, 0x7f], 0xff);
    check(Builtin::UUpsample, Scalar::I8, &[0x12, 0x34], 0x1234);
    check(Builtin::SClamp, Scalar::I16, &[0xffff, 1, 5], 1);
    check(Builtin::UClamp, Scalar::I16, &[0xffff, 1, 5], 5);
}
