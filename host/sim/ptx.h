/* ptx.h - PTX text in memory: what the parser makes, what the decoder reads.
 *
 * ptx_lex.c    text -> tokens with line and column
 * ptx_parse.c  tokens -> struct ptx_module (directives, functions, statements)
 *
 * The parser knows the grammar of PTX, not its instructions: an opcode is kept
 * as its base name and list of suffixes, and what they mean is decided by the
 * instruction table (ops.h). Everything lives in the module's arena and goes
 * with ptx_free. Input is hostile: every limit is checked, nothing recurses
 * without bound, and the first error ends the parse with line and column.
 *
 * Source: PTX ISA 9.0, chapters 4 (syntax), 5 (state spaces, types), 7 (ABI).
 */
#ifndef PEAKBOUND_PTX_H
#define PEAKBOUND_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../error.h"

/* Type suffixes (.u32 ...). Sub-byte and alternate float types occur only in
 * matrix instructions. */
enum ptx_type {
    PTX_TYPE_NONE,
    PTX_PRED,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_F16X2,
    PTX_BF16,
    PTX_BF16X2,
    PTX_TF32,
    PTX_F32,
    PTX_F64,
    PTX_U16X2,
    PTX_S16X2,
    PTX_F32X2,
    PTX_E4M3,
    PTX_E5M2,
    PTX_E4M3X2,
    PTX_E5M2X2,
    PTX_U4,
    PTX_S4,
    PTX_U2,
    PTX_S2,
    PTX_B1,
    PTX_TYPE_COUNT
};

int ptx_type_bits(enum ptx_type type);         /* 32 for .f32, 1 for .pred, .b1 */
const char *ptx_type_name(enum ptx_type type); /* "f32" */
enum ptx_type ptx_type_find(const char *name); /* "f32" -> PTX_F32, NONE if unknown */

enum ptx_space {
    PTX_GENERIC,
    PTX_REG,
    PTX_GLOBAL,
    PTX_SHARED,
    PTX_LOCAL,
    PTX_CONST,
    PTX_PARAM
};

/* A variable: .global, .const, .shared, .local or .param, of a module or of a
 * function. */
struct ptx_var {
    const char *name;
    enum ptx_space space;
    enum ptx_type type;
    bool is_extern;           /* .extern: defined elsewhere, or dynamic shared memory */
    bool is_visible;          /* .visible or .weak */
    int align_bytes;          /* explicit .align, else the size of the element */
    uint64_t size_bytes;      /* whole variable; 0 for extern x[] */
    uint64_t offset_bytes;    /* place in its space: kernel parameters and .func
                                 parameters in declaration order, shared and local
                                 variables of one function packed */
    uint8_t *init;            /* size_bytes of initial data, NULL = zeros */
    struct ptx_reloc *relocs; /* addresses inside the initial data */
    int reloc_count;
    int index; /* of a function's .param: among all of the function's, see decode.c */
    int line;
};

/* init[offset .. offset+8) must hold the address of `symbol` + addend. */
struct ptx_reloc {
    uint64_t offset_bytes;
    const char *symbol;
    int64_t addend;
    bool generic; /* generic(symbol): the generic address */
};

/* A register. Register sets %r<100> are expanded on use, so only names that
 * occur get an index; .reg in a nested { } makes new registers. */
struct ptx_reg {
    const char *name;
    enum ptx_type type;
};

enum ptx_operand_kind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REG,    /* reg */
    PTX_OPERAND_IMM,    /* imm: integer bits, or the bits of an f32/f64 literal */
    PTX_OPERAND_SREG,   /* symbol = "%tid.x" */
    PTX_OPERAND_ADDR,   /* [base + offset]; base is a register or a symbol */
    PTX_OPERAND_SYMBOL, /* a variable's address or a function, symbol + offset */
    PTX_OPERAND_LABEL,  /* target = instruction index */
    PTX_OPERAND_VECTOR, /* {a, b, ...} in elements */
    PTX_OPERAND_SINK    /* _ */
};

enum ptx_literal { PTX_LITERAL_INT, PTX_LITERAL_F32, PTX_LITERAL_F64 };

struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated;             /* !p */
    bool base_is_reg;         /* ADDR: reg, else symbol (may be NULL: absolute) */
    int reg;                  /* index into function->regs */
    int reg2;                 /* second destination of d|p, else -1 */
    enum ptx_literal literal; /* IMM */
    uint64_t imm;
    int64_t offset;      /* ADDR, SYMBOL */
    const char *symbol;  /* as written, lower scopes already renamed */
    struct ptx_var *var; /* the variable that symbol names, if it is one */
    const char *part;    /* "b1" of r.b1 (video instructions), else NULL */
    bool minus;          /* -r (vmad) */
    int target; /* LABEL; of a brx.idx's second operand: index in function->tables, or -1 */
    struct ptx_operand *elements; /* VECTOR */
    int element_count;
};

enum { PTX_MAX_OPERANDS = 8, PTX_MAX_SUFFIXES = 20 };

struct ptx_insn {
    const char *text;    /* opcode as written: "ld.global.v4.f32" */
    const char *base;    /* "ld" */
    const char **suffix; /* "global", "v4", "f32"; "shared::cta" is one */
    int suffix_count;
    int guard; /* predicate register index, -1 = none */
    bool guard_negated;
    struct ptx_operand *operand;
    int operand_count;
    struct ptx_call *call;       /* only for call */
    const char **branch_targets; /* .branchtargets list name, brx.idx only: in operand */
    int line;                    /* line in the PTX text, from 1 */
    int loc_file, loc_line, loc_col; /* from .loc; loc_line 0 = unknown */
    int inlined;                     /* while parsing: see ptx_lines.c */
};

/* call (ret), f, (args), prototype;  args are .param variables, registers or
 * immediates. */
struct ptx_call {
    struct ptx_operand *ret;
    int ret_count;
    struct ptx_operand *arg;
    int arg_count;
    struct ptx_operand callee; /* SYMBOL, or REG for an indirect call */
    const char *prototype;     /* name, NULL when direct */
    bool uniform;
};

/* .branchtargets / .calltargets / .callprototype, and labels. */
struct ptx_table {
    const char *name;
    int *target; /* instruction indices */
    int count;
};

struct ptx_function {
    const char *name;
    int index;               /* in the module's functions */
    bool is_entry;           /* .entry, else .func */
    bool is_declaration;     /* no body: vprintf, malloc, free, __assertfail */
    struct ptx_var **params; /* in declaration order, offset_bytes filled in */
    int param_count;
    uint64_t param_bytes;  /* whole parameter block */
    struct ptx_var **rets; /* .func only */
    int ret_count;
    struct ptx_reg *regs;
    int reg_count;
    struct ptx_var **vars; /* .shared, .local, .param declared inside */
    int var_count;
    uint64_t local_bytes;       /* .local variables, packed */
    uint64_t param_local_bytes; /* .param variables of the body, packed */
    struct ptx_insn *insns;
    int insn_count;
    struct ptx_table *tables;
    int table_count;
    int maxntid[3], reqntid[3]; /* 0 = not given */
    int minnctapersm;
    int line;
};

struct ptx_module {
    int version_major, version_minor; /* .version 9.0 */
    char target[32];                  /* "sm_80" */
    int target_sm;                    /* 80 */
    bool target_arch_specific;        /* sm_90a */
    struct ptx_var **vars;            /* module scope */
    int var_count;
    struct ptx_function **functions;
    int function_count;
    const char **files; /* .file n "name": files[n], may be NULL */
    int file_count;
    const char *name; /* what to call this text in messages */
    struct ptx_arena *arena;
};

/* Parse `length` bytes at text (need not end in NUL; a NUL ends the text).
 * `name` stands before line numbers in messages. NULL and *err on failure
 * (status EXIT_OURS "not supported" or EXIT_USAGE "broken text"). */
struct ptx_module *ptx_parse(const char *text, size_t length, const char *name,
                             struct error *err);
void ptx_free(struct ptx_module *module);

struct ptx_var *ptx_find_var(const struct ptx_module *module, const char *name);
struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name);

/* Memory that lives as long as the module. Never NULL (dies with status 4 past
 * the limit of 1 GiB a module). Zeroed, 16-byte aligned. */
void *ptx_alloc(struct ptx_module *module, size_t bytes);
const char *ptx_intern(struct ptx_module *module, const char *text, size_t length);

#endif
