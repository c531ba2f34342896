/* decode_operand.c - operands of an instruction -> rows of the frame: registers,
 * constants, special registers (PTX ISA 9.0, chapter 10), addresses, lists. */
#include <stdlib.h>

#include "decode_parts.h"
#include "run.h"

/* --- special registers -------------------------------------------------------------- */

static const struct {
    const char *name;
    enum sreg sreg;
} special[] = {
    {"%tid.x", SREG_TID_X},
    {"%tid.y", SREG_TID_Y},
    {"%tid.z", SREG_TID_Z},
    {"%ntid.x", SREG_NTID_X},
    {"%ntid.y", SREG_NTID_Y},
    {"%ntid.z", SREG_NTID_Z},
    {"%ctaid.x", SREG_CTAID_X},
    {"%ctaid.y", SREG_CTAID_Y},
    {"%ctaid.z", SREG_CTAID_Z},
    {"%nctaid.x", SREG_NCTAID_X},
    {"%nctaid.y", SREG_NCTAID_Y},
    {"%nctaid.z", SREG_NCTAID_Z},
    {"%laneid", SREG_LANEID},
    {"%warpid", SREG_WARPID},
    {"%nwarpid", SREG_NWARPID},
    {"%smid", SREG_SMID},
    {"%nsmid", SREG_NSMID},
    {"%gridid", SREG_GRIDID},
    {"%lanemask_eq", SREG_LANEMASK_EQ},
    {"%lanemask_lt", SREG_LANEMASK_LT},
    {"%lanemask_le", SREG_LANEMASK_LE},
    {"%lanemask_gt", SREG_LANEMASK_GT},
    {"%lanemask_ge", SREG_LANEMASK_GE},
    {"%dynamic_smem_size", SREG_DYNAMIC_SMEM},
    {"%total_smem_size", SREG_TOTAL_SMEM},
    {"%aggr_smem_size", SREG_TOTAL_SMEM},
    {"%reserved_smem_offset_begin", SREG_CLUSTER_ZERO},
    {"%reserved_smem_offset_end", SREG_CLUSTER_ZERO},
    {"%reserved_smem_offset_cap", SREG_CLUSTER_ZERO},
    {"%reserved_smem_offset_0", SREG_CLUSTER_ZERO},
    {"%reserved_smem_offset_1", SREG_CLUSTER_ZERO},
    {"%envreg1", SREG_ENVREG1},
    {"%envreg2", SREG_ENVREG2},
    {"%clusterid.x", SREG_CTAID_X},
    {"%clusterid.y", SREG_CTAID_Y},
    {"%clusterid.z", SREG_CTAID_Z},
    {"%nclusterid.x", SREG_NCTAID_X},
    {"%nclusterid.y", SREG_NCTAID_Y},
    {"%nclusterid.z", SREG_NCTAID_Z},
    {"%cluster_ctarank", SREG_CLUSTER_ZERO},
    {"%cluster_nctarank", SREG_CLUSTER_ONE},
    {"%cluster_ctaid.x", SREG_CLUSTER_ZERO},
    {"%cluster_ctaid.y", SREG_CLUSTER_ZERO},
    {"%cluster_ctaid.z", SREG_CLUSTER_ZERO},
    {"%cluster_nctaid.x", SREG_CLUSTER_ONE},
    {"%cluster_nctaid.y", SREG_CLUSTER_ONE},
    {"%cluster_nctaid.z", SREG_CLUSTER_ONE},
    {"%current_graph_exec", SREG_CLUSTER_ZERO},
};

/* %pm0 .. %pm7, %pm0_64 .., %envreg0 .. %envreg31: counters that are not set up and
 * values that no driver has put there read as zero. */
static bool reads_zero(const char *name)
{
    bool pm = strncmp(name, "%pm", 3) == 0;
    if (!pm && strncmp(name, "%envreg", 7) != 0)
        return false;
    char *end;
    const char *digits = name + (pm ? 3 : 7);
    long number = strtol(digits, &end, 10);
    return digits[0] >= '0' && digits[0] <= '9' && number < (pm ? 8 : 32) &&
           (*end == '\0' || (pm && strcmp(end, "_64") == 0));
}

static const enum sreg *find_special(const char *name)
{
    static const enum sreg zero = SREG_CLUSTER_ZERO;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(special[i].name, name) == 0)
            return &special[i].sreg;
    return reads_zero(name) ? &zero : NULL;
}

static bool special_row(struct decoder *dec, const char *name, int bytes, uint32_t *row)
{
    const enum sreg *sreg = find_special(name);
    if (sreg == NULL)
        return decode_fail(dec, "special register %s is not supported", name);
    if (bytes != 4 && bytes != 8)
        return decode_fail(dec, "special register %s has 32 or 64 bits", name);
    int *known = &dec->sregs[*sreg][bytes == 8];
    if (*known == 0) {
        *known = decode_add_value(dec, VALUE_SREG, bytes) + 1;
        dec->values[*known - 1].sreg = (int)*sreg;
    }
    *row = ROW_TAG | (uint32_t)(*known - 1);
    return true;
}

/* --- operands ----------------------------------------------------------------------- */

int decode_lane_bytes(struct decoder *dec, const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REG && operand->reg >= 0
               ? decode_type_bytes(dec->function->regs[operand->reg].type)
               : 0;
}

static uint64_t immediate_bits(const struct ptx_operand *operand, enum ptx_type type)
{
    uint64_t bits = operand->imm;
    if (operand->literal == PTX_LITERAL_F64 && type == PTX_F32) {
        double wide;
        memcpy(&wide, &bits, sizeof wide);
        float narrow = (float)wide;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof narrow);
        return narrow_bits;
    }
    if (operand->literal == PTX_LITERAL_F32 && type == PTX_F64) {
        uint32_t narrow_bits = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &narrow_bits, sizeof narrow);
        double wide = narrow;
        memcpy(&bits, &wide, sizeof wide);
        return bits;
    }
    int width = ptx_type_bits(type);
    return width >= 64 ? bits : bits & (((uint64_t)1 << width) - 1);
}

/* Address of a variable, in its own space or generic. */
static bool symbol_address(struct decoder *dec, const struct ptx_operand *operand,
                           bool generic, uint64_t *address)
{
    const struct ptx_var *var = operand->var;
    *address = 0;
    if (var == NULL) {
        const struct ptx_function *f =
            ptx_find_function(dec->env->module, operand->symbol);
        if (f != NULL) {
            *address = SIM_FUNCTION_BASE + (uint64_t)f->index * SIM_FUNCTION_STEP;
            return true;
        }
        return decode_fail(dec, "`%s` is not declared", operand->symbol);
    }
    bool in_function = var->space == PTX_LOCAL || var->space == PTX_PARAM;
    if (in_function)
        *address = var->offset_bytes;
    else if (!dec->env->symbol(dec->env->context, var->name, address))
        return decode_fail(dec, "`%s` has no address", var->name);
    *address += (uint64_t)operand->offset;
    if (generic)
        *address += var->space == PTX_SHARED  ? SIM_SHARED_WINDOW
                    : var->space == PTX_LOCAL ? SIM_LOCAL_WINDOW
                    : var->space == PTX_PARAM ? SIM_PARAM_WINDOW
                                              : 0;
    return true;
}

bool decode_src(struct decoder *dec, const struct ptx_operand *operand,
                enum ptx_type type, uint32_t *row)
{
    int bytes = decode_type_bytes(type);
    uint64_t address;
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        if (decode_type_bytes(dec->function->regs[operand->reg].type) != bytes ||
            operand->negated || operand->part != NULL || operand->minus)
            return decode_fail(dec, "register %s does not fit .%s",
                               dec->function->regs[operand->reg].name,
                               ptx_type_name(type));
        *row = decode_register(dec, operand->reg, false);
        return true;
    case PTX_OPERAND_IMM:
        if (bytes == 0)
            return decode_fail(dec, "a predicate cannot be a number");
        *row = decode_constant(dec, immediate_bits(operand, type), bytes);
        return true;
    case PTX_OPERAND_SREG:
        return special_row(dec, operand->symbol, bytes, row);
    case PTX_OPERAND_SYMBOL:
        if (bytes < 4 || !symbol_address(dec, operand, false, &address))
            return decode_fail(dec, "a variable's address does not fit .%s",
                               ptx_type_name(type));
        *row = decode_constant(dec, address, bytes);
        return true;
    default:
        return decode_fail(dec, "an operand is of the wrong kind");
    }
}

bool decode_dst(struct decoder *dec, const struct ptx_operand *operand,
                enum ptx_type type, uint32_t *row)
{
    if (operand->kind == PTX_OPERAND_SINK) {
        *row = decode_sink(dec, decode_type_bytes(type));
        return true;
    }
    if (operand->kind != PTX_OPERAND_REG || operand->part != NULL || operand->minus)
        return decode_fail(dec, "the destination must be a register");
    if (decode_type_bytes(dec->function->regs[operand->reg].type) !=
        decode_type_bytes(type))
        return decode_fail(dec, "register %s does not fit .%s",
                           dec->function->regs[operand->reg].name, ptx_type_name(type));
    *row = decode_register(dec, operand->reg, true);
    return true;
}

bool decode_pred(struct decoder *dec, const struct ptx_operand *operand, uint32_t *word,
                 bool *negated)
{
    if (negated == NULL && operand->kind == PTX_OPERAND_SINK) {
        *word = decode_sink(dec, 0);
        return true;
    }
    if (negated != NULL && operand->kind == PTX_OPERAND_IMM) {
        *negated = false; /* mov.pred p, 0: the constant's first word is the mask */
        *word = decode_constant(dec, operand->imm != 0 ? FULL_MASK : 0, 4);
        return true;
    }
    if (operand->kind != PTX_OPERAND_REG || operand->part != NULL || operand->minus ||
        dec->function->regs[operand->reg].type != PTX_PRED)
        return decode_fail(dec, "a predicate register is needed");
    if (negated != NULL)
        *negated = operand->negated;
    *word = decode_register(dec, operand->reg, negated == NULL);
    return true;
}

bool decode_pred2(struct decoder *dec, const struct ptx_operand *operand, uint32_t *word)
{
    if (operand->reg2 < 0) {
        *word = decode_sink(dec, 0);
        return true;
    }
    if (dec->function->regs[operand->reg2].type != PTX_PRED)
        return decode_fail(dec, "a predicate register is needed behind |");
    *word = decode_register(dec, operand->reg2, true);
    return true;
}

bool decode_list(struct decoder *dec, const struct ptx_operand *operand,
                 enum ptx_type type, bool destination, struct op *op, int *count)
{
    const struct ptx_operand *elements =
        operand->kind == PTX_OPERAND_VECTOR ? operand->elements : operand;
    *count = operand->kind == PTX_OPERAND_VECTOR ? operand->element_count : 1;
    uint32_t *rows = decode_alloc(dec, ((size_t)*count + 1) * sizeof *rows);
    for (int i = 0; i < *count; i++)
        if (!(destination ? decode_dst(dec, &elements[i], type, &rows[i])
                          : decode_src(dec, &elements[i], type, &rows[i])))
            return false;
    decode_note_list(dec, rows, *count);
    op->list = rows;
    return true;
}

void decode_note_list(struct decoder *dec, uint32_t *rows, int count)
{
    dec->lists =
        decode_grow(dec->lists, dec->list_count, &dec->list_room, sizeof *dec->lists);
    dec->lists[dec->list_count++] = (struct list_note){rows, count};
}

bool decode_address(struct decoder *dec, const struct ptx_operand *operand,
                    enum ptx_space space, struct op *op)
{
    if (operand->kind != PTX_OPERAND_ADDR || operand->element_count != 0)
        return decode_fail(dec, "an address in [ ] is needed");
    op->imm = (uint64_t)operand->offset;
    if (operand->base_is_reg) {
        int bytes = decode_type_bytes(dec->function->regs[operand->reg].type);
        if (bytes != 4 && bytes != 8)
            return decode_fail(dec, "an address needs a 32- or 64-bit register");
        op->flags |= bytes == 4 ? OP_BASE32 : 0;
        op->s[0] = decode_register(dec, operand->reg, false);
        return true;
    }
    uint64_t address = 0;
    if (operand->symbol != NULL) {
        struct ptx_operand symbol = *operand;
        symbol.offset = 0;
        if (!symbol_address(dec, &symbol, space == PTX_GENERIC, &address))
            return false;
    }
    op->s[0] = decode_constant(dec, address, 8);
    return true;
}
