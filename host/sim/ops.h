/* ops.h - the instruction table and what decoding needs.
 *
 * One row is one instruction of the PTX manual: its base name, the syntax as
 * the manual prints it, the modifiers it takes, the pipe that would run it and
 * the function that turns a statement into a struct op. The decoder, the load
 * check ("not supported") and `--list ptx` all come from these rows; there is
 * no second list. A family of rows lives in one ops_*.c file.
 *
 * Adding a lane-wise instruction: one executor (usually one LANEWISE line) and
 * one row. Modifiers are parsed once, for everybody, into struct mods; one
 * that the row does not list in `allowed` makes the load fail, so that nothing
 * is ignored in silence.
 */
#ifndef PEAKBOUND_SIM_OPS_H
#define PEAKBOUND_SIM_OPS_H

#include "exec.h"

/* Modifier classes, for op_row.allowed. */
enum {
    MOD_TYPE = 1 << 0,  /* one type */
    MOD_TYPE2 = 1 << 1, /* a second: cvt, set, slct, tex, mma (up to four) */
    MOD_ROUND = 1 << 2, /* .rn .rz .rm .rp .rna .rni .rzi .rmi .rpi */
    MOD_FTZ = 1 << 3,
    MOD_SAT = 1 << 4,    /* .sat .satfinite .relu */
    MOD_APPROX = 1 << 5, /* .approx .full */
    MOD_HALF = 1 << 6,   /* .lo .hi .wide */
    MOD_CC = 1 << 7,     /* .cc */
    MOD_CMP = 1 << 8,    /* .eq .. .nan */
    MOD_BOOL = 1 << 9,   /* setp's .and .or .xor */
    MOD_NAN = 1 << 10,   /* .NaN .xorsign .abs of min/max */
    MOD_SPACE = 1 << 11, /* .global .shared ... (and ::cta) */
    MOD_VEC = 1 << 12,   /* .v2 .v4 .v8 */
    MOD_ORDER =
        1 << 13, /* .weak .volatile .relaxed .acquire .release .acq_rel .sc .mmio */
    MOD_SCOPE = 1 << 14,  /* .cta .cluster .gpu .sys (.gl of membar) */
    MOD_CACHE = 1 << 15,  /* .ca .cg .cs .lu .cv .wb .wt .nc, eviction, .L2::..B */
    MOD_UNI = 1 << 16,    /* .uni */
    MOD_MODE = 1 << 17,   /* word modes: shf .l .r .wrap .clamp; shfl .up .down .bfly
                             .idx; vote .all .any .uni .ballot; prmt; bfind .shiftamt;
                             atom operation; testp; bar .red .arrive */
    MOD_SYNC = 1 << 18,   /* .sync .aligned */
    MOD_SHAPE = 1 << 19,  /* .m16n8k16, .m8n8, .x1 .x2 .x4 */
    MOD_LAYOUT = 1 << 20, /* .row .col (one or two) .trans */
    MOD_PART = 1 << 21 /* wmma .load .store .mma, .a .b .c .d; cp .async .commit_group */
};

enum mod_round {
    RND_NONE,
    RND_RN,
    RND_RZ,
    RND_RM,
    RND_RP,
    RND_RNA,
    RND_RNI,
    RND_RZI,
    RND_RMI,
    RND_RPI
};
enum mod_cmp {
    CMP_NONE,
    CMP_EQ,
    CMP_NE,
    CMP_LT,
    CMP_LE,
    CMP_GT,
    CMP_GE,
    CMP_LO,
    CMP_LS,
    CMP_HI,
    CMP_HS,
    CMP_EQU,
    CMP_NEU,
    CMP_LTU,
    CMP_LEU,
    CMP_GTU,
    CMP_GEU,
    CMP_NUM,
    CMP_NAN
};
enum mod_bool { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };
enum mod_half { HALF_NONE, HALF_LO, HALF_HI, HALF_WIDE };

enum { MODS_MAX_WORDS = 6 };

struct mods {

    enum ptx_type type[4];
    int type_count;
    enum mod_round round;
    enum mod_cmp cmp;
    enum mod_bool boolean;
    enum mod_half half;
    enum ptx_space space, space2; /* cp.async.shared.global has two */
    bool ftz, sat, satfinite, relu, approx, full, cc, nan, xorsign_abs, uni, sync,
        aligned, trans, is_volatile, nc;
    int vec;                                 /* 1, 2, 4, 8 */
    int shape_m, shape_n, shape_k, matrices; /* .x4 -> 4 */
    int layout_count;
    char layout[2];                   /* 'r' or 'c' */
    const char *word[MODS_MAX_WORDS]; /* MOD_MODE, MOD_PART words in order */
    int word_count;
    uint32_t classes[PTX_MAX_SUFFIXES]; /* MOD_ bits that suffix i may count as */
    int class_count;
};

struct decoder; /* decode.c: the function being decoded */

struct op_row {
    const char *base;   /* "add" */
    const char *syntax; /* "add{.rnd}{.ftz}{.sat}.type d, a, b;" */
    const char *types;  /* ".u16 .u32 ... " for the list, NULL = see syntax */
    uint32_t allowed;   /* MOD_ classes */
    uint8_t pipe;       /* enum sim_pipe, decode may override */
    uint8_t operands_min, operands_max;
    /* Fill op (fn, rows, imm, ...). False: this combination is not supported
     * (decode_fail may have said why). Several rows may share a base; the
     * first whose decode accepts wins. */
    bool (*decode)(struct decoder *dec, const struct ptx_insn *in,
                   const struct mods *mods, struct op *op);
};

struct op_family {
    const struct op_row *rows;
    int count;
};

/* The families. Each ops_*.c exports nothing else: the files are built once per
 * instruction set of the host with renamed families (see the Makefile), and
 * ops_families() gives the NULL-terminated list for the CPU it runs on. */
const struct op_family *const *ops_families(void);
extern const struct op_family ops_integer, ops_float, ops_convert, ops_half, ops_logic,
    ops_move, ops_compare, ops_memory, ops_atomic, ops_control, ops_warp, ops_tensor,
    ops_wmma, ops_async, ops_video, ops_refused;

/* --- for decode functions ------------------------------------------------ */

/* Row of operand i read as `type`. Immediates become constant rows converted
 * to the type (an int literal where a float is wanted is its bits, as PTX
 * says); special registers become preset rows. False after decode_fail. */
bool decode_src(struct decoder *dec, const struct ptx_operand *operand,
                enum ptx_type type, uint32_t *row);
/* Row that the operand writes. A sink `_` gets a scratch row. */
bool decode_dst(struct decoder *dec, const struct ptx_operand *operand,
                enum ptx_type type, uint32_t *row);
/* Offset of a predicate word; *negated for !p. As destination: negated NULL. */
bool decode_pred(struct decoder *dec, const struct ptx_operand *operand, uint32_t *word,
                 bool *negated);
/* Row with the 64-bit address base (zero-extended if the register is 32 bits)
 * in op->s[0] and the constant part in op->imm. op->flags bit 0 tells a 32-bit
 * base. Symbols resolve to their window address or, for .shared/.local/.param
 * accessed in their own space, to their offset. */
bool decode_address(struct decoder *dec, const struct ptx_operand *operand,
                    enum ptx_space space, struct op *op);
enum { OP_BASE32 = 1 };
/* Bits of the register behind an operand (32 for .b16 too, as rows go). */
int decode_lane_bytes(struct decoder *dec, const struct ptx_operand *operand);
/* The rows of a vector operand {a, b, ..} (or of a single register), in op->list.
 * *count gets their number. `destination`: they are written. */
bool decode_list(struct decoder *dec, const struct ptx_operand *operand,
                 enum ptx_type type, bool destination, struct op *op, int *count);
/* Have the places of these rows (in the code's arena) filled in. */
void decode_note_list(struct decoder *dec, uint32_t *rows, int count);
/* The predicate behind | of `d|p` (scratch if there is none), as a destination. */
bool decode_pred2(struct decoder *dec, const struct ptx_operand *operand, uint32_t *word);
/* The carry flag of the .cc instructions, a predicate word. */
uint32_t decode_carry(struct decoder *dec, bool write);
/* Index of a device function in code->callees, decoded if need be; -1 on failure. */
int decode_callee(struct decoder *dec, const struct ptx_function *function);
const struct code *decode_code(struct decoder *dec, int callee);
const struct ptx_function *decode_function_of(const struct decoder *dec);
const struct ptx_module *decode_module_of(const struct decoder *dec);
/* Where a .param variable of a device function lives in the frame: lane l's copy
 * is at rows + area + l * stride. */
struct param_place {
    uint32_t area, stride;
};
/* False if var is no such variable (an entry's parameters are in launch->params). */
bool decode_param(struct decoder *dec, const struct ptx_var *var,
                  struct param_place *place);
bool code_param(const struct code *code, const struct ptx_var *var,
                struct param_place *place);
/* Memory in the code's arena. */
void *decode_alloc(struct decoder *dec, size_t bytes);
/* A row of constants, 32 equal lanes of `bytes` (4, 8 or 16). */
uint32_t decode_constant(struct decoder *dec, uint64_t bits, int bytes);
/* A fresh scratch row. */
uint32_t decode_scratch(struct decoder *dec, int bytes);
/* Remember why ("needs sm_80", "operand 3 must be ..."); returns false. */
bool decode_fail(struct decoder *dec, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- the whole ------------------------------------------------------------ */

struct decode_env {
    const struct ptx_module *module;
    /* address of a module-scope variable in its space: device address for
     * .global and .const, offset for .shared */
    bool (*symbol)(void *context, const char *name, uint64_t *address);
    void (*taken)(void *context, const struct op_row *row); /* or NULL: told each row */
    void *context;
    int device_cc;      /* 80 */
    bool follow_values; /* wrap the executors for check_values.c */
};

/* Decode an entry and every function it can reach. NULL and *err: file, line,
 * instruction, "not supported". keep_registers: no sharing of rows between
 * registers, so that checks can follow each one. */
struct code *code_decode(const struct decode_env *env,
                         const struct ptx_function *function, bool keep_registers,
                         struct error *err);
void code_free(struct code *code);

/* Read the suffixes. False: `*unknown` is no suffix that we know. */
bool mods_parse(const struct ptx_insn *in, struct mods *mods, const char **unknown);
const struct op_row *ops_find(const char *base, int index); /* index-th row of a base */

/* Decode d, a {, b {, c}}: destination of type `dst`, all sources of type `src`. */
static inline bool decode_plain(struct decoder *dec, const struct ptx_insn *in,
                                struct op *op, enum ptx_type dst, enum ptx_type src)
{
    if (!decode_dst(dec, &in->operand[0], dst, &op->d))
        return false;
    for (int i = 1; i < in->operand_count && i <= SIM_MAX_SOURCES; i++)
        if (!decode_src(dec, &in->operand[i], src, &op->s[i - 1]))
            return false;
    return true;
}

/* An executor by type. */
struct typed_fn {
    enum ptx_type type;
    exec_fn *fn;
};
static inline exec_fn *typed_find(const struct typed_fn *list, int count,
                                  enum ptx_type type)
{
    for (int i = 0; i < count; i++)
        if (list[i].type == type)
            return list[i].fn;
    return NULL;
}
#define TYPED(list, type) typed_find(list, (int)(sizeof(list) / sizeof *(list)), type)

static inline bool is_signed_type(enum ptx_type type)
{
    return (type >= PTX_S8 && type <= PTX_S64) || type == PTX_S4 || type == PTX_S2;
}

/* Rows are the same or apart: gcc must be told so to vectorise; clang checks. */
#if defined(__clang__)
#define NO_ALIAS
#else
#define NO_ALIAS _Pragma("GCC ivdep")
#endif

/* LANEWISE(name, DST_T, SRC_T, expression in a, b, c): one executor. All lanes are
 * computed (a lane that is off may hold any bits, so the expression must not
 * trap); only active lanes are written. d may be the same row as a source. */
#define LANEWISE(name, DT, ST, expr)                                   \
    static void name(struct warp *w, const struct op *op)              \
    {                                                                  \
        const ST *sa = (const ST *)(const void *)(w->rows + op->s[0]); \
        const ST *sb = (const ST *)(const void *)(w->rows + op->s[1]); \
        const ST *sc = (const ST *)(const void *)(w->rows + op->s[2]); \
        DT *d = (DT *)(void *)(w->rows + op->d);                       \
        uint32_t mask = w->mask;                                       \
        (void)sb, (void)sc;                                            \
        if (mask == FULL_MASK) {                                       \
            NO_ALIAS for (int l = 0; l < LANES; l++)                   \
            {                                                          \
                ST a = sa[l], b = sb[l], c = sc[l];                    \
                (void)a, (void)b, (void)c;                             \
                d[l] = (DT)(expr);                                     \
            }                                                          \
        } else {                                                       \
            NO_ALIAS for (int l = 0; l < LANES; l++)                   \
            {                                                          \
                ST a = sa[l], b = sb[l], c = sc[l];                    \
                (void)a, (void)b, (void)c;                             \
                DT v = (DT)(expr);                                     \
                d[l] = (mask >> l & 1) ? v : d[l];                     \
            }                                                          \
        }                                                              \
    }

#endif
