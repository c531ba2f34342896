/* select.c - see select.h. */
#include "select.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/row.h"
#include "report/units.h"

static bool only_run(const struct rung *rung)
{
    return rung->call && !rung->call->gemm;
}

bool rungs_same_kind(const struct rung *a, const struct rung *b)
{
    return only_run(a) == only_run(b) && a->info.unit == b->info.unit &&
           a->info.in == b->info.in && a->info.acc == b->info.acc;
}

/* "03_shared_tile", for GPU rungs the file's. */
static struct unit_text rung_stem(const struct rung *rung)
{
    struct unit_text stem;
    if (rung->image)
        snprintf(stem.s, sizeof stem.s, "%.47s", rung->image->stem);
    else
        snprintf(stem.s, sizeof stem.s, "%02d_%.40s", rung_lesson(rung), rung_name(rung));
    return stem;
}

static bool is_variant(const struct rung *rung)
{
    return rung->image && rung->image->kind == IMAGE_VARIANT;
}

/* An exercise as it came, not filled in: it runs only if it is named. */
static bool is_gap(const struct rung *rung)
{
    return rung->is_exercise && rung->image->gap_line > 0;
}

static bool matches(const struct rung *rung, const char *wish)
{
    char *end = NULL;
    long number = strtol(wish, &end, 10);
    if (isdigit((unsigned char)*wish) && *end == '\0')
        return number == rung_lesson(rung) && !rung->is_exercise && !is_variant(rung);
    if (strcmp(wish, "all") == 0)
        return !is_gap(rung);
    if (rung->is_exercise)
        return strcmp(wish, "exercise") == 0 || strcmp(wish, rung_stem(rung).s) == 0;
    return strcmp(wish, rung_name(rung)) == 0 || strcmp(wish, rung_stem(rung).s) == 0;
}

/* As far as it can be told of a file that does not load: "06", "06_warp_tile" and
 * "warp_tile" mean 06_warp_tile.cu. */
static bool matches_image(const struct gpu_image *image, const char *wish)
{
    char *end = NULL;
    const char *stem = image->stem, *name = strchr(stem, '_');
    long number = strtol(wish, &end, 10);
    if (isdigit((unsigned char)*wish) && *end == '\0')
        return number == atoi(stem) && image->kind == IMAGE_RUNG;
    return strcmp(wish, "all") == 0 || strcmp(wish, stem) == 0 ||
           (image->kind == IMAGE_EXERCISE ? strcmp(wish, "exercise") == 0
                                          : name && strcmp(wish, name + 1) == 0);
}

bool rungs_asked_for(const struct gpu_image *image, const struct options *o)
{
    for (int i = 0; i < o->kernels.count; i++)
        if (matches_image(image, o->kernels.items[i]))
            return true;
    int lesson = o->lesson ? o->lesson : registry_lesson;
    return o->kernels.count == 0 && atoi(image->stem) == lesson;
}

/* Append to `to`, unless it is there. */
static void add(const struct rung **to, int *count, const struct rung *rung)
{
    for (int i = 0; i < *count; i++)
        if (to[i] == rung)
            return;
    if (*count < SELECTED_MAX)
        to[(*count)++] = rung;
}

/* Stable: by lesson; the kinds in the order of their first rung. */
static void sort_by_lesson(const struct rung **rungs, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && rung_lesson(rungs[j]) < rung_lesson(rungs[j - 1]); j--) {
            const struct rung *held = rungs[j];
            rungs[j] = rungs[j - 1];
            rungs[j - 1] = held;
        }
}

static void sort_by_kind(const struct rung **rungs, int count)
{
    const struct rung *sorted[SELECTED_MAX];
    int done = 0;
    for (int i = 0; i < count; i++)
        for (int j = i; j < count && rungs[i]; j++)
            if (rungs[j] && (j == i || rungs_same_kind(rungs[i], rungs[j]))) {
                sorted[done++] = rungs[j];
                if (j > i)
                    rungs[j] = NULL;
            }
    memcpy(rungs, sorted, (size_t)done * sizeof *sorted);
}

void rungs_select_also(struct selection *s, const struct rung *rung)
{
    add(s->gpu, &s->gpu_count, rung);
    sort_by_kind(s->gpu, s->gpu_count);
}

static const struct rung *last_cpu_rung(const struct rung_list *cpu, int lesson)
{
    const struct rung *last = NULL;
    for (int i = 0; i < cpu->count; i++)
        if (rung_lesson(&cpu->rungs[i]) <= lesson &&
            (!last || rung_lesson(&cpu->rungs[i]) >= rung_lesson(last)))
            last = &cpu->rungs[i];
    return last;
}

static int highest_lesson(const struct rung_list *list)
{
    int highest = 0;
    for (int i = 0; list && i < list->count; i++)
        if (!list->rungs[i].is_exercise && !is_variant(&list->rungs[i]) &&
            rung_lesson(&list->rungs[i]) > highest)
            highest = rung_lesson(&list->rungs[i]);
    return highest;
}

static void append_names(char *text, size_t room, const struct rung_list *list)
{
    for (int i = 0; list && i < list->count; i++) {
        const char *name =
            list->rungs[i].is_exercise ? "exercise" : rung_name(&list->rungs[i]);
        size_t used = strlen(text), length = strlen(name);
        char *there = strstr(text, name);
        if (there && (there[length] == ',' || there[length] == '\0') &&
            (there == text || there[-1] == ' '))
            continue;
        snprintf(text + used, room - used, "%s%s", used ? ", " : "", name);
    }
}

static bool unknown_kernel(const char *wish, const struct rung_list *gpu,
                           const struct rung_list *cpu, struct error *err)
{
    char names[300] = "";
    append_names(names, sizeof names, gpu);
    append_names(names, sizeof names, cpu);
    return error_set(err, EXIT_USAGE,
                     "--kernel: there is no %srung `%.40s` here: %s. Names, stems "
                     "(01_naive) and lesson numbers will do; make all builds every rung",
                     gpu ? "" : "CPU ", wish, names);
}

static bool select_named(const struct rung_list *gpu, const struct rung_list *cpu,
                         const struct options *o, struct selection *s, struct error *err)
{
    for (int i = 0; i < o->kernels.count; i++) {
        const char *wish = o->kernels.items[i];
        bool known = false;
        for (int j = 0; gpu && j < gpu->count; j++)
            if (matches(&gpu->rungs[j], wish)) {
                add(s->gpu, &s->gpu_count, &gpu->rungs[j]);
                known = true;
            }
        for (int j = 0; j < cpu->count; j++)
            if (matches(&cpu->rungs[j], wish)) {
                add(s->cpu, &s->cpu_count, &cpu->rungs[j]);
                known = true;
            }
        for (int j = 0; gpu && j < gpu->broken_count && !known; j++)
            if (matches_image(gpu->broken[j].image, wish))
                return error_set(err, gpu->broken[j].status, "%s", gpu->broken[j].text);
        if (!known)
            return unknown_kernel(wish, gpu, cpu, err);
    }
    const struct rung *baseline = last_cpu_rung(cpu, 99);
    if (s->cpu_count == 0 && baseline)
        add(s->cpu, &s->cpu_count, baseline);
    return true;
}

static bool no_lesson(int lesson, const struct rung_list *gpu,
                      const struct rung_list *cpu, struct error *err)
{
    int highest = highest_lesson(gpu ? gpu : cpu);
    for (int i = 0; gpu && i < gpu->broken_count; i++)
        if (atoi(gpu->broken[i].image->stem) == lesson)
            return error_set(err, gpu->broken[i].status,
                             "no rung of lesson %d could be loaded: %.300s", lesson,
                             gpu->broken[i].text);
    if (lesson > highest)
        return error_set(err, EXIT_USAGE,
                         "--lesson: this ./run has rungs up to lesson %d: for lesson %d: "
                         "make lesson%d && ./run",
                         highest, lesson, lesson);
    return error_set(err, EXIT_USAGE, "--lesson: lesson %d has no rung of its own",
                     lesson);
}

/* The lesson's exercise, where it still is to be filled in. */
static const struct rung *find_gap(const struct rung_list *gpu, int lesson)
{
    for (int i = 0; gpu && i < gpu->count; i++)
        if (is_gap(&gpu->rungs[i]) && rung_lesson(&gpu->rungs[i]) == lesson)
            return &gpu->rungs[i];
    return NULL;
}

static bool select_lesson(const struct rung_list *gpu, const struct rung_list *cpu,
                          int lesson, struct selection *s, struct error *err)
{
    bool all_cpu = gpu == NULL;
    for (int own = 0; gpu && own < gpu->count; own++) {
        const struct rung *of_lesson = &gpu->rungs[own];
        if (rung_lesson(of_lesson) != lesson || is_gap(of_lesson) ||
            is_variant(of_lesson))
            continue;
        all_cpu = all_cpu || of_lesson->info.in == KERNEL_F32;
        for (int i = 0; i < gpu->count; i++) {
            const struct rung *rung = &gpu->rungs[i];
            if (rung_lesson(rung) <= lesson && rungs_same_kind(rung, of_lesson) &&
                !is_variant(rung) && !is_gap(rung) &&
                (!rung->is_exercise || rung_lesson(rung) == lesson))
                add(s->gpu, &s->gpu_count, rung);
        }
    }
    const struct rung *baseline = last_cpu_rung(cpu, lesson);
    if (gpu ? s->gpu_count == 0 : !baseline)
        return no_lesson(lesson, gpu, cpu, err);
    for (int i = 0; i < cpu->count; i++)
        if (rung_lesson(&cpu->rungs[i]) <= lesson &&
            (all_cpu || &cpu->rungs[i] == baseline))
            add(s->cpu, &s->cpu_count, &cpu->rungs[i]);
    s->gap = find_gap(gpu, lesson);
    return true;
}

/* Take out what this GPU is too old for, and say so. */
static bool drop_too_new(struct selection *s, const struct device *device,
                         struct error *err)
{
    int kept = 0, dropped = 0;
    for (int i = 0; i < s->gpu_count; i++) {
        const struct rung *rung = s->gpu[i];
        if (rung->info.min_cc <= device->cc) {
            s->gpu[kept++] = rung;
            continue;
        }
        if (dropped++ == 0)
            snprintf(s->note, sizeof s->note,
                     "%.40s needs compute capability %s, this device has %s: left out "
                     "(-d sim runs it)",
                     rung_name(rung), format_cc(rung->info.min_cc).s,
                     format_cc(device->cc).s);
    }
    s->gpu_count = kept;
    if (kept == 0 && dropped > 0)
        return error_set(err, EXIT_MISSING, "%s", s->note);
    return true;
}

bool rungs_select(const struct rung_list *gpu, const struct rung_list *cpu,
                  const struct device *device, const struct options *o,
                  struct selection *s, struct error *err)
{
    *s = (struct selection){0};
    int lesson = o->lesson ? o->lesson : registry_lesson;
    bool good = o->kernels.count > 0 ? select_named(gpu, cpu, o, s, err)
                                     : select_lesson(gpu, cpu, lesson, s, err);
    if (!good)
        return false;
    sort_by_lesson(s->gpu, s->gpu_count);
    sort_by_kind(s->gpu, s->gpu_count);
    sort_by_lesson(s->cpu, s->cpu_count);
    return !gpu || drop_too_new(s, device, err);
}
