//! Stages that are about to land, standing in so that the rest builds.
use crate::*;
pub fn spec_constants(_: &[u32]) -> Result<Vec<SpecConstantInfo>, Diagnostic> {
    Err(Diagnostic::new("pending"))
}
pub fn translate(
    _: &[&[u32]],
    _: &SpecConstants,
    _: &BuildOptions,
) -> Result<ir::Module, Diagnostic> {
    Err(Diagnostic::new("pending"))
}
pub fn prepare_kernel(
    _: &ir::Module,
    _: usize,
    _: &BuildOptions,
) -> Result<(ir::Function, Vec<ir::ParamSource>), Diagnostic> {
    Err(Diagnostic::new("pending"))
}
pub fn cleanup(_: &mut ir::Function) {}
pub struct WorkGroupCode {
    pub function: ir::Function,
    pub context_bytes_per_item: u64,
    pub remarks: Vec<String>,
}
pub fn build(
    _: &ir::Function,
    _: &[ir::ParamSource],
    _: u8,
    _: &LaunchKey,
) -> Result<WorkGroupCode, Diagnostic> {
    Err(Diagnostic::new("pending"))
}
pub fn choose_width(_: &ir::Function) -> (u8, Vec<String>) {
    (1, Vec::new())
}
