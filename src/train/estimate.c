/* estimate.c -- times in the words in which people think of them. */
#include "train/estimate.h"

#include <stdio.h>

/* "40 seconds", "25 minutes", "3.5 hours": two digits are more than a run's first updates can know. */
static const char *time_of(char text[32], double seconds)
{
    if (seconds < 1.5)
        snprintf(text, 32, "a second");
    else if (seconds < 90)
        snprintf(text, 32, "%.0f seconds", seconds);
    else if (seconds < 90 * 60)
        snprintf(text, 32, "%.0f minutes", seconds / 60);
    else if (seconds < 10 * 3600)
        snprintf(text, 32, "%.1f hours", seconds / 3600);
    else if (seconds < 48 * 3600)
        snprintf(text, 32, "%.0f hours", seconds / 3600);
    else
        snprintf(text, 32, "%.1f days", seconds / 86400);
    return text;
}

void hd_estimate_text(const struct hd_estimate *e, char *text, size_t size)
{
    char all[32] = "", between[32], where[64], end[160] = "";
    snprintf(where, sizeof where, "%d thread%s", e->n_threads, e->n_threads == 1 ? "" : "s");
    if (e->n_ranks > 1)
        snprintf(where, sizeof where, "%d ranks of %d threads", e->n_ranks, e->n_threads);
    if (e->seconds_left >= 0 && !e->is_least)
        snprintf(end, sizeof end, "takes about %s%s on %s, besides validations; ",
                 time_of(all, e->seconds_left), e->patience > 0 ? " at most" : "", where);
    char last[200] = "";
    if (e->is_least)
        snprintf(last, sizeof last,
                 "; the run ends when %d in a row bring nothing better, in %s on %s at the soonest",
                 e->patience, time_of(all, e->seconds_left), where);
    else if (e->seconds_left < 0)
        snprintf(last, sizeof last, "; the run goes on until it is stopped");
    snprintf(text, size, "%severy %d updates, about %s, a validation shows %s%s", end,
             e->valid_every, time_of(between, e->seconds_per_update * e->valid_every), e->shown,
             last);
}
