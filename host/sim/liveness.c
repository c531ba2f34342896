/* liveness.c - which registers are live where, and so which can share a row.
 *
 * A compiler's PTX uses thousands of virtual registers, but only tens at a time.
 * Backward data flow over basic blocks finds where each is live; a value's interval
 * is stretched over every op at which it is live; intervals are then given rows in
 * order of their start (linear scan). Lanes of a warp that are at different places
 * each use their own column of a row, so what is right for one thread is right for
 * the warp. A guarded write does not end a life: lanes that skip it keep the value.
 */
#include <stdlib.h>

#include "decode_parts.h"

typedef uint64_t word;

struct basic_block {
    int first, last; /* ops */
    int next[2];     /* successor blocks, -1 = none */
    const struct ptx_table *table;
    word *in, *out, *use, *def;
};

struct flow {
    struct decoder *dec;
    struct basic_block *blocks;
    int block_count;
    int *block_of;  /* op -> block */
    int *reg_index; /* value -> dense register number, -1 */
    int *reg_value; /* dense register number -> value */
    int reg_count, words;
    int *touch_start; /* op -> first touch */
};

static const struct ptx_table *branch_table(const struct ptx_function *f,
                                            const struct ptx_insn *in)
{
    for (int i = 0; i < f->table_count; i++)
        if (in->operand_count == 2 && f->tables[i].count > 0 &&
            strcmp(f->tables[i].name, in->operand[1].symbol) == 0)
            return &f->tables[i];
    return NULL;
}

static bool ends_block(const struct ptx_insn *in)
{
    return strcmp(in->base, "bra") == 0 || strcmp(in->base, "brx") == 0 ||
           strcmp(in->base, "ret") == 0 || strcmp(in->base, "exit") == 0;
}

static void find_blocks(struct flow *flow)
{
    const struct ptx_function *f = flow->dec->function;
    int count = f->insn_count;
    uint8_t *starts = xcalloc((size_t)count + 1, 1);
    starts[0] = 1;
    for (int i = 0; i < count; i++) {
        const struct ptx_insn *in = &f->insns[i];
        if (!ends_block(in))
            continue;
        starts[i + 1] = 1;
        if (strcmp(in->base, "bra") == 0 && in->operand[0].target >= 0)
            starts[in->operand[0].target] = 1;
        const struct ptx_table *table =
            strcmp(in->base, "brx") == 0 ? branch_table(f, in) : NULL;
        for (int k = 0; table != NULL && k < table->count; k++)
            starts[table->target[k]] = 1;
    }
    flow->block_of = xmalloc(((size_t)count + 1) * sizeof *flow->block_of);
    for (int i = 0; i < count; i++) {
        flow->block_count += starts[i];
        flow->block_of[i] = flow->block_count - 1;
    }
    flow->block_of[count] = -1;
    flow->blocks = xcalloc((size_t)flow->block_count, sizeof *flow->blocks);
    for (int i = count - 1; i >= 0; i--)
        flow->blocks[flow->block_of[i]].first = i;
    for (int i = 0; i < count; i++)
        flow->blocks[flow->block_of[i]].last = i;
    for (int b = 0; b < flow->block_count; b++) {
        struct basic_block *block = &flow->blocks[b];
        const struct ptx_insn *in = &f->insns[block->last];
        bool leaves = ends_block(in) && in->guard < 0;
        block->next[0] = leaves ? -1 : flow->block_of[block->last + 1];
        block->next[1] = strcmp(in->base, "bra") == 0 && in->operand[0].target >= 0
                             ? flow->block_of[in->operand[0].target]
                             : -1;
        block->table = strcmp(in->base, "brx") == 0 ? branch_table(f, in) : NULL;
    }
    free(starts);
}

static void index_registers(struct flow *flow)
{
    struct decoder *dec = flow->dec;
    flow->reg_index = xmalloc(((size_t)dec->value_count + 1) * sizeof *flow->reg_index);
    flow->reg_value = xmalloc(((size_t)dec->value_count + 1) * sizeof *flow->reg_value);
    for (int v = 0; v < dec->value_count; v++) {
        flow->reg_index[v] = -1;
        if (dec->values[v].kind == VALUE_REGISTER) {
            flow->reg_value[flow->reg_count] = v;
            flow->reg_index[v] = flow->reg_count++;
        }
    }
    flow->words = (flow->reg_count + 63) / 64;
    flow->touch_start =
        xmalloc(((size_t)dec->function->insn_count + 2) * sizeof *flow->touch_start);
    int t = 0;
    for (int i = 0; i <= dec->function->insn_count; i++) {
        while (t < dec->touch_count && dec->touches[t].op < i)
            t++;
        flow->touch_start[i] = t;
    }
    flow->touch_start[dec->function->insn_count + 1] = dec->touch_count;
}

static void local_sets(struct flow *flow)
{
    struct decoder *dec = flow->dec;
    for (int b = 0; b < flow->block_count; b++) {
        struct basic_block *block = &flow->blocks[b];
        word *sets = xcalloc((size_t)flow->words * 4 + 1, sizeof *sets);
        block->in = sets;
        block->out = sets + flow->words;
        block->use = sets + 2 * flow->words;
        block->def = sets + 3 * flow->words;
        for (int i = block->first; i <= block->last; i++) {
            bool guarded = dec->function->insns[i].guard >= 0;
            for (int pass = 0; pass < 2; pass++)
                for (int t = flow->touch_start[i]; t < flow->touch_start[i + 1]; t++) {
                    int reg = flow->reg_index[dec->touches[t].value];
                    if (reg < 0 || dec->touches[t].write != (pass == 1))
                        continue;
                    word bit = (word)1 << (reg % 64);
                    if (pass == 0 && !(block->def[reg / 64] & bit))
                        block->use[reg / 64] |= bit;
                    if (pass == 1 && !guarded)
                        block->def[reg / 64] |= bit;
                }
        }
    }
}

static bool flow_into(struct flow *flow, struct basic_block *block, int next)
{
    bool changed = false;
    if (next < 0)
        return false;
    for (int i = 0; i < flow->words; i++) {
        word more = flow->blocks[next].in[i] & ~block->out[i];
        block->out[i] |= more;
        changed |= more != 0;
    }
    return changed;
}

static void solve(struct flow *flow)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int b = flow->block_count - 1; b >= 0; b--) {
            struct basic_block *block = &flow->blocks[b];
            flow_into(flow, block, block->next[0]);
            flow_into(flow, block, block->next[1]);
            for (int k = 0; block->table != NULL && k < block->table->count; k++)
                flow_into(flow, block, flow->block_of[block->table->target[k]]);
            for (int i = 0; i < flow->words; i++) {
                word in = block->use[i] | (block->out[i] & ~block->def[i]);
                changed |= in != block->in[i];
                block->in[i] = in;
            }
        }
    }
}

static void stretch(struct value *value, int op)
{
    if (value->first < 0 || op < value->first)
        value->first = op;
    if (op > value->last)
        value->last = op;
}

static void intervals(struct flow *flow)
{
    struct decoder *dec = flow->dec;
    for (int t = 0; t < dec->touch_count; t++)
        stretch(&dec->values[dec->touches[t].value], dec->touches[t].op);
    for (int b = 0; b < flow->block_count; b++) {
        struct basic_block *block = &flow->blocks[b];
        for (int reg = 0; reg < flow->reg_count; reg++) {
            word bit = (word)1 << (reg % 64);
            struct value *value = &dec->values[flow->reg_value[reg]];
            if (block->in[reg / 64] == 0 && block->out[reg / 64] == 0) {
                reg |= 63; /* nothing in this word */
                continue;
            }
            if (block->in[reg / 64] & bit)
                stretch(value, block->first);
            if (block->out[reg / 64] & bit)
                stretch(value, block->last);
        }
    }
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

struct active {
    int last;
    uint32_t place;
};

/* Linear scan: rows whose interval ended are handed out again. Active rows of a
 * class are few, so a plain array is searched for ended ones. */
static uint32_t scan_rows(struct decoder *dec, struct value **order, int count,
                          uint32_t place)
{
    struct active *rows[CLASSES] = {NULL};
    int used[CLASSES] = {0}, room[CLASSES] = {0};
    int live32 = 0, most = 0;
    for (int i = 0; i < count; i++) {
        struct value *value = order[i];
        int class = class_of(value->bytes);
        int found = -1;
        if (!dec->keep_registers)
            for (int k = 0; k < used[class] && found < 0; k++)
                if (rows[class][k].last < value->first)
                    found = k;
        if (found < 0) {
            if (used[class] == room[class]) {
                room[class] = room[class] == 0 ? 64 : room[class] * 2;
                rows[class] =
                    xrealloc(rows[class], (size_t)room[class] * sizeof *rows[class]);
            }
            found = used[class]++;
            rows[class][found].place = place;
            place += row_bytes(value->bytes);
            live32 += value->bytes / 4;
        }
        rows[class][found].last = value->last;
        value->place = rows[class][found].place;
        most = live32 > most ? live32 : most;
    }
    for (int class = 0; class < CLASSES; class ++)
        free(rows[class]);
    dec->code->live_registers = (uint32_t)most;
    return place;
}

static uint32_t align64(uint32_t place)
{
    return (place + 63) & ~63u;
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

void liveness_place(struct decoder *dec)
{
    struct flow flow = {.dec = dec};
    find_blocks(&flow);
    index_registers(&flow);
    local_sets(&flow);
    solve(&flow);
    intervals(&flow);

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
    /* words of 4 bytes between rows would break their alignment: predicates last */
    int rows = 0;
    for (int i = 0; i < count; i++)
        if (order[i]->bytes != 0) {
            struct value *swap = order[rows];
            order[rows++] = order[i];
            order[i] = swap;
        }
    qsort(order, (size_t)rows, sizeof *order, by_start);
    qsort(order + rows, (size_t)(count - rows), sizeof *order, by_start);
    place = scan_rows(dec, order, rows, place);
    uint32_t live = dec->code->live_registers;
    place = scan_rows(dec, order + rows, count - rows, place);
    dec->code->live_registers = live + 8;
    dec->code->param_area = align64(place);
    dec->code->frame_bytes = align64(dec->code->param_area + dec->param_area_bytes);

    for (int b = 0; b < flow.block_count; b++)
        free(flow.blocks[b].in);
    free(flow.blocks);
    free(flow.block_of);
    free(flow.reg_index);
    free(flow.reg_value);
    free(flow.touch_start);
    free(order);
}
