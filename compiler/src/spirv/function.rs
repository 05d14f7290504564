//! One function to an IR function.
//!
//! Blocks are translated in reverse post-order, so that what dominates a use has been translated
//! before it; that it dominates is checked at each use ([`FunctionTranslator::bound`], in
//! `operands.rs`). The IR function is [`Body`]'s, where the translation has got to is [`Flow`]'s;
//! what is here is what ids are bound to, and which handler translates an instruction.

use std::collections::HashMap;

use rspirv::spirv::{Decoration, FunctionParameterAttribute, Op};
use smallvec::{SmallVec, smallvec};

use super::body::{Body, Values};
use super::cfg::Cfg;
use super::constants::Const;
use super::decode::{Id, Inst, Result};
use super::flow::Flow;
use super::module::{ExtSet, FunctionDef, Unit};
use super::module_builder::ModuleBuilder;
use super::report::Line;
use super::rules::{DECORATION, LOGICAL_LAYOUT, REQUIRED, Rule, UNIVERSAL};
use super::types::Kind;
use crate::abi::MOST_PRIVATE;
use crate::diagnostic::Diagnostic;
use crate::ir::{Block, FuncId, Function, Op as IrOp, SourceLoc, Type, Value};
use crate::kernel_info::AddressSpace;

/// Largest private variable, in bytes: there is no memory for a larger one.
pub(super) const MAX_PRIVATE: u64 = MOST_PRIVATE;

/// The largest alignment of an object, in bytes: a page. All memory of a kernel can give it.
const MAX_ALIGNMENT: u32 = 4096;

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

/// A function on its way to IR. Handlers of instructions are its methods, a family in each file.
pub(super) struct FunctionTranslator<'t, 'a> {
    pub unit: &'t Unit<'a>,
    pub out: &'t mut ModuleBuilder<'a>,
    /// What it becomes.
    pub id: FuncId,
    pub def: &'t FunctionDef<'a>,
    pub body: Body,
    pub flow: Flow<'a>,
    /// What ids are bound to so far.
    pub definitions: HashMap<Id, Definition>,
    /// The addresses of module-scope variables that the function has asked for.
    pub addresses: HashMap<Id, Value>,
}

/// Translates the function `def`, which [`ModuleBuilder`] has declared as `id`.
pub(super) fn translate_function<'a>(
    unit: &Unit<'a>,
    out: &mut ModuleBuilder<'a>,
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
    let mut translator = FunctionTranslator {
        body: Body::new(func, out.modes),
        unit,
        out,
        id,
        def,
        flow: Flow::new(cfg),
        definitions: HashMap::new(),
        addresses: HashMap::new(),
    };
    translator.parameters()?;
    translator.make_blocks()?;
    for i in 0..translator.flow.cfg.order.len() {
        translator.translate_block(translator.flow.cfg.order[i])?;
    }
    translator.pass_phis()?;
    Ok(translator.body.finish())
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

    fn translate_block(&mut self, index: usize) -> Result<()> {
        self.flow.current = index;
        if let Some(head) = self.flow.heads[index] {
            self.body.block = head;
        }
        let (insts, term) = {
            let block = &self.flow.cfg.blocks[index];
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
        self.flow.tails[index] = Some(self.body.block);
        // "OpLine": it lasts to the end of the block.
        self.body.loc = SourceLoc::default();
        Ok(())
    }

    /// Remembers what debug information says of the instructions that follow.
    fn line(&mut self, inst: &Inst<'_>) {
        match self.unit.binary.line(inst) {
            Some(Line::Is(text)) => self.body.loc = self.out.location(&text),
            Some(Line::Unknown) => self.body.loc = SourceLoc::default(),
            None => {}
        }
    }

    /// The block of a label that the current block jumps to.
    pub fn target(&self, inst: &Inst<'_>, label: Id) -> Result<Block> {
        self.flow
            .head(label)
            .ok_or_else(|| self.error(inst, "a jump to something that is not a block"))
    }

    /// Binds the parameters. A structure that a kernel is passed by value is copied, since the
    /// function may write to it ("FuncParamAttr ByVal").
    fn parameters(&mut self) -> Result<()> {
        let params: SmallVec<[Value; 8]> = self.body.func.params().iter().copied().collect();
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
                let copy = self.body.prologue(
                    IrOp::Alloca {
                        size: (size as u32).max(1),
                        align: self.unit.aligned(param, align)?,
                        interleaving: None,
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
                    self.body.b().ins(op, &[copy, values[0]], &[]);
                }
                values = smallvec![copy];
            }
            self.definitions.insert(
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
            op if self.image_block(op, inst)? => Ok(()),
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
}

impl Unit<'_> {
    /// Whether an instruction is of debug information or of another set without meaning. These may
    /// come between phis ("OpPhi").
    pub(super) fn is_debug_information(&self, inst: &Inst<'_>) -> bool {
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

    /// The alignment of the object that an instruction declares: its type's, or more if it is
    /// decorated so.
    pub(super) fn aligned(&self, inst: &Inst<'_>, natural: u32) -> Result<u32> {
        let id = self.result(inst)?;
        let by_constant = || match self.decoration(id, Decoration::AlignmentId) {
            Some(&[align]) => {
                let align = self.integer_constant(align)?;
                Some(u32::try_from(align).unwrap_or(1 << 31))
            }
            _ => None,
        };
        let align = match self.decoration(id, Decoration::Alignment) {
            Some(&[align]) => Some(align),
            _ => by_constant(),
        };
        let align = match align {
            None | Some(0) => 1,
            Some(align) => self.power_of_two(inst, align, DECORATION)?,
        };
        if align > MAX_ALIGNMENT {
            let message =
                format!("an object aligned to {align} bytes: {MAX_ALIGNMENT} is the most");
            return Err(self.error(inst, message).under(Rule::Limit));
        }
        Ok(align.max(natural))
    }

    /// An alignment. Multiples of a number are multiples of the largest power of two in it, too.
    pub(super) fn power_of_two(&self, inst: &Inst<'_>, align: u32, rule: Rule) -> Result<u32> {
        if align.is_power_of_two() {
            return Ok(align);
        }
        let message = format!("the alignment {align} is not a power of two");
        let error = self.error(inst, message).under(rule);
        if align == 0 {
            return Err(error);
        }
        let part = 1 << align.trailing_zeros();
        self.binary.warn(error, &format!("taken as {part}"));
        Ok(part)
    }

    pub(super) fn is_builtin(&self, id: Id) -> bool {
        self.has_decoration(id, Decoration::BuiltIn)
    }
}
