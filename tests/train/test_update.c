/* test_update.c -- one update: shards and their tree to the last bit, the rules against their formulas, accidents that change nothing. */
#include "model/settings.h"
#include "test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "kernel/kernel.h"
#include "train/update.h"

static struct hd_ranks alone = {.n = 1, .n_here = 1};

#include <math.h>

enum { N_WORDS = 23, MOST = 400 };

/* Made-up pairs; longer ones behind shorter ones, as a feed has them. */
static struct hd_pair_ids *some_pairs(int n, uint64_t seed)
{
    static struct hd_pair_ids pairs[MOST];
    static int ids[MOST * 64];
    struct hd_rng rng = {.key = seed};
    int *at = ids;
    assert_true(n <= MOST);
    for (int i = 0; i < n; i++) {
        const int n_source = 2 + i * 20 / n + (int)hd_rng_below(&rng, 4), n_target = 2 + i * 20 / n;
        pairs[i] = (struct hd_pair_ids){.source = {.ids = at, .n = n_source},
                                        .target = {.ids = at + n_source, .n = n_target}};
        for (int k = 0; k < n_source + n_target; k++)
            *at++ = 1 + (int)hd_rng_below(&rng, N_WORDS - 1);
        at[-1] = at[-1 - n_target] = 0;
    }
    return pairs;
}

static struct hd_net *net_of(const char *settings)
{
    struct hd_config c = preset_of(settings);
    heed_error err = {0};
    c.source_vocab = c.target_vocab = N_WORDS;
    set_fields(&c, settings);
    assert_that(hd_config_check(&c, &err), "%s", err.message);
    struct hd_net *net = hd_net_new(&c, &err);
    assert_non_null(net);
    hd_net_init(net, 1);
    return net;
}

static const char TRANSFORMER[] = "transformer dim=16 ffn=32 heads=2 layers=1 norm=pre";
static const char LUONG[] = "luong dim=16 embed=16 layers=1";

/* A recipe without dropout, smoothing and averages. */
static struct hd_recipe plain(void)
{
    struct hd_recipe r;
    hd_recipe_init(&r);
    r.dropout_embed = r.dropout_state = r.dropout_attention = r.dropout_ffn = r.dropout_output = 0;
    r.label_smoothing = 0;
    r.ema = 0;
    r.clip = 0;
    r.shards = 4;
    return r;
}

struct bench {
    struct hd_net *net;
    struct hd_pool *threads;
    struct hd_learner learner;
};

static void set_up(struct bench *b, const char *settings, const struct hd_recipe *r, int n_threads)
{
    heed_error err = {0};
    *b = (struct bench){.net = net_of(settings), .threads = hd_pool_new(n_threads, &err)};
    assert_that(b->threads && hd_learner_init(&b->learner, b->net, r, b->threads, &alone, &err),
                "%s", err.message);
}

static void clear(struct bench *b)
{
    hd_learner_release(&b->learner);
    hd_pool_free(b->threads);
    hd_net_free(b->net);
}

static struct hd_updated learn(struct bench *b, const struct hd_pair_ids *pairs, int n, long number,
                               float rate)
{
    struct hd_updated u;
    heed_error err = {0};
    assert_that(hd_learn(&b->learner, pairs, n, number, rate, &u, &err), "%s", err.message);
    return u;
}

static float *weights(struct bench *b)
{
    return hd_params_values(b->net->params);
}

static float *copy_of(const float *x, size_t n)
{
    float *copy = malloc(n * sizeof *copy);
    assert_non_null(copy);
    return memcpy(copy, x, n * sizeof *copy);
}

/* ---- bits ------------------------------------------------------------------------------------------- */

static void threads_change_no_bit(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct hd_recipe r = plain();
        r.dropout_embed = r.dropout_state = 0.2F;
        r.word_dropout = 0.1F;
        r.label_smoothing = 0.1F;
        r.ema = 0.9F;
        r.clip = 0.5F;
        r.simcut = kind == 1 ? 1 : 0;
        float *wanted = NULL, *ema = NULL;
        struct hd_updated first = {0};
        for (int n_threads = 1; n_threads <= 3; n_threads++) {
            struct bench b;
            set_up(&b, kind == 2 ? LUONG : TRANSFORMER, &r, n_threads);
            struct hd_updated u = {0};
            for (long k = 1; k <= 4; k++)
                u = learn(&b, some_pairs(150, (uint64_t)k), 150, k, 0.01F);
            const size_t bytes = b.learner.size * sizeof(float);
            if (!wanted) {
                wanted = copy_of(weights(&b), b.learner.size);
                ema = copy_of(b.learner.ema, b.learner.size);
                first = u;
                assert_that(u.n_shards == 4, "there are %d shards", u.n_shards);
            }
            assert_that(memcmp(wanted, weights(&b), bytes) == 0,
                        "kind %d: %d threads give other weights", kind, n_threads);
            assert_memory_equal(ema, b.learner.ema, bytes);
            assert_true(first.loss == u.loss && first.norm == u.norm);
            clear(&b);
        }
        free(wanted);
        free(ema);
        hd_recipe_release(&r);
    }
}

/* The gradient of pairs [from, to), from first principles. */
static double gradient_of(struct hd_net *net, const struct hd_pair_ids *pairs, int from, int to,
                          float smoothing, float *g)
{
    struct hd_batch_builder builder = {0};
    for (int i = from; i < to; i++)
        assert_true(hd_batch_add(&builder, pairs[i].source, pairs[i].target, -1, NULL));
    const struct hd_batch batch = hd_batch_of(&builder);
    hd_tape *tape = hd_tape_new(NULL);
    hd_tape_record(tape, true);
    const struct hd_memory *memory = hd_encode(net, tape, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, tape, memory, &batch, NULL);
    hd_node *loss = hd_forced_loss(net, forced, smoothing);
    assert_true(loss && hd_backward(loss, g));
    const double x = (double)loss->x[0];
    hd_tape_free(tape);
    hd_batch_builder_release(&builder);
    return x;
}

/* sgd at rate 1 without momentum takes the gradient off the weights: what is missing afterwards is the gradient. */
static void the_gradient_is_a_tree_of_shards(void **state)
{
    (void)state;
    enum { N = 120 };
    const struct hd_kernels *k = hd_kernels_chosen(NULL);
    struct hd_recipe r = plain();
    r.optimizer = HD_SGD;
    r.momentum = 0;
    r.label_smoothing = 0.1F;
    struct bench b;
    set_up(&b, TRANSFORMER, &r, 2);
    const size_t size = b.learner.size;
    const struct hd_pair_ids *pairs = some_pairs(N, 5);
    long n_tokens = 0, done = 0, cost = 0;
    for (int i = 0; i < N; i++) {
        n_tokens += pairs[i].target.n;
        cost += pairs[i].source.n + 2 * pairs[i].target.n;
    }
    assert_true(n_tokens >= 4 * 256);

    /* by hand: four shards of even cost, each pair where its middle is, added as (0 + 1) + (2 + 3) */
    float *block[4];
    int from[5] = {0, 0, 0, 0, N}, n_shards = 0;
    for (int i = 0; i < N; i++) {
        const long mine = pairs[i].source.n + 2 * pairs[i].target.n;
        if (n_shards < 4 && 4 * (2 * done + mine) >= 2 * cost * n_shards)
            from[n_shards++] = i;
        done += mine;
    }
    assert_int_equal(n_shards, 4);
    double loss = 0;
    for (int s = 0; s < 4; s++) {
        block[s] = calloc(size, sizeof(float));
        loss += gradient_of(b.net, pairs, from[s], from[s + 1], 0.1F, block[s]) / (double)n_tokens;
    }
    k->add(block[0], block[0], block[1], (long)size);
    k->add(block[2], block[2], block[3], (long)size);
    k->add(block[0], block[0], block[2], (long)size);
    float *wanted = copy_of(weights(&b), size), *before = copy_of(weights(&b), size);
    k->sgd(wanted, NULL, block[0], 1, 0, 0, (float)(1 / (double)n_tokens), (long)size);
    float *whole = calloc(size, sizeof(float));
    const double whole_loss = gradient_of(b.net, pairs, 0, N, 0.1F, whole) / (double)n_tokens;

    const struct hd_updated u = learn(&b, pairs, N, 1, 1);
    assert_int_equal(u.n_shards, 4);
    assert_memory_equal(weights(&b), wanted, size * sizeof(float));
    assert_true(u.loss == loss);
    assert_that(fabs(loss - whole_loss) < 1e-5, "loss %.9g of shards, %.9g of one", loss,
                whole_loss);
    double squares = 0;
    for (size_t i = 0; i < size; i++) {
        const double by_shards = (double)before[i] - (double)weights(&b)[i],
                     at_once = (double)whole[i] / (double)n_tokens;
        assert_that(fabs(by_shards - at_once) < 1e-5, "gradient %zu: %.9g by shards, %.9g at once",
                    i, by_shards, at_once);
        squares += at_once * at_once;
    }
    assert_that(fabs(u.norm - sqrt(squares)) < 1e-4 * u.norm, "norm %.9g, by hand %.9g", u.norm,
                sqrt(squares));
    for (int s = 0; s < 4; s++)
        free(block[s]);
    free(wanted);
    free(before);
    free(whole);
    clear(&b);
    hd_recipe_release(&r);
}

static void few_tokens_are_one_shard(void **state)
{
    (void)state;
    struct hd_recipe r = plain();
    struct bench b;
    set_up(&b, LUONG, &r, 2);
    assert_int_equal(learn(&b, some_pairs(1, 1), 1, 1, 0.01F).n_shards, 1);
    assert_int_equal(learn(&b, some_pairs(10, 1), 10, 2, 0.01F).n_shards, 1);
    assert_int_equal(learn(&b, some_pairs(60, 1), 60, 3, 0.01F).n_shards, 2);
    assert_int_equal(learn(&b, some_pairs(300, 1), 300, 4, 0.01F).n_shards, 4);
    clear(&b);
    hd_recipe_release(&r);
}

/* ---- rules ------------------------------------------------------------------------------------------ */

/* Three updates of each rule, in doubles, next to the real ones. */
static void rules_are_their_formulas(void **state)
{
    (void)state;
    for (int rule = HD_ADAM; rule <= HD_SGD; rule++) {
        struct hd_recipe r = plain();
        r.optimizer = rule;
        r.shards = 1; /* as by hand: sums over two round differently */
        r.weight_decay = 0.1F;
        r.clip = 0.05F;
        struct bench b;
        set_up(&b, TRANSFORMER, &r, 2);
        const size_t size = b.learner.size;
        double *x = calloc(size, sizeof *x), *m = calloc(size, sizeof *m),
               *v = calloc(size, sizeof *v);
        bool *is_matrix = calloc(size, 1);
        for (int i = 0; i < hd_params_number(b.net->params); i++) {
            const hd_node *p = hd_params_at(b.net->params, i);
            memset(is_matrix + hd_param_offset(p), p->n_dims == 2, hd_count(p));
        }
        for (long t = 1; t <= 3; t++) {
            const struct hd_pair_ids *pairs = some_pairs(20, (uint64_t)t);
            float *g = calloc(size, sizeof *g);
            long n_tokens = 0;
            for (int i = 0; i < 20; i++)
                n_tokens += pairs[i].target.n;
            (void)gradient_of(b.net, pairs, 0, 20, 0, g);
            double squares = 0;
            for (size_t i = 0; i < size; i++)
                squares += (double)g[i] * (double)g[i];
            const double norm = sqrt(squares) / (double)n_tokens,
                         cut = (norm > 0.05 ? 0.05 / norm : 1) / (double)n_tokens;
            for (size_t i = 0; i < size; i++) {
                const double rate = 0.01, decay = is_matrix[i] ? 0.1 : 0,
                             w = (double)weights(&b)[i], l2 = rule == HD_ADAMW ? 0 : decay * w,
                             d = cut * (double)g[i] + l2;
                if (rule == HD_SGD) {
                    m[i] = 0.9 * m[i] + d;
                    x[i] = w - rate * m[i];
                    continue;
                }
                m[i] = 0.9 * m[i] + 0.1 * d;
                v[i] = 0.98 * v[i] + 0.02 * d * d;
                const double m_hat = m[i] / (1 - pow(0.9, (double)t)),
                             v_hat = v[i] / (1 - pow(0.98, (double)t));
                x[i] = w - rate * (m_hat / (sqrt(v_hat) + 1e-9) + decay * w - l2);
            }
            const struct hd_updated u = learn(&b, pairs, 20, t, 0.01F);
            assert_that(fabs(u.norm - norm) < 1e-4 * norm && norm > 0.05, "norm %.9g, by hand %.9g",
                        u.norm, norm);
            int n_far = 0;
            for (size_t i = 0; i < size; i++)
                n_far += fabs(x[i] - (double)weights(&b)[i]) > 2e-5;
            assert_that(n_far <= (int)size / 500,
                        "rule %d, update %ld: %d of %zu weights are elsewhere", rule, t, n_far,
                        size);
            free(g);
        }
        free(x);
        free(m);
        free(v);
        free(is_matrix);
        clear(&b);
        hd_recipe_release(&r);
    }
}

static void the_average_moves_slowly(void **state)
{
    (void)state;
    struct hd_recipe r = plain();
    r.ema = 0.5F;
    struct bench b;
    set_up(&b, LUONG, &r, 2);
    const size_t size = b.learner.size;
    assert_memory_equal(b.learner.ema, weights(&b), size * sizeof(float));
    float *ema = copy_of(b.learner.ema, size);
    for (long t = 1; t <= 12; t++) {
        (void)learn(&b, some_pairs(20, (uint64_t)t), 20, t, 0.01F);
        const double young = (1 + (double)t) / (10 + (double)t), keep = young < 0.5 ? young : 0.5;
        for (size_t i = 0; i < size; i++) {
            const double wanted = keep * (double)ema[i] + (1 - keep) * (double)weights(&b)[i];
            assert_that(fabs(wanted - (double)b.learner.ema[i]) < 1e-6,
                        "update %ld, weight %zu: %.9g instead of %.9g", t, i,
                        (double)b.learner.ema[i], wanted);
        }
        memcpy(ema, b.learner.ema, size * sizeof *ema);
    }
    free(ema);
    clear(&b);
    hd_recipe_release(&r);
}

static void what_is_frozen_does_not_move(void **state)
{
    (void)state;
    struct hd_recipe r = plain();
    r.weight_decay = 0.1F;
    r.ema = 0.9F;
    assert_true(heed_option_set_named(hd_recipe_options, &r, "freeze", "encoder", NULL));
    assert_true(heed_option_set_named(hd_recipe_options, &r, "freeze", "*.ffn.*.W", NULL));
    struct bench b;
    set_up(&b, TRANSFORMER, &r, 2);
    float *before = copy_of(weights(&b), b.learner.size);
    for (long t = 1; t <= 3; t++)
        (void)learn(&b, some_pairs(150, (uint64_t)t), 150, t, 0.01F);
    int n_frozen = 0;
    for (int i = 0; i < hd_params_number(b.net->params); i++) {
        const hd_node *p = hd_params_at(b.net->params, i);
        const char *name = hd_param_name(p);
        const bool is_frozen = strncmp(name, "encoder.", 8) == 0 || strstr(name, ".ffn.1.W") ||
                               strstr(name, ".ffn.2.W");
        const size_t at = hd_param_offset(p), bytes = hd_count(p) * sizeof(float);
        const bool is_same = memcmp(before + at, weights(&b) + at, bytes) == 0;
        assert_that(is_same == is_frozen, "%s %s", name, is_frozen ? "has moved" : "has not moved");
        if (is_frozen)
            assert_memory_equal(before + at, b.learner.ema + at, bytes);
        n_frozen += is_frozen;
    }
    assert_true(n_frozen > 5);
    free(before);
    clear(&b);
    hd_recipe_release(&r);
}

static void a_pattern_that_fits_nothing_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *says;
    } wrong[] = {{"banana",
                  "freeze: no parameter is called 'banana'; the names of this model's begin with "},
                 {"encod", "freeze: no parameter is called 'encod'"},
                 {"*", "freeze leaves nothing that could learn"}};
    for (int i = 0; i < 3; i++) {
        struct hd_recipe r = plain();
        assert_true(heed_option_set_named(hd_recipe_options, &r, "freeze", wrong[i].pattern, NULL));
        struct hd_net *net = net_of(TRANSFORMER);
        struct hd_pool *threads = hd_pool_new(1, NULL);
        struct hd_learner l;
        heed_error err = {0};
        assert_false(hd_learner_init(&l, net, &r, threads, &alone, &err));
        assert_error(err, HEED_BAD_OPTION, wrong[i].says);
        hd_learner_release(&l);
        hd_pool_free(threads);
        hd_net_free(net);
        hd_recipe_release(&r);
    }
}

static void two_passes_are_another_update(void **state)
{
    (void)state;
    double loss[4];
    float *result[4];
    size_t size = 0;
    for (int kind = 0; kind < 4; kind++) {
        struct hd_recipe r = plain();
        r.dropout_embed = r.dropout_state = 0.2F;
        r.rdrop = kind == 1 ? 5 : 0;
        r.simcut = kind == 2 ? 3 : 0;
        r.word_dropout = kind == 3 ? 0.2F : 0;
        struct bench b;
        set_up(&b, TRANSFORMER, &r, 2);
        loss[kind] = learn(&b, some_pairs(50, 1), 50, 1, 0.01F).loss;
        size = b.learner.size;
        result[kind] = copy_of(weights(&b), size);
        assert_true(loss[kind] > 0 && loss[kind] < 100);
        for (int k = 0; k < kind; k++)
            assert_that(loss[k] != loss[kind] &&
                            memcmp(result[k], result[kind], size * sizeof(float)) != 0,
                        "lessons %d and %d are the same", k, kind);
        clear(&b);
        hd_recipe_release(&r);
    }
    assert_that(loss[1] > loss[0] && loss[2] > loss[0], "what must agree costs: %g, %g, %g",
                loss[0], loss[1], loss[2]);
    for (int kind = 0; kind < 4; kind++)
        free(result[kind]);
}

/* ---- accidents --------------------------------------------------------------------------------------- */

static void what_is_not_finite_changes_nothing(void **state)
{
    (void)state;
    struct hd_recipe r = plain();
    r.ema = 0.9F;
    struct bench b;
    set_up(&b, TRANSFORMER, &r, 2);
    (void)learn(&b, some_pairs(150, 1), 150, 1, 0.01F);
    const size_t size = b.learner.size, bytes = size * sizeof(float);
    float *good = copy_of(weights(&b), size), *m = copy_of(b.learner.m, size),
          *v = copy_of(b.learner.v, size), *ema = copy_of(b.learner.ema, size);
    const double power1 = b.learner.power1;
    const size_t at =
        hd_param_offset(hd_params_at(b.net->params, hd_params_number(b.net->params) - 1));
    for (int kind = 0; kind < 2; kind++) {
        weights(&b)[at] = kind ? INFINITY : NAN;
        hd_learner_repack(&b.learner);
        const struct hd_updated u = learn(&b, some_pairs(150, 2), 150, 2, 0.01F);
        assert_false(u.is_finite);
        weights(&b)[at] = good[at];
        assert_memory_equal(weights(&b), good, bytes);
        assert_memory_equal(b.learner.m, m, bytes);
        assert_memory_equal(b.learner.v, v, bytes);
        assert_memory_equal(b.learner.ema, ema, bytes);
        assert_true(b.learner.power1 == power1);
    }
    /* and leaves nothing behind: the next update is what it would have been */
    hd_learner_repack(&b.learner);
    assert_true(learn(&b, some_pairs(150, 2), 150, 2, 0.01F).is_finite);
    struct bench other;
    set_up(&other, TRANSFORMER, &r, 1);
    (void)learn(&other, some_pairs(150, 1), 150, 1, 0.01F);
    (void)learn(&other, some_pairs(150, 2), 150, 2, 0.01F);
    assert_memory_equal(weights(&b), weights(&other), bytes);
    clear(&other);
    clear(&b);
    free(good);
    free(m);
    free(v);
    free(ema);
    hd_recipe_release(&r);
}

static void without_memory_nothing_is_lost(void **state)
{
    (void)state;
    struct hd_recipe r = plain();
    r.ema = 0.9F;
    struct bench right;
    set_up(&right, TRANSFORMER, &r, 2);
    (void)learn(&right, some_pairs(60, 1), 60, 1, 0.01F);
    struct hd_net *net = net_of(TRANSFORMER);
    struct hd_pool *threads = hd_pool_new(2, NULL);
    bool is_done = false;
    int n_failed = 0;
    for (long i = 0; !is_done && i < 5000; i++) {
        heed_error err = {0};
        struct hd_learner l;
        struct hd_updated u;
        hd_net_init(net, 1);
        hd_alloc_fail_after(i);
        const bool is_there = hd_learner_init(&l, net, &r, threads, &alone, &err);
        const bool ok = is_there && hd_learn(&l, some_pairs(60, 1), 60, 1, 0.01F, &u, &err);
        hd_alloc_fail_after(-1);
        assert_that(ok || err.code == HEED_NO_MEMORY, "allocation %ld: %d, '%s'", i, (int)err.code,
                    err.message);
        is_done = ok && i > 0;
        n_failed += !ok;
        if (is_there && !ok) { /* once there is memory again, it goes on */
            heed_error again = {0};
            assert_that(hd_learn(&l, some_pairs(60, 1), 60, 1, 0.01F, &u, &again), "%s",
                        again.message);
        }
        if (is_there)
            assert_that(
                memcmp(hd_params_values(net->params), weights(&right), l.size * sizeof(float)) == 0,
                "allocation %ld changes the result", i);
        is_done = is_done && i > n_failed + 40; /* packed copies may fail without harm */
        hd_learner_release(&l);
    }
    assert_that(n_failed > 10, "only %d allocations failed", n_failed);
    hd_net_free(net);
    hd_pool_free(threads);
    clear(&right);
    hd_recipe_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(the_gradient_is_a_tree_of_shards),
        cmocka_unit_test(few_tokens_are_one_shard),
        cmocka_unit_test(rules_are_their_formulas),
        cmocka_unit_test(the_average_moves_slowly),
        cmocka_unit_test(what_is_frozen_does_not_move),
        cmocka_unit_test(a_pattern_that_fits_nothing_is_refused),
        cmocka_unit_test(two_passes_are_another_update),
        cmocka_unit_test(what_is_not_finite_changes_nothing),
        cmocka_unit_test(without_memory_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
