/* walk.h -- hypotheses led along given words: a decoder, and which slots each hypothesis has used so far. */
#ifndef HD_TEST_WALK_H
#define HD_TEST_WALK_H

#include "test.h"

#include "model/model.h"

enum { MOST_WALKERS = 512, MOST_STEPS = 256 };

struct walk {
    struct hd_decoder *decoder;
    int n, n_steps, n_slots;
    int entry[MOST_WALKERS];
    int slots[MOST_WALKERS][MOST_STEPS];
};

/* One hypothesis for each of sentence[0..n) of the batch. NULL when the encoder fails; the reason is on the tape. */
static inline struct walk *walk_start(const struct hd_net *net, hd_tape *tape,
                                      const struct hd_batch *batch, const int *sentence, int n)
{
    struct walk *w = calloc(1, sizeof *w);
    int entry[MOST_WALKERS];
    assert_true(w && batch->n <= MOST_WALKERS && n <= MOST_WALKERS);
    w->decoder = hd_decoder_new(net, NULL);
    assert_non_null(w->decoder);
    if (!hd_decoder_enter(w->decoder, tape, batch, entry)) {
        hd_decoder_free(w->decoder);
        free(w);
        return NULL;
    }
    w->n = n;
    for (int b = 0; b < n; b++)
        w->entry[b] = entry[sentence[b]];
    return w;
}

/* Only index[0..n) go on, in that order. */
static inline void walk_gather(struct walk *w, const int *index, int n)
{
    struct walk *old = malloc(sizeof *old);
    memcpy(old, w, sizeof *old);
    w->n = n;
    for (int b = 0; b < n; b++) {
        w->entry[b] = old->entry[index[b]];
        memcpy(w->slots[b], old->slots[index[b]], sizeof w->slots[b]);
    }
    free(old);
}

static inline struct hd_stepped walk_step(struct walk *w, hd_tape *tape, const int *previous)
{
    const int n = w->n, t = w->n_steps++;
    int *numbers = malloc(((size_t)n * (size_t)(t + 2) + 1) * sizeof *numbers);
    int *length = numbers, *slot = numbers + n, *past = numbers + 2 * n;
    assert_true(t < MOST_STEPS);
    for (int b = 0; b < n; b++) {
        length[b] = t;
        slot[b] = w->slots[b][t] = w->n_slots++;
        for (int i = 0; i < t; i++)
            past[b * t + i] = w->slots[b][i];
    }
    const struct hd_stepped stepped = hd_decoder_step(w->decoder, tape,
                                                      &(struct hd_step_rows){.n = n,
                                                                             .entry = w->entry,
                                                                             .previous = previous,
                                                                             .length = length,
                                                                             .past = past,
                                                                             .slot = slot});
    free(numbers);
    return stepped;
}

static inline void walk_end(struct walk *w)
{
    if (w)
        hd_decoder_free(w->decoder);
    free(w);
}

#endif
