/* exec.h - inside the simulator: decoded code, the state of warps and blocks,
 * and the events that the executor raises.
 *
 *   decode.c     ptx_function -> struct code (uses the table in ops.h)
 *   ops_*.c      one family of instructions each: rows of the table + executors
 *   run_warp.c   fetch, guard, dispatch, branch, divergence, call
 *   run_block.c  warps of a block, barriers, deadlock
 *   run_grid.c   blocks over host threads, sampling, merging counts
 *   memory.c     allocations, address -> host memory, bounds, alignment
 *   counters.c   listens: sectors, wavefronts, caches
 *   model.c      counters + card -> predicted time
 *
 * Registers. A warp's registers are rows of 32 lanes in one slab of memory:
 * 4 bytes a lane for types up to 32 bits, 8 for 64, 16 for 128. A predicate is
 * one uint32_t, a bit a lane. Constants and special registers that do not
 * change during a launch are rows too, filled before the warp starts, so an
 * executor never asks what kind of operand it has. Values narrower than a lane
 * are kept zero-extended; readers take the low bits.
 */
#ifndef PEAKBOUND_SIM_EXEC_H
#define PEAKBOUND_SIM_EXEC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ptx.h"
#include "sim.h"

enum { LANES = 32, SIM_MAX_SOURCES = 4, SIM_MAX_BARRIERS = 16, SIM_MAX_WARPS = 32 };
#define FULL_MASK 0xffffffffu

/* Address windows. A generic address in none of the last two is global. */
#define SIM_GLOBAL_BASE 0x0000700000000000ull /* first allocation */
#define SIM_SHARED_WINDOW 0x0000010000000000ull
#define SIM_LOCAL_WINDOW 0x0000020000000000ull
#define SIM_WINDOW_BYTES 0x0000000100000000ull
#define SIM_PARAM_WINDOW 0x0000030000000000ull

struct op;
struct warp;

/* Execute one instruction for the lanes in w->mask (never 0). */
typedef void exec_fn(struct warp *w, const struct op *op);

/* What the fetch loop must do itself; everything else is EXEC_PLAIN. */
enum op_kind {
    OP_PLAIN,        /* call fn, go on */
    OP_BRANCH,       /* target */
    OP_BRANCH_TABLE, /* brx.idx */
    OP_EXIT,         /* exit, and ret of an entry function */
    OP_CALL,
    OP_RET,
    OP_BARRIER,   /* bar.sync, barrier.sync, bar.red, bar.arrive */
    OP_WARP_SYNC, /* bar.warp.sync and *.sync instructions: wait for member lanes */
    OP_YIELD,     /* nanosleep, and spin hints */
    OP_CLOCK      /* reads block->clock, which is brought up to date first */
};

/* Which published tensor rate an instruction is held against. */
enum tensor_class {
    TENSOR_F16_ACC32,
    TENSOR_F16_ACC16,
    TENSOR_BF16,
    TENSOR_TF32,
    TENSOR_INT8,
    TENSOR_F64,
    TENSOR_CLASSES
};

/* What a memory instruction orders (PTX ISA, memory consistency model). All but weak
 * ones are strong. */
enum op_order { ORDER_WEAK, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL };
enum op_scope { SCOPE_CTA, SCOPE_GPU, SCOPE_SYS };

/* What an op reads and writes of the values that checks follow: code->value_list
 * [first .. first + reads) and then `writes` more. */
struct value_use {
    exec_fn *fn; /* the executor that the op would have */
    uint32_t first;
    uint8_t reads, writes, rule;
};

struct op {
    exec_fn *fn;
    uint32_t d, d2;              /* destination rows: byte offset into w->rows */
    uint32_t s[SIM_MAX_SOURCES]; /* source rows, byte offsets */
    const uint32_t *list;        /* further rows: vector elements, fragments */
    uint64_t imm;                /* address offset, or what the executor wants */
    const void *extra;           /* family-specific data in the code's arena */
    uint32_t guard;              /* byte offset of the predicate word, or NO_GUARD */
    uint8_t guard_negated;
    uint8_t kind;    /* enum op_kind */
    uint8_t pipe;    /* enum sim_pipe */
    uint8_t space;   /* enum ptx_space of a memory instruction */
    uint8_t width;   /* bytes an element, memory instructions */
    uint8_t count;   /* elements: .v2, .v4, ldmatrix .x4 */
    uint8_t flags;   /* family-specific */
    uint8_t sync;    /* OP_WARP_SYNC: s[] index of the member mask + 1, 0 = all lanes */
    uint8_t tensor;  /* enum tensor_class */
    uint8_t order;   /* enum op_order of a memory instruction or fence */
    uint8_t swaps;   /* compares and swaps: atom.cas */
    uint8_t scope;   /* enum op_scope */
    uint8_t merged;  /* counted as an access of so many bytes, or MERGED_AWAY */
    uint32_t flops;  /* floating-point operations of a full warp */
    uint32_t pc;     /* own index in code->ops */
    uint32_t target; /* branch target */
};
#define NO_GUARD 0xffffffffu
enum { MERGED_AWAY = 255 }; /* another op's count contains it: merge.c */

/* A function ready to run. Immutable during a launch. */
struct code {
    const struct ptx_function *function;
    struct op *ops;
    uint32_t op_count;
    uint32_t frame_bytes;  /* rows of one activation, 64-byte aligned */
    const uint8_t *preset; /* first preset_bytes of a frame: constant rows */
    uint32_t preset_bytes;
    struct sreg_row *sregs; /* special-register rows to fill at warp start */
    uint32_t sreg_count;
    const struct line_info *lines; /* per op */
    uint32_t live_registers;       /* most 32-bit registers live at once: an estimate
                                      of what ptxas needs, when there is no cubin */
    uint32_t max_depth;            /* frames of the deepest call chain, 1 = leaf */
    bool float_atomics;            /* blocks talk to one another (sums of floats, used
                                      results of atomics, volatile loads): the result
                                      depends on their order, so one thread runs them */
    struct code **callees; /* every function of this program; ops name them by index */
    uint32_t callee_count;
    uint32_t base;              /* where its ops begin in the per-op counts of a worker */
    uint32_t total_ops;         /* of the whole program (set in the entry's code) */
    uint32_t param_area;        /* .param variables of the frame begin here */
    struct param_place *places; /* of the .param variables: vars, params, rets */
    struct value_use *uses;     /* per op, if decoded for checks, else NULL */
    uint32_t *value_list, *value_place;
    uint8_t *value_given; /* per value: written by what is not followed */
    uint32_t value_count;
    struct code_chunk *chunks;
};

enum sreg {
    SREG_TID_X,
    SREG_TID_Y,
    SREG_TID_Z,
    SREG_NTID_X,
    SREG_NTID_Y,
    SREG_NTID_Z,
    SREG_CTAID_X,
    SREG_CTAID_Y,
    SREG_CTAID_Z,
    SREG_NCTAID_X,
    SREG_NCTAID_Y,
    SREG_NCTAID_Z,
    SREG_LANEID,
    SREG_WARPID,
    SREG_NWARPID,
    SREG_SMID,
    SREG_NSMID,
    SREG_GRIDID,
    SREG_LANEMASK_EQ,
    SREG_LANEMASK_LT,
    SREG_LANEMASK_LE,
    SREG_LANEMASK_GT,
    SREG_LANEMASK_GE,
    SREG_DYNAMIC_SMEM,
    SREG_TOTAL_SMEM,
    SREG_CLUSTER_ZERO,
    SREG_CLUSTER_ONE,
    SREG_ENVREG1,
    SREG_ENVREG2,
    SREG_COUNT
};

struct sreg_row {
    uint32_t row;
    uint16_t sreg;
    uint8_t bytes; /* 4 or 8 a lane */
};
struct line_info {
    int ptx_line, file, line;
};

/* A group of lanes at one place. Lanes of a warp that go different ways are in
 * different paths; the one with the smallest pc (deepest call first) runs, so
 * that they meet again, and every runnable path gets a turn now and then. */
enum path_state { PATH_RUN, PATH_BARRIER, PATH_WARP_SYNC, PATH_DONE };
struct path {
    uint32_t mask;
    uint32_t pc;
    const struct code *code;
    uint32_t frame;            /* byte offset of the activation in the warp's slab */
    uint32_t depth;            /* call depth */
    struct call_frame *caller; /* return chain, shared between paths */
    uint8_t state;
    uint32_t barrier; /* PATH_BARRIER: which */
    uint32_t used;    /* of its turn, while other paths could run */
};

struct warp {
    /* hot */
    uint8_t *rows; /* current frame: row r of an op is at rows + r */
    uint32_t mask; /* lanes executing now */
    uint32_t pc;   /* of the op executing */
    struct block *block;
    struct worker *worker;
    const struct code *code;
    /* cold */
    uint8_t *slab;   /* all frames */
    uint32_t exited; /* lanes that are gone */
    uint32_t alive;  /* lanes that exist (last warp may be partial) */
    uint32_t index;  /* in the block */
    struct path *paths;
    uint32_t path_count, path_room;
    uint8_t *local;             /* local memory of the 32 lanes, lane by lane */
    uint32_t worked, worked_pc; /* run_mask.c */
};

/* Threads waiting at one of the 16 barriers of a block. */
struct barrier {
    uint32_t expected;            /* threads, 0 = all that live */
    uint32_t arrived;             /* threads that arrived, waiting or not */
    uint32_t red_true;            /* bar.red: threads whose predicate held */
    uint32_t here[SIM_MAX_WARPS]; /* lanes of each warp that arrived */
};

struct block {
    struct launch *launch;
    struct worker *worker;
    unsigned id[3];
    uint64_t linear; /* x + nx * (y + ny * z) */
    uint8_t *shared; /* static + dynamic */
    uint32_t shared_bytes;
    struct warp *warps;
    uint32_t warp_count;
    uint32_t threads;
    uint32_t live;  /* threads that have not left */
    uint64_t steps; /* warp instructions executed */
    uint64_t spent; /* the same, polls counted many times: for the limit */
    uint64_t clock; /* what %clock64 reads: cycles, estimated from the steps */
    struct barrier barriers[SIM_MAX_BARRIERS];
    void *shadow;              /* checks */
    struct async_block *async; /* async.c: copies that have not come, or NULL */
    void *counts;              /* counters.c: caches of this block */
    void *memory;              /* frames, local and shared memory */
    size_t memory_bytes;
    struct block *next; /* idle blocks of a worker */
};

/* One OpenMP thread. Owns scratch memory and its share of the counts. */
struct worker {
    struct launch *launch;
    int index;
    volatile bool stop;       /* the running block has a fault: leave soon */
    uint32_t polls;           /* loads and atomics that may wait for other threads */
    uint64_t *executed;       /* per op of the kernel's linked code: warp executions */
    uint64_t *threads;        /* per op: lanes */
    struct allocation **last; /* per op: allocation that the last access hit */
    uint64_t address[LANES];  /* scratch of memory executors */
    struct sim_counters counters;
    struct run *run;          /* what the workers of a launch share (run.h) */
    struct block *idle;       /* blocks to use again */
    struct link_chunk *links; /* memory of call frames */
    struct call_frame *free_links;
    void *listener[4];
};

/* One warp-level memory access, raised after the bounds check passed and before
 * (stores) or after (loads) the data moved. address[l] is valid for lanes in
 * mask: global addresses, or offsets into shared/local memory; but with
 * PATTERN_UNIFORM and PATTERN_CONSECUTIVE only that of the first lane need be. */
enum access_kind {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
    ACCESS_MATRIX_LOAD,
    ACCESS_MATRIX_STORE,
    ACCESS_ASYNC
};
/* In the flags of an atomic's op, beside OP_BASE32: not red, nor atom to _. */
enum { ATOMIC_RETURNS = 2 };
enum access_pattern {
    PATTERN_ANY,
    PATTERN_UNIFORM,    /* all lanes of the mask: address[first] */
    PATTERN_CONSECUTIVE /* mask is full: address[0] + lane * bytes */
};
struct access {
    const struct op *op;
    uint32_t mask;
    uint16_t bytes; /* a lane, all vector elements together */
    uint8_t space;  /* PTX_GLOBAL, PTX_SHARED or PTX_LOCAL (generic resolved) */
    uint8_t kind;
    uint8_t pattern; /* what the executor already knows of address[] */
    const uint64_t *address;
};

/* A listener is told what happened; it changes nothing. */
struct listener {
    void (*block_begin)(struct block *b);
    void (*access)(struct warp *w, const struct access *a);
    void (*barrier)(struct block *b, uint32_t id);
    void (*block_end)(struct block *b);
};

/* Counts of one op, for --explain, and the access that cost most above its ideal. */
struct op_counts {
    uint64_t requests, cost, ideal;
    uint64_t block;
    uint32_t worst_cost, worst_ideal, mask, bytes, warp;
    bool shared, store;
    uint64_t address[LANES];
};

struct launch {
    const struct code *code;
    const struct sim_spec *spec;
    const char *kernel;
    const char *const *files;
    int file_count;
    const char *module_name;
    unsigned grid[3], dim[3];
    uint32_t static_smem, dynamic_smem;
    const uint8_t *params;
    uint64_t param_bytes;
    struct device_memory *memory;
    uint64_t local_bytes;    /* a thread */
    uint64_t grid_workspace; /* device address, of a cooperative launch */
    bool cooperative;
    bool check;
    bool hw_sums;              /* mma_sums.h */
    struct check *check_state; /* check.c */
    FILE *output;              /* of printf; NULL = stdout */
    uint64_t step_limit;
    const struct listener *listeners[4];
    int listener_count;
    struct sim_fault *faults; /* [max_faults] */
    int fault_count, max_faults;
    uint64_t fault_block;        /* the block that they are from */
    struct op_counts *op_counts; /* [code->total_ops], or NULL */
};

/* Row access. */
static inline uint32_t *row32(const struct warp *w, uint32_t row)
{
    return (uint32_t *)(void *)(w->rows + row);
}
static inline uint64_t *row64(const struct warp *w, uint32_t row)
{
    return (uint64_t *)(void *)(w->rows + row);
}
static inline uint32_t *pred(const struct warp *w, uint32_t row)
{
    return (uint32_t *)(void *)(w->rows + row);
}

/* Source file and line of an op (of the PTX if there is no line information). */
void sim_locate(const struct launch *launch, const struct code *code, uint32_t pc,
                char *file, size_t room, int *line);
/* Record a fault of `lane` of w at its current op and stop the launch. */
void sim_raise(struct warp *w, enum sim_fault_kind kind, int lane, uint64_t address,
               const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
