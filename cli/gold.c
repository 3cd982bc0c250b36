/* gold.c -- reference links: their file, and what is counted against them. */
#include "gold.h"

#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gold {
    heed_link *sure, *possible;
    size_t n_sure, n_possible;
};

static void free_gold(struct gold *gold)
{
    free(gold->sure);
    free(gold->possible);
}

/* "1-1 2p3" from 1 becomes links from 0. False, with the complaint printed. */
static bool read_gold(struct gold *gold, const char *line, const char *path, size_t number)
{
    const size_t most = strlen(line) / 2 + 1;
    *gold = (struct gold){.sure = need_memory(most, sizeof(heed_link)),
                          .possible = need_memory(most, sizeof(heed_link))};
    for (const char *at = line + strspn(line, " \t"); *at; at += strspn(at, " \t")) {
        char *end;
        const long source = strtol(at, &end, 10);
        const char kind = *end;
        const long target = kind == '-' || kind == 'p' ? strtol(end + 1, &end, 10) : 0;
        if (source < 1 || target < 1 || source > 1000000 || target > 1000000 ||
            (*end && !strchr(" \t", *end))) {
            complain("%s:%zu: '%.*s' is no link; one is 'i-j' (sure) or 'ipj' (possible), "
                     "words counted from 1",
                     path, number, (int)strcspn(at, " \t"), at);
            free_gold(gold);
            return false;
        }
        const heed_link link = {(int)source - 1, (int)target - 1};
        if (kind == '-')
            gold->sure[gold->n_sure++] = link;
        else
            gold->possible[gold->n_possible++] = link;
        at = end;
    }
    return true;
}

bool judge_links(heed_alignment_quality *quality, const heed_link *links, size_t n,
                 const char *line, const char *path, size_t number)
{
    struct gold gold;
    if (!read_gold(&gold, line, path, number))
        return false;
    heed_alignment_judge(quality, links, n, gold.sure, gold.n_sure, gold.possible, gold.n_possible);
    free_gold(&gold);
    return true;
}

void print_quality(const heed_alignment_quality *q, bool is_json)
{
    if (is_json)
        printf(
            "{\"precision\": %.12g, \"recall\": %.12g, \"aer\": %.12g, \"links\": %zu, \"sure\": "
            "%zu}\n",
            q->precision, q->recall, q->error_rate, q->n_links, q->n_sure);
    else
        printf("precision = %.2f %%\nrecall = %.2f %%\nAER = %.2f %% (links = %zu sure = %zu)\n",
               q->precision, q->recall, q->error_rate, q->n_links, q->n_sure);
}
