/* test_guest_cli.c - somebody else's kernels through ./run: compiled, run, checked and
 * refused, each with its exit status. The kernels are in tests/guest/. */
#include <criterion/criterion.h>

#include "cli_fixture.h"

struct cli_case {
    const char *arguments;
    int status;
    const char *texts[5];
};

#define SIM "-d sim:a100 -s 40x50x60 "
#define SQUARE SIM "--grid N/16,M/16 --block 16,16 "
#define MATMUL SQUARE "--cu tests/guest/matmul.cu --args A,B,C,M,N,K --entry "
#define SCALE SIM "--ptx tests/guest/scale.ptx --grid M/64 --block 64 --args "

static void expect_all(const struct cli_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(cases[i].arguments, cases[i].status, cases[i].texts, 5);
}

static void need_nvcc(void)
{
    if (system("command -v nvcc >/dev/null 2>&1") != 0)
        cr_skip_test("no nvcc here");
}

Test(guest_cli, matmuls_are_checked_and_rated)
{
    static const struct cli_case cases[] = {
        {MATMUL "matmul",
         0,
         {"kernel matmul of tests/guest/matmul.cu", "alpha 1 (no f:", "pass", "TFLOPS",
          "_Z6matmulPKfS0_Pfiii"}},
        {MATMUL "matmul -k naive,7 -s 48",
         0,
         {"kernel matmul of tests/guest/matmul.cu, beside rungs", "matmul", "naive",
          "wmma", "x CPU"}},
        {MATMUL "matmul --check --counters", 0, {"pass", "sectors_per_request"}},
        {SQUARE "--cu tests/guest/types.cu --entry dgemm --in f64 --layout col "
                "--grid M/16,N/16 --args M,N,K,d:2,A,lda,B,ldb,d:-3,C,ldc",
         0,
         {"alpha 2 (d:2), beta -3 (d:-3)", "FP64 sum", "pass"}},
        {SQUARE "--cu tests/guest/types.cu --entry hgemm --in f16 --layout nt --args "
                "A,B,C:f16,M,N,K",
         0,
         {"in FP16, sum FP32, C FP16", "pass"}},
        {SQUARE "--cu tests/guest/types.cu --entry igemm --in s8 --layout tn --args "
                "A,B,C,M,N,K",
         0,
         {"exact", "pass"}},
        {SIM "--grid N/16,M/16 --block 16,16 --cu kernels/07_wmma.cu -s 64 --in f16 "
             "--block 128 --grid N/64,M/64 --args M,N,K,f:1,A,lda,B,ldb,f:0,C,ldc",
         0,
         {"tensor cores, FP16 in, FP32 sum", "pass"}},
    };
    need_nvcc();
    expect_all(cases, sizeof cases / sizeof *cases);
}

Test(guest_cli, wrong_matmuls_fail)
{
    static const struct cli_case cases[] = {
        {MATMUL "matmul_short", 1, {"FAIL", "the last product of k is missing"}},
        {MATMUL "matmul_unguarded",
         1,
         {"FAIL", "out_of_bounds at tests/guest/matmul.cu:36, block ("}},
        /* the right kernel, but not what it is told to compute */
        {MATMUL "matmul --layout nt", 1, {"FAIL", "too far off"}},
        {MATMUL "matmul --layout col", 1, {"FAIL", "too far off"}},
        {SQUARE "--cu tests/guest/types.cu --entry dgemm --in f64 --args "
                "M,N,K,d:2,A,lda,B,ldb,d:-3,C,ldc",
         1,
         {"FAIL"}},
    };
    need_nvcc();
    expect_all(cases, sizeof cases / sizeof *cases);
}

Test(guest_cli, other_kernels_only_run)
{
    static const struct cli_case cases[] = {
        {SIM "--cu tests/guest/row_sum.cu --entry row_sum --grid M --block 128 --args "
             "A,lda,l:K,buf:4*M,d:2 --counters",
         0,
         {"kernel row_sum", "expect   nothing", "unchecked", "barriers", "launch"}},
        {SIM "--cu tests/guest/row_sum.cu --entry grid_sum --grid 8 --block 64 --args "
             "buf:32,buf:32 --check",
         0,
         {"cooperative, grid 8", "unchecked"}},
        {SCALE "A,buf:4*M,M,f:3", 0, {"M 40, N 50, K 60", "unchecked"}},
        {SCALE "A,C,M,f:3 --expect none --check", 0, {"unchecked"}},
        {SCALE "A,buf:4*M-4,M,f:3",
         1,
         {"FAIL", "out_of_bounds at tests/guest/scale.ptx:27", "thread (39,0,0)"}},
    };
    need_nvcc();
    expect_all(cases, sizeof cases / sizeof *cases);
    char *text;
    int status = shell("", SCALE "A,buf:4*M,M,f:3 --json -", "2>&1", &text);
    cr_expect_eq(status, 0);
    cr_expect(
        strstr(text, "\"check\":\"skipped\"") && strstr(text, "\"tflops\":null") &&
            strstr(text, "\"entry\":\"scale\",\"source\":\"tests/guest/scale.ptx\""),
        "%s", text);
    free(text);
}

Test(guest_cli, kernels_may_print_and_assert)
{
    static const struct cli_case cases[] = {
        {SIM "--cu tests/guest/talks.cu --grid 1 --block 32 --args i:32,i:-1",
         0,
         {"thread 0 of 32\n", "thread 16 of 32\n", "kernel talks of"}},
        {SIM "--cu tests/guest/talks.cu --grid 1 --block 32 --args i:32,i:7",
         1,
         {"FAIL", "tests/guest/talks.cu:10", "thread (7,0,0)"}},
    };
    need_nvcc();
    expect_all(cases, sizeof cases / sizeof *cases);
    char *text;
    int status = shell("",
                       SIM "--cu tests/guest/talks.cu --grid 1 --block 32 --args "
                           "i:32,i:-1 --json -",
                       "2>/dev/null", &text);
    cr_expect(status == 0 && text[0] == '{' && !strstr(text, "thread 0"), "%s", text);
    free(text);
}

Test(guest_cli, leaks_are_told_with_checks_on)
{
#define FORGETS SIM "--cu tests/guest/forgets.cu --grid 1 --block 32 --args A,buf:4*M,i:"
    static const struct cli_case cases[] = {
        {FORGETS "-1 --check", 0, {"unchecked"}},
        {FORGETS "3", 0, {"unchecked"}},
        {FORGETS "3 --check",
         1,
         {"FAIL", "leak at tests/guest/forgets.cu:4", "64 bytes", "thread (3,0,0)"}},
    };
    need_nvcc();
    expect_all(cases, sizeof cases / sizeof *cases);
}

Test(guest_cli, grid_that_waits_must_be_resident)
{
    static const struct cli_case cases[] = {
        {SIM
         "--cu tests/guest/row_sum.cu --entry grid_sum --grid 217 --block 1024 --args "
         "buf:4*217,buf:4*217",
         2,
         {"--grid: the kernel waits for its whole grid", "at most 216 blocks",
          "not 217"}},
    };
    need_nvcc();
    expect_all(cases, sizeof cases / sizeof *cases);
}

Test(guest_cli, bad_usage_is_told)
{
    static const struct cli_case cases[] = {
        {"--grid 3", 2, {"--grid goes with --cu FILE or --ptx FILE"}},
        {"--ptx a --cu b", 2, {"--ptx cannot be given with --cu"}},
        {"--ptx a -l 3", 2, {"--lesson cannot be given with --ptx"}},
        {"--ptx a --a x.npy --b x.npy", 2, {"--a and --b cannot be given with --ptx"}},
        {"--ptx a -d cpu", 2, {"--device cpu cannot be given"}},
        {"--ptx", 2, {"--ptx needs a value"}},
        {SIM "--ptx a --block 3", 2, {"--grid is missing"}},
        {SIM "--ptx a --grid 3", 2, {"--block is missing"}},
        {SIM "--ptx /nonexistent --grid 3 --block 3",
         2,
         {"`/nonexistent` cannot be read"}},
        {SIM "--cu /nonexistent --grid 3 --block 3",
         2,
         {"`/nonexistent` cannot be read"}},
        {SIM "--ptx README.md --grid 3 --block 3",
         2,
         {"README.md:1:1: `#` stands where"}},
        {SCALE "A", 2, {"--args has 1 arguments, kernel scale takes 4 parameters"}},
        {SCALE "A,buf:4,M,d:3",
         2,
         {"argument 4 (d:3) has 8 bytes, parameter factor takes 4"}},
        {SCALE "A,C,M,f:3 --expect gemm", 2, {"A, B and C must be among --args"}},
        {SCALE "A,buf:4*M,M,f:3 --entry nix", 2, {"no kernel is called so", "scale"}},
        {SCALE "A,buf:4*M,M,f:3 --grid M-40", 2, {"--grid: `M-40` is 0"}},
        {SCALE "A,buf:4*M,M,f:3 --block 2000", 2, {"along x 1 to 1024"}},
        {SCALE "A,buf:4*M,M,f:3 --smem 200000", 2, {"--smem: 200000 bytes"}},
        {SCALE "A,buf:4*M,M,f:3 --cluster 2", 4, {"clusters", "not supported"}},
    };
    expect_all(cases, sizeof cases / sizeof *cases);
}

/* scale.ptx with one instruction changed, given as a file that is gone afterwards. */
static void expect_changed(const char *with, int status, const char *what)
{
    char file[] = "/tmp/peakbound_guest_XXXXXX", before[300], arguments[300];
    int descriptor = mkstemp(file);
    cr_assert_geq(descriptor, 0);
    close(descriptor);
    snprintf(before, sizeof before, "sed 's/mul.f32 .*/%s/' tests/guest/scale.ptx > %s;",
             with, file);
    snprintf(arguments, sizeof arguments,
             SIM "--ptx %s --grid 1 --block 64 --args A,buf:4*M,M,f:3", file);
    char *text;
    int got = shell(before, arguments, "2>&1", &text);
    unlink(file);
    cr_expect(got == status && strstr(text, what) && strstr(text, file),
              "%s: status %d: %s", with, got, text);
    free(text);
}

Test(guest_cli, broken_and_unsupported_ptx)
{
    expect_changed("mul.f32 %f3, %f2, %f1;", 0, "unchecked");
    expect_changed("mul.f32 %f3 %f2;", 2, ":25:17: `%f2` stands where `,` should");
    expect_changed("tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f1}, [a, {%f1}];", 4,
                   ":25: `tex.1d.v4.f32.f32` is not supported");
    expect_changed("frobnicate.f32 %f3, %f2;", 4, "see --list ptx");
}

Test(guest_cli, compilers)
{
    char *text;
    need_nvcc();
    /* what is wrong with the source is the compiler's to say */
    int status = shell("", SQUARE "--cu README.md", "2>&1", &text);
    cr_expect(status == 2 && strstr(text, "error:") &&
                  strstr(text, "nvcc did not compile `README.md`"),
              "status %d: %s", status, text);
    free(text);
    status =
        shell("env NVCC=/nonexistent CLANG=/nonexistent", MATMUL "matmul", "2>&1", &text);
    cr_expect(status == 3 && strstr(text, "neither nvcc nor clang"), "status %d: %s",
              status, text);
    free(text);
    if (system("command -v clang >/dev/null 2>&1") != 0)
        return;
    status = shell("env NVCC=/nonexistent", MATMUL "matmul", "2>&1", &text);
    cr_expect(status == 0 && strstr(text, "pass"), "status %d: %s", status, text);
    free(text);
}

Test(guest_cli, leaves_no_temporary_file)
{
    static const struct {
        const char *arguments;
        int status;
    } cases[] = {{MATMUL "matmul", 0}, {MATMUL "matmul_short", 1}, {MATMUL "nix", 2}};
    need_nvcc();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[] = "/tmp/peakbound_guest_XXXXXX", before[80], *text;
        cr_assert_not_null(mkdtemp(folder));
        snprintf(before, sizeof before, "env TMPDIR=%s", folder);
        int status = shell(before, cases[i].arguments, "2>&1", &text);
        cr_expect_eq(status, cases[i].status, "%s", text);
        cr_expect_eq(rmdir(folder), 0, "a file was left in %s", folder);
        free(text);
    }
}
