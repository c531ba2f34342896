/* test_async.c - cp.async, its groups, mbarriers; data that come late under --check. */
#include "tensor_fixture.h"

TestSuite(async, .init = open_tensor_device, .fini = close_device);

static uint8_t source[4096];
static uint32_t results[64 * 8]; /* 8 words a thread */

/* Run statements on `threads` threads: %rd0 is the source, %rd1 + 32 tid in %rd101 takes
 * 8 words, %r2 the address of `area` in shared memory, %r3 that + 16 tid. */
static CUresult run_threads(const char *statements, unsigned threads)
{
    struct text *t = malloc(sizeof *t);
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (uint8_t)(i * 13 + i / 256);
    memset(results, 0, sizeof results);
    struct buffer buffers[2] = {{.data = source, .bytes = sizeof source},
                                {.data = results, .bytes = sizeof results}};
    begin(t, 90, 2);
    add(t,
        "mad.wide.u32 %%rd101, %%r1000, 32, %%rd1;\nmad.wide.u32 %%rd100, %%r1000, 16, "
        "%%rd0;\nmov.u32 %%r2, area;\nmad.lo.u32 %%r3, %%r1000, 16, %%r2;\n%s",
        statements);
    CUresult result = finish(t, threads, buffers, 2);
    free(t);
    return result;
}

#define FILL_ONES                                         \
    "mov.u32 %r20, 0x11111111;\nst.shared.v4.b32 [%r3], " \
    "{%r20, %r20, %r20, %r20};\n"
#define SHOW                                              \
    "ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r3];\n" \
    "st.global.v4.b32 [%rd101], {%r10, %r11, %r12, %r13};\n"
#define WAIT "cp.async.commit_group;\ncp.async.wait_group 0;\n"

/* Bytes of the thread's 16: `size` copied, `taken` of them from the source. */
static void check_bytes(const char *what, int size, int taken)
{
    for (int lane = 0; lane < 32; lane++) {
        const uint8_t *got = (const uint8_t *)&results[8 * lane];
        for (int i = 0; i < 16; i++) {
            uint8_t want = i < taken ? source[16 * lane + i] : i < size ? 0 : 0x11;
            cr_assert_eq(got[i], want, "%s: lane %d byte %d is %02x, not %02x", what,
                         lane, i, got[i], want);
        }
    }
}

Test(async, copies_of_every_size_with_zero_fill)
{
    for (int check = 0; check < 2; check++) {
        sim_set_check(check);
        for (int size = 4; size <= 16; size *= 2)
            for (int cg = 0; cg <= (size == 16); cg++)
                for (int taken = -2; taken <= size; taken++) {
                    char body[1000], more[100] = "";
                    if (taken == -2) /* the source is to be ignored */
                        snprintf(more, sizeof more, ", %%p1");
                    else if (taken >= 0 && taken % 2 == 1)
                        snprintf(more, sizeof more, ", %%r4");
                    else if (taken >= 0)
                        snprintf(more, sizeof more, ", %d", taken);
                    snprintf(body, sizeof body,
                             "%smov.u32 %%r4, %d;\nsetp.eq.u32 %%p1, 0, 0;\n"
                             "cp.async.%s.shared.global%s [%%r3], [%%rd100], %d%s;\n%s",
                             FILL_ONES, taken, cg ? "cg" : "ca",
                             taken % 3 == 0 ? ".L2::128B" : "", size, more, WAIT SHOW);
                    cr_assert_eq(run_threads(body, 32), CUDA_SUCCESS, "%s: %s", body,
                                 sim_last_error());
                    check_bytes(body, size, taken == -1 ? size : taken == -2 ? 0 : taken);
                }
    }
}

/* A cache policy may stand last; only lanes that are on copy. */
Test(async, takes_a_policy_and_a_guard)
{
    cr_assert_eq(run_threads(FILL_ONES
                             "mov.b64 %rd50, 0x14F0000000000000;\n"
                             "cp.async.cg.shared.global.L2::cache_hint [%r3], [%rd100], "
                             "16, %rd50;\n" WAIT SHOW,
                             32),
                 CUDA_SUCCESS, "%s", sim_last_error());
    check_bytes("policy", 16, 16);
    cr_assert_eq(run_threads(FILL_ONES "and.b32 %r4, %r1000, 1;\nsetp.eq.u32 %p1, %r4, "
                                       "1;\n@%p1 cp.async.ca.shared.global [%r3], "
                                       "[%rd100], 4;\n" WAIT SHOW,
                             32),
                 CUDA_SUCCESS, "%s", sim_last_error());
    for (int lane = 0; lane < 32; lane++) {
        uint32_t word;
        memcpy(&word, source + 16 * lane, 4);
        cr_expect_eq(results[8 * lane], lane % 2 ? word : 0x11111111u, "lane %d", lane);
    }
}

#define COPY(n)                                                      \
    "cp.async.cg.shared.global [%r3+" #n "], [%rd100+" #n "], 16;\n" \
    "cp.async.commit_group;\n"
#define THREE_GROUPS COPY(0) COPY(1024) COPY(2048)

/* Which of three groups may be read after a wait; the others are in flight. */
Test(async, late_data_come_at_the_wait_for_their_group)
{
    static const struct {
        const char *wait;
        int arrived; /* groups, oldest first */
    } cases[] = {{"", 0},
                 {"cp.async.wait_group 3;\n", 0},
                 {"cp.async.wait_group 2;\n", 1},
                 {"cp.async.wait_group 1;\n", 2},
                 {"cp.async.wait_group 0;\n", 3},
                 {"cp.async.wait_all;\n", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int group = 0; group < 3; group++) {
            char body[1000];
            snprintf(body, sizeof body,
                     "%s%sld.shared.b32 %%r10, [%%r3+%d];\n"
                     "st.global.b32 [%%rd101], %%r10;\n",
                     THREE_GROUPS, cases[i].wait, 1024 * group);
            sim_set_check(false);
            cr_assert_eq(run_threads(body, 32), CUDA_SUCCESS, "%s", sim_last_error());
            sim_set_check(true);
            CUresult result = run_threads(body, 32);
            if (group >= cases[i].arrived) {
                expect_fault(result, SIM_IN_FLIGHT);
                open_tensor_device();
                continue;
            }
            cr_assert_eq(result, CUDA_SUCCESS, "%s: %s", body, sim_last_error());
            uint32_t word;
            memcpy(&word, source + 1024 * group, 4);
            cr_expect_eq(results[0], word);
        }
}

/* Groups are each thread's own; what was not committed comes with wait_all alone. */
Test(async, groups_belong_to_threads)
{
    sim_set_check(true);
    const char *late = "cp.async.ca.shared.global [%r3], [%rd100], 16;\n"
                       "cp.async.wait_group 0;\n" SHOW;
    expect_fault(run_threads(late, 32), SIM_IN_FLIGHT);
    open_tensor_device();
    sim_set_check(true);
    /* lanes 0-15 commit twice, the others once: wait_group 1 suffices for the first */
    const char *split = "cp.async.ca.shared.global [%r3], [%rd100], 16;\n"
                        "cp.async.commit_group;\nsetp.lt.u32 %p1, %r1000, 16;\n"
                        "@%p1 cp.async.commit_group;\ncp.async.wait_group 1;\n"
                        "@!%p1 bra $end;\n" SHOW "$end:\n";
    cr_assert_eq(run_threads(split, 32), CUDA_SUCCESS, "%s", sim_last_error());
    const char *whole = "cp.async.ca.shared.global [%r3], [%rd100], 16;\n"
                        "cp.async.commit_group;\nsetp.lt.u32 %p1, %r1000, 16;\n"
                        "@%p1 cp.async.commit_group;\ncp.async.wait_group 1;\n" SHOW;
    expect_fault(run_threads(whole, 32), SIM_IN_FLIGHT);
}

Test(async, addresses_are_checked)
{
    static const struct {
        const char *body;
        enum sim_fault_kind kind;
    } cases[] = {
        {"cp.async.cg.shared.global [%r3], [%rd0+4096], 16;\n", SIM_OUT_OF_BOUNDS},
        {"cp.async.cg.shared.global [%r3], [%rd0+4084], 16, 16;\n", SIM_MISALIGNED},
        {"cp.async.cg.shared.global [%r3+8], [%rd0], 16;\n", SIM_MISALIGNED},
        {"cp.async.ca.shared.global [%r3+16384], [%rd0], 4;\n", SIM_OUT_OF_BOUNDS},
        {"mov.u32 %r4, 17;\ncp.async.cg.shared.global [%r3], [%rd0], 16, %r4;\n",
         SIM_OUT_OF_BOUNDS},
        {"mbarrier.init.shared.b64 [%r2+4], 1;\n", SIM_MISALIGNED},
        {"mbarrier.init.shared.b64 [%r2+16384], 1;\n", SIM_OUT_OF_BOUNDS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_tensor_device();
        expect_fault(run_threads(cases[i].body, 32), cases[i].kind);
    }
    open_tensor_device();
    cr_expect_eq(run_threads("cp.async.cg.shared.global [%r3], [%rd0+4096], 16, 0;\n"
                             "cp.async.wait_all;\n",
                             32),
                 CUDA_SUCCESS, "nothing is read: %s", sim_last_error());
}

/* --- mbarriers --------------------------------------------------------------------------- */

/* One thread; results[i] is what word i of the answer must be. */
Test(async, phases_follow_arrivals)
{
    const char *body =
        "mbarrier.init.shared.b64 [%r2], 2;\n"
        /* fresh: parity 1 is over, parity 0 is not */
        "mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 1;\n"
        "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n"
        "mbarrier.arrive.shared.b64 %rd10, [%r2];\n"
        "mbarrier.pending_count.b64 %r10, %rd10;\n"
        "mbarrier.test_wait.shared.b64 %p3, [%r2], %rd10;\n"
        "mbarrier.arrive.release.cta.shared::cta.b64 %rd11, [%r2];\n"
        "mbarrier.pending_count.b64 %r11, %rd11;\n"
        "mbarrier.test_wait.shared.b64 %p4, [%r2], %rd10;\n"
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p5, [%r2], 0, 1000;\n"
        "mbarrier.try_wait.parity.shared.b64 %p6, [%r2], 1;\n"
        "mbarrier.arrive.shared.b64 %rd12, [%r2], 2;\n"
        "mbarrier.try_wait.shared.b64 %p7, [%r2], %rd12;\n"
        "mbarrier.inval.shared.b64 [%r2];\n"
        "st.global.v2.b32 [%rd101], {%r10, %r11};\n"
        "mov.u32 %r30, 0;\n"
        "@%p1 or.b32 %r30, %r30, 1;\n@%p2 or.b32 %r30, %r30, 2;\n"
        "@%p3 or.b32 %r30, %r30, 4;\n@%p4 or.b32 %r30, %r30, 8;\n"
        "@%p5 or.b32 %r30, %r30, 16;\n@%p6 or.b32 %r30, %r30, 32;\n"
        "@%p7 or.b32 %r30, %r30, 64;\n"
        "st.global.b32 [%rd101+8], %r30;\n";
    cr_assert_eq(run_threads(body, 1), CUDA_SUCCESS, "%s", sim_last_error());
    cr_expect_eq(results[0], 2, "pending before the first arrival: %u", results[0]);
    cr_expect_eq(results[1], 1, "pending before the second: %u", results[1]);
    cr_expect_eq(results[2], 1u | 8u | 16u | 64u, "waits: 0x%x", results[2]);
}

Test(async, phases_wait_for_bytes_too)
{
    const char *body =
        "mbarrier.init.shared.b64 [%r2], 1;\n"
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 48;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 %rd10, [%r2], 16;\n"
        "mbarrier.test_wait.shared.b64 %p1, [%r2], %rd10;\n"
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 60;\n"
        "mbarrier.test_wait.shared.b64 %p2, [%r2], %rd10;\n"
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 4;\n"
        "mbarrier.test_wait.shared.b64 %p3, [%r2], %rd10;\n"
        /* bytes may come before they are announced */
        "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 8;\n"
        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r2], 8;\n"
        "mbarrier.test_wait.parity.shared.b64 %p4, [%r2], 1;\n"
        "mov.u32 %r30, 0;\n"
        "@%p1 or.b32 %r30, %r30, 1;\n@%p2 or.b32 %r30, %r30, 2;\n"
        "@%p3 or.b32 %r30, %r30, 4;\n@%p4 or.b32 %r30, %r30, 8;\n"
        "st.global.b32 [%rd101], %r30;\n";
    cr_assert_eq(run_threads(body, 1), CUDA_SUCCESS, "%s", sim_last_error());
    cr_expect_eq(results[0], 4u | 8u, "waits: 0x%x", results[0]);
}

/* Four threads; two of them leave after the first phase. */
Test(async, dropped_arrivals_are_not_expected_again)
{
    const char *body =
        "setp.eq.u32 %p1, %r1000, 0;\n@%p1 mbarrier.init.shared.b64 [%r2], 4;\n"
        "bar.sync 0;\n"
        "setp.lt.u32 %p2, %r1000, 2;\n"
        "@%p2 mbarrier.arrive_drop.shared.b64 %rd10, [%r2];\n"
        "@!%p2 mbarrier.arrive.noComplete.shared.b64 %rd10, [%r2], 1;\n";
    const char *good =
        "setp.eq.u32 %p1, %r1000, 0;\n@%p1 mbarrier.init.shared.b64 [%r2], 4;\n"
        "bar.sync 0;\n"
        "setp.lt.u32 %p2, %r1000, 2;\n"
        "@!%p2 mbarrier.arrive.noComplete.shared.b64 %rd10, [%r2], 1;\n"
        "@%p2 mbarrier.arrive_drop.shared.b64 %rd10, [%r2];\n"
        "bar.sync 0;\n"
        "@!%p2 mbarrier.arrive.shared.b64 %rd11, [%r2];\n"
        "bar.sync 0;\n"
        "mbarrier.test_wait.parity.shared.b64 %p3, [%r2], 1;\n"
        "selp.u32 %r10, 1, 0, %p3;\nst.global.b32 [%rd101], %r10;\n";
    cr_assert_eq(run_threads(good, 4), CUDA_SUCCESS, "%s", sim_last_error());
    for (int i = 0; i < 4; i++)
        cr_expect_eq(results[8 * i], 1, "thread %d: the second phase is not over", i);
    expect_fault(run_threads(body, 4), SIM_BARRIER_DIVERGENCE);
}

Test(async, misuse_of_barriers_is_found)
{
    static const struct {
        const char *body;
        enum sim_fault_kind kind;
    } cases[] = {
        {"mbarrier.arrive.shared.b64 %rd10, [%r2];\n", SIM_UNINITIALIZED},
        {"mbarrier.init.shared.b64 [%r2], 1;\nmbarrier.inval.shared.b64 [%r2];\n"
         "mbarrier.test_wait.parity.shared.b64 %p1, [%r2], 0;\n",
         SIM_UNINITIALIZED},
        {"mbarrier.init.shared.b64 [%r2], 2;\n"
         "mbarrier.arrive.shared.b64 %rd10, [%r2], 3;\n",
         SIM_BARRIER_DIVERGENCE},
        {"mov.u32 %r4, 0;\nmbarrier.init.shared.b64 [%r2], %r4;\n", SIM_UNSUPPORTED},
        {"mov.u32 %r4, 0x100000;\nmbarrier.init.shared.b64 [%r2], %r4;\n",
         SIM_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_tensor_device();
        expect_fault(run_threads(cases[i].body, 1), cases[i].kind);
    }
}

/* Warp 0 copies a stage, warp 1 waits for it and adds it up; two stages, 6 turns. The
 * producer ties its copies to the barrier instead of waiting. */
static const char pipeline[] =
    "mov.u32 %r5, 0;\nmov.u32 %r6, 0;\n"
    "setp.eq.u32 %p1, %r1000, 0;\n"
    "@!%p1 bra $made;\n"
    "mbarrier.init.shared.b64 [%r2+8192], 32;\nmbarrier.init.shared.b64 [%r2+8200], 32;\n"
    "mbarrier.init.shared.b64 [%r2+8208], 32;\nmbarrier.init.shared.b64 [%r2+8216], 32;\n"
    "$made:\nbar.sync 0;\n"
    "and.b32 %r7, %r1000, 31;\nmad.lo.u32 %r8, %r7, 16, %r2;\n"
    "mad.wide.u32 %rd102, %r7, 16, %rd0;\n"
    "setp.ge.u32 %p2, %r1000, 32;\n"
    "$turn:\n"
    "and.b32 %r9, %r5, 1;\nshr.u32 %r10, %r5, 1;\nand.b32 %r10, %r10, 1;\n"
    "mad.lo.u32 %r11, %r9, 8, %r2;\nmad.lo.u32 %r12, %r9, 512, %r8;\n"
    "@%p2 bra $consume;\n"
    /* the stage is free when the consumer's barrier of the turn before last is over */
    "xor.b32 %r13, %r10, 1;\n"
    "$free:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r11+8208], %r13;\n"
    "@!%p3 bra $free;\n"
    "mad.wide.u32 %rd103, %r5, 512, %rd102;\n"
    "cp.async.cg.shared.global [%r12], [%rd103], 16;\n"
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r11+8192];\n"
    "bra.uni $next;\n"
    "$consume:\n"
    "$full:\nmbarrier.try_wait.parity.shared.b64 %p3, [%r11+8192], %r10;\n"
    "@!%p3 bra $full;\n"
    /* another lane's data */
    "xor.b32 %r14, %r7, 5;\nmad.lo.u32 %r15, %r14, 16, %r2;\n"
    "mad.lo.u32 %r15, %r9, 512, %r15;\nld.shared.b32 %r16, [%r15];\n"
    "add.u32 %r6, %r6, %r16;\n"
    "mbarrier.arrive.shared.b64 _, [%r11+8208];\n"
    "$next:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p4, %r5, 6;\n@%p4 bra $turn;\n"
    "st.global.b32 [%rd101], %r6;\n";

Test(async, a_pipeline_of_warps_hands_over_by_barriers)
{
    for (int check = 0; check < 2; check++) {
        sim_set_check(check);
        cr_assert_eq(run_threads(pipeline, 64), CUDA_SUCCESS, "check %d: %s", check,
                     sim_last_error());
        for (int lane = 0; lane < 32; lane++) {
            uint32_t sum = 0, word;
            for (int turn = 0; turn < 6; turn++) {
                memcpy(&word, source + 512 * turn + 16 * (lane ^ 5), 4);
                sum += word;
            }
            cr_expect_eq(results[8 * (32 + lane)], sum, "check %d lane %d: %x, not %x",
                         check, lane, results[8 * (32 + lane)], sum);
        }
    }
}

/* Without .noinc the arrival is not one of those that init counts. */
Test(async, arrivals_of_copies_with_and_without_increment)
{
    const char *body = "setp.eq.u32 %p1, %r1000, 0;\n"
                       "@%p1 mbarrier.init.shared.b64 [%r2+8192], 32;\nbar.sync 0;\n"
                       "cp.async.ca.shared.global [%r3], [%rd100], 8;\n"
                       "cp.async.mbarrier.arrive.shared::cta.b64 [%r2+8192];\n"
                       "mbarrier.test_wait.parity.shared.b64 %p2, [%r2+8192], 0;\n"
                       "bar.sync 0;\n"
                       "mbarrier.arrive.shared.b64 %rd10, [%r2+8192];\n"
                       "$wait:\n"
                       "mbarrier.test_wait.shared.b64 %p3, [%r2+8192], %rd10;\n"
                       "@!%p3 bra $wait;\n"
                       "selp.u32 %r10, 1, 0, %p2;\nst.global.b32 [%rd101], %r10;\n"
                       "ld.shared.b32 %r11, [%r3];\nst.global.b32 [%rd101+4], %r11;\n";
    for (int check = 0; check < 2; check++) {
        sim_set_check(check);
        cr_assert_eq(run_threads(body, 32), CUDA_SUCCESS, "check %d: %s", check,
                     sim_last_error());
        for (int lane = 0; lane < 32; lane++) {
            uint32_t word;
            memcpy(&word, source + 16 * lane, 4);
            cr_expect_eq(results[8 * lane], 0, "over before anybody arrived");
            cr_expect_eq(results[8 * lane + 1], word);
        }
    }
}

Test(async, refuses_bulk_copies_with_the_reason)
{
    static const char *const bodies[] = {
        "cp.async.bulk.commit_group;\n",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], "
        "[%rd0], "
        "16, [%r2];\n",
        "cp.async.bulk.wait_group.read 0;\n",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        cr_expect_neq(run_threads(bodies[i], 32), CUDA_SUCCESS, "%s", bodies[i]);
        cr_expect(strstr(sim_last_error(), "bulk copies are not supported") != NULL,
                  "%s: %s", bodies[i], sim_last_error());
    }
    cr_expect_neq(run_threads("cp.async.ca.shared.global [%r3], [%rd0], 5;\n", 32),
                  CUDA_SUCCESS);
    cr_expect(strstr(sim_last_error(), "a size of 5") != NULL, "%s", sim_last_error());
}
