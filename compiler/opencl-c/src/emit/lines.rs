//! Where expressions are in the source.

use std::sync::Arc;

use crate::source::{FileId, Place, SourceMap};
use crate::token::{Loc, TokenStream};

/// The source, for those who want to know lines.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    pub tokens: &'a TokenStream,
    pub map: &'a SourceMap,
}

impl<'a> Lines<'a> {
    /// What the source itself is called.
    pub(super) fn main_file(&self) -> Option<&'a Arc<str>> {
        (!self.map.is_empty()).then(|| &self.map.file(FileId(0)).name)
    }

    /// The place of a token; of one that a macro made, where the outermost macro is named.
    pub(super) fn place(&self, loc: Loc) -> Option<Place> {
        let token = self.tokens.tokens.get(loc.0 as usize)?;
        let mut pos = token.pos;
        let mut expansion = token.expansion;
        while expansion.0 != 0 {
            let made = self.tokens.expansions[expansion.0 as usize];
            (pos, expansion) = (made.invoked, made.parent);
        }
        self.map.place(pos)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::spirv::op;
    use crate::{Device, Input, Options, compile};

    /// The module of a source, with `-g`.
    fn words(source: &str) -> Vec<u32> {
        let input = Input {
            name: "k.cl",
            source,
            headers: &[],
        };
        let options = Options {
            debug_info: true,
            whole_program: true,
            ..Options::default()
        };
        let compiled = compile(&input, &options, &Device::full());
        compiled.words.expect(&compiled.log)
    }

    /// For each instruction with this opcode, the line and column that it comes from.
    fn lines(source: &str, opcode: u16) -> Vec<(u32, u32)> {
        let words = words(source);
        let (mut rest, mut line, mut lines) = (&words[5..], None, Vec::new());
        while let Some(&head) = rest.first() {
            let (inst, behind) = rest.split_at((head >> 16) as usize);
            rest = behind;
            match head as u16 {
                op::LABEL => line = None,
                op::LINE => line = Some((inst[2], inst[3])),
                found if found == opcode => lines.push(line.expect("has a line")),
                _ => {}
            }
        }
        lines
    }

    #[test]
    fn instructions_have_the_lines_of_their_operators() {
        let source = "kernel void k(global float *p, int n) {\n  float x = p[1] *\n    p[2];\n  \
                      p[0] = x\n    / n;\n}";
        assert_eq!(lines(source, op::F_MUL), [(2, 18)]);
        assert_eq!(lines(source, op::F_DIV), [(5, 5)]);
        assert_eq!(lines(source, op::STORE), [(4, 3)]);
        assert_eq!(lines(source, op::LOAD), [(2, 13), (3, 5)]);
    }

    #[test]
    fn blocks_know_lines_of_their_own() {
        let source = "kernel void k(global int *p, int n) {\n  for (int i = 0; i < n; i++)\n    \
                      if (p[i] > 3)\n      p[i] *= 5;\n}";
        assert_eq!(lines(source, op::I_MUL), [(4, 12)]);
        assert!(lines(source, op::BRANCH_CONDITIONAL).contains(&(3, 9)));
    }

    #[test]
    fn expansions_are_where_the_macro_is_named() {
        let source = "#define SQ(x) ((x) * (x))\n#define TWICE(x) SQ(x)\nkernel void k(global \
                      float *p) {\n  p[0] = TWICE(p[1]);\n}";
        assert_eq!(lines(source, op::F_MUL), [(4, 10)]);
        let source = "#line 100\nkernel void k(global float *p) {\n  p[0] *= 2;\n}";
        assert_eq!(lines(source, op::F_MUL), [(101, 8)]);
    }

    /// The names of the results of instructions with this opcode.
    fn names(source: &str, opcode: u16) -> Vec<String> {
        let words = words(source);
        let (mut rest, mut known, mut names) = (&words[5..], HashMap::new(), Vec::new());
        while let Some(&head) = rest.first() {
            let (inst, behind) = rest.split_at((head >> 16) as usize);
            rest = behind;
            if head as u16 == op::NAME {
                let bytes: Vec<u8> = inst[2..]
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .collect();
                let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
                known.insert(inst[1], String::from_utf8_lossy(text).into_owned());
            } else if head as u16 == opcode {
                names.extend(known.get(&inst[2]).cloned());
            }
        }
        names
    }

    #[test]
    fn values_of_variables_without_memory_have_their_names() {
        let source = "kernel void k(global int *p) {\n  int a = p[0] * 3, b = a, c = 7;\n  int d = \
                      p[1] * c;\n  d += 1;\n  p[2] = a + b + d;\n}";
        assert_eq!(names(source, op::I_MUL), ["a"]);
        assert_eq!(names(source, op::VARIABLE), ["d"]);
        assert_eq!(names(source, op::CONSTANT), [""; 0]);
    }
}
