/* guest.h - somebody else's kernel (--cu, --ptx), dressed up as a rung, so that it goes
 * the way of all rungs: launched, checked, counted and timed by bench, shown by climb.
 *
 * guest_args.c     what the command line says: types, layout, parameters, shape
 * guest_compile.c  CUDA C to PTX, with the compiler that is there now
 * guest_file.c     the file: its entries, the one that is meant, its parameters
 * guest.c          puts the rung together and tries whether it could be launched
 */
#ifndef PEAKBOUND_GUEST_H
#define PEAKBOUND_GUEST_H

#include "bench/bench.h"
#include "options.h"

struct guest {
    struct rung rung; /* .call and .image point to the two below */
    struct call call;
    struct gpu_image image;
    char *words; /* the command line cut up; call points into it */
    char *entry; /* name in the module */
    void *data;  /* the file, or what was compiled */
};

/* Fill *guest. `sizes` are those to come: every formula must hold for each. False and *err: EXIT_USAGE, EXIT_MISSING (no compiler,
 * nothing for this device), EXIT_OURS (an instruction that the simulator does not know).
 * guest_close in any case. */
bool guest_open(struct guest *guest, const struct options *options,
                const struct device *device, const struct size *sizes, int size_count,
                struct error *err);
void guest_close(struct guest *guest);

/* --- for the parts of guest --------------------------------------------------------- */

/* Fill call and rung.info's types from the words. */
bool guest_parse_words(struct guest *guest, const struct guest_words *words,
                       struct error *err);

/* Compile the .cu file for a device of this compute capability. The text is
 * NUL-terminated, to be freed. */
bool guest_compile(const char *path, int device_cc, char **ptx, size_t *length,
                   struct error *err);

/* A kernel of the file, and what its parameter list takes. */
struct entry {
    char *name;
    int param_count; /* -1 = not known: machine code only */
    struct {
        char name[64];
        uint64_t bytes;
    } params[CALL_ARGS_MAX];
    bool uses_tensor_cores;
    bool is_cooperative; /* waits for the whole grid */
};
struct entry_list {
    struct entry *entries;
    int count;
    bool has_ptx;
};

/* Read a file of any size up to 256 MiB; NUL bytes stand behind it. */
bool guest_read(const char *path, void **data, size_t *size, struct error *err);
/* `name` is the file's in messages. */
bool guest_list_entries(const void *data, size_t size, const char *name,
                        const struct device *device, struct entry_list *list,
                        struct error *err);
void guest_free_entries(struct entry_list *list);
/* "_Z6matmulPfS_i" -> "matmul"; other names stay as they are. */
void guest_plain_name(const char *mangled, char *plain, size_t room);
/* The entry called `wish`: by its whole name, its plain one, or a part of it; NULL = the
 * only one. NULL and *err if there is none or several. */
const struct entry *guest_find_entry(const struct entry_list *list, const char *wish,
                                     const char *file, struct error *err);
/* Do the arguments fit the parameter list? */
bool guest_check_params(const struct entry *entry, const struct call *call,
                        struct error *err);

#endif
