//! What an instruction does: the operations of the IR and the immediates they carry.
//!
//! An operation is everything about an instruction but its operands and results. Each enum that is
//! spelled in the text form is made with `named!`, so that printer and parser share one table.

use super::{Callee, Collective, DeviceOp, FuncId, GlobalId, HostFunction, LocalId, SlotId, Value};
use crate::image::{Component, Field, ImageDim};
use crate::kernel_info::AddressSpace;
use crate::named::named;

named! {
    /// One operand, result of the same type.
    pub enum UnOp {
        INeg = "ineg",
        /// Bitwise complement; on `i1`, logical not.
        Not = "not",
        PopCount = "popcount",
        /// Leading zeros; the width for 0.
        Clz = "clz",
        /// Trailing zeros; the width for 0.
        Ctz = "ctz",
        BitReverse = "bitreverse",
        /// Flips the sign bit, also of NaN.
        FNeg = "fneg",
        /// Clears the sign bit, also of NaN.
        FAbs = "fabs",
        Sqrt = "sqrt",
        Ceil = "ceil",
        Floor = "floor",
        /// To an integral value, toward zero.
        Trunc = "trunc",
        /// To an integral value, ties to even (`rint`).
        RoundEven = "roundeven",
        /// `1 / a`, within 2^-14 of it. Which number that is may differ between targets
        /// ([`crate::target::Target::estimates`]); it is the quotient where nothing else is said.
        RecipEstimate = "recip_estimate",
        /// `1 / sqrt(a)`, likewise.
        RsqrtEstimate = "rsqrt_estimate",
    }
}

named! {
    /// Two operands of one type, result of that type. Integer arithmetic wraps.
    pub enum BinOp {
        IAdd = "iadd",
        ISub = "isub",
        IMul = "imul",
        /// High half of the signed product.
        SMulHi = "smulhi",
        /// High half of the unsigned product.
        UMulHi = "umulhi",
        /// `x / 0` is `x`; the overflowing quotient wraps. Never traps.
        SDiv = "sdiv",
        /// `x / 0` is `x`. Never traps.
        UDiv = "udiv",
        /// Sign of the dividend; `x % 0` and the overflowing case are 0. Never traps.
        SRem = "srem",
        /// `x % 0` is 0. Never traps.
        URem = "urem",
        And = "and",
        Or = "or",
        Xor = "xor",
        /// The amount is taken modulo the width.
        Shl = "shl",
        /// Logical; the amount is taken modulo the width.
        LShr = "lshr",
        /// Arithmetic; the amount is taken modulo the width.
        AShr = "ashr",
        /// Rotate left; the amount is taken modulo the width.
        Rotl = "rotl",
        SMin = "smin",
        SMax = "smax",
        UMin = "umin",
        UMax = "umax",
        SAddSat = "saddsat",
        UAddSat = "uaddsat",
        SSubSat = "ssubsat",
        USubSat = "usubsat",
        FAdd = "fadd",
        FSub = "fsub",
        FMul = "fmul",
        FDiv = "fdiv",
        /// C `fmod`: exact, sign of the dividend.
        FRem = "frem",
        /// `isnan(b) ? a : (a < b ? a : b)`.
        FMin = "fmin",
        /// `isnan(b) ? a : (a > b ? a : b)`.
        FMax = "fmax",
        /// Magnitude of the first, sign of the second.
        CopySign = "copysign",
        /// `a * 2^floor(b)`, rounded once; NaN where that is `0 * inf`, but 0 or infinite where `a`
        /// is a quiet NaN and `b` infinite.
        FScale = "fscale",
    }
}

named! {
    /// Integer (and pointer, and `i1` for equality) comparisons.
    pub enum IntCC {
        Eq = "eq",
        Ne = "ne",
        Slt = "slt",
        Sle = "sle",
        Sgt = "sgt",
        Sge = "sge",
        Ult = "ult",
        Ule = "ule",
        Ugt = "ugt",
        Uge = "uge",
    }
}

named! {
    /// Floating-point comparisons: `o` is false and `u` is true when an operand is NaN.
    pub enum FloatCC {
        Oeq = "oeq",
        One = "one",
        Olt = "olt",
        Ole = "ole",
        Ogt = "ogt",
        Oge = "oge",
        /// Neither is NaN.
        Ord = "ord",
        Ueq = "ueq",
        Une = "une",
        Ult = "ult",
        Ule = "ule",
        Ugt = "ugt",
        Uge = "uge",
        /// Either is NaN.
        Uno = "uno",
    }
}

named! {
    /// Lane-wise conversions, but for `Bitcast`.
    pub enum ConvertOp {
        /// To a narrower integer (or `i1`: the low bit), dropping high bits.
        Trunc = "trunc",
        ZExt = "zext",
        SExt = "sext",
        /// To a narrower signed integer, clamped. From signed.
        SatSToS = "sat_s_to_s",
        /// To an unsigned integer of any width up to the source's, clamped. From signed.
        SatSToU = "sat_s_to_u",
        /// To a signed integer of any width up to the source's, clamped. From unsigned.
        SatUToS = "sat_u_to_s",
        /// To a narrower unsigned integer, clamped. From unsigned.
        SatUToU = "sat_u_to_u",
        /// Float to signed integer; out of range clamps, NaN is 0. The rounding mode says which
        /// integer.
        FToS = "f_to_s",
        /// Float to unsigned integer; out of range clamps, NaN is 0.
        FToU = "f_to_u",
        SToF = "s_to_f",
        UToF = "u_to_f",
        /// Between floating-point types, either way.
        FToF = "f_to_f",
        /// Same total size, other type: float/integer/pointer of the same width, or other lane
        /// splits before `scalarize` (first lane lowest in memory order).
        Bitcast = "bitcast",
    }
}

named! {
    /// Arithmetic with a rounding mode of its own.
    pub enum Arith {
        FAdd = "fadd",
        FSub = "fsub",
        FMul = "fmul",
        FDiv = "fdiv",
        Sqrt = "sqrt",
        Fma = "fma",
    }
}

impl Arith {
    /// How many operands it takes.
    pub fn operands(self) -> usize {
        match self {
            Arith::Sqrt => 1,
            Arith::FAdd | Arith::FSub | Arith::FMul | Arith::FDiv => 2,
            Arith::Fma => 3,
        }
    }
}

named! {
    /// How an inexact result rounds.
    pub enum Rounding {
        NearestEven = "rte",
        Zero = "rtz",
        Up = "rtp",
        Down = "rtn",
    }
}

named! {
    /// Read-modify-write operations. The result is the value before.
    pub enum AtomicOp {
        Exchange = "xchg",
        Add = "add",
        Sub = "sub",
        And = "and",
        Or = "or",
        Xor = "xor",
        SMin = "smin",
        SMax = "smax",
        UMin = "umin",
        UMax = "umax",
        FAdd = "fadd",
        FMin = "fmin",
        FMax = "fmax",
    }
}

named! {
    /// Which other work-items or agents must agree.
    pub enum Scope {
        WorkItem = "item",
        SubGroup = "subgroup",
        WorkGroup = "workgroup",
        Device = "device",
        AllDevices = "system",
    }
}

named! {
    /// Memory order.
    pub enum Order {
        Relaxed = "relaxed",
        Acquire = "acquire",
        Release = "release",
        AcqRel = "acqrel",
        SeqCst = "seqcst",
    }
}

named! {
    /// Work-item queries with a dimension (0, 1, 2), result `i64`.
    pub enum DimQuery {
        GlobalId = "global_id",
        LocalId = "local_id",
        GroupId = "group_id",
        GlobalSize = "global_size",
        /// Of this work-group: smaller in the last group of a non-uniform dimension.
        LocalSize = "local_size",
        EnqueuedLocalSize = "enqueued_local_size",
        NumGroups = "num_groups",
        GlobalOffset = "global_offset",
    }
}

named! {
    /// Work-item queries without a dimension, result `i64`.
    pub enum Query {
        WorkDim = "work_dim",
        GlobalLinearId = "global_linear_id",
        LocalLinearId = "local_linear_id",
        SubGroupSize = "subgroup_size",
        SubGroupMaxSize = "subgroup_max_size",
        NumSubGroups = "num_subgroups",
        SubGroupId = "subgroup_id",
        SubGroupLocalId = "subgroup_local_id",
    }
}

impl AtomicOp {
    /// What makes the value stored of the one before and the operand; `None` for an exchange.
    pub fn binary(self) -> Option<BinOp> {
        Some(match self {
            AtomicOp::Exchange => return None,
            AtomicOp::Add => BinOp::IAdd,
            AtomicOp::Sub => BinOp::ISub,
            AtomicOp::And => BinOp::And,
            AtomicOp::Or => BinOp::Or,
            AtomicOp::Xor => BinOp::Xor,
            AtomicOp::SMin => BinOp::SMin,
            AtomicOp::SMax => BinOp::SMax,
            AtomicOp::UMin => BinOp::UMin,
            AtomicOp::UMax => BinOp::UMax,
            AtomicOp::FAdd => BinOp::FAdd,
            AtomicOp::FMin => BinOp::FMin,
            AtomicOp::FMax => BinOp::FMax,
        })
    }
}

impl BinOp {
    /// Whether it takes floating-point operands.
    pub fn is_float(self) -> bool {
        self >= BinOp::FAdd
    }

    /// Whether it is a quotient or remainder of integers.
    pub fn is_division(self) -> bool {
        matches!(self, BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem)
    }

    /// Whether a group's values can be combined with it.
    pub fn is_associative(self) -> bool {
        matches!(
            self,
            BinOp::IAdd
                | BinOp::IMul
                | BinOp::And
                | BinOp::Or
                | BinOp::Xor
                | BinOp::SMin
                | BinOp::SMax
                | BinOp::UMin
                | BinOp::UMax
                | BinOp::FAdd
                | BinOp::FMul
                | BinOp::FMin
                | BinOp::FMax
        )
    }

    /// Whether its operands can be exchanged. `FMin` and `FMax` cannot: they tell NaNs and zeros
    /// apart.
    pub fn is_commutative(self) -> bool {
        matches!(
            self,
            BinOp::IAdd
                | BinOp::IMul
                | BinOp::SMulHi
                | BinOp::UMulHi
                | BinOp::And
                | BinOp::Or
                | BinOp::Xor
                | BinOp::SMin
                | BinOp::SMax
                | BinOp::UMin
                | BinOp::UMax
                | BinOp::SAddSat
                | BinOp::UAddSat
                | BinOp::FAdd
                | BinOp::FMul
        )
    }
}

impl IntCC {
    /// The comparison with operands exchanged.
    pub fn swapped(self) -> IntCC {
        match self {
            IntCC::Slt => IntCC::Sgt,
            IntCC::Sle => IntCC::Sge,
            IntCC::Sgt => IntCC::Slt,
            IntCC::Sge => IntCC::Sle,
            IntCC::Ult => IntCC::Ugt,
            IntCC::Ule => IntCC::Uge,
            IntCC::Ugt => IntCC::Ult,
            IntCC::Uge => IntCC::Ule,
            other => other,
        }
    }

    /// The comparison that holds when this one does not.
    pub fn negated(self) -> IntCC {
        match self {
            IntCC::Eq => IntCC::Ne,
            IntCC::Ne => IntCC::Eq,
            IntCC::Slt => IntCC::Sge,
            IntCC::Sle => IntCC::Sgt,
            IntCC::Sgt => IntCC::Sle,
            IntCC::Sge => IntCC::Slt,
            IntCC::Ult => IntCC::Uge,
            IntCC::Ule => IntCC::Ugt,
            IntCC::Ugt => IntCC::Ule,
            IntCC::Uge => IntCC::Ult,
        }
    }
}

impl FloatCC {
    /// The comparison that holds when this one does not.
    pub fn negated(self) -> FloatCC {
        match self {
            FloatCC::Oeq => FloatCC::Une,
            FloatCC::One => FloatCC::Ueq,
            FloatCC::Olt => FloatCC::Uge,
            FloatCC::Ole => FloatCC::Ugt,
            FloatCC::Ogt => FloatCC::Ule,
            FloatCC::Oge => FloatCC::Ult,
            FloatCC::Ord => FloatCC::Uno,
            FloatCC::Ueq => FloatCC::One,
            FloatCC::Une => FloatCC::Oeq,
            FloatCC::Ult => FloatCC::Oge,
            FloatCC::Ule => FloatCC::Ogt,
            FloatCC::Ugt => FloatCC::Ole,
            FloatCC::Uge => FloatCC::Olt,
            FloatCC::Uno => FloatCC::Ord,
        }
    }
}

/// What is known of an arithmetic instruction's result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wrap {
    /// Signed overflow does not occur (`NoSignedWrap`).
    pub nsw: bool,
    /// Unsigned overflow does not occur (`NoUnsignedWrap`).
    pub nuw: bool,
    /// Floating-point arithmetic that must not be fused with more into one rounding.
    pub strict: bool,
}

/// One access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mem {
    pub space: AddressSpace,
    /// Bytes, a power of two; the address of element 0 is a multiple of it.
    pub align: u32,
    pub volatile: bool,
    /// The last operand is a mask of one bit a lane; lanes where it is clear touch no memory and
    /// load 0.
    pub masked: bool,
    /// After `vectorize`, for a one-lane address with many-lane data: lane `l` is at `address + l *
    /// stride`, bytes. Otherwise 0.
    pub stride: i64,
    /// Made by `lower`, for a one-lane address with many-lane data: the operand after the address
    /// has an integer for each lane.
    pub index: Option<Index>,
}

/// An index from which lanes' addresses are computed: `address + extend(index) * scale`, where the
/// index has 8, 16 or 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Index {
    pub signed: bool,
    /// Bytes.
    pub scale: i64,
}

impl Mem {
    /// How many operands say where the access is: an address, perhaps an index.
    pub fn places(&self) -> usize {
        1 + usize::from(self.index.is_some())
    }

    /// A store's operands: where it is, what is stored, and the mask.
    pub fn operands_of_store<'a>(
        &self,
        args: &'a [Value],
    ) -> (&'a [Value], &'a [Value], Option<Value>) {
        let (args, mask) = args.split_at(args.len() - usize::from(self.masked));
        let (places, values) = args.split_at(self.places());
        (places, values, mask.first().copied())
    }

    /// A plain access.
    pub fn new(space: AddressSpace, align: u32) -> Mem {
        Mem {
            space,
            align,
            volatile: false,
            masked: false,
            stride: 0,
            index: None,
        }
    }
}

/// How work-items of a chunk share one piece of memory for a private variable that each has: they
/// take turns at every `unit` bytes, so that unit `i` of lane `l` is at `(i * lanes + l) * unit`.
/// The variable's address is that of the lane's first unit, and its units are `lanes * unit` bytes
/// apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interleaving {
    /// Bytes: 1, 2, 4 or 8.
    pub unit: u32,
    /// A power of two.
    pub lanes: u8,
}

impl Interleaving {
    /// Vectors of so many bytes may be faster where they are aligned.
    const VECTOR_ALIGN: u32 = 64;

    /// What allocates the memory of all lanes for a variable of `size` bytes.
    pub fn alloca(self, size: u32, align: u32) -> Op {
        let lanes = u32::from(self.lanes);
        Op::Alloca {
            size: size * lanes,
            align: align.max((self.unit * lanes).min(Interleaving::VECTOR_ALIGN)),
            interleaving: None,
        }
    }
}

/// What an atomic access promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    pub space: AddressSpace,
    pub scope: Scope,
    pub order: Order,
    /// After `vectorize`: the last operand is a mask.
    pub masked: bool,
}

/// An access to one texel of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// Constant for images that are only read, which nothing writes while a kernel runs; else
    /// global.
    pub space: AddressSpace,
    pub dim: ImageDim,
    pub component: Component,
    /// The last operand is a mask of one bit a lane; lanes where it is clear touch no memory and
    /// read 0.
    pub masked: bool,
}

/// A barrier or fence: which memory it orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    pub scope: Scope,
    pub order: Order,
    pub local: bool,
    pub global: bool,
}

/// An instruction's operation. Operand and result counts and types are in the variants' docs; `T`
/// is any type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `() -> T`: the bits of one lane, zero-extended, in every lane.
    Const(u64),
    /// `() -> ptr`: a module-scope object.
    GlobalAddr(GlobalId),
    /// `() -> ptr`: a work-group variable of the kernel.
    LocalAddr(LocalId),
    /// `() -> ptr`: `size` bytes of private memory of the work-item, in the entry block only.
    /// Uninitialised.
    Alloca {
        size: u32,
        align: u32,
        /// Made by `workgroup`, gone after `vectorize`.
        interleaving: Option<Interleaving>,
    },

    /// `T -> T`
    Unary(UnOp),
    /// `T, T -> T`
    Binary(BinOp, Wrap),
    /// `a, b, c -> a * b + c` rounded once.
    Fma,
    /// `T... -> T`: floating-point arithmetic in another direction than to nearest even.
    Rounded(Arith, Rounding),
    /// `T, T -> i1`, lane-wise.
    ICmp(IntCC),
    /// `T, T -> i1`, lane-wise.
    FCmp(FloatCC),
    /// `i1, T, T -> T`: second operand where the condition holds. The condition has one lane or as
    /// many as `T`.
    Select,
    /// Lane-wise but for `Bitcast`. Rounding matters to inexact conversions only.
    Convert(ConvertOp, Rounding),

    /// `T(1 lane) -> T`: the scalar in every lane.
    Splat,
    /// One scalar per lane, `-> T`.
    Build,
    /// `T -> T(1 lane)`: the lane.
    Extract(u8),
    /// `T, T(1 lane) -> T`: with the lane replaced.
    Insert(u8),
    /// `T, integer -> T(1 lane)`: index taken modulo the lane count rounded up to a power of two; 0
    /// when outside.
    ExtractDyn,
    /// `T, T(1 lane), integer -> T`: no lane replaced when the index is outside.
    InsertDyn,
    /// `A, B -> T`: lane `i` is lane `mask[i]` of the two operands laid end to end; 255 gives 0.
    Shuffle(Box<[u8]>),

    /// `ptr, i64 -> ptr`: address plus bytes.
    PtrAdd,
    /// `ptr -> i1`, lane-wise: whether the pointer points into an object of this address space:
    /// private, local, or global, which is everything else.
    InSpace(AddressSpace),
    /// `ptr [, index] [, mask] -> T...`: as many results as consecutive elements, all of one type.
    Load(Mem),
    /// `ptr [, index], T... [, mask]`: consecutive elements.
    Store(Mem),
    /// `dst, src [, mask]`: copies `size` bytes between memory that does not overlap (or is the
    /// same).
    MemCopy {
        size: u64,
        align: u32,
        volatile: bool,
        masked: bool,
    },
    /// `dst, src, i64 [, mask]`: copies as many bytes as the third operand says.
    MemCopyDyn { align: u32, masked: bool },
    /// `ptr, T [, mask] -> T`: the value before.
    AtomicRmw(AtomicOp, Atomic),
    /// `ptr, expected, desired [, mask] -> T`: the value before.
    AtomicCmpXchg(Atomic),
    /// `ptr [, mask] -> T`
    AtomicLoad(Atomic),
    /// `ptr, T [, mask]`
    AtomicStore(Atomic),
    /// `image, sampler, coordinate... [, mask] -> component...`: what [`crate::image::read`] gives.
    /// The image is a ptr to a [`crate::image::Descriptor`], the sampler an i32, coordinates are
    /// all i32 or all f32; there is one result or four, f32, f16 or i32.
    ImageRead(Image),
    /// `image, coordinate..., component... [, mask]`: what [`crate::image::write`] does.
    /// Coordinates are i32; there is one component or four.
    ImageWrite(Image),
    /// `image -> i32`: a field of the image's descriptor; `image -> ptr` for its texels.
    ImageQuery(Field),
    /// Orders memory without meeting other work-items.
    Fence(Fence),

    /// Every work-item of the group arrives before any leaves.
    Barrier(Fence),
    /// `ptr`: the sub-group waits until as many sub-groups have arrived at this barrier as its
    /// record says, which is at the address, in work-group memory. A record is three `i32`: how
    /// many sub-groups; how many have arrived; how often they have all been there. Both latter are
    /// 0 at first and not to be touched. Gone after `transform`.
    NamedBarrier(Fence),
    /// What the work-items of a sub-group or work-group do together; operands and result by
    /// [`Collective`], then after `vectorize` perhaps a mask. There, operands have many lanes, and
    /// so has the result unless it is the same in all.
    Collective {
        what: Collective,
        scope: Scope,
        masked: bool,
    },
    /// `() -> i64`: nanoseconds since some time before, never less than read earlier. After
    /// `vectorize` read once for all.
    Clock,
    /// `() -> i64`
    DimQuery(DimQuery, u8),
    /// `() -> i64`
    Query(Query),

    /// Operands and results as the callee's parameters and returned values. Gone after inlining.
    Call(FuncId),
    /// `argument... [, mask] -> result...`: a call of a function that stays one. After `vectorize`,
    /// operands are what [`Callee`] says, and results have as many lanes. Made by `transform`.
    CallFunction(Box<Callee>),
    /// `() -> ptr`: where the code of a function is that is compiled together with this one, by
    /// number; 0 is the first. Made by `lower`.
    FuncAddr(u32),
    /// `() -> ptr`: what null pointers to images point to (`image/call.rs`). Made by `lower`.
    NoImageAddr,
    /// An `OpenCL.std` built-in by its name in OpenCL C; all lane-wise unless its own doc says
    /// otherwise.
    Builtin(super::Builtin),
    /// `format pointer, argument... [, mask] -> i32` 0 on success. Formats are NUL-terminated.
    Printf { masked: bool },
    /// A service of device-side enqueue ([`crate::device`]), perhaps about the block that this
    /// kernel's function is. Operands and result by [`DeviceOp`], then after `vectorize` a mask;
    /// work-items ask in the order of their lanes.
    Device {
        what: DeviceOp,
        block: Option<FuncId>,
        masked: bool,
    },

    /// `() -> T`: this work-item's value of a barrier-context slot. Made by `workgroup`.
    ContextLoad(SlotId),
    /// `T`: sets it.
    ContextStore(SlotId),
    /// `() -> T`: what the collectives of the work-group that came last have combined. Made and
    /// used up by `workgroup`.
    Carry,
    /// `() -> T`: 0, 1, .. in the lanes. After `vectorize`.
    LaneIds,
    /// `i1 x W -> i1`: whether any lane is set. After `vectorize`.
    AnyTrue,
    /// `i1 x W -> i1`: whether every lane is set. After `vectorize`.
    AllTrue,
    /// `i1 x W -> i64`: bit `l` is lane `l`. After `vectorize`.
    MaskBits,
    /// `T, i32 x W -> T`: lane `l` is the lane that the second operand's lane `l` says; 0 when
    /// there is none. After `vectorize`.
    Permute,
    /// `T... -> T...`, as many results as operands: of vectors that hold the elements of each lane
    /// next to each other, as they lie in memory, a vector for each element. With `n` operands lane
    /// `l` of result `k` is lane `l * n + k` of the operands laid end to end. After `vectorize`.
    Deinterleave,
    /// `T... -> T...`, the inverse of `Deinterleave`: lane `l * n + k` of the results laid end to
    /// end is lane `l` of operand `k`.
    Interleave,
    /// `i64 -> f64`, lane-wise: the entry of a table that the low four bits say. Made by `lower`.
    Lookup(brolga_mathlib::Table),
    /// `T... , U, mask -> U`, where `U` is `T` or the integer of its width: a scalar routine of
    /// `brolga-mathlib`, called for each lane whose mask bit is set; elsewhere the lane of the last
    /// operand but one. Pure. Made by `lower`.
    Routine(brolga_mathlib::Routine, brolga_mathlib::Format),
    /// Operands and result by [`HostFunction::signature`]: a call of a function of this process.
    /// Made by `lower`.
    HostCall(HostFunction),
    /// `function ptr, operand... -> result, or nothing`: a call by the host's C ABI; operands and
    /// results as those of a [`HostFunction`]. Made by `lower`.
    CallPointer,
}

impl Op {
    /// Whether the instruction does more than compute its results from its operands: it must stay,
    /// once, where it is.
    pub fn has_side_effect(&self) -> bool {
        match self {
            Op::Load(mem) => mem.volatile,
            Op::Store(_)
            | Op::MemCopy { .. }
            | Op::MemCopyDyn { .. }
            | Op::AtomicRmw(..)
            | Op::AtomicCmpXchg(_)
            | Op::AtomicLoad(_)
            | Op::AtomicStore(_)
            | Op::ImageWrite(_)
            | Op::Fence(_)
            | Op::Barrier(_)
            | Op::NamedBarrier(_)
            // Later is another time.
            | Op::Clock
            // Who takes part depends on where it is.
            | Op::Collective { .. }
            | Op::Call(_)
            | Op::CallFunction(_)
            | Op::Printf { .. }
            | Op::Device { .. }
            | Op::CallPointer
            | Op::ContextStore(_) => true,
            Op::HostCall(function) => !function.is_pure(),
            _ => false,
        }
    }

    /// Whether the result depends on memory, so that two equal instructions may differ.
    pub fn reads_memory(&self) -> bool {
        matches!(self, Op::Load(_) | Op::ContextLoad(_) | Op::ImageRead(_))
            || self.has_side_effect()
    }

    /// Whether two instructions with equal operands and result types always give equal results, and
    /// executing one where the program did not is harmless.
    pub fn is_pure(&self) -> bool {
        !self.reads_memory() && !matches!(self, Op::Alloca { .. })
    }
}
