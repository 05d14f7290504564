//! What packs are: values that are the elements of vectors of the program's own.

use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl};
use smallvec::SmallVec;

use crate::ir::{Block, Function, Inst, SourceLoc, Value};

/// The elements of a pack.
pub type Elements = SmallVec<[Value; 4]>;

/// A pack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pack(u32);
entity_impl!(Pack, "pack");

/// Values that packs use as one, but that are none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loose(u32);
entity_impl!(Loose, "loose");

/// Where a pack has values from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// One value that all lanes and elements share: the same in either order.
    Same(Value),
    Pack(Pack),
    Loose(Loose),
}

/// What makes a pack.
pub enum Kind {
    Load(Inst),
    Store(Inst),
    /// An instruction for each element.
    Insts(SmallVec<[Inst; 4]>),
    Params(Block),
}

pub struct PackData {
    pub kind: Kind,
    /// What it defines.
    pub values: Elements,
    /// Its operands; of parameters, what each jump to the block passes, in the order of
    /// [`Packs::jumps`].
    pub operands: SmallVec<[Source; 2]>,
    /// What a transposition costs there.
    pub cost: u64,
    pub users: Vec<Pack>,
    /// Whether anything but packs uses a value of it.
    pub is_used_apart: bool,
}

pub struct LooseData {
    pub values: Elements,
    /// What a transposition costs, done once where all values are known.
    pub cost: u64,
    pub users: Vec<Pack>,
    /// Whether the values are the same in all lanes: one for each element.
    pub is_uniform: bool,
}

/// The packs of a function.
#[derive(Default)]
pub struct Packs {
    pub packs: PrimaryMap<Pack, PackData>,
    pub loose: PrimaryMap<Loose, LooseData>,
    /// The pack that a value is of, and which element.
    pub of_value: SecondaryMap<Value, Option<(Pack, u8)>>,
    /// The pack that an instruction is of.
    pub of_inst: SecondaryMap<Inst, Option<Pack>>,
    /// The jumps to each block: from where, and the number of the target there.
    pub jumps: SecondaryMap<Block, SmallVec<[(Block, usize); 2]>>,
}

/// Where a pack is in the source.
pub fn location(func: &Function, data: &PackData) -> SourceLoc {
    match &data.kind {
        Kind::Load(inst) | Kind::Store(inst) => func.insts[*inst].loc,
        Kind::Insts(insts) => func.insts[insts[0]].loc,
        Kind::Params(_) => SourceLoc::default(),
    }
}
