//! The code of a function that stays one: for so many work-items, given how its arguments differ
//! between them.
//!
//! The function is put between loads of its arguments from the area and stores of its results
//! there ([`crate::calls`]), as any code for one work-item might do at addresses of its own. Its
//! mask is a truth value that each work-item finds there, and a branch around the body. Then it is
//! vectorized like a region: what is uniform, consecutive or varying follows from the addresses,
//! and masks from the branch.

use super::extension_idioms::rewrite_extension_idioms;
use super::interleave;
use crate::calls::{Layout, stored};
use crate::diagnostic::Remark;
use crate::ir::{
    Argument, BinOp, Block, BlockCall, Builder, Callee, ConvertOp, Function, Inst, IntCC, Mem, Op,
    Query, Scalar, Terminator, Type, Value,
};
use crate::kernel_info::AddressSpace;
use crate::launch::LaunchKey;
use crate::transform::for_one_work_item;
use crate::vectorize::vectorize;

/// Makes the code, at [`Stage::Vectorized`](crate::ir::Stage), of a function at
/// [`Stage::Scalarized`](crate::ir::Stage). `Err` says why only one lane will do.
pub fn build_function(
    function: &Function,
    callee: &Callee,
    key: &LaunchKey,
) -> Result<(Function, Vec<Remark>), String> {
    let key = LaunchKey {
        width: callee.lanes,
        ..*key
    };
    let mut func = between_accesses(function, callee);
    if callee.lanes == 1 {
        for_one_work_item(&mut func);
    }
    let mut remarks = interleave::run(&mut func, &key);
    rewrite_extension_idioms(&mut func);
    let code = vectorize(&func, &key, callee.lanes)?;
    let found = code.remarks.into_iter();
    remarks.extend(found.map(|(loc, text)| Remark::new(loc, text)));
    let mut func = code.function;
    begin_at_lane_zero(&mut func);
    Ok((func, remarks))
}

/// The function as one of the launch, scratch memory and the area.
pub(super) fn between_accesses(function: &Function, callee: &Callee) -> Function {
    let types: Vec<Type> = function.params().iter().map(|&p| function.ty(p)).collect();
    let results = function.results.clone();
    let layout = Layout::new(callee, types.iter().copied(), results.iter().copied());
    let mut func = function.clone();
    let (body, entry) = (func.entry(), func.add_block());
    func.layout.pop();
    func.layout.insert(0, entry);
    let area = [Type::PTR; 3].map(|ty| func.add_param(entry, ty))[2];
    func.results.clear();
    // Allocations stay in the entry block.
    let (allocas, rest): (Vec<Inst>, Vec<Inst>) = std::mem::take(&mut func.blocks[body].insts)
        .into_iter()
        .partition(|&inst| matches!(func.insts[inst].op, Op::Alloca { .. }));
    func.blocks[entry].insts = allocas;
    func.blocks[body].insts = rest;
    let exit = func.add_block();
    for &ty in &results {
        func.add_param(exit, ty);
    }
    for block in func.layout.clone() {
        if let Terminator::Ret(values) = &func.blocks[block].term {
            let args = values.clone();
            func.blocks[block].term = Terminator::Br(BlockCall { block: exit, args });
        }
    }

    let mut access = Access {
        b: &mut Builder::new(&mut func, entry),
        area,
        lanes: callee.lanes,
        lane: None,
    };
    let mut args: Vec<Value> = Vec::new();
    for (n, &ty) in types.iter().enumerate() {
        args.push(match callee.argument(n) {
            Argument::Varying => access.load(layout.params[n], ty.scalar, true),
            Argument::Uniform => access.load(layout.params[n], ty.scalar, false),
            Argument::Affine(stride) => {
                let first = access.load(layout.params[n], ty.scalar, false);
                access.further(first, stride)
            }
        });
    }
    match layout.mask {
        None => access.b.br(body, &args),
        Some(offset) => {
            let active = access.load(offset, Scalar::I1, true);
            let zeros: Vec<Value> = results.iter().map(|&ty| access.b.iconst(ty, 0)).collect();
            access.b.cond_br(active, body, &args, exit, &zeros);
        }
    }
    access.enter(exit);
    for (n, &offset) in layout.results.iter().enumerate() {
        let value = access.b.param(exit, n);
        access.store(offset, value);
    }
    access.b.ret(&[]);
    func
}

/// Accesses to the area by one work-item.
struct Access<'a, 'f> {
    b: &'a mut Builder<'f>,
    area: Value,
    lanes: u8,
    /// The work-item's number among the lanes.
    lane: Option<Value>,
}

impl Access<'_, '_> {
    fn enter(&mut self, block: Block) {
        self.b.switch_to(block);
        self.lane = None;
    }

    fn lane(&mut self) -> Value {
        *self.lane.get_or_insert_with(|| {
            self.b
                .val(Op::Query(Query::SubGroupLocalId), &[], Type::I64)
        })
    }

    /// The address of a scalar, or of the work-item's in a vector.
    fn address(&mut self, offset: u32, scalar: Scalar, each: bool) -> Value {
        let offset = self.b.iconst(Type::I64, offset.into());
        let at = self.b.ptr_add(self.area, offset);
        if !each || self.lanes == 1 {
            return at;
        }
        let lane = self.lane();
        let offset = self.b.binary_imm(BinOp::IMul, lane, scalar.bytes().into());
        self.b.ptr_add(at, offset)
    }

    fn mem(scalar: Scalar) -> Mem {
        Mem::new(AddressSpace::Private, scalar.bytes())
    }

    fn load(&mut self, offset: u32, scalar: Scalar, each: bool) -> Value {
        let memory = stored(scalar);
        let address = self.address(offset, memory, each);
        let value = self
            .b
            .load(Self::mem(memory), address, Type::new(memory, 1));
        if scalar != Scalar::I1 {
            return value;
        }
        let zero = self.b.iconst(Type::I8, 0);
        self.b.icmp(IntCC::Ne, value, zero)
    }

    fn store(&mut self, offset: u32, value: Value) {
        let scalar = self.b.ty(value).scalar;
        let memory = stored(scalar);
        let value = match scalar {
            Scalar::I1 => self.b.convert(ConvertOp::ZExt, value, Type::I8),
            _ => value,
        };
        let address = self.address(offset, memory, true);
        self.b.store(Self::mem(memory), address, value);
    }

    /// A value that grows by a stride from lane to lane, given the first lane's.
    fn further(&mut self, first: Value, stride: i64) -> Value {
        let lane = self.lane();
        let ty = self.b.ty(first);
        let int = ty.with_scalar(ty.scalar.as_int());
        let lane = match int == Type::I64 {
            true => lane,
            false => self.b.convert(ConvertOp::Trunc, lane, int),
        };
        let offset = self.b.binary_imm(BinOp::IMul, lane, stride as u64);
        match ty.scalar {
            Scalar::Ptr => self.b.ptr_add(first, offset),
            _ => self.b.binary(BinOp::IAdd, first, offset),
        }
    }
}

/// The lanes are numbered from 0: a query stands for the first one.
fn begin_at_lane_zero(func: &mut Function) {
    for block in func.layout.clone() {
        for n in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[n];
            if func.insts[inst].op == Op::Query(Query::SubGroupLocalId) {
                func.insts[inst].op = Op::Const(0);
            }
        }
    }
}
