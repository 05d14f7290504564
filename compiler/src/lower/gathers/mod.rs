//! Accesses with an address for each lane.
//!
//! Many addresses are an index of 32 bits or fewer away from a uniform object. The access gets the
//! index then ([`Index`]): vectors hold more of those than of addresses, and gathers of processors
//! take them.
//!
//! Addresses computed from ids alone are often consecutive although no analysis can tell (`t % n`,
//! clamped neighbours): those are compared at run time, and accessed as vectors where they are.
//! Within a block each question is asked once: rows of a picture have the same indexes. Cost:
//! linear, but for [`is_computed_from_ids`].

use std::collections::HashMap;

use super::replay::{Values, replay};
use crate::analysis::{PROBED_INSTRUCTIONS, is_computed_from_ids};
use crate::ir::{
    BinOp, Builder, ConvertOp, Function, Index, InstData, IntCC, Mem, Op, Scalar, Type, Value,
};
use crate::target::Target;

/// Instructions between a rounded coordinate and what its row is multiplied by.
const MOST_CLAMPS: usize = 6;

/// Steps from index to index that a question is asked for are less than this.
const MOST_STEP: u64 = 1 << 16;

/// Sees to the accesses of `func`. Runs on what [`super::narrow`] leaves.
pub fn run(func: &mut Function, target: &Target) {
    let mut block = None;
    let mut known = Known::new();
    replay(func, is_each_its_own, |b, now, data| {
        if block != Some(now) {
            block = Some(now);
            known.clear();
        }
        let mut access = Access::new(b, data, target, &mut known);
        access.expand(data)
    });
}

/// Whether an instruction is an access with an address for each lane.
fn is_each_its_own(func: &Function, data: &InstData) -> bool {
    matches!(data.op, Op::Load(_) | Op::Store(_)) && func.ty(data.args[0]).lanes > 1
}

/// What has been asked: a value of each lane, a mask and a step. The answer: the first lane's, and
/// whether the lanes' are that far apart, and all active.
type Known = HashMap<(Value, Option<Value>, i64), (Value, Value)>;

/// An address in every lane: `object + extend(index) * scale`.
#[derive(Clone, Copy)]
struct Indexed {
    object: Value,
    index: Value,
    how: Index,
}

impl Indexed {
    /// Recognises one in how the address is computed.
    fn of(func: &Function, address: Value) -> Option<Indexed> {
        let def = |value: Value| func.def_inst(value).map(|inst| &func.insts[inst]);
        let sum = def(address).filter(|sum| matches!(sum.op, Op::PtrAdd))?;
        let object = def(sum.args[0]).filter(|splat| matches!(splat.op, Op::Splat))?;
        let offset = sum.args[1];
        let scaled = def(offset)?;
        let (wide, scale) = match (&scaled.op, &scaled.args[..]) {
            (Op::Binary(BinOp::IMul, _), &[wide, by]) => (wide, func.as_const(by)? as i64),
            (Op::Binary(BinOp::Shl, _), &[wide, by]) => {
                (wide, 1i64.wrapping_shl(func.as_const(by)? as u32 & 63))
            }
            _ => (offset, 1),
        };
        let extended = def(wide)?;
        let signed = match extended.op {
            Op::Convert(ConvertOp::ZExt, _) => false,
            Op::Convert(ConvertOp::SExt, _) => true,
            _ => return None,
        };
        let index = extended.args[0];
        let scalar = func.ty(index).scalar;
        matches!(scalar, Scalar::I8 | Scalar::I16 | Scalar::I32).then_some(Indexed {
            object: object.args[0],
            index,
            how: Index { signed, scale },
        })
    }

    /// How far apart the indexes of neighbouring lanes are whose addresses are `stride` bytes
    /// apart, if that is a number and a question about indexes is worth asking.
    fn step(&self, func: &Function, stride: i64) -> Option<i64> {
        let is_word = func.ty(self.index).scalar == Scalar::I32;
        let step = stride.checked_div(self.how.scale)?;
        let is_exact = step.checked_mul(self.how.scale)? == stride;
        (is_word && is_exact && step.unsigned_abs() < MOST_STEP).then_some(step)
    }
}

/// An access being rewritten.
struct Access<'e, 'f> {
    b: &'e mut Builder<'f>,
    known: &'e mut Known,
    mem: Mem,
    is_load: bool,
    address: Value,
    /// What is stored.
    values: Values,
    mask: Option<Value>,
    indexed: Option<Indexed>,
    /// Whether the target has gathers.
    gathers: bool,
    /// Whether it has scatters.
    scatters: bool,
    /// Bytes of an element.
    size: i64,
    /// Bytes from lane to lane if they are next to each other.
    stride: i64,
}

impl<'e, 'f> Access<'e, 'f> {
    fn new(
        b: &'e mut Builder<'f>,
        data: &InstData,
        target: &Target,
        known: &'e mut Known,
    ) -> Access<'e, 'f> {
        let (Op::Load(mem) | Op::Store(mem)) = data.op else {
            unreachable!("accesses are expanded")
        };
        let (args, mask) = match data.args.split_last() {
            Some((&mask, args)) if mem.masked => (args, Some(mask)),
            _ => (&data.args[..], None),
        };
        let elements = data.results.len().max(args.len() - 1);
        let element = *data.results.first().unwrap_or(&args[args.len() - 1]);
        let size = i64::from(b.ty(element).scalar.bytes());
        Access {
            mem,
            is_load: matches!(data.op, Op::Load(_)),
            address: args[0],
            values: args[1..].into(),
            mask,
            indexed: Indexed::of(b.func, args[0]),
            gathers: target.gathers,
            scatters: target.scatters,
            size,
            stride: elements as i64 * size,
            b,
            known,
        }
    }

    fn expand(&mut self, data: &InstData) -> Values {
        let results: Vec<Type> = data.results.iter().map(|&r| self.b.ty(r)).collect();
        if !self.is_asked_about(data) {
            return self.scattered(&results);
        }
        let (base, consecutive) = self.consecutive();
        let [fast, slow] = [(); 2].map(|_| self.b.new_block(&[]));
        let done = self.b.new_block(&results);
        self.b.cond_br(consecutive, fast, &[], slow, &[]);
        self.b.switch_to(fast);
        let base = base(self);
        let values = self.side_by_side(base, &results);
        self.b.br(done, &values);
        self.b.switch_to(slow);
        let values = self.scattered(&results);
        self.b.br(done, &values);
        self.b.switch_to(done);
        self.b.func.blocks[done].params.iter().copied().collect()
    }

    fn emit(&mut self, mem: Mem, places: &[Value], mask: Option<Value>, types: &[Type]) -> Values {
        let op = match self.is_load {
            true => Op::Load(mem),
            false => Op::Store(mem),
        };
        let args = places.iter().chain(&self.values).copied().chain(mask);
        let args: Values = args.collect();
        let inst = self.b.ins(op, &args, types);
        self.b.func.insts[inst].results.iter().copied().collect()
    }

    /// Each lane at its own address.
    fn scattered(&mut self, types: &[Type]) -> Values {
        match self.indexed.and_then(|indexed| self.taken(indexed)) {
            Some(indexed) => {
                let mem = Mem {
                    index: Some(indexed.how),
                    ..self.mem
                };
                let places = [indexed.object, indexed.index];
                self.emit(mem, &places, self.mask, types)
            }
            None => self.emit(self.mem, &[self.address], self.mask, types),
        }
    }

    /// The index that the target takes, if it takes one.
    fn taken(&mut self, indexed: Indexed) -> Option<Indexed> {
        let Index { signed, scale } = indexed.how;
        if !self.gathers {
            // Lanes are seen to one by one: if some are not active, these have another address.
            return self.mask.is_none().then_some(indexed);
        }
        if !self.is_load && !self.scatters {
            return None;
        }
        // Signed words are taken, for elements of 32 bits.
        let scalar = self.b.ty(indexed.index).scalar;
        let fits = signed || scalar != Scalar::I32;
        if self.size != 4 || !fits || !matches!(scale, 1 | 2 | 4 | 8) {
            return None;
        }
        let wide = self.b.ty(indexed.index).with_scalar(Scalar::I32);
        let extend = match signed {
            true => ConvertOp::SExt,
            false => ConvertOp::ZExt,
        };
        let index = match scalar {
            Scalar::I32 => indexed.index,
            _ => self.b.convert(extend, indexed.index, wide),
        };
        let how = Index {
            signed: true,
            scale,
        };
        Some(Indexed {
            index,
            how,
            ..indexed
        })
    }

    /// All lanes from an address on.
    fn side_by_side(&mut self, base: Value, types: &[Type]) -> Values {
        let mem = Mem {
            masked: false,
            stride: self.stride,
            ..self.mem
        };
        self.emit(mem, &[base], None, types)
    }

    /// Whether neighbouring lanes may well have neighbouring addresses, and vectors are better
    /// then.
    fn is_asked_about(&self, data: &InstData) -> bool {
        let element = data.results.first().or(self.values.last());
        let is_bits = element.is_some_and(|&v| self.b.ty(v).scalar == Scalar::I1);
        let elements = data.results.len().max(self.values.len());
        let is_better = match self.is_load {
            true => !is_bits && (elements.is_power_of_two() || elements == 3),
            false => elements == 1 || !is_bits && elements.is_power_of_two(),
        };
        let func = &*self.b.func;
        let uniform = |value: Value| func.ty(value).lanes == 1;
        is_better
            && !(self.indexed).is_some_and(|indexed| has_rounded_row(func, indexed.index))
            && is_computed_from_ids(func, self.address, PROBED_INSTRUCTIONS, uniform)
    }

    /// What computes the first lane's address, and whether every lane is active and lane l's is `l
    /// * stride` bytes further.
    fn consecutive(&mut self) -> (impl FnOnce(&mut Self) -> Value + use<'e, 'f>, Value) {
        let indexed = self.indexed;
        let step = indexed.and_then(|indexed| indexed.step(self.b.func, self.stride));
        let indexed = indexed.filter(|_| step.is_some());
        let (value, step) = match indexed.zip(step) {
            Some((indexed, step)) => (indexed.index, step),
            None => (self.address, self.stride),
        };
        let key = (value, self.mask, step);
        let (first, consecutive) = match self.known.get(&key) {
            Some(&known) => known,
            None => {
                let mut found = self.ask(value, step);
                if let Some(indexed) = indexed {
                    let stays = self.stays(indexed, found.0, step);
                    found.1 = self.b.binary(BinOp::And, found.1, stays);
                }
                self.known.insert(key, found);
                found
            }
        };
        let base = move |access: &mut Self| match indexed {
            Some(indexed) => access.address_at(indexed, first),
            None => first,
        };
        (base, consecutive)
    }

    /// The first lane of a value, and whether every lane is active and lane l is `l * step` more,
    /// wrapping.
    fn ask(&mut self, value: Value, step: i64) -> (Value, Value) {
        let b = &mut *self.b;
        let first = b.extract(value, 0);
        let ty = b.ty(value);
        let ty = ty.with_scalar(ty.scalar.as_int());
        let numbers = b.bitcast(value, ty);
        let start = b.bitcast(first, ty.lane());
        let lanes = b.val(Op::LaneIds, &[], ty);
        let offsets = match step {
            1 => lanes,
            step => b.binary_imm(BinOp::IMul, lanes, step as u64),
        };
        let starts = b.binary(BinOp::ISub, numbers, offsets);
        let start = b.splat(start, ty.lanes);
        let mut same = b.icmp(IntCC::Eq, starts, start);
        if let Some(mask) = self.mask {
            same = b.binary(BinOp::And, same, mask);
        }
        (first, b.val(Op::AllTrue, &[same], Type::I1))
    }

    /// Whether there is no end of the type's numbers from the first lane's index to the last one's.
    fn stays(&mut self, indexed: Indexed, first: Value, step: i64) -> Value {
        let lanes = self.b.ty(indexed.index).lanes;
        let reach = step.unsigned_abs() as i64 * i64::from(lanes - 1);
        let (cc, bound) = match (indexed.how.signed, step >= 0) {
            (true, true) => (IntCC::Sle, i64::from(i32::MAX) - reach),
            (true, false) => (IntCC::Sge, i64::from(i32::MIN) + reach),
            (false, true) => (IntCC::Ule, i64::from(u32::MAX) - reach),
            (false, false) => (IntCC::Uge, reach),
        };
        self.b.icmp_imm(cc, first, bound as u64)
    }

    /// The address that belongs to an index.
    fn address_at(&mut self, indexed: Indexed, index: Value) -> Value {
        let extend = match indexed.how.signed {
            true => ConvertOp::SExt,
            false => ConvertOp::ZExt,
        };
        let wide = self.b.convert(extend, index, Type::I64);
        let offset = match indexed.how.scale {
            1 => wide,
            scale => self.b.binary_imm(BinOp::IMul, wide, scale as u64),
        };
        self.b.ptr_add(indexed.object, offset)
    }
}

/// Whether an index is a sum with a multiple of a floating-point number that was rounded, and is
/// not the same in all lanes: the rows that a rotated picture is read from. Next to each other are
/// lanes of one row only.
fn has_rounded_row(func: &Function, index: Value) -> bool {
    let data = |value: Value| func.def_inst(value).map(|i| &func.insts[i]);
    let Some(sum) = data(index).filter(|d| matches!(d.op, Op::Binary(BinOp::IAdd, _))) else {
        return false;
    };
    let is_same = |value: Value| {
        func.ty(value).lanes == 1
            || data(value).is_some_and(|d| matches!(d.op, Op::Splat | Op::Const(_)))
    };
    let is_rounded = |&term: &Value| {
        let mut at = match data(term) {
            Some(product) if matches!(product.op, Op::Binary(BinOp::IMul, _)) => product.args[0],
            _ => return false,
        };
        // Past the clamps, of which there are few.
        for _ in 0..MOST_CLAMPS {
            let Some(def) = data(at) else {
                return false;
            };
            match def.op {
                Op::Convert(ConvertOp::FToS, _) => return func.ty(at).lanes > 1,
                Op::Binary(
                    BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::IAdd | BinOp::ISub,
                    _,
                ) => match def.args.iter().find(|&&arg| !is_same(arg)) {
                    Some(&arg) => at = arg,
                    None => return false,
                },
                _ => return false,
            }
        }
        false
    };
    sum.args.iter().any(is_rounded)
}

#[cfg(test)]
mod tests;
