/* nearest.c -- edit distance with swaps (Damerau's, each letter touched once), for suggesting
 * names. */
#include "base/nearest.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum { LONGEST = 63 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* row[i][j] is the distance between the first i letters of a and the first j of b; three rows
 * are enough. */
int hd_edit_distance(const char *a, const char *b)
{
    const size_t n_a = strlen(a), n_b = strlen(b);
    if (n_a > LONGEST || n_b > LONGEST)
        return strcmp(a, b) == 0 ? 0 : INT_MAX;
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= n_b; j++)
        last[j] = (int)j;
    memcpy(before, last, (n_b + 1) * sizeof *last);
    for (size_t i = 1; i <= n_a; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= n_b; j++) {
            const int replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smaller(replaced, 1 + smaller(last[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[n_b];
}

const char *heed_nearest(const char *word, const char *const *names, int n)
{
    if (!word || !names)
        return NULL;
    const size_t length = strlen(word);
    const int allowed = length < 6 ? 1 : (int)(length / 3);
    const char *nearest = NULL;
    int least = INT_MAX;
    for (int i = 0; i < n; i++) {
        const int distance = names[i] ? hd_edit_distance(word, names[i]) : INT_MAX;
        if (distance < least) {
            least = distance;
            nearest = names[i];
        }
    }
    if (length > 0 && least <= allowed)
        return nearest;
    for (int i = 0; i < n && length >= 2; i++)
        if (names[i] && strncmp(word, names[i], length) == 0)
            return names[i];
    return NULL;
}
