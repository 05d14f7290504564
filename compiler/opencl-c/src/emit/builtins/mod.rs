//! What calls of built-in functions become.

use super::function::FunctionEmitter;
use super::words::Id;
use crate::builtins::Call;
use crate::types::TypeId;

/// The instructions of a call; its value, unless it is `void`.
pub(super) fn emit(
    _e: &mut FunctionEmitter<'_, '_>,
    call: &Call,
    _args: &[(Id, TypeId)],
    _ty: TypeId,
) -> Option<Id> {
    panic!("{call:?}")
}
