/* test_sample.c -- text cut at random: as often as the probabilities say, the same everywhere, and
 * never other text. */
#define _GNU_SOURCE
#include "text/files.h"

#include "base/memory.h"
#include "base/threads.h"
#include "text/sample.h"
#include "text/vocab_train.h"

#include <math.h>

/* ---- models made by hand --------------------------------------------------------------------- */

enum { NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };

struct piece {
    const char *text;
    float score;
    int type;
};

static unsigned char *put_bytes(unsigned char *at, unsigned tag, const void *bytes, size_t n)
{
    assert_true(n < 128);
    *at++ = (unsigned char)tag;
    *at++ = (unsigned char)n;
    memcpy(at, bytes, n);
    return at + n;
}

/* A model as a protocol buffer: type 1 is unigram, 2 is BPE. */
static struct hd_vocab *model_of(const struct piece *pieces, size_t n, int type, bool has_bytes)
{
    static unsigned char bytes[1 << 14], inner[128];
    unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++) {
        unsigned char *end = put_bytes(inner, 0x0A, pieces[i].text, strlen(pieces[i].text));
        *end++ = 0x15;
        memcpy(end, &pieces[i].score, 4);
        end += 4;
        *end++ = 0x18;
        *end++ = (unsigned char)pieces[i].type;
        at = put_bytes(at, 0x0A, inner, (size_t)(end - inner));
    }
    for (unsigned i = 0; has_bytes && i < 256; i++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", i);
        unsigned char *end = put_bytes(inner, 0x0A, name, 6);
        *end++ = 0x18;
        *end++ = BYTE;
        at = put_bytes(at, 0x0A, inner, (size_t)(end - inner));
    }
    const unsigned char trainer[] = {0x18, (unsigned char)type, 0x98, 0x02, has_bytes};
    at = put_bytes(at, 0x12, trainer, sizeof trainer);
    heed_error err = {0};
    struct hd_vocab *vocab = hd_vocab_from_memory(HD_VOCAB_SPM, bytes, (size_t)(at - bytes), &err);
    assert_that(vocab, "%s", err.message);
    return vocab;
}

#define MODEL(pieces, type) model_of(pieces, sizeof(pieces) / sizeof *(pieces), type, false)

static const struct piece unigram[] = {
    {"<unk>", 0, UNKNOWN}, {"</s>", 0, CONTROL},  {"▁", -3.0F, NORMAL},  {"a", -2.0F, NORMAL},
    {"b", -2.5F, NORMAL},  {"c", -4.0F, NORMAL},  {"ab", -3.0F, NORMAL}, {"▁a", -2.2F, NORMAL},
    {"bc", -3.5F, NORMAL}, {"abc", -5.0F, NORMAL}};

static const struct piece bpe[] = {{"<unk>", 0, UNKNOWN}, {"</s>", 0, CONTROL}, {"ab", 0, NORMAL},
                                   {"abc", -1, NORMAL},   {"bc", -2, NORMAL},   {"▁a", -3, NORMAL},
                                   {"▁", -4, NORMAL},     {"a", -5, NORMAL},    {"b", -6, NORMAL},
                                   {"c", -7, NORMAL},     {"▁abc", -8, NORMAL}};

/* ---- drawing --------------------------------------------------------------------------------- */

/* The pieces of a drawn segmentation, with | between them. */
static const char *drawn(const struct hd_vocab *vocab, const char *text, float rate,
                         struct hd_rng *rng)
{
    static char got[4096];
    struct hd_ids ids = {0};
    heed_error err = {0};
    got[0] = '\0';
    assert_that(hd_vocab_encode_sampled(vocab, text, strlen(text), false, rate, rng, &ids, &err),
                "\"%s\": %s", text, err.message);
    for (size_t i = 0; i < ids.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i > 0 ? "|" : "",
                 hd_vocab_piece(vocab, ids.at[i]));
    hd_ids_release(&ids);
    return got;
}

struct outcome {
    const char *pieces;
    double share; /* wanted, summing up to 1 */
};

/* The segmentations come with these frequencies, as far as chance allows: with k outcomes the sum of
 * (seen - wanted)² / wanted is k - 1 on average, and hardly ever more than thrice that and ten. */
static void assert_frequencies(const struct hd_vocab *vocab, const char *text, float rate,
                               const struct outcome *outcomes, int n)
{
    enum { N_DRAWS = 20000 };
    int seen[16] = {0};
    struct hd_rng rng = {.key = 11};
    for (int i = 0; i < N_DRAWS; i++) {
        const char *pieces = drawn(vocab, text, rate, &rng);
        int k = 0;
        while (k < n && strcmp(outcomes[k].pieces, pieces) != 0)
            k++;
        assert_that(k < n, "\"%s\" was cut into %s", text, pieces);
        seen[k]++;
    }
    double sum = 0, total = 0;
    for (int k = 0; k < n; k++) {
        const double wanted = N_DRAWS * outcomes[k].share;
        sum += (seen[k] - wanted) * (seen[k] - wanted) / wanted;
        total += outcomes[k].share;
    }
    assert_that(fabs(total - 1) < 1e-9, "the shares sum up to %g", total);
    assert_that(sum < 3 * (n - 1) + 10, "chi-square %g with %d outcomes, rate %g", sum, n,
                (double)rate);
}

static void a_unigram_model_draws_with_its_probabilities(void **state)
{
    (void)state;
    struct hd_vocab *vocab = MODEL(unigram, 1);
    static const struct {
        const char *pieces;
        double score;
    } all[] = {{"▁|a|b|c", -11.5}, {"▁|ab|c", -10.0}, {"▁|a|bc", -8.5},
               {"▁|abc", -8.0},    {"▁a|b|c", -8.7},  {"▁a|bc", -5.7}};
    static const float rates[] = {0.01F, 0.02F, 0.1F, 0.5F, 1.0F};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
        const double alpha = (1 - (double)rates[r]) / (50 * (double)rates[r]);
        struct outcome outcomes[6];
        double sum = 0;
        for (int k = 0; k < 6; k++)
            sum += exp(alpha * all[k].score);
        for (int k = 0; k < 6; k++)
            outcomes[k] = (struct outcome){all[k].pieces, exp(alpha * all[k].score) / sum};
        assert_frequencies(vocab, "abc", rates[r], outcomes, 6);
    }
    hd_vocab_free(vocab);
}

/* ▁ a b c: the merges in the order of their turns are ab; then ▁ab does not exist, abc; ▁abc. If ab is
 * left out: bc, and then abc from a|bc, or else ▁a. */
static void a_bpe_model_leaves_out_merges(void **state)
{
    (void)state;
    struct hd_vocab *vocab = MODEL(bpe, 2);
    static const double rates[] = {0.1, 0.3, 0.7};
    for (size_t r = 0; r < 3; r++) {
        const double p = rates[r], q = 1 - p;
        /* After ab is left out (p) and bc is made (q): abc is next (q), or, left out (p), ▁a (q), after which
         * ▁abc is next, made of ▁a and bc (q). */
        const struct outcome all[] = {
            {"▁abc", q * q * q + p * q * q * q + p * q * p * q * q},
            {"▁|abc", q * q * p + p * q * q * p},
            {"▁|ab|c", q * p},
            {"▁a|bc", p * q * p * q * p},
            {"▁|a|bc", p * q * p * p},
            {"▁a|b|c", p * p * q}, /* ab and bc left out, ▁a made */
            {"▁|a|b|c", p * p * p},
        };
        assert_frequencies(vocab, "abc", (float)p, all, 7);
    }
    struct hd_rng rng = {.key = 1};
    assert_string_equal(drawn(vocab, "abc ab", 1, &rng), "▁|a|b|c|▁|a|b");
    hd_vocab_free(vocab);
}

static void what_is_unknown_is_as_in_the_best_segmentation(void **state)
{
    (void)state;
    static const char text[] = "xy ab 猫犬x c xa";
    for (int type = 1; type <= 2; type++)
        for (int has_bytes = 0; has_bytes < 2; has_bytes++) {
            struct hd_vocab *vocab =
                type == 1 ? model_of(unigram, sizeof unigram / sizeof *unigram, 1, has_bytes)
                          : model_of(bpe, sizeof bpe / sizeof *bpe, 2, has_bytes);
            struct hd_ids best = {0}, ids = {0};
            assert_true(hd_vocab_encode(vocab, text, sizeof text - 1, true, &best, NULL));
            for (int i = 0; i < 50; i++) {
                struct hd_rng rng = {.key = 3, .stream = (uint64_t)i};
                char *wanted = hd_vocab_decode(vocab, best.at, best.n, NULL);
                assert_true(hd_vocab_encode_sampled(vocab, text, sizeof text - 1, true, 0.3F, &rng,
                                                    &ids, NULL));
                char *back = hd_vocab_decode(vocab, ids.at, ids.n, NULL);
                assert_string_equal(back, wanted);
                assert_int_equal(ids.at[ids.n - 1], hd_vocab_end(vocab));
                ids.n = 0;
                hd_free(back);
                hd_free(wanted);
            }
            hd_ids_release(&best);
            hd_ids_release(&ids);
            hd_vocab_free(vocab);
        }
}

static void pieces_defined_by_the_user_stay_whole_in_bpe(void **state)
{
    (void)state;
    const struct piece pieces[] = {{"<unk>", 0, UNKNOWN},     {"</s>", 0, CONTROL},
                                   {"abab", 0, USER_DEFINED}, {"ab", 0, NORMAL},
                                   {"▁", -1, NORMAL},         {"a", -2, NORMAL},
                                   {"b", -3, NORMAL},         {"▁abab", -4, NORMAL}};
    struct hd_vocab *vocab = MODEL(pieces, 2);
    struct hd_rng rng = {.key = 1};
    assert_string_equal(drawn(vocab, "ababab", 1, &rng), "▁|abab|a|b");
    hd_vocab_free(vocab);
}

/* ---- learned models -------------------------------------------------------------------------- */

static struct hd_corpus *corpus;

/* Words of syllables, in lines. */
static void make_corpus(void)
{
    enum { N = 1500 };
    static const char *const syllables[] = {"ka", "to", "mi",  "né",  "ru",  "sa",
                                            "li", "po", "den", "gar", "vul", "öst"};
    char *text = calloc(N, 128), *at = text;
    struct hd_rng rng = {.key = 9};
    for (int i = 0; i < N; i++) {
        for (uint32_t k = 0; k < 8; k++) {
            uint32_t word = hd_rng_below(&rng, 1 + hd_rng_below(&rng, 1500));
            for (; word > 0; word /= 12)
                at = stpcpy(at, syllables[word % 12]);
            at = stpcpy(at, k < 7 ? " " : "\n");
        }
    }
    const char *const paths[] = {put("text", text)};
    const struct hd_corpus_files files = {paths, paths, 1, 1, false, false, NULL};
    heed_error err = {0};
    corpus = hd_corpus_open(&files, &(struct hd_corpus_options){.skip_bad = true}, &err);
    assert_that(corpus, "%s", err.message);
    free(text);
}

static struct hd_vocab *learned(bool is_bpe)
{
    if (!corpus)
        make_corpus();
    heed_error err = {0};
    const struct hd_vocab_plan plan = {.size = 250, .is_bpe = is_bpe};
    struct hd_vocab *vocab = hd_vocab_learn(corpus, HD_VOCAB_SOURCE, &plan, NULL, NULL, &err);
    assert_that(vocab, "%s", err.message);
    return vocab;
}

static void sampling_changes_the_pieces_and_not_the_text(void **state)
{
    (void)state;
    for (int is_bpe = 0; is_bpe < 2; is_bpe++) {
        struct hd_vocab *vocab = learned(is_bpe);
        size_t n_best = 0, n_before = 0;
        for (size_t i = 0; i < 300; i++) {
            const struct hd_text_pair p = hd_corpus_pair(corpus, i);
            struct hd_ids ids = {0};
            assert_true(hd_vocab_encode(vocab, p.source, p.n_source, true, &ids, NULL));
            n_best += ids.n;
            hd_ids_release(&ids);
        }
        n_before = n_best;
        for (int r = 1; r <= 10; r++) {
            size_t n_pieces = 0;
            for (size_t i = 0; i < 300; i++) {
                const struct hd_text_pair p = hd_corpus_pair(corpus, i);
                struct hd_ids ids = {0}, best = {0};
                struct hd_rng rng = {.key = 1, .stream = i};
                assert_true(hd_vocab_encode(vocab, p.source, p.n_source, true, &best, NULL));
                assert_true(hd_vocab_encode_sampled(vocab, p.source, p.n_source, true,
                                                    (float)r / 10, &rng, &ids, NULL));
                char *back = hd_vocab_decode(vocab, ids.at, ids.n, NULL);
                char *wanted = hd_vocab_decode(vocab, best.at, best.n, NULL);
                assert_string_equal(back, wanted);
                n_pieces += ids.n;
                hd_free(back);
                hd_free(wanted);
                hd_ids_release(&ids);
                hd_ids_release(&best);
            }
            assert_that(n_pieces > n_before || r > 7, "rate %d/10: %zu pieces, before %zu", r,
                        n_pieces, n_before);
            n_before = n_pieces;
        }
        assert_true(n_before > n_best * 3 / 2);
        hd_vocab_free(vocab);
    }
}

static void a_rate_near_nothing_is_the_best_segmentation(void **state)
{
    (void)state;
    static const char *const odd[] = {"", " ", "  ka  to ", "猫 mi", "ﬁ ① é e\u0301", "\t", "x"};
    for (int is_bpe = 0; is_bpe < 2; is_bpe++) {
        struct hd_vocab *vocab = learned(is_bpe);
        for (size_t i = 0; i < 1007; i++) {
            const struct hd_text_pair p =
                i < 7 ? (struct hd_text_pair){.source = odd[i], .n_source = strlen(odd[i])}
                      : hd_corpus_pair(corpus, i - 7);
            for (int is_nothing = 0; is_nothing < 2; is_nothing++) {
                struct hd_ids best = {0}, ids = {0};
                struct hd_rng rng = {.key = 1, .stream = i};
                assert_true(hd_vocab_encode(vocab, p.source, p.n_source, true, &best, NULL));
                assert_true(hd_vocab_encode_sampled(vocab, p.source, p.n_source, true,
                                                    is_nothing ? 0 : 1e-7F, &rng, &ids, NULL));
                assert_that(ids.n == best.n && memcmp(ids.at, best.at, ids.n * sizeof *ids.at) == 0,
                            "\"%.*s\" is cut otherwise, bpe %d", (int)p.n_source, p.source, is_bpe);
                hd_ids_release(&ids);
                hd_ids_release(&best);
            }
        }
        hd_vocab_free(vocab);
    }
}

static void the_same_place_of_the_stream_gives_the_same_ids(void **state)
{
    (void)state;
    static const char text[] = "karu topo miné denka gar vulöst";
    for (int is_bpe = 0; is_bpe < 2; is_bpe++) {
        struct hd_vocab *vocab = learned(is_bpe);
        int n_different = 0;
        for (uint64_t i = 0; i < 20; i++) {
            struct hd_rng rng = {.key = 7, .stream = i}, again = rng, other = {.key = 8};
            char *first = strdup(drawn(vocab, text, 0.3F, &rng));
            assert_string_equal(drawn(vocab, text, 0.3F, &again), first);
            assert_true(rng.next == again.next && rng.next > 0);
            n_different += strcmp(drawn(vocab, text, 0.3F, &other), first) != 0;
            free(first);
        }
        assert_true(n_different > 10);
        hd_vocab_free(vocab);
    }
}

enum { N_TASKS = 64 };

struct sampling {
    const struct hd_vocab *vocab;
    struct hd_ids ids[N_TASKS];
};

static void sample_one(void *context, int i, int worker)
{
    (void)worker;
    struct sampling *s = context;
    const struct hd_text_pair p = hd_corpus_pair(corpus, (size_t)i);
    struct hd_rng rng = {.key = 5, .stream = (uint64_t)i};
    hd_vocab_encode_sampled(s->vocab, p.source, p.n_source, true, 0.3F, &rng, &s->ids[i], NULL);
}

static void threads_share_a_vocabulary_and_agree(void **state)
{
    (void)state;
    struct hd_vocab *vocab = learned(false), *other = learned(false);
    struct sampling alone = {.vocab = vocab}, together = {.vocab = other}; /* new to the threads */
    struct hd_pool *pool = hd_pool_new(4, NULL);
    assert_non_null(pool);
    hd_pool_run(pool, sample_one, &together, N_TASKS);
    hd_pool_free(pool);
    for (int i = 0; i < N_TASKS; i++) {
        sample_one(&alone, i, 0);
        assert_true(alone.ids[i].n > 1 && alone.ids[i].n == together.ids[i].n);
        assert_memory_equal(alone.ids[i].at, together.ids[i].at, alone.ids[i].n * sizeof(int));
        hd_ids_release(&alone.ids[i]);
        hd_ids_release(&together.ids[i]);
    }
    hd_vocab_free(vocab);
    hd_vocab_free(other);
}

static void words_and_characters_are_not_cut(void **state)
{
    (void)state;
    static const char list[] = "<unk>\n</s>\na\nb\n▁\n";
    for (int kind = HD_VOCAB_WORDS; kind <= HD_VOCAB_CHARS; kind++) {
        struct hd_vocab *vocab =
            hd_vocab_from_memory((enum hd_vocab_kind)kind, list, sizeof list - 1, NULL);
        struct hd_rng rng = {.key = 1};
        assert_string_equal(drawn(vocab, "a b", 0.9F, &rng),
                            kind == HD_VOCAB_WORDS ? "a|b" : "a|▁|b");
        assert_int_equal(rng.next, 0);
        hd_vocab_free(vocab);
    }
}

static void what_cannot_be_done_is_said_and_leaves_no_trace(void **state)
{
    (void)state;
    struct hd_vocab *vocab = MODEL(unigram, 1);
    struct hd_ids ids = {0};
    struct hd_rng rng = {.key = 1};
    static const float rates[] = {-0.1F, 1.1F, NAN};
    for (int i = 0; i < 3; i++) {
        heed_error err = {0};
        assert_false(hd_vocab_encode_sampled(vocab, "a", 1, true, rates[i], &rng, &ids, &err));
        assert_error(err, HEED_BAD_OPTION, "between 0 and 1");
    }
    heed_error err = {0};
    assert_false(hd_vocab_encode_sampled(vocab, "a\xFF", 2, true, 0.5F, &rng, &ids, &err));
    assert_error(err, HEED_BAD_TEXT, "not UTF-8 at byte 1");
    assert_int_equal(ids.n, 0);
    hd_vocab_free(vocab);
    for (int type = 1; type <= 2; type++)
        for (long n = 0;; n++) {
            vocab = type == 1 ? MODEL(unigram, 1) : MODEL(bpe, 2);
            heed_error no_memory = {0};
            hd_alloc_fail_after(n);
            const bool ok =
                hd_vocab_encode_sampled(vocab, "abcabc", 6, true, 0.5F, &rng, &ids, &no_memory);
            hd_alloc_fail_after(-1);
            hd_vocab_free(vocab);
            assert_true(ok == (ids.n > 0));
            hd_ids_release(&ids);
            if (ok)
                break;
            assert_error(no_memory, HEED_NO_MEMORY, "no memory");
        }
}

static int end(void **state)
{
    hd_corpus_free(corpus);
    return remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unigram_model_draws_with_its_probabilities),
        cmocka_unit_test(a_bpe_model_leaves_out_merges),
        cmocka_unit_test(what_is_unknown_is_as_in_the_best_segmentation),
        cmocka_unit_test(pieces_defined_by_the_user_stay_whole_in_bpe),
        cmocka_unit_test(sampling_changes_the_pieces_and_not_the_text),
        cmocka_unit_test(a_rate_near_nothing_is_the_best_segmentation),
        cmocka_unit_test(the_same_place_of_the_stream_gives_the_same_ids),
        cmocka_unit_test(threads_share_a_vocabulary_and_agree),
        cmocka_unit_test(words_and_characters_are_not_cut),
        cmocka_unit_test(what_cannot_be_done_is_said_and_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, make_folder, end);
}
