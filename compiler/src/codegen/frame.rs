//! Where private variables are: on the stack, or in private memory.
//!
//! An index that a kernel computes may be wrong. Were the variable on the thread's stack, what is
//! written beyond its end would be the return addresses and variables of whoever called the kernel.
//! So a variable is on the stack only if every access to it is seen to be inside, as those of
//! values that were demoted to memory are; all others, and large ones, are in private memory: a
//! piece of the scratch memory ([`crate::abi`]), with nothing near it but what belongs to the
//! kernel. This is what LLVM calls a safe stack (Kuznetsov et al., "Code-Pointer Integrity", OSDI
//! 2014).
//!
//! A variable has an offset that is known at compile time on either: in private memory from the
//! scratch pointer, which every function is called with. Functions do not recurse, so that each has
//! a piece of private memory of its own.

use cranelift_entity::SecondaryMap;

use crate::abi;
use crate::diagnostic::Diagnostic;
use crate::ir::{Function, InstData, Mem, Op, Value};

/// Variables of more bytes are not on the stack, of which threads may have little.
const MOST_ON_STACK: u32 = 1 << 10;

/// The private memory that a function may use.
#[derive(Clone, Copy)]
pub struct PrivateMemory {
    /// The scratch pointer.
    pub scratch: Value,
    /// Bytes that others use, from the end on.
    pub taken: u32,
}

/// What offsets are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The lower end of the frame.
    Stack,
    /// The scratch pointer.
    Scratch(Value),
}

/// Where something is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub base: Base,
    /// Bytes.
    pub offset: i32,
}

/// The layout of a function's private variables.
#[derive(Default)]
pub struct FrameLayout {
    /// The addresses known at compile time.
    pub places: SecondaryMap<Value, Option<Place>>,
    /// Bytes on the stack.
    pub size: u32,
    /// Bytes, a power of two, of what is on the stack.
    pub align: u32,
    /// Bytes of private memory, with those that others use.
    pub private_size: u32,
    /// Bytes, a power of two, of the scratch pointer.
    pub private_align: u32,
}

impl FrameLayout {
    /// Lays out the variables of a function. Without private memory all are on the stack.
    pub fn new(func: &Function, private: Option<PrivateMemory>) -> Result<FrameLayout, Diagnostic> {
        let mut layout = FrameLayout {
            align: 1,
            private_size: private.map_or(0, |private| private.taken),
            private_align: 1,
            ..FrameLayout::default()
        };
        let variables = Variables::of(func);
        let mut bases = Vec::with_capacity(variables.all.len());
        for variable in &variables.all {
            let &Variable { size, align, .. } = variable;
            let is_on_stack = variable.is_safe && size <= MOST_ON_STACK;
            bases.push(match private {
                Some(PrivateMemory { scratch, .. }) if !is_on_stack => Place {
                    base: Base::Scratch(scratch),
                    offset: layout.place_in_private(size, align)?,
                },
                _ => Place {
                    base: Base::Stack,
                    offset: layout.place(size, align)?,
                },
            });
        }
        for (value, address) in variables.addresses.iter() {
            layout.places[value] = address.and_then(|Address { variable, offset }| {
                let Place {
                    base,
                    offset: start,
                } = bases[variable];
                let offset = i64::from(start).checked_add(offset)?;
                let offset = i32::try_from(offset).ok()?;
                Some(Place { base, offset })
            });
        }
        Ok(layout)
    }

    /// Room on the stack for `size` bytes: its offset.
    pub fn place(&mut self, size: u32, align: u32) -> Result<i32, Diagnostic> {
        let align = align.next_power_of_two();
        let start = self.size.checked_next_multiple_of(align);
        let end = start.and_then(|start| start.checked_add(size.max(1)));
        let (Some(start), Some(end)) = (start, end.filter(|&end| end <= 1 << 30)) else {
            return Err(Diagnostic::new("more than 1 GiB on the stack"));
        };
        (self.size, self.align) = (end, self.align.max(align));
        Ok(start as i32)
    }

    /// Room in private memory, of which the end is [`abi::PRIVATE_GAP`] below the scratch pointer:
    /// the offset from that.
    fn place_in_private(&mut self, size: u32, align: u32) -> Result<i32, Diagnostic> {
        let align = u64::from(align).next_power_of_two();
        let taken = abi::PRIVATE_GAP + u64::from(self.private_size);
        let end = (taken + u64::from(size.max(1))).next_multiple_of(align);
        let bytes = end - abi::PRIVATE_GAP;
        if bytes > abi::MOST_PRIVATE {
            return Err(Diagnostic::new(format!(
                "private variables of more than {} bytes",
                abi::MOST_PRIVATE
            )));
        }
        self.private_size = bytes as u32;
        self.private_align = self.private_align.max(align as u32);
        Ok(-(end as i32))
    }
}

/// A private variable.
struct Variable {
    size: u32,
    align: u32,
    /// Whether every access is at a known offset and inside, and its address goes nowhere else.
    is_safe: bool,
}

/// An address in a variable.
#[derive(Clone, Copy)]
struct Address {
    variable: usize,
    /// Bytes from its start.
    offset: i64,
}

/// What is known of private variables and addresses in them.
struct Variables {
    all: Vec<Variable>,
    addresses: SecondaryMap<Value, Option<Address>>,
}

impl Variables {
    fn of(func: &Function) -> Variables {
        let mut this = Variables {
            all: Vec::new(),
            addresses: SecondaryMap::new(),
        };
        // Definitions come before uses in this order.
        for block in func.reverse_post_order() {
            for &inst in &func.blocks[block].insts {
                this.visit(func, &func.insts[inst]);
            }
            func.blocks[block]
                .term
                .for_each_value(|value| this.escape(value));
        }
        this
    }

    fn visit(&mut self, func: &Function, data: &InstData) {
        match (&data.op, &data.args[..], &data.results[..]) {
            (&Op::Alloca { size, align, .. }, _, &[result]) => {
                self.addresses[result] = Some(Address {
                    variable: self.all.len(),
                    offset: 0,
                });
                self.all.push(Variable {
                    size,
                    align,
                    is_safe: true,
                });
            }
            (Op::PtrAdd, &[ptr, bytes], &[result]) if func.ty(result).lanes == 1 => {
                let sum = self.addresses[ptr].and_then(|Address { variable, offset }| {
                    let bytes = func.as_const(bytes)? as i64;
                    let offset = offset.checked_add(bytes)?;
                    Some(Address { variable, offset })
                });
                match sum {
                    None => self.escape(ptr),
                    known => self.addresses[result] = known,
                }
            }
            (Op::Load(mem), &[ptr, ..], results) => self.access(func, mem, ptr, results),
            (Op::Store(mem), args, _) => {
                let (places, values, _) = mem.operands_of_store(args);
                self.access(func, mem, places[0], values);
                values.iter().for_each(|&value| self.escape(value));
            }
            _ => data.args.iter().for_each(|&arg| self.escape(arg)),
        }
    }

    /// An access to elements one behind the other, those of lanes `mem.stride` bytes apart.
    fn access(&mut self, func: &Function, mem: &Mem, ptr: Value, values: &[Value]) {
        let Some(Address { variable, offset }) = self.addresses[ptr] else {
            return;
        };
        let is_inside = || {
            let ty = func.ty(*values.first()?);
            let reach = mem.stride.checked_mul(i64::from(ty.lanes) - 1)?;
            let bytes = i64::from(ty.scalar.bytes()) * values.len() as i64;
            let first = offset.checked_add(reach.min(0))?;
            let end = offset.checked_add(reach.max(0))?.checked_add(bytes)?;
            let size = i64::from(self.all[variable].size);
            Some(mem.index.is_none() && first >= 0 && end <= size)
        };
        if is_inside() != Some(true) {
            self.all[variable].is_safe = false;
        }
    }

    fn escape(&mut self, value: Value) {
        if let Some(Address { variable, .. }) = self.addresses[value] {
            self.all[variable].is_safe = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Type, parse};

    /// Which variables of a function are on the stack, in their order.
    fn on_stack(body: &str) -> Vec<bool> {
        let text = format!("func \"f\" (ptr, ptr, i64) -> () {{\n{body}\n}}");
        let module = parse::module(&text).unwrap_or_else(|e| panic!("{e:?} in\n{text}"));
        let (_, func) = module.functions.iter().next().expect("a function");
        let scratch = func.params()[1];
        assert_eq!(func.ty(scratch), Type::PTR);
        let private = PrivateMemory { scratch, taken: 0 };
        let layout = FrameLayout::new(func, Some(private)).expect("a layout");
        let all = func.blocks[func.entry()].insts.iter();
        let all = all.filter(|&&inst| matches!(func.insts[inst].op, Op::Alloca { .. }));
        all.map(|&inst| {
            let place = layout.places[func.insts[inst].results[0]].expect("a known address");
            place.base == Base::Stack
        })
        .collect()
    }

    fn access(offset: i64) -> Vec<bool> {
        on_stack(&format!(
            "block0(launch: ptr, scratch: ptr, n: i64):
               v: ptr = alloca.64.align16
               w: ptr = alloca.8.align8
               offset: i64 = const {offset}
               at: ptr = ptr_add v, offset
               store.private.align1 at, n
               store.private.align8 w, n
               ret"
        ))
    }

    #[test]
    fn what_is_accessed_inside_is_on_the_stack() {
        assert_eq!(access(0), [true, true]);
        assert_eq!(access(56), [true, true]);
    }

    #[test]
    fn what_is_accessed_outside_is_in_private_memory() {
        for offset in [-1, 57, 64, 1 << 20, i64::MIN, i64::MAX] {
            assert_eq!(access(offset), [false, true], "at {offset}");
        }
    }

    #[test]
    fn what_is_indexed_or_handed_on_is_in_private_memory() {
        let indexed = "block0(launch: ptr, scratch: ptr, n: i64):
            v: ptr = alloca.64.align16
            at: ptr = ptr_add v, n
            store.private.align1 at, n
            ret";
        assert_eq!(on_stack(indexed), [false]);
        let stored = "block0(launch: ptr, scratch: ptr, n: i64):
            v: ptr = alloca.64.align16
            store.global.align8 launch, v
            ret";
        assert_eq!(on_stack(stored), [false]);
        let passed = "block0(launch: ptr, scratch: ptr, n: i64):
            v: ptr = alloca.64.align16
            br block1(v)
            block1(p: ptr):
            store.private.align1 p, n
            ret";
        assert_eq!(on_stack(passed), [false]);
    }

    #[test]
    fn large_variables_are_in_private_memory() {
        let large = "block0(launch: ptr, scratch: ptr, n: i64):
            v: ptr = alloca.1048576.align16
            store.private.align8 v, n
            ret";
        assert_eq!(on_stack(large), [false]);
    }

    #[test]
    fn private_memory_grows_downwards_and_is_aligned_from_the_scratch_pointer() {
        let mut layout = FrameLayout {
            private_size: 100,
            private_align: 1,
            ..FrameLayout::default()
        };
        let gap = abi::PRIVATE_GAP as i32;
        assert_eq!(layout.place_in_private(4, 4).unwrap(), -(gap + 104));
        assert_eq!(layout.place_in_private(1, 4096).unwrap(), -(gap + 4096));
        assert_eq!((layout.private_size, layout.private_align), (4096, 4096));
        let most = abi::MOST_PRIVATE as u32;
        assert!(layout.place_in_private(most, 1).is_err());
        assert!(layout.place_in_private(u32::MAX, 1 << 31).is_err());
        assert!(layout.place_in_private(most - 4096, 1).is_ok());
        assert!(layout.place_in_private(1, 1).is_err());
    }
}
