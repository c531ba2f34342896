/* fuzz_image.c - libFuzzer target: no image, however broken, may crash the
 * loader, make it hang or take memory without bound.
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE
 *         tests/fuzz/fuzz_image.c host/sim/image*.c host/error.c -o fuzz_image
 *     ./fuzz_image -max_total_time=300 tests/fuzz/corpus_image
 */
#include "../../host/sim/image.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int devices[] = {75, 80, 90, 120};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        struct image image;
        struct error err = {0};
        if (!image_open(data, size, devices[i], &image, &err)) {
            if (err.status == 0 || err.text[0] == '\0')
                abort(); /* a refusal must say why */
            continue;
        }
        if (!image.ptx || strlen(image.ptx) != image.ptx_length)
            abort();
        for (int k = 0; k < image.kernel_count; k++)
            if (image.kernels[k].name[0] == '\0' || image.kernels[k].registers < 0)
                abort();
        image_close(&image);
    }
    return 0;
}
