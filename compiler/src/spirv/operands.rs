//! What instructions take and give: operands by id, checked for kind, type and dominance; results,
//! checked against the result type; constants, made in the prologue when first used.

use smallvec::{SmallVec, smallvec};

use super::constants::Const;
use super::decode::{Id, Inst, Result};
use super::function::{Bound, Definition, FunctionTranslator, Pointer, Values};
use super::rules::{BUILT_IN_VARIABLES, Rule, UNIVERSAL};
use super::translate::VariablePlace;
use super::types::{Kind, space_of};
use crate::diagnostic::Diagnostic;
use crate::ir::{ConvertOp, Op as IrOp, Rounding, Type, Value};
use crate::kernel_info::AddressSpace;

impl FunctionTranslator<'_, '_> {
    /// The id of an operand's type.
    pub(super) fn type_of(&self, inst: &Inst<'_>, id: Id) -> Result<Id> {
        self.unit.value_types[id as usize].ok_or_else(|| {
            self.error(
                inst,
                format!("{} is not a value", self.unit.binary.describe(id)),
            )
            .under(UNIVERSAL)
        })
    }

    /// What an id is bound to here.
    pub(super) fn bound(&mut self, inst: &Inst<'_>, id: Id) -> Result<Bound> {
        if let Some(def) = self.values.get(&id) {
            return match def.block {
                Some(block) if !self.cfg.dominates(block, self.current) => {
                    Err(self.not_dominated(inst, id))
                }
                _ => Ok(def.bound.clone()),
            };
        }
        let linked = self.unit.linked(id);
        if self.unit.variables.contains_key(&linked) && self.unit.is_builtin(linked) {
            return Ok(Bound::BuiltIn {
                variable: linked,
                component: None,
            });
        }
        let Some((ty, value)) = &self.unit.constants[id as usize] else {
            self.type_of(inst, id)?;
            if self.unit.functions.contains_key(&id) {
                return Err(self.error(
                    inst,
                    format!(
                        "the function {} is used as a value",
                        self.unit.binary.describe(id)
                    ),
                ));
            }
            return Err(self.not_dominated(inst, id));
        };
        let mut values = Values::new();
        self.materialize(inst, *ty, value, &mut values)?;
        let bound = Bound::Values(values);
        self.values.insert(
            id,
            Definition {
                bound: bound.clone(),
                block: None,
            },
        );
        Ok(bound)
    }

    fn not_dominated(&self, inst: &Inst<'_>, id: Id) -> Diagnostic {
        self.error(
            inst,
            format!(
                "{} is used where its definition does not dominate",
                self.unit.binary.describe(id)
            ),
        )
        .under(UNIVERSAL)
    }

    /// The leaves of an operand.
    pub(super) fn values(&mut self, inst: &Inst<'_>, id: Id) -> Result<Values> {
        match self.bound(inst, id)? {
            Bound::Values(values) => Ok(values),
            Bound::BuiltIn { variable, .. } => Err(self
                .error(
                    inst,
                    format!(
                        "the built-in variable {} is used other than by loading it",
                        self.unit.binary.describe(variable)
                    ),
                )
                .under(BUILT_IN_VARIABLES)),
        }
    }

    /// An operand that is a scalar, vector or pointer.
    pub(super) fn value(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let values = self.values(inst, id)?;
        let ty = self.type_of(inst, id)?;
        let single = self.unit.type_of_id(inst, ty)?.ir().is_some();
        match values.as_slice() {
            [value] if single => Ok(*value),
            _ => Err(self.error(
                inst,
                format!(
                    "{} is not a scalar, vector or pointer",
                    self.unit.binary.describe(id)
                ),
            )),
        }
    }

    /// An operand of a given type.
    pub(super) fn typed(&mut self, inst: &Inst<'_>, id: Id, ty: Type) -> Result<Value> {
        let value = self.value(inst, id)?;
        if self.ty(value) == ty {
            Ok(value)
        } else {
            Err(self.error(
                inst,
                format!(
                    "the operand {} has type {}, expected {ty}",
                    self.unit.binary.describe(id),
                    self.ty(value)
                ),
            ))
        }
    }

    /// An operand with integer lanes.
    pub(super) fn integer(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.value(inst, id)?;
        if self.ty(value).scalar.is_int() {
            Ok(value)
        } else {
            Err(self.error(
                inst,
                format!(
                    "the operand {} is not an integer or vector of integers",
                    self.unit.binary.describe(id)
                ),
            ))
        }
    }

    /// A scalar integer operand as an `i64`, sign-extended.
    pub(super) fn index(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.integer(inst, id)?;
        match self.ty(value) {
            Type::I64 => Ok(value),
            ty if ty.is_scalar() => Ok(self.b().convert(ConvertOp::SExt, value, Type::I64)),
            _ => Err(self.error(
                inst,
                format!("the index {} is a vector", self.unit.binary.describe(id)),
            )),
        }
    }

    /// A scalar integer operand as an `i64`, zero-extended.
    pub(super) fn size_value(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.integer(inst, id)?;
        match self.ty(value) {
            Type::I64 => Ok(value),
            ty if ty.is_scalar() => Ok(self.b().convert(ConvertOp::ZExt, value, Type::I64)),
            _ => Err(self.error(
                inst,
                format!("the size {} is a vector", self.unit.binary.describe(id)),
            )),
        }
    }

    /// An operand with floating-point lanes.
    pub(super) fn float(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.value(inst, id)?;
        if self.ty(value).scalar.is_float() {
            Ok(value)
        } else {
            Err(self.error(
                inst,
                format!(
                    "the operand {} is not a float or vector of floats",
                    self.unit.binary.describe(id)
                ),
            ))
        }
    }

    /// The storage class's address space and the pointee of an operand's pointer type.
    pub(super) fn pointer_type(
        &self,
        inst: &Inst<'_>,
        id: Id,
    ) -> Result<(AddressSpace, Option<Id>)> {
        let ty = self.type_of(inst, id)?;
        match self.unit.type_of_id(inst, ty)?.kind {
            Kind::Pointer { class, pointee } => match space_of(class) {
                Some(space) => Ok((space, pointee)),
                None => Err(self
                    .error(
                        inst,
                        format!("pointers to storage class {class:?} are not supported"),
                    )
                    .under(Rule::Spirv("Storage Class"))),
            },
            _ => Err(self.error(
                inst,
                format!("{} is not a pointer", self.unit.binary.describe(id)),
            )),
        }
    }

    /// A pointer operand.
    pub(super) fn pointer(&mut self, inst: &Inst<'_>, id: Id) -> Result<Pointer> {
        if let Bound::BuiltIn { .. } = self.bound(inst, id)? {
            // For its message: built-in variables have no address.
            self.values(inst, id)?;
        }
        let (space, pointee) = self.pointer_type(inst, id)?;
        let address = self.typed(inst, id, Type::PTR)?;
        Ok(Pointer {
            address,
            space,
            pointee,
        })
    }

    /// The IR type of a result that is one leaf.
    pub(super) fn result_ir(&self, inst: &Inst<'_>) -> Result<Type> {
        let ty = self.unit.result_type(inst)?;
        self.unit.type_of_id(inst, ty)?.ir().ok_or_else(|| {
            self.error(
                inst,
                format!(
                    "the result type {} is not a scalar, vector or pointer",
                    self.unit.binary.describe(ty)
                ),
            )
        })
    }

    /// Binds the result to one value, whose type must be the result type.
    pub(super) fn define(&mut self, inst: &Inst<'_>, value: Value) -> Result<()> {
        self.define_values(inst, smallvec![value])
    }

    /// Binds the result to its leaves, whose types must be the result type's.
    pub(super) fn define_values(&mut self, inst: &Inst<'_>, values: Values) -> Result<()> {
        let ty = self.unit.result_type(inst)?;
        let leaves = self.unit.leaves(inst, ty)?;
        let matches = leaves.len() == values.len()
            && leaves
                .iter()
                .zip(&values)
                .all(|(leaf, &value)| leaf.ty == self.ty(value));
        if !matches {
            let list = |types: Vec<Type>| {
                let names: Vec<String> = types.iter().map(Type::to_string).collect();
                names.join(", ")
            };
            return Err(self.error(
                inst,
                format!(
                    "the result type is {}, the operation gives {}",
                    list(leaves.iter().map(|leaf| leaf.ty).collect()),
                    list(values.iter().map(|&v| self.ty(v)).collect())
                ),
            ));
        }
        self.bind(inst, Bound::Values(values))
    }

    /// Binds the result.
    pub(super) fn bind(&mut self, inst: &Inst<'_>, bound: Bound) -> Result<()> {
        let result = self.unit.result(inst)?;
        let block = Some(self.current);
        self.values.insert(result, Definition { bound, block });
        Ok(())
    }

    /// A scalar or vector of constant lanes.
    pub(super) fn lanes(&mut self, ty: Type, lanes: &[u64]) -> Value {
        if lanes.iter().all(|lane| lane == &lanes[0]) {
            return self.iconst(ty, lanes[0]);
        }
        let parts: SmallVec<[Value; 16]> = lanes
            .iter()
            .map(|&lane| self.iconst(ty.lane(), lane))
            .collect();
        self.prologue(IrOp::Build, &parts, ty)
    }

    /// The address of a module-scope variable.
    pub(super) fn variable_address(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let id = self.unit.linked(id);
        if let Some(&value) = self.globals.get(&id) {
            return Ok(value);
        }
        let op = match self.out.variable(self.unit, inst, id)? {
            VariablePlace::Global(global) => IrOp::GlobalAddr(global),
            VariablePlace::Local(local) => {
                let local = self.func.locals.push(local);
                self.locals.insert(id, local);
                IrOp::LocalAddr(local)
            }
        };
        let value = self.prologue(op, &[], Type::PTR);
        self.globals.insert(id, value);
        Ok(value)
    }

    /// Appends the leaves of a constant.
    pub(super) fn materialize(
        &mut self,
        inst: &Inst<'_>,
        ty: Id,
        value: &Const,
        out: &mut Values,
    ) -> Result<()> {
        let unit = self.unit;
        let info = unit.type_of_id(inst, ty)?;
        match (value, info.ir()) {
            (Const::Null, _) => {
                for leaf in unit.leaves(inst, ty)? {
                    out.push(self.iconst(leaf.ty, 0));
                }
            }
            (Const::Lanes(lanes), Some(ty)) if lanes.len() == usize::from(ty.lanes) => {
                out.push(self.lanes(ty, lanes));
            }
            (Const::Address { variable, addend }, Some(ty)) => {
                let mut address = self.variable_address(inst, *variable)?;
                if *addend != 0 {
                    let bytes = self.iconst(Type::I64, *addend as u64);
                    address = self.prologue(IrOp::PtrAdd, &[address, bytes], Type::PTR);
                }
                if ty == Type::I64 {
                    let cast = IrOp::Convert(ConvertOp::Bitcast, Rounding::NearestEven);
                    address = self.prologue(cast, &[address], Type::I64);
                }
                out.push(address);
            }
            (Const::Composite(parts), _) => {
                // Checks the number of leaves of the whole.
                if unit.leaves(inst, ty)?.is_empty() {
                    return Ok(());
                }
                match &info.kind {
                    Kind::Array { element, .. } => {
                        for part in parts.iter() {
                            self.materialize(inst, *element, part, out)?;
                        }
                    }
                    Kind::Struct { members, .. } => {
                        for (part, &member) in parts.iter().zip(members) {
                            self.materialize(inst, member, part, out)?;
                        }
                    }
                    _ => return Err(self.error(inst, "a composite constant of no composite type")),
                }
            }
            _ => return Err(self.error(inst, "this constant cannot be used here")),
        }
        Ok(())
    }
}
