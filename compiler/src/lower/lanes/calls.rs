//! Calls of functions of this process for each active lane, and of the launch's `printf`.

use std::mem::offset_of;

use brolga_mathlib::{Format, Routine};
use smallvec::smallvec;

use super::Expander;
use crate::abi::{Launch, PrintfScalar};
use crate::ir::{Arith, ConvertOp, HostFunction, Mem, Op, Rounding, Scalar, Type, Value};
use crate::kernel_info::AddressSpace;
use crate::lower::replay::Values;

/// How a `printf` argument of one lane is described to the sink.
fn printf_code(scalar: Scalar) -> u8 {
    let code = match scalar {
        Scalar::I1 | Scalar::I8 => PrintfScalar::I8,
        Scalar::I16 => PrintfScalar::I16,
        Scalar::I32 => PrintfScalar::I32,
        Scalar::I64 => PrintfScalar::I64,
        Scalar::F16 => PrintfScalar::F16,
        Scalar::F32 => PrintfScalar::F32,
        Scalar::F64 => PrintfScalar::F64,
        Scalar::Ptr => PrintfScalar::Pointer,
    };
    code as u8
}

impl Expander<'_, '_> {
    /// A call, and its result if it has one.
    pub(super) fn host_call(&mut self, function: HostFunction, args: &[Value]) -> Values {
        let result = function.signature().1.map(|scalar| Type::new(scalar, 1));
        let op = Op::HostCall(function);
        let inst = self.b.ins(op, args, result.as_slice());
        self.b.func.insts[inst].results.iter().copied().collect()
    }

    /// Of the lanes that a mask has; the others are those of `fast`.
    pub(super) fn routine(
        &mut self,
        routine: Routine,
        format: Format,
        args: &[Value],
        fast: Value,
        mask: Value,
    ) -> Value {
        let function = HostFunction::Routine(routine, format);
        let ty = self.b.ty(fast);
        match self.b.func.as_const(mask) {
            Some(0) => return fast,
            Some(_) => {
                return self.each_lane(args, None, &[ty], |e, args| e.host_call(function, args))[0];
            }
            None => {}
        }
        let any = match ty.lanes {
            1 => mask,
            _ => self.b.val(Op::AnyTrue, &[mask], Type::I1),
        };
        let merged = self.if_set_else(any, &[fast], |e| {
            if ty.lanes == 1 {
                return e.host_call(function, args);
            }
            let slow = e.each_set(args, mask, &[ty], |e, args| e.host_call(function, args));
            smallvec![e.b.select(mask, slow[0], fast)]
        });
        merged[0]
    }

    /// A function of all lanes that exists for both formats.
    pub(super) fn called(
        &mut self,
        function: fn(Format) -> HostFunction,
        args: &[Value],
        ty: Type,
    ) -> Value {
        let function = function(match ty.scalar {
            Scalar::F32 => Format::F32,
            _ => Format::F64,
        });
        self.each_lane_straight(args, None, &[ty], |e, args| e.host_call(function, args))[0]
    }

    /// Double-precision arithmetic that does not round to nearest.
    pub(super) fn rounded(
        &mut self,
        op: Arith,
        rounding: Rounding,
        args: &[Value],
        ty: Type,
    ) -> Value {
        debug_assert_eq!(ty.scalar, Scalar::F64, "`legalize` expands the others");
        let code = HostFunction::rounded_code(op, rounding);
        self.each_lane_straight(args, None, &[ty], |e, args| {
            let mut call: Values = smallvec![e.b.iconst(Type::I64, code)];
            call.extend_from_slice(args);
            call.resize_with(4, || e.b.iconst(Type::F64, 0));
            e.host_call(HostFunction::Rounded, &call)
        })[0]
    }

    pub(super) fn clock(&mut self) -> Value {
        self.host_call(HostFunction::Clock, &[])[0]
    }

    /// Copies bytes from one place to another, in words.
    pub(super) fn small_copy(&mut self, to: Value, from: Value, size: u64, mem: Mem) -> Values {
        let mut at = 0;
        for scalar in [Scalar::I64, Scalar::I32, Scalar::I16, Scalar::I8] {
            let bytes = u64::from(scalar.bytes());
            while size - at >= bytes {
                let known = 1 << at.trailing_zeros().min(31);
                let mem = Mem {
                    align: mem.align.min(known),
                    ..mem
                };
                let (to, from) = (self.offset(to, at), self.offset(from, at));
                let word = self.b.load(mem, from, Type::new(scalar, 1));
                self.b.store(mem, to, word);
                at += bytes;
            }
        }
        Values::new()
    }

    /// Copies bytes: `args` are where to, where from and how many.
    pub(super) fn mem_copy(&mut self, args: &[Value], mask: Option<Value>) -> Values {
        self.each_lane(args, mask, &[], |e, args| {
            e.host_call(HostFunction::MemMove, args)
        })
    }

    /// A pointer of the launch record.
    pub(super) fn launch_field(&mut self, offset: usize) -> Value {
        let launch = self.launch.expect("a kernel is given its launch");
        let at = self.offset(launch, offset as u64);
        self.b
            .load(Mem::new(AddressSpace::Constant, 8), at, Type::PTR)
    }

    /// Hands each active lane's arguments to the launch's sink; the result is 0. Every argument is
    /// described as one lane; vectors were split and are consumed lane by lane.
    pub(super) fn printf(&mut self, args: &[Value], mask: Option<Value>, result: Type) -> Value {
        let count = args.len() - 1;
        let types: Vec<u8> = args[1..]
            .iter()
            .flat_map(|&arg| [printf_code(self.b.ty(arg).scalar), 1])
            .collect();
        let described = self.memory(types.len().next_multiple_of(8) as u32);
        let values = self.memory(8 * count as u32);
        for (n, chunk) in types.chunks(8).enumerate() {
            let bits = chunk
                .iter()
                .rev()
                .fold(0, |bits, &b| bits << 8 | u64::from(b));
            let bits = self.b.iconst(Type::I64, bits);
            self.set_field(described, 8 * n as u64, bits);
        }
        // Lanes whose arguments are all the same print once each.
        let lanes = mask.map_or(result.lanes, |mask| self.b.ty(mask).lanes);
        self.each_lane_of(lanes, args, mask, &[], |e, args| {
            for (n, &arg) in args[1..].iter().enumerate() {
                let bits = e.as_bits(arg, Scalar::I64);
                e.set_field(values, 8 * n as u64, bits);
            }
            let sink = e.launch_field(offset_of!(Launch, printf));
            let context = e.launch_field(offset_of!(Launch, printf_context));
            let count = e.b.iconst(Type::I64, count as u64);
            let call = [sink, context, args[0], described, values, count];
            e.b.ins(Op::CallPointer, &call, &[]);
            Values::new()
        });
        self.b.iconst(result, 0)
    }

    /// An integer's low bits.
    pub(super) fn low_bits(&mut self, value: Value, to: Scalar) -> Value {
        match self.b.ty(value).scalar == to {
            true => value,
            false => self.b.convert(ConvertOp::Trunc, value, Type::new(to, 1)),
        }
    }
}
