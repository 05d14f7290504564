//! One instruction for W work-items.
//!
//! Memory goes by the shape of the address: uniform, one access; affine, one access with a stride;
//! guarded, the same after a test of the guards, with lane by lane as the alternative (loads of
//! several elements have a copy of them as the alternative); varying, lane by lane.

use smallvec::SmallVec;

use super::state::Mask;
use super::values::Emitter;
use crate::analysis::{Shape, shape::Guards};
use crate::ir::{
    Argument, BinOp, Callee, Collective, ConvertOp, DeviceOp, FuncId, Image, Inst, Mem, Op, Scalar,
    Scope, SourceLoc, Type, Value,
};
use crate::kernel_info::AddressSpace;

/// Bytes that copies of elements are aligned to.
const ROWS_ALIGN: u32 = 64;

impl Emitter<'_> {
    /// Translates an instruction of the current block.
    pub(super) fn emit(&mut self, inst: Inst) {
        let data = &self.source.func.insts[inst];
        match data.op.clone() {
            Op::Const(_) => {}
            Op::Alloca {
                size,
                align,
                interleaving,
            } => {
                let op = match interleaving {
                    Some(how) => how.alloca(size, align),
                    None => Op::Alloca {
                        size: size.next_multiple_of(align) * u32::from(self.source.width),
                        align,
                        interleaving,
                    },
                };
                let new = self.make(inst, op, &[], 1);
                self.define_all(inst, &new);
            }
            Op::Load(mem) => self.load(inst, mem),
            Op::Store(mem) => self.store(inst, mem),
            Op::MemCopy {
                size,
                align,
                volatile,
                ..
            } => self.by_lane(inst, volatile, |masked| Op::MemCopy {
                size,
                align,
                volatile,
                masked,
            }),
            Op::MemCopyDyn { align, .. } => {
                self.by_lane(inst, false, |masked| Op::MemCopyDyn { align, masked });
            }
            Op::AtomicRmw(..) | Op::AtomicCmpXchg(_) | Op::AtomicLoad(_) | Op::AtomicStore(_) => {
                self.atomic(inst)
            }
            Op::Printf { .. } => self.printf(inst),
            Op::Device { what, block, .. } => self.device(inst, what, block),
            Op::CallFunction(callee) => self.call_function(inst, *callee),
            Op::ImageRead(image) => self.image_read(inst, image),
            Op::ImageWrite(image) => self.by_lane(inst, false, |masked| {
                Op::ImageWrite(Image { masked, ..image })
            }),
            Op::Collective { what, scope, .. } => self.collective(inst, what, scope),
            Op::ContextStore(slot) => {
                let mut value = self.vector(data.args[0]);
                if let Mask::Of(lanes) = self.mask {
                    let ty = self.out.ty(value);
                    let mut b = self.builder();
                    let old = b.val(Op::ContextLoad(slot), &[], ty);
                    value = b.select(lanes, value, old);
                }
                self.builder().ins(Op::ContextStore(slot), &[value], &[]);
            }
            op => {
                let varying = data
                    .results
                    .first()
                    .is_some_and(|&r| self.source.shapes.of(r) == Shape::Varying);
                let new = if varying {
                    self.widen(inst)
                } else {
                    let args: SmallVec<[Value; 4]> =
                        data.args.iter().map(|&arg| self.scalar(arg)).collect();
                    self.make(inst, op, &args, 1)
                };
                self.define_all(inst, &new);
            }
        }
    }

    fn load(&mut self, inst: Inst, mut mem: Mem) {
        let data = &self.source.func.insts[inst];
        let ptr = data.args[0];
        let varying = self.source.shapes.of(data.results[0]) == Shape::Varying;
        if !varying {
            let address = self.scalar(ptr);
            let new = self.make(inst, Op::Load(mem), &[address], 1);
            self.define_all(inst, &new);
            return;
        }
        mem.masked = self.mask_arg().is_some();
        if let Some((guards, stride)) = self.guarded_rows(inst, &mem)
            && let Some(ok) = self.checks(guards)
        {
            let new = self.load_rows(inst, mem, stride, ok);
            self.define_all(inst, &new);
            return;
        }
        let new = self.by_shape(inst, ptr, mem.volatile, |this, address, stride| {
            mem.stride = stride;
            let mut args: SmallVec<[Value; 4]> = smallvec::smallvec![address];
            args.extend(this.mask_arg());
            this.make(inst, Op::Load(mem), &args, this.source.width)
        });
        self.define_all(inst, &new);
    }

    /// The guards and the stride of a load by all lanes of several elements, which lie end to end
    /// if the guards hold.
    fn guarded_rows(&self, inst: Inst, mem: &Mem) -> Option<(Guards, i64)> {
        let data = &self.source.func.insts[inst];
        let Shape::Guarded(stride, guards) = self.shape(data.args[0]) else {
            return None;
        };
        let ty = self.source.func.ty(data.results[0]);
        let is_number = ty.scalar.is_int() || ty.scalar.is_float();
        let dense = stride == data.results.len() as i64 * i64::from(ty.scalar.bytes());
        let plain = !mem.masked && !mem.volatile && is_number;
        (plain && dense && data.results.len() > 1).then_some((guards, stride))
    }

    /// Loads several elements of each lane. Where `ok` does not hold they are copied, so that they
    /// lie end to end: what is behind then has an address in place of many vectors, and what seldom
    /// happens takes no registers.
    fn load_rows(&mut self, inst: Inst, mem: Mem, stride: i64, ok: Value) -> SmallVec<[Value; 2]> {
        let width = self.source.width;
        let ptr = self.source.func.insts[inst].args[0];
        let address = self.scalar(ptr);
        let rows = self.copied_rows(stride as u32 * u32::from(width));
        let (apart, after) = (self.out.add_block(), self.out.add_block());
        self.builder().cond_br(ok, after, &[address], apart, &[]);
        let widened = self.widened.clone();
        self.to = apart;
        let from = self.vector(ptr);
        let mut b = self.builder();
        let lanes = b.val(Op::LaneIds, &[], Type::I64.with_lanes(width));
        let offsets = b.binary_imm(BinOp::IMul, lanes, stride as u64);
        let base = b.splat(rows, width);
        let to = b.ptr_add(base, offsets);
        let copy = Op::MemCopy {
            size: stride as u64,
            align: mem.align.min(ROWS_ALIGN),
            volatile: false,
            masked: false,
        };
        b.ins(copy, &[to, from], &[]);
        b.br(after, &[rows]);
        self.widened = widened;
        self.to = after;
        let place = self.out.add_param(after, Type::PTR);
        let either = Mem {
            space: AddressSpace::Generic,
            align: mem.align.min(ROWS_ALIGN),
            stride,
            ..mem
        };
        self.make(inst, Op::Load(either), &[place], width)
    }

    /// Memory for so many bytes of copies. They are loaded at once, so all loads share it.
    fn copied_rows(&mut self, bytes: u32) -> Value {
        let op = |size| Op::Alloca {
            size,
            align: ROWS_ALIGN,
            interleaving: None,
        };
        let (inst, size) = match self.copied_rows {
            Some((inst, size)) => (inst, size.max(bytes)),
            None => {
                let loc = SourceLoc::default();
                let inst = self.out.make_inst(op(bytes), &[], &[Type::PTR], loc);
                let entry = self.out.entry();
                self.out.blocks[entry].insts.insert(0, inst);
                (inst, bytes)
            }
        };
        self.out.insts[inst].op = op(size);
        self.copied_rows = Some((inst, size));
        self.out.insts[inst].results[0]
    }

    fn store(&mut self, inst: Inst, mut mem: Mem) {
        let data = &self.source.func.insts[inst];
        let ptr = data.args[0];
        let elements: SmallVec<[Value; 4]> = data.args[1..].iter().copied().collect();
        if self.shape(ptr).is_uniform() && !mem.volatile {
            let full = self.mask == Mask::Full;
            let uniform = elements.iter().all(|&e| self.shape(e).is_uniform());
            if full || uniform {
                // All lanes write here; the last active one wins.
                let last = self.source.width - 1;
                let mut args: SmallVec<[Value; 4]> = smallvec::smallvec![self.scalar(ptr)];
                for element in elements {
                    args.push(if self.shape(element).is_uniform() {
                        self.scalar(element)
                    } else {
                        let all = self.vector(element);
                        self.builder().extract(all, last)
                    });
                }
                self.make(inst, Op::Store(mem), &args, 1);
                return;
            }
        }
        mem.masked = self.mask_arg().is_some();
        let values: SmallVec<[Value; 4]> = elements.iter().map(|&e| self.vector(e)).collect();
        self.by_shape(inst, ptr, mem.volatile, |this, address, stride| {
            mem.stride = stride;
            let mut args: SmallVec<[Value; 4]> = smallvec::smallvec![address];
            args.extend(values.iter().copied());
            args.extend(this.mask_arg());
            this.make(inst, Op::Store(mem), &args, this.source.width)
        });
    }

    /// Makes an access of all active lanes: `access` is given one address and a stride, or all
    /// addresses and 0.
    fn by_shape(
        &mut self,
        inst: Inst,
        ptr: Value,
        volatile: bool,
        mut access: impl FnMut(&mut Self, Value, i64) -> SmallVec<[Value; 2]>,
    ) -> SmallVec<[Value; 2]> {
        match self.shape(ptr) {
            Shape::Affine(stride) => {
                let address = self.scalar(ptr);
                access(self, address, stride)
            }
            Shape::Guarded(stride, guards) if stride != 0 => {
                let checks = self.checks(guards);
                let address = self.scalar(ptr);
                match checks {
                    None => access(self, address, stride),
                    Some(ok) => self.either(inst, ok, |this, consecutive| {
                        if consecutive {
                            access(this, address, stride)
                        } else {
                            let all = this.vector(ptr);
                            access(this, all, 0)
                        }
                    }),
                }
            }
            _ => {
                if !volatile {
                    self.note_gather(inst);
                }
                let all = match self.in_interleaved_variable(ptr) {
                    Some(all) => all,
                    None => self.vector(ptr),
                };
                access(self, all, 0)
            }
        }
    }

    /// All lanes' addresses, of a varying one in an interleaved variable: an index of 32 bits away
    /// from that of the first lane's unit, as gathers take them.
    fn in_interleaved_variable(&mut self, ptr: Value) -> Option<Value> {
        let func = self.source.func;
        let def = |value: Value| func.def_inst(value).map(|inst| &func.insts[inst]);
        let sum = def(ptr).filter(|sum| sum.op == Op::PtrAdd)?;
        let (base, wide) = (sum.args[0], def(sum.args[1])?);
        let is_extension = matches!(wide.op, Op::Convert(ConvertOp::SExt, _));
        let word = *wide.args.first().filter(|_| is_extension)?;
        let mut variable = base;
        while let Some(data) = def(variable)
            && data.op == Op::PtrAdd
            && func.as_const(data.args[1]).is_some()
        {
            variable = data.args[0];
        }
        let interleaving = match func.def_op(variable)? {
            Op::Alloca { interleaving, .. } => *interleaving,
            Op::ContextLoad(slot) => func.slots[*slot].interleaving,
            _ => None,
        };
        let (unit, Shape::Affine(stride)) = (interleaving?.unit, self.shape(base)) else {
            return None;
        };
        let is_word = func.ty(word).scalar == Scalar::I32;
        let leaves_loop = self.source.escaped(word, self.at).is_some();
        if !is_word || stride != i64::from(unit) || leaves_loop {
            return None;
        }
        let object = self.scalar(base);
        let offsets = self.vector(word);
        let width = self.source.width;
        let mut b = self.builder();
        let lanes = b.val(Op::LaneIds, &[], Type::I32.with_lanes(width));
        let lanes = b.binary_imm(BinOp::IMul, lanes, unit.into());
        // The lanes' memory is far smaller than 2 GiB, so that in lanes that access it this does
        // not wrap.
        let index = b.binary(BinOp::IAdd, offsets, lanes);
        let index = b.convert(ConvertOp::SExt, index, Type::I64.with_lanes(width));
        let object = b.splat(object, width);
        Some(b.ptr_add(object, index))
    }

    /// Whether no guard wraps, as a condition; `None` if that is certain in active lanes.
    fn checks(&mut self, guards: Guards) -> Option<Value> {
        let mut all: Option<Value> = None;
        for guard in guards.iter() {
            if self.mask == Mask::Full && self.source.shapes.is_promised(guard) {
                continue;
            }
            let ok = self.holds(guard);
            let mut b = self.builder();
            all = Some(match all {
                None => ok,
                Some(other) => b.binary(BinOp::And, other, ok),
            });
        }
        all
    }

    /// Emits `make(true)` where `ok` holds and `make(false)` where it does not; the results of
    /// either.
    fn either(
        &mut self,
        inst: Inst,
        ok: Value,
        mut make: impl FnMut(&mut Self, bool) -> SmallVec<[Value; 2]>,
    ) -> SmallVec<[Value; 2]> {
        let (yes, no, after) = (
            self.out.add_block(),
            self.out.add_block(),
            self.out.add_block(),
        );
        self.builder().cond_br(ok, yes, &[], no, &[]);
        let widened = self.widened.clone();
        for (block, choice) in [(yes, true), (no, false)] {
            self.to = block;
            let results = make(self, choice);
            self.builder().br(after, &results);
            self.widened.clone_from(&widened);
        }
        self.to = after;
        let types: SmallVec<[Type; 2]> = self.source.func.insts[inst]
            .results
            .iter()
            .map(|&r| self.source.func.ty(r).with_lanes(self.source.width))
            .collect();
        types
            .into_iter()
            .map(|ty| self.out.add_param(after, ty))
            .collect()
    }

    /// An operation without results that each active lane does for itself; once if all operands are
    /// uniform.
    fn by_lane(&mut self, inst: Inst, always: bool, op: impl Fn(bool) -> Op) {
        let data = &self.source.func.insts[inst];
        let uniform = |this: &Self, v: &Value| this.shape(*v).is_uniform();
        if !always && data.args.iter().all(|v| uniform(self, v)) {
            let args: Vec<Value> = data.args.iter().map(|&v| self.scalar(v)).collect();
            self.make(inst, op(false), &args, 1);
            return;
        }
        let mut args: Vec<Value> = data.args.iter().map(|&v| self.vector(v)).collect();
        args.extend(self.mask_arg());
        self.make(inst, op(self.mask != Mask::Full), &args, self.source.width);
    }

    /// Once if everybody reads the same texel, else for each active lane; image and sampler are
    /// mostly the same for all.
    fn image_read(&mut self, inst: Inst, mut image: Image) {
        let data = &self.source.func.insts[inst];
        if self.source.shapes.of(data.results[0]) != Shape::Varying {
            let args: Vec<Value> = data.args.iter().map(|&v| self.scalar(v)).collect();
            let new = self.make(inst, Op::ImageRead(image), &args, 1);
            self.define_all(inst, &new);
            return;
        }
        image.masked = self.mask != Mask::Full;
        let mut args: Vec<Value> = Vec::new();
        for &arg in &data.args {
            args.push(if self.shape(arg).is_uniform() {
                self.scalar(arg)
            } else {
                self.vector(arg)
            });
        }
        args.extend(self.mask_arg());
        let new = self.make(inst, Op::ImageRead(image), &args, self.source.width);
        self.define_all(inst, &new);
    }

    fn atomic(&mut self, inst: Inst) {
        let data = &self.source.func.insts[inst];
        let mut op = data.op.clone();
        if let Op::AtomicRmw(_, atomic)
        | Op::AtomicCmpXchg(atomic)
        | Op::AtomicLoad(atomic)
        | Op::AtomicStore(atomic) = &mut op
        {
            atomic.masked = self.mask != Mask::Full;
        }
        let mut args = Vec::new();
        for (i, &arg) in data.args.iter().enumerate() {
            args.push(if i == 0 && self.shape(arg).is_uniform() {
                self.scalar(arg)
            } else {
                self.vector(arg)
            });
        }
        args.extend(self.mask_arg());
        let new = self.make(inst, op, &args, self.source.width);
        self.define_all(inst, &new);
    }

    /// The lanes are the sub-group, those of the mask the ones that take part.
    fn collective(&mut self, inst: Inst, what: Collective, scope: Scope) {
        let data = &self.source.func.insts[inst];
        let mut args = Vec::new();
        for (i, &arg) in data.args.iter().enumerate() {
            args.push(if i == 1 && self.shape(arg).is_uniform() {
                self.scalar(arg)
            } else {
                self.vector(arg)
            });
        }
        args.extend(self.mask_arg());
        let op = Op::Collective {
            what,
            scope,
            masked: self.mask != Mask::Full,
        };
        let lanes = if what.is_uniform() {
            1
        } else {
            self.source.width
        };
        let new = self.make(inst, op, &args, lanes);
        self.define_all(inst, &new);
    }

    fn printf(&mut self, inst: Inst) {
        let data = &self.source.func.insts[inst];
        let mut args = Vec::new();
        for (i, &arg) in data.args.iter().enumerate() {
            args.push(if i == 0 && self.shape(arg).is_uniform() {
                self.scalar(arg)
            } else {
                self.vector(arg)
            });
        }
        // Always masked: the mask tells how many lanes print.
        args.push(self.mask_lanes());
        let new = self.make(inst, Op::Printf { masked: true }, &args, 1);
        self.define_all(inst, &new);
    }

    /// Every active lane asks, whether or not operands are the same.
    fn device(&mut self, inst: Inst, what: DeviceOp, block: Option<FuncId>) {
        let data = &self.source.func.insts[inst];
        let mut args = Vec::new();
        for &arg in &data.args {
            args.push(if self.shape(arg).is_uniform() {
                self.scalar(arg)
            } else {
                self.vector(arg)
            });
        }
        // Always masked: the mask tells how many lanes ask.
        args.push(self.mask_lanes());
        let op = Op::Device {
            what,
            block,
            masked: true,
        };
        let new = self.make(inst, op, &args, self.source.width);
        self.define_all(inst, &new);
    }

    /// Once for all lanes; where they cannot tell, as for one.
    fn call_function(&mut self, inst: Inst, mut callee: Callee) {
        let data = &self.source.func.insts[inst];
        let uniform = data.args.iter().all(|&arg| self.shape(arg).is_uniform());
        if callee.is_uniform && uniform {
            let args: Vec<Value> = data.args.iter().map(|&arg| self.scalar(arg)).collect();
            let new = self.make(inst, Op::CallFunction(Box::new(callee)), &args, 1);
            self.define_all(inst, &new);
            return;
        }
        let (mut args, mut arguments) = (Vec::new(), Vec::new());
        for &arg in &data.args {
            let (value, argument) = match self.shape(arg) {
                shape if shape.is_uniform() => (self.scalar(arg), Argument::Uniform),
                Shape::Affine(stride) => (self.scalar(arg), Argument::Affine(stride)),
                _ => (self.vector(arg), Argument::Varying),
            };
            args.push(value);
            arguments.push(argument);
        }
        args.extend(self.mask_arg());
        callee.lanes = self.source.width;
        callee.arguments = arguments.into();
        callee.masked = self.mask != Mask::Full;
        let op = Op::CallFunction(Box::new(callee));
        let new = self.make(inst, op, &args, self.source.width);
        self.define_all(inst, &new);
    }

    fn note_gather(&mut self, inst: Inst) {
        let data = &self.source.func.insts[inst];
        let (what, loc): (_, SourceLoc) = match data.op {
            Op::Store(_) => ("store is scattered", data.loc),
            _ => ("load is gathered", data.loc),
        };
        self.remarks.push((loc, what.into()));
    }
}
