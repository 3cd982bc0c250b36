/* screen.c -- an 8-bit copy of the output layer that is never wrong: its error is known, and what the error leaves open is
 * decided by the layer itself.
 *
 * A word's logit is x·w + b. With w = s q + r, x = t p + e (q and p whole numbers of 8 bits, s and t scales, r and e what they
 * miss),
 *     x·w - (t p)·(s q) = x·r + e·(s q)       so       |…| ≤ |x| |r| + |e| |s q|          (Cauchy and Schwarz)
 * and (t p)·(s q) is t s Σ p q, whose sum is exact. The layer's own logits differ from x·w + b by their rounding, a chain of D
 * fused multiply-adds that starts from b: at most D u (|b| + |x| |w|) (1 + D u), u = 2^-24; the screen's by a few u of the same. Both are
 * in the bound, with the largest |r|, |s q| and |b| of all words, so that one number B holds for a row: a word whose screen
 * is more than 2 B below the largest is not the likeliest. Those that remain are multiplied out by the kernel that makes all
 * logits, so the answer is the layer's to the last bit, ties included.
 *
 * Words that must never be said have a b of -1e9 or so, which would make B too large for all others. So b far below 0 are left out
 * of it, and the screen gives no answer for a row where words that have them might yet be the likeliest. */
#include "model/screen.h"

#include "base/error.h"
#include "base/memory.h"
#include "graph/tape.h"
#include "model/sieve.h"

#include <math.h>
#include <pthread.h>

enum {
    MOST_LEFT = 16,      /* words that may remain; of more, all logits are made */
    ROWS_AT_A_TIME = 12, /* whose screens exist together */
    ROWS_OF_QUICK = 48,  /* whose logits exist together, of a layer that needs no screen */
    FAR_BELOW = -10000,  /* a b for words that are never said */
};

struct hd_screen {
    const struct hd_packed *layer; /* whose screen it is, as it was packed */
    unsigned generation;
    int D, V;
    uint8_t *packed;
    float *scale;              /* [V] */
    double missed, size, bias; /* the largest |r|, |s q|, |b|, but for b far below 0 */
    bool has_far;              /* are there such? */
};

static const struct hd_packed *packed_layer(const struct hd_head *head)
{
    const struct hd_param *p = head->W->param;
    return head->is_tied ? &p->crossed : &p->straight;
}

void hd_screen_free(struct hd_screen *screen)
{
    if (!screen)
        return;
    hd_free(screen->packed);
    hd_free(screen->scale);
    hd_free(screen);
}

/* Not less than the root of x. */
static double root_above(double x)
{
    return (double)sqrtf((float)x) * (1 + 1e-6) + 1e-18;
}

/* |w - s q| and |s q| of one word; the screen keeps the largest. */
static void note_word(struct hd_screen *s, const float *w, const int8_t *q, float scale, float bias)
{
    double missed = 0, size = 0;
    for (int k = 0; k < s->D; k++) {
        const double there = (double)scale * q[k], r = (double)w[k] - there;
        missed += r * r;
        size += there * there;
    }
    missed = root_above(missed);
    size = root_above(size);
    s->missed = missed > s->missed ? missed : s->missed;
    s->size = size > s->size ? size : s->size;
    s->has_far = s->has_far || bias < FAR_BELOW;
    if (bias >= FAR_BELOW && fabs((double)bias) > s->bias)
        s->bias = fabs((double)bias);
}

/* Quantise the words one by one. */
static bool quantise_words(struct hd_screen *s, const struct hd_head *head,
                           const struct hd_kernels *k, heed_error *err)
{
    const long stride = hd_int8_stride(s->D);
    const size_t D = (size_t)s->D, V = (size_t)s->V;
    int8_t *q = hd_alloc(V, (size_t)stride, err);
    float *w = hd_alloc(D, sizeof *w, err);
    for (size_t v = 0; q && w && v < V; v++) {
        hd_param_read_output(head->W, (int)v, w);
        k->quantise(q + v * (size_t)stride, &s->scale[v], w, s->D);
        note_word(s, w, q + v * (size_t)stride, s->scale[v], head->b->x[v]);
    }
    if (q && w)
        k->pack_int8(s->packed, q, 1, stride, s->D, s->V);
    const bool is_done = q && w;
    hd_free(q);
    hd_free(w);
    return is_done;
}

/* NULL also when there can be none: numbers that are not finite, rows too long for 8 bits. */
static struct hd_screen *new_screen(const struct hd_head *head, const struct hd_kernels *k,
                                    heed_error *err)
{
    const hd_node *W = head->W;
    const int D = hd_head_width(head), V = (int)head->b->count;
    const float *x = W->x ? W->x : W->param->straight.at;
    const long n = W->x ? (long)W->count : (long)hd_packed_size(D, V);
    if (D > HD_INT8_MAX_K || !k->all_finite(x, n) || !k->all_finite(head->b->x, V))
        return NULL;
    struct hd_screen *s = hd_new(struct hd_screen, err);
    if (!s)
        return NULL;
    *s = (struct hd_screen){.layer = packed_layer(head), .D = D, .V = V};
    s->generation = hd_params_generation(head->W->param->set);
    s->packed = hd_alloc(hd_packed_size_int8(D, V), 1, err);
    s->scale = hd_alloc((size_t)V, sizeof *s->scale, err);
    if (s->packed && s->scale && quantise_words(s, head, k, err))
        return s;
    hd_screen_free(s);
    return NULL;
}

/* Does it multiply as fast as its screen would, or is it as one? */
static bool is_quick(const hd_node *W)
{
    return hd_multiplies_int8(W, W->param->use) || hd_multiplies_bf16(W);
}

/* What is of values that have changed nobody reads. */
static void renew_screen(struct hd_head *head, heed_error *err)
{
    struct hd_screen *old = head->screen;
    if (is_quick(head->W) || (old && old->generation == hd_params_generation(head->W->param->set)))
        return;
    const struct hd_kernels *k = hd_kernels_chosen(err);
    head->screen = k ? new_screen(head, k, err) : NULL;
    hd_screen_free(old);
}

static void renew_sieve(struct hd_head *head, heed_error *err)
{
    struct hd_sieve *old = head->sieve;
    if (old && hd_sieve_is_current(old, head))
        return;
    head->sieve = hd_sieve_new(head, err);
    hd_sieve_free(old);
}

/* One at a time makes them; whoever asks for a word meanwhile finds none, or a whole one. */
bool hd_screen_make(struct hd_head *head, heed_error *err)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    heed_error why = {0};
    pthread_mutex_lock(&one);
    renew_screen(head, &why);
    renew_sieve(head, &why);
    pthread_mutex_unlock(&one);
    return !hd_failed(&why) || hd_fail(err, why.code, "%s", why.message);
}

/* ---- the likeliest word ------------------------------------------------------------------------------------------------------- */

/* B of a row x that became t p; *far is more than words with a b far below 0 can have. */
static double bound_of(const struct hd_screen *s, const float *x, const int8_t *p, float t,
                       double *far)
{
    double size = 0, missed = 0;
    for (int k = 0; k < s->D; k++) {
        const double e = (double)x[k] - (double)t * p[k];
        size += (double)x[k] * (double)x[k];
        missed += e * e;
    }
    size = root_above(size);
    missed = root_above(missed);
    *far =
        s->has_far ? 0.98 * FAR_BELOW + 1.02 * (size + missed) * (s->size + s->missed) : -INFINITY;
    const double rounding =
        (s->D + 64) * 0x1p-24 * (s->bias + (size + missed) * (s->size + s->missed));
    return (size * s->missed + missed * s->size + 1.5 * rounding) * (1 + 1e-9);
}

/* Of the words left, the likeliest by the layer itself, 16 neighbours at a time. */
static int decide(const struct hd_head *head, const struct hd_screen *s, hd_tape *t, const float *x,
                  const int *left, int n)
{
    int best = -1;
    float most = -INFINITY;
    for (int i = 0; i < n; i++) {
        const int first = left[i] / HD_LANES * HD_LANES,
                  width = s->V - first < HD_LANES ? s->V - first : HD_LANES;
        float logits[HD_LANES];
        t->k->gemm(logits, HD_LANES, x, s->D, s->layer->at + (size_t)first * (size_t)s->D,
                   head->b->x + first, false, HD_NONE, 1, s->D, width);
        const float logit = logits[left[i] - first];
        if (best < 0 || logit > most || (logit == most && left[i] < best)) {
            best = left[i];
            most = logit;
        }
    }
    return best;
}

/* By all logits; -1 when they are not finite. */
static int best_of_all(const struct hd_head *head, hd_node *out, int row)
{
    hd_tape *t = out->tape;
    const hd_node *logits = hd_logits(head, hd_slice(out, row, 1));
    int word = -1;
    float value = 0;
    if (!hd_has_failed(t) && t->k->all_finite(logits->x, (long)logits->count))
        t->k->top_k(&word, &value, logits->x, hd_last_dim(logits), 1);
    return word;
}

/* The screen's logits of some rows, and the likeliest words of those whose answer it can give. */
static bool ask_screen(const struct hd_head *head, hd_node *out, int from, int n, int *word)
{
    hd_tape *t = out->tape;
    const struct hd_screen *s = head->screen;
    const size_t stride = (size_t)hd_int8_stride(s->D), D = (size_t)s->D, V = (size_t)s->V;
    int8_t *p = hd_tape_take(t, "hd_best_words", (size_t)n * stride, 1);
    float *scale = hd_tape_take(t, "hd_best_words", (size_t)n, sizeof *scale);
    float *y = hd_tape_take(t, "hd_best_words", (size_t)n * V, sizeof *y);
    if (!p || !scale || !y)
        return false;
    const float *x = out->x + (size_t)from * D;
    for (int r = 0; r < n; r++)
        t->k->quantise(p + (size_t)r * stride, &scale[r], x + (size_t)r * D, s->D);
    t->k->gemm_int8(y, s->V, p, (long)stride, scale, s->packed, s->scale, head->b->x, HD_NONE, n,
                    s->D, s->V);
    for (int r = 0; r < n; r++) {
        const float *row = x + (size_t)r * D;
        int left[MOST_LEFT + 1], n_left = 1;
        float value[MOST_LEFT + 1];
        t->k->top_k(left, value, y + (size_t)r * V, s->V, MOST_LEFT + 1);
        double far;
        const double bound = bound_of(s, row, p + (size_t)r * stride, scale[r], &far);
        const double least = (double)value[0] - 2 * bound;
        if (!((double)value[0] - bound > far))
            continue;
        while (n_left <= MOST_LEFT && left[n_left] >= 0 && (double)value[n_left] >= least)
            n_left++;
        if (n_left == 1 && least > -INFINITY)
            word[r] = left[0];
        else if (n_left <= MOST_LEFT && least > -INFINITY)
            word[r] = decide(head, s, t, row, left, n_left);
    }
    return true;
}

/* Of a layer that needs no screen: from all logits of some rows. One that is not finite is far out of what the layer can say. */
static bool ask_quick(const struct hd_head *head, hd_node *out, int from, int n, int *word)
{
    hd_tape *t = out->tape;
    const hd_node *logits = hd_logits(head, hd_slice(out, from, n));
    const int V = hd_last_dim(logits);
    for (int r = 0; r < n && !hd_has_failed(t); r++) {
        float value = 0;
        t->k->top_k(&word[r], &value, logits->x + (size_t)r * (size_t)V, V, 1);
        word[r] = isfinite(value) ? word[r] : -1;
    }
    return !hd_has_failed(t);
}

static bool best_words_quick(const struct hd_head *head, hd_node *out, int *word)
{
    hd_tape *t = out->tape;
    const int n = hd_n_rows(out);
    for (int from = 0; from < n; from += ROWS_OF_QUICK) {
        const struct hd_arena_mark before = hd_arena_mark(&t->arena);
        const int left = n - from, rows = left < ROWS_OF_QUICK ? left : ROWS_OF_QUICK;
        if (!ask_quick(head, out, from, rows, word + from))
            return false;
        hd_arena_rewind(&t->arena, before);
    }
    return true;
}

bool hd_best_words(const struct hd_head *head, hd_node *out, int *word)
{
    hd_tape *t = out->tape;
    const int n = hd_n_rows(out);
    if (n == 1 && head->sieve && (!hd_sieve_ask(head->sieve, head, out, word) || *word >= 0))
        return !hd_has_failed(t);
    if (is_quick(head->W))
        return best_words_quick(head, out, word);
    const struct hd_screen *s = head->screen;
    for (int r = 0; r < n; r++)
        word[r] = -1;
    if (s && s->layer->is_current && s->generation == hd_params_generation(head->W->param->set) &&
        t->k->all_finite(out->x, (long)out->count))
        for (int from = 0; from < n; from += ROWS_AT_A_TIME) {
            const struct hd_arena_mark before = hd_arena_mark(&t->arena);
            const int left = n - from, rows = left < ROWS_AT_A_TIME ? left : ROWS_AT_A_TIME;
            if (!ask_screen(head, out, from, rows, word + from))
                return false;
            hd_arena_rewind(&t->arena, before);
        }
    for (int r = 0; r < n && !hd_has_failed(t); r++)
        if (word[r] < 0) {
            const struct hd_arena_mark before = hd_arena_mark(&t->arena);
            word[r] = best_of_all(head, out, r);
            hd_arena_rewind(&t->arena, before);
        }
    return !hd_has_failed(t);
}
