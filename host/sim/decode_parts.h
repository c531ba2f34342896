/* decode_parts.h - what decode.c, decode_operand.c and liveness.c share.
 *
 * While a function is being decoded, rows are tagged numbers of values (registers,
 * constants, special registers, scratch). liveness.c then gives every value its
 * place in the frame, and decode.c writes the places into the ops. */
#ifndef PEAKBOUND_SIM_DECODE_PARTS_H
#define PEAKBOUND_SIM_DECODE_PARTS_H

#include "ops.h"

#define ROW_TAG 0x80000000u

enum value_kind { VALUE_REGISTER, VALUE_CONSTANT, VALUE_SREG, VALUE_SCRATCH };

struct value {
    enum value_kind kind;
    int bytes;     /* a lane: 4, 8, 16; 0 = predicate word */
    uint64_t bits; /* constant */
    int sreg;
    int first, last; /* ops between which it must keep its row */
    uint32_t place;  /* byte offset in the frame */
};

/* Value `value` is read (or written) by op `op`. */
struct touch {
    int op, value;
    bool write;
};

struct list_note {
    uint32_t *rows;
    int count;
};

struct decoder {
    const struct decode_env *env;
    const struct ptx_function *function;
    const struct ptx_insn *insn;
    struct code *code;
    struct error *err;
    bool failed;
    bool keep_registers;
    char why[200];
    int op; /* index of the op being decoded */
    struct value *values;
    int value_count, value_room;
    int *value_of_reg;
    int *constant_hash; /* CONSTANT_BUCKETS heads, then chains in constant_next */
    int *constant_next;
    struct touch *touches;
    int touch_count, touch_room;
    struct list_note *lists;
    int list_count, list_room;
    int sink[4];              /* value + 1 that takes what `_` throws away, by size */
    int sregs[SREG_COUNT][2]; /* value + 1 of a special register of 4 and 8 bytes */
    int carry;                /* value of the carry flag, -1 = not used */
    uint32_t param_area_bytes;
    struct decode_whole *whole;
};

/* All functions that an entry can reach, decoded together. */
struct decode_whole {
    const struct decode_env *env;
    struct code **codes;
    int count, room;
};

int decode_add_value(struct decoder *dec, enum value_kind kind, int bytes);
void decode_touch(struct decoder *dec, int value, bool write);
/* Bytes of a lane's value of this type: 0 for a predicate. */
int decode_type_bytes(enum ptx_type type);
uint32_t decode_register(struct decoder *dec, int reg, bool write);
/* Where all that is thrown away may go: written, never read. */
uint32_t decode_sink(struct decoder *dec, int bytes);
/* Make room for one more of `count` elements. */
void *decode_grow(void *array, int count, int *room, size_t size);
void code_free_one(struct code *code);
/* Set first/last of every register value, then place all values; fills
 * code->frame_bytes, preset, sregs, live_registers. False after decode_fail: too many. */
bool liveness_place(struct decoder *dec);
/* Per instruction: does a basic block begin there? [insn_count + 1], free it. */
uint8_t *decode_block_starts(const struct ptx_function *f);
/* Fill in op->merged. Rows must still be numbers of values. */
void merge_shared(struct decoder *dec);

#endif
