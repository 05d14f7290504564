//! Which function a call means: overload resolution over the rows of a name.
//!
//! As clang does it for OpenCL C: an overload is better if no argument converts worse and one
//! converts better. Vectors match exactly; scalars convert as in C++, and to vectors of any type as
//! a last resort. `long long` is taken for `long`: no function is of the former.

use super::convert::{self, Pattern};
use super::lowering::Lowering;
use super::signature::{self, Base, Instance, Pointer, Word};
use super::table::Row;
use super::{Argument, Environment, Resolved, Unresolved, index};
use crate::types::{QualType, Scalar, Space, Type, TypeId, TypeQuals, Types};

/// How far an argument is from a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Exact,
    /// A pointer to a named space becomes generic.
    Space,
    Promotion,
    Conversion,
    /// A scalar for all lanes.
    Splat,
    /// What C allows and C++ does not: qualifiers are lost, pointees differ.
    Lossy,
    Incompatible,
}

/// The most parameters that a row has.
const MAX_PARAMS: usize = 14;

/// A row with its generic type known.
struct Candidate {
    row: &'static Row,
    instance: Instance,
    ranks: [Rank; MAX_PARAMS],
}

/// Whether a name is a built-in function's in some version of the language.
pub fn is_builtin(name: &str) -> bool {
    index::rows(name).is_some() || convert::parse(name).is_some()
}

/// Looks the function up that a call means. Arguments are values, arrays and functions decayed.
pub fn resolve(
    name: &str,
    args: &[Argument],
    types: &mut Types,
    env: &Environment<'_>,
) -> Result<Resolved, Unresolved> {
    let Some(rows) = index::rows(name) else {
        return match convert::parse(name) {
            Some(pattern) => resolve_pattern(name, pattern, args, types, env),
            None => Err(Unresolved::Unknown),
        };
    };
    let mut missing = None;
    let mut available = false;
    let mut candidates: Vec<Candidate> = Vec::new();
    let args: Vec<Arg> = args.iter().map(|&arg| Arg::of(arg, types)).collect();
    let limits = Limits::of(env);
    for (group, row) in rows {
        if let Some(what) = env.missing(group.need).or_else(|| env.missing(row.need())) {
            missing.get_or_insert(what);
            continue;
        }
        available = true;
        if add_candidates(row, &args, types, limits, &mut candidates) {
            break;
        }
    }
    if !available {
        return Err(Unresolved::Unavailable(missing.unwrap_or_default()));
    }
    match best(&candidates, args.len()) {
        Ok(candidate) => Ok(instantiate(candidate, &args, types, limits)),
        Err(tied) if tied.is_empty() => {
            let rows = index::rows(name).into_iter().flatten();
            let lacks = |need| env.missing(need).is_some();
            let usable = rows.filter(|(group, row)| !lacks(group.need) && !lacks(row.need()));
            Err(Unresolved::NoMatch(
                usable.map(|(_, row)| describe(row)).collect(),
            ))
        }
        Err(tied) => Err(Unresolved::Ambiguous(
            tied.iter()
                .map(|candidate| describe_instance(candidate))
                .collect(),
        )),
    }
}

/// What the device lacks that every row is about.
#[derive(Clone, Copy, Debug)]
struct Limits {
    half: bool,
    double: bool,
    generic: bool,
}

impl Limits {
    fn of(env: &Environment<'_>) -> Limits {
        Limits {
            half: env.has("cl_khr_fp16"),
            double: env.device.has("cl_khr_fp64") || env.device.has("__opencl_c_fp64"),
            generic: env.has("__opencl_c_generic_address_space"),
        }
    }

    fn allow(self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::Half => self.half,
            Scalar::Double => self.double,
            _ => true,
        }
    }
}

/// An argument, taken apart once.
#[derive(Clone, Copy, Debug)]
struct Arg {
    ty: TypeId,
    kind: ArgKind,
    is_null: bool,
}

#[derive(Clone, Copy, Debug)]
enum ArgKind {
    Arithmetic {
        scalar: Scalar,
        lanes: u8,
        is_enum: bool,
    },
    Pointer {
        pointee: Pointee,
        quals: TypeQuals,
        space: Space,
    },
    Pipe {
        element: TypeId,
        access: crate::ast::Access,
    },
    Image {
        dim: crate::types::ImageDim,
        access: crate::ast::Access,
    },
    Block,
    Error,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pointee {
    Arithmetic(Scalar, u8),
    Atomic(Scalar),
    Void,
    Other(TypeId),
}

impl Arg {
    fn of(arg: Argument, types: &Types) -> Arg {
        let kind = match *types.get(arg.ty) {
            Type::Scalar(scalar) => ArgKind::Arithmetic {
                scalar: scalar.native(),
                lanes: 1,
                is_enum: false,
            },
            Type::Vector(scalar, lanes) => ArgKind::Arithmetic {
                scalar,
                lanes,
                is_enum: false,
            },
            Type::Enum(id) => ArgKind::Arithmetic {
                scalar: types.enums[id.0 as usize].underlying,
                lanes: 1,
                is_enum: true,
            },
            Type::Pointer { pointee, space } => ArgKind::Pointer {
                pointee: Pointee::of(pointee.ty, types),
                quals: pointee.quals,
                space,
            },
            Type::Pipe { element, access } => ArgKind::Pipe { element, access },
            Type::Image { dim, access } => ArgKind::Image { dim, access },
            Type::Block(_) => ArgKind::Block,
            Type::Error => ArgKind::Error,
            _ => ArgKind::Other,
        };
        Arg {
            ty: arg.ty,
            kind,
            is_null: arg.is_null_constant,
        }
    }
}

impl Pointee {
    fn of(ty: TypeId, types: &Types) -> Pointee {
        match *types.get(ty) {
            Type::Scalar(scalar) => Pointee::Arithmetic(scalar.native(), 1),
            Type::Vector(scalar, lanes) => Pointee::Arithmetic(scalar, lanes),
            Type::Enum(id) => Pointee::Arithmetic(types.enums[id.0 as usize].underlying, 1),
            Type::Atomic(inner) => match *types.get(inner) {
                Type::Scalar(scalar) => Pointee::Atomic(scalar.native()),
                _ => Pointee::Other(ty),
            },
            Type::Void => Pointee::Void,
            _ => Pointee::Other(ty),
        }
    }
}

/// Adds every instance of a row that takes the arguments. True if one takes them exactly: there is
/// no better.
fn add_candidates(
    row: &'static Row,
    args: &[Arg],
    types: &Types,
    limits: Limits,
    candidates: &mut Vec<Candidate>,
) -> bool {
    let mut words = [Word {
        pointer: None,
        atomic: false,
        base: Base::Void,
    }; MAX_PARAMS];
    let mut count = 0;
    let mut variadic = false;
    let mut sources: &[u8] = &[1];
    for word in signature::parse(row.signature).skip(1) {
        match word.base {
            Base::Variadic => {
                variadic = true;
                break;
            }
            Base::Generic(signature::Kin::X) => sources = &[2, 4, 8, 16],
            _ => {}
        }
        words[count] = word;
        count += 1;
    }
    if args.len() < count || (args.len() > count && !variadic) {
        return false;
    }
    for scalar in row
        .over
        .each_scalar()
        .filter(|&scalar| limits.allow(scalar))
    {
        for lanes in row.over.each_lanes() {
            for &source_lanes in sources {
                let instance = Instance {
                    scalar,
                    lanes,
                    source_lanes,
                };
                let Some(ranks) = rank_all(&words[..count], instance, args, types, limits) else {
                    continue;
                };
                let is_exact = ranks.iter().all(|&rank| rank == Rank::Exact);
                candidates.push(Candidate {
                    row,
                    instance,
                    ranks,
                });
                if is_exact {
                    return true;
                }
            }
        }
    }
    false
}

fn rank_all(
    words: &[Word],
    instance: Instance,
    args: &[Arg],
    types: &Types,
    limits: Limits,
) -> Option<[Rank; MAX_PARAMS]> {
    let mut ranks = [Rank::Exact; MAX_PARAMS];
    for (at, word) in words.iter().enumerate() {
        ranks[at] = match word.pointer {
            Some(pointer) => rank_pointer(pointer, *word, instance, &args[at], args, types, limits),
            None => rank_value(word.base, instance, &args[at]),
        }?;
    }
    Some(ranks)
}

fn rank_value(base: Base, instance: Instance, arg: &Arg) -> Option<Rank> {
    let exactly = |same: bool| same.then_some(Rank::Exact);
    match (base, arg.kind) {
        (_, ArgKind::Error) => Some(Rank::Exact),
        (Base::Generic(kin), _) => {
            let (scalar, lanes) = kin.of(instance);
            rank_arithmetic(scalar, lanes, arg)
        }
        (Base::Fixed(scalar, lanes), _) => rank_arithmetic(scalar, lanes, arg),
        (Base::Other(ty), _) if ty == arg.ty => Some(Rank::Exact),
        // A null constant is a null event or queue.
        (Base::Other(ty), _) => {
            let opaque = ty == Types::EVENT || ty == Types::QUEUE || ty == Types::CLK_EVENT;
            (arg.is_null && opaque).then_some(Rank::Conversion)
        }
        (Base::Image(dim, access), ArgKind::Image { dim: d, access: a }) => {
            exactly(dim == d && access == a)
        }
        (Base::Pipe(access), ArgKind::Pipe { access: a, .. }) => exactly(access == a),
        (Base::Block, ArgKind::Block) => Some(Rank::Exact),
        _ => None,
    }
}

fn rank_arithmetic(scalar: Scalar, lanes: u8, arg: &Arg) -> Option<Rank> {
    let ArgKind::Arithmetic {
        scalar: from,
        lanes: from_lanes,
        is_enum,
    } = arg.kind
    else {
        return None;
    };
    if from_lanes != lanes {
        return (from_lanes == 1).then_some(Rank::Splat);
    }
    if from == scalar {
        return Some(if is_enum {
            Rank::Promotion
        } else {
            Rank::Exact
        });
    }
    if lanes > 1 {
        return None;
    }
    let narrow = matches!(
        from,
        Scalar::Bool | Scalar::Char | Scalar::UChar | Scalar::Short | Scalar::UShort
    );
    let promotes =
        (scalar == Scalar::Int && narrow) || (scalar == Scalar::Double && from == Scalar::Float);
    Some(if promotes {
        Rank::Promotion
    } else {
        Rank::Conversion
    })
}

fn rank_pointer(
    pointer: Pointer,
    word: Word,
    instance: Instance,
    arg: &Arg,
    args: &[Arg],
    types: &Types,
    limits: Limits,
) -> Option<Rank> {
    if arg.is_null {
        return Some(Rank::Conversion);
    }
    let ArgKind::Pointer {
        pointee,
        quals,
        space,
    } = arg.kind
    else {
        return matches!(arg.kind, ArgKind::Error).then_some(Rank::Exact);
    };
    let in_space = rank_space(pointer, space, limits)?;
    let wanted = match word.base {
        Base::Generic(kin) => {
            let (scalar, lanes) = kin.of(instance);
            Pointee::Arithmetic(scalar, lanes)
        }
        Base::Fixed(scalar, lanes) => Pointee::Arithmetic(scalar, lanes),
        Base::Void => Pointee::Void,
        Base::Other(ty) => Pointee::Other(ty),
        Base::AnyPointee => return Some(in_space),
        Base::Element => args.iter().find_map(|arg| match arg.kind {
            ArgKind::Pipe { element, .. } => Some(Pointee::of(element, types)),
            _ => None,
        })?,
        _ => return None,
    };
    let wanted = match (word.atomic, wanted) {
        (true, Pointee::Arithmetic(scalar, _)) => Pointee::Atomic(scalar),
        (_, wanted) => wanted,
    };
    let loses =
        (quals.is_const && !pointer.is_const) || (quals.is_volatile && !pointer.is_volatile);
    if pointee == wanted {
        return Some(if loses { Rank::Lossy } else { in_space });
    }
    match (pointee, wanted) {
        // A packet has the type that the pipe has.
        _ if word.base == Base::Element => None,
        (_, Pointee::Void) => Some(if loses { Rank::Lossy } else { Rank::Conversion }),
        (Pointee::Void, _) => Some(Rank::Lossy),
        // Atomic types are not what a pointer to something else may point to.
        (_, Pointee::Atomic(_)) | (Pointee::Atomic(_), _) => None,
        (Pointee::Arithmetic(..), Pointee::Arithmetic(..)) => Some(Rank::Incompatible),
        _ => None,
    }
}

fn rank_space(pointer: Pointer, space: Space, limits: Limits) -> Option<Rank> {
    let spaces = if limits.generic {
        pointer.spaces
    } else {
        pointer.spaces.without_generic()
    };
    if spaces.has(space) {
        return Some(Rank::Exact);
    }
    let becomes_generic = space != Space::Constant && spaces.has(Space::Generic);
    becomes_generic.then_some(Rank::Space)
}

/// The candidate that is better than all others; otherwise those that tie. Whatever other arguments
/// are, none is as good to which a pointer to another type is passed.
fn best(candidates: &[Candidate], args: usize) -> Result<&Candidate, Vec<&Candidate>> {
    let used = args.min(MAX_PARAMS);
    let better = |one: &Candidate, other: &Candidate| {
        let (a, b) = (&one.ranks[..used], &other.ranks[..used]);
        a.iter().zip(b).all(|(a, b)| a <= b) && a != b
    };
    let differs = |candidate: &&Candidate| candidate.ranks[..used].contains(&Rank::Incompatible);
    let all_differ = candidates.iter().all(|candidate| differs(&candidate));
    let candidates: Vec<&Candidate> = candidates
        .iter()
        .filter(|candidate| all_differ || !differs(candidate))
        .collect();
    let Some(&(mut winner)) = candidates.first() else {
        return Err(Vec::new());
    };
    for &candidate in &candidates {
        if better(candidate, winner) {
            winner = candidate;
        }
    }
    let tied: Vec<&Candidate> = candidates
        .iter()
        .copied()
        .filter(|other| !std::ptr::eq(*other, winner) && !better(winner, other))
        .collect();
    if tied.is_empty() {
        Ok(winner)
    } else {
        let mut all = vec![winner];
        all.extend(tied);
        Err(all)
    }
}

/// The types of the function that was chosen.
fn instantiate(candidate: &Candidate, args: &[Arg], types: &mut Types, limits: Limits) -> Resolved {
    let Candidate { row, instance, .. } = candidate;
    let mut words = signature::parse(row.signature);
    let result = words.next().expect("a signature has a result");
    let mut params = Vec::new();
    let mut variadic = false;
    for (at, word) in words.enumerate() {
        if word.base == Base::Variadic {
            variadic = true;
        } else {
            params.push(param_type(word, *instance, args, at, types, limits));
        }
    }
    let result = match result.base {
        Base::ToSpace(space) => match *types.get(args[0].ty) {
            Type::Pointer { pointee, .. } => types.pointer(pointee, space),
            _ => types.pointer(Types::VOID.into(), space),
        },
        base => signature::plain_type(base, *instance, types).unwrap_or(Types::VOID),
    };
    Resolved {
        params,
        variadic,
        result,
        lowering: row.lowering,
    }
}

fn param_type(
    word: Word,
    instance: Instance,
    args: &[Arg],
    at: usize,
    types: &mut Types,
    limits: Limits,
) -> TypeId {
    let arg = &args[at];
    let Some(pointer) = word.pointer else {
        return signature::plain_type(word.base, instance, types).unwrap_or(arg.ty);
    };
    let pipe_element = args.iter().find_map(|arg| match arg.kind {
        ArgKind::Pipe { element, .. } => Some(element),
        _ => None,
    });
    let pointee = match (word.base, types.get(arg.ty)) {
        (Base::AnyPointee, Type::Pointer { pointee, .. }) => pointee.ty,
        (Base::Element, _) => pipe_element.unwrap_or(Types::VOID),
        (base, _) => signature::plain_type(base, instance, types).unwrap_or(Types::VOID),
    };
    let pointee = if word.atomic {
        types.intern(Type::Atomic(pointee))
    } else {
        pointee
    };
    let pointee = match *types.get(arg.ty) {
        Type::Pointer { pointee: given, .. } if is_native(given.ty, pointee, types) => given.ty,
        _ => pointee,
    };
    let space = match arg.kind {
        ArgKind::Pointer { space, .. } if pointer.spaces.has(space) => space,
        _ if limits.generic => pointer.spaces.any(),
        _ => pointer.spaces.without_generic().any(),
    };
    let quals = TypeQuals {
        is_const: pointer.is_const,
        is_volatile: pointer.is_volatile,
        ..TypeQuals::default()
    };
    types.pointer(QualType { ty: pointee, quals }, space)
}

/// Whether a type, or an atomic one, is `long long` where OpenCL C's own is `long`.
fn is_native(given: TypeId, own: TypeId, types: &Types) -> bool {
    match (types.get(given), types.get(own)) {
        (Type::Atomic(given), Type::Atomic(own)) => is_native(*given, *own, types),
        (Type::Scalar(given), Type::Scalar(own)) => given.native() == *own,
        _ => false,
    }
}

/// `convert_...` takes any type of as many lanes, `as_...` any of the same size.
fn resolve_pattern(
    name: &str,
    pattern: Pattern,
    args: &[Argument],
    types: &mut Types,
    env: &Environment<'_>,
) -> Result<Resolved, Unresolved> {
    let Pattern {
        scalar,
        lanes,
        lowering,
    } = pattern;
    let limits = Limits::of(env);
    if !limits.allow(scalar) && lowering != Lowering::Reinterpret {
        let extension = if scalar == Scalar::Half {
            "cl_khr_fp16"
        } else {
            "cl_khr_fp64"
        };
        return Err(Unresolved::Unavailable(format!(
            "requires support of the '{extension}' extension"
        )));
    }
    let result = types.vector(scalar, lanes);
    let no_match = || {
        let size = if lanes == 1 {
            "a scalar".to_owned()
        } else {
            format!("a vector of {lanes} components")
        };
        let what = match lowering {
            Lowering::Reinterpret => "a type of the same size".to_owned(),
            _ => size,
        };
        Err(Unresolved::NoMatch(vec![format!("{name} of {what}")]))
    };
    let &[arg] = args else {
        return no_match();
    };
    let fits = match *types.get(arg.ty) {
        Type::Error => true,
        _ if lowering == Lowering::Reinterpret => same_size(arg.ty, result, types),
        _ => matches!(types.as_arithmetic(arg.ty), Some((_, from)) if from == lanes),
    };
    if !fits {
        return no_match();
    }
    Ok(Resolved {
        params: vec![arg.ty],
        variadic: false,
        result,
        lowering,
    })
}

/// Whether two types have the same bytes. A vector of three is one of four.
fn same_size(one: TypeId, other: TypeId, types: &Types) -> bool {
    types.as_arithmetic(one).is_some()
        && types.layout(one).map(|(size, _)| size) == types.layout(other).map(|(size, _)| size)
}

/// A row as a note shows it.
fn describe(row: &Row) -> String {
    let mut words = row.signature.split(' ');
    let result = words.next().unwrap_or_default();
    format!(
        "{} {}({})",
        in_words(result, None),
        row.name,
        words
            .map(|word| in_words(word, None))
            .collect::<Vec<_>>()
            .join(", ")
    )
}

fn describe_instance(candidate: &Candidate) -> String {
    let mut words = candidate.row.signature.split(' ');
    let result = words.next().unwrap_or_default();
    let instance = Some(candidate.instance);
    format!(
        "{} {}({})",
        in_words(result, instance),
        candidate.row.name,
        words
            .map(|word| in_words(word, instance))
            .collect::<Vec<_>>()
            .join(", ")
    )
}

/// A word as OpenCL C would spell the type, generic types by the specification's names.
fn in_words(text: &str, instance: Option<Instance>) -> String {
    let word = signature::parse(text).next();
    let Some(word) = word else {
        return text.to_owned();
    };
    let base = match (word.base, instance) {
        (Base::Generic(kin), Some(instance)) => {
            let (scalar, lanes) = kin.of(instance);
            if lanes == 1 {
                scalar.name().to_owned()
            } else {
                format!("{}{lanes}", scalar.name())
            }
        }
        (Base::Generic(signature::Kin::T | signature::Kin::X), None) => "gentype".into(),
        (Base::Generic(signature::Kin::S), None) => "sgentype".into(),
        (Base::Generic(signature::Kin::Unsigned), None) => "ugentype".into(),
        (Base::Generic(_), None) => "igentype".into(),
        (Base::Fixed(Scalar::ULong, 1), _) => "size_t".into(),
        (Base::Fixed(scalar, 1), _) => scalar.name().into(),
        (Base::Fixed(scalar, lanes), _) => format!("{}{lanes}", scalar.name()),
        (Base::Void | Base::AnyPointee | Base::ToSpace(_), _) => "void".into(),
        (Base::Element, _) => "gentype".into(),
        (Base::Variadic, _) => "...".into(),
        _ => text
            .rsplit('*')
            .next()
            .map_or_else(String::new, |name| format!("{name}_t")),
    };
    let base = if word.atomic {
        format!("atomic_{base}")
    } else {
        base
    };
    match word.pointer {
        None => base,
        Some(pointer) => {
            let space = pointer
                .spaces
                .each()
                .next()
                .map_or("", |space| match space {
                    Space::Global => "__global ",
                    Space::Local => "__local ",
                    Space::Constant => "__constant ",
                    _ => "",
                });
            let qualifier = if pointer.is_const { "const " } else { "" };
            format!("{space}{qualifier}{base} *")
        }
    }
}
