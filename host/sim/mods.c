/* mods.c - suffixes of an opcode -> struct mods. One table says what each word
 * means; a word that no instruction here uses is reported as unknown. */
#include <stdlib.h>
#include <string.h>

#include "ops.h"
#include "word_table.h"

enum field {
    F_NONE,
    F_ROUND,
    F_CMP,
    F_BOOL,
    F_HALF,
    F_SPACE,
    F_VEC,
    F_FTZ,
    F_SAT,
    F_SATFINITE,
    F_RELU,
    F_APPROX,
    F_FULL,
    F_CC,
    F_NAN,
    F_XORSIGN,
    F_UNI,
    F_SYNC,
    F_ALIGNED,
    F_TRANS,
    F_VOLATILE,
    F_NC,
    F_ROW,
    F_MATRICES,
    F_WORD
};

static const struct {
    const char *word;
    uint32_t mod; /* MOD_ class */
    enum field field;
    int value;
} words[] = {
    {"rn", MOD_ROUND, F_ROUND, RND_RN},
    {"rz", MOD_ROUND, F_ROUND, RND_RZ},
    {"rm", MOD_ROUND, F_ROUND, RND_RM},
    {"rp", MOD_ROUND, F_ROUND, RND_RP},
    {"rna", MOD_ROUND, F_ROUND, RND_RNA},
    {"rni", MOD_ROUND, F_ROUND, RND_RNI},
    {"rzi", MOD_ROUND, F_ROUND, RND_RZI},
    {"rmi", MOD_ROUND, F_ROUND, RND_RMI},
    {"rpi", MOD_ROUND, F_ROUND, RND_RPI},
    {"ftz", MOD_FTZ, F_FTZ, 1},
    {"sat", MOD_SAT, F_SAT, 1},
    {"satfinite", MOD_SAT, F_SATFINITE, 1},
    {"relu", MOD_SAT, F_RELU, 1},
    {"approx", MOD_APPROX, F_APPROX, 1},
    {"full", MOD_APPROX, F_FULL, 1},
    {"lo", MOD_HALF | MOD_CMP, F_HALF, HALF_LO}, /* also a comparison: see below */
    {"hi", MOD_HALF | MOD_CMP, F_HALF, HALF_HI},
    {"wide", MOD_HALF, F_HALF, HALF_WIDE},
    {"cc", MOD_CC, F_CC, 1},
    {"eq", MOD_CMP, F_CMP, CMP_EQ},
    {"ne", MOD_CMP, F_CMP, CMP_NE},
    {"lt", MOD_CMP, F_CMP, CMP_LT},
    {"le", MOD_CMP, F_CMP, CMP_LE},
    {"gt", MOD_CMP, F_CMP, CMP_GT},
    {"ge", MOD_CMP, F_CMP, CMP_GE},
    {"ls", MOD_CMP, F_CMP, CMP_LS},
    {"hs", MOD_CMP, F_CMP, CMP_HS},
    {"equ", MOD_CMP, F_CMP, CMP_EQU},
    {"neu", MOD_CMP, F_CMP, CMP_NEU},
    {"ltu", MOD_CMP, F_CMP, CMP_LTU},
    {"leu", MOD_CMP, F_CMP, CMP_LEU},
    {"gtu", MOD_CMP, F_CMP, CMP_GTU},
    {"geu", MOD_CMP, F_CMP, CMP_GEU},
    {"num", MOD_CMP, F_CMP, CMP_NUM},
    {"nan", MOD_CMP, F_CMP, CMP_NAN},
    {"and", MOD_BOOL | MOD_MODE, F_BOOL, BOOL_AND},
    {"or", MOD_BOOL | MOD_MODE, F_BOOL, BOOL_OR},
    {"xor", MOD_BOOL | MOD_MODE, F_BOOL, BOOL_XOR},
    {"NaN", MOD_NAN, F_NAN, 1},
    {"xorsign", MOD_NAN, F_XORSIGN, 1},
    {"abs", MOD_NAN, F_NONE, 0},
    {"global", MOD_SPACE, F_SPACE, PTX_GLOBAL},
    {"shared", MOD_SPACE, F_SPACE, PTX_SHARED},
    {"shared::cta", MOD_SPACE, F_SPACE, PTX_SHARED},
    {"local", MOD_SPACE, F_SPACE, PTX_LOCAL},
    {"const", MOD_SPACE, F_SPACE, PTX_CONST},
    {"param", MOD_SPACE, F_SPACE, PTX_PARAM},
    {"param::entry", MOD_SPACE, F_SPACE, PTX_PARAM},
    {"param::func", MOD_SPACE, F_SPACE, PTX_PARAM},
    {"v2", MOD_VEC, F_VEC, 2},
    {"v4", MOD_VEC, F_VEC, 4},
    {"v8", MOD_VEC, F_VEC, 8},
    {"weak", MOD_ORDER, F_NONE, 0},
    {"volatile", MOD_ORDER, F_VOLATILE, 1},
    {"relaxed", MOD_ORDER, F_NONE, 0},
    {"acquire", MOD_ORDER, F_NONE, 0},
    {"release", MOD_ORDER, F_NONE, 0},
    {"acq_rel", MOD_ORDER, F_NONE, 0},
    {"sc", MOD_ORDER, F_NONE, 0},
    {"mmio", MOD_ORDER, F_NONE, 0},
    {"cta", MOD_SCOPE, F_NONE, 0},
    {"cluster", MOD_SCOPE, F_NONE, 0},
    {"gpu", MOD_SCOPE, F_NONE, 0},
    {"gl", MOD_SCOPE, F_NONE, 0},
    {"sys", MOD_SCOPE, F_NONE, 0},
    {"ca", MOD_CACHE, F_NONE, 0},
    {"cg", MOD_CACHE, F_NONE, 1},
    {"cs", MOD_CACHE, F_NONE, 0},
    {"lu", MOD_CACHE, F_NONE, 0},
    {"cv", MOD_CACHE, F_NONE, 0},
    {"wb", MOD_CACHE, F_NONE, 0},
    {"wt", MOD_CACHE, F_NONE, 0},
    {"nc", MOD_CACHE, F_NC, 1},
    {"L1::evict_normal", MOD_CACHE, F_NONE, 0},
    {"L1::evict_unchanged", MOD_CACHE, F_NONE, 0},
    {"L1::evict_first", MOD_CACHE, F_NONE, 0},
    {"L1::evict_last", MOD_CACHE, F_NONE, 0},
    {"L1::no_allocate", MOD_CACHE, F_NONE, 0},
    {"L2::64B", MOD_CACHE, F_NONE, 0},
    {"L2::128B", MOD_CACHE, F_NONE, 0},
    {"L2::256B", MOD_CACHE, F_NONE, 0},
    {"L2::cache_hint", MOD_CACHE, F_WORD, 0},
    {"L2::evict_last", MOD_CACHE, F_NONE, 0},
    {"L2::evict_normal", MOD_CACHE, F_NONE, 0},
    {"L2::evict_first", MOD_CACHE, F_NONE, 0},
    {"L2::evict_unchanged", MOD_CACHE, F_NONE, 0},
    {"uni", MOD_UNI | MOD_MODE, F_UNI, 1},
    {"sync", MOD_SYNC | MOD_MODE, F_SYNC, 1},
    {"aligned", MOD_SYNC, F_ALIGNED, 1},
    {"trans", MOD_LAYOUT, F_TRANS, 1},
    {"row", MOD_LAYOUT, F_ROW, 'r'},
    {"col", MOD_LAYOUT, F_ROW, 'c'},
    {"x1", MOD_SHAPE, F_MATRICES, 1},
    {"x2", MOD_SHAPE, F_MATRICES, 2},
    {"x4", MOD_SHAPE, F_MATRICES, 4},
};

/* Words that only name a mode or a part of an instruction. */
static const char *const modes[] = {
    "l",         "r",        "wrap",     "clamp",      "up",
    "down",      "bfly",     "idx",      "all",        "any",
    "ballot",    "f4e",      "b4e",      "rc8",        "ecl",
    "ecr",       "rc16",     "shiftamt", "add",        "min",
    "max",       "inc",      "dec",      "cas",        "exch",
    "finite",    "infinite", "number",   "notanumber", "normal",
    "subnormal", "red",      "arrive",   "popc",       "to",
    "warp",      "shr",      "shl",      "noftz",      "po",
    "shr7",      "shr15",    "mask",     "wait",       "launch_dependents",
};
static const char *const parts[] = {
    "load",
    "store",
    "mma",
    "a",
    "b",
    "c",
    "d",
    "async",
    "commit_group",
    "wait_group",
    "wait_all",
    "mbarrier",
    "noinc",
    "init",
    "inval",
    "expect_tx",
    "complete_tx",
    "test_wait",
    "try_wait",
    "parity",
    "pending_count",
    "arrive_drop",
    "proxy",
    "bulk",
    "tensor",
    "mma_async",
    "fence",
    "sp",
    "sp::ordered_metadata",
    "nocomplete",
    "alias",
    "mbarrier_init",
    "prefetch",
    "L1",
    "L2",
    "tensormap",
    "isspacep",
    "pragma",
    "release",
    "noComplete",
    "pack",
    "fractional",
    "range",
    "cvt",
};

/* What a suffix is, by its number in `known`: types first, then words, modes, parts. */
enum { COUNT_WORDS = sizeof words / sizeof *words };
enum { COUNT_MODES = sizeof modes / sizeof *modes };
enum { COUNT_PARTS = sizeof parts / sizeof *parts };
enum meaning { MEANS_TYPE, MEANS_WORD, MEANS_MODE, MEANS_PART };

static struct word_table known;
static struct {
    uint8_t meaning;
    uint8_t index; /* of the type or the row of words[] */
} meanings[WORD_MOST];

/* The first meaning of a word stays. */
static void know(const char *word, enum meaning meaning, int index)
{
    int before = known.count, number = word_add(&known, word);
    if (number == before) {
        meanings[number].meaning = (uint8_t)meaning;
        meanings[number].index = (uint8_t)index;
    }
}

static void know_all(void)
{
    for (int i = 1; i < PTX_TYPE_COUNT; i++)
        know(ptx_type_name((enum ptx_type)i), MEANS_TYPE, i);
    for (int i = 0; i < COUNT_WORDS; i++)
        know(words[i].word, MEANS_WORD, i);
    for (int i = 0; i < COUNT_MODES; i++)
        know(modes[i], MEANS_MODE, i);
    for (int i = 0; i < COUNT_PARTS; i++)
        know(parts[i], MEANS_PART, i);
}

static bool add_word(struct mods *mods, const char *word)
{
    if (mods->word_count == MODS_MAX_WORDS)
        return false;
    mods->word[mods->word_count++] = word;
    return true;
}

static bool parse_shape(const char *word, struct mods *mods)
{
    char *end;
    if (word[0] != 'm' || word[1] < '0' || word[1] > '9')
        return false;
    mods->shape_m = (int)strtol(word + 1, &end, 10);
    if (*end != 'n')
        return false;
    mods->shape_n = (int)strtol(end + 1, &end, 10);
    mods->shape_k = 0;
    if (*end == 'k')
        mods->shape_k = (int)strtol(end + 1, &end, 10);
    return *end == '\0';
}

static void set_field(struct mods *mods, enum field field, int value)
{
    switch (field) {
    case F_ROUND:
        mods->round = (enum mod_round)value;
        break;
    case F_CMP:
        mods->cmp = (enum mod_cmp)value;
        break;
    case F_BOOL:
        mods->boolean = (enum mod_bool)value;
        break;
    case F_HALF:
        mods->half = (enum mod_half)value;
        mods->cmp = value == HALF_LO ? CMP_LO : CMP_HI;
        break;
    case F_SPACE:
        if (mods->space == PTX_GENERIC)
            mods->space = (enum ptx_space)value;
        else
            mods->space2 = (enum ptx_space)value;
        break;
    case F_VEC:
        mods->vec = value;
        break;
    case F_FTZ:
        mods->ftz = true;
        break;
    case F_SAT:
        mods->sat = true;
        break;
    case F_SATFINITE:
        mods->satfinite = true;
        break;
    case F_RELU:
        mods->relu = true;
        break;
    case F_APPROX:
        mods->approx = true;
        break;
    case F_FULL:
        mods->full = true;
        break;
    case F_CC:
        mods->cc = true;
        break;
    case F_NAN:
        mods->nan = true;
        break;
    case F_XORSIGN:
        mods->xorsign_abs = true;
        break;
    case F_UNI:
        mods->uni = true;
        break;
    case F_SYNC:
        mods->sync = true;
        break;
    case F_ALIGNED:
        mods->aligned = true;
        break;
    case F_TRANS:
        mods->trans = true;
        break;
    case F_VOLATILE:
        mods->is_volatile = true;
        break;
    case F_NC:
        mods->nc = true;
        break;
    case F_ROW:
        if (mods->layout_count < 2)
            mods->layout[mods->layout_count++] = (char)value;
        break;
    case F_MATRICES:
        mods->matrices = value;
        break;
    case F_NONE:
    case F_WORD:
        break;
    }
}

/* A word of the table above. */
static bool take_word(struct mods *mods, int suffix, int row, const char *word)
{
    set_field(mods, words[row].field, words[row].value);
    mods->classes[suffix] = words[row].mod;
    bool matters = words[row].mod & MOD_MODE || words[row].field == F_WORD ||
                   words[row].field == F_NC || strcmp(word, "cg") == 0;
    return !matters || add_word(mods, word);
}

static bool take_suffix(struct mods *mods, int suffix, const char *word)
{
    int number = word_find(&known, word);
    if (number < 0) {
        mods->classes[suffix] = MOD_SHAPE;
        return parse_shape(word, mods);
    }
    int index = meanings[number].index;
    switch ((enum meaning)meanings[number].meaning) {
    case MEANS_TYPE:
        if (mods->type_count == 4)
            return false;
        mods->classes[suffix] = mods->type_count == 0 ? MOD_TYPE : MOD_TYPE2;
        mods->type[mods->type_count++] = (enum ptx_type)index;
        return true;
    case MEANS_WORD:
        return take_word(mods, suffix, index, word);
    case MEANS_MODE:
        mods->classes[suffix] = MOD_MODE;
        return add_word(mods, word);
    case MEANS_PART:
        break;
    }
    mods->classes[suffix] = MOD_PART;
    return add_word(mods, word);
}

bool mods_parse(const struct ptx_insn *in, struct mods *mods, const char **unknown)
{
    if (known.count == 0)
        know_all();
    *mods = (struct mods){.vec = 1};
    for (int i = 0; i < in->suffix_count; i++) {
        *unknown = in->suffix[i];
        if (!take_suffix(mods, i, in->suffix[i]))
            return false;
    }
    *unknown = NULL;
    mods->class_count = in->suffix_count;
    return true;
}
