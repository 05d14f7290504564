//! The table: a row an opcode.
//!
//! A row is the opcode's name (Intel's mnemonic, with what it needs to be told from another form
//! of it) and an [`Info`]. What rows of a family have in common is said by functions beside them.
//! Every family's rows are in a macro, which appends them to those so far and calls the next: once
//! `rows`, which makes the family's part of the table, and once the other families', of which the
//! last is `define`: it makes the enumeration.
//!
//! - `general.rs`: on general registers; `mask.rs`: on mask registers.
//! - `float.rs`: floating-point arithmetic; `fma.rs`: fused multiplication and addition;
//!   `convert.rs`: conversions.
//! - `integer.rs`: integer arithmetic; `shift.rs`: shifts and rotates.
//! - `shuffle.rs`: lanes that move, blends among them; `resize.rs`: elements widened and narrowed;
//!   `parts.rs`: parts of vectors broadcast, extracted, inserted.
//! - `moves.rs`: loads, stores, copies; `gather.rs`: gathers and scatters.
//! - `row.rs`: what rows are made with.

use super::info::Info;

/// The part of the table that is one family's, in its own file.
macro_rules! rows {
    (; $family:ident { $($opcode:ident = $info:expr;)* }) => {
        pub(super) const ROWS: &[Info] = &[$($info,)*];
    };
}

macro_rules! define {
    (; $($family:ident { $($opcode:ident = $info:expr;)* })*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Opcode {
            $($($opcode,)*)*
        }

        impl Opcode {
            #[cfg(test)]
            pub const ALL: &[Opcode] = &[$($(Opcode::$opcode,)*)*];
        }

        const FAMILIES: &[&[Info]] = &[$($family::ROWS,)*];
    };
}

#[macro_use]
mod convert;
#[macro_use]
mod float;
#[macro_use]
mod fma;
#[macro_use]
mod gather;
#[macro_use]
mod general;
#[macro_use]
mod integer;
#[macro_use]
mod mask;
#[macro_use]
mod moves;
#[macro_use]
mod parts;
#[macro_use]
mod resize;
#[macro_use]
mod shift;
#[macro_use]
mod shuffle;
mod row;

general_rows! {
    mask_rows float_rows fma_rows convert_rows integer_rows shift_rows shuffle_rows resize_rows
    parts_rows moves_rows gather_rows define;
}

impl Opcode {
    pub fn info(self) -> &'static Info {
        &TABLE[self as usize]
    }
}

const COUNT: usize = {
    let mut count = 0;
    let mut family = 0;
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

static TABLE: [Info; COUNT] = {
    let mut table = [FAMILIES[0][0]; COUNT];
    let (mut family, mut row, mut at) = (0, 0, 0);
    while at < COUNT {
        if row == FAMILIES[family].len() {
            (family, row) = (family + 1, 0);
        } else {
            table[at] = FAMILIES[family][row];
            (row, at) = (row + 1, at + 1);
        }
    }
    table
};
