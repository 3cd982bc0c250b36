/* test_real.c -- real text through models that Marian trained: the same bits for any batch, threads, order and kernel; Marian's soft
 * alignments. The files are not part of the project; without them the tests say so and are skipped. */
#include "model/oracle.h"
#include "translate/translated.h"

#include "kernel/kernel.h"

#include <math.h>

static heed_model *open_marian(struct oracle *o, const char *name)
{
    *o = find_oracle(name, "model.npz");
    char model[1024], vocab[1024];
    heed_error err = {0};
    const char *vocabs[] = {in_folder(o, "vocab.spm", vocab)};
    heed_model *m = heed_model_import(in_folder(o, "model.npz", model), vocabs, 1, &err);
    assert_that(m != NULL, "%s", err.message);
    return m;
}

/* All numbers and texts of results in one; the order of the results does not matter. */
static uint64_t checksum(const heed_results *r)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->n; i++) {
        const heed_result *x = r->at[i];
        const heed_translation *t = x->translations[0];
        uint64_t h = 0xCBF29CE484222325U;
        const struct {
            const void *at;
            size_t n;
        } all[] = {{x->source, strlen(x->source)},
                   {t->text, strlen(t->text)},
                   {&t->score, sizeof t->score},
                   {&t->logprob, sizeof t->logprob},
                   {&t->confidence, sizeof t->confidence},
                   {t->attention, x->n_words * t->n_words * sizeof(float)},
                   {t->subword_attention, x->n_subwords * t->n_subwords * sizeof(float)},
                   {t->links, t->n_links * sizeof(heed_link)}};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            for (size_t b = 0; b < all[k].n; b++)
                h = (h ^ ((const unsigned char *)all[k].at)[b]) * 0x100000001B3U;
        sum += h;
    }
    return sum;
}

static uint64_t run(heed_translator *t, char *const *texts, int n)
{
    heed_error err = {0};
    heed_results *r = heed_translator_translate(t, (const char *const *)texts, (size_t)n, &err);
    assert_that(r != NULL, "%s", err.message);
    const uint64_t sum = checksum(r);
    heed_results_free(r);
    return sum;
}

static void nothing_around_a_sentence_changes_a_bit(void **state)
{
    (void)state;
    static const char *const names[] = {"marian-ende-transformer", "marian-ende-rnn"};
    enum { N = 60 };
    for (int k = 0; k < 2; k++) {
        struct oracle o;
        heed_model *m = open_marian(&o, names[k]);
        int n;
        char **texts = lines_of(&o, "source.en", &n);
        assert_true(n >= N);
        heed_translator *t = translator_of(m, "threads=1");
        const uint64_t wanted = run(t, texts, N);
        for (int i = 0; i < N / 2; i++) { /* another order */
            char *other = texts[i];
            texts[i] = texts[N - 1 - i];
            texts[N - 1 - i] = other;
        }
        static const char *const ways[] = {"batch=1 threads=1", "batch=7 threads=2",
                                           "batch=64 threads=3"};
        for (int w = 0; w < 3; w++) {
            assert_true(set_all(t, ways[w], NULL));
            assert_that(run(t, texts, N) == wanted, "%s: %s", names[k], ways[w]);
        }
        heed_translator_free(t);
        free_lines(texts, n);
        heed_model_free(m);
    }
}

/* All but that of confidence, which needs scores. */
static size_t n_warnings(const heed_result *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_warnings; i++)
        n += strncmp(r->warnings[i], "unsure:", 7) != 0;
    return n;
}

static void texts_are_the_same_without_scores(void **state)
{
    (void)state;
    static const char *const names[] = {"marian-ende-transformer", "marian-ende-rnn"};
    enum { N = 150 };
    for (int k = 0; k < 2; k++) {
        struct oracle o;
        heed_model *m = open_marian(&o, names[k]);
        int n;
        char **texts = lines_of(&o, "source.en", &n);
        assert_true(n >= N);
        heed_results *with = translated(m, (const char *const *)texts, N, "beam=1");
        static const int sizes[] = {N, 1, 3}; /* few are searched in another way than many */
        for (int s = 0; s < 3; s++) {
            const size_t n_texts = (size_t)sizes[s];
            heed_results *without =
                translated(m, (const char *const *)texts, n_texts, "beam=1 scores=no");
            for (size_t i = 0; i < n_texts; i++) {
                const heed_translation *a = with->at[i]->translations[0],
                                       *b = without->at[i]->translations[0];
                assert_string_equal(a->text, b->text);
                assert_int_equal(n_warnings(with->at[i]), n_warnings(without->at[i]));
                assert_int_equal(a->n_links, b->n_links);
                assert_true(a->logprob < 0 && b->logprob == 0 && b->score == 0 &&
                            b->confidence == 0);
                for (size_t w = 0; w < b->n_words; w++)
                    assert_true(b->words[w].logprob == 0 && b->words[w].confidence == 0);
            }
            heed_results_free(without);
        }
        heed_results_free(with);
        free_lines(texts, n);
        heed_model_free(m);
    }
}

/* Its beam search ends in "mit dem Leben mit dem Leben mit dem Leben..." */
static void circles_are_left(void **state)
{
    (void)state;
    struct oracle o;
    heed_model *m = open_marian(&o, "marian-ende-transformer");
    const char *text = "It was when I was eight years old that I climbed Mt. Fuji with my father.";
    heed_results *r = translated(m, &text, 1, NULL);
    assert_int_equal(n_warnings(r->at[0]), 1);
    assert_non_null(strstr(r->at[0]->warnings[0], "went round in circles and was searched again"));
    assert_null(
        strstr(r->at[0]->translations[0]->text, "Leben mit dem Leben mit dem Leben mit dem Leben"));
    heed_results_free(r);
    r = translated(m, &text, 1, "loops=keep"); /* as Marian leaves it */
    assert_non_null(
        strstr(r->at[0]->translations[0]->text, "Leben mit dem Leben mit dem Leben mit dem Leben"));
    assert_null(strstr(r->at[0]->warnings[0], "searched again"));
    heed_results_free(r);
    heed_model_free(m);
}

static void soft_alignments_are_marians(void **state)
{
    (void)state;
    static const char *const names[] = {"marian-ende-transformer", "marian-ende-rnn"};
    enum { N = 200 };
    for (int k = 0; k < 2; k++) {
        struct oracle o;
        heed_model *m = open_marian(&o, names[k]);
        int n, n_soft;
        char **texts = lines_of(&o, "source.en", &n),
             **soft = lines_of(&o, "greedy.soft-alignment.txt", &n_soft);
        assert_true(n >= N && n_soft >= N);
        /* Marian looks at a Transformer's first head alone */
        heed_results *r =
            translated(m, (const char *const *)texts, N,
                       k == 0 ? "beam=1 shift=0 head=0 split=never" : "beam=1 shift=0 split=never");
        double worst = 0;
        for (int i = 0; i < N; i++) {
            const heed_result *x = r->at[i];
            const heed_translation *t = x->translations[0];
            if (x->n_warnings > 0)
                continue; /* searched again: not what Marian says */
            const char *at = strstr(soft[i], " ||| ") ? strstr(soft[i], " ||| ") + 5 : soft[i];
            for (size_t w = 0; w < x->n_subwords * t->n_subwords; w++) {
                char *end;
                const double marians = strtod(at, &end);
                assert_that(end != at, "%s, line %d: %zu weights", names[k], i + 1, w);
                worst = fmax(worst, fabs(marians - (double)t->subword_attention[w]));
                at = end + (*end == ',' || *end == ' ');
            }
            assert_that(*at == '\0', "%s, line %d has more weights", names[k], i + 1);
        }
        print_message("%s: soft alignments differ by at most %.1e\n", names[k], worst);
        assert_that(worst < 1e-4, "%s: %g", names[k], worst);
        heed_results_free(r);
        free_lines(texts, n), free_lines(soft, n_soft);
        heed_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_around_a_sentence_changes_a_bit),
        cmocka_unit_test(texts_are_the_same_without_scores),
        cmocka_unit_test(circles_are_left),
        cmocka_unit_test(soft_alignments_are_marians),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
