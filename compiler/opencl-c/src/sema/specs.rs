//! Specifiers and declarators to types.

use super::Sema;
use super::scope::Meaning;
use crate::ast::{self, Access, Arithmetic, SpecId, TypeSpec};
use crate::options::Std;
use crate::symbol::Symbol;
use crate::token::Loc;
use crate::types::{ImageDim, OpaqueType, QualType, Scalar, Space, Type, TypeId, Types};

/// What specifiers mean; a declarator makes more of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    pub ty: QualType,
    pub space: Option<Space>,
    /// `__auto_type`: the initialiser's.
    pub is_auto: bool,
    /// The `typedef` that it is by.
    pub alias: Option<Symbol>,
}

impl From<ast::Space> for Space {
    fn from(space: ast::Space) -> Space {
        match space {
            ast::Space::Private => Space::Private,
            ast::Space::Global => Space::Global,
            ast::Space::Local => Space::Local,
            ast::Space::Constant => Space::Constant,
            ast::Space::Generic => Space::Generic,
        }
    }
}

impl Sema<'_> {
    pub(super) fn base(&mut self, id: SpecId) -> Base {
        if let Some(base) = self.bases.get(&id) {
            return *base;
        }
        let base = stacker::maybe_grow(64 << 10, 1 << 20, || self.new_base(id));
        self.bases.insert(id, base);
        base
    }

    fn new_base(&mut self, id: SpecId) -> Base {
        let ast = self.ast;
        let specs = &ast[id];
        let loc = specs.span.first;
        let access = specs.quals.access.map(|(access, _)| access);
        if let Some((_, loc)) = specs.quals.second_access {
            self.diags.error(loc, "multiple access qualifiers");
        }
        let mut space = None;
        let mut ty = match specs.ty {
            TypeSpec::Missing => {
                self.diags.error(
                    specs.span,
                    "type specifier missing, defaults to 'int'; ISO C99 and later do not support \
                     implicit int",
                );
                Types::INT.into()
            }
            TypeSpec::Arithmetic(arithmetic) => self.arithmetic(arithmetic, loc).into(),
            TypeSpec::Void => Types::VOID.into(),
            TypeSpec::Bool => Types::BOOL.into(),
            TypeSpec::Named(name, loc) => {
                let (ty, of) = self.named_type(name, access, loc);
                space = of;
                ty
            }
            TypeSpec::Record(record) => self.record_type(record).into(),
            TypeSpec::Enum(id) => self.enum_type(id).into(),
            TypeSpec::TypeofExpr(expr) => {
                let operand = self.unevaluated(expr);
                operand.ty
            }
            TypeSpec::TypeofType(name) => {
                let (ty, of) = self.type_name(name);
                space = of;
                ty
            }
            TypeSpec::Pipe(element) => {
                let element = self.type_name(element).0.ty;
                let access = access.unwrap_or(Access::ReadOnly);
                self.types.intern(Type::Pipe { element, access }).into()
            }
            TypeSpec::Auto => Types::INT.into(),
            TypeSpec::Atomic(name) => {
                self.diags.error(
                    loc,
                    "the '_Atomic' type specifier is not supported in OpenCL C",
                );
                let inner = self.type_name(name).0.ty;
                self.types.intern(Type::Atomic(inner)).into()
            }
        };
        ty.quals.is_const |= specs.quals.is_const.is_some();
        ty.quals.is_volatile |= specs.quals.is_volatile.is_some();
        ty.quals.is_restrict |= specs.quals.is_restrict.is_some();
        if let Some(loc) = specs.quals.is_restrict
            && !matches!(self.types.get(ty.ty), Type::Pointer { .. } | Type::Error)
        {
            let name = self.quote(ty.ty);
            self.diags.error(
                loc,
                format!("restrict requires a pointer or reference ({name} is invalid)"),
            );
        }
        if let Some((access, loc)) = specs.quals.access {
            ty.ty = self.check_access(ty, access, loc);
        }
        if let Some((given, loc)) = specs.quals.space {
            self.check_generic(given.into(), loc);
            if space.is_some_and(|space| space != given.into()) {
                self.diags
                    .error(loc, "multiple address spaces specified for type");
            }
            space = Some(given.into());
        }
        let (ty, space) = self.attributed((ty, space), &specs.attributes);
        if let Some((second, loc)) = specs.quals.second_space
            && space != Some(second.into())
        {
            self.diags
                .error(loc, "multiple address spaces specified for type");
        }
        Base {
            ty,
            space,
            is_auto: matches!(specs.ty, TypeSpec::Auto),
            alias: match specs.ty {
                TypeSpec::Named(name, _) if self.is_typedef(name) => Some(name),
                _ => None,
            },
        }
    }

    /// Whether a type's name is no word of the language itself, for the types that it has.
    fn is_typedef(&self, name: Symbol) -> bool {
        let meaning = self.scopes.lookup(name).map(|entry| entry.meaning);
        match meaning {
            Some(meaning) => matches!(meaning, Meaning::Typedef(..)),
            None => super::kernel::is_address_sized_name(self.interner.text(name)),
        }
    }

    /// OpenCL C Specification, "Access Qualifiers".
    fn check_access(&mut self, ty: QualType, access: Access, loc: Loc) -> TypeId {
        let message = match *self.types.get(ty.ty) {
            Type::Error => return ty.ty,
            Type::Pipe { .. } if access == Access::ReadWrite => format!(
                "access qualifier 'read_write' cannot be used for {}",
                self.quote(ty)
            ),
            Type::Pipe { .. } => return ty.ty,
            Type::Image { .. } if access == Access::ReadWrite && !self.has_read_write_images() => {
                format!(
                    "access qualifier 'read_write' cannot be used for {} prior to OpenCL C version \
                     2.0 or in version 3.0 and without __opencl_c_read_write_images feature",
                    self.quote(ty)
                )
            }
            Type::Image { access: given, .. } if given != access => {
                "multiple access qualifiers".to_owned()
            }
            Type::Image { .. } => return ty.ty,
            _ => "access qualifier can only be used for pipe and image type".to_owned(),
        };
        self.diags.error(loc, message);
        Types::ERROR
    }

    fn has_read_write_images(&self) -> bool {
        match self.options.std {
            Std::C20 => true,
            std => std >= Std::C30 && self.device.has("__opencl_c_read_write_images"),
        }
    }

    pub(super) fn check_generic(&mut self, space: Space, loc: Loc) {
        if space == Space::Generic && !self.has_generic {
            self.diags.error(
                loc,
                "OpenCL C version does not support the '__generic' type qualifier",
            );
        }
    }

    /// OpenCL C reserves the type, for 128 bits ("Reserved Data Types"); programs mean C's. Said
    /// once a program.
    fn warn_of_long_long(&mut self, loc: Loc) {
        if !std::mem::replace(&mut self.warned_of_long_long, true) {
            self.diags.warning(
                "long-long",
                loc,
                "'long long' is reserved in OpenCL C; it is taken as C's, with 64 bits",
            );
        }
    }

    fn arithmetic(&mut self, all: Arithmetic, loc: Loc) -> TypeId {
        if all.complex > 0 {
            self.diags
                .error(loc, "complex types are not supported in OpenCL C");
            return Types::ERROR;
        }
        let Arithmetic {
            char,
            short,
            int,
            long,
            signed,
            unsigned,
            float,
            double,
            half,
            ..
        } = all;
        let integral = char + short.min(1) + long.min(1);
        let floating = float + double + half;
        let wrong = signed > 1
            || unsigned > 1
            || signed + unsigned > 1
            || int > 1
            || char > 1
            || short > 1
            || long > 2
            || integral > 1
            || floating > 1
            || (char > 0 && int > 0)
            || (floating > 0 && integral + int + signed + unsigned > 0);
        if wrong {
            self.diags
                .error(loc, "cannot combine with previous declaration specifier");
            return Types::ERROR;
        }
        let is_unsigned = unsigned > 0;
        if half > 0 {
            return Types::HALF;
        }
        if float > 0 {
            return Types::FLOAT;
        }
        if double > 0 {
            return self.double(loc);
        }
        if long == 2 {
            self.warn_of_long_long(loc);
            return self.types.scalar(Scalar::long_long(!is_unsigned));
        }
        let bits = match (char, short, long) {
            (1, ..) => 8,
            (_, 1, _) => 16,
            (_, _, 0) => 32,
            _ => 64,
        };
        self.types.scalar(Scalar::integer(bits, !is_unsigned))
    }

    fn double(&mut self, loc: Loc) -> TypeId {
        if !self.has_fp64 {
            let what = if self.options.std >= Std::C30 {
                "cl_khr_fp64 and __opencl_c_fp64"
            } else {
                "cl_khr_fp64"
            };
            let message = format!("use of type 'double' requires {what} support");
            self.diags.error(loc, message);
        }
        Types::DOUBLE
    }

    fn named_type(
        &mut self,
        name: Symbol,
        access: Option<Access>,
        loc: Loc,
    ) -> (QualType, Option<Space>) {
        match self.scopes.lookup(name).map(|entry| entry.meaning) {
            Some(Meaning::Typedef(ty, space)) => return (ty, space),
            Some(Meaning::Error) => return (Types::ERROR.into(), None),
            _ => {}
        }
        let text = self.text(name);
        match self.builtin_type(&text, access) {
            Some(ty) => {
                if matches!(self.types.as_arithmetic(ty), Some((Scalar::Double, _))) {
                    self.double(loc);
                }
                (ty.into(), None)
            }
            None => {
                self.diags.error(loc, format!("unknown type name '{text}'"));
                (Types::ERROR.into(), None)
            }
        }
    }

    /// OpenCL C Specification, "Built-in Scalar Data Types", "Built-in Vector Data Types", "Other
    /// Built-in Data Types".
    /// The type of `size_t`.
    pub(super) fn size_type(&self) -> TypeId {
        match self.options.narrow_sizes {
            true => Types::UINT,
            false => Types::ULONG,
        }
    }

    pub(super) fn builtin_type(&mut self, name: &str, access: Option<Access>) -> Option<TypeId> {
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let stem = &name[..name.len() - digits.len()];
        if let Some(scalar) = Scalar::named(stem) {
            return match digits {
                "" => Some(self.types.scalar(scalar)),
                _ => {
                    let lanes: u8 = digits.parse().ok()?;
                    matches!(lanes, 2 | 3 | 4 | 8 | 16).then(|| self.types.vector(scalar, lanes))
                }
            };
        }
        if let Some(dim) = ImageDim::parse(name) {
            let access = access.unwrap_or(Access::ReadOnly);
            return Some(self.types.intern(Type::Image { dim, access }));
        }
        if let Some(stem) = name.strip_prefix("atomic_") {
            let inner = match stem {
                "flag" => Types::INT,
                _ => self.builtin_type(stem, None)?,
            };
            return Some(self.types.intern(Type::Atomic(inner)));
        }
        Some(match name {
            "size_t" | "uintptr_t" => self.size_type(),
            "ptrdiff_t" | "intptr_t" if self.options.narrow_sizes => Types::INT,
            "ptrdiff_t" | "intptr_t" => Types::LONG,
            "cl_mem_fence_flags" | "kernel_enqueue_flags_t" | "clk_profiling_info" => Types::UINT,
            "memory_order" | "memory_scope" => Types::INT,
            "sampler_t" => Types::SAMPLER,
            "event_t" => Types::EVENT,
            "clk_event_t" => Types::CLK_EVENT,
            "queue_t" => Types::QUEUE,
            "ndrange_t" => Types::ND_RANGE,
            "reserve_id_t" => Types::RESERVE_ID,
            "named_barrier_t" => self.types.intern(Type::Opaque(OpaqueType::NamedBarrier)),
            _ => return None,
        })
    }
}
