//! Images and samplers as arguments: `2d 4x2 rgba unorm_int8 i8 [..]`, `normalized repeat linear`.

use brolga_compiler::image::{
    Addressing, ChannelOrder, DataType, Extent, Format, ImageDim, LevelsOfDetail, Sampler,
};

use super::data;
use crate::engines::Image;

/// The one of a list whose name in the API, without `CL_` and in lower case, is `word`.
fn named<T: Copy + std::fmt::Debug>(all: &[T], word: &str) -> Result<T, String> {
    let plain = |name: &str| name.to_lowercase().replace('_', "");
    let mut all = all.iter().copied();
    all.find(|one| plain(&format!("{one:?}")) == plain(word))
        .ok_or_else(|| format!("unknown word {word:?} in an image's format"))
}

/// A dimensionality, sizes, a channel order, a channel data type, pitches if rows or planes do not
/// lie end to end, the number of levels if there are several, and the contents.
pub fn image(text: &str) -> Result<Image, String> {
    let mut words = text.split_whitespace().peekable();
    let mut word = |what: &str| words.next().ok_or_else(|| format!("expected {what}"));
    let dim = word("a dimensionality")?;
    let dim = ImageDim::from_name(dim).ok_or_else(|| format!("unknown dimensionality {dim:?}"))?;
    let sizes = word("sizes")?;
    let numbers: Vec<u32> = sizes
        .split('x')
        .map(|size| size.parse().map_err(|_| format!("not a size: {sizes}")))
        .collect::<Result<_, _>>()?;
    if numbers.len() != dim.coordinates() {
        return Err(format!(
            "an image that is {} has {} sizes, not {sizes}",
            dim.name(),
            dim.coordinates()
        ));
    }
    let mut sizes = numbers.into_iter();
    let mut size = |there: bool| match there {
        true => sizes.next().unwrap_or(1),
        false => 1,
    };
    let extent = Extent {
        width: size(true),
        height: size(dim.dimensions() > 1),
        depth: size(dim.dimensions() > 2),
        layers: size(dim.is_array()),
    };
    let order = named(ChannelOrder::ALL, word("a channel order")?)?;
    let data_type = named(DataType::ALL, word("a channel data type")?)?;
    let format = Format::new(order, data_type)
        .ok_or_else(|| format!("{order:?} does not go with {data_type:?}"))?;
    let mut row = u64::from(extent.width) * format.texel_size() as u64;
    let mut slice = row * u64::from(extent.height);
    if words.peek() == Some(&"pitch") {
        words.next();
        let mut number = || words.next_if(|word| word.parse::<u64>().is_ok());
        row = number()
            .and_then(|word| word.parse().ok())
            .ok_or("expected a pitch in bytes")?;
        slice = number()
            .and_then(|word| word.parse().ok())
            .unwrap_or(row * u64::from(extent.height));
    }
    let mut levels = 1;
    if words.next_if(|&word| word == "levels").is_some() {
        let number = words.next().and_then(|word| word.parse().ok());
        levels = number.ok_or("expected a number of levels")?;
    }
    let rest: Vec<&str> = words.collect();
    let image = Image {
        extent,
        pitches: (row, slice),
        format,
        levels,
        texels: data::bytes(&rest.join(" "))?,
    };
    let bytes = image.descriptors(0).into_iter().map(|level| {
        let planes = u64::from(level.depth) * u64::from(level.layers);
        level.slice_pitch * planes
    });
    let bytes: u64 = bytes.sum();
    if image.texels.len() as u64 != bytes {
        return Err(format!(
            "the image has {bytes} bytes, not {}",
            image.texels.len()
        ));
    }
    Ok(image)
}

/// Whether coordinates are normalized, an addressing mode, a filter, whether levels are filtered, and
/// bounds of the level of detail.
pub fn sampler(text: &str) -> Result<u32, String> {
    let mut detail = LevelsOfDetail::DEFAULT;
    let mut sampler = Sampler {
        normalized: false,
        addressing: Addressing::None,
        linear: false,
    };
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let mut bound = || -> Result<f32, String> {
            let level = words.next().and_then(|word| word.parse().ok());
            level.ok_or_else(|| "expected a level of detail".to_owned())
        };
        match word {
            "levels_linear" => detail.linear = true,
            "lod_min" => detail.least = bound()?,
            "lod_max" => detail.most = bound()?,
            "normalized" => sampler.normalized = true,
            "nearest" => sampler.linear = false,
            "linear" => sampler.linear = true,
            "none" => sampler.addressing = Addressing::None,
            "clamp_to_edge" => sampler.addressing = Addressing::ClampToEdge,
            "clamp" => sampler.addressing = Addressing::Clamp,
            "repeat" => sampler.addressing = Addressing::Repeat,
            "mirrored_repeat" => sampler.addressing = Addressing::MirroredRepeat,
            _ => return Err(format!("unknown word {word:?} in a sampler")),
        }
    }
    Ok(sampler.bits() | detail.bits())
}
