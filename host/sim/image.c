/* image.c - take apart what cuModuleLoadData is given.
 *
 * A fatbin is a header and then entries, each with a header of its own. The
 * layout is not documented; these are the fields that matter, read off the
 * output of nvcc 13.0 in all its compress modes (all little-endian):
 *
 *   header  u32 magic 0xba55ed50   u16 version 1   u16 header bytes (16)
 *           u64 bytes of all entries
 *   entry    0  u16 kind: 1 PTX, 2 cubin (others are skipped)
 *            4  u32 header bytes, 64 and more (name and options follow)
 *            8  u64 payload bytes, padded to 8
 *           16  u32 compressed bytes (without the padding)
 *           28  u32 architecture: 80
 *           40  u64 flags: 0x2000 LZ4, 0x8000 zstd; 0x100000 for this very
 *               chip (sm_90a), 0x200000 for its family (sm_100f)
 *           56  u64 bytes after decompression, 0 if stored
 */
#include "image_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    FATBIN_HEADER = 16,
    ENTRY_HEADER = 64,
    ENTRY_PTX = 1,
    ENTRY_CUBIN = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_THIS_CHIP = 0x100000,
    FLAG_FAMILY = 0x200000
};

/* How far an image reaches: sm_80 forward, sm_100f its family, sm_90a nothing
 * but that chip. */
enum reach { REACH_FORWARD, REACH_FAMILY, REACH_CHIP };

struct entry {
    int kind, arch;
    enum reach reach;
    enum unpack_method method;
    const uint8_t *data;
    size_t size;        /* in the file */
    uint64_t full_size; /* unpacked */
};

static bool runs_on(const struct entry *e, int cc)
{
    if (e->reach == REACH_CHIP)
        return e->arch == cc;
    bool same_family = e->arch / 10 == cc / 10;
    return e->arch <= cc && (same_family || (e->kind == ENTRY_PTX && !e->reach));
}

static bool is_better(const struct entry *e, const struct entry *best)
{
    if (!best->kind || e->arch != best->arch)
        return e->arch > best->arch;
    return e->reach > best->reach;
}

/* Step over spaces and comments of PTX text. */
static const char *skip_blank(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\r\n\f\v");
        if (p[0] == '/' && p[1] == '/') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            if (!end)
                return p + strlen(p);
            p = end + 2;
        } else {
            return p;
        }
    }
}

/* The architecture that the text is for: .target stands second, after .version
 * (PTX ISA 11.1). Text that starts otherwise is left to the parser. */
static void read_target(const char *text, struct entry *e)
{
    const char *p = skip_blank(text);
    if (strncmp(p, ".version", 8) != 0)
        return;
    p = skip_blank(p + 8);
    p = skip_blank(p + strspn(p, "0123456789."));
    if (strncmp(p, ".target", 7) != 0)
        return;
    p = skip_blank(p + 7);
    if (strncmp(p, "sm_", 3) != 0)
        return;
    p += 3;
    for (int digits = 0; digits < 4 && *p >= '0' && *p <= '9'; digits++)
        e->arch = e->arch * 10 + (*p++ - '0');
    e->reach = *p == 'a' ? REACH_CHIP : *p == 'f' ? REACH_FAMILY : REACH_FORWARD;
}

static const char *reach_suffix(enum reach reach)
{
    return reach == REACH_CHIP ? "a" : reach == REACH_FAMILY ? "f" : "";
}

static bool fail_no_ptx(const struct entry *seen, int cc, struct error *err)
{
    if (!seen->kind)
        return error_set(err, EXIT_MISSING,
                         "no PTX in this image: the simulator needs PTX. Build it with "
                         "-gencode arch=compute_%d,code=compute_%d",
                         cc, cc);
    return error_set(
        err, EXIT_MISSING,
        "the PTX of this image is for sm_%d%s, the device is sm_%d: build it "
        "with -gencode arch=compute_%d,code=compute_%d, or take a newer "
        "device",
        seen->arch, reach_suffix(seen->reach), cc, cc, cc);
}

static bool open_text(const char *text, size_t limit, int cc, struct image *image,
                      struct error *err)
{
    const char *nul = limit == SIZE_MAX ? NULL : memchr(text, 0, limit);
    size_t length = limit == SIZE_MAX ? strlen(text) : nul ? (size_t)(nul - text) : limit;
    char *copy = malloc(length + 1);
    if (!copy)
        return error_set(err, EXIT_OURS, "no memory for PTX text of %zu bytes", length);
    memcpy(copy, text, length);
    copy[length] = '\0';
    struct entry e = {.kind = ENTRY_PTX};
    read_target(copy, &e);
    if (e.arch && !runs_on(&e, cc)) {
        free(copy);
        return fail_no_ptx(&e, cc, err);
    }
    image->ptx = copy;
    image->ptx_length = length;
    image->ptx_arch = e.arch;
    return true;
}

/* Read the entry at p, of which `room` bytes are left. */
static bool read_entry(const uint8_t *p, uint64_t room, int index, struct entry *e,
                       uint64_t *next, struct error *err)
{
    uint64_t header = room >= ENTRY_HEADER ? read_u32(p + 4) : 0;
    uint64_t payload = room >= ENTRY_HEADER ? read_u64(p + 8) : 0;
    if (header < ENTRY_HEADER || header > room || payload > room - header)
        return error_set(err, EXIT_USAGE,
                         "fatbin entry %d says it has %llu + %llu bytes, %llu are left: "
                         "the file is damaged or cut short",
                         index, (unsigned long long)header, (unsigned long long)payload,
                         (unsigned long long)room);
    uint64_t flags = read_u64(p + 40);
    uint32_t packed = read_u32(p + 16), arch = read_u32(p + 28);
    *e = (struct entry){.kind = read_u16(p),
                        .arch = arch < 10000 ? (int)arch : 0,
                        .reach = flags & FLAG_THIS_CHIP ? REACH_CHIP
                                 : flags & FLAG_FAMILY  ? REACH_FAMILY
                                                        : REACH_FORWARD,
                        .method = flags & FLAG_ZSTD  ? UNPACK_ZSTD
                                  : flags & FLAG_LZ4 ? UNPACK_LZ4
                                                     : UNPACK_STORED,
                        .data = p + header,
                        .size = (size_t)payload,
                        .full_size = read_u64(p + 56)};
    if (e->method != UNPACK_STORED && packed <= payload)
        e->size = packed;
    *next = header + payload;
    return true;
}

/* The best PTX and cubin for the device among the entries; *other is the
 * oldest PTX that this device cannot use, for the message. */
static bool choose_entries(const uint8_t *p, uint64_t room, int cc, struct entry *ptx,
                           struct entry *cubin, struct entry *other, struct error *err)
{
    for (int index = 0; room > 0; index++) {
        struct entry e;
        uint64_t step = 0;
        if (!read_entry(p, room, index, &e, &step, err))
            return false;
        p += step;
        room -= step;
        if (e.kind != ENTRY_PTX && e.kind != ENTRY_CUBIN)
            continue;
        struct entry *best = e.kind == ENTRY_PTX ? ptx : cubin;
        if (!runs_on(&e, cc)) {
            if (e.kind == ENTRY_PTX && (!other->kind || e.arch < other->arch))
                *other = e;
        } else if (is_better(&e, best)) {
            *best = e;
        }
    }
    return true;
}

static bool take_ptx(const struct entry *e, struct image *image, struct error *err)
{
    if (e->method == UNPACK_STORED) {
        image->ptx = malloc(e->size + 1);
        if (!image->ptx)
            return error_set(err, EXIT_OURS, "no memory for PTX text of %zu bytes",
                             e->size);
        memcpy(image->ptx, e->data, e->size);
        image->ptx[e->size] = '\0';
    } else {
        image->ptx = unpack_entry(e->method, e->data, e->size, e->full_size, err);
        if (!image->ptx)
            return false;
    }
    image->ptx_length = strlen(image->ptx); /* payloads are padded with NULs */
    image->ptx_arch = e->arch;
    return true;
}

static void take_cubin(const struct entry *e, struct image *image)
{
    if (!e->kind)
        return;
    char *unpacked = NULL;
    if (e->method != UNPACK_STORED)
        unpacked = unpack_entry(e->method, e->data, e->size, e->full_size, NULL);
    bool good = false;
    if (unpacked)
        good = elf_read_kernels((uint8_t *)unpacked, (size_t)e->full_size, image);
    else if (e->method == UNPACK_STORED)
        good = elf_read_kernels(e->data, e->size, image);
    image->machine_arch = good ? e->arch : 0;
    free(unpacked);
}

static bool open_fatbin(const uint8_t *data, size_t limit, int cc, struct image *image,
                        struct error *err)
{
    uint64_t header = limit >= FATBIN_HEADER ? read_u16(data + 6) : 0;
    uint64_t bytes = limit >= FATBIN_HEADER ? read_u64(data + 8) : 0;
    if (header < FATBIN_HEADER || header > limit || bytes > limit - header)
        return error_set(err, EXIT_USAGE,
                         "this fatbin says it has %llu + %llu bytes, %zu are there: the "
                         "file is damaged or cut short",
                         (unsigned long long)header, (unsigned long long)bytes, limit);
    struct entry ptx = {0}, cubin = {0}, other = {0};
    if (!choose_entries(data + header, bytes, cc, &ptx, &cubin, &other, err))
        return false;
    if (!ptx.kind)
        return fail_no_ptx(&other, cc, err);
    if (!take_ptx(&ptx, image, err))
        return false;
    take_cubin(&cubin, image);
    return true;
}

/* Byte by byte: text of unknown size may end before the fourth. */
static bool starts_with(const uint8_t *bytes, size_t limit, const char *magic)
{
    for (size_t i = 0; i < 4; i++)
        if (i >= limit || bytes[i] != (uint8_t)magic[i])
            return false;
    return true;
}

bool image_open(const void *data, size_t limit, int device_cc, struct image *image,
                struct error *err)
{
    *image = (struct image){0};
    const uint8_t *bytes = data;
    if (limit == 0)
        return error_set(err, EXIT_USAGE, "the image is empty");
    if (starts_with(bytes, limit, "\x50\xed\x55\xba"))
        return open_fatbin(bytes, limit, device_cc, image, err);
    if (starts_with(bytes, limit, "\177ELF"))
        return fail_no_ptx(&(struct entry){0}, device_cc, err);
    return open_text(data, limit, device_cc, image, err);
}

void image_close(struct image *image)
{
    free(image->ptx);
    elf_free_kernels(image);
    *image = (struct image){0};
}
