/* nearest.c - see nearest.h. */
#include "nearest.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Edit distance (Levenshtein) of two short words; neighbours swapped count two. */
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    int previous[LONGEST + 1], current[LONGEST + 1];
    int length = (int)strlen(b);
    if (length > LONGEST || strlen(a) > LONGEST)
        return INT_MAX;
    for (int j = 0; j <= length; j++)
        previous[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        current[0] = i;
        for (int j = 1; j <= length; j++) {
            int best = previous[j - 1] + (a[i - 1] != b[j - 1]);
            if (previous[j] + 1 < best)
                best = previous[j] + 1;
            if (current[j - 1] + 1 < best)
                best = current[j - 1] + 1;
            current[j] = best;
        }
        memcpy(previous, current, sizeof previous);
    }
    return previous[length];
}

const char *name_nearest(const char *text, const char *const *names, int count)
{
    const char *nearest = NULL;
    int least = 4, length = (int)strlen(text);
    for (int i = 0; i < count; i++) {
        bool begins = length >= 3 && strncmp(text, names[i], (size_t)length) == 0;
        int distance = begins ? 1 : edit_distance(text, names[i]);
        if (distance < least && distance < length) {
            least = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
