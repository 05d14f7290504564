//! Variables, and the places in them that expressions read and write.
//!
//! An expression may change a variable only if nothing else in it reads or changes the same one:
//! C99 6.5, "Between the previous and next sequence point". So each variable has a root, a pointer
//! those of all that it may point to, and the roots that the full expression has used or changed so
//! far are known.

use super::Gen;
use super::text::Text;
use super::types::{Scalar, Space, Ty, Type};

#[derive(Clone, Debug)]
pub struct Var {
    pub name: String,
    pub ty: Type,
    pub writable: bool,
    pub space: Space,
    /// Its own, then those of what is pointed to.
    pub roots: Vec<usize>,
    /// The variable is less than this, and not negative.
    pub bound: Option<usize>,
    pub is_volatile: bool,
    /// How many blocks it is in.
    pub nesting: u32,
}

/// A part of a variable, or of what it points to.
#[derive(Clone, Debug)]
pub struct Place {
    pub text: Text,
    pub ty: Type,
    pub writable: bool,
    pub space: Space,
    pub roots: Vec<usize>,
    /// Not a member of a packed structure.
    pub addressable: bool,
    /// Elements there from this place on, if it is one of an array.
    pub len: usize,
}

impl Gen<'_> {
    /// Begins another full expression.
    pub fn sequence_point(&mut self) {
        self.used.clear();
        self.changed.clear();
    }

    fn is_readable(&self, var: &Var) -> bool {
        !var.roots.iter().any(|root| self.changed.contains(root))
    }

    /// A place that is read.
    pub fn place(&mut self, wanted: &dyn Fn(&Type) -> bool) -> Option<Place> {
        let place = self.any_place(&|place| wanted(&place.ty))?;
        self.used.extend(&place.roots);
        Some(place)
    }

    /// A place that is written; nothing that follows in the full expression reads it. What came
    /// before may have read it only if that is what is stored.
    pub fn target(&mut self, stores_used: bool, wanted: &dyn Fn(&Type) -> bool) -> Option<Place> {
        let before = self.used.clone();
        let place = self.any_place(&|place| place.writable && wanted(&place.ty))?;
        let is_used = |root| !stores_used && before.contains(root);
        let is_taken = |root| self.changed.contains(root) || is_used(root);
        if place.roots.iter().any(is_taken) {
            return None;
        }
        self.changed.extend(&place.roots);
        Some(place)
    }

    /// A place for which `wanted` holds; what is done with it is not noted.
    pub fn any_place(&mut self, wanted: &dyn Fn(&Place) -> bool) -> Option<Place> {
        for _ in 0..6 {
            if self.vars.is_empty() {
                return None;
            }
            let at = self.vars.len() - 1 - self.choices.index(self.vars.len());
            let var = self.vars[at].clone();
            let is_shadowed = self.vars[at + 1..]
                .iter()
                .any(|later| later.name == var.name);
            if is_shadowed || !self.is_readable(&var) {
                continue;
            }
            let mut place = Place {
                text: Text::both(&*var.name),
                ty: var.ty,
                writable: var.writable,
                space: var.space,
                roots: var.roots,
                addressable: var.bound.is_none() && !var.is_volatile,
                len: 1,
            };
            loop {
                let found = wanted(&place);
                let is_leaf = place.ty.is_value();
                if found && (is_leaf || self.choices.percent(70)) {
                    return Some(place);
                }
                match self.part_of(&place) {
                    Some(part) => place = part,
                    None if found => return Some(place),
                    None => break,
                }
            }
        }
        None
    }

    /// Some part of a place.
    fn part_of(&mut self, place: &Place) -> Option<Place> {
        let mut part = place.clone();
        match &place.ty {
            Type::Value(_) => return None,
            Type::Record(number) => {
                let record = self.records[*number].clone();
                let field = self.choices.index(record.fields.len());
                let (name, ty) = &record.fields[field];
                // What a pointer leads to is best written with an arrow, if not always.
                let star = place.text.cl.strip_prefix("(*");
                let arrow = star.and_then(|rest| rest.strip_suffix(')'));
                part.text = match arrow {
                    Some(pointer) if is_name(pointer) && !self.choices.percent(20) => {
                        Text::both(format!("{pointer}->{name}"))
                    }
                    _ => Text::of("{}.{}", &[&place.text, name]),
                };
                part.ty = ty.clone();
                part.addressable &= !record.is_packed;
                part.len = 1;
            }
            Type::Array(of, len) => {
                let (index, from) = self.index(*len);
                part.text = match place.addressable {
                    true => self.indexed(&place.text, &index),
                    false => Text::of("{}[{}]", &[&place.text, &index]),
                };
                part.ty = (**of).clone();
                part.len = from.map_or(1, |from| len - from);
            }
            // Where it points to is known when the program runs.
            Type::Pointer { .. } if self.is_constant => return None,
            Type::Pointer {
                space,
                to,
                len,
                writable,
            } => {
                part.ty = (**to).clone();
                part.writable = *writable;
                part.space = *space;
                part.addressable = true;
                if *len > 1 || self.choices.percent(20) {
                    let (index, from) = self.index(*len);
                    part.text = self.indexed(&place.text, &index);
                    part.len = from.map_or(1, |from| len - from);
                } else {
                    part.text = Text::of("(*{})", &[&place.text]);
                    part.len = *len;
                }
            }
        }
        Some(part)
    }

    /// C99 6.5.2.1: "E1[E2] is identical to (*((E1)+(E2)))".
    fn indexed(&mut self, base: &Text, index: &Text) -> Text {
        match self.choices.below(16) {
            14 => Text::of("(*({} + ({})))", &[base, index]),
            15 => Text::of("({})[{}]", &[index, base]),
            _ => Text::of("{}[{}]", &[base, index]),
        }
    }

    /// An index below `len`, and which, if that is known.
    pub fn index(&mut self, len: usize) -> (Text, Option<usize>) {
        let loops: Vec<String> = self
            .vars
            .iter()
            .filter(|var| var.bound.is_some_and(|bound| bound <= len))
            .map(|var| var.name.clone())
            .collect();
        let kind = match self.is_constant {
            true => 0,
            false => self.choices.below(10),
        };
        if kind >= 6 && !loops.is_empty() {
            let at = self.choices.index(loops.len());
            return (Text::both(&*loops[at]), None);
        }
        if kind >= 8 && self.depth > 0 {
            self.depth -= 1;
            let expr = self.purely(Gen::integer);
            self.depth += 1;
            let text = match len.is_power_of_two() && expr.ty.bits() > 4 {
                true => Text::of("{} & {}", &[&expr.at(9), &(len - 1)]),
                false => Text::of("(uint){} % {}", &[&expr.at(15), &len]),
            };
            return (text, None);
        }
        let index = self.choices.index(len);
        (Text::both(index.to_string()), Some(index))
    }

    /// What `make` makes, without side effects.
    pub fn purely<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.pure, true);
        let made = make(self);
        self.pure = before;
        made
    }

    /// A new variable in scope.
    pub fn declare(&mut self, name: &str, ty: Type, writable: bool, space: Space) -> &mut Var {
        let root = self.next_root;
        self.next_root += 1;
        self.vars.push(Var {
            name: name.to_owned(),
            ty,
            writable,
            space,
            roots: vec![root],
            bound: None,
            is_volatile: false,
            nesting: self.nesting,
        });
        self.vars.last_mut().expect("it was pushed")
    }

    /// A variable that counts to less than `bound` and that nothing else changes.
    pub fn declare_counter(&mut self, name: &str, scalar: Scalar, bound: usize) {
        let ty = Type::Value(Ty::scalar(scalar));
        self.declare(name, ty, false, Space::Private).bound = Some(bound);
    }

    /// What `make` makes, in a scope of its own.
    pub fn scope<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let vars = self.vars.len();
        let made = make(self);
        self.vars.truncate(vars);
        made
    }
}

/// Whether it is one word.
pub fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
