/* test_corpus.c - every text of the fuzzer's corpus, seeds and what once broke
 * something, goes through parser, decoder and machine without checks and with them. */
#include "fuzz/ptx_try.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>

static void try_file(const char *name)
{
    static char text[1 << 20];
    char path[400];
    snprintf(path, sizeof path, "tests/fuzz/corpus_ptx/%s", name);
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s cannot be opened", path);
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    for (int check = 0; check < 2; check++)
        cr_expect(try_ptx(text, length, check), "%s (check %d): refused without a reason",
                  path, check);
}

Test(corpus, breaks_nothing)
{
    int count = 0;
    DIR *directory = opendir("tests/fuzz/corpus_ptx");
    cr_assert(directory != NULL, "tests/fuzz/corpus_ptx cannot be opened");
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.') {
            try_file(entry->d_name);
            count++;
        }
    closedir(directory);
    cr_expect(count >= 10, "only %d files in the corpus", count);
}
