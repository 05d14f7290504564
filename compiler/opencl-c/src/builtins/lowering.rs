//! What a call of a built-in function becomes, independent of the types it is called with.

use crate::token::RoundingMode;
use crate::types::Space;

/// The meaning of a built-in function. Numbers of instructions are SPIR-V's (`spirv.rs`); types are
/// those of the call's arguments and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowering {
    /// An instruction of OpenCL.std. Scalars among the arguments of a function of vectors are
    /// splatted, except integers that stand for all lanes by definition.
    Std(u16),
    /// One for signed integers, one for unsigned, by the first argument.
    StdInt(u16, u16),
    /// A core instruction of the arguments in order.
    Op(u16),
    /// A comparison or test of floating-point numbers: `int` 0 or 1, or lanes 0 or -1.
    Test(u16),
    /// Of the lanes' most significant bits.
    Any,
    All,
    /// `dot` of floating-point numbers.
    Dot,
    Convert {
        rounding: Option<RoundingMode>,
        saturate: bool,
    },
    /// `as_...`
    Reinterpret,
    /// `vloadn`, the literal number of lanes.
    VectorLoad(u8),
    VectorStore,
    /// An instruction of OpenCL.std on `half`s in memory, with the lanes for those that take them.
    HalfLoad(u16, u8),
    HalfStore(u16, Option<RoundingMode>),
    /// `gentype` functions of a work-item's place, of three components; the value elsewhere.
    WorkItem {
        builtin: u32,
        default: u64,
    },
    /// A built-in variable that is a scalar.
    Variable(u32),
    /// A built-in variable that is a mask of lanes, `uint4`.
    MaskVariable(u32),
    Barrier(Barrier),
    /// `mem_fence` and its kind: the memory semantics' order.
    Fence(u32),
    /// `atomic_work_item_fence`
    ScopedFence,
    /// `wait_group_events` by work-group.
    WaitEvents,
    AsyncCopy {
        strided: bool,
    },
    /// `async_work_group_copy_2D2D` and `..._3D3D`.
    AsyncCopyBlocks(u8),
    /// `async_work_group_copy_fence`
    CopyFence,
    Printf,
    Atomic(Atomic),
    /// To a named address space or null; `get_fence`.
    ToSpace(Space),
    GetFence,
    /// A function of all work-items of a work-group or sub-group (the scope).
    Group {
        scope: u32,
        function: Group,
    },
    /// An instruction of the sub-group's active work-items: scope, then a literal if any, then the
    /// arguments.
    NonUniform {
        opcode: u16,
        operation: Option<u32>,
    },
    /// The same, by signed integers, unsigned integers and floating-point numbers.
    NonUniformArithmetic {
        opcodes: [u16; 3],
        operation: u32,
    },
    /// `sub_group_non_uniform_scan` and so on with Boolean arguments given as `int`.
    NonUniformLogical {
        opcode: u16,
        operation: u32,
    },
    /// One that yields a Boolean (as `int`); arguments that are predicates become Booleans.
    NonUniformVote(u16),
    /// `sub_group_inverse_ballot`, `sub_group_ballot_bit_extract`: Boolean of a mask.
    BallotTest(u16),
    /// An instruction that an extension of SPIR-V brings, of the arguments in order.
    Extended {
        opcode: u16,
        capability: u32,
        extension: &'static str,
    },
    /// Reads or writes of blocks, of memory or images.
    IntelBlockRead,
    IntelBlockWrite,
    /// Of blocks of images with a width and height.
    IntelMediaBlockRead,
    IntelMediaBlockWrite,
    /// Of as many bytes for each work-item.
    IntelBlockPrefetch(u8),
    /// Dot products of integers: the opcodes for both signed, both unsigned and mixed; `packed`
    /// takes its arguments in 32 bits; `swapped` has the unsigned argument first.
    IntDot {
        kind: Signs,
        packed: bool,
        accumulate: bool,
    },
    BitFieldInsert,
    BitFieldExtract {
        signed: bool,
    },
    BitReverse,
    /// `clock_read_...`
    Clock {
        scope: u32,
        hilo: bool,
    },
    /// `__builtin_expect`-like hints.
    Expect,
    Assume,
    Image(Image),
    Pipe(Pipe),
    Enqueue(Enqueue),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    WorkGroup,
    SubGroup,
    /// The halves of one of a work-group.
    Arrive,
    Wait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    Signed,
    Unsigned,
    SignedUnsigned,
    UnsignedSigned,
}

/// An atomic function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    pub what: AtomicOp,
    pub generation: Generation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    Init,
    Load,
    Store,
    Exchange,
    /// `atomic_cmpxchg`: yields what was there.
    CompareExchange,
    /// `atomic_compare_exchange_...`: yields whether it was as expected.
    CompareExchangeBool,
    Add,
    Sub,
    Inc,
    Dec,
    Min,
    Max,
    And,
    Or,
    Xor,
    FlagTestAndSet,
    FlagClear,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// `atom_...` and `atomic_...` of OpenCL C 1: relaxed, at device scope.
    Relaxed,
    /// C11's without `_explicit`: sequentially consistent, at device scope.
    Consistent,
    /// With an order, at device scope.
    Order,
    /// With an order and a scope.
    OrderAndScope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    All,
    Any,
    Broadcast,
    /// The instruction's opcodes for signed integers, unsigned integers and floating-point numbers,
    /// and the operation (reduce or scans).
    Arithmetic {
        opcodes: [u16; 3],
        operation: u32,
    },
    /// Of Booleans given as `int`s.
    Logical {
        opcode: u16,
        operation: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Image {
    /// With a sampler; explicit level of detail or gradients follow the coordinates.
    Sample,
    SampleLod,
    SampleGrad,
    /// Without a sampler.
    Read,
    /// Of multi-sampled images: the sample is the last argument.
    ReadSample,
    Write,
    /// With a level of detail before the colour.
    WriteLod,
    Width,
    Height,
    Depth,
    /// `get_image_dim`
    Size,
    ArraySize,
    ChannelDataType,
    ChannelOrder,
    Levels,
    Samples,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    Read,
    Write,
    ReadReserved,
    WriteReserved,
    /// Reservations and commits by work-item, or by the group of a scope.
    ReserveRead(Option<u32>),
    ReserveWrite(Option<u32>),
    CommitRead(Option<u32>),
    CommitWrite(Option<u32>),
    IsValid,
    NumPackets,
    MaxPackets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enqueue {
    Kernel,
    /// With events to wait for and to return.
    KernelAfter,
    Marker,
    /// `get_kernel_work_group_size` and the like, by instruction; whether an ND-range comes first.
    Query {
        opcode: u16,
        has_range: bool,
    },
    /// Instructions on events and queues.
    Plain(u16),
    /// A Boolean as `bool`.
    IsValidEvent,
    /// Of so many dimensions.
    NdRange(u8),
}
