//! What a sampler reads, by the formulas of "Image Addressing and Filtering", for the checks.

/// An image or a volume of texels of `N` channels.
pub struct Texels<const N: usize> {
    /// Width, height and depth.
    pub size: [usize; 3],
    pub values: Vec<[f64; N]>,
}

/// Which texel stands for one that is outside.
#[derive(Clone, Copy)]
pub enum Outside {
    NearestEdge,
    /// The border colour, whose channels are all 0.
    Border,
}

impl<const N: usize> Texels<N> {
    pub fn at(&self, outside: Outside, at: [i64; 3]) -> [f64; N] {
        let mut index = 0;
        for axis in (0..3).rev() {
            let last = self.size[axis] as i64 - 1;
            if matches!(outside, Outside::Border) && !(0..=last).contains(&at[axis]) {
                return [0.0; N];
            }
            index = index * self.size[axis] + at[axis].clamp(0, last) as usize;
        }
        self.values[index]
    }

    /// Filtered linearly, at a point in units of texels.
    pub fn linear(&self, outside: Outside, point: [f64; 3]) -> [f64; N] {
        let mut sum = [0.0; N];
        for corner in 0..8 {
            let mut weight = 1.0;
            let mut at = [0; 3];
            for axis in 0..3 {
                let from_first = point[axis] - 0.5;
                let fraction = from_first - from_first.floor();
                let next = corner >> axis & 1;
                at[axis] = from_first.floor() as i64 + next;
                weight *= if next == 1 { fraction } else { 1.0 - fraction };
            }
            if weight > 0.0 {
                for (sum, value) in sum.iter_mut().zip(self.at(outside, at)) {
                    *sum += weight * value;
                }
            }
        }
        sum
    }
}
