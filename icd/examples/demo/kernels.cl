// The OpenCL C half of the demo.

kernel void saxpy(global float *restrict y, global const float *restrict x, float a) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i];
}

// Iterations until |z| > 2, for a rectangle of the complex plane.
kernel void mandelbrot(global int *image, float left, float top, float step, int limit) {
    int px = get_global_id(0), py = get_global_id(1);
    float cx = left + step * px, cy = top + step * py;
    float x = 0, y = 0;
    int n = 0;
    while (n < limit && x * x + y * y <= 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        n++;
    }
    image[py * get_global_size(0) + px] = n;
}

#define TILE 16

// C = A * B for square matrices; tiles of both go through local memory.
kernel void matmul(global const float *a, global const float *b, global float *c, int n) {
    local float ta[TILE][TILE], tb[TILE][TILE];
    int lx = get_local_id(0), ly = get_local_id(1);
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        ta[ly][lx] = a[y * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++)
            sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

// One partial sum a work-group, by a tree in local memory.
kernel void reduce(global const uint *values, global uint *partial, local uint *scratch) {
    uint l = get_local_id(0);
    scratch[l] = values[get_global_id(0)];
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size)
            scratch[l] += scratch[l + half_size];
    }
    if (l == 0)
        partial[get_group_id(0)] = scratch[0];
}

kernel void hello(float step) {
    int i = get_global_id(0);
    printf("work-item %d of %d: %.2f %s\n", i, (int)get_global_size(0), i * step, i % 2 ? "odd" : "even");
}
