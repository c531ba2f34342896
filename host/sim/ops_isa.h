/* ops_isa.h - included by the compiler's command line before every ops_*.c:
 * gives the family that the file exports the suffix of the instruction set it is
 * built for (OPS_ISA is v1, v3, ...). ops_families.c chooses at run time. */
#ifndef PEAKBOUND_SIM_OPS_ISA_H
#define PEAKBOUND_SIM_OPS_ISA_H

#define OPS_JOIN2(a, b) a##_##b
#define OPS_JOIN(a, b) OPS_JOIN2(a, b)

#define ops_integer OPS_JOIN(ops_integer, OPS_ISA)
#define ops_float OPS_JOIN(ops_float, OPS_ISA)
#define ops_convert OPS_JOIN(ops_convert, OPS_ISA)
#define ops_half OPS_JOIN(ops_half, OPS_ISA)
#define ops_logic OPS_JOIN(ops_logic, OPS_ISA)
#define ops_move OPS_JOIN(ops_move, OPS_ISA)
#define ops_compare OPS_JOIN(ops_compare, OPS_ISA)
#define ops_memory OPS_JOIN(ops_memory, OPS_ISA)
#define ops_atomic OPS_JOIN(ops_atomic, OPS_ISA)
#define ops_control OPS_JOIN(ops_control, OPS_ISA)
#define ops_warp OPS_JOIN(ops_warp, OPS_ISA)
#define ops_tensor OPS_JOIN(ops_tensor, OPS_ISA)
#define ops_wmma OPS_JOIN(ops_wmma, OPS_ISA)
#define ops_async OPS_JOIN(ops_async, OPS_ISA)
#define ops_video OPS_JOIN(ops_video, OPS_ISA)
#define ops_refused OPS_JOIN(ops_refused, OPS_ISA)

#endif
