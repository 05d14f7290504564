//! Functions: each gets the variables of a kernel that it uses as parameters, and what a launch
//! decides it asks for where it begins. The rest is copied, but for what OpenCL has otherwise.

use std::collections::{BTreeSet, HashMap, HashSet};

use rspirv::spirv::{
    BuiltIn, ImageOperands, MemoryAccess, MemorySemantics, Op, Scope, StorageClass,
};

use super::super::decode::Result;
use super::globals::{copy, copy_with};
use super::glsl;
use super::id_operands::IdUse;
use super::reflection::{self, LaunchNumber, Reflection};
use super::resources::{Need, Resources, Role};
use super::source::{FunctionSource, Source, SourceId, SourceInst, Variable};
use super::writer::{Section, Writer, with};

/// A function on its way out: parts of its first block apart, until all is known that goes there.
pub(super) struct FunctionLowering<'l, 'a> {
    pub source: &'l Source<'a>,
    pub resources: &'l Resources<'a>,
    pub writer: &'l mut Writer,
    /// What stands for an id in this function.
    pub map: HashMap<SourceId, SourceId>,
    /// The sizes of buffers, by their variables.
    sizes: HashMap<SourceId, SourceId>,
    pub variables: Section,
    pub prologue: Section,
    pub body: Section,
    pub place: u32,
}

/// Lowers the functions that kernels reach.
pub(super) fn lower(
    source: &Source<'_>,
    reflection: &Reflection<'_>,
    resources: &Resources<'_>,
    writer: &mut Writer,
) -> Result<()> {
    let reached = reached(source, reflection);
    for function in source.functions() {
        if reached.contains(&function.id) {
            let lowering = FunctionLowering::new(source, resources, writer);
            lowering.function(function)?;
        }
    }
    Ok(())
}

fn reached(source: &Source<'_>, reflection: &Reflection<'_>) -> HashSet<SourceId> {
    let mut callees: HashMap<SourceId, Vec<SourceId>> = HashMap::new();
    for function in source.functions() {
        let of_function = callees.entry(function.id).or_default();
        for inst in function.insts {
            if inst.op() == Op::FunctionCall {
                of_function.extend(inst.operands.first());
            }
        }
    }
    let mut work: Vec<SourceId> = reflection.kernels.iter().map(|k| k.function).collect();
    let mut reached = HashSet::new();
    while let Some(function) = work.pop() {
        if reached.insert(function) {
            work.extend(callees.get(&function).into_iter().flatten());
        }
    }
    reached
}

/// What a resource is as a parameter of a function.
pub(super) fn parameter_type(
    writer: &mut Writer,
    resources: &Resources<'_>,
    variable: &Variable<'_>,
) -> SourceId {
    match resources.role(variable.id) {
        Some(Role::Object) | None => variable.pointee,
        Some(role) => writer.pointer(role.class(), variable.pointee),
    }
}

impl<'l, 'a> FunctionLowering<'l, 'a> {
    pub fn new(
        source: &'l Source<'a>,
        resources: &'l Resources<'a>,
        writer: &'l mut Writer,
    ) -> FunctionLowering<'l, 'a> {
        FunctionLowering {
            source,
            resources,
            writer,
            map: HashMap::new(),
            sizes: HashMap::new(),
            variables: Section::default(),
            prologue: Section::default(),
            body: Section::default(),
            place: 0,
        }
    }

    fn function(mut self, function: FunctionSource<'_>) -> Result<()> {
        let Some((head, rest)) = function.insts.split_first() else {
            return Ok(());
        };
        self.at(head);
        let (Some(result), &[control, ty]) = (head.ty, head.operands) else {
            return Err(self.source.error(head, "an operand is missing"));
        };
        let own: Vec<&SourceInst<'_>> = rest
            .iter()
            .take_while(|inst| inst.op() != Op::Label)
            .collect();
        let mut types = Vec::new();
        for inst in &own {
            if inst.op() == Op::FunctionParameter {
                types.extend(inst.ty);
            }
        }
        let mut params = Vec::new();
        for (need, variable) in self.resources.needs(function.id) {
            let id = self.writer.fresh();
            let ty = match need {
                Need::Variable(variable_id) => {
                    self.map.insert(variable_id, id);
                    parameter_type(self.writer, self.resources, variable)
                }
                Need::Size(variable_id) => {
                    self.sizes.insert(variable_id, id);
                    self.writer.int(64)
                }
            };
            params.push((ty, id));
            types.push(ty);
        }
        let ty = match params.is_empty() {
            true => ty,
            false => self.writer.function_type(result, &types),
        };
        let mut out = Section::default();
        copy_with(&mut out, head, Some(result), &[control, ty]);
        for inst in &own {
            copy(&mut out, inst);
        }
        for (ty, id) in params {
            out.inst(self.place, Op::FunctionParameter, &[ty, id]);
        }
        if let Some((label, rest)) = rest[own.len()..].split_first() {
            copy(&mut out, label);
            self.launch_values(rest)?;
            for inst in rest {
                self.at(inst);
                self.instruction(inst)?;
            }
        }
        self.finish(out);
        Ok(())
    }

    /// Writes the function that `out` is the beginning of.
    pub fn finish(self, mut out: Section) {
        out.append(self.variables);
        out.append(self.prologue);
        out.append(self.body);
        out.inst(self.place, Op::FunctionEnd, &[]);
        self.writer.functions.append(out);
    }

    pub fn at(&mut self, inst: &SourceInst<'_>) {
        self.place = inst.offset;
        self.writer.place = inst.offset;
    }

    /// Emits an instruction with a result of its own.
    pub fn emit(&mut self, op: Op, ty: SourceId, operands: &[u32]) -> SourceId {
        let id = self.writer.fresh();
        self.body.inst(self.place, op, &with(&[ty, id], operands));
        id
    }

    /// A private variable of the function.
    pub fn variable(&mut self, pointee: SourceId, init: Option<SourceId>) -> SourceId {
        let ty = self.writer.pointer(StorageClass::Function, pointee);
        let id = self.writer.fresh();
        let mut operands = vec![ty, id, StorageClass::Function as u32];
        operands.extend(init);
        self.variables.inst(self.place, Op::Variable, &operands);
        id
    }

    /// Asks for the launch's constants that instructions use, where the function begins.
    pub fn launch_values(&mut self, insts: &[SourceInst<'_>]) -> Result<()> {
        let mut used = Vec::new();
        for inst in insts {
            for (at, _) in self.source.id_operands(inst) {
                used.push(inst.operands[at]);
            }
        }
        self.launch_constants(used)
    }

    /// The same for constants, some of which may be of a launch.
    pub fn launch_constants(&mut self, mut used: Vec<SourceId>) -> Result<()> {
        let source = self.source;
        let mut wanted: BTreeSet<usize> = BTreeSet::new();
        while let Some(id) = used.pop() {
            if !self.resources.is_launch(id) || self.map.contains_key(&id) {
                continue;
            }
            if let Some(inst) = source.definition(id)
                && wanted.insert(inst.number)
            {
                let uses = source.id_operands(inst);
                used.extend(uses.iter().map(|&(at, _)| inst.operands[at]));
            }
        }
        for number in wanted {
            let inst = &source.insts[number];
            let (Some(id), Some(ty)) = (inst.result, inst.ty) else {
                continue;
            };
            self.at(inst);
            let value = match self.resources.launch_numbers.get(&id) {
                Some(&what) => self.launch_number(what),
                None => {
                    let operands = self.operands(inst);
                    let (opcode, operands) = match (inst.op(), &operands[..]) {
                        (Op::SpecConstantOp, [opcode, operands @ ..]) => (*opcode, operands),
                        (_, operands) => (Op::CompositeConstruct as u32, operands),
                    };
                    let value = self.writer.fresh();
                    let words = with(&[ty, value], operands);
                    self.prologue.raw(self.place, opcode, &words);
                    value
                }
            };
            self.map.insert(id, value);
        }
        Ok(())
    }

    fn launch_number(&mut self, what: LaunchNumber) -> SourceId {
        let (which, dimension) = match what {
            LaunchNumber::LocalSize(dimension) => (BuiltIn::WorkgroupSize, Some(dimension)),
            LaunchNumber::GlobalOffset(dimension) => (BuiltIn::GlobalOffset, Some(dimension)),
            LaunchNumber::WorkDim => (BuiltIn::WorkDim, None),
            LaunchNumber::SubgroupMaxSize => (BuiltIn::SubgroupMaxSize, None),
        };
        let lanes = if dimension.is_some() { 3 } else { 1 };
        let mut address = self.writer.built_in(which, lanes);
        let ty = self.writer.int(32);
        if let Some(dimension) = dimension {
            let pointer = self.writer.pointer(StorageClass::Input, ty);
            let index = self.writer.u32(dimension);
            let id = self.writer.fresh();
            let words = [pointer, id, address, index];
            self.prologue.inst(self.place, Op::AccessChain, &words);
            address = id;
        }
        let id = self.writer.fresh();
        self.prologue.inst(self.place, Op::Load, &[ty, id, address]);
        id
    }

    /// What stands for an id here.
    pub fn mapped(&self, id: SourceId) -> SourceId {
        self.map.get(&id).copied().unwrap_or(id)
    }

    /// The operands as they are here.
    fn operands(&mut self, inst: &SourceInst<'_>) -> Vec<u32> {
        let mut operands = inst.operands.to_vec();
        for (at, what) in self.source.id_operands(inst) {
            operands[at] = match what {
                IdUse::Value => self.mapped(operands[at]),
                IdUse::Scope => self.scope(operands[at]),
                IdUse::Semantics => self.semantics(operands[at]),
            };
        }
        operands
    }

    /// Queues of a family are what a device is here.
    fn scope(&mut self, id: SourceId) -> SourceId {
        match self.source.constant(id) {
            Some(scope) if scope == Scope::QueueFamily as u32 => {
                self.writer.u32(Scope::Device as u32)
            }
            _ => self.mapped(id),
        }
    }

    /// Memory of buffers is that of all work-groups. What is available and visible is so without
    /// being asked for.
    fn semantics(&mut self, id: SourceId) -> SourceId {
        let Some(semantics) = self.source.constant(id).map(MemorySemantics::from_bits) else {
            return self.mapped(id);
        };
        let Some(semantics) = semantics else {
            return id;
        };
        let mut lowered = semantics;
        lowered.remove(
            MemorySemantics::UNIFORM_MEMORY
                | MemorySemantics::OUTPUT_MEMORY
                | MemorySemantics::MAKE_AVAILABLE
                | MemorySemantics::MAKE_VISIBLE
                | MemorySemantics::VOLATILE,
        );
        if semantics.contains(MemorySemantics::UNIFORM_MEMORY) {
            lowered |= MemorySemantics::CROSS_WORKGROUP_MEMORY;
        }
        self.writer.u32(lowered.bits())
    }

    fn instruction(&mut self, inst: &SourceInst<'_>) -> Result<()> {
        match inst.op() {
            Op::Variable | Op::UntypedVariableKHR => self.own_variable(inst),
            Op::ExtInst => return self.extended(inst),
            Op::Load => return self.load(inst),
            Op::Store => self.store(inst),
            Op::FunctionCall => return self.call(inst),
            Op::ArrayLength | Op::UntypedArrayLengthKHR => return self.array_length(inst),
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::UntypedAccessChainKHR
            | Op::UntypedInBoundsAccessChainKHR
            | Op::CopyObject => {
                let result = inst
                    .result
                    .and_then(|result| self.resources.class_of(result));
                let ty = match (result, self.source.pointee(inst.ty)) {
                    (Some(class), Some(pointee)) => Some(self.writer.pointer(class, pointee)),
                    (Some(class), None) => Some(self.writer.untyped_pointer(class)),
                    (None, _) => inst.ty,
                };
                let operands = self.operands(inst);
                copy_with(&mut self.body, inst, ty, &operands);
            }
            Op::ImageFetch => self.image_access(inst, Op::ImageRead, 2),
            Op::ImageRead => self.image_access(inst, Op::ImageRead, 2),
            Op::ImageWrite => self.image_access(inst, Op::ImageWrite, 3),
            _ => {
                let operands = self.operands(inst);
                copy_with(&mut self.body, inst, inst.ty, &operands);
            }
        }
        Ok(())
    }

    /// As many elements as there are whole ones from where the array begins.
    fn array_length(&mut self, inst: &SourceInst<'_>) -> Result<()> {
        let &[.., variable, member] = inst.operands else {
            return Err(self.source.error(inst, "an operand is missing"));
        };
        let block = self.resources.variables.get(&variable);
        let array = block.and_then(|it| self.source.runtime_array(it.pointee, member));
        let array = array.filter(|&(_, stride)| stride > 0);
        let (Some(&size), Some((offset, stride))) = (self.sizes.get(&variable), array) else {
            let message = "the length is known of arrays of blocks that are variables only";
            return Err(self.source.error(inst, message));
        };
        let word = self.writer.int(64);
        let truth = self.writer.bool();
        let offset = self.writer.constant(word, &[offset, 0]);
        let stride = [stride as u32, (stride >> 32) as u32];
        let stride = self.writer.constant(word, &stride);
        let is_short = self.emit(Op::ULessThan, truth, &[size, offset]);
        let whole = self.emit(Op::Select, word, &[is_short, offset, size]);
        let bytes = self.emit(Op::ISub, word, &[whole, offset]);
        let length = self.emit(Op::UDiv, word, &[bytes, stride]);
        copy_as(&mut self.body, inst, Op::UConvert, &[length]);
        Ok(())
    }

    /// An access without a sampler. What is available and visible is so without being asked for:
    /// these operands come last.
    fn image_access(&mut self, inst: &SourceInst<'_>, op: Op, at: usize) {
        let memory = ImageOperands::MAKE_TEXEL_AVAILABLE
            | ImageOperands::MAKE_TEXEL_VISIBLE
            | ImageOperands::NON_PRIVATE_TEXEL
            | ImageOperands::VOLATILE_TEXEL;
        let mut operands = self.operands(inst);
        if let Some(mask) = operands.get(at).copied().and_then(ImageOperands::from_bits) {
            let of_memory = mask & memory;
            let scopes = ImageOperands::MAKE_TEXEL_AVAILABLE | ImageOperands::MAKE_TEXEL_VISIBLE;
            let dropped = (of_memory & scopes).bits().count_ones() as usize;
            let rest = mask.difference(of_memory);
            operands.truncate(operands.len().saturating_sub(dropped).max(at + 1));
            match rest.is_empty() {
                true => operands.truncate(at),
                false => operands[at] = rest.bits(),
            }
        }
        copy_as(&mut self.body, inst, op, &operands);
    }

    /// A variable whose initializer a launch decides is stored to.
    fn own_variable(&mut self, inst: &SourceInst<'_>) {
        // One without a type of its own says that before.
        let at = if inst.op() == Op::Variable { 1 } else { 2 };
        let of_launch = inst
            .operands
            .get(at)
            .filter(|&&init| self.resources.is_launch(init));
        match (of_launch, inst.result) {
            (Some(&init), Some(id)) => {
                copy_with(&mut self.variables, inst, inst.ty, &inst.operands[..at]);
                let value = self.mapped(init);
                self.prologue.inst(self.place, Op::Store, &[id, value]);
            }
            _ => copy(&mut self.variables, inst),
        }
    }

    fn extended(&mut self, inst: &SourceInst<'_>) -> Result<()> {
        let set = inst
            .operands
            .first()
            .and_then(|set| self.source.sets.get(set));
        match set.map(String::as_str) {
            Some("GLSL.std.450") => {
                let operands = self.operands(inst);
                glsl::lower(self, inst, &operands)
            }
            // It is not of the function that it happens to be in.
            Some(set) if set.starts_with(reflection::SET) => Ok(()),
            _ => {
                copy(&mut self.body, inst);
                Ok(())
            }
        }
    }

    /// The memory operands of an access. A vector of an explicit layout may be aligned no more than
    /// its components, and what a decoration makes volatile is accessed so.
    fn access(&self, pointer: SourceId, ty: Option<SourceId>, operands: &[u32]) -> Vec<u32> {
        let (mut mask, mut rest) = match operands {
            [mask, rest @ ..] => (*mask, rest.to_vec()),
            [] => (0, Vec::new()),
        };
        let of = self.source.type_of(pointer);
        let of = of.and_then(|ty| self.source.definition(ty)?.operands.first().copied());
        let class = of.and_then(StorageClass::from_u32);
        let is_block = matches!(
            class,
            Some(
                StorageClass::StorageBuffer
                    | StorageClass::Uniform
                    | StorageClass::PushConstant
                    | StorageClass::PhysicalStorageBuffer
            )
        );
        let numbers = ty.and_then(|ty| self.source.numbers(ty));
        let aligned = MemoryAccess::ALIGNED.bits();
        if let Some(numbers) = numbers.filter(|numbers| is_block && numbers.lanes > 1)
            && mask & aligned == 0
        {
            mask |= aligned;
            rest.insert(0, numbers.bits / 8);
        }
        let is_shared = is_block || class == Some(StorageClass::Workgroup);
        if self.source.is_volatile && is_shared {
            mask |= MemoryAccess::VOLATILE.bits();
        }
        match mask {
            0 => rest,
            mask => with(&[mask], &rest),
        }
    }

    fn load(&mut self, inst: &SourceInst<'_>) -> Result<()> {
        let pointer = inst.operands[0];
        let address = self.mapped(pointer);
        if self.resources.role(pointer) == Some(Role::Object) {
            copy_as(&mut self.body, inst, Op::CopyObject, &[address]);
            return Ok(());
        }
        let access = self.access(pointer, inst.ty, &inst.operands[1..]);
        copy_with(&mut self.body, inst, inst.ty, &with(&[address], &access));
        Ok(())
    }

    fn store(&mut self, inst: &SourceInst<'_>) {
        let (pointer, value) = (inst.operands[0], inst.operands[1]);
        let ty = self.source.type_of(value);
        let access = self.access(pointer, ty, &inst.operands[2..]);
        let first = [self.mapped(pointer), self.mapped(value)];
        copy_with(&mut self.body, inst, None, &with(&first, &access));
    }

    fn call(&mut self, inst: &SourceInst<'_>) -> Result<()> {
        let mut operands = self.operands(inst);
        for (need, _) in self.resources.needs(inst.operands[0]) {
            operands.push(match need {
                Need::Variable(variable) => self.mapped(variable),
                Need::Size(variable) => self.sizes.get(&variable).copied().unwrap_or(0),
            });
        }
        copy_with(&mut self.body, inst, inst.ty, &operands);
        Ok(())
    }
}

/// An instruction's result by another instruction.
pub(super) fn copy_as(section: &mut Section, inst: &SourceInst<'_>, op: Op, operands: &[u32]) {
    let first: Vec<u32> = inst.ty.into_iter().chain(inst.result).collect();
    section.inst(inst.offset, op, &with(&first, operands));
}
