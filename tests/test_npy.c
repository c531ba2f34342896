/* test_npy.c - NumPy files: what is read, what is written, what is refused. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../host/bench/npy.h"

static char path[64];

static void make_path(void)
{
    strcpy(path, "/tmp/peakbound-npy-XXXXXX");
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
}

static void remove_path(void)
{
    unlink(path);
}

TestSuite(npy, .init = make_path, .fini = remove_path);

/* A file: version, header text, data. */
static void put(int version, const char *header, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    size_t length = strlen(header);
    unsigned char head[12] = {0x93,
                              'N',
                              'U',
                              'M',
                              'P',
                              'Y',
                              (unsigned char)version,
                              0,
                              (unsigned char)length,
                              (unsigned char)(length >> 8),
                              0,
                              0};
    fwrite(head, 1, version == 1 ? 10 : 12, file);
    fwrite(header, 1, length, file);
    fwrite(data, 1, bytes, file);
    fclose(file);
}

Test(npy, all_versions_orders_and_types_are_read)
{
    static const float f4[6] = {1, 2, 3, 4, 5, 6};
    static const double f8[6] = {1, 2, 3, 4, 5, 6};
    static const uint16_t f2[6] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600};
    static const struct {
        int version;
        const char *header;
        const void *data;
        size_t bytes;
        double corner; /* [1][0] */
    } cases[] = {
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n", f4, 24, 4},
        {2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}\n", f4, 24, 4},
        {3, "{\"shape\": (2, 3), 'fortran_order': True, 'descr': '<f8'}\n", f8, 48, 2},
        {1, "{'descr': '<f2', 'fortran_order': True, 'shape': (2,3), }", f2, 12, 2},
        {1, "{'descr': '=f8', 'fortran_order': False, 'shape': (6,), }\n", f8, 48, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct matrix m;
        struct error err = {0};
        bool rounded;
        put(cases[i].version, cases[i].header, cases[i].data, cases[i].bytes);
        cr_assert(npy_read(path, KERNEL_F32, &m, &rounded, &err), "case %zu: %s", i,
                  err.text);
        cr_expect_eq(matrix_get(&m, 1, 0), cases[i].corner, "case %zu", i);
        cr_expect(!rounded);
        matrix_free(&m);
    }
}

Test(npy, big_endian_is_read)
{
    static const unsigned char data[4] = {0x3f, 0x80, 0, 0};
    struct matrix m;
    bool rounded;
    put(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1), }", data, 4);
    cr_assert(npy_read(path, KERNEL_F32, &m, &rounded, NULL));
    cr_expect_eq(matrix_get(&m, 0, 0), 1.0);
    matrix_free(&m);
}

Test(npy, rounding_is_told)
{
    static const double data[1] = {1.0 / 3};
    struct matrix m;
    bool rounded;
    put(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }", data, 8);
    cr_assert(npy_read(path, KERNEL_F16, &m, &rounded, NULL));
    cr_expect(rounded);
    matrix_free(&m);
}

Test(npy, broken_files_are_refused_with_a_reason)
{
    static const struct {
        int version;
        const char *header;
        size_t bytes;
        const char *reason;
    } cases[] = {
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23,
         "does not go"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 25,
         "does not go"},
        {1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", 24,
         "not supported"},
        {1, "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3), }", 24,
         "True or False"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }", 24, "shape"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 1), }", 24,
         "shape"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (((2, 3), }", 24, "shape"},
        {1,
         "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 1), }",
         24, "shape"},
        {1,
         "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         24, "does not go"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", 0, "empty"},
        {1, "{'descr': '<f4', 'shape': (2, 3), }", 24, "lacks"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", 24,
         "unexpected key"},
        {1, "__import__('os')", 24, "dictionary"},
        {1, "{'descr': '', 'fortran_order': False, 'shape': (2, 3), }", 24, "type"},
        {1, "{'descr': '<f4x', 'fortran_order': False, 'shape': (2, 3), }", 24, "type"},
        {1, "{'descr': '<f 4', 'fortran_order': False, 'shape': (2, 3), }", 24, "type"},
        {1, "{'descr': '<f04', 'fortran_order': False, 'shape': (2, 3), }", 24, "type"},
        {1, "{'\x1b[2J': 1}", 24, "broken key"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } extra", 24,
         "behind"},
        {4, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24, "version"},
        {1, "", 0, "dictionary"},
    };
    static const unsigned char data[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct matrix m;
        struct error err = {0};
        bool rounded;
        put(cases[i].version, cases[i].header, data, cases[i].bytes);
        cr_expect(!npy_read(path, KERNEL_F32, &m, &rounded, &err), "case %zu was read",
                  i);
        cr_expect_eq(err.status, EXIT_USAGE, "case %zu: status %d", i, err.status);
        cr_expect(strstr(err.text, cases[i].reason) != NULL, "case %zu: %s", i, err.text);
        cr_expect(strstr(err.text, path) != NULL, "case %zu names no file: %s", i,
                  err.text);
    }
}

Test(npy, a_lying_header_length_is_refused)
{
    static const unsigned char data[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 2,
                                         0,    255, 255, 255, 127, '{'};
    struct npy_header header;
    struct error err = {0};
    cr_expect(!npy_parse_header(data, sizeof data, &header, &err));
    cr_expect(strstr(err.text, "claims") != NULL, "%s", err.text);
    for (size_t size = 0; size < sizeof data; size++)
        cr_expect(!npy_parse_header(data, size, &header, &err));
}

Test(npy, what_is_written_is_read_back)
{
    struct matrix m, back;
    struct error err = {0};
    bool rounded;
    cr_assert(matrix_alloc(&m, KERNEL_F16, 7, 5, NULL));
    matrix_fill_uniform(&m, 3);
    cr_assert(npy_write(path, &m, &err), "%s", err.text);
    cr_assert(npy_read(path, KERNEL_F16, &back, &rounded, &err), "%s", err.text);
    cr_expect_eq(matrix_hash(&m), matrix_hash(&back));
    matrix_free(&m);
    matrix_free(&back);
}

Test(npy, an_unwritable_place_is_told)
{
    struct matrix m;
    struct error err = {0};
    cr_assert(matrix_alloc(&m, KERNEL_F32, 1, 1, NULL));
    cr_expect(!npy_write("/nowhere/at/all/c.npy", &m, &err));
    cr_expect(strstr(err.text, "/nowhere/at/all/c.npy") != NULL, "%s", err.text);
    matrix_free(&m);
}

Test(npy, a_pipe_is_neither_waited_for_nor_replaced)
{
    struct matrix m;
    struct error err = {0};
    struct stat status;
    bool rounded;
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_expect(!npy_read(path, KERNEL_F32, &m, &rounded, &err));
    cr_expect(strstr(err.text, "regular file") != NULL, "%s", err.text);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    cr_assert_geq(reader, 0);
    cr_assert(matrix_alloc(&m, KERNEL_F32, 2, 3, NULL));
    matrix_fill_uniform(&m, 3);
    cr_expect(npy_write(path, &m, &err), "%s", err.text);
    cr_expect(lstat(path, &status) == 0 && S_ISFIFO(status.st_mode), "replaced");
    char first[6] = "";
    cr_expect_eq(read(reader, first, sizeof first), 6);
    cr_expect_eq(memcmp(first, "\x93NUMPY", 6), 0);
    close(reader);
    matrix_free(&m);
}

Test(npy, a_link_stays_and_its_file_keeps_its_mode)
{
    char link[80];
    struct matrix m, back;
    struct error err = {0};
    struct stat status;
    bool rounded;
    snprintf(link, sizeof link, "%s.link", path);
    cr_assert_eq(symlink(path, link), 0);
    cr_assert_eq(chmod(path, 0640), 0);
    cr_assert(matrix_alloc(&m, KERNEL_F32, 2, 3, NULL));
    matrix_fill_uniform(&m, 3);
    cr_expect(npy_write(link, &m, &err), "%s", err.text);
    cr_expect(lstat(link, &status) == 0 && S_ISLNK(status.st_mode), "link replaced");
    cr_expect(stat(path, &status) == 0 && (status.st_mode & 0777) == 0640);
    cr_expect(npy_read(path, KERNEL_F32, &back, &rounded, &err), "%s", err.text);
    unlink(link);
    matrix_free(&m);
    matrix_free(&back);
}
