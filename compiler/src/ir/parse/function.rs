//! Functions: names first, then what they refer to.

use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::ParseError;
use super::op::{op, takes_immediate};
use super::text::{after, integer, keyed, list, quoted, ty};
use crate::ir::{
    Block, BlockCall, Function, Inst, Interleaving, LocalVar, Slot, SourceLoc, Terminator, Type,
    Value,
};

/// A function being read: the names seen so far.
struct Reader<'t> {
    func: Function,
    values: HashMap<&'t str, Value>,
    blocks: HashMap<&'t str, Block>,
}

/// Operands or a terminator that wait for every name to be known.
enum Pending<'t> {
    Operands(Inst, Vec<&'t str>),
    Terminator(Block, &'t str),
}

/// `func "name" (types) -> (types) {` and the lines up to `}`.
pub(super) fn function(
    head_line: usize,
    head: &str,
    body: &[(usize, &str)],
) -> Result<Function, ParseError> {
    let func = function_head(head).map_err(|message| ParseError {
        line: head_line,
        message,
    })?;
    let param_types: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
    let mut reader = Reader {
        func: Function::new(func.name, &[], &func.results),
        values: HashMap::new(),
        blocks: HashMap::new(),
    };
    let mut pending = Vec::new();
    let mut block = None;
    for &(line, text) in body {
        reader
            .line(text, &mut block, &mut pending, line)
            .map_err(|message| ParseError { line, message })?;
    }
    for (line, item) in pending {
        reader
            .resolve(item)
            .map_err(|message| ParseError { line, message })?;
    }
    let func = reader.func;
    let at = |message: &str| ParseError {
        line: head_line,
        message: message.into(),
    };
    if block.is_none() {
        return Err(at("a function needs a block"));
    }
    if !func
        .params()
        .iter()
        .map(|&p| func.ty(p))
        .eq(param_types.iter().copied())
    {
        return Err(at(
            "the entry block's parameters differ from the function's",
        ));
    }
    Ok(func)
}

fn function_head(head: &str) -> Result<Function, String> {
    let (name, rest) = quoted(&head["func".len()..])?;
    let rest = rest
        .strip_suffix('{')
        .ok_or("expected `{` at the end of the line")?;
    let (params, results) = rest.split_once("->").ok_or("expected `->`")?;
    let types = |text: &str| -> Result<Vec<Type>, String> {
        let inner = text
            .trim()
            .strip_prefix('(')
            .and_then(|t| t.strip_suffix(')'))
            .ok_or_else(|| format!("expected types in parentheses: {text}"))?;
        list(inner).map(ty).collect()
    };
    Ok(Function::new(name, &types(params)?, &types(results)?))
}

impl<'t> Reader<'t> {
    /// First step: one line of the body.
    fn line(
        &mut self,
        text: &'t str,
        block: &mut Option<Block>,
        pending: &mut Vec<(usize, Pending<'t>)>,
        line: usize,
    ) -> Result<(), String> {
        let word = text.split([' ', '(']).next().unwrap_or_default();
        if text.ends_with(':') && word.starts_with("block") {
            *block = Some(self.block_head(&text[..text.len() - 1], block.is_none())?);
            return Ok(());
        }
        match word {
            "local" => return self.local(text),
            "slot" => return self.slot(text),
            _ => {}
        }
        let block = block.ok_or("expected a block")?;
        if matches!(word, "br" | "cond_br" | "switch" | "ret" | "unreachable") {
            pending.push((line, Pending::Terminator(block, text)));
            return Ok(());
        }
        let (results, operation) = match text.split_once(" = ") {
            Some((results, operation)) => (list(results).collect(), operation.trim()),
            None => (Vec::new(), text),
        };
        let mut names = Vec::new();
        let mut types = Vec::new();
        for result in results {
            let (name, kind) = result
                .split_once(':')
                .ok_or_else(|| format!("expected `name: type`: {result}"))?;
            names.push(name);
            types.push(ty(kind)?);
        }
        let (op_word, rest) = operation.split_once([' ', ',']).unwrap_or((operation, ""));
        let mut operands: Vec<&str> = list(rest).collect();
        let op = op(op_word, operands.first().copied(), types.first().copied())?;
        if takes_immediate(&op) {
            operands.remove(0);
        }
        let inst = self.func.make_inst(op, &[], &types, SourceLoc::default());
        self.func.blocks[block].insts.push(inst);
        for (i, name) in names.into_iter().enumerate() {
            let value = self.func.insts[inst].results[i];
            self.define(name, value)?;
        }
        pending.push((line, Pending::Operands(inst, operands)));
        Ok(())
    }

    fn define(&mut self, name: &'t str, value: Value) -> Result<(), String> {
        match self.values.insert(name.trim(), value) {
            None => Ok(()),
            Some(_) => Err(format!("{name} is defined twice")),
        }
    }

    /// `block3(v0: i32, v1: f32)`
    fn block_head(&mut self, text: &'t str, first: bool) -> Result<Block, String> {
        let (name, params) = match text.split_once('(') {
            Some((name, params)) => (
                name,
                params
                    .strip_suffix(')')
                    .ok_or("expected `)` after block parameters")?,
            ),
            None => (text, ""),
        };
        let block = if first {
            self.func.entry()
        } else {
            self.func.add_block()
        };
        if self.blocks.insert(name, block).is_some() {
            return Err(format!("{name} is defined twice"));
        }
        for param in list(params) {
            let (name, kind) = param
                .split_once(':')
                .ok_or_else(|| format!("expected `name: type`: {param}"))?;
            let value = self.func.add_param(block, ty(kind)?);
            self.define(name, value)?;
        }
        Ok(block)
    }

    /// `local l0 "tile" size 1024 align 16`
    fn local(&mut self, text: &str) -> Result<(), String> {
        let rest = text["local".len()..].trim_start();
        let (id, rest) = rest.split_once(' ').ok_or("expected lN")?;
        if after::<u32>("l", id)? as usize != self.func.locals.len() {
            return Err("work-group variables are numbered in order".into());
        }
        let (name, rest) = quoted(rest)?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [size, align] = keyed(&words, ["size", "align"])?;
        let align = u32::try_from(align).map_err(|_| "alignment too large")?;
        self.func.locals.push(LocalVar { name, size, align });
        Ok(())
    }

    /// `slot slot0 i32 bytes 0 align 4`, perhaps `unit 4 lanes 8` behind.
    fn slot(&mut self, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [_, id, kind, rest @ ..] = words.as_slice() else {
            return Err("expected slotN and a type".into());
        };
        if after::<u32>("slot", id)? as usize != self.func.slots.len() {
            return Err("slots are numbered in order".into());
        }
        let (layout, interleaving) = rest.split_at(rest.len().min(4));
        let [bytes, align] = keyed(layout, ["bytes", "align"])?;
        let interleaving = match interleaving {
            [] => None,
            words => {
                let [unit, lanes] = keyed(words, ["unit", "lanes"])?;
                Some(Interleaving {
                    unit: u32::try_from(unit).map_err(|_| "unit too large")?,
                    lanes: u8::try_from(lanes).map_err(|_| "too many lanes")?,
                })
            }
        };
        Arc::make_mut(&mut self.func.slots).push(Slot {
            ty: ty(kind)?,
            bytes: u32::try_from(bytes).map_err(|_| "slot too large")?,
            align: u32::try_from(align).map_err(|_| "alignment too large")?,
            interleaving,
        });
        Ok(())
    }

    fn value(&self, name: &str) -> Result<Value, String> {
        self.values
            .get(name.trim())
            .copied()
            .ok_or_else(|| format!("{name} is not defined"))
    }

    fn values<C: FromIterator<Value>>(&self, text: &str) -> Result<C, String> {
        list(text).map(|name| self.value(name)).collect()
    }

    /// Second step: operands and jumps.
    fn resolve(&mut self, item: Pending<'t>) -> Result<(), String> {
        match item {
            Pending::Operands(inst, names) => {
                self.func.insts[inst].args = names
                    .into_iter()
                    .map(|name| self.value(name))
                    .collect::<Result<_, _>>()?;
            }
            Pending::Terminator(block, text) => {
                self.func.blocks[block].term = self.terminator(text)?;
            }
        }
        Ok(())
    }

    /// `block3(v0, v1)` off the start of `text`, and what follows the next comma.
    fn call<'s>(&self, text: &'s str) -> Result<(BlockCall, &'s str), String> {
        let text = text.trim();
        let end = text.find([',', '(']).unwrap_or(text.len());
        let block = *self
            .blocks
            .get(&text[..end])
            .ok_or_else(|| format!("no block named {}", &text[..end]))?;
        let (args, rest) = match text[end..].strip_prefix('(') {
            Some(rest) => rest.split_once(')').ok_or("expected `)`")?,
            None => ("", &text[end..]),
        };
        let args = self.values::<SmallVec<_>>(args)?;
        let rest = rest.trim();
        Ok((
            BlockCall { block, args },
            rest.strip_prefix(',').unwrap_or(rest).trim(),
        ))
    }

    fn terminator(&self, text: &str) -> Result<Terminator, String> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (term, rest) = match word {
            "br" => {
                let (call, rest) = self.call(rest)?;
                (Terminator::Br(call), rest)
            }
            "cond_br" => {
                let (cond, rest) = rest.split_once(',').ok_or("expected two jumps")?;
                let (then, rest) = self.call(rest)?;
                let (els, rest) = self.call(rest)?;
                let cond = self.value(cond)?;
                (Terminator::CondBr { cond, then, els }, rest)
            }
            "switch" => {
                let (value, rest) = rest.split_once(',').ok_or("expected a default")?;
                let rest = rest
                    .trim()
                    .strip_prefix("default ")
                    .ok_or("expected a default")?;
                let (default, mut rest) = self.call(rest)?;
                let mut cases = Vec::new();
                while !rest.is_empty() {
                    let (bits, tail) = rest.split_once(':').ok_or("expected `bits: block`")?;
                    let (call, tail) = self.call(tail)?;
                    cases.push((integer(bits.trim())?, call));
                    rest = tail;
                }
                let value = self.value(value)?;
                (
                    Terminator::Switch {
                        value,
                        cases,
                        default,
                    },
                    rest,
                )
            }
            "ret" => (Terminator::Ret(self.values(rest)?), ""),
            _ => (Terminator::Unreachable, rest),
        };
        if rest.is_empty() {
            Ok(term)
        } else {
            Err(format!("unexpected {rest}"))
        }
    }
}
