//! Vectors, structures and arrays as values: making them, taking them apart.

use rspirv::spirv::Op;
use smallvec::{SmallVec, smallvec};

use super::body::{Body, Values};
use super::builtin_variables::outside;
use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::types::Kind;
use crate::ir::{DimQuery, Op as IrOp, Type, Value};

/// A part of a composite value, by a path of literal indices.
struct Part {
    /// Its first leaf and how many it has.
    first: usize,
    count: usize,
    /// A component of that one leaf instead.
    lane: Option<u8>,
}

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn composite(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        match op {
            Op::CompositeConstruct => self.construct(inst, inst.operands)?,
            Op::CompositeConstructReplicateEXT => {
                let count = self.unit.part_count(inst, self.unit.result_type(inst)?)?;
                self.construct(inst, &vec![inst.operands[0]; count])?;
            }
            Op::CompositeExtract => {
                let id = inst.operands[0];
                let values = self.values(inst, id)?;
                if let Some(outside) = self.body.outside_dimensions(&values, &inst.operands[1..]) {
                    self.define(inst, outside)?;
                    return Ok(true);
                }
                let ty = self.unit.type_of(inst, id)?;
                let part = self.part(inst, ty, &inst.operands[1..])?;
                match part.lane {
                    Some(lane) => {
                        let value = self.body.lane(values[part.first], lane);
                        self.define(inst, value)?;
                    }
                    None => {
                        let range = part.first..part.first + part.count;
                        self.define_values(inst, Values::from_slice(&values[range]))?;
                    }
                }
            }
            Op::CompositeInsert => {
                let object = self.values(inst, inst.operands[0])?;
                let mut values = self.values(inst, inst.operands[1])?;
                let ty = self.unit.type_of(inst, inst.operands[1])?;
                let part = self.part(inst, ty, &inst.operands[2..])?;
                let of_object: SmallVec<[Type; 2]> =
                    object.iter().map(|&value| self.body.ty(value)).collect();
                if let Some(lane) = part.lane {
                    let vector = values[part.first];
                    if of_object.as_slice() != [self.body.ty(vector).lane()] {
                        return Err(self.error(inst, "the object is not a component of the vector"));
                    }
                    let ty = self.body.ty(vector);
                    values[part.first] =
                        self.body
                            .b()
                            .val(IrOp::Insert(lane), &[vector, object[0]], ty);
                } else {
                    let range = part.first..part.first + part.count;
                    let replaced = values[range.clone()]
                        .iter()
                        .map(|&value| self.body.ty(value));
                    if !replaced.eq(of_object.iter().copied()) {
                        return Err(self.error(
                            inst,
                            "the object has another type than the part it replaces",
                        ));
                    }
                    values[range].copy_from_slice(&object);
                }
                self.define_values(inst, values)?;
            }
            Op::VectorExtractDynamic => {
                let vector = self.vector(inst, 0)?;
                let index = self.scalar_index(inst, 1)?;
                let ty = self.body.ty(vector).lane();
                let value = match self.body.queried(vector) {
                    Some(query) => self.body.dimension(query, index, ty),
                    None => self.body.b().val(IrOp::ExtractDyn, &[vector, index], ty),
                };
                self.define(inst, value)?;
            }
            Op::VectorInsertDynamic => {
                let vector = self.vector(inst, 0)?;
                let ty = self.body.ty(vector);
                let component = self.typed(inst, inst.operands[1], ty.lane())?;
                let index = self.scalar_index(inst, 2)?;
                let value = self
                    .body
                    .b()
                    .val(IrOp::InsertDyn, &[vector, component, index], ty);
                self.define(inst, value)?;
            }
            Op::VectorShuffle => self.shuffle(inst)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn vector(&mut self, inst: &Inst<'_>, operand: usize) -> Result<Value> {
        let value = self.value(inst, inst.operands[operand])?;
        if self.body.ty(value).is_scalar() {
            return Err(self.error(
                inst,
                format!(
                    "{} is not a vector",
                    self.unit.binary.describe(inst.operands[operand])
                ),
            ));
        }
        Ok(value)
    }

    fn scalar_index(&mut self, inst: &Inst<'_>, operand: usize) -> Result<Value> {
        let value = self.integer(inst, inst.operands[operand])?;
        if self.body.ty(value).is_scalar() {
            Ok(value)
        } else {
            Err(self.error(inst, "the index is a vector"))
        }
    }

    fn part(&mut self, inst: &Inst<'_>, of: Id, path: &[u32]) -> Result<Part> {
        let (mut ty, mut first) = (of, 0usize);
        for (depth, &index) in path.iter().enumerate() {
            let info = self.unit.type_of_id(inst, ty)?;
            if let Kind::Value(vector) = info.kind
                && !vector.is_scalar()
            {
                if index >= u32::from(vector.lanes) || depth + 1 != path.len() {
                    let lanes = u64::from(vector.lanes);
                    return Err(self.unit.index_error(inst, u64::from(index), lanes));
                }
                return Ok(Part {
                    first,
                    count: 1,
                    lane: Some(index as u8),
                });
            }
            let (part, _, skipped) = self.unit.step_into(inst, ty, u64::from(index))?;
            ty = part;
            first += skipped;
        }
        Ok(Part {
            first,
            count: self.unit.leaves(inst, ty)?.len(),
            lane: None,
        })
    }

    fn construct(&mut self, inst: &Inst<'_>, parts: &[Id]) -> Result<()> {
        let ty = self.unit.result_type(inst)?;
        let info = self.unit.type_of_id(inst, ty)?;
        match &info.kind {
            Kind::Value(vector) if !vector.is_scalar() => {
                let mut lanes: SmallVec<[Value; 16]> = smallvec![];
                for &id in parts {
                    let value = self.value(inst, id)?;
                    for lane in 0..self.body.ty(value).lanes {
                        lanes.push(if self.body.ty(value).is_scalar() {
                            value
                        } else {
                            self.body.lane(value, lane)
                        });
                    }
                    if self.body.ty(value).scalar != vector.scalar || lanes.len() > 16 {
                        return Err(
                            self.error(inst, "the constituents are not the vector's components")
                        );
                    }
                }
                if lanes.is_empty() {
                    return Err(self.error(inst, "there are no constituents"));
                }
                let value = self.body.build(&lanes);
                self.define(inst, value)
            }
            Kind::Array { .. } | Kind::Struct { .. } => {
                // Checks that the whole is small enough to be a value.
                let expected = self.unit.leaves(inst, ty)?.len();
                let mut values = Values::new();
                for &id in parts {
                    values.extend(self.values(inst, id)?);
                    if values.len() > expected {
                        return Err(self.error(inst, "there are too many constituents"));
                    }
                }
                self.define_values(inst, values)
            }
            _ => Err(self.error(inst, "the result type is not a composite")),
        }
    }

    fn shuffle(&mut self, inst: &Inst<'_>) -> Result<()> {
        let a = self.vector(inst, 0)?;
        let b = self.vector(inst, 1)?;
        let ty = self.body.ty(a);
        if self.body.ty(b).scalar != ty.scalar {
            return Err(self.error(inst, "the vectors have different component types"));
        }
        let lanes = u32::from(ty.lanes + self.body.ty(b).lanes);
        let components = &inst.operands[2..];
        if !matches!(components.len(), 2 | 3 | 4 | 8 | 16) {
            return Err(self.error(inst, format!("a vector of {} components", components.len())));
        }
        let mut mask = Vec::with_capacity(components.len());
        for &component in components {
            mask.push(match component {
                // "OpVectorShuffle": an undefined component.
                u32::MAX => 255,
                component if component < lanes => component as u8,
                component => {
                    return Err(self.error(
                        inst,
                        format!("the component {component} is outside both vectors ({lanes})"),
                    ));
                }
            });
        }
        let ty = ty.with_lanes(mask.len() as u8);
        let value = self.body.b().val(IrOp::Shuffle(mask.into()), &[a, b], ty);
        self.define(inst, value)
    }
}

impl Body {
    /// What a work-item query gives for a constant dimension beyond the three: producers write
    /// `get_global_size(5)` as component 5 of the built-in variable.
    fn outside_dimensions(&mut self, values: &[Value], path: &[u32]) -> Option<Value> {
        let (&[vector], &[3..=u32::MAX]) = (values, path) else {
            return None;
        };
        let query = self.queried(vector)?;
        let ty = self.ty(vector).lane();
        Some(self.iconst(ty, outside(query)))
    }

    /// The query that a vector holds the three dimensions of.
    fn queried(&self, vector: Value) -> Option<DimQuery> {
        let build = &self.func.insts[self.func.def_inst(vector)?];
        if build.op != IrOp::Build {
            return None;
        }
        let mut lane = &self.func.insts[self.func.def_inst(build.args[0])?];
        if let IrOp::Convert(..) = lane.op {
            lane = &self.func.insts[self.func.def_inst(lane.args[0])?];
        }
        match lane.op {
            // Dimensions in order make up a vector of three; see `load_builtin`.
            IrOp::DimQuery(query, 0) if build.args.len() == 3 => Some(query),
            _ => None,
        }
    }
}
