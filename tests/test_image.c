/* test_image.c - fatbins: the right PTX and the right machine code are taken,
 * and broken files are refused with a reason. */
#include "../host/sim/image.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PTX = 1,
    CUBIN = 2,
    LZ4 = 0x2000,
    ZSTD = 0x8000,
    CHIP = 0x100000,
    FAMILY = 0x200000
};

/* --- building images ------------------------------------------------------ */

struct buffer {
    unsigned char data[8192];
    size_t size;
};

static void put(struct buffer *b, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        b->data[b->size++] = (unsigned char)(value >> 8 * i);
}

static void put_at(struct buffer *b, size_t at, uint64_t value, int bytes)
{
    size_t size = b->size;
    b->size = at;
    put(b, value, bytes);
    b->size = size;
}

static void fatbin_begin(struct buffer *b)
{
    b->size = 0;
    put(b, 0xba55ed50, 4);
    put(b, 1, 2);
    put(b, 16, 2);
    put(b, 0, 8);
}

static void fatbin_add(struct buffer *b, int kind, int arch, uint64_t flags,
                       const void *payload, size_t size)
{
    size_t padded = (size + 7) / 8 * 8;
    put(b, (uint64_t)kind, 2);
    put(b, 0x101, 2);
    put(b, 64, 4);
    put(b, padded, 8);
    put(b, 0, 8); /* compressed size, options */
    put(b, 0, 4); /* version */
    put(b, (uint64_t)arch, 4);
    put(b, 0, 8); /* name */
    put(b, flags | 0x11, 8);
    put(b, 0, 8);
    put(b, 0, 8); /* full size */
    memcpy(b->data + b->size, payload, size);
    memset(b->data + b->size + size, 0, padded - size);
    b->size += padded;
    put_at(b, 8, b->size - 16, 8);
}

static void fatbin_add_ptx(struct buffer *b, int arch, uint64_t flags, const char *text)
{
    fatbin_add(b, PTX, arch, flags, text, strlen(text));
}

/* A cubin with one kernel `k` and a function `h` that it calls, as ptxas would
 * write it. */
static void make_cubin(struct buffer *b, int registers, int shared, int frame,
                       bool reserved)
{
    static const char names[] = "\0.shstrtab\0.symtab\0.nv.info\0.text.k\0.nv.shared.k\0"
                                ".nv.shared.reserved.0\0k\0h";
    static const struct {
        int name, type, link, info;
    } rows[] = {{0, 0, 0, 0},  {1, 3, 0, 0},  {11, 2, 1, 0}, {19, 0x70000000, 2, 0},
                {28, 1, 0, 0}, {36, 8, 0, 4}, {49, 8, 0, 0}};
    enum { SECTIONS = 7, K_NAME = 71, H_NAME = 73, K_CODE = 4 };
    size_t size[SECTIONS] = {0, sizeof names, 72, 36, 8, 0, 0}, at[SECTIONS];
    memset(b, 0, sizeof *b);
    put(b, 0x464c457f, 4);
    put(b, 0x010102, 3);
    b->size = 64;
    for (int i = 0; i < SECTIONS; i++) {
        at[i] = b->size;
        b->size += (size[i] + 7) / 8 * 8;
    }
    memcpy(b->data + at[1], names, sizeof names);
    put_at(b, at[2] + 24, K_NAME, 4); /* symbol 1: function k in section 4 */
    put_at(b, at[2] + 28, 0x12, 1);
    put_at(b, at[2] + 30, K_CODE, 2);
    put_at(b, at[2] + 48, H_NAME, 4); /* symbol 2: function h, the same section */
    put_at(b, at[2] + 52, 0x12, 1);
    put_at(b, at[2] + 54, K_CODE, 2);
    put_at(b, at[3], 0x00082f04, 4); /* registers of symbol 1 */
    put_at(b, at[3] + 4, 1, 4);
    put_at(b, at[3] + 8, (uint64_t)registers, 4);
    put_at(b, at[3] + 12, 0x00081104, 4); /* frame of symbol 1 */
    put_at(b, at[3] + 16, 1, 4);
    put_at(b, at[3] + 20, (uint64_t)frame, 4);
    put_at(b, at[3] + 24, 0x00081204, 4); /* stack of symbol 2 */
    put_at(b, at[3] + 28, 2, 4);
    put_at(b, at[3] + 32, 4000, 4);
    size[5] = (size_t)shared;
    put_at(b, 40, b->size, 8);
    put_at(b, 58, 64, 2);
    int count = reserved ? SECTIONS : SECTIONS - 1;
    put_at(b, 60, (uint64_t)count, 2);
    put_at(b, 62, 1, 2);
    for (int i = 0; i < count; i++) {
        size_t h = b->size;
        b->size += 64;
        put_at(b, h, (uint64_t)rows[i].name, 4);
        put_at(b, h + 4, (uint64_t)rows[i].type, 4);
        put_at(b, h + 24, at[i], 8);
        put_at(b, h + 32, size[i], 8);
        put_at(b, h + 40, (uint64_t)rows[i].link, 4);
        put_at(b, h + 44, (uint64_t)rows[i].info, 4);
    }
}

/* --- choosing ------------------------------------------------------------- */

Test(image, takes_the_newest_ptx_that_the_device_runs)
{
    static struct buffer b;
    fatbin_begin(&b);
    fatbin_add_ptx(&b, 75, 0, "ptx75");
    fatbin_add_ptx(&b, 90, CHIP, "ptx90a");
    fatbin_add_ptx(&b, 80, 0, "ptx80");
    fatbin_add_ptx(&b, 90, 0, "ptx90");
    fatbin_add_ptx(&b, 100, FAMILY, "ptx100f");
    fatbin_add_ptx(&b, 120, 0, "ptx120");
    fatbin_add_ptx(&b, 120, FAMILY, "ptx120f");
    static const struct {
        int cc;
        const char *text; /* NULL: refused */
    } cases[] = {{70, NULL},     {75, "ptx75"},   {80, "ptx80"},    {86, "ptx80"},
                 {89, "ptx80"},  {90, "ptx90a"},  {100, "ptx100f"}, {103, "ptx100f"},
                 {110, "ptx90"}, {120, "ptx120f"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct image image;
        struct error err = {0};
        bool good = image_open(b.data, b.size, cases[i].cc, &image, &err);
        cr_expect_eq(good, cases[i].text != NULL, "sm_%d: %s", cases[i].cc, err.text);
        if (good)
            cr_expect_str_eq(image.ptx, cases[i].text, "sm_%d: %s", cases[i].cc,
                             image.ptx);
        else
            cr_expect_eq(err.status, EXIT_MISSING);
        image_close(&image);
    }
}

Test(image, takes_the_machine_code_of_the_device)
{
    static struct buffer b, cubin;
    fatbin_begin(&b);
    fatbin_add_ptx(&b, 75, 0, "ptx");
    static const struct {
        int arch, registers;
        uint64_t flags;
    } codes[] = {{80, 80, 0}, {86, 86, 0}, {90, 91, CHIP}, {100, 100, FAMILY}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        make_cubin(&cubin, codes[i].registers, 64, 16, false);
        fatbin_add(&b, CUBIN, codes[i].arch, codes[i].flags, cubin.data, cubin.size);
    }
    static const struct {
        int cc, arch, registers;
    } cases[] = {{75, 0, 0}, {80, 80, 80},    {86, 86, 86},    {89, 86, 86}, {90, 90, 91},
                 {91, 0, 0}, {100, 100, 100}, {103, 100, 100}, {120, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct image image;
        struct error err = {0};
        cr_assert(image_open(b.data, b.size, cases[i].cc, &image, &err), "%s", err.text);
        cr_expect_eq(image.machine_arch, cases[i].arch, "sm_%d: machine code for %d",
                     cases[i].cc, image.machine_arch);
        cr_expect_eq(image.kernel_count, cases[i].arch != 0);
        if (image.kernel_count)
            cr_expect_eq(image.kernels[0].registers, cases[i].registers);
        image_close(&image);
    }
}

Test(image, reads_registers_and_memory_of_a_kernel)
{
    static const struct {
        int registers, section, frame, shared;
        bool reserved; /* as from sm_90: 1024 bytes are the system's */
    } cases[] = {{40, 4256, 320, 4256, false},
                 {255, 0, 0, 0, false},
                 {40, 5280, 8, 4256, true},
                 {16, 1024, 0, 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct buffer b, cubin;
        make_cubin(&cubin, cases[i].registers, cases[i].section, cases[i].frame,
                   cases[i].reserved);
        fatbin_begin(&b);
        fatbin_add_ptx(&b, 80, 0, "ptx");
        fatbin_add(&b, CUBIN, 80, 0, cubin.data, cubin.size);
        struct image image;
        cr_assert(image_open(b.data, b.size, 80, &image, NULL));
        cr_assert_eq(image.kernel_count, 1, "case %zu", i);
        cr_expect_str_eq(image.kernels[0].name, "k");
        cr_expect_eq(image.kernels[0].registers, cases[i].registers, "case %zu", i);
        cr_expect_eq(image.kernels[0].static_smem_bytes, cases[i].shared, "case %zu: %d",
                     i, image.kernels[0].static_smem_bytes);
        cr_expect_eq(image.kernels[0].local_bytes, cases[i].frame, "case %zu", i);
        image_close(&image);
    }
}

Test(image, takes_text_for_this_device_only)
{
    static const struct {
        const char *text;
        int cc, arch;
        bool good;
    } cases[] = {
        {".version 9.0\n.target sm_80\n", 80, 80, true},
        {"// .target sm_90\n/* x */ .version 7.0 .target sm_75, debug", 80, 75, true},
        {".version 9.0\n.target sm_90a\n", 90, 90, true},
        {".version 9.0\n.target sm_90a\n", 100, 90, false},
        {".version 9.0\n.target sm_100f\n", 103, 100, true},
        {".version 9.0\n.target sm_100f\n", 120, 100, false},
        {".version 9.0\n.target sm_89\n", 80, 89, false},
        {"hello", 80, 0, true}, /* the parser will say what is wrong */
        {"/* never closed", 80, 0, true},
        {".version", 80, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct image image;
        struct error err = {0};
        bool good = image_open(cases[i].text, SIZE_MAX, cases[i].cc, &image, &err);
        cr_expect_eq(good, cases[i].good, "\"%s\" on sm_%d: %s", cases[i].text,
                     cases[i].cc, err.text);
        if (good) {
            cr_expect_eq(image.ptx_arch, cases[i].arch, "\"%s\": %d", cases[i].text,
                         image.ptx_arch);
            cr_expect_str_eq(image.ptx, cases[i].text);
        }
        image_close(&image);
    }
}

/* --- refusing ------------------------------------------------------------- */

Test(image, says_that_machine_code_alone_cannot_run)
{
    static struct buffer b, cubin;
    make_cubin(&cubin, 10, 0, 0, false);
    fatbin_begin(&b);
    fatbin_add(&b, CUBIN, 80, 0, cubin.data, cubin.size);
    const struct buffer *images[] = {&cubin, &b};
    for (int i = 0; i < 2; i++) {
        struct image image;
        struct error err = {0};
        cr_assert_not(image_open(images[i]->data, images[i]->size, 80, &image, &err));
        cr_expect_eq(err.status, EXIT_MISSING);
        cr_expect(strstr(err.text, "needs PTX"), "%s", err.text);
        cr_expect(strstr(err.text, "code=compute_80"), "%s", err.text);
    }
}

Test(image, refuses_a_cut_fatbin_at_every_length)
{
    static struct buffer b, cubin;
    make_cubin(&cubin, 10, 0, 0, false);
    fatbin_begin(&b);
    fatbin_add(&b, CUBIN, 80, 0, cubin.data, cubin.size);
    fatbin_add_ptx(&b, 80, 0, "ptx");
    for (size_t size = 4; size < b.size; size++) {
        unsigned char *copy = malloc(size); /* so that the sanitizer sees the end */
        memcpy(copy, b.data, size);
        struct image image;
        struct error err = {0};
        cr_assert_not(image_open(copy, size, 80, &image, &err), "%zu bytes", size);
        cr_assert_eq(err.status, EXIT_USAGE, "%zu bytes: %s", size, err.text);
        free(copy);
    }
}

Test(image, survives_a_wrong_byte_anywhere)
{
    static struct buffer b, cubin;
    make_cubin(&cubin, 10, 2000, 8, true);
    fatbin_begin(&b);
    fatbin_add_ptx(&b, 80, 0, "ptx");
    fatbin_add(&b, CUBIN, 80, 0, cubin.data, cubin.size);
    for (size_t at = 0; at < b.size; at++) {
        for (int value = 0; value < 256; value += 51) {
            unsigned char *copy = malloc(b.size);
            memcpy(copy, b.data, b.size);
            copy[at] = (unsigned char)value;
            struct image image;
            struct error err = {0};
            if (!image_open(copy, b.size, 80, &image, &err))
                cr_assert_neq(err.text[0], '\0', "byte %zu = %d: no reason", at, value);
            image_close(&image);
            free(copy);
        }
    }
}

Test(image, refuses_absurd_sizes)
{
    static const struct {
        size_t at;
        uint64_t value;
        int bytes;
    } cases[] = {
        {8, UINT64_MAX, 8},           /* all entries */
        {6, 8, 2},                    /* header */
        {16 + 4, 0, 4},               /* header of the entry */
        {16 + 4, UINT32_MAX, 4},      /* the same */
        {16 + 8, UINT64_MAX - 63, 8}, /* payload: sum with the header wraps */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct buffer b;
        fatbin_begin(&b);
        fatbin_add_ptx(&b, 80, 0, "ptx");
        put_at(&b, cases[i].at, cases[i].value, cases[i].bytes);
        struct image image;
        struct error err = {0};
        cr_expect_not(image_open(b.data, b.size, 80, &image, &err), "case %zu", i);
        cr_expect_eq(err.status, EXIT_USAGE, "case %zu: %s", i, err.text);
    }
}

Test(image, refuses_compressed_data_that_does_not_unpack)
{
    static const uint64_t sizes[] = {0, 100, 1u << 20, UINT64_MAX};
    static const int methods[] = {LZ4, ZSTD};
    for (int m = 0; m < 2; m++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            static struct buffer b;
            fatbin_begin(&b);
            fatbin_add_ptx(&b, 80, (uint64_t)methods[m], "not compressed at all");
            put_at(&b, 16 + 16, 21, 4);
            put_at(&b, 16 + 56, sizes[i], 8);
            struct image image;
            struct error err = {0};
            cr_expect_not(image_open(b.data, b.size, 80, &image, &err));
            cr_expect(err.status == EXIT_USAGE || strstr(err.text, "is not here"),
                      "method %x, %llu bytes: %s", (unsigned)methods[m],
                      (unsigned long long)sizes[i], err.text);
        }
    }
}

/* --- what nvcc really writes ---------------------------------------------- */

static size_t read_file(const char *name, unsigned char *data, size_t room)
{
    char path[200];
    snprintf(path, sizeof path, "tests/fuzz/corpus_image/%s", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        cr_skip_test("%s is not here: run from the repository's root", path);
    size_t size = fread(data, 1, room, file);
    fclose(file);
    return size;
}

Test(image, reads_what_nvcc_13_writes)
{
    static const struct {
        const char *name;
        int cc, ptx_arch, machine_arch, registers, shared;
    } cases[] = {
        {"sm80_none.fatbin", 80, 80, 80, 10, 16},
        {"sm80_size.fatbin", 80, 80, 80, 10, 16}, /* zstd */
        {"ptx_lz4.fatbin", 89, 80, 0, 0, 0},
        {"sm90a_none.fatbin", 90, 90, 90, 10, 16},
        {"text.ptx", 86, 80, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static unsigned char data[1 << 16];
        size_t size = read_file(cases[i].name, data, sizeof data);
        struct image image;
        struct error err = {0};
        bool good = image_open(data, size, cases[i].cc, &image, &err);
        if (!good && strstr(err.text, "is not here"))
            continue; /* no library to decompress with: refused as it should be */
        cr_assert(good, "%s: %s", cases[i].name, err.text);
        cr_expect(strstr(image.ptx, ".visible .entry f("), "%s", cases[i].name);
        cr_expect_eq(strlen(image.ptx), image.ptx_length);
        cr_expect_eq(image.ptx_arch, cases[i].ptx_arch, "%s", cases[i].name);
        cr_expect_eq(image.machine_arch, cases[i].machine_arch, "%s", cases[i].name);
        cr_expect_eq(image.kernel_count, cases[i].machine_arch != 0);
        if (image.kernel_count) {
            cr_expect_eq(image.kernels[0].registers, cases[i].registers, "%s: %d",
                         cases[i].name, image.kernels[0].registers);
            cr_expect_eq(image.kernels[0].static_smem_bytes, cases[i].shared, "%s: %d",
                         cases[i].name, image.kernels[0].static_smem_bytes);
        }
        image_close(&image);
    }
}
