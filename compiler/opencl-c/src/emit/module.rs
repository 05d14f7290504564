//! What the functions of a module share while it is written.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Lines;
use super::calls::Calls;
use super::function::FunctionEmitter;
use super::types::Structure;
use super::words::{Id, Words, push, push_string};
use crate::hir::{Function, FunctionId, Global, GlobalId, Inline, Linkage, Local};
use crate::options::Options;
use crate::spirv::{capability, decoration, op, storage};
use crate::symbol::Interner;
use crate::token::{Loc, RoundingMode};
use crate::types::{RecordId, Space, TypeId, Types};

/// A line of the source: the file's string, line and column.
pub(super) type Line = (Id, u32, u32);

pub(super) struct ModuleEmitter<'a> {
    pub words: Words,
    pub types: Types,
    pub options: &'a Options,
    pub interner: &'a Interner,
    lines: Option<Lines<'a>>,
    pub hir_functions: &'a [Function],
    pub hir_globals: &'a [Global],
    /// The language has arithmetic of `half`.
    pub has_half: bool,
    /// By [`TypeId`].
    pub type_ids: Vec<Option<Id>>,
    pub structures: FxHashMap<RecordId, Structure>,
    pub records_begun: FxHashSet<RecordId>,
    pub forward_pointers: FxHashMap<(TypeId, Space), Id>,
    /// Those of `forward_pointers` that are not declared yet.
    pub undeclared_pointers: Vec<(TypeId, Space)>,
    /// Types and constants by opcode, type and operands.
    interned: FxHashMap<Box<[u32]>, Id>,
    key: Vec<u32>,
    /// The bits of scalar constants.
    constant_bits: FxHashMap<Id, u64>,
    pub constants_in_memory: FxHashMap<Id, Id>,
    pub function_ids: Vec<Id>,
    pub global_ids: Vec<Option<Id>>,
    /// Those whose initialisers are looked at.
    pub globals_begun: FxHashSet<GlobalId>,
    /// Variables that the function (or initialiser) being written refers to.
    pub used_variables: FxHashSet<Id>,
    /// Those that initialisers refer to.
    pub used_by_variables: FxHashMap<Id, Vec<Id>>,
    builtin_variables: FxHashMap<u32, Id>,
    opencl_std: Option<Id>,
    files: FxHashMap<std::sync::Arc<str>, Id>,
    /// What SPIR-V cannot express.
    pub errors: Vec<(Loc, String)>,
}

impl<'a> ModuleEmitter<'a> {
    pub fn new(
        types: Types,
        (hir_functions, hir_globals): (&'a [Function], &'a [Global]),
        options: &'a Options,
        interner: &'a Interner,
        lines: Option<Lines<'a>>,
        has_half: bool,
    ) -> ModuleEmitter<'a> {
        let mut words = Words::default();
        let function_ids = hir_functions.iter().map(|_| words.id()).collect();
        ModuleEmitter {
            words,
            types,
            options,
            interner,
            lines,
            hir_functions,
            hir_globals,
            has_half,
            type_ids: Vec::new(),
            structures: FxHashMap::default(),
            records_begun: FxHashSet::default(),
            forward_pointers: FxHashMap::default(),
            undeclared_pointers: Vec::new(),
            interned: FxHashMap::default(),
            key: Vec::new(),
            constant_bits: FxHashMap::default(),
            constants_in_memory: FxHashMap::default(),
            function_ids,
            global_ids: vec![None; hir_globals.len()],
            globals_begun: FxHashSet::default(),
            used_variables: FxHashSet::default(),
            used_by_variables: FxHashMap::default(),
            builtin_variables: FxHashMap::default(),
            opencl_std: None,
            files: FxHashMap::default(),
            errors: Vec::new(),
        }
    }

    /// A type or constant, which is the same if its words are.
    pub fn interned(&mut self, opcode: u16, ty: Option<Id>, operands: &[u32]) -> Id {
        self.key.clear();
        self.key.push(opcode.into());
        self.key.extend(ty.map(|ty| ty.0));
        self.key.extend_from_slice(operands);
        if let Some(&id) = self.interned.get(self.key.as_slice()) {
            return id;
        }
        let id = self.words.id();
        self.interned.insert(self.key.as_slice().into(), id);
        let globals = &mut self.words.globals;
        let words = operands.len() as u32 + 2 + u32::from(ty.is_some());
        globals.push(words << 16 | u32::from(opcode));
        globals.extend(ty.map(|ty| ty.0));
        globals.push(id.0);
        globals.extend_from_slice(operands);
        match (opcode, operands) {
            (op::CONSTANT_NULL, _) => self.constant_bits.insert(id, 0),
            (op::CONSTANT, &[low]) => self.constant_bits.insert(id, low.into()),
            (op::CONSTANT, &[low, high]) => {
                let bits = u64::from(high) << 32 | u64::from(low);
                self.constant_bits.insert(id, bits)
            }
            _ => None,
        };
        id
    }

    /// The value of an integer that is a constant, extended by zeros.
    pub fn int_value(&self, id: Id) -> Option<u64> {
        self.constant_bits.get(&id).copied()
    }

    pub fn capability(&mut self, capability: u32) {
        self.words.capabilities.insert(capability);
    }

    pub fn extension(&mut self, name: &'static str) {
        self.words.extensions.insert(name);
    }

    pub fn decorate(&mut self, id: Id, decoration: u32, operands: &[u32]) {
        let words = &mut self.words.decorations;
        words.push((operands.len() as u32 + 3) << 16 | u32::from(op::DECORATE));
        words.extend([id.0, decoration]);
        words.extend_from_slice(operands);
    }

    pub fn decorate_saturated(&mut self, id: Id) {
        self.decorate(id, decoration::SATURATED_CONVERSION, &[]);
    }

    pub fn decorate_rounding(&mut self, id: Id, mode: RoundingMode) {
        let mode = match mode {
            RoundingMode::ToEven => 0,
            RoundingMode::ToZero => 1,
            RoundingMode::ToPositive => 2,
            RoundingMode::ToNegative => 3,
        };
        self.decorate(id, decoration::FP_ROUNDING_MODE, &[mode]);
    }

    pub fn decorate_no_signed_wrap(&mut self, id: Id) {
        self.decorate(id, decoration::NO_SIGNED_WRAP, &[]);
    }

    /// What options and pragmas allow and ask of arithmetic.
    pub fn decorate_float(&mut self, id: Id, rounding: Option<RoundingMode>) {
        if let Some(mode) = rounding {
            self.decorate_rounding(id, mode);
        }
        let options = self.options;
        if options.fast_relaxed_math {
            self.decorate(id, decoration::FP_FAST_MATH_MODE, &[0x10]);
        } else if options.finite_math_only {
            self.decorate(id, decoration::FP_FAST_MATH_MODE, &[0x3]);
        }
    }

    pub fn decorate_parameter(&mut self, id: Id, local: &Local) {
        self.name_local(id, local);
        if local.is_restrict {
            self.decorate(id, decoration::FUNC_PARAM_ATTR, &[decoration::NO_ALIAS]);
        }
        if self.in_memory(local.ty) {
            self.decorate(id, decoration::FUNC_PARAM_ATTR, &[decoration::BY_VAL]);
        }
    }

    pub fn decorate_local(&mut self, id: Id, local: &Local) {
        if self.options.debug_info {
            self.name_local(id, local);
        }
        let natural = self.types.layout(local.ty).map_or(1, |(_, align)| align);
        if local.align > natural {
            self.decorate(id, decoration::ALIGNMENT, &[local.align as u32]);
        }
    }

    fn name_local(&mut self, id: Id, local: &Local) {
        let name = self.interner.text(local.name);
        if !name.is_empty() {
            push_string(&mut self.words.names, op::NAME, &[id.0], name, &[]);
        }
    }

    /// The set of instructions for OpenCL.
    pub fn opencl_std(&mut self) -> Id {
        if let Some(id) = self.opencl_std {
            return id;
        }
        let id = self.words.id();
        let imports = &mut self.words.imports;
        push_string(imports, op::EXT_INST_IMPORT, &[id.0], "OpenCL.std", &[]);
        self.opencl_std = Some(id);
        id
    }

    /// The variable of a built-in value.
    pub fn builtin_variable(&mut self, number: u32, ty: TypeId) -> Id {
        if let Some(&id) = self.builtin_variables.get(&number) {
            self.used_variables.insert(id);
            return id;
        }
        let value = self.type_id(ty);
        let pointer = self.raw_type(op::TYPE_POINTER, &[storage::INPUT, value.0]);
        let id = self.words.id();
        let operands = [pointer.0, id.0, storage::INPUT];
        push(&mut self.words.globals, op::VARIABLE, &operands);
        self.decorate(id, decoration::BUILT_IN, &[number]);
        self.decorate(id, decoration::CONSTANT, &[]);
        self.builtin_variables.insert(number, id);
        self.used_variables.insert(id);
        id
    }

    pub fn function_id(&self, function: FunctionId) -> Id {
        self.function_ids[function.0 as usize]
    }

    pub fn function_control(&self, function: &Function) -> u32 {
        let inline = match function.inline {
            Inline::Default => 0,
            Inline::Always => 1,
            Inline::Never => 2,
        };
        inline | u32::from(function.is_pure) << 2 | u32::from(function.is_const) << 3
    }

    /// The line of the source, if lines are wanted.
    pub fn line_of(&mut self, loc: Loc) -> Option<Line> {
        let place = self.lines.as_ref()?.place(loc)?;
        let file = match self.files.get(&place.file) {
            Some(&id) => id,
            None => {
                let id = self.words.id();
                push_string(
                    &mut self.words.strings,
                    op::STRING,
                    &[id.0],
                    &place.file,
                    &[],
                );
                self.files.insert(place.file, id);
                id
            }
        };
        Some((file, place.line, place.column))
    }

    /// A text that is of no instruction's, but read by those who know its form.
    pub fn string(&mut self, text: &str) {
        let id = self.words.id();
        push_string(&mut self.words.strings, op::STRING, &[id.0], text, &[]);
    }

    /// Writes a function. Returns the variables that it refers to.
    fn function(&mut self, function: &'a Function, id: Id) -> Vec<Id> {
        self.used_variables.clear();
        let words = FunctionEmitter::emit(self, function, id);
        let section = if function.body.is_some() {
            &mut self.words.definitions
        } else {
            &mut self.words.declarations
        };
        section.extend(words);
        let name = self.interner.text(function.name);
        push_string(&mut self.words.names, op::NAME, &[id.0], name, &[]);
        self.used_variables.drain().collect()
    }

    /// Writes everything.
    pub fn module(&mut self, no_contraction: bool) {
        self.capability(capability::KERNEL);
        self.capability(capability::ADDRESSES);
        let (functions, globals) = (self.hir_functions, self.hir_globals);
        let whole_program = self.options.whole_program;
        for (index, global) in globals.iter().enumerate() {
            // What is imported is wanted where it is used.
            let is_wanted = match global.linkage {
                Linkage::Export | Linkage::LinkOnce => true,
                Linkage::Internal => !whole_program,
                Linkage::Import => false,
            };
            if is_wanted {
                self.global(GlobalId(index as u32));
            }
        }
        let calls = Calls::new(functions);
        let wanted = calls.wanted(functions, whole_program);
        let mut variables = vec![Vec::new(); functions.len()];
        for (index, function) in functions.iter().enumerate() {
            if !wanted[index] {
                continue;
            }
            let id = self.function_ids[index];
            variables[index] = self.function(function, id);
            let is_closed = whole_program && function.body.is_some();
            if !is_closed {
                self.link(id, self.interner.text(function.name), function.linkage);
            }
        }
        // SPIR-V Specification, "Universal Validation Rules": without an entry point there must be
        // something to link to.
        if !functions.iter().any(|function| function.kernel.is_some()) {
            self.capability(capability::LINKAGE);
        }
        for (index, function) in functions.iter().enumerate() {
            let (Some(kernel), Some(_)) = (&function.kernel, &function.body) else {
                continue;
            };
            let mut entry = self.function_ids[index];
            // Entry points can neither be called nor be exported.
            if calls.is_called[index] || !whole_program {
                entry = self.entry_function(function, entry);
            }
            let reached = calls.reached_from(FunctionId(index as u32));
            let variables = reached.iter().flat_map(|f| variables[f.0 as usize].iter());
            let interface = self.interface(variables.copied());
            self.kernel(function, kernel, entry, &interface, no_contraction);
        }
    }
}
