/* image_parts.h - what image.c, image_elf.c and image_unpack.c share. */
#ifndef PEAKBOUND_SIM_IMAGE_PARTS_H
#define PEAKBOUND_SIM_IMAGE_PARTS_H

#include "image.h"

/* Little-endian fields of a file; p need not be aligned. */
static inline uint16_t read_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t read_u32(const uint8_t *p)
{
    return (uint32_t)read_u16(p) | (uint32_t)read_u16(p + 2) << 16;
}
static inline uint64_t read_u64(const uint8_t *p)
{
    return (uint64_t)read_u32(p) | (uint64_t)read_u32(p + 4) << 32;
}

/* Registers, shared and local bytes of the kernels in a cubin, into
 * image->kernels. False if the file is not one that we can read; image then is
 * unchanged. */
bool elf_read_kernels(const uint8_t *elf, size_t size, struct image *image);
void elf_free_kernels(struct image *image);

/* How nvcc compresses the entries of a fatbin. */
enum unpack_method { UNPACK_STORED, UNPACK_LZ4, UNPACK_ZSTD };

/* Decompress `size` bytes into a fresh block of exactly full_size bytes plus a
 * NUL, which the caller frees. The library is opened at run time; NULL and *err
 * if it is not here (EXIT_MISSING) or the data is broken (EXIT_USAGE). */
char *unpack_entry(enum unpack_method method, const uint8_t *data, size_t size,
                   uint64_t full_size, struct error *err);

#endif
