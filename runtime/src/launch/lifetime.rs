//! What runs at the beginning and at the end of a program's life: its initializers and finalizers
//! (OpenCL SPIR-V Environment Specification, "Kernel Functions").

use std::sync::Arc;

use brolga_compiler::{KernelRole, NdRange};

use crate::code::executable::Executable;
use crate::context::Context;
use crate::launch::work::{ArgBlock, LaunchWork, Plan};

/// Runs the initializers, in their order, and makes the finalizers ready. Errors are for the build
/// log.
pub(crate) fn begin(executable: &mut Executable, context: &Arc<Context>) -> Result<(), String> {
    let initializers = executable.kernels_with_role(KernelRole::Initializer);
    executable.has_initializers = !initializers.is_empty();
    for kernel in initializers {
        let work = single_item(executable, context, kernel)?;
        work.run(None, 0, 1)
            .map_err(|error| format!("error: an initializer could not run: {error}\n"))?;
        work.finish(0);
    }
    let finalizers = executable.kernels_with_role(KernelRole::Finalizer);
    let finalizers = finalizers
        .into_iter()
        .map(|kernel| single_item(executable, context, kernel));
    let finalizers = finalizers.collect::<Result<Vec<_>, _>>()?;
    if !finalizers.is_empty() {
        executable.drop_at_end(Box::new(Finalizers(finalizers)));
    }
    Ok(())
}

/// A launch of one work-item of a kernel without arguments.
fn single_item(
    executable: &Executable,
    context: &Arc<Context>,
    kernel: usize,
) -> Result<LaunchWork, String> {
    let range = NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [1; 3],
        local_size: [1; 3],
    };
    let code = executable
        .code(kernel, &range, range.local_size, &[])
        .map_err(|error| format!("{error}\n"))?;
    let local_mem_size = executable.kernels()[kernel].local_mem_size;
    let plan = Plan::new(context, code, range, local_mem_size);
    Ok(LaunchWork::new(plan, ArgBlock::new(0), None))
}

/// What to run at the end.
struct Finalizers(Vec<LaunchWork>);

impl Drop for Finalizers {
    fn drop(&mut self) {
        for work in &self.0 {
            // There is nothing left that an error could be reported to.
            if work.run(None, 0, 1).is_ok() {
                work.finish(0);
            }
        }
    }
}
