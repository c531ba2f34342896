/* check_order.c - what happens before what; see check.h and check_parts.h. */
#include "check_parts.h"

#include <stdlib.h>

/* --- what threads of a block know of one another ---------------------------------------- */

static uint32_t *row(uint32_t *table, uint32_t threads, uint32_t thread)
{
    return table + (size_t)thread * threads;
}

static void raise_to(uint32_t *clocks, const uint32_t *others, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        clocks[i] = clocks[i] > others[i] ? clocks[i] : others[i];
}

/* Up to which clock does lane `me` of warp `mine` know lane `lane` of `warp`? */
static uint32_t knows(const struct check_block *c, uint32_t mine, uint32_t me,
                      uint32_t warp, uint32_t lane)
{
    uint32_t clock = c->barrier[warp], thread = mine * LANES + me;
    if (warp == mine) {
        if (lane == me)
            return c->clock[mine];
        clock = clock > c->synced[mine] ? clock : c->synced[mine];
        if (c->lanes[mine] != NULL && c->lanes[mine][me * LANES + lane] > clock)
            clock = c->lanes[mine][me * LANES + lane];
    }
    if (c->known != NULL) {
        uint32_t known = row(c->known, c->threads, thread)[warp * LANES + lane];
        clock = known > clock ? known : clock;
    }
    return clock;
}

/* --- what blocks know of one another ---------------------------------------------------- */

static bool release_covers(const struct release *r, const struct entry *e, uint32_t warp,
                           uint32_t lane)
{
    uint32_t thread = warp * LANES + lane;
    if (r->block != e->block)
        return false;
    if (warp == r->warp && lane == r->lane)
        return e->clock <= r->clock;
    if (r->fences != NULL && e->clock > r->fences[thread])
        return false;
    return e->clock <= r->barrier[warp] ||
           (warp == r->warp && e->clock <= r->lanes[lane]) ||
           (r->known != NULL && e->clock <= r->known[thread]);
}

/* Is the access among what these releases cover, or what their threads knew? A flag's
 * releases are looked at once a search, the latest first. */
static bool known_by(struct check *check, const struct knowledge *k,
                     const struct entry *e, uint32_t warp, uint32_t lane)
{
    for (uint32_t i = 0; i < k->count; i++)
        for (uint32_t n = k->items[i].releases; n-- > 0;)
            if (release_covers(&k->items[i].flag->releases[n], e, warp, lane))
                return true;
    for (uint32_t i = 0; i < k->count; i++) {
        struct flag *flag = k->items[i].flag;
        uint32_t from = flag->visit == check->search ? flag->visited : 0;
        if (from >= k->items[i].releases)
            continue;
        flag->visit = check->search;
        flag->visited = k->items[i].releases;
        for (uint32_t n = k->items[i].releases; n-- > from;)
            if (known_by(check, &flag->releases[n].others, e, warp, lane))
                return true;
    }
    return false;
}

bool check_ordered(struct check_block *c, uint32_t mine, uint32_t me,
                   const struct entry *e, uint32_t warp, uint32_t lane)
{
    if (e->block == c->block->linear)
        return e->clock <= knows(c, mine, me, warp, lane);
    if (c->others[mine].count == 0)
        return false;
    c->check->search++;
    return known_by(c->check, &c->others[mine], e, warp, lane);
}

static bool learn(struct knowledge *k, struct flag *flag, uint32_t releases)
{
    for (uint32_t i = 0; i < k->count; i++)
        if (k->items[i].flag == flag) {
            bool news = releases > k->items[i].releases;
            k->items[i].releases = news ? releases : k->items[i].releases;
            return news;
        }
    if (k->count == k->room) {
        k->room = k->room == 0 ? 4 : k->room * 2;
        k->items = xrealloc(k->items, k->room * sizeof *k->items);
    }
    k->items[k->count++] = (struct knowledge_item){flag, releases};
    return true;
}

static void learn_all(struct knowledge *k, const struct knowledge *other)
{
    for (uint32_t i = 0; i < other->count; i++)
        learn(k, other->items[i].flag, other->items[i].releases);
}

/* --- meetings: places where clocks are left and taken ------------------------------------ */

static struct meeting *meet(struct check_block *c, uint64_t address, bool make)
{
    struct meeting **at = &c->meetings[(address >> 2) % FLAG_BUCKETS];
    for (struct meeting *m = *at; m != NULL; m = m->next)
        if (m->address == address)
            return m;
    if (!make)
        return NULL;
    struct meeting *m = xcalloc(1, sizeof *m);
    m->next = *at;
    m->address = address;
    return *at = m;
}

/* Leave what a thread knows; of itself, up to `own`. */
static void leave_clocks(struct check_block *c, struct meeting *m, uint32_t warp,
                         uint32_t lane, uint32_t own)
{
    if (m->clocks == NULL)
        m->clocks = xcalloc(c->threads, sizeof *m->clocks);
    for (uint32_t t = 0; t < c->threads; t++) {
        uint32_t clock =
            t == warp * LANES + lane ? own : knows(c, warp, lane, t / LANES, t % LANES);
        m->clocks[t] = m->clocks[t] > clock ? m->clocks[t] : clock;
    }
    m->version++;
}

static void take_clocks(struct check_block *c, const uint32_t *clocks, uint32_t warp,
                        uint32_t lane)
{
    if (clocks == NULL)
        return;
    if (c->known == NULL)
        c->known = xcalloc((size_t)c->threads * c->threads, sizeof *c->known);
    raise_to(row(c->known, c->threads, warp * LANES + lane), clocks, c->threads);
}

/* --- barriers ---------------------------------------------------------------------------- */

void check_barrier_arrive(struct warp *w, uint32_t id, uint32_t lanes)
{
    struct check_block *c = check_of(w->block);
    if (c == NULL)
        return;
    for (uint32_t left = lanes; left != 0; left &= left - 1)
        leave_clocks(c, &c->barriers[id], w->index, (uint32_t)__builtin_ctz(left),
                     c->clock[w->index]);
    check_tick(c, w->index);
}

/* A flag that one thread has read may be followed by a fence of another, behind the
 * barrier. */
static void share_pending(struct check_block *c)
{
    struct pending_flag all[PENDING_FLAGS] = {{0, 0}};
    int count = 0;
    for (uint32_t w = 0; w < c->block->warp_count; w++)
        for (int i = 0; i < PENDING_FLAGS; i++)
            if (c->pending[w][i].lanes != 0)
                all[count++ % PENDING_FLAGS] =
                    (struct pending_flag){c->pending[w][i].address, FULL_MASK};
    for (uint32_t w = 0; count > 0 && w < c->block->warp_count; w++)
        memcpy(c->pending[w], all, sizeof all);
}

/* All threads know all that any of them did. */
static void open_for_all(struct check_block *c)
{
    uint32_t latest = 0, warps = c->block->warp_count;
    share_pending(c);
    for (uint32_t i = 0; i < warps; i++)
        latest = c->clock[i] > latest ? c->clock[i] : latest;
    for (uint32_t i = 0; i < warps; i++) {
        c->barrier[i] = c->clock[i] = latest;
        check_tick(c, i);
        learn_all(&c->others[i], &c->all_others);
    }
    c->barrier_at[0] = c->check->log.next;
    c->barrier_at[1] = c->log.next;
}

void check_barrier_open(struct block *b, uint32_t id, bool all, const uint32_t *waiting)
{
    struct check_block *c = check_of(b);
    if (c == NULL)
        return;
    struct meeting *m = &c->barriers[id];
    if (all && m->clocks == NULL) {
        open_for_all(c);
        return;
    }
    for (uint32_t i = 0; i < b->warp_count; i++)
        for (uint32_t left = waiting[i]; left != 0; left &= left - 1)
            leave_clocks(c, m, i, (uint32_t)__builtin_ctz(left), c->clock[i]);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        for (uint32_t left = waiting[i]; left != 0; left &= left - 1)
            take_clocks(c, m->clocks, i, (uint32_t)__builtin_ctz(left));
        if (waiting[i] != 0) {
            learn_all(&c->others[i], &c->all_others);
            check_tick(c, i);
        }
    }
    free(m->clocks);
    *m = (struct meeting){0};
}

static void sync_all(struct check_block *c, uint32_t warp)
{
    c->synced[warp] = c->clock[warp];
    c->sync_at[0][warp] = c->check->log.next;
    c->sync_at[1][warp] = c->log.next;
}

/* Some lanes of a warp meet: each knows then what any of them knew. */
static void sync_some(struct check_block *c, uint32_t warp, uint32_t lanes)
{
    uint32_t joined[LANES] = {0};
    if (c->lanes[warp] == NULL)
        c->lanes[warp] = xcalloc(LANES * LANES, sizeof *c->lanes[warp]);
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        raise_to(joined, c->lanes[warp] + l * LANES, LANES);
        joined[l] = c->clock[warp];
    }
    for (uint32_t left = lanes; left != 0; left &= left - 1)
        raise_to(c->lanes[warp] + (uint32_t)__builtin_ctz(left) * LANES, joined, LANES);
}

void check_warp_sync(struct warp *w, uint32_t lanes)
{
    struct check_block *c = check_of(w->block);
    if (c == NULL)
        return;
    uint32_t warp = w->index;
    if (c->known != NULL) {
        uint32_t *joined = xcalloc(c->threads, sizeof *joined);
        for (uint32_t left = lanes; left != 0; left &= left - 1)
            raise_to(
                joined,
                row(c->known, c->threads, warp * LANES + (uint32_t)__builtin_ctz(left)),
                c->threads);
        for (uint32_t left = lanes; left != 0; left &= left - 1)
            take_clocks(c, joined, warp, (uint32_t)__builtin_ctz(left));
        free(joined);
    }
    if ((w->alive & ~w->exited & ~lanes) == 0)
        sync_all(c, warp);
    else
        sync_some(c, warp, lanes);
    check_tick(c, warp);
}

/* --- fences and flags --------------------------------------------------------------------- */

static struct flag *flag_at(struct check *check, uint64_t address, bool make)
{
    struct flag **at = &check->flags[(address >> 2) % FLAG_BUCKETS];
    for (struct flag *f = *at; f != NULL; f = f->next)
        if (f->address == address)
            return f;
    if (!make)
        return NULL;
    struct flag *f = xcalloc(1, sizeof *f);
    f->next = *at;
    f->address = address;
    return *at = f;
}

static void release_at(struct check_block *c, struct flag *flag, uint32_t warp,
                       uint32_t lane, uint32_t own)
{
    if (flag->count == flag->room) {
        flag->room = flag->room == 0 ? 4 : flag->room * 2;
        flag->releases = xrealloc(flag->releases, flag->room * sizeof *flag->releases);
    }
    struct release *r = &flag->releases[flag->count++];
    *r = (struct release){
        .block = c->block->linear, .warp = warp, .lane = lane, .clock = own};
    memcpy(r->barrier, c->barrier, sizeof r->barrier);
    for (uint32_t l = 0; l < LANES; l++)
        r->lanes[l] = l == lane ? own : knows(c, warp, lane, warp, l);
    if (c->known != NULL) {
        r->known = xmalloc(c->threads * sizeof *r->known);
        memcpy(r->known, row(c->known, c->threads, warp * LANES + lane),
               c->threads * sizeof *r->known);
    }
    if (own <= c->barrier[warp]) {
        r->fences = xmalloc(c->threads * sizeof *r->fences);
        memcpy(r->fences, c->fence, c->threads * sizeof *r->fences);
    }
    learn_all(&r->others, &c->others[warp]);
}

/* True if that was news. */
static bool acquire(struct check_block *c, uint64_t address, uint32_t warp, uint32_t lane)
{
    bool news = false;
    struct meeting *m = meet(c, address, false);
    if (m != NULL) {
        take_clocks(c, m->clocks, warp, lane);
        learn_all(&c->others[warp], &c->all_others);
        news = true;
    }
    struct flag *flag = flag_at(c->check, address, false);
    if (flag != NULL) {
        learn(&c->all_others, flag, flag->count);
        news |= learn(&c->others[warp], flag, flag->count);
    }
    return news;
}

void check_fence(struct warp *w, uint8_t scope)
{
    struct check_block *c = check_of(w->block);
    if (c == NULL)
        return;
    for (int i = 0; i < PENDING_FLAGS; i++) {
        struct pending_flag *p = &c->pending[w->index][i];
        for (uint32_t left = p->lanes & w->mask; left != 0; left &= left - 1)
            acquire(c, p->address, w->index, (uint32_t)__builtin_ctz(left));
        p->lanes &= ~w->mask;
    }
    for (uint32_t left = w->mask; left != 0; left &= left - 1) {
        uint32_t thread = w->index * LANES + (uint32_t)__builtin_ctz(left);
        c->fence[thread] = c->clock[w->index];
        c->fence_scope[thread] = scope;
    }
    check_tick(c, w->index);
}

static void remember(struct check_block *c, uint32_t warp, uint32_t lane,
                     uint64_t address)
{
    struct pending_flag *list = c->pending[warp], *free_one = &list[0];
    for (int i = 0; i < PENDING_FLAGS; i++) {
        if (list[i].lanes != 0 && list[i].address == address) {
            list[i].lanes |= 1u << lane;
            return;
        }
        free_one = list[i].lanes == 0 ? &list[i] : free_one;
    }
    *free_one = (struct pending_flag){address, 1u << lane};
}

static bool is_release(uint8_t order)
{
    return order == ORDER_RELEASE || order == ORDER_ACQ_REL;
}

void check_flag_access(struct check_block *c, const struct warp *w,
                       const struct access *a)
{
    const struct op *op = a->op;
    bool writes = a->kind != ACCESS_LOAD, reads = a->kind != ACCESS_STORE;
    bool at_once = op->order == ORDER_ACQUIRE || op->order == ORDER_ACQ_REL ||
                   a->kind == ACCESS_ATOMIC;
    bool news = false;
    uint32_t warp = w->index;
    for (uint32_t left = a->mask; left != 0; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), thread = warp * LANES + l;
        uint64_t address =
            check_address(a, l) + (a->space == PTX_SHARED ? SIM_SHARED_WINDOW : 0);
        if (reads && at_once)
            news |= acquire(c, address, warp, l);
        else if (reads)
            remember(c, warp, l, address);
        uint32_t own = is_release(op->order) ? c->clock[warp] : c->fence[thread];
        uint8_t scope = is_release(op->order) ? op->scope : c->fence_scope[thread];
        if (!writes || own == 0)
            continue;
        leave_clocks(c, meet(c, address, true), warp, l, own);
        if (a->space == PTX_GLOBAL && scope != SCOPE_CTA && op->scope != SCOPE_CTA)
            release_at(c, flag_at(c->check, address, true), warp, l, own);
        news = true;
    }
    if (news)
        check_tick(c, warp);
}

/* --- mbarriers ------------------------------------------------------------------------------ */

void check_mbarrier_arrive(struct warp *w, int lane, uint64_t offset, bool over)
{
    struct check_block *c = check_of(w->block);
    if (c == NULL)
        return;
    struct meeting *m = meet(c, SIM_SHARED_WINDOW + offset, true);
    leave_clocks(c, m, w->index, (uint32_t)lane, c->clock[w->index]);
    check_tick(c, w->index);
    if (over) {
        free(m->passed);
        m->passed = m->clocks;
        m->clocks = NULL;
    }
}

void check_mbarrier_passed(struct warp *w, int lane, uint64_t offset)
{
    struct check_block *c = check_of(w->block);
    if (c == NULL)
        return;
    const struct meeting *m = meet(c, SIM_SHARED_WINDOW + offset, false);
    if (m == NULL || m->passed == NULL)
        return;
    take_clocks(c, m->passed, w->index, (uint32_t)lane);
    learn_all(&c->others[w->index], &c->all_others);
    check_tick(c, w->index);
}

/* --- begin and end --------------------------------------------------------------------------- */

static void drop_meetings(struct check_block *c)
{
    for (int i = 0; i < FLAG_BUCKETS; i++)
        while (c->meetings[i] != NULL) {
            struct meeting *next = c->meetings[i]->next;
            free(c->meetings[i]->clocks);
            free(c->meetings[i]->passed);
            free(c->meetings[i]);
            c->meetings[i] = next;
        }
    for (int i = 0; i < SIM_MAX_BARRIERS; i++) {
        free(c->barriers[i].clocks);
        c->barriers[i] = (struct meeting){0};
    }
}

void check_order_start(struct check_block *c)
{
    check_order_free(c);
    memset(c->barrier, 0, sizeof c->barrier);
    memset(c->synced, 0, sizeof c->synced);
    memset(c->fence, 0, c->threads * sizeof *c->fence);
    memset(c->pending, 0, sizeof c->pending);
    for (uint32_t i = 0; i < SIM_MAX_WARPS; i++)
        c->clock[i] = 1;
}

void check_order_free(struct check_block *c)
{
    drop_meetings(c);
    for (uint32_t i = 0; i < SIM_MAX_WARPS; i++) {
        free(c->lanes[i]);
        free(c->others[i].items);
        c->lanes[i] = NULL;
        c->others[i] = (struct knowledge){0};
    }
    free(c->all_others.items);
    c->all_others = (struct knowledge){0};
    free(c->known);
    c->known = NULL;
}

void check_flags_free(struct check *check)
{
    for (int i = 0; i < FLAG_BUCKETS; i++)
        while (check->flags[i] != NULL) {
            struct flag *f = check->flags[i];
            check->flags[i] = f->next;
            for (uint32_t n = 0; n < f->count; n++) {
                free(f->releases[n].known);
                free(f->releases[n].fences);
                free(f->releases[n].others.items);
            }
            free(f->releases);
            free(f);
        }
}
