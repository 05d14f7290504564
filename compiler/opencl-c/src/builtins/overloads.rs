//! Every overload of the table, as types and as a source that calls it, for tests of later stages.

use super::lowering::{Image, Lowering};
use super::signature::{self, Base, Instance, Kin, Spaces, Word};
use super::table::{GROUPS, Row};
use crate::ast::Access;
use crate::types::{ImageDim, QualType, Scalar, Space, Type, TypeId, TypeQuals, Types};

/// Kernels that call the overloads of one row.
pub(crate) struct Source {
    pub name: &'static str,
    /// What brings the row.
    pub need: &'static str,
    pub text: String,
    pub kernels: usize,
}

/// A source for each row. Kernels have names of their own in all of them.
pub(crate) fn sources() -> Vec<Source> {
    let groups = GROUPS.iter().copied().flatten();
    let rows = groups.flat_map(|group| group.rows.iter().map(|row| (group.need, row)));
    let mut sources = Vec::new();
    for (number, (need, row)) in rows.enumerate() {
        let words: Vec<Word> = signature::parse(row.signature).collect();
        let mut source = Source {
            name: row.name,
            need,
            text: "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n".to_owned(),
            kernels: 0,
        };
        for (instance, space) in overloads(row, &words) {
            let kernel = format!("k{number}_{}", source.kernels);
            source.text += &Kernel::new(row, instance, space).text(&kernel, &words);
            source.kernels += 1;
        }
        sources.push(source);
    }
    sources
}

/// An overload of the table.
pub(crate) struct Overload {
    pub name: &'static str,
    pub lowering: Lowering,
    pub params: Vec<TypeId>,
}

/// Every overload whose parameters' types say which it is: none of blocks or pipes, and none that
/// takes any number of arguments.
pub(crate) fn every(types: &mut Types) -> Vec<Overload> {
    let mut all = Vec::new();
    for row in GROUPS
        .iter()
        .copied()
        .flatten()
        .flat_map(|group| group.rows)
    {
        let words: Vec<Word> = signature::parse(row.signature).collect();
        for (instance, space) in overloads(row, &words) {
            let params = words[1..].iter();
            let params = params.map(|&word| param(word, instance, space, types));
            if let Some(params) = params.collect() {
                let (name, lowering) = (row.name, row.lowering);
                all.push(Overload {
                    name,
                    lowering,
                    params,
                });
            }
        }
    }
    all
}

fn param(
    word: Word,
    instance: Instance,
    space: Option<Space>,
    types: &mut Types,
) -> Option<TypeId> {
    let mut ty = signature::plain_type(word.base, instance, types)?;
    let Some(pointer) = word.pointer else {
        return Some(ty);
    };
    if word.atomic {
        ty = types.intern(Type::Atomic(ty));
    }
    let quals = TypeQuals {
        is_const: pointer.is_const,
        is_volatile: pointer.is_volatile,
        ..TypeQuals::default()
    };
    let space = pointer_space(pointer.spaces, space);
    Some(types.pointer(QualType { ty, quals }, space))
}

/// Where a pointer points in an overload whose first one points to `space`.
fn pointer_space(spaces: Spaces, space: Option<Space>) -> Space {
    match space {
        Some(space) if spaces.has(space) => space,
        _ => spaces.each().next().expect("a pointer has a space"),
    }
}

/// The instances of a row, in each address space that its first pointer may have.
fn overloads(row: &Row, words: &[Word]) -> Vec<(Instance, Option<Space>)> {
    let pointers = words[1..].iter().filter_map(|word| word.pointer);
    let spaces: Vec<Option<Space>> = match pointers.map(|pointer| pointer.spaces).next() {
        Some(spaces) => spaces.each().map(Some).collect(),
        None => vec![None],
    };
    let has_source = words.iter().any(|word| word.base == Base::Generic(Kin::X));
    let sources: &[u8] = if has_source { &[2, 4, 8, 16] } else { &[1] };
    let mut all = Vec::new();
    for scalar in row.over.each_scalar() {
        for lanes in row.over.each_lanes() {
            for &source_lanes in sources {
                let instance = Instance {
                    scalar,
                    lanes,
                    source_lanes,
                };
                all.extend(spaces.iter().map(|&space| (instance, space)));
            }
        }
    }
    all
}

/// A kernel while it is written.
struct Kernel {
    row: &'static Row,
    instance: Instance,
    space: Option<Space>,
    params: Vec<String>,
    declarations: String,
}

impl Kernel {
    fn new(row: &'static Row, instance: Instance, space: Option<Space>) -> Kernel {
        Kernel {
            row,
            instance,
            space,
            params: vec![
                "global uchar *g".to_owned(),
                "local uchar *l".to_owned(),
                "constant uchar *c".to_owned(),
            ],
            declarations: String::new(),
        }
    }

    fn text(mut self, kernel: &str, words: &[Word]) -> String {
        let count = words.len() - 1;
        let args: Vec<String> = (words[1..].iter().enumerate())
            .map(|(at, &word)| self.argument(at, count, word))
            .collect();
        let call = format!("{}({})", self.row.name, args.join(", "));
        let result = self.result(words[0].base, &call);
        let Kernel {
            params,
            declarations,
            ..
        } = self;
        let params = params.join(", ");
        format!("kernel void {kernel}({params}) {{\n{declarations}    {result}\n}}\n")
    }

    /// A statement that makes something of the call.
    fn result(&self, base: Base, call: &str) -> String {
        match base {
            Base::Void => format!("{call};"),
            Base::ToSpace(_) => format!("*(global int *)g = {call} == 0;"),
            Base::Other(Types::EVENT) => format!("event_t r = {call}; wait_group_events(1, &r);"),
            Base::Other(ty) => format!("{} r = {call};", other_name(ty)),
            base => format!("*(global {} *)g = {call};", self.type_name(base)),
        }
    }

    fn argument(&mut self, at: usize, count: usize, word: Word) -> String {
        if let Some(literal) = self.literal(at, count) {
            return literal.to_owned();
        }
        if let Some(pointer) = word.pointer {
            return self.pointer(at, word, pointer.spaces);
        }
        match word.base {
            Base::Image(dim, access) => self.param(at, &image_name(dim, access)),
            Base::Pipe(Access::ReadOnly) => self.param(at, "read_only pipe float4"),
            Base::Pipe(_) => self.param(at, "write_only pipe float4"),
            Base::Other(Types::SAMPLER) => self.param(at, "sampler_t"),
            Base::Other(Types::EVENT) => "0".to_owned(),
            Base::Other(Types::CLK_EVENT) => "create_user_event()".to_owned(),
            Base::Other(Types::QUEUE) => "get_default_queue()".to_owned(),
            Base::Other(Types::ND_RANGE) => "ndrange_1D(1)".to_owned(),
            Base::Other(ty) => {
                self.declarations += &format!("    {} v{at};\n", other_name(ty));
                format!("v{at}")
            }
            Base::Block if self.row.signature.ends_with("...") => {
                "^(local void *room) { *(local int *)room = 1; }".to_owned()
            }
            Base::Block => "^{ *g = 1; }".to_owned(),
            // After a format, or the size of a block's argument.
            Base::Variadic if self.row.lowering == Lowering::Printf => {
                "g[0], *(global float4 *)g".to_owned()
            }
            Base::Variadic => "16u".to_owned(),
            base => format!("((global {} *)g)[{}]", self.type_name(base), at + 1),
        }
    }

    /// What must be known when the program is compiled.
    fn literal(&self, at: usize, count: usize) -> Option<&'static str> {
        let is_last = at + 1 == count;
        match self.row.lowering {
            Lowering::Printf if at == 0 => Some("\"%d %v4hlf\\n\""),
            Lowering::Image(Image::SampleLod) if is_last => Some("0.0f"),
            Lowering::Image(Image::WriteLod) if at == 2 => Some("0"),
            _ if self.row.name.contains("clustered") && is_last => Some("4"),
            _ => None,
        }
    }

    fn param(&mut self, at: usize, ty: &str) -> String {
        self.params.push(format!("{ty} a{at}"));
        format!("a{at}")
    }

    fn pointer(&mut self, at: usize, word: Word, spaces: Spaces) -> String {
        let space = pointer_space(spaces, self.space);
        let pointee = match word.base {
            Base::Void => "void".to_owned(),
            Base::AnyPointee => "int".to_owned(),
            base if word.atomic => format!("atomic_{}", self.type_name(base)),
            base => self.type_name(base),
        };
        let is_object = matches!(word.base, Base::Other(_));
        match space {
            Space::Private if pointee == "void" => "(private void *)0".to_owned(),
            Space::Private => {
                self.declarations += &format!("    {pointee} v{at};\n");
                format!("&v{at}")
            }
            Space::Generic if is_object => {
                self.declarations += &format!("    {pointee} v{at};\n");
                format!("(generic {pointee} *)&v{at}")
            }
            Space::Generic => format!("(generic {pointee} *)g"),
            Space::Global => format!("(global {pointee} *)g"),
            Space::Local => format!("(local {pointee} *)l"),
            Space::Constant => format!("(constant {pointee} *)c"),
        }
    }

    fn type_name(&self, base: Base) -> String {
        let (scalar, lanes) = match base {
            Base::Generic(kin) => kin.of(self.instance),
            Base::Fixed(Scalar::Bool, _) => (Scalar::Int, 1),
            Base::Fixed(scalar, lanes) => (scalar, lanes),
            Base::Element => (Scalar::Float, 4),
            Base::Other(ty) => return other_name(ty).to_owned(),
            other => unreachable!("{other:?} has no name"),
        };
        if lanes == 1 {
            scalar.name().to_owned()
        } else {
            format!("{}{lanes}", scalar.name())
        }
    }
}

fn other_name(ty: TypeId) -> &'static str {
    match ty {
        Types::EVENT => "event_t",
        Types::CLK_EVENT => "clk_event_t",
        Types::QUEUE => "queue_t",
        Types::ND_RANGE => "ndrange_t",
        Types::RESERVE_ID => "reserve_id_t",
        Types::SAMPLER => "sampler_t",
        other => unreachable!("{other:?} has no name"),
    }
}

fn image_name(dim: ImageDim, access: Access) -> String {
    let access = match access {
        Access::ReadOnly => "read_only",
        Access::WriteOnly => "write_only",
        Access::ReadWrite => "read_write",
    };
    let name = match dim {
        ImageDim::D1 => "1d",
        ImageDim::D1Array => "1d_array",
        ImageDim::D1Buffer => "1d_buffer",
        ImageDim::D2 => "2d",
        ImageDim::D2Array => "2d_array",
        ImageDim::D2Depth => "2d_depth",
        ImageDim::D2ArrayDepth => "2d_array_depth",
        ImageDim::D2Msaa => "2d_msaa",
        ImageDim::D2ArrayMsaa => "2d_array_msaa",
        ImageDim::D2MsaaDepth => "2d_msaa_depth",
        ImageDim::D2ArrayMsaaDepth => "2d_array_msaa_depth",
        ImageDim::D3 => "3d",
    };
    format!("{access} image{name}_t")
}
