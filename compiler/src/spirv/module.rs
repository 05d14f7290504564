//! Everything outside function bodies: names, decorations, types, constants, variables, entry
//! points, and where each function is.

use std::collections::{HashMap, HashSet};

use rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionModel, MemoryModel, Op, StorageClass,
};
use smallvec::SmallVec;

use super::capabilities;
use super::constants::Const;
use super::decode::{Binary, Id, Inst, Result, literal_string, literal_string_words};
use super::rules::{BUILT_IN_VARIABLES, LOGICAL_LAYOUT, Rule, UNIVERSAL};
use super::types::{Form, Kind, TypeInfo};
use crate::diagnostic::Diagnostic;
use crate::options::SpecConstants;

/// `HostAccessINTEL` of `SPV_INTEL_global_variable_decorations`, which compilers of SYCL still
/// write; that became two extensions with numbers of their own.
const OLD_HOST_ACCESS: u32 = 6147;

/// A decoration and its literal operands.
pub(super) type Applied<'a> = (Decoration, &'a [u32]);

/// An instruction set imported with `OpExtInstImport`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExtSet {
    OpenClStd,
    /// Debug information and other sets that may be skipped.
    Ignored,
    Unknown(String),
}

/// A module-scope variable.
pub(super) struct Variable<'a> {
    pub inst: Inst<'a>,
    pub class: StorageClass,
    /// The type of what it holds.
    pub pointee: Id,
    pub init: Option<Id>,
}

/// A pipe that a module makes.
#[derive(Clone, Copy)]
pub(super) struct PipeStorage {
    pub packet_size: u32,
    pub capacity: u32,
}

/// A function: where its parameters and blocks are.
pub(super) struct FunctionDef<'a> {
    pub inst: Inst<'a>,
    pub result: Id,
    pub params: Vec<Inst<'a>>,
    /// From the first label to before `OpFunctionEnd`; empty for a declaration.
    pub body: &'a [Inst<'a>],
}

/// An `OpEntryPoint`.
pub(super) struct EntryPoint<'a> {
    pub inst: Inst<'a>,
    pub func: Id,
    pub name: String,
}

/// The modules, outside of function bodies. Tables are by id.
pub(super) struct Unit<'a> {
    pub binary: &'a Binary,
    pub spec: &'a SpecConstants,
    pub types: Vec<Option<TypeInfo>>,
    /// [`TypeInfo`]'s canonical numbers.
    pub forms: HashMap<Form, u32>,
    /// Each constant's type and value.
    pub constants: Vec<Option<(Id, Const)>>,
    /// Each result's type.
    pub value_types: Vec<Option<Id>>,
    decorations: HashMap<Id, SmallVec<[Applied<'a>; 2]>>,
    /// What the decoration `Offset` says of a structure's member.
    pub member_offsets: HashMap<(Id, u32), u32>,
    pub strings: HashMap<Id, String>,
    pub ext_sets: HashMap<Id, ExtSet>,
    pub variables: HashMap<Id, Variable<'a>>,
    /// The pipes that the module makes.
    pub pipe_storages: HashMap<Id, PipeStorage>,
    pub functions: HashMap<Id, FunctionDef<'a>>,
    pub entry_points: Vec<EntryPoint<'a>>,
    /// Execution modes by function.
    pub modes: HashMap<Id, Vec<Inst<'a>>>,
    /// The modules that declare `FloatControls2`.
    pub float_controls2: HashSet<u32>,
    /// What an imported id stands for.
    pub links: HashMap<Id, Id>,
}

impl<'a> Unit<'a> {
    /// Reads all modules' global sections.
    pub fn read(
        binary: &'a Binary,
        insts: &'a [Inst<'a>],
        spec: &'a SpecConstants,
    ) -> Result<Unit<'a>> {
        let mut unit = Unit::empty(binary, spec);
        unit.read_annotations(insts)?;
        unit.read_definitions(insts)?;
        unit.check_entry_points()?;
        unit.link(insts)?;
        Ok(unit)
    }

    /// A unit that knows nothing.
    pub fn empty(binary: &'a Binary, spec: &'a SpecConstants) -> Unit<'a> {
        let count = binary.id_count();
        let mut value_types = Vec::new();
        value_types.resize(count, None);
        Unit {
            binary,
            spec,
            types: vec![None; count],
            forms: HashMap::new(),
            constants: vec![None; count],
            value_types,
            decorations: HashMap::new(),
            member_offsets: HashMap::new(),
            strings: HashMap::new(),
            ext_sets: HashMap::new(),
            variables: HashMap::new(),
            pipe_storages: HashMap::new(),
            functions: HashMap::new(),
            entry_points: Vec::new(),
            modes: HashMap::new(),
            float_controls2: HashSet::new(),
            links: HashMap::new(),
        }
    }

    pub fn error(&self, inst: &Inst<'_>, message: impl Into<String>) -> Diagnostic {
        self.binary.error(inst, message)
    }

    /// The result id; the grammar has checked that there is one where handlers ask.
    pub fn result(&self, inst: &Inst<'_>) -> Result<Id> {
        inst.result
            .ok_or_else(|| self.error(inst, "the instruction has no result"))
    }

    /// The result type's id.
    pub fn result_type(&self, inst: &Inst<'_>) -> Result<Id> {
        inst.ty
            .ok_or_else(|| self.error(inst, "the instruction has no result type"))
    }

    pub fn decorations(&self, id: Id) -> &[Applied<'a>] {
        self.decorations.get(&id).map_or(&[], |d| d.as_slice())
    }

    pub fn decoration(&self, id: Id, decoration: Decoration) -> Option<&'a [u32]> {
        self.decorations(id)
            .iter()
            .find(|(d, _)| *d == decoration)
            .map(|(_, words)| *words)
    }

    pub fn has_decoration(&self, id: Id, decoration: Decoration) -> bool {
        self.decoration(id, decoration).is_some()
    }

    /// Annotations, debug names and modes: what may be needed before the definition it is about.
    pub fn read_annotations(&mut self, insts: &'a [Inst<'a>]) -> Result<()> {
        let mut memory_models = HashSet::new();
        for inst in insts {
            let words = inst.operands;
            match inst.op() {
                Op::Capability | Op::Extension => {
                    capabilities::check(self.binary, inst)?;
                    if inst.op() == Op::Capability && words[0] == Capability::FloatControls2 as u32
                    {
                        self.float_controls2.insert(inst.module);
                    }
                }
                Op::ExtInstImport => self.import_ext_set(inst)?,
                Op::MemoryModel => {
                    self.check_memory_model(inst)?;
                    if !memory_models.insert(inst.module) {
                        return Err(self
                            .error(inst, "there is a second memory model")
                            .under(LOGICAL_LAYOUT));
                    }
                }
                Op::EntryPoint => self.read_entry_point(inst)?,
                Op::ExecutionMode | Op::ExecutionModeId => {
                    self.modes.entry(words[0]).or_default().push(*inst);
                }
                Op::String => {
                    let text = literal_string(words).unwrap_or_default();
                    self.strings.insert(self.result(inst)?, text);
                }
                Op::Decorate | Op::DecorateId | Op::DecorateString => {
                    // An unknown decoration is a hint about something unknown.
                    let decoration = match words[1] {
                        OLD_HOST_ACCESS => Some(Decoration::HostAccessINTEL),
                        number => Decoration::from_u32(number),
                    };
                    if let Some(decoration) = decoration {
                        self.decorations
                            .entry(words[0])
                            .or_default()
                            .push((decoration, &words[2..]));
                    }
                }
                Op::MemberDecorate if words[2] == Decoration::Offset as u32 => {
                    if let Some(&offset) = words.get(3) {
                        self.member_offsets.insert((words[0], words[1]), offset);
                    }
                }
                Op::GroupDecorate => self.decorate_group(words),
                _ => {}
            }
            if let (Some(result), Some(ty)) = (inst.result, inst.ty) {
                self.value_types[result as usize] = Some(ty);
            }
        }
        if (0..self.binary.module_count()).any(|module| !memory_models.contains(&module)) {
            return Err(Diagnostic::new("the module has no OpMemoryModel").under(LOGICAL_LAYOUT));
        }
        Ok(())
    }

    fn read_entry_point(&mut self, inst: &Inst<'a>) -> Result<()> {
        let words = inst.operands;

        if words[0] != ExecutionModel::Kernel as u32 {
            return Err(self.error(inst, "the execution model is not Kernel"));
        }
        let name = literal_string(&words[2..]).unwrap_or_default();
        if let Some(first) = self.entry_points.iter().find(|e| e.name == name) {
            let first = first.inst.module;
            let mut message = format!("there is a second kernel named {name:?}");
            if first != inst.module {
                let own = inst.module;
                message += &format!(": one is in module {first}, another in module {own}");
            }
            return Err(self.error(inst, message).under(UNIVERSAL));
        }
        self.entry_points.push(EntryPoint {
            inst: *inst,
            func: words[1],
            name,
        });
        Ok(())
    }

    fn import_ext_set(&mut self, inst: &Inst<'a>) -> Result<()> {
        let name = literal_string(inst.operands).unwrap_or_default();
        let set = match name.as_str() {
            "OpenCL.std" => ExtSet::OpenClStd,
            // The last is the debug information of LLVM's translator before there was a standard
            // one.
            name if name.contains("DebugInfo")
                || name.starts_with("NonSemantic.")
                || name == "SPIRV.debug" =>
            {
                ExtSet::Ignored
            }
            _ => ExtSet::Unknown(name),
        };
        self.ext_sets.insert(self.result(inst)?, set);
        Ok(())
    }

    fn check_memory_model(&self, inst: &Inst<'_>) -> Result<()> {
        let words = inst.operands;

        if words[0] != AddressingModel::Physical64 as u32 {
            return Err(self.error(
                inst,
                "the addressing model is not Physical64: pointers have 64 bits here",
            ));
        }
        if words[1] != MemoryModel::OpenCL as u32 {
            return Err(self.error(inst, "the memory model is not OpenCL"));
        }
        Ok(())
    }

    /// Gives each target what the group has.
    fn decorate_group(&mut self, words: &[u32]) {
        let group: SmallVec<[Applied<'a>; 2]> =
            self.decorations.get(&words[0]).cloned().unwrap_or_default();
        for &target in &words[1..] {
            // Decorating a group with itself, directly or not, must not grow it for ever.
            if target != words[0] {
                let own = self.decorations.entry(target).or_default();
                if own.len() < 64 {
                    own.extend(group.iter().copied());
                }
            }
        }
    }

    /// Types, constants, variables and functions, each of which may use what was defined before.
    fn read_definitions(&mut self, insts: &'a [Inst<'a>]) -> Result<()> {
        let mut at = 0;
        while let Some(inst) = insts.get(at) {
            at += 1;
            match inst.op() {
                op if op.is_type() || op == Op::TypeForwardPointer => self.define_type(inst)?,
                op if op.is_constant() => self.define_constant(inst)?,
                Op::Undef | Op::ConstantPipeStorage => self.define_constant(inst)?,
                Op::Variable | Op::UntypedVariableKHR => self.define_variable(inst)?,
                Op::Function => at = self.define_function(insts, at - 1)?,
                Op::Nop
                | Op::Source
                | Op::SourceContinued
                | Op::SourceExtension
                | Op::Name
                | Op::MemberName
                | Op::String
                | Op::Line
                | Op::NoLine
                | Op::ModuleProcessed
                | Op::Extension
                | Op::ExtInstImport
                | Op::MemoryModel
                | Op::EntryPoint
                | Op::ExecutionMode
                | Op::ExecutionModeId
                | Op::Capability
                | Op::Decorate
                | Op::DecorateId
                | Op::DecorateString
                | Op::MemberDecorate
                | Op::MemberDecorateString
                | Op::DecorationGroup
                | Op::GroupDecorate
                | Op::GroupMemberDecorate
                | Op::AliasDomainDeclINTEL
                | Op::AliasScopeDeclINTEL
                | Op::AliasScopeListDeclINTEL => {}
                // Debug information; anything else is refused where a function uses it.
                Op::ExtInst | Op::ExtInstWithForwardRefsKHR
                    if inst.operands.first().and_then(|set| self.ext_sets.get(set))
                        == Some(&ExtSet::Ignored) => {}
                _ => {
                    return Err(self
                        .error(inst, "this instruction is not allowed outside functions")
                        .under(LOGICAL_LAYOUT));
                }
            }
        }
        Ok(())
    }

    fn define_variable(&mut self, inst: &Inst<'a>) -> Result<()> {
        let ty = self.result_type(inst)?;
        let class = self.storage_class(inst, inst.operands[0])?;
        let untyped = inst.op() == Op::UntypedVariableKHR;
        let mut rest = inst.operands[1..].iter().copied();
        let pointee = match self.type_of_id(inst, ty)?.kind {
            Kind::Pointer {
                class: of_type,
                pointee: Some(pointee),
            } if of_type == class && !untyped => pointee,
            Kind::Pointer {
                class: of_type,
                pointee: None,
            } if of_type == class && untyped => rest
                .next()
                .ok_or_else(|| self.error(inst, "the data type is missing"))?,
            _ => {
                return Err(self.error(
                    inst,
                    "the result type is not a pointer to the variable's storage class",
                ));
            }
        };
        self.type_of_id(inst, pointee)?;
        let variable = Variable {
            inst: *inst,
            class,
            pointee,
            init: rest.next(),
        };
        let result = self.result(inst)?;
        // Translators of before SPIR-V 1.0 was done put them in UniformConstant, and their modules
        // are still about.
        let of_built_ins = matches!(class, StorageClass::Input | StorageClass::UniformConstant);
        if self.has_decoration(result, Decoration::BuiltIn) && !of_built_ins {
            return Err(self
                .error(
                    inst,
                    format!("a built-in variable is in storage class {class:?}, not Input"),
                )
                .under(BUILT_IN_VARIABLES));
        }
        self.variables.insert(result, variable);
        // In initialisers the variable is its address.
        self.constants[result as usize] = Some((
            ty,
            Const::Address {
                variable: result,
                addend: 0,
            },
        ));
        Ok(())
    }

    /// Reads a function from its `OpFunction` at `at`; returns the index after its `OpFunctionEnd`.
    fn define_function(&mut self, insts: &'a [Inst<'a>], at: usize) -> Result<usize> {
        let inst = insts[at];
        let result = self.result_type(&inst)?;
        let ty = inst.operands[1];
        let Kind::Function {
            result: of_type,
            params: param_types,
        } = &self.type_of_id(&inst, ty)?.kind
        else {
            return Err(self.error(
                &inst,
                format!("{} is not a function type", self.binary.describe(ty)),
            ));
        };
        if !self.same_type(*of_type, result) {
            return Err(self.error(&inst, "the result type is not the function type's"));
        }
        let mut params = Vec::new();
        let mut begin = None;
        let mut end = at + 1;
        loop {
            let Some(next) = insts.get(end).filter(|i| i.module == inst.module) else {
                return Err(self
                    .error(&inst, "the function has no OpFunctionEnd")
                    .under(LOGICAL_LAYOUT));
            };
            match next.op() {
                Op::FunctionEnd => break,
                Op::Function => {
                    return Err(self
                        .error(next, "a function begins inside another")
                        .under(LOGICAL_LAYOUT));
                }
                Op::FunctionParameter if begin.is_none() => {
                    let ty = self.result_type(next)?;
                    match param_types.get(params.len()) {
                        Some(&expected) if self.same_type(expected, ty) => params.push(*next),
                        Some(_) => {
                            return Err(
                                self.error(next, "the parameter's type is not the function type's")
                            );
                        }
                        None => {
                            return Err(self.error(
                                next,
                                format!(
                                    "the function type has {} parameters only",
                                    param_types.len()
                                ),
                            ));
                        }
                    }
                }
                Op::Line | Op::NoLine | Op::Nop if begin.is_none() => {}
                Op::Label if begin.is_none() => begin = Some(end),
                _ if begin.is_none() => {
                    return Err(self
                        .error(next, "expected a label at the start of the function")
                        .under(LOGICAL_LAYOUT));
                }
                _ => {}
            }
            end += 1;
        }
        if params.len() != param_types.len() {
            return Err(self.error(
                &inst,
                format!(
                    "the function has {} parameters, its type has {}",
                    params.len(),
                    param_types.len()
                ),
            ));
        }
        let def = FunctionDef {
            inst,
            result,
            params,
            body: begin.map_or(&[], |begin| &insts[begin..end]),
        };
        self.functions.insert(self.result(&inst)?, def);
        Ok(end + 1)
    }

    fn check_entry_points(&self) -> Result<()> {
        for entry in &self.entry_points {
            let Some(def) = self.functions.get(&entry.func) else {
                return Err(self
                    .error(
                        &entry.inst,
                        format!("{} is not a function", self.binary.describe(entry.func)),
                    )
                    .under(UNIVERSAL));
            };
            if def.body.is_empty() {
                return Err(self
                    .error(
                        &entry.inst,
                        format!("the kernel {:?} has no body", entry.name),
                    )
                    .under(UNIVERSAL));
            }
            let result = self.type_of_id(&def.inst, def.result)?;
            if !matches!(result.kind, Kind::Void) {
                return Err(self
                    .error(&def.inst, "a kernel must return void")
                    .under(Rule::Env("Kernel Return Types")));
            }
        }
        Ok(())
    }

    /// The entry point's interface ids are after its name; nothing relies on them.
    pub fn linkage(&self, id: Id) -> Option<(String, u32)> {
        let words = self.decoration(id, Decoration::LinkageAttributes)?;
        let name = literal_string(words)?;
        let kind = *words.get(literal_string_words(words))?;
        Some((name, kind))
    }
}
