//! The kernel around the statements: ids, arguments, the text of the file test.

use super::{Generator, INPUTS, OWN, PRIVATE, atomics, rows};
use brolga_compiler::ir::{Scalar, Type};
use rand::Rng;

impl Generator {
    /// Ids, sizes and places.
    pub(super) fn prologue(&mut self) {
        self.global_id = self.emit_as(Type::I64, "dim_query.global_id.0", &[], false);
        let id = self.global_id;
        self.emit(Type::I32, "convert.trunc.rte", &[id]);
        self.linear = if self.range.dims == 1 && self.range.offset[0] == 0 && self.chance(0.7) {
            id
        } else {
            self.emit_as(Type::I64, "query.global_linear_id", &[], false)
        };
        let queries = [
            ("global_id", false),
            ("local_id", false),
            ("group_id", true),
            ("global_size", true),
            ("local_size", true),
            ("enqueued_local_size", true),
            ("num_groups", true),
            ("global_offset", true),
        ];
        for _ in 0..self.rng.random_range(1..4) {
            let (name, uniform) = self.pick(&queries);
            let dim = self.rng.random_range(0..3);
            let wide = self.emit_as(Type::I64, &format!("dim_query.{name}.{dim}"), &[], uniform);
            if self.chance(0.7) {
                self.emit(Type::I32, "convert.trunc.rte", &[wide]);
            }
        }
        if self.chance(0.3) {
            self.emit_as(Type::I64, "query.work_dim", &[], true);
        }
        if self.sub_groups.is_some() {
            for name in ["id", "local_id", "size"] {
                let wide = self.emit_as(Type::I64, &format!("query.subgroup_{name}"), &[], false);
                self.emit(Type::I32, "convert.trunc.rte", &[wide]);
            }
            self.emit_as(Type::I64, "query.num_subgroups", &[], true);
        }
        if self.barriers {
            self.local_linear = self.emit_as(Type::I64, "query.local_linear_id", &[], false);
            let [x, y, z] = [0, 1, 2]
                .map(|d| self.emit_as(Type::I64, &format!("dim_query.local_size.{d}"), &[], true));
            let plane = self.emit(Type::I64, "imul", &[x, y]);
            self.local_count = self.emit(Type::I64, "imul", &[plane, z]);
        }
    }

    pub(super) fn file(mut self, seed: u64) -> String {
        // Parameters: inputs, outputs, counters, a number, work-group memory, a value, digests,
        // images, rows.
        for _ in 0..5 {
            self.fresh();
        }
        let n = self.fresh();
        self.add(n, Type::I32, true);
        self.fresh();
        let given = self.fresh();
        let given_ty = Type::new(self.inputs[0], 1);
        self.add(given, given_ty, true);
        for _ in 0..3 {
            self.fresh();
        }
        debug_assert_eq!(self.next, rows::FIRST);
        for _ in 0..3 {
            self.fresh();
        }
        for _ in 0..self.rng.random_range(0..3) {
            let scalar = self.scalar();
            let mut id = self.fresh();
            let used = PRIVATE * u64::from(scalar.bytes());
            // The array may be the end of a large object.
            let before = match self.rng.random_range(0..20) {
                0 => 300_000,
                1..4 => 6_000,
                _ => 0,
            };
            self.line(&format!("v{id}: ptr = alloca.{}.align8", before + used));
            if before > 0 {
                let offset = self.number(Type::I64, before);
                id = self.element(id, offset, 1);
            }
            self.arrays.push((id, scalar));
        }
        self.prologue();
        for (base, scalar) in self.arrays.clone() {
            for at in 0..PRIVATE {
                let ty = Type::new(scalar, 1);
                let value = self.value(ty);
                let value = self.canonical(value, ty);
                let at = self.number(Type::I64, at);
                let size = scalar.bytes();
                let address = self.element(base, at, u64::from(size));
                self.line(&format!("store.private.align{size} v{address}, v{value}"));
            }
        }
        if !self.barriers && self.chance(0.4) {
            self.guard();
        }
        while self.fuel > 0 {
            self.statements(0);
        }
        for which in [0, 1, 0] {
            self.store_own(which);
        }
        for which in [1, 2] {
            self.store_row(which);
        }
        let sum = self.digest(30, false);
        let linear = self.linear;
        let address = self.element(8, linear, 4);
        self.line(&format!("store.global.align4 v{address}, v{sum}"));
        self.line("ret");
        self.assemble(seed, given_ty)
    }

    /// The text around the instructions.
    pub(super) fn assemble(mut self, seed: u64, given: Type) -> String {
        let items = self.range.items();
        let n = self.rng.random_range(-3..40);
        let bits = self.bits(given.scalar);
        let local: u64 = self.range.local.iter().product::<u64>() * 8;
        let [a, b] = self.inputs.map(Scalar::name);
        let [c, d] = self.outputs.map(Scalar::name);
        let args = [
            format!("buffer {a} random {INPUTS} {seed}"),
            format!("buffer {b} random {INPUTS} {}", seed + 1),
            format!("buffer {c} random {} {}", items * OWN, seed + 2),
            format!("buffer {d} random {} {}", items * OWN, seed + 3),
            atomics::buffer(),
            format!("value i32 {n}"),
            format!("local {local}"),
            format!("value {a} {bits:#x}"),
            format!("buffer i32 zero {items}"),
        ];
        let args = args.into_iter().chain(self.image_arguments());
        let args = args.chain(self.row_arguments(seed));
        let args: Vec<String> = args.collect();
        let args: String = args.iter().map(|arg| format!("; arg: {arg}\n")).collect();
        let sub_groups = match self.sub_groups {
            Some(size) => format!("; subgroup: {size}\n"),
            None => String::new(),
        };
        let types =
            format!("ptr, ptr, ptr, ptr, ptr, i32, ptr, {given}, ptr, ptr, ptr, ptr, ptr, ptr");
        let params: Vec<String> = types
            .split(", ")
            .enumerate()
            .map(|(i, ty)| format!("v{i}: {ty}"))
            .collect();
        format!(
            "; seed {seed}\n; run:\n{}{sub_groups}{args}\
             global @g0 \"format\" constant size 3 align 1 = 0x256400\n\
             kernel \"k\" @0 (value 0, value 8, value 16, value 24, value 32, value 40, local 48, value 56, value 64, value 72, value 80, value 88, value 96, value 104)\n\
             func \"k\" ({types}) -> () {{\n  local l0 \"tile\" size {local} align 8\nblock0({}):\n{}}}\n",
            self.range.directives(),
            params.join(", "),
            self.text
        )
    }
}
