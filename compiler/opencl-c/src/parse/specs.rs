//! Declaration specifiers, qualifiers, and what types they name.

use super::Parser;
use super::names::Meaning;
use crate::ast::{
    Access, AlignAs, Arithmetic, DeclSpecs, EnumSpec, Enumerator, Field, Member, Quals, RecordSpec,
    Space, SpecId, Storage, TypeSpec,
};
use crate::symbol::{Symbol, sym};
use crate::token::{Loc, Pragma, Span, TokenKind};

/// What a word does among specifiers.
enum Word {
    Storage(Storage),
    Inline,
    Noreturn,
    Kernel,
    Qualifier,
    Type,
    Attribute,
    Alignas,
    Extension,
}

impl Parser<'_> {
    /// Whether a declaration (rather than a statement or an expression) begins here.
    pub(super) fn at_declaration(&self) -> bool {
        let word = self.word();
        match self.specifier(word) {
            Some(Word::Attribute) => false,
            Some(Word::Extension) => {
                let next = self.word_after(1);
                self.specifier(next).is_some() || self.names.is_type(next)
            }
            Some(_) => true,
            // A label may have a type's name.
            None => self.names.is_type(word) && self.kind_after(1) != TokenKind::Colon,
        }
    }

    /// Whether a type name begins at the token `n` after the next.
    pub(super) fn type_name_at(&self, n: usize) -> bool {
        let word = self.word_after(n);
        matches!(
            self.specifier(word),
            Some(Word::Type | Word::Qualifier | Word::Attribute | Word::Extension)
        ) || self.names.is_type(word)
    }

    fn specifier(&self, word: Symbol) -> Option<Word> {
        Some(match word {
            sym::EMPTY => return None,
            sym::TYPEDEF => Word::Storage(Storage::Typedef),
            sym::EXTERN => Word::Storage(Storage::Extern),
            sym::STATIC => Word::Storage(Storage::Static),
            sym::AUTO => Word::Storage(Storage::Auto),
            sym::REGISTER => Word::Storage(Storage::Register),
            sym::INLINE | sym::INLINE_GNU | sym::INLINE_GNU2 => Word::Inline,
            sym::NORETURN => Word::Noreturn,
            sym::KERNEL | sym::KERNEL_UU => Word::Kernel,
            sym::CHAR
            | sym::SHORT
            | sym::INT
            | sym::LONG
            | sym::SIGNED
            | sym::SIGNED_GNU
            | sym::SIGNED_GNU2
            | sym::UNSIGNED
            | sym::FLOAT
            | sym::DOUBLE
            | sym::HALF
            | sym::COMPLEX
            | sym::IMAGINARY
            | sym::VOID
            | sym::BOOL
            | sym::BOOL_C99
            | sym::STRUCT
            | sym::UNION
            | sym::ENUM
            | sym::TYPEOF
            | sym::TYPEOF_GNU
            | sym::TYPEOF_GNU2
            | sym::AUTO_TYPE
            | sym::ATOMIC => Word::Type,
            sym::PIPE if self.std >= crate::options::Std::C20 => Word::Type,
            sym::ATTRIBUTE | sym::ATTRIBUTE_GNU => Word::Attribute,
            sym::ALIGNAS => Word::Alignas,
            sym::EXTENSION_GNU => Word::Extension,
            _ if self.is_qualifier(word) => Word::Qualifier,
            _ => return None,
        })
    }

    fn is_qualifier(&self, word: Symbol) -> bool {
        matches!(
            word,
            sym::CONST
                | sym::CONST_GNU
                | sym::CONST_GNU2
                | sym::VOLATILE
                | sym::VOLATILE_GNU
                | sym::VOLATILE_GNU2
                | sym::RESTRICT
                | sym::RESTRICT_GNU
                | sym::RESTRICT_GNU2
        ) || self.space(word).is_some()
            || access(word).is_some()
    }

    /// OpenCL C Specification, "Address Space Qualifiers": `generic` came with 2.0.
    fn space(&self, word: Symbol) -> Option<Space> {
        Some(match word {
            sym::GLOBAL | sym::GLOBAL_UU => Space::Global,
            sym::LOCAL | sym::LOCAL_UU => Space::Local,
            sym::CONSTANT | sym::CONSTANT_UU => Space::Constant,
            sym::PRIVATE | sym::PRIVATE_UU => Space::Private,
            sym::GENERIC | sym::GENERIC_UU if self.std >= crate::options::Std::C20 => {
                Space::Generic
            }
            _ => return None,
        })
    }

    /// Takes one qualifier, if one comes.
    pub(super) fn qualifier(&mut self, quals: &mut Quals) -> bool {
        let (word, loc) = (self.word(), self.loc());
        match word {
            sym::CONST | sym::CONST_GNU | sym::CONST_GNU2 => quals.is_const = Some(loc),
            sym::VOLATILE | sym::VOLATILE_GNU | sym::VOLATILE_GNU2 => {
                quals.is_volatile = Some(loc);
            }
            sym::RESTRICT | sym::RESTRICT_GNU | sym::RESTRICT_GNU2 => {
                quals.is_restrict = Some(loc);
            }
            _ => {
                if let Some(space) = self.space(word) {
                    match quals.space {
                        Some((first, _)) if first != space => {
                            quals.second_space = Some((space, loc));
                        }
                        _ => quals.space = Some((space, loc)),
                    }
                } else if let Some(access) = access(word) {
                    match quals.access {
                        Some((first, _)) if first != access => {
                            quals.second_access = Some((access, loc));
                        }
                        _ => quals.access = Some((access, loc)),
                    }
                } else {
                    return false;
                }
            }
        }
        self.bump();
        true
    }

    /// Takes declaration specifiers.
    pub(super) fn specifiers(&mut self) -> SpecId {
        let first = self.loc();
        let mut specs = DeclSpecs {
            storage: Vec::new(),
            inline: None,
            noreturn: None,
            kernel: None,
            quals: Quals::default(),
            ty: TypeSpec::Missing,
            alignas: Vec::new(),
            attributes: Vec::new(),
            span: Span::at(first),
        };
        loop {
            let word = self.word();
            match self.specifier(word) {
                Some(Word::Storage(storage)) => {
                    let loc = self.bump();
                    specs.storage.push((storage, loc));
                }
                Some(Word::Inline) => {
                    specs.inline = Some(self.bump());
                }
                Some(Word::Noreturn) => {
                    specs.noreturn = Some(self.bump());
                }
                Some(Word::Kernel) => specs.kernel = Some(self.bump()),
                Some(Word::Extension) => drop(self.bump()),
                Some(Word::Qualifier) => drop(self.qualifier(&mut specs.quals)),
                Some(Word::Attribute) => {
                    let more = self.attributes();
                    specs.attributes.extend(more);
                }
                Some(Word::Alignas) => self.alignas(&mut specs.alignas),
                Some(Word::Type) => self.type_keyword(&mut specs.ty),
                None if matches!(specs.ty, TypeSpec::Missing) && self.names.is_type(word) => {
                    let loc = self.bump();
                    specs.ty = TypeSpec::Named(word, loc);
                }
                None => break,
            }
            if self.is(TokenKind::Eof) {
                break;
            }
        }
        specs.span = self.span_from(first);
        self.ast.add_specs(specs)
    }

    fn alignas(&mut self, into: &mut Vec<AlignAs>) {
        self.bump();
        let Some(open) = self.expect(TokenKind::LParen, "'(' after '_Alignas'") else {
            return;
        };
        let one = if self.type_name_at(0) {
            AlignAs::Type(self.type_name())
        } else {
            AlignAs::Expr(self.conditional_expr())
        };
        into.push(one);
        self.expect_close(TokenKind::RParen, ")", open);
    }

    /// Takes a keyword that is (part of) a type.
    fn type_keyword(&mut self, ty: &mut TypeSpec) {
        let (word, loc) = (self.word(), self.loc());
        if let Some(count) = arithmetic(word) {
            let mut all = match *ty {
                TypeSpec::Arithmetic(all) => all,
                TypeSpec::Missing => Arithmetic::default(),
                _ => return self.second_type(loc),
            };
            count(&mut all);
            *ty = TypeSpec::Arithmetic(all);
            self.bump();
            return;
        }
        if !matches!(ty, TypeSpec::Missing) {
            return self.second_type(loc);
        }
        *ty = match word {
            sym::STRUCT | sym::UNION => self.record(),
            sym::ENUM => self.enumeration(),
            sym::VOID => {
                self.bump();
                TypeSpec::Void
            }
            sym::BOOL | sym::BOOL_C99 => {
                self.bump();
                TypeSpec::Bool
            }
            sym::AUTO_TYPE => {
                self.bump();
                TypeSpec::Auto
            }
            sym::PIPE => {
                self.bump();
                TypeSpec::Pipe(self.pipe_element(loc))
            }
            sym::ATOMIC => self.atomic(),
            _ => self.typeof_operator(),
        };
    }

    fn second_type(&mut self, loc: Loc) {
        self.diags.error(
            loc,
            "cannot combine with previous type in declaration specifiers",
        );
        self.bump();
    }

    /// The element type of `pipe T`: specifiers without a declarator.
    fn pipe_element(&mut self, first: Loc) -> crate::ast::TypeNameId {
        let specs = self.specifiers();
        let span = self.span_from(first);
        self.ast.add_type_name(crate::ast::TypeName {
            specs,
            declarator: crate::ast::Declarator::default(),
            span,
        })
    }

    fn atomic(&mut self) -> TypeSpec {
        self.bump();
        let Some(open) = self.expect(TokenKind::LParen, "'(' after '_Atomic'") else {
            return TypeSpec::Missing;
        };
        let ty = self.type_name();
        self.expect_close(TokenKind::RParen, ")", open);
        TypeSpec::Atomic(ty)
    }

    fn typeof_operator(&mut self) -> TypeSpec {
        self.bump();
        let Some(open) = self.expect(TokenKind::LParen, "'(' after 'typeof'") else {
            return TypeSpec::Missing;
        };
        let ty = if self.type_name_at(0) {
            TypeSpec::TypeofType(self.type_name())
        } else {
            TypeSpec::TypeofExpr(self.expression())
        };
        self.expect_close(TokenKind::RParen, ")", open);
        ty
    }

    /// `struct` or `union`.
    fn record(&mut self) -> TypeSpec {
        let first = self.loc();
        let is_union = self.word() == sym::UNION;
        self.bump();
        let mut attributes = self.attributes();
        let tag = self.tag();
        let members = self
            .eat(TokenKind::LBrace)
            .map(|open| self.nested(|parser| parser.members(open)));
        if members.is_some() {
            attributes.extend(self.attributes());
        } else if tag.is_none() {
            self.error_expected("identifier or '{'");
        }
        let record = RecordSpec {
            is_union,
            tag,
            members,
            attributes,
            pack: self.pack,
            span: self.span_from(first),
        };
        TypeSpec::Record(self.ast.add_record(record))
    }

    fn tag(&mut self) -> Option<(Symbol, Loc)> {
        let word = self.word();
        (word != sym::EMPTY && !is_keyword(word)).then(|| (word, self.bump()))
    }

    fn members(&mut self, open: Loc) -> Vec<Member> {
        let mut members = Vec::new();
        while !matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof) {
            if self.eat(TokenKind::Semi).is_some() {
                continue;
            }
            if self.is(TokenKind::Pragma) {
                self.pack_pragma();
                continue;
            }
            if self.word() == sym::STATIC_ASSERT {
                let assert = self.static_assert();
                members.push(Member::StaticAssert(assert));
                continue;
            }
            let is_attribute = matches!(self.word(), sym::ATTRIBUTE | sym::ATTRIBUTE_GNU);
            if !is_attribute && !self.at_declaration() {
                self.error_expected("a member's type");
                self.skip_to(&[TokenKind::Semi]);
                if self.eat(TokenKind::Semi).is_none() && !self.is(TokenKind::RBrace) {
                    self.bump();
                }
                continue;
            }
            let member = self.member();
            members.push(member);
        }
        self.expect_close(TokenKind::RBrace, "}", open);
        members
    }

    /// Takes a pragma where only `pack` means something.
    fn pack_pragma(&mut self) {
        let index = self.token().symbol.0 as usize;
        if let Pragma::Pack(align) = self.pragmas[index] {
            self.pack = align;
        }
        self.bump();
    }

    fn member(&mut self) -> Member {
        let specs = self.specifiers();
        let mut fields = Vec::new();
        while !self.is(TokenKind::Semi) {
            let mut declarator = if self.is(TokenKind::Colon) {
                crate::ast::Declarator::default()
            } else {
                self.declarator()
            };
            let bits = self.eat(TokenKind::Colon).map(|_| self.conditional_expr());
            let more = self.attributes();
            declarator.attributes.extend(more);
            fields.push(Field { declarator, bits });
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.expect_semi("at end of declaration list");
        Member::Fields { specs, fields }
    }

    fn enumeration(&mut self) -> TypeSpec {
        let first = self.bump();
        let mut attributes = self.attributes();
        let tag = self.tag();
        let enumerators = match self.eat(TokenKind::LBrace) {
            Some(open) => {
                let all = self.enumerators();
                self.expect_close(TokenKind::RBrace, "}", open);
                attributes.extend(self.attributes());
                Some(all)
            }
            None => None,
        };
        if enumerators.is_none() && tag.is_none() {
            self.error_expected("identifier or '{'");
        }
        let spec = EnumSpec {
            tag,
            enumerators,
            attributes,
            span: self.span_from(first),
        };
        TypeSpec::Enum(self.ast.add_enum(spec))
    }

    fn enumerators(&mut self) -> Vec<Enumerator> {
        let mut all = Vec::new();
        while !matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof) {
            let Some((name, loc)) = self.tag() else {
                self.error_expected("identifier");
                self.skip_to(&[TokenKind::Comma, TokenKind::RBrace, TokenKind::Semi]);
                if self.eat(TokenKind::Comma).is_none() {
                    break;
                }
                continue;
            };
            let _ = self.attributes();
            let value = self.eat(TokenKind::Eq).map(|_| self.conditional_expr());
            self.names.declare(name, Meaning::Value);
            all.push(Enumerator { name, loc, value });
            if self.eat(TokenKind::Comma).is_some() {
                continue;
            }
            if self.word() == sym::EMPTY {
                break;
            }
            let loc = self.loc();
            self.diags.error(loc, "missing ',' between enumerators");
        }
        all
    }
}

fn access(word: Symbol) -> Option<Access> {
    Some(match word {
        sym::READ_ONLY | sym::READ_ONLY_UU => Access::ReadOnly,
        sym::WRITE_ONLY | sym::WRITE_ONLY_UU => Access::WriteOnly,
        sym::READ_WRITE | sym::READ_WRITE_UU => Access::ReadWrite,
        _ => return None,
    })
}

/// Counts a keyword of the arithmetic types.
fn arithmetic(word: Symbol) -> Option<fn(&mut Arithmetic)> {
    Some(match word {
        sym::CHAR => |all| all.char = all.char.saturating_add(1),
        sym::SHORT => |all| all.short = all.short.saturating_add(1),
        sym::INT => |all| all.int = all.int.saturating_add(1),
        sym::LONG => |all| all.long = all.long.saturating_add(1),
        sym::SIGNED | sym::SIGNED_GNU | sym::SIGNED_GNU2 => {
            |all| all.signed = all.signed.saturating_add(1)
        }
        sym::UNSIGNED => |all| all.unsigned = all.unsigned.saturating_add(1),
        sym::FLOAT => |all| all.float = all.float.saturating_add(1),
        sym::DOUBLE => |all| all.double = all.double.saturating_add(1),
        sym::HALF => |all| all.half = all.half.saturating_add(1),
        sym::COMPLEX | sym::IMAGINARY => |all| all.complex = all.complex.saturating_add(1),
        _ => return None,
    })
}

/// Whether the word can be no identifier. `pipe`, `generic` and `half` are decided by their uses.
pub(super) fn is_keyword(word: Symbol) -> bool {
    (sym::AUTO..=sym::ATTRIBUTE_GNU).contains(&word)
        || (sym::KERNEL..=sym::PRIVATE_UU).contains(&word)
        || (sym::READ_ONLY..=sym::READ_WRITE_UU).contains(&word)
        || matches!(word, sym::HALF | sym::VEC_STEP)
}
