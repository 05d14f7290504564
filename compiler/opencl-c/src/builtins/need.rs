//! What brings a function: versions of the language, features of the device, extensions.
//!
//! A need is alternatives separated by `|`, each of which is conditions joined by `&`: a version
//! (`2.0`: that or a newer one), the name of a feature or extension, or one of these words:
//!
//! | word | meaning |
//! | --- | --- |
//! | `sub_groups` | the feature, or an extension that has the same functions |
//! | `c11` | C11's atomics: OpenCL C 2.0 and newer |
//! | `images` `read_write_images` `3d_image_writes` | images and what may be done with them |

use super::Environment;
use crate::options::Std;

impl Environment<'_> {
    /// What is missing for a need, in words; `None` if nothing is.
    pub(super) fn missing(&self, need: &str) -> Option<String> {
        if need.is_empty() {
            return None;
        }
        let mut missing = None;
        for alternative in need.split('|') {
            match alternative.split('&').find(|one| !self.has(one)) {
                None => return None,
                Some(condition) => {
                    missing.get_or_insert(condition);
                }
            }
        }
        missing.map(in_words)
    }

    /// Whether a feature or extension is there, or a version is reached.
    pub fn has(&self, condition: &str) -> bool {
        match condition {
            "1.1" => self.std >= Std::C11,
            "1.2" => self.std >= Std::C12,
            "2.0" | "c11" => self.std >= Std::C20,
            "3.0" => self.std >= Std::C30,
            "3.1" => self.std >= Std::C31,
            "sub_groups" => {
                self.has("__opencl_c_subgroups")
                    || self.device.has("cl_khr_subgroups")
                    || self.device.has("cl_intel_subgroups")
            }
            "images" => self.device.has("__opencl_c_images"),
            "read_write_images" => {
                self.std >= Std::C20 && self.device.has("__opencl_c_read_write_images")
            }
            "3d_image_writes" => {
                self.has("__opencl_c_3d_image_writes") || self.device.has("cl_khr_3d_image_writes")
            }
            _ if condition.starts_with("__opencl_c_") => self.has_feature(condition),
            _ => self.device.has(condition),
        }
    }

    /// OpenCL C Specification, "Features": optional from 3.0 on, required by 2.0 for those that it
    /// has.
    fn has_feature(&self, feature: &str) -> bool {
        const REQUIRED: [&str; 8] = [
            "__opencl_c_atomic_order_acq_rel",
            "__opencl_c_atomic_order_seq_cst",
            "__opencl_c_atomic_scope_device",
            "__opencl_c_device_enqueue",
            "__opencl_c_generic_address_space",
            "__opencl_c_pipes",
            "__opencl_c_program_scope_global_variables",
            "__opencl_c_work_group_collective_functions",
        ];
        // Features that extensions bring are in every version that has the extension.
        let of_extension = feature.starts_with("__opencl_c_integer_dot")
            || feature.starts_with("__opencl_c_kernel_clock")
            || feature.starts_with("__opencl_c_ext_");
        match self.std {
            _ if of_extension => self.device.has(feature),
            Std::C20 => REQUIRED.contains(&feature),
            Std::C30 | Std::C31 => self.device.has(feature),
            Std::C10 | Std::C11 | Std::C12 => false,
        }
    }
}

fn in_words(condition: &str) -> String {
    match condition {
        "c11" => "requires OpenCL C 2.0 or newer".into(),
        "sub_groups" => "requires support of the '__opencl_c_subgroups' feature".into(),
        "images" => "requires support of the '__opencl_c_images' feature".into(),
        "read_write_images" => {
            "requires support of the '__opencl_c_read_write_images' feature".into()
        }
        "3d_image_writes" => "requires support of the '__opencl_c_3d_image_writes' feature".into(),
        version if version.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("requires OpenCL C {version} or newer")
        }
        feature if feature.starts_with("__opencl_c_") => {
            format!("requires support of the '{feature}' feature")
        }
        extension => format!("requires support of the '{extension}' extension"),
    }
}
