/* test_oracles.c -- models that others trained give what their own makers got from them.
 *
 * Marian's models are imported, saved, loaded again, and then run: scores of given translations, greedy translations,
 * and soft alignments must be Marian's. The files are not part of the project; without them the
 * tests say so and are skipped. */
#include "oracle.h"

#include "model/import.h"
#include <math.h>

enum { SENTENCES = 200 };

/* Import, write, read again: what is tested below has been through our file. */
static struct oracle open_oracle(const char *name)
{
    struct oracle o = find_oracle(name, "model.npz");
    char model[1024], vocab[1024], ours[] = "/tmp/heed-oracle-XXXXXX";
    heed_error err = {0};
    const char *vocabs[] = {in_folder(&o, "vocab.spm", vocab)};
    heed_model *imported = heed_model_import(in_folder(&o, "model.npz", model), vocabs, 1, &err);
    assert_that(imported != NULL, "%s", err.message);
    close(mkstemp(ours));
    const bool saved = hd_model_save(imported, ours, HD_F32, &err);
    assert_that(saved, "%s", err.message);
    load_oracle(&o, ours);
    hd_params *before = imported->net->params, *after = o.model->net->params;
    assert_int_equal(hd_params_size(before), hd_params_size(after));
    for (int i = 0; i < hd_params_number(before); i++) {
        const hd_node *p = hd_params_at(before, i);
        float *stored = malloc(hd_count(p) * sizeof *stored);
        hd_param_read(hd_params_at(after, i), stored);
        assert_memory_equal(p->x, stored, hd_count(p) * sizeof *stored);
        free(stored);
    }
    heed_model_free(imported);
    return o;
}

/* log p(y|x), forced. */
static double score(struct oracle *o, const char *source, const char *target)
{
    struct hd_ids x = encode(o->model->source, source), y = encode(o->model->target, target);
    const int S = (int)x.n, T = (int)y.n;
    const struct hd_batch batch = {
        .n = 1, .source = x.at, .source_length = &S, .target = y.at, .target_length = &T};
    hd_tape_reset(o->once);
    const struct hd_memory *memory = hd_encode(o->model->net, o->once, &batch, NULL);
    const struct hd_forced *forced = hd_teacher_force(o->model->net, o->once, memory, &batch, NULL);
    assert_that(forced != NULL, "%s", hd_tape_error(o->once)->message);
    const double loss = (double)hd_forced_loss(o->model->net, forced, 0)->x[0];
    hd_ids_release(&x);
    hd_ids_release(&y);
    return -loss;
}

static void scores_are_marians(const char *name)
{
    struct oracle o = open_oracle(name);
    int n, n_targets, n_scores;
    char **source = lines_of(&o, "source.en", &n), **target = lines_of(&o, "greedy.de", &n_targets);
    char **wanted = lines_of(&o, "score.txt", &n_scores);
    assert_true(n >= SENTENCES && n_targets == n && n_scores == n);
    double worst = 0;
    for (int i = 0; i < SENTENCES; i++) {
        const double there = score(&o, source[i], target[i]), expected = strtod(wanted[i], NULL);
        worst = fmax(worst, fabs(there - expected));
        assert_that(fabs(there - expected) <= 1e-3, "%s, line %d: %.6f, not %s", name, i + 1, there,
                    wanted[i]);
    }
    print_message("%s: scores differ from Marian's by at most %.1e\n", name, worst);
    free_lines(source, n), free_lines(target, n_targets), free_lines(wanted, n_scores);
    close_oracle(&o);
}

/* A line has, for every word, the weights of the source positions with commas between. */
static double weights_differ(const char *line, float (*weights)[LONGEST], int T, int S)
{
    double worst = 0;
    char *at = (char *)line;
    for (int t = 0; t < T; t++)
        for (int j = 0; j < S; j++) {
            char *after;
            const double expected = strtod(at, &after);
            assert_that(after != at, "the line ends at word %d, position %d", t, j);
            worst = fmax(worst, fabs(expected - (double)weights[t][j]));
            at = after + (*after == ',');
        }
    assert_that(*at == '\0' || strspn(at, " ") == strlen(at),
                "more than %d words of %d weights: %.20s", T, S, at);
    return worst;
}

static void greedy_translations_and_alignments_are_marians(const char *name)
{
    struct oracle o = open_oracle(name);
    int n, n_targets, n_soft, n_same = 0;
    char **source = lines_of(&o, "source.en", &n), **target = lines_of(&o, "greedy.de", &n_targets);
    char **soft = lines_of(&o, "greedy.soft-alignment.txt", &n_soft);
    static float weights[LONGEST][LONGEST];
    double worst = 0;
    for (int i = 0; i < SENTENCES; i++) {
        struct hd_ids x = encode(o.model->source, source[i]);
        int words[LONGEST];
        const int S = (int)x.n, T = greedy(&o, &x, words, weights, 3 * S); /* Marian's limit */
        char *text = text_of(&o, words, T);
        if (strcmp(text, target[i]) == 0) {
            const char *bars = strstr(soft[i], "||| ");
            const double differ = weights_differ(bars ? bars + 4 : soft[i], weights, T, S);
            worst = fmax(worst, differ);
            assert_that(differ <= 1e-3, "%s, line %d: attention differs by %g", name, i + 1,
                        differ);
            n_same++;
        }
        hd_free(text);
        hd_ids_release(&x);
    }
    print_message(
        "%s: %d of %d greedy translations are Marian's, their attention differs by at most %.1e\n",
        name, n_same, SENTENCES, worst);
    assert_that(n_same >= 198, "only %d of %d", n_same, SENTENCES);
    free_lines(source, n), free_lines(target, n_targets), free_lines(soft, n_soft);
    close_oracle(&o);
}

static void the_transformer_scores_as_marian_does(void **state)
{
    (void)state;
    scores_are_marians("marian-ende-transformer");
}

static void the_rnn_scores_as_marian_does(void **state)
{
    (void)state;
    scores_are_marians("marian-ende-rnn");
}

static void the_transformer_translates_and_attends_as_marian_does(void **state)
{
    (void)state;
    greedy_translations_and_alignments_are_marians("marian-ende-transformer");
}

static void the_rnn_translates_and_attends_as_marian_does(void **state)
{
    (void)state;
    greedy_translations_and_alignments_are_marians("marian-ende-rnn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_transformer_scores_as_marian_does),
        cmocka_unit_test(the_rnn_scores_as_marian_does),
        cmocka_unit_test(the_transformer_translates_and_attends_as_marian_does),
        cmocka_unit_test(the_rnn_translates_and_attends_as_marian_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
