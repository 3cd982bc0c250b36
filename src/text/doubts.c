/* doubts.c -- counts over a sample of the pairs, and dev pairs looked for in all of them by their checksums. */
#include "text/doubts.h"

#include "base/checksum.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE = 20000,  /* pairs that are looked at closely */
    FEW = 300,       /* pairs from which little can be learned */
    MOST_DEV = 5000, /* dev pairs that are looked for */
    LONGER = 5,      /* times as many characters on one side */
    FILTER = 1 << 20 /* bits that tell most pairs from all dev pairs */
};

struct telling {
    void (*tell)(void *context, const char *sentence);
    void *context;
};

static void say(const struct telling *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(const struct telling *t, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    t->tell(t->context, text);
}

/* ---- scripts ------------------------------------------------------------------------------------- */

enum script { LATIN, GREEK, CYRILLIC, HEBREW, ARABIC, INDIC, THAI, HAN, HANGUL, N_SCRIPTS };

static const char *const script_names[] = {"Latin",  "Greek", "Cyrillic", "Hebrew",
                                           "Arabic", "Indic", "Thai",     "Chinese or Japanese",
                                           "Korean"};

static const struct {
    uint32_t first, last;
    enum script script;
} ranges[] = {{'A', 'Z', LATIN},       {'a', 'z', LATIN},        {0xC0, 0x24F, LATIN},
              {0x370, 0x3FF, GREEK},   {0x400, 0x52F, CYRILLIC}, {0x590, 0x5FF, HEBREW},
              {0x600, 0x77F, ARABIC},  {0x900, 0xDFF, INDIC},    {0xE00, 0xE7F, THAI},
              {0x1E00, 0x1EFF, LATIN}, {0x1F00, 0x1FFF, GREEK},  {0x3040, 0x30FF, HAN},
              {0x3400, 0x9FFF, HAN},   {0xAC00, 0xD7AF, HANGUL}};

/* Scripts of languages that have one alone. */
static const struct {
    const char *languages;
    enum script script;
} scripts[] = {{" en fr de es it pt nl sv da no nb fi et lv lt pl cs sk sl hr hu ro tr vi id ms sw "
                "ca eu gl cy "
                "ga is mt sq af eo la ",
                LATIN},
               {" el ", GREEK},
               {" ru uk be bg mk ", CYRILLIC},
               {" he yi ", HEBREW},
               {" ar fa ur ps ", ARABIC},
               {" hi mr ne bn gu pa ta te kn ml si ", INDIC},
               {" th ", THAI},
               {" zh ja yue ", HAN},
               {" ko ", HANGUL}};

static int script_of_language(const char *language, size_t n)
{
    char wanted[16];
    if (n < 2 || n > 3)
        return -1;
    snprintf(wanted, sizeof wanted, " %.*s ", (int)n, language);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strstr(scripts[i].languages, wanted))
            return scripts[i].script;
    return -1;
}

/* ---- counts -------------------------------------------------------------------------------------- */

struct side_counts {
    size_t n_characters, n_like_first, of_script[N_SCRIPTS];
};

static void count_side(struct side_counts *c, struct hd_text text, struct hd_text first)
{
    uint32_t cp;
    c->n_like_first += text.n == first.n && memcmp(text.at, first.at, text.n) == 0;
    for (size_t i = 0; i < text.n; c->n_characters++) {
        i += (size_t)hd_utf8_decode(text.at + i, text.n - i, &cp);
        for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
            c->of_script[ranges[k].script] += cp >= ranges[k].first && cp <= ranges[k].last;
    }
}

/* Is most of what has a script of another one? */
static void doubt_script(const struct telling *t, const struct side_counts *c, const char *what,
                         const char *language, size_t n)
{
    const int wanted = script_of_language(language, n);
    size_t all = 0;
    int most = 0;
    for (int s = 0; s < N_SCRIPTS; s++) {
        all += c->of_script[s];
        most = c->of_script[s] > c->of_script[most] ? s : most;
    }
    if (wanted >= 0 && most != wanted && c->of_script[most] > all / 2)
        say(t,
            "the %s is mostly %s letters, but its language, %.*s, is written in %s ones; are the "
            "files named or ordered wrongly?",
            what, script_names[most], (int)n, language, script_names[wanted]);
}

static void doubt_counts(const struct hd_doubts *d, const struct telling *t)
{
    const size_t n = hd_corpus_size(d->text), step = n / SAMPLE + 1;
    const struct hd_text_pair first = hd_corpus_pair(d->text, 0);
    struct side_counts source = {0}, target = {0};
    size_t n_seen = 0, n_same = 0;
    for (size_t i = 0; i < n; i += step, n_seen++) {
        const struct hd_text_pair p = hd_corpus_pair(d->text, i);
        n_same += p.n_source == p.n_target && memcmp(p.source, p.target, p.n_source) == 0;
        count_side(&source, (struct hd_text){p.source, p.n_source},
                   (struct hd_text){first.source, first.n_source});
        count_side(&target, (struct hd_text){p.target, p.n_target},
                   (struct hd_text){first.target, first.n_target});
    }
    if (n < FEW)
        say(t, "%zu pairs are very few: enough for a try, not for a language", n);
    if (n_seen > 1 && source.n_like_first == n_seen)
        say(t, "all lines of the source are the same, so there is nothing to learn from them");
    if (n_seen > 1 && target.n_like_first == n_seen)
        say(t, "all lines of the target are the same, so there is nothing to learn from them");
    if (2 * n_same > n_seen)
        say(t,
            "in %zu %% of the pairs source and target are the same text; was one file given twice?",
            100 * n_same / n_seen);
    if (source.n_characters > LONGER * target.n_characters ||
        target.n_characters > LONGER * source.n_characters)
        say(t, "the %s has more than %d times as many characters as the %s; are these pairs?",
            source.n_characters > target.n_characters ? "source" : "target", LONGER,
            source.n_characters > target.n_characters ? "target" : "source");
    const char *dash = d->languages ? strchr(d->languages, '-') : NULL;
    if (dash) {
        doubt_script(t, &source, "source", d->languages, (size_t)(dash - d->languages));
        doubt_script(t, &target, "target", dash + 1, strlen(dash + 1));
    }
}

/* ---- dev text ------------------------------------------------------------------------------------ */

static uint64_t sum_of(const struct hd_corpus *corpus, size_t i)
{
    const struct hd_text_pair p = hd_corpus_pair(corpus, i);
    struct hd_checksum s = hd_checksum_begin();
    hd_checksum_add(&s, p.source, p.n_source);
    hd_checksum_add(&s, "\t", 1);
    hd_checksum_add(&s, p.target, p.n_target);
    return hd_checksum_end(&s);
}

struct dev_pair {
    uint64_t sum;
    bool is_found;
};

static int by_sum(const void *a, const void *b)
{
    const struct dev_pair *p = a, *q = b;
    return (p->sum > q->sum) - (p->sum < q->sum);
}

static size_t sort_distinct(struct dev_pair *pairs, size_t n)
{
    size_t n_distinct = 0;
    qsort(pairs, n, sizeof *pairs, by_sum);
    for (size_t i = 0; i < n; i++)
        if (n_distinct == 0 || pairs[i].sum != pairs[n_distinct - 1].sum)
            pairs[n_distinct++] = pairs[i];
    return n_distinct;
}

/* Note which dev pairs are among those that are learned from. */
static void find_in_text(const struct hd_doubts *d, struct dev_pair *pairs, size_t n_pairs,
                         unsigned char *filter)
{
    for (size_t i = 0; i < n_pairs; i++)
        filter[pairs[i].sum % FILTER / 8] |= (unsigned char)(1U << pairs[i].sum % 8);
    for (size_t i = 0; i < hd_corpus_size(d->text); i++) {
        if (!d->dev && i % d->hold_out == d->hold_out - 1)
            continue;
        const struct dev_pair wanted = {.sum = sum_of(d->text, i)};
        if (!(filter[wanted.sum % FILTER / 8] & 1U << wanted.sum % 8))
            continue;
        struct dev_pair *found = bsearch(&wanted, pairs, n_pairs, sizeof *pairs, by_sum);
        if (found)
            found->is_found = true;
    }
}

static void doubt_dev(const struct hd_doubts *d, const struct telling *t)
{
    const struct hd_corpus *dev = d->dev ? d->dev : d->text;
    const size_t first = d->dev ? 0 : d->hold_out - 1, every = d->dev ? 1 : d->hold_out;
    const size_t n_dev = hd_corpus_size(dev) / every, step = every * (n_dev / MOST_DEV + 1);
    struct dev_pair *pairs = hd_alloc(n_dev + 1, sizeof *pairs, NULL);
    unsigned char *filter = hd_alloc(FILTER / 8, 1, NULL);
    size_t n = 0, n_found = 0;
    for (size_t i = first; pairs && filter && i < hd_corpus_size(dev); i += step)
        pairs[n++].sum = sum_of(dev, i);
    if (n > 0) {
        n = sort_distinct(pairs, n);
        find_in_text(d, pairs, n, filter);
    }
    for (size_t i = 0; i < n; i++)
        n_found += pairs[i].is_found;
    if (n_found > n / 50)
        say(t,
            "%zu of %zu different dev pairs are learned from as well, so validation will look "
            "better than "
            "the model is",
            n_found, n);
    hd_free(pairs);
    hd_free(filter);
}

void hd_tell_doubts(const struct hd_doubts *doubts,
                    void (*tell)(void *context, const char *sentence), void *context)
{
    const struct telling telling = {tell, context};
    doubt_counts(doubts, &telling);
    doubt_dev(doubts, &telling);
}
