//! What a kernel gets from the host: arguments to descriptors, push constants and specialization
//! constants, and what the reflection says of them.

use std::fmt::Write;

use rspirv::spirv::{
    BuiltIn, Decoration, NonsemanticClspvreflectionOp as Reflect, Op, StorageClass,
};

use rustc_hash::FxHashMap;

use super::input::{Function, Input, Kernel};
use super::ir::{Arg, Id};
use super::lower::{Lower, Pointer, Result, Tag, Val};
use super::pointers::leaf_types;
use super::reflection::{Operand, Reflected, numbers};
use super::target::Target;
use super::types::{Ty, Type};
use super::{Options, Pods};

/// `KernelPropertyFlags`
const MAY_USE_PRINTF: u32 = 1;

/// Most numbers of an argument passed by value.
const MOST_PARTS: u64 = 4096;

/// Where `get_global_offset` comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GlobalOffset {
    /// It is 0.
    #[default]
    None,
    SpecConstant,
    PushConstant,
}

/// What the module fills a buffer with.
#[derive(Default)]
struct Data {
    bytes: Vec<u8>,
    /// Where each object begins.
    offsets: FxHashMap<Id, u32>,
    /// The variables that are the buffer, one for each object and type that it has in a kernel.
    blocks: Vec<Id>,
}

impl Data {
    /// A variable of an object, which kernels may have different types for.
    fn variable(&mut self, target: &mut Target, object: Id, ty: Ty, data: &[u8]) -> Id {
        let all = &mut self.bytes;
        let offset = *self.offsets.entry(object).or_insert_with(|| {
            all.resize(all.len().next_multiple_of(16), 0);
            let offset = all.len() as u32;
            all.extend_from_slice(data);
            offset
        });
        let block = target.types.add(Type::Block(vec![(ty, offset)]));
        let id = target.variable(StorageClass::StorageBuffer, block, None);
        self.blocks.push(id);
        id
    }

    /// Binds the buffer: its contents as text.
    fn bind(&mut self, target: &mut Target, set: u32, binding: u32) -> String {
        for id in std::mem::take(&mut self.blocks) {
            target.decorate(id, Decoration::DescriptorSet, &[set]);
            target.decorate(id, Decoration::Binding, &[binding]);
        }
        let mut hex = String::with_capacity(2 * self.bytes.len());
        for byte in &self.bytes {
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }
}

/// What the kernels of a module share.
#[derive(Default)]
pub(crate) struct Shared {
    /// The size of work-groups, where it is specialized.
    size: Option<Id>,
    /// The size is the same for all kernels, or each has its own.
    needs_size: bool,
    work_dim: Option<Id>,
    offset: Option<[Id; 3]>,
    push_constants: Option<Id>,
    /// `SpecId`s of all that is not an argument.
    special: Vec<(Reflect, Vec<u32>)>,
    next_spec_id: u32,
    samplers: Vec<(u32, Id)>,
    constants: Data,
    /// Variables in global memory that belong to the program.
    variables: Data,
    printf_buffer: Option<Id>,
    /// What is printed, with the sizes of arguments.
    formats: Vec<(String, Vec<u32>)>,
    known_formats: FxHashMap<(String, Vec<u32>), u32>,
    next_set: u32,
}

impl Shared {
    pub fn new(input: &Input, options: &Options, target: &mut Target) -> Shared {
        let all = input
            .kernels
            .iter()
            .all(|kernel| kernel.required_size.is_some());
        let mut shared = Shared {
            needs_size: !all,
            next_spec_id: 3,
            ..Shared::default()
        };
        if !all {
            let size = shared.size(target);
            target.roots.push(size);
        }
        if options.global_offset == GlobalOffset::PushConstant {
            shared.push_constants(target);
        }
        shared
    }

    /// Whether the size of work-groups is a specialization constant.
    pub fn has_size(&self) -> bool {
        self.needs_size
    }

    fn spec_id(&mut self) -> u32 {
        self.next_spec_id += 1;
        self.next_spec_id - 1
    }

    pub fn size(&mut self, target: &mut Target) -> Id {
        if let Some(size) = self.size {
            return size;
        }
        let parts: Vec<Id> = (0..3).map(|id| target.spec_constant(id, 1)).collect();
        let word = target.types.int(32);
        let vector = target.types.vector(word, 3);
        let size = target.spec_composite(vector, &parts);
        target.decorate(size, Decoration::BuiltIn, &[BuiltIn::WorkgroupSize as u32]);
        self.special
            .push((Reflect::SpecConstantWorkgroupSize, vec![0, 1, 2]));
        self.size = Some(size);
        size
    }

    pub fn work_dim(&mut self, target: &mut Target, options: &Options) -> Id {
        if !options.work_dim {
            return target.u32(3);
        }
        if let Some(id) = self.work_dim {
            return id;
        }
        let spec_id = self.spec_id();
        let id = target.spec_constant(spec_id, 3);
        self.special
            .push((Reflect::SpecConstantWorkDim, vec![spec_id]));
        self.work_dim = Some(id);
        id
    }

    pub fn global_offset(&mut self, target: &mut Target) -> [Id; 3] {
        if let Some(ids) = self.offset {
            return ids;
        }
        let spec_ids = [(); 3].map(|()| self.spec_id());
        let ids = spec_ids.map(|spec_id| target.spec_constant(spec_id, 0));
        self.special
            .push((Reflect::SpecConstantGlobalOffset, spec_ids.to_vec()));
        self.offset = Some(ids);
        ids
    }

    /// The variable of what a launch pushes: the global offset.
    pub fn push_constants(&mut self, target: &mut Target) -> Id {
        if let Some(id) = self.push_constants {
            return id;
        }
        let offset = global_offset(target);
        let block = target.types.add(Type::Block(vec![offset]));
        let id = target.variable(StorageClass::PushConstant, block, None);
        self.special
            .push((Reflect::PushConstantGlobalOffset, vec![0, 12]));
        self.push_constants = Some(id);
        id
    }

    /// A sampler of the source, by the bits of OpenCL C's constants.
    pub fn sampler(&mut self, target: &mut Target, mask: u32) -> Id {
        if let Some(&(_, id)) = self.samplers.iter().find(|(known, _)| *known == mask) {
            return id;
        }
        let ty = target.types.add(Type::Sampler);
        let id = target.variable(StorageClass::UniformConstant, ty, None);
        self.samplers.push((mask, id));
        id
    }

    /// A variable of a constant in the buffer that the host fills.
    pub fn constant(&mut self, target: &mut Target, object: Id, ty: Ty, data: &[u8]) -> Id {
        let id = self.constants.variable(target, object, ty, data);
        target.decorate(id, Decoration::NonWritable, &[]);
        id
    }

    /// A variable of one in global memory that belongs to the program.
    pub fn program_variable(&mut self, target: &mut Target, object: Id, ty: Ty, data: &[u8]) -> Id {
        self.variables.variable(target, object, ty, data)
    }

    /// The variable of the buffer that `printf` writes to.
    pub fn printf_buffer(&mut self, target: &mut Target) -> Id {
        if let Some(id) = self.printf_buffer {
            return id;
        }
        let word = target.types.int(32);
        let words = target.types.add(Type::Runtime(word));
        let block = target.types.add(Type::Block(vec![(words, 0)]));
        let id = target.variable(StorageClass::StorageBuffer, block, None);
        self.printf_buffer = Some(id);
        id
    }

    /// The number of a format.
    pub fn format(&mut self, text: String, sizes: Vec<u32>) -> u32 {
        let new = self.formats.len() as u32;
        let format = (text, sizes);
        match self.known_formats.get(&format) {
            Some(&known) => known,
            None => {
                self.formats.push(format.clone());
                self.known_formats.insert(format, new);
                new
            }
        }
    }

    /// Says of the buffers that no argument is for where they are bound.
    fn reflect_buffers(
        &mut self,
        target: &mut Target,
        reflected: &mut Reflected,
        (set, first): (u32, u32),
        options: &Options,
    ) {
        let mut binding = first;
        for (data, op, name) in [
            (
                &mut self.constants,
                Reflect::ConstantDataStorageBuffer,
                "constant",
            ),
            (
                &mut self.variables,
                Reflect::ProgramScopeVariablesStorageBuffer,
                "program_scope_variables",
            ),
        ] {
            if data.blocks.is_empty() {
                continue;
            }
            let hex = data.bind(target, set, binding);
            reflected.line(&format!(
                "{name},descriptorSet,{set},binding,{binding},kind,buffer,hexbytes,{hex}"
            ));
            let mut all = numbers(&[set, binding]);
            all.push(Operand::Text(hex));
            let record = target.id();
            reflected.add(record, op, all);
            binding += 1;
        }
        let Some(id) = self.printf_buffer else { return };
        target.decorate(id, Decoration::DescriptorSet, &[set]);
        target.decorate(id, Decoration::Binding, &[binding]);
        for (number, (text, sizes)) in (0..).zip(std::mem::take(&mut self.formats)) {
            let mut all = numbers(&[number]);
            all.push(Operand::Text(text));
            all.extend(numbers(&sizes));
            let record = target.id();
            reflected.add(record, Reflect::PrintfInfo, all);
        }
        let record = target.id();
        let all = numbers(&[set, binding, options.printf_bytes]);
        reflected.add(record, Reflect::PrintfBufferStorageBuffer, all);
    }

    /// What is said of the module behind its kernels.
    pub fn reflect(mut self, target: &mut Target, reflected: &mut Reflected, options: &Options) {
        let set = self.next_set;
        let samplers = self.samplers.len() as u32;
        self.reflect_buffers(target, reflected, (set, samplers), options);
        for (binding, (mask, id)) in (0..).zip(std::mem::take(&mut self.samplers)) {
            target.decorate(id, Decoration::DescriptorSet, &[set]);
            target.decorate(id, Decoration::Binding, &[binding]);
            let record = target.id();
            let operands = numbers(&[set, binding, mask]);
            reflected.add(record, Reflect::LiteralSampler, operands);
            reflected.line(&format!(
                "sampler,{mask},samplerExpr,\"{}\",descriptorSet,{set},binding,{binding}",
                sampler_text(mask)
            ));
        }
        for (op, operands) in &self.special {
            let record = target.id();
            reflected.add(record, *op, numbers(operands));
            let names: &[&str] = match op {
                Reflect::SpecConstantWorkgroupSize => {
                    &["workgroup_size_x", "workgroup_size_y", "workgroup_size_z"]
                }
                Reflect::SpecConstantGlobalOffset => {
                    &["global_offset_x", "global_offset_y", "global_offset_z"]
                }
                Reflect::SpecConstantWorkDim => &["work_dim"],
                _ => &[],
            };
            for (name, spec_id) in names.iter().zip(operands) {
                reflected.line(&format!("spec_constant,{name},spec_id,{spec_id}"));
            }
            if *op == Reflect::PushConstantGlobalOffset {
                reflected.line("pushconstant,name,global_offset,offset,0,size,12");
            }
        }
    }
}

/// The member of push constants that the global offset is.
fn global_offset(target: &mut Target) -> (Ty, u32) {
    let word = target.types.int(32);
    (target.types.vector(word, 3), 0)
}

/// OpenCL C's names of a sampler's bits.
fn sampler_text(mask: u32) -> String {
    let addressing = match mask & 0xe {
        0 => "CLK_ADDRESS_NONE",
        2 => "CLK_ADDRESS_CLAMP_TO_EDGE",
        4 => "CLK_ADDRESS_CLAMP",
        6 => "CLK_ADDRESS_REPEAT",
        _ => "CLK_ADDRESS_MIRRORED_REPEAT",
    };
    let filter = match mask & 0x30 {
        0x10 => "CLK_FILTER_NEAREST",
        _ => "CLK_FILTER_LINEAR",
    };
    let normalized = match mask & 1 {
        0 => "CLK_NORMALIZED_COORDS_FALSE",
        _ => "CLK_NORMALIZED_COORDS_TRUE",
    };
    format!("{addressing}|{filter}|{normalized}")
}

/// An argument passed by value, in a block.
struct Pod {
    ordinal: u32,
    param: Id,
    /// The value's type; for a structure that is passed by address, the structure's.
    ty: Ty,
    by_address: bool,
    offset: u32,
    size: u32,
}

/// An argument as text: names and what `clGetKernelArgInfo` says.
struct Description {
    name: String,
    type_name: String,
    address: u32,
    access: u32,
    qualifiers: u32,
}

fn entry_of(input: &Input, kind: &str, kernel: &str, ordinal: usize) -> String {
    let all = input.texts.get(&format!("{kind}.{kernel}"));
    all.and_then(|all| all.get(ordinal))
        .cloned()
        .unwrap_or_default()
}

impl Lower<'_> {
    fn describe(&self, kernel: &Kernel, function: &Function, ordinal: usize) -> Description {
        let (id, ty) = function.params[ordinal];
        let (input, types) = (self.input, &self.target.types);
        let address = match types.get(ty) {
            Type::Pointer(StorageClass::CrossWorkgroup, _) => 0x119b,
            Type::Pointer(StorageClass::Workgroup, _) => 0x119c,
            Type::Pointer(StorageClass::UniformConstant, _) => 0x119d,
            Type::Image(..) => 0x119b,
            _ => 0x119e,
        };
        let access = match types.get(ty) {
            Type::Image(_, operands) => 0x11a0 + operands[5].min(2),
            _ => 0x11a3,
        };
        let words = entry_of(input, "kernel_arg_type_qual", &kernel.name, ordinal);
        let bits = [("const", 1), ("restrict", 2), ("volatile", 4), ("pipe", 8)];
        let qualifiers = bits
            .iter()
            .filter(|(name, _)| words.split(' ').any(|word| word == *name))
            .map(|(_, bit)| bit)
            .sum();
        Description {
            name: input.names.get(&id).cloned().unwrap_or_default(),
            type_name: entry_of(input, "kernel_arg_type", &kernel.name, ordinal),
            address,
            access,
            qualifiers,
        }
    }

    /// Makes the arguments of a kernel ready, in its first block.
    pub fn arguments(
        &mut self,
        kernel: &Kernel,
        function: Id,
        reflected: &mut Reflected,
    ) -> Result<()> {
        let input = self.input;
        let source = &input.functions[&kernel.function];
        let set = match self.options.distinct_sets {
            true => self.shared.next_set,
            false => 0,
        };
        self.shared.next_set = set + 1;
        let record = self.target.id();
        let operands = vec![
            Operand::Id(function),
            Operand::Text(kernel.name.clone()),
            Operand::Number(source.params.len() as u32),
            Operand::Number(if self.prints { MAY_USE_PRINTF } else { 0 }),
            Operand::Text(kernel.attributes.join(" ")),
        ];
        reflected.add(record, Reflect::Kernel, operands);
        reflected.line(&format!("kernel_decl,{}", kernel.name));
        let mut said = Vec::new();
        let mut pods = Vec::new();
        let mut binding = 0;
        for (ordinal, &(id, ty)) in source.params.iter().enumerate() {
            let number = ordinal as u32;
            let kind = self.target.types.get(ty).clone();
            let mut described = None;
            match kind {
                Type::Pointer(
                    class @ (StorageClass::CrossWorkgroup | StorageClass::UniformConstant),
                    _,
                ) => {
                    let constant = class == StorageClass::UniformConstant;
                    let uniform = constant && self.options.constant_args_ubo;
                    self.buffer(id, set, binding, uniform)?;
                    let (op, kind) = match uniform {
                        true => (Reflect::ArgumentUniform, "buffer_ubo"),
                        false => (Reflect::ArgumentStorageBuffer, "buffer"),
                    };
                    described = Some((op, kind));
                }
                Type::Pointer(StorageClass::Workgroup, _) => {
                    let (spec_id, size) = self.local_argument(id)?;
                    said.push((
                        number,
                        Reflect::ArgumentWorkgroup,
                        vec![spec_id, size],
                        format!("argKind,local,arrayElemSize,{size},arrayNumElemSpecId,{spec_id}"),
                    ));
                }
                Type::Pointer(StorageClass::Function, pointee) => pods.push(Pod {
                    ordinal: number,
                    param: id,
                    ty: pointee,
                    by_address: true,
                    offset: 0,
                    size: 0,
                }),
                Type::Int(_) | Type::Float(_) | Type::Vector(..) => {
                    self.check_type(self.target.types.lanes(ty).0)?;
                    pods.push(Pod {
                        ordinal: number,
                        param: id,
                        ty,
                        by_address: false,
                        offset: 0,
                        size: 0,
                    });
                }
                Type::Image(..) => {
                    let (op, kind) = self.image_argument(id, ty, set, binding)?;
                    described = Some((op, kind));
                }
                Type::Sampler => {
                    self.descriptor(id, ty, set, binding);
                    described = Some((Reflect::ArgumentSampler, "sampler"));
                }
                _ => {
                    let name = self.target.types.name(ty);
                    return self.error(format!(
                        "an argument of the type '{name}', which Vulkan has not"
                    ));
                }
            }
            if !self.options.cluster_pods
                && pods.last().is_some_and(|pod: &Pod| pod.ordinal == number)
            {
                let pod = pods.split_off(pods.len() - 1);
                self.pods(pod, (set, binding), &mut said)?;
                binding += 1;
            }
            if let Some((op, kind)) = described {
                let text = format!("descriptorSet,{set},binding,{binding},offset,0,argKind,{kind}");
                said.push((number, op, vec![set, binding], text));
                binding += 1;
            }
        }
        if !pods.is_empty() {
            self.pods(pods, (set, binding), &mut said)?;
        }
        for (ordinal, op, operands, text) in said {
            let description = self.describe(kernel, source, ordinal as usize);
            let info = self.target.id();
            reflected.line(&format!(
                "kernel,{},arg,{},argOrdinal,{ordinal},{text}",
                kernel.name, description.name
            ));
            let mut all = vec![Operand::Text(description.name)];
            all.push(Operand::Text(description.type_name));
            all.extend(numbers(&[
                description.address,
                description.access,
                description.qualifiers,
            ]));
            reflected.add(info, Reflect::ArgumentInfo, all);
            let mut all = vec![Operand::Id(record), Operand::Number(ordinal)];
            all.extend(numbers(&operands));
            all.push(Operand::Id(info));
            let id = self.target.id();
            reflected.add(id, op, all);
        }
        self.pushed_queries(source, record, reflected)?;
        if let Some(size) = kernel.required_size {
            let id = self.target.id();
            let mut all = vec![Operand::Id(record)];
            all.extend(numbers(&size));
            reflected.add(id, Reflect::PropertyRequiredWorkgroupSize, all);
        }
        Ok(())
    }

    /// What is asked of images is pushed, behind the global offset.
    fn pushed_queries(
        &mut self,
        source: &Function,
        record: Id,
        reflected: &mut Reflected,
    ) -> Result<()> {
        let mut members = Vec::new();
        if self.options.global_offset == GlobalOffset::PushConstant {
            members.push(global_offset(self.target));
        }
        let mut end = 12 * members.len() as u32;
        let word = self.u32_ty();
        for (ordinal, &(param, _)) in (0..).zip(&source.params) {
            for (op, what) in [
                (
                    Op::ImageQueryOrder,
                    Reflect::ImageArgumentInfoChannelOrderPushConstant,
                ),
                (
                    Op::ImageQueryFormat,
                    Reflect::ImageArgumentInfoChannelDataTypePushConstant,
                ),
            ] {
                let key = (param, op as u32);
                if !self.image_queries.contains(&key) {
                    continue;
                }
                self.image_query_members.insert(key, members.len() as u32);
                members.push((word, end));
                let id = self.target.id();
                let mut all = vec![Operand::Id(record)];
                all.extend(numbers(&[ordinal, end, 4]));
                reflected.add(id, what, all);
                end += 4;
            }
        }
        if self.image_query_members.is_empty() {
            return Ok(());
        }
        if self.options.pods == Pods::PushConstant {
            return self.error("-pod-pushconstant: what is asked of images is in push constants");
        }
        if end > self.options.max_push_constants {
            return self.error("what is asked of images takes more push constants than there are");
        }
        let block = self.target.types.add(Type::Block(members));
        let id = self
            .target
            .variable(StorageClass::PushConstant, block, None);
        self.pushed = Some(id);
        Ok(())
    }

    /// The variable of what a launch pushes.
    pub fn push_constants(&mut self) -> Id {
        match self.pushed {
            Some(id) => id,
            None => self.shared.push_constants(self.target),
        }
    }

    /// Refuses small numbers where the host's memory has none.
    pub fn check_storage(&self, ty: Ty, class: StorageClass) -> Result<()> {
        let options = self.options;
        for (bits, without, name) in [
            (8, options.no_8bit, "-no-8bit-storage"),
            (16, options.no_16bit, "-no-16bit-storage"),
        ] {
            let is_without = match class {
                StorageClass::StorageBuffer => without.storage_buffer,
                StorageClass::Uniform => without.uniform,
                _ => without.push_constant,
            };
            let mut leaves = leaf_types(&self.target.types, ty).into_iter();
            if is_without && leaves.any(|leaf| self.target.types.bits(leaf) == bits) {
                return self.error(format!(
                    "{name}: numbers of {bits} bits in {class:?} memory"
                ));
            }
        }
        Ok(())
    }

    fn at(&mut self, id: Id, set: u32, binding: u32) {
        self.target.decorate(id, Decoration::DescriptorSet, &[set]);
        self.target.decorate(id, Decoration::Binding, &[binding]);
    }

    /// A variable for a buffer: an array of what its class's unit is.
    fn buffer(&mut self, param: Id, set: u32, binding: u32, uniform: bool) -> Result<()> {
        let class = self.class(param)?;
        let of = self.pointers.get(class);
        let Some(unit) = of.unit else { return Ok(()) };
        self.check_leaves(unit.ty)?;
        let types = &mut self.target.types;
        let (storage, array) = match uniform {
            true => {
                if unit.size % 16 != 0 {
                    let name = types.name(unit.ty);
                    return self.error(format!(
                        "-constant-args-ubo: elements of type '{name}' are {} bytes apart, and \
                         in uniform buffers that has to be a multiple of 16",
                        unit.size
                    ));
                }
                let length = 65536 / unit.size;
                (StorageClass::Uniform, Type::Array(unit.ty, length))
            }
            false => (StorageClass::StorageBuffer, Type::Runtime(unit.ty)),
        };
        let array = types.add(array);
        let block = types.add(Type::Block(vec![(array, 0)]));
        self.check_storage(unit.ty, storage)?;
        if uniform {
            self.check_uniform(unit.ty, "-constant-args-ubo")?;
        }
        let id = self.target.variable(storage, block, None);
        self.at(id, set, binding);
        if let Some(name) = self.input.names.get(&param) {
            self.target.names.push((id, name.clone()));
        }
        self.objects.insert(param, id);
        Ok(())
    }

    /// Refuses types of parts that are not in memory that the host sees.
    pub fn check_leaves(&self, ty: Ty) -> Result<()> {
        for leaf in leaf_types(&self.target.types, ty) {
            match self.target.types.get(leaf) {
                Type::Pointer(..) => {
                    return self.error(
                        "a pointer in global or constant memory: Vulkan's pointers exist only in \
                         a kernel",
                    );
                }
                _ => self.check_type(leaf)?,
            }
        }
        Ok(())
    }

    fn local_argument(&mut self, param: Id) -> Result<(u32, u32)> {
        let class = self.class(param)?;
        let spec_id = self.shared.spec_id();
        let Some(unit) = self.pointers.get(class).unit else {
            return Ok((spec_id, 4));
        };
        self.check_leaves(unit.ty)?;
        let length = self.target.spec_constant(spec_id, 1);
        let ty = self.target.types.add(Type::Sized(unit.ty, length));
        let id = self.target.variable(StorageClass::Workgroup, ty, None);
        if let Some(name) = self.input.names.get(&param) {
            self.target.names.push((id, name.clone()));
        }
        self.objects.insert(param, id);
        Ok((spec_id, unit.size as u32))
    }

    /// A variable of an image or sampler.
    pub fn descriptor(&mut self, param: Id, ty: Ty, set: u32, binding: u32) {
        let id = self
            .target
            .variable(StorageClass::UniformConstant, ty, None);
        self.at(id, set, binding);
        if let Some(name) = self.input.names.get(&param) {
            self.target.names.push((id, name.clone()));
        }
        self.objects.insert(param, id);
    }

    /// A block of arguments passed by value.
    fn pods(
        &mut self,
        mut pods: Vec<Pod>,
        (set, binding): (u32, u32),
        said: &mut Vec<(u32, Reflect, Vec<u32>, String)>,
    ) -> Result<()> {
        let how = self.options.pods;
        // "Standard Uniform Buffer Layout": structures begin at multiples of 16.
        let mut end = match (how, self.options.global_offset) {
            (Pods::PushConstant, GlobalOffset::PushConstant) => {
                return self
                    .error("-pod-pushconstant cannot be given with -global-offset-push-constant");
            }
            _ => 0u64,
        };
        for pod in &mut pods {
            if self.target.types.parts(pod.ty) > MOST_PARTS {
                return self.error("an argument that is a structure of so many parts");
            }
            let (size, mut align) = self.target.types.layout(pod.ty);
            let is_wide = self.target.types.lanes(pod.ty).1 > 4;
            if !is_wide && !self.target.types.is_plain(pod.ty, false) {
                return self.error(
                    "an argument that is a structure with a pointer, a packed structure or a vector \
                     of more than 4 components in it",
                );
            }
            if how == Pods::Uniform && is_wide {
                return self.error("-pod-ubo: a vector of more than 4 components");
            }
            if how == Pods::Uniform && self.target.types.is_aggregate(pod.ty) {
                align = align.max(16);
                self.check_uniform(pod.ty, "-pod-ubo")?;
            }
            end = end.next_multiple_of(align);
            (pod.offset, pod.size) = (end as u32, size as u32);
            end += size;
        }
        if how == Pods::PushConstant && end > u64::from(self.options.max_push_constants) {
            return self.error(format!(
                "the arguments passed by value take {end} bytes, and push constants {} at most \
                 (-max-pushconstant-size)",
                self.options.max_push_constants
            ));
        }
        let members = pods.iter().map(|pod| {
            // Wider vectors are arrays.
            let ty = match *self.target.types.get(pod.ty) {
                Type::Vector(scalar, lanes) if lanes > 4 => {
                    let array = Type::Array(scalar, lanes.into());
                    self.target.types.add(array)
                }
                _ => pod.ty,
            };
            (ty, pod.offset)
        });
        let members = members.collect();
        let block = self.target.types.add(Type::Block(members));
        let class = match how {
            Pods::StorageBuffer => StorageClass::StorageBuffer,
            Pods::Uniform => StorageClass::Uniform,
            Pods::PushConstant => StorageClass::PushConstant,
        };
        for pod in &pods {
            self.check_storage(pod.ty, class)?;
        }
        let variable = self.target.variable(class, block, None);
        if class != StorageClass::PushConstant {
            self.at(variable, set, binding);
        }
        for (member, pod) in (0..).zip(&pods) {
            self.pod_value(variable, class, member, pod)?;
            let (offset, size) = (pod.offset, pod.size);
            let place = format!("descriptorSet,{set},binding,{binding},offset,{offset}");
            let (op, operands, text) = match how {
                Pods::StorageBuffer => (
                    Reflect::ArgumentPodStorageBuffer,
                    vec![set, binding, offset, size],
                    format!("{place},argKind,pod,argSize,{size}"),
                ),
                Pods::Uniform => (
                    Reflect::ArgumentPodUniform,
                    vec![set, binding, offset, size],
                    format!("{place},argKind,pod_ubo,argSize,{size}"),
                ),
                Pods::PushConstant => (
                    Reflect::ArgumentPodPushConstant,
                    vec![offset, size],
                    format!("offset,{offset},argKind,pod_pushconstant,argSize,{size}"),
                ),
            };
            said.push((pod.ordinal, op, operands, text));
        }
        Ok(())
    }

    /// "Standard Uniform Buffer Layout" of Vulkan's specification.
    fn check_uniform(&self, ty: Ty, option: &str) -> Result<()> {
        match self.target.types.get(ty) {
            &Type::Array(element, _) if !self.target.types.size(element).is_multiple_of(16) => self
                .error(format!(
                    "{option}: an array in a structure whose elements are not multiples of 16 bytes"
                )),
            &Type::Array(element, _) => self.check_uniform(element, option),
            Type::Struct { members, .. } => {
                let offsets = self.target.types.offsets(ty);
                for (&member, offset) in members.iter().zip(&*offsets) {
                    if self.target.types.is_aggregate(member) && offset % 16 != 0 {
                        return self.error(format!(
                            "{option}: a structure in a structure that does not begin at a \
                             multiple of 16 bytes",
                        ));
                    }
                    self.check_uniform(member, option)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The value of an argument: loaded, or copied to a variable.
    fn pod_value(
        &mut self,
        variable: Id,
        class: StorageClass,
        member: u32,
        pod: &Pod,
    ) -> Result<()> {
        let (scalar, lanes) = self.target.types.lanes(pod.ty);
        if lanes > 4 {
            let load = |lane| self.load_part(variable, class, &[member, lane], scalar);
            let all = (0..lanes).map(load).collect();
            self.values.insert(pod.param, Val::Lanes(all));
            return Ok(());
        }
        if !pod.by_address {
            let value = self.load_part(variable, class, &[member], pod.ty);
            self.values.insert(pod.param, Val::Id(value));
            return Ok(());
        }
        let of = self.class(pod.param)?;
        let Some(tag) = self.pointers.tag(pod.param) else {
            return Ok(());
        };
        let to = Pointer {
            class: of,
            tag: Tag::Known(tag),
            terms: Vec::new(),
            add: 0,
        };
        for (path, leaf, offset) in self.paths(pod.ty) {
            self.check_type(leaf)?;
            let path = [&[member][..], &path].concat();
            let value = self.load_part(variable, class, &path, leaf);
            let mut to = to.clone();
            to.add = offset as i64;
            self.store(&to, value, leaf, false)?;
        }
        Ok(())
    }

    pub fn load_part(&mut self, variable: Id, class: StorageClass, path: &[u32], ty: Ty) -> Id {
        let mut args = vec![Arg::Id(variable)];
        args.extend(path.iter().map(|&at| Arg::Id(self.target.u32(at))));
        let pointer = self.target.types.pointer(class, ty);
        let part = self.emit_args(rspirv::spirv::Op::AccessChain, pointer, args);
        self.emit(rspirv::spirv::Op::Load, ty, &[part])
    }

    /// Scalars and vectors of a type, by their indices, and where they are.
    fn paths(&self, ty: Ty) -> Vec<(Vec<u32>, Ty, u64)> {
        let types = &self.target.types;
        let mut all = Vec::new();
        let mut work = vec![(Vec::new(), ty, 0)];
        while let Some((path, ty, at)) = work.pop() {
            let parts: Vec<(Ty, u64)> = match types.get(ty) {
                Type::Struct { members, .. } => {
                    let offsets = types.offsets(ty);
                    let all = members.iter().zip(&*offsets);
                    all.map(|(&member, &offset)| (member, offset)).collect()
                }
                Type::Array(element, length) => {
                    let size = types.size(*element);
                    (0..*length).map(|index| (*element, index * size)).collect()
                }
                _ => {
                    all.push((path, ty, at));
                    continue;
                }
            };
            for (index, (part, offset)) in parts.into_iter().enumerate().rev() {
                let path = [&path[..], &[index as u32]].concat();
                work.push((path, part, at + offset));
            }
        }
        all
    }

    /// A literal sampler's variable, loaded.
    pub fn literal_sampler(&mut self, addressing: u32, normalized: u32, filter: u32) -> Id {
        let mask = normalized | addressing_bits(addressing) | (filter + 1) << 4;
        let variable = self.shared.sampler(self.target, mask);
        let ty = self.target.types.add(Type::Sampler);
        self.emit(rspirv::spirv::Op::Load, ty, &[variable])
    }
}

/// SPIR-V's addressing modes as OpenCL C's bits.
fn addressing_bits(mode: u32) -> u32 {
    match mode {
        0 => 0,
        1 => 2,
        2 => 4,
        3 => 6,
        _ => 8,
    }
}
