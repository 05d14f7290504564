//! Calls that keep registers: of functions that code calls seldom, in the middle of what has its
//! values in registers.

use crate::target::Isa;

/// The function to call with the address of another in rax: it calls that one and leaves all
/// registers as they were but rax and, where the result is a floating-point number, zmm0.
pub fn address(isa: Isa, returns_float: bool) -> u64 {
    let function = match (isa, returns_float) {
        (Isa::Avx512, true) => avx512_returning_float as *const (),
        (Isa::Avx512, false) => avx512_returning_integer as *const (),
        (_, true) => avx2_returning_float as *const (),
        (_, false) => avx2_returning_integer as *const (),
    };
    function as u64
}

macro_rules! each_half {
    ($($n:literal)*) => {
        concat!($("vmovups [rsp + 32 * ", $n, "], ymm", $n, "\n",)*)
    };
}

macro_rules! each_half_back {
    ($($n:literal)*) => {
        concat!($("vmovups ymm", $n, ", [rsp + 32 * ", $n, "]\n",)*)
    };
}

macro_rules! each_vector {
    ($($n:literal)*) => {
        concat!($("vmovups [rsp + 64 * ", $n, "], zmm", $n, "\n",)*)
    };
}

macro_rules! each_vector_back {
    ($($n:literal)*) => {
        concat!($("vmovups zmm", $n, ", [rsp + 64 * ", $n, "]\n",)*)
    };
}

macro_rules! each_mask {
    ($($n:literal)*) => {
        concat!($("kmovq [rsp + 2048 + 8 * ", $n, "], k", $n, "\n",)*)
    };
}

macro_rules! each_mask_back {
    ($($n:literal)*) => {
        concat!($("kmovq k", $n, ", [rsp + 2048 + 8 * ", $n, "]\n",)*)
    };
}

/// Calls what rax says, with room for the registers that are saved and restored around it.
macro_rules! preserving_call {
    ($room:literal, $save:expr, $restore:expr) => {
        core::arch::naked_asm!(
            "push rbp",
            "mov rbp, rsp",
            "push rcx",
            "push rdx",
            "push rsi",
            "push rdi",
            "push r8",
            "push r9",
            "push r10",
            "push r11",
            concat!("sub rsp, ", $room),
            "and rsp, -64",
            $save,
            "vzeroupper",
            "call rax",
            $restore,
            "lea rsp, [rbp - 64]",
            "pop r11",
            "pop r10",
            "pop r9",
            "pop r8",
            "pop rdi",
            "pop rsi",
            "pop rdx",
            "pop rcx",
            "pop rbp",
            "ret",
        )
    };
}

/// `$first` is what is left to be restored of zmm0.
macro_rules! avx512_call {
    ($first:literal) => {
        preserving_call!(
            "2176",
            concat!(
                each_vector!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25
                    26 27 28 29 30 31),
                each_mask!(1 2 3 4 5 6 7)
            ),
            concat!(
                each_vector_back!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24
                    25 26 27 28 29 30 31),
                each_mask_back!(1 2 3 4 5 6 7),
                $first
            )
        )
    };
}

/// `$first` is what is left to be restored of ymm0.
macro_rules! avx2_call {
    ($first:literal) => {
        preserving_call!(
            "576",
            each_half!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
            concat!(each_half_back!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15), $first)
        )
    };
}

#[unsafe(naked)]
extern "C" fn avx512_returning_integer() {
    avx512_call!("vmovups zmm0, [rsp]")
}

#[unsafe(naked)]
extern "C" fn avx512_returning_float() {
    avx512_call!("")
}

#[unsafe(naked)]
extern "C" fn avx2_returning_integer() {
    avx2_call!("vmovups ymm0, [rsp]")
}

#[unsafe(naked)]
extern "C" fn avx2_returning_float() {
    avx2_call!("")
}
