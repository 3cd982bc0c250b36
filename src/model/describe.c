/* describe.c -- what follows from a configuration: widths, and the formula of its attention as a line of text. */
#include "model/config.h"

#include <stdarg.h>
#include <stdio.h>

bool hd_config_has_encoder(const struct hd_config *config)
{
    return config->source != HD_SOURCE_NONE && config->task != HD_TASK_LANGUAGE_MODEL;
}

int hd_config_frames(const struct hd_config *config)
{
    return config->stack << config->pyramid;
}

/* Rounding up at every step is rounding up once. */
int hd_config_positions(const struct hd_config *config, int n_frames)
{
    const int frames = hd_config_frames(config);
    return n_frames / frames + (n_frames % frames != 0);
}

bool hd_config_has_decoder(const struct hd_config *config)
{
    return config->task != HD_TASK_LABEL && config->task != HD_TASK_SPAN;
}

bool hd_config_has_decoder_attention(const struct hd_config *config)
{
    return config->arch == HD_TRANSFORMER && hd_config_has_decoder(config) &&
           config->decoder == HD_DECODER_SELF_ATTENTION;
}

int hd_encoder_width(const struct hd_config *config)
{
    return config->encoder_dim ? config->encoder_dim : config->dim;
}

int hd_value_width(const struct hd_config *config)
{
    switch ((enum hd_score)config->score) {
    case HD_SCORE_NONE:
        return config->context == HD_CONTEXT_EVERY ? hd_encoder_width(config) : 0;
    case HD_SCORE_SCALED:
        return config->attention_dim ? config->attention_dim : config->dim;
    case HD_SCORE_MULTI_HEAD:
        return config->dim;
    default:
        return hd_encoder_width(config);
    }
}

/* ---- the formula ----------------------------------------------------------------------------- */

/* A line that grows. */
struct line {
    char *text;
    size_t used, size;
};

static void say(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(l->text + l->used, l->size - l->used, format, args);
    va_end(args);
    if (n > 0)
        l->used = l->used + (size_t)n < l->size ? l->used + (size_t)n : l->size - 1;
}

/* e_tj; `s` is the state that asks, `cover` what coverage adds. */
static void say_score(struct line *l, const struct hd_config *c, const char *s, const char *cover)
{
    const char *b = c->score_bias ? " + b" : "";
    const int A = c->attention_dim ? c->attention_dim : c->dim;
    switch ((enum hd_score)c->score) {
    case HD_SCORE_NONE:
        break;
    case HD_SCORE_DOT:
        say(l, "e_tj = %s·h_j%s", s, cover);
        break;
    case HD_SCORE_SCALED_DOT:
        say(l, "e_tj = %s·h_j / √%d%s", s, c->dim, cover);
        break;
    case HD_SCORE_BILINEAR:
        say(l, "e_tj = %sᵀ W h_j%s", s, cover);
        break;
    case HD_SCORE_MLP:
        say(l, "e_tj = v·tanh(W [h_j; %s]%s%s)", s, b, cover);
        break;
    case HD_SCORE_ADDITIVE:
        say(l, "e_tj = v·tanh(W %s + U h_j%s%s)", s, b, cover);
        break;
    case HD_SCORE_TANH_SUM:
        say(l, "e_tj = tanh(U h_j + W %s%s)", s, cover);
        break;
    case HD_SCORE_PROJECTED:
        say(l, "e_tj = (W %s)·(U h_j)%s", s, cover);
        break;
    case HD_SCORE_SCALED:
        if (c->score_depth == 1)
            say(l, "e_tj = (W_q %s)·(W_k h_j) / √%d%s, v_j = W_v h_j", s, A, cover);
        else
            say(l, "e_tj = MLP_q(%s)·MLP_k(h_j) / √%d%s, v_j = MLP_v(h_j)", s, A, cover);
        break;
    case HD_SCORE_MULTI_HEAD:
        say(l, "e_tj = (W_q %s)·(W_k h_j) / √%d, v_j = W_v h_j in each of %d heads", s,
            A / c->heads, c->heads);
        break;
    case HD_SCORE_LOCATION:
        say(l, "e_t = W %s", s);
        break;
    case HD_SCORE_LOCATION_AWARE:
        say(l, "e_tj = v·tanh(W %s + U h_j + L f_tj%s), f_t = F ∗ α_{t-1}: %d filters of width %d",
            s, b, c->location_filters, c->location_width);
        break;
    }
}

/* Luong, Pham & Manning (2015), section 3.2; 2 (D/2)² is D²/2. */
static void say_local(struct line *l, const struct hd_config *c, const char *s)
{
    if (c->local == HD_LOCAL_M)
        say(l, ", |j−p_t| ≤ %d, p_t = min(t, S)", c->window);
    else if (c->local == HD_LOCAL_P)
        say(l, ", |j−p_t| ≤ %d, p_t = S·σ(v_p·tanh(W_p %s)), α_tj·exp(−(j−p_t)²/%g)", c->window, s,
            (double)c->window * c->window / 2);
}

const char *hd_config_formula(const struct hd_config *config, char text[256])
{
    static const char *const states[] = {"s_{t-1}", "s_t", "s'_t"}; /* by enum hd_attend */
    const struct hd_config *c = config;
    const char *s = !hd_config_has_decoder(c)     ? "q"
                    : c->attend == HD_OPTION_OPEN ? "s"
                                                  : states[c->attend];
    struct line l = {text, 0, 256};
    text[0] = '\0';
    if (c->arch == HD_TRANSFORMER && c->task == HD_TASK_LABEL)
        say(&l,
            "α = softmax(Q Kᵀ / √%d), c = α V in each of %d heads; then e_j = q·h_j / √%d for the "
            "label",
            c->dim / c->heads, c->heads, c->dim);
    else if (c->arch == HD_TRANSFORMER && c->task == HD_TASK_SPAN)
        say(&l,
            "α = softmax(Q Kᵀ / √%d), c = α V in each of %d heads; then e_j = (W q)·(U h_j) for "
            "the "
            "start and for the end",
            c->dim / c->heads, c->heads);
    else if (c->arch != HD_TRANSFORMER && !hd_config_has_encoder(c))
        say(&l, "none: there is no source");
    else if (c->arch != HD_TRANSFORMER && c->score == HD_SCORE_NONE && c->task == HD_TASK_LABEL)
        say(&l, "none: the mean of all states");
    else if (c->arch == HD_TRANSFORMER && !hd_config_has_encoder(c) &&
             !hd_config_has_decoder_attention(c))
        say(&l,
            "none: there is no source, and the words before are in c_t = f c_{t-1} + (1-f) W x_t");
    else if (c->arch == HD_TRANSFORMER)
        say(&l, "α = softmax(Q Kᵀ / √%d), c = α V in each of %d heads", c->dim / c->heads,
            c->heads);
    else if (c->score == HD_SCORE_NONE)
        say(&l, "none: the source's last state is known at %s",
            c->context == HD_CONTEXT_EVERY ? "every step" : "the first step");
    else {
        say_score(&l, c, s, c->coverage ? " + w Σ_{t'<t} α_t'j" : "");
        say_local(&l, c, s);
    }
    return text;
}
