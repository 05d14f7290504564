//! What is emitted around instructions, by the listing.

use super::compile;
use crate::ir::parse;
use crate::target::Target;

/// The instructions of a function `(i64, ptr) -> ()`, without their offsets.
fn listing(body: &str) -> Vec<String> {
    listing_for(&Target::avx512(), body)
}

fn listing_for(target: &Target, body: &str) -> Vec<String> {
    let text = format!("func \"f\" (i64, ptr) -> () {{\n{body}\n}}");
    let module = parse::module(&text).expect("a module");
    let func = module.functions.values().next().expect("a function");
    let code = compile(func, target, None, true).expect("it compiles");
    let listing = code.listing.expect("it is asked for");
    let lines = listing.lines().map(|line| match line.split_once("  ") {
        Some((_, inst)) => inst.trim().rsplit("  ").next().unwrap_or(inst).to_owned(),
        None => line.to_owned(),
    });
    lines.collect()
}

fn count(listing: &[String], what: &str) -> usize {
    listing.iter().filter(|line| line.starts_with(what)).count()
}

fn with_variable(bytes: u32) -> Vec<String> {
    listing(&format!(
        "block0(x: i64, p: ptr):\n  \
         v: ptr = alloca.{bytes}.align16\n  store.private.align8 v, x\n  ret"
    ))
}

#[test]
fn a_function_that_needs_no_frame_has_none() {
    let code = listing("block0(x: i64, p: ptr):\n  ret");
    assert_eq!(code, ["block0:", "ret"]);
}

#[test]
fn every_page_of_a_frame_is_touched() {
    let touch = "mov qword ptr [rsp], rsp";
    let small = with_variable(100);
    assert_eq!(count(&small, touch), 0, "{small:?}");
    let pages = with_variable(3 * 4096);
    assert_eq!(count(&pages, touch), 3, "{pages:?}");
    let many = with_variable(100 * 4096);
    assert_eq!(count(&many, "lea r11, [rsp - 0x64000]"), 1, "{many:?}");
    assert_eq!(count(&many, touch), 1, "{many:?}");
    assert_eq!(count(&many, "jne probe"), 1, "{many:?}");
}

#[test]
fn upper_halves_are_left_where_they_are_used() {
    let add = |lanes: u32| {
        listing(&format!(
            "block0(x: i64, p: ptr):\n  a: i64x{lanes} = splat x\n  b: i64x{lanes} = iadd a, a\n  \
             store.global.align8.stride8 p, b\n  ret"
        ))
    };
    let (short, long) = (add(2), add(4));
    assert_eq!(count(&short, "vzeroupper"), 0, "{short:?}");
    assert_eq!(count(&long, "vzeroupper"), 1, "{long:?}");
}

#[test]
fn masks_are_what_the_target_says() {
    let body = "block0(x: i64, p: ptr):\n  a: i64x4 = splat x\n  b: i64x4 = iadd a, a\n  \
                c: i1x4 = icmp.slt a, b\n  d: i64x4 = select c, a, b\n  \
                store.global.align8.stride8 p, d\n  ret";
    let bits = listing_for(&Target::avx512(), body);
    assert_eq!(count(&bits, "vpblendmq"), 1, "{bits:?}");
    let lanes = listing_for(&Target::avx2(), body);
    assert_eq!(count(&lanes, "vpcmpgtq"), 1, "{lanes:?}");
    assert_eq!(count(&lanes, "vblendvpd"), 1, "{lanes:?}");
}

#[test]
fn empty_blocks_may_jump_in_a_circle() {
    let code =
        listing("block0(x: i64, p: ptr):\n  br block1\nblock1:\n  br block2\nblock2:\n  br block1");
    assert!(count(&code, "jmp") >= 1, "{code:?}");
    assert_eq!(count(&code, "ret"), 0, "{code:?}");
}

#[test]
fn bytes_between_bytes_are_loaded_as_vectors() {
    let load = |bytes: u32, elements: &str, last: &str| {
        listing_for(
            &Target::avx2(),
            &format!(
                "block0(x: i64, p: ptr):\n  {elements} = load.global.align1.stride{bytes} p\n  \
                 s: i8x16 = iadd a, b\n  t: i8x16 = iadd s, {last}\n  \
                 store.global.align1.stride1 p, t\n  ret"
            ),
        )
    };
    let pixels = load(3, "a: i8x16, b: i8x16, c: i8x16", "c");
    assert_eq!(count(&pixels, "vpinsrb"), 0, "{pixels:?}");
    // Of three elements, each from three vectors.
    assert_eq!(count(&pixels, "vpshufb"), 9, "{pixels:?}");
    let pairs = load(2, "a: i8x16, b: i8x16", "a");
    assert_eq!(count(&pairs, "vpshufb"), 2, "{pairs:?}");
    assert_eq!(count(&pairs, "vpunpck"), 2, "{pairs:?}");
}

#[test]
fn bytes_of_a_word_are_indexes() {
    let code = listing(
        "block0(x: i64, p: ptr):\n  w: i32 = convert.trunc x\n  c8: i32 = const 8\n  \
         byte: i32 = const 0xff\n  s: i32 = lshr w, c8\n  b: i32 = and s, byte\n  \
         i: i64 = convert.zext b\n  q: ptr = ptr_add p, i\n  v: i8 = const 1\n  \
         store.global.align1 q, v\n  ret",
    );
    assert_eq!(count(&code, "movzx"), 1, "{code:?}");
    assert_eq!(count(&code, "and"), 0, "{code:?}");
    assert!(
        code.iter()
            .any(|line| line.starts_with("mov byte ptr [") && line.contains('+')),
        "{code:?}"
    );
}

#[test]
fn bit_fields_are_one_operation_where_that_is_fast() {
    let body = "block0(x: i64, p: ptr):\n  w: i32 = convert.trunc x\n  c5: i32 = const 5\n  \
                mask: i32 = const 0x7f\n  s: i32 = lshr w, c5\n  b: i32 = and s, mask\n  \
                store.global.align4 p, b\n  ret";
    let fast = Target {
        fast_bit_fields: true,
        ..Target::avx2()
    };
    let code = listing_for(&fast, body);
    assert_eq!(count(&code, "bextr"), 1, "{code:?}");
    assert_eq!(count(&code, "shr") + count(&code, "and"), 0, "{code:?}");
    // From bit 5 on, 7 bits.
    assert!(
        code.iter()
            .any(|line| line.starts_with("mov") && line.ends_with("0x705")),
        "{code:?}"
    );
    assert_eq!(count(&listing_for(&Target::avx2(), body), "bextr"), 0);
}

#[test]
fn loops_that_fit_in_registers_do_not_load_what_others_displaced() {
    // Two loops that want nine registers each, of twenty values that live across both.
    let mut text = String::from("block0(x: i64, p: ptr):\n");
    for n in 0..20 {
        text += &format!(
            "  c{n}: i64 = const {}\n  at{n}: ptr = ptr_add p, c{n}\n",
            8 * n
        );
        text += &format!("  v{n}: i64 = load.global.align8.volatile at{n}\n");
    }
    text += "  one: i64 = const 1\n  zero: i64 = const 0\n  br block1(zero, zero)\n";
    for (number, first) in [(1, 0), (3, 10)] {
        text += &format!("block{number}(i{number}: i64, s{number}: i64):\n");
        text += &format!("  t{number}_0: i64 = xor s{number}, i{number}\n");
        for n in 0..9 {
            let op = ["iadd", "xor"][n % 2];
            let (before, value) = (format!("t{number}_{n}"), first + n);
            text += &format!("  t{number}_{}: i64 = {op} {before}, v{value}\n", n + 1);
        }
        text += &format!("  next{number}: i64 = iadd i{number}, one\n");
        text += &format!("  more{number}: i1 = icmp.ult next{number}, x\n");
        let (sum, after) = (format!("t{number}_9"), number + 1);
        text +=
            &format!("  cond_br more{number}, block{number}(next{number}, {sum}), block{after}\n");
        text += &format!("block{after}:\n");
        if number == 1 {
            text += "  br block3(zero, t1_9)\n";
        }
    }
    text += "  sum0: i64 = iadd t3_9, v0\n";
    for n in 1..20 {
        text += &format!("  sum{n}: i64 = iadd sum{}, v{n}\n", n - 1);
    }
    text += "  store.global.align8 p, sum19\n  ret";
    let code = listing(&text);
    let mut block = Vec::new();
    for line in &code {
        if line.starts_with("block") {
            block.clear();
        }
        block.push(line);
        if line.starts_with("jb ") {
            assert!(!block.iter().any(|line| line.contains("[rsp")), "{code:#?}");
        }
    }
    assert_eq!(count(&code, "jb "), 2, "{code:#?}");
}

/// Majorities of three that have a product in common, which is one instruction each; and a sum that
/// something else uses, too, which stays.
#[test]
fn bitwise_operations_with_several_users_are_covered() {
    let code = listing(
        "block0(x: i64, p: ptr):\n  \
         a: i32x16, b: i32x16, c: i32x16, d: i32x16 = load.global.align4.stride16 p\n  \
         bc: i32x16 = and b, c\n  bd: i32x16 = and b, d\n  cd: i32x16 = and c, d\n  \
         u: i32x16 = or bc, bd\n  m: i32x16 = or u, cd\n  e: i32x16 = iadd a, m\n  \
         eb: i32x16 = and e, b\n  ec: i32x16 = and e, c\n  v: i32x16 = or eb, ec\n  \
         n: i32x16 = or v, bc\n  f: i32x16 = iadd d, n\n  \
         s: i32x16 = xor e, f\n  t: i32x16 = xor s, d\n  g: i32x16 = iadd s, t\n  \
         store.global.align4.stride4 p, g\n  ret",
    );
    assert_eq!(count(&code, "vpternlogd"), 3, "{code:?}");
    assert_eq!(count(&code, "vpand") + count(&code, "vpor"), 0, "{code:?}");
    assert_eq!(count(&code, "vpxor"), 1, "{code:?}");
}

/// Two elements at an address of each lane: eight rows of eight bytes, or as many gathers as
/// vectors of elements.
#[test]
fn elements_of_a_lane_are_loaded_as_rows() {
    let load = |scalar: &str, align: u32, elements: usize| {
        let names: Vec<String> = (0..elements).map(|n| format!("e{n}")).collect();
        let results: Vec<String> = names.iter().map(|n| format!("{n}: {scalar}x8")).collect();
        let mut body = format!(
            "block0(x: i64, p: ptr):\n  at: ptrx8 = load.global.align8.stride8 p\n  \
             {} = load.global.align{align} at\n",
            results.join(", ")
        );
        for name in names {
            body += &format!("  store.global.align{align}.stride{align} p, {name}\n");
        }
        listing_for(&Target::avx2(), &(body + "  ret"))
    };
    let gathers = |code: &[String]| count(code, "vpgather") + count(code, "vgather");
    for (scalar, align, elements) in [("i32", 4, 4), ("i32", 4, 8), ("f64", 8, 2)] {
        let rows = load(scalar, align, elements);
        assert_eq!(gathers(&rows), 0, "{rows:?}");
        assert_eq!(count(&rows, "vpinsr"), 0, "{rows:?}");
    }
    let alone = load("i32", 4, 1);
    assert_ne!(gathers(&alone), 0, "{alone:?}");
}

#[test]
fn what_is_added_to_memory_is_added_there() {
    let code = |body: &str| listing(&format!("block0(x: i64, p: ptr):\n{body}  ret"));
    let load = "  a: i64 = load.global.align8 p\n";
    let one = "  one: i64 = const 1\n";
    let store = "  store.global.align8 p, b\n";
    let added = code(&format!("{one}{load}  b: i64 = iadd one, a\n{store}"));
    assert_eq!(count(&added, "add qword ptr"), 1, "{added:?}");
    assert_eq!(count(&added, "mov"), 0, "{added:?}");
    let taken = code(&format!("{load}  b: i64 = isub a, x\n{store}"));
    assert_eq!(count(&taken, "sub qword ptr"), 1, "{taken:?}");
    let negated = code(&format!("{load}  b: i64 = isub x, a\n{store}"));
    assert_eq!(count(&negated, "sub qword ptr"), 0, "{negated:?}");
    // The sum is of what was there before the other store.
    let overwritten = code(&format!(
        "{load}  b: i64 = iadd a, x\n  store.global.align8 p, x\n{store}"
    ));
    assert_eq!(count(&overwritten, "add qword ptr"), 0, "{overwritten:?}");
}

#[test]
fn lanes_of_bytes_are_indexes() {
    let code = listing_for(
        &Target::avx2(),
        "block0(x: i64, p: ptr):\n  v: i8x8 = load.global.align1.stride1 p\n  \
         w: i8x8 = iadd v, v\n  b: i8 = extract.3 w\n  i: i64 = convert.zext b\n  \
         q: ptr = ptr_add p, i\n  store.global.align1 q, b\n  ret",
    );
    assert_eq!(count(&code, "vpextrb"), 1, "{code:?}");
    assert_eq!(count(&code, "movzx"), 0, "{code:?}");
}

#[test]
fn lanes_taken_out_one_by_one_come_from_general_registers() {
    let of = |scalar: &str, lanes: u32, stride: u32| {
        let mut text = format!(
            "block0(x: i64, p: ptr):\n  v: {scalar}x{lanes} = load.global.align1.stride{stride} p\n  \
             w: {scalar}x{lanes} = iadd v, v\n"
        );
        for n in 0..lanes {
            text += &format!(
                "  b{n}: {scalar} = extract.{n} w\n  i{n}: i64 = convert.zext b{n}\n  \
                 q{n}: ptr = ptr_add p, i{n}\n  store.global.align1 q{n}, x\n"
            );
        }
        listing_for(&Target::avx2(), &(text + "  ret"))
    };
    let bytes = of("i8", 8, 1);
    assert_eq!(count(&bytes, "vpextrb"), 0, "{bytes:?}");
    assert_eq!(count(&bytes, "vmovq"), 1, "{bytes:?}");
    let words = of("i16", 8, 2);
    assert_eq!(count(&words, "vpextrw"), 0, "{words:?}");
    assert_eq!(count(&words, "vmovq"), 1, "{words:?}");
    assert_eq!(count(&words, "vpextrq"), 1, "{words:?}");
    let doublewords = of("i32", 8, 4);
    assert_eq!(count(&doublewords, "vpextrd"), 0, "{doublewords:?}");
    assert_eq!(count(&doublewords, "vmovq"), 2, "{doublewords:?}");
    assert_eq!(count(&doublewords, "vpextrq"), 2, "{doublewords:?}");
    assert_eq!(count(&doublewords, "vextracti128"), 1, "{doublewords:?}");
}

#[test]
fn what_a_side_block_takes_out_stays_there() {
    // Bytes at addresses of their own are stored in a block each, under a mask; two such stores
    // take the same lanes.
    let text = "block0(x: i64, p: ptr):\n  v: i8x8 = load.global.align1.stride1 p\n  \
                i: i64x8 = load.global.align8.stride8 p\n  w: i8x8 = iadd v, v\n  \
                m: i1x8 = icmp.slt v, w\n  a: ptrx8 = ptr_add p, i\n  \
                store.global.align1.masked a, w, m\n  store.global.align1.masked a, v, m\n  ret";
    listing_for(&Target::avx512(), text);
}

#[test]
fn addresses_out_of_vectors_are_written_by_integer_operations() {
    let text = "block0(x: i64, p: ptr):\n  i: i64x4 = load.global.align8.stride8 p\n  \
                a: ptrx4 = ptr_add p, i\n  b: ptr = extract.1 a\n  \
                v: i32 = load.global.align4 b\n  w: i32 = iadd v, v\n  \
                store.global.align4 b, w\n  ret";
    for target in [Target::avx2(), Target::avx512()] {
        for guesses in [false, true] {
            let target = Target {
                guesses_stored_addresses: guesses,
                ..target
            };
            let code = listing_for(&target, text);
            assert_eq!(count(&code, "lea"), usize::from(guesses), "{code:?}");
        }
    }
}

#[test]
fn lanes_at_a_distance_are_loaded_one_by_one() {
    for (ty, loads) in [
        ("f64x4", ["vmovq", "vpinsrq"]),
        ("i32x8", ["vmovd ", "vpinsrd"]),
    ] {
        let text = format!(
            "block0(x: i64, p: ptr):\n  v: {ty} = load.global.align4.stride272 p\n  \
             store.global.align4.stride{} p, v\n  ret",
            if ty == "f64x4" { 8 } else { 4 }
        );
        let code = listing_for(&Target::avx2(), &text);
        assert_eq!(count(&code, "vpgather"), 0, "{code:?}");
        let all: usize = loads.iter().map(|load| count(&code, load)).sum();
        let lanes = if ty == "f64x4" { 4 } else { 8 };
        assert_eq!(all, lanes, "{code:?}");
    }
}

#[test]
fn slow_masked_stores_are_stores_of_each_lane() {
    let slow = Target {
        slow_masked_stores: true,
        ..Target::avx2()
    };
    let text = "block0(x: i64, p: ptr):\n  v: i32x8 = load.global.align4.stride4 p\n  \
                store.global.align4.stride8 p, v\n  ret";
    for (target, masked) in [(Target::avx2(), 2), (slow, 0)] {
        let code = listing_for(&target, text);
        assert_eq!(count(&code, "vpmaskmovd"), masked, "{code:?}");
        let stores = count(&code, "vpextrd") + count(&code, "vmovd dword");
        assert_eq!(stores, 4 * (2 - masked), "{code:?}");
    }
}

#[test]
fn slow_gathers_are_loads_of_each_lane() {
    let text = "block0(x: i64, p: ptr):\n  i: i32x8 = load.global.align4.stride4 p\n  \
                v: i32x8 = load.global.align4.sext4 p, i\n  \
                store.global.align4.stride4 p, v\n  ret";
    for target in [Target::avx2(), Target::avx512()] {
        let slow = Target {
            slow_gathers: true,
            ..target
        };
        for (target, gathers) in [(target, 1), (slow, 0)] {
            let code = listing_for(&target, text);
            assert_eq!(count(&code, "vpgather"), gathers, "{code:?}");
            let loads = count(&code, "vmovd ") + count(&code, "vpinsrd");
            assert_eq!(loads, 8 * (1 - gathers), "{code:?}");
        }
    }
}

#[test]
fn lanes_at_a_distance_are_accessed_one_by_one_where_that_is_faster() {
    let slow = Target {
        slow_gathers: true,
        slow_scatters: true,
        ..Target::avx512()
    };
    let text = "block0(x: i64, p: ptr):\n  v: i32x16 = load.global.align4.stride272 p\n  \
                store.global.align4.stride272 p, v\n  ret";
    for (target, each) in [(Target::avx512(), 2), (slow, 0)] {
        let code = listing_for(&target, text);
        assert_eq!(count(&code, "vpgather"), each, "{code:?}");
        assert_eq!(count(&code, "vpscatter"), each, "{code:?}");
        let lanes = 16 * (1 - each / 2);
        let loads = count(&code, "vmovd xmm") + count(&code, "vpinsrd");
        let stores = count(&code, "vmovd dword") + count(&code, "vpextrd");
        assert_eq!((loads, stores), (lanes, lanes), "{code:?}");
    }
}

#[test]
fn a_complement_is_part_of_what_it_is_combined_with() {
    let body = |ty: &str, load: &str| {
        format!(
            "block0(x: i64, p: ptr):\n  a: {ty} = load.global.align8{load} p\n  \
             b: {ty} = iadd a, a\n  n: {ty} = not b\n  c: {ty} = and a, n\n  \
             store.global.align8{load} p, c\n  ret"
        )
    };
    let vector = listing_for(&Target::avx2(), &body("i32x8", ".stride4"));
    assert_eq!(count(&vector, "vpandn"), 1, "{vector:?}");
    assert_eq!(count(&vector, "vpxor"), 0, "{vector:?}");
    let scalar = listing_for(&Target::avx2(), &body("i64", ""));
    assert_eq!(count(&scalar, "andn"), 1, "{scalar:?}");
    assert_eq!(count(&scalar, "not"), 0, "{scalar:?}");
}

#[test]
fn lanes_are_rotated_by_bytes() {
    let code = listing_for(
        &Target::avx2(),
        "block0(x: i64, p: ptr):\n  a: i32x8 = load.global.align4.stride4 p\n  \
         n: i32x8 = const 16\n  c: i32x8 = rotl a, n\n  \
         store.global.align4.stride4 p, c\n  ret",
    );
    assert_eq!(count(&code, "vpshufb"), 1, "{code:?}");
}

#[test]
fn what_is_spilled_is_an_operand_where_it_lies() {
    // Twenty vectors that are all wanted again in the order in which they were loaded.
    let mut text = String::from("block0(x: i64, p: ptr):\n");
    for n in 0..20 {
        text += &format!(
            "  o{n}: i64 = const {}\n  at{n}: ptr = ptr_add p, o{n}\n  \
             v{n}: i32x8 = load.global.align4.stride4 at{n}\n  \
             w{n}: i32x8 = iadd v{n}, v{n}\n",
            32 * n
        );
    }
    text += "  s0: i32x8 = isub w0, w19\n";
    for n in 1..20 {
        text += &format!("  s{n}: i32x8 = isub s{}, w{n}\n", n - 1);
    }
    let code = listing_for(
        &Target::avx2(),
        &(text + "  store.global.align4.stride4 p, s19\n  ret"),
    );
    let from_slot = |what: &str| {
        let lines = code.iter().filter(|line| line.starts_with(what));
        lines
            .filter(|line| line.contains(", ymmword ptr [rsp"))
            .count()
    };
    assert_ne!(from_slot("vpsubd"), 0, "{code:#?}");
    assert_eq!(from_slot("vmovaps"), 0, "{code:#?}");
}

/// The listing for a vector that is chosen, where a comparison holds, from `chosen`, of which the
/// last is `r`, or else from `b`.
fn blended(chosen: &str, kept: &str) -> Vec<String> {
    listing(&format!(
        "block0(x: i64, p: ptr):\n  a: f64x8 = load.global.align8.stride8 p\n  \
         eight: i64 = const 8\n  q: ptr = ptr_add p, eight\n  \
         b: f64x8 = load.global.align8.stride8 q\n  zero: f64x8 = const 0\n  \
         c: i1x8 = fcmp.olt a, b\n  {chosen}\n  d: f64x8 = select c, r, {kept}\n  \
         store.global.align8.stride8 p, d\n  ret"
    ))
}

#[test]
fn what_a_blend_chooses_is_computed_under_its_mask() {
    let has = |code: &[String], mnemonic: &str, what: &str| {
        code.iter()
            .any(|line| line.starts_with(mnemonic) && line.contains(what))
    };
    let sum = "r: f64x8 = fadd a, b";
    let merged = blended(sum, "b");
    assert_eq!(count(&merged, "vpblendm"), 0, "{merged:?}");
    assert!(has(&merged, "vaddpd", "{k"), "{merged:?}");
    let zeroed = blended(sum, "zero");
    assert!(has(&zeroed, "vaddpd", "{z}"), "{zeroed:?}");
    let addend = blended("r: f64x8 = fma a, b, b", "b");
    assert!(has(&addend, "vfmadd231pd", "{k"), "{addend:?}");
    // It has another user, or keeps lanes of what the instruction has no room for.
    let used = blended(&format!("{sum}\n  store.global.align8.stride8 q, r"), "b");
    assert_eq!(count(&used, "vpblendmq"), 1, "{used:?}");
    let product = blended("t: f64x8 = fmul a, a\n  r: f64x8 = fma a, b, t", "b");
    assert_eq!(count(&product, "vpblendmq"), 1, "{product:?}");
}

/// A switch with so many cases, each of which hands another constant to one block.
fn switch_of_constants(length: usize) -> Vec<String> {
    let (mut constants, mut cases) = (String::new(), Vec::new());
    for n in 0..length {
        constants += &format!("  c{n}: i64 = const {:#x}\n", 7 * n);
        cases.push(format!("{:#x}: block1(c{n})", 3 * n));
    }
    listing(&format!(
        "block0(x: i64, p: ptr):\n{constants}  switch x, default block1(x), {}\n\
         block1(r: i64):\n  store.global.align8 p, r\n  ret",
        cases.join(", ")
    ))
}

#[test]
fn constants_of_a_switchs_cases_are_made_where_the_cases_are() {
    let code = switch_of_constants(100);
    // No frame: nothing is kept in memory until it is known which case it is.
    assert_eq!(code[0], "block0:", "{code:?}");
    assert_eq!(count(&code, "mov qword ptr [rsp"), 0, "{code:?}");
}

#[test]
fn neighbouring_cases_of_a_switch_are_one_comparison() {
    let cases = |begin: u64| {
        let cases = (begin..begin + 100).map(|case| format!("{case:#x}: block1"));
        cases.collect::<Vec<_>>().join(", ")
    };
    let search = |begin| {
        listing(&format!(
            "block0(x: i64, p: ptr):\n  switch x, default block2, {}\n\
             block1:\n  store.global.align8 p, x\n  ret\nblock2:\n  ret",
            cases(begin)
        ))
    };
    for begin in [0, 1000, 1 << 40, u64::MAX - 100] {
        let code = search(begin);
        assert_eq!(count(&code, "cmp"), 1, "{code:?}");
        assert_eq!(count(&code, "sub"), usize::from(begin > 0), "{code:?}");
    }
}
