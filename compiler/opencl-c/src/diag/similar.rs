//! What a misspelled name may mean.

/// The candidate that a misspelled name most likely means: at most a third of its letters are
/// wrong.
pub fn similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = name.len().div_ceil(3);
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= most)
        .map(|candidate| (distance(name.as_bytes(), candidate.as_bytes()), candidate))
        .filter(|(distance, _)| *distance <= most && *distance > 0)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance, with two neighbours swapped counted as one change.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let width = other.len() + 1;
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (vec![0; width], (0..width).collect());
    for (i, a) in one.iter().enumerate() {
        let mut row = Vec::with_capacity(width);
        row.push(i + 1);
        for (j, b) in other.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let known = ["get_global_id", "get_local_id", "barrier", "x"];
        let find = |name| similar(name, known.into_iter());
        assert_eq!(find("get_globl_id"), Some("get_global_id"));
        assert_eq!(find("barreir"), Some("barrier"));
        assert_eq!(find("entirely_else"), None);
        assert_eq!(find("barrier"), None);
    }

    #[test]
    fn swapped_letters_are_one_change() {
        assert_eq!(distance(b"barreir", b"barrier"), 1);
        assert_eq!(distance(b"", b"abc"), 3);
        assert_eq!(distance(b"kitten", b"sitting"), 3);
    }
}
