//! One function's body to an IR function: blocks, values, and which handler an instruction goes to.
//!
//! Blocks are translated in reverse post-order, so that what dominates a use has been translated before it;
//! that it dominates is checked at each use ([`FunctionTranslator::values`]). Phis become block parameters, one a
//! leaf; jumps get their arguments when every block has been translated. Constants and private
//! variables go in the function's prologue: the start of its entry block, which dominates everything.

use std::collections::HashMap;

use rspirv::spirv::{Decoration, FunctionParameterAttribute, Op};
use smallvec::{SmallVec, smallvec};

use super::cfg::Cfg;
use super::constants::Const;
use super::decode::{Id, Inst, Result};
use super::module::{ExtSet, FunctionDef, Unit};
use super::translate::Translator;
use super::types::{Kind, space_of};
use crate::ir::{
    Block, Builder, ConvertOp, FuncId, Function, LocalId, Mem, Op as IrOp, Rounding, SourceLoc,
    Terminator, Type, Value,
};
use crate::{AddressSpace, Diagnostic};

/// The leaves of a value; nearly always one.
pub(super) type Values = SmallVec<[Value; 1]>;

/// What an id is bound to in a function.
#[derive(Clone)]
pub(super) enum Bound {
    Values(Values),
    /// The address of a built-in variable, or of a component of it; it has no address as such.
    BuiltIn {
        variable: Id,
        component: Option<Value>,
    },
}

struct Definition {
    bound: Bound,
    /// The block that defines it; `None` for what dominates everything.
    block: Option<usize>,
}

/// A pointer operand.
pub(super) struct Pointer {
    pub address: Value,
    pub space: AddressSpace,
    pub pointee: Option<Id>,
}

pub(super) struct FunctionTranslator<'t, 'a> {
    pub unit: &'t Unit<'a>,
    pub out: &'t mut Translator<'a>,
    pub id: FuncId,
    pub def: &'t FunctionDef<'a>,
    pub func: Function,
    /// Where instructions are appended.
    pub block: Block,
    cfg: Cfg<'a>,
    /// The SPIR-V block being translated.
    current: usize,
    values: HashMap<Id, Definition>,
    constants: HashMap<(Type, u64), Value>,
    globals: HashMap<Id, Value>,
    prologue: Vec<crate::ir::Inst>,
    pub locals: HashMap<Id, LocalId>,
    loc: SourceLoc,
    source: Option<String>,
    /// The IR block that each SPIR-V block begins and ends with.
    heads: Vec<Option<Block>>,
    tails: Vec<Option<Block>>,
}

/// Translates the function `def`, which [`Translator`] has declared as `id`.
pub(super) fn translate_function<'a>(
    unit: &Unit<'a>,
    out: &mut Translator<'a>,
    id: FuncId,
    def: &FunctionDef<'a>,
) -> Result<Function> {
    let cfg = Cfg::build(unit.binary, def.body, |inst| {
        // The decoder has checked that the selector is an integer.
        let ty = unit.value_types[inst.operands[0] as usize];
        let bits = ty
            .and_then(|ty| unit.types[ty as usize].as_ref()?.ir())
            .map_or(32, |ty| ty.scalar.bits());
        bits.div_ceil(32) as usize
    })?;
    let func = std::mem::replace(
        &mut out.module.functions[id],
        Function::new(String::new(), &[], &[]),
    );
    let blocks = cfg.blocks.len();
    let mut translator = FunctionTranslator {
        block: func.entry(),
        unit,
        out,
        id,
        def,
        func,
        cfg,
        current: 0,
        values: HashMap::new(),
        constants: HashMap::new(),
        globals: HashMap::new(),
        prologue: Vec::new(),
        locals: HashMap::new(),
        loc: SourceLoc::default(),
        source: None,
        heads: vec![None; blocks],
        tails: vec![None; blocks],
    };
    translator.parameters()?;
    translator.make_blocks()?;
    for i in 0..translator.cfg.order.len() {
        translator.translate_block(translator.cfg.order[i])?;
    }
    translator.pass_phis()?;
    let entry = translator.func.entry();
    let mut insts = translator.prologue;
    insts.append(&mut translator.func.blocks[entry].insts);
    translator.func.blocks[entry].insts = insts;
    Ok(translator.func)
}

impl<'a> FunctionTranslator<'_, 'a> {
    /// A refusal, with the source line if the module says it.
    pub fn error(&self, inst: &Inst<'_>, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            source: self.source.clone(),
            ..self.unit.error(inst, message)
        }
    }

    pub fn unsupported(&self, inst: &Inst<'_>) -> Diagnostic {
        self.error(
            inst,
            format!("Op{} is not supported yet", inst.class.opname),
        )
    }

    /// A builder at the current position.
    pub fn b(&mut self) -> Builder<'_> {
        let mut builder = Builder::new(&mut self.func, self.block);
        builder.loc = self.loc;
        builder
    }

    pub fn ty(&self, value: Value) -> Type {
        self.func.ty(value)
    }

    /// A constant in the prologue, made once.
    pub fn iconst(&mut self, ty: Type, bits: u64) -> Value {
        let bits = bits & ty.scalar.mask();
        if let Some(&value) = self.constants.get(&(ty, bits)) {
            return value;
        }
        let value = self.prologue(IrOp::Const(bits), &[], ty);
        self.constants.insert((ty, bits), value);
        value
    }

    /// A floating-point constant in every lane.
    pub fn fconst(&mut self, ty: Type, value: f64) -> Value {
        use crate::ir::Scalar;
        let bits = match ty.scalar {
            Scalar::F16 => u64::from(half::f16::from_f64(value).to_bits()),
            Scalar::F32 => u64::from((value as f32).to_bits()),
            _ => value.to_bits(),
        };
        self.iconst(ty, bits)
    }

    /// An instruction at the start of the entry block.
    pub fn prologue(&mut self, op: IrOp, args: &[Value], ty: Type) -> Value {
        let inst = self.func.make_inst(op, args, &[ty], SourceLoc::default());
        self.prologue.push(inst);
        self.func.insts[inst].results[0]
    }

    /// Makes the blocks of reachable SPIR-V blocks, with a parameter for each leaf of each phi.
    fn make_blocks(&mut self) -> Result<()> {
        for i in 0..self.cfg.order.len() {
            let index = self.cfg.order[i];
            let block = match index {
                0 => self.func.entry(),
                _ => self.func.add_block(),
            };
            self.heads[index] = Some(block);
            for inst in self.cfg.blocks[index].insts {
                match inst.op() {
                    Op::Line | Op::NoLine => {}
                    Op::Phi if index == 0 => {
                        return Err(self.error(inst, "the entry block has no predecessors"));
                    }
                    Op::Phi => {
                        let ty = self.unit.result_type(inst)?;
                        let leaves = self.unit.leaves(inst, ty)?;
                        let values: Values = leaves
                            .iter()
                            .map(|leaf| self.func.add_param(block, leaf.ty))
                            .collect();
                        let result = self.unit.result(inst)?;
                        self.values.insert(
                            result,
                            Definition {
                                bound: Bound::Values(values),
                                block: Some(index),
                            },
                        );
                    }
                    _ => break,
                }
            }
        }
        Ok(())
    }

    fn translate_block(&mut self, index: usize) -> Result<()> {
        self.current = index;
        if let Some(head) = self.heads[index] {
            self.block = head;
        }
        let (insts, term) = {
            let block = &self.cfg.blocks[index];
            (block.insts, block.term)
        };
        let mut after_phis = false;
        for inst in insts {
            match inst.op() {
                Op::Line | Op::NoLine => self.line(inst),
                Op::Phi if after_phis => {
                    return Err(
                        self.error(inst, "a phi comes after another instruction of its block")
                    );
                }
                Op::Phi => {}
                _ => {
                    after_phis = true;
                    self.instruction(inst)?;
                }
            }
        }
        self.terminator(&term)?;
        self.tails[index] = Some(self.block);
        // "OpLine": it lasts to the end of the block.
        self.loc = SourceLoc::default();
        self.source = None;
        Ok(())
    }

    fn line(&mut self, inst: &Inst<'_>) {
        (self.loc, self.source) = match inst.op() {
            Op::Line => {
                let file = self.unit.strings.get(&inst.operands[0]);
                let text = format!(
                    "{}:{}",
                    file.map_or("source", String::as_str),
                    inst.operands[1]
                );
                (self.out.location(&text), Some(text))
            }
            _ => (SourceLoc::default(), None),
        };
    }

    /// The block of a label that the current block jumps to.
    pub fn target(&self, inst: &Inst<'_>, label: Id) -> Result<Block> {
        self.cfg
            .by_label
            .get(&label)
            .and_then(|&index| self.heads[index])
            .ok_or_else(|| self.error(inst, "a jump to something that is not a block"))
    }

    /// Gives every jump its arguments: for each phi of the target, the leaves of what it takes from here.
    fn pass_phis(&mut self) -> Result<()> {
        for i in 0..self.cfg.order.len() {
            let index = self.cfg.order[i];
            let insts = self.cfg.blocks[index].insts;
            for inst in insts {
                match inst.op() {
                    Op::Line | Op::NoLine => continue,
                    Op::Phi => self.pass_phi(inst, index)?,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    fn pass_phi(&mut self, inst: &Inst<'_>, index: usize) -> Result<()> {
        let ty = self.unit.result_type(inst)?;
        let mut given: HashMap<usize, Id> = HashMap::new();
        for pair in inst.operands.chunks_exact(2) {
            let (value, parent) = (pair[0], pair[1]);
            let parent = self.cfg.by_label.get(&parent).copied();
            let preds = &self.cfg.blocks[index].preds;
            let Some(parent) = parent.filter(|p| preds.binary_search(p).is_ok()) else {
                return Err(self.error(
                    inst,
                    format!(
                        "{} is not a predecessor of the phi's block",
                        self.unit.binary.describe(pair[1])
                    ),
                ));
            };
            // One entry a predecessor; LLVM's translator writes one a jump, all the same.
            match given.insert(parent, value) {
                None => {}
                Some(before) if before == value => continue,
                Some(_) => {
                    return Err(self.error(
                        inst,
                        format!(
                            "the predecessor {} gives two values",
                            self.unit.binary.describe(pair[1])
                        ),
                    ));
                }
            }
            let of_value = self.type_of(inst, value)?;
            if !self.unit.same_type(of_value, ty) {
                return Err(self.error(
                    inst,
                    format!(
                        "the type of {} is not the phi's",
                        self.unit.binary.describe(value)
                    ),
                ));
            }
            if !self.cfg.is_reachable(parent) {
                continue;
            }
            self.current = parent;
            let values = self.values(inst, value)?;
            let (Some(tail), Some(head)) = (self.tails[parent], self.heads[index]) else {
                continue;
            };
            for call in self.func.blocks[tail].term.targets_mut() {
                if call.block == head {
                    call.args.extend(values.iter().copied());
                }
            }
        }
        let missing = self.cfg.blocks[index]
            .preds
            .iter()
            .find(|p| self.cfg.is_reachable(**p) && !given.contains_key(p));
        match missing {
            Some(&pred) => Err(self.error(
                inst,
                format!(
                    "no value for the predecessor {}",
                    self.cfg.blocks[pred]
                        .label
                        .result
                        .map_or_else(String::new, |id| self.unit.binary.describe(id))
                ),
            )),
            None => Ok(()),
        }
    }

    /// Binds the parameters. A structure that a kernel is passed by value is copied, since the function may
    /// write to it ("FuncParamAttr ByVal").
    fn parameters(&mut self) -> Result<()> {
        let params: SmallVec<[Value; 8]> = self.func.params().iter().copied().collect();
        let mut next = params.iter().copied();
        let def = self.def;
        for param in &def.params {
            let ty = self.unit.result_type(param)?;
            let count = self.unit.leaves(param, ty)?.len();
            let mut values: Values = next.by_ref().take(count).collect();
            let id = self.unit.result(param)?;
            if let Some(pointee) = self.unit.by_value(param)? {
                let info = self.unit.type_of_id(param, pointee)?;
                let (size, align) = (info.size, info.align);
                let size32 = u32::try_from(size)
                    .map_err(|_| self.error(param, "the structure is too large"))?;
                let copy = self.prologue(
                    IrOp::Alloca {
                        size: size32,
                        align: self.unit.aligned(id, align),
                    },
                    &[],
                    Type::PTR,
                );
                let op = IrOp::MemCopy {
                    size,
                    align,
                    volatile: false,
                    masked: false,
                };
                self.b().ins(op, &[copy, values[0]], &[]);
                values = smallvec![copy];
            }
            self.values.insert(
                id,
                Definition {
                    bound: Bound::Values(values),
                    block: None,
                },
            );
        }
        Ok(())
    }

    // --- operands -------------------------------------------------------------------------------

    /// The id of an operand's type.
    pub fn type_of(&self, inst: &Inst<'_>, id: Id) -> Result<Id> {
        self.unit.value_types[id as usize].ok_or_else(|| {
            self.error(
                inst,
                format!("{} is not a value", self.unit.binary.describe(id)),
            )
        })
    }

    /// What an id is bound to here.
    pub fn bound(&mut self, inst: &Inst<'_>, id: Id) -> Result<Bound> {
        if let Some(def) = self.values.get(&id) {
            return match def.block {
                Some(block) if !self.cfg.dominates(block, self.current) => {
                    Err(self.not_dominated(inst, id))
                }
                _ => Ok(def.bound.clone()),
            };
        }
        let linked = self.unit.linked(id);
        if let Some(variable) = self.unit.variables.get(&linked)
            && self.unit.is_builtin(linked)
        {
            debug_assert!(variable.inst.result.is_some());
            return Ok(Bound::BuiltIn {
                variable: linked,
                component: None,
            });
        }
        let Some((ty, value)) = &self.unit.constants[id as usize] else {
            self.type_of(inst, id)?;
            if self.unit.functions.contains_key(&id) {
                return Err(self.error(
                    inst,
                    format!(
                        "the function {} is used as a value",
                        self.unit.binary.describe(id)
                    ),
                ));
            }
            return Err(self.not_dominated(inst, id));
        };
        let mut values = Values::new();
        self.materialize(inst, *ty, value, &mut values)?;
        let bound = Bound::Values(values);
        self.values.insert(
            id,
            Definition {
                bound: bound.clone(),
                block: None,
            },
        );
        Ok(bound)
    }

    fn not_dominated(&self, inst: &Inst<'_>, id: Id) -> Diagnostic {
        self.error(
            inst,
            format!(
                "{} is used where its definition does not dominate",
                self.unit.binary.describe(id)
            ),
        )
    }

    /// The leaves of an operand.
    pub fn values(&mut self, inst: &Inst<'_>, id: Id) -> Result<Values> {
        match self.bound(inst, id)? {
            Bound::Values(values) => Ok(values),
            Bound::BuiltIn { variable, .. } => Err(self.error(
                inst,
                format!(
                    "the built-in variable {} is used other than by loading it",
                    self.unit.binary.describe(variable)
                ),
            )),
        }
    }

    /// An operand that is a scalar, vector or pointer.
    pub fn value(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let values = self.values(inst, id)?;
        let ty = self.type_of(inst, id)?;
        let single = self.unit.type_of_id(inst, ty)?.ir().is_some();
        match values.as_slice() {
            [value] if single => Ok(*value),
            _ => Err(self.error(
                inst,
                format!(
                    "{} is not a scalar, vector or pointer",
                    self.unit.binary.describe(id)
                ),
            )),
        }
    }

    /// An operand of a given type.
    pub fn typed(&mut self, inst: &Inst<'_>, id: Id, ty: Type) -> Result<Value> {
        let value = self.value(inst, id)?;
        if self.ty(value) == ty {
            Ok(value)
        } else {
            Err(self.error(
                inst,
                format!(
                    "the operand {} has type {}, expected {ty}",
                    self.unit.binary.describe(id),
                    self.ty(value)
                ),
            ))
        }
    }

    /// An operand with integer lanes.
    pub fn integer(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.value(inst, id)?;
        if self.ty(value).scalar.is_int() {
            Ok(value)
        } else {
            Err(self.error(
                inst,
                format!(
                    "the operand {} is not an integer or vector of integers",
                    self.unit.binary.describe(id)
                ),
            ))
        }
    }

    /// A scalar integer operand as an `i64`, sign-extended.
    pub fn index(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.integer(inst, id)?;
        match self.ty(value) {
            Type::I64 => Ok(value),
            ty if ty.is_scalar() => Ok(self.b().convert(ConvertOp::SExt, value, Type::I64)),
            _ => Err(self.error(
                inst,
                format!("the index {} is a vector", self.unit.binary.describe(id)),
            )),
        }
    }

    /// A scalar integer operand as an `i64`, zero-extended.
    pub fn size_value(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.integer(inst, id)?;
        match self.ty(value) {
            Type::I64 => Ok(value),
            ty if ty.is_scalar() => Ok(self.b().convert(ConvertOp::ZExt, value, Type::I64)),
            _ => Err(self.error(
                inst,
                format!("the size {} is a vector", self.unit.binary.describe(id)),
            )),
        }
    }

    /// An operand with floating-point lanes.
    pub fn float(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.value(inst, id)?;
        if self.ty(value).scalar.is_float() {
            Ok(value)
        } else {
            Err(self.error(
                inst,
                format!(
                    "the operand {} is not a float or vector of floats",
                    self.unit.binary.describe(id)
                ),
            ))
        }
    }

    /// The storage class's address space and the pointee of an operand's pointer type.
    pub fn pointer_type(&self, inst: &Inst<'_>, id: Id) -> Result<(AddressSpace, Option<Id>)> {
        let ty = self.type_of(inst, id)?;
        match self.unit.type_of_id(inst, ty)?.kind {
            Kind::Pointer { class, pointee } => match space_of(class) {
                Some(space) => Ok((space, pointee)),
                None => Err(self.error(
                    inst,
                    format!("pointers to storage class {class:?} are not supported"),
                )),
            },
            _ => Err(self.error(
                inst,
                format!("{} is not a pointer", self.unit.binary.describe(id)),
            )),
        }
    }

    /// A pointer operand.
    pub fn pointer(&mut self, inst: &Inst<'_>, id: Id) -> Result<Pointer> {
        if let Bound::BuiltIn { .. } = self.bound(inst, id)? {
            // For its message: built-in variables have no address.
            self.values(inst, id)?;
        }
        let (space, pointee) = self.pointer_type(inst, id)?;
        let address = self.typed(inst, id, Type::PTR)?;
        Ok(Pointer {
            address,
            space,
            pointee,
        })
    }

    /// The IR type of a result that is one leaf.
    pub fn result_ir(&self, inst: &Inst<'_>) -> Result<Type> {
        let ty = self.unit.result_type(inst)?;
        self.unit.type_of_id(inst, ty)?.ir().ok_or_else(|| {
            self.error(
                inst,
                format!(
                    "the result type {} is not a scalar, vector or pointer",
                    self.unit.binary.describe(ty)
                ),
            )
        })
    }

    // --- results --------------------------------------------------------------------------------

    /// Binds the result to one value, whose type must be the result type.
    pub fn define(&mut self, inst: &Inst<'_>, value: Value) -> Result<()> {
        self.define_values(inst, smallvec![value])
    }

    /// Binds the result to its leaves, whose types must be the result type's.
    pub fn define_values(&mut self, inst: &Inst<'_>, values: Values) -> Result<()> {
        let ty = self.unit.result_type(inst)?;
        let leaves = self.unit.leaves(inst, ty)?;
        let matches = leaves.len() == values.len()
            && leaves
                .iter()
                .zip(&values)
                .all(|(leaf, &value)| leaf.ty == self.ty(value));
        if !matches {
            let list = |types: Vec<Type>| {
                let names: Vec<String> = types.iter().map(Type::to_string).collect();
                names.join(", ")
            };
            return Err(self.error(
                inst,
                format!(
                    "the result type is {}, the operation gives {}",
                    list(leaves.iter().map(|leaf| leaf.ty).collect()),
                    list(values.iter().map(|&v| self.ty(v)).collect())
                ),
            ));
        }
        self.bind(inst, Bound::Values(values))
    }

    /// Binds the result.
    pub fn bind(&mut self, inst: &Inst<'_>, bound: Bound) -> Result<()> {
        let result = self.unit.result(inst)?;
        let block = Some(self.current);
        self.values.insert(result, Definition { bound, block });
        Ok(())
    }

    // --- constants ------------------------------------------------------------------------------

    /// A scalar or vector of constant lanes.
    pub fn lanes(&mut self, ty: Type, lanes: &[u64]) -> Value {
        if lanes.iter().all(|lane| lane == &lanes[0]) {
            return self.iconst(ty, lanes[0]);
        }
        let parts: SmallVec<[Value; 16]> = lanes
            .iter()
            .map(|&lane| self.iconst(ty.lane(), lane))
            .collect();
        self.prologue(IrOp::Build, &parts, ty)
    }

    /// The address of a module-scope variable.
    pub fn variable_address(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let id = self.unit.linked(id);
        if let Some(&value) = self.globals.get(&id) {
            return Ok(value);
        }
        let op = match self.out.variable(self.unit, inst, id)? {
            super::translate::VariablePlace::Global(global) => IrOp::GlobalAddr(global),
            super::translate::VariablePlace::Local(local) => {
                let local = self.func.locals.push(local);
                self.locals.insert(id, local);
                IrOp::LocalAddr(local)
            }
        };
        let value = self.prologue(op, &[], Type::PTR);
        self.globals.insert(id, value);
        Ok(value)
    }

    fn materialize(
        &mut self,
        inst: &Inst<'_>,
        ty: Id,
        value: &Const,
        out: &mut Values,
    ) -> Result<()> {
        let unit = self.unit;
        let info = unit.type_of_id(inst, ty)?;
        match (value, info.ir()) {
            (Const::Null, _) => {
                for leaf in unit.leaves(inst, ty)? {
                    out.push(self.iconst(leaf.ty, 0));
                }
            }
            (Const::Lanes(lanes), Some(ty)) if lanes.len() == usize::from(ty.lanes) => {
                out.push(self.lanes(ty, lanes));
            }
            (Const::Address { variable, addend }, Some(ty)) => {
                let mut address = self.variable_address(inst, *variable)?;
                if *addend != 0 {
                    let bytes = self.iconst(Type::I64, *addend as u64);
                    address = self.prologue(IrOp::PtrAdd, &[address, bytes], Type::PTR);
                }
                if ty == Type::I64 {
                    let cast = IrOp::Convert(ConvertOp::Bitcast, Rounding::NearestEven);
                    address = self.prologue(cast, &[address], Type::I64);
                }
                out.push(address);
            }
            (Const::Composite(parts), _) => {
                // Checks the number of leaves of the whole.
                if unit.leaves(inst, ty)?.is_empty() {
                    return Ok(());
                }
                match &info.kind {
                    Kind::Array { element, .. } => {
                        for part in parts.iter() {
                            self.materialize(inst, *element, part, out)?;
                        }
                    }
                    Kind::Struct { members, .. } => {
                        for (part, &member) in parts.iter().zip(members) {
                            self.materialize(inst, member, part, out)?;
                        }
                    }
                    _ => return Err(self.error(inst, "a composite constant of no composite type")),
                }
            }
            (Const::Other, _) => {
                return Err(self.error(inst, "constant samplers and pipes are not supported yet"));
            }
            _ => return Err(self.error(inst, "this constant cannot be used here")),
        }
        Ok(())
    }

    // --- dispatch -------------------------------------------------------------------------------

    /// Translates one instruction that is neither a phi nor a terminator.
    fn instruction(&mut self, inst: &Inst<'a>) -> Result<()> {
        match inst.op() {
            // Without effect on what is computed.
            Op::Nop
            | Op::LoopMerge
            | Op::SelectionMerge
            | Op::LifetimeStart
            | Op::LifetimeStop
            | Op::AssumeTrueKHR => Ok(()),
            Op::Undef => {
                let ty = self.unit.result_type(inst)?;
                let mut values = Values::new();
                self.materialize(inst, ty, &Const::Null, &mut values)?;
                self.define_values(inst, values)
            }
            Op::CopyObject | Op::CopyLogical => self.copy_object(inst),
            Op::ExpectKHR => {
                let value = self.value(inst, inst.operands[0])?;
                self.define(inst, value)
            }
            Op::ExtInst => match self.unit.ext_sets.get(&inst.operands[0]) {
                Some(ExtSet::OpenClStd) => self.opencl_std(inst),
                Some(ExtSet::Ignored) => Ok(()),
                Some(ExtSet::Unknown(name)) => Err(self.error(
                    inst,
                    format!("the instruction set {name:?} is not supported"),
                )),
                None => Err(self.error(
                    inst,
                    format!(
                        "{} is not an imported instruction set",
                        self.unit.binary.describe(inst.operands[0])
                    ),
                )),
            },
            Op::FunctionCall => self.call(inst),
            op if self.arithmetic(op, inst)? => Ok(()),
            op if self.conversion(op, inst)? => Ok(()),
            op if self.composite(op, inst)? => Ok(()),
            op if self.memory(op, inst)? => Ok(()),
            op if self.atomic(op, inst)? => Ok(()),
            op if self.synchronization(op, inst)? => Ok(()),
            op if op.is_type() || op.is_constant() => {
                Err(self.error(inst, "this instruction is not allowed in a function"))
            }
            _ => Err(self.unsupported(inst)),
        }
    }

    fn copy_object(&mut self, inst: &Inst<'_>) -> Result<()> {
        match self.bound(inst, inst.operands[0])? {
            Bound::Values(values) => self.define_values(inst, values),
            bound => self.bind(inst, bound),
        }
    }

    /// Ends the current block.
    pub fn terminate(&mut self, term: Terminator) {
        let block = self.block;
        self.func.blocks[block].term = term;
    }

    /// Loads a leaf at a byte offset from an address.
    pub fn at_offset(&mut self, address: Value, offset: u64) -> Value {
        if offset == 0 {
            return address;
        }
        let bytes = self.iconst(Type::I64, offset);
        self.b().ptr_add(address, bytes)
    }

    /// `mem` for a part at an offset: what is known of the alignment there.
    pub fn mem_at(&self, mem: Mem, offset: u64) -> Mem {
        let align = match offset {
            0 => mem.align,
            _ => mem.align.min(1 << offset.trailing_zeros().min(31)),
        };
        Mem { align, ..mem }
    }
}

impl Unit<'_> {
    /// The type that a pointer parameter decorated `ByVal` points to.
    pub(super) fn by_value(&self, param: &Inst<'_>) -> Result<Option<Id>> {
        let id = self.result(param)?;
        let by_value = self.decorations(id).iter().any(|(decoration, words)| {
            *decoration == Decoration::FuncParamAttr
                && words.first() == Some(&(FunctionParameterAttribute::ByVal as u32))
        });
        if !by_value {
            return Ok(None);
        }
        let ty = self.result_type(param)?;
        match self.type_of_id(param, ty)?.kind {
            Kind::Pointer {
                pointee: Some(pointee),
                ..
            } => Ok(Some(pointee)),
            _ => Err(self.error(param, "a parameter passed by value is not a pointer")),
        }
    }

    /// The alignment of an object: its type's, or more if the id is decorated so.
    pub(super) fn aligned(&self, id: Id, natural: u32) -> u32 {
        match self.decoration(id, Decoration::Alignment) {
            Some(&[align]) if align.is_power_of_two() && align <= 4096 => align.max(natural),
            _ => natural,
        }
    }

    pub(super) fn is_builtin(&self, id: Id) -> bool {
        self.has_decoration(id, Decoration::BuiltIn)
    }
}
