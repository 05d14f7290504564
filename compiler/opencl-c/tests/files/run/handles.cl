// RUN: execute -cl-std=CL2.0
// Null queues, events and reservations: compared, and made from their bits.

// run:
// arg: buffer i32 zero 4
// expect: 0 i32 [1 0 0 1]
kernel void handles(global int *out) {
  queue_t none = CLK_NULL_QUEUE;
  reserve_id_t reservation = CLK_NULL_RESERVE_ID;
  clk_event_t one = CLK_NULL_EVENT, other = CLK_NULL_EVENT;
  out[0] = none == CLK_NULL_QUEUE;
  out[1] = 0 != none;
  out[2] = is_valid_reserve_id(reservation);
  out[3] = one == other;
}
