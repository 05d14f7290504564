//! The text form, written.

use std::fmt::{self, Display, Formatter, Write as _};

use super::{
    Atomic, BlockCall, Collective, Fence, Function, GlobalInit, Image, Index, Inst, Interleaving,
    KernelRole, Mem, Module, Op, Terminator, Value, Wrap,
};
use crate::kernel_info::AddressSpace;

/// The name of an address space in the text form.
pub fn space_name(space: AddressSpace) -> &'static str {
    match space {
        AddressSpace::Private => "private",
        AddressSpace::Global => "global",
        AddressSpace::Constant => "constant",
        AddressSpace::Local => "local",
        AddressSpace::Generic => "generic",
    }
}

impl Display for Mem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.align{}", space_name(self.space), self.align)?;
        for (set, name) in [(self.volatile, ".volatile"), (self.masked, ".masked")] {
            if set {
                f.write_str(name)?;
            }
        }
        if self.stride != 0 {
            write!(f, ".stride{}", self.stride)?;
        }
        match self.index {
            Some(Index { signed, scale }) => {
                let extend = if signed { "sext" } else { "zext" };
                write!(f, ".{extend}{scale}")
            }
            None => Ok(()),
        }
    }
}

impl Display for Atomic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{}.{}",
            space_name(self.space),
            self.scope.name(),
            self.order.name()
        )?;
        if self.masked {
            f.write_str(".masked")
        } else {
            Ok(())
        }
    }
}

impl Display for Fence {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.scope.name(), self.order.name())?;
        if self.local {
            f.write_str(".local")?;
        }
        if self.global {
            f.write_str(".global")
        } else {
            Ok(())
        }
    }
}

impl Display for Image {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{}.{}{}",
            space_name(self.space),
            self.dim.name(),
            self.component.name(),
            if self.masked { ".masked" } else { "" }
        )
    }
}

impl Display for Wrap {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.nsw {
            f.write_str(".nsw")?;
        }
        if self.nuw {
            f.write_str(".nuw")?;
        }
        if self.strict {
            f.write_str(".strict")
        } else {
            Ok(())
        }
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let masked = |m: bool| if m { ".masked" } else { "" };
        match self {
            Op::Const(bits) => write!(f, "const {bits:#x}"),
            Op::GlobalAddr(g) => write!(f, "global_addr {g}"),
            Op::LocalAddr(l) => write!(f, "local_addr {l}"),
            Op::Alloca {
                size,
                align,
                interleaving,
            } => {
                write!(f, "alloca.{size}.align{align}")?;
                match interleaving {
                    Some(Interleaving { unit, lanes }) => write!(f, ".unit{unit}.lanes{lanes}"),
                    None => Ok(()),
                }
            }
            Op::Unary(op) => f.write_str(op.name()),
            Op::Binary(op, wrap) => write!(f, "{}{wrap}", op.name()),
            Op::Fma => f.write_str("fma"),
            Op::Rounded(op, rounding) => write!(f, "rounded.{}.{}", op.name(), rounding.name()),
            Op::ICmp(cc) => write!(f, "icmp.{}", cc.name()),
            Op::FCmp(cc) => write!(f, "fcmp.{}", cc.name()),
            Op::Select => f.write_str("select"),
            Op::Convert(op, rounding) => write!(f, "convert.{}.{}", op.name(), rounding.name()),
            Op::Splat => f.write_str("splat"),
            Op::Build => f.write_str("build"),
            Op::Extract(lane) => write!(f, "extract.{lane}"),
            Op::Insert(lane) => write!(f, "insert.{lane}"),
            Op::ExtractDyn => f.write_str("extract_dyn"),
            Op::InsertDyn => f.write_str("insert_dyn"),
            Op::Shuffle(mask) => {
                f.write_str("shuffle")?;
                mask.iter().try_for_each(|lane| write!(f, ".{lane}"))
            }
            Op::PtrAdd => f.write_str("ptr_add"),
            Op::InSpace(space) => write!(f, "in_space.{}", space_name(*space)),
            Op::Load(mem) => write!(f, "load.{mem}"),
            Op::Store(mem) => write!(f, "store.{mem}"),
            Op::MemCopy {
                size,
                align,
                volatile,
                masked: m,
            } => write!(
                f,
                "mem_copy.{size}.align{align}{}{}",
                if *volatile { ".volatile" } else { "" },
                masked(*m)
            ),
            Op::MemCopyDyn { align, masked: m } => {
                write!(f, "mem_copy_dyn.align{align}{}", masked(*m))
            }
            Op::AtomicRmw(op, atomic) => write!(f, "atomic_rmw.{}.{atomic}", op.name()),
            Op::AtomicCmpXchg(atomic) => write!(f, "atomic_cmpxchg.{atomic}"),
            Op::AtomicLoad(atomic) => write!(f, "atomic_load.{atomic}"),
            Op::AtomicStore(atomic) => write!(f, "atomic_store.{atomic}"),
            Op::ImageRead(image) => write!(f, "image_read.{image}"),
            Op::ImageWrite(image) => write!(f, "image_write.{image}"),
            Op::ImageQuery(field) => write!(f, "image_query.{}", field.name()),
            Op::Fence(fence) => write!(f, "fence.{fence}"),
            Op::Barrier(fence) => write!(f, "barrier.{fence}"),
            Op::NamedBarrier(fence) => write!(f, "named_barrier.{fence}"),
            Op::Collective {
                what,
                scope,
                masked: m,
            } => {
                write!(f, "collective.{}.{}", scope.name(), what.name())?;
                if let Some(op) = what.op() {
                    write!(f, ".{}", op.name())?;
                }
                if let Collective::Cluster(_, size) = what {
                    write!(f, ".{size}")?;
                }
                f.write_str(masked(*m))
            }
            Op::Clock => f.write_str("clock"),
            Op::DimQuery(query, dim) => write!(f, "dim_query.{}.{dim}", query.name()),
            Op::Query(query) => write!(f, "query.{}", query.name()),
            Op::Call(func) => write!(f, "call {func}"),
            Op::CallFunction(callee) => write!(f, "call_function{callee}"),
            Op::FuncAddr(number) => write!(f, "func_addr.{number}"),
            Op::NoImageAddr => f.write_str("no_image_addr"),
            Op::Builtin(builtin) => write!(f, "builtin.{}", builtin.name()),
            Op::Printf { masked: m } => write!(f, "printf{}", masked(*m)),
            Op::Device {
                what,
                block,
                masked: m,
            } => {
                write!(f, "device.{}", what.name())?;
                if let Some(block) = block {
                    write!(f, ".{block}")?;
                }
                f.write_str(masked(*m))
            }
            Op::ContextLoad(slot) => write!(f, "context_load {slot}"),
            Op::ContextStore(slot) => write!(f, "context_store {slot}"),
            Op::Carry => f.write_str("carry"),
            Op::LaneIds => f.write_str("lane_ids"),
            Op::AnyTrue => f.write_str("any_true"),
            Op::AllTrue => f.write_str("all_true"),
            Op::MaskBits => f.write_str("mask_bits"),
            Op::Deinterleave => f.write_str("deinterleave"),
            Op::Interleave => f.write_str("interleave"),
            Op::Permute => f.write_str("permute"),
            Op::Lookup(table) => write!(f, "lookup.{table:?}"),
            Op::Routine(routine, format) => write!(f, "routine.{routine:?}.{format:?}"),
            Op::HostCall(function) => write!(f, "host_call.{}", function.name()),
            Op::CallPointer => f.write_str("call_pointer"),
        }
    }
}

impl Display for BlockCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.block)?;
        if self.args.is_empty() {
            Ok(())
        } else {
            write!(f, "({})", commas(&self.args))
        }
    }
}

impl Display for Terminator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Terminator::Br(call) => write!(f, "br {call}"),
            Terminator::CondBr { cond, then, els } => write!(f, "cond_br {cond}, {then}, {els}"),
            Terminator::Switch {
                value,
                cases,
                default,
            } => {
                write!(f, "switch {value}, default {default}")?;
                cases
                    .iter()
                    .try_for_each(|(bits, call)| write!(f, ", {bits:#x}: {call}"))
            }
            Terminator::Ret(values) if values.is_empty() => f.write_str("ret"),
            Terminator::Ret(values) => write!(f, "ret {}", commas(values)),
            Terminator::Unreachable => f.write_str("unreachable"),
        }
    }
}

fn commas(values: &[Value]) -> String {
    values
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Function {
    /// One instruction in the text form, with its results' types.
    pub fn display_inst(&self, inst: Inst) -> String {
        let data = &self.insts[inst];
        let mut text = String::new();
        for (i, &result) in data.results.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            let _ = write!(text, "{comma}{result}: {}", self.ty(result));
        }
        if !data.results.is_empty() {
            text.push_str(" = ");
        }
        let _ = write!(text, "{}", data.op);
        if !data.args.is_empty() {
            // An entity named by the operation comes first, then the operands.
            let comma = matches!(
                data.op,
                Op::Call(_) | Op::CallFunction(_) | Op::ContextStore(_)
            );
            let _ = write!(
                text,
                "{} {}",
                if comma { "," } else { "" },
                commas(&data.args)
            );
        }
        text
    }

    fn print(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (id, local) in &self.locals {
            writeln!(
                f,
                "  local {id} {:?} size {} align {}",
                local.name, local.size, local.align
            )?;
        }
        for (id, slot) in self.slots.iter() {
            write!(
                f,
                "  slot {id} {} bytes {} align {}",
                slot.ty, slot.bytes, slot.align
            )?;
            if let Some(Interleaving { unit, lanes }) = slot.interleaving {
                write!(f, " unit {unit} lanes {lanes}")?;
            }
            writeln!(f)?;
        }
        for &block in &self.layout {
            let data = &self.blocks[block];
            write!(f, "{block}")?;
            if !data.params.is_empty() {
                let params: Vec<String> = data
                    .params
                    .iter()
                    .map(|&p| format!("{p}: {}", self.ty(p)))
                    .collect();
                write!(f, "({})", params.join(", "))?;
            }
            writeln!(f, ":")?;
            for &inst in &data.insts {
                writeln!(f, "  {}", self.display_inst(inst))?;
            }
            writeln!(f, "  {}", data.term)?;
        }
        Ok(())
    }
}

impl Display for Function {
    /// `func "name" (types) -> (types) { body }`
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let types = |types: Vec<String>| types.join(", ");
        writeln!(
            f,
            "func {:?} ({}) -> ({}) {{",
            self.name,
            types(
                self.params()
                    .iter()
                    .map(|&p| self.ty(p).to_string())
                    .collect()
            ),
            types(self.results.iter().map(|ty| ty.to_string()).collect()),
        )?;
        self.print(f)?;
        writeln!(f, "}}")
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (id, global) in &self.globals {
            write!(
                f,
                "global {id} {:?} {} size {} align {} = ",
                global.name,
                space_name(global.space),
                global.size,
                global.align
            )?;
            match &global.init {
                GlobalInit::Zero => writeln!(f, "zero")?,
                GlobalInit::Bytes(bytes, relocations) => {
                    f.write_str("0x")?;
                    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                    for r in relocations {
                        write!(f, " reloc {} {} {}", r.offset, r.target, r.addend)?;
                    }
                    writeln!(f)?;
                }
            }
        }
        for (id, func) in &self.functions {
            for kernel in self.kernels.iter().filter(|k| k.func == id) {
                let params: Vec<String> = kernel
                    .params
                    .iter()
                    .map(|p| match p {
                        super::ParamSource::Value { offset } => format!("value {offset}"),
                        super::ParamSource::Address { offset } => format!("address {offset}"),
                        super::ParamSource::Local { offset } => format!("local {offset}"),
                    })
                    .collect();
                writeln!(
                    f,
                    "kernel {:?} {id} ({}){}{}",
                    kernel.info.name,
                    params.join(", "),
                    if kernel.contract { " contract" } else { "" },
                    match kernel.role {
                        KernelRole::Ordinary => "",
                        KernelRole::Initializer => " initializer",
                        KernelRole::Finalizer => " finalizer",
                        KernelRole::Block => " block",
                    }
                )?;
            }
            write!(f, "{func}")?;
        }
        Ok(())
    }
}
