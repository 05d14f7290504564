//! One function's body to an IR function: blocks, values, and which handler an instruction goes to.
//!
//! Blocks are translated in reverse post-order, so that what dominates a use has been translated
//! before it; that it dominates is checked at each use ([`FunctionTranslator::bound`], in
//! `operands.rs`). Phis become block parameters, one a leaf; jumps get their arguments when every
//! block has been translated. Constants and private variables go in the function's prologue: the
//! start of its entry block, which dominates everything.

use std::collections::HashMap;

use rspirv::spirv::{Decoration, FunctionParameterAttribute, Op};
use smallvec::{SmallVec, smallvec};

use super::cfg::Cfg;
use super::constants::Const;
use super::decode::{Id, Inst, Result};
use super::memory::MAX_PRIVATE;
use super::module::{ExtSet, FunctionDef, Unit};
use super::report::Line;
use super::rules::{LOGICAL_LAYOUT, REQUIRED, Rule, UNIVERSAL};
use super::translate::Translator;
use super::types::Kind;
use crate::diagnostic::Diagnostic;
use crate::ir::{
    Block, Builder, FuncId, Function, LocalId, Mem, Op as IrOp, SourceLoc, Terminator, Type, Value,
};
use crate::kernel_info::AddressSpace;

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

/// An id's binding, and where it holds.
pub(super) struct Definition {
    pub bound: Bound,
    /// The block that defines it; `None` for what dominates everything.
    pub block: Option<usize>,
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
    pub cfg: Cfg<'a>,
    /// The SPIR-V block being translated.
    pub current: usize,
    pub values: HashMap<Id, Definition>,
    pub constants: HashMap<(Type, u64), Value>,
    pub globals: HashMap<Id, Value>,
    prologue: Vec<crate::ir::Inst>,
    pub locals: HashMap<Id, LocalId>,
    loc: SourceLoc,
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
    pub fn error(&self, inst: &Inst<'_>, message: impl Into<String>) -> Diagnostic {
        self.unit.error(inst, message)
    }

    pub fn unsupported(&self, inst: &Inst<'_>) -> Diagnostic {
        self.error(
            inst,
            format!("Op{} is not supported yet", inst.class.opname),
        )
        .under(REQUIRED)
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
        self.iconst(ty, crate::ir::eval::from_f64(ty.scalar, value))
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
                    _ if self.unit.is_debug_information(inst) => {}
                    Op::Phi if index == 0 => {
                        return Err(self
                            .error(inst, "the entry block has no predecessors")
                            .under(UNIVERSAL));
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
                _ if self.unit.is_debug_information(inst) => self.line(inst),
                Op::Phi if after_phis => {
                    return Err(self
                        .error(inst, "a phi comes after another instruction of its block")
                        .under(UNIVERSAL));
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
        Ok(())
    }

    /// Remembers what debug information says of the instructions that follow.
    fn line(&mut self, inst: &Inst<'_>) {
        match self.unit.binary.line(inst) {
            Some(Line::Is(text)) => self.loc = self.out.location(&text),
            Some(Line::Unknown) => self.loc = SourceLoc::default(),
            None => {}
        }
    }

    /// The block of a label that the current block jumps to.
    pub fn target(&self, inst: &Inst<'_>, label: Id) -> Result<Block> {
        self.cfg
            .by_label
            .get(&label)
            .and_then(|&index| self.heads[index])
            .ok_or_else(|| self.error(inst, "a jump to something that is not a block"))
    }

    /// Gives every jump its arguments: for each phi of the target, the leaves of what it takes from
    /// here.
    fn pass_phis(&mut self) -> Result<()> {
        for i in 0..self.cfg.order.len() {
            let index = self.cfg.order[i];
            let insts = self.cfg.blocks[index].insts;
            for inst in insts {
                match inst.op() {
                    _ if self.unit.is_debug_information(inst) => continue,
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

    /// Binds the parameters. A structure that a kernel is passed by value is copied, since the
    /// function may write to it ("FuncParamAttr ByVal").
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
                if size > MAX_PRIVATE {
                    return Err(self
                        .error(param, "the structure is too large")
                        .under(Rule::Limit));
                }
                let copy = self.prologue(
                    IrOp::Alloca {
                        size: (size as u32).max(1),
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
                if size > 0 {
                    self.b().ins(op, &[copy, values[0]], &[]);
                }
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
            Op::ExtInst | Op::ExtInstWithForwardRefsKHR => {
                match self.unit.ext_sets.get(&inst.operands[0]) {
                    Some(ExtSet::OpenClStd) => self.opencl_std(inst),
                    Some(ExtSet::Ignored) => Ok(()),
                    Some(ExtSet::Unknown(name)) => Err(self
                        .error(
                            inst,
                            format!("the instruction set {name:?} is not supported"),
                        )
                        .under(Rule::Env("Extended Instruction Sets"))),
                    None => Err(self.error(
                        inst,
                        format!(
                            "{} is not an imported instruction set",
                            self.unit.binary.describe(inst.operands[0])
                        ),
                    )),
                }
            }
            Op::FunctionCall => self.call(inst),
            op if self.arithmetic(op, inst)? => Ok(()),
            op if self.conversion(op, inst)? => Ok(()),
            op if self.composite(op, inst)? => Ok(()),
            op if self.memory(op, inst)? => Ok(()),
            op if self.generic_pointer(op, inst)? => Ok(()),
            op if self.atomic(op, inst)? => Ok(()),
            op if self.synchronization(op, inst)? => Ok(()),
            op if self.group(op, inst)? => Ok(()),
            op if self.pipe(op, inst)? => Ok(()),
            op if self.device_enqueue(op, inst)? => Ok(()),
            op if self.image(op, inst)? => Ok(()),
            op if self.named_barrier(op, inst)? => Ok(()),
            op if self.extension(op, inst)? => Ok(()),
            op if op.is_type() || op.is_constant() => Err(self
                .error(inst, "this instruction is not allowed in a function")
                .under(LOGICAL_LAYOUT)),
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
    /// Whether an instruction is of debug information or of another set without meaning. These may
    /// come between phis ("OpPhi").
    fn is_debug_information(&self, inst: &Inst<'_>) -> bool {
        match inst.op() {
            Op::Line | Op::NoLine => true,
            Op::ExtInst | Op::ExtInstWithForwardRefsKHR => {
                self.ext_sets.get(&inst.operands[0]) == Some(&ExtSet::Ignored)
            }
            _ => false,
        }
    }

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
            _ => Err(self
                .error(param, "a parameter passed by value is not a pointer")
                .under(Rule::Spirv("Function Parameter Attribute"))),
        }
    }

    /// The alignment of an object: its type's, or more if the id is decorated so.
    pub(super) fn aligned(&self, id: Id, natural: u32) -> u32 {
        let by_constant = || match self.decoration(id, Decoration::AlignmentId) {
            Some(&[align]) => u32::try_from(self.integer_constant(align)?).ok(),
            _ => None,
        };
        let align = match self.decoration(id, Decoration::Alignment) {
            Some(&[align]) => Some(align),
            _ => by_constant(),
        };
        match align {
            Some(align) if align.is_power_of_two() && align <= 4096 => align.max(natural),
            _ => natural,
        }
    }

    pub(super) fn is_builtin(&self, id: Id) -> bool {
        self.has_decoration(id, Decoration::BuiltIn)
    }
}
