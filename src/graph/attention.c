/* attention.c -- multi-head scaled dot-product attention over ragged sentences, forward and back.
 *
 * Each sentence and head is by itself: scores q·k, a softmax over the keys that a query may see,
 * and their mixture of values. Vaswani et al. (2017), section 3.2.1 and 3.2.2, without the four
 * linear maps, which are hd_lin's.
 *
 * Invariant: a query's result is made of the keys it sees and of no others, key by key in order, so
 * that it has the same bits whether the query comes alone (search) or with the whole target
 * (teacher forcing). */
#include "base/memory.h"
#include "graph/guide.h"
#include "graph/spans.h"

#include <math.h>

struct attention {
    const hd_node *q, *k, *v; /* also where nothing goes back */
    const hd_spans *queries, *keys;
    int n_heads;
    const int *key_rows;
    bool is_causal, drops;
    float scale, dropout;
    uint64_t key, stream; /* of the dropout, when it drops */
    size_t n_weights;
    size_t *first;  /* where a sentence's weights begin: a [queries, keys] for each head */
    float *weights; /* after softmax, before dropout */
    float *mixed;   /* after dropout; the same as weights when nothing is dropped */
    float *
        guided; /* on the way back: what guides add to the gradient of the weights; NULL: nothing */
};

/* One sentence and head: the pieces of q, k, v, of the result, and their sizes. */
struct head {
    int T, S, d, e;    /* queries, keys, width of a key, width of a value */
    size_t q, k, v, y; /* where its first row begins */
    size_t weights;
};

static struct head head_of(const struct attention *a, const hd_node *q, const hd_node *v,
                           int sentence, int head)
{
    const int T = a->queries->length[sentence], S = a->keys->length[sentence];
    const int D = hd_last_dim(q), E = hd_last_dim(v), d = D / a->n_heads, e = E / a->n_heads;
    const size_t from = (size_t)a->queries->start[sentence],
                 keys = (size_t)a->keys->start[sentence];
    return (struct head){
        .T = T,
        .S = S,
        .d = d,
        .e = e,
        .q = from * (size_t)D + (size_t)(head * d),
        .k = keys * (size_t)D + (size_t)(head * d),
        .v = keys * (size_t)E + (size_t)(head * e),
        .y = from * (size_t)E + (size_t)(head * e),
        .weights = a->first[sentence] + (size_t)head * (size_t)T * (size_t)S,
    };
}

/* How many keys query t sees: all, or, when causal, all but as many as there are queries after
 * it. */
static int seen(const struct attention *a, struct head h, int t)
{
    const int n = a->is_causal ? h.S - h.T + t + 1 : h.S;
    return n < 0 ? 0 : n;
}

/* softmax(scale · q kᵀ), each query over the keys it sees; 0 for the others */
static void weigh(hd_tape *t, const struct attention *a, struct head h, const hd_node *q,
                  const hd_node *k)
{
    float *w = a->weights + h.weights;
    t->k->dots(w, h.S, q->x + h.q, hd_last_dim(q), k->x + h.k, hd_last_dim(k), a->scale, false, h.T,
               h.S, h.d);
    for (int i = 0; i < h.T; i++, w += h.S) {
        const int n = seen(a, h, i);
        t->k->softmax(w, w, NULL, n);
        memset(w + n, 0, (size_t)(h.S - n) * sizeof *w);
    }
}

/* Σ_j α_j v_j */
static void mix_values(hd_tape *t, const struct attention *a, struct head h, const hd_node *v,
                       hd_node *y)
{
    const long E = hd_last_dim(v);
    const float *w = a->mixed + h.weights;
    if (!a->is_causal)
        t->k->gemm_free(y->x + h.y, E, w, h.S, 1, v->x + h.v, E, 1, false, h.T, h.S, h.e,
                        t->scratch);
    else /* only over the keys it sees, not over zeros for the others: see the invariant */
        for (int i = 0; i < h.T; i++)
            t->k->gemm_free(y->x + h.y + i * E, E, w + (size_t)i * (size_t)h.S, h.S, 1, v->x + h.v,
                            E, 1, false, 1, seen(a, h, i), h.e, t->scratch);
}

/* Ask for the keys of a sentence before they are needed: they may be far away, and in any order. */
static void fetch_keys(const struct attention *a, int s, const hd_node *k)
{
    const size_t width = (size_t)hd_last_dim(k);
    for (int j = 0; j < a->keys->length[s]; j++) {
        const int i = a->keys->start[s] + j;
        const float *row = k->x + (size_t)(a->key_rows ? a->key_rows[i] : i) * width;
        for (size_t c = 0; c < width; c += 16)
            __builtin_prefetch(row + c);
    }
}

/* The only query of a sentence, all heads: weights and mixture in one pass. The bits are those of the two above. */
static void look_once(hd_tape *t, const struct attention *a, int s, const hd_node *q,
                      const hd_node *k, const hd_node *v, hd_node *y)
{
    const struct head h = head_of(a, q, v, s, 0);
    const int *rows = a->key_rows ? a->key_rows + a->keys->start[s] : NULL;
    t->k->attend(y->x + h.y, a->weights + h.weights, q->x + h.q, rows ? k->x : k->x + h.k,
                 hd_last_dim(k), rows ? v->x : v->x + h.v, hd_last_dim(v), rows, a->scale,
                 a->n_heads, h.S, h.d, h.e);
}

/* Where gradients of q, k and v go, and whether they are added there or are the first. */
struct into {
    float *q, *k, *v;
    bool adds_q, adds_k, adds_v;
};

/* dα = dy vᵀ and dv (+)= αᵀ dy */
static void mix_values_back(hd_tape *t, const struct attention *a, struct head h, const hd_node *v,
                            const hd_node *y, float *dalpha, const struct into *d)
{
    const long E = hd_last_dim(v);
    const float *dy = y->g + h.y;
    t->k->dots(dalpha + h.weights, h.S, dy, E, v->x + h.v, E, 1, false, h.T, h.S, h.e);
    if (d->v)
        t->k->gemm_free(d->v + h.v, E, a->mixed + h.weights, 1, h.S, dy, E, 1, d->adds_v, h.S, h.T,
                        h.e, t->scratch);
}

/* Through the softmax to the scores e, then dq (+)= de k and dk (+)= deᵀ q */
static void weigh_back(hd_tape *t, const struct attention *a, struct head h, const hd_node *q,
                       const hd_node *k, const float *dalpha, float *de, const struct into *d)
{
    const long D = hd_last_dim(q);
    const size_t n = (size_t)h.T * (size_t)h.S;
    float *e = de + h.weights;
    memset(e, 0, n * sizeof *e);
    for (int i = 0; i < h.T; i++) {
        const size_t row = h.weights + (size_t)i * (size_t)h.S;
        t->k->softmax_back(de + row, dalpha + row, a->weights + row, seen(a, h, i));
    }
    t->k->scale(e, a->scale, e, (long)n);
    if (d->q)
        t->k->gemm_free(d->q + h.q, D, e, h.S, 1, k->x + h.k, D, 1, d->adds_q, h.T, h.S, h.d,
                        t->scratch);
    if (d->k)
        t->k->gemm_free(d->k + h.k, D, e, 1, h.S, q->x + h.q, D, 1, d->adds_k, h.S, h.T, h.d,
                        t->scratch);
}

/* Is every row in one sentence? */
static bool covers(const hd_spans *spans, const hd_node *x)
{
    int next = 0;
    for (int i = 0; i < spans->n; i++) {
        if (spans->start[i] != next)
            return false;
        next += spans->length[i];
    }
    return next == hd_n_rows(x);
}

/* The gradient of an operand; if that is none of the others and each of its rows is in one sentence, it need not be zeroed. */
static float *gradient_of_operand(hd_tape *t, hd_node *x, const hd_spans *spans, bool is_alone,
                                  bool *adds)
{
    *adds = true;
    return is_alone && covers(spans, x) ? hd_gradient_to_write(t, x, adds) : hd_gradient_of(t, x);
}

static void attention_back(hd_node *y)
{
    hd_tape *t = y->tape;
    const struct attention *a = y->extra;
    hd_node *q = y->in[0], *k = y->in[1], *v = y->in[2];
    struct into d;
    d.q = gradient_of_operand(t, q, a->queries, q != k && q != v, &d.adds_q);
    d.k = gradient_of_operand(t, k, a->keys, k != q && k != v, &d.adds_k);
    d.v = gradient_of_operand(t, v, a->keys, v != q && v != k, &d.adds_v);
    const struct hd_arena_mark before = hd_arena_mark(&t->arena);
    float *dalpha = hd_tape_take(t, "hd_backward", a->n_weights, sizeof *dalpha);
    float *de = hd_tape_take(t, "hd_backward", a->n_weights, sizeof *de);
    if (!dalpha || !de)
        return;
    for (int s = 0; s < a->queries->n; s++)
        for (int i = 0; i < a->n_heads; i++)
            mix_values_back(t, a, head_of(a, q, v, s, i), v, y, dalpha, &d);
    if (a->drops)
        t->k->dropout(dalpha, dalpha, a->dropout, a->key, a->stream, false, (long)a->n_weights);
    if (a->guided)
        t->k->add(dalpha, dalpha, a->guided, (long)a->n_weights);
    for (int s = 0; s < a->queries->n; s++)
        for (int i = 0; i < a->n_heads; i++)
            weigh_back(t, a, head_of(a, q, v, s, i), q, k, dalpha, de, &d);
    hd_arena_rewind(&t->arena, before);
}

static void check_key_rows(hd_tape *t, const char *op, const hd_node *k,
                           const hd_attention_options *o)
{
    const int n = hd_n_rows(k);
    for (int i = 0; i < o->keys->rows; i++)
        if (o->key_rows[i] < 0 || o->key_rows[i] >= n) {
            hd_tape_fail(t, HEED_BAD_SHAPE, "%s: key_rows[%d] = %d, but k is %s", op, i,
                         o->key_rows[i], hd_text(k).s);
            return;
        }
}

static bool check_attention(hd_tape *t, const hd_node *q, const hd_node *k, const hd_node *v,
                            const hd_attention_options *o)
{
    const char *op = "hd_attention";
    if (o->n_heads < 1 || hd_last_dim(q) % o->n_heads || hd_last_dim(v) % o->n_heads)
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: q %s and v %s cannot be cut into %d heads", op,
                     hd_text(q).s, hd_text(v).s, o->n_heads);
    else if (hd_last_dim(q) != hd_last_dim(k))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: q %s and k %s differ in width", op, hd_text(q).s,
                     hd_text(k).s);
    else if (hd_n_rows(k) != hd_n_rows(v))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: k %s and v %s differ in rows", op, hd_text(k).s,
                     hd_text(v).s);
    else if (o->queries->n != o->keys->n)
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: queries of %d sentences, but keys of %d", op,
                     o->queries->n, o->keys->n);
    else if (o->queries->rows > hd_n_rows(q))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: the queries' sentences end at row %d, but q is %s", op,
                     o->queries->rows, hd_text(q).s);
    else if (o->key_rows && (o->queries->longest > 1 || o->queries->total < o->queries->n))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: with key_rows every sentence has one query", op);
    else if (o->key_rows && k->wants_gradient | v->wants_gradient)
        hd_tape_fail(t, HEED_BAD_OPTION, "%s: with key_rows there is no gradient", op);
    else if (o->key_rows)
        check_key_rows(t, op, k, o);
    else if (o->keys->rows > hd_n_rows(k))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: the keys' sentences end at row %d, but k is %s", op,
                     o->keys->rows, hd_text(k).s);
    else if (hd_spans_share(t, op, o->queries))
        hd_tape_fail(t, HEED_BAD_SHAPE, "%s: two sentences share a row of q %s", op, hd_text(q).s);
    else if (!(o->dropout >= 0 && o->dropout < 1))
        hd_tape_fail(t, HEED_BAD_OPTION,
                     "%s: the dropout is %g, it must be at least 0 and less than 1", op,
                     (double)o->dropout);
    return !hd_has_failed(t);
}

/* Room for the weights of all sentences and heads. */
static bool make_weights(hd_tape *t, struct attention *a)
{
    const int n = a->queries->n;
    a->first = hd_tape_take(t, "hd_attention", (size_t)n, sizeof *a->first);
    if (!a->first)
        return false;
    for (int s = 0; s < n; s++) {
        const size_t T = (size_t)a->queries->length[s], S = (size_t)a->keys->length[s];
        size_t weights = T * S;
        a->first[s] = a->n_weights;
        if (!hd_mul_size(&weights, weights, (size_t)a->n_heads) ||
            !hd_add_size(&a->n_weights, a->n_weights, weights) ||
            a->n_weights > PTRDIFF_MAX / sizeof *a->weights) {
            hd_tape_fail(t, HEED_BAD_SHAPE,
                         "hd_attention: the weights of %d sentences and %d heads are too many", n,
                         a->n_heads);
            return false;
        }
    }
    a->weights = a->mixed = hd_tape_take(t, "hd_attention", a->n_weights, sizeof *a->weights);
    if (a->weights && a->drops)
        a->mixed = hd_tape_take(t, "hd_attention", a->n_weights, sizeof *a->mixed);
    return a->weights && a->mixed;
}

static bool looks_once(const struct attention *a, int s)
{
    return a->queries->length[s] == 1 && !a->drops;
}

hd_node *hd_attention(hd_node *q, hd_node *k, hd_node *v, const hd_attention_options *options)
{
    const char *op = "hd_attention";
    hd_tape *t = hd_home3(op, q, k, v);
    if (hd_has_failed(t) || !check_attention(t, q, k, v, options))
        return &t->nil;
    const int d = hd_last_dim(q) / options->n_heads;
    hd_node *y = hd_make(t, op, hd_shape_width(q, hd_last_dim(v)), attention_back, q, k, v,
                         sizeof(struct attention));
    if (!y)
        return &t->nil;
    struct attention *a = y->extra;
    *a = (struct attention){
        .q = q,
        .k = k,
        .v = v,
        .queries = options->queries,
        .keys = options->keys,
        .key_rows = options->key_rows,
        .n_heads = options->n_heads,
        .is_causal = options->is_causal,
        .scale = options->scale == 0 && d > 0 ? 1 / sqrtf((float)d) : options->scale,
        .dropout = options->dropout,
        .drops = t->is_training && options->dropout > 0,
    };
    if (!make_weights(t, a))
        return &t->nil;
    if (a->queries->total < hd_n_rows(q)) /* rows that belong to no sentence */
        memset(y->x, 0, y->count * sizeof *y->x);
    const int n = a->queries->n;
    for (int s = 0; s < n; s++)
        if (looks_once(a, s)) {
            if (s + 1 < n)
                fetch_keys(a, s + 1, k);
            look_once(t, a, s, q, k, v, y);
        } else
            for (int i = 0; i < a->n_heads; i++)
                weigh(t, a, head_of(a, q, v, s, i), q, k);
    if (a->drops) {
        a->key = t->key;
        a->stream = t->n_dropouts++;
        t->k->dropout(a->mixed, a->weights, a->dropout, a->key, a->stream, false,
                      (long)a->n_weights);
    }
    for (int s = 0; s < n; s++)
        for (int i = 0; i < a->n_heads && !looks_once(a, s); i++)
            mix_values(t, a, head_of(a, q, v, s, i), v, y);
    return y;
}

/* ---- guides --------------------------------------------------------------------------------------- */

bool hd_attention_places(const hd_node *attention, int head, const hd_guide *guides, int n,
                         size_t *places)
{
    const struct attention *a = attention->extra;
    if (head < 0 || head >= a->n_heads)
        return false;
    for (int i = 0, s = 0, first = 0; i < n; i++) { /* `first`: queries of the sentences before s */
        while (s < a->queries->n && guides[i].row >= first + a->queries->length[s])
            first += a->queries->length[s++];
        if (s == a->queries->n || guides[i].row < first || guides[i].key < 0 ||
            guides[i].key >= a->keys->length[s])
            return false;
        const size_t T = (size_t)a->queries->length[s], S = (size_t)a->keys->length[s];
        places[i] = a->first[s] + ((size_t)head * T + (size_t)(guides[i].row - first)) * S +
                    (size_t)guides[i].key;
    }
    return true;
}

const float *hd_attention_all_weights(const hd_node *attention)
{
    return ((const struct attention *)attention->extra)->weights;
}

float *hd_attention_guided(hd_tape *t, hd_node *attention)
{
    struct attention *a = attention->extra;
    if (!hd_gradient_of(t, attention)) /* so that it is gone back through */
        return NULL;
    if (!a->guided && (a->guided = hd_tape_take(t, "hd_backward", a->n_weights, sizeof(float))))
        memset(a->guided, 0, a->n_weights * sizeof *a->guided);
    return a->guided;
}

const float *hd_attention_weights(const hd_node *attention, int sentence, int head)
{
    hd_tape *t = attention->tape;
    if (!t || hd_has_failed(t))
        return NULL;
    const struct attention *a = attention->extra;
    if (sentence < 0 || sentence >= a->queries->n || head < 0 || head >= a->n_heads)
        return NULL;
    const size_t T = (size_t)a->queries->length[sentence], S = (size_t)a->keys->length[sentence];
    return a->weights + a->first[sentence] + (size_t)head * T * S;
}

/* ---- what a query looks at ------------------------------------------------------------------------ */

/* The row of a sentence's key j among all keys. */
static size_t row_of_key(const struct attention *a, int sentence, int j)
{
    const int i = a->keys->start[sentence] + j;
    return (size_t)(a->key_rows ? a->key_rows[i] : i);
}

void hd_attention_scores(const hd_node *attention, int sentence, int query, int head, float *e)
{
    const struct attention *a = attention->extra;
    const hd_node *q = a->q, *k = a->k;
    const size_t width = (size_t)hd_last_dim(q);
    const struct head h = head_of(a, q, a->v, sentence, head);
    for (int j = 0; j < h.S; j++) {
        const float *key = k->x + row_of_key(a, sentence, j) * width + (size_t)(head * h.d);
        e[j] =
            a->scale * attention->tape->k->dot(q->x + h.q + (size_t)query * width, key, (long)h.d);
    }
}

void hd_attention_look(hd_node *attention, int sentence, int query, int head, const float *alpha)
{
    const struct attention *a = attention->extra;
    const hd_node *v = a->v;
    const size_t width = (size_t)hd_last_dim(v);
    const struct head h = head_of(a, a->q, v, sentence, head);
    float *y = attention->x + h.y + (size_t)query * width;
    memcpy(a->weights + h.weights + (size_t)query * (size_t)h.S, alpha,
           (size_t)h.S * sizeof *alpha);
    memset(y, 0, (size_t)h.e * sizeof *y);
    for (int j = 0; j < h.S; j++)
        attention->tape->k->add_scaled(
            y, alpha[j], v->x + row_of_key(a, sentence, j) * width + (size_t)(head * h.e),
            (long)h.e);
}
