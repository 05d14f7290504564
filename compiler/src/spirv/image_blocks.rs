//! Blocks of images: each work-item of a sub-group reads or writes elements side by side in a row,
//! whatever texels they are of, and further elements in the rows below
//! ("SPV_INTEL_subgroups", "OpSubgroupImageBlockReadINTEL").
//!
//! The first coordinate counts bytes. Reads beyond an edge find what is at the edge, writes beyond
//! it do nothing (`cl_intel_spirv_subgroups`, "Notes and Restrictions"). There the edge of images
//! with texels of less than four bytes is further right, and what is beyond the row may be
//! anything; here it is the row's end for all.

use rspirv::spirv::Op;

use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use crate::image::{Field, ImageDim};
use crate::ir::{
    BinOp, Builder, Collective, ConvertOp, IntCC, Mem, Op as IrOp, Query, Scalar, Scope, Type,
    Value,
};
use crate::kernel_info::{AccessQualifier, AddressSpace};

/// Where a work-item's part of a block is. All but the texels' address are an `i64`.
struct Block {
    /// The image's first texel.
    data: Value,
    row_pitch: Value,
    /// Bytes of a row, and rows.
    size: [Value; 2],
    /// Bytes from the start of a row to the element, and the first of its rows.
    at: [Value; 2],
    mem: Mem,
}

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn image_block(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        match op {
            Op::SubgroupImageBlockReadINTEL => {
                let ty = self.unit.result_ir(inst)?;
                let block = self.block_of_image(inst, ty, AccessQualifier::WriteOnly)?;
                let elements: Vec<Value> = (0..ty.lanes)
                    .map(|row| self.read_block_row(&block, row, ty.lane()))
                    .collect();
                let value = self.body.build(&elements);
                self.define(inst, value)?;
            }
            Op::SubgroupImageBlockWriteINTEL => {
                let data = self.value(inst, inst.operands[2])?;
                let ty = self.body.ty(data);
                let block = self.block_of_image(inst, ty, AccessQualifier::ReadOnly)?;
                for (row, element) in self.body.scalars(data).into_iter().enumerate() {
                    self.write_block_row(&block, row as u8, element);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The block of an instruction whose image must not be one of `excluded` access.
    fn block_of_image(
        &mut self,
        inst: &Inst<'_>,
        ty: Type,
        excluded: AccessQualifier,
    ) -> Result<Block> {
        let (image, descriptor) = self.image_operand(inst, inst.operands[0])?;
        if image.dim != ImageDim::Dim2 || image.depth {
            return Err(self.error(inst, format!("a block of an {}", image.name())));
        }
        if image.access == excluded {
            return Err(self.error(inst, "the image has another access qualifier"));
        }
        if !ty.scalar.is_int() && !ty.scalar.is_float() {
            return Err(self.error(inst, format!("a block of {ty}")));
        }
        let space = match image.access {
            AccessQualifier::ReadOnly => AddressSpace::Constant,
            _ => AddressSpace::Global,
        };
        let [x, y] = self.block_coordinates(inst, inst.operands[1])?;
        let bytes = self.body.iconst(Type::I64, u64::from(ty.scalar.bytes()));
        let data = self
            .body
            .b()
            .val(IrOp::ImageQuery(Field::Data), &[descriptor], Type::PTR);
        let fields = [
            Field::Width,
            Field::Height,
            Field::TexelSize,
            Field::RowPitch,
        ];
        let fields = fields.map(|field| self.body.query(descriptor, field, Type::I64));
        let [width, height, texel_size, row_pitch] = fields;
        let mut b = self.body.b();
        let local_id = b.val(IrOp::Query(Query::SubGroupLocalId), &[], Type::I64);
        let before = b.binary(BinOp::IMul, local_id, bytes);
        Ok(Block {
            data,
            row_pitch,
            size: [b.binary(BinOp::IMul, width, texel_size), height],
            at: [b.binary(BinOp::IAdd, x, before), y],
            // The first texel need not be aligned.
            mem: Mem::new(space, 1),
        })
    }

    /// The coordinates, which all work-items bring, and no analysis may know.
    fn block_coordinates(&mut self, inst: &Inst<'_>, id: Id) -> Result<[Value; 2]> {
        let coordinates = self.value(inst, id)?;
        let ty = self.body.ty(coordinates);
        if ty.scalar != Scalar::I32 || ty.lanes != 2 {
            return Err(self.error(inst, format!("the coordinate has type {ty}, not 2 of i32")));
        }
        let first = Collective::BroadcastFirst;
        Ok([0, 1].map(|lane| {
            let one = self.body.b().extract(coordinates, lane);
            let same = self
                .body
                .collective(first, Scope::SubGroup, &[one], Type::I32);
            self.body.b().convert(ConvertOp::SExt, same, Type::I64)
        }))
    }

    /// The element `row` rows below the first one, or the nearest that there is; 0 if there is
    /// none.
    fn read_block_row(&mut self, block: &Block, row: u8, ty: Type) -> Value {
        let [zero, one] = [0, 1].map(|number| self.body.iconst(Type::I64, number));
        let none = self.body.iconst(ty, 0);
        let bytes = self.body.iconst(Type::I64, ty.scalar.bytes().into());
        let row = self.body.iconst(Type::I64, row.into());
        let mut b = self.body.b();
        let y = b.binary(BinOp::IAdd, block.at[1], row);
        let last = [
            b.binary(BinOp::ISub, block.size[0], bytes),
            b.binary(BinOp::ISub, block.size[1], one),
        ];
        let least = b.binary(BinOp::SMin, last[0], last[1]);
        let is_there = b.icmp(IntCC::Sge, least, zero);
        let (some, done) = (b.new_block(&[]), b.new_block(&[ty]));
        b.cond_br(is_there, some, &[], done, &[none]);
        b.switch_to(some);
        let [x, y] = [(block.at[0], last[0]), (y, last[1])].map(|(at, last)| {
            let at = b.binary(BinOp::SMin, at, last);
            b.binary(BinOp::SMax, at, zero)
        });
        let address = block.address(&mut b, [x, y]);
        let element = b.load(block.mem, address, ty);
        b.br(done, &[element]);
        let value = b.param(done, 0);
        self.body.block = done;
        value
    }

    /// Writes the element `row` rows below the first one, if it is there.
    fn write_block_row(&mut self, block: &Block, row: u8, element: Value) {
        let zero = self.body.iconst(Type::I64, 0);
        let bytes = self.body.ty(element).scalar.bytes();
        let bytes = self.body.iconst(Type::I64, bytes.into());
        let row = self.body.iconst(Type::I64, row.into());
        let mut b = self.body.b();
        let [x, y] = [block.at[0], b.binary(BinOp::IAdd, block.at[1], row)];
        let end = b.binary(BinOp::IAdd, x, bytes);
        let conditions = [
            b.icmp(IntCC::Sge, x, zero),
            b.icmp(IntCC::Sle, end, block.size[0]),
            b.icmp(IntCC::Ult, y, block.size[1]),
        ];
        let [left, right, rows] = conditions;
        let is_there = b.binary(BinOp::And, left, right);
        let is_there = b.binary(BinOp::And, is_there, rows);
        self.body.when(is_there, |body| {
            let address = block.address(&mut body.b(), [x, y]);
            body.b().store(block.mem, address, element);
        });
    }
}

impl Block {
    /// The address at so many bytes from the start of a row.
    fn address(&self, b: &mut Builder<'_>, [x, y]: [Value; 2]) -> Value {
        let rows = b.binary(BinOp::IMul, y, self.row_pitch);
        let row = b.ptr_add(self.data, rows);
        b.ptr_add(row, x)
    }
}
