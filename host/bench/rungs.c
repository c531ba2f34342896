/* rungs.c - which kernels the images hold: kernel_info, read from the loaded module.
 * An image may be anybody's, so every field is checked before it is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "run_parts.h"

static bool text_ends(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL && text[0] != '\0';
}

static bool info_valid(const struct kernel_info *info, char *why, size_t room)
{
    const struct {
        const char *name;
        int value, least, most;
    } fields[] = {
        {"version", info->version, KERNEL_INFO_VERSION, KERNEL_INFO_VERSION},
        {"lesson", info->lesson, 0, 99},
        {"bm", info->bm, 1, 1 << 16},
        {"bn", info->bn, 1, 1 << 16},
        {"bk", info->bk, 1, 1 << 16},
        {"block_x", info->block_x, 1, 1024},
        {"block_y", info->block_y, 1, 1024},
        {"grid", info->grid, KERNEL_GRID_X_IS_N, KERNEL_GRID_X_IS_M},
        {"dynamic_smem_bytes", info->dynamic_smem_bytes, 0, 1 << 20},
        {"unit", info->unit, KERNEL_CUDA_CORES, KERNEL_TENSOR_CORES},
        {"in", info->in, KERNEL_F32, KERNEL_S32},
        {"acc", info->acc, KERNEL_F32, KERNEL_S32},
        {"out", info->out, KERNEL_F32, KERNEL_S32},
        {"min_cc", info->min_cc, 50, 200},
        {"multiple_m", info->multiple_m, 1, 1 << 16},
        {"multiple_n", info->multiple_n, 1, 1 << 16},
        {"multiple_k", info->multiple_k, 1, 1 << 16},
    };
    if (!text_ends(info->name, sizeof info->name) ||
        !text_ends(info->entry, sizeof info->entry) ||
        memchr(info->title, '\0', sizeof info->title) == NULL) {
        snprintf(why, room, "name or entry is empty or too long");
        return false;
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].value < fields[i].least || fields[i].value > fields[i].most) {
            snprintf(why, room, ".%s is %d; %d to %d are possible", fields[i].name,
                     fields[i].value, fields[i].least, fields[i].most);
            return false;
        }
    return true;
}

static void add_rung(struct rung_list *list, const struct rung *rung)
{
    list->rungs = xrealloc(list->rungs, ((size_t)list->count + 1) * sizeof *list->rungs);
    list->rungs[list->count++] = *rung;
}

static void add_broken(struct rung_list *list, const struct gpu_image *image, int status,
                       const char *why)
{
    list->broken =
        xrealloc(list->broken, ((size_t)list->broken_count + 1) * sizeof *list->broken);
    struct broken_image *broken = &list->broken[list->broken_count++];
    *broken = (struct broken_image){.image = image, .status = status};
    snprintf(broken->text, sizeof broken->text, "%s: %.300s", image->origin, why);
}

const char *load_failure(const struct device *device, CUresult result)
{
    if (device->backend == BACKEND_SIM && sim_last_error()[0] != '\0')
        return sim_last_error();
    return cuda_failure(device->api, result);
}

static void read_table(const struct device *device, const struct gpu_image *image,
                       CUmodule module, struct rung_list *list)
{
    const struct cuda_api *api = device->api;
    CUdeviceptr table;
    size_t bytes;
    CUresult result = api->module_global(&table, &bytes, module, "kernel_info");
    if (result != CUDA_SUCCESS) {
        add_broken(list, image, EXIT_OURS, "it has no KERNEL_INFO table");
        return;
    }
    size_t count = bytes / sizeof(struct kernel_info);
    if (count == 0 || count > 64 || bytes % sizeof(struct kernel_info) != 0) {
        add_broken(list, image, EXIT_OURS, "its kernel_info has an unexpected size");
        return;
    }
    struct kernel_info *infos = xcalloc(count, sizeof *infos);
    if (api->copy_to_host(infos, table, bytes) != CUDA_SUCCESS) {
        add_broken(list, image, EXIT_OURS, "its kernel_info cannot be read");
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        char why[200];
        struct rung rung = {.info = infos[i],
                            .image = image,
                            .is_exercise = image->kind == IMAGE_EXERCISE};
        if (!info_valid(&infos[i], why, sizeof why))
            add_broken(list, image, EXIT_OURS, why);
        else
            add_rung(list, &rung);
    }
    free(infos);
}

static void load_image(const struct device *device, const struct gpu_image *image,
                       struct rung_list *list)
{
    CUmodule module;
    CUresult result = device->api->module_load(&module, image->data);
    if (result != CUDA_SUCCESS) {
        add_broken(list, image,
                   result == CUDA_ERROR_NO_BINARY_FOR_GPU ? EXIT_MISSING : EXIT_OURS,
                   load_failure(device, result));
        return;
    }
    read_table(device, image, module, list);
    device->api->module_unload(module);
}

/* A CPU rung gets a kernel_info too, so that tables treat all rungs alike. */
static void add_cpu_rung(const struct cpu_rung *cpu, struct rung_list *list)
{
    struct rung rung = {.cpu = cpu};
    struct kernel_info *info = &rung.info;
    info->version = KERNEL_INFO_VERSION;
    info->lesson = cpu->lesson;
    snprintf(info->name, sizeof info->name, "%s", cpu->name);
    snprintf(info->title, sizeof info->title, "%s", cpu->title);
    info->in = info->acc = info->out = KERNEL_F32;
    info->unit = KERNEL_CUDA_CORES;
    info->bm = info->bn = info->bk = 1;
    info->multiple_m = info->multiple_n = info->multiple_k = 1;
    add_rung(list, &rung);
}

bool rungs_load_images(const struct device *device, const struct gpu_image *images,
                       int count, struct rung_list *list, struct error *err)
{
    memset(list, 0, sizeof *list);
    for (int i = 0; i < count; i++)
        load_image(device, &images[i], list);
    if (count > 0 && list->count == 0)
        return error_set(err, EXIT_OURS, "no kernel could be loaded: %s",
                         list->broken_count > 0 ? list->broken[0].text : "no table");
    return true;
}

bool rungs_load(const struct device *device, struct rung_list *list, struct error *err)
{
    if (device->backend != BACKEND_CPU)
        return rungs_load_images(device, registry_images, registry_image_count, list,
                                 err);
    memset(list, 0, sizeof *list);
    for (int i = 0; i < registry_cpu_rung_count; i++)
        add_cpu_rung(registry_cpu_rungs[i], list);
    return true;
}

void rungs_free(struct rung_list *list)
{
    free(list->rungs);
    free(list->broken);
    memset(list, 0, sizeof *list);
}
