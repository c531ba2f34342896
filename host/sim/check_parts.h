/* check_parts.h - what the files of the checks share; see check.h.
 *
 * Time. Each warp has a clock that goes on at whatever orders it with others. Thread t
 * knows of thread u the clock up to which u's accesses happened before: the largest of
 * what the last barrier of the block told (barrier[]), the last bar.warp.sync of the
 * whole warp (synced[]), of some lanes (lanes[]), and all else within the block
 * (known[]). Knowledge of other blocks is a list of flags and how many releases at each
 * have been seen (struct knowledge). */
#ifndef PEAKBOUND_SIM_CHECK_PARTS_H
#define PEAKBOUND_SIM_CHECK_PARTS_H

#include "check.h"
#include "shadow.h"

enum {
    LOG_MOST = 1 << 20,
    FLAG_BUCKETS = 1024,
    POISON_ELEMENTS = 8,
    MOST_ORIGINS = 1024,
    PENDING_FLAGS = 4
};

/* The accesses of one op by one warp between two turns of its clock. */
struct entry {
    const struct op *op;
    uint64_t block;
    uint32_t clock;
};
struct access_log {
    struct entry *entries; /* number `first` is entries[0] */
    uint32_t first, next, room;
};

/* What was released at a place of global memory, for threads of other blocks. */
struct flag;
struct knowledge_item {
    struct flag *flag;
    uint32_t releases;
};
struct knowledge {
    struct knowledge_item *items;
    uint32_t count, room;
};
struct release {
    uint64_t block;
    uint32_t warp, lane, clock;      /* of the releasing thread, up to its fence */
    uint32_t barrier[SIM_MAX_WARPS]; /* what all threads of its block knew */
    uint32_t lanes[LANES];           /* what it knew of its warp */
    uint32_t *known;                 /* and of the block, or NULL */
    uint32_t *fences; /* if its fence was before the block's last barrier: how far each
                         thread's own fence came; else NULL */
    struct knowledge others;
};
struct flag {
    struct flag *next;
    uint64_t address;
    struct release *releases;
    uint32_t count, room;
    uint32_t visit, visited; /* of a search */
};

/* The same within a block: the join of all that was released at a place (or mbarrier,
 * or barrier), a clock for each thread. */
struct meeting {
    struct meeting *next;
    uint64_t address;
    uint32_t version;
    uint32_t *clocks; /* [threads] */
    uint32_t *passed; /* mbarrier: those of the phase that ended last */
};

/* A flag that lanes have read in a strong way: known at their next fence. */
struct pending_flag {
    uint64_t address;
    uint32_t lanes;
};

struct check {
    struct launch *launch;
    struct access_log log; /* of global memory: numbers go on from launch to launch */
    uint32_t forgot;       /* times that the log was full */
    struct flag *flags[FLAG_BUCKETS];
    uint32_t search;
    bool block_scope;         /* the program has strong accesses of block scope */
    struct sim_fault pending; /* the first use of an undefined value */
    bool has_pending, pending_global;
    uint64_t pending_block;
};

/* The log entry that an op made last, in each log. Warps whose clocks agree share it. */
struct log_cache {
    uint32_t clock, index;
};

/* Where an undefined value came in: a load, or an op that read a register. */
struct origin {
    const struct op *op;
    uint8_t space; /* PTX_GLOBAL, PTX_SHARED, PTX_LOCAL; PTX_REG: no memory */
    uint64_t address[LANES];
};

struct check_block {
    struct check *check;
    struct block *block;
    uint32_t threads; /* lanes of all warps */
    uint32_t clock[SIM_MAX_WARPS], barrier[SIM_MAX_WARPS], synced[SIM_MAX_WARPS];
    uint32_t *lanes[SIM_MAX_WARPS]; /* [32][32] or NULL: what a lane knows of a lane */
    uint32_t *known;                /* [threads][threads] or NULL */
    uint32_t *fence;                /* [threads]: clock of its last fence */
    uint8_t *fence_scope;           /* [threads] */
    struct knowledge others[SIM_MAX_WARPS], all_others;
    struct meeting *meetings[FLAG_BUCKETS];
    struct meeting barriers[SIM_MAX_BARRIERS]; /* who arrived without waiting */
    struct pending_flag pending[SIM_MAX_WARPS][PENDING_FLAGS];
    uint32_t forgot; /* check->forgot when the cache was filled */
    /* Next entries of the logs (of global, of shared memory) at the block's last barrier,
     * at a warp's last bar.warp.sync, and when its clock went on last: an entry with a
     * smaller number is older. */
    uint32_t barrier_at[2], sync_at[2][SIM_MAX_WARPS], clock_at[2][SIM_MAX_WARPS];
    struct shadow *shadow;   /* of shared memory */
    struct access_log log;   /* of shared memory */
    struct log_cache *cache; /* [total_ops][2]: global, shared */
    /* undefined values */
    uint32_t *defined; /* [warps][value_count]: lanes */
    uint16_t *origin;  /* [warps][value_count]: index in origins, 0 = not known */
    struct origin *origins;
    uint32_t origin_count;
    uint32_t *local;                  /* [warps][local words]: lanes that wrote it */
    uint32_t poison[POISON_ELEMENTS]; /* of the load that runs: undefined lanes */
    bool poisoned, store_poisoned;    /* any of these two */
    uint32_t store_poison[POISON_ELEMENTS];  /* of the store that runs */
    struct origin store_origin, load_origin; /* where that came in */
    uint32_t async_poison;                   /* of the copy that runs */
    uint32_t absent;                         /* of the shuffle that runs */
    uint32_t matrix_loads, matrix_undefined; /* accesses of the op that runs; those of
                                                which nothing was ever written */
};

/* The warp's clock goes on. */
static inline void check_tick(struct check_block *c, uint32_t warp)
{
    c->clock[warp]++;
    c->clock_at[0][warp] = c->check->log.next;
    c->clock_at[1][warp] = c->log.next;
}

static inline struct check_block *check_of(const struct block *b)
{
    return b->shadow;
}

/* --- check.c ---------------------------------------------------------------------------- */

/* The id of op's accesses by warp w now, for lane 0. */
uint32_t check_id(struct check_block *c, struct access_log *log, const struct warp *w,
                  const struct code *code, const struct op *op);
static inline const struct entry *check_entry(const struct access_log *log, uint32_t id)
{
    return &log->entries[((id & CELL_ID) >> CELL_THREAD_BITS) - log->first];
}

/* --- check_order.c ---------------------------------------------------------------------- */

/* Did the access of entry e by thread (warp, lane) happen before what lane `me` of warp
 * `mine` does now? */
bool check_ordered(struct check_block *c, uint32_t mine, uint32_t me,
                   const struct entry *e, uint32_t warp, uint32_t lane);
/* A strong access at a place (generic numbering: shared ones by SIM_SHARED_WINDOW). */
void check_flag_access(struct check_block *c, const struct warp *w,
                       const struct access *a);
void check_order_start(struct check_block *c);
void check_order_free(struct check_block *c);
void check_flags_free(struct check *check);

/* --- check_access.c --------------------------------------------------------------------- */

void check_access(struct warp *w, const struct access *a);
/* Where lane l's access begins; the pattern may stand for the addresses. */
static inline uint64_t check_address(const struct access *a, uint32_t l)
{
    return a->pattern == PATTERN_UNIFORM       ? a->address[0]
           : a->pattern == PATTERN_CONSECUTIVE ? a->address[0] + (uint64_t)l * a->bytes
                                               : a->address[l];
}

/* --- check_values.c --------------------------------------------------------------------- */

void check_values_new(struct check_block *c);
void check_values_start(struct check_block *c);
void check_values_end(struct launch *launch);
/* A load or store of local memory: no races there. */
void check_local(struct check_block *c, struct warp *w, const struct access *a);
/* `lane` uses an undefined value. The fault is kept until the block ends: memory that is
 * not yet written may be a race that shows when it is. */
void check_undefined(struct warp *w, int lane, const struct origin *origin,
                     const char *use);
/* The origin of a load or atomic. */
void check_origin(const struct access *a, struct origin *origin);

#endif
