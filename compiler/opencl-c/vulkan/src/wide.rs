//! Vectors of 8 and 16 components, which Vulkan has not: each is its components.
//!
//! An instruction on such vectors is one on each component. In memory they are scalars.

use rspirv::spirv::{Op, OpenclStd100Op as Cl};

use super::input::Constant;
use super::ir::{Arg, Id, Inst};
use super::lower::{Lower, Result, Val};
use super::pointers::VectorAccess;
use super::types::Ty;

/// What a shuffle yields where nothing is wanted.
const NOTHING: u32 = u32::MAX;

impl Lower<'_> {
    fn is_wide_type(&self, ty: Ty) -> bool {
        self.target.types.lanes(ty).1 > 4
    }

    fn is_wide_value(&self, id: Id) -> bool {
        let ty = self.lane_types.get(&id).or(self.input.value_ty.get(&id));
        ty.is_some_and(|&ty| self.is_wide_type(ty))
    }

    /// Whether an instruction has a result or an operand of so many components.
    pub fn is_wide(&self, inst: &Inst) -> bool {
        inst.ty.is_some_and(|ty| self.is_wide_type(ty))
            || inst.ids().any(|id| self.is_wide_value(id))
    }

    /// The components of a value of any type.
    pub fn lanes_of(&mut self, id: Id) -> Result<Vec<Id>> {
        let ty = self.ty_of(id)?;
        let (scalar, lanes) = self.target.types.lanes(ty);
        self.check_type(scalar)?;
        if let Some(Val::Lanes(all)) = self.values.get(&id) {
            return Ok(all.clone());
        }
        let input = self.input;
        match input.constants.get(&id) {
            Some((_, Constant::Null | Constant::Undef)) => {
                let zero = self.target.null(scalar);
                Ok(vec![zero; lanes as usize])
            }
            Some((_, Constant::Composite(parts))) => {
                parts.iter().map(|&part| self.constant(part)).collect()
            }
            _ => {
                let value = self.id(id)?;
                Ok(self.lanes(value, ty))
            }
        }
    }

    /// Makes a result of its components.
    pub fn set_lanes(&mut self, inst: &Inst, ty: Ty, lanes: Vec<Id>) {
        let val = match lanes.len() > 4 {
            true => Val::Lanes(lanes),
            false => Val::Id(self.construct(ty, &lanes)),
        };
        self.values.insert(inst.id, val);
    }

    /// An instruction of which something has more than 4 components.
    pub fn wide(&mut self, inst: &Inst) -> Result<()> {
        let (first, ty) = (inst.id_at(0), inst.ty);
        let void = self.target.types.bool();
        let ty = ty.unwrap_or(void);
        let (scalar, count) = self.target.types.lanes(ty);
        let lanes = match inst.op {
            Op::Load => {
                let pointer = self.pointer(first)?;
                let volatile = inst.literal_at(1) & 1 != 0;
                let size = self.target.types.size(scalar);
                self.check_type(scalar)?;
                let mut lanes = Vec::new();
                for lane in 0..count {
                    let mut pointer = pointer.clone();
                    pointer.add += (size * u64::from(lane)) as i64;
                    if let Val::Id(value) = self.load(&pointer, scalar, volatile)? {
                        lanes.push(value);
                    }
                }
                lanes
            }
            Op::Store => {
                let value = inst.id_at(1);
                let of = self.ty_of(value)?;
                let scalar = self.target.types.lanes(of).0;
                let size = self.target.types.size(scalar);
                let pointer = self.pointer(first)?;
                let volatile = inst.literal_at(2) & 1 != 0;
                for (lane, value) in (0..).zip(self.lanes_of(value)?) {
                    let mut pointer = pointer.clone();
                    pointer.add += (size * lane) as i64;
                    self.store(&pointer, value, scalar, volatile)?;
                }
                return Ok(());
            }
            Op::CompositeConstruct => {
                let mut lanes = Vec::new();
                for id in inst.ids() {
                    lanes.extend(self.lanes_of(id)?);
                }
                lanes
            }
            Op::CompositeExtract => {
                let lanes = self.lanes_of(first)?;
                vec![lanes[inst.literal_at(1) as usize % lanes.len()]]
            }
            Op::CompositeInsert => {
                let object = self.id(first)?;
                let mut lanes = self.lanes_of(inst.id_at(1))?;
                let at = inst.literal_at(2) as usize % lanes.len();
                lanes[at] = object;
                lanes
            }
            Op::VectorShuffle => {
                let mut all = self.lanes_of(first)?;
                all.extend(self.lanes_of(inst.id_at(1))?);
                let zero = self.target.null(scalar);
                let numbers = (0..count as usize).map(|at| inst.literal_at(2 + at));
                let pick = |number: u32| match number {
                    NOTHING => zero,
                    _ => all[number as usize % all.len()],
                };
                numbers.map(pick).collect()
            }
            Op::VectorExtractDynamic => {
                let all = self.lanes_of(first)?;
                let of = self.ty_of(inst.id_at(1))?;
                let index = self.id(inst.id_at(1))?;
                let index = self.low(index, of);
                vec![self.pick(scalar, &all, index)]
            }
            Op::VectorInsertDynamic => {
                let lanes = self.lanes_of(first)?;
                let value = self.id(inst.id_at(1))?;
                let of = self.ty_of(inst.id_at(2))?;
                let index = self.id(inst.id_at(2))?;
                let index = self.low(index, of);
                let bool = self.target.types.bool();
                let mut out = Vec::new();
                for (number, lane) in (0..).zip(lanes) {
                    let number = self.target.u32(number);
                    let here = self.emit(Op::IEqual, bool, &[index, number]);
                    out.push(self.emit(Op::Select, scalar, &[here, value, lane]));
                }
                out
            }
            Op::Any | Op::All => {
                let op = match inst.op {
                    Op::Any => Op::LogicalOr,
                    _ => Op::LogicalAnd,
                };
                let mut lanes = self.lanes_of(first)?.into_iter();
                let start = lanes.next().unwrap_or(self.target.bool(true));
                vec![lanes.fold(start, |all, lane| self.emit(op, ty, &[all, lane]))]
            }
            Op::Undef => {
                let zero = self.target.null(scalar);
                vec![zero; count as usize]
            }
            Op::CopyObject | Op::ExpectKHR => self.lanes_of(first)?,
            Op::Bitcast => {
                let of = self.ty_of(first)?;
                let from = self.target.types.lanes(of).0;
                let lanes = self.lanes_of(first)?;
                self.recast(&lanes, from, scalar)?
            }
            Op::ExtInst => {
                if let Some(access) = VectorAccess::of(self.input, &mut self.target.types, inst) {
                    return self.vector_access(inst, &access);
                }
                match Cl::from_u32(inst.literal_at(1)) {
                    Some(Cl::shuffle | Cl::shuffle2) => self.wide_shuffle(inst, scalar)?,
                    Some(Cl::prefetch) => return Ok(()),
                    _ => self.by_lanes(inst, scalar, count)?,
                }
            }
            _ => self.by_lanes(inst, scalar, count)?,
        };
        self.set_lanes(inst, ty, lanes);
        Ok(())
    }

    /// The same bits in components of another size.
    fn recast(&mut self, lanes: &[Id], from: Ty, to: Ty) -> Result<Vec<Id>> {
        let (before, after) = (self.target.types.bits(from), self.target.types.bits(to));
        let unit = self.target.types.int(before.min(after));
        let mut units = Vec::new();
        for &lane in lanes {
            units.extend(self.disassemble(lane, from, unit)?);
        }
        let each = (after / before.min(after)) as usize;
        units
            .chunks(each)
            .map(|part| self.assemble(part, unit, to))
            .collect()
    }

    /// One of several values, by its number.
    fn pick(&mut self, ty: Ty, all: &[Id], index: Id) -> Id {
        let bool = self.target.types.bool();
        let mut value = all[0];
        for (number, &lane) in (0..).zip(all).skip(1) {
            let number = self.target.u32(number);
            let here = self.emit(Op::IEqual, bool, &[index, number]);
            value = self.emit(Op::Select, ty, &[here, lane, value]);
        }
        value
    }

    fn wide_shuffle(&mut self, inst: &Inst, scalar: Ty) -> Result<Vec<Id>> {
        let sources: Vec<Id> = inst.ids().skip(1).collect();
        let Some((&mask, inputs)) = sources.split_last() else {
            return self.error("shuffle() without a mask");
        };
        let mut all = Vec::new();
        for &input in inputs {
            all.extend(self.lanes_of(input)?);
        }
        let word = self.u32_ty();
        let inside = self.target.u32(all.len() as u32 - 1);
        let of = self.ty_of(mask)?;
        let of = self.target.types.lanes(of).0;
        let mut lanes = Vec::new();
        for index in self.lanes_of(mask)? {
            let index = self.low(index, of);
            let index = self.emit(Op::BitwiseAnd, word, &[index, inside]);
            lanes.push(self.pick(scalar, &all, index));
        }
        Ok(lanes)
    }

    /// The same instruction on each component. Operands that have one are the same for all.
    fn by_lanes(&mut self, inst: &Inst, scalar: Ty, count: u32) -> Result<Vec<Id>> {
        let mut operands = Vec::new();
        for arg in &inst.args {
            operands.push(match *arg {
                Arg::Id(id) if self.is_wide_value(id) => {
                    let ty = self.ty_of(id)?;
                    Some((self.lanes_of(id)?, self.target.types.lanes(ty).0))
                }
                _ => None,
            });
        }
        let as_one = |op: Op| match op {
            Op::VectorTimesScalar => Op::FMul,
            op => op,
        };
        let mut lanes = Vec::new();
        for lane in 0..count as usize {
            let mut one = inst.clone();
            one.op = as_one(inst.op);
            one.ty = Some(scalar);
            for (arg, operand) in one.args.iter_mut().zip(&operands) {
                let Some((all, ty)) = operand else { continue };
                let (Arg::Id(id), Some(&value)) = (arg, all.get(lane)) else {
                    return self.error("operands of different numbers of components");
                };
                // An id of its own for the component.
                *id = self.next_lane;
                self.next_lane += 1;
                self.lane_types.insert(*id, *ty);
                self.values.insert(*id, Val::Id(value));
            }
            self.in_lanes = true;
            let done = self.inst(&one);
            self.in_lanes = false;
            done?;
            lanes.push(self.id(inst.id)?);
        }
        Ok(lanes)
    }
}
