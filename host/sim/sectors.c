/* sectors.c - how many pieces one warp access falls into.
 *
 * Sector: 32 bytes of global memory. Wavefront: one pass of the shared memory, which
 * gives each of 32 banks one 4-byte word; lanes that want the same word share it.
 * 8-byte accesses go in 2 phases of 16 lanes, 16-byte accesses in 4 phases of 8.
 * (Nsight Compute documentation, memory tables; CUDA C++ Programming Guide, shared
 * memory.) */
#include "counters.h"

/* Distinct values among the active lanes' values[], at most LANES of them, into
 * distinct[]. Neighbour lanes mostly hold neighbour values, so runs are merged first
 * and a small hash table is asked only if the values do not rise. */
uint32_t count_distinct(const uint64_t *values, uint32_t mask, uint64_t *distinct)
{
    uint32_t count = 0;
    bool rising = true;
    for (int l = 0; l < LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        if (count > 0 && values[l] == distinct[count - 1])
            continue;
        rising &= count == 0 || values[l] > distinct[count - 1];
        distinct[count++] = values[l];
    }
    if (rising)
        return count;
    enum { SLOTS = 64 };
    uint8_t slot[SLOTS] = {0}; /* index + 1 into distinct[] */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = distinct[i];
        uint32_t at = (uint32_t)((value * 0x9e3779b97f4a7c15ull) >> 58) % SLOTS;
        while (slot[at] != 0 && distinct[slot[at] - 1] != value)
            at = (at + 1) % SLOTS;
        if (slot[at] == 0) {
            distinct[kept] = value;
            slot[at] = (uint8_t)++kept;
        }
    }
    return kept;
}

uint32_t count_sectors(const uint64_t *address, uint32_t mask, uint32_t bytes)
{
    uint64_t sector[LANES], distinct[LANES];
    (void)bytes; /* aligned accesses of up to 32 bytes stay in one sector */
    for (int l = 0; l < LANES; l++)
        sector[l] = address[l] >> 5;
    return count_distinct(sector, mask, distinct);
}

/* Most distinct words that one bank must give, over lanes [first, end). */
static uint32_t phase_wavefronts(const uint64_t *offset, uint32_t mask, int first,
                                 int end, int words)
{
    enum { SLOTS = 64 };
    uint32_t word_at[SLOTS];
    uint8_t used[SLOTS] = {0}, bank[32] = {0}, most = 0;
    for (int l = first; l < end; l++) {
        if (!(mask >> l & 1))
            continue;
        for (int i = 0; i < words; i++) {
            uint32_t word = (uint32_t)(offset[l] >> 2) + (uint32_t)i;
            uint32_t at = word * 0x9e3779b1u >> 26;
            while (used[at] && word_at[at] != word)
                at = (at + 1) % SLOTS;
            if (used[at])
                continue;
            used[at] = 1;
            word_at[at] = word;
            uint8_t depth = ++bank[word % 32];
            most = depth > most ? depth : most;
        }
    }
    return most;
}

uint32_t count_wavefronts(const uint64_t *offset, uint32_t mask, uint32_t bytes,
                          uint32_t *ideal)
{
    int words = bytes <= 4 ? 1 : (int)bytes / 4;
    int lanes = LANES / (words > 4 ? 4 : words);
    uint32_t total = 0, phases = 0;
    for (int first = 0; first < LANES; first += lanes) {
        uint32_t phase = phase_wavefronts(offset, mask, first, first + lanes, words);
        total += phase;
        phases += phase != 0;
    }
    *ideal = phases;
    return total;
}
