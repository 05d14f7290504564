//! Interned spellings, and those that stages know by name.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// An interned string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

/// Strings, each once.
///
/// The strings lie one behind the other in one text; a table of powers of two, at most half full,
/// finds a string's symbol. An identifier thus costs a hash, and a new one no allocation.
#[derive(Debug)]
pub struct Interner {
    text: String,
    /// Where each symbol's string ends in `text`; it begins where the one before ends.
    ends: Vec<u32>,
    /// Symbols plus one by hash; 0 is a free place.
    table: Vec<u32>,
}

impl Interner {
    /// An interner that has the predefined symbols.
    pub fn new() -> Interner {
        let mut interner = Interner {
            text: String::with_capacity(16 << 10),
            ends: Vec::with_capacity(1 << 10),
            table: vec![0; 4 << 10],
        };
        for name in PREDEFINED {
            interner.intern(name);
        }
        interner
    }

    pub fn intern(&mut self, text: &str) -> Symbol {
        let place = match self.find(text) {
            Ok(symbol) => return symbol,
            Err(place) => place,
        };
        let symbol = Symbol(self.ends.len() as u32);
        self.text.push_str(text);
        self.ends.push(self.text.len() as u32);
        self.table[place] = symbol.0 + 1;
        if self.ends.len() * 2 > self.table.len() {
            self.grow();
        }
        symbol
    }

    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.find(text).ok()
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        let index = symbol.0 as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[index] as usize]
    }

    /// How many symbols there are: each is below this.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all strings together.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The symbol of a string, or the place in the table where it belongs.
    fn find(&self, text: &str) -> Result<Symbol, usize> {
        let mask = self.table.len() - 1;
        let mut place = hash(text) as usize & mask;
        loop {
            match self.table[place] {
                0 => return Err(place),
                entry if self.text(Symbol(entry - 1)) == text => return Ok(Symbol(entry - 1)),
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        self.table.clear();
        self.table.resize(size, 0);
        for index in 0..self.ends.len() as u32 {
            let mut place = hash(self.text(Symbol(index))) as usize & (size - 1);
            while self.table[place] != 0 {
                place = (place + 1) & (size - 1);
            }
            self.table[place] = index + 1;
        }
    }
}

impl Default for Interner {
    fn default() -> Self {
        Interner::new()
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
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
    EXT_VECTOR_TYPE = "ext_vector_type",
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
    // Words of the preprocessor: directives, and names that mean something in macros and
    // conditions.
    DEFINE = "define",
    UNDEF = "undef",
    INCLUDE = "include",
    INCLUDE_NEXT = "include_next",
    IMPORT = "import",
    IFDEF = "ifdef",
    IFNDEF = "ifndef",
    ELIF = "elif",
    ELIFDEF = "elifdef",
    ELIFNDEF = "elifndef",
    ENDIF = "endif",
    LINE = "line",
    ERROR = "error",
    WARNING = "warning",
    PRAGMA = "pragma",
    IDENT = "ident",
    SCCS = "sccs",
    ASSERT = "assert",
    UNASSERT = "unassert",
    DEFINED = "defined",
    VA_ARGS = "__VA_ARGS__",
    VA_OPT = "__VA_OPT__",
    PRAGMA_OPERATOR = "_Pragma",
    TRUE = "true",
    FALSE = "false",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_has_one_symbol_however_many_there_are() {
        let mut interner = Interner::new();
        assert_eq!(interner.intern("while"), sym::WHILE);
        let name = |n: u32| format!("name{n}");
        let all: Vec<Symbol> = (0..20_000).map(|n| interner.intern(&name(n))).collect();
        for (n, &symbol) in all.iter().enumerate() {
            assert_eq!(interner.text(symbol), name(n as u32));
            assert_eq!(interner.intern(&name(n as u32)), symbol);
        }
        assert_eq!(interner.get("absent"), None);
        assert_eq!(interner.text(sym::EMPTY), "");
    }
}
