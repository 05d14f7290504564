//! The command line of an offline compiler, as the OpenCL conformance tests call one
//! (`cl_offline_compiler-interface.txt` there).

use brolga_opencl_c::Device;
use brolga_opencl_c::options::FEATURES;

use crate::args::{self, Arguments, Request};

/// Whether the command line is one of those.
pub fn is_offline(words: &[String]) -> bool {
    let before = words.iter().take_while(|word| *word != "--");
    before.into_iter().any(|word| name(word).0 == "--mode")
}

/// An option and the value that is joined to it.
fn name(word: &str) -> (&str, Option<&str>) {
    match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    }
}

/// Reads the command line and the file about the device.
///
/// # Errors
/// A sentence that names the option and what was expected of it.
pub fn parse(words: &[String]) -> Result<Request, String> {
    let mut words = words.iter().cloned();
    let (mut source, mut output, mut info, mut mode) = (None, None, None, None);
    while let Some(word) = words.next().filter(|word| word != "--") {
        let (name, value) = name(&word);
        let place = match name {
            "--source" => &mut source,
            "--output" => &mut output,
            "--cl-device-info" => &mut info,
            "--mode" => &mut mode,
            _ => return Err(format!("unknown option {word:?} before --")),
        };
        let value = value.map(str::to_owned).or_else(|| words.next());
        *place = Some(value.ok_or(format!("{name} wants a value"))?);
    }
    match mode.as_deref() {
        Some("spir-v") => {}
        other => {
            return Err(format!(
                "--mode={}: only spir-v can be made",
                other.unwrap_or_default()
            ));
        }
    }
    let device = match info {
        Some(path) => {
            device(&std::fs::read_to_string(&path).map_err(|why| format!("{path}: {why}"))?)
        }
        None => Device::full(),
    };
    let mut arguments = Arguments::new(device);
    // The tests link modules and look for what is in them.
    arguments.options.whole_program = false;
    while let Some(word) = words.next() {
        args::option(&word, &mut words, &mut arguments)?;
    }
    if !arguments.input.is_empty() {
        return Err(format!("unexpected {:?} behind --", arguments.input));
    }
    arguments.input = source.ok_or("--source is missing")?;
    arguments.output = Some(output.ok_or("--output is missing")?);
    Ok(Request::Run(Box::new(arguments)))
}

/// The device that a list of `KEY=VALUE` is about. Features are not in it: a device is taken to have
/// all that its extensions and its version leave open.
fn device(info: &str) -> Device {
    let value = |key: &str| {
        let values = info.lines().filter_map(|line| line.split_once('='));
        let mut values = values.filter(|(name, _)| name.trim() == key);
        values
            .next()
            .map(|(_, value)| value.trim().trim_matches('"'))
    };
    let mut device = Device {
        version: 310,
        ..Device::default()
    };
    // `OpenCL 3.0 ...`
    if let Some(version) = value("CL_DEVICE_VERSION").and_then(|text| text.split(' ').nth(1)) {
        let digits: String = version.chars().filter(char::is_ascii_digit).collect();
        device.version = digits.parse::<u32>().map_or(310, |number| number * 10);
    }
    let extensions = value("CL_DEVICE_EXTENSIONS").unwrap_or_default();
    device.extensions = extensions.split_whitespace().map(str::to_owned).collect();
    let has_images = value("CL_DEVICE_IMAGE_SUPPORT") != Some("0");
    let is_there = |feature: &str| match feature {
        _ if feature.contains("image") => has_images,
        "__opencl_c_fp64" => device.has("cl_khr_fp64"),
        _ if feature.starts_with("__opencl_c_ext_fp16") => {
            device.has("cl_ext_float_atomics") && device.has("cl_khr_fp16")
        }
        _ if feature.starts_with("__opencl_c_ext_") => device.has("cl_ext_float_atomics"),
        _ if feature.starts_with("__opencl_c_kernel_clock") => device.has("cl_khr_kernel_clock"),
        _ if feature.starts_with("__opencl_c_integer_dot") => {
            device.has("cl_khr_integer_dot_product")
        }
        _ => device.version >= 200,
    };
    let features = FEATURES.iter().filter(|&&feature| is_there(feature));
    device.features = features.map(|&feature| feature.to_owned()).collect();
    device
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_interface_of_the_tests_is_read() {
        let line = "--mode=spir-v --source=a.cl --output b.spv -- -cl-std=CL3.0 -D X=1";
        assert!(is_offline(&words(line)));
        let Ok(Request::Run(arguments)) = parse(&words(line)) else {
            panic!("not read");
        };
        assert_eq!(arguments.input, "a.cl");
        assert_eq!(arguments.output.as_deref(), Some("b.spv"));
        assert_eq!(arguments.options.std.number(), 300);
        assert_eq!(arguments.options.defines.len(), 1);
        assert!(!is_offline(&words("-DX a.cl -- --mode=x")));
    }

    #[test]
    fn a_device_is_what_the_file_says() {
        let device = device(
            "# OpenCL device info affecting SPIR-V offline compilation:\n\
             CL_DEVICE_ADDRESS_BITS=64\nCL_DEVICE_EXTENSIONS=\"cl_khr_fp64 cl_khr_icd\"\n\
             CL_DEVICE_VERSION=\"OpenCL 3.0 some driver\"\nCL_DEVICE_IMAGE_SUPPORT=0\n",
        );
        assert_eq!(device.version, 300);
        assert_eq!(device.extensions, ["cl_khr_fp64", "cl_khr_icd"]);
        assert!(device.has("__opencl_c_fp64") && device.has("__opencl_c_pipes"));
        assert!(!device.has("__opencl_c_images") && !device.has("cl_khr_fp16"));
        assert!(!device.has("__opencl_c_ext_fp32_global_atomic_add"));
    }

    #[test]
    fn mistakes_are_named() {
        for (line, expected) in [
            ("--mode=binary --source=a --output=b", "only spir-v"),
            ("--mode=spir-v --output=b", "--source is missing"),
            ("--mode=spir-v --source=a", "--output is missing"),
            ("--mode=spir-v --what=a", "\"--what=a\""),
            ("--mode=spir-v --source=a --output=b -- c.cl", "\"c.cl\""),
            ("--mode=spir-v --source=a --output=b -- -foo", "\"-foo\""),
        ] {
            let error = parse(&words(line)).unwrap_err();
            assert!(error.contains(expected), "{line}: {error}");
        }
    }
}
