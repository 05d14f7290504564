//! Which packs are in memory order: where that takes fewer transpositions.
//!
//! A pack of one order that something of the other uses is transposed where it is defined, once
//! for all users. What is best is a minimum cut. It is approached from two sides, from all packs in
//! memory order and from those only that need no transposition of loose values, by changing a
//! pack's order as long as that saves anything, in a few sweeps over all packs. Of what each set of
//! connected packs ends up with, the better is taken; none at all is, unless it saves something
//! against lane order.

use cranelift_entity::SecondaryMap;

use super::packs::{Kind, Loose, Pack, Packs, Source, location};
use crate::diagnostic::Remark;
use crate::ir::{Function, SourceLoc};

/// Sweeps over all packs.
const SWEEPS: usize = 6;

/// The orders of packs.
#[derive(Clone)]
pub struct Chosen {
    in_memory_order: SecondaryMap<Pack, bool>,
}

impl Chosen {
    pub fn in_memory_order(&self, pack: Pack) -> bool {
        self.in_memory_order[pack]
    }

    pub fn any_in_memory_order(&self) -> bool {
        self.in_memory_order.values().any(|&is| is)
    }

    /// Whether the values of a pack in memory order are needed in lane order, too.
    pub fn is_transposed(&self, packs: &Packs, pack: Pack) -> bool {
        let data = &packs.packs[pack];
        let apart = |&user: &Pack| !self.in_memory_order[user];
        data.is_used_apart || data.users.iter().any(apart)
    }

    /// What to tell the user.
    pub fn remark(&self, func: &Function, packs: &Packs) -> Remark {
        let (mut accesses, mut transposed, mut loc) = (0, 0, SourceLoc::default());
        for (pack, data) in &packs.packs {
            if !self.in_memory_order[pack] {
                continue;
            }
            if matches!(data.kind, Kind::Load(_) | Kind::Store(_)) {
                accesses += 1;
                if loc == SourceLoc::default() {
                    loc = location(func, data);
                }
            }
            transposed += u32::from(!data.values.is_empty() && self.is_transposed(packs, pack));
        }
        let into = |&user: &Pack| self.in_memory_order[user];
        let loose = packs.loose.values();
        transposed += loose.filter(|data| data.users.iter().any(into)).count() as u32;
        let plural = |n: u32| if n == 1 { "" } else { "s" };
        Remark::new(
            loc,
            format!(
                "vectors of {accesses} load{} and store{} stay as they lie in memory, transposed \
                 for lanes in {transposed} place{}",
                plural(accesses),
                plural(accesses),
                plural(transposed),
            ),
        )
    }
}

/// Chooses.
pub fn choose(packs: &Packs) -> Chosen {
    let all = State::new(packs, |_| true).descended();
    let needs_loose = |pack: Pack| {
        let operands = packs.packs[pack].operands.iter();
        operands
            .filter_map(|source| match source {
                Source::Loose(loose) => Some(*loose),
                _ => None,
            })
            .any(|loose| !packs.loose[loose].is_uniform)
    };
    let some = State::new(packs, |pack| !needs_loose(pack)).descended();
    let components = components(packs);
    let count = components.values().map(|&c| c as usize + 1).max();
    let mut costs = vec![[0u64; 3]; count.unwrap_or(0)];
    for pack in packs.packs.keys() {
        let costs = &mut costs[components[pack] as usize];
        costs[0] += all.cost(pack);
        costs[1] += some.cost(pack);
        costs[2] += match packs.packs[pack].kind {
            Kind::Load(_) | Kind::Store(_) => packs.packs[pack].cost,
            _ => 0,
        };
    }
    // All packs that use a loose one are of one component.
    for (loose, data) in &packs.loose {
        if let Some(&user) = data.users.first() {
            let costs = &mut costs[components[user] as usize];
            costs[0] += all.loose_cost(loose);
            costs[1] += some.loose_cost(loose);
        }
    }
    let mut chosen = SecondaryMap::new();
    for pack in packs.packs.keys() {
        let [of_all, of_some, lanes] = costs[components[pack] as usize];
        let better = if of_all <= of_some { &all } else { &some };
        chosen[pack] = of_all.min(of_some) < lanes && better.chosen.in_memory_order[pack];
    }
    Chosen {
        in_memory_order: chosen,
    }
}

/// Orders that are being changed.
struct State<'a> {
    packs: &'a Packs,
    chosen: Chosen,
    /// How many users of each pack are in memory order.
    users: SecondaryMap<Pack, u32>,
    loose_users: SecondaryMap<Loose, u32>,
}

impl<'a> State<'a> {
    fn new(packs: &'a Packs, in_memory_order: impl Fn(Pack) -> bool) -> State<'a> {
        let mut state = State {
            packs,
            chosen: Chosen {
                in_memory_order: SecondaryMap::with_capacity(packs.packs.len()),
            },
            users: SecondaryMap::with_capacity(packs.packs.len()),
            loose_users: SecondaryMap::with_capacity(packs.loose.len()),
        };
        for pack in packs.packs.keys().filter(|&pack| in_memory_order(pack)) {
            state.set(pack, true);
        }
        state
    }

    fn set(&mut self, pack: Pack, in_memory_order: bool) {
        if self.chosen.in_memory_order[pack] == in_memory_order {
            return;
        }
        self.chosen.in_memory_order[pack] = in_memory_order;
        let change = |count: &mut u32| match in_memory_order {
            true => *count += 1,
            false => *count -= 1,
        };
        for source in &self.packs.packs[pack].operands {
            match *source {
                Source::Same(_) => {}
                Source::Pack(operand) => change(&mut self.users[operand]),
                Source::Loose(operand) => change(&mut self.loose_users[operand]),
            }
        }
    }

    /// What a pack's access and its transposition cost.
    fn cost(&self, pack: Pack) -> u64 {
        let data = &self.packs.packs[pack];
        let is_access = matches!(data.kind, Kind::Load(_) | Kind::Store(_));
        let in_memory = self.users[pack];
        if self.chosen.in_memory_order[pack] {
            let apart = data.is_used_apart || in_memory < data.users.len() as u32;
            return if apart { data.cost } else { 0 };
        }
        data.cost * (u64::from(is_access) + u64::from(in_memory > 0))
    }

    fn loose_cost(&self, loose: Loose) -> u64 {
        match self.loose_users[loose] {
            0 => 0,
            _ => self.packs.loose[loose].cost,
        }
    }

    /// What depends on a pack's order.
    fn cost_around(&self, pack: Pack) -> u64 {
        let operands = self.packs.packs[pack].operands.iter();
        let around = operands.map(|source| match *source {
            Source::Same(_) => 0,
            Source::Pack(operand) if operand == pack => 0,
            Source::Pack(operand) => self.cost(operand),
            Source::Loose(operand) => self.loose_cost(operand),
        });
        self.cost(pack) + around.sum::<u64>()
    }

    /// Changes one order at a time as long as that saves anything: a local minimum.
    fn descended(mut self) -> State<'a> {
        let order: Vec<Pack> = self.packs.packs.keys().collect();
        for sweep in 0..SWEEPS {
            let mut changed = false;
            let mut visit = |state: &mut Self, pack: Pack| {
                let now = state.chosen.in_memory_order[pack];
                let before = state.cost_around(pack);
                state.set(pack, !now);
                if state.cost_around(pack) < before {
                    changed = true;
                } else {
                    state.set(pack, now);
                }
            };
            match sweep % 2 {
                0 => order.iter().for_each(|&pack| visit(&mut self, pack)),
                _ => order.iter().rev().for_each(|&pack| visit(&mut self, pack)),
            }
            if !changed {
                break;
            }
        }
        self
    }
}

/// The number of the set of connected packs that each is of.
fn components(packs: &Packs) -> SecondaryMap<Pack, u32> {
    let mut found: SecondaryMap<Pack, Option<u32>> = SecondaryMap::new();
    let mut seen: SecondaryMap<Loose, bool> = SecondaryMap::new();
    let mut count = 0;
    let mut work = Vec::new();
    for first in packs.packs.keys() {
        if found[first].is_some() {
            continue;
        }
        work.push(first);
        while let Some(pack) = work.pop() {
            if found[pack].replace(count).is_some() {
                continue;
            }
            let data = &packs.packs[pack];
            work.extend(&data.users);
            for source in &data.operands {
                match *source {
                    Source::Same(_) => {}
                    Source::Pack(operand) => work.push(operand),
                    Source::Loose(loose) => {
                        if !std::mem::replace(&mut seen[loose], true) {
                            work.extend(&packs.loose[loose].users);
                        }
                    }
                }
            }
        }
        count += 1;
    }
    let mut numbers = SecondaryMap::with_capacity(packs.packs.len());
    for pack in packs.packs.keys() {
        numbers[pack] = found[pack].expect("all were visited");
    }
    numbers
}
