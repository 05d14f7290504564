//! Macros whose expansion depends on where they stand: `__LINE__` and kin, and GNU's questions
//! (`__has_builtin`).

use std::rc::Rc;

use super::expand::Outcome;
use super::{Macro, Preprocessor, Tok};
use crate::source::Pos;
use crate::token::{Expansion, ExpansionId, Token, TokenKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dynamic {
    Line,
    File,
    BaseFile,
    Counter,
    IncludeLevel,
    Date,
    Time,
    /// `__has_attribute(x)`
    HasAttribute,
    /// `__has_builtin(x)`
    HasBuiltin,
    /// `__has_feature(x)`, `__has_extension(x)`, `__has_warning("x")`, `__has_cpp_attribute(x)`:
    /// nothing of those.
    HasNothing,
}

const ALL: &[(&str, Dynamic)] = &[
    ("__LINE__", Dynamic::Line),
    ("__FILE__", Dynamic::File),
    ("__BASE_FILE__", Dynamic::BaseFile),
    ("__COUNTER__", Dynamic::Counter),
    ("__INCLUDE_LEVEL__", Dynamic::IncludeLevel),
    ("__DATE__", Dynamic::Date),
    ("__TIME__", Dynamic::Time),
    ("__TIMESTAMP__", Dynamic::Date),
    ("__has_attribute", Dynamic::HasAttribute),
    ("__has_builtin", Dynamic::HasBuiltin),
    ("__has_feature", Dynamic::HasNothing),
    ("__has_extension", Dynamic::HasNothing),
    ("__has_warning", Dynamic::HasNothing),
    ("__has_cpp_attribute", Dynamic::HasNothing),
];

/// Attributes that mean something here.
const ATTRIBUTES: &[&str] = &[
    "aligned",
    "always_inline",
    "const",
    "intel_reqd_sub_group_size",
    "noinline",
    "nosvm",
    "opencl_unroll_hint",
    "overloadable",
    "packed",
    "pure",
    "reqd_work_group_size",
    "unused",
    "vec_type_hint",
    "work_group_size_hint",
];

/// GNU's built-in functions and operators that sources may call.
const BUILTINS: &[&str] = &[
    "__builtin_astype",
    "__builtin_choose_expr",
    "__builtin_clz",
    "__builtin_convertvector",
    "__builtin_expect",
    "__builtin_offsetof",
    "__builtin_popcount",
    "__builtin_types_compatible_p",
];

impl Preprocessor<'_> {
    pub(super) fn predefine_dynamic(&mut self) {
        for &(name, dynamic) in ALL {
            let name = self.interner.intern(name);
            let definition = Macro {
                params: None,
                body: Rc::new([]),
                defined: Pos::NONE,
                disabled: false,
                dynamic: Some(dynamic),
                is_predefined: true,
            };
            self.macros.insert(name, definition);
        }
    }

    pub(super) fn expand_dynamic(&mut self, tok: Tok, dynamic: Dynamic) -> Outcome {
        let at = self.outermost(tok.token);
        let (kind, text) = match dynamic {
            Dynamic::Line => {
                let line = self.map.place(at).map_or(0, |place| place.line);
                (TokenKind::Number, line.to_string())
            }
            Dynamic::File => {
                let file = self.map.place(at).map(|place| place.file);
                (TokenKind::Str, quoted(&file.unwrap_or_default()))
            }
            Dynamic::BaseFile => (TokenKind::Str, quoted(self.input.name)),
            Dynamic::Counter => {
                self.counter += 1;
                (TokenKind::Number, (self.counter - 1).to_string())
            }
            Dynamic::IncludeLevel => {
                let level = self.depth.saturating_sub(1);
                (TokenKind::Number, level.to_string())
            }
            // The same source gives the same module at any time.
            Dynamic::Date => (TokenKind::Str, "\"Jan  1 1970\"".to_owned()),
            Dynamic::Time => (TokenKind::Str, "\"00:00:00\"".to_owned()),
            Dynamic::HasAttribute | Dynamic::HasBuiltin | Dynamic::HasNothing => {
                let yes = match self.operand(tok) {
                    None => false,
                    Some(name) => match dynamic {
                        Dynamic::HasAttribute => {
                            let plain = name.trim_start_matches("__").trim_end_matches("__");
                            ATTRIBUTES.contains(&plain)
                        }
                        Dynamic::HasBuiltin => BUILTINS.contains(&name.as_str()),
                        _ => false,
                    },
                };
                (TokenKind::Number, u32::from(yes).to_string())
            }
        };
        let id = ExpansionId(self.expansions.len() as u32);
        self.expansions.push(Expansion {
            name: tok.token.symbol,
            invoked: tok.token.pos,
            defined: Pos::NONE,
            parent: tok.token.expansion,
        });
        let made = Tok {
            token: Token {
                kind,
                symbol: self.interner.intern(&text),
                expansion: id,
                ..tok.token
            },
            painted: false,
        };
        self.push_tokens([made].into(), None);
        Outcome::Expanded
    }

    /// The operand in parentheses behind a question.
    fn operand(&mut self, tok: Tok) -> Option<String> {
        let open = self.unexpanded();
        if open.token.kind != TokenKind::LParen {
            let name = self.text(tok.token).to_owned();
            self.diags
                .error(tok.token.pos, format!("missing '(' after '{name}'"));
            return None;
        }
        let operand = self.unexpanded();
        let name = self.text(operand.token).to_owned();
        // `clang::name`, `"-Wname"`: to the end of the parentheses.
        loop {
            let next = self.unexpanded();
            match next.token.kind {
                TokenKind::RParen => return Some(name),
                TokenKind::Eof => return None,
                _ => {}
            }
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
