/* clean.c -- rules that look at a pair, at what its text is like on the whole (lengths, languages), or at the pairs before it.
 *
 * Which language a side is in is learned from the text itself: where most pairs are right, those that are not stand out. */
#include "text/clean.h"

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "text/detector.h"
#include "text/protect.h"

#include <stdio.h>
#include <string.h>

enum {
    SAMPLE = 20000,       /* pairs that lengths and languages are learned from */
    LONGER = 3,           /* times */
    SLACK = 10,           /* characters that may be there anyway */
    LEAST_CHARACTERS = 15 /* of a text whose language can be told */
};
static const double SURE = 0.95;

static const char *const names[] = {"same", "length", "numbers", "language", "duplicates"};

int hd_clean_rule_named(const char *name)
{
    for (int i = 0; i < HD_N_CLEAN_RULES; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return strcmp(name, "all") == 0 ? HD_N_CLEAN_RULES : -1;
}

void hd_clean_tell(const size_t counts[HD_N_CLEAN_RULES], char *text, size_t size)
{
    static const char *const told[] = {"with the same text on both sides",
                                       "of lengths that do not fit", "with other numbers",
                                       "with a side of another language", "that were there before"};
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < HD_N_CLEAN_RULES; i++)
        if (counts[i] > 0 && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%zu %s", at > 0 ? ", " : "", counts[i],
                                   told[i]);
}

struct cleaning {
    const struct hd_corpus *corpus;
    const bool *rules;
    size_t *counts;
    double ratio; /* characters of the target for one of the source */
    struct hd_detector *detector;
    uint64_t *seen; /* [n_seats]: sums of pairs; 0: nobody's */
    size_t n_seats;
};

/* ---- languages ----------------------------------------------------------------------------------- */

static int find_language(const struct hd_detector *d, const char *language)
{
    int i = 0;
    while (i < hd_detector_size(d) && strcmp(hd_detector_language(d, i), language) != 0)
        i++;
    return i;
}

/* What a side should be in. */
static const char *language_of(const struct hd_corpus *corpus, const struct hd_text_pair *p,
                               bool is_target)
{
    const struct hd_direction *d = hd_corpus_direction(corpus, p->direction);
    return d ? (is_target ? d->to : d->from) : is_target ? "target" : "source";
}

struct learning {
    const struct hd_corpus *corpus;
    const char *languages[HD_MOST_LANGUAGES];
    int n;
    size_t step;
};

static int number_of(struct learning *l, const char *language)
{
    int i = 0;
    while (i < l->n && strcmp(l->languages[i], language) != 0)
        i++;
    if (i == l->n && l->n < HD_MOST_LANGUAGES)
        l->languages[l->n++] = language;
    return i < l->n ? i : 0;
}

/* Sources and targets in turn. */
static struct hd_text line_to_learn(void *context, size_t i, int *language)
{
    struct learning *l = context;
    const struct hd_text_pair p = hd_corpus_pair(l->corpus, i / 2 * l->step);
    *language = number_of(l, language_of(l->corpus, &p, i % 2));
    return i % 2 ? (struct hd_text){p.target, p.n_target} : (struct hd_text){p.source, p.n_source};
}

static bool learn_languages(struct cleaning *c, heed_error *err)
{
    const size_t n = hd_corpus_size(c->corpus);
    struct learning l = {.corpus = c->corpus, .step = n / SAMPLE + 1};
    const size_t n_lines = 2 * (n / l.step);
    int language;
    for (size_t i = 0; i < n_lines; i++)
        (void)line_to_learn(&l, i, &language);
    const struct hd_detector_text text = {l.languages, l.n, n_lines, line_to_learn, &l};
    c->detector = hd_detector_train(&text, err);
    return c->detector != NULL;
}

static bool is_of_other(const struct cleaning *c, struct hd_text text, const char *language)
{
    double p[HD_MOST_LANGUAGES];
    const int right = find_language(c->detector, language);
    if (hd_utf8_count(text.at, text.n) < LEAST_CHARACTERS)
        return false;
    hd_detect(c->detector, text.at, text.n, p);
    for (int i = 0; i < hd_detector_size(c->detector); i++)
        if (i != right && p[i] > SURE)
            return true;
    return false;
}

/* ---- lengths, pairs that were there ---------------------------------------------------------------- */

static void learn_lengths(struct cleaning *c)
{
    const size_t n = hd_corpus_size(c->corpus), step = n / SAMPLE + 1;
    double source = 0, target = 0;
    for (size_t i = 0; i < n; i += step) {
        const struct hd_text_pair p = hd_corpus_pair(c->corpus, i);
        source += (double)hd_utf8_count(p.source, p.n_source);
        target += (double)hd_utf8_count(p.target, p.n_target);
    }
    c->ratio = source > 0 && target > 0 ? target / source : 1;
}

static bool is_of_odd_length(const struct cleaning *c, const struct hd_text_pair *p)
{
    const double a = c->ratio * (double)hd_utf8_count(p->source, p->n_source) + SLACK,
                 b = (double)hd_utf8_count(p->target, p->n_target) + SLACK;
    return a > LONGER * b || b > LONGER * a;
}

/* Has the pair been seen before? It is from now on. */
static bool is_seen(struct cleaning *c, const struct hd_text_pair *p)
{
    struct hd_checksum s = hd_checksum_begin();
    hd_checksum_add(&s, p->source, p->n_source);
    hd_checksum_add(&s, "\t", 1);
    hd_checksum_add(&s, p->target, p->n_target);
    hd_checksum_add(&s, &p->direction, sizeof p->direction);
    const uint64_t sum = hd_checksum_end(&s) | 1;
    size_t seat = (size_t)((sum * 0x9E3779B97F4A7C15U) >> 20) % c->n_seats;
    while (c->seen[seat] != 0 && c->seen[seat] != sum)
        seat = (seat + 1) % c->n_seats;
    const bool is_there = c->seen[seat] == sum;
    c->seen[seat] = sum;
    return is_there;
}

/* ---- all ------------------------------------------------------------------------------------------- */

static bool breaks(struct cleaning *c, const struct hd_text_pair *p, enum hd_clean_rule rule)
{
    struct hd_number_difference numbers;
    switch (rule) {
    case HD_CLEAN_SAME:
        return p->n_source == p->n_target && memcmp(p->source, p->target, p->n_source) == 0;
    case HD_CLEAN_LENGTH:
        return is_of_odd_length(c, p);
    case HD_CLEAN_NUMBERS:
        numbers = hd_numbers_compare(p->source, p->n_source, p->target, p->n_target);
        return numbers.n_missing + numbers.n_extra > 0;
    case HD_CLEAN_LANGUAGE:
        return is_of_other(c, (struct hd_text){p->source, p->n_source},
                           language_of(c->corpus, p, false)) ||
               is_of_other(c, (struct hd_text){p->target, p->n_target},
                           language_of(c->corpus, p, true));
    case HD_CLEAN_DUPLICATES:
        return is_seen(c, p);
    default:
        return false;
    }
}

static bool keeps(void *context, const struct hd_text_pair *p)
{
    struct cleaning *c = context;
    for (int r = 0; r < HD_N_CLEAN_RULES; r++)
        if (c->rules[r] && breaks(c, p, (enum hd_clean_rule)r)) {
            c->counts[r]++;
            return false;
        }
    return true;
}

bool hd_clean_corpus(struct hd_corpus *corpus, const bool rules[HD_N_CLEAN_RULES],
                     size_t counts[HD_N_CLEAN_RULES], heed_error *err)
{
    const size_t n = hd_corpus_size(corpus);
    struct cleaning c = {.corpus = corpus, .rules = rules, .counts = counts, .n_seats = 2 * n + 1};
    memset(counts, 0, HD_N_CLEAN_RULES * sizeof *counts);
    learn_lengths(&c);
    bool ok =
        (!rules[HD_CLEAN_DUPLICATES] || (c.seen = hd_alloc(c.n_seats, sizeof *c.seen, err))) &&
        (!rules[HD_CLEAN_LANGUAGE] || learn_languages(&c, err)) &&
        hd_corpus_filter(corpus, keeps, &c, err);
    hd_detector_free(c.detector);
    hd_free(c.seen);
    char told[300];
    hd_clean_tell(counts, told, sizeof told);
    if (ok && hd_corpus_size(corpus) == 0)
        ok = hd_fail(err, HEED_BAD_TEXT, "no pair is left of %zu after cleaning: %s", n, told);
    return ok;
}
