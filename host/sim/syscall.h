/* syscall.h - functions that a kernel calls and the driver provides: vprintf,
 * __assertfail, malloc, free (CUDA C++ Programming Guide: formatted output, assertion,
 * dynamic global memory allocation).
 *
 * Lanes go one after the other, lowest first; a launch that can call one runs on one host
 * thread, so that output and addresses are the same in every run. */
#ifndef PEAKBOUND_SIM_SYSCALL_H
#define PEAKBOUND_SIM_SYSCALL_H

#include "exec.h"

enum { SYSCALL_MOST_ARGS = 5 };

/* op->extra of a call: where arguments and result lie in the frame, lane l's copy at
 * rows + area + l * stride. */
struct syscall_op {
    struct {
        uint32_t area, stride;
    } arg[SYSCALL_MOST_ARGS], ret;
    bool has_ret;
};

struct syscall {
    const char *name;
    exec_fn *fn;
    int arg_count;
    uint8_t arg_bytes[SYSCALL_MOST_ARGS], ret_bytes; /* 0: returns nothing */
};
/* NULL if the driver has no such function. */
const struct syscall *syscall_find(const char *name);

/* syscall_printf.c */
void syscall_vprintf(struct warp *w, const struct op *op);
/* A generic address of lane l to host memory, as far as *bytes; NULL: nothing is there. */
const uint8_t *syscall_memory(const struct warp *w, int lane, uint64_t address,
                              uint64_t *bytes);
/* A string in device memory; cut to `room`. False: it leaves its allocation. */
bool syscall_string(const struct warp *w, int lane, uint64_t address, char *text,
                    size_t room);
uint64_t syscall_arg(const struct warp *w, const struct op *op, int i, int bytes,
                     int lane);
void syscall_return(struct warp *w, const struct op *op, int bytes, int lane,
                    uint64_t value);

#endif
