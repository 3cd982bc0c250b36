/* remembered.c -- a translation memory as sorted lists: which pairs have a word, and the pairs by the checksum of their source.
 *
 * A word, or two neighbours, is known by 64 bits made of its characters; sums of weights are in the order of these, so that they are the
 * same bits everywhere. */
#include "text/remembered.h"

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/real.h"
#include "base/utf8.h"
#include "text/character.h"
#include "text/input.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <utf8proc.h>

/* A feature of a sentence, or an exact source, and the pair that has it. */
struct mark {
    uint64_t hash;
    size_t pair;
};

struct marks {
    struct mark *at;
    size_t n, capacity;
};

struct hd_remembered {
    char *bytes; /* of all texts */
    struct hd_remembered_pair *pairs;
    size_t n, capacity;
    struct marks features; /* by hash, then pair; each once */
    struct marks sources;  /* in the same way */
    double *weight;        /* [n]: of all features of a pair's source */
};

/* ---- features ------------------------------------------------------------------------------------------ */

static bool add_mark(struct marks *marks, uint64_t hash, size_t pair, heed_error *err)
{
    struct mark *grown = hd_grow(marks->at, &marks->capacity, marks->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    marks->at = grown;
    grown[marks->n++] = (struct mark){hash, pair};
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

/* The next word of text[*i..n) as its hash; 0: there is none. A character of a script without spaces is a word. */
static uint64_t next_word(const char *text, size_t n, size_t *i)
{
    uint64_t hash = 0;
    for (size_t length; *i < n; *i += length) {
        const uint32_t cp = hd_char_at(text, n, *i, &length);
        const bool is_part = hd_char_is_letter(cp) || hd_char_is_digit(cp) || hd_char_is_mark(cp),
                   is_alone = is_part && hd_char_is_unspaced(cp);
        if (hash != 0 && (!is_part || is_alone))
            return hash;
        if (is_part)
            hash = mix(hash, (uint64_t)utf8proc_tolower((utf8proc_int32_t)cp) + 1);
        if (is_alone) {
            *i += length;
            return hash;
        }
    }
    return hash;
}

static bool add_features(struct marks *marks, const char *text, size_t n, size_t pair,
                         heed_error *err)
{
    uint64_t before = 1, word; /* the beginning counts as a word */
    for (size_t i = 0; (word = next_word(text, n, &i)) != 0; before = word)
        if (!add_mark(marks, word, pair, err) || !add_mark(marks, mix(before, word) | 1, pair, err))
            return false;
    return true;
}

/* By hash, digit after digit, which leaves the order of pairs as it is; then each once. False without memory. */
static bool sort_marks(struct marks *marks, heed_error *err)
{
    enum { BITS = 11, N_DIGITS = 1 << BITS };
    struct mark *from = marks->at, *to = hd_alloc_raw((marks->n + 1) * sizeof *to);
    size_t *first = hd_alloc(N_DIGITS + 1, sizeof *first, err);
    if (!to || !first) {
        hd_free(to);
        hd_free(first);
        return hd_fail(err, HEED_NO_MEMORY, "there is not enough memory");
    }
    for (int shift = 0; shift < 64; shift += BITS) {
        memset(first, 0, (N_DIGITS + 1) * sizeof *first);
        for (size_t i = 0; i < marks->n; i++)
            first[(from[i].hash >> shift) % N_DIGITS + 1]++;
        for (int d = 0; d < N_DIGITS; d++)
            first[d + 1] += first[d];
        for (size_t i = 0; i < marks->n; i++)
            to[first[(from[i].hash >> shift) % N_DIGITS]++] = from[i];
        struct mark *swap = from;
        from = to;
        to = swap;
    }
    hd_free(first);
    size_t n = 0; /* six digits: the result is where it was */
    for (size_t i = 0; i < marks->n; i++)
        if (n == 0 || from[i].hash != from[n - 1].hash || from[i].pair != from[n - 1].pair)
            from[n++] = from[i];
    marks->n = n;
    hd_free(to);
    return true;
}

/* Where marks of a hash begin; their end is where those of the next begin. */
static size_t first_mark(const struct marks *marks, uint64_t hash)
{
    size_t low = 0, high = marks->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (marks->at[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What a feature weighs that so many of n pairs have. */
static double weight_of(size_t n_with, size_t n)
{
    return hd_real_log(1 + (double)n / (n_with > 0 ? (double)n_with : 0.5));
}

/* ---- exact sources --------------------------------------------------------------------------------------- */

static uint64_t hash_of_text(const char *text, size_t n)
{
    struct hd_checksum sum = hd_checksum_begin();
    bool has_space = false, has_text = false;
    for (size_t i = 0, length; i < n; i += length) {
        if (hd_char_is_space(hd_char_at(text, n, i, &length))) {
            has_space = has_text;
            continue;
        }
        if (has_space)
            hd_checksum_add(&sum, " ", 1);
        hd_checksum_add(&sum, text + i, length);
        has_space = false;
        has_text = true;
    }
    return hd_checksum_end(&sum);
}

/* The next character but for white space, of which a run is one space and none at the ends; false at the end. */
static bool next_character(const char *text, size_t n, size_t *i, uint32_t *cp)
{
    size_t length;
    const size_t begin = hd_skip_space(text, n, *i);
    if (begin >= n)
        return false;
    if (begin > *i && *i > 0) {
        *i = begin;
        *cp = ' ';
        return true;
    }
    *cp = hd_char_at(text, n, begin, &length);
    *i = begin + length;
    return true;
}

static bool is_same_text(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t i = 0, j = 0;
    for (;;) {
        uint32_t x, y;
        const bool has_x = next_character(a, n_a, &i, &x), has_y = next_character(b, n_b, &j, &y);
        if (!has_x || !has_y)
            return has_x == has_y;
        if (x != y)
            return false;
    }
}

/* Is a pair of the languages that are asked for, as far as both are known? */
static bool is_of_languages(const struct hd_remembered_pair *p, const struct hd_remembered_query *q)
{
    return (!p->from || !q->from || strcasecmp(p->from, q->from) == 0) &&
           (!p->to || !q->to || strcasecmp(p->to, q->to) == 0);
}

const struct hd_remembered_pair *hd_remembered_same(const struct hd_remembered *m,
                                                    const struct hd_remembered_query *q)
{
    const uint64_t hash = hash_of_text(q->text, q->n);
    const struct hd_remembered_pair *last = NULL;
    for (size_t i = first_mark(&m->sources, hash);
         i < m->sources.n && m->sources.at[i].hash == hash; i++) {
        const struct hd_remembered_pair *p = &m->pairs[m->sources.at[i].pair];
        if (is_of_languages(p, q) && is_same_text(p->source, strlen(p->source), q->text, q->n))
            last = p;
    }
    return last;
}

/* ---- the most similar -------------------------------------------------------------------------------------- */

/* The features of a text, which are few, in order and each once. */
static void sort_few(struct marks *marks)
{
    size_t n = 0;
    for (size_t i = 0; i < marks->n; i++) {
        const struct mark one = marks->at[i];
        size_t at = n;
        while (at > 0 && marks->at[at - 1].hash > one.hash)
            at--;
        if (at > 0 && marks->at[at - 1].hash == one.hash)
            continue;
        memmove(marks->at + at + 1, marks->at + at, (n - at) * sizeof one);
        marks->at[at] = one;
        n++;
    }
    marks->n = n;
}

/* Adds what the text's features weigh to each pair that has them; the weight of all of them. */
static double add_shared(const struct hd_remembered *m, const struct marks *query, double *shared)
{
    double all = 0;
    for (size_t k = 0; k < query->n; k++) {
        const uint64_t hash = query->at[k].hash;
        const size_t begin = first_mark(&m->features, hash);
        size_t end = begin;
        while (end < m->features.n && m->features.at[end].hash == hash)
            end++;
        const double weight = weight_of(end - begin, m->n);
        for (size_t i = begin; i < end; i++)
            shared[m->features.at[i].pair] += weight;
        all += weight;
    }
    return all;
}

/* Into its place; of equal ones the first stays first. */
static int insert(struct hd_likeness *found, int n, int most, struct hd_likeness one)
{
    int at = n < most ? n : most;
    for (; at > 0 && one.similarity > found[at - 1].similarity; at--)
        if (at < most)
            found[at] = found[at - 1];
    if (at < most)
        found[at] = one;
    return n < most ? n + 1 : n;
}

int hd_remembered_find(const struct hd_remembered *m, const struct hd_remembered_query *q,
                       struct hd_likeness *found, int most, heed_error *err)
{
    struct marks query = {0};
    double *shared = hd_alloc(m->n, sizeof *shared, err);
    int n = -1;
    if (shared && add_features(&query, q->text, q->n, 0, err)) {
        sort_few(&query);
        const double all = add_shared(m, &query, shared);
        n = 0;
        for (size_t i = 0; i < m->n; i++)
            if (shared[i] > 0 && is_of_languages(&m->pairs[i], q))
                n = insert(found, n, most,
                           (struct hd_likeness){i, 2 * shared[i] / (all + m->weight[i])});
    }
    hd_free(query.at);
    hd_free(shared);
    return n;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

/* The next column of a line, ended by NUL in place; NULL when there is none, or nothing in it. */
static const char *column(char **at, char *end)
{
    char *begin = *at, *tab = begin ? memchr(begin, '\t', (size_t)(end - begin)) : NULL;
    if (!begin)
        return NULL;
    char *stop = tab ? tab : end;
    *at = tab ? tab + 1 : NULL;
    while (begin < stop && *begin == ' ')
        begin++;
    while (stop > begin && (stop[-1] == ' ' || stop[-1] == '\r'))
        stop--;
    *stop = '\0';
    return begin < stop ? begin : NULL;
}

/* A line, which ends where a NUL may be written. */
static bool add_line(struct hd_remembered *m, const char *name, char *line, char *end,
                     size_t number, heed_error *err)
{
    if (hd_skip_space(line, (size_t)(end - line), 0) >= (size_t)(end - line))
        return true;
    if (!hd_utf8_valid(line, (size_t)(end - line), NULL) ||
        memchr(line, '\0', (size_t)(end - line)))
        return hd_fail(err, HEED_BAD_TEXT, "%s:%zu: not UTF-8; convert the file first", name,
                       number);
    char *at = line;
    struct hd_remembered_pair pair = {.source = column(&at, end), .line = number};
    pair.target = column(&at, end);
    pair.from = column(&at, end);
    pair.to = column(&at, end);
    if (!pair.source || !pair.target)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s:%zu: a line of a translation memory is source TAB translation, and "
                       "neither is empty",
                       name, number);
    struct hd_remembered_pair *grown =
        hd_grow(m->pairs, &m->capacity, m->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    m->pairs = grown;
    grown[m->n++] = pair;
    return true;
}

static bool add_lines(struct hd_remembered *m, const char *name, size_t size, heed_error *err)
{
    char *at = m->bytes, *end = at + size;
    if (size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    for (size_t number = 1; at < end; number++) {
        char *line_end = memchr(at, '\n', (size_t)(end - at));
        char *stop = line_end ? line_end : end;
        if (!add_line(m, name, at, stop, number, err))
            return false;
        at = stop + 1;
    }
    return true;
}

static bool make_lists(struct hd_remembered *m, heed_error *err)
{
    m->weight = hd_alloc(m->n, sizeof *m->weight, err);
    if (!m->weight)
        return false;
    for (size_t i = 0; i < m->n; i++) {
        const char *source = m->pairs[i].source;
        const size_t n = strlen(source);
        if (!add_features(&m->features, source, n, i, err) ||
            !add_mark(&m->sources, hash_of_text(source, n), i, err))
            return false;
    }
    if (!sort_marks(&m->features, err) || !sort_marks(&m->sources, err))
        return false;
    for (size_t begin = 0, end; begin < m->features.n; begin = end) {
        for (end = begin;
             end < m->features.n && m->features.at[end].hash == m->features.at[begin].hash;)
            end++;
        const double weight = weight_of(end - begin, m->n);
        for (size_t i = begin; i < end; i++)
            m->weight[m->features.at[i].pair] += weight;
    }
    return true;
}

struct hd_remembered *hd_remembered_from_memory(const char *name, const char *data, size_t size,
                                                heed_error *err)
{
    struct hd_remembered *m = hd_new(struct hd_remembered, err);
    if (m && (m->bytes = hd_alloc(size + 1, 1, err))) {
        if (size > 0)
            memcpy(m->bytes, data, size);
        if (add_lines(m, name, size, err) && make_lists(m, err))
            return m;
    }
    hd_remembered_free(m);
    return NULL;
}

struct hd_remembered *hd_remembered_read(const char *path, heed_error *err)
{
    struct hd_input input;
    if (!hd_input_open(&input, path, err))
        return NULL;
    char *bytes = NULL;
    size_t size = 0, capacity = 0, n = 1;
    bool ok = true;
    while (ok && n > 0) {
        char *grown = hd_grow(bytes, &capacity, size + (1 << 16), 1, err);
        ok = grown != NULL;
        bytes = ok ? grown : bytes;
        ok = ok && hd_input_read(&input, bytes + size, capacity - size, &n, err);
        size += ok ? n : 0;
    }
    hd_input_close(&input);
    struct hd_remembered *m =
        ok ? hd_remembered_from_memory(hd_input_name(path), bytes, size, err) : NULL;
    hd_free(bytes);
    return m;
}

void hd_remembered_free(struct hd_remembered *m)
{
    if (!m)
        return;
    hd_free(m->bytes);
    hd_free(m->pairs);
    hd_free(m->features.at);
    hd_free(m->sources.at);
    hd_free(m->weight);
    hd_free(m);
}

size_t hd_remembered_size(const struct hd_remembered *m)
{
    return m->n;
}

const struct hd_remembered_pair *hd_remembered_at(const struct hd_remembered *m, size_t i)
{
    return i < m->n ? &m->pairs[i] : NULL;
}
