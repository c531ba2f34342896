/* test_forms.c - every row of the instruction table runs, with the right result: the
 * cases of tests/ptx/ on the simulated driver, and a walk over the table that finds a
 * row which none of them uses. */
#include <criterion/criterion.h>
#include <glob.h>
#include <unistd.h>

#include "../host/sim/ops.h"
#include "engine.h"
#include "forms.h"

enum {
    MOST_ROWS = 400,
    TEXT = 1 << 14,
    IO_BYTES = FORM_MOST_THREADS * (FORM_SLOT * FORM_MOST_REGISTERS + 64)
};

/* The table, and which of its rows a case has used. */
struct walk {
    const struct op_row *rows[MOST_ROWS];
    bool used[MOST_ROWS];
    int count, cases, wrong;
    const char *ptx_folder; /* where to write the modules for ptxas, or NULL */
};

static void list_rows(struct walk *walk)
{
    for (const struct op_family *const *f = ops_families(); *f != NULL; f++)
        for (int i = 0; i < (*f)->count; i++) {
            cr_assert(walk->count < MOST_ROWS);
            walk->rows[walk->count++] = &(*f)->rows[i];
        }
}

static void row_taken(void *context, const struct op_row *row)
{
    struct walk *walk = context;
    for (int i = 0; i < walk->count; i++)
        walk->used[i] |= walk->rows[i] == row;
}

static bool some_address(void *context, const char *name, uint64_t *address)
{
    (void)context, (void)name;
    *address = 1024;
    return true;
}

/* The refusal names the instruction: `base.suffixes` is not supported */
static void mark_refused(struct walk *walk, const char *error)
{
    const char *base = strchr(error, '`');
    size_t length = base != NULL ? strcspn(++base, ".`") : 0;
    for (int i = 0; i < walk->count; i++)
        walk->used[i] |= walk->rows[i]->allowed == ~0u &&
                         strncmp(walk->rows[i]->base, base, length) == 0 &&
                         walk->rows[i]->base[length] == '\0';
}

static void mark_rows(struct walk *walk, const struct form *form, const char *text)
{
    struct error err = {0};
    struct ptx_module *module = ptx_parse(text, strlen(text), "case.ptx", &err);
    cr_assert(module != NULL, "%s:%d: %s", form->file, form->line, err.text);
    struct decode_env env = {.module = module,
                             .symbol = some_address,
                             .taken = row_taken,
                             .context = walk,
                             .device_cc = 90};
    struct code *code =
        code_decode(&env, module->functions[module->function_count - 1], false, &err);
    bool refused = form->refused[0] != '\0';
    cr_expect((code == NULL) == refused, "%s:%d: %s", form->file, form->line,
              refused ? "it is not refused" : err.text);
    if (refused && code == NULL) {
        cr_expect(strstr(err.text, form->refused) && strstr(err.text, "is not supported"),
                  "%s:%d: the refusal is: %s", form->file, form->line, err.text);
        mark_refused(walk, err.text);
    }
    code_free(code);
    ptx_free(module);
}

static void write_text(const struct walk *walk, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/case_%d.ptx", walk->ptx_folder, walk->cases);
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

/* --- running ------------------------------------------------------------------------ */

static uint64_t width_of(char kind)
{
    return kind == 'h' ? 0xffff : kind == 'r' ? 0xffffffff : kind == 'p' ? 1 : UINT64_MAX;
}

static uint8_t *slot(uint8_t *io, int thread, int i)
{
    return io + (size_t)thread * FORM_SLOT * FORM_MOST_REGISTERS + (size_t)FORM_SLOT * i;
}

/* Returns why it did not run, or NULL with the results in io. */
static const char *run_module(const struct form *form, const char *text, uint8_t *io)
{
    static char why[600];
    struct sim_spec card = engine_card;
    card.cc_major = atoi(form->target + 3) >= 90 ? 9 : 8;
    card.cc_minor = card.cc_major == 8 ? 9 : 0;
    sim_configure(&(struct sim_options){.spec = &card, .spec_count = 1, .threads = 1});
    const struct cuda_api *cu = sim_driver();
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    must(cu->init(0), "cuInit");
    must(cu->context_retain(&context, 0), "cuDevicePrimaryCtxRetain");
    must(cu->context_set(context), "cuCtxSetCurrent");
    must(cu->memory_alloc(&memory, IO_BYTES), "cuMemAlloc");
    must(cu->copy_to_device(memory, io, IO_BYTES), "cuMemcpyHtoD");
    void *parameters[] = {&memory};
    CUresult result = cu->module_load(&module, text);
    if (result == CUDA_SUCCESS)
        result = cu->module_function(&function, module, "k");
    if (result == CUDA_SUCCESS)
        result = cu->launch(function, 1, 1, 1, (unsigned)form->threads, 1, 1, 0, NULL,
                            parameters, NULL);
    if (result == CUDA_SUCCESS)
        result = cu->context_sync();
    if (result == CUDA_SUCCESS)
        result = cu->copy_to_host(io, memory, IO_BYTES);
    const struct sim_report *report = sim_last_report();
    bool fault = report != NULL && report->fault_count > 0;
    snprintf(why, sizeof why, "%s %s", sim_last_error(),
             fault ? report->faults[0].detail : "");
    sim_configure(&(struct sim_options){0});
    return result == CUDA_SUCCESS ? NULL : why;
}

static void check_values(struct walk *walk, const struct form *form, uint8_t *io)
{
    for (int i = 0; i < form->out_count; i++)
        for (int t = 0; t < form->threads; t++) {
            const struct form_register *reg = &form->out[i];
            uint64_t want = 0, got = 0;
            memcpy(&got, slot(io, t, i), 8);
            if (!form_value(reg->value, t, &want) ||
                ((got ^ want) & width_of(reg->kind)) != 0) {
                walk->wrong++;
                cr_expect(false, "%s:%d: `%s`: thread %d: %c is %#llx, want %#llx",
                          form->file, form->line, form->body, t, reg->name,
                          (unsigned long long)(got & width_of(reg->kind)),
                          (unsigned long long)(want & width_of(reg->kind)));
                break;
            }
        }
}

static void run_case(void *context, const struct form *form)
{
    struct walk *walk = context;
    static char text[TEXT];
    static uint8_t io[IO_BYTES];
    cr_assert(form_text(form, text, sizeof text), "%s:%d is too long", form->file,
              form->line);
    walk->cases++;
    mark_rows(walk, form, text);
    if (form->refused[0] != '\0')
        return;
    if (walk->ptx_folder != NULL)
        write_text(walk, text);
    memset(io, 0, sizeof io);
    for (int i = 0; i < form->in_count; i++)
        for (int t = 0; t < form->threads; t++) {
            uint64_t value;
            cr_assert(form_value(form->in[i].value, t, &value));
            value &= width_of(form->in[i].kind);
            memcpy(slot(io, t, i), &value, 8);
        }
    const char *why = run_module(form, text, io);
    cr_expect(why == NULL, "%s:%d: `%s`: %s", form->file, form->line, form->body, why);
    if (why == NULL)
        check_values(walk, form, io);
}

Test(forms, every_row_of_the_table_has_a_case_that_gives_the_right_result)
{
    struct walk walk = {.ptx_folder = getenv("PEAKBOUND_PTX_DIR")};
    glob_t files;
    list_rows(&walk);
    cr_assert_eq(glob("tests/ptx/*.txt", 0, NULL, &files), 0, "no tests/ptx/*.txt");
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char wrong[200];
        cr_expect(form_read(files.gl_pathv[i], run_case, &walk, wrong, sizeof wrong),
                  "%s", wrong);
    }
    globfree(&files);
    for (int i = 0; i < walk.count; i++)
        cr_expect(walk.used[i], "no case in tests/ptx/ uses `%s`", walk.rows[i]->syntax);
    cr_expect(walk.cases >= walk.count, "%d cases", walk.cases);
}

/* The walk itself: a row that nothing uses is seen. */
Test(forms, a_row_without_a_case_is_found)
{
    struct walk walk = {0};
    int used = 0;
    struct form form = {.file = "none",
                        .target = "sm_80",
                        .threads = 1,
                        .body = "brev.b32 d, 0;",
                        .out = {{'d', 'r', "0"}},
                        .out_count = 1};
    list_rows(&walk);
    run_case(&walk, &form);
    for (int i = 0; i < walk.count; i++) {
        used += walk.used[i];
        cr_expect(walk.used[i] == false || strcmp(walk.rows[i]->base, "add") != 0);
        cr_expect(strcmp(walk.rows[i]->base, "brev") != 0 || walk.used[i]);
    }
    cr_expect(used < 12 && used > 4, "%d rows used by a kernel of one instruction", used);
}

Test(forms, expressions_have_their_values)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {{"5", 5},           {"0x10+2*3", 22},
                 {"1<<4^L", 16 ^ 5}, {"(T&7)*3", (37 & 7) * 3},
                 {"~0", UINT64_MAX}, {"-1", UINT64_MAX},
                 {"100-L-1", 94}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value;
        cr_expect(form_value(cases[i].text, 37, &value) && value == cases[i].value, "%s",
                  cases[i].text);
    }
    uint64_t value;
    cr_expect(!form_value("5+", 0, &value) && !form_value("x", 0, &value) &&
              !form_value("(1", 0, &value) && !form_value("1)", 0, &value));
}
