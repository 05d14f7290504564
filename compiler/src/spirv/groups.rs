//! What work-items of a group do together: votes, broadcasts, ballots, shuffles, reductions and
//! scans, block reads and writes.

use rspirv::grammar::OperandKind;
use rspirv::spirv::{BuiltIn, GroupOperation, Op};

use super::body::Body;
use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use crate::ir::{
    BinOp, Collective, ConvertOp, DimQuery, IntCC, Mem, Op as IrOp, Query, Scalar, Scope, Type,
    UnOp, Value,
};

/// What the values of a group are combined with, for instructions that combine.
fn combines(op: Op) -> Option<BinOp> {
    Some(match op {
        Op::GroupIAdd | Op::GroupNonUniformIAdd => BinOp::IAdd,
        Op::GroupFAdd | Op::GroupNonUniformFAdd => BinOp::FAdd,
        Op::GroupIMulKHR | Op::GroupNonUniformIMul => BinOp::IMul,
        Op::GroupFMulKHR | Op::GroupNonUniformFMul => BinOp::FMul,
        Op::GroupSMin | Op::GroupNonUniformSMin => BinOp::SMin,
        Op::GroupUMin | Op::GroupNonUniformUMin => BinOp::UMin,
        Op::GroupFMin | Op::GroupNonUniformFMin => BinOp::FMin,
        Op::GroupSMax | Op::GroupNonUniformSMax => BinOp::SMax,
        Op::GroupUMax | Op::GroupNonUniformUMax => BinOp::UMax,
        Op::GroupFMax | Op::GroupNonUniformFMax => BinOp::FMax,
        Op::GroupBitwiseAndKHR
        | Op::GroupLogicalAndKHR
        | Op::GroupNonUniformBitwiseAnd
        | Op::GroupNonUniformLogicalAnd => BinOp::And,
        Op::GroupBitwiseOrKHR
        | Op::GroupLogicalOrKHR
        | Op::GroupNonUniformBitwiseOr
        | Op::GroupNonUniformLogicalOr => BinOp::Or,
        Op::GroupBitwiseXorKHR
        | Op::GroupLogicalXorKHR
        | Op::GroupNonUniformBitwiseXor
        | Op::GroupNonUniformLogicalXor => BinOp::Xor,
        _ => return None,
    })
}

/// Whether an instruction's values must be truth values.
fn is_logical(op: Op) -> bool {
    matches!(
        op,
        Op::GroupLogicalAndKHR
            | Op::GroupLogicalOrKHR
            | Op::GroupLogicalXorKHR
            | Op::GroupNonUniformLogicalAnd
            | Op::GroupNonUniformLogicalOr
            | Op::GroupNonUniformLogicalXor
    )
}

fn is_non_uniform(inst: &Inst<'_>) -> bool {
    inst.class.opname.starts_with("GroupNonUniform")
}

/// The largest sub-group that a ballot has bits for is larger than any that there is.
const MOST: u32 = 64;

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn group(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        let (scope, words) = self.group_operands(inst)?;
        if let Some(with) = combines(op) {
            let value = self.combine(op, with, inst, scope, words)?;
            self.define(inst, value)?;
            return Ok(true);
        }
        let sub = Scope::SubGroup;
        let value = match op {
            Op::GroupAll | Op::GroupNonUniformAll | Op::SubgroupAllKHR => {
                self.vote(inst, Collective::All, scope, words[0])?
            }
            Op::GroupAny | Op::GroupNonUniformAny | Op::SubgroupAnyKHR => {
                self.vote(inst, Collective::Any, scope, words[0])?
            }
            Op::GroupNonUniformAllEqual | Op::SubgroupAllEqualKHR => {
                self.all_equal(inst, words[0])?
            }
            Op::GroupNonUniformElect => self.body.collective(Collective::Elect, sub, &[], Type::I1),
            Op::GroupBroadcast => self.group_broadcast(inst, scope, words)?,
            Op::GroupNonUniformBroadcast | Op::SubgroupReadInvocationKHR => {
                self.numbered(inst, Collective::Broadcast, words[0], words[1])?
            }
            Op::GroupNonUniformBroadcastFirst | Op::SubgroupFirstInvocationKHR => {
                let value = self.value(inst, words[0])?;
                let ty = self.body.ty(value);
                self.body
                    .collective(Collective::BroadcastFirst, sub, &[value], ty)
            }
            Op::GroupNonUniformShuffle | Op::SubgroupShuffleINTEL => {
                self.numbered(inst, Collective::Shuffle, words[0], words[1])?
            }
            Op::GroupNonUniformShuffleXor | Op::SubgroupShuffleXorINTEL => {
                self.relative(inst, BinOp::Xor, words[0], words[1])?
            }
            Op::GroupNonUniformShuffleUp => self.relative(inst, BinOp::ISub, words[0], words[1])?,
            Op::GroupNonUniformShuffleDown => {
                self.relative(inst, BinOp::IAdd, words[0], words[1])?
            }
            Op::SubgroupShuffleDownINTEL | Op::SubgroupShuffleUpINTEL => {
                self.two_source_shuffle(op, inst)?
            }
            Op::GroupNonUniformRotateKHR => self.rotate(inst, words)?,
            Op::GroupNonUniformBallot | Op::SubgroupBallotKHR => self.ballot(inst, words[0])?,
            Op::GroupNonUniformInverseBallot => {
                let ballot = self.ballot_operand(inst, words[0])?;
                let bit = self.body.sub_group_query(Query::SubGroupLocalId);
                self.body.ballot_bit(ballot, bit)
            }
            Op::GroupNonUniformBallotBitExtract => {
                let ballot = self.ballot_operand(inst, words[0])?;
                let bit = self.number(inst, words[1])?;
                self.body.ballot_bit(ballot, bit)
            }
            Op::GroupNonUniformBallotBitCount => {
                let bits = self.ballot_bits(inst, words[1])?;
                let counted = match GroupOperation::from_u32(words[0]) {
                    Some(GroupOperation::Reduce) => self.body.mask_of(BuiltInMask::All),
                    Some(GroupOperation::InclusiveScan) => self.body.mask_of(BuiltInMask::Le),
                    Some(GroupOperation::ExclusiveScan) => self.body.mask_of(BuiltInMask::Lt),
                    _ => return Err(self.error(inst, "an unknown group operation")),
                };
                let mut b = self.body.b();
                let bits = b.binary(BinOp::And, bits, counted);
                let count = b.unary(UnOp::PopCount, bits);
                self.resized_result(inst, count)?
            }
            Op::GroupNonUniformBallotFindLSB | Op::GroupNonUniformBallotFindMSB => {
                let bits = self.ballot_bits(inst, words[0])?;
                let all = self.body.mask_of(BuiltInMask::All);
                let last = self.body.iconst(Type::I64, 63);
                let mut b = self.body.b();
                let bits = b.binary(BinOp::And, bits, all);
                let found = match op {
                    Op::GroupNonUniformBallotFindLSB => b.unary(UnOp::Ctz, bits),
                    _ => {
                        let above = b.unary(UnOp::Clz, bits);
                        b.binary(BinOp::ISub, last, above)
                    }
                };
                self.resized_result(inst, found)?
            }
            Op::SubgroupBlockReadINTEL => self.block_read(inst)?,
            Op::SubgroupBlockWriteINTEL => {
                self.block_write(inst)?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.define(inst, value)?;
        Ok(true)
    }

    /// Whose work-items an instruction brings together, and its operands after that. Instructions
    /// of extensions that do not say are a sub-group's, as all the non-uniform ones must be.
    fn group_operands<'w>(&mut self, inst: &Inst<'w>) -> Result<(Scope, &'w [Id])> {
        let words = inst.operands;
        let class = inst.class;
        let says = class
            .operands
            .iter()
            .any(|o| o.kind == OperandKind::IdScope);
        if !says || !class.opname.starts_with("Group") {
            return Ok((Scope::SubGroup, words));
        }
        let allowed: &[Scope] = match is_non_uniform(inst) {
            true => &[Scope::SubGroup],
            false => &[Scope::SubGroup, Scope::WorkGroup],
        };
        let scope = self.execution_scope(inst, words[0], allowed)?;
        Ok((scope, &words[1..]))
    }

    fn vote(
        &mut self,
        inst: &Inst<'_>,
        what: Collective,
        scope: Scope,
        predicate: Id,
    ) -> Result<Value> {
        let predicate = self.typed(inst, predicate, Type::I1)?;
        Ok(self.body.collective(what, scope, &[predicate], Type::I1))
    }

    /// Vectors are equal when their components are.
    fn all_equal(&mut self, inst: &Inst<'_>, value: Id) -> Result<Value> {
        let value = self.value(inst, value)?;
        let ty = self.body.ty(value);
        let mut all = None;
        for lane in 0..ty.lanes {
            let one = match ty.lanes {
                1 => value,
                _ => self.body.b().extract(value, lane),
            };
            let same =
                self.body
                    .collective(Collective::AllEqual, Scope::SubGroup, &[one], Type::I1);
            all = Some(match all {
                None => same,
                Some(before) => self.body.b().binary(BinOp::And, before, same),
            });
        }
        Ok(all.expect("a type has a lane"))
    }

    /// A scalar integer as the `i32` that numbers a work-item.
    fn number(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.size_value(inst, id)?;
        Ok(self.body.resize(value, Scalar::I32))
    }

    fn numbered(
        &mut self,
        inst: &Inst<'_>,
        what: Collective,
        value: Id,
        number: Id,
    ) -> Result<Value> {
        let value = self.value(inst, value)?;
        let number = self.number(inst, number)?;
        let ty = self.body.ty(value);
        Ok(self
            .body
            .collective(what, Scope::SubGroup, &[value, number], ty))
    }

    /// A shuffle from a work-item so far away.
    fn relative(&mut self, inst: &Inst<'_>, op: BinOp, value: Id, by: Id) -> Result<Value> {
        let value = self.value(inst, value)?;
        let by = self.number(inst, by)?;
        let here = self.body.sub_group_query(Query::SubGroupLocalId);
        let number = self.body.b().binary(op, here, by);
        let ty = self.body.ty(value);
        Ok(self
            .body
            .collective(Collective::Shuffle, Scope::SubGroup, &[value, number], ty))
    }

    /// "OpSubgroupShuffleDownINTEL": what lies beyond the current values is in the next ones. And
    /// the reverse.
    fn two_source_shuffle(&mut self, op: Op, inst: &Inst<'_>) -> Result<Value> {
        let words = inst.operands;
        let low = self.value(inst, words[0])?;
        let ty = self.body.ty(low);
        let high = self.typed(inst, words[1], ty)?;
        let delta = self.number(inst, words[2])?;
        let here = self.body.sub_group_query(Query::SubGroupLocalId);
        let size = self.body.sub_group_query(Query::SubGroupMaxSize);
        // Counted from the beginning of `low`; `high` follows it.
        let number = match op {
            Op::SubgroupShuffleDownINTEL => self.body.b().binary(BinOp::IAdd, here, delta),
            _ => {
                let from = self.body.b().binary(BinOp::IAdd, here, size);
                self.body.b().binary(BinOp::ISub, from, delta)
            }
        };
        let shuffle = Collective::Shuffle;
        let from_low = self
            .body
            .collective(shuffle, Scope::SubGroup, &[low, number], ty);
        let above = self.body.b().binary(BinOp::ISub, number, size);
        let from_high = self
            .body
            .collective(shuffle, Scope::SubGroup, &[high, above], ty);
        let mut b = self.body.b();
        let in_low = b.icmp(IntCC::Ult, number, size);
        Ok(b.select(in_low, from_low, from_high))
    }

    fn rotate(&mut self, inst: &Inst<'_>, words: &[Id]) -> Result<Value> {
        let value = self.value(inst, words[0])?;
        let delta = self.number(inst, words[1])?;
        let here = self.body.sub_group_query(Query::SubGroupLocalId);
        let size = match words.get(2) {
            Some(&id) => {
                let size = self.cluster_size(inst, id)?;
                self.body.iconst(Type::I32, u64::from(size))
            }
            None => self.body.sub_group_query(Query::SubGroupMaxSize),
        };
        let one = self.body.iconst(Type::I32, 1);
        let mut b = self.body.b();
        let low = b.binary(BinOp::ISub, size, one);
        let high = b.unary(UnOp::Not, low);
        let around = b.binary(BinOp::IAdd, here, delta);
        let around = b.binary(BinOp::And, around, low);
        let start = b.binary(BinOp::And, here, high);
        let number = b.binary(BinOp::Or, start, around);
        let ty = self.body.ty(value);
        Ok(self
            .body
            .collective(Collective::Shuffle, Scope::SubGroup, &[value, number], ty))
    }

    /// A cluster's size: a constant power of two; more than the largest sub-group is all of it.
    fn cluster_size(&mut self, inst: &Inst<'_>, id: Id) -> Result<u8> {
        match self.unit.integer_constant(id) {
            Some(size) if size.is_power_of_two() => Ok(size.min(u64::from(MOST)) as u8),
            _ => Err(self.error(inst, "the cluster size is not a constant power of two")),
        }
    }

    fn combine(
        &mut self,
        op: Op,
        with: BinOp,
        inst: &Inst<'_>,
        scope: Scope,
        words: &[Id],
    ) -> Result<Value> {
        let value = self.value(inst, words[1])?;
        let ty = self.body.ty(value);
        let fits = match ty.scalar {
            Scalar::I1 => is_logical(op),
            scalar if scalar.is_int() => !with.is_float() && !is_logical(op),
            scalar => scalar.is_float() && with.is_float(),
        };
        if !fits {
            return Err(self.error(inst, format!("the value has type {ty}, which does not fit")));
        }
        let what = match GroupOperation::from_u32(words[0]) {
            Some(GroupOperation::Reduce) => Collective::Reduce(with),
            Some(GroupOperation::InclusiveScan) => Collective::Inclusive(with),
            Some(GroupOperation::ExclusiveScan) => Collective::Exclusive(with),
            Some(GroupOperation::ClusteredReduce) if is_non_uniform(inst) => match words.get(2) {
                Some(&size) => Collective::Cluster(with, self.cluster_size(inst, size)?),
                None => return Err(self.error(inst, "a clustered reduction without cluster size")),
            },
            _ => return Err(self.error(inst, "the group operation is not supported here")),
        };
        Ok(self.body.collective(what, scope, &[value], ty))
    }

    /// "OpGroupBroadcast": the work-item is named by its id in the sub-group, or by up to three in
    /// the work-group.
    fn group_broadcast(&mut self, inst: &Inst<'_>, scope: Scope, words: &[Id]) -> Result<Value> {
        let value = self.value(inst, words[0])?;
        let ids = self.integer(inst, words[1])?;
        let lanes = self.body.ty(ids).lanes;
        if lanes > 3 || lanes > 1 && scope == Scope::SubGroup {
            return Err(self.error(inst, format!("an id of {lanes} components")));
        }
        let id = |this: &mut Self, d: u8| {
            let id = match lanes {
                1 => ids,
                _ => this.body.b().extract(ids, d),
            };
            this.body.resize(id, Scalar::I32)
        };
        // Linear, as in "get_local_linear_id".
        let mut number = id(self, lanes - 1);
        for d in (0..lanes - 1).rev() {
            let size = IrOp::DimQuery(DimQuery::LocalSize, d);
            let size = self.body.b().val(size, &[], Type::I64);
            let size = self.body.resize(size, Scalar::I32);
            let here = id(self, d);
            let rows = self.body.b().binary(BinOp::IMul, number, size);
            number = self.body.b().binary(BinOp::IAdd, rows, here);
        }
        let ty = self.body.ty(value);
        Ok(self
            .body
            .collective(Collective::Broadcast, scope, &[value, number], ty))
    }

    fn ballot(&mut self, inst: &Inst<'_>, predicate: Id) -> Result<Value> {
        let predicate = self.typed(inst, predicate, Type::I1)?;
        let bits =
            self.body
                .collective(Collective::Ballot, Scope::SubGroup, &[predicate], Type::I64);
        Ok(self.body.wide_mask(bits))
    }

    fn ballot_operand(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        self.typed(inst, id, Type::new(Scalar::I32, 4))
    }

    /// The low 64 bits of a ballot.
    fn ballot_bits(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let ballot = self.ballot_operand(inst, id)?;
        let shift = self.body.iconst(Type::I64, 32);
        let mut b = self.body.b();
        let (low, high) = (b.extract(ballot, 0), b.extract(ballot, 1));
        let low = b.convert(ConvertOp::ZExt, low, Type::I64);
        let high = b.convert(ConvertOp::ZExt, high, Type::I64);
        let high = b.binary(BinOp::Shl, high, shift);
        Ok(b.binary(BinOp::Or, low, high))
    }

    fn resized_result(&mut self, inst: &Inst<'_>, value: Value) -> Result<Value> {
        let ty = self.unit.result_ir(inst)?;
        if !ty.is_scalar() || !ty.scalar.is_int() {
            return Err(self.error(inst, format!("a result of type {ty}, expected an integer")));
        }
        Ok(self.body.resize(value, ty.scalar))
    }

    /// The address of this work-item's first element of a block, and the bytes to its next one
    /// ("OpSubgroupBlockReadINTEL": `p[local id]`, then `p[local id + largest size]` and so on).
    fn block(&mut self, inst: &Inst<'_>, pointer: Id, ty: Type) -> Result<(Value, Value, Mem)> {
        let pointer = self.pointer(inst, pointer)?;
        if !ty.scalar.is_int() && !ty.scalar.is_float() {
            return Err(self.error(inst, format!("a block of {ty}")));
        }
        let bytes = self.body.iconst(Type::I64, u64::from(ty.scalar.bytes()));
        let here = self
            .body
            .b()
            .val(IrOp::Query(Query::SubGroupLocalId), &[], Type::I64);
        let size = self
            .body
            .b()
            .val(IrOp::Query(Query::SubGroupMaxSize), &[], Type::I64);
        // All work-items bring the same pointer, which no analysis may know.
        let first = Collective::BroadcastFirst;
        let base = self
            .body
            .collective(first, Scope::SubGroup, &[pointer.address], Type::PTR);
        let mut b = self.body.b();
        let offset = b.binary(BinOp::IMul, here, bytes);
        let step = b.binary(BinOp::IMul, size, bytes);
        let address = b.ptr_add(base, offset);
        Ok((address, step, Mem::new(pointer.space, ty.scalar.bytes())))
    }

    fn block_read(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let ty = self.unit.result_ir(inst)?;
        let (mut address, step, mem) = self.block(inst, inst.operands[0], ty)?;
        let mut lanes = Vec::new();
        for lane in 0..ty.lanes {
            if lane > 0 {
                address = self.body.b().ptr_add(address, step);
            }
            lanes.push(self.body.b().load(mem, address, ty.lane()));
        }
        Ok(match lanes[..] {
            [only] => only,
            _ => self.body.build(&lanes),
        })
    }

    fn block_write(&mut self, inst: &Inst<'_>) -> Result<()> {
        let data = self.value(inst, inst.operands[1])?;
        let ty = self.body.ty(data);
        let (mut address, step, mem) = self.block(inst, inst.operands[0], ty)?;
        for lane in 0..ty.lanes {
            if lane > 0 {
                address = self.body.b().ptr_add(address, step);
            }
            let one = match ty.lanes {
                1 => data,
                _ => self.body.b().extract(data, lane),
            };
            self.body.b().store(mem, address, one);
        }
        Ok(())
    }
}

impl Body {
    pub(super) fn collective(
        &mut self,
        what: Collective,
        scope: Scope,
        args: &[Value],
        ty: Type,
    ) -> Value {
        let op = IrOp::Collective {
            what,
            scope,
            masked: false,
        };
        self.b().val(op, args, ty)
    }

    /// A query of sub-groups as an `i32`.
    fn sub_group_query(&mut self, query: Query) -> Value {
        let value = self.b().val(IrOp::Query(query), &[], Type::I64);
        self.resize(value, Scalar::I32)
    }

    /// The four words of a ballot from its low 64 bits.
    fn wide_mask(&mut self, bits: Value) -> Value {
        let shift = self.iconst(Type::I64, 32);
        let zero = self.iconst(Type::I32, 0);
        let mut b = self.b();
        let low = b.convert(ConvertOp::Trunc, bits, Type::I32);
        let high = b.binary(BinOp::LShr, bits, shift);
        let high = b.convert(ConvertOp::Trunc, high, Type::I32);
        self.build(&[low, high, zero, zero])
    }

    /// A bit of a ballot.
    fn ballot_bit(&mut self, ballot: Value, bit: Value) -> Value {
        let five = self.iconst(Type::I32, 5);
        let mut b = self.b();
        let word = b.binary(BinOp::LShr, bit, five);
        let word = b.val(IrOp::ExtractDyn, &[ballot, word], Type::I32);
        // The amount counts modulo the width.
        let word = b.binary(BinOp::LShr, word, bit);
        b.convert(ConvertOp::Trunc, word, Type::I1)
    }

    /// A mask of work-items of the sub-group as an `i64`.
    fn mask_of(&mut self, mask: BuiltInMask) -> Value {
        let here = self
            .b()
            .val(IrOp::Query(Query::SubGroupLocalId), &[], Type::I64);
        let size = self
            .b()
            .val(IrOp::Query(Query::SubGroupMaxSize), &[], Type::I64);
        let (zero, one) = (self.iconst(Type::I64, 0), self.iconst(Type::I64, 1));
        let (ones, most) = (
            self.iconst(Type::I64, u64::MAX),
            self.iconst(Type::I64, u64::from(MOST)),
        );
        let mut b = self.b();
        let own = b.binary(BinOp::Shl, one, here);
        let below = b.binary(BinOp::ISub, own, one);
        // The largest size may be all the bits that there are.
        let free = b.binary(BinOp::ISub, most, size);
        let all = b.binary(BinOp::LShr, ones, free);
        match mask {
            BuiltInMask::All => all,
            BuiltInMask::Eq => own,
            BuiltInMask::Lt => below,
            BuiltInMask::Le => b.binary(BinOp::Or, below, own),
            BuiltInMask::Ge => {
                let above = b.binary(BinOp::ISub, zero, own);
                b.binary(BinOp::And, above, all)
            }
            BuiltInMask::Gt => {
                let from = b.binary(BinOp::ISub, zero, own);
                let above = b.binary(BinOp::Xor, from, own);
                b.binary(BinOp::And, above, all)
            }
        }
    }

    /// The value of a built-in variable that is a mask of the sub-group.
    pub(super) fn sub_group_mask(&mut self, builtin: BuiltIn) -> Option<Value> {
        let mask = match builtin {
            BuiltIn::SubgroupEqMask => BuiltInMask::Eq,
            BuiltIn::SubgroupGeMask => BuiltInMask::Ge,
            BuiltIn::SubgroupGtMask => BuiltInMask::Gt,
            BuiltIn::SubgroupLeMask => BuiltInMask::Le,
            BuiltIn::SubgroupLtMask => BuiltInMask::Lt,
            _ => return None,
        };
        let bits = self.mask_of(mask);
        Some(self.wide_mask(bits))
    }
}

/// Work-items by how their numbers compare with one's own.
#[derive(Clone, Copy)]
enum BuiltInMask {
    All,
    Eq,
    Ge,
    Gt,
    Le,
    Lt,
}
