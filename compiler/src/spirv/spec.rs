//! Specialization constants: listing them, and `OpSpecConstantOp` evaluated.

use std::collections::HashMap;

use rspirv::spirv::{Decoration, Op};
use smallvec::SmallVec;

use super::constants::{Const, sign_extend};
use super::decode::{Binary, CONSTANT_DATA, Id, Inst, Result};
use super::module::Unit;
use super::types::Kind;
use crate::ir::{ConvertOp, Rounding, Scalar, Type, eval};
use crate::options::SpecConstantInfo;

/// Lists the specialization constants that a module declares, in order, without checking anything
/// else.
///
/// # Errors
/// When the words are not SPIR-V instructions.
pub fn spec_constants(words: &[u32]) -> Result<Vec<SpecConstantInfo>> {
    let binary = Binary::decode(&[words])?;
    let mut spec_ids: HashMap<Id, u32> = HashMap::new();
    let mut sizes: HashMap<Id, usize> = HashMap::new();
    let mut numbers: HashMap<Id, u64> = HashMap::new();
    let mut found: Vec<SpecConstantInfo> = Vec::new();
    for inst in binary.insts() {
        let size = match inst.op() {
            Op::Decorate if inst.operands[1] == Decoration::SpecId as u32 => {
                let Some(&spec_id) = inst.operands.get(2) else {
                    return Err(binary.error(&inst, "wrong word count: SpecId takes a number"));
                };
                spec_ids.insert(inst.operands[0], spec_id);
                continue;
            }
            Op::TypeInt | Op::TypeFloat => {
                if let Some(result) = inst.result {
                    sizes.insert(result, inst.operands[0].div_ceil(8) as usize);
                }
                continue;
            }
            Op::SpecConstantTrue | Op::SpecConstantFalse => 1,
            Op::Constant if !inst.is(CONSTANT_DATA) => {
                if let Some(result) = inst.result {
                    numbers.insert(result, u64::from(inst.operands[0]));
                }
                continue;
            }
            Op::TypeArray => {
                let of = |map: &HashMap<Id, usize>, id| map.get(&id).copied().unwrap_or(0);
                let length = numbers.get(&inst.operands[1]).copied().unwrap_or(0);
                if let (Some(result), Ok(length)) = (inst.result, usize::try_from(length)) {
                    let size = of(&sizes, inst.operands[0]).saturating_mul(length);
                    sizes.insert(result, size);
                }
                continue;
            }
            Op::SpecConstant => inst.ty.and_then(|ty| sizes.get(&ty).copied()).unwrap_or(0),
            _ => continue,
        };
        if let Some(&spec_id) = inst.result.and_then(|id| spec_ids.get(&id))
            && size != 0
            && !found.iter().any(|info| info.spec_id == spec_id)
        {
            found.push(SpecConstantInfo { spec_id, size });
        }
    }
    Ok(found)
}

fn to_float(bits: u64, scalar: Scalar) -> f64 {
    eval::to_f64(scalar, bits)
}

fn from_float(value: f64, scalar: Scalar) -> u64 {
    eval::from_f64(scalar, value)
}

/// One lane of an operation whose operands have the type of the first; `None` when the operation or
/// its types are not covered. Results are not yet cut to `result`'s width.
fn fold_lane(op: Op, operand: Scalar, result: Scalar, args: &[u64]) -> Option<u64> {
    let a = *args.first()?;
    let b = args.get(1).copied().unwrap_or(0);
    let (sa, sb) = (sign_extend(a, operand), sign_extend(b, operand));
    let (fa, fb) = (to_float(a, operand), to_float(b, operand));
    let int = operand.is_int();
    let float = operand.is_float();
    let truth = operand == Scalar::I1;
    let amount = (b % u64::from(operand.bits())) as u32;
    Some(match op {
        Op::SConvert if int => sa as u64,
        Op::UConvert if int => a,
        Op::FConvert if float && result.is_float() => from_float(fa, result),
        Op::QuantizeToF16 if operand == Scalar::F32 => {
            from_float(to_float(from_float(fa, Scalar::F16), Scalar::F16), result)
        }
        // Out of range is undefined; clamped here as everywhere.
        Op::ConvertFToS if float && result.is_int() => {
            let half = (result.mask() >> 1) as i64;
            (fa as i64).clamp(-half - 1, half) as u64
        }
        Op::ConvertFToU if float && result.is_int() => (fa as u64).min(result.mask()),
        Op::ConvertSToF if int && result.is_float() => {
            eval::convert(ConvertOp::SToF, Rounding::NearestEven, operand, result, a)
        }
        Op::ConvertUToF if int && result.is_float() => {
            eval::convert(ConvertOp::UToF, Rounding::NearestEven, operand, result, a)
        }
        Op::SNegate if int => sa.wrapping_neg() as u64,
        Op::Not if int => !a,
        Op::IAdd if int => a.wrapping_add(b),
        Op::ISub if int => a.wrapping_sub(b),
        Op::IMul if int => a.wrapping_mul(b),
        // Division by zero is undefined; it folds to what the generated code would give.
        Op::UDiv if int => a.checked_div(b).unwrap_or(a),
        Op::UMod if int => a.checked_rem(b).unwrap_or(0),
        Op::SDiv if int && b == 0 => a,
        Op::SDiv if int => sa.wrapping_div(sb) as u64,
        Op::SRem | Op::SMod if int && b == 0 => 0,
        Op::SRem if int => sa.wrapping_rem(sb) as u64,
        Op::SMod if int => {
            let rem = sa.wrapping_rem(sb);
            let fix = rem != 0 && (rem < 0) != (sb < 0);
            (if fix { rem.wrapping_add(sb) } else { rem }) as u64
        }
        Op::ShiftRightLogical if int => a >> amount,
        Op::ShiftRightArithmetic if int => (sa >> amount) as u64,
        Op::ShiftLeftLogical if int => a << amount,
        Op::BitwiseOr if int => a | b,
        Op::BitwiseXor if int => a ^ b,
        Op::BitwiseAnd if int => a & b,
        Op::FNegate if float => a ^ (operand.mask() ^ (operand.mask() >> 1)),
        Op::FAdd if float => from_float(fa + fb, result),
        Op::FSub if float => from_float(fa - fb, result),
        Op::FMul if float => from_float(fa * fb, result),
        Op::FDiv if float => from_float(fa / fb, result),
        Op::FRem if float => from_float(fa % fb, result),
        Op::FMod if float => {
            let rem = fa % fb;
            let fix = rem != 0.0 && (rem < 0.0) != (fb < 0.0);
            from_float(if fix { rem + fb } else { rem }, result)
        }
        Op::LogicalOr if truth => a | b,
        Op::LogicalAnd if truth => a & b,
        Op::LogicalNot if truth => a ^ 1,
        Op::LogicalEqual if truth => u64::from(a == b),
        Op::LogicalNotEqual if truth => u64::from(a != b),
        Op::IEqual if int => u64::from(a == b),
        Op::INotEqual if int => u64::from(a != b),
        Op::ULessThan if int => u64::from(a < b),
        Op::UGreaterThan if int => u64::from(a > b),
        Op::ULessThanEqual if int => u64::from(a <= b),
        Op::UGreaterThanEqual if int => u64::from(a >= b),
        Op::SLessThan if int => u64::from(sa < sb),
        Op::SGreaterThan if int => u64::from(sa > sb),
        Op::SLessThanEqual if int => u64::from(sa <= sb),
        Op::SGreaterThanEqual if int => u64::from(sa >= sb),
        _ => return None,
    })
}

/// Whether operands and result must have the same scalar.
fn keeps_type(op: Op) -> bool {
    matches!(
        op,
        Op::SNegate
            | Op::Not
            | Op::IAdd
            | Op::ISub
            | Op::IMul
            | Op::UDiv
            | Op::SDiv
            | Op::UMod
            | Op::SRem
            | Op::SMod
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::ShiftLeftLogical
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::BitwiseAnd
            | Op::FNegate
            | Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FRem
            | Op::FMod
            | Op::LogicalOr
            | Op::LogicalAnd
            | Op::LogicalNot
    )
}

impl Unit<'_> {
    /// Evaluates an `OpSpecConstantOp`.
    pub(super) fn fold(&self, inst: &Inst<'_>) -> Result<Const> {
        let op = Op::from_u32(inst.operands[0])
            .ok_or_else(|| self.error(inst, "unknown operation on constants"))?;
        let args = &inst.operands[1..];
        let ty = self.result_type(inst)?;
        match op {
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain => {
                let (ty, _) = self.constant(inst, args[0])?;
                let Kind::Pointer {
                    pointee: Some(pointee),
                    ..
                } = self.type_of_id(inst, *ty)?.kind
                else {
                    return Err(self.error(inst, "the base is not a pointer to a type"));
                };
                let element = matches!(op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
                self.fold_access_chain(inst, pointee, args[0], &args[1..], element)
            }
            Op::UntypedAccessChainKHR
            | Op::UntypedInBoundsAccessChainKHR
            | Op::UntypedPtrAccessChainKHR
            | Op::UntypedInBoundsPtrAccessChainKHR => {
                let element = matches!(
                    op,
                    Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR
                );
                self.fold_access_chain(inst, args[0], args[1], &args[2..], element)
            }
            Op::CompositeExtract => {
                let (mut of, mut value) = self.constant(inst, args[0])?.clone();
                let (last, path) = match args[1..].split_last() {
                    Some((&last, path)) => (Some(last), path),
                    None => (None, &[][..]),
                };
                for &index in path {
                    (of, value) = self.fold_extract(inst, of, &value, index)?;
                }
                if let (Some(lane), Kind::Value(vector)) = (last, &self.type_of_id(inst, of)?.kind)
                {
                    return self.fold_extract_lane(inst, *vector, &value, lane, ty);
                }
                if let Some(index) = last {
                    (of, value) = self.fold_extract(inst, of, &value, index)?;
                }
                if self.same_type(of, ty) {
                    Ok(value)
                } else {
                    Err(self.error(inst, "the part's type is not the result type"))
                }
            }
            Op::CompositeInsert => {
                let object = self.constant(inst, args[0])?.clone();
                let (of, composite) = self.constant(inst, args[1])?.clone();
                if !self.same_type(of, ty) {
                    return Err(self.error(inst, "the composite's type is not the result type"));
                }
                self.fold_insert(inst, of, &composite, &object, &args[2..])
            }
            Op::VectorShuffle => self.fold_shuffle(inst, ty, args),
            Op::Select => self.fold_select(inst, ty, args),
            Op::Bitcast
            | Op::PtrCastToGeneric
            | Op::GenericCastToPtr
            | Op::ConvertPtrToU
            | Op::ConvertUToPtr
            | Op::CopyLogical
            | Op::CopyObject => self.fold_cast(inst, op, ty, args),
            _ => self.fold_lanes(inst, op, ty, args),
        }
    }

    fn not_foldable(&self, inst: &Inst<'_>, op: Op) -> crate::diagnostic::Diagnostic {
        self.error(
            inst,
            format!("Op{op:?} of constants of these types is not supported"),
        )
    }

    fn fold_lanes(&self, inst: &Inst<'_>, op: Op, ty: Id, args: &[Id]) -> Result<Const> {
        let Some(result) = self.type_of_id(inst, ty)?.ir() else {
            return Err(self.not_foldable(inst, op));
        };
        // An address plus or minus a number stays an address.
        if let (Op::IAdd | Op::ISub, [a, b]) = (op, args)
            && let (_, Const::Address { variable, addend }) = self.constant(inst, *a)?
            && let Some(b) = self.signed_constant(*b)
        {
            let addend = match op {
                Op::IAdd => addend.wrapping_add(b),
                _ => addend.wrapping_sub(b),
            };
            return Ok(Const::Address {
                variable: *variable,
                addend,
            });
        }
        let mut operands: SmallVec<[(Type, SmallVec<[u64; 2]>); 2]> = SmallVec::new();
        for &arg in args {
            let (ty, value) = self.constant(inst, arg)?;
            let of = self.type_of_id(inst, *ty)?.ir();
            let of = of.ok_or_else(|| self.not_foldable(inst, op))?;
            let lanes = self.lanes(inst, of, value)?;
            operands.push((of, lanes));
        }
        let shift = matches!(
            op,
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic
        );
        let Some(operand) = operands.first().map(|o| o.0) else {
            return Err(self.not_foldable(inst, op));
        };
        let consistent = operands
            .iter()
            .all(|o| o.0.lanes == result.lanes && (shift || o.0.scalar == operand.scalar))
            && (!keeps_type(op) || operand.scalar == result.scalar)
            && args.len() <= 2;
        if !consistent {
            return Err(self.not_foldable(inst, op));
        }
        (0..usize::from(result.lanes))
            .map(|lane| {
                let args: SmallVec<[u64; 2]> = operands.iter().map(|o| o.1[lane]).collect();
                fold_lane(op, operand.scalar, result.scalar, &args)
                    .map(|bits| bits & result.scalar.mask())
            })
            .collect::<Option<_>>()
            .map(Const::Lanes)
            .ok_or_else(|| self.not_foldable(inst, op))
    }

    fn fold_select(&self, inst: &Inst<'_>, ty: Id, args: &[Id]) -> Result<Const> {
        let (cond_ty, cond) = self.constant(inst, args[0])?;
        let of_cond = self.type_of_id(inst, *cond_ty)?.ir();
        let of_cond = of_cond
            .filter(|t| t.scalar == Scalar::I1)
            .ok_or_else(|| self.error(inst, "the condition is not Boolean"))?;
        let cond = self.lanes(inst, of_cond, cond)?;
        let (a_ty, a) = self.constant(inst, args[1])?;
        let (b_ty, b) = self.constant(inst, args[2])?;
        if !self.same_type(*a_ty, ty) || !self.same_type(*b_ty, ty) {
            return Err(self.error(inst, "the objects' type is not the result type"));
        }
        if cond.len() == 1 {
            return Ok(if cond[0] != 0 { a.clone() } else { b.clone() });
        }
        let of = self.type_of_id(inst, ty)?.ir();
        let of = of
            .filter(|t| usize::from(t.lanes) == cond.len())
            .ok_or_else(|| self.not_foldable(inst, Op::Select))?;
        let (a, b) = (self.lanes(inst, of, a)?, self.lanes(inst, of, b)?);
        Ok(Const::Lanes(
            (0..cond.len())
                .map(|i| if cond[i] != 0 { a[i] } else { b[i] })
                .collect(),
        ))
    }

    fn fold_cast(&self, inst: &Inst<'_>, op: Op, ty: Id, args: &[Id]) -> Result<Const> {
        let (from, value) = self.constant(inst, args[0])?;
        let (from_info, to_info) = (self.type_of_id(inst, *from)?, self.type_of_id(inst, ty)?);
        if matches!(op, Op::CopyObject | Op::CopyLogical) {
            return if self.same_type(*from, ty) {
                Ok(value.clone())
            } else {
                Err(self.error(inst, "the operand's type is not the result type"))
            };
        }
        let (Some(from), Some(to)) = (from_info.ir(), to_info.ir()) else {
            return Err(self.not_foldable(inst, op));
        };
        match value {
            Const::Null => return Ok(Const::Null),
            Const::Address { .. } if to == Type::PTR || to == Type::I64 => {
                return Ok(value.clone());
            }
            _ => {}
        }
        let lanes = self.lanes(inst, from, value)?;
        if matches!(op, Op::ConvertPtrToU | Op::ConvertUToPtr) {
            return Ok(Const::Lanes(
                lanes.iter().map(|lane| lane & to.scalar.mask()).collect(),
            ))
            .and_then(|value| self.expect_lanes(inst, ty, value));
        }
        if from.bytes() != to.bytes() || from.scalar == Scalar::I1 || to.scalar == Scalar::I1 {
            return Err(self.error(inst, "a bit cast between types of different sizes"));
        }
        let bytes: Vec<u8> = lanes
            .iter()
            .flat_map(|lane| lane.to_le_bytes()[..from.scalar.bytes() as usize].to_vec())
            .collect();
        Ok(Const::Lanes(
            bytes
                .chunks(to.scalar.bytes() as usize)
                .map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_le_bytes(word)
                })
                .collect(),
        ))
    }

    /// `value` if it has as many lanes as the type.
    fn expect_lanes(&self, inst: &Inst<'_>, ty: Id, value: Const) -> Result<Const> {
        match (&value, self.type_of_id(inst, ty)?.ir()) {
            (Const::Lanes(lanes), Some(ty)) if lanes.len() == usize::from(ty.lanes) => Ok(
                Const::Lanes(lanes.iter().map(|l| l & ty.scalar.mask()).collect()),
            ),
            _ => Err(self.error(inst, "the operand's type is not the result type")),
        }
    }

    fn fold_extract(
        &self,
        inst: &Inst<'_>,
        of: Id,
        value: &Const,
        index: u32,
    ) -> Result<(Id, Const)> {
        let (part, _, _) = self.step_into(inst, of, u64::from(index))?;
        Ok((part, self.part(inst, value, index as usize)?))
    }

    /// A component of a vector constant; `ty` is the result's type.
    fn fold_extract_lane(
        &self,
        inst: &Inst<'_>,
        vector: Type,
        value: &Const,
        index: u32,
        ty: Id,
    ) -> Result<Const> {
        let lanes = self.lanes(inst, vector, value)?;
        match lanes.get(index as usize) {
            Some(&lane) if !vector.is_scalar() => {
                if self.type_of_id(inst, ty)?.ir() != Some(vector.lane()) {
                    return Err(self.error(inst, "the component's type is not the result type"));
                }
                Ok(Const::Lanes(SmallVec::from_slice(&[lane])))
            }
            _ => Err(self.index_error(inst, u64::from(index), lanes.len() as u64)),
        }
    }

    fn fold_insert(
        &self,
        inst: &Inst<'_>,
        of: Id,
        value: &Const,
        object: &(Id, Const),
        path: &[u32],
    ) -> Result<Const> {
        let Some((&index, rest)) = path.split_first() else {
            return if self.same_type(object.0, of) {
                Ok(object.1.clone())
            } else {
                Err(self.error(
                    inst,
                    "the object has another type than the part it replaces",
                ))
            };
        };
        let info = self.type_of_id(inst, of)?;
        if let Kind::Value(ty) = info.kind {
            let mut lanes = self.lanes(inst, ty, value)?;
            let object = self.lanes(inst, ty.lane(), &object.1)?;
            return match (lanes.get_mut(index as usize), rest, object.as_slice()) {
                (Some(lane), [], [bits]) => {
                    *lane = bits & ty.scalar.mask();
                    Ok(Const::Lanes(lanes))
                }
                _ => Err(self.index_error(inst, u64::from(index), u64::from(ty.lanes))),
            };
        }
        let count = match &info.kind {
            Kind::Array { length, .. } if *length <= u64::from(super::types::MAX_LEAVES) => {
                *length as usize
            }
            Kind::Struct { members, .. } => members.len(),
            _ => return Err(self.not_foldable(inst, Op::CompositeInsert)),
        };
        let (part, _, _) = self.step_into(inst, of, u64::from(index))?;
        let parts: Result<Vec<Const>> = (0..count)
            .map(|i| {
                let old = self.part(inst, value, i)?;
                if i == index as usize {
                    self.fold_insert(inst, part, &old, object, rest)
                } else {
                    Ok(old)
                }
            })
            .collect();
        Ok(Const::Composite(parts?.into()))
    }

    fn fold_shuffle(&self, inst: &Inst<'_>, ty: Id, args: &[u32]) -> Result<Const> {
        let mut lanes: Vec<u64> = Vec::new();
        for &arg in &args[..2] {
            let (of, value) = self.constant(inst, arg)?;
            match self.type_of_id(inst, *of)?.kind {
                Kind::Value(ty) => lanes.extend(self.lanes(inst, ty, value)?),
                _ => return Err(self.not_foldable(inst, Op::VectorShuffle)),
            }
        }
        let picked: Option<SmallVec<[u64; 2]>> = args[2..]
            .iter()
            .map(|&component| match component {
                u32::MAX => Some(0),
                component => lanes.get(component as usize).copied(),
            })
            .collect();
        match picked {
            Some(picked) => self.expect_lanes(inst, ty, Const::Lanes(picked)),
            None => Err(self.error(inst, "a component is outside both vectors")),
        }
    }

    /// The address of a part of a module-scope variable.
    fn fold_access_chain(
        &self,
        inst: &Inst<'_>,
        mut of: Id,
        base: Id,
        mut indices: &[Id],
        has_element: bool,
    ) -> Result<Const> {
        let (ty, base) = self.constant(inst, base)?;
        if !matches!(self.type_of_id(inst, *ty)?.kind, Kind::Pointer { .. }) {
            return Err(self.error(inst, "the base is not a pointer"));
        }
        let (variable, mut addend) = match base {
            Const::Address { variable, addend } => (Some(*variable), *addend),
            Const::Null => (None, 0),
            Const::Lanes(bits) => (None, bits[0] as i64),
            Const::Composite(_) => return Err(self.error(inst, "the base is not an address")),
        };
        let wrong = |id: Id| {
            self.error(
                inst,
                format!("the index {} is not an integer", self.binary.describe(id)),
            )
        };
        if has_element {
            let (&element, rest) = indices
                .split_first()
                .ok_or_else(|| self.error(inst, "the element index is missing"))?;
            let index = self
                .signed_constant(element)
                .ok_or_else(|| wrong(element))?;
            let size = self.type_of_id(inst, of)?.size;
            addend = addend.wrapping_add(index.wrapping_mul(size as i64));
            indices = rest;
        }
        let mut lane_of: Option<Type> = None;
        for &id in indices {
            let index = self.signed_constant(id).ok_or_else(|| wrong(id))?;
            let info = self.type_of_id(inst, of)?;
            match &info.kind {
                Kind::Array {
                    element, stride, ..
                } => {
                    addend = addend.wrapping_add(index.wrapping_mul(*stride as i64));
                    of = *element;
                }
                Kind::Struct { .. } => {
                    let (member, offset, _) = self.step_into(inst, of, index as u64)?;
                    addend = addend.wrapping_add(offset as i64);
                    of = member;
                }
                Kind::Value(ty) if !ty.is_scalar() && lane_of.is_none() => {
                    let lane = index.wrapping_mul(i64::from(ty.scalar.bytes()));
                    addend = addend.wrapping_add(lane);
                    lane_of = Some(*ty);
                }
                _ => {
                    return Err(self.error(inst, "an index steps into something that has no parts"));
                }
            }
        }
        Ok(match variable {
            Some(variable) => Const::Address { variable, addend },
            None => Const::Lanes(SmallVec::from_slice(&[addend as u64])),
        })
    }
}
