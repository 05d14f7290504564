//! `#pragma` and `_Pragma`. Those that later stages act on become tokens.

use super::expand::Outcome;
use super::{Pragmas, Preprocessor, Tok};
use crate::lex::Lexer;
use crate::parse::string_text;
use crate::symbol::{Symbol, sym};
use crate::token::{ExpansionId, Pragma, RoundingMode, Token, TokenKind, Unroll};

impl Preprocessor<'_> {
    pub(super) fn pragma(&mut self, word: Token) {
        let rest = self.rest_of_line();
        if let Some(tok) = self.pragma_token(&rest, word) {
            // The directive's line is at its end; the token comes before the next line's.
            let mut list = self.list();
            list.push(tok);
            self.push_tokens(list, None);
        }
    }

    /// The token of a pragma, if it has one.
    fn pragma_token(&mut self, tokens: &[Tok], at: Token) -> Option<Tok> {
        let words = self.words(&tokens[..tokens.len().min(2)]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // Numbers, options and texts of these may be macros.
        let expands = matches!(
            words[..],
            ["unroll" | "pack" | "message", ..]
                | ["GCC", "unroll" | "error" | "warning"]
                | ["clang", "loop"]
        );
        let expanded;
        let tokens = if expands {
            // `GCC error` is no macro, whatever is called so.
            let kept = if words[0] == "GCC" { 2 } else { 1 };
            let mut list = tokens[..kept].to_vec();
            list.append(&mut self.expand_all(&tokens[kept..]));
            expanded = list;
            &expanded
        } else {
            tokens
        };
        let pragma = match self.parse_pragma(tokens, at) {
            Some(pragma) => pragma,
            // These were for the preprocessor alone.
            None if matches!(words[..], ["once" | "push_macro" | "pop_macro", ..]) => return None,
            None if self.keep == Pragmas::All => Pragma::Other,
            None => return None,
        };
        let mut text = String::new();
        for (index, tok) in tokens.iter().enumerate() {
            if index > 0 && tok.token.space_before {
                text.push(' ');
            }
            text.push_str(self.text(tok.token));
        }
        self.pragmas.push(pragma);
        self.pragma_texts.push(self.interner.intern(&text));
        Some(Tok {
            token: Token {
                kind: TokenKind::Pragma,
                space_before: false,
                line_start: true,
                symbol: Symbol(self.pragmas.len() as u32 - 1),
                pos: self.outermost(at),
                len: at.len,
                expansion: ExpansionId::NONE,
            },
            painted: false,
        })
    }

    /// `_Pragma("...")`, C99 6.10.9.
    pub(super) fn pragma_operator(&mut self, name: Tok) -> Outcome {
        let message = "_Pragma takes a parenthesized string literal";
        if !self.opens_parenthesis() {
            self.diags.error(name.token, message);
            return Outcome::Nothing;
        }
        self.unexpanded();
        self.collecting += 1;
        let string = self.unexpanded();
        let close = self.unexpanded();
        self.collecting -= 1;
        if [string, close].map(|tok| tok.token.kind) != [TokenKind::Str, TokenKind::RParen] {
            self.diags.error(name.token, message);
            return Outcome::Nothing;
        }
        let text = self.text(string.token);
        let start = text.find('"').map_or(0, |quote| quote + 1);
        let text = &text[start..text.len() - 1];
        let text = text.replace("\\\"", "\"").replace("\\\\", "\\");
        let mut lexer = Lexer::new(text.as_bytes().into());
        let mut tokens = Vec::new();
        loop {
            let raw = lexer.token();
            if raw.kind == TokenKind::Eof {
                break;
            }
            let spelled = String::from_utf8_lossy(&lexer.spelling(raw)).into_owned();
            let has_text = matches!(
                raw.kind,
                TokenKind::Ident
                    | TokenKind::Number
                    | TokenKind::Str
                    | TokenKind::Char
                    | TokenKind::Unknown
            );
            tokens.push(Tok {
                token: Token {
                    kind: raw.kind,
                    space_before: raw.space_before,
                    symbol: if has_text {
                        self.interner.intern(&spelled)
                    } else {
                        sym::EMPTY
                    },
                    ..string.token
                },
                painted: false,
            });
        }
        match self.pragma_token(&tokens, name.token) {
            Some(tok) => Outcome::Kept(tok),
            None => Outcome::Nothing,
        }
    }

    /// What a pragma means; `None` if nothing, to later stages.
    fn parse_pragma(&mut self, tokens: &[Tok], at: Token) -> Option<Pragma> {
        let words = self.words(tokens);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["once"] => {
                self.pragma_once(at);
                None
            }
            ["OPENCL", "EXTENSION", rest @ ..] => self.extension_pragma(rest, at),
            ["OPENCL" | "STDC", "FP_CONTRACT", setting] => {
                let setting = match *setting {
                    // "Preprocessor Directives and Macros": the default is ON.
                    "ON" | "DEFAULT" => true,
                    "OFF" => false,
                    _ => {
                        self.ignored(at, "expected 'ON' or 'OFF' or 'DEFAULT' in pragma");
                        return None;
                    }
                };
                Some(Pragma::FpContract(setting))
            }
            ["clang", "fp", "contract", "(", how, ")"] => Some(Pragma::FpContract(*how != "off")),
            ["OPENCL", "SELECT_ROUNDING_MODE", mode]
                if self.device.has("cl_khr_select_fprounding_mode") =>
            {
                self.rounding_pragma(mode, tokens[2].token)
            }
            ["unroll" | "nounroll", ..]
            | ["GCC", "unroll", ..]
            | ["clang", "loop", "unroll" | "unroll_count", ..] => self.unroll_pragma(&words, at),
            ["pack", rest @ ..] => self.pack_pragma(rest, at),
            [operation @ ("push_macro" | "pop_macro"), "(", name, ")"] => {
                self.macro_pragma(operation, name);
                None
            }
            ["message", rest @ ..] | ["GCC", "warning", rest @ ..] => {
                match message(rest) {
                    Some(text) => drop(self.diags.warning("#pragma-messages", at, text)),
                    None => self.ignored(at, "pragma message requires parenthesized string"),
                }
                None
            }
            ["GCC", "error", rest @ ..] => {
                let text = message(rest);
                let text = text.unwrap_or("pragma error requires parenthesized string".to_owned());
                self.diags.error(at, text);
                None
            }
            [
                "STDC",
                "FENV_ACCESS" | "FENV_ROUND" | "CX_LIMITED_RANGE",
                ..,
            ]
            | ["GCC" | "clang", ..]
            | [
                "region" | "endregion" | "mark" | "weak" | "redefine_extname",
                ..,
            ]
            | ["unroll_and_jam" | "nounroll_and_jam" | "omp", ..]
            | [] => None,
            _ => {
                self.warn("unknown-pragmas", at, "unknown pragma ignored");
                None
            }
        }
    }

    fn words(&self, tokens: &[Tok]) -> Vec<String> {
        let text = |tok: &Tok| self.text(tok.token).to_owned();
        tokens.iter().map(text).collect()
    }

    /// `push_macro("NAME")` and `pop_macro("NAME")`.
    fn macro_pragma(&mut self, operation: &str, name: &str) {
        let name = self.interner.intern(name.trim_matches('"'));
        if operation == "push_macro" {
            let slot = self.slot(name);
            self.pushed_macros.entry(name).or_default().push(slot);
        } else if let Some(slot) = self.pushed_macros.get_mut(&name).and_then(Vec::pop) {
            self.set_slot(name, slot);
        }
    }

    /// Warns of a pragma that later stages would have acted on; preprocessed text keeps it, to be
    /// warned of then.
    fn warn(&mut self, group: &'static str, at: Token, message: &str) {
        if self.keep == Pragmas::Known {
            self.diags.warning(group, at, message);
        }
    }

    fn ignored(&mut self, at: Token, why: &str) {
        self.warn("ignored-pragmas", at, &format!("{why} - ignored"));
    }

    /// `name : behavior`. OpenCL Extension Specification, "Compiler Directives for Optional
    /// Extensions".
    fn extension_pragma(&mut self, rest: &[&str], at: Token) -> Option<Pragma> {
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
        } else if !self.device.has(name) {
            let message =
                format!("OpenCL extension '{name}' unknown or does not require pragma - ignoring");
            self.warn("ignored-pragmas", at, &message);
            return None;
        }
        let name = self.interner.intern(name);
        Some(Pragma::Extension { name, enable })
    }

    /// `cl_khr_select_fprounding_mode`.
    fn rounding_pragma(&mut self, mode: &str, at: Token) -> Option<Pragma> {
        let mode = match mode {
            "rte" => RoundingMode::ToEven,
            "rtz" => RoundingMode::ToZero,
            "rtp" => RoundingMode::ToPositive,
            "rtn" => RoundingMode::ToNegative,
            _ => {
                let message = format!(
                    "'{mode}' is not a rounding mode; expected 'rte', 'rtz', 'rtp' or 'rtn'"
                );
                self.diags.error(at, message);
                return None;
            }
        };
        Some(Pragma::RoundingMode(mode))
    }

    /// `unroll`, `unroll N`, `unroll(N)`, `nounroll`, `GCC unroll N`, `clang loop unroll(..)`.
    fn unroll_pragma(&mut self, words: &[&str], at: Token) -> Option<Pragma> {
        let count = |text: &str| match crate::parse::integer_constant(text) {
            Ok((count, _)) => u32::try_from(count).ok(),
            Err(_) => None,
        };
        let unroll = match words {
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

    /// `#pragma pack`, of the forms `()`, `(n)`, `(push)`, `(push, n)`, `(pop)`, `(pop, n)`.
    fn pack_pragma(&mut self, words: &[&str], at: Token) -> Option<Pragma> {
        let is_alignment = |n: &u32| n.is_power_of_two() && *n <= 16;
        let number = |text: &str| text.parse().ok().filter(is_alignment);
        let (push, pop, align) = match words {
            ["(", ")"] => (false, false, Some(None)),
            ["(", "push", ")"] => (true, false, Some(self.pack)),
            ["(", "push", ",", n, ")"] => (true, false, number(n).map(Some)),
            ["(", "pop", ")"] => (false, true, Some(None)),
            ["(", "pop", ",", n, ")"] => (false, true, number(n).map(Some)),
            ["(", n, ")"] => (false, false, number(n).map(Some)),
            _ => {
                self.ignored(at, "expected '(' and an alignment after '#pragma pack'");
                return None;
            }
        };
        let Some(mut align) = align else {
            let message = "expected #pragma pack parameter to be '1', '2', '4', '8', or '16'";
            self.ignored(at, message);
            return None;
        };
        if push {
            self.pack_stack.push(self.pack);
        }
        if pop {
            let before = self.pack_stack.pop().flatten();
            align = align.or(before);
        }
        self.pack = align;
        Some(Pragma::Pack(align))
    }
}

/// The string literals of a pragma, with or without parentheses around all of them.
fn message(words: &[&str]) -> Option<String> {
    let strings = match words {
        ["(", strings @ .., ")"] => strings,
        strings => strings,
    };
    if strings.is_empty() || !strings.iter().all(|word| word.ends_with('"')) {
        return None;
    }
    Some(strings.iter().copied().map(string_text).collect())
}
