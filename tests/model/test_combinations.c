/* test_combinations.c -- every way of putting a model together is a model with right derivatives, or is refused.
 *
 * The same sources as in the library, built once more with `float` meaning `double`, as in tests/graph/test_gradients.c: what
 * is compared is the formula, undisturbed by rounding. For each combination the loss of a small ragged batch is differentiated
 * by the tape, and by (L(w + h) - L(w - h)) / 2h for some numbers of every parameter. */
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "double.h" /* heed in double precision */

#include "graph/attention.c"
#include "graph/cell_ops.c"
#include "graph/context.c"
#include "graph/ctc.c"
#include "graph/elementwise.c"
#include "graph/init.c"
#include "graph/linear.c"
#include "graph/location.c"
#include "graph/loss.c"
#include "graph/output_layer.c"
#include "graph/params.c"
#include "graph/ragged.c"
#include "graph/recurrence.c"
#include "graph/reduce.c"
#include "graph/scan.c"
#include "graph/score_ops.c"
#include "graph/shape.c"
#include "graph/spans.c"
#include "graph/tape.c"

#include "model/asking.c"
#include "model/cache.c"
#include "model/cell.c"
#define fill fill_config /* files that have never met */
#include "model/config_check.c"
#undef fill
#include "model/config.c"
#include "model/ctc_head.c"
#include "model/decoder.c"
#include "model/describe.c"
#include "model/encoder.c"
#include "model/fields.c"
#include "model/head.c"
#include "model/head_label.c"
#include "model/head_span.c"
#include "model/head_words.c"
#include "model/model.c"
#include "model/param.c"
#include "model/placement.c"
#include "model/position.c"
#include "model/presets.c"
#include "model/readout.c"
#include "model/rnn.c"
#include "model/score.c"
#include "model/screen.c"
#include "model/source_none.c"
#include "model/source_question.c"
#include "model/source_text.c"
#include "model/first_state.c"
#include "model/transformer.c"
#include "model/weights.c"

#include "option/option.c"

#include "combinations.h"

/* ---- the check ------------------------------------------------------------------------------- */

enum { SAMPLE = 6 }; /* numbers of each parameter that are moved */

/* All numbers in (-0.8, 0.8), gains about 1: far from the zeros that training begins with. */
static void fill_params(hd_params *params, uint64_t seed)
{
    for (int i = 0; i < hd_params_number(params); i++) {
        hd_node *p = hd_params_at(params, i);
        hd_init_uniform(p, 0.8, seed);
        const char *dot = strrchr(hd_param_name(p), '.');
        for (size_t j = 0; dot && strcmp(dot, ".gain") == 0 && j < hd_count(p); j++)
            p->x[j] += 1;
    }
}

static double loss_of(const struct hd_net *net, hd_tape *tape, double *gradients, const char *name)
{
    const struct hd_batch batch = toy_batch_of(&net->config);
    hd_tape_reset(tape);
    hd_tape_record(tape, gradients != NULL);
    const struct hd_memory *memory = hd_encode(net, tape, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, tape, memory, &batch, NULL);
    hd_node *loss = forced ? hd_forced_loss(net, forced, 0.1) : NULL;
    loss = loss ? hd_with_ctc(net, memory, &batch, NULL, loss, NULL) : NULL;
    if (!loss || hd_tape_error(tape)->code)
        fail_msg("%s: %s", name, hd_tape_error(tape)->message);
    if (gradients)
        assert_true(hd_backward(loss, gradients));
    return loss->x[0];
}

static double slope(const struct hd_net *net, hd_tape *tape, double *x, const char *name)
{
    const double h = 1e-5, was = *x;
    *x = was + h;
    const double above = loss_of(net, tape, NULL, name);
    *x = was - h;
    const double below = loss_of(net, tape, NULL, name);
    *x = was;
    return (above - below) / (2 * h);
}

/* A key's bias moves all scores of a query alike, which a softmax does not see. */
static bool may_be_idle(const char *param)
{
    const size_t n = strlen(param);
    return n >= 4 && strcmp(param + n - 4, ".k.b") == 0;
}

static void compare_param(const struct hd_net *net, hd_tape *tape, hd_node *p, const double *g,
                          const char *name)
{
    struct hd_rng rng = {.key = 11, .stream = hd_param_offset(p)};
    bool is_idle = true;
    for (size_t i = 0; i < hd_count(p); i++)
        is_idle = is_idle && g[i] == 0;
    if (is_idle && !may_be_idle(hd_param_name(p)))
        fail_msg("%s: no gradient reaches %s", name, hd_param_name(p));
    for (int n = 0; n < SAMPLE; n++) {
        const size_t count = hd_count(p);
        const size_t i = count <= SAMPLE ? (size_t)n % count : hd_rng_below(&rng, (uint32_t)count);
        const double expected = slope(net, tape, &p->x[i], name);
        if (!(fabs(g[i] - expected) <= 1e-8 + 1e-6 * fabs(expected)))
            fail_msg("%s: %s, number %zu: the gradient is %.10g, differences say %.10g", name,
                     hd_param_name(p), i, g[i], expected);
    }
}

/* The gradient as training makes it: with dropout, in one pass or in two that must agree, into a block that an aimed tape knows from the start. */
static void gradient_of_training(const struct hd_net *net, hd_tape *tape, double *block,
                                 bool *is_written, int n_passes, const char *name)
{
    const struct hd_dropouts drop = {
        .embed = 0.1, .state = 0.1, .attention = 0.1, .ffn = 0.1, .output = 0.1};
    const struct hd_batch batch = toy_batch_of(&net->config);
    hd_tape_reset(tape);
    hd_tape_record(tape, true);
    hd_tape_train(tape, 3);
    if (is_written)
        hd_tape_set_gradients(tape, block, is_written);
    const struct hd_forced *forced[2];
    const struct hd_memory *memory[2];
    for (int i = 0; i < n_passes; i++) {
        memory[i] = hd_encode(net, tape, &batch, &drop);
        forced[i] = hd_teacher_force(net, tape, memory[i], &batch, &drop);
        assert_non_null(forced[i]);
    }
    hd_node *loss = n_passes == 1 ? hd_forced_loss(net, forced[0], 0.1)
                                  : hd_forced_loss_pair(net, forced[0], forced[1], 0.1,
                                                        &(hd_consistency){0.5, 0.5, 1, 1});
    loss = hd_with_ctc(net, memory[0], &batch, &drop, loss, NULL);
    if (!hd_backward(loss, block))
        fail_msg("%s: %s", name, hd_tape_error(tape)->message);
}

/* What an aimed tape saves changes no number. */
static void compare_aimed(const struct hd_net *net, hd_tape *tape, int n_passes, const char *name)
{
    const size_t n = hd_params_size(net->params);
    double *added = calloc(n, sizeof *added), *written = calloc(n, sizeof *written);
    bool *is_written = calloc((size_t)hd_params_number(net->params), sizeof *is_written);
    assert_true(added && written && is_written);
    for (size_t i = 0; i < n; i++)
        written[i] = NAN;
    gradient_of_training(net, tape, added, NULL, n_passes, name);
    gradient_of_training(net, tape, written, is_written, n_passes, name);
    for (int i = 0; i < hd_params_number(net->params); i++) {
        const hd_node *p = hd_params_at(net->params, i);
        for (size_t j = hd_param_offset(p); j < hd_param_offset(p) + hd_count(p); j++)
            if (added[j] != (is_written[i] ? written[j] : 0))
                fail_msg("%s, %s: %g, aimed %g", name, hd_param_name(p), added[j], written[j]);
    }
    free(added);
    free(written);
    free(is_written);
}

struct count {
    int n_models, n_refused;
    hd_tape *tape;
};

static void compare_net(const struct hd_config *config, struct count *count, const char *name)
{
    heed_error err = {0};
    struct hd_net *net = hd_net_new(config, &err);
    if (!net)
        fail_msg("%s: %s", name, err.message);
    fill_params(net->params, 5);
    double *gradients = calloc(hd_params_size(net->params), sizeof *gradients);
    assert_non_null(gradients);
    loss_of(net, count->tape, gradients, name);
    for (int i = 0; i < hd_params_number(net->params); i++) {
        hd_node *p = hd_params_at(net->params, i);
        compare_param(net, count->tape, p, gradients + hd_param_offset(p), name);
    }
    compare_aimed(net, count->tape, 1, name);
    compare_aimed(net, count->tape, 2, name);
    hd_tape_infer(count->tape);
    free(gradients);
    hd_net_free(net);
    count->n_models++;
}

static void check_combination(const struct combination *c, void *data)
{
    struct count *count = data;
    struct hd_config config = toy_config(c->settings);
    heed_error err = {0};
    const bool is_model = hd_config_check(&config, &err);
    if (is_model != (c->verdict == IS_MODEL))
        fail_msg("%s: %s", c->settings, is_model ? "was not refused" : err.message);
    if (is_model) {
        compare_net(&config, count, c->settings);
        return;
    }
    count->n_refused++; /* with a sentence that says what against what, and a remedy */
    if (err.code != HEED_BAD_OPTION || !strchr(err.message, ';'))
        fail_msg("%s: code %d, \"%s\"", c->settings, (int)err.code, err.message);
}

static void every_combination_has_right_derivatives_or_is_refused(void **state)
{
    (void)state;
    heed_error err = {0};
    struct count count = {.tape = hd_tape_new(&err)};
    assert_non_null(count.tape);
    visit_all(check_combination, &count);
    hd_tape_free(count.tape);
    print_message("%d models, %d contradictions\n", count.n_models, count.n_refused);
    assert_true(count.n_models > 300 && count.n_refused > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_has_right_derivatives_or_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
