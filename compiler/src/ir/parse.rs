//! The text form, read: what `print.rs` writes, and a little more.
//!
//! Value and block numbers are only names here. Comments start with `;`. A constant may be written as
//! a number of its type: `const -1`, `const 1.5`, `const inf`. A rounding mode that does not
//! matter may be left out (`convert.zext v0`). Functions, globals, locals and slots are numbered in the order of
//! appearance, as the printer does.
//!
//! A function is read in two steps: first every line makes its block, instruction and
//! results, so that the second can resolve operands wherever they are defined.

use std::collections::HashMap;
use std::fmt;

use cranelift_entity::EntityRef;
use smallvec::SmallVec;

use super::{
    Arith, Atomic, AtomicOp, BinOp, Block, BlockCall, Builtin, Collective, ConvertOp, DimQuery,
    Fence, FloatCC, FuncId, Function, Global, GlobalId, GlobalInit, Inst, IntCC, Kernel,
    KernelRole, LocalId, LocalVar, Mem, Module, Op, Order, ParamSource, Query, Relocation,
    Rounding, Scope, Slot, SlotId, SourceLoc, Terminator, Type, UnOp, Value, Wrap, eval,
};
use crate::{AccessQualifier, AddressSpace, ArgInfo, ArgKind, KernelInfo, TypeQualifiers};

/// What was wrong with a text, and in which line (from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Reads a module. Kernels get the least [`KernelInfo`] that matches their parameters.
pub fn module(text: &str) -> Result<Module, ParseError> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, without_comment(line).trim()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let mut module = Module::default();
    let mut rest = lines.as_slice();
    let mut last = 0;
    while let Some((&(number, line), tail)) = rest.split_first() {
        rest = tail;
        last = number;
        let at = |message| ParseError {
            line: number,
            message,
        };
        match line.split_whitespace().next() {
            Some("global") => {
                let global = global(line, module.globals.len()).map_err(at)?;
                module.globals.push(global);
            }
            Some("kernel") => module.kernels.push(kernel(line).map_err(at)?),
            Some("func") => {
                let end = rest
                    .iter()
                    .position(|&(_, line)| line == "}")
                    .ok_or_else(|| at("a function without its closing `}`".into()))?;
                let func = function(number, line, &rest[..end])?;
                module.functions.push(func);
                rest = &rest[end + 1..];
            }
            _ => return Err(at(format!("expected global, kernel or func: {line}"))),
        }
    }
    for index in 0..module.kernels.len() {
        finish_kernel(&mut module, index).map_err(|message| ParseError {
            line: last,
            message,
        })?;
    }
    Ok(module)
}

/// The line up to a `;` outside quotes.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ';' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

/// Splits a quoted name off the start of `text` and undoes `{:?}`.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let bad = || format!("expected a quoted name: {text}");
    let body = text.trim_start().strip_prefix('"').ok_or_else(bad)?;
    let mut name = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((name, body[at + 1..].trim_start())),
            '\\' => match chars.next().ok_or_else(bad)?.1 {
                'n' => name.push('\n'),
                't' => name.push('\t'),
                'r' => name.push('\r'),
                '0' => name.push('\0'),
                'u' => {
                    let (_, hex) = (chars.next(), chars.as_str());
                    let end = hex.find('}').ok_or_else(bad)?;
                    let code = u32::from_str_radix(&hex[..end], 16).map_err(|_| bad())?;
                    name.push(char::from_u32(code).ok_or_else(bad)?);
                    chars.nth(end);
                }
                other => name.push(other),
            },
            other => name.push(other),
        }
    }
    Err(bad())
}

/// A decimal or `0x` hexadecimal integer; a negative one as its two's complement.
fn integer(text: &str) -> Result<u64, String> {
    let bad = |_| format!("expected a number: {text}");
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).map_err(bad)?,
        None => digits.parse::<u64>().map_err(bad)?,
    };
    Ok(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    T::try_from(integer(text)?).map_err(|_| format!("number too large: {text}"))
}

/// The number after a fixed prefix, as in `align4` or `@g3`.
fn after<T: TryFrom<u64>>(prefix: &str, text: &str) -> Result<T, String> {
    number(
        text.trim()
            .strip_prefix(prefix)
            .ok_or_else(|| format!("expected `{prefix}` and a number: {text}"))?,
    )
}

fn space(text: &str) -> Result<AddressSpace, String> {
    Ok(match text {
        "private" => AddressSpace::Private,
        "global" => AddressSpace::Global,
        "constant" => AddressSpace::Constant,
        "local" => AddressSpace::Local,
        "generic" => AddressSpace::Generic,
        _ => return Err(format!("unknown address space {text}")),
    })
}

fn ty(text: &str) -> Result<Type, String> {
    text.trim()
        .parse()
        .map_err(|()| format!("unknown type {text}"))
}

/// `a, b, c` split and trimmed; empty for an empty text.
fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

/// `words` as keyword, value, keyword, value...: the value of each of `keys`, in order.
fn keyed<const N: usize>(words: &[&str], keys: [&str; N]) -> Result<[u64; N], String> {
    let mut values = [0; N];
    for (i, key) in keys.into_iter().enumerate() {
        match words.get(2 * i..2 * i + 2) {
            Some([word, value]) if *word == key => values[i] = integer(value)?,
            _ => return Err(format!("expected `{key}` and a number")),
        }
    }
    Ok(values)
}

/// `global @g0 "name" constant size 8 align 4 = 0x0011.. reloc 0 @g1 8`
fn global(line: &str, index: usize) -> Result<Global, String> {
    let rest = line["global".len()..].trim_start();
    let (id, rest) = rest.split_once(' ').ok_or("expected @gN")?;
    if after::<u32>("@g", id)? as usize != index {
        return Err(format!("expected @g{index}: globals are numbered in order"));
    }
    let (name, rest) = quoted(rest)?;
    let (head, init) = rest.split_once('=').ok_or("expected `=`")?;
    let words: Vec<&str> = head.split_whitespace().collect();
    let (&space_word, words) = words.split_first().ok_or("expected an address space")?;
    let [size, align] = keyed(words, ["size", "align"])?;
    let mut init = init.split_whitespace();
    let init = match init.next() {
        Some("zero") => GlobalInit::Zero,
        Some(hex) => {
            let hex = hex.strip_prefix("0x").ok_or("expected zero or 0x..")?;
            if !hex.is_ascii() || hex.len() as u64 != 2 * size {
                return Err(format!("expected {} hexadecimal digits", 2 * size));
            }
            let bytes = (0..hex.len())
                .step_by(2)
                .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).map_err(|e| e.to_string()))
                .collect::<Result<_, _>>()?;
            let mut relocations = Vec::new();
            while let Some(word) = init.next() {
                let mut next = || init.next().ok_or("a relocation needs three numbers");
                if word != "reloc" {
                    return Err(format!("expected reloc: {word}"));
                }
                relocations.push(Relocation {
                    offset: integer(next()?)?,
                    target: GlobalId::from_u32(after("@g", next()?)?),
                    addend: integer(next()?)? as i64,
                });
            }
            GlobalInit::Bytes(bytes, relocations)
        }
        None => return Err("expected an initialiser".into()),
    };
    Ok(Global {
        name,
        space: space(space_word)?,
        size,
        align: u32::try_from(align).map_err(|_| "alignment too large")?,
        init,
    })
}

/// `kernel "name" @0 (value 0, local 8) contract initializer`
fn kernel(line: &str) -> Result<Kernel, String> {
    let (name, rest) = quoted(&line["kernel".len()..])?;
    let (id, rest) = rest.split_once('(').ok_or("expected `(`")?;
    let (params, flags) = rest.split_once(')').ok_or("expected `)`")?;
    let params = list(params)
        .map(|param| {
            let (kind, offset) = param
                .split_once(' ')
                .ok_or_else(|| format!("expected a kind and an offset: {param}"))?;
            let offset = number(offset)?;
            Ok(match kind {
                "value" => ParamSource::Value { offset },
                "address" => ParamSource::Address { offset },
                "local" => ParamSource::Local { offset },
                _ => return Err(format!("unknown kind of parameter {kind}")),
            })
        })
        .collect::<Result<_, String>>()?;
    let (mut contract, mut role) = (false, KernelRole::Ordinary);
    for flag in flags.split_whitespace() {
        match flag {
            "contract" => contract = true,
            "initializer" => role = KernelRole::Initializer,
            "finalizer" => role = KernelRole::Finalizer,
            other => return Err(format!("unknown kernel flag {other}")),
        }
    }
    Ok(Kernel {
        info: KernelInfo {
            name,
            args: Vec::new(),
            args_size: 0,
            required_work_group_size: None,
            work_group_size_hint: None,
            vec_type_hint: None,
            required_sub_group_size: None,
            required_num_sub_groups: None,
            local_mem_size: 0,
            private_mem_size: 0,
            has_barrier: false,
            attributes: String::new(),
        },
        func: FuncId::from_u32(after("@", id)?),
        params,
        contract,
        role,
    })
}

/// Fills in what a kernel's info owes to its function, once all functions are read.
fn finish_kernel(module: &mut Module, index: usize) -> Result<(), String> {
    let kernel = &module.kernels[index];
    let name = &kernel.info.name;
    let func = module
        .functions
        .get(kernel.func)
        .ok_or_else(|| format!("kernel {name:?} has no function {}", kernel.func))?;
    if func.params().len() != kernel.params.len() {
        return Err(format!(
            "kernel {name:?} lists {} parameters, its function has {}",
            kernel.params.len(),
            func.params().len()
        ));
    }
    let args_size = func
        .params()
        .iter()
        .zip(&kernel.params)
        .map(|(&param, source)| match *source {
            ParamSource::Value { offset } => offset + func.ty(param).bytes(),
            ParamSource::Address { offset } | ParamSource::Local { offset } => offset + 8,
        })
        .max()
        .unwrap_or(0);
    let has_barrier = module.functions.values().any(|func| {
        let mut insts = func.insts.values();
        insts.any(|inst| matches!(inst.op, Op::Barrier(_) | Op::NamedBarrier(_)))
    });
    let local_mem_size = func.locals.values().fold(0u64, |end, local| {
        end.next_multiple_of(u64::from(local.align)) + local.size
    });
    let args = func.params().iter().zip(&kernel.params);
    let args = args.map(|(&param, source)| argument(func.ty(param), *source));
    let args = args.collect();
    let info = &mut module.kernels[index].info;
    info.args = args;
    info.args_size = args_size;
    info.has_barrier = has_barrier;
    info.local_mem_size = local_mem_size;
    Ok(())
}

/// What a parameter says of its argument. The size of a structure passed by value is not in the text: at least eight.
fn argument(ty: Type, source: ParamSource) -> ArgInfo {
    let (offset, kind, size) = match source {
        ParamSource::Value { offset } if ty == Type::PTR => {
            (offset, ArgKind::Pointer(AddressSpace::Global), 8)
        }
        ParamSource::Value { offset } => (offset, ArgKind::Value, ty.bytes()),
        ParamSource::Address { offset } => (offset, ArgKind::Value, 8),
        ParamSource::Local { offset } => (offset, ArgKind::Pointer(AddressSpace::Local), 8),
    };
    ArgInfo {
        name: None,
        type_name: None,
        kind,
        access: AccessQualifier::None,
        qualifiers: TypeQualifiers::default(),
        size,
        offset,
    }
}

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
fn function(head_line: usize, head: &str, body: &[(usize, &str)]) -> Result<Function, ParseError> {
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

    /// `slot slot0 i32 bytes 0 align 4`
    fn slot(&mut self, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [_, id, kind, rest @ ..] = words.as_slice() else {
            return Err("expected slotN and a type".into());
        };
        if after::<u32>("slot", id)? as usize != self.func.slots.len() {
            return Err("slots are numbered in order".into());
        }
        let [bytes, align] = keyed(rest, ["bytes", "align"])?;
        self.func.slots.push(Slot {
            ty: ty(kind)?,
            bytes: u32::try_from(bytes).map_err(|_| "slot too large")?,
            align: u32::try_from(align).map_err(|_| "alignment too large")?,
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

/// Whether the operation's first operand in the text is part of the operation itself.
fn takes_immediate(op: &Op) -> bool {
    matches!(
        op,
        Op::Const(_)
            | Op::GlobalAddr(_)
            | Op::LocalAddr(_)
            | Op::Call(_)
            | Op::ContextLoad(_)
            | Op::ContextStore(_)
    )
}

/// The bits of a constant of type `ty` written as `text`.
fn constant(text: &str, ty: Type) -> Result<u64, String> {
    if !ty.scalar.is_float() || text.contains("0x") {
        return Ok(integer(text)? & ty.scalar.mask());
    }
    let value: f64 = text
        .parse()
        .map_err(|_| format!("expected a number: {text}"))?;
    Ok(eval::from_f64(ty.scalar, value))
}

/// An operation from its word, the first operand after it and the type of the first result.
fn op(word: &str, first: Option<&str>, result: Option<Type>) -> Result<Op, String> {
    let mut parts = word.split('.');
    let head = parts.next().unwrap_or_default();
    let parts: SmallVec<[&str; 8]> = parts.collect();
    let part = |i: usize| -> Result<&str, String> {
        parts
            .get(i)
            .copied()
            .ok_or_else(|| format!("{word} is incomplete"))
    };
    let tail = |from: usize| parts.get(from..).unwrap_or_default();
    let unknown = || format!("unknown operation {word}");
    let first = || first.ok_or_else(|| format!("{word} needs an operand"));
    if let Some(op) = UnOp::from_name(head) {
        return Ok(Op::Unary(op));
    }
    if let Some(op) = BinOp::from_name(head) {
        let [nsw, nuw, strict] = flags(&parts, ["nsw", "nuw", "strict"])?;
        return Ok(Op::Binary(op, Wrap { nsw, nuw, strict }));
    }
    Ok(match head {
        "const" => {
            let ty = result.ok_or("a constant needs a result")?;
            Op::Const(constant(first()?, ty)?)
        }
        "global_addr" => Op::GlobalAddr(GlobalId::from_u32(after("@g", first()?)?)),
        "local_addr" => Op::LocalAddr(LocalId::from_u32(after("l", first()?)?)),
        "alloca" => Op::Alloca {
            size: number(part(0)?)?,
            align: after("align", part(1)?)?,
        },
        "fma" => Op::Fma,
        "rounded" => Op::Rounded(
            Arith::from_name(part(0)?).ok_or_else(unknown)?,
            Rounding::from_name(part(1)?).ok_or_else(unknown)?,
        ),
        "icmp" => Op::ICmp(IntCC::from_name(part(0)?).ok_or_else(unknown)?),
        "fcmp" => Op::FCmp(FloatCC::from_name(part(0)?).ok_or_else(unknown)?),
        "select" => Op::Select,
        "convert" => Op::Convert(
            ConvertOp::from_name(part(0)?).ok_or_else(unknown)?,
            match parts.get(1) {
                Some(mode) => Rounding::from_name(mode).ok_or_else(unknown)?,
                None => Rounding::NearestEven,
            },
        ),
        "splat" => Op::Splat,
        "build" => Op::Build,
        "extract" => Op::Extract(number(part(0)?)?),
        "insert" => Op::Insert(number(part(0)?)?),
        "extract_dyn" => Op::ExtractDyn,
        "insert_dyn" => Op::InsertDyn,
        "shuffle" => Op::Shuffle(parts.iter().map(|l| number(l)).collect::<Result<_, _>>()?),
        "ptr_add" => Op::PtrAdd,
        "in_space" => Op::InSpace(space(part(0)?)?),
        "load" => Op::Load(mem(&parts)?),
        "store" => Op::Store(mem(&parts)?),
        "mem_copy" => {
            let [volatile, masked] = flags(tail(2), ["volatile", "masked"])?;
            Op::MemCopy {
                size: number(part(0)?)?,
                align: after("align", part(1)?)?,
                volatile,
                masked,
            }
        }
        "mem_copy_dyn" => {
            let [masked] = flags(tail(1), ["masked"])?;
            Op::MemCopyDyn {
                align: after("align", part(0)?)?,
                masked,
            }
        }
        "atomic_rmw" => Op::AtomicRmw(
            AtomicOp::from_name(part(0)?).ok_or_else(unknown)?,
            atomic(tail(1))?,
        ),
        "atomic_cmpxchg" => Op::AtomicCmpXchg(atomic(&parts)?),
        "atomic_load" => Op::AtomicLoad(atomic(&parts)?),
        "atomic_store" => Op::AtomicStore(atomic(&parts)?),
        "fence" => Op::Fence(fence(&parts)?),
        "barrier" => Op::Barrier(fence(&parts)?),
        "named_barrier" => Op::NamedBarrier(fence(&parts)?),
        "collective" => {
            let scope = Scope::from_name(part(0)?).ok_or_else(unknown)?;
            let (what, used) = collective(tail(1)).ok_or_else(unknown)?;
            let [masked] = flags(tail(1 + used), ["masked"])?;
            Op::Collective {
                what,
                scope,
                masked,
            }
        }
        "clock" => Op::Clock,
        "dim_query" => Op::DimQuery(
            DimQuery::from_name(part(0)?).ok_or_else(unknown)?,
            number(part(1)?)?,
        ),
        "query" => Op::Query(Query::from_name(part(0)?).ok_or_else(unknown)?),
        "call" => Op::Call(FuncId::from_u32(after("@", first()?)?)),
        "builtin" => Op::Builtin(Builtin::from_name(part(0)?).ok_or_else(unknown)?),
        "printf" => {
            let [masked] = flags(&parts, ["masked"])?;
            Op::Printf { masked }
        }
        "context_load" => Op::ContextLoad(SlotId::new(after::<usize>("slot", first()?)?)),
        "context_store" => Op::ContextStore(SlotId::new(after::<usize>("slot", first()?)?)),
        "carry" => Op::Carry,
        "lane_ids" => Op::LaneIds,
        "any_true" => Op::AnyTrue,
        "all_true" => Op::AllTrue,
        "mask_bits" => Op::MaskBits,
        "permute" => Op::Permute,
        "routine" => {
            let name = part(0)?;
            let mut all = brolga_mathlib::Routine::ALL.into_iter();
            let format = match part(1)? {
                "F32" => brolga_mathlib::Format::F32,
                "F64" => brolga_mathlib::Format::F64,
                _ => return Err(unknown()),
            };
            let routine = all.find(|r| format!("{r:?}") == name).ok_or_else(unknown)?;
            Op::Routine(routine, format)
        }
        _ => return Err(unknown()),
    })
}

/// Which of `names` occur in `parts`; an error for anything else.
fn flags<const N: usize>(parts: &[&str], names: [&str; N]) -> Result<[bool; N], String> {
    if let Some(other) = parts.iter().find(|part| !names.contains(part)) {
        return Err(format!("unknown suffix .{other}"));
    }
    Ok(names.map(|name| parts.contains(&name)))
}

/// `global.align4.volatile.stride8`
fn mem(parts: &[&str]) -> Result<Mem, String> {
    let [space_word, align, rest @ ..] = parts else {
        return Err("an access needs an address space and an alignment".into());
    };
    let (stride, rest) = match rest.split_last() {
        Some((last, head)) if last.starts_with("stride") => {
            let text = &last["stride".len()..];
            (integer(text)? as i64, head)
        }
        _ => (0, rest),
    };
    let [volatile, nontemporal, masked] = flags(rest, ["volatile", "nontemporal", "masked"])?;
    Ok(Mem {
        space: space(space_word)?,
        align: after("align", align)?,
        volatile,
        nontemporal,
        masked,
        stride,
    })
}

/// `global.device.relaxed.masked`
fn atomic(parts: &[&str]) -> Result<Atomic, String> {
    let [space_word, scope, order, rest @ ..] = parts else {
        return Err("an atomic needs an address space, a scope and an order".into());
    };
    let [masked] = flags(rest, ["masked"])?;
    Ok(Atomic {
        space: space(space_word)?,
        scope: Scope::from_name(scope).ok_or_else(|| format!("unknown scope {scope}"))?,
        order: Order::from_name(order).ok_or_else(|| format!("unknown order {order}"))?,
        masked,
    })
}

/// `cluster.iadd.4`, and how many words that was.
fn collective(parts: &[&str]) -> Option<(Collective, usize)> {
    let (&name, rest) = parts.split_first()?;
    let op = || BinOp::from_name(rest.first()?);
    Some(match name {
        "reduce" => (Collective::Reduce(op()?), 2),
        "inclusive" => (Collective::Inclusive(op()?), 2),
        "exclusive" => (Collective::Exclusive(op()?), 2),
        "cluster" => (Collective::Cluster(op()?, rest.get(1)?.parse().ok()?), 3),
        _ => {
            let plain = [
                Collective::Sync,
                Collective::Elect,
                Collective::All,
                Collective::Any,
                Collective::AllEqual,
                Collective::Ballot,
                Collective::Broadcast,
                Collective::BroadcastFirst,
                Collective::Shuffle,
            ];
            (plain.into_iter().find(|what| what.name() == name)?, 1)
        }
    })
}

/// `workgroup.acqrel.local.global`
fn fence(parts: &[&str]) -> Result<Fence, String> {
    let [scope, order, rest @ ..] = parts else {
        return Err("a fence needs a scope and an order".into());
    };
    let [local, global] = flags(rest, ["local", "global"])?;
    Ok(Fence {
        scope: Scope::from_name(scope).ok_or_else(|| format!("unknown scope {scope}"))?,
        order: Order::from_name(order).ok_or_else(|| format!("unknown order {order}"))?,
        local,
        global,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: &str = include_str!("parse_test.bir");

    #[test]
    fn printing_what_was_read_gives_the_text_back() {
        let first = module(EVERYTHING).unwrap().to_string();
        let second = module(&first).unwrap().to_string();
        assert_eq!(first, second);
        for line in EVERYTHING.lines().map(|l| without_comment(l).trim()) {
            let friendly = line.contains("const ") && !line.contains("0x");
            assert!(
                friendly || first.contains(line),
                "{line} is not in\n{first}"
            );
        }
    }

    #[test]
    fn friendly_constants_have_the_bits_of_their_type() {
        let module = module(
            "func \"f\" () -> (f16, f32, f64, i8) {\nblock7:\n v9: f16 = const 1.5\n v3: f32 = const -inf\n\
             v4: f64 = const 0.1\n v5: i8 = const -1\n ret v9, v3, v4, v5\n}",
        )
        .unwrap();
        let func = &module.functions[FuncId::from_u32(0)];
        let Terminator::Ret(values) = &func.blocks[func.entry()].term else {
            panic!("not a return")
        };
        let bits: Vec<u64> = values.iter().map(|&v| func.as_const(v).unwrap()).collect();
        assert_eq!(bits, [0x3e00, 0xff80_0000, 0.1f64.to_bits(), 0xff]);
    }

    #[test]
    fn an_error_names_its_line() {
        let error = |text: &str| {
            let e = module(text).unwrap_err();
            (e.line, e.message)
        };
        let head = "func \"f\" () -> () {\nblock0:\n";
        assert_eq!(
            error(&format!("{head}  v0: i32 = iadd v1, v1\n  ret\n}}")),
            (3, "v1 is not defined".into())
        );
        assert_eq!(
            error(&format!("{head}  v0: i32 = fly v1\n  ret\n}}")),
            (3, "unknown operation fly".into())
        );
        assert_eq!(
            error(&format!("{head}  br block9\n}}")),
            (3, "no block named block9".into())
        );
        assert_eq!(error("hello").0, 1);
        assert_eq!(error("func \"f\" () -> () {\n").0, 1);
    }
}
