//! Prints the kernels of a SPIR-V module (`.spv`) or IR text (`.bir`) as they go to the vectorizer,
//! and how long preparing each took.

use std::time::Instant;

use brolga_compiler::transform::{self, Prepared};
use brolga_compiler::{ir, spirv};

fn main() {
    let path = std::env::args().nth(1).expect("the path of a module");
    let bytes = std::fs::read(&path).expect("a readable file");
    let module = if path.ends_with(".bir") {
        let text = String::from_utf8(bytes).expect("text");
        ir::parse::module(&text).unwrap_or_else(|e| panic!("{e}"))
    } else {
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect();
        spirv::translate(&[&words], &Default::default(), &Default::default())
            .unwrap_or_else(|e| panic!("{e}"))
    };
    for (index, kernel) in module.kernels.iter().enumerate() {
        let start = Instant::now();
        match transform::prepare_kernel(&module, index, &Default::default()) {
            Ok(Prepared {
                function: func,
                params,
                ..
            }) => {
                let time = start.elapsed();
                let insts: usize = func
                    .layout
                    .iter()
                    .map(|&b| func.blocks[b].insts.len())
                    .sum();
                println!("{func}; {params:?}");
                println!(
                    "; {} -> {insts} instructions, {} blocks, {time:?}",
                    module.functions[kernel.func].insts.len(),
                    func.layout.len()
                );
            }
            Err(error) => println!("; {error}"),
        }
    }
}
