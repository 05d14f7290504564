//! What the functions of a module share while it is written.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Lines;
use super::calls::Calls;
use super::contraction::Contractions;
use super::function::FunctionEmitter;
use super::interned::{Instruction, Interned};
use super::types::Structure;
use super::words::{Id, MAX_LENGTH, Section, Words};
use crate::hir::{Function, FunctionId, Global, GlobalId, Inline, Linkage, Local};
use crate::options::Options;
use crate::spirv::{capability, decoration, op, storage};
use crate::symbol::Interner;
use crate::token::{InForce, Loc, RoundingMode};
use crate::types::{RecordId, Space, TypeId, Types};

/// What a typed tree has besides types: functions, variables, and what pragmas have put in force,
/// of roundings and contractions.
type Hir<'a> = (
    &'a [Function],
    &'a [Global],
    &'a InForce<RoundingMode>,
    &'a InForce<bool>,
);

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
    /// How operations on floating-point numbers round, where the source says.
    pub roundings: &'a InForce<RoundingMode>,
    pub contractions: Contractions<'a>,
    /// The language has arithmetic of `half`.
    pub has_half: bool,
    /// By [`TypeId`].
    pub type_ids: Vec<Option<Id>>,
    pub structures: FxHashMap<RecordId, Structure>,
    pub records_begun: FxHashSet<RecordId>,
    pub forward_pointers: FxHashMap<(TypeId, Space), Id>,
    /// Those of `forward_pointers` that are not declared yet.
    pub undeclared_pointers: Vec<(TypeId, Space)>,
    /// Types and constants.
    interned: Interned,
    pub constants_in_memory: FxHashMap<Id, Id>,
    pub function_ids: Vec<Id>,
    pub global_ids: Vec<Option<Id>>,
    /// Those whose initialisers are looked at.
    pub globals_begun: FxHashSet<GlobalId>,
    /// Variables that the function (or initialiser) being written refers to.
    pub used_variables: FxHashSet<Id>,
    /// Those that initialisers refer to.
    pub used_by_variables: FxHashMap<Id, Vec<Id>>,
    /// An empty list of words, whose memory functions use one after the other.
    pub spare: Section,
    builtin_variables: FxHashMap<u32, Id>,
    opencl_std: Option<Id>,
    files: FxHashMap<std::sync::Arc<str>, Id>,
    /// What SPIR-V cannot express.
    pub errors: Vec<(Loc, String)>,
}

impl<'a> ModuleEmitter<'a> {
    pub fn new(
        types: Types,
        (hir_functions, hir_globals, roundings, contractions): Hir<'a>,
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
            roundings,
            contractions: Contractions::new(contractions, options.whole_program),
            has_half,
            type_ids: Vec::new(),
            structures: FxHashMap::default(),
            records_begun: FxHashSet::default(),
            forward_pointers: FxHashMap::default(),
            undeclared_pointers: Vec::new(),
            interned: Interned::default(),
            constants_in_memory: FxHashMap::default(),
            function_ids,
            global_ids: vec![None; hir_globals.len()],
            globals_begun: FxHashSet::default(),
            used_variables: FxHashSet::default(),
            used_by_variables: FxHashMap::default(),
            spare: Section::default(),
            builtin_variables: FxHashMap::default(),
            opencl_std: None,
            files: FxHashMap::default(),
            errors: Vec::new(),
        }
    }

    /// A type or constant, which is the same if its words are.
    pub fn interned(&mut self, opcode: u16, ty: Option<Id>, operands: &[u32]) -> Id {
        let instruction = Instruction {
            opcode,
            ty,
            operands,
        };
        match self.interned.find(self.words.globals.words(), instruction) {
            Ok(id) => id,
            Err(place) => {
                let id = self.words.id();
                let globals = &mut self.words.globals;
                self.interned.add(globals, instruction, id, place);
                id
            }
        }
    }

    /// The value of an integer that is a constant, extended by zeros.
    pub fn int_value(&self, id: Id) -> Option<u64> {
        self.interned.bits(self.words.globals.words(), id)
    }

    pub fn capability(&mut self, capability: u32) {
        self.words.capabilities.insert(capability);
    }

    pub fn extension(&mut self, name: &'static str) {
        self.words.extensions.insert(name);
    }

    pub fn decorate(&mut self, id: Id, decoration: u32, operands: &[u32]) {
        self.words.decorations.instruction(op::DECORATE, |words| {
            words.extend([id.0, decoration]);
            words.extend_from_slice(operands);
        });
    }

    pub fn decorate_saturated(&mut self, id: Id) {
        self.decorate(id, decoration::SATURATED_CONVERSION, &[]);
    }

    pub fn decorate_rounding(&mut self, id: Id, mode: RoundingMode) {
        self.decorate(id, decoration::FP_ROUNDING_MODE, &[mode.number()]);
    }

    pub fn decorate_no_signed_wrap(&mut self, id: Id) {
        self.decorate(id, decoration::NO_SIGNED_WRAP, &[]);
    }

    /// What options and pragmas allow and ask of arithmetic at a place of the source.
    pub fn decorate_float(&mut self, id: Id, loc: Loc) {
        if let Some(mode) = self.roundings.at(loc) {
            self.decorate_rounding(id, mode);
        }
        if let Some(flags) = self.fast_math_flags(loc) {
            self.decorate_fast_math(id, flags);
        }
    }

    pub fn decorate_fast_math(&mut self, id: Id, flags: u32) {
        self.decorate(id, decoration::FP_FAST_MATH_MODE, &[flags]);
    }

    pub fn decorate_parameter(&mut self, id: Id, local: &Local) {
        self.name_local(id, local);
        if local.is_restrict {
            self.decorate(id, decoration::FUNC_PARAM_ATTR, &[decoration::NO_ALIAS]);
        }
        if self.in_memory(local.ty) {
            self.decorate(id, decoration::FUNC_PARAM_ATTR, &[decoration::BY_VAL]);
            self.decorate_alignment(id, local.ty, local.align);
        }
    }

    pub fn decorate_local(&mut self, id: Id, local: &Local) {
        if self.has_debug_info() {
            self.name_local(id, local);
        }
    }

    /// Says the alignment of an object where SPIR-V, in which no type has attributes, gives it
    /// less.
    pub fn decorate_alignment(&mut self, id: Id, ty: TypeId, align: u64) {
        if align > self.align_of(ty) {
            self.decorate(id, decoration::ALIGNMENT, &[align as u32]);
        }
    }

    /// The alignment of a type as the source has it.
    pub fn alignment(&self, ty: TypeId) -> u64 {
        self.types.layout(ty).map_or(1, |(_, align)| align)
    }

    /// Has source lines and names.
    pub fn has_debug_info(&self) -> bool {
        self.options.debug_info
    }

    /// Names the value of a variable that needs no memory, if it was made after `before`, for this
    /// variable alone.
    pub fn name_value(&mut self, id: Id, before: Id, local: &Local) {
        if id.0 > before.0 && !self.interned.has(id) {
            self.name_local(id, local);
        }
    }

    fn name_local(&mut self, id: Id, local: &Local) {
        let name = self.interner.text(local.name);
        if !name.is_empty() {
            self.words.names.push_debug_string(op::NAME, &[id.0], name);
        }
    }

    /// The set of instructions for OpenCL.
    pub fn opencl_std(&mut self) -> Id {
        if let Some(id) = self.opencl_std {
            return id;
        }
        let id = self.words.id();
        let imports = &mut self.words.imports;
        imports.push_string(op::EXT_INST_IMPORT, &[id.0], "OpenCL.std", &[]);
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
        self.words.globals.push(op::VARIABLE, &operands);
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
        Some((self.file(&place.file), place.line, place.column))
    }

    /// The string that names a file.
    fn file(&mut self, name: &std::sync::Arc<str>) -> Id {
        if let Some(&id) = self.files.get(name) {
            return id;
        }
        let id = self.words.id();
        self.words
            .strings
            .push_debug_string(op::STRING, &[id.0], name);
        self.files.insert(name.clone(), id);
        id
    }

    /// The language and its version, as 100000 times the major number and 1000 times the minor one,
    /// and with source lines the main file.
    pub fn source(&mut self) {
        const OPENCL_C: u32 = 3;
        let number = self.options.std.number();
        let version = number / 100 * 100_000 + number / 10 % 10 * 1000;
        let name = self.lines.and_then(|lines| lines.main_file());
        let file = name.map(|name| self.file(name).0);
        let operands = [OPENCL_C, version].into_iter().chain(file);
        let operands: Vec<u32> = operands.collect();
        self.words.strings.push(op::SOURCE, &operands);
    }

    /// Tells what needed an instruction of more words than there can be, as of this place of the
    /// source; `body` is the section of a function.
    pub fn check_lengths(&mut self, body: Option<&mut Section>, loc: Loc) {
        let too_long = body.and_then(Section::take_too_long);
        let Some(opcode) = too_long.or_else(|| self.words.take_too_long()) else {
            return;
        };
        let what = match opcode {
            op::TYPE_FUNCTION => "a function of so many parameters",
            op::FUNCTION_CALL | op::EXT_INST | op::ENQUEUE_KERNEL => {
                "a call with so many arguments"
            }
            op::ENTRY_POINT => {
                "a kernel of so long a name, or with so many variables in its program"
            }
            op::STRING => "a kernel with such long names of its arguments' types",
            op::DECORATE | op::TYPE_OPAQUE => "so long a name",
            _ => "this",
        };
        let message = format!(
            "{what} cannot be said in SPIR-V: instructions have at most {MAX_LENGTH} words"
        );
        self.errors.push((loc, message));
    }

    /// A text that is of no instruction's, but read by those who know its form.
    pub fn string(&mut self, text: &str) {
        let id = self.words.id();
        self.words
            .strings
            .push_string(op::STRING, &[id.0], text, &[]);
    }

    /// Writes a function. Returns the variables that it refers to, and whether it has operations
    /// that are strict for the sake of the whole entry point.
    fn function(&mut self, function: &'a Function, id: Id) -> (Vec<Id>, bool) {
        self.used_variables.clear();
        let mut section = std::mem::take(match function.body {
            Some(_) => &mut self.words.definitions,
            None => &mut self.words.declarations,
        });
        FunctionEmitter::emit(self, function, id, &mut section);
        match function.body {
            Some(_) => self.words.definitions = section,
            None => self.words.declarations = section,
        }
        let name = self.interner.text(function.name);
        self.words.names.push_debug_string(op::NAME, &[id.0], name);
        self.check_lengths(None, function.loc);
        let is_strict = self.contractions.take_strict();
        (self.used_variables.drain().collect(), is_strict)
    }

    /// Writes everything.
    pub fn module(&mut self) {
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
        let mut calls = Calls::new(functions);
        let wanted = calls.wanted(functions, whole_program);
        let mut variables = vec![Vec::new(); functions.len()];
        let mut is_strict = vec![false; functions.len()];
        for (index, function) in functions.iter().enumerate() {
            if !wanted[index] {
                continue;
            }
            let id = self.function_ids[index];
            (variables[index], is_strict[index]) = self.function(function, id);
            let is_closed = whole_program && function.body.is_some();
            if !is_closed {
                self.link(id, self.interner.text(function.name), function.linkage);
                self.check_lengths(None, function.loc);
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
            let is_strict = reached.iter().any(|f| is_strict[f.0 as usize]);
            let variables = reached.iter().flat_map(|f| variables[f.0 as usize].iter());
            let interface = self.interface(variables.copied());
            self.kernel(function, kernel, entry, &interface, is_strict);
            self.check_lengths(None, function.loc);
        }
    }
}
