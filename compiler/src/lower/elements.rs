//! Loads of several elements that are the same for all lanes become one load each. So an element
//! can be an operand of the only instruction that wants it, which broadcasts it if that is a
//! vector's, and one that is wanted much later takes no register until then.
//!
//! Cost: linear.

use super::replay::replay;
use crate::ir::{Function, InstData, Mem, Op, Type};

/// Separates the elements of uniform loads.
pub fn run(func: &mut Function) {
    let is_expanded = |func: &Function, data: &InstData| {
        let is_plain = matches!(&data.op, Op::Load(mem) if !mem.volatile && !mem.masked);
        let mut types = data.results.iter().map(|&result| func.ty(result));
        is_plain && data.results.len() > 1 && types.all(|ty| ty.is_scalar())
    };
    replay(func, is_expanded, |b, _, data| {
        let Op::Load(mem) = data.op else {
            unreachable!("a load")
        };
        let first = data.args[0];
        let elements = data.results.iter().enumerate().map(|(n, &result)| {
            let ty = b.ty(result);
            let offset = n as u32 * ty.scalar.bytes();
            let (address, align) = match offset {
                0 => (first, mem.align),
                _ => {
                    let bytes = b.iconst(Type::I64, offset.into());
                    let align = mem.align.min(1 << offset.trailing_zeros());
                    (b.ptr_add(first, bytes), align)
                }
            };
            b.load(Mem { align, ..mem }, address, ty)
        });
        elements.collect()
    });
}

#[cfg(test)]
mod tests {
    use crate::ir::parse;

    #[test]
    fn each_element_is_loaded_with_its_own_alignment() {
        let text = "func \"f\" (ptr) -> () {
            block0(p: ptr):
              a: f32, b: f32, c: f32 = load.global.align8 p
              v: f32x4, w: f32x4 = load.global.align4.stride8 p
              x: f32, y: f32 = load.global.align8.volatile p
              ab: f32 = fadd a, b
              abc: f32 = fadd ab, c
              xy: f32 = fadd x, y
              all: f32 = fadd abc, xy
              vw: f32x4 = fadd v, w
              store.global.align4 p, all
              store.global.align4.stride4 p, vw
              ret
            }";
        let mut module = parse::module(text).expect("a module");
        let func = module.functions.values_mut().next().expect("a function");
        super::run(func);
        let text = func.to_string();
        let loads: Vec<&str> = text.lines().filter(|line| line.contains("load")).collect();
        let count = |what: &str| loads.iter().filter(|load| load.contains(what)).count();
        assert_eq!(loads.len(), 5, "{text}");
        assert_eq!(count("load.global.align8 "), 2, "{text}");
        assert_eq!(count("load.global.align4 "), 1, "{text}");
        assert_eq!(count("stride8"), 1, "{text}");
        assert_eq!(count("volatile"), 1, "{text}");
    }
}
