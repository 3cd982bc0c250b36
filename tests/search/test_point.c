/* test_point.c -- spans of documents: the likeliest are found, their probabilities sum to 1, and neighbours change nothing. */
#include "test.h"

#include "base/memory.h"
#include "model/model.h"
#include "search/decide.h"

#include <math.h>

static struct hd_net *new_net(const char *arch, int max_answer)
{
    heed_error err = {0};
    const bool is_transformer = strcmp(arch, "transformer") == 0;
    struct hd_config c =
        hd_config_preset(is_transformer ? HD_TRANSFORMER : HD_BAHDANAU, HD_SIZE_TINY);
    c.task = HD_TASK_SPAN;
    c.dim = c.embed = c.encoder_dim = 8;
    c.heads = 2;
    c.ffn = 8;
    c.encoder_layers = 1;
    c.source_vocab = c.target_vocab = 9;
    c.max_answer = max_answer;
    assert_that(hd_config_check(&c, &err), "%s", err.message);
    struct hd_net *net = hd_net_new(&c, &err);
    assert_that(net != NULL, "%s", err.message);
    hd_net_init(net, 3);
    for (size_t i = 0; i < hd_params_size(net->params); i++) /* decided, but not too much so */
        hd_params_values(net->params)[i] *= 2;
    return net;
}

static const int words[] = {3, 1, 4, 1, 5, 8, 2, 6}, asked[] = {1, 7, 2};
static const struct hd_search_input inputs[] = {
    {.source = {.ids = words, .n = 8, .question = asked, .n_question = 2}},
    {.source = {.ids = words + 2, .n = 1, .question = asked, .n_question = 3}},
    {.source = {.ids = words + 1, .n = 5, .question = asked + 1, .n_question = 1}},
};
enum { N = 3 };

static struct hd_search_options options_of(int n_best)
{
    struct hd_search_options o = hd_search_options_default();
    o.beam = o.n_best = n_best;
    o.wants_attention = true;
    return o;
}

static void point(const struct hd_net *const *nets, int n_nets, const struct hd_search_input *in,
                  size_t n, int n_best, struct hd_nbest *found)
{
    heed_error err = {0};
    const struct hd_search_options o = options_of(n_best);
    assert_that(hd_decide(nets, n_nets, in, n, &o, found, &err), "%s", err.message);
}

/* -log p(start) - log p(end | start) as training has it. */
static double loss_of(const struct hd_net *net, struct hd_sequence source, const int span[2])
{
    heed_error err = {0};
    hd_tape *tape = hd_tape_new(&err);
    struct hd_batch_builder builder = {0};
    hd_batch_begin(&builder);
    assert_true(
        hd_batch_add(&builder, source, (struct hd_sequence){.ids = span, .n = 2}, -1, &err));
    const struct hd_batch batch = hd_batch_of(&builder);
    const struct hd_memory *memory = hd_encode(net, tape, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(net, tape, memory, &batch, NULL);
    assert_that(forced != NULL, "%s", hd_tape_error(tape)->message);
    const double loss = (double)hd_forced_loss(net, forced, 0)->x[0];
    hd_batch_builder_release(&builder);
    hd_tape_free(tape);
    return loss;
}

static void check_spans(const struct hd_net *net, const struct hd_search_input *in,
                        const struct hd_nbest *found)
{
    const int P = in->source.n, most = net->config.max_answer;
    int n_spans = 0;
    double sum = 0, before = 0;
    for (int j = 0; j < P; j++)
        n_spans += P - j < most ? P - j : most;
    assert_int_equal(found->n, n_spans); /* all of them were asked for */
    for (int k = 0; k < found->n; k++) {
        const struct hd_hypothesis *h = &found->best[k];
        const int first = h->ids[0], last = h->ids[1];
        assert_true(h->n == 2 && first >= 0 && last >= first && last < P && last - first < most);
        assert_true(h->total <= before || k == 0);
        before = h->total;
        sum += exp(h->total);
        const double p = (double)h->attention[first] * (double)h->attention[P + last];
        assert_that(fabs(p - exp(h->total)) < 1e-6, "the weights say %g, the score %g", p,
                    exp(h->total));
        double starts = 0, ends = 0;
        for (int j = 0; j < P; j++) {
            starts += (double)h->attention[j];
            ends += (double)h->attention[P + j];
        }
        assert_true(fabs(starts - 1) < 1e-5 && fabs(ends - 1) < 1e-5);
        const double loss = loss_of(net, in->source, h->ids);
        assert_that(fabs(loss + h->total) < 1e-4, "trained as %g, found as %g", -loss, h->total);
    }
    assert_that(fabs(sum - 1) < 1e-6, "all spans together have %g", sum);
}

static void all_spans_are_found_best_first_and_sum_to_one(void **state)
{
    (void)state;
    for (int most = 1; most <= 30; most = 3 * most + 1)
        for (int arch = 0; arch < 2; arch++) {
            struct hd_net *net = new_net(arch ? "transformer" : "bahdanau", most);
            const struct hd_net *nets[] = {net};
            struct hd_nbest found[N];
            point(nets, 1, inputs, N, 100, found);
            for (int i = 0; i < N; i++) {
                check_spans(net, &inputs[i], &found[i]);
                hd_nbest_release(&found[i]);
            }
            hd_net_free(net);
        }
}

static void neighbours_change_nothing(void **state)
{
    (void)state;
    for (int arch = 0; arch < 2; arch++) {
        struct hd_net *net = new_net(arch ? "transformer" : "bahdanau", 4);
        const struct hd_net *nets[] = {net};
        struct hd_nbest together[N], alone;
        point(nets, 1, inputs, N, 3, together);
        for (int i = 0; i < N; i++) {
            point(nets, 1, &inputs[i], 1, 3, &alone);
            assert_int_equal(alone.n, together[i].n);
            for (int k = 0; k < alone.n; k++) {
                const struct hd_hypothesis *a = &alone.best[k], *b = &together[i].best[k];
                assert_memory_equal(a->ids, b->ids, 2 * sizeof *a->ids);
                assert_memory_equal(a->logprob, b->logprob, 2 * sizeof *a->logprob);
                assert_memory_equal(a->attention, b->attention,
                                    2 * (size_t)inputs[i].source.n * sizeof *a->attention);
            }
            hd_nbest_release(&alone);
            hd_nbest_release(&together[i]);
        }
        hd_net_free(net);
    }
}

static void a_net_agrees_with_itself(void **state)
{
    (void)state;
    struct hd_net *net = new_net("bahdanau", 4);
    const struct hd_net *nets[] = {net, net};
    struct hd_nbest one[N], two[N];
    point(nets, 1, inputs, N, 2, one);
    point(nets, 2, inputs, N, 2, two);
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < one[i].n; k++) {
            assert_memory_equal(one[i].best[k].ids, two[i].best[k].ids, 2 * sizeof(int));
            assert_true(fabs(one[i].best[k].total - two[i].best[k].total) < 1e-6);
        }
        hd_nbest_release(&one[i]);
        hd_nbest_release(&two[i]);
    }
    hd_net_free(net);
}

static void what_has_no_question_or_no_document_is_refused(void **state)
{
    (void)state;
    struct hd_net *net = new_net("bahdanau", 4);
    const struct hd_net *nets[] = {net};
    const struct hd_search_options o = options_of(1);
    const struct hd_search_input bad[] = {
        {.source = {.ids = words, .n = 8}},
        {.source = {.ids = words, .n = 0, .question = asked, .n_question = 1}},
        {.source = {.ids = words, .n = 2, .question = asked, .n_question = 0}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        heed_error err = {0};
        struct hd_nbest found;
        assert_false(hd_decide(nets, 1, &bad[i], 1, &o, &found, &err));
        assert_int_equal(err.code, HEED_BAD_OPTION);
    }
    hd_net_free(net);
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    struct hd_net *net = new_net("bahdanau", 4);
    const struct hd_net *nets[] = {net};
    const struct hd_search_options o = options_of(3);
    bool is_done = false;
    for (long n = 0; !is_done && n < 1000; n++) {
        heed_error err = {0};
        struct hd_nbest found[N];
        hd_alloc_fail_after(n);
        is_done = hd_decide(nets, 1, inputs, N, &o, found, &err);
        hd_alloc_fail_after(-1);
        assert_true(is_done || err.code == HEED_NO_MEMORY);
        for (int i = 0; i < N; i++)
            hd_nbest_release(&found[i]);
    }
    assert_true(is_done);
    hd_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_spans_are_found_best_first_and_sum_to_one),
        cmocka_unit_test(neighbours_change_nothing),
        cmocka_unit_test(a_net_agrees_with_itself),
        cmocka_unit_test(what_has_no_question_or_no_document_is_refused),
        cmocka_unit_test(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
