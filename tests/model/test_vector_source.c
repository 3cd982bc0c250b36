/* test_vector_source.c -- models that read vectors: their gradients, and that neither searching, teaching nor neighbours change a bit. */
#include "test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "graph/tape.h"
#include "model/fields.h"
#include "model/model.h"
#include "search/search.h"
#include "vector/vectors.h"

#include <math.h>
#include <string.h>

enum { N = 4, WIDTH = 3, VOCAB = 7, END = 0 };

struct variant {
    const char *name;
    int arch, layers, stack, pyramid;
    bool has_grids;
    int positions;
    bool is_location_aware;
    float ctc;
};

static const struct variant variants[] = {
    {"bahdanau", HD_BAHDANAU, 1, 1, 0, false, 0, false, 0},
    {"bahdanau, stacked", HD_BAHDANAU, 1, 3, 0, false, 0, false, 0},
    {"bahdanau, a pyramid", HD_BAHDANAU, 3, 2, 2, false, 0, false, 0},
    {"luong, a pyramid", HD_LUONG, 2, 1, 1, false, 0, false, 0},
    {"bahdanau, location-aware, ctc", HD_BAHDANAU, 2, 1, 1, false, 0, true, 0.5F},
    {"luong, location-aware", HD_LUONG, 1, 2, 0, false, 0, true, 0},
    {"transformer, ctc", HD_TRANSFORMER, 1, 2, 1, false, HD_POSITIONS_SIN, false, 1},
    {"transformer", HD_TRANSFORMER, 2, 1, 0, false, HD_POSITIONS_SIN, false, 0},
    {"transformer, halved", HD_TRANSFORMER, 1, 2, 2, false, HD_POSITIONS_LEARNED, false, 0},
    {"transformer, a grid", HD_TRANSFORMER, 1, 1, 0, true, HD_POSITIONS_SIN, false, 0},
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* Items of 1, 6, 12 and 15 vectors, in rows of 3 where they are grids. */
static struct hd_vectors toy_vectors(bool has_grids)
{
    static const int lengths[N] = {3, 6, 12, 15};
    struct hd_vectors v = {0};
    struct hd_rng rng = {.key = 5};
    for (int i = 0; i < N; i++) {
        struct hd_featured item = {.n = has_grids || i > 0 ? lengths[i] : 1, .width = WIDTH};
        item.rows = has_grids ? item.n / 3 : 0;
        item.columns = has_grids ? 3 : 0;
        item.x = hd_alloc((size_t)item.n * WIDTH, sizeof *item.x, NULL);
        for (int k = 0; k < item.n * WIDTH; k++)
            item.x[k] = 2 * hd_rng_uniform(&rng) - 0.7F;
        assert_true(hd_vectors_add(&v, "toy", &item, NULL));
    }
    return v;
}

static struct hd_net *toy_net(const struct variant *v)
{
    heed_error err = {0};
    struct hd_config c = hd_config_defaults();
    c.arch = v->arch;
    c.source = HD_SOURCE_VECTORS;
    c.source_width = WIDTH;
    c.has_grids = v->has_grids;
    c.stack = v->stack;
    c.pyramid = v->pyramid;
    c.source_vocab = c.target_vocab = VOCAB;
    c.dim = c.embed = 8;
    c.heads = 2;
    c.ffn = 12;
    c.encoder_layers = v->layers;
    c.decoder_layers = v->arch == HD_BAHDANAU ? 1 : v->layers;
    c.bidirectional = v->arch == HD_BAHDANAU;
    c.cell = v->arch == HD_LUONG ? 2 : 1;
    c.score = v->arch == HD_LUONG ? HD_SCORE_BILINEAR : HD_SCORE_ADDITIVE;
    c.positions = v->positions;
    c.ctc = v->ctc;
    if (v->is_location_aware) {
        c.score = HD_SCORE_LOCATION_AWARE;
        c.location_filters = 2;
        c.location_width = 3;
    }
    if (v->arch == HD_BAHDANAU)
        c.readout = HD_READOUT_TANH; /* maxout has kinks, on which no slope is the right one */
    c.activation = 1;
    assert_that(hd_config_check(&c, &err), "%s: %s", v->name, err.message);
    struct hd_net *net = hd_net_new(&c, &err);
    assert_that(net != NULL, "%s: %s", v->name, err.message);
    hd_net_init(net, 3);
    for (int i = 0; i < hd_params_number(net->params); i++)
        if (hd_params_at(net->params, i)->wants_gradient)
            hd_init_uniform(hd_params_at(net->params, i), 0.5F, 3);
    for (int d = 0; d < WIDTH; d++) {
        net->source.mean->x[d] = 0.1F * (float)d;
        net->source.scale->x[d] = 1 + 0.5F * (float)d;
    }
    return net;
}

static struct hd_sequence item_of(const struct hd_net *net, const struct hd_vectors *v, int i)
{
    const int n = hd_vectors_length(v, i);
    return (struct hd_sequence){
        .n = hd_config_positions(&net->config, n), .vectors = v, .item = i, .n_frames = n};
}

static void build(struct hd_batch_builder *b, const struct hd_net *net, const struct hd_vectors *v)
{
    static const int words[N][3] = {{1, 2, 3}, {4, 5, 1}, {2, 2, 6}, {3, 1, 5}};
    hd_batch_begin(b);
    for (int i = 0; i < N; i++)
        assert_true(hd_batch_add(b, item_of(net, v, i),
                                 (struct hd_sequence){.ids = words[i], .n = 1 + i % 3}, END, NULL));
}

/* The loss, and its gradient in `block` if that is wanted. */
static double loss_of(const struct hd_net *net, const struct hd_batch *batch, float *block)
{
    hd_tape *tape = hd_tape_new(NULL);
    hd_tape_record(tape, block != NULL);
    const struct hd_memory *memory = hd_encode(net, tape, batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, tape, memory, batch, NULL);
    hd_node *loss = forced ? hd_forced_loss(net, forced, 0.1F) : NULL;
    loss = loss ? hd_with_ctc(net, memory, batch, NULL, loss, NULL) : NULL;
    assert_that(hd_tape_error(tape)->code == HEED_OK, "%s", hd_tape_error(tape)->message);
    const double x = (double)loss->x[0];
    if (block)
        assert_true(hd_backward(loss, block));
    hd_tape_free(tape);
    return x;
}

/* Along a direction the loss rises as the gradient says: for every parameter on its own. */
static void check_gradients(const struct variant *variant)
{
    struct hd_vectors v = toy_vectors(variant->has_grids);
    struct hd_net *net = toy_net(variant);
    struct hd_batch_builder b = {0};
    build(&b, net, &v);
    const struct hd_batch batch = hd_batch_of(&b);
    size_t size = 0;
    for (int i = 0; i < hd_params_number(net->params); i++) {
        const hd_node *p = hd_params_at(net->params, i);
        const size_t end = hd_param_offset(p) + hd_count(p);
        size = end > size ? end : size;
    }
    float *block = hd_alloc(size, sizeof *block, NULL);
    loss_of(net, &batch, block);
    for (int i = 0; i < hd_params_number(net->params); i++) {
        hd_node *p = hd_params_at(net->params, i);
        struct hd_rng rng = {.key = 11, .stream = (uint64_t)i};
        double slope = 0;
        const float step = 4e-3F;
        float *d = hd_alloc(hd_count(p), sizeof *d, NULL);
        for (size_t k = 0; k < hd_count(p); k++) {
            d[k] = (2 * hd_rng_uniform(&rng) - 1) * step;
            slope += (double)block[hd_param_offset(p) + k] * (double)d[k];
            p->x[k] += d[k];
        }
        if (p->wants_gradient) {
            const double above = loss_of(net, &batch, NULL);
            for (size_t k = 0; k < hd_count(p); k++)
                p->x[k] -= 2 * d[k];
            const double below = loss_of(net, &batch, NULL), wanted = (above - below) / 2;
            assert_that(fabs(slope - wanted) <= 2e-5 + 0.02 * fabs(wanted),
                        "%s: along a direction of %s the loss rises by %g, not %g", variant->name,
                        hd_param_name(p), wanted, slope);
        } else {
            assert_true(hd_source_is_fixed(hd_param_name(p)) && slope == 0);
        }
        for (size_t k = 0; k < hd_count(p); k++)
            p->x[k] += p->wants_gradient ? d[k] : -d[k];
        hd_free(d);
    }
    hd_free(block);
    hd_batch_builder_release(&b);
    hd_net_free(net);
    hd_vectors_close(&v);
}

static void gradients_are_those_of_the_formulas(void **state)
{
    (void)state;
    for (int i = 0; i < N_VARIANTS; i++)
        check_gradients(&variants[i]);
}

static void same_bits(const struct hd_nbest *a, const struct hd_nbest *b, int n_source,
                      const char *name, const char *what)
{
    const struct hd_hypothesis *p = &a->best[0], *q = &b->best[0];
    const size_t rows = (size_t)p->n + !p->is_cut;
    assert_that(p->n == q->n && memcmp(p->ids, q->ids, (size_t)p->n * sizeof *p->ids) == 0,
                "%s: %s: other words", name, what);
    assert_that(memcmp(p->logprob, q->logprob, rows * sizeof *p->logprob) == 0,
                "%s: %s: other probabilities", name, what);
    assert_that(
        memcmp(p->attention, q->attention, rows * (size_t)n_source * sizeof *p->attention) == 0,
        "%s: %s: other attention", name, what);
}

/* Together, alone, and forced. */
static void check_search(const struct variant *variant)
{
    struct hd_vectors v = toy_vectors(variant->has_grids);
    struct hd_net *net = toy_net(variant);
    const struct hd_net *nets[] = {net};
    struct hd_search_options o = hd_search_options_default();
    struct hd_search_input input[N] = {0};
    struct hd_nbest found[N], one;
    heed_error err = {0};
    assert_true(hd_net_pack(net, &err));
    o.beam = 3;
    o.n_best = 1;
    o.wants_attention = true;
    for (int i = 0; i < N; i++)
        input[i] = (struct hd_search_input){.source = item_of(net, &v, i), .max_length = 6};
    assert_that(hd_search(nets, 1, END, input, N, &o, found, &err), "%s", err.message);
    for (int i = 0; i < N; i++) {
        const int n = input[i].source.n;
        double sum = 0;
        assert_true(hd_search(nets, 1, END, &input[i], 1, &o, &one, &err));
        same_bits(&found[i], &one, n, variant->name, "alone");
        for (int j = 0; j < n; j++)
            sum += (double)found[i].best[0].attention[j];
        assert_that(fabs(sum - 1) < 1e-5, "%s: weights add up to %g", variant->name, sum);
        hd_nbest_release(&one);
        if (found[i].best[0].is_cut)
            continue;
        struct hd_search_input forced = input[i];
        forced.prefix = (struct hd_sequence){.ids = found[i].best[0].ids, .n = found[i].best[0].n};
        assert_true(hd_force_decode(nets, 1, END, &forced, 1, &o, &one, &err));
        same_bits(&found[i], &one, n, variant->name, "forced");
        hd_nbest_release(&one);
    }
    input[0].source.vectors = NULL;
    assert_false(hd_search(nets, 1, END, input, 1, &o, &one, &err));
    assert_non_null(strstr(err.message, "the model reads vectors"));
    for (int i = 0; i < N; i++)
        hd_nbest_release(&found[i]);
    hd_net_free(net);
    hd_vectors_close(&v);
}

static void neighbours_and_forcing_change_no_bit(void **state)
{
    (void)state;
    for (int i = 0; i < N_VARIANTS; i++)
        check_search(&variants[i]);
}

/* log p of these words by CTC alone. */
static double log_p_of_ctc(const struct hd_net *net, struct hd_sequence source, const int *ids,
                           int n)
{
    struct hd_batch_builder b = {0};
    hd_tape *tape = hd_tape_new(NULL);
    hd_batch_begin(&b);
    assert_true(hd_batch_add(&b, source, (struct hd_sequence){.ids = ids, .n = n}, END, NULL));
    const struct hd_batch batch = hd_batch_of(&b);
    const struct hd_memory *memory = hd_encode(net, tape, &batch, NULL);
    const hd_node *loss = hd_ctc(hd_ctc_logits(&net->ctc, memory->h), memory->spans, ids, &n, NULL);
    const double p = -(double)loss->x[0];
    hd_tape_free(tape);
    hd_batch_builder_release(&b);
    return p;
}

/* With all the weight on CTC a search finds what its loss says; neighbours, rows and a beam of one or many change no bit of that. */
static void ctc_in_a_search_is_that_of_its_loss(void **state)
{
    (void)state;
    for (int i = 0; i < N_VARIANTS; i++) {
        struct hd_vectors v = toy_vectors(variants[i].has_grids);
        struct hd_net *net = toy_net(&variants[i]);
        const struct hd_net *nets[] = {net};
        struct hd_search_options o = hd_search_options_default();
        struct hd_search_input input[N] = {0};
        struct hd_nbest found[N], one;
        heed_error err = {0};
        o.beam = 4;
        o.n_best = 4;
        o.ctc_weight = 1;
        for (int k = 0; k < N; k++)
            input[k] = (struct hd_search_input){.source = item_of(net, &v, k), .max_length = 6};
        const bool ok = hd_search(nets, 1, END, input, N, &o, found, &err);
        if (variants[i].ctc == 0) {
            assert_false(ok);
            assert_non_null(strstr(err.message, "the model was not trained with CTC"));
        }
        for (int k = 0; ok && k < N; k++) {
            for (int h = 0; h < found[k].n; h++) {
                const struct hd_hypothesis *best = &found[k].best[h];
                const double p = log_p_of_ctc(net, input[k].source, best->ids, best->n);
                assert_that(best->is_cut || fabs(best->total - p) < 1e-4,
                            "%s: item %d, %d words: %g, not %g", variants[i].name, k, best->n,
                            best->total, p);
            }
            assert_true(hd_search(nets, 1, END, &input[k], 1, &o, &one, &err));
            for (int h = 0; h < one.n; h++)
                assert_true(one.best[h].total == found[k].best[h].total);
            hd_nbest_release(&one);
        }
        /* half of each, greedily and together: every word's score is the mean of both */
        o.beam = o.n_best = 1;
        o.ctc_weight = 0.5F;
        for (int k = 0; ok && k < N; k++) {
            hd_nbest_release(&found[k]);
            assert_true(hd_search(nets, 1, END, &input[k], 1, &o, &found[k], &err));
            const struct hd_hypothesis *best = &found[k].best[0];
            if (best->is_cut)
                continue;
            struct hd_search_input forced = input[k];
            struct hd_search_options alone = o;
            forced.prefix = (struct hd_sequence){.ids = best->ids, .n = best->n};
            alone.ctc_weight = 0;
            assert_true(hd_force_decode(nets, 1, END, &forced, 1, &alone, &one, &err));
            const double p = log_p_of_ctc(net, input[k].source, best->ids, best->n),
                         wanted = (one.best[0].total + p) / 2;
            assert_that(fabs(best->total - wanted) < 1e-4, "%s: %g, not %g", variants[i].name,
                        best->total, wanted);
            hd_nbest_release(&one);
        }
        for (int k = 0; ok && k < N; k++)
            hd_nbest_release(&found[k]);
        hd_net_free(net);
        hd_vectors_close(&v);
    }
}

static void what_does_not_go_together_is_said(void **state)
{
    (void)state;
    static const struct {
        struct hd_config c;
        const char *why;
    } cases[] = {
        {{.source = HD_SOURCE_TEXT, .stack = 2}, "stack and pyramid are for a source of vectors"},
        {{.source = HD_SOURCE_VECTORS, .stack = 1}, "source-width is 0"},
        {{.source = HD_SOURCE_VECTORS, .stack = 2, .source_width = 4, .has_grids = true},
         "would tear apart"},
        {{.source = HD_SOURCE_VECTORS, .stack = 1, .source_width = 4, .pyramid = 2},
         "there must be 3 encoder layers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hd_config c = {0};
        heed_error err = {0};
        (void)heed_option_defaults(hd_config_options, &c, NULL);
        c.arch = HD_BAHDANAU;
        c.dim = 8;
        c.encoder_layers = c.decoder_layers = 1;
        c.source_vocab = c.target_vocab = 5;
        c.heads = 1;
        c.source = cases[i].c.source;
        c.stack = cases[i].c.stack;
        c.pyramid = cases[i].c.pyramid;
        c.source_width = cases[i].c.source_width;
        c.has_grids = cases[i].c.has_grids;
        assert_false(hd_config_check(&c, &err));
        assert_that(strstr(err.message, cases[i].why), "'%s' should say '%s'", err.message,
                    cases[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_the_formulas),
        cmocka_unit_test(neighbours_and_forcing_change_no_bit),
        cmocka_unit_test(ctc_in_a_search_is_that_of_its_loss),
        cmocka_unit_test(what_does_not_go_together_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
