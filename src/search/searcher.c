/* searcher.c -- sentences come, wait, are encoded in groups, are searched, and leave.
 *
 * A sentence that is encoded begins as soon as there are rows for its hypotheses, and its rows are free as soon as it is over, so
 * that a step always has as many rows as it may have. Everything that a sentence needs is kept for the next one. */
#include "search/searcher.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "search/common.h"

#include <string.h>

enum {
    GROUP_SENTENCES = 32,      /* encoded together at most, */
    GROUP_WORDS = 64,          /* and words of them, unless one alone has more; */
    GROUP_WORDS_OF_LARGE = 32, /* of large models fewer: what a layer makes stays on the tape */
    LARGE = 1 << 24,           /* parameters */
    DEFAULT_ROWS = 48,
};

bool hd_has_room(void **array, size_t *capacity, size_t count, size_t size, heed_error *err)
{
    void *grown = hd_grow(*array, capacity, count, size, err);
    *array = grown ? grown : *array;
    return grown != NULL;
}

/* ---- lists ------------------------------------------------------------------------------------------------ */

static bool append(struct hd_sentence_list *list, struct hd_search_sentence *s, heed_error *err)
{
    if (!HD_HAS_ROOM(list->at, list->capacity, list->n + 1, err))
        return false;
    list->at[list->n++] = s;
    return true;
}

static struct hd_search_sentence *remove_at(struct hd_sentence_list *list, size_t i)
{
    struct hd_search_sentence *s = list->at[i];
    memmove(list->at + i, list->at + i + 1,
            (list->n - i - 1) * sizeof(struct hd_search_sentence *));
    list->n--;
    return s;
}

/* Back to those that the next ones are made of; there is room for as many as there are. */
static void put_back(struct hd_searcher *r, struct hd_search_sentence *s)
{
    hd_nbest_release(&s->nbest);
    hd_beam_release(&s->beam);
    r->spare.at[r->spare.n++] = s;
}

static void leave(struct hd_searcher *r, struct hd_search_sentence *s)
{
    for (int m = 0; s->entry >= 0 && m < r->n_nets; m++)
        hd_decoder_leave(r->decoders[m], s->entry);
    if (s->entry >= 0 && r->lm)
        hd_decoder_leave(r->lm_decoder, s->entry);
    s->entry = -1;
}

/* ---- sentences come ------------------------------------------------------------------------------------------ */

/* One that is new or was put back. `spare` has room for all sentences that there are, so that none is lost. */
static struct hd_search_sentence *take_spare(struct hd_searcher *r, heed_error *err)
{
    if (r->spare.n > 0)
        return r->spare.at[--r->spare.n];
    const size_t n = r->waiting.n + r->under_way.n + r->finished.n;
    return HD_HAS_ROOM(r->spare.at, r->spare.capacity, n + 1, err)
               ? hd_new(struct hd_search_sentence, err)
               : NULL;
}

bool hd_searcher_add(struct hd_searcher *r, const struct hd_search_input *input,
                     const struct hd_search_options *options, void *tag, heed_error *err)
{
    if (!hd_check_search_options(r->nets, r->n_nets, options, err) ||
        !hd_check_search_input(r->nets[0], r->end, input, r->n_added, err))
        return false;
    if (options->wants_attention && options->attention != HD_ATTENTION_CROSS)
        return hd_fail(err, HEED_BAD_OPTION,
                       "a search keeps cross-attention alone; self-attention is told of an output "
                       "that is given");
    for (int m = 0; options->ctc_weight > 0 && m < r->n_nets; m++)
        hd_decoder_keep_ctc(r->decoders[m]);
    struct hd_search_sentence *s = take_spare(r, err);
    if (!s)
        return false;
    *s = (struct hd_search_sentence){.input = *input, .options = *options, .tag = tag, .entry = -1};
    if (!append(&r->waiting, s, err)) {
        put_back(r, s);
        return false;
    }
    r->n_added++;
    return true;
}

static size_t most_words(const struct hd_searcher *r)
{
    return hd_params_size(r->nets[0]->params) < LARGE ? GROUP_WORDS : GROUP_WORDS_OF_LARGE;
}

/* Encode the first few of those that wait. */
static bool encode_group(struct hd_searcher *r, heed_error *err)
{
    int entry[GROUP_SENTENCES] = {0}, n = 0;
    hd_batch_begin(&r->group);
    for (; n < GROUP_SENTENCES && (size_t)n < r->waiting.n; n++) {
        const struct hd_sequence source = r->waiting.at[n]->input.source;
        if (n > 0 && r->group.n_source + (size_t)source.n > most_words(r))
            break;
        if (!hd_batch_add(&r->group, source, (struct hd_sequence){0}, -1, err))
            return false;
    }
    const struct hd_batch batch = hd_batch_of(&r->group);
    for (int m = 0; m < r->n_nets + (r->lm != NULL); m++) {
        hd_tape_reset(r->tape);
        if (!hd_decoder_enter(m < r->n_nets ? r->decoders[m] : r->lm_decoder, r->tape, &batch,
                              entry) &&
            !hd_tape_check(r->tape, err))
            return false;
    }
    for (int i = 0; i < n; i++)
        r->waiting.at[i]->entry = entry[i];
    r->n_encoded = (size_t)n;
    return true;
}

/* Words at most. Learned positions end somewhere, and the end marker wants one too. */
static int limit_of(const struct hd_searcher *r, const struct hd_search_input *in)
{
    int limit = in->max_length;
    for (int i = 0; i < r->n_nets; i++)
        if (hd_net_max_target(r->nets[i]) - 1 < limit)
            limit = hd_net_max_target(r->nets[i]) - 1;
    return limit > in->prefix.n ? limit : in->prefix.n;
}

static bool begin(struct hd_searcher *r, struct hd_search_sentence *s, heed_error *err)
{
    const struct hd_beam_task task = {.input = &s->input,
                                      .options = &s->options,
                                      .end = r->end,
                                      .n_words = r->n_words,
                                      .limit = limit_of(r, &s->input)};
    return hd_beam_scratch_reserve(&r->scratch, r->n_words, &s->options, err) &&
           hd_beam_begin(&s->beam, &task, r->tape->k, &r->scratch, err);
}

/* Sentences take the rows that are free; one goes on alone if it has more than all of them. */
static bool begin_sentences(struct hd_searcher *r, heed_error *err)
{
    int used = 0;
    for (size_t i = 0; i < r->under_way.n; i++)
        used += r->under_way.at[i]->beam.places;
    while (r->waiting.n > 0) {
        const int width = hd_beam_width(&r->waiting.at[0]->options);
        if (used > 0 && used + width > r->n_rows)
            break;
        if (r->n_encoded == 0 && !encode_group(r, err))
            return false;
        if (!HD_HAS_ROOM(r->under_way.at, r->under_way.capacity, r->under_way.n + 1, err))
            return false;
        struct hd_search_sentence *s = remove_at(&r->waiting, 0);
        r->n_encoded--;
        r->under_way.at[r->under_way.n++] = s; /* there from now on, also if it cannot begin */
        if (!begin(r, s, err))
            return false;
        used += width;
    }
    return true;
}

/* ---- sentences leave ------------------------------------------------------------------------------------------ */

static bool finish(struct hd_searcher *r, struct hd_search_sentence *s, heed_error *err)
{
    if (!s->is_broken && !hd_beam_collect(&s->beam, &s->nbest, err))
        return false;
    leave(r, s);
    hd_beam_release(&s->beam);
    return append(&r->finished, s, err);
}

/* Those that are over leave. */
static bool finish_sentences(struct hd_searcher *r, heed_error *err)
{
    size_t n_left = 0;
    bool ok = true;
    for (size_t i = 0; i < r->under_way.n; i++) {
        struct hd_search_sentence *s = r->under_way.at[i];
        if (!ok || s->beam.n_open > 0 || !(ok = finish(r, s, err)))
            r->under_way.at[n_left++] = s;
    }
    r->under_way.n = n_left;
    return ok;
}

bool hd_searcher_step(struct hd_searcher *r, heed_error *err)
{
    const bool ok = begin_sentences(r, err) &&
                    (r->under_way.n == 0 || (hd_search_step(r, err) && finish_sentences(r, err)));
    r->has_failed = r->has_failed || !ok;
    return ok;
}

bool hd_searcher_take(struct hd_searcher *r, struct hd_nbest *nbest, void **tag)
{
    if (r->finished.n == 0)
        return false;
    struct hd_search_sentence *s = remove_at(&r->finished, 0);
    *nbest = s->nbest;
    *tag = s->tag;
    s->nbest = (struct hd_nbest){0};
    put_back(r, s);
    return true;
}

/* Which of the list has this tag; its size when none has. */
static size_t find(const struct hd_sentence_list *list, const void *tag)
{
    size_t i = 0;
    while (i < list->n && list->at[i]->tag != tag)
        i++;
    return i;
}

int *hd_searcher_peek(const struct hd_searcher *r, const void *tag, int *n)
{
    const size_t i = find(&r->under_way, tag);
    const struct hd_beam *q = i < r->under_way.n ? &r->under_way.at[i]->beam : NULL;
    *n = q && q->n_open > 0 ? q->open[0].length : 0;
    int *ids = *n > 0 ? hd_alloc((size_t)*n, sizeof *ids, NULL) : NULL;
    for (int t = *n - 1, at = ids ? q->open[0].last : 0; ids && t >= 0; t--) {
        ids[t] = q->branches[at].id;
        at = q->branches[at].parent;
    }
    return ids;
}

bool hd_searcher_cancel(struct hd_searcher *r, const void *tag)
{
    struct hd_sentence_list *const lists[] = {&r->waiting, &r->under_way, &r->finished};
    for (int l = 0; l < 3; l++) {
        const size_t i = find(lists[l], tag);
        if (i == lists[l]->n)
            continue;
        struct hd_search_sentence *s = remove_at(lists[l], i);
        r->n_encoded -= l == 0 && i < r->n_encoded;
        /* Without memory its slots stay taken until the searcher is cleared; nothing else is lost. */
        if (l == 1 && hd_beam_stop(&s->beam, NULL))
            (void)hd_take_back_slots(r, &s->beam, NULL);
        leave(r, s);
        put_back(r, s);
        return true;
    }
    return false;
}

void hd_searcher_clear(struct hd_searcher *r)
{
    struct hd_sentence_list *const lists[] = {&r->waiting, &r->under_way, &r->finished};
    for (int l = 0; l < 3; l++)
        while (lists[l]->n > 0) {
            struct hd_search_sentence *s = lists[l]->at[--lists[l]->n];
            leave(r, s);
            put_back(r, s);
        }
    for (int m = 0; r->has_failed && m < r->n_nets; m++)
        hd_decoder_clear(r->decoders[m]);
    if (r->has_failed && r->lm)
        hd_decoder_clear(r->lm_decoder);
    r->has_failed = false;
    r->n_encoded = 0;
    r->n_slots = 0;
    r->n_free = 0;
}

size_t hd_searcher_size(const struct hd_searcher *r)
{
    return r->waiting.n + r->under_way.n;
}

int hd_searcher_longest(const struct hd_searcher *r)
{
    int longest = 0;
    for (size_t i = 0; i < r->under_way.n; i++) {
        const struct hd_beam *q = &r->under_way.at[i]->beam;
        if (q->n_open > 0 && q->open[0].length > longest)
            longest = q->open[0].length;
    }
    return longest;
}

/* ---- a searcher -------------------------------------------------------------------------------------------------- */

void hd_searcher_set_rows(struct hd_searcher *r, int n_rows)
{
    r->n_rows = n_rows > 0 ? n_rows : 1;
}

static bool make(struct hd_searcher *r, const struct hd_net *const *nets, int n_nets,
                 heed_error *err)
{
    r->n_words = nets[0]->config.target_vocab;
    r->n_rows = DEFAULT_ROWS;
    r->nets = hd_alloc((size_t)n_nets, sizeof(const struct hd_net *), err);
    r->decoders = hd_alloc((size_t)n_nets, sizeof(struct hd_decoder *), err);
    r->out = hd_alloc((size_t)n_nets, sizeof(hd_node *), err);
    r->ctc = hd_alloc((size_t)n_nets, sizeof *r->ctc, err);
    r->tape = hd_tape_new(err);
    if (!r->nets || !r->decoders || !r->out || !r->ctc || !r->tape)
        return false;
    for (; r->n_nets < n_nets; r->n_nets++) {
        r->nets[r->n_nets] = nets[r->n_nets];
        if (!(r->decoders[r->n_nets] = hd_decoder_new(nets[r->n_nets], err)))
            return false;
    }
    return true;
}

struct hd_searcher *hd_searcher_new(const struct hd_net *const *nets, int n_nets, int end,
                                    heed_error *err)
{
    if (!hd_check_nets(nets, n_nets, end, err))
        return NULL;
    struct hd_searcher *r = hd_new(struct hd_searcher, err);
    if (!r)
        return NULL;
    r->end = end;
    if (make(r, nets, n_nets, err))
        return r;
    hd_searcher_free(r);
    return NULL;
}

bool hd_searcher_fuse(struct hd_searcher *r, const struct hd_net *lm, float weight, heed_error *err)
{
    if (lm->config.task != HD_TASK_LANGUAGE_MODEL || lm->config.target_vocab != r->n_words)
        return hd_fail(err, HEED_BAD_OPTION,
                       "only a language model of the same %d words can be fused with a search",
                       r->n_words);
    r->lm_decoder = hd_decoder_new(lm, err);
    r->lm = r->lm_decoder ? lm : NULL;
    r->lm_weight = weight;
    return r->lm != NULL;
}

void hd_searcher_free(struct hd_searcher *r)
{
    if (!r)
        return;
    hd_searcher_clear(r);
    for (size_t i = 0; i < r->spare.n; i++)
        hd_free(r->spare.at[i]);
    for (int m = 0; m < r->n_nets; m++)
        hd_decoder_free(r->decoders[m]);
    for (int m = 0; r->ctc && m < r->n_nets; m++)
        hd_ctc_states_release(&r->ctc[m]);
    hd_decoder_free(r->lm_decoder);
    hd_tape_free(r->tape);
    hd_beam_scratch_release(&r->scratch);
    hd_batch_builder_release(&r->group);
    void *const others[] = {
        r->nets,     r->decoders,    r->out,   r->waiting.at, r->under_way.at, r->finished.at,
        r->spare.at, r->free_slots,  r->entry, r->previous,   r->length,       r->slot,
        r->past,     r->next_scores, r->alpha, r->looks,      r->ctc};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        hd_free(others[i]);
    hd_free(r);
}
