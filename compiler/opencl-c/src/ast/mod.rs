//! The syntax tree: what the source says, names not yet looked up.
//!
//! Nodes live in the arenas of [`Ast`] and refer to each other by number, so a tree of any depth is
//! built, moved and dropped without recursion. The parser makes it, `sema` reads it; `print.rs`
//! writes it down for tests.
//!
//! Open [`Ast`] first, then [`ExprKind`], [`StmtKind`] and [`Declaration`].

pub mod print;

use crate::symbol::Symbol;
use crate::token::{Loc, Pragma, Span};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);)*
    };
}

ids! {
    ExprId,
    StmtId,
    DeclId,
    TypeNameId,
    SpecId,
    InitId,
    RecordId,
    EnumId,
    BlockId,
    NumberId,
    StringId,
}

/// Expressions one behind the other in [`Ast::lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExprList {
    start: u32,
    len: u32,
}

/// A translation unit.
#[derive(Debug, Default)]
pub struct Ast {
    pub items: Vec<Item>,
    pub exprs: Vec<Expr>,
    pub stmts: Vec<Stmt>,
    pub decls: Vec<Declaration>,
    pub type_names: Vec<TypeName>,
    pub specs: Vec<DeclSpecs>,
    pub inits: Vec<Init>,
    pub records: Vec<RecordSpec>,
    pub enums: Vec<EnumSpec>,
    pub blocks: Vec<BlockLiteral>,
    pub numbers: Vec<Number>,
    pub strings: Vec<Box<[u8]>>,
    /// Arguments of calls and elements of literals.
    pub lists: Vec<ExprId>,
}

/// What stands outside functions.
#[derive(Debug)]
pub enum Item {
    /// Declarations that share one list of specifiers; empty for a lone `struct s {...};`, whose
    /// specifiers still count.
    Declarations {
        specs: SpecId,
        decls: Vec<DeclId>,
    },
    Function {
        decl: DeclId,
        body: StmtId,
    },
    StaticAssert(StaticAssert),
    Pragma(Pragma, Loc),
}

#[derive(Clone, Copy, Debug)]
pub struct StaticAssert {
    pub condition: ExprId,
    pub message: Option<ExprId>,
    pub loc: Loc,
}

/// One declarator with what it is initialised by.
#[derive(Debug)]
pub struct Declaration {
    pub specs: SpecId,
    pub declarator: Declarator,
    pub init: Option<InitId>,
}

/// Declaration specifiers.
#[derive(Debug)]
pub struct DeclSpecs {
    pub storage: Vec<(Storage, Loc)>,
    pub inline: Option<Loc>,
    pub noreturn: Option<Loc>,
    /// `kernel`
    pub kernel: Option<Loc>,
    pub quals: Quals,
    pub ty: TypeSpec,
    pub alignas: Vec<AlignAs>,
    pub attributes: Vec<Attribute>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum AlignAs {
    Type(TypeNameId),
    Expr(ExprId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    Typedef,
    Extern,
    Static,
    Auto,
    Register,
}

/// Type qualifiers, an address space and an access qualifier, each with where it stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quals {
    pub is_const: Option<Loc>,
    pub is_volatile: Option<Loc>,
    pub is_restrict: Option<Loc>,
    pub space: Option<(Space, Loc)>,
    /// A second address space: an error for sema to tell.
    pub second_space: Option<(Space, Loc)>,
    pub access: Option<(Access, Loc)>,
    /// Another access qualifier: an error for sema to tell.
    pub second_access: Option<(Access, Loc)>,
}

/// An address space as the source names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    Private,
    Global,
    Local,
    Constant,
    Generic,
}

/// How a kernel may access an image or a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

/// What type the specifiers name.
#[derive(Clone, Copy, Debug)]
pub enum TypeSpec {
    /// None was given: implicit `int`, an error.
    Missing,
    /// Keywords of arithmetic types, in any order.
    Arithmetic(Arithmetic),
    Void,
    Bool,
    /// A name in scope as a type: a `typedef`, or one of OpenCL C's (`float4`, `size_t`,
    /// `image2d_t`, `event_t`).
    Named(Symbol, Loc),
    Record(RecordId),
    Enum(EnumId),
    TypeofExpr(ExprId),
    TypeofType(TypeNameId),
    /// `pipe T`: the element.
    Pipe(TypeNameId),
    /// `__auto_type`
    Auto,
    /// `_Atomic(T)`
    Atomic(TypeNameId),
}

/// How often each keyword was given: sema checks the combination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    pub char: u8,
    pub short: u8,
    pub int: u8,
    pub long: u8,
    pub signed: u8,
    pub unsigned: u8,
    pub float: u8,
    pub double: u8,
    pub half: u8,
    pub complex: u8,
}

/// `struct` or `union`: a definition, a declaration or a use.
#[derive(Debug)]
pub struct RecordSpec {
    pub is_union: bool,
    pub tag: Option<(Symbol, Loc)>,
    /// `None`: no `{...}`.
    pub members: Option<Vec<Member>>,
    /// Before the tag and behind the brace.
    pub attributes: Vec<Attribute>,
    /// `#pragma pack` in force.
    pub pack: Option<u32>,
    pub span: Span,
}

#[derive(Debug)]
pub enum Member {
    /// Members that share specifiers; none for an anonymous `struct` or `union`.
    Fields {
        specs: SpecId,
        fields: Vec<Field>,
    },
    StaticAssert(StaticAssert),
}

#[derive(Debug)]
pub struct Field {
    pub declarator: Declarator,
    pub bits: Option<ExprId>,
}

#[derive(Debug)]
pub struct EnumSpec {
    pub tag: Option<(Symbol, Loc)>,
    pub enumerators: Option<Vec<Enumerator>>,
    pub attributes: Vec<Attribute>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Enumerator {
    pub name: Symbol,
    pub loc: Loc,
    pub value: Option<ExprId>,
}

/// A declarator, taken apart: `chunks[0]` stands next to the name. `int *a[3]` has an array, then a
/// pointer.
#[derive(Debug, Default)]
pub struct Declarator {
    pub name: Option<(Symbol, Loc)>,
    pub chunks: Vec<Chunk>,
    pub attributes: Vec<Attribute>,
    pub span: Span,
}

#[derive(Debug)]
pub enum Chunk {
    Pointer {
        quals: Quals,
        attributes: Vec<Attribute>,
        loc: Loc,
    },
    /// `^`: a pointer to a block.
    Block { quals: Quals, loc: Loc },
    Array {
        size: ArraySize,
        /// Qualifiers inside the brackets of a parameter.
        quals: Quals,
        loc: Loc,
    },
    Function {
        params: Vec<Param>,
        variadic: bool,
        /// `()`, which says nothing of the parameters.
        unspecified: bool,
        loc: Loc,
    },
}

#[derive(Clone, Copy, Debug)]
pub enum ArraySize {
    Unspecified,
    Star,
    Expr(ExprId),
}

#[derive(Debug)]
pub struct Param {
    pub specs: SpecId,
    pub declarator: Declarator,
}

/// A type written without a name: in casts, `sizeof`.
#[derive(Debug)]
pub struct TypeName {
    pub specs: SpecId,
    pub declarator: Declarator,
    pub span: Span,
}

/// One attribute of `__attribute__((...))`; `__name__` is `name` already.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: Symbol,
    pub args: Vec<AttributeArg>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum AttributeArg {
    Expr(ExprId),
    /// `vec_type_hint(float4)`
    Type(TypeNameId),
}

#[derive(Debug)]
pub struct Init {
    pub kind: InitKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum InitKind {
    Expr(ExprId),
    List(Vec<InitItem>),
}

#[derive(Debug)]
pub struct InitItem {
    pub designators: Vec<Designator>,
    pub init: InitId,
}

#[derive(Clone, Copy, Debug)]
pub enum Designator {
    Field(Symbol, Loc),
    Index(ExprId),
    /// GNU: `[a ... b]`.
    Range(ExprId, ExprId),
}

/// There is one for nearly each token: it is kept small, with numbers and lists in arenas of their
/// own.
#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
    /// The operator's place; the first token's where there is none.
    pub loc: Loc,
}

const _: () = assert!(size_of::<Expr>() <= 32);

#[derive(Debug)]
pub enum ExprKind {
    Name(Symbol),
    Number(NumberId),
    /// A character constant's value (`int`).
    Char(i32),
    /// `true` or `false`.
    Bool(bool),
    /// Adjacent string literals joined, without the final zero.
    Str(StringId),
    /// `__func__` and kin.
    FunctionName,
    Paren(ExprId),
    Unary(UnaryOp, ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    /// `=` or, with an operator, `op=`.
    Assign(Option<BinaryOp>, ExprId, ExprId),
    Conditional(ExprId, ExprId, ExprId),
    /// GNU's `a ?: b`.
    BinaryConditional(ExprId, ExprId),
    Comma(ExprId, ExprId),
    Cast(TypeNameId, ExprId),
    /// `(T)(a, b, ...)` with at least two elements: a vector literal, or a cast of a comma
    /// expression.
    CastList(TypeNameId, ExprList),
    /// `(T){...}`: a compound literal, or a vector's value.
    Compound(TypeNameId, InitId),
    Call(ExprId, ExprList),
    Index(ExprId, ExprId),
    Member {
        base: ExprId,
        name: Symbol,
        name_loc: Loc,
        arrow: bool,
    },
    SizeofExpr(ExprId),
    SizeofType(TypeNameId),
    AlignofExpr(ExprId),
    AlignofType(TypeNameId),
    VecStepExpr(ExprId),
    VecStepType(TypeNameId),
    /// `({ ... })`
    Statement(StmtId),
    Generic(Box<GenericSelection>),
    Offsetof(Box<Offsetof>),
    /// `__builtin_astype(e, T)`
    AsType(ExprId, TypeNameId),
    ConvertVector(ExprId, TypeNameId),
    TypesCompatible(TypeNameId, TypeNameId),
    ChooseExpr(ExprId, ExprId, ExprId),
    BlockLiteral(BlockId),
    /// What could not be parsed; an error was told.
    Error,
}

/// `_Generic(selector, type: value, ...)`
#[derive(Debug)]
pub struct GenericSelection {
    pub selector: ExprId,
    /// `None` is `default`.
    pub cases: Vec<(Option<TypeNameId>, ExprId)>,
}

/// `offsetof(type, path)`
#[derive(Debug)]
pub struct Offsetof {
    pub ty: TypeNameId,
    pub path: Vec<Designator>,
}

/// `^ (params) {...}` or `^ {...}`.
#[derive(Debug)]
pub struct BlockLiteral {
    /// Specifiers and declarator as of a type name: the result (if given) and parameters.
    pub signature: Option<TypeNameId>,
    pub body: StmtId,
    pub loc: Loc,
}

/// A constant, parsed to its bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int {
        value: u64,
        unsigned: bool,
        /// `l` 1, `ll` 2.
        longs: u8,
        decimal: bool,
    },
    /// A floating constant, rounded to nearest once from its digits to each format it may take.
    Float {
        value: f64,
        /// The digits rounded to single precision directly.
        single: f32,
        /// The digits rounded to half precision directly, as bits.
        half: u16,
        suffix: FloatSuffix,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatSuffix {
    None,
    F,
    H,
    L,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    BitNot,
    Deref,
    AddressOf,
    PreInc,
    PreDec,
    PostInc,
    PostDec,
    /// GNU `__real__`, `__imag__` are refused by the parser; `__extension__` leaves no trace.
    Extension,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
    LogicalAnd,
    LogicalOr,
}

#[derive(Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Debug)]
pub enum StmtKind {
    Empty,
    Expr(ExprId),
    /// Declarations that share one list of specifiers (empty: a lone tag).
    Decl {
        specs: SpecId,
        decls: Vec<DeclId>,
    },
    StaticAssert(StaticAssert),
    Block(Vec<StmtId>),
    If {
        condition: ExprId,
        then: StmtId,
        otherwise: Option<StmtId>,
    },
    While {
        condition: ExprId,
        body: StmtId,
        hints: LoopHints,
    },
    DoWhile {
        body: StmtId,
        condition: ExprId,
        hints: LoopHints,
    },
    For {
        /// A declaration, an expression or nothing.
        init: Option<StmtId>,
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: StmtId,
        hints: LoopHints,
    },
    Switch {
        value: ExprId,
        body: StmtId,
    },
    Case {
        low: ExprId,
        /// GNU: `case a ... b`.
        high: Option<ExprId>,
        body: StmtId,
    },
    Default {
        body: StmtId,
    },
    Break,
    Continue,
    Return(Option<ExprId>),
    Goto(Symbol, Loc),
    Label {
        name: Symbol,
        attributes: Vec<Attribute>,
        body: StmtId,
    },
    /// `FP_CONTRACT`, `SELECT_ROUNDING_MODE`, `EXTENSION`: in force to the end of the enclosing
    /// block.
    Pragma(Pragma),
}

/// What the source says of unrolling: `opencl_unroll_hint`, `#pragma unroll`, and other attributes
/// of the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopHints {
    pub unroll: Option<crate::token::Unroll>,
    /// `__attribute__((opencl_unroll_hint(e)))`, whose value sema computes.
    pub unroll_count: Option<ExprId>,
}

impl Ast {
    /// A tree of about so many tokens. Growing by copies would cost more than anything that is done
    /// to an expression; memory that is not touched costs nothing.
    pub fn for_tokens(tokens: usize) -> Ast {
        Ast {
            exprs: Vec::with_capacity(tokens * 2 / 3),
            stmts: Vec::with_capacity(tokens / 16),
            decls: Vec::with_capacity(tokens / 12),
            specs: Vec::with_capacity(tokens / 10),
            numbers: Vec::with_capacity(tokens / 10),
            lists: Vec::with_capacity(tokens / 16),
            ..Ast::default()
        }
    }

    pub fn add_list(&mut self, list: &[ExprId]) -> ExprList {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(list);
        let len = list.len() as u32;
        ExprList { start, len }
    }
}

impl std::ops::Index<ExprList> for Ast {
    type Output = [ExprId];

    fn index(&self, list: ExprList) -> &[ExprId] {
        &self.lists[list.start as usize..][..list.len as usize]
    }
}

macro_rules! arenas {
    ($($id:ident, $field:ident, $node:ty, $add:ident;)*) => {
        $(impl std::ops::Index<$id> for Ast {
            type Output = $node;

            fn index(&self, id: $id) -> &$node {
                &self.$field[id.0 as usize]
            }
        })*

        impl Ast {
            $(pub fn $add(&mut self, node: $node) -> $id {
                let id = $id(self.$field.len() as u32);
                self.$field.push(node);
                id
            })*
        }
    };
}

arenas! {
    ExprId, exprs, Expr, add_expr;
    StmtId, stmts, Stmt, add_stmt;
    DeclId, decls, Declaration, add_decl;
    TypeNameId, type_names, TypeName, add_type_name;
    SpecId, specs, DeclSpecs, add_specs;
    InitId, inits, Init, add_init;
    RecordId, records, RecordSpec, add_record;
    EnumId, enums, EnumSpec, add_enum;
    BlockId, blocks, BlockLiteral, add_block;
    NumberId, numbers, Number, add_number;
    StringId, strings, Box<[u8]>, add_string;
}
