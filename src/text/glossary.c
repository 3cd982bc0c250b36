/* glossary.c -- terms sorted by their folded text; a text is matched by narrowing a range of them, byte by byte.
 *
 * Folded: lower case, white space as single spaces, straight apostrophes. Invariant: terms[0..n) ascend by key; of terms with
 * the same key those that want their own case come first, and at most one does not. */
#include "text/glossary.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "text/character.h"
#include "text/input.h"
#include "text/lines.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

struct term {
    char *memory;
    const char *text, *key;
    const char *translations; /* NUL behind each */
    int n_translations;
    size_t line;
    bool is_exact; /* its case counts */
};

struct hd_glossary {
    struct term *terms;
    size_t n, capacity;
};

/* ---- folding ------------------------------------------------------------------------------------- */

/* The folded character at text[i] and the bytes it stands for: all of a run of white space. Returns its size in `out`. */
static int fold(char out[4], const char *text, size_t n, size_t i, size_t *length)
{
    uint32_t cp = hd_char_at(text, n, i, length);
    if (hd_char_is_space(cp)) {
        *length = hd_skip_space(text, n, i) - i;
        cp = ' ';
    } else if (cp == 0x2019)
        cp = '\'';
    else if (cp >= 'A' && cp <= 'Z')
        cp += 'a' - 'A';
    else if (cp >= 0x80)
        cp = (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp);
    const int size = hd_utf8_encode(out, cp);
    if (size == 0)
        out[0] = '\0';
    return size > 0 ? size : 1;
}

/* Appends the key and a NUL. */
static void add_key(struct hd_bytes *bytes, struct hd_text term)
{
    for (size_t i = 0, length; i < term.n; i += length) {
        char folded[4];
        const int size = fold(folded, term.at, term.n, i, &length);
        hd_bytes_add(bytes, folded, (size_t)size);
    }
    hd_bytes_add(bytes, "", 1);
}

static bool has_capital_inside(struct hd_text text)
{
    size_t length;
    hd_char_at(text.at, text.n, 0, &length);
    for (size_t i = length; i < text.n; i += length)
        if (hd_char_is_upper(hd_char_at(text.at, text.n, i, &length)))
            return true;
    return false;
}

/* ---- reading ------------------------------------------------------------------------------------- */

static struct hd_text trim(const char *begin, const char *end)
{
    size_t n = (size_t)(end - begin), i = hd_skip_space(begin, n, 0), length;
    while (n > i && hd_char_is_space(hd_char_before(begin, n, &length)))
        n -= length;
    return (struct hd_text){begin + i, n - i};
}

/* The memory of a term: its text, its key and its translations. */
static bool add_columns(struct hd_bytes *bytes, struct term *term, struct hd_text line,
                        const char *name, size_t number, heed_error *err)
{
    const char *end = line.at + line.n;
    for (const char *c = memchr(line.at, '\t', line.n); c;) {
        const char *next = memchr(c + 1, '\t', (size_t)(end - c - 1));
        const struct hd_text column = trim(c + 1, next ? next : end);
        if (column.n == 0)
            return hd_fail(err, HEED_BAD_TEXT,
                           "%s:%zu: there is no translation behind the TAB; write - to keep the "
                           "term as it is",
                           name, number);
        hd_bytes_add(bytes, column.at, column.n);
        hd_bytes_add(bytes, "", 1);
        term->n_translations++;
        c = next;
    }
    return true;
}

static bool make_term(struct term *term, struct hd_text line, const char *name, size_t number,
                      heed_error *err)
{
    const char *tab = memchr(line.at, '\t', line.n);
    if (!tab)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s:%zu: there is no TAB in this line; a line is a term, TAB, and its "
                       "translation",
                       name, number);
    if (memchr(line.at, '\0', line.n))
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s:%zu: there is a NUL byte in this line; is it a text?", name, number);
    const struct hd_text text = trim(line.at, tab);
    if (text.n == 0)
        return hd_fail(err, HEED_BAD_TEXT, "%s:%zu: there is no term before the TAB", name, number);
    struct hd_bytes bytes = {0};
    *term = (struct term){.line = number, .is_exact = has_capital_inside(text)};
    hd_bytes_add(&bytes, text.at, text.n);
    hd_bytes_add(&bytes, "", 1);
    const size_t key = bytes.n;
    add_key(&bytes, text);
    const size_t translations = bytes.n;
    const bool ok = add_columns(&bytes, term, line, name, number, err) &&
                    (!bytes.has_failed ||
                     hd_fail(err, HEED_NO_MEMORY, "%s: there is no memory for its terms", name));
    if (!ok) {
        hd_free(bytes.at);
        return false;
    }
    term->memory = bytes.at;
    term->text = bytes.at;
    term->key = bytes.at + key;
    term->translations = bytes.at + translations;
    return true;
}

static bool add_line(struct hd_glossary *g, struct hd_text line, const char *name, size_t number,
                     heed_error *err)
{
    if (trim(line.at, line.at + line.n).n == 0)
        return true;
    struct term *grown = hd_grow(g->terms, &g->capacity, g->n + 1, sizeof *grown, err);
    if (!grown)
        return false;
    g->terms = grown;
    if (!make_term(&grown[g->n], line, name, number, err))
        return false;
    g->n++;
    return true;
}

/* ---- order and conflicts ------------------------------------------------------------------------- */

static int compare_terms(const void *a, const void *b)
{
    const struct term *x = a, *y = b;
    const int by_key = strcmp(x->key, y->key);
    if (by_key != 0)
        return by_key;
    if (x->is_exact != y->is_exact)
        return x->is_exact ? -1 : 1;
    const int by_text = x->is_exact ? strcmp(x->text, y->text) : 0;
    return by_text != 0 ? by_text : x->line < y->line ? -1 : x->line > y->line;
}

static bool are_same(const struct term *a, const struct term *b)
{
    return strcmp(a->key, b->key) == 0 && a->is_exact == b->is_exact &&
           (!a->is_exact || strcmp(a->text, b->text) == 0);
}

static bool have_same_translations(const struct term *a, const struct term *b)
{
    if (a->n_translations != b->n_translations)
        return false;
    const char *x = a->translations, *y = b->translations;
    for (int k = 0; k < a->n_translations; k++, x += strlen(x) + 1, y += strlen(y) + 1)
        if (strcmp(x, y) != 0)
            return false;
    return true;
}

/* Lines that say the same twice are one; lines that contradict each other are refused. */
static bool sort_terms(struct hd_glossary *g, const char *name, heed_error *err)
{
    if (g->n == 0)
        return hd_fail(err, HEED_BAD_TEXT,
                       "%s: there is no term in it; a line is a term, TAB, and its translation",
                       name);
    qsort(g->terms, g->n, sizeof *g->terms, compare_terms);
    size_t n = 1;
    for (size_t i = 1; i < g->n; i++) {
        const struct term *before = &g->terms[n - 1], *now = &g->terms[i];
        if (!are_same(before, now)) {
            const struct term moved = *now;
            g->terms[i].memory = NULL;
            g->terms[n++] = moved;
            continue;
        }
        if (!have_same_translations(before, now))
            return hd_fail(
                err, HEED_BAD_TEXT,
                "%s:%zu: %s has another translation in line %zu; where both will do, write "
                "them in one line with a TAB between",
                name, now->line, hd_quote(now->text).text, before->line);
        hd_free(g->terms[i].memory);
        g->terms[i].memory = NULL;
    }
    g->n = n;
    return true;
}

static struct hd_glossary *finish(struct hd_glossary *g, bool ok, const char *name, heed_error *err)
{
    if (ok && sort_terms(g, name, err))
        return g;
    hd_glossary_free(g);
    return NULL;
}

struct hd_glossary *hd_glossary_read(const char *path, heed_error *err)
{
    struct hd_lines lines;
    if (!hd_lines_read(&lines, path, err))
        return NULL;
    const char *name = hd_input_name(path);
    struct hd_glossary *g = hd_new(struct hd_glossary, err);
    bool ok = g != NULL;
    for (size_t i = 0; ok && i < lines.n; i++)
        ok = add_line(g, lines.at[i], name, i + 1, err);
    hd_lines_release(&lines);
    return finish(g, ok, name, err);
}

struct hd_glossary *hd_glossary_from_memory(const char *name, const char *data, size_t size,
                                            heed_error *err)
{
    struct hd_glossary *g = hd_new(struct hd_glossary, err);
    bool ok = g != NULL;
    size_t number = 1;
    for (size_t i = 0, n; ok && i < size; i += n + 1, number++) {
        const char *end = memchr(data + i, '\n', size - i);
        n = end ? (size_t)(end - data) - i : size - i;
        ok = hd_utf8_valid(data + i, n, NULL)
                 ? add_line(g, (struct hd_text){data + i, n}, name, number, err)
                 : hd_fail(err, HEED_BAD_TEXT, "%s:%zu: not UTF-8", name, number);
    }
    return finish(g, ok, name, err);
}

void hd_glossary_free(struct hd_glossary *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n; i++)
        hd_free(g->terms[i].memory);
    hd_free(g->terms);
    hd_free(g);
}

size_t hd_glossary_size(const struct hd_glossary *g)
{
    return g->n;
}

const char *hd_glossary_term(const struct hd_glossary *g, size_t term)
{
    return g->terms[term].text;
}

int hd_glossary_n_translations(const struct hd_glossary *g, size_t term)
{
    return g->terms[term].n_translations;
}

const char *hd_glossary_translation(const struct hd_glossary *g, size_t term, int k)
{
    const char *text = g->terms[term].translations;
    while (k-- > 0)
        text += strlen(text) + 1;
    return text;
}

/* ---- matching ------------------------------------------------------------------------------------ */

/* Terms from `begin` to before `end`, all with the same first `depth` bytes. */
struct range {
    size_t begin, end, depth;
};

/* The first term of the range whose next byte is at least `byte`. */
static size_t first_at_least(const struct hd_glossary *g, const struct range *r, unsigned byte)
{
    size_t low = r->begin, high = r->end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((unsigned char)g->terms[middle].key[r->depth] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void narrow(const struct hd_glossary *g, struct range *r, unsigned char byte)
{
    const size_t begin = first_at_least(g, r, byte), end = first_at_least(g, r, byte + 1U);
    *r = (struct range){begin, end, r->depth + 1};
}

static bool is_word_char(uint32_t cp)
{
    return hd_char_is_letter(cp) || hd_char_is_digit(cp) || cp == '_';
}

/* Can a word begin or end between text[..i) and text[i..)? In scripts without spaces it can anywhere. */
static bool is_word_boundary(const char *text, size_t n, size_t i)
{
    size_t length;
    const uint32_t before = hd_char_before(text, i, &length),
                   behind = hd_char_at(text, n, i, &length);
    if (hd_char_is_mark(behind))
        return false;
    return i == 0 || i >= n || !is_word_char(before) || !is_word_char(behind) ||
           hd_char_is_east_asian(before) || hd_char_is_east_asian(behind);
}

/* Which of the terms whose key ends here matches text[begin..end): one that wants just this case, or any case. */
static bool find_term(const struct hd_glossary *g, const struct range *r, const char *text,
                      size_t begin, size_t end, size_t *term)
{
    for (size_t k = r->begin; k < r->end && g->terms[k].key[r->depth] == '\0'; k++) {
        const struct term *t = &g->terms[k];
        if (!t->is_exact ||
            (strlen(t->text) == end - begin && memcmp(t->text, text + begin, end - begin) == 0)) {
            *term = k;
            return true;
        }
    }
    return false;
}

static void read_case(struct hd_term_match *match, const struct term *term, const char *text)
{
    size_t length, n_upper = 0, n_lower = 0;
    const uint32_t first = hd_char_at(text, match->span.end, match->span.begin, &length);
    const uint32_t own = hd_char_at(term->text, strlen(term->text), 0, &length);
    for (size_t i = match->span.begin; i < match->span.end; i += length) {
        const uint32_t cp = hd_char_at(text, match->span.end, i, &length);
        n_upper += hd_char_is_upper(cp);
        n_lower += hd_char_is_lower(cp);
    }
    match->is_capitalised = hd_char_is_upper(first) && !hd_char_is_upper(own);
    match->is_upper = !term->is_exact && n_upper > 1 && n_lower == 0;
}

/* The longest term that begins at text[begin]. */
static bool match_at(const struct hd_glossary *g, const char *text, size_t n, size_t begin,
                     struct hd_term_match *match)
{
    struct range r = {0, g->n, 0};
    bool is_found = false;
    for (size_t i = begin, length; i < n && r.begin < r.end; i += length) {
        char folded[4];
        const int size = fold(folded, text, n, i, &length);
        for (int k = 0; k < size && r.begin < r.end; k++)
            narrow(g, &r, (unsigned char)folded[k]);
        size_t term;
        if (r.begin < r.end && is_word_boundary(text, n, i + length) &&
            find_term(g, &r, text, begin, i + length, &term)) {
            *match = (struct hd_term_match){.span = {begin, i + length}, .term = term};
            is_found = true;
        }
    }
    if (is_found)
        read_case(match, &g->terms[match->term], text);
    return is_found;
}

bool hd_glossary_next(const struct hd_glossary *g, const char *text, size_t n, size_t *i,
                      struct hd_term_match *match)
{
    for (size_t length; *i < n; *i += length) {
        hd_char_at(text, n, *i, &length);
        if (is_word_boundary(text, n, *i) && match_at(g, text, n, *i, match)) {
            *i = match->span.end;
            return true;
        }
    }
    return false;
}

void hd_glossary_form(struct hd_bytes *out, const struct hd_glossary *g,
                      const struct hd_term_match *match, int k, const char *text)
{
    const char *form = hd_glossary_translation(g, match->term, k);
    if (strcmp(form, "-") == 0) {
        hd_bytes_add(out, text + match->span.begin, match->span.end - match->span.begin);
        return;
    }
    const size_t n = strlen(form);
    for (size_t i = 0, length; i < n; i += length) {
        uint32_t cp = hd_char_at(form, n, i, &length);
        char encoded[4];
        if (match->is_upper || (i == 0 && match->is_capitalised))
            cp = (uint32_t)utf8proc_toupper((utf8proc_int32_t)cp);
        hd_bytes_add(out, encoded, (size_t)hd_utf8_encode(encoded, cp));
    }
}
