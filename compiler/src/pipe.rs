//! What a pipe is in memory: the contract between generated code and the host that makes pipes.
//!
//! A pipe is a ring of slots for packets, in one piece of memory aligned to [`ALIGN`]; its handle
//! in a kernel is the address of it. All numbers are little-endian.
//!
//! | bytes | type | what |
//! | --- | --- | --- |
//! | 0 | `i64` | the write head: in the low half the slot that will be reserved for writing next, in the high half its phase |
//! | 64 | `i64` | the read head: the same for reading |
//! | 128 | `i32` | how many packets are committed and not reserved for reading |
//! | 192 | `i32` | how many slots there are |
//! | 196 | `i32` | bytes of a packet |
//! | 200 | `i64` | where the packets are: bytes from the start of the pipe |
//! | 256 | `i32` a slot | the state of each slot |
//! | as said | | the packets, one after another without gaps |
//!
//! What several threads change has cache lines of its own.
//!
//! The *state* of a slot counts what happened to it: written, read, written again. So it is even
//! when the slot may be written, odd when it may be read, and what it must be is known in advance:
//! a head's *phase* is the state in which it may reserve the slot that it points to. It is 0 for
//! the first writer of each slot and 1 for the first reader, and grows by 2 each time that the head
//! comes round. This is Vyukov's bounded queue for many producers and consumers, with a count of
//! rounds for each slot in place of one for each ticket, so that a ring may have any number of
//! slots and no position is ever divided.
//!
//! - **To reserve** n slots is to find all of them in the state that they must have, going on from
//!   a head, and then to move the head past them by one compare-and-exchange. A slot in that state
//!   stays in it until somebody moves the head past it, so if the exchange succeeds, all n are
//!   still as they were found. If one is not, and the head has not moved since, then there were not
//!   n slots at that moment: the reservation fails, and is right to. If the head has moved,
//!   somebody else has succeeded, and it is tried again. Nobody waits for anybody.
//! - **A reservation** is the number of slots in the high half of 64 bits and the first slot in the
//!   low half. The slots are its owner's alone until they are committed. 0 and -1 are no
//!   reservations: the null constant, and what OpenCL C's `CLK_NULL_RESERVE_ID` is.
//! - **To commit** is to add one to each slot's state, with release semantics: whoever finds it so
//!   with acquire semantics sees the packet, or may overwrite it. Reservations may be committed in
//!   any order; those who reserve next stop at the first slot that is not.
//! - **The count** is added to before packets are committed and subtracted from after they are
//!   reserved for reading, so it is never negative nor more than the slots, and exact while no
//!   operation is under way.
//!
//! `spirv/pipes.rs` is the code that does this.

/// Alignment in bytes of a pipe.
pub const ALIGN: u64 = 128;
/// Bytes before the states of the slots.
pub const HEADER_SIZE: usize = 256;

pub(crate) const READ_HEAD: u64 = 64;
pub(crate) const AVAILABLE: u64 = 128;
pub(crate) const PACKETS: u64 = 192;
pub(crate) const PACKET_SIZE: u64 = 196;
pub(crate) const DATA: u64 = 200;

/// Where the packets begin: aligned for packets of any type.
fn data(packets: u32) -> u64 {
    (HEADER_SIZE as u64 + 4 * u64::from(packets)).next_multiple_of(ALIGN)
}

/// How many bytes a pipe takes; `None` if more than can be counted.
pub fn size(packet_size: u32, packets: u32) -> Option<u64> {
    let of_packets = u64::from(packet_size) * u64::from(packets);
    data(packets).checked_add(of_packets)
}

/// How an empty pipe begins. All that follows is zero.
pub fn header(packet_size: u32, packets: u32) -> [u8; HEADER_SIZE] {
    let mut header = [0; HEADER_SIZE];
    let mut set = |at: u64, bytes: &[u8]| {
        header[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    };
    set(READ_HEAD, &(1u64 << 32).to_le_bytes());
    set(PACKETS, &packets.to_le_bytes());
    set(PACKET_SIZE, &packet_size.to_le_bytes());
    set(DATA, &data(packets).to_le_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_follow_states() {
        // 256 bytes, 4 for each state, and on to the next multiple of 128.
        assert_eq!(size(4, 16), Some(384 + 64));
        assert_eq!(size(4, 32), Some(384 + 128));
        assert_eq!(size(8, 33), Some(512 + 264));
        assert_eq!(size(u32::MAX, u32::MAX), None);
    }

    #[test]
    fn header_of_an_empty_pipe() {
        let header = header(12, 5);
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap());
        let others = (0..32).filter(|i| ![8, 24, 25].contains(i));
        assert!(others.clone().all(|i| word(8 * i) == 0));
        // The first reader waits for a slot that was written once.
        assert_eq!(word(64), 1 << 32);
        assert_eq!(word(192), 12 << 32 | 5);
        assert_eq!(word(200), 384);
    }
}
