//! Instructions that touch memory: which bytes each lane of each element is at.
//!
//! An access has elements (results of a load, operands of a store), and each element has lanes.
//! With one address and no stride the lanes are consecutive in memory, an OpenCL vector; otherwise
//! they belong to different work-items: lane `l` is at its own address, or at `address + l *
//! stride`, with its elements consecutive.

use smallvec::SmallVec;

use super::checks::Kind;
use super::exec::Frame;
use super::{Error, Interpreter};
use crate::ir::eval::{self, Lanes};
use crate::ir::{Inst, Mem, Op, Scalar, Type, Value};

/// The work-items of an access: how many, and the address and mask bit of each.
struct Items<'a> {
    addresses: &'a [u64],
    stride: i64,
    mask: Option<&'a [u64]>,
    count: usize,
}

impl Items<'_> {
    /// The addresses of the active ones, with their lane numbers.
    fn active(&self) -> SmallVec<[(usize, u64); 4]> {
        (0..self.count)
            .filter(|&l| self.mask.is_none_or(|mask| mask[l % mask.len()] != 0))
            .map(|l| (l, self.address(l)))
            .collect()
    }

    fn address(&self, lane: usize) -> u64 {
        match self.addresses {
            [one] => one.wrapping_add_signed(self.stride.wrapping_mul(lane as i64)),
            many => many[lane],
        }
    }
}

/// The little-endian value of up to eight bytes.
fn from_bytes(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

impl Interpreter<'_> {
    pub(super) fn access(&mut self, frame: &mut Frame<'_>, inst: Inst) -> Result<(), Error> {
        let data = &frame.func.insts[inst];
        match &data.op {
            Op::Load(mem) => self.load(frame, inst, mem),
            Op::Store(mem) => self.store(frame, inst, mem),
            Op::MemCopy {
                size,
                align,
                masked,
                ..
            } => self.mem_copy(frame, &data.args, Some(*size), *align, *masked),
            Op::MemCopyDyn { align, masked } => {
                self.mem_copy(frame, &data.args, None, *align, *masked)
            }
            _ => self.atomic(frame, inst),
        }
    }

    /// Refuses what the checked mode refuses of a plain access.
    pub(super) fn check(
        &mut self,
        kind: Kind,
        address: u64,
        size: u64,
        align: u32,
    ) -> Result<(), Error> {
        if !self.checks.enabled {
            return Ok(());
        }
        let what = if kind == Kind::Write { "store" } else { "load" };
        if !address.is_multiple_of(u64::from(align)) {
            return Err(Error::new(format!(
                "{what} at {address:#x} is not aligned to {align} bytes"
            )));
        }
        if kind == Kind::Read {
            self.memory.check_written(what, address, size)?;
        }
        let (segment, offset) = self.memory.locate(what, address, size)?;
        self.checks
            .access(what, kind, segment, offset, size as usize)
    }

    /// Reads `lanes` consecutive scalars.
    fn read(&mut self, address: u64, ty: Type, align: u32, to: &mut Lanes) -> Result<(), Error> {
        let size = u64::from(ty.bytes());
        self.check(Kind::Read, address, size, align)?;
        let bytes = self.memory.read("load", address, size)?;
        let each = ty.scalar.bytes() as usize;
        to.extend(
            bytes
                .chunks(each)
                .map(|chunk| from_bytes(chunk) & ty.scalar.mask()),
        );
        Ok(())
    }

    fn write(
        &mut self,
        address: u64,
        scalar: Scalar,
        lanes: &[u64],
        align: u32,
    ) -> Result<(), Error> {
        let each = scalar.bytes() as usize;
        let bytes: SmallVec<[u8; 32]> = lanes
            .iter()
            .flat_map(|lane| lane.to_le_bytes().into_iter().take(each))
            .collect();
        self.check(Kind::Write, address, bytes.len() as u64, align)?;
        self.memory.write("store", address, &bytes)
    }

    fn load(&mut self, frame: &mut Frame<'_>, inst: Inst, mem: &Mem) -> Result<(), Error> {
        let func = frame.func;
        let data = &func.insts[inst];
        let ty = func.ty(data.results[0]);
        let addresses = addresses(frame, mem, &data.args);
        let mask = mem
            .masked
            .then(|| Lanes::from_slice(frame.get(data.args[mem.places()])));
        let contiguous = addresses.len() == 1 && mem.stride == 0;
        let items = Items {
            addresses: &addresses,
            stride: mem.stride,
            mask: mask.as_deref(),
            count: if contiguous { 1 } else { usize::from(ty.lanes) },
        };
        let part = if contiguous { ty } else { ty.lane() };
        let active = items.active();
        for (n, &value) in data.results.iter().enumerate() {
            let mut lanes = Lanes::from_elem(0, usize::from(ty.lanes));
            for &(l, address) in &active {
                let mut read = Lanes::new();
                let align = if n == 0 { mem.align } else { 1 };
                let address = address.wrapping_add(n as u64 * u64::from(part.bytes()));
                self.read(address, part, align, &mut read)?;
                lanes[l..l + read.len()].copy_from_slice(&read);
            }
            frame.set(value, &lanes);
        }
        Ok(())
    }

    fn store(&mut self, frame: &mut Frame<'_>, inst: Inst, mem: &Mem) -> Result<(), Error> {
        let func = frame.func;
        let data = &func.insts[inst];
        let elements = &data.args[mem.places()..data.args.len() - usize::from(mem.masked)];
        let ty = func.ty(elements[0]);
        let addresses = addresses(frame, mem, &data.args);
        let contiguous = addresses.len() == 1 && mem.stride == 0;
        let items = Items {
            addresses: &addresses,
            stride: mem.stride,
            mask: mem
                .masked
                .then(|| frame.get(*data.args.last().expect("a mask"))),
            count: if contiguous { 1 } else { usize::from(ty.lanes) },
        };
        let part = if contiguous { ty } else { ty.lane() };
        for (l, address) in items.active() {
            for (n, &value) in elements.iter().enumerate() {
                let lanes = frame.get(value);
                let lanes = if contiguous { lanes } else { &lanes[l..l + 1] };
                let align = if n == 0 { mem.align } else { 1 };
                let address = address.wrapping_add(n as u64 * u64::from(part.bytes()));
                self.write(address, ty.scalar, lanes, align)?;
            }
        }
        Ok(())
    }

    pub(super) fn mem_copy(
        &mut self,
        frame: &Frame<'_>,
        args: &[Value],
        size: Option<u64>,
        align: u32,
        masked: bool,
    ) -> Result<(), Error> {
        let mask = masked.then(|| frame.get(*args.last().expect("a mask")));
        let operands = &args[..args.len() - usize::from(masked)];
        let counts = operands.iter().map(|&a| frame.get(a).len());
        let count = counts.chain(mask.map(<[u64]>::len)).max().unwrap_or(1);
        for l in 0..count {
            if mask.is_some_and(|mask| mask[l % mask.len()] == 0) {
                continue;
            }
            let lane = |value: Value| {
                let lanes = frame.get(value);
                lanes[l % lanes.len()]
            };
            let (dst, src) = (lane(args[0]), lane(args[1]));
            let size = size.unwrap_or_else(|| lane(args[2]));
            if size == 0 || dst == src {
                continue;
            }
            // Padding may be copied, so what is copied need not have been written.
            let (from, from_at) = self.memory.locate("load of a copy", src, size)?;
            let (to, to_at) = self.memory.locate("store of a copy", dst, size)?;
            let bytes = size as usize;
            self.checks
                .access("copy", Kind::Read, from, from_at, bytes)?;
            self.checks.access("copy", Kind::Write, to, to_at, bytes)?;
            if self.checks.enabled {
                let aligned = (dst | src).is_multiple_of(u64::from(align));
                let overlap = dst.abs_diff(src) < size;
                if !aligned || overlap {
                    return Err(Error::new(format!(
                        "a copy of {size} bytes from {src:#x} to {dst:#x} {}",
                        if overlap {
                            "overlaps".to_string()
                        } else {
                            format!("is not aligned to {align} bytes")
                        }
                    )));
                }
            }
            self.memory.copy("copy", dst, src, size)?;
        }
        Ok(())
    }

    fn atomic(&mut self, frame: &mut Frame<'_>, inst: Inst) -> Result<(), Error> {
        let func = frame.func;
        let data = &func.insts[inst];
        let masked = match &data.op {
            Op::AtomicRmw(_, atomic)
            | Op::AtomicCmpXchg(atomic)
            | Op::AtomicLoad(atomic)
            | Op::AtomicStore(atomic) => atomic.masked,
            _ => false,
        };
        let ty = match data.results.first() {
            Some(&result) => func.ty(result),
            None => func.ty(data.args[1]),
        };
        let mask = masked.then(|| frame.get(*data.args.last().expect("a mask")));
        let addresses = frame.get(data.args[0]);
        let count = usize::from(ty.lanes).max(addresses.len());
        let items = Items {
            addresses,
            stride: 0,
            mask,
            count: count.max(mask.map_or(1, <[u64]>::len)),
        };
        let mut before = Lanes::from_elem(0, usize::from(ty.lanes));
        let size = u64::from(ty.scalar.bytes());
        for (l, address) in items.active() {
            let operand = |n: usize| {
                let lanes = frame.get(data.args[n]);
                lanes[l % lanes.len()]
            };
            let (segment, offset) = self.memory.locate("atomic", address, size)?;
            if self.checks.enabled && !address.is_multiple_of(size) {
                return Err(Error::new(format!("an atomic at {address:#x}, unaligned")));
            }
            self.checks
                .access("atomic", Kind::Atomic, segment, offset, size as usize)?;
            let old = from_bytes(self.memory.read("atomic", address, size)?);
            let new = match &data.op {
                Op::AtomicRmw(op, _) => Some(match op.binary() {
                    Some(op) => eval::binary(op, ty.scalar, old, operand(1)),
                    None => operand(1),
                }),
                Op::AtomicCmpXchg(_) => (old == operand(1)).then(|| operand(2)),
                Op::AtomicStore(_) => Some(operand(1)),
                _ => None,
            };
            let reads = !matches!(data.op, Op::AtomicStore(_));
            if reads && self.checks.enabled {
                self.memory.check_written("atomic", address, size)?;
            }
            if let Some(new) = new {
                let bytes = new.to_le_bytes();
                self.memory
                    .write("atomic", address, &bytes[..size as usize])?;
            }
            let lanes = before.len();
            before[l % lanes] = old;
        }
        if let Some(&result) = data.results.first() {
            frame.set(result, &before);
        }
        Ok(())
    }
}

/// Where the lanes of an access are, or the first one.
fn addresses(frame: &Frame<'_>, mem: &Mem, args: &[Value]) -> Lanes {
    let given = frame.get(args[0]);
    let Some(index) = mem.index else {
        return Lanes::from_slice(given);
    };
    let unused = 64 - frame.ty(args[1]).scalar.bits();
    let at = |&bits: &u64| {
        let wide = match index.signed {
            true => (bits << unused) as i64 >> unused,
            false => bits as i64,
        };
        given[0].wrapping_add_signed(wide.wrapping_mul(index.scale))
    };
    frame.get(args[1]).iter().map(at).collect()
}
