/* bench_sim.c - how fast the simulator is (make bench). Instruction rates are of one host
 * thread with all counters on; matmuls run as ./run has them. Each figure is the median of
 * several runs (least .. most); beside it stands what it is meant to reach on a server core
 * of about 2 GHz. A figure is no test: machines differ and other work disturbs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../host/bench/bench.h"
#include "../../host/bench/run_parts.h"
#include "../../host/cpu/isa.h"

enum { RUNS = 5, UNROLLED = 64, TURNS = 400, BLOCK = 256, LANES_A_WARP = 32 };

static struct sim_spec card;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Only figures whose name contains this. */
static const char *wanted = "";

static void print_figure(const char *what, double *figures, int count, const char *unit,
                         const char *bar)
{
    qsort(figures, (size_t)count, sizeof *figures, compare);
    printf("%-44s %9.3g %-8s (%.3g .. %.3g)  %s\n", what, figures[count / 2], unit,
           figures[0], figures[count - 1], bar);
    fflush(stdout);
}

/* --- instructions ------------------------------------------------------------------------- */

/* A loop of one instruction, UNROLLED times; %r20 is the address of its shared data, made
 * so that nothing is known of its alignment: else the loads would count as one. */
#define UNKNOWN "xor.b32 %r22, %r0, %r0;\nadd.u32 %r20, %r20, %r22;\n"
static const struct micro {
    const char *what, *address, *instruction, *bar;
} micros[] = {
    {"FMA, FP32", "", "fma.rn.f32 %f1, %f2, %f3, %f1;", ">= 40"},
    {"addition, 32 bits", "", "add.u32 %r1, %r2, %r3;", ">= 40"},
    {"FMA, FP16 x 2", "", "fma.rn.f16x2 %r1, %r2, %r3, %r1;", ">= 40"},
    {"addition, FP16 x 2", "", "add.f16x2 %r1, %r2, %r3;", ">= 40"},
    {"maximum, FP16 x 2", "", "max.f16x2 %r1, %r2, %r3;", ">= 40"},
    {"FMA, BF16 x 2", "", "fma.rn.bf16x2 %r1, %r2, %r3, %r1;", ""},
    {"FP16 to FP32", "", "cvt.f32.f16 %f1, %h1;", ""},
    {"FP32 to FP16", "", "cvt.rn.f16.f32 %h1, %f1;", ""},
    {"division, 32 bits", "", "div.u32 %r1, %r2, %r3;", ""},
    {"shared load, one address", "mov.u32 %r20, tile;\n" UNKNOWN,
     "ld.shared.f32 %f1, [%r20];", ">= 40"},
    {"shared load, side by side",
     "mov.u32 %r20, tile;\nmad.lo.u32 %r20, %r0, 4, %r20;\n" UNKNOWN,
     "ld.shared.f32 %f1, [%r20];", ">= 40"},
    {"shared load, scattered",
     "mov.u32 %r20, tile;\nmul.lo.u32 %r21, %r0, 2654435761;\nand.b32 %r21, %r21, 2044;\n"
     "add.u32 %r20, %r20, %r21;\n" UNKNOWN,
     "ld.shared.f32 %f1, [%r20];", ">= 8"},
    {"global load, side by side", "", "ld.global.f32 %f1, [%rd1];", ""},
    {"mma.sync m16n8k16, FP16 to FP32", "",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
     "{%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
     ">= 2"},
};

static void configure(int threads, bool check)
{
    sim_configure(&(struct sim_options){
        .spec = &card, .spec_count = 1, .threads = threads, .check = check});
}

static char *micro_text(const struct micro *m)
{
    char *text = malloc(1 << 16);
    int used = snprintf(
        text, 1 << 16,
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".shared .align 16 .b8 tile[8192];\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<2>;\n.reg .b32 %%r<30>;\n"
        ".reg .f32 %%f<9>;\n.reg .b16 %%h<2>;\n.reg .b64 %%rd<4>;\nmov.u32 %%r0, "
        "%%tid.x;\n"
        "ld.param.u64 %%rd0, [p];\nmad.wide.u32 %%rd1, %%r0, 4, %%rd0;\n"
        "mov.b32 %%r1, 0x3c003c00;\nmov.b32 %%r2, 0x3c003a00;\n"
        "mov.b32 %%r3, 0x34003400;\nmov.b32 %%r4, 4;\n"
        "mov.b32 %%r5, 5;\nmov.b32 %%r6, 6;\nmov.f32 %%f1, 0f3f800000;\n"
        "mov.f32 %%f2, 0f3f800000;\nmov.f32 %%f3, 0f00000000;\n"
        "mov.f32 %%f4, 0f00000000;\nmov.b16 %%h1, 15360;\n%s\nmov.u32 %%r9, 0;\n$turn:\n",
        m->address);
    for (int i = 0; i < UNROLLED; i++)
        used += snprintf(text + used, (size_t)((1 << 16) - used), "%s\n", m->instruction);
    snprintf(text + used, (size_t)((1 << 16) - used),
             "add.u32 %%r9, %%r9, 1;\nsetp.lt.u32 %%p0, %%r9, %d;\n@%%p0 bra $turn;\n"
             "st.global.f32 [%%rd1], %%f1;\nret;\n}\n",
             TURNS);
    return text;
}

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "bench: %s failed: %s\n", what, sim_last_error());
    exit(EXIT_OURS);
}

static void bench_micro(const struct micro *m)
{
    if (strstr(m->what, wanted) == NULL)
        return;
    const struct cuda_api *cu = sim_driver();
    double figures[RUNS];
    char *text = micro_text(m);
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    configure(1, false);
    must(cu->init(0), "cuInit");
    must(cu->context_retain(&context, 0), "cuDevicePrimaryCtxRetain");
    must(cu->context_set(context), "cuCtxSetCurrent");
    must(cu->module_load(&module, text), "cuModuleLoadData");
    must(cu->module_function(&function, module, "k"), "cuModuleGetFunction");
    must(cu->memory_alloc(&memory, 4 * BLOCK), "cuMemAlloc");
    must(cu->fill_u32(memory, 0, BLOCK), "cuMemsetD32");
    for (int i = 0; i < RUNS; i++) {
        void *parameters[] = {&memory};
        must(cu->launch(function, 1, 1, 1, BLOCK, 1, 1, 0, NULL, parameters, NULL),
             "cuLaunchKernel");
        figures[i] = (double)UNROLLED * TURNS * (BLOCK / LANES_A_WARP) /
                     sim_last_report()->host_seconds / 1e6;
    }
    print_figure(m->what, figures, RUNS, "M/s", m->bar);
    configure(0, false);
    free(text);
}

/* --- matmuls ------------------------------------------------------------------------------- */

static double run_rung(const char *name, size_t size, int threads, bool check)
{
    struct error err = {0};
    struct device device;
    struct rung_list list = {0};
    struct result result = {0};
    struct bench_options options = {.seed = 1,
                                    .alpha = 1,
                                    .reps = 1,
                                    .check_all = check,
                                    .sample_blocks = UINT64_MAX};
    double took = 0;
    configure(threads, check);
    if (!device_open_cuda(&device, sim_driver(), BACKEND_SIM, 0, &err) ||
        !rungs_load(&device, &list, &err)) {
        fprintf(stderr, "bench: %s\n", err.text);
        exit(EXIT_OURS);
    }
    for (int i = 0; i < list.count; i++)
        if (list.rungs[i].image != NULL && strcmp(list.rungs[i].info.name, name) == 0) {
            bench_run(&device, &list.rungs[i], (struct size){size, size, size}, &options,
                      &result);
            took = sim_last_report()->host_seconds;
        }
    result_free(&result);
    rungs_free(&list);
    device_close(&device);
    return took;
}

static void bench_matmul(const char *name, size_t size, int threads, const char *bar)
{
    double figures[RUNS];
    char what[80];
    snprintf(what, sizeof what, "%s %zu^3, %d thread%s", name, size, threads,
             threads > 1 ? "s" : "");
    if (strstr(what, wanted) == NULL)
        return;
    for (int i = 0; i < RUNS; i++)
        figures[i] = run_rung(name, size, threads, false);
    print_figure(what, figures, RUNS, "s", bar);
}

/* With all checks and without, in turn. */
static void bench_checks(const char *name, size_t size)
{
    double figures[RUNS];
    char what[80];
    snprintf(what, sizeof what, "%s %zu^3: all checks / none", name, size);
    if (strstr(what, wanted) == NULL)
        return;
    for (int i = 0; i < RUNS; i++) {
        double plain = run_rung(name, size, 1, false);
        figures[i] = run_rung(name, size, 1, true) / plain;
    }
    print_figure(what, figures, RUNS, "x", "<= 3");
}

/* --- loading, memory ----------------------------------------------------------------------- */

static void bench_load(void)
{
    enum { BYTES = 1 << 20 };
    const struct cuda_api *cu = sim_driver();
    double figures[RUNS];
    char *text = malloc(BYTES + 4096);
    int used =
        snprintf(text, BYTES,
                 ".version 8.0\n.target sm_80\n.address_size 64\n"
                 ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<100>;\n"
                 ".reg .f32 %%f<100>;\n.reg .b64 %%rd<4>;\nld.param.u64 %%rd0, [p];\n");
    for (int i = 0; used < BYTES; i++)
        used += snprintf(text + used, 256,
                         "\tfma.rn.f32 \t%%f%d, %%f%d, %%f%d, %%f%d;\n"
                         "\tld.global.f32 \t%%f%d, [%%rd0+%d];\n"
                         "\tadd.s32 \t%%r%d, %%r%d, %d;\n",
                         i % 97, i % 89, i % 83, i % 79, i % 73, 4 * (i % 4096), i % 97,
                         i % 89, i);
    snprintf(text + used, 64, "ret;\n}\n");
    for (int i = 0; i < RUNS; i++) {
        CUcontext context;
        CUmodule module;
        CUfunction function;
        int registers;
        configure(1, false);
        must(cu->init(0), "cuInit");
        must(cu->context_retain(&context, 0), "cuDevicePrimaryCtxRetain");
        must(cu->context_set(context), "cuCtxSetCurrent");
        double start = seconds();
        must(cu->module_load(&module, text), "cuModuleLoadData");
        must(cu->module_function(&function, module, "k"), "cuModuleGetFunction");
        must(cu->function_attribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function),
             "cuFuncGetAttribute");
        figures[i] = 1e3 * (seconds() - start);
    }
    print_figure("1 MiB of PTX, parsed and decoded", figures, RUNS, "ms", "< 100");
    configure(0, false);
    free(text);
}

static double resident_mib(void)
{
    long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static void bench_sparse(void)
{
    const struct cuda_api *cu = sim_driver();
    CUcontext context;
    CUdeviceptr memory;
    configure(1, true);
    must(cu->init(0), "cuInit");
    must(cu->context_retain(&context, 0), "cuDevicePrimaryCtxRetain");
    must(cu->context_set(context), "cuCtxSetCurrent");
    double before = resident_mib();
    must(cu->memory_alloc(&memory, (size_t)8 << 30), "cuMemAlloc of 8 GiB");
    for (CUdeviceptr i = 0; i < 64; i++)
        must(cu->fill_u32(memory + (i << 27), 1, 16), "cuMemsetD32");
    double after = resident_mib() - before;
    print_figure("8 GiB allocated, 64 places touched, checks on", &after, 1, "MiB",
                 "< 16");
    must(cu->memory_free(memory), "cuMemFree");
    configure(0, false);
}

int main(int argc, char **argv)
{
    wanted = argc > 1 ? argv[1] : "";
    char candidates[80];
    const struct peak_row *row = peak_find("a100", candidates, sizeof candidates);
    if (row == NULL || !peak_sim_spec(row, &card))
        return EXIT_OURS;
    registry_init();
    printf("%-44s %9s %-8s %s\n", "simulator, one host thread", "median", "", "bar");
    for (size_t i = 0; i < sizeof micros / sizeof *micros; i++)
        bench_micro(&micros[i]);
    bench_matmul("naive", 256, 1, "< 0.15");
    bench_matmul("naive", 512, 2, "< 0.5");
    bench_matmul("register_tile_2d", 1024, 2, "< 2.5");
    bench_matmul("wmma", 1024, 2, "< 1");
    bench_checks("naive", 256);
    bench_checks("shared_tile", 256);
    bench_checks("register_tile_2d", 256);
    bench_checks("warp_tile", 256);
    if (*wanted == '\0') {
        bench_load();
        bench_sparse();
    }
    return 0;
}
