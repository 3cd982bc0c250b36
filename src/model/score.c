/* score.c -- every attention score, with locality and coverage as axes of their own. */
#include "model/score.h"

#include "graph/guide.h"

#include "graph/tape.h"

#include <string.h>

#include <stdio.h>

/* ---- parameters --------------------------------------------------------------------------------------------------- */

static void declare_mlp(struct hd_mlp *mlp, hd_params *params, const char *at, const char *name,
                        int depth, int in, int out)
{
    mlp->depth = depth;
    for (int i = 0; i < depth; i++) {
        char prefix[48];
        snprintf(prefix, sizeof prefix, "%s.%s.%d", at, name, i + 1);
        mlp->W[i] = hd_map_param(params, prefix, "W", i == 0 ? in : out, out);
        mlp->b[i] = i < depth - 1 ? hd_vector_param(params, prefix, "b", out) : NULL;
    }
}

void hd_score_declare(struct hd_score_parts *p, const struct hd_config *c, hd_params *params,
                      const char *at)
{
    const int D = c->dim, E = hd_encoder_width(c), A = c->attention_dim;
    const bool has_tanh = c->score == HD_SCORE_ADDITIVE || c->score == HD_SCORE_MLP ||
                          c->score == HD_SCORE_LOCATION_AWARE;
    switch ((enum hd_score)c->score) {
    case HD_SCORE_NONE:
    case HD_SCORE_DOT:
    case HD_SCORE_SCALED_DOT:
        break;
    case HD_SCORE_BILINEAR:
        p->W = hd_map_param(params, at, "W", D, E);
        break;
    case HD_SCORE_MLP:
    case HD_SCORE_ADDITIVE:
    case HD_SCORE_PROJECTED:
        p->W = hd_map_param(params, at, "W", D, A);
        p->U = hd_map_param(params, at, "U", E, A);
        break;
    case HD_SCORE_LOCATION_AWARE:
        p->W = hd_map_param(params, at, "W", D, A);
        p->U = hd_map_param(params, at, "U", E, A);
        p->F = hd_map_param(params, at, "F", c->location_width, c->location_filters);
        p->L = hd_map_param(params, at, "L", c->location_filters, A);
        break;
    case HD_SCORE_TANH_SUM:
        p->W = hd_map_param(params, at, "W", D, 1);
        p->U = hd_map_param(params, at, "U", E, 1);
        break;
    case HD_SCORE_SCALED:
        declare_mlp(&p->q, params, at, "q", c->score_depth, D, A);
        declare_mlp(&p->k, params, at, "k", c->score_depth, E, A);
        declare_mlp(&p->values, params, at, "v", c->score_depth, E, A);
        break;
    case HD_SCORE_MULTI_HEAD:
        p->Wq = hd_map_param(params, at, "q.W", D, A);
        p->Wk = hd_map_param(params, at, "k.W", E, A);
        p->Wv = hd_map_param(params, at, "v.W", E, A);
        p->Wo = hd_map_param(params, at, "o.W", A, D);
        break;
    case HD_SCORE_LOCATION:
        p->W = hd_map_param(params, at, "W", D, c->max_source);
        break;
    }
    if (has_tanh) {
        p->v = hd_vector_param(params, at, "v", A);
        p->b = c->score_bias ? hd_vector_param(params, at, "b", A) : NULL;
        if (c->recurrent_norm != HD_RNORM_NONE) {
            p->of_s = hd_norm_param(params, at, "W.norm", A, hd_recurrent_eps(c));
            p->of_h = hd_norm_param(params, at, "U.norm", A, hd_recurrent_eps(c));
        }
    }
    if (c->coverage)
        p->cover = hd_vector_param(params, at, "cover", has_tanh ? A : 1);
    if (c->local == HD_LOCAL_P) {
        p->Wp = hd_map_param(params, at, "p.W", D, D);
        p->vp = hd_vector_param(params, at, "p.v", D);
    }
}

void hd_score_init(const struct hd_score_parts *p, uint64_t seed)
{
    hd_node *const maps[] = {p->W, p->U, p->F, p->L, p->Wq, p->Wk, p->Wv, p->Wo, p->Wp};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (maps[i])
            hd_init_glorot(maps[i], seed);
    hd_node *const vectors[] = {p->v, p->vp, p->cover};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (vectors[i])
            hd_init_glorot(vectors[i], seed);
    if (p->b)
        hd_init_fill(p->b, 0);
    hd_norm_init(&p->of_s);
    hd_norm_init(&p->of_h);
    const struct hd_mlp *const mlps[] = {&p->q, &p->k, &p->values};
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < mlps[m]->depth; i++) {
            hd_init_glorot(mlps[m]->W[i], seed);
            if (mlps[m]->b[i])
                hd_init_fill(mlps[m]->b[i], 0);
        }
}

/* ---- once per sentence --------------------------------------------------------------------------------------------- */

static hd_node *run_mlp(const struct hd_mlp *mlp, hd_node *x)
{
    for (int i = 0; i < mlp->depth - 1; i++)
        x = hd_dense(mlp->W[i], mlp->b[i], x, HD_TANH);
    return hd_lin(mlp->W[mlp->depth - 1], x);
}

struct hd_keys hd_score_keys(const struct hd_score_parts *p, const struct hd_config *c, hd_node *h)
{
    struct hd_keys k = {.keys = h, .values = h};
    switch ((enum hd_score)c->score) {
    case HD_SCORE_MLP:
    case HD_SCORE_ADDITIVE:
    case HD_SCORE_LOCATION_AWARE:
        k.keys = hd_normed(&p->of_h, p->b ? hd_affine(p->U, p->b, h) : hd_lin(p->U, h));
        return k;
    case HD_SCORE_TANH_SUM:
    case HD_SCORE_PROJECTED:
        k.keys = hd_lin(p->U, h);
        return k;
    case HD_SCORE_SCALED:
        k.keys = run_mlp(&p->k, h);
        k.values = run_mlp(&p->values, h);
        return k;
    case HD_SCORE_MULTI_HEAD:
        k.keys = hd_lin(p->Wk, h);
        k.values = hd_lin(p->Wv, h);
        return k;
    default:
        return k;
    }
}

/* ---- scores: e_tj of one query per sentence, [B, longest] ------------------------------------------------------------ */

/* dot: sᵀ h_j. scaled-dot: sᵀ h_j / √dim */
static hd_node *score_dot(const struct hd_view *v, hd_node *s, float scale)
{
    return hd_scale(hd_dot_each(s, v->h), scale);
}

/* Luong et al. (2015), section 3.1, "general": sᵀ W h_j */
static hd_node *score_bilinear(const struct hd_view *v, hd_node *s)
{
    return hd_dot_each(hd_lin(v->parts->W, s), v->h);
}

/* mlp, Luong's "concat": wᵀ tanh(W [h_j; s]), the matrix in two blocks, U for h_j and W for s; the same as
 * additive, Bahdanau et al. (2015), appendix A.1.2: vᵀ tanh(W s + U h_j). Coverage joins inside the tanh. */
static hd_node *score_additive(const struct hd_view *v, hd_node *s)
{
    const struct hd_score_parts *p = v->parts;
    hd_node *Ws = hd_normed(&p->of_s, hd_lin(p->W, s)), *Uh = v->h;
    return v->cover ? hd_additive_covered(p->v, Ws, Uh, p->cover, v->cover)
                    : hd_additive(p->v, Ws, Uh);
}

/* Chorowski et al. (2015), equations 8 and 9: vᵀ tanh(W s + U h_j + L f_j), f = F * α_{t-1}. Before the first step α is 0. */
static hd_node *score_location_aware(const struct hd_view *v, hd_node *s)
{
    const struct hd_score_parts *p = v->parts;
    hd_node *Ws = hd_normed(&p->of_s, hd_lin(p->W, s));
    hd_node *near = hd_windows(v->before, v->spans, v->config->location_width); /* [Σ S,width] */
    hd_node *f = hd_lin(p->F, near);                                            /* [Σ S,n] */
    return hd_additive_located(p->v, Ws, v->h, hd_lin(p->L, f));
}

/* Ferreira, equations 3 and 4: tanh(W_1 h_j + W_2 s), one number */
static hd_node *score_tanh_sum(const struct hd_view *v, hd_node *s)
{
    const struct hd_score_parts *p = v->parts;
    hd_node *Wh = hd_pad(v->keys->keys, v->spans); /* W_1 h_j        [B,S] */
    hd_node *e = hd_add(Wh, hd_lin(p->W, s));      /* … + W_2 s      [B,S] */
    return hd_tanh(v->cover ? hd_add(e, hd_mul(v->cover, p->cover)) : e);
}

/* Wang, option 2: (W_K h_j)ᵀ (W_Q s) */
static hd_node *score_projected(const struct hd_view *v, hd_node *s)
{
    return hd_dot_each(hd_lin(v->parts->W, s), v->h);
}

static float inverse_root(int n)
{
    return 1 / __builtin_sqrtf((float)n);
}

/* Wang, option 1: q·k_j / √A with q = MLP_q(s), k_j = MLP_k(h_j) */
static hd_node *score_scaled(const struct hd_view *v, hd_node *s)
{
    return score_dot(v, run_mlp(&v->parts->q, s), inverse_root(v->config->attention_dim));
}

/* Luong, section 3.1, "location": e_t = W s, one row of W per source position; those beyond get none. */
static hd_node *score_location(const struct hd_view *v, hd_node *s)
{
    const hd_node *W = v->parts->W;
    const int n = v->spans->longest, most = W->dim[1];
    hd_node *e = hd_lin(v->parts->W, s);
    return n <= most ? hd_part(e, 0, n)
                     : hd_concat(e, hd_input(s->tape, NULL, v->spans->n, n - most));
}

/* Vaswani et al. (2017), section 3.2.2, with the decoder's state as the only query: all heads [B,A], before W_o */
static hd_node *attend_multi_head(const struct hd_view *v, hd_node *s)
{
    hd_tape *t = s->tape;
    int *ones = hd_tape_take(t, "hd_attend_score", (size_t)v->spans->n, sizeof *ones);
    if (!ones)
        return &t->nil;
    for (int b = 0; b < v->spans->n; b++)
        ones[b] = 1;
    const hd_spans *queries = hd_spans_of(t, ones, v->spans->n);
    return hd_attention(
        hd_lin(v->parts->Wq, s), v->keys->keys, v->keys->values,
        &(hd_attention_options){.queries = queries, .keys = v->spans, .n_heads = v->config->heads});
}

static hd_node *score_of(const struct hd_view *v, hd_node *s)
{
    switch ((enum hd_score)v->config->score) {
    case HD_SCORE_DOT:
        return score_dot(v, s, 1);
    case HD_SCORE_SCALED_DOT:
        return score_dot(v, s, inverse_root(v->config->dim));
    case HD_SCORE_BILINEAR:
        return score_bilinear(v, s);
    case HD_SCORE_MLP:
    case HD_SCORE_ADDITIVE:
        return score_additive(v, s);
    case HD_SCORE_TANH_SUM:
        return score_tanh_sum(v, s);
    case HD_SCORE_PROJECTED:
        return score_projected(v, s);
    case HD_SCORE_SCALED:
        return score_scaled(v, s);
    case HD_SCORE_LOCATION:
        return score_location(v, s);
    case HD_SCORE_LOCATION_AWARE:
        return score_location_aware(v, s);
    case HD_SCORE_MULTI_HEAD:
        return attend_multi_head(v, s);
    case HD_SCORE_NONE:
        break;
    }
    return hd_tape_fail(s->tape, HEED_BAD_OPTION, "hd_attend_score: there is no score %d",
                        v->config->score);
}

static bool has_cover_inside(const struct hd_config *c)
{
    return c->score == HD_SCORE_MLP || c->score == HD_SCORE_ADDITIVE ||
           c->score == HD_SCORE_TANH_SUM;
}

hd_node *hd_attend_score(const struct hd_view *v, hd_node *s)
{
    hd_node *e = score_of(v, s);
    return v->cover && !has_cover_inside(v->config)
               ? hd_add(e, hd_mul(v->cover, v->parts->cover)) /* + w Σ_{t'<t} α_t'j [B,S] */
               : e;
}

/* ---- locality: Luong, section 3.2 ------------------------------------------------------------------------------------- */

/* The whole positions j in [p - D, p + D], counted from 1, as a half-open range counted from 0. */
static void window(float p, int D, int length, int *from, int *to)
{
    int low = 1, high = length;
    while (low <= length && (float)low < p - (float)D)
        low++;
    while (high >= 1 && (float)high > p + (float)D)
        high--;
    *from = low - 1;
    *to = high;
}

/* The positions that take part, when they are not simply the whole sentence. p [B] is predicted, or NULL. */
static const hd_mask *mask_of(hd_tape *t, const struct hd_view *v, const float *p)
{
    const char *op = "hd_attend_softmax";
    const struct hd_config *c = v->config;
    const int B = v->spans->n, *n_words = v->length;
    int *from = hd_has_failed(t) ? NULL : hd_tape_take(t, op, 2 * (size_t)B, sizeof *from);
    if (!from)
        return v->mask;
    for (int b = 0; b < B; b++) {
        const int length = v->spans->length[b];
        const int S =
            c->score == HD_SCORE_LOCATION && c->max_source < length ? c->max_source : length;
        from[b] = 0;
        from[B + b] = S;
        if (c->local != HD_LOCAL_NONE)
            window(p ? p[b] : (float)(n_words[b] < S ? n_words[b] + 1 : S), c->window, S, &from[b],
                   &from[B + b]); /* m: p_t = min(t, S) */
    }
    return hd_mask_ranges(t, from, from + B, B, v->spans->longest);
}

/* p: p_t = S·σ(v_pᵀ tanh(W_p s)), [B,1] */
static hd_node *predicted_position(const struct hd_view *v, hd_node *s)
{
    const struct hd_score_parts *p = v->parts;
    const int B = v->spans->n;
    hd_node *S = hd_input(s->tape, NULL, B, 1);
    for (int b = 0; b < B && hd_count(S) == (size_t)B; b++)
        S->x[b] = (float)v->spans->length[b];
    return hd_mul(S, hd_sigmoid(hd_reshape(hd_dot(p->vp, hd_tanh(hd_lin(p->Wp, s))), B, 1)));
}

/* exp(-(j - p_t)² / (2 (D/2)²)), [B, longest] */
static hd_node *gaussian(const struct hd_view *v, hd_node *p)
{
    const float D = (float)v->config->window;
    hd_node *j = hd_input(p->tape, NULL, v->spans->n, v->spans->longest);
    for (size_t i = 0; i < hd_count(j); i++)
        j->x[i] = (float)(i % (size_t)hd_width(j) + 1);
    hd_node *d = hd_sub(j, p);
    return hd_exp(hd_scale(hd_mul(d, d), -2 / (D * D)));
}

/* ---- what would have been --- */

/* Rows that are told what to look at do. */
static void look(const struct hd_view *v, hd_node *attended)
{
    if (!v->looks || hd_has_failed(attended->tape))
        return;
    for (int b = 0; b < v->spans->n; b++) {
        const size_t n = (size_t)v->spans->length[b];
        if (v->looks[b] && v->config->score == HD_SCORE_MULTI_HEAD)
            for (int h = 0; h < v->config->heads; h++)
                hd_attention_look(attended, b, 0, h, v->looks[b]);
        else if (v->looks[b])
            memcpy(attended->x + (size_t)b * (size_t)hd_width(attended), v->looks[b],
                   n * sizeof *attended->x);
    }
}

/* ---- weights and context ------------------------------------------------------------------------------------------------ */

hd_node *hd_attend_softmax(const struct hd_view *v, hd_node *e, hd_node *s)
{
    const struct hd_config *c = v->config;
    if (c->score == HD_SCORE_MULTI_HEAD) {
        look(v, e);
        return e;
    }
    const hd_mask *mask = v->mask;
    hd_node *position = c->local == HD_LOCAL_P ? predicted_position(v, s) : NULL;
    if (c->local != HD_LOCAL_NONE || c->score == HD_SCORE_LOCATION)
        mask = mask_of(s->tape, v, position ? position->x : NULL);
    hd_node *alpha = hd_softmax(e, mask); /* α_t = softmax_j(e_tj)          [B,S] */
    if (position)
        alpha = hd_mul(alpha, gaussian(v, position));
    look(v, alpha);
    return alpha;
}

hd_node *hd_attend_context(const struct hd_view *v, hd_node *alpha)
{
    return v->config->score == HD_SCORE_MULTI_HEAD
               ? hd_lin(v->parts->Wo, alpha) /* W_o [c^1; c^2; …] */
               : hd_context(alpha, v->values, v->spans);
}
