/* align.c -- aligners as programs have them: pairs in memory, threads of their own. */
#include "align/aligner.h"
#include "align/lexicon.h"
#include "base/error.h"
#include "base/memory.h"

#include <string.h>

struct heed_aligner {
    struct hd_aligner *learned;
    struct hd_pool *threads;
    struct hd_align_work work;
};

struct given {
    const heed_text_pair *pairs;
};

static void given_pair(const void *context, size_t i, struct hd_text sides[2])
{
    const heed_text_pair *pair = &((const struct given *)context)->pairs[i];
    const char *texts[2] = {pair->source ? pair->source : "", pair->target ? pair->target : ""};
    for (int side = 0; side < 2; side++)
        sides[side] = (struct hd_text){texts[side], strlen(texts[side])};
}

void heed_aligner_free(heed_aligner *a)
{
    if (!a)
        return;
    hd_aligner_free(a->learned);
    hd_pool_free(a->threads);
    hd_free(a);
}

heed_aligner *heed_aligner_new(const heed_text_pair *pairs, size_t n,
                               const heed_aligner_options *options, heed_error *err)
{
    heed_aligner_options o = {0};
    if (!hd_is_given(pairs, "pairs", err))
        return NULL;
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    heed_aligner *a = hd_new(heed_aligner, err);
    if (!a)
        return NULL;
    const struct given given = {pairs};
    const struct hd_pair_source source = {n, given_pair, &given};
    a->threads = hd_pool_new(o.n_threads == 0 ? heed_cores() : o.n_threads, err);
    a->work = (struct hd_align_work){a->threads, o.watch, o.context};
    a->learned = a->threads ? hd_aligner_learn(&source, &a->work, err) : NULL;
    if (a->learned)
        return a;
    heed_aligner_free(a);
    return NULL;
}

/* ---- links ------------------------------------------------------------------------------------------- */

void heed_alignments_free(heed_alignments *alignments)
{
    if (!alignments)
        return;
    hd_free(alignments->links ? alignments->links[0] : NULL);
    hd_free(alignments->links);
    hd_free(alignments->n_links);
    hd_free(alignments);
}

/* All links are in one array, which begins with those of the first pair. */
static heed_alignments *alignments_of(const struct hd_link_lists *lists, heed_error *err)
{
    heed_alignments *found = hd_new(heed_alignments, err);
    if (!found)
        return NULL;
    found->links = hd_alloc(lists->n + 1, sizeof *found->links, err);
    found->n_links = hd_alloc(lists->n + 1, sizeof *found->n_links, err);
    heed_link *at = found->links ? hd_alloc(lists->n_links + 1, sizeof *at, err) : NULL;
    if (at)
        found->links[0] = at;
    if (!at || !found->n_links) {
        heed_alignments_free(found);
        return NULL;
    }
    found->n = lists->n;
    for (size_t i = 0; i < lists->n; i++) {
        const struct hd_word_link *links = hd_link_list(lists, i, &found->n_links[i]);
        found->links[i] = at;
        for (size_t k = 0; k < found->n_links[i]; k++)
            *at++ = (heed_link){links[k].source, links[k].target};
    }
    return found;
}

heed_alignments *heed_aligner_align(heed_aligner *a, const heed_text_pair *pairs, size_t n,
                                    enum heed_symmetry how, heed_error *err)
{
    if (!hd_is_given(a, "aligner", err) || !hd_is_given(pairs, "pairs", err))
        return NULL;
    const struct given given = {pairs};
    const struct hd_pair_source source = {n, given_pair, &given};
    struct hd_link_lists lists = {0};
    heed_alignments *found = NULL;
    if (hd_aligner_links(a->learned, &source, how, &a->work, &lists, err))
        found = alignments_of(&lists, err);
    hd_link_lists_release(&lists);
    return found;
}

heed_lexicon *heed_aligner_lexicon(heed_aligner *a, const heed_text_pair *pairs, size_t n,
                                   heed_error *err)
{
    if (!hd_is_given(a, "aligner", err) || !hd_is_given(pairs, "pairs", err))
        return NULL;
    const struct given given = {pairs};
    const struct hd_pair_source source = {n, given_pair, &given};
    struct hd_link_lists lists = {0};
    heed_lexicon *lexicon = NULL;
    if (hd_aligner_links(a->learned, &source, HEED_SYMMETRY_INTERSECT, &a->work, &lists, err))
        lexicon = hd_lexicon_new(a->learned, &source, &lists, err);
    hd_link_lists_release(&lists);
    return lexicon;
}
