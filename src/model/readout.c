/* readout.c -- what enters the output layer, and where the decoder starts. */
#include "model/readout.h"

#include "model/encoder.h"
#include "model/param.h"

#include <stdio.h>

/* ---- readout -------------------------------------------------------------------------------------------------------- */

int hd_readout_width(const struct hd_config *c)
{
    return c->readout == HD_READOUT_TANH || c->readout == HD_READOUT_MAXOUT ? c->embed : c->dim;
}

static bool has_context(const struct hd_config *c)
{
    return c->context != HD_CONTEXT_FIRST;
}

void hd_readout_declare(struct hd_readout_parts *p, const struct hd_config *c, hd_params *params)
{
    const char *at = "readout";
    const int R = hd_readout_width(c), width = c->readout == HD_READOUT_MAXOUT ? 2 * R : R;
    if (c->readout == HD_READOUT_LINEAR)
        return;
    p->s = hd_map_param(params, at, "s", c->dim, width);
    if (c->readout != HD_READOUT_ATTENDED)
        p->y = hd_map_param(params, at, "y", c->embed, width);
    if (has_context(c))
        p->c = hd_map_param(params, at, "c", hd_value_width(c), width);
    p->b = hd_vector_param(params, at, "b", width);
}

void hd_readout_init(const struct hd_readout_parts *p, uint64_t seed)
{
    hd_node *const maps[] = {p->s, p->y, p->c};
    for (int i = 0; i < 3; i++)
        if (maps[i])
            hd_init_glorot(maps[i], seed);
    if (p->b)
        hd_init_fill(p->b, 0);
}

static hd_node *plus(hd_node *a, hd_node *b)
{
    return b ? hd_add(a, b) : a;
}

/* tanh(W_s s_t + W_y E y_{t-1} + W_c c_t + b) */
static hd_node *readout_tanh(const struct hd_readout_parts *p, hd_node *s, hd_node *Wy, hd_node *Wc)
{
    return hd_tanh(plus(plus(hd_affine(p->s, p->b, s), Wy), Wc));
}

/* Luong et al. (2015), equation 5: h̃_t = tanh(W_c [c_t; s_t]) */
static hd_node *readout_attended(const struct hd_readout_parts *p, hd_node *s, hd_node *Wc)
{
    return hd_tanh(plus(hd_affine(p->s, p->b, s), Wc));
}

/* Bahdanau et al. (2015), appendix A.2.2: t = max-pairs(U_o s_{t-1} + V_o E y_{t-1} + C_o c_t) */
static hd_node *readout_maxout(const struct hd_readout_parts *p, hd_node *s, hd_node *Wy,
                               hd_node *Wc)
{
    return hd_maxout(plus(plus(hd_affine(p->s, p->b, s), Wy), Wc));
}

hd_node *hd_readout(const struct hd_readout_parts *p, const struct hd_config *c, hd_node *s,
                    hd_node *Wy, hd_node *Wc)
{
    switch ((enum hd_readout)c->readout) {
    case HD_READOUT_LINEAR:
        return s;
    case HD_READOUT_TANH:
        return readout_tanh(p, s, Wy, Wc);
    case HD_READOUT_ATTENDED:
        return readout_attended(p, s, Wc);
    case HD_READOUT_MAXOUT:
        return readout_maxout(p, s, Wy, Wc);
    }
    return s;
}

/* ---- start ------------------------------------------------------------------------------------------------------------ */

static int start_input_width(const struct hd_config *c)
{
    return c->start == HD_START_FIRST_BACKWARD ? hd_encoder_width(c) / 2 : hd_encoder_width(c);
}

void hd_start_declare(struct hd_start_parts *p, const struct hd_config *c, hd_params *params)
{
    if (c->start == HD_START_COPY)
        return;
    for (int l = 0; l < c->decoder_layers; l++) {
        char prefix[48];
        snprintf(prefix, sizeof prefix, "start.%d", l + 1);
        p->W[l] = hd_map_param(params, prefix, "W", start_input_width(c), c->dim);
        p->b[l] = hd_vector_param(params, prefix, "b", c->dim);
        if (c->cell != HD_CELL_LSTM)
            continue;
        p->cell_W[l] = hd_map_param(params, prefix, "cell.W", start_input_width(c), c->dim);
        p->cell_b[l] = hd_vector_param(params, prefix, "cell.b", c->dim);
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
    }
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
        from = c->cell == HD_CELL_LSTM ? hd_part(from, 0, hd_encoder_width(c)) : from;
        break;
    }
    hd_node *s = hd_dense(p->W[l], p->b[l], from, HD_TANH);
    return p->cell_W[l] ? hd_concat(s, hd_dense(p->cell_W[l], p->cell_b[l], from, HD_TANH)) : s;
}
