/* bin2c.c - turn a file into a C array.   bin2c SYMBOL FILE > FILE.c
 *
 * Defines `const unsigned char SYMBOL[]` and `const unsigned long SYMBOL_size`.
 * Runs while building, on the machine that builds.
 */
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: bin2c SYMBOL FILE\n");
        return 2;
    }
    FILE *file = fopen(argv[2], "rb");
    if (file == NULL) {
        perror(argv[2]);
        return 2;
    }
    printf("_Alignas(16) const unsigned char %s[] = {", argv[1]);
    unsigned long size = 0;
    for (int byte; (byte = getc(file)) != EOF; size++)
        printf("%s%d,", size % 24 == 0 ? "\n" : "", byte);
    /* a NUL behind the data lets PTX text be read as a string */
    printf("0};\nconst unsigned long %s_size = %luul;\n", argv[1], size);
    int bad = ferror(file);
    fclose(file);
    return bad || fflush(stdout) != 0 ? 2 : 0;
}
