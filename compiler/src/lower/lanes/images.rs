//! Images of which neither format nor sampler are known: `crate::image`, called for each active
//! lane.

use smallvec::SmallVec;

use super::Expander;
use crate::image::Field;
use crate::image::call::code;
use crate::ir::{BinOp, ConvertOp, HostFunction, Image, IntCC, Mem, Op, Scalar, Type, Value};
use crate::kernel_info::AddressSpace;
use crate::lower::replay::Values;

/// Bytes of a texel as functions take and give it: four components of 32 bits.
const TEXEL: u32 = 16;

impl Expander<'_, '_> {
    /// Calls for one texel; its components are at `texel`.
    fn call_texel(
        &mut self,
        function: HostFunction,
        image: Image,
        object: Value,
        sampler: Option<Value>,
        coordinates: &[Value],
        texel: Value,
    ) {
        let floats = self.b.ty(coordinates[0]).scalar == Scalar::F32;
        let how = code(image.dim, image.component, floats).into();
        let mut how = self.b.iconst(Type::I64, how);
        if let Some(sampler) = sampler {
            let sampler = self.b.convert(ConvertOp::ZExt, sampler, Type::I64);
            let sampler = self.b.binary_imm(BinOp::Shl, sampler, 32);
            how = self.b.binary(BinOp::Or, sampler, how);
        }
        let at = coordinates.iter().map(|&c| self.b.bitcast(c, Type::I32));
        let mut at: SmallVec<[Value; 3]> = at.collect();
        at.resize_with(3, || self.b.iconst(Type::I32, 0));
        let args = [object, how, at[0], at[1], at[2], texel];
        self.host_call(function, &args);
    }

    pub(super) fn image_read(
        &mut self,
        image: Image,
        args: &[Value],
        mask: Option<Value>,
        results: &[Type],
    ) -> Values {
        let texel = self.memory(TEXEL);
        self.each_lane(args, mask, results, |e, args| {
            let (object, sampler) = (args[0], args[1]);
            let function = HostFunction::ReadTexel;
            e.call_texel(function, image, object, Some(sampler), &args[2..], texel);
            let component = |(n, ty): (usize, &Type)| {
                let mem = Mem::new(AddressSpace::Private, ty.scalar.bytes());
                let at = e.offset(texel, 4 * n as u64);
                e.b.load(mem, at, ty.lane())
            };
            results.iter().enumerate().map(component).collect()
        })
    }

    pub(super) fn image_write(
        &mut self,
        image: Image,
        args: &[Value],
        mask: Option<Value>,
    ) -> Values {
        let texel = self.memory(TEXEL);
        self.each_lane(args, mask, &[], |e, args| {
            let (place, components) = args.split_at(1 + image.dim.coordinates());
            for n in 0..4 {
                let value = match components.get(n) {
                    Some(&component) => e.as_bits(component, Scalar::I32),
                    None => e.b.iconst(Type::I32, 0),
                };
                e.set_field(texel, 4 * n as u64, value);
            }
            let function = HostFunction::WriteTexel;
            e.call_texel(function, image, place[0], None, &place[1..], texel);
            Values::new()
        })
    }

    /// A field of the descriptor of each lane's image.
    pub(super) fn image_query(&mut self, field: Field, image: Value, ty: Type) -> Value {
        let pointers = self.b.ty(image);
        let is_none = self.b.icmp_imm(IntCC::Eq, image, 0);
        let mut nothing = self.b.val(Op::NoImageAddr, &[], Type::PTR);
        if pointers.lanes > 1 {
            nothing = self.b.splat(nothing, pointers.lanes);
        }
        let image = self.b.select(is_none, nothing, image);
        let offset = self
            .b
            .iconst(pointers.with_scalar(Scalar::I64), field.offset() as u64);
        let at = self.b.ptr_add(image, offset);
        let mem = Mem::new(AddressSpace::Constant, field.size() as u32);
        self.b.val(Op::Load(mem), &[at], ty)
    }
}
