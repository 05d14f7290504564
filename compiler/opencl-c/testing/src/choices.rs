//! The choices that a generator makes, recorded so that they can be made again, or fewer of them.
//!
//! A generator asks for numbers below a bound, and takes 0 for the simplest there is. What it was
//! given is a list; any other list gives a program as well, and one that is shorter or has smaller
//! numbers gives a simpler one. So programs shrink without anybody looking at their text.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Choices to be made at random, or as a list says.
#[derive(Debug)]
pub struct Choices {
    source: Source,
    made: Vec<u64>,
}

#[derive(Debug)]
enum Source {
    Random(Box<ChaCha8Rng>),
    /// When it is at its end, all that follows is 0.
    List(Vec<u64>),
}

impl Choices {
    pub fn random(seed: u64) -> Choices {
        Choices {
            source: Source::Random(Box::new(ChaCha8Rng::seed_from_u64(seed))),
            made: Vec::new(),
        }
    }

    pub fn of_list(list: Vec<u64>) -> Choices {
        Choices {
            source: Source::List(list),
            made: Vec::new(),
        }
    }

    /// The choices made so far.
    pub fn made(&self) -> &[u64] {
        &self.made
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let value = match &mut self.source {
            Source::Random(rng) => rng.random_range(0..bound),
            Source::List(list) => list
                .get(self.made.len())
                .map_or(0, |&value| value.min(bound - 1)),
        };
        self.made.push(value);
        value
    }

    /// An index of a list that is not empty.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// One of several, the first being the simplest.
    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.index(all.len())]
    }

    /// Yes in so many of a hundred cases; no is simpler.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) >= 100 - percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_made_again() {
        let mut random = Choices::random(7);
        let first: Vec<u64> = (1..100).map(|bound| random.below(bound)).collect();
        let mut again = Choices::of_list(random.made().to_vec());
        let second: Vec<u64> = (1..100).map(|bound| again.below(bound)).collect();
        assert_eq!(first, second);
        assert_eq!(again.below(100), 0);
    }

    #[test]
    fn numbers_that_are_too_large_are_made_smaller() {
        let mut choices = Choices::of_list(vec![50, 3]);
        assert_eq!((choices.below(10), choices.below(10)), (9, 3));
    }
}
