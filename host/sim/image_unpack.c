/* image_unpack.c - decompress an entry of a fatbin.
 *
 * nvcc 13 compresses PTX with zstd unless told otherwise, --compress-mode=speed
 * and older toolkits use one LZ4 block. Neither library is needed to build
 * Peakbound; whichever is asked for is opened when it is.
 */
#include "image_parts.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* No PTX or cubin comes near; keeps a hostile header from taking all memory. */
#define UNPACK_MAX_BYTES (256u << 20)

typedef int lz4_decompress_fn(const char *from, char *to, int size, int room);
typedef size_t zstd_decompress_fn(void *to, size_t room, const void *from, size_t size);

/* dlsym gives an object pointer; POSIX says how to make a function of it. */
static bool find_symbol(void *library, const char *name, void *function_pointer)
{
    void *symbol = dlsym(library, name);
    memcpy(function_pointer, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool run_lz4(void *library, const uint8_t *from, size_t size, char *to,
                    size_t room)
{
    lz4_decompress_fn *decompress;
    if (!find_symbol(library, "LZ4_decompress_safe", &decompress) || size > INT_MAX)
        return false;
    return decompress((const char *)from, to, (int)size, (int)room) == (int)room;
}

static bool run_zstd(void *library, const uint8_t *from, size_t size, char *to,
                     size_t room)
{
    zstd_decompress_fn *decompress;
    if (!find_symbol(library, "ZSTD_decompress", &decompress))
        return false;
    return decompress(to, room, from, size) == room; /* errors are huge values */
}

static const struct {
    const char *name, *library;
    bool (*run)(void *library, const uint8_t *from, size_t size, char *to, size_t room);
} methods[] = {
    [UNPACK_LZ4] = {"lz4", "liblz4.so.1", run_lz4},
    [UNPACK_ZSTD] = {"zstd", "libzstd.so.1", run_zstd},
};

char *unpack_entry(enum unpack_method method, const uint8_t *data, size_t size,
                   uint64_t full_size, struct error *err)
{
    const char *name = methods[method].name;
    if (full_size == 0 || full_size > UNPACK_MAX_BYTES) {
        error_set(err, EXIT_USAGE,
                  "this fatbin has a %s entry of %llu bytes; 1 to %u are possible: the "
                  "file is damaged",
                  name, (unsigned long long)full_size, UNPACK_MAX_BYTES);
        return NULL;
    }
    void *library = dlopen(methods[method].library, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        error_set(err, EXIT_MISSING,
                  "this fatbin is compressed with %s and %s is not here: rebuild with "
                  "nvcc --compress-mode=none, or install it",
                  name, methods[method].library);
        return NULL;
    }
    char *text = malloc((size_t)full_size + 1);
    bool good = text && methods[method].run(library, data, size, text, (size_t)full_size);
    dlclose(library);
    if (!good) {
        error_set(err, text ? EXIT_USAGE : EXIT_OURS,
                  text ? "this fatbin has a %s entry that does not unpack to its %llu "
                         "bytes: the file is damaged"
                       : "no memory for the %s entry of this fatbin (%llu bytes)",
                  name, (unsigned long long)full_size);
        free(text);
        return NULL;
    }
    text[full_size] = '\0';
    return text;
}
