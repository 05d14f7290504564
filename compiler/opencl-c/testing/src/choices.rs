//! The choices that a generator makes, recorded so that they can be made again, or fewer of them.
//!
//! A generator asks for numbers below a bound, and takes 0 for the simplest there is. What it was
//! given is a list; any other list gives a program as well, and one that is shorter or has smaller
//! numbers gives a simpler one. So programs shrink without anybody looking at their text.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// In a list: all further choices of the innermost part of the program that began are 0.
pub const REST: u64 = u64::MAX;

/// Choices to be made at random, or as a list says.
#[derive(Debug)]
pub struct Choices {
    source: Source,
    made: Vec<u64>,
    /// Where parts of the program begin and end in what was made, inner ones first.
    spans: Vec<(usize, usize)>,
    /// How many parts there are around the next choice, and around the one of which the rest is 0.
    parts: usize,
    rest: Option<usize>,
}

#[derive(Debug)]
enum Source {
    Random(Box<ChaCha8Rng>),
    /// When it is at its end, all that follows is 0.
    List(std::vec::IntoIter<u64>),
}

impl Choices {
    pub fn random(seed: u64) -> Choices {
        Choices::of(Source::Random(Box::new(ChaCha8Rng::seed_from_u64(seed))))
    }

    pub fn of_list(list: Vec<u64>) -> Choices {
        Choices::of(Source::List(list.into_iter()))
    }

    fn of(source: Source) -> Choices {
        Choices {
            source,
            made: Vec::new(),
            spans: Vec::new(),
            parts: 0,
            rest: None,
        }
    }

    /// The choices made so far.
    pub fn made(&self) -> &[u64] {
        &self.made
    }

    /// Where in the choices made parts of the program begin and end.
    pub fn spans(&self) -> &[(usize, usize)] {
        &self.spans
    }

    /// Begins a part of the program, which [`Choices::end`] ends.
    pub fn begin(&mut self) -> usize {
        self.parts += 1;
        self.made.len()
    }

    /// Ends the part that began there.
    pub fn end(&mut self, begin: usize) {
        if self.rest == Some(self.parts) {
            self.rest = None;
        }
        self.parts -= 1;
        self.spans.push((begin, self.made.len()));
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let value = match &mut self.source {
            Source::Random(rng) => rng.random_range(0..bound),
            Source::List(_) if self.rest.is_some() => 0,
            Source::List(list) => match list.next() {
                Some(REST) => {
                    self.rest = Some(self.parts);
                    0
                }
                value => value.unwrap_or(0).min(bound - 1),
            },
        };
        self.made.push(value);
        value
    }

    /// An index of a list that is not empty.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// One of several, the first being the simplest.
    pub fn one<T: Copy>(&mut self, all: &[T]) -> T {
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
    fn the_rest_of_a_part_is_0() {
        let mut choices = Choices::of_list(vec![1, REST, 2]);
        let outer = choices.begin();
        assert_eq!(choices.below(5), 1);
        let inner = choices.begin();
        assert_eq!((choices.below(5), choices.below(5)), (0, 0));
        choices.end(inner);
        assert_eq!(choices.below(5), 2);
        choices.end(outer);
        assert_eq!(choices.spans(), [(1, 3), (0, 4)]);
    }

    #[test]
    fn numbers_that_are_too_large_are_made_smaller() {
        let mut choices = Choices::of_list(vec![50, 3]);
        assert_eq!((choices.below(10), choices.below(10)), (9, 3));
    }
}
