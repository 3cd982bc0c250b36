/* loop.c -- how to tell a search that lost its way from a sentence that repeats itself. */
#include "translate/loop.h"

enum { LONGEST_PERIOD = 16, REPEATS = 4, LEAST = 6 };

/* A period p is repeated wherever ids[i] == ids[i - p] for a while. */
bool hd_is_loop(const int *ids, int n, bool is_cut)
{
    for (int p = 1; p <= LONGEST_PERIOD && p < n; p++) {
        int run = 0;
        const int wanted = (is_cut ? REPEATS - 2 : REPEATS - 1) * p;
        for (int i = p; i < n; i++) {
            run = ids[i] == ids[i - p] ? run + 1 : 0;
            if (run >= wanted && run + p >= LEAST)
                return true;
        }
    }
    return false;
}

static double per_word(const struct hd_hypothesis *h)
{
    return h->total / (h->n + 1);
}

bool hd_is_better_than_loop(const struct hd_hypothesis *other, const struct hd_hypothesis *loop)
{
    static const double MUCH_LESS = 1; /* a factor e per word */
    if (loop->is_cut)
        return !other->is_cut || other->n < loop->n;
    return !other->is_cut && per_word(other) >= per_word(loop) - MUCH_LESS;
}
