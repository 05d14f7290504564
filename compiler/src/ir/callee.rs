//! Which code a call of a function that stays one is of.

use std::fmt;

use super::FuncId;

/// How an argument differs between the work-items for which a function is called at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Argument {
    /// All have the same: the operand has one lane.
    Uniform,
    /// It grows by so much from lane to lane: the operand has one lane, that of the first.
    Affine(i64),
    /// The operand has a lane for each.
    Varying,
}

/// What [`super::Op::CallFunction`] calls: a function, and which of the codes made of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Callee {
    pub function: FuncId,
    /// Work-items that call it with the same arguments are as well served by one call: it gives all
    /// the same results, and does nothing that is to be done once for each.
    pub is_uniform: bool,
    /// For how many work-items at once; 1 before `vectorize`.
    pub lanes: u8,
    /// One for each operand but the mask, if there are several lanes; else nothing.
    pub arguments: Box<[Argument]>,
    /// The last operand is a mask of one bit a lane; the function does nothing for lanes where it
    /// is clear.
    pub masked: bool,
}

impl Callee {
    /// A function, for one work-item.
    pub fn new(function: FuncId, is_uniform: bool) -> Callee {
        Callee {
            function,
            is_uniform,
            lanes: 1,
            arguments: Box::default(),
            masked: false,
        }
    }

    /// How it differs in the `n`-th argument.
    pub fn argument(&self, n: usize) -> Argument {
        self.arguments.get(n).copied().unwrap_or(Argument::Uniform)
    }

    /// What [`Callee`]'s text form is made of, after the operation's word: see
    /// [`Callee::from_words`].
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.is_uniform {
            words.push("uniform".into());
        }
        if self.lanes > 1 {
            words.push(format!("lanes{}", self.lanes));
        }
        words.extend(self.arguments.iter().map(|argument| match argument {
            Argument::Uniform => "same".into(),
            Argument::Affine(stride) => format!("stride{stride}"),
            Argument::Varying => "each".into(),
        }));
        if self.masked {
            words.push("masked".into());
        }
        words
    }

    /// The callee that words say, as in `uniform.lanes8.same.stride4.each.masked`.
    pub fn from_words(function: FuncId, words: &[&str]) -> Option<Callee> {
        let mut callee = Callee::new(function, false);
        let mut arguments = Vec::new();
        for word in words {
            match *word {
                "uniform" => callee.is_uniform = true,
                "masked" => callee.masked = true,
                "same" => arguments.push(Argument::Uniform),
                "each" => arguments.push(Argument::Varying),
                word => match (word.strip_prefix("lanes"), word.strip_prefix("stride")) {
                    (Some(lanes), _) => callee.lanes = lanes.parse().ok()?,
                    (_, Some(stride)) => arguments.push(Argument::Affine(stride.parse().ok()?)),
                    _ => return None,
                },
            }
        }
        callee.arguments = arguments.into();
        Some(callee)
    }
}

impl fmt::Display for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for word in self.words() {
            write!(f, ".{word}")?;
        }
        write!(f, " {}", self.function)
    }
}
