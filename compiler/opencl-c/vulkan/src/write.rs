//! Words: what the functions refer to, and what that refers to.

use std::collections::BTreeSet;

use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, MemoryModel,
    Op, StorageClass,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ir::{Arg, Id, Inst, literal};
use super::reflection::Reflected;
use super::target::Target;
use super::types::{Ty, Type};
use super::{Error, Version};

const MAGIC: u32 = 0x0723_0203;
/// SPIR-V Specification, "Universal Limits".
const MOST_IDS: u32 = 4_194_303;

pub(crate) struct Writer<'a> {
    target: &'a mut Target,
    version: Version,
    capabilities: BTreeSet<u32>,
    extensions: BTreeSet<&'static str>,
    decorations: Section,
    globals: Section,
    functions: Section,
    /// Whether with offsets and strides.
    types: FxHashMap<(Ty, bool), Id>,
    done: FxHashSet<Id>,
    /// Variables that were written since the last function.
    used: BTreeSet<Id>,
    decorated: FxHashSet<Id>,
}

/// Instructions, one after the other.
#[derive(Default)]
struct Section {
    words: Vec<u32>,
    /// An instruction that has more words than SPIR-V can say, and is left out.
    too_long: Option<Op>,
}

impl Section {
    fn append(&mut self, other: &mut Section) {
        self.words.append(&mut other.words);
        self.too_long = self.too_long.or(other.too_long);
    }
}

fn push(to: &mut Section, op: Op, operands: &[u32]) {
    let Ok(length) = u16::try_from(operands.len() + 1) else {
        to.too_long = Some(op);
        return;
    };
    to.words.push(u32::from(length) << 16 | op as u32);
    to.words.extend_from_slice(operands);
}

/// Types in memory that the host sees.
fn is_interface(class: StorageClass) -> bool {
    matches!(
        class,
        StorageClass::StorageBuffer | StorageClass::Uniform | StorageClass::PushConstant
    )
}

impl<'a> Writer<'a> {
    pub fn new(target: &'a mut Target, version: Version) -> Writer<'a> {
        Writer {
            target,
            version,
            capabilities: BTreeSet::from([Capability::Shader as u32]),
            extensions: BTreeSet::new(),
            decorations: Section::default(),
            globals: Section::default(),
            functions: Section::default(),
            types: FxHashMap::default(),
            done: FxHashSet::default(),
            used: BTreeSet::new(),
            decorated: FxHashSet::default(),
        }
    }

    fn needs(&mut self, capability: Capability) {
        self.capabilities.insert(capability as u32);
    }

    /// An extension that became part of SPIR-V with a version.
    fn extension(&mut self, name: &'static str, core_since: u32) {
        if self.version.spirv() < core_since {
            self.extensions.insert(name);
        }
    }

    fn ty(&mut self, ty: Ty, explicit: bool) -> Id {
        let kind = self.target.types.get(ty).clone();
        let explicit = explicit && matches!(kind, Type::Array(..) | Type::Struct { .. });
        if let Some(&id) = self.types.get(&(ty, explicit)) {
            return id;
        }
        let mut after = Vec::new();
        let (op, operands) = match &kind {
            Type::Void => (Op::TypeVoid, vec![]),
            Type::Bool => (Op::TypeBool, vec![]),
            &Type::Int(bits) => {
                match bits {
                    8 => {
                        self.needs(Capability::Int8);
                    }
                    16 => self.needs(Capability::Int16),
                    64 => self.needs(Capability::Int64),
                    _ => {}
                }
                (Op::TypeInt, vec![bits, 0])
            }
            Type::Signed => (Op::TypeInt, vec![32, 1]),
            &Type::Float(bits) => {
                match bits {
                    16 => self.needs(Capability::Float16),
                    64 => self.needs(Capability::Float64),
                    _ => {}
                }
                (Op::TypeFloat, vec![bits])
            }
            &Type::Vector(scalar, lanes) => (Op::TypeVector, vec![self.ty(scalar, false), lanes]),
            &Type::Array(element, length) => {
                let number = self.target.u32(length as u32);
                self.global(number);
                if explicit {
                    let stride = self.target.types.size(element) as u32;
                    after.push(vec![Decoration::ArrayStride as u32, stride]);
                }
                (Op::TypeArray, vec![self.ty(element, explicit), number])
            }
            &Type::Sized(element, length) => {
                self.global(length);
                (Op::TypeArray, vec![self.ty(element, false), length])
            }
            &Type::Runtime(element) => {
                let stride = self.target.types.size(element) as u32;
                after.push(vec![Decoration::ArrayStride as u32, stride]);
                (Op::TypeRuntimeArray, vec![self.ty(element, true)])
            }
            Type::Struct { members, .. } => {
                let ids = members.iter().map(|&member| self.ty(member, explicit));
                (Op::TypeStruct, ids.collect())
            }
            Type::Block(members) => {
                let ids = members.iter().map(|&(member, _)| self.ty(member, true));
                after.push(vec![Decoration::Block as u32]);
                (Op::TypeStruct, ids.collect())
            }
            &Type::Pointer(class, to) => {
                self.storage(class, to);
                let to = self.ty(to, is_interface(class));
                (Op::TypePointer, vec![class as u32, to])
            }
            Type::Image(scalar, operands) => {
                let mut all = vec![self.ty(*scalar, false)];
                all.extend_from_slice(operands);
                (Op::TypeImage, all)
            }
            &Type::SampledImage(image) => (Op::TypeSampledImage, vec![self.ty(image, false)]),
            Type::Sampler => (Op::TypeSampler, vec![]),
            &Type::Function(result) => (Op::TypeFunction, vec![self.ty(result, false)]),
            Type::Foreign(_) => unreachable!("such types are refused before"),
        };
        let id = self.target.id();
        let all = [&[id][..], &operands].concat();
        push(&mut self.globals, op, &all);
        for decoration in after {
            let all = [&[id][..], &decoration].concat();
            push(&mut self.decorations, Op::Decorate, &all);
        }
        let offsets: Option<Vec<u32>> = match &kind {
            Type::Block(members) => Some(members.iter().map(|&(_, offset)| offset).collect()),
            Type::Struct { .. } if explicit => {
                let offsets = self.target.types.offsets(ty);
                Some(offsets.iter().map(|&offset| offset as u32).collect())
            }
            _ => None,
        };
        for (member, offset) in (0..).zip(offsets.into_iter().flatten()) {
            let all = [id, member, Decoration::Offset as u32, offset];
            push(&mut self.decorations, Op::MemberDecorate, &all);
        }
        self.types.insert((ty, explicit), id);
        id
    }

    /// What small numbers in memory that the host sees need.
    fn storage(&mut self, class: StorageClass, ty: Ty) {
        if class == StorageClass::StorageBuffer {
            self.extension("SPV_KHR_storage_buffer_storage_class", 0x10300);
        }
        let which = match class {
            StorageClass::StorageBuffer => 0,
            StorageClass::Uniform => 1,
            StorageClass::PushConstant => 2,
            _ => return,
        };
        let mut work = vec![ty];
        while let Some(ty) = work.pop() {
            match self.target.types.get(ty) {
                Type::Int(8) => {
                    self.needs(
                        [
                            Capability::StorageBuffer8BitAccess,
                            Capability::UniformAndStorageBuffer8BitAccess,
                            Capability::StoragePushConstant8,
                        ][which],
                    );
                    self.extension("SPV_KHR_8bit_storage", 0x10500);
                }
                Type::Int(16) | Type::Float(16) => {
                    self.needs(
                        [
                            Capability::StorageBuffer16BitAccess,
                            Capability::UniformAndStorageBuffer16BitAccess,
                            Capability::StoragePushConstant16,
                        ][which],
                    );
                    self.extension("SPV_KHR_16bit_storage", 0x10300);
                }
                Type::Vector(ty, _) | Type::Array(ty, _) | Type::Runtime(ty) => work.push(*ty),
                Type::Struct { members, .. } => work.extend(members),
                Type::Block(members) => work.extend(members.iter().map(|&(ty, _)| ty)),
                _ => {}
            }
        }
    }

    fn decorate(&mut self, id: Id) {
        if !self.decorated.insert(id) {
            return;
        }
        for words in self.target.decorations.get(&id).into_iter().flatten() {
            let all = [&[id][..], words].concat();
            push(&mut self.decorations, Op::Decorate, &all);
        }
    }

    /// Writes a constant or variable, if it is one and not written yet.
    fn global(&mut self, id: Id) {
        let Some(inst) = self.target.globals.get(&id).cloned() else {
            return;
        };
        if inst.op == Op::Variable {
            self.used.insert(id);
        }
        if !self.done.insert(id) {
            return;
        }
        for id in inst.ids() {
            self.global(id);
        }
        let ty = inst.ty.map_or(0, |ty| self.ty(ty, false));
        let mut all = vec![ty, id];
        all.extend(words(&inst));
        push(&mut self.globals, inst.op, &all);
        self.decorate(id);
    }

    fn inst(&mut self, inst: &Inst) {
        for id in inst.ids() {
            self.global(id);
        }
        self.instruction_needs(inst);
        let mut all = Vec::new();
        all.extend(inst.ty.map(|ty| self.ty(ty, false)));
        if inst.id != 0 {
            all.push(inst.id);
            self.decorate(inst.id);
        }
        all.extend(words(inst));
        push(&mut self.functions, inst.op, &all);
    }

    fn instruction_needs(&mut self, inst: &Inst) {
        let bits = inst.ty.map_or(0, |ty| self.target.types.bits(ty));
        match inst.op {
            Op::AtomicFAddEXT => {
                self.needs(match bits {
                    64 => Capability::AtomicFloat64AddEXT,
                    16 => Capability::AtomicFloat16AddEXT,
                    _ => Capability::AtomicFloat32AddEXT,
                });
                self.extension("SPV_EXT_shader_atomic_float_add", u32::MAX);
                if bits == 16 {
                    self.extension("SPV_EXT_shader_atomic_float16_add", u32::MAX);
                }
            }
            Op::AtomicFMinEXT | Op::AtomicFMaxEXT => {
                self.needs(match bits {
                    64 => Capability::AtomicFloat64MinMaxEXT,
                    16 => Capability::AtomicFloat16MinMaxEXT,
                    _ => Capability::AtomicFloat32MinMaxEXT,
                });
                self.extension("SPV_EXT_shader_atomic_float_min_max", u32::MAX);
            }
            op if bits == 64 && super::pointers::is_atomic(op) => {
                self.needs(Capability::Int64Atomics);
            }
            Op::AtomicStore => {
                let value = inst.id_at(3);
                let ty = self.target.globals.get(&value).and_then(|inst| inst.ty);
                if ty.is_some_and(|ty| self.target.types.bits(ty) == 64) {
                    self.needs(Capability::Int64Atomics);
                }
            }
            Op::ImageQuerySize | Op::ImageQuerySizeLod | Op::ImageQueryLevels => {
                self.needs(Capability::ImageQuery);
            }
            op if super::dot::is_dot(op) => {
                let packed = inst.args.iter().any(|arg| matches!(arg, Arg::Lit(_)));
                self.needs(match packed {
                    true => Capability::DotProductInput4x8BitPacked,
                    false => Capability::DotProductInput4x8Bit,
                });
                self.needs(Capability::DotProduct);
            }
            Op::ImageWrite => self.needs(Capability::StorageImageWriteWithoutFormat),
            Op::ImageRead => self.needs(Capability::StorageImageReadWithoutFormat),
            Op::GroupNonUniformElect => self.needs(Capability::GroupNonUniform),
            Op::GroupNonUniformAll | Op::GroupNonUniformAny | Op::GroupNonUniformAllEqual => {
                self.needs(Capability::GroupNonUniformVote);
            }
            Op::GroupNonUniformBroadcast
            | Op::GroupNonUniformBroadcastFirst
            | Op::GroupNonUniformBallot
            | Op::GroupNonUniformInverseBallot
            | Op::GroupNonUniformBallotBitExtract
            | Op::GroupNonUniformBallotBitCount
            | Op::GroupNonUniformBallotFindLSB
            | Op::GroupNonUniformBallotFindMSB => self.needs(Capability::GroupNonUniformBallot),
            Op::GroupNonUniformShuffle | Op::GroupNonUniformShuffleXor => {
                self.needs(Capability::GroupNonUniformShuffle);
            }
            Op::GroupNonUniformShuffleUp | Op::GroupNonUniformShuffleDown => {
                self.needs(Capability::GroupNonUniformShuffleRelative);
            }
            op if (Op::GroupNonUniformIAdd as u32..=Op::GroupNonUniformLogicalXor as u32)
                .contains(&(op as u32)) =>
            {
                self.needs(Capability::GroupNonUniformArithmetic);
            }
            _ => {}
        }
    }

    /// What images of a type need.
    fn image_needs(&mut self) {
        let images: Vec<[u32; 6]> = self
            .types
            .keys()
            .filter_map(|&(ty, _)| match self.target.types.get(ty) {
                Type::Image(_, operands) => Some(*operands),
                _ => None,
            })
            .collect();
        for [dim, _, _, _, sampled, _] in images {
            match (dim, sampled) {
                (0, 1) => self.needs(Capability::Sampled1D),
                (0, _) => self.needs(Capability::Image1D),
                (5, 1) => self.needs(Capability::SampledBuffer),
                (5, _) => self.needs(Capability::ImageBuffer),
                _ => {}
            }
        }
    }

    /// The words of the module.
    ///
    /// # Errors
    /// What SPIR-V has no room for.
    pub fn finish(mut self, reflected: &Reflected) -> Result<Vec<u32>, Error> {
        let (mut entry_points, mut modes) = (Section::default(), Section::default());
        let roots = self.target.roots.clone();
        for id in roots {
            self.global(id);
        }
        let entries = std::mem::take(&mut self.target.entries);
        let void = self.target.types.add(Type::Void);
        for entry in &entries {
            self.used.clear();
            let function = self.target.types.add(Type::Function(void));
            let (void, function) = (self.ty(void, false), self.ty(function, false));
            let mut variables = Section::default();
            for &(pointer, id) in &entry.variables {
                let ty = self.ty(pointer, false);
                let class = StorageClass::Function as u32;
                push(&mut variables, Op::Variable, &[ty, id, class]);
            }
            push(
                &mut self.functions,
                Op::Function,
                &[void, entry.function, 0, function],
            );
            for (at, block) in entry.blocks.iter().enumerate() {
                push(&mut self.functions, Op::Label, &[block.label]);
                if at == 0 {
                    self.functions.append(&mut variables);
                }
                for inst in &block.insts {
                    if entry.strict && inst.id != 0 && is_contracted(inst.op) {
                        self.target
                            .decorate(inst.id, Decoration::NoContraction, &[]);
                    }
                    self.inst(inst);
                }
            }
            push(&mut self.functions, Op::FunctionEnd, &[]);
            let mut operands = vec![ExecutionModel::GLCompute as u32, entry.function];
            operands.extend(literal(&entry.name));
            let all = self.version.spirv() >= 0x10400;
            let listed = self.used.iter().copied().filter(|&id| {
                let class = self.target.variable_type(id).map(|(class, _)| class);
                all || class == Some(StorageClass::Input)
            });
            operands.extend(listed);
            push(&mut entry_points, Op::EntryPoint, &operands);
            if let Some([x, y, z]) = entry.local_size {
                let mode = ExecutionMode::LocalSize as u32;
                push(
                    &mut modes,
                    Op::ExecutionMode,
                    &[entry.function, mode, x, y, z],
                );
            }
        }
        self.image_needs();
        if self.target.decorations.values().flatten().any(|words| {
            words[0] == Decoration::BuiltIn as u32
                && [
                    BuiltIn::SubgroupSize as u32,
                    BuiltIn::NumSubgroups as u32,
                    BuiltIn::SubgroupId as u32,
                    BuiltIn::SubgroupLocalInvocationId as u32,
                ]
                .contains(&words[1])
        }) {
            self.needs(Capability::GroupNonUniform);
        }
        if self.target.decorations.values().flatten().any(|words| {
            words[0] == Decoration::BuiltIn as u32
                && (BuiltIn::SubgroupEqMask as u32..=BuiltIn::SubgroupLtMask as u32)
                    .contains(&words[1])
        }) {
            self.needs(Capability::GroupNonUniformBallot);
        }
        let mut strings = Section::default();
        let mut reflection = Section::default();
        let set = self.target.id();
        let void = self.ty(void, false);
        let mut known = FxHashMap::default();
        for record in &reflected.records {
            let mut operands = vec![void, record.id, set, record.op];
            for operand in &record.operands {
                operands.push(match operand {
                    super::reflection::Operand::Id(id) => *id,
                    super::reflection::Operand::Number(number) => {
                        let id = self.target.u32(*number);
                        self.global(id);
                        id
                    }
                    super::reflection::Operand::Text(text) => {
                        *known.entry(text.clone()).or_insert_with(|| {
                            let id = self.target.id();
                            let all = [&[id][..], &literal(text)].concat();
                            push(&mut strings, Op::String, &all);
                            id
                        })
                    }
                });
            }
            push(&mut reflection, Op::ExtInst, &operands);
        }
        self.extension("SPV_KHR_non_semantic_info", 0x10600);
        let bound = self.target.bound();
        if bound > MOST_IDS {
            let message = format!("the module has more than the {MOST_IDS} ids that SPIR-V allows");
            return Err(Error::plain(message));
        }
        let mut out = Section {
            words: vec![MAGIC, self.version.spirv(), 0, bound, 0],
            too_long: None,
        };
        for &capability in &self.capabilities {
            push(&mut out, Op::Capability, &[capability]);
        }
        for name in &self.extensions {
            push(&mut out, Op::Extension, &literal(name));
        }
        if let Some(id) = self.target.imported_glsl() {
            let all = [&[id][..], &literal("GLSL.std.450")].concat();
            push(&mut out, Op::ExtInstImport, &all);
        }
        let all = [&[set][..], &literal("NonSemantic.ClspvReflection.5")].concat();
        push(&mut out, Op::ExtInstImport, &all);
        let model = [AddressingModel::Logical as u32, MemoryModel::GLSL450 as u32];
        push(&mut out, Op::MemoryModel, &model);
        out.append(&mut entry_points);
        out.append(&mut modes);
        out.append(&mut strings);
        for (id, name) in &self.target.names {
            if self.done.contains(id) {
                let all = [&[*id][..], &literal(name)].concat();
                push(&mut out, Op::Name, &all);
            }
        }
        out.append(&mut self.decorations);
        out.append(&mut self.globals);
        out.append(&mut self.functions);
        out.append(&mut reflection);
        match out.too_long {
            None => Ok(out.words),
            Some(Op::ConstantComposite) => Err(Error::plain(
                "a constant has more elements than the 65532 that SPIR-V allows",
            )),
            Some(op) => Err(Error::plain(format!(
                "an instruction Op{op:?} has more than the 65535 words that SPIR-V allows"
            ))),
        }
    }
}

fn words(inst: &Inst) -> impl Iterator<Item = u32> + '_ {
    inst.args.iter().map(|arg| match *arg {
        Arg::Id(word) | Arg::Lit(word) => word,
    })
}

fn is_contracted(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd | Op::FSub | Op::FMul | Op::FNegate | Op::Dot | Op::VectorTimesScalar
    )
}
