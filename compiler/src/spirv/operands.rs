//! What instructions take and give: operands by id, checked for kind, type and dominance; results,
//! checked against the result type; constants, made in the prologue when first used.

use smallvec::smallvec;

use super::body::Values;
use super::constants::Const;
use super::decode::{Id, Inst, Result};
use super::function::{Bound, Definition, FunctionTranslator, Pointer};
use super::module_builder::VariableStorage;
use super::rules::{BUILT_IN_VARIABLES, UNIVERSAL};
use super::types::Kind;
use crate::diagnostic::Diagnostic;
use crate::ir::{ConvertOp, Op as IrOp, Rounding, Type, Value};

impl FunctionTranslator<'_, '_> {
    /// What an id is bound to here.
    pub(super) fn bound(&mut self, inst: &Inst<'_>, id: Id) -> Result<Bound> {
        if let Some(def) = self.definitions.get(&id) {
            return match def.block {
                Some(block) if !self.flow.dominates_current(block) => {
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
            self.unit.type_of(inst, id)?;
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
        self.definitions.insert(
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
        let ty = self.unit.type_of(inst, id)?;
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
        if self.body.ty(value) == ty {
            Ok(value)
        } else {
            Err(self.error(
                inst,
                format!(
                    "the operand {} has type {}, expected {ty}",
                    self.unit.binary.describe(id),
                    self.body.ty(value)
                ),
            ))
        }
    }

    /// An operand with integer lanes.
    pub(super) fn integer(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.value(inst, id)?;
        if self.body.ty(value).scalar.is_int() {
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
        match self.body.ty(value) {
            Type::I64 => Ok(value),
            ty if ty.is_scalar() => Ok(self.body.b().convert(ConvertOp::SExt, value, Type::I64)),
            _ => Err(self.error(
                inst,
                format!("the index {} is a vector", self.unit.binary.describe(id)),
            )),
        }
    }

    /// A scalar integer operand as an `i64`, zero-extended.
    pub(super) fn size_value(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.integer(inst, id)?;
        match self.body.ty(value) {
            Type::I64 => Ok(value),
            ty if ty.is_scalar() => Ok(self.body.b().convert(ConvertOp::ZExt, value, Type::I64)),
            _ => Err(self.error(
                inst,
                format!("the size {} is a vector", self.unit.binary.describe(id)),
            )),
        }
    }

    /// An operand with floating-point lanes.
    pub(super) fn float(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.value(inst, id)?;
        if self.body.ty(value).scalar.is_float() {
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

    /// A pointer operand.
    pub(super) fn pointer(&mut self, inst: &Inst<'_>, id: Id) -> Result<Pointer> {
        if let Bound::BuiltIn { .. } = self.bound(inst, id)? {
            // For its message: built-in variables have no address.
            self.values(inst, id)?;
        }
        let (space, pointee) = self.unit.points_to(inst, id)?;
        let address = self.typed(inst, id, Type::PTR)?;
        Ok(Pointer {
            address,
            space,
            pointee,
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
                .all(|(leaf, &value)| leaf.ty == self.body.ty(value));
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
                    list(values.iter().map(|&v| self.body.ty(v)).collect())
                ),
            ));
        }
        self.bind(inst, Bound::Values(values))
    }

    /// Binds the result.
    pub(super) fn bind(&mut self, inst: &Inst<'_>, bound: Bound) -> Result<()> {
        let result = self.unit.result(inst)?;
        let block = Some(self.flow.current);
        self.definitions.insert(result, Definition { bound, block });
        Ok(())
    }

    /// The address of a module-scope variable.
    pub(super) fn variable_address(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let id = self.unit.linked(id);
        if let Some(&value) = self.addresses.get(&id) {
            return Ok(value);
        }
        let op = match self.out.variable(self.unit, inst, id)? {
            VariableStorage::Global(global) => IrOp::GlobalAddr(global),
            VariableStorage::Local(local) => {
                let local = self.body.func.locals.push(local);
                IrOp::LocalAddr(local)
            }
        };
        let value = self.body.prologue(op, &[], Type::PTR);
        self.addresses.insert(id, value);
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
                    out.push(self.body.iconst(leaf.ty, 0));
                }
            }
            (Const::Lanes(lanes), Some(ty)) if lanes.len() == usize::from(ty.lanes) => {
                out.push(self.body.lanes(ty, lanes));
            }
            (Const::Address { variable, addend }, Some(ty)) => {
                let mut address = self.variable_address(inst, *variable)?;
                if *addend != 0 {
                    let bytes = self.body.iconst(Type::I64, *addend as u64);
                    address = self
                        .body
                        .prologue(IrOp::PtrAdd, &[address, bytes], Type::PTR);
                }
                if ty == Type::I64 {
                    let cast = IrOp::Convert(ConvertOp::Bitcast, Rounding::NearestEven);
                    address = self.body.prologue(cast, &[address], Type::I64);
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
