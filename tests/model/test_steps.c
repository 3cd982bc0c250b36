/* test_steps.c -- whatever a model is put together from, teaching and search are the same numbers, and so are a sentence alone
 * and among others: bit for bit, with its attention. */
#include "combinations.h"
#include "walk.h"

#include "graph/tape.h"

enum { LONGEST = 8 };

struct run {
    hd_tape *forced, *once, *step[2]; /* whole targets; per sentence; two that take turns */
    int n_models;
};

static void assert_well(const hd_tape *tape, const char *name)
{
    assert_that(hd_tape_error(tape)->code == HEED_OK, "%s: %s", name, hd_tape_error(tape)->message);
}

static void assert_same_bits(const float *a, const float *b, int n, const char *what,
                             const char *name, int sentence, int position)
{
    for (int i = 0; i < n; i++)
        assert_that(memcmp(&a[i], &b[i], sizeof *a) == 0,
                    "%s: %s of word %d of sentence %d: number %d is %.9g and %.9g", name, what,
                    position, sentence, i, (double)a[i], (double)b[i]);
}

static struct hd_net *toy_net(struct hd_config *config, const char *name)
{
    heed_error err = {0};
    assert_that(hd_config_check(config, &err), "%s: %s", name, err.message);
    struct hd_net *net = hd_net_new(config, &err);
    assert_that(net != NULL, "%s: %s", name, err.message);
    for (int i = 0; i < hd_params_number(net->params); i++)
        hd_init_uniform(hd_params_at(net->params, i), 0.8F, 3);
    return net;
}

static const struct hd_forced *teach(const struct hd_net *net, hd_tape *tape,
                                     const struct hd_batch *batch, const char *name)
{
    hd_tape_reset(tape);
    const struct hd_memory *memory = hd_encode(net, tape, batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, tape, memory, batch, NULL);
    assert_well(tape, name);
    assert_non_null(forced);
    return forced;
}

static int row_of(const struct hd_forced *forced, int sentence, int position)
{
    for (int r = 0; r < forced->n_rows; r++)
        if (forced->sentence[r] == sentence && forced->position[r] == position)
            return r;
    fail_msg("word %d of sentence %d was not forced", position, sentence);
    return -1;
}

static bool is_recurrent(const struct hd_net *net)
{
    return net->config.arch != HD_TRANSFORMER;
}

/* What row r looked at, all layers and heads one after the other; how many numbers that is. */
static int weights_of(const struct hd_net *net, const struct hd_weights *weights, int r,
                      float *alpha)
{
    int n = 0;
    const int n_heads =
        is_recurrent(net) && net->config.score != HD_SCORE_MULTI_HEAD ? 1 : net->config.heads;
    for (int layer = 1; layer <= (is_recurrent(net) ? 1 : net->config.decoder_layers); layer++)
        for (int head = -1; head < n_heads; head++)
            if (hd_weights_of(net, weights, r, layer, head, alpha + n))
                n += weights->n_keys[r];
    assert_true(weights->n_layers == 0 || n > 0);
    return n;
}

static void assert_same_rows(const struct hd_net *net, const struct hd_forced *forced, int r,
                             const hd_node *out, const struct hd_weights *weights, int b,
                             const char *name)
{
    float alpha[100], beta[100];
    const int R = hd_width(forced->out), sentence = forced->sentence[r],
              position = forced->position[r];
    assert_int_equal(hd_width(out), R);
    assert_same_bits(forced->out->x + (size_t)r * (size_t)R, out->x + (size_t)b * (size_t)R, R,
                     "the output", name, sentence, position);
    const int n = weights_of(net, &forced->cross, r, alpha);
    assert_int_equal(weights_of(net, weights, b, beta), n);
    assert_same_bits(alpha, beta, n, "the attention", name, sentence, position);
}

/* ---- one step after the other ---------------------------------------------------------------- */

/* The words of a sentence in a batch. */
static const int *words_of(const struct hd_batch *batch, int sentence)
{
    const int *words = batch->target;
    for (int i = 0; i < sentence; i++)
        words += batch->target_length[i];
    return words;
}

/* Hypotheses b stand for sentence[b], some twice and in any order; those that have ended leave. */
static void compare_steps(const struct hd_net *net, struct run *run, const char *name)
{
    const struct hd_batch batch = toy_batch();
    const struct hd_forced *forced = teach(net, run->forced, &batch, name);
    hd_tape_reset(run->once);
    int sentence[] = {2, 0, 1, 2}, previous[] = {-1, -1, -1, -1}, B = 4;
    struct walk *walk = walk_start(net, run->once, &batch, sentence, B);
    assert_well(run->once, name);
    for (int t = 0; B > 0; t++) {
        hd_tape *tape = run->step[t % 2];
        hd_tape_reset(tape);
        int kept[4], n = 0;
        for (int b = 0; b < B; b++)
            if (batch.target_length[sentence[b]] > t) {
                kept[n] = b;
                sentence[n] = sentence[b];
                previous[n] = t > 0 ? words_of(&batch, sentence[n])[t - 1] : -1;
                n++;
            }
        if ((B = n) == 0)
            break;
        walk_gather(walk, kept, B);
        const struct hd_stepped now = walk_step(walk, tape, previous);
        assert_well(tape, name);
        for (int b = 0; b < B; b++)
            assert_same_rows(net, forced, row_of(forced, sentence[b], t), now.out, &now.cross, b,
                             name);
    }
    walk_end(walk);
}

/* ---- alone and among others ------------------------------------------------------------------ */

static void compare_alone(const struct hd_net *net, struct run *run, const char *name)
{
    const struct hd_batch batch = toy_batch();
    const struct hd_forced *all = teach(net, run->forced, &batch, name);
    const int *source = batch.source, *target = batch.target;
    for (int i = 0; i < batch.n; i++) {
        const struct hd_batch one = {.n = 1,
                                     .source = source,
                                     .source_length = &batch.source_length[i],
                                     .target = target,
                                     .target_length = &batch.target_length[i]};
        const struct hd_forced *alone = teach(net, run->once, &one, name);
        for (int t = 0; t < *one.target_length; t++)
            assert_same_rows(net, all, row_of(all, i, t), alone->out, &alone->cross,
                             row_of(alone, 0, t), name);
        source += *one.source_length;
        target += *one.target_length;
    }
}

static void compare_weights_sum(const struct hd_net *net, struct run *run, const char *name)
{
    const struct hd_config *c = &net->config;
    const struct hd_batch batch = toy_batch();
    const struct hd_forced *forced = teach(net, run->forced, &batch, name);
    if (is_recurrent(net)) /* no self-attention to report */
        assert_false(hd_weights_of(net, &forced->self, 0, 0, -1, (float[64]){0}));
    for (int r = 0; r < forced->n_rows && forced->cross.n_layers > 0; r++) {
        float alpha[LONGEST], sum = 0;
        assert_true(hd_weights_of(net, &forced->cross, r, 0, -1, alpha));
        assert_int_equal(forced->cross.n_keys[r], batch.source_length[forced->sentence[r]]);
        for (int j = 0; j < forced->cross.n_keys[r]; j++) {
            assert_that(alpha[j] >= 0, "%s: a weight is %g", name, (double)alpha[j]);
            sum += alpha[j];
        }
        const bool is_cut = is_recurrent(net) && c->local == HD_LOCAL_P; /* not normalised again */
        assert_that(is_cut ? sum < 1.00001F : sum > 0.99999F && sum < 1.00001F,
                    "%s: weights add up to %g", name, (double)sum);
    }
}

/* ---- packing --------------------------------------------------------------------------------- */

enum { MOST_PARAMS = 256 };

/* What is declared to be laid out, and then forgotten; or, when `wanted` is given, compared with what was asked for since. */
static void packing_of(struct hd_net *net, bool wanted[MOST_PARAMS][2], bool is_compared,
                       const char *name)
{
    const int n = hd_params_number(net->params);
    assert_true(n <= MOST_PARAMS);
    for (int i = 0; i < n; i++) {
        struct hd_param *p = hd_params_at(net->params, i)->param;
        struct hd_packed *copy[2] = {&p->straight, &p->crossed};
        for (int k = 0; k < 2; k++)
            if (is_compared)
                assert_that(copy[k]->is_wanted == wanted[i][k], "%s: %s is %s %s", name, p->name,
                            wanted[i][k] ? "packed and not read" : "read and not packed",
                            k ? "crossed" : "straight");
            else {
                wanted[i][k] = copy[k]->is_wanted;
                copy[k]->is_wanted = false;
            }
    }
}

/* A search multiplies with the weights that are declared for it, and with no others. */
static void compare_packing(struct hd_net *net, struct run *run, const char *name)
{
    static bool wanted[MOST_PARAMS][2];
    packing_of(net, wanted, false, name);
    compare_steps(net, run, name);
    hd_tape_reset(run->once);
    hd_logits(&net->head, hd_input(run->once, NULL, 1, hd_head_width(&net->head)));
    packing_of(net, wanted, true, name);
}

/* ---- for all --------------------------------------------------------------------------------- */

static void with_each_model(const struct combination *c, void *data)
{
    struct run *run = data;
    if (c->verdict != IS_MODEL)
        return;
    struct hd_config config = toy_config(c->settings);
    if (!hd_config_has_decoder(&config))
        return;
    struct hd_net *net = toy_net(&config, c->settings);
    compare_packing(net, run, c->settings);
    compare_alone(net, run, c->settings);
    compare_weights_sum(net, run, c->settings);
    heed_error err = {0};
    assert_true(hd_params_pack(net->params, &err)); /* the same with packed weights */
    compare_steps(net, run, c->settings);
    struct hd_net *int8 = hd_net_as(net, HD_COMPUTE_INT8, &err); /* and in 8 bits */
    assert_that(int8 && hd_net_is_int8(int8), "%s: %s", c->settings, err.message);
    compare_steps(int8, run, c->settings);
    compare_alone(int8, run, c->settings);
    hd_net_free(int8);
    struct hd_net *bf16 = hd_net_as(net, HD_COMPUTE_BF16, &err); /* and in bf16 */
    assert_that(bf16 && hd_net_computes(bf16, HD_COMPUTE_BF16), "%s: %s", c->settings, err.message);
    compare_steps(bf16, run, c->settings);
    compare_alone(bf16, run, c->settings);
    hd_net_free(bf16);
    hd_net_free(net);
    run->n_models++;
}

static void one_step_is_teaching_and_neighbours_do_not_matter(void **state)
{
    (void)state;
    heed_error err = {0};
    struct run run = {.forced = hd_tape_new(&err),
                      .once = hd_tape_new(&err),
                      .step = {hd_tape_new(&err), hd_tape_new(&err)}};
    assert_true(run.forced && run.once && run.step[0] && run.step[1]);
    visit_all(with_each_model, &run);
    assert_true(run.n_models > 300);
    hd_tape_free(run.forced);
    hd_tape_free(run.once);
    hd_tape_free(run.step[0]);
    hd_tape_free(run.step[1]);
}

/* Nothing to read: the answer is some numbers, the same alone and among others. Nothing to say: no rows. */
static void with_an_empty_sentence(const struct combination *c, void *data)
{
    struct run *run = data;
    if (c->verdict != IS_MODEL)
        return;
    struct hd_config config = toy_config(c->settings);
    if (!hd_config_has_decoder(&config))
        return;
    struct hd_net *net = toy_net(&config, c->settings);
    const int source[] = {1, 2, 3}, source_length[] = {0, 3, 0}, target[] = {1, 0, 2, 0},
              target_length[] = {2, 0, 2}, nothing = 0;
    const struct hd_batch batch = {.n = 3,
                                   .source = source,
                                   .source_length = source_length,
                                   .target = target,
                                   .target_length = target_length};
    const struct hd_batch one = {.n = 1,
                                 .source = source,
                                 .source_length = &nothing,
                                 .target = target,
                                 .target_length = &target_length[0]};
    const struct hd_forced *forced = teach(net, run->forced, &batch, c->settings);
    const struct hd_forced *alone = teach(net, run->once, &one, c->settings);
    assert_int_equal(forced->n_rows, 4);
    assert_int_equal(alone->n_rows, 2);
    const size_t R = (size_t)hd_width(forced->out);
    for (int t = 0; t < 2; t++)
        assert_same_bits(forced->out->x + (size_t)row_of(forced, 0, t) * R,
                         alone->out->x + (size_t)t * R, (int)R, "the output", c->settings, 0, t);
    for (size_t i = 0; i < hd_count(forced->out); i++)
        assert_that(forced->out->x[i] - forced->out->x[i] == 0, "%s: an output is %g", c->settings,
                    (double)forced->out->x[i]);
    const struct hd_batch silent = {.n = 1,
                                    .source = source,
                                    .source_length = &source_length[1],
                                    .target = target,
                                    .target_length = &nothing};
    const struct hd_forced *none = teach(net, run->forced, &silent, c->settings);
    const hd_node *loss = hd_forced_loss(net, none, 0);
    assert_well(run->forced, c->settings);
    assert_true(none->n_rows == 0 && loss->x[0] == 0);
    hd_net_free(net);
}

static void empty_sentences_are_sentences(void **state)
{
    (void)state;
    heed_error err = {0};
    struct run run = {.forced = hd_tape_new(&err), .once = hd_tape_new(&err)};
    assert_true(run.forced && run.once);
    visit_all(with_an_empty_sentence, &run);
    hd_tape_free(run.forced);
    hd_tape_free(run.once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_is_teaching_and_neighbours_do_not_matter),
        cmocka_unit_test(empty_sentences_are_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
