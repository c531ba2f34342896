/* syscall_printf.c - printf in a kernel: format string and a buffer of arguments, packed
 * as C's default promotions leave them, each aligned to its size (CUDA C++ Programming
 * Guide, formatted output). A text is bounded: 1 KiB of format, 1 KiB a string argument,
 * widths and precisions up to 255. */
#include "syscall.h"

#include <stdio.h>
#include <stdlib.h>

#include "access.h"

enum {
    FORMAT_MOST = 1024,
    STRING_MOST = 1024,
    WIDTH_MOST = 255,
    SPEC_ROOM = 32,
    PRINTF_FAILED = -1,
    MOST_ARGUMENTS = 32
};

struct printing {
    struct warp *w;
    FILE *out;
    uint64_t arguments; /* generic address of the next one */
    int lane, count;
    bool good, lost; /* lost: an argument or string is not in device memory */
};

/* One conversion of the format. */
struct conversion {
    char flags[8];
    int width, precision; /* -1: none */
    int size;             /* bytes of an integer argument */
    char letter;
};

/* The next argument, of `bytes`. */
static uint64_t take(struct printing *p, int bytes)
{
    uint64_t room = 0, value = 0, mask = (uint64_t)bytes - 1;
    p->arguments = (p->arguments + mask) & ~mask;
    const uint8_t *at = syscall_memory(p->w, p->lane, p->arguments, &room);
    p->lost |= at == NULL || room < (uint64_t)bytes;
    p->good &= !p->lost;
    if (p->good)
        memcpy(&value, at, (size_t)bytes);
    p->arguments += (uint64_t)bytes;
    p->count++;
    return value;
}

static int read_number(const char **at, struct printing *p)
{
    int value = 0;
    if (**at == '*') {
        ++*at;
        value = (int32_t)take(p, 4);
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        value = value < WIDTH_MOST ? value * 10 + (**at - '0') : value;
    return value < -WIDTH_MOST ? -WIDTH_MOST : value > WIDTH_MOST ? WIDTH_MOST : value;
}

/* What stands behind a %. */
static struct conversion read_conversion(const char **at, struct printing *p)
{
    struct conversion c = {.precision = -1, .size = 4};
    size_t flags = 0;
    for (; **at != '\0' && strchr("-+ #0", **at) != NULL; ++*at)
        if (flags + 1 < sizeof c.flags && strchr(c.flags, **at) == NULL)
            c.flags[flags++] = **at;
    c.width = read_number(at, p);
    if (c.width < 0 && flags + 1 < sizeof c.flags) {
        c.flags[flags++] = '-';
        c.width = -c.width;
    }
    if (**at == '.') {
        ++*at;
        c.precision = read_number(at, p);
    }
    for (; **at != '\0' && strchr("hlLqjzt", **at) != NULL; ++*at)
        c.size = **at == 'h' ? c.size : 8;
    c.letter = **at;
    if (c.letter != '\0')
        ++*at;
    return c;
}

static void put_text(struct printing *p, const char *spec, int width, int precision,
                     uint64_t address)
{
    char text[STRING_MOST];
    if (address == 0)
        snprintf(text, sizeof text, "(null)");
    else if (!syscall_string(p->w, p->lane, address, text, sizeof text))
        p->lost = true;
    p->good &= !p->lost;
    if (p->good)
        fprintf(p->out, spec, width, precision, text);
}

/* Print one conversion with the host's printf, through a spec of known form. */
static void put_conversion(struct printing *p, const struct conversion *c)
{
    char spec[SPEC_ROOM];
    const char *length = "";
    char letter = c->letter;
    uint64_t value = strchr("feEgGFaA", letter) != NULL || letter == 's' || letter == 'p'
                         ? take(p, 8)
                         : take(p, letter == 'c' ? 4 : c->size);
    if (strchr("diouxX", letter) != NULL)
        length = "ll";
    snprintf(spec, sizeof spec, "%%%s*.*%s%c", c->flags, length, letter);
    if (!p->good)
        return;
    if (letter == 'c') {
        char text[2] = {(char)value, '\0'};
        snprintf(spec, sizeof spec, "%%%s*s", c->flags);
        fprintf(p->out, spec, c->width, text);
    } else if (letter == 's') {
        put_text(p, spec, c->width, c->precision, value);
    } else if (letter == 'p') {
        fprintf(p->out, "0x%llx", (unsigned long long)value);
    } else if (strchr("di", letter) != NULL) {
        long long number = c->size == 8 ? (int64_t)value : (int32_t)value;
        fprintf(p->out, spec, c->width, c->precision, number);
    } else if (strchr("ouxX", letter) != NULL) {
        fprintf(p->out, spec, c->width, c->precision, (unsigned long long)value);
    } else {
        double number;
        memcpy(&number, &value, sizeof number);
        fprintf(p->out, spec, c->width, c->precision, number);
    }
}

static void print_lane(struct printing *p, const char *format)
{
    for (const char *at = format; *at != '\0' && p->good;) {
        size_t plain = strcspn(at, "%");
        fwrite(at, 1, plain, p->out);
        at += plain;
        if (*at == '\0')
            return;
        at++;
        if (*at == '%') {
            fputc(*at++, p->out);
            continue;
        }
        struct conversion c = read_conversion(&at, p);
        if (c.letter == '\0' || strchr("diouxXcsfeEgGFaAp", c.letter) == NULL ||
            p->count >= MOST_ARGUMENTS) {
            p->good = false;
            return;
        }
        put_conversion(p, &c);
    }
}

void syscall_vprintf(struct warp *w, const struct op *op)
{
    char format[FORMAT_MOST];
    FILE *out = w->block->launch->output != NULL ? w->block->launch->output : stdout;
    for (uint32_t left = w->mask; left != 0; left &= left - 1) {
        int l = first_lane(left);
        uint64_t address = syscall_arg(w, op, 0, 8, l);
        if (!syscall_string(w, l, address, format, sizeof format)) {
            sim_raise(w, SIM_OUT_OF_BOUNDS, l, address,
                      "the format of a printf at 0x%llx is no string in device memory",
                      (unsigned long long)address);
            return;
        }
        struct printing p = {.w = w,
                             .out = out,
                             .arguments = syscall_arg(w, op, 1, 8, l),
                             .lane = l,
                             .good = true};
        print_lane(&p, format);
        if (p.lost) {
            sim_raise(w, SIM_OUT_OF_BOUNDS, l, p.arguments,
                      "argument %d of a printf is not in device memory", p.count);
            return;
        }
        syscall_return(w, op, 4, l, (uint32_t)(p.good ? p.count : PRINTF_FAILED));
    }
}
