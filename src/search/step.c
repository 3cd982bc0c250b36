/* step.c -- one word for every open hypothesis of every sentence under way: the rows of one step.
 *
 * Decoders advance for all rows at once; logits exist for a slice of the rows at a time, which stays in the cache. */
#include "search/searcher.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "search/common.h"
#include "search/neighbours.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    SLICE_FLOATS = 1 << 17, /* logits that exist at a time: half of a cache, */
    SLICE_ROWS = 30,        /* but for so many rows at least the output layer's weights are read */
};

static const struct hd_beam *beam_at(const struct hd_searcher *r, size_t i)
{
    return &r->under_way.at[i]->beam;
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

static int take_slot(struct hd_searcher *r)
{
    return r->n_free > 0 ? r->free_slots[--r->n_free] : r->n_slots++;
}

bool hd_take_back_slots(struct hd_searcher *r, struct hd_beam *q, heed_error *err)
{
    if (!HD_HAS_ROOM(r->free_slots, r->free_capacity, r->n_free + q->n_freed, err))
        return false;
    for (; q->n_freed > 0; q->n_freed--)
        r->free_slots[r->n_free++] = q->freed[q->n_freed - 1];
    return true;
}

static bool reserve_rows(struct hd_searcher *r, heed_error *err)
{
    size_t n = 0, n_past = 0;
    for (size_t i = 0; i < r->under_way.n; i++) {
        n += (size_t)beam_at(r, i)->n_open;
        n_past += (size_t)beam_at(r, i)->n_open * (size_t)beam_at(r, i)->open[0].length;
    }
    return HD_HAS_ROOM(r->entry, r->row_capacity[0], n, err) &&
           HD_HAS_ROOM(r->previous, r->row_capacity[1], n, err) &&
           HD_HAS_ROOM(r->length, r->row_capacity[2], n, err) &&
           HD_HAS_ROOM(r->slot, r->row_capacity[3], n, err) &&
           HD_HAS_ROOM(r->past, r->past_capacity, n_past, err) &&
           HD_HAS_ROOM(r->next_scores, r->next_scores_capacity, n, err);
}

/* What a sentence's next word must look at; NULL: it is free. */
static const float *look_of(const struct hd_search_input *in, int step)
{
    for (int i = 0; i < in->n_looks; i++)
        if (in->looks[i].step == step)
            return in->looks[i].alpha;
    return NULL;
}

/* Rows that must look somewhere, where there are such. */
static bool make_looks(struct hd_searcher *r, heed_error *err)
{
    bool has_any = false;
    int b = 0;
    for (size_t i = 0; i < r->under_way.n; i++)
        has_any = has_any || beam_at(r, i)->input->n_looks > 0;
    r->rows.looks = NULL;
    if (!has_any)
        return true;
    if (!HD_HAS_ROOM(r->looks, r->looks_capacity, (size_t)r->rows.n, err))
        return false;
    for (size_t i = 0; i < r->under_way.n; i++)
        for (int j = 0; j < beam_at(r, i)->n_open; j++)
            r->looks[b++] = look_of(beam_at(r, i)->input, beam_at(r, i)->open[j].length);
    r->rows.looks = r->looks;
    return true;
}

static bool make_rows(struct hd_searcher *r, heed_error *err)
{
    if (!reserve_rows(r, err))
        return false;
    int b = 0, *past = r->past;
    for (size_t i = 0; i < r->under_way.n; i++) {
        struct hd_beam *q = &r->under_way.at[i]->beam;
        for (int j = 0; j < q->n_open; j++, b++) {
            const struct hd_open_hypothesis *hyp = &q->open[j];
            struct hd_branch *last = &q->branches[hyp->last];
            r->entry[b] = r->under_way.at[i]->entry;
            r->previous[b] = last->id;
            r->length[b] = hyp->length;
            if (last->slot < 0) /* the samples' first steps are one and the same */
                last->slot = take_slot(r);
            r->slot[b] = last->slot;
            int t = hyp->length;
            for (int at = last->parent; t > 0; at = q->branches[at].parent)
                past[--t] = q->branches[at].slot;
            past += hyp->length;
        }
    }
    r->rows = (struct hd_step_rows){.n = b,
                                    .entry = r->entry,
                                    .previous = r->previous,
                                    .length = r->length,
                                    .past = r->past,
                                    .slot = r->slot};
    return make_looks(r, err);
}

/* ---- decoders ------------------------------------------------------------------------------------------------ */

/* Zeros for what the rows will have looked at, where their sentences ask for it. */
static bool make_alpha(struct hd_searcher *r, heed_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < r->under_way.n; i++)
        if (hd_needs_attention(beam_at(r, i)->options))
            n += (size_t)beam_at(r, i)->n_open * (size_t)beam_at(r, i)->input->source.n;
    if (!HD_HAS_ROOM(r->alpha, r->alpha_capacity, n + 1, err))
        return false;
    memset(r->alpha, 0, n * sizeof *r->alpha);
    float *next = r->alpha;
    int b = 0;
    for (size_t i = 0; i < r->under_way.n; i++)
        for (int j = 0; j < beam_at(r, i)->n_open; j++, b++) {
            r->next_scores[b] = (struct hd_next_scores){0};
            if (!hd_needs_attention(beam_at(r, i)->options))
                continue;
            r->next_scores[b].alpha = next;
            next += beam_at(r, i)->input->source.n;
        }
    return true;
}

/* Adds what a net looked at to the rows' attention. */
static bool add_attention(struct hd_searcher *r, const struct hd_net *net,
                          const struct hd_stepped *stepped, heed_error *err)
{
    int b = 0;
    for (size_t i = 0; i < r->under_way.n; i++)
        for (int j = 0; j < beam_at(r, i)->n_open; j++, b++) {
            const int S = stepped->cross.n_layers ? stepped->cross.n_keys[b] : 0;
            float *sum = (float *)r->next_scores[b].alpha;
            if (sum && !hd_add_attention(sum, net, &stepped->cross, b, S, beam_at(r, i)->options,
                                         r->n_nets, r->tape, err))
                return false;
        }
    return true;
}

/* All rows through the decoders, up to what enters the output layers. */
static bool advance(struct hd_searcher *r, heed_error *err)
{
    hd_tape_reset(r->tape);
    if (!make_alpha(r, err))
        return false;
    for (int m = 0; m < r->n_nets; m++) {
        const struct hd_stepped stepped = hd_decoder_step(r->decoders[m], r->tape, &r->rows);
        if (!hd_tape_check(r->tape, err) || !add_attention(r, r->nets[m], &stepped, err))
            return false;
        r->out[m] = stepped.out;
    }
    r->lm_out = r->lm ? hd_decoder_step(r->lm_decoder, r->tape, &r->rows).out : NULL;
    return hd_tape_check(r->tape, err);
}

/* ---- the next word ---------------------------------------------------------------------------------------------- */

/* Is the likeliest word of each of its rows enough? */
static bool has_words_alone(const struct hd_searcher *r, size_t i)
{
    const struct hd_search_options *o = beam_at(r, i)->options;
    return o->words_alone && o->no_repeat == 0 && beam_at(r, i)->input->once.n == 0 &&
           beam_at(r, i)->input->never.n == 0 && !beam_at(r, i)->input->neighbours &&
           r->n_nets == 1 && !r->lm && !(o->ctc_weight > 0);
}

/* Some rows, those of the sentences [first, end). */
struct slice {
    size_t first, end;
    int from, n;
};

/* From the sentence `first` on, as many as give enough rows and are asked in the same way. */
static struct slice slice_from(const struct hd_searcher *r, size_t first, int from)
{
    const int fit = SLICE_FLOATS / r->n_words, enough = fit > SLICE_ROWS ? fit : SLICE_ROWS;
    struct slice s = {first, first + 1, from, beam_at(r, first)->n_open};
    while (s.end < r->under_way.n && s.n + beam_at(r, s.end)->n_open <= enough &&
           has_words_alone(r, s.end) == has_words_alone(r, first))
        s.n += beam_at(r, s.end++)->n_open;
    return s;
}

/* Only the likeliest word of each row. */
static bool ask_for_words(struct hd_searcher *r, const struct slice *s, heed_error *err)
{
    int *words = hd_tape_take(r->tape, "hd_search", (size_t)s->n, sizeof *words);
    float *nothing = hd_tape_take(r->tape, "hd_search", 1, sizeof *nothing);
    if (!words || !nothing ||
        !hd_best_words(&r->nets[0]->head, hd_slice(r->out[0], s->from, s->n), words))
        return hd_tape_check(r->tape, err);
    *nothing = 0;
    int b = s->from;
    for (size_t i = s->first; i < s->end; i++)
        for (int j = 0; j < beam_at(r, i)->n_open; j++, b++) {
            const int *word = &words[b - s->from];
            r->under_way.at[i]->is_broken = r->under_way.at[i]->is_broken || *word < 0;
            r->next_scores[b].n_top = 1;
            r->next_scores[b].top = word;
            r->next_scores[b].top_value = nothing;
        }
    return true;
}

/* log p + w log p_lm */
static hd_node *fused(const struct hd_searcher *r, const struct slice *s, hd_node *logp)
{
    hd_node *lm = hd_logits(&r->lm->head, hd_slice(r->lm_out, s->from, s->n));
    return hd_add(logp, hd_scale(hd_log_softmax(lm, NULL), r->lm_weight));
}

/* Logits of the rows; of several nets the mean of their log-probabilities. */
static hd_node *logits_of(struct hd_searcher *r, const struct slice *s)
{
    hd_node *x = NULL;
    for (int m = 0; m < r->n_nets; m++) {
        hd_node *logits = hd_logits(&r->nets[m]->head, hd_slice(r->out[m], s->from, s->n));
        if (r->n_nets > 1 || r->lm)
            logits = hd_log_softmax(logits, NULL);
        x = x ? hd_add(x, logits) : logits;
    }
    assert(x); /* there is a net, at least */
    x = r->n_nets > 1 ? hd_scale(x, 1 / (float)r->n_nets) : x;
    return r->lm ? fused(r, s, x) : x;
}

/* What remembered steps say is mixed with what the nets do. */
static bool mix_neighbours(struct hd_searcher *r, const struct hd_neighbours *neighbours, int row,
                           struct hd_next_scores *scores, int *top, float *value, heed_error *err)
{
    const size_t n = (size_t)r->n_nets;
    const float **states = hd_tape_take(r->tape, "hd_search", n, sizeof *states);
    int *widths = hd_tape_take(r->tape, "hd_search", n, sizeof *widths);
    if (!states || !widths)
        return hd_tape_check(r->tape, err);
    for (int m = 0; m < r->n_nets; m++) {
        widths[m] = hd_head_width(&r->nets[m]->head);
        states[m] = r->out[m]->x + (size_t)row * (size_t)widths[m];
    }
    hd_neighbours_mix(neighbours, r->tape->k, states, widths, r->n_nets, scores, top, value);
    return true;
}

/* What the nets say of the next word of the rows. */
static bool ask(struct hd_searcher *r, const struct slice *s, heed_error *err)
{
    hd_node *x = logits_of(r, s);
    int b = s->from;
    for (size_t i = s->first; i < s->end; i++) {
        const int k = hd_beam_top_k(beam_at(r, i));
        for (int j = 0; j < beam_at(r, i)->n_open; j++, b++) {
            struct hd_next_scores *o = &r->next_scores[b];
            int *top = hd_tape_take(r->tape, "hd_search", (size_t)k, sizeof *top);
            float *value = hd_tape_take(r->tape, "hd_search", (size_t)k, sizeof *value);
            if (!hd_tape_check(r->tape, err))
                return false;
            o->x = x->x + (size_t)(b - s->from) * (size_t)r->n_words;
            o->log_sum = r->tape->k->log_sum(&o->largest, top, value, o->x, r->n_words, k);
            o->top = top;
            o->top_value = value;
            o->n_top = k;
            if (!isfinite(o->largest) || !isfinite(o->log_sum))
                r->under_way.at[i]->is_broken = true;
            if (r->n_nets > 1 || r->lm) /* what is said, although it does not add up to 1 */
                o->largest = o->log_sum = 0;
            if (beam_at(r, i)->options->ctc_weight > 0 && !r->under_way.at[i]->is_broken &&
                !hd_search_mix_ctc(r, beam_at(r, i)->options, b, o, top, value, err))
                return false;
            const struct hd_neighbours *near = beam_at(r, i)->input->neighbours;
            if (near && !mix_neighbours(r, near, b, o, top, value, err))
                return false;
        }
    }
    return true;
}

/* Every sentence of a slice chooses; a broken one goes no further. */
static bool choose(struct hd_searcher *r, const struct slice *s, heed_error *err)
{
    int row = s->from;
    for (size_t i = s->first; i < s->end; i++) {
        struct hd_search_sentence *sentence = r->under_way.at[i];
        const int n_rows = sentence->beam.n_open;
        const bool ok = sentence->is_broken
                            ? hd_beam_stop(&sentence->beam, err)
                            : hd_beam_step(&sentence->beam, r->next_scores + row, err);
        if (!ok || !hd_take_back_slots(r, &sentence->beam, err))
            return false;
        row += n_rows;
    }
    return true;
}

bool hd_search_step(struct hd_searcher *r, heed_error *err)
{
    if (!make_rows(r, err) || !advance(r, err))
        return false;
    const struct hd_arena_mark before = hd_arena_mark(&r->tape->arena);
    for (struct slice s = {0}; s.end < r->under_way.n;) {
        hd_arena_rewind(&r->tape->arena, before);
        s = slice_from(r, s.end, s.from + s.n);
        if (!(has_words_alone(r, s.first) ? ask_for_words : ask)(r, &s, err) || !choose(r, &s, err))
            return false;
    }
    return true;
}
