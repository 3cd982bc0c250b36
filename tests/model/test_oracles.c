/* test_oracles.c -- models that others trained give what their own makers got from them.
 *
 * Marian's models are imported, saved, loaded again, and then run: scores of given translations, greedy translations,
 * and soft alignments must be Marian's. The files are not part of the project; without them the tests say so and pass. */
#include "test.h"

#include "base/memory.h"
#include "graph/tape.h"
#include "model/import.h"
#include <math.h>
#include <unistd.h>

#ifndef SHARED_DIR
#define SHARED_DIR "../shared"
#endif

enum { SENTENCES = 200, LONGEST = 200 };

struct oracle {
    char folder[256];
    heed_model *model;
    hd_tape *once, *step[2]; /* the sentence's tape, and two that take turns */
};

static bool exists(const char *path)
{
    return access(path, R_OK) == 0;
}

static const char *in_folder(const struct oracle *o, const char *file, char path[400])
{
    snprintf(path, 400, "%s/%s", o->folder, file);
    return path;
}

/* Lines of a file, without their ends. */
static char **lines_of(const struct oracle *o, const char *file, int *n)
{
    char path[400], *line = NULL, **all = calloc(100000, sizeof *all);
    size_t size = 0;
    FILE *in = fopen(in_folder(o, file, path), "r");
    assert_that(in != NULL, "%s", path);
    for (*n = 0; getline(&line, &size, in) > 0; line = NULL, size = 0) {
        line[strcspn(line, "\n")] = '\0';
        all[(*n)++] = line;
    }
    free(line);
    fclose(in);
    return all;
}

static void free_lines(char **lines, int n)
{
    for (int i = 0; i < n; i++)
        free(lines[i]);
    free(lines);
}

static struct hd_ids encode(const struct hd_vocab *vocab, const char *text)
{
    struct hd_ids ids = {0};
    heed_error err = {0};
    const bool ok = hd_vocab_encode(vocab, text, strlen(text), true, &ids, &err);
    assert_that(ok, "%s", err.message);
    return ids;
}

/* Import, write, read again: what is tested below has been through our file. */
static bool open_oracle(struct oracle *o, const char *name)
{
    snprintf(o->folder, sizeof o->folder, "%s/oracles/%s", SHARED_DIR, name);
    char model[400], vocab[400], ours[] = "/tmp/heed-oracle-XXXXXX";
    if (!exists(in_folder(o, "model.npz", model))) {
        print_message("%s is not here: nothing to compare with\n", model);
        return false;
    }
    heed_error err = {0};
    const char *vocabs[] = {in_folder(o, "vocab.spm", vocab)};
    heed_model *imported = hd_import(model, vocabs, 1, &err);
    assert_that(imported != NULL, "%s", err.message);
    close(mkstemp(ours));
    const bool saved = hd_model_save(imported, ours, HD_F32, &err);
    assert_that(saved, "%s", err.message);
    o->model = hd_model_load(ours, &err);
    unlink(ours);
    assert_that(o->model != NULL, "%s", err.message);
    assert_int_equal(hd_params_size(imported->net->params), hd_params_size(o->model->net->params));
    assert_memory_equal(hd_params_values(imported->net->params), hd_params_values(o->model->net->params),
                        hd_params_size(imported->net->params) * sizeof(float));
    hd_model_free(imported);
    o->once = hd_tape_new(&err);
    o->step[0] = hd_tape_new(&err);
    o->step[1] = hd_tape_new(&err);
    assert_true(o->once && o->step[0] && o->step[1]);
    return true;
}

static void close_oracle(struct oracle *o)
{
    hd_model_free(o->model);
    hd_tape_free(o->once);
    hd_tape_free(o->step[0]);
    hd_tape_free(o->step[1]);
}

/* log p(y|x), taught. */
static double score(struct oracle *o, const char *source, const char *target)
{
    struct hd_ids x = encode(o->model->source, source), y = encode(o->model->target, target);
    const int S = (int)x.n, T = (int)y.n;
    const struct hd_batch batch = {.n = 1, .source = x.at, .source_length = &S, .target = y.at, .target_length = &T};
    hd_tape_reset(o->once);
    const struct hd_memory *memory = hd_encode(o->model->net, o->once, &batch, NULL);
    const struct hd_taught *taught = hd_teach(o->model->net, o->once, memory, &batch, NULL);
    assert_that(taught != NULL, "%s", hd_tape_error(o->once)->message);
    const double loss = (double)hd_taught_loss(o->model->net, taught, 0)->x[0];
    hd_ids_release(&x);
    hd_ids_release(&y);
    return -loss;
}

static void scores_are_marians(const char *name)
{
    struct oracle o = {0};
    if (!open_oracle(&o, name))
        return;
    int n, n_targets, n_scores;
    char **source = lines_of(&o, "source.en", &n), **target = lines_of(&o, "greedy.de", &n_targets);
    char **wanted = lines_of(&o, "score.txt", &n_scores);
    assert_true(n >= SENTENCES && n_targets == n && n_scores == n);
    double worst = 0;
    for (int i = 0; i < SENTENCES; i++) {
        const double there = score(&o, source[i], target[i]), expected = strtod(wanted[i], NULL);
        worst = fmax(worst, fabs(there - expected));
        assert_that(fabs(there - expected) <= 1e-3, "%s, line %d: %.6f, not %s", name, i + 1, there, wanted[i]);
    }
    print_message("%s: scores differ from Marian's by at most %.1e\n", name, worst);
    free_lines(source, n), free_lines(target, n_targets), free_lines(wanted, n_scores);
    close_oracle(&o);
}

/* The best word at every step, until the end marker, or three times as many as the source has, which is Marian's limit.
 * Returns their number; weights[t] are the alignment's. */
static int greedy(struct oracle *o, const struct hd_ids *x, int words[LONGEST], float (*weights)[LONGEST])
{
    const struct hd_net *net = o->model->net;
    const int S = (int)x->n, end = hd_vocab_end(o->model->target), sentence = 0, row = 0;
    const struct hd_batch batch = {.n = 1, .source = x->at, .source_length = &S};
    hd_tape_reset(o->once);
    const struct hd_memory *memory = hd_encode(net, o->once, &batch, NULL);
    assert_that(memory != NULL && S < LONGEST, "%s", hd_tape_error(o->once)->message);
    struct hd_state state = hd_decoder_start(net, o->once, memory, &sentence, 1);
    int previous = -1, t = 0;
    for (; t < LONGEST && t < 3 * S && previous != end; t++) {
        hd_tape *tape = o->step[t % 2];
        hd_tape_reset(tape);
        state = hd_state_gather(tape, &state, &row, 1);
        const struct hd_stepped now = hd_decoder_step(net, tape, memory, &state, &sentence, &previous, 1);
        const hd_node *logits = hd_logits(net, now.out);
        assert_that(hd_tape_error(tape)->code == HEED_OK, "%s", hd_tape_error(tape)->message);
        tape->k->top_k(&previous, &(float){0}, logits->x, hd_width(logits), 1);
        assert_true(hd_weights_of(net, &now.seen, 0, 0, -1, weights[t]));
        words[t] = previous;
        state = now.state;
    }
    return t;
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
    assert_that(*at == '\0' || strspn(at, " ") == strlen(at), "more than %d words of %d weights: %.20s", T, S, at);
    return worst;
}

static void greedy_translations_and_alignments_are_marians(const char *name)
{
    struct oracle o = {0};
    if (!open_oracle(&o, name))
        return;
    int n, n_targets, n_soft, n_same = 0;
    char **source = lines_of(&o, "source.en", &n), **target = lines_of(&o, "greedy.de", &n_targets);
    char **soft = lines_of(&o, "greedy.soft-alignment.txt", &n_soft);
    static float weights[LONGEST][LONGEST];
    double worst = 0;
    for (int i = 0; i < SENTENCES; i++) {
        struct hd_ids x = encode(o.model->source, source[i]);
        int words[LONGEST];
        heed_error err = {0};
        const int T = greedy(&o, &x, words, weights), S = (int)x.n;
        char *text = hd_vocab_decode(o.model->target, words, (size_t)T, &err); /* the end marker leaves no trace */
        assert_that(text != NULL, "%s", err.message);
        if (strcmp(text, target[i]) == 0) {
            const char *bars = strstr(soft[i], "||| ");
            const double differ = weights_differ(bars ? bars + 4 : soft[i], weights, T, S);
            worst = fmax(worst, differ);
            assert_that(differ <= 1e-3, "%s, line %d: attention differs by %g", name, i + 1, differ);
            n_same++;
        }
        hd_free(text);
        hd_ids_release(&x);
    }
    print_message("%s: %d of %d greedy translations are Marian's, their attention differs by at most %.1e\n", name, n_same,
                  SENTENCES, worst);
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
