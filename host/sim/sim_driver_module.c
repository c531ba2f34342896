/* sim_driver_module.c - images become modules: variables placed in memory,
 * kernels decoded when they are first asked for. */
#include "run.h"
#include "sim_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CUDA C++ Programming Guide: parameters of a kernel, from compute capability 7.0 */
enum { MAX_PARAM_BYTES = 32764 };

static int context_cc(const struct CUctx_st *context)
{
    return context->spec->cc_major * 10 + context->spec->cc_minor;
}

/* --- variables ------------------------------------------------------------ */

static int compare_symbols(const void *a, const void *b)
{
    return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

static const struct symbol *symbol_find(const struct CUmod_st *module, const char *name)
{
    struct symbol key = {.name = name};
    if (module->symbol_count == 0)
        return NULL;
    return bsearch(&key, module->symbols, (size_t)module->symbol_count, sizeof key,
                   compare_symbols);
}

static bool is_placed(const struct ptx_var *var)
{
    return (var->space == PTX_GLOBAL || var->space == PTX_CONST) && !var->is_extern;
}

/* Memory for every .global and .const variable, filled with its initial data. */
static CUresult place_variables(struct CUmod_st *module)
{
    struct device_memory *memory = module->context->memory;
    module->symbols =
        xcalloc((size_t)module->ptx->var_count + 1, sizeof *module->symbols);
    for (int i = 0; i < module->ptx->var_count; i++) {
        const struct ptx_var *var = module->ptx->vars[i];
        if (!is_placed(var))
            continue;
        uint64_t bytes = var->size_bytes ? var->size_bytes : 1;
        uint64_t address = memory_allocate(memory, bytes, var->name);
        if (!address)
            return sim_refuse(CUDA_ERROR_OUT_OF_MEMORY,
                              "variable %s of %llu bytes does not fit into the memory of "
                              "%s",
                              var->name, (unsigned long long)bytes,
                              module->context->spec->name);
        module->symbols[module->symbol_count++] =
            (struct symbol){var->name, address, var->size_bytes};
        struct allocation *a = memory_find(memory, address, bytes);
        a->read_only = var->space == PTX_CONST;
        if (var->init)
            memcpy(a->host, var->init, (size_t)var->size_bytes);
    }
    qsort(module->symbols, (size_t)module->symbol_count, sizeof *module->symbols,
          compare_symbols);
    return CUDA_SUCCESS;
}

/* What a variable's name, or a function's, stands for in initial data. A generic address
 * is the same number here: .global and .const have no window of their own. */
static bool find_address(const struct CUmod_st *module, const char *name,
                         uint64_t *address)
{
    const struct symbol *variable = symbol_find(module, name);
    if (variable != NULL) {
        *address = variable->address;
        return true;
    }
    for (int i = 0; i < module->ptx->function_count; i++)
        if (strcmp(module->ptx->functions[i]->name, name) == 0) {
            *address = SIM_FUNCTION_BASE + (uint64_t)i * SIM_FUNCTION_STEP;
            return true;
        }
    return false;
}

/* Addresses inside initial data. */
static CUresult relocate_variables(struct CUmod_st *module)
{
    for (int i = 0; i < module->ptx->var_count; i++) {
        const struct ptx_var *var = module->ptx->vars[i];
        if (!is_placed(var) || var->reloc_count == 0)
            continue;
        const struct symbol *self = symbol_find(module, var->name);
        struct allocation *a =
            memory_find(module->context->memory, self->address, self->bytes);
        for (int r = 0; r < var->reloc_count; r++) {
            const struct ptx_reloc *reloc = &var->relocs[r];
            uint64_t target = 0;
            if (!find_address(module, reloc->symbol, &target) || !a ||
                reloc->offset_bytes > self->bytes ||
                self->bytes - reloc->offset_bytes < 8)
                return sim_refuse(
                    CUDA_ERROR_INVALID_PTX,
                    "%s:%d: the address of %s in the initial data of %s is "
                    "not supported: neither a variable nor a function of this module",
                    module->ptx->name, var->line, reloc->symbol, var->name);
            uint64_t value = target + (uint64_t)reloc->addend;
            memcpy(a->host + reloc->offset_bytes, &value, sizeof value);
        }
    }
    return CUDA_SUCCESS;
}

/* --- functions ------------------------------------------------------------ */

/* decode_env's question: where is this variable? */
struct resolver {
    const struct CUmod_st *module;
    const struct layout *shared;
};

static bool resolve_symbol(void *context, const char *name, uint64_t *address)
{
    const struct resolver *resolver = context;
    if (layout_find(resolver->shared, name, address))
        return true;
    const struct symbol *symbol = symbol_find(resolver->module, name);
    if (symbol)
        *address = symbol->address;
    return symbol != NULL;
}

CUresult sim_function_decode(CUfunction function)
{
    bool check = sim_state.options.check;
    if (function->code && function->code_for_check == check)
        return CUDA_SUCCESS;
    CUmodule module = function->module;
    struct layout shared = {.module = module->ptx};
    struct code *code = NULL;
    CUresult result = layout_shared(function, &shared);
    if (!result) {
        struct resolver resolver = {module, &shared};
        struct decode_env env = {.module = module->ptx,
                                 .symbol = resolve_symbol,
                                 .context = &resolver,
                                 .device_cc = context_cc(module->context),
                                 .follow_values = check};
        struct error err = {0};
        code = code_decode(&env, function->ptx, check, &err);
        if (!code)
            result = sim_refuse(CUDA_ERROR_INVALID_PTX, "%s", err.text);
    }
    layout_free(&shared);
    if (result)
        return result;
    if (function->code)
        code_free(function->code);
    function->code = code;
    function->code_for_check = check;
    return CUDA_SUCCESS;
}

static void function_destroy(CUfunction function)
{
    if (function->code)
        code_free(function->code);
    free(function);
}

CUfunction sim_function_find(CUcontext context, CUfunction function)
{
    for (CUmodule m = context->modules; m; m = m->next)
        for (CUfunction f = m->functions; f; f = f->next)
            if (f == function)
                return f;
    return NULL;
}

/* Registers and memory: what ptxas decided if its machine code is there, else
 * what the PTX says and an estimate. */
static void fill_resources(CUfunction function)
{
    enum { MOST_REGISTERS = 255 };
    const struct image *image = &function->module->image;
    uint32_t live = function->code->live_registers;
    function->registers = live < MOST_REGISTERS ? (int)live : MOST_REGISTERS;
    function->local_bytes = (int)function->ptx->local_bytes;
    function->static_smem_known = -1;
    for (int i = 0; i < image->kernel_count; i++) {
        const struct image_kernel *k = &image->kernels[i];
        if (strcmp(k->name, function->ptx->name) != 0 || k->registers == 0)
            continue;
        function->registers = k->registers;
        function->registers_exact = true;
        function->local_bytes = k->local_bytes;
        function->static_smem_known = k->static_smem_bytes;
    }
    int64_t left = SIM_DEFAULT_SMEM - (int64_t)function->static_smem;
    function->max_dynamic_smem = left > 0 ? (int)left : 0;
}

CUresult sim_module_function(CUfunction *function, CUmodule module, const char *name)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    sim_state.error[0] = '\0';
    if (!function || !name || !*name)
        return CUDA_ERROR_INVALID_VALUE;
    CUmodule known = sim_state.current->modules;
    while (known && known != module)
        known = known->next;
    if (!known)
        return CUDA_ERROR_INVALID_HANDLE;
    for (CUfunction f = module->functions; f; f = f->next) {
        if (strcmp(f->ptx->name, name) == 0) {
            *function = f;
            return CUDA_SUCCESS;
        }
    }
    struct ptx_function *ptx = ptx_find_function(module->ptx, name);
    if (!ptx || !ptx->is_entry || ptx->is_declaration)
        return sim_refuse(CUDA_ERROR_NOT_FOUND, "%s has no kernel named %s%s",
                          module->ptx->name, name,
                          ptx ? " (it is a device function)" : "");
    if (ptx->param_bytes > MAX_PARAM_BYTES)
        return sim_refuse(
            CUDA_ERROR_INVALID_PTX,
            "%s:%d: kernel %s has %llu bytes of parameters; %d are the most",
            module->ptx->name, ptx->line, name, (unsigned long long)ptx->param_bytes,
            MAX_PARAM_BYTES);
    CUfunction f = xcalloc(1, sizeof *f);
    f->module = module;
    f->ptx = ptx;
    CUresult result = sim_function_decode(f);
    if (result) {
        function_destroy(f);
        return result;
    }
    fill_resources(f);
    f->next = module->functions;
    module->functions = f;
    *function = f;
    return CUDA_SUCCESS;
}

int sim_function_max_threads(const struct CUfunc_st *function)
{
    const int *bound =
        function->ptx->reqntid[0] ? function->ptx->reqntid : function->ptx->maxntid;
    int64_t most = SIM_MAX_BLOCK_THREADS, product = 1;
    for (int i = 0; i < 3 && bound[0] > 0; i++)
        product *= bound[i] > 0 && bound[i] <= SIM_MAX_BLOCK_THREADS ? bound[i] : 1;
    if (bound[0] > 0 && product < most)
        most = product;
    /* registers are given out in units of 8 a thread, to whole warps */
    int64_t registers = ((int64_t)function->registers + 7) / 8 * 8;
    int64_t file = function->module->context->spec->regs_sm;
    if (registers > 0 && file / registers / LANES * LANES < most)
        most = file / registers / LANES * LANES;
    return (int)most;
}

CUresult sim_function_attribute(int *value, int attribute, CUfunction function)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    CUfunction f = sim_function_find(sim_state.current, function);
    if (!f)
        return CUDA_ERROR_INVALID_HANDLE;
    const struct ptx_module *ptx = f->module->ptx;
    int binary = f->module->image.machine_arch;
    int const_bytes = 0;
    for (int i = 0; i < ptx->var_count; i++)
        if (ptx->vars[i]->space == PTX_CONST && ptx->vars[i]->size_bytes < 65536)
            const_bytes += (int)ptx->vars[i]->size_bytes;
    const struct {
        int attribute, value;
    } rows[] = {
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, sim_function_max_threads(f)},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
         f->static_smem_known >= 0 ? f->static_smem_known : (int)f->static_smem},
        {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, const_bytes},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f->local_bytes},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, f->registers},
        {CU_FUNC_ATTRIBUTE_PTX_VERSION, ptx->target_sm},
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION,
         binary ? binary : context_cc(f->module->context)},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f->max_dynamic_smem},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].attribute == attribute) {
            *value = rows[i].value;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_function_set_attribute(CUfunction function, int attribute, int value)
{
    enum { PREFERRED_CARVEOUT = 9 };
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    CUfunction f = sim_function_find(sim_state.current, function);
    if (!f)
        return CUDA_ERROR_INVALID_HANDLE;
    if (attribute == PREFERRED_CARVEOUT)
        return CUDA_SUCCESS; /* a hint */
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    int most = f->module->context->spec->smem_bytes_block_optin;
    if (value < 0 || value > most ||
        sim_function_dynamic_base(f) + (uint64_t)value > (uint64_t)most)
        return sim_refuse(
            CUDA_ERROR_INVALID_VALUE,
            "kernel %s: %d bytes of dynamic shared memory after %llu static "
            "ones; a block of %s can have %d in all",
            f->ptx->name, value, (unsigned long long)f->static_smem,
            f->module->context->spec->name, most);
    f->max_dynamic_smem = value;
    return CUDA_SUCCESS;
}

/* --- modules -------------------------------------------------------------- */

void sim_module_destroy(CUmodule module)
{
    while (module->functions) {
        CUfunction f = module->functions;
        module->functions = f->next;
        function_destroy(f);
    }
    for (int i = 0; i < module->symbol_count; i++)
        memory_release(module->context->memory, module->symbols[i].address);
    free(module->symbols);
    if (module->ptx)
        ptx_free(module->ptx);
    image_close(&module->image);
    free(module);
}

void sim_set_image_name(const char *name)
{
    snprintf(sim_state.image_name, sizeof sim_state.image_name, "%s", name ? name : "");
}

static CUresult module_fill(CUmodule module, const void *data)
{
    struct error err = {0};
    struct image *image = &module->image;
    if (!image_open(data, SIZE_MAX, context_cc(module->context), image, &err))
        return sim_refuse(err.status == EXIT_MISSING ? CUDA_ERROR_NO_BINARY_FOR_GPU
                          : err.status == EXIT_OURS  ? CUDA_ERROR_OUT_OF_MEMORY
                                                     : CUDA_ERROR_INVALID_IMAGE,
                          "%s", err.text);
    const char *name = sim_state.image_name[0] ? sim_state.image_name : "PTX";
    module->ptx = ptx_parse(image->ptx, image->ptx_length, name, &err);
    if (!module->ptx)
        return sim_refuse(CUDA_ERROR_INVALID_PTX, "%s", err.text);
    CUresult result = place_variables(module);
    return result ? result : relocate_variables(module);
}

CUresult sim_module_load(CUmodule *module, const void *image)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    sim_state.error[0] = '\0';
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    CUmodule m = xcalloc(1, sizeof *m);
    m->context = sim_state.current;
    CUresult result = module_fill(m, image);
    if (result) {
        sim_module_destroy(m);
        return result;
    }
    m->next = sim_state.current->modules;
    sim_state.current->modules = m;
    *module = m;
    return CUDA_SUCCESS;
}

CUresult sim_module_unload(CUmodule module)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    struct CUmod_st **at = &sim_state.current->modules;
    while (*at && *at != module)
        at = &(*at)->next;
    if (!*at)
        return CUDA_ERROR_INVALID_HANDLE;
    *at = module->next;
    sim_module_destroy(module);
    return CUDA_SUCCESS;
}

CUresult sim_module_global(CUdeviceptr *pointer, size_t *bytes, CUmodule module,
                           const char *name)
{
    CUresult ready = sim_ready();
    if (ready)
        return ready;
    if (!name || (!pointer && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    CUmodule known = sim_state.current->modules;
    while (known && known != module)
        known = known->next;
    if (!known)
        return CUDA_ERROR_INVALID_HANDLE;
    const struct symbol *symbol = symbol_find(module, name);
    if (!symbol)
        return CUDA_ERROR_NOT_FOUND;
    if (pointer)
        *pointer = symbol->address;
    if (bytes)
        *bytes = (size_t)symbol->bytes;
    return CUDA_SUCCESS;
}
