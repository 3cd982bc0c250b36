/* common.c -- what searching and forced decoding share. Checks are in check_options.c. */
#include "search/common.h"

#include "base/error.h"
#include "graph/tape.h"

bool hd_search_end(bool is_done, struct hd_nbest *found, size_t n)
{
    for (size_t i = 0; !is_done && i < n; i++)
        hd_nbest_release(&found[i]);
    return is_done;
}

bool hd_add_attention(float *sum, const struct hd_net *net, const struct hd_weights *weights,
                      int row, int n_source, const struct hd_search_options *options, int n_nets,
                      hd_tape *tape, heed_error *err)
{
    const struct hd_arena_mark mark = hd_arena_mark(&tape->arena);
    float *one = hd_tape_take(tape, "attention", (size_t)n_source, sizeof *one);
    if (!one)
        return hd_tape_check(tape, err);
    if (!hd_weights_of(net, weights, row, options->layer, options->head, one))
        return hd_fail(err, HEED_BAD_OPTION, "the model has no attention of layer %d, head %d",
                       options->layer, options->head);
    for (int j = 0; j < n_source; j++)
        sum[j] += one[j] / (float)n_nets;
    hd_arena_rewind(&tape->arena, mark);
    return true;
}

bool hd_scores_not_finite(heed_error *err)
{
    return hd_fail(err, HEED_BAD_MODEL,
                   "the model's numbers are not finite: it has gone wrong while it was trained");
}
