//! Entry points, and what else the module says of a kernel.

use super::module::ModuleEmitter;
use super::words::{Id, Section};
use crate::hir::{Function, Kernel};
use crate::spirv::{capability, execution_mode, op};
use crate::types::{Scalar, TypeId, Types};

/// `Kernel`
const EXECUTION_MODEL: u32 = 6;

impl ModuleEmitter<'_> {
    /// The variables that an entry point has to list: those given, and those that their
    /// initialisers refer to.
    pub fn interface(&self, variables: impl Iterator<Item = Id>) -> Vec<u32> {
        let mut all: Vec<Id> = variables.collect();
        let mut interface = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(variable) = all.pop() {
            if seen.insert(variable) {
                interface.push(variable.0);
                all.extend(self.used_by_variables.get(&variable).into_iter().flatten());
            }
        }
        interface.sort_unstable();
        interface
    }

    /// A function that calls a kernel's body.
    pub fn entry_function(&mut self, function: &Function, body: Id) -> Id {
        let ty = self.type_of_function(function);
        let void = self.type_id(Types::VOID);
        let entry = self.words.id();
        let mut words = Section::default();
        words.push(op::FUNCTION, &[void.0, entry.0, 0, ty.0]);
        let mut call = vec![void.0, 0, body.0];
        for local in &function.locals[..function.params as usize] {
            let ty = self.parameter_type(local.ty);
            let id = self.words.id();
            words.push(op::FUNCTION_PARAMETER, &[ty.0, id.0]);
            self.decorate_parameter(id, local);
            call.push(id.0);
        }
        let label = self.words.id();
        call[1] = self.words.id().0;
        words.push(op::LABEL, &[label.0]);
        words.push(op::FUNCTION_CALL, &call);
        words.push(op::RETURN, &[]);
        words.push(op::FUNCTION_END, &[]);
        self.words.definitions.append(&mut words);
        entry
    }

    pub fn kernel(
        &mut self,
        function: &Function,
        kernel: &Kernel,
        entry: Id,
        interface: &[u32],
        is_strict: bool,
    ) {
        let name = self.interner.text(function.name);
        let operands = [EXECUTION_MODEL, entry.0];
        self.words
            .entry_points
            .push_string(op::ENTRY_POINT, &operands, name, interface);
        if let Some([x, y, z]) = kernel.reqd_work_group_size {
            self.execution_mode(entry, execution_mode::LOCAL_SIZE, &[x, y, z]);
        }
        if let Some([x, y, z]) = kernel.work_group_size_hint {
            self.execution_mode(entry, execution_mode::LOCAL_SIZE_HINT, &[x, y, z]);
        }
        if let Some(size) = kernel.reqd_sub_group_size {
            self.capability(capability::SUBGROUP_DISPATCH);
            self.execution_mode(entry, execution_mode::SUBGROUP_SIZE, &[size]);
        }
        if is_strict {
            self.execution_mode(entry, execution_mode::CONTRACTION_OFF, &[]);
        }
        if let Some(hint) = kernel.vec_type_hint {
            self.vector_type_hint(entry, name, hint);
        }
        if self.options.kernel_arg_info {
            self.argument_info(name, kernel);
        }
    }

    fn execution_mode(&mut self, entry: Id, mode: u32, operands: &[u32]) {
        let mut all = vec![entry.0, mode];
        all.extend_from_slice(operands);
        self.words.execution_modes.push(op::EXECUTION_MODE, &all);
    }

    /// SPIR-V Specification, "Execution Mode", `VecTypeHint`: the number of components in the high
    /// half, the type's number in the low half. It knows no sign; a text says what it cannot.
    fn vector_type_hint(&mut self, entry: Id, name: &str, hint: TypeId) {
        let Some((scalar, lanes)) = self.types.as_arithmetic(hint) else {
            return;
        };
        let number = match scalar {
            Scalar::Half => 4,
            Scalar::Float => 5,
            Scalar::Double => 6,
            integer => integer.bits().trailing_zeros() - 3,
        };
        let operand = u32::from(lanes) << 16 | number;
        self.execution_mode(entry, execution_mode::VEC_TYPE_HINT, &[operand]);
        if scalar.is_integer() && !scalar.is_signed() {
            let ty = self.types.name(hint.into(), self.interner);
            self.string(&format!("kernel_vec_type_hint.{name}.{ty}"));
        }
    }

    /// In the form that llvm-spirv made a custom: every reader of `clGetKernelArgInfo`'s answers
    /// knows it.
    fn argument_info(&mut self, name: &str, kernel: &Kernel) {
        let list = |kind: &str, all: &mut dyn Iterator<Item = &String>| {
            let mut text = format!("{kind}.{name}.");
            for one in all {
                text.push_str(one);
                text.push(',');
            }
            text
        };
        let types = list(
            "kernel_arg_type",
            &mut kernel.args.iter().map(|arg| &arg.type_name),
        );
        let qualifiers = list(
            "kernel_arg_type_qual",
            &mut kernel.args.iter().map(|arg| &arg.qualifiers),
        );
        self.string(&types);
        self.string(&qualifiers);
    }
}
