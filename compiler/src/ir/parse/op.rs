//! Operations: a word with its suffixes, as in `load.global.align4`.

use brolga_mathlib::Table;
use cranelift_entity::EntityRef;
use smallvec::SmallVec;

use super::text::{after, integer, number, space};
use crate::image::{Component, Field, ImageDim};
use crate::ir::{
    Arith, Atomic, AtomicOp, BinOp, Builtin, Callee, Collective, ConvertOp, DeviceOp, DimQuery,
    Fence, FloatCC, FuncId, GlobalId, HostFunction, Image, Index, IntCC, Interleaving, LocalId,
    Mem, Op, Order, Query, Rounding, Scope, SlotId, Type, UnOp, Wrap, eval,
};

/// Whether the operation's first operand in the text is part of the operation itself.
pub(super) fn takes_immediate(op: &Op) -> bool {
    matches!(
        op,
        Op::Const(_)
            | Op::GlobalAddr(_)
            | Op::LocalAddr(_)
            | Op::Call(_)
            | Op::CallFunction(_)
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
pub(super) fn op(word: &str, first: Option<&str>, result: Option<Type>) -> Result<Op, String> {
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
            interleaving: match parts.get(2) {
                Some(unit) => Some(Interleaving {
                    unit: after("unit", unit)?,
                    lanes: after("lanes", part(3)?)?,
                }),
                None => None,
            },
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
        "image_read" => Op::ImageRead(image(&parts)?),
        "image_write" => Op::ImageWrite(image(&parts)?),
        "image_query" => Op::ImageQuery(Field::from_name(part(0)?).ok_or_else(unknown)?),
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
        "call_function" => {
            let function = FuncId::from_u32(after("@", first()?)?);
            let callee = Callee::from_words(function, &parts).ok_or_else(unknown)?;
            Op::CallFunction(Box::new(callee))
        }
        "func_addr" => Op::FuncAddr(number(part(0)?)?),
        "no_image_addr" => Op::NoImageAddr,
        "builtin" => Op::Builtin(Builtin::from_name(part(0)?).ok_or_else(unknown)?),
        "printf" => {
            let [masked] = flags(&parts, ["masked"])?;
            Op::Printf { masked }
        }
        "device" => {
            let what = DeviceOp::from_name(part(0)?).ok_or_else(unknown)?;
            let (block, flags_from) = match what.names_block() {
                true => (Some(FuncId::from_u32(after("@", part(1)?)?)), 2),
                false => (None, 1),
            };
            let [masked] = flags(tail(flags_from), ["masked"])?;
            Op::Device {
                what,
                block,
                masked,
            }
        }
        "context_load" => Op::ContextLoad(SlotId::new(after::<usize>("slot", first()?)?)),
        "context_store" => Op::ContextStore(SlotId::new(after::<usize>("slot", first()?)?)),
        "carry" => Op::Carry,
        "lane_ids" => Op::LaneIds,
        "any_true" => Op::AnyTrue,
        "all_true" => Op::AllTrue,
        "mask_bits" => Op::MaskBits,
        "deinterleave" => Op::Deinterleave,
        "interleave" => Op::Interleave,
        "permute" => Op::Permute,
        "lookup" => {
            let name = part(0)?;
            let mut all = Table::ALL.into_iter();
            Op::Lookup(all.find(|t| format!("{t:?}") == name).ok_or_else(unknown)?)
        }
        "routine" | "host_call" => {
            let words: &[&str] = if head == "routine" {
                &[&["routine"], &parts[..]].concat()
            } else {
                &parts
            };
            match HostFunction::from_name(words).ok_or_else(unknown)? {
                HostFunction::Routine(routine, format) if head == "routine" => {
                    Op::Routine(routine, format)
                }
                function => Op::HostCall(function),
            }
        }
        "call_pointer" => Op::CallPointer,
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

/// `global.align4.volatile.stride8`, `global.align4.masked.sext4`
fn mem(parts: &[&str]) -> Result<Mem, String> {
    let [space_word, align, rest @ ..] = parts else {
        return Err("an access needs an address space and an alignment".into());
    };
    let last = |name: &str| rest.last().and_then(|last| last.strip_prefix(name));
    let index = |signed: bool, text: &str| -> Result<Option<Index>, String> {
        let scale = integer(text)? as i64;
        Ok(Some(Index { signed, scale }))
    };
    let (stride, index) = match (last("stride"), last("sext"), last("zext")) {
        (Some(stride), _, _) => (integer(stride)? as i64, None),
        (_, Some(scale), _) => (0, index(true, scale)?),
        (_, _, Some(scale)) => (0, index(false, scale)?),
        _ => (0, None),
    };
    let named = usize::from(stride != 0 || index.is_some());
    let rest = &rest[..rest.len() - named];
    let [volatile, masked] = flags(rest, ["volatile", "masked"])?;
    Ok(Mem {
        space: space(space_word)?,
        align: after("align", align)?,
        volatile,
        masked,
        stride,
        index,
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

/// `constant.2d.f32.masked`
fn image(parts: &[&str]) -> Result<Image, String> {
    let [space_word, dim, component, rest @ ..] = parts else {
        return Err("an image needs an address space, a dimensionality and components".into());
    };
    let [masked] = flags(rest, ["masked"])?;
    Ok(Image {
        space: space(space_word)?,
        dim: ImageDim::from_name(dim).ok_or_else(|| format!("unknown dimensionality {dim}"))?,
        component: Component::from_name(component)
            .ok_or_else(|| format!("unknown components {component}"))?,
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
