/* ./run --explain: the account of each memory instruction (host/sim/explain.c), pictures
 * and advice (host/report/explain.c). */
#include "engine.h"

#include "../host/report/explain.h"

static struct sim_site site_of(bool shared, uint32_t bytes, uint32_t cost, uint32_t ideal,
                               uint64_t first, uint64_t stride)
{
    struct sim_site site = {.shared = shared,
                            .bytes = bytes,
                            .worst_cost = cost,
                            .worst_ideal = ideal,
                            .mask = 0xffffffffu};
    for (int l = 0; l < 32; l++)
        site.address[l] = first + (uint64_t)l * stride;
    return site;
}

static const char *picture(const struct sim_site *site)
{
    static char text[8192];
    FILE *file = tmpfile();
    explain_picture(file, site);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

Test(explain, draws_sectors)
{
    const struct {
        uint64_t first, stride;
        const char *rows[2];
    } cases[] = {
        {0x1000, 4, {"1000  [01234567][89abcdef][ghijklmn][opqrstuv]", NULL}},
        {0x1010,
         4,
         {"1000  [....0123][456789ab][cdefghij][klmnopqr]",
          "1080  [stuv....][        ][        ][        ]"}},
        {0x1000,
         8,
         {"1000  [0.1.2.3.][4.5.6.7.][8.9.a.b.][c.d.e.f.]",
          "1080  [g.h.i.j.][k.l.m.n.][o.p.q.r.][s.t.u.v.]"}},
        {0x1000,
         128,
         {"1000  [0.......][        ][        ][        ]", "... and 24 more"}},
        {0x1000, 0, {"1000  [*.......][        ][        ][        ]", NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sim_site site = site_of(false, 4, 1, 1, cases[i].first, cases[i].stride);
        const char *text = picture(&site);
        for (int k = 0; k < 2 && cases[i].rows[k] != NULL; k++)
            cr_expect_not_null(strstr(text, cases[i].rows[k]), "%s is not in\n%s",
                               cases[i].rows[k], text);
    }
}

Test(explain, draws_wavefronts)
{
    struct sim_site site = site_of(true, 4, 2, 1, 0, 8);
    const char *text = picture(&site);
    cr_expect_not_null(strstr(text, "1 [0 1 2 3 4 5 6 7 8 9 a b c d e f ]"), "%s", text);
    cr_expect_not_null(strstr(text, "2 [g h i j k l m n o p q r s t u v ]"), "%s", text);
    site = site_of(true, 4, 32, 1, 0, 128);
    text = picture(&site);
    cr_expect_not_null(strstr(text, "1 [0                               ]"), "%s", text);
    cr_expect_not_null(strstr(text, "... and 24 more wavefronts"), "%s", text);
    site = site_of(true, 16, 4, 4, 0, 16);
    text = picture(&site);
    cr_expect_not_null(strstr(text, "lanes 0 to 7, one of 4 phases"), "%s", text);
    cr_expect_not_null(strstr(text, "[00001111222233334444555566667777]"), "%s", text);
}

Test(explain, advises)
{
    const struct {
        struct sim_site site;
        const char *word;
    } cases[] = {
        {site_of(false, 4, 4, 4, 0, 4), "Nothing is wasted"},
        {site_of(false, 4, 5, 4, 16, 4), "begin inside a sector"},
        {site_of(false, 4, 32, 4, 0, 1024), "1024 bytes apart"},
        {site_of(true, 4, 32, 1, 0, 128), "32 words apart"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        explain_advice(text, sizeof text, &cases[i].site);
        cr_expect(strstr(text, cases[i].word) != NULL && strlen(text) < 98, "%s", text);
    }
}

/* A column of a matrix of 64 floats a row, read twice; and a row, written once. */
Test(explain, accounts_for_each_instruction)
{
    const char *body = "mad.wide.u32 %rd10, %r3, 256, %rd0;\n"
                       ".loc 1 7 0\nld.global.u32 %r10, [%rd10];\n"
                       "ld.global.u32 %r11, [%rd10+4];\n"
                       ".loc 1 8 0\nst.global.u32 [%rd1], %r10;\n";
    for (int threads = 1; threads <= 3; threads++) {
        int count;
        engine_good(&(struct program){.body = body,
                                      .grid = 4,
                                      .block = 64,
                                      .threads = threads,
                                      .explain = true,
                                      .keep = true});
        const struct sim_site *sites = sim_last_sites(&count);
        cr_assert_eq(count, 2, "%d sites", count);
        cr_expect(sites[0].line == 7 && sites[0].requests == 16 && sites[0].cost == 512 &&
                      sites[0].ideal == 64 && sites[0].worst_cost == 32 &&
                      sites[0].worst_ideal == 4 && !sites[0].store &&
                      sites[0].block[0] == 0 && sites[0].warp == 0,
                  "%d threads: line %d, %d requests, %d for %d", threads, sites[0].line,
                  (int)sites[0].requests, (int)sites[0].cost, (int)sites[0].ideal);
        cr_expect(sites[1].line == 8 && sites[1].cost == 32 && sites[1].ideal == 32 &&
                      sites[1].store,
                  "line %d: %d for %d", sites[1].line, (int)sites[1].cost,
                  (int)sites[1].ideal);
        sim_configure(&(struct sim_options){0});
        sim_last_sites(&count);
        cr_expect_eq(count, 0);
    }
}
