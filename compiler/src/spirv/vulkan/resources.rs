//! Which function uses which of the variables that a kernel has to provide, directly or through
//! what it calls, and what each variable becomes.
//!
//! A variable of a descriptor, a push constant and a private one exist once for a kernel, and
//! OpenCL's modules have no such variables: functions get them as parameters. What a kernel makes
//! them of is in `kernels.rs`.
//!
//! Each function is given to its callers when it has more than they knew, so the time is that of
//! the calls times what is passed on; what is passed on altogether is limited.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};

use super::super::decode::Result;
use super::super::rules::Rule;
use super::reflection::{Became, Descriptor, InBlock, KernelSource, LaunchNumber, Reflection};
use super::source::{Source, SourceId, Variable};

/// Most parameters that all functions together are given.
const MOST_PARAMETERS: usize = 1 << 20;

/// What a variable becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A pointer to memory that the host provides.
    Buffer,
    /// A private copy of what is in the block.
    Block,
    /// A pointer to work-group memory that the host sizes.
    Local,
    /// A private variable of each kernel.
    Private,
    /// A private variable that is never written, and has one content for all: a constant.
    Table,
    /// The global id without the offset.
    GlobalId,
    /// An image or a sampler.
    Object,
}

impl Role {
    /// The storage class of pointers to the variable, where its own class does not tell.
    pub fn class(self) -> StorageClass {
        match self {
            Role::Buffer => StorageClass::CrossWorkgroup,
            Role::Local => StorageClass::Workgroup,
            Role::Table | Role::Object => StorageClass::UniformConstant,
            Role::Block | Role::Private | Role::GlobalId => StorageClass::Function,
        }
    }
}

/// What a function is given of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    Variable(SourceId),
    /// How many bytes the buffer has that it is.
    Size(SourceId),
}

impl Need {
    pub fn variable(self) -> SourceId {
        match self {
            Need::Variable(variable) | Need::Size(variable) => variable,
        }
    }
}

pub(super) struct Resources<'a> {
    pub roles: HashMap<SourceId, Role>,
    pub variables: HashMap<SourceId, Variable<'a>>,
    /// What a function is given, in the order of its parameters.
    needs: HashMap<SourceId, BTreeSet<Need>>,
    /// Pointers into a variable whose class is not that of their type.
    derived: HashMap<SourceId, SourceId>,
    /// Constants that are known when a kernel is launched, in order of definition.
    pub launch: BTreeMap<usize, SourceId>,
    launch_ids: HashSet<SourceId>,
    /// The specialization constants among them.
    pub launch_numbers: HashMap<SourceId, LaunchNumber>,
}

/// The descriptor of a variable.
pub(super) fn descriptor_of(source: &Source<'_>, variable: SourceId) -> Option<Descriptor> {
    Some(Descriptor {
        set: source.decorated_number(variable, Decoration::DescriptorSet)?,
        binding: source.decorated_number(variable, Decoration::Binding)?,
    })
}

/// The specialization constant that sizes an array in work-group memory.
pub(super) fn length_spec_id(source: &Source<'_>, variable: &Variable<'_>) -> Option<u32> {
    let mut array = source.definition(variable.pointee)?;
    // Of an explicit layout, it is the one member of a block.
    if let (Op::TypeStruct, &[member]) = (array.op(), array.operands) {
        array = source.definition(member)?;
    }
    match (array.op(), array.operands) {
        (Op::TypeArray, &[_, length]) => source.decorated_number(length, Decoration::SpecId),
        _ => None,
    }
}

impl<'a> Resources<'a> {
    pub fn find(source: &Source<'a>, reflection: &Reflection<'a>) -> Result<Resources<'a>> {
        let mut resources = Resources {
            roles: HashMap::new(),
            variables: HashMap::new(),
            needs: HashMap::new(),
            derived: HashMap::new(),
            launch: BTreeMap::new(),
            launch_ids: HashSet::new(),
            launch_numbers: HashMap::new(),
        };
        resources.find_launch_constants(source, reflection)?;
        resources.find_variables(source, reflection);
        resources.find_needs(source)?;
        resources.find_roles(source, reflection)?;
        resources.find_uses(source)?;
        Ok(resources)
    }

    /// What a function is given, and of which variables.
    pub fn needs(&self, function: SourceId) -> impl Iterator<Item = (Need, &Variable<'a>)> {
        let needs = self.needs.get(&function).into_iter().flatten();
        let given = needs.filter(|need| self.role(need.variable()) != Some(Role::Table));
        given.filter_map(|&need| Some((need, self.variables.get(&need.variable())?)))
    }

    pub fn role(&self, variable: SourceId) -> Option<Role> {
        self.roles.get(&variable).copied()
    }

    /// The class of a pointer, where its type does not say.
    pub fn class_of(&self, pointer: SourceId) -> Option<StorageClass> {
        let root = self.derived.get(&pointer)?;
        Some(self.roles.get(root)?.class())
    }

    pub fn is_launch(&self, constant: SourceId) -> bool {
        self.launch_ids.contains(&constant)
    }

    fn find_launch_constants(
        &mut self,
        source: &Source<'a>,
        reflection: &Reflection<'a>,
    ) -> Result<()> {
        for inst in source.global_insts() {
            let Some(id) = inst.result else { continue };
            match inst.op() {
                Op::SpecConstant => {
                    let spec_id = source.decorated_number(id, Decoration::SpecId);
                    let what = spec_id.and_then(|it| reflection.launch_numbers.get(&it));
                    let Some(&what) = what else { continue };
                    let ty = inst.ty.and_then(|ty| source.numbers(ty));
                    if !ty.is_some_and(|ty| !ty.float && ty.bits == 32) {
                        let message = "what a launch decides is not an integer of 32 bits";
                        return Err(source.error(inst, message));
                    }
                    self.launch_numbers.insert(id, what);
                }
                Op::SpecConstantComposite | Op::SpecConstantOp => {
                    let uses = source.id_operands(inst);
                    let known = |&(at, _): &(usize, _)| self.is_launch(inst.operands[at]);
                    if !uses.iter().any(known) {
                        continue;
                    }
                }
                _ => continue,
            }
            self.launch.insert(inst.number, id);
            self.launch_ids.insert(id);
        }
        Ok(())
    }

    /// The variables that functions may have to be given.
    fn find_variables(&mut self, source: &Source<'a>, reflection: &Reflection<'a>) {
        let arguments = reflection.kernels.iter().flat_map(|k| k.arguments.values());
        let lengths: HashSet<u32> = arguments
            .filter_map(|argument| match argument.became {
                Became::Local { spec_id } => Some(spec_id),
                _ => None,
            })
            .collect();
        for variable in &source.variables {
            let given = match variable.class {
                StorageClass::StorageBuffer
                | StorageClass::Uniform
                | StorageClass::UniformConstant
                | StorageClass::PushConstant
                | StorageClass::Private => true,
                StorageClass::Workgroup => length_spec_id(source, variable)
                    .is_some_and(|spec_id| lengths.contains(&spec_id)),
                StorageClass::Input => {
                    source.decorated_number(variable.id, Decoration::BuiltIn)
                        == Some(BuiltIn::GlobalInvocationId as u32)
                }
                _ => false,
            };
            if given {
                self.variables.insert(variable.id, *variable);
            }
        }
    }

    fn find_needs(&mut self, source: &Source<'a>) -> Result<()> {
        let mut callers: HashMap<SourceId, Vec<SourceId>> = HashMap::new();
        let mut total = 0;
        let mut work = Vec::new();
        for function in source.functions() {
            let mut own = BTreeSet::new();
            for inst in function.insts {
                for (at, _) in source.id_operands(inst) {
                    let id = inst.operands[at];
                    if self.variables.contains_key(&id) {
                        own.insert(match inst.op() {
                            Op::ArrayLength | Op::UntypedArrayLengthKHR => Need::Size(id),
                            _ => Need::Variable(id),
                        });
                    }
                }
                if let (Op::FunctionCall, Some(&callee)) = (inst.op(), inst.operands.first()) {
                    callers.entry(callee).or_default().push(function.id);
                }
            }
            total += own.len();
            work.extend(own.iter().map(|&need| (function.id, need)));
            self.needs.insert(function.id, own);
        }
        for of_callee in callers.values_mut() {
            of_callee.sort_unstable();
            of_callee.dedup();
        }
        while let Some((function, need)) = work.pop() {
            for &caller in callers.get(&function).into_iter().flatten() {
                let Some(of_caller) = self.needs.get_mut(&caller) else {
                    continue;
                };
                if of_caller.insert(need) {
                    total += 1;
                    work.push((caller, need));
                }
            }
            if total > MOST_PARAMETERS {
                let inst = self.variables[&need.variable()].inst;
                let message = format!(
                    "functions use the module's variables in more than {MOST_PARAMETERS} ways"
                );
                return Err(source.error(&inst, message).under(Rule::Limit));
            }
        }
        Ok(())
    }

    fn find_roles(&mut self, source: &Source<'a>, reflection: &Reflection<'a>) -> Result<()> {
        for kernel in &reflection.kernels {
            let by_descriptor = by_descriptor(kernel);
            let needs = self
                .needs
                .get(&kernel.function)
                .cloned()
                .unwrap_or_default();
            for need in needs {
                let id = need.variable();
                let variable = self.variables[&id];
                let role = role_in(source, reflection, &by_descriptor, &variable)?;
                if matches!(need, Need::Size(_)) && role != Role::Buffer {
                    let message = format!("{} is no buffer with a length", source.describe(id));
                    return Err(source.error(&variable.inst, message));
                }
                let before = self.roles.insert(id, role);
                if before.is_some_and(|before| before != role) {
                    let message = format!(
                        "{} is different things in different kernels",
                        source.describe(id)
                    );
                    return Err(source.error(&variable.inst, message));
                }
            }
        }
        Ok(())
    }

    /// Follows pointers into variables whose class becomes another than their type says.
    fn find_uses(&mut self, source: &Source<'a>) -> Result<()> {
        let followed: HashSet<SourceId> = self
            .roles
            .iter()
            .filter(|(_, role)| matches!(role, Role::Block | Role::Private | Role::GlobalId))
            .map(|(&id, _)| id)
            .collect();
        // Those with another use than a load of them or a part.
        let mut written: HashSet<SourceId> = HashSet::new();
        let mut derived: HashMap<SourceId, SourceId> = HashMap::new();
        for function in source.functions() {
            for inst in function.insts {
                for (at, _) in source.id_operands(inst) {
                    let id = inst.operands[at];
                    let root = match derived.get(&id) {
                        Some(&root) => root,
                        None if followed.contains(&id) => id,
                        None => continue,
                    };
                    let is_part = match inst.op() {
                        Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => at == 0,
                        Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => at == 1,
                        _ => false,
                    };
                    match inst.op() {
                        _ if is_part => {
                            derived.insert(inst.result.unwrap_or(0), root);
                        }
                        Op::Load => {}
                        _ if self.roles.get(&root) != Some(&Role::Private) => {
                            let message = format!(
                                "{} is a part of {}, of which parts are loaded only",
                                source.describe(id),
                                source.describe(root)
                            );
                            return Err(source.error(inst, message));
                        }
                        _ => {
                            written.insert(root);
                        }
                    }
                }
            }
        }
        for id in followed {
            let variable = &self.variables[&id];
            let constant = variable.init.is_some_and(|init| !self.is_launch(init));
            if self.roles.get(&id) == Some(&Role::Private) && constant && !written.contains(&id) {
                self.roles.insert(id, Role::Table);
            }
        }
        derived.retain(|_, root| self.roles.get(root) != Some(&Role::Private));
        self.derived = derived;
        Ok(())
    }
}

/// What a kernel's descriptors are for.
fn by_descriptor(kernel: &KernelSource<'_>) -> HashMap<Descriptor, Role> {
    let mut roles: HashMap<Descriptor, Role> = HashMap::new();
    for argument in kernel.arguments.values() {
        let role = match argument.became {
            Became::Buffer { .. } => Role::Buffer,
            Became::Bytes { .. } | Became::Address { .. } => Role::Block,
            Became::Image(_) | Became::Sampler(_) => Role::Object,
            Became::Local { .. } => Role::Local,
        };
        if let Some(descriptor) = argument.became.descriptor() {
            roles.insert(descriptor, role);
        }
    }
    for number in &kernel.object_numbers {
        if let InBlock::Descriptor(descriptor) = number.of {
            roles.entry(descriptor).or_insert(Role::Block);
        }
    }
    roles
}

/// What a variable is in a kernel.
fn role_in(
    source: &Source<'_>,
    reflection: &Reflection<'_>,
    by_descriptor: &HashMap<Descriptor, Role>,
    variable: &Variable<'_>,
) -> Result<Role> {
    Ok(match variable.class {
        StorageClass::PushConstant => Role::Block,
        StorageClass::Private => Role::Private,
        StorageClass::Input => Role::GlobalId,
        StorageClass::Workgroup => Role::Local,
        class => {
            let descriptor = descriptor_of(source, variable.id);
            let of_module = |descriptor: Descriptor| {
                let data = reflection.data_of(descriptor).is_some();
                let sampler = reflection.samplers.contains_key(&descriptor);
                match (data || reflection.prints_to(descriptor), sampler) {
                    (true, _) => Some(Role::Buffer),
                    (_, true) => Some(Role::Object),
                    _ => None,
                }
            };
            let role = descriptor
                .and_then(|descriptor| {
                    let of_kernel = by_descriptor.get(&descriptor).copied();
                    of_kernel.or_else(|| of_module(descriptor))
                })
                .ok_or_else(|| {
                    let what = source.describe(variable.id);
                    let message = match descriptor {
                        Some(Descriptor { set, binding }) => format!(
                            "{what} is used by a kernel that no reflection says to have \
                             descriptor set {set}, binding {binding}"
                        ),
                        None => format!("{what} has no descriptor set and binding"),
                    };
                    source
                        .error(&variable.inst, message)
                        .under(Rule::Reflection("Binary Form"))
                })?;
            if (role == Role::Object) != (class == StorageClass::UniformConstant) {
                let message = format!(
                    "the storage class {class:?} is not that of what the reflection describes"
                );
                return Err(source.error(&variable.inst, message));
            }
            role
        }
    })
}

/// Whether an instruction is about an argument in a block.
pub(super) fn is_in(became: Became, block: InBlock) -> bool {
    match became {
        Became::Bytes { of, .. } | Became::Address { of, .. } => of == block,
        _ => false,
    }
}
