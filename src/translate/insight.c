/* insight.c -- steps are read by forced decoding of what was found, so that a search that nobody looks into keeps nothing for it; the
 * tree is the search's own. */
#include "translate/insight.h"

#include "base/memory.h"

#include <string.h>

static const struct hd_hypothesis *kth(const struct hd_segment *segment, size_t k)
{
    return &segment->found.best[k < (size_t)segment->found.n ? (int)k : segment->found.n - 1];
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

/* What the nets say at each step of a hypothesis; found is to be released. */
static bool read_steps(const struct hd_job *job, const struct hd_segment *segment,
                       const struct hd_hypothesis *h, struct hd_nbest *found, heed_error *err)
{
    const struct hd_ensemble *e = job->ensemble;
    struct hd_search_input input = hd_segment_input(segment);
    struct hd_search_options options = job->search[HD_SEARCH_FIRST];
    input.prefix = (struct hd_sequence){.ids = h->ids, .n = h->n};
    options.n_top = job->options.n_steps;
    options.wants_raw = true;
    options.wants_attention = options.words_alone = false;
    options.coverage_penalty = 0;
    return hd_force_decode(e->nets, e->n, hd_vocab_end(e->target), &input, 1, &options, found, err);
}

/* Texts of ids belong to the vocabulary, which may end before the result: they are copied. */
static const char *keep_piece(heed_result *result, const struct hd_vocab *vocab, int id,
                              heed_error *err)
{
    const char *piece = hd_vocab_piece(vocab, id);
    char *copy = hd_result_keep(result, strlen(piece) + 1, 1, err);
    return copy ? strcpy(copy, piece) : NULL;
}

static bool tell_steps(struct hd_line *line, const struct hd_hypothesis *read, size_t n_rows,
                       heed_choice *to)
{
    const struct hd_job *job = line->job;
    const size_t n = n_rows * (size_t)job->options.n_steps;
    for (size_t i = 0; i < n; i++) {
        const bool is_word = read->top_ids[i] >= 0;
        to[i].logprob = is_word ? (double)read->top_logprob[i] : 0;
        to[i].text =
            is_word ? keep_piece(line->result, job->ensemble->target, read->top_ids[i], &line->err)
                    : "";
        if (!to[i].text)
            return false;
    }
    return true;
}

/* The scores of which the weights are made, as these are told; of a text of one segment. */
static bool tell_raw(struct hd_line *line, heed_translation *tr, const struct hd_hypothesis *read,
                     size_t n_rows)
{
    const struct hd_job *job = line->job;
    const size_t n = (size_t)line->segments[0].n_ids;
    const bool is_told = read->raw && tr->subword_attention && line->n_segments == 1 &&
                         job->options.attention == HEED_ATTENTION_CROSS &&
                         tr->n_subword_rows == n_rows && tr->n_subword_columns == n;
    if (read->vector) {
        tr->vector =
            hd_result_keep(line->result, (size_t)read->n_vector, sizeof *tr->vector, &line->err);
        if (!tr->vector)
            return false;
        memcpy(tr->vector, read->vector, (size_t)read->n_vector * sizeof *tr->vector);
        tr->n_vector = (size_t)read->n_vector;
    }
    if (!is_told)
        return true;
    tr->subword_scores =
        hd_result_keep(line->result, n_rows * n, sizeof *tr->subword_scores, &line->err);
    for (size_t i = 0; tr->subword_scores && i < n_rows; i++) {
        const size_t step = i + 1 < n_rows ? i + (size_t)job->shift : i;
        memcpy(tr->subword_scores + i * n, read->raw + step * n, n * sizeof *read->raw);
    }
    return tr->subword_scores != NULL;
}

bool hd_describe_steps(struct hd_line *line, heed_translation *tr, size_t k)
{
    const struct hd_job *job = line->job;
    const size_t n_choices = (size_t)job->options.n_steps;
    if (n_choices == 0 || line->is_skipped)
        return true;
    tr->choices =
        hd_result_keep(line->result, tr->n_subwords * n_choices, sizeof *tr->choices, &line->err);
    if (!tr->choices)
        return false;
    tr->n_choices = n_choices;
    heed_choice *at = tr->choices;
    for (size_t p = 0; p < line->n_segments; p++) {
        const struct hd_segment *segment = &line->segments[p];
        struct hd_nbest found = {0};
        if (segment->passes)
            continue;
        const struct hd_hypothesis *h = kth(segment, k);
        const size_t n_rows = (size_t)h->n + !h->is_cut;
        const bool ok = read_steps(job, segment, h, &found, &line->err) &&
                        tell_steps(line, found.best, n_rows, at) &&
                        tell_raw(line, tr, found.best, n_rows);
        hd_nbest_release(&found);
        if (!ok)
            return false;
        at += n_rows * n_choices;
    }
    return true;
}

/* ---- the beam --------------------------------------------------------------------------------------------------- */

static bool tell_tree(struct hd_line *line, size_t p, heed_beam_node *to, int first)
{
    const struct hd_nbest *found = &line->segments[p].found;
    const struct hd_vocab *vocab = line->job->ensemble->target;
    for (size_t i = 0; i < found->n_tree; i++) {
        const struct hd_tree_node *from = &found->tree[i];
        to[i] = (heed_beam_node){.sentence = (int)p,
                                 .parent = from->parent < 0 ? -1 : first + from->parent,
                                 .logprob = (double)from->logprob,
                                 .total = from->total,
                                 .score = from->score,
                                 .rank = from->rank};
        to[i].text = from->id >= 0 ? keep_piece(line->result, vocab, from->id, &line->err) : "";
        if (!to[i].text)
            return false;
    }
    return true;
}

bool hd_describe_beam(struct hd_line *line)
{
    heed_result *r = line->result;
    size_t n = 0;
    for (size_t p = 0; p < line->n_segments; p++)
        n += line->segments[p].found.n_tree;
    if (!line->job->options.has_tree || n > INT32_MAX)
        return true;
    r->beam = hd_result_keep(r, n, sizeof *r->beam, &line->err);
    for (size_t p = 0; r->beam && p < line->n_segments; p++) {
        if (!tell_tree(line, p, r->beam + r->n_beam, (int)r->n_beam))
            return false;
        r->n_beam += line->segments[p].found.n_tree;
    }
    return r->beam != NULL;
}
