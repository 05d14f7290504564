//! What is well formed at each [`Stage`].
//!
//! Four things are checked: that arenas, block lists and [`ValueDef`]s agree; that operand and result counts and
//! types are what [`Op`]'s docs say; that every definition dominates its uses; and what a stage
//! promises (no calls after inlining, one lane after `scalarize`, ...). Cost: near linear.

use cranelift_entity::SecondaryMap;

use super::{
    AtomicOp, BinOp, Block, BlockCall, Collective, ConvertOp, Function, Inst, Mem, Module, Op,
    Rounding, Scalar, Scope, Stage, Terminator, Type, UnOp, Value, ValueDef,
};
use crate::AddressSpace;
use crate::analysis::DominatorTree;

/// Checks a function. With a module, entities that it names are checked too. The error says what is wrong with
/// which instruction, and of which function.
pub fn verify(func: &Function, stage: Stage, module: Option<&Module>) -> Result<(), String> {
    let mut verifier = Verifier {
        func,
        stage,
        module,
        width: None,
        place: SecondaryMap::with_capacity(func.values.len()),
    };
    verifier
        .run()
        .map_err(|message| format!("{message}, in function {:?} at stage {stage:?}", func.name))
}

/// Checks every function of a translated module, and what its kernels say of them.
pub fn verify_module(module: &Module) -> Result<(), String> {
    for func in module.functions.values() {
        verify(func, Stage::Translated, Some(module))?;
    }
    for kernel in &module.kernels {
        let name = &kernel.info.name;
        let func = module
            .functions
            .get(kernel.func)
            .ok_or_else(|| format!("kernel {name:?} has no function {}", kernel.func))?;
        if func.params().len() != kernel.params.len() {
            return Err(format!(
                "kernel {name:?} has {} parameter sources for {} parameters",
                kernel.params.len(),
                func.params().len()
            ));
        }
        if !func.results.is_empty() {
            return Err(format!("kernel {name:?} returns values"));
        }
    }
    Ok(())
}

struct Verifier<'a> {
    func: &'a Function,
    stage: Stage,
    module: Option<&'a Module>,
    /// The lane count of varying values, once one is seen.
    width: Option<u8>,
    /// Where a value is defined: its block, and a position in it (parameters at 0).
    place: SecondaryMap<Value, Option<(Block, u32)>>,
}

/// `Err` of a formatted message unless the condition holds.
macro_rules! ensure {
    ($cond:expr, $($message:tt)*) => {
        if !$cond {
            return Err(format!($($message)*));
        }
    };
}

impl Verifier<'_> {
    fn run(&mut self) -> Result<(), String> {
        let func = self.func;
        ensure!(!func.layout.is_empty(), "there is no entry block");
        let mut in_layout: SecondaryMap<Block, bool> = SecondaryMap::new();
        for &block in &func.layout {
            ensure!(!in_layout[block], "{block} is laid out twice");
            in_layout[block] = true;
            for (i, &param) in func.blocks[block].params.iter().enumerate() {
                let def = ValueDef::Param(block, i as u16);
                self.define(param, def, block, 0)?;
            }
            for (i, &inst) in func.blocks[block].insts.iter().enumerate() {
                for (n, &result) in func.insts[inst].results.iter().enumerate() {
                    let def = ValueDef::Result(inst, n as u16);
                    self.define(result, def, block, i as u32 + 1)?;
                }
            }
        }
        let dominators = DominatorTree::new(func);
        for &block in &func.layout {
            for (i, &inst) in func.blocks[block].insts.iter().enumerate() {
                let at = |message: String| {
                    format!("{message}: `{}` of {block}", func.display_inst(inst))
                };
                for &arg in &func.insts[inst].args {
                    self.check_use(arg, block, i as u32 + 1, &dominators)
                        .map_err(at)?;
                }
                self.check_inst(inst).map_err(at)?;
                self.check_stage(inst, block).map_err(at)?;
            }
            let term = &func.blocks[block].term;
            let at = |message: String| format!("{message}: `{term}` of {block}");
            let mut uses = Ok(());
            term.for_each_value(|value| {
                if uses.is_ok() {
                    uses = self.check_use(value, block, u32::MAX, &dominators);
                }
            });
            uses.map_err(at)?;
            self.check_terminator(term, &in_layout).map_err(at)?;
        }
        Ok(())
    }

    fn define(
        &mut self,
        value: Value,
        def: ValueDef,
        block: Block,
        position: u32,
    ) -> Result<(), String> {
        ensure!(
            self.func.values[value].def == def,
            "{value} is in {block} but its definition says {:?}",
            self.func.values[value].def
        );
        ensure!(
            self.place[value].is_none(),
            "{value} is defined in two places"
        );
        self.place[value] = Some((block, position));
        let lanes = self.func.ty(value).lanes;
        ensure!(lanes != 0, "{value} has no lanes");
        match self.stage {
            Stage::Translated | Stage::Inlined => {}
            Stage::Scalarized => ensure!(lanes == 1, "{value} has {lanes} lanes instead of one"),
            Stage::Vectorized => {
                if lanes != 1 {
                    let width = *self.width.get_or_insert(lanes);
                    ensure!(
                        lanes == width,
                        "{value} has {lanes} lanes, another value {width}"
                    );
                }
            }
        }
        Ok(())
    }

    fn check_use(
        &self,
        value: Value,
        block: Block,
        position: u32,
        dominators: &DominatorTree,
    ) -> Result<(), String> {
        ensure!(self.func.values.is_valid(value), "{value} does not exist");
        let Some((def_block, def_position)) = self.place[value] else {
            return Err(format!("{value} is defined in no block"));
        };
        let dominates = if def_block == block {
            def_position < position
        } else {
            dominators.dominates(def_block, block) || !dominators.is_reachable(block)
        };
        ensure!(
            dominates,
            "{value}, defined in {def_block}, does not dominate its use"
        );
        Ok(())
    }

    fn check_call(
        &self,
        call: &BlockCall,
        in_layout: &SecondaryMap<Block, bool>,
    ) -> Result<(), String> {
        let func = self.func;
        ensure!(in_layout[call.block], "{} is not laid out", call.block);
        ensure!(
            call.block != func.entry(),
            "the entry block has a predecessor"
        );
        let params = &func.blocks[call.block].params;
        ensure!(
            params.len() == call.args.len(),
            "{} takes {} values, not {}",
            call.block,
            params.len(),
            call.args.len()
        );
        for (&param, &arg) in params.iter().zip(&call.args) {
            ensure!(
                func.ty(param) == func.ty(arg),
                "{arg} has type {}, parameter {param} of {} has {}",
                func.ty(arg),
                call.block,
                func.ty(param)
            );
        }
        Ok(())
    }

    fn check_terminator(
        &self,
        term: &Terminator,
        in_layout: &SecondaryMap<Block, bool>,
    ) -> Result<(), String> {
        let func = self.func;
        for call in term.targets() {
            self.check_call(call, in_layout)?;
        }
        match term {
            Terminator::CondBr { cond, .. } => {
                ensure!(
                    func.ty(*cond) == Type::I1,
                    "a condition is a one-lane i1, not {}",
                    func.ty(*cond)
                );
            }
            Terminator::Switch { value, cases, .. } => {
                let ty = func.ty(*value);
                ensure!(
                    ty.is_scalar() && (ty.scalar.is_int() || ty.scalar == Scalar::I1),
                    "a switch is on a one-lane integer, not {ty}"
                );
                let mut bits: Vec<u64> = cases.iter().map(|&(bits, _)| bits).collect();
                bits.sort_unstable();
                ensure!(
                    bits.windows(2).all(|w| w[0] != w[1]),
                    "two cases are the same"
                );
                ensure!(
                    bits.last().is_none_or(|&top| top <= ty.scalar.mask()),
                    "a case does not fit {ty}"
                );
            }
            Terminator::Ret(values) => {
                ensure!(
                    values
                        .iter()
                        .map(|&v| func.ty(v))
                        .eq(func.results.iter().copied()),
                    "the returned types are not the function's"
                );
            }
            Terminator::Br(_) | Terminator::Unreachable => {}
        }
        Ok(())
    }

    /// What the stage forbids.
    fn check_stage(&self, inst: Inst, block: Block) -> Result<(), String> {
        let op = &self.func.insts[inst].op;
        let early = self.stage != Stage::Vectorized;
        let masked = match op {
            Op::Load(mem) | Op::Store(mem) => mem.masked || mem.stride != 0,
            Op::MemCopy { masked, .. } | Op::MemCopyDyn { masked, .. } | Op::Printf { masked } => {
                *masked
            }
            Op::AtomicRmw(_, atomic)
            | Op::AtomicCmpXchg(atomic)
            | Op::AtomicLoad(atomic)
            | Op::AtomicStore(atomic) => atomic.masked,
            Op::Collective { masked, .. } => *masked,
            _ => false,
        };
        ensure!(
            !(early && masked),
            "masks and strides belong to vectorized code"
        );
        match op {
            Op::Call(_) => ensure!(
                self.stage == Stage::Translated,
                "there are no calls after inlining"
            ),
            Op::Alloca { .. } => ensure!(
                block == self.func.entry(),
                "private memory is allocated in the entry block only"
            ),
            Op::LaneIds | Op::AnyTrue | Op::AllTrue | Op::MaskBits | Op::Permute => {
                ensure!(!early, "lane operations belong to vectorized code");
            }
            Op::NamedBarrier(_) => ensure!(early, "there are no named barriers in vectorized code"),
            Op::ContextLoad(_) | Op::ContextStore(_) | Op::Carry => ensure!(
                self.stage >= Stage::Scalarized,
                "barrier contexts belong to scalarized code"
            ),
            _ => {}
        }
        Ok(())
    }

    /// The data of one access: `mem` with its address, its data's types and its mask.
    fn check_access(
        &self,
        mem: &Mem,
        ptr: Value,
        data: &[Type],
        mask: Option<Value>,
    ) -> Result<(), String> {
        let ptr = self.func.ty(ptr);
        let Some(&first) = data.first() else {
            return Err("an access moves at least one element".into());
        };
        ensure!(
            data.iter().all(|&ty| ty == first),
            "the elements of an access have one type"
        );
        ensure!(mem.align.is_power_of_two(), "alignment is a power of two");
        self.check_address(ptr, first.lanes)?;
        if self.stage == Stage::Vectorized && ptr.is_scalar() && !first.is_scalar() {
            ensure!(
                mem.stride != 0,
                "one address for {} lanes needs a stride",
                first.lanes
            );
        } else {
            ensure!(mem.stride == 0, "a stride needs one address and many lanes");
        }
        self.check_mask(mem.masked, mask, first.lanes)
    }

    /// An address has one lane, or after `vectorize` as many as the data.
    fn check_address(&self, ptr: Type, lanes: u8) -> Result<(), String> {
        ensure!(ptr.scalar == Scalar::Ptr, "an address is a ptr, not {ptr}");
        ensure!(
            ptr.is_scalar() || self.stage == Stage::Vectorized && ptr.lanes == lanes,
            "an address of {} lanes for data of {lanes}",
            ptr.lanes
        );
        Ok(())
    }

    fn check_mask(&self, masked: bool, mask: Option<Value>, lanes: u8) -> Result<(), String> {
        match mask {
            None => ensure!(!masked, "a masked access needs a mask"),
            Some(mask) => {
                let ty = self.func.ty(mask);
                ensure!(
                    masked && ty == Type::new(Scalar::I1, lanes),
                    "expected a mask of {lanes} lanes, not {ty}"
                );
            }
        }
        Ok(())
    }

    fn check_inst(&self, inst: Inst) -> Result<(), String> {
        let func = self.func;
        let data = &func.insts[inst];
        let args: Vec<Type> = data.args.iter().map(|&v| func.ty(v)).collect();
        let results: Vec<Type> = data.results.iter().map(|&v| func.ty(v)).collect();
        let counts = |operands: usize, produced: usize| {
            ensure!(
                args.len() == operands && results.len() == produced,
                "expected {operands} operands and {produced} results"
            );
            Ok(())
        };
        let is = |ok: bool, what: &str| {
            ensure!(ok, "{what}");
            Ok(())
        };
        // Operands of an access without its mask.
        let unmasked = |masked: bool, operands: usize| {
            ensure!(
                args.len() == operands + usize::from(masked),
                "expected {operands} operands and a mask if masked"
            );
            Ok(masked.then(|| data.args[operands]))
        };
        match &data.op {
            Op::Const(bits) => {
                counts(0, 1)?;
                is(
                    *bits <= results[0].scalar.mask(),
                    "a constant has no bits beyond its type",
                )
            }
            Op::GlobalAddr(id) => {
                counts(0, 1)?;
                is(results[0] == Type::PTR, "an address is a ptr")?;
                is(
                    self.module.is_none_or(|m| m.globals.is_valid(*id)),
                    "the global does not exist",
                )
            }
            Op::LocalAddr(id) => {
                counts(0, 1)?;
                is(results[0] == Type::PTR, "an address is a ptr")?;
                is(
                    func.locals.is_valid(*id),
                    "the work-group variable does not exist",
                )
            }
            Op::Alloca { align, .. } => {
                counts(0, 1)?;
                is(results[0] == Type::PTR, "an address is a ptr")?;
                is(align.is_power_of_two(), "alignment is a power of two")
            }
            Op::Unary(op) => {
                counts(1, 1)?;
                is(args[0] == results[0], "operand and result have one type")?;
                is(
                    unary_takes(*op, args[0].scalar),
                    "the operation does not take this type",
                )
            }
            Op::Binary(op, _) => {
                counts(2, 1)?;
                is(
                    args[0] == results[0] && args[1] == results[0],
                    "operands and result have one type",
                )?;
                is(
                    binary_takes(*op, args[0].scalar),
                    "the operation does not take this type",
                )
            }
            Op::Fma => {
                counts(3, 1)?;
                is(
                    args.iter().all(|&ty| ty == results[0]) && results[0].scalar.is_float(),
                    "operands and result have one floating-point type",
                )
            }
            Op::Rounded(op, rounding) => {
                counts(op.operands(), 1)?;
                is(
                    args.iter().all(|&ty| ty == results[0]) && results[0].scalar.is_float(),
                    "operands and result have one floating-point type",
                )?;
                is(
                    *rounding != Rounding::NearestEven,
                    "the plain operation rounds to nearest",
                )
            }
            Op::ICmp(_) | Op::FCmp(_) => {
                counts(2, 1)?;
                is(
                    args[0] == args[1] && results[0] == args[0].as_mask(),
                    "a comparison of one type gives i1 lanes",
                )?;
                is(
                    args[0].scalar.is_float() == matches!(data.op, Op::FCmp(_)),
                    "the comparison does not take this type",
                )
            }
            Op::Select => {
                counts(3, 1)?;
                is(
                    args[1] == results[0] && args[2] == results[0],
                    "both choices have the result's type",
                )?;
                is(
                    args[0].scalar == Scalar::I1
                        && (args[0].is_scalar() || args[0].lanes == results[0].lanes),
                    "the condition is i1 of one lane or as many as the result",
                )
            }
            Op::Convert(op, _) => {
                counts(1, 1)?;
                is(
                    convert_takes(*op, args[0], results[0]),
                    "the conversion does not take these types",
                )
            }
            Op::Splat => {
                counts(1, 1)?;
                is(args[0] == results[0].lane(), "a splat repeats one lane")
            }
            Op::Build => {
                counts(usize::from(results.first().map_or(0, |ty| ty.lanes)), 1)?;
                is(
                    args.iter().all(|&ty| ty == results[0].lane()),
                    "a vector is built of its lanes",
                )
            }
            Op::Extract(lane) => {
                counts(1, 1)?;
                is(
                    results[0] == args[0].lane() && *lane < args[0].lanes,
                    "a lane is extracted from a vector that has it",
                )
            }
            Op::Insert(lane) => {
                counts(2, 1)?;
                is(
                    results[0] == args[0] && args[1] == args[0].lane() && *lane < args[0].lanes,
                    "a lane is inserted into a vector that has it",
                )
            }
            Op::ExtractDyn => {
                counts(2, 1)?;
                is(
                    results[0] == args[0].lane() && args[1].is_scalar() && args[1].scalar.is_int(),
                    "a lane is extracted by an integer",
                )
            }
            Op::InsertDyn => {
                counts(3, 1)?;
                is(
                    results[0] == args[0]
                        && args[1] == args[0].lane()
                        && args[2].is_scalar()
                        && args[2].scalar.is_int(),
                    "a lane is inserted by an integer",
                )
            }
            Op::Shuffle(mask) => {
                counts(2, 1)?;
                let lanes = u16::from(args[0].lanes) + u16::from(args[1].lanes);
                is(
                    args[0].scalar == results[0].scalar
                        && args[1].scalar == results[0].scalar
                        && mask.len() == usize::from(results[0].lanes)
                        && mask.iter().all(|&l| l == 255 || u16::from(l) < lanes),
                    "a shuffle picks lanes of its operands",
                )
            }
            Op::PtrAdd => {
                counts(2, 1)?;
                is(
                    args[0] == results[0]
                        && args[0].scalar == Scalar::Ptr
                        && args[1] == args[0].with_scalar(Scalar::I64),
                    "an address plus an i64",
                )
            }
            Op::InSpace(space) => {
                counts(1, 1)?;
                is(
                    args[0].scalar == Scalar::Ptr
                        && results[0] == args[0].with_scalar(Scalar::I1)
                        && matches!(
                            space,
                            AddressSpace::Private | AddressSpace::Local | AddressSpace::Global
                        ),
                    "a pointer is asked whether it is private, local or global",
                )
            }
            Op::Load(mem) => {
                let mask = unmasked(mem.masked, 1)?;
                self.check_access(mem, data.args[0], &results, mask)
            }
            Op::Store(mem) => {
                is(results.is_empty(), "a store has no results")?;
                let operands = args.len().saturating_sub(usize::from(mem.masked));
                is(operands >= 2, "a store needs an address and a value")?;
                let mask = unmasked(mem.masked, operands)?;
                self.check_access(mem, data.args[0], &args[1..operands], mask)
            }
            Op::MemCopy { masked, align, .. } => {
                is(results.is_empty(), "a copy has no results")?;
                is(align.is_power_of_two(), "alignment is a power of two")?;
                let mask = unmasked(*masked, 2)?;
                let lanes = args[0].lanes.max(args[1].lanes);
                self.check_address(args[0], lanes)?;
                self.check_address(args[1], lanes)?;
                let masks = mask.map_or(1, |m| func.ty(m).lanes);
                self.check_mask(*masked, mask, lanes.max(masks))
            }
            Op::MemCopyDyn { masked, align } => {
                is(results.is_empty(), "a copy has no results")?;
                is(align.is_power_of_two(), "alignment is a power of two")?;
                let mask = unmasked(*masked, 3)?;
                let lanes = args[..3].iter().map(|ty| ty.lanes).max().unwrap_or(1);
                self.check_address(args[0], lanes)?;
                self.check_address(args[1], lanes)?;
                is(
                    args[2].scalar == Scalar::I64
                        && (args[2].is_scalar() || args[2].lanes == lanes),
                    "a length is an i64",
                )?;
                let masks = mask.map_or(1, |m| func.ty(m).lanes);
                self.check_mask(*masked, mask, lanes.max(masks))
            }
            Op::AtomicRmw(op, atomic) => {
                let mask = unmasked(atomic.masked, 2)?;
                is(
                    atomic_takes(*op, args[1].scalar),
                    "the operand has a type of the operation's",
                )?;
                is(
                    results.len() == 1 && results[0] == args[1],
                    "the result has the operand's type",
                )?;
                self.check_atomic(args[0], results[0], atomic.masked, mask)
            }
            Op::AtomicCmpXchg(atomic) => {
                let mask = unmasked(atomic.masked, 3)?;
                is(
                    results.len() == 1 && results[0] == args[1] && results[0] == args[2],
                    "operands and result have one type",
                )?;
                is(!args[1].scalar.is_float(), "what is compared is bits")?;
                self.check_atomic(args[0], results[0], atomic.masked, mask)
            }
            Op::AtomicLoad(atomic) => {
                let mask = unmasked(atomic.masked, 1)?;
                is(results.len() == 1, "expected one result")?;
                self.check_atomic(args[0], results[0], atomic.masked, mask)
            }
            Op::AtomicStore(atomic) => {
                let mask = unmasked(atomic.masked, 2)?;
                is(results.is_empty(), "a store has no results")?;
                self.check_atomic(args[0], args[1], atomic.masked, mask)
            }
            Op::Fence(_) | Op::Barrier(_) => counts(0, 0),
            Op::NamedBarrier(_) => {
                counts(1, 0)?;
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
                let mask = unmasked(*masked, what.operands())?;
                self.check_collective(*what, &args[..what.operands()], &results, mask)
            }
            Op::DimQuery(_, dim) => {
                counts(0, 1)?;
                is(*dim < 3, "there are three dimensions")?;
                is(
                    results[0].scalar == Scalar::I64,
                    "a work-item query is an i64",
                )
            }
            Op::Clock => {
                counts(0, 1)?;
                is(results[0] == Type::I64, "a clock gives an i64")
            }
            Op::Query(_) => {
                counts(0, 1)?;
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
            Op::Builtin(builtin) => {
                is(
                    results.len() == builtin.results(),
                    "a built-in has as many results as it is declared with",
                )?;
                is(
                    !builtin.is_lane_wise()
                        || args
                            .iter()
                            .chain(&results)
                            .all(|ty| ty.lanes == results[0].lanes),
                    "a lane-wise built-in has one lane count",
                )
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
            Op::ContextLoad(slot) => {
                counts(0, 1)?;
                is(func.slots.is_valid(*slot), "the slot does not exist")
            }
            Op::ContextStore(slot) => {
                counts(1, 0)?;
                is(func.slots.is_valid(*slot), "the slot does not exist")
            }
            Op::Carry => counts(0, 1),
            Op::LaneIds => {
                counts(0, 1)?;
                is(results[0].scalar.is_int(), "lane numbers are integers")
            }
            Op::MaskBits => {
                counts(1, 1)?;
                is(
                    args[0].scalar == Scalar::I1 && results[0] == Type::I64,
                    "a mask gives an i64",
                )
            }
            Op::Permute => {
                counts(2, 1)?;
                is(
                    args[0] == results[0] && args[1] == args[0].with_scalar(Scalar::I32),
                    "a permutation takes an i32 for each lane",
                )
            }
            Op::AnyTrue | Op::AllTrue => {
                counts(1, 1)?;
                is(
                    args[0].scalar == Scalar::I1 && results[0] == Type::I1,
                    "a mask gives one truth value",
                )
            }
            Op::Routine(routine, format) => {
                let target = routine.target(*format);
                counts(target.arity() + 1, 1)?;
                let float = Scalar::float(format.bits());
                let floats = &args[..target.arity()];
                let lanes = results[0].lanes;
                is(
                    floats
                        .iter()
                        .all(|ty| Some(ty.scalar) == float && ty.lanes == lanes)
                        && args[target.arity()] == Type::new(Scalar::I1, lanes),
                    "a routine takes floats of its format and a mask",
                )?;
                let expected = match float {
                    Some(float) if target.returns_int() => Some(float.as_int()),
                    other => other,
                };
                is(
                    Some(results[0].scalar) == expected,
                    "a routine gives a value of its format",
                )
            }
        }
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
        let vectorized = self.stage == Stage::Vectorized;
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

    fn check_atomic(
        &self,
        ptr: Type,
        data: Type,
        masked: bool,
        mask: Option<Value>,
    ) -> Result<(), String> {
        ensure!(
            data.is_scalar() || self.stage == Stage::Vectorized,
            "an atomic has one lane"
        );
        ensure!(
            !matches!(data.scalar, Scalar::I1 | Scalar::I8),
            "no atomic has type {data}"
        );
        self.check_address(ptr, data.lanes)?;
        self.check_mask(masked, mask, data.lanes)
    }
}

fn unary_takes(op: UnOp, scalar: Scalar) -> bool {
    match op {
        UnOp::Not => scalar.is_int() || scalar == Scalar::I1,
        UnOp::INeg | UnOp::PopCount | UnOp::Clz | UnOp::Ctz | UnOp::BitReverse => scalar.is_int(),
        UnOp::FNeg
        | UnOp::FAbs
        | UnOp::Sqrt
        | UnOp::Ceil
        | UnOp::Floor
        | UnOp::Trunc
        | UnOp::RoundEven => scalar.is_float(),
    }
}

fn atomic_takes(op: AtomicOp, scalar: Scalar) -> bool {
    match op {
        AtomicOp::Exchange => true,
        AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => scalar.is_float(),
        _ => scalar.is_int(),
    }
}

fn binary_takes(op: BinOp, scalar: Scalar) -> bool {
    match op {
        BinOp::And | BinOp::Or | BinOp::Xor => scalar.is_int() || scalar == Scalar::I1,
        op if op.is_float() => scalar.is_float(),
        _ => scalar.is_int(),
    }
}

fn convert_takes(op: ConvertOp, from: Type, to: Type) -> bool {
    let (a, b) = (from.scalar, to.scalar);
    let ints = a.is_int() && b.is_int();
    if op == ConvertOp::Bitcast {
        let bits = |ty: Type| ty.scalar.bits() * u32::from(ty.lanes);
        return bits(from) == bits(to) && (from == to || a != Scalar::I1 && b != Scalar::I1);
    }
    from.lanes == to.lanes
        && match op {
            ConvertOp::Trunc => {
                a.is_int() && (b.is_int() || b == Scalar::I1) && a.bits() > b.bits()
            }
            ConvertOp::ZExt | ConvertOp::SExt => {
                (a.is_int() || a == Scalar::I1) && b.is_int() && a.bits() < b.bits()
            }
            ConvertOp::SatSToS | ConvertOp::SatUToU => ints && a.bits() > b.bits(),
            ConvertOp::SatSToU | ConvertOp::SatUToS => ints && a.bits() >= b.bits(),
            ConvertOp::FToS | ConvertOp::FToU => a.is_float() && b.is_int(),
            ConvertOp::SToF | ConvertOp::UToF => a.is_int() && b.is_float(),
            ConvertOp::FToF => a.is_float() && b.is_float() && a != b,
            ConvertOp::Bitcast => unreachable!("handled above"),
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    fn check(stage: Stage, body: &str) -> Result<(), String> {
        let text = format!(
            "func \"f\" (ptr, i32, f32, i1) -> () {{\nblock0(v0: ptr, v1: i32, v2: f32, v3: i1):\n{body}\n}}"
        );
        let module = parse::module(&text).unwrap();
        let func = module.functions.values().next().unwrap();
        verify(func, stage, Some(&module))
    }

    #[test]
    fn what_the_parser_test_holds_is_well_formed() {
        let text = include_str!("parse_test.bir");
        let module = parse::module(text).unwrap();
        let callee = module.functions.values().next().unwrap();
        verify(callee, Stage::Translated, Some(&module)).unwrap();
    }

    #[test]
    fn each_rule_refuses_what_breaks_it() {
        use Stage::{Inlined, Scalarized, Translated, Vectorized};
        let cases = [
            (Translated, "v4: i32 = iadd v1, v2\nret", "one type"),
            (
                Translated,
                "v4: i32 = fadd v1, v1\nret",
                "does not take this type",
            ),
            (Translated, "v4: i32 = iadd v1\nret", "expected 2 operands"),
            (
                Translated,
                "cond_br v1, block1, block1\nblock1:\nret",
                "one-lane i1",
            ),
            (
                Translated,
                "br block0(v0, v1, v2, v3)",
                "entry block has a predecessor",
            ),
            (
                Translated,
                "br block1\nblock1(v4: i32):\nret",
                "takes 1 values, not 0",
            ),
            (
                Translated,
                "br block1(v2)\nblock1(v4: i32):\nret",
                "has type f32",
            ),
            (
                Translated,
                "cond_br v3, block1, block2\nblock1:\nv4: i32 = const 1\nbr block2\n\
                 block2:\nv5: i32 = iadd v4, v4\nret",
                "does not dominate",
            ),
            (
                Translated,
                "v4: i32 = iadd v5, v1\nv5: i32 = const 1\nret",
                "does not dominate",
            ),
            (
                Translated,
                "br block1\nblock1:\nv4: ptr = alloca.4.align4\nret",
                "entry block only",
            ),
            (
                Translated,
                "v4: i32 = load.global.align4.masked v0, v3\nret",
                "vectorized code",
            ),
            (
                Translated,
                "v4: i32 = convert.zext v2\nret",
                "does not take these types",
            ),
            (
                Translated,
                "v4: f32x2 = splat v2\nv5: f32 = extract.2 v4\nret",
                "that has it",
            ),
            (Translated, "ret v1", "returned types"),
            (
                Translated,
                "switch v1, default block1, 1: block1, 1: block1\nblock1:\nret",
                "same",
            ),
            (Translated, "call @7\nret", "does not exist"),
            (Inlined, "call @0, v0, v1, v2, v3\nret", "no calls"),
            (Scalarized, "v4: f32x2 = splat v2\nret", "instead of one"),
            (
                Vectorized,
                "v4: f32x4 = splat v2\nv5: f32x8 = splat v2\nret",
                "another value",
            ),
            (
                Vectorized,
                "v4: f32x4 = load.global.align4 v0\nret",
                "needs a stride",
            ),
            (
                Vectorized,
                "v4: f32x4 = load.global.align4.masked.stride4 v0, v3\nret",
                "mask of 4 lanes",
            ),
        ];
        for (stage, body, expected) in cases {
            let error = check(stage, body).expect_err(body);
            assert!(error.contains(expected), "{body}: {error}");
        }
        check(Translated, "v4: i32 = iadd v1, v1\nret").unwrap();
        check(
            Vectorized,
            "v4: f32x4 = load.global.align4.stride8 v0\nv5: i1x4 = splat v3\n\
             store.global.align4.masked.stride4 v0, v4, v5\nret",
        )
        .unwrap();
    }
}
