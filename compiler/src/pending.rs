//! Stages that are about to land, standing in so that the rest builds.
use crate::*;
pub fn prepare_kernel(
    m: &ir::Module,
    k: usize,
    _: &BuildOptions,
) -> Result<(ir::Function, Vec<ir::ParamSource>), Diagnostic> {
    let mut f = crate::transform::inline::inline_all(m, m.kernels[k].func)?;
    cleanup(&mut f);
    Ok((f, m.kernels[k].params.clone()))
}
pub fn cleanup(f: &mut ir::Function) {
    use crate::transform::*;
    for _ in 0..2 {
        fold::run(f);
        simplify_cfg::run(f);
        gvn::run(f);
        licm::run(f);
        dce::run(f);
    }
}
