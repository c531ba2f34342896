/* shadow.c - see shadow.h. */
#include "shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../error.h"

static size_t cells_bytes(const struct shadow *s)
{
    return 2 * (size_t)shadow_cells(s) * sizeof *s->write;
}

static bool map_cells(struct shadow *s)
{
    void *cells = mmap(NULL, cells_bytes(s), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (cells == MAP_FAILED)
        return false;
    s->write = cells;
    s->read = s->write + shadow_cells(s);
    return true;
}

struct shadow *shadow_new(uint64_t bytes)
{
    struct shadow s = {.bytes = bytes};
    if (!map_cells(&s))
        return NULL;
    struct shadow *result = xmalloc(sizeof *result);
    *result = s;
    return result;
}

void shadow_free(struct shadow *s)
{
    if (s == NULL)
        return;
    munmap(s->write, cells_bytes(s));
    if (s->missing != NULL)
        munmap(s->missing, (size_t)shadow_cells(s));
    free(s);
}

void shadow_clear(struct shadow *s)
{
    memset(s->write, 0, cells_bytes(s));
    if (s->missing != NULL)
        memset(s->missing, 0, (size_t)shadow_cells(s));
}

void shadow_mark(struct shadow *s, uint64_t offset, uint64_t bytes, bool init)
{
    if (s == NULL || bytes == 0)
        return;
    for (uint64_t i = offset >> CELL_SHIFT; i <= (offset + bytes - 1) >> CELL_SHIFT; i++)
        s->write[i] = init ? s->write[i] | CELL_INIT : s->write[i] & ~CELL_INIT;
}

static bool is_init(const struct shadow *s, uint64_t offset)
{
    return s == NULL || s->all_init || (s->write[offset >> CELL_SHIFT] & CELL_INIT);
}

void shadow_copy(struct shadow *to, uint64_t to_offset, const struct shadow *from,
                 uint64_t from_offset, uint64_t bytes)
{
    if (to == NULL)
        return;
    uint64_t step = (uint64_t)1 << CELL_SHIFT;
    for (uint64_t i = 0; i < bytes; i += step)
        shadow_mark(to, to_offset + i, bytes - i < step ? bytes - i : step,
                    is_init(from, from_offset + i));
}

void shadow_split(struct shadow *s)
{
    void *missing = mmap(NULL, (size_t)shadow_cells(s), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (missing == MAP_FAILED)
        die(EXIT_OURS, "out of memory: %llu bytes for the checks of %llu bytes",
            (unsigned long long)shadow_cells(s), (unsigned long long)s->bytes);
    s->missing = missing;
}

void shadow_forget(struct shadow *s)
{
    for (uint64_t i = 0; s != NULL && i < shadow_cells(s); i++) {
        if (s->read[i] != 0)
            s->read[i] = 0;
        if ((s->write[i] & ~CELL_INIT) != 0)
            s->write[i] &= CELL_INIT;
    }
}
