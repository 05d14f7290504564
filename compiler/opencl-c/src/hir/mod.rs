//! The typed tree: what the program means, every name looked up, every conversion written out.
//!
//! It is small on purpose. There are no lvalues: an object is reached by an expression that is its
//! address ([`ExprKind::Local`], [`ExprKind::FieldAddr`], ...), read by [`ExprKind::Load`] and
//! written by [`ExprKind::Store`]. Compound assignment, `++` and the like are spelled out with
//! [`ExprKind::Bind`] and [`ExprKind::Temp`], which give a value a number so that it is computed
//! once. Operands of an operator have exactly the types that SPIR-V's instruction wants;
//! comparisons yield [`crate::types::Type::Truth`], which a conversion turns into C's `int`.
//!
//! `sema` makes it, `print.rs` writes it down.

pub mod print;

use crate::builtins;
use crate::symbol::Symbol;
use crate::token::{InForce, Loc, RoundingMode, Unroll};
use crate::types::{Space, TypeId, Types};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);)*
    };
}

ids! {
    FunctionId,
    GlobalId,
    /// A variable of a function, parameters first.
    LocalId,
    /// A value that [`ExprKind::Bind`] names.
    TempId,
    LabelId,
    /// An expression of one function.
    ExprId,
}

/// A checked translation unit.
#[derive(Debug, Default)]
pub struct Module {
    pub types: Types,
    /// Functions that are defined, or declared and used.
    pub functions: Vec<Function>,
    pub globals: Vec<Global>,
    /// How operations on floating-point numbers round, where the source says.
    pub roundings: InForce<RoundingMode>,
    /// Whether expressions may be contracted; they may be where the source does not say.
    pub contractions: InForce<bool>,
}

/// A variable with static storage: of program scope, `static`, `constant` or `local` in a function,
/// a string literal.
#[derive(Debug)]
pub struct Global {
    /// As the source names it; several may have one name (those of functions).
    pub name: Symbol,
    pub ty: TypeId,
    pub space: Space,
    pub is_const: bool,
    pub is_volatile: bool,
    pub align: u64,
    /// `None`: zero, where the space allows an initial value; undefined in `local` memory.
    pub init: Option<Constant>,
    pub linkage: Linkage,
    pub loc: Loc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Of this module only.
    Internal,
    /// Defined here, others may link to it.
    Export,
    /// Defined in another module.
    Import,
    /// Defined here and perhaps the same elsewhere (`inline`, weak).
    LinkOnce,
}

/// A constant initialiser, bit-exact, of a known type.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// All bytes zero, null pointers, of any type.
    Zero,
    /// An integer (sign- or zero-extended to 64 bits) or a Boolean.
    Int(u64),
    /// The bits of a `half`, `float` or `double`.
    Float(u64),
    /// Components, elements or fields, in order; a union has its initialised member alone, by its
    /// field number.
    Aggregate(Vec<Constant>),
    Union {
        field: u32,
        value: Box<Constant>,
    },
    /// The address of a variable plus bytes.
    Address {
        global: GlobalId,
        offset: i64,
    },
    /// `CLK_...` bits of a sampler.
    Sampler(u32),
    /// An integer as a pointer.
    Pointer(u64),
    /// A block without captures: its function looks at no record, so any pointer (a null one) is
    /// its value.
    Block(FunctionId),
}

#[derive(Debug)]
pub struct Function {
    pub name: Symbol,
    pub result: TypeId,
    /// The first `params` locals are the parameters.
    pub params: u32,
    pub locals: Vec<Local>,
    pub exprs: Vec<Expr>,
    pub temps: u32,
    pub labels: u32,
    pub body: Option<Vec<Stmt>>,
    pub linkage: Linkage,
    pub inline: Inline,
    /// No side effects (`pure`), nor reads (`const`).
    pub is_pure: bool,
    pub is_const: bool,
    pub kernel: Option<Kernel>,
    /// The function of a block: the record of what it captures. The first parameter, a generic
    /// pointer to `char`, is the address of one, wherever the function is called from; the
    /// parameters of the block follow. A block that captures nothing has a record of size 0.
    pub block: Option<TypeId>,
    pub loc: Loc,
}

/// Statements nest as deeply as a chain of `else if` is long: they are dropped without recursion.
impl Drop for Function {
    fn drop(&mut self) {
        let mut left = self.body.take().unwrap_or_default();
        for expr in &mut self.exprs {
            if let ExprKind::Statements(statements, _) = &mut expr.kind {
                left.append(statements);
            }
        }
        while let Some(statement) = left.pop() {
            match statement.kind {
                StmtKind::Block(body)
                | StmtKind::Loop { body, .. }
                | StmtKind::Switch { body, .. } => left.extend(body),
                StmtKind::If {
                    then, otherwise, ..
                } => {
                    left.extend(then);
                    left.extend(otherwise);
                }
                _ => {}
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inline {
    Default,
    Always,
    Never,
}

/// What a kernel has besides a function.
#[derive(Debug, Default)]
pub struct Kernel {
    pub reqd_work_group_size: Option<[u32; 3]>,
    pub work_group_size_hint: Option<[u32; 3]>,
    /// The type, for `clGetKernelWorkGroupInfo`'s attributes string.
    pub vec_type_hint: Option<TypeId>,
    /// `intel_reqd_sub_group_size`
    pub reqd_sub_group_size: Option<u32>,
    /// `-cl-uniform-work-group-size` is the module's business; this is the attribute
    /// `uniform_work_group_size`.
    pub uniform_work_group_size: bool,
    pub args: Vec<KernelArg>,
}

/// An argument as `clGetKernelArgInfo` tells it.
#[derive(Debug)]
pub struct KernelArg {
    /// As in the source, `typedef` names kept: `float4*`.
    pub type_name: String,
    /// `const`, `restrict`, `volatile`, `pipe`, separated by spaces.
    pub qualifiers: String,
}

/// A variable of automatic storage.
#[derive(Debug)]
pub struct Local {
    pub name: Symbol,
    pub ty: TypeId,
    pub align: u64,
    pub is_volatile: bool,
    /// Something may change it or have its address after its initialisation.
    pub is_mutable: bool,
    /// Parameters: a pointer declared `restrict`, `const`, `volatile`.
    pub is_restrict: bool,
    pub is_const: bool,
    pub loc: Loc,
}

#[derive(Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub loc: Loc,
}

#[derive(Debug)]
pub enum StmtKind {
    /// For its effects.
    Expr(ExprId),
    /// The variable's life begins (again, in a loop); its initialiser follows as a store.
    Declare(LocalId),
    Block(Vec<Stmt>),
    If {
        condition: ExprId,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// `while` and `for`: `condition` is looked at before each iteration (`None`: true), `step`
    /// evaluated after it.
    Loop {
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: Vec<Stmt>,
        /// `do`: the first iteration does not look at `condition`.
        test_last: bool,
        unroll: Option<Unroll>,
    },
    /// Goes to the label of the case that has the value (an integer of `value`'s type), to
    /// `default`, or behind the statement.
    Switch {
        value: ExprId,
        cases: Vec<Case>,
        default: Option<LabelId>,
        body: Vec<Stmt>,
    },
    /// A place that `Goto` and `Switch` lead to.
    Label(LabelId),
    Goto(LabelId),
    /// Out of the innermost loop or switch.
    Break,
    /// To the step of the innermost loop.
    Continue,
    Return(Option<ExprId>),
}

/// `low ..= high`, compared as the switch value's type says.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub low: u64,
    pub high: u64,
    pub label: LabelId,
}

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: TypeId,
    pub loc: Loc,
}

#[derive(Debug)]
pub enum ExprKind {
    /// A constant of `ty`.
    Constant(Constant),
    /// Any value of `ty`.
    Undefined,
    /// The address of a variable: `ty` is a pointer to it.
    Local(LocalId),
    Global(GlobalId),
    Temp(TempId),
    /// Evaluates the value and names it; `void`.
    Bind(TempId, ExprId),
    /// Evaluates all but the last for their effects; the last is the value.
    Sequence(Vec<ExprId>),
    /// Statements, then the value (GNU's statement expression).
    Statements(Vec<Stmt>, Option<ExprId>),
    /// What the pointer points to. The type's alignment, unless the pointer says less.
    Load {
        pointer: ExprId,
        access: Access,
    },
    /// `void`
    Store {
        pointer: ExprId,
        value: ExprId,
        access: Access,
    },
    /// Copies an object of `size` bytes (an array's initialiser from a constant): `void`.
    Copy {
        to: ExprId,
        from: ExprId,
        size: u64,
        align: u64,
    },
    /// Pointer to a field, of a pointer to a record.
    FieldAddr(ExprId, u32),
    /// Pointer to an element, of a pointer to an array and an index (`long`).
    ElementAddr(ExprId, ExprId),
    /// Pointer to a component, of a pointer to a vector and a number.
    ComponentAddr(ExprId, u8),
    /// `pointer + index` in elements (index is `long`).
    PtrAdd(ExprId, ExprId),
    /// `(a - b) / size`, `long`
    PtrDiff(ExprId, ExprId),
    /// A field of a record's value.
    Field(ExprId, u32),
    /// A record's value of its fields' values.
    MakeRecord(Vec<ExprId>),
    /// A vector of scalars and shorter vectors, which together have its number of lanes.
    MakeVector(Vec<ExprId>),
    /// The same scalar in every lane.
    Splat(ExprId),
    /// Components of one or two vectors; `None` is undefined. The result is a scalar if there is
    /// one.
    Shuffle(ExprId, Option<ExprId>, Vec<Option<u8>>),
    /// A component chosen at run time (of a vector value).
    Extract(ExprId, ExprId),
    /// The vector with a component, chosen at run time, replaced.
    Insert(ExprId, ExprId, ExprId),
    /// `-x`, `~x`
    Unary(UnaryOp, ExprId),
    /// Both operands of type `ty`, except the right one of shifts, which has the same number of
    /// bits.
    Binary(BinaryOp, ExprId, ExprId),
    /// Operands of one type; yields `Truth`.
    Compare(Comparison, ExprId, ExprId),
    /// `!` of a `Truth`.
    Negate(ExprId),
    /// Short-circuit, of `Truth`s.
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    /// By a scalar `Truth`; one of the two is evaluated.
    Conditional(ExprId, ExprId, ExprId),
    /// By a vector of `Truth`, lane by lane; all are evaluated.
    Select(ExprId, ExprId, ExprId),
    Convert(Conversion, ExprId),
    Call(FunctionId, Vec<ExprId>),
    /// A built-in function that the table has.
    Builtin(Box<builtins::Call>, Vec<ExprId>),
    /// A block with what it captures, a record of type `record` (the function's
    /// [`Function::block`]) whose address is the value, as a generic pointer to `char`. The record
    /// lives as long as a variable of the scope around; `captures` are the values of its fields. A
    /// block without captures is a [`Constant::Block`].
    ///
    /// What enqueues a block names its function, and the size and alignment of the record, in
    /// [`builtins::Call::blocks`].
    Block {
        function: FunctionId,
        record: TypeId,
        captures: Vec<ExprId>,
    },
    /// Calls a block, which is known when it is compiled (OpenCL C Specification, "Blocks"): its
    /// function gets the block, then the arguments.
    CallBlock {
        function: FunctionId,
        block: ExprId,
        args: Vec<ExprId>,
    },
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub is_volatile: bool,
    pub nontemporal: bool,
    /// Bytes.
    pub align: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Of integers or floating-point numbers, as the type says.
    Negate,
    BitNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    /// Only the low bits of the amount count ("modulo the number of bits").
    Shl,
    Shr,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// From the operand's type to the expression's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Conversion {
    /// Between arithmetic types of as many lanes. To `Bool`: not equal to zero. `saturate` for
    /// `convert_..._sat`.
    Arithmetic {
        rounding: Option<RoundingMode>,
        saturate: bool,
    },
    /// `Truth` to an integer: 1 (scalar) or -1 (vector) for true. To `Bool`: 1.
    FromTruth,
    /// Not equal to zero, or not null.
    ToTruth,
    /// `as_type`: the same bits (3-component vectors as of four with one undefined).
    Bits,
    /// Between pointers of one space.
    Pointer,
    /// Between address spaces (to or from generic).
    Space,
    PointerToInt,
    IntToPointer,
    /// An integer constant to a sampler, or a null to an event or queue.
    Opaque,
}

impl Function {
    /// A function of this module without parameters, which is not defined yet.
    pub fn new(name: Symbol, result: TypeId) -> Function {
        Function {
            name,
            result,
            params: 0,
            locals: Vec::new(),
            exprs: Vec::new(),
            temps: 0,
            labels: 0,
            body: None,
            linkage: Linkage::Internal,
            inline: Inline::Default,
            is_pure: false,
            is_const: false,
            kernel: None,
            block: None,
            loc: Loc::default(),
        }
    }

    pub fn add(&mut self, kind: ExprKind, ty: TypeId, loc: Loc) -> ExprId {
        let id = ExprId(self.exprs.len() as u32);
        self.exprs.push(Expr { kind, ty, loc });
        id
    }
}

impl std::ops::Index<ExprId> for Function {
    type Output = Expr;

    fn index(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }
}
