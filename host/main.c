/* main.c - a table of contents: parse the options, open devices, run, report. */
#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "calc/tool.h"
#include "climb.h"
#include "cpu/isa.h"
#include "guest.h"
#include "output_file.h"
#include "report/devices.h"
#include "report/grid.h"
#include "report/style.h"
#include "report/units.h"

/* The last thing before a good end: was everything printed? A reader who has gone
 * (./run | head -1) is no error; a full disk is. One more write tells which. */
static int finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    errno = 0;
    putchar('\n');
    fflush(stdout);
    if (errno != EPIPE)
        die(EXIT_OURS, "standard output cannot be written: %s", strerror(errno));
    return status;
}

static int show_help(const struct options *o)
{
    (void)o;
    options_print_help(stdout);
    return EXIT_GOOD;
}

static int show_version(const struct options *o)
{
    (void)o;
    printf("Peakbound %s\nkernels compiled by %s\nhost compiled by "
#if defined(__clang__)
           "clang " __clang_version__
#else
           "gcc " __VERSION__
#endif
           "\n%d cards in the table of published peaks\n",
           registry_version, registry_compiler, peak_table_count);
    return EXIT_GOOD;
}

static void print_line(void *context, const char *text)
{
    (void)context;
    puts(text);
}

static int list_ptx(const struct options *o)
{
    (void)o;
    sim_list_ptx(print_line, NULL);
    return EXIT_GOOD;
}

/* "cc 8.0, M % 64" */
static void describe_needs(const struct kernel_info *info, char *text, size_t room)
{
    const struct {
        const char *name;
        int multiple;
    } sizes[] = {
        {"M", info->multiple_m}, {"N", info->multiple_n}, {"K", info->multiple_k}};
    snprintf(text, room, "cc %s", format_cc(info->min_cc).s);
    for (int i = 0; i < 3; i++) {
        size_t used = strlen(text);
        if (sizes[i].multiple > 1)
            snprintf(text + used, room - used, ", %s%%%d", sizes[i].name,
                     sizes[i].multiple);
    }
}

static void list_rungs(struct grid *grid, const struct rung_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const struct rung *rung = &list->rungs[i];
        char needs[64] = "CPU";
        int at = grid_add_row(grid);
        if (!rung->cpu)
            describe_needs(&rung->info, needs, sizeof needs);
        grid_set(grid, at, 0, STYLE_PLAIN, "%d", rung_lesson(rung));
        grid_set(grid, at, 1, STYLE_PLAIN, "%s",
                 rung->is_exercise ? "exercise (yours)" : rung_name(rung));
        grid_set(grid, at, 2, STYLE_PLAIN, "%s -> %s", type_label(rung->info.in),
                 type_label(rung->info.acc));
        grid_set(grid, at, 3, STYLE_PLAIN, "%s", needs);
        grid_set(grid, at, 4, STYLE_PLAIN, "%s",
                 rung->cpu ? rung->cpu->title : rung->info.title);
    }
}

/* Name the rungs that could not be loaded; with options only those asked for. */
static void report_broken(const struct rung_list *list, const struct options *o)
{
    for (int i = 0; i < list->broken_count; i++)
        if (!o || rungs_asked_for(list->broken[i].image, o))
            fprintf(stderr, "peakbound: left out: %s\n", list->broken[i].text);
}

static int list_kernels(const struct options *o)
{
    (void)o;
    struct error err = {0};
    struct picked reader;
    struct rung_list gpu = {0}, cpu = {0};
    if (!devices_pick_reader(&reader, &err) || !rungs_load(&reader.gpu, &gpu, &err) ||
        !rungs_load(&reader.cpu, &cpu, &err))
        die(err.status, "%s", err.text);
    struct grid grid = {0};
    grid_add_column(&grid, (struct grid_column){.title = "lesson"});
    grid_add_column(
        &grid, (struct grid_column){.title = "kernel", .left = true, .shortest = 16});
    grid_add_column(&grid, (struct grid_column){.title = "in -> sum", .left = true});
    grid_add_column(&grid, (struct grid_column){.title = "needs", .left = true});
    grid_add_column(&grid, (struct grid_column){
                               .title = "what it does", .left = true, .shortest = 20});
    list_rungs(&grid, &gpu);
    list_rungs(&grid, &cpu);
    grid_print(&grid, stdout);
    report_broken(&gpu, NULL);
    rungs_free(&gpu);
    rungs_free(&cpu);
    devices_close(&reader);
    return EXIT_GOOD;
}

/* Close the JSON file; a failure outweighs a good status. */
static int close_json(struct json_file *json, int status)
{
    struct error err = {0};
    bool keep = status == EXIT_GOOD || status == EXIT_WRONG;
    if (!json_file_close(json, keep, &err))
        die(err.status, "%s", err.text);
    return status;
}

static int show_devices(const struct options *o)
{
    struct error err = {0};
    struct json_file json = {0};
    struct cuda_driver driver;
    struct device cpu = {0};
    if (o->json && !json_file_open(&json, o->json, &err))
        die(err.status, "%s", err.text);
    cuda_open(&driver);
    device_open_cpu(&cpu);
    if (json.stream)
        devices_write_json(json.stream, &driver, &cpu);
    if (json.stream != stdout)
        devices_print(stdout, &driver, &cpu);
    device_close(&cpu);
    return close_json(&json, EXIT_GOOD);
}

/* The cards of --against. */
static bool find_cards(const struct options *o, struct climb *climb, struct error *err)
{
    static const char *const usual[] = {"a100", "h100", "4090"};
    int count = o->against.count > 0 ? o->against.count : 3;
    for (int i = 0; i < count; i++) {
        const char *label = o->against.count > 0 ? o->against.items[i] : usual[i];
        char candidates[300] = "";
        const struct peak_row *peak = peak_find(label, candidates, sizeof candidates);
        if (!peak)
            return error_set(err, EXIT_USAGE, "--against: %s `%.60s`%s%.300s",
                             candidates[0] ? "several cards are called"
                                           : "no card with a published peak is called",
                             label,
                             candidates[0] ? ": " : ": ./run --devices lists cards",
                             candidates);
        climb->cards[climb->card_count++] = (struct card){label, peak};
    }
    return true;
}

/* With auto, a GPU that is too old for all rungs gives way to the simulator. */
static bool load_rungs(const struct options *o, struct picked *devices,
                       struct rung_list *gpu, struct rung_list *cpu, struct error *err)
{
    if (!rungs_load(&devices->cpu, cpu, err))
        return false;
    if (!devices->has_gpu || rungs_load(&devices->gpu, gpu, err))
        return true;
    if (o->device != WISH_AUTO || devices->gpu.backend != BACKEND_GPU)
        return false;
    char why[sizeof err->text];
    snprintf(why, sizeof why, "%s", err->text);
    *err = (struct error){0};
    rungs_free(gpu);
    return devices_fall_back(o, devices, why, err) && rungs_load(&devices->gpu, gpu, err);
}

static bool open_rungs(const struct options *o, struct picked *devices,
                       struct rung_list *gpu, struct rung_list *cpu,
                       struct selection *selection, struct error *err)
{
    return load_rungs(o, devices, gpu, cpu, err) &&
           rungs_select(devices->has_gpu ? gpu : NULL, cpu,
                        devices->has_gpu ? &devices->gpu : NULL, o, selection, err);
}

/* Somebody else's kernel, beside the chosen rungs if there are any. */
static bool open_guest(const struct options *o, const struct picked *devices,
                       struct guest *guest, struct selection *selection,
                       struct error *err)
{
    struct size usual = climb_default_size(devices);
    bool given = o->size_count > 0;
    if (!guest_open(guest, o, &devices->gpu, given ? o->sizes : &usual,
                    given ? o->size_count : 1, err))
        return false;
    rungs_select_also(selection, &guest->rung);
    return true;
}

static int run_lesson(const struct options *o)
{
    struct error err = {0};
    struct picked devices = {0};
    struct rung_list gpu = {0}, cpu = {0};
    struct guest guest = {0};
    struct selection selection = {0};
    struct json_file json = {0};
    struct climb climb = {.options = o, .devices = &devices, .selection = &selection};
    bool is_guest = o->guest.cu || o->guest.ptx;
    bool good = find_cards(o, &climb, &err) && devices_pick(o, &devices, &err) &&
                ((is_guest && o->kernels.count == 0) ||
                 open_rungs(o, &devices, &gpu, &cpu, &selection, &err)) &&
                (!is_guest || open_guest(o, &devices, &guest, &selection, &err)) &&
                (!o->out || output_can_write(o->out, "--out", &err)) &&
                (!o->json || json_file_open(&json, o->json, &err));
    int status = err.status;
    if (good) {
        report_broken(&gpu, o);
        climb.json = json.stream ? &json : NULL;
        climb.text = json.stream == stdout ? NULL : stdout;
        status = climb_run(&climb, &err);
    }
    climb_free(&climb);
    guest_close(&guest);
    rungs_free(&gpu);
    rungs_free(&cpu);
    devices_close(&devices);
    status = close_json(&json, status);
    if (err.status)
        die(err.status, "%s", err.text);
    return status;
}

int main(int argc, char **argv)
{
    static int (*const actions[])(const struct options *) = {
        [ACTION_RUN] = run_lesson,       [ACTION_LIST] = list_kernels,
        [ACTION_LIST_PTX] = list_ptx,    [ACTION_DEVICES] = show_devices,
        [ACTION_VERSION] = show_version, [ACTION_HELP] = show_help,
    };
    struct options options;
    struct error err = {0};
    output_hold_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    interrupt_install();
    if (!cpu_isa_check(&err))
        die(err.status, "%s", err.text);
    registry_init();
    const struct tool *tool = tool_find(argc, argv);
    if (tool) {
        int status = tool->run(argc, argv, &err);
        if (err.text[0])
            die(status, "%s", err.text);
        return finish(status);
    }
    if (!options_parse(argc, argv, &options, &err))
        die(err.status, "%s", err.text);
    style_init(options.no_color);
    int status = finish(actions[options.action](&options));
    options_free(&options);
    omp_pause_resource_all(omp_pause_hard); /* ends its threads and frees their memory */
    return status;
}
