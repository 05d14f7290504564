//! Loads and stores: of inputs by every shape of index, of places of a work-item's own, of private
//! arrays.

use super::{Generator, INPUTS, OWN, PRIVATE};
use brolga_compiler::ir::Type;
use rand::Rng;

impl Generator {
    /// `base + index * size`, not in scope.
    pub(super) fn element(&mut self, base: usize, index: usize, size: u64) -> usize {
        let size = self.number(Type::I64, size);
        let bytes = self.emit(Type::I64, "imul", &[index, size]);
        let id = self.fresh();
        self.line(&format!("v{id}: ptr = ptr_add v{base}, v{bytes}"));
        id
    }

    /// An index below `count` (a power of two): by any shape that the launch allows.
    pub(super) fn index(&mut self, count: u64) -> usize {
        let id = self.global_id;
        let end = self.range.offset[0] + self.range.global[0];
        match self.rng.random_range(0..9) {
            0 | 1 if end <= count => id,
            8 if end + 8 <= count => {
                // Beside it, by a distance that all share.
                let by = self.uniform(Type::I32);
                let by = self.masked(by, 8);
                self.emit(Type::I64, "iadd", &[id, by])
            }
            2 if 3 * end < count => {
                let stride = self.rng.random_range(2..4);
                let stride = self.number(Type::I64, stride);
                self.emit(Type::I64, "imul", &[id, stride])
            }
            3 if end <= count => {
                let last = self.number(Type::I64, count - 1);
                self.emit(Type::I64, "isub", &[last, id])
            }
            4 => {
                let n = self.uniform(Type::I32);
                self.masked(n, count)
            }
            5 => {
                let at = self.rng.random_range(0..count);
                self.number(Type::I64, at)
            }
            6 => {
                let by = self.rng.random_range(0..count);
                let by = self.number(Type::I64, by);
                let sum = self.emit(Type::I64, "iadd", &[id, by]);
                let mask = self.number(Type::I64, count - 1);
                self.emit(Type::I64, "and", &[sum, mask])
            }
            _ => {
                let n = self.value(Type::I32);
                self.masked(n, count)
            }
        }
    }

    /// An `i32` as an index below a power of two.
    pub(super) fn masked(&mut self, n: usize, count: u64) -> usize {
        let mask = self.number(Type::I32, count - 1);
        let low = self.emit(Type::I32, "and", &[n, mask]);
        let op = self.pick(&["convert.zext.rte", "convert.sext.rte"]);
        self.emit(Type::I64, op, &[low])
    }

    pub(super) fn load_input(&mut self) {
        let which = self.rng.random_range(0..2);
        let scalar = self.inputs[which];
        let lanes = if self.vectors && self.chance(0.5) {
            self.pick(&[2, 3, 4, 8, 16])
        } else {
            1
        };
        let ty = Type::new(scalar, lanes);
        // A vector begins in the first half.
        let index = self.index(if lanes == 1 { INPUTS } else { INPUTS / 2 });
        let uniform = self.is_uniform(index);
        let address = if lanes == 1 && self.chance(0.1) {
            // Through a pointer chosen at run time; the other buffer is at least half as long.
            let cond = self.condition(false);
            let base = self.fresh();
            self.line(&format!("v{base}: ptr = select v{cond}, v0, v1"));
            let byte = self.masked_byte(index);
            let id = self.fresh();
            self.line(&format!("v{id}: ptr = ptr_add v{base}, v{byte}"));
            let ty = Type::I8;
            self.load(ty, "generic", 1, id, false);
            return;
        } else {
            self.element(which, index, u64::from(scalar.bytes()))
        };
        let space = self.pick(&["global", "global", "constant", "generic"]);
        self.load(ty, space, scalar.bytes(), address, uniform);
    }

    /// An index kept within the bytes that every input has.
    pub(super) fn masked_byte(&mut self, index: usize) -> usize {
        let mask = self.number(Type::I64, INPUTS - 1);
        self.emit(Type::I64, "and", &[index, mask])
    }

    pub(super) fn load(
        &mut self,
        ty: Type,
        space: &str,
        align: u32,
        address: usize,
        uniform: bool,
    ) {
        let id = self.fresh();
        let volatile = if self.chance(0.05) { ".volatile" } else { "" };
        self.line(&format!(
            "v{id}: {ty} = load.{space}.align{align}{volatile} v{address}"
        ));
        self.add(id, ty, uniform && self.converged);
    }

    /// The address of an element of this work-item in an output buffer.
    pub(super) fn own(&mut self, which: usize) -> usize {
        let size = u64::from(self.outputs[which].bytes());
        let k = if self.chance(0.8) {
            let k = self.rng.random_range(0..OWN);
            self.number(Type::I64, k)
        } else {
            let n = self.value(Type::I32);
            self.masked(n, OWN)
        };
        let linear = self.linear;
        let index = if self.interleaved[which] {
            let items = self.range.items();
            let items = self.number(Type::I64, items);
            let row = self.emit(Type::I64, "imul", &[k, items]);
            self.emit(Type::I64, "iadd", &[row, linear])
        } else {
            let own = self.number(Type::I64, OWN);
            let first = self.emit(Type::I64, "imul", &[linear, own]);
            self.emit(Type::I64, "iadd", &[first, k])
        };
        self.element(2 + which, index, size)
    }

    pub(super) fn store_own(&mut self, which: usize) {
        let scalar = self.outputs[which];
        let ty = Type::new(scalar, 1);
        if self.vectors && !self.interleaved[which] && self.chance(0.3) {
            let ty = ty.with_lanes(self.pick(&[2, 3, 4]));
            let value = self.value(ty);
            let value = self.canonical(value, ty);
            let own = self.number(Type::I64, OWN * u64::from(scalar.bytes()));
            let linear = self.linear;
            let bytes = self.emit(Type::I64, "imul", &[linear, own]);
            let id = self.fresh();
            self.line(&format!("v{id}: ptr = ptr_add v{}, v{bytes}", 2 + which));
            self.line(&format!(
                "store.global.align{} v{id}, v{value}",
                scalar.bytes()
            ));
            return;
        }
        let value = self.value(ty);
        let value = self.canonical(value, ty);
        let address = self.own(which);
        self.line(&format!(
            "store.global.align{} v{address}, v{value}",
            scalar.bytes()
        ));
    }

    pub(super) fn private(&mut self) {
        if self.arrays.is_empty() {
            return;
        }
        let arrays = self.arrays.clone();
        let (mut base, mut scalar) = self.pick(&arrays);
        let mut bytes = PRIVATE * u64::from(scalar.bytes());
        if self.chance(0.15) {
            // In one of two, as chosen at run time.
            let (other, of_other) = self.pick(&arrays);
            bytes = bytes.min(PRIVATE * u64::from(of_other.bytes()));
            let cond = self.condition(false);
            let chosen = self.fresh();
            self.line(&format!(
                "v{chosen}: ptr = select v{cond}, v{base}, v{other}"
            ));
            base = chosen;
        }
        if self.chance(0.2) {
            scalar = self.scalar();
        }
        let size = scalar.bytes();
        let mut ty = Type::new(scalar, 1);
        if self.vectors && self.chance(0.2) {
            ty = ty.with_lanes(self.pick(&[2, 4]));
        }
        if u64::from(ty.bytes()) > bytes {
            return;
        }
        let places = bytes / u64::from(ty.bytes());
        let index = match self.rng.random_range(0..4) {
            0 => {
                let at = self.rng.random_range(0..places);
                self.number(Type::I64, at)
            }
            1 => {
                let n = self.uniform(Type::I32);
                self.masked(n, places)
            }
            _ => {
                let n = self.value(Type::I32);
                self.masked(n, places)
            }
        };
        let address = self.element(base, index, u64::from(ty.bytes()));
        if self.chance(0.5) {
            let value = self.value(ty);
            let value = self.canonical(value, ty);
            self.line(&format!("store.private.align{size} v{address}, v{value}"));
        } else {
            let space = self.pick(&["private", "private", "generic"]);
            self.load(ty, space, size, address, false);
        }
    }
}
