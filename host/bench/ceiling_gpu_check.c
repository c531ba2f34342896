/* ceiling_gpu_check.c - inputs of the kernels of 00_machine.cu, and whether their results
 * are right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ceiling_parts.h"

enum { MIB = 1 << 20, COPY_MIB = 512, PIECE_WORDS = COPY_BLOCK_BYTES / 4 };
enum { WARPS = TENSOR_THREADS / 32, TILE_CELLS = TENSOR_TILE * TENSOR_TILE };
enum { STARTS = FMA_CHAINS * FMA_THREADS };

/* Whole steps of a linear congruential generator (Knuth's MMIX constants). */
static uint32_t random_word(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static uint64_t first_state(const struct ceiling_run *r, unsigned which)
{
    return r->options->seed * 1000003 + which;
}

static bool zeros(const struct ceiling_run *r)
{
    return r->options->mistake == MISTAKE_ZEROS;
}

/* --- inputs ------------------------------------------------------------------------- */

/* From -1 to 1. */
static void make_starts(const struct ceiling_run *r, float *start)
{
    uint64_t state = first_state(r, 0);
    for (int i = 0; i < STARTS; i++)
        start[i] = zeros(r) ? 0 : (float)random_word(&state) / 0x1p30f - 1;
}

/* Whole numbers from -2 to 2, and FP16 words of them. */
static void make_tile(const struct ceiling_run *r, unsigned which, int *whole,
                      uint16_t *words)
{
    static const uint16_t fp16[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
    uint64_t state = first_state(r, which);
    for (int i = 0; i < TILE_CELLS; i++) {
        int value = zeros(r) ? 0 : (int)(random_word(&state) % 5) - 2;
        whole[i] = value;
        words[i] = fp16[value + 2];
    }
}

static void make_piece(const struct ceiling_run *r, unsigned block, uint32_t *words)
{
    uint64_t state = first_state(r, block);
    for (int i = 0; i < PIECE_WORDS; i++)
        words[i] = zeros(r) ? 0 : random_word(&state);
}

static bool allocate(struct ceiling_run *r, CUdeviceptr *pointer, size_t bytes,
                     const void *content)
{
    const struct cuda_api *api = r->device->api;
    CUresult result = api->memory_alloc(pointer, bytes);
    if (result == CUDA_SUCCESS && content)
        result = api->copy_to_device(*pointer, content, bytes);
    return result == CUDA_SUCCESS ||
           ceiling_fail(r->c, "%zu MiB of device memory: %s", bytes / MIB,
                        load_failure(r->device, result));
}

static bool fill_piece(struct ceiling_run *r, unsigned block)
{
    uint32_t words[PIECE_WORDS];
    make_piece(r, block, words);
    CUresult result = r->device->api->copy_to_device(
        r->in + (size_t)block * COPY_BLOCK_BYTES, words, sizeof words);
    return result == CUDA_SUCCESS || ceiling_failed(r, "filling the input", result);
}

/* Buffers that no L2 cache holds. */
static bool copy_inputs(struct ceiling_run *r)
{
    int l2 = 0;
    size_t bytes = (size_t)COPY_MIB * MIB;
    r->device->api->device_attribute(&l2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
                                     r->device->ordinal);
    if (l2 > 0 && (size_t)l2 * 4 > bytes)
        bytes = (size_t)l2 * 4;
    if (r->device->memory_bytes / 8 < bytes)
        bytes = r->device->memory_bytes / 8;
    r->blocks = (unsigned)(bytes / COPY_BLOCK_BYTES);
    r->in_bytes = r->out_bytes = (size_t)r->blocks * COPY_BLOCK_BYTES;
    if (!allocate(r, &r->in, r->in_bytes, NULL) ||
        !allocate(r, &r->out, r->out_bytes, NULL))
        return false;
    for (unsigned i = 0; i < r->blocks && r->device->backend == BACKEND_GPU; i++)
        if (!fill_piece(r, i))
            return false;
    return true;
}

bool ceiling_inputs(struct ceiling_run *r)
{
    if (r->c->kind == CEILING_COPY)
        return copy_inputs(r);
    if (r->c->kind == CEILING_FMA) {
        float start[STARTS];
        make_starts(r, start);
        r->in_bytes = sizeof start;
        r->out_bytes = (size_t)r->blocks * FMA_THREADS * sizeof(float);
        return allocate(r, &r->in, r->in_bytes, start) &&
               allocate(r, &r->out, r->out_bytes, NULL);
    }
    int whole[TILE_CELLS];
    uint16_t a[TILE_CELLS], b[TILE_CELLS];
    make_tile(r, 1, whole, a);
    make_tile(r, 2, whole, b);
    r->in_bytes = sizeof a;
    r->out_bytes = (size_t)r->blocks * WARPS * TILE_CELLS * sizeof(float);
    return allocate(r, &r->in, sizeof a, a) && allocate(r, &r->in_b, sizeof b, b) &&
           allocate(r, &r->out, r->out_bytes, NULL);
}

/* The simulator runs the same blocks again as long as seed and grid are the same, and
 * memory that is not touched costs nothing there. */
bool ceiling_fill_sampled(struct ceiling_run *r)
{
    if (r->c->kind != CEILING_COPY || r->device->backend != BACKEND_SIM)
        return true;
    for (unsigned i = 0; i < r->blocks; i++)
        if (ceiling_block_ran(r, i) && !fill_piece(r, i))
            return false;
    return true;
}

/* --- results ------------------------------------------------------------------------ */

/* Compare what every block wrote, `bytes` of it, with `expected`; of a copy with the
 * piece that the block had to move. */
static bool check_blocks(struct ceiling_run *r, void *expected, size_t bytes)
{
    char *got = xmalloc(bytes);
    int checked = 0;
    bool good = true;
    for (unsigned i = 0; i < r->blocks && good; i++) {
        if (!ceiling_block_ran(r, i))
            continue;
        if (r->c->kind == CEILING_COPY)
            make_piece(r, i, expected);
        CUresult result =
            r->device->api->copy_to_host(got, r->out + (size_t)i * bytes, bytes);
        if (result != CUDA_SUCCESS)
            good = ceiling_failed(r, "reading the result", result);
        else if (memcmp(got, expected, bytes) != 0)
            good = ceiling_fail(r->c, "the result of block %u is wrong", i);
        checked++;
    }
    free(got);
    return good && (checked > 0 || ceiling_fail(r->c, "no block ran"));
}

static bool check_fma(struct ceiling_run *r)
{
    float start[STARTS], expected[FMA_THREADS];
    make_starts(r, start);
    for (int t = 0; t < FMA_THREADS; t++) {
        float sum = 0;
        for (int i = 0; i < FMA_CHAINS; i++)
            sum += ceiling_chain(start[i * FMA_THREADS + t], (size_t)r->steps, true);
        expected[t] = sum;
    }
    return check_blocks(r, expected, sizeof expected);
}

static bool check_tensor(struct ceiling_run *r)
{
    int a[TILE_CELLS], b[TILE_CELLS];
    uint16_t words[TILE_CELLS];
    float expected[WARPS][TILE_CELLS];
    make_tile(r, 1, a, words);
    make_tile(r, 2, b, words);
    for (int cell = 0; cell < TILE_CELLS; cell++) {
        int row = cell / TENSOR_TILE, col = cell % TENSOR_TILE, product = 0;
        for (int k = 0; k < TENSOR_TILE; k++)
            product += a[row * TENSOR_TILE + k] * b[k * TENSOR_TILE + col];
        int starts = TENSOR_CHAINS * (TENSOR_CHAINS - 1) / 2;
        for (int w = 0; w < WARPS; w++)
            expected[w][cell] = (float)(TENSOR_CHAINS * r->steps * product + starts);
    }
    return check_blocks(r, expected, sizeof expected);
}

bool ceiling_check(struct ceiling_run *r)
{
    uint32_t piece[PIECE_WORDS];
    if (r->c->kind == CEILING_FMA)
        return check_fma(r);
    if (r->c->kind == CEILING_TENSOR)
        return check_tensor(r);
    return check_blocks(r, piece, sizeof piece);
}
