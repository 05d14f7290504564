// The benchmarks' kernels that read or write images: one program, as kernels.cl is.

constant sampler_t LINEAR_TEXELS = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t LINEAR = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
constant sampler_t NEAREST_TEXELS = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

// The mean of nine samples, which are spread a little further than texels are.
kernel void image_blur(read_only image2d_t in, write_only image2d_t out, float spread) {
    int x = get_global_id(0), y = get_global_id(1);
    float4 sum = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            sum += read_imagef(in, LINEAR_TEXELS, (float2)(x + 0.5f + spread * i, y + 0.5f + spread * j));
    write_imagef(out, (int2)(x, y), sum / 9);
}

kernel void image_resize(read_only image2d_t in, write_only image2d_t out) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 size = convert_float2(get_image_dim(out));
    write_imagef(out, at, read_imagef(in, LINEAR, (convert_float2(at) + 0.5f) / size));
}

// By an angle about the middle; what comes from outside is the border colour.
kernel void image_rotate(read_only image2d_t in, write_only image2d_t out, sampler_t texels, float sine, float cosine) {
    int x = get_global_id(0), y = get_global_id(1);
    float2 middle = 0.5f * convert_float2(get_image_dim(in));
    float2 d = (float2)(x + 0.5f, y + 0.5f) - middle;
    float2 from = middle + (float2)(cosine * d.x - sine * d.y, sine * d.x + cosine * d.y);
    write_imagef(out, (int2)(x, y), read_imagef(in, texels, from));
}

// RGB to YCbCr (BT.601, full range), without a sampler.
kernel void image_convert(read_only image2d_t in, write_only image2d_t out) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 p = read_imagef(in, at);
    float y = 0.299f * p.x + 0.587f * p.y + 0.114f * p.z;
    write_imagef(out, at, (float4)(y, 0.5f + 0.564f * (p.z - y), 0.5f + 0.713f * (p.x - y), p.w));
}

// An oblique plane through a volume.
kernel void image_slice(read_only image3d_t volume, write_only image2d_t out, float4 corner, float4 across, float4 down) {
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(out, (int2)(x, y), read_imagef(volume, LINEAR, corner + x * across + y * down));
}

kernel void image_convolve(read_only image2d_t in, write_only image2d_t out, constant float *weights) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++)
            sum += weights[j * 5 + i] * read_imagef(in, NEAREST_TEXELS, (int2)(x + i - 2, y + j - 2)).x;
    write_imagef(out, (int2)(x, y), (float4)(sum, 0, 0, 1));
}

// Of the first three channels; a work-group takes a column of blocks as wide and high as itself.
kernel void image_histogram(read_only image2d_t in, global uint *bins) {
    local uint counts[3 * 256];
    uint l = get_local_id(1) * get_local_size(0) + get_local_id(0), size = get_local_size(0) * get_local_size(1);
    for (uint b = l; b < 3 * 256; b += size)
        counts[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = get_global_id(0);
    for (int y = get_global_id(1); y < get_image_height(in); y += get_local_size(1)) {
        uint4 p = read_imageui(in, NEAREST_TEXELS, (int2)(x, y));
        atomic_inc(&counts[p.x]);
        atomic_inc(&counts[256 + p.y]);
        atomic_inc(&counts[512 + p.z]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = l; b < 3 * 256; b += size)
        atomic_add(&bins[b], counts[b]);
}
