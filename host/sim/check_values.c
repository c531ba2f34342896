/* check_values.c - undefined values: from memory or a register that nothing was written
 * to, through registers, to where they matter; see check.h.
 *
 * In an entry that is decoded for checks each op's executor is follow(), which calls the
 * real one. A bit a lane tells which registers are defined. By rule, an op's result is
 * undefined if any of its sources is (arithmetic), or only if all are (copies, packing,
 * selection: half of a register may be of no interest), or never (votes choose other
 * lanes' values; device functions are not followed). A shuffle gives an undefined value
 * to a lane that asks one which does not take part. */
#include "check_parts.h"
#include "decode_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum rule {
    RULE_ANY,
    RULE_ALL,
    RULE_AND, /* of predicates: a defined false decides */
    RULE_OR,  /* a defined true does */
    RULE_MMA, /* undefined if all sums to add to are: rows of a tile may be of no use */
    RULE_DEFINES,
    RULE_SHUFFLE,
    RULE_LOAD,
    RULE_MATRIX,
    RULE_STORE,
    RULE_ATOMIC
};

static const struct {
    const char *base;
    enum rule rule;
} rules[] = {
    {"mov", RULE_ALL},          {"selp", RULE_ALL},         {"slct", RULE_ALL},
    {"prmt", RULE_ALL},         {"bfi", RULE_ALL},          {"shf", RULE_ALL},
    {"and", RULE_ALL},          {"or", RULE_ALL},           {"xor", RULE_ALL},
    {"lop3", RULE_ALL},         {"cvt", RULE_ALL},          {"mma", RULE_MMA},
    {"shfl", RULE_SHUFFLE},     {"vote", RULE_DEFINES},     {"match", RULE_DEFINES},
    {"redux", RULE_DEFINES},    {"elect", RULE_DEFINES},    {"activemask", RULE_DEFINES},
    {"prefetch", RULE_DEFINES}, {"stmatrix", RULE_DEFINES}, {"ld", RULE_LOAD},
    {"ldu", RULE_LOAD},         {"cp", RULE_LOAD},          {"ldmatrix", RULE_MATRIX},
    {"wmma", RULE_MATRIX},      {"st", RULE_STORE},         {"atom", RULE_ATOMIC},
    {"red", RULE_ATOMIC},       {"mbarrier", RULE_ATOMIC},
};

static enum rule rule_of(const struct ptx_insn *in)
{
    const char *base = in->base;
    if (in->suffix_count == 1 && strcmp(in->suffix[0], "pred") == 0) {
        if (strcmp(base, "and") == 0)
            return RULE_AND;
        if (strcmp(base, "or") == 0)
            return RULE_OR;
    }
    if (in->suffix_count > 0 && strcmp(base, "wmma") == 0 &&
        strcmp(in->suffix[0], "mma") == 0)
        return RULE_MMA;
    if (in->suffix_count > 0 && strcmp(base, "mma") == 0 &&
        strncmp(in->suffix[0], "sp", 2) == 0)
        return RULE_ALL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].base, base) == 0)
            return rules[i].rule;
    return RULE_ANY;
}

/* --- following -------------------------------------------------------------------------- */

void check_origin(const struct access *a, struct origin *origin)
{
    *origin = (struct origin){.op = a->op, .space = a->space};
    for (uint32_t l = 0; l < LANES; l++)
        if (a->mask >> l & 1)
            origin->address[l] = check_address(a, l);
}

static const char *space_text(uint8_t space)
{
    return space == PTX_SHARED   ? "shared memory"
           : space == PTX_LOCAL  ? "local memory"
           : space == PTX_GLOBAL ? "global memory"
                                 : "a register";
}

/* Raise it where the value came in, then take it back and keep it. */
void check_undefined(struct warp *w, int lane, const struct origin *origin,
                     const char *use)
{
    struct launch *launch = w->block->launch;
    struct check *check = launch->check_state;
    const struct code *code = w->code, *entry = launch->code;
    uint32_t pc = w->pc;
    char where[80], place[40] = "";
    bool shuffled = false;
    if (check->has_pending || w->worker->stop)
        return;
    check_where(launch, &code->ops[pc], where, sizeof where);
    if (origin->op >= entry->ops && origin->op < entry->ops + entry->op_count) {
        shuffled = entry->uses[origin->op->pc].rule == RULE_SHUFFLE;
        w->code = entry;
        w->pc = origin->op->pc;
    }
    uint64_t address = origin->address[lane];
    if (origin->space != PTX_REG)
        snprintf(place, sizeof place, " at 0x%llx", (unsigned long long)address);
    if (shuffled)
        sim_raise(
            w, SIM_BAD_MASK, lane, 0,
            "takes the value of a lane that does not take part in the shuffle; what "
            "it gets is undefined, and %s at %s",
            use, where);
    else
        sim_raise(w, SIM_UNINITIALIZED, lane, address,
                  "%s%s was never written; what it holds is %s at %s",
                  space_text(origin->space), place, use, where);
    w->code = code;
    w->pc = pc;
    if (launch->fault_count == 0)
        return; /* a block before this one has a fault */
    check->pending = launch->faults[--launch->fault_count];
    check->has_pending = true;
    check->pending_global = origin->space == PTX_GLOBAL;
    check->pending_block = w->block->linear;
    w->worker->stop = false;
}

static void report_pending(struct launch *launch)
{
    struct check *check = launch->check_state;
    if (!check->has_pending || launch->fault_count >= launch->max_faults)
        return;
    check->has_pending = false;
    launch->fault_block = check->pending_block;
    launch->faults[launch->fault_count++] = check->pending;
}

void check_before_fault(struct warp *w, enum sim_fault_kind kind)
{
    struct launch *launch = w->block->launch;
    struct check *check = launch->check_state;
    if (check == NULL || !check->has_pending || kind == SIM_UNINITIALIZED ||
        launch->fault_count > 0)
        return;
    if (kind == SIM_RACE_SHARED || kind == SIM_RACE_GLOBAL)
        check->has_pending = false;
    else
        report_pending(launch);
}

bool check_block_done(struct block *b)
{
    struct check *check = b->launch->check_state;
    if (check == NULL || !check->has_pending || check->pending_global ||
        check->pending_block != b->linear)
        return true;
    report_pending(b->launch);
    b->worker->stop = true;
    return false;
}

void check_values_end(struct launch *launch)
{
    if (launch->fault_count == 0)
        report_pending(launch);
}

static uint32_t *defined_of(const struct check_block *c, const struct warp *w)
{
    return c->defined + (size_t)w->index * w->code->value_count;
}

static uint16_t *origin_of(const struct check_block *c, const struct warp *w)
{
    return c->origin + (size_t)w->index * w->code->value_count;
}

/* A new origin; if there are too many, the last one is taken over. */
static uint16_t add_origin(struct check_block *c, const struct origin *origin)
{
    if (c->origin_count < MOST_ORIGINS - 1)
        c->origin_count++;
    c->origins[c->origin_count] = *origin;
    return (uint16_t)c->origin_count;
}

/* Where the first of the op's sources that is undefined in `lane` came in: here, if it is
 * a register that was never written. */
static uint16_t find_origin(struct check_block *c, const struct warp *w,
                            const struct op *op, int lane)
{
    const struct value_use *u = &w->code->uses[op->pc];
    const uint32_t *v = w->code->value_list + u->first;
    for (uint32_t i = 0; i < u->reads; i++)
        if (!(defined_of(c, w)[v[i]] >> lane & 1) && origin_of(c, w)[v[i]] != 0)
            return origin_of(c, w)[v[i]];
    return add_origin(c, &(struct origin){.op = op, .space = PTX_REG});
}

/* The value at a row of op's list, -1 if it is none that is followed. */
static int value_at(const struct code *code, const uint32_t *v, uint32_t count,
                    uint32_t place)
{
    for (uint32_t i = 0; i < count; i++)
        if (code->value_place[v[i]] == place)
            return (int)v[i];
    return -1;
}

/* Stores: undefined addresses are reported; undefined data go on into memory, and the
 * access reports them if that is global. False after a fault. */
static void store_undefined(struct check_block *c, struct warp *w, const struct op *op)
{
    const struct value_use *u = &w->code->uses[op->pc];
    const uint32_t *v = w->code->value_list + u->first, *defined = defined_of(c, w);
    uint32_t data = 0;
    for (uint32_t e = 0; e < op->count && e < POISON_ELEMENTS; e++) {
        int value = value_at(w->code, v, u->reads, op->list[e]);
        c->store_poison[e] = value >= 0 ? w->mask & ~defined[value] : 0;
        data |= c->store_poison[e];
    }
    int address = value_at(w->code, v, u->reads, op->s[0]);
    uint32_t bad = address >= 0 ? w->mask & ~defined[address] : 0;
    if (bad != 0) {
        int lane = __builtin_ctz(bad);
        check_undefined(w, lane, &c->origins[find_origin(c, w, op, lane)],
                        "used as an address");
    }
    c->store_poisoned = data != 0;
    if (data != 0)
        c->store_origin = c->origins[find_origin(c, w, op, __builtin_ctz(data))];
}

/* After a load: what it brought that is undefined. */
static void take_poison(struct check_block *c, struct warp *w, const struct op *op)
{
    const struct value_use *u = &w->code->uses[op->pc];
    const uint32_t *v = w->code->value_list + u->first + u->reads;
    uint16_t origin = 0;
    for (uint32_t e = 0; e < op->count && e < POISON_ELEMENTS; e++) {
        int value = c->poison[e] ? value_at(w->code, v, u->writes, op->list[e]) : -1;
        if (value >= 0) {
            defined_of(c, w)[value] &= ~c->poison[e];
            origin = origin != 0 ? origin : add_origin(c, &c->load_origin);
            origin_of(c, w)[value] = origin;
        }
        c->poison[e] = 0;
    }
    c->poisoned = false;
}

void check_shuffle(struct warp *w, uint32_t lanes)
{
    if (check_of(w->block) != NULL)
        check_of(w->block)->absent = lanes;
}

static void take_absent(struct check_block *c, struct warp *w, const struct op *op)
{
    const struct value_use *u = &w->code->uses[op->pc];
    const uint32_t *v = w->code->value_list + u->first + u->reads;
    int value = value_at(w->code, v, u->writes, op->d);
    if (value < 0)
        return;
    defined_of(c, w)[value] &= ~c->absent;
    origin_of(c, w)[value] = add_origin(c, &(struct origin){.op = op, .space = PTX_REG});
}

/* Lanes in which a defined source of and.pred or or.pred alone decides. */
static uint32_t decided(const struct check_block *c, const struct warp *w,
                        const struct op *op, bool by)
{
    const struct value_use *u = &w->code->uses[op->pc];
    const uint32_t *v = w->code->value_list + u->first;
    uint32_t lanes = 0;
    for (int i = 0; i < 2; i++) {
        int value = value_at(w->code, v, u->reads, op->s[i]);
        bool negated = op->flags >> i & 1;
        uint32_t row = *pred(w, op->s[i]) ^ (negated == by ? FULL_MASK : 0);
        lanes |= row & (value >= 0 ? defined_of(c, w)[value] : FULL_MASK);
    }
    return lanes;
}

/* Lanes that have a defined sum to add to: the last sources, as many as results. */
static uint32_t defined_sums(const struct check_block *c, const struct warp *w,
                             const struct op *op)
{
    const struct value_use *u = &w->code->uses[op->pc];
    const uint32_t *v = w->code->value_list + u->first;
    uint32_t lanes = 0;
    for (uint32_t i = u->reads > u->writes ? u->reads - u->writes : 0; i < u->reads; i++)
        lanes |= defined_of(c, w)[v[i]];
    return lanes;
}

/* Some lanes have undefined sources. Returns the lanes whose results are undefined. */
static uint32_t undefined_results(struct check_block *c, struct warp *w,
                                  const struct op *op, uint32_t all, uint32_t any)
{
    enum rule rule = (enum rule)w->code->uses[op->pc].rule;
    int lane = __builtin_ctz(w->mask & ~all);
    if (rule == RULE_ANY)
        return w->mask & ~all;
    if (rule == RULE_ALL)
        return w->mask & ~any;
    if (rule == RULE_AND || rule == RULE_OR)
        return w->mask & ~all & ~decided(c, w, op, rule == RULE_OR);
    if (rule == RULE_MMA)
        return w->mask & ~defined_sums(c, w, op);
    if (rule == RULE_STORE)
        store_undefined(c, w, op);
    else if (rule == RULE_LOAD || rule == RULE_ATOMIC)
        check_undefined(w, lane, &c->origins[find_origin(c, w, op, lane)],
                        rule == RULE_LOAD ? "used as an address" : "used by an atomic");
    return 0;
}

static void set_results(struct check_block *c, struct warp *w, const struct op *op,
                        uint32_t undefined)
{
    const struct value_use *u = &w->code->uses[op->pc];
    const uint32_t *v = w->code->value_list + u->first + u->reads;
    uint16_t origin = find_origin(c, w, op, __builtin_ctz(undefined));
    for (uint32_t i = 0; i < u->writes; i++) {
        uint32_t *defined = &defined_of(c, w)[v[i]];
        *defined = (*defined | w->mask) & ~undefined;
        origin_of(c, w)[v[i]] = origin;
    }
}

/* Lanes that have all sources of the op defined. */
static inline uint32_t all_defined(const struct code *code, const struct value_use *u,
                                   const uint32_t *defined)
{
    const uint32_t *v = code->value_list + u->first;
    uint32_t all = FULL_MASK;
    for (uint32_t i = 0; i < u->reads; i++)
        all &= defined[v[i]];
    return all;
}

static inline void define_results(const struct code *code, const struct value_use *u,
                                  uint32_t *defined, uint32_t mask)
{
    const uint32_t *v = code->value_list + u->first + u->reads;
    for (uint32_t i = 0; i < u->writes; i++)
        defined[v[i]] |= mask;
}

__attribute__((noinline)) static void follow_undefined(struct warp *w,
                                                       const struct op *op, uint32_t all)
{
    const struct code *code = w->code;
    const struct value_use *u = &code->uses[op->pc];
    struct check_block *c = check_of(w->block);
    uint32_t *defined = defined_of(c, w), mask = w->mask, any = 0;
    for (uint32_t i = 0; i < u->reads; i++)
        any |= defined[code->value_list[u->first + i]];
    uint32_t undefined = undefined_results(c, w, op, all, any);
    if (undefined != 0)
        set_results(c, w, op, undefined);
    u->fn(w, op);
    if (undefined == 0)
        define_results(code, u, defined, mask);
}

static void follow(struct warp *w, const struct op *op)
{
    const struct code *code = w->code;
    const struct value_use *u = &code->uses[op->pc];
    uint32_t *defined = defined_of(check_of(w->block), w), mask = w->mask;
    uint32_t all = all_defined(code, u, defined);
    if ((mask & ~all) != 0) {
        follow_undefined(w, op, all);
        return;
    }
    u->fn(w, op);
    define_results(code, u, defined, mask);
}

static void follow_load(struct warp *w, const struct op *op)
{
    struct check_block *c = check_of(w->block);
    follow(w, op);
    if (c->poisoned)
        take_poison(c, w, op);
}

static void follow_shuffle(struct warp *w, const struct op *op)
{
    struct check_block *c = check_of(w->block);
    c->absent = 0;
    follow(w, op);
    if (c->absent != 0)
        take_absent(c, w, op);
}

static void follow_store(struct warp *w, const struct op *op)
{
    struct check_block *c = check_of(w->block);
    follow(w, op);
    if (c->store_poisoned)
        memset(c->store_poison, 0, sizeof c->store_poison);
    c->store_poisoned = false;
}

static void follow_matrix(struct warp *w, const struct op *op)
{
    struct check_block *c = check_of(w->block);
    c->matrix_loads = c->matrix_undefined = 0;
    follow(w, op);
    if (c->matrix_loads > 0 && c->matrix_loads == c->matrix_undefined)
        check_undefined(w, 0, &c->load_origin, "loaded as a matrix");
}

static exec_fn *follower(enum rule rule)
{
    return rule == RULE_LOAD      ? follow_load
           : rule == RULE_SHUFFLE ? follow_shuffle
           : rule == RULE_STORE   ? follow_store
           : rule == RULE_MATRIX  ? follow_matrix
                                  : follow;
}

void check_branch(struct warp *w, const struct op *op, uint32_t lanes)
{
    struct check_block *c = check_of(w->block);
    if (c == NULL || w->code->uses == NULL || w->code->uses[op->pc].reads == 0)
        return;
    uint32_t guard = w->code->value_list[w->code->uses[op->pc].first];
    uint32_t bad = lanes & ~defined_of(c, w)[guard];
    if (bad == 0)
        return;
    int lane = __builtin_ctz(bad);
    w->pc = op->pc;
    check_undefined(w, lane, &c->origins[find_origin(c, w, op, lane)],
                    "what decides a branch");
}

/* --- local memory ------------------------------------------------------------------------- */

static size_t local_words(const struct check_block *c)
{
    return (size_t)(c->block->launch->local_bytes / 4) + 1;
}

void check_local(struct check_block *c, struct warp *w, const struct access *a)
{
    const struct op *op = a->op;
    uint32_t *words = c->local + w->index * local_words(c), undefined = 0;
    bool plain =
        (uint32_t)op->width * op->count == a->bytes && op->count <= POISON_ELEMENTS;
    for (uint32_t left = a->mask; left != 0; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        for (uint32_t e = 0; e < (plain ? op->count : 1u); e++) {
            uint64_t bytes = plain ? op->width : a->bytes;
            uint64_t first = (a->address[l] + e * bytes) / 4,
                     last = (a->address[l] + (e + 1) * bytes - 1) / 4;
            uint32_t written = 0;
            for (uint64_t i = first; i <= last; i++) {
                written |= words[i] >> l & 1;
                if (a->kind != ACCESS_LOAD)
                    words[i] = (words[i] & ~(1u << l)) |
                               (uint32_t) !(plain && c->store_poison[e] >> l & 1) << l;
            }
            if (plain && a->kind == ACCESS_LOAD) {
                c->poison[e] |= (uint32_t)!written << l;
                c->poisoned |= !written;
            }
            undefined |= (uint32_t)!written << l;
        }
    }
    if (undefined != 0)
        check_origin(a, &c->load_origin);
    if (a->kind == ACCESS_ATOMIC && undefined != 0)
        check_undefined(w, __builtin_ctz(undefined), &c->load_origin,
                        "changed by an atomic");
    if (a->kind == ACCESS_LOAD && w->code != c->block->launch->code) {
        memset(c->poison, 0, sizeof c->poison); /* not followed there */
        c->poisoned = false;
    }
}

/* --- blocks ------------------------------------------------------------------------------- */

void check_values_new(struct check_block *c)
{
    const struct launch *launch = c->block->launch;
    size_t warps = c->block->warp_count;
    size_t values = warps * launch->code->value_count + 1; /* may be none */
    c->defined = xcalloc(values, sizeof *c->defined);
    c->origin = xcalloc(values, sizeof *c->origin);
    c->origins = xcalloc(MOST_ORIGINS, sizeof *c->origins);
    if (launch->local_bytes > 0)
        c->local = xcalloc(warps * local_words(c), sizeof *c->local);
}

void check_values_start(struct check_block *c)
{
    const struct code *code = c->block->launch->code;
    size_t warps = c->block->warp_count;
    for (size_t i = 0; i < warps; i++)
        for (uint32_t v = 0; v < code->value_count; v++)
            c->defined[i * code->value_count + v] = code->value_given[v] ? FULL_MASK : 0;
    if (c->origin != NULL)
        memset(c->origin, 0, warps * code->value_count * sizeof *c->origin);
    if (c->local != NULL)
        memset(c->local, 0, warps * local_words(c) * sizeof *c->local);
    memset(c->poison, 0, sizeof c->poison);
    memset(c->store_poison, 0, sizeof c->store_poison);
    c->poisoned = c->store_poisoned = false;
    c->async_poison = 0;
    c->origin_count = 0;
}

/* --- decode -------------------------------------------------------------------------------- */

void check_note_order(const struct ptx_insn *in, struct op *op)
{
    static const struct {
        const char *word;
        uint8_t order;
    } orders[] = {{"volatile", ORDER_RELAXED}, {"relaxed", ORDER_RELAXED},
                  {"mmio", ORDER_RELAXED},     {"acquire", ORDER_ACQUIRE},
                  {"release", ORDER_RELEASE},  {"acq_rel", ORDER_ACQ_REL},
                  {"sc", ORDER_ACQ_REL}};
    bool atomic = strcmp(in->base, "atom") == 0 || strcmp(in->base, "red") == 0;
    if (strcmp(in->base, "mbarrier") == 0)
        return;
    op->order = atomic ? ORDER_RELAXED : ORDER_WEAK;
    op->scope = SCOPE_GPU;
    for (int i = 0; i < in->suffix_count; i++) {
        for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
            if (strcmp(in->suffix[i], orders[k].word) == 0)
                op->order = orders[k].order;
        op->swaps |= atomic && strcmp(in->suffix[i], "cas") == 0;
        if (strcmp(in->suffix[i], "cta") == 0)
            op->scope = SCOPE_CTA;
        if (strcmp(in->suffix[i], "sys") == 0 || strcmp(in->suffix[i], "volatile") == 0)
            op->scope = SCOPE_SYS;
    }
}

/* The touches of one op, reads first, into the lists. */
static void list_values(const struct decoder *dec, int first, int end,
                        struct value_use *use, uint32_t *next)
{
    struct code *code = dec->code;
    int reads = 0, writes = 0;
    use->first = *next;
    for (int pass = 0; pass < 2; pass++)
        for (int i = first; i < end; i++)
            if (dec->touches[i].write == (pass == 1)) {
                code->value_list[(*next)++] = (uint32_t)dec->touches[i].value;
                reads += pass == 0;
                writes += pass == 1;
            }
    use->reads = (uint8_t)(reads < UINT8_MAX ? reads : UINT8_MAX);
    use->writes = (uint8_t)(writes < UINT8_MAX ? writes : UINT8_MAX);
}

void check_follow_values(struct decoder *dec)
{
    struct code *code = dec->code;
    const struct ptx_function *f = dec->function;
    uint32_t next = 0;
    if (!f->is_entry)
        return;
    code->value_count = (uint32_t)dec->value_count;
    code->uses = decode_alloc(dec, (code->op_count + 1) * sizeof *code->uses);
    code->value_list =
        decode_alloc(dec, ((size_t)dec->touch_count + 1) * sizeof *code->value_list);
    code->value_place =
        decode_alloc(dec, ((size_t)dec->value_count + 1) * sizeof *code->value_place);
    code->value_given = decode_alloc(dec, (size_t)dec->value_count + 1);
    for (int i = 0; i < dec->value_count; i++)
        code->value_place[i] = dec->values[i].place;
    for (int i = 0, at = 0; i < (int)code->op_count; i++) {
        struct op *op = &code->ops[i];
        struct value_use *use = &code->uses[i];
        int first = at;
        while (at < dec->touch_count && dec->touches[at].op == i)
            at++;
        list_values(dec, first, at, use, &next);
        use->rule = (uint8_t)rule_of(&f->insns[i]);
        use->fn = op->fn;
        if (op->fn != NULL)
            op->fn = follower((enum rule)use->rule);
        for (uint32_t k = 0; op->fn == NULL && k < use->writes; k++)
            code->value_given[code->value_list[use->first + use->reads + k]] = 1;
    }
}
