// The benchmarks' kernels: one program, so that building it is a benchmark as well.

kernel void empty(void) {}

// ---- streaming

kernel void copy(global const float *restrict a, global float *restrict b) {
    size_t i = get_global_id(0);
    b[i] = a[i];
}

kernel void triad(global const float *restrict a, global const float *restrict b, global float *restrict c, float s) {
    size_t i = get_global_id(0);
    c[i] = a[i] + s * b[i];
}

kernel void saxpy(global const float *restrict x, global const float *restrict y, global float *restrict out, float a, uint n) {
    uint i = get_global_id(0);
    if (i < n)
        out[i] = a * x[i] + y[i];
}

// Vectors of the program's own, which are taken apart at the end only.
kernel void float8_sums(global const float8 *a, global float *sums, uint count) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float8 sum = 0;
    for (uint k = 0; k < count; k++)
        sum += a[i + k * n];
    float4 half_sum = sum.lo + sum.hi;
    sums[i] = (half_sum.x + half_sum.y) + (half_sum.z + half_sum.w);
}

// ---- linear algebra

kernel void matmul_naive(global const float *a, global const float *b, global float *c, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

#define TILE 16

kernel void matmul_tiled(global const float *a, global const float *b, global float *c, int n) {
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

kernel void spmv(global const int *row_start, global const int *column, global const float *value, global const float *x,
                 global float *y) {
    int row = get_global_id(0);
    float sum = 0;
    for (int k = row_start[row]; k < row_start[row + 1]; k++)
        sum += value[k] * x[column[k]];
    y[row] = sum;
}

kernel void transpose(global const float *in, global float *out, int width, int height) {
    local float tile[TILE][TILE + 1];
    int lx = get_local_id(0), ly = get_local_id(1);
    int bx = get_group_id(0) * TILE, by = get_group_id(1) * TILE;
    tile[ly][lx] = in[(by + ly) * width + bx + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(bx + ly) * height + by + lx] = tile[lx][ly];
}

kernel void stencil(global const float *in, global float *out, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    int at = y * width + x;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
        out[at] = 0.5f * in[at] + 0.125f * (in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
    else
        out[at] = in[at];
}

// ---- arithmetic

kernel void nbody(global const float4 *position, global float4 *acceleration, int n) {
    int i = get_global_id(0);
    float3 here = position[i].xyz;
    float3 sum = 0;
    for (int j = 0; j < n; j++) {
        float4 other = position[j];
        float3 d = other.xyz - here;
        float r2 = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
        float inverse = rsqrt(r2);
        sum += d * (other.w * inverse * inverse * inverse);
    }
    acceleration[i] = (float4)(sum, 0);
}

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

// The cumulative normal distribution: Abramowitz and Stegun, 26.2.17.
float normal(float x) {
    float k = 1.0f / (1.0f + 0.2316419f * fabs(x));
    float tail = 0.3989422804f * exp(-0.5f * x * x)
        * (k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return x > 0 ? 1.0f - tail : tail;
}

kernel void black_scholes(global const float *price, global const float *strike, global const float *years, global float *call_price,
                          global float *put_price, float rate, float volatility) {
    size_t i = get_global_id(0);
    float s = price[i], x = strike[i], t = years[i];
    float spread = volatility * sqrt(t);
    float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / spread;
    float discounted = x * exp(-rate * t);
    float n1 = normal(d1), n2 = normal(d1 - spread);
    call_price[i] = s * n1 - discounted * n2;
    put_price[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}

kernel void transcendental(global const float *in, global float *out) {
    size_t i = get_global_id(0);
    float x = in[i];
    out[i] = sin(x) * cos(2.0f * x) + exp(-x) * log(1.0f + x) + pow(1.0f + x, 0.75f) + atan2(x, 2.0f) + tanh(x);
}

// ---- work-items that cooperate

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

// Inclusive prefix sums of each work-group's values (Hillis and Steele).
kernel void scan(global const uint *values, global uint *sums, local uint *scratch) {
    uint l = get_local_id(0), size = get_local_size(0);
    uint sum = values[get_global_id(0)];
    scratch[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < size; distance *= 2) {
        uint other = l >= distance ? scratch[l - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += other;
        scratch[l] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sums[get_global_id(0)] = sum;
}

kernel void histogram(global const uchar *values, global uint *bins, uint per_item) {
    local uint counts[256];
    uint l = get_local_id(0), size = get_local_size(0);
    for (uint b = l; b < 256; b += size)
        counts[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint base = get_group_id(0) * size * per_item;
    for (uint k = 0; k < per_item; k++)
        atomic_inc(&counts[values[base + k * size + l]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = l; b < 256; b += size)
        atomic_add(&bins[b], counts[b]);
}

// One step of a bitonic sort; a work-item compares one pair.
kernel void bitonic(global uint *values, uint block, uint distance) {
    uint t = get_global_id(0);
    uint i = 2 * distance * (t / distance) + t % distance;
    uint a = values[i], b = values[i + distance];
    bool ascending = (i & block) == 0;
    values[i] = ascending ? min(a, b) : max(a, b);
    values[i + distance] = ascending ? max(a, b) : min(a, b);
}

// ---- integers and bytes

#define PRIME1 2654435761u
#define PRIME2 2246822519u
#define PRIME3 3266489917u
#define PRIME4 668265263u

uint hash_round(uint lane, uint word) {
    return rotate(lane + word * PRIME2, 13u) * PRIME1;
}

// xxHash32 of 64-byte messages, word-interleaved.
kernel void hash(global const uint *messages, global uint *hashes) {
    size_t i = get_global_id(0), n = get_global_size(0);
    uint a = PRIME1 + PRIME2, b = PRIME2, c = 0, d = -PRIME1;
    for (uint k = 0; k < 16; k += 4) {
        a = hash_round(a, messages[(k + 0) * n + i]);
        b = hash_round(b, messages[(k + 1) * n + i]);
        c = hash_round(c, messages[(k + 2) * n + i]);
        d = hash_round(d, messages[(k + 3) * n + i]);
    }
    uint h = rotate(a, 1u) + rotate(b, 7u) + rotate(c, 12u) + rotate(d, 18u) + 64;
    h = (h ^ (h >> 15)) * PRIME2;
    h = (h ^ (h >> 13)) * PRIME3;
    hashes[i] = h ^ (h >> 16);
}

// Sharpens an RGBA image: 5 * centre - neighbours, saturated.
kernel void sharpen(global const uchar4 *in, global uchar4 *out, int width, int height) {
    int x = get_global_id(0), y = get_global_id(1);
    int left = max(x - 1, 0), right = min(x + 1, width - 1);
    int up = max(y - 1, 0), down = min(y + 1, height - 1);
    int4 sum = convert_int4(in[y * width + x]) * 5 - convert_int4(in[y * width + left]) - convert_int4(in[y * width + right])
        - convert_int4(in[up * width + x]) - convert_int4(in[down * width + x]);
    out[y * width + x] = convert_uchar4_sat(sum);
}

// Luma of an RGB image in bytes, fixed point.
kernel void luma(global const uchar *rgb, global uchar *grey) {
    size_t i = get_global_id(0);
    uint r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    grey[i] = (uchar)((77 * r + 150 * g + 29 * b + 128) >> 8);
}
