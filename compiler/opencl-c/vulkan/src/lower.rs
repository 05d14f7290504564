//! A kernel's instructions, one after the other, to Vulkan's.
//!
//! [`Lower`] has what a value of the source became, and writes instructions to the current block.
//! What families of instructions become is in files of their own: `memory.rs`, `math.rs`,
//! `integers.rs`, `places.rs`, `sync.rs`.

use std::collections::BTreeSet;

use rspirv::spirv::{BuiltIn, Op, OpenclStd100Op as Cl, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::flatten::Flat;
use super::images::Texels;
use super::input::{Constant, Input};
use super::interface::Shared;
use super::ir::{Arg, Block, Id, Inst, Line};
use super::pointers::{ClassId, Pointers, Stride};
use super::target::Target;
use super::types::{Ty, Type};
use super::{Error, Options};

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Which object of its class a pointer points into.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tag {
    Known(u32),
    /// A number of 32 bits.
    Chosen(Id),
    Null,
}

/// Most instructions of a kernel: SPIR-V Specification, "Universal Limits", allows four times as
/// many ids.
const MOST_INSTRUCTIONS: usize = 1 << 20;

/// The tag that is kept of a null pointer.
pub(crate) const NULL_TAG: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    pub class: ClassId,
    pub tag: Tag,
    /// Strides in bytes, and numbers of 32 bits.
    pub terms: Vec<(Stride, Id)>,
    pub add: i64,
}

/// What a value of the source became.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    Id(Id),
    Pointer(Pointer),
    /// A vector of more than 4 components, by these.
    Lanes(Vec<Id>),
    /// The number of an address.
    Address(Pointer),
    /// The difference of two addresses of one object, in 32 bits.
    Difference(Id),
    /// A vector of three, by components.
    BuiltIn(BuiltIn),
    /// An image or sampler, by the parameter or constant.
    Object(Id),
    /// An image with a sampler.
    Sampled(Id, Id),
    /// An event, which is nothing, as what it stands for is done.
    Event,
}

pub(crate) struct Lower<'a> {
    pub input: &'a Input,
    pub target: &'a mut Target,
    pub options: &'a Options,
    pub shared: &'a mut Shared,
    pub pointers: &'a Pointers,
    pub values: FxHashMap<Id, Val>,
    labels: FxHashMap<Id, Id>,
    pub blocks: Vec<Block>,
    pub current: Block,
    /// Variables of the function.
    pub variables: Vec<(Ty, Id)>,
    /// The variables that objects became.
    pub objects: FxHashMap<Id, Id>,
    /// What indices of the current block were computed from.
    pub sums: FxHashMap<(u32, Id, Id), Id>,
    /// Types as they are in memory of classes.
    pub stored: FxHashMap<(Ty, ClassId), Ty>,
    /// Integers of 64 bits, as they were made.
    wide: FxHashMap<Id, Inst>,
    pub line: Option<Line>,
    /// Instructions that were written.
    made: usize,
    pub required_size: Option<[u32; 3]>,
    pub scratch: FxHashSet<Id>,
    /// Types of single components, which have ids of their own.
    pub lane_types: FxHashMap<Id, Ty>,
    pub next_lane: Id,
    /// The instruction is one on a component of a vector.
    pub in_lanes: bool,
    /// Arrays in local memory that work-items leave values in, by type.
    pub group_arrays: FxHashMap<Ty, Id>,
    /// What is asked of images, and the members of the block of push constants that say it.
    pub image_queries: BTreeSet<(Id, u32)>,
    pub image_query_members: FxHashMap<(Id, u32), u32>,
    /// The kernel's own block of push constants.
    pub pushed: Option<Id>,
    /// Whether there is a `printf` in it.
    pub prints: bool,
    /// What the texels of images are.
    pub texels: FxHashMap<Id, Texels>,
}

impl<'a> Lower<'a> {
    pub fn new(
        input: &'a Input,
        target: &'a mut Target,
        (options, shared): (&'a Options, &'a mut Shared),
        pointers: &'a Pointers,
    ) -> Lower<'a> {
        let first = target.id();
        Lower {
            input,
            target,
            options,
            shared,
            pointers,
            values: FxHashMap::default(),
            labels: FxHashMap::default(),
            blocks: Vec::new(),
            current: Block::new(first),
            variables: Vec::new(),
            objects: FxHashMap::default(),
            sums: FxHashMap::default(),
            stored: FxHashMap::default(),
            wide: FxHashMap::default(),
            line: None,
            made: 0,
            required_size: None,
            scratch: FxHashSet::default(),
            lane_types: FxHashMap::default(),
            next_lane: input.bound,
            in_lanes: false,
            group_arrays: FxHashMap::default(),
            image_queries: BTreeSet::new(),
            image_query_members: FxHashMap::default(),
            pushed: None,
            prints: false,
            texels: FxHashMap::default(),
        }
    }

    pub fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(Error::at(self.line, message))
    }

    /// Writes all blocks behind the current one, which makes the arguments ready.
    pub fn body(&mut self, flat: &Flat) -> Result<()> {
        for block in &flat.blocks {
            let id = self.target.id();
            self.labels.insert(block.label, id);
        }
        let first = self.labels[&flat.blocks[0].label];
        self.branch(first);
        for block in &flat.blocks {
            self.begin(self.labels[&block.label]);
            for inst in &block.insts {
                self.line = inst.line.or(self.line);
                self.inst(inst)?;
            }
        }
        Ok(())
    }

    // Blocks.

    pub fn begin(&mut self, label: Id) {
        self.current = Block::new(label);
        self.sums.clear();
    }

    /// Ends the current block.
    pub fn end(&mut self, inst: Inst) {
        self.made += 1;
        self.current.insts.push(inst);
        let done = std::mem::replace(&mut self.current, Block::new(0));
        self.blocks.push(done);
    }

    pub fn branch(&mut self, to: Id) {
        self.end(Inst::of(Op::Branch, &[to]));
    }

    pub fn branch_if(&mut self, condition: Id, yes: Id, no: Id) {
        self.end(Inst::of(Op::BranchConditional, &[condition, yes, no]));
    }

    // Instructions.

    pub fn push(&mut self, inst: Inst) {
        self.made += 1;
        self.current.insts.push(inst);
    }

    pub fn emit_args(&mut self, op: Op, ty: Ty, args: Vec<Arg>) -> Id {
        let id = self.target.id();
        let mut inst = Inst::new(op, args).with(ty, id);
        inst.line = self.line;
        if matches!(self.target.types.get(ty), Type::Int(64)) {
            self.wide.insert(id, inst.clone());
        }
        self.push(inst);
        id
    }

    pub fn emit(&mut self, op: Op, ty: Ty, args: &[Id]) -> Id {
        self.emit_args(op, ty, args.iter().map(|&id| Arg::Id(id)).collect())
    }

    /// An instruction of `GLSL.std.450`.
    pub fn glsl(&mut self, op: rspirv::spirv::GlslStd450Op, ty: Ty, args: &[Id]) -> Id {
        let set = self.target.glsl();
        let mut all = vec![Arg::Id(set), Arg::Lit(op as u32)];
        all.extend(args.iter().map(|&id| Arg::Id(id)));
        self.emit_args(Op::ExtInst, ty, all)
    }

    pub fn extract(&mut self, ty: Ty, value: Id, at: u32) -> Id {
        let args = vec![Arg::Id(value), Arg::Lit(at)];
        self.emit_args(Op::CompositeExtract, ty, args)
    }

    /// A vector of lanes; of one, itself.
    pub fn construct(&mut self, ty: Ty, lanes: &[Id]) -> Id {
        match lanes {
            [one] => *one,
            _ => self.emit(Op::CompositeConstruct, ty, lanes),
        }
    }

    /// The lanes of a value.
    pub fn lanes(&mut self, value: Id, ty: Ty) -> Vec<Id> {
        let (scalar, lanes) = self.target.types.lanes(ty);
        match lanes {
            1 => vec![value],
            _ => (0..lanes)
                .map(|lane| self.extract(scalar, value, lane))
                .collect(),
        }
    }

    /// A variable of the function.
    pub fn variable(&mut self, ty: Ty) -> Id {
        let pointer = self.target.types.pointer(StorageClass::Function, ty);
        let id = self.target.id();
        self.variables.push((pointer, id));
        id
    }

    pub fn load_variable(&mut self, ty: Ty, variable: Id) -> Id {
        self.emit(Op::Load, ty, &[variable])
    }

    pub fn store_variable(&mut self, variable: Id, value: Id) {
        self.push(Inst::of(Op::Store, &[variable, value]));
    }

    // Types.

    pub fn u32_ty(&mut self) -> Ty {
        self.target.types.int(32)
    }

    pub fn bool_like(&mut self, ty: Ty) -> Ty {
        let bool = self.target.types.bool();
        self.target.types.like(ty, bool)
    }

    /// Refuses types that no value of Vulkan's can have.
    pub fn check_type(&self, ty: Ty) -> Result<()> {
        let name = self.target.types.name(ty);
        match self.target.types.get(ty) {
            Type::Vector(_, lanes) if *lanes > 4 => self.error(format!(
                "the type '{name}' cannot be expressed for Vulkan, whose vectors have at most 4 \
                 components"
            )),
            Type::Int(8) if !self.options.int8 => {
                self.error("integers of 8 bits are switched off (-int8=0)")
            }
            &Type::Vector(scalar, _) => self.check_type(scalar),
            Type::Foreign(name) => {
                self.error(format!("Vulkan has no counterpart of the type '{name}'"))
            }
            _ => Ok(()),
        }
    }

    // Values.

    /// What an operand became.
    pub fn val(&mut self, id: Id) -> Result<Val> {
        if let Some(val) = self.values.get(&id) {
            return Ok(val.clone());
        }
        if self.input.constants.contains_key(&id) {
            return Ok(Val::Id(self.constant(id)?));
        }
        self.error("an operand that the lowering to Vulkan does not know")
    }

    pub fn id(&mut self, id: Id) -> Result<Id> {
        match self.val(id)? {
            Val::Id(id) => Ok(id),
            Val::Difference(bytes) => {
                let (ty, word) = (self.ty_of(id)?, self.u32_ty());
                Ok(match ty == word {
                    true => bytes,
                    false => self.emit(Op::SConvert, ty, &[bytes]),
                })
            }
            Val::Address(_) => self.error(
                "a pointer becomes an integer: Vulkan's pointers have no addresses (they can be \
                 compared, and subtracted from each other)",
            ),
            Val::Lanes(_) => self.error(
                "a vector of more than 4 components in an instruction that is not made for them",
            ),
            Val::Pointer(_) => self.error("a pointer is used as a value"),
            Val::BuiltIn(_) => self.error("such a use of a work-item function's vector"),
            Val::Object(_) | Val::Sampled(..) => self.error("an image is used as a value"),
            Val::Event => self.error("an event is used as a value"),
        }
    }

    pub fn ids(&mut self, inst: &Inst) -> Result<Vec<Id>> {
        let ids: Vec<Id> = inst.ids().collect();
        ids.into_iter().map(|id| self.id(id)).collect()
    }

    pub fn ty_of(&self, id: Id) -> Result<Ty> {
        match self.lane_types.get(&id).or(self.input.value_ty.get(&id)) {
            Some(&ty) => Ok(ty),
            None => self.error("an operand without a type"),
        }
    }

    pub fn constant(&mut self, id: Id) -> Result<Id> {
        let input = self.input;
        let (ty, constant) = &input.constants[&id];
        self.check_type(*ty)?;
        Ok(match constant {
            Constant::Bool(value) => self.target.bool(*value),
            Constant::Bits(bits) => self.target.bits(*ty, *bits),
            Constant::Null | Constant::Undef => self.target.null(*ty),
            Constant::Composite(parts) => {
                let mut ids = Vec::new();
                for &part in parts {
                    ids.push(self.constant(part)?);
                }
                self.target.composite(*ty, &ids)
            }
            &Constant::Sampler(addressing, normalized, filter) => {
                self.literal_sampler(addressing, normalized, filter)
            }
        })
    }

    /// The low 32 bits of an integer, without a conversion where it was made of one.
    pub fn low(&mut self, value: Id, ty: Ty) -> Id {
        self.low_within(value, ty, 8)
    }

    fn low_within(&mut self, value: Id, ty: Ty, depth: u32) -> Id {
        let word = self.u32_ty();
        if ty == word {
            return value;
        }
        if let Some(bits) = self.target.known_bits(value) {
            let width = self.target.types.bits(ty);
            let shift = 64 - width.clamp(1, 64);
            let signed = (bits << shift) as i64 >> shift;
            return self.target.u32(signed as u32);
        }
        if let (Some(inst), true) = (self.wide.get(&value).cloned(), depth > 0) {
            match inst.op {
                Op::UConvert | Op::SConvert => {
                    let from = inst.id_at(0);
                    if self.scratch.contains(&from) {
                        return from;
                    }
                }
                Op::IAdd
                | Op::ISub
                | Op::IMul
                | Op::BitwiseAnd
                | Op::BitwiseOr
                | Op::BitwiseXor => {
                    let left = self.low_within(inst.id_at(0), ty, depth - 1);
                    let right = self.low_within(inst.id_at(1), ty, depth - 1);
                    return self.emit(inst.op, word, &[left, right]);
                }
                _ => {}
            }
        }
        // Indices are signed.
        let op = match self.target.types.bits(ty) {
            64 => Op::UConvert,
            _ => Op::SConvert,
        };
        self.emit(op, word, &[value])
    }

    /// An integer of 32 bits as one of a type.
    pub fn extended_from_word(&mut self, value: Id, ty: Ty) -> Id {
        let word = self.u32_ty();
        if ty == word {
            return value;
        }
        if let Some(bits) = self.target.known_bits(value) {
            return self.target.bits(ty, bits);
        }
        self.scratch.insert(value);
        self.emit(Op::UConvert, ty, &[value])
    }

    pub fn set(&mut self, inst: &Inst, id: Id) {
        self.values.insert(inst.id, Val::Id(id));
    }

    pub fn result_ty(&self, inst: &Inst) -> Result<Ty> {
        match inst.ty {
            Some(ty) => {
                self.check_type(ty)?;
                Ok(ty)
            }
            None => self.error("an instruction without a result"),
        }
    }

    pub fn inst(&mut self, inst: &Inst) -> Result<()> {
        if self.made > MOST_INSTRUCTIONS {
            return self.error(format!(
                "the kernel has more than {MOST_INSTRUCTIONS} instructions for Vulkan"
            ));
        }
        if is_printf(inst) {
            return self.printf(inst);
        }
        if self.is_wide(inst) {
            return self.wide(inst);
        }
        match inst.op {
            Op::Load => self.load_inst(inst),
            Op::Store => self.store_inst(inst),
            Op::CopyMemory | Op::CopyMemorySized => self.copy_inst(inst),
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::PtrCastToGeneric
            | Op::GenericCastToPtr
            | Op::GenericCastToPtrExplicit => self.derived(inst),
            Op::Bitcast | Op::CopyObject => {
                let ty = self.result_ty(inst)?;
                if self.target.types.is_pointer(ty) {
                    return self.derived(inst);
                }
                if self.target.types.is_pointer(self.ty_of(inst.id_at(0))?) {
                    return self.error("a pointer becomes another type");
                }
                self.bitcast(inst, ty)
            }
            Op::ConvertPtrToU => {
                let pointer = self.pointer(inst.id_at(0))?;
                self.values.insert(inst.id, Val::Address(pointer));
                Ok(())
            }
            Op::ConvertUToPtr => {
                self.error("an integer becomes a pointer: Vulkan's pointers have no addresses")
            }
            Op::GenericPtrMemSemantics => self.error("get_fence() cannot be expressed for Vulkan"),
            Op::Select => self.select(inst),
            Op::Branch => {
                let to = self.labels[&inst.id_at(0)];
                self.branch(to);
                Ok(())
            }
            Op::BranchConditional => {
                let condition = self.id(inst.id_at(0))?;
                let (yes, no) = (self.labels[&inst.id_at(1)], self.labels[&inst.id_at(2)]);
                match yes == no {
                    true => self.branch(yes),
                    false => self.branch_if(condition, yes, no),
                }
                Ok(())
            }
            Op::Switch => {
                let mut out = inst.clone();
                let selector = self.id(inst.id_at(0))?;
                for (at, arg) in out.args.iter_mut().enumerate() {
                    if let Arg::Id(id) = arg {
                        *id = if at == 0 { selector } else { self.labels[id] };
                    }
                }
                self.end(out);
                Ok(())
            }
            Op::Undef if inst.ty.is_some_and(|ty| self.target.types.is_pointer(ty)) => {
                let pointer = Pointer {
                    class: self.class(inst.id)?,
                    tag: Tag::Null,
                    terms: Vec::new(),
                    add: 0,
                };
                self.values.insert(inst.id, Val::Pointer(pointer));
                Ok(())
            }
            Op::Return => {
                self.end(Inst::new(Op::Return, Vec::new()));
                Ok(())
            }
            Op::Unreachable => {
                // What is never reached may as well end.
                self.end(Inst::new(Op::Return, Vec::new()));
                Ok(())
            }
            Op::ExtInst => self.extended(inst),
            Op::CompositeExtract => self.composite_extract(inst),
            Op::VectorExtractDynamic => self.extract_dynamic(inst),
            Op::LifetimeStart | Op::LifetimeStop | Op::Nop | Op::AssumeTrueKHR => Ok(()),
            Op::ExpectKHR => {
                let id = self.id(inst.id_at(0))?;
                self.set(inst, id);
                Ok(())
            }
            Op::SampledImage
            | Op::ImageSampleExplicitLod
            | Op::ImageRead
            | Op::ImageWrite
            | Op::ImageQuerySize
            | Op::ImageQuerySizeLod
            | Op::ImageQueryFormat
            | Op::ImageQueryOrder
            | Op::ImageQueryLevels => self.image(inst),
            op if super::pointers::is_atomic(op) => self.atomic(inst),
            Op::ControlBarrier | Op::MemoryBarrier => self.barrier(inst),
            Op::GroupAsyncCopy => self.async_copy(inst),
            Op::GroupWaitEvents => self.wait(),
            _ => self.plain(inst),
        }
    }

    fn select(&mut self, inst: &Inst) -> Result<()> {
        let ty = self.result_ty(inst)?;
        if self.target.types.is_pointer(ty) {
            return self.select_pointer(inst);
        }
        let mut ids = self.ids(inst)?;
        let lanes = self.target.types.lanes(ty).1;
        let condition = self.ty_of(inst.id_at(0))?;
        // Before SPIR-V 1.4 the condition has as many components.
        if lanes > 1 && self.target.types.lanes(condition).1 == 1 {
            let bools = self.bool_like(ty);
            ids[0] = self.construct(bools, &vec![ids[0]; lanes as usize]);
        }
        let id = self.emit(Op::Select, ty, &ids);
        self.set(inst, id);
        Ok(())
    }

    fn bitcast(&mut self, inst: &Inst, ty: Ty) -> Result<()> {
        let value = self.id(inst.id_at(0))?;
        let from = self.ty_of(inst.id_at(0))?;
        let id = self.cast_bits(value, from, ty)?;
        self.set(inst, id);
        Ok(())
    }

    fn composite_extract(&mut self, inst: &Inst) -> Result<()> {
        let ty = self.result_ty(inst)?;
        if let Val::BuiltIn(which) = self.val(inst.id_at(0))? {
            let component = self.component(which, inst.literal_at(1))?;
            let id = self.extended_from_word(component, ty);
            self.set(inst, id);
            return Ok(());
        }
        self.plain(inst)
    }

    fn extract_dynamic(&mut self, inst: &Inst) -> Result<()> {
        let ty = self.result_ty(inst)?;
        let Val::BuiltIn(which) = self.val(inst.id_at(0))? else {
            return self.plain(inst);
        };
        let word = self.u32_ty();
        let mut parts = Vec::new();
        for dimension in 0..3 {
            parts.push(self.component(which, dimension)?);
        }
        let vector = self.target.types.vector(word, 3);
        let vector = self.construct(vector, &parts);
        let index = self.id(inst.id_at(1))?;
        let component = self.emit(Op::VectorExtractDynamic, word, &[vector, index]);
        let id = self.extended_from_word(component, ty);
        self.set(inst, id);
        Ok(())
    }

    /// An instruction that is the same for Vulkan.
    fn plain(&mut self, inst: &Inst) -> Result<()> {
        if self.compare_addresses(inst)? {
            return Ok(());
        }
        if let Some(done) = self.arithmetic(inst)? {
            self.set(inst, done);
            return Ok(());
        }
        if !is_plain(inst.op) {
            return self.error(format!(
                "the instruction Op{:?} has no counterpart in Vulkan that is made here",
                inst.op
            ));
        }
        let mut args = Vec::with_capacity(inst.args.len());
        for arg in &inst.args {
            args.push(match *arg {
                Arg::Id(id) => Arg::Id(self.id(id)?),
                literal => literal,
            });
        }
        let ty = self.result_ty(inst)?;
        let id = self.emit_args(inst.op, ty, args);
        self.set(inst, id);
        Ok(())
    }
}

/// Whether an instruction is a call of `printf`.
pub(crate) fn is_printf(inst: &Inst) -> bool {
    inst.op == Op::ExtInst && inst.literal_at(1) == Cl::printf as u32
}

fn is_plain(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Undef
            | VectorShuffle
            | CompositeConstruct
            | CompositeExtract
            | CompositeInsert
            | VectorExtractDynamic
            | VectorInsertDynamic
            | ConvertFToU
            | ConvertFToS
            | ConvertSToF
            | ConvertUToF
            | UConvert
            | SConvert
            | FConvert
            | SNegate
            | FNegate
            | IAdd
            | FAdd
            | ISub
            | FSub
            | IMul
            | FMul
            | UDiv
            | SDiv
            | FDiv
            | UMod
            | VectorTimesScalar
            | Dot
            | IAddCarry
            | ISubBorrow
            | Any
            | All
            | IsNan
            | IsInf
            | LogicalEqual
            | LogicalNotEqual
            | LogicalOr
            | LogicalAnd
            | LogicalNot
            | IEqual
            | INotEqual
            | UGreaterThan
            | SGreaterThan
            | UGreaterThanEqual
            | SGreaterThanEqual
            | ULessThan
            | SLessThan
            | ULessThanEqual
            | SLessThanEqual
            | FOrdEqual
            | FUnordEqual
            | FOrdNotEqual
            | FUnordNotEqual
            | FOrdLessThan
            | FUnordLessThan
            | FOrdGreaterThan
            | FUnordGreaterThan
            | FOrdLessThanEqual
            | FUnordLessThanEqual
            | FOrdGreaterThanEqual
            | FUnordGreaterThanEqual
            | ShiftRightLogical
            | ShiftRightArithmetic
            | ShiftLeftLogical
            | BitwiseOr
            | BitwiseXor
            | BitwiseAnd
            | Not
    )
}
