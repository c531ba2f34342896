/* npy.h - read and write NumPy's .npy files (format versions 1 to 3).
 *
 * Read: '<f2', '<f4', '<f8' (and '>' and '=', '|' where they make sense), C or
 * Fortran order, two dimensions (one dimension of n is taken as n x 1). The
 * file is hostile: header length, shape and size are checked before memory is
 * taken; the file must hold exactly the bytes that the shape asks for.
 * Source: NumPy NEP 1 and the numpy.lib.format documentation.
 */
#ifndef PEAKBOUND_BENCH_NPY_H
#define PEAKBOUND_BENCH_NPY_H

#include "matrix.h"

/* Load as `type` (KERNEL_F16, KERNEL_F32, ...), rounding if the file's type is
 * wider; *rounded tells whether that lost anything. Errors: EXIT_USAGE with file
 * name and what is wrong. */
bool npy_read(const char *path, int type, struct matrix *m, bool *rounded,
              struct error *err);
/* Written to a temporary file beside `path` and renamed: never a partial file. */
bool npy_write(const char *path, const struct matrix *m, struct error *err);

/* Shape and type only. */
struct npy_header {
    char kind;
    int bytes;
    bool big_endian, fortran;
    size_t rows, cols;
    size_t data_offset;
};
bool npy_parse_header(const unsigned char *data, size_t size, struct npy_header *header,
                      struct error *err);

#endif
