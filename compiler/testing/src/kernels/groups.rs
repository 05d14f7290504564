//! What work-items do together, in work-groups and in sub-groups.

use super::Generator;
use brolga_compiler::ir::{BinOp, Type};
use rand::Rng;

impl Generator {
    /// Work-items of a group exchange values through work-group memory.
    pub(super) fn exchange(&mut self) {
        let scalar = self.scalar();
        let ty = Type::new(scalar, 1);
        let size = scalar.bytes();
        let value = self.value(ty);
        let value = self.canonical(value, ty);
        let base = if self.chance(0.5) {
            6
        } else {
            let tile = self.fresh();
            self.line(&format!("v{tile}: ptr = local_addr l0"));
            tile
        };
        let (linear, count) = (self.local_linear, self.local_count);
        self.line("barrier.workgroup.acqrel.local");
        let mine = self.element(base, linear, u64::from(size));
        self.line(&format!("store.local.align{size} v{mine}, v{value}"));
        self.line("barrier.workgroup.acqrel.local.global");
        let other = match self.rng.random_range(0..3) {
            0 => self.number(Type::I64, 0),
            1 => {
                let by = self.rng.random_range(1..6);
                let by = self.number(Type::I64, by);
                let sum = self.emit(Type::I64, "iadd", &[linear, by]);
                self.emit(Type::I64, "urem", &[sum, count])
            }
            _ => {
                let n = self.value(Type::I32);
                let wide = self.emit(Type::I64, "convert.zext.rte", &[n]);
                self.emit(Type::I64, "urem", &[wide, count])
            }
        };
        let uniform = self.is_uniform(other);
        let theirs = self.element(base, other, u64::from(size));
        self.load(ty, "local", size, theirs, uniform);
    }

    /// The work-items of a sub-group that are here do something together.
    pub(super) fn sub_group(&mut self) {
        let number = |this: &mut Self| {
            let n = this.value(Type::I32);
            let most = this.number(Type::I32, 17);
            this.emit(Type::I32, "urem", &[n, most])
        };
        let what = |name: &str| format!("collective.subgroup.{name}");
        match self.rng.random_range(0..10) {
            0 => self.line("collective.subgroup.sync"),
            1 => {
                self.emit_as(Type::I1, &what("elect"), &[], false);
            }
            2 => {
                let cond = self.condition(false);
                let name = self.pick(&["all", "any"]);
                self.emit_as(Type::I1, &what(name), &[cond], false);
            }
            3 => {
                let cond = self.condition(false);
                self.emit_as(Type::I64, &what("ballot"), &[cond], false);
            }
            4 => {
                let scalar = self.scalar();
                let value = self.value(Type::new(scalar, 1));
                self.emit_as(Type::I1, &what("all_equal"), &[value], false);
            }
            5 => {
                let ty = self.ty();
                let value = self.value(ty);
                self.emit_as(ty, &what("broadcast_first"), &[value], false);
            }
            6 | 7 => {
                let ty = self.ty();
                let (value, number) = (self.value(ty), number(self));
                let name = self.pick(&["shuffle", "shuffle", "broadcast"]);
                self.emit_as(ty, &what(name), &[value, number], false);
            }
            _ => {
                let name = self.pick(&["reduce", "inclusive", "exclusive", "cluster"]);
                let size = match name {
                    "cluster" => self.pick(&[".1", ".2", ".4", ".16"]),
                    _ => "",
                };
                let (ty, op) = self.combination();
                let value = self.value(ty);
                let op = what(&format!("{name}.{op}{size}"));
                self.emit_as(ty, &op, &[value], false);
            }
        }
    }

    /// A type and an operation that combines values of it.
    pub(super) fn combination(&mut self) -> (Type, &'static str) {
        let ty = self.ty();
        let ops: Vec<&str> = BinOp::ALL
            .iter()
            .filter(|op| op.is_associative() && op.is_float() == ty.scalar.is_float())
            .map(|op| op.name())
            .collect();
        (ty, self.pick(&ops))
    }

    /// The work-items of a group do something together.
    pub(super) fn work_group(&mut self) {
        let what = |name: &str| format!("collective.workgroup.{name}");
        match self.rng.random_range(0..5) {
            0 => {
                let cond = self.condition(false);
                let name = self.pick(&["all", "any"]);
                self.emit_as(Type::I1, &what(name), &[cond], true);
            }
            1 => {
                let ty = self.ty();
                let value = self.value(ty);
                // The same number for all.
                let n = self.uniform(Type::I32);
                let most = self.number(Type::I32, 40);
                let number = self.emit(Type::I32, "urem", &[n, most]);
                self.emit_as(ty, &what("broadcast"), &[value, number], true);
            }
            _ => {
                let name = self.pick(&["reduce", "inclusive", "exclusive"]);
                let (ty, op) = self.combination();
                let value = self.value(ty);
                self.emit_as(
                    ty,
                    &what(&format!("{name}.{op}")),
                    &[value],
                    name == "reduce",
                );
            }
        }
    }
}
