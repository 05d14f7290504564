//! `OpenCL.std`'s functions of integers and of bits: OpenCL C Specification, "Integer Functions",
//! "Relational Functions", "Miscellaneous Vector Functions".

use rspirv::spirv::{GlslStd450Op as Gl, Op, OpenclStd100Op as Cl};

use super::ir::Id;
use super::lower::{Lower, Result};
use super::types::{Ty, Type};

impl Lower<'_> {
    fn when(&mut self, op: Op, ty: Ty, args: &[Id]) -> Id {
        let bools = self.bool_like(ty);
        self.emit(op, bools, args)
    }

    fn either(&mut self, ty: Ty, condition: Id, yes: Id, no: Id) -> Id {
        self.emit(Op::Select, ty, &[condition, yes, no])
    }

    pub fn integer_function(
        &mut self,
        op: Cl,
        ty: Ty,
        sources: &[Id],
        ids: &[Id],
    ) -> Result<Option<Id>> {
        let &[x, ..] = ids else { return Ok(None) };
        let y = ids.get(1).copied().unwrap_or(x);
        let z = ids.get(2).copied().unwrap_or(x);
        let width = self.target.types.bits(ty);
        Ok(Some(match op {
            Cl::s_abs => self.glsl(Gl::SAbs, ty, &[x]),
            Cl::u_abs => x,
            Cl::s_abs_diff | Cl::u_abs_diff => {
                let (most, least) = match op {
                    Cl::s_abs_diff => (Gl::SMax, Gl::SMin),
                    _ => (Gl::UMax, Gl::UMin),
                };
                let most = self.glsl(most, ty, &[x, y]);
                let least = self.glsl(least, ty, &[x, y]);
                self.emit(Op::ISub, ty, &[most, least])
            }
            Cl::s_max => self.glsl(Gl::SMax, ty, &[x, y]),
            Cl::u_max => self.glsl(Gl::UMax, ty, &[x, y]),
            Cl::s_min => self.glsl(Gl::SMin, ty, &[x, y]),
            Cl::u_min => self.glsl(Gl::UMin, ty, &[x, y]),
            Cl::s_clamp => self.clamp(Gl::SClamp, ty, x, y, z),
            Cl::u_clamp => self.clamp(Gl::UClamp, ty, x, y, z),
            Cl::u_add_sat => {
                let sum = self.emit(Op::IAdd, ty, &[x, y]);
                let wraps = self.when(Op::ULessThan, ty, &[sum, x]);
                let most = self.target.splat(ty, u64::MAX);
                self.either(ty, wraps, most, sum)
            }
            Cl::u_sub_sat => {
                let difference = self.emit(Op::ISub, ty, &[x, y]);
                let wraps = self.when(Op::ULessThan, ty, &[x, y]);
                let least = self.target.splat(ty, 0);
                self.either(ty, wraps, least, difference)
            }
            Cl::s_add_sat | Cl::s_sub_sat => {
                let plain = match op {
                    Cl::s_add_sat => Op::IAdd,
                    _ => Op::ISub,
                };
                let value = self.emit(plain, ty, &[x, y]);
                self.saturated(op == Cl::s_add_sat, ty, x, y, value)
            }
            Cl::s_hadd | Cl::u_hadd | Cl::s_rhadd | Cl::u_rhadd => {
                let shift = match op {
                    Cl::s_hadd | Cl::s_rhadd => Op::ShiftRightArithmetic,
                    _ => Op::ShiftRightLogical,
                };
                let one = self.target.splat(ty, 1);
                let different = self.emit(Op::BitwiseXor, ty, &[x, y]);
                let half = self.emit(shift, ty, &[different, one]);
                match op {
                    Cl::s_hadd | Cl::u_hadd => {
                        let both = self.emit(Op::BitwiseAnd, ty, &[x, y]);
                        self.emit(Op::IAdd, ty, &[both, half])
                    }
                    _ => {
                        let any = self.emit(Op::BitwiseOr, ty, &[x, y]);
                        self.emit(Op::ISub, ty, &[any, half])
                    }
                }
            }
            Cl::clz => self.leading_zeros(x, ty),
            Cl::ctz => self.trailing_zeros(x, ty),
            Cl::popcount => self.bit_count(x, ty),
            Cl::s_mul_hi | Cl::u_mul_hi | Cl::s_mad_hi | Cl::u_mad_hi => {
                let signed = matches!(op, Cl::s_mul_hi | Cl::s_mad_hi);
                let high = self.multiply_high(signed, ty, x, y);
                match op {
                    Cl::s_mad_hi | Cl::u_mad_hi => self.emit(Op::IAdd, ty, &[high, z]),
                    _ => high,
                }
            }
            Cl::s_mad_sat | Cl::u_mad_sat => {
                if width == 64 {
                    return self.error("mad_sat() of 64 bits is not made for Vulkan");
                }
                let signed = op == Cl::s_mad_sat;
                self.multiply_add_saturated(signed, ty, x, y, z)
            }
            Cl::s_mul24 | Cl::u_mul24 => self.emit(Op::IMul, ty, &[x, y]),
            Cl::s_mad24 | Cl::u_mad24 => {
                let product = self.emit(Op::IMul, ty, &[x, y]);
                self.emit(Op::IAdd, ty, &[product, z])
            }
            Cl::rotate => {
                let mask = self.target.splat(ty, u64::from(width - 1));
                let zero = self.target.splat(ty, 0);
                let left = self.emit(Op::BitwiseAnd, ty, &[y, mask]);
                let right = self.emit(Op::ISub, ty, &[zero, left]);
                let right = self.emit(Op::BitwiseAnd, ty, &[right, mask]);
                let left = self.emit(Op::ShiftLeftLogical, ty, &[x, left]);
                let right = self.emit(Op::ShiftRightLogical, ty, &[x, right]);
                self.emit(Op::BitwiseOr, ty, &[left, right])
            }
            Cl::s_upsample | Cl::u_upsample => {
                let high = self.emit(Op::UConvert, ty, &[x]);
                let low = self.emit(Op::UConvert, ty, &[y]);
                let shift = self.target.splat(ty, u64::from(width / 2));
                let high = self.emit(Op::ShiftLeftLogical, ty, &[high, shift]);
                self.emit(Op::BitwiseOr, ty, &[high, low])
            }
            Cl::bitselect => {
                let ints = self.bits_type(ty);
                let mut bits = Vec::new();
                for &id in ids {
                    bits.push(self.cast_bits(id, ty, ints)?);
                }
                let not = self.emit(Op::Not, ints, &[bits[2]]);
                let kept = self.emit(Op::BitwiseAnd, ints, &[bits[0], not]);
                let taken = self.emit(Op::BitwiseAnd, ints, &[bits[1], bits[2]]);
                let value = self.emit(Op::BitwiseOr, ints, &[kept, taken]);
                self.cast_bits(value, ints, ty)?
            }
            Cl::select => {
                let of = self.ty_of(sources[2])?;
                let zero = self.target.splat(of, 0);
                // The highest bit counts in vectors, and any bit in scalars.
                let vector = self.in_lanes || self.target.types.lanes(ty).1 > 1;
                let test = if vector { Op::SLessThan } else { Op::INotEqual };
                let condition = self.when(test, of, &[z, zero]);
                self.either(ty, condition, y, x)
            }
            Cl::shuffle | Cl::shuffle2 => self.shuffle(ty, sources, ids)?,
            _ => return Ok(None),
        }))
    }

    /// A sum or difference that overflowed becomes the end of the range.
    fn saturated(&mut self, sum: bool, ty: Ty, x: Id, y: Id, value: Id) -> Id {
        let width = self.target.types.bits(ty);
        let zero = self.target.splat(ty, 0);
        // The signs tell: those of operands that are alike (of a sum) from the result's.
        let from_x = self.emit(Op::BitwiseXor, ty, &[x, value]);
        let other = match sum {
            true => self.emit(Op::BitwiseXor, ty, &[y, value]),
            false => self.emit(Op::BitwiseXor, ty, &[x, y]),
        };
        let both = self.emit(Op::BitwiseAnd, ty, &[from_x, other]);
        let overflows = self.when(Op::SLessThan, ty, &[both, zero]);
        let negative = self.when(Op::SLessThan, ty, &[x, zero]);
        let least = self.target.splat(ty, 1 << (width - 1));
        let most = self.target.splat(ty, (1 << (width - 1)) - 1);
        let end = self.either(ty, negative, least, most);
        self.either(ty, overflows, end, value)
    }

    fn leading_zeros(&mut self, x: Id, ty: Ty) -> Id {
        let width = self.target.types.bits(ty);
        if width == 64 {
            let (low, high, words) = self.halves(x, ty);
            let zero = self.target.splat(words, 0);
            let thirty_two = self.target.splat(words, 32);
            let of_low = self.leading_zeros(low, words);
            let of_low = self.emit(Op::IAdd, words, &[of_low, thirty_two]);
            let of_high = self.leading_zeros(high, words);
            let none = self.when(Op::IEqual, words, &[high, zero]);
            let count = self.either(words, none, of_low, of_high);
            return self.emit(Op::UConvert, ty, &[count]);
        }
        let (wide, words) = self.widened(x, ty, false);
        // -1 where no bit is set.
        let bit = self.glsl(Gl::FindUMsb, words, &[wide]);
        let last = self.target.splat(words, u64::from(width - 1));
        let count = self.emit(Op::ISub, words, &[last, bit]);
        self.narrowed(count, ty)
    }

    fn trailing_zeros(&mut self, x: Id, ty: Ty) -> Id {
        let width = self.target.types.bits(ty);
        if width == 64 {
            let (low, high, words) = self.halves(x, ty);
            let zero = self.target.splat(words, 0);
            let thirty_two = self.target.splat(words, 32);
            let of_low = self.trailing_zeros(low, words);
            let of_high = self.trailing_zeros(high, words);
            let of_high = self.emit(Op::IAdd, words, &[of_high, thirty_two]);
            let none = self.when(Op::IEqual, words, &[low, zero]);
            let count = self.either(words, none, of_high, of_low);
            return self.emit(Op::UConvert, ty, &[count]);
        }
        let (wide, words) = self.widened(x, ty, false);
        let bit = self.glsl(Gl::FindILsb, words, &[wide]);
        let zero = self.target.splat(words, 0);
        let none = self.when(Op::IEqual, words, &[wide, zero]);
        let all = self.target.splat(words, u64::from(width));
        let count = self.either(words, none, all, bit);
        self.narrowed(count, ty)
    }

    fn multiply_high(&mut self, signed: bool, ty: Ty, x: Id, y: Id) -> Id {
        let width = self.target.types.bits(ty);
        if width < 32 {
            let (x, words) = self.widened(x, ty, signed);
            let (y, _) = self.widened(y, ty, signed);
            let product = self.emit(Op::IMul, words, &[x, y]);
            let shift = self.target.splat(words, u64::from(width));
            let high = self.emit(Op::ShiftRightLogical, words, &[product, shift]);
            return self.narrowed(high, ty);
        }
        let pair = self.target.types.add(Type::Struct {
            members: vec![ty, ty],
            packed: false,
        });
        let op = if signed {
            Op::SMulExtended
        } else {
            Op::UMulExtended
        };
        let pair = self.emit(op, pair, &[x, y]);
        self.extract(ty, pair, 1)
    }

    fn multiply_add_saturated(&mut self, signed: bool, ty: Ty, x: Id, y: Id, z: Id) -> Id {
        let width = self.target.types.bits(ty);
        let scalar = self.target.types.int(width * 2);
        let wide = self.target.types.like(ty, scalar);
        let op = if signed { Op::SConvert } else { Op::UConvert };
        let [x, y, z] = [x, y, z].map(|value| self.emit(op, wide, &[value]));
        let product = self.emit(Op::IMul, wide, &[x, y]);
        let sum = self.emit(Op::IAdd, wide, &[product, z]);
        let (low, high) = match signed {
            true => (
                self.target.splat(wide, !0 << (width - 1)),
                self.target.splat(wide, (1 << (width - 1)) - 1),
            ),
            false => (
                self.target.splat(wide, 0),
                self.target.splat(wide, (1 << width) - 1),
            ),
        };
        let clamp = if signed { Gl::SClamp } else { Gl::UClamp };
        let value = self.clamp(clamp, wide, sum, low, high);
        self.emit(Op::UConvert, ty, &[value])
    }

    /// Lanes by the numbers in a mask.
    fn shuffle(&mut self, ty: Ty, sources: &[Id], ids: &[Id]) -> Result<Id> {
        let Some((&mask, inputs)) = ids.split_last() else {
            return self.error("shuffle() without a mask");
        };
        let of = self.ty_of(sources[0])?;
        let mask_ty = self.ty_of(sources[sources.len() - 1])?;
        let (scalar, each) = self.target.types.lanes(of);
        let index_ty = self.target.types.lanes(mask_ty).0;
        let inside = self.target.bits(index_ty, u64::from(each - 1));
        let further = self.target.bits(index_ty, u64::from(each));
        let zero = self.target.bits(index_ty, 0);
        let bool = self.target.types.bool();
        let mut lanes = Vec::new();
        for index in self.lanes(mask, mask_ty) {
            let at = self.emit(Op::BitwiseAnd, index_ty, &[index, inside]);
            let at = self.low(at, index_ty);
            let first = self.emit(Op::VectorExtractDynamic, scalar, &[inputs[0], at]);
            lanes.push(match inputs.get(1) {
                None => first,
                Some(&second) => {
                    let second = self.emit(Op::VectorExtractDynamic, scalar, &[second, at]);
                    let bit = self.emit(Op::BitwiseAnd, index_ty, &[index, further]);
                    let is_second = self.emit(Op::INotEqual, bool, &[bit, zero]);
                    self.either(scalar, is_second, second, first)
                }
            });
        }
        Ok(self.construct(ty, &lanes))
    }
}
