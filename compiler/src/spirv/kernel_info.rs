//! What a host is told of a kernel: its arguments, where they are in the argument block, its
//! attributes.
//!
//! Source names and types come from where the producer put them: `OpName`s of parameters, and the
//! strings `kernel_arg_type.<kernel>.<type>,<type>,..` and the like that LLVM's translator writes
//! on request.

use rspirv::spirv::{
    AccessQualifier as SpirvAccess, Decoration, ExecutionMode, FunctionParameterAttribute, Op,
    StorageClass,
};

use super::decode::{Id, Inst, Result};
use super::module::{EntryPoint, Unit};
use super::rules::{EXECUTION_MODES, KERNEL_ARGUMENTS, Rule};
use super::types::Kind;
use crate::ir::{FuncId, Kernel, KernelRole, ParamSource, Scalar, Type};
use crate::kernel_info::{
    AccessQualifier, AddressSpace, ArgInfo, ArgKind, ImageArg, ImplicitArg, KernelInfo,
    TypeQualifiers,
};

/// `ArithmeticPoisonKHR`, which the grammar's table does not have: no value of ours is poison.
const ARITHMETIC_POISON: u32 = 5157;

/// Most bytes an argument block may have.
const MAX_ARGS_SIZE: u64 = 1 << 20;

/// The strings of a kernel that describe its arguments in the source.
struct SourceArgs<'u> {
    types: Vec<&'u str>,
    qualifiers: Vec<&'u str>,
    names: Vec<&'u str>,
    access: Vec<&'u str>,
}

impl<'a> Unit<'a> {
    /// The kernel of an entry point, whose function has been declared as `func`. What depends on
    /// function bodies is filled in later.
    pub(super) fn kernel(&self, entry: &EntryPoint<'a>, func: FuncId) -> Result<Kernel> {
        let mut kernel = Kernel {
            info: KernelInfo::new(entry.name.clone()),
            func,
            params: Vec::new(),
            contract: true,
            role: KernelRole::Ordinary,
        };
        self.arguments(entry, &mut kernel)?;
        for mode in self.modes.get(&entry.func).map_or(&[][..], Vec::as_slice) {
            self.execution_mode(mode, &mut kernel)?;
        }
        if kernel.role != KernelRole::Ordinary && !kernel.params.is_empty() {
            return Err(self
                .error(
                    &entry.inst,
                    "an initializer or finalizer takes no arguments",
                )
                .under(EXECUTION_MODES));
        }
        let told = format!("kernel_attributes.{}.", entry.name);
        let told = self.strings.values().find_map(|s| s.strip_prefix(&told));
        kernel.info.attributes = match told {
            Some(told) => told.to_owned(),
            None => attributes(&kernel.info),
        };
        Ok(kernel)
    }

    fn source_args(&self, kernel: &str) -> SourceArgs<'_> {
        let list = |what: &str| {
            let prefix = format!("{what}.{kernel}.");
            self.strings
                .values()
                .find_map(|text| text.strip_prefix(&prefix))
                .map_or_else(Vec::new, |list| list.split(',').collect())
        };
        SourceArgs {
            types: list("kernel_arg_type"),
            qualifiers: list("kernel_arg_type_qual"),
            names: list("kernel_arg_name"),
            access: list("kernel_arg_access_qual"),
        }
    }

    fn arguments(&self, entry: &EntryPoint<'a>, kernel: &mut Kernel) -> Result<()> {
        let source = self.source_args(&entry.name);
        let mut end = 0u64;
        for (index, param) in self.functions[&entry.func].params.iter().enumerate() {
            let ty = self.result_type(param)?;
            let id = self.result(param)?;
            let info = self.type_of_id(param, ty)?;
            let by_value = self.by_value(param)?;
            let (kind, size, align) = match by_value {
                Some(pointee) => {
                    let of = self.type_of_id(param, pointee)?;
                    (ArgKind::Value, of.size, of.align)
                }
                None => match self.argument_kind(param, &info.kind)? {
                    // No two arguments are at one place.
                    ArgKind::Unused => (ArgKind::Unused, 1, 1),
                    kind => (kind, info.size, info.align),
                },
            };
            let offset = end.next_multiple_of(u64::from(align));
            end = offset + size;
            if end > MAX_ARGS_SIZE {
                return Err(self
                    .error(
                        param,
                        format!("the arguments take more than {MAX_ARGS_SIZE} bytes"),
                    )
                    .under(Rule::Limit));
            }
            let offset = offset as u32;
            match kind {
                ArgKind::Pointer(AddressSpace::Local) => {
                    kernel.params.push(ParamSource::Local { offset });
                }
                _ if by_value.is_some() => kernel.params.push(ParamSource::Address { offset }),
                _ => {
                    let leaves = self.leaves(param, ty)?;
                    let values = leaves.iter().map(|leaf| ParamSource::Value {
                        offset: offset + leaf.offset as u32,
                    });
                    kernel.params.extend(values);
                }
            }
            if let Some(what) = self.binary.implicit(param.module, id) {
                let what = what.clone();
                kernel.info.implicit.push(ImplicitArg { what, offset });
                continue;
            }
            let given = |list: &[&str]| {
                list.get(index)
                    .filter(|text| !text.is_empty())
                    .map(|text| text.to_string())
            };
            kernel.info.args.push(ArgInfo {
                name: given(&source.names).or_else(|| self.binary.name(id).map(str::to_string)),
                type_name: given(&source.types).or_else(|| self.type_name(param, ty)),
                kind,
                access: self.access(param, ty, source.access.get(index).copied())?,
                qualifiers: self.qualifiers(id, kind, source.qualifiers.get(index).copied()),
                size: size as u32,
                offset,
                max_bytes: self.max_bytes(id),
            });
        }
        kernel.info.args_size = end as u32;
        Ok(())
    }

    /// What an argument of a type is for the host.
    fn argument_kind(&self, param: &Inst<'_>, of: &Kind) -> Result<ArgKind> {
        let cannot = |what: String| {
            let message = format!("a kernel's argument cannot be {what}");
            Err(self.error(param, message).under(KERNEL_ARGUMENTS))
        };
        Ok(match *of {
            Kind::Pointer { class, .. } => ArgKind::Pointer(match class {
                StorageClass::CrossWorkgroup
                | StorageClass::DeviceOnlyALTERA
                | StorageClass::HostOnlyALTERA => AddressSpace::Global,
                StorageClass::UniformConstant => AddressSpace::Constant,
                StorageClass::Workgroup => AddressSpace::Local,
                class => return cannot(format!("a pointer to storage class {class:?}")),
            }),
            Kind::Image(image) => ArgKind::Image(ImageArg {
                dim: image.dim,
                is_buffer: image.buffer,
                is_depth: image.depth,
            }),
            Kind::Sampler => ArgKind::Sampler,
            Kind::SampledImage(_) => return cannot("a sampled image".to_string()),
            Kind::Handle { op, .. } => match op {
                Op::TypePipe => ArgKind::Pipe,
                Op::TypeQueue => ArgKind::DeviceQueue,
                _ => return cannot(format!("an {op:?}")),
            },
            Kind::Struct { ref members, .. } if members.is_empty() => ArgKind::Unused,
            _ => ArgKind::Value,
        })
    }

    fn access(&self, param: &Inst<'_>, ty: Id, source: Option<&str>) -> Result<AccessQualifier> {
        let (op, access) = match self.type_of_id(param, ty)?.kind {
            Kind::Image(image) => return Ok(image.access),
            Kind::Handle { op, access } => (op, access),
            _ => return Ok(AccessQualifier::None),
        };
        Ok(match (op, access, source) {
            (Op::TypePipe, Some(access), _) => match SpirvAccess::from_u32(access) {
                Some(SpirvAccess::WriteOnly) => AccessQualifier::WriteOnly,
                Some(SpirvAccess::ReadWrite) => AccessQualifier::ReadWrite,
                _ => AccessQualifier::ReadOnly,
            },
            (_, _, Some("write_only")) => AccessQualifier::WriteOnly,
            (_, _, Some("read_write")) => AccessQualifier::ReadWrite,
            (Op::TypePipe, ..) => AccessQualifier::ReadOnly,
            _ => AccessQualifier::None,
        })
    }

    /// The least of what `MaxByteOffset` and `MaxByteOffsetId` say of a parameter.
    fn max_bytes(&self, id: Id) -> Option<u64> {
        let decorations = self.decorations(id).iter();
        let limits = decorations.filter_map(|(decoration, words)| match (decoration, words) {
            (Decoration::MaxByteOffset, [bytes]) => Some(u64::from(*bytes)),
            (Decoration::MaxByteOffsetId, [bytes]) => self.integer_constant(*bytes),
            _ => None,
        });
        limits.min()
    }

    /// The qualifiers as written in the source, else what the parameter's attributes imply.
    fn qualifiers(&self, id: Id, kind: ArgKind, source: Option<&str>) -> TypeQualifiers {
        if let Some(text) = source {
            let has = |word| text.split(' ').any(|w| w == word);
            return TypeQualifiers {
                is_const: has("const"),
                is_restrict: has("restrict"),
                is_volatile: has("volatile"),
                is_pipe: has("pipe"),
            };
        }
        let attribute = |attribute: FunctionParameterAttribute| {
            self.decorations(id).iter().any(|(decoration, words)| {
                *decoration == Decoration::FuncParamAttr
                    && words.first() == Some(&(attribute as u32))
            })
        };
        let pointer = matches!(kind, ArgKind::Pointer(_));
        TypeQualifiers {
            is_const: pointer
                && (kind == ArgKind::Pointer(AddressSpace::Constant)
                    || attribute(FunctionParameterAttribute::NoWrite)
                    || self.has_decoration(id, Decoration::Constant)),
            is_restrict: pointer
                && (attribute(FunctionParameterAttribute::NoAlias)
                    || self.has_decoration(id, Decoration::Restrict)),
            is_volatile: pointer && self.has_decoration(id, Decoration::Volatile),
            is_pipe: kind == ArgKind::Pipe,
        }
    }

    /// A type's name in OpenCL C, where the SPIR-V type leaves no doubt (integers do: they have no
    /// sign).
    fn type_name(&self, inst: &Inst<'_>, ty: Id) -> Option<String> {
        match &self.type_of_id(inst, ty).ok()?.kind {
            Kind::Value(Type { scalar, lanes }) => {
                let name = match scalar {
                    Scalar::F16 => "half",
                    Scalar::F32 => "float",
                    Scalar::F64 => "double",
                    _ => return None,
                };
                Some(match lanes {
                    1 => name.to_string(),
                    lanes => format!("{name}{lanes}"),
                })
            }
            Kind::Pointer {
                class: StorageClass::Function,
                pointee: Some(pointee),
            } => self
                .binary
                .name(*pointee)?
                .strip_prefix("struct.")
                .map(str::to_string),
            Kind::Pointer {
                pointee: Some(pointee),
                ..
            } => {
                // One level: pointers to pointers are not arguments, and types may be cyclic.
                match self.type_of_id(inst, *pointee).ok()?.kind {
                    Kind::Value(_) => Some(format!("{}*", self.type_name(inst, *pointee)?)),
                    _ => None,
                }
            }
            Kind::Image(image) => Some(image.name()),
            Kind::Sampler => Some("sampler_t".to_string()),
            Kind::Handle {
                op: Op::TypeQueue, ..
            } => Some("queue_t".to_string()),
            _ => None,
        }
    }

    pub(super) fn execution_mode(&self, inst: &Inst<'_>, kernel: &mut Kernel) -> Result<()> {
        let info = &mut kernel.info;
        let (&number, literals) = inst.operands[1..]
            .split_first()
            .ok_or_else(|| self.error(inst, "the execution mode is missing"))?;
        if number == ARITHMETIC_POISON {
            return Ok(());
        }
        let mode = ExecutionMode::from_u32(number)
            .ok_or_else(|| self.error(inst, format!("unknown execution mode {number}")))?;
        let sizes = |words: &[u32]| -> Result<[u32; 3]> {
            let sizes: [u32; 3] = words.try_into().map_err(|_| {
                self.error(
                    inst,
                    format!("wrong word count: {mode:?} takes three sizes"),
                )
            })?;
            if sizes.contains(&0) {
                return Err(self.error(inst, "a work-group size of 0"));
            }
            Ok(sizes)
        };
        let constants = |ids: &[Id]| -> Result<Vec<u32>> {
            ids.iter()
                .map(|&id| {
                    self.integer_constant(id)
                        .and_then(|size| u32::try_from(size).ok())
                        .ok_or_else(|| {
                            self.error(
                                inst,
                                format!("{} is not an integer constant", self.binary.describe(id)),
                            )
                        })
                })
                .collect()
        };
        let one = |words: &[u32]| match words {
            [word] => Ok(*word),
            _ => Err(self.error(
                inst,
                format!("wrong word count: {mode:?} takes one operand"),
            )),
        };
        match mode {
            ExecutionMode::LocalSize => info.required_work_group_size = Some(sizes(literals)?),
            ExecutionMode::LocalSizeId => {
                info.required_work_group_size = Some(sizes(&constants(literals)?)?);
            }
            ExecutionMode::LocalSizeHint => info.work_group_size_hint = Some(sizes(literals)?),
            ExecutionMode::LocalSizeHintId => {
                info.work_group_size_hint = Some(sizes(&constants(literals)?)?);
            }
            ExecutionMode::VecTypeHint => {
                let word = one(literals)?;
                let name = self.vec_type_hint(inst, word)?;
                // The execution mode does not tell signed from unsigned; the front end does.
                let prefix = format!("kernel_vec_type_hint.{}.", info.name);
                let source = self.strings.values().find_map(|s| s.strip_prefix(&prefix));
                info.vec_type_hint = Some(source.map_or(name, str::to_owned));
            }
            ExecutionMode::SubgroupSize => info.required_sub_group_size = Some(one(literals)?),
            ExecutionMode::SubgroupsPerWorkgroup => {
                info.required_num_sub_groups = Some(one(literals)?);
            }
            ExecutionMode::SubgroupsPerWorkgroupId => {
                info.required_num_sub_groups = Some(one(&constants(literals)?)?);
            }
            ExecutionMode::Initializer => kernel.role = KernelRole::Initializer,
            ExecutionMode::Finalizer => kernel.role = KernelRole::Finalizer,
            ExecutionMode::ContractionOff => kernel.contract = false,
            // What is done anyway, or hints.
            ExecutionMode::DenormPreserve
            | ExecutionMode::SignedZeroInfNanPreserve
            | ExecutionMode::RoundingModeRTE
            | ExecutionMode::FloatingPointModeIEEEINTEL
            // `float_modes.rs` sees to these.
            | ExecutionMode::DenormFlushToZero
            | ExecutionMode::RoundingModeRTZ
            | ExecutionMode::RoundingModeRTPINTEL
            | ExecutionMode::RoundingModeRTNINTEL
            | ExecutionMode::FPFastMathDefault
            | ExecutionMode::MaxWorkgroupSizeINTEL
            | ExecutionMode::MaxWorkDimINTEL
            | ExecutionMode::NoGlobalOffsetINTEL
            | ExecutionMode::NumSIMDWorkitemsINTEL
            | ExecutionMode::SchedulerTargetFmaxMhzINTEL
            | ExecutionMode::StreamingInterfaceINTEL
            | ExecutionMode::RegisterMapInterfaceINTEL
            | ExecutionMode::MaximumRegistersINTEL
            | ExecutionMode::MaximumRegistersIdINTEL
            | ExecutionMode::NamedMaximumRegistersINTEL => {}
            _ => {
                return Err(self.error(
                    inst,
                    format!("the execution mode {mode:?} is not supported"),
                ));
            }
        }
        Ok(())
    }

    /// "Execution Mode", `VecTypeHint`: component count above, data type below.
    fn vec_type_hint(&self, inst: &Inst<'_>, word: u32) -> Result<String> {
        const NAMES: [&str; 7] = ["char", "short", "int", "long", "half", "float", "double"];
        let name = NAMES
            .get((word & 0xffff) as usize)
            .ok_or_else(|| self.error(inst, "unknown data type of a vector type hint"))?;
        Ok(match word >> 16 {
            0 | 1 => name.to_string(),
            lanes => format!("{name}{lanes}"),
        })
    }
}

/// `CL_KERNEL_ATTRIBUTES`: as written in `__attribute__((..))`, space separated.
fn attributes(info: &KernelInfo) -> String {
    let mut list = Vec::new();
    let sizes = |name: &str, [x, y, z]: [u32; 3]| format!("{name}({x},{y},{z})");
    if let Some(size) = info.required_work_group_size {
        list.push(sizes("reqd_work_group_size", size));
    }
    if let Some(size) = info.work_group_size_hint {
        list.push(sizes("work_group_size_hint", size));
    }
    if let Some(hint) = &info.vec_type_hint {
        list.push(format!("vec_type_hint({hint})"));
    }
    if let Some(size) = info.required_sub_group_size {
        list.push(format!("intel_reqd_sub_group_size({size})"));
    }
    list.join(" ")
}
