/* test_scheduled_sampling.c -- a decoder that is shown its own words: they are drawn from what it says, and nothing else is different. */
#include "combinations.h"
#include "test.h"

#include <math.h>

static const char *const models[] = {
    "luong layers=2", "bahdanau readout=maxout", "bahdanau cell=lstm attend=inside readout=tanh",
    "seq2seq context=every readout=tanh", "luong layers=1 score=location-aware embed=4 tie=output"};

static struct hd_net *net_of(const char *settings)
{
    heed_error err = {0};
    struct hd_config c = toy_config(settings);
    assert_that(hd_config_check(&c, &err), "%s: %s", settings, err.message);
    struct hd_net *net = hd_net_new(&c, &err);
    assert_that(net, "%s: %s", settings, err.message);
    hd_net_init(net, 2);
    for (int i = 0; i < hd_params_number(net->params); i++)
        hd_init_uniform(hd_params_at(net->params, i), 0.8F, 4);
    return net;
}

/* The loss and its gradient; *forced lives on the tape. */
static float learn(const struct hd_net *net, hd_tape *tape, const struct hd_batch *batch, float own,
                   uint64_t key, float *gradients, const struct hd_forced **forced)
{
    const struct hd_dropouts drop = {.own = own};
    hd_tape_reset(tape);
    hd_tape_record(tape, true);
    hd_tape_train(tape, key);
    const struct hd_memory *memory = hd_encode(net, tape, batch, &drop);
    *forced = hd_teacher_force(net, tape, memory, batch, &drop);
    assert_that(*forced, "%s", hd_tape_error(tape)->message);
    hd_node *loss = hd_forced_loss(net, *forced, 0.1F);
    memset(gradients, 0, hd_params_size(net->params) * sizeof *gradients);
    assert_true(hd_backward(loss, gradients));
    return loss->x[0];
}

/* What was shown, as a target that may be given: word by word of each sentence, the last of which nobody sees. */
static void read_shown(const struct hd_forced *f, const struct hd_batch *batch, int *seen)
{
    int start[8] = {0}, at = 0;
    for (int i = 0; i < batch->n; at += batch->target_length[i++])
        start[i] = at;
    memcpy(seen, batch->target, (size_t)at * sizeof *seen);
    for (int r = 0; r < f->n_rows; r++)
        if (f->position[r] > 0)
            seen[start[f->sentence[r]] + f->position[r] - 1] = f->previous[r];
}

static void shown_words_are_as_if_they_had_been_given(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct hd_net *net = net_of(models[m]);
        hd_tape *tape = hd_tape_new(NULL);
        const size_t size = hd_params_size(net->params);
        float *own = calloc(size, sizeof *own), *given = calloc(size, sizeof *given);
        const struct hd_forced *forced;
        struct hd_batch batch = toy_batch();
        int seen[16], n_others = 0;
        const float loss = learn(net, tape, &batch, 0.7F, 5, own, &forced);
        read_shown(forced, &batch, seen);
        for (int i = 0; i < 9; i++)
            n_others += seen[i] != batch.target[i];
        assert_that(n_others > 0, "%s: all words were the target's", models[m]);
        batch.target_seen = seen;
        const float again = learn(net, tape, &batch, 0, 5, given, &forced);
        assert_that(loss == again, "%s: %.9g, but %.9g when given", models[m], (double)loss,
                    (double)again);
        for (size_t i = 0; i < size; i++)
            assert_that(fabsf(own[i] - given[i]) <= 2e-6F * (1 + fabsf(given[i])),
                        "%s: gradient %zu is %g, not %g", models[m], i, (double)own[i],
                        (double)given[i]);
        free(own);
        free(given);
        hd_tape_free(tape);
        hd_net_free(net);
    }
}

/* A model that says one word only is shown that word, as often as the share says, and by other numbers in other places. */
static void as_many_as_asked_for_are_the_models_own(void **state)
{
    (void)state;
    enum { WORD = 3, N = 40, LENGTH = 50 };
    struct hd_net *net = net_of("luong layers=1");
    hd_tape *tape = hd_tape_new(NULL);
    float *g = calloc(hd_params_size(net->params), sizeof *g);
    int source[N], target[N * LENGTH], ones[N], lengths[N];
    net->head.b->x[WORD] = 1000;
    for (int i = 0; i < N; i++) {
        source[i] = ones[i] = 1;
        lengths[i] = LENGTH;
    }
    memset(target, 0, sizeof target);
    const struct hd_batch batch = {.n = N,
                                   .source = source,
                                   .source_length = ones,
                                   .target = target,
                                   .target_length = lengths};
    for (uint64_t key = 1; key < 3; key++) {
        const struct hd_forced *forced;
        learn(net, tape, &batch, 0.25F, key, g, &forced);
        int n_own = 0;
        for (int r = 0; r < forced->n_rows; r++) {
            assert_true(forced->position[r] == 0 || forced->previous[r] == 0 ||
                        forced->previous[r] == WORD);
            n_own += forced->position[r] > 0 && forced->previous[r] == WORD;
        }
        const double share = (double)n_own / (N * (LENGTH - 1));
        assert_that(fabs(share - 0.25) < 0.04, "%g of the words are its own", share);
    }
    free(g);
    hd_tape_free(tape);
    hd_net_free(net);
}

static void validation_is_shown_the_target(void **state)
{
    (void)state;
    struct hd_net *net = net_of(models[0]);
    hd_tape *tape = hd_tape_new(NULL);
    const struct hd_batch batch = toy_batch();
    const struct hd_dropouts drop = {.own = 1};
    float losses[2];
    for (int i = 0; i < 2; i++) {
        hd_tape_reset(tape);
        hd_tape_infer(tape);
        const struct hd_memory *memory = hd_encode(net, tape, &batch, NULL);
        losses[i] = hd_forced_loss(
                        net, hd_teacher_force(net, tape, memory, &batch, i == 0 ? NULL : &drop), 0)
                        ->x[0];
    }
    assert_true(losses[0] == losses[1]);
    hd_tape_free(tape);
    hd_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shown_words_are_as_if_they_had_been_given),
        cmocka_unit_test(as_many_as_asked_for_are_the_models_own),
        cmocka_unit_test(validation_is_shown_the_target),
    };
    return cmocka_run_group_tests_name("model/scheduled_sampling", tests, NULL, NULL);
}
