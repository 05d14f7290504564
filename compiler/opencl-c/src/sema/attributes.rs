//! Attributes that say something of types: `ext_vector_type`, `vector_size`, `aligned`, address
//! spaces.

use super::Sema;
use crate::ast::{self, Attribute, AttributeArg};
use crate::options::Std;
use crate::token::{Loc, Span};
use crate::types::{Alignment, QualType, Scalar, Space, Type, TypeId, Types};

/// The largest alignment that `aligned` may ask for: a page. All memory of a kernel can give it.
const MAX_ALIGN: u64 = 4096;

/// What an attribute is of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject {
    Kernel,
    /// A function that is no kernel, and where its name is.
    Function(Loc),
    Variable,
}

impl Sema<'_> {
    /// A type as attributes of its declaration change it, and its address space.
    pub(super) fn attributed(
        &mut self,
        (mut ty, mut space): (QualType, Option<Space>),
        attributes: &[Attribute],
    ) -> (QualType, Option<Space>) {
        for attribute in attributes {
            let given = match self.interner.text(attribute.name) {
                "ext_vector_type" => {
                    ty = self.vector_type(ty, attribute, false);
                    continue;
                }
                "vector_size" => {
                    ty = self.vector_type(ty, attribute, true);
                    continue;
                }
                "mode" => {
                    ty.ty = self.machine_mode(ty.ty, attribute);
                    continue;
                }
                "opencl_global" | "opencl_global_device" | "opencl_global_host" => Space::Global,
                "opencl_local" => Space::Local,
                "opencl_constant" => Space::Constant,
                "opencl_private" => Space::Private,
                "opencl_generic" => Space::Generic,
                "address_space" => {
                    self.diags.error(
                        attribute.span,
                        "numbered address spaces are not supported in OpenCL C",
                    );
                    continue;
                }
                _ => continue,
            };
            self.check_generic(given, attribute.span.first);
            if space.is_some_and(|space| space != given) {
                self.diags
                    .error(attribute.span, "multiple address spaces specified for type");
            }
            space = Some(given);
        }
        (ty, space)
    }

    /// `ext_vector_type(lanes)`, or `vector_size(bytes)`.
    fn vector_type(&mut self, ty: QualType, attribute: &Attribute, in_bytes: bool) -> QualType {
        let count = match attribute.args.as_slice() {
            &[AttributeArg::Expr(count)] => self.integer_constant(count),
            _ => None,
        };
        let Type::Scalar(scalar) = *self.types.get(ty.ty) else {
            return self.not_an_element(ty, attribute.span);
        };
        if scalar == Scalar::Bool {
            return self.not_an_element(ty, attribute.span);
        }
        if scalar.is_long_long() {
            let message = format!(
                "there are no vectors of {}; taken as one of '{}'",
                self.quote(ty),
                scalar.native().name()
            );
            self.diags.warning("long-long", attribute.span, message);
        }
        let bytes = u64::from(scalar.bits() / 8);
        let lanes = match (count, in_bytes) {
            (Some(count), true) if count % bytes == 0 => Some(count / bytes),
            (Some(count), false) => Some(count),
            _ => None,
        };
        // SPIR-V Specification, "Validation Rules for Kernel Capabilities": "all vectors have 2, 3,
        // 4, 8 or 16 components".
        let Some(lanes @ (1..=4 | 8 | 16)) = lanes else {
            self.diags.error(
                attribute.span,
                "a vector must have 2, 3, 4, 8 or 16 components",
            );
            return Types::ERROR.into();
        };
        QualType {
            ty: self.types.vector(scalar.native(), lanes as u8),
            quals: ty.quals,
        }
    }

    /// GNU's `mode`: the type of that width and of the same kind.
    fn machine_mode(&mut self, ty: TypeId, attribute: &Attribute) -> TypeId {
        let ast = self.ast;
        let (Some((scalar, 1)), &[AttributeArg::Expr(name)]) =
            (self.types.as_arithmetic(ty), attribute.args.as_slice())
        else {
            return ty;
        };
        let name = match ast[name].kind {
            ast::ExprKind::Name(name) => self.text(name),
            _ => String::new(),
        };
        let plain = name.trim_matches('_');
        let mode = match (plain, scalar.is_float()) {
            ("QI" | "byte", false) => Scalar::integer(8, scalar.is_signed()),
            ("HI", false) => Scalar::integer(16, scalar.is_signed()),
            ("SI", false) => Scalar::integer(32, scalar.is_signed()),
            ("DI" | "word" | "pointer" | "unwind_word", false) => {
                Scalar::integer(64, scalar.is_signed())
            }
            ("HF", true) => Scalar::Half,
            ("SF", true) => Scalar::Float,
            ("DF", true) => Scalar::Double,
            _ => {
                self.diags
                    .error(attribute.span, format!("unknown machine mode '{name}'"));
                return ty;
            }
        };
        self.types.scalar(mode)
    }

    fn not_an_element(&mut self, ty: QualType, span: Span) -> QualType {
        if !self.is_error(ty.ty) {
            let name = self.quote(ty);
            self.diags
                .error(span, format!("invalid vector element type {name}"));
        }
        Types::ERROR.into()
    }

    /// Says which attributes cannot be where they are; `of` is what they are attributes of.
    pub(super) fn check_attributes(&mut self, attributes: &[Attribute], of: Subject) {
        for attribute in attributes {
            let name = self.interner.text(attribute.name);
            let message = match (name, of) {
                (
                    "reqd_work_group_size"
                    | "work_group_size_hint"
                    | "vec_type_hint"
                    | "intel_reqd_sub_group_size",
                    Subject::Function(loc),
                ) => {
                    let message = format!(
                        "attribute '{name}' can only be applied to an OpenCL kernel function"
                    );
                    self.diags.error(loc, message);
                    continue;
                }
                (
                    "reqd_work_group_size"
                    | "work_group_size_hint"
                    | "vec_type_hint"
                    | "intel_reqd_sub_group_size",
                    Subject::Variable,
                ) => format!("'{name}' attribute only applies to functions"),
                ("blocks", Subject::Variable) => {
                    "the __block storage type is not permitted".to_owned()
                }
                ("nosvm", Subject::Variable) if self.options.std < Std::C20 => {
                    "attribute 'nosvm' is supported in the OpenCL version 2.0 onwards".to_owned()
                }
                (
                    "convergent" | "noduplicate" | "noinline" | "always_inline" | "overloadable"
                    | "packed" | "pure" | "const" | "noreturn",
                    _,
                ) if !attribute.args.is_empty() => {
                    format!("'{name}' attribute takes no arguments")
                }
                _ => continue,
            };
            self.diags.error(attribute.span, message);
        }
    }

    /// `kernel`, `inline` and `_Noreturn` say something of functions alone.
    pub(super) fn check_no_function(&mut self, specs: ast::SpecId) {
        let ast = self.ast;
        let specs = &ast[specs];
        for (given, word) in [(specs.inline, "inline"), (specs.noreturn, "_Noreturn")] {
            if let Some(loc) = given {
                self.diags
                    .error(loc, format!("'{word}' can only appear on functions"));
            }
        }
        if let Some(loc) = specs.kernel {
            self.diags
                .error(loc, "'kernel' attribute only applies to functions");
        }
    }

    /// The type of a `typedef` with `aligned`: objects of it are aligned so, more or less than
    /// those of the type itself.
    pub(super) fn aligned_type(
        &mut self,
        mut ty: QualType,
        specs: &[Attribute],
        declarator: &[Attribute],
    ) -> QualType {
        let asked = self.aligned(declarator).max(self.aligned(specs));
        if let Some(bytes) = asked {
            ty.quals.align = Some(Alignment::of(bytes));
        }
        ty
    }

    pub(super) fn has_attribute(&self, attributes: &[Attribute], name: &str) -> bool {
        attributes
            .iter()
            .any(|attribute| self.interner.text(attribute.name) == name)
    }

    /// What `aligned` asks for.
    pub(super) fn aligned(&mut self, attributes: &[Attribute]) -> Option<u64> {
        let mut align = None;
        for attribute in attributes {
            if self.interner.text(attribute.name) != "aligned" {
                continue;
            }
            let value = match attribute.args.first() {
                None => Some(16),
                Some(&AttributeArg::Expr(expr)) => self.integer_constant(expr),
                Some(&AttributeArg::Type(name)) => {
                    let ty = self.type_name(name).0;
                    self.types.layout_of(ty).map(|(_, align)| align)
                }
            };
            align = align.max(self.asked_alignment(value, attribute.span));
        }
        align
    }

    /// An alignment that is asked for, if there can be such a one.
    pub(super) fn asked_alignment(&mut self, value: Option<u64>, span: Span) -> Option<u64> {
        match value {
            Some(value) if value.is_power_of_two() && value > MAX_ALIGN => {
                let message = format!("requested alignment must be {MAX_ALIGN} bytes or smaller");
                self.diags.error(span, message);
                None
            }
            Some(value) if value.is_power_of_two() => Some(value),
            _ => {
                self.diags
                    .error(span, "requested alignment is not a power of 2");
                None
            }
        }
    }
}
