//! Translates SPIR-V modules (linked when several) and prints the IR, verified.

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let modules: Vec<Vec<u32>> = paths
        .iter()
        .map(|path| {
            std::fs::read(path)
                .expect("readable")
                .chunks_exact(4)
                .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
                .collect()
        })
        .collect();
    let slices: Vec<&[u32]> = modules.iter().map(Vec::as_slice).collect();
    let start = std::time::Instant::now();
    match brolga_compiler::spirv::translate(&slices, &Default::default(), &Default::default()) {
        Ok(module) => {
            eprintln!("{:?}", start.elapsed());
            println!("{module}");
            for kernel in &module.kernels {
                println!("; {:#?}", kernel.info);
            }
            if let Err(error) = brolga_compiler::ir::verify::verify_module(&module) {
                eprintln!("VERIFY: {error}");
                std::process::exit(2);
            }
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
