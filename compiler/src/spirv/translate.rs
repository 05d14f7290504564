//! From the entry points outwards: every function, global and work-group variable that a kernel
//! reaches is translated; the rest of a module is not looked at.

use std::collections::HashMap;
use std::num::NonZeroU32;

use cranelift_entity::SecondaryMap;
use rspirv::spirv::StorageClass;
use smallvec::SmallVec;

use super::constants::{Const, Image};
use super::decode::{Id, Inst, Result};
use super::float_modes::FloatModes;
use super::function::translate_function;
use super::module::Unit;
use super::pipes::Library;
use super::rules::{LINKAGE, Rule, VALIDATION};
use crate::ir::{
    FuncId, Function, Global, GlobalId, GlobalInit, LocalVar, Module, Op as IrOp, Relocation,
    Scope, SourceLoc, Type,
};
use crate::kernel_info::AddressSpace;

/// Largest module-scope object.
const MAX_OBJECT: u64 = 1 << 32;
/// Most bytes of all initialisers together; a small module can spell a large one by sharing parts.
const MAX_INITIALIZED: u64 = 64 << 20;

/// Where a module-scope variable lives.
pub(super) enum VariablePlace {
    Global(GlobalId),
    Local(LocalVar),
}

/// What has been translated so far, and what is still to do.
#[derive(Default)]
pub(super) struct Translator<'a> {
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
    pub pipes: Option<Library>,
    /// The kernel of each function that is enqueued.
    pub blocks: HashMap<FuncId, usize>,
}

/// What a function does, together with everything it calls.
#[derive(Clone, Default)]
pub(super) struct Reach {
    pub has_barrier: bool,
    pub enqueues: bool,
    pub private_bytes: u64,
    pub locals: Vec<LocalVar>,
}

impl<'a> Translator<'a> {
    /// Translates everything the entry points reach.
    pub fn run(&mut self, unit: &Unit<'a>) -> Result<()> {
        let invoked = unit.invoked_names();
        for entry in &unit.entry_points {
            if invoked.contains(&entry.name) {
                continue;
            }
            self.modes = unit.float_modes(entry.func)?;
            let func = self.function(unit, &entry.inst, entry.func)?;
            let kernel = unit.kernel(entry, func)?;
            self.module.kernels.push(kernel);
            while let Some((id, func)) = self.queue.pop() {
                let body = translate_function(unit, self, func, &unit.functions[&id])?;
                self.module.functions[func] = body;
            }
        }
        self.host_names(unit)?;
        while let Some((id, global)) = self.global_queue.pop() {
            self.initialize(unit, id, global)?;
        }
        let reach = self.reach(unit)?;
        for kernel in &mut self.module.kernels {
            let of = &reach[kernel.func];
            // A kernel lists the work-group variables of what it calls too, so that it says all
            // that it needs.
            let own = &mut self.module.functions[kernel.func].locals;
            for local in &of.locals {
                if !own.values().any(|l| l.name == local.name) {
                    own.push(local.clone());
                }
            }
            kernel.info.has_barrier = of.has_barrier;
            kernel.info.enqueues = of.enqueues;
            kernel.info.private_mem_size = of.private_bytes;
            kernel.info.local_mem_size = of.locals.iter().fold(0, |end: u64, local| {
                end.next_multiple_of(u64::from(local.align)) + local.size
            });
        }
        Ok(())
    }

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
    pub fn variable(&mut self, unit: &Unit<'a>, inst: &Inst<'_>, id: Id) -> Result<VariablePlace> {
        if let Some(&storage) = unit.pipe_storages.get(&id) {
            if let Some(&global) = self.globals.get(&id) {
                return Ok(VariablePlace::Global(global));
            }
            let global = self.stored_pipe(unit, inst, id, storage)?;
            self.globals.insert(id, global);
            return Ok(VariablePlace::Global(global));
        }
        let Some(variable) = unit.variables.get(&id) else {
            return Err(unit.error(
                inst,
                format!("{} is not a variable", unit.binary.describe(id)),
            ));
        };
        let info = unit.type_of_id(&variable.inst, variable.pointee)?;
        let (size, align) = (info.size, unit.aligned(id, info.align));
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
                    return Ok(VariablePlace::Local(local.clone()));
                }
                let name = self.unique(name);
                let local = LocalVar { name, size, align };
                self.locals.insert(id, local.clone());
                return Ok(VariablePlace::Local(local));
            }
            StorageClass::CrossWorkgroup => AddressSpace::Global,
            StorageClass::UniformConstant => AddressSpace::Constant,
            class => {
                return Err(unit
                    .error(
                        &variable.inst,
                        format!("variables of storage class {class:?} are not supported"),
                    )
                    .under(Rule::Spirv("Storage Class")));
            }
        };
        if let Some(&global) = self.globals.get(&id) {
            return Ok(VariablePlace::Global(global));
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
        Ok(VariablePlace::Global(global))
    }

    /// Sets a global's initial bytes.
    fn initialize(&mut self, unit: &Unit<'a>, id: Id, global: GlobalId) -> Result<()> {
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
                VariablePlace::Global(target) => relocations.push(Relocation {
                    offset,
                    target,
                    addend,
                }),
                VariablePlace::Local(_) => {
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

    /// What each function does with everything it calls. OpenCL has no recursion ("OpenCL C:
    /// Restrictions"), so a cycle of calls is refused here.
    fn reach(&self, unit: &Unit<'a>) -> Result<SecondaryMap<FuncId, Reach>> {
        let mut reach: SecondaryMap<FuncId, Reach> = SecondaryMap::new();
        let mut callees: SecondaryMap<FuncId, SmallVec<[usize; 4]>> = SecondaryMap::new();
        for (i, (caller, _, _)) in self.calls.iter().enumerate() {
            callees[*caller].push(i);
        }
        #[derive(Clone, Copy, Default, PartialEq)]
        enum State {
            #[default]
            New,
            Open,
            Done,
        }
        let mut state: SecondaryMap<FuncId, State> = SecondaryMap::new();
        for root in self.module.functions.keys() {
            if state[root] != State::New {
                continue;
            }
            let mut stack = vec![(root, 0usize)];
            state[root] = State::Open;
            reach[root] = own_reach(&self.module.functions[root]);
            while let Some((func, next)) = stack.last_mut() {
                let func = *func;
                let Some(&call) = callees[func].get(*next) else {
                    state[func] = State::Done;
                    stack.pop();
                    continue;
                };
                let (_, callee, inst) = &self.calls[call];
                match state[*callee] {
                    State::Open => {
                        return Err(unit
                            .error(
                                inst,
                                format!(
                                    "the function {:?} calls itself, directly or through others",
                                    self.module.functions[*callee].name
                                ),
                            )
                            .under(VALIDATION));
                    }
                    State::New => {
                        state[*callee] = State::Open;
                        reach[*callee] = own_reach(&self.module.functions[*callee]);
                        stack.push((*callee, 0));
                    }
                    State::Done => {
                        *next += 1;
                        let of_callee = reach[*callee].clone();
                        let of_caller = &mut reach[func];
                        of_caller.has_barrier |= of_callee.has_barrier;
                        of_caller.enqueues |= of_callee.enqueues;
                        of_caller.private_bytes = of_caller
                            .private_bytes
                            .saturating_add(of_callee.private_bytes);
                        for local in of_callee.locals {
                            if !of_caller.locals.iter().any(|l| l.name == local.name) {
                                of_caller.locals.push(local);
                            }
                        }
                    }
                }
            }
        }
        Ok(reach)
    }
}

fn own_reach(func: &Function) -> Reach {
    let mut reach = Reach {
        locals: func.locals.values().cloned().collect(),
        ..Reach::default()
    };
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            match func.insts[inst].op {
                IrOp::Barrier(_)
                | IrOp::NamedBarrier(_)
                | IrOp::Collective {
                    scope: Scope::WorkGroup,
                    ..
                } => reach.has_barrier = true,
                IrOp::Device { what, .. } => reach.enqueues |= what.is_of_enqueue(),
                IrOp::Alloca { size, .. } => reach.private_bytes += u64::from(size),
                _ => {}
            }
        }
    }
    reach
}
