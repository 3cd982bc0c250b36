/* search.c -- many sentences at once, by a searcher that is gone afterwards. */
#include "search/search.h"

#include "base/error.h"
#include "base/memory.h"
#include "search/common.h"

#include <stdint.h>

struct hd_search_options hd_search_options_default(void)
{
    return (struct hd_search_options){.beam = 5,
                                      .n_best = 1,
                                      .norm = HD_LENGTH_POWER,
                                      .alpha = 1,
                                      .top_p = 1,
                                      .temperature = 1,
                                      .n_rows = 48,
                                      .head = -1};
}

int hd_longest_output(int n_source, float per_word)
{
    enum { MORE = 50, MOST = 1 << 24 };
    const double words = (double)per_word * n_source + MORE;
    return words < MOST ? (int)words : MOST;
}

void hd_nbest_release(struct hd_nbest *nbest)
{
    for (int i = 0; i < nbest->n; i++) {
        hd_free(nbest->best[i].ids);
        hd_free(nbest->best[i].logprob);
        hd_free(nbest->best[i].attention);
        hd_free(nbest->best[i].raw);
        hd_free(nbest->best[i].vector);
        hd_free(nbest->best[i].top_ids);
        hd_free(nbest->best[i].top_logprob);
    }
    hd_free(nbest->tree);
    hd_free(nbest->best);
    *nbest = (struct hd_nbest){0};
}

static bool run(struct hd_searcher *searcher, const struct hd_search_options *o,
                struct hd_nbest *found, heed_error *err)
{
    while (hd_searcher_size(searcher) > 0) {
        if (o->keep_on && !o->keep_on(o->keep_on_data))
            return hd_fail(err, HEED_CANCELLED, "stopped before everything was translated");
        if (!hd_searcher_step(searcher, err))
            return false;
        struct hd_nbest nbest;
        void *tag;
        while (hd_searcher_take(searcher, &nbest, &tag)) {
            found[(uintptr_t)tag] = nbest;
            if (nbest.n == 0)
                return hd_scores_not_finite(err);
        }
    }
    return true;
}

bool hd_search(const struct hd_net *const *nets, int n_nets, int end,
               const struct hd_search_input *input, size_t n,
               const struct hd_search_options *options, struct hd_nbest *found, heed_error *err)
{
    for (size_t i = 0; i < n; i++)
        found[i] = (struct hd_nbest){0};
    struct hd_searcher *searcher = hd_searcher_new(nets, n_nets, end, err);
    bool ok = searcher && hd_check_search_options(nets, n_nets, options, err);
    for (uintptr_t i = 0; ok && i < n; i++)
        ok = hd_searcher_add(searcher, &input[i], options, (void *)i, err);
    if (ok)
        hd_searcher_set_rows(searcher, options->n_rows);
    ok = ok && run(searcher, options, found, err);
    hd_searcher_free(searcher);
    return hd_search_end(ok, found, n);
}
