//! A statement of any kind, as long as there is fuel.

use super::Generator;
use brolga_compiler::ir::{Scalar, Type};
use rand::Rng;

impl Generator {
    pub(super) fn statements(&mut self, depth: u32) {
        for _ in 0..self.rng.random_range(1..7) {
            self.statement(depth);
        }
    }

    pub(super) fn statement(&mut self, depth: u32) {
        if self.fuel == 0 {
            return;
        }
        self.fuel -= 1;
        if self.sub_groups.is_some() && self.chance(0.15) {
            self.sub_group();
            return;
        }
        if self.images && self.chance(0.15) {
            self.image();
            return;
        }
        match self.rng.random_range(0..42) {
            0..=9 => self.expression(),
            10..=13 => self.load_input(),
            14..=16 => {
                let which = self.rng.random_range(0..2);
                self.store_own(which);
            }
            17 => {
                let which = self.rng.random_range(0..2);
                let scalar = self.outputs[which];
                let address = self.own(which);
                self.load(
                    Type::new(scalar, 1),
                    "global",
                    scalar.bytes(),
                    address,
                    false,
                );
            }
            18 | 19 => self.private(),
            20 => {
                // Something of this place alone.
                let which = self.rng.random_range(0..2);
                if self.outputs[which] == Scalar::I32 {
                    let sum = self.digest(5, false);
                    let address = self.own(which);
                    self.line(&format!("store.global.align4 v{address}, v{sum}"));
                } else {
                    self.private();
                }
            }
            21 => self.atomic(),
            22 if self.barriers && self.converged && self.chance(0.5) => self.work_group(),
            22 | 23 if self.barriers && self.converged => self.exchange(),
            25 | 36 if self.barriers && self.converged && depth < 3 => self.guarded_rounds(depth),
            41 if self.barriers && self.converged && depth < 2 => self.barriers_in_turn(depth),
            22..=25 if depth < 4 => self.branch(depth),
            26..=28 if depth < 3 => self.repeat(depth),
            29 if depth < 4 => self.switch(depth),
            30 if depth < 3 && self.chance(0.4) => self.jumps_into_a_loop(depth),
            30 if depth < 4 => self.unstructured(depth),
            31 if !self.barriers && self.chance(0.5) => self.leave(),
            32 if depth < 3 => self.stride_loop(depth),
            33 if self.chance(0.3) => self.printf(),
            35 if depth < 4 => self.guarded_load(),
            37..=39 => self.row(),
            34 => {
                let fence = self.pick(&[
                    "workgroup.acqrel.local",
                    "device.seqcst.global",
                    "item.relaxed",
                ]);
                self.line(&format!("fence.{fence}"));
            }
            _ => self.expression(),
        }
    }

    pub(super) fn printf(&mut self) {
        let format = self.fresh();
        self.line(&format!("v{format}: ptr = global_addr @g0"));
        let mut args = vec![format!("v{format}")];
        for _ in 0..self.rng.random_range(0..3) {
            let ty = self.ty();
            let value = self.value(ty);
            args.push(format!("v{}", self.canonical(value, ty)));
        }
        let id = self.fresh();
        self.line(&format!("v{id}: i32 = printf {}", args.join(", ")));
    }
}
