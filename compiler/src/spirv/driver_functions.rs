//! Functions that a module imports from the driver: `__devicelib_assert_fail` of
//! `cl_intel_devicelib_assert`, which is what compilers of SYCL make of `assert`.

use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::module::Unit;
use super::rules::LINKAGE;
use super::types::Kind;
use crate::ir::{DeviceOp, Op as IrOp, Scalar, Type, Value};

const ASSERT_FAIL: &str = "__devicelib_assert_fail";

impl Unit<'_> {
    /// Whether a function is one that the driver provides, since no module does.
    pub(super) fn is_of_driver(&self, id: Id) -> bool {
        let is_declared = |id| {
            self.functions
                .get(&id)
                .is_some_and(|def| def.body.is_empty())
        };
        is_declared(id)
            && self
                .linkage(id)
                .is_some_and(|(name, _)| name == ASSERT_FAIL)
    }
}

impl FunctionTranslator<'_, '_> {
    /// A call of `void __devicelib_assert_fail(expression, file, line, function, global id of x, y,
    /// z, local id of x, y, z)`. Pointers may be of any type: compilers write what is behind them.
    pub(super) fn fail_assertion(&mut self, inst: &Inst<'_>) -> Result<()> {
        let what = DeviceOp::FailAssertion;
        let (wanted, given) = (what.operands(), &inst.operands[1..]);
        let result = self.unit.result_type(inst)?;
        let is_void = matches!(self.unit.type_of_id(inst, result)?.kind, Kind::Void);
        if !is_void || given.len() != wanted.len() {
            let message = format!("{ASSERT_FAIL:?} is not declared as the driver defines it");
            return Err(self.error(inst, message).under(LINKAGE));
        }
        let mut args: Vec<Value> = Vec::new();
        for (&id, &scalar) in given.iter().zip(wanted) {
            args.push(match scalar {
                Scalar::Ptr => self.pointer(inst, id)?.address,
                scalar => self.typed(inst, id, Type::new(scalar, 1))?,
            });
        }
        let op = IrOp::Device {
            what,
            block: None,
            masked: false,
        };
        self.body.b().ins(op, &args, &[]);
        Ok(())
    }
}
