/* transformer.c -- the Transformer: attention and feed-forward blocks.
 *
 * Vaswani et al. (2017), "Attention is all you need"; pre-norm as in Xiong et al. (2020); a recurrent unit in the place of the decoder's
 * self-attention as in Kim et al. (2019), "From research to production and back".
 * Rows are words: sentences stand one after the other, without padding, and spans say where each is. Search runs the
 * very same blocks with one new row per hypothesis; keys and values of the words before it, or the unit's vector, are its state.
 * Invariant: a row's numbers depend on its own sentence alone, and on nothing after it in the target, so that teacher
 * forcing and search give the same bits. */
#include "base/memory.h"

#include "graph/guide.h"
#include "graph/tape.h"
#include "model/architecture.h"
#include "model/param.h"
#include "model/position.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- parts ----------------------------------------------------------------------------------- */

/* W x + b */
struct linear_map {
    hd_node *W, *b;
};

struct layer_norm {
    hd_node *gain, *bias;
};

/* Multi-head attention: queries, keys, values, and what joins the heads. */
struct heads {
    struct linear_map q, k, v, o;
    struct layer_norm norm;
};

/* W_2 f(W_1 x + b_1) + b_2 */
struct feed_forward {
    struct linear_map in, out;
    struct layer_norm norm;
};

/* The simpler simple recurrent unit: c_t = f∘c_{t-1} + (1-f)∘W x_t, f = σ(W_f x_t + b_f) */
struct ssru {
    hd_node *W;
    struct linear_map f;
    struct layer_norm norm;
};

/* One block; an encoder's has no `cross`, nor has a decoder's without a source. Of `self` and `ssru` it has one. */
struct block {
    struct heads self, cross;
    struct ssru ssru;
    struct feed_forward ffn;
};

struct transformer_parts {
    int n_encoder, n_decoder;
    struct block *encoder, *decoder; /* [layers] each */
    struct layer_norm encoder_norm,
        decoder_norm; /* after the last block; NULL without final_norm */
    hd_node *source_positions, *target_positions; /* learned: [max,D] */
    float *frequencies;                           /* sin: [D/2] */
    float *of_grids;                              /* sin: [D/4], of rows and of columns */
};

/* ---- parameters ------------------------------------------------------------------------------ */

static struct linear_map declare_map(hd_params *params, const char *block, const char *name, int in,
                                     int out)
{
    char prefix[80];
    snprintf(prefix, sizeof prefix, "%s.%s", block, name);
    struct linear_map m;
    m.W = hd_map_param(params, prefix, "W", in, out);
    m.b = hd_vector_param(params, prefix, "b", out);
    return m;
}

static struct layer_norm declare_norm(hd_params *params, const char *block, const char *name, int D)
{
    char prefix[80];
    snprintf(prefix, sizeof prefix, "%s.%s", block, name);
    struct layer_norm n;
    n.gain = hd_vector_param(params, prefix, "gain", D);
    n.bias = hd_vector_param(params, prefix, "bias", D);
    return n;
}

static struct heads declare_heads(hd_params *params, const char *block, const char *name, int D)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s.%s", block, name);
    struct heads h;
    h.q = declare_map(params, prefix, "q", D, D);
    h.k = declare_map(params, prefix, "k", D, D);
    h.v = declare_map(params, prefix, "v", D, D);
    h.o = declare_map(params, prefix, "o", D, D);
    h.norm = declare_norm(params, prefix, "norm", D);
    return h;
}

static struct ssru declare_ssru(hd_params *params, const char *block, int D)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s.ssru", block);
    struct ssru u;
    u.W = hd_map_param(params, prefix, "W", D, D);
    u.f = declare_map(params, prefix, "f", D, D);
    u.norm = declare_norm(params, prefix, "norm", D);
    return u;
}

static struct block declare_block(const struct hd_net *net, const char *side, int layer,
                                  bool has_cross, bool has_ssru)
{
    const int D = net->config.dim, F = net->config.ffn;
    char block[32];
    snprintf(block, sizeof block, "%s.%d", side, layer);
    struct block b = {0};
    if (has_ssru)
        b.ssru = declare_ssru(net->params, block, D);
    else
        b.self = declare_heads(net->params, block, "self", D);
    if (has_cross)
        b.cross = declare_heads(net->params, block, "cross", D);
    b.ffn.in = declare_map(net->params, block, "ffn.1", D, F);
    b.ffn.out = declare_map(net->params, block, "ffn.2", F, D);
    b.ffn.norm = declare_norm(net->params, block, "ffn.norm", D);
    return b;
}

/* Half of a position's numbers tell its row, half its column. */
static struct hd_config half_of(const struct hd_config *c)
{
    struct hd_config half = *c;
    half.dim = c->dim / 2;
    return half;
}

static bool declare_transformer(struct hd_net *net, heed_error *err)
{
    const struct hd_config *c = &net->config;
    struct transformer_parts *p = net->parts = hd_new(struct transformer_parts, err);
    if (!p)
        return false;
    p->n_encoder = hd_config_has_encoder(c) ? c->encoder_layers : 0;
    p->n_decoder = hd_config_has_decoder(c) ? c->decoder_layers : 0;
    p->encoder = hd_alloc((size_t)p->n_encoder, sizeof *p->encoder, err);
    p->decoder = hd_alloc((size_t)p->n_decoder, sizeof *p->decoder, err);
    if (c->positions == HD_POSITIONS_SIN)
        p->frequencies = hd_position_frequencies(c, err);
    const struct hd_config half = half_of(c);
    const bool has_grids = c->has_grids && c->positions == HD_POSITIONS_SIN;
    if (has_grids)
        p->of_grids = hd_position_frequencies(&half, err);
    if (!p->encoder || !p->decoder || (c->positions == HD_POSITIONS_SIN && !p->frequencies) ||
        (has_grids && !p->of_grids))
        return false;
    const bool has_places = c->positions == HD_POSITIONS_LEARNED;
    if (has_places && p->n_encoder > 0)
        p->source_positions = hd_param(net->params, "source.positions", c->max_positions, c->dim);
    if (has_places && p->n_decoder > 0)
        p->target_positions = hd_param(net->params, "target.positions", c->max_positions, c->dim);
    for (int l = 0; l < p->n_encoder; l++)
        p->encoder[l] = declare_block(net, "encoder", l + 1, false, false);
    for (int l = 0; l < p->n_decoder; l++)
        p->decoder[l] =
            declare_block(net, "decoder", l + 1, p->n_encoder > 0, c->decoder == HD_DECODER_SSRU);
    if (c->final_norm && p->n_encoder > 0)
        p->encoder_norm = declare_norm(net->params, "encoder", "norm", c->dim);
    if (c->final_norm && p->n_decoder > 0)
        p->decoder_norm = declare_norm(net->params, "decoder", "norm", c->dim);
    return true;
}

static void free_transformer(void *of_net)
{
    struct transformer_parts *parts = of_net;
    if (!parts)
        return;
    hd_free(parts->frequencies);
    hd_free(parts->of_grids);
    hd_free(parts->decoder);
    hd_free(parts->encoder);
    hd_free(parts);
}

static void init_map(struct linear_map map, uint64_t seed)
{
    hd_init_glorot(map.W, seed);
    hd_init_fill(map.b, 0);
}

static void init_norm(struct layer_norm norm)
{
    hd_init_fill(norm.gain, 1);
    hd_init_fill(norm.bias, 0);
}

static void init_heads(const struct heads *heads, uint64_t seed)
{
    init_map(heads->q, seed);
    init_map(heads->k, seed);
    init_map(heads->v, seed);
    init_map(heads->o, seed);
    init_norm(heads->norm);
}

static void init_ssru(const struct ssru *ssru, uint64_t seed)
{
    hd_init_glorot(ssru->W, seed);
    init_map(ssru->f, seed);
    init_norm(ssru->norm);
}

static void init_block(const struct block *block, uint64_t seed)
{
    if (block->ssru.W)
        init_ssru(&block->ssru, seed);
    else
        init_heads(&block->self, seed);
    if (block->cross.q.W)
        init_heads(&block->cross, seed);
    init_map(block->ffn.in, seed);
    init_map(block->ffn.out, seed);
    init_norm(block->ffn.norm);
}

static void init_transformer(struct hd_net *net, uint64_t seed)
{
    const struct hd_config *c = &net->config;
    const struct transformer_parts *p = net->parts;
    for (int l = 0; l < p->n_encoder; l++)
        init_block(&p->encoder[l], seed);
    for (int l = 0; l < p->n_decoder; l++)
        init_block(&p->decoder[l], seed);
    if (p->encoder_norm.gain)
        init_norm(p->encoder_norm);
    if (p->decoder_norm.gain)
        init_norm(p->decoder_norm);
    if (p->source_positions)
        hd_init_normal(p->source_positions, 1 / sqrtf((float)c->dim), seed);
    if (p->target_positions)
        hd_init_normal(p->target_positions, 1 / sqrtf((float)c->dim), seed);
}

static const struct transformer_parts *transformer_of(const struct hd_net *net)
{
    return net->parts;
}

/* ---- formulas -------------------------------------------------------------------------------- */

static hd_node *map(struct linear_map m, hd_node *x)
{
    return hd_affine(m.W, m.b, x);
}

static hd_node *norm(const struct hd_config *c, struct layer_norm n, hd_node *x)
{
    return hd_layer_norm(x, n.gain, n.bias, c->norm_eps);
}

/* Sections 3.1 and 5.4. A block is made of parts f with a residual around each, [N,D] to [N,D]:
 *     post-norm   x ← norm(x + drop(f(x)))
 *     pre-norm    x ← x + drop(f(norm(x)))
 * `enter` is what f sees, `leave` what comes after it. */
static hd_node *enter(const struct hd_config *c, struct layer_norm n, hd_node *x)
{
    return c->norm == HD_NORM_PRE ? norm(c, n, x) : x;
}

static hd_node *leave(const struct hd_config *c, struct layer_norm n, hd_node *x, hd_node *fx,
                      float dropout)
{
    hd_node *sum = hd_add(x, hd_dropout(fx, dropout));
    return c->norm == HD_NORM_PRE ? sum : norm(c, n, sum);
}

/* Hendrycks & Gimpel (2016), section 2: x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2, which is x σ(2 √(2/π) (…)) */
static hd_node *gelu_tanh(hd_node *x)
{
    hd_node *square = hd_mul(x, x), *once = hd_scale(x, 1.5957691216057308F);
    hd_node *cube = hd_scale(hd_mul(square, x), 0.07135481282989F);
    return hd_mul(x, hd_sigmoid(hd_add(once, cube)));
}

/* act(W x + b) */
static hd_node *inner_layer(const struct hd_config *c, struct linear_map m, hd_node *x)
{
    return c->activation == HD_GELU_TANH ? gelu_tanh(map(m, x))
                                         : hd_dense(m.W, m.b, x, (enum hd_function)c->activation);
}

/* Section 3.3: f(x) = W_2 act(W_1 x + b_1) + b_2 */
static hd_node *feed_forward(const struct hd_config *c, const struct feed_forward *f, hd_node *x,
                             const struct hd_dropouts *drop)
{
    hd_node *y = enter(c, f->norm, x);
    y = inner_layer(c, f->in, y);              /* act(W_1 x + b_1)            [N,F] */
    y = map(f->out, hd_dropout(y, drop->ffn)); /* W_2 … + b_2                 [N,D] */
    return leave(c, f->norm, x, y, drop->state);
}

/* Section 3.2.2: softmax(q kᵀ / √d) v in each head, heads side by side   [N,D] */
static hd_node *attend(const struct hd_config *c, hd_node *q, hd_node *k, hd_node *v,
                       const hd_spans *queries, const hd_spans *keys, const int *key_rows,
                       bool is_causal, const struct hd_dropouts *drop)
{
    return hd_attention(q, k, v,
                        &(hd_attention_options){.queries = queries,
                                                .keys = keys,
                                                .key_rows = key_rows,
                                                .n_heads = c->heads,
                                                .is_causal = is_causal,
                                                .dropout = drop->attention});
}

/* Sections 3.4 and 3.5: √D · E + P, E [n,D] the embeddings of words at these positions */
static hd_node *add_positions(const struct hd_net *net, hd_node *E, hd_node *learned,
                              const int *position, int n, const struct hd_dropouts *drop)
{
    const struct hd_config *c = &net->config;
    const float *frequencies = transformer_of(net)->frequencies;
    hd_node *x = c->embed_scale ? hd_scale(E, sqrtf((float)c->dim)) : E;
    if (c->positions == HD_POSITIONS_SIN)
        x = hd_add(x, hd_positions_sin(c, frequencies, E->tape, position, n));
    else if (c->positions == HD_POSITIONS_LEARNED)
        x = hd_add(x, hd_positions_learned(learned, E->tape, position, n));
    return hd_dropout(x, drop->embed);
}

/* x + P, where each position of a vector source is; on a grid P = [P(row); P(column)] */
static hd_node *place_vectors(const struct hd_net *net, hd_node *x, const struct hd_memory *memory,
                              const struct hd_dropouts *drop)
{
    const struct hd_config *c = &net->config;
    const struct transformer_parts *p = net->parts;
    const int n = memory->spans->total;
    if (c->positions == HD_POSITIONS_LEARNED)
        x = hd_add(x, hd_positions_learned(p->source_positions, x->tape, memory->self.query, n));
    if (c->positions == HD_POSITIONS_SIN && !memory->row)
        x = hd_add(x, hd_positions_sin(c, p->frequencies, x->tape, memory->self.query, n));
    if (c->positions == HD_POSITIONS_SIN && memory->row) {
        const struct hd_config half = half_of(c);
        hd_node *row = hd_positions_sin(&half, p->of_grids, x->tape, memory->row, n);
        hd_node *column = hd_positions_sin(&half, p->of_grids, x->tape, memory->column, n);
        x = hd_add(x, hd_concat(row, column));
    }
    return hd_dropout(x, drop->embed);
}

/* ---- attention as a result ------------------------------------------------------------------- */

static const float *find_weights(const struct hd_weights *w, int row, int layer, int head)
{
    return hd_attention_weights(w->nodes[layer - 1], w->sequence[row], head) +
           (size_t)w->query[row] * (size_t)w->n_keys[row];
}

static void find_scores_by_layer(const struct hd_weights *w, int row, int layer, int head, float *e)
{
    hd_attention_scores(w->nodes[layer - 1], w->sequence[row], w->query[row], head, e);
}

static struct hd_weights weights_by_layer(const struct hd_config *c, enum hd_attention_kind kind,
                                          hd_node *const *nodes, const int *sentence,
                                          const int *query, const int *n_keys)
{
    return (struct hd_weights){.kind = kind,
                               .n_layers = kind == HD_ATTENTION_ENCODER ? c->encoder_layers
                                                                        : c->decoder_layers,
                               .n_heads = c->heads,
                               .nodes = nodes,
                               .sequence = sentence,
                               .query = query,
                               .n_keys = n_keys,
                               .find = find_weights,
                               .find_scores = find_scores_by_layer};
}

/* ---- encoder --------------------------------------------------------------------------------- */

/* Section 3.1: a word attends to all words of its sentence. */
static hd_node *encoder_block(const struct hd_config *c, const struct block *b, hd_node *x,
                              const hd_spans *spans, const struct hd_dropouts *drop,
                              hd_node **attended_by)
{
    const struct heads *h = &b->self;
    hd_node *y = enter(c, h->norm, x);
    hd_node *q = map(h->q, y), *k = map(h->k, y), *v = map(h->v, y);  /* W_q x_t + b_q, … [N,D] */
    hd_node *a = attend(c, q, k, v, spans, spans, NULL, false, drop); /* Σ_j α_tj v_j     [N,D] */
    *attended_by = a;
    x = leave(c, h->norm, x, map(h->o, a), drop->state); /* W_o … + b_o      [N,D] */
    return feed_forward(c, &b->ffn, x, drop);
}

/* Keys and values of the source for each decoder layer: made once per sentence, attended to in every step. */
struct source_keys {
    hd_node *k, *v; /* [Σ S, D] */
};

static const struct source_keys *make_source_keys(const struct hd_net *net, hd_tape *tape,
                                                  hd_node *h)
{
    const int n = transformer_of(net)->n_decoder;
    struct source_keys *keys = hd_tape_take(tape, "hd_encode", (size_t)n, sizeof *keys);
    for (int l = 0; keys && l < n; l++) {
        const struct heads *cross = &transformer_of(net)->decoder[l].cross;
        keys[l].k = map(cross->k, h); /* W_k h_j + b_k     [Σ S,D] */
        keys[l].v = map(cross->v, h); /* W_v h_j + b_v     [Σ S,D] */
    }
    return keys;
}

/* Where the weights of the encoder's rows will be: position, sentence and keys of every row. */
static bool note_rows(const struct hd_config *c, hd_tape *tape, const hd_spans *spans,
                      hd_node *const *nodes, struct hd_weights *self)
{
    const size_t n = (size_t)spans->total;
    int *position = hd_tape_take(tape, "hd_encode", 3 * n, sizeof *position);
    if (hd_has_failed(tape))
        return false;
    int *sentence = position + n, *n_keys = position + 2 * n;
    for (int i = 0; i < spans->n; i++)
        for (int t = 0; t < spans->length[i]; t++) {
            const int r = spans->start[i] + t;
            position[r] = t;
            sentence[r] = i;
            n_keys[r] = spans->length[i];
        }
    *self = weights_by_layer(c, HD_ATTENTION_ENCODER, nodes, sentence, position, n_keys);
    return true;
}

static bool encode_transformer(const struct hd_net *net, hd_tape *tape, hd_node *E,
                               const struct hd_dropouts *dropouts, struct hd_memory *memory)
{
    if (!E)
        return !hd_has_failed(tape);
    const struct hd_config *c = &net->config;
    const struct transformer_parts *p = net->parts;
    const hd_spans *spans = memory->spans;
    hd_node **nodes = hd_tape_take(tape, "hd_encode", (size_t)c->encoder_layers, sizeof *nodes);
    if (!note_rows(c, tape, spans, nodes, &memory->self))
        return false;
    hd_node *x = c->source == HD_SOURCE_VECTORS
                     ? place_vectors(net, E, memory, dropouts)
                     : add_positions(net, E, p->source_positions, memory->self.query, spans->total,
                                     dropouts);
    for (int l = 0; l < c->encoder_layers; l++)
        x = encoder_block(c, &p->encoder[l], x, spans, dropouts, &nodes[l]);
    memory->h = c->final_norm ? norm(c, p->encoder_norm, x) : x;
    memory->of_arch = (void *)make_source_keys(net, tape, memory->h);
    return !hd_has_failed(tape);
}

/* ---- decoder: the same for whole targets and for one step ------------------------------------ */

/* Some new words of every sentence (teacher forcing: all of them; search: one for each hypothesis), and what they see. */
struct decoding {
    const struct hd_net *net;
    hd_tape *tape;
    const struct hd_dropouts *drop;
    const hd_spans *rows;   /* the new words */
    const hd_spans *words;  /* all words up to them, in the rows of self-attention's keys */
    const hd_spans *source; /* what each looks at, in the rows of source_keys */
    const struct source_keys *source_keys;
    struct hd_decoder *decoder; /* search: keeps keys and values of all words, by slot */
    const int *slot,
        *key_rows; /* of the new words; of all words up to them, in the order of `words` */
    hd_node **self, **cross;   /* [layers]: the nodes that attended */
    const float *const *looks; /* what the new words are to look at; NULL: they are free */
};

/* The keys or values that self-attention reads: teacher forcing has them all in x; search puts its new rows beside those of the words
 * before. */
static hd_node *with_past(const struct decoding *d, int part, hd_node *x)
{
    if (!d->decoder || hd_has_failed(d->tape))
        return x;
    struct hd_cache *cache = &d->decoder->words[part];
    hd_cache_put(cache, x, d->slot);
    return hd_has_failed(d->tape) ? x : hd_cache_node(d->tape, cache);
}

/* Section 3.1: a word attends to itself and the words before it. */
static hd_node *attend_to_target(const struct decoding *d, int l, hd_node *x)
{
    const struct hd_config *c = &d->net->config;
    const struct heads *h = &transformer_of(d->net)->decoder[l].self;
    hd_node *y = enter(c, h->norm, x);
    hd_node *q = map(h->q, y); /* W_q x_t + b_q   [N,D] */
    hd_node *k = map(h->k, y); /* W_k x_i + b_k, i ≤ t  */
    hd_node *v = map(h->v, y); /* W_v x_i + b_v, i ≤ t  */
    k = with_past(d, 2 * l, k);
    v = with_past(d, 2 * l + 1, v);
    hd_node *a = attend(c, q, k, v, d->rows, d->words, d->key_rows, true,
                        d->drop); /* Σ_i α_ti v_i    [N,D] */
    d->self[l] = a;
    return leave(c, h->norm, x, map(h->o, a), d->drop->state); /* W_o … + b_o     [N,D] */
}

/* The units of the words before: teacher forcing begins with zeros; search with those that it kept of each hypothesis' last word. */
static hd_node *last_units(const struct decoding *d, int l)
{
    const int D = d->net->config.dim;
    hd_node *c = d->decoder ? hd_input(d->tape, NULL, d->rows->n, D) : NULL;
    if (!c || hd_has_failed(d->tape))
        return c;
    const struct hd_cache *cache = &d->decoder->words[l];
    const int *rows = d->key_rows;
    for (int b = 0; b < d->rows->n; rows += d->words->length[b++])
        if (d->words->length[b] > 1) /* the last but one: the last is this word's */
            memcpy(c->x + (size_t)b * (size_t)D,
                   cache->x + (size_t)rows[d->words->length[b] - 2] * (size_t)D,
                   (size_t)D * sizeof *c->x);
    return c;
}

/* Kim et al. (2019), section 3.2: relu(c_t), c_t = f∘c_{t-1} + (1-f)∘W x_t */
static hd_node *run_unit(const struct decoding *d, int l, hd_node *x)
{
    const struct hd_config *config = &d->net->config;
    const struct ssru *u = &transformer_of(d->net)->decoder[l].ssru;
    hd_node *y = enter(config, u->norm, x);
    hd_node *z = map(u->f, y);     /* f = σ(z), z = W_f x_t + b_f          [N,D] */
    hd_node *Wx = hd_lin(u->W, y); /* W x_t                                [N,D] */
    hd_node *before = last_units(d, l);
    hd_node *c = hd_gated_scan(z, Wx, before, d->rows); /* f∘c_{t-1} + (1-f)∘W x_t  [N,D] */
    if (d->decoder && !hd_has_failed(d->tape))
        hd_cache_put(&d->decoder->words[l], c, d->slot);
    return leave(config, u->norm, x, hd_relu(c), d->drop->state);
}

/* The heads of the alignment look where they are told to. */
static void look_as_told(const struct decoding *d, hd_node *attended)
{
    const struct hd_config *c = &d->net->config;
    const int n = c->n_alignment_heads > 0 ? c->n_alignment_heads : c->heads;
    for (int b = 0; b < d->rows->n; b++)
        for (int i = 0; d->looks[b] && i < n; i++)
            hd_attention_look(attended, b, 0, c->n_alignment_heads > 0 ? c->alignment_heads[i] : i,
                              d->looks[b]);
}

/* Section 3.1: a word attends to the source. */
static hd_node *attend_to_source(const struct decoding *d, int l, hd_node *x)
{
    const struct hd_config *c = &d->net->config;
    const struct heads *h = &transformer_of(d->net)->decoder[l].cross;
    assert(d->source_keys); /* a tape without memory for them has failed before */
    hd_node *q = map(h->q, enter(c, h->norm, x));     /* W_q x_t + b_q [N,D] */
    hd_node *k = hd_on(d->tape, d->source_keys[l].k); /* W_k h_j + b_k       */
    hd_node *v = hd_on(d->tape, d->source_keys[l].v); /* W_v h_j + b_v       */
    hd_node *a =
        attend(c, q, k, v, d->rows, d->source, NULL, false, d->drop); /* Σ_j α_tj v_j  [N,D] */
    d->cross[l] = a;
    if (d->looks && l + 1 == c->alignment_layer && !hd_has_failed(d->tape))
        look_as_told(d, a);
    return leave(c, h->norm, x, map(h->o, a), d->drop->state); /* W_o … + b_o   [N,D] */
}

static bool has_source(const struct hd_net *net)
{
    return transformer_of(net)->n_encoder > 0;
}

static hd_node *decoder_block(const struct decoding *d, int l, hd_node *x)
{
    x = d->net->config.decoder == HD_DECODER_SSRU ? run_unit(d, l, x) : attend_to_target(d, l, x);
    if (has_source(d->net))
        x = attend_to_source(d, l, x);
    return feed_forward(&d->net->config, &transformer_of(d->net)->decoder[l].ffn, x, d->drop);
}

/* From the words before, -1 for a row of zeros, to what enters the output layer: [n,D] */
static hd_node *decode(struct decoding *d, const int *previous, const int *position, int n)
{
    const struct hd_config *c = &d->net->config;
    const struct transformer_parts *p = d->net->parts;
    const size_t layers = (size_t)c->decoder_layers;
    d->self = hd_tape_take(d->tape, "hd_decode", 2 * layers, sizeof(hd_node *));
    if (!d->self)
        return &d->tape->nil;
    d->cross = d->self + layers;
    hd_node *E = hd_rows(hd_on(d->tape, d->net->target_table), previous, n);
    hd_node *x = add_positions(d->net, E, p->target_positions, position, n, d->drop);
    for (int l = 0; l < c->decoder_layers; l++)
        x = decoder_block(d, l, x);
    x = c->final_norm ? norm(c, p->decoder_norm, x) : x;
    return hd_dropout(x, d->drop->output);
}

/* ---- teacher forcing -------------------------------------------------------------------------------- */

static bool force_transformer(const struct hd_net *net, hd_tape *tape,
                              const struct hd_memory *memory, const struct hd_batch *batch,
                              const struct hd_dropouts *dropouts, struct hd_forced *forced)
{
    const hd_spans *rows = hd_spans_of(tape, batch->target_length, batch->n),
                   *source = memory->spans;
    const size_t n = (size_t)rows->total;
    int *numbers = hd_tape_take(tape, "hd_teacher_force", 6 * n, sizeof *numbers);
    if (hd_has_failed(tape))
        return false;
    const int *shown = batch->target_seen ? batch->target_seen : batch->target;
    int *target = numbers, *previous = numbers + n, *sentence = numbers + 2 * n,
        *position = numbers + 3 * n, *n_source = numbers + 4 * n, *n_target = numbers + 5 * n;
    for (int i = 0, r = 0; i < rows->n; i++)
        for (int t = 0; t < rows->length[i]; t++, r++) {
            target[r] = batch->target[r];
            previous[r] = t > 0 ? shown[r - 1] : net->config.target_start;
            sentence[r] = i;
            position[r] = t;
            n_source[r] = source->length[i];
            n_target[r] = rows->length[i];
        }
    struct decoding d = {.net = net,
                         .tape = tape,
                         .drop = dropouts,
                         .rows = rows,
                         .words = rows,
                         .source = source,
                         .source_keys = memory->of_arch};
    *forced = (struct hd_forced){.n_rows = (int)n,
                                 .out = decode(&d, previous, position, (int)n),
                                 .target = target,
                                 .sentence = sentence,
                                 .position = position};
    if (has_source(net))
        forced->cross = weights_by_layer(&net->config, HD_ATTENTION_CROSS, d.cross, sentence,
                                         position, n_source);
    if (hd_config_has_decoder_attention(&net->config))
        forced->self = weights_by_layer(&net->config, HD_ATTENTION_DECODER, d.self, sentence,
                                        position, n_target);
    return !hd_has_failed(tape);
}

/* ---- search ---------------------------------------------------------------------------------- */

static const struct hd_dropouts nothing_dropped;

static void cache_transformer(const struct hd_net *net, const struct hd_memory *memory,
                              struct hd_to_cache *kept)
{
    const struct source_keys *keys = memory->of_arch;
    for (int l = 0; keys && l < net->config.decoder_layers; l++) {
        kept->positions[kept->n_positions++] = keys[l].k;
        kept->positions[kept->n_positions++] = keys[l].v;
    }
}

/* The source's keys and values of all sentences under way. */
static const struct source_keys *kept_source_keys(const struct hd_decoder *decoder, hd_tape *tape)
{
    const int n = decoder->net->config.decoder_layers;
    struct source_keys *keys = hd_tape_take(tape, "hd_decoder_step", (size_t)n, sizeof *keys);
    for (int l = 0; keys && has_source(decoder->net) && l < n; l++) {
        keys[l].k = hd_cache_node(tape, &decoder->positions[2 * l]);
        keys[l].v = hd_cache_node(tape, &decoder->positions[2 * l + 1]);
    }
    return keys;
}

static struct hd_stepped step_transformer(struct hd_decoder *decoder, hd_tape *tape,
                                          const struct hd_step_rows *rows)
{
    const struct hd_net *net = decoder->net;
    const size_t n = (size_t)rows->n;
    size_t n_words = n;
    for (int b = 0; b < rows->n; b++)
        n_words += (size_t)rows->length[b];
    int *numbers = hd_tape_take(tape, "hd_decoder_step", 7 * n + n_words, sizeof *numbers);
    const struct source_keys *source_keys = kept_source_keys(decoder, tape);
    if (hd_has_failed(tape))
        return (struct hd_stepped){0};
    int *word = numbers, *one = numbers + n, *with_this = numbers + 2 * n, *start = numbers + 3 * n,
        *n_keys = numbers + 4 * n, *sentence = numbers + 5 * n, *query = numbers + 6 * n,
        *key_rows = numbers + 7 * n, *next = key_rows;
    const int *past = rows->past;
    for (int b = 0; b < rows->n; b++) {
        word[b] = rows->previous[b] < 0 ? net->config.target_start : rows->previous[b];
        one[b] = 1;
        with_this[b] = rows->length[b] + 1;
        start[b] = decoder->start[rows->entry[b]];
        n_keys[b] = decoder->length[rows->entry[b]];
        sentence[b] = b;
        query[b] = 0;
        for (int t = 0; t < rows->length[b]; t++)
            *next++ = *past++;
        *next++ = rows->slot[b];
    }
    struct decoding d = {.net = net,
                         .tape = tape,
                         .drop = &nothing_dropped,
                         .rows = hd_spans_of(tape, one, rows->n),
                         .words = hd_spans_of(tape, with_this, rows->n),
                         .source = hd_spans_at(tape, start, n_keys, rows->n),
                         .source_keys = source_keys,
                         .decoder = decoder,
                         .slot = rows->slot,
                         .key_rows = key_rows,
                         .looks = rows->looks};
    struct hd_stepped stepped = {.out = decode(&d, word, rows->length, rows->n)};
    if (has_source(net))
        stepped.cross =
            weights_by_layer(&net->config, HD_ATTENTION_CROSS, d.cross, sentence, query, n_keys);
    return stepped;
}

/* ---- the architecture ------------------------------------------------------------------------ */

static int transformer_width(const struct hd_config *config)
{
    return config->dim;
}

static int max_target_of_transformer(const struct hd_config *config)
{
    return config->positions == HD_POSITIONS_LEARNED ? config->max_positions : INT_MAX;
}

const struct hd_architecture hd_transformer = {.declare = declare_transformer,
                                               .free = free_transformer,
                                               .init = init_transformer,
                                               .output_width = transformer_width,
                                               .max_target = max_target_of_transformer,
                                               .encode = encode_transformer,
                                               .teacher_force = force_transformer,
                                               .cache = cache_transformer,
                                               .step = step_transformer};
