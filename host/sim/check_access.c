/* check_access.c - each access against the latest write and read of its cells: a race, or
 * memory that was never written; see check.h. */
#include "check_parts.h"

#include <stdio.h>

#include "memory.h"

/* The access under way. Ids below `floor` need no look before a write mark is passed:
 * what they name is ordered. The others tell it of reads (mark_read). */
struct scan {
    struct warp *w;
    const struct access *a;
    struct check_block *c;
    struct access_log *log;
    struct shadow *s;
    uint8_t *host;   /* the memory behind the shadow */
    uint32_t id;     /* of lane 0 */
    uint32_t strong; /* CELL_STRONG or 0 */
    uint32_t never;  /* lanes that met a cell which was never written */
    bool shared, exact;
    int32_t floor, read_floor, sync_floor, clock_floor;
};

/* --- messages --------------------------------------------------------------------------- */

static const char *verb(uint8_t kind)
{
    return kind == ACCESS_LOAD || kind == ACCESS_MATRIX_LOAD ? "load"
           : kind == ACCESS_ATOMIC                           ? "atomic"
           : kind == ACCESS_ASYNC                            ? "asynchronous copy"
                                                             : "store";
}

static void other_thread(const struct scan *x, const struct entry *e, uint32_t id,
                         char *text, size_t room)
{
    const struct launch *launch = x->c->block->launch;
    uint32_t t = id & CELL_THREAD, nx = launch->dim[0], ny = launch->dim[1];
    char where[80], block[64] = "";
    check_where(launch, e->op, where, sizeof where);
    if (e->block != x->c->block->linear)
        snprintf(block, sizeof block, " of block %llu", (unsigned long long)e->block);
    snprintf(text, room, "thread (%u,%u,%u)%s at %s", t % nx, t / nx % ny, t / nx / ny,
             block, where);
}

/* Lane's access and an earlier one are without order. `id` 0: nobody knows whose. */
static void raise_race(const struct scan *x, uint32_t lane, uint32_t id, bool wrote)
{
    char who[192] = "other threads, as did this one,";
    const char *what = wrote ? "wrote" : "read";
    if (id != 0)
        other_thread(x, check_entry(x->log, id), id, who, sizeof who);
    uint64_t address = check_address(x->a, lane);
    sim_raise(x->w, x->shared ? SIM_RACE_SHARED : SIM_RACE_GLOBAL, (int)lane, address,
              "%s of %u bytes at %s address 0x%llx, which %s %s: nothing orders the two",
              verb(x->a->kind), x->a->bytes, x->shared ? "shared" : "global",
              (unsigned long long)address, who, what);
}

/* --- order ------------------------------------------------------------------------------- */

/* Are both strong, in scopes that hold both threads? */
static bool both_strong(const struct scan *x, uint32_t mark, const struct entry *e)
{
    if (!(x->strong & mark & CELL_STRONG))
        return false;
    return !x->c->check->block_scope || e->block == x->c->block->linear ||
           (e->op->scope != SCOPE_CTA && x->a->op->scope != SCOPE_CTA);
}

static bool is_ordered(const struct scan *x, uint32_t lane, uint32_t mark)
{
    const struct entry *e = check_entry(x->log, mark);
    return both_strong(x, mark, e) ||
           check_ordered(x->c, x->w->index, lane, e,
                         (mark & CELL_THREAD) >> CELL_LANE_BITS, mark & (LANES - 1));
}

static inline bool same_thread(uint32_t a, uint32_t b)
{
    return ((a ^ b) & CELL_THREAD) == 0;
}

static bool is_mine(const struct scan *x, uint32_t lane, uint32_t id)
{
    return same_thread(id, x->id | lane) &&
           check_entry(x->log, id)->block == x->c->block->linear;
}

/* The read mark after `me` read too: MANY if the read before was another thread's, of
 * this block, and is without order. Entries tell time well enough as long as only
 * barriers and whole warps' bar.warp.sync give order. */
static inline uint32_t mark_read(const struct scan *x, uint32_t old, uint32_t me)
{
    int32_t id = (int32_t)(old & CELL_ID);
    uint32_t other = (uint32_t)id ^ me;
    if (id < x->read_floor)
        return me;
    if ((other & CELL_THREAD) == 0)
        return me | (id >= x->clock_floor ? old & CELL_MANY : 0);
    return (other & CELL_THREAD) < LANES && id < x->sync_floor ? me : me | CELL_MANY;
}

/* The same where threads order one another in other ways too. */
static uint32_t mark_read_exact(const struct scan *x, uint32_t old, uint32_t lane)
{
    uint32_t me = x->id | lane, id = old & CELL_ID;
    if ((int32_t)id < x->floor)
        return me;
    const struct entry *e = check_entry(x->log, id);
    if (e->block != x->c->block->linear)
        return me;
    if (same_thread(id, me))
        return me | (e->clock == x->c->clock[x->w->index] ? old & CELL_MANY : 0);
    return is_ordered(x, lane, id) ? me : me | CELL_MANY;
}

/* --- parts of words ----------------------------------------------------------------------- */

enum { WORD_BYTES = 1 << CELL_SHIFT, WHOLE = (1 << WORD_BYTES) - 1 };

/* The bytes of a cell, as bits, that an access of lane's covers. */
static uint32_t covered(const struct scan *x, uint64_t cell, uint64_t offset)
{
    uint64_t begin = cell << CELL_SHIFT, end = offset + x->a->bytes;
    uint32_t bits = WHOLE;
    if (begin < offset)
        bits &= (uint32_t)WHOLE << (offset - begin);
    if (end < begin + WORD_BYTES)
        bits &= (uint32_t)WHOLE >> (begin + WORD_BYTES - end);
    return bits & WHOLE;
}

/* Did the latest write (or read) of the cell cover one of these bytes? */
static bool meets_write(const struct scan *x, uint64_t cell, uint32_t bytes)
{
    return x->s->missing == NULL || (bytes & ~(uint32_t)x->s->missing[cell]) != 0;
}

static bool meets_read(const struct scan *x, uint64_t cell, uint32_t bytes)
{
    return x->s->missing == NULL ||
           (bytes & ~((uint32_t)x->s->missing[cell] >> WORD_BYTES)) != 0;
}

static void note_read(const struct scan *x, uint64_t cell, uint32_t bytes)
{
    uint8_t *missing = x->s->missing;
    if (missing != NULL)
        missing[cell] =
            (uint8_t)((missing[cell] & WHOLE) | (WHOLE & ~bytes) << WORD_BYTES);
}

static void note_write(const struct scan *x, uint64_t cell, uint32_t bytes)
{
    if (x->s->missing != NULL)
        x->s->missing[cell] = (uint8_t)(WHOLE & ~bytes);
}

/* --- loads -------------------------------------------------------------------------------- */

static bool load_cell(struct scan *x, uint64_t cell, uint32_t lane, uint64_t offset,
                      uint32_t many)
{
    uint32_t write = x->s->write[cell], id = write & CELL_ID, me = x->id | lane,
             bytes = covered(x, cell, offset);
    if ((int32_t)id >= x->floor && !(x->shared && same_thread(id, me)) &&
        meets_write(x, cell, bytes) && !is_ordered(x, lane, write) &&
        !check_entry(x->log, id)->op->swaps) {
        raise_race(x, lane, write, true);
        return false;
    }
    uint32_t old = x->s->read[cell];
    x->s->read[cell] =
        (x->exact ? mark_read_exact(x, old, lane) : mark_read(x, old, me)) | many |
        x->strong;
    note_read(x, cell, bytes);
    return true;
}

/* What other lanes have read by the same op, at the same time, needs no second look. */
static inline bool load_lane(struct scan *x, uint32_t lane, uint64_t offset,
                             uint32_t many)
{
    const uint32_t *write = x->s->write;
    uint32_t *read = x->s->read, init = CELL_INIT;
    uint64_t last = (offset + x->a->bytes - 1) >> CELL_SHIFT;
    for (uint64_t cell = offset >> CELL_SHIFT; cell <= last; cell++) {
        init &= write[cell];
        uint32_t other = (read[cell] ^ x->id) & CELL_ID;
        if (other < LANES && x->s->missing == NULL && (!x->exact || other == lane))
            read[cell] |= other != lane ? CELL_MANY : many;
        else if (!load_cell(x, cell, lane, offset, many))
            return false;
    }
    x->never |= (uint32_t)(init == 0) << lane;
    return true;
}

/* The quick way for lanes that read whole cells anywhere. Returns the lanes that need a
 * closer look. */
static uint32_t load_any(struct scan *x, uint32_t lanes, uint64_t base)
{
    const struct scan y = *x;
    uint64_t cells = y.a->bytes >> CELL_SHIFT;
    const uint32_t *writes = y.s->write;
    uint32_t *reads = y.s->read, never = 0, later = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), init = CELL_INIT, me = y.id | l;
        uint64_t first = (y.a->address[l] - base) >> CELL_SHIFT;
        for (uint64_t cell = first; cell < first + cells; cell++) {
            uint32_t write = writes[cell], old = reads[cell],
                     other = (old ^ y.id) & CELL_ID;
            init &= write;
            if (other < LANES) {
                reads[cell] = old | (other != l ? CELL_MANY : 0);
            } else if ((int32_t)(write & CELL_ID) < y.floor ||
                       (y.shared && same_thread(write, me))) {
                reads[cell] = mark_read(&y, old, me) | y.strong;
            } else {
                later |= 1u << l;
                break;
            }
        }
        never |= (uint32_t)(init == 0) << l;
    }
    x->never |= never & ~later;
    return later;
}

/* Four cells at a time, for a warp whose lanes read one place after the other. */
typedef int32_t cells4 __attribute__((vector_size(16), may_alias, aligned(4)));

static inline bool any4(cells4 v)
{
    int64_t half[2];
    memcpy(half, &v, sizeof half);
    return (half[0] | half[1]) != 0;
}

/* Lane numbers of cells i to i + 3, if each lane has 1 << per of them. */
static inline cells4 lanes4(uint32_t i, uint32_t per)
{
    int32_t l = (int32_t)i;
    return (cells4){l, l + 1, l + 2, l + 3} >> (int32_t)per;
}

/* Whole warp, consecutive, whole cells: false (and nothing done) if some cell needs a
 * closer look. */
static bool load_run(struct scan *x, uint64_t first, uint32_t per)
{
    cells4 zero = {0}, bad = zero, init = ~zero, all = zero + (int32_t)x->id;
    cells4 floor = zero + x->floor, id_bits = zero + (int32_t)CELL_ID,
           thread = zero + (int32_t)CELL_THREAD;
    uint32_t count = LANES << per;
    for (uint32_t i = 0; i < count; i += 4) {
        cells4 write = *(const cells4 *)(x->s->write + first + i);
        cells4 other = (write ^ (all | lanes4(i, per))) & thread;
        bad |= ((write & id_bits) >= floor) & ((other != 0) | (x->shared ? zero : ~zero));
        init &= write;
    }
    if (any4(bad) || (any4(init >= 0) && !x->s->all_init))
        return false;
    cells4 read_floor = zero + x->read_floor, sync_floor = zero + x->sync_floor,
           clock_floor = zero + x->clock_floor, many = zero + (int32_t)CELL_MANY;
    for (uint32_t i = 0; i < count; i += 4) {
        cells4 *at = (cells4 *)(x->s->read + first + i), old = *at;
        cells4 me = all | lanes4(i, per), id = old & id_bits, other = (id ^ me) & thread;
        cells4 keep = (other == 0) & (id >= clock_floor) & old;
        cells4 news = (other != 0) & ~((other < LANES) & (id < sync_floor));
        *at = me | (int32_t)x->strong | ((id >= read_floor) & (keep | news) & many);
    }
    return true;
}

/* --- stores ------------------------------------------------------------------------------- */

static bool is_plain_store(const struct scan *x)
{
    const char *base = x->w->code->function->insns[x->a->op->pc].base;
    return x->a->kind == ACCESS_STORE && strcmp(base, "st") == 0;
}

/* Bytes [at, at + count) of what a lane stores. */
static void stored_bytes(const struct scan *x, uint32_t lane, uint32_t at, uint32_t count,
                         uint8_t *to)
{
    const struct op *op = x->a->op;
    const uint8_t *lane_bytes = op->extra;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t element = (at + i) / op->width;
        to[i] = x->w->rows[op->list[element] + (size_t)lane * lane_bytes[element] +
                           (at + i) % op->width];
    }
}

/* Does the lane write what is there already, or what the other lane of the same store
 * writes? */
static bool same_value(const struct scan *x, uint32_t lane, uint64_t offset,
                       uint64_t cell, uint32_t other)
{
    uint64_t begin = cell << CELL_SHIFT, end = begin + ((uint64_t)1 << CELL_SHIFT);
    uint8_t mine[4], theirs[4];
    if (!is_plain_store(x))
        return false;
    begin = begin > offset ? begin : offset;
    end = end < offset + x->a->bytes ? end : offset + x->a->bytes;
    uint32_t count = (uint32_t)(end - begin);
    stored_bytes(x, lane, (uint32_t)(begin - offset), count, mine);
    if (memcmp(mine, x->host + begin, count) == 0)
        return true;
    if (((other ^ x->id) & CELL_ID) >> CELL_LANE_BITS != 0)
        return false;
    uint64_t first = begin - (check_address(x->a, other & (LANES - 1)) -
                              check_address(x->a, lane) + offset);
    if (first + count > x->a->bytes)
        return false;
    stored_bytes(x, other & (LANES - 1), (uint32_t)first, count, theirs);
    return memcmp(mine, theirs, count) == 0;
}

static bool store_over_write(struct scan *x, uint64_t cell, uint32_t lane,
                             uint64_t offset)
{
    uint32_t write = x->s->write[cell];
    if (is_ordered(x, lane, write) || same_value(x, lane, offset, cell, write & CELL_ID))
        return true;
    raise_race(x, lane, write & CELL_ID, true);
    return false;
}

static bool store_over_read(struct scan *x, uint64_t cell, uint32_t lane)
{
    uint32_t read = x->s->read[cell], id = read & CELL_ID;
    const struct entry *e = check_entry(x->log, id);
    bool mine = is_mine(x, lane, id);
    if (x->a->op->swaps)
        return true;
    if (mine && (read & CELL_MANY) && x->s->missing == NULL && !both_strong(x, read, e) &&
        e->clock == x->c->clock[x->w->index]) {
        raise_race(x, lane, 0, false);
        return false;
    }
    if (mine || is_ordered(x, lane, read))
        return true;
    raise_race(x, lane, id, false);
    return false;
}

/* The lanes whose bytes of this cell are undefined: the poison of the element. */
static uint32_t stored_poison(const struct scan *x, uint64_t offset, uint64_t cell)
{
    const struct op *op = x->a->op;
    if (x->a->kind == ACCESS_ASYNC)
        return x->c->async_poison;
    if (x->a->kind != ACCESS_STORE || op->width == 0)
        return 0;
    uint64_t begin = cell << CELL_SHIFT;
    uint64_t element = begin > offset ? (begin - offset) / op->width : 0;
    return element < POISON_ELEMENTS ? x->c->store_poison[element] : 0;
}

static bool store_lane(struct scan *x, uint32_t lane, uint64_t offset)
{
    uint64_t last = (offset + x->a->bytes - 1) >> CELL_SHIFT;
    for (uint64_t cell = offset >> CELL_SHIFT; cell <= last; cell++) {
        uint32_t *write = &x->s->write[cell], *read = &x->s->read[cell];
        x->never |= (uint32_t)(*write < CELL_INIT) << lane;
        uint32_t bytes = covered(x, cell, offset);
        if ((int32_t)(*write & CELL_ID) >= x->floor && meets_write(x, cell, bytes) &&
            !store_over_write(x, cell, lane, offset))
            return false;
        if ((int32_t)(*read & CELL_ID) >= x->floor && meets_read(x, cell, bytes) &&
            !store_over_read(x, cell, lane))
            return false;
        uint32_t poisoned = stored_poison(x, offset, cell) >> lane & 1;
        *write = x->id | lane | x->strong | (poisoned ? 0 : CELL_INIT);
        *read = 0;
        note_write(x, cell, bytes);
    }
    return true;
}

/* As load_run. */
static bool store_run(struct scan *x, uint64_t first, uint32_t per)
{
    cells4 zero = {0}, bad = zero, floor = zero + x->floor,
           id_bits = zero + (int32_t)CELL_ID, init = zero + (int32_t)CELL_INIT;
    uint32_t count = LANES << per;
    if (x->a->kind == ACCESS_ATOMIC || x->c->store_poisoned || x->c->async_poison != 0)
        return false;
    for (uint32_t i = 0; i < count; i += 4)
        bad |= ((*(const cells4 *)(x->s->write + first + i) & id_bits) >= floor) |
               ((*(const cells4 *)(x->s->read + first + i) & id_bits) >= floor);
    if (any4(bad))
        return false;
    for (uint32_t i = 0; i < count; i += 4) {
        *(cells4 *)(x->s->write + first + i) =
            init | (int32_t)(x->id | x->strong) | lanes4(i, per);
        *(cells4 *)(x->s->read + first + i) = zero;
    }
    return true;
}

/* --- undefined memory --------------------------------------------------------------------- */

static bool never_written(const struct scan *x, uint64_t offset, uint32_t bytes)
{
    for (uint64_t i = offset >> CELL_SHIFT; i <= (offset + bytes - 1) >> CELL_SHIFT; i++)
        if (x->s->write[i] & CELL_INIT)
            return false;
    return bytes > 0;
}

/* A load met cells that nobody wrote: note which elements of which lanes are undefined.
 * One is if no part of it was ever written. */
static void note_poison(struct scan *x, uint64_t base)
{
    const struct op *op = x->a->op;
    struct check_block *c = x->c;
    uint32_t whole = 0;
    bool followed = x->w->code == c->block->launch->code;
    bool plain = followed && x->a->kind == ACCESS_LOAD && op->width > 0 &&
                 (uint32_t)op->width * op->count == x->a->bytes &&
                 op->count <= POISON_ELEMENTS;
    for (uint32_t left = x->never; left != 0; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        uint64_t offset = check_address(x->a, l) - base;
        whole |= (uint32_t)never_written(x, offset, x->a->bytes) << l;
        for (uint32_t e = 0; plain && e < op->count; e++)
            c->poison[e] |=
                (uint32_t)never_written(x, offset + (uint64_t)e * op->width, op->width)
                << l;
    }
    if (x->a->kind == ACCESS_ASYNC) {
        c->async_poison |= whole;
        return;
    }
    c->poisoned |= plain;
    check_origin(x->a, &c->load_origin);
    if (!followed && whole != 0)
        check_undefined(x->w, __builtin_ctz(whole), &c->load_origin, "loaded");
    else if (!plain && whole == x->a->mask)
        c->matrix_undefined++;
}

/* --- the whole ------------------------------------------------------------------------------ */

/* Lanes from `lane` on whose data lie in the shadow x->s, which begins at `base`. */
static uint32_t lanes_inside(const struct access *a, uint32_t lanes, uint64_t base,
                             uint64_t bytes)
{
    uint32_t inside = 0;
    if (a->pattern != PATTERN_ANY)
        return lanes;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        inside |= (uint32_t)(a->address[l] - base < bytes) << l;
    }
    return inside;
}

/* Cells a lane of a warp that accesses consecutive whole cells, as a power of two; -1 if
 * it does not. */
static int run_cells(const struct scan *x, uint64_t offset)
{
    uint32_t cell = 1u << CELL_SHIFT, bytes = x->a->bytes;
    if (x->a->pattern != PATTERN_CONSECUTIVE || (bytes & (bytes - 1)) != 0 ||
        bytes < cell || (offset & (cell - 1)) != 0)
        return -1;
    return __builtin_ctz(bytes) - CELL_SHIFT;
}

/* Lane by lane. False after a fault. */
static bool scan_each(struct scan *x, uint32_t lanes, uint64_t base, bool loads)
{
    const struct access *a = x->a;
    if (loads && a->pattern == PATTERN_UNIFORM) {
        uint32_t many = lanes & (lanes - 1) ? CELL_MANY : 0;
        if (!load_lane(x, (uint32_t)__builtin_ctz(lanes), a->address[0] - base, many))
            return false;
        x->never = x->never != 0 ? lanes : 0;
        return true;
    }
    if (loads && a->pattern == PATTERN_ANY && !x->exact && x->s->missing == NULL &&
        a->bytes % (1u << CELL_SHIFT) == 0)
        lanes = load_any(x, lanes, base);
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        uint64_t offset = check_address(a, l) - base;
        if (!(loads ? load_lane(x, l, offset, 0) : store_lane(x, l, offset)))
            return false;
    }
    return true;
}

static void scan_lanes(struct scan *x, uint32_t lanes, uint64_t base)
{
    const struct access *a = x->a;
    bool loads = a->kind == ACCESS_LOAD || a->kind == ACCESS_MATRIX_LOAD ||
                 (a->kind == ACCESS_ASYNC && !x->shared);
    if (a->bytes < WORD_BYTES && x->s->missing == NULL)
        shadow_split(x->s);
    x->never = 0;
    x->c->matrix_loads += loads;
    int per = x->exact || x->s->missing != NULL ? -1 : run_cells(x, a->address[0] - base);
    uint64_t first = (a->address[0] - base) >> CELL_SHIFT;
    if (per >= 0 && (loads ? load_run : store_run)(x, first, (uint32_t)per))
        return;
    if (!scan_each(x, lanes, base, loads) || x->never == 0 || x->s->all_init)
        return;
    if (loads) {
        note_poison(x, base);
    } else if (a->kind == ACCESS_ATOMIC) {
        struct origin origin;
        check_origin(a, &origin);
        check_undefined(x->w, __builtin_ctz(x->never), &origin, "changed by an atomic");
    }
}

static void scan_global(struct scan *x)
{
    const struct warp *w = x->w;
    struct device_memory *memory = x->c->block->launch->memory;
    for (uint32_t left = x->a->mask; left != 0 && !w->worker->stop;) {
        uint64_t address = check_address(x->a, (uint32_t)__builtin_ctz(left));
        struct allocation *a = w->worker->last[w->code->base + w->pc];
        if (a == NULL || address - a->address >= a->bytes)
            a = memory_find(memory, address, 1);
        if (a == NULL)
            return;
        if (a->shadow == NULL)
            memory_watch(a, false);
        uint32_t lanes = lanes_inside(x->a, left, a->address, a->bytes);
        left &= ~lanes;
        x->s = a->shadow;
        x->host = a->host;
        scan_lanes(x, lanes, a->address);
    }
}

/* Of a store in global memory some element must be defined. */
static void check_stored(struct check_block *c, struct warp *w, const struct access *a)
{
    uint32_t undefined = a->mask;
    for (uint32_t e = 0; e < a->op->count && e < POISON_ELEMENTS; e++)
        undefined &= c->store_poison[e];
    if (undefined != 0)
        check_undefined(w, __builtin_ctz(undefined), &c->store_origin,
                        "stored in global memory");
}

void check_access(struct warp *w, const struct access *a)
{
    struct check_block *c = check_of(w->block);
    if (w->worker->stop || a->mask == 0 || a->bytes == 0)
        return;
    if (a->space == PTX_LOCAL) {
        check_local(c, w, a);
        return;
    }
    bool shared = a->space == PTX_SHARED;
    bool strong = a->op->order != ORDER_WEAK || a->kind == ACCESS_ATOMIC;
    struct scan x = {.w = w,
                     .a = a,
                     .c = c,
                     .log = shared ? &c->log : &c->check->log,
                     .s = c->shadow,
                     .host = w->block->shared,
                     .strong = strong ? CELL_STRONG : 0,
                     .shared = shared};
    x.id = check_id(c, x.log, w, w->code, a->op);
    uint32_t first = shared ? c->barrier_at[1] : c->check->log.first;
    x.exact = c->known != NULL || c->all_others.count > 0 || c->lanes[w->index] != NULL;
    x.floor = (int32_t)(first << CELL_THREAD_BITS);
    x.read_floor = (int32_t)(c->barrier_at[shared] << CELL_THREAD_BITS);
    x.sync_floor = (int32_t)(c->sync_at[shared][w->index] << CELL_THREAD_BITS);
    x.clock_floor = (int32_t)(c->clock_at[shared][w->index] << CELL_THREAD_BITS);
    if (!shared && a->kind == ACCESS_STORE)
        check_stored(c, w, a);
    if (shared)
        scan_lanes(&x, a->mask, 0);
    else
        scan_global(&x);
    if (a->kind == ACCESS_ASYNC && shared)
        c->async_poison = 0;
    if (a->op->order != ORDER_WEAK && !w->worker->stop)
        check_flag_access(c, w, a);
}

void check_async_arrived(struct warp *from, int lane, uint64_t offset, uint32_t bytes,
                         const struct code *code, const struct op *copy)
{
    struct check_block *c = check_of(from->block);
    if (c == NULL || c->shadow == NULL)
        return;
    uint32_t id = check_id(c, &c->log, from, code, copy) | (uint32_t)lane;
    for (uint64_t i = offset >> CELL_SHIFT; i <= (offset + bytes - 1) >> CELL_SHIFT;
         i++) {
        c->shadow->write[i] = id | (c->shadow->write[i] & CELL_INIT);
        c->shadow->read[i] = 0;
        if (c->shadow->missing != NULL)
            c->shadow->missing[i] = 0;
    }
}
