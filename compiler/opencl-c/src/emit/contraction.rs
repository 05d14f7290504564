//! Which expressions `a * b + c` may be rounded once, as `#pragma OPENCL FP_CONTRACT` says at each
//! place.
//!
//! SPIR-V allows all of a kernel to be contracted unless its entry point is `ContractionOff`. That
//! reaches everything the entry point calls, while the pragma may be `OFF` in one compound
//! statement of it. So, of whole programs:
//!
//! - An entry point that reaches floating-point arithmetic under `OFF` is `ContractionOff`.
//! - Where a source has the pragma, sums of products that are not under `OFF` are written as
//!   OpenCL.std's `mad`, which is "implemented either as a correctly rounded fma or as a multiply
//!   followed by an add" (OpenCL SPIR-V Environment Specification, "ULP Values for Math
//!   Instructions"): contracted as before, whatever the entry point has.
//!
//! Every consumer and validator of SPIR-V for kernels knows these two. What is to be linked later
//! may be called from entry points that do not know of it; there each operation says for itself
//! what it allows, with the `FPFastMathMode` of SPV_KHR_float_controls2, `AllowContract` among it.
//! (`NoContraction` would say it too, but is of shaders.) Sources without the pragma have none of
//! all this.

use std::mem;

use super::function::FunctionEmitter;
use super::module::ModuleEmitter;
use super::words::Id;
use crate::spirv::std::mad;
use crate::spirv::{capability, fast_math, op};
use crate::token::{InForce, Loc};
use crate::types::{Scalar, TypeId};

/// What a module knows of contraction.
pub(super) struct Contractions<'a> {
    in_force: &'a InForce<bool>,
    whole_program: bool,
    /// The function being written has an operation that its entry points must not contract.
    is_strict: bool,
}

impl<'a> Contractions<'a> {
    pub(super) fn new(in_force: &'a InForce<bool>, whole_program: bool) -> Contractions<'a> {
        Contractions {
            in_force,
            whole_program,
            is_strict: false,
        }
    }

    fn allowed(&self, loc: Loc) -> bool {
        self.in_force.at(loc) != Some(false)
    }

    /// Whether entry points say what is not contracted, rather than each operation.
    fn by_entry_point(&self) -> bool {
        self.whole_program && !self.in_force.is_empty()
    }

    fn by_operation(&self) -> bool {
        !self.whole_program && !self.in_force.is_empty()
    }

    /// Whether a function had operations that its entry points must not contract.
    pub(super) fn take_strict(&mut self) -> bool {
        mem::take(&mut self.is_strict)
    }
}

impl ModuleEmitter<'_> {
    /// What options and `FP_CONTRACT` allow of an operation, as `FPFastMathMode`; `None` for what
    /// is allowed without it.
    pub(super) fn fast_math_flags(&mut self, loc: Loc) -> Option<u32> {
        let options = self.options;
        let allowed = self.contractions.allowed(loc);
        if !self.contractions.by_operation() {
            self.contractions.is_strict |= !allowed;
            return if options.fast_relaxed_math {
                Some(fast_math::FAST)
            } else {
                let finite = fast_math::NOT_NAN | fast_math::NOT_INF;
                options.finite_math_only.then_some(finite)
            };
        }
        // SPV_KHR_float_controls2 has its own bits in place of `Fast`.
        let mut flags = 0;
        if options.fast_relaxed_math || options.finite_math_only {
            flags |= fast_math::NOT_NAN | fast_math::NOT_INF;
        }
        if options.fast_relaxed_math {
            flags |= fast_math::NO_SIGNED_ZERO | fast_math::ALLOW_RECIP;
        }
        if allowed && flags == 0 {
            return None;
        }
        if allowed {
            flags |= fast_math::ALLOW_CONTRACT;
        }
        if allowed && options.fast_relaxed_math {
            flags |= fast_math::ALLOW_REASSOC | fast_math::ALLOW_TRANSFORM;
        }
        self.capability(capability::FLOAT_CONTROLS2);
        self.extension("SPV_KHR_float_controls2");
        Some(flags)
    }
}

impl FunctionEmitter<'_, '_> {
    /// Notes a product that may become part of a sum of the same statement.
    pub(super) fn note_product(&mut self, product: Id, factors: [Id; 2], ty: TypeId, loc: Loc) {
        if self.module.contractions.by_entry_point() && self.may_contract(ty, loc) {
            self.products.push((product, factors));
        }
    }

    /// A sum or difference as `mad`, where that is what keeps the permission to contract it. The
    /// product itself is left to whoever removes what is not used.
    pub(super) fn contracted(
        &mut self,
        is_difference: bool,
        (left, right): (Id, Id),
        ty: TypeId,
        loc: Loc,
    ) -> Option<Id> {
        if self.products.is_empty() || !self.may_contract(ty, loc) {
            return None;
        }
        // Identifiers grow, so that the list is in their order.
        let factors = |product: Id| {
            let at = self
                .products
                .binary_search_by_key(&product.0, |(id, _)| id.0);
            at.ok().map(|at| self.products[at].1)
        };
        let operands = if let Some([a, b]) = factors(left) {
            let c = match is_difference {
                true => self.value(op::F_NEGATE, ty, &[right.0]),
                false => right,
            };
            [a, b, c]
        } else {
            let [a, b] = factors(right)?;
            let a = match is_difference {
                true => self.value(op::F_NEGATE, ty, &[a.0]),
                false => a,
            };
            [a, b, left]
        };
        let sum = self.std(mad, ty, &operands);
        if let Some(flags) = self.module.fast_math_flags(loc) {
            self.module.decorate_fast_math(sum, flags);
        }
        Some(sum)
    }

    /// `mad` rounds to nearest; halves gain nothing from it.
    fn may_contract(&self, ty: TypeId, loc: Loc) -> bool {
        matches!(self.scalar(ty), Scalar::Float | Scalar::Double)
            && self.module.contractions.allowed(loc)
            && self.module.roundings.at(loc).is_none()
    }
}
