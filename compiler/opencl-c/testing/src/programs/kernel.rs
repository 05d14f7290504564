//! The kernel: its arguments, its memory, and what it tells of its variables.

use super::text::Text;
use super::types::{Scalar, Space, Ty, Type, declaration};
use super::{Argument, Gen, ITEMS};

/// Operations on a counter that commute with one another.
const COUNTERS: &[&[&str]] = &[
    &["atomic_add", "atomic_sub", "atomic_inc", "atomic_dec"],
    &["atomic_xor"],
    &["atomic_or"],
    &["atomic_and"],
    &["atomic_min"],
    &["atomic_max"],
];

/// What is known of the kernel so far.
#[derive(Default)]
struct Kernel {
    params: Vec<String>,
    args: Vec<Argument>,
    /// Statements with which it begins.
    start: Text,
}

impl Gen<'_> {
    /// The kernel, and what it takes.
    pub fn kernel(&mut self, name: &str) -> (Text, Vec<Argument>) {
        let mut kernel = Kernel::default();
        let globals = self.vars.len();
        kernel.params.push("global ulong *out".to_owned());
        self.cost = 0;
        self.repeat(2, |g| g.argument(&mut kernel));
        self.repeat(1, |g| g.counter(&mut kernel));
        let mut body = std::mem::take(&mut kernel.start);
        let scale = self.scale;
        self.repeat(2 * scale, |g| {
            body.push(&g.statements(2 * scale));
            match g.choices.below(5) {
                0..=1 => {}
                2 => body.push(&g.part(Gen::slot)),
                _ => body.push(&g.part(Gen::exchange)),
            }
        });
        let mix = format!("{}mix", self.prefix);
        let mut told = Text::default();
        let mut slots = 0;
        for var in self.vars[globals..].to_vec() {
            if matches!(var.ty, Type::Pointer { .. }) {
                continue;
            }
            let mut values = Vec::new();
            self.observe(&Text::both(&*var.name), &var.ty, &mut values);
            if values.is_empty() {
                continue;
            }
            told.push(&"h = 0;\n");
            for value in &values {
                told.push(&Text::of("h = {}(h, {});\n", &[&mix, value]));
            }
            told.push(&Text::both(format!(
                "out[get_global_id(0) * SLOTS + {slots}] = h;\n"
            )));
            slots += 1;
        }
        body.push(&Text::of("ulong h;\n{}", &[&told]));
        let body = body.indented();
        let head = format!("kernel void {name}({})", kernel.params.join(", "));
        let mut text = Text::of("{} {\n{}}\n", &[&head, &body]);
        for text in [&mut text.cl, &mut text.c] {
            *text = text.replace("SLOTS", &slots.to_string());
        }
        kernel.args.insert(0, Argument::Out(8 * slots * 2 * ITEMS));
        (text, kernel.args)
    }

    fn argument(&mut self, kernel: &mut Kernel) {
        let name = self.local_name();
        let ty = self.any_type(1);
        let is_plain = self.is_plain(&ty);
        let record_or_value = !matches!(ty, Type::Array(..));
        match self.choices.below(4) {
            0 if is_plain && record_or_value => {
                let size = self.size(&ty);
                kernel.params.push(declaration(&ty, &name, &self.records));
                kernel.args.push(Argument::Value {
                    ty: declaration(&ty, "", &self.records),
                    size,
                });
                self.declare(&name, ty, true, Space::Private);
            }
            1 if is_plain && record_or_value => {
                let space = self.choices.one(&[Space::Global, Space::Constant]);
                let len = 1 + self.choices.index(4);
                let size = self.size(&ty) * len;
                let pointer = Type::Pointer {
                    space,
                    to: Box::new(ty),
                    len,
                    writable: false,
                };
                kernel
                    .params
                    .push(declaration(&pointer, &name, &self.records));
                kernel.args.push(Argument::Input(size));
                self.declare(&name, pointer, false, Space::Private);
            }
            _ => {
                // An element for each work-item, which it sets first.
                let pointer = Type::Pointer {
                    space: Space::Global,
                    to: Box::new(ty.clone()),
                    len: 2 * ITEMS,
                    writable: true,
                };
                let size = self.size(&ty) * 2 * ITEMS;
                kernel
                    .params
                    .push(declaration(&pointer, &name, &self.records));
                kernel.args.push(Argument::Scratch(size));
                let place = format!("{name}[get_global_id(0)]");
                let first = self.first(&place, &ty);
                kernel.start.push(&first);
                self.declare(&place, ty, true, Space::Global);
            }
        }
    }

    /// `place = value;`, by way of a variable if it is an array.
    fn first(&mut self, place: &str, ty: &Type) -> Text {
        self.sequence_point();
        self.depth = 1;
        let mut name = self.local_name();
        let value = self.initialiser(ty, false);
        let declared = declaration(ty, &name, &self.records);
        let mut text = Text::of("{ {} = {};\n", &[&declared, &value]);
        let (mut ty, mut place, mut ends) = (ty, place.to_owned(), 0);
        while let Type::Array(of, len) = ty {
            let at = self.local_name();
            text.push(&Text::both(format!(
                "for (int {at} = 0; {at} < {len}; {at}++) {{\n"
            )));
            name = format!("{name}[{at}]");
            place = format!("{place}[{at}]");
            ty = of;
            ends += 1;
        }
        text.push(&Text::both(format!(
            "{place} = {name};\n{}}}\n",
            "}".repeat(ends)
        )));
        text
    }

    /// Memory that work-items change together.
    fn counter(&mut self, kernel: &mut Kernel) {
        let name = self.local_name();
        let ty = self.choices.one(&[Scalar::Int, Scalar::UInt]);
        let names = self.choices.one(COUNTERS);
        kernel.params.push(format!("volatile global {ty} *{name}"));
        kernel.args.push(Argument::Counter);
        self.counters.push((name, ty, names));
    }

    /// An element of local memory for each work-item, which only it reads and writes.
    fn slot(&mut self) -> Text {
        let (mut text, name, ty) = self.local_array();
        let place = format!("{name}[get_local_id(0)]");
        let first = self.first(&place, &ty);
        text.push(&first);
        self.declare(&place, ty, true, Space::Local);
        text
    }

    fn local_array(&mut self) -> (Text, String, Type) {
        let name = self.local_name();
        let ty = self.any_type(1);
        let array = Type::Array(Box::new(ty.clone()), ITEMS);
        let text = declaration(&array, &name, &self.records);
        (
            Text::either("local {};\n", "static {};\n", &[&text]),
            name,
            ty,
        )
    }

    /// Work-items read what others wrote.
    fn exchange(&mut self) -> Text {
        let (mut text, name, ty) = self.local_array();
        let first = self.first(&format!("{name}[get_local_id(0)]"), &ty);
        let barrier = match self.has_generic && self.choices.percent(30) {
            true => "work_group_barrier(CLK_LOCAL_MEM_FENCE);\n",
            false => "barrier(CLK_LOCAL_MEM_FENCE);\n",
        };
        text.push(&first);
        text.push(&barrier);
        let array = Type::Array(Box::new(ty.clone()), ITEMS);
        self.declare(&name, array, false, Space::Local);
        if let (Type::Value(Ty { lanes: 1, scalar }), true) = (&ty, self.choices.percent(40)) {
            // Rounds of reading all and writing one.
            let (count, at, next) = (
                2 + self.choices.below(2),
                self.local_name(),
                self.local_name(),
            );
            self.sequence_point();
            self.times *= count;
            let value = self.value(*scalar);
            self.times /= count;
            text.push(&Text::of(
                "for (int {} = 0; {} < {}; {}++) {\n{} {} = {};\n{}{}[get_local_id(0)] = {};\n{}}\n",
                &[
                    &at, &at, &count, &at, scalar, &next, &value, &barrier, &name, &next, &barrier,
                ],
            ));
        }
        text
    }

    /// All that there is in a variable, as numbers of type `ulong`.
    fn observe(&self, place: &Text, ty: &Type, values: &mut Vec<Text>) {
        match ty {
            Type::Value(ty) => {
                for lane in 0..ty.lanes {
                    let part = match ty.is_scalar() {
                        true => place.clone(),
                        false => Text::new(
                            format!("{}.s{lane:x}", place.cl),
                            format!("{}[{lane}]", place.c),
                        ),
                    };
                    let bits = ty.scalar.with_sign(false);
                    values.push(match ty.scalar.is_float() {
                        true => Text::either("as_{}({})", "AS({}, {})", &[&bits, &part]),
                        false => part,
                    });
                }
            }
            Type::Array(of, len) => {
                for at in 0..*len {
                    self.observe(&Text::of("{}[{}]", &[place, &at]), of, values);
                }
            }
            Type::Record(number) => {
                for (field, ty) in &self.records[*number].fields {
                    self.observe(&Text::of("{}.{}", &[place, field]), ty, values);
                }
            }
            Type::Pointer { .. } => {}
        }
    }
}
