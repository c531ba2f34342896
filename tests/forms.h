/* forms.h - cases of single PTX instructions, read from tests/ptx/<family>.txt.
 *
 * A line is `instructions | registers in | registers out`:
 *
 *     add.u32 d, a, b;  |  a=r:5 b=r:L  |  d=r:5+L
 *
 * Registers have one-letter names and a class: h 16 bits, r 32, l 64, q 128 (its low
 * half is given, the high half is the same), p predicate. A value is an expression with
 * numbers, L (lane), T (thread), + - * & ^ << >> ~ ( ). Outputs are registers with the
 * value that they must have in every thread. `refused: words` in place of the inputs:
 * the load must fail and say these words. The kernel also has
 *     %g    64 bytes of zeros in global memory for each thread, and %G the first of them
 *     sm    1024 bytes of shared memory      lm  64 bytes of local memory
 *     cm    .const .u32 cm[4] = {11, 22, 33, 44}
 * A line that begins with # is a remark, or says how the next cases run:
 *     #target sm_90      #threads 64      #module .func f() { ret; }
 * and `#module` alone ends with what stands before the kernel. */
#ifndef PEAKBOUND_TESTS_FORMS_H
#define PEAKBOUND_TESTS_FORMS_H

#include <stdbool.h>
#include <stdint.h>

enum { FORM_MOST_REGISTERS = 12, FORM_MOST_THREADS = 128, FORM_SLOT = 16 };

struct form_register {
    char name, kind;
    char value[80];
};

struct form {
    const char *file;
    int line;
    char target[16];
    int threads;
    char module[1200], body[1600];
    char refused[160]; /* what the refusal says; "" = it must run */
    struct form_register in[FORM_MOST_REGISTERS], out[FORM_MOST_REGISTERS];
    int in_count, out_count;
};

/* The whole module of a case; false if `room` is too small. */
bool form_text(const struct form *form, char *text, int room);
/* The value of an expression for a thread. False: no expression. */
bool form_value(const char *expression, int thread, uint64_t *value);
/* Every case of a file, in order. False: the file cannot be read or a line is wrong,
 * and `wrong` says which. */
bool form_read(const char *path, void (*each)(void *context, const struct form *form),
               void *context, char *wrong, int room);

#endif
