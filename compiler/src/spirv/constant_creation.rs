//! From constant-creation instructions to constants: every rule on them, what parts they have, and
//! the bytes that they are in memory.

use rspirv::spirv::{Decoration, Op, SamplerAddressingMode};
use smallvec::{SmallVec, smallvec};

use super::constants::{Const, Image, sign_extend};
use super::decode::{CONSTANT_DATA, Id, Inst, Result, SPEC_CONSTANT_DATA};
use super::module::Unit;
use super::rules::{Rule, UNIVERSAL};
use super::types::Kind;
use crate::image::{Addressing, Sampler};
use crate::ir::{Scalar, Type};

impl Unit<'_> {
    /// Handles `OpConstant...`, `OpSpecConstant...` and `OpUndef`.
    pub(super) fn define_constant(&mut self, inst: &Inst<'_>) -> Result<()> {
        let ty = self.result_type(inst)?;
        let result = self.result(inst)?;
        let info = self.type_of_id(inst, ty)?;
        let ir = info.ir();
        let value = match inst.op() {
            Op::ConstantTrue | Op::ConstantFalse | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                if !matches!(info.kind, Kind::Value(Type::I1)) {
                    return Err(self.error(inst, "the result type is not Boolean"));
                }
                let written = matches!(inst.op(), Op::ConstantTrue | Op::SpecConstantTrue);
                let bits = match inst.op() {
                    Op::SpecConstantTrue | Op::SpecConstantFalse => self.specialized(inst, 1)?,
                    _ => None,
                };
                Const::Lanes(smallvec![
                    bits.map_or(u64::from(written), |b| u64::from(b != 0))
                ])
            }
            Op::Constant | Op::SpecConstant
                if inst.is(CONSTANT_DATA) || inst.is(SPEC_CONSTANT_DATA) =>
            {
                self.data(inst, ty)?
            }
            Op::Constant | Op::SpecConstant => {
                let scalar = match info.kind {
                    Kind::Value(ty) if ty.is_scalar() && ty.scalar != Scalar::I1 => ty.scalar,
                    _ => {
                        return Err(
                            self.error(inst, "the result type is not a numeric scalar type")
                        );
                    }
                };
                let wanted = scalar.bits().div_ceil(32) as usize;
                if inst.operands.len() != wanted {
                    return Err(self.error(
                        inst,
                        format!(
                            "wrong word count: a literal of {} bits takes {wanted} words",
                            scalar.bits()
                        ),
                    ));
                }
                let high = inst.operands.get(1).copied().unwrap_or(0);
                let mut bits = u64::from(inst.operands[0]) | u64::from(high) << 32;
                if inst.op() == Op::SpecConstant
                    && let Some(value) = self.specialized(inst, scalar.bytes() as usize)?
                {
                    bits = value;
                }
                Const::Lanes(smallvec![bits & scalar.mask()])
            }
            Op::ConstantNull | Op::Undef => {
                if matches!(info.kind, Kind::Void | Kind::Function { .. }) {
                    return Err(self.error(inst, "the result type has no values"));
                }
                Const::Null
            }
            Op::ConstantComposite | Op::SpecConstantComposite => {
                self.composite(inst, ty, inst.operands)?
            }
            Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT => {
                let count = self.part_count(inst, ty)?;
                self.composite(inst, ty, &vec![inst.operands[0]; count])?
            }
            Op::ConstantSampler => self.sampler(inst, ty)?,
            Op::ConstantPipeStorage => match info.kind {
                Kind::Handle {
                    op: Op::TypePipeStorage,
                    ..
                } => {
                    let storage = self.pipe_storage(inst)?;
                    self.pipe_storages.insert(result, storage);
                    Const::Address {
                        variable: result,
                        addend: 0,
                    }
                }
                _ => return Err(self.error(inst, "the result type is not pipe storage")),
            },
            Op::SpecConstantOp => self.fold(inst)?,
            _ => return Err(self.error(inst, "this constant is not supported")),
        };
        debug_assert!(
            !matches!(&value, Const::Lanes(l) if ir.is_some_and(|t| l.len() != usize::from(t.lanes)))
        );
        self.constants[result as usize] = Some((ty, value));
        Ok(())
    }

    /// `OpConstantDataKHR` and `OpSpecConstantDataKHR`: the bytes of an array of integers, rounded
    /// up to words.
    fn data(&self, inst: &Inst<'_>, ty: Id) -> Result<Const> {
        let wrong = || self.error(inst, "the result type is not an array of integers");
        let Kind::Array {
            element, length, ..
        } = self.type_of_id(inst, ty)?.kind
        else {
            return Err(wrong());
        };
        let scalar = match self.type_of_id(inst, element)?.kind {
            Kind::Value(ty) if ty.is_scalar() && ty.scalar.is_int() => ty.scalar,
            _ => return Err(wrong()),
        };
        let written: Vec<u8> = inst.operands.iter().flat_map(|w| w.to_le_bytes()).collect();
        let size = u64::from(scalar.bytes()).saturating_mul(length);
        let set = match inst.op() {
            Op::SpecConstant => self.specialized_bytes(inst, size)?,
            _ => None,
        };
        if set.is_none() && written.len() as u64 != size.next_multiple_of(4) {
            return Err(self.error(
                inst,
                format!(
                    "wrong word count: {size} bytes of data take {} words, there are {}",
                    size.div_ceil(4),
                    inst.operands.len()
                ),
            ));
        }
        let bytes = set.unwrap_or(&written);
        let parts = bytes[..size as usize].chunks_exact(scalar.bytes() as usize);
        let parts = parts.map(|part| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            Const::Lanes(smallvec![u64::from_le_bytes(word)])
        });
        Ok(Const::Composite(parts.collect()))
    }

    /// How many parts of one type a composite has: what is replicated for it.
    pub(super) fn part_count(&self, inst: &Inst<'_>, ty: Id) -> Result<usize> {
        const MOST: u64 = 1 << 20;
        match &self.type_of_id(inst, ty)?.kind {
            Kind::Value(ty) if !ty.is_scalar() => Ok(usize::from(ty.lanes)),
            Kind::Array { length, .. } if *length <= MOST => Ok(*length as usize),
            Kind::Array { .. } => Err(self
                .error(inst, format!("an array of more than {MOST} equal parts"))
                .under(Rule::Limit)),
            Kind::Struct { members, .. } => Ok(members.len()),
            _ => Err(self.error(inst, "the result type is not a composite")),
        }
    }

    /// A sampler as the number that stands for it.
    fn sampler(&self, inst: &Inst<'_>, ty: Id) -> Result<Const> {
        let Kind::Sampler = self.type_of_id(inst, ty)?.kind else {
            return Err(self.error(inst, "the result type is not a sampler"));
        };
        let &[addressing, normalized @ 0..=1, filter @ 0..=1] = inst.operands else {
            return Err(self.error(inst, "an operand of the sampler is out of range"));
        };
        let addressing = match SamplerAddressingMode::from_u32(addressing) {
            Some(SamplerAddressingMode::None) => Addressing::None,
            Some(SamplerAddressingMode::ClampToEdge) => Addressing::ClampToEdge,
            Some(SamplerAddressingMode::Clamp) => Addressing::Clamp,
            Some(SamplerAddressingMode::Repeat) => Addressing::Repeat,
            Some(SamplerAddressingMode::RepeatMirrored) => Addressing::MirroredRepeat,
            None => return Err(self.error(inst, "an operand of the sampler is out of range")),
        };
        let sampler = Sampler {
            normalized: normalized == 1,
            addressing,
            linear: filter == 1,
        };
        Ok(Const::Lanes(smallvec![u64::from(sampler.bits())]))
    }

    /// The value the host set for a specialization constant, if it did.
    fn specialized(&self, inst: &Inst<'_>, size: usize) -> Result<Option<u64>> {
        Ok(self.specialized_bytes(inst, size as u64)?.map(|bytes| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }))
    }

    fn specialized_bytes(&self, inst: &Inst<'_>, size: u64) -> Result<Option<&[u8]>> {
        let id = self.result(inst)?;
        let Some(&[spec_id]) = self.decoration(id, Decoration::SpecId) else {
            return Ok(None);
        };
        let Some(bytes) = self.spec.get(&spec_id) else {
            return Ok(None);
        };
        if bytes.len() as u64 != size {
            return Err(self
                .error(
                    inst,
                    format!(
                        "specialization constant {spec_id} takes {size} bytes, {} were given",
                        bytes.len()
                    ),
                )
                .under(Rule::Spirv("Specialization")));
        }
        Ok(Some(bytes))
    }

    /// The constant with this id, which must have been defined before.
    pub(super) fn constant(&self, inst: &Inst<'_>, id: Id) -> Result<&(Id, Const)> {
        self.constants[id as usize].as_ref().ok_or_else(|| {
            self.error(
                inst,
                format!(
                    "{} is not a constant defined before this instruction",
                    self.binary.describe(id)
                ),
            )
            .under(UNIVERSAL)
        })
    }

    /// The value of a scalar integer constant, zero-extended.
    pub(super) fn integer_constant(&self, id: Id) -> Option<u64> {
        let (ty, value) = self.constants.get(id as usize)?.as_ref()?;
        match (&self.types[*ty as usize].as_ref()?.kind, value) {
            (Kind::Value(ty), Const::Lanes(lanes)) if ty.is_scalar() && ty.scalar.is_int() => {
                lanes.first().copied()
            }
            (Kind::Value(ty), Const::Null) if ty.is_scalar() && ty.scalar.is_int() => Some(0),
            _ => None,
        }
    }

    /// The value of a scalar integer constant, sign-extended from its type.
    pub(super) fn signed_constant(&self, id: Id) -> Option<i64> {
        let bits = self.integer_constant(id)?;
        let (ty, _) = self.constants.get(id as usize)?.as_ref()?;
        match self.types[*ty as usize].as_ref()?.kind {
            Kind::Value(ty) => Some(sign_extend(bits, ty.scalar)),
            _ => None,
        }
    }

    /// A composite of constants: each constituent a part, or for vectors, any split into scalars
    /// and vectors.
    fn composite(&self, inst: &Inst<'_>, ty: Id, parts: &[Id]) -> Result<Const> {
        let info = self.type_of_id(inst, ty)?;
        let wrong_count = |expected: u64| {
            self.error(
                inst,
                format!("{} constituents for a composite of {expected}", parts.len()),
            )
        };
        match &info.kind {
            Kind::Value(vector) if !vector.is_scalar() => {
                let mut lanes = SmallVec::new();
                for &part in parts {
                    let (ty, value) = self.constant(inst, part)?;
                    let of_part = self.type_of_id(inst, *ty)?.ir();
                    match of_part {
                        Some(t) if t.scalar == vector.scalar => {
                            lanes.extend(self.lanes(inst, t, value)?)
                        }
                        _ => {
                            return Err(self.error(
                                inst,
                                "a constituent's type is not the vector's component type",
                            ));
                        }
                    }
                }
                if lanes.len() != usize::from(vector.lanes) {
                    return Err(wrong_count(u64::from(vector.lanes)));
                }
                Ok(Const::Lanes(lanes))
            }
            Kind::Array {
                element, length, ..
            } => {
                if parts.len() as u64 != *length {
                    return Err(wrong_count(*length));
                }
                let values: Result<Vec<Const>> = parts
                    .iter()
                    .map(|&part| self.constituent(inst, part, *element))
                    .collect();
                Ok(Const::Composite(values?.into()))
            }
            Kind::Struct { members, .. } => {
                if parts.len() != members.len() {
                    return Err(wrong_count(members.len() as u64));
                }
                let values: Result<Vec<Const>> = parts
                    .iter()
                    .zip(members)
                    .map(|(&part, &member)| self.constituent(inst, part, member))
                    .collect();
                Ok(Const::Composite(values?.into()))
            }
            _ => Err(self.error(inst, "the result type is not a composite")),
        }
    }

    fn constituent(&self, inst: &Inst<'_>, id: Id, expected: Id) -> Result<Const> {
        let (ty, value) = self.constant(inst, id)?;
        if !self.same_type(*ty, expected) {
            return Err(self.error(
                inst,
                format!(
                    "the constituent {} has another type than the part it is for",
                    self.binary.describe(id)
                ),
            ));
        }
        Ok(value.clone())
    }

    /// The lanes of a scalar or vector constant.
    pub(super) fn lanes(
        &self,
        inst: &Inst<'_>,
        ty: Type,
        value: &Const,
    ) -> Result<SmallVec<[u64; 2]>> {
        match value {
            Const::Lanes(lanes) => Ok(lanes.clone()),
            Const::Null => Ok(smallvec![0; usize::from(ty.lanes)]),
            _ => Err(self.error(inst, "an operand is not a scalar or vector constant")),
        }
    }

    /// One part of a composite constant.
    pub(super) fn part(&self, inst: &Inst<'_>, value: &Const, index: usize) -> Result<Const> {
        match value {
            Const::Null => Ok(Const::Null),
            Const::Composite(parts) => parts
                .get(index)
                .cloned()
                .ok_or_else(|| self.index_error(inst, index as u64, parts.len() as u64)),
            _ => Err(self.error(inst, "the constant has no parts")),
        }
    }

    /// Writes a constant at an offset of `image`, which is large enough for the type and zeroed.
    pub(super) fn write_constant(
        &self,
        inst: &Inst<'_>,
        ty: Id,
        value: &Const,
        offset: u64,
        image: &mut Image,
    ) -> Result<()> {
        let info = self.type_of_id(inst, ty)?;
        if info.size == 0 {
            // It may still have exponentially many parts.
            return Ok(());
        }
        match (value, &info.kind) {
            (Const::Null, _) => Ok(()),
            (Const::Lanes(lanes), Kind::Value(ty)) => {
                let size = ty.scalar.bytes() as usize;
                for (i, lane) in lanes.iter().enumerate() {
                    let at = offset as usize + i * size;
                    image.bytes[at..at + size].copy_from_slice(&lane.to_le_bytes()[..size]);
                }
                Ok(())
            }
            (Const::Lanes(lanes), Kind::Pointer { .. } | Kind::Sampler | Kind::Handle { .. }) => {
                let at = offset as usize;
                image.bytes[at..at + 8].copy_from_slice(&lanes[0].to_le_bytes());
                Ok(())
            }
            (Const::Address { variable, addend }, _) if info.size == 8 => {
                image.addresses.push((offset, *variable, *addend));
                Ok(())
            }
            (
                Const::Composite(parts),
                Kind::Array {
                    element, stride, ..
                },
            ) => parts.iter().enumerate().try_for_each(|(i, part)| {
                self.write_constant(inst, *element, part, offset + i as u64 * stride, image)
            }),
            (
                Const::Composite(parts),
                Kind::Struct {
                    members, offsets, ..
                },
            ) => parts.iter().zip(members.iter().zip(offsets)).try_for_each(
                |(part, (&member, &at))| {
                    self.write_constant(inst, member, part, offset + at, image)
                },
            ),
            _ => Err(self.error(inst, "this initialiser is not supported")),
        }
    }
}
