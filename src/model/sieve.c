/* sieve.c -- a copy of the output layer in 4 bits that rules out what cannot be the likeliest word.
 *
 * One row against all words waits for their weights, and 4 bits are half of the least that a layer has. With w = v + r, where v are
 * the numbers of 4 bits, (2c - 15) times a step of the word's own, and x = y + e, where y are those of 8 bits,
 *     x·w = y·v + y·r + e·w       so       x·w + b ≤ y·v + b + |y| |r| + |e| |w|          (Cauchy and Schwarz)
 * and the sum of y·v is exact. The kernel gives the largest y·v + b + |y| |r| of each panel of 16 words; the rest, and what is
 * rounded on either side, is one number for a row, `slack`, but for what is rounded of b, which b has in it from the start: one word that
 * must never be said, with a b of -1e9, would make it too large for all. Panels are multiplied out by the kernel that makes all logits, the one that may
 * reach furthest first, until none that is left can reach the best logit found: so the answer is the layer's to the last bit,
 * ties included. What a step leaves out is typically a hundredth of its bound, so the first panel mostly has the word.
 *
 * A layer in 8 bits multiplies y itself: there is no e. */
#include "model/sieve.h"

#include "base/memory.h"
#include "graph/tape.h"

#include <math.h>

enum {
    WORTH_IT =
        200, /* rows that come alone before there is a sieve: what it costs is made good by as many */
    LEAST_WORDS = 512,  /* of a layer */
    MOST_INPUTS = 4096, /* for which the sums of squares below are good to 1e-4 */
    TRIALS = 64,        /* rows after which it must have paid */
    FURTHEST = 4,       /* panels that are looked at first */
};

/* Of all the panels a row may have multiplied out one in so many: they come from here and there, which takes twice as long. */
enum { MOST_SHARE = 6 };

struct hd_sieve {
    unsigned generation; /* of the values */
    int D, V;
    atomic_int n_alone;
    atomic_bool is_ready;
    uint8_t *packed;              /* and behind it what follows */
    float *scale, *radius, *bias; /* [V]: half a step; |r| and b, not less */
    double size, most, rise;      /* the largest |w|, |w| + |r|, b of all words */
    atomic_long n_rows,
        n_panels; /* asked, and multiplied out for them: all where it gave no answer */
};

struct hd_sieve *hd_sieve_new(const struct hd_head *head, heed_error *err)
{
    const int D = hd_head_width(head), V = (int)head->b->count;
    const struct hd_kernels *k = hd_kernels_chosen(err);
    if (!k || V < LEAST_WORDS || D > MOST_INPUTS || !k->all_finite(head->b->x, V) ||
        hd_multiplies_bf16(head->W))
        return NULL;
    struct hd_sieve *s = hd_new(struct hd_sieve, err);
    if (!s)
        return NULL;
    *s = (struct hd_sieve){.generation = hd_params_generation(head->W->param->set), .D = D, .V = V};
    return s;
}

void hd_sieve_free(struct hd_sieve *s)
{
    if (!s)
        return;
    hd_free(s->packed);
    hd_free(s);
}

bool hd_sieve_is_current(const struct hd_sieve *s, const struct hd_head *head)
{
    return s->generation == hd_params_generation(head->W->param->set);
}

/* ---- making it ------------------------------------------------------------------------------------------------------------------ */

/* Not less than |x|. */
static double length_above(const struct hd_kernels *k, const float *x, int n)
{
    return (double)sqrtf(k->dot(x, x, n)) * (1 + 1e-4) + 1e-18;
}

/* The step that fits sixteen levels best: of numbers like those of a normal distribution 0.335 of their standard deviation (Max 1960),
 * unless the largest needs less. */
static float step_of(const struct hd_kernels *k, const float *w, int n)
{
    const float even = 0.3352F * sqrtf(k->dot(w, w, n) / (float)n);
    float most = 0;
    for (int i = 0; i < n; i++)
        most = fabsf(w[i]) > most ? fabsf(w[i]) : most;
    const float wide = most / 7.5F;
    return most < 1e-15F ? 0 : wide < even ? wide : even;
}

/* Codes of a word w, which becomes what they miss. */
static void encode(uint8_t *code, float *w, float step, int n)
{
    const float inverse = step > 0 ? 1 / step : 0, half = step / 2;
    for (int i = 0; i < n; i++) {
        float level = fmaf(w[i], inverse, 8);
        level = level > 0 ? level : 0;
        level = level < 15 ? level : 15;
        const int c = (int)level;
        code[i] = (uint8_t)c;
        w[i] = fmaf(-half, (float)(2 * c - 15), w[i]);
    }
}

/* What a sum is rounded by, over the sum of its terms' sizes: of the layer's own, and of the bound's. */
static double rounding(const struct hd_sieve *s)
{
    return 1.5 * (s->D + 64) * 0x1p-24;
}

static void note_word(struct hd_sieve *s, const struct hd_head *head, const struct hd_kernels *k,
                      int v, uint8_t *code, float *w)
{
    hd_param_read_output(head->W, v, w);
    const double size = length_above(k, w, s->D);
    const float step = step_of(k, w, s->D);
    encode(code, w, step, s->D);
    const double missed = length_above(k, w, s->D);
    s->scale[v] = step / 2;
    s->radius[v] = (float)(missed * (1 + 1e-6));
    s->size = size > s->size ? size : s->size;
    s->most = size + missed > s->most ? size + missed : s->most;
    const double b = (double)head->b->x[v], bias = b + (rounding(s) + 1e-6) * fabs(b);
    s->bias[v] = (float)bias;
    s->rise = bias > s->rise ? bias : s->rise;
}

/* Not an error where there is no memory: then there is no sieve. */
static bool fill(struct hd_sieve *s, const struct hd_head *head, const struct hd_kernels *k)
{
    heed_error none = {0};
    const size_t D = (size_t)s->D, V = (size_t)s->V, panel = hd_packed_size_int4(s->D, HD_LANES);
    uint8_t *code = hd_alloc(HD_LANES, D, &none);
    float *w = hd_alloc(D, sizeof *w, &none);
    const size_t size = hd_packed_size_int4(s->D, s->V);
    s->packed = hd_alloc(size + 3 * V * sizeof(float), 1, &none); /* one block: large pages */
    const bool has_room = code && w && s->packed;
    if (has_room) {
        s->scale = (float *)(void *)(s->packed + size);
        s->radius = s->scale + V;
        s->bias = s->radius + V;
    }
    for (size_t first = 0; has_room && first < V; first += HD_LANES) {
        const int n = V - first < HD_LANES ? (int)(V - first) : HD_LANES;
        for (int i = 0; i < n; i++)
            note_word(s, head, k, (int)first + i, code + (size_t)i * D, w);
        k->pack_int4(s->packed + first / HD_LANES * panel, code, s->D, s->D, n);
    }
    hd_free(code);
    hd_free(w);
    return has_room && isfinite(s->most);
}

/* Is it there? While one thread makes it, others go without; what cannot be made is not tried again. */
static bool is_ready(struct hd_sieve *s, const struct hd_head *head, const struct hd_kernels *k)
{
    if (atomic_load_explicit(&s->is_ready, memory_order_acquire))
        return true;
    if (atomic_load_explicit(&s->n_alone, memory_order_relaxed) > WORTH_IT ||
        atomic_fetch_add_explicit(&s->n_alone, 1, memory_order_relaxed) != WORTH_IT)
        return false;
    if (fill(s, head, k))
        atomic_store_explicit(&s->is_ready, true, memory_order_release);
    return false;
}

/* ---- asking it ------------------------------------------------------------------------------------------------------------------ */

/* A row in 8 bits. */
struct asked {
    const float *x;
    const int8_t *y;
    float scale;
    double reach, slack; /* |y|; and what the panels' bounds leave out */
};

static bool is_int8(const struct hd_head *head)
{
    return hd_multiplies_int8(head->W, head->W->param->use);
}

static struct asked row_of(const struct hd_sieve *s, const struct hd_head *head, const float *x,
                           const struct hd_int8_rows *rows)
{
    double size = 0, missed = 0;
    for (int k = 0; k < s->D; k++) {
        const double there = (double)rows->scale[0] * rows->q[k], e = (double)x[k] - there;
        size += there * there;
        missed += e * e;
    }
    size = (double)sqrtf((float)size) * (1 + 1e-6) + 1e-18;
    missed = is_int8(head) ? 0 : (double)sqrtf((float)missed) * (1 + 1e-6) + 1e-18;
    return (struct asked){.x = x,
                          .y = rows->q,
                          .scale = rows->scale[0],
                          .reach = size,
                          .slack = missed * s->size + rounding(s) * (size + missed) * s->most};
}

/* The likeliest word so far. */
struct best {
    int word;
    float logit;
};

/* Where a panel of the layer stands, and its bytes. */
struct panel {
    const void *at;
    size_t size;
};

static struct panel panel_of(const struct hd_sieve *s, const struct hd_head *head, int panel)
{
    const struct hd_param *p = head->W->param;
    const size_t first = (size_t)panel * HD_LANES;
    if (is_int8(head)) {
        const size_t stride = (size_t)hd_int8_stride(s->D);
        return (struct panel){p->int8.packed + first * stride, HD_LANES * stride};
    }
    const struct hd_packed *layer = head->is_tied ? &p->crossed : &p->straight;
    const size_t D = (size_t)s->D;
    return (struct panel){layer->at + first * D, HD_LANES * D * sizeof(float)};
}

/* Asks for what is far away, as much of it as does not push out what is at hand. */
static void ask_for(struct panel p)
{
    for (size_t i = 0; i < p.size && i < 8192; i += 64)
        __builtin_prefetch((const char *)p.at + i, 0, 2);
}

/* Multiplies a panel of words out. */
static void look_at(const struct hd_sieve *s, const struct hd_head *head,
                    const struct hd_kernels *k, const struct asked *row, int panel,
                    struct best *best)
{
    const int first = panel * HD_LANES, width = s->V - first < HD_LANES ? s->V - first : HD_LANES;
    const void *W = panel_of(s, head, panel).at;
    const float *bias = head->b->x + first;
    float logit[HD_LANES];
    if (is_int8(head))
        k->gemm_int8(logit, HD_LANES, row->y, hd_int8_stride(s->D), &row->scale, W,
                     head->W->param->int8.scale + first, bias, HD_NONE, 1, s->D, width);
    else
        k->gemm(logit, HD_LANES, row->x, s->D, W, bias, false, HD_NONE, 1, s->D, width);
    for (int i = 0; i < width; i++)
        if (best->word < 0 || logit[i] > best->logit ||
            (logit[i] == best->logit && first + i < best->word))
            *best = (struct best){first + i, logit[i]};
}

/* The next panel from here that may have the likeliest word. */
static int next_panel(const float *above, int from, int n_panels, double slack,
                      const struct best *best)
{
    while (from < n_panels && (double)above[from] + slack < (double)best->logit)
        from++;
    return from;
}

/* From the panels' bounds to the word; -1 when too many panels are left. First those that reach furthest, one after the other, which is
 * mostly all; then those that are left, as they stand, since they come from far and can be asked for one ahead. */
static int search_panels(struct hd_sieve *s, const struct hd_head *head, const struct hd_kernels *k,
                         const struct asked *row, float *above)
{
    const int n_panels = (s->V + HD_LANES - 1) / HD_LANES, most = n_panels / MOST_SHARE;
    int furthest[FURTHEST], n = 0;
    float bound[FURTHEST];
    struct best best = {-1, 0};
    bool is_open = true;
    k->top_k(furthest, bound, above, n_panels, FURTHEST);
    for (int i = 0; i < FURTHEST && is_open; i++) {
        is_open = best.word < 0 || (double)bound[i] + row->slack >= (double)best.logit;
        if (!is_open)
            break;
        look_at(s, head, k, row, furthest[i], &best);
        above[furthest[i]] = -INFINITY;
        n++;
    }
    for (int at = is_open ? next_panel(above, 0, n_panels, row->slack, &best) : n_panels, next;
         at < n_panels && n <= most; at = next) {
        next = next_panel(above, at + 1, n_panels, row->slack, &best);
        if (next < n_panels)
            ask_for(panel_of(s, head, next));
        look_at(s, head, k, row, at, &best);
        n++;
    }
    atomic_fetch_add_explicit(&s->n_rows, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->n_panels, n > most ? n_panels : n, memory_order_relaxed);
    return n <= most && isfinite(best.logit) ? best.word : -1;
}

/* It has no say in the result, only in the time. */
static bool pays(const struct hd_sieve *s)
{
    const long n = atomic_load_explicit(&s->n_rows, memory_order_relaxed);
    const long looked_at = atomic_load_explicit(&s->n_panels, memory_order_relaxed);
    return n < TRIALS || looked_at < n * (s->V / HD_LANES / MOST_SHARE);
}

bool hd_sieve_ask(struct hd_sieve *s, const struct hd_head *head, hd_node *x, int *word)
{
    hd_tape *t = x->tape;
    *word = -1;
    if (hd_has_failed(t))
        return false;
    const struct hd_param *p = head->W->param;
    if (!hd_sieve_is_current(s, head) ||
        (!is_int8(head) && !(head->is_tied ? p->crossed : p->straight).is_current) ||
        !t->k->all_finite(x->x, s->D) || !is_ready(s, head, t->k) || !pays(s))
        return true;
    const struct hd_int8_rows *rows = hd_int8_rows_of(x);
    const size_t n_panels = ((size_t)s->V + HD_LANES - 1) / HD_LANES;
    float *above = hd_tape_take(t, "hd_best_words", n_panels, sizeof *above);
    if (!rows || !above)
        return false;
    const struct asked row = row_of(s, head, x->x, rows);
    if (!(row.reach * s->most + s->rise + row.slack < 1e30)) /* floats would overflow */
        return true;
    t->k->bounds_int4(above, row.y, row.scale, (float)(row.reach * (1 + 1e-6)), s->packed, s->scale,
                      s->radius, s->bias, s->D, s->V);
    *word = search_panels(s, head, t->k, &row, above);
    return true;
}
