/* test_searcher.c -- sentences that come at any time, each with options of its own, leave with what they would have got alone. */
#include "test.h"

#include "search/toy.h"

#include <math.h>

enum { N = 24 };

/* Options of the i-th sentence: every kind of search is among them. */
static struct hd_search_options options_of(const struct hd_net *net, int i)
{
    struct hd_search_options o = hd_search_options_default();
    o.beam = 1 + i % 4;
    o.n_best = 1 + i % o.beam;
    o.wants_attention = i % 3 == 0 && has_attention(net);
    o.no_repeat = i % 5 == 4 ? 2 : 0;
    o.is_sampled = i % 6 == 5;
    o.words_alone = !o.is_sampled && o.beam == 1 && i % 8 == 0;
    o.norm = i % 2 ? HD_LENGTH_GNMT : HD_LENGTH_POWER;
    return o;
}

static void search_alone(const struct hd_net *net, const struct toy_text *text,
                         struct hd_nbest *alone)
{
    for (int i = 0; i < text->n; i++) {
        const struct hd_search_options o = options_of(net, i);
        search_toys(&net, 1, &text->input[i], 1, &o, &alone[i], "alone");
    }
}

static struct hd_searcher *new_searcher(const struct hd_net *net)
{
    heed_error err = {0};
    struct hd_searcher *s = hd_searcher_new(&net, 1, END, &err);
    assert_that(s != NULL, "%s", err.message);
    hd_searcher_set_rows(s, 7);
    return s;
}

static void add(struct hd_searcher *s, const struct hd_net *net, struct toy_text *text, int i)
{
    heed_error err = {0};
    const struct hd_search_options o = options_of(net, i);
    assert_that(hd_searcher_add(s, &text->input[i], &o, &text->input[i], &err), "%s", err.message);
}

static void assert_words_alone(const struct hd_nbest *a, const struct hd_nbest *b)
{
    assert_true(a->n == 1 && b->n == 1 && a->best->n == b->best->n && !a->best->logprob);
    assert_true(a->best->n == 0 ||
                memcmp(a->best->ids, b->best->ids, (size_t)a->best->n * sizeof(int)) == 0);
}

/* Take what is finished; how many. */
static int take_all(struct hd_searcher *s, const struct hd_net *net, const struct toy_text *text,
                    const struct hd_nbest *alone, bool *is_taken)
{
    struct hd_nbest nbest;
    void *tag;
    int n = 0;
    for (; hd_searcher_take(s, &nbest, &tag); n++) {
        const int i = (int)((const struct hd_search_input *)tag - text->input);
        assert_false(is_taken[i]);
        is_taken[i] = true;
        if (options_of(net, i).words_alone)
            assert_words_alone(&nbest, &alone[i]);
        else
            assert_same_found(&nbest, &alone[i], text->input[i].source.n, "with others");
        hd_nbest_release(&nbest);
    }
    return n;
}

static void step(struct hd_searcher *s)
{
    heed_error err = {0};
    assert_that(hd_searcher_step(s, &err), "%s", err.message);
}

static void sentences_may_come_at_any_time_and_have_options_of_their_own(void **state)
{
    (void)state;
    static const char *const nets_of[] = {
        "seq2seq", "bahdanau coverage=yes", "luong local=p", "wang", "ferreira", "transformer"};
    foreach (p, nets_of)
        for (int every = 0; every < 4; every++) { /* steps between two sentences */
            struct hd_net *net = toy_net(nets_of[p], 11, 0.9F, 3);
            struct toy_text *text = toy_text(N, 12, 5);
            struct hd_nbest alone[N];
            bool is_taken[N] = {false};
            search_alone(net, text, alone);
            struct hd_searcher *s = new_searcher(net);
            int n_taken = 0;
            for (int i = 0; i < N; i++) {
                add(s, net, text, i);
                for (int k = 0; k < every; k++)
                    step(s);
                n_taken += take_all(s, net, text, alone, is_taken);
            }
            while (hd_searcher_size(s) > 0)
                step(s);
            n_taken += take_all(s, net, text, alone, is_taken);
            assert_int_equal(n_taken, N);
            hd_searcher_free(s);
            release_all(alone, N);
            hd_net_free(net);
            free(text);
        }
}

static void cancelling_some_changes_nothing_for_the_others(void **state)
{
    (void)state;
    static const char *const nets_of[] = {"transformer", "bahdanau"};
    foreach (p, nets_of)
        for (int after = 0; after < 9; after++) { /* steps before the cancelling */
            struct hd_net *net = toy_net(nets_of[p], 11, 0.9F, 3);
            struct toy_text *text = toy_text(N, 12, 6);
            struct hd_nbest alone[N];
            bool is_taken[N] = {false};
            search_alone(net, text, alone);
            struct hd_searcher *s = new_searcher(net);
            for (int i = 0; i < N; i++)
                add(s, net, text, i);
            for (int k = 0; k < after; k++)
                step(s);
            for (int i = 0; i < N; i += 2) {
                assert_true(hd_searcher_cancel(s, &text->input[i]));
                assert_false(hd_searcher_cancel(s, &text->input[i]));
            }
            while (hd_searcher_size(s) > 0)
                step(s);
            assert_int_equal(take_all(s, net, text, alone, is_taken), N / 2);
            for (int i = 0; i < N; i++)
                assert_int_equal(is_taken[i], i % 2);
            /* and what was cancelled may come back */
            for (int i = 0; i < N; i += 2)
                add(s, net, text, i);
            while (hd_searcher_size(s) > 0)
                step(s);
            assert_int_equal(take_all(s, net, text, alone, is_taken), N / 2);
            hd_searcher_free(s);
            release_all(alone, N);
            hd_net_free(net);
            free(text);
        }
}

static void a_sentence_that_cannot_be_searched_is_refused_alone(void **state)
{
    (void)state;
    struct hd_net *net = toy_net("transformer", 11, 0.9F, 3);
    struct toy_text *text = toy_text(N, 12, 7);
    struct hd_nbest alone[N];
    bool is_taken[N] = {false};
    search_alone(net, text, alone);
    struct hd_searcher *s = new_searcher(net);
    const int beyond[] = {TOY_SOURCE};
    const struct hd_search_input bad = {.source = {.ids = beyond, .n = 1}, .max_length = 5};
    struct hd_search_options o = hd_search_options_default();
    for (int i = 0; i < N; i++) {
        heed_error err = {0};
        add(s, net, text, i);
        o.wants_attention = i % 2;
        o.head = i % 2 ? 99 : -1;
        assert_false(hd_searcher_add(s, i % 2 ? &text->input[i] : &bad, &o, &o, &err));
        assert_int_equal(err.code, HEED_BAD_OPTION);
        step(s);
    }
    while (hd_searcher_size(s) > 0)
        step(s);
    assert_int_equal(take_all(s, net, text, alone, is_taken), N);
    hd_searcher_free(s);
    release_all(alone, N);
    hd_net_free(net);
    free(text);
}

static void the_longest_output_grows_by_a_word_each_step(void **state)
{
    (void)state;
    struct hd_net *net = toy_net("transformer", 11, 0.9F, 3);
    struct toy_text *text = toy_text(N, 12, 9);
    struct hd_searcher *s = new_searcher(net);
    assert_int_equal(hd_searcher_longest(s), 0);
    add(s, net, text, 0);
    for (int longest = 0; hd_searcher_size(s) > 0;) {
        step(s);
        assert_int_equal(hd_searcher_longest(s), hd_searcher_size(s) > 0 ? ++longest : 0);
    }
    hd_searcher_free(s);
    hd_net_free(net);
    free(text);
}

/* The embedding of one word is no number; whoever does not read it does not mind. */
static void a_broken_sentence_does_not_take_others_along(void **state)
{
    (void)state;
    enum { WORD = 2 };
    struct hd_net *net = toy_net("transformer", 11, 0.9F, 3);
    struct toy_text *text = toy_text(N, 12, 8);
    const int width = net->source.table->dim[1];
    for (int i = 0; i < width; i++)
        net->source.table->x[WORD * width + i] = NAN;
    struct hd_searcher *s = new_searcher(net);
    int n_broken = 0;
    for (int i = 0; i < N; i++)
        add(s, net, text, i);
    while (hd_searcher_size(s) > 0)
        step(s);
    struct hd_nbest nbest;
    void *tag;
    for (int n = 0; hd_searcher_take(s, &nbest, &tag); n++) {
        const struct hd_search_input *in = tag;
        bool reads_it = false;
        for (int j = 0; j < in->source.n; j++)
            reads_it = reads_it || in->source.ids[j] == WORD;
        assert_int_equal(nbest.n == 0, reads_it);
        n_broken += reads_it;
        hd_nbest_release(&nbest);
    }
    assert_true(n_broken > 0 && n_broken < N);
    hd_searcher_free(s);
    hd_net_free(net);
    free(text);
}

static void after_a_failed_allocation_a_cleared_searcher_is_as_good_as_new(void **state)
{
    (void)state;
    struct hd_net *net = toy_net("transformer", 11, 0.9F, 3);
    struct toy_text *text = toy_text(N, 12, 9);
    struct hd_nbest alone[N];
    search_alone(net, text, alone);
    struct hd_searcher *s = new_searcher(net);
    for (long n_failed = 0, is_done = 0; !is_done; n_failed++) {
        heed_error err = {0};
        bool ok = true;
        hd_alloc_fail_after(n_failed);
        for (int i = 0; ok && i < N; i++) {
            const struct hd_search_options o = options_of(net, i);
            ok = hd_searcher_add(s, &text->input[i], &o, &text->input[i], &err);
        }
        while (ok && hd_searcher_size(s) > 0)
            ok = hd_searcher_step(s, &err);
        hd_alloc_fail_after(-1);
        assert_that(ok || err.code == HEED_NO_MEMORY, "allocation %ld: %s", n_failed, err.message);
        is_done = ok;
        if (!ok)
            hd_searcher_clear(s);
        assert_int_equal(hd_searcher_size(s), 0);
    }
    bool is_taken[N] = {false};
    assert_int_equal(take_all(s, net, text, alone, is_taken), N);
    hd_searcher_free(s);
    release_all(alone, N);
    hd_net_free(net);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_may_come_at_any_time_and_have_options_of_their_own),
        cmocka_unit_test(cancelling_some_changes_nothing_for_the_others),
        cmocka_unit_test(a_sentence_that_cannot_be_searched_is_refused_alone),
        cmocka_unit_test(the_longest_output_grows_by_a_word_each_step),
        cmocka_unit_test(a_broken_sentence_does_not_take_others_along),
        cmocka_unit_test(after_a_failed_allocation_a_cleared_searcher_is_as_good_as_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
