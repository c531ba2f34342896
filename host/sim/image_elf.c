/* image_elf.c - what ptxas decided about each kernel, out of a cubin.
 *
 * A cubin is a 64-bit little-endian ELF file. Three of its parts matter here:
 *
 *   .nv.info          records {format, attribute, size, value}; attribute 0x2f
 *                     holds (symbol, registers), 0x11 (symbol, frame bytes),
 *                     0x12 (symbol, stack bytes with all it calls)
 *   .nv.shared.NAME   as large as the static shared memory of kernel NAME; its
 *                     sh_info is the section of the kernel's code. Where a
 *                     .nv.shared.reserved.0 stands (sm_90 and later), the first
 *                     1024 bytes of each are the system's
 *   .symtab           names the symbols
 *
 * The layout is not documented; it was read off cubins of nvcc 13.0 for sm_75
 * to sm_120 and compared with what `ptxas -v` prints (tests/test_image.c).
 */
#include "image_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    EHDR_BYTES = 64,
    SHDR_BYTES = 64,
    SYM_BYTES = 24,
    SHT_SYMTAB = 2,
    STT_FUNC = 2,
    INFO_SIZED = 4, /* record format: `size` bytes of value follow */
    INFO_FRAME_BYTES = 0x11,
    INFO_STACK_BYTES = 0x12,
    INFO_REGISTERS = 0x2f,
    RESERVED_SHARED_BYTES = 1024,
    MAX_KERNELS = 1 << 14,
    MAX_NAME = 4096
};

struct section {
    const char *name;
    const uint8_t *data; /* NULL for sections without bytes in the file */
    uint64_t size;
    uint32_t type, link, info;
};

struct elf {
    const uint8_t *data;
    size_t size;
    struct section *sections;
    uint32_t section_count;
    const struct section *symbols; /* .symtab, its link checked */
    uint32_t symbol_count;
};

/* The string at `offset` of a table, "" if it does not end soon or inside. */
static const char *string_at(const struct section *table, uint64_t offset)
{
    if (!table->data || offset >= table->size)
        return "";
    uint64_t room = table->size - offset;
    if (!memchr(table->data + offset, 0, room > MAX_NAME ? MAX_NAME : room))
        return "";
    return (const char *)table->data + offset;
}

static bool read_sections(struct elf *elf)
{
    const uint8_t *e = elf->data;
    if (elf->size < EHDR_BYTES || memcmp(e, "\177ELF\2\1", 6) != 0)
        return false;
    uint64_t at = read_u64(e + 40);
    uint32_t entry = read_u16(e + 58), count = read_u16(e + 60), names = read_u16(e + 62);
    if (entry != SHDR_BYTES || count == 0 || names >= count || at > elf->size ||
        elf->size - at < (uint64_t)count * SHDR_BYTES)
        return false;
    elf->sections = calloc(count, sizeof *elf->sections);
    if (!elf->sections)
        return false;
    elf->section_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *h = e + at + (size_t)i * SHDR_BYTES;
        struct section *s = &elf->sections[i];
        uint64_t offset = read_u64(h + 24);
        s->type = read_u32(h + 4);
        s->size = read_u64(h + 32);
        s->link = read_u32(h + 40);
        s->info = read_u32(h + 44);
        if (offset <= elf->size && s->size <= elf->size - offset)
            s->data = e + offset;
    }
    const struct section *table = &elf->sections[names];
    for (uint32_t i = 0; i < count; i++)
        elf->sections[i].name =
            string_at(table, read_u32(e + at + (size_t)i * SHDR_BYTES));
    return true;
}

static const struct section *find_section(const struct elf *elf, const char *name)
{
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (strcmp(elf->sections[i].name, name) == 0)
            return &elf->sections[i];
    return NULL;
}

static void find_symbols(struct elf *elf)
{
    const struct section *symbols = find_section(elf, ".symtab");
    if (!symbols || !symbols->data || symbols->type != SHT_SYMTAB ||
        symbols->link >= elf->section_count || symbols->size / SYM_BYTES > UINT32_MAX - 1)
        return;
    elf->symbols = symbols;
    elf->symbol_count = (uint32_t)(symbols->size / SYM_BYTES);
}

/* A kernel's symbol: its name, and in *code the section of its code, which is
 * called .text.NAME. Functions that kernels call stand in the kernel's section and
 * have no resources of their own. */
static const char *kernel_name(const struct elf *elf, uint32_t symbol, uint32_t *code)
{
    const uint8_t *s = elf->symbols->data + (size_t)symbol * SYM_BYTES;
    *code = read_u16(s + 6);
    if ((s[4] & 15) != STT_FUNC || *code >= elf->section_count)
        return NULL;
    const char *name = string_at(&elf->sections[elf->symbols->link], read_u32(s));
    const char *section = elf->sections[*code].name;
    bool own = strncmp(section, ".text.", 6) == 0 && strcmp(section + 6, name) == 0;
    return own && name[0] ? name : NULL;
}

/* Kernels while they are collected: found again by symbol and by section. */
struct collect {
    struct image_kernel *kernels;
    int count;
    int *by_section; /* kernel + 1 */
    int *by_symbol;  /* kernel + 1 */
};

static struct image_kernel *collect_kernel(struct collect *c, const struct elf *elf,
                                           uint32_t symbol)
{
    if (symbol >= elf->symbol_count)
        return NULL;
    if (c->by_symbol[symbol])
        return &c->kernels[c->by_symbol[symbol] - 1];
    uint32_t code = 0;
    const char *name = kernel_name(elf, symbol, &code);
    if (!name || c->count == MAX_KERNELS)
        return NULL;
    struct image_kernel *grown =
        realloc(c->kernels, ((size_t)c->count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    c->kernels = grown;
    struct image_kernel *k = &grown[c->count];
    *k = (struct image_kernel){.name = strdup(name)};
    if (!k->name)
        return NULL;
    c->count++;
    c->by_symbol[symbol] = c->count;
    c->by_section[code] = c->count;
    return k;
}

/* Values above what any GPU has are nonsense and count as unknown. */
static int sane(uint32_t value)
{
    return value <= 1 << 20 ? (int)value : 0;
}

static void read_info(struct collect *c, const struct elf *elf)
{
    const struct section *info = find_section(elf, ".nv.info");
    if (!info || !info->data)
        return;
    for (uint64_t at = 0; info->size - at >= 4;) {
        const uint8_t *r = info->data + at;
        uint64_t value = r[0] == INFO_SIZED ? read_u16(r + 2) : 0;
        at += 4;
        if (value > info->size - at)
            return;
        at += value;
        if (value < 8)
            continue;
        bool registers = r[1] == INFO_REGISTERS;
        if (!registers && r[1] != INFO_FRAME_BYTES && r[1] != INFO_STACK_BYTES)
            continue;
        struct image_kernel *k = collect_kernel(c, elf, read_u32(r + 4));
        int amount = sane(read_u32(r + 8));
        if (k && registers)
            k->registers = amount;
        else if (k && amount > k->local_bytes)
            k->local_bytes = amount;
    }
}

static void read_shared(struct collect *c, const struct elf *elf)
{
    bool reserved = find_section(elf, ".nv.shared.reserved.0") != NULL;
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const struct section *s = &elf->sections[i];
        if (strncmp(s->name, ".nv.shared.", 11) != 0 || s->info >= elf->section_count ||
            !c->by_section[s->info])
            continue;
        int bytes = sane((uint32_t)(s->size > UINT32_MAX ? UINT32_MAX : s->size));
        if (reserved)
            bytes = bytes > RESERVED_SHARED_BYTES ? bytes - RESERVED_SHARED_BYTES : 0;
        c->kernels[c->by_section[s->info] - 1].static_smem_bytes = bytes;
    }
}

bool elf_read_kernels(const uint8_t *data, size_t size, struct image *image)
{
    struct elf elf = {.data = data, .size = size};
    struct collect c = {0};
    bool good = read_sections(&elf);
    if (good)
        find_symbols(&elf);
    if (elf.symbol_count > 0) {
        c.by_symbol = calloc(elf.symbol_count, sizeof *c.by_symbol);
        c.by_section = calloc(elf.section_count, sizeof *c.by_section);
        if (c.by_symbol && c.by_section) {
            read_info(&c, &elf);
            read_shared(&c, &elf);
        }
    }
    free(c.by_symbol);
    free(c.by_section);
    free(elf.sections);
    if (good) {
        image->kernels = c.kernels;
        image->kernel_count = c.count;
    }
    return good;
}

void elf_free_kernels(struct image *image)
{
    for (int i = 0; i < image->kernel_count; i++)
        free(image->kernels[i].name);
    free(image->kernels);
    image->kernels = NULL;
    image->kernel_count = 0;
}
