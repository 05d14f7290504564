//! `printf`: words in a buffer that all work-items share, which the host reads.
//!
//! The first word is how many have been taken. A call takes one for its format's number and those
//! of its arguments by adding to it, and fills them if the buffer has as many; a call whose
//! arguments it has no room for leaves its number only. The reflection has the formats with the
//! arguments' sizes, and strings that are arguments, which numbers stand for, too.

use rspirv::spirv::{Op, Scope, StorageClass};

use super::input::Constant;
use super::ir::{Id, Inst};
use super::lower::{Lower, Result, Tag};
use super::types::Type;

impl Lower<'_> {
    /// The text that a pointer to a constant array of characters points to.
    fn string(&mut self, id: Id) -> Result<String> {
        let pointer = self.pointer(id)?;
        let object = match pointer.tag {
            Tag::Known(tag) if pointer.terms.is_empty() => {
                Some(self.pointers.get(pointer.class).objects[tag as usize].id)
            }
            _ => None,
        };
        let input = self.input;
        let global = object.and_then(|object| input.globals.get(&object));
        let global = global.filter(|global| global.class == StorageClass::UniformConstant);
        let (Some(global), Ok(first)) = (global, usize::try_from(pointer.add)) else {
            return self.error("printf: a string that is no constant of the source");
        };
        let mut data = vec![0; self.target.types.size(global.pointee) as usize];
        if let Some(init) = global.init {
            self.constant_bytes(init, &mut data)?;
        }
        let text = data.get(first..).unwrap_or_default();
        let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
        match std::str::from_utf8(text) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => self.error("printf: a string that is not UTF-8, as SPIR-V's are"),
        }
    }

    /// An argument as words, and how many bytes it has.
    fn printed(&mut self, id: Id) -> Result<(Vec<Id>, u32)> {
        let (word, ty) = (self.u32_ty(), self.ty_of(id)?);
        if let Some((_, Constant::Null)) = self.input.constants.get(&id)
            && self.target.types.is_pointer(ty)
        {
            return self.error("printf: a pointer, which Vulkan has no number of");
        }
        if let Type::Pointer(class, _) = *self.target.types.get(ty) {
            if class != StorageClass::UniformConstant {
                return self.error("printf: a pointer, which Vulkan has no number of");
            }
            let text = self.string(id)?;
            let number = self.shared.format(text, Vec::new());
            return Ok((vec![self.target.u32(number)], 4));
        }
        let scalar = self.target.types.lanes(ty).0;
        let bits = self.target.types.bits(scalar);
        let lanes = self.lanes_of(id)?;
        let bytes = (lanes.len() as u32 * bits / 8).next_multiple_of(4);
        let mut words = Vec::new();
        for lane in lanes {
            if bits >= 32 {
                words.extend(self.disassemble(lane, scalar, word)?);
                continue;
            }
            let number = self.target.types.int(bits);
            let part = self.cast_bits(lane, scalar, number)?;
            words.push(self.emit(Op::UConvert, word, &[part]));
        }
        if bits < 32 {
            words = self.packed(&words, bits);
        }
        Ok((words, bytes))
    }

    /// Several small numbers in a word.
    fn packed(&mut self, parts: &[Id], bits: u32) -> Vec<Id> {
        let word = self.u32_ty();
        let mut all = Vec::new();
        for group in parts.chunks(32 / bits as usize) {
            let mut sum = group[0];
            for (at, &part) in (1..).zip(&group[1..]) {
                let shift = self.target.u32(at * bits);
                let part = self.emit(Op::ShiftLeftLogical, word, &[part, shift]);
                sum = self.emit(Op::BitwiseOr, word, &[sum, part]);
            }
            all.push(sum);
        }
        all
    }

    fn print_word(&mut self, at: Id) -> Id {
        let word = self.u32_ty();
        let buffer = self.shared.printf_buffer(self.target);
        let pointer = self.target.types.pointer(StorageClass::StorageBuffer, word);
        let zero = self.target.u32(0);
        self.emit(Op::AccessChain, pointer, &[buffer, zero, at])
    }

    pub fn printf(&mut self, inst: &Inst) -> Result<()> {
        let mut ids = inst.ids().skip(1);
        let Some(format) = ids.next() else {
            return self.error("printf() without a format");
        };
        let format = self.string(format)?;
        let (mut words, mut sizes) = (Vec::new(), Vec::new());
        for id in ids {
            let (argument, size) = self.printed(id)?;
            words.extend(argument);
            sizes.push(size);
        }
        let number = self.shared.format(format, sizes);
        let (word, bool) = (self.u32_ty(), self.target.types.bool());
        let (zero, one) = (self.target.u32(0), self.target.u32(1));
        let count = self.target.u32(words.len() as u32 + 1);
        let room = self.target.u32(self.options.printf_bytes / 4);
        let head = self.print_word(zero);
        let scope = self.target.u32(Scope::Device as u32);
        let taken = self.emit(Op::AtomicIAdd, word, &[head, scope, zero, count]);
        let first = self.emit(Op::IAdd, word, &[taken, one]);
        let end = self.emit(Op::IAdd, word, &[first, count]);
        let fits = self.emit(Op::ULessThanEqual, bool, &[end, room]);
        let failure = self.target.u32(u32::MAX);
        let result = self.emit(Op::Select, word, &[fits, zero, failure]);
        let [inside, outside, say, after] = [(); 4].map(|()| self.target.id());
        self.branch_if(fits, inside, outside);
        self.begin(inside);
        for (at, value) in (1..).zip(words) {
            let offset = self.target.u32(at);
            let at = self.emit(Op::IAdd, word, &[first, offset]);
            let place = self.print_word(at);
            self.push(Inst::of(Op::Store, &[place, value]));
        }
        self.branch(say);
        self.begin(outside);
        let some = self.emit(Op::ULessThan, bool, &[first, room]);
        self.branch_if(some, say, after);
        self.begin(say);
        let place = self.print_word(first);
        let number = self.target.u32(number);
        self.push(Inst::of(Op::Store, &[place, number]));
        self.branch(after);
        self.begin(after);
        let ty = self.result_ty(inst)?;
        let result = self.extended_from_word(result, ty);
        self.set(inst, result);
        Ok(())
    }
}
