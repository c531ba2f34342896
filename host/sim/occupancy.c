/* occupancy.c - how many blocks an SM holds (CUDA C++ Programming Guide, technical
 * specifications; the rules of the toolkit's occupancy calculator).
 *
 * Registers are given to warps in units of 256; warps live in 4 sub-partitions, each
 * with a quarter of the registers. Shared memory is given in units of 128 bytes (256
 * before 8.0), and from compute capability 8.0 on 1 KiB a block is the system's. */
#include "counters.h"

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

void occupancy_compute(const struct sim_spec *spec, int registers, int threads,
                       uint64_t static_smem, uint64_t dynamic_smem,
                       struct sim_occupancy *o)
{
    int warps = (threads + LANES - 1) / LANES;
    int max_warps = spec->max_threads_sm / LANES;
    int by_blocks = spec->max_blocks_sm;
    int by_warps = warps > 0 ? max_warps / warps : 0;
    int by_registers = by_blocks;
    if (registers > 0) {
        int per_warp = (int)round_up((uint64_t)registers * LANES, 256);
        int warps_quarter = spec->regs_sm / 4 / per_warp;
        by_registers = warps > 0 ? warps_quarter * 4 / warps : 0;
    }
    bool reserved = spec->cc_major >= 8;
    uint64_t shared = round_up(static_smem + dynamic_smem + (reserved ? 1024 : 0),
                               reserved ? 128 : 256);
    int by_shared =
        shared > 0 ? (int)((uint64_t)spec->smem_bytes_sm / shared) : by_blocks;
    int blocks = min_int(min_int(by_blocks, by_warps), min_int(by_registers, by_shared));
    o->blocks_per_sm = blocks;
    o->warps_per_sm = blocks * warps;
    o->percent = max_warps > 0 ? 100.0 * o->warps_per_sm / max_warps : 0;
    o->registers_per_thread = registers;
    o->smem_static_bytes = static_smem;
    o->smem_dynamic_bytes = dynamic_smem;
    o->limiter = blocks == by_warps       ? "warps"
                 : blocks == by_registers ? "registers"
                 : blocks == by_shared    ? "shared memory"
                                          : "blocks";
}
