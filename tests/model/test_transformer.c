/* test_transformer.c -- the Transformer: teaching and search give the same bits, sentences do not see their neighbours,
 * positions are the papers', and it learns. */
#include "walk.h"

#include "base/memory.h"
#include "model/model.h"
#include "model/position.h"

#include <math.h>

enum { VOCAB = 11, WORDS = 9 };

/* Sentences of one word and of many, and neighbours of equal length. */
static const int source[] = {3, 1, 4, 1, 5, 9, 2, 6, 7, 8, 10, 3, 5, 8, 9, 7, 2, 3};
static const int source_length[] = {6, 1, 4, 1, 6};
static const int target[] = {5, 2, 9, 2, 8, 1, 8, 2, 2, 2, 4, 5, 9, 0, 4, 5, 2, 3};
static const int target_length[] = {4, 1, 9, 2, 2};
static const struct hd_batch batch = {.n = 5,
                                      .source = source,
                                      .source_length = source_length,
                                      .target = target,
                                      .target_length = target_length};

static struct hd_net *net_of(const char *words, uint64_t seed)
{
    heed_error err = {0};
    struct hd_config c = hd_config_preset(HD_TRANSFORMER, HD_SIZE_TINY);
    c.source_vocab = c.target_vocab = VOCAB;
    char copy[200];
    snprintf(copy, sizeof copy, "dim=20 heads=2 ffn=33 encoder-layers=2 decoder-layers=3 %s",
             words);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        assert_that(hd_config_set(&c, word, value, &err), "%s", err.message);
    }
    assert_that(hd_config_check(&c, &err), "%s", err.message);
    struct hd_net *net = hd_net_new(&c, &err);
    assert_that(net != NULL, "%s", err.message);
    hd_net_init(net, seed);
    for (int i = 0; i < hd_params_number(net->params);
         i++) { /* no zeros and ones: every parameter does something */
        hd_node *p = hd_params_at(net->params, i);
        for (size_t j = 0; j < hd_count(p); j++)
            p->x[j] += 0.03F * (float)((int)((j + (size_t)i * 5) % 7) - 3);
    }
    return net;
}

static hd_tape *tape_new(void)
{
    heed_error err = {0};
    hd_tape *tape = hd_tape_new(&err);
    assert_that(tape != NULL, "%s", err.message);
    return tape;
}

#define assert_fine(tape) \
    assert_that(hd_tape_error(tape)->code == HEED_OK, "%s", hd_tape_error(tape)->message)

static const char *const variants[] = {
    "norm=post positions=sin",
    "norm=pre positions=sin",
    "norm=post positions=learned max-positions=9",
    "norm=pre positions=none",
    "norm=pre position-layout=halves position-shorter=yes position-first=1 activation=gelu",
    "norm=post final-norm=yes positions=learned activation=swish tie=none embed-scale=no",
    "target-start=0 tie=all",
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* ---- teaching and search --------------------------------------------------------------------------------------------- */

/* Every sentence of the batch forced at once and then led along its target, one step at a time, all beside each other. */
static void search_gives_the_bits_of_teaching(void **state)
{
    (void)state;
    for (int v = 0; v < N_VARIANTS; v++) {
        struct hd_net *net = net_of(variants[v], 5);
        const int D = net->config.dim, L = net->config.decoder_layers;
        hd_tape *whole = tape_new(), *old = tape_new(), *now = tape_new();
        const struct hd_memory *memory = hd_encode(net, whole, &batch, NULL);
        const struct hd_forced *forced = hd_teacher_force(net, whole, memory, &batch, NULL);
        assert_fine(whole);
        assert_int_equal(forced->n_rows, 18);

        int sentence[5] = {0, 1, 2, 3, 4}, B = 5;
        struct walk *walk = walk_start(net, old, &batch, sentence, B);
        for (int t = 0; t < WORDS; t++) {
            int previous[5], first[5], keep[5], n = 0;
            for (int i = 0, from = 0; i < 5; from += target_length[i], i++)
                first[i] = from;
            for (int b = 0; b < B; b++) /* the finished ones leave */
                if (target_length[sentence[b]] > t) {
                    keep[n] = b;
                    sentence[n] = sentence[b];
                    previous[n++] = t > 0 ? target[first[sentence[b]] + t - 1] : -1;
                }
            B = n;
            hd_tape_reset(now);
            walk_gather(walk, keep, B);
            const struct hd_stepped stepped = walk_step(walk, now, previous);
            assert_fine(now);
            for (int b = 0; b < B; b++) {
                const int row = first[sentence[b]] + t;
                assert_true(forced->sentence[row] == sentence[b] && forced->position[row] == t &&
                            forced->target[row] == target[row]);
                assert_that(memcmp(stepped.out->x + b * D, forced->out->x + row * D,
                                   (size_t)D * sizeof(float)) == 0,
                            "%s: sentence %d, step %d", variants[v], sentence[b], t);
                for (int l = 0; l <= L; l++)
                    for (int head = -1; head < net->config.heads; head++) {
                        float a[WORDS], alpha[WORDS];
                        const int S = source_length[sentence[b]];
                        assert_true(stepped.cross.n_keys[b] == S && forced->cross.n_keys[row] == S);
                        assert_true(hd_weights_of(net, &stepped.cross, b, l, head, a));
                        assert_true(hd_weights_of(net, &forced->cross, row, l, head, alpha));
                        assert_that(memcmp(a, alpha, (size_t)S * sizeof *a) == 0,
                                    "%s: weights of sentence %d, step %d", variants[v], sentence[b],
                                    t);
                    }
            }
        }
        walk_end(walk);
        hd_tape_free(whole);
        hd_tape_free(old);
        hd_tape_free(now);
        hd_net_free(net);
    }
}

static void weights_add_up_to_one(void **state)
{
    (void)state;
    struct hd_net *net = net_of("", 2);
    hd_tape *tape = tape_new();
    const struct hd_forced *forced =
        hd_teacher_force(net, tape, hd_encode(net, tape, &batch, NULL), &batch, NULL);
    assert_fine(tape);
    assert_int_equal(forced->cross.n_layers, net->config.decoder_layers);
    for (int row = 0; row < forced->n_rows; row++)
        for (int l = 1; l <= net->config.decoder_layers; l++)
            for (int head = -1; head < 2; head++) {
                float alpha[WORDS], sum = 0;
                assert_true(hd_weights_of(net, &forced->cross, row, l, head, alpha));
                for (int j = 0; j < forced->cross.n_keys[row]; j++)
                    sum += alpha[j];
                assert_that(fabsf(sum - 1) < 1e-6F, "row %d, layer %d, head %d: %g", row, l, head,
                            (double)sum);
            }
    hd_tape_free(tape);
    hd_net_free(net);
}

/* Section 3.2.2 by hand for one head of one sentence: softmax(q kᵀ / √d), causal or not, of rows [from, from + n) of x. */
static void weights_by_hand(const struct hd_net *net, hd_node *x, const char *block, int from,
                            int n, int head, bool is_causal, float *alpha)
{
    hd_node *map[2];
    for (int i = 0; i < 2; i++) {
        char W[48], b[48];
        snprintf(W, sizeof W, "%s.%s.W", block, i ? "k" : "q");
        snprintf(b, sizeof b, "%s.%s.b", block, i ? "k" : "q");
        map[i] = hd_affine(hd_params_find(net->params, W), hd_params_find(net->params, b), x);
    }
    const int D = net->config.dim, d = D / net->config.heads;
    for (int t = 0; t < n; t++) {
        double e[WORDS], sum = 0;
        for (int j = 0; j < n; j++) {
            e[j] = 0;
            for (int i = 0; i < d; i++)
                e[j] += (double)map[0]->x[(from + t) * D + head * d + i] *
                        (double)map[1]->x[(from + j) * D + head * d + i];
            e[j] = is_causal && j > t ? 0 : exp(e[j] / sqrt(d));
            sum += e[j];
        }
        for (int j = 0; j < n; j++)
            alpha[t * n + j] = (float)(e[j] / sum);
    }
}

static void assert_weights(const struct hd_net *net, const struct hd_weights *w, hd_node *x,
                           const char *block, const int *length)
{
    for (int s = 0, from = 0; s < batch.n; from += length[s++])
        for (int head = 0; head < net->config.heads; head++) {
            float wanted[WORDS * WORDS], alpha[WORDS];
            const int n = length[s];
            weights_by_hand(net, x, block, from, n, head, w->kind == HD_ATTENTION_DECODER, wanted);
            for (int t = 0; t < n; t++) {
                assert_int_equal(w->n_keys[from + t], n);
                assert_true(hd_weights_of(net, w, from + t, 1, head, alpha));
                for (int j = 0; j < n; j++)
                    assert_that(fabsf(alpha[j] - wanted[t * n + j]) < 1e-5F,
                                "%s, sentence %d, head %d, α_%d,%d: %g, not %g", block, s, head, t,
                                j, (double)alpha[j], (double)wanted[t * n + j]);
            }
        }
}

/* Without positions and with the norm behind, the first block attends with the embeddings themselves. */
static void self_attention_can_be_read(void **state)
{
    (void)state;
    struct hd_net *net = net_of("norm=post positions=none embed-scale=no", 2);
    hd_tape *tape = tape_new();
    const struct hd_memory *memory = hd_encode(net, tape, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, tape, memory, &batch, NULL);
    assert_fine(tape);
    int n_source = 0, previous[64], r = 0;
    for (int i = 0; i < batch.n; i++) {
        n_source += source_length[i];
        for (int t = 0; t < target_length[i]; t++, r++)
            previous[r] = t > 0 ? target[r - 1] : net->config.target_start;
    }
    hd_node *x = hd_rows(hd_on(tape, net->source.table), source, n_source);
    assert_int_equal(memory->self.n_layers, net->config.encoder_layers);
    assert_weights(net, &memory->self, x, "encoder.1.self", source_length);
    hd_node *y = hd_rows(hd_on(tape, net->target_table), previous, forced->n_rows);
    assert_int_equal(forced->self.n_layers, net->config.decoder_layers);
    assert_weights(net, &forced->self, y, "decoder.1.self", target_length);
    float last[WORDS], by_default[WORDS], mean[WORDS], all[WORDS];
    assert_true(hd_weights_of(net, &memory->self, 0, net->config.encoder_layers, 1, last));
    assert_true(hd_weights_of(net, &memory->self, 0, 0, 1, by_default));
    assert_memory_equal(last, by_default, (size_t)source_length[0] * sizeof *last);
    assert_true(hd_weights_of(net, &memory->self, 0, 1, -1, mean));
    memset(all, 0, sizeof all);
    for (int head = 0; head < net->config.heads; head++) {
        assert_true(hd_weights_of(net, &memory->self, 0, 1, head, last));
        for (int j = 0; j < source_length[0]; j++)
            all[j] += last[j] / (float)net->config.heads;
    }
    for (int j = 0; j < source_length[0]; j++)
        assert_true(fabsf(all[j] - mean[j]) < 1e-6F);
    assert_false(hd_weights_of(net, &memory->self, 0, net->config.encoder_layers + 1, 0, last));
    assert_false(hd_weights_of(net, &memory->self, 0, 1, net->config.heads, last));
    hd_tape_free(tape);
    hd_net_free(net);
}

/* ---- neighbours ------------------------------------------------------------------------------------------------------ */

/* Rows of a sentence when it is alone, by what is forced. */
static void a_sentence_does_not_see_its_neighbours(void **state)
{
    (void)state;
    for (int v = 0; v < N_VARIANTS; v++) {
        struct hd_net *net = net_of(variants[v], 3);
        const size_t bytes = (size_t)net->config.dim * sizeof(float);
        hd_tape *all = tape_new(), *one = tape_new();
        const struct hd_memory *memory = hd_encode(net, all, &batch, NULL);
        const struct hd_forced *forced = hd_teacher_force(net, all, memory, &batch, NULL);
        assert_fine(all);
        for (int i = 0, s = 0, t = 0; i < batch.n;
             s += source_length[i], t += target_length[i], i++) {
            const struct hd_batch alone = {.n = 1,
                                           .source = source + s,
                                           .source_length = source_length + i,
                                           .target = target + t,
                                           .target_length = target_length + i};
            hd_tape_reset(one);
            const struct hd_memory *m = hd_encode(net, one, &alone, NULL);
            const struct hd_forced *o = hd_teacher_force(net, one, m, &alone, NULL);
            assert_fine(one);
            assert_that(memcmp(m->h->x, memory->h->x + s * net->config.dim,
                               bytes * (size_t)source_length[i]) == 0,
                        "%s: source of sentence %d", variants[v], i);
            assert_that(memcmp(o->out->x, forced->out->x + t * net->config.dim,
                               bytes * (size_t)target_length[i]) == 0,
                        "%s: target of sentence %d", variants[v], i);
        }
        hd_tape_free(all);
        hd_tape_free(one);
        hd_net_free(net);
    }
}

static void words_do_not_see_what_comes_after_them(void **state)
{
    (void)state;
    struct hd_net *net = net_of("", 3);
    hd_tape *tape = tape_new();
    const int lengths[] = {5}, D = net->config.dim;
    float before[5 * 20];
    for (int round = 0; round < 2; round++) {
        const int words[] = {1, 2, 3, round ? 9 : 4, round ? 9 : 5};
        const struct hd_batch b = {.n = 1,
                                   .source = source,
                                   .source_length = source_length,
                                   .target = words,
                                   .target_length = lengths};
        hd_tape_reset(tape);
        const struct hd_forced *forced =
            hd_teacher_force(net, tape, hd_encode(net, tape, &b, NULL), &b, NULL);
        assert_fine(tape);
        for (int t = 0; t < 5; t++) /* word 3 enters at row 4 */
            assert_that(round == 0 || (memcmp(before + t * D, forced->out->x + t * D,
                                              (size_t)D * sizeof(float)) == 0) == (t < 4),
                        "row %d", t);
        memcpy(before, forced->out->x, sizeof before);
    }
    hd_tape_free(tape);
    hd_net_free(net);
}

/* Hypotheses of one sentence share its keys, in any order and number. */
static void beams_share_a_source(void **state)
{
    (void)state;
    struct hd_net *net = net_of("norm=pre", 8);
    const int D = net->config.dim;
    hd_tape *whole = tape_new(), *first = tape_new(), *second = tape_new(), *one = tape_new();
    const int sentence[] = {2, 0, 2, 2, 1}, none[] = {-1, -1, -1, -1, -1},
              words[] = {4, 4, 7, 4, 10};
    struct walk *walk = walk_start(net, whole, &batch, sentence, 5);
    const struct hd_stepped s1 = walk_step(walk, first, none);
    const int order[] = {3, 1, 0, 2, 4}; /* all of sentence 2 are alike so far */
    walk_gather(walk, order, 5);
    const struct hd_stepped s2 = walk_step(walk, second, words);
    walk_end(walk);
    assert_fine(second);
    const size_t bytes = (size_t)D * sizeof(float);
    assert_memory_equal(s1.out->x, s1.out->x + 2 * D, bytes);
    assert_memory_equal(s2.out->x, s2.out->x + 3 * D, bytes);
    assert_memory_not_equal(s2.out->x, s2.out->x + 2 * D, bytes);
    for (int b = 0; b < 5; b++) { /* and each is what it would be alone */
        hd_tape_reset(one);
        struct walk *alone = walk_start(net, one, &batch, sentence + b, 1);
        walk_step(alone, one, none);
        const struct hd_stepped a2 = walk_step(alone, one, words + b);
        walk_end(alone);
        assert_fine(one);
        assert_memory_equal(a2.out->x, s2.out->x + b * D, bytes);
    }
    hd_tape *const tapes[] = {whole, first, second, one};
    for (int i = 0; i < 4; i++)
        hd_tape_free(tapes[i]);
    hd_net_free(net);
}

/* ---- positions --------------------------------------------------------------------------------------------------------- */

static void positions_are_the_papers(void **state)
{
    (void)state;
    enum { D = 10, N = 60 };
    hd_tape *tape = tape_new();
    int index[N];
    for (int t = 0; t < N; t++)
        index[t] = t * 7 % N;
    for (int variant = 0; variant < 8; variant++) {
        struct hd_config c = hd_config_preset(HD_TRANSFORMER, HD_SIZE_TINY);
        c.dim = D;
        c.position_layout = variant & 1 ? HD_LAYOUT_HALVES : HD_LAYOUT_INTERLEAVED;
        c.position_shorter = variant & 2;
        c.position_first = variant & 4 ? 1 : 0;
        float *w = hd_position_frequencies(&c, NULL);
        hd_node *P = hd_positions_sin(&c, w, tape, index, N);
        assert_fine(tape);
        for (int r = 0; r < N; r++)
            for (int i = 0; i < D / 2; i++) {
                const double angle =
                    (index[r] + c.position_first) *
                    pow(10000, -(double)i / (D / 2 - (c.position_shorter ? 1 : 0)));
                const int at = variant & 1 ? i : 2 * i, step = variant & 1 ? D / 2 : 1;
                assert_that(fabs((double)P->x[r * D + at] - sin(angle)) < 2e-5,
                            "variant %d, position %d, pair %d", variant, index[r], i);
                assert_that(fabs((double)P->x[r * D + at + step] - cos(angle)) < 2e-5,
                            "variant %d, position %d, pair %d", variant, index[r], i);
            }
        for (int t = 0; t < N; t++) { /* one alone has the same bits */
            hd_node *one = hd_positions_sin(&c, w, tape, index + t, 1);
            assert_memory_equal(one->x, P->x + t * D, D * sizeof(float));
        }
        assert_int_equal(hd_count(hd_positions_sin(&c, w, tape, index, 0)), 0);
        hd_free(w);
    }
    hd_tape_free(tape);
}

static void learned_positions_end_with_a_sentence(void **state)
{
    (void)state;
    struct hd_net *net = net_of("positions=learned max-positions=5", 1);
    hd_tape *tape = tape_new();
    assert_null(hd_encode(net, tape, &batch, NULL));
    assert_error(*hd_tape_error(tape), HEED_BAD_TEXT,
                 "more than 5 words, the max-positions of this model");
    hd_tape_reset(tape);
    const int length = 5, one = -1, zero = 0;
    const struct hd_batch b = {.n = 1, .source = source, .source_length = &length};
    struct walk *walk = walk_start(net, tape, &b, &zero, 1);
    for (int t = 0; t < 5; t++)
        walk_step(walk, tape, t ? &zero : &one);
    assert_fine(tape);
    const struct hd_stepped beyond = walk_step(walk, tape, &zero);
    walk_end(walk);
    assert_null(beyond.out);
    assert_error(*hd_tape_error(tape), HEED_BAD_TEXT, "more than 5 words");
    hd_tape_free(tape);
    hd_net_free(net);
}

/* Without positions a Transformer cannot tell "A more than B" from "B more than A". */
static void without_positions_the_order_is_not_seen(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        bool is_seen;
    } kinds[] = {{"positions=none", false}, {"positions=sin", true}, {"positions=learned", true}};
    for (int k = 0; k < 3; k++) {
        struct hd_net *net = net_of(kinds[k].words, 4);
        hd_tape *tape = tape_new();
        const int words[] = {1, 2, 3, 3, 2, 1}, lengths[] = {3, 3}, D = net->config.dim;
        const struct hd_batch b = {.n = 2, .source = words, .source_length = lengths};
        const struct hd_memory *m = hd_encode(net, tape, &b, NULL);
        assert_fine(tape);
        float distance = 0;
        for (int i = 0; i < D; i++) /* word 1, first or last */
            distance = fmaxf(distance, fabsf(m->h->x[i] - m->h->x[5 * D + i]));
        assert_that((distance > 1e-3F) == kinds[k].is_seen, "%s: %g", kinds[k].words,
                    (double)distance);
        hd_tape_free(tape);
        hd_net_free(net);
    }
}

/* ---- parameters -------------------------------------------------------------------------------------------------------- */

static void parameters_have_their_names(void **state)
{
    (void)state;
    struct hd_net *net = net_of("norm=pre positions=learned max-positions=16", 1);
    static const struct {
        const char *name;
        int rows, columns;
    } named[] = {
        {"source.embed", 11, 20},
        {"target.embed", 11, 20},
        {"encoder.1.self.q.W", 20, 20},
        {"encoder.2.self.o.b", 0, 20},
        {"encoder.2.self.norm.gain", 0, 20},
        {"encoder.1.ffn.1.W", 20, 33},
        {"encoder.1.ffn.2.W", 33, 20},
        {"encoder.1.ffn.1.b", 0, 33},
        {"encoder.2.ffn.norm.bias", 0, 20},
        {"decoder.3.self.k.W", 20, 20},
        {"decoder.3.cross.v.b", 0, 20},
        {"decoder.1.cross.norm.gain", 0, 20},
        {"decoder.3.ffn.norm.bias", 0, 20},
        {"encoder.norm.gain", 0, 20},
        {"decoder.norm.bias", 0, 20},
        {"source.positions", 16, 20},
        {"target.positions", 16, 20},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const hd_node *p = hd_params_find(net->params, named[i].name);
        assert_that(p != NULL, "%s", named[i].name);
        assert_true(hd_width(p) == named[i].columns &&
                    (named[i].rows == 0 ? p->n_dims == 1 : p->dim[0] == named[i].rows));
    }
    assert_null(hd_params_find(net->params, "encoder.1.cross.q.W"));
    assert_null(hd_params_find(net->params, "encoder.3.self.q.W"));
    hd_net_free(net);
    net = net_of("norm=post", 1);
    assert_null(hd_params_find(net->params, "encoder.norm.gain"));
    assert_null(hd_params_find(net->params, "source.positions"));
    hd_net_free(net);
}

static void start_values_are_the_same_for_a_seed(void **state)
{
    (void)state;
    struct hd_net *a = net_of("", 7), *b = net_of("", 7), *c = net_of("", 8);
    const size_t bytes = hd_params_size(a->params) * sizeof(float);
    assert_memory_equal(hd_params_values(a->params), hd_params_values(b->params), bytes);
    assert_memory_not_equal(hd_params_values(a->params), hd_params_values(c->params), bytes);
    hd_net_free(a);
    hd_net_free(b);
    hd_net_free(c);
}

/* ---- learning ------------------------------------------------------------------------------------------------------------ */

static float loss_of(const struct hd_net *net, hd_tape *tape, float *gradients)
{
    const struct hd_dropouts drop = {
        .embed = 0.1F, .state = 0.1F, .attention = 0.2F, .ffn = 0.1F, .output = 0.1F};
    const struct hd_forced *forced =
        hd_teacher_force(net, tape, hd_encode(net, tape, &batch, &drop), &batch, &drop);
    assert_fine(tape);
    hd_node *loss = hd_forced_loss(net, forced, 0.1F);
    const float value = loss->x[0];
    if (gradients)
        assert_that(hd_backward(loss, gradients), "%s", hd_tape_error(tape)->message);
    return value;
}

/* The gradient of every parameter, dropout included, against a difference along the gradient itself: Δ ≈ ε |g|². Without the
 * kinks of relu, which a difference steps over. */
static void gradients_point_uphill(void **state)
{
    (void)state;
    for (int v = 0; v < N_VARIANTS; v++) {
        char words[160];
        snprintf(words, sizeof words, "activation=gelu %s", variants[v]);
        struct hd_net *net = net_of(words, 6);
        const size_t n = hd_params_size(net->params);
        float *g = calloc(n, sizeof *g), *x = hd_params_values(net->params),
              *kept = malloc(n * sizeof *kept);
        hd_tape *tape = tape_new();
        hd_tape_train(tape, 99);
        hd_tape_record(tape, true);
        loss_of(net, tape, g);
        memcpy(kept, x, n * sizeof *kept);
        for (int i = 0; i < hd_params_number(net->params); i++) {
            const hd_node *p = hd_params_at(net->params, i);
            const float *dp = g + hd_param_offset(p);
            double squares = 0, values[2];
            for (size_t j = 0; j < hd_count(p); j++)
                squares += (double)dp[j] * dp[j];
            const char *name = hd_param_name(p);
            if (strstr(name, ".k.b") !=
                NULL) { /* softmax does not see what all keys have in common */
                assert_that(squares < 1e-8, "%s: %s has |g|² = %g", variants[v], name, squares);
                continue;
            }
            const double step = 5e-3 / sqrt(squares);
            for (int side = 0; side < 2; side++) {
                for (size_t j = 0; j < hd_count(p); j++)
                    p->x[j] += (float)((side ? 1 : -1) * step * dp[j]);
                hd_tape_reset(tape);
                values[side] = (double)loss_of(net, tape, NULL);
                memcpy(x, kept, n * sizeof *kept);
            }
            const double rise = (values[1] - values[0]) / (2 * step);
            assert_that(fabs(rise - squares) < 0.002 * squares + 0.002 * sqrt(squares),
                        "%s: %s rises %g, not %g", variants[v], name, rise, squares);
        }
        hd_tape_free(tape);
        hd_net_free(net);
        free(kept);
        free(g);
    }
}

/* Copying three words: the loss falls to a tenth in 50 updates. */
static void it_learns_to_copy_three_words(void **state)
{
    (void)state;
    static const char *const kinds[] = {"norm=post dim=32", "norm=pre dim=32 positions=learned"};
    enum { N = 24 };
    for (int k = 0; k < 2; k++) {
        struct hd_net *net = net_of(kinds[k], 1);
        hd_net_init(net, 1);
        const size_t n = hd_params_size(net->params);
        float *x = hd_params_values(net->params), *m = calloc(3 * n, sizeof *m), *v = m + n,
              *g = v + n;
        int words[3 * N], lengths[N];
        for (int i = 0; i < 3 * N; i++)
            words[i] = i * i * 5 % 7 + i % 4;
        for (int i = 0; i < N; i++)
            lengths[i] = 3;
        const struct hd_batch copies = {.n = N,
                                        .source = words,
                                        .source_length = lengths,
                                        .target = words,
                                        .target_length = lengths};
        hd_tape *tape = tape_new();
        hd_tape_record(tape, true);
        float first = 0, last = 0;
        for (int update = 0; update < 50; update++) {
            hd_tape_reset(tape);
            memset(g, 0, n * sizeof *g);
            const struct hd_forced *forced =
                hd_teacher_force(net, tape, hd_encode(net, tape, &copies, NULL), &copies, NULL);
            hd_node *loss = hd_scale(hd_forced_loss(net, forced, 0), 1 / (float)forced->n_rows);
            assert_true(hd_backward(loss, g));
            last = loss->x[0];
            first = update == 0 ? last : first;
            for (size_t i = 0; i < n; i++) { /* Adam */
                m[i] += 0.1F * (g[i] - m[i]);
                v[i] += 0.02F * (g[i] * g[i] - v[i]);
                x[i] -= 0.003F * m[i] / (sqrtf(v[i]) + 1e-8F);
            }
            hd_params_changed(net->params);
        }
        assert_that(last < first / 10, "%s: %g, at first %g", kinds[k], (double)last,
                    (double)first);
        hd_tape_free(tape);
        hd_net_free(net);
        free(m);
    }
}

/* ---- what can go wrong ----------------------------------------------------------------------------------------------------- */

static void empty_batches_and_empty_sentences_are_fine(void **state)
{
    (void)state;
    struct hd_net *net = net_of("", 1);
    hd_tape *tape = tape_new();
    hd_tape_record(tape, true);
    const struct hd_batch nothing = {.n = 0,
                                     .source = source,
                                     .source_length = source_length,
                                     .target = target,
                                     .target_length = target_length};
    const struct hd_forced *forced =
        hd_teacher_force(net, tape, hd_encode(net, tape, &nothing, NULL), &nothing, NULL);
    assert_fine(tape);
    assert_int_equal(forced->n_rows, 0);
    hd_tape_reset(tape);
    const int source_lengths[] = {0, 2, 3}, target_lengths[] = {2, 0, 1};
    const struct hd_batch b = {.n = 3,
                               .source = source,
                               .source_length = source_lengths,
                               .target = target,
                               .target_length = target_lengths};
    forced = hd_teacher_force(net, tape, hd_encode(net, tape, &b, NULL), &b, NULL);
    assert_fine(tape);
    assert_int_equal(forced->n_rows, 3);
    float *g = calloc(hd_params_size(net->params), sizeof *g);
    assert_true(hd_backward(hd_forced_loss(net, forced, 0), g));
    for (int i = 0; i < 3 * net->config.dim; i++)
        assert_true(isfinite(forced->out->x[i]));
    for (size_t i = 0; i < hd_params_size(net->params); i++)
        assert_true(isfinite(g[i]));
    free(g);
    hd_tape_free(tape);
    hd_net_free(net);
}

static void words_outside_the_vocabulary_are_an_error(void **state)
{
    (void)state;
    struct hd_net *net = net_of("", 1);
    hd_tape *tape = tape_new();
    const int bad[] = {1, VOCAB}, negative[] = {1, -2}, fine[] = {1, 2, 3}, two = 2, three = 3;
    assert_null(hd_encode(net, tape,
                          &(struct hd_batch){.n = 1, .source = bad, .source_length = &two}, NULL));
    assert_error(*hd_tape_error(tape), HEED_BAD_SHAPE, "11");
    hd_tape_reset(tape);
    assert_null(hd_encode(
        net, tape, &(struct hd_batch){.n = 1, .source = negative, .source_length = &two}, NULL));
    hd_tape_reset(tape);
    const int targets[] = {1, VOCAB, 2};
    const struct hd_batch b = {.n = 1,
                               .source = fine,
                               .source_length = &three,
                               .target = targets,
                               .target_length = &three};
    assert_null(hd_teacher_force(net, tape, hd_encode(net, tape, &b, NULL), &b, NULL));
    hd_tape_reset(tape);
    const int zero = 0;
    struct hd_decoder *decoder = hd_decoder_new(net, NULL);
    const struct hd_step_rows rows = {
        .n = 1, .entry = &zero, .previous = &zero, .length = &zero, .past = &zero, .slot = &zero};
    assert_null(hd_decoder_step(decoder, tape, &rows).out);
    assert_error(*hd_tape_error(tape), HEED_BAD_SHAPE, "no sentence with entry 0");
    hd_decoder_free(decoder);
    hd_tape_free(tape);
    hd_net_free(net);
}

/* Every allocation of making a net may fail, and leaves nothing behind. */
static void a_net_without_memory_is_no_net(void **state)
{
    (void)state;
    struct hd_config c = hd_config_preset(HD_TRANSFORMER, HD_SIZE_TINY);
    c.source_vocab = c.target_vocab = VOCAB;
    assert_true(hd_config_check(&c, NULL));
    bool was_made = false;
    for (long n = 0; n < 10000 && !was_made; n++) {
        heed_error err = {0};
        hd_alloc_fail_after(n);
        struct hd_net *net = hd_net_new(&c, &err);
        hd_alloc_fail_after(-1);
        was_made = net != NULL;
        assert_true(was_made || err.code == HEED_NO_MEMORY);
        hd_net_free(net);
    }
    assert_true(was_made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_gives_the_bits_of_teaching),
        cmocka_unit_test(weights_add_up_to_one),
        cmocka_unit_test(self_attention_can_be_read),
        cmocka_unit_test(a_sentence_does_not_see_its_neighbours),
        cmocka_unit_test(words_do_not_see_what_comes_after_them),
        cmocka_unit_test(beams_share_a_source),
        cmocka_unit_test(positions_are_the_papers),
        cmocka_unit_test(learned_positions_end_with_a_sentence),
        cmocka_unit_test(without_positions_the_order_is_not_seen),
        cmocka_unit_test(parameters_have_their_names),
        cmocka_unit_test(start_values_are_the_same_for_a_seed),
        cmocka_unit_test(gradients_point_uphill),
        cmocka_unit_test(it_learns_to_copy_three_words),
        cmocka_unit_test(empty_batches_and_empty_sentences_are_fine),
        cmocka_unit_test(words_outside_the_vocabulary_are_an_error),
        cmocka_unit_test(a_net_without_memory_is_no_net),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
