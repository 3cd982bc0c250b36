/* test_bf16.c -- models whose products are of bf16, added in one chain or in blocks: their gradients are those of f32 as far as rounding lets them be, packed weights change no
 * bit, and they learn. */
#include "learn.h"

#include "model/checksum.h"

/* Loss and gradients of one batch, without dropout, after one packing or without. To be given to free(). */
static float *gradient_of(const struct model_checksum *m, enum checked_precision precision,
                          bool is_packed, float *loss, size_t *n)
{
    struct hd_config config = checksum_config(m);
    heed_error err = {0};
    assert_that(hd_config_check(&config, &err), "%s: %s", m->name, err.message);
    struct hd_net *net = hd_net_new(&config, &err);
    hd_tape *t = hd_tape_new(&err);
    assert_true(net && t);
    hd_net_init(net, 1);
    if (precision != CHECKED_F32)
        hd_params_multiply_bf16(net->params, precision == CHECKED_BF16_BLOCKS);
    *n = hd_params_size(net->params);
    float *gradients = some_floats(*n);
    for (int round = 0; round <= is_packed; round++) {
        static struct toy_batch toy_batch;
        static const struct toy toy = {"reverse", 21, 1, 7, make_reverse};
        struct hd_rng rng = {.key = 1};
        const struct hd_batch batch = make_toy_batch(&toy_batch, &toy, &rng, false, 24);
        memset(gradients, 0, *n * sizeof *gradients);
        hd_tape_reset(t);
        hd_tape_record(t, true);
        const struct hd_memory *memory = hd_encode(net, t, &batch, NULL);
        const struct hd_forced *forced = hd_teacher_force(net, t, memory, &batch, NULL);
        hd_node *node = forced ? hd_forced_loss(net, forced, 0.1F) : NULL;
        assert_that(node && hd_backward(node, gradients), "%s: %s", m->name,
                    hd_tape_error(t)->message);
        *loss = node->x[0];
        assert_true(hd_params_pack(net->params, &err)); /* what the first round asked for */
    }
    hd_tape_free(t);
    hd_net_free(net);
    return gradients;
}

static double distance(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sqrt(sum);
}

/* A bf16 is off by 2^-9 of itself at most. Errors of a product's operands are of random sign, so a product is off by about as much, and a
 * gradient that has gone through some products there and back by some such steps: 24 · 2^-9 is 5 %. */
static void gradients_are_those_of_f32_but_for_rounding(void **state)
{
    (void)state;
    const double bound = 24 * 0x1p-9;
    static const float nothing[1 << 16];
    for (int i = 0; i < 2 * N_MODEL_CHECKSUMS; i++) {
        const struct model_checksum *m = &model_checksums[i / 2];
        float loss[2];
        size_t n;
        float *exact = gradient_of(m, CHECKED_F32, false, &loss[0], &n);
        float *rounded = gradient_of(m, CHECKED_BF16 + i % 2, false, &loss[1], &n);
        assert_true(n <= sizeof nothing / sizeof *nothing);
        const double off = distance(exact, rounded, n) / distance(exact, nothing, n);
        const double loss_off = fabs((double)loss[1] / (double)loss[0] - 1);
        print_message("  %-34s gradient off by %.4f, loss by %.6f\n", m->name, off, loss_off);
        assert_that(off > 0 && off < bound, "%s: the gradient is off by %g", m->name, off);
        assert_that(loss_off < 0x1p-9, "%s: the loss is off by %g", m->name, loss_off);
        free(exact);
        free(rounded);
    }
}

static void packed_weights_change_no_bit(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * N_MODEL_CHECKSUMS; i++) {
        const struct model_checksum *m = &model_checksums[i / 2];
        float loss[2];
        size_t n;
        float *one = gradient_of(m, CHECKED_BF16 + i % 2, false, &loss[0], &n);
        float *other = gradient_of(m, CHECKED_BF16 + i % 2, true, &loss[1], &n);
        assert_that(memcmp(loss, loss + 1, sizeof *loss) == 0 &&
                        memcmp(one, other, n * sizeof *one) == 0,
                    "%s: packed, the loss is %.9g instead of %.9g", m->name, (double)loss[1],
                    (double)loss[0]);
        free(one);
        free(other);
    }
}

static void models_learn_to_reverse(void **state)
{
    (void)state;
    static const struct toy reversing = {"reverse", 11, 1, 12, make_reverse};
    static const char *const settings[] = {"transformer dim=48 heads=4 ffn=96 norm=pre",
                                           "luong dim=48"};
    static const struct course course = {.n_updates = IS_SANITIZED ? 20 : 800,
                                         .batch_size = 32,
                                         .warm_up = IS_SANITIZED ? 2 : 80,
                                         .rate = 4e-3F,
                                         .seed = 1};
    for (int i = 0; i < 2; i++) {
        struct learner l = learner_new(settings[i], &reversing, course.seed);
        hd_params_multiply_bf16(l.net->params, i == 0);
        learn(&l, &reversing, &course);
        const double percent = exact_answers(&l, &reversing, 77);
        print_message("  %-60s %5.1f %%\n", settings[i], percent);
        assert_that(IS_SANITIZED || percent >= 90, "%s: %.1f %%", settings[i], percent);
        learner_free(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_those_of_f32_but_for_rounding),
        cmocka_unit_test(packed_weights_change_no_bit),
        cmocka_unit_test(models_learn_to_reverse),
    };
    return cmocka_run_group_tests_name("model/bf16", tests, NULL, NULL);
}
