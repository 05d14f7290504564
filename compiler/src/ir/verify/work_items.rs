//! What work-items do together or know of each other: barriers, collectives, queries, lanes of a
//! vector; calls and `printf`.

use super::values::binary_takes;
use super::{Operands, Verifier, is};
use crate::ir::{
    Argument, Callee, Collective, DeviceOp, FuncId, Op, Scalar, Scope, Stage, Type, Value,
};

impl Verifier<'_> {
    /// The operands and results of an instruction that is about work-items, or leaves the function.
    pub(super) fn check_work_items(&self, o: &Operands<'_>) -> Result<(), String> {
        let (args, results) = (&o.args[..], &o.results[..]);
        match &o.data.op {
            Op::Fence(_) | Op::Barrier(_) => o.counts(0, 0),
            Op::NamedBarrier(_) => {
                o.counts(1, 0)?;
                is(args[0] == Type::PTR, "a named barrier is a pointer")
            }
            Op::Collective {
                what,
                scope,
                masked,
            } => {
                is(
                    matches!(scope, Scope::SubGroup | Scope::WorkGroup),
                    "sub-groups and work-groups have collectives",
                )?;
                let mask = o.unmasked(*masked, what.operands())?;
                self.check_collective(*what, &args[..what.operands()], results, mask)
            }
            Op::DimQuery(_, dim) => {
                o.counts(0, 1)?;
                is(*dim < 3, "there are three dimensions")?;
                is(
                    results[0].scalar == Scalar::I64,
                    "a work-item query is an i64",
                )
            }
            Op::Clock => {
                o.counts(0, 1)?;
                is(results[0] == Type::I64, "a clock gives an i64")
            }
            Op::Query(_) => {
                o.counts(0, 1)?;
                is(
                    results[0].scalar == Scalar::I64,
                    "a work-item query is an i64",
                )
            }
            Op::Call(id) => {
                let Some(module) = self.module else {
                    return Ok(());
                };
                let Some(callee) = module.functions.get(*id) else {
                    return Err("the function called does not exist".into());
                };
                let params = callee.params().iter().map(|&p| callee.ty(p));
                is(
                    params.eq(args.iter().copied()) && callee.results == results,
                    "a call matches its function",
                )
            }
            Op::CallFunction(callee) => self.check_callee(o, callee),
            Op::FuncAddr(_) | Op::NoImageAddr => {
                o.counts(0, 1)?;
                is(results[0] == Type::PTR, "an address is a pointer")
            }
            Op::Printf { masked } => {
                is(results == [Type::I32], "printf gives an i32")?;
                is(
                    args.first().is_some_and(|ty| ty.scalar == Scalar::Ptr),
                    "printf needs a format",
                )?;
                is(
                    !masked || args.last().is_some_and(|ty| ty.scalar == Scalar::I1),
                    "a masked printf needs a mask",
                )
            }
            Op::Device {
                what,
                block,
                masked,
            } => self.check_device(o, *what, *block, *masked),
            Op::HostCall(function) => {
                let (params, result) = function.signature();
                let one_lane = |scalars: &[Scalar]| -> Vec<Type> {
                    scalars.iter().map(|&s| Type::new(s, 1)).collect()
                };
                is(
                    args == one_lane(params) && results == one_lane(result.as_slice()),
                    "a call matches the host's function",
                )
            }
            Op::CallPointer => {
                is(
                    args.first() == Some(&Type::PTR),
                    "a function is called by its address",
                )?;
                let is_word = |ty: &Type| ty.is_scalar() && ty.scalar.bits() >= 32;
                is(
                    results.len() <= 1 && args.iter().chain(results).all(is_word),
                    "a call takes and gives scalars of 32 or 64 bits",
                )?;
                is(args.len() <= 7, "a call's operands are all in registers")
            }
            Op::Carry => o.counts(0, 1),
            Op::LaneIds => {
                o.counts(0, 1)?;
                is(results[0].scalar.is_int(), "lane numbers are integers")
            }
            Op::MaskBits => {
                o.counts(1, 1)?;
                is(
                    args[0].scalar == Scalar::I1 && results[0] == Type::I64,
                    "a mask gives an i64",
                )
            }
            Op::Permute => {
                o.counts(2, 1)?;
                is(
                    args[0] == results[0] && args[1] == args[0].with_scalar(Scalar::I32),
                    "a permutation takes an i32 for each lane",
                )
            }
            Op::Deinterleave | Op::Interleave => {
                is(
                    args.len() > 1 && args == results,
                    "as many vectors come out as go in, of the same type",
                )?;
                is(
                    args.iter().all(|&ty| ty == args[0])
                        && !args[0].is_scalar()
                        && args[0].scalar != Scalar::I1,
                    "elements of lanes are all of one type, and no truth values",
                )
            }
            Op::AnyTrue | Op::AllTrue => {
                o.counts(1, 1)?;
                is(
                    args[0].scalar == Scalar::I1 && results[0] == Type::I1,
                    "a mask gives one truth value",
                )
            }
            _ => unreachable!("no operation of work-items"),
        }
    }

    /// Operands are the same for all work-items or have a lane for each, as the mask and the result
    /// do.
    fn check_callee(&self, o: &Operands<'_>, callee: &Callee) -> Result<(), String> {
        let count = o.args.len() - usize::from(callee.masked && !o.args.is_empty());
        let mask = o.unmasked(callee.masked, count)?;
        if callee.lanes == 1 {
            ensure!(
                mask.is_none() && callee.arguments.is_empty(),
                "masks and strides belong to calls for several lanes"
            );
            return Ok(());
        }
        ensure!(
            mask.is_none_or(|mask| self.func.ty(mask) == Type::new(Scalar::I1, callee.lanes)),
            "the mask has a bit for each lane"
        );
        ensure!(
            callee.arguments.len() == count,
            "each operand is the same, affine or varying"
        );
        for (ty, argument) in o.args.iter().zip(&callee.arguments) {
            let lanes = match argument {
                Argument::Varying => callee.lanes,
                _ => 1,
            };
            ensure!(ty.lanes == lanes, "expected {lanes} lanes, not {ty}");
        }
        ensure!(
            o.results.iter().all(|ty| ty.lanes == callee.lanes),
            "results have a lane for each work-item"
        );
        Ok(())
    }

    fn check_device(
        &self,
        o: &Operands<'_>,
        what: DeviceOp,
        block: Option<FuncId>,
        masked: bool,
    ) -> Result<(), String> {
        let fixed = what.operands();
        let given = o.args.len() - usize::from(masked && !o.args.is_empty());
        let more = what == DeviceOp::EnqueueKernel && given > fixed.len();
        let mask = o.unmasked(masked, if more { given } else { fixed.len() })?;
        let width = match mask {
            Some(mask) => {
                let ty = self.func.ty(mask);
                ensure!(ty.scalar == Scalar::I1, "the mask has a bit for each lane");
                ty.lanes
            }
            None => 1,
        };
        let expected = fixed.iter().copied().chain(std::iter::repeat(Scalar::I64));
        for (ty, scalar) in o.args[..given].iter().zip(expected) {
            ensure!(
                ty.scalar == scalar && (ty.is_scalar() || ty.lanes == width),
                "expected an operand of type {scalar:?}, not {ty}"
            );
        }
        let result = what.result().map(|scalar| Type::new(scalar, width));
        ensure!(
            o.results.iter().copied().eq(result),
            "the result is not that of {}",
            what.name()
        );
        ensure!(
            block.is_some() == what.names_block(),
            "{} is about a block or it is not",
            what.name()
        );
        if let (Some(block), Some(module)) = (block, self.module) {
            ensure!(
                module.block(block).is_some(),
                "there is no block {block} to enqueue"
            );
        }
        Ok(())
    }

    fn check_collective(
        &self,
        what: Collective,
        args: &[Type],
        results: &[Type],
        mask: Option<Value>,
    ) -> Result<(), String> {
        let expected = usize::from(what != Collective::Sync);
        ensure!(results.len() == expected, "expected {expected} results");
        let Some(&result) = results.first() else {
            return Ok(());
        };
        let vectorized = self.stage >= Stage::Vectorized;
        // Of one work-item, or of as many as there are lanes.
        let width = match (vectorized, args.first(), mask) {
            (true, Some(ty), _) => ty.lanes,
            (true, None, Some(mask)) => self.func.ty(mask).lanes,
            _ => result.lanes,
        };
        if let Some(mask) = mask {
            let ty = self.func.ty(mask);
            ensure!(
                ty == Type::new(Scalar::I1, width),
                "expected a mask of {width} lanes, not {ty}"
            );
        }
        if vectorized && what.is_uniform() {
            ensure!(result.is_scalar(), "the result is the same in all lanes");
        }
        if let Some(op) = what.op() {
            let scalar = args[0].scalar;
            ensure!(
                op.is_associative() && binary_takes(op, scalar),
                "the operation does not take this type"
            );
        }
        if let Collective::Cluster(_, size) = what {
            ensure!(size.is_power_of_two(), "a cluster's size is a power of two");
        }
        match what {
            Collective::Sync => {}
            Collective::Elect => ensure!(result.scalar == Scalar::I1, "a truth value"),
            Collective::All | Collective::Any => ensure!(
                result == Type::I1 && args[0].scalar == Scalar::I1,
                "a vote is on truth values"
            ),
            Collective::AllEqual => {
                ensure!(result == Type::I1, "a comparison gives a truth value");
                ensure!(
                    vectorized || args[0].is_scalar(),
                    "values of one lane are compared"
                );
            }
            Collective::Ballot => ensure!(
                result == Type::I64 && args[0].scalar == Scalar::I1,
                "a ballot is on truth values and gives an i64"
            ),
            _ => ensure!(
                result.scalar == args[0].scalar
                    && (result.lanes == args[0].lanes || vectorized && result.is_scalar()),
                "the result has the operand's type"
            ),
        }
        if let Some(&number) = args.get(1) {
            ensure!(
                number.scalar == Scalar::I32 && (number.lanes == width || number.is_scalar()),
                "a work-item's number is an i32"
            );
        }
        Ok(())
    }
}
