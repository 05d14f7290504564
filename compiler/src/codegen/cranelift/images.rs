//! Images: `crate::image`, called for each active lane.

use std::convert::Infallible;

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};

use super::lanes::{LaneOperand, Spilled};
use super::parts::{Parts, Repr, lane_type};
use super::values::Gen;
use crate::image::{At, Component, Descriptor, Field, ImageDim, Sampler, Texels, read, write};
use crate::ir::{Image, Inst, Scalar, Type, Value};

/// What null pointers to images point to.
static NO_IMAGE: Descriptor = Descriptor::NONE;

/// Memory of the process.
struct Process;

impl Texels for Process {
    type Error = Infallible;

    fn fetch(&mut self, address: u64, to: &mut [u8]) -> Result<(), Infallible> {
        // SAFETY: the address is of a texel inside an image that whoever runs the kernel described,
        // and lives meanwhile.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn put(&mut self, address: u64, from: &[u8]) -> Result<(), Infallible> {
        // SAFETY: as above; the image is one that the kernel may write.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, from.len()) };
        Ok(())
    }
}

/// How a texel is accessed, as the lower half of the number that [`read_texel`] and [`write_texel`]
/// take.
fn code(image: Image, floats: bool) -> u32 {
    image.dim as u32 | (image.component as u32) << 8 | u32::from(floats) << 16
}

fn dim_and_component(how: u64) -> (ImageDim, Component) {
    (
        ImageDim::ALL[how as usize & 0xff],
        Component::ALL[(how >> 8) as usize & 0xff],
    )
}

/// Reads the texel at coordinates, given as bits. The upper half of `how` is the sampler.
///
/// # Safety
/// `image` is null or a descriptor of memory that is there; `to` is writable.
unsafe extern "C" fn read_texel(
    image: *const Descriptor,
    how: u64,
    x: u32,
    y: u32,
    z: u32,
    to: *mut [u32; 4],
) {
    let (dim, component) = dim_and_component(how);
    let at = [x, y, z];
    let at = if how >> 16 & 1 != 0 {
        At::Float(at.map(f32::from_bits))
    } else {
        At::Int(at.map(|bits| bits as i32))
    };
    let sampler = Sampler::from_bits((how >> 32) as u32);
    // SAFETY: as above.
    let image = unsafe { image.as_ref() }.unwrap_or(&NO_IMAGE);
    let Ok(color) = read(&mut Process, image, dim, component, sampler, at);
    // SAFETY: as above.
    unsafe { *to = color };
}

/// Writes the texel at coordinates.
///
/// # Safety
/// `image` is null or a descriptor of memory that is there and may be written; `from` is readable.
unsafe extern "C" fn write_texel(
    image: *const Descriptor,
    how: u64,
    x: i32,
    y: i32,
    z: i32,
    from: *const [u32; 4],
) {
    let (dim, component) = dim_and_component(how);
    // SAFETY: as above.
    let (image, color) = unsafe { (image.as_ref().unwrap_or(&NO_IMAGE), *from) };
    let Ok(()) = write(&mut Process, image, dim, component, [x, y, z], color);
}

/// The operands of a call for a texel, for any lane.
struct Call {
    image: LaneOperand,
    sampler: Option<LaneOperand>,
    coordinates: Vec<LaneOperand>,
    how: u32,
    /// Where the components are while the function runs.
    slot: clif::StackSlot,
}

impl Gen<'_> {
    /// Gets ready to call for texels, `args` being the image, perhaps a sampler, and coordinates.
    fn texel_call(&mut self, image: Image, args: &[Value]) -> Call {
        let (head, coordinates) = args.split_at(args.len() - image.dim.coordinates());
        let floats = self.func.ty(coordinates[0]).scalar == Scalar::F32;
        Call {
            image: self.spill(head[0]),
            sampler: head.get(1).map(|&sampler| self.spill(sampler)),
            coordinates: coordinates.iter().map(|&value| self.spill(value)).collect(),
            how: code(image, floats),
            slot: self.stack_slot(16),
        }
    }

    /// Calls for one lane.
    fn call_texel(&mut self, function: usize, call: &Call, lane: clif::Value) {
        let how = self.b.ins().iconst(types::I64, i64::from(call.how));
        let how = match call.sampler {
            Some(sampler) => {
                let sampler = self.operand(sampler, lane);
                let sampler = self.b.ins().uextend(types::I64, sampler);
                let sampler = self.b.ins().ishl_imm_u(sampler, 32);
                self.b.ins().bor(sampler, how)
            }
            None => how,
        };
        let mut args = vec![self.operand(call.image, lane), how];
        for n in 0..3 {
            args.push(match call.coordinates.get(n) {
                Some(&at) => {
                    let at = self.operand(at, lane);
                    if self.b.func.dfg.value_type(at) == types::I32 {
                        at
                    } else {
                        let flags = clif::MemFlagsData::new();
                        self.b.ins().bitcast(types::I32, flags, at)
                    }
                }
                None => self.b.ins().iconst(types::I32, 0),
            });
        }
        args.push(self.b.ins().stack_addr(types::I64, call.slot, 0));
        self.call(function, &args, None);
    }

    /// The component `n` of the texel that was read last.
    fn component(&mut self, call: &Call, n: usize, ty: clif::Type) -> clif::Value {
        let at = 4 * n as i32;
        self.b.ins().stack_load(types::I64, ty, call.slot, at)
    }

    pub fn image_read(&mut self, image: Image, inst: Inst) {
        let data = &self.func.insts[inst];
        let (args, results) = (data.args.clone(), data.results.clone());
        let operands = 2 + image.dim.coordinates();
        let mask = image.masked.then(|| args[operands]);
        let ty = self.func.ty(results[0]);
        let lane_ty = lane_type(ty.scalar);
        let function = read_texel as *const () as usize;
        let call = self.texel_call(image, &args[..operands]);
        let first = self.b.ins().iconst(types::I64, 0);
        if ty.lanes == 1 {
            let body = |g: &mut Self| -> Vec<clif::Value> {
                g.call_texel(function, &call, first);
                (0..results.len())
                    .map(|n| g.component(&call, n, lane_ty))
                    .collect()
            };
            let values = match mask {
                None => body(self),
                Some(mask) => {
                    let mask = self.scalar(mask);
                    self.if_set(mask, &vec![lane_ty; results.len()], body)
                }
            };
            for (&result, value) in results.iter().zip(values) {
                self.values[result] = Repr::Scalar(value);
            }
            return;
        }
        let bits = self.active_bits(mask, ty.lanes);
        let arrays: Vec<Spilled> = results.iter().map(|_| self.result_array(ty)).collect();
        self.for_set_bits(bits, |g, lane| {
            g.call_texel(function, &call, lane);
            for (n, &array) in arrays.iter().enumerate() {
                let value = g.component(&call, n, lane_ty);
                g.set_result(array, lane, value);
            }
        });
        for (&result, &array) in results.iter().zip(&arrays) {
            let parts: Parts = self.reload(array, ty);
            self.values[result] = Repr::Vector(parts);
        }
    }

    pub fn image_write(&mut self, image: Image, args: &[Value]) {
        let lanes = args.iter().map(|&arg| self.func.ty(arg).lanes).max();
        let (args, mask) = match args.split_last() {
            Some((&mask, rest)) if image.masked => (rest, Some(mask)),
            _ => (args, None),
        };
        let (place, components) = args.split_at(1 + image.dim.coordinates());
        let function = write_texel as *const () as usize;
        let call = self.texel_call(image, place);
        let components: Vec<LaneOperand> = components.iter().map(|&c| self.spill(c)).collect();
        let bits = self.active_bits(mask, lanes.unwrap_or(1));
        self.for_set_bits(bits, |g, lane| {
            for n in 0..4 {
                let value = match components.get(n) {
                    Some(&component) => {
                        let value = g.operand(component, lane);
                        match g.b.func.dfg.value_type(value) {
                            types::I16 => g.b.ins().uextend(types::I32, value),
                            _ => value,
                        }
                    }
                    None => g.b.ins().iconst(types::I32, 0),
                };
                g.b.ins()
                    .stack_store(types::I64, value, call.slot, 4 * n as i32);
            }
            g.call_texel(function, &call, lane);
        });
    }

    /// A field of the descriptor of each lane's image.
    pub fn image_query(&mut self, field: Field, image: Value, ty: Type) -> Repr {
        let nothing = &raw const NO_IMAGE as i64;
        let lanes: Vec<clif::Value> = (0..ty.lanes)
            .map(|l| {
                let image = self.lane(image, l);
                let none = self.b.ins().icmp_imm_u(IntCC::Equal, image, 0);
                let nothing = self.b.ins().iconst(types::I64, nothing);
                let image = self.b.ins().select(none, nothing, image);
                let flags = clif::MemFlagsData::trusted();
                let answer = lane_type(ty.scalar);
                self.b
                    .ins()
                    .load(answer, flags, image, field.offset() as i32)
            })
            .collect();
        self.build(ty, &lanes)
    }
}
