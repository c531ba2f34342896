/* shadow.c - see shadow.h. */
#include "shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../error.h"

enum { WORD_SHIFT = 2 };

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
    struct shadow s = {.bytes = bytes, .shift = WORD_SHIFT};
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
    free(s);
}

void shadow_clear(struct shadow *s)
{
    memset(s->write, 0, cells_bytes(s));
}

void shadow_mark(struct shadow *s, uint64_t offset, uint64_t bytes, bool init)
{
    if (s == NULL || bytes == 0)
        return;
    for (uint64_t i = offset >> s->shift; i <= (offset + bytes - 1) >> s->shift; i++)
        s->write[i] = init ? s->write[i] | CELL_INIT : s->write[i] & ~CELL_INIT;
}

static bool is_init(const struct shadow *s, uint64_t offset)
{
    return s == NULL || s->all_init || (s->write[offset >> s->shift] & CELL_INIT);
}

void shadow_copy(struct shadow *to, uint64_t to_offset, const struct shadow *from,
                 uint64_t from_offset, uint64_t bytes)
{
    if (to == NULL)
        return;
    uint64_t step = (uint64_t)1 << to->shift;
    for (uint64_t i = 0; i < bytes; i += step)
        shadow_mark(to, to_offset + i, bytes - i < step ? bytes - i : step,
                    is_init(from, from_offset + i));
}

void shadow_refine(struct shadow *s, uint8_t shift,
                   bool (*keep_read)(void *context, uint32_t id), void *context)
{
    struct shadow fine = {.bytes = s->bytes, .shift = shift, .all_init = s->all_init};
    if (!map_cells(&fine))
        die(EXIT_OURS, "out of memory: %llu bytes for the checks of %llu bytes",
            (unsigned long long)cells_bytes(&fine), (unsigned long long)s->bytes);
    for (uint64_t i = 0; i < shadow_cells(s); i++) {
        uint32_t write = s->write[i], read = s->read[i];
        if (read != 0 && !keep_read(context, read & CELL_ID))
            read = 0;
        uint64_t first = i << (s->shift - shift);
        for (uint64_t k = 0; k < (uint64_t)1 << (s->shift - shift); k++)
            if ((write | read) != 0 && first + k < shadow_cells(&fine)) {
                fine.write[first + k] = write;
                fine.read[first + k] = read;
            }
    }
    munmap(s->write, cells_bytes(s));
    *s = fine;
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
