//! Declarations: the translation unit, declarators, initialisers.

use super::Parser;
use super::names::Meaning;
use super::specs::is_keyword;
use crate::ast::{
    ArraySize, Chunk, DeclId, Declaration, Declarator, Designator, Init, InitId, InitItem,
    InitKind, Item, Param, Quals, SpecId, StaticAssert, Storage, TypeName, TypeNameId, TypeSpec,
};
use crate::symbol::sym;
use crate::token::{Loc, Pragma, TokenKind};

impl Parser<'_> {
    pub(super) fn translation_unit(&mut self) {
        while !self.is(TokenKind::Eof) {
            let before = self.at;
            self.item();
            if self.at == before && !self.is(TokenKind::Eof) {
                // Nothing could be made of the token.
                self.bump();
            }
        }
    }

    fn item(&mut self) {
        if self.eat(TokenKind::Semi).is_some() {
            return;
        }
        if self.is(TokenKind::Pragma) {
            let loc = self.loc();
            let pragma = self.pragma();
            self.ast.items.push(Item::Pragma(pragma, loc));
            return;
        }
        if self.word() == sym::STATIC_ASSERT {
            let assert = self.static_assert();
            self.ast.items.push(Item::StaticAssert(assert));
            return;
        }
        let (word, loc) = (self.word(), self.loc());
        if matches!(word, sym::ASM_GNU | sym::ASM_GNU2 | sym::ASM) {
            self.diags.error(loc, "'asm' is not supported in OpenCL C");
            self.skip_to(&[TokenKind::Semi]);
            return;
        }
        if !self.at_declaration()
            && !matches!(word, sym::ATTRIBUTE | sym::ATTRIBUTE_GNU)
            && !self.declarator_without_type()
        {
            self.not_a_declaration();
            return;
        }
        self.external_declaration();
    }

    /// `name(` or `name =`: a declaration that lacks its type, which sema tells.
    fn declarator_without_type(&self) -> bool {
        let word = self.word();
        word != sym::EMPTY
            && !is_keyword(word)
            && matches!(
                self.kind_after(1),
                TokenKind::LParen | TokenKind::Eq | TokenKind::Semi | TokenKind::LBracket
            )
    }

    fn not_a_declaration(&mut self) {
        let (loc, word) = (self.loc(), self.word());
        let next_is_name =
            self.kind_after(1) == TokenKind::Ident || self.kind_after(1) == TokenKind::Star;
        if word != sym::EMPTY && !is_keyword(word) && next_is_name {
            let name = self.spelled(word);
            self.diags.error(loc, format!("unknown type name '{name}'"));
            // What follows is most likely a declarator of that type.
            self.bump();
            self.external_declaration();
            return;
        }
        if self.is(TokenKind::RBrace) {
            self.diags.error(loc, "extraneous closing brace ('}')");
            self.bump();
            return;
        }
        self.diags.error(loc, "expected identifier or '('");
        self.skip_to(&[TokenKind::Semi, TokenKind::LBrace]);
        if let Some(open) = self.eat(TokenKind::LBrace) {
            self.skip_to(&[TokenKind::RBrace]);
            self.expect_close(TokenKind::RBrace, "}", open);
        } else {
            self.eat(TokenKind::Semi);
        }
    }

    /// A function or declarations at file scope.
    fn external_declaration(&mut self) {
        let specs = self.specifiers();
        let mut decls = Vec::new();
        while !self.is(TokenKind::Semi) {
            let mut declarator = self.declarator();
            if declarator.function().is_some() {
                let more = self.attributes();
                declarator.attributes.extend(more);
            }
            if self.lacks_name(&declarator) {
                return;
            }
            if self.is(TokenKind::LBrace) && declarator.function().is_some() {
                self.function(specs, declarator);
                return;
            }
            let decl = self.initialised(specs, declarator);
            decls.push(decl);
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.ast.items.push(Item::Declarations { specs, decls });
        self.expect_semi(match self.is(TokenKind::Eof) || self.token().line_start {
            true => "after top level declarator",
            false => "after declaration",
        });
    }

    fn function(&mut self, specs: SpecId, declarator: Declarator) {
        self.declare(specs, &declarator);
        self.names.open();
        for param in declarator.function().into_iter().flatten() {
            if let Some((name, _)) = param.declarator.name {
                self.names.declare(name, Meaning::Value);
            }
        }
        let decl = self.ast.add_decl(Declaration {
            specs,
            declarator,
            init: None,
        });
        let body = self.block();
        self.names.close();
        self.ast.items.push(Item::Function { decl, body });
    }

    /// Notes whether the declared name is a type, and of vectors.
    pub(super) fn declare(&mut self, specs: SpecId, declarator: &Declarator) {
        let Some((name, _)) = declarator.name else {
            return;
        };
        let storage = &self.ast[specs].storage;
        let is_typedef = storage.iter().any(|(s, _)| *s == Storage::Typedef);
        let meaning = if !is_typedef {
            Meaning::Value
        } else if self.is_vector(specs, declarator) {
            Meaning::Vector
        } else {
            Meaning::Type
        };
        self.names.declare(name, meaning);
    }

    /// Whether what is declared or named is of a vector type.
    pub(super) fn is_vector(&self, specs: SpecId, declarator: &Declarator) -> bool {
        let specs = &self.ast[specs];
        let by_attribute = || {
            let mut attributes = specs.attributes.iter().chain(&declarator.attributes);
            attributes.any(|attribute| {
                attribute.name == sym::EXT_VECTOR_TYPE
                    || self.interner.text(attribute.name) == "vector_size"
            })
        };
        let by_name = match specs.ty {
            TypeSpec::Named(name, _) => self.names.is_vector(name),
            TypeSpec::TypeofType(inner) => {
                let inner = &self.ast[inner];
                self.is_vector(inner.specs, &inner.declarator)
            }
            _ => false,
        };
        declarator.chunks.is_empty() && (by_name || by_attribute())
    }

    /// Takes what may follow a declarator: attributes and an initialiser.
    fn initialised(&mut self, specs: SpecId, mut declarator: Declarator) -> DeclId {
        self.asm_label();
        let more = self.attributes();
        declarator.attributes.extend(more);
        self.declare(specs, &declarator);
        let init = self.eat(TokenKind::Eq).map(|_| self.initialiser());
        self.ast.add_decl(Declaration {
            specs,
            declarator,
            init,
        })
    }

    /// Declarations in a block: specifiers and declarators up to the semicolon. `None`, which was
    /// told, for what declares nothing.
    pub(super) fn local_declarations(&mut self) -> Option<(SpecId, Vec<DeclId>)> {
        let specs = self.specifiers();
        let mut decls = Vec::new();
        while !self.is(TokenKind::Semi) {
            let declarator = self.declarator();
            if self.lacks_name(&declarator) {
                return None;
            }
            if self.is(TokenKind::LBrace) && declarator.function().is_some() {
                let loc = self.loc();
                self.diags
                    .error(loc, "function definition is not allowed here");
                let _ = self.block();
                return Some((specs, decls));
            }
            let decl = self.initialised(specs, declarator);
            decls.push(decl);
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.expect_semi("at end of declaration");
        Some((specs, decls))
    }

    /// Tells of a declarator without a name, and skips what comes of it.
    fn lacks_name(&mut self, declarator: &Declarator) -> bool {
        if declarator.name.is_some() {
            return false;
        }
        let loc = match declarator.chunks.first() {
            Some(Chunk::Function { loc, .. } | Chunk::Array { loc, .. }) => *loc,
            _ => self.loc(),
        };
        self.diags.error(loc, "expected identifier or '('");
        self.skip_to(&[TokenKind::Semi, TokenKind::LBrace]);
        if self.is(TokenKind::LBrace) {
            let _ = self.block();
        } else {
            self.eat(TokenKind::Semi);
        }
        true
    }

    pub(super) fn static_assert(&mut self) -> StaticAssert {
        let loc = self.bump();
        let open = self.expect(TokenKind::LParen, "'(' after '_Static_assert'");
        let condition = self.conditional_expr();
        let message = self.eat(TokenKind::Comma).map(|_| self.conditional_expr());
        if let Some(open) = open {
            self.expect_close(TokenKind::RParen, ")", open);
        }
        self.expect_semi("after '_Static_assert'");
        StaticAssert {
            condition,
            message,
            loc,
        }
    }

    /// Takes a pragma; `pack` is in force from here on.
    pub(super) fn pragma(&mut self) -> Pragma {
        let pragma = self.pragmas[self.token().symbol.0 as usize].clone();
        if let Pragma::Pack(align) = pragma {
            self.pack = align;
        }
        self.bump();
        pragma
    }

    /// A declarator with a name, or an abstract one.
    pub(super) fn declarator(&mut self) -> Declarator {
        let first = self.loc();
        let mut declarator = Declarator::default();
        self.nested(|parser| parser.declarator_into(&mut declarator));
        declarator.span = self.span_from(first);
        declarator
    }

    /// Pointers bind less than what follows the name, so they are noted after it.
    fn declarator_into(&mut self, into: &mut Declarator) {
        let mut pointers = Vec::new();
        let more = self.attributes();
        into.attributes.extend(more);
        while matches!(self.kind(), TokenKind::Star | TokenKind::Caret) {
            let is_block = self.is(TokenKind::Caret);
            let loc = self.bump();
            let mut quals = Quals::default();
            let mut attributes = Vec::new();
            loop {
                if matches!(self.word(), sym::ATTRIBUTE | sym::ATTRIBUTE_GNU) {
                    attributes.extend(self.attributes());
                } else if !self.qualifier(&mut quals) {
                    break;
                }
            }
            pointers.push(if is_block {
                Chunk::Block { quals, loc }
            } else {
                Chunk::Pointer {
                    quals,
                    attributes,
                    loc,
                }
            });
        }
        self.direct_declarator(into);
        into.chunks.extend(pointers.into_iter().rev());
    }

    fn direct_declarator(&mut self, into: &mut Declarator) {
        let word = self.word();
        if word != sym::EMPTY && !is_keyword(word) {
            let loc = self.bump();
            into.name = Some((word, loc));
        } else if self.is(TokenKind::LParen) && self.parenthesis_groups() {
            let open = self.bump();
            self.nested(|parser| parser.declarator_into(into));
            self.expect_close(TokenKind::RParen, ")", open);
        }
        loop {
            match self.kind() {
                TokenKind::LParen => {
                    let chunk = self.nested(|parser| parser.parameters());
                    into.chunks.push(chunk);
                }
                TokenKind::LBracket => {
                    let chunk = self.array_bounds();
                    into.chunks.push(chunk);
                }
                _ => break,
            }
        }
    }

    /// Whether the parenthesis here groups a declarator (rather than holding parameters).
    fn parenthesis_groups(&self) -> bool {
        match self.kind_after(1) {
            TokenKind::Star | TokenKind::Caret | TokenKind::LParen | TokenKind::LBracket => true,
            TokenKind::Ident => {
                let word = self.word_after(1);
                let attribute = matches!(word, sym::ATTRIBUTE | sym::ATTRIBUTE_GNU);
                attribute || !(self.type_name_at(1) || is_keyword(word))
            }
            _ => false,
        }
    }

    fn parameters(&mut self) -> Chunk {
        let loc = self.bump();
        let mut params = Vec::new();
        let mut variadic = false;
        // Names of parameters are in scope in the types of later ones.
        self.names.open();
        let unspecified = self.is(TokenKind::RParen);
        if !unspecified {
            loop {
                if self.eat(TokenKind::Ellipsis).is_some() {
                    variadic = true;
                    break;
                }
                let before = self.at;
                let param = self.parameter();
                params.push(param);
                if self.eat(TokenKind::Comma).is_none() || self.at == before {
                    break;
                }
            }
        }
        self.names.close();
        self.expect_close(TokenKind::RParen, ")", loc);
        Chunk::Function {
            params,
            variadic,
            unspecified,
            loc,
        }
    }

    fn parameter(&mut self) -> Param {
        if !self.at_declaration() && !self.type_name_at(0) {
            let (loc, word) = (self.loc(), self.word());
            if word != sym::EMPTY && !is_keyword(word) && self.kind_after(1) != TokenKind::Comma {
                let name = self.spelled(word);
                self.diags.error(loc, format!("unknown type name '{name}'"));
                self.bump();
            }
        }
        let specs = self.specifiers();
        let mut declarator = self.declarator();
        let more = self.attributes();
        declarator.attributes.extend(more);
        self.declare(specs, &declarator);
        Param { specs, declarator }
    }

    fn array_bounds(&mut self) -> Chunk {
        let loc = self.bump();
        let mut quals = Quals::default();
        // `[static const N]` of a parameter.
        while self.eat_word(sym::STATIC).is_some() || self.qualifier(&mut quals) {}
        let size = match self.kind() {
            TokenKind::RBracket => ArraySize::Unspecified,
            TokenKind::Star if self.kind_after(1) == TokenKind::RBracket => {
                self.bump();
                ArraySize::Star
            }
            _ => ArraySize::Expr(self.nested(|parser| parser.assignment_expr())),
        };
        self.expect_close(TokenKind::RBracket, "]", loc);
        Chunk::Array { size, quals, loc }
    }

    /// A type without a name: specifiers and an abstract declarator.
    pub(super) fn type_name(&mut self) -> TypeNameId {
        let first = self.loc();
        // Types are written in types, with and without brackets of their own: `typeof(typeof(`.
        let specs = self.nested(Self::specifiers);
        let declarator = self.declarator();
        if let Some((_, loc)) = declarator.name {
            self.diags.error(loc, "type name cannot have a name here");
        }
        let span = self.span_from(first);
        self.ast.add_type_name(TypeName {
            specs,
            declarator,
            span,
        })
    }

    pub(super) fn initialiser(&mut self) -> InitId {
        if self.is(TokenKind::LBrace) {
            return self.nested(|parser| parser.init_list());
        }
        let first = self.loc();
        let value = self.assignment_expr();
        let span = self.span_from(first);
        self.ast.add_init(Init {
            kind: InitKind::Expr(value),
            span,
        })
    }

    /// `{ ... }`
    pub(super) fn init_list(&mut self) -> InitId {
        let open = self.bump();
        let mut items = Vec::new();
        while !matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof) {
            let designators = self.designators();
            let init = self.initialiser();
            items.push(InitItem { designators, init });
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.expect_close(TokenKind::RBrace, "}", open);
        let span = self.span_from(open);
        self.ast.add_init(Init {
            kind: InitKind::List(items),
            span,
        })
    }

    fn designators(&mut self) -> Vec<Designator> {
        // GNU's old `name: value`.
        if self.word() != sym::EMPTY && self.kind_after(1) == TokenKind::Colon {
            let (name, loc) = (self.word(), self.bump());
            self.bump();
            return vec![Designator::Field(name, loc)];
        }
        let mut all = Vec::new();
        loop {
            match self.kind() {
                TokenKind::Dot => {
                    self.bump();
                    let name = self.word();
                    if name == sym::EMPTY {
                        self.error_expected("a field designator, such as '.field = 4'");
                        break;
                    }
                    let loc = self.bump();
                    all.push(Designator::Field(name, loc));
                }
                TokenKind::LBracket => {
                    let designator = self.index_designator();
                    all.push(designator);
                }
                _ => break,
            }
        }
        // GNU's old `[index] value` has no `=`.
        if !all.is_empty() && self.eat(TokenKind::Eq).is_none() {
            let is_old = matches!(
                all.as_slice(),
                [Designator::Index(_) | Designator::Range(..)]
            );
            if !is_old {
                self.error_expected("'=' or another designator");
            }
        }
        all
    }

    pub(super) fn index_designator(&mut self) -> Designator {
        let open = self.bump();
        let low = self.conditional_expr();
        let designator = match self.eat(TokenKind::Ellipsis) {
            Some(_) => Designator::Range(low, self.conditional_expr()),
            None => Designator::Index(low),
        };
        self.expect_close(TokenKind::RBracket, "]", open);
        designator
    }
}

impl Declarator {
    /// The parameters, if what is declared is a function.
    pub fn function(&self) -> Option<&[Param]> {
        match self.chunks.first() {
            Some(Chunk::Function { params, .. }) => Some(params),
            _ => None,
        }
    }

    /// Where it stands: the name, or else its first token.
    pub fn loc(&self) -> Loc {
        self.name.map_or(self.span.first, |(_, loc)| loc)
    }
}
