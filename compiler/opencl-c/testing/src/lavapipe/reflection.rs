//! What a module says of a kernel to a host: `NonSemantic.ClspvReflection`, as far as it is of use
//! to a launch.

use std::collections::BTreeMap;

use rspirv::spirv::{NonsemanticClspvreflectionOp as Reflect, Op};

/// A descriptor: its set, and its binding in that.
pub type Place = (u32, u32);

/// What a host binds for an argument, or instead of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A buffer or image that is an argument.
    StorageBuffer(usize),
    UniformBuffer(usize),
    SampledImage(usize),
    StorageImage(usize),
    /// A sampler that is an argument.
    Sampler(usize),
    /// One of the source, by the bits of OpenCL C's constants.
    LiteralSampler(u32),
    /// Arguments passed by value, and where each is.
    Pods {
        uniform: bool,
        values: Vec<(usize, usize)>,
    },
    /// What the module brings.
    Data(Vec<u8>),
    /// What is printed goes to so many bytes.
    Printf(usize),
}

/// What a constant that is specialized, or a member of the push constants, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The size of work-groups in a dimension.
    GroupSize(usize),
    GlobalOffset,
    WorkDim,
    /// Elements of so many bytes of work-group memory that an argument is.
    Elements(usize, usize),
    /// The value of an argument.
    Value(usize),
    ChannelOrder(usize),
    DataType(usize),
}

/// A kernel for a host.
#[derive(Debug, Default)]
pub struct Interface {
    pub bound: BTreeMap<Place, Bound>,
    /// By `SpecId`.
    pub special: BTreeMap<u32, Told>,
    /// By offset in the push constants.
    pub pushed: Vec<(usize, Told)>,
    /// What is printed by number, with the sizes of arguments.
    pub formats: BTreeMap<u32, (String, Vec<usize>)>,
}

/// Instructions with their operands.
pub(super) fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(5..).unwrap_or_default();
    std::iter::from_fn(move || {
        let &first = rest.first()?;
        let length = (first >> 16).max(1) as usize;
        let (inst, others) = rest.split_at(length.min(rest.len()));
        rest = others;
        Some((first & 0xffff, &inst[1..]))
    })
}

fn text(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Operands of an instruction of the reflection, by what they are.
struct Operands<'a> {
    ids: &'a [u32],
    numbers: &'a BTreeMap<u32, u32>,
    strings: &'a BTreeMap<u32, String>,
}

impl Operands<'_> {
    fn number(&self, at: usize) -> u32 {
        let id = self.ids.get(at);
        id.and_then(|id| self.numbers.get(id)).copied().unwrap_or(0)
    }

    fn size(&self, at: usize) -> usize {
        self.number(at) as usize
    }

    fn place(&self, at: usize) -> Place {
        (self.number(at), self.number(at + 1))
    }

    fn string(&self, at: usize) -> String {
        let id = self.ids.get(at);
        let string = id.and_then(|id| self.strings.get(id));
        string.cloned().unwrap_or_default()
    }

    fn bytes(&self, at: usize) -> Vec<u8> {
        let text = self.string(at);
        let pairs = text.as_bytes().chunks(2);
        pairs
            .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect()
    }
}

impl Interface {
    /// What a module says of a kernel. `None` if it has none of the name.
    pub fn of(words: &[u32], kernel: &str) -> Option<Interface> {
        let (mut numbers, mut strings) = (BTreeMap::new(), BTreeMap::new());
        let mut set = None;
        let mut of_kernel = None;
        let mut interface = Interface::default();
        for (opcode, operands) in instructions(words) {
            match (Op::from_u32(opcode), operands) {
                (Some(Op::String), [id, rest @ ..]) => {
                    strings.insert(*id, text(rest));
                }
                (Some(Op::Constant), [_, id, number, ..]) => {
                    numbers.insert(*id, *number);
                }
                (Some(Op::ExtInstImport), [id, name @ ..])
                    if text(name).starts_with("NonSemantic.ClspvReflection") =>
                {
                    set = Some(*id);
                }
                (Some(Op::ExtInst), [_, id, of, op, ids @ ..]) if Some(*of) == set => {
                    let operands = Operands {
                        ids,
                        numbers: &numbers,
                        strings: &strings,
                    };
                    match Reflect::from_u32(*op) {
                        Some(Reflect::Kernel) if operands.string(1) == kernel => {
                            of_kernel = Some(*id);
                        }
                        Some(op) => interface.add(op, &operands, of_kernel),
                        None => {}
                    }
                }
                _ => {}
            }
        }
        of_kernel.map(|_| interface)
    }

    fn add(&mut self, op: Reflect, it: &Operands<'_>, kernel: Option<u32>) {
        let is_its = kernel.is_some() && it.ids.first().copied() == kernel;
        let ordinal = it.size(1);
        let place = it.place(2);
        match op {
            Reflect::ArgumentStorageBuffer if is_its => {
                self.bound.insert(place, Bound::StorageBuffer(ordinal));
            }
            Reflect::ArgumentUniform if is_its => {
                self.bound.insert(place, Bound::UniformBuffer(ordinal));
            }
            Reflect::ArgumentSampledImage if is_its => {
                self.bound.insert(place, Bound::SampledImage(ordinal));
            }
            Reflect::ArgumentStorageImage if is_its => {
                self.bound.insert(place, Bound::StorageImage(ordinal));
            }
            Reflect::ArgumentSampler if is_its => {
                self.bound.insert(place, Bound::Sampler(ordinal));
            }
            Reflect::ArgumentPodStorageBuffer | Reflect::ArgumentPodUniform if is_its => {
                let uniform = op == Reflect::ArgumentPodUniform;
                let empty = Bound::Pods {
                    uniform,
                    values: Vec::new(),
                };
                if let Bound::Pods { values, .. } = self.bound.entry(place).or_insert(empty) {
                    values.push((ordinal, it.size(4)));
                }
            }
            Reflect::ArgumentPodPushConstant if is_its => {
                self.pushed.push((it.size(2), Told::Value(ordinal)));
            }
            Reflect::ImageArgumentInfoChannelOrderPushConstant if is_its => {
                self.pushed.push((it.size(2), Told::ChannelOrder(ordinal)));
            }
            Reflect::ImageArgumentInfoChannelDataTypePushConstant if is_its => {
                self.pushed.push((it.size(2), Told::DataType(ordinal)));
            }
            Reflect::ArgumentWorkgroup if is_its => {
                let elements = Told::Elements(ordinal, it.size(3));
                self.special.insert(it.number(2), elements);
            }
            Reflect::LiteralSampler => {
                let sampler = Bound::LiteralSampler(it.number(2));
                self.bound.insert(it.place(0), sampler);
            }
            Reflect::ConstantDataStorageBuffer | Reflect::ProgramScopeVariablesStorageBuffer => {
                self.bound.insert(it.place(0), Bound::Data(it.bytes(2)));
            }
            Reflect::PrintfBufferStorageBuffer => {
                self.bound.insert(it.place(0), Bound::Printf(it.size(2)));
            }
            Reflect::PrintfInfo => {
                let sizes = (2..it.ids.len()).map(|at| it.size(at)).collect();
                self.formats.insert(it.number(0), (it.string(1), sizes));
            }
            Reflect::SpecConstantWorkgroupSize => {
                for dimension in 0..3 {
                    let told = Told::GroupSize(dimension);
                    self.special.insert(it.number(dimension), told);
                }
            }
            Reflect::SpecConstantGlobalOffset => {
                for dimension in 0..3 {
                    self.special
                        .insert(it.number(dimension), Told::GlobalOffset);
                }
            }
            Reflect::SpecConstantWorkDim => {
                self.special.insert(it.number(0), Told::WorkDim);
            }
            Reflect::PushConstantGlobalOffset => {
                for dimension in 0..3 {
                    self.pushed
                        .push((it.size(0) + 4 * dimension, Told::GlobalOffset));
                }
            }
            _ => {}
        }
    }
}
