use brolga_compiler::ir::interp::*;
use brolga_compiler::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let pattern: u32 = args.next().unwrap().parse().unwrap();
    let mut first: Vec<(String, Vec<(String, Vec<u8>)>, String)> = Vec::new();
    for path in args {
        let words: Vec<u32> = std::fs::read(&path)
            .unwrap()
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect();
        if words.is_empty() {
            continue;
        }
        let module = match spirv::translate(&[&words], &Default::default(), &Default::default()) {
            Ok(m) => m,
            Err(_) => {
                continue;
            }
        };
        let mut outs = Vec::new();
        let mut pf = String::new();
        for (ki, k) in module.kernels.iter().enumerate() {
            let mut mem = Memory::new();
            let mut block = vec![0u8; k.info.args_size as usize + 64];
            let mut ids = Vec::new();
            let mut local = k.info.local_mem_size.next_multiple_of(128);
            for (ai, a) in k.info.args.iter().enumerate() {
                let o = a.offset as usize;
                match a.kind {
                    ArgKind::Pointer(AddressSpace::Local) => {
                        block[o..o + 8].copy_from_slice(&local.to_le_bytes());
                        local += 8192;
                    }
                    ArgKind::Pointer(_) => {
                        let n = 1 << 16;
                        let bytes: Vec<u8> = match pattern {
                            0 => (0..n / 4)
                                .flat_map(|i: u32| ((i * 7 + ai as u32) % 5).to_le_bytes())
                                .collect(),
                            1 => (0..n / 4)
                                .flat_map(|i: u32| {
                                    ((((i * 37 + ai as u32 * 11) % 101) as f32) * 0.37 - 11.0)
                                        .to_le_bytes()
                                })
                                .collect(),
                            _ => (0..n)
                                .map(|i: u32| {
                                    (i.wrapping_mul(2654435761 + ai as u32 * 2) >> 13) as u8
                                })
                                .collect(),
                        };
                        let id = mem.add(&format!("arg{ai}"), bytes, 4096);
                        block[o..o + 8].copy_from_slice(&mem.base(id).to_le_bytes());
                        ids.push((format!("k{ki}.arg{ai}"), id));
                    }
                    _ => {
                        // small ints
                        let v = if a.size == 4 || a.size == 8 || a.size == 1 {
                            vec![3u8]
                        } else {
                            (0..a.size)
                                .map(|i| if i % 4 == 3 { 0x3f } else { i as u8 & 0x80 })
                                .collect()
                        };
                        block[o..o + v.len()].copy_from_slice(&v);
                    }
                }
            }
            let mut it = Interpreter::new(
                &module,
                mem,
                Options {
                    budget: 50_000_000,
                    checked: false,
                },
            );
            let ls = k
                .info
                .required_work_group_size
                .unwrap_or([16, 1, 1])
                .map(u64::from);
            let l = Launch {
                range: NdRange {
                    work_dim: 2,
                    global_offset: [0; 3],
                    global_size: [ls[0] * 2, ls[1] * 2, ls[2]],
                    local_size: ls,
                },
                args: &block,
                local_mem_size: local,
                sub_group_size: 4,
            };
            let r = it.run(ki, &l);
            if let Err(e) = r {
                outs.push((format!("k{ki}.err {e}"), vec![]));
                continue;
            }
            for (n, id) in ids {
                outs.push((n, it.memory.bytes(id).to_vec()));
            }
            for p in &it.printf {
                pf += &format!(
                    "{:?} {:?}\n",
                    String::from_utf8_lossy(&p.format),
                    p.args
                        .iter()
                        .map(|a| (
                            a.ty,
                            if a.ty.scalar == ir::Scalar::Ptr {
                                Default::default()
                            } else {
                                a.lanes.clone()
                            },
                            a.string.clone()
                        ))
                        .collect::<Vec<_>>()
                );
            }
        }
        first.push((path, outs, pf));
    }
    if first.is_empty() {
        return;
    }
    let base = &first[0];
    for o in &base.1 {
        if o.1.is_empty() {
            println!("   {} {}", base.0, o.0);
        }
    }
    for other in &first[1..] {
        if base.2 != other.2 {
            println!(
                "   printf differs {}\n{}\n{}",
                other.0,
                base.2.lines().take(3).collect::<Vec<_>>().join("\n"),
                other.2.lines().take(3).collect::<Vec<_>>().join("\n")
            );
        }
        for (a, b) in base.1.iter().zip(&other.1) {
            if a.1 == b.1 {
                continue;
            }
            if a.1.is_empty() || b.1.is_empty() {
                println!("   {} {} vs {} {}", base.0, a.0, other.0, b.0);
                continue;
            }
            let f =
                |x: &[u8], i: usize| f32::from_le_bytes(x[i * 4..i * 4 + 4].try_into().unwrap());
            let diffs: Vec<usize> = (0..a.1.len() / 4)
                .filter(|&i| {
                    let (p, q) = (f(&a.1, i), f(&b.1, i));
                    p.to_bits() != q.to_bits()
                        && !((p - q).abs() <= 1e-4 * p.abs().max(q.abs()))
                        && !(p.is_nan() && q.is_nan())
                })
                .collect();
            if std::env::var("MOD").is_ok() {
                let mut m: Vec<usize> = diffs
                    .iter()
                    .map(|d| d % std::env::var("MOD").unwrap().parse::<usize>().unwrap())
                    .collect();
                m.sort();
                m.dedup();
                println!("{m:?}");
            }
            if let Some(&d) = diffs.first() {
                println!(
                    "   {} {} vs {}: {} words differ, first {} : {:08x} ({}) vs {:08x} ({})",
                    a.0,
                    base.0,
                    other.0,
                    diffs.len(),
                    d,
                    f(&a.1, d).to_bits(),
                    f(&a.1, d),
                    f(&b.1, d).to_bits(),
                    f(&b.1, d)
                );
            }
        }
    }
}
