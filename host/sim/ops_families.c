/* ops_families.c - the families built for this CPU (see the Makefile and
 * ops_isa.h), and the list of supported forms. */
#include <stdio.h>

#include "ops.h"
#include "word_table.h"

#define FAMILIES(X, isa) \
    X(ops_integer_##isa) \
    X(ops_logic_##isa)   \
    X(ops_move_##isa)    \
    X(ops_compare_##isa) \
    X(ops_float_##isa)   \
    X(ops_convert_##isa) \
    X(ops_half_##isa)    \
    X(ops_memory_##isa)  \
    X(ops_atomic_##isa)  \
    X(ops_control_##isa) \
    X(ops_warp_##isa)    \
    X(ops_tensor_##isa)  \
    X(ops_wmma_##isa)    \
    X(ops_async_##isa)   \
    X(ops_video_##isa)   \
    X(ops_refused_##isa)
#define DECLARE(family) extern const struct op_family family;
#define ADDRESS(family) &family,

FAMILIES(DECLARE, v1)
static const struct op_family *const baseline[] = {FAMILIES(ADDRESS, v1) NULL};

#if defined(__x86_64__)
FAMILIES(DECLARE, v3)
static const struct op_family *const avx2[] = {FAMILIES(ADDRESS, v3) NULL};
#endif

const struct op_family *const *ops_families(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2"))
        return avx2;
#endif
    return baseline;
}

/* Bases and, grouped by base, their rows in the order of the families. */
static struct word_table bases;
static const struct op_row *grouped[2 * WORD_MOST];
static int first_of[WORD_MOST + 1];

static void group_rows(void)
{
    int base = 0, end = 0;
    const struct op_family *const *family;
    for (family = ops_families(); *family != NULL; family++)
        for (int i = 0; i < (*family)->count; i++)
            word_add(&bases, (*family)->rows[i].base);
    for (; base < bases.count; base++) {
        first_of[base] = end;
        for (family = ops_families(); *family != NULL; family++)
            for (int i = 0; i < (*family)->count; i++)
                if (strcmp((*family)->rows[i].base, bases.word[base]) == 0)
                    grouped[end++] = &(*family)->rows[i];
    }
    first_of[base] = end;
}

const struct op_row *ops_find(const char *base, int index)
{
    if (bases.count == 0)
        group_rows();
    int number = word_find(&bases, base);
    return number >= 0 && index < first_of[number + 1] - first_of[number]
               ? grouped[first_of[number] + index]
               : NULL;
}

void sim_list_ptx(void (*line)(void *context, const char *text), void *context)
{
    char text[400];
    for (const struct op_family *const *family = ops_families(); *family != NULL;
         family++)
        for (int i = 0; i < (*family)->count; i++) {
            const struct op_row *row = &(*family)->rows[i];
            if (row->types != NULL)
                snprintf(text, sizeof text, "%s  [%s]", row->syntax, row->types);
            else
                snprintf(text, sizeof text, "%s", row->syntax);
            line(context, text);
        }
}
