/* fuzz_ptx.c - libFuzzer target: no PTX, however broken, may crash the parser, the
 * decoder or the machine that runs it, make them hang or take memory without bound.
 * Plain bytes seldom get past the parser, so texts are changed by lines and by words:
 * what comes out is mostly PTX that no compiler would write. `make fuzz` runs it. */
#include "ptx_try.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

static const char *const numbers[] = {
    "0",
    "1",
    "-1",
    "4",
    "31",
    "32",
    "33",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "0x7FFFFFFFFFFFFFFF",
    "0xFFFFFFFFFFFFFFFF",
    "0f7FC00000",
    "0f00000001",
    "0d7FF0000000000000",
    "0d36A0000000000000",
};

static unsigned draw(unsigned *seed, size_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return below == 0 ? 0 : (unsigned)((*seed >> 8) % below);
}

static bool is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '$' || c == '%';
}

struct span {
    size_t start, end;
};

static struct span line_at(const uint8_t *data, size_t size, size_t at)
{
    struct span line = {at, at};
    while (line.start > 0 && data[line.start - 1] != '\n')
        line.start--;
    while (line.end < size && data[line.end++] != '\n')
        ;
    return line;
}

static struct span word_at(const uint8_t *data, size_t size, size_t at)
{
    while (at < size && !is_word(data[at]))
        at++;
    struct span word = {at, at};
    while (word.start > 0 && is_word(data[word.start - 1]))
        word.start--;
    while (word.end < size && is_word(data[word.end]))
        word.end++;
    return word;
}

/* data[old] becomes text; 0 if there is no room. */
static size_t put(uint8_t *data, size_t size, size_t room, struct span old,
                  const void *text, size_t length)
{
    size_t kept = size - (old.end - old.start);
    if (kept + length > room || kept + length == 0)
        return 0;
    uint8_t *copy = xmalloc(length + 1);
    memcpy(copy, text, length);
    memmove(data + old.start + length, data + old.end, size - old.end);
    memcpy(data + old.start, copy, length);
    free(copy);
    return kept + length;
}

static size_t mutate_once(uint8_t *data, size_t size, size_t room, unsigned *seed)
{
    size_t here = draw(seed, size), there = draw(seed, size);
    struct span line = line_at(data, size, here), other = line_at(data, size, there);
    struct span word = word_at(data, size, here), from = word_at(data, size, there);
    const char *number;
    switch (draw(seed, 6)) {
    case 0: /* a line goes */
        return put(data, size, room, line, "", 0);
    case 1: /* a line comes twice */
        return put(data, size, room, (struct span){line.start, line.start},
                   data + other.start, other.end - other.start);
    case 2: /* a line takes another's place */
        return put(data, size, room, line, data + other.start, other.end - other.start);
    case 3: /* a word becomes a number */
        number = numbers[draw(seed, sizeof numbers / sizeof *numbers)];
        return put(data, size, room, word, number, strlen(number));
    default: /* a word takes another's place */
        return put(data, size, room, word, data + from.start, from.end - from.start);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    unsigned rest = seed;
    if (size == 0 || draw(&rest, 4) == 0)
        return LLVMFuzzerMutate(data, size, room);
    for (unsigned times = 1 + draw(&rest, 4); times > 0 && size > 0; times--) {
        size_t wider = mutate_once(data, size, room, &rest);
        size = wider > 0 ? wider : size;
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool check = size % 2 == 1;
    if (!try_ptx((const char *)data, size, check))
        abort(); /* a refusal must say why */
    return 0;
}
