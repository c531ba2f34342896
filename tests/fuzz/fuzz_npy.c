/* fuzz_npy.c - libFuzzer target: no .npy file, however broken, may crash the reader,
 * make it hang or take memory without bound. `make fuzz` runs it. */
#include "../../host/bench/npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy_header header;
    struct error err = {0};
    if (!npy_parse_header(data, size, &header, &err) && err.text[0] == '\0')
        abort();
    char path[64];
    int fd = memfd_create("fuzz.npy", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    static const int types[] = {KERNEL_F16, KERNEL_F32};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct matrix m = {0};
        bool rounded;
        err = (struct error){0};
        if (npy_read(path, types[i], &m, &rounded, &err))
            matrix_free(&m);
        else if (err.text[0] == '\0')
            abort(); /* a refusal must say why */
    }
    close(fd);
    return 0;
}
