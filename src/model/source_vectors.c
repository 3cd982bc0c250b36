/* source_vectors.c -- vectors as a source: normalised, put side by side, mapped to the model's width, and halved.
 *
 *     v̂   = (v - μ) ⊙ 1/σ                     μ, σ of the training vectors, number by number
 *     x_j = W [v̂_{sj}; …; v̂_{sj+s-1}] + b      s vectors are one position (stack); zeros behind the last
 *     x_j ← relu(W_p [x_{2j}; x_{2j+1}] + b_p)    p = 1 … pyramid, of a Transformer; a recurrent encoder halves between its layers
 *
 * Chan et al. (2016), "Listen, attend and spell", section 3.1, for the pyramid. μ and 1/σ are parameters of the file that no
 * training changes. */
#include "graph/tape.h"
#include "model/model.h"
#include "model/param.h"

#include <stdio.h>
#include <string.h>

bool hd_source_is_fixed(const char *name)
{
    return strcmp(name, "source.mean") == 0 || strcmp(name, "source.scale") == 0;
}

static void declare_vectors(struct hd_net *net)
{
    const struct hd_config *c = &net->config;
    struct hd_source *s = &net->source;
    char prefix[32];
    s->mean = hd_vector_param(net->params, "source", "mean", c->source_width);
    s->scale = hd_vector_param(net->params, "source", "scale", c->source_width);
    s->mean->wants_gradient = s->scale->wants_gradient = false;
    s->W = hd_map_param(net->params, "source", "W", c->stack * c->source_width, c->embed);
    s->b = hd_vector_param(net->params, "source", "b", c->embed);
    for (int p = 0; c->arch == HD_TRANSFORMER && p < c->pyramid; p++) {
        snprintf(prefix, sizeof prefix, "source.half.%d", p + 1);
        s->half[p].W = hd_map_param(net->params, prefix, "W", 2 * c->embed, c->embed);
        s->half[p].b = hd_vector_param(net->params, prefix, "b", c->embed);
    }
}

static void init_vectors(const struct hd_net *net, uint64_t seed)
{
    const struct hd_source *s = &net->source;
    for (int i = 0; i < net->config.source_width; i++)
        s->scale->x[i] = 1;
    hd_init_glorot(s->W, seed);
    for (int p = 0; s->half[0].W && p < net->config.pyramid; p++)
        hd_init_glorot(s->half[p].W, seed);
}

hd_node *hd_halve(hd_node *x, const hd_spans **spans)
{
    hd_tape *t = x->tape;
    const hd_spans *from = *spans;
    int *length = hd_tape_take(t, "hd_halve", (size_t)from->n, sizeof *length);
    int *row = hd_tape_take(t, "hd_halve", (size_t)from->total + (size_t)from->n, sizeof *row);
    if (!length || !row || hd_has_failed(t))
        return &t->nil;
    int n = 0;
    for (int i = 0; i < from->n; i++) {
        length[i] = (from->length[i] + 1) / 2;
        for (int j = 0; j < 2 * length[i]; j++)
            row[n++] = j < from->length[i] ? from->start[i] + j : -1;
    }
    *spans = hd_spans_of(t, length, from->n);
    return hd_reshape(hd_rows(x, row, n), n / 2, 2 * hd_width(x));
}

/* Normalised and side by side, sentence by sentence: [Σ ⌈frames/stack⌉, stack · width]. */
static void lay_out(float *to, const struct hd_net *net, const struct hd_batch *batch,
                    const hd_spans *spans)
{
    const struct hd_config *c = &net->config;
    const float *mean = net->source.mean->x, *scale = net->source.scale->x, *v = batch->frames;
    const size_t width = (size_t)c->source_width;
    for (int i = 0; i < batch->n; i++) {
        const size_t room = (size_t)spans->length[i] * (size_t)c->stack,
                     n = (size_t)batch->frame_length[i];
        for (size_t f = 0; f < n; f++)
            for (size_t d = 0; d < width; d++)
                to[f * width + d] = (v[f * width + d] - mean[d]) * scale[d];
        memset(to + n * width, 0, (room - n) * width * sizeof *to);
        to += room * width;
        v += n * width;
    }
}

/* The row and the column of every position. */
static bool find_places(hd_tape *tape, const struct hd_batch *batch, struct hd_memory *memory)
{
    const size_t n = (size_t)memory->spans->total;
    int *row = hd_tape_take(tape, "hd_encode", 2 * n, sizeof *row), *column = row ? row + n : NULL;
    if (!row)
        return false;
    memory->row = row;
    memory->column = column;
    for (int i = 0; i < batch->n; i++)
        for (int j = 0; j < memory->spans->length[i]; j++) {
            const int columns = batch->grid[2 * i + 1] > 0 ? batch->grid[2 * i + 1] : 1;
            *row++ = j / columns;
            *column++ = j % columns;
        }
    return true;
}

static hd_node *read_vectors(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch,
                             struct hd_memory *memory)
{
    const struct hd_config *c = &net->config;
    const struct hd_source *s = &net->source;
    int *length = hd_tape_take(tape, "hd_encode", (size_t)batch->n, sizeof *length);
    for (int i = 0; length && i < batch->n; i++)
        length[i] = (batch->frame_length[i] + c->stack - 1) / c->stack;
    memory->spans = hd_spans_of(tape, length, length ? batch->n : 0);
    hd_node *v = hd_input(tape, NULL, memory->spans->total, c->stack * c->source_width);
    if (hd_has_failed(tape) || (c->has_grids && !find_places(tape, batch, memory)))
        return &tape->nil;
    lay_out(v->x, net, batch, memory->spans);
    hd_node *x = hd_affine(s->W, s->b, v);
    for (int p = 0; s->half[0].W && p < c->pyramid; p++)
        x = hd_relu(hd_affine(s->half[p].W, s->half[p].b, hd_halve(x, &memory->spans)));
    return x;
}

const struct hd_source_kind hd_source_vectors = {declare_vectors, init_vectors, read_vectors};
