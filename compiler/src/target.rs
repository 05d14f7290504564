//! What the machine has that code is generated for.
//!
//! Passes that weigh or need what a machine does well ask a [`Target`]: how wide to run a kernel
//! (`workgroup/width/`), what to do with chunks that are not whole (`workgroup/`), which operations
//! to rewrite (`lower/`). The IR means the same for every target.
//!
//! A target is what the CPU has, up to what back ends generate code for, or less where
//! `BROLGA_ISA` asks for less ([`Target::select`]).

use std::sync::LazyLock;

use brolga_host::notice;

use crate::ir::{BinOp, Scalar};
use crate::named::named;

named! {
    /// Instruction sets, each with all that the one before has.
    pub enum Isa {
        /// Vectors of 128 bits: SSE4.2, or what other kinds of CPUs have. Cranelift's.
        Sse42 = "sse4.2",
        /// AVX2, FMA, F16C, BMI1, BMI2, LZCNT and POPCNT: x86-64-v3.
        Avx2 = "avx2",
        /// AVX-512 F, BW, CD, DQ and VL: x86-64-v4.
        Avx512 = "avx512",
    }
}

/// What a mask is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Masks {
    /// A vector with lanes of all ones or zeros, as wide as those it is for.
    Lanes,
    /// A bit for each lane, in registers of their own.
    Bits,
}

/// What the machine has that code is generated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    pub isa: Isa,
    /// Bytes of a vector register.
    pub vector_bytes: u32,
    pub vector_registers: u32,
    pub masks: Masks,
    /// Loads from an address for each lane, of 32 and 64 bits.
    pub gathers: bool,
    /// Whether they take longer than to load each lane, unless there is a mask. On processors of
    /// AMD: two to three times as long with AVX2 (measured on Zen 3); with AVX-512, 1.3 times as
    /// long at indexes, 2.8 times at a constant distance (Zen 4).
    pub slow_gathers: bool,
    /// Whether stores under a mask that is a vector take longer than to store each lane: three
    /// times as long, likewise.
    pub slow_masked_stores: bool,
    /// Stores to an address for each lane, of 32 and 64 bits.
    pub scatters: bool,
    /// Whether those at a constant distance take longer than to store each lane, unless there is a
    /// mask: 1.5 times as long on processors of AMD (measured on Zen 4).
    pub slow_scatters: bool,
    /// Whether a load is guessed to be of what was stored at an address of the same registers. With
    /// an address that comes out of a vector register, updates of what is in memory take ten to
    /// twenty times as long on processors of AMD (measured on Zen 4); not if an integer operation
    /// has written the register.
    pub guesses_stored_addresses: bool,
    /// Whether a bit field is taken out in one operation (`bextr`), as on processors of AMD; on
    /// those of Intel it is two.
    pub fast_bit_fields: bool,
    /// How many times what registers hold may live at once before two vectors of each value take
    /// longer than one. Where an operation takes two cycles and four begin in each (Zen 5), a
    /// single chain of them leaves most of the machine idle, and what is spilled is an operand in
    /// memory. Not where there are chains enough.
    pub spilling_pays_up_to: u32,
    /// Loads and stores under a mask of lanes of any width, which do not fault where it is clear.
    pub masked_memory: bool,
    /// Conversions between half and single precision, in every rounding mode.
    pub f16_conversions: bool,
    /// Arithmetic and conversions in single and double precision that round as they say themselves.
    pub static_rounding: bool,
    /// Floating-point numbers times powers of two.
    pub scaling: bool,
    /// Estimates of reciprocals and inverse square roots within 2^-14, of any 32- or 64-bit number.
    /// Their bits may differ between processors, so engines that are compared have none
    /// ([`Target::without_estimates`]).
    pub estimates: bool,
    /// Conversions between unsigned 32-bit integers and floating point. For Cranelift, code
    /// generation sees to them.
    pub unsigned_conversions: bool,
    /// Minima and maxima of 64-bit integers. For Cranelift, code generation sees to them.
    pub wide_integers: bool,
    /// Counts of leading zeros, of 32- and 64-bit lanes.
    pub leading_zeros: bool,
    /// Counts of set bits, of 32- and 64-bit lanes (AVX512_VPOPCNTDQ).
    pub popcounts: bool,
    /// Counts of set bits, of 8- and 16-bit lanes (AVX512_BITALG).
    pub small_popcounts: bool,
    /// Bytes that move across a whole vector (AVX512_VBMI).
    pub byte_permutes: bool,
    /// Two lanes shifted as one of twice the width, and so rotations of 16 bits (AVX512_VBMI2).
    pub double_shifts: bool,
}

/// [`Target::spilling_pays_up_to`] of Zen 5 and later. Measured with hashcat's kernels: those of
/// MD5, SHA-1 and SHA-2 take half to three-quarters of the time with two vectors, those of MD4 nine
/// tenths.
const SPILLING_ON_ZEN5: u32 = 8;
/// The same with AVX2. Those of MD4 and MD5 take half to two-thirds of the time; those of SHA-2, of
/// which more lives, as long or longer.
const SPILLING_ON_ZEN5_AVX2: u32 = 5;

impl Target {
    /// Vectors of 128 bits with what all machines have, by way of Cranelift.
    pub const fn cranelift() -> Target {
        Target {
            isa: Isa::Sse42,
            vector_bytes: 16,
            vector_registers: 16,
            masks: Masks::Lanes,
            gathers: false,
            slow_gathers: false,
            slow_masked_stores: false,
            scatters: false,
            slow_scatters: false,
            guesses_stored_addresses: false,
            fast_bit_fields: false,
            spilling_pays_up_to: 1,
            masked_memory: false,
            f16_conversions: false,
            static_rounding: false,
            scaling: false,
            estimates: false,
            unsigned_conversions: true,
            wide_integers: true,
            leading_zeros: false,
            popcounts: false,
            small_popcounts: false,
            byte_permutes: false,
            double_shifts: false,
        }
    }

    pub const fn avx2() -> Target {
        Target {
            isa: Isa::Avx2,
            vector_bytes: 32,
            gathers: true,
            f16_conversions: true,
            unsigned_conversions: false,
            wide_integers: false,
            ..Target::cranelift()
        }
    }

    /// Without what only some machines with AVX-512 have.
    pub const fn avx512() -> Target {
        Target {
            isa: Isa::Avx512,
            vector_bytes: 64,
            vector_registers: 32,
            masks: Masks::Bits,
            gathers: true,
            slow_gathers: false,
            slow_masked_stores: false,
            scatters: true,
            slow_scatters: false,
            guesses_stored_addresses: false,
            fast_bit_fields: false,
            spilling_pays_up_to: 1,
            masked_memory: true,
            f16_conversions: true,
            static_rounding: true,
            scaling: true,
            estimates: true,
            unsigned_conversions: true,
            wide_integers: true,
            leading_zeros: true,
            popcounts: false,
            small_popcounts: false,
            byte_permutes: false,
            double_shifts: false,
        }
    }

    /// The most that this machine has.
    pub fn detect() -> Target {
        // Virtual machines are left to answer what processor they have, which takes microseconds.
        static DETECTED: LazyLock<Target> = LazyLock::new(Target::ask);
        *DETECTED
    }

    #[cfg(target_arch = "x86_64")]
    fn ask() -> Target {
        use std::is_x86_feature_detected as has;
        let avx2 = has!("avx2")
            && has!("fma")
            && has!("f16c")
            && has!("bmi1")
            && has!("bmi2")
            && has!("lzcnt")
            && has!("popcnt");
        let avx512 = has!("avx512f")
            && has!("avx512bw")
            && has!("avx512cd")
            && has!("avx512dq")
            && has!("avx512vl");
        let family = amd_family();
        let is_amd = family.is_some();
        let is_zen5 = family >= Some(0x1a);
        match (avx2, avx512) {
            (true, true) => Target {
                slow_gathers: is_amd,
                slow_masked_stores: is_amd,
                slow_scatters: is_amd,
                guesses_stored_addresses: is_amd,
                fast_bit_fields: is_amd,
                spilling_pays_up_to: if is_zen5 { SPILLING_ON_ZEN5 } else { 1 },
                popcounts: has!("avx512vpopcntdq"),
                small_popcounts: has!("avx512bitalg"),
                byte_permutes: has!("avx512vbmi"),
                double_shifts: has!("avx512vbmi2"),
                ..Target::avx512()
            },
            (true, false) => Target {
                slow_gathers: is_amd,
                slow_masked_stores: is_amd,
                guesses_stored_addresses: is_amd,
                fast_bit_fields: is_amd,
                spilling_pays_up_to: if is_zen5 { SPILLING_ON_ZEN5_AVX2 } else { 1 },
                ..Target::avx2()
            },
            (false, _) => Target::cranelift(),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn ask() -> Target {
        Target::cranelift()
    }

    /// What this machine has of `most`, or of less if `BROLGA_ISA` asks for less. Where it asks for
    /// what there is not, that is said on standard error.
    pub fn select(most: Isa) -> Target {
        let asked = std::env::var("BROLGA_ISA").ok();
        let (target, complaint) = Target::detect().at_most(most).choose(asked.as_deref());
        if let Some(complaint) = complaint {
            notice(format_args!("{complaint}"));
        }
        target
    }

    /// Less than this, if it has more than `isa`.
    pub fn at_most(self, isa: Isa) -> Target {
        match isa.min(self.isa) {
            least if least == self.isa => self,
            Isa::Avx2 => Target {
                slow_gathers: self.slow_gathers,
                slow_masked_stores: self.slow_masked_stores,
                guesses_stored_addresses: self.guesses_stored_addresses,
                fast_bit_fields: self.fast_bit_fields,
                spilling_pays_up_to: self.spilling_pays_up_to.min(SPILLING_ON_ZEN5_AVX2),
                ..Target::avx2()
            },
            _ => Target::cranelift(),
        }
    }

    /// With results that have the same bits on every machine.
    pub fn without_estimates(self) -> Target {
        Target {
            estimates: false,
            ..self
        }
    }

    /// The target of the name that is asked for, if this one has all that it has; or else this
    /// one, and why.
    fn choose(self, asked: Option<&str>) -> (Target, Option<String>) {
        let Some(asked) = asked.map(str::trim).filter(|asked| !asked.is_empty()) else {
            return (self, None);
        };
        let here = || Isa::ALL.iter().filter(|&&isa| isa <= self.isa);
        if let Some(&isa) = here().find(|isa| isa.name().eq_ignore_ascii_case(asked)) {
            return (self.at_most(isa), None);
        }
        let names: Vec<&str> = here().map(|isa| isa.name()).collect();
        let complaint = format!(
            "BROLGA_ISA={asked} is not among what there is here ({}); using {}",
            names.join(", "),
            self.isa.name()
        );
        (self, Some(complaint))
    }

    /// How many registers a value takes.
    pub fn registers(&self, scalar: Scalar, lanes: u8) -> u32 {
        (scalar.bytes() * u32::from(lanes)).div_ceil(self.vector_bytes)
    }

    /// Whether vectors are shifted or rotated so: `by_lane`, each lane by an amount of its own, or
    /// else all by one, a constant or a value of one lane. For Cranelift, code generation sees to
    /// all.
    pub fn has_shift(&self, op: BinOp, scalar: Scalar, by_lane: bool) -> bool {
        let rotates = op == BinOp::Rotl;
        match (self.isa, scalar.bits()) {
            (Isa::Sse42, _) => true,
            (_, ..=8) => false,
            (Isa::Avx2, 16) => !rotates && !by_lane,
            (Isa::Avx2, 64) => !rotates && op != BinOp::AShr,
            (Isa::Avx2, _) => !rotates,
            (Isa::Avx512, 16) => !rotates || self.double_shifts,
            (Isa::Avx512, _) => true,
        }
    }

    /// Whether lanes of more than a byte are rotated by a constant where there are no rotations:
    /// AVX2 permutes bytes.
    pub fn has_rotation_by(&self, bits: u64) -> bool {
        self.isa == Isa::Avx2 && bits.is_multiple_of(8)
    }

    /// Whether there are counts of set bits in lanes of vectors.
    pub fn has_popcount(&self, scalar: Scalar) -> bool {
        match scalar.bits() {
            ..=16 => self.small_popcounts,
            _ => self.popcounts,
        }
    }

    /// Whether there are high halves of products of lanes. For Cranelift, code generation sees to
    /// those of 64 bits.
    pub fn has_high_products(&self, scalar: Scalar) -> bool {
        match self.isa {
            Isa::Sse42 => scalar == Scalar::I64,
            Isa::Avx2 | Isa::Avx512 => scalar == Scalar::I16,
        }
    }
}

/// The family of a processor of AMD.
#[cfg(target_arch = "x86_64")]
fn amd_family() -> Option<u32> {
    use std::arch::x86_64::__cpuid;
    let leaf = __cpuid(0);
    let vendor = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
    let version = __cpuid(1).eax;
    // All since 2003 have 15 here and the rest there.
    let family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
    (vendor.concat() == b"AuthenticAMD").then_some(family)
}

#[cfg(test)]
mod tests {
    use super::{Isa, Target};
    use crate::ir::{BinOp, Scalar};

    #[test]
    fn a_name_chooses_that_or_less() {
        let best = Target {
            popcounts: true,
            ..Target::avx512()
        };
        for (asked, expected) in [
            (None, best),
            (Some(""), best),
            (Some("avx512"), best),
            (Some("AVX2"), Target::avx2()),
            (Some(" sse4.2 "), Target::cranelift()),
        ] {
            assert_eq!(best.choose(asked), (expected, None), "{asked:?}");
        }
    }

    #[test]
    fn what_there_is_not_is_said() {
        let (target, complaint) = Target::avx2().choose(Some("avx512"));
        assert_eq!(target, Target::avx2());
        assert_eq!(
            complaint.as_deref(),
            Some("BROLGA_ISA=avx512 is not among what there is here (sse4.2, avx2); using avx2")
        );
        let (target, complaint) = Target::cranelift().choose(Some("neon"));
        assert_eq!(target, Target::cranelift());
        assert!(complaint.is_some_and(|text| text.contains("neon")));
    }

    #[test]
    fn no_more_than_asked() {
        for target in [Target::cranelift(), Target::avx2(), Target::avx512()] {
            for &isa in Isa::ALL {
                assert_eq!(target.at_most(isa).isa, target.isa.min(isa));
            }
        }
    }

    #[test]
    fn values_take_whole_registers() {
        let registers = |target: Target, lanes| target.registers(Scalar::F64, lanes);
        assert_eq!(registers(Target::cranelift(), 8), 4);
        assert_eq!(registers(Target::avx512(), 8), 1);
        assert_eq!(registers(Target::avx512(), 2), 1);
        assert_eq!(registers(Target::avx2(), 32), 8);
    }

    #[test]
    fn wide_vectors_have_shifts_by_lane() {
        let has = |target: Target, op, scalar| target.has_shift(op, scalar, true);
        let (shl, ashr, rotl) = (BinOp::Shl, BinOp::AShr, BinOp::Rotl);
        assert!(has(Target::avx512(), ashr, Scalar::I64));
        assert!(has(Target::avx512(), rotl, Scalar::I32));
        assert!(has(Target::avx512(), shl, Scalar::I16));
        assert!(!has(Target::avx512(), rotl, Scalar::I16));
        let with_double_shifts = Target {
            double_shifts: true,
            ..Target::avx512()
        };
        assert!(has(with_double_shifts, rotl, Scalar::I16));
        assert!(has(Target::avx2(), ashr, Scalar::I32));
        assert!(!has(Target::avx2(), ashr, Scalar::I64));
        assert!(!has(Target::avx2(), rotl, Scalar::I32));
        assert!(!has(Target::avx2(), shl, Scalar::I16));
    }
}
