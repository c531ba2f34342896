/* run_frame.c - what a thread finds in its registers: constants and special
 * registers. */
#include "run.h"

/* Special registers that hold a thread's own number. */
static bool thread_row(const struct warp *w, int sreg, uint64_t *value)
{
    const unsigned *dim = w->block->launch->dim;
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t thread = w->index * LANES + l;
        uint64_t bit = (uint64_t)1 << l;
        switch (sreg) {
        case SREG_TID_X:
            value[l] = thread % dim[0];
            break;
        case SREG_TID_Y:
            value[l] = thread / dim[0] % dim[1];
            break;
        case SREG_TID_Z:
            value[l] = thread / dim[0] / dim[1];
            break;
        case SREG_LANEID:
            value[l] = l;
            break;
        case SREG_LANEMASK_EQ:
            value[l] = bit;
            break;
        case SREG_LANEMASK_LT:
            value[l] = bit - 1;
            break;
        case SREG_LANEMASK_LE:
            value[l] = 2 * bit - 1;
            break;
        case SREG_LANEMASK_GT:
            value[l] = FULL_MASK & ~(2 * bit - 1);
            break;
        case SREG_LANEMASK_GE:
            value[l] = FULL_MASK & ~(bit - 1);
            break;
        default:
            return false;
        }
    }
    return true;
}

/* Special registers that are the same for the whole warp. */
static uint64_t warp_value(const struct warp *w, int sreg)
{
    const struct block *b = w->block;
    const struct launch *launch = b->launch;
    switch (sreg) {
    case SREG_NTID_X:
    case SREG_NTID_Y:
    case SREG_NTID_Z:
        return launch->dim[sreg - SREG_NTID_X];
    case SREG_CTAID_X:
    case SREG_CTAID_Y:
    case SREG_CTAID_Z:
        return b->id[sreg - SREG_CTAID_X];
    case SREG_NCTAID_X:
    case SREG_NCTAID_Y:
    case SREG_NCTAID_Z:
        return launch->grid[sreg - SREG_NCTAID_X];
    case SREG_WARPID:
        return w->index;
    case SREG_NWARPID:
        return (uint64_t)launch->spec->max_threads_sm / LANES;
    case SREG_SMID:
        return b->linear % (uint64_t)launch->spec->sm_count;
    case SREG_NSMID:
        return (uint64_t)launch->spec->sm_count;
    case SREG_DYNAMIC_SMEM:
        return launch->dynamic_smem;
    case SREG_TOTAL_SMEM:
        return launch->static_smem + launch->dynamic_smem;
    case SREG_CLUSTER_ONE:
        return 1;
    case SREG_ENVREG1: /* the driver's workspace for grid barriers: high, low half */
        return launch->grid_workspace >> 32;
    case SREG_ENVREG2:
        return launch->grid_workspace & 0xffffffff;
    default:
        return 0;
    }
}

void run_frame_start(struct warp *w, const struct code *code, uint8_t *rows)
{
    memcpy(rows, code->preset, code->preset_bytes);
    for (uint32_t i = 0; i < code->sreg_count; i++) {
        const struct sreg_row *s = &code->sregs[i];
        uint64_t value[LANES];
        if (!thread_row(w, s->sreg, value)) {
            uint64_t same = warp_value(w, s->sreg);
            for (int l = 0; l < LANES; l++)
                value[l] = same;
        }
        uint32_t *narrow = (uint32_t *)(void *)(rows + s->row);
        if (s->bytes == 8)
            memcpy(rows + s->row, value, sizeof value);
        else
            for (int l = 0; l < LANES; l++)
                narrow[l] = (uint32_t)value[l];
    }
}
