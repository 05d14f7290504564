//! Block-parameter simplification: parameters that are not needed because of what they are given.
//!
//! *Constant parameters.* Every parameter starts as unknown. In reverse post-order, it is taken to
//! be the one value that its known arguments agree on, or itself when they do not; a parameter that
//! is itself stays so. When a round changes nothing, a parameter taken to be `v` is `v`, also round
//! a loop. Two constants with the same bits count as one value; the parameter then becomes a copy
//! of it in the entry block. A round costs the function's jump arguments; there are a few.
//!
//! *Duplicate parameters.* Two parameters of one block that get equal arguments on every jump are
//! one.

use std::collections::HashMap;

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use crate::ir::{Block, Function, Inst, Op, SourceLoc, Terminator, Type, Value, ValueDef};

/// Replaces parameters that are always one value. Returns whether there were any. The parameters
/// stay, unused, and are removed with their arguments before this returns.
pub fn run(func: &mut Function) -> bool {
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let mut changed = constant(func, &mut replace);
    if changed {
        finish(func, &replace);
        replace.clear();
    }
    if duplicate(func, &mut replace) {
        finish(func, &replace);
        changed = true;
    }
    changed
}

/// Rewrites uses, then drops the replaced parameters and what jumps give them.
fn finish(func: &mut Function, replace: &SecondaryMap<Value, PackedOption<Value>>) {
    func.replace_uses(replace);
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        let mut term = std::mem::replace(&mut func.blocks[block].term, Terminator::Unreachable);
        for call in term.targets_mut() {
            let params = &func.blocks[call.block].params;
            let mut index = 0;
            call.args.retain(|_| {
                index += 1;
                replace[params[index - 1]].is_none()
            });
        }
        func.blocks[block].term = term;
    }
    for &block in &func.layout[1..] {
        let params = &mut func.blocks[block].params;
        params.retain(|&p| replace[p].is_none());
        for (i, &param) in params.iter().enumerate() {
            func.values[param].def = ValueDef::Param(block, i as u16);
        }
    }
}

/// Rounds after which a function is left as it is; real ones need three or four.
const ROUNDS: usize = 64;

/// The value that each parameter is known to be; itself when it is given several.
fn copied_values(func: &Function) -> Option<SecondaryMap<Value, PackedOption<Value>>> {
    let order = func.reverse_post_order();
    let mut jumps: SecondaryMap<Block, Vec<&[Value]>> = SecondaryMap::new();
    for &block in &order {
        for call in func.blocks[block].term.targets() {
            if !call.args.is_empty() {
                jumps[call.block].push(&call.args);
            }
        }
    }
    // A constant stands for every constant with its type and bits.
    let mut leaders: HashMap<(Type, u64), Value> = HashMap::new();
    let mut class: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    class.resize(func.values.len());
    for &block in &order {
        for args in &jumps[block] {
            for &arg in *args {
                class[arg] = match (func.values[arg].def, func.as_const(arg)) {
                    (_, Some(bits)) => *leaders.entry((func.ty(arg), bits)).or_insert(arg),
                    (ValueDef::Param(b, _), _) if b != func.entry() => continue,
                    _ => arg,
                }
                .into();
            }
        }
    }
    for _ in 0..ROUNDS {
        let mut changed = false;
        for &block in &order[1..] {
            for (n, &param) in func.blocks[block].params.iter().enumerate() {
                if class[param] == param.into() {
                    continue;
                }
                let mut seen: Option<Value> = None;
                let mut several = false;
                for args in &jumps[block] {
                    if let Some(value) = class[args[n]].expand() {
                        several |= seen.is_some_and(|known| known != value);
                        seen = Some(value);
                    }
                }
                let new = if several { Some(param) } else { seen };
                changed |= class[param] != new.into();
                class[param] = new.into();
            }
        }
        if !changed {
            return Some(class);
        }
    }
    None
}

fn constant(func: &mut Function, replace: &mut SecondaryMap<Value, PackedOption<Value>>) -> bool {
    let Some(class) = copied_values(func) else {
        return false;
    };
    let mut at_entry: HashMap<Value, Value> = HashMap::new();
    let mut made: Vec<Inst> = Vec::new();
    let mut changed = false;
    for index in 1..func.layout.len() {
        let block = func.layout[index];
        for n in 0..func.blocks[block].params.len() {
            let param = func.blocks[block].params[n];
            let Some(value) = class[param].expand().filter(|&value| value != param) else {
                continue;
            };
            let value = match func.as_const(value) {
                Some(bits) => *at_entry.entry(value).or_insert_with(|| {
                    let ty = func.ty(value);
                    let loc = SourceLoc::default();
                    let inst = func.make_inst(Op::Const(bits), &[], &[ty], loc);
                    made.push(inst);
                    func.insts[inst].results[0]
                }),
                None => value,
            };
            replace[param] = value.into();
            changed = true;
        }
    }
    let entry = func.entry();
    func.blocks[entry]
        .insts
        .splice(0..0, made.into_iter().rev());
    changed
}

fn duplicate(func: &Function, replace: &mut SecondaryMap<Value, PackedOption<Value>>) -> bool {
    let mut incoming: SecondaryMap<Block, Vec<&[Value]>> = SecondaryMap::new();
    for &block in &func.layout {
        for call in func.blocks[block].term.targets() {
            if func.blocks[call.block].params.len() > 1 {
                incoming[call.block].push(&call.args);
            }
        }
    }
    let mut changed = false;
    for &block in &func.layout[1..] {
        let params = &func.blocks[block].params;
        if params.len() < 2 {
            continue;
        }
        let mut first: HashMap<Vec<Value>, Value> = HashMap::new();
        for (n, &param) in params.iter().enumerate() {
            let given = incoming[block].iter().map(|args| args[n]).collect();
            match first.entry(given) {
                std::collections::hash_map::Entry::Occupied(same) => {
                    if func.ty(*same.get()) == func.ty(param) {
                        replace[param] = (*same.get()).into();
                        changed = true;
                    }
                }
                std::collections::hash_map::Entry::Vacant(new) => {
                    new.insert(param);
                }
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use crate::ir::{Stage, parse, verify::verify};

    fn simplified(body: &str) -> String {
        let text =
            format!("func \"f\" (i32, i1) -> (i32) {{\nblock0(v0: i32, v1: i1):\n{body}\n}}");
        let mut module = parse::module(&text).unwrap();
        let func = module.functions.values_mut().next().unwrap();
        super::run(func);
        verify(func, Stage::Translated, None).unwrap();
        func.to_string()
    }

    #[test]
    fn one_value_round_two_loops_is_that_value() {
        let text = simplified(
            "br block1(v0)\nblock1(v2: i32):\nbr block2(v2)\nblock2(v3: i32):\n\
             cond_br v1, block2(v3), block3(v3)\nblock3(v4: i32):\ncond_br v1, block1(v4), block4\n\
             block4:\nret v4",
        );
        assert!(text.contains("ret v0"), "{text}");
    }

    #[test]
    fn a_parameter_that_varies_is_not_lost_in_the_loop_it_passes_through() {
        let text = simplified(
            "v9: i32 = iadd v0, v0\ncond_br v1, block1(v0), block1(v9)\nblock1(v2: i32):\n\
             br block2(v2)\nblock2(v3: i32):\ncond_br v1, block2(v3), block3\nblock3:\nret v3",
        );
        assert!(
            text.contains("ret v3") && text.contains("block2:"),
            "{text}"
        );
    }

    #[test]
    fn equal_constants_from_two_sides_become_one() {
        let text = simplified(
            "cond_br v1, block1, block2\nblock1:\nv2: i32 = const 7\nbr block3(v2)\n\
             block2:\nv3: i32 = const 7\nbr block3(v3)\nblock3(v4: i32):\nret v4",
        );
        assert!(text.contains("block3:"), "{text}");
    }

    #[test]
    fn two_parameters_given_the_same_are_one() {
        let text = simplified(
            "v2: i32 = iadd v0, v0\ncond_br v1, block1(v0, v0), block1(v2, v2)\n\
             block1(v3: i32, v4: i32):\nv5: i32 = iadd v3, v4\nret v5",
        );
        assert!(text.contains("iadd v3, v3"), "{text}");
    }
}
