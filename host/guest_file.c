/* guest_file.c - a file with somebody else's kernels: which there are, which one is
 * meant, and whether the arguments fit its parameters; see guest.h. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guest.h"
#include "sim/image.h"

/* --- reading ------------------------------------------------------------------------ */

bool guest_read(const char *path, void **data, size_t *size, struct error *err)
{
    enum { PADDING = 16, FIRST = 1 << 16 };
    const size_t most = (size_t)256 << 20;
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(err, EXIT_USAGE, "`%.200s` cannot be read: %s", path,
                         strerror(errno));
    size_t room = FIRST, used = 0, got;
    unsigned char *text = xmalloc(room + PADDING);
    while ((got = fread(text + used, 1, room - used, file)) > 0 && used <= most) {
        used += got;
        if (used == room)
            text = xrealloc(text, (room *= 2) + PADDING);
    }
    int problem = ferror(file) ? errno : 0;
    fclose(file);
    memset(text + used, 0, PADDING);
    *data = text;
    *size = used;
    if (problem)
        return error_set(err, EXIT_USAGE, "`%.200s` cannot be read: %s", path,
                         strerror(problem));
    if (used == 0 || used > most)
        return error_set(err, EXIT_USAGE, "`%.200s` %s", path,
                         used ? "is larger than 256 MiB" : "is empty");
    return true;
}

/* --- entries ------------------------------------------------------------------------ */

static struct entry *add_entry(struct entry_list *list, const char *name)
{
    list->entries =
        xrealloc(list->entries, ((size_t)list->count + 1) * sizeof *list->entries);
    struct entry *entry = &list->entries[list->count++];
    memset(entry, 0, sizeof *entry);
    entry->name = xstrdup(name);
    entry->param_count = -1;
    return entry;
}

static bool is_matrix_insn(const struct ptx_insn *insn)
{
    static const char *const bases[] = {"mma", "wmma", "wgmma", "tcgen05"};
    for (size_t b = 0; b < sizeof bases / sizeof *bases; b++)
        if (strcmp(insn->base, bases[b]) == 0)
            return true;
    return false;
}

/* Cooperative groups find the memory for grid.sync() in %envreg1 and %envreg2. */
static bool is_grid_sync(const struct ptx_insn *insn)
{
    for (int i = 0; i < insn->operand_count; i++)
        if (insn->operand[i].kind == PTX_OPERAND_SREG &&
            strncmp(insn->operand[i].symbol, "%envreg", 7) == 0)
            return true;
    return false;
}

/* Is there such an instruction here, or in a function that may be called from here? */
static bool has_insn(const struct ptx_module *module, const struct ptx_function *f,
                     bool (*is)(const struct ptx_insn *insn))
{
    for (int i = 0; i < module->function_count; i++) {
        const struct ptx_function *g = module->functions[i];
        for (int n = 0; n < g->insn_count && (g == f || !g->is_entry); n++)
            if (is(&g->insns[n]))
                return true;
    }
    return false;
}

static void add_ptx_entries(const struct ptx_module *module, struct entry_list *list)
{
    for (int i = 0; i < module->function_count; i++) {
        const struct ptx_function *f = module->functions[i];
        if (!f->is_entry || f->is_declaration)
            continue;
        struct entry *entry = add_entry(list, f->name);
        entry->param_count = f->param_count;
        entry->uses_tensor_cores = has_insn(module, f, is_matrix_insn);
        entry->is_cooperative = has_insn(module, f, is_grid_sync);
        for (int p = 0; p < f->param_count && p < CALL_ARGS_MAX; p++) {
            entry->params[p].bytes = f->params[p]->size_bytes;
            snprintf(entry->params[p].name, sizeof entry->params[p].name, "%s",
                     f->params[p]->name);
        }
    }
}

bool guest_list_entries(const void *data, size_t size, const char *name,
                        const struct device *device, struct entry_list *list,
                        struct error *err)
{
    struct image image;
    struct error why = {0};
    bool sim = device->backend == BACKEND_SIM, good = true;
    *list = (struct entry_list){0};
    if (!image_open(data, size, device->cc, &image, &why)) {
        /* a real driver may know more than we do */
        return !sim || error_set(err, why.status, "%.120s: %s", name, why.text);
    }
    list->has_ptx = image.ptx != NULL;
    if (image.ptx) {
        struct ptx_module *module =
            ptx_parse(image.ptx, image.ptx_length, name, sim ? err : &why);
        good = module || !sim;
        if (module) {
            add_ptx_entries(module, list);
            ptx_free(module);
        }
    }
    for (int i = 0; list->count == 0 && i < image.kernel_count; i++)
        add_entry(list, image.kernels[i].name);
    image_close(&image);
    if (good && sim && list->count == 0)
        good = error_set(err, EXIT_USAGE, "%.200s holds no kernel (no .entry)", name);
    return good;
}

void guest_free_entries(struct entry_list *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->entries[i].name);
    free(list->entries);
    *list = (struct entry_list){0};
}

/* --- names -------------------------------------------------------------------------- */

/* The Itanium C++ ABI, 5.1: _Z <length> name, or _ZN <length> name ... E; the last name
 * is the function's. */
void guest_plain_name(const char *mangled, char *plain, size_t room)
{
    snprintf(plain, room, "%s", mangled);
    if (strncmp(mangled, "_Z", 2) != 0)
        return;
    bool nested = mangled[2] == 'N';
    const char *at = mangled + 2 + nested;
    while (isdigit((unsigned char)*at)) {
        size_t length = strtoul(at, NULL, 10);
        at += strspn(at, "0123456789");
        if (length == 0 || length > strlen(at))
            return;
        snprintf(plain, room, "%.*s", (int)length, at);
        at += length;
        if (!nested)
            return;
    }
}

/* "matmul, reduce and 3 more" */
static void name_entries(const struct entry_list *list, const bool *chosen, char *text,
                         size_t room)
{
    int left = 0;
    text[0] = '\0';
    for (int i = 0; i < list->count; i++)
        left += !chosen || chosen[i];
    for (int i = 0; i < list->count; i++) {
        size_t used = strlen(text);
        if (chosen && !chosen[i])
            continue;
        if (used > 0 && used + strlen(list->entries[i].name) + 24 > room) {
            snprintf(text + used, room - used, " and %d more", left);
            return;
        }
        snprintf(text + used, room - used, "%s%.100s", used ? ", " : "",
                 list->entries[i].name);
        left--;
    }
}

/* 3: the whole name, 2: the plain one, 1: a part, 0: no match */
static int match(const struct entry *entry, const char *wish)
{
    char plain[256];
    guest_plain_name(entry->name, plain, sizeof plain);
    return strcmp(entry->name, wish) == 0 ? 3
           : strcmp(plain, wish) == 0     ? 2
                                          : strstr(entry->name, wish) != NULL;
}

const struct entry *guest_find_entry(const struct entry_list *list, const char *wish,
                                     const char *file, struct error *err)
{
    bool *chosen = xcalloc((size_t)list->count + 1, sizeof *chosen);
    const struct entry *found = NULL;
    int best = 0, count = 0;
    char names[300];
    for (int i = 0; i < list->count; i++) {
        int how = wish ? match(&list->entries[i], wish) : 1;
        best = how > best ? how : best;
    }
    for (int i = 0; i < list->count; i++) {
        chosen[i] = best > 0 && (wish ? match(&list->entries[i], wish) : 1) == best;
        count += chosen[i];
        found = chosen[i] ? &list->entries[i] : found;
    }
    if (count != 1) {
        name_entries(list, count ? chosen : NULL, names, sizeof names);
        error_set(err, EXIT_USAGE, "--entry%s%.40s%s: %s %.60s: %s",
                  wish ? " `" : " is missing", wish ? wish : "", wish ? "`" : "",
                  count ? "several kernels fit in" : "no kernel is called so in", file,
                  names);
        found = NULL;
    }
    free(chosen);
    return found;
}

/* --- parameters --------------------------------------------------------------------- */

bool guest_check_params(const struct entry *entry, const struct call *call,
                        struct error *err)
{
    char plain[80], names[240] = "";
    guest_plain_name(entry->name, plain, sizeof plain);
    if (entry->param_count < 0)
        return true;
    for (int i = 0; i < entry->param_count && i < CALL_ARGS_MAX; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%llu", used ? ", " : "",
                 (unsigned long long)entry->params[i].bytes);
    }
    if (entry->param_count != call->arg_count)
        return error_set(err, EXIT_USAGE,
                         "--args has %d arguments, kernel %s takes %d parameters%s%s%s",
                         call->arg_count, plain, entry->param_count,
                         names[0] ? " (bytes: " : "", names, names[0] ? ")" : "");
    for (int i = 0; i < call->arg_count; i++) {
        const struct call_arg *arg = &call->args[i];
        uint64_t bytes = entry->params[i].bytes;
        bool size_of_64 = bytes == 8 && arg->kind >= CALL_M && arg->kind <= CALL_K;
        if (bytes != (uint64_t)call_arg_bytes(arg))
            return error_set(
                err, EXIT_USAGE,
                "--args: argument %d (%.40s) has %d bytes, parameter %s takes "
                "%llu%s%s",
                i + 1, arg->word, call_arg_bytes(arg), entry->params[i].name,
                (unsigned long long)bytes, size_of_64 ? ": write l:" : "",
                size_of_64 ? arg->word : "");
    }
    return true;
}
