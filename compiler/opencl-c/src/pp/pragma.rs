//! `#pragma` and `_Pragma`. Those that later stages act on become tokens.

use super::expand::Outcome;
use super::{Preprocessor, Tok};
use crate::lex::Lexer;
use crate::source::Pos;
use crate::symbol::Symbol;
use crate::token::{ExpansionId, Pragma, RoundingMode, Token, TokenKind, Unroll};

impl Preprocessor<'_> {
    pub(super) fn pragma(&mut self, at: Pos) {
        let rest = self.rest_of_line();
        if let Some(pragma) = self.parse_pragma(&rest, at) {
            let tok = self.pragma_token(pragma, at);
            self.push_tokens([tok].into(), None);
            // The directive's line is at its end; the token comes before the next line's.
        }
    }

    fn pragma_token(&mut self, pragma: Pragma, at: Pos) -> Tok {
        self.pragmas.push(pragma);
        Tok {
            token: Token {
                kind: TokenKind::Pragma,
                space_before: false,
                line_start: true,
                symbol: Symbol(self.pragmas.len() as u32 - 1),
                pos: at,
                len: 1,
                expansion: ExpansionId::NONE,
            },
            painted: false,
        }
    }

    /// `_Pragma("...")`, C99 6.10.9.
    pub(super) fn pragma_operator(&mut self, name: Tok) -> Outcome {
        let at = self.outermost(name.token);
        let open = self.unexpanded();
        let string = self.unexpanded();
        let close = self.unexpanded();
        let kinds = [open, string, close].map(|tok| tok.token.kind);
        if kinds != [TokenKind::LParen, TokenKind::Str, TokenKind::RParen] {
            self.diags
                .error(at, "_Pragma takes a parenthesized string literal");
            return Outcome::Expanded;
        }
        let text = self.text(string.token).to_owned();
        let text = text.trim_start_matches('L');
        let text = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
            .unwrap_or_default();
        let text = text.replace("\\\"", "\"").replace("\\\\", "\\");
        let mut lexer = Lexer::new(text.as_bytes().into());
        let mut tokens = Vec::new();
        loop {
            let raw = lexer.token();
            if raw.kind == TokenKind::Eof {
                break;
            }
            let spelled = String::from_utf8_lossy(&lexer.spelling(raw)).into_owned();
            tokens.push(Tok {
                token: Token {
                    kind: raw.kind,
                    symbol: self.interner.intern(&spelled),
                    ..string.token
                },
                painted: false,
            });
        }
        if let Some(pragma) = self.parse_pragma(&tokens, at) {
            let tok = self.pragma_token(pragma, at);
            self.push_tokens([tok].into(), None);
        }
        Outcome::Expanded
    }

    /// What a pragma means; `None` if nothing, to later stages.
    fn parse_pragma(&mut self, tokens: &[Tok], at: Pos) -> Option<Pragma> {
        let words: Vec<String> = tokens
            .iter()
            .map(|tok| self.text(tok.token).to_owned())
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["once"] => {
                self.pragma_once();
                None
            }
            ["OPENCL", "EXTENSION", rest @ ..] => self.extension_pragma(rest, at),
            ["OPENCL" | "STDC", "FP_CONTRACT", setting] => {
                let setting = match *setting {
                    "ON" => Some(true),
                    "OFF" => Some(false),
                    "DEFAULT" => None,
                    _ => {
                        self.ignored(at, "expected 'ON' or 'OFF' or 'DEFAULT' in pragma");
                        return None;
                    }
                };
                Some(Pragma::FpContract(setting))
            }
            ["OPENCL", "SELECT_ROUNDING_MODE", mode] => self.rounding_pragma(mode, at),
            ["unroll" | "nounroll" | "GCC" | "clang", ..] => self.unroll_pragma(tokens, at),
            ["pack", rest @ ..] => self.pack_pragma(rest, at),
            ["message", ..] | ["STDC", ..] | ["region" | "endregion" | "mark", ..] => None,
            [] => None,
            _ => {
                self.diags
                    .warning("unknown-pragmas", at, "unknown pragma ignored");
                None
            }
        }
    }

    fn ignored(&mut self, at: Pos, why: &str) {
        self.diags
            .warning("ignored-pragmas", at, format!("{why} - ignored"));
    }

    /// `name : behavior`. OpenCL Extension Specification, "Compiler Directives for Optional
    /// Extensions".
    fn extension_pragma(&mut self, rest: &[&str], at: Pos) -> Option<Pragma> {
        let [name, ":", behavior] = rest else {
            self.ignored(
                at,
                "expected name and behavior in '#pragma OPENCL EXTENSION'",
            );
            return None;
        };
        let enable = match *behavior {
            "enable" | "require" | "warn" => true,
            "disable" => false,
            "begin" | "end" => return None,
            _ => {
                self.ignored(at, "expected 'enable', 'disable', 'begin' or 'end'");
                return None;
            }
        };
        if *name == "all" {
            if enable {
                self.ignored(at, "expected 'disable' for 'all'");
            }
        } else if !self.extensions.contains(name) {
            self.diags.warning(
                "ignored-pragmas",
                at,
                format!("OpenCL extension '{name}' unknown or does not require pragma - ignoring"),
            );
            return None;
        }
        let name = self.interner.intern(name);
        Some(Pragma::Extension { name, enable })
    }

    /// `cl_khr_select_fprounding_mode`.
    fn rounding_pragma(&mut self, mode: &str, at: Pos) -> Option<Pragma> {
        let mode = match mode {
            "rte" => RoundingMode::ToEven,
            "rtz" => RoundingMode::ToZero,
            "rtp" => RoundingMode::ToPositive,
            "rtn" => RoundingMode::ToNegative,
            _ => {
                self.diags
                    .error(at, "expected 'rte', 'rtz', 'rtp' or 'rtn' in pragma");
                return None;
            }
        };
        Some(Pragma::RoundingMode(mode))
    }

    /// `unroll`, `unroll N`, `unroll(N)`, `nounroll`, `GCC unroll N`, `clang loop unroll(..)`,
    /// whose numbers macros may name.
    fn unroll_pragma(&mut self, tokens: &[Tok], at: Pos) -> Option<Pragma> {
        let expanded = self.expand_all(tokens);
        let words: Vec<String> = expanded
            .iter()
            .map(|tok| self.text(tok.token).to_owned())
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let count = |text: &str| match crate::parse::integer_constant(text) {
            Ok((count, _)) => u32::try_from(count).ok(),
            Err(_) => None,
        };
        let unroll = match words.as_slice() {
            ["unroll"] => Unroll::Enable,
            ["nounroll"] => Unroll::Disable,
            ["GCC", "unroll", n] | ["unroll", n] | ["unroll", "(", n, ")"] => match count(n) {
                Some(n) => Unroll::Count(n),
                None => {
                    self.ignored(at, "expected a number of iterations in '#pragma unroll'");
                    return None;
                }
            },
            ["clang", "loop", "unroll", "(", how, ")", ..] => match *how {
                "enable" => Unroll::Enable,
                "disable" => Unroll::Disable,
                _ => Unroll::Full,
            },
            ["clang", "loop", "unroll_count", "(", n, ")", ..] => Unroll::Count(count(n)?),
            _ => return None,
        };
        Some(Pragma::Unroll(unroll))
    }

    /// `#pragma pack`, of the forms `()`, `(n)`, `(push)`, `(push, n)`, `(pop)`.
    fn pack_pragma(&mut self, rest: &[&str], at: Pos) -> Option<Pragma> {
        let number = |text: &str| {
            text.parse()
                .ok()
                .filter(|n: &u32| n.is_power_of_two() && *n <= 16)
        };
        let align = match rest {
            ["(", ")"] => None,
            ["(", "push", ")"] => {
                self.pack_stack.push(self.pack);
                self.pack
            }
            ["(", "push", ",", n, ")"] => {
                self.pack_stack.push(self.pack);
                Some(number(n)?)
            }
            ["(", "pop", ..] => self.pack_stack.pop().flatten(),
            ["(", n, ")"] => Some(number(n)?),
            _ => {
                self.ignored(at, "expected '(' after '#pragma pack'");
                return None;
            }
        };
        self.pack = align;
        Some(Pragma::Pack(align))
    }
}
