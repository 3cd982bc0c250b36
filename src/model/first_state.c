/* first_state.c -- where the decoder starts. */
#include "model/first_state.h"

#include "model/encoder.h"

#include <stdio.h>

static int start_input_width(const struct hd_config *c)
{
    return c->start == HD_START_FIRST_BACKWARD ? hd_encoder_width(c) / 2 : hd_encoder_width(c);
}

void hd_start_declare(struct hd_start_parts *p, const struct hd_config *c, hd_params *params)
{
    const bool has_norm = c->recurrent_norm != HD_RNORM_NONE;
    if (c->start == HD_START_COPY)
        return;
    for (int l = 0; l < c->decoder_layers; l++) {
        char prefix[48];
        snprintf(prefix, sizeof prefix, "start.%d", l + 1);
        p->W[l] = hd_map_param(params, prefix, "W", start_input_width(c), c->dim);
        p->b[l] = hd_vector_param(params, prefix, "b", c->dim);
        if (has_norm)
            p->norm[l] = hd_norm_param(params, prefix, "norm", c->dim, hd_recurrent_eps(c));
        if (c->cell != HD_LSTM)
            continue;
        p->cell_W[l] = hd_map_param(params, prefix, "cell.W", start_input_width(c), c->dim);
        p->cell_b[l] = hd_vector_param(params, prefix, "cell.b", c->dim);
        if (has_norm)
            p->cell_norm[l] =
                hd_norm_param(params, prefix, "cell.norm", c->dim, hd_recurrent_eps(c));
    }
}

void hd_start_init(const struct hd_start_parts *p, uint64_t seed)
{
    for (int l = 0; l < HD_MAX_LAYERS; l++) {
        if (p->W[l]) {
            hd_init_glorot(p->W[l], seed);
            hd_init_fill(p->b[l], 0);
        }
        if (p->cell_W[l]) {
            hd_init_glorot(p->cell_W[l], seed);
            hd_init_fill(p->cell_b[l], 0);
        }
        hd_norm_init(&p->norm[l]);
        hd_norm_init(&p->cell_norm[l]);
    }
}

static hd_node *start_of(hd_node *W, hd_node *b, const struct hd_map_norm *norm, hd_node *from)
{
    return norm->gain ? hd_tanh(hd_normed(norm, hd_affine(W, b, from)))
                      : hd_dense(W, b, from, HD_TANH);
}

/* last: tanh(W h_m), h_m the states where the encoder's reading ended; mean: tanh(W mean_j h_j); first-backward: tanh(W ←h_1);
 * copy: the encoder's last states, layer by layer. */
hd_node *hd_start_state(const struct hd_start_parts *p, const struct hd_config *c,
                        const struct hd_encoded *e, const hd_spans *spans, int l)
{
    if (c->start == HD_START_COPY)
        return e->last[l];
    hd_node *from;
    switch ((enum hd_start)c->start) {
    case HD_START_MEAN:
        from = hd_mean_spans(e->h, spans);
        break;
    case HD_START_FIRST_BACKWARD:
        from = e->first_backward;
        break;
    default:
        from = e->last[c->encoder_layers - 1];
        from = c->cell == HD_LSTM ? hd_part(from, 0, hd_encoder_width(c)) : from;
        break;
    }
    hd_node *s = start_of(p->W[l], p->b[l], &p->norm[l], from);
    return p->cell_W[l] ? hd_concat(s, start_of(p->cell_W[l], p->cell_b[l], &p->cell_norm[l], from))
                        : s;
}
