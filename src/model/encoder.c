/* encoder.c -- the recurrent encoder.
 *
 * A bidirectional layer is two cells of half the width, one reading forwards and one backwards; the states of both are put
 * side by side at every position: h_j = [→h_j; ←h_j] (Bahdanau et al. 2015, section 3.2). A reversed source (Sutskever et al.
 * 2014) is read the other way around while its states stay at their words, so attention needs no turning back. */
#include "model/encoder.h"

#include "graph/tape.h"
#include "model/param.h"

#include <stdio.h>

static void declare_layer(struct hd_encoder_layer *layer, const struct hd_config *c,
                          hd_params *params, const char *name, int number, const char *direction,
                          int in, int D)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s.%d.%s", name, number, direction);
    const int gates = hd_cell_gates((enum hd_cell)c->cell) * D;
    layer->W = hd_map_param(params, prefix, "W", in, gates);
    hd_cell_declare(&layer->cell, params, prefix,
                    (struct hd_cell_kind){.kind = (enum hd_cell)c->cell,
                                          .resets_before = c->gru_reset == HD_RESET_BEFORE,
                                          .D = D,
                                          .n_transitions = c->encoder_transitions,
                                          .norm = (enum hd_recurrent_norm)c->recurrent_norm,
                                          .eps = hd_recurrent_eps(c)});
    layer->b = hd_vector_param(params, prefix, "b", gates);
}

void hd_encoder_declare(struct hd_encoder_parts *parts, const struct hd_config *c,
                        hd_params *params, const char *name, int in_width)
{
    parts->n_layers = c->encoder_layers;
    parts->n_halvings = c->pyramid;
    parts->is_bidirectional = c->bidirectional;
    parts->is_reversed = c->reverse_source;
    parts->is_residual = c->residual;
    const int width = hd_encoder_width(c), D = c->bidirectional ? width / 2 : width;
    for (int l = 0; l < c->encoder_layers; l++) {
        const int in = l == 0 ? in_width : l <= c->pyramid ? 2 * width : width;
        declare_layer(&parts->forward[l], c, params, name, l + 1, "forward", in, D);
        if (c->bidirectional)
            declare_layer(&parts->backward[l], c, params, name, l + 1, "backward", in, D);
    }
}

static void init_layer(const struct hd_encoder_layer *layer, uint64_t seed)
{
    hd_init_glorot(layer->W, seed);
    hd_cell_init(&layer->cell, seed);
    hd_cell_init_bias(&layer->cell, layer->b);
}

void hd_encoder_init(const struct hd_encoder_parts *parts, uint64_t seed)
{
    for (int l = 0; l < parts->n_layers; l++) {
        init_layer(&parts->forward[l], seed);
        if (parts->is_bidirectional)
            init_layer(&parts->backward[l], seed);
    }
}

/* The state of each sentence where its reading ended; zeros for an empty sentence. */
static hd_node *last_states(hd_node *states, const hd_spans *spans, bool is_reversed)
{
    hd_tape *t = states->tape;
    int *index = hd_tape_take(t, "hd_encode", (size_t)spans->n, sizeof *index);
    if (!index)
        return &t->nil;
    for (int b = 0; b < spans->n; b++)
        index[b] =
            spans->length[b] == 0 ? -1 : spans->start[b] + (is_reversed ? 0 : spans->length[b] - 1);
    return hd_rows(states, index, spans->n);
}

/* [s; c] of both directions side by side: [→s; ←s; →c; ←c]. */
static hd_node *both_ways(const struct hd_cell_parts *cell, hd_node *there, hd_node *back)
{
    const int D = cell->D;
    if (cell->kind != HD_LSTM)
        return hd_concat(there, back);
    hd_node *s = hd_part(there, 0, D), *s_back = hd_part(back, 0, D);
    hd_node *c = hd_part(there, D, D), *c_back = hd_part(back, D, D);
    return hd_join((hd_node *[]){s, s_back, c, c_back}, 4);
}

/* A layer's output; with residual connections, and what it has read. */
static hd_node *with_below(hd_node *h, hd_node *below)
{
    return below ? hd_add(h, below) : h;
}

struct hd_encoded hd_encoder_run(const struct hd_encoder_parts *parts, hd_node *x,
                                 const hd_spans **of_top, float dropout_state)
{
    struct hd_encoded e = {.h = x};
    for (int l = 0; l < parts->n_layers; l++) {
        const struct hd_encoder_layer *f = &parts->forward[l], *g = &parts->backward[l];
        hd_node *below = parts->is_residual && l > 0 ? e.h : NULL;
        if (l > 0)
            e.h = hd_dropout(e.h, dropout_state);
        if (l > 0 && l <= parts->n_halvings) /* [h_2j; h_2j+1], Chan et al. (2016), equation 7 */
            e.h = hd_halve(e.h, of_top);
        const hd_spans *spans = *of_top;
        hd_node *there =
            hd_cell_run(&f->cell, hd_affine(f->W, f->b, e.h), NULL, spans, parts->is_reversed);
        e.last[l] = last_states(there, spans, parts->is_reversed);
        if (!parts->is_bidirectional) {
            e.h = with_below(hd_cell_output(&f->cell, there), below);
            continue;
        }
        hd_node *back =
            hd_cell_run(&g->cell, hd_affine(g->W, g->b, e.h), NULL, spans, !parts->is_reversed);
        hd_node *first = last_states(back, spans, !parts->is_reversed);
        e.last[l] = both_ways(&f->cell, e.last[l], first);
        e.first_backward = hd_cell_output(&g->cell, first);
        hd_node *h = hd_cell_output(&f->cell, there), *h_back = hd_cell_output(&g->cell, back);
        e.h = with_below(hd_concat(h, h_back), below); /* h_j = [→h_j; ←h_j] [Σ S,E] */
    }
    return e;
}
