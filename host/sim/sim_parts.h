/* sim_parts.h - the objects behind the simulated driver's handles, shared by
 *
 *   sim_driver.c         devices, contexts, streams, events, error texts
 *   sim_driver_memory.c  allocations, copies, fills
 *   sim_driver_module.c  images, symbols, functions and their attributes
 *   sim_driver_shared.c  where a kernel's shared variables lie
 *   sim_driver_launch.c  launches, sampling, the report
 *
 * A handle that a program passes in is looked for in these lists before it is
 * followed, so a stale or invented one gives CUDA_ERROR_INVALID_HANDLE.
 */
#ifndef PEAKBOUND_SIM_PARTS_H
#define PEAKBOUND_SIM_PARTS_H

#include "exec.h"
#include "image.h"
#include "memory.h"
#include "ops.h"
#include "sim.h"

enum { SIM_MAX_BLOCK_THREADS = 1024, SIM_DEFAULT_SMEM = 48 << 10 };

struct CUstream_st {
    struct CUstream_st *next;
    double clock_ns; /* virtual time when its last work is done */
};

struct CUevent_st {
    struct CUevent_st *next;
    bool has_timing, recorded;
    double time_ns;
};

/* A kernel that a program asked for. */
struct CUfunc_st {
    struct CUfunc_st *next;
    CUmodule module;
    struct ptx_function *ptx;
    struct code *code;
    bool code_for_check; /* decoded with keep_registers */
    int registers;
    bool registers_exact;   /* from machine code */
    uint64_t static_smem;   /* bytes of static shared memory */
    uint64_t dynamic_align; /* of the .extern .shared arrays, 0 = none used */
    int static_smem_known;  /* machine code's figure, -1 = none */
    int local_bytes;        /* a thread, as ptxas says */
    uint64_t frame_bytes;   /* .local variables of all functions it can reach */
    int max_dynamic_smem;
};

/* A variable of a module, sorted by name. */
struct symbol {
    const char *name;
    uint64_t address, bytes;
};

struct CUmod_st {
    struct CUmod_st *next;
    CUcontext context;
    struct image image;
    struct ptx_module *ptx;
    struct symbol *symbols;
    int symbol_count;
    struct CUfunc_st *functions;
};

struct CUctx_st {
    const struct sim_spec *spec;
    int retained;
    struct device_memory *memory;
    struct CUmod_st *modules;
    struct CUstream_st *streams;
    struct CUevent_st *events;
    double default_clock_ns; /* of the NULL stream */
    int allocations;         /* made so far, for their labels */
    CUresult pending;        /* fault of a launch that no call has told yet */
};

struct sim_state {
    struct sim_options options;
    struct sim_spec *specs;
    struct CUctx_st *contexts; /* one a device */
    CUcontext current;
    bool initialized;
    uint64_t sample_blocks, sample_seed;
    char error[480]; /* sim_last_error */
    char image_name[200];
};
extern struct sim_state sim_state;

/* CUDA_SUCCESS, or what is wrong: no cuInit, no current context. */
CUresult sim_ready(void);
/* Remember the text for sim_last_error; returns `code`. */
CUresult sim_refuse(CUresult code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The fault of an earlier launch, told once. */
CUresult sim_take_pending(CUcontext context);

bool sim_stream_known(CUcontext context, CUstream stream);
/* Work of `ms` on the stream; NULL is the default one, which waits for all others
 * and makes them wait. */
void sim_stream_advance(CUcontext context, CUstream stream, double ms);

void sim_module_destroy(CUmodule module);
/* The function if it is one of the context's, else NULL. */
CUfunction sim_function_find(CUcontext context, CUfunction function);
/* Decode the kernel if that has not been done, for the current checks. */
CUresult sim_function_decode(CUfunction function);
/* Where the dynamic shared memory starts. */
uint64_t sim_function_dynamic_base(const struct CUfunc_st *function);
int sim_function_max_threads(const struct CUfunc_st *function);

/* The functions that a kernel can reach and the shared variables they use. */
struct layout {
    const struct ptx_module *module;
    struct ptx_function **functions;
    int function_count;
    struct ptx_var **vars;
    int var_count, var_room;
};
/* Fill a layout of which only `module` is set; sets function->static_smem and
 * dynamic_align. layout_free in any case. */
CUresult layout_shared(struct CUfunc_st *function, struct layout *layout);
bool layout_find(const struct layout *layout, const char *name, uint64_t *offset);
void layout_free(struct layout *layout);

/* The report names a launch and its sample; gone with a new sim_configure. */
void sim_launch_reset(void);

#define SIM_DECLARE(field, symbol, required, parameters) CUresult sim_##field parameters;
CUDA_FUNCTIONS(SIM_DECLARE)
#undef SIM_DECLARE

#endif
