//! Every shape of memory access, at every type and lane count: generated code against a loop.
//!
//! A function loads elements in one shape and stores them dense, or the other way round. The loop
//! says which bytes must arrive where, and that no others change.

use brolga_compiler::ir::{Builder, Function, Mem, Op, Scalar, Type, Value};
use brolga_compiler::jit::Code;
use brolga_compiler::{AddressSpace, KernelFn, Launch, Target};
use brolga_compiler_testing::machine;
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

/// The operands, as one array: mask bytes, lane addresses, data.
const MASK: usize = 0;
const ADDRESSES: usize = 16;
const DATA: usize = 256;
const INPUT: usize = 8192;
const OUTPUT: usize = 8192;

/// How lanes' addresses are given.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// One address and the bytes from lane to lane.
    Strided(i64),
    /// An address a lane.
    Arbitrary,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    scalar: Scalar,
    lanes: u8,
    elements: usize,
    shape: Shape,
    masked: bool,
    store: bool,
}

impl Case {
    fn dense(self) -> Mem {
        let stride = if self.lanes == 1 {
            0
        } else {
            i64::from(self.scalar.bytes())
        };
        Mem {
            stride,
            ..Mem::new(AddressSpace::Global, 1)
        }
    }

    fn compile(self, target: &Target) -> Code {
        let mut func = Function::new("f", &[Type::PTR, Type::PTR, Type::I64, Type::I64], &[]);
        let entry = func.entry();
        let (input, output) = (func.params()[0], func.params()[1]);
        let mut b = Builder::new(&mut func, entry);
        let at = |b: &mut Builder<'_>, base: Value, offset: usize| {
            let offset = b.iconst(Type::I64, offset as u64);
            b.ptr_add(base, offset)
        };
        let ty = Type::new(self.scalar, self.lanes);
        let mask = self.masked.then(|| {
            let from = at(&mut b, input, MASK);
            let mem = Mem {
                stride: i64::from(self.lanes > 1),
                ..Mem::new(AddressSpace::Global, 1)
            };
            b.load(mem, from, Type::new(Scalar::I1, self.lanes))
        });
        let (near, far) = if self.store {
            (input, output)
        } else {
            (output, input)
        };
        let base = at(&mut b, far, DATA);
        let (address, stride) = match self.shape {
            Shape::Strided(stride) => (base, if self.lanes == 1 { 0 } else { stride }),
            Shape::Arbitrary => {
                let from = at(&mut b, input, ADDRESSES);
                let mem = Mem {
                    stride: if self.lanes > 1 { 8 } else { 0 },
                    ..Mem::new(AddressSpace::Global, 8)
                };
                let offsets = b.load(mem, from, Type::new(Scalar::I64, self.lanes));
                let base = b.splat(base, self.lanes);
                (b.ptr_add(base, offsets), 0)
            }
        };
        let mem = Mem {
            stride,
            masked: self.masked,
            ..Mem::new(AddressSpace::Global, 1)
        };
        let near_element =
            |k: usize| DATA + k * usize::from(self.lanes) * self.scalar.bytes() as usize;
        if self.store {
            let mut args = vec![address];
            for k in 0..self.elements {
                let from = at(&mut b, near, near_element(k));
                args.push(b.load(self.dense(), from, ty));
            }
            args.extend(mask);
            b.ins(Op::Store(mem), &args, &[]);
        } else {
            let args: Vec<Value> = [address].into_iter().chain(mask).collect();
            let inst = b.ins(Op::Load(mem), &args, &vec![ty; self.elements]);
            let values = b.func.insts[inst].results.clone();
            for (k, value) in values.into_iter().enumerate() {
                let to = at(&mut b, near, near_element(k));
                b.store(self.dense(), to, value);
            }
        }
        b.ret(&[]);
        machine::compile(func, target)
    }

    fn check(self, target: &Target, rng: &mut ChaCha8Rng) {
        let code = self.compile(target);
        // SAFETY: the function has this signature.
        let run: KernelFn = unsafe { std::mem::transmute(code.entry()) };
        let size = self.scalar.bytes() as usize;
        let lanes = usize::from(self.lanes);
        for round in 0..4 {
            let mut input = vec![0u8; INPUT];
            // Bytes of 0 and 1 are truth values and anything else's bits.
            let top = if self.scalar == Scalar::I1 { 2 } else { 256 };
            input[DATA..]
                .iter_mut()
                .for_each(|byte| *byte = rng.random_range(0..top) as u8);
            let mut mask = vec![true; lanes];
            if self.masked && round > 0 {
                mask.iter_mut().for_each(|bit| *bit = rng.random_bool(0.6));
            }
            for (l, &bit) in mask.iter().enumerate() {
                input[MASK + l] = u8::from(bit);
            }
            // Lanes apart, so that stores do not meet.
            let mut slots: Vec<i64> = (0..32).map(|i| i * (self.elements * size) as i64).collect();
            slots.shuffle(rng);
            let offsets: Vec<i64> = match self.shape {
                Shape::Strided(stride) => (0..lanes as i64).map(|l| l * stride).collect(),
                Shape::Arbitrary => slots[..lanes].to_vec(),
            };
            for (l, offset) in offsets.iter().enumerate() {
                input[ADDRESSES + 8 * l..][..8].copy_from_slice(&offset.to_le_bytes());
            }
            let mut output = vec![0xaau8; OUTPUT];
            let mut expected = output.clone();
            for (l, &offset) in offsets.iter().enumerate() {
                for k in 0..self.elements {
                    let near = DATA + (k * lanes + l) * size;
                    let far = (DATA as i64 + offset) as usize + k * size;
                    if self.store && mask[l] {
                        expected[far..far + size].copy_from_slice(&input[near..near + size]);
                    } else if !self.store {
                        let bytes = if mask[l] {
                            input[far..far + size].to_vec()
                        } else {
                            vec![0; size]
                        };
                        expected[near..near + size].copy_from_slice(&bytes);
                    }
                }
            }
            // SAFETY: the function reads and writes within these arrays.
            unsafe { run(input.as_ptr().cast::<Launch>(), output.as_mut_ptr(), 0, 0) };
            let differ = output.iter().zip(&expected).position(|(a, b)| a != b);
            assert!(
                differ.is_none(),
                "{self:?} for {target:?}, mask {mask:?}: byte {differ:?} differs"
            );
        }
    }
}

fn check_all(store: bool) {
    for target in machine::targets() {
        check_for(&target, store);
    }
}

fn check_for(target: &Target, store: bool) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for scalar in Scalar::ALL {
        for lanes in [1u8, 2, 4, 8, 16] {
            for elements in [1, 2, 3, 4, 8, 16] {
                let dense = i64::from(scalar.bytes()) * elements as i64;
                for shape in [
                    Shape::Strided(dense),
                    Shape::Strided(dense + i64::from(scalar.bytes())),
                    Shape::Strided(2 * dense),
                    Shape::Arbitrary,
                ] {
                    for masked in [false, true] {
                        Case {
                            scalar,
                            lanes,
                            elements,
                            shape,
                            masked,
                            store,
                        }
                        .check(target, &mut rng);
                    }
                }
            }
        }
    }
}

#[test]
fn loads() {
    check_all(false);
}

#[test]
fn stores() {
    check_all(true);
}
