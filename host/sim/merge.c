/* merge.c - neighbouring accesses to shared memory that ptxas makes one of.
 *
 * PTX has one ld.shared.f32 a word; where four of them read 16 bytes that are aligned,
 * the machine runs one LDS.128. Counts follow the machine: the first op of such a group
 * stands for all (struct op, merged), the others count nothing. What is executed and
 * checked stays as PTX says.
 *
 * The rules are what ptxas 13.0 makes of small kernels for sm_75, sm_80 and sm_90, read
 * off its machine code; it documents none:
 *   - the same base register (or none), unchanged in between, the same guard, one basic
 *     block; the order does not matter; 4- and 8-byte elements, not volatile ones;
 *   - an aligned window of 16 bytes: loads of three or four of its words become one
 *     access of 16 bytes, stores must fill it; else of 8 bytes if they fill a half;
 *   - the alignment must be plain from the code that computes the base: `known_bits`;
 *   - a store to shared memory between two loads keeps them apart (and the other way
 *     round) unless it has their base and another window; so do barriers, fences,
 *     calls, atomics there, and generic stores.
 */
#include <stdlib.h>

#include "decode_parts.h"

enum { WINDOW = 16, WORDS = WINDOW / 4, PASS_LIMIT = 12 };
#define WALK_LIMIT 20000000ll /* members looked at in one function */

/* --- alignment ----------------------------------------------------------------------- */

/* Of a value: its low `count` bits are `bits`. */
struct known {
    uint8_t count, bits;
};

enum { BITS_ALL = 4, NOT_WRITTEN = 5 };

static struct known low_bits(unsigned count, uint64_t bits)
{
    count = count < BITS_ALL ? count : BITS_ALL;
    return (struct known){(uint8_t)count, (uint8_t)(bits & ((1u << count) - 1))};
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static struct known known_sum(struct known a, struct known b)
{
    return low_bits(least(a.count, b.count), (uint64_t)a.bits + b.bits);
}
static struct known known_difference(struct known a, struct known b)
{
    return low_bits(least(a.count, b.count), (uint64_t)a.bits - b.bits);
}

/* Zeros that a value ends with, as far as is known. */
static unsigned end_zeros(struct known a)
{
    return (unsigned)__builtin_ctz(a.bits | 1u << a.count);
}

static struct known known_product(struct known a, struct known b)
{
    return low_bits(least(a.count + end_zeros(b), b.count + end_zeros(a)),
                    (uint64_t)a.bits * b.bits);
}

static struct known known_and(struct known a, struct known b)
{
    unsigned count = 0, bits = a.bits & b.bits;
    for (; count < BITS_ALL; count++) {
        bool a_zero = count < a.count && !(a.bits >> count & 1);
        bool b_zero = count < b.count && !(b.bits >> count & 1);
        if (!a_zero && !b_zero && (count >= a.count || count >= b.count))
            break;
    }
    return low_bits(count, bits);
}
static struct known known_or(struct known a, struct known b)
{
    return low_bits(least(a.count, b.count), (uint64_t)a.bits | b.bits);
}
static struct known known_xor(struct known a, struct known b)
{
    return low_bits(least(a.count, b.count), (uint64_t)a.bits ^ b.bits);
}

/* Either of the two. */
static struct known known_join(struct known a, struct known b)
{
    if (a.count == NOT_WRITTEN || b.count == NOT_WRITTEN)
        return a.count == NOT_WRITTEN ? b : a;
    unsigned same = (unsigned)__builtin_ctz((a.bits ^ b.bits) | 1u << BITS_ALL);
    return low_bits(least(same, least(a.count, b.count)), a.bits);
}

/* The low bits of the value behind a row of an op. */
static struct known known_row(const struct decoder *dec, const struct known *known,
                              uint32_t row)
{
    uint32_t value = row & ~ROW_TAG;
    if (!(row & ROW_TAG) || (int)value >= dec->value_count)
        return low_bits(0, 0);
    if (dec->values[value].kind == VALUE_CONSTANT)
        return low_bits(BITS_ALL, dec->values[value].bits);
    return known[value];
}

static struct known known_shift(const struct decoder *dec, const struct op *op,
                                struct known a)
{
    uint32_t value = op->s[1] & ~ROW_TAG;
    bool constant =
        (int)value < dec->value_count && dec->values[value].kind == VALUE_CONSTANT;
    uint64_t by = constant ? dec->values[value].bits : 0;
    if (by >= BITS_ALL)
        return low_bits(BITS_ALL, 0);
    return constant ? low_bits(a.count + (unsigned)by, (uint64_t)a.bits << by)
                    : low_bits(end_zeros(a), 0);
}

static bool is_whole_number(const struct ptx_insn *in)
{
    for (int i = 0; i < in->suffix_count; i++) {
        const char *suffix = in->suffix[i];
        if (suffix[0] == 'f' || strncmp(suffix, "bf", 2) == 0 ||
            strcmp(suffix, "hi") == 0 || strcmp(suffix, "sat") == 0 ||
            strcmp(suffix, "cc") == 0)
            return false;
    }
    return true;
}

/* The low bits of what an op writes to op->d. */
static struct known known_result(const struct decoder *dec, const struct known *known,
                                 const struct ptx_insn *in, const struct op *op)
{
    static const struct {
        const char *base;
        struct known (*of)(struct known a, struct known b);
    } two[] = {{"add", known_sum},  {"sub", known_difference}, {"mul", known_product},
               {"and", known_and},  {"or", known_or},          {"xor", known_xor},
               {"selp", known_join}};
    struct known a = known_row(dec, known, op->s[0]);
    if (!is_whole_number(in) || a.count == NOT_WRITTEN)
        return low_bits(0, 0);
    if (strcmp(in->base, "mov") == 0 || strcmp(in->base, "cvt") == 0 ||
        strcmp(in->base, "cvta") == 0)
        return a;
    if (strcmp(in->base, "shl") == 0)
        return known_shift(dec, op, a);
    struct known b = known_row(dec, known, op->s[1]);
    if (b.count == NOT_WRITTEN)
        return low_bits(0, 0);
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        if (strcmp(in->base, two[i].base) == 0)
            return two[i].of(a, b);
    struct known c = known_row(dec, known, op->s[2]);
    if (strcmp(in->base, "mad") == 0 && c.count != NOT_WRITTEN)
        return known_sum(known_product(a, b), c);
    return low_bits(0, 0);
}

/* One round over all ops; true if something changed. */
static bool know_more(const struct decoder *dec, struct known *known)
{
    bool changed = false;
    for (int t = 0; t < dec->touch_count; t++) {
        const struct touch *touch = &dec->touches[t];
        const struct op *op = &dec->code->ops[touch->op];
        if (!touch->write)
            continue;
        struct known now = low_bits(0, 0);
        if (op->d == (ROW_TAG | (uint32_t)touch->value))
            now = known_result(dec, known, &dec->function->insns[touch->op], op);
        now = known_join(known[touch->value], now);
        changed |= now.count != known[touch->value].count;
        known[touch->value] = now;
    }
    return changed;
}

/* Of every value, from the top: a loop keeps what holds in its first round and stays. */
static struct known *known_bits(const struct decoder *dec)
{
    struct known *known = xcalloc((size_t)dec->value_count + 1, sizeof *known);
    for (int v = 0; v < dec->value_count; v++)
        if (dec->values[v].kind == VALUE_REGISTER)
            known[v].count = NOT_WRITTEN;
    int pass = 0;
    while (pass < PASS_LIMIT && know_more(dec, known))
        pass++;
    if (pass == PASS_LIMIT)
        memset(known, 0, (size_t)dec->value_count * sizeof *known);
    return known;
}

/* --- groups -------------------------------------------------------------------------- */

/* One access that may be merged. Those that agree in all but op and the place in the
 * window are one group. */
struct member {
    int base, version; /* value of the base register, -1: none; how often written */
    int guard, guard_version;
    int64_t window;
    int first, words; /* of the window */
    int op;
    bool store;
};

struct merger {
    struct decoder *dec;
    const struct known *known;
    int *version; /* of each value */
    struct member *members;
    int count, room;
    int stores; /* of the members */
    int64_t looked;
};

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    const int64_t keys[][2] = {
        {a->base, b->base},     {a->version, b->version},
        {a->guard, b->guard},   {a->guard_version, b->guard_version},
        {a->window, b->window}, {a->op, b->op}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static bool same_base(const struct member *a, const struct member *b)
{
    return a->base == b->base && a->version == b->version;
}

static bool same_group(const struct member *a, const struct member *b)
{
    return a->store == b->store && same_base(a, b) && a->guard == b->guard &&
           a->guard_version == b->guard_version && a->window == b->window;
}

/* The members inside words [first, first + words) become one access of that size. */
static void merge_words(struct merger *m, const struct member *group, int count,
                        int first, int words)
{
    bool leader = true;
    for (int i = 0; i < count; i++) {
        struct op *op = &m->dec->code->ops[group[i].op];
        if (group[i].first < first || group[i].first >= first + words)
            continue;
        op->merged = leader ? (uint8_t)(4 * words) : MERGED_AWAY;
        leader = false;
    }
}

static void merge_group(struct merger *m, const struct member *group, int count)
{
    int used[WORDS] = {0}, filled = 0, low;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < group[i].words; k++)
            used[group[i].first + k] = 1;
    for (int k = 0; k < WORDS; k++)
        filled += used[k];
    struct known base = group->base < 0 ? low_bits(BITS_ALL, 0) : m->known[group->base];
    if (count > 1 && base.count >= BITS_ALL &&
        filled >= (group->store ? WORDS : WORDS - 1)) {
        merge_words(m, group, count, 0, WORDS);
        return;
    }
    for (low = 0; low < WORDS; low += 2) {
        int inside = 0;
        for (int i = 0; i < count; i++)
            inside += group[i].first / 2 == low / 2;
        if (inside > 1 && used[low] && used[low + 1])
            merge_words(m, group, count, low, 2);
    }
    for (int k = 0; k < WORDS && !group->store; k++) /* the same word again */
        for (int i = 0, inside = 0; i < count; i++) {
            struct op *op = &m->dec->code->ops[group[i].op];
            bool here = group[i].first == k && group[i].words == 1 && !op->merged;
            if (here && inside++ > 0)
                op->merged = MERGED_AWAY;
        }
}

/* No more members can join the first `count`. */
static void close_first(struct merger *m, int count)
{
    if (count > 1)
        qsort(m->members, (size_t)count, sizeof *m->members, compare_members);
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && same_group(&m->members[i], &m->members[end]);)
            end++;
        if (end - i > 1)
            merge_group(m, &m->members[i], end - i);
    }
    for (int i = 0; i < count; i++)
        m->stores -= m->members[i].store;
    m->count -= count;
    memmove(m->members, m->members + count, (size_t)m->count * sizeof *m->members);
}

static void close_all(struct merger *m)
{
    if (m->count > 0)
        close_first(m, m->count);
}

/* May `next` be moved past this member, to others of its own group? */
static bool may_pass(const struct member *member, const struct member *next)
{
    if (!member->store && !next->store)
        return true;
    return same_base(member, next) &&
           (member->store == next->store || member->window != next->window);
}

/* Close the groups that others cannot join past `next`. */
static void close_against(struct merger *m, const struct member *next)
{
    int closed = 0;
    if (!next->store && m->stores == 0)
        return;
    m->looked += m->count;
    for (int i = 0; i < m->count; i++)
        if (m->looked > WALK_LIMIT || !may_pass(&m->members[i], next)) {
            struct member member = m->members[i];
            m->members[i] = m->members[closed];
            m->members[closed++] = member;
        }
    if (closed > 0)
        close_first(m, closed);
}

static bool can_merge(const struct op *op)
{
    uint32_t bytes = (uint32_t)op->width * op->count;
    return op->space == PTX_SHARED && op->order == ORDER_WEAK &&
           (op->width == 4 || op->width == 8) && (bytes == 4 || bytes == 8);
}

static bool is_store(const struct merger *m, int index)
{
    return m->dec->function->insns[index].base[0] == 's';
}

/* False if its alignment is not known: it stays alone. */
static bool describe_member(const struct merger *m, int index, struct member *into)
{
    const struct op *op = &m->dec->code->ops[index];
    const struct value *values = m->dec->values;
    int base = (int)(op->s[0] & ~ROW_TAG);
    int guard = op->guard == NO_GUARD ? -1 : (int)(op->guard & ~ROW_TAG);
    int64_t offset = (int64_t)op->imm;
    struct member member = {.op = index, .guard = -1, .store = is_store(m, index)};
    if (values[base].kind == VALUE_CONSTANT) {
        offset += (int64_t)values[base].bits;
        member.base = -1;
    } else {
        struct known known = m->known[base];
        member.base = base;
        member.version = m->version[base];
        if (known.count < 3 || known.count == NOT_WRITTEN)
            return false;
        offset += known.bits;
    }
    if (guard >= 0) {
        member.guard = 2 * guard + op->guard_negated;
        member.guard_version = m->version[guard];
    }
    member.window = offset >= 0 ? offset / WINDOW : -((-offset + WINDOW - 1) / WINDOW);
    int inside = (int)(offset - member.window * WINDOW);
    member.first = inside / 4;
    member.words = op->width * op->count / 4;
    *into = member;
    return inside % (4 * member.words) == 0;
}

/* Does it keep accesses before and after it apart? */
static bool keeps_apart(const struct ptx_insn *in, const struct op *op)
{
    static const char *const always[] = {"bar",      "barrier",  "membar",   "fence",
                                         "call",     "mbarrier", "cp",       "ldmatrix",
                                         "stmatrix", "wmma",     "nanosleep"};
    bool memory = in->base[0] == 'l' || strcmp(in->base, "st") == 0 ||
                  strcmp(in->base, "atom") == 0 || strcmp(in->base, "red") == 0;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strcmp(in->base, always[i]) == 0)
            return true;
    return memory && op->pipe == SIM_PIPE_LSU &&
           (op->space == PTX_SHARED || op->space == PTX_GENERIC ||
            op->order > ORDER_RELAXED);
}

/* Take in one instruction. */
static void take(struct merger *m, int index)
{
    const struct ptx_insn *in = &m->dec->function->insns[index];
    const struct op *op = &m->dec->code->ops[index];
    bool ldst = strcmp(in->base, "ld") == 0 || strcmp(in->base, "st") == 0;
    struct member member;
    if (!ldst || !can_merge(op)) {
        if (keeps_apart(in, op))
            close_all(m);
    } else if (describe_member(m, index, &member)) {
        close_against(m, &member);
        m->members = decode_grow(m->members, m->count, &m->room, sizeof *m->members);
        m->members[m->count++] = member;
        m->stores += member.store;
    } else if (is_store(m, index) || m->stores > 0) {
        close_all(m);
    }
}

static void walk(struct merger *m, const uint8_t *starts)
{
    const struct decoder *dec = m->dec;
    for (int i = 0, t = 0; i < dec->function->insn_count; i++) {
        if (starts[i])
            close_all(m);
        take(m, i);
        for (; t < dec->touch_count && dec->touches[t].op <= i; t++)
            m->version[dec->touches[t].value] += dec->touches[t].write;
    }
    close_all(m);
}

void merge_shared(struct decoder *dec)
{
    int candidates = 0;
    for (uint32_t i = 0; i < dec->code->op_count; i++)
        candidates += can_merge(&dec->code->ops[i]);
    if (candidates < 2)
        return;
    struct known *known = known_bits(dec);
    uint8_t *starts = decode_block_starts(dec->function);
    struct merger m = {.dec = dec,
                       .known = known,
                       .version =
                           xcalloc((size_t)dec->value_count + 1, sizeof *m.version)};
    walk(&m, starts);
    free(m.members);
    free(m.version);
    free(starts);
    free(known);
}
