//! Expressions: from the syntax tree's to the typed tree's.

use super::scope::Meaning;
use super::{MAX_SUGGESTIONS, Operand, Place, Sema};
use crate::ast::{self, FloatSuffix, Number};
use crate::hir::{Constant, Conversion, ExprId, ExprKind, GlobalId, Linkage, TempId};
use crate::symbol::Symbol;
use crate::token::{Loc, Span};
use crate::types::{QualType, Scalar, Space, Type, TypeId, Types};

impl Sema<'_> {
    pub(super) fn expr(&mut self, id: ast::ExprId) -> Operand {
        stacker::maybe_grow(128 << 10, 1 << 20, || self.expr_kind(id))
    }

    /// An expression whose value is not wanted, only its type.
    pub(super) fn unevaluated(&mut self, id: ast::ExprId) -> Operand {
        self.unevaluated += 1;
        let operand = self.expr(id);
        self.unevaluated -= 1;
        operand
    }

    fn expr_kind(&mut self, id: ast::ExprId) -> Operand {
        let ast = self.ast;
        let expr = &ast[id];
        let (span, loc) = (expr.span, expr.loc);
        let value = match &expr.kind {
            ast::ExprKind::Name(name) => return self.name(*name, span),
            ast::ExprKind::Number(number) => self.number(ast[*number], span),
            ast::ExprKind::Char(value) => {
                self.int_constant(i64::from(*value) as u64, Types::INT, loc)
            }
            ast::ExprKind::Bool(value) => self.int_constant(u64::from(*value), Types::BOOL, loc),
            ast::ExprKind::Str(text) => return self.string(&ast[*text], span),
            ast::ExprKind::FunctionName => {
                let name = self.text(self.body.function.name);
                return self.string(name.as_bytes(), span);
            }
            ast::ExprKind::Paren(inner) => {
                let mut operand = self.expr(*inner);
                operand.span = span;
                return operand;
            }
            ast::ExprKind::Unary(op, inner) => return self.unary(*op, *inner, span, loc),
            ast::ExprKind::Binary(..) => return self.binary_tree(id),
            ast::ExprKind::Assign(None, left, right) => {
                return self.assign(*left, *right, span, loc);
            }
            ast::ExprKind::Assign(Some(op), left, right) => {
                return self.compound_assign(*op, *left, *right, span, loc);
            }
            ast::ExprKind::Conditional(condition, then, otherwise) => {
                return self.conditional(*condition, Some(*then), *otherwise, span, loc);
            }
            ast::ExprKind::BinaryConditional(condition, otherwise) => {
                return self.conditional(*condition, None, *otherwise, span, loc);
            }
            ast::ExprKind::Comma(left, right) => {
                let left = self.expr(*left);
                let left = self.effects_of(left);
                let right = self.expr(*right);
                let right = self.rvalue(right);
                let ty = self.type_of(right);
                self.add(ExprKind::Sequence(vec![left, right]), ty, loc)
            }
            ast::ExprKind::Cast(to, inner) => return self.cast_expr(*to, *inner, span),
            ast::ExprKind::CastList(to, elements) => self.cast_list(*to, &ast[*elements], span),
            ast::ExprKind::Compound(to, init) => return self.compound_literal(*to, *init, span),
            ast::ExprKind::Call(callee, args) => {
                return self.call(*callee, &ast[*args], span, loc);
            }
            ast::ExprKind::Index(base, index) => return self.subscript(*base, *index, span),
            ast::ExprKind::Member {
                base,
                name,
                name_loc,
                arrow,
            } => return self.member(*base, *name, *name_loc, *arrow, span),
            ast::ExprKind::SizeofExpr(inner) => {
                let ty = self.unevaluated(*inner).ty;
                self.size_of(ty, false, span)
            }
            ast::ExprKind::SizeofType(name) => {
                let ty = self.type_name(*name).0;
                self.size_of(ty, false, span)
            }
            ast::ExprKind::AlignofExpr(inner) => self.alignment_of(*inner, span),
            ast::ExprKind::AlignofType(name) => {
                let ty = self.type_name(*name).0;
                self.size_of(ty, true, span)
            }
            ast::ExprKind::VecStepExpr(inner) => {
                let ty = self.unevaluated(*inner).ty;
                self.vec_step(ty, span)
            }
            ast::ExprKind::VecStepType(name) => {
                let ty = self.type_name(*name).0;
                self.vec_step(ty, span)
            }
            ast::ExprKind::Statement(body) => return self.statement_expr(*body, span),
            ast::ExprKind::Generic(selection) => {
                return self.generic(selection.selector, &selection.cases, span);
            }
            ast::ExprKind::Offsetof(of) => self.offset_of(of.ty, &of.path, span),
            ast::ExprKind::AsType(inner, to) => {
                let operand = self.expr(*inner);
                let to = self.type_name(*to).0;
                self.as_type(operand, to, span)
            }
            ast::ExprKind::ConvertVector(inner, to) => {
                let operand = self.expr(*inner);
                let value = self.rvalue(operand);
                let to = self.type_name(*to).0.ty;
                match (self.arithmetic_of(value), self.types.as_arithmetic(to)) {
                    (Some((_, m)), Some((scalar, n))) if m == n => {
                        self.arithmetic_as(value, scalar)
                    }
                    _ => {
                        let name = self.quote(to);
                        self.diags.error(
                            span,
                            format!("cannot convert to {name}: not a vector as long"),
                        );
                        self.error_value(loc)
                    }
                }
            }
            ast::ExprKind::TypesCompatible(a, b) => {
                let (a, b) = (self.type_name(*a).0, self.type_name(*b).0);
                let same = self.compatible_pointees(a.ty, b.ty);
                self.int_constant(same.into(), Types::INT, loc)
            }
            ast::ExprKind::ChooseExpr(condition, then, otherwise) => {
                return match self.integer_constant(*condition) {
                    Some(0) => self.expr(*otherwise),
                    Some(_) => self.expr(*then),
                    None => {
                        self.diags.error(
                            span,
                            "'__builtin_choose_expr' requires a constant expression",
                        );
                        self.error(span)
                    }
                };
            }
            ast::ExprKind::BlockLiteral(block) => return self.block_literal(*block, span),
            ast::ExprKind::Error => self.error_value(loc),
        };
        self.value(value, span)
    }

    fn name(&mut self, name: Symbol, span: Span) -> Operand {
        let loc = span.first;
        let Some(entry) = self.scopes.lookup(name) else {
            return self.undeclared(name, span);
        };
        match entry.meaning {
            Meaning::Local(local) => self.local_operand(local, entry.depth, span),
            Meaning::Global(global) => self.global_operand(global, span),
            Meaning::Function(_) => Operand {
                place: Place::Function,
                ty: Types::VOID.into(),
                span,
            },
            Meaning::Enumerator(value, ty) => {
                let id = self.int_constant(value, ty, loc);
                self.value(id, span)
            }
            Meaning::Typedef(..) => {
                let text = self.text(name);
                self.diags.error(
                    span,
                    format!("unexpected type name '{text}': expected expression"),
                );
                self.error(span)
            }
            Meaning::Error => self.error(span),
        }
    }

    pub(super) fn global_operand(&mut self, global: GlobalId, span: Span) -> Operand {
        let variable = &self.module.globals[global.0 as usize];
        let (space, align) = (variable.space, variable.align);
        let ty = self.global_types[global.0 as usize];
        let pointer = self.types.pointer(ty.ty.into(), space);
        let address = self.add(ExprKind::Global(global), pointer, span.first);
        Operand {
            place: Place::Object(address, align),
            ty,
            span,
        }
    }

    fn undeclared(&mut self, name: Symbol, span: Span) -> Operand {
        let text = self.text(name);
        if let Some(value) = memory_constant(&text).filter(|_| self.has_memory_model()) {
            let id = self.int_constant(value, Types::INT, span.first);
            return self.value(id, span);
        }
        let more = self.did_you_mean(&text, |sema| {
            sema.scopes.names().map(|name| sema.text(name)).collect()
        });
        self.diags
            .error(span, format!("use of undeclared identifier '{text}'{more}"));
        // Told once.
        self.scopes.declare(name, Meaning::Error, span.first);
        self.error(span)
    }

    fn has_memory_model(&self) -> bool {
        self.options.std >= crate::options::Std::C20
    }

    fn number(&mut self, number: Number, span: Span) -> ExprId {
        let loc = span.first;
        match number {
            Number::Int {
                value,
                unsigned,
                longs,
                decimal,
            } => {
                let fits = |scalar: Scalar| {
                    let bits = scalar.bits() - u32::from(scalar.is_signed());
                    bits == 64 || value >> bits == 0
                };
                let candidates = [
                    (Scalar::Int, !unsigned && longs == 0),
                    (Scalar::UInt, (unsigned || !decimal) && longs == 0),
                    (Scalar::Long, !unsigned && longs < 2),
                    (Scalar::ULong, longs < 2),
                    (Scalar::LongLong, !unsigned),
                    (Scalar::ULongLong, true),
                ];
                let scalar = candidates
                    .into_iter()
                    .find(|&(scalar, allowed)| allowed && fits(scalar))
                    .map_or(Scalar::ULong, |(scalar, _)| scalar);
                if scalar.native() == Scalar::ULong && decimal && !unsigned {
                    self.diags.warning(
                        "implicitly-unsigned-literal",
                        span,
                        "integer literal is too large to be represented in a signed integer type, \
 interpreting as unsigned",
                    );
                }
                let ty = self.types.scalar(scalar);
                self.int_constant(value, ty, loc)
            }
            Number::Float {
                value,
                single,
                half,
                suffix,
            } => {
                let (bits, ty) = match suffix {
                    FloatSuffix::F => (u64::from(single.to_bits()), Types::FLOAT),
                    FloatSuffix::H => {
                        if !self.half_enabled {
                            self.diags
                                .error(span, "half precision constant requires cl_khr_fp16");
                        }
                        (half.into(), Types::HALF)
                    }
                    FloatSuffix::None | FloatSuffix::L => {
                        if self.options.single_precision_constant {
                            (u64::from(single.to_bits()), Types::FLOAT)
                        } else if self.has_fp64 {
                            (value.to_bits(), Types::DOUBLE)
                        } else {
                            self.diags.warning(
                                "unknown-warning",
                                span,
                                "double precision constant requires cl_khr_fp64, \
 casting to single precision",
                            );
                            (u64::from(single.to_bits()), Types::FLOAT)
                        }
                    }
                };
                self.add(ExprKind::Constant(Constant::Float(bits)), ty, loc)
            }
        }
    }

    /// A string literal is an array in `constant` memory.
    pub(super) fn string(&mut self, text: &[u8], span: Span) -> Operand {
        let mut elements: Vec<Constant> = text
            .iter()
            .map(|&byte| Constant::Int(i64::from(byte as i8) as u64))
            .collect();
        elements.push(Constant::Int(0));
        let element = QualType {
            ty: Types::CHAR,
            quals: Default::default(),
        };
        let ty = self.types.intern(Type::Array {
            element,
            len: Some(elements.len() as u64),
        });
        let name = self.interner.intern(".str");
        let global = self.add_global(
            crate::hir::Global {
                name,
                ty,
                space: Space::Constant,
                is_const: true,
                is_volatile: false,
                align: 1,
                init: Some(Constant::Aggregate(elements)),
                linkage: Linkage::Internal,
                loc: span.first,
            },
            ty.into(),
        );
        self.global_operand(global, span)
    }

    pub(super) fn add_global(&mut self, global: crate::hir::Global, ty: QualType) -> GlobalId {
        let id = GlobalId(self.module.globals.len() as u32);
        self.module.globals.push(global);
        self.global_types.push(ty);
        id
    }

    /// A value computed once, and its name.
    pub(super) fn bind(&mut self, value: ExprId, loc: Loc) -> (ExprId, ExprId) {
        let temp = TempId(self.body.function.temps);
        self.body.function.temps += 1;
        let ty = self.type_of(value);
        let store = self.add(ExprKind::Bind(temp, value), Types::VOID, loc);
        (store, self.add(ExprKind::Temp(temp), ty, loc))
    }

    /// For its effects: ordinary objects are not read.
    pub(super) fn effects_of(&mut self, operand: Operand) -> ExprId {
        match operand.place {
            Place::Value(id) => id,
            Place::Object(address, _)
                if !operand.ty.quals.is_volatile && !self.is_disabled_half(operand.ty.ty) =>
            {
                address
            }
            _ if self.is_error(operand.ty.ty) => self.error_value(operand.span.first),
            _ => self.rvalue(operand),
        }
    }

    fn cast_expr(&mut self, to: ast::TypeNameId, inner: ast::ExprId, span: Span) -> Operand {
        let (to, _) = self.type_name(to);
        let operand = self.expr(inner);
        // "(float4)(1.0f)" is a vector literal, whose elements are converted like others.
        if let Type::Vector(scalar, lanes) = *self.types.get(to.ty)
            && matches!(self.ast[inner].kind, ast::ExprKind::Paren(_))
            && matches!(self.types.as_arithmetic(operand.ty.ty), Some((_, 1)))
        {
            let value = self.rvalue(operand);
            let id = self.splat(value, scalar, lanes);
            return self.value(id, span);
        }
        let id = self.cast(operand, to, span);
        self.value(id, span)
    }

    /// `(float4)(a, b.xy, c)`: a vector's components in order; otherwise a comma expression.
    fn cast_list(&mut self, to: ast::TypeNameId, elements: &[ast::ExprId], span: Span) -> ExprId {
        let (to, _) = self.type_name(to);
        let loc = span.first;
        let operands: Vec<Operand> = elements.iter().map(|&e| self.expr(e)).collect();
        if self.is_error(to.ty) {
            return self.error_value(loc);
        }
        let Type::Vector(scalar, lanes) = *self.types.get(to.ty) else {
            let mut all: Vec<ExprId> = Vec::new();
            let (last, rest) = operands.split_last().expect("a list has elements");
            for operand in rest {
                all.push(self.effects_of(*operand));
            }
            let value = self.cast(*last, to, span);
            all.push(value);
            return self.add(ExprKind::Sequence(all), to.ty, loc);
        };
        self.vector_of(&operands, scalar, lanes, span)
    }

    pub(super) fn vector_of(
        &mut self,
        operands: &[Operand],
        scalar: Scalar,
        lanes: u8,
        span: Span,
    ) -> ExprId {
        let loc = span.first;
        let ty = self.types.vector(scalar, lanes);
        let mut parts = Vec::new();
        let mut total = 0u32;
        for operand in operands {
            let value = self.rvalue(*operand);
            match self.arithmetic_of(value) {
                Some((from, 1)) => {
                    let _ = from;
                    parts.push(self.arithmetic_as(value, scalar));
                    total += 1;
                }
                Some((from, n)) => {
                    if from != scalar {
                        let (from, to) = (self.quote_value(value), self.quote(ty));
                        self.diags.error(
                            operand.span,
                            format!(
                                "initializing {to} with an expression of incompatible type {from}"
                            ),
                        );
                        return self.error_value(loc);
                    }
                    parts.push(value);
                    total += u32::from(n);
                }
                None if self.is_error(self.type_of(value)) => return self.error_value(loc),
                None => {
                    let (from, to) = (
                        self.quote_value(value),
                        self.quote(self.types.scalar(scalar)),
                    );
                    self.diags.error(
                        operand.span,
                        format!("initializing {to} with an expression of incompatible type {from}"),
                    );
                    return self.error_value(loc);
                }
            }
        }
        if total != u32::from(lanes) {
            let word = if total < u32::from(lanes) {
                "too few"
            } else {
                "excess"
            };
            self.diags
                .error(span, format!("{word} elements in vector initialization"));
            return self.error_value(loc);
        }
        if parts.len() == 1 {
            return parts[0];
        }
        let constants: Option<Vec<Constant>> = parts
            .iter()
            .map(
                |&part| match (self.kind_of(part), self.arithmetic_of(part)) {
                    (ExprKind::Constant(constant), Some((_, 1))) => Some(constant.clone()),
                    _ => None,
                },
            )
            .collect();
        match constants {
            Some(all) => self.add(ExprKind::Constant(Constant::Aggregate(all)), ty, loc),
            None => self.add(ExprKind::MakeVector(parts), ty, loc),
        }
    }

    fn size_of(&mut self, ty: QualType, align: bool, span: Span) -> ExprId {
        if self.is_error(ty.ty) {
            return self.error_value(span.first);
        }
        match (ty.ty, self.types.layout_of(ty)) {
            (_, Some((size, alignment))) => {
                let value = if align { alignment } else { size };
                self.int_constant(value, self.size_type(), span.first)
            }
            _ => {
                let name = self.quote(ty);
                let word = if align { "alignof" } else { "sizeof" };
                let what = match self.types.get(ty.ty) {
                    Type::Void => "a void type".to_owned(),
                    Type::Function(_) => "a function type".to_owned(),
                    _ => format!("an incomplete type {name}"),
                };
                self.diags
                    .error(span, format!("invalid application of '{word}' to {what}"));
                self.error_value(span.first)
            }
        }
    }

    /// GNU: of a variable as it is declared, of other objects as of their types, where these are
    /// not packed.
    fn alignment_of(&mut self, inner: ast::ExprId, span: Span) -> ExprId {
        let operand = self.unevaluated(inner);
        let Place::Object(address, align) = operand.place else {
            return self.size_of(operand.ty, true, span);
        };
        let mut of = operand.ty;
        if let Type::Array { element, len: None } = *self.types.get(of.ty) {
            of = element;
        }
        let natural = match self.types.layout_of(of) {
            Some((_, natural)) => natural,
            None => return self.size_of(of, true, span),
        };
        let value = match self.kind_of(address) {
            ExprKind::Local(_) | ExprKind::Global(_) => align,
            _ => align.min(natural),
        };
        self.int_constant(value, self.size_type(), span.first)
    }

    fn vec_step(&mut self, ty: QualType, span: Span) -> ExprId {
        // "For 3-component vectors, vec_step returns 4."
        let lanes = match (self.types.as_arithmetic(ty.ty), self.types.get(ty.ty)) {
            (Some((_, 3)), _) => 4,
            (Some((_, lanes)), _) => lanes.into(),
            (None, Type::Void | Type::Error) => 1,
            _ => {
                let name = self.quote(ty);
                self.diags.error(
                    span,
                    format!("'vec_step' requires built-in scalar or vector type, {name} invalid"),
                );
                1
            }
        };
        self.int_constant(lanes, Types::INT, span.first)
    }

    fn generic(
        &mut self,
        selector: ast::ExprId,
        cases: &[(Option<ast::TypeNameId>, ast::ExprId)],
        span: Span,
    ) -> Operand {
        let operand = self.unevaluated(selector);
        let value = self.rvalue(operand);
        let ty = self.type_of(value);
        let (mut chosen, mut default) = (None, None);
        let mut seen: Vec<TypeId> = Vec::new();
        for &(name, expr) in cases {
            let Some(name) = name else {
                if default.replace(expr).is_some() {
                    self.diags
                        .error(self.ast[expr].span, "duplicate default generic association");
                }
                continue;
            };
            let of = self.type_name(name).0.ty;
            if seen.contains(&of) && !self.is_error(of) {
                let quoted = self.quote(of);
                self.diags.error(
                    self.ast[name].span,
                    format!(
                        "type {quoted} in generic association compatible with previously specified \
                         type {quoted}"
                    ),
                );
            }
            seen.push(of);
            if of == ty {
                chosen.get_or_insert(expr);
            }
        }
        let chosen = chosen.or(default);
        // The others are only looked at.
        for &(_, expr) in cases.iter().filter(|&&(_, expr)| Some(expr) != chosen) {
            self.unevaluated(expr);
        }
        match chosen {
            Some(expr) => self.expr(expr),
            None => {
                let name = self.quote(ty);
                if !self.is_error(ty) {
                    self.diags.error(
                        span,
                        format!(
                            "controlling expression type {name} not compatible with any \
                         generic association type"
                        ),
                    );
                }
                self.error(span)
            }
        }
    }

    /// The same bits as another type. OpenCL C Specification, "Reinterpreting Types Using as_type()
    /// and as_typen()".
    pub(super) fn as_type(&mut self, operand: Operand, to: QualType, span: Span) -> ExprId {
        let value = self.rvalue(operand);
        let from = self.type_of(value);
        let loc = span.first;
        if from == to.ty {
            return value;
        }
        if self.is_error(from) || self.is_error(to.ty) {
            return self.add(ExprKind::Undefined, to.ty, loc);
        }
        let size = |sema: &Self, ty| sema.types.layout(ty).map(|(size, _)| size);
        if size(self, from) != size(self, to.ty) {
            let (from, to_name) = (self.quote(from), self.quote(to));
            self.diags.error(
                span,
                format!("invalid reinterpretation: sizes of {to_name} and {from} must match"),
            );
            return self.add(ExprKind::Undefined, to.ty, loc);
        }
        let is_pointer = |sema: &Self, ty| matches!(sema.types.get(ty), Type::Pointer { .. });
        if is_pointer(self, from) || is_pointer(self, to.ty) {
            let operand = self.value(value, span);
            return self.cast(operand, to, span);
        }
        self.add(ExprKind::Convert(Conversion::Bits, value), to.ty, loc)
    }

    /// The value of an integer constant expression.
    pub(super) fn integer_constant(&mut self, id: ast::ExprId) -> Option<u64> {
        let operand = self.expr(id);
        let value = self.rvalue(operand);
        self.eval_integer(value)
    }

    pub(super) fn is_arithmetic(&self, ty: TypeId) -> bool {
        self.types.as_arithmetic(ty).is_some()
    }

    /// What a misspelled name may mean. Of very short names anything may be meant. Each answer
    /// looks at all names, so a program gets few.
    pub(super) fn did_you_mean(
        &mut self,
        name: &str,
        candidates: impl FnOnce(&Self) -> Vec<String>,
    ) -> String {
        if name.len() < 3 || self.suggestions == MAX_SUGGESTIONS {
            return String::new();
        }
        self.suggestions += 1;
        let candidates = candidates(self);
        let best = crate::diag::similar(name, candidates.iter().map(String::as_str));
        best.map_or(String::new(), |other| format!("; did you mean '{other}'?"))
    }
}

/// Enumerators of OpenCL C 2.0's memory model, as SPIR-V's consumers have them in
/// `opencl-c-base.h`.
fn memory_constant(name: &str) -> Option<u64> {
    Some(match name {
        "memory_order_relaxed" => 0,
        "memory_order_acquire" => 2,
        "memory_order_release" => 3,
        "memory_order_acq_rel" => 4,
        "memory_order_seq_cst" => 5,
        "memory_scope_work_item" => 0,
        "memory_scope_work_group" => 1,
        "memory_scope_device" => 2,
        "memory_scope_all_svm_devices" | "memory_scope_all_devices" => 3,
        "memory_scope_sub_group" => 4,
        _ => return None,
    })
}
