/* sectors.c - how many pieces one warp access falls into.
 *
 * Sector: 32 bytes of global memory. Wavefront: one pass of the shared memory, which
 * gives each of 32 banks one 4-byte word; lanes that want the same word share it.
 * 8-byte accesses go in 2 phases of 16 lanes, 16-byte accesses in 4 phases of 8.
 * (Nsight Compute documentation, memory tables; CUDA C++ Programming Guide, shared
 * memory.)
 *
 * Loads: two phases go as one if every lane has the address of lane ^ 1, or every lane
 * that of lane ^ 2: results are packed on their way to the registers (an answer of
 * NVIDIA's, forums.developer.nvidia.com/t/77228, for 7.0 to 7.5). Counters of an H100
 * agree (HamzaElshafie/h100_gemm, per warp and step of k): the vector kernel's 2 x 2
 * for A and 2 x 8 for B are 20, 8 of them conflicts; the warp tile's 2 x 2 and 4 x 4 are
 * 20, none of them conflicts, and there lanes that share are 4 apart and save nothing. */
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

/* Shared memory of the largest block, in 4-byte words: which were asked for. */
enum { MOST_WORDS = 1 << 16 };
static _Thread_local uint64_t asked[MOST_WORDS / 64];

/* Most distinct pieces that one group of banks must give, over lanes [first, end). A
 * piece is what one lane wants, 4, 8 or 16 bytes, from 1, 2 or 4 banks. */
static uint32_t phase_wavefronts(const uint64_t *offset, uint32_t mask, int first,
                                 int end, int shift)
{
    uint8_t bank[32] = {0};
    uint32_t most = 0, groups = 128u >> shift;
    for (int l = first; l < end; l++) {
        if (!(mask >> l & 1))
            continue;
        uint32_t piece = (uint32_t)(offset[l] >> shift) % MOST_WORDS;
        uint64_t *word = &asked[piece / 64], bit = (uint64_t)1 << (piece % 64);
        uint32_t depth = bank[piece % groups] += (*word & bit) == 0;
        *word |= bit;
        most = depth > most ? depth : most;
    }
    for (int l = first; l < end; l++)
        asked[(uint32_t)(offset[l] >> shift) % MOST_WORDS / 64] = 0;
    return most;
}

/* Do all active lanes have the address of the lane `apart` from them? One that is off
 * asks for nothing, and agrees. */
static bool pairs_agree(const uint64_t *offset, uint32_t mask, int apart)
{
    for (int l = 0; l < LANES; l++)
        if ((mask >> l & 1) && (mask >> (l ^ apart) & 1) &&
            offset[l] != offset[l ^ apart])
            return false;
    return true;
}

uint32_t count_wavefronts(const uint64_t *offset, uint32_t mask, uint32_t bytes,
                          bool packs, uint32_t *ideal)
{
    int shift = bytes <= 4 ? 2 : bytes <= 8 ? 3 : 4;
    int lanes = LANES >> (shift - 2);
    uint32_t total = 0, phases = 0;
    if (packs && lanes < LANES &&
        (pairs_agree(offset, mask, 1) || pairs_agree(offset, mask, 2)))
        lanes *= 2;
    for (int first = 0; first < LANES; first += lanes) {
        uint32_t phase = phase_wavefronts(offset, mask, first, first + lanes, shift);
        total += phase;
        phases += phase != 0;
    }
    *ideal = phases;
    return total;
}
