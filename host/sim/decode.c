/* decode.c - ptx_function -> struct code: finds each instruction's row in the table,
 * lets the row fill in an op, then gives every value its place in the frame. Operands
 * are in decode_operand.c, places in liveness.c. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "decode_parts.h"
#include "run.h"

enum { CONSTANT_BUCKETS = 256, CALL_LIMIT = 1000 };

/* --- memory of a code ------------------------------------------------------------- */

struct code_chunk {
    struct code_chunk *next;
    _Alignas(16) unsigned char data[];
};

static void *code_alloc(struct code *code, size_t bytes)
{
    struct code_chunk *chunk = xcalloc(1, sizeof *chunk + bytes);
    chunk->next = code->chunks;
    code->chunks = chunk;
    return chunk->data;
}

void *decode_alloc(struct decoder *dec, size_t bytes)
{
    return code_alloc(dec->code, bytes);
}

void *decode_grow(void *array, int count, int *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room == 0 ? 64 : *room * 2;
    return xrealloc(array, (size_t)*room * size);
}

bool decode_fail(struct decoder *dec, const char *format, ...)
{
    if (dec->why[0] == '\0') {
        va_list list;
        va_start(list, format);
        vsnprintf(dec->why, sizeof dec->why, format, list);
        va_end(list);
    }
    return false;
}

/* --- values ----------------------------------------------------------------------- */

int decode_add_value(struct decoder *dec, enum value_kind kind, int bytes)
{
    dec->values =
        decode_grow(dec->values, dec->value_count, &dec->value_room, sizeof *dec->values);
    dec->values[dec->value_count] =
        (struct value){.kind = kind, .bytes = bytes, .first = -1, .last = -1};
    return dec->value_count++;
}

void decode_touch(struct decoder *dec, int value, bool write)
{
    dec->touches = decode_grow(dec->touches, dec->touch_count, &dec->touch_room,
                               sizeof *dec->touches);
    dec->touches[dec->touch_count++] =
        (struct touch){.op = dec->op, .value = value, .write = write};
}

int decode_type_bytes(enum ptx_type type)
{
    int bits = ptx_type_bits(type);
    return type == PTX_PRED ? 0 : bits <= 32 ? 4 : bits / 8;
}

uint32_t decode_register(struct decoder *dec, int reg, bool write)
{
    int *value = &dec->value_of_reg[reg];
    if (*value < 0)
        *value = decode_add_value(dec, VALUE_REGISTER,
                                  decode_type_bytes(dec->function->regs[reg].type));
    decode_touch(dec, *value, write);
    return ROW_TAG | (uint32_t)*value;
}

uint32_t decode_constant(struct decoder *dec, uint64_t bits, int bytes)
{
    uint32_t bucket = (uint32_t)((bits * 0x9e3779b97f4a7c15ull) >> 56) % CONSTANT_BUCKETS;
    for (int i = dec->constant_hash[bucket]; i >= 0; i = dec->constant_next[i])
        if (dec->values[i].bits == bits && dec->values[i].bytes == bytes)
            return ROW_TAG | (uint32_t)i;
    int value = decode_add_value(dec, VALUE_CONSTANT, bytes);
    dec->values[value].bits = bits;
    dec->constant_next = xrealloc(dec->constant_next,
                                  (size_t)dec->value_room * sizeof *dec->constant_next);
    dec->constant_next[value] = dec->constant_hash[bucket];
    dec->constant_hash[bucket] = value;
    return ROW_TAG | (uint32_t)value;
}

uint32_t decode_scratch(struct decoder *dec, int bytes)
{
    int value = decode_add_value(dec, VALUE_SCRATCH, bytes);
    return ROW_TAG | (uint32_t)value;
}

/* Where all that is thrown away may go: written, never read. */
uint32_t decode_sink(struct decoder *dec, int bytes)
{
    int *sink = &dec->sink[bytes == 0 ? 0 : bytes == 4 ? 1 : bytes == 8 ? 2 : 3];
    if (*sink == 0)
        *sink = decode_add_value(dec, VALUE_SCRATCH, bytes) + 1;
    return ROW_TAG | (uint32_t)(*sink - 1);
}

uint32_t decode_carry(struct decoder *dec, bool write)
{
    if (dec->carry < 0)
        dec->carry = decode_add_value(dec, VALUE_REGISTER, 0);
    decode_touch(dec, dec->carry, write);
    return ROW_TAG | (uint32_t)dec->carry;
}

/* --- parameters -------------------------------------------------------------------- */

bool code_param(const struct code *code, const struct ptx_var *var,
                struct param_place *place)
{
    const struct ptx_function *f = code->function;
    struct ptx_var **lists[3] = {f->vars, f->params, f->rets};
    int counts[3] = {f->var_count, f->is_entry ? 0 : f->param_count, f->ret_count};
    int index = var->index;
    if (var->space != PTX_PARAM)
        return false;
    for (int i = 0; i < 3; index -= counts[i++])
        if (index < counts[i]) {
            *place = code->places[var->index];
            return lists[i][index] == var;
        }
    return false;
}

bool decode_param(struct decoder *dec, const struct ptx_var *var,
                  struct param_place *place)
{
    return code_param(dec->code, var, place);
}

const struct ptx_function *decode_function_of(const struct decoder *dec)
{
    return dec->function;
}

const struct ptx_module *decode_module_of(const struct decoder *dec)
{
    return dec->env->module;
}

const struct code *decode_code(struct decoder *dec, int callee)
{
    return dec->whole->codes[callee];
}

/* Give the .param variables of a function and its body areas in the frame. */
static bool place_params(struct decoder *dec)
{
    const struct ptx_function *f = dec->function;
    struct ptx_var **lists[3] = {f->vars, f->params, f->rets};
    int counts[3] = {f->var_count, f->is_entry ? 0 : f->param_count, f->ret_count};
    dec->code->places = decode_alloc(
        dec, ((size_t)counts[0] + (size_t)counts[1] + (size_t)counts[2] + 1) *
                 sizeof *dec->code->places);
    uint64_t area = 0;
    int index = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < counts[i]; k++, index++) {
            struct ptx_var *var = lists[i][k];
            var->index = index;
            if (var->space != PTX_PARAM)
                continue;
            uint64_t stride = (var->size_bytes + 15) & ~(uint64_t)15;
            dec->code->places[index] =
                (struct param_place){(uint32_t)area, (uint32_t)stride};
            area += stride * LANES;
            if (area > 64 << 20)
                return decode_fail(dec, "more than 64 MiB of parameters");
        }
    dec->param_area_bytes = (uint32_t)area;
    return true;
}

/* --- one instruction ---------------------------------------------------------------- */

static bool modifiers_allowed(struct decoder *dec, const struct op_row *row,
                              const struct mods *mods)
{
    for (int i = 0; i < mods->class_count; i++)
        if ((mods->classes[i] & row->allowed) == 0)
            return decode_fail(dec, "it does not take .%s", dec->insn->suffix[i]);
    return true;
}

/* Does the row's list name this type? */
static bool row_lists(const struct op_row *row, enum ptx_type type)
{
    const char *name = ptx_type_name(type), *at = row->types;
    if (at == NULL || type == PTX_TYPE_NONE)
        return true;
    for (size_t length = strlen(name); (at = strchr(at, '.')) != NULL; at++)
        if (strncmp(at + 1, name, length) == 0 &&
            (at[1 + length] == ' ' || at[1 + length] == '\0'))
            return true;
    return false;
}

/* How far it came: 0 refused by its form, 1 by the row's own decoder, 2 taken. */
static int decode_row(struct decoder *dec, const struct op_row *row,
                      const struct ptx_insn *in, const struct mods *mods, struct op *op)
{
    dec->why[0] = '\0';
    memset(op, 0, sizeof *op);
    op->guard = NO_GUARD;
    op->pipe = row->pipe;
    op->pc = (uint32_t)dec->op;
    op->count = 1;
    if (in->guard >= 0) {
        op->guard = decode_register(dec, in->guard, false);
        op->guard_negated = in->guard_negated;
    }
    bool good = modifiers_allowed(dec, row, mods);
    if (good && in->operand_count < row->operands_min)
        good = decode_fail(dec, "it takes %d operands, not %d", row->operands_min,
                           in->operand_count);
    if (good && in->operand_count > row->operands_max)
        good = decode_fail(dec, "it takes %d operands at most, not %d", row->operands_max,
                           in->operand_count);
    return !good ? 0 : row->decode(dec, in, mods, op) ? 2 : 1;
}

/* Of the rows that refuse it, the first says why that knows the type, and of those the
 * first that likes the form. */
static bool decode_op(struct decoder *dec, const struct ptx_insn *in, struct op *op)
{
    struct mods mods;
    const char *unknown;
    char why[sizeof dec->why] = "";
    int best = -1;
    if (ops_find(in->base, 0) == NULL)
        return decode_fail(dec, "there is no such instruction");
    const struct op_row *row;
    dec->why[0] = '\0';
    if (!mods_parse(in, &mods, &unknown)) {
        /* a row that takes all suffixes is there to say why not */
        for (int i = 0; (row = ops_find(in->base, i)) != NULL; i++)
            if (row->allowed == ~0u)
                row->decode(dec, in, &mods, op);
        return decode_fail(dec, ".%s is not known", unknown);
    }
    int touches = dec->touch_count, lists = dec->list_count;
    for (int i = 0; (row = ops_find(in->base, i)) != NULL; i++) {
        dec->touch_count = touches;
        dec->list_count = lists;
        int form = decode_row(dec, row, in, &mods, op);
        if (form == 2) {
            if (dec->env->taken != NULL)
                dec->env->taken(dec->env->context, row);
            check_note_order(in, op);
            return true;
        }
        /* a row that is there to refuse says nothing, or more than any other */
        int rank = 2 * row_lists(row, mods.type[0]) + form + (row->allowed == ~0u);
        bool speaks = dec->why[0] != '\0';
        if (dec->failed || (speaks && (rank > best || why[0] == '\0'))) {
            memcpy(why, dec->why, sizeof why);
            best = rank;
        }
        if (dec->failed)
            break;
    }
    memcpy(dec->why, why, sizeof why);
    return false;
}

/* "file.ptx:12 (kernels/a.cu:34): `opcode` is not supported: why; see --list ptx" */
static bool fail_insn(struct decoder *dec, const struct ptx_insn *in)
{
    const struct ptx_module *module = dec->env->module;
    char source[160] = "";
    if (in->loc_line > 0 && in->loc_file < module->file_count && in->loc_file > 0 &&
        module->files[in->loc_file] != NULL) {
        const char *file = module->files[in->loc_file];
        size_t length = strlen(file);
        snprintf(source, sizeof source, " (%s:%d)",
                 length > 120 ? file + length - 120 : file, in->loc_line);
    }
    dec->failed = true;
    return error_set(dec->err, EXIT_OURS,
                     "%s:%d%s: `%s` is not supported: %s; see --list ptx", module->name,
                     in->line, source, in->text, dec->why);
}

/* --- places into ops ---------------------------------------------------------------- */

static void patch(const struct decoder *dec, uint32_t *row)
{
    if (*row != NO_GUARD && (*row & ROW_TAG) != 0)
        *row = dec->values[*row & ~ROW_TAG].place;
}

static void patch_ops(struct decoder *dec)
{
    for (uint32_t i = 0; i < dec->code->op_count; i++) {
        struct op *op = &dec->code->ops[i];
        patch(dec, &op->guard);
        patch(dec, &op->d);
        patch(dec, &op->d2);
        for (int k = 0; k < SIM_MAX_SOURCES; k++)
            patch(dec, &op->s[k]);
    }
    for (int i = 0; i < dec->list_count; i++)
        for (int k = 0; k < dec->lists[i].count; k++)
            patch(dec, &dec->lists[i].rows[k]);
}

static void free_decoder(struct decoder *dec)
{
    free(dec->values);
    free(dec->value_of_reg);
    free(dec->constant_hash);
    free(dec->constant_next);
    free(dec->touches);
    free(dec->lists);
}

static void fill_lines(struct decoder *dec)
{
    const struct ptx_function *f = dec->function;
    struct line_info *lines =
        decode_alloc(dec, ((size_t)f->insn_count + 1) * sizeof *lines);
    for (int i = 0; i < f->insn_count; i++)
        lines[i] = (struct line_info){f->insns[i].line, f->insns[i].loc_file,
                                      f->insns[i].loc_line};
    dec->code->lines = lines;
}

static struct code *decode_function(struct decode_whole *whole,
                                    const struct ptx_function *function,
                                    bool keep_registers, struct error *err)
{
    struct code *code = xcalloc(1, sizeof *code);
    struct decoder dec = {.env = whole->env,
                          .function = function,
                          .code = code,
                          .err = err,
                          .keep_registers = keep_registers,
                          .carry = -1,
                          .whole = whole};
    whole->codes =
        decode_grow(whole->codes, whole->count, &whole->room, sizeof *whole->codes);
    whole->codes[whole->count++] = code;
    code->function = function;
    code->op_count = (uint32_t)function->insn_count;
    code->ops = code_alloc(code, ((size_t)code->op_count + 1) * sizeof *code->ops);
    dec.value_of_reg =
        xmalloc(((size_t)function->reg_count + 1) * sizeof *dec.value_of_reg);
    for (int i = 0; i < function->reg_count; i++)
        dec.value_of_reg[i] = -1;
    dec.constant_hash = xmalloc(CONSTANT_BUCKETS * sizeof *dec.constant_hash);
    for (int i = 0; i < CONSTANT_BUCKETS; i++)
        dec.constant_hash[i] = -1;
    bool good = place_params(&dec);
    for (int i = 0; good && i < function->insn_count; i++) {
        dec.op = i;
        dec.insn = &function->insns[i];
        good = decode_op(&dec, dec.insn, &code->ops[i]);
    }
    if (good) {
        fill_lines(&dec);
        good = liveness_place(&dec);
    }
    if (good) {
        merge_shared(&dec);
        patch_ops(&dec);
        if (whole->env->follow_values)
            check_follow_values(&dec);
    } else {
        if (!dec.failed)
            fail_insn(&dec, dec.insn != NULL ? dec.insn : &function->insns[0]);
    }
    free_decoder(&dec);
    return good ? code : NULL;
}

int decode_callee(struct decoder *dec, const struct ptx_function *function)
{
    struct decode_whole *whole = dec->whole;
    for (int i = 0; i < whole->count; i++)
        if (whole->codes[i]->function == function)
            return i;
    if (whole->count >= CALL_LIMIT) {
        decode_fail(dec, "a kernel that reaches more than %d functions", CALL_LIMIT);
        return -1;
    }
    if (decode_function(whole, function, dec->keep_registers, dec->err) == NULL) {
        dec->failed = true;
        return -1;
    }
    for (int i = 0; i < whole->count; i++)
        if (whole->codes[i]->function == function)
            return i;
    return -1;
}

struct code *code_decode(const struct decode_env *env,
                         const struct ptx_function *function, bool keep_registers,
                         struct error *err)
{
    struct decode_whole whole = {.env = env};
    struct code *entry = decode_function(&whole, function, keep_registers, err);
    if (entry == NULL) {
        for (int i = 0; i < whole.count; i++)
            code_free_one(whole.codes[i]);
        free(whole.codes);
        return NULL;
    }
    uint32_t base = 0;
    for (int i = 0; i < whole.count; i++) {
        whole.codes[i]->callees = whole.codes;
        whole.codes[i]->callee_count = (uint32_t)whole.count;
        whole.codes[i]->base = base;
        base += whole.codes[i]->op_count;
        entry->float_atomics |= whole.codes[i]->float_atomics;
        if (whole.codes[i]->live_registers > entry->live_registers)
            entry->live_registers = whole.codes[i]->live_registers;
    }
    entry->total_ops = base;
    return entry;
}

void code_free_one(struct code *code)
{
    struct code_chunk *chunk = code->chunks;
    while (chunk != NULL) {
        struct code_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(code);
}

void code_free(struct code *code)
{
    if (code == NULL)
        return;
    struct code **codes = code->callees;
    uint32_t count = code->callee_count;
    for (uint32_t i = 0; i < count; i++)
        code_free_one(codes[i]);
    free(codes);
}
