/* readout.c -- what enters the output layer. */
#include "model/readout.h"

int hd_readout_width(const struct hd_config *c)
{
    return c->readout == HD_READOUT_TANH || c->readout == HD_READOUT_MAXOUT ? c->embed : c->dim;
}

static void declare_readout_norms(struct hd_readout_parts *p, const struct hd_config *c,
                                  hd_params *params, int width)
{
    const char *at = "readout";
    const float eps = hd_recurrent_eps(c);
    const bool is_split = c->recurrent_norm == HD_RNORM_SPLIT;
    if (c->recurrent_norm == HD_RNORM_NONE)
        return;
    p->of_s = hd_norm_param(params, at, "s.norm", width, eps);
    if (p->y)
        p->of_y = hd_norm_param(params, at, "y.norm", width, eps);
    if (p->c)
        p->of_c = hd_norm_param(params, at, "c.norm", width, eps);
    p->b_y = is_split && p->y ? hd_vector_param(params, at, "y.b", width) : NULL;
    p->b_c = is_split && p->c ? hd_vector_param(params, at, "c.b", width) : NULL;
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
    declare_readout_norms(p, c, params, width);
}

void hd_readout_init(const struct hd_readout_parts *p, uint64_t seed)
{
    hd_node *const maps[] = {p->s, p->y, p->c};
    for (int i = 0; i < 3; i++)
        if (maps[i])
            hd_init_glorot(maps[i], seed);
    hd_node *const biases[] = {p->b, p->b_y, p->b_c};
    for (int i = 0; i < 3; i++)
        if (biases[i])
            hd_init_fill(biases[i], 0);
    hd_norm_init(&p->of_s);
    hd_norm_init(&p->of_y);
    hd_norm_init(&p->of_c);
}

static hd_node *plus(hd_node *a, hd_node *b)
{
    return b ? hd_add(a, b) : a;
}

hd_node *hd_readout_y(const struct hd_readout_parts *p, hd_node *y)
{
    return p->y ? hd_normed(&p->of_y, plus(hd_lin(p->y, y), p->b_y)) : NULL;
}

hd_node *hd_readout_c(const struct hd_readout_parts *p, hd_node *c)
{
    return p->c ? hd_normed(&p->of_c, plus(hd_lin(p->c, c), p->b_c)) : NULL;
}

/* W_s s + b */
static hd_node *of_state(const struct hd_readout_parts *p, hd_node *s)
{
    return hd_normed(&p->of_s, hd_affine(p->s, p->b, s));
}

/* tanh(W_s s_t + W_y E y_{t-1} + W_c c_t + b) */
static hd_node *readout_tanh(const struct hd_readout_parts *p, hd_node *s, hd_node *Wy, hd_node *Wc)
{
    return hd_tanh(plus(plus(of_state(p, s), Wy), Wc));
}

/* Luong et al. (2015), equation 5: h̃_t = tanh(W_c [c_t; s_t]) */
static hd_node *readout_attended(const struct hd_readout_parts *p, hd_node *s, hd_node *Wc)
{
    return hd_tanh(plus(of_state(p, s), Wc));
}

/* Bahdanau et al. (2015), appendix A.2.2: t = max-pairs(U_o s_{t-1} + V_o E y_{t-1} + C_o c_t) */
static hd_node *readout_maxout(const struct hd_readout_parts *p, hd_node *s, hd_node *Wy,
                               hd_node *Wc)
{
    return hd_maxout(plus(plus(of_state(p, s), Wy), Wc));
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
