/* ops_refused.c - what is known and not supported: Hopper's and Blackwell's matrix
 * instructions, bulk copies, clusters, textures. Their rows are here so that a load
 * ends with the reason, and so that `--list ptx` says it too. */
#include "ops.h"

static const char clusters[] = "clusters are not supported yet";
static const char bulk[] = "Hopper's bulk copies are not supported yet";
static const char textures[] = "textures are not supported";
static const char surfaces[] = "surfaces are not supported";
static const char blackwell[] = "Blackwell's matrix formats are not supported";
static const char proxies[] = "proxy fences come with Hopper's bulk copies";

/* An instruction, if it has the suffix, or one that begins so if `suffix` ends in ::. */
static const struct refusal {
    const char *base, *suffix, *why;
} refusals[] = {
    {"wgmma", NULL, "warpgroup matrix instructions are not supported yet"},
    {"tcgen05", NULL, "Blackwell's tensor memory is not supported"},
    {"tex", NULL, textures},
    {"tld4", NULL, textures},
    {"txq", NULL, textures},
    {"istypep", NULL, textures},
    {"suld", NULL, surfaces},
    {"sust", NULL, surfaces},
    {"sured", NULL, surfaces},
    {"suq", NULL, surfaces},
    {"mapa", NULL, clusters},
    {"getctarank", NULL, clusters},
    {"clusterlaunchcontrol", NULL, clusters},
    {"setmaxnreg", NULL, "register reallocation comes with wgmma"},
    {"multimem", NULL, "multicast memory is not supported"},
    {"tensormap", NULL, "tensor maps are not supported yet"},
    {"barrier", "cluster", clusters},
    {"mbarrier", "shared::cluster", clusters},
    {"ld", "shared::cluster", clusters},
    {"st", "shared::cluster", clusters},
    {"st", "bulk", bulk},
    {"atom", "shared::cluster", clusters},
    {"red", "shared::cluster", clusters},
    {"cvta", "shared::cluster", clusters},
    {"isspacep", "shared::cluster", clusters},
    {"prefetch", "tensormap", "tensor maps are not supported yet"},
    {"cp", "bulk", bulk},
    {"fence", "async", proxies},
    {"fence", "async::generic", proxies},
    {"fence", "tensormap::generic", proxies},
    {"membar", "async", proxies},
    {"membar", "tensormap::generic", proxies},
    {"mma", "kind::", blackwell},
    {"ldmatrix", "b8", blackwell},
    {"stmatrix", "b8", blackwell},
};

static bool refuses(const struct refusal *refusal, const struct ptx_insn *in)
{
    const char *word = refusal->suffix;
    if (strcmp(refusal->base, in->base) != 0)
        return false;
    if (word == NULL)
        return true;
    size_t length = strlen(word);
    bool prefix = word[length - 1] == ':';
    for (int i = 0; i < in->suffix_count; i++)
        if (prefix ? strncmp(in->suffix[i], word, length) == 0
                   : strcmp(in->suffix[i], word) == 0)
            return true;
    return false;
}

static bool decode_refused(struct decoder *dec, const struct ptx_insn *in,
                           const struct mods *mods, struct op *op)
{
    (void)mods, (void)op;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refuses(&refusals[i], in))
            return decode_fail(dec, "%s", refusals[i].why);
    return false;
}

#define REFUSED(base, form)                                                    \
    {                                                                          \
        base, base form ": refused with a reason", NULL, ~0u, SIM_PIPE_ALU, 0, \
            PTX_MAX_OPERANDS, decode_refused                                   \
    }

static const struct op_row rows[] = {
    REFUSED("wgmma", ""),
    REFUSED("tcgen05", ""),
    REFUSED("tex", ""),
    REFUSED("tld4", ""),
    REFUSED("txq", ""),
    REFUSED("istypep", ""),
    REFUSED("suld", ""),
    REFUSED("sust", ""),
    REFUSED("sured", ""),
    REFUSED("suq", ""),
    REFUSED("mapa", ""),
    REFUSED("getctarank", ""),
    REFUSED("clusterlaunchcontrol", ""),
    REFUSED("setmaxnreg", ""),
    REFUSED("multimem", ""),
    REFUSED("tensormap", ""),
    REFUSED("barrier", ".cluster"),
    REFUSED("mbarrier", ".shared::cluster"),
    REFUSED("ld", ".shared::cluster"),
    REFUSED("st", ".shared::cluster, st.async, st.bulk"),
    REFUSED("atom", ".shared::cluster"),
    REFUSED("red", ".shared::cluster, red.async"),
    REFUSED("cvta", ".shared::cluster"),
    REFUSED("isspacep", ".shared::cluster"),
    REFUSED("prefetch", ".tensormap"),
    REFUSED("cp", ".async.bulk, cp.reduce.async.bulk"),
    REFUSED("fence", ".proxy.async, .proxy.tensormap::generic"),
    REFUSED("membar", ".proxy.async, .proxy.tensormap::generic"),
    REFUSED("mma", ".kind::"),
    REFUSED("ldmatrix", ".b8"),
    REFUSED("stmatrix", ".b8"),
};
const struct op_family ops_refused = {rows, (int)(sizeof rows / sizeof *rows)};
