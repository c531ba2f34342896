/* devices.c - see devices.h. A GPU is asked for its properties without opening a
 * context, so that a GPU in exclusive use by someone else is listed too. */
#include "devices.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "../cpu/isa.h"
#include "grid.h"
#include "json.h"
#include "peaks.h"
#include "units.h"

/* --- real GPUs ---------------------------------------------------------------------- */

struct gpu_facts {
    char name[96];
    size_t memory_bytes;
    int cc, sm_count, clock_mhz, memory_mhz, bus_bits, l2_bytes;
    const struct peak_row *peak; /* NULL = unknown card */
};

static bool ask_gpu(const struct cuda_api *api, int ordinal, struct gpu_facts *facts)
{
    CUdevice device;
    int major = 0, minor = 0, clock_khz = 0, memory_khz = 0;
    const struct {
        int attribute, *value;
    } asked[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &facts->sm_count},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &clock_khz},
        {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &memory_khz},
        {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &facts->bus_bits},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &facts->l2_bytes},
    };
    *facts = (struct gpu_facts){0};
    if (api->device_get(&device, ordinal) != CUDA_SUCCESS ||
        api->device_name(facts->name, sizeof facts->name, device) != CUDA_SUCCESS ||
        api->device_memory(&facts->memory_bytes, device) != CUDA_SUCCESS)
        return false;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (api->device_attribute(asked[i].value, asked[i].attribute, device) !=
            CUDA_SUCCESS)
            *asked[i].value = 0;
    facts->cc = major * 10 + minor;
    facts->clock_mhz = clock_khz / 1000;
    facts->memory_mhz = memory_khz / 1000;
    facts->peak =
        peak_match(facts->name, facts->cc, facts->sm_count, facts->memory_bytes);
    return true;
}

/* The peaks that a card is known for. */
static const struct {
    const char *key;
    int unit, in, acc;
} known_peaks[] = {
    {"fp32", KERNEL_CUDA_CORES, KERNEL_F32, KERNEL_F32},
    {"fp64", KERNEL_CUDA_CORES, KERNEL_F64, KERNEL_F64},
    {"tf32_tc", KERNEL_TENSOR_CORES, KERNEL_TF32, KERNEL_F32},
    {"fp16_tc_acc32", KERNEL_TENSOR_CORES, KERNEL_F16, KERNEL_F32},
    {"fp16_tc_acc16", KERNEL_TENSOR_CORES, KERNEL_F16, KERNEL_F16},
    {"bf16_tc", KERNEL_TENSOR_CORES, KERNEL_BF16, KERNEL_F32},
    {"int8_tc", KERNEL_TENSOR_CORES, KERNEL_S8, KERNEL_S32},
};
enum { KNOWN_PEAKS = sizeof known_peaks / sizeof *known_peaks };

static double known_peak(const struct peak_row *row, int i, bool *published)
{
    *published = false;
    return peak_tflops(row, known_peaks[i].unit, known_peaks[i].in, known_peaks[i].acc,
                       published);
}

static void print_known_peaks(FILE *out, const struct peak_row *row)
{
    char text[600] = "";
    for (int i = 0; i < KNOWN_PEAKS; i++) {
        bool published;
        double peak = known_peak(row, i, &published);
        size_t used = strlen(text);
        if (peak > 0)
            snprintf(
                text + used, sizeof text - used, "%s%s %s%s", used ? "; " : "",
                format_kind(known_peaks[i].unit, known_peaks[i].in, known_peaks[i].acc).s,
                format_peak(peak).s, published ? "" : " (computed)");
    }
    print_labelled(out, "", "published peaks, TFLOPS, dense: %s", text);
}

static void print_gpu(FILE *out, const struct cuda_driver *driver, int ordinal)
{
    struct gpu_facts facts;
    char id[16];
    snprintf(id, sizeof id, "gpu:%d", ordinal);
    if (!ask_gpu(&driver->api, ordinal, &facts)) {
        print_labelled(out, id, "does not answer: check with nvidia-smi");
        return;
    }
    print_labelled(
        out, id,
        "%s: %s, compute capability %s, %d SMs at up to %d MHz, memory at %d MHz "
        "x %d bits, L2 %s",
        facts.name, format_memory((double)facts.memory_bytes).s, format_cc(facts.cc).s,
        facts.sm_count, facts.clock_mhz, facts.memory_mhz, facts.bus_bits,
        format_memory(facts.l2_bytes).s);
    if (facts.peak)
        print_known_peaks(out, facts.peak);
    else
        print_labelled(
            out, "",
            "not in our table of published peaks (name, SM count and memory must "
            "agree): no percent of its own peak will be shown");
}

static void print_gpus(FILE *out, const struct cuda_driver *driver)
{
    int runtime = cuda_runtime_version();
    fprintf(out, "%sNVIDIA GPUs%s\n", style_of(STYLE_BOLD), style_of(STYLE_PLAIN));
    if (driver->absence != CUDA_PRESENT) {
        print_labelled(out, "none", "%s", driver->reason);
        print_labelled(out, "to do", "%s", driver->advice);
    }
    for (int i = 0; i < driver->device_count; i++)
        print_gpu(out, driver, i);
    print_labelled(out, "CUDA", "driver for CUDA %s, runtime library %s",
                   driver->version > 0 ? format_cuda_version(driver->version).s
                                       : "- (none)",
                   runtime > 0 ? format_cuda_version(runtime).s
                               : "not found (not needed by this program)");
}

/* --- CPU ---------------------------------------------------------------------------- */

static const char *simd_name(void)
{
#if defined(__x86_64__)
    int level = cpu_isa_level();
    return level == 4   ? "AVX-512 (16 floats)"
           : level == 3 ? "AVX2 with FMA (8 floats)"
                        : "SSE2 (4 floats)";
#elif defined(__aarch64__)
    return "NEON (4 floats)";
#else
    return "baseline";
#endif
}

static double host_memory_bytes(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static void print_cpu(FILE *out, const struct device *cpu)
{
    fprintf(out, "\n%sCPU%s\n", style_of(STYLE_BOLD), style_of(STYLE_PLAIN));
    print_labelled(out, "cpu", "%s: %ld logical cores, %d threads used, %s, %s memory",
                   cpu->name, sysconf(_SC_NPROCESSORS_ONLN), cpu->cpu_threads,
                   simd_name(), format_memory(host_memory_bytes()).s);
    if (cpu->cpu_peak_gflops > 0)
        print_labelled(
            out, "",
            "computed FP32 peak %s (cores x lanes x 2 FLOP x FMA units x %d MHz)",
            format_flops(cpu->cpu_peak_gflops / 1e3).s, cpu->clock_mhz);
    else
        print_labelled(out, "", "peak not known: the clock cannot be read");
}

/* --- simulated cards ---------------------------------------------------------------- */

static const char *const aliases[] = {"a100", "h100", "4090"};
enum { ALIASES = sizeof aliases / sizeof *aliases, OLDEST_CC = 75 /* of the rungs */ };

static bool names(const char *text, const struct peak_row *row)
{
    return peak_find(text, NULL, 0) == row;
}

/* A short text that means this card after "-d sim:": an alias, else the name from its
 * model number on, as far as it takes ("4080 super"), else the whole name. */
static bool wish_for(const struct peak_row *row, char *wish, size_t room)
{
    for (int i = 0; i < ALIASES; i++)
        if (names(aliases[i], row)) {
            snprintf(wish, room, "%s", aliases[i]);
            return true;
        }
    size_t start = strcspn(row->name, "0123456789");
    while (start > 0 && isalpha((unsigned char)row->name[start - 1]))
        start--;
    snprintf(wish, room, "%s", row->name + start);
    size_t length = strlen(wish);
    for (size_t end = 1; end <= length; end++) {
        char held = wish[end];
        wish[end] = '\0';
        wish[end - 1] = (char)tolower((unsigned char)wish[end - 1]);
        if (!isalnum((unsigned char)held) && names(wish, row))
            return true;
        wish[end] = held;
    }
    snprintf(wish, room, "%s", row->name);
    return names(wish, row);
}

/* Calls `each` for every card that can be simulated, the aliases first. */
static void for_each_simulated(void (*each)(void *context, const char *wish,
                                            const struct peak_row *row),
                               void *context)
{
    char wish[96];
    struct sim_spec spec;
    for (int i = 0; i < ALIASES; i++) {
        const struct peak_row *row = peak_find(aliases[i], NULL, 0);
        if (row && peak_sim_spec(row, &spec))
            each(context, aliases[i], row);
    }
    for (int i = 0; i < peak_table_count; i++) {
        const struct peak_row *row = &peak_table[i];
        bool first = false;
        for (int j = 0; j < ALIASES; j++)
            first = first || names(aliases[j], row);
        if (!first && row->cc >= OLDEST_CC && peak_sim_spec(row, &spec) &&
            wish_for(row, wish, sizeof wish))
            each(context, wish, row);
    }
}

static void set_peak(struct grid *grid, int at, int column, const struct peak_row *row,
                     int which)
{
    bool published;
    double peak = known_peak(row, which, &published);
    grid_set(grid, at, column, STYLE_PLAIN, "%s%s", peak > 0 && !published ? "~" : "",
             published ? format_peak(peak).s : format_tflops(peak).s);
}

static void add_simulated(void *context, const char *wish, const struct peak_row *row)
{
    struct grid *grid = context;
    const char *quote = strchr(wish, ' ') ? "'" : "";
    int at = grid_add_row(grid);
    grid_set(grid, at, 0, STYLE_PLAIN, "-d %ssim:%s%s", quote, wish, quote);
    grid_set(grid, at, 1, STYLE_PLAIN, "%s", row->name);
    grid_set(grid, at, 2, STYLE_PLAIN, "%s", format_cc(row->cc).s);
    grid_set(grid, at, 3, STYLE_PLAIN, "%d", row->sm_count);
    grid_set(grid, at, 4, STYLE_PLAIN, "%g", row->mem_gb);
    set_peak(grid, at, 5, row, 0);
    set_peak(grid, at, 6, row, 3);
}

void devices_print(FILE *out, const struct cuda_driver *driver, const struct device *cpu)
{
    struct grid grid = {0};
    print_gpus(out, driver);
    print_cpu(out, cpu);
    fprintf(out, "\n%sSimulated GPUs%s (peaks in TFLOPS, dense, published; ~ computed)\n",
            style_of(STYLE_BOLD), style_of(STYLE_PLAIN));
    grid_add_column(&grid, (struct grid_column){.title = "ask with", .left = true});
    grid_add_column(&grid,
                    (struct grid_column){.title = "card", .left = true, .shortest = 20});
    grid_add_column(&grid, (struct grid_column){.title = "cc"});
    grid_add_column(&grid, (struct grid_column){.title = "SMs"});
    grid_add_column(&grid, (struct grid_column){.title = "GB"});
    grid_add_column(&grid, (struct grid_column){.title = "FP32"});
    grid_add_column(&grid, (struct grid_column){.title = "FP16 tensor"});
    for_each_simulated(add_simulated, &grid);
    grid_print(&grid, out);
}

/* --- JSON --------------------------------------------------------------------------- */

static void put_known_peaks(struct json *j, const struct peak_row *row)
{
    if (!row) {
        json_string(j, "peak", NULL);
        return;
    }
    json_open(j, "peak", '{');
    for (int i = 0; i < KNOWN_PEAKS; i++) {
        bool published;
        double peak = known_peak(row, i, &published);
        json_number(j, known_peaks[i].key, peak > 0 ? peak : NAN);
    }
    json_close(j, '}');
}

static void write_gpu(FILE *out, const struct cuda_driver *driver, int ordinal)
{
    struct gpu_facts facts;
    char id[16];
    snprintf(id, sizeof id, "gpu:%d", ordinal);
    struct json j = {.out = out};
    bool answers = ask_gpu(&driver->api, ordinal, &facts);
    json_open(&j, NULL, '{');
    json_string(&j, "device", id);
    json_string(&j, "backend", "gpu");
    json_bool(&j, "present", answers);
    json_string(&j, "device_name", facts.name);
    json_whole(&j, "memory_bytes", facts.memory_bytes);
    json_string(&j, "compute_capability", format_cc(facts.cc).s);
    json_number(&j, "sm_count", facts.sm_count);
    json_number(&j, "clock_mhz", facts.clock_mhz);
    json_number(&j, "memory_clock_mhz", facts.memory_mhz);
    json_number(&j, "memory_bus_bits", facts.bus_bits);
    json_number(&j, "l2_bytes", facts.l2_bytes);
    json_string(&j, "driver", format_cuda_version(driver->version).s);
    json_string(&j, "runtime", format_cuda_version(cuda_runtime_version()).s);
    put_known_peaks(&j, facts.peak);
    json_close(&j, '}');
    json_line_end(&j);
}

static void write_simulated(void *context, const char *wish, const struct peak_row *row)
{
    char id[110];
    snprintf(id, sizeof id, "sim:%.96s", wish);
    struct json j = {.out = context};
    json_open(&j, NULL, '{');
    json_string(&j, "device", id);
    json_string(&j, "backend", "sim");
    json_string(&j, "device_name", row->name);
    json_number(&j, "memory_bytes", row->mem_gb * 1e9);
    json_string(&j, "compute_capability", format_cc(row->cc).s);
    json_number(&j, "sm_count", row->sm_count);
    json_number(&j, "clock_mhz", row->boost_mhz);
    put_known_peaks(&j, row);
    json_close(&j, '}');
    json_line_end(&j);
}

void devices_write_json(FILE *out, const struct cuda_driver *driver,
                        const struct device *cpu)
{
    struct json j = {.out = out};
    if (driver->absence != CUDA_PRESENT) {
        json_open(&j, NULL, '{');
        json_string(&j, "device", "gpu");
        json_string(&j, "backend", "gpu");
        json_bool(&j, "present", false);
        json_string(&j, "reason", driver->reason);
        json_string(&j, "advice", driver->advice);
        json_close(&j, '}');
        json_line_end(&j);
    }
    for (int i = 0; i < driver->device_count; i++)
        write_gpu(out, driver, i);
    json_open(&j, NULL, '{');
    json_string(&j, "device", "cpu");
    json_string(&j, "backend", "cpu");
    json_string(&j, "device_name", cpu->name);
    json_number(&j, "memory_bytes", host_memory_bytes());
    json_number(&j, "logical_cores", (double)sysconf(_SC_NPROCESSORS_ONLN));
    json_number(&j, "threads", cpu->cpu_threads);
    json_string(&j, "simd", simd_name());
    json_number(&j, "clock_mhz", cpu->clock_mhz > 0 ? cpu->clock_mhz : NAN);
    json_number(&j, "peak_tflops",
                cpu->cpu_peak_gflops > 0 ? cpu->cpu_peak_gflops / 1e3 : NAN);
    json_close(&j, '}');
    json_line_end(&j);
    for_each_simulated(write_simulated, out);
}
