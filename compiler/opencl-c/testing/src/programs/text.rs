//! A piece of a program in both languages.

use std::fmt::Write;

/// The same piece as OpenCL C and as C.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    pub cl: String,
    pub c: String,
}

/// What may be put into a [`Text`].
pub trait Piece {
    fn append(&self, to: &mut Text);
}

impl Piece for Text {
    fn append(&self, to: &mut Text) {
        to.cl.push_str(&self.cl);
        to.c.push_str(&self.c);
    }
}

macro_rules! same_in_both {
    ($($ty:ty),*) => {$(
        impl Piece for $ty {
            fn append(&self, to: &mut Text) {
                let _ = write!(to.cl, "{self}");
                let _ = write!(to.c, "{self}");
            }
        }
    )*};
}

same_in_both!(
    str,
    &str,
    String,
    &String,
    u32,
    u64,
    usize,
    i128,
    super::types::Ty,
    super::types::Scalar
);

impl Text {
    pub fn new(cl: impl Into<String>, c: impl Into<String>) -> Text {
        Text {
            cl: cl.into(),
            c: c.into(),
        }
    }

    pub fn both(text: impl Into<String>) -> Text {
        let text = text.into();
        Text {
            cl: text.clone(),
            c: text,
        }
    }

    /// A template with a piece for each `{}`.
    pub fn of(template: &str, pieces: &[&dyn Piece]) -> Text {
        let mut text = Text::default();
        let mut pieces = pieces.iter();
        for (index, part) in template.split("{}").enumerate() {
            if index > 0 {
                pieces
                    .next()
                    .expect("a piece for each place")
                    .append(&mut text);
            }
            part.append(&mut text);
        }
        assert!(pieces.next().is_none(), "a place for each piece");
        text
    }

    /// Different templates for the two languages.
    pub fn either(cl: &str, c: &str, pieces: &[&dyn Piece]) -> Text {
        Text {
            cl: Text::of(cl, pieces).cl,
            c: Text::of(c, pieces).c,
        }
    }

    pub fn push(&mut self, piece: &dyn Piece) {
        piece.append(self);
    }

    pub fn join(all: &[Text], separator: &str) -> Text {
        let mut text = Text::default();
        for (index, one) in all.iter().enumerate() {
            if index > 0 {
                text.push(&separator);
            }
            text.push(one);
        }
        text
    }

    /// Each line two blanks further in.
    pub fn indented(&self) -> Text {
        let indent = |text: &str| text.lines().map(|line| format!("  {line}\n")).collect();
        Text {
            cl: indent(&self.cl),
            c: indent(&self.c),
        }
    }
}
