/* test_word_links.c -- links stay with their words while the text around them changes. */
#include "test.h"

#include "base/memory.h"
#include "text/vary.h"
#include "text/vocab.h"
#include "text/word_links.h"

static struct hd_text text_of(const char *text)
{
    return (struct hd_text){text, strlen(text)};
}

/* "0-0 1-2" from text, and back. */
static void read(struct hd_word_links *links, const char *text)
{
    heed_error err = {0};
    links->n = 0;
    for (int used; *text; text += used) {
        int source, target;
        assert_int_equal(sscanf(text, "%d-%d %n", &source, &target, &used), 2);
        const struct hd_word_link one = {(uint16_t)source, (uint16_t)target};
        const struct hd_pair_links more = {&one, 1, false};
        assert_true(hd_word_links_add(links, &more, 0, 0, &err));
    }
}

static const char *told(const struct hd_word_link *at, size_t n)
{
    static char text[512];
    char *to = text;
    *to = 0;
    for (size_t i = 0; i < n; i++)
        to += sprintf(to, "%s%d-%d", i ? " " : "", at[i].source, at[i].target);
    return text;
}

static void words_are_counted(void **state)
{
    (void)state;
    assert_int_equal(hd_count_words(text_of(" a  bc d "), 100, false), 3);
    assert_int_equal(hd_count_words(text_of("a bc d"), 2, false), 1);
    assert_int_equal(hd_count_words(text_of("a bc d"), 3, false), 2);
    assert_int_equal(hd_count_words(text_of("日本 ok"), 100, false), 2);
    assert_int_equal(hd_count_words(text_of("日本 ok"), 100, true), 3);
    assert_int_equal(hd_count_words(text_of(""), 100, true), 0);
}

static void links_follow_their_words(void **state)
{
    (void)state;
    static const struct {
        const char *source, *target, *links, *new_source, *new_target, *wanted;
    } rows[] = {
        /* something before */
        {"a b", "x y", "0-1 1-0", "Foo a b", "Foo x y", "1-2 2-1 0-0"},
        /* something behind, before the mark */
        {"a b.", "x y.", "0-0 1-1", "a b (Foo).", "x y (Foo).", "0-0 1-1 2-2"},
        /* a word replaced by another, in its place */
        {"a Tom b", "x Tom y z", "0-0 1-1 2-3", "a http://b b", "x http://b y z", "0-0 2-3 1-1"},
        /* a mark that stood alone is gone */
        {"Is it?", "Est-ce ?", "0-0 1-0 1-1", "Is it", "Est-ce", "0-0 1-0"},
        /* nothing changes */
        {"a b", "x y", "0-0", "a b", "x y", "0-0"},
        /* all is other */
        {"a", "x y", "0-0 0-1", "q", "q", "0-0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct hd_word_links links = {0};
        heed_error err = {0};
        read(&links, rows[i].links);
        const struct hd_text before[2] = {text_of(rows[i].source), text_of(rows[i].target)},
                             after[2] = {text_of(rows[i].new_source), text_of(rows[i].new_target)};
        assert_true(hd_word_links_follow(&links, before, after, &err));
        assert_that(strcmp(told(links.at, links.n), rows[i].wanted) == 0, "row %zu: %s, not %s", i,
                    told(links.at, links.n), rows[i].wanted);
        hd_word_links_release(&links);
    }
}

/* ---- variation: every word carries its number, so that links can be checked in whatever comes out ------- */

static struct hd_text_pair numbered(int seed)
{
    static char texts[8][2][256];
    static struct hd_word_link links[8][8];
    const int at = seed % 8, n = 2 + seed % 5;
    char *s = texts[at][0], *t = texts[at][1];
    for (int i = 0; i < n; i++)
        s += sprintf(s, "%sw%dx%d", i ? " " : "W", seed, i);
    for (int i = n - 1; i >= 0; i--) {
        t += sprintf(t, "%sv%dx%d", i < n - 1 ? " " : "V", seed, i);
        links[at][n - 1 - i] = (struct hd_word_link){(uint16_t)i, (uint16_t)(n - 1 - i)};
    }
    strcpy(s, ".");
    strcpy(t, seed % 2 ? "." : " ?");
    return (struct hd_text_pair){.source = texts[at][0],
                                 .n_source = strlen(texts[at][0]),
                                 .target = texts[at][1],
                                 .n_target = strlen(texts[at][1]),
                                 .links = {links[at], (size_t)n, false}};
}

static struct hd_text_pair draw(void *context, struct hd_rng *rng)
{
    (void)context;
    return numbered((int)hd_rng_below(rng, 1000));
}

static void word_at(char *word, const char *text, size_t n, size_t number)
{
    size_t i = 0, begin;
    for (;;) {
        while (i < n && text[i] == ' ')
            i++;
        for (begin = i; i < n && text[i] != ' ';)
            i++;
        if (number-- == 0)
            break;
    }
    sprintf(word, "%.*s", (int)(i - begin), text + begin);
}

/* "12x3" of "w12x3," in any case; "" of what is none of ours. */
static void number_of(char *number, const char *word)
{
    int a, b;
    const char *at = word + strspn(word, "(\"wvWV");
    *number = 0;
    if (at > word && (sscanf(at, "%dx%d", &a, &b) == 2 || sscanf(at, "%dX%d", &a, &b) == 2))
        sprintf(number, "%dx%d", a, b);
}

static void links_follow_their_words_through_variation(void **state)
{
    (void)state;
    struct hd_vary_rates rates;
    for (int i = 0; i < HD_N_VARIATIONS; i++)
        rates.of[i] = 0.5F;
    struct hd_varied v = {0};
    heed_error err = {0};
    size_t n_links = 0, n_words = 0;
    for (int k = 0; k < 2000; k++) {
        const struct hd_vary_partner partner = {draw, NULL};
        const struct hd_rng rng = {1, (uint64_t)k, 0};
        assert_true(hd_vary(&v, numbered(1000 + k), &rates, &partner, &rng, &err));
        const struct hd_text_pair p = hd_varied_pair(&v);
        const struct hd_text source = {p.source, p.n_source}, target = {p.target, p.n_target};
        const size_t n_source = hd_count_words(source, source.n, false),
                     n_target = hd_count_words(target, target.n, false);
        n_words += n_source;
        for (size_t i = 0; i < p.links.n; i++) {
            char a[256], b[256], x[64], y[64];
            assert_true(p.links.at[i].source < n_source && p.links.at[i].target < n_target);
            word_at(a, p.source, p.n_source, p.links.at[i].source);
            word_at(b, p.target, p.n_target, p.links.at[i].target);
            number_of(x, a);
            number_of(y, b);
            assert_that(strcmp(x, y) == 0, "pair %d: '%s' and '%s' are linked in\n%.*s\n%.*s", k, a,
                        b, (int)p.n_source, p.source, (int)p.n_target, p.target);
            n_links++;
        }
    }
    assert_that(n_links > 0.8 * (double)n_words, "%zu links of %zu words", n_links, n_words);
    hd_varied_release(&v);
}

static void ids_know_their_words(void **state)
{
    (void)state;
    static const char *const words[] = {"<unk>", "</s>", "ab", "c"};
    static const char *const chars[] = {"<unk>", "</s>", "▁", "a", "b", "日"};
    heed_error err = {0};
    int word[8];
    struct hd_vocab *v = hd_vocab_from_tokens(HD_VOCAB_WORDS, words, 4, &err);
    assert_int_equal(hd_vocab_words(v, (const int[]){2, 0, 3}, 3, false, word), 3);
    assert_int_equal(word[1], 1);
    hd_vocab_free(v);
    v = hd_vocab_from_tokens(HD_VOCAB_CHARS, chars, 6, &err);
    assert_int_equal(hd_vocab_words(v, (const int[]){3, 4, 2, 3, 5, 5}, 6, false, word), 2);
    const int wanted[] = {0, 0, 1, 1, 1, 1};
    assert_memory_equal(word, wanted, sizeof wanted);
    assert_int_equal(hd_vocab_words(v, (const int[]){3, 4, 2, 3, 5, 5}, 6, true, word), 4);
    assert_int_equal(word[5], 3);
    hd_vocab_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_counted),
        cmocka_unit_test(links_follow_their_words),
        cmocka_unit_test(links_follow_their_words_through_variation),
        cmocka_unit_test(ids_know_their_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
