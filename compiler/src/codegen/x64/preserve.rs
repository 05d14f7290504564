//! Calls that keep registers: of functions that code calls seldom, in the middle of what has its
//! values in registers.

/// The function to call with the address of another in rax: it calls that one and leaves all
/// registers as they were but rax and, where the result is a floating-point number, zmm0.
pub fn address(returns_float: bool) -> u64 {
    let function = if returns_float {
        returning_float as *const ()
    } else {
        returning_integer as *const ()
    };
    function as u64
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

/// Calls what rax says; `$restore` is what is left to be restored of zmm0.
macro_rules! preserving_call {
    ($restore:literal) => {
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
            "sub rsp, 2176",
            "and rsp, -64",
            each_vector!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27
                28 29 30 31),
            each_mask!(1 2 3 4 5 6 7),
            "vzeroupper",
            "call rax",
            each_vector_back!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26
                27 28 29 30 31),
            each_mask_back!(1 2 3 4 5 6 7),
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

#[unsafe(naked)]
extern "C" fn returning_integer() {
    preserving_call!("vmovups zmm0, [rsp]")
}

#[unsafe(naked)]
extern "C" fn returning_float() {
    preserving_call!("")
}
