/* ops_control.c - branches, calls, exit, barriers, fences (PTX ISA 9.0, 9.7.12 and
 * 9.7.13). The fetch loop (run_warp.c) does the work of most of them; the rows here
 * decode them. */
#include "access.h"
#include "check.h"
#include "decode_parts.h"
#include "run.h"
#include "syscall.h"

static bool word_is(const struct mods *mods, int i, const char *word)
{
    return i < mods->word_count && strcmp(mods->word[i], word) == 0;
}

/* Blocks on other host threads may read what this one wrote. */
static void fence(struct warp *w, const struct op *op)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    check_fence(w, op->scope);
}

static void nothing(struct warp *w, const struct op *op)
{
    (void)w, (void)op;
}

static void trap(struct warp *w, const struct op *op)
{
    sim_raise(w, SIM_TRAP, first_lane(w->mask), 0, "the kernel executed `%s`",
              op->flags ? "brkpt" : "trap");
}

static bool decode_branch(struct decoder *dec, const struct ptx_insn *in,
                          const struct mods *mods, struct op *op)
{
    (void)mods;
    if (in->operand[0].kind != PTX_OPERAND_LABEL || in->operand[0].target < 0)
        return decode_fail(dec, "needs a label");
    op->kind = OP_BRANCH;
    op->target = (uint32_t)in->operand[0].target;
    return true;
}

/* brx.idx r, table: op->list holds the targets, op->imm how many */
static bool decode_branch_table(struct decoder *dec, const struct ptx_insn *in,
                                const struct mods *mods, struct op *op)
{
    const struct ptx_function *f = decode_function_of(dec);
    if (!word_is(mods, 0, "idx") || in->operand_count != 2)
        return decode_fail(dec, "only brx.idx");
    int number = in->operand[1].target;
    if (number < 0)
        return decode_fail(dec, "`%s` is no .branchtargets list", in->operand[1].symbol);
    /* instruction numbers, never negative: the module outlives the code */
    op->kind = OP_BRANCH_TABLE;
    op->list = (uint32_t *)f->tables[number].target;
    op->imm = (uint64_t)f->tables[number].count;
    return decode_src(dec, &in->operand[0], PTX_U32, &op->s[0]);
}

static bool decode_exit(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    (void)mods;
    bool ret = in->base[0] == 'r';
    op->kind = ret && !decode_function_of(dec)->is_entry ? OP_RET : OP_EXIT;
    return true;
}

static bool decode_trap(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    (void)dec, (void)mods;
    op->fn = trap;
    op->flags = in->base[0] == 'b';
    return true;
}

/* Memory is not aliased here, so that .proxy.alias has nothing more to order. */
static bool decode_fence(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    (void)in;
    if (word_is(mods, 0, "proxy") && !word_is(mods, 1, "alias"))
        return decode_fail(dec, "only .proxy.alias");
    op->fn = fence;
    return true;
}

/* pmevent triggers a profiler's event; griddepcontrol does nothing in a grid that was
 * not launched as a dependent of another. */
static bool decode_nothing(struct decoder *dec, const struct ptx_insn *in,
                           const struct mods *mods, struct op *op)
{
    (void)mods, (void)op;
    bool event = in->base[0] == 'p';
    if (event != (in->operand_count == 1))
        return decode_fail(dec, event ? "needs an event" : "takes no operand");
    if (event && in->operand[0].kind != PTX_OPERAND_IMM)
        return decode_fail(dec, "the event must be a number");
    op->fn = nothing;
    return true;
}

static bool decode_yield(struct decoder *dec, const struct ptx_insn *in,
                         const struct mods *mods, struct op *op)
{
    (void)dec, (void)in, (void)mods;
    op->kind = OP_YIELD;
    return true;
}

/* --- barriers ----------------------------------------------------------------------- */

static bool decode_barrier_red(struct decoder *dec, const struct ptx_insn *in,
                               const struct mods *mods, struct barrier_op *b,
                               struct op *op, int *next)
{
    b->kind = BARRIER_RED;
    for (int i = 0; i < mods->word_count; i++)
        if (strcmp(mods->word[i], "popc") == 0)
            b->red = RED_POPC;
    if (mods->boolean == BOOL_AND)
        b->red = RED_AND;
    if (mods->boolean == BOOL_OR)
        b->red = RED_OR;
    if (b->red == RED_NONE || in->operand_count < 3)
        return decode_fail(dec, "needs .popc, .and or .or");
    *next = 1;
    const struct ptx_operand *last = &in->operand[in->operand_count - 1];
    op->flags = b->red;
    return (b->red == RED_POPC ? decode_dst(dec, &in->operand[0], PTX_U32, &op->d)
                               : decode_pred(dec, &in->operand[0], &op->d, NULL)) &&
           decode_pred(dec, last, &op->s[2], &b->negated);
}

static bool decode_barrier(struct decoder *dec, const struct ptx_insn *in,
                           const struct mods *mods, struct op *op)
{
    struct barrier_op *b = decode_alloc(dec, sizeof *b);
    int next = 0, end = in->operand_count;
    bool red = false, arrive = false;
    for (int i = 0; i < mods->word_count; i++) {
        red |= strcmp(mods->word[i], "red") == 0;
        arrive |= strcmp(mods->word[i], "arrive") == 0;
        if (strcmp(mods->word[i], "warp") == 0)
            return decode_fail(dec, "is a warp barrier");
    }
    for (int i = 0; i < in->suffix_count; i++)
        if (strcmp(in->suffix[i], "cluster") == 0)
            return decode_fail(dec, "clusters are not supported yet");
    op->kind = OP_BARRIER;
    op->extra = b;
    b->kind = arrive ? BARRIER_ARRIVE : BARRIER_SYNC;
    b->aligned = strcmp(in->base, "bar") == 0 || mods->aligned;
    if (red) {
        if (!decode_barrier_red(dec, in, mods, b, op, &next))
            return false;
        end--;
    } else if (!arrive && !mods->sync) {
        return decode_fail(dec, "needs .sync, .arrive or .red");
    }
    if (next >= end || end - next > 2)
        return decode_fail(dec, "needs a barrier number");
    b->has_count = end - next == 2;
    if (arrive && !b->has_count)
        return decode_fail(dec, ".arrive needs a thread count");
    return decode_src(dec, &in->operand[next], PTX_U32, &op->s[0]) &&
           (!b->has_count || decode_src(dec, &in->operand[next + 1], PTX_U32, &op->s[1]));
}

/* --- calls --------------------------------------------------------------------------- */

static bool call_area(struct decoder *dec, const struct ptx_operand *o,
                      struct param_place *place)
{
    return (o->kind == PTX_OPERAND_SYMBOL && o->var != NULL &&
            decode_param(dec, o->var, place)) ||
           decode_fail(dec, "arguments must be .param variables");
}

static bool decode_copies(struct decoder *dec, const struct ptx_operand *mine, int count,
                          struct ptx_var *const *theirs, const struct code *callee,
                          bool to_callee, struct call_copy **copies)
{
    *copies = decode_alloc(dec, ((size_t)count + 1) * sizeof **copies);
    for (int i = 0; i < count; i++) {
        struct param_place here, there;
        if (!call_area(dec, &mine[i], &here))
            return false;
        if (!code_param(callee, theirs[i], &there))
            return decode_fail(dec, "parameter %d of the function has no place", i + 1);
        uint32_t bytes = (uint32_t)theirs[i]->size_bytes;
        if (bytes > here.stride || bytes > there.stride)
            return decode_fail(dec, "argument %d is too small", i + 1);
        (*copies)[i] = to_callee ? (struct call_copy){here.area, here.stride, there.area,
                                                      there.stride, bytes}
                                 : (struct call_copy){there.area, there.stride, here.area,
                                                      here.stride, bytes};
    }
    return true;
}

/* One more function that the call can reach. */
static bool add_target(struct decoder *dec, const struct ptx_call *call, int index,
                       struct call_op *c)
{
    const struct ptx_function *f = decode_module_of(dec)->functions[index];
    struct call_target *target = &c->targets[c->target_count];
    target->address = SIM_FUNCTION_BASE + (uint64_t)index * SIM_FUNCTION_STEP;
    target->callee = decode_callee(dec, f);
    if (target->callee < 0)
        return false;
    const struct code *callee = decode_code(dec, target->callee);
    c->target_count++;
    return decode_copies(dec, call->arg, call->arg_count, f->params, callee, true,
                         &target->args) &&
           decode_copies(dec, call->ret, call->ret_count, f->rets, callee, false,
                         &target->rets);
}

static bool same_sizes(struct decoder *dec, const struct ptx_operand *mine, int count,
                       struct ptx_var *const *theirs, int their_count)
{
    struct param_place place;
    for (int i = 0; i < count && count == their_count; i++)
        if (!call_area(dec, &mine[i], &place) || theirs[i]->size_bytes > place.stride)
            return false;
    return count == their_count;
}

/* Through a pointer: any function of the module that takes such arguments. */
static bool decode_indirect(struct decoder *dec, const struct ptx_call *call,
                            struct call_op *c, struct op *op)
{
    const struct ptx_module *module = decode_module_of(dec);
    c->indirect = true;
    c->targets =
        decode_alloc(dec, ((size_t)module->function_count + 1) * sizeof *c->targets);
    for (int i = 0; i < module->function_count; i++) {
        const struct ptx_function *f = module->functions[i];
        if (!f->is_entry && !f->is_declaration &&
            same_sizes(dec, call->arg, call->arg_count, f->params, f->param_count) &&
            same_sizes(dec, call->ret, call->ret_count, f->rets, f->ret_count) &&
            !add_target(dec, call, i, c))
            return false;
    }
    return decode_src(dec, &call->callee, PTX_U64, &op->s[0]);
}

/* A function of the driver: an instruction like others. What it does depends on the order
 * of blocks. */
static bool decode_syscall(struct decoder *dec, const struct ptx_call *call,
                           const struct syscall *s, struct op *op)
{
    struct syscall_op *o = decode_alloc(dec, sizeof *o);
    struct param_place place;
    if (call->arg_count != s->arg_count || call->ret_count > (s->ret_bytes != 0))
        return decode_fail(dec, "`%s` takes %d arguments", s->name, s->arg_count);
    for (int i = 0; i < s->arg_count; i++) {
        if (!call_area(dec, &call->arg[i], &place))
            return false;
        if (place.stride < s->arg_bytes[i])
            return decode_fail(dec, "argument %d is too small", i + 1);
        o->arg[i].area = place.area;
        o->arg[i].stride = place.stride;
    }
    if (call->ret_count == 1) {
        if (!call_area(dec, &call->ret[0], &place))
            return false;
        o->ret.area = place.area;
        o->ret.stride = place.stride;
        o->has_ret = true;
    }
    op->kind = OP_PLAIN;
    op->fn = s->fn;
    op->extra = o;
    dec->code->float_atomics = true;
    return true;
}

static bool decode_call(struct decoder *dec, const struct ptx_insn *in,
                        const struct mods *mods, struct op *op)
{
    (void)mods;
    const struct ptx_call *call = in->call;
    const struct ptx_module *module = decode_module_of(dec);
    struct call_op *c = decode_alloc(dec, sizeof *c);
    c->arg_count = call->arg_count;
    c->ret_count = call->ret_count;
    op->kind = OP_CALL;
    op->extra = c;
    if (call->callee.kind == PTX_OPERAND_REG)
        return decode_indirect(dec, call, c, op);
    for (int i = 0; i < module->function_count; i++) {
        const struct ptx_function *f = module->functions[i];
        if (call->callee.kind != PTX_OPERAND_SYMBOL ||
            strcmp(f->name, call->callee.symbol) != 0)
            continue;
        if (f->is_declaration && syscall_find(f->name) != NULL)
            return decode_syscall(dec, call, syscall_find(f->name), op);
        if (f->is_entry || f->is_declaration)
            return decode_fail(dec, "`%s` is %s", f->name,
                               f->is_entry ? "a kernel" : "not defined here");
        if (f->param_count != call->arg_count || f->ret_count != call->ret_count)
            return decode_fail(dec, "`%s` takes %d arguments and returns %d values",
                               f->name, f->param_count, f->ret_count);
        c->targets = decode_alloc(dec, sizeof *c->targets);
        return add_target(dec, call, i, c);
    }
    return decode_fail(dec, "the function is not declared");
}

static const struct op_row rows[] = {
    {"bra", "bra{.uni} label;", NULL, MOD_UNI, SIM_PIPE_CONTROL, 1, 1, decode_branch},
    {"brx", "brx.idx{.uni} r, targets;", NULL, MOD_UNI | MOD_MODE, SIM_PIPE_CONTROL, 2, 2,
     decode_branch_table},
    {"ret", "ret{.uni};", NULL, MOD_UNI, SIM_PIPE_CONTROL, 0, 0, decode_exit},
    {"exit", "exit;", NULL, 0, SIM_PIPE_CONTROL, 0, 0, decode_exit},
    {"call",
     "call{.uni} (ret), function, (arguments);  function: of the module, a pointer, or "
     "vprintf, __assertfail, malloc, free",
     NULL, MOD_UNI, SIM_PIPE_CONTROL, 0, 0, decode_call},
    {"trap", "trap;", NULL, 0, SIM_PIPE_CONTROL, 0, 0, decode_trap},
    {"brkpt", "brkpt;", NULL, 0, SIM_PIPE_CONTROL, 0, 0, decode_trap},
    {"nanosleep", "nanosleep.u32 t;", ".u32", MOD_TYPE, SIM_PIPE_CONTROL, 1, 1,
     decode_yield},
    {"pmevent", "pmevent{.mask} a;", NULL, MOD_MODE, SIM_PIPE_CONTROL, 1, 1,
     decode_nothing},
    {"griddepcontrol", "griddepcontrol.{launch_dependents,wait};", NULL, MOD_MODE,
     SIM_PIPE_CONTROL, 0, 0, decode_nothing},
    {"membar", "membar.{cta,gl,sys};  membar.proxy.alias;", NULL, MOD_SCOPE | MOD_PART,
     SIM_PIPE_LSU, 0, 0, decode_fence},
    {"fence", "fence{.order}.scope;  fence.proxy.alias;", NULL,
     MOD_ORDER | MOD_SCOPE | MOD_PART | MOD_MODE, SIM_PIPE_LSU, 0, 1, decode_fence},
    {"bar", "bar{.cta}.sync a{, b};  .arrive a, b;  .red.{popc,and,or} d, a{, b}, p;",
     ".u32 .pred", MOD_SYNC | MOD_SCOPE | MOD_MODE | MOD_BOOL | MOD_TYPE,
     SIM_PIPE_CONTROL, 1, 4, decode_barrier},
    {"barrier",
     "barrier{.cta}.sync{.aligned} a{, b};  .arrive a, b;  .red.{popc,and,or} d, a{, b}, "
     "p;",
     ".u32 .pred", MOD_SYNC | MOD_SCOPE | MOD_MODE | MOD_BOOL | MOD_TYPE,
     SIM_PIPE_CONTROL, 1, 4, decode_barrier},
};
const struct op_family ops_control = {rows, (int)(sizeof rows / sizeof *rows)};
