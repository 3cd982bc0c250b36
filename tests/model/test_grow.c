/* test_grow.c -- a model taken over into a larger one says the same to the bit, and learns in all that is new. */
#include "combinations.h"
#include "test.h"

#include "model/grow.h"

static struct hd_config config_of(const char *settings)
{
    heed_error err = {0};
    struct hd_config c = toy_config(settings);
    assert_that(hd_config_check(&c, &err), "%s: %s", settings, err.message);
    return c;
}

static struct hd_net *net_of(const struct hd_config *c)
{
    heed_error err = {0};
    struct hd_net *net = hd_net_new(c, &err);
    assert_that(net, "%s", err.message);
    hd_net_init(net, 2);
    for (int i = 0; i < hd_params_number(net->params); i++)
        hd_init_uniform(hd_params_at(net->params, i), 0.8F, 4);
    return net;
}

static float loss_of(const struct hd_net *net, hd_tape *tape, float *gradients)
{
    const struct hd_batch batch = toy_batch_of(&net->config);
    const struct hd_dropouts drop = {0};
    hd_tape_reset(tape);
    hd_tape_record(tape, gradients != NULL);
    const struct hd_memory *memory = hd_encode(net, tape, &batch, &drop);
    hd_node *loss = hd_forced_loss(net, hd_teacher_force(net, tape, memory, &batch, &drop), 0.1F);
    assert_that(loss, "%s", hd_tape_error(tape)->message);
    if (gradients) {
        memset(gradients, 0, hd_params_size(net->params) * sizeof *gradients);
        assert_true(hd_backward(loss, gradients));
    }
    return loss->x[0];
}

static void what_has_grown_says_the_same(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"transformer", "transformer ffn=7"},
        {"transformer", "transformer ffn=600"},
        {"transformer norm=post", "transformer norm=post ffn=64"},
        {"transformer norm=pre", "transformer norm=pre encoder-layers=3"},
        {"transformer norm=pre ffn=5",
         "transformer norm=pre ffn=20 encoder-layers=2 decoder-layers=3"},
        {"transformer norm=pre final-norm=no",
         "transformer norm=pre final-norm=no decoder-layers=2"},
        {"transformer norm=pre dim=8 decoder=ssru",
         "transformer norm=pre dim=8 decoder=ssru ffn=9 encoder-layers=2"},
    };
    hd_tape *tape = hd_tape_new(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heed_error err = {0};
        const struct hd_config from = config_of(cases[i][0]);
        struct hd_config to = config_of(cases[i][1]);
        to.alignment_layer = from.alignment_layer;
        assert_that(hd_config_grows(&from, &to), "%s", cases[i][1]);
        struct hd_net *small = net_of(&from), *large = hd_net_grown(small, &to, 5, &err);
        assert_that(large, "%s: %s", cases[i][1], err.message);
        const float before = loss_of(small, tape, NULL), after = loss_of(large, tape, NULL);
        assert_that(before == after, "%s: %a became %a", cases[i][1], (double)before,
                    (double)after);
        hd_net_free(small);
        hd_net_free(large);
    }
    hd_tape_free(tape);
}

/* The zeros get gradients, so that an update moves them, and what reads for them is then no longer without one. */
static void what_is_new_can_learn(void **state)
{
    (void)state;
    heed_error err = {0};
    const struct hd_config from = config_of("transformer norm=pre");
    struct hd_config to =
        config_of("transformer norm=pre ffn=12 encoder-layers=2 decoder-layers=2");
    to.alignment_layer = from.alignment_layer;
    struct hd_net *small = net_of(&from), *large = hd_net_grown(small, &to, 5, &err);
    hd_tape *tape = hd_tape_new(NULL);
    const size_t size = hd_params_size(large->params);
    float *gradients = calloc(size, sizeof *gradients);
    loss_of(large, tape, gradients);
    static const char *const zeros[] = {"encoder.1.ffn.2.W",  "encoder.2.ffn.2.W",
                                        "encoder.2.self.o.W", "decoder.2.self.o.W",
                                        "decoder.2.ffn.2.W",  "decoder.2.cross.o.W"};
    size_t n_seen = 0;
    for (int i = 0; i < hd_params_number(large->params); i++) {
        const hd_node *p = hd_params_at(large->params, i);
        const float *at = gradients + hd_param_offset(p);
        for (size_t z = 0; z < sizeof zeros / sizeof *zeros; z++)
            if (strcmp(hd_param_name(p), zeros[z]) == 0) {
                const bool is_wider = z == 0;
                const size_t first = is_wider ? 6 * (size_t)p->dim[1] : 0;
                bool learns = false;
                for (size_t k = first; k < p->count; k++) {
                    assert_that(p->x[k] == 0, "%s has %g", zeros[z], (double)p->x[k]);
                    learns |= at[k] != 0;
                }
                assert_that(learns, "%s has no gradient", zeros[z]);
                n_seen++;
            }
    }
    assert_int_equal(n_seen, sizeof zeros / sizeof *zeros);
    free(gradients);
    hd_tape_free(tape);
    hd_net_free(small);
    hd_net_free(large);
}

static void other_changes_are_not_growth(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"transformer", "transformer"},
        {"transformer", "transformer ffn=5"},
        {"transformer norm=post", "transformer norm=post encoder-layers=2"},
        {"transformer norm=pre encoder-layers=2", "transformer norm=pre encoder-layers=1 ffn=9"},
        {"transformer norm=pre", "transformer norm=pre ffn=9 dim=6"},
        {"transformer norm=pre", "transformer norm=pre ffn=9 activation=gelu"},
        {"transformer norm=pre dim=8 decoder=ssru",
         "transformer norm=pre dim=8 decoder=ssru decoder-layers=2"},
        {"luong layers=1", "luong layers=2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct hd_config from = config_of(cases[i][0]);
        struct hd_config to = config_of(cases[i][1]);
        to.alignment_layer = from.alignment_layer;
        assert_that(!hd_config_grows(&from, &to), "%s", cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_grown_says_the_same),
        cmocka_unit_test(what_is_new_can_learn),
        cmocka_unit_test(other_changes_are_not_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
