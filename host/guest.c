/* guest.c - puts the rung of somebody else's kernel together; see guest.h. */
#include "guest.h"

#include <stdlib.h>
#include <string.h>

/* The shape and every argument must have a value at every size to come. */
static bool check_values(const struct call *call, const struct size *sizes, int count,
                         struct error *err)
{
    static const size_t strides[3];
    for (int s = 0; s < count; s++) {
        struct call_shape shape;
        union call_value value;
        if (!call_get_shape(call, sizes[s], &shape, err))
            return false;
        for (int i = 0; i < call->arg_count; i++)
            if (!call_get_value(&call->args[i], sizes[s], strides, &value, err))
                return false;
    }
    return true;
}

/* A kernel that waits for the whole grid needs all of it on the GPU at once. */
static bool check_resident(const struct guest *g, const struct device *device,
                           CUfunction function, const struct call_shape *shape,
                           int threads, struct error *err)
{
    int blocks = 0;
    uint64_t wanted = (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];
    CUresult result = g->call.cooperative ? device->api->occupancy(&blocks, function,
                                                                   threads, shape->smem)
                                          : CUDA_ERROR_NOT_SUPPORTED;
    uint64_t most = (uint64_t)blocks * (uint64_t)device->sm_count;
    if (result != CUDA_SUCCESS || most == 0 || wanted <= most)
        return true;
    return error_set(
        err, EXIT_USAGE,
        "--grid: the kernel waits for its whole grid (grid.sync), so at most "
        "%llu blocks of this size can be launched on %s, not %llu",
        (unsigned long long)most, device->id, (unsigned long long)wanted);
}

/* Ask the driver whether it would take the kernel in this shape. */
static bool check_function(const struct guest *g, const struct device *device,
                           CUfunction function, const struct size *sizes, int count,
                           struct error *err)
{
    const struct cuda_api *api = device->api;
    int threads = 0, most_smem = 0, own_smem = 0;
    api->function_attribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
    api->function_attribute(&own_smem, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    api->device_attribute(&most_smem,
                          CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                          device->ordinal);
    for (int i = 0; i < count; i++) {
        struct call_shape shape;
        call_get_shape(&g->call, sizes[i], &shape, NULL);
        int wanted = (int)(shape.block[0] * shape.block[1] * shape.block[2]);
        if (threads > 0 && wanted > threads)
            return error_set(err, EXIT_USAGE,
                             "--block: %d threads are more than %d, which the kernel's "
                             "launch bounds and its registers allow here",
                             wanted, threads);
        if (most_smem > 0 && (int64_t)shape.smem + own_smem > most_smem)
            return error_set(err, EXIT_USAGE,
                             "--smem: %u bytes and %d of the kernel's own are more than "
                             "the %d that a block can have on %s",
                             shape.smem, own_smem, most_smem, device->id);
        if (!check_resident(g, device, function, &shape, wanted, err))
            return false;
    }
    return true;
}

static bool try_loading(const struct guest *g, const struct device *device,
                        const struct size *sizes, int count, struct error *err)
{
    const struct cuda_api *api = device->api;
    CUmodule module;
    CUfunction function;
    CUresult result = api->module_load(&module, g->data);
    bool sim = device->backend == BACKEND_SIM;
    int status = sim ? EXIT_OURS : EXIT_USAGE;
    if (result != CUDA_SUCCESS)
        return error_set(err, status, "%.120s cannot be loaded: %s", g->image.origin,
                         load_failure(device, result));
    result = api->module_function(&function, module, g->entry);
    bool good = result == CUDA_SUCCESS
                    ? check_function(g, device, function, sizes, count, err)
                    : error_set(err, status, "%s%s%s", sim ? "" : g->entry,
                                sim ? "" : ": ", load_failure(device, result));
    api->module_unload(module);
    return good;
}

/* --- the rung ----------------------------------------------------------------------- */

static void fill_rung(struct guest *g, const struct entry *entry, const char *path)
{
    struct kernel_info *info = &g->rung.info;
    info->version = KERNEL_INFO_VERSION;
    guest_plain_name(g->entry, info->name, sizeof info->name);
    snprintf(info->title, sizeof info->title, "%.90s", path);
    info->bk = info->block_x = info->block_y = 1;
    info->multiple_m = info->multiple_n = info->multiple_k = 1;
    bool narrow =
        info->in == KERNEL_F16 || info->in == KERNEL_BF16 || info->in == KERNEL_TF32;
    bool tensor = entry ? entry->uses_tensor_cores : narrow;
    info->unit = tensor ? KERNEL_TENSOR_CORES : KERNEL_CUDA_CORES;
    g->call.entry = g->entry;
    g->call.cooperative = entry && entry->is_cooperative;
    g->image = (struct gpu_image){.stem = info->name, .origin = path, .data = g->data};
    g->rung.image = &g->image;
    g->rung.call = &g->call;
}

/* The file as PTX or as it is, in g->data. */
static bool load_file(struct guest *g, const struct options *o,
                      const struct device *device, size_t *size, struct error *err)
{
    char *ptx = NULL;
    if (!o->guest.cu)
        return guest_read(o->guest.ptx, &g->data, size, err);
    bool good = guest_compile(o->guest.cu, device->cc, &ptx, size, err);
    g->data = ptx;
    return good;
}

static bool pick_entry(struct guest *g, const struct options *o, const char *path,
                       const struct device *device, size_t size, struct error *err)
{
    struct entry_list list;
    const char *wish = o->guest.entry;
    const struct entry *entry = NULL;
    bool good = guest_list_entries(g->data, size, path, device, &list, err);
    if (good && list.count > 0) {
        entry = guest_find_entry(&list, wish, path, err);
        good = entry && guest_check_params(entry, &g->call, err);
    } else if (good && !wish) { /* a cubin that only the driver can read */
        good =
            error_set(err, EXIT_USAGE,
                      "--entry is missing: the kernels of %.200s cannot be listed", path);
    }
    if (good) {
        g->entry = xstrdup(entry ? entry->name : wish);
        fill_rung(g, entry && list.has_ptx ? entry : NULL, path);
    }
    guest_free_entries(&list);
    return good;
}

/* Lines are those of the PTX, be it the compiler's. */
static void name_image(const struct options *o)
{
    char name[200];
    snprintf(name, sizeof name, "%.190s%s", o->guest.cu ? o->guest.cu : o->guest.ptx,
             o->guest.cu ? " (PTX)" : "");
    sim_set_image_name(name);
}

bool guest_open(struct guest *g, const struct options *o, const struct device *device,
                const struct size *sizes, int size_count, struct error *err)
{
    const char *path = o->guest.cu ? o->guest.cu : o->guest.ptx;
    size_t size = 0;
    *g = (struct guest){0};
    if (device->backend == BACKEND_SIM)
        name_image(o);
    return guest_parse_words(g, &o->guest, err) &&
           check_values(&g->call, sizes, size_count, err) &&
           load_file(g, o, device, &size, err) &&
           pick_entry(g, o, path, device, size, err) &&
           try_loading(g, device, sizes, size_count, err);
}

void guest_close(struct guest *g)
{
    free(g->words);
    free(g->entry);
    free(g->data);
    *g = (struct guest){0};
}
