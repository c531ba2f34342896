/* nearest.h - what somebody probably meant by a name that does not exist. */
#ifndef PEAKBOUND_NEAREST_H
#define PEAKBOUND_NEAREST_H

/* The one of `count` names that `text` begins, or that differs from it by at most three
 * letters (Levenshtein); NULL if there is none. */
const char *name_nearest(const char *text, const char *const *names, int count);

#endif
