//! Expressions to instructions.

use super::function::{FunctionEmitter, LocalPlace};
use super::speculate::{MAX_CHOICE, MAX_CONDITION};
use super::types::Member;
use super::words::Id;
use crate::hir::{Access, BinaryOp, Comparison, ExprId, ExprKind, FunctionId, LocalId, UnaryOp};
use crate::spirv::{memory, op};
use crate::types::{Scalar, Space, Type, TypeId, Types};

impl<'a> FunctionEmitter<'_, 'a> {
    /// Evaluates for the effects; the value, if there is one, is not wanted.
    pub(super) fn effects(&mut self, id: ExprId) {
        let function = self.function;
        match &function[id].kind {
            ExprKind::Sequence(all) => {
                for &one in all {
                    stacker::maybe_grow(128 << 10, 1 << 20, || self.effects(one));
                }
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.branches(*condition, |e| e.effects(*then), |e| e.effects(*otherwise));
            }
            ExprKind::And(left, right) => {
                self.branches(*left, |e| e.effects(*right), |_| ());
            }
            ExprKind::Or(left, right) => {
                self.branches(*left, |_| (), |e| e.effects(*right));
            }
            ExprKind::Statements(statements, value) => {
                self.statements(statements);
                self.reopen();
                if let Some(value) = value {
                    self.effects(*value);
                }
            }
            // A read of ordinary memory, or a variable's name, has none.
            ExprKind::Load { pointer, access } if !access.is_volatile => self.effects(*pointer),
            ExprKind::Local(_) | ExprKind::Global(_) | ExprKind::Temp(_) | ExprKind::Undefined => {}
            ExprKind::Constant(_) => {}
            ExprKind::Convert(_, inner) | ExprKind::Negate(inner) => self.effects(*inner),
            _ => {
                self.any(id);
            }
        }
    }

    /// Either side by a condition.
    pub(super) fn branches(
        &mut self,
        condition: ExprId,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let (yes, no, after) = (
            self.module.words.id(),
            self.module.words.id(),
            self.module.words.id(),
        );
        self.condition(condition, yes, no);
        self.begin(yes);
        then(self);
        self.branch(after);
        self.begin(no);
        otherwise(self);
        self.branch(after);
        self.begin(after);
    }

    /// The value of an expression that has one.
    pub(super) fn expr(&mut self, id: ExprId) -> Id {
        match self.any(id) {
            Some(value) => value,
            // `void` where a value was wanted: `sema` has told an error.
            None => self.undefined(self.function[id].ty),
        }
    }

    fn undefined(&mut self, ty: TypeId) -> Id {
        let ty = self.module.type_id(ty);
        self.value_of(op::UNDEF, ty, &[])
    }

    /// Evaluates; `None` for `void`.
    pub(super) fn any(&mut self, id: ExprId) -> Option<Id> {
        stacker::maybe_grow(128 << 10, 1 << 20, || self.kind(id))
    }

    fn kind(&mut self, id: ExprId) -> Option<Id> {
        let function = self.function;
        let expr = &function[id];
        let ty = expr.ty;
        if self.module.in_memory(ty) {
            return Some(self.aggregate(id));
        }
        let value = match &expr.kind {
            ExprKind::Constant(constant) => self.module.constant(constant, ty),
            ExprKind::Undefined => self.undefined(ty),
            ExprKind::Local(local) => self.local_pointer(*local),
            ExprKind::Global(global) => self.module.global(*global),
            ExprKind::Temp(temp) => self.temp(*temp),
            ExprKind::Bind(temp, value) => {
                let value = self.bound_value(*value);
                self.temps[temp.0 as usize] = Some(value);
                return None;
            }
            ExprKind::Sequence(all) => {
                let (last, effects) = all.split_last()?;
                for &one in effects {
                    self.effects(one);
                }
                return self.any(*last);
            }
            ExprKind::Statements(statements, value) => {
                self.statements(statements);
                self.reopen();
                return value.map(|value| self.expr(value));
            }
            ExprKind::Load { pointer, access } => self.load(*pointer, *access, ty),
            ExprKind::Store {
                pointer,
                value,
                access,
            } => {
                self.store(*pointer, *value, *access);
                return None;
            }
            ExprKind::Copy {
                to,
                from,
                size,
                align,
            } => {
                let (to, from) = (self.expr(*to), self.expr(*from));
                let size = self.module.int(Types::ULONG, *size);
                self.line(expr.loc);
                let operands = [to.0, from.0, size.0, memory::ALIGNED, *align as u32];
                self.push(op::COPY_MEMORY_SIZED, &operands);
                return None;
            }
            ExprKind::FieldAddr(base, field) => self.field_address(*base, *field, ty),
            ExprKind::ElementAddr(base, index) => {
                let (base, index) = (self.expr(*base), self.expr(*index));
                self.value(op::IN_BOUNDS_ACCESS_CHAIN, ty, &[base.0, index.0])
            }
            ExprKind::ComponentAddr(base, component) => {
                let base = self.expr(*base);
                let index = self.module.int(Types::UINT, u64::from(*component));
                self.value(op::IN_BOUNDS_ACCESS_CHAIN, ty, &[base.0, index.0])
            }
            ExprKind::PtrAdd(base, index) => {
                let (base, index) = (self.expr(*base), self.expr(*index));
                self.value(op::IN_BOUNDS_PTR_ACCESS_CHAIN, ty, &[base.0, index.0])
            }
            ExprKind::PtrDiff(left, right) => self.pointer_difference(*left, *right),
            ExprKind::Field(base, field) => self.field(*base, *field, ty),
            ExprKind::MakeRecord(_) => unreachable!("records are in memory"),
            ExprKind::MakeVector(parts) => {
                let parts: Vec<u32> = parts.iter().map(|&part| self.expr(part).0).collect();
                self.value(op::COMPOSITE_CONSTRUCT, ty, &parts)
            }
            ExprKind::Splat(scalar) => {
                let scalar = self.expr(*scalar);
                self.splat(scalar, ty)
            }
            ExprKind::Shuffle(left, right, lanes) => self.shuffle(*left, *right, lanes, ty),
            ExprKind::Extract(vector, index) => {
                let (vector, index) = (self.expr(*vector), self.expr(*index));
                self.value(op::VECTOR_EXTRACT_DYNAMIC, ty, &[vector.0, index.0])
            }
            ExprKind::Insert(vector, component, index) => {
                let (vector, component) = (self.expr(*vector), self.expr(*component));
                let index = self.expr(*index);
                self.value(
                    op::VECTOR_INSERT_DYNAMIC,
                    ty,
                    &[vector.0, component.0, index.0],
                )
            }
            ExprKind::Unary(unary, operand) => self.unary(*unary, *operand, ty),
            ExprKind::Binary(binary, left, right) => self.binary(*binary, *left, *right, id),
            ExprKind::Compare(comparison, left, right) => {
                self.compare(*comparison, *left, *right, ty)
            }
            ExprKind::Negate(operand) => {
                let operand = self.expr(*operand);
                self.value(op::LOGICAL_NOT, ty, &[operand.0])
            }
            &ExprKind::And(left, right) | &ExprKind::Or(left, right)
                if self.is_speculatable(right, MAX_CONDITION) =>
            {
                let opcode = match expr.kind {
                    ExprKind::And(..) => op::LOGICAL_AND,
                    _ => op::LOGICAL_OR,
                };
                let (left, right) = (self.expr(left), self.expr(right));
                self.value(opcode, ty, &[left.0, right.0])
            }
            ExprKind::And(..) | ExprKind::Or(..) => self.short_circuit(id),
            ExprKind::Conditional(condition, then, otherwise) => {
                return self.conditional(*condition, *then, *otherwise, ty);
            }
            ExprKind::Select(condition, then, otherwise) => {
                let condition = self.expr(*condition);
                let (then, otherwise) = (self.expr(*then), self.expr(*otherwise));
                self.value(op::SELECT, ty, &[condition.0, then.0, otherwise.0])
            }
            ExprKind::Convert(conversion, operand) => {
                self.convert(*conversion, *operand, ty, expr.loc)
            }
            ExprKind::Call(callee, args) => return self.call(*callee, None, args, id, None),
            ExprKind::Builtin(call, args) => {
                let args: Vec<(Id, TypeId)> = args
                    .iter()
                    .map(|&arg| (self.expr(arg), function[arg].ty))
                    .collect();
                self.reopen();
                self.line(expr.loc);
                return super::builtins::emit(self, call, &args, ty, expr.loc);
            }
            ExprKind::Block {
                function,
                record,
                captures,
            } => self.block_value(*function, *record, captures, ty),
            ExprKind::CallBlock {
                function,
                block,
                args,
            } => {
                let block = self.expr(*block);
                return self.call(*function, Some(block), args, id, None);
            }
        };
        Some(value)
    }

    /// An instruction of OpenCL.std.
    pub(super) fn std(&mut self, instruction: u16, ty: TypeId, operands: &[Id]) -> Id {
        let set = self.module.opencl_std();
        let ty = self.module.type_id(ty);
        let operands = operands.iter().map(|operand| operand.0);
        let all = [set.0, instruction.into()].into_iter().chain(operands);
        self.value_from(op::EXT_INST, ty, all)
    }

    /// The same scalar in every lane; the scalar itself of a type of one lane.
    pub(super) fn splat(&mut self, scalar: Id, ty: TypeId) -> Id {
        match self.lanes(ty) {
            1 => scalar,
            lanes => {
                let ty = self.module.type_id(ty);
                let operands = std::iter::repeat_n(scalar.0, lanes.into());
                self.value_from(op::COMPOSITE_CONSTRUCT, ty, operands)
            }
        }
    }

    /// Components of a vector; 1 for anything else.
    pub(super) fn lanes(&self, ty: TypeId) -> u8 {
        match *self.module.types.get(ty) {
            Type::Vector(_, lanes) | Type::Truth(lanes) => lanes,
            _ => 1,
        }
    }

    fn load(&mut self, pointer: ExprId, access: Access, ty: TypeId) -> Id {
        if let ExprKind::Local(local) = self.function[pointer].kind
            && let LocalPlace::Value(value) = self.locals[local.0 as usize]
        {
            return value;
        }
        let address = self.expr(pointer);
        self.line(self.function[pointer].loc);
        let [mask, align] = memory_operands(access);
        self.value(op::LOAD, ty, &[address.0, mask, align])
    }

    fn store(&mut self, pointer: ExprId, value: ExprId, access: Access) {
        if let ExprKind::Local(local) = self.function[pointer].kind
            && self.is_value(local)
        {
            let before = self.module.words.newest();
            let value = self.expr(value);
            if self.module.has_debug_info() {
                let local = &self.function.locals[local.0 as usize];
                self.module.name_value(value, before, local);
            }
            return self.initialise(local, value);
        }
        let address = self.expr(pointer);
        let ty = self.function[value].ty;
        if self.module.in_memory(ty) {
            return self.store_aggregate(address, value, ty, Some(access));
        }
        let value = self.expr(value);
        self.line(self.function[pointer].loc);
        let [mask, align] = memory_operands(access);
        self.push(op::STORE, &[address.0, value.0, mask, align]);
    }

    /// The initialiser of a variable that does not change. In a loop it is another value in each
    /// iteration, whose uses all come after it. Where there is a pointer already, the address was
    /// wanted first.
    fn initialise(&mut self, local: LocalId, value: Id) {
        match self.locals[local.0 as usize] {
            LocalPlace::Memory(pointer) => self.push(op::STORE, &[pointer.0, value.0]),
            _ => self.locals[local.0 as usize] = LocalPlace::Value(value),
        }
    }

    fn field_address(&mut self, base: ExprId, field: u32, ty: TypeId) -> Id {
        let record = self.pointee(self.function[base].ty);
        let space = self.space_of(self.function[base].ty);
        let base = self.expr(base);
        let ty = self.module.type_id(ty);
        self.member_address(base, (record, space), field, ty)
    }

    /// The address of a field, of the address of a record in some address space.
    pub(super) fn member_address(
        &mut self,
        base: Id,
        (record, space): (TypeId, Space),
        field: u32,
        ty: Id,
    ) -> Id {
        match self.module.member(record, field) {
            Member::Index(member) => {
                let member = self.module.int(Types::UINT, member.into());
                self.value_of(op::IN_BOUNDS_ACCESS_CHAIN, ty, &[base.0, member.0])
            }
            Member::Offset(0) => self.value_of(op::BITCAST, ty, &[base.0]),
            Member::Offset(offset) => {
                let bytes = self.module.pointer_to(Types::UCHAR, space);
                let start = self.value_of(op::BITCAST, bytes, &[base.0]);
                let offset = self.module.int(Types::ULONG, offset);
                let operands = [start.0, offset.0];
                let at = self.value_of(op::IN_BOUNDS_PTR_ACCESS_CHAIN, bytes, &operands);
                self.value_of(op::BITCAST, ty, &[at.0])
            }
        }
    }

    pub(super) fn space_of(&self, pointer: TypeId) -> Space {
        match *self.module.types.get(pointer) {
            Type::Pointer { space, .. } => space,
            // Blocks are generic pointers.
            _ => Space::Generic,
        }
    }

    pub(super) fn pointee(&self, pointer: TypeId) -> TypeId {
        match self.module.types.get(pointer) {
            Type::Pointer { pointee, .. } => pointee.ty,
            other => unreachable!("{other:?} is no pointer"),
        }
    }

    /// A field of a record's value.
    fn field(&mut self, base: ExprId, field: u32, ty: TypeId) -> Id {
        let pointer = self.field_of_value(base, field, ty);
        self.value(op::LOAD, ty, &[pointer.0])
    }

    fn pointer_difference(&mut self, left: ExprId, right: ExprId) -> Id {
        let pointee = self.pointee(self.function[left].ty);
        let size = self
            .module
            .types
            .layout(pointee)
            .map_or(1, |(size, _)| size);
        let (left, right) = (self.expr(left), self.expr(right));
        let left = self.value(op::CONVERT_PTR_TO_U, Types::LONG, &[left.0]);
        let right = self.value(op::CONVERT_PTR_TO_U, Types::LONG, &[right.0]);
        let bytes = self.value(op::I_SUB, Types::LONG, &[left.0, right.0]);
        if size <= 1 {
            return bytes;
        }
        let size = self.module.int(Types::LONG, size);
        self.value(op::S_DIV, Types::LONG, &[bytes.0, size.0])
    }

    fn shuffle(
        &mut self,
        left: ExprId,
        right: Option<ExprId>,
        lanes: &[Option<u8>],
        ty: TypeId,
    ) -> Id {
        let first = self.expr(left);
        let second = right.map_or(first, |right| self.expr(right));
        let width = self.lanes(self.function[left].ty);
        if let &[lane] = lanes {
            let Some(lane) = lane else {
                return self.undefined(ty);
            };
            let (vector, lane) = if lane < width {
                (first, lane)
            } else {
                (second, lane - width)
            };
            return self.value(op::COMPOSITE_EXTRACT, ty, &[vector.0, lane.into()]);
        }
        let ty = self.module.type_id(ty);
        let lanes = lanes.iter().map(|lane| lane.map_or(u32::MAX, u32::from));
        let operands = [first.0, second.0].into_iter().chain(lanes);
        self.value_from(op::VECTOR_SHUFFLE, ty, operands)
    }

    /// The component type of an arithmetic type.
    pub(super) fn scalar(&self, ty: TypeId) -> Scalar {
        let (scalar, _) = self
            .module
            .types
            .as_arithmetic(ty)
            .expect("an arithmetic type");
        scalar
    }

    fn unary(&mut self, unary: UnaryOp, operand: ExprId, ty: TypeId) -> Id {
        let operand = self.expr(operand);
        let is_float = self.scalar(ty).is_float();
        match unary {
            UnaryOp::Negate if is_float => self.value(op::F_NEGATE, ty, &[operand.0]),
            UnaryOp::Negate => self.value(op::S_NEGATE, ty, &[operand.0]),
            UnaryOp::BitNot => self.value(op::NOT, ty, &[operand.0]),
        }
    }

    fn binary(&mut self, binary: BinaryOp, left: ExprId, right: ExprId, id: ExprId) -> Id {
        let ty = self.function[id].ty;
        let scalar = self.scalar(ty);
        let (left, mut right) = (self.expr(left), self.expr(right));
        if matches!(binary, BinaryOp::Shl | BinaryOp::Shr) {
            // OpenCL C Specification, "Operators": only the low bits of the amount count.
            let bits = self.module.splat_int(ty, u64::from(scalar.bits() - 1));
            right = self.value(op::BITWISE_AND, ty, &[right.0, bits.0]);
        }
        let (signed, float) = (scalar.is_signed(), scalar.is_float());
        let opcode = match binary {
            BinaryOp::Add if float => op::F_ADD,
            BinaryOp::Add => op::I_ADD,
            BinaryOp::Sub if float => op::F_SUB,
            BinaryOp::Sub => op::I_SUB,
            BinaryOp::Mul if float => op::F_MUL,
            BinaryOp::Mul => op::I_MUL,
            BinaryOp::Div if float => op::F_DIV,
            BinaryOp::Div if signed => op::S_DIV,
            BinaryOp::Div => op::U_DIV,
            BinaryOp::Rem if float => op::F_REM,
            BinaryOp::Rem if signed => op::S_REM,
            BinaryOp::Rem => op::U_MOD,
            BinaryOp::Shl => op::SHIFT_LEFT_LOGICAL,
            BinaryOp::Shr if signed => op::SHIFT_RIGHT_ARITHMETIC,
            BinaryOp::Shr => op::SHIFT_RIGHT_LOGICAL,
            BinaryOp::And => op::BITWISE_AND,
            BinaryOp::Or => op::BITWISE_OR,
            BinaryOp::Xor => op::BITWISE_XOR,
        };
        let loc = self.function[id].loc;
        self.line(loc);
        let is_difference = opcode == op::F_SUB;
        if (opcode == op::F_ADD || is_difference)
            && let Some(sum) = self.contracted(is_difference, (left, right), ty, loc)
        {
            return sum;
        }
        let result = self.value(opcode, ty, &[left.0, right.0]);
        if opcode == op::F_MUL {
            self.note_product(result, [left, right], ty, loc);
        }
        let arithmetic = matches!(binary, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        if float {
            self.module.decorate_float(result, loc);
        } else if signed && arithmetic && scalar.bits() >= 32 {
            // C99 6.5: overflow of signed arithmetic is undefined.
            self.module.decorate_no_signed_wrap(result);
        }
        result
    }

    fn compare(&mut self, comparison: Comparison, left: ExprId, right: ExprId, ty: TypeId) -> Id {
        let operand = self.function[left].ty;
        let (mut left, mut right) = (self.expr(left), self.expr(right));
        let scalar = self.module.types.as_arithmetic(operand);
        let (signed, float) = match scalar {
            Some((scalar, _)) => (scalar.is_signed(), scalar.is_float()),
            None => (false, false),
        };
        let is_truth = matches!(self.module.types.get(operand), Type::Truth(_));
        if scalar.is_none() && !is_truth {
            // Pointers, and types that are handles.
            left = self.address_bits(left, operand);
            right = self.address_bits(right, operand);
        }
        let opcode = match comparison {
            Comparison::Eq if is_truth => op::LOGICAL_EQUAL,
            Comparison::Ne if is_truth => op::LOGICAL_NOT_EQUAL,
            Comparison::Eq if float => op::F_ORD_EQUAL,
            Comparison::Eq => op::I_EQUAL,
            Comparison::Ne if float => op::F_UNORD_NOT_EQUAL,
            Comparison::Ne => op::I_NOT_EQUAL,
            Comparison::Lt if float => op::F_ORD_LESS_THAN,
            Comparison::Lt if signed => op::S_LESS_THAN,
            Comparison::Lt => op::U_LESS_THAN,
            Comparison::Le if float => op::F_ORD_LESS_THAN_EQUAL,
            Comparison::Le if signed => op::S_LESS_THAN_EQUAL,
            Comparison::Le => op::U_LESS_THAN_EQUAL,
            Comparison::Gt if float => op::F_ORD_GREATER_THAN,
            Comparison::Gt if signed => op::S_GREATER_THAN,
            Comparison::Gt => op::U_GREATER_THAN,
            Comparison::Ge if float => op::F_ORD_GREATER_THAN_EQUAL,
            Comparison::Ge if signed => op::S_GREATER_THAN_EQUAL,
            Comparison::Ge => op::U_GREATER_THAN_EQUAL,
        };
        self.value(opcode, ty, &[left.0, right.0])
    }

    /// `&&` and `||` as values.
    fn short_circuit(&mut self, id: ExprId) -> Id {
        let (yes, no, after) = (
            self.module.words.id(),
            self.module.words.id(),
            self.module.words.id(),
        );
        self.condition(id, yes, no);
        self.begin(yes);
        self.branch(after);
        self.begin(no);
        self.branch(after);
        self.begin(after);
        let (truth, lie) = (self.module.truth(true), self.module.truth(false));
        self.value(op::PHI, Types::TRUTH, &[truth.0, yes.0, lie.0, no.0])
    }

    fn conditional(
        &mut self,
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
        ty: TypeId,
    ) -> Option<Id> {
        let selectable = self.module.types.as_arithmetic(ty).is_some();
        let mut sides = [then, otherwise].into_iter();
        if selectable && sides.all(|side| self.is_speculatable(side, MAX_CHOICE)) {
            let condition = self.expr(condition);
            let (then, otherwise) = (self.expr(then), self.expr(otherwise));
            return Some(self.value(op::SELECT, ty, &[condition.0, then.0, otherwise.0]));
        }
        let (yes, no, after) = (
            self.module.words.id(),
            self.module.words.id(),
            self.module.words.id(),
        );
        self.condition(condition, yes, no);
        let mut side = |label: Id, value: ExprId| {
            self.begin(label);
            let value = self.any(value);
            let from = self.block;
            self.branch(after);
            Some((value?, from?))
        };
        let (one, other) = (side(yes, then), side(no, otherwise));
        self.begin(after);
        match (one, other) {
            (Some((one, from)), Some((other, from_other))) if ty != Types::VOID => {
                Some(self.value(op::PHI, ty, &[one.0, from.0, other.0, from_other.0]))
            }
            _ => None,
        }
    }

    /// A call; what it yields, if it is no record, which goes to `place`.
    pub(super) fn call(
        &mut self,
        callee: FunctionId,
        block: Option<Id>,
        args: &[ExprId],
        id: ExprId,
        place: Option<Id>,
    ) -> Option<Id> {
        let mut operands = vec![self.module.function_id(callee).0];
        operands.extend(place.map(|place| place.0));
        operands.extend(block.map(|block| block.0));
        for &arg in args {
            operands.push(self.argument(arg).0);
        }
        let ty = match place {
            Some(_) => Types::VOID,
            None => self.function[id].ty,
        };
        self.line(self.function[id].loc);
        let value = self.value(op::FUNCTION_CALL, ty, &operands);
        (ty != Types::VOID).then_some(value)
    }

    /// Captures go into a variable, whose address is the block.
    fn block_value(
        &mut self,
        _function: FunctionId,
        record: TypeId,
        captures: &[ExprId],
        ty: TypeId,
    ) -> Id {
        let place = self.scratch_variable(record);
        for (field, &capture) in captures.iter().enumerate() {
            let value_ty = self.function[capture].ty;
            let pointer = self.module.pointer_to(value_ty, Space::Private);
            let at = (record, Space::Private);
            if self.module.in_memory(value_ty) {
                let pointer = self.member_address(place, at, field as u32, pointer);
                self.store_aggregate(pointer, capture, value_ty, None);
            } else {
                let value = self.expr(capture);
                let pointer = self.member_address(place, at, field as u32, pointer);
                self.push(op::STORE, &[pointer.0, value.0]);
            }
        }
        self.generic_bytes(place, ty)
    }

    /// A private pointer as a generic one to bytes.
    fn generic_bytes(&mut self, pointer: Id, ty: TypeId) -> Id {
        let bytes = self.module.pointer_to(Types::CHAR, Space::Private);
        let bytes = self.value_of(op::BITCAST, bytes, &[pointer.0]);
        self.value(op::PTR_CAST_TO_GENERIC, ty, &[bytes.0])
    }
}

/// `OpLoad`'s and `OpStore`'s operands for how memory is accessed.
pub(super) fn memory_operands(access: Access) -> [u32; 2] {
    let mut mask = memory::ALIGNED;
    if access.is_volatile {
        mask |= memory::VOLATILE;
    }
    if access.nontemporal {
        mask |= memory::NONTEMPORAL;
    }
    [mask, access.align as u32]
}
