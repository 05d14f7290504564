//! Interned spellings, and those that stages know by name.

use rustc_hash::FxHashMap;

/// An interned string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

/// Strings, each once.
#[derive(Debug)]
pub struct Interner {
    map: FxHashMap<Box<str>, Symbol>,
    strings: Vec<Box<str>>,
}

impl Interner {
    /// An interner that has the predefined symbols.
    pub fn new() -> Interner {
        let mut interner = Interner {
            map: FxHashMap::default(),
            strings: Vec::new(),
        };
        for name in PREDEFINED {
            interner.intern(name);
        }
        interner
    }

    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.map.get(text) {
            return symbol;
        }
        let symbol = Symbol(self.strings.len() as u32);
        self.strings.push(text.into());
        self.map.insert(text.into(), symbol);
        symbol
    }

    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.map.get(text).copied()
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        &self.strings[symbol.0 as usize]
    }
}

impl Default for Interner {
    fn default() -> Self {
        Interner::new()
    }
}

macro_rules! predefined {
    ($($name:ident = $text:literal,)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Index { $($name,)* }

        const PREDEFINED: &[&str] = &[$($text,)*];

        /// The predefined symbols.
        pub mod sym {
            use super::{Index, Symbol};
            $(pub const $name: Symbol = Symbol(Index::$name as u32);)*
        }
    };
}

predefined! {
    EMPTY = "",
    // Keywords of C99 and C11 that OpenCL C has or reserves, and GNU spellings.
    AUTO = "auto",
    BREAK = "break",
    CASE = "case",
    CHAR = "char",
    CONST = "const",
    CONST_GNU = "__const",
    CONST_GNU2 = "__const__",
    CONTINUE = "continue",
    DEFAULT = "default",
    DO = "do",
    DOUBLE = "double",
    ELSE = "else",
    ENUM = "enum",
    EXTERN = "extern",
    FLOAT = "float",
    FOR = "for",
    GOTO = "goto",
    IF = "if",
    INLINE = "inline",
    INLINE_GNU = "__inline",
    INLINE_GNU2 = "__inline__",
    INT = "int",
    LONG = "long",
    REGISTER = "register",
    RESTRICT = "restrict",
    RESTRICT_GNU = "__restrict",
    RESTRICT_GNU2 = "__restrict__",
    RETURN = "return",
    SHORT = "short",
    SIGNED = "signed",
    SIGNED_GNU = "__signed",
    SIGNED_GNU2 = "__signed__",
    SIZEOF = "sizeof",
    STATIC = "static",
    STRUCT = "struct",
    SWITCH = "switch",
    TYPEDEF = "typedef",
    UNION = "union",
    UNSIGNED = "unsigned",
    VOID = "void",
    VOLATILE = "volatile",
    VOLATILE_GNU = "__volatile",
    VOLATILE_GNU2 = "__volatile__",
    WHILE = "while",
    BOOL_C99 = "_Bool",
    BOOL = "bool",
    COMPLEX = "_Complex",
    IMAGINARY = "_Imaginary",
    NORETURN = "_Noreturn",
    THREAD_LOCAL = "_Thread_local",
    THREAD = "__thread",
    ALIGNAS = "_Alignas",
    ALIGNOF = "_Alignof",
    ALIGNOF_GNU = "__alignof",
    ALIGNOF_GNU2 = "__alignof__",
    ATOMIC = "_Atomic",
    GENERIC_C11 = "_Generic",
    STATIC_ASSERT = "_Static_assert",
    TYPEOF = "typeof",
    TYPEOF_GNU = "__typeof",
    TYPEOF_GNU2 = "__typeof__",
    AUTO_TYPE = "__auto_type",
    EXTENSION_GNU = "__extension__",
    ASM = "asm",
    ASM_GNU = "__asm",
    ASM_GNU2 = "__asm__",
    ATTRIBUTE = "__attribute__",
    ATTRIBUTE_GNU = "__attribute",
    // Keywords of OpenCL C.
    KERNEL = "kernel",
    KERNEL_UU = "__kernel",
    GLOBAL = "global",
    GLOBAL_UU = "__global",
    LOCAL = "local",
    LOCAL_UU = "__local",
    CONSTANT = "constant",
    CONSTANT_UU = "__constant",
    PRIVATE = "private",
    PRIVATE_UU = "__private",
    GENERIC = "generic",
    GENERIC_UU = "__generic",
    READ_ONLY = "read_only",
    READ_ONLY_UU = "__read_only",
    WRITE_ONLY = "write_only",
    WRITE_ONLY_UU = "__write_only",
    READ_WRITE = "read_write",
    READ_WRITE_UU = "__read_write",
    PIPE = "pipe",
    HALF = "half",
    VEC_STEP = "vec_step",
    FUNC = "__func__",
    FUNCTION = "__FUNCTION__",
    PRETTY_FUNCTION = "__PRETTY_FUNCTION__",
    // Operators that look like calls but take types.
    BUILTIN_OFFSETOF = "__builtin_offsetof",
    BUILTIN_ASTYPE = "__builtin_astype",
    BUILTIN_CONVERTVECTOR = "__builtin_convertvector",
    BUILTIN_TYPES_COMPATIBLE = "__builtin_types_compatible_p",
    BUILTIN_CHOOSE_EXPR = "__builtin_choose_expr",
    BUILTIN_VA_ARG = "__builtin_va_arg",
}
