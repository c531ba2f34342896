/* test_counters.c - sectors, wavefronts, caches and DRAM bytes against answers worked
 * out by hand and against counters of real cards. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../host/sim/counters.h"
#include "../host/sim/memory.h"

enum { EVEN_LANES = 0x55555555, LOW_HALF = 0xffff };

/* Lane l is at base + element[l] * bytes, elements from one of these rules. */
enum rule {
    STRIDE,     /* l * argument */
    REVERSED,   /* 31 - l */
    BROADCAST,  /* argument */
    WRAPPED,    /* l % argument */
    GROUPED,    /* l / argument */
    XORED,      /* l ^ argument */
    TILE,       /* 32 rows of `argument` elements: column of a matrix tile, transposed */
    BIT_REVERSE /* the 5 bits of l the other way round */
};

static uint64_t element(enum rule rule, uint64_t argument, uint64_t l)
{
    switch (rule) {
    case STRIDE:
        return l * argument;
    case REVERSED:
        return 31 - l;
    case BROADCAST:
        return argument;
    case WRAPPED:
        return l % argument;
    case GROUPED:
        return l / argument;
    case XORED:
        return l ^ argument;
    case TILE:
        return l % 8 * argument + l / 8;
    case BIT_REVERSE:
        return (l & 1) << 4 | (l & 2) << 2 | (l & 4) | (l & 8) >> 2 | (l & 16) >> 4;
    }
    return 0;
}

static void fill(uint64_t *address, uint64_t base, enum rule rule, uint64_t argument,
                 uint32_t bytes)
{
    for (uint64_t l = 0; l < LANES; l++)
        address[l] = base + element(rule, argument, l) * bytes;
}

Test(counters, sectors_are_the_distinct_32_byte_pieces)
{
    static const struct {
        const char *what;
        enum rule rule;
        uint64_t argument;
        uint32_t bytes, offset, mask, sectors;
    } cases[] = {
        {"floats in a row", STRIDE, 1, 4, 0, FULL_MASK, 4},
        {"floats in a row, one further", STRIDE, 1, 4, 4, FULL_MASK, 5},
        {"floats in a row, one sector further", STRIDE, 1, 4, 32, FULL_MASK, 4},
        {"floats backwards", REVERSED, 0, 4, 0, FULL_MASK, 4},
        {"floats backwards, one further", REVERSED, 0, 4, 4, FULL_MASK, 5},
        {"every 2nd float", STRIDE, 2, 4, 0, FULL_MASK, 8},
        {"every 3rd float", STRIDE, 3, 4, 0, FULL_MASK, 12},
        {"every 4th float", STRIDE, 4, 4, 0, FULL_MASK, 16},
        {"every 7th float", STRIDE, 7, 4, 0, FULL_MASK, 28},
        {"every 8th float", STRIDE, 8, 4, 0, FULL_MASK, 32},
        {"every 32nd float", STRIDE, 32, 4, 0, FULL_MASK, 32},
        {"every 33rd float", STRIDE, 33, 4, 0, FULL_MASK, 32},
        {"a column of 8192 floats", STRIDE, 8192, 4, 0, FULL_MASK, 32},
        {"one float for all", BROADCAST, 9, 4, 0, FULL_MASK, 1},
        {"half-warps on the same 16 floats", WRAPPED, 16, 4, 0, FULL_MASK, 2},
        {"pairs of lanes share a float", GROUPED, 2, 4, 0, FULL_MASK, 2},
        {"neighbours swapped", XORED, 1, 4, 0, FULL_MASK, 4},
        {"bits of the lane reversed", BIT_REVERSE, 0, 4, 0, FULL_MASK, 4},
        {"8 rows of 4 floats", TILE, 1024, 4, 0, FULL_MASK, 8},
        {"bytes in a row", STRIDE, 1, 1, 0, FULL_MASK, 1},
        {"halves in a row", STRIDE, 1, 2, 0, FULL_MASK, 2},
        {"halves in a row, one further", STRIDE, 1, 2, 2, FULL_MASK, 3},
        {"float2", STRIDE, 1, 8, 0, FULL_MASK, 8},
        {"float2, one further", STRIDE, 1, 8, 8, FULL_MASK, 9},
        {"float4", STRIDE, 1, 16, 0, FULL_MASK, 16},
        {"float4, one further", STRIDE, 1, 16, 16, FULL_MASK, 17},
        {"float4 backwards", REVERSED, 0, 16, 0, FULL_MASK, 16},
        {"every 2nd float4", STRIDE, 2, 16, 0, FULL_MASK, 32},
        {"low half-warp of a row of floats", STRIDE, 1, 4, 0, LOW_HALF, 2},
        {"even lanes of a row of floats", STRIDE, 1, 4, 0, EVEN_LANES, 4},
        {"one lane", STRIDE, 32, 4, 0, 1u << 17, 1},
        {"first and last lane", STRIDE, 1, 4, 0, 0x80000001u, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t address[LANES];
        fill(address, SIM_GLOBAL_BASE + cases[i].offset, cases[i].rule, cases[i].argument,
             cases[i].bytes);
        uint32_t sectors = count_sectors(address, cases[i].mask, cases[i].bytes);
        cr_expect_eq(sectors, cases[i].sectors, "%s: %u sectors, must be %u",
                     cases[i].what, sectors, cases[i].sectors);
    }
}

/* The strides 1 to 32 of floats and 1 of doubles are measured on an H200 and an A100
 * (RRZE gpu-strides): data wavefronts. */
Test(counters, wavefronts_are_the_fullest_bank_of_each_phase)
{
    static const struct {
        const char *what;
        enum rule rule;
        uint64_t argument;
        uint32_t bytes, mask, wavefronts, ideal;
    } cases[] = {
        {"stride 1", STRIDE, 1, 4, FULL_MASK, 1, 1},
        {"stride 2", STRIDE, 2, 4, FULL_MASK, 2, 1},
        {"stride 3", STRIDE, 3, 4, FULL_MASK, 1, 1},
        {"stride 4", STRIDE, 4, 4, FULL_MASK, 4, 1},
        {"stride 8", STRIDE, 8, 4, FULL_MASK, 8, 1},
        {"stride 16", STRIDE, 16, 4, FULL_MASK, 16, 1},
        {"stride 32", STRIDE, 32, 4, FULL_MASK, 32, 1},
        {"stride 33", STRIDE, 33, 4, FULL_MASK, 1, 1},
        {"stride 36", STRIDE, 36, 4, FULL_MASK, 4, 1},
        {"backwards", REVERSED, 0, 4, FULL_MASK, 1, 1},
        {"one word for all", BROADCAST, 5, 4, FULL_MASK, 1, 1},
        {"two half-warps on 16 words", WRAPPED, 16, 4, FULL_MASK, 1, 1},
        {"four lanes a word", GROUPED, 4, 4, FULL_MASK, 1, 1},
        {"lanes exchanged", XORED, 21, 4, FULL_MASK, 1, 1},
        {"8 rows of 32 words", TILE, 32, 4, FULL_MASK, 8, 1},
        {"8 rows of 36 words", TILE, 36, 4, FULL_MASK, 1, 1},
        {"stride 32, low half-warp", STRIDE, 32, 4, LOW_HALF, 16, 1},
        {"stride 2, even lanes", STRIDE, 2, 4, EVEN_LANES, 2, 1},
        {"one lane", STRIDE, 32, 4, 8, 1, 1},
        {"bytes in a row", STRIDE, 1, 1, FULL_MASK, 1, 1},
        {"halves in a row", STRIDE, 1, 2, FULL_MASK, 1, 1},
        {"halves, stride 64", STRIDE, 64, 2, FULL_MASK, 32, 1},
        {"float2 in a row", STRIDE, 1, 8, FULL_MASK, 2, 2},
        {"float2, stride 2", STRIDE, 2, 8, FULL_MASK, 4, 2},
        {"float2, stride 17", STRIDE, 17, 8, FULL_MASK, 2, 2},
        {"float2, low half-warp", STRIDE, 1, 8, LOW_HALF, 1, 1},
        {"float2 for all", BROADCAST, 3, 8, FULL_MASK, 1, 1},
        {"float2, neighbours share", GROUPED, 2, 8, FULL_MASK, 1, 1},
        {"float2, 4 lanes apart share", WRAPPED, 4, 8, FULL_MASK, 2, 2},
        {"float4 in a row", STRIDE, 1, 16, FULL_MASK, 4, 4},
        {"float4, stride 2", STRIDE, 2, 16, FULL_MASK, 8, 4},
        {"float4, stride 8", STRIDE, 8, 16, FULL_MASK, 32, 4},
        {"float4, stride 9", STRIDE, 9, 16, FULL_MASK, 4, 4},
        {"float4, first quarter", STRIDE, 8, 16, 0xff, 8, 1},
        {"float4, every 4th lane", WRAPPED, 8, 16, 0x11111111, 2, 2},
        {"float4 for all", BROADCAST, 3, 16, FULL_MASK, 2, 2},
        {"float4, neighbours share", GROUPED, 2, 16, FULL_MASK, 2, 2},
        {"float4, next but one shares", WRAPPED, 2, 16, FULL_MASK, 2, 2},
        {"float4, 4 lanes apart share", WRAPPED, 4, 16, FULL_MASK, 4, 4},
        {"float4, half-warps share", WRAPPED, 16, 16, FULL_MASK, 4, 4},
        {"float4, half-warps on a place", GROUPED, 16, 16, FULL_MASK, 2, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t offset[LANES];
        uint32_t ideal;
        fill(offset, 0, cases[i].rule, cases[i].argument, cases[i].bytes);
        uint32_t wavefronts =
            count_wavefronts(offset, cases[i].mask, cases[i].bytes, true, &ideal);
        cr_expect_eq(wavefronts, cases[i].wavefronts, "%s: %u wavefronts, must be %u",
                     cases[i].what, wavefronts, cases[i].wavefronts);
        cr_expect_eq(ideal, cases[i].ideal, "%s: ideal %u, must be %u", cases[i].what,
                     ideal, cases[i].ideal);
    }
}

/* The quick counts against the plain definition, pairs of lanes compared, on random
 * addresses and masks. */
Test(counters, random_accesses_agree_with_the_definition)
{
    uint32_t state = 12345;
    for (int round = 0; round < 20000; round++) {
        uint64_t at[LANES];
        uint32_t random[LANES + 3];
        for (int i = 0; i < LANES + 3; i++)
            random[i] = state = state * 1664525u + 1013904223u;
        uint32_t bytes = 1u << (random[LANES] >> 13) % 5;
        uint32_t mask = random[LANES + 1] | (random[LANES + 2] >> 20 & 1 ? FULL_MASK : 0);
        uint32_t range = 1u << (4 + (random[LANES + 2] >> 8) % 12);
        for (int l = 0; l < LANES; l++)
            at[l] = (random[l] >> 8) % range / bytes * bytes;
        uint32_t sectors = 0, wavefronts = 0;
        uint32_t piece = bytes < 4 ? 4 : bytes, lanes = bytes <= 4 ? 32 : 128 / bytes;
        for (uint32_t first = 0; first < LANES; first += lanes) {
            uint32_t bank[32] = {0}, most = 0;
            for (uint32_t l = first; l < first + lanes; l++) {
                bool new_sector = mask >> l & 1, new_piece = new_sector;
                for (uint32_t k = 0; k < l; k++) {
                    new_sector &= !(mask >> k & 1) || at[k] / 32 != at[l] / 32;
                    new_piece &=
                        k < first || !(mask >> k & 1) || at[k] / piece != at[l] / piece;
                }
                sectors += new_sector;
                bank[at[l] / piece % (128 / piece)] += new_piece;
            }
            for (int i = 0; i < 32; i++)
                most = bank[i] > most ? bank[i] : most;
            wavefronts += most;
        }
        uint32_t ideal;
        uint32_t got = count_sectors(at, mask, bytes);
        cr_assert_eq(got, sectors,
                     "round %d, %u bytes, mask %08x: %u sectors, must be %u", round,
                     bytes, mask, got, sectors);
        got = count_wavefronts(at, mask, bytes, false, &ideal);
        cr_assert_eq(got, wavefronts,
                     "round %d, %u bytes, mask %08x: %u wavefronts, must be %u", round,
                     bytes, mask, got, wavefronts);
        cr_assert_leq(ideal, got, "round %d", round);
    }
}

/* --- a launch of one op without the executor ------------------------------------------ */

struct bench {
    struct sim_spec spec;
    struct code code;
    struct op op;
    struct launch launch;
    struct worker worker;
    struct block block;
    struct warp warp;
    struct op_counts op_counts;
    uint64_t buffer;
};

static void start(struct bench *b, uint64_t buffer_bytes, uint64_t l2_bytes)
{
    memset(b, 0, sizeof *b);
    b->spec = (struct sim_spec){.max_threads_sm = 2048,
                                .max_blocks_sm = 32,
                                .smem_bytes_sm = 164 * 1024,
                                .l1_bytes_sm = 192 * 1024,
                                .l2_bytes = l2_bytes};
    b->code.ops = &b->op;
    b->code.op_count = b->code.total_ops = 1;
    b->launch = (struct launch){.code = &b->code,
                                .spec = &b->spec,
                                .grid = {1, 1, 1},
                                .dim = {1024, 1, 1},
                                .memory = memory_create((uint64_t)1 << 32),
                                .listeners = {&counters_listener},
                                .listener_count = 1,
                                .op_counts = &b->op_counts};
    b->buffer = memory_allocate(b->launch.memory, buffer_bytes, "buffer");
    cr_assert_neq(b->buffer, 0);
    b->worker.launch = &b->launch;
    b->block.launch = &b->launch;
    b->block.worker = &b->worker;
    b->warp.block = &b->block;
    b->warp.worker = &b->worker;
    b->warp.code = &b->code;
    cr_assert(counters_begin(&b->launch, &b->worker, 1));
    counters_listener.block_begin(&b->block);
}

static void touch(struct bench *b, enum access_kind kind, enum ptx_space space,
                  const uint64_t *address, uint32_t mask, uint32_t bytes)
{
    struct access access = {.op = &b->op,
                            .mask = mask,
                            .bytes = (uint16_t)bytes,
                            .space = (uint8_t)space,
                            .kind = (uint8_t)kind,
                            .address = address};
    counters_listener.access(&b->warp, &access);
}

static struct sim_counters finish(struct bench *b, unsigned grid)
{
    struct sim_counters total = {0};
    counters_listener.block_end(&b->block);
    b->launch.grid[0] = grid;
    counters_end(&b->launch, &b->worker, 1, 1, &total);
    memory_destroy(b->launch.memory);
    return total;
}

/* A warp of naive SGEMM whose lanes hold 32 rows of A walks along k: each sector is
 * fetched once and serves 8 steps. */
Test(counters, a_walk_along_rows_fetches_each_sector_once)
{
    struct bench b;
    uint64_t address[LANES];
    start(&b, 32 * 1024, 1 << 20);
    for (uint64_t k = 0; k < 256; k++) {
        fill(address, b.buffer + 4 * k, STRIDE, 256, 4);
        touch(&b, ACCESS_LOAD, PTX_GLOBAL, address, FULL_MASK, 4);
    }
    struct sim_counters c = finish(&b, 1);
    cr_expect_eq(c.global_ld_requests, 256);
    cr_expect_eq(c.global_ld_sectors, 256 * 32);
    cr_expect_eq(c.l1_sector_hits, 7 * 32 * 32, "%llu",
                 (unsigned long long)c.l1_sector_hits);
    cr_expect_eq(c.l2_sectors_read, 32 * 32);
    cr_expect_eq(c.dram_bytes_read, 32 * 1024);
    cr_expect_eq(c.dram_bytes_write, 0);
    cr_expect_eq(b.op_counts.requests, 256);
    cr_expect_eq(b.op_counts.cost, 256 * 32);
}

/* Lanes that are off must not matter, whatever their scratch addresses hold. */
Test(counters, addresses_of_inactive_lanes_do_not_matter)
{
    struct sim_counters first = {0};
    for (uint64_t garbage = 0; garbage < 4; garbage++) {
        struct bench b;
        uint64_t address[LANES];
        start(&b, 1 << 20, 1 << 20);
        for (uint64_t k = 0; k < 512; k++) {
            fill(address, b.buffer + 8192 * (k % 3), STRIDE, 64, 4);
            for (int l = 8; l < LANES; l++)
                address[l] = garbage * k * 4096 * (uint64_t)l;
            touch(&b, ACCESS_LOAD, PTX_GLOBAL, address, 0xff, 4);
            /* evicts: another address of the same lines */
            fill(address, b.buffer + 65536 + 128 * k, STRIDE, 32, 4);
            touch(&b, ACCESS_LOAD, PTX_GLOBAL, address, FULL_MASK, 4);
            fill(address, b.buffer + 8192 * (k % 3), STRIDE, 64, 4);
            for (int l = 8; l < LANES; l++)
                address[l] = garbage * 32 * (uint64_t)l;
            touch(&b, ACCESS_LOAD, PTX_GLOBAL, address, 0xff, 4);
        }
        struct sim_counters c = finish(&b, 1);
        if (garbage == 0)
            first = c;
        cr_expect_arr_eq(&c, &first, sizeof c, "garbage %d: %llu hits, %llu with none",
                         (int)garbage, (unsigned long long)c.l1_sector_hits,
                         (unsigned long long)first.l1_sector_hits);
    }
}

/* The same addresses under another mask are another access. */
Test(counters, a_mask_belongs_to_an_access)
{
    struct bench b;
    uint64_t address[LANES];
    start(&b, 1 << 16, 1 << 20);
    fill(address, b.buffer, STRIDE, 8, 4);
    touch(&b, ACCESS_LOAD, PTX_GLOBAL, address, 0xff, 4);
    touch(&b, ACCESS_LOAD, PTX_GLOBAL, address, FULL_MASK, 4);
    touch(&b, ACCESS_LOAD, PTX_GLOBAL, address, 0xf, 4);
    struct sim_counters c = finish(&b, 1);
    cr_expect_eq(c.global_ld_sectors, 8 + 32 + 4);
    cr_expect_eq(c.l1_sector_hits, 8 + 4);
    cr_expect_eq(c.l2_sectors_read, 32);
}

Test(counters, kinds_and_spaces_go_to_their_own_fields)
{
    struct bench b;
    uint64_t address[LANES], offset[LANES], rows[LANES];
    start(&b, 4096, 1 << 20);
    fill(address, b.buffer, STRIDE, 1, 4);
    fill(offset, 0, STRIDE, 2, 4);
    fill(rows, 0, STRIDE, 2, 16);
    touch(&b, ACCESS_STORE, PTX_GLOBAL, address, FULL_MASK, 4);
    touch(&b, ACCESS_ATOMIC, PTX_GLOBAL, address, 0xff, 4);
    b.op.flags = ATOMIC_RETURNS;
    touch(&b, ACCESS_ATOMIC, PTX_GLOBAL, address, LOW_HALF, 4);
    touch(&b, ACCESS_LOAD, PTX_SHARED, offset, FULL_MASK, 4);
    touch(&b, ACCESS_STORE, PTX_SHARED, offset, FULL_MASK, 4);
    touch(&b, ACCESS_ATOMIC, PTX_SHARED, offset, FULL_MASK, 4);
    touch(&b, ACCESS_MATRIX_LOAD, PTX_SHARED, rows, FULL_MASK, 16);
    touch(&b, ACCESS_ASYNC, PTX_GLOBAL, address, FULL_MASK, 4);
    touch(&b, ACCESS_ASYNC, PTX_SHARED, offset, FULL_MASK, 4);
    touch(&b, ACCESS_LOAD, PTX_LOCAL, offset, FULL_MASK, 4);
    touch(&b, ACCESS_STORE, PTX_LOCAL, offset, FULL_MASK, 8);
    struct sim_counters c = finish(&b, 1);
    cr_expect_eq(c.global_st_requests, 1);
    cr_expect_eq(c.global_st_sectors, 4);
    cr_expect_eq(c.global_atom_requests, 1);
    cr_expect_eq(c.global_atom_sectors, 2);
    cr_expect_eq(c.global_ld_requests, 0);
    cr_expect_eq(c.global_red_requests, 1);
    cr_expect_eq(c.global_red_sectors, 1);
    cr_expect_eq(c.shared_ld_requests, 2, "ld and ldmatrix");
    cr_expect_eq(c.shared_ld_wavefronts, 2 + 8);
    cr_expect_eq(c.shared_ld_wavefronts_ideal, 1 + 4);
    cr_expect_eq(c.ldmatrix_requests, 1);
    cr_expect_eq(c.ldmatrix_wavefronts, 8);
    cr_expect_eq(c.ldmatrix_wavefronts_ideal, 4);
    cr_expect_eq(c.shared_st_requests, 1);
    cr_expect_eq(c.shared_st_wavefronts, 2);
    cr_expect_eq(c.shared_atom_requests, 1);
    cr_expect_eq(c.shared_atom_wavefronts, 2);
    cr_expect_eq(c.shared_atom_wavefronts_ideal, 1);
    cr_expect_eq(c.async_requests, 1);
    cr_expect_eq(c.async_sectors, 4);
    cr_expect_eq(c.async_wavefronts, 2);
    cr_expect_eq(c.async_wavefronts_ideal, 1);
    cr_expect_eq(c.local_ld_requests, 1);
    cr_expect_eq(c.local_ld_sectors, 4);
    cr_expect_eq(c.local_st_requests, 1);
    cr_expect_eq(c.local_st_sectors, 8);
    cr_expect_eq(c.l2_sectors_read, 4);
    cr_expect_eq(c.l2_sectors_write, 4 + 1 + 2);
    cr_expect_eq(c.dram_bytes_write, 4 * 32);
    cr_expect_eq(c.dram_bytes_read, 4 * 32, "an atomic reads what it changes");
}

/* What the executor already knows of the addresses changes no count. */
Test(counters, patterns_count_as_their_addresses_do)
{
    static const uint32_t masks[] = {FULL_MASK, LOW_HALF, EVEN_LANES,
                                     0xff,      1u << 17, 0x80000001u};
    static const enum access_kind kinds[] = {ACCESS_LOAD, ACCESS_STORE};
    for (uint32_t i = 0; i < 6 * 2 * 3; i++) {
        struct sim_counters counted[2];
        uint32_t mask = masks[i % 6], bytes = 4u << i / 12;
        enum access_kind kind = kinds[i / 6 % 2];
        for (int known = 0; known < 2; known++) {
            struct bench b;
            uint64_t offset[LANES];
            start(&b, 4096, 1 << 20);
            fill(offset, 0, BROADCAST, 3, bytes);
            struct access access = {.op = &b.op,
                                    .mask = mask,
                                    .bytes = (uint16_t)bytes,
                                    .space = PTX_SHARED,
                                    .kind = (uint8_t)kind,
                                    .pattern = known ? PATTERN_UNIFORM : PATTERN_ANY,
                                    .address = offset};
            counters_listener.access(&b.warp, &access);
            counted[known] = finish(&b, 1);
        }
        cr_expect_arr_eq(&counted[0], &counted[1], sizeof counted[0],
                         "kind %d, %u bytes, mask %08x: wavefronts %llu, known %llu",
                         (int)kind, bytes, mask,
                         (unsigned long long)(counted[0].shared_ld_wavefronts +
                                              counted[0].shared_st_wavefronts),
                         (unsigned long long)(counted[1].shared_ld_wavefronts +
                                              counted[1].shared_st_wavefronts));
    }
}

/* The shared loads of a warp and step of k of two kernels of HamzaElshafie/h100_gemm:
 * the profiler saw 20 wavefronts in both, 8 and 0 of them conflicts. */
Test(counters, wide_loads_agree_with_an_h100)
{
    static const struct {
        const char *what;
        int loads[2], row_lanes[2], wrap[2], floats[2];
        uint32_t wavefronts, conflicts;
    } cases[] = {
        /* lane -> float offset: lane / row_lanes % wrap * floats */
        {"vector loads", {2, 2}, {16, 1}, {2, 16}, {8, 8}, 20, 8},
        {"warp tile", {2, 4}, {4, 1}, {8, 4}, {8, 4}, 20, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t wavefronts = 0, conflicts = 0;
        for (int side = 0; side < 2; side++) {
            uint64_t offset[LANES];
            uint32_t ideal;
            for (int l = 0; l < LANES; l++)
                offset[l] = (uint64_t)(l / cases[i].row_lanes[side] %
                                       cases[i].wrap[side] * cases[i].floats[side]) *
                            4;
            uint32_t each = count_wavefronts(offset, FULL_MASK, 16, true, &ideal);
            wavefronts += each * (uint32_t)cases[i].loads[side];
            conflicts += (each - ideal) * (uint32_t)cases[i].loads[side];
        }
        cr_expect_eq(wavefronts, cases[i].wavefronts, "%s: %u", cases[i].what,
                     wavefronts);
        cr_expect_eq(conflicts, cases[i].conflicts, "%s: %u", cases[i].what, conflicts);
    }
}

/* Twice over a buffer of 1 MiB: from an L2 of 2 MiB it comes once, from one of half
 * its size every second repeated sector is fetched again. */
Test(counters, dram_gives_again_what_l2_cannot_hold)
{
    static const struct {
        uint64_t l2_bytes, dram_bytes;
    } cases[] = {
        {2 << 20, 1 << 20}, {1 << 20, 1 << 20}, {1 << 19, (1 << 20) + (1 << 19)}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench b;
        uint64_t address[LANES];
        start(&b, 1 << 20, cases[i].l2_bytes);
        for (uint64_t n = 0; n < 2 << 20; n += 512) {
            fill(address, b.buffer + n % (1 << 20), STRIDE, 1, 16);
            touch(&b, ACCESS_LOAD, PTX_GLOBAL, address, FULL_MASK, 16);
        }
        struct sim_counters c = finish(&b, 1);
        cr_expect_eq(c.l2_sectors_read, 2 * 32768);
        cr_expect_eq(c.dram_bytes_read, cases[i].dram_bytes, "L2 of %llu bytes: %llu",
                     (unsigned long long)cases[i].l2_bytes,
                     (unsigned long long)c.dram_bytes_read);
    }
}
