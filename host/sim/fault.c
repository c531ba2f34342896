/* fault.c - names of faults, and recording one. */
#include <stdarg.h>
#include <stdio.h>

#include "check.h"

const char *sim_fault_name(enum sim_fault_kind kind)
{
    static const char *const names[SIM_FAULT_KINDS] = {
        [SIM_OUT_OF_BOUNDS] = "out_of_bounds",
        [SIM_MISALIGNED] = "misaligned",
        [SIM_UNINITIALIZED] = "uninitialized",
        [SIM_RACE_SHARED] = "race_shared",
        [SIM_RACE_GLOBAL] = "race_global",
        [SIM_BARRIER_DIVERGENCE] = "barrier_divergence",
        [SIM_DEADLOCK] = "deadlock",
        [SIM_TIMEOUT] = "timeout",
        [SIM_IN_FLIGHT] = "in_flight",
        [SIM_BAD_MASK] = "bad_mask",
        [SIM_UNSUPPORTED] = "unsupported",
        [SIM_TRAP] = "trap",
        [SIM_USE_AFTER_FREE] = "use_after_free",
        [SIM_DOUBLE_FREE] = "double_free",
        [SIM_LEAK] = "leak",
    };
    return names[kind];
}

/* Where an op stands in the source, or in the PTX without line information. */
void sim_locate(const struct launch *launch, const struct code *code, uint32_t pc,
                char *file, size_t room, int *line)
{
    const struct line_info *info =
        pc < code->op_count ? &code->lines[pc] : &code->lines[code->op_count - 1];
    const char *name = info->line > 0 && info->file > 0 && info->file < launch->file_count
                           ? launch->files[info->file]
                           : NULL;
    *line = name != NULL ? info->line : info->ptx_line;
    snprintf(file, room, "%s", name != NULL ? name : launch->module_name);
}

void sim_raise(struct warp *w, enum sim_fault_kind kind, int lane, uint64_t address,
               const char *format, ...)
{
    struct launch *launch = w->block->launch;
    struct sim_fault fault = {.kind = kind, .address = address};
    uint32_t thread = w->index * LANES + (uint32_t)(lane < 0 ? 0 : lane);
    snprintf(fault.kernel, sizeof fault.kernel, "%s", launch->kernel);
    sim_locate(launch, w->code, w->pc, fault.file, sizeof fault.file, &fault.line);
    memcpy(fault.block, w->block->id, sizeof fault.block);
    fault.thread[0] = thread % launch->dim[0];
    fault.thread[1] = thread / launch->dim[0] % launch->dim[1];
    fault.thread[2] = thread / launch->dim[0] / launch->dim[1];
    va_list list;
    va_start(list, format);
    vsnprintf(fault.detail, sizeof fault.detail, format, list);
    va_end(list);
    uint64_t linear = w->block->linear;
    check_before_fault(w, kind);
#pragma omp critical(sim_fault)
    {
        /* several host threads may find one: the block with the smallest number counts */
        if (launch->fault_count > 0 && linear < launch->fault_block)
            launch->fault_count = 0;
        if (launch->fault_count == 0)
            launch->fault_block = linear;
        if (linear == launch->fault_block && launch->fault_count < launch->max_faults)
            launch->faults[launch->fault_count++] = fault;
    }
    w->worker->stop = true;
}
