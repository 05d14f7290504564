//! Calls of functions that stay functions, as [`crate::calls`] says: arguments stored, a call by
//! address, results loaded.
//!
//! All calls of a function share one area, whose size is that of the largest. Cost: linear.

use std::collections::BTreeMap;

use super::replay::{Values, replay};
use crate::calls::{Layout, Versions, stored};
use crate::ir::{
    Argument, BinOp, Builder, Callee, ConvertOp, FuncId, Function, InstData, IntCC, Mem, Op,
    Scalar, SourceLoc, Type, Value,
};
use crate::kernel_info::AddressSpace;

/// Expands the calls of a function at [`Stage::Vectorized`](crate::ir::Stage), whose first
/// parameters are the launch and scratch memory. `functions` are those that are called, for one
/// work-item.
pub fn run(func: &mut Function, functions: &BTreeMap<FuncId, Function>, versions: &mut Versions) {
    if functions.is_empty() {
        return;
    }
    let area = func.make_inst(
        Op::Alloca {
            size: 0,
            align: Layout::ALIGN,
            interleaving: None,
        },
        &[],
        &[Type::PTR],
        SourceLoc::default(),
    );
    let mut most = None;
    let is_call = |_: &Function, data: &InstData| matches!(data.op, Op::CallFunction(_));
    replay(func, is_call, |b, _, data| {
        let Op::CallFunction(callee) = &data.op else {
            unreachable!("a call")
        };
        let called = &functions[&callee.function];
        let (number, version) = versions.request(callee);
        let params = called.params().iter().map(|&param| called.ty(param));
        let layout = Layout::new(version, params, called.results.iter().copied());
        most = most.max(Some(layout.size));
        let mut call = Call {
            area: b.func.insts[area].results[0],
            b,
            layout,
            lanes: callee.lanes,
        };
        call.arguments(callee, version, &data.args);
        call.call(number);
        call.results(&called.results)
    });
    if let (Op::Alloca { size, .. }, Some(most)) = (&mut func.insts[area].op, most) {
        *size = most;
        let entry = func.entry();
        func.blocks[entry].insts.insert(0, area);
    }
}

/// A call being expanded.
struct Call<'c, 'f> {
    b: &'c mut Builder<'f>,
    area: Value,
    layout: Layout,
    lanes: u8,
}

impl Call<'_, '_> {
    fn address(&mut self, offset: u32) -> Value {
        let offset = self.b.iconst(Type::I64, offset.into());
        self.b.ptr_add(self.area, offset)
    }

    /// How values of a type are stored and loaded.
    fn mem(ty: Type) -> Mem {
        Mem {
            stride: match ty.lanes {
                1 => 0,
                _ => ty.scalar.bytes().into(),
            },
            ..Mem::new(AddressSpace::Private, Layout::align(ty.scalar, ty.lanes))
        }
    }

    fn store(&mut self, offset: u32, value: Value) {
        let ty = self.b.ty(value);
        let value = match ty.scalar {
            Scalar::I1 => self
                .b
                .convert(ConvertOp::ZExt, value, ty.with_scalar(Scalar::I8)),
            _ => value,
        };
        let ty = self.b.ty(value);
        let address = self.address(offset);
        self.b.store(Self::mem(ty), address, value);
    }

    /// Stores what a call has as what the code takes.
    fn arguments(&mut self, has: &Callee, takes: &Callee, args: &[Value]) {
        let places = self.layout.params.clone();
        for (n, (&arg, place)) in args.iter().zip(places).enumerate() {
            let value = match (has.argument(n), takes.argument(n)) {
                (Argument::Uniform, Argument::Varying) => self.b.splat(arg, self.lanes),
                (Argument::Affine(stride), Argument::Varying) => self.spread(arg, stride),
                _ => arg,
            };
            self.store(place, value);
        }
        if let Some(offset) = self.layout.mask {
            let ty = Type::new(Scalar::I1, self.lanes);
            let mask = match has.masked {
                true => args[args.len() - 1],
                false => self.b.iconst(ty, 1),
            };
            self.store(offset, mask);
        }
    }

    /// All lanes of a value that grows by a stride.
    fn spread(&mut self, first: Value, stride: i64) -> Value {
        let all = self.b.splat(first, self.lanes);
        let ty = self.b.ty(all);
        let int = ty.with_scalar(ty.scalar.as_int());
        let lanes = self.b.val(Op::LaneIds, &[], int);
        let offsets = self.b.binary_imm(BinOp::IMul, lanes, stride as u64);
        match ty.scalar {
            Scalar::Ptr => self.b.ptr_add(all, offsets),
            _ => self.b.binary(BinOp::IAdd, all, offsets),
        }
    }

    fn call(&mut self, number: u32) {
        let [launch, scratch] = [0, 1].map(|n| self.b.func.params()[n]);
        let address = self.b.val(Op::FuncAddr(number), &[], Type::PTR);
        let args = [address, launch, scratch, self.area];
        self.b.ins(Op::CallPointer, &args, &[]);
    }

    fn results(&mut self, types: &[Type]) -> Values {
        let places = self.layout.results.clone();
        (types.iter().zip(places))
            .map(|(&Type { scalar, .. }, place)| {
                let address = self.address(place);
                let ty = Type::new(stored(scalar), self.lanes);
                let value = self.b.load(Self::mem(ty), address, ty);
                if scalar != Scalar::I1 {
                    return value;
                }
                let zero = self.b.iconst(ty, 0);
                self.b.icmp(IntCC::Ne, value, zero)
            })
            .collect()
    }
}
