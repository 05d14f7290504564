/* Separate compilation and linking, and program-scope variables, as an application sees them. */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include "check.h"

#include <time.h>

static const char *header = "extern global int counter;\nint advance(int by);\n";
static const char *user = "#include \"shared/counter.h\"\n"
                          "kernel void count(global int *out) { advance(2); out[0] = counter; }\n";
static const char *library = "#include \"shared/counter.h\"\n"
                             "int counter = 40;\n"
                             "int advance(int by) { return counter += by; }\n";

static cl_program source(const char *text) {
    cl_int err = 0;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &err);
    STATUS(CL_SUCCESS, err);
    return program;
}

/* The build log has `text` in it. */
static int log_has(cl_program program, const char *text) {
    char log[4096] = "";
    size_t size = 0;
    STATUS(CL_SUCCESS, clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size));
    if (size > sizeof log) {
        return 0;
    }
    STATUS(CL_SUCCESS, clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL));
    if (strstr(log, text) == NULL) {
        printf("%s\n", log);
        return 0;
    }
    return 1;
}

static cl_program_binary_type binary_type(cl_program program) {
    cl_program_binary_type type = 0;
    STATUS(CL_SUCCESS,
           clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type, NULL));
    return type;
}

static void run_counts(cl_program program, int first) {
    cl_int err = 0;
    cl_kernel kernel = clCreateKernel(program, "count", &err);
    STATUS(CL_SUCCESS, err);
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, 4, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof out, &out));
    for (int launch = 0; launch < 3; launch++) {
        size_t one = 1;
        int value = 0;
        STATUS(CL_SUCCESS,
               clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 4, &value, 0, NULL, NULL));
        TRUE(value == first + 2 * launch);
    }
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
}

/* C++ for OpenCL is compiled by programs that need not be there; then the log says which. The rest needs neither. */
static void without_clang(void) {
    setenv("BROLGA_CLANG", "/no/such/clang", 1);
    setenv("BROLGA_LLVM_SPIRV", "/no/such/translator", 1);
    cl_program cpp = source("template <typename T> T same(T x) { return x; } kernel void k() {}");
    STATUS(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(cpp, 0, NULL, "-cl-std=CLC++2021", NULL, NULL));
    TRUE(log_has(cpp, "install them"));
    STATUS(CL_COMPILE_PROGRAM_FAILURE,
           clCompileProgram(cpp, 0, NULL, "-cl-std=CLC++", 0, NULL, NULL, NULL, NULL));
    TRUE(log_has(cpp, "clang-15 and llvm-spirv-15"));
    STATUS(CL_SUCCESS, clReleaseProgram(cpp));
}

static char told[1024];

static void CL_CALLBACK on_notice(const char *text, const void *data, size_t size, void *user) {
    (void)data, (void)size, (void)user;
    snprintf(told, sizeof told, "%s", text);
}

/* A binary is for the build of the driver that wrote it, which is named in it after its version; another's is refused, and why is told. */
static void of_another_build(void) {
    cl_int err = 0, status = 0;
    cl_context context = clCreateContext(NULL, 1, &device, on_notice, NULL, &err);
    STATUS(CL_SUCCESS, err);
    const char *text = "kernel void k(global int *out) { *out = 1; }";
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clBuildProgram(program, 1, &device, "", NULL, NULL));
    size_t size = 0;
    STATUS(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *binary = malloc(size);
    STATUS(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    const unsigned char *given = binary;
    cl_program again = clCreateProgramWithBinary(context, 1, &device, &size, &given, &status, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, status);
    char version[64] = "";
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, NULL));
    /* The last letter of the build's name, before its checksum. */
    unsigned length = 0;
    memcpy(&length, binary + 12, sizeof length);
    TRUE(length == strlen(version) && memcmp(binary + 16, version, length) == 0);
    binary[16 + length - 1] ^= 1;
    CREATED(CL_INVALID_BINARY, clCreateProgramWithBinary(context, 1, &device, &size, &given, &status, &err));
    STATUS(CL_INVALID_BINARY, status);
    STATUS(CL_SUCCESS, clReleaseProgram(again));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    for (int i = 0; i < 1000 && told[0] == 0; i++) nanosleep(&(struct timespec){0, 1000000}, NULL);
    TRUE(strstr(told, "another build") != NULL && strstr(told, version) != NULL);
    free(binary);
}

/* Options of executables are none of libraries. */
static void of_libraries(cl_program object) {
    static const char *const wrong[] = {"-cl-denorms-are-zero", "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations",
                                        "-cl-finite-math-only", "-cl-fast-relaxed-math", "-cl-no-subgroup-ifp"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cl_int err;
        char options[128];
        snprintf(options, sizeof options, "-create-library %s", wrong[i]);
        CREATED(CL_INVALID_LINKER_OPTIONS, clLinkProgram(context, 0, NULL, options, 1, &object, NULL, NULL, &err));
        snprintf(options, sizeof options, "%s -create-library -enable-link-options", wrong[i]);
        CREATED(CL_INVALID_LINKER_OPTIONS, clLinkProgram(context, 0, NULL, options, 1, &object, NULL, NULL, &err));
    }
}

int main(void) {
    setup();
    without_clang();
    of_another_build();
    cl_int err = 0;
    size_t largest = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, sizeof largest,
                                       &largest, NULL));
    TRUE(largest >= 64 << 10);

    cl_program programs[2] = {source(user), source(library)};
    cl_program headers[1] = {source(header)};
    const char *names[1] = {"shared/counter.h"};
    cl_bool present = CL_TRUE;
    STATUS(CL_INVALID_PROGRAM_EXECUTABLE,
           clGetProgramInfo(programs[0], CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, sizeof present,
                            &present, NULL));
    STATUS(CL_INVALID_PROGRAM_EXECUTABLE,
           clGetProgramInfo(programs[0], CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, sizeof present,
                            &present, NULL));
    for (int i = 0; i < 2; i++) {
        err = clCompileProgram(programs[i], 0, NULL, "-cl-std=CL3.0", 1, headers, names, NULL, NULL);
        STATUS(CL_SUCCESS, err);
        TRUE(binary_type(programs[i]) == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    }

    /* What is missing is named, and there is a program to ask. */
    cl_program alone = clLinkProgram(context, 0, NULL, "", 1, programs, NULL, NULL, &err);
    STATUS(CL_LINK_PROGRAM_FAILURE, err);
    TRUE(alone != NULL && (log_has(alone, "\"counter\"") || log_has(alone, "\"advance\"")));
    cl_program twice[3] = {programs[0], programs[1], programs[1]};
    cl_program failed = clLinkProgram(context, 0, NULL, "", 3, twice, NULL, NULL, &err);
    STATUS(CL_LINK_PROGRAM_FAILURE, err);
    TRUE(failed != NULL && log_has(failed, "is exported a second time: by module 1, and by module 2"));

    CREATED(CL_INVALID_LINKER_OPTIONS, clLinkProgram(context, 0, NULL, "-enable-link-options", 1,
                                                     programs + 1, NULL, NULL, &err));
    of_libraries(programs[1]);
    cl_program archive = clLinkProgram(context, 0, NULL, "-create-library -enable-link-options", 1,
                                       programs + 1, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    TRUE(binary_type(archive) == CL_PROGRAM_BINARY_TYPE_LIBRARY);
    cl_program parts[2] = {programs[0], archive};
    cl_program linked[2];
    linked[0] = clLinkProgram(context, 0, NULL, "", 2, parts, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    linked[1] = clLinkProgram(context, 0, NULL, "", 2, programs, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    for (int i = 0; i < 2; i++) {
        size_t size = 0;
        char kernels[16] = "";
        STATUS(CL_SUCCESS,
               clGetProgramBuildInfo(linked[i], device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
                                     sizeof size, &size, NULL));
        TRUE(size == 4);
        STATUS(CL_SUCCESS, clGetProgramInfo(linked[i], CL_PROGRAM_KERNEL_NAMES, sizeof kernels,
                                            kernels, NULL));
        TRUE(strcmp(kernels, "count") == 0);
        STATUS(CL_SUCCESS, clGetProgramInfo(linked[i], CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT,
                                            sizeof present, &present, NULL));
        TRUE(present == CL_FALSE);
        /* Each program has a counter of its own. */
        run_counts(linked[i], 42);
    }
    run_counts(linked[0], 48);

    cl_program all[] = {programs[0], programs[1], headers[0], alone, failed, archive, linked[0], linked[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        STATUS(CL_SUCCESS, clReleaseProgram(all[i]));
    }
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
