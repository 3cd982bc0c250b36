/* steps.c -- the steps of given outputs, kept for nearest neighbours: forced decoding without an output layer. */
#include "search/neighbours.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "search/common.h"

#include <string.h>

enum { WORDS_AT_A_TIME = 1024 }; /* source and target, unless one sentence alone has more */

struct hd_step_recorder {
    hd_tape *tape;
    struct hd_batch_builder builder;
};

struct hd_step_recorder *hd_step_recorder_new(heed_error *err)
{
    struct hd_step_recorder *r = hd_new(struct hd_step_recorder, err);
    if (r && (r->tape = hd_tape_new(err)))
        return r;
    hd_step_recorder_free(r);
    return NULL;
}

void hd_step_recorder_free(struct hd_step_recorder *r)
{
    if (!r)
        return;
    hd_tape_free(r->tape);
    hd_batch_builder_release(&r->builder);
    hd_free(r);
}

void hd_steps_release(struct hd_steps *steps)
{
    hd_free(steps->next);
    hd_free(steps->states);
    hd_free(steps->square);
    *steps = (struct hd_steps){0};
}

static int width_of(const struct hd_net *const *nets, int n_nets)
{
    int width = 0;
    for (int m = 0; m < n_nets; m++)
        width += hd_head_width(&nets[m]->head);
    return width;
}

static bool make_steps(struct hd_steps *s, int n, int width, heed_error *err)
{
    *s = (struct hd_steps){.n = n,
                           .width = width,
                           .next = hd_alloc((size_t)n, sizeof *s->next, err),
                           .states = hd_alloc((size_t)n * (size_t)width, sizeof *s->states, err),
                           .square = hd_alloc((size_t)n, sizeof *s->square, err)};
    return s->next && s->states && s->square;
}

/* What enters one net's output layer, from column `from` on. */
static bool record_net(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                       int from, struct hd_steps *steps, heed_error *err)
{
    hd_tape_reset(tape);
    const struct hd_memory *memory = hd_encode(net, tape, batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, tape, memory, batch, NULL);
    if (!hd_tape_check(tape, err))
        return false;
    const size_t width = (size_t)hd_head_width(&net->head);
    for (int r = 0; r < forced->n_rows; r++) {
        struct hd_steps *s = &steps[forced->sentence[r]];
        const int t = forced->position[r];
        const float *state = forced->out->x + (size_t)r * width;
        s->next[t] = forced->target[r];
        s->square[t] += tape->k->sum_squares(state, (long)width);
        memcpy(s->states + (size_t)t * (size_t)s->width + from, state, width * sizeof *state);
    }
    return true;
}

/* The first sentences, as many as fit; how many, 0 where it failed. */
static size_t record_group(struct hd_step_recorder *recorder, const struct hd_net *const *nets,
                           int n_nets, int end, const struct hd_search_input *input, size_t n,
                           struct hd_steps *steps, heed_error *err)
{
    const int width = width_of(nets, n_nets);
    size_t n_group = 0, words = 0;
    hd_batch_begin(&recorder->builder);
    for (; n_group < n; n_group++) {
        const struct hd_search_input *in = &input[n_group];
        words += (size_t)in->source.n + (size_t)in->prefix.n + 1;
        if (n_group > 0 && words > WORDS_AT_A_TIME)
            break;
        if (!hd_batch_add(&recorder->builder, in->source, in->prefix, end, err) ||
            !make_steps(&steps[n_group], in->prefix.n + 1, width, err))
            return 0;
    }
    const struct hd_batch batch = hd_batch_of(&recorder->builder);
    for (int m = 0, from = 0; m < n_nets; from += hd_head_width(&nets[m++]->head))
        if (!record_net(nets[m], recorder->tape, &batch, from, steps, err))
            return 0;
    return n_group;
}

bool hd_steps_record(struct hd_step_recorder *recorder, const struct hd_net *const *nets,
                     int n_nets, int end, const struct hd_search_input *input, size_t n,
                     struct hd_steps *steps, heed_error *err)
{
    for (size_t i = 0; i < n; i++)
        steps[i] = (struct hd_steps){0};
    bool ok = hd_check_nets(nets, n_nets, end, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = hd_check_search_input(nets[0], end, &input[i], i, err);
    for (size_t i = 0, done; ok && i < n; i += done) {
        done = record_group(recorder, nets, n_nets, end, input + i, n - i, steps + i, err);
        ok = done > 0;
    }
    for (size_t i = 0; !ok && i < n; i++)
        hd_steps_release(&steps[i]);
    return ok;
}
