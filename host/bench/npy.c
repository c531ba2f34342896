/* npy.c - see npy.h. The header is a Python dictionary; only the three keys that
 * NumPy writes are understood, in any order, and nothing else. */
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../output_file.h"

/* --- header ------------------------------------------------------------------------- */

struct cursor {
    const char *at, *end;
};

static void skip_blank(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
        c->at++;
}

static bool accept(struct cursor *c, char wanted)
{
    skip_blank(c);
    if (c->at >= c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

/* 'text' or "text" */
static bool read_string(struct cursor *c, char *text, size_t room)
{
    skip_blank(c);
    if (c->at >= c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    size_t length = 0;
    while (c->at < c->end && *c->at != quote) {
        if (length + 1 >= room || (unsigned char)*c->at < ' ')
            return false;
        text[length++] = *c->at++;
    }
    text[length] = '\0';
    if (c->at >= c->end)
        return false;
    c->at++;
    return true;
}

static bool read_word(struct cursor *c, const char *word)
{
    size_t length = strlen(word);
    skip_blank(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* (m, n) or (n,) */
static bool read_shape(struct cursor *c, struct npy_header *h)
{
    size_t extent[2] = {0, 1};
    int count = 0;
    if (!accept(c, '('))
        return false;
    while (!accept(c, ')')) {
        skip_blank(c);
        size_t value = 0;
        const char *start = c->at;
        while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
            if (__builtin_mul_overflow(value, (size_t)10, &value) ||
                __builtin_add_overflow(value, (size_t)(*c->at - '0'), &value))
                return false;
            c->at++;
        }
        if (c->at == start || count == 2)
            return false;
        extent[count++] = value;
        if (!accept(c, ',')) {
            if (!accept(c, ')'))
                return false;
            break;
        }
    }
    h->rows = extent[0];
    h->cols = extent[1];
    return count >= 1;
}

static bool read_descr(struct cursor *c, struct npy_header *h, struct error *err)
{
    char text[16];
    if (!read_string(c, text, sizeof text))
        return error_set(err, EXIT_USAGE, "the header's descr is no text like '<f4'");
    bool known = strlen(text) == 3 && strchr("<>=|", text[0]) != NULL && text[1] == 'f' &&
                 strchr("248", text[2]) != NULL;
    h->big_endian = text[0] == '>';
    h->kind = 'f';
    h->bytes = known ? text[2] - '0' : 0;
    if (!known)
        return error_set(err, EXIT_USAGE,
                         "element type '%s' is not supported: f2, f4 and f8 are", text);
    return true;
}

static bool read_dictionary(struct cursor *c, struct npy_header *h, struct error *err)
{
    bool descr = false, order = false, shape = false;
    if (!accept(c, '{'))
        return error_set(err, EXIT_USAGE, "the header is no dictionary");
    while (!accept(c, '}')) {
        char key[24];
        if (!read_string(c, key, sizeof key) || !accept(c, ':'))
            return error_set(err, EXIT_USAGE, "the header has a broken key");
        if (strcmp(key, "descr") == 0 && !descr) {
            descr = true;
            if (!read_descr(c, h, err))
                return false;
        } else if (strcmp(key, "fortran_order") == 0 && !order) {
            order = true;
            h->fortran = read_word(c, "True");
            if (!h->fortran && !read_word(c, "False"))
                return error_set(err, EXIT_USAGE, "fortran_order is not True or False");
        } else if (strcmp(key, "shape") == 0 && !shape) {
            shape = true;
            if (!read_shape(c, h))
                return error_set(err, EXIT_USAGE,
                                 "the shape is not one or two whole numbers");
        } else {
            return error_set(err, EXIT_USAGE, "the header has an unexpected key '%s'",
                             key);
        }
        if (!accept(c, ',') && !(accept(c, '}') && (c->at--, true)))
            return error_set(err, EXIT_USAGE,
                             "the header is not a dictionary as NumPy "
                             "writes it");
    }
    return (descr && order && shape) ||
           error_set(err, EXIT_USAGE, "the header lacks descr, fortran_order or shape");
}

bool npy_parse_header(const unsigned char *data, size_t size, struct npy_header *h,
                      struct error *err)
{
    static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    memset(h, 0, sizeof *h);
    if (size < 10 || memcmp(data, magic, sizeof magic) != 0)
        return error_set(err, EXIT_USAGE, "this is not a .npy file (no NumPy magic)");
    int version = data[6];
    size_t start = version == 1 ? 10 : 12;
    if (version < 1 || version > 3)
        return error_set(err, EXIT_USAGE, "format version %d.%d; 1 to 3 are supported",
                         version, data[7]);
    if (size < start)
        return error_set(err, EXIT_USAGE, "the file ends inside its header");
    size_t length = (size_t)data[8] | (size_t)data[9] << 8;
    if (version > 1)
        length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (length > size - start)
        return error_set(err, EXIT_USAGE, "the header claims %zu bytes, the file has %zu",
                         length, size - start);
    struct cursor c = {(const char *)data + start, (const char *)data + start + length};
    if (!read_dictionary(&c, h, err))
        return false;
    skip_blank(&c);
    if (c.at != c.end)
        return error_set(err, EXIT_USAGE, "text stands behind the header's dictionary");
    h->data_offset = start + length;
    return true;
}

/* --- reading ------------------------------------------------------------------------ */

/* Enough of the file for any sane header. */
enum { HEADER_MOST = 1 << 20 };

static bool read_header(FILE *file, size_t file_size, struct npy_header *h,
                        struct error *err)
{
    size_t want = file_size < HEADER_MOST ? file_size : HEADER_MOST;
    unsigned char *head = xmalloc(want + 1);
    size_t got = fread(head, 1, want, file);
    bool good = npy_parse_header(head, got, h, err);
    free(head);
    return good;
}

static double element(const unsigned char *at, const struct npy_header *h)
{
    unsigned char bytes[8];
    uint16_t half;
    float f32;
    double f64;
    for (int i = 0; i < h->bytes; i++)
        bytes[i] = at[h->big_endian ? h->bytes - 1 - i : i];
    switch (h->bytes) {
    case 2:
        memcpy(&half, bytes, 2);
        return half_to_float(half);
    case 4:
        memcpy(&f32, bytes, 4);
        return f32;
    default:
        memcpy(&f64, bytes, 8);
        return f64;
    }
}

static bool read_cells(FILE *file, const struct npy_header *h, struct matrix *m,
                       bool *rounded)
{
    size_t outer = h->fortran ? h->cols : h->rows, inner = h->fortran ? h->rows : h->cols;
    unsigned char *line = xmalloc(inner * (size_t)h->bytes + 1);
    bool good = true;
    for (size_t i = 0; i < outer && good; i++) {
        good = fread(line, (size_t)h->bytes, inner, file) == inner;
        for (size_t k = 0; k < inner && good; k++) {
            double value = element(line + k * (size_t)h->bytes, h);
            size_t row = h->fortran ? k : i, col = h->fortran ? i : k;
            matrix_set(m, row, col, value);
            double kept = matrix_get(m, row, col);
            *rounded |= kept != value && value == value;
        }
    }
    free(line);
    return good;
}

static bool read_open(FILE *file, const char *path, int type, struct matrix *m,
                      bool *rounded, struct error *err)
{
    struct stat info;
    struct npy_header h;
    struct error inner = {0};
    size_t cells, bytes;
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
        return error_set(err, EXIT_USAGE, "%s: not a regular file", path);
    size_t size = (size_t)info.st_size;
    if (!read_header(file, size, &h, &inner))
        return error_set(err, EXIT_USAGE, "%s: %s", path, inner.text);
    if (h.rows == 0 || h.cols == 0)
        return error_set(err, EXIT_USAGE, "%s: the matrix is empty (%zu x %zu)", path,
                         h.rows, h.cols);
    if (__builtin_mul_overflow(h.rows, h.cols, &cells) ||
        __builtin_mul_overflow(cells, (size_t)h.bytes, &bytes) ||
        bytes != size - h.data_offset)
        return error_set(
            err, EXIT_USAGE,
            "%s: a %zu x %zu matrix of f%d does not go with %zu bytes of data", path,
            h.rows, h.cols, h.bytes, size - h.data_offset);
    if (!matrix_alloc(m, type, h.rows, h.cols, &inner))
        return error_set(err, EXIT_USAGE, "%s: %s", path, inner.text);
    if (fseek(file, (long)h.data_offset, SEEK_SET) != 0 ||
        !read_cells(file, &h, m, rounded)) {
        matrix_free(m);
        return error_set(err, EXIT_USAGE, "%s: cannot be read to its end", path);
    }
    return true;
}

bool npy_read(const char *path, int type, struct matrix *m, bool *rounded,
              struct error *err)
{
    *rounded = false;
    memset(m, 0, sizeof *m);
    /* a pipe would make a plain open wait for its writer */
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (file == NULL)
        return error_set(err, EXIT_USAGE, "%s: %s", path, strerror(errno));
    bool good = read_open(file, path, type, m, rounded, err);
    fclose(file);
    return good;
}

/* --- writing ------------------------------------------------------------------------ */

static int descr_bytes(int type)
{
    return type == KERNEL_F16 ? 2 : type == KERNEL_F64 ? 8 : 4;
}

static bool write_file(FILE *file, const struct matrix *m)
{
    char text[160];
    int bytes = descr_bytes(m->type);
    bool integer = m->type == KERNEL_S32;
    int length =
        snprintf(text, sizeof text,
                 "{'descr': '<%c%d', 'fortran_order': False, 'shape': (%zu, %zu), }",
                 integer ? 'i' : 'f', bytes, m->rows, m->cols);
    while ((10 + length + 1) % 64 != 0)
        text[length++] = ' ';
    text[length++] = '\n';
    unsigned char head[10] = {0x93,
                              'N',
                              'U',
                              'M',
                              'P',
                              'Y',
                              1,
                              0,
                              (unsigned char)length,
                              (unsigned char)(length >> 8)};
    bool good = fwrite(head, 1, sizeof head, file) == sizeof head &&
                fwrite(text, 1, (size_t)length, file) == (size_t)length;
    bool plain = kernel_type_bytes(m->type) == bytes;
    for (size_t row = 0; row < m->rows && good; row++) {
        if (plain) {
            const unsigned char *line = m->data + row * m->stride * (size_t)bytes;
            good = fwrite(line, (size_t)bytes, m->cols, file) == m->cols;
            continue;
        }
        for (size_t col = 0; col < m->cols && good; col++) {
            float value = (float)matrix_get(m, row, col);
            good = fwrite(&value, sizeof value, 1, file) == 1;
        }
    }
    return good;
}

static bool write_failed(const char *path, struct error *err)
{
    return error_set(err, EXIT_USAGE, "%s: cannot be written: %s", path,
                     errno ? strerror(errno) : "the device is full or gone");
}

bool npy_write(const char *path, const struct matrix *m, struct error *err)
{
    struct output_file file;
    if (!output_file_open(&file, path))
        return write_failed(path, err);
    bool written = write_file(file.stream, m);
    int problem = errno;
    bool closed = output_file_close(&file, written);
    if (!written)
        errno = problem;
    return (written && closed) || write_failed(path, err);
}
