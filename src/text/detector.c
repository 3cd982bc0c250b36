/* detector.c -- features of a text, and their weights as bytes.
 *
 * The bytes are a line of text, "heed-detector 1 SCALE en fr de", and a row of signed bytes, one for each language, for every hash
 * value; a weight is SCALE times its byte. Invariant: whatever the bytes were, every row is inside them. */
#include "text/detector.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "text/character.h"
#include "text/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

enum { LONGEST_PIECE = 4, LONGEST_WORD = 64, LONGEST_HEAD = 64 + HD_MOST_LANGUAGES * 16 };
static const char HEAD[] = "heed-detector 1 ";
static const float LARGEST_SCALE = 1e3F;

struct hd_detector {
    char *bytes; /* all of it */
    size_t size;
    const int8_t *rows; /* in the bytes */
    float scale;
    int n;
    char languages[HD_MOST_LANGUAGES][HD_LANGUAGE_SIZE];
};

/* ---- features --------------------------------------------------------------------------------------------------------- */

static uint32_t hash(const uint32_t *letters, int n, uint32_t kind)
{
    uint32_t h = 2166136261U ^ kind; /* FNV-1a, over characters */
    for (int i = 0; i < n; i++)
        h = (h ^ letters[i]) * 16777619U;
    h ^= h >> 15; /* the lowest bits depend on few of the last letter's */
    h *= 0x2C1B3C6DU;
    h ^= h >> 12;
    return h % HD_DETECTOR_ROWS;
}

/* A word with a mark at both ends. */
static void add_word(const uint32_t *word, int n, void (*add)(void *context, uint32_t row),
                     void *context)
{
    enum { WHOLE = 99 };
    for (int from = 0; from < n; from++)
        for (int k = 1; k <= LONGEST_PIECE && from + k <= n; k++)
            if (!(k == 1 && (from == 0 || from == n - 1))) /* the marks alone */
                add(context, hash(word + from, k, (uint32_t)k));
    add(context, hash(word, n, WHOLE));
}

/* A word of a text as its features are made of it. */
struct word {
    uint32_t letters[LONGEST_WORD + 2]; /* in lower case, with a mark at both ends */
    int n;
    bool is_capital; /* as it stood there */
};

/* The first word at or behind text[*i], and *i behind it; false when there is none. */
static bool next_word(const char *text, size_t n, size_t *i, struct word *w)
{
    enum { BEGIN = 1, END = 2 };
    size_t length = 0;
    w->letters[0] = BEGIN;
    w->n = 1;
    for (; *i < n; *i += length) {
        const uint32_t cp = hd_char_at(text, n, *i, &length);
        if (!hd_char_is_letter(cp)) {
            if (w->n > 1)
                break;
            continue;
        }
        const uint32_t lower = (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp);
        if (w->n == 1)
            w->is_capital = lower != cp;
        if (w->n <= LONGEST_WORD)
            w->letters[w->n++] = lower;
    }
    if (w->n == 1)
        return false;
    w->letters[w->n++] = END;
    return true;
}

void hd_detector_features(const char *text, size_t n, void (*add)(void *context, uint32_t row),
                          void *context)
{
    struct word w;
    for (size_t i = 0; next_word(text, n, &i, &w);)
        add_word(w.letters, w.n, add, context);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------- */

static bool read_head(struct hd_detector *d, heed_error *err)
{
    static const char *const wrong = "it is no detector of languages that this heed can read";
    const char *end = memchr(d->bytes, '\n', d->size < LONGEST_HEAD ? d->size : LONGEST_HEAD);
    if (!end || strncmp(d->bytes, HEAD, strlen(HEAD)) != 0)
        return hd_fail(err, HEED_BAD_MODEL, "%s", wrong);
    char head[LONGEST_HEAD + 1], *rest = head, *after;
    const size_t n = (size_t)(end - d->bytes);
    memcpy(head, d->bytes, n);
    head[n] = '\0';
    rest += strlen(HEAD);
    const long scale = strtol(strsep(&rest, " "), &after, 10); /* in millionths */
    d->scale = (float)scale * 1e-6F;
    bool ok = *after == '\0' && d->scale > 0 && d->scale <= LARGEST_SCALE;
    for (const char *name; ok && rest && (name = strsep(&rest, " ")); d->n++)
        ok = d->n < HD_MOST_LANGUAGES &&
             hd_language_read(d->languages[d->n], (struct hd_text){name, strlen(name)});
    d->rows = (const int8_t *)end + 1;
    return (ok && d->n >= 2 && d->size - n - 1 == (size_t)HD_DETECTOR_ROWS * (size_t)d->n) ||
           hd_fail(err, HEED_BAD_MODEL, "%s", wrong);
}

/* A detector that has these bytes from now on. */
static struct hd_detector *detector_of(char *bytes, size_t size, heed_error *err)
{
    struct hd_detector *d = bytes ? hd_new(struct hd_detector, err) : NULL;
    if (!d) {
        hd_free(bytes);
        return NULL;
    }
    d->bytes = bytes;
    d->size = size;
    if (read_head(d, err))
        return d;
    hd_detector_free(d);
    return NULL;
}

struct hd_detector *hd_detector_from_memory(const void *bytes, size_t size, heed_error *err)
{
    char *copy = hd_alloc(size + 1, 1, err);
    if (copy && size > 0)
        memcpy(copy, bytes, size);
    return detector_of(copy, size, err);
}

struct hd_detector *hd_detector_of(const char *const *languages, int n, const float *weights,
                                   heed_error *err)
{
    const size_t n_weights = (size_t)HD_DETECTOR_ROWS * (size_t)n;
    float most = 0;
    for (size_t i = 0; i < n_weights; i++)
        most = weights[i] > most ? weights[i] : -weights[i] > most ? -weights[i] : most;
    const long scale = (long)(most / 127 * 1e6F) + 1;
    char *bytes = hd_alloc(LONGEST_HEAD + n_weights, 1, err), *at = bytes;
    if (!bytes)
        return NULL;
    at += sprintf(at, "%s%ld", HEAD, scale);
    for (int i = 0; i < n; i++)
        at += sprintf(at, " %.*s", HD_LANGUAGE_SIZE - 1, languages[i]);
    *at++ = '\n';
    for (size_t i = 0; i < n_weights; i++) {
        const float q = weights[i] / ((float)scale * 1e-6F);
        *at++ = (char)(int8_t)(q + (q < 0 ? -0.5F : 0.5F));
    }
    return detector_of(bytes, (size_t)(at - bytes), err);
}

const void *hd_detector_bytes(const struct hd_detector *d, size_t *size)
{
    *size = d->size;
    return d->bytes;
}

void hd_detector_free(struct hd_detector *d)
{
    if (d)
        hd_free(d->bytes);
    hd_free(d);
}

int hd_detector_size(const struct hd_detector *d)
{
    return d->n;
}

const char *hd_detector_language(const struct hd_detector *d, int i)
{
    return d->languages[i];
}

/* ---- detecting ------------------------------------------------------------------------------------------------------------ */

struct sums {
    const struct hd_detector *detector;
    long of[HD_MOST_LANGUAGES]; /* of bytes, so their order does not matter */
    long n;
};

static long largest(const long *of, int n)
{
    long most = of[0];
    for (int i = 1; i < n; i++)
        most = of[i] > most ? of[i] : most;
    return most;
}

static void add_row(void *context, uint32_t row)
{
    struct sums *s = context;
    const int8_t *weights = s->detector->rows + (size_t)row * (size_t)s->detector->n;
    for (int i = 0; i < s->detector->n; i++)
        s->of[i] += weights[i];
    s->n++;
}

/* A name says little about the text that it stands in: "Angela Merkel was born in Hamburg" is English. So a word with a capital letter that is not
 * the first one counts a quarter, and no word by itself makes a language more than e^4 times as likely as another. A key or an encoded file is no word.
 * All sums are of whole numbers. */
enum { QUARTERS = 4, MOST_COUNTED = 40, LONGEST_REAL_WORD = 48 };
static const float MOST_OF_A_WORD = 4;

void hd_detect(const struct hd_detector *d, const char *text, size_t n,
               double probability[HD_MOST_LANGUAGES])
{
    struct sums all = {.detector = d};
    struct word w;
    bool is_first = true;
    for (size_t i = 0; next_word(text, n, &i, &w); is_first = false) {
        if (w.n > LONGEST_REAL_WORD + 2)
            continue;
        struct sums s = {.detector = d};
        add_word(w.letters, w.n, add_row, &s);
        const long quarters = w.is_capital && !is_first ? 1 : QUARTERS;
        const long n_counted = s.n < MOST_COUNTED ? s.n : MOST_COUNTED;
        const long most = largest(s.of, d->n);
        const long least = most - (long)(MOST_OF_A_WORD / d->scale * sqrtf((float)n_counted));
        for (int k = 0; k < d->n; k++)
            all.of[k] += quarters * ((s.of[k] > least ? s.of[k] : least) - most);
        all.n += quarters * n_counted;
    }
    const double by =
        all.n > 0 ? (double)d->scale / (QUARTERS * (double)sqrtf((float)all.n / QUARTERS)) : 0;
    const long most = largest(all.of, d->n);
    double sum = 0;
    for (int i = 0; i < d->n; i++) {
        probability[i] = hd_real_exp((double)(all.of[i] - most) * by);
        sum += probability[i];
    }
    for (int i = 0; i < d->n; i++)
        probability[i] /= sum;
}
