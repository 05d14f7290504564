//! The module for Vulkan while it is made: constants and variables, each once, and functions. What
//! nothing refers to is not written.

use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};
use rustc_hash::FxHashMap;

use super::ir::{Arg, Block, Id, Inst};
use super::types::{Ty, Type, Types};

/// A finished kernel.
pub(crate) struct Entry {
    pub name: String,
    pub function: Id,
    pub blocks: Vec<Block>,
    /// Variables of the function: pointer type and id.
    pub variables: Vec<(Ty, Id)>,
    pub local_size: Option<[u32; 3]>,
    /// Results are not to be contracted.
    pub strict: bool,
}

pub(crate) struct Target {
    pub types: Types,
    next: Id,
    known: FxHashMap<(u32, Ty, Vec<u32>), Id>,
    /// Constants and variables of the module.
    pub globals: FxHashMap<Id, Inst>,
    pub decorations: FxHashMap<Id, Vec<Vec<u32>>>,
    pub names: Vec<(Id, String)>,
    inputs: FxHashMap<u32, Id>,
    /// Variables of constant tables, by what is in them.
    tables: FxHashMap<Id, Id>,
    pub entries: Vec<Entry>,
    /// What is written although no function refers to it.
    pub roots: Vec<Id>,
    glsl: Option<Id>,
}

impl Target {
    pub fn new(types: Types) -> Target {
        Target {
            types,
            next: 1,
            known: FxHashMap::default(),
            globals: FxHashMap::default(),
            decorations: FxHashMap::default(),
            names: Vec::new(),
            inputs: FxHashMap::default(),
            tables: FxHashMap::default(),
            entries: Vec::new(),
            roots: Vec::new(),
            glsl: None,
        }
    }

    pub fn id(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    pub fn bound(&self) -> Id {
        self.next
    }

    /// The set `GLSL.std.450`.
    pub fn glsl(&mut self) -> Id {
        if self.glsl.is_none() {
            self.glsl = Some(self.id());
        }
        self.glsl.unwrap_or(0)
    }

    pub fn imported_glsl(&self) -> Option<Id> {
        self.glsl
    }

    fn constant(&mut self, op: Op, ty: Ty, args: Vec<Arg>) -> Id {
        let words = args.iter().map(|arg| match *arg {
            Arg::Id(word) | Arg::Lit(word) => word,
        });
        let key = (op as u32, ty, words.collect());
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = self.id();
        self.known.insert(key, id);
        self.globals.insert(id, Inst::new(op, args).with(ty, id));
        id
    }

    /// A scalar by its bits.
    pub fn bits(&mut self, ty: Ty, bits: u64) -> Id {
        let width = self.types.bits(ty);
        let bits = match width {
            64 => bits,
            _ => bits & ((1 << width) - 1),
        };
        let mut args = vec![Arg::Lit(bits as u32)];
        if width == 64 {
            args.push(Arg::Lit((bits >> 32) as u32));
        }
        self.constant(Op::Constant, ty, args)
    }

    pub fn u32(&mut self, number: u32) -> Id {
        let ty = self.types.int(32);
        self.bits(ty, number.into())
    }

    pub fn bool(&mut self, value: bool) -> Id {
        let ty = self.types.bool();
        let op = if value {
            Op::ConstantTrue
        } else {
            Op::ConstantFalse
        };
        self.constant(op, ty, Vec::new())
    }

    pub fn null(&mut self, ty: Ty) -> Id {
        self.constant(Op::ConstantNull, ty, Vec::new())
    }

    pub fn composite(&mut self, ty: Ty, parts: &[Id]) -> Id {
        let args = parts.iter().map(|&id| Arg::Id(id)).collect();
        self.constant(Op::ConstantComposite, ty, args)
    }

    /// A scalar constant's bits in all lanes of a type.
    pub fn splat(&mut self, ty: Ty, bits: u64) -> Id {
        let (scalar, lanes) = self.types.lanes(ty);
        let one = self.bits(scalar, bits);
        match lanes {
            1 => one,
            _ => self.composite(ty, &vec![one; lanes as usize]),
        }
    }

    /// A number in all lanes of a type of floating-point numbers.
    pub fn number(&mut self, ty: Ty, number: f64) -> Id {
        let bits = match self.types.bits(ty) {
            16 => u64::from(half_bits(number)),
            32 => u64::from((number as f32).to_bits()),
            _ => number.to_bits(),
        };
        self.splat(ty, bits)
    }

    /// The bits of a constant scalar.
    pub fn known_bits(&self, id: Id) -> Option<u64> {
        let inst = self.globals.get(&id)?;
        match inst.op {
            Op::Constant => {
                Some(u64::from(inst.literal_at(0)) | u64::from(inst.literal_at(1)) << 32)
            }
            Op::ConstantNull => Some(0),
            _ => None,
        }
    }

    /// An integer that is specialized.
    pub fn spec_constant(&mut self, spec_id: u32, default: u32) -> Id {
        let ty = self.types.int(32);
        let id = self.id();
        let inst = Inst::new(Op::SpecConstant, vec![Arg::Lit(default)]).with(ty, id);
        self.globals.insert(id, inst);
        self.decorate(id, Decoration::SpecId, &[spec_id]);
        id
    }

    /// An operation on constants that are specialized, once.
    pub fn spec_op(&mut self, ty: Ty, args: Vec<Arg>) -> Id {
        self.constant(Op::SpecConstantOp, ty, args)
    }

    pub fn spec_composite(&mut self, ty: Ty, parts: &[Id]) -> Id {
        let id = self.id();
        let inst = Inst::of(Op::SpecConstantComposite, parts).with(ty, id);
        self.globals.insert(id, inst);
        id
    }

    pub fn decorate(&mut self, id: Id, decoration: Decoration, operands: &[u32]) {
        let mut words = vec![decoration as u32];
        words.extend_from_slice(operands);
        self.decorations.entry(id).or_default().push(words);
    }

    /// A variable of the module.
    pub fn variable(&mut self, class: StorageClass, ty: Ty, init: Option<Id>) -> Id {
        let pointer = self.types.pointer(class, ty);
        let id = self.id();
        let mut args = vec![Arg::Lit(class as u32)];
        args.extend(init.map(Arg::Id));
        self.globals
            .insert(id, Inst::new(Op::Variable, args).with(pointer, id));
        id
    }

    /// The variable of a constant table.
    pub fn table(&mut self, ty: Ty, init: Id) -> Id {
        if let Some(&id) = self.tables.get(&init) {
            return id;
        }
        let id = self.variable(StorageClass::Private, ty, Some(init));
        self.tables.insert(init, id);
        id
    }

    /// The variable of a built-in value.
    pub fn input(&mut self, which: BuiltIn, ty: Ty) -> Id {
        if let Some(&id) = self.inputs.get(&(which as u32)) {
            return id;
        }
        let id = self.variable(StorageClass::Input, ty, None);
        self.decorate(id, Decoration::BuiltIn, &[which as u32]);
        self.inputs.insert(which as u32, id);
        id
    }

    /// The class and the type of what a variable of the module is.
    pub fn variable_type(&self, id: Id) -> Option<(StorageClass, Ty)> {
        let inst = self.globals.get(&id)?;
        match self.types.get(inst.ty?) {
            &Type::Pointer(class, ty) if inst.op == Op::Variable => Some((class, ty)),
            _ => None,
        }
    }
}

/// The nearest number of 16 bits, for constants of formulas, all of which are normal.
fn half_bits(number: f64) -> u16 {
    let bits = (number as f32).to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let exponent = (bits >> 23 & 0xff) as i32 - 127 + 15;
    match exponent {
        ..1 => sign,
        31.. => sign | 0x7c00,
        _ => {
            sign + ((exponent as u16) << 10)
                + ((bits >> 13 & 0x3ff) as u16)
                + (bits >> 12 & 1) as u16
        }
    }
}
