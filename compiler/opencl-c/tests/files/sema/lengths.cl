// Lengths that initialisers give. C99, "Initialization".
// RUN: check -cl-std=CL3.0 -ext=__opencl_c_program_scope_global_variables,__opencl_c_generic_address_space

#define HAS(name, length) _Static_assert(sizeof(name) / sizeof(*name) == length, #name)
struct point { int x, y; };
struct segment { struct point from, to; int width; };
constant int behind[] = {[3] = 1, 2, [1] = 0};
HAS(behind, 5);
constant int far[] = {[5000000] = 0};
HAS(far, 5000001);
constant struct segment flat[] = {1, 2, 3, 4, 5, 6};
HAS(flat, 2);
constant struct segment inside[] = {[1].from.y = 1, 2, 3, 4, 5};
HAS(inside, 3);
constant struct segment last[] = {{{1, 2}, {3}}, [2].to = {1, 2}, 3, [0].width = 1};
HAS(last, 3);
constant int4 vectors[] = {1, 2, 3, 4, (int4)(5), (int2)(6), (int2)(7)};
HAS(vectors, 3);
constant char text[] = "four";
HAS(text, 5);
constant char braced[] = {"four"};
HAS(braced, 5);
constant char rows[][4] = {"one", {'t', 'w', 'o'}, 't'};
HAS(rows, 3);
constant int literal[] = (constant int[]){1, 2, 3};
HAS(literal, 3);
constant int large[] = {[1 << 23] = 1};
// ERROR: 27:24: initializer of an array of 8388609 elements is too large
