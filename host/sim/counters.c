/* counters.c - listens to accesses and counts as Nsight Compute does.
 *
 *   field                      metric
 *   global_ld_requests         l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
 *   global_ld_sectors          l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
 *   (st, atom, red alike; local_ld, local_st of mem_local)
 *   shared_ld_wavefronts       l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
 *   (st, atom alike: loads are ld and ldmatrix, stores st and stmatrix)
 *   ldmatrix_requests          smsp__inst_executed_op_ldsm.sum
 *   ldmatrix_wavefronts        smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm
 *   async_requests             smsp__inst_executed_op_ldgsts.sum
 *   async_sectors              sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_*
 *   async_wavefronts           smsp__sass_..._wavefronts_mem_shared_op_ldgsts.sum
 *   shared_ld_wavefronts_ideal memory_l1_wavefronts_shared_ideal
 *   l1_sector_hits             l1tex__t_sector_hit_rate      (modelled)
 *   l2_sectors_read, ..._hits  lts__t_sectors_op_read, lts__t_sector_hit_rate (modelled)
 *   dram_bytes_read, _write    dram__bytes_read, dram__bytes_write            (modelled)
 *
 * Models. L1: each block has its share of the SM's L1 (what shared memory leaves,
 * divided by the resident blocks), direct-mapped lines of 128 bytes with 4 sectors;
 * stores go through. DRAM: a sector is read once if everything that the launch reads
 * fits in L2; beyond that a repeated read hits with the probability L2 / footprint. All
 * of it is independent of the order in which blocks run, so that counts are the same
 * for any number of host threads.
 */
#include "counters.h"

#include <stdlib.h>

#include "memory.h"

enum { MAX_MARKED = 64 };

/* Which sectors of an allocation were touched: a bit each. A kernel's own heap is left
 * out: its blocks come and go. */
struct marks {
    uint64_t address, bytes;
    uint64_t *read, *written;
};

/* Shared by the workers of a launch. */
struct totals {
    struct marks marks[MAX_MARKED];
    int mark_count;
    uint32_t l1_lines; /* a power of two */
};

/* The sectors of an access that was looked up a moment ago. */
struct memo {
    uint64_t sector[LANES];
    uint32_t mask, count;
};

struct line {
    uint64_t tag; /* line address, 0 = empty */
    uint32_t sectors;
};

/* The L1 of one block. Several blocks of a worker may be under way at once. */
enum { MEMOS = 2 };
struct cache {
    struct cache *next; /* idle ones */
    struct memo memo[MEMOS];
    uint32_t turn; /* of the memos */
    struct line lines[];
};

/* A shared-memory access that was counted before: lanes at the same distances from the
 * first one, wherever that is, need as many wavefronts. */
struct shape {
    uint64_t distance[LANES];
    uint32_t mask, bytes, wavefronts, ideal;
};

struct counts {
    struct totals *totals;
    struct sim_counters c;
    struct cache *idle;
    struct op_counts *ops; /* per op, if the launch asks for it */
    struct shape **shapes; /* per op, allocated when it first scatters */
};

/* --- touched sectors ----------------------------------------------------------------- */

static struct marks *known_marks(struct totals *t, uint64_t address)
{
    int count = __atomic_load_n(&t->mark_count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < count; i++)
        if (address - t->marks[i].address < t->marks[i].bytes)
            return &t->marks[i];
    return NULL;
}

static struct marks *find_marks(struct counts *n, struct warp *w, uint64_t address)
{
    struct totals *t = n->totals;
    struct marks *found = known_marks(t, address);
    if (found != NULL)
        return found;
#pragma omp critical(sim_marks)
    {
        found = known_marks(t, address);
        struct allocation *a =
            found == NULL ? memory_find(w->block->launch->memory, address, 1) : NULL;
        if (a != NULL && !a->heap && t->mark_count < MAX_MARKED) {
            size_t words = (size_t)(a->bytes / 32 / 64 + 2);
            found = &t->marks[t->mark_count];
            found->read = xcalloc(words, sizeof *found->read);
            found->written = xcalloc(words, sizeof *found->written);
            found->address = a->address;
            found->bytes = a->bytes;
            __atomic_store_n(&t->mark_count, t->mark_count + 1, __ATOMIC_RELEASE);
        }
    }
    return found;
}

static void mark(struct counts *n, struct warp *w, uint64_t sector, bool write)
{
    struct marks *m = find_marks(n, w, sector << 5);
    if (m == NULL)
        return;
    uint64_t index = sector - (m->address >> 5);
    uint64_t bit = (uint64_t)1 << (index % 64);
    uint64_t *word = &(write ? m->written : m->read)[index / 64];
    if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
        __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

/* --- accounts ------------------------------------------------------------------------- */

/* Sectors that the bytes of the active lanes would fill. */
static uint32_t ideal_sectors(const struct access *a)
{
    uint32_t lanes =
        a->pattern == PATTERN_UNIFORM ? 1 : (uint32_t)__builtin_popcount(a->mask);
    return (lanes * a->bytes + 31) / 32;
}

static void account(struct op_counts *o, const struct warp *w, const struct access *a,
                    uint32_t cost, uint32_t ideal)
{
    ideal = ideal < cost ? ideal : cost; /* lanes may share what they ask for */
    o->requests++;
    o->cost += cost;
    o->ideal += ideal;
    if (o->mask != 0 && cost - ideal <= o->worst_cost - o->worst_ideal)
        return;
    o->worst_cost = cost;
    o->worst_ideal = ideal;
    o->mask = a->mask;
    o->bytes = a->bytes;
    o->warp = w->index;
    o->block = w->block->linear;
    o->shared = a->space == PTX_SHARED;
    o->store = a->kind == ACCESS_STORE || a->kind == ACCESS_MATRIX_STORE ||
               a->kind == ACCESS_ATOMIC || (a->kind == ACCESS_ASYNC && o->shared);
    for (uint32_t l = 0; l < LANES; l++)
        o->address[l] = a->pattern == PATTERN_UNIFORM ? a->address[0]
                        : a->pattern == PATTERN_CONSECUTIVE
                            ? a->address[0] + (uint64_t)l * a->bytes
                            : a->address[l];
}

/* Sum; of the worst accesses the one that costs more, or comes in an earlier block. */
static void add_account(struct op_counts *to, const struct op_counts *from)
{
    uint64_t requests = to->requests + from->requests, cost = to->cost + from->cost,
             ideal = to->ideal + from->ideal;
    uint32_t old = to->worst_cost - to->worst_ideal,
             new = from->worst_cost - from->worst_ideal;
    if (to->mask == 0 || new > old ||
        (new == old && from->mask != 0 && from->block < to->block))
        *to = *from;
    to->requests = requests;
    to->cost = cost;
    to->ideal = ideal;
}

/* --- global ------------------------------------------------------------------------ */

static struct line *l1_line(const struct counts *n, const struct warp *w, uint64_t line)
{
    /* spread rows of a power-of-two stride over the lines */
    struct line *at =
        &((struct cache *)w->block->counts)
             ->lines[(line ^ line >> 7 ^ line >> 13) & (n->totals->l1_lines - 1)];
    if (at->tag != line) {
        at->tag = line;
        at->sectors = 0;
    }
    return at;
}

/* Sectors first to last, one after the other: a line at a time. */
static void l1_load_range(struct counts *n, struct warp *w, uint64_t first, uint64_t last)
{
    uint32_t hits = 0, count = (uint32_t)(last - first + 1);
    for (uint64_t line = first >> 2; line <= last >> 2; line++) {
        uint32_t wanted = 15;
        if (line == first >> 2)
            wanted &= 15u << (first & 3);
        if (line == last >> 2)
            wanted &= 15u >> (3 - (last & 3));
        struct line *at = l1_line(n, w, line);
        hits += (uint32_t)__builtin_popcount(wanted & at->sectors);
        for (uint32_t missing = wanted & ~at->sectors; missing; missing &= missing - 1)
            mark(n, w, line << 2 | (uint64_t)__builtin_ctz(missing), false);
        at->sectors |= wanted;
    }
    n->c.l1_sectors += count;
    n->c.l1_sector_hits += hits;
    n->c.l2_sectors_read += count - hits;
}

/* Look the sectors up in the block's L1; those not there are read from L2. */
static void l1_load(struct counts *n, struct warp *w, const uint64_t *sector,
                    uint32_t count)
{
    uint32_t hits = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit = 1u << (sector[i] & 3);
        struct line *at = l1_line(n, w, sector[i] >> 2);
        if (at->sectors & bit) {
            hits++;
        } else {
            at->sectors |= bit;
            mark(n, w, sector[i], false);
        }
    }
    n->c.l1_sectors += count;
    n->c.l1_sector_hits += hits;
    n->c.l2_sectors_read += count - hits;
}

static uint32_t piece_sectors(const struct access *a, uint64_t *sector)
{
    if (a->pattern == PATTERN_UNIFORM) {
        sector[0] = a->address[__builtin_ctz(a->mask)] >> 5;
        return 1;
    }
    if (a->pattern == PATTERN_CONSECUTIVE) {
        uint64_t first = a->address[0] >> 5;
        uint64_t last = (a->address[0] + (uint64_t)a->bytes * LANES - 1) >> 5;
        for (uint64_t s = first; s <= last; s++)
            sector[s - first] = s;
        return (uint32_t)(last - first + 1);
    }
    uint64_t lane_sector[LANES];
    for (int l = 0; l < LANES; l++)
        lane_sector[l] = a->address[l] >> 5;
    return count_distinct(lane_sector, a->mask, sector);
}

static bool same_sectors(const struct memo *memo, const struct access *a)
{
    if (memo->mask != a->mask)
        return false;
    uint64_t differ = 0;
    if (a->mask == FULL_MASK) {
        for (int l = 0; l < LANES; l++)
            differ |= memo->sector[l] ^ a->address[l] >> 5;
        return differ == 0;
    }
    /* addresses of lanes that are off are left over from earlier accesses */
    for (uint32_t left = a->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        differ |= memo->sector[l] ^ a->address[l] >> 5;
    }
    return differ == 0;
}

/* Lanes all over the place. Loads of the same sectors follow one another (a[k], a[k + 1],
 * ...): if they are those of one of the last accesses, they hit and need no look-up. */
static uint32_t scattered_load(struct counts *n, struct warp *w, const struct access *a)
{
    struct cache *cache = w->block->counts;
    uint64_t sector[LANES];
    for (uint32_t i = 1; i <= MEMOS; i++) {
        const struct memo *memo = &cache->memo[(cache->turn - i) % MEMOS];
        if (!same_sectors(memo, a))
            continue;
        n->c.l1_sectors += memo->count;
        n->c.l1_sector_hits += memo->count;
        return memo->count;
    }
    struct memo *memo = &cache->memo[cache->turn++ % MEMOS];
    for (int l = 0; l < LANES; l++)
        memo->sector[l] = a->address[l] >> 5;
    memo->mask = a->mask;
    memo->count = count_distinct(memo->sector, a->mask, sector);
    l1_load(n, w, sector, memo->count);
    return memo->count;
}

static void global_load(struct counts *n, struct warp *w, const struct access *a,
                        uint32_t index)
{
    uint32_t count;
    if (a->pattern != PATTERN_ANY) {
        uint64_t from = a->address[__builtin_ctz(a->mask)];
        uint64_t bytes = a->pattern == PATTERN_UNIFORM ? 1 : (uint64_t)a->bytes * LANES;
        uint64_t first = from >> 5, last = (from + bytes - 1) >> 5;
        count = (uint32_t)(last - first + 1);
        l1_load_range(n, w, first, last);
    } else {
        count = scattered_load(n, w, a);
    }
    if (a->kind == ACCESS_ASYNC) {
        n->c.async_sectors += count; /* shared memory sees each instruction, and once */
    } else {
        n->c.global_ld_requests++;
        n->c.global_ld_sectors += count;
    }
    if (n->ops != NULL)
        account(&n->ops[index], w, a, count, ideal_sectors(a));
}

static void global_write(struct counts *n, struct warp *w, const struct access *a,
                         uint32_t index)
{
    uint64_t sector[2 * LANES + 2];
    uint32_t count = piece_sectors(a, sector);
    for (uint32_t i = 0; i < count; i++) {
        mark(n, w, sector[i], true);
        if (a->kind == ACCESS_ATOMIC)
            mark(n, w, sector[i], false);
    }
    if (a->kind == ACCESS_ATOMIC && a->op->flags & ATOMIC_RETURNS) {
        n->c.global_atom_requests++;
        n->c.global_atom_sectors += count;
    } else if (a->kind == ACCESS_ATOMIC) {
        n->c.global_red_requests++;
        n->c.global_red_sectors += count;
    } else {
        n->c.global_st_requests++;
        n->c.global_st_sectors += count;
    }
    n->c.l2_sectors_write += count;
    if (n->ops != NULL)
        account(&n->ops[index], w, a, count, ideal_sectors(a));
}

/* --- shared ------------------------------------------------------------------------ */

static const struct shape *find_shape(struct counts *n, const struct access *a,
                                      uint32_t index)
{
    struct shape *shape = n->shapes[index];
    uint64_t first = a->address[__builtin_ctz(a->mask)], differ = 0;
    if (shape == NULL)
        shape = n->shapes[index] = xcalloc(1, sizeof *shape);
    for (int l = 0; l < LANES; l++)
        differ |= shape->distance[l] ^ (a->address[l] - first);
    if (differ != 0 || shape->mask != a->mask || shape->bytes != a->bytes) {
        for (int l = 0; l < LANES; l++)
            shape->distance[l] = a->address[l] - first;
        shape->mask = a->mask;
        shape->bytes = a->bytes;
        shape->wavefronts = count_wavefronts(a->address, a->mask, a->bytes,
                                             a->kind == ACCESS_LOAD, &shape->ideal);
    }
    return shape;
}

/* Wavefronts if all active lanes want the same place: one for each phase that has any. */
static uint32_t uniform_wavefronts(const struct access *a, uint32_t words)
{
    uint32_t lanes = LANES / words, phases = 0;
    if (a->kind == ACCESS_LOAD && words > 1)
        lanes *= 2;
    uint32_t group = FULL_MASK >> (LANES - lanes);
    for (uint32_t first = 0; first < LANES; first += lanes)
        phases += (a->mask >> first & group) != 0;
    return phases;
}

static void add_shared(struct sim_counters *c, enum access_kind kind, uint32_t wavefronts,
                       uint32_t ideal)
{
    switch (kind) {
    case ACCESS_MATRIX_LOAD:
        c->ldmatrix_requests++;
        c->ldmatrix_wavefronts += wavefronts;
        c->ldmatrix_wavefronts_ideal += ideal;
        /* fall through */
    case ACCESS_LOAD:
        c->shared_ld_requests++;
        c->shared_ld_wavefronts += wavefronts;
        c->shared_ld_wavefronts_ideal += ideal;
        break;
    case ACCESS_ATOMIC:
        c->shared_atom_requests++;
        c->shared_atom_wavefronts += wavefronts;
        c->shared_atom_wavefronts_ideal += ideal;
        break;
    case ACCESS_ASYNC:
        c->async_requests++;
        c->async_wavefronts += wavefronts;
        c->async_wavefronts_ideal += ideal;
        break;
    case ACCESS_STORE:
    case ACCESS_MATRIX_STORE:
        c->shared_st_requests++;
        c->shared_st_wavefronts += wavefronts;
        c->shared_st_wavefronts_ideal += ideal;
        break;
    }
}

/* An access that stands for its neighbours too (merge.c): as wide as all of them. */
static struct access widen(const struct access *a, uint64_t *address)
{
    struct access wide = *a;
    uint64_t window = ~(uint64_t)(a->op->merged - 1);
    wide.bytes = a->op->merged;
    for (int l = 0; l < LANES; l++)
        if (a->pattern != PATTERN_UNIFORM || l == __builtin_ctz(a->mask))
            address[l] = a->address[l] & window;
    wide.address = address;
    return wide;
}

static void shared_access(struct counts *n, const struct warp *w, const struct access *a,
                          uint32_t index)
{
    uint64_t address[LANES];
    struct access wide;
    uint32_t wavefronts, ideal;
    if (a->op->merged == MERGED_AWAY) {
        n->c.shared_merged++;
        return;
    }
    if (a->op->merged != 0 && a->pattern != PATTERN_CONSECUTIVE) {
        wide = widen(a, address);
        a = &wide;
    }
    uint32_t words = a->bytes <= 4 ? 1 : a->bytes / 4u;
    if (a->pattern == PATTERN_CONSECUTIVE) {
        wavefronts = ideal = words;
    } else if (a->pattern == PATTERN_UNIFORM) {
        wavefronts = ideal = uniform_wavefronts(a, words);
    } else {
        const struct shape *shape = find_shape(n, a, index);
        wavefronts = shape->wavefronts;
        ideal = shape->ideal;
    }
    add_shared(&n->c, (enum access_kind)a->kind, wavefronts, ideal);
    if (n->ops != NULL)
        account(&n->ops[index], w, a, wavefronts, ideal);
}

/* --- events ------------------------------------------------------------------------ */

static void on_access(struct warp *w, const struct access *a)
{
    struct counts *n = w->worker->listener[0];
    uint32_t index = w->code->base + w->pc;
    if (a->space == PTX_SHARED) {
        shared_access(n, w, a, index);
    } else if (a->space == PTX_LOCAL) {
        /* the hardware interleaves lanes word by word: a warp's access is coalesced */
        uint32_t sectors = a->bytes > 4 ? a->bytes : 4;
        if (a->kind == ACCESS_LOAD) {
            n->c.local_ld_requests++;
            n->c.local_ld_sectors += sectors;
        } else {
            n->c.local_st_requests++;
            n->c.local_st_sectors += sectors;
        }
    } else if (a->kind == ACCESS_LOAD || a->kind == ACCESS_MATRIX_LOAD ||
               a->kind == ACCESS_ASYNC) {
        global_load(n, w, a, index);
    } else {
        global_write(n, w, a, index);
    }
}

static void on_block_begin(struct block *b)
{
    struct counts *n = b->worker->listener[0];
    struct cache *cache = n->idle;
    size_t lines = n->totals->l1_lines * sizeof *cache->lines;
    if (cache != NULL)
        n->idle = cache->next;
    else
        cache = xmalloc(sizeof *cache + lines);
    memset(cache, 0, sizeof *cache + lines);
    b->counts = cache;
}

static void on_block_end(struct block *b)
{
    struct counts *n = b->worker->listener[0];
    struct cache *cache = b->counts;
    cache->next = n->idle;
    n->idle = cache;
    b->counts = NULL;
}

const struct listener counters_listener = {
    .block_begin = on_block_begin, .access = on_access, .block_end = on_block_end};

/* --- launch ------------------------------------------------------------------------ */

static uint32_t l1_lines(const struct launch *launch)
{
    uint64_t shared = (uint64_t)launch->static_smem + launch->dynamic_smem + 1024;
    uint32_t threads = launch->dim[0] * launch->dim[1] * launch->dim[2];
    uint64_t resident = (uint64_t)launch->spec->max_threads_sm / (threads ? threads : 1);
    if (resident > (uint64_t)launch->spec->max_blocks_sm)
        resident = (uint64_t)launch->spec->max_blocks_sm;
    if (resident > (uint64_t)launch->spec->smem_bytes_sm / shared)
        resident = (uint64_t)launch->spec->smem_bytes_sm / shared;
    resident = resident > 0 ? resident : 1;
    int64_t left = launch->spec->l1_bytes_sm - (int64_t)(resident * shared);
    uint64_t bytes = (uint64_t)(left > 16384 ? left : 16384) / resident;
    uint32_t lines = 16;
    while ((uint64_t)lines * 2 * 128 <= bytes)
        lines *= 2;
    return lines;
}

bool counters_begin(struct launch *launch, struct worker *workers, int worker_count)
{
    bool wanted = false;
    for (int i = 0; i < launch->listener_count; i++)
        wanted |= launch->listeners[i] == &counters_listener;
    if (!wanted)
        return false;
    struct totals *totals = xcalloc(1, sizeof *totals);
    totals->l1_lines = l1_lines(launch);
    size_t ops = (size_t)launch->code->total_ops + 1;
    for (int i = 0; i < worker_count; i++) {
        struct counts *n = xcalloc(1, sizeof *n);
        n->totals = totals;
        if (launch->op_counts != NULL)
            n->ops = xcalloc(ops, sizeof *n->ops);
        n->shapes = xcalloc(ops, sizeof(*n->shapes));
        workers[i].listener[0] = n;
    }
    return true;
}

static void add_counters(struct sim_counters *to, const struct sim_counters *from)
{
    /* all fields are uint64_t */
    uint64_t *sum = (uint64_t *)(void *)to;
    const uint64_t *more = (const uint64_t *)(const void *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++)
        sum[i] += more[i];
}

static uint64_t count_marks(const uint64_t *bits, uint64_t bytes)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < bytes / 32 / 64 + 1; i++)
        count += (uint64_t)__builtin_popcountll(bits[i]);
    return count;
}

/* Sectors that DRAM must give, and L2 hits. `scale`: blocks of the grid for one that
 * ran; a footprint grows with it up to the size of the buffers. */
static void dram_model(const struct launch *launch, const struct totals *t, double scale,
                       struct sim_counters *c)
{
    double unique_read = 0, unique_written = 0;
    for (int i = 0; i < t->mark_count; i++) {
        const struct marks *m = &t->marks[i];
        double whole = (double)m->bytes / 32 + 1;
        double read = scale * (double)count_marks(m->read, m->bytes);
        double written = scale * (double)count_marks(m->written, m->bytes);
        unique_read += read < whole ? read : whole;
        unique_written += written < whole ? written : whole;
    }
    unique_read /= scale;
    unique_written /= scale;
    double reads = (double)c->l2_sectors_read;
    double again = reads > unique_read ? reads - unique_read : 0;
    double footprint = unique_read * scale * 32, l2 = (double)launch->spec->l2_bytes;
    double miss = footprint > l2 && footprint > 0 ? 1 - l2 / footprint : 0;
    c->dram_bytes_read = (uint64_t)((unique_read + again * miss) * 32);
    c->dram_bytes_write = (uint64_t)(unique_written * 32);
    c->l2_sector_hits = (uint64_t)(again * (1 - miss));
}

void counters_end(struct launch *launch, struct worker *workers, int worker_count,
                  uint64_t blocks_run, struct sim_counters *total)
{
    struct totals *totals = ((struct counts *)workers[0].listener[0])->totals;
    double grid = (double)launch->grid[0] * launch->grid[1] * launch->grid[2];
    for (int i = 0; i < worker_count; i++) {
        struct counts *n = workers[i].listener[0];
        add_counters(total, &n->c);
        for (uint32_t k = 0; n->ops != NULL && k < launch->code->total_ops; k++)
            add_account(&launch->op_counts[k], &n->ops[k]);
        while (n->idle != NULL) {
            struct cache *next = n->idle->next;
            free(n->idle);
            n->idle = next;
        }
        for (uint32_t k = 0; k < launch->code->total_ops; k++)
            free(n->shapes[k]);
        free(n->shapes);
        free(n->ops);
        free(n);
        workers[i].listener[0] = NULL;
    }
    dram_model(launch, totals, blocks_run > 0 ? grid / (double)blocks_run : 1, total);
    for (int i = 0; i < totals->mark_count; i++) {
        free(totals->marks[i].read);
        free(totals->marks[i].written);
    }
    free(totals);
}
