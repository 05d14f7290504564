//! Blocks: literals, captures, calls, and the arguments of functions that enqueue them. OpenCL C
//! Specification, "Blocks", "Enqueuing Kernels".
//!
//! A literal becomes a function, whose first parameter is the address of what it captured, and an
//! [`ExprKind::Block`] where it stands. The function is analysed while the one around it waits in
//! `Sema::outer`; a name that belongs to a waiting function is captured, by each function on the
//! way to it. Which function a block variable means is known everywhere: such variables are
//! constant, and blocks are neither parameters nor results.

use super::convert::Goal;
use super::function::Body;
use super::specs::Base;
use super::{Operand, Place, Sema};
use crate::ast::{self, BlockId, TypeSpec};
use crate::builtins::{BlockArgument, Enqueue, Lowering};
use crate::hir::{Constant, ExprId, ExprKind, FunctionId, LocalId};
use crate::options::Std;
use crate::symbol::Symbol;
use crate::token::{Loc, Span};
use crate::types::{Field, FunctionType, QualType, Scalar, Space, Type, TypeId, Types};

/// What the body of a block has besides a function's.
#[derive(Debug)]
pub(super) struct BlockBody {
    /// What is captured, as a type.
    pub record: TypeId,
    /// The captured variables: the depth of the scope that declares each, and its number there. The
    /// order is that of the record's fields.
    captures: Vec<Capture>,
    /// No result is declared: the first `return` says it.
    pub deduces: bool,
    /// Some `return` was there.
    pub returned: bool,
}

#[derive(Clone, Copy, Debug)]
struct Capture {
    depth: u32,
    local: LocalId,
    ty: QualType,
    loc: Loc,
}

impl Sema<'_> {
    fn has_blocks(&self) -> bool {
        match self.options.std {
            Std::C20 => true,
            std => std >= Std::C30 && self.device.has("__opencl_c_device_enqueue"),
        }
    }

    /// `^ T (params) {...}`
    pub(super) fn block_literal(&mut self, id: BlockId, span: Span) -> Operand {
        let ast = self.ast;
        let literal = &ast[id];
        if !self.has_blocks() {
            self.diags.error(
                span,
                "blocks support disabled - compile with -fblocks or for OpenCL C 2.0 or OpenCL C \
                 3.0 with __opencl_c_device_enqueue feature",
            );
            return self.error(span);
        }
        let Some((mut ty, deduces)) = self.block_signature(literal) else {
            return self.error(span);
        };
        let function = self.open_block(&ty, deduces, literal.loc);
        if let Some(name) = literal.signature {
            self.params(&ast[name].declarator);
        }
        let statements = self.function_body(literal.body);
        self.scopes.pop();
        self.check_labels();
        if self.body.result.ty != Types::VOID && super::stmt::falls_through(&statements) {
            self.diags.error(
                ast[literal.body].span.last,
                "non-void block does not return a value",
            );
        }
        self.body.function.body = Some(statements);
        ty.result = self.body.result.ty.into();
        let (record, captures) = self.close_block(function);
        let captures = self.capture_values(&captures, span);
        let ty = self.types.intern(Type::Function(ty));
        let ty = self.types.intern(Type::Block(ty));
        let kind = if captures.is_empty() {
            ExprKind::Constant(Constant::Block(function))
        } else {
            ExprKind::Block {
                function,
                record,
                captures,
            }
        };
        let id = self.add(kind, ty, span.first);
        self.value(id, span)
    }

    /// The function's type, and whether its result is yet to be found.
    fn block_signature(&mut self, literal: &ast::BlockLiteral) -> Option<(FunctionType, bool)> {
        let ast = self.ast;
        let Some(signature) = literal.signature else {
            let ty = FunctionType {
                result: Types::VOID.into(),
                params: Vec::new(),
                variadic: false,
                unspecified: false,
            };
            return Some((ty, true));
        };
        let name = &ast[signature];
        let is_missing = matches!(ast[name.specs].ty, TypeSpec::Missing);
        let deduces = is_missing && matches!(name.declarator.chunks.as_slice(), [_]);
        let base = if deduces {
            Base {
                ty: Types::VOID.into(),
                space: None,
                is_auto: false,
                alias: None,
            }
        } else {
            self.base(name.specs)
        };
        let (ty, _) = self.declarator(base, &name.declarator);
        match self.types.get(ty.ty) {
            Type::Function(function) => Some((function.clone(), deduces)),
            _ => None,
        }
    }

    /// Begins a block's function: the one around it waits. The scope of its parameters is open.
    fn open_block(&mut self, ty: &FunctionType, deduces: bool, loc: Loc) -> FunctionId {
        let name = self.block_name();
        let record = self.new_block_record(loc);
        let mut new = Body::new(name, ty.result);
        new.function.loc = loc;
        new.function.block = Some(record);
        new.is_kernel = self.body.is_kernel;
        new.base = self.scopes.depth();
        new.block = Some(BlockBody {
            record,
            captures: Vec::new(),
            deduces,
            returned: false,
        });
        let id = FunctionId(self.module.functions.len() as u32);
        new.id = Some(id);
        let mut place = Body::new(name, ty.result).function;
        place.loc = loc;
        self.module.functions.push(place);
        self.outer.push(std::mem::replace(&mut self.body, new));
        self.in_function = true;
        self.scopes.push();
        let pointer = self.types.pointer(Types::CHAR.into(), Space::Generic);
        self.new_local(Symbol::default(), pointer.into(), 8, loc);
        self.body.function.params = 1;
        id
    }

    /// Ends it: what it captures.
    fn close_block(&mut self, id: FunctionId) -> (TypeId, Vec<Capture>) {
        let outer = self.outer.pop().expect("something is around a block");
        let mut body = std::mem::replace(&mut self.body, outer);
        self.in_function = self.body.id.is_some();
        let block = body.block.take().expect("the body of a block");
        self.module.functions[id.0 as usize] = body.function;
        self.lay_out_block(block.record, &block.captures);
        (block.record, block.captures)
    }

    /// As clang names them: `__f_block_invoke`, `__f_block_invoke_2`.
    fn block_name(&mut self) -> Symbol {
        let root = self.outer.first_mut().unwrap_or(&mut self.body);
        root.blocks += 1;
        let mut text = match self.interner.text(root.function.name) {
            "" => "_block_invoke".to_owned(),
            name => format!("__{name}_block_invoke"),
        };
        if root.blocks > 1 {
            text.push_str(&format!("_{}", root.blocks));
        }
        self.interner.intern(&text)
    }

    fn new_block_record(&mut self, loc: Loc) -> TypeId {
        let tag = self.interner.intern("__block_literal");
        self.types.new_record(Some(tag), false, loc)
    }

    fn lay_out_block(&mut self, record: TypeId, captures: &[Capture]) {
        let Type::Record(id) = *self.types.get(record) else {
            return;
        };
        let (mut end, mut align) = (0u64, 1u64);
        let mut fields = Vec::new();
        for capture in captures {
            let (size, natural) = self.types.layout_of(capture.ty).unwrap_or((0, 1));
            let offset = end.next_multiple_of(natural);
            align = align.max(natural);
            end = offset.saturating_add(size);
            fields.push(Field {
                name: None,
                ty: capture.ty,
                offset,
                loc: capture.loc,
            });
        }
        let depth = |capture: &Capture| self.types.depth(capture.ty.ty) + 1;
        let depth = captures.iter().map(depth).max().unwrap_or(1);
        let record = &mut self.types.records[id.0 as usize];
        record.depth = depth;
        record.size = end.next_multiple_of(align);
        record.align = align;
        record.fields = Some(fields);
    }

    /// "captured by the Block as const copies", where the literal stands.
    fn capture_values(&mut self, captures: &[Capture], span: Span) -> Vec<ExprId> {
        let mut values = Vec::new();
        for capture in captures {
            let operand = self.local_operand(capture.local, capture.depth, span);
            values.push(match operand.place {
                // An array is copied, too.
                Place::Object(address, align) => self.load(address, capture.ty, align, span.first),
                _ => self.rvalue(operand),
            });
        }
        values
    }

    /// A variable declared in a scope of this depth: the function's own, or one of a function
    /// around a block.
    pub(super) fn local_operand(&mut self, local: LocalId, depth: u32, span: Span) -> Operand {
        if depth <= self.body.base {
            return self.captured(local, depth, span);
        }
        let ty = self.body.types[local.0 as usize];
        let align = self.body.function.locals[local.0 as usize].align;
        let pointer = self.types.pointer(ty.ty.into(), Space::Private);
        let address = self.add(ExprKind::Local(local), pointer, span.first);
        Operand {
            place: Place::Object(address, align),
            ty,
            span,
        }
    }

    fn captured(&mut self, local: LocalId, depth: u32, span: Span) -> Operand {
        let owner = self.outer.iter().rev().find(|body| body.base < depth);
        let mut ty = owner.expect("some function declared it").types[local.0 as usize];
        if matches!(self.types.get(ty.ty), Type::Block(_)) {
            self.diags
                .error(span, "cannot refer to a block inside block");
            return self.error(span);
        }
        let Some(block) = &mut self.body.block else {
            return self.error(span);
        };
        let record = block.record;
        let same = |capture: &Capture| capture.depth == depth && capture.local == local;
        let index = match block.captures.iter().position(same) {
            Some(index) => index,
            None => {
                block.captures.push(Capture {
                    depth,
                    local,
                    ty: ty.ty.into(),
                    loc: span.first,
                });
                block.captures.len() - 1
            }
        };
        ty.quals.is_const = true;
        let loc = span.first;
        let bytes = self.types.pointer(Types::CHAR.into(), Space::Generic);
        let holder = self.types.pointer(bytes.into(), Space::Private);
        let param = self.add(ExprKind::Local(LocalId(0)), holder, loc);
        let literal = self.load(param, bytes.into(), 8, loc);
        let pointer = self.types.pointer(record.into(), Space::Generic);
        let literal = self.add(
            ExprKind::Convert(crate::hir::Conversion::Pointer, literal),
            pointer,
            loc,
        );
        let pointer = self.types.pointer(ty.ty.into(), Space::Generic);
        let address = self.add(ExprKind::FieldAddr(literal, index as u32), pointer, loc);
        let align = self.types.layout_of(ty).map_or(1, |(_, align)| align);
        Operand {
            place: Place::Object(address, align),
            ty,
            span,
        }
    }

    /// Whether the address is that of a captured variable.
    pub(super) fn is_capture(&self, address: ExprId) -> bool {
        let (Some(block), ExprKind::FieldAddr(base, _)) = (&self.body.block, self.kind_of(address))
        else {
            return false;
        };
        let pointee = match self.types.get(self.type_of(*base)) {
            Type::Pointer { pointee, .. } => pointee.ty,
            _ => return false,
        };
        pointee == block.record
    }

    /// The function that a block's value means.
    pub(super) fn known_block(&self, id: ExprId) -> Option<FunctionId> {
        match self.kind_of(id) {
            ExprKind::Constant(Constant::Block(function)) => Some(*function),
            ExprKind::Block { function, .. } => Some(*function),
            ExprKind::Sequence(all) => self.known_block(*all.last()?),
            ExprKind::Statements(_, value) => self.known_block((*value)?),
            ExprKind::Load { pointer, .. } => match self.kind_of(*pointer) {
                ExprKind::Local(local) => self.body.known_blocks.get(local).copied(),
                ExprKind::Global(global) => match self.module.globals[global.0 as usize].init {
                    Some(Constant::Block(function)) => Some(function),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// A variable of block type has its value for good.
    pub(super) fn note_block(&mut self, local: LocalId, value: ExprId) {
        if let Some(function) = self.known_block(value) {
            self.body.known_blocks.insert(local, function);
        }
    }

    /// The call of a block.
    pub(super) fn call_block(
        &mut self,
        callee: Operand,
        args: &[ast::ExprId],
        span: Span,
        loc: Loc,
    ) -> Operand {
        let operands = self.arguments(args);
        let block = self.rvalue(callee);
        let Some(ty) = self.block_type(self.type_of(block)) else {
            return self.error(span);
        };
        let (have, want) = (operands.len(), ty.params.len());
        if have != want {
            let word = if have < want { "few" } else { "many" };
            self.diags.error(
                span,
                format!("too {word} arguments to block call, expected {want}, have {have}"),
            );
            return self.error(span);
        }
        let args: Vec<ExprId> = operands
            .into_iter()
            .zip(&ty.params)
            .map(|(operand, &param)| self.assignable(operand, param, Goal::Pass))
            .collect();
        let result = ty.result.ty;
        let Some(function) = self.known_block(block) else {
            self.unknown_block(callee.span);
            return self.error(span);
        };
        if let Some(caller) = self.body.id
            && self.unevaluated == 0
        {
            self.calls.push((caller, function, loc));
        }
        let kind = ExprKind::CallBlock {
            function,
            block,
            args,
        };
        let id = self.add(kind, result, loc);
        self.value(id, span)
    }

    /// "Block variables must be defined and used in a way that allows them to be statically
    /// determinable at build" time. OpenCL C Specification, "Blocks", "Restrictions".
    fn unknown_block(&mut self, span: Span) {
        if !self.diags.has_errors() {
            self.diags
                .error(span, "which block this is is not known when compiling");
        }
    }

    pub(super) fn block_type(&self, ty: TypeId) -> Option<FunctionType> {
        let Type::Block(function) = *self.types.get(ty) else {
            return None;
        };
        match self.types.get(function) {
            Type::Function(ty) => Some(ty.clone()),
            _ => None,
        }
    }

    /// Checks the call of a function that takes a block, and says which functions its blocks are.
    /// `None` where an error was told.
    pub(super) fn block_arguments(
        &mut self,
        lowering: Lowering,
        operands: &[Operand],
        span: Span,
    ) -> Option<Vec<BlockArgument>> {
        let Lowering::Enqueue(enqueue) = lowering else {
            return Some(Vec::new());
        };
        let at = operands
            .iter()
            .position(|operand| matches!(self.types.get(operand.ty.ty), Type::Block(_)));
        let Some(at) = at else {
            return Some(Vec::new());
        };
        let block = operands[at];
        let ty = self.block_type(block.ty.ty)?;
        let sizes = &operands[at + 1..];
        let is_enqueue = matches!(enqueue, Enqueue::Kernel | Enqueue::KernelAfter);
        if is_enqueue && sizes.is_empty() && !ty.params.is_empty() {
            self.diags.error(
                block.span,
                "blocks with parameters are not accepted in this prototype of enqueue_kernel call",
            );
            return None;
        }
        let any = self.device.has("cl_khr_device_enqueue_local_arg_types");
        let is_local_pointer = |&param: &TypeId| {
            matches!(self.types.get(param), Type::Pointer { pointee, space: Space::Local }
                if any || pointee.ty == Types::VOID)
        };
        if !ty.params.iter().all(is_local_pointer) {
            let pointers = match any {
                true => "pointers to local memory",
                false => "type 'local void*'",
            };
            self.diags.error(
                block.span,
                format!(
                    "blocks used in enqueue_kernel call are expected to have parameters of \
                     {pointers}"
                ),
            );
            return None;
        }
        if is_enqueue && sizes.len() != ty.params.len() {
            self.diags.error(
                span,
                "mismatch in number of block parameters and local size arguments passed",
            );
            return None;
        }
        for size in sizes {
            let arithmetic = self.types.as_arithmetic(size.ty.ty);
            if !matches!(arithmetic, Some((scalar, 1)) if scalar.is_integer()) {
                self.diags.error(
                    size.span,
                    "illegal call to enqueue_kernel, parameter needs to be specified as integer \
                     type",
                );
                return None;
            }
        }
        let value = self.rvalue(block);
        match self.known_block(value) {
            Some(function) => {
                let record = self.module.functions[function.0 as usize].block;
                let layout = record.and_then(|record| self.types.layout(record));
                let (size, align) = layout.unwrap_or((0, 1));
                Some(vec![BlockArgument {
                    argument: at,
                    function,
                    size,
                    align,
                }])
            }
            None => {
                self.unknown_block(block.span);
                None
            }
        }
    }

    /// An argument behind the parameters of a built-in function.
    pub(super) fn extra_argument(&mut self, lowering: Lowering, operand: Operand) -> ExprId {
        if matches!(lowering, Lowering::Enqueue(_)) {
            // A size of local memory.
            let value = self.rvalue(operand);
            return self.arithmetic_as(value, Scalar::UInt);
        }
        self.variadic(operand)
    }

    /// What is wrong with a variable of block type.
    pub(super) fn check_block_variable(&mut self, is_extern: bool, has_init: bool, loc: Loc) {
        if is_extern {
            self.diags.error(
                loc,
                "invalid block variable declaration - using 'extern' storage class is disallowed",
            );
        } else if !has_init {
            self.diags.error(
                loc,
                "invalid block variable declaration - must be initialized",
            );
        }
    }
}
