//! Blocks, branches and loops.

use std::fmt::Write as _;

use super::{Generator, INPUTS};
use brolga_compiler::ir::Type;
use rand::Rng;

impl Generator {
    pub(super) fn new_block(&mut self) -> usize {
        self.next_block += 1;
        self.next_block - 1
    }

    pub(super) fn begin(&mut self, block: usize) {
        let _ = writeln!(self.text, "block{block}:");
    }

    /// Begins a block with a parameter.
    pub(super) fn join(&mut self, block: usize, ty: Type, uniform: bool) {
        let id = self.fresh();
        let _ = writeln!(self.text, "block{block}(v{id}: {ty}):");
        self.add(id, ty, uniform && self.converged);
    }

    /// Statements under other control flow, after which what they defined is out of scope.
    pub(super) fn arm(&mut self, depth: u32, ty: Type, uniform: bool) -> usize {
        self.statements(depth + 1);
        if uniform {
            self.uniform(ty)
        } else {
            self.result(ty)
        }
    }

    /// `if` with or without `else`, uniform or divergent, that hands on a value.
    pub(super) fn branch(&mut self, depth: u32) {
        let uniform = self.converged && self.chance(0.4);
        let cond = self.condition(uniform);
        let ty = self.carried();
        let before = self.converged;
        self.converged = before && uniform;
        let shared = self.converged && self.chance(0.5);
        let (then, els, after) = (self.new_block(), self.new_block(), self.new_block());
        let skip = if shared {
            self.uniform(ty)
        } else {
            self.value(ty)
        };
        let both = self.chance(0.6);
        if both {
            self.line(&format!("cond_br v{cond}, block{then}, block{els}"));
        } else {
            self.line(&format!(
                "cond_br v{cond}, block{then}, block{after}(v{skip})"
            ));
        }
        for block in [then, els] {
            if block == els && !both {
                break;
            }
            let scope = self.scope.len();
            self.begin(block);
            let value = self.arm(depth, ty, shared);
            self.line(&format!("br block{after}(v{value})"));
            self.scope.truncate(scope);
        }
        self.converged = before;
        self.join(after, ty, shared);
    }

    /// How often a loop goes round: a constant below `end`, with some chance, or bits of a value.
    pub(super) fn small_number(
        &mut self,
        uniform: bool,
        chance: f64,
        end: u64,
        bits: u64,
    ) -> usize {
        if self.chance(chance) {
            let n = self.rng.random_range(0..end);
            return self.number(Type::I32, n);
        }
        let n = if uniform {
            self.uniform(Type::I32)
        } else {
            self.value(Type::I32)
        };
        let mask = self.number(Type::I32, bits);
        self.emit(Type::I32, "and", &[n, mask])
    }

    /// A counted loop that carries a value, with a break and a `continue` perhaps. The trip count
    /// may differ between work-items.
    pub(super) fn repeat(&mut self, depth: u32) {
        let uniform = self.converged && self.chance(0.5);
        let ty = self.carried();
        let (header, body, after) = (self.new_block(), self.new_block(), self.new_block());
        let first = self.value(ty);
        let zero = self.number(Type::I32, 0);
        let rounds = self.small_number(uniform, 0.4, 5, 3);
        self.line(&format!("br block{header}(v{zero}, v{first})"));
        let scope = self.scope.len();
        let before = self.converged;
        self.converged = before && uniform;
        let (count, carried) = (self.fresh(), self.fresh());
        let _ = writeln!(self.text, "block{header}(v{count}: i32, v{carried}: {ty}):");
        self.add(count, Type::I32, self.converged);
        self.add(carried, ty, false);
        let more = self.emit(Type::I1, "icmp.ult", &[count, rounds]);
        self.line(&format!(
            "cond_br v{more}, block{body}, block{after}(v{carried})"
        ));
        self.begin(body);
        self.statements(depth + 1);
        let latch = self.new_block();
        if self.chance(0.4) {
            let leave = self.condition(uniform);
            let value = self.value(ty);
            let next = self.new_block();
            self.line(&format!(
                "cond_br v{leave}, block{after}(v{value}), block{next}"
            ));
            self.begin(next);
            self.statements(depth + 1);
        }
        if self.chance(0.3) {
            let skip = self.condition(uniform);
            let value = self.value(ty);
            let next = self.new_block();
            self.line(&format!(
                "cond_br v{skip}, block{latch}(v{value}), block{next}"
            ));
            let inner = self.scope.len();
            self.begin(next);
            self.statements(depth + 1);
            let value = self.result(ty);
            self.line(&format!("br block{latch}(v{value})"));
            self.scope.truncate(inner);
        } else {
            let value = self.result(ty);
            self.line(&format!("br block{latch}(v{value})"));
        }
        self.join(latch, ty, false);
        let value = self.result(ty);
        let one = self.number(Type::I32, 1);
        let next = self.emit(Type::I32, "iadd", &[count, one]);
        self.line(&format!("br block{header}(v{next}, v{value})"));
        self.scope.truncate(scope);
        self.converged = before;
        self.join(after, ty, false);
    }

    /// A loop that work-items run as often as they like, in whose first rounds, which all have,
    /// they meet.
    pub(super) fn guarded_rounds(&mut self, depth: u32) {
        let ty = self.carried();
        let (header, body, after) = (self.new_block(), self.new_block(), self.new_block());
        let (all, rest) = (self.new_block(), self.new_block());
        let first = self.value(ty);
        let zero = self.number(Type::I32, 0);
        let common = self.rng.random_range(0..3);
        let common = self.number(Type::I32, common);
        let own = self.value(Type::I32);
        let mask = self.number(Type::I32, 3);
        let own = self.emit(Type::I32, "and", &[own, mask]);
        let rounds = self.emit(Type::I32, "iadd", &[common, own]);
        self.line(&format!("br block{header}(v{zero}, v{first})"));
        let scope = self.scope.len();
        let (count, carried) = (self.fresh(), self.fresh());
        let _ = writeln!(self.text, "block{header}(v{count}: i32, v{carried}: {ty}):");
        self.add(count, Type::I32, false);
        self.add(carried, ty, false);
        let more = self.emit(Type::I1, "icmp.ult", &[count, rounds]);
        self.line(&format!(
            "cond_br v{more}, block{body}, block{after}(v{carried})"
        ));
        self.begin(body);
        let same = self.emit(Type::I1, "icmp.ult", &[count, common]);
        self.line(&format!(
            "cond_br v{same}, block{all}, block{rest}(v{carried})"
        ));
        let inner = self.scope.len();
        self.begin(all);
        self.exchange();
        self.statements(depth + 1);
        let value = self.result(ty);
        self.line(&format!("br block{rest}(v{value})"));
        self.scope.truncate(inner);
        self.converged = false;
        self.join(rest, ty, false);
        self.statements(depth + 1);
        let value = self.result(ty);
        let one = self.number(Type::I32, 1);
        let next = self.emit(Type::I32, "iadd", &[count, one]);
        self.line(&format!("br block{header}(v{next}, v{value})"));
        self.scope.truncate(scope);
        self.converged = true;
        self.join(after, ty, false);
    }

    /// Barriers one after the other, every second under a condition: one that is seen to be the
    /// same for all work-items, or one that just is.
    pub(super) fn barriers_in_turn(&mut self, depth: u32) {
        let ty = self.carried();
        let mut bits = self.uniform(Type::I32);
        if self.chance(0.6) {
            // Zero for all, as ids are less than how many there are.
            let (id, count) = (self.local_linear, self.local_count);
            let zero = self.emit(Type::I64, "udiv", &[id, count]);
            let zero = self.emit(Type::I32, "convert.trunc.rte", &[zero]);
            bits = self.emit(Type::I32, "iadd", &[bits, zero]);
        }
        for _ in 0..self.rng.random_range(2..6) {
            self.meet();
            let bit = 1 << self.rng.random_range(0..3);
            let bit = self.number(Type::I32, bit);
            let bit = self.emit(Type::I32, "and", &[bits, bit]);
            let zero = self.number(Type::I32, 0);
            let cond = self.emit(Type::I1, "icmp.ne", &[bit, zero]);
            let (then, after) = (self.new_block(), self.new_block());
            let skip = self.value(ty);
            self.line(&format!(
                "cond_br v{cond}, block{then}, block{after}(v{skip})"
            ));
            let scope = self.scope.len();
            self.begin(then);
            self.meet();
            self.statements(depth + 1);
            let value = self.result(ty);
            self.line(&format!("br block{after}(v{value})"));
            self.scope.truncate(scope);
            self.join(after, ty, false);
        }
    }

    fn meet(&mut self) {
        match self.chance(0.5) {
            true => self.exchange(),
            false => self.line("barrier.workgroup.acqrel.local"),
        }
    }

    /// A switch whose cases may go on to the next case.
    pub(super) fn switch(&mut self, depth: u32) {
        let uniform = self.converged && self.chance(0.4);
        let ty = self.carried();
        let on = if uniform {
            self.uniform(Type::I32)
        } else {
            self.value(Type::I32)
        };
        let mask = self.number(Type::I32, 3);
        let on = self.emit(Type::I32, "and", &[on, mask]);
        let before = self.converged;
        self.converged = before && uniform;
        let after = self.new_block();
        let cases: Vec<usize> = (0..self.rng.random_range(1..4))
            .map(|_| self.new_block())
            .collect();
        let default = self.value(ty);
        let list: Vec<String> = cases
            .iter()
            .enumerate()
            .map(|(i, block)| format!("{i:#x}: block{block}(v{default})"))
            .collect();
        self.line(&format!(
            "switch v{on}, default block{after}(v{default}), {}",
            list.join(", ")
        ));
        for (i, &block) in cases.iter().enumerate() {
            let scope = self.scope.len();
            self.join(block, ty, false);
            let value = self.arm(depth, ty, false);
            let to = match cases.get(i + 1) {
                Some(&next) if self.chance(0.4) => next,
                _ => after,
            };
            self.line(&format!("br block{to}(v{value})"));
            self.scope.truncate(scope);
        }
        self.converged = before;
        self.join(after, ty, false);
    }

    /// `for (i = id; i < end; i += step)`, which reads the inputs side by side.
    pub(super) fn stride_loop(&mut self, depth: u32) {
        let (header, body, after) = (self.new_block(), self.new_block(), self.new_block());
        let end = self.rng.random_range(1..=INPUTS);
        let end = self.number(Type::I64, end);
        let step = if self.chance(0.5) {
            let step = self.range.global[0].max(8);
            self.number(Type::I64, step)
        } else {
            let step = self.rng.random_range(9..40);
            self.number(Type::I64, step)
        };
        let zero = self.number(Type::I32, 0);
        let id = self.global_id;
        self.line(&format!("br block{header}(v{id}, v{zero})"));
        let scope = self.scope.len();
        let before = self.converged;
        self.converged = false;
        let (i, sum) = (self.fresh(), self.fresh());
        let _ = writeln!(self.text, "block{header}(v{i}: i64, v{sum}: i32):");
        self.add(i, Type::I64, false);
        self.add(sum, Type::I32, false);
        let cc = self.pick(&["icmp.ult", "icmp.slt"]);
        let more = self.emit(Type::I1, cc, &[i, end]);
        self.line(&format!(
            "cond_br v{more}, block{body}, block{after}(v{sum})"
        ));
        self.begin(body);
        let which = self.rng.random_range(0..2);
        let scalar = self.inputs[which];
        let address = self.element(which, i, u64::from(scalar.bytes()));
        self.load(
            Type::new(scalar, 1),
            "global",
            scalar.bytes(),
            address,
            false,
        );
        if self.chance(0.5) {
            self.statements(depth + 1);
        }
        let sum = self.digest(4, false);
        let next = self.emit(Type::I64, "iadd", &[i, step]);
        self.line(&format!("br block{header}(v{next}, v{sum})"));
        self.scope.truncate(scope);
        self.converged = before;
        self.join(after, Type::I32, false);
    }

    /// A load where an index that may wrap is inside the buffer.
    pub(super) fn guarded_load(&mut self) {
        let id = self.global_id;
        let ty = self.pick(&[Type::I8, Type::I16, Type::I32, Type::I32, Type::I64]);
        let n = if ty == Type::I64 {
            id
        } else {
            self.emit(ty, "convert.trunc.rte", &[id])
        };
        let other = if self.chance(0.7) {
            let by = self.rng.random_range(0..20);
            self.number(ty, by)
        } else {
            self.value(ty)
        };
        let op = self.pick(&["iadd", "isub", "imul", "xor", "shl"]);
        let i = self.emit(ty, op, &[n, other]);
        let end = self.number(ty, INPUTS);
        let inside = self.emit(Type::I1, "icmp.ult", &[i, end]);
        let which = self.rng.random_range(0..2);
        let scalar = self.inputs[which];
        let value_ty = Type::new(scalar, 1);
        let default = self.value(value_ty);
        let (then, after) = (self.new_block(), self.new_block());
        self.line(&format!(
            "cond_br v{inside}, block{then}, block{after}(v{default})"
        ));
        let scope = self.scope.len();
        let before = self.converged;
        self.converged = false;
        self.begin(then);
        let wide = if ty == Type::I64 {
            i
        } else {
            let op = self.pick(&["convert.zext.rte", "convert.sext.rte"]);
            self.emit(Type::I64, op, &[i])
        };
        let address = self.element(which, wide, u64::from(scalar.bytes()));
        self.load(value_ty, "global", scalar.bytes(), address, false);
        let loaded = self.scope[self.scope.len() - 1].id;
        self.line(&format!("br block{after}(v{loaded})"));
        self.scope.truncate(scope);
        self.converged = before;
        self.join(after, value_ty, false);
    }

    /// What most kernels start with: those beyond a bound end at once.
    pub(super) fn guard(&mut self) {
        let id = self.global_id;
        let n = 5;
        let compared = match self.rng.random_range(0..6) {
            3.. => self.index_and_bound(),
            0 => {
                let id = self.emit(Type::I32, "convert.trunc.rte", &[id]);
                (id, n)
            }
            1 => (id, self.emit(Type::I64, "convert.sext.rte", &[n])),
            _ => (id, self.emit(Type::I64, "convert.zext.rte", &[n])),
        };
        let (a, b) = compared;
        let (end, next) = (self.new_block(), self.new_block());
        if self.chance(0.5) {
            let cc = self.pick(&["icmp.ult", "icmp.slt"]);
            let inside = self.emit(Type::I1, cc, &[a, b]);
            self.line(&format!("cond_br v{inside}, block{next}, block{end}"));
        } else {
            let cc = self.pick(&["icmp.uge", "icmp.sge", "icmp.ugt"]);
            let outside = self.emit(Type::I1, cc, &[a, b]);
            self.line(&format!("cond_br v{outside}, block{end}, block{next}"));
        }
        self.begin(end);
        self.line("ret");
        self.begin(next);
    }

    /// A number of 32 bits that goes up or down from work-item to work-item and may wrap, extended
    /// perhaps, and one to compare it with, in either order.
    fn index_and_bound(&mut self) -> (usize, usize) {
        let mut ty = Type::I32;
        let id = self.global_id;
        let mut index = self.emit(ty, "convert.trunc.rte", &[id]);
        if self.chance(0.3) {
            let factor = self.pick(&[2, 3, 0xffff_ffff, 1 << 24]);
            let factor = self.number(ty, factor);
            index = self.emit(ty, "imul", &[index, factor]);
        }
        let start = self.pick(&[0, 0x7fff_ffe0, 0xffff_ffe0]) + self.rng.random_range(0..32);
        let first = self.number(ty, start);
        index = match self.rng.random_range(0..3) {
            0 => self.emit(ty, "isub", &[first, index]),
            1 => self.emit(ty, "isub", &[index, first]),
            _ => self.emit(ty, "iadd", &[index, first]),
        };
        let mut bound = if self.chance(0.5) {
            5
        } else {
            let near = (start + self.rng.random_range(0..32)) & 0xffff_ffff;
            self.number(ty, near)
        };
        if self.chance(0.7) {
            ty = Type::I64;
            let mut extended = |number| {
                let op = self.pick(&["convert.sext.rte", "convert.zext.rte"]);
                self.emit(ty, op, &[number])
            };
            (index, bound) = (extended(index), extended(bound));
        }
        if self.chance(0.5) {
            (index, bound)
        } else {
            (bound, index)
        }
    }

    /// Some work-items end here.
    pub(super) fn leave(&mut self) {
        let cond = self.condition(false);
        let (end, next) = (self.new_block(), self.new_block());
        self.line(&format!("cond_br v{cond}, block{end}, block{next}"));
        self.begin(end);
        self.line("ret");
        self.begin(next);
    }
}
