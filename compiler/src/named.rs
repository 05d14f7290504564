//! Enumerations that have names in the text form of the IR: one table that printer and parser
//! share.

/// Declares a field-less enum together with its text names, `ALL` and `from_name`.
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $Enum:ident { $($(#[$vmeta:meta])* $Variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $Enum { $($(#[$vmeta])* $Variant,)* }

        impl $Enum {
            /// Every variant, in declaration order.
            pub const ALL: &'static [$Enum] = &[$($Enum::$Variant,)*];

            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $($Enum::$Variant => $text,)* }
            }

            /// The variant with this name in the text form.
            pub fn from_name(name: &str) -> Option<$Enum> {
                match name { $($text => Some($Enum::$Variant),)* _ => None }
            }
        }
    };
}

pub(crate) use named;
