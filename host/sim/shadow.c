/* shadow.c - see shadow.h. */
#include "shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../error.h"

enum { WORD_SHIFT = 2 };

static struct cell *map_cells(uint64_t count)
{
    void *cells = mmap(NULL, (size_t)count * sizeof(struct cell), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return cells == MAP_FAILED ? NULL : cells;
}

struct shadow *shadow_new(uint64_t bytes)
{
    struct shadow s = {.bytes = bytes, .shift = WORD_SHIFT};
    s.cells = map_cells(shadow_cells(&s));
    if (s.cells == NULL)
        return NULL;
    struct shadow *result = xmalloc(sizeof *result);
    *result = s;
    return result;
}

void shadow_free(struct shadow *s)
{
    if (s == NULL)
        return;
    munmap(s->cells, (size_t)shadow_cells(s) * sizeof *s->cells);
    free(s);
}

void shadow_mark(struct shadow *s, uint64_t offset, uint64_t bytes, bool init)
{
    if (s == NULL || bytes == 0)
        return;
    for (uint64_t i = offset >> s->shift; i <= (offset + bytes - 1) >> s->shift; i++)
        s->cells[i].write =
            init ? s->cells[i].write | CELL_INIT : s->cells[i].write & ~CELL_INIT;
}

static bool is_init(const struct shadow *s, uint64_t offset)
{
    return s == NULL || s->all_init || (s->cells[offset >> s->shift].write & CELL_INIT);
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
    struct shadow fine = {.bytes = s->bytes, .shift = shift};
    fine.cells = map_cells(shadow_cells(&fine));
    if (fine.cells == NULL)
        die(EXIT_OURS, "out of memory: %llu bytes for the checks of %llu bytes",
            (unsigned long long)(shadow_cells(&fine) * sizeof *fine.cells),
            (unsigned long long)s->bytes);
    for (uint64_t i = 0; i < shadow_cells(s); i++) {
        struct cell cell = s->cells[i];
        if (cell.read != 0 && !keep_read(context, cell.read & CELL_ID))
            cell.read = 0;
        if (cell.read == 0 && cell.write == 0)
            continue;
        uint64_t first = i << (s->shift - shift);
        for (uint64_t k = 0; k < (uint64_t)1 << (s->shift - shift); k++)
            if (first + k < shadow_cells(&fine))
                fine.cells[first + k] = cell;
    }
    munmap(s->cells, (size_t)shadow_cells(s) * sizeof *s->cells);
    s->cells = fine.cells;
    s->shift = shift;
}

void shadow_forget(struct shadow *s)
{
    for (uint64_t i = 0; s != NULL && i < shadow_cells(s); i++) {
        if (s->cells[i].read != 0)
            s->cells[i].read = 0;
        if ((s->cells[i].write & ~CELL_INIT) != 0)
            s->cells[i].write &= CELL_INIT;
    }
}
