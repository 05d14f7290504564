/* What is refused: images that cannot be made, and commands on images whose regions, pitches, flags, formats and contexts are not
 * right. Each error is the one that the specification lists. */
#include "check.h"

static const cl_image_format rgba = {CL_RGBA, CL_UNORM_INT8};
static char data[1 << 16];

static cl_mem_flags flags;

/* The status of making an image so. */
static cl_int made(const cl_image_format *format, cl_image_desc desc, void *host) {
    cl_int err = 12345;
    cl_mem image = clCreateImage(context, flags, format, &desc, host, &err);
    if (image) clReleaseMemObject(image);
    return err;
}

#define DESC(...) ((cl_image_desc){__VA_ARGS__})
#define MADE(expected, format, desc, host) STATUS(expected, made(format, desc, host))
#define TWO DESC(.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4)

static size_t limit(cl_device_info name) {
    size_t value = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, name, sizeof(value), &value, NULL));
    return value;
}

static void sizes(void) {
    size_t width = limit(CL_DEVICE_IMAGE2D_MAX_WIDTH), height = limit(CL_DEVICE_IMAGE2D_MAX_HEIGHT);
    size_t width3 = limit(CL_DEVICE_IMAGE3D_MAX_WIDTH), depth3 = limit(CL_DEVICE_IMAGE3D_MAX_DEPTH);
    size_t layers = limit(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE), texels = limit(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
    cl_int err;
    cl_mem buffer = clCreateBuffer(context, 0, 256, NULL, &err);
    TRUE(width >= 16384 && height >= 16384 && width3 >= 2048 && depth3 >= 2048 && layers >= 2048 && texels >= 65536);
#define SIZE(...) MADE(CL_INVALID_IMAGE_SIZE, &rgba, DESC(__VA_ARGS__), NULL)
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE1D);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = width + 1);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE2D, .image_height = 4);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = height + 1);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = (size_t)1 << 32, .image_height = 4);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 4);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 4, .image_array_size = layers + 1);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 4, .image_height = 4);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 4);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = width3 + 1, .image_height = 4, .image_depth = 4);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 4, .image_depth = depth3 + 1);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = texels + 1, .mem_object = buffer);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 65, .mem_object = buffer);
    SIZE(.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 9, .mem_object = buffer);
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
}

static void shapes(void) {
    cl_int err;
    cl_mem buffer = clCreateBuffer(context, 0, 256, NULL, &err);
    cl_image_desc two = TWO;
    cl_mem image = clCreateImage(context, 0, &rgba, &two, NULL, &err);
#define SHAPE(...) MADE(CL_INVALID_IMAGE_DESCRIPTOR, &rgba, DESC(__VA_ARGS__), NULL)
#define TWO_WITH(...) .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4, __VA_ARGS__
    SHAPE(.image_type = CL_MEM_OBJECT_BUFFER, .image_width = 4, .image_height = 4);
    SHAPE(.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 4);
    SHAPE(.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 4, .image_depth = 4, .mem_object = image);
    SHAPE(.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 4, .mem_object = image);
    SHAPE(TWO_WITH(.image_row_pitch = 16));
    SHAPE(TWO_WITH(.image_slice_pitch = 64));
    SHAPE(TWO_WITH(.num_samples = 1));
    SHAPE(TWO_WITH(.num_mip_levels = 4));
    SHAPE(TWO_WITH(.num_mip_levels = 2, .mem_object = image));
    SHAPE(TWO_WITH(.num_mip_levels = 2, .mem_object = buffer));
    SHAPE(TWO_WITH(.mem_object = (cl_mem)queue));
    SHAPE(.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 3, .image_height = 4, .mem_object = image);
    flags = CL_MEM_USE_HOST_PTR;
    MADE(CL_INVALID_HOST_PTR, &rgba, DESC(TWO_WITH(.num_mip_levels = 2)), data);
    MADE(CL_INVALID_IMAGE_DESCRIPTOR, &rgba, DESC(TWO_WITH(.image_row_pitch = 12)), data);
    MADE(CL_INVALID_IMAGE_DESCRIPTOR, &rgba, DESC(TWO_WITH(.image_row_pitch = 18)), data);
    cl_image_desc three = {.image_type = CL_MEM_OBJECT_IMAGE3D,
                           .image_width = 4,
                           .image_height = 4,
                           .image_depth = 4,
                           .image_slice_pitch = 48};
    MADE(CL_INVALID_IMAGE_DESCRIPTOR, &rgba, three, data);
    three.image_slice_pitch = 72;
    MADE(CL_INVALID_IMAGE_DESCRIPTOR, &rgba, three, data);
    three.image_slice_pitch = 80;
    MADE(CL_SUCCESS, &rgba, three, data);
    CREATED(CL_INVALID_IMAGE_SIZE, clCreateImage2D(context, flags, &rgba, 4, 4, 12, data, &err));
    CREATED(CL_INVALID_IMAGE_SIZE, clCreateImage3D(context, flags, &rgba, 4, 4, 4, 16, 32, data, &err));
    flags = 0;
    MADE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, &rgba, DESC(TWO_WITH(.image_row_pitch = 18, .mem_object = buffer)), NULL);
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    buffer = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 256, data + 2, &err);
    MADE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, &rgba, DESC(TWO_WITH(.mem_object = buffer)), NULL);
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    STATUS(CL_SUCCESS, clReleaseMemObject(image));
}

static void formats_and_flags(void) {
    static const cl_image_format unknown[] = {
        {0, CL_UNORM_INT8},
        {CL_RGBA, 0},
        {CL_RGBA, CL_UNORM_SHORT_565},
        {CL_RGB, CL_UNORM_INT_101010_2},
        {CL_sRGBA, CL_UNORM_INT16},
    };
    for (int n = 0; n < 5; n++) MADE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, &unknown[n], TWO, NULL);
    /* Three bytes are no power of two; what of depth is for pictures only; depth with stencil. */
    static const cl_image_format unsupported[] = {
        {CL_RGB, CL_UNORM_INT8}, {CL_DEPTH, CL_UNORM_INT8}, {0x10BE, CL_FLOAT}, {CL_R, 0x10DF}};
    for (int n = 0; n < 4; n++) MADE(CL_IMAGE_FORMAT_NOT_SUPPORTED, &unsupported[n], TWO, NULL);
    cl_image_format depth = {CL_DEPTH, CL_FLOAT};
    MADE(CL_IMAGE_FORMAT_NOT_SUPPORTED, &depth, DESC(.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 4), NULL);
    MADE(CL_SUCCESS, &depth, TWO, NULL);
    /* What is not supported at all has no pitch that would be right. */
    cl_int error;
    cl_mem bytes = clCreateBuffer(context, 0, 4096, NULL, &error);
    STATUS(CL_SUCCESS, error);
    MADE(CL_IMAGE_FORMAT_NOT_SUPPORTED, &unsupported[1], DESC(TWO_WITH(.mem_object = bytes, .image_row_pitch = 3)), NULL);
    MADE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, &rgba, DESC(TWO_WITH(.mem_object = bytes, .image_row_pitch = 3)), NULL);
    STATUS(CL_SUCCESS, clReleaseMemObject(bytes));

    static const cl_mem_flags wrong[] = {CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, CL_MEM_KERNEL_READ_AND_WRITE,
                                         CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, (cl_mem_flags)1 << 40,
                                         CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR};
    for (int n = 0; n < 5; n++) {
        flags = wrong[n];
        MADE(CL_INVALID_VALUE, &rgba, TWO, data);
    }
    flags = CL_MEM_COPY_HOST_PTR;
    MADE(CL_INVALID_HOST_PTR, &rgba, TWO, NULL);
    flags = 0;
    MADE(CL_INVALID_HOST_PTR, &rgba, TWO, data);
    /* Parts do not allow more than the whole. */
    static const cl_mem_flags of[][2] = {{CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY},
                                         {CL_MEM_READ_ONLY, CL_MEM_READ_WRITE},
                                         {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY},
                                         {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY},
                                         {0, CL_MEM_USE_HOST_PTR},
                                         {0, CL_MEM_ALLOC_HOST_PTR}};
    for (int n = 0; n < 6; n++) {
        cl_int err;
        cl_mem buffer = clCreateBuffer(context, of[n][0], 256, NULL, &err);
        flags = of[n][1];
        MADE(CL_INVALID_VALUE, &rgba, DESC(TWO_WITH(.mem_object = buffer)), NULL);
        flags = 0;
        MADE(CL_SUCCESS, &rgba, DESC(TWO_WITH(.mem_object = buffer)), NULL);
        MADE(CL_INVALID_HOST_PTR, &rgba, DESC(TWO_WITH(.mem_object = buffer)), data);
        STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    }
}

static const size_t zero[3] = {0, 0, 0}, one[3] = {1, 1, 1};

#define READ(expected, image, origin, region, row, slice, host)                                                        \
    STATUS(expected, clEnqueueReadImage(queue, image, CL_TRUE, origin, region, row, slice, host, 0, NULL, NULL));      \
    STATUS(expected, clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, row, slice, host, 0, NULL, NULL))

static void regions(void) {
    static const struct {
        cl_image_desc desc;
        size_t size[3];
    } shapes[] = {
        {{.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 4}, {4, 1, 1}},
        {{.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 4, .image_array_size = 3}, {4, 3, 1}},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 3}, {4, 3, 1}},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 4, .image_height = 3, .image_array_size = 2},
         {4, 3, 2}},
        {{.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 3, .image_depth = 2}, {4, 3, 2}},
    };
    cl_int err;
    cl_mem buffer = clCreateBuffer(context, 0, 4096, NULL, &err);
    for (int s = 0; s < 5; s++) {
        cl_mem image = clCreateImage(context, 0, &rgba, &shapes[s].desc, NULL, &err);
        STATUS(CL_SUCCESS, err);
        const size_t *size = shapes[s].size;
        READ(CL_SUCCESS, image, zero, size, 0, 0, data);
        READ(CL_INVALID_VALUE, image, NULL, size, 0, 0, data);
        READ(CL_INVALID_VALUE, image, zero, NULL, 0, 0, data);
        READ(CL_INVALID_VALUE, image, zero, size, 0, 0, NULL);
        READ(CL_INVALID_VALUE, image, zero, size, 15, 0, data);
        int sliced = shapes[s].desc.image_array_size || shapes[s].desc.image_depth;
        READ(CL_INVALID_VALUE, image, zero, size, 0, sliced ? 15 : 64, data);
        for (int d = 0; d < 3; d++) {
            size_t origin[3] = {0, 0, 0}, region[3] = {1, 1, 1}, row, slice;
            for (int wrong = 0; wrong < 4; wrong++) {
                origin[d] = wrong == 0 ? size[d] : wrong == 1 ? (size_t)-1 : 0;
                region[d] = wrong == 2 ? 0 : wrong == 3 ? size[d] + 1 : 1;
                READ(CL_INVALID_VALUE, image, origin, region, 0, 0, data);
                float color[4] = {0};
                STATUS(CL_INVALID_VALUE, clEnqueueFillImage(queue, image, color, origin, region, 0, NULL, NULL));
                STATUS(CL_INVALID_VALUE,
                       clEnqueueCopyImage(queue, image, image, origin, zero, region, 0, NULL, NULL));
                STATUS(CL_INVALID_VALUE,
                       clEnqueueCopyImageToBuffer(queue, image, buffer, origin, region, 0, 0, NULL, NULL));
                STATUS(CL_INVALID_VALUE,
                       clEnqueueCopyBufferToImage(queue, buffer, image, 0, origin, region, 0, NULL, NULL));
                CREATED(CL_INVALID_VALUE, clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, origin, region, &row,
                                                            &slice, 0, NULL, NULL, &err));
            }
        }
        size_t bytes = size[0] * size[1] * size[2] * 4;
        STATUS(CL_SUCCESS,
               clEnqueueCopyImageToBuffer(queue, image, buffer, zero, size, 4096 - bytes, 0, NULL, NULL));
        STATUS(CL_INVALID_VALUE,
               clEnqueueCopyImageToBuffer(queue, image, buffer, zero, size, 4097 - bytes, 0, NULL, NULL));
        STATUS(CL_INVALID_VALUE,
               clEnqueueCopyBufferToImage(queue, buffer, image, (size_t)-1, zero, size, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clFinish(queue));
        STATUS(CL_SUCCESS, clReleaseMemObject(image));
    }
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
}

static void commands(void) {
    cl_int err;
    cl_image_desc two = TWO;
    cl_image_format other = {CL_RGBA, CL_SNORM_INT8};
    cl_mem image = clCreateImage(context, 0, &rgba, &two, NULL, &err);
    cl_mem signs = clCreateImage(context, 0, &other, &two, NULL, &err);
    cl_mem buffer = clCreateBuffer(context, 0, 256, NULL, &err);
    size_t half[3] = {2, 4, 1}, right[3] = {2, 0, 0}, middle[3] = {1, 1, 0}, row, slice;
    float color[4] = {0};
    STATUS(CL_IMAGE_FORMAT_MISMATCH, clEnqueueCopyImage(queue, image, signs, zero, zero, one, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueCopyImage(queue, image, image, zero, right, half, 0, NULL, NULL));
    STATUS(CL_MEM_COPY_OVERLAP, clEnqueueCopyImage(queue, image, image, zero, middle, (size_t[3]){2, 2, 1}, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueCopyImage(queue, image, buffer, zero, zero, one, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueCopyImageToBuffer(queue, image, signs, zero, one, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, image, CL_TRUE, 0, 4, data, 0, NULL, NULL));
    CREATED(CL_INVALID_MEM_OBJECT,
            clCreateSubBuffer(image, 0, CL_BUFFER_CREATE_TYPE_REGION, &(cl_buffer_region){0, 16}, &err));
    STATUS(CL_INVALID_VALUE, clEnqueueFillImage(queue, image, NULL, zero, one, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueFillImage(queue, image, color, NULL, one, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueFillImage(queue, image, color, zero, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueFillImage(queue, image, color, zero, one, 1, NULL, NULL));
    CREATED(CL_INVALID_VALUE,
            clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, zero, one, NULL, &slice, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION,
                                                zero, one, &row, &slice, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clEnqueueMapImage(queue, image, CL_TRUE, 1 << 9, zero, one, &row, &slice, 0, NULL, NULL, &err));
    /* A picture has no slices to tell of. */
    void *at = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, zero, one, &row, NULL, 0, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, signs, at, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueUnmapMemObject(queue, image, at, 0, NULL, NULL));

    /* Another context's. */
    cl_context elsewhere = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    cl_mem theirs = clCreateImage(elsewhere, 0, &rgba, &two, NULL, &err);
    STATUS(CL_SUCCESS, err);
    READ(CL_INVALID_CONTEXT, theirs, zero, one, 0, 0, data);
    STATUS(CL_INVALID_CONTEXT, clEnqueueCopyImage(queue, image, theirs, zero, zero, one, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT, clEnqueueFillImage(queue, theirs, color, zero, one, 0, NULL, NULL));
    MADE(CL_INVALID_IMAGE_DESCRIPTOR, &rgba, DESC(TWO_WITH(.mem_object = theirs)), NULL);
    STATUS(CL_SUCCESS, clReleaseMemObject(theirs));
    STATUS(CL_SUCCESS, clReleaseContext(elsewhere));

    /* The host may not do everything. */
    static const cl_mem_flags host[] = {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS};
    for (int n = 0; n < 3; n++) {
        cl_mem limited = clCreateImage(context, host[n], &rgba, &two, NULL, &err);
        cl_int reads = n == 0 ? CL_SUCCESS : CL_INVALID_OPERATION, writes = n == 1 ? CL_SUCCESS : CL_INVALID_OPERATION;
        STATUS(reads, clEnqueueReadImage(queue, limited, CL_TRUE, zero, one, 0, 0, data, 0, NULL, NULL));
        STATUS(writes, clEnqueueWriteImage(queue, limited, CL_TRUE, zero, one, 0, 0, data, 0, NULL, NULL));
        if (reads)
            CREATED(CL_INVALID_OPERATION, clEnqueueMapImage(queue, limited, CL_TRUE, CL_MAP_READ, zero, one, &row,
                                                            &slice, 0, NULL, NULL, &err));
        if (writes)
            CREATED(CL_INVALID_OPERATION, clEnqueueMapImage(queue, limited, CL_TRUE, CL_MAP_WRITE, zero, one, &row,
                                                            &slice, 0, NULL, NULL, &err));
        STATUS(CL_SUCCESS, clReleaseMemObject(limited));
    }
    /* CL_MEM_IMMUTABLE_EXT */
    cl_mem fixed = clCreateImage(context, 1 << 6 | CL_MEM_COPY_HOST_PTR, &rgba, &two, data, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clEnqueueReadImage(queue, fixed, CL_TRUE, zero, one, 0, 0, data, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION, clEnqueueWriteImage(queue, fixed, CL_TRUE, zero, one, 0, 0, data, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION, clEnqueueFillImage(queue, fixed, color, zero, one, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION, clEnqueueCopyImage(queue, image, fixed, zero, zero, one, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION, clEnqueueCopyBufferToImage(queue, buffer, fixed, 0, zero, one, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clReleaseMemObject(fixed));
    STATUS(CL_SUCCESS, clReleaseMemObject(image));
    STATUS(CL_SUCCESS, clReleaseMemObject(signs));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
}

int main(void) {
    setup();
    sizes();
    shapes();
    formats_and_flags();
    regions();
    commands();
    return finish();
}
