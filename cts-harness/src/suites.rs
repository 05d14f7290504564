//! The table of suites: how each executable of the CTS wants to be run.

use std::path::{Path, PathBuf};

/// How the sub-tests of a suite are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// The executable prints them when run with `--list`.
    Asked,
    /// `--list` prints one name for all, but the executable takes the name of any conversion,
    /// `destination[_sat][_rounding]_source`; those are the sub-tests.
    Conversions,
}

/// Where a suite finds assembled SPIR-V modules; it is told by `--spirv-binaries-path`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modules {
    /// It has none.
    None,
    /// In `spirv_bin` beside its executable.
    Beside,
    /// There too, unless the user says otherwise: older builds of the CTS do not assemble them.
    BesideOrGiven,
}

/// One suite: an executable with fixed arguments.
#[derive(Debug, Clone, Copy)]
pub struct Suite {
    /// The name it goes by in results and expectations.
    pub name: &'static str,
    /// The executable, below `test_conformance`.
    pub path: &'static str,
    /// Arguments of every call, before the sub-test's name.
    pub args: &'static [&'static str],
    pub listing: Listing,
    pub modules: Modules,
    /// Wants the memory or the time of the whole machine: never beside another sub-test.
    pub alone: bool,
    /// Takes its first argument for its own name (its `parseArgs` drops `argv[0]`), so the
    /// sub-test's name has to be given twice.
    pub name_twice: bool,
    /// How many time limits one of its sub-tests may take.
    pub patience: u32,
    /// Run when no suites are chosen.
    pub default: bool,
}

impl Suite {
    /// The executable in a build, given the build's `test_conformance` folder.
    pub fn executable(&self, test_conformance: &Path) -> PathBuf {
        test_conformance.join(self.path)
    }
}

const fn plain(name: &'static str, path: &'static str) -> Suite {
    Suite {
        name,
        path,
        args: &[],
        listing: Listing::Asked,
        modules: Modules::None,
        alone: false,
        name_twice: false,
        patience: 1,
        default: true,
    }
}

/// A suite with sub-tests that take minutes on a processor or two.
const fn long(suite: Suite) -> Suite {
    Suite {
        patience: 5,
        ..suite
    }
}

const fn alone(suite: Suite) -> Suite {
    Suite {
        alone: true,
        ..suite
    }
}

/// A sub-test of images is of every format, and wimpy mode does not change that.
const fn image(name: &'static str, path: &'static str, args: &'static [&'static str]) -> Suite {
    Suite {
        args,
        patience: 10,
        ..plain(name, path)
    }
}

/// As a suite of the default list, with pitches. Kernels see no difference, so that it can be left
/// to those who have hours.
const fn pitched(name: &'static str, path: &'static str, args: &'static [&'static str]) -> Suite {
    Suite {
        default: false,
        ..image(name, path, args)
    }
}

/// Images as large as the device allows: hours, too.
const fn largest(name: &'static str, path: &'static str, args: &'static [&'static str]) -> Suite {
    Suite {
        patience: 60,
        default: false,
        ..alone(image(name, path, args))
    }
}

const READ_WRITE: &str = "images/kernel_read_write/test_image_streams";
const COPY: &str = "images/clCopyImage/test_cl_copy_images";
const HOST: &str = "images/clReadWriteImage/test_cl_read_write_images";
const FILL: &str = "images/clFillImage/test_cl_fill_images";
const SAMPLERLESS: &str = "images/samplerlessReads/test_samplerless_reads";

/// Every suite, in the order in which it is run. The executables and arguments are those of the
/// CTS's `opencl_conformance_tests_full.csv`.
pub const SUITES: &[Suite] = &[
    plain("computeinfo", "computeinfo/test_computeinfo"),
    plain("api", "api/test_api"),
    // Strided asynchronous copies fill and compare gigabytes on the host.
    long(plain("basic", "basic/test_basic")),
    plain("buffers", "buffers/test_buffers"),
    plain("integer_ops", "integer_ops/test_integer_ops"),
    plain("atomics", "atomics/test_atomics"),
    plain(
        "thread_dimensions",
        "thread_dimensions/test_thread_dimensions",
    ),
    plain("printf", "printf/test_printf"),
    Suite {
        modules: Modules::BesideOrGiven,
        ..plain("spirv_new", "spirv_new/test_spirv_new")
    },
    Suite {
        modules: Modules::Beside,
        ..plain("compiler", "compiler/test_compiler")
    },
    plain("commonfns", "commonfns/test_commonfns"),
    plain("geometrics", "geometrics/test_geometrics"),
    plain("relationals", "relationals/test_relationals"),
    plain("select", "select/test_select"),
    plain("vectors", "vectors/test_vectors"),
    plain("half", "half/test_half"),
    plain("contractions", "contractions/test_contractions"),
    plain("math_brute_force", "math_brute_force/test_bruteforce"),
    Suite {
        listing: Listing::Conversions,
        ..plain("conversions", "conversions/test_conversions")
    },
    // Compares and exchanges in more than 1,000 programs, ten million times in each.
    long(plain("c11_atomics", "c11_atomics/test_c11_atomics")),
    plain(
        "generic_address_space",
        "generic_address_space/test_generic_address_space",
    ),
    Suite {
        name_twice: true,
        ..plain(
            "non_uniform_work_group",
            "non_uniform_work_group/test_non_uniform_work_group",
        )
    },
    plain("workgroups", "workgroups/test_workgroups"),
    plain("subgroups", "subgroups/test_subgroups"),
    plain("pipes", "pipes/test_pipes"),
    plain("device_execution", "device_execution/test_device_execution"),
    plain("svm", "SVM/test_svm"),
    plain("events", "events/test_events"),
    plain("mem_host_flags", "mem_host_flags/test_mem_host_flags"),
    plain(
        "multiple_device_context",
        "multiple_device_context/test_multiples",
    ),
    plain("device_partition", "device_partition/test_device_partition"),
    plain(
        "ext_buffer_device_address",
        "extensions/cl_ext_buffer_device_address/test_cl_ext_buffer_device_address",
    ),
    plain(
        "ext_cxx_for_opencl",
        "extensions/cl_ext_cxx_for_opencl/test_cl_ext_cxx_for_opencl",
    ),
    plain(
        "khr_command_buffer",
        "extensions/cl_khr_command_buffer/test_cl_khr_command_buffer",
    ),
    plain(
        "khr_mutable_dispatch",
        "extensions/cl_khr_command_buffer/cl_khr_command_buffer_mutable_dispatch/test_cl_khr_mutable_dispatch",
    ),
    plain(
        "khr_kernel_clock",
        "extensions/cl_khr_kernel_clock/test_cl_khr_kernel_clock",
    ),
    plain(
        "khr_semaphore",
        "extensions/cl_khr_semaphore/test_cl_khr_semaphore",
    ),
    alone(plain("profiling", "profiling/test_profiling")),
    alone(plain("device_timer", "device_timer/test_device_timer")),
    Suite {
        args: &["single", "5"],
        ..alone(long(plain(
            "allocations_single",
            "allocations/test_allocations",
        )))
    },
    Suite {
        args: &["multiple", "5"],
        ..alone(long(plain(
            "allocations_multiple",
            "allocations/test_allocations",
        )))
    },
    image("images_info", "images/clGetInfo/test_cl_get_info", &[]),
    image(
        "images_methods",
        "images/kernel_image_methods/test_kernel_image_methods",
        &[],
    ),
    image("images_kernel_nearest", READ_WRITE, &["CL_FILTER_NEAREST"]),
    pitched(
        "images_kernel_nearest_pitch",
        READ_WRITE,
        &["use_pitches", "CL_FILTER_NEAREST"],
    ),
    largest(
        "images_kernel_nearest_max",
        READ_WRITE,
        &["max_images", "CL_FILTER_NEAREST"],
    ),
    image("images_kernel_linear", READ_WRITE, &["CL_FILTER_LINEAR"]),
    pitched(
        "images_kernel_linear_pitch",
        READ_WRITE,
        &["use_pitches", "CL_FILTER_LINEAR"],
    ),
    largest(
        "images_kernel_linear_max",
        READ_WRITE,
        &["max_images", "CL_FILTER_LINEAR"],
    ),
    image(
        "images_kernel_mipmaps",
        READ_WRITE,
        &["test_mipmaps", "CL_FILTER_NEAREST"],
    ),
    image("images_copy", COPY, &[]),
    image("images_copy_small", COPY, &["small_images"]),
    largest("images_copy_max", COPY, &["max_images"]),
    image("images_copy_mipmaps", COPY, &["test_mipmaps"]),
    image("images_host", HOST, &[]),
    image("images_host_pitch", HOST, &["use_pitches"]),
    largest("images_host_max", HOST, &["max_images"]),
    image("images_host_mipmaps", HOST, &["test_mipmaps"]),
    image("images_fill", FILL, &[]),
    image("images_fill_pitch", FILL, &["use_pitches"]),
    largest("images_fill_max", FILL, &["max_images"]),
    image("images_samplerless", SAMPLERLESS, &[]),
    image("images_samplerless_pitch", SAMPLERLESS, &["use_pitches"]),
    largest("images_samplerless_max", SAMPLERLESS, &["max_images"]),
];

/// The suites of a build that were asked for, in the table's order. Names that were asked for one
/// by one must be in the build; `all`, a prefix and no names at all take what is.
///
/// # Errors
/// A name that is not in the table or not in the build, or a folder without any suite.
pub fn choose(asked: &[String], test_conformance: &Path) -> Result<Vec<&'static Suite>, String> {
    let matches = |pattern: &str, suite: &Suite| match pattern.strip_suffix('*') {
        _ if pattern == "all" => true,
        Some(prefix) => suite.name.starts_with(prefix),
        None => suite.name == pattern,
    };
    for pattern in asked {
        if !SUITES.iter().any(|s| matches(pattern, s)) {
            let names: Vec<_> = SUITES.iter().map(|s| s.name).collect();
            return Err(format!(
                "no suite is called {pattern:?}; expected one of {}",
                names.join(", ")
            ));
        }
    }
    let mut chosen = Vec::new();
    for suite in SUITES {
        let by_name = asked.iter().any(|p| p == suite.name);
        let wanted = if asked.is_empty() {
            suite.default
        } else {
            asked.iter().any(|p| matches(p, suite))
        };
        let executable = suite.executable(test_conformance);
        match (wanted, executable.is_file()) {
            (true, true) => chosen.push(suite),
            (true, false) if by_name => {
                return Err(format!(
                    "suite {} is not in this build: no file {}",
                    suite.name,
                    executable.display()
                ));
            }
            _ => {}
        }
    }
    if chosen.is_empty() {
        return Err(format!(
            "no suite found below {}; expected a CTS build",
            test_conformance.display()
        ));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = SUITES.iter().map(|s| s.name).collect();
        assert_eq!(names.len(), SUITES.len());
    }

    #[test]
    fn choosing_looks_at_the_build() {
        let build = tempfile::tempdir().unwrap();
        for name in ["basic", "half", "images_copy"] {
            let suite = SUITES.iter().find(|s| s.name == name).unwrap();
            let file = suite.executable(build.path());
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let chosen = |asked: &[&str]| -> Result<Vec<&str>, String> {
            let asked: Vec<_> = asked.iter().map(|s| s.to_string()).collect();
            Ok(choose(&asked, build.path())?
                .iter()
                .map(|s| s.name)
                .collect())
        };
        assert_eq!(
            chosen(&[]).unwrap(),
            [
                "basic",
                "half",
                "images_copy",
                "images_copy_small",
                "images_copy_mipmaps"
            ]
        );
        assert_eq!(chosen(&["half"]).unwrap(), ["half"]);
        assert_eq!(
            chosen(&["images_c*"]).unwrap(),
            [
                "images_copy",
                "images_copy_small",
                "images_copy_max",
                "images_copy_mipmaps"
            ]
        );
        assert!(chosen(&["all"]).unwrap().contains(&"images_copy_max"));
        assert!(
            chosen(&["api"])
                .unwrap_err()
                .contains("suite api is not in this build")
        );
        assert!(
            chosen(&["nope"])
                .unwrap_err()
                .contains("no suite is called \"nope\"")
        );
    }
}
