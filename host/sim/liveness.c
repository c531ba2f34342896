/* liveness.c - which registers are live where, and so which can share a row.
 *
 * A compiler's PTX uses thousands of virtual registers, but only tens at a time. For
 * each register, its uses are followed backwards over the basic blocks to its
 * definitions; its interval is stretched over every op at which it is live; intervals
 * are then given rows in order of their start (linear scan). Lanes of a warp that are
 * at different places each use their own column of a row, so what is right for one
 * thread is right for the warp. A guarded write does not end a life: lanes that skip it
 * keep the value. Work and memory are bounded: past the bounds an interval is the whole
 * function, which is always right. */
#include <stdlib.h>

#include "decode_parts.h"

enum { EDGE_LIMIT = 1 << 22, FRAME_LIMIT = 16 << 20 };
#define WALK_LIMIT 100000000ll

struct basic_block {
    int first, last; /* ops */
    int pred, preds; /* predecessors: flow->preds[pred .. pred + preds) */
};

struct flow {
    struct decoder *dec;
    struct basic_block *blocks;
    int block_count;
    int *block_of; /* op -> block */
    int *preds;
    int64_t edge_count;
    int *touch_start, *touches; /* value -> its touches, in order of ops */
    int *live_in, *defined;     /* block -> last value found so */
    int *stack;
    int64_t walked;
};

/* --- basic blocks ---------------------------------------------------------------------- */

static const struct ptx_table *branch_table(const struct ptx_function *f,
                                            const struct ptx_insn *in)
{
    return strcmp(in->base, "brx") == 0 && in->operand[1].target >= 0
               ? &f->tables[in->operand[1].target]
               : NULL;
}

static bool is_branch(const struct ptx_insn *in)
{
    return strcmp(in->base, "bra") == 0 && in->operand_count > 0 &&
           in->operand[0].target >= 0;
}

static bool ends_block(const struct ptx_insn *in)
{
    return strcmp(in->base, "bra") == 0 || strcmp(in->base, "brx") == 0 ||
           strcmp(in->base, "ret") == 0 || strcmp(in->base, "exit") == 0;
}

uint8_t *decode_block_starts(const struct ptx_function *f)
{
    int count = f->insn_count;
    uint8_t *starts = xcalloc((size_t)count + 1, 1);
    starts[0] = 1;
    for (int i = 0; i < count; i++) {
        const struct ptx_insn *in = &f->insns[i];
        if (!ends_block(in))
            continue;
        starts[i + 1] = 1;
        if (is_branch(in))
            starts[in->operand[0].target] = 1;
    }
    for (int i = 0; i < f->table_count; i++)
        for (int k = 0; k < f->tables[i].count; k++)
            starts[f->tables[i].target[k]] = 1;
    return starts;
}

static void find_blocks(struct flow *flow)
{
    int count = flow->dec->function->insn_count;
    uint8_t *starts = decode_block_starts(flow->dec->function);
    flow->block_of = xmalloc(((size_t)count + 1) * sizeof *flow->block_of);
    for (int i = 0; i < count; i++) {
        flow->block_count += starts[i];
        flow->block_of[i] = flow->block_count - 1;
    }
    flow->block_of[count] = -1;
    flow->blocks = xcalloc((size_t)flow->block_count + 1, sizeof *flow->blocks);
    for (int i = count - 1; i >= 0; i--)
        flow->blocks[flow->block_of[i]].first = i;
    for (int i = 0; i < count; i++)
        flow->blocks[flow->block_of[i]].last = i;
    free(starts);
}

/* An edge from -> to: counted in the first pass, noted in the second. */
static void add_edge(struct flow *flow, int from, int to, bool note)
{
    if (to < 0)
        return;
    struct basic_block *block = &flow->blocks[to];
    if (note)
        flow->preds[block->pred + block->preds] = from;
    block->preds++;
    flow->edge_count++;
}

static void walk_edges(struct flow *flow, bool note)
{
    const struct ptx_function *f = flow->dec->function;
    flow->edge_count = 0;
    for (int b = 0; b < flow->block_count && flow->edge_count <= EDGE_LIMIT; b++) {
        const struct ptx_insn *in = &f->insns[flow->blocks[b].last];
        const struct ptx_table *table = branch_table(f, in);
        if (!ends_block(in) || in->guard >= 0)
            add_edge(flow, b, flow->block_of[flow->blocks[b].last + 1], note);
        if (is_branch(in))
            add_edge(flow, b, flow->block_of[in->operand[0].target], note);
        for (int k = 0; table != NULL && k < table->count; k++)
            add_edge(flow, b, flow->block_of[table->target[k]], note);
    }
}

static void find_predecessors(struct flow *flow)
{
    walk_edges(flow, false);
    if (flow->edge_count > EDGE_LIMIT)
        return;
    flow->preds = xmalloc(((size_t)flow->edge_count + 1) * sizeof *flow->preds);
    int at = 0;
    for (int b = 0; b < flow->block_count; b++) {
        flow->blocks[b].pred = at;
        at += flow->blocks[b].preds;
        flow->blocks[b].preds = 0;
    }
    walk_edges(flow, true);
}

/* --- intervals ------------------------------------------------------------------------- */

/* Sort the touches by value; those of one value stay in the order of ops. */
static void group_touches(struct flow *flow)
{
    const struct decoder *dec = flow->dec;
    int *start = xcalloc((size_t)dec->value_count + 2, sizeof *start);
    for (int t = 0; t < dec->touch_count; t++)
        start[dec->touches[t].value + 2]++;
    for (int v = 0; v <= dec->value_count; v++)
        start[v + 1] += start[v];
    flow->touches = xmalloc(((size_t)dec->touch_count + 1) * sizeof *flow->touches);
    for (int t = 0; t < dec->touch_count; t++)
        flow->touches[start[dec->touches[t].value + 1]++] = t;
    flow->touch_start = start;
}

static void stretch(struct value *value, int op)
{
    if (value->first < 0 || op < value->first)
        value->first = op;
    if (op > value->last)
        value->last = op;
}

/* Value v is live on entry of the blocks on the stack: so it is at the end of their
 * predecessors, and on their entry unless they define it. */
static void follow_back(struct flow *flow, int v, int depth)
{
    struct value *value = &flow->dec->values[v];
    while (depth > 0) {
        const struct basic_block *block = &flow->blocks[flow->stack[--depth]];
        stretch(value, block->first);
        for (int k = 0; k < block->preds; k++) {
            int from = flow->preds[block->pred + k];
            flow->walked++;
            stretch(value, flow->blocks[from].last);
            if (flow->defined[from] == v || flow->live_in[from] == v)
                continue;
            flow->live_in[from] = v;
            flow->stack[depth++] = from;
        }
    }
}

/* One op's touches of v: does it read, does it surely write? */
static int touches_of_op(const struct flow *flow, int at, int end, bool *reads,
                         bool *writes)
{
    const struct decoder *dec = flow->dec;
    int op = dec->touches[flow->touches[at]].op;
    *reads = *writes = false;
    for (; at < end && dec->touches[flow->touches[at]].op == op; at++) {
        bool write = dec->touches[flow->touches[at]].write;
        *reads |= !write;
        *writes |= write && dec->function->insns[op].guard < 0;
    }
    return at;
}

static void find_interval(struct flow *flow, int v)
{
    const struct decoder *dec = flow->dec;
    int at = flow->touch_start[v], end = flow->touch_start[v + 1], depth = 0;
    if (flow->preds == NULL || flow->walked > WALK_LIMIT) {
        stretch(&dec->values[v], 0);
        stretch(&dec->values[v], dec->function->insn_count);
        return;
    }
    while (at < end) {
        int op = dec->touches[flow->touches[at]].op, block = flow->block_of[op];
        bool reads, writes;
        at = touches_of_op(flow, at, end, &reads, &writes);
        stretch(&dec->values[v], op);
        if (reads && flow->defined[block] != v && flow->live_in[block] != v) {
            flow->live_in[block] = v;
            flow->stack[depth++] = block;
        }
        if (writes)
            flow->defined[block] = v;
    }
    follow_back(flow, v, depth);
}

static void find_intervals(struct flow *flow)
{
    size_t blocks = (size_t)flow->block_count + 1;
    flow->live_in = xmalloc(blocks * sizeof *flow->live_in);
    flow->defined = xmalloc(blocks * sizeof *flow->defined);
    flow->stack = xmalloc(blocks * sizeof *flow->stack);
    for (size_t b = 0; b < blocks; b++)
        flow->live_in[b] = flow->defined[b] = -1;
    for (int v = 0; v < flow->dec->value_count; v++)
        if (flow->dec->values[v].kind == VALUE_REGISTER)
            find_interval(flow, v);
}

static void free_flow(struct flow *flow)
{
    free(flow->blocks);
    free(flow->block_of);
    free(flow->preds);
    free(flow->touch_start);
    free(flow->touches);
    free(flow->live_in);
    free(flow->defined);
    free(flow->stack);
}

/* --- rows --------------------------------------------------------------------------- */

enum { CLASSES = 4 };

static int class_of(int bytes)
{
    return bytes == 0 ? 0 : bytes == 4 ? 1 : bytes == 8 ? 2 : 3;
}

static uint32_t row_bytes(int bytes)
{
    return bytes == 0 ? 4 : (uint32_t)bytes * LANES;
}

static int by_start(const void *a, const void *b)
{
    const struct value *const *x = a, *const *y = b;
    return (*x)->first != (*y)->first ? (*x)->first - (*y)->first
                                      : (*x < *y ? -1 : *x > *y);
}

/* Rows of one size: those in use as a heap with the interval that ends first on top,
 * and those to hand out again. */
struct row {
    int last;
    uint32_t place;
};
struct row_class {
    struct row *used;
    uint32_t *spare;
    int used_count, spare_count;
};

static void heap_push(struct row_class *class, struct row row)
{
    int at = class->used_count++;
    while (at > 0 && class->used[(at - 1) / 2].last > row.last) {
        class->used[at] = class->used[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    class->used[at] = row;
}

static struct row heap_pop(struct row_class *class)
{
    struct row top = class->used[0], row = class->used[--class->used_count];
    int at = 0, child;
    while ((child = 2 * at + 1) < class->used_count) {
        if (child + 1 < class->used_count &&
            class->used[child + 1].last < class->used[child].last)
            child++;
        if (class->used[child].last >= row.last)
            break;
        class->used[at] = class->used[child];
        at = child;
    }
    class->used[at] = row;
    return top;
}

/* Linear scan over values in order of their start. *live: most 32-bit registers alive
 * at once. */
static uint32_t scan_rows(struct decoder *dec, struct value **order, int count,
                          uint32_t place, uint32_t *live)
{
    struct row_class classes[CLASSES];
    uint32_t alive = 0, most = 0;
    for (int c = 0; c < CLASSES; c++) {
        classes[c].used = xmalloc(((size_t)count + 1) * sizeof *classes[c].used);
        classes[c].spare = xmalloc(((size_t)count + 1) * sizeof *classes[c].spare);
        classes[c].used_count = classes[c].spare_count = 0;
    }
    for (int i = 0; i < count; i++) {
        struct value *value = order[i];
        for (int c = 0; c < CLASSES; c++)
            while (classes[c].used_count > 0 && classes[c].used[0].last < value->first) {
                struct row row = heap_pop(&classes[c]);
                alive -= c == 0 ? 0 : 1u << (c - 1);
                if (!dec->keep_registers)
                    classes[c].spare[classes[c].spare_count++] = row.place;
            }
        struct row_class *class = &classes[class_of(value->bytes)];
        if (class->spare_count > 0) {
            value->place = class->spare[--class->spare_count];
        } else {
            value->place = place;
            place += row_bytes(value->bytes);
        }
        heap_push(class, (struct row){value->last, value->place});
        alive += (uint32_t)value->bytes / 4;
        most = alive > most ? alive : most;
    }
    for (int c = 0; c < CLASSES; c++) {
        free(classes[c].used);
        free(classes[c].spare);
    }
    *live = most;
    return place;
}

static uint32_t align64(uint32_t place)
{
    return (place + 63) & ~63u;
}

/* What the frame would take without any sharing: bounds all sums below. */
static bool frame_fits(struct decoder *dec)
{
    uint64_t kept = 0;
    for (int v = 0; v < dec->value_count; v++)
        if (dec->values[v].kind != VALUE_REGISTER || dec->keep_registers)
            kept += (uint64_t)row_bytes(dec->values[v].bytes);
    return (kept <= FRAME_LIMIT && dec->value_count < 1 << 22) ||
           decode_fail(dec,
                       "the function has too many registers and constants (%d; a "
                       "warp's frame is limited to %d MiB)",
                       dec->value_count, FRAME_LIMIT >> 20);
}

/* Constants first (copied from code->preset), then special registers. */
static uint32_t place_presets(struct decoder *dec)
{
    struct code *code = dec->code;
    uint32_t place = 0;
    for (int v = 0; v < dec->value_count; v++)
        if (dec->values[v].kind == VALUE_CONSTANT) {
            dec->values[v].place = place;
            place += row_bytes(dec->values[v].bytes);
        }
    uint8_t *preset = decode_alloc(dec, (size_t)place + 1);
    for (int v = 0; v < dec->value_count; v++) {
        const struct value *value = &dec->values[v];
        if (value->kind != VALUE_CONSTANT)
            continue;
        for (int l = 0; l < LANES; l++)
            memcpy(preset + value->place + (size_t)l * (size_t)value->bytes, &value->bits,
                   value->bytes < 8 ? (size_t)value->bytes : 8);
    }
    code->preset = preset;
    code->preset_bytes = place;
    code->sregs = decode_alloc(dec, ((size_t)dec->value_count + 1) * sizeof *code->sregs);
    for (int v = 0; v < dec->value_count; v++) {
        struct value *value = &dec->values[v];
        if (value->kind != VALUE_SREG)
            continue;
        value->place = place;
        code->sregs[code->sreg_count++] =
            (struct sreg_row){place, (uint16_t)value->sreg, (uint8_t)value->bytes};
        place += row_bytes(value->bytes);
    }
    return place;
}

/* Rows before words: a predicate between rows would break their alignment. */
static int rows_first(struct value **order, int count)
{
    int rows = 0;
    for (int i = 0; i < count; i++)
        if (order[i]->bytes != 0) {
            struct value *swap = order[rows];
            order[rows++] = order[i];
            order[i] = swap;
        }
    return rows;
}

bool liveness_place(struct decoder *dec)
{
    struct flow flow = {.dec = dec};
    struct code *code = dec->code;
    uint32_t live, unused;
    if (!frame_fits(dec))
        return false;
    find_blocks(&flow);
    find_predecessors(&flow);
    group_touches(&flow);
    find_intervals(&flow);
    free_flow(&flow);

    uint32_t place = place_presets(dec);
    struct value **order = xmalloc(((size_t)dec->value_count + 1) * sizeof(*order));
    int count = 0;
    for (int v = 0; v < dec->value_count; v++)
        if (dec->values[v].kind == VALUE_SCRATCH) {
            dec->values[v].place = place;
            place += row_bytes(dec->values[v].bytes == 0 ? 4 : dec->values[v].bytes);
        } else if (dec->values[v].kind == VALUE_REGISTER) {
            order[count++] = &dec->values[v];
        }
    int rows = rows_first(order, count);
    qsort(order, (size_t)rows, sizeof *order, by_start);
    qsort(order + rows, (size_t)(count - rows), sizeof *order, by_start);
    place = scan_rows(dec, order, rows, place, &live);
    place = scan_rows(dec, order + rows, count - rows, place, &unused);
    free(order);
    code->live_registers = live + 8;
    code->param_area = align64(place);
    code->frame_bytes = align64(code->param_area + dec->param_area_bytes);
    return place <= 2 * FRAME_LIMIT ||
           decode_fail(dec, "too many registers are live at once for a frame of %d MiB",
                       FRAME_LIMIT >> 20);
}
