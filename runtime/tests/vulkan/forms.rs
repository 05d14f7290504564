//! Forms that compilers of OpenCL C for Vulkan give what kernels do: the results are the source's.

use super::*;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn sub_groups_compute_together() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_sub_groups.spvasm");
    let program = built(&context, text, "1.1");
    let kernel = program.kernel("groups").unwrap();
    let items = 64;
    let out = buffer(&context, &vec![0; 32 * items]);
    kernel.set_arg_buffer(0, Some(&out)).unwrap();
    launch(&queue, &kernel, items, 32);
    let found = words(&queue, &out);
    let rows: Vec<&[u32]> = found.chunks(32).collect();
    let value = |i: usize| (i * i + 3) as u32;
    for (i, row) in rows.iter().enumerate() {
        let &[size, number, count, lane, ..] = *row else {
            unreachable!()
        };
        let first = i - lane as usize;
        let group: Vec<usize> = (first..first + size as usize).collect();
        assert_eq!(number * size + lane, i as u32 % 32);
        assert_eq!(count * size, 32);
        let values: Vec<u32> = group.iter().map(|&i| value(i)).collect();
        let lane = lane as usize;
        let sum = |values: &[u32]| values.iter().sum::<u32>();
        let odd = |i: usize| i % 2 == 1;
        let ballot: u32 = (0..size)
            .filter(|&l| odd(first + l as usize))
            .map(|l| 1 << l)
            .sum();
        let below = (1u32 << lane) - 1;
        let all = values.iter().all(|&value| value == values[0]);
        let same = group.iter().all(|&i| odd(i));
        let neighbour = values.get(lane ^ 1).copied();
        let mut expected = vec![
            u32::from(lane == 0),
            u32::from(same),
            u32::from(group.iter().any(|&i| odd(i))),
            u32::from(all),
            values.get(1).copied().unwrap_or(row[8]),
            values[0],
            ballot,
            u32::from(odd(i)),
            u32::from(ballot & 2 != 0),
            ballot.count_ones(),
            (ballot & (below << 1 | 1)).count_ones(),
            (ballot & below).count_ones(),
            ballot.trailing_zeros(),
            31 - ballot.leading_zeros(),
            neighbour.unwrap_or(row[18]),
            neighbour.unwrap_or(row[19]),
            sum(&values),
            sum(&values[..=lane]),
            sum(&values[..lane]),
            sum(&values),
        ];
        let (least, most) = (values[0], values[values.len() - 1]);
        expected.extend([least, most, least, most]);
        expected.push(values[(lane + 1) % values.len()]);
        let whole = u32::MAX >> (32 - size);
        expected.extend([1 << lane, !below & whole, below]);
        assert_eq!(row[4..], expected, "work-item {i}");
    }
}

#[test]
fn integers_are_those_of_the_source() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_integers.spvasm");
    let program = built(&context, text, "1.2");
    let kernel = program.kernel("numbers").unwrap();
    let (a, b) = ([0xf1u8, 0x02, 0x83, 0x7f], [0x05u8, 0xfe, 0x80, 0x10]);
    let (pa, pb) = (u32::from_le_bytes(a), u32::from_le_bytes(b));
    let of_a = buffer(&context, &[pa, 0]);
    let of_b = buffer(&context, &[pb]);
    let shorts = buffer(&context, &[0x0123_8001, 0]);
    let out = buffer(&context, &[0; 29]);
    let pairs = buffer(&context, &[0; 4]);
    let arguments = [&of_a, &of_b, &shorts, &out, &pairs];
    for (index, argument) in (0..).zip(arguments) {
        kernel.set_arg_buffer(index, Some(argument)).unwrap();
    }
    launch(&queue, &kernel, 1, 1);
    let dot = |a_signed: bool, b_signed: bool| -> i32 {
        let number = |byte: u8, signed| match signed {
            true => i32::from(byte as i8),
            false => i32::from(byte),
        };
        let products = a.iter().zip(&b);
        products
            .map(|(&a, &b)| number(a, a_signed) * number(b, b_signed))
            .sum()
    };
    let (s, u, su) = (dot(true, true), dot(false, false), dot(true, false));
    let saturated = |dot: i32| i32::MAX.saturating_add(dot) as u32;
    let unsigned = (i32::MAX as u32).saturating_add(u as u32);
    let wide = u64::from(pa) * u64::from(pb);
    let signed = i64::from(pa as i32) * i64::from(pb as i32);
    let (carry, borrow) = (pa.overflowing_add(pb), pa.overflowing_sub(pb));
    let square = u64::from(pa) * u64::from(pa);
    let expected = [
        s as u32,
        s as u32,
        u as u32,
        u as u32,
        su as u32,
        su as u32,
        saturated(s),
        saturated(s),
        unsigned,
        unsigned,
        saturated(su),
        saturated(su),
        wide as u32,
        (wide >> 32) as u32,
        signed as u32,
        (signed >> 32) as u32,
        carry.0,
        u32::from(carry.1),
        borrow.0,
        u32::from(borrow.1),
        pa.count_ones(),
        pa.reverse_bits(),
        pa >> 4 & 0xff,
        i32::from((pa >> 8) as i8) as u32,
        pa & !0xf00 | (pb & 0xf) << 8,
        0xffff_8001,
        0x8001,
        (square >> 32) as u32,
        pa % pb,
    ];
    assert_eq!(words(&queue, &out), expected);
    let sums: [u8; 4] = std::array::from_fn(|i| a[i].wrapping_add(b[i]));
    assert_eq!(words(&queue, &of_a), [pa, u32::from_le_bytes(sums)]);
    assert_eq!(words(&queue, &shorts), [0x0123_8001, 0x8124]);
    assert_eq!(words(&queue, &pairs), [0, 0, 5, 6]);
}

#[test]
fn pointers_are_chosen_and_compared() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_pointers.spvasm");
    let program = built(&context, text, "1.2");
    let kernel = program.kernel("walk").unwrap();
    let a: Vec<u32> = (0..10).map(|i| 10 + i).collect();
    let b: Vec<u32> = (0..10).map(|i| 100 + i).collect();
    let (of_a, of_b) = (buffer(&context, &a), buffer(&context, &b));
    kernel.set_arg_buffer(0, Some(&of_a)).unwrap();
    kernel.set_arg_buffer(1, Some(&of_b)).unwrap();
    kernel.set_arg_local(3, 16).unwrap();
    for n in [3u32, 7] {
        let out = buffer(&context, &[9; 6]);
        kernel.set_arg_buffer(2, Some(&out)).unwrap();
        kernel.set_arg_value(4, &n.to_le_bytes()).unwrap();
        launch(&queue, &kernel, 1, 1);
        // The second of each, the sum of the first n.
        let (chosen, local) = if n > 4 { (&a, 8) } else { (&b, 9) };
        let local = if n > 4 { local } else { 10 - 1 };
        let picked = chosen[1] + if n > 4 { 8 } else { local };
        let sum = chosen[..n as usize].iter().sum();
        let expected = [picked, sum, n, u32::from(n > 4), 0, 2];
        assert_eq!(words(&queue, &out), expected, "{n}");
    }
}

#[test]
fn atomic_operations_are_of_all_work_items() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_atomics.spvasm");
    let program = built(&context, text, "1.1");
    let kernel = program.kernel("add").unwrap();
    let before = [0, 100, 0, 0, !0, 50, 0, 50, 0, 0, 100, 99, 50, 0];
    let data = buffer(&context, &before);
    kernel.set_arg_buffer(0, Some(&data)).unwrap();
    launch(&queue, &kernel, 32, 8);
    let found = words(&queue, &data);
    let last = found[12];
    let least = -28i32 as u32;
    // Each of the 8 work-items of a group adds what they all counted to.
    let expected = [496, 68, !0, 0, 0, least, 31, 0, 31, 32, 68, 99, last, 256];
    assert_eq!(found, expected);
    assert!(last < 32);
}

#[test]
fn values_of_all_kinds_are_in_a_uniform_block() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_uniforms.spvasm");
    let program = built(&context, text, "1.2");
    let kernel = program.kernel("mix").unwrap();
    let info = kernel.info();
    let constant = ArgKind::Pointer(AddressSpace::Constant);
    assert_eq!(info.args[0].kind, constant);
    let sizes: Vec<u32> = info.args[1..6].iter().map(|arg| arg.size).collect();
    assert_eq!(sizes, [1, 2, 8, 16, 50]);
    let table: Vec<f32> = (0..16).map(|i| i as f32).collect();
    let (table, out) = (of_floats(&context, &table), of_floats(&context, &[0.0; 8]));
    kernel.set_arg_buffer(0, Some(&table)).unwrap();
    kernel.set_arg_value(1, &[0xfd]).unwrap();
    kernel.set_arg_value(2, &0x3e00u16.to_le_bytes()).unwrap();
    kernel
        .set_arg_value(3, &(1u64 << 40).to_le_bytes())
        .unwrap();
    let vector = [1.0f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat();
    kernel.set_arg_value(4, &vector).unwrap();
    // The record of the source, as the block has it.
    let mut record = vec![0u8; 50];
    record[0] = 0xff;
    record[16..28].copy_from_slice(&[5.0f32, 6.0, 7.0].map(f32::to_le_bytes).concat());
    record[48..].copy_from_slice(&(-300i16).to_le_bytes());
    kernel.set_arg_value(5, &record).unwrap();
    kernel.set_arg_buffer(6, Some(&out)).unwrap();
    launch(&queue, &kernel, 1, 1);
    let expected = [-3.0, 1.5, (1u64 << 40) as f32, 3.0, -1.0, 6.0, -300.0, 15.0];
    assert_eq!(floats(&queue, &out), expected);
}

/// The tools are older than untyped pointers.
#[test]
fn pointers_have_no_types() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_untyped.spvasm");
    let program = built_of(&context, &module(text, "1.2", false));
    let kernel = program.kernel("swap").unwrap();
    let data = buffer(&context, &(0..20).collect::<Vec<u32>>());
    kernel.set_arg_buffer(0, Some(&data)).unwrap();
    kernel.set_arg_local(1, 16).unwrap();
    kernel.set_arg_value(2, &2u32.to_le_bytes()).unwrap();
    kernel
        .set_arg_value(3, &bytes(&[100, 200, 300, 400]))
        .unwrap();
    launch(&queue, &kernel, 1, 1);
    let mut expected: Vec<u32> = (0..20).collect();
    let third = [108, 209, 310, 411];
    expected[8..12].copy_from_slice(&third);
    expected[12..16].copy_from_slice(&third);
    expected[..2].copy_from_slice(&[9 + 5, 5]);
    assert_eq!(words(&queue, &data), expected);
}

#[test]
fn the_rest_of_the_core_is_what_it_says() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_core.spvasm");
    let program = built(&context, text, "1.1");
    let kernel = program.kernel("rest").unwrap();
    let numbers = [f32::NAN, 1.0, f32::INFINITY, -1.0, -7.5, 2.2, 30.0, 40.0];
    let (input, out) = (of_floats(&context, &numbers), buffer(&context, &[0; 16]));
    let index = buffer(&context, &[2]);
    for (at, argument) in [(0, &input), (1, &out), (2, &index)] {
        kernel.set_arg_buffer(at, Some(argument)).unwrap();
    }
    launch(&queue, &kernel, 1, 1);
    let (a, b) = (-7.5f32, 2.2f32);
    let bits = f32::to_bits;
    let floor = a - b * (a / b).floor();
    let expected = [
        1,
        0,
        1,
        1,
        1,
        bits(30.0),
        bits(1.5),
        bits(40.0),
        bits(a % b),
        bits(floor),
        // The nearest half.
        bits(2.199_218_8),
        5,
        10,
        7,
        5,
        1,
    ];
    let found = words(&queue, &out);
    let near = |found: u32, expected: f32| (f32::from_bits(found) - expected).abs() < 1e-5;
    assert!(near(found[9], floor), "{}", f32::from_bits(found[9]));
    assert_eq!(
        (&found[..9], &found[10..]),
        (&expected[..9], &expected[10..])
    );
}
