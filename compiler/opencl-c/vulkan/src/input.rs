//! The module of OpenCL's environment, by ids.

use rspirv::binary::Assemble;
use rspirv::dr;
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op, OpenclStd100Op as Cl, StorageClass};
use rustc_hash::FxHashMap;

use super::Error;
use super::ir::{Arg, Block, Id, Inst, Line};
use super::types::{Ty, Type, Types};

/// Most types in one another.
const MOST_DEPTH: u32 = 255;

#[derive(Clone, Debug)]
pub(crate) enum Constant {
    Bool(bool),
    Bits(u64),
    Null,
    Undef,
    Composite(Vec<Id>),
    /// Addressing mode, normalized coordinates, filter mode.
    Sampler(u32, u32, u32),
}

/// A variable of the module.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub class: StorageClass,
    pub pointee: Ty,
    pub init: Option<Id>,
    pub built_in: Option<BuiltIn>,
}

pub(crate) struct Function {
    pub params: Vec<(Id, Ty)>,
    pub result: Ty,
    pub blocks: Vec<Block>,
}

pub(crate) struct Kernel {
    pub function: Id,
    pub name: String,
    pub required_size: Option<[u32; 3]>,
    pub strict: bool,
    /// Those of OpenCL C, as they are spelled.
    pub attributes: Vec<String>,
}

pub(crate) struct Input {
    pub ty_of: FxHashMap<Id, Ty>,
    /// Types of values.
    pub value_ty: FxHashMap<Id, Ty>,
    pub constants: FxHashMap<Id, (Ty, Constant)>,
    pub globals: FxHashMap<Id, Global>,
    pub global_order: Vec<Id>,
    pub functions: FxHashMap<Id, Function>,
    pub kernels: Vec<Kernel>,
    pub names: FxHashMap<Id, String>,
    pub strings: FxHashMap<Id, String>,
    /// What the front end says of arguments: `kernel_arg_type.NAME` of a kernel's, in order.
    pub texts: FxHashMap<String, Vec<String>>,
    /// Values that are conversions with saturation, and how those round.
    pub saturated: FxHashMap<Id, ()>,
    pub rounding: FxHashMap<Id, u32>,
    /// Conversions of OpenCL's own are the set of this id.
    pub bound: Id,
}

fn text(inst: &dr::Instruction) -> String {
    let found = inst.operands.iter().find_map(|operand| match operand {
        dr::Operand::LiteralString(text) => Some(text.clone()),
        _ => None,
    });
    found.unwrap_or_default()
}

fn args(inst: &dr::Instruction) -> Vec<Arg> {
    let mut args = Vec::with_capacity(inst.operands.len());
    let mut words = Vec::new();
    for operand in &inst.operands {
        match operand.id_ref_any() {
            Some(id) => args.push(Arg::Id(id)),
            None => {
                words.clear();
                operand.assemble_into(&mut words);
                args.extend(words.iter().map(|&word| Arg::Lit(word)));
            }
        }
    }
    let set_op = match (inst.class.opcode, args.get(1)) {
        (Op::ExtInst, Some(&Arg::Lit(number))) => Cl::from_u32(number),
        _ => None,
    };
    // Numbers of lanes and rounding modes, which the decoder takes for ids.
    let ends_in_literal = matches!(
        set_op,
        Some(
            Cl::vloadn
                | Cl::vload_halfn
                | Cl::vloada_halfn
                | Cl::vstore_half_r
                | Cl::vstore_halfn_r
                | Cl::vstorea_halfn_r
        )
    );
    if let (true, Some(last)) = (ends_in_literal, args.last_mut())
        && let Arg::Id(word) = *last
    {
        *last = Arg::Lit(word);
    }
    args
}

/// SPIR-V Specification, "Execution Mode", `VecTypeHint`: the number of components in the high
/// half, the type's number in the low half.
fn hinted_type(word: u32) -> Option<String> {
    let names = ["char", "short", "int", "long", "half", "float", "double"];
    let name = names.get((word & 0xffff) as usize)?;
    Some(match word >> 16 {
        0 | 1 => (*name).to_owned(),
        lanes => format!("{name}{lanes}"),
    })
}

/// A module's words without the instructions of an opcode.
fn without(words: &[u32], op: Op) -> Vec<u32> {
    let head = words.len().min(5);
    let mut out = words[..head].to_vec();
    let mut rest = &words[head..];
    while let Some(&first) = rest.first() {
        let length = (first >> 16).max(1) as usize;
        let (inst, others) = rest.split_at(length.min(rest.len()));
        if first & 0xffff != op as u32 {
            out.extend_from_slice(inst);
        }
        rest = others;
    }
    out
}

/// Reads a module that the front end has written.
pub(crate) fn read(words: &[u32], types: &mut Types) -> Result<Input, Error> {
    // Addresses of variables in initialisers: whoever refers to such a constant is refused.
    let words = without(words, Op::SpecConstantOp);
    let module = dr::load_words(&words)
        .map_err(|error| Error::plain(format!("the module is not decoded: {error}")))?;
    let bound = module.header.as_ref().map_or(0, |header| header.bound);
    let mut input = Input {
        ty_of: FxHashMap::default(),
        value_ty: FxHashMap::default(),
        constants: FxHashMap::default(),
        globals: FxHashMap::default(),
        global_order: Vec::new(),
        functions: FxHashMap::default(),
        kernels: Vec::new(),
        names: FxHashMap::default(),
        strings: FxHashMap::default(),
        texts: FxHashMap::default(),
        saturated: FxHashMap::default(),
        rounding: FxHashMap::default(),
        bound,
    };
    let mut packed = FxHashMap::default();
    let mut built_in = FxHashMap::default();
    for inst in &module.debug_string_source {
        if let (Op::String, Some(id)) = (inst.class.opcode, inst.result_id) {
            let text = text(inst);
            let mut parts = text.splitn(3, '.');
            if let (Some(kind), Some(kernel), Some(all)) =
                (parts.next(), parts.next(), parts.next())
            {
                let all = all.split(',').map(str::to_owned).collect();
                input.texts.insert(format!("{kind}.{kernel}"), all);
            }
            input.strings.insert(id, text);
        }
    }
    for inst in &module.debug_names {
        if let (Op::Name, Some(id)) = (inst.class.opcode, inst.operands[0].id_ref_any()) {
            input.names.insert(id, text(inst));
        }
    }
    for inst in &module.annotations {
        let (Some(id), Some(dr::Operand::Decoration(what))) =
            (inst.operands[0].id_ref_any(), inst.operands.get(1))
        else {
            continue;
        };
        match (what, inst.operands.get(2)) {
            (Decoration::CPacked, _) => {
                packed.insert(id, ());
            }
            (Decoration::BuiltIn, Some(&dr::Operand::BuiltIn(which))) => {
                built_in.insert(id, which);
            }
            (Decoration::SaturatedConversion, _) => {
                input.saturated.insert(id, ());
            }
            (Decoration::FPRoundingMode, Some(&dr::Operand::FPRoundingMode(mode))) => {
                input.rounding.insert(id, mode as u32);
            }
            _ => {}
        }
    }
    for inst in &module.types_global_values {
        input.global(inst, types, &packed, &built_in)?;
    }
    for function in &module.functions {
        input.function(function);
    }
    for inst in &module.entry_points {
        if let Some(function) = inst.operands[1].id_ref_any() {
            input.kernels.push(Kernel {
                function,
                name: text(inst),
                required_size: None,
                strict: false,
                attributes: Vec::new(),
            });
        }
    }
    let kernel_of: FxHashMap<Id, usize> = (0..)
        .zip(&input.kernels)
        .map(|(at, kernel)| (kernel.function, at))
        .collect();
    for inst in &module.execution_modes {
        let of = inst.operands[0].id_ref_any();
        let kernel = of.and_then(|id| kernel_of.get(&id));
        let (Some(&kernel), dr::Operand::ExecutionMode(mode)) = (kernel, &inst.operands[1]) else {
            continue;
        };
        let kernel = &mut input.kernels[kernel];
        let number = |at: usize| inst.operands[at].unwrap_literal_bit32();
        let sizes = |name: &str| format!("{name}({},{},{})", number(2), number(3), number(4));
        let attribute = match mode {
            ExecutionMode::LocalSize => {
                kernel.required_size = Some([number(2), number(3), number(4)]);
                Some(sizes("reqd_work_group_size"))
            }
            ExecutionMode::LocalSizeHint => Some(sizes("work_group_size_hint")),
            ExecutionMode::VecTypeHint => {
                // The execution mode does not tell signed from unsigned: a text does.
                let key = format!("kernel_vec_type_hint.{}", kernel.name);
                let told = input.texts.get(&key).and_then(|names| names.first());
                let name = told.cloned().or_else(|| hinted_type(number(2)));
                name.map(|name| format!("vec_type_hint({name})"))
            }
            ExecutionMode::SubgroupSize => {
                Some(format!("intel_reqd_sub_group_size({})", number(2)))
            }
            ExecutionMode::ContractionOff => {
                kernel.strict = true;
                None
            }
            _ => None,
        };
        kernel.attributes.extend(attribute);
    }
    Ok(input)
}

impl Input {
    fn global(
        &mut self,
        inst: &dr::Instruction,
        types: &mut Types,
        packed: &FxHashMap<Id, ()>,
        built_in: &FxHashMap<Id, BuiltIn>,
    ) -> Result<(), Error> {
        let id = inst.result_id.unwrap_or(0);
        let args = args(inst);
        let lit = |at: usize| match args.get(at) {
            Some(&Arg::Lit(word)) => word,
            _ => 0,
        };
        let of = |input: &Input, at: usize| match args.get(at) {
            Some(Arg::Id(id)) => input.ty_of.get(id).copied(),
            _ => None,
        };
        let void = types.add(Type::Void);
        let ty = match inst.class.opcode {
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Bool,
            Op::TypeInt => Type::Int(lit(0)),
            Op::TypeFloat => Type::Float(lit(0)),
            Op::TypeVector => Type::Vector(of(self, 0).unwrap_or(void), lit(1)),
            Op::TypeArray => {
                let length = match args[1] {
                    Arg::Id(id) => self.number(id).unwrap_or(0),
                    Arg::Lit(_) => 0,
                };
                Type::Array(of(self, 0).unwrap_or(void), length)
            }
            Op::TypeStruct => Type::Struct {
                // A pointer to a structure that comes later is only ever a pointer.
                members: (0..args.len())
                    .map(|at| {
                        let unknown = types.pointer(StorageClass::Generic, void);
                        of(self, at).unwrap_or(unknown)
                    })
                    .collect(),
                packed: packed.contains_key(&id),
            },
            Op::TypePointer => {
                let class = StorageClass::from_u32(lit(0)).unwrap_or(StorageClass::Function);
                Type::Pointer(class, of(self, 1).unwrap_or(void))
            }
            Op::TypeImage => {
                let word = |at: usize| lit(at);
                let operands = [word(1), word(2), word(3), word(4), word(5), word(7)];
                Type::Image(of(self, 0).unwrap_or(void), operands)
            }
            Op::TypeSampler => Type::Sampler,
            Op::TypeSampledImage => Type::SampledImage(of(self, 0).unwrap_or(void)),
            Op::TypeEvent => Type::Foreign("event_t"),
            Op::TypeDeviceEvent => Type::Foreign("clk_event_t"),
            Op::TypeQueue => Type::Foreign("queue_t"),
            Op::TypePipe => Type::Foreign("a pipe"),
            Op::TypeReserveId => Type::Foreign("reserve_id_t"),
            Op::TypeNamedBarrier => Type::Foreign("a named barrier"),
            Op::TypeOpaque => Type::Foreign("an opaque type"),
            Op::TypeFunction | Op::TypeForwardPointer => return Ok(()),
            _ => return self.value(inst, id, &args, built_in, types),
        };
        let ty = types.add(ty);
        // SPIR-V Specification, "Universal Limits"; walks over types are recursive.
        if types.depth(ty) > MOST_DEPTH {
            return Err(Error::plain(format!(
                "types are nested deeper than the {MOST_DEPTH} levels that SPIR-V has"
            )));
        }
        self.ty_of.insert(id, ty);
        Ok(())
    }

    fn value(
        &mut self,
        inst: &dr::Instruction,
        id: Id,
        args: &[Arg],
        built_in: &FxHashMap<Id, BuiltIn>,
        types: &Types,
    ) -> Result<(), Error> {
        let result = inst.result_type.and_then(|ty| self.ty_of.get(&ty));
        let Some(&ty) = result else { return Ok(()) };
        let words: Vec<u32> = args
            .iter()
            .map(|arg| match *arg {
                Arg::Id(id) => id,
                Arg::Lit(word) => word,
            })
            .collect();
        self.value_ty.insert(id, ty);
        let constant = match inst.class.opcode {
            Op::ConstantTrue => Constant::Bool(true),
            Op::ConstantFalse => Constant::Bool(false),
            Op::Constant => Constant::Bits(
                u64::from(words[0]) | u64::from(words.get(1).copied().unwrap_or(0)) << 32,
            ),
            Op::ConstantNull => Constant::Null,
            Op::Undef => Constant::Undef,
            Op::ConstantComposite => Constant::Composite(words),
            Op::ConstantSampler => Constant::Sampler(words[0], words[1], words[2]),
            Op::Variable => {
                let Type::Pointer(class, pointee) = *types.get(ty) else {
                    return Ok(());
                };
                self.global_order.push(id);
                let global = Global {
                    class,
                    pointee,
                    init: words.get(1).copied(),
                    built_in: built_in.get(&id).copied(),
                };
                self.globals.insert(id, global);
                return Ok(());
            }
            // Used only in initialisers of variables, which refuse what is no constant.
            _ => return Ok(()),
        };
        self.constants.insert(id, (ty, constant));
        Ok(())
    }

    fn function(&mut self, function: &dr::Function) {
        let Some(def) = &function.def else { return };
        let id = def.result_id.unwrap_or(0);
        let ty = |input: &Input, inst: &dr::Instruction| {
            inst.result_type
                .and_then(|ty| input.ty_of.get(&ty))
                .copied()
        };
        let Some(result) = ty(self, def) else { return };
        let mut params = Vec::new();
        for param in &function.parameters {
            if let (Some(id), Some(ty)) = (param.result_id, ty(self, param)) {
                self.value_ty.insert(id, ty);
                params.push((id, ty));
            }
        }
        let mut blocks = Vec::new();
        for block in &function.blocks {
            let label = block.label.as_ref().and_then(|label| label.result_id);
            let mut out = Block::new(label.unwrap_or(0));
            let mut line = None;
            for inst in &block.instructions {
                match inst.class.opcode {
                    Op::Line => {
                        let [file, at, column] = args(inst)[..] else {
                            continue;
                        };
                        if let (Arg::Id(file), Arg::Lit(at), Arg::Lit(column)) = (file, at, column)
                        {
                            line = Some(Line {
                                file,
                                line: at,
                                column,
                            });
                        }
                        continue;
                    }
                    Op::NoLine | Op::LoopMerge | Op::SelectionMerge => continue,
                    _ => {}
                }
                let ty = ty(self, inst);
                let id = inst.result_id.unwrap_or(0);
                if let Some(ty) = ty {
                    self.value_ty.insert(id, ty);
                }
                out.insts.push(Inst {
                    op: inst.class.opcode,
                    ty,
                    id,
                    args: args(inst),
                    line,
                });
            }
            blocks.push(out);
        }
        let function = Function {
            params,
            result,
            blocks,
        };
        self.functions.insert(id, function);
    }

    /// An integer constant's bits.
    pub fn number(&self, id: Id) -> Option<u64> {
        match self.constants.get(&id)?.1 {
            Constant::Bits(bits) => Some(bits),
            Constant::Null => Some(0),
            _ => None,
        }
    }

    /// An integer constant with its sign.
    pub fn signed(&self, id: Id, types: &Types) -> Option<i64> {
        let bits = self.number(id)?;
        let width = types.bits(self.constants.get(&id)?.0);
        Some(match width {
            0 | 64 => bits as i64,
            _ => (bits << (64 - width)) as i64 >> (64 - width),
        })
    }
}
