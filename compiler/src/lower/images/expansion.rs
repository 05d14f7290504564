//! The numbers and the memory of code that is being made.

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};

use super::super::math::{FloatValue, IntValue, MaskValue, Sink};
use super::guarded::GuardedStore;
use crate::image::machine::{Machine, Outside, Unit, Words};
use crate::image::{Field, ImageDim};
use crate::ir::{BinOp, ConvertOp, Mem, Op, Rounding, Scalar, Type, Value, Wrap};
use crate::kernel_info::AddressSpace;

/// What an access to an image is expanded into, and where.
pub(super) struct Expansion<'s, 'e, 'f> {
    sink: &'s Sink<'e, 'f>,
    /// The image, and the memory that it is in.
    image: Value,
    space: AddressSpace,
    /// Which coordinates are the same for all work-items of a vector.
    uniform: [bool; 3],
    pub stores: Vec<GuardedStore>,
}

impl<'s, 'e, 'f> Expansion<'s, 'e, 'f> {
    pub fn new(
        sink: &'s Sink<'e, 'f>,
        image: Value,
        space: AddressSpace,
        coordinates: &[Value],
        uniform: &SecondaryMap<Value, bool>,
    ) -> Expansion<'s, 'e, 'f> {
        let mut known = [false; 3];
        for (known, &coordinate) in known.iter_mut().zip(coordinates) {
            *known = uniform[coordinate];
        }
        Expansion {
            sink,
            image,
            space,
            uniform: known,
            stores: Vec::new(),
        }
    }

    fn emit(&self, op: Op, args: &[Value], ty: Type) -> Value {
        self.sink.emitter.borrow_mut().emit(op, args, ty)
    }

    fn convert(&self, op: ConvertOp, value: Value, to: Scalar) -> Value {
        self.sink.emitter.borrow_mut().convert(op, value, to)
    }

    fn int_value(&self, value: Value) -> IntValue<'s> {
        IntValue::new(self.sink, value)
    }

    fn float_value(&self, value: Value) -> FloatValue<'s> {
        FloatValue::new(self.sink, value)
    }

    fn integers(&self, op: BinOp, a: IntValue<'s>, b: IntValue<'s>) -> IntValue<'s> {
        let op = Op::Binary(op, Wrap::default());
        self.int_value(self.emit(op, &[a.value(), b.value()], Type::I32))
    }

    fn floats(&self, op: BinOp, a: FloatValue<'s>, b: FloatValue<'s>) -> FloatValue<'s> {
        let op = Op::Binary(op, Wrap::default());
        self.float_value(self.emit(op, &[a.value(), b.value()], Type::F32))
    }

    /// The address of a texel that there is. Rows and planes that are the same for all work-items
    /// of a vector are found with 64 bits, of which there is one; what differs is an offset of 32
    /// bits, of which vectors hold more, from there. It does not wrap: the image is small.
    fn address(&self, dim: ImageDim, at: &[IntValue<'s>], unit: Unit) -> Value {
        const EXACT: Wrap = Wrap {
            nsw: true,
            nuw: true,
            strict: false,
        };
        let exactly = |op, a, b| {
            let ty = self.sink.emitter.borrow().ty(a);
            self.emit(Op::Binary(op, EXACT), &[a, b], ty)
        };
        let wide = |value| self.convert(ConvertOp::ZExt, value, Scalar::I64);
        let mut base = self.emit(Op::ImageQuery(Field::Data), &[self.image], Type::PTR);
        let mut offset: Option<Value> = None;
        for (n, &pitch) in dim.pitches().iter().enumerate() {
            let at = at[n + 1].value();
            let pitch = self.emit(Op::ImageQuery(pitch), &[self.image], Type::I32);
            if self.uniform[n + 1] {
                let bytes = exactly(BinOp::IMul, wide(at), wide(pitch));
                base = self.emit(Op::PtrAdd, &[base, bytes], Type::PTR);
            } else {
                let bytes = exactly(BinOp::IMul, at, pitch);
                offset = Some(match offset {
                    None => bytes,
                    Some(before) => exactly(BinOp::IAdd, before, bytes),
                });
            }
        }
        let size = (unit.bytes * unit.count) as u64;
        let offset = match offset {
            None => {
                let size = self.emit(Op::Const(size), &[], Type::I64);
                exactly(BinOp::IMul, wide(at[0].value()), size)
            }
            Some(before) => {
                let size = self.emit(Op::Const(size), &[], Type::I32);
                let bytes = exactly(BinOp::IMul, at[0].value(), size);
                wide(exactly(BinOp::IAdd, before, bytes))
            }
        };
        self.emit(Op::PtrAdd, &[base, offset], Type::PTR)
    }
}

/// The type of a word in memory.
fn word_type(unit: Unit) -> Type {
    match unit.bytes {
        1 => Type::I8,
        2 => Type::I16,
        _ => Type::I32,
    }
}

impl<'s> Machine for Expansion<'s, '_, '_> {
    type Float = FloatValue<'s>;
    type Int = IntValue<'s>;
    type Mask = MaskValue<'s>;

    fn float(&mut self, value: f32) -> FloatValue<'s> {
        self.float_value(self.emit(Op::Const(value.to_bits().into()), &[], Type::F32))
    }
    fn int(&mut self, bits: u32) -> IntValue<'s> {
        self.int_value(self.emit(Op::Const(bits.into()), &[], Type::I32))
    }
    fn umin(&mut self, a: IntValue<'s>, b: IntValue<'s>) -> IntValue<'s> {
        self.integers(BinOp::UMin, a, b)
    }
    fn smin(&mut self, a: IntValue<'s>, b: IntValue<'s>) -> IntValue<'s> {
        self.integers(BinOp::SMin, a, b)
    }
    fn smax(&mut self, a: IntValue<'s>, b: IntValue<'s>) -> IntValue<'s> {
        self.integers(BinOp::SMax, a, b)
    }
    fn fmin(&mut self, a: FloatValue<'s>, b: FloatValue<'s>) -> FloatValue<'s> {
        self.floats(BinOp::FMin, a, b)
    }
    fn fmax(&mut self, a: FloatValue<'s>, b: FloatValue<'s>) -> FloatValue<'s> {
        self.floats(BinOp::FMax, a, b)
    }
    fn to_signed(&mut self, value: FloatValue<'s>) -> IntValue<'s> {
        let op = Op::Convert(ConvertOp::FToS, Rounding::Zero);
        self.int_value(self.emit(op, &[value.value()], Type::I32))
    }
    fn signed_to_float(&mut self, value: IntValue<'s>) -> FloatValue<'s> {
        self.float_value(self.convert(ConvertOp::SToF, value.value(), Scalar::F32))
    }
    fn unsigned_to_float(&mut self, value: IntValue<'s>) -> FloatValue<'s> {
        self.float_value(self.convert(ConvertOp::UToF, value.value(), Scalar::F32))
    }
    fn half_to_float(&mut self, bits: IntValue<'s>) -> FloatValue<'s> {
        let bits = self.convert(ConvertOp::Trunc, bits.value(), Scalar::I16);
        let half = self.convert(ConvertOp::Bitcast, bits, Scalar::F16);
        self.float_value(self.convert(ConvertOp::FToF, half, Scalar::F32))
    }
    fn float_to_half(&mut self, value: FloatValue<'s>) -> IntValue<'s> {
        let half = self.convert(ConvertOp::FToF, value.value(), Scalar::F16);
        let bits = self.convert(ConvertOp::Bitcast, half, Scalar::I16);
        self.int_value(self.convert(ConvertOp::ZExt, bits, Scalar::I32))
    }
    fn field(&mut self, field: Field) -> IntValue<'s> {
        self.int_value(self.emit(Op::ImageQuery(field), &[self.image], Type::I32))
    }

    fn load(&mut self, dim: ImageDim, at: &[IntValue<'s>], unit: Unit) -> Words<Self> {
        let address = self.address(dim, at, unit);
        let types: SmallVec<[Type; 4]> = smallvec![word_type(unit); unit.count];
        let words: SmallVec<[Value; 4]> = {
            let mut e = self.sink.emitter.borrow_mut();
            let load = e.emit_all(Op::Load(Mem::new(self.space, 1)), &[address], &types);
            e.func.insts[load].results.iter().copied().collect()
        };
        let extended = words
            .iter()
            .map(|&word| self.int_value(self.convert(ConvertOp::ZExt, word, Scalar::I32)));
        extended.collect()
    }

    fn store(
        &mut self,
        dim: ImageDim,
        at: &[IntValue<'s>],
        outside: Outside<Self>,
        unit: Unit,
        words: &[IntValue<'s>],
    ) {
        let mut args: SmallVec<[Value; 5]> = smallvec![self.address(dim, at, unit)];
        let word = word_type(unit).scalar;
        args.extend(
            words
                .iter()
                .map(|&bits| self.convert(ConvertOp::Trunc, bits.value(), word)),
        );
        let mut e = self.sink.emitter.borrow_mut();
        let store = e.emit_all(Op::Store(Mem::new(self.space, 1)), &args, &[]);
        if let Some(outside) = outside {
            self.stores.push(GuardedStore {
                block: e.block,
                store,
                unless: outside.value(),
            });
        }
    }
}
