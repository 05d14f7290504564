//! Random launches.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// An ND-range.
pub(super) struct Range {
    pub dims: usize,
    pub global: [u64; 3],
    pub local: [u64; 3],
    pub offset: [u64; 3],
}

impl Range {
    pub fn new(rng: &mut ChaCha8Rng, most_dims: usize) -> Range {
        let mut range = Range {
            dims: if rng.random_bool(0.6) {
                1
            } else {
                rng.random_range(1..=most_dims)
            },
            global: [1; 3],
            local: [1; 3],
            offset: [0; 3],
        };
        let (most, group) = [(48, 40), (10, 6), (5, 3)][range.dims - 1];
        let even = rng.random_bool(0.4);
        for d in 0..range.dims {
            range.local[d] = rng.random_range(1..=group);
            range.global[d] = rng.random_range(1..=most);
            if even {
                range.local[d] = range.local[d].next_power_of_two();
                range.global[d] = range.global[d].next_multiple_of(range.local[d]);
            }
        }
        if rng.random_bool(0.4) {
            for d in 0..range.dims {
                range.offset[d] = rng.random_range(0..9);
            }
            // Only a generator that masks every index can start this far out.
            if most_dims == 3 && rng.random_bool(0.1) {
                range.offset[0] = (1 << rng.random_range(7..40)) - rng.random_range(0..20);
            }
        }
        range
    }

    pub fn items(&self) -> u64 {
        self.global.iter().product()
    }

    pub fn directives(&self) -> String {
        let line = |name: &str, values: &[u64; 3]| {
            let values = values[..self.dims].iter().map(u64::to_string);
            format!("; {name}: {}\n", values.collect::<Vec<_>>().join(" "))
        };
        line("global", &self.global) + &line("local", &self.local) + &line("offset", &self.offset)
    }
}
