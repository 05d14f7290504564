//! Loads of built-in variables: work-item queries.

use rspirv::spirv::{BuiltIn, Decoration};

use super::body::Body;
use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::rules::BUILT_IN_VARIABLES;
use crate::ir::{BinOp, DimQuery, Op as IrOp, Query, Scalar, Type, Value};

/// The query of a three-dimensional variable.
fn dim_query(builtin: BuiltIn) -> Option<DimQuery> {
    Some(match builtin {
        BuiltIn::GlobalInvocationId => DimQuery::GlobalId,
        BuiltIn::LocalInvocationId => DimQuery::LocalId,
        BuiltIn::WorkgroupId => DimQuery::GroupId,
        BuiltIn::GlobalSize => DimQuery::GlobalSize,
        BuiltIn::WorkgroupSize => DimQuery::LocalSize,
        BuiltIn::EnqueuedWorkgroupSize => DimQuery::EnqueuedLocalSize,
        BuiltIn::NumWorkgroups => DimQuery::NumGroups,
        BuiltIn::GlobalOffset => DimQuery::GlobalOffset,
        _ => return None,
    })
}

/// What a query gives outside the three dimensions ("Work-Item Functions"): ids 0, sizes 1.
pub(super) fn outside(query: DimQuery) -> u64 {
    match query {
        DimQuery::GlobalId | DimQuery::LocalId | DimQuery::GroupId | DimQuery::GlobalOffset => 0,
        DimQuery::GlobalSize
        | DimQuery::LocalSize
        | DimQuery::EnqueuedLocalSize
        | DimQuery::NumGroups => 1,
    }
}

fn query(builtin: BuiltIn) -> Option<Query> {
    Some(match builtin {
        BuiltIn::WorkDim => Query::WorkDim,
        BuiltIn::GlobalLinearId => Query::GlobalLinearId,
        BuiltIn::LocalInvocationIndex => Query::LocalLinearId,
        BuiltIn::SubgroupSize => Query::SubGroupSize,
        BuiltIn::SubgroupMaxSize => Query::SubGroupMaxSize,
        BuiltIn::NumSubgroups => Query::NumSubGroups,
        BuiltIn::SubgroupId => Query::SubGroupId,
        BuiltIn::SubgroupLocalInvocationId => Query::SubGroupLocalId,
        _ => return None,
    })
}

impl FunctionTranslator<'_, '_> {
    /// Loads a built-in variable, or a component of it. The result type says how wide.
    pub(super) fn load_builtin(
        &mut self,
        inst: &Inst<'_>,
        variable: Id,
        component: Option<Value>,
    ) -> Result<()> {
        let ty = self.unit.result_ir(inst)?;
        if !matches!(ty.scalar, Scalar::I32 | Scalar::I64) {
            return Err(self.error(
                inst,
                format!("a built-in variable of type {ty}, expected 32- or 64-bit integers"),
            ));
        }
        let number = self
            .unit
            .decoration(variable, Decoration::BuiltIn)
            .and_then(|words| words.first().copied());
        let builtin = number.and_then(BuiltIn::from_u32);
        let Some(builtin) = builtin else {
            return Err(self.error(inst, "an unknown built-in variable"));
        };
        if ty == Type::new(Scalar::I32, 4)
            && component.is_none()
            && let Some(value) = self.body.sub_group_mask(builtin)
        {
            return self.define(inst, value);
        }
        if let Some(query) = dim_query(builtin) {
            let value = match (component, ty.lanes) {
                (Some(component), 1) => self.body.dimension(query, component, ty),
                (None, 3) => {
                    let lanes = [0, 1, 2].map(|d| self.body.dim(query, d, ty.scalar));
                    self.body.build(&lanes)
                }
                _ => {
                    return Err(
                        self.error(inst, format!("a load of type {ty} of a vector of three"))
                    );
                }
            };
            return self.define(inst, value);
        }
        match query(builtin) {
            Some(query) if ty.is_scalar() && component.is_none() => {
                let value = self.body.b().val(IrOp::Query(query), &[], Type::I64);
                let value = self.body.resize(value, ty.scalar);
                self.define(inst, value)
            }
            Some(_) => Err(self.error(inst, format!("a load of type {ty} of a scalar"))),
            None if builtin == BuiltIn::NumEnqueuedSubgroups && ty.is_scalar() => {
                let value = self.body.num_enqueued_sub_groups();
                let value = self.body.resize(value, ty.scalar);
                self.define(inst, value)
            }
            None => Err(self
                .error(
                    inst,
                    format!("the built-in variable {builtin:?} is not supported yet"),
                )
                .under(BUILT_IN_VARIABLES)),
        }
    }
}

impl Body {
    /// Sub-groups of a work-group of the enqueued size: work-items over the largest sub-group,
    /// rounded up.
    fn num_enqueued_sub_groups(&mut self) -> Value {
        let [x, y, z] = [0, 1, 2].map(|d| self.dim(DimQuery::EnqueuedLocalSize, d, Scalar::I64));
        let one = self.iconst(Type::I64, 1);
        let mut f = self.b();
        let xy = f.binary(BinOp::IMul, x, y);
        let items = f.binary(BinOp::IMul, xy, z);
        let size = f.val(IrOp::Query(Query::SubGroupMaxSize), &[], Type::I64);
        let last = f.binary(BinOp::ISub, size, one);
        let sum = f.binary(BinOp::IAdd, items, last);
        f.binary(BinOp::UDiv, sum, size)
    }

    fn dim(&mut self, query: DimQuery, dimension: u8, scalar: Scalar) -> Value {
        let value = self
            .b()
            .val(IrOp::DimQuery(query, dimension), &[], Type::I64);
        self.resize(value, scalar)
    }

    /// The component with a number known now or only when the kernel runs.
    pub(super) fn dimension(&mut self, query: DimQuery, component: Value, ty: Type) -> Value {
        let outside = outside(query);
        match self.func.as_const(component) {
            Some(d @ 0..=2) => self.dim(query, d as u8, ty.scalar),
            Some(_) => self.iconst(ty, outside),
            None => {
                let mut value = self.iconst(ty, outside);
                for d in [2, 1, 0] {
                    let of_dimension = self.dim(query, d, ty.scalar);
                    value = self.select_equal(component, u64::from(d), of_dimension, value);
                }
                value
            }
        }
    }
}
