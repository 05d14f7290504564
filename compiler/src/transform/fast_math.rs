//! What the build options allow floating-point arithmetic beyond the rules.
//!
//! | option | effect |
//! | --- | --- |
//! | `-cl-mad-enable` | products and sums fuse though the module forbids it (`contract.rs`) |
//! | `-cl-unsafe-math-optimizations` | functions of `float` become shorter ones within "ULP Values for Math Instructions - Unsafe Math Optimizations Enabled"; fusing, and no signed zeros |
//! | `-cl-no-signed-zeros` | `x + 0` is `x`, `0 - x` is `-x` |
//! | `-cl-finite-math-only` | nothing is NaN or infinite, so that tests for them are decided and `fmin` and `fmax` are one instruction; with no signed zeros, `x * 0` is 0 |
//! | `-cl-denorms-are-zero` | exponential functions of `float` return 0 for a denormal |
//! | `-cl-fast-relaxed-math` | all of them but the last |
//!
//! The options hold for whole programs. Decorations of single instructions (`FPFastMathMode`) allow
//! the same or less, and are not made use of. `half` and `double` keep their functions: the tables
//! of relaxed bounds are for `float`.
//!
//! One walk. Linear.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::smallvec;

use crate::ir::{BinOp, Builtin, FloatCC, Function, Inst, Op, Scalar, UnOp, Value, eval};
use crate::options::BuildOptions;

/// Applies what `options` allow. Returns whether anything changed.
pub fn run(func: &mut Function, options: &BuildOptions) -> bool {
    let allowed = Allowed::from(options);
    if allowed == Allowed::default() {
        return false;
    }
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let mut changed = false;
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        for at in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[at];
            match allowed.rule(func, inst) {
                Some(Rule::Op(op)) => func.insts[inst].op = op,
                Some(Rule::Unary(op, x)) => {
                    func.insts[inst].op = Op::Unary(op);
                    func.insts[inst].args = smallvec![x];
                }
                Some(Rule::Const(bits)) => {
                    func.insts[inst].op = Op::Const(bits);
                    func.insts[inst].args = smallvec![];
                }
                Some(Rule::Same(x)) => {
                    replace[func.insts[inst].results[0]] = x.into();
                }
                None => continue,
            }
            changed = true;
        }
    }
    func.replace_uses(&replace);
    changed
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Allowed {
    shorter_functions: bool,
    finite: bool,
    no_signed_zeros: bool,
    flush: bool,
}

/// What becomes of an instruction.
enum Rule {
    /// Another operation on the same operands.
    Op(Op),
    Unary(UnOp, Value),
    Const(u64),
    /// The result is this value.
    Same(Value),
}

impl Allowed {
    fn from(options: &BuildOptions) -> Allowed {
        let fast = options.fast_relaxed_math;
        let shorter_functions = options.unsafe_math || fast;
        Allowed {
            shorter_functions,
            finite: options.finite_math_only || fast,
            no_signed_zeros: options.no_signed_zeros || shorter_functions,
            flush: options.denorms_are_zero,
        }
    }

    fn rule(self, func: &Function, inst: Inst) -> Option<Rule> {
        let data = &func.insts[inst];
        let args = &data.args;
        match data.op {
            Op::Builtin(builtin) if func.ty(data.results[0]).scalar == Scalar::F32 => {
                let shorter = shorter(builtin).filter(|_| self.shorter_functions);
                let flushing = flushing(builtin).filter(|_| self.flush);
                Some(Rule::Op(Op::Builtin(shorter.or(flushing)?)))
            }
            Op::Binary(BinOp::FMin, _) if self.finite => {
                Some(Rule::Op(Op::Builtin(Builtin::FMinCommon)))
            }
            Op::Binary(BinOp::FMax, _) if self.finite => {
                Some(Rule::Op(Op::Builtin(Builtin::FMaxCommon)))
            }
            Op::Binary(op, _) if self.no_signed_zeros => self.with_zero(func, op, args),
            Op::FCmp(cc) if self.finite => finite_comparison(func, cc, args),
            _ => None,
        }
    }

    /// Sums with zero, and products where nothing is infinite.
    fn with_zero(self, func: &Function, op: BinOp, args: &[Value]) -> Option<Rule> {
        let zero = |n: usize| number(func, args[n]) == Some(0.0);
        match op {
            BinOp::FAdd if zero(1) => Some(Rule::Same(args[0])),
            BinOp::FAdd if zero(0) => Some(Rule::Same(args[1])),
            BinOp::FSub if zero(1) => Some(Rule::Same(args[0])),
            BinOp::FSub if zero(0) => Some(Rule::Unary(UnOp::FNeg, args[1])),
            BinOp::FMul if self.finite && (zero(0) || zero(1)) => Some(Rule::Const(0)),
            _ => None,
        }
    }
}

/// A comparison that only a NaN or an infinity decides otherwise.
fn finite_comparison(func: &Function, cc: FloatCC, args: &[Value]) -> Option<Rule> {
    let infinite = args
        .iter()
        .any(|&arg| number(func, arg).is_some_and(f64::is_infinite));
    let same = args[0] == args[1];
    let result = match cc {
        FloatCC::Ord => true,
        FloatCC::Uno => false,
        FloatCC::Oeq | FloatCC::Ueq if same => true,
        FloatCC::One | FloatCC::Une if same => false,
        FloatCC::Oeq | FloatCC::Ueq if infinite => false,
        FloatCC::One | FloatCC::Une if infinite => true,
        _ => return None,
    };
    Some(Rule::Const(u64::from(result)))
}

/// A floating-point constant.
fn number(func: &Function, value: Value) -> Option<f64> {
    let scalar = func.ty(value).scalar;
    let bits = func.as_const(value).filter(|_| scalar.is_float())?;
    Some(eval::to_f64(scalar, bits))
}

/// The function within the relaxed bounds that is shorter.
fn shorter(builtin: Builtin) -> Option<Builtin> {
    Some(match builtin {
        Builtin::Atan2 => Builtin::RelaxedAtan2,
        Builtin::Log => Builtin::NativeLog,
        Builtin::Log2 => Builtin::NativeLog2,
        Builtin::Log10 => Builtin::NativeLog10,
        Builtin::Pow => Builtin::RelaxedPow,
        Builtin::Pown => Builtin::RelaxedPown,
        Builtin::Powr => Builtin::NativePowr,
        Builtin::Rootn => Builtin::RelaxedRootn,
        _ => return flushing(builtin),
    })
}

/// The function that differs by results of zero instead of denormals.
fn flushing(builtin: Builtin) -> Option<Builtin> {
    Some(match builtin {
        Builtin::Exp => Builtin::NativeExp,
        Builtin::Exp2 => Builtin::NativeExp2,
        Builtin::Exp10 => Builtin::NativeExp10,
        _ => return None,
    })
}
