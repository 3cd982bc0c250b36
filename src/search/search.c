/* search.c -- many sentences are searched at once: the hypotheses of all that are under way are the rows of one step.
 *
 * Sentences are encoded in groups and wait; whenever there is room they begin, each with a beam of its own, and leave
 * when it is over. Invariant: a slot of the decoders belongs to one word of one beam, or is free. */
#include "search/search.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "search/common.h"
#include "search/beam.h"
#include "text/vocab.h"

#include <assert.h>
#include <math.h>
#include <string.h>

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

void hd_nbest_release(struct hd_nbest *found)
{
    for (int i = 0; i < found->n; i++) {
        hd_free(found->best[i].ids);
        hd_free(found->best[i].logprob);
        hd_free(found->best[i].attention);
    }
    hd_free(found->best);
    *found = (struct hd_nbest){0};
}

/* Words at most. Learned positions end somewhere, and the end marker wants one too. */
static int limit_of(const struct hd_net *const *nets, int n_nets, const struct hd_search_input *in)
{
    int limit = in->max_length;
    for (int i = 0; i < n_nets; i++)
        if (!nets[i]->rnn && nets[i]->config.positions == HD_POSITIONS_LEARNED &&
            nets[i]->config.max_positions - 1 < limit)
            limit = nets[i]->config.max_positions - 1;
    return limit > in->n_prefix ? limit : in->n_prefix;
}

/* ---- the search ------------------------------------------------------------------------------------------------------------------ */

enum {
    GROUP_SENTENCES = 32,   /* encoded together at most, */
    GROUP_WORDS = 64,       /* and words of them, unless one alone has more */
    SLICE_FLOATS = 1 << 17, /* logits that exist at a time: half of a cache, */
    SLICE_ROWS = 24,        /* but for so many rows at least the output layer's weights are read */
};

/* A sentence under way, or encoded and waiting. */
struct sentence {
    size_t index; /* in the input */
    int place;    /* in the decoders */
    struct hd_beam beam;
};

struct run {
    const struct hd_net *const *nets;
    int n_nets, end, n_words;
    const struct hd_search_options *options;
    const struct hd_search_input *input;
    size_t n, n_encoded;
    struct hd_nbest *found;
    struct hd_decoder **decoders; /* [n_nets]; a sentence has the same place in all of them */
    hd_tape *tape; /* of the group being encoded, then of a step: what lasts is in the decoders */
    hd_node **out; /* [n_nets]: what enters the output layers, for all rows of the step */
    struct hd_beam_scratch scratch;
    struct sentence waiting[GROUP_SENTENCES];
    int n_waiting, next_waiting;
    struct sentence *under_way;
    size_t n_under_way, under_way_capacity;
    int *free_slots, n_slots;
    size_t n_free, free_capacity;
    /* The rows of a step. */
    struct hd_rows rows;
    int *place, *previous, *length, *slot, *past;
    size_t row_capacity[4], past_capacity;
    struct hd_next_scores *next_scores;
    size_t next_scores_capacity;
    float *alpha;
    size_t alpha_capacity;
};

/* Room for `count` in an array that *array points to. */
#define HAS_ROOM(array, capacity, count, err) \
    has_room((void **)&(array), &(capacity), count, sizeof *(array), err)
static bool has_room(void **array, size_t *capacity, size_t count, size_t size, heed_error *err)
{
    void *grown = hd_grow(*array, capacity, count, size, err);
    *array = grown ? grown : *array;
    return grown != NULL;
}

/* ---- sentences begin ----------------------------------------------------------------------------------------------------------- */

/* Encode the next few sentences, all of them waiting then. */
static bool encode_group(struct run *r, heed_error *err)
{
    struct hd_ids ids = {0};
    int length[GROUP_SENTENCES], place[GROUP_SENTENCES] = {0}, n = 0;
    bool is_well = true;
    for (; is_well && n < GROUP_SENTENCES && r->n_encoded + (size_t)n < r->n; n++) {
        const size_t index = r->n_encoded + (size_t)n;
        const struct hd_search_input *in = &r->input[index];
        if (n > 0 && ids.n + (size_t)in->n_source > GROUP_WORDS)
            break;
        for (int j = 0; is_well && j < in->n_source; j++)
            is_well = hd_ids_add(&ids, in->source[j], err);
        length[n] = in->n_source;
        r->waiting[n] = (struct sentence){.index = index};
    }
    const struct hd_batch batch = {.n = n, .source = ids.at, .source_length = length};
    for (int m = 0; is_well && m < r->n_nets; m++) {
        hd_tape_reset(r->tape);
        is_well =
            hd_decoder_enter(r->decoders[m], r->tape, &batch, place) || hd_tape_check(r->tape, err);
    }
    hd_ids_release(&ids);
    if (!is_well)
        return false;
    for (int i = 0; i < n; i++)
        r->waiting[i].place = place[i];
    r->n_encoded += (size_t)n;
    r->n_waiting = n;
    r->next_waiting = 0;
    return true;
}

/* Hypotheses that those under way may have at a time. */
static int rows_in_use(const struct run *r)
{
    int n = 0;
    for (size_t i = 0; i < r->n_under_way; i++)
        n += r->under_way[i].beam.places;
    return n;
}

/* Sentences take the places that are free. */
static bool begin_sentences(struct run *r, heed_error *err)
{
    const int width = hd_beam_width(r->options);
    for (int used = rows_in_use(r); used == 0 || used + width <= r->options->n_rows;
         used += width) {
        if (r->next_waiting == r->n_waiting && (r->n_encoded == r->n || !encode_group(r, err)))
            return r->n_encoded == r->n && r->next_waiting == r->n_waiting;
        if (!HAS_ROOM(r->under_way, r->under_way_capacity, r->n_under_way + 1, err))
            return false;
        struct sentence *s = &r->under_way[r->n_under_way++];
        *s = r->waiting[r->next_waiting++];
        const struct hd_search_input *in = &r->input[s->index];
        const struct hd_beam_task task = {.input = in,
                                          .options = r->options,
                                          .end = r->end,
                                          .n_words = r->n_words,
                                          .limit = limit_of(r->nets, r->n_nets, in)};
        if (!hd_beam_begin(&s->beam, &task, r->tape->k, &r->scratch, err))
            return false;
    }
    return true;
}

/* ---- one step -------------------------------------------------------------------------------------------------------------------- */

static int take_slot(struct run *r)
{
    return r->n_free > 0 ? r->free_slots[--r->n_free] : r->n_slots++;
}

static bool make_rows(struct run *r, heed_error *err)
{
    size_t n = 0, n_past = 0;
    for (size_t i = 0; i < r->n_under_way; i++) {
        const struct hd_beam *q = &r->under_way[i].beam;
        n += (size_t)q->n_open;
        n_past += (size_t)q->n_open * (size_t)q->open[0].length;
    }
    if (!HAS_ROOM(r->place, r->row_capacity[0], n, err) ||
        !HAS_ROOM(r->previous, r->row_capacity[1], n, err) ||
        !HAS_ROOM(r->length, r->row_capacity[2], n, err) ||
        !HAS_ROOM(r->slot, r->row_capacity[3], n, err) ||
        !HAS_ROOM(r->past, r->past_capacity, n_past, err) ||
        !HAS_ROOM(r->next_scores, r->next_scores_capacity, n, err))
        return false;
    int b = 0, *past = r->past;
    for (size_t i = 0; i < r->n_under_way; i++) {
        struct hd_beam *q = &r->under_way[i].beam;
        for (int j = 0; j < q->n_open; j++, b++) {
            const struct hd_open_hypothesis *hyp = &q->open[j];
            struct hd_branch *last = &q->branches[hyp->last];
            r->place[b] = r->under_way[i].place;
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
    r->rows = (struct hd_rows){.n = b,
                               .place = r->place,
                               .previous = r->previous,
                               .length = r->length,
                               .past = r->past,
                               .slot = r->slot};
    return true;
}

/* Adds what net m looked at to the rows' attention, which stands row after row, as long as their sources are. */
static bool add_attention(struct run *r, const struct hd_net *net, const struct hd_stepped *stepped,
                          heed_error *err)
{
    for (int b = 0; b < r->rows.n; b++) {
        const int S = stepped->cross.n_layers ? stepped->cross.n_keys[b] : 0;
        if (!hd_add_attention((float *)r->next_scores[b].alpha, net, &stepped->cross, b, S,
                              r->options, r->n_nets, r->tape, err))
            return false;
    }
    return true;
}

/* Zeros for what the rows will have looked at. */
static bool make_alpha(struct run *r, heed_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_under_way; i++)
        n += (size_t)r->under_way[i].beam.n_open * (size_t)r->under_way[i].beam.input->n_source;
    if (!HAS_ROOM(r->alpha, r->alpha_capacity, n + 1, err))
        return false;
    memset(r->alpha, 0, n * sizeof *r->alpha);
    float *next = r->alpha;
    int b = 0;
    for (size_t i = 0; i < r->n_under_way; i++)
        for (int j = 0; j < r->under_way[i].beam.n_open; j++) {
            r->next_scores[b++].alpha = next;
            next += r->under_way[i].beam.input->n_source;
        }
    return true;
}

/* All rows through the decoders, up to what enters the output layers. */
static bool advance(struct run *r, heed_error *err)
{
    const bool looks = r->options->wants_attention || r->options->coverage_penalty > 0;
    hd_tape_reset(r->tape);
    for (int b = 0; b < r->rows.n; b++)
        r->next_scores[b] = (struct hd_next_scores){0};
    if (looks && !make_alpha(r, err))
        return false;
    for (int m = 0; m < r->n_nets; m++) {
        const struct hd_stepped stepped = hd_decoder_step(r->decoders[m], r->tape, &r->rows);
        if (!hd_tape_check(r->tape, err) || (looks && !add_attention(r, r->nets[m], &stepped, err)))
            return false;
        r->out[m] = stepped.out;
    }
    return true;
}

static bool has_words_alone(const struct run *r)
{
    return r->options->words_alone && r->options->no_repeat == 0 && r->n_nets == 1;
}

/* Only the likeliest word of each row. */
static bool ask_for_words(struct run *r, int from, int n, heed_error *err)
{
    int *words = hd_tape_take(r->tape, "hd_search", (size_t)n, sizeof *words);
    float *nothing = hd_tape_take(r->tape, "hd_search", 1, sizeof *nothing);
    if (!words || !nothing || !hd_best_words(r->nets[0], hd_slice(r->out[0], from, n), words))
        return hd_tape_check(r->tape, err);
    *nothing = 0;
    for (int b = 0; b < n; b++) {
        if (words[b] < 0)
            return hd_scores_not_finite(err);
        r->next_scores[from + b].n_top = 1;
        r->next_scores[from + b].top = &words[b];
        r->next_scores[from + b].top_value = nothing;
    }
    return true;
}

/* What the nets say of the next word of the rows [from, from + n), which begin with those of the i-th sentence. */
static bool ask(struct run *r, size_t i, int from, int n, heed_error *err)
{
    hd_node *x = NULL;
    for (int m = 0; m < r->n_nets; m++) {
        hd_node *logits = hd_logits(r->nets[m], hd_slice(r->out[m], from, n));
        if (r->n_nets > 1)
            logits = hd_log_softmax(logits, NULL);
        x = x ? hd_add(x, logits) : logits;
    }
    assert(x); /* there is a net, at least */
    if (r->n_nets > 1)
        x = hd_scale(x, 1 / (float)r->n_nets);
    for (int b = 0, end = 0, k = 0; b < n; b++) {
        struct hd_next_scores *o = &r->next_scores[from + b];
        if (b == end) {
            end += r->under_way[i].beam.n_open;
            k = hd_beam_top_k(&r->under_way[i++].beam);
        }
        int *top = hd_tape_take(r->tape, "hd_search", (size_t)k, sizeof *top);
        float *value = hd_tape_take(r->tape, "hd_search", (size_t)k, sizeof *value);
        if (!hd_tape_check(r->tape, err))
            return false;
        o->x = x->x + (size_t)b * (size_t)r->n_words;
        o->log_sum = r->tape->k->log_sum(&o->largest, top, value, o->x, r->n_words, k);
        o->top = top;
        o->top_value = value;
        o->n_top = k;
        if (!isfinite(o->largest) || !isfinite(o->log_sum))
            return hd_scores_not_finite(err);
        if (r->n_nets > 1) /* the mean is what is said, although it does not add up to 1 */
            o->largest = o->log_sum = 0;
    }
    return true;
}

/* ---- sentences end --------------------------------------------------------------------------------------------------------------- */

static bool take_back_slots(struct run *r, struct hd_beam *q, heed_error *err)
{
    if (!HAS_ROOM(r->free_slots, r->free_capacity, r->n_free + q->n_freed, err))
        return false;
    for (; q->n_freed > 0; q->n_freed--)
        r->free_slots[r->n_free++] = q->freed[q->n_freed - 1];
    return true;
}

static bool end_sentence(struct run *r, struct sentence *s, heed_error *err)
{
    const bool is_told = hd_beam_collect(&s->beam, &r->found[s->index], err);
    for (int m = 0; m < r->n_nets; m++)
        hd_decoder_leave(r->decoders[m], s->place);
    hd_beam_release(&s->beam);
    return is_told;
}

/* Rows of the sentences from the i-th on, as many sentences as give enough of them. */
static int rows_of_slice(const struct run *r, size_t i)
{
    const int fit = SLICE_FLOATS / r->n_words, enough = fit > SLICE_ROWS ? fit : SLICE_ROWS;
    int n = r->under_way[i].beam.n_open;
    while (++i < r->n_under_way && n + r->under_way[i].beam.n_open <= enough)
        n += r->under_way[i].beam.n_open;
    return n;
}

/* Every sentence chooses; those that are over leave. Logits exist for a slice of the rows at a time, which stays in the cache. */
static bool choose(struct run *r, heed_error *err)
{
    const struct hd_arena_mark before = hd_arena_mark(&r->tape->arena);
    size_t n_left = 0;
    int row = 0, n_asked = 0;
    bool is_well = true;
    for (size_t i = 0; i < r->n_under_way; i++) {
        struct sentence *s = &r->under_way[i];
        const int n_rows = s->beam.n_open;
        if (is_well && row == n_asked) {
            hd_arena_rewind(&r->tape->arena, before);
            n_asked += rows_of_slice(r, i);
            is_well = has_words_alone(r) ? ask_for_words(r, row, n_asked - row, err)
                                         : ask(r, i, row, n_asked - row, err);
        }
        is_well = is_well && hd_beam_step(&s->beam, r->next_scores + row, err) &&
                  take_back_slots(r, &s->beam, err);
        row += n_rows;
        if (is_well && s->beam.n_open == 0)
            is_well = end_sentence(r, s, err);
        else
            r->under_way[n_left++] = *s;
    }
    r->n_under_way = n_left;
    return is_well;
}

static bool search_all(struct run *r, heed_error *err)
{
    const struct hd_search_options *o = r->options;
    for (;;) {
        if (!begin_sentences(r, err))
            return false;
        if (r->n_under_way == 0)
            return true;
        if (o->keep_on && !o->keep_on(o->keep_on_data))
            return hd_fail(err, HEED_CANCELLED, "stopped before everything was translated");
        if (!make_rows(r, err) || !advance(r, err) || !choose(r, err))
            return false;
    }
}

/* ---- from outside ------------------------------------------------------------------------------------------------------------------ */

static bool make_run(struct run *r, heed_error *err)
{
    r->n_words = r->nets[0]->config.target_vocab;
    r->tape = hd_tape_new(err);
    r->decoders = hd_alloc((size_t)r->n_nets, sizeof(struct hd_decoder *), err);
    r->out = hd_alloc((size_t)r->n_nets, sizeof(hd_node *), err);
    if (!r->tape || !r->decoders || !r->out)
        return false;
    for (int m = 0; m < r->n_nets; m++)
        if (!(r->decoders[m] = hd_decoder_new(r->nets[m], err)))
            return false;
    return hd_beam_scratch_init(&r->scratch, r->n_words, r->options, err);
}

static void release_run(struct run *r)
{
    for (size_t i = 0; i < r->n_under_way; i++)
        hd_beam_release(&r->under_way[i].beam);
    for (int m = 0; r->decoders && m < r->n_nets; m++)
        hd_decoder_free(r->decoders[m]);
    hd_free(r->decoders);
    hd_tape_free(r->tape);
    hd_beam_scratch_release(&r->scratch);
    void *const others[] = {r->out,    r->under_way, r->free_slots, r->place,       r->previous,
                            r->length, r->slot,      r->past,       r->next_scores, r->alpha};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        hd_free(others[i]);
}

bool hd_search(const struct hd_net *const *nets, int n_nets, int end,
               const struct hd_search_input *input, size_t n,
               const struct hd_search_options *options, struct hd_nbest *found, heed_error *err)
{
    if (!hd_search_begin(nets, n_nets, end, input, n, options, found, err))
        return false;
    struct run r = {.nets = nets,
                    .n_nets = n_nets,
                    .end = end,
                    .options = options,
                    .input = input,
                    .n = n,
                    .found = found};
    const bool is_done = make_run(&r, err) && search_all(&r, err);
    release_run(&r);
    return hd_search_end(is_done, found, n);
}
