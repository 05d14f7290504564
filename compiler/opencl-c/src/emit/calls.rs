//! Who calls whom.

use crate::hir::{Constant, ExprKind, Function, FunctionId};

pub(super) struct Calls {
    /// The walk that came to each function last: walks are told apart by number, so that a short
    /// one costs no more in a long program.
    reached_in: Vec<u32>,
    walks: u32,
    /// Functions that each function calls, or names as a block.
    callees: Vec<Vec<FunctionId>>,
    pub is_called: Vec<bool>,
}

impl Calls {
    pub fn new(functions: &[Function]) -> Calls {
        let mut is_called = vec![false; functions.len()];
        let mut callees = Vec::with_capacity(functions.len());
        for function in functions {
            let mut named = Vec::new();
            for expr in &function.exprs {
                match &expr.kind {
                    ExprKind::Call(callee, _)
                    | ExprKind::CallBlock {
                        function: callee, ..
                    }
                    | ExprKind::Block {
                        function: callee, ..
                    }
                    | ExprKind::Constant(Constant::Block(callee)) => named.push(*callee),
                    ExprKind::Builtin(call, _) => {
                        named.extend(call.blocks.iter().map(|block| block.function));
                    }
                    _ => {}
                }
            }
            named.sort_unstable();
            named.dedup();
            for callee in &named {
                is_called[callee.0 as usize] = true;
            }
            callees.push(named);
        }
        Calls {
            reached_in: vec![0; functions.len()],
            walks: 0,
            callees,
            is_called,
        }
    }

    /// A function and all that it leads to.
    pub fn reached_from(&mut self, root: FunctionId) -> Vec<FunctionId> {
        self.reached([root].into())
    }

    fn reached(&mut self, roots: Vec<FunctionId>) -> Vec<FunctionId> {
        self.walks += 1;
        let mut reached = Vec::new();
        let mut work = roots;
        while let Some(function) = work.pop() {
            let last = &mut self.reached_in[function.0 as usize];
            if std::mem::replace(last, self.walks) == self.walks {
                continue;
            }
            reached.push(function);
            work.extend(&self.callees[function.0 as usize]);
        }
        reached
    }

    /// Which functions the module has: those that it defines and those that they call; of a whole
    /// program only what its kernels reach.
    pub fn wanted(&mut self, functions: &[Function], whole_program: bool) -> Vec<bool> {
        let is_root = |function: &Function| {
            function.body.is_some() && (!whole_program || function.kernel.is_some())
        };
        let ids = (0..functions.len() as u32).map(FunctionId);
        let roots = ids.filter(|id| is_root(&functions[id.0 as usize]));
        let mut wanted = vec![false; functions.len()];
        for id in self.reached(roots.collect()) {
            wanted[id.0 as usize] = true;
        }
        wanted
    }
}
