//! What kernels have besides functions: rules for arguments, attributes, argument information.

use super::Sema;
use crate::ast::{self, Attribute, AttributeArg, Chunk, Param, TypeSpec};
use crate::hir::{Kernel, KernelArg};
use crate::options::Std;
use crate::types::{FunctionType, QualType, Scalar, Space, Type, TypeId, Types};

impl Sema<'_> {
    pub(super) fn kernel(
        &mut self,
        declaration: &ast::Declaration,
        declarator: &ast::Declarator,
        ty: &FunctionType,
    ) {
        let ast = self.ast;
        if ty.result.ty != Types::VOID {
            self.diags
                .error(declarator.span, "kernel must have void return type");
        }
        let (name, loc) = declarator.name.unwrap_or_default();
        if self.interner.text(name) == "main" {
            self.diags.error(loc, "kernel cannot be called 'main'");
        }
        let storage = &ast[declaration.specs].storage;
        if storage.iter().any(|&(one, _)| one == ast::Storage::Static) {
            self.diags
                .error(loc, "kernel functions cannot be declared static");
        }
        let mut kernel = Kernel::default();
        let specs = &ast[declaration.specs];
        for attribute in specs.attributes.iter().chain(&declarator.attributes) {
            self.kernel_attribute(attribute, &mut kernel);
        }
        if let Some(Chunk::Function { params, .. }) = declarator.chunks.first() {
            for (at, param) in params.iter().enumerate().take(ty.params.len()) {
                let qualified = self.body.types[at];
                self.check_argument(qualified, param);
                kernel.args.push(self.argument_info(param, qualified));
            }
        }
        self.body.function.kernel = Some(kernel);
    }

    fn sizes(&mut self, attribute: &Attribute) -> Option<[u32; 3]> {
        let mut sizes = [1; 3];
        let name = self.text(attribute.name);
        if attribute.args.len() != 3 {
            self.diags.error(
                attribute.span,
                format!("'{name}' attribute requires exactly 3 arguments"),
            );
            return None;
        }
        for (size, arg) in sizes.iter_mut().zip(&attribute.args) {
            let value = match arg {
                AttributeArg::Expr(expr) => self.integer_constant(*expr),
                AttributeArg::Type(_) => None,
            };
            match value.map(u32::try_from) {
                Some(Ok(0)) => {
                    self.diags.error(
                        attribute.span,
                        format!("'{name}' attribute must be greater than 0"),
                    );
                    return None;
                }
                Some(Ok(value)) => *size = value,
                _ => {
                    self.diags.error(
                        attribute.span,
                        format!("'{name}' attribute requires an integer constant"),
                    );
                    return None;
                }
            }
        }
        Some(sizes)
    }

    fn hinted_type(&mut self, attribute: &Attribute) -> Option<TypeId> {
        let name = match attribute.args.as_slice() {
            [AttributeArg::Type(name)] => *name,
            [AttributeArg::Expr(expr)] => {
                let operand = self.unevaluated(*expr);
                if !self.is_error(operand.ty.ty) {
                    self.diags
                        .error(attribute.span, "'vec_type_hint' attribute requires a type");
                }
                return None;
            }
            _ => {
                self.diags.error(
                    attribute.span,
                    "'vec_type_hint' attribute takes one argument",
                );
                return None;
            }
        };
        let ty = self.type_name(name).0.ty;
        if matches!(self.types.as_arithmetic(ty), None | Some((Scalar::Bool, _)))
            && !self.is_error(ty)
        {
            self.diags.error(
                attribute.span,
                "a non-vector or non-vectorizable scalar type is an invalid argument to attribute \
                 'vec_type_hint'",
            );
            return None;
        }
        Some(ty)
    }

    fn kernel_attribute(&mut self, attribute: &Attribute, kernel: &mut Kernel) {
        match self.text(attribute.name).as_str() {
            "reqd_work_group_size" => kernel.reqd_work_group_size = self.sizes(attribute),
            "work_group_size_hint" => kernel.work_group_size_hint = self.sizes(attribute),
            "vec_type_hint" => kernel.vec_type_hint = self.hinted_type(attribute),
            "intel_reqd_sub_group_size" => {
                if let Some(&AttributeArg::Expr(expr)) = attribute.args.first() {
                    let value = self.integer_constant(expr);
                    if value == Some(0) {
                        self.diags.error(
                            attribute.span,
                            "'intel_reqd_sub_group_size' attribute must be greater than 0",
                        );
                    }
                    kernel.reqd_sub_group_size = value.and_then(|value| value.try_into().ok());
                }
            }
            "uniform_work_group_size" => kernel.uniform_work_group_size = true,
            _ => {}
        }
    }

    /// OpenCL C Specification, "Restrictions": what kernels' arguments cannot be.
    fn check_argument(&mut self, ty: QualType, param: &Param) {
        let at = param.declarator.loc();
        let quoted = self.quote_as(ty, self.alias_at(at));
        let message = match *self.types.get(ty.ty) {
            Type::Pointer {
                space: Space::Private | Space::Generic,
                ..
            } => "pointer arguments to kernel functions must reside in '__global', '__constant' \
                 or '__local' address space"
                .to_owned(),
            // "Arguments to kernel functions in a program cannot be declared as a pointer to a
            // pointer(s)", before OpenCL C 2.0.
            Type::Pointer { pointee, .. }
                if self.options.std < Std::C20
                    && matches!(self.types.get(pointee.ty), Type::Pointer { .. }) =>
            {
                "kernel parameter cannot be declared as a pointer to a pointer".to_owned()
            }
            Type::Scalar(Scalar::Bool)
            | Type::Event
            | Type::Block(_)
            | Type::ReserveId
            | Type::Array { .. } => {
                format!("{quoted} cannot be used as the type of a kernel parameter")
            }
            // Their sizes on the host may be others.
            Type::Scalar(_) if self.is_address_sized(param.specs) => {
                format!("{quoted} cannot be used as the type of a kernel parameter")
            }
            Type::Record(_) => match self.unfit_member(ty.ty) {
                Some(true) => {
                    format!("struct kernel parameters may not contain pointers ({quoted})")
                }
                Some(false) => {
                    format!("{quoted} cannot be used as the type of a kernel parameter")
                }
                None => return,
            },
            _ => return,
        };
        self.diags.error(at, message);
    }

    /// `size_t` and its kin, by the name that stands there.
    pub(super) fn is_address_sized(&self, specs: ast::SpecId) -> bool {
        let TypeSpec::Named(name, _) = self.ast[specs].ty else {
            return false;
        };
        match self.scopes.lookup(name) {
            Some(entry) => self.address_sized_typedefs.contains(&entry.loc),
            None => is_address_sized_name(self.interner.text(name)),
        }
    }

    /// Whether a type holds what the host cannot make: a pointer or an image (`Some(true)`), or a
    /// `bool` or a `size_t`, whose sizes there may be others.
    fn unfit_member(&self, ty: TypeId) -> Option<bool> {
        match self.types.get(ty) {
            // Devices that share memory with the host take its pointers anywhere.
            Type::Pointer { .. } if self.options.std >= Std::C20 => None,
            Type::Pointer { .. } | Type::Image { .. } => Some(true),
            Type::Scalar(Scalar::Bool) => Some(false),
            Type::Array { element, .. } => self.unfit_member(element.ty),
            Type::Record(record) if self.address_sized_records.contains(record) => Some(false),
            Type::Record(record) => self.types.records[record.0 as usize]
                .fields
                .iter()
                .flatten()
                .find_map(|field| self.unfit_member(field.ty.ty)),
            _ => None,
        }
    }

    /// What `clGetKernelArgInfo` tells: the type as it is spelled, without qualifiers.
    fn argument_info(&mut self, param: &Param, ty: QualType) -> KernelArg {
        let ast = self.ast;
        let specs = &ast[param.specs];
        let mut name = match specs.ty {
            TypeSpec::Named(name, _) => self.text(name),
            TypeSpec::Pipe(element) => match ast[ast[element].specs].ty {
                TypeSpec::Named(name, _) => self.text(name),
                _ => self.plain_name(self.pipe_element(ty.ty)),
            },
            _ => {
                let base = self.base(param.specs);
                self.plain_name(base.ty.ty)
            }
        };
        for chunk in param.declarator.chunks.iter().rev() {
            if matches!(chunk, Chunk::Pointer { .. } | Chunk::Array { .. }) {
                name.push('*');
            }
        }
        let mut qualifiers: Vec<&str> = Vec::new();
        match *self.types.get(ty.ty) {
            // Of what is pointed to; `restrict` is of the pointer.
            Type::Pointer { pointee, space } => {
                if ty.quals.is_restrict {
                    qualifiers.push("restrict");
                }
                if pointee.quals.is_const || space == Space::Constant {
                    qualifiers.push("const");
                }
                if pointee.quals.is_volatile {
                    qualifiers.push("volatile");
                }
            }
            Type::Pipe { .. } => qualifiers.push("pipe"),
            _ => {}
        }
        KernelArg {
            type_name: name,
            qualifiers: qualifiers.join(" "),
        }
    }

    fn pipe_element(&self, ty: TypeId) -> TypeId {
        match self.types.get(ty) {
            Type::Pipe { element, .. } => *element,
            _ => ty,
        }
    }

    /// As other compilers of OpenCL C name types: `uint`, and `ulong long` in the same way.
    fn plain_name(&self, ty: TypeId) -> String {
        let name = self.types.name(ty.into(), self.interner);
        match name.strip_prefix("unsigned ") {
            Some(rest) => format!("u{rest}"),
            None => name,
        }
    }
}

/// Whether a type's name says that its size is an address's, which the host's may not be.
pub(super) fn is_address_sized_name(name: &str) -> bool {
    matches!(name, "size_t" | "ptrdiff_t" | "intptr_t" | "uintptr_t")
}
