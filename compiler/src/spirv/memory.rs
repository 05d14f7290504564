//! Variables, loads, stores, copies and address arithmetic.

use rspirv::spirv::{MemoryAccess, Op, StorageClass};

use super::body::Values;
use super::constants::Const;
use super::decode::{Id, Inst, PREDICATED_LOAD, PREDICATED_STORE, Result};
use super::function::{Bound, FunctionTranslator, MAX_PRIVATE, Pointer};
use super::rules::{BUILT_IN_VARIABLES, MEMORY_OPERANDS, Rule, UNIVERSAL};
use super::types::Kind;
use crate::ir::{BinOp, Mem, Op as IrOp, Type, Value};

/// A larger initialiser of a private variable is copied from a constant global instead of stored in
/// parts.
const MAX_STORED_LEAVES: u32 = 16;

/// The memory operands of an access.
#[derive(Clone, Copy, Default)]
struct Access {
    volatile: bool,
    align: Option<u32>,
}

impl Access {
    fn mem(&self, space: crate::kernel_info::AddressSpace, natural: u32) -> Mem {
        Mem {
            volatile: self.volatile,
            ..Mem::new(space, self.align.unwrap_or(natural))
        }
    }
}

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn memory(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        match op {
            Op::Variable | Op::UntypedVariableKHR => self.private_variable(inst)?,
            Op::Load if inst.is(PREDICATED_LOAD) => self.predicated_load(inst)?,
            Op::Load => self.load(inst)?,
            Op::Store if inst.is(PREDICATED_STORE) => self.predicated_store(inst)?,
            Op::Store => self.store(inst)?,
            Op::CopyMemory => self.copy_memory(inst)?,
            Op::CopyMemorySized => self.copy_memory_sized(inst)?,
            Op::AccessChain => self.typed_chain(inst, false, false)?,
            Op::InBoundsAccessChain => self.typed_chain(inst, false, true)?,
            Op::PtrAccessChain => self.typed_chain(inst, true, false)?,
            Op::InBoundsPtrAccessChain => self.typed_chain(inst, true, true)?,
            Op::UntypedAccessChainKHR => self.untyped_chain(inst, false, false)?,
            Op::UntypedInBoundsAccessChainKHR => self.untyped_chain(inst, false, true)?,
            Op::UntypedPtrAccessChainKHR => self.untyped_chain(inst, true, false)?,
            Op::UntypedInBoundsPtrAccessChainKHR => self.untyped_chain(inst, true, true)?,
            Op::UntypedPrefetchKHR => self.untyped_prefetch(inst)?,
            Op::PtrDiff => {
                let a = self.pointer(inst, inst.operands[0])?;
                let b = self.pointer(inst, inst.operands[1])?;
                let size = match a.pointee {
                    Some(pointee) => self.unit.type_of_id(inst, pointee)?.size,
                    None => 0,
                };
                if size == 0 {
                    return Err(self.error(inst, "the pointers point to nothing with a size"));
                }
                let size = self.body.iconst(Type::I64, size);
                let mut f = self.body.b();
                let a = f.bitcast(a.address, Type::I64);
                let b = f.bitcast(b.address, Type::I64);
                let bytes = f.binary(BinOp::ISub, a, b);
                let count = f.binary(BinOp::SDiv, bytes, size);
                let to = self.unit.result_ir(inst)?;
                let count = self.body.resize(count, to.scalar.as_int());
                self.define(inst, count)?;
            }
            Op::SizeOf => {
                let (_, pointee) = self.unit.points_to(inst, inst.operands[0])?;
                let size = match pointee {
                    Some(pointee) => self.unit.type_of_id(inst, pointee)?.size,
                    None => 0,
                };
                let size = self.body.iconst(Type::I32, size);
                self.define(inst, size)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn private_variable(&mut self, inst: &Inst<'_>) -> Result<()> {
        let ty = self.unit.result_type(inst)?;
        let class = self.unit.storage_class(inst, inst.operands[0])?;
        let untyped = inst.op() == Op::UntypedVariableKHR;
        let mut rest = inst.operands[1..].iter().copied();
        let pointee = match self.unit.type_of_id(inst, ty)?.kind {
            Kind::Pointer {
                class: StorageClass::Function,
                pointee: Some(pointee),
            } if class == StorageClass::Function && !untyped => pointee,
            Kind::Pointer {
                class: StorageClass::Function,
                pointee: None,
            } if class == StorageClass::Function && untyped => rest
                .next()
                .ok_or_else(|| self.error(inst, "the data type is missing"))?,
            _ => {
                return Err(self.error(
                    inst,
                    "a variable in a function must have storage class Function, and a pointer type to it",
                ));
            }
        };
        // "Universal Validation Rules": all variables of a function are in its first block.
        if self.body.block != self.body.func.entry() {
            return Err(self
                .error(inst, "a variable outside the function's first block")
                .under(UNIVERSAL));
        }
        let info = self.unit.type_of_id(inst, pointee)?;
        if info.size > MAX_PRIVATE {
            return Err(self
                .error(
                    inst,
                    format!(
                        "a private variable of {} bytes is too large: {MAX_PRIVATE} is the most",
                        info.size
                    ),
                )
                .under(Rule::Limit));
        }
        let align = self.unit.aligned(inst, info.align)?;
        let (size, natural, leaves) = (info.size, info.align, info.leaves);
        let address = self.body.prologue(
            IrOp::Alloca {
                size: (size as u32).max(1),
                align,
                interleaving: None,
            },
            &[],
            Type::PTR,
        );
        if let Some(init) = rest.next() {
            let (of_init, value) = self.unit.constant(inst, init)?;
            if !self.unit.same_type(*of_init, pointee) {
                return Err(self.error(inst, "the initialiser's type is not the variable's"));
            }
            if leaves <= MAX_STORED_LEAVES {
                let values = self.values(inst, init)?;
                let mem = Mem::new(crate::kernel_info::AddressSpace::Private, natural);
                self.store_leaves(inst, pointee, address, mem, &values)?;
            } else {
                let value: &Const = value;
                let global = self.out.constant_global(self.unit, inst, pointee, value)?;
                let source = self.body.prologue(IrOp::GlobalAddr(global), &[], Type::PTR);
                self.body.mem_copy(address, source, size, natural, false);
            }
        }
        self.define(inst, address)
    }

    /// Parses one set of memory operands; returns the words left.
    fn access<'w>(&self, inst: &Inst<'_>, words: &'w [u32]) -> Result<(Access, &'w [u32])> {
        let mut access = Access::default();
        let Some((&bits, mut rest)) = words.split_first() else {
            return Ok((access, words));
        };
        let mask = MemoryAccess::from_bits(bits).ok_or_else(|| {
            self.error(inst, format!("unknown memory operands {bits:#x}"))
                .under(MEMORY_OPERANDS)
        })?;
        // Nontemporal is a hint.
        access.volatile = mask.contains(MemoryAccess::VOLATILE);
        let mut operand = || {
            let (&word, left) = rest.split_first().ok_or_else(|| {
                self.error(inst, "wrong word count: a memory operand is missing")
                    .under(MEMORY_OPERANDS)
            })?;
            rest = left;
            Ok(word)
        };
        if mask.contains(MemoryAccess::ALIGNED) {
            let align = self.unit.power_of_two(inst, operand()?, MEMORY_OPERANDS)?;
            // No type asks for more, and claims beyond that are not always kept.
            access.align = Some(align.min(128));
        }
        for scope in [
            MemoryAccess::MAKE_POINTER_AVAILABLE,
            MemoryAccess::MAKE_POINTER_VISIBLE,
            MemoryAccess::ALIAS_SCOPE_INTEL_MASK,
            MemoryAccess::NO_ALIAS_INTEL_MASK,
        ] {
            if mask.contains(scope) {
                operand()?;
            }
        }
        Ok((access, rest))
    }

    fn one_access(&self, inst: &Inst<'_>, words: &[u32]) -> Result<Access> {
        match self.access(inst, words)? {
            (access, []) => Ok(access),
            _ => Err(self
                .error(inst, "wrong word count: too many memory operands")
                .under(MEMORY_OPERANDS)),
        }
    }

    fn load(&mut self, inst: &Inst<'_>) -> Result<()> {
        let ty = self.unit.result_type(inst)?;
        if let Bound::BuiltIn {
            variable,
            component,
        } = self.bound(inst, inst.operands[0])?
        {
            return self.load_builtin(inst, variable, component);
        }
        let pointer = self.pointer(inst, inst.operands[0])?;
        self.check_pointee(inst, pointer.pointee, ty)?;
        let access = self.one_access(inst, &inst.operands[1..])?;
        let info = self.unit.type_of_id(inst, ty)?;
        let mem = access.mem(pointer.space, info.align);
        let mut values = Values::new();
        for leaf in self.unit.leaves(inst, ty)? {
            let address = self.body.at_offset(pointer.address, leaf.offset);
            let mem = mem_at(mem, leaf.offset);
            values.push(self.body.b().load(mem, address, leaf.ty));
        }
        self.define_values(inst, values)
    }

    fn check_pointee(&self, inst: &Inst<'_>, pointee: Option<Id>, ty: Id) -> Result<()> {
        match pointee {
            Some(pointee) if self.unit.same_type(pointee, ty) => Ok(()),
            // An untyped pointer points to what is accessed.
            None => Ok(()),
            _ => Err(self.error(
                inst,
                format!(
                    "the pointer does not point to {}",
                    self.unit.binary.describe(ty)
                ),
            )),
        }
    }

    fn store(&mut self, inst: &Inst<'_>) -> Result<()> {
        let pointer = self.pointer(inst, inst.operands[0])?;
        let values = self.values(inst, inst.operands[1])?;
        let ty = self.unit.type_of(inst, inst.operands[1])?;
        self.check_pointee(inst, pointer.pointee, ty)?;
        let access = self.one_access(inst, &inst.operands[2..])?;
        let natural = self.unit.type_of_id(inst, ty)?.align;
        let mem = access.mem(pointer.space, natural);
        self.store_leaves(inst, ty, pointer.address, mem, &values)
    }

    /// `if (predicate) result = load(pointer); else result = default;` (SPV_INTEL_predicated_io,
    /// "Overview").
    fn predicated_load(&mut self, inst: &Inst<'_>) -> Result<()> {
        let words = inst.operands;
        let ty = self.unit.result_type(inst)?;
        let pointer = self.pointer(inst, words[0])?;
        self.check_pointee(inst, pointer.pointee, ty)?;
        let predicate = self.typed(inst, words[1], Type::I1)?;
        let ir = self.predicated_type(inst, ty)?;
        let default = self.typed(inst, words[2], ir)?;
        let mem = self.predicated_access(inst, &words[3..], pointer.space, ty)?;
        let mut f = self.body.b();
        let some = f.new_block(&[]);
        let done = f.new_block(&[ir]);
        f.cond_br(predicate, some, &[], done, &[default]);
        f.switch_to(some);
        let loaded = f.load(mem, pointer.address, ir);
        f.br(done, &[loaded]);
        let value = f.param(done, 0);
        self.body.block = done;
        self.define(inst, value)
    }

    fn predicated_store(&mut self, inst: &Inst<'_>) -> Result<()> {
        let words = inst.operands;
        let pointer = self.pointer(inst, words[0])?;
        let ty = self.unit.type_of(inst, words[1])?;
        self.check_pointee(inst, pointer.pointee, ty)?;
        let ir = self.predicated_type(inst, ty)?;
        let value = self.typed(inst, words[1], ir)?;
        let predicate = self.typed(inst, words[2], Type::I1)?;
        let mem = self.predicated_access(inst, &words[3..], pointer.space, ty)?;
        let mut f = self.body.b();
        let some = f.new_block(&[]);
        let done = f.new_block(&[]);
        f.cond_br(predicate, some, &[], done, &[]);
        f.switch_to(some);
        f.store(mem, pointer.address, value);
        f.br(done, &[]);
        self.body.block = done;
        Ok(())
    }

    fn predicated_type(&self, inst: &Inst<'_>, ty: Id) -> Result<Type> {
        match self.unit.type_of_id(inst, ty)?.kind {
            Kind::Value(ty) if ty.scalar.is_int() || ty.scalar.is_float() => Ok(ty),
            _ => Err(self.error(
                inst,
                "what a predicate decides about is not a scalar or vector of numbers",
            )),
        }
    }

    fn predicated_access(
        &self,
        inst: &Inst<'_>,
        words: &[u32],
        space: crate::kernel_info::AddressSpace,
        ty: Id,
    ) -> Result<Mem> {
        let access = self.one_access(inst, words)?;
        if access.volatile {
            return Err(self
                .error(inst, "a predicated access is not volatile")
                .under(MEMORY_OPERANDS));
        }
        Ok(access.mem(space, self.unit.type_of_id(inst, ty)?.align))
    }

    fn store_leaves(
        &mut self,
        inst: &Inst<'_>,
        ty: Id,
        address: Value,
        mem: Mem,
        values: &[Value],
    ) -> Result<()> {
        let leaves = self.unit.leaves(inst, ty)?;
        for (leaf, &value) in leaves.iter().zip(values) {
            let address = self.body.at_offset(address, leaf.offset);
            let mem = mem_at(mem, leaf.offset);
            self.body.b().store(mem, address, value);
        }
        Ok(())
    }

    fn copy_memory(&mut self, inst: &Inst<'_>) -> Result<()> {
        let to = self.pointer(inst, inst.operands[0])?;
        let from = self.pointer(inst, inst.operands[1])?;
        let pointee = match (from.pointee, to.pointee) {
            (Some(a), Some(b)) if self.unit.same_type(a, b) => a,
            // One of them may be untyped.
            (Some(pointee), None) | (None, Some(pointee)) => pointee,
            _ => return Err(self.error(inst, "the pointers do not point to the same type")),
        };
        let (first, rest) = self.access(inst, &inst.operands[2..])?;
        let second = match rest {
            [] => first,
            rest => self.one_access(inst, rest)?,
        };
        let info = self.unit.type_of_id(inst, pointee)?;
        let (size, natural) = (info.size, info.align);
        if let Some(ty) = info.ir() {
            let value = self
                .body
                .b()
                .load(second.mem(from.space, natural), from.address, ty);
            self.body
                .b()
                .store(first.mem(to.space, natural), to.address, value);
        } else if size > 0 {
            let align = |access: Access| access.align.unwrap_or(natural);
            self.body.mem_copy(
                to.address,
                from.address,
                size,
                align(first).min(align(second)),
                first.volatile || second.volatile,
            );
        }
        Ok(())
    }

    fn copy_memory_sized(&mut self, inst: &Inst<'_>) -> Result<()> {
        let to = self.pointer(inst, inst.operands[0])?;
        let from = self.pointer(inst, inst.operands[1])?;
        let (first, rest) = self.access(inst, &inst.operands[3..])?;
        let second = match rest {
            [] => first,
            rest => self.one_access(inst, rest)?,
        };
        let align = first.align.unwrap_or(1).min(second.align.unwrap_or(1));
        let volatile = first.volatile || second.volatile;
        match self.unit.integer_constant(inst.operands[2]) {
            Some(0) => {}
            Some(size) => self
                .body
                .mem_copy(to.address, from.address, size, align, volatile),
            None => {
                let size = self.size_value(inst, inst.operands[2])?;
                let op = IrOp::MemCopyDyn {
                    align,
                    masked: false,
                };
                self.body
                    .b()
                    .ins(op, &[to.address, from.address, size], &[]);
            }
        }
        Ok(())
    }

    /// The four access chains of typed pointers. Constant steps are summed and added last, so that
    /// the variable part of the address of neighbouring members is one value.
    fn typed_chain(&mut self, inst: &Inst<'_>, has_element: bool, in_bounds: bool) -> Result<()> {
        let base = inst.operands[0];
        let indices = &inst.operands[1..];
        if let Bound::BuiltIn {
            variable,
            component,
        } = self.bound(inst, base)?
        {
            return self.builtin_chain(inst, variable, component, has_element);
        }
        let pointer = self.pointer(inst, base)?;
        let of = pointer
            .pointee
            .ok_or_else(|| self.error(inst, "the base points to no type"))?;
        self.chain(inst, pointer, of, indices, has_element, in_bounds)
    }

    /// The four that say what the base points to.
    fn untyped_chain(&mut self, inst: &Inst<'_>, has_element: bool, in_bounds: bool) -> Result<()> {
        let &[of, base, ref indices @ ..] = inst.operands else {
            return Err(self.error(inst, "wrong word count: an operand is missing"));
        };
        self.unit.type_of_id(inst, of)?;
        let pointer = self.pointer(inst, base)?;
        self.chain(inst, pointer, of, indices, has_element, in_bounds)
    }

    fn chain(
        &mut self,
        inst: &Inst<'_>,
        pointer: Pointer,
        mut of: Id,
        mut indices: &[Id],
        has_element: bool,
        in_bounds: bool,
    ) -> Result<()> {
        let result = self.unit.result_type(inst)?;
        match self.unit.type_of_id(inst, result)?.kind {
            Kind::Pointer { class, .. } if super::types::space_of(class) == Some(pointer.space) => {
            }
            _ => {
                return Err(self.error(
                    inst,
                    "the result type is not a pointer to the base's storage class",
                ));
            }
        }
        let mut address = pointer.address;
        let mut constant = 0i64;
        let mut vector_done = false;
        if has_element {
            let (&element, rest) = indices
                .split_first()
                .ok_or_else(|| self.error(inst, "wrong word count: the element is missing"))?;
            indices = rest;
            let size = self.unit.type_of_id(inst, of)?.size;
            let stride = self.unit.pointer_stride(inst, inst.operands[0], size)?;
            self.chain_step(
                inst,
                element,
                stride,
                in_bounds,
                &mut address,
                &mut constant,
            )?;
        }
        for &id in indices {
            let info = self.unit.type_of_id(inst, of)?;
            match &info.kind {
                Kind::Array {
                    element, stride, ..
                } => {
                    let (element, stride) = (*element, *stride);
                    self.chain_step(inst, id, stride, in_bounds, &mut address, &mut constant)?;
                    of = element;
                }
                Kind::Struct { .. } => {
                    let index = self.unit.integer_constant(id).ok_or_else(|| {
                        self.error(inst, "the index of a structure's member is not a constant")
                    })?;
                    let (member, offset, _) = self.unit.step_into(inst, of, index)?;
                    constant = constant.wrapping_add(offset as i64);
                    of = member;
                }
                Kind::Value(ty) if !ty.is_scalar() && !vector_done => {
                    let stride = u64::from(ty.scalar.bytes());
                    self.chain_step(inst, id, stride, in_bounds, &mut address, &mut constant)?;
                    vector_done = true;
                }
                _ => {
                    return Err(self.error(inst, "an index steps into something that has no parts"));
                }
            }
        }
        if constant != 0 {
            let bytes = self.body.iconst(Type::I64, constant as u64);
            address = self.body.b().ptr_add(address, bytes);
        }
        self.define(inst, address)
    }

    fn chain_step(
        &mut self,
        inst: &Inst<'_>,
        index: Id,
        stride: u64,
        in_bounds: bool,
        address: &mut Value,
        constant: &mut i64,
    ) -> Result<()> {
        match self.unit.signed_constant(index) {
            Some(index) => {
                *constant = constant.wrapping_add(index.wrapping_mul(stride as i64));
            }
            None => {
                let index = self.index(inst, index)?;
                *address = self.body.step(*address, index, stride, in_bounds);
            }
        }
        Ok(())
    }

    /// An access chain into a built-in variable: the component that it picks.
    fn builtin_chain(
        &mut self,
        inst: &Inst<'_>,
        variable: Id,
        component: Option<Value>,
        has_element: bool,
    ) -> Result<()> {
        let mut indices = &inst.operands[1..];
        if has_element {
            let zero = indices
                .first()
                .and_then(|&id| self.unit.integer_constant(id))
                == Some(0);
            if !zero {
                return Err(self
                    .error(inst, "an element beyond a built-in variable")
                    .under(BUILT_IN_VARIABLES));
            }
            indices = &indices[1..];
        }
        let component = match (indices, component) {
            ([], component) => component,
            (&[index], None) => Some(match self.unit.signed_constant(index) {
                Some(index) => self.body.iconst(Type::I64, index as u64),
                None => self.index(inst, index)?,
            }),
            _ => {
                return Err(self.error(inst, "an index steps into something that has no parts"));
            }
        };
        self.bind(
            inst,
            Bound::BuiltIn {
                variable,
                component,
            },
        )
    }
}

/// `mem` for a part at an offset: what is known of the alignment there.
pub(super) fn mem_at(mem: Mem, offset: u64) -> Mem {
    let align = match offset {
        0 => mem.align,
        _ => mem.align.min(1 << offset.trailing_zeros().min(31)),
    };
    Mem { align, ..mem }
}
