//! Lists of objects that others keep alive.

use std::sync::{Arc, Weak};

/// Length up to which nothing is swept out.
const SMALL: usize = 64;

/// Objects in the order in which they were added. Those of no interest any more are swept out
/// whenever the list has doubled, so that adding takes constant time on average.
pub struct WeakList<T: ?Sized> {
    list: Vec<Weak<T>>,
    /// The length at which to sweep next.
    sweep_at: usize,
}

impl<T: ?Sized> Default for WeakList<T> {
    fn default() -> Self {
        WeakList {
            list: Vec::new(),
            sweep_at: SMALL,
        }
    }
}

impl<T: ?Sized> WeakList<T> {
    /// Adds an object. Others stay in the list at least as long as they `matter`.
    pub fn add(&mut self, object: &Arc<T>, matter: impl Fn(&Weak<T>) -> bool) {
        if self.list.len() >= self.sweep_at {
            self.list.retain(matter);
            self.sweep_at = (2 * self.list.len()).max(SMALL);
        }
        self.list.push(Arc::downgrade(object));
    }

    /// The objects that are still alive.
    pub fn alive(&self) -> impl Iterator<Item = Arc<T>> {
        self.list.iter().filter_map(Weak::upgrade)
    }

    /// Whether one of them is still alive.
    pub fn any_alive(&self) -> bool {
        self.list.iter().any(|object| object.strong_count() > 0)
    }

    pub fn clear(&mut self) {
        self.list.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_or_does_not_matter_is_swept_out() {
        let mut list = WeakList::default();
        let matters = |number: &Weak<usize>| number.upgrade().is_some_and(|n| *n % 10 == 0);
        let kept: Vec<Arc<usize>> = (0..10 * SMALL).map(Arc::new).collect();
        for number in &kept {
            list.add(number, matters);
            list.add(&Arc::new(0), matters);
            assert!(list.list.len() <= 2 * (kept.len() / 10).max(SMALL));
        }
        assert!(list.any_alive());
        let alive: Vec<usize> = list.alive().map(|number| *number).collect();
        assert!(alive.is_sorted());
        assert!(
            (0..kept.len())
                .step_by(10)
                .all(|number| alive.contains(&number))
        );
    }
}
