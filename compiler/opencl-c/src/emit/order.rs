//! Blocks in an order in which each comes behind those that dominate it.
//!
//! SPIR-V Specification, "Universal Validation Rules": "The order of blocks in a function must
//! satisfy the rule that blocks appear before all blocks they dominate." Statements in the order of
//! the source do, unless there is a `goto`.

use rustc_hash::FxHashMap;

use super::words::{Id, Section};

/// Sorts a function's words behind its variables. Blocks other than the entry begin at the places
/// given; jumps are from blocks by their number, the entry's being 0.
pub(super) fn sort_blocks(
    body: &mut Section,
    starts: &[(Id, usize)],
    entry: Id,
    jumps: &[(usize, Id)],
) {
    let mut index_of: FxHashMap<Id, usize> = [(entry, 0)].into_iter().collect();
    let mut bounds = vec![0];
    for (index, &(label, at)) in starts.iter().enumerate() {
        index_of.insert(label, index + 1);
        bounds.push(at);
    }
    bounds.push(body.words().len());
    let mut successors = vec![Vec::new(); starts.len() + 1];
    for (from, label) in jumps {
        // A label that no statement stands behind was told as an error.
        if let Some(&to) = index_of.get(label) {
            successors[*from].push(to);
        }
    }
    let order = reverse_postorder(&successors).into_iter();
    body.reorder(order.map(|block| bounds[block]..bounds[block + 1]));
}

/// All blocks: those that the first one reaches in reverse postorder, then the others as they are.
fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut postorder = Vec::with_capacity(successors.len());
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((block, next)) = stack.last_mut() {
        match successors[*block].get(*next) {
            Some(&successor) => {
                *next += 1;
                if !std::mem::replace(&mut seen[successor], true) {
                    stack.push((successor, 0));
                }
            }
            None => {
                postorder.push(*block);
                stack.pop();
            }
        }
    }
    postorder.reverse();
    postorder.extend((0..successors.len()).filter(|&block| !seen[block]));
    postorder
}
