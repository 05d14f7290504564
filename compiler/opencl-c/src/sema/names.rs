//! Types as diagnostics write them.

use super::aliases::Alias;
use crate::ast::Access;
use crate::symbol::{Interner, Symbol};
use crate::types::{ImageDim, QualType, Space, Type, TypeId, TypeQuals, Types};

/// The words for a type.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    pub interner: &'a Interner,
    /// What the source calls a type that the type is made of.
    pub alias: Option<Alias>,
    /// C's words for scalars: `unsigned long`.
    pub in_c: bool,
}

impl How<'_> {
    fn plain(interner: &Interner) -> How<'_> {
        How {
            interner,
            alias: None,
            in_c: false,
        }
    }
}

impl Types {
    /// The type as clang writes it: `const __global int *`.
    pub fn name(&self, ty: QualType, interner: &Interner) -> String {
        self.name_as(ty, How::plain(interner))
    }

    /// The type in other words.
    pub(super) fn name_as(&self, ty: QualType, how: How<'_>) -> String {
        self.declare(ty, None, Declarator::default(), how)
    }

    /// The type around a declarator `inner`, of an object in `space`.
    fn declare(
        &self,
        ty: QualType,
        space: Option<Space>,
        mut inner: Declarator,
        how: How<'_>,
    ) -> String {
        stacker::maybe_grow(64 << 10, 1 << 20, || match self.get(ty.ty) {
            _ if how.alias.is_some_and(|alias| alias.ty == ty.ty) => {
                self.declare_base(ty, space, inner, how)
            }
            Type::Pointer { pointee, space: to } => {
                let mut text = String::from("*");
                if let Some(space) = space {
                    text.push_str(space_name(space));
                }
                text.push_str(&qualifiers(ty.quals));
                inner.prepend(text.trim_end().to_owned());
                if let Type::Array { .. } | Type::Function(_) = self.get(pointee.ty) {
                    inner.prepend("(".to_owned());
                    inner.append(")");
                }
                self.declare(*pointee, Some(*to), inner, how)
            }
            Type::Array { element, len } => {
                let len = len.map_or(String::new(), |len| len.to_string());
                inner.append(&format!("[{len}]"));
                self.declare(*element, space, inner, how)
            }
            Type::Function(function) => {
                let params: Vec<String> = function
                    .params
                    .iter()
                    .map(|&param| self.name_as(param.into(), how))
                    .collect();
                let params = if params.is_empty() && !function.unspecified {
                    "void".to_owned()
                } else {
                    params.join(", ")
                };
                inner.append(&format!("({params})"));
                self.declare(function.result, None, inner, how)
            }
            Type::Block(function) => {
                let quals = if ty.quals.is_const { "const" } else { "" };
                inner.prepend(format!("(__generic ^{quals}"));
                inner.append(")");
                self.declare((*function).into(), None, inner, how)
            }
            _ => self.declare_base(ty, space, inner, how),
        })
    }

    fn declare_base(
        &self,
        ty: QualType,
        space: Option<Space>,
        inner: Declarator,
        how: How<'_>,
    ) -> String {
        let mut text = qualifiers(ty.quals);
        if let Some(space) = space {
            text.push_str(space_name(space));
        }
        match how.alias {
            Some(alias) if alias.ty == ty.ty => text.push_str(how.interner.text(alias.name)),
            _ => text.push_str(&self.base_name(ty.ty, how)),
        }
        inner.behind(text)
    }

    /// A type that is no pointer, array or function.
    fn base_name(&self, ty: TypeId, how: How<'_>) -> String {
        let tagged = |kind: &str, tag: Option<Symbol>, alias: Option<Symbol>| match (tag, alias) {
            (Some(tag), _) => format!("{kind} {}", how.interner.text(tag)),
            (None, Some(alias)) => how.interner.text(alias).to_owned(),
            (None, None) => format!("{kind} (unnamed)"),
        };
        match self.get(ty) {
            Type::Void => "void".into(),
            Type::Truth(_) => "bool".into(),
            Type::Scalar(scalar) if how.in_c => scalar.c_name().into(),
            Type::Scalar(scalar) => scalar.name().into(),
            Type::Vector(scalar, lanes) => format!("{}{lanes}", scalar.name()),
            Type::Record(id) => {
                let record = &self.records[id.0 as usize];
                let kind = if record.is_union { "union" } else { "struct" };
                tagged(kind, record.tag, record.typedef_name)
            }
            Type::Enum(id) => {
                let of = &self.enums[id.0 as usize];
                tagged("enum", of.tag, of.typedef_name)
            }
            Type::Image { dim, access } => {
                format!("{} {}", access_name(*access), dim.name())
            }
            Type::Pipe { element, access } => {
                let element = self.name_as((*element).into(), how);
                format!("{} pipe {element}", access_name(*access))
            }
            Type::Sampler => "sampler_t".into(),
            Type::Event => "event_t".into(),
            Type::ClkEvent => "clk_event_t".into(),
            Type::Queue => "queue_t".into(),
            Type::NdRange => "ndrange_t".into(),
            Type::ReserveId => "reserve_id_t".into(),
            Type::Atomic(inner) => format!("_Atomic({})", self.name_as((*inner).into(), how)),
            Type::Opaque(_) => "named_barrier_t".into(),
            Type::Error => "<error type>".into(),
            Type::Pointer { .. } | Type::Array { .. } | Type::Function(_) | Type::Block(_) => {
                unreachable!("written by the caller")
            }
        }
    }
}

impl ImageDim {
    /// The type's name in OpenCL C.
    pub fn name(self) -> &'static str {
        match self {
            ImageDim::D1 => "image1d_t",
            ImageDim::D1Array => "image1d_array_t",
            ImageDim::D1Buffer => "image1d_buffer_t",
            ImageDim::D2 => "image2d_t",
            ImageDim::D2Array => "image2d_array_t",
            ImageDim::D2Depth => "image2d_depth_t",
            ImageDim::D2ArrayDepth => "image2d_array_depth_t",
            ImageDim::D2Msaa => "image2d_msaa_t",
            ImageDim::D2ArrayMsaa => "image2d_array_msaa_t",
            ImageDim::D2MsaaDepth => "image2d_msaa_depth_t",
            ImageDim::D2ArrayMsaaDepth => "image2d_array_msaa_depth_t",
            ImageDim::D3 => "image3d_t",
        }
    }

    pub fn parse(name: &str) -> Option<ImageDim> {
        const ALL: [ImageDim; 12] = [
            ImageDim::D1,
            ImageDim::D1Array,
            ImageDim::D1Buffer,
            ImageDim::D2,
            ImageDim::D2Array,
            ImageDim::D2Depth,
            ImageDim::D2ArrayDepth,
            ImageDim::D2Msaa,
            ImageDim::D2ArrayMsaa,
            ImageDim::D2MsaaDepth,
            ImageDim::D2ArrayMsaaDepth,
            ImageDim::D3,
        ];
        ALL.into_iter().find(|dim| dim.name() == name)
    }
}

/// What is written around a name, from the inside out: pointers in front of it, arrays and
/// parameters behind.
#[derive(Default)]
struct Declarator {
    /// The outermost last.
    before: Vec<String>,
    after: String,
}

impl Declarator {
    /// Writes text in front, apart from a word that is there.
    fn prepend(&mut self, mut text: String) {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let first = match self.before.last() {
            Some(before) => before,
            None => &self.after,
        };
        if text.ends_with(word) && first.starts_with(|c| word(c) || c == '*') {
            text.push(' ');
        }
        self.before.push(text);
    }

    fn append(&mut self, text: &str) {
        self.after.push_str(text);
    }

    fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// All of it behind what it declares.
    fn behind(self, mut text: String) -> String {
        if !self.is_empty() {
            text.push(' ');
        }
        self.before
            .iter()
            .rev()
            .for_each(|part| text.push_str(part));
        text.push_str(&self.after);
        text
    }
}

fn qualifiers(quals: TypeQuals) -> String {
    let mut text = String::new();
    for (set, name) in [
        (quals.is_const, "const "),
        (quals.is_volatile, "volatile "),
        (quals.is_restrict, "restrict "),
    ] {
        if set {
            text.push_str(name);
        }
    }
    text
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Private => "__private ",
        Space::Global => "__global ",
        Space::Local => "__local ",
        Space::Constant => "__constant ",
        Space::Generic => "__generic ",
    }
}

fn access_name(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "__read_only",
        Access::WriteOnly => "__write_only",
        Access::ReadWrite => "__read_write",
    }
}
