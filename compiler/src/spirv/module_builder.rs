//! The module that is made: its functions, globals and work-group variables, declared when first
//! asked for, and what of them is still to be translated.

use std::collections::HashMap;
use std::num::NonZeroU32;

use rspirv::spirv::{Decoration, StorageClass};

use super::constants::{Const, Image};
use super::decode::{Id, Inst, Result};
use super::float_modes::FloatModes;
use super::module::{PipeStorage, Unit};
use super::pipe_ring::Library;
use super::rules::{LINKAGE, Rule};
use crate::ir::{
    FuncId, Function, Global, GlobalId, GlobalInit, LocalVar, Module, Relocation, SourceLoc, Type,
};
use crate::kernel_info::AddressSpace;
use crate::pipe;

/// Largest module-scope object.
const MAX_OBJECT: u64 = 1 << 32;
/// Most bytes of all initialisers together; a small module can spell a large one by sharing parts.
const MAX_INITIALIZED: u64 = 64 << 20;

/// Where a module-scope variable lives.
pub(super) enum VariableStorage {
    Global(GlobalId),
    Local(LocalVar),
}

/// What has been declared so far, and what of it is still to do.
#[derive(Default)]
pub(super) struct ModuleBuilder<'a> {
    pub module: Module,
    functions: HashMap<(Id, FloatModes), FuncId>,
    queue: Vec<(Id, FuncId)>,
    /// Of the entry point being translated.
    pub modes: FloatModes,
    globals: HashMap<Id, GlobalId>,
    global_queue: Vec<(Id, GlobalId)>,
    locals: HashMap<Id, LocalVar>,
    /// Names given so far, and how many were derived from each.
    names: HashMap<String, u32>,
    locations: HashMap<String, SourceLoc>,
    /// Who calls whom, and where.
    pub calls: Vec<(FuncId, FuncId, Inst<'a>)>,
    initialized: u64,
    pipes: Option<Library>,
    /// The kernel of each function that is enqueued.
    pub blocks: HashMap<FuncId, usize>,
}

impl<'a> ModuleBuilder<'a> {
    /// The IR function of a SPIR-V function with a body, declared on first use.
    pub fn function(&mut self, unit: &Unit<'a>, inst: &Inst<'_>, id: Id) -> Result<FuncId> {
        let id = unit.linked(id);
        if let Some(&func) = self.functions.get(&(id, self.modes)) {
            return Ok(func);
        }
        let Some(def) = unit.functions.get(&id) else {
            return Err(unit.error(
                inst,
                format!("{} is not a function", unit.binary.describe(id)),
            ));
        };
        if def.body.is_empty() {
            let name = unit.linkage(id).map(|(name, _)| name);
            return Err(match name {
                Some(name) => unit
                    .error(inst, unit.missing("function", &name, &def.inst))
                    .under(LINKAGE),
                None => unit.error(
                    inst,
                    format!("the function {} has no body", unit.binary.describe(id)),
                ),
            });
        }
        let mut params: Vec<Type> = Vec::new();
        for param in &def.params {
            let ty = unit.result_type(param)?;
            params.extend(unit.leaves(param, ty)?.iter().map(|leaf| leaf.ty));
            if params.len() > 4096 {
                return Err(unit
                    .error(&def.inst, "the function has too many parameters")
                    .under(Rule::Limit));
            }
        }
        let results: Vec<Type> = unit
            .leaves(&def.inst, def.result)?
            .iter()
            .map(|leaf| leaf.ty)
            .collect();
        let linkage = unit.linkage(id);
        let name = unit
            .binary
            .name(id)
            .or_else(|| {
                let entry = unit.entry_points.iter().find(|entry| entry.func == id);
                entry.map(|entry| entry.name.as_str())
            })
            .or_else(|| linkage.as_ref().map(|(name, _)| name.as_str()));
        let name = self.unique(name.unwrap_or("function"));
        let func = self
            .module
            .functions
            .push(Function::new(name, &params, &results));
        self.functions.insert((id, self.modes), func);
        self.queue.push((id, func));
        Ok(func)
    }

    /// A name that nothing else has: `name`, `name.1`, ..
    pub fn unique(&mut self, name: &str) -> String {
        let mut unique = name.to_string();
        while self.names.contains_key(&unique) {
            let derived = self.names.entry(name.to_string()).or_default();
            *derived += 1;
            unique = format!("{name}.{derived}");
        }
        self.names.insert(unique.clone(), 0);
        unique
    }

    /// The entry of [`Module::locations`] for a position.
    pub fn location(&mut self, text: &str) -> SourceLoc {
        if let Some(&loc) = self.locations.get(text) {
            return loc;
        }
        self.module.locations.push(text.to_string());
        let loc = SourceLoc(NonZeroU32::new(self.module.locations.len() as u32));
        self.locations.insert(text.to_string(), loc);
        loc
    }

    /// Where a module-scope variable, or a pipe of the module, lives; `id` is linked.
    pub fn variable(
        &mut self,
        unit: &Unit<'a>,
        inst: &Inst<'_>,
        id: Id,
    ) -> Result<VariableStorage> {
        if let Some(&storage) = unit.pipe_storages.get(&id) {
            if let Some(&global) = self.globals.get(&id) {
                return Ok(VariableStorage::Global(global));
            }
            let global = self.stored_pipe(unit, inst, id, storage)?;
            self.globals.insert(id, global);
            return Ok(VariableStorage::Global(global));
        }
        let Some(variable) = unit.variables.get(&id) else {
            return Err(unit.error(
                inst,
                format!("{} is not a variable", unit.binary.describe(id)),
            ));
        };
        let info = unit.type_of_id(&variable.inst, variable.pointee)?;
        let (size, align) = (info.size, unit.aligned(&variable.inst, info.align)?);
        if size > MAX_OBJECT {
            return Err(unit
                .error(
                    &variable.inst,
                    format!("a variable of {size} bytes is too large: {MAX_OBJECT} is the most"),
                )
                .under(Rule::Limit));
        }
        let name = unit.binary.name(id).unwrap_or("variable");
        let space = match variable.class {
            StorageClass::Workgroup => {
                if let Some(local) = self.locals.get(&id) {
                    return Ok(VariableStorage::Local(local.clone()));
                }
                let name = self.unique(name);
                let local = LocalVar { name, size, align };
                self.locals.insert(id, local.clone());
                return Ok(VariableStorage::Local(local));
            }
            StorageClass::CrossWorkgroup => AddressSpace::Global,
            StorageClass::UniformConstant => AddressSpace::Constant,
            class => {
                let error = unit
                    .error(
                        &variable.inst,
                        format!("variables of storage class {class:?} are not supported"),
                    )
                    .under(Rule::Spirv("Storage Class"));
                let is_constant = unit.has_decoration(id, Decoration::Constant);
                if class != StorageClass::Function || !is_constant || variable.init.is_none() {
                    return Err(error);
                }
                // Nobody can tell apart what is never written to, but for where it is.
                unit.binary
                    .warn(error, "the constant is taken as one in UniformConstant");
                AddressSpace::Constant
            }
        };
        if let Some(&global) = self.globals.get(&id) {
            return Ok(VariableStorage::Global(global));
        }
        if let Some((import, kind)) = unit.linkage(id)
            && kind == rspirv::spirv::LinkageType::Import as u32
        {
            let message = unit.missing("variable", &import, &variable.inst);
            return Err(unit.error(&variable.inst, message).under(LINKAGE));
        }
        let name = self.unique(name);
        let global = self.module.globals.push(Global {
            name,
            space,
            size,
            align,
            init: GlobalInit::Zero,
        });
        self.globals.insert(id, global);
        self.global_queue.push((id, global));
        Ok(VariableStorage::Global(global))
    }

    /// Sets a global's initial bytes.
    pub fn initialize(&mut self, unit: &Unit<'a>, id: Id, global: GlobalId) -> Result<()> {
        let variable = &unit.variables[&id];
        let Some(init) = variable.init else {
            return Ok(());
        };
        let (ty, value) = unit.constant(&variable.inst, init)?;
        if !unit.same_type(*ty, variable.pointee) {
            return Err(unit.error(
                &variable.inst,
                "the initialiser's type is not the variable's",
            ));
        }
        if matches!(value, Const::Null) {
            return Ok(());
        }
        let inst = variable.inst;
        self.set_image(unit, &inst, *ty, value, global)
    }

    /// A constant object that holds `value`, for copying from.
    pub fn constant_global(
        &mut self,
        unit: &Unit<'a>,
        inst: &Inst<'_>,
        ty: Id,
        value: &Const,
    ) -> Result<GlobalId> {
        let info = unit.type_of_id(inst, ty)?;
        let (size, align) = (info.size, info.align);
        let name = self.unique("initialiser");
        let global = self.module.globals.push(Global {
            name,
            space: AddressSpace::Constant,
            size,
            align,
            init: GlobalInit::Zero,
        });
        if !matches!(value, Const::Null) {
            self.set_image(unit, inst, ty, value, global)?;
        }
        Ok(global)
    }

    /// Refuses to make more bytes than a program may have initialised.
    pub fn count_initialized(&mut self, unit: &Unit<'a>, inst: &Inst<'_>, size: u64) -> Result<()> {
        self.initialized = self.initialized.saturating_add(size);
        if self.initialized > MAX_INITIALIZED {
            return Err(unit
                .error(
                    inst,
                    format!("the initialisers take more than {MAX_INITIALIZED} bytes"),
                )
                .under(Rule::Limit));
        }
        Ok(())
    }

    fn set_image(
        &mut self,
        unit: &Unit<'a>,
        inst: &Inst<'_>,
        ty: Id,
        value: &Const,
        global: GlobalId,
    ) -> Result<()> {
        let size = self.module.globals[global].size;
        self.count_initialized(unit, inst, size)?;
        let mut image = Image {
            bytes: vec![0; size as usize],
            addresses: Vec::new(),
        };
        unit.write_constant(inst, ty, value, 0, &mut image)?;
        let mut relocations = Vec::with_capacity(image.addresses.len());
        for (offset, target, addend) in image.addresses {
            let target = unit.linked(target);
            match self.variable(unit, inst, target)? {
                VariableStorage::Global(target) => relocations.push(Relocation {
                    offset,
                    target,
                    addend,
                }),
                VariableStorage::Local(_) => {
                    return Err(unit.error(
                        inst,
                        "an initialiser has the address of a work-group variable, which is not constant",
                    ));
                }
            }
        }
        self.module.globals[global].init = GlobalInit::Bytes(image.bytes, relocations);
        Ok(())
    }

    /// A function that has been declared and not been translated.
    pub fn next_function(&mut self) -> Option<(Id, FuncId)> {
        self.queue.pop()
    }

    /// A global that has been declared and not been initialised.
    pub fn next_global(&mut self) -> Option<(Id, GlobalId)> {
        self.global_queue.pop()
    }

    /// The functions that pipe instructions call; they come into the module when one is met.
    pub fn pipe_library(&mut self) -> Library {
        if let Some(library) = self.pipes {
            return library;
        }
        let library = Library::load(|mut func| {
            func.name = self.unique(&func.name);
            self.module.functions.push(func)
        });
        self.pipes = Some(library);
        library
    }

    /// The pipe of an `OpConstantPipeStorage`: one for the whole program.
    fn stored_pipe(
        &mut self,
        unit: &Unit<'a>,
        inst: &Inst<'_>,
        id: Id,
        storage: PipeStorage,
    ) -> Result<GlobalId> {
        let PipeStorage {
            packet_size,
            capacity,
        } = storage;
        let size = pipe::size(packet_size, capacity).unwrap_or(u64::MAX);
        self.count_initialized(unit, inst, size)?;
        let mut bytes = pipe::header(packet_size, capacity).to_vec();
        bytes.resize(size as usize, 0);
        let name = self.unique(unit.binary.name(id).unwrap_or("pipe"));
        Ok(self.module.globals.push(Global {
            name,
            space: AddressSpace::Global,
            size,
            align: pipe::ALIGN as u32,
            init: GlobalInit::Bytes(bytes, Vec::new()),
        }))
    }
}
