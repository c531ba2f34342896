/* sim_driver_shared.c - where a kernel's shared variables lie.
 *
 * A kernel has the variables that it and the functions it can reach declare or
 * name, also those of the module; ptxas does the same. Kernels of one module
 * may share variables, at different offsets: the offsets are written into the
 * variables just before the kernel is decoded.
 */
#include "sim_parts.h"

#include <stdlib.h>
#include <string.h>

/* CUDA C++ Programming Guide, technical specifications */
enum { MAX_LOCAL_BYTES = 512 << 10 };

static void layout_add_function(struct layout *layout, const char *name)
{
    struct ptx_function *f = name ? ptx_find_function(layout->module, name) : NULL;
    if (!f || f->is_declaration)
        return;
    for (int i = 0; i < layout->function_count; i++)
        if (layout->functions[i] == f)
            return;
    layout->functions[layout->function_count++] = f; /* room for all of the module */
}

static void layout_add_var(struct layout *layout, struct ptx_var *var)
{
    if (!var || var->space != PTX_SHARED)
        return;
    for (int i = 0; i < layout->var_count; i++)
        if (layout->vars[i] == var)
            return;
    if (layout->var_count == layout->var_room) {
        layout->var_room = layout->var_room * 2 + 8;
        layout->vars =
            xrealloc(layout->vars, (size_t)layout->var_room * sizeof *layout->vars);
    }
    layout->vars[layout->var_count++] = var;
}

static void layout_add_operand(struct layout *layout, const struct ptx_operand *o)
{
    layout_add_var(layout, o->var);
    if (o->kind == PTX_OPERAND_SYMBOL && !o->var)
        layout_add_function(layout, o->symbol);
}

static void layout_scan(struct layout *layout, const struct ptx_function *f)
{
    for (int i = 0; i < f->var_count; i++)
        layout_add_var(layout, f->vars[i]);
    for (int i = 0; i < f->insn_count; i++) {
        const struct ptx_insn *in = &f->insns[i];
        for (int o = 0; o < in->operand_count; o++)
            layout_add_operand(layout, &in->operand[o]);
        if (in->call) {
            layout_add_operand(layout, &in->call->callee);
            for (int o = 0; o < in->call->arg_count; o++)
                layout_add_operand(layout, &in->call->arg[o]);
        }
    }
}

static uint64_t round_up(uint64_t bytes, uint64_t align)
{
    return align ? (bytes + align - 1) / align * align : bytes;
}

uint64_t sim_function_dynamic_base(const struct CUfunc_st *function)
{
    return round_up(function->static_smem, function->dynamic_align);
}

/* Give every shared variable that the kernel can use its offset: the static
 * ones first, in order of appearance, and behind them all .extern arrays at one
 * place, where the dynamic shared memory starts. */
static CUresult place_shared(struct CUfunc_st *function, struct layout *layout)
{
    uint64_t used = 0, limit = (uint64_t)function->module->context->spec->smem_bytes_sm;
    function->dynamic_align = 0;
    for (int i = 0; i < layout->var_count; i++) {
        struct ptx_var *var = layout->vars[i];
        uint64_t align = var->align_bytes > 0 ? (uint64_t)var->align_bytes : 1;
        if (var->is_extern) {
            uint64_t least = align > 16 ? align : 16;
            if (least > function->dynamic_align)
                function->dynamic_align = least;
            continue;
        }
        var->offset_bytes = round_up(used, align);
        used = var->offset_bytes + var->size_bytes;
        if (var->size_bytes > limit || used > limit)
            return sim_refuse(CUDA_ERROR_INVALID_PTX,
                              "%s:%d: kernel %s has more static shared memory than an SM "
                              "(%llu bytes): %s needs %llu",
                              layout->module->name, var->line, function->ptx->name,
                              (unsigned long long)limit, var->name,
                              (unsigned long long)var->size_bytes);
    }
    function->static_smem = used;
    for (int i = 0; i < layout->var_count; i++)
        if (layout->vars[i]->is_extern)
            layout->vars[i]->offset_bytes = sim_function_dynamic_base(function);
    return CUDA_SUCCESS;
}

CUresult layout_shared(struct CUfunc_st *function, struct layout *layout)
{
    size_t most = (size_t)layout->module->function_count;
    layout->functions = xcalloc(most + 1, sizeof *layout->functions);
    layout_add_function(layout, function->ptx->name);
    for (int i = 0; i < layout->function_count; i++)
        layout_scan(layout, layout->functions[i]);
    function->frame_bytes = 0;
    for (int i = 0; i < layout->function_count; i++)
        function->frame_bytes += round_up(layout->functions[i]->local_bytes, 16);
    if (function->frame_bytes > MAX_LOCAL_BYTES)
        return sim_refuse(CUDA_ERROR_INVALID_PTX,
                          "%s:%d: kernel %s needs %llu bytes of local memory a thread; "
                          "%d are the most",
                          layout->module->name, function->ptx->line, function->ptx->name,
                          (unsigned long long)function->frame_bytes, MAX_LOCAL_BYTES);
    return place_shared(function, layout);
}

bool layout_find(const struct layout *layout, const char *name, uint64_t *offset)
{
    for (int i = 0; i < layout->var_count; i++) {
        if (strcmp(layout->vars[i]->name, name) == 0) {
            *offset = layout->vars[i]->offset_bytes;
            return true;
        }
    }
    return false;
}

void layout_free(struct layout *layout)
{
    free(layout->vars);
    free(layout->functions);
}
