/* shadow.h - what the checks remember of memory: for each word, was it ever written, who
 * wrote it last, who read it last.
 *
 * A cell of 8 bytes stands for a 4-byte word, so a shadow is twice the memory that it
 * stands for, and as sparse: its pages are taken when touched. Where threads access less
 * than a word, a further byte a cell says which bytes the latest write and read covered;
 * of several writers of a word's parts only the latest is known.
 *
 * An access is named by an id: 20 bits for the entry in a log of accesses (check_parts.h),
 * 5 for the warp in the block, 5 for the lane. Id 0: none. */
#ifndef PEAKBOUND_SIM_SHADOW_H
#define PEAKBOUND_SIM_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CELL_LANE_BITS = 5, CELL_THREAD_BITS = 10, CELL_ID_BITS = 30, CELL_SHIFT = 2 };
#define CELL_ID ((1u << CELL_ID_BITS) - 1)
#define CELL_THREAD ((1u << CELL_THREAD_BITS) - 1) /* warp and lane */
#define CELL_STRONG (1u << 30) /* atomic, volatile, relaxed, acquire, release */
#define CELL_INIT (1u << 31)   /* of write: something was ever written */
#define CELL_MANY (1u << 31)   /* of read: several threads read, without order */

struct shadow {
    uint32_t *write, *read; /* a word of each a cell */
    uint64_t bytes;         /* of the memory that it stands for */
    uint8_t *missing;       /* bytes of the word that the latest write (low half) and read
                         (high half) did not cover; NULL: all covered all */
    bool all_init;          /* its contents were there before anybody watched */
};

/* Cells for `bytes` of memory, none written. NULL: no memory for it. */
struct shadow *shadow_new(uint64_t bytes);
void shadow_free(struct shadow *s);
void shadow_clear(struct shadow *s);
/* The host or the program's start wrote (or made undefined) a range. */
void shadow_mark(struct shadow *s, uint64_t offset, uint64_t bytes, bool init);
/* A copy: what was undefined stays so. Either may be NULL. */
void shadow_copy(struct shadow *to, uint64_t to_offset, const struct shadow *from,
                 uint64_t from_offset, uint64_t bytes);
/* Keep account of parts of words from now on. */
void shadow_split(struct shadow *s);
/* Forget who accessed it, not what was written. */
void shadow_forget(struct shadow *s);

static inline uint64_t shadow_cells(const struct shadow *s)
{
    return (s->bytes >> CELL_SHIFT) + 1;
}

#endif
