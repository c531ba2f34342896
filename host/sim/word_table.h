/* word_table.h - words -> numbers: a hash table that is filled once and then asked for
 * every opcode and suffix of a text. */
#ifndef PEAKBOUND_SIM_WORD_TABLE_H
#define PEAKBOUND_SIM_WORD_TABLE_H

#include <stdint.h>
#include <string.h>

enum { WORD_SLOTS = 2048, WORD_MOST = WORD_SLOTS / 2 };

struct word_table {
    const char *word[WORD_MOST];
    uint16_t slot[WORD_SLOTS]; /* number + 1, 0 = free */
    int count;
};

static inline uint16_t *word_slot(struct word_table *table, const char *word)
{
    uint32_t hash = 2166136261u;
    for (const char *at = word; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    uint32_t at = (hash ^ hash >> 15) % WORD_SLOTS;
    while (table->slot[at] != 0 && strcmp(table->word[table->slot[at] - 1], word) != 0)
        at = (at + 1) % WORD_SLOTS;
    return &table->slot[at];
}

/* The word's number, -1 if it was never added. */
static inline int word_find(struct word_table *table, const char *word)
{
    return *word_slot(table, word) - 1;
}

/* The word's number, a new one if need be; -1 if the table is full. */
static inline int word_add(struct word_table *table, const char *word)
{
    uint16_t *slot = word_slot(table, word);
    if (*slot == 0 && table->count < WORD_MOST) {
        table->word[table->count++] = word;
        *slot = (uint16_t)table->count;
    }
    return *slot - 1;
}

#endif
