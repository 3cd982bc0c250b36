/* heard.c -- a path goes over the positions of each segment; a word has those at which one of its tokens is said.
 *
 * Invariant: tokens of a target stand segment by segment in the order of the hypothesis' ids, so that the number of a word on the path is
 * that of a token. */
#include "translate/heard.h"

#include "base/memory.h"
#include "search/ctc_path.h"

static bool has_ctc(const struct hd_ensemble *e)
{
    for (int m = 0; m < e->n; m++)
        if (e->nets[m]->ctc.W)
            return true;
    return false;
}

/* A source word at which a word is heard. */
static void hear(heed_heard *heard, int source_word)
{
    if (heard->first < 0 || source_word < heard->first)
        heard->first = source_word;
    if (source_word > heard->last)
        heard->last = source_word;
}

/* Those of segment p; *has_path is false where there is no path. */
static bool hear_segment(struct hd_line *line, size_t p, const struct hd_hypothesis *h,
                         const struct hd_token_side *from, const struct hd_token_side *to,
                         heed_heard *heard, bool *has_path)
{
    const struct hd_ensemble *e = line->job->ensemble;
    int *path = NULL, n = 0;
    if (!hd_ctc_find_path(e->nets, e->n, hd_segment_source(&line->segments[p]), h->ids, h->n, &path,
                          &n, &line->err))
        return false;
    *has_path = path && (size_t)n == to->first[p + 1] - to->first[p];
    for (size_t s = 0; *has_path && s < (size_t)n; s++) {
        const int word =
                      path[s] < 0 ? -1 : from->wording.of_token[from->first[p] + (size_t)path[s]],
                  source_word = to->wording.of_token[to->first[p] + s];
        if (word >= 0 && source_word >= 0)
            hear(&heard[word], source_word);
    }
    hd_free(path);
    return true;
}

bool hd_describe_heard(struct hd_line *line, heed_translation *tr, size_t k,
                       const struct hd_token_side *from, const struct hd_token_side *to)
{
    if (!has_ctc(line->job->ensemble) || line->is_skipped)
        return true;
    heed_heard *heard = hd_result_keep(line->result, tr->n_words, sizeof *heard, &line->err);
    if (!heard)
        return false;
    for (size_t w = 0; w < tr->n_words; w++)
        heard[w] = (heed_heard){-1, -1};
    bool has_path = true;
    for (size_t p = 0; has_path && p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        const struct hd_nbest *found = &segment->found;
        if (!segment->passes &&
            !hear_segment(line, p, &found->best[k < (size_t)found->n ? (int)k : found->n - 1], from,
                          to, heard, &has_path))
            return false;
    }
    tr->heard = has_path ? heard : NULL;
    return true;
}
