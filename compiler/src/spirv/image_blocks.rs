//! Blocks of images, which the work-items of a sub-group read or write together, whatever texels
//! they are of.
//!
//! - In "SPV_INTEL_subgroups", "OpSubgroupImageBlockReadINTEL", elements of work-items are side by
//!   side in a row, and further elements in the rows below.
//! - In "SPV_INTEL_media_block_io", a block has its own width and height. Its elements are numbered
//!   row by row, as if rows were a power of two of bytes long, and work-items take them in turn.
//!
//! The first coordinate counts bytes. Reads beyond an edge find what is at the edge, writes beyond
//! it do nothing (`cl_intel_spirv_subgroups` and `cl_intel_spirv_media_block_io`, "Notes and
//! Restrictions"). There the edge of images with texels of less than four bytes is further right,
//! and what is beyond the row may be anything; here it is the row's end for all.

use rspirv::spirv::Op;

use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use crate::image::{Field, ImageDim};
use crate::ir::{
    BinOp, Builder, Collective, ConvertOp, IntCC, Mem, Op as IrOp, Query, Scalar, Scope, Type,
    UnOp, Value,
};
use crate::kernel_info::{AccessQualifier, AddressSpace};

/// What a block is of. All but the texels' address are an `i64`.
struct Block {
    /// The image's first texel.
    data: Value,
    row_pitch: Value,
    /// Bytes of a row, and rows.
    size: [Value; 2],
    mem: Mem,
}

/// A work-item's element of a block.
struct Element {
    /// Bytes from the start of a row, and the row.
    at: [Value; 2],
    /// Whether the block has it.
    is_in_block: Option<Value>,
}

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn image_block(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        let media = match op {
            Op::SubgroupImageBlockReadINTEL | Op::SubgroupImageBlockWriteINTEL => false,
            Op::SubgroupImageMediaBlockReadINTEL | Op::SubgroupImageMediaBlockWriteINTEL => true,
            _ => return Ok(false),
        };
        let reads = matches!(
            op,
            Op::SubgroupImageBlockReadINTEL | Op::SubgroupImageMediaBlockReadINTEL
        );
        let size = match media {
            true => Some([inst.operands[2], inst.operands[3]]),
            false => None,
        };
        if reads {
            let ty = self.unit.result_ir(inst)?;
            let block = self.block_of_image(inst, ty, AccessQualifier::WriteOnly)?;
            let elements = self.block_elements(inst, ty, size)?;
            let elements: Vec<Value> = elements
                .iter()
                .map(|element| self.read_element(&block, element.at, ty.lane()))
                .collect();
            let value = self.body.build(&elements);
            self.define(inst, value)?;
            return Ok(true);
        }
        let data = self.value(inst, inst.operands[if media { 4 } else { 2 }])?;
        let ty = self.body.ty(data);
        let block = self.block_of_image(inst, ty, AccessQualifier::ReadOnly)?;
        let elements = self.block_elements(inst, ty, size)?;
        for (element, value) in elements.iter().zip(self.body.scalars(data)) {
            self.write_element(&block, element, value);
        }
        Ok(true)
    }

    /// The image of an instruction, which must not be one of `excluded` access.
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
        Ok(Block {
            data,
            row_pitch,
            size: [self.body.b().binary(BinOp::IMul, width, texel_size), height],
            // The first texel need not be aligned.
            mem: Mem::new(space, 1),
        })
    }

    /// The elements that are a work-item's; `size` are the ids of a media block's width and height.
    fn block_elements(
        &mut self,
        inst: &Inst<'_>,
        ty: Type,
        size: Option<[Id; 2]>,
    ) -> Result<Vec<Element>> {
        let [x, y] = self.block_coordinates(inst, inst.operands[1])?;
        let size = match size {
            Some([width, height]) => {
                let width = self.block_extent(inst, width)?;
                Some([width, self.block_extent(inst, height)?])
            }
            None => None,
        };
        let bytes = self.body.iconst(Type::I64, u64::from(ty.scalar.bytes()));
        let mut b = self.body.b();
        let local_id = b.val(IrOp::Query(Query::SubGroupLocalId), &[], Type::I64);
        let lanes = b.val(IrOp::Query(Query::SubGroupMaxSize), &[], Type::I64);
        let elements = (0..u64::from(ty.lanes)).map(|number| {
            let number = self.body.iconst(Type::I64, number);
            let mut b = self.body.b();
            let (column, row, is_in_block) = match size {
                None => (local_id, number, None),
                Some([width, height]) => {
                    let before = b.binary(BinOp::IMul, number, lanes);
                    let number = b.binary(BinOp::IAdd, before, local_id);
                    let [column, row] = in_rows(&mut b, number, width);
                    let left = b.icmp(IntCC::Ult, column, width);
                    let above = b.icmp(IntCC::Ult, row, height);
                    (column, row, Some(b.binary(BinOp::And, left, above)))
                }
            };
            let before = b.binary(BinOp::IMul, column, bytes);
            Element {
                at: [
                    b.binary(BinOp::IAdd, x, before),
                    b.binary(BinOp::IAdd, y, row),
                ],
                is_in_block,
            }
        });
        Ok(elements.collect())
    }

    /// A width or height, which is the same for all: "must be compile time constants".
    fn block_extent(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let extent = self.value(inst, id)?;
        let ty = self.body.ty(extent);
        if ty != Type::I32 {
            return Err(self.error(inst, format!("an extent of a block has type {ty}, not i32")));
        }
        Ok(self.body.b().convert(ConvertOp::ZExt, extent, Type::I64))
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

    /// The element at a place, or the nearest that there is; 0 if there is none.
    fn read_element(&mut self, block: &Block, at: [Value; 2], ty: Type) -> Value {
        let [zero, one] = [0, 1].map(|number| self.body.iconst(Type::I64, number));
        let none = self.body.iconst(ty, 0);
        let bytes = self.body.iconst(Type::I64, ty.scalar.bytes().into());
        let mut b = self.body.b();
        let last = [
            b.binary(BinOp::ISub, block.size[0], bytes),
            b.binary(BinOp::ISub, block.size[1], one),
        ];
        let least = b.binary(BinOp::SMin, last[0], last[1]);
        let is_there = b.icmp(IntCC::Sge, least, zero);
        let (some, done) = (b.new_block(&[]), b.new_block(&[ty]));
        b.cond_br(is_there, some, &[], done, &[none]);
        b.switch_to(some);
        let [x, y] = [(at[0], last[0]), (at[1], last[1])].map(|(at, last)| {
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

    /// Writes an element if the image has its place.
    fn write_element(&mut self, block: &Block, element: &Element, value: Value) {
        let zero = self.body.iconst(Type::I64, 0);
        let bytes = self.body.ty(value).scalar.bytes();
        let bytes = self.body.iconst(Type::I64, bytes.into());
        let [x, y] = element.at;
        let mut b = self.body.b();
        let end = b.binary(BinOp::IAdd, x, bytes);
        let conditions = [
            b.icmp(IntCC::Sle, end, block.size[0]),
            b.icmp(IntCC::Ult, y, block.size[1]),
        ];
        let mut is_there = b.icmp(IntCC::Sge, x, zero);
        for condition in conditions.into_iter().chain(element.is_in_block) {
            is_there = b.binary(BinOp::And, is_there, condition);
        }
        self.body.when(is_there, |body| {
            let address = block.address(&mut body.b(), [x, y]);
            body.b().store(block.mem, address, value);
        });
    }
}

/// The column and row of an element in rows of `width` elements with what makes their number a
/// power of two.
fn in_rows(b: &mut Builder<'_>, number: Value, width: Value) -> [Value; 2] {
    let [one, all] = [1, 64].map(|number| b.iconst(Type::I64, number));
    let last = b.binary(BinOp::ISub, width, one);
    let zeros = b.unary(UnOp::Clz, last);
    let bits = b.binary(BinOp::ISub, all, zeros);
    let row = b.binary(BinOp::LShr, number, bits);
    let before = b.binary(BinOp::Shl, row, bits);
    [b.binary(BinOp::ISub, number, before), row]
}

impl Block {
    /// The address at so many bytes from the start of a row.
    fn address(&self, b: &mut Builder<'_>, [x, y]: [Value; 2]) -> Value {
        let rows = b.binary(BinOp::IMul, y, self.row_pitch);
        let row = b.ptr_add(self.data, rows);
        b.ptr_add(row, x)
    }
}
