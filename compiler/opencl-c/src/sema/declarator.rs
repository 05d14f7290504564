//! Declarators to types: pointers, arrays, functions and their parameters.

use super::Sema;
use super::attributes::Subject;
use super::specs::Base;
use crate::ast::{ArraySize, Chunk, Declarator, Param, Quals, TypeNameId};
use crate::options::Std;
use crate::token::Loc;
use crate::types::{
    FunctionType, MAX_DEPTH, MAX_SIZE, QualType, Scalar, Space, Type, TypeId, TypeQuals, Types,
};

impl Sema<'_> {
    /// A type without a name, and the address space it asks for.
    pub(super) fn type_name(&mut self, id: TypeNameId) -> (QualType, Option<Space>) {
        let ast = self.ast;
        let name = &ast[id];
        let base = self.base(name.specs);
        self.declarator(base, &name.declarator)
    }

    /// The type that a declarator makes of the specifiers' type.
    pub(super) fn declarator(
        &mut self,
        base: Base,
        declarator: &Declarator,
    ) -> (QualType, Option<Space>) {
        self.note_alias(base, declarator);
        let (mut ty, mut space) = (base.ty, base.space);
        for chunk in declarator.chunks.iter().rev() {
            if self.is_error(ty.ty) {
                // The rest may still declare names; the type is of no interest.
                continue;
            }
            match chunk {
                Chunk::Pointer {
                    quals,
                    attributes,
                    loc,
                } => {
                    if matches!(self.types.get(ty.ty), Type::Function(_)) {
                        self.diags
                            .error(*loc, "pointers to functions are not allowed");
                    }
                    if matches!(
                        self.types.get(ty.ty),
                        Type::Image { .. } | Type::Sampler | Type::Pipe { .. } | Type::Block(_)
                    ) {
                        let name = self.quote(ty);
                        self.diags
                            .error(*loc, format!("pointer to type {name} is invalid in OpenCL"));
                    }
                    let to = space.unwrap_or_else(|| self.default_pointee_space());
                    ty = QualType {
                        ty: self.types.pointer(ty, to),
                        quals: type_quals(quals),
                    };
                    space = self.quals_space(quals);
                    (ty, space) = self.attributed((ty, space), attributes);
                }
                Chunk::Block { quals, .. } => {
                    ty = QualType {
                        ty: self.types.intern(Type::Block(ty.ty)),
                        quals: type_quals(quals),
                    };
                    ty.quals.is_const = true;
                    space = self.quals_space(quals);
                }
                Chunk::Array { size, loc, .. } => {
                    ty = self.array(ty, *size, *loc, declarator);
                }
                Chunk::Function {
                    params,
                    variadic,
                    unspecified,
                    loc,
                } => {
                    let at = declarator.name.map_or(*loc, |(_, loc)| loc);
                    if space.take().is_some() {
                        self.diags
                            .error(at, "return type cannot be qualified with address space");
                    }
                    let is_printf = declarator
                        .name
                        .is_some_and(|(name, _)| self.interner.text(name) == "printf");
                    if *variadic && !is_printf {
                        self.diags.error(
                            at,
                            "invalid prototype, variadic arguments are not allowed in OpenCL",
                        );
                    }
                    ty = self
                        .function_type(ty, params, *variadic, *unspecified, at)
                        .into();
                }
            }
        }
        self.attributed((ty, space), &declarator.attributes)
    }

    fn quals_space(&mut self, quals: &Quals) -> Option<Space> {
        let (space, loc) = quals.space?;
        self.check_generic(space.into(), loc);
        Some(space.into())
    }

    fn array(
        &mut self,
        element: QualType,
        size: ArraySize,
        loc: Loc,
        declarator: &Declarator,
    ) -> QualType {
        if self.types.layout(element.ty).is_none() {
            let name = self.quote(element);
            let message = match self.types.get(element.ty) {
                Type::Function(_) => format!("array of functions of type {name} is invalid"),
                _ => format!("array has incomplete element type {name}"),
            };
            self.diags.error(loc, message);
            return Types::ERROR.into();
        }
        let loc = declarator.name.map_or(loc, |(_, loc)| loc);
        if matches!(
            self.types.get(element.ty),
            Type::Block(_) | Type::Image { .. } | Type::Sampler | Type::Pipe { .. }
        ) {
            let name = self.quote(element);
            self.diags
                .error(loc, format!("array of {name} type is invalid in OpenCL"));
            return Types::ERROR.into();
        }
        if let Some((size, align)) = self.types.layout_of(element)
            && size % align != 0
        {
            let name = self.quote(element);
            self.diags.error(
                loc,
                format!(
                    "size of array element of type {name} ({size} bytes) isn't a multiple of its \
                     alignment ({align} bytes)"
                ),
            );
            return Types::ERROR.into();
        }
        if self.types.depth(element.ty) >= MAX_DEPTH {
            self.diags.error(loc, "arrays nest too deeply");
            return Types::ERROR.into();
        }
        let len = match size {
            ArraySize::Unspecified | ArraySize::Star => None,
            ArraySize::Expr(expr) => {
                let span = self.ast[expr].span;
                let operand = self.expr(expr);
                let value = self.rvalue(operand);
                let ty = self.type_of(value);
                if self.is_error(ty) {
                    return Types::ERROR.into();
                }
                if !matches!(self.types.as_arithmetic(ty), Some((scalar, 1)) if scalar.is_integer())
                {
                    let name = self.quote(ty);
                    self.diags
                        .error(span, format!("size of array has non-integer type {name}"));
                    return Types::ERROR.into();
                }
                let Some(len) = self.eval_integer(value) else {
                    self.diags
                        .error(span, "variable length arrays are not supported in OpenCL");
                    return Types::ERROR.into();
                };
                let signed = matches!(self.types.as_arithmetic(ty), Some((s, _)) if s.is_signed());
                if signed && (len as i64) < 0 {
                    let name = declarator.name.map_or(String::new(), |(name, _)| {
                        format!("'{}' declared as an ", self.interner.text(name))
                    });
                    self.diags
                        .error(span, format!("{name}array with a negative size"));
                    return Types::ERROR.into();
                }
                let bytes = self.types.layout(element.ty).map_or(0, |(size, _)| size);
                if bytes.checked_mul(len).is_none_or(|total| total > MAX_SIZE) {
                    self.diags.error(span, "array is too large");
                    return Types::ERROR.into();
                }
                Some(len)
            }
        };
        self.types.intern(Type::Array { element, len }).into()
    }

    fn function_type(
        &mut self,
        result: QualType,
        params: &[Param],
        variadic: bool,
        unspecified: bool,
        loc: Loc,
    ) -> TypeId {
        match self.types.get(result.ty) {
            Type::Array { .. } => {
                let name = self.quote(result);
                self.diags
                    .error(loc, format!("function cannot return array type {name}"));
                return Types::ERROR;
            }
            Type::Function(_) => {
                let name = self.quote(result);
                self.diags
                    .error(loc, format!("function cannot return function type {name}"));
                return Types::ERROR;
            }
            Type::Block(_) | Type::Image { .. } | Type::Sampler | Type::Pipe { .. } => {
                let name = self.quote(result);
                self.diags.error(
                    loc,
                    format!("declaring function return value of type {name} is not allowed"),
                );
                return Types::ERROR;
            }
            Type::Scalar(Scalar::Half) if !self.half_enabled => {
                self.diags.error(
                    loc,
                    "declaring function return value of type 'half' is not allowed; did you \
                     forget * ?",
                );
            }
            _ => {}
        }
        let mut types: Vec<TypeId> = Vec::with_capacity(params.len());
        for param in params {
            types.push(self.param_type(param).ty);
        }
        // `(void)`
        if types == [Types::VOID] && params[0].declarator.name.is_none() {
            types.clear();
        }
        self.types.intern(Type::Function(FunctionType {
            result: result.ty.into(),
            params: types,
            variadic,
            unspecified: unspecified && self.options.std < Std::C20,
        }))
    }

    /// A parameter's type: arrays become pointers. It is looked at for the function's type and
    /// again for the variable, so that what is wrong with it would be told twice.
    pub(super) fn param_type(&mut self, param: &Param) -> QualType {
        if let Some(ty) = self.param_types.get(&param.specs) {
            return *ty;
        }
        let ty = self.new_param_type(param);
        self.param_types.insert(param.specs, ty);
        ty
    }

    fn new_param_type(&mut self, param: &Param) -> QualType {
        let ast = self.ast;
        self.check_no_function(param.specs);
        self.check_attributes(&ast[param.specs].attributes, Subject::Variable);
        let base = self.base(param.specs);
        let (ty, space) = self.declarator(base, &param.declarator);
        let span = param.declarator.span;
        let loc = param.declarator.name.map_or(span.first, |(_, loc)| loc);
        match *self.types.get(ty.ty) {
            Type::Array { element, .. } => {
                let space = space.unwrap_or_else(|| self.default_pointee_space());
                let quals = match param.declarator.chunks.first() {
                    Some(Chunk::Array { quals, .. }) => type_quals(quals),
                    _ => TypeQuals::default(),
                };
                QualType {
                    ty: self.types.pointer(element, space),
                    quals,
                }
            }
            Type::Function(_) => {
                self.diags
                    .error(loc, "pointers to functions are not allowed");
                Types::ERROR.into()
            }
            // "A block cannot be a return value or a parameter of a function."
            Type::Block(_) => {
                let name = self.quote(ty);
                self.diags.error(
                    loc,
                    format!("declaring function parameter of type {name} is not allowed"),
                );
                Types::ERROR.into()
            }
            Type::Scalar(Scalar::Half) if !self.half_enabled => {
                self.diags.error(
                    loc,
                    "declaring function parameter of type 'half' is not allowed; did you forget \
                     * ?",
                );
                Types::ERROR.into()
            }
            _ => {
                if space.is_some_and(|space| space != Space::Private) {
                    self.diags
                        .error(loc, "parameter may not be qualified with an address space");
                }
                ty
            }
        }
    }
}

fn type_quals(quals: &Quals) -> TypeQuals {
    TypeQuals {
        is_const: quals.is_const.is_some(),
        is_volatile: quals.is_volatile.is_some(),
        is_restrict: quals.is_restrict.is_some(),
        align: None,
    }
}
