//! Control flow that no structure has: what `goto` and optimisers make.

use std::fmt::Write as _;

use super::Generator;
use brolga_compiler::ir::Type;
use rand::Rng;

impl Generator {
    /// Four blocks that jump forward to any later one.
    pub(super) fn unstructured(&mut self, depth: u32) {
        let ty = self.carried();
        let blocks: Vec<usize> = (0..5).map(|_| self.new_block()).collect();
        let before = self.converged;
        self.converged = false;
        let scope = self.scope.len();
        let value = self.value(ty);
        let cond = self.condition(false);
        self.line(&format!(
            "cond_br v{cond}, block{}(v{value}), block{}(v{value})",
            blocks[0], blocks[1]
        ));
        for (i, &block) in blocks[..4].iter().enumerate() {
            self.scope.truncate(scope);
            self.join(block, ty, false);
            let value = self.arm(depth, ty, false);
            let cond = self.condition(false);
            let (a, b) = (
                self.rng.random_range(i + 1..5),
                self.rng.random_range(i + 1..5),
            );
            // Every block is someone's target.
            let a = if i == 0 { 2 } else { a };
            let b = if i == 1 { 3 } else { b };
            self.line(&format!(
                "cond_br v{cond}, block{}(v{value}), block{}(v{value})",
                blocks[a], blocks[b]
            ));
        }
        self.scope.truncate(scope);
        self.converged = before;
        self.join(blocks[4], ty, false);
    }

    /// Blocks that jump to each other, entered at two or three of them: a loop with several
    /// entries.
    pub(super) fn jumps_into_a_loop(&mut self, depth: u32) {
        let uniform = self.converged && self.chance(0.5);
        let ty = self.carried();
        let most = self.small_number(uniform, 0.5, 6, 7);
        let blocks: Vec<usize> = (0..self.rng.random_range(2..5))
            .map(|_| self.new_block())
            .collect();
        let after = self.new_block();
        let (zero, one) = (self.number(Type::I32, 0), self.number(Type::I32, 1));
        let before = self.converged;
        if blocks.len() > 2 && self.chance(0.4) {
            let on = if uniform {
                self.uniform(Type::I32)
            } else {
                self.value(Type::I32)
            };
            let (a, b, c) = (self.value(ty), self.value(ty), self.value(ty));
            self.line(&format!(
                "switch v{on}, default block{}(v{zero}, v{a}), 0x0: block{}(v{one}, v{b}), 0x1: block{}(v{zero}, v{c})",
                blocks[0], blocks[1], blocks[2]
            ));
        } else {
            let cond = self.condition(uniform);
            let (a, b) = (self.value(ty), self.value(ty));
            self.line(&format!(
                "cond_br v{cond}, block{}(v{zero}, v{a}), block{}(v{zero}, v{b})",
                blocks[0], blocks[1]
            ));
        }
        self.converged = before && uniform;
        let scope = self.scope.len();
        for (i, &block) in blocks.iter().enumerate() {
            let (count, carried) = (self.fresh(), self.fresh());
            let _ = writeln!(self.text, "block{block}(v{count}: i32, v{carried}: {ty}):");
            self.add(count, Type::I32, self.converged);
            self.add(carried, ty, false);
            let value = self.arm(depth, ty, false);
            // Whoever jumps has counted: nobody does so for ever.
            let next = self.emit(Type::I32, "iadd", &[count, one]);
            let more = self.emit(Type::I1, "icmp.ult", &[next, most]);
            let on = self.new_block();
            self.line(&format!(
                "cond_br v{more}, block{on}, block{after}(v{value})"
            ));
            self.begin(on);
            // Round all of them, so that they are one loop.
            let round = blocks[(i + 1) % blocks.len()];
            if self.chance(0.3) {
                self.line(&format!("br block{round}(v{next}, v{value})"));
            } else {
                let cond = self.condition(uniform);
                let other = self.pick(&blocks);
                self.line(&format!(
                    "cond_br v{cond}, block{round}(v{next}, v{value}), block{other}(v{next}, v{carried})"
                ));
            }
            self.scope.truncate(scope);
        }
        self.converged = before;
        self.join(after, ty, false);
    }
}
