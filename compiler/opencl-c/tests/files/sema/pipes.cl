// RUN: check -cl-std=CL2.0
// OpenCL C Specification, "Built-in Pipe Read and Write Functions": packets have the pipe's type.
// ERROR: 7:3: no matching function for call to 'write_pipe'
// ERROR: 8:3: no matching function for call to 'write_pipe'

void f(write_only pipe float4 p, float4 *packet, int *other, void *any) {
  write_pipe(p, other);
  write_pipe(p, any);
  write_pipe(p, packet);
}
