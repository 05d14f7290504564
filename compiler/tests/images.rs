//! Reads and writes of images of each format, with each sampler: expanded in the interpreter and in
//! generated code at several widths, all give what the general routine gives, bit for bit.

use brolga_compiler::image::{
    Addressing, Bindings, ChannelOrder, Component, DataType, Descriptor, Extent, Format, ImageDim,
    Sampler,
};
use brolga_compiler::ir::{Module, parse};
use brolga_compiler::{BuildOptions, Isa, LaunchKey, NdRange, Program};
use brolga_compiler_testing::engines::case::Outcome;
use brolga_compiler_testing::engines::{Arg, Case, Engine, Image};
use half::f16;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Work-items of a launch, in groups that leave some over from whole vectors.
const ITEMS: u64 = 76;
const LOCAL: u64 = 38;

fn formats() -> Vec<Format> {
    let orders = ChannelOrder::ALL.iter();
    let all = orders.flat_map(|&order| {
        let types = DataType::ALL.iter();
        types.filter_map(move |&data_type| Format::new(order, data_type))
    });
    all.collect()
}

const ADDRESSING: [Addressing; 5] = [
    Addressing::None,
    Addressing::ClampToEdge,
    Addressing::Clamp,
    Addressing::Repeat,
    Addressing::MirroredRepeat,
];

/// An image of arbitrary texels, with gaps between rows and planes.
fn image(rng: &mut ChaCha8Rng, dim: ImageDim, format: Format) -> Image {
    let mut size = |there: bool| if there { rng.random_range(1..9) } else { 1 };
    let extent = Extent {
        width: size(true),
        height: size(dim.dimensions() > 1),
        depth: size(dim.dimensions() > 2),
        layers: size(dim.is_array()),
    };
    let texel = format.texel_size() as u64;
    let row = u64::from(extent.width) * texel + rng.random_range(0..3) * texel;
    let slice = u64::from(extent.height) * row + rng.random_range(0..5) * texel;
    let bytes = slice * u64::from(extent.depth * extent.layers);
    Image {
        extent,
        pitches: (row, slice),
        format,
        levels: 1,
        texels: (0..bytes).map(|_| rng.random()).collect(),
    }
}

/// A coordinate: at and around seams, far away, or no number at all.
fn coordinate(rng: &mut ChaCha8Rng, floats: bool, normalized: bool) -> u32 {
    if !floats {
        return match rng.random_range(0..8) {
            0 => i32::MIN as u32,
            1 => i32::MAX as u32,
            2 => rng.random(),
            _ => rng.random_range(-3i32..12) as u32,
        };
    }
    let scale = if normalized { 0.125 } else { 1.0 };
    let value = match rng.random_range(0..12) {
        0 => f32::INFINITY,
        1 => f32::NEG_INFINITY,
        2 => f32::NAN,
        3 => f32::from_bits(rng.random_range(0..1 << 23)),
        4 => f32::from_bits(rng.random()),
        5 => rng.random_range(-4i32..20) as f32 * 0.5 * scale,
        6 => (rng.random_range(-4i32..20) as f32 * 0.5 * scale).next_down(),
        _ => rng.random_range(-3.0f32..12.0) * scale,
    };
    value.to_bits()
}

/// The type of components in the IR.
fn scalar(component: Component) -> &'static str {
    match component {
        Component::F32 => "f32",
        Component::F16 => "f16",
        _ => "i32",
    }
}

/// How a kernel gets coordinates: from memory, or as its ids, which vectors access in a row.
#[derive(Clone, Copy, PartialEq)]
enum From {
    Memory,
    Ids,
}

/// A kernel that reads a texel and stores its components.
fn reading(dim: ImageDim, component: Component, floats: bool, from: From) -> String {
    let (count, ty) = (dim.coordinates(), scalar(component));
    let coordinate = if floats { "f32" } else { "i32" };
    let mut text = String::from(
        "kernel \"k\" @0 (value 0, value 8, value 16, value 24)\n\
         func \"k\" (ptr, i32, ptr, ptr) -> () {\n\
         block0(image: ptr, sampler: i32, at: ptr, to: ptr):\n\
         id: i64 = dim_query.global_id.0\n",
    );
    let mut names: Vec<String> = Vec::new();
    for n in 0..count {
        let offset = ITEMS * 4 * n as u64;
        text.push_str(&format!(
            "b{n}: i64 = const {offset}\nf{n}: i64 = const 4\ns{n}: i64 = imul id, f{n}\n\
             o{n}: i64 = iadd s{n}, b{n}\np{n}: ptr = ptr_add at, o{n}\n\
             c{n}: {coordinate} = load.global.align4 p{n}\n",
        ));
        names.push(format!("c{n}"));
    }
    if from == From::Ids {
        text.push_str(
            "five: i32 = const 5\nnarrow: i32 = convert.trunc id\nx: i32 = isub narrow, five\n",
        );
        let converted = "fx: f32 = convert.s_to_f x\n";
        names = if floats {
            text.push_str(converted);
            vec!["fx".into()]
        } else {
            vec!["x".into()]
        };
        // The others are the same for all.
        for n in 1..count {
            text.push_str(&format!("u{n}: {coordinate} = load.global.align4 at\n"));
            names.push(format!("u{n}"));
        }
    }
    let bytes = if component == Component::F16 { 2 } else { 4 };
    text.push_str(&format!(
        "r0: {ty}, r1: {ty}, r2: {ty}, r3: {ty} = image_read.constant.{}.{} image, sampler, {}\n\
         size: i64 = const {}\n\
         offset: i64 = imul id, size\nplace: ptr = ptr_add to, offset\n\
         store.global.align{bytes} place, r0, r1, r2, r3\nret\n}}\n",
        dim.name(),
        component.name(),
        names.join(", "),
        4 * bytes,
    ));
    text
}

/// A kernel that writes a texel, each work-item in a place of its own or nowhere.
fn writing(dim: ImageDim, component: Component) -> String {
    let ty = scalar(component);
    let bytes = if component == Component::F16 { 2 } else { 4 };
    let coordinates = match dim.coordinates() {
        1 => "less",
        2 => "rest, row",
        _ => "rest, line, plane",
    };
    format!(
        "kernel \"k\" @0 (value 0, value 8)\n\
         func \"k\" (ptr, ptr) -> () {{\nblock0(image: ptr, at: ptr):\n\
         id: i64 = dim_query.global_id.0\nfive: i32 = const 5\nn: i32 = convert.trunc id\n\
         sixteen: i32 = const 16\nfour: i32 = const 4\nless: i32 = isub n, five\n\
         rest: i32 = srem less, sixteen\nrow: i32 = sdiv less, sixteen\n\
         plane: i32 = sdiv row, four\nline: i32 = srem row, four\n\
         size: i64 = const {}\noffset: i64 = imul id, size\nplace: ptr = ptr_add at, offset\n\
         r0: {ty}, r1: {ty}, r2: {ty}, r3: {ty} = load.global.align{bytes} place\n\
         image_write.global.{}.{} image, {}, r0, r1, r2, r3\nret\n}}\n",
        4 * bytes,
        dim.name(),
        component.name(),
        coordinates,
    )
}

fn run(module: &Module, args: &[Arg], engine: Engine) -> Outcome {
    let range = NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [ITEMS, 1, 1],
        local_size: [LOCAL, 1, 1],
    };
    let case = Case::new(module, 0, range, args.to_vec());
    engine
        .run(&case, 1 << 24)
        .unwrap_or_else(|error| panic!("{}: {error}", engine.name()))
}

/// Numbers of components, which a NaN has no bits of its own among.
fn numbers(bytes: &[u8], component: Component) -> Vec<u32> {
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let half = |bytes: &[u8]| u16::from_le_bytes([bytes[0], bytes[1]]);
    match component {
        Component::F32 => (bytes.chunks_exact(4).map(word))
            .map(|bits| {
                if f32::from_bits(bits).is_nan() {
                    u32::MAX
                } else {
                    bits
                }
            })
            .collect(),
        Component::F16 => (bytes.chunks_exact(2).map(half))
            .map(|bits| {
                if f16::from_bits(bits).is_nan() {
                    u32::MAX
                } else {
                    bits.into()
                }
            })
            .collect(),
        _ => bytes.iter().map(|&byte| byte.into()).collect(),
    }
}

/// Runs a kernel in all ways, generated code at one width; `written` is the buffer that it fills
/// with numbers.
fn compare(
    text: &str,
    args: &[Arg],
    width: u8,
    (written, component): (usize, Component),
    what: &str,
) {
    let module = parse::module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let expected = run(&module, args, Engine::Translated);
    for engine in [Engine::Prepared, Engine::Generated(Isa::Sse42, width)] {
        let found = run(&module, args, engine);
        let of = |outcome: &Outcome| numbers(&outcome.buffers[written], component);
        let both: Vec<_> = of(&expected)
            .into_iter()
            .zip(of(&found))
            .enumerate()
            .collect();
        let differ: Vec<_> = both.iter().filter(|(_, (a, b))| a != b).take(8).collect();
        let name = engine.name();
        assert!(
            differ.is_empty(),
            "{what}: {name} differs: {differ:x?}\n{text}"
        );
    }
}

fn component(rng: &mut ChaCha8Rng, format: Format) -> Component {
    match format.data_type.is_float() {
        true if rng.random_bool(0.3) => Component::F16,
        true => Component::F32,
        false => [Component::Int, Component::Signed, Component::Unsigned][rng.random_range(0..3)],
    }
}

#[test]
fn reads_are_those_of_the_routine() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (n, &format) in formats().iter().enumerate() {
        for (k, addressing) in ADDRESSING.into_iter().enumerate() {
            let dim = ImageDim::ALL[rng.random_range(0..ImageDim::ALL.len())];
            let sampler = Sampler {
                normalized: rng.random(),
                addressing,
                linear: rng.random(),
            };
            let floats = rng.random_bool(0.7);
            let from = if rng.random_bool(0.3) {
                From::Ids
            } else {
                From::Memory
            };
            let component = component(&mut rng, format);
            let at: Vec<u8> = (0..ITEMS as usize * dim.coordinates())
                .flat_map(|_| coordinate(&mut rng, floats, sampler.normalized).to_le_bytes())
                .collect();
            let args = [
                Arg::Image(image(&mut rng, dim, format)),
                Arg::Sampler(sampler.bits()),
                Arg::Buffer(at),
                Arg::Buffer(vec![0x55; 16 * ITEMS as usize]),
            ];
            let width = [1, 4, 8, 16, 2][(n + k) % 5];
            let what = format!("{format:?} {dim:?} {sampler:?} {component:?}");
            let text = reading(dim, component, floats, from);
            compare(&text, &args, width, (2, component), &what);
        }
    }
}

#[test]
fn writes_are_those_of_the_routine() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for (n, &format) in formats().iter().enumerate() {
        let dim = ImageDim::ALL[rng.random_range(0..ImageDim::ALL.len())];
        let component = component(&mut rng, format);
        let colors: Vec<u8> = (0..4 * ITEMS)
            .flat_map(|_| {
                let near = rng.random_range(-1.5f32..1.5);
                let bits = match (component, rng.random_range(0..4)) {
                    (_, 0) => rng.random(),
                    (Component::F32, _) => near.to_bits(),
                    (Component::F16, _) => f16::from_f32(near).to_bits().into(),
                    _ => rng.random_range(-300i32..70_000) as u32,
                };
                let bytes = bits.to_le_bytes();
                bytes[..if component == Component::F16 { 2 } else { 4 }].to_vec()
            })
            .collect();
        let args = [
            Arg::Image(image(&mut rng, dim, format)),
            Arg::Buffer(colors),
        ];
        let width = [1, 4, 8, 16, 2][n % 5];
        let what = format!("{format:?} {dim:?} {component:?}");
        let written = match format.data_type {
            DataType::Float => Component::F32,
            DataType::HalfFloat => Component::F16,
            _ => Component::Int,
        };
        compare(&writing(dim, component), &args, width, (0, written), &what);
    }
}

/// A kernel that copies a texel, read at its ids or at a coordinate `x` that it loads.
fn copying(x: &str) -> String {
    format!(
        "kernel \"k\" @0 (value 0, value 8, value 16)\n\
         func \"k\" (ptr, ptr, ptr) -> () {{\nblock0(from: ptr, to: ptr, at: ptr):\n\
         i: i64 = dim_query.global_id.0\nj: i64 = dim_query.global_id.1\n\
         id: i32 = convert.trunc i\nrow: i32 = convert.trunc j\nsampler: i32 = const 0x12\n\
         four: i64 = const 4\noffset: i64 = imul i, four\nplace: ptr = ptr_add at, offset\n\
         loaded: i32 = load.global.align4 place\n\
         r: f32, g: f32, b: f32, a: f32 = image_read.constant.2d.f32 from, sampler, {x}, row\n\
         image_write.global.2d.f32 to, id, row, r, g, b, a\nret\n}}\n"
    )
}

/// What is said of code for images of a format, or of ones of which nothing is known.
fn remarks(text: &str, format: Option<Format>) -> String {
    let module = parse::module(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let program = Program::from_module(module, &BuildOptions::default()).expect("a program");
    let range = NdRange {
        work_dim: 2,
        global_offset: [0; 3],
        global_size: [64, 64, 1],
        local_size: [64, 1, 1],
    };
    let mut bindings = Bindings::NONE;
    if let Some(format) = format {
        let extent = Extent {
            width: 64,
            height: 64,
            depth: 1,
            layers: 1,
        };
        let row = 64 * format.texel_size() as u64;
        let image = Descriptor::new(0x1000, extent, (row, 64 * row), format);
        bindings.bind_image(0, &image);
        bindings.bind_image(1, &image);
    }
    let key = LaunchKey {
        bindings,
        ..LaunchKey::new(&range, 8)
    };
    let code = program.compile(0, &key).expect("code");
    code.remarks().join("\n")
}

/// Texels at neighbouring ids are loaded and stored as vectors, others lane by lane.
#[test]
fn neighbours_are_accessed_together() {
    for data_type in [DataType::UnormInt8, DataType::HalfFloat, DataType::Float] {
        let format = Format::new(ChannelOrder::Rgba, data_type);
        let by_id = remarks(&copying("id"), format);
        assert!(!by_id.contains("is gathered"), "{data_type:?}: {by_id}");
        assert!(!by_id.contains("is scattered"), "{data_type:?}: {by_id}");
        let anywhere = remarks(&copying("loaded"), format);
        assert!(
            anywhere.contains("load is gathered"),
            "{data_type:?}: {anywhere}"
        );
        let unknown = remarks(&copying("loaded"), None);
        assert!(!unknown.contains("is gathered"), "a call a lane: {unknown}");
    }
}
