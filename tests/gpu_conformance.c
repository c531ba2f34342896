/* gpu_conformance.c - the instruction cases of tests/ptx/ on a real GPU and on the
 * simulator, compared bit for bit (make gpu-conformance).
 *
 *   gpu_conformance          GPU 0 against the simulator
 *   gpu_conformance --self   the simulator against itself
 *   gpu_conformance --plant  the same, with one bit of one result turned over
 *
 * Exit status: 0 all agree; 1 some differ; 3 there is no GPU. Approximations (.approx) may
 * differ in their last bits: they are counted apart. Cases that need another architecture
 * than the GPU has are left out, and so is what the simulator refuses. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../host/cuda/cuda_open.h"
#include "../host/error.h"
#include "../host/report/peaks.h"
#include "../host/sim/sim.h"
#include "forms.h"

enum {
    TEXT = 1 << 14,
    IO_BYTES = FORM_MOST_THREADS * (FORM_SLOT * FORM_MOST_REGISTERS + 64),
    DEFAULT_CC = 89
};

struct run {
    struct cuda_driver driver;
    const struct cuda_api *gpu; /* NULL: the simulator stands in for it */
    struct sim_spec card;
    int cc;     /* of the GPU */
    bool plant; /* turn a bit of the next result over */
    int same, differ, approximate, left_out;
};

static void fill_inputs(const struct form *form, uint8_t *io)
{
    memset(io, 0, IO_BYTES);
    for (int i = 0; i < form->in_count; i++)
        for (int t = 0; t < form->threads; t++) {
            char kind = form->in[i].kind;
            uint64_t value = 0;
            form_value(form->in[i].value, t, &value);
            value &= kind == 'h'   ? 0xffff
                     : kind == 'r' ? 0xffffffff
                     : kind == 'p' ? 1
                                   : UINT64_MAX;
            memcpy(io + ((size_t)t * FORM_MOST_REGISTERS + (size_t)i) * FORM_SLOT, &value,
                   8);
        }
}

/* Load the module, launch it on io, read io back. */
static CUresult launch(const struct cuda_api *cu, const struct form *form,
                       const char *text, uint8_t *io)
{
    CUcontext context;
    CUmodule module = NULL;
    CUfunction function;
    CUdeviceptr memory = 0;
    void *parameters[] = {&memory};
    CUresult result = cu->init(0);
    if (result == CUDA_SUCCESS)
        result = cu->context_retain(&context, 0);
    if (result == CUDA_SUCCESS)
        result = cu->context_set(context);
    if (result == CUDA_SUCCESS)
        result = cu->module_load(&module, text);
    if (result == CUDA_SUCCESS)
        result = cu->module_function(&function, module, "k");
    if (result == CUDA_SUCCESS)
        result = cu->memory_alloc(&memory, IO_BYTES);
    if (result == CUDA_SUCCESS)
        result = cu->copy_to_device(memory, io, IO_BYTES);
    if (result == CUDA_SUCCESS)
        result = cu->launch(function, 1, 1, 1, (unsigned)form->threads, 1, 1, 0, NULL,
                            parameters, NULL);
    if (result == CUDA_SUCCESS)
        result = cu->context_sync();
    if (result == CUDA_SUCCESS)
        result = cu->copy_to_host(io, memory, IO_BYTES);
    if (memory != 0)
        cu->memory_free(memory);
    if (module != NULL)
        cu->module_unload(module);
    return result;
}

static CUresult simulate(const struct run *run, const struct form *form, const char *text,
                         uint8_t *io)
{
    sim_configure(
        &(struct sim_options){.spec = &run->card, .spec_count = 1, .threads = 1});
    CUresult result = launch(sim_driver(), form, text, io);
    sim_configure(&(struct sim_options){0});
    return result;
}

/* The first register of the first thread that differs. */
static bool report_difference(const struct form *form, const uint8_t *gpu,
                              const uint8_t *sim)
{
    for (int t = 0; t < form->threads; t++)
        for (int i = 0; i < form->out_count; i++) {
            size_t at = ((size_t)t * FORM_MOST_REGISTERS + (size_t)i) * FORM_SLOT;
            uint64_t a, b;
            memcpy(&a, gpu + at, 8);
            memcpy(&b, sim + at, 8);
            if (a == b)
                continue;
            printf("%s:%d: `%s` thread %d: %c is %#llx on the GPU, %#llx simulated\n",
                   form->file, form->line, form->body, t, form->out[i].name,
                   (unsigned long long)a, (unsigned long long)b);
            return true;
        }
    return false;
}

static void run_case(void *context, const struct form *form)
{
    static char text[TEXT];
    static uint8_t gpu[IO_BYTES], sim[IO_BYTES];
    struct run *run = context;
    if (form->refused[0] != '\0' || atoi(form->target + 3) > run->cc ||
        !form_text(form, text, sizeof text)) {
        run->left_out++;
        return;
    }
    fill_inputs(form, gpu);
    fill_inputs(form, sim);
    CUresult on_gpu = run->gpu != NULL ? launch(run->gpu, form, text, gpu)
                                       : simulate(run, form, text, gpu);
    CUresult simulated = simulate(run, form, text, sim);
    if (on_gpu != CUDA_SUCCESS || simulated != CUDA_SUCCESS) {
        printf("%s:%d: `%s`: result %d on the GPU, %d simulated\n", form->file,
               form->line, form->body, (int)on_gpu, (int)simulated);
        run->differ += on_gpu != simulated;
        run->same += on_gpu == simulated;
        return;
    }
    if (run->plant && form->out_count > 0) {
        gpu[0] ^= 1;
        run->plant = false;
    }
    bool approximate = strstr(form->body, ".approx") != NULL;
    if (!report_difference(form, gpu, sim))
        run->same++;
    else if (approximate)
        run->approximate++;
    else
        run->differ++;
}

/* The GPU to test, and the simulated card that is most like it. */
static bool open_sides(struct run *run, bool self)
{
    char candidates[80];
    const struct peak_row *row =
        peak_find(self ? "4090" : "a100", candidates, sizeof candidates);
    run->cc = DEFAULT_CC;
    if (row == NULL || !peak_sim_spec(row, &run->card))
        return false;
    if (self)
        return true;
    cuda_open(&run->driver);
    if (run->driver.absence != CUDA_PRESENT) {
        fprintf(stderr, "gpu-conformance: no NVIDIA GPU: %s. %s\n", run->driver.reason,
                run->driver.advice);
        return false;
    }
    int major = 0, minor = 0;
    run->gpu = &run->driver.api;
    run->gpu->device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
    run->gpu->device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0);
    run->cc = 10 * major + minor;
    run->card.cc_major = major;
    run->card.cc_minor = minor;
    return true;
}

int main(int argc, char **argv)
{
    static struct run run;
    bool plant = argc == 2 && strcmp(argv[1], "--plant") == 0;
    bool self = plant || (argc == 2 && strcmp(argv[1], "--self") == 0);
    if (argc > 2 || (argc == 2 && !self)) {
        fprintf(stderr, "usage: gpu_conformance [--self | --plant]\n");
        return EXIT_USAGE;
    }
    if (!open_sides(&run, self))
        return EXIT_MISSING;
    run.plant = plant;
    glob_t files;
    if (glob("tests/ptx/*.txt", 0, NULL, &files) != 0) {
        fprintf(stderr, "gpu-conformance: no tests/ptx/*.txt here: run it in the "
                        "repository's root\n");
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char wrong[200];
        if (!form_read(files.gl_pathv[i], run_case, &run, wrong, sizeof wrong)) {
            fprintf(stderr, "gpu-conformance: %s\n", wrong);
            return EXIT_USAGE;
        }
    }
    globfree(&files);
    printf("gpu-conformance: %d cases agree bit for bit, %d differ, %d approximations "
           "differ, %d left out (compute capability %d.%d)\n",
           run.same, run.differ, run.approximate, run.left_out, run.cc / 10, run.cc % 10);
    return run.differ > 0 ? EXIT_WRONG : 0;
}
