/* test_feed.c -- the order of the text: every pair once an epoch, batches that follow from their place alone. */
#include "test.h"
#include "text/files.h"

#include "base/memory.h"
#include "base/rng.h"
#include "text/vocab_train.h"
#include "train/feed.h"

static void shuffled_is_a_permutation(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1,  2,  3,  4,   5,    7,    15,   16,   17,
                                     63, 64, 65, 100, 1000, 4095, 4096, 4097, 70001};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const uint64_t n = sizes[k];
        char *seen = calloc(n, 1);
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t at = hd_shuffled(i, n, 7, k);
            assert_that(at < n && !seen[at], "n %d: %d goes to %d, where another is", (int)n,
                        (int)i, (int)at);
            seen[at] = 1;
        }
        free(seen);
    }
    assert_true(hd_shuffled(5, UINT64_C(1) << 40, 1, 1) < UINT64_C(1) << 40);
}

static void another_stream_or_key_is_another_order(void **state)
{
    (void)state;
    int n_stay = 0, n_same_stream = 0, n_same_key = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t at = hd_shuffled(i, 1000, 1, 1);
        n_stay += at == i;
        n_same_stream += at == hd_shuffled(i, 1000, 1, 2);
        n_same_key += at == hd_shuffled(i, 1000, 2, 1);
    }
    assert_that(n_stay < 10 && n_same_stream < 10 && n_same_key < 10,
                "%d stay, %d are the same for another stream, %d for another key", n_stay,
                n_same_stream, n_same_key);
}

/* ---- a corpus of numbers ------------------------------------------------------------------------- */

/* Pair i: "w3 w1 w4 …", the digits of i and some more, so that a pair can be told from its words. The target has i % 13 more words. */
static struct hd_corpus *numbers(int n, heed_error *err)
{
    FILE *source = fopen(in_folder("n.src"), "w"), *target = fopen(in_folder("n.tgt"), "w");
    assert_true(source && target);
    for (int i = 0; i < n; i++) {
        for (int k = 0, rest = i; k < 6; k++, rest /= 10)
            fprintf(source, "%s%d", k ? " " : "", rest % 10),
                fprintf(target, "%s%d", k ? " " : "", rest % 10);
        for (int k = 0; k < i % 13; k++)
            fprintf(target, " x");
        fputs(i % 50 == 49 ? " x x x x x x x x x x x x x x\n" : "\n", source);
        fputs("\n", target);
    }
    fclose(source);
    fclose(target);
    const char *src = in_folder("n.src"), *tgt = in_folder("n.tgt");
    const struct hd_corpus_files files = {
        .source = &src, .target = &tgt, .n_source = 1, .n_target = 1};
    return hd_corpus_open(&files, &(struct hd_corpus_options){0}, err);
}

static struct hd_vocab *digits(void)
{
    static const char *const words[] = {"<unk>", "</s>", "0", "1", "2", "3", "4",
                                        "5",     "6",    "7", "8", "9", "x"};
    struct hd_vocab *v = hd_vocab_from_tokens(HD_VOCAB_WORDS, words, 13, NULL);
    assert_non_null(v);
    return v;
}

static int number_of(const struct hd_pair_ids *p)
{
    int number = 0;
    for (int k = 5; k >= 0; k--)
        number = 10 * number + p->source.ids[k] - 2;
    return number;
}

struct buffer {
    struct hd_corpus *corpus;
    struct hd_vocab *vocab;
    struct hd_pool *threads;
    struct hd_feed *feed;
};

static struct buffer desk_of(int n_pairs, int n_threads, const struct hd_feed_options *options)
{
    heed_error err = {0};
    struct buffer d = {.corpus = numbers(n_pairs, &err),
                       .vocab = digits(),
                       .threads = hd_pool_new(n_threads, &err)};
    assert_that(d.corpus && d.threads, "%s", err.message);
    d.feed = hd_feed_new(d.corpus, d.vocab, d.vocab, options, d.threads, &err);
    assert_non_null(d.feed);
    return d;
}

static void desk_clear(struct buffer *d)
{
    hd_feed_free(d->feed);
    hd_pool_free(d->threads);
    hd_vocab_free(d->vocab);
    hd_corpus_free(d->corpus);
}

static const struct hd_pair_ids *next_of(struct buffer *d, struct hd_feed_position *place, int *n)
{
    heed_error err = {0};
    const struct hd_pair_ids *pairs = hd_feed_next(d->feed, place, n, &err);
    assert_that(pairs && *n > 0, "%s", err.message);
    return pairs;
}

/* ---- epochs -------------------------------------------------------------------------------------- */

static void every_pair_comes_once_an_epoch(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 10, 500, 70000}; /* the last is several pools */
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int n_all = sizes[k];
        struct buffer d = desk_of(
            n_all, 2, &(struct hd_feed_options){.seed = 3, .tokens = 700, .max_length = 100});
        char *seen = calloc((size_t)n_all, 1);
        struct hd_feed_position place = {0};
        const int n_epochs = n_all > 1000 ? 2 : 3;
        int first[3] = {-1, -1, -1}, epoch = 0, n_seen = 0;
        while (epoch < n_epochs) {
            int n;
            const struct hd_pair_ids *pairs = next_of(&d, &place, &n);
            if (place.epoch > epoch) {
                assert_that(n_seen == n_all, "%d of %d pairs are in epoch %d", n_seen, n_all,
                            epoch);
                memset(seen, 0, (size_t)n_all);
                n_seen = 0;
                epoch = place.epoch;
                if (epoch == n_epochs)
                    break;
            }
            first[epoch] = first[epoch] < 0 ? number_of(&pairs[0]) : first[epoch];
            for (int i = 0; i < n; i++) {
                const int number = number_of(&pairs[i]);
                assert_that(number < n_all && !seen[number], "pair %d comes twice in epoch %d",
                            number, epoch);
                assert_int_equal(pairs[i].target.n, 6 + number % 13 + 1);
                assert_int_equal(pairs[i].target.ids[pairs[i].target.n - 1], 1);
                assert_int_equal(pairs[i].source.ids[pairs[i].source.n - 1], 1);
                assert_true(i == 0 || pairs[i].target.n >= pairs[i - 1].target.n);
                seen[number] = 1;
                n_seen++;
            }
        }
        if (n_all >= 500)
            assert_that(first[0] != first[1], "%d pairs: two epochs begin with pair %d", n_all,
                        first[0]);
        free(seen);
        desk_clear(&d);
    }
}

static void batches_are_even(void **state)
{
    (void)state;
    struct buffer d =
        desk_of(20000, 2, &(struct hd_feed_options){.seed = 1, .tokens = 1000, .max_length = 100});
    struct hd_feed_position place = {0};
    int n_batches = 0;
    long n_all = 0;
    for (;;) {
        int n, n_tokens = 0;
        const struct hd_pair_ids *pairs = next_of(&d, &place, &n);
        if (place.epoch > 0)
            break;
        for (int i = 0; i < n; i++)
            n_tokens += pairs[i].target.n;
        assert_that(n_tokens > 900 && n_tokens < 1100, "a batch has %d tokens", n_tokens);
        n_all += n_tokens;
        n_batches++;
    }
    assert_that(labs(n_all / n_batches - 1000) < 20, "%ld tokens in %d batches", n_all, n_batches);
    desk_clear(&d);
    d = desk_of(40, 1, &(struct hd_feed_options){.seed = 1, .tokens = 1, .max_length = 100});
    place = (struct hd_feed_position){0};
    for (int i = 0; i < 40; i++) {
        int n;
        (void)next_of(&d, &place, &n);
        assert_int_equal(n, 1); /* a batch is never less than a pair */
    }
    assert_int_equal(place.epoch, 0);
    desk_clear(&d);
}

/* A number made of all that is in a batch. */
static uint64_t sum_of(const struct hd_pair_ids *pairs, int n)
{
    uint64_t sum = (uint64_t)n;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < pairs[i].source.n; k++)
            sum = sum * 1000003 + (uint64_t)pairs[i].source.ids[k];
        for (int k = 0; k < pairs[i].target.n; k++)
            sum = sum * 1000003 + (uint64_t)pairs[i].target.ids[k];
    }
    return sum;
}

static void going_to_a_place_is_coming_there(void **state)
{
    (void)state;
    const struct hd_feed_options options = {.seed = 5, .tokens = 3000, .max_length = 100};
    enum { N = 200 };
    static struct hd_feed_position places[N];
    static uint64_t sums[N];
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        struct buffer d = desk_of(40000, n_threads, &options);
        struct hd_feed_position place = {0};
        for (int i = 0; i < N; i++) {
            int n;
            const struct hd_feed_position here = place;
            const struct hd_pair_ids *pairs = next_of(&d, &place, &n);
            const uint64_t sum = sum_of(pairs, n);
            if (n_threads == 1) {
                places[i] = here;
                sums[i] = sum;
            }
            assert_that(sums[i] == sum, "batch %d differs with %d threads", i, n_threads);
        }
        assert_true(place.epoch >= 1);
        struct hd_rng rng = {.key = 1};
        for (int k = 0; k < 12; k++) {
            const int i = (int)hd_rng_below(&rng, N);
            int n;
            place = places[i];
            const struct hd_pair_ids *pairs = next_of(&d, &place, &n);
            assert_that(sum_of(pairs, n) == sums[i], "batch %d is another when gone to", i);
        }
        desk_clear(&d);
    }
    struct buffer other =
        desk_of(40000, 1, &(struct hd_feed_options){.seed = 6, .tokens = 3000, .max_length = 100});
    struct hd_feed_position place = {0};
    int n;
    const struct hd_pair_ids *pairs = next_of(&other, &place, &n);
    assert_true(sum_of(pairs, n) != sums[0]);
    desk_clear(&other);
}

static void what_is_held_out_never_comes(void **state)
{
    (void)state;
    for (int n_all = 10; n_all <= 41; n_all++) {
        struct buffer d = desk_of(
            n_all, 1,
            &(struct hd_feed_options){.seed = 1, .tokens = 50, .max_length = 100, .hold_out = 10});
        struct hd_feed_position place = {0};
        int n_seen = 0;
        for (;;) {
            int n;
            const struct hd_pair_ids *pairs = next_of(&d, &place, &n);
            if (place.epoch > 0)
                break;
            for (int i = 0; i < n; i++)
                assert_that(number_of(&pairs[i]) % 10 != 9 && number_of(&pairs[i]) < n_all,
                            "pair %d of %d came", number_of(&pairs[i]), n_all);
            n_seen += n;
        }
        assert_int_equal(n_seen, n_all - n_all / 10);
        desk_clear(&d);
    }
}

static void what_is_too_long_is_counted(void **state)
{
    (void)state;
    struct buffer d =
        desk_of(1000, 2, &(struct hd_feed_options){.seed = 1, .tokens = 100, .max_length = 17});
    struct hd_feed_position place = {0};
    int n_seen = 0;
    while (place.epoch < 2) {
        int n;
        (void)next_of(&d, &place, &n);
        n_seen += place.epoch == 0 ? n : 0;
    }
    int n_long = 0;
    for (int i = 0; i < 1000; i++)
        n_long += i % 50 == 49 || i % 13 == 12;
    const struct hd_feed_counts c = hd_feed_counts(d.feed);
    assert_int_equal(c.n_pairs, 1000);
    assert_int_equal(c.n_long, n_long);
    assert_int_equal(c.n_empty, 0);
    assert_int_equal(n_seen, 1000 - n_long);
    desk_clear(&d);
    d = desk_of(1000, 2, &(struct hd_feed_options){.seed = 1, .tokens = 100, .max_length = 5});
    heed_error err = {0};
    int n;
    place = (struct hd_feed_position){0};
    assert_null(hd_feed_next(d.feed, &place, &n, &err));
    assert_error(err, HEED_BAD_TEXT,
                 "no pair of sentences can be trained on: all are longer than max-length 5, or "
                 "empty; raise --max-length");
    desk_clear(&d);
}

static void epochs_are_told_in_parts(void **state)
{
    (void)state;
    struct buffer d =
        desk_of(1000, 1, &(struct hd_feed_options){.seed = 1, .tokens = 100, .max_length = 100});
    struct hd_feed_position place = {0};
    double before = 0;
    while (place.epoch < 3) {
        int n;
        (void)next_of(&d, &place, &n);
        const double now = hd_feed_epoch(d.feed, &place);
        assert_that(now >= before && now <= place.epoch + 1 && now >= place.epoch,
                    "%g after %g in epoch %d", now, before, place.epoch);
        before = now;
    }
    desk_clear(&d);
}

/* ---- sampling --------------------------------------------------------------------------------------- */

/* The ids of the only pair in an epoch, as a number. */
static uint64_t sampled(const struct hd_corpus *corpus, const struct hd_vocab *vocab, uint64_t seed,
                        int n_threads, int epoch, float strength)
{
    heed_error err = {0};
    struct hd_pool *threads = hd_pool_new(n_threads, &err);
    const struct hd_feed_options options = {
        .seed = seed, .tokens = 100, .max_length = 1000, .subword_sampling = strength};
    struct hd_feed *feed = hd_feed_new(corpus, vocab, vocab, &options, threads, &err);
    assert_non_null(feed);
    struct hd_feed_position place = {.epoch = epoch};
    int n;
    const struct hd_pair_ids *pairs = hd_feed_next(feed, &place, &n, &err);
    assert_that(pairs && n == 1, "%s", err.message);
    const uint64_t sum = sum_of(pairs, n);
    hd_feed_free(feed);
    hd_pool_free(threads);
    return sum;
}

static void subwords_are_cut_anew_in_every_epoch(void **state)
{
    (void)state;
    heed_error err = {0};
    const char *path = put("one", "banana bandana anaconda condor corn canon cabana drab broad "
                                  "andorra bora radon acorn corona\n");
    const struct hd_corpus_files files = {
        .source = &path, .target = &path, .n_source = 1, .n_target = 1};
    struct hd_corpus *corpus = hd_corpus_open(&files, &(struct hd_corpus_options){0}, &err);
    assert_that(corpus != NULL, "%s", err.message);
    const struct hd_vocab_plan plan = {.kind = HD_VOCAB_SPM, .size = 24, .is_bpe = true};
    struct hd_vocab *vocab = hd_vocab_learn(corpus, HD_VOCAB_BOTH, &plan, NULL, NULL, &err);
    assert_that(vocab != NULL, "%s", err.message);
    const uint64_t here = sampled(corpus, vocab, 1, 1, 0, 0.3F);
    assert_true(here == sampled(corpus, vocab, 1, 1, 0, 0.3F));
    assert_true(here == sampled(corpus, vocab, 1, 3, 0, 0.3F));
    assert_true(here != sampled(corpus, vocab, 1, 1, 1, 0.3F));
    assert_true(here != sampled(corpus, vocab, 2, 1, 0, 0.3F));
    assert_true(here != sampled(corpus, vocab, 1, 1, 0, 0));
    assert_true(sampled(corpus, vocab, 1, 1, 0, 0) == sampled(corpus, vocab, 2, 1, 5, 0));
    hd_vocab_free(vocab);
    hd_corpus_free(corpus);
}

/* ---- several languages ------------------------------------------------------------------------------ */

/* Pairs of a-b are 0 to 89, those of a-c 90 to 99. */
static struct hd_corpus *two_directions(void)
{
    char big[90 * 32], small[10 * 32], *at = big;
    for (int i = 0; i < 100; i++) {
        if (i == 90)
            at = small;
        at += sprintf(at, "%d %d\t%d %d\n", i % 10, i / 10, i % 10, i / 10);
    }
    const char *const paths[] = {put("b.tsv", big), put("c.tsv", small)}, *const directions[] = {
                                                                              "a-b", "a-c"};
    const struct hd_corpus_files files = {paths, NULL, 2, 0, true, false, directions};
    heed_error err = {0};
    struct hd_corpus *corpus = hd_corpus_open(&files, &(struct hd_corpus_options){0}, &err);
    assert_that(corpus, "%s", err.message);
    return corpus;
}

static void directions_have_symbols_and_shares(void **state)
{
    (void)state;
    static const char *const words[] = {"<unk>", "</s>", "0", "1", "2", "3",    "4",   "5",
                                        "6",     "7",    "8", "9", "x", "<2b>", "<2c>"};
    struct hd_vocab *vocab = hd_vocab_from_tokens(HD_VOCAB_WORDS, words, 15, NULL);
    struct hd_corpus *corpus = two_directions();
    struct hd_pool *threads = hd_pool_new(2, NULL);
    for (int is_hot = 0; is_hot < 2; is_hot++) {
        const struct hd_feed_options options = {
            .seed = 4, .tokens = 50, .max_length = 9, .temperature = is_hot ? 1e6F : 1};
        struct hd_feed *feed = hd_feed_new(corpus, vocab, vocab, &options, threads, NULL);
        assert_non_null(feed);
        int times[100] = {0}, n;
        struct hd_feed_position place = {0};
        while (place.epoch < 2) { /* the last batch of an epoch leads to the next */
            const struct hd_pair_ids *pairs = hd_feed_next(feed, &place, &n, NULL);
            assert_non_null(pairs);
            if (place.epoch >= 2)
                break;
            for (int i = 0; i < n; i++) {
                const int number = pairs[i].source.ids[1] - 2 + 10 * (pairs[i].source.ids[2] - 2);
                assert_int_equal(pairs[i].source.n, 4);
                assert_int_equal(pairs[i].target.n, 3);
                assert_int_equal(pairs[i].source.ids[0], number < 90 ? 13 : 14);
                times[number]++;
            }
        }
        for (int i = 0; i < 100; i++) /* hot: of 100 in an epoch 50 are of either direction */
            assert_that(is_hot ? (i < 90 ? times[i] == 1 || times[i] == 2 : times[i] == 10)
                               : times[i] == 2,
                        "pair %d came %d times", i, times[i]);
        hd_feed_free(feed);
    }
    hd_pool_free(threads);
    hd_corpus_free(corpus);
    hd_vocab_free(vocab);
}

/* What is joined and would be too long comes as it is. */
static void varied_pairs_that_are_too_long_come_as_they_are(void **state)
{
    (void)state;
    const char *path = put("long.tsv", "0 1 2.\t0 1 2.\n3 4 5.\t3 4 5.\n");
    static const char *const words[] = {"<unk>", "</s>", "0", "1", "2.", "3", "4", "5."};
    const struct hd_corpus_files files = {&path, NULL, 1, 0, true, false, NULL};
    struct hd_vocab *vocab = hd_vocab_from_tokens(HD_VOCAB_WORDS, words, 8, NULL);
    struct hd_corpus *corpus = hd_corpus_open(&files, &(struct hd_corpus_options){0}, NULL);
    struct hd_pool *threads = hd_pool_new(1, NULL);
    assert_true(vocab && corpus && threads);
    for (int longest = 4; longest <= 9; longest += 5) {
        struct hd_feed_options options = {.seed = 4, .tokens = 1000, .max_length = longest};
        options.vary.of[HD_VARY_JOIN] = 1;
        struct hd_feed *feed = hd_feed_new(corpus, vocab, vocab, &options, threads, NULL);
        struct hd_feed_position place = {0};
        int n;
        const struct hd_pair_ids *pairs = hd_feed_next(feed, &place, &n, NULL);
        assert_true(pairs && n == 2 && hd_feed_counts(feed).n_long == 0);
        for (int i = 0; i < n; i++)
            assert_true(longest == 4 ? pairs[i].source.n == 4 : pairs[i].source.n > 6);
        hd_feed_free(feed);
    }
    hd_pool_free(threads);
    hd_corpus_free(corpus);
    hd_vocab_free(vocab);
}

static void failing_memory_leaves_a_feed_that_works(void **state)
{
    (void)state;
    const struct hd_feed_options options = {.seed = 1, .tokens = 100, .max_length = 100};
    struct buffer d = desk_of(300, 2, &options);
    struct hd_feed_position place = {0};
    int n;
    const struct hd_pair_ids *first = next_of(&d, &place, &n);
    const uint64_t wanted = sum_of(first, n);
    bool is_done = false;
    for (long i = 0; !is_done; i++) {
        heed_error err = {0};
        hd_alloc_fail_after(i);
        struct hd_feed *feed = hd_feed_new(d.corpus, d.vocab, d.vocab, &options, d.threads, &err);
        place = (struct hd_feed_position){0};
        const struct hd_pair_ids *pairs = feed ? hd_feed_next(feed, &place, &n, &err) : NULL;
        hd_alloc_fail_after(-1);
        assert_that(pairs || err.code == HEED_NO_MEMORY, "allocation %ld: %s", i, err.message);
        is_done = pairs != NULL;
        if (feed && !pairs) {
            place = (struct hd_feed_position){0};
            pairs = hd_feed_next(feed, &place, &n, &err);
            assert_non_null(pairs);
        }
        if (pairs)
            assert_that(sum_of(pairs, n) == wanted, "allocation %ld changes what comes", i);
        hd_feed_free(feed);
    }
    desk_clear(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shuffled_is_a_permutation),
        cmocka_unit_test(another_stream_or_key_is_another_order),
        cmocka_unit_test(every_pair_comes_once_an_epoch),
        cmocka_unit_test(batches_are_even),
        cmocka_unit_test(going_to_a_place_is_coming_there),
        cmocka_unit_test(what_is_held_out_never_comes),
        cmocka_unit_test(what_is_too_long_is_counted),
        cmocka_unit_test(epochs_are_told_in_parts),
        cmocka_unit_test(subwords_are_cut_anew_in_every_epoch),
        cmocka_unit_test(directions_have_symbols_and_shares),
        cmocka_unit_test(varied_pairs_that_are_too_long_come_as_they_are),
        cmocka_unit_test(failing_memory_leaves_a_feed_that_works),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
