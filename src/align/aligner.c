/* aligner.c -- learning from sentence pairs, and links of sentence pairs.
 *
 * Pairs are looked at in slices that threads share. Invariant: counts are whole numbers, and a slice's links are its own, so that the
 * order in which slices are done changes nothing. */
#include "align/aligner.h"

#include "align/align_tokens.h"
#include "align/both_ways.h"
#include "base/error.h"
#include "base/memory.h"

#include <string.h>

enum {
    SLICE = 256,       /* pairs that a thread does at a time */
    ROUND = 64,        /* slices between two calls of watch() */
    N_WORDS_LOOKS = 5, /* the first of them finds everything equally likely */
    N_HMM_LOOKS = 5,
    MOST_CELLS = 200000000, /* pairs of tokens that are learned from: bounds memory and time */
};

/* Of the Dirichlet prior: near 0, so that few words are a word's translations. */
static const double ALPHA = 0.001;

struct hd_aligner {
    struct hd_token_ids ids[2];
    struct hd_align_model model;
};

void hd_aligner_free(struct hd_aligner *a)
{
    if (!a)
        return;
    hd_token_ids_release(&a->ids[0]);
    hd_token_ids_release(&a->ids[1]);
    hd_pair_table_release(&a->model.table);
    hd_free(a);
}

struct hd_token_ids *hd_aligner_ids(const struct hd_aligner *a, int side)
{
    return (struct hd_token_ids *)&a->ids[side];
}

/* ---- slices ---------------------------------------------------------------------------------------- */

/* What one thread works with. */
struct worker {
    struct hd_both_ways both;
    struct hd_align_tokens tokens[2];
    uint32_t *ids;
    heed_link *links;
    size_t ids_capacity, link_capacity;
    heed_error err;
};

struct workers {
    struct worker *at;
    int n;
};

static bool make_workers(struct workers *w, const struct hd_align_work *work, heed_error *err)
{
    w->n = hd_pool_size(work->threads);
    w->at = hd_alloc((size_t)w->n, sizeof *w->at, err);
    return w->at != NULL;
}

/* The first error of the workers becomes the caller's; they are freed. */
static bool end_workers(struct workers *w, heed_error *err)
{
    bool ok = w->at != NULL;
    for (int i = 0; w->at && i < w->n; i++) {
        struct worker *worker = &w->at[i];
        if (hd_failed(&worker->err))
            ok = hd_fail(err, worker->err.code, "%s", worker->err.message);
        hd_both_ways_release(&worker->both);
        hd_align_tokens_release(&worker->tokens[0]);
        hd_align_tokens_release(&worker->tokens[1]);
        hd_free(worker->ids);
        hd_free(worker->links);
    }
    hd_free(w->at);
    *w = (struct workers){0};
    return ok;
}

/* Slices [first, first + n) of a task, in rounds. */
struct rounds {
    void (*task)(void *context, size_t slice, int worker);
    void *context;
    size_t first;
};

static void run_slice(void *context, int index, int worker)
{
    const struct rounds *r = context;
    r->task(r->context, r->first + (size_t)index, worker);
}

static bool run_slices(const struct hd_align_work *work,
                       void (*task)(void *context, size_t slice, int worker), void *context,
                       size_t n_pairs, size_t n_before, size_t n_all, heed_error *err)
{
    const size_t n_slices = (n_pairs + SLICE - 1) / SLICE;
    for (size_t from = 0; from < n_slices; from += ROUND) {
        struct rounds r = {task, context, from};
        const size_t left = n_slices - from;
        if (work->watch && !work->watch(work->context, n_before + from * SLICE, n_all))
            return hd_fail(err, HEED_CANCELLED, "aligning was stopped");
        hd_pool_run(work->threads, run_slice, &r, (int)(left < ROUND ? left : ROUND));
    }
    return true;
}

/* ---- learning ---------------------------------------------------------------------------------------- */

/* Pairs to learn from, as numbers. */
struct lesson {
    struct hd_aligner *aligner;
    uint32_t *ids;
    size_t n_ids, ids_capacity;
    size_t *start; /* [2 n + 1]: sides in the ids, source and target in turn */
    size_t n, start_capacity;
    enum hd_align_stage stage;
    struct workers workers;
    uint64_t jumps[2][HD_N_JUMPS];
};

static struct hd_id_pair pair_of(const struct lesson *l, size_t i)
{
    const size_t *start = l->start + 2 * i;
    return (struct hd_id_pair){.source = l->ids + start[0],
                               .target = l->ids + start[1],
                               .n_source = (int)(start[1] - start[0]),
                               .n_target = (int)(start[2] - start[1])};
}

static bool keep_side(struct lesson *l, const struct hd_align_tokens *tokens, heed_error *err)
{
    uint32_t *ids = hd_grow(l->ids, &l->ids_capacity, l->n_ids + tokens->n, sizeof *ids, err);
    if (!ids)
        return false;
    l->ids = ids;
    for (size_t i = 0; i < tokens->n; i++)
        ids[l->n_ids++] = tokens->at[i].id;
    return true;
}

/* Every token of one side with every token of the other, and each with none. */
static bool add_cells(struct hd_pair_table *t, const struct hd_align_tokens tokens[2],
                      heed_error *err)
{
    for (size_t j = 0; j < tokens[1].n; j++)
        if (!hd_pair_table_add(t, HD_NO_TOKEN, tokens[1].at[j].id, err))
            return false;
    for (size_t i = 0; i < tokens[0].n; i++) {
        if (!hd_pair_table_add(t, tokens[0].at[i].id, HD_NO_TOKEN, err))
            return false;
        for (size_t j = 0; j < tokens[1].n; j++)
            if (!hd_pair_table_add(t, tokens[0].at[i].id, tokens[1].at[j].id, err))
                return false;
    }
    return true;
}

static bool add_pair(struct lesson *l, const struct hd_align_tokens tokens[2], heed_error *err)
{
    if (tokens[0].n == 0 || tokens[1].n == 0 || tokens[0].n > HD_LONGEST_LEARNED ||
        tokens[1].n > HD_LONGEST_LEARNED)
        return true;
    size_t *start = hd_grow(l->start, &l->start_capacity, 2 * l->n + 3, sizeof *start, err);
    if (!start)
        return false;
    l->start = start;
    if (!keep_side(l, &tokens[0], err))
        return false;
    start[2 * l->n + 1] = l->n_ids;
    if (!keep_side(l, &tokens[1], err))
        return false;
    start[2 * l->n + 2] = l->n_ids;
    l->n++;
    return add_cells(&l->aligner->model.table, tokens, err);
}

/* How many pairs to pass over for each that is taken, by the length of a thousand of them. */
static size_t stride_of(const struct hd_pair_source *pairs)
{
    enum { LOOKED_AT = 1000 };
    const size_t step = pairs->n / LOOKED_AT + 1;
    double cells = 0;
    for (size_t i = 0; i < pairs->n; i += step) {
        struct hd_text sides[2];
        pairs->at(pairs->context, i, sides);
        const size_t longest = 6 * HD_LONGEST_LEARNED; /* some six bytes make a token */
        if (sides[0].n <= longest && sides[1].n <= longest)
            cells += (double)sides[0].n / 6 * ((double)sides[1].n / 6) * (double)step;
    }
    return (size_t)(cells / MOST_CELLS) + 1;
}

static bool read_pairs(struct lesson *l, const struct hd_pair_source *pairs,
                       const struct hd_align_work *work, heed_error *err)
{
    enum { OFTEN = 4096 };
    const size_t stride = stride_of(pairs);
    struct hd_align_tokens tokens[2] = {0};
    bool ok = true;
    for (size_t i = 0, n = 0; ok && i < pairs->n; i += stride, n++) {
        struct hd_text sides[2];
        pairs->at(pairs->context, i, sides);
        for (int side = 0; ok && side < 2; side++)
            ok = hd_align_tokens_cut(&tokens[side], sides[side], &l->aligner->ids[side], true, err);
        ok = ok && add_pair(l, tokens, err);
        if (ok && n % OFTEN == 0 && work->watch && !work->watch(work->context, 0, 1))
            ok = hd_fail(err, HEED_CANCELLED, "aligning was stopped");
    }
    hd_align_tokens_release(&tokens[0]);
    hd_align_tokens_release(&tokens[1]);
    return ok && (l->n > 0 || hd_fail(err, HEED_BAD_TEXT,
                                      "no pair of the text has words on both sides, so there "
                                      "is nothing to learn an alignment from"));
}

static void learn_slice(void *context, size_t slice, int worker)
{
    struct lesson *l = context;
    struct worker *w = &l->workers.at[worker];
    struct hd_align_model *model = &l->aligner->model;
    uint64_t jumps[2][HD_N_JUMPS] = {0};
    for (size_t i = slice * SLICE; i < l->n && i < (slice + 1) * SLICE; i++) {
        const struct hd_id_pair pair = pair_of(l, i);
        if (!hd_both_ways_look(&w->both, model, &pair, l->stage, jumps, &w->err))
            return;
        hd_both_ways_count(&w->both, model, &pair, l->stage);
    }
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < HD_N_JUMPS; k++)
            __atomic_fetch_add(&l->jumps[d][k], jumps[d][k], __ATOMIC_RELAXED);
}

static bool estimate(struct lesson *l, heed_error *err)
{
    struct hd_aligner *a = l->aligner;
    for (int d = 0; l->stage == HD_ALIGN_HMM && d < 2; d++) {
        memcpy(a->model.jumps[d].count, l->jumps[d], sizeof l->jumps[d]);
        hd_jumps_estimate(&a->model.jumps[d]);
    }
    memset(l->jumps, 0, sizeof l->jumps);
    return hd_pair_table_estimate(&a->model.table, a->ids[0].n, a->ids[1].n,
                                  l->stage == HD_ALIGN_FIRST ? 10 * ALPHA : ALPHA, err);
}

static bool learn(struct lesson *l, const struct hd_pair_source *pairs,
                  const struct hd_align_work *work, heed_error *err)
{
    const size_t n_looks = N_WORDS_LOOKS + N_HMM_LOOKS;
    if (!read_pairs(l, pairs, work, err) || !make_workers(&l->workers, work, err))
        return false;
    hd_jumps_begin(&l->aligner->model.jumps[0]);
    hd_jumps_begin(&l->aligner->model.jumps[1]);
    for (size_t look = 0; look < n_looks; look++) {
        l->stage = look == 0              ? HD_ALIGN_FIRST
                   : look < N_WORDS_LOOKS ? HD_ALIGN_WORDS
                                          : HD_ALIGN_HMM;
        if (!run_slices(work, learn_slice, l, l->n, look * l->n, n_looks * l->n, err) ||
            !estimate(l, err))
            return false;
    }
    return true;
}

struct hd_aligner *hd_aligner_learn(const struct hd_pair_source *pairs,
                                    const struct hd_align_work *work, heed_error *err)
{
    struct lesson l = {.aligner = hd_new(struct hd_aligner, err)};
    bool ok = l.aligner && learn(&l, pairs, work, err);
    if (l.workers.at)
        ok = end_workers(&l.workers, err) && ok;
    hd_free(l.ids);
    hd_free(l.start);
    if (ok)
        return l.aligner;
    hd_aligner_free(l.aligner);
    return NULL;
}

/* ---- links ------------------------------------------------------------------------------------------- */

struct linking {
    const struct hd_aligner *aligner;
    const struct hd_pair_source *pairs;
    enum heed_symmetry how;
    struct workers workers;
    struct hd_link_lists *slices; /* of each slice */
};

/* The state that is most likely to have made each token, unless none is more likely; direction 1 turned round. Returns how many. */
static size_t best_links(heed_link *links, const float *share, int n, int n_made, bool is_turned)
{
    size_t n_links = 0;
    for (int j = 0; j < n_made; j++, share += n) {
        float none = 1;
        int best = 0;
        for (int i = 0; i < n; i++) {
            none -= share[i];
            best = share[i] > share[best] ? i : best;
        }
        if (share[best] > none)
            links[n_links++] = is_turned ? (heed_link){j, best} : (heed_link){best, j};
    }
    return n_links;
}

/* Is the word nothing but marks? */
static bool is_all_marks(const struct hd_align_tokens *tokens, size_t token)
{
    const int word = tokens->at[token].word;
    for (size_t i = token; i > 0 && tokens->at[i - 1].word == word; i--)
        if (!tokens->at[i - 1].is_mark)
            return false;
    for (size_t i = token; i < tokens->n && tokens->at[i].word == word; i++)
        if (!tokens->at[i].is_mark)
            return false;
    return true;
}

static bool is_before(struct hd_word_link a, struct hd_word_link b)
{
    return a.target != b.target ? a.target < b.target : a.source < b.source;
}

/* Links of tokens as links of words, sorted. What links marks links words only where both are nothing but marks: "me." and "toi." do not
 * belong together because both end. */
static bool add_links(struct hd_link_lists *lists, const heed_link *links, size_t n_links,
                      const struct hd_align_tokens tokens[2], heed_error *err)
{
    const size_t first = lists->n_links;
    for (size_t i = 0; i < n_links; i++) {
        const size_t s = (size_t)links[i].source, t = (size_t)links[i].target;
        const struct hd_align_token *source = &tokens[0].at[s], *target = &tokens[1].at[t];
        if (source->is_mark != target->is_mark ||
            (source->is_mark && !(is_all_marks(&tokens[0], s) && is_all_marks(&tokens[1], t))))
            continue;
        const struct hd_word_link link = {(uint16_t)source->word, (uint16_t)target->word};
        size_t at = lists->n_links;
        while (at > first && is_before(link, lists->at[at - 1]))
            at--;
        if (at > first && memcmp(&lists->at[at - 1], &link, sizeof link) == 0)
            continue;
        if (!hd_link_lists_add(lists, link, err))
            return false;
        memmove(lists->at + at + 1, lists->at + at, (lists->n_links - 1 - at) * sizeof *lists->at);
        lists->at[at] = link;
    }
    return true;
}

static bool make_pair_room(struct worker *w, size_t n, heed_error *err)
{
    uint32_t *ids = hd_grow(w->ids, &w->ids_capacity, n, sizeof *ids, err);
    w->ids = ids ? ids : w->ids;
    heed_link *links = hd_grow(w->links, &w->link_capacity, 2 * n, sizeof *links, err);
    w->links = links ? links : w->links;
    return ids && links;
}

static bool link_pair(const struct linking *l, struct worker *w, size_t i,
                      struct hd_link_lists *lists)
{
    struct hd_text sides[2];
    struct hd_align_tokens *tokens = w->tokens;
    l->pairs->at(l->pairs->context, i, sides);
    if (!hd_link_lists_next(lists, &w->err))
        return false;
    for (int side = 0; side < 2; side++)
        if (!hd_align_tokens_cut(&tokens[side], sides[side], hd_aligner_ids(l->aligner, side),
                                 false, &w->err))
            return false;
    const size_t n = tokens[0].n, m = tokens[1].n;
    if (n == 0 || m == 0 || n > HD_LONGEST_ALIGNED || m > HD_LONGEST_ALIGNED)
        return true;
    if (!make_pair_room(w, n + m, &w->err))
        return false;
    for (size_t k = 0; k < n + m; k++)
        w->ids[k] = k < n ? tokens[0].at[k].id : tokens[1].at[k - n].id;
    const struct hd_id_pair pair = {w->ids, w->ids + n, (int)n, (int)m};
    if (!hd_both_ways_look(&w->both, &l->aligner->model, &pair, HD_ALIGN_HMM, NULL, &w->err))
        return false;
    heed_link *there = w->links, *back = there + m, *joined = back + n;
    const size_t n_there = best_links(there, w->both.share[0], (int)n, (int)m, false);
    const size_t n_back = best_links(back, w->both.share[1], (int)m, (int)n, true);
    const size_t n_links = heed_symmetrize(l->how, there, n_there, back, n_back, joined);
    return add_links(lists, joined, n_links, tokens, &w->err);
}

static void link_slice(void *context, size_t slice, int worker)
{
    const struct linking *l = context;
    for (size_t i = slice * SLICE; i < l->pairs->n && i < (slice + 1) * SLICE; i++)
        if (!link_pair(l, &l->workers.at[worker], i, &l->slices[slice]))
            return;
}

bool hd_aligner_links(const struct hd_aligner *aligner, const struct hd_pair_source *pairs,
                      enum heed_symmetry how, const struct hd_align_work *work,
                      struct hd_link_lists *lists, heed_error *err)
{
    const size_t n_slices = (pairs->n + SLICE - 1) / SLICE;
    struct linking l = {.aligner = aligner, .pairs = pairs, .how = how};
    l.slices = hd_alloc(n_slices, sizeof *l.slices, err);
    bool ok = l.slices && make_workers(&l.workers, work, err) &&
              run_slices(work, link_slice, &l, pairs->n, 0, pairs->n, err);
    if (l.workers.at)
        ok = end_workers(&l.workers, err) && ok;
    for (size_t i = 0; l.slices && i < n_slices; i++) {
        ok = ok && hd_link_lists_join(lists, &l.slices[i], err);
        hd_link_lists_release(&l.slices[i]);
    }
    hd_free(l.slices);
    return ok;
}
