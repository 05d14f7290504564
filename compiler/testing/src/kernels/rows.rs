//! Rows: so many elements next to each other for each work-item, as the pixels of an image are, or
//! the vectors of an array. What a vector of work-items accesses then lies at a stride, several
//! elements of each: the same value in all, a few that repeat, constants, or those of another row
//! in another order.

use super::{Generator, SCALARS};
use brolga_compiler::ir::{Scalar, Type};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The first parameter of the kernel that is a buffer of rows.
pub(super) const FIRST: usize = 11;

/// A buffer of a row for each work-item.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    scalar: Scalar,
    /// Elements of a row.
    stride: u64,
}

impl Rows {
    /// One buffer to load from and two to store to, of different strides or the same.
    pub fn three(rng: &mut ChaCha8Rng) -> [Rows; 3] {
        let scalar = SCALARS[rng.random_range(0..SCALARS.len())];
        std::array::from_fn(|_| Rows {
            // Elements are copied where they are of one type.
            scalar: match rng.random_bool(0.7) {
                true => scalar,
                false => SCALARS[rng.random_range(0..SCALARS.len())],
            },
            stride: match rng.random_bool(0.9) {
                true => rng.random_range(2..=8),
                false => rng.random_range(9..=17),
            },
        })
    }

    fn element(self) -> Type {
        Type::new(self.scalar, 1)
    }
}

impl Generator {
    /// The arguments from [`FIRST`] on.
    pub(super) fn row_arguments(&self, seed: u64) -> [String; 3] {
        let items = self.range.items();
        std::array::from_fn(|n| {
            let Rows { scalar, stride } = self.rows[n];
            let (name, elements) = (scalar.name(), items * stride);
            format!("buffer {name} random {elements} {}", seed + 4 + n as u64)
        })
    }

    pub(super) fn row(&mut self) {
        match self.rng.random_range(0..5) {
            0 => {
                self.load_row();
            }
            1 => {
                let (which, rows) = (1, self.rows[1]);
                let linear = self.linear;
                let places = self.places(rows.stride);
                self.load_places(which, linear, &places);
            }
            _ => {
                let which = self.rng.random_range(1..3);
                self.store_row(which);
            }
        }
    }

    /// Elements of a row of the buffer that nothing is stored to: nearly always the work-item's
    /// own, or those of neighbours from last to first, or one for all.
    fn load_row(&mut self) -> Vec<usize> {
        let linear = self.linear;
        let last = self.range.items() - 1;
        let row = match self.rng.random_range(0..10) {
            0 => {
                let last = self.number(Type::I64, last);
                self.emit(Type::I64, "isub", &[last, linear])
            }
            1 => {
                let row = self.rng.random_range(0..=last);
                self.number(Type::I64, row)
            }
            _ => linear,
        };
        let mut places = self.places(self.rows[0].stride);
        if self.chance(0.3) {
            places.shuffle(&mut self.rng);
        }
        if self.chance(0.2) {
            let again = self.pick(&places);
            places.push(again);
        }
        self.load_places(0, row, &places)
    }

    /// Loads elements of a row, as a vector if they are one and that is drawn.
    fn load_places(&mut self, which: usize, row: usize, places: &[u64]) -> Vec<usize> {
        let ty = self.rows[which].element();
        let addresses = self.places_in(which, row, places);
        let follow = places.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let align = ty.scalar.bytes();
        let uniform = self.is_uniform(row);
        if follow && is_vector(places.len()) && self.chance(0.4) {
            let lanes = places.len() as u8;
            let all = self.fresh();
            let whole = ty.with_lanes(lanes);
            let address = addresses[0];
            self.line(&format!(
                "v{all}: {whole} = load.global.align{align} v{address}"
            ));
            self.add(all, whole, uniform && self.converged);
            let lanes = 0..lanes;
            return lanes
                .map(|lane| self.emit(ty, &format!("extract.{lane}"), &[all]))
                .collect();
        }
        addresses
            .into_iter()
            .map(|address| {
                self.load(ty, "global", align, address, uniform);
                self.next - 1
            })
            .collect()
    }

    /// Stores to the work-item's row of one of the buffers for that.
    pub(super) fn store_row(&mut self, which: usize) {
        let rows = self.rows[which];
        let ty = rows.element();
        let places = self.places(rows.stride);
        let values = self.row_values(ty, places.len());
        let linear = self.linear;
        let addresses = self.places_in(which, linear, &places);
        let align = ty.scalar.bytes();
        if is_vector(values.len()) && self.chance(0.4) {
            let whole = ty.with_lanes(values.len() as u8);
            let is_equal = values.iter().all(|&value| value == values[0]);
            let vector = match is_equal {
                true => self.emit(whole, "splat", &values[..1]),
                false => self.emit(whole, "build", &values),
            };
            let address = addresses[0];
            self.line(&format!("store.global.align{align} v{address}, v{vector}"));
            return;
        }
        let mut stores: Vec<(usize, usize)> = addresses.into_iter().zip(values).collect();
        if self.chance(0.2) {
            stores.shuffle(&mut self.rng);
        }
        for (address, value) in stores {
            self.line(&format!("store.global.align{align} v{address}, v{value}"));
        }
    }

    /// So many values: few that are different, in some pattern.
    fn row_values(&mut self, ty: Type, count: usize) -> Vec<usize> {
        let different = match self.chance(0.4) {
            true => 1,
            false => self.rng.random_range(1..=count),
        };
        let mut values = match self.rows[0].scalar == ty.scalar && self.chance(0.4) {
            true => self.load_row(),
            false => Vec::new(),
        };
        values.truncate(different);
        while values.len() < different {
            let value = match self.rng.random_range(0..4) {
                0 => {
                    let bits = self.bits(ty.scalar);
                    self.number(ty, bits)
                }
                1 => self.uniform(ty),
                _ => self.value(ty),
            };
            values.push(value);
        }
        for value in &mut values {
            *value = self.canonical(*value, ty);
        }
        let pattern = self.rng.random_range(0..4);
        (0..count)
            .map(|n| match pattern {
                0 => values[n % different],
                1 => values[n * different / count],
                2 => values[(count - 1 - n) % different],
                _ => self.pick(&values),
            })
            .collect()
    }

    /// Elements next to each other, of so many: mostly all.
    fn places(&mut self, stride: u64) -> Vec<u64> {
        let count = match self.chance(0.6) {
            true => stride,
            false => self.rng.random_range(1..=stride),
        };
        let first = self.rng.random_range(0..=stride - count);
        (first..first + count).collect()
    }

    /// The addresses of elements of a row, whose number is given.
    fn places_in(&mut self, which: usize, row: usize, places: &[u64]) -> Vec<usize> {
        let (base, Rows { scalar, stride }) = (FIRST + which, self.rows[which]);
        let size = u64::from(scalar.bytes());
        let stride = self.number(Type::I64, stride);
        let first = self.emit(Type::I64, "imul", &[row, stride]);
        // From the row's first element on, or each by its index in the buffer.
        let start = self.chance(0.5).then(|| self.element(base, first, size));
        let places = places.iter().map(|&place| match start {
            Some(start) => {
                let place = self.number(Type::I64, place);
                self.element(start, place, size)
            }
            None => {
                let place = self.number(Type::I64, place);
                let index = self.emit(Type::I64, "iadd", &[first, place]);
                self.element(base, index, size)
            }
        });
        places.collect()
    }
}

/// Whether there are vectors of so many elements.
fn is_vector(count: usize) -> bool {
    matches!(count, 2 | 3 | 4 | 8 | 16)
}
