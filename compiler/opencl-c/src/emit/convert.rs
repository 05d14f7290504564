//! Conversions to instructions.

use super::function::FunctionEmitter;
use super::words::Id;
use crate::hir::{Conversion, ExprId};
use crate::spirv::{op, std};
use crate::token::{Loc, RoundingMode};
use crate::types::{Scalar, Space, Type, TypeId, Types};

impl FunctionEmitter<'_, '_> {
    pub(super) fn convert(
        &mut self,
        conversion: Conversion,
        operand: ExprId,
        ty: TypeId,
        loc: Loc,
    ) -> Id {
        let from = self.function[operand].ty;
        let value = self.expr(operand);
        match conversion {
            Conversion::Arithmetic { rounding, saturate } => {
                let rounding = rounding.or(self.rounding_to(ty, loc));
                self.convert_arithmetic(value, from, ty, rounding, saturate)
            }
            Conversion::FromTruth => self.truth_as(value, ty),
            Conversion::ToTruth => self.truth_of(value, from),
            Conversion::Bits => self.bits(value, from, ty),
            Conversion::Pointer => self.bitcast(value, from, ty),
            Conversion::Space => self.address_space_cast(value, from, ty),
            Conversion::PointerToInt => {
                let wide = self.value(op::CONVERT_PTR_TO_U, Types::ULONG, &[value.0]);
                self.convert_arithmetic(wide, Types::ULONG, ty, None, false)
            }
            Conversion::IntToPointer => {
                let wide = self.convert_arithmetic(value, from, Types::ULONG, None, false);
                self.value(op::CONVERT_U_TO_PTR, ty, &[wide.0])
            }
            // A null event or queue; constants of samplers are constants.
            Conversion::Opaque => self.module.null(ty),
        }
    }

    /// How a conversion to this type rounds that does not say, if a pragma does. OpenCL C
    /// Specification, "Select Floating-Point Rounding Mode": "Conversions from floating-point to
    /// integer type always use rtz mode".
    pub(super) fn rounding_to(&self, ty: TypeId, loc: Loc) -> Option<RoundingMode> {
        let rounding = self.module.roundings.at(loc)?;
        self.scalar(ty).is_float().then_some(rounding)
    }

    /// The same bits, unless SPIR-V has one type for both.
    pub(super) fn bitcast(&mut self, value: Id, from: TypeId, ty: TypeId) -> Id {
        if self.module.type_id(from) == self.module.type_id(ty) {
            value
        } else {
            self.value(op::BITCAST, ty, &[value.0])
        }
    }

    pub(super) fn convert_arithmetic(
        &mut self,
        value: Id,
        from: TypeId,
        to: TypeId,
        rounding: Option<RoundingMode>,
        saturate: bool,
    ) -> Id {
        let (source, target) = (self.scalar(from), self.scalar(to));
        if target == Scalar::Bool {
            let truth = self.truth_of(value, from);
            return self.truth_as(truth, to);
        }
        if source == target || (!saturate && same_integer(source, target)) {
            return value;
        }
        let (signed, unsigned) = (source.is_signed(), !target.is_signed());
        let opcode = match (source.is_float(), target.is_float()) {
            (true, true) => op::F_CONVERT,
            (true, false) if unsigned => op::CONVERT_F_TO_U,
            (true, false) => op::CONVERT_F_TO_S,
            (false, true) if signed => op::CONVERT_S_TO_F,
            (false, true) => op::CONVERT_U_TO_F,
            (false, false) => return self.convert_integer(value, from, to, saturate),
        };
        let result = self.value(opcode, to, &[value.0]);
        if saturate && source.is_float() && !target.is_float() {
            self.module.decorate_saturated(result);
        }
        // What is not said is the default: towards zero to integers, to nearest otherwise.
        if let Some(mode) = rounding {
            self.module.decorate_rounding(result, mode);
        }
        result
    }

    fn convert_integer(&mut self, value: Id, from: TypeId, to: TypeId, saturate: bool) -> Id {
        let (source, target) = (self.scalar(from), self.scalar(to));
        if !saturate {
            let opcode = if source.is_signed() {
                op::S_CONVERT
            } else {
                op::U_CONVERT
            };
            return self.value(opcode, to, &[value.0]);
        }
        if source.is_signed() == target.is_signed() {
            if source.bits() <= target.bits() {
                return self.convert_integer_exactly(value, from, to);
            }
            return self.clamp_and_narrow(value, from, to);
        }
        let opcode = if source.is_signed() {
            op::SAT_CONVERT_S_TO_U
        } else {
            op::SAT_CONVERT_U_TO_S
        };
        self.value(opcode, to, &[value.0])
    }

    /// Every value of the one type is one of the other.
    fn convert_integer_exactly(&mut self, value: Id, from: TypeId, to: TypeId) -> Id {
        if self.scalar(from).bits() == self.scalar(to).bits() {
            value
        } else {
            self.convert_integer(value, from, to, false)
        }
    }

    /// To a narrower type of the same sign. SPIR-V's saturating conversions change the sign, so the
    /// value is clamped first.
    fn clamp_and_narrow(&mut self, value: Id, from: TypeId, to: TypeId) -> Id {
        let target = self.scalar(to);
        let (low, high, clamp) = if target.is_signed() {
            let high = (1u64 << (target.bits() - 1)) - 1;
            (!high, high, std::s_clamp)
        } else {
            (0, (1u64 << target.bits()) - 1, std::u_clamp)
        };
        let low = self.module.splat_int(from, low);
        let high = self.module.splat_int(from, high);
        let clamped = self.std(clamp, from, &[value, low, high]);
        self.convert_integer(clamped, from, to, false)
    }

    /// 1 for a true scalar, -1 for each true lane of a vector.
    pub(super) fn truth_as(&mut self, value: Id, ty: TypeId) -> Id {
        let is_vector = self.lanes(ty) > 1;
        let truth = if is_vector { u64::MAX } else { 1 };
        let one = if self.scalar(ty).is_float() {
            self.module.one(ty)
        } else {
            self.module.splat_int(ty, truth)
        };
        let zero = self.module.null(ty);
        self.value(op::SELECT, ty, &[value.0, one.0, zero.0])
    }

    /// Not zero, or not null, lane by lane.
    pub(super) fn truth_of(&mut self, value: Id, from: TypeId) -> Id {
        let lanes = self.lanes(from);
        let truth = self.module.truth_type(lanes);
        let (value, from) = match self.module.types.as_arithmetic(from) {
            Some(_) => (value, from),
            None if matches!(self.module.types.get(from), Type::Truth(_)) => return value,
            None => (self.address_bits(value, from), Types::ULONG),
        };
        let zero = self.module.null(from);
        let opcode = if self.scalar(from).is_float() {
            op::F_UNORD_NOT_EQUAL
        } else {
            op::I_NOT_EQUAL
        };
        self.value_of(opcode, truth, &[value.0, zero.0])
    }

    /// `as_type`. OpenCL C Specification, "Reinterpreting Types Using as_type() and as_typen()": a
    /// vector of three components is one of four whose last is undefined.
    pub(super) fn bits(&mut self, value: Id, from: TypeId, to: TypeId) -> Id {
        if self.is_handle(from) || self.is_handle(to) {
            return self.through_memory(value, from, to);
        }
        let (source_lanes, target_lanes) = (self.lanes(from), self.lanes(to));
        if source_lanes == target_lanes {
            return self.bitcast(value, from, to);
        }
        if source_lanes == 3 {
            let four = self.module.vector_type(self.scalar(from), 4);
            let wide = self.value_of(
                op::VECTOR_SHUFFLE,
                four,
                &[value.0, value.0, 0, 1, 2, u32::MAX],
            );
            let to_id = self.module.type_id(to);
            if to_id == four {
                return wide;
            }
            return self.value(op::BITCAST, to, &[wide.0]);
        }
        if target_lanes == 3 {
            let four = self.module.vector_type(self.scalar(to), 4);
            let wide = if self.module.type_id(from) == four {
                value
            } else {
                self.value_of(op::BITCAST, four, &[value.0])
            };
            return self.value(op::VECTOR_SHUFFLE, to, &[wide.0, wide.0, 0, 1, 2]);
        }
        self.bitcast(value, from, to)
    }

    /// The bits of a pointer or a handle.
    pub(super) fn address_bits(&mut self, value: Id, ty: TypeId) -> Id {
        if self.is_handle(ty) {
            self.through_memory(value, ty, Types::ULONG)
        } else {
            self.value(op::CONVERT_PTR_TO_U, Types::ULONG, &[value.0])
        }
    }

    /// Whether values are of an opaque type of SPIR-V that has the size of an address.
    fn is_handle(&self, ty: TypeId) -> bool {
        matches!(
            self.module.types.get(ty),
            Type::Event | Type::ClkEvent | Type::Queue | Type::ReserveId
        )
    }

    /// The bits of a value as another type where no instruction of SPIR-V converts them.
    fn through_memory(&mut self, value: Id, from: TypeId, to: TypeId) -> Id {
        let variable = self.scratch_variable(from);
        self.push(op::STORE, &[variable.0, value.0]);
        let pointer = self.module.pointer_to(to, Space::Private);
        let cast = self.value_of(op::BITCAST, pointer, &[variable.0]);
        self.value(op::LOAD, to, &[cast.0])
    }

    /// Between address spaces: SPIR-V casts to and from generic keep what is pointed to.
    pub(super) fn address_space_cast(&mut self, value: Id, from: TypeId, to: TypeId) -> Id {
        let (source, target) = (self.space_of(from), self.space_of(to));
        if source == target {
            return self.bitcast(value, from, to);
        }
        let pointee = self.pointee(from);
        let between = self.module.pointer_to(pointee, target);
        let opcode = match (source, target) {
            (_, Space::Generic) => op::PTR_CAST_TO_GENERIC,
            (Space::Generic, _) => op::GENERIC_CAST_TO_PTR,
            // An explicit cast between named spaces: by way of the address.
            _ => {
                let address = self.value(op::CONVERT_PTR_TO_U, Types::ULONG, &[value.0]);
                return self.value(op::CONVERT_U_TO_PTR, to, &[address.0]);
            }
        };
        let cast = self.value_of(opcode, between, &[value.0]);
        if self.module.type_id(to) == between {
            cast
        } else {
            self.value(op::BITCAST, to, &[cast.0])
        }
    }
}

/// Whether integers of both types have the same bits; SPIR-V's integer types have no sign.
fn same_integer(one: Scalar, other: Scalar) -> bool {
    !one.is_float() && !other.is_float() && one.bits() == other.bits()
}
