//! What the host is told of a kernel's arguments.

use rspirv::spirv::Op;

use super::kernels::KernelMaker;
use super::reflection::Argument;
use super::writer::{literal, with};

/// Numbers of `clGetKernelArgInfo`, of access qualifiers.
const ACCESS: [(u32, &str); 3] = [
    (0x11a0, "read_only"),
    (0x11a1, "write_only"),
    (0x11a2, "read_write"),
];
/// Bits of its type qualifiers.
const QUALIFIERS: [(u32, &str); 3] = [(1, "const"), (2, "restrict"), (4, "volatile")];

impl KernelMaker<'_, '_> {
    /// The strings that describe a kernel's arguments, as LLVM's translator writes them, and one of
    /// the attributes that it had in the source.
    pub fn describe(&mut self) {
        let kernel = self.kernel;
        if !kernel.attributes.is_empty() {
            self.say("kernel_attributes", &kernel.attributes);
        }
        let mut list = |what: &str, text: &dyn Fn(&Argument<'_>) -> String| {
            let of = |ordinal| kernel.arguments.get(&ordinal).map_or(String::new(), text);
            let texts: Vec<String> = (0..kernel.count).map(of).collect();
            if texts.iter().any(|text| !text.is_empty()) {
                self.say(what, &format!("{},", texts.join(",")));
            }
        };
        list("kernel_arg_name", &|argument| {
            argument
                .info
                .as_ref()
                .map_or(String::new(), |info| info.name.clone())
        });
        list("kernel_arg_type", &|argument| {
            let info = argument.info.as_ref();
            info.and_then(|info| info.type_name.clone())
                .unwrap_or_default()
        });
        list("kernel_arg_access_qual", &|argument| {
            let told = argument.info.as_ref().and_then(|info| info.access);
            let name = ACCESS.iter().find(|(number, _)| Some(*number) == told);
            name.map_or(String::new(), |(_, name)| name.to_string())
        });
        list("kernel_arg_type_qual", &|argument| {
            let told = argument.info.as_ref().and_then(|info| info.qualifiers);
            let told = told.unwrap_or(0);
            let names = QUALIFIERS.iter().filter(|(bit, _)| told & bit != 0);
            let names: Vec<&str> = names.map(|(_, name)| *name).collect();
            names.join(" ")
        });
    }

    /// A string about the kernel.
    fn say(&mut self, what: &str, text: &str) {
        let text = format!("{what}.{}.{text}", self.kernel.name);
        let id = self.lowering.writer.fresh();
        let place = self.lowering.place;
        let operands = with(&[id], &literal(&text));
        let strings = &mut self.lowering.writer.debug;
        strings.inst(place, Op::String, &operands);
    }
}
